# The types of what `import pit` gives; tools/check.sh compares it with the modules that
# define it (test/Python/typed.py). A stub, because some of it is made by C or by ctypes.

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from . import jax as jax
from . import tile as tile
from . import torch as torch
from .tile import jit as jit

__version__: str

# An array of a framework; results are arrays of the same framework.
_Array = TypeVar("_Array")
# Anything that is an array: of a framework, a pit.View, a pit.Constant's.
_AnyArray: TypeAlias = Any
# An element type, as a framework has it or by MLIR's name.
_Type: TypeAlias = Any
_Activation: TypeAlias = Literal["relu", "gelu", "silu", "sigmoid", "tanh"]
_Sparse: TypeAlias = str | int | Sequence[str | int] | None
_Sizes: TypeAlias = Sequence[int]
_MicroTile: TypeAlias = Sequence[int]  # 0: a whole dimension
_Device: TypeAlias = str | tuple[int, int]
_Stream: TypeAlias = Any  # a number, or a stream of a framework
_Source: TypeAlias = Literal[
    "values", "mask", "mask_bits", "lengths", "routing", "blocks", "row_lengths"]
_Path: TypeAlias = str | os.PathLike[str]
_Samples: TypeAlias = Mapping[str, _AnyArray | _Path | Sequence[_AnyArray | _Path]]
_Emit: TypeAlias = Literal["mlir", "mlir-llvm", "llvm", "obj", "so", "header", "ptx", "cubin"]
_Level: TypeAlias = Literal[1, 3, "mlir-llvm", "llvm", "ptx"]

# Ops

def einsum(
    equation: str, *operands: _Array, sparse: _Sparse = None, mask: _AnyArray = None,
    lengths: _AnyArray = None, routing: _AnyArray = None, index: Index | None = None,
    assume: bool = False, micro_tile: _MicroTile | None = None, axis: int | None = None,
    live_fraction: float | None = None, dtype: _Type = None, dynamic: str | bool | None = None,
    packed: bool = False, sparse_grad: bool = False, out: _AnyArray = None) -> _Array: ...
def matmul(
    a: _Array, b: _AnyArray, *, sparse: _Sparse = "a", mask: _AnyArray = None,
    lengths: _AnyArray = None, routing: _AnyArray = None, index: Index | None = None,
    assume: bool = False, micro_tile: _MicroTile | None = None, axis: int | None = None,
    live_fraction: float | None = None, dtype: _Type = None, dynamic: str | bool | None = None,
    packed: bool = False, sparse_grad: bool = False, out: _AnyArray = None) -> _Array: ...
def masked_matmul(
    a: _Array, b: _AnyArray, mask: _AnyArray, *, dtype: _Type = None,
    dynamic: str | bool | None = None, out: _AnyArray = None) -> _Array: ...
def linear(
    x: _Array, weight: _AnyArray, bias: _AnyArray = None, *,
    sparse: Literal["x", "weight", "out"] | None = "x", activation: _Activation | None = None,
    mask: _AnyArray = None, lengths: _AnyArray = None, index: Index | None = None,
    assume: bool = False, micro_tile: _MicroTile | None = None, axis: int | None = None,
    live_fraction: float | None = None, dtype: _Type = None, dynamic: str | bool | None = None,
    packed: bool = False, sparse_grad: bool = False, out: _AnyArray = None) -> _Array: ...
def padded_linear(
    x: _Array, lengths: _AnyArray, weight: _AnyArray, bias: _AnyArray = None, *,
    activation: _Activation | None = None, dtype: _Type = None,
    out: _AnyArray = None) -> _Array: ...
def padded_mlp(
    x: _Array, lengths: _AnyArray, w1: _AnyArray, b1: _AnyArray, w2: _AnyArray, b2: _AnyArray,
    *, activation: _Activation | None = "gelu", out: _AnyArray = None) -> _Array: ...
def masked_mlp(
    x: _Array, mask: _AnyArray, w1: _AnyArray, b1: _AnyArray, w2: _AnyArray, b2: _AnyArray,
    *, activation: _Activation | None = "relu", out: _AnyArray = None) -> _Array: ...
