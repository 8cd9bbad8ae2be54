"""A second meaning of the language of pit.tile, for tests: numpy, one iteration after
another, run by Python itself. `language` stands for the module.

A program may ask for more than rounding leaves: `x == tile.dot(a, b)` depends on the order
of a sum. `with rounding(noise=generator)` moves each rounded value by a few units in the
last place (Monte Carlo arithmetic, Parker 1997), and `with rounding(snaps=True)` treats
values as equal that differ by rounding. Elements that change are not determined by the
program's text."""

import contextlib
import itertools
import math
import types

import numpy as np

depth = 0  # of the loops that run
noise, snaps = None, False  # of rounding()


@contextlib.contextmanager
def rounding(**changed):
    """Runs with `noise`, a generator that moves rounded values, or with `snaps`."""
    assert changed.keys() <= {"noise", "snaps"}
    globals().update(changed)
    try:
        yield
    finally:
        globals().update(noise=None, snaps=False)


def moved(array, scale=None):
    """These rounded values, 8 units in the last place of `scale` (themselves) off."""
    array = np.asarray(array)
    if noise is None or array.dtype.kind != "f":
        return array
    by = 8 * np.finfo(array.dtype).eps * noise.uniform(-1, 1, array.shape)
    with np.errstate(all="ignore"):
        return (array + by * (np.abs(array) if scale is None else scale)).astype(array.dtype)


def near(x, y):
    """Where x and y differ by a sum's rounding at most."""
    with np.errstate(all="ignore"):
        sizes = [np.abs(v[np.isfinite(v)]).max(initial=1) for v in map(np.asarray, (x, y))]
        return np.abs(x - y) <= 64 * np.finfo(x.dtype).eps * max(sizes)


class Number(int):
    """A whole number with what the language's numbers have."""

    def to(self, dtype):
        return dtype.type(self) if dtype.kind == "f" else Number(self)


def as_number(method):
    def wrapped(self, *others):
        result = method(self, *others)
        return result if result is NotImplemented else Number(result)
    return wrapped


for name in ("add", "radd", "sub", "rsub", "mul", "rmul", "floordiv", "mod", "neg"):
    setattr(Number, f"__{name}__", as_number(getattr(int, f"__{name}__")))


class Span:
    def __init__(self, start, size):
        self.start, self.size = Number(start), size

    def __add__(self, other):
        return Span(self.start + other, self.size)

    def coordinates(self):
        return self.start + np.arange(self.size)


class Ids:
    def __init__(self, ids, positions=None):
        self.ids, self.size = ids, len(ids)
        self.positions = None if positions is None else Ids(positions)

    def coordinates(self):
        return self.ids


class Tensor:
    def __init__(self, array):
        self.array = array

    @property
    def shape(self):
        return tuple(map(Number, self.array.shape))

    @property
    def dtype(self):
        return self.array.dtype

    def __getitem__(self, subscripts):
        return Place(self, subscripts if isinstance(subscripts, tuple) else (subscripts,))


class Place:
    def __init__(self, tensor, subscripts):
        self.array = tensor.array
        self.coordinates, kept = [], []
        for subscript, size in zip(subscripts, self.array.shape, strict=True):
            if isinstance(subscript, (Span, Ids)):
                found = subscript.coordinates()
            elif isinstance(subscript, slice):
                found = np.arange(subscript.start or 0,
                                  size if subscript.stop is None else subscript.stop)
            else:
                found = np.array([int(subscript)])
            self.coordinates.append(found)
            kept.append(not isinstance(subscript, (int, np.integer)))
        self.extents = tuple(map(len, self.coordinates))
        self.shape = tuple(n for n, k in zip(self.extents, kept) if k)

    def elements(self):
        """Pairs of an index into the tile's extents, and one into the tensor."""
        for index in np.ndindex(self.extents):
            at = tuple(int(c[i]) for c, i in zip(self.coordinates, index))
            if all(0 <= a < n for a, n in zip(at, self.array.shape)):
                yield index, at


class Tile:
    def __init__(self, array):
        self.array = np.asarray(array)

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)
    T = property(lambda self: Tile(np.swapaxes(self.array, -1, -2)))
    __hash__ = None

    def to(self, dtype):
        return Tile(self.array.astype(dtype))

    def __getitem__(self, subscripts):
        return Tile(self.array[subscripts])

    def __neg__(self):
        return Tile(-self.array)

    def __invert__(self):
        return Tile(~self.array)


