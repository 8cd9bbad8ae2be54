# A driver without a device stands for the real one.
# RUN: %cc -shared -fPIC %pit_includes %S/Inputs/device_program.c %link_runtime -o %t.so
# RUN: rm -rf %t.lib && mkdir %t.lib && ln -s %pit_fake_cuda %t.lib/libcuda.so.1
# RUN: env PIT_TEST_PROGRAM=%t.so LD_LIBRARY_PATH=%t.lib PIT_CACHE_DIR= %python %s
# REQUIRES: pit-fake-cuda
"""What the package does with arrays on a device: which context and stream a call
gets. test/GPU runs programs on a real one."""

import ctypes
import os
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import Exporter, pit  # noqa: E402

f = pit.load(os.environ["PIT_TEST_PROGRAM"]).probe
fake = ctypes.CDLL("libcuda.so.1")
fake.fake_cuda_stream.restype = ctypes.c_void_p
STREAM = fake.fake_cuda_stream()


class Device:
    """An array on a device that has only `__cuda_array_interface__`."""

    def __init__(self, array, read_only=False, stream=None, **more):
        self.array, self.read_only, self.stream = array, read_only, stream
        self.__dict__.update(more)

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.array.ctypes.data, self.read_only), "shape": self.array.shape,
                "strides": self.array.strides, "typestr": self.array.dtype.str,
                "stream": self.stream, "version": 3}


def on_device(array):
    """An array of a framework that nobody knows."""
    exporter = Exporter(array, device=(2, 0))
    exporter.asked = []
    make = exporter.__dlpack__

    class Asked(type(exporter)):
        def __dlpack__(self, **arguments):
            self.asked.append(arguments.get("stream"))
            return make(**{k: v for k, v in arguments.items() if k != "stream"})

    exporter.__class__ = Asked
    return exporter


class Calls(unittest.TestCase):
    def setUp(self):
        self.x = np.ones((6, 3), np.float32)
        self.out = np.zeros(4, np.int64)
        self.lists = (np.array([2], np.int32), np.zeros(1, np.int64), np.array([1, 4], np.int32))
        self.index = self.imported()

    def imported(self):
        return pit.import_index((6, 3), (1, 0), 0, *map(Device, self.lists))

    def refuses(self, message, *arguments, **options):
        with self.assertRaisesRegex(pit.Error, message):
            f(*arguments, **options)

    def test_interface(self):
        given = Device(self.out)
        self.assertIs(f(Device(self.x), 3.0, self.index, out=given), given)
        self.assertEqual(self.out.tolist(), [0, self.x.ctypes.data, 3, self.lists[0].ctypes.data])

    def test_dlpack_waits_on_the_default_stream(self):
        x = on_device(self.x)
        f(x, 3.0, self.index, out=on_device(self.out))
        self.assertEqual(self.out.tolist()[:2], [0, self.x.ctypes.data])
        self.assertEqual(x.asked[-1], 1)

    def test_given_stream(self):
        class Torch:
            cuda_stream = STREAM

        class Cupy:
            ptr = STREAM

        for stream in (STREAM, Torch(), Cupy()):
            self.out[0] = 0
            f(Device(self.x), 3.0, self.index, out=Device(self.out), stream=stream)
            self.assertEqual(self.out[0], STREAM)

    def test_context(self):
        self.assertIs(self.index.context, pit.default_context("cuda"))
        self.assertIs(pit.default_context("cuda:0"), pit.default_context("cuda"))
        self.assertIsNot(pit.default_context("cuda"), pit.default_context())
        f(Device(self.x), 3.0, self.index, out=Device(self.out), context=pit.Context("cuda"))
        self.refuses("device", Device(self.x), 3.0, self.index, out=Device(self.out),
                     context=pit.default_context())
        with self.assertRaisesRegex(pit.Error, "device"):
            pit.Context("cuda:7")

    def test_wrong_device(self):
        self.refuses("device", self.x, 3.0, self.index, out=Device(self.out))
        self.refuses("device", Device(self.x), 3.0, self.index, out=self.out)
        self.refuses("device", Device(self.x), Device(np.zeros((), np.float32)), self.index,
                     out=Device(self.out))

    def test_refused(self):
        self.refuses("read-only", Device(self.x), 3.0, self.index,
                     out=Device(self.out, read_only=True))
        self.refuses("stream of its own", Device(self.x, stream=7), 3.0, self.index,
                     out=Device(self.out))
        self.refuses("cannot make a result like a Device", Device(self.x), 3.0, self.index)

    def test_index_memory(self):
        interface = self.index.counts.__cuda_array_interface__
        self.assertEqual((interface["data"][0], interface["shape"], interface["typestr"]),
                         (self.lists[0].ctypes.data, (1,), "<i4"))
        self.assertFalse(hasattr(self.index.counts, "__array_interface__"))
        # Only the device knows how many there are.
        self.assertEqual((self.index.total, self.index.max_count), (2, 6))


if __name__ == "__main__":
    unittest.main()
