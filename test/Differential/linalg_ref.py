"""A linalg op as data, its MLIR text, and its value in float64 with a bound of
the error that the compiled program may make.

The bound is derived from the op, not guessed: every operation rounds once in
its type, a sum rounds with each of its terms, and what an operand is off by
propagates. Where all values are integers that the type represents exactly, the
bound is 0, and a single lost term shows even in f16.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from dtypes import F32


@dataclass
class Val:
    """A tensor: its value and how far off the compiled program may be."""

    v: np.ndarray
    e: np.ndarray | float = 0.0


# An expression of a body is ("arg", i), ("const", c), ("index", dim) or
# (operation, operands...) in the type that the op computes in.
FLOAT_OPS = {
    "mul": "arith.mulf", "add": "arith.addf", "sub": "arith.subf",
    "max": "arith.maximumf", "min": "arith.minimumf", "maxnum": "arith.maxnumf",
    "neg": "arith.negf", "abs": "math.absf", "exp": "math.exp",
}
INT_OPS = {
    "mul": "arith.muli", "add": "arith.addi", "sub": "arith.subi",
    "max": "arith.maxsi", "min": "arith.minsi", "abs": "math.absi",
}


def identity(combiner, dtype):
    """The value that does not change a reduction."""
    if combiner in ("max", "maxnum", "min"):
        sign = 1.0 if combiner == "min" else -1.0
        if dtype.is_float:
            return sign * np.inf
        return sign * 2.0 ** (dtype.bits - 1) - (1 if sign > 0 else 0)
    return 1.0 if combiner == "mul" else 0.0


def literal(value, dtype):
    """A constant of a type as MLIR spells it."""
    if not dtype.is_float:
        return f"{int(value)} : {dtype.mlir}"
    if np.isfinite(value):
        return f"{float(value)!r} : {dtype.mlir}"
    stored = dtype.store(np.array([value]))
    bits = int(stored.view(f"u{dtype.bits // 8}")[0])
    return f"0x{bits:0{dtype.bits // 4}X} : {dtype.mlir}"


@dataclass
class Output:
    expr: tuple
    combiner: str | None = "add"


@dataclass
class Op:
    """A structured op: maps hold, per operand dimension, a list of
    (coefficient, iteration dim)."""

    iterators: list  # True: parallel
    maps: list  # inputs, then outputs
    num_ins: int
    outputs: list  # of Output
    dtype: object  # what the body computes in, the outputs' type
    named: tuple | None = None  # (text before ins, text after outs, has a type)
    # Narrow sums are taken in f32 and rounded at the end (docs/Semantics.md); else they
    # may be rounded after each term.
    rounds_once: bool = False
    # The type that a product's factors are rounded to, to nearest, if any.
    factors: object = None
    # What a product's sum may be off by besides, as a part of its terms' magnitudes.
    loss: float = 0.0

    @property
    def rank(self):
        return len(self.iterators)

    def is_product(self):
        """A plain sum of products, which einsum evaluates."""
        plain = all(len(e) == 1 and e[0][0] == 1 for m in self.maps for e in m)
        distinct = all(len({e[0][1] for e in m}) == len(m) for m in self.maps)
        out = self.outputs[0]
        fed = {e[0][1] for m in self.maps[: self.num_ins] for e in m}
        return (
            plain and distinct and len(self.outputs) == 1
            and fed == set(range(self.rank))
            and out.combiner == "add"
            and out.expr == product(range(self.num_ins))
        )


def product(args):
    expr = None
    for i in args:
        expr = ("arg", i) if expr is None else ("mul", expr, ("arg", i))
    return expr


def plain_map(dims):
    return [[(1, d)] for d in dims]


def affine_map(op, exprs):
    def term(coefficient, dim):
        return f"d{dim}" if coefficient == 1 else f"d{dim} * {coefficient}"

    dims = ", ".join(f"d{i}" for i in range(op.rank))
    results = ", ".join(" + ".join(term(*t) for t in e) for e in exprs)
    return f"affine_map<({dims}) -> ({results})>"


# --------------------------------------------------------------------------
# Text
# --------------------------------------------------------------------------


def emit_body(op, in_types, lines):
    """Appends a generic op's region; returns nothing."""
    names = [f"%in{i}_" for i in range(len(in_types))]
    outs = [f"%out{i}_" for i in range(len(op.outputs))]
    arguments = [f"{n}: {t.mlir}" for n, t in zip(names, in_types)]
    arguments += [f"{n}: {op.dtype.mlir}" for n in outs]
    lines.append(f"  ^bb0({', '.join(arguments)}):")
    table = FLOAT_OPS if op.dtype.is_float else INT_OPS
    memo = {}
    fresh = itertools.count()

    def define(text):
        name = f"%t{next(fresh)}_"
        lines.append(f"    {name} = {text}")
        return name

    def value(expr):
        if expr in memo:
            return memo[expr]
        kind = expr[0]
        to = op.dtype.mlir
        if kind == "arg":
            i = expr[1]
            have = in_types[i]
            if have == op.dtype:
                result = names[i]
            else:
                cast = "arith.extf" if have.is_float else "arith.extsi"
                result = define(f"{cast} {names[i]} : {have.mlir} to {to}")
        elif kind == "const":
            result = define(f"arith.constant {literal(expr[1], op.dtype)}")
        elif kind == "index":
            i = define(f"linalg.index {expr[1]} : index")
            wide = define(f"arith.index_cast {i} : index to i32")
            if op.dtype.is_float:
                result = define(f"arith.sitofp {wide} : i32 to {to}")
            else:
                result = wide
        elif kind == "neg" and not op.dtype.is_float:
            zero = value(("const", 0.0))
            result = define(f"arith.subi {zero}, {value(expr[1])} : {to}")
        elif kind == "abs" or kind == "exp" or kind == "neg":
            operand = value(expr[1])
            result = define(f"{table[kind]} {operand} : {to}")
        else:
            left, right = value(expr[1]), value(expr[2])
            result = define(f"{table[kind]} {left}, {right} : {to}")
        memo[expr] = result
        return result

    results = []
    for i, out in enumerate(op.outputs):
        result = value(out.expr)
        if out.combiner:
            result = define(
                f"{table[out.combiner]} {outs[i]}, {result} : {op.dtype.mlir}"
            )
        results.append(result)
    types = ", ".join([op.dtype.mlir] * len(results))
    lines.append(f"    linalg.yield {', '.join(results)} : {types}")


