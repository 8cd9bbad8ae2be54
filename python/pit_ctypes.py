"""The C interfaces of pit's compiler and runtime (pit-c/Compile.h and
pit-runtime/Runtime.h) by ctypes, for numpy arrays: what the differential test
and the examples need of them.

    compiler = Compiler("build")
    context = Context(compiler.library, threads=2)
    with compiler.load(text) as program:
        program.entry("f")(context, [a, b], [out])
"""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint16
from ctypes import c_uint32, c_uint64, c_uint8, c_void_p
from pathlib import Path

import numpy as np

CPU = 1
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}  # DLPack's type codes by numpy's kinds
MAX_RANK = 8


class PitError(Exception):
    def __init__(self, message):
        super().__init__(message)
        self.message = message


class DataType(ctypes.Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class Device(ctypes.Structure):
    _fields_ = [("type", c_int32), ("id", c_int32)]


class Tensor(ctypes.Structure):
    """A DLTensor."""

    _fields_ = [
        ("data", c_void_p), ("device", Device), ("ndim", c_int32), ("dtype", DataType),
        ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64),
    ]


class ContextOptions(ctypes.Structure):
    _fields_ = [("threads", c_int32)]


class BuildStats(ctypes.Structure):
    """A pit_build_stats."""

    _fields_ = [
        ("slot", c_int64), ("source", c_int32), ("axis", c_int32), ("groups", c_int64),
        ("micro_tiles", c_int64), ("live", c_int64), ("max_count", c_int64),
        ("build_ns", c_int64), ("coverage", c_double), ("waste", c_double),
    ]


