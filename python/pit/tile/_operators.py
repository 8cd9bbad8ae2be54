"""Python's operators, and functions of elements, on numbers and tiles."""

import math
import operator

from ._errors import Mistake
from ._types import Type, f32, i1, i32, i64, index_
from ._values import (
    Number, Op, Scalar, Span, Tile, broadcast, broadcast_shape, describe, is_constant, low_of)

PYTHON = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne, "max": max, "min": min,
}
# The op for floats, and that for integers.
ARITHMETIC = {"+": ("addf", "addi"), "-": ("subf", "subi"), "*": ("mulf", "muli"),
              "/": ("divf", None), "max": ("maximumf", "maxsi"), "min": ("minimumf", "minsi"),
              "&": (None, "andi"), "|": (None, "ori"), "^": (None, "xori"),
              "<<": (None, "shli"), ">>": (None, "shrsi"), "//": (None, "floordivsi")}
COMPARISONS = {"<": ("olt", "slt"), "<=": ("ole", "sle"), ">": ("ogt", "sgt"),
               ">=": ("oge", "sge"), "==": ("oeq", "eq"), "!=": ("une", "ne")}
BITS = ("&", "|", "^")


def binary(b, symbol, left, right):
    """left `symbol` right."""
    if is_constant(left) and is_constant(right) and symbol in PYTHON:
        try:
            return PYTHON[symbol](left, right)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise Mistake(str(error)) from None
    if isinstance(left, Span) or isinstance(right, Span):
        return shifted(b, symbol, left, right)
    for value in (left, right):
        if not isinstance(value, (Tile, Number)) and not is_constant(value):
            name = {"max": "tile.maximum", "min": "tile.minimum"}.get(symbol, symbol)
            raise Mistake(f"{describe(value)} is no operand of {name}; it takes tiles and numbers"
                          + (", and tile.sread makes a tile of this" if hasattr(value, "tensor")
                             else ""))
    type_ = common_type(left, right, symbol)
    if symbol in ("//", "%"):
        return divided(b, symbol, left, right, type_)
    if symbol == "**":
        return power(b, left, right, type_)
    if symbol in ("<<", ">>") and not (isinstance(right, int) and 0 <= right < type_.bits):
        raise Mistake(f"{symbol} shifts by a constant from 0 to {type_.bits - 1}, not by "
                      f"{describe(right)}")
    return apply(b, text_of(symbol, type_), [left, right], type_,
                 i1 if symbol in COMPARISONS else type_, symbol)


def check_computed(what, type_):
    """Raises an error where a type has no arithmetic."""
    if type_.is_stored:
        raise Mistake(f"{what} does not take {type_.name}; write .to(tile.f32) before it")


def text_of(symbol, type_):
    """The op of arith for an operator, with its type."""
    check_computed(symbol, type_)
    table = COMPARISONS if symbol in COMPARISONS else ARITHMETIC
    name = table[symbol][0 if type_.is_float else 1]
    allowed = (*BITS, "==", "!=") if type_ is i1 else table
    if name is None or symbol not in allowed:
        raise Mistake(f"{symbol} does not take {type_.name}; {advice(symbol, type_)}")
    if table is COMPARISONS:
        return f"arith.cmp{'f' if type_.is_float else 'i'} {name}, {{}}, {{}} : {type_.name}"
    return f"arith.{name} {{}}, {{}} : {type_.name}"


def advice(symbol, type_):
    if symbol == "/":
        return "write // for whole numbers, or .to(tile.f32) before it"
    if type_ is i1:
        return "write & | ^ ~ for truth values, or .to(tile.i32) before it"
    return "it takes whole numbers"


def common_type(left, right, symbol):
    """The type of both operands; a constant takes the other one's."""
    types = [v.type for v in (left, right) if not is_constant(v)]
    if len(types) == 2 and types[0] is not types[1]:
        narrow, wide = sorted(types, key=lambda t: (t.is_float, t.bits))
        raise Mistake(f"{describe(left)} {symbol} {describe(right)} must have one type; write "
                      f".to({cast_name(wide)}) behind the one of {narrow.name}")
    return types[0]


def cast_name(type_):
    return f"tile.{'index_type' if type_ is index_ else type_.name}"


def apply(b, text, values, type_, result, what="an op"):
    """An op on elements: on numbers a number, on tiles a tile. `type_` is that of
    constants among the values."""
    if not any(isinstance(v, Tile) for v in values):
        names = [number(b, v, type_, what) for v in values]
        made = b.op("n", text.format(*names))
        return Number(made, result, loops_of(what, values), low_of_result(what, values))
    shape = broadcast_shape([v.shape for v in values if isinstance(v, Tile)])
    nodes = [node_of(b, v, shape, type_, what) for v in values]
    return Tile(result, shape, Op(text, tuple(nodes), b.at))


