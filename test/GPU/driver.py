"""libcuda, through ctypes: what the scripts of this folder need of it."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p


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
            raise CudaError(f"{name}: {(text.value or b'?').decode()} (error {status})")

    def name(self):
        text = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", text, len(text), self.device)
        return text.value.decode()

    def stream(self):
        """A new stream that does not wait for the default one."""
        handle = c_void_p()
        self.call("cuStreamCreate", byref(handle), 1)
        return handle.value

    def capture(self, stream, launch):
        """What `launch()` puts on the stream, as a function that replays it."""
        graph, replay = c_void_p(), c_void_p()
        self.call("cuStreamBeginCapture_v2", c_void_p(stream), 0)  # global: no call may wait
        try:
            launch()
        finally:
            self.call("cuStreamEndCapture", c_void_p(stream), byref(graph))
        self.call("cuGraphInstantiateWithFlags", byref(replay), graph, c_uint64(0))
        return lambda: self.call("cuGraphLaunch", replay, c_void_p(stream))

    def write(self, address, array):
        """Copies an array to the device, and waits: other streams do not."""
        if array.nbytes:
            self.call("cuMemcpyHtoD_v2", c_uint64(address), c_void_p(array.ctypes.data),
                      c_size_t(array.nbytes))
            self.synchronize()

    def read(self, array, address):
        if array.nbytes:
            self.call("cuMemcpyDtoH_v2", c_void_p(array.ctypes.data), c_uint64(address),
                      c_size_t(array.nbytes))

    def synchronize(self):
        self.call("cuCtxSynchronize")


class Buffer:
    """Allocated bytes."""

    def __init__(self, driver, size):
        self.driver, self.address = driver, c_uint64()
        driver.call("cuMemAlloc_v2", byref(self.address), c_size_t(max(1, size)))

    def __del__(self):
        # After an error of the device nothing can be freed; the process ends.
        self.driver.library.cuMemFree_v2(self.address)
