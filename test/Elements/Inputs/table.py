"""Every op of math and arith with every element type: how a program has it, and
what it gives, in numpy's long doubles and Python's integers."""

import math
import operator
from dataclasses import dataclass

import numpy as np
from element import BF16, E4M3, E5M2, F16, F32, F64, FLOATS, I1, I4, I8, I16, I32, I64, INDEX, INTS

LONG = np.longdouble
EXACT = 0.5  # what is rounded once, to the nearest
# Units in the last place that a function of each type may be off by.
LOOSE = {F64: 2, F32: 5, F16: 1, BF16: 1, E4M3: 1, E5M2: 1}


@dataclass(frozen=True)
class Case:
    name: str  # of the op, with what tells cases of one op apart
    ins: tuple
    outs: tuple
    text: str  # lines that define %r0, %r1 from %x0, %x1, ...
    reference: object  # values of the operands to a list of results' values
    ulps: float = EXACT
    # Replaces operands for which the op is not defined.
    domain: object = None
    signed_zero: bool = False  # the sign of 0 counts

    @property
    def label(self):
        return "_".join([self.name.replace(".", "_"), *(t.name for t in self.ins)]
                        + (["to", *(t.name for t in self.outs)] if self.outs != self.ins[:1] else []))


# --------------------------------------------------------------------------
# Functions of floats
# --------------------------------------------------------------------------


def each(function):
    """A function of Python's floats for arrays."""
    return np.vectorize(lambda *x: LONG(function(*map(float, x))), otypes=[LONG])


def round_away(x):
    with np.errstate(all="ignore"):
        whole = np.trunc(x)
        away = np.abs(x - whole) >= 0.5
        return np.copysign(np.where(np.isfinite(x) & away, whole + np.copysign(LONG(1), x), whole), x)


def multiply_add(a, b, c):
    """a * b + c, rounded to odd: of a sum of three long doubles nothing is lost
    that a second rounding could want to know."""
    with np.errstate(all="ignore"):
        return _fused(a, b, c)


def _fused(a, b, c):
    from fractions import Fraction

    out = []
    for x, y, z in zip(a, b, c):
        plain = x * y + z
        if not np.isfinite(x) or not np.isfinite(y) or not np.isfinite(z):
            out.append(plain)
            continue
        exact = _fraction(x) * _fraction(y) + _fraction(z)
        if exact == 0:
            out.append(plain)
            continue
        sign = -1 if exact < 0 else 1
        exact = abs(exact)
        shift = 62 - (exact.numerator.bit_length() - exact.denominator.bit_length())
        scaled = exact * Fraction(2) ** shift
        whole = math.floor(scaled)
        if scaled != whole:
            whole |= 1
        out.append(np.ldexp(LONG(sign) * _from_int(whole), -shift))
    return np.array(out, dtype=LONG)


def _from_int(value):
    """An integer of up to 64 bits as a long double, exactly."""
    return LONG(value >> 32) * LONG(2.0**32) + LONG(value & 0xFFFFFFFF)


def _fraction(value):
    from fractions import Fraction

    mantissa, exponent = np.frexp(value)
    high = int(np.ldexp(mantissa, 64))
    return Fraction(high) * Fraction(2) ** (int(exponent) - 64)


UNARY = {
    "absf": (np.abs, EXACT), "ceil": (np.ceil, EXACT), "floor": (np.floor, EXACT),
    "trunc": (np.trunc, EXACT), "roundeven": (np.rint, EXACT), "round": (round_away, EXACT),
    "sqrt": (np.sqrt, EXACT),
    "acos": (np.arccos, None), "acosh": (np.arccosh, None), "asin": (np.arcsin, None),
    "asinh": (np.arcsinh, None), "atan": (np.arctan, None), "atanh": (np.arctanh, None),
    "cbrt": (np.cbrt, None), "cos": (np.cos, None), "cosh": (np.cosh, None), "sin": (np.sin, None),
    "sinh": (np.sinh, None), "erf": (each(math.erf), None), "erfc": (each(math.erfc), None),
    "exp": (np.exp, None), "exp2": (np.exp2, None), "expm1": (np.expm1, None),
    "log": (np.log, None), "log10": (np.log10, None), "log1p": (np.log1p, None),
    "log2": (np.log2, None), "rsqrt": (lambda x: 1 / np.sqrt(x), None), "tan": (np.tan, None),
    "tanh": (np.tanh, None),
}
CLASSIFY = {
    "isfinite": lambda t, x: np.isfinite(x), "isinf": lambda t, x: np.isinf(x),
    "isnan": lambda t, x: np.isnan(x),
    "isnormal": lambda t, x: np.isfinite(x)
    & (np.abs(x) >= np.ldexp(LONG(1), t.smallest + t.precision - 1)),
}


