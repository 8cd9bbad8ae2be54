"""Finds the package and compiles Inputs/functions.mlir, for the tests beside
this folder."""

import ctypes
import functools
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))

import pit  # noqa: E402


@functools.lru_cache(maxsize=None)
def functions():
    """The program of functions.mlir: from the shared library that the test
    made, else compiled in this process."""
    made = os.environ.get("PIT_TEST_FUNCTIONS")
    if made:
        return pit.load(made)
    return pit.compile((Path(__file__).parent / "functions.mlir").read_text())


class Managed(ctypes.Structure):
    """A DLManagedTensor."""

    _fields_ = [("tensor", pit._library.Tensor), ("manager", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p)]


class ManagedVersioned(ctypes.Structure):
    """A DLManagedTensorVersioned."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", pit._library.Tensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Exporter:
    """An array of a framework that nobody knows: it has DLPack's protocol and
    nothing else."""

    def __init__(self, array, version=None, flags=0, device=(1, 0)):
        self.array, self.version, self.device = array, version, device
        self.shape = (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
        code = {"f": 2, "i": 0, "u": 1, "b": 6}[array.dtype.kind]
        tensor = pit._library.Tensor(
            array.ctypes.data, *device, array.ndim, code, 8 * array.itemsize, 1,
            ctypes.addressof(self.shape), None, 0)
        if version is None:
            self.managed, self.name = Managed(tensor), b"dltensor"
        else:
            self.managed = ManagedVersioned(version, 0, None, None, flags, tensor)
            self.name = b"dltensor_versioned"

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **arguments):
        if self.version is None and "max_version" in arguments:
            raise TypeError("unexpected keyword argument 'max_version'")
        return new_capsule(ctypes.addressof(self.managed), self.name, None)
