"""The C interfaces of pit's runtime and compiler (pit-runtime/Runtime.h and
pit-c/Compile.h) by ctypes, which is part of every Python. Calls of programs are
_call.py's.
"""

import ctypes
import functools
import importlib.util
import operator
import os
from ctypes import (
    POINTER, c_bool, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint16, c_uint32, c_uint64,
    c_uint8, c_void_p)
from pathlib import Path

MAX_RANK = 8
CPU, CUDA = 1, 2  # DLPack's device types


class Error(RuntimeError):
    """An error of the runtime or the compiler; `status` is the runtime's code, 0
    where there is none."""

    def __init__(self, message, status=0):
        super().__init__(message)
        self.message = message
        self.status = status


class Handle:
    """Something that lives in this process alone."""

    _advice = "make it anew in each process"

    def __reduce_ex__(self, protocol):
        raise TypeError(f"a pit.{type(self).__name__} can be neither pickled nor copied, because "
                        f"it is memory of this process; {self._advice}")


def c_text(value, what):
    """A string for C."""
    if not isinstance(value, str):
        raise Error(f"{what} must be a string, not a {type(value).__name__}")
    return terminated(value.encode(errors="replace"), what)


def c_path(value, what):
    """The name of a file for C."""
    try:
        return terminated(os.fsencode(value), what)
    except TypeError:
        raise Error(f"{what} must be a path, not a {type(value).__name__}") from None


