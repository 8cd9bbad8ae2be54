"""Sums of products as trees, and how they are written in MLIR.

A Sum has parts, each with dims of its own in some order, and dims of its result: what
the result lacks is summed over. rewrite.py turns a tree into others of the same value.
"""

from dataclasses import dataclass

from linalg_ref import Op, Output, literal, plain_map
from program import TensorType


@dataclass(eq=False)
class Leaf:
    """An argument."""

    name: str
    dims: list
    dtype: object


@dataclass(eq=False)
class Sum:
    """init + the sum of the products of parts."""

    parts: list
    dims: list
    dtype: object
    init: object = None

    def all_dims(self):
        return unique(d for p in [*self.parts, self] for d in p.dims)


@dataclass(eq=False)
class Added:
    """The element-wise sum of two parts with the same dims, in orders of their own."""

    parts: list
    dims: list
    dtype: object


@dataclass(eq=False)
class Moved:
    """The elements of parts (all but a `concat` have one) elsewhere. `how` is
    ("transpose", order), ("expand", groups), ("collapse", groups), ("slice", axis, start),
    ("pad", axis) or ("concat", axis)."""

    parts: list
    dims: list
    how: tuple

    @property
    def dtype(self):
        return self.parts[0].dtype


def unique(dims):
    """Without what came before; dims are told apart by identity."""
    return list({id(d): d for d in dims}.values())


def has(dims, dim):
    return any(d is dim for d in dims)


def position(dims, dim):
    return next(i for i, d in enumerate(dims) if d is dim)


def inputs(node):
    """All nodes that a node is computed of."""
    if isinstance(node, Leaf):
        return []
    init = [node.init] if isinstance(node, Sum) and node.init else []
    return [*node.parts, *init]


def sums_in(node):
    """The Sums of a tree."""
    own = [node] if isinstance(node, Sum) else []
    return own + [s for i in inputs(node) for s in sums_in(i)]


def replaced(node, old, new):
    """The tree with `new` in the place of the node `old`."""
    if node is old:
        return new
    if isinstance(node, Leaf):
        return node
    parts = [replaced(p, old, new) for p in node.parts]
    if isinstance(node, Sum):
        return Sum(parts, node.dims, node.dtype, node.init and replaced(node.init, old, new))
    if isinstance(node, Added):
        return Added(parts, node.dims, node.dtype)
    return Moved(parts, node.dims, node.how)


def transposed(node, dims):
    """The node with its dims in another order."""
    if all(a is b for a, b in zip(node.dims, dims)):
        return node
    return Moved([node], list(dims), ("transpose", [position(node.dims, d) for d in dims]))


class Writer:
    """Writes trees to a Program. `mark` gets the value of a part, the node, the op and the
    part's number, and returns the value, marked or not."""

    def __init__(self, program, rng, mark):
        self.program, self.rng, self.mark = program, rng, mark
        self.written = {}

    def value(self, node):
        """The name of a node's value."""
        if isinstance(node, Leaf):
            return node.name
        if id(node) not in self.written:
            write = {Sum: self.sum, Added: self.added, Moved: self.moved}[type(node)]
            # The node stays alive with its value: ids are not used again.
            self.written[id(node)] = (write(node), node)
        return self.written[id(node)][0]

    def type_of(self, node):
        return TensorType(node.dtype, list(node.dims), [d.static for d in node.dims])

    def result(self, node, text, source_types):
        name = self.program.name("v")
        type_ = self.type_of(node)
        self.program.types[name] = type_
        self.program.emit(f"{name} = {text} : {source_types} {type_.mlir}")
        return name

    # -- sums --------------------------------------------------------------

    def product(self, numbers):
        """The factors multiplied in some order."""
        if len(numbers) == 1:
            return ("arg", numbers[0])
        at = self.rng.randint(1, len(numbers) - 1)
        return ("mul", self.product(numbers[:at]), self.product(numbers[at:]))

    def op(self, node, expr, combiner):
        dims = node.all_dims() if isinstance(node, Sum) else list(node.dims)
        self.rng.shuffle(dims)
        maps = [plain_map([position(dims, d) for d in p.dims]) for p in [*node.parts, node]]
        return Op([has(node.dims, d) for d in dims], maps, len(node.parts),
                  [Output(expr, combiner)], node.dtype), dims

    def sum(self, node):
        numbers = list(range(len(node.parts)))
        self.rng.shuffle(numbers)
        op, dims = self.op(node, self.product(numbers), "add")
        ins = [self.mark(self.value(p), p, op, i) for i, p in enumerate(node.parts)]
        init = self.value(node.init) if node.init else self.program.filled(self.type_of(node), 0.0)
        return self.program.linalg(op, ins, [init], dims)[0]

    def added(self, node):
        op, dims = self.op(node, ("add", ("arg", 0), ("arg", 1)), None)
        ins = [self.value(p) for p in node.parts]
        return self.program.linalg(op, ins, [self.program.empty(self.type_of(node))], dims)[0]

    # -- what moves elements -----------------------------------------------

    def sizes(self, dims):
        return [str(d.size) if d.static else self.program.extent_of(d) for d in dims]

    def moved(self, node):
        values = [self.value(p) for p in node.parts]
        types = ", ".join(self.program.types[v].mlir for v in values)
        kind, *how = node.how
        return getattr(self, kind)(node, values, types, *how)

    def transpose(self, node, values, types, order):
        return self.program.transpose(values[0], self.type_of(node), order)

    def collapse(self, node, values, types, groups):
        return self.result(node, f"tensor.collapse_shape {values[0]} {groups}", f"{types} into")

    def expand(self, node, values, types, groups):
        sizes = ", ".join(self.sizes(node.dims))
        return self.result(node, f"tensor.expand_shape {values[0]} {groups} output_shape [{sizes}]",
                           f"{types} into")

    def slice(self, node, values, types, axis, start):
        starts = ["0"] * len(node.dims)
        starts[axis] = str(start)
        text = "".join(f"[{', '.join(l)}]" for l in (starts, self.sizes(node.dims), ["1"] * len(starts)))
        return self.result(node, f"tensor.extract_slice {values[0]}{text}", f"{types} to")

    def concat(self, node, values, types, axis):
        return self.result(node, f"tensor.concat dim({axis}) {', '.join(values)}", f"({types}) ->")

    def pad(self, node, values, types, axis):
        high = ["0"] * len(node.dims)
        high[axis] = str(node.dims[axis].size - node.parts[0].dims[axis].size)
        zero, name = self.program.name("k"), self.program.name("v")
        arguments = ", ".join(f"{self.program.name('i')}: index" for _ in high)
        type_ = self.type_of(node)
        self.program.types[name] = type_
        self.program.emit(
            f"{zero} = arith.constant {literal(0.0, node.dtype)}",
            f"{name} = tensor.pad {values[0]} low[{', '.join('0' for _ in high)}] high[{', '.join(high)}] {{",
            f"^bb0({arguments}):",
            f"  tensor.yield {zero} : {node.dtype.mlir}",
            f"}} : {types} to {type_.mlir}")
        return name
