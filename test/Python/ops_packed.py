# RUN: %quick_python %s
# REQUIRES: pit-compile
"""Operands and results that an index has packed into vectors (packed=True), against numpy in
float64."""

import itertools
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

random = np.random.default_rng()
TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 4e-3}


def pack(array, mask, axis):
    """What a mask keeps of a matrix, in the order of an index along an axis."""
    return array[mask] if axis == 1 else np.ascontiguousarray(array.T)[mask.T]


class Packed(unittest.TestCase):
    def check(self, found, expected, dtype="float32"):
        scale = max(1, np.abs(expected).max(initial=0))
        np.testing.assert_allclose(found, expected, atol=TOLERANCE[dtype] * scale, rtol=0)

    def test_operands(self):
        for dtype, axis, live_fraction in itertools.product(TOLERANCE, (0, 1), (0, 0.1, 1)):
            m, k, n = random.integers(1, 40, 3)
            x = random.standard_normal((m, k)).astype(dtype)
            w = random.standard_normal((n, k)).astype(dtype)
            mask = random.random((n, k)) < live_fraction
            bias = random.standard_normal(n).astype(dtype)
            index = pit.build_index(mask, (1, 1), axis, source="mask")
            values = pack(w, mask, axis)
            kept = np.where(mask, w, 0).astype("d")
            expected = np.maximum(x.astype("d") @ kept.T + bias, 0)
            how = {"index": index, "packed": True}
            self.check(pit.linear(x, values, bias, sparse="weight", activation="relu", **how),
                       expected, dtype)
            self.check(pit.matmul(values, x.T, sparse="a", **how), kept @ x.T.astype("d"), dtype)
            self.check(pit.einsum("nk,mk->m", values, x, sparse="a", **how),
                       x.astype("d") @ kept.sum(0), dtype)

    def test_results(self):
        for dtype, axis, live_fraction in itertools.product(TOLERANCE, (0, 1), (0, 0.1, 1)):
            m, k, n = random.integers(1, 40, 3)
            a = random.standard_normal((m, k)).astype(dtype)
            b = random.standard_normal((k, n)).astype(dtype)
            mask = random.random((m, n)) < live_fraction
            index = pit.build_index(mask, (1, 1), axis, source="mask")
            expected = pack(a.astype("d") @ b.astype("d"), mask, axis)
            for _ in range(2):  # planned, and as planned
                found = pit.matmul(a, b, sparse="out", index=index, packed=True)
                self.assertEqual(found.dtype, a.dtype)
                self.check(found, expected, dtype)
            out = np.empty_like(found)
            self.assertIs(pit.matmul(a, b, sparse="out", index=index, packed=True, out=out), out)
            self.check(out, expected, dtype)

    def test_one_program(self):
        """As many values as there are take no other program."""
        from pit import _cache
        x = random.standard_normal((6, 31)).astype("f")
        before = None
        for live_fraction in np.linspace(0, 1, 7):
            mask = random.random((17, 31)) < live_fraction
            w = random.standard_normal((17, 31)).astype("f")
            index = pit.build_index(mask, (1, 1), 1, source="mask")
            self.check(pit.linear(x, w[mask], sparse="weight", index=index, packed=True),
                       x.astype("d") @ np.where(mask, w, 0).T)
            self.assertIn(len(_cache.programs), {before or len(_cache.programs)})
            before = len(_cache.programs)

    def test_batches(self):
        """Dims that only the packed operand has are those of its index."""
        mask = random.random((3, 5, 7)) < 0.3
        w = random.standard_normal((3, 5, 7)).astype("f")
        x = random.standard_normal((3, 7, 4)).astype("f")
        index = pit.build_index(mask, (1, 1, 1), 2, source="mask")
        self.check(pit.matmul(w[mask], x, sparse="a", index=index, packed=True),
                   np.where(mask, w, 0).astype("d") @ x)

    def test_errors(self):
        mask = random.random((9, 8)) < 0.5
        index = pit.build_index(mask, (1, 1), 1, source="mask")
        x, values = np.ones((4, 8), "f"), np.ones(mask.sum(), "f")

        def refuses(message, *arrays, **how):
            with self.assertRaisesRegex(pit.Error, message):
                pit.linear(*arrays, **{"sparse": "weight", "index": index, "packed": True, **how})

        refuses("packed=True needs index=", x, values, index=None)
        refuses("packed=True needs index=", x, values, index=None, mask=mask)
        refuses("micro_tile= and axis= are for others", x, values, micro_tile=(1, 1))
        refuses(r"weight has shape \(9, 8\); it must have rank 1", x, mask.astype("f"))
        refuses("weight has elements of f64, x of f32", x, values.astype("d"))
        rows = pit.build_index(mask, (1, 0), 0, source="mask")
        refuses(r"index has micro-tiles of \(1, 0\)", x, values, index=rows)
        refuses("dimension 1 of index is 8, but dimension 1 of x is 7", x[:, :7], values)
        # Before there is a program and when there is one, and then by the program.
        for _ in range(2):
            refuses(f"weight has {len(values) - 1} elements, index has {len(values)} positions|"
                    "the packed values are as many as", x, values[1:])
            pit.linear(x, values, sparse="weight", index=index, packed=True)
        whole = pit.build_index(np.ones((4, 9), bool), (1, 1), 1, source="mask")
        refuses("dimension 0 is 35; the computed result has 36", x, np.ones((9, 8), "f"),
                sparse="out", index=whole, out=np.empty(35, "f"))


if __name__ == "__main__":
    unittest.main()