def maximum(a, b):
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), b, a), np.maximum(a, b))


def minimum(a, b):
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), a, b), np.minimum(a, b))


BINARY = {
    "arith.addf": (np.add, EXACT), "arith.subf": (np.subtract, EXACT),
    "arith.mulf": (np.multiply, EXACT), "arith.divf": (np.divide, EXACT),
    "arith.remf": (np.fmod, EXACT), "arith.maximumf": (maximum, EXACT),
    "arith.minimumf": (minimum, EXACT), "arith.maxnumf": (np.fmax, EXACT),
    "arith.minnumf": (np.fmin, EXACT), "math.copysign": (np.copysign, EXACT),
    "math.atan2": (np.arctan2, None), "math.powf": (np.power, None),
}
SIGNED_ZERO = {"absf", "ceil", "floor", "trunc", "roundeven", "round", "math.copysign",
               "arith.addf", "arith.mulf"}


def rounded_once(t, f):
    """A long double that was rounded is rounded a second time, to f64: ops that
    are exact are numpy's own there."""
    if t is not F64:
        return f
    return lambda *x: f(*(v.astype(np.float64) for v in x)).astype(LONG)


def no_subnormals(t):
    """docs/Passes.md says what logarithms of subnormal numbers are."""
    normal = np.ldexp(LONG(1), t.smallest + t.precision - 1)
    return lambda x: (np.where((np.abs(x) < normal) & (x != 0), LONG(1), x),)


def as_bits(values):
    return [int(v) for v in values]


def float_cases():
    for t in FLOATS:
        n = t.name
        for name, (f, ulps) in UNARY.items():
            yield Case(f"math.{name}", (t,), (t,), f"%r0 = math.{name} %x0 : {n}",
                       lambda x, f=rounded_once(t, f) if ulps else f: [f(x)], ulps or LOOSE[t],
                       signed_zero=name in SIGNED_ZERO,
                       domain=no_subnormals(t) if name in ("log", "log2", "log10") else None)
        yield Case("arith.negf", (t,), (t,), f"%r0 = arith.negf %x0 : {n}", lambda x: [-x],
                   signed_zero=True)
        for name, f in CLASSIFY.items():
            yield Case(f"math.{name}", (t,), (I1,), f"%r0 = math.{name} %x0 : {n}",
                       lambda x, f=f, t=t: [as_bits(f(t, x))])
        yield Case("math.sincos", (t,), (t, t), f"%r0, %r1 = math.sincos %x0 : {n}",
                   lambda x: [np.sin(x), np.cos(x)], LOOSE[t])
        for name, (f, ulps) in BINARY.items():
            yield Case(name, (t, t), (t,), f"%r0 = {name} %x0, %x1 : {n}",
                       lambda x, y, f=rounded_once(t, f) if ulps else f: [f(x, y)], ulps or LOOSE[t],
                       signed_zero=name in SIGNED_ZERO)
        yield Case("math.fma", (t, t, t), (t,), f"%r0 = math.fma %x0, %x1, %x2 : {n}",
                   lambda x, y, z: [multiply_add(x, y, z)])
        yield Case("math.clampf", (t, t, t), (t,), f"%r0 = math.clampf %x0 to [%x1, %x2] : {n}",
                   lambda x, y, z: [np.minimum(np.maximum(x, y), z)],
                   domain=lambda x, y, z: (np.nan_to_num(x), np.fmin(y, z), np.fmax(y, z)))
        for predicate, f in COMPARE_FLOATS.items():
            yield Case(f"arith.cmpf_{predicate}", (t, t), (I1,),
                       f"%r0 = arith.cmpf {predicate}, %x0, %x1 : {n}",
                       lambda x, y, f=f: [as_bits(f(x, y))])
        yield Case("arith.select", (I1, t, t), (t,), f"%r0 = arith.select %x0, %x1, %x2 : {n}",
                   lambda c, x, y: [np.where(np.array(c) == 1, x, y)], signed_zero=True)
        yield Case("arith.constant", (t,), (t,),
                   f"%c = arith.constant 1.5 : {n}\n%r0 = arith.mulf %x0, %c : {n}",
                   lambda x: [x * LONG(1.5)])
        for power in (I1, I8, I16, I32, I64, INDEX, I4):
            yield Case("math.fpowi", (t, power), (t,), f"%r0 = math.fpowi %x0, %x1 : {n}, {power.name}",
                       lambda x, p, i=power: [np.power(x, np.array([signed_value(i, v) for v in p], dtype=LONG))],
                       8 if t in (F64, F32) else 2,
                       domain=small_powers)