def tensor(array, dtype=None):
    """A DLTensor of a numpy array, which has to outlive it. `dtype` says which
    type the storage stands for where numpy has none (bf16)."""
    if dtype is None:
        kind = DataType(CODES[array.dtype.kind], array.dtype.itemsize * 8, 1)
    else:
        kind = DataType(dtype.code, dtype.bits, 1)
    shape = (c_int64 * max(1, array.ndim))(*array.shape)
    strides = (c_int64 * max(1, array.ndim))(*[s // array.itemsize for s in array.strides])
    return Tensor(array.ctypes.data, Device(CPU, 0), array.ndim, kind, shape, strides, 0)


def pointers(items):
    """numpy arrays, (array, type) pairs or indices as DLTensor pointers; also
    what has to stay alive."""
    def item(i):
        if isinstance(i, Index):
            return i.memory
        return tensor(*i) if isinstance(i, tuple) else tensor(i)

    alive = [item(i) for i in items]
    array = (c_void_p * max(1, len(alive)))(*[ctypes.addressof(t) for t in alive])
    return array, alive


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


class Index:
    """An index of the caller's own arrays (pit_index_import)."""

    SIZE = 376  # sizeof(pit_index)

    def __init__(self, context, shape, micro_tile, axis, counts, offsets, ids):
        extents = lambda values: (c_int64 * MAX_RANK)(*values)
        spec = IndexSpec(len(shape), axis, extents(shape), extents(micro_tile))
        self.arrays = (counts.astype(np.int32), offsets.astype(np.int64), ids.astype(np.int32))
        arrays = IndexArrays(
            *[a.ctypes.data for a in self.arrays], None, None, len(counts), len(ids), 0)
        self.memory = (c_uint64 * (self.SIZE // 8))()
        context.check(context.library.runtime.pit_index_import(
            context.handle, byref(spec), byref(arrays), self.memory))


class CompileOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("target", c_char_p), ("cpu", c_char_p),
        ("features", c_char_p), ("pipeline", c_char_p), ("opt_level", c_int32),
        ("openmp", c_int32), ("explain", c_int32),
    ]


def declare(library, signatures):
    for name, (result, *arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


class Library:
    """The two shared libraries of a build or installation folder."""

    def __init__(self, build):
        lib = Path(build) / "lib"
        self.runtime = ctypes.CDLL(str(lib / "libpit_runtime.so"), mode=ctypes.RTLD_GLOBAL)
        self.compiler = ctypes.CDLL(str(lib / "libPITCompiler.so"))
        out = POINTER(c_void_p)
        signatures = {
            "pit_context_create": (c_int32, POINTER(ContextOptions), out),
            "pit_context_destroy": (None, c_void_p),
            "pit_context_threads": (c_int32, c_void_p),
            "pit_context_message": (c_size_t, c_void_p, c_char_p, c_size_t),
            "pit_context_set_stats": (c_int32, c_void_p, c_int32),
            "pit_context_stats": (c_int64, c_void_p, POINTER(BuildStats), c_int64, POINTER(c_int64)),
            "pit_status_string": (c_char_p, c_int32),
            "pit_program_close": (None, c_void_p),
            "pit_program_entry": (c_int32, c_void_p, c_void_p, c_char_p, out),
            "pit_entry_run": (
                c_int32, c_void_p, c_void_p, POINTER(c_void_p), c_int32, POINTER(c_void_p),
                c_int32, c_void_p),
            "pit_index_import": (
                c_int32, c_void_p, POINTER(IndexSpec), POINTER(IndexArrays), c_void_p),
        }
        declare(self.runtime, signatures)
        source = (c_void_p, c_char_p, c_size_t, c_char_p, POINTER(CompileOptions))
        declare(self.compiler, {
            "pit_compiler_create": (c_int32, out),
            "pit_compiler_destroy": (None, c_void_p),
            "pit_compiler_diagnostics": (c_char_p, c_void_p),
            "pit_compile_to_memory": (c_int32, *source, c_int32, out, POINTER(c_size_t)),
            "pit_compile_program": (c_int32, *source, out),
            "pit_free": (None, c_void_p),
        })


class Context:
    def __init__(self, library, threads=0):
        self.library = library
        self.handle = c_void_p()
        self.check(library.runtime.pit_context_create(
            byref(ContextOptions(threads)), byref(self.handle)))

    def __del__(self):
        self.library.runtime.pit_context_destroy(self.handle)

    def check(self, status):
        if status == 0:
            return
        runtime = self.library.runtime
        text = ctypes.create_string_buffer(4096)
        if self.handle:
            runtime.pit_context_message(self.handle, text, len(text))
        name = runtime.pit_status_string(status).decode()
        raise PitError(f"{name}: {text.value.decode()}")

    def threads(self):
        return self.library.runtime.pit_context_threads(self.handle)

    def record(self, mode):
        """0: nothing, 1: counts and times, 2: also the waste."""
        self.check(self.library.runtime.pit_context_set_stats(self.handle, mode))

    def recorded(self):
        """The index builds since record()."""
        stats, copied = (BuildStats * 64)(), c_int64()
        self.library.runtime.pit_context_stats(self.handle, stats, 64, byref(copied))
        return list(stats[: copied.value])


class Entry:
    """A function of a program."""

    def __init__(self, program, handle):
        self.program, self.handle = program, handle

    def __call__(self, context, ins, outs):
        """Runs it: `outs` are written. Items are arrays or (array, type)."""
        in_list, keep_ins = pointers(ins)
        out_list, keep_outs = pointers(outs)
        context.check(self.program.library.runtime.pit_entry_run(
            context.handle, self.handle, in_list, len(keep_ins), out_list, len(keep_outs), None))


class Program:
    """A compiled module, loaded into this process."""

    def __init__(self, library, handle):
        self.library, self.handle = library, handle

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.runtime.pit_program_close(self.handle)
        self.handle = None

    def entry(self, name):
        handle = c_void_p()
        Context(self.library).check(self.library.runtime.pit_program_entry(
            None, self.handle, name.encode(), byref(handle)))
        return Entry(self, handle)


EMIT = {"mlir": 0, "mlir-llvm": 1, "llvm": 2, "obj": 3, "so": 4, "header": 5}


class Compiler:
    """Compiles MLIR text; used by one thread at a time."""

    def __init__(self, build):
        self.library = Library(build)
        self.handle = c_void_p()
        if self.library.compiler.pit_compiler_create(byref(self.handle)):
            raise PitError("no compiler")

    def __del__(self):
        if self.handle:
            self.library.compiler.pit_compiler_destroy(self.handle)

    def options(self, pipeline="", explain=False):
        return CompileOptions(
            ctypes.sizeof(CompileOptions), b"cpu", b"native", b"", pipeline.encode(), 3, 1, explain)

    def diagnostics(self):
        """What the last call had to say, a line each."""
        return self.library.compiler.pit_compiler_diagnostics(self.handle).decode()

    def compile(self, text, emit, **options):
        """An artifact, as bytes."""
        source, memory, size = text.encode(), c_void_p(), c_size_t()
        if self.library.compiler.pit_compile_to_memory(
                self.handle, source, len(source), b"f.mlir", byref(self.options(**options)),
                EMIT[emit], byref(memory), byref(size)):
            raise PitError(self.diagnostics())
        artifact = ctypes.string_at(memory, size.value)
        self.library.compiler.pit_free(memory)
        return artifact

    def load(self, text, **options):
        """A program in this process."""
        source, handle = text.encode(), c_void_p()
        if self.library.compiler.pit_compile_program(
                self.handle, source, len(source), b"f.mlir", byref(self.options(**options)),
                byref(handle)):
            raise PitError(self.diagnostics())
        return Program(self.library, handle)
