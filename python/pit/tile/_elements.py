"""Functions of the language on tiles: products, reductions, functions of elements.

Several have names of Python's, which this file does not use otherwise."""

from . import _operators as ops
from ._errors import Mistake
from ._language import as_tile, language
from ._types import f32, i1, index_
from ._values import Dot, Tile, describe, shape_text, view

# -- Products and reductions --


@language
def number(b, value):
    """The only element of a tile, as a number: for bounds of loops and subscripts."""
    as_tile(value, "tile.number")
    if value.shape.count(1) != len(value.shape):
        raise Mistake(f"tile.number takes one element, not {describe(value)}")
    return b.number_of(value)


@language
def dot(b, x, y):
    """The product of two tiles: [.., M, K] times [.., K, N]. Both have one type. Sums of f16,
    bf16 and floats of 8 bits are taken in f32, of i8 and i16 in i32, and the result has that type.
    `acc += tile.dot(x, y)` adds to a tile without a step between."""
    for value in (as_tile(x, "tile.dot"), as_tile(y, "tile.dot")):
        if len(value.shape) < 2:
            raise Mistake(f"tile.dot takes tiles of two dimensions or more, not {describe(value)}")
    ops.common_type(x, y, "dot")
    if x.type is i1 or x.type is index_:
        raise Mistake(f"tile.dot does not take {x.type.name}; write .to(tile.f32) before it")
    if x.shape[:-2] != y.shape[:-2] or x.shape[-1] != y.shape[-2]:
        raise Mistake(f"shapes {shape_text(x.shape)} and {shape_text(y.shape)} have no product; "
                      "[.., M, K] and [.., K, N] have")
    # Read before what follows may write.
    x, y = b.operand(x), b.operand(y)
    return Tile(x.type.accumulator, (*x.shape[:-1], y.shape[-1]), Dot(x, y, b.at))


def reduction(name, doc, combine, identity, accumulate=False):
    def build(b, x, axis=None, keepdims=False):
        as_tile(x, f"tile.{name}")
        type_ = x.type.accumulator if accumulate else x.type
        op, truth = combine[0 if type_.is_float else 1], name in ("any", "all")
        if op is None or (type_ is i1) != truth:
            hint = "compare, as x > 0" if truth else "write .to(tile.i32) behind it"
            raise Mistake(f"tile.{name} does not take {x.type.name}; {hint}")
        ops.check_computed(f"tile.{name}", type_)
        dims = dims_of(x, axis, name)
        start = identity(type_)
        result = b.reduce(x, dims, f"arith.{op} {{}}, {{}} : {type_.name}", type_, start)
        if keepdims:
            kept = [d for d in range(len(x.shape)) if d not in dims]
            shape = tuple(1 if d in dims else s for d, s in enumerate(x.shape))
            result = Tile(type_, shape, view(result.node, kept))
        return result

    build.__name__, build.__doc__ = name, doc
    return language(build)


def dims_of(x, axis, name):
    """The dimensions to combine along."""
    rank = len(x.shape)
    axes = range(rank) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    dims = []
    for each in axes:
        if isinstance(each, bool) or not isinstance(each, int) or not -rank <= each < rank:
            raise Mistake(f"tile.{name}: axis {describe(each)} of {describe(x)}")
        dims.append(each % rank)
    return sorted(set(dims))


def least(type_):
    return float("-inf") if type_.is_float else -(1 << type_.bits - 1)


def greatest(type_):
    return float("inf") if type_.is_float else (1 << type_.bits - 1) - 1


ALONG = " along `axis`: a dimension, several, or all of them. `keepdims` leaves them 1 long."
sum = reduction("sum", "The sum" + ALONG + " Sums of f16 and bf16 are f32, of i8 and i16 i32.",
                ("addf", "addi"), lambda t: 0, accumulate=True)
prod = reduction("prod", "The product" + ALONG + " Types are those of `sum`.", ("mulf", "muli"),
                 lambda t: 1, accumulate=True)
