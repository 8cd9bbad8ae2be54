"""Ops in torch's own, for formats that know no op of pit, as ONNX does."""

import torch

from .. import _types
from .._library import Error
from ..ops import _op
from ..ops._einsum import Einsum
from ..ops._operand import constant_in_graphs


@constant_in_graphs
def description(op):
    """(equation, whether there is a bias, activation, name of the result's type or None) of
    a sum of products of which nothing but values says where zeros are."""
    op = _op.decode(op)
    if type(op) is not Einsum or any(mark.source != "values" for mark in op.marks):
        raise Error(f"{op.name}: a format without ops of pit, as ONNX, has no such op; it gets sums of "
                    "products without mask=, lengths=, routing= and index=")
    dtype = op.dtype and _types.BY_NAME[op.dtype].array
    return f"{','.join(op.inputs)}->{op.output}", op.bias, op.activation, dtype


def run(op, arrays):
    """The dense form of an op by its string."""
    equation, has_bias, activation, dtype = description(op)
    operands = list(arrays)
    bias = operands.pop() if has_bias else None
    if equation == "mk,nk->mn":
        y = torch.nn.functional.linear(*operands)
    else:
        y = torch.einsum(equation, *operands)
    if dtype is not None:
        y = y.to(getattr(torch, dtype))
    if bias is not None:
        y = y + bias
    return y if activation is None else getattr(torch.nn.functional, activation)(y)
