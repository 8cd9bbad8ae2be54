"""Memory of a GPU through the driver alone: no framework is needed, and what
compute-sanitizer sees is pit's own work."""

import ctypes
from ctypes import byref, c_size_t, c_uint64, c_void_p

import numpy as np

import pit
from driver import Buffer, Driver


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


# Adds to a counter how many of the 32-bit words of two arrays differ.
COUNT_DIFFERENT = b"""
.version 7.0
.target sm_80
.address_size 64
.visible .entry count_different(.param .u64 a, .param .u64 b, .param .u64 words,
                                .param .u64 counter)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %i, %step, %words, %a, %b, %c, %x, %y;
  ld.param.u64 %a, [a];
  ld.param.u64 %b, [b];
  ld.param.u64 %words, [words];
  ld.param.u64 %c, [counter];
  cvta.to.global.u64 %a, %a;
  cvta.to.global.u64 %b, %b;
  cvta.to.global.u64 %c, %c;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mad.lo.u32 %r4, %r0, %r1, %r2;
  cvt.u64.u32 %i, %r4;
  mul.wide.u32 %step, %r1, %r3;
  mov.u32 %r7, 0;
loop:
  setp.ge.u64 %p, %i, %words;
  @%p bra done;
  shl.b64 %x, %i, 2;
  add.u64 %y, %x, %b;
  add.u64 %x, %x, %a;
  ld.global.u32 %r5, [%x];
  ld.global.u32 %r6, [%y];
  setp.ne.u32 %p, %r5, %r6;
  @%p add.u32 %r7, %r7, 1;
  add.u64 %i, %i, %step;
  bra loop;
done:
  setp.eq.u32 %p, %r7, 0;
  @%p ret;
  red.global.add.u32 [%c], %r7;
  ret;
}
"""


class Cuda:
    """As check.py's Host, on a GPU."""

    def __init__(self):
        self.driver = Driver()
        self.context = pit.Context("cuda")
        self.comparer = None

    def stream(self):
        return self.driver.stream()

    def capture(self, stream, launch):
        return self.driver.capture(stream, launch)

    def upload(self, array):
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        copy = Array(Buffer(self.driver, array.nbytes), 0, array.dtype, array.shape)
        self.write(copy, array)
        return copy

    def download(self, array):
        copy = np.empty(array.shape, array.dtype)
        self.driver.read(copy, array.address)
        return copy

    def write(self, array, source):
        self.driver.write(array.address, np.ascontiguousarray(source))

    def part(self, buffer, offset, dtype, shape):
        return Array(buffer.buffer, offset, dtype, shape)

    def copy(self, stream, array, source):
        """Copies one array into another, on the device."""
        self.driver.call("cuMemcpyDtoDAsync_v2", c_uint64(array.address),
                         c_uint64(source.address), c_size_t(array.nbytes), c_void_p(stream))

    def count_different(self, stream, a, b, counter):
        """Adds to the counter, an array of one u32, how many 32-bit words differ."""
        if self.comparer is None:
            module, self.comparer = c_void_p(), c_void_p()
            self.driver.call("cuModuleLoadData", byref(module), COUNT_DIFFERENT)
            self.driver.call("cuModuleGetFunction", byref(self.comparer), module,
                             b"count_different")
        words = a.nbytes // 4
        values = [c_uint64(v) for v in (a.address, b.address, words, counter.address)]
        parameters = (c_void_p * 4)(*(ctypes.addressof(v) for v in values))
        blocks = min(1024, -(-words // 256))
        self.driver.call("cuLaunchKernel", self.comparer, blocks, 1, 1, 256, 1, 1, 0,
                         c_void_p(stream), parameters, None)

    def synchronize(self):
        self.driver.synchronize()
