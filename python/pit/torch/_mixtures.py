"""Mixtures of experts that skip what no token is routed to: the forms that sparsify gives
to blocks with a list of experts, and to modules that hold the weights of all experts.

A form is a class beside that of the module. It keeps no weights: each call reads the
parameters that the module has then. Where the module is no longer what was replaced, the
module's own forward runs; and with gradients and in training where it asks whether it
trains, or where what stands between and after the products is no formula."""

import functools
import inspect

import torch
from torch import nn
from torch.nn.modules import module as torch_module

from .. import ops
from ..ops._operand import constant_in_graphs
from . import _experts, _known, _training
from ._experts import activation_name, cannot_hold_calls
from ._plain import PLAIN
from ._run import any_autocast, count_modes

# Names of the three weights of an expert: of gate, up and down.
EXPERT_NAMES = (("w1", "w3", "w2"), ("gate_proj", "up_proj", "down_proj"))


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
    """The part of a block that is not known, as the end of a sentence; None: all is known."""
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
    """The part of such a module that is not known, as the end of a sentence; None: all is known."""
    cls = _known.promising_class(type(module))
    form = _experts.form_of(module, type(module))
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
    form, name = _experts.form_of(module, type(module)), type(module).__name__
    if form.norm:
        return f"{name} has a norm behind its experts: in training it runs as it was"
    if form.ops is None:
        return f"{name} has a gate that pit has no gradient of"
    if _known.promising_class(type(module)) is None and trains_otherwise(type(module)):
        return f"in training {name} computes something else, and runs as it was"
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
        trained = self.training or _experts.is_trained(self, args)
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
            op = _training.forward_op(self.activation, True, "", (True,) * 3)
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
    # A tensor inside of the first one's memory is part of that memory.
    storage = first.untyped_storage()
    if address > storage.data_ptr() + storage.nbytes():
        return None
    return first.detach().as_strided((len(tensors), *shape), (first.numel(), *first.stride()))


def wholes(parameters):
    """The tensors that the parameters of gates, ups and downs are views of."""
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


class Experts:
    """A module that holds the weights of all experts. The code between and after its two products
    is part of the program, if it is a formula; else it runs as it is."""

    def take(self):
        dense = type(self).dense
        # If a class promises what its forward computes, that holds in training, too.
        self.trainable = _known.promising_class(dense) is not None or not trains_otherwise(dense)

    def give_back(self):
        del self.trainable

    def __reduce_ex__(self, protocol):
        return restore, (type(self).dense, Experts), self.__dict__

    def forward(self, *args, **kwargs):
        if not isinstance(self, Experts):  # of densify, by a hook that has kept this method
            return type(self).forward(self, *args, **kwargs)
        dense = type(self).dense
        names = names_of(dense)
        given = dict(zip(names, args), **kwargs)
        if (len(args) + len(kwargs) != 3 or any(name not in given for name in names)
                or _experts.cannot_hold_calls() or _experts.is_distributed(self.down_proj)):
            return super().forward(*args, **kwargs)
        x, choices, scales = (given[name] for name in names)
        if x.dim() != 2 or choices.dim() != 2 or scales.shape != choices.shape:
            return super().forward(*args, **kwargs)
        if self.training and not self.trainable or _experts.is_trained(self, given.values()) and (
                not self.trainable or _experts.ops_of(self, dense) is None):
            return super().forward(*args, **kwargs)
        return _experts.run(self, dense, x, choices, scales)


@constant_in_graphs
def names_of(cls):
    return _experts.argument_names(cls)


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
