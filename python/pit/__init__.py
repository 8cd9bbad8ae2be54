"""pit: dynamically sparse tensor programs, compiled ahead of time.

    import pit
    program = pit.load("f.so")          # made by pit-compile --emit=so
    c = program.f(a, b)                 # arrays of numpy, torch, CuPy, ...
    program.f(a, b, out=[c])

Arrays are passed without copies, by DLPack. On a GPU a call runs on the
framework's current stream. docs/Python.md says more.
"""

import importlib

from . import _library
from ._arrays import view
from ._compiler import Compiler, compile
from ._constant import Constant, constant
from ._context import Context, default_context
from ._coverage import Coverage, coverage
from ._index import Index, build_index, import_index
from ._library import Error
from ._program import Entry, Program, Signature, load
from .ops import (
    Explanation, conv2d, einsum, explain, linear, masked_matmul, matmul, moe, padded_linear,
    padded_mlp)

__all__ = [
    "Compiler", "Constant", "Context", "Coverage", "Entry", "Error", "Explanation", "Index",
    "Program", "Signature", "build_index", "compile", "constant", "conv2d", "coverage",
    "default_context", "einsum", "explain", "import_index", "jit", "linear", "load",
    "masked_matmul", "matmul", "moe", "padded_linear", "padded_mlp", "tile", "view",
]


def __getattr__(name):
    if name in ("jit", "tile"):  # imported when they are needed
        tile = importlib.import_module(".tile", __name__)
        return tile if name == "tile" else tile.jit
    if name == "__version__":  # of the library, which is loaded when it is needed
        return _library.runtime().pit_version().decode()
    if name == "torch":  # imports torch
        return importlib.import_module("pit.torch")
    raise AttributeError(f"module 'pit' has no attribute '{name}'")
