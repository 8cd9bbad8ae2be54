"""The compiler, where libPITCompiler is."""

import contextlib
import ctypes
import os
import tempfile
import threading
import weakref
from ctypes import byref, c_size_t, c_void_p

from . import _library, _stablehlo, _types
from ._library import Error
from ._program import Program

EMIT = {"mlir": 0, "mlir-llvm": 1, "llvm": 2, "obj": 3, "so": 4, "header": 5, "ptx": 6,
        "cubin": 7}


class Compiler(_library.Handle):
    """Compiles MLIR text, or StableHLO where jaxlib is installed; used by one thread at
    a time. `options` of its functions are those of Compile.h: target, cpu, features,
    pipeline, opt_level, openmp, explain, entry, chip, device_code, samples, profile.
    Of StableHLO `sparse` has the numbers of the arguments that are marked.

    Rules are chosen by `samples`: a dict from the label of a mark ("f:0" is the
    first one of function f) to an array as its value will be, the path of a .npy
    file, or a list of these; or by `profile`, the path of a profile."""

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
        """The messages of the last call, a line each."""
        return _library.compiler().pit_compiler_diagnostics(self.handle).decode(errors="replace")

    def _check(self, status):
        if status:
            raise Error(self.diagnostics.rstrip("\n"), status)

    def compile(self, text, name="program.mlir", **options):
        """A program in this process."""
        source, options = read(text, options)
        handle = c_void_p()
        with sample_files(options) as options:
            self._check(_library.compiler().pit_compile_program(
                self.handle, source, len(source), _library.c_text(name, "name"),
                byref(make_options(**options)), byref(handle)))
        return Program(handle.value, (text, dict(options)))

    def artifact(self, text, emit, name="program.mlir", **options):
        """An artifact, as bytes; `emit` as pit-compile has it."""
        source, options = read(text, options)
        memory, size = c_void_p(), c_size_t()
        with sample_files(options) as options:
            self._check(_library.compiler().pit_compile_to_memory(
                self.handle, source, len(source), _library.c_text(name, "name"),
                byref(make_options(**options)), emit_number(emit), byref(memory), byref(size)))
        artifact = ctypes.string_at(memory, size.value)
        _library.compiler().pit_free(memory)
        return artifact

    def write(self, text, emit, path, name="program.mlir", **options):
        """An artifact in a file."""
        source, options = read(text, options)
        with sample_files(options) as options:
            self._check(_library.compiler().pit_compile_to_file(
                self.handle, source, len(source), _library.c_text(name, "name"),
                byref(make_options(**options)), emit_number(emit), _library.c_path(path, "path")))


def read(text, options):
    """The bytes of a program for the compiler, and the options for it."""
    sparse = options.get("sparse")
    options = {name: value for name, value in options.items() if name != "sparse"}
    if _stablehlo.is_stablehlo(text):
        text = _stablehlo.to_linalg(text, sparse or ())
    elif sparse is not None:
        raise Error("sparse= names arguments of a StableHLO program; any other has pit.sparse in "
                    "its text")
    return as_bytes(text), options


def as_bytes(text):
    if isinstance(text, str):
        return text.encode(errors="replace")
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    advice = "; pass path.read_text()" if isinstance(text, os.PathLike) else ""
    raise Error(f"the program must be a string or bytes, not a {type(text).__name__}{advice}")


def emit_number(emit):
    if emit not in EMIT:
        raise Error(f"nothing called '{emit}' to emit; there are: {', '.join(EMIT)}")
    return EMIT[emit]


@contextlib.contextmanager
def sample_files(options):
    """The options with each sample as "LABEL=FILE"; arrays lie in files meanwhile."""
    samples = options.get("samples")
    if samples is None:
        yield options
        return
    if not isinstance(samples, dict):
        raise Error(f"samples must be a dict from labels of marks to arrays or paths, not "
                    f"{samples!r}")
    with tempfile.TemporaryDirectory(prefix="pit-samples-") as folder:
        listed = []
        for label, given in samples.items():
            for sample in given if isinstance(given, (list, tuple)) else [given]:
                if isinstance(sample, (str, os.PathLike)):
                    path = os.fspath(sample)
                else:
                    path = os.path.join(folder, f"{len(listed)}.npy")
                    save_sample(path, label, sample)
                listed.append(f"{label}={path}")
        yield {**options, "samples": listed}


def save_sample(path, label, sample):
    import numpy

    if hasattr(sample, "detach"):  # of torch, on whichever device
        sample = sample.detach().cpu()
        if str(sample.dtype).rpartition(".")[2] in _types.ADDED:
            import torch

            size = sample.element_size()
            sample = sample.view({1: torch.int8, 2: torch.int16}[size]).numpy().view(f"u{size}")
    try:
        array = numpy.ascontiguousarray(sample)
        if array.dtype.name in _types.ADDED:
            array = array.view(f"u{array.itemsize}")
    except Exception as error:
        raise Error(f"sample of mark '{label}': {error}") from None
    if array.dtype == object:
        raise Error(f"sample of mark '{label}' must be an array or a path, not {sample!r}")
    numpy.save(path, array)


OPTIONS = {"target": "cpu", "cpu": "native", "features": "", "pipeline": "", "opt_level": None,
           "openmp": True, "explain": False, "entry": "", "chip": None, "device_code": None,
           "profile": None, "samples": None}


def default_level():
    """LLVM's level where a call gives none."""
    given = os.environ.get("PIT_OPT_LEVEL") or "3"
    if given not in ("0", "1", "2", "3"):
        raise Error(f"PIT_OPT_LEVEL is {given!r} in the environment; it must be 0, 1, 2 or 3")
    return int(given)


def make_options(**options):
    level = options.get("opt_level")
    options["opt_level"] = default_level() if level is None else level
    for name in options:
        if name not in OPTIONS:
            raise Error(f"no option '{name}'; there are: {', '.join(OPTIONS)}")
    made = _library.CompileOptions(ctypes.sizeof(_library.CompileOptions))
    for name, default in OPTIONS.items():
        value = options.get(name, default)
        if name == "samples":
            listed = [_library.c_text(sample, "a sample") for sample in value or []]
            made.samples = (ctypes.c_char_p * (len(listed) + 1))(*listed)
        elif name == "profile":
            made.profile = None if value is None else _library.c_path(value, name)
        elif name != "opt_level" and not isinstance(default, bool):
            # The compiler has defaults for what is None.
            setattr(made, name, None if value is None else _library.c_text(value, name))
        elif isinstance(value, int) and -2**31 <= value < 2**31:
            setattr(made, name, value)
        else:
            raise Error(f"{name} must be {'a bool' if isinstance(default, bool) else 'a number'}, "
                        f"not {value!r}")
    return made


compilers = threading.local()


def compiler():
    """This thread's compiler."""
    if not hasattr(compilers, "mine"):
        compilers.mine = Compiler()
    return compilers.mine


def compile(text, **options):
    """Compiles MLIR text (or bytecode), in linalg or StableHLO, to a program in this
    process, where libPITCompiler is beside the runtime. Options as Compiler has them."""
    return compiler().compile(text, **options)
