"""The compiler, where libPITCompiler is."""

import ctypes
import threading
import weakref
from ctypes import byref, c_size_t, c_void_p

from . import _library
from ._library import Error
from ._program import Program

EMIT = {"mlir": 0, "mlir-llvm": 1, "llvm": 2, "obj": 3, "so": 4, "header": 5, "ptx": 6,
        "cubin": 7}


class Compiler:
    """Compiles MLIR text; used by one thread at a time. `options` of its
    functions are those of Compile.h: target, cpu, features, pipeline, opt_level,
    openmp, explain, entry, chip, device_code."""

    def __init__(self):
        handle = c_void_p()
        status = _library.compiler().pit_compiler_create(byref(handle))
        if status:
            raise _library.status_error(status)
        self.handle = handle.value
        destroy = _library.compiler().pit_compiler_destroy
        weakref.finalize(self, destroy, self.handle).atexit = False

    @property
    def diagnostics(self):
        """What the last call had to say, a line each."""
        return _library.compiler().pit_compiler_diagnostics(self.handle).decode(errors="replace")

    def _check(self, status):
        if status:
            raise Error(self.diagnostics.rstrip("\n"), status)

    def compile(self, text, name="program.mlir", **options):
        """A program in this process."""
        source, handle = as_bytes(text), c_void_p()
        self._check(_library.compiler().pit_compile_program(
            self.handle, source, len(source), name.encode(), byref(make_options(**options)),
            byref(handle)))
        return Program(handle.value)

    def artifact(self, text, emit, name="program.mlir", **options):
        """An artifact, as bytes; `emit` as pit-compile has it."""
        source, memory, size = as_bytes(text), c_void_p(), c_size_t()
        self._check(_library.compiler().pit_compile_to_memory(
            self.handle, source, len(source), name.encode(), byref(make_options(**options)),
            emit_number(emit), byref(memory), byref(size)))
        artifact = ctypes.string_at(memory, size.value)
        _library.compiler().pit_free(memory)
        return artifact

    def write(self, text, emit, path, name="program.mlir", **options):
        """An artifact in a file."""
        source = as_bytes(text)
        self._check(_library.compiler().pit_compile_to_file(
            self.handle, source, len(source), name.encode(), byref(make_options(**options)),
            emit_number(emit), str(path).encode()))


def as_bytes(text):
    return text.encode() if isinstance(text, str) else bytes(text)


def emit_number(emit):
    if emit not in EMIT:
        raise Error(f"nothing called '{emit}' to emit; there are: {', '.join(EMIT)}")
    return EMIT[emit]


def make_options(target="cpu", cpu="native", features="", pipeline="", opt_level=3, openmp=True,
                 explain=False, entry="", chip=None, device_code=None):
    text = lambda value: value.encode()
    # The compiler has defaults for what is None.
    return _library.CompileOptions(
        ctypes.sizeof(_library.CompileOptions), text(target), text(cpu), text(features),
        text(pipeline), opt_level, openmp, explain, text(entry), chip and text(chip),
        device_code and text(device_code))


compilers = threading.local()


def compile(text, **options):
    """Compiles MLIR text (or bytecode) to a program in this process, where
    libPITCompiler is beside the runtime. Options as Compiler has them."""
    if not hasattr(compilers, "mine"):
        compilers.mine = Compiler()
    return compilers.mine.compile(text, **options)
