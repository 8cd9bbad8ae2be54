"""pit: dynamically sparse tensor programs, compiled ahead of time.

    import pit
    program = pit.load("f.so")          # made by pit-compile --emit=so
    c = program.f(a, b)                 # arrays of numpy, torch, CuPy, ...
    program.f(a, b, out=[c])

Arrays are passed without copies, by DLPack. On a GPU a call runs on the
framework's current stream. docs/Python.md says more.
"""

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
    "default_context", "einsum", "explain", "import_index", "linear", "load", "masked_matmul",
    "matmul", "moe", "padded_linear", "padded_mlp", "view",
]


def __getattr__(name):
    if name == "__version__":  # of the library, which is loaded when it is needed
        return _library.runtime().pit_version().decode()
    raise AttributeError(f"module 'pit' has no attribute '{name}'")
