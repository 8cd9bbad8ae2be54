"""Element types: how MLIR, DLPack and numpy call them, and how they round."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class DType:
    mlir: str
    storage: type  # what numpy keeps; it has no bf16 and no floats of 8 bits
    code: int  # DLPack's type code
    bits: int
    precision: int = 0  # significand bits of a float, with the hidden one
    smallest: int = 0  # exponent of a float's smallest subnormal

    @property
    def viewed(self):
        """Is it kept as integers that pit.view() makes floats of?"""
        return self.is_float and np.issubdtype(self.storage, np.integer)

    @property
    def is_float(self):
        return self.precision > 0

    @property
    def unit(self):
        """Largest relative rounding error."""
        return 2.0**-self.precision if self.is_float else 0.0

    @property
    def floor(self):
        """Largest absolute rounding error among the subnormals."""
        return 2.0 ** (self.smallest - 1) if self.is_float else 0.0

    @property
    def smallest_normal(self):
        return 2.0 ** (self.smallest + self.precision - 1) if self.is_float else 0.0

    @property
    def exact_limit(self):
        """Integers up to this magnitude are represented exactly."""
        return 2.0**self.precision if self.is_float else 2.0 ** (self.bits - 1)

    def store(self, values):
        """float64 values as this type's storage, rounded to nearest even."""
        values = np.asarray(values, dtype=np.float64)
        if self.mlir == "bf16":
            return round_to_bf16(values)
        if self.mlir in F8_LAYOUTS:
            return round_to_f8(self.mlir, values)
        if self.is_float:
            with np.errstate(over="ignore"):
                return values.astype(self.storage)
        return self.wrap(values).astype(self.storage)

    def load(self, stored):
        """Storage as float64."""
        if self.mlir == "bf16":
            wide = stored.astype(np.uint32) << np.uint32(16)
            return wide.view(np.float32).astype(np.float64)
        if self.mlir in F8_LAYOUTS:
            return F8_VALUES[self.mlir][stored]
        return stored.astype(np.float64)

    def wrap(self, values):
        """Integers modulo 2^bits, as two's complement has it. float64 has no
        room to wrap 64 bits, and what is drawn never gets there."""
        if self.is_float or self.mlir in ("i1", "i64"):
            return values
        span, half = 2.0**self.bits, 2.0 ** (self.bits - 1)
        return np.mod(values + half, span) - half

    def poison(self):
        """What a result buffer is filled with before a call."""
        if self.mlir == "bf16":
            return 0x7FC1
        if self.viewed:
            return 0x7F
        return np.nan if self.is_float else 0x5A % 2 ** (self.bits - 1)


def round_to_bf16(values):
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    bits = single.view(np.uint32)
    # Nearest even; f32's own rounding before it cannot matter for the data
    # drawn here, which has at most 24 significand bits.
    rounded = (bits + (((bits >> np.uint32(16)) & np.uint32(1)) + np.uint32(0x7FFF))) >> np.uint32(16)
    return np.where(np.isnan(single), np.uint32(0x7FC0), rounded).astype(np.uint16)


# Of 8-bit floats: fraction bits, the smallest normal exponent, the smallest bits that
# are not finite, and what they are.
F8_LAYOUTS = {"f8E4M3FN": (3, -6, 0x7F, np.nan), "f8E5M2": (2, -14, 0x7C, np.inf)}


def f8_values(fraction, least, special, overflow):
    """All 256."""
    bits = np.arange(128)
    exponent = np.maximum(bits >> fraction, 1)
    size = (bits % (1 << fraction)) + np.where(bits >> fraction > 0, 1 << fraction, 0)
    values = np.ldexp(size.astype(np.float64), exponent - 1 + least - fraction)
    values[special:] = np.nan
    values[special] = overflow
    return np.concatenate([values, -values])


F8_VALUES = {name: f8_values(*layout) for name, layout in F8_LAYOUTS.items()}


def round_to_f8(name, values):
    """To the nearest, of two to the even one. Values are of any float type of numpy."""
    fraction, least, special, _ = F8_LAYOUTS[name]
    with np.errstate(all="ignore"):
        exponent = np.frexp(np.abs(values))[1].astype(np.int64) - 1
        exponent = np.where(np.isfinite(values) & (values != 0), np.maximum(exponent, least), least)
        place = np.ldexp(np.ones_like(values), (exponent - fraction).astype(np.int32))
        units = np.rint(np.abs(values) / place)
        bits = np.ldexp(exponent - least, fraction) + units
    bits = np.where(np.isnan(values), 0x7F, np.where(bits < special, bits, special))
    return (bits.astype(np.uint8) | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)


F64 = DType("f64", np.float64, 2, 64, 53, -1074)
F32 = DType("f32", np.float32, 2, 32, 24, -149)
# What tensor cores may take f32 as, stored as f32. Of its 11 bits one is lost where
# factors are cut and not rounded (sm_90a).
TF32 = DType("tf32", np.float32, 2, 32, 10, -135)
F16 = DType("f16", np.float16, 2, 16, 11, -24)
BF16 = DType("bf16", np.uint16, 4, 16, 8, -133)
E4M3 = DType("f8E4M3FN", np.uint8, 10, 8, 4, -9)
E5M2 = DType("f8E5M2", np.uint8, 12, 8, 3, -16)
I1 = DType("i1", np.bool_, 6, 8)
I8 = DType("i8", np.int8, 0, 8)
I16 = DType("i16", np.int16, 0, 16)
I32 = DType("i32", np.int32, 0, 32)
I64 = DType("i64", np.int64, 0, 64)
