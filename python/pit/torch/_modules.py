"""Layers that skip zeros, in place of torch's. They keep parameters, names and hooks:
a layer changes its class, and nothing else."""

import torch
from torch import fx, nn

from .._library import Error
from ..ops._einsum import einsum
from ..ops._products import linear, matmul
from . import _choice
from ._mixtures import Block, Experts, make_experts_sparse
from ._relu import is_behind_relu

__all__ = ["Block", "Experts", "Linear", "make_dense", "make_experts_sparse", "make_sparse"]

fx.wrap("linear")  # a node of torch.fx, which traces through all layers but torch's own


class Linear(nn.Linear):
    """torch.nn.Linear that skips zeros of its input, or of its weight.

        layer = pit.torch.Linear(512, 128)                  # x has zeros, anywhere
        layer = pit.torch.Linear(512, 128, sparse="weight")  # was pruned
        layer = pit.torch.Linear(512, 128, mask=kept)        # weights that are there
        layer = pit.torch.Linear(512, 128, sparse="grad")    # a ReLU follows: in training

    x (..., in_features); the result is (..., out_features). Parameters are those of
    torch.nn.Linear, of f64, f32, f16 or bf16. A mask, (out_features, in_features), is a buffer, `mask`: weights
    that it does not have count as 0 and have no gradient. MaskedLinear is for one that stays
    for many steps; a Linear looks at it in each call, and goes into graphs as a whole. With "grad" the forward
    is torch's, and both gradients skip zeros of the incoming one. Where x is the result of a ReLU, its
    gradient is only computed where it is not zero (`sparse_grad` of pit.linear), as the
    ReLU drops the rest, unless x has hooks or is what gradients are asked of; not in
    graphs of torch.compile, which do not tell. Raises pit.Error if shapes or types do
    not fit.
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None, *,
                 sparse=None, mask=None):
        super().__init__(in_features, out_features, bias, device, dtype)
        self.sparse = sparse or ("x" if mask is None else "weight")
        if self.sparse not in ("x", "weight", "grad"):
            raise Error(f"Linear: sparse={sparse!r}; it is 'x', 'weight' or 'grad'")
        if mask is None:
            return
        if self.sparse != "weight" or tuple(mask.shape) != tuple(self.weight.shape):
            raise Error(f"Linear: a mask of shape {tuple(mask.shape)} with sparse={self.sparse!r}; it is "
                        f"about weights, {tuple(self.weight.shape)}, with sparse='weight'")
        self.register_buffer("mask", mask.detach().to(device=self.weight.device, dtype=torch.bool))

    def forward(self, x):
        if not isinstance(self, Linear):  # of densify, by a hook that has kept this method
            return nn.functional.linear(x, self.weight, self.bias)
        ways, weight, bias = self.__dict__.get("ways"), self.weight, self.bias
        if ways is not None and not _choice.can_choose(x, weight):
            ways = None
        if self.sparse == "grad":
            return of_sparse_gradient(x, weight, bias, ways)
        mask = self._buffers.get("mask")
        if mask is not None:
            return linear(x, weight, bias, sparse="weight", mask=mask)
        # An encoder of torch makes nested tensors from a padding mask. A comparison of ways makes them an error.
        if isinstance(x, torch.Tensor) and x.is_nested and not _choice.is_first_wanted.get():
            return nn.functional.linear(x, weight, bias)
        if ways is None:
            return self._by_pit(x, weight, bias)
        return _choice.of_layer(
            ways, x, (weight, bias), lambda: self._by_pit(x, weight, bias),
            lambda: nn.functional.linear(x, weight, bias), lambda which: self._step(which, x))

    def _by_pit(self, x, weight, bias):
        return linear(x, weight, bias, sparse=self.sparse,
                      sparse_grad="relu" if self.sparse == "x" and is_behind_relu(x) else False)

    def _step(self, which, x):
        """Forward and backward in one way, of tensors beside those of the model."""
        given, weight, bias = (each if each is None else each.detach().requires_grad_(each.requires_grad)
                               for each in (x, self.weight, self.bias))
        if is_behind_relu(x):
            given = torch.relu(given)
        y = self._by_pit(given, weight, bias) if which == 0 else nn.functional.linear(given, weight, bias)
        y.backward(torch.ones_like(y))

    def extra_repr(self):
        return f"{super().extra_repr()}, sparse={self.sparse!r}"


class OfSparseGradient(torch.autograd.Function):
    """x weight.T + bias of torch, whose gradients skip zeros of the incoming one."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, weight, bias, ways):
        return nn.functional.linear(x, weight, bias)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, bias, ctx.ways = inputs
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias, _ = ctx.needs_input_grad
        rows = grad.reshape(-1, grad.shape[-1])

        def by_pit():
            return (matmul(grad, weight) if of_x else None,
                    einsum("mn,mk->nk", rows, x.reshape(-1, x.shape[-1]), sparse="a") if of_weight else None)

        def by_torch():
            return (grad @ weight if of_x else None,
                    rows.t() @ x.reshape(-1, x.shape[-1]) if of_weight else None)

        if ctx.ways is None or not grad.numel():
            found = by_pit()
        else:
            found = _choice.of_gradient(ctx.ways, rows, (of_x, of_weight), by_pit, by_torch)
        return *found, rows.sum(0) if of_bias and ctx.has_bias else None, None


def of_sparse_gradient(x, weight, bias, ways=None):
    if torch.is_autocast_enabled(x.device.type) or not (torch.is_grad_enabled() and any(
            each is not None and each.requires_grad for each in (x, weight, bias))):
        return nn.functional.linear(x, weight, bias)
    return OfSparseGradient.apply(x, weight, bias, ways)


fx.wrap("of_sparse_gradient")


def make(layer, cls):
    """Has a layer another class, which `give_back` of that takes back."""
    layer.__class__ = cls
    layer.take()


def make_sparse(layer, sparse, exchanged=False):
    """`exchanged`: the weight, which keeps its shape, lies in memory as (in_features, out_features),
    as products of few rows, and those of a GPU in training, read it."""
    layer.__class__ = Linear
    layer.sparse = sparse
    if exchanged:
        layer.exchanged = True
        lay_out(layer.weight, True)
    layer.ways = _choice.ways_of(layer, (sparse, exchanged))


@torch.no_grad()
def lay_out(weight, exchanged):
    made = weight.data.t().contiguous().t() if exchanged else weight.data.contiguous()
    if made.data_ptr() != weight.data_ptr():
        weight.data = made


def make_dense(layer):
    """Makes a layer that sparsify replaced as it was."""
    if type(layer) is Linear and layer._buffers.get("mask") is None:
        layer.__class__ = nn.Linear
        del layer.sparse
        layer.__dict__.pop("ways", None)
        if layer.__dict__.pop("exchanged", False):
            lay_out(layer.weight, False)
    elif hasattr(type(layer), "give_back"):  # Block, Experts, Conv2d, Unpadded of pit.transformers
        layer.give_back()
        layer.__class__ = type(layer).dense
