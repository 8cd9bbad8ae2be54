"""Layers that skip zeros, in place of torch's. They keep parameters, names and hooks:
a layer changes its class, and nothing else."""

import torch
from torch import fx, nn

from ..ops._products import linear
from ._mixtures import Block, Experts, make_experts_sparse
from ._relu import is_behind_relu

__all__ = ["Block", "Experts", "Linear", "make_dense", "make_experts_sparse", "make_sparse"]

fx.wrap("linear")  # a node of torch.fx, which traces through all layers but torch's own


class Linear(nn.Linear):
    """torch.nn.Linear that skips zeros of its input, or of its weight.

        layer = pit.torch.Linear(512, 128)                  # x has zeros, anywhere
        layer = pit.torch.Linear(512, 128, sparse="weight")  # was pruned

    x (..., in_features); the result is (..., out_features). Parameters are those of
    torch.nn.Linear, of f64, f32, f16 or bf16. Where x is the result of a ReLU, its
    gradient is only computed where it is not zero (`sparse_grad` of pit.linear), as the
    ReLU drops the rest, unless x has hooks or is what gradients are asked of; not in
    graphs of torch.compile, which do not tell. Raises pit.Error if shapes or types do
    not fit.
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None, *,
                 sparse="x"):
        super().__init__(in_features, out_features, bias, device, dtype)
        self.sparse = sparse

    def forward(self, x):
        if not isinstance(self, Linear):  # of densify, by a hook that has kept this method
            return nn.functional.linear(x, self.weight, self.bias)
        return linear(x, self.weight, self.bias, sparse=self.sparse,
                      sparse_grad="relu" if self.sparse == "x" and is_behind_relu(x) else False)

    def extra_repr(self):
        return f"{super().extra_repr()}, sparse={self.sparse!r}"


def make_sparse(layer, sparse, exchanged=False):
    """`exchanged`: the weight, which keeps its shape, lies in memory as (in_features, out_features),
    as products of few rows read it."""
    layer.__class__ = Linear
    layer.sparse = sparse
    if exchanged:
        layer.exchanged = True
        lay_out(layer.weight, True)


@torch.no_grad()
def lay_out(weight, exchanged):
    made = weight.data.t().contiguous().t() if exchanged else weight.data.contiguous()
    if made.data_ptr() != weight.data_ptr():
        weight.data = made


def make_dense(layer):
    """What sparsify made, as it was."""
    if type(layer) is Linear:
        layer.__class__ = nn.Linear
        del layer.sparse
        if layer.__dict__.pop("exchanged", False):
            lay_out(layer.weight, False)
    elif hasattr(type(layer), "give_back"):  # Block, Experts, or Unpadded of pit.transformers
        layer.give_back()
        layer.__class__ = type(layer).dense
