"""Mixtures of experts that skip what no token is routed to: the forms that sparsify gives
to blocks with a list of experts, and to modules that hold the weights of all experts.

A form is a class beside that of the module. It keeps no weights: each call reads the
parameters that the module has then. Where the module is no longer what was replaced, the
module's own forward runs; and with gradients and in training where it asks whether it
trains, or where more than an activation stands between and after the products."""

import functools
import inspect

import torch
from torch import nn
from torch.nn.modules import module as torch_module

from .. import ops
from ..ops._einsum import expert_product_op
from ..ops._op import run
from . import _known, _training
from ._run import PLAIN, any_autocast, count_modes, exports_to_onnx, in_transform

# Names of the three weights of an expert: of gate, up and down.
EXPERT_NAMES = (("w1", "w3", "w2"), ("gate_proj", "up_proj", "down_proj"))
FUNCTIONS = {"SiLU": "silu", "SiLUActivation": "silu", "GELU": "gelu", "GELUActivation": "gelu",
             "ReLU": "relu"}
CALLABLES = {nn.functional.silu: "silu", nn.functional.relu: "relu", torch.relu: "relu"}


def activation_name(module):
    """pit's name of a module's `act_fn`; None: it has none of this name."""
    function = module._modules.get("act_fn")
    if type(function) is nn.SiLU and not _known.has_own_calls(function):
        return "silu"  # the usual one, at once
    if function is None:
        function = getattr(module, "act_fn", None)
        return CALLABLES.get(function) if callable(function) else None
    if getattr(function, "approximate", "none") != "none" or _known.has_own_calls(function):
        return None  # another GELU
    package = type(function).__module__.partition(".")[0]
    return FUNCTIONS.get(type(function).__name__) if package in ("torch", "transformers") else None


def names_of_expert(expert):
    for names in EXPERT_NAMES:
        layers = [getattr(expert, name, None) for name in names]
        if all(type(x) is nn.Linear and x.bias is None for x in layers):
            return names
    return None


def is_block(module):
    """Whether it looks as a block of Mixtral or OLMoE: a Linear `gate`, a list of `experts`
    of three Linear layers each, and `top_k`."""
    experts, gate = getattr(module, "experts", None), getattr(module, "gate", None)
    return (isinstance(experts, nn.ModuleList) and len(experts) > 0
            and isinstance(gate, nn.Linear) and gate.out_features == len(experts)
            and isinstance(getattr(module, "top_k", None), int)
            and names_of_expert(experts[0]) is not None)


def unknown_of_block(module):
    """What of a block is not known, as the end of a sentence; None: all is."""
    expert = module.experts[0]
    names = names_of_expert(expert)
    if activation_name(expert) is None:
        return f"{type(expert).__name__} has no `act_fn` that pit knows"
    if read_weights(module.experts, type(expert), names, activation_name(expert)) is None:
        return "its experts differ, have hooks, or share weights"
    return (_known.unknown_part(module, ("gate", "experts"), ())
            or _known.unknown_part(expert, (*names, "act_fn"), ())
            or _known.unknown_in(module, ("gate", "experts"))
            or _known.unknown_in(expert, (*names, "act_fn")))


WEIGHTS = ("gate_up_proj", "up_proj", "down_proj")


def is_experts(module):
    """Whether it looks as one that holds the weights of all experts, `gate_up_proj` and
    `down_proj`, or `up_proj` in place of the first."""
    down = getattr(module, "down_proj", None)
    wide = [getattr(module, name, None) for name in WEIGHTS[:2]]
    found = [down, *(w for w in wide if w is not None)]
    return len(found) == 2 and all(isinstance(w, nn.Parameter) and w.dim() == 3 for w in found)


def unknown_of_experts(module):
    """What of such a module is not known, as the end of a sentence; None: all is."""
    cls, form = _known.promising_class(type(module)), Form(module, type(module))
    biases = [f"{name}_bias" for name in WEIGHTS] if form.bias else []
    children = ("act_fn", *(("post_expert_norm",) if form.norm else ()))
    found = _known.unknown_part(module, children, (*WEIGHTS, *biases), ("_apply_gate",))
    if found is None:
        found = (_known.unknown_in(module, (*WEIGHTS, "act_fn", "_apply_gate")) if cls is None else
                 _known.unknown_flag(cls))
    if found is None and not form.fits(module):
        found = (f"its weights are {tuple(form.wide(module).shape)} and "
                 f"{tuple(module.down_proj.shape)}, which pit does not know")
    return found


