"""Element types: DLPack's codes and bits, and what others call them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
    name: str  # MLIR's
    code: int  # DLPack's
    bits: int
    array: str  # numpy's, torch's and CuPy's
    pack: str  # struct's

    @property
    def size(self):
        return self.bits // 8


TYPES = (
    Type("f64", 2, 64, "float64", "d"), Type("f32", 2, 32, "float32", "f"),
    Type("f16", 2, 16, "float16", "e"), Type("bf16", 4, 16, "bfloat16", ""),
    Type("f8E4M3FN", 10, 8, "float8_e4m3fn", ""), Type("f8E5M2", 12, 8, "float8_e5m2", ""),
    Type("i1", 6, 8, "bool", "?"), Type("i8", 0, 8, "int8", "b"), Type("i16", 0, 16, "int16", "h"),
    Type("i32", 0, 32, "int32", "i"), Type("i64", 0, 64, "int64", "q"),
    Type("u8", 1, 8, "uint8", "B"), Type("u16", 1, 16, "uint16", "H"),
    Type("u32", 1, 32, "uint32", "I"), Type("u64", 1, 64, "uint64", "Q"),
)
BY_NAME = {t.name: t for t in TYPES}
BY_CODE = {(t.code, t.bits): t for t in TYPES}
# As in numpy's __array_interface__, and those that numpy lacks and ml_dtypes adds.
KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}
BY_TYPESTR = {f"{KINDS[t.code]}{t.size}": t for t in TYPES if t.code in KINDS}
ADDED = {t.array: t for t in TYPES if t.code not in KINDS}
