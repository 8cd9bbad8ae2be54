"""Memory of a GPU through the driver alone: no framework is needed, and what
compute-sanitizer sees is pit's own work."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p

import numpy as np

import pit


class CudaError(RuntimeError):
    pass


class Driver:
    """libcuda, with the primary context of a device made current."""

    def __init__(self, ordinal=0):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        self.device, context = c_int(), c_void_p()
        self.call("cuDeviceGet", byref(self.device), ordinal)
        self.call("cuDevicePrimaryCtxRetain", byref(context), self.device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            text = c_char_p()
            self.library.cuGetErrorString(status, byref(text))
            raise CudaError(f"{name}: {(text.value or b'?').decode()} ({status})")

    def name(self):
        text = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", text, len(text), self.device)
        return text.value.decode()


class Buffer:
    """Allocated bytes."""

    def __init__(self, driver, size):
        self.driver, self.address = driver, c_uint64()
        driver.call("cuMemAlloc_v2", byref(self.address), c_size_t(max(1, size)))

    def __del__(self):
        # After an error of the device nothing can be freed; the process ends.
        self.driver.library.cuMemFree_v2(self.address)


class Array:
    """An array in a buffer, which other packages understand."""

    def __init__(self, buffer, offset, dtype, shape):
        self.buffer, self.dtype, self.shape = buffer, np.dtype(dtype), tuple(shape)
        self.address = buffer.address.value + offset
        self.nbytes = int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.address, False), "shape": self.shape, "strides": None,
                "typestr": self.dtype.str, "version": 3}


class Cuda:
    """As check.py's Host, on a GPU."""

    def __init__(self):
        self.driver = Driver()
        self.context = pit.Context("cuda")

    def stream(self):
        """A new stream that does not wait for the default one."""
        handle = c_void_p()
        self.driver.call("cuStreamCreate", byref(handle), 1)
        return handle.value

    def capture(self, stream, launch):
        """What `launch()` puts on the stream, as a function that replays it."""
        call, graph, replay = self.driver.call, c_void_p(), c_void_p()
        call("cuStreamBeginCapture_v2", c_void_p(stream), 0)  # global: no call may wait
        try:
            launch()
        finally:
            self.driver.call("cuStreamEndCapture", c_void_p(stream), byref(graph))
        call("cuGraphInstantiateWithFlags", byref(replay), graph, c_uint64(0))
        return lambda: call("cuGraphLaunch", replay, c_void_p(stream))

    def upload(self, array):
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        copy = Array(Buffer(self.driver, array.nbytes), 0, array.dtype, array.shape)
        self.write(copy, array)
        return copy

    def download(self, array):
        copy = np.empty(array.shape, array.dtype)
        if copy.nbytes:
            self.driver.call("cuMemcpyDtoH_v2", c_void_p(copy.ctypes.data),
                             c_uint64(array.address), c_size_t(copy.nbytes))
        return copy

    def write(self, array, source):
        source = np.ascontiguousarray(source)
        if source.nbytes:
            self.driver.call("cuMemcpyHtoD_v2", c_uint64(array.address),
                             c_void_p(source.ctypes.data), c_size_t(source.nbytes))
            # The copy may still be under way, and other streams do not wait.
            self.synchronize()

    def part(self, buffer, offset, dtype, shape):
        return Array(buffer.buffer, offset, dtype, shape)

    def synchronize(self):
        self.driver.call("cuCtxSynchronize")
