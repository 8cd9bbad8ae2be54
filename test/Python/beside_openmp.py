# RUN: %python %s
# REQUIRES: pit-compile
"""Programs on the threads of GNU's OpenMP library, where another library brought it."""

import ctypes
import os
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

random = np.random.default_rng()
x = random.standard_normal((300, 200)).astype("f")
x[random.random(x.shape) < 0.5] = 0
w = random.standard_normal((200, 100)).astype("f")


class Threads(unittest.TestCase):
    def check(self):
        for values in (x, np.where(random.random(x.shape) < 0.1, x, 0)):
            error = abs(pit.matmul(values, w) - values.astype("d") @ w.astype("d")).max()
            self.assertLess(error, 1e-4)

    def test_order(self):
        """LLVM's threads first, then GNU's; and those of a child."""
        self.check()
        try:
            gnu = ctypes.CDLL("libgomp.so.1")
        except OSError:
            self.skipTest("no libgomp here")
        for threads in (3, 1, 4):
            gnu.omp_set_num_threads(threads)
            self.check()
            self.assertEqual(pit.default_context().threads, threads)
        with self.subTest("a context's threads"):
            context = pit.Context(threads=2)
            program = next(iter(pit._cache.programs.values()))
            program.matmul(x, w, context=context)
            self.assertEqual(gnu.omp_get_max_threads(), 4)
        # GNU's library does not survive a fork, and would wait for ever.
        child = os.fork()
        if child == 0:
            try:
                self.check()
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.check()


if __name__ == "__main__":
    unittest.main()
