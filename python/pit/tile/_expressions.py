"""Expressions of a function of Python, as the values that they stand for."""

import ast
import inspect
import math
import types

from . import _operators as ops
from ._errors import Mistake
from ._loops import Carried, Lost
from ._members import ATTRIBUTES, BoundMethod, make_place, reshaped
from ._reads import Reads
from ._values import Dot, Number, Opaque, Tensor, Tile, describe, is_constant, itself

BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<",
    ast.RShift: ">>"}
COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
# Functions of constants alone; min and max also of numbers.
FUNCTIONS = {abs, bool, float, int, len, max, min, range, round, str, sum, tuple, isinstance}
DEEPEST = 50  # calls
NOTES = 4  # of them that an error shows


class Returned(Exception):
    def __init__(self, value):
        super().__init__()
        self.value = value


class Source:
    """The syntax tree of a function, with the lines and columns of its file."""

    def __init__(self, function):
        code = function.__code__  # since the function may say that it is another (__wrapped__)
        self.path = inspect.getsourcefile(code) or code.co_filename
        lines, first = inspect.getsourcelines(code)
        indent = len(lines[0]) - len(lines[0].lstrip())
        text = "".join(line[indent:] if line[:indent].isspace() or not indent else line
                       for line in lines)
        tree = ast.parse(text).body[0]
        for node in ast.walk(tree):
            if hasattr(node, "col_offset"):
                node.lineno += first - 1
                node.col_offset += indent
        self.tree = tree

    @property
    def at(self):
        return self.place(self.tree)

    def place(self, node):
        return self.path, node.lineno, node.col_offset + 1


class Frame:
    """The names of one call of a function; `depth` is that of the loops around it."""

    def __init__(self, function, source, names, depth):
        self.function, self.source, self.env, self.depth = function, source, names, depth
        self.places = {}  # where names were assigned last