def number(b, value, type_, what):
    if isinstance(value, Number):
        return value.name
    text = type_.constant(value)
    if text is None or (isinstance(value, float) and not type_.is_float):
        raise Mistake(f"{describe(value)} is no value of {type_.name}, which {what} has here")
    return b.constant(value, type_)


def node_of(b, value, shape, type_, what):
    if isinstance(value, Tile):
        return broadcast(b.settle(value), shape)
    return Scalar(number(b, value, type_, what))


def loops_of(symbol, values):
    """In which loops a number differs from iteration to iteration, and by how much."""
    varying = [v.loops for v in values if isinstance(v, Number) and v.loops]
    if len(varying) != 1:
        return {}
    if symbol in ("+", "-"):
        # The summand is the same in all of them only if it is a constant.
        return varying[0] if any(is_constant(v) for v in values) else {}
    factor = next((v for v in values if is_constant(v)), 0)
    if symbol == "*" and isinstance(factor, int) and factor:
        return {loop: step * abs(factor) for loop, step in varying[0].items()}
    return {}


def low_of_result(symbol, values):
    """A bound from below of a result, or None."""
    if symbol == "a cast":
        return low_of(values[0])
    if len(values) != 2 or any(isinstance(v, float) for v in values):
        return None
    left, right = map(low_of, values)
    if symbol == "max":
        return max((v for v in (left, right) if v is not None), default=None)
    if left is None or right is None:
        return None
    if symbol in ("+", "min"):
        return left + right if symbol == "+" else min(left, right)
    if symbol == "-" and is_constant(values[1]):
        return left - right
    if left >= 0 and right >= 0:
        return {"*": left * right, "//": left // right if right else None,
                "tile.cdiv": -(-left // right) if right else None}.get(symbol)
    return None


def shifted(b, symbol, left, right):
    """A range plus or minus a whole number: its neighbours."""
    span, other = (left, right) if isinstance(left, Span) else (right, left)
    if symbol not in ("+", "-") or (symbol == "-" and span is right) or isinstance(other, (
            Span, Tile, float, bool)):
        raise Mistake(f"{describe(left)} {symbol} {describe(right)}: a range takes + and - of a "
                      "whole number; its first element is `.start`, its coordinates are "
                      "tile.coords(...)")
    start = span.start
    if isinstance(other, Number):
        other = b.to_index(other)
    aligned = math.gcd(span.aligned, other) if isinstance(other, int) else 1
    return Span(binary(b, symbol, start, other), span.size, aligned)


def divided(b, symbol, left, right, type_):
    if type_.is_float:
        if symbol == "//":
            return unary_math(b, "floor", binary(b, "/", left, right))
        raise Mistake("% takes whole numbers")
    expect_divisor(symbol, right)
    quotient = apply(b, text_of("//", type_), [left, right], type_, type_, symbol)
    if symbol == "//":
        return quotient
    rest = binary(b, "-", left, binary(b, "*", quotient, right))
    if isinstance(rest, Number):
        rest.low = 0
    return rest


def expect_divisor(what, value):
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise Mistake(f"{what} of whole numbers takes a constant above 0 as its divisor, not "
                      f"{describe(value)}: a division by 0 would end the process")


def divided_up(b, left, right):
    """left / right, rounded up. No sum on the way there leaves the range of the type."""
    if is_constant(left) and is_constant(right):
        expect_divisor("tile.cdiv", right)
        return -(-left // right)
    type_ = element_type(right if is_constant(left) else left, "tile.cdiv")
    if type_.is_float:
        return unary_math(b, "ceil", binary(b, "/", left, right))
    expect_divisor("tile.cdiv", right)
    if type_ is i1:
        raise Mistake("tile.cdiv does not take i1; " + advice("//", type_))
    text = f"arith.ceildivsi {{}}, {{}} : {type_.name}"
    return apply(b, text, [left, right], type_, type_, "tile.cdiv")


def power(b, left, right, type_):
    if not type_.is_float:
        raise Mistake("** takes floats; multiply whole numbers")
    if isinstance(right, int) and not isinstance(right, bool) and right == 2:
        return binary(b, "*", left, left)
    return apply(b, f"math.powf {{}}, {{}} : {type_.name}", [left, right], type_, type_, "**")


def negated(b, value):
    if is_constant(value):
        return -value
    type_ = element_type(value, "-")
    if type_ is i1:
        raise Mistake("- does not take i1; write ~ for truth values")
    check_computed("-", type_)
    if type_.is_float:
        return apply(b, f"arith.negf {{}} : {type_.name}", [value], type_, type_, "-")
    return binary(b, "-", 0, value)


def inverted(b, value):
    if is_constant(value):
        return not value if isinstance(value, bool) else ~value
    type_ = element_type(value, "~")
    if type_.is_float:
        raise Mistake(f"~ takes whole numbers and truth values, not {type_.name}")
    return binary(b, "^", value, True if type_ is i1 else -1)


def element_type(value, what):
    if not isinstance(value, (Tile, Number)):
        raise Mistake(f"{what} takes tiles and numbers, not {describe(value)}")
    return value.type


def unary_math(b, name, value, approximate=False):
    """An op of math on floats, which may be `approximate`."""
    type_ = element_type(value, f"tile.{name}")
    if not type_.is_float:
        raise Mistake(f"tile.{name} takes floats, not {type_.name}; write .to(tile.f32) before it")
    check_computed(f"tile.{name}", type_)
    op = {"abs": "absf", "round": "roundeven"}.get(name, name)
    flags = " fastmath<afn>" if approximate else ""
    return apply(b, f"math.{op} {{}}{flags} : {type_.name}", [value], type_, type_, f"tile.{name}")


def fused(b, values):
    """x * y + z, rounded once."""
    for value in values:
        if not is_constant(value):
            element_type(value, "tile.fma")
    known = [v for v in values if not is_constant(v)]
    if not known:
        raise Mistake("tile.fma takes a tile or a number among its arguments, not three constants")
    for value in known[1:]:
        common_type(known[0], value, "and")
    type_ = known[0].type
    if not type_.is_float:
        raise Mistake(f"tile.fma takes floats, not {type_.name}; write x * y + z")
    check_computed("tile.fma", type_)
    text = f"math.fma {{}}, {{}}, {{}} : {type_.name}"
    return apply(b, text, values, type_, type_, "tile.fma")


def select(b, condition, left, right):
    if isinstance(condition, bool):
        return left if condition else right
    if not isinstance(condition, (Tile, Number)) or condition.type is not i1:
        raise Mistake(f"tile.where takes a condition of i1, as x > 0, not {describe(condition)}")
    values = [left, right]
    if all(is_constant(v) for v in values):
        type_ = f32 if any(isinstance(v, float) for v in values) else i64
        if all(isinstance(v, bool) for v in values):
            type_ = i1
    else:
        for value in values:
            if not is_constant(value):
                element_type(value, "tile.where")
        type_ = common_type(left, right, "and")
    text = f"arith.select {{}}, {{}}, {{}} : {type_.name}"
    # The condition is no constant, so that constants take the type of the others.
    return apply(b, text, [condition, left, right], type_, type_, "tile.where")


def cast(b, value, type_):
    """A tile or a number with elements of another type."""
    if not isinstance(type_, Type):
        raise Mistake(f".to takes a type, as tile.f32, not {describe(type_)}")
    given = value.type
    if given is type_:
        return value
    for text, result in cast_steps(given, type_):
        narrows = given if type_.is_float and given.is_float and type_.bits < given.bits else None
        value = apply(b, text, [value], given, result, "a cast")
        if narrows and isinstance(value, Tile):
            value.node.narrows = narrows
        given = result
    return value


def bits_of(b, value):
    type_ = element_type(value, "tile.bits")
    integers = {32: i32, 64: i64}
    if not type_.is_float or type_.bits not in integers:
        raise Mistake(f"tile.bits takes f32 or f64, not {type_.name}")
    result = integers[type_.bits]
    text = f"arith.bitcast {{}} : {type_.name} to {result.name}"
    return apply(b, text, [value], type_, result, "tile.bits")


def cast_steps(given, type_):
    """The ops that cast, each with the type of its result."""
    def step(op, start, end):
        return f"arith.{op} {{}} : {start.name} to {end.name}", end

    if given is index_ and type_ is not i64:
        return [step("index_cast", given, i64), *cast_steps(i64, type_)]
    if type_ is index_ and given.is_float:
        return [*cast_steps(given, i64), step("index_cast", i64, type_)]
    if type_ is index_ or given is index_:
        # A truth value is 0 or 1.
        return [step("index_castui" if given is i1 else "index_cast", given, type_)]
    if type_ is i1:
        zero = "0.000000e+00" if given.is_float else "0"
        raise Mistake(f"no cast to i1; compare, as x != {0.0 if given.is_float else int(zero)}")
    if given.is_float and type_.is_float:
        if given.bits == type_.bits:  # f16 and bf16, or both of 8 bits
            return [step("extf", given, f32), step("truncf", f32, type_)]
        return [step("extf" if type_.bits > given.bits else "truncf", given, type_)]
    if given.is_float:
        return [step("fptosi", given, type_)]
    if type_.is_float:
        return [step("uitofp" if given is i1 else "sitofp", given, type_)]
    if type_.bits < given.bits:
        return [step("trunci", given, type_)]
    return [step("extui" if given is i1 else "extsi", given, type_)]