def emit(op, result, ins, outs, in_types, in_texts, out_texts):
    """The op's lines. ins and outs are SSA names, *_texts their types."""
    in_list = f"ins({', '.join(ins)} : {', '.join(in_texts)})" if ins else ""
    out_list = f"outs({', '.join(outs)} : {', '.join(out_texts)})"
    results = out_texts[0] if len(out_texts) == 1 else f"({', '.join(out_texts)})"
    if op.named:
        before, after, typed = op.named
        tail = f" -> {results}" if typed else ""
        return [f"{result} = {before} {in_list} {out_list}{after}{tail}"]
    maps = ", ".join(affine_map(op, m) for m in op.maps)
    kinds = ", ".join('"parallel"' if p else '"reduction"' for p in op.iterators)
    lines = [
        f"{result} = linalg.generic {{indexing_maps = [{maps}],",
        f"    iterator_types = [{kinds}]}} {in_list} {out_list} {{",
    ]
    emit_body(op, in_types, lines)
    lines.append(f"  }} -> {results}")
    return lines


# --------------------------------------------------------------------------
# Value
# --------------------------------------------------------------------------


def spread(array, exprs, sizes):
    """An operand over the iteration space, broadcast along dims it lacks."""
    if np.ndim(array) == 0 and not exprs:
        return np.reshape(array, (1,) * len(sizes))
    rank = len(sizes)
    index = []
    for expr in exprs:
        position = np.zeros((1,) * rank, dtype=np.int64)
        for coefficient, dim in expr:
            shape = [1] * rank
            shape[dim] = sizes[dim]
            position = position + coefficient * np.arange(sizes[dim]).reshape(shape)
        index.append(position)
    return array[tuple(index)]