class Expressions:
    """Evaluates expressions: each has a method `see_NAME` by its kind of node. `b` is the
    builder, `frames` the calls that are being written, `reads` has what they read of Python."""

    def __init__(self, builder, function, names, source):
        self.b = builder
        self.frames = [Frame(function, source, names, 1)]
        self.reads = Reads()

    @property
    def env(self):
        return self.frames[-1].env

    def place(self, node):
        return self.frames[-1].source.place(node)

    def value(self, node):
        method = getattr(self, f"see_{type(node).__name__}", None)
        if method is None:
            self.b.at = self.place(node)
            raise Mistake(f"{expression_name(node)} has no meaning in a tile program")
        return method(node)

    def see_Constant(self, node):
        return node.value

    def see_Tuple(self, node):
        return tuple(self.items(node.elts))

    def see_List(self, node):
        return list(self.items(node.elts))

    def items(self, nodes):
        values = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                part = self.value(node.value)
                if not isinstance(part, (tuple, list)):
                    raise Mistake(f"* takes a tuple, not {describe(part)}")
                values += part
            else:
                values.append(self.value(node))
        return values

    def see_Name(self, node):
        return self.lookup(node.id, node)

    def lookup(self, name, node):
        frame = self.frames[-1]
        if name in frame.env:
            value = frame.env[name]
            if isinstance(value, Lost):
                self.b.at = self.place(node)
                raise Mistake(value.reason)
            return value.get() if isinstance(value, Carried) else value
        before, self.b.at = self.b.at, self.place(node)
        value = self.reads.variable(frame.function, name)
        self.b.at = before
        return value

    def see_Attribute(self, node):
        value = self.value(node.value)
        self.b.at = self.place(node)
        if isinstance(value, types.ModuleType):
            return self.reads.attribute(value, node.attr)
        known = ATTRIBUTES.get((type(value), node.attr))
        if known is None:
            names = [name for kind, name in ATTRIBUTES if kind is type(value)]
            there = f"; it has {', '.join(names)}" if names else ""
            raise Mistake(f"{describe(value)} has no {node.attr}{there}")
        return known(self.b, value)

    def see_Subscript(self, node):
        value = self.value(node.value)
        subscripts = self.subscripts(node.slice)
        self.b.at = self.place(node)
        if isinstance(value, Tensor):
            return make_place(value, subscripts)
        if isinstance(value, Tile):
            return reshaped(self.b, value, subscripts)
        if isinstance(value, (tuple, list)) and len(subscripts) == 1:
            try:
                return value[subscripts[0]]
            except (IndexError, TypeError) as error:
                raise Mistake(str(error)) from None
        raise Mistake(f"{describe(value)} takes no subscripts")

    def subscripts(self, node):
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        values = []
        for each in nodes:
            if isinstance(each, ast.Slice):
                bounds = [None if bound is None else self.value(bound)
                          for bound in (each.lower, each.upper, each.step)]
                values.append(slice(*bounds))
            else:
                values += self.items([each])
        return values

    def see_BinOp(self, node):
        left, right = self.value(node.left), self.value(node.right)
        self.b.at = self.place(node)
        return self.binary(type(node.op), left, right)

    def binary(self, op, left, right):
        symbol = BINARY.get(op)
        if symbol is None:
            raise Mistake("@ is written tile.dot(a, b)")
        if symbol in "+*" and any(isinstance(v, (tuple, list)) for v in (left, right)):
            try:
                return left + right if symbol == "+" else left * right
            except TypeError as error:
                raise Mistake(str(error)) from None
        if symbol == "+":
            for dot, tile in ((left, right), (right, left)):
                # The sums of a product start from its other summand.
                if is_product(dot) and isinstance(tile, Tile) and (tile.shape, tile.type) == (
                        dot.shape, dot.type) and tile is not dot:
                    self.b.settle(tile)
                    return self.b.contract(dot.node, tile)
        return ops.binary(self.b, symbol, left, right)

    def see_UnaryOp(self, node):
        value = self.value(node.operand)
        self.b.at = self.place(node)
        if isinstance(node.op, ast.Not):
            if is_runtime(value):
                raise Mistake("not is for constants; write ~ for tiles and numbers")
            return not value
        if isinstance(node.op, ast.UAdd):
            return value
        return (ops.negated if isinstance(node.op, ast.USub) else ops.inverted)(self.b, value)

    def see_Compare(self, node):
        values = [self.value(v) for v in (node.left, *node.comparators)]
        self.b.at = self.place(node)
        if not any(is_runtime(v) for v in values):
            return compare_constants(node.ops, values)
        if len(node.ops) > 1:
            raise Mistake("one comparison at a time; join them by &, as (a < b) & (b < c)")
        symbol = COMPARE.get(type(node.ops[0]))
        if symbol is None:
            raise Mistake(f"{describe(values[0])} is compared by < <= > >= == !=")
        return ops.binary(self.b, symbol, *values)

    def see_BoolOp(self, node):
        wanted = isinstance(node.op, ast.Or)
        for each in node.values:
            value = self.value(each)
            if is_runtime(value):
                self.b.at = self.place(node)
                raise Mistake(f"{'or' if wanted else 'and'} is for constants; write "
                              f"{'|' if wanted else '&'} for tiles and numbers")
            if bool(value) is wanted:
                return value
        return value

    def see_IfExp(self, node):
        return self.value(node.body if self.truth(node.test, "if") else node.orelse)

    def see_JoinedStr(self, node):
        parts = []
        for part in node.values:
            formatted = isinstance(part, ast.FormattedValue)
            value = self.value(part.value if formatted else part)
            if is_runtime(value):
                self.b.at = self.place(node)
                raise Mistake("a text has constants alone")
            spec = self.value(part.format_spec) if formatted and part.format_spec else ""
            convert = {ord("s"): str, ord("r"): repr, ord("a"): ascii}.get(
                part.conversion if formatted else -1, lambda value: value)
            try:
                parts.append(format(convert(value), spec))
            except (TypeError, ValueError) as error:
                self.b.at = self.place(node)
                raise Mistake(str(error)) from None
        return "".join(parts)

    def truth(self, node, what):
        value = self.value(node)
        if is_runtime(value):
            self.b.at = self.place(node)
            raise Mistake(f"{what} takes constants, and {describe(value)} is known at run time "
                          "only; tile.where(condition, a, b) chooses element by element")
        return bool(value)

    def see_Call(self, node):
        function = self.value(node.func)
        arguments = self.items(node.args)
        named = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                self.b.at = self.place(node)
                raise Mistake("** has no meaning in a tile program; name the arguments")
            named[keyword.arg] = self.value(keyword.value)
        self.b.at = self.place(node)
        build = getattr(function, "_build", None)
        if build is not None:
            return call(build, (self.b, *arguments), named, f"tile.{function.__name__}")
        if isinstance(function, BoundMethod):
            return call(function.build, (self.b, function.value, *arguments), named, function.name)
        if hasattr(function, "_pit_function"):  # another function of pit.jit
            function = function._pit_function
        if isinstance(function, types.FunctionType):
            return self.inline(function, arguments, named)
        return self.constant_call(function, arguments, named)

    def constant_call(self, function, arguments, named):
        values = [*arguments, *named.values()]
        if isinstance(function, Opaque):
            raise Mistake(f"{describe(function)} cannot be called in a tile program; use a def")
        if function in (min, max) and len(arguments) > 1 and any(map(is_runtime, arguments)):
            result = arguments[0]
            for value in arguments[1:]:
                result = extreme(self.b, function.__name__, result, value)
            return result
        known = isinstance(function, (type, types.BuiltinFunctionType)) and (
            function in FUNCTIONS or getattr(math, function.__name__, None) is function)
        if function is len and len(values) == 1 and isinstance(values[0], Tensor):
            raise Mistake("a tensor's sizes are x.shape")
        if not known:
            name = getattr(function, "__name__", None) or describe(function)
            hint = "; for i in tile.for_range(...) is a loop" if function is range else ""
            raise Mistake(f"{name} cannot be called in a tile program{hint}")
        if any(is_runtime(v) for v in values) and function not in (len, isinstance):
            hint = {range: "; tile.for_range(...) loops over numbers known at run time",
                    float: "; .to(tile.f32) casts numbers and tiles",
                    int: "; .to(tile.i32) casts numbers and tiles"}.get(function, "")
            if function in (abs, max, min, round, sum):
                hint = f"; tile.{function.__name__} takes tiles"
            raise Mistake(f"{function.__name__} takes constants{hint}")
        if function is isinstance:
            arguments = [itself(v) for v in arguments]
        try:
            return function(*arguments, **named)
        except Exception as error:  # of Python's function
            raise Mistake(str(error)) from None

    def inline(self, function, arguments, named):
        """A call of a function of Python: its body is written here."""
        if function.__name__ == "<lambda>":
            raise Mistake("a lambda has no meaning in a tile program; use a def")
        if len(self.frames) > DEEPEST:
            raise Mistake(f"{function.__name__} calls itself; calls are written out, so they must "
                          "end")
        try:
            called = self.reads.callee(function)
            names = inspect.signature(called).bind(*arguments, **named)
            source = Source(called)
        except TypeError as error:
            raise Mistake(f"{function.__name__}: {error}") from None
        except (OSError, SyntaxError):
            raise Mistake(f"{function.__name__} has no source to read") from None
        if not isinstance(source.tree, ast.FunctionDef):
            raise Mistake("a lambda has no meaning in a tile program; use a def")
        names.apply_defaults()
        at = self.b.at
        self.frames.append(Frame(called, source, dict(names.arguments), len(self.b.regions)))
        try:
            result = self.body(source.tree.body)
        except Mistake as mistake:
            if len(mistake.notes) < NOTES:
                mistake.notes = [*mistake.notes, ("it is called here", at)]
            raise
        self.frames.pop()
        self.b.at = at
        return result


