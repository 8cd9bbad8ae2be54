"""Index builds on the device through libpit_runtime, for the scripts beside it.

Needs numpy and the driver; nothing of pit but the library. With `host` it is the CPU's
builders on numpy arrays: to check the scripts."""
import ctypes as ct
import os

import numpy as np

from driver import Buffer, Driver

VALUES, MASK, MASK_BITS, LENGTHS, ROUTING, BLOCKS = range(6)
UNORDERED, DEVICE, DENSE = 1, 2, 4
INVALID_ARGUMENT, CAPACITY = 1, 8
I64x8 = ct.c_int64 * 8


class Spec(ct.Structure):
    _fields_ = [("rank", ct.c_int32), ("axis", ct.c_int32), ("shape", I64x8),
                ("micro_tile", I64x8), ("step", I64x8), ("flags", ct.c_uint32),
                ("chunk_size", ct.c_int64), ("capacity", ct.c_int64)]


class Index(ct.Structure):
    _fields_ = ([("tag", ct.c_uint64)] +
                [(n, ct.c_void_p) for n in ("counts", "offsets", "ids", "origin", "chunks")] +
                [(n, ct.c_int64) for n in ("groups", "extent", "total", "max_count", "capacity",
                                           "num_chunks", "chunk_size")] +
                [("rank", ct.c_int32), ("axis", ct.c_int32)] +
                [(n, I64x8) for n in ("shape", "micro_tile", "step", "group_shape")] +
                [("status", ct.c_int32), ("source", ct.c_int32), ("flags", ct.c_uint32),
                 ("device_copy", ct.c_uint32)])


class Options(ct.Structure):
    _fields_ = [("threads", ct.c_int32), ("device_type", ct.c_int32), ("device_id", ct.c_int32),
                ("cuda_library", ct.c_char_p), ("cache_folder", ct.c_char_p),
                ("message", ct.c_char_p), ("message_size", ct.c_size_t),
                ("kept_bytes", ct.c_int64), ("deterministic", ct.c_int32)]


class DLTensor(ct.Structure):
    _fields_ = [("data", ct.c_void_p), ("device_type", ct.c_int32), ("device_id", ct.c_int32),
                ("ndim", ct.c_int32), ("code", ct.c_uint8), ("bits", ct.c_uint8),
                ("lanes", ct.c_uint16), ("shape", ct.POINTER(ct.c_int64)),
                ("strides", ct.POINTER(ct.c_int64)), ("byte_offset", ct.c_uint64)]


assert ct.sizeof(Index) == 384 and ct.sizeof(DLTensor) == 48