def cannot_hold_calls():
    """Whether what runs now cannot hold a call of pit."""
    return torch.jit.is_tracing() or exports_to_onnx() or in_transform()


def is_trained(module, inputs):
    return module.training or torch.is_grad_enabled() and any(
        x.requires_grad for x in (*module.parameters(), *inputs) if isinstance(x, torch.Tensor))


def trains_otherwise(cls):
    """Whether a forward asks if its module trains."""
    code = getattr(inspect.unwrap(cls.forward), "__code__", None)
    return code is None or "training" in code.co_names


def untrained_of_block(module):
    """Why a block runs as it did in training, as the end of a sentence; None: it does not."""
    for cls in (type(module), type(module.experts[0])):
        if trains_otherwise(cls):
            return f"in training {cls.__name__} computes something else, and runs as it was"
    return None


def untrained_of_experts(module):
    """The same of a module that holds the weights of all experts."""
    form = Form(module, type(module))
    for there, what in ((form.bias, "biases"), (form.norm, "a norm behind its experts"),
                        (form.own_gate, "a gate of its own")):
        if there:
            return f"{type(module).__name__} has {what}: in training it runs as it was"
    if activation_name(module) is None:
        return f"{type(module).__name__} has an activation that pit has no gradient of"
    if _known.promising_class(type(module)) is None and trains_otherwise(type(module)):
        return f"in training {type(module).__name__} computes something else, and runs as it was"
    return None


# --------------------------------------------------------------------------
# Blocks with a list of experts
# --------------------------------------------------------------------------


def read_weights(experts, kind, names, activation):
    """Weights of experts as lists of those of gate, up and down. None: something other than
    `kind`, of these names and this activation, computes an expert's result, or more is
    called than its forward, or it shares a weight."""
    if torch_module._has_any_global_hook():
        return None
    found = [], [], []
    for expert in experts._modules.values():
        if type(expert) is not kind or _known.has_own_calls(expert):
            return None
        layers = expert._modules
        for name, weights in zip(names, found):
            layer = layers.get(name)
            if type(layer) is not nn.Linear or _known.has_own_calls(layer):
                return None
            parameters = layer._parameters
            weight = parameters.get("weight")
            if weight is None or parameters.get("bias") is not None:
                return None
            weights.append(weight)
        if activation_name(expert) != activation:
            return None
    if len({id(w) for weights in found for w in weights}) < 3 * len(found[0]):
        return None
    first = found[0][0]
    return found if all(w.dtype == first.dtype and w.device == first.device
                        for weights in found for w in weights) else None


class Block:
    """A block with a list of experts. Their weights become views of one tensor for each of
    gate, up and down, as long as nobody gives them other memory."""

    def take(self):
        expert = self.experts[0]
        self.names, self.activation = names_of_expert(expert), activation_name(expert)
        self.expert_class = type(expert)
        self.trainable = not (trains_otherwise(type(self).dense) or trains_otherwise(type(expert)))
        self.stack()
        self.reload = self.register_load_state_dict_post_hook(stack_again)

    def give_back(self):
        self.reload.remove()
        for name in ("names", "activation", "expert_class", "trainable", "reload", "with_logits"):
            delattr(self, name)

    def weights(self):
        return read_weights(self.experts, self.expert_class, self.names, self.activation)

    def stack(self):
        for weights in self.weights() or ():
            plain = [w.detach() for w in weights]
            if all(w.shape == plain[0].shape for w in plain) and as_one(plain) is None:
                for weight, part in zip(weights, torch.stack(plain)):
                    weight.data = part

    def _apply(self, function, recurse=True):
        found = super()._apply(function, recurse)
        self.stack()  # the weights have other memory
        return found

    def __reduce_ex__(self, protocol):
        return restore, (type(self).dense, Block), self.__dict__

    def __setstate__(self, state):
        super().__setstate__(state)
        self.stack()  # those of a copy, too

    def forward(self, *args, **kwargs):
        if not isinstance(self, Block):  # of densify, by a hook that has kept this method
            return type(self).forward(self, *args, **kwargs)
        if len(args) != 1 or kwargs or cannot_hold_calls():
            return super().forward(*args, **kwargs)
        weights = self.weights()
        x = args[0]
        trained = is_trained(self, args)
        in_graph = torch.compiler.is_compiling() or count_modes() > 0 or type(x) not in PLAIN
        if weights is None or trained and (in_graph or any_autocast() or not self.trainable):
            return super().forward(x)
        parameters = weights
        if not in_graph:
            weights = [as_one(each) for each in weights]
            if any(w is None for w in weights):
                return super().forward(x)
        tokens = x.reshape(-1, x.shape[-1])
        logits = self.gate(tokens)
        scales, experts = logits.float().softmax(-1).topk(self.top_k, -1)
        if getattr(self, "norm_topk_prob", True):
            scales = scales / scales.sum(-1, keepdim=True)
        if trained:
            op = _training.forward_op(self.activation, True, False, (True,) * 3)
            y = _training.TrainLists.apply(op, wholes, tokens, scales.to(tokens.dtype), experts,
                                           *(w for each in parameters for w in each))
        else:
            function = torch.ops.pit.moe_of_lists if in_graph else moe
            y = function(tokens, scales.to(tokens.dtype), experts, *weights, self.activation)
        y = y.reshape(x.shape)
        return (y, logits) if self.with_logits else y


