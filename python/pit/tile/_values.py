"""The values of names while a function is written: numbers, ranges of a
dimension, tensors, tiles."""

from dataclasses import dataclass, field

from ._errors import Mistake
from ._types import Type


@dataclass(eq=False)
class Number:
    """A number that is known when the program runs. `loops` are the loops in each of
    whose iterations it is another one, and by how much at least; `low` is a bound from
    below, if there is one."""

    name: str  # the MLIR value
    type: Type
    loops: dict = field(default_factory=dict)
    low: int | None = None

    def describe(self):
        return f"a number of {self.type.name}"


@dataclass(eq=False)
class Span:
    """`size` neighbouring elements of a dimension, from `start` on: what a loop with a
    step runs over. `aligned` is the number that its start is a multiple of."""

    start: Number | int
    size: int
    aligned: int = 1

    @property
    def may_begin_before(self):
        """Whether it may lie before the start of a dimension, but for a part."""
        low = low_of(self.start)
        return self.size > 1 and self.aligned % self.size != 0 and (low is None or low < 0)

    @property
    def loops(self):
        """The loops in each of whose iterations it has other elements."""
        loops = self.start.loops if isinstance(self.start, Number) else {}
        return {loop: step for loop, step in loops.items() if step >= self.size}

    def describe(self):
        return f"a range of {self.size} elements"


@dataclass(eq=False)
class Ids:
    """A chunk of ids of an index, or of their positions."""

    name: str
    size: int
    loops: dict
    positions: "Ids | None" = None

    def describe(self):
        return f"a chunk of {self.size} ids"


@dataclass(eq=False)
class Index:
    name: str
    type: object

    def describe(self):
        return f"an index, {self.type!r}"


@dataclass(eq=False)
class Tensor:
    """A tensor. `name` changes with each SWrite. One that the function has made is
    written; an argument is not."""

    name: str
    type: Type
    sizes: tuple  # ints and Numbers
    argument: str | None = None  # its name, if it is one
    hint: str = "e"  # for its names

    @property
    def mlir(self):
        sizes = "".join(f"{'?' if isinstance(s, Number) else s}x" for s in self.sizes)
        return f"tensor<{sizes}{self.type.name}>"

    def describe(self):
        return f"a tensor of {self.type.name} of rank {len(self.sizes)}"


@dataclass(eq=False)
class Place:
    """A part of a tensor: `x[i, k]`."""

    tensor: Tensor
    subscripts: list  # Numbers, ints, Spans and Ids

    @property
    def extents(self):
        """Along each dimension of the tensor."""
        return tuple(getattr(s, "size", 1) for s in self.subscripts)

    @property
    def kept(self):
        """The dimensions that a tile of it has: numbers drop theirs."""
        return [d for d, s in enumerate(self.subscripts) if isinstance(s, (Span, Ids))]

    def describe(self):
        return f"a part of a tensor, of {shape_text(self.extents)} elements"


@dataclass(eq=False)
class Tile:
    """A tile of static shape. The expression of its elements is `node`, a Leaf, Iota,
    Scalar, Op or Dot."""

    type: Type
    shape: tuple
    node: object

    def describe(self):
        return f"a tile of {self.type.name} of shape {shape_text(self.shape)}"


class Opaque:
    """An object whose contents may change unseen. A program may pass it on, and ask which one it
    is (`is`, `isinstance`), but nothing about what it holds."""

    __slots__ = ("object",)

    def __init__(self, object_):
        self.object = object_

    def __repr__(self):
        return f"<{describe(self.object)}>"

    def refuse(self, *_):
        raise Mistake(f"{describe(self.object)} may change unseen; a tile program reads numbers, "
                      "texts, types, functions, and tuples and lists of these, and asks of other "
                      "objects which one it is (is) and of which class (isinstance)")

    __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __hash__ = refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = refuse
    __str__ = __format__ = __index__ = __int__ = __float__ = refuse


def itself(value):
    """The object that Python has, of an Opaque."""
    return value.object if isinstance(value, Opaque) else value


# The nodes. A view of a tile (a transpose, a broadcast) is another node, not an op.


@dataclass(eq=False)
class Leaf:
    """A tensor of MLIR. `dims` has, for each of its dimensions, the tile's dimension that
    runs along it, or None if it is 1 long, or read at 0. `carried` names the loop and the
    variable that the tile comes from, if a loop has carried it."""

    name: str
    type: Type
    shape: tuple
    dims: tuple
    carried: tuple | None = None

    def has_all(self, rank):
        """Whether it has the dimensions of a tile of a rank, in their order, beside others
        that are 1 long."""
        return [d for d in self.dims if d is not None] == list(range(rank))


@dataclass(eq=False)
class Iota:
    """start + the coordinate along a dimension of the tile."""

    start: Number | int
    dim: int | None


@dataclass(eq=False)
class Scalar:
    """The same number everywhere."""

    name: str


@dataclass(eq=False)
class Op:
    """An op on elements: `text` has a {} for each argument. Narrowing casts say what
    they narrow, since SWrite can do that itself."""

    text: str
    args: tuple  # nodes
    at: tuple
    narrows: Type | None = None


@dataclass(eq=False)
class Dot:
    """A product that waits for what it is added to."""

    a: Tile
    b: Tile
    at: tuple


def view(node, dims):
    """The node of a tile whose dimension d is dimension `dims[d]` of another tile, or None
    if it has none."""
    if isinstance(node, Leaf):
        seen = tuple(None if d is None else dims[d] for d in node.dims)
        return Leaf(node.name, node.type, node.shape, seen, node.carried)
    if isinstance(node, Iota):
        return Iota(node.start, None if node.dim is None else dims[node.dim])
    if isinstance(node, Op):
        return Op(node.text, tuple(view(a, dims) for a in node.args), node.at, node.narrows)
    return node


def low_of(value):
    """A bound of a number from below, or None."""
    return value.low if isinstance(value, Number) else value


def shape_text(shape):
    return "[" + ", ".join(map(str, shape)) + "]"


def describe(value):
    """The kind of a value, as messages have it."""
    value = itself(value)
    if hasattr(value, "describe"):
        return value.describe()
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, Type):
        return repr(value)
    return f"a {type(value).__name__}"


def is_constant(value):
    return isinstance(value, (bool, int, float))


def broadcast_shape(shapes):
    """The shape that numpy's rules give, or a Mistake."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    sizes = []
    for d in range(rank):
        found = {s[d] for s in padded} - {1}
        if len(found) > 1:
            raise Mistake(f"tiles of shapes {' and '.join(map(shape_text, shapes))} do not fit "
                          f"together; sizes are equal or 1, counted from the last dimension")
        sizes.append(found.pop() if found else 1)
    return tuple(sizes)


def broadcast(tile, shape):
    """The node of a tile read as one of another shape."""
    if isinstance(tile.node, Dot):
        raise AssertionError("a product is written before it is read")
    if tile.shape == shape:
        return tile.node
    lead = len(shape) - len(tile.shape)
    dims = [d + lead if size == shape[d + lead] else None for d, size in enumerate(tile.shape)]
    return view(tile.node, dims)
