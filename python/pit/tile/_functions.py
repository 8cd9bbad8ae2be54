"""Functions of the language: loops, indices, tensors, SRead and SWrite."""

from .._library import Error
from ..ops._op import SELECTOR_TYPES
from ._errors import Mistake
from ._language import as_tile, as_type, expect, language
from ._loops import Chunks, Loop, group_names, make_range
from ._members import coordinates
from ._types import i1, index as make_index_type, index_
from ._values import Ids, Index, Number, Place, Scalar, Span, Tensor, Tile, describe, is_constant


# -- Loops --


@language
def forall(b, *ranges, conflicts=None):
    """Loops over tiles in parallel, in any order:
    `for i, j in tile.forall((0, M, 32), (0, N, 128)):`.

    A range is `N` or `(start, stop)`, whose variable is a number, or `(start, stop, size)`, whose
    variable stands for `size` neighbours: as a subscript it makes a tile so long. The last one may
    be `tile.ids(...)`. The ends may be known at run time only, the size is a constant.

    Each iteration writes each tensor by one `swrite`, or by one loop. Different iterations have to
    write different elements; what cannot be seen to is refused, unless `conflicts` says how it is
    meant: "none" promises that they do; "sequential" runs them one after another; "atomic" (on a
    GPU) combines what they write, each swrite with `combine`. A `forall` does not stand in another.
    """
    if conflicts not in (None, "none", "sequential", "atomic"):
        raise Mistake(f"conflicts is \"none\", \"sequential\" or \"atomic\", not {conflicts!r}")
    return make_loop("forall", "tile.forall", ranges, conflicts)


def make_loop(kind, what, ranges, conflicts=None):
    chunks = None
    if ranges and isinstance(ranges[-1], Chunks):
        *ranges, chunks = ranges
    for given in ranges:
        if isinstance(given, Chunks):
            raise Mistake("tile.ids is the last range of a loop")
    if not ranges and not chunks:
        raise Mistake(f"{what} takes at least one range")
    return Loop(kind, [make_range(given, what) for given in ranges], chunks, conflicts)


@language
def for_range(b, *bounds):
    """Loops over a range one after another: `for k in tile.for_range(0, K, 64):`.

    The arguments are Python's `range`'s: `stop`, or `start, stop`, where `k` is a number, or
    `start, stop, size`, where it stands for `size` neighbours. Tiles that are assigned in the body
    and had a value before are carried from one iteration to the next; they keep type and shape.
    """
    return make_loop("for", "tile.for_range", [tuple(bounds)])


@language
def for_ids(b, index, *group, chunk=64):
    """Loops over the ids of a group of an index, `chunk` at once, one chunk after another:
    `for ids in tile.for_ids(index, i):`. `group` has a subscript for each dimension that numbers
    groups. Tiles are carried as by `for_range`."""
    return Loop("for", [], make_chunks(index, group, chunk, "tile.for_ids"))


@language
def ids(b, index, *group, chunk=64):
    """The ids of a group of an index, `chunk` at once, as the last range of `forall`."""
    return make_chunks(index, group, chunk, "tile.ids")


def make_chunks(index, group, chunk, what):
    expect(index, Index, f"{what} takes an index")
    if isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1:
        raise Mistake(f"a chunk has a constant number of ids above 0, not {describe(chunk)}")
    return Chunks(index, list(group), chunk)