def integer(value, what, bits=64):
    """An integer of C, which ctypes would cut to its size without a word."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Error(f"{what} must be an integer, not {value!r}") from None
    if not -2**(bits - 1) <= number < 2**(bits - 1):
        raise Error(f"{what} is {number}, which is no integer of {bits} bits")
    return number


def terminated(data, what):
    if b"\0" in data:
        raise Error(f"{what} has a NUL character: {data!r}")
    return data


# --------------------------------------------------------------------------
# Structures
# --------------------------------------------------------------------------


class Tensor(ctypes.Structure):
    """A DLTensor, its device and element type spread out."""

    _fields_ = [
        ("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
        ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", c_void_p),
        ("strides", c_void_p), ("byte_offset", c_uint64),
    ]


class Value(ctypes.Structure):
    """A pit_value that is a tensor."""

    _fields_ = [("kind", c_int32), ("tensor", POINTER(Tensor))]


class ContextOptions(ctypes.Structure):
    """A pit_context_options."""

    _fields_ = [
        ("threads", c_int32), ("device_type", c_int32), ("device_id", c_int32),
        ("cuda_library", c_char_p), ("cache_folder", c_char_p), ("message", c_char_p),
        ("message_size", c_size_t), ("kept_bytes", c_int64), ("deterministic", c_int32),
    ]


class DeviceInfo(ctypes.Structure):
    """A pit_device_info."""

    _fields_ = [
        ("device_id", c_int32), ("capability", c_int32), ("multiprocessors", c_int32),
        ("name", ctypes.c_char * 96),
    ]


class BuildStats(ctypes.Structure):
    """A pit_build_stats."""

    _fields_ = [
        ("slot", c_int64), ("source", c_int32), ("axis", c_int32), ("groups", c_int64),
        ("micro_tiles", c_int64), ("live", c_int64), ("max_count", c_int64),
        ("build_ns", c_int64), ("live_fraction", c_double), ("waste", c_double),
    ]


class KeptStats(ctypes.Structure):
    """A pit_kept_stats."""

    _fields_ = [
        (name, c_int64)
        for name in ("constants", "pieces", "bytes", "made", "reused", "refused")]

    def __repr__(self):
        listed = ", ".join(f"{name}={getattr(self, name)}" for name, _ in self._fields_)
        return f"<pit.KeptStats {listed}>"


class BitmapStruct(ctypes.Structure):
    """A pit_bitmap."""

    _fields_ = [
        ("words", c_void_p), ("rows", c_int64), ("row_words", c_int64), ("rank", c_int32),
        ("source", c_int32), ("shape", c_int64 * MAX_RANK), ("on_device", c_int32),
    ]


class LiveFractionStruct(ctypes.Structure):
    """A pit_live_fraction."""

    _fields_ = [
        ("groups", c_int64), ("micro_tiles", c_int64), ("live", c_int64), ("max_count", c_int64),
        ("live_fraction", c_double),
    ]


class ChoiceStruct(ctypes.Structure):
    """A pit_choice."""

    _fields_ = [
        ("mark", c_int32), ("rank", c_int32), ("shape", c_int64 * MAX_RANK), ("calls", c_int64),
        ("scans", c_int64), ("variants", c_int32), ("variant", c_int32), ("axis", c_int32),
        ("micro_tile", c_int64 * MAX_RANK), ("cost", c_double), ("live_fraction", c_double),
    ]


class ArgInfo(ctypes.Structure):
    """A pit_arg_info."""

    _fields_ = [
        ("kind", c_int32), ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
        ("rank", c_int32), ("dims", c_int64 * MAX_RANK), ("axis", c_int32),
        ("micro_tile", c_int64 * MAX_RANK), ("step", c_int64 * MAX_RANK),
    ]


class IndexStruct(ctypes.Structure):
    """A pit_index."""

    _fields_ = [
        ("tag", c_uint64), ("counts", c_void_p), ("offsets", c_void_p), ("ids", c_void_p),
        ("origin", c_void_p), ("chunks", c_void_p), ("groups", c_int64), ("extent", c_int64),
        ("total", c_int64), ("max_count", c_int64), ("capacity", c_int64), ("num_chunks", c_int64),
        ("chunk_size", c_int64), ("rank", c_int32), ("axis", c_int32),
        ("shape", c_int64 * MAX_RANK), ("micro_tile", c_int64 * MAX_RANK),
        ("step", c_int64 * MAX_RANK), ("group_shape", c_int64 * MAX_RANK), ("status", c_int32),
        ("source", c_int32), ("flags", c_uint32), ("device_copy", c_uint32),
    ]


class IndexSpec(ctypes.Structure):
    """A pit_index_spec."""

    _fields_ = [
        ("rank", c_int32), ("axis", c_int32), ("shape", c_int64 * MAX_RANK),
        ("micro_tile", c_int64 * MAX_RANK), ("step", c_int64 * MAX_RANK),
        ("flags", c_uint32), ("chunk_size", c_int64), ("capacity", c_int64),
    ]


class IndexArrays(ctypes.Structure):
    """A pit_index_arrays."""

    _fields_ = [
        ("counts", c_void_p), ("offsets", c_void_p), ("ids", c_void_p), ("origin", c_void_p),
        ("chunks", c_void_p), ("groups", c_int64), ("capacity", c_int64), ("num_chunks", c_int64),
    ]


class CompileOptions(ctypes.Structure):
    """A pit_compile_options."""

    _fields_ = [
        ("struct_size", c_size_t), ("target", c_char_p), ("cpu", c_char_p),
        ("features", c_char_p), ("pipeline", c_char_p), ("opt_level", c_int32),
        ("openmp", c_int32), ("explain", c_int32), ("entry", c_char_p), ("chip", c_char_p),
        ("device_code", c_char_p), ("samples", POINTER(c_char_p)), ("profile", c_char_p),
    ]


assert ctypes.sizeof(Tensor) == 48 and ctypes.sizeof(IndexStruct) == 384

# --------------------------------------------------------------------------
# Libraries
# --------------------------------------------------------------------------

OUT = POINTER(c_void_p)

RUNTIME = {
    "pit_context_create": (c_int32, POINTER(ContextOptions), OUT),
    "pit_context_destroy": (None, c_void_p),
    "pit_context_threads": (c_int32, c_void_p),
    "pit_context_write_profile": (c_int32, c_void_p, c_char_p),
    "pit_context_message": (c_size_t, c_void_p, c_char_p, c_size_t),
    "pit_context_set_stats": (c_int32, c_void_p, c_int32),
    "pit_context_stats": (c_int64, c_void_p, POINTER(BuildStats), c_int64, POINTER(c_int64)),
    "pit_context_kept": (None, c_void_p, POINTER(KeptStats)),
    "pit_constant_create": (c_int32, c_void_p, c_void_p, OUT),
    "pit_constant_destroy": (None, c_void_p),
    "pit_constant_changed": (None, c_void_p),
    "pit_device_query": (c_int32, c_void_p, POINTER(DeviceInfo)),
    "pit_status_string": (c_char_p, c_int32),
    "pit_version": (c_char_p,),
    "pit_program_open": (c_int32, c_void_p, c_char_p, OUT),
    "pit_program_close": (None, c_void_p),
    "pit_program_num_entries": (c_int32, c_void_p),
    "pit_program_entry_at": (c_void_p, c_void_p, c_int32),
    "pit_entry_name": (c_char_p, c_void_p),
    "pit_entry_num_args": (c_int32, c_void_p),
    "pit_entry_num_results": (c_int32, c_void_p),
    "pit_entry_workspace": (c_int64, c_void_p),
    "pit_entry_arg": (c_bool, c_void_p, c_int32, POINTER(ArgInfo)),
    "pit_entry_result": (c_bool, c_void_p, c_int32, POINTER(ArgInfo)),
    "pit_entry_result_shape": (
        c_int32, c_void_p, c_void_p, POINTER(Value), c_int32, c_int32, POINTER(c_int64)),
    "pit_entry_choices": (c_int32, c_void_p, c_void_p, POINTER(ChoiceStruct), c_int32),
    "pit_bitmap_build": (
        c_int32, c_void_p, c_int32, POINTER(c_int64), c_int32, c_void_p, c_void_p,
        POINTER(POINTER(BitmapStruct))),
    "pit_bitmap_live_fractions": (
        c_int32, c_void_p, POINTER(BitmapStruct), POINTER(IndexSpec), c_int32,
        POINTER(LiveFractionStruct)),
    "pit_live_fraction_candidates": (
        c_int32, c_int32, POINTER(c_int64), POINTER(IndexSpec), c_int32),
    "pit_source_name": (c_char_p, c_int32),
    "pit_index_builder_create": (c_int32, c_void_p, OUT),
    "pit_index_builder_destroy": (None, c_void_p),
    "pit_index_builder_set_stream": (c_int32, c_void_p, c_void_p),
    "pit_index_build": (
        c_int32, c_void_p, POINTER(IndexSpec), c_int32, c_void_p, c_void_p, OUT),
    "pit_index_import": (
        c_int32, c_void_p, POINTER(IndexSpec), POINTER(IndexArrays), POINTER(IndexStruct)),
}

SOURCE = (c_void_p, c_char_p, c_size_t, c_char_p, POINTER(CompileOptions))
COMPILER = {
    "pit_compiler_create": (c_int32, OUT),
    "pit_compiler_destroy": (None, c_void_p),
    "pit_compiler_diagnostics": (c_char_p, c_void_p),
    "pit_compile_to_memory": (c_int32, *SOURCE, c_int32, OUT, POINTER(c_size_t)),
    "pit_compile_to_file": (c_int32, *SOURCE, c_int32, c_char_p),
    "pit_compile_program": (c_int32, *SOURCE, OUT),
    "pit_free": (None, c_void_p),
}

class JaxProgram(ctypes.Structure):
    """A pit_jax_program."""

    _fields_ = [("context", c_void_p), ("entry", c_void_p)]


JaxResolver = ctypes.CFUNCTYPE(
    c_int32, c_char_p, c_char_p, POINTER(Tensor), c_int32, POINTER(JaxProgram), c_void_p, c_size_t)
JAX_HANDLER = {
    "pit_jax_set_resolver": (None, JaxResolver),
    "pit_jax_run_cpu": (c_void_p, c_void_p),
    "pit_jax_run_cuda": (c_void_p, c_void_p),
}


def runtime_path():
    """$PIT_RUNTIME_LIBRARY, or libpit_runtime.so beside this package, in the
    build folder of this checkout, or where it is installed beside Python's
    folder; else the name alone, which the loader looks up."""
    given = os.environ.get("PIT_RUNTIME_LIBRARY")
    if given:
        return Path(given)
    here = Path(__file__).resolve().parent
    for folder in (here, here.parent, here.parent / "lib", here.parents[1] / "build" / "lib",
                   here.parents[1] / "lib", here.parents[1]):
        if (folder / "libpit_runtime.so").exists():
            return folder / "libpit_runtime.so"
    return Path("libpit_runtime.so")


def open_library(path, signatures, advice):
    """Loads a library for this package alone (RTLD_LOCAL): libraries of others
    must not find its functions, nor those of its OpenMP library, in the place of
    their own. A program finds the runtime all the same, because it names it among
    the libraries that it needs."""
    try:
        library = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
    except OSError as error:
        raise Error(f"cannot load {path}: {error}; {advice}") from None
    for name, (result, *arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


@functools.lru_cache(maxsize=None)
def runtime():
    """libpit_runtime, loaded once."""
    path = runtime_path()
    # libomp ends the process if it meets another library of its kind, as Intel's
    # in MKL, unless this is set. Each of the two has threads of its own.
    os.environ.setdefault("KMP_DUPLICATE_LIB_OK", "TRUE")
    # The OpenMP library may have travelled with the runtime to a machine that
    # has none.
    openmp = path.parent / "libomp.so.5"
    if openmp.exists():
        ctypes.CDLL(str(openmp), mode=ctypes.RTLD_LOCAL)
    return open_library(
        path, RUNTIME, "PIT_RUNTIME_LIBRARY may name the path of libpit_runtime.so")


@functools.lru_cache(maxsize=None)
def compiler():
    """libPITCompiler, from beside the runtime."""
    runtime()
    # Functions of f64 for GPUs are libdevice's. Triton, which comes with torch,
    # has a copy, also on machines without CUDA's toolkit.
    triton = importlib.util.find_spec("triton")
    if triton and triton.origin:
        libdevice = Path(triton.origin).parent / "backends/nvidia/lib/libdevice.10.bc"
        if libdevice.exists():
            os.environ.setdefault("PIT_LIBDEVICE", str(libdevice))
    return open_library(
        runtime_path().with_name("libPITCompiler.so"), COMPILER,
        "the compiler must be beside the runtime; compiled programs run without it (pit.load)")


@functools.lru_cache(maxsize=None)
def jax_handler():
    """libpit_jax, from beside the runtime."""
    runtime()
    return open_library(runtime_path().with_name("libpit_jax.so"), JAX_HANDLER,
                        "it must be beside the runtime")


def status_error(status, context=None, message=""):
    """The error of a runtime function that returned `status`: with the context's
    message, or one got otherwise."""
    library = runtime()
    if context:
        text = ctypes.create_string_buffer(4096)
        library.pit_context_message(context, text, len(text))
        message = text.value.decode(errors="replace")
    name = library.pit_status_string(status).decode()
    return Error(f"{name}: {message}" if message else name, status)