def scaled_matmul(
    a: _Array, b: _AnyArray, scale_a: _AnyArray, scale_b: _AnyArray, bias: _AnyArray = None, *,
    sparse: Any = None, activation: _Activation | None = None, dtype: _Type = None,
    dynamic: str | bool | None = None, out: _AnyArray = None) -> _Array: ...
class Compressed:
    words: Any
    values: Any
    shape: tuple[int, int]
    def __init__(self, words: Any, values: Any, shape: tuple[int, int]) -> None: ...
    @property
    def nbytes(self) -> int: ...
    def dense(self) -> Any: ...
def compress(weight: _AnyArray, mask: _AnyArray = None) -> Compressed: ...
def compressed_linear(
    x: _Array, weight: Compressed, bias: _AnyArray = None, *,
    activation: _Activation | None = None, dtype: _Type = None, out: _AnyArray = None) -> _Array: ...
def moe(
    x: _Array, router_weights: _AnyArray, experts: _AnyArray, w_gate: _AnyArray,
    w_up: _AnyArray, w_down: _AnyArray, *, activation: _Activation = "silu",
    out: _AnyArray = None) -> _Array: ...
def attention(
    q: _Array, k: _AnyArray, v: _AnyArray, *, mask: _AnyArray = None, blocks: Any = None,
    block_size: int | tuple[int, int] = 64, index: Index | None = None, bias: _AnyArray = None,
    lengths: _AnyArray = None, cu_seqlens: _AnyArray | tuple[_AnyArray, _AnyArray] = None,
    causal: bool = False, align: Literal["start", "end"] = "start",
    window: int | None = None, sinks: int | None = None, sink_logits: _AnyArray = None,
    alibi: _AnyArray = None, scale: float | None = None, softcap: float | None = None,
    q_scale: _AnyArray = None, k_scale: _AnyArray = None, v_scale: _AnyArray = None,
    order: _AnyArray | tuple[_AnyArray, _AnyArray] = None, return_lse: bool = False,
    dtype: _Type = None, out: _AnyArray = None) -> Any: ...
def grid_order(
    shape: Sequence[int], axes: Sequence[int], *, before: int = 0, after: int = 0,
    like: _AnyArray = None) -> Any: ...
def block_index(
    q: _Array, k: _AnyArray, *, block_size: int | tuple[int, int] = 64, top_k: int | None = None,
    top_p: float | None = None, vertical: int | None = None, slash: int | None = None,
    last_queries: int = 64, sinks: int | None = None, window: int | None = None,
    segments: int | tuple[int, int] | None = None, lines: tuple[int, int] | None = None,
    order: _AnyArray | tuple[_AnyArray, _AnyArray] = None, causal: bool = False, align: Literal["start", "end"] = "start",
    scale: float | None = None) -> _Array: ...
def page_index(
    q: _Array, lows: _AnyArray, highs: _AnyArray, page_table: _Array, lengths: _Array, *,
    page_size: int, top_k: int, sinks: int | None = None, window: int | None = None,
    scale: float | None = None) -> tuple[_Array, _Array]: ...
def paged_attention(
    q: _Array, k_cache: _AnyArray, v_cache: _AnyArray, page_table: _AnyArray, lengths: _AnyArray,
    *, causal: bool = True, window: int | None = None, scale: float | None = None,
    softcap: float | None = None, k_scale: _AnyArray = None, v_scale: _AnyArray = None,
    splits: int | None = None, return_lse: bool = False, out: _AnyArray = None) -> Any: ...
def conv2d(
    x: _Array, weight: _AnyArray, bias: _AnyArray = None, *, stride: int | _Sizes = 1,
    padding: int | _Sizes = 0, dilation: int | _Sizes = 1, groups: int = 1,
    layout: Literal["nchw", "nhwc"] = "nchw",
    sparse: Literal["x", "weight", "out"] | None = "x",
    activation: _Activation | None = None, mask: _AnyArray = None, assume: bool = False,
    micro_tile: _MicroTile | None = None, axis: int | None = None,
    live_fraction: float | None = None, out: _AnyArray = None) -> _Array: ...

# Inspecting

