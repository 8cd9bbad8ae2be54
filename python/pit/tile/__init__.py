"""The language of `pit.jit`: tile programs in Python. docs/TileLanguage.md teaches it.

    import pit
    from pit import tile

    @pit.jit
    def double(x: tile.f32["N"], *, size=1024):
        N, = x.shape
        y = tile.empty((N,), tile.f32)
        for i in tile.forall((0, N, size)):
            tile.swrite(y[i], 2.0 * tile.sread(x[i]))
        return y

    y = double(x)                     # arrays of numpy, torch, CuPy, ...
"""

from ._elements import (
    abs, all, any, bits, cdiv, ceil, cos, dot, erf, exp, exp2, expm1, floor, fma, log, log1p, log2,
    max, maximum, min, minimum, number, prod, round, rsqrt, sigmoid, sin, sqrt, sum, tanh, where)
from ._errors import SourceError
from ._functions import (
    build_index, coords, copy, count, empty, extent, for_ids, for_range, forall, full, ids, listed,
    span, sread, swrite, zeros)
from ._jit import Function, Specialized, jit
from ._types import (
    bf16, f8E4M3FN, f8E5M2, f16, f32, f64, i1, i8, i16, i32, i64, index, index_ as index_type, tensor)

__all__ = [
    "Function", "SourceError", "Specialized", "abs", "all", "any", "bf16", "bits", "build_index", "cdiv",
    "ceil", "coords", "copy", "cos", "count", "dot", "empty", "erf", "exp", "exp2", "expm1",
    "extent", "f16", "f32", "f64", "f8E4M3FN", "f8E5M2", "floor", "fma", "for_ids", "for_range",
    "forall", "full", "i1", "i16", "i32", "i64", "i8", "ids", "index", "index_type", "jit", "listed", "log", "log1p", "log2", "max",
    "maximum", "min", "minimum", "number", "prod", "round", "rsqrt", "sigmoid", "sin", "span",
    "sqrt", "sread", "sum", "swrite", "tanh", "tensor", "where", "zeros",
]
