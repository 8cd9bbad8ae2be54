"""arith and math on arrays of elements: the value in float64 (integers: in int64), and
how far off the compiled program may be.

A bound that is infinite says that nothing is known of an element: memory that was never
written, a float beyond its type's range, a comparison that rounding may turn.
"""

import math
import re
from dataclasses import dataclass

import numpy as np

from dtypes import BF16, F16, F32, F64
from generic_form import element_of, shape_of

FLOATS = {t.mlir: t for t in (F64, F32, F16, BF16)}
LARGEST = {"f64": 1.79e308, "f32": 3.4e38, "f16": 65504.0, "bf16": 3.38e38}


class Unsupported(Exception):
    """What the interpreter does not know."""


@dataclass
class Num:
    """Elements: their values, how far off they may be, and what rounding is relative to:
    the sum of the terms' magnitudes (None: the magnitude)."""

    v: np.ndarray
    e: np.ndarray | float = 0.0
    m: np.ndarray | None = None

    @property
    def magnitude(self):
        return np.abs(self.v) if self.m is None else self.m

    @property
    def known(self):
        return not np.any(self.e)


def bits_of(type_):
    """The width of an integer type."""
    return 64 if type_ == "index" else int(re.fullmatch(r"[su]?i(\d+)", type_)[1])


def is_float(type_):
    return type_ in FLOATS


def wrap(values, type_):
    """Integers modulo their width, as two's complement has it; i1 is 0 or 1."""
    bits = bits_of(type_)
    if bits >= 64:
        return values
    if bits == 1:
        return values & 1
    half = 1 << (bits - 1)
    return ((values + half) & ((1 << bits) - 1)) - half


def unsigned(values, type_):
    bits = bits_of(type_)
    return values & ((1 << bits) - 1) if bits < 64 else values.astype(np.uint64)


def rounding(type_, v, e, m, times=1.0):
    """What `times` roundings may change; nothing of integers that fit."""
    dtype = FLOATS[type_]
    exact = (m <= dtype.exact_limit) & (v == np.rint(v)) & (np.asarray(e) == 0)
    if np.all(exact):
        return 0.0
    return np.where(exact, 0.0, times * (dtype.unit * m + dtype.floor))


def finish(type_, v, e, m, inputs, times=1.0):
    """The result of an operation on floats: rounded, and not known where its type ends or
    where something not known makes it infinite."""
    e = e + rounding(type_, v, e, m, times)
    finite = np.isfinite(v)
    if not np.all(finite):
        uncertain = sum(np.asarray(x.e) != 0 for x in inputs)
        e = np.where(finite, e, np.where(uncertain, np.inf, 0.0))
    e = np.where(np.isnan(e) | (finite & (m + e >= LARGEST[type_])), np.inf, e)
    return Num(v, e if np.any(e) else 0.0, m)


def uncertain_integers(v, inputs):
    """Integers are exact, or nothing is known of them."""
    if all(x.known for x in inputs):
        return Num(v)
    off = sum(np.broadcast_to(np.asarray(x.e, dtype=float), np.shape(v)) > 0 for x in inputs)
    return Num(v, np.where(off, np.inf, 0.0))


erf = np.vectorize(math.erf, otypes=[float])
MONOTONE = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2,
    "log1p": np.log1p, "tanh": np.tanh, "erf": erf, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "floor": np.floor, "ceil": np.ceil,
}
EXACT = ("floor", "ceil")


def math_function(name, type_, x):
    """docs/Passes.md: approximations are right to 5 units in the last place, and there are
    no subnormal results."""
    dtype = FLOATS[type_]
    if name in ("sin", "cos"):
        v, spread = getattr(np, name)(x.v), x.e
    else:
        function = MONOTONE[name]
        v = function(x.v)
        spread = 0.0
        if not x.known:
            spread = np.maximum(np.abs(function(x.v + x.e) - v), np.abs(v - function(x.v - x.e)))
            spread = np.where((np.asarray(x.e) == 0) | (function(x.v + x.e) == v) &
                              (function(x.v - x.e) == v), 0.0, spread)
    if name in EXACT:
        return finish(type_, v, spread, np.abs(v), [x])
    own = 12 * dtype.unit * (1.0 if name in ("sin", "cos") else np.abs(v)) + dtype.smallest_normal
    return finish(type_, v, spread + own, np.abs(v), [x])


