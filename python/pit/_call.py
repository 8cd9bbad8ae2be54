"""The extension module _pit_call (lib/Python), which calls programs and reads arrays.

It lies beside the runtime that is loaded, and is loaded when it is needed, as that is.
"""

import ctypes
import functools
import importlib.machinery
import importlib.util
import os

from . import _arrays, _context, _library, _locks
from ._library import Error


class SymbolInfo(ctypes.Structure):
    """A Dl_info."""

    _fields_ = [("path", ctypes.c_char_p), ("base", ctypes.c_void_p),
                ("name", ctypes.c_char_p), ("address", ctypes.c_void_p)]


def folder_of(library):
    """The path that a library was loaded from, as the loader found it."""
    find = ctypes.CDLL(None).dladdr
    find.argtypes = (ctypes.c_void_p, ctypes.POINTER(SymbolInfo))
    info = SymbolInfo()
    if not find(ctypes.cast(library.pit_version, ctypes.c_void_p), ctypes.byref(info)):
        raise Error("the loader does not tell where libpit_runtime.so is")
    return os.path.dirname(os.path.abspath(os.fsdecode(info.path)))


loading = _locks.lock()


@functools.lru_cache(maxsize=None)
def extension():
    """_pit_call, loaded by the first of several threads: the types of two modules would not mix."""
    with loading:
        return load()


@functools.lru_cache(maxsize=None)
def load():
    from . import _index, _program  # which use this module
    library = _library.runtime()
    path = os.path.join(folder_of(library), "_pit_call.abi3.so")
    loader = importlib.machinery.ExtensionFileLoader("_pit_call", path)
    spec = importlib.util.spec_from_file_location("_pit_call", path, loader=loader)
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        raise Error(f"cannot load {path}: {error}; the file belongs beside libpit_runtime.so, of "
                    "the same build") from None
    module.bind(
        library._handle, Error=Error, Context=_context.Context, Index=_index.Index,
        View=_arrays.View, contexts=_context.defaults, default_context=_context.default_by_word,
        make_adapter=_arrays.adapter_of, status_error=_library.status_error,
        stream_handle=_arrays.stream_handle, describe=_program.describe,
        contiguous=_arrays.contiguous)
    return module


def read(array):
    """The DLTensor of an array: the result tells its `address`, and keeps it alive."""
    return extension().read(array)


def pack_scalar(type_, value):
    """The bytes of a number."""
    return extension().pack_scalar(type_.code, type_.bits, value)
