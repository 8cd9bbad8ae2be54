"""A program under construction: its MLIR text, how to make its arguments, and
how to compute what it must return. draw.py decides what goes into it."""

from dataclasses import dataclass

import numpy as np

import linalg_ref as ref
from linalg_ref import Val


class Dim:
    """An extent: the same one wherever it stands in a program. A static one
    has its size from the start; the others get one for each run."""

    def __init__(self, static, size=None, formula=None):
        self.static = static
        self.drawn = size
        self.formula = formula  # of other dims, if it is not drawn

    @property
    def size(self):
        return self.formula() if self.formula else self.drawn


@dataclass
class TensorType:
    dtype: object
    dims: list
    static: list  # per dim: written as a number here

    @property
    def mlir(self):
        parts = [str(d.size) if s else "?" for d, s in zip(self.dims, self.static)]
        return f"tensor<{'x'.join([*parts, self.dtype.mlir])}>"

    @property
    def shape(self):
        return tuple(d.size for d in self.dims)


@dataclass
class ScalarType:
    """An argument that is no tensor: a number, on the host."""

    dtype: object
    dims = static = shape = ()

    @property
    def mlir(self):
        return self.dtype.mlir


@dataclass
class IndexType:
    """!pit.index of a tensor with these dims; 0 in the micro-tile is a whole
    dimension. Its data is a boolean array of micro-tiles: group coordinates,
    with the ids in the place of the axis."""

    dims: list
    micro_tile: list
    axis: int
    static = ()

    @property
    def mlir(self):
        tile = ", ".join(str(t or "*") for t in self.micro_tile)
        return f"!pit.index<micro_tile = [{tile}], axis = {self.axis}>"

    @property
    def shape(self):
        """Of the data."""
        return tuple(
            d.size if i == self.axis else -(-d.size // t) if t else 1
            for i, (d, t) in enumerate(zip(self.dims, self.micro_tile)))

    def selected(self, live):
        """The elements that live micro-tiles cover."""
        for i, (d, t) in enumerate(zip(self.dims, self.micro_tile)):
            if i != self.axis:
                live = np.repeat(live, t or d.size, axis=i)
                live = np.take(live, range(d.size), axis=i)
        return live

    def lists(self, live, gaps):
        """Counts, offsets and ids of the index; `gaps` ids of room are left
        after each group."""
        ids_last = np.moveaxis(live, self.axis, -1)
        count = int(np.prod(ids_last.shape[:-1], dtype=np.int64))
        groups = ids_last.reshape(count, live.shape[self.axis])
        counts, offsets, ids = [], [], []
        for group in groups:
            offsets.append(len(ids))
            found = np.flatnonzero(group)
            counts.append(len(found))
            ids += [*found, *[0] * gaps]
        return tuple(np.array(a, dtype=np.int64) for a in (counts, offsets, ids))


@dataclass
class Argument:
    name: str
    type: TensorType | IndexType
    make: object = None  # () -> array of the type's shape


class Program:
    def __init__(self):
        self.args = []
        self.lines = []
        self.steps = []  # each computes values of one run
        self.types = {}
        self.returned = []
        self.values = {}
        self.fresh = 0
        self.tags = set()

    def name(self, stem="v"):
        self.fresh += 1
        return f"%{stem}{self.fresh}"

    def argument(self, stem, type_, make):
        name = self.name(stem)
        self.args.append(Argument(name, type_, make))
        self.types[name] = type_
        return name

    def emit(self, *lines):
        self.lines += [f"  {line}" for line in lines]

    def returns(self, name):
        self.returned.append(name)

    # -- operations --------------------------------------------------------

    def linalg(self, op, ins, outs, sizes):
        """A structured op; `sizes` are the Dims of its iteration space."""
        result = self.name("r")
        text = lambda names: [self.types[n].mlir for n in names]
        names = [result] if len(outs) == 1 else [f"{result}#{i}" for i in range(len(outs))]
        written = result if len(outs) == 1 else f"{result}:{len(outs)}"
        in_types = [self.types[n].dtype for n in ins]
        self.emit(*ref.emit(op, written, ins, outs, in_types, text(ins), text(outs)))
        self.values_of(names, op, ins, outs, sizes)
        return list(names)

    def values_of(self, names, op, ins, outs, sizes):
        """Values in the text, however it computes them, are an op's results."""
        for n, out in zip(names, outs):
            self.types[n] = self.types[out]

        def step():
            get = lambda names: [self.values[n] for n in names]
            results = ref.evaluate(op, tuple(d.size for d in sizes), get(ins), get(outs))
            self.values.update(zip(names, results))

        self.steps.append(step)

    def mark(self, value, source, selector, background, assume, rule):
        """pit.sparse; `background` is None for 0."""
        result = self.name("s")
        type_ = self.types[value]
        text = f"{result} = pit.sparse {value}"
        if selector:
            text += f" {source}({selector} : {self.types[selector].mlir})"
        if background is not None:
            text += f" background({ref.literal(background, type_.dtype)})"
        text += " assume" if assume else ""
        text += f" rule(#pit.rule<{rule}>)" if rule else ""
        self.emit(f"{text} : {type_.mlir}")
        self.types[result] = type_

        def step():
            x = self.values[value]
            if not selector:
                self.values[result] = x
                return
            chosen = selection(source, self.values[selector].v, x.v.shape)
            error = np.where(chosen, x.e, 0.0) if np.ndim(x.e) or x.e else 0.0
            self.values[result] = Val(np.where(chosen, x.v, background or 0.0), error)

        self.steps.append(step)
        return result

    def cast(self, value, static):
        """tensor.cast to a type that knows other extents."""
        old = self.types[value]
        new = TensorType(old.dtype, old.dims, static)
        if new.mlir == old.mlir:
            return value
        result = self.name("c")
        self.emit(f"{result} = tensor.cast {value} : {old.mlir} to {new.mlir}")
        self.types[result] = new
        self.steps.append(lambda: self.values.update({result: self.values[value]}))
        return result

    def rearranged(self, value, type_, rearrange):
        result = self.name("c")
        self.types[result] = type_

        def step():
            old = self.values[value]
            error = rearrange(old.e) if np.ndim(old.e) else old.e
            self.values[result] = Val(rearrange(old.v), error)

        self.steps.append(step)
        return result

    def transpose(self, value, type_, order):
        """linalg.transpose into a new tensor."""
        result = self.rearranged(value, type_, lambda array: array.transpose(order))
        empty = self.empty(type_)
        self.emit(f"{result} = linalg.transpose ins({value} : {self.types[value].mlir}) "
                  f"outs({empty} : {type_.mlir}) permutation = {order}")
        return result

    def collapse(self, value, type_, groups):
        """tensor.collapse_shape."""
        result = self.rearranged(value, type_, lambda array: array.reshape(type_.shape))
        self.emit(f"{result} = tensor.collapse_shape {value} {groups} : "
                  f"{self.types[value].mlir} into {type_.mlir}")
        return result

    def empty(self, type_):
        sizes = [self.extent_of(d) for d, s in zip(type_.dims, type_.static) if not s]
        result = self.name("e")
        self.types[result] = type_
        self.emit(f"{result} = tensor.empty({', '.join(sizes)}) : {type_.mlir}")
        return result

    def filled(self, type_, constant):
        """linalg.fill of a new tensor."""
        empty, scalar, result = self.empty(type_), self.name("k"), self.name("f")
        self.emit(
            f"{scalar} = arith.constant {ref.literal(constant, type_.dtype)}",
            f"{result} = linalg.fill ins({scalar} : {type_.dtype.mlir}) "
            f"outs({empty} : {type_.mlir}) -> {type_.mlir}",
        )
        self.types[result] = type_

        def step():
            value = np.full(type_.shape, float(constant))
            self.values[result] = Val(value, 0.0)

        self.steps.append(step)
        return result

    def extent_of(self, dim):
        """An SSA index that holds a dim's size, from some argument that has it."""
        for argument in self.args:
            if isinstance(argument.type, IndexType):
                continue
            for i, d in enumerate(argument.type.dims):
                if d is dim:
                    position, extent = self.name("i"), self.name("d")
                    self.emit(
                        f"{position} = arith.constant {i} : index",
                        f"{extent} = tensor.dim {argument.name}, {position} : "
                        f"{argument.type.mlir}",
                    )
                    return extent
        raise LookupError("no argument has this dim")

    def has_extent(self, dim):
        return any(
            d is dim for a in self.args if isinstance(a.type, TensorType) for d in a.type.dims)

    # -- the whole ---------------------------------------------------------

    def text(self, name="f"):
        arguments = ", ".join(f"{a.name}: {a.type.mlir}" for a in self.args)
        types = ", ".join(self.types[n].mlir for n in self.returned)
        return "\n".join([
            f"func.func @{name}({arguments}) -> ({types}) {{",
            *self.lines,
            f"  return {', '.join(self.returned)} : {types}",
            "}",
            "",
        ])

    def draw_data(self):
        """Makes the arguments of one run: a list of stored arrays (for an
        index, of its live micro-tiles)."""
        self.values = {}
        stored = []
        for argument in self.args:
            if isinstance(argument.type, IndexType):
                live = argument.make()
                self.values[argument.name] = Val(argument.type.selected(live), 0.0)
                stored.append(live)
                continue
            dtype = argument.type.dtype
            drawn = np.reshape(argument.make(), argument.type.shape)
            array = np.asarray(dtype.store(drawn))
            self.values[argument.name] = Val(np.asarray(dtype.load(array)), 0.0)
            stored.append(array)
        return stored

    def expected(self):
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            for step in self.steps:
                step()
        return [(self.types[n].dtype, self.values[n]) for n in self.returned]


def selection(source, data, shape):
    """Which elements of a tensor are selected."""
    if source in ("mask", "index"):
        return data != 0
    if source == "lengths":
        position = np.arange(shape[data.ndim])
        chosen = position < data[..., None]
        return np.broadcast_to(
            chosen.reshape(chosen.shape + (1,) * (len(shape) - chosen.ndim)), shape
        )
    assert source == "routing"
    return np.any(data[:, :, None] == np.arange(shape[1]), axis=1).reshape(shape)