@language
def span(b, start, size):
    """`size` neighbours of a dimension, from `start` on, as a subscript. `start` may be known at
    run time only."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise Mistake(f"tile.span takes a constant size above 0, not {describe(size)}")
    if isinstance(start, Span):
        start = start.start
    if isinstance(start, Number):
        return Span(b.to_index(start, "the start of a span"), size)
    if isinstance(start, bool) or not isinstance(start, int):
        raise Mistake(f"a span starts at a whole number, not at {describe(start)}")
    return Span(start, size, abs(start) or size)


@language
def listed(b, place):
    """Ids that a tensor of i32 lists, as a subscript: `tile.listed(order[h, i])` has as many as the
    range `i`. Ids behind the end are absent. What iterations of `forall` write by them are other
    elements only if no list has an id twice."""
    expect(place, Place, "tile.listed takes a part of a tensor, as order[h, i]")
    tensor, *numbers = place.tensor, *place.subscripts
    if tensor.type.name != "i32" or not numbers or not isinstance(numbers.pop(), Span) or any(
            isinstance(x, (Span, Ids)) for x in numbers):
        raise Mistake("tile.listed takes neighbours in the last dimension of a tensor of i32, and numbers in "
                      f"the others, not a part of shape {place.extents} of {describe(tensor)}")
    loops = {}
    for subscript in place.subscripts:
        loops |= getattr(subscript, "loops", {})
    for region in b.regions:
        region.reads.append((place, b.at))
    size = place.extents[-1]
    name = b.op("ids", f"pit.ids {tensor.name}[{b.subscripts(place)}] : {tensor.mlir} -> !pit.ids<{size}>")
    return Ids(name, size, loops)


@language
def coords(b, ids):
    """The coordinates that a loop's variable, or ids, stand for: a tile of `index`. Coordinates of absent
    ids are -1."""
    return coordinates(b, ids)


# -- Indices --


@language
def build_index(b, data, micro_tile, axis, source="values", shape=None, background=None,
                unordered=False):
    """The index of a tensor's live micro-tiles, built when the program runs.

    The arguments are those of `pit.build_index`: `source` says what `data` is: the tensor's
    "values", a "mask" of it, the "lengths" of its rows, or a "routing" of tokens to experts.
    For the latter two `shape` is the tensor's.
    """
    b.fail_in_loop("tile.build_index")
    expect(data, Tensor, "tile.build_index takes a tensor")
    try:
        type_ = make_index_type(micro_tile, axis)
    except (Error, TypeError) as error:
        raise Mistake(str(error)) from None
    if source not in ("values", "mask", "lengths", "routing"):
        raise Mistake(f"no index source {source!r}; there are: values, mask, lengths, routing")
    check_source(data, type_, source, shape)
    text = "pit.index" + ("" if source == "values" else f" {source}") + f" {data.name}"
    if shape is not None:
        text += f" shape({', '.join(b.index_name(s) for s in shape)})"
    if background is not None:
        if source != "values":
            raise Mistake("only values have a background")
        number = data.type.constant(background) if is_constant(background) else None
        if number is None:
            raise Mistake(f"background {describe(background)} is no value of {data.type.name}")
        text += f" background({number} : {data.type.name})"
    name = b.op("index", f"{text}{' unordered' if unordered else ''} : {data.mlir} -> {type_.mlir}")
    return Index(name, type_)


def check_source(data, type_, source, shape):
    """Checks the data that an index is built from."""
    elements = SELECTOR_TYPES.get(source)
    if elements and data.type.name not in elements:
        raise Mistake(f"{source} have elements of {' or '.join(elements)}, not {data.type.name}")
    rank, of = len(data.sizes), len(type_.micro_tile)
    if source in ("values", "mask"):
        if shape is not None:
            raise Mistake(f"the shape of {source} is their own; leave shape= out")
        if rank != of:
            raise Mistake(f"a micro-tile of {of} dimensions, for {describe(data)}")
        return
    if not isinstance(shape, (tuple, list)) or len(shape) != of:
        raise Mistake(f"an index from {source} needs the shape of its tensor, {of} sizes as the "
                      "micro-tile: shape=(...)")
    if source == "routing" and (rank, of) != (2, 2):
        raise Mistake(f"a routing and what it selects from have rank 2, not {rank} and {of}")
    if source == "lengths" and rank >= of:
        raise Mistake(f"lengths of rank {rank} select from a tensor of a higher rank, not {of}")


@language
def count(b, index, *group):
    """The number of ids of an index, or of one of its groups."""
    expect(index, Index, "tile.count takes an index")
    subscripts = f"[{', '.join(group_names(b, index, group, 'tile.count'))}]" if group else ""
    name = b.op("count", f"pit.count {index.name}{subscripts} : {index.type.mlir}")
    return Number(name, index_, low=0)


@language
def extent(b, index):
    """The rows of a tensor packed by an index: one more than its largest position."""
    expect(index, Index, "tile.extent takes an index")
    name = b.op("extent", f"pit.extent {index.name} : {index.type.mlir}")
    return Number(name, index_, low=0)


# -- Tensors --


@language
def empty(b, shape, dtype):
    """A new tensor, whose elements are to be written: those that are not have any value. `shape`
    has constants and numbers."""
    return b.make_tensor(tensor_shape(b, shape), as_type(dtype, "tile.empty"))


@language
def copy(b, tensor):
    """A new tensor with the elements of another one."""
    expect(tensor, Tensor, "tile.copy takes a tensor")
    b.fail_in_loop("a new tensor")
    made = Tensor(tensor.name, tensor.type, tensor.sizes)
    b.tensors.append(made)
    return made


def tensor_shape(b, shape):
    sizes = []
    for size in shape if isinstance(shape, (tuple, list)) else (shape,):
        if isinstance(size, Number):
            size = b.to_index(size)
        elif isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise Mistake(f"a size must be a whole number, not {describe(size)}")
        sizes.append(size)
    return sizes


@language
def zeros(b, shape, dtype):
    """Zeros: `full(shape, 0, dtype)`."""
    return full._build(b, shape, False if dtype is i1 else 0, dtype)


@language
def full(b, shape, value, dtype):
    """The same value everywhere: before the loops a tensor, in loops a tile."""
    as_type(dtype, "tile.full")
    sizes = tensor_shape(b, shape)
    if len(b.regions) == 1:
        if not is_constant(value):
            raise Mistake(f"a tensor is filled with a constant, not {describe(value)}")
        return b.make_tensor(sizes, dtype, value)
    for size in sizes:
        if isinstance(size, Number) or size < 1:
            raise Mistake("a tile has a static shape; its sizes are constants above 0")
    if isinstance(value, Number):
        if value.type is not dtype:
            raise Mistake(f"{describe(value)} in a tile of {dtype.name}; write .to(tile."
                          f"{dtype.name}) behind it")
        name = value.name
    elif is_constant(value):
        name = b.constant(value, dtype)
    else:
        raise Mistake(f"tile.full takes a number, not {describe(value)}")
    return Tile(dtype, tuple(sizes), Scalar(name))


COMBINE = {"add": ("addf", "addi"), "mul": ("mulf", "muli"), "max": ("maximumf", "maxs"),
           "min": ("minimumf", "mins"), "and": (None, "andi"), "or": (None, "ori"),
           "xor": (None, "xori")}


@language
def sread(b, place, pad=None):
    """Reads a part of a tensor, as `x[i, ids]`, into a tile. Numbers as subscripts drop their
    dimension. Elements outside of the tensor, and absent ids, read `pad`, 0 unless given."""
    expect(place, Place, "tile.sread takes a part of a tensor, as x[i, k]")
    if pad is not None and not is_constant(pad):
        raise Mistake(f"pad is a constant, not {describe(pad)}")
    if len(b.regions) == 1:
        raise Mistake("tile.sread stands outside of the loops; read tiles in a loop, as "
                      "for i in tile.forall((0, M, 32))")
    return b.sread(place, pad)


@language
def swrite(b, place, value, combine=None):
    """Writes a tile to a part of a tensor: `tile.swrite(c[i, j], t)`. The part outside of the
    tensor, and absent ids, is dropped. With `combine`, "add", "mul", "max", "min", "and",
    "or" or "xor", it is combined with what the tensor holds."""
    expect(place, Place, "tile.swrite takes a part of a tensor, as c[i, j]")
    type_ = place.tensor.type
    if len(b.regions) == 1:
        raise Mistake("tile.swrite stands outside of the loops; write tiles in a loop, as "
                      "for i in tile.forall((0, M, 32))")
    if is_constant(value) or isinstance(value, Number):
        shape = tuple(place.extents[d] for d in place.kept)
        value = full._build(b, shape, value, type_)
    as_tile(value, "tile.swrite")
    text = None
    if combine is not None:
        if combine not in COMBINE:
            raise Mistake(f"combine is one of {', '.join(COMBINE)}, not {combine!r}")
        text = COMBINE[combine][0 if type_.is_float else 1]
        if text is None or type_ is i1:
            raise Mistake(f"combine=\"{combine}\" does not take {type_.name}")
    b.swrite(place, value, text)
