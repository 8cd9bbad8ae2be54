"""Layers that skip zeros, in place of torch's. They keep parameters, names and hooks:
a layer changes its class, and nothing else."""

import functools

import torch
from torch import fx, nn

from .. import ops
from ..ops._einsum import NOTHING, einsum_op
from ..ops._op import run
from ..ops._products import linear

fx.wrap("linear")  # a node of torch.fx, which traces through all layers but torch's own


class Linear(nn.Linear):
    """torch.nn.Linear that skips zeros of its input, or of its weight.

        layer = pit.torch.Linear(512, 128)                  # x has zeros, anywhere
        layer = pit.torch.Linear(512, 128, sparse="weight")  # was pruned

    x (..., in_features); the result is (..., out_features). Parameters are those of
    torch.nn.Linear, of f64, f32, f16 or bf16. Raises pit.Error if shapes or types do
    not fit.
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None, *,
                 sparse="x"):
        super().__init__(in_features, out_features, bias, device, dtype)
        self.sparse = sparse

    def forward(self, x):
        return linear(x, self.weight, self.bias, sparse=self.sparse)

    def extra_repr(self):
        return f"{super().extra_repr()}, sparse={self.sparse!r}"


def make_sparse(layer, sparse):
    layer.__class__ = Linear
    layer.sparse = sparse


def make_dense(layer):
    """What sparsify made, as it was."""
    if type(layer) is Linear:
        layer.__class__ = nn.Linear
        del layer.sparse
    elif isinstance(layer, (Block, Experts)):
        layer.give_back()
        layer.__class__ = type(layer).dense


# --------------------------------------------------------------------------
# Mixtures of experts
# --------------------------------------------------------------------------

# Names of the three weights of an expert: of gate, up and down.
EXPERT_NAMES = (("w1", "w3", "w2"), ("gate_proj", "up_proj", "down_proj"))
FUNCTIONS = {"SiLU": "silu", "SiLUActivation": "silu", "GELU": "gelu", "GELUActivation": "gelu",
             "ReLU": "relu", "silu": "silu", "relu": "relu"}


def activation_name(module):
    """pit's name of a module's `act_fn`; None: it has none of this name."""
    function = getattr(module, "act_fn", None)
    if getattr(function, "approximate", "none") != "none":
        return None  # another GELU
    return FUNCTIONS.get(getattr(function, "__name__", None) or type(function).__name__)


def names_of_expert(expert):
    for names in EXPERT_NAMES:
        layers = [getattr(expert, name, None) for name in names]
        if all(type(x) is nn.Linear and x.bias is None for x in layers):
            return names
    return None


def is_block(module):
    """Whether it is a block as Mixtral's or OLMoE's: a Linear `gate`, a list of
    `experts` of three Linear layers each, and `top_k`."""
    experts, gate = getattr(module, "experts", None), getattr(module, "gate", None)
    if not isinstance(experts, nn.ModuleList) or not len(experts) or not isinstance(
            gate, nn.Linear) or not isinstance(getattr(module, "top_k", None), int):
        return False
    if gate.out_features != len(experts) or getattr(module, "shared_expert", None) is not None:
        return False
    names = [names_of_expert(expert) for expert in experts]
    return names[0] is not None and len(set(names)) == 1 and activation_name(
        experts[0]) is not None


def is_experts(module):
    """Whether it holds the weights of all experts: `gate_up_proj` (experts, 2 f, k) and
    `down_proj` (experts, k, f), and is called with tokens, choices and weights."""
    up, down = (getattr(module, name, None) for name in ("gate_up_proj", "down_proj"))
    return (isinstance(up, nn.Parameter) and isinstance(down, nn.Parameter)
            and up.dim() == down.dim() == 3 and up.shape[0] == down.shape[0]
            and up.shape[1] == 2 * down.shape[2] and up.shape[2] == down.shape[1]
            and activation_name(module) is not None)


def has_gradients(module):
    return torch.is_grad_enabled() and any(p.requires_grad for p in module.parameters())


class Block:
    """Of a block with a list of experts. Their weights become views of one tensor for
    each of gate, up and down. With gradients the block is what it was."""

    def take(self):
        self.names = names_of_expert(self.experts[0])
        self.activation = activation_name(self.experts[0])
        self.stack()
        self.reload = self.register_load_state_dict_post_hook(lambda block, _: block.stack())

    def give_back(self):
        self.reload.remove()
        for name in ("names", "activation", "stacked", "reload"):
            delattr(self, name)

    def stack(self):
        self.stacked = []
        for name in self.names:
            weights = [getattr(expert, name).weight.detach() for expert in self.experts]
            together = as_one(weights)
            if together is None:
                together = torch.stack(weights)
                for expert, part in zip(self.experts, together):
                    getattr(expert, name).weight.data = part
            self.stacked.append(together)

    def _apply(self, function, recurse=True):
        found = super()._apply(function, recurse)
        self.stack()  # the weights have other memory
        return found

    def forward(self, hidden_states, *args, **kwargs):
        if has_gradients(self):
            return super().forward(hidden_states, *args, **kwargs)
        tokens = hidden_states.reshape(-1, hidden_states.shape[-1])
        logits = self.gate(tokens)
        weights, experts = logits.float().softmax(-1).topk(self.top_k, -1)
        if getattr(self, "norm_topk_prob", True):
            weights = weights / weights.sum(-1, keepdim=True)
        gate, up, down = (w.transpose(1, 2) for w in self.stacked)
        y = ops.moe(tokens, weights.to(tokens.dtype), experts, gate, up, down,
                    activation=self.activation).reshape(hidden_states.shape)
        return (y, logits) if self.with_logits else y


def as_one(tensors):
    """The tensor that equal tensors are views of, one behind the other; None: they are
    not."""
    first = tensors[0]
    step = first.numel() * first.element_size()
    if not all(x.is_contiguous() and x.data_ptr() == first.data_ptr() + i * step
               and x.untyped_storage().data_ptr() == first.untyped_storage().data_ptr()
               for i, x in enumerate(tensors)):
        return None
    return first.as_strided((len(tensors), *first.shape), (first.numel(), *first.stride()))


class Experts:
    """Of a module that holds the weights of all experts. The two products in front
    are one: its result has a column for each of both."""

    def take(self):
        self.activation = activation_name(self)

    def give_back(self):
        del self.activation

    def forward(self, hidden_states, top_k_index, top_k_weights):
        top = top_k_index.shape[1]
        routing = top_k_index.reshape(-1, 1)
        rows = hidden_states.repeat_interleave(top, 0)
        here = rows.new_ones((rows.shape[0], self.down_proj.shape[0]))
        both = product("se,sk,efk->sf", here, rows, self.gate_up_proj, routing)
        gate, up = both.chunk(2, -1)
        hidden = self.act_fn(gate) * up
        y = product("se,sf,enf->sn", here, hidden, self.down_proj, routing)
        y = y * top_k_weights.reshape(-1, 1).to(y.dtype)
        return y.reshape(-1, top, y.shape[-1]).sum(1)


def product(equation, here, rows, weight, routing):
    op = einsum_op("moe", equation, 3, "a", "routing", None, NOTHING, None, None)
    return run(op, [here, rows, weight, routing])


@functools.lru_cache(maxsize=None)
def sparse_class(base, kind):
    return type(f"Sparse{base.__name__}", (kind, base), {"dense": base})


def make_experts_sparse(block, kind, with_logits):
    if isinstance(block, kind):
        return
    block.__class__ = sparse_class(type(block), kind)
    if kind is Block:
        block.with_logits = with_logits
    block.take()