def array_of(value, dtype):
    return value.array if isinstance(value, Tile) else np.asarray(value, dtype)


def elementwise(function, exact=False):
    """`exact` results are not rounded."""
    def apply(*values):
        dtype = next(v.array.dtype for v in values if isinstance(v, Tile))
        with np.errstate(all="ignore"):
            result = function(*(array_of(v, dtype) for v in values)).astype(dtype)
        return Tile(result if exact else moved(result))
    return apply


def compare(function):
    def apply(x, y):
        dtype = next(v.array.dtype for v in (x, y) if isinstance(v, Tile))
        x, y = array_of(x, dtype), array_of(y, dtype)
        if snaps and dtype.kind == "f":
            y = np.where(near(x, y), x, y)
        return Tile(function(x, y))
    return apply


def to_whole(function, side):
    """A function to whole numbers. Snapping passes a whole number on this `side`."""
    def apply(tile):
        array = tile.array.astype("d")
        if snaps:
            width = 64 * np.finfo(tile.dtype).eps * np.maximum(1, np.abs(array))
            tie = array * 2 == np.round(array * 2)
            array = np.where(tie, array, array + side * width)
        return Tile(function(array).astype(tile.dtype))
    return apply


OPERATORS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide,
             "floordiv": np.floor_divide, "mod": np.mod, "and": np.bitwise_and,
             "or": np.bitwise_or, "xor": np.bitwise_xor}
for name, function in OPERATORS.items():
    apply = elementwise(function)
    setattr(Tile, f"__{name}__", apply)
    setattr(Tile, f"__r{name}__", lambda self, other, apply=apply: apply(other, self))