def evaluate_expr(expr, op, args, sizes):
    """(value, error, magnitude) of an expression over the iteration space; the
    magnitude is the sum of what the terms' magnitudes are."""
    unit = op.dtype.unit
    kind = expr[0]
    if kind == "arg":
        v, e = args[expr[1]]
        return v, e, np.abs(v)
    if kind == "const":
        v = np.full((1,) * op.rank, float(expr[1]))
        return v, 0.0, np.abs(v)
    if kind == "index":
        shape = [1] * op.rank
        shape[expr[1]] = sizes[expr[1]]
        v = np.arange(sizes[expr[1]], dtype=np.float64).reshape(shape)
        return v, 0.0, v
    a, ea, ma = evaluate_expr(expr[1], op, args, sizes)
    if kind == "neg":
        return wrap(op, -a), ea, ma
    if kind == "abs":
        return wrap(op, np.abs(a)), ea, ma
    if kind == "exp":
        v = np.exp(a)
        # What docs/Passes.md promises: 5 units in the last place (of f32, for
        # narrower types and their rounding), and no subnormal results.
        return v, v * np.expm1(ea) + 12 * unit * v + op.dtype.smallest_normal, v
    b, eb, mb = evaluate_expr(expr[2], op, args, sizes)
    if kind == "mul":
        v, m = a * b, ma * mb
        e = np.abs(a) * eb + np.abs(b) * ea + ea * eb
    elif kind in ("add", "sub"):
        v, m = (a + b if kind == "add" else a - b), ma + mb
        e = ea + eb
    else:
        v = {"max": np.maximum, "min": np.minimum, "maxnum": np.fmax}[kind](a, b)
        return v, np.maximum(ea, eb), np.maximum(ma, mb)
    return wrap(op, v), e + rounding(op.dtype, v, e, m), m


def is_integral(array):
    finite = array[np.isfinite(array)] if np.ndim(array) else array
    return bool(np.all(finite == np.rint(finite)))


def rounding(dtype, value, error, magnitude, factor=1.0):
    """What one rounding (or `factor` of them) may change; nothing for integers
    that are represented exactly."""
    if not dtype.is_float:
        return 0.0
    finite = np.isfinite(magnitude)
    largest = np.max(magnitude, where=finite, initial=0.0)
    if not np.any(error) and largest <= dtype.exact_limit and is_integral(value):
        return 0.0
    return factor * (dtype.unit * magnitude + dtype.floor)


def sum_factor(terms, alike=0.0):
    """Roundings of a sum: the error grows like the square root of the number
    of terms, with a margin of a few units, but by half a unit with each that
    is alike."""
    return 4.0 + 2.0 * np.sqrt(terms) + alike / 2