class Data:
    """An array with any strides, copied to the device with the memory around it."""

    host = False
    driver = None

    def __init__(self, array, code, bits=None):
        base = array
        while base.base is not None:
            base = base.base
        flat = np.frombuffer(base.tobytes(), np.uint8) if base.size else np.zeros(1, np.uint8)
        assert base.flags.c_contiguous
        self.flat = flat.copy()
        if self.host:
            address = self.flat.ctypes.data
        else:
            self.memory = Buffer(self.driver, self.flat.nbytes)
            address = self.memory.address.value
            self.driver.write(address, self.flat)
        offset = (array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
                  if array.size else 0)
        self.shape = (ct.c_int64 * max(1, array.ndim))(*array.shape)
        self.strides = (ct.c_int64 * max(1, array.ndim))(*[s // array.itemsize for s in array.strides])
        self.tensor = DLTensor(address + offset, 1 if self.host else 2, 0, array.ndim, code,
                               bits or 8 * array.itemsize, 1, self.shape, self.strides, 0)

    def take(self, other):
        """The contents of another one become those of this one, on the device."""
        self.driver.write(self.memory.address.value, other.flat)


def of_torch(x, code):
    """A torch tensor as it lies on the device."""
    data = Data.__new__(Data)
    data.memory = x
    data.shape = (ct.c_int64 * max(1, x.dim()))(*x.shape)
    data.strides = (ct.c_int64 * max(1, x.dim()))(*x.stride())
    data.tensor = DLTensor(x.data_ptr(), 2, 0, x.dim(), code, 8 * x.element_size(), 1, data.shape,
                           data.strides, 0)
    return data


class Runtime:
    def __init__(self, library, host=False):
        self.library, self.lib = library, ct.CDLL(library)
        self.host = Data.host = host
        self.lib.pit_context_message.restype = ct.c_size_t
        message = ct.create_string_buffer(512)
        options = Options(device_type=1 if host else 2, message=ct.cast(message, ct.c_char_p), message_size=512)
        self.context = ct.c_void_p()
        if not host:
            self.driver = Data.driver = Driver()
            self.wait = self.driver.synchronize
        if self.lib.pit_context_create(ct.byref(options), ct.byref(self.context)):
            raise RuntimeError(message.value.decode())

    def message(self):
        buffer = ct.create_string_buffer(512)
        self.lib.pit_context_message(self.context, buffer, ct.c_size_t(512))
        return buffer.value.decode()

    def read(self, pointer, count, dtype):
        out = np.zeros(count, dtype)
        if out.nbytes and self.host:
            ct.memmove(out.ctypes.data, pointer, out.nbytes)
        elif out.nbytes:
            self.driver.read(out, pointer)
        return out


class Builder:
    other = None  # makes transposes of what this one builds

    def __init__(self, runtime):
        self.runtime = runtime
        self.handle = ct.c_void_p()
        if runtime.lib.pit_index_builder_create(runtime.context, ct.byref(self.handle)):
            raise RuntimeError(runtime.message())

    def __del__(self):
        self.runtime.lib.pit_index_builder_destroy(self.handle)

    def set_stream(self, stream):
        self.runtime.lib.pit_index_builder_set_stream(self.handle, ct.c_void_p(stream))

    def build(self, spec, source, data, background=None):
        """The mirror; raises the runtime's message."""
        mirror = ct.POINTER(Index)()
        bits = None if background is None else background.tobytes()
        status = self.runtime.lib.pit_index_build(self.handle, ct.byref(spec), source,
                                                  ct.byref(data.tensor), bits, ct.byref(mirror))
        if status:
            raise RuntimeError(self.runtime.message())
        return mirror.contents

    def transpose(self, index):
        """The mirror of the transpose of an index, which another builder made."""
        mirror = ct.POINTER(Index)()
        if self.runtime.lib.pit_index_transpose(self.handle, ct.byref(index), ct.byref(mirror)):
            raise RuntimeError(self.runtime.message())
        return mirror.contents

    def result(self, mirror):
        """The copy in device memory and its arrays, once work is done."""
        read = self.runtime.read
        if self.runtime.host:
            copy = mirror
        else:
            self.runtime.wait()
            copy = Index.from_buffer_copy(read(mirror.counts - mirror.device_copy, ct.sizeof(Index), np.uint8))
        arrays = {
            "counts": read(copy.counts, copy.groups, np.int32),
            "offsets": read(copy.offsets, copy.groups, np.int64),
            "ids": read(copy.ids, copy.capacity, np.int32),
            "origin": read(copy.origin, copy.capacity, np.int32) if copy.origin else None,
            "chunks": read(copy.chunks, 2 * copy.num_chunks, np.int64) if copy.chunks else None,
        }
        return copy, arrays


def make_spec(shape, axis, micro_tile, step=None, flags=0, chunk_size=0, capacity=0):
    pad = lambda v: I64x8(*v)
    return Spec(len(shape), axis, pad(shape), pad(micro_tile), pad(step or [0] * len(shape)), flags,
                chunk_size, capacity)


def library_of(args):
    """libpit_runtime of a folder of artifacts, or of a build folder."""
    folder = os.path.join(args.artifacts or args.build, "lib")
    return os.path.join(folder, "libpit_runtime.so")