def small_powers(x, p):
    """Powers whose products stay far from the ends of the type."""
    return (np.where((np.abs(x) > 0.1) & (np.abs(x) < 8), x, LONG(1.25)),
            [v if -4 <= v <= 4 else 3 for v in p])


def ordered(f):
    return lambda x, y: f(x, y) & ~np.isnan(x) & ~np.isnan(y)


def unordered(f):
    return lambda x, y: f(x, y) | np.isnan(x) | np.isnan(y)


COMPARE_FLOATS = {
    "false": lambda x, y: np.zeros(len(x), dtype=bool), "true": lambda x, y: np.ones(len(x), dtype=bool),
    "ord": lambda x, y: ~np.isnan(x) & ~np.isnan(y), "uno": lambda x, y: np.isnan(x) | np.isnan(y),
}
for _name, _f in {"eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
                  "gt": operator.gt, "ge": operator.ge}.items():
    COMPARE_FLOATS["o" + _name] = ordered(_f)
    COMPARE_FLOATS["u" + _name] = unordered(_f)


# --------------------------------------------------------------------------
# Functions of integers
# --------------------------------------------------------------------------


def quotient(a, b):
    """Rounded towards 0."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def divides(t, a, b):
    """Operands of a signed division that is defined. Of i1 that is 0 / -1 only."""
    if t is I1:
        return [0] * len(a), [-1] * len(b)
    return a, [1 if v == 0 or (u == t.least and v == -1) else v for u, v in zip(a, b)]


def divides_unsigned(t, a, b):
    return a, [v or 1 for v in b]


def shifts(t, a, b):
    return a, [t.unsigned(v) % t.bits for v in b]


def ceil_unsigned(a, b):
    return -(-a // b)


def power(t, a, b):
    """Of 64 bits at most; a negative power is what an integer division gives."""
    if b >= 0:
        return pow(a, b, 1 << t.bits)
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


def powers(t, a, b):
    return [1 if u == 0 and v < 0 else u for u, v in zip(a, b)], b


SIGNED = {
    "arith.addi": (operator.add, None), "arith.subi": (operator.sub, None),
    "arith.muli": (operator.mul, None), "arith.andi": (operator.and_, None),
    "arith.ori": (operator.or_, None), "arith.xori": (operator.xor, None),
    "arith.maxsi": (max, None), "arith.minsi": (min, None),
    "arith.divsi": (quotient, divides),
    "arith.remsi": (lambda a, b: a - quotient(a, b) * b, divides),
    "arith.ceildivsi": (ceil_unsigned, divides), "arith.floordivsi": (operator.floordiv, divides),
    "arith.shli": (operator.lshift, shifts), "arith.shrsi": (operator.rshift, shifts),
}
UNSIGNED = {
    "arith.maxui": (max, None), "arith.minui": (min, None),
    "arith.divui": (operator.floordiv, divides_unsigned),
    "arith.remui": (operator.mod, divides_unsigned),
    "arith.ceildivui": (ceil_unsigned, divides_unsigned), "arith.shrui": (operator.rshift, shifts),
}
BITS = {
    "absi": lambda t, v: abs(v),
    "ctlz": lambda t, v: t.bits - t.unsigned(v).bit_length(),
    "cttz": lambda t, v: (t.unsigned(v) & -t.unsigned(v)).bit_length() - 1 if v else t.bits,
    "ctpop": lambda t, v: bin(t.unsigned(v)).count("1"),
}
COMPARE = {"eq": operator.eq, "ne": operator.ne, "slt": operator.lt, "sle": operator.le,
           "sgt": operator.gt, "sge": operator.ge}
COMPARE_UNSIGNED = {"ult": operator.lt, "ule": operator.le, "ugt": operator.gt, "uge": operator.ge}


def signed_value(t, v):
    """i1 is kept as 0 or 1, and signed ops see -1 in its place."""
    return -v if t is I1 else v


def lift(t, f, signed):
    """A function of integers for lists, wrapped to the type."""
    see = (lambda v: signed_value(t, v)) if signed else t.unsigned
    return lambda *lists: [[t.wrap(f(*map(see, v))) for v in zip(*lists)]]


def compare(t, f, signed):
    see = (lambda v: signed_value(t, v)) if signed else t.unsigned
    return lambda a, b: [[int(f(see(u), see(v))) for u, v in zip(a, b)]]


def on_domain(t, f):
    """A domain of signed values for lists as they are kept."""
    if f is None:
        return None

    def domain(a, b):
        a, b = f(t, [signed_value(t, v) for v in a], [signed_value(t, v) for v in b])
        return [t.wrap(v) for v in a], [t.wrap(v) for v in b]

    return domain


def both_halves(t, product):
    def f(a, b):
        wide = [product(u, v) for u, v in zip(a, b)]
        return [[t.wrap(v) for v in wide], [t.wrap(v >> t.bits) for v in wide]]

    return f


def int_cases():
    for t in INTS:
        n = t.name
        for table, signed in ((SIGNED, True), (UNSIGNED, False)):
            for name, (f, domain) in table.items():
                yield Case(name, (t, t), (t,), f"%r0 = {name} %x0, %x1 : {n}", lift(t, f, signed),
                           domain=on_domain(t, domain))
        for name, f in BITS.items():
            yield Case(f"math.{name}", (t,), (t,), f"%r0 = math.{name} %x0 : {n}",
                       lift(t, lambda v, f=f, t=t: f(t, v), True))
        yield Case("math.ipowi", (t, t), (t,), f"%r0 = math.ipowi %x0, %x1 : {n}",
                   lift(t, lambda a, b, t=t: power(t, a, b), True), domain=on_domain(t, powers))
        for table, signed in ((COMPARE, True), (COMPARE_UNSIGNED, False)):
            for name, f in table.items():
                yield Case(f"arith.cmpi_{name}", (t, t), (I1,), f"%r0 = arith.cmpi {name}, %x0, %x1 : {n}",
                           compare(t, f, signed))
        yield Case("arith.select", (I1, t, t), (t,), f"%r0 = arith.select %x0, %x1, %x2 : {n}",
                   lambda c, a, b: [[u if k else v for k, u, v in zip(c, a, b)]])
        yield Case("arith.constant", (t,), (t,),
                   f"%c = arith.constant {'true' if t is I1 else 5} {'' if t is I1 else ': ' + n}\n"
                   f"%r0 = arith.xori %x0, %c : {n}",
                   lift(t, lambda v, t=t: v ^ (1 if t is I1 else 5), True))
        if t is INDEX:
            continue
        yield Case("arith.addui_extended", (t, t), (t, I1),
                   f"%r0, %r1 = arith.addui_extended %x0, %x1 : {n}, i1",
                   lambda a, b, t=t: [[t.wrap(u + v) for u, v in zip(a, b)],
                                      [(t.unsigned(u) + t.unsigned(v)) >> t.bits for u, v in zip(a, b)]])
        yield Case("arith.mulsi_extended", (t, t), (t, t), f"%r0, %r1 = arith.mulsi_extended %x0, %x1 : {n}",
                   both_halves(t, lambda u, v, t=t: signed_value(t, u) * signed_value(t, v)))
        yield Case("arith.mului_extended", (t, t), (t, t), f"%r0, %r1 = arith.mului_extended %x0, %x1 : {n}",
                   both_halves(t, lambda u, v, t=t: t.unsigned(u) * t.unsigned(v)))


# --------------------------------------------------------------------------
# Casts
# --------------------------------------------------------------------------


def cast(name, a, b, f, **more):
    return Case(f"arith.{name}", (a,), (b,), f"%r0 = arith.{name} %x0 : {a.name} to {b.name}", f, **more)


def fits(t, signed):
    """Floats whose whole part the integer type has."""
    low = LONG(-(2.0 ** (t.bits - 1))) if signed else LONG(0)
    high = LONG(2.0 ** (t.bits - (1 if signed else 0)))

    def domain(x):
        whole = np.trunc(np.nan_to_num(x))
        return (np.where(np.isfinite(x) & (whole >= low) & (whole < high), x, LONG(0)),)

    return domain


def toward(t, mode):
    """Rounds to a float type in another direction."""

    def f(x):
        with np.errstate(all="ignore"):
            place = t.place(x)
            scaled = x / place
            whole = {"downward": np.floor, "upward": np.ceil, "toward_zero": np.trunc,
                     "to_nearest_away": round_away}[mode](scaled)
            y = np.where(np.isfinite(x), whole * place, x)
            largest = np.ldexp(LONG(2) - np.ldexp(LONG(1), 1 - t.precision), t.largest - 1)
            over = np.isfinite(x) & (np.abs(y) > largest)
            stays = {"downward": y > 0, "upward": y < 0, "toward_zero": True,
                     "to_nearest_away": False}[mode]
            y = np.where(over, np.copysign(np.where(stays, largest, np.inf), x), y)
        return [np.where(y == 0, np.copysign(0, x), y)]

    return f


def cast_cases():
    for a in FLOATS:
        for b in FLOATS:
            if a.bits < b.bits:
                yield cast("extf", a, b, lambda x: [x], signed_zero=True)
            if a.bits > b.bits:
                yield cast("truncf", a, b, lambda x: [x], signed_zero=True)
                for mode in ("downward", "upward", "toward_zero", "to_nearest_away"):
                    yield Case(f"arith.truncf_{mode}", (a,), (b,),
                               f"%r0 = arith.truncf %x0 {mode} : {a.name} to {b.name}", toward(b, mode))
        for b in INTS:
            if b is INDEX:
                continue
            yield cast("sitofp", b, a, lambda v, b=b: [np.array([signed_value(b, x) for x in v], dtype=object)
                                                        .astype(LONG)])
            yield cast("uitofp", b, a, lambda v, b=b: [_unsigned_long(b, v)])
            yield cast("fptosi", a, b, lambda x, b=b: [[b.wrap(int(v)) for v in x]], domain=fits(b, True))
            yield cast("fptoui", a, b, lambda x, b=b: [[b.wrap(int(v)) for v in x]], domain=fits(b, False))
            if a.bits == b.bits:
                yield cast("bitcast", b, a, lambda v, a=a, b=b: [_from_bits(a, b, v)])
                yield cast("bitcast", a, b, lambda x, a=a, b=b: [_to_bits(a, b, x)],
                           domain=lambda x: (np.nan_to_num(x),))
    yield cast("bitcast", F16, BF16, lambda x: [_from_bits(BF16, I16, _to_bits(F16, I16, x))])
    for a in INTS:
        for b in INTS:
            if INDEX in (a, b):
                if a is not b:
                    yield cast("index_cast", a, b, lambda v, a=a, b=b: [[b.wrap(signed_value(a, x)) for x in v]])
                    yield cast("index_castui", a, b, lambda v, a=a, b=b: [[b.wrap(a.unsigned(x)) for x in v]])
            elif a.bits < b.bits:
                yield cast("extsi", a, b, lambda v, a=a: [[signed_value(a, x) for x in v]])
                yield cast("extui", a, b, lambda v, a=a: [[a.unsigned(x) for x in v]])
            elif a.bits > b.bits:
                yield cast("trunci", a, b, lambda v, b=b: [[b.wrap(x) for x in v]])


def _unsigned_long(t, values):
    return np.array([_from_int(t.unsigned(v)) for v in values], dtype=LONG)


def _from_bits(a, b, values):
    return a.load(np.array(values, dtype=b.storage).view(a.storage))


def _to_bits(a, b, values):
    return [int(v) for v in a.store(values).view(b.storage)]


def refusal(case, target):
    """A part of the message that refuses a case, or None if a target takes it."""
    mode = case.name.partition("truncf_")[2]
    if mode:
        return f"'arith.truncf' op rounds {mode}, but conversions round to_nearest_even only"
    return None


def document():
    """The table of docs/Semantics.md: ops that are taken for the same types."""
    types = {}
    for case in all_cases():
        name = case.name.split("_")[0] if case.name.startswith("arith.cmp") else case.name
        of = case.ins[1] if case.name == "arith.select" else case.ins[0]
        for target in ("cpu", "cuda"):
            known = types.setdefault(name, {}).setdefault(target, [])
            if of not in known and not refusal(case, target):
                known.append(of)
    rows = {}
    for name, found in types.items():
        if found["cpu"]:
            row = tuple(" ".join(t.name for t in (*FLOATS, *INTS) if t in found[target])
                        for target in ("cpu", "cuda"))
            rows.setdefault(row, []).append(name)
    lines = ["| ops | operands on the CPU | operands on a GPU |", "|---|---|---|"]
    for (cpu, cuda), names in rows.items():
        text = ", ".join(f"`{dialect}.` " + " ".join(n.partition(".")[2] for n in names
                                                    if n.startswith(dialect + "."))
                         for dialect in ("math", "arith")
                         if any(n.startswith(dialect + ".") for n in names))
        lines.append(f"| {text} | {cpu} | {'the same' if cuda == cpu else cuda} |")
    return lines


def all_cases():
    yield from float_cases()
    yield from int_cases()
    yield from cast_cases()
