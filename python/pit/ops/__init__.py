"""Ops by meaning: products of dynamically sparse arrays, compiled when they are
called for the first time. docs/Python.md says how they are used."""

from ._attention import attention
from ._block_index import block_index
from ._compressed import Compressed, compress, compressed_linear
from ._conv import conv2d
from ._einsum import einsum
from ._explain import Explanation, explain
from ._masked_mlp import masked_mlp
from ._moe import moe, padded_mlp
from ._orders import grid_order
from ._page_index import page_index
from ._paged_attention import paged_attention
from ._products import linear, masked_matmul, matmul, padded_linear
from ._scaled import scaled_matmul

__all__ = [
    "Compressed", "Explanation", "attention", "block_index", "compress", "compressed_linear",
    "conv2d", "einsum", "explain", "grid_order", "linear", "masked_matmul", "masked_mlp", "matmul",
    "moe", "padded_linear", "padded_mlp", "page_index", "paged_attention", "scaled_matmul",
]