def select(c, a, b):
    v = np.where(c.v != 0, a.v, b.v)
    e = np.where(c.v != 0, a.e, b.e)
    m = np.where(c.v != 0, a.magnitude, b.magnitude) if a.m is not None or b.m is not None else None
    if not c.known:
        either = np.abs(np.subtract(a.v, b.v, dtype=float)) + a.e + b.e
        e = np.where(np.asarray(c.e) > 0, either, e)
        if not np.issubdtype(v.dtype, np.floating):
            e = np.where(e > 0, np.inf, 0.0)
    return Num(v, e if np.any(e) else 0.0, m)


FLOAT_COMPARE = ["false", "==", ">", ">=", "<", "<=", "!=", "ord",
                 "==", ">", ">=", "<", "<=", "!=", "uno", "true"]
RELATIONS = {"==": np.equal, ">": np.greater, ">=": np.greater_equal, "<": np.less,
             "<=": np.less_equal, "!=": np.not_equal}


def compare_floats(predicate, a, b):
    kind = FLOAT_COMPARE[predicate]
    nan = np.isnan(a.v) | np.isnan(b.v)
    if kind in RELATIONS:
        v = np.where(nan, predicate >= 8, RELATIONS[kind](a.v, b.v))
    else:
        v = {"false": nan & False, "true": nan | True, "ord": ~nan, "uno": nan}[kind]
    off = np.asarray(a.e) + b.e
    close = (off > 0) & ~(np.abs(a.v - b.v) > off)
    return Num(v.astype(np.int64), np.where(close, np.inf, 0.0) if np.any(close) else 0.0)


def compare_integers(predicate, a, b, type_):
    relation = ["==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="][predicate]
    x, y = (a.v, b.v) if predicate < 6 else (unsigned(a.v, type_), unsigned(b.v, type_))
    return uncertain_integers(RELATIONS[relation](x, y).astype(np.int64), [a, b])