def count_alike(terms, magnitude, dtype):
    """How many roundings of sums along the last axis are alike. While a sum is
    between two powers of two, equal terms are all rounded to the same side by
    the same amount: m of them are off m times as far as one, not sqrt(m) times.
    What different terms are off by is independent. Multiples of the sum's last
    place, such as 0, are not rounded."""
    count = terms.shape[-1]
    if count < 2:
        return 0.0
    with np.errstate(all="ignore"):
        place = 2 * dtype.unit * 2.0 ** np.floor(np.log2(magnitude))
        ordered = np.sort(np.where(terms % place[..., None] == 0, np.nan, terms))
    begins = np.ones(ordered.shape, dtype=bool)
    begins[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    at = np.arange(count)
    # m equal terms have 0, ..., m - 1 before them.
    before = at - np.maximum.accumulate(np.where(begins, at, 0), axis=-1)
    return np.sqrt(2.0 * np.sum(before, axis=-1))


def evaluate(op, sizes, ins, outs):
    """The op's results, as Val; narrow results are rounded once more."""
    reduced = tuple(d for d in range(op.rank) if not op.iterators[d])
    terms = int(np.prod([sizes[d] for d in reduced], dtype=np.int64))
    if op.is_product():
        return [evaluate_product(op, sizes, ins, outs[0], terms)]
    args = [
        (spread(x.v, m, sizes), spread_error(x.e, m, sizes))
        for x, m in zip(ins, op.maps)
    ]
    results = []
    for i, out in enumerate(op.outputs):
        v, e, m = (
            np.broadcast_to(t, sizes) for t in evaluate_expr(out.expr, op, args, sizes)
        )
        out_dims = [expr[0][1] for expr in op.maps[op.num_ins + i]]
        kept = [d for d in range(op.rank) if d not in reduced]
        order = [kept.index(d) for d in out_dims]
        init = outs[i]
        if out.combiner is None:
            results.append(Val(wrap(op, v.transpose(order)), e.transpose(order)))
            continue
        if out.combiner == "add":
            each = v.transpose(*out_dims, *reduced)
            v, e, m = (np.sum(t, axis=reduced).transpose(order) for t in (v, e, m))
            m = m + np.abs(init.v)
            v = v + init.v
            e = e + init.e
            once = rounding(op.dtype, v, e, m)
            if np.any(once):
                alike = count_alike(each.reshape(*m.shape, terms), m, op.dtype)
                e = e + once * sum_factor(terms, alike)
        elif out.combiner == "mul":
            v = np.prod(v, axis=reduced).transpose(order) * init.v
            m = np.abs(v)
            exact = is_integral(v) and not np.any(e) and np.all(m <= op.dtype.exact_limit)
            e = 0.0 if exact else op.dtype.unit * (terms + 1) * 2 * m
        else:
            join, start = {
                "max": (np.maximum, -np.inf),
                "maxnum": (np.fmax, -np.inf),
                "min": (np.minimum, np.inf),
            }[out.combiner]
            v = join.reduce(v, axis=reduced, initial=start).transpose(order)
            v = join(v, init.v)
            e = np.max(e, axis=reduced, initial=0.0).transpose(order)
            e = np.maximum(e, init.e)
        results.append(Val(wrap(op, v), e))
    return results


def spread_error(error, exprs, sizes):
    return error if np.ndim(error) == 0 else spread(error, exprs, sizes)


def wrap(op, values):
    return op.dtype.wrap(values)


def evaluate_product(op, sizes, ins, init, terms):
    letters = "abcdefghijkl"
    subscripts = ["".join(letters[e[0][1]] for e in m) for m in op.maps]
    spec = ",".join(subscripts[: op.num_ins]) + "->" + subscripts[op.num_ins]

    def contract(arrays):
        with np.errstate(invalid="ignore", over="ignore"):
            return np.einsum(spec, *arrays, optimize="greedy")

    values = [x.v for x in ins]
    errors = [x.e for x in ins]
    if op.factors:
        errors = [e + rounding(op.factors, x, e, np.abs(x)) for x, e in zip(values, errors)]
    v = contract(values)
    m = contract([np.abs(x) for x in values])
    e = 0.0
    if any(np.any(error) for error in errors):
        e = contract([np.abs(x) + error for x, error in zip(values, errors)]) - m
    v, m = v + init.v, m + np.abs(init.v)
    e = e + init.e
    if op.rounds_once and op.dtype.is_float and op.dtype.unit > F32.unit:
        if np.any(rounding(op.dtype, v, e, m)):
            e = e + rounding(F32, v, e, m, sum_factor(terms * op.num_ins))
            e = e + op.dtype.unit * (np.abs(v) + e) + op.dtype.floor
    else:
        e = e + rounding(op.dtype, v, e, m, sum_factor(terms * op.num_ins))
    e = e + op.loss * m
    return Val(wrap(op, v), e)

