"""libcuda, through ctypes: memory, and graphs of what calls put on a stream."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p

from .. import Error


class Driver:
    """libcuda, with the primary context of the first device made current, and a stream."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Error(f"there is no CUDA driver here: {error}") from None
        self.call("cuInit", 0)
        device, context, stream = c_int(), c_void_p(), c_void_p()
        self.call("cuDeviceGet", byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuStreamCreate", byref(stream), 1)
        self.stream = stream.value

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            text = c_char_p()
            self.library.cuGetErrorString(status, byref(text))
            raise Error(f"{name}: {(text.value or b'?').decode()} (error {status})")

    def wait(self):
        self.call("cuStreamSynchronize", c_void_p(self.stream))

    def capture(self, launch):
        """The work that `launch()` puts on the stream, as a graph that runs again."""
        graph, replay = c_void_p(), c_void_p()
        self.call("cuStreamBeginCapture_v2", c_void_p(self.stream), 0)
        try:
            launch()
        finally:
            self.call("cuStreamEndCapture", c_void_p(self.stream), byref(graph))
        self.call("cuGraphInstantiateWithFlags", byref(replay), graph, c_uint64(0))
        self.call("cuGraphDestroy", graph)
        return Graph(self, replay)


class Graph:
    def __init__(self, driver, handle):
        self.driver, self.handle = driver, handle

    def run(self):
        self.driver.call("cuGraphLaunch", self.handle, c_void_p(self.driver.stream))
        self.driver.wait()

    def __del__(self):
        self.driver.library.cuGraphExecDestroy(self.handle)


class DeviceArray:
    """An array of a device, like one of numpy."""

    def __init__(self, driver, like):
        self.driver, self.shape, self.address = driver, like.shape, c_uint64()
        driver.call("cuMemAlloc_v2", byref(self.address), c_size_t(max(1, like.nbytes)))
        self.typestr = like.dtype.str
        self.write(like)

    @property
    def __cuda_array_interface__(self):
        return {"version": 3, "shape": self.shape, "typestr": self.typestr,
                "data": (self.address.value, False)}

    def write(self, array):
        if array.nbytes:
            self.driver.call("cuMemcpyHtoD_v2", self.address, c_void_p(array.ctypes.data),
                             c_size_t(array.nbytes))

    def __del__(self):
        self.driver.library.cuMemFree_v2(self.address)
