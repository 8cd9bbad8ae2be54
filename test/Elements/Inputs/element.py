"""Element types: how numpy keeps them, which values tests draw, and when a
result is right."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from dtypes import F8_LAYOUTS, F8_VALUES, round_to_f8


@dataclass(frozen=True)
class Element:
    name: str  # MLIR's
    bits: int
    storage: type  # what numpy keeps in an array that a program takes
    precision: int = 0  # significand bits of a float, with the hidden one
    smallest: int = 0  # exponent of a float's smallest subnormal
    largest: int = 0  # a float is less than two to this
    memory: str = ""  # the type that a program takes and returns it as

    @property
    def is_float(self):
        return self.precision > 0

    @property
    def viewed(self):
        """Is it kept as integers that pit.view() makes floats of?"""
        return self.is_float and np.issubdtype(self.storage, np.integer)

    @property
    def has_infinity(self):
        return self.name != "f8E4M3FN"

    @property
    def top(self):
        """The largest finite float."""
        if not self.has_infinity:
            return np.longdouble(448)
        return np.ldexp(np.longdouble(2) - np.ldexp(np.longdouble(1), 1 - self.precision),
                        self.largest - 1)

    @property
    def carried(self):
        return self.memory or self.name

    # Floats: values are float128 of numpy, which holds every f64.

    def load(self, stored):
        """An array of a program as values: Python's integers or long doubles."""
        if not self.is_float:
            if self.name == "i1":
                return [int(v) for v in stored.ravel()]
            return [self.wrap(int(v)) for v in stored.ravel()]
        if self.name in F8_LAYOUTS:
            return F8_VALUES[self.name][stored.ravel()].astype(np.longdouble)
        if self.name == "bf16":
            stored = (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return stored.ravel().astype(np.longdouble)

    def store(self, values):
        """Values that the type has, as an array of a program."""
        if not self.is_float:
            return np.array(values, dtype=self.storage)
        values = self.round(np.asarray(values, dtype=np.longdouble))
        if self.name in F8_LAYOUTS:
            return round_to_f8(self.name, values)
        if self.name == "bf16":
            return (values.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        return values.astype(self.storage)

    def place(self, values):
        """The unit in the last place of each value."""
        with np.errstate(all="ignore"):
            exponent = np.frexp(np.abs(values))[1].astype(np.float64)
        exponent = np.where(np.isfinite(values) & (values != 0), exponent, self.smallest)
        exponent = np.maximum(exponent - self.precision, self.smallest)
        return np.ldexp(np.longdouble(1), exponent.astype(np.int32))

    def round(self, values):
        """To the nearest value of the type, ties to even."""
        with np.errstate(all="ignore"):
            place = self.place(values)
            rounded = np.where(np.isfinite(values), np.rint(values / place) * place, values)
            rounded = np.where(rounded == 0, np.copysign(0, values), rounded)
            too_large = np.abs(rounded) > self.top
        beyond = np.copysign(np.inf, rounded) if self.has_infinity else np.nan
        return np.where(too_large, beyond, rounded)

    def wrap(self, value):
        """An integer modulo 2^bits: signed, but for i1."""
        value &= (1 << self.bits) - 1
        if self.bits > 1 and value >> (self.bits - 1):
            value -= 1 << self.bits
        return value

    def unsigned(self, value):
        return value & ((1 << self.bits) - 1)

    @property
    def least(self):
        return self.wrap(1 << (self.bits - 1)) if self.bits > 1 else 0

    @property
    def greatest(self):
        return self.unsigned(-1) >> (1 if self.bits > 1 else 0)

    @cached_property
    def special(self):
        """Values where an op may go wrong."""
        if not self.is_float:
            values = {0, 1, 2, 3, 7, 31, -1, -2, -3, -7, self.least, self.least + 1,
                      self.greatest, self.greatest - 1, self.greatest // 3}
            return sorted({self.wrap(v) for v in values})
        tiny = math.ldexp(1.0, self.smallest)
        normal = math.ldexp(1.0, self.smallest + self.precision - 1)
        next_ = 1 + math.ldexp(1.0, 1 - self.precision)
        positive = [0.0, 0.25, 0.5, 1.0, next_, 1.5, 2.5, 3.0, 100.25, tiny, 5 * tiny, normal,
                    self.top]
        both = [np.longdouble(s) * v for v in positive for s in (1, -1)]
        beyond = (np.inf, -np.inf, np.nan) if self.has_infinity else (np.nan,)
        return list(self.round(np.array(both))) + [np.longdouble(v) for v in beyond]

    def draw(self, rng, count):
        """Values of all magnitudes, most of them moderate."""
        if not self.is_float:
            width = rng.integers(1, self.bits + 1, size=count)
            return [self.wrap((int.from_bytes(rng.bytes(8), "little") & ((1 << int(w)) - 1)) * int(s))
                    for w, s in zip(width, rng.choice([1, -1], count))]
        if self.precision > 24:
            # Just beside the middle of two numbers of narrower types.
            count -= 12
            p = np.repeat([8.0, 11.0, 24.0], 4)
            ties = 1 + np.exp2(-p) * np.tile([1, 1, 3, 3], 3) + np.tile([1, -1], 6) * 2.0**-44
            return np.concatenate([ties.astype(np.longdouble), self.draw_any(rng, count)])
        return self.draw_any(rng, count)

    def draw_any(self, rng, count):
        wide = np.ldexp(np.longdouble(1), rng.integers(self.smallest, self.largest, count))
        mild = np.where(rng.random(count) < 0.2, wide, np.exp2(rng.normal(scale=3, size=count)))
        return self.round(rng.normal(size=count).astype(np.longdouble) * mild)


def _float(name, storage, bits, precision, largest, memory=""):
    return Element(name, bits, storage, precision, 3 - largest - precision, largest, memory)


F64 = _float("f64", np.float64, 64, 53, 1024)
F32 = _float("f32", np.float32, 32, 24, 128)
F16 = _float("f16", np.float16, 16, 11, 16)
BF16 = _float("bf16", np.uint16, 16, 8, 128)
E4M3 = Element("f8E4M3FN", 8, np.uint8, 4, -9, 9)
E5M2 = _float("f8E5M2", np.uint8, 8, 3, 16)
I1 = Element("i1", 1, np.bool_)
I8 = Element("i8", 8, np.int8)
I16 = Element("i16", 16, np.int16)
I32 = Element("i32", 32, np.int32)
I64 = Element("i64", 64, np.int64)
INDEX = Element("index", 64, np.int64)
# A program takes these as a type with room for them.
I4 = Element("i4", 4, np.int8, memory="i8")
I24 = Element("i24", 24, np.int32, memory="i32")
I48 = Element("i48", 48, np.int64, memory="i64")

FLOATS = (F64, F32, F16, BF16, E4M3, E5M2)
INTS = (I1, I4, I8, I16, I24, I32, I48, I64, INDEX)
