"""Attributes, methods and subscripts of the language's values."""

from . import _operators as ops
from ._errors import Mistake
from ._types import i1, index_
from ._values import (
    Ids, Iota, Leaf, Number, Place, Span, Tensor, Tile, describe, is_constant, view)


class BoundMethod:
    """A method of a value, `x.to`."""

    def __init__(self, name, build, value):
        self.name, self.build, self.value = name, build, value


def make_place(tensor, subscripts):
    """`tensor[subscripts]`."""
    rank = len(tensor.sizes)
    if len(subscripts) != rank:
        raise Mistake(f"{describe(tensor)} takes {rank} subscripts, not {len(subscripts)}")
    return Place(tensor, [subscript(tensor, d, s) for d, s in enumerate(subscripts)])


def subscript(tensor, dim, value):
    if isinstance(value, Span) and value.may_begin_before:
        raise Mistake("the range may begin before the tensor's start, where a tile is read and "
                      "written as a whole or not at all; tile.span(max(start, 0), size) begins "
                      "there at the earliest")
    if isinstance(value, (Span, Ids)):
        return value
    if isinstance(value, slice):
        return sliced(tensor.sizes[dim], value)
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise Mistake(f"subscript {value} lies before the tensor's start; subscripts count "
                          "from 0")
        return value
    if isinstance(value, Number) and not value.type.is_float and value.type is not i1:
        return value
    raise Mistake(f"{describe(value)} is no subscript; a whole number, a loop's variable, ids or a "
                  "slice of constants is one")


def sliced(size, value):
    """A Span of a slice."""
    start = 0 if value.start is None else value.start
    stop = size if value.stop is None else value.stop
    if value.step is not None:
        raise Mistake("a slice has no step here")
    if not all(isinstance(v, int) and not isinstance(v, bool) for v in (start, stop)):
        raise Mistake("a slice has constant bounds, since tiles have a static shape; "
                      "tile.span(start, size) starts anywhere, and reads the pad behind the "
                      "tensor's end")
    if start == 0 == stop == size:
        raise Mistake("the dimension has size 0 here, and a tile has an element at least")
    if not 0 <= start < stop:
        raise Mistake(f"a slice from {start} to {stop} has no elements here; it counts from 0")
    return Span(start, stop - start)


def reshaped(b, tile, subscripts):
    """`tile[:, None]`: `:` keeps a dimension, None makes one, 0 drops one that is 1 long."""
    b.settle(tile)
    shape, dims, given = [], [], list(tile.shape)
    for value in subscripts:
        if value is None:
            shape.append(1)
            continue
        if not given:
            raise Mistake(f"too many subscripts of {describe(tile)}")
        size = given.pop(0)
        if isinstance(value, slice) and value == slice(None):
            dims.append(len(shape))
            shape.append(size)
        elif value == 0 and is_constant(value) and size == 1:
            dims.append(None)
        else:
            raise Mistake("a tile takes the subscripts `:`, None for a new dimension, and 0 where "
                          "it is 1 long; parts are read from tensors, by tile.sread")
    for size in given:
        dims.append(len(shape))
        shape.append(size)
    return Tile(tile.type, tuple(shape), view(tile.node, dims))


def transposed(b, tile):
    if len(tile.shape) < 2:
        raise Mistake(f"{describe(tile)} has no two dimensions to exchange")
    b.settle(tile)
    rank = len(tile.shape)
    dims = [*range(rank - 2), rank - 1, rank - 2]
    shape = tuple(tile.shape[d] for d in dims)
    return Tile(tile.type, shape, view(tile.node, dims))


def coordinates(b, value):
    """The coordinates of a range or of ids, as a tile of `index`."""
    if isinstance(value, Span):
        return Tile(index_, (value.size,), Iota(value.start, 0))
    if isinstance(value, Ids):
        shape = (value.size,)
        name = b.op("at", f"pit.coords {value.name} : !pit.ids<{value.size}> -> "
                          f"tensor<{value.size}xindex>")
        return Tile(index_, shape, Leaf(name, index_, shape, (0,)))
    raise Mistake(f"tile.coords takes a loop's variable or ids, not {describe(value)}")


def cast(b, value, dtype):
    return ops.cast(b, value, dtype)


def sizes(b, tensor):
    return tuple(tensor.sizes)


def method(name, build):
    return lambda b, value: BoundMethod(name, build, value)


ATTRIBUTES = {
    (Tensor, "shape"): sizes,
    (Tensor, "dtype"): lambda b, v: v.type,
    (Place, "shape"): lambda b, v: tuple(v.extents[d] for d in v.kept),
    (Place, "dtype"): lambda b, v: v.tensor.type,
    (Tile, "shape"): lambda b, v: v.shape,
    (Tile, "dtype"): lambda b, v: v.type,
    (Tile, "T"): transposed,
    (Tile, "to"): method("to", cast),
    (Number, "to"): method("to", cast),
    (Number, "dtype"): lambda b, v: v.type,
    (Span, "start"): lambda b, v: v.start,
    (Span, "size"): lambda b, v: v.size,
    (Ids, "size"): lambda b, v: v.size,
    (Ids, "positions"): lambda b, v: positions(v),
}


def positions(ids):
    if ids.positions is None:
        raise Mistake("these are positions already")
    return ids.positions
