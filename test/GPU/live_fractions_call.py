"""pit.live_fraction of arrays on a device, as a caller has them: the live fraction of the same
array on the CPU. On a GPU or the emulator, whichever libcuda is found, with
PIT_RUNTIME_LIBRARY set. What is counted is tested by live_fractions_check.py."""

import os
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from driver import Buffer, Driver  # noqa: E402

import pit  # noqa: E402

driver = Driver()


class Device:
    """An array's values on the device, at the array's strides."""

    def __init__(self, array):
        base = array if array.base is None else array.base
        self.array, self.memory = array, Buffer(driver, base.nbytes)
        driver.write(self.memory.address.value, base)
        start = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        self.start, self.shape = self.memory.address.value + start, array.shape

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.start, False), "shape": self.array.shape,
                "strides": self.array.strides, "typestr": self.array.dtype.str,
                "stream": None, "version": 3}


def zeros(*shape, live=0.05, dtype=np.float32):
    random = np.random.default_rng(int(os.environ.get("PIT_TEST_SEED", 7)))
    return np.where(random.random(shape) < live, 1, 0).astype(dtype)


class LiveFractions(unittest.TestCase):
    def same(self, array, *arguments, **options):
        here = pit.live_fractions(array, *arguments, **options)
        there = pit.live_fractions(Device(array), *arguments, **options)
        self.assertEqual(here.columns(), there.columns())
        return there

    def test_proposed(self):
        for dtype in (np.float16, np.float32, np.float64, np.int8, np.int64):
            self.assertEqual(len(self.same(zeros(150, 208, dtype=dtype))), 18)
        self.same(zeros(150, 203))

    def test_strides(self):
        self.same(zeros(90, 200)[:, ::2])
        self.same(zeros(90, 200).T)
        self.same(zeros(300, 64)[3:200, 16:48])

    def test_shapes(self):
        for shape in ((1, 1), (1, 700), (700, 1), (0, 5), (5, 0), (300,), (3, 20, 40)):
            self.same(zeros(*shape, live=0.3))
        self.same(zeros(64, 64, live=0))
        self.same(zeros(64, 64, live=1))

    def test_candidates(self):
        x = zeros(150, 203)
        self.same(x, [((32, 1), 1), ((0, 1), 1), ((3, 1), 1), ((1, 48), 0)])
        self.same(x, [((4, 1), 1, (2, 1))])
        self.same(zeros(8, 64, 64), [((1, 16, 1), 2), ((1, 1, 16), 1)])

    def test_sources(self):
        x = zeros(100, 64)
        self.same((x != 0).view(np.uint8).view(bool), source="mask")
        lengths = np.array([2, 0, 64, 3], np.int32)
        self.same(lengths, source="lengths", shape=(4, 64))
        self.same(np.where(x != 0, 3, -1).astype(np.int8), background=-1)

    def test_refused(self):
        blocks = Device(np.array([[0, 1]], np.int32))
        with self.assertRaisesRegex(pit.Error, "list of blocks"):
            pit.live_fractions(blocks, [((1, 1), 1)], source="blocks", shape=(4, 4))


if __name__ == "__main__":
    unittest.main()
