"""Orders of queries and of keys: lists of places, in whose order blocks of an attention lie. The mask
of blocks is moved to the places (pit.reorder); the compiler gathers queries and keys instead.
"""

import math

from .._library import Error
from ._frameworks import arrays_of
from ._products import rank_of

NAMES = ("order", "order_of_keys")  # as arguments of an op
LETTERS = "mn"
SAME = "="  # the dims of keys' order, where it is that of queries


def of_argument(op, order, sizes, pattern):
    """The orders of queries and of keys as (arrays, letters of dims); none is a pair of Nones. An order
    for both is one array."""
    if order is None:
        return (None, None), (None, None)
    is_pair = isinstance(order, (tuple, list))
    if is_pair and len(order) != 2:
        raise Error(f"{op}: order has {len(order)} parts; it is an array, or a pair of one for "
                    "queries and one for keys")
    if not is_pair and sizes[2] != sizes[3]:
        raise Error(f"{op}: one order is given, but there are {sizes[2]} queries and {sizes[3]} keys; "
                    "pass a pair, of queries and of keys")
    arrays = tuple(order) if is_pair else (order, None)
    letters = []
    for x, letter, places, what in zip(arrays, LETTERS, sizes[2:], ("queries", "keys")):
        if x is None:
            letters.append(None)
            continue
        if not 1 <= rank_of(op, "order", x) <= 3 or x.shape[-1] != places:
            raise Error(f"{op}: order has shape {tuple(x.shape)}; it broadcasts to (batch, heads, "
                        f"{what}), and has each of {places} places once")
        letters.append(pattern("order", x.shape, (*sizes[:2], places), f"(batch, heads, {what})",
                               "bh" + letter))
        expect_each_once(op, x, places)
    return arrays, (*letters[:1], letters[1] if is_pair else SAME)


def expect_each_once(op, order, places):
    """Values are looked at in arrays of numpy alone, since others may lie on a device."""
    if type(order).__module__ != "numpy" or order.dtype.kind not in "iu":
        return
    import numpy

    for row in order.reshape(-1, places) if order.size else ():
        lacking = numpy.setdiff1d(numpy.arange(places), row)
        if len(lacking):
            raise Error(f"{op}: order lacks place {lacking[0]}: it is {row[:8].tolist()} and so on; it has "
                        f"each of {places} places once")


def arguments(orders):
    """Names and dims of the arrays that there are."""
    return [(name, dims) for name, dims in zip(NAMES, orders) if dims not in (None, SAME)]


def has_heads(orders):
    return any("h" in dims for _, dims in arguments(orders))


def moved(builder, mask, letters, found, orders):
    """The mask that has these dims, with queries and keys where the orders say."""
    for name, letter, dims in zip(NAMES, LETTERS, orders):
        if dims is None:
            continue
        order, of = found[NAMES[0] if dims == SAME else name]
        order = builder.squeeze(order, [x == 1 for x in of])
        of = [x for x in of[:-1] if x != 1] + [letter]
        if order.type != "i32":
            order = builder.elementwise([order], lambda body, x: body.emit(
                f"arith.trunci {x} : {order.type} to i32"), "i32")
        dims = ", ".join(str(letters.index(x)) for x in of)
        mask = builder.emit(f"pit.reorder {mask.name} by {order.name} dims [{dims}] : {mask.mlir}, "
                            f"{order.mlir}", mask.dims, mask.type)
    return mask


def grid_order(shape, axes, *, before=0, after=0, like=None):
    """The places of a grid in another order of its axes, as `order=` of pit.attention takes it.

        order = pit.grid_order((frames, positions), (1, 0), before=text)   # position by position

    shape       the extents of the grid, whose places follow each other row by row
    axes        its axes, as numpy.transpose takes them: the last one is run through first
    before      places in front of the grid and behind it, which stay where they are
    after
    like        an array, of whose framework and device the result is; numpy unless given
    Result      (before + places of the grid + after), i32
    """
    import numpy

    shape, axes = tuple(int(n) for n in shape), tuple(int(a) for a in axes)
    if sorted(axes) != list(range(len(shape))) or min((*shape, before, after)) < 0:
        raise Error(f"grid_order: axes are {axes} of a grid of {shape}, with {before} places before and "
                    f"{after} after it; axes has each of 0 to {len(shape) - 1} once, and numbers of "
                    "places are 0 or more")
    count = math.prod(shape)
    order = numpy.arange(before + count + after, dtype="int32")
    order[before:before + count] = before + numpy.arange(count, dtype="int32").reshape(
        shape).transpose(axes).ravel()
    return order if like is None else arrays_of(like).of_host(order)