def explain(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation: ...

class Explanation:
    what: str
    remarks: list[Any]
    variants: list[Any]
    candidates: list[Any]
    def show(self, level: _Level = 3) -> str: ...
    def _repr_html_(self) -> str: ...

def live_fractions(
    data: _AnyArray, candidates: Sequence[Any] | None = None, source: _Source = "values",
    shape: _Sizes | None = None, background: float | None = None,
    context: Context | None = None, stream: _Stream = None) -> LiveFractions: ...

class LiveFractions:
    shape: tuple[int, ...]
    candidates: list[Any]
    def __len__(self) -> int: ...
    def __getitem__(self, i: int) -> Any: ...
    def columns(self) -> dict[str, list[Any]]: ...
    def plot(self, axes: Any = None) -> Any: ...
    def _repr_html_(self) -> str: ...

# Programs

class Error(RuntimeError):
    message: str
    status: int
    def __init__(self, message: str, status: int = 0) -> None: ...

@dataclass(frozen=True)
class Signature:
    kind: str
    type: str | None
    shape: tuple[int, ...]
    axis: int | None = None
    micro_tile: tuple[int, ...] | None = None

class Entry:
    name: str
    arguments: list[Signature]
    results: list[Signature]
    workspace: int
    def __call__(
        self, *args: Any, out: Any = None, context: Context | None = None,
        stream: _Stream = None) -> Any: ...
    def choices(self, context: Context | None = None) -> list[Any]: ...

class Program:
    @property
    def entries(self) -> list[str]: ...
    def __getitem__(self, name: str) -> Entry: ...
    def __getattr__(self, name: str) -> Entry: ...
    def show(self, level: _Level = 3) -> str: ...

def load(path: _Path) -> Program: ...
def compile(text: str | bytes, **options: Any) -> Program: ...

class Compiler:
    def __init__(self) -> None: ...
    @property
    def diagnostics(self) -> str: ...
    def compile(self, text: str | bytes, name: str = "program.mlir", **options: Any) -> Program: ...
    def artifact(
        self, text: str | bytes, emit: _Emit, name: str = "program.mlir",
        **options: Any) -> bytes: ...
    def write(
        self, text: str | bytes, emit: _Emit, path: _Path, name: str = "program.mlir",
        **options: Any) -> None: ...

# Underneath

class Context:
    def __init__(
        self, device: _Device = "cpu", threads: int = 0, kept_bytes: int = 0,
        deterministic: bool = False) -> None: ...
    device_type: int
    device_id: int
    @property
    def threads(self) -> int: ...
    def kept(self) -> Any: ...
    def record(self, mode: Literal["off", "on", "waste"] = "on") -> None: ...
    def recorded(self) -> list[Any]: ...
    def write_profile(self, path: _Path) -> None: ...

def default_context(device: _Device = "cpu") -> Context: ...

class Constant:
    context: Context
    def __init__(self, array: _AnyArray, context: Context | None = None) -> None: ...
    def changed(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Constant: ...
    def __exit__(self, *_: Any) -> None: ...

def constant(array: _AnyArray, context: Context | None = None) -> Constant: ...

class Index:
    context: Context
    version: int
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def micro_tile(self) -> tuple[int, ...]: ...
    @property
    def axis(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def groups(self) -> int: ...
    @property
    def extent(self) -> int: ...
    @property
    def total(self) -> int: ...
    @property
    def max_count(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    @property
    def counts(self) -> Any: ...
    @property
    def offsets(self) -> Any: ...
    @property
    def ids(self) -> Any: ...
    @property
    def origin(self) -> Any: ...
    def rebuild(self, data: _AnyArray, stream: _Stream = None) -> Index: ...

def build_index(
    data: _AnyArray, micro_tile: _MicroTile, axis: int, source: _Source = "values",
    shape: _Sizes | None = None, background: float | None = None, step: _Sizes | None = None,
    unordered: bool = False, dense: bool = False, chunk_size: int = 0, capacity: int = 0,
    context: Context | None = None, stream: _Stream = None) -> Index: ...
def import_index(
    shape: _Sizes, micro_tile: _MicroTile, axis: int, counts: _AnyArray, offsets: _AnyArray,
    ids: _AnyArray, origin: _AnyArray = None, step: _Sizes | None = None,
    unordered: bool = False, context: Context | None = None) -> Index: ...
def view(array: _AnyArray, type_name: str) -> Any: ...