def stack_again(block, _):
    block.stack()  # loaded parameters may have taken the place of those before


def as_one(tensors):
    """The tensor that equal ones are views of, one behind the other; None: they are not."""
    first = tensors[0]
    shape, dtype = first.shape, first.dtype
    start, size = first.data_ptr(), first.numel() * first.element_size()
    address = start
    for x in tensors:
        if (x.data_ptr() != address or x.dtype != dtype or x.shape != shape
                or not x.is_contiguous()):
            return None
        address += size
    # What lies in the memory of the first is part of that memory.
    storage = first.untyped_storage()
    if address > storage.data_ptr() + storage.nbytes():
        return None
    return first.detach().as_strided((len(tensors), *shape), (first.numel(), *first.stride()))


def wholes(parameters):
    """What the parameters of gates, ups and downs are views of."""
    count = len(parameters) // 3
    found = []
    for i in range(3):
        each = parameters[i * count: (i + 1) * count]
        whole = as_one(each)
        found.append(torch.stack(list(each)) if whole is None else whole)
    return found


def moe(tokens, scales, experts, gate, up, down, activation):
    gate, up, down = (w.transpose(1, 2) for w in (gate, up, down))
    return ops.moe(tokens, scales, experts, gate, up, down, activation=activation)


# A graph cannot tell where weights lie, so the op finds out, in each call.
library = torch.library.Library("pit", "FRAGMENT")
library.define("moe_of_lists(Tensor x, Tensor scales, Tensor experts, Tensor[] gate, Tensor[] up, "
               "Tensor[] down, str activation) -> Tensor", tags=[torch.Tag.pt2_compliant_tag])


def moe_of_lists(x, scales, experts, gate, up, down, activation):
    together = []
    for weights in (gate, up, down):
        found = as_one(weights)
        together.append(torch.stack(list(weights)) if found is None else found)
    return moe(x, scales, experts, *together, activation)


for _key in ("CPU", "CUDA"):
    library.impl("moe_of_lists", moe_of_lists, _key)


@torch.library.register_fake("pit::moe_of_lists")
def fake_moe_of_lists(x, scales, experts, gate, up, down, activation):
    return x.new_empty((x.shape[0], down[0].shape[0]))


# --------------------------------------------------------------------------
# The weights of all experts
# --------------------------------------------------------------------------


class Form:
    """How a module lays its weights out, and what it does between and after its products.
    The names of the flags are those of transformers; a class without them has the first
    layout of all: (experts, out, in), gates and ups one behind the other, no biases."""

    def __init__(self, module, cls):
        promised = _known.promising_class(cls) is not None

        def flag(name, usual):
            return bool(getattr(module, name, usual)) if promised else usual

        self.transposed, self.bias = flag("is_transposed", False), flag("has_bias", False)
        self.norm = flag("has_post_expert_norm", False)
        self.gated = getattr(module, "gate_up_proj", None) is not None
        forward = inspect.unwrap(cls.forward)
        names = getattr(getattr(forward, "__code__", None), "co_names", ())
        self.own_gate = (self.gated and hasattr(cls, "_apply_gate")
                         and not _known.has_usual_gate(cls)
                         and (promised or "_apply_gate" in names))
        self.arguments = tuple(inspect.signature(forward).parameters)[1:4]

    def wide(self, module):
        return module.gate_up_proj if self.gated else module.up_proj

    def fits(self, module):
        wide, down = self.wide(module), module.down_proj
        k, f = (1, 2) if self.transposed else (2, 1)
        return (wide.shape[0] == down.shape[0] and wide.shape[k] == down.shape[f]
                and wide.shape[f] == (2 if self.gated else 1) * down.shape[k])


