"""Types of the language: of elements, of tensors, of indices."""

import math
import struct
from dataclasses import dataclass

from .._library import MAX_RANK, Error


@dataclass(frozen=True)
class Type:
    """The type of an element. As the annotation of a parameter it stands for a number,
    with sizes for a tensor: `tile.f32`, `tile.f32["M", 64]`. A size is a number, or the
    name of one that is known when the function is called."""

    name: str  # MLIR's
    bits: int

    @property
    def is_float(self):
        return self.name in FLOATS

    @property
    def accumulator(self):
        """The type in which sums are taken."""
        if self.is_stored:
            return f32
        return {"f16": f32, "bf16": f32, "i8": i32, "i16": i32}.get(self.name, self)

    @property
    def is_stored(self):
        """Whether it is a float of 8 bits, which casts and products take alone."""
        return self.name in LARGEST

    def __getitem__(self, sizes):
        return TensorType(self, sizes_of(sizes))

    def __repr__(self):
        return f"tile.{self.name}"

    __str__ = __repr__

    def constant(self, value):
        """The text of a constant of this type, or None if it cannot be one."""
        if isinstance(value, bool):
            if self.name == "i1":
                return "true" if value else "false"
            value = int(value)
        if not self.is_float:
            bits = min(self.bits, 64)
            fits = -(1 << bits - 1) <= value < 1 << bits - 1 if isinstance(value, int) else False
            return str(value) if fits and self.name != "i1" else None
        try:
            value = float(value)
            data = struct.pack({"f64": ">d", "f16": ">e"}.get(self.name, ">f"), value)
        except OverflowError:
            return None
        if self.is_stored:
            return f"{value:.17e}" if abs(value) <= LARGEST[self.name] else None
        if math.isinf(value) or math.isnan(value):
            return f"0x{data[:self.bits // 8].hex().upper()}"
        if self.name == "bf16" and abs(value) >= LEAST_INFINITE_BF16:
            return None
        short = f"{value:.6e}"
        return short if float(short) == value else f"{value:.17e}"


LEAST_INFINITE_BF16 = 2.0**128 - 2.0**119  # it and what is larger round to infinity
LARGEST = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0}  # of floats of 8 bits
FLOATS = ("f64", "f32", "f16", "bf16", *LARGEST)
f64, f32, f16, bf16 = Type("f64", 64), Type("f32", 32), Type("f16", 16), Type("bf16", 16)
f8E4M3FN, f8E5M2 = (Type(name, 8) for name in LARGEST)
i64, i32, i16, i8, i1 = (Type(f"i{bits}", bits) for bits in (64, 32, 16, 8, 1))
index_ = Type("index", 64)  # of sizes and coordinates
ELEMENTS = {t.name: t for t in (f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, i1)}


def sizes_of(sizes):
    sizes = sizes if isinstance(sizes, tuple) else (sizes,)
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, (int, str)):
            raise Error(f"a size of a tensor is a number or a name, not {size!r}")
        if isinstance(size, int) and size < 0:
            raise Error(f"a size of a tensor is 0 or more, not {size}")
        if isinstance(size, str) and not size.isidentifier():
            raise Error(f"the name of a size must be an identifier, not {size!r}")
    if len(sizes) > MAX_RANK:
        raise Error(f"a tensor of rank {len(sizes)}; there are at most {MAX_RANK} dimensions")
    return sizes


@dataclass(frozen=True)
class TensorType:
    """The type of a tensor; `element` is None where the array of the call decides."""

    element: Type | None
    sizes: tuple

    def __repr__(self):
        element = "tile.tensor" if self.element is None else repr(self.element)
        return f"{element}[{', '.join(map(repr, self.sizes))}]"


class AnyElement:
    """A tensor of whatever element type the array of the call has:
    `tile.tensor["M", "K"]`. `x.dtype` is that type."""

    def __getitem__(self, sizes):
        return TensorType(None, sizes_of(sizes))

    def __repr__(self):
        return "tile.tensor"


tensor = AnyElement()


@dataclass(frozen=True)
class IndexType:
    """The type of an index: see `tile.index`."""

    micro_tile: tuple  # 0: the whole dimension
    axis: int

    @property
    def group_dims(self):
        """The dimensions that number the groups."""
        return [d for d, t in enumerate(self.micro_tile) if d != self.axis and t]

    @property
    def mlir(self):
        tile = ", ".join(str(t or "*") for t in self.micro_tile)
        return f"!pit.index<micro_tile = [{tile}], axis = {self.axis}>"

    def __repr__(self):
        return f"tile.index(micro_tile={list(self.micro_tile)}, axis={self.axis})"


def index(micro_tile, axis):
    """The type of an index (`pit.Index`), as the annotation of a parameter.

    `micro_tile` has the extent of a micro-tile along each dimension, 0 for the
    whole dimension; along `axis`, where micro-tiles are gathered, it is 1.

        rows: tile.index(micro_tile=[1, 0], axis=0)
    """
    micro_tile = tuple(micro_tile)
    if not 0 < len(micro_tile) <= MAX_RANK:
        raise Error(f"a micro-tile of {len(micro_tile)} dimensions; there are 1 to {MAX_RANK}")
    for extent in micro_tile:
        if isinstance(extent, bool) or not isinstance(extent, int) or extent < 0:
            raise Error(f"a micro-tile extends a positive number of elements, or 0 for the whole "
                        f"dimension, not {extent!r}")
    if isinstance(axis, bool) or not isinstance(axis, int) or not 0 <= axis < len(micro_tile):
        raise Error(f"axis {axis!r} is no dimension of a micro-tile of {len(micro_tile)}")
    if micro_tile[axis] != 1:
        raise Error(f"a micro-tile is 1 long along its axis; along axis {axis} this one is "
                    f"{micro_tile[axis]!r}")
    return IndexType(micro_tile, axis)
