"""The driver without a device (test/Runtime/FakeCuda.h) in the place of libcuda:
memory is the host's, and kernels are counted instead of run. With it the half of a
GPU program that runs on the host is checked where there is no GPU."""

import ctypes
from ctypes import c_char, c_char_p, c_int, c_size_t, c_uint, c_void_p

import numpy as np

import pit
from check import Host, Mismatch


class Launch(ctypes.Structure):
    """A fake_launch."""

    _fields_ = [
        ("kernel", c_char * 64), ("blocks", c_uint), ("split", c_uint), ("threads", c_uint),
        ("shared", c_uint), ("cluster", c_uint), ("stream", c_void_p), ("first", c_void_p),
    ]


class State(ctypes.Structure):
    """A fake_cuda."""

    _fields_ = [
        ("devices", c_int), ("version", c_int), ("capability_major", c_int), ("memory", c_size_t),
        ("fail_function", c_char_p), ("fail_after", c_int), ("fail_count", c_int),
        ("fail_error", c_int), ("events_pending", c_int), ("allocations", c_int),
        ("frees", c_int), ("events_recorded", c_int), ("loads", c_int), ("links", c_int),
        ("launches", c_int), ("copies", c_int), ("attributes_set", c_int),
        ("user_objects", c_int), ("contexts", c_int), ("allocated", c_size_t),
        ("violations", c_int), ("last", Launch),
    ]


class Array:
    """An array of numpy that says it were on a device."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.array.ctypes.data, False), "shape": self.array.shape,
                "strides": None, "typestr": self.array.dtype.str, "version": 3}


class Fake(Host):
    """As check.py's Host."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        for name, result in {"state": ctypes.POINTER(State), "stream": c_void_p,
                             "capture": c_void_p}.items():
            getattr(self.library, f"fake_cuda_{name}").restype = result
        for name in ("capture", "end_capture", "destroy_graph"):
            getattr(self.library, f"fake_cuda_{name}").argtypes = (c_void_p,)
        self.context = pit.Context("cuda")

    @property
    def state(self):
        return self.library.fake_cuda_state().contents

    def stream(self):
        return self.library.fake_cuda_stream()

    def capture(self, stream, launch):
        graph = self.library.fake_cuda_capture(stream)
        try:
            launch()
        finally:
            self.library.fake_cuda_end_capture(stream)
        self.library.fake_cuda_destroy_graph(graph)

    def upload(self, array):
        return Array(np.array(array, order="C"))

    def download(self, array):
        return array.array

    def write(self, array, source):
        array.array[...] = source

    def part(self, buffer, offset, dtype, shape):
        return Array(super().part(buffer.array, offset, dtype, shape))

    def synchronize(self):
        """Nothing runs."""

    def last_kernel(self):
        return self.state.last.kernel.decode()

    def check_launches(self, least):
        """The driver was asked for nothing that it would have refused."""
        state = self.state
        if state.violations:
            raise Mismatch(f"{state.violations} calls that a driver refuses")
        if state.launches < least:
            raise Mismatch(f"{state.launches} kernels were launched, not {least}")
        self.library.fake_cuda_reset()
