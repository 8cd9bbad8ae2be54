"""Layers whose weights are stored as lists: for each output its columns, and their values, one output behind
the other. FixedFanInLinear (_fan_in.py) has as many for each output, CsrLinear any number."""

import torch
from torch import nn

from .._library import Error
from ..ops._products import linear
from . import _packed, _run

__all__ = ["CsrLinear"]


class PackedLayer(nn.Module):
    """A layer with in_features, out_features, values, columns (i32), a bias or None, and counts(), how many
    weights each output has."""

    def __init__(self):
        super().__init__()
        self._listed = None

    @_packed.outside_of_graphs
    def forward(self, x):
        name = type(self).__name__
        if x.shape[-1:] != (self.in_features,):
            raise Error(f"{name}: x has shape {tuple(x.shape)}; its last dimension must be in_features = "
                        f"{self.in_features}")
        values, bias = self.values, self.bias
        if _run.any_autocast():
            x, values, *rest = _run.autocast([x, values] if bias is None else [x, values, bias])
            bias = rest[0] if rest else None
        if values.dtype != x.dtype:
            raise Error(f"{name}: x has elements of {x.dtype}, the weights of {values.dtype}; convert "
                        "one of them")
        if values.numel() == 0:
            y = x.new_zeros(*x.shape[:-1], self.out_features) + 0 * x.sum(-1, keepdim=True)
            return y if bias is None else y + bias
        if x.is_cuda:
            whole, = self.lists(self.out_features).blocks
            return linear(x, values.reshape(-1), bias, sparse="weight", index=whole.index,
                          packed=True)
        y = _packed.PackedLinear.apply(x.reshape(-1, self.in_features), values.reshape(-1), bias,
                                       self.out_features, self.lists())
        return y.reshape(*x.shape[:-1], self.out_features)

    def lists(self, outputs=None):
        """The arguments of programs for the columns as they are now; an index for `outputs` of them."""
        name, columns = type(self).__name__, self.columns
        if columns.dtype != torch.int32 or not columns.is_contiguous():
            raise Error(f"{name}: columns is of {columns.dtype} with strides {columns.stride()}; it must be "
                        "of torch.int32 and contiguous")
        state = (*self.state(), columns.device)
        if self._listed is None or self._listed[0] != state or None in state:
            self._listed = state, _packed.Lists(name, self.counts(), columns.view(-1), self.in_features,
                                                outputs)
        return self._listed[1]

    def state(self):
        """The fields that change when the lists do."""
        return version_of(self.columns), self.columns.data_ptr()

    def __getstate__(self):
        return {**self.__dict__, "_listed": None}  # indices are memory of this process


class CsrLinear(PackedLayer):
    """x weight.T + bias, of which each output has weights at columns of its own, any number of them; no others
    are stored, and no others have gradients.

        layer = pit.torch.CsrLinear.from_linear(pruned)          # what is not 0
        layer = pit.torch.CsrLinear.from_csr(weight, bias)       # torch's sparse_csr tensor
        y = layer(x); y.sum().backward()                         # layer.values.grad, (weights)

    values   (weights), a Parameter: those of one output behind those of the one before
    columns  (weights), a buffer of i32: their columns, ascending for each output
    ends     (out_features), a buffer of i64: where the weights of each output end
    bias     (out_features), or None

    CsrLinear(in_features, out_features, weights) has so many at random, the same number for each output, but for
    one, for a state_dict to be loaded into. x (..., in_features) of f64, f32, f16 or bf16. Memory is 4 bytes
    for each weight beside its value, and 20 for each output. Raises pit.Error if columns are not
    as they must be, or shapes or types do not fit.
    """

    def __init__(self, in_features, out_features, weights, bias=True, device=None, dtype=None):
        super().__init__()
        if not 0 <= weights <= in_features * out_features:
            raise Error(f"CsrLinear: {weights} weights; {out_features} outputs of {in_features} inputs have 0 to "
                        f"{in_features * out_features}")
        self.in_features, self.out_features = in_features, out_features
        self.values = nn.Parameter(torch.empty(weights, device=device, dtype=dtype))
        each = torch.arange(1, out_features + 1, device=device) * weights // max(1, out_features)
        self.register_buffer("ends", each)
        counts = torch.diff(each, prepend=each.new_zeros(1))
        starts = torch.repeat_interleave(each - counts, counts)
        step = torch.arange(weights, device=device) - starts
        self.register_buffer("columns", (step * in_features // counts.repeat_interleave(counts).clamp(
            min=1)).int())
        self.bias = nn.Parameter(torch.empty(out_features, device=device, dtype=dtype)) if bias else None
        bound = (max(weights, 1) / max(out_features, 1)) ** -0.5
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-bound, bound)

    @classmethod
    def from_linear(cls, layer, mask=None):
        """The weights of a torch.nn.Linear that a mask keeps, or that are not 0."""
        weight = layer.weight.detach()
        kept = weight != 0 if mask is None else mask != 0
        if kept.shape != weight.shape:
            raise Error(f"CsrLinear: a mask of shape {tuple(kept.shape)}; it must have the weight's, "
                        f"{tuple(weight.shape)}")
        return cls._made(weight.shape[1], kept.sum(1).cumsum(0), kept.nonzero()[:, 1], weight[kept], layer.bias)

    @classmethod
    def from_csr(cls, weight, bias=None):
        """The weights of a tensor of layout torch.sparse_csr, (out_features, in_features)."""
        if weight.layout is not torch.sparse_csr or weight.dim() != 2:
            raise Error(f"CsrLinear: a tensor of layout {weight.layout} and shape {tuple(weight.shape)}; it must be "
                        "(out_features, in_features) of torch.sparse_csr: weight.to_sparse_csr()")
        weight = weight.detach()
        return cls._made(weight.shape[1], weight.crow_indices()[1:], weight.col_indices(), weight.values(), bias)

    @classmethod
    def _made(cls, in_features, ends, columns, values, bias):
        made = cls(in_features, len(ends), 0, bias is not None, values.device, values.dtype)
        made.ends, made.columns = ends.long().contiguous(), columns.int().contiguous()
        made.values = nn.Parameter(values.contiguous())
        if bias is not None:
            made.bias = nn.Parameter(bias.detach().clone())
        return made

    def counts(self):
        found = torch.diff(self.ends, prepend=self.ends.new_zeros(1)).int()
        if (found < 0).any() or int(found.sum()) != len(self.columns) or len(self.values) != len(self.columns):
            raise Error(f"CsrLinear: {len(self.values)} values and {len(self.columns)} columns; ends must ascend to "
                        "their number")
        return found

    def state(self):
        return (*super().state(), version_of(self.ends), self.ends.data_ptr())

    def to_dense(self):
        """The weight (out_features, in_features) with zeros; it has gradients."""
        rows = torch.arange(self.out_features, device=self.ends.device).repeat_interleave(self.counts())
        return self.values.new_zeros(self.out_features, self.in_features).index_put(
            (rows, self.columns.long()), self.values)

    def extra_repr(self):
        return (f"in_features={self.in_features}, out_features={self.out_features}, "
                f"weights={len(self.values)}, bias={self.bias is not None}")


def version_of(tensor):
    """How often a tensor was written to; None: nobody counts."""
    return None if tensor.is_inference() else tensor._version