class Experts:
    """A module that holds the weights of all experts. Between its two products, and after
    them, its own code runs."""

    def take(self):
        dense = type(self).dense
        self.form = Form(self, dense)
        # Of a class that promises what its forward computes, that holds in training, too.
        self.form.trainable = not (
            self.form.bias or self.form.norm or self.form.own_gate
            or _known.promising_class(dense) is None and trains_otherwise(dense))

    def give_back(self):
        del self.form

    def __reduce_ex__(self, protocol):
        return restore, (type(self).dense, Experts), self.__dict__

    def forward(self, *args, **kwargs):
        if not isinstance(self, Experts):  # of densify, by a hook that has kept this method
            return type(self).forward(self, *args, **kwargs)
        form = self.form
        given = dict(zip(form.arguments, args), **kwargs)
        if (len(args) + len(kwargs) != 3 or any(name not in given for name in form.arguments)
                or cannot_hold_calls()):
            return super().forward(*args, **kwargs)
        x, choices, scales = (given[name] for name in form.arguments)
        if x.dim() != 2 or choices.dim() != 2 or scales.shape != choices.shape:
            return super().forward(*args, **kwargs)
        if not is_trained(self, given.values()):
            return self.run(x, choices, scales)
        activation = activation_name(self) if form.trainable else None
        if activation is None:
            return super().forward(*args, **kwargs)
        return self.train_step(x, choices, scales, activation)

    def train_step(self, x, choices, scales, activation):
        form = self.form
        weights = [form.wide(self), self.down_proj]
        dtype = weights[0].dtype
        if torch.is_autocast_enabled(x.device.type):
            dtype = torch.get_autocast_dtype(x.device.type)
        choices = choices.masked_fill((choices < 0) | (choices >= weights[1].shape[0]), -1)
        op = _training.forward_op(activation, form.gated, form.gated, (not form.transposed,) * 2)
        in_graph = torch.compiler.is_compiling() or count_modes() > 0 or type(x) not in PLAIN
        y = _training.train(op, (x.to(dtype), scales, choices, *(w.to(dtype) for w in weights)),
                            in_graph)
        return y.to(x.dtype)

    def run(self, x, choices, scales):
        form, top = self.form, choices.shape[1]
        wide, count = form.wide(self), self.down_proj.shape[0]
        choices = choices.reshape(-1, 1)
        # An id that is no expert's is one of another device, and stands for nothing here.
        absent = (choices < 0) | (choices >= count)
        routing = choices.masked_fill(absent, -1)
        rows = x.repeat_interleave(top, 0).to(wide.dtype)
        here = rows.new_ones((rows.shape[0], count))
        up, down = ("ekf", "efn") if form.transposed else ("efk", "enf")
        hidden = product(f"se,sk,{up}->sf", here, rows, wide, routing)
        if form.bias:
            own = choices.masked_fill(absent, 0).flatten()
            hidden = hidden + (self.gate_up_proj_bias if form.gated else self.up_proj_bias)[own]
        if form.own_gate:
            hidden = self._apply_gate(hidden)
        elif form.gated:
            gate, up = hidden.chunk(2, -1)
            hidden = self.act_fn(gate) * up
        else:
            hidden = self.act_fn(hidden)
        y = product(f"se,sf,{down}->sn", here, hidden.to(wide.dtype), self.down_proj, routing)
        if form.bias:
            y = y + self.down_proj_bias[own]
        if form.norm:
            y = self.post_expert_norm(y)
        scales = scales.reshape(-1, 1).masked_fill(absent, 0)
        return (y * scales).reshape(-1, top, y.shape[-1]).sum(1).to(x.dtype)


def product(equation, here, rows, weight, routing):
    op = expert_product_op(equation)
    return run(op, [here, rows, weight, routing])


# --------------------------------------------------------------------------
# Classes
# --------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def sparse_class(base, kind):
    return type(f"Sparse{base.__name__}", (kind, base), {"dense": base})


def restore(base, kind):
    """An object of the class that pickle does not find by its name; its state follows."""
    cls = sparse_class(base, kind)
    return cls.__new__(cls)


def make_experts_sparse(module, kind, with_logits=False):
    if isinstance(module, kind):
        return
    module.__class__ = sparse_class(type(module), kind)
    if kind is Block:
        module.with_logits = with_logits
    module.take()