def divide(a, b, type_, signed, remainder=False):
    """Integer division toward zero."""
    if np.any(b.v == 0):
        raise Unsupported("a division by 0")
    if not signed:
        x, y = unsigned(a.v, type_), unsigned(b.v, type_)
        return ((x % y) if remainder else (x // y)).astype(np.int64)
    q = np.abs(a.v) // np.abs(b.v) * np.sign(a.v) * np.sign(b.v)
    return a.v - q * b.v if remainder else q


INTEGERS = {
    "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b, "ori": lambda a, b: a | b, "xori": lambda a, b: a ^ b,
    "maxsi": np.maximum, "minsi": np.minimum,
    "shli": lambda a, b: a << b, "shrsi": lambda a, b: a >> b,
}


def integer_operation(name, args, type_):
    a, b = args
    if name in INTEGERS:
        v = wrap(INTEGERS[name](a.v, b.v), type_)
        # What is multiplied by 0 or lies below what wins does not matter; no need to know.
    elif name in ("maxui", "minui"):
        x, y = unsigned(a.v, type_), unsigned(b.v, type_)
        v = np.where((x > y) == (name == "maxui"), a.v, b.v)
    elif name in ("divsi", "divui", "remsi", "remui"):
        v = wrap(divide(a, b, type_, name[3] == "s", name.startswith("rem")), type_)
    elif name == "floordivsi":
        v = wrap(a.v // b.v, type_)
    elif name == "ceildivsi":
        v = wrap(-(-a.v // b.v), type_)
    else:
        raise Unsupported(f"arith.{name}")
    return uncertain_integers(v, args)


def float_operation(name, args, type_):
    if name == "negf":
        return Num(-args[0].v, args[0].e, args[0].m)
    a, b = args
    if name in ("addf", "subf"):
        v = a.v + b.v if name == "addf" else a.v - b.v
        return finish(type_, v, a.e + b.e, a.magnitude + b.magnitude, args)
    if name == "mulf":
        e = 0.0
        if not (a.known and b.known):
            e = np.abs(a.v) * b.e + np.abs(b.v) * a.e + np.asarray(a.e) * b.e
        return finish(type_, a.v * b.v, e, a.magnitude * b.magnitude, args)
    if name == "divf":
        v = a.v / b.v
        e = 0.0
        if not (a.known and b.known):
            least = np.abs(b.v) - b.e
            e = np.where(least > 0, (np.abs(v) * b.e + a.e) / least, np.inf)
        return finish(type_, v, e, np.abs(v), args)
    if name in ("maximumf", "minimumf", "maxnumf", "minnumf"):
        function = {"maximumf": np.maximum, "minimumf": np.minimum, "maxnumf": np.fmax,
                    "minnumf": np.fmin}[name]
        e = 0.0 if a.known and b.known else np.maximum(a.e, b.e)
        return Num(function(a.v, b.v), e)
    raise Unsupported(f"arith.{name}")


def cast(name, x, source, target):
    if name == "extf":
        return x
    if name == "truncf":
        return finish(target, x.v, x.e, x.magnitude, [x])
    if name in ("sitofp", "uitofp"):
        v = (x.v if name == "sitofp" and bits_of(source) > 1 else
             -x.v if name == "sitofp" else unsigned(x.v, source)).astype(np.float64)
        return finish(target, v, x.e, np.abs(v), [x])
    if name in ("fptosi", "fptoui"):
        low, high = np.trunc(x.v - x.e), np.trunc(x.v + x.e)
        limit = 2.0 ** (bits_of(target) - (name == "fptosi"))
        fits = np.isfinite(x.v) & (np.abs(x.v) < limit) & ((x.v >= 0) | (name == "fptosi"))
        v = np.where(fits, np.trunc(x.v), 0).astype(np.int64)
        off = (low != high) | ~fits
        return Num(wrap(v, target), np.where(off, np.inf, 0.0) if np.any(off) else 0.0)
    if name in ("extsi", "index_cast") and bits_of(source) == 1 and bits_of(target) > 1:
        return Num(-x.v, x.e)
    if name in ("extui", "index_castui"):
        return Num(unsigned(x.v, source).astype(np.int64), x.e)
    if name in ("extsi", "index_cast", "trunci"):
        return Num(wrap(x.v, target), x.e)
    raise Unsupported(f"arith.{name}")


CASTS = ("extf", "truncf", "sitofp", "uitofp", "fptosi", "fptoui", "extsi", "extui", "trunci",
         "index_cast", "index_castui")


def evaluate(op, args):
    """An operation of arith or math."""
    dialect, _, name = op.name.partition(".")
    type_ = element_of(op.results[0].type)
    if name == "select":
        return select(*args)
    if name == "cmpf":
        return compare_floats(int(op.attr("predicate").split(":")[0]), *args)
    if name == "cmpi":
        return compare_integers(int(op.attr("predicate").split(":")[0]), *args,
                                element_of(op.operands[0].type))
    if name in CASTS:
        return cast(name, args[0], element_of(op.operands[0].type), type_)
    if dialect == "arith":
        return (float_operation if is_float(type_) else integer_operation)(name, args, type_)
    if name == "absf":
        return Num(np.abs(args[0].v), args[0].e, args[0].m)
    if name == "absi":
        return Num(wrap(np.abs(args[0].v), type_), args[0].e)
    if name == "fma":
        return float_operation("addf", [float_operation("mulf", args[:2], type_), args[2]], type_)
    if name == "clampf":
        low = float_operation("maximumf", [args[0], args[1]], type_)
        return float_operation("minimumf", [low, args[2]], type_)
    if name in MONOTONE or name in ("sin", "cos"):
        return math_function(name, type_, args[0])
    raise Unsupported(op.name)


# --------------------------------------------------------------------------
# Constants
# --------------------------------------------------------------------------


def number(text, type_):
    if text in ("true", "false"):
        return int(text == "true")
    if is_float(type_):
        dtype = FLOATS[type_]
        if not text.startswith("0x"):
            return float(dtype.load(dtype.store(float(text))))
        stored = np.array([int(text, 16)], dtype=f"u{dtype.bits // 8}")
        return float(dtype.load(stored.view(dtype.storage))[0])
    return int(text, 0)


def constant(text):
    """An attribute's value as elements."""
    if text.startswith("dense<"):
        body, type_ = re.fullmatch(r"dense<(.*)> : (tensor<.*>)", text, re.S).groups()
        shape, element = shape_of(type_)
        if '"' in body:
            raise Unsupported("a dense constant in hexadecimal form")
        found = [number(n, element) for n in re.findall(r"[^\s,\[\]]+", body)]
        array = np.array(found, dtype=np.float64 if is_float(element) else np.int64)
        array = array.reshape(shape) if array.size != 1 else np.full(shape, array[0])
        return Num(array)
    if text in ("true", "false"):
        return Num(np.array(number(text, "i1")))
    value, type_ = text.rsplit(" : ", 1)
    v = number(value, type_)
    return Num(np.array(v, dtype=np.float64 if is_float(type_) else np.int64))
