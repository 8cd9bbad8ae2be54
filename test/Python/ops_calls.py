# RUN: %quick_python %s
# REQUIRES: pit-compile
"""Calls of ops on arrays like those of earlier calls, and on others, against numpy in
float64: what was planned for some arrays has to fit those that it is taken for."""

import gc
import subprocess
import sys
import threading
import tracemalloc
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402
from pit.ops import _op  # noqa: E402

random = np.random.default_rng()


def draw(*shape, dtype="float32", part=0.5):
    x = random.integers(-4, 5, shape) * (random.random(shape) < part)
    return x.astype(dtype)


class Calls(unittest.TestCase):
    def check(self, found, expected):
        self.assertEqual(found.shape, expected.shape)
        self.assertTrue(np.array_equal(found, expected), f"{found}\n{expected}")

    def product(self, a, b, **options):
        self.check(pit.matmul(a, b, **options), a.astype("d") @ b.astype("d"))

    def test_sizes(self):
        """Rows are dynamic; other sizes are, after four of them."""
        for k in (7, 16, 9, 1, 5, 33, 16, 7, 0):
            for m in (3, 0, 1, 20, 3):
                self.product(draw(m, k), draw(k, 6))
        with self.assertRaisesRegex(pit.Error, "dimension 0 of b is 8, but dimension 1 of a is 7"):
            pit.matmul(draw(3, 7), draw(8, 6))
        with self.assertRaisesRegex(pit.Error, "b is 34"):
            pit.matmul(draw(3, 33), draw(34, 6))

    def test_few_rows(self):
        """Four numbers of few rows have programs of their own, also after others."""
        asked = []
        program = pit._cache.program

        def note(text, *arguments, **options):
            asked.append(text)
            return program(text, *arguments, **options)

        with mock.patch.object(pit._cache, "program", note):
            for m, texts in ((100, 1), (1, 2), (90, 2), (0, 2), (2, 3), (1, 3), (32, 4), (33, 4),
                             (2, 4), (5, 5), (7, 5), (1, 5), (6, 5), (100, 5), (5, 5), (7, 5)):
                self.product(draw(m, 23), draw(23, 6))
                self.assertEqual(len(set(asked)), texts, f"{m} rows")
            calls = len(asked)
            for m in (1, 2, 5, 7, 32, 3, 100, 1):
                self.product(draw(m, 23), draw(23, 6))
            self.assertEqual(len(asked), calls)  # all are known without Python
            for m in (1, 100, 2):
                self.product(draw(m, 29), draw(29, 6), dynamic="m")
            self.assertEqual(len(set(asked)), 6)

    def test_types(self):
        for dtype in ("float64", "float32", "int8", "int64", "float64"):
            a, b = draw(5, 8, dtype=dtype), draw(8, 4, dtype=dtype)
            self.check(pit.matmul(a, b), a.astype("d") @ b.astype("d"))
        with self.assertRaisesRegex(pit.Error, "b has elements of f64, a of f32"):
            pit.matmul(draw(5, 8), draw(8, 4, dtype="float64"))

    def test_layouts(self):
        """Orders of dimensions, gaps, steps backwards, offsets, single rows."""
        for _ in range(2):  # planned, then known
            for m, k, n in ((5, 8, 4), (1, 8, 4), (5, 1, 4), (5, 8, 1), (1, 1, 1), (5, 0, 4)):
                forms = (lambda x: x, lambda x: np.asfortranarray(x),
                         lambda x: np.repeat(x, 2, 0)[::2], lambda x: np.repeat(x, 2, 1)[:, ::2],
                         lambda x: x[::-1].copy()[::-1], lambda x: np.pad(x, 1)[1:-1, 1:-1])
                for form in forms:
                    for other in forms:
                        self.product(form(draw(m, k)), other(draw(k, n)))
        w = draw(3, 4, 6)
        for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)):
            moved = np.ascontiguousarray(w.transpose(order)).transpose(np.argsort(order))
            x = draw(5, 3, 4)
            self.check(pit.einsum("abc,bcd->ad", x, moved, sparse="a"),
                       np.einsum("abc,bcd->ad", x, w))

    def test_rows(self):
        """Dimensions in front of the rows."""
        w, bias = draw(6, 8), draw(6)
        for lead in ((2, 3), (2, 3), (1, 6), (0, 3), (2, 1, 3), (6,), (3, 2)):
            x = draw(*lead, 8)
            self.check(pit.linear(x, w, bias), x @ w.T + bias)
            mask = random.random(x.shape) < 0.5
            self.check(pit.linear(x, w, bias, mask=mask), (x * mask) @ w.T + bias)
            wide = np.repeat(x, 2, -1)[..., ::2]
            self.check(pit.linear(wide, w, bias), x @ w.T + bias)
        for _ in range(2):
            with self.assertRaisesRegex(pit.Error, "differ before their last dims"):
                pit.linear(draw(2, 3, 8), w, mask=np.ones((3, 2, 8), bool))

    def test_out(self):
        a, b, x, w = draw(5, 8), draw(8, 4), draw(2, 3, 8), draw(6, 8)
        for _ in range(2):
            out = np.full((5, 4), np.nan, "f")
            self.assertIs(pit.matmul(a, b, out=out), out)
            self.check(out, a @ b)
            out = np.full((2, 3, 6), np.nan, "f")
            self.assertIs(pit.linear(x, w, out=out), out)
            self.check(out, x @ w.T)
            with self.assertRaisesRegex(pit.Error, "out has shape"):
                pit.linear(x, w, out=np.empty((3, 2, 6), "f"))
            with self.assertRaisesRegex(pit.Error, "result 0: dimension 1 is 3; it must be 4"):
                pit.matmul(a, b, out=np.empty((5, 3), "f"))
            out = np.empty((5, 4), "f")
            out.flags.writeable = False
            with self.assertRaisesRegex(pit.Error, "read-only"):
                pit.matmul(a, b, out=out)
            with self.assertRaisesRegex(pit.Error, "shares memory"):
                pit.matmul(b[:4], b[:4], out=b[:4])

    def test_masks_of_rows(self):
        """Masks of tokens in dims have the program of those of rows."""
        x, w, tokens = draw(4, 10, 9), draw(9, 7), random.random((4, 10)) < 0.5
        mask, texts, program = tokens[..., None], set(), pit._cache.program
        with mock.patch.object(pit._cache, "program", lambda text, *given, **options: (
                texts.add(text), program(text, *given, **options))[1]):
            for sparse, selected in (("a", lambda m: (x * m) @ w), ("out", lambda m: (x @ w) * m)):
                pit.matmul(x.reshape(40, 9), w, mask=mask.reshape(40, 1), sparse=sparse)
                count = len(texts)
                for each in (mask, mask[:1], mask[0], mask[:, :1], pit.view(mask.view("i1"), "i8")):
                    values = each if isinstance(each, np.ndarray) else mask
                    for _ in range(2):
                        self.check(pit.matmul(x, w, mask=each, sparse=sparse), selected(values))
                self.assertEqual(len(texts), count + 1)  # of i8
            self.check(pit.linear(x, w.T, mask=mask), (x * mask) @ w)

    def laid_out(self, x):
        """The values of x in memory of many kinds."""
        for step, first in ((1, 0), (2, 1), (-1, -1), (-3, -2)):
            room = np.zeros([3 * n + 2 for n in x.shape], x.dtype)
            spread = room[tuple(slice(first, None, step) for _ in x.shape)]
            yield spread[tuple(slice(0, n) for n in x.shape)]
        yield np.zeros(x.shape[::-1], x.dtype).T
        yield np.zeros(x.shape, np.dtype([("kind", "u1"), ("value", x.dtype)]))["value"]
        for offset in (1, 2, 3, 4):
            memory = bytearray(x.nbytes + offset)
            yield np.ndarray(x.shape, x.dtype, memory, offset)
        yield pit.view(np.ndarray(x.shape, "i4", bytearray(x.nbytes + 1), 1), "f32")

    def test_memory(self):
        """Operands and results wherever elements may lie: gaps, other orders and directions, and
        addresses that are no multiple of an element."""
        a, b, w = draw(5, 8), draw(2, 5, 8), draw(8, 8)
        wanted = lambda x, y: x.astype("d") @ y.astype("d")
        floats = lambda x: x if isinstance(x, np.ndarray) else x.array.view("f4")
        for _ in range(2):
            for x in (a, b):
                for laid in self.laid_out(x):
                    floats(laid)[...] = x
                    self.check(pit.matmul(laid, w), wanted(x, w))
                for out in self.laid_out(x):
                    self.assertIs(pit.matmul(x, w, out=out), out)
                    self.check(floats(out), wanted(x, w))
            for laid in self.laid_out(w):
                floats(laid)[...] = w
                self.check(pit.linear(a, laid), wanted(a, w.T))
            # Through memory of its own, a result may be one of the arguments.
            pit.matmul(w.T, w, out=(out := w.copy().T))
            self.check(out, wanted(w.T, w))
            pit.matmul(out, w, out=out)
            self.check(out, wanted(w.T @ w, w))
            for message, out in (("read-only", np.broadcast_to(np.float32(0), (5, 8))),
                                 ("dimension 1 is 7; it must be 8", np.zeros((7, 5), "f").T),
                                 ("element type f64", np.zeros((8, 5)).T)):
                with self.assertRaisesRegex(pit.Error, message):
                    pit.matmul(a, w, out=out)

    def test_no_copies(self):
        """Operands in another order are passed as they are, also beside one that is selected."""
        x, w, mask = draw(6, 5), draw(4, 5), random.random((6, 5)) < 0.5
        wanted, experts = random.random((6, 4)) < 0.5, draw(3, 5, 4)
        lengths, routing = np.int32([2, 3]), random.integers(0, 3, (6, 1))
        index = pit.build_index(mask, (1, 1), 1, source="mask")
        rows = (np.arange(3) < lengths[:, None]).reshape(6, 1)
        with mock.patch.object(pit._arrays.NumpyAdapter, "contiguous", side_effect=AssertionError):
            for _ in range(2):
                self.check(pit.matmul(x, w.T, mask=mask), (x * mask) @ w.T)
                self.check(pit.matmul(x, w.T, index=index), (x * mask) @ w.T)
                self.check(pit.masked_matmul(x, w.T, wanted), (x @ w.T) * wanted)
                self.check(pit.masked_matmul(x.T.copy().T, w.T, wanted), (x @ w.T) * wanted)
                self.check(pit.padded_linear(x.reshape(2, 3, 5), lengths, w.T.copy().T),
                           ((x @ w.T) * rows).reshape(2, 3, 4))
                self.check(pit.einsum("te,tk,efk->tf", np.ones((6, 3), "f"), x,
                                      experts.transpose(0, 2, 1), sparse="a", routing=routing),
                           np.einsum("tk,tkf->tf", x, experts[routing[:, 0]]))

    def test_options(self):
        """Another option is another op, whatever is equal to it."""
        a, b = draw(5, 8), draw(8, 4)
        mask = random.random((5, 8)) < 0.5
        for _ in range(2):
            self.product(a, b)
            self.product(a, b, sparse=None)
            self.product(a, b, sparse=["a", "b"])
            self.product(a, b, sparse=1)
            with self.assertRaisesRegex(pit.Error, "sparse=True"):
                pit.matmul(a, b, sparse=True)
            self.check(pit.matmul(a, b, mask=mask), (a * mask) @ b)
            self.check(pit.matmul(a, b, mask=mask.astype("i1")), (a * mask) @ b)
            self.assertEqual(pit.matmul(a, b, dtype="f64").dtype, np.float64)
            self.assertEqual(pit.matmul(a, b, dtype=np.float32).dtype, np.float32)
            with self.assertRaisesRegex(pit.Error, "mask= and lengths="):
                pit.matmul(a, b, mask=mask, lengths=np.zeros(5, "i4"))
            x, w = draw(1, 2, 5, 6), draw(3, 2, 3, 3)
            expected = pit.conv2d(x, w, padding=(1, 0), sparse=None)
            self.check(pit.conv2d(x, w, padding=[1, 0]), expected)
            with self.assertRaisesRegex(pit.Error, "reaches over 3 elements of dim h"):
                pit.conv2d(draw(1, 2, 2, 6), w)

    def test_sizes_of_images(self):
        """A convolution checks sizes that are dynamic."""
        w = draw(3, 2, 3, 3)
        for height in (9, 8, 7, 6, 5, 4, 3, 9):
            self.assertEqual(pit.conv2d(draw(1, 2, height, 5), w).shape, (1, 3, height - 2, 3))
        for _ in range(2):
            with self.assertRaisesRegex(pit.Error, "reaches over 3 elements of dim h"):
                pit.conv2d(draw(1, 2, 2, 5), w)

    def test_indices(self):
        a, b = draw(8, 6), draw(6, 4)
        for tile in ((1, 1), (4, 1), (1, 1)):
            index = pit.build_index(a, tile, 1)
            for _ in range(2):
                self.product(a, b, index=index)
        with self.assertRaisesRegex(pit.Error, "dimension 0 of index"):
            pit.matmul(draw(4, 6), b, index=index)

    def test_views(self):
        """bf16 that numpy does not have, in any order."""
        bits = lambda x: (x.astype("f").view("u4") >> 16).astype("u2")
        a, b = draw(5, 8), draw(8, 4)
        out = np.empty((5, 4), "u2")
        for _ in range(2):
            for right in (bits(b), np.asfortranarray(bits(b))):
                pit.matmul(pit.view(bits(a), "bf16"), pit.view(right, "bf16"),
                           out=pit.view(out, "bf16"))
                self.check((out.astype("u4") << 16).view("f"), a @ b)

    def test_many_operands(self):
        for count in (1, 2, 8, 9, 13):
            operands = [draw(3, part=1) for _ in range(count)]
            for _ in range(2):
                found = pit.einsum(",".join("a" * count) + "->a", *operands)
                self.check(found, np.prod(np.stack(operands).astype("d"), 0))

    def test_what_is_no_array(self):
        for _ in range(2):
            for wrong in (None, 3, "text", [[1.0]], np.float32(1), object()):
                with self.assertRaisesRegex(pit.Error, "must be an array|rank"):
                    pit.matmul(wrong, draw(8, 4))
            with self.assertRaisesRegex(pit.Error, "mask of a masked array"):
                pit.matmul(np.ma.masked_array(draw(5, 8)), draw(8, 4))
            with self.assertRaisesRegex(pit.Error, "float128|complex|longdouble"):
                pit.matmul(draw(5, 8, dtype="complex64"), draw(8, 4, dtype="complex64"))

    def test_explain(self):
        """explain looks at a call that is known, and does not run it."""
        a, b = draw(64, 64), draw(64, 64)
        self.product(a, b)
        out = np.zeros((64, 64), "f")
        self.assertIn("dense", repr(pit.explain(pit.matmul, a, b, out=out)))
        self.assertFalse(out.any())
        self.product(a, b)

    def test_again(self):
        """A plan of a call serves the next one, also of ops that ask about sizes."""
        q = draw(1, 2, 128, 16)
        blocks, x, w = np.ones((2, 2, 2), bool), draw(1, 4, 6, 6), draw(40, 40)
        experts, up, down = random.integers(0, 3, (40, 2)), draw(3, 40, 8), draw(3, 8, 40)
        calls = {
            "attention": lambda: pit.attention(q, q, q, blocks=blocks, block_size=64),
            "linear": lambda: pit.linear(w, w),
            "conv2d": lambda: pit.conv2d(x, draw(3, 4, 3, 3)),
            "moe": lambda: pit.moe(w, draw(40, 2), experts, up, up, down)}
        for name, call in calls.items():
            for _ in range(2):
                call()
            with mock.patch.object(_op, "plan_of", side_effect=AssertionError(name)):
                call()

    def test_plans(self):
        """Each plan is found among others; of two that fit, the one of more static sizes."""
        a, b = draw(4, 4), draw(4, 4)
        callers = []
        for name, call in (("matmul", lambda: pit.matmul(a, b, dynamic=True)),
                           ("einsum", lambda: pit.einsum("mk,nk->mn", a, b, dynamic=True))):
            with _op.capture() as plans:
                call()
            (plan, _), = plans
            callers.append(plan.program()[name].__call__)

        def plan(caller, m, k, n):
            return extension.Plan(caller, (1, 0), (((m, k), None, True), ((k, n), None, True)),
                                  (m, n))

        extension = pit._call.extension()
        for order in (1, -1):
            plans = extension.Plans()
            for each in [plan(callers[0], 4, 4, 4), plan(callers[1], -1, 4, 4),
                         plan(callers[1], -1, -2, -3)][::order]:
                plans.add(each)
            for _ in range(2):
                self.check(plans.run(None, a, b), a @ b)
                self.check(plans.run(None, a[:3], b), a[:3] @ b.T)
        for size in range(1100):  # more than are kept
            plans.add(plan(callers[0], size + 5, 4, 4))
        self.assertIs(plans.run(None, a, b), NotImplemented)
        plans.add(plan(callers[0], 4, 4, 4))
        self.check(plans.run(None, a, b), a @ b)
        self.check(plans.run(None, draw(1100, 4) * 0, b), np.zeros((1100, 4)))
        self.assertIs(plans.run(None, a.astype("d"), b.astype("d")), NotImplemented)
        self.assertIs(plans.run(None, a), NotImplemented)
        plans.add(each)
        with self.assertRaisesRegex(ValueError, "in a list already"):
            extension.Plans().add(each)

    def test_threads(self):
        wrong = []

        def work():
            try:
                for _ in range(200):
                    m = int(random.integers(0, 9))
                    a, b = draw(m, 8), draw(8, 4)
                    if not np.array_equal(pit.matmul(a, b), a @ b):
                        wrong.append((a, b))
            except Exception as error:
                wrong.append(error)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(wrong, [])

    def test_first_threads(self):
        """The first calls of several threads load one extension module."""
        subprocess.run([sys.executable, "-c", """
import importlib.util, sys, threading, time
sys.path.insert(0, sys.argv[1])
from pit import _call
real, found = importlib.util.module_from_spec, []
def slow(spec):
    time.sleep(0.05)
    return real(spec)
importlib.util.module_from_spec = slow
threads = [threading.Thread(target=lambda: found.append(_call.extension())) for _ in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert len(found) == 4 and len(set(map(id, found))) == 1, found
""", str(Path(pit.__file__).parents[1])], check=True)

    def test_nothing_is_left(self):
        a, b, x, w = draw(5, 8), np.asfortranarray(draw(8, 4)), draw(2, 3, 8), draw(6, 8)
        gap = np.empty((5, 16), "f")[:, ::2]

        def calls():
            pit.matmul(a, b)
            pit.linear(x, w)
            pit.matmul(gap, b)
            with self.assertRaises(pit.Error):
                pit.matmul(b, b)

        def count():
            gc.collect()
            return sum(map(sys.getrefcount, (a, b, x, w, gap, None, NotImplemented)))

        for _ in range(10):
            calls()
        before = count()
        tracemalloc.start()
        first = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            calls()
        self.assertLess(abs(count() - before), 50)
        self.assertLess(tracemalloc.get_traced_memory()[0] - first, 100_000)
        tracemalloc.stop()


if __name__ == "__main__":
    unittest.main()