for name, function in {"lt": np.less, "le": np.less_equal, "gt": np.greater,
                       "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal}.items():
    setattr(Tile, f"__{name}__", compare(function))


# -- Loops and indices --


def looped(values):
    """Runs the body of a loop for each value."""
    def loop(*arguments, **named):
        global depth
        for value in list(values(*arguments, **named)):
            depth += 1
            yield value
            depth -= 1
    return loop


def points(given):
    start, stop, size = {1: (0, *given, None), 2: (*given, None), 3: given}[len(given)]
    if size is None:
        return [Number(i) for i in range(start, stop)]
    return [Span(i, size) for i in range(start, stop, size)]


def forall(*ranges, conflicts=None):
    lists = [r if isinstance(r, list) else points(r if isinstance(r, tuple) else (r,))
             for r in ranges]
    return [p if len(p) > 1 else p[0] for p in itertools.product(*lists)]


def ids(index, *group, chunk=64):
    found, positions = index.groups.get(index.key(group), ((), ()))
    chunks = []
    for start in range(0, len(found), chunk):
        here, there = np.full(chunk, -1), np.full(chunk, -1)
        count = min(chunk, len(found) - start)
        here[:count] = found[start: start + chunk]
        there[:count] = positions[start: start + chunk]
        chunks.append(Ids(here, there))
    return chunks


class Index:
    def __init__(self, live, micro_tile, axis):
        dims = [d for d, size in enumerate(micro_tile) if d != axis and size]
        self.sizes = [micro_tile[d] for d in dims]
        self.groups, self.total = {}, 0
        for key in itertools.product(*(range(-(-live.shape[d] // micro_tile[d])) for d in dims)):
            part = [slice(None)] * live.ndim
            for d, number, size in zip(dims, key, self.sizes):
                part[d] = slice(number * size, (number + 1) * size)
            others = tuple(d for d in range(live.ndim) if d != axis)
            found = np.nonzero(live[tuple(part)].any(axis=others))[0]
            self.groups[key] = found, self.total + np.arange(len(found))
            self.total += len(found)

    def key(self, group):
        starts = (g.start if isinstance(g, Span) else g for g in group)
        return tuple(start // size for start, size in zip(starts, self.sizes))


def build_index(data, micro_tile, axis, source="values", shape=None, background=0):
    array = data.array
    if source in ("values", "mask"):
        return Index(array != background, micro_tile, axis)
    live = np.zeros(shape, bool)
    for at in np.ndindex(array.shape):
        if source == "lengths":
            live[at][: array[at]] = True
        elif array[at] >= 0:
            live[at[0], array[at]] = True
    return Index(live, micro_tile, axis)


# -- Tensors and tiles --


def full(shape, value, dtype):
    made = np.full(shape, value, dtype)
    return Tile(made) if depth else Tensor(made)


def sread(place, pad=0):
    tile = np.full(place.extents, pad, place.array.dtype)
    for index, at in place.elements():
        tile[index] = place.array[at]
    return Tile(tile.reshape(place.shape))


COMBINE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
           "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def swrite(place, value, combine=None):
    array = place.array
    tile = np.broadcast_to(array_of(value, array.dtype), place.shape).reshape(place.extents)
    for index, at in place.elements():
        with np.errstate(all="ignore"):
            array[at] = COMBINE[combine](array[at], tile[index]) if combine else tile[index]
    if combine in ("add", "mul"):
        array[...] = moved(array)


def summed(dtype):
    """The type of sums."""
    narrow = {"float16": "float32", "int8": "int32", "int16": "int32"}
    return np.dtype(narrow.get(dtype.name, dtype.name))


def dot(a, b):
    x, y = (t.array.astype("d" if a.dtype.kind == "f" else "q") for t in (a, b))
    with np.errstate(all="ignore"):
        return Tile(moved((x @ y).astype(summed(a.dtype)), np.abs(x) @ np.abs(y)))


def reduction(function, sums=False):
    def apply(tile, axis=None, keepdims=False):
        dtype = summed(tile.dtype) if sums else tile.dtype
        array = tile.array.astype("d") if sums and dtype.kind == "f" else tile.array.astype(dtype)
        with np.errstate(all="ignore"):
            result = np.asarray(function(array, axis=axis, keepdims=keepdims)).astype(dtype)
            scale = function(np.abs(array), axis=axis, keepdims=keepdims) if sums else None
        return Tile(moved(result, scale) if sums else result)
    return apply


def where(condition, x, y):
    dtype = next(v.array.dtype for v in (x, y) if isinstance(v, Tile))
    return Tile(np.where(condition.array, array_of(x, dtype), array_of(y, dtype)))


def in_double(function):
    return elementwise(lambda x: function(x.astype("d")))


language = types.SimpleNamespace(
    forall=looped(forall), for_range=looped(lambda *bounds: points(bounds)), for_ids=looped(ids),
    ids=ids, span=Span, build_index=build_index, sread=sread, swrite=swrite, dot=dot, full=full,
    zeros=lambda shape, dtype: full(shape, 0, dtype), empty=lambda s, dtype: full(s, 0, dtype),
    copy=lambda tensor: Tensor(tensor.array.copy()), where=where,
    coords=lambda value: Tile(value.coordinates()),
    count=lambda index, *group: Number(
        len(index.groups[index.key(group)][0]) if group else index.total),
    extent=lambda index: Number(index.total),
    number=lambda tile: Number(tile.array.reshape(-1)[0]),
    sum=reduction(np.sum, sums=True), prod=reduction(np.prod, sums=True), max=reduction(np.max),
    min=reduction(np.min), any=reduction(np.any), all=reduction(np.all),
    maximum=elementwise(np.maximum, exact=True), minimum=elementwise(np.minimum, exact=True),
    abs=elementwise(np.abs, exact=True),
    floor=to_whole(np.floor, 1), ceil=to_whole(np.ceil, -1), round=to_whole(np.round, 1),
    exp=in_double(np.exp), sin=in_double(np.sin), cos=in_double(np.cos), tanh=in_double(np.tanh),
    sqrt=in_double(np.sqrt), rsqrt=in_double(lambda x: 1 / np.sqrt(x)),
    sigmoid=in_double(lambda x: 1 / (1 + np.exp(-x))), erf=in_double(np.vectorize(math.erf)),
    **{name: np.dtype(code) for name, code in {
        "f64": "d", "f32": "f", "f16": "e", "i64": "q", "i32": "i", "i16": "h", "i8": "b",
        "i1": "?", "index_type": "q"}.items()})
