"""pit: dynamically sparse tensor programs.

    import pit
    y = pit.linear(h, w, b)             # h has zeros, anywhere: they are skipped
    print(pit.explain(pit.linear, h, w, b))

Arrays are those of numpy, torch, CuPy and JAX, on the CPU or a GPU. They are passed
without copies, by DLPack; on a GPU a call runs on the framework's current stream.

    Ops             matmul, linear, einsum, masked_matmul, padded_linear, padded_mlp,
                    masked_mlp, scaled_matmul, compressed_linear, moe, conv2d, attention,
                    paged_attention: compiled when they are called; compress, block_index,
                    grid_order, page_index: what these read (docs/Ops.md)
    Inspecting      explain, live_fractions
    Programs        compile (MLIR or StableHLO), load, jit and tile (tile programs in
                    Python, docs/TileLanguage.md); docs/Python.md
    torch           pit.torch: gradients, torch.compile, sparsify (docs/Torch.md, docs/TorchModels.md)
    JAX             pit.jax: the ops under jit, grad and vmap (docs/Jax.md)
    Underneath      build_index, import_index, constant, Context, view
"""

import importlib

from . import _library
from ._arrays import view
from ._compiler import Compiler, compile
from ._constant import Constant, constant
from ._context import Context, default_context
from ._live_fractions import LiveFractions, live_fractions
from ._index import Index, build_index, import_index
from ._library import Error
from ._program import Entry, Program, Signature, load
from .ops import (
    Compressed, Explanation, attention, block_index, compress, compressed_linear, conv2d, einsum,
    explain, grid_order, linear, masked_matmul, masked_mlp, matmul, moe, padded_linear, padded_mlp,
    page_index, paged_attention, scaled_matmul)

__all__ = [
    "Compiler", "Compressed", "Constant", "Context", "LiveFractions", "Entry", "Error", "Explanation",
    "Index", "Program", "Signature", "attention", "block_index", "build_index", "compile",
    "compress", "compressed_linear", "constant", "conv2d", "live_fractions", "default_context", "einsum",
    "explain", "grid_order", "import_index", "jit", "linear", "load", "masked_matmul", "masked_mlp", "matmul",
    "moe", "padded_linear", "padded_mlp", "page_index", "paged_attention", "scaled_matmul", "tile",
    "view",
]


def __getattr__(name):
    if name in ("jit", "tile"):  # imported when they are needed
        tile = importlib.import_module(".tile", __name__)
        return tile if name == "tile" else tile.jit
    if name == "__version__":  # of the library, which is loaded when it is needed
        return _library.runtime().pit_version().decode()
    if name in ("torch", "jax"):  # import the framework
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'pit' has no attribute '{name}'")
