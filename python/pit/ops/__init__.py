"""Ops by meaning: products of dynamically sparse arrays, compiled when they are
called for the first time. docs/Python.md says how they are used."""

from ._einsum import einsum
from ._products import linear, masked_matmul, matmul, padded_linear

__all__ = ["einsum", "linear", "masked_matmul", "matmul", "padded_linear"]
