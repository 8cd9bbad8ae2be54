# RUN: pit-compile %S/Inputs/control_flow.mlir -o %t.so
# RUN: env PIT_TEST_FUNCTIONS=%t.so %python %s
# RUN: pit-opt --pit-to-cuda=chip=sm_80 %S/Inputs/control_flow.mlir -o /dev/null
# REQUIRES: pit-compile
"""Loops, branches and calls around marked ops compute what numpy does."""

import resource
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import functions, pit  # noqa: E402

f = functions()


def draw(*shape, seed=0, live=0.4):
    """Small integers, so that sums are exact in any order; few are not 0."""
    random = np.random.default_rng([seed, *shape])
    values = random.integers(-1, 2, size=shape).astype(np.float32)
    return values * (random.random(shape) < live)


class ControlFlow(unittest.TestCase):
    def setUp(self):
        self.a, self.b = draw(8, 8), draw(8, 8, seed=1)

    def check(self, results, *wanted):
        if not isinstance(results, (tuple, list)):
            results = [results]
        self.assertEqual(len(results), len(wanted))
        for result, value in zip(results, wanted):
            np.testing.assert_array_equal(result, value)

    def check_loop(self, entry, arguments, start, step):
        """The carried values from `start` on, after 0, 1, 2, .. steps."""
        for n in [0, 1, 2, 3, 6]:
            values = start
            for i in range(n):
                values = step(i, *values)
            with self.subTest(n=n):
                self.check(entry(*arguments, n), *values)

    def test_recurrence(self):
        a, b = self.a, self.b
        self.check_loop(f.recurrence, [a, b], (b,), lambda i, x: (a @ x + b,))

    def test_powers(self):
        a = self.a
        self.check_loop(f.powers, [a], (a,), lambda i, x: (x @ a,))

    def test_exchange(self):
        a, b = self.a, self.b
        for n in [0, 1, 2, 3, 5]:
            x, y = a, b
            for _ in range(n):
                x, y = x @ y + y, x
            outs = [np.empty_like(a), np.empty_like(b)]
            f.exchange(a, b, n, out=outs)
            self.check(outs, x, y)

    def test_rotate(self):
        a, b = self.a, self.b
        self.check_loop(f.rotate, [a, b], (a, b), lambda i, x, y: (x - y, x + y))

    def test_turn(self):
        a, b, c = self.a, self.b, draw(8, 8, seed=2)
        self.check_loop(f.turn, [a, b, c], (a, b, c), lambda i, x, y, z: (y, z, x))

    def test_sometimes(self):
        a, b = self.a, self.b
        for n in [0, 1, 3, 4, 9]:
            x = b
            for i in range(n):
                x = a @ x + b if i % 3 == 0 else x
            self.check(f.sometimes(a, b, n, out=np.empty_like(b)), x)

    def test_grow(self):
        a, b, w = draw(3, 4), draw(2, 4), draw(4, 4)
        for n in [0, 1, 2, 5, 9]:
            x = a
            for _ in range(n):
                x = np.concatenate([x, b]) @ w
            self.check(f.grow(a, b, w, n, out=np.empty_like(x)), x)

    def test_while(self):
        a, b = self.a, self.b
        for n in [0, 1, 2, 3, 6]:
            x, y = b, a
            for _ in range(n):
                x, y = a @ x + b, x
            self.check(f["while"](a, b, n), y, x)

    def test_do_while(self):
        a, b = self.a, self.b
        for n in [0, 1, 2, 5]:
            x = b
            for _ in range(max(n, 1)):
                x = x @ a + b
            self.check(f.do_while(a, b, n, out=np.empty_like(b)), x)

    def test_nested(self):
        a, b = self.a, self.b
        for n in [0, 1, 2, 3]:
            x, y = b, a
            for _ in range(n):
                u, v = x, y
                for _ in range(n):
                    u, v = v, a @ u + v
                x, y = v, x
            outs = [np.empty_like(x), np.empty_like(y)]
            f.nested(a, b, n, out=outs)
            self.check(outs, x, y)

    def test_rnn(self):
        x, w, h = draw(16, 4, 8), draw(8, 8, live=0.2), draw(4, 8)
        wanted = h
        for t in range(16):
            wanted = np.maximum(wanted @ w + x[t], 0)
        self.check(f.rnn(x, w, h), wanted)

    def test_slices(self):
        a, b, c = draw(32, 64), draw(64, 8), draw(32, 8)
        self.check(f.slices(a, b, c), a @ b + c)

    def test_masked(self):
        a, w = draw(4, 16, 8, live=1), draw(8, 8)
        mask = draw(4, 16, 8, seed=1) != 0
        lengths = np.array([3, 0, 16, 7], np.int32)
        for t in range(4):
            ragged = a[t] * (np.arange(16) < lengths[t])[:, None]
            self.check(f.masked(a, mask, lengths, w, t), (a * mask)[t] @ w, ragged @ w)

    def test_branch(self):
        a, b, c = self.a, self.b, draw(8, 8, seed=2)
        self.check(f.branch(a, b, c, True), a @ b + c)
        self.check(f.branch(a, b, c, False), b @ a + c)

    def test_forall(self):
        a, b, c = draw(64, 32), draw(32, 32), draw(64, 32)
        self.check(f.forall(a, b, c), a @ b + c)
        a = draw(16, 8)
        self.check(f.forall_reads(a), a + np.tile(a[:4], (4, 1)))

    def test_forall_buffers(self):
        a, c = draw(64, 16), draw(64)
        self.check(f.forall_buffers(a, c), (a * a).sum(1) + c)
        self.check(f.forall_dynamic(a, c), (a * a).sum(1) + c)

    def test_calls(self):
        a, b = self.a, self.b
        self.check(f.product(a, b, b), a @ b + b)
        self.check_loop(f.calls, [a, b], (b,), lambda i, x: (a @ b * (2 if i == 0 else 1) + x,))
        self.check(f.doubled(a), 2 * a)
        with self.assertRaises(AttributeError):
            f.twice

    def test_blocks(self):
        a, b = self.a, self.b
        for n, last in [(0, 9), (1, 9), (4, 9), (4, 0), (4, 2), (4, 3)]:
            x = b
            for i in range(n):
                x = a @ x + b
                if i == last:
                    x = 2 * x
                    break
            self.check(f.blocks(a, b, n, last), x)

    def test_switch(self):
        a, b = self.a, self.b
        self.check(f.switch(a, b, 0), a @ b + b)
        self.check(f.switch(a, b, 1), a)

    def test_versions(self):
        a, b = self.a, self.b
        self.check(f.versions(a, b), a @ b + a + b, a + b)
        for p, y in (True, a @ b + a + b), (False, a + b):
            self.check(f.version_of_branch(a, b, p), y, a + b, y)

    def test_heads(self):
        x, w, o = draw(6, 8), draw(8, 8), draw(6, 8)
        self.check(f.heads(x, w, 2, 3, o), (x @ w + o).reshape(2, 3, 8))

    def test_tiles_of_other_sizes(self):
        x, y = draw(9, 8, live=0.1), draw(9, 8)
        live = (x != 0).any(axis=1)[:, None]
        self.check(f.tiles(x, y), np.where(live, 2 * x, y))
        with self.assertRaises(pit.Error) as caught:
            f.tiles(x, y[:7].copy())
        self.assertIn("dimension 0 of argument 1 is 7 but dimension 0 of argument 0 is 9",
                      str(caught.exception))

    def test_memory_does_not_grow(self):
        """A call takes as much for 1000 iterations as for a few."""
        a, b = np.zeros((128, 128), np.float32), draw(128, 128)
        x, y = np.empty_like(a), np.empty_like(a)
        context = pit.Context("cpu", threads=1)
        f.exchange(a, b, 3, out=[x, y], context=context)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        f.exchange(a, b, 1000, out=[x, y], context=context)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        # Each iteration makes an index, and two buffers of 64 KB at least.
        self.assertLess(grown, 16 * 1024)  # KB


if __name__ == "__main__":
    unittest.main()