max = reduction("max", "The largest element" + ALONG + " NaN if there is one.",
                ("maximumf", "maxsi"), least)
min = reduction("min", "The least element" + ALONG + " NaN if there is one.",
                ("minimumf", "minsi"), greatest)
any = reduction("any", "Whether an element is true," + ALONG, (None, "ori"), lambda t: False)
all = reduction("all", "Whether all elements are true," + ALONG, (None, "andi"), lambda t: True)


# -- Elements --


@language
def where(b, condition, x, y):
    """x where the condition (i1) holds, else y, element by element."""
    return ops.select(b, condition, x, y)


@language
def maximum(b, x, y):
    """The larger of two elements; NaN if one is NaN."""
    return ops.binary(b, "max", x, y)


@language
def minimum(b, x, y):
    """The smaller of two elements; NaN if one is NaN."""
    return ops.binary(b, "min", x, y)


@language
def abs(b, x):
    """The magnitude."""
    type_ = ops.element_type(x, "tile.abs")
    if type_.is_float:
        return ops.unary_math(b, "abs", x)
    return ops.binary(b, "max", x, ops.negated(b, x))


@language
def fma(b, x, y, z):
    """x * y + z, rounded once, element by element."""
    return ops.fused(b, [x, y, z])


def elementwise(name, doc):
    def build(b, x):
        return ops.unary_math(b, name, x)

    build.__name__, build.__doc__ = name, f"{doc}, element by element."
    return language(build)


@language
def exp(b, x, approximate=False):
    """e to the x, element by element. With `approximate` a GPU takes two instructions for f32:
    the result is off by up to |x| units in the last place, and 0 where it is subnormal."""
    return ops.unary_math(b, "exp", x, truth(approximate))


@language
def exp2(b, x, approximate=False):
    """2 to the x, element by element. With `approximate` a GPU takes one instruction for f32:
    the result is 0 where it is subnormal."""
    return ops.unary_math(b, "exp2", x, truth(approximate))


def truth(value):
    if not isinstance(value, bool):
        raise Mistake(f"approximate= takes True or False, not {describe(value)}")
    return value


expm1 = elementwise("expm1", "e to the x, minus 1")
log, log2, log1p = (elementwise(n, d) for n, d in [
    ("log", "The natural logarithm"), ("log2", "The logarithm to base 2"),
    ("log1p", "The natural logarithm of 1 + x")])
sqrt, rsqrt = (elementwise(n, d) for n, d in [
    ("sqrt", "The square root"), ("rsqrt", "1 over the square root")])
sin, cos, tanh, erf = (elementwise(n, d) for n, d in [
    ("sin", "The sine"), ("cos", "The cosine"), ("tanh", "The hyperbolic tangent"),
    ("erf", "The error function")])
floor, ceil, round = (elementwise(n, d) for n, d in [
    ("floor", "The whole number below"), ("ceil", "The whole number above"),
    ("round", "The nearest whole number, ties to the even one")])


@language
def sigmoid(b, x):
    """1 / (1 + exp(-x)), element by element."""
    type_ = ops.element_type(x, "tile.sigmoid")
    if not type_.is_float:
        raise Mistake(f"tile.sigmoid takes floats, not {type_.name}; write .to(tile.f32) before it")
    wide = f32 if type_.bits < f32.bits else type_
    power = ops.unary_math(b, "exp", ops.negated(b, ops.cast(b, x, wide)))
    return ops.cast(b, ops.binary(b, "/", 1.0, ops.binary(b, "+", 1.0, power)), type_)


@language
def bits(b, x):
    """The bits of floats, as integers of as many, element by element. Bits of f32 and f64 without
    a sign are in the order of the floats."""
    return ops.bits_of(b, x)


@language
def cdiv(b, x, y):
    """x / y, rounded up: the number of tiles of size y in x. y is a constant above 0."""
    return ops.divided_up(b, x, y)
