# RUN: pit-compile %S/Inputs/functions.mlir --pipeline=choice=now -o %t.so
# RUN: env PIT_TEST_FUNCTIONS=%t.so %python %s
# REQUIRES: pit-compile
"""Constants: what calls keep of them, and for how long."""

import gc
import sys
import threading
import unittest
import weakref
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import functions, pit  # noqa: E402

f = functions()


def draw(*shape, seed=1):
    return np.random.default_rng(seed).integers(-4, 5, size=shape).astype(np.float32)


class Constants(unittest.TestCase):
    def setUp(self):
        self.a, self.b, self.c = draw(65, 130), draw(130, 70, seed=2), draw(65, 70, seed=3)
        self.context = pit.Context()

    def call(self, a=None):
        return f.matmul(self.a if a is None else a, self.b, self.c, context=self.context)

    def check(self, b):
        np.testing.assert_array_equal(self.call(), self.a @ b + self.c)

    def test_packed_once(self):
        with pit.constant(self.b, self.context) as constant:
            old = self.b.copy()
            self.check(old)
            made = self.context.kept()
            self.assertEqual((made.constants, made.made, made.reused), (1, 1, 0))
            self.assertGreaterEqual(made.bytes, self.b.nbytes)
            # A promise that is broken: the program has what it had packed.
            self.b *= 2
            self.check(old)
            self.assertEqual(self.context.kept().reused, 1)
            constant.changed()
            self.check(self.b)
            self.check(self.b)
            kept = self.context.kept()
            self.assertEqual((kept.pieces, kept.made, kept.reused), (1, 2, 2))
            self.assertIn("made=2", repr(kept))
        self.b *= 2
        self.check(self.b)
        self.assertEqual(self.context.kept().pieces, 0)
        with self.assertRaisesRegex(pit.Error, "closed"):
            constant.changed()
        constant.close()

    def test_index(self):
        self.a[:, ::3] = 0
        with pit.constant(self.a, self.context):
            self.context.record()
            for _ in range(3):
                self.check(self.b)
            self.assertLessEqual(len(self.context.recorded()), 1)
            self.assertEqual(self.context.kept().reused, 2 * self.context.kept().made)

    def test_holds_the_memory(self):
        class Array(np.ndarray):  # which can be referred to weakly
            pass

        b = self.b.copy().view(Array)
        gone = weakref.ref(b)
        constant = pit.constant(b, self.context)
        del b
        gc.collect()
        self.assertIsNotNone(gone())
        self.assertEqual(self.context.kept().constants, 1)
        del constant
        gc.collect()
        self.assertIsNone(gone())
        self.assertEqual(self.context.kept().constants, 0)

    def test_holds_the_context(self):
        context = pit.Context()
        constant = pit.constant(self.b, context)
        del context
        gc.collect()
        constant.changed()
        constant.close()

    def test_default_context(self):
        with pit.constant(self.b) as constant:
            self.assertIs(constant.context, pit.default_context())

    def test_bound(self):
        self.context = pit.Context(kept_bytes=8)
        with pit.constant(self.b, self.context):
            self.check(self.b)
            self.check(self.b)
            kept = self.context.kept()
            self.assertEqual((kept.pieces, kept.made, kept.refused), (0, 0, 2))
        with self.assertRaisesRegex(pit.Error, "kept_bytes is -1"):
            pit.Context(kept_bytes=-1)

    def test_refused(self):
        with self.assertRaisesRegex(pit.Error, "must be contiguous"):
            pit.constant(self.b.T, self.context)
        with self.assertRaisesRegex(pit.Error, "^constant: "):
            pit.constant(np.zeros(3, "M8[s]"), self.context)
        with self.assertRaisesRegex(pit.Error, "constant: a list is no array"):
            pit.constant([1.0])
        with self.assertRaisesRegex(pit.Error, "context must be a pit.Context, not a int"):
            pit.constant(self.b, 5)
        with pit.constant(self.c, self.context):
            with self.assertRaisesRegex(pit.Error, "in memory that is constant"):
                f.matmul(self.a, self.b, np.zeros_like(self.c), out=self.c, context=self.context)

    def test_threads(self):
        with pit.constant(self.b, self.context), pit.constant(self.a, self.context) as changing:
            wanted = self.a @ self.b + self.c
            wrong = []

            def work(number):
                for _ in range(30):
                    if number == 0:
                        changing.changed()
                    if not np.array_equal(self.call(), wanted):
                        wrong.append(number)

            threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