def is_runtime(value):
    """Whether a value is known only when the program runs."""
    return hasattr(value, "describe") and not isinstance(value, Tensor)


def is_product(value):
    return isinstance(value, Tile) and isinstance(value.node, Dot)


def compare_constants(kinds, values):
    for kind, left, right in zip(kinds, values, values[1:]):
        try:
            result = CONSTANT_COMPARE[type(kind)](left, right)
        except TypeError as error:
            raise Mistake(str(error)) from None
        if not result:
            return False
    return True


CONSTANT_COMPARE = {
    **{kind: ops.PYTHON[symbol] for kind, symbol in COMPARE.items()},
    ast.Is: lambda a, b: itself(a) is itself(b), ast.IsNot: lambda a, b: itself(a) is not itself(b),
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b}


def extreme(b, name, left, right):
    """min or max of two numbers."""
    if is_constant(left) and is_constant(right):
        return (min if name == "min" else max)(left, right)
    for value in (left, right):
        if not is_constant(value) and not isinstance(value, Number):
            raise Mistake(f"{name} takes numbers; of tiles, tile.{name}imum takes the elements, "
                          f"and tile.{name} all of one")
    return ops.binary(b, name, left, right)


def call(build, arguments, named, name):
    try:
        bound = inspect.signature(build).bind(*arguments, **named)
    except TypeError as error:
        raise Mistake(f"{name}: {error}") from None
    return build(*bound.args, **bound.kwargs)


def expression_name(node):
    known = {"Lambda": "lambda", "ListComp": "a comprehension", "DictComp": "a comprehension",
             "SetComp": "a comprehension", "GeneratorExp": "a generator", "Await": "await",
             "Yield": "yield", "YieldFrom": "yield", "Dict": "a dict", "Set": "a set",
             "NamedExpr": ":=", "Slice": "a slice"}
    return known.get(type(node).__name__, type(node).__name__)
