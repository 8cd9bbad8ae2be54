# RUN: %quick_python %s
# REQUIRES: pit-compile
"""Tile programs in Python (pit.jit), against numpy in float64."""

import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import tiles as programs  # noqa: E402
from setup import pit  # noqa: E402

random = np.random.default_rng()
PRODUCTS = [(70, 90, 200), (1, 1, 1), (0, 3, 4), (3, 0, 4), (33, 64, 0), (64, 64, 128)]


def dense(*shape, dtype="f"):
    return random.standard_normal(shape).astype(dtype)


def masks(*shape):
    """Some, none, all."""
    return [random.random(shape) < live_fraction for live_fraction in (0.2, -1, 2)]


class Programs(unittest.TestCase):
    def close(self, got, wanted, tolerance=1e-4):
        self.assertEqual(got.shape, wanted.shape)
        scale = max(1, np.abs(wanted).max()) if wanted.size else 1
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * scale)

    def test_matmul(self):
        for m, k, n in PRODUCTS:
            for dtype, tolerance in (("f", 1e-4), ("d", 1e-12), ("e", 4e-3)):
                a, b = dense(m, k, dtype=dtype), dense(k, n, dtype=dtype)
                wanted = np.maximum(a.astype("d") @ b.astype("d") + 1, 0)
                self.close(programs.matmul(a, b), wanted, tolerance)

    def test_tile_sizes(self):
        a, b = dense(70, 90), dense(90, 50)
        for sizes in (dict(m=1, n=8, k=1), dict(m=128, n=256, k=128), dict(m=7, n=24, k=5)):
            self.close(programs.matmul(a, b, **sizes), np.maximum(a.astype("d") @ b + 1, 0))

    def test_live_rows_and_columns(self):
        for m, k, n in PRODUCTS:
            b = dense(k, n)
            for rows in masks(m, 1):
                a = dense(m, k) * rows.astype("f")
                self.close(programs.rows(a, b), a.astype("d") @ b)
            for elements in masks(m, k):
                a = dense(m, k) * elements.astype("f")
                self.close(programs.columns(a, b), a.astype("d") @ b)

    def test_batched(self):
        for batch, m, k, n in [(3, 40, 50, 70), (1, 1, 1, 1), (0, 2, 3, 4), (2, 0, 3, 4)]:
            a, b = dense(batch, m, k, dtype="e"), dense(batch, k, n, dtype="e")
            self.close(programs.batched(a, b), a.astype("d") @ b.astype("d"), 4e-3)

    def test_experts(self):
        for tokens, k, count, n, slots in [(50, 40, 5, 70, 2), (1, 1, 1, 1, 1), (0, 3, 2, 4, 1),
                                           (30, 8, 3, 9, 3)]:
            x, w = dense(tokens, k), dense(count, k, n)
            gate = random.random((tokens, count)).astype("f")
            to = np.empty((tokens, slots), np.int32)
            for row in to:
                row[:] = random.permutation(count)[:slots]
                row[random.random(slots) < 0.2] = -1  # none
            wanted = np.zeros((tokens, n))
            for t in range(tokens):
                for e in to[t]:
                    if e >= 0:
                        wanted[t] += gate[t, e] * (x[t].astype("d") @ w[e])
            self.close(programs.experts(x, w, to, gate), wanted)
            if slots == 1:
                self.close(programs.routed(x, w, to), np.array(
                    [x[t].astype("d") @ w[to[t, 0]] if to[t, 0] >= 0 else np.zeros(n)
                     for t in range(tokens)]).reshape(tokens, n))

    def test_masked_softmax(self):
        for m, n in [(37, 90), (1, 1), (0, 5), (5, 0), (8, 64)]:
            for mask in masks(m, n):
                x = (10 * dense(m, n)).astype("f")
                wide = np.where(mask, x.astype("d"), -np.inf)
                top = np.max(wide, axis=1, keepdims=True, initial=-np.inf)
                power = np.exp(wide - np.where(np.isinf(top), 0, top))
                total = power.sum(axis=1, keepdims=True)
                wanted = power / np.where(total == 0, 1, total)
                self.close(programs.softmax(x, mask), wanted)

    def test_layer_norm_of_live_rows(self):
        for m, n in [(37, 90), (1, 1), (0, 5), (8, 64)]:
            scale, shift = dense(n), dense(n)
            for rows in masks(m, 1):
                x = (3 + dense(m, n)) * rows.astype("f")
                wide = x.astype("d")
                centered = wide - wide.mean(axis=1, keepdims=True)
                norm = centered / np.sqrt((centered**2).mean(axis=1, keepdims=True) + 1e-5)
                wanted = np.where(rows, norm * scale + shift, 0)
                self.close(programs.layer_norm(x, scale, shift, 1e-5), wanted, 1e-3)

    def test_wanted_outputs(self):
        for m, k, n in PRODUCTS:
            a, b = dense(m, k), dense(n, k)
            for mask in masks(m, n):
                self.close(programs.sddmm(a, b, mask), np.where(mask, a.astype("d") @ b.T, 0))

    def test_elements(self):
        for n in (0, 1, 255, 1000):
            for dtype, tolerance in (("f", 1e-5), ("d", 1e-5), ("e", 4e-3)):
                a, b = dense(n, dtype=dtype), dense(n, dtype=dtype)
                wanted = a.astype("d") / (1 + np.exp(-a.astype("d"))) * b.astype("d")
                got = programs.swiglu(a, b)
                self.assertEqual(got.dtype, a.dtype)
                self.close(got, wanted, tolerance)

    def test_lists(self):
        for h, m, k, n in [(3, 70, 30, 40), (1, 1, 1, 1), (0, 3, 4, 5), (2, 64, 0, 7)]:
            a, b = dense(h, m, k), dense(k, n)
            order = np.array([random.permutation(m) for _ in range(h)], "i4").reshape(h, m)
            wanted = a.astype("d") @ b + np.arange(m)[:, None]
            out = np.full((h, m, n), np.nan, "f")
            self.close(programs.by_lists(a, b, order, out=out), wanted)

    def test_padded_batch(self):
        for batch, steps, k, n in [(3, 20, 30, 40), (1, 1, 1, 1), (2, 0, 3, 4)]:
            x, w = dense(batch, steps, k), dense(k, n)
            for lengths in (random.integers(0, steps + 1, batch), np.zeros(batch),
                            np.full(batch, steps)):
                live = np.arange(steps)[None, :, None] < lengths[:, None, None]
                self.close(programs.padded(x, lengths.astype("i"), w),
                           np.where(live, x.astype("d") @ w, 0))

    def test_index_argument(self):
        a, b = dense(40, 30), dense(30, 50)
        rows = random.random(40) < 0.3
        index = pit.build_index(rows.reshape(40, 1).repeat(30, 1), [1, 0], 0, source="mask")
        wanted = np.where(rows[:, None], a.astype("d") @ b, 0)
        self.close(programs.rows_of_index(a, b, index), wanted)

    def test_cuda(self):
        """What runs here is compiled for a GPU."""
        half = pit.tile.f16
        for function, types in [
                (programs.matmul, [half["M", "K"], half["K", "N"]]), (programs.rows, []),
                (programs.columns, []), (programs.batched, []), (programs.experts, []),
                (programs.routed, []), (programs.softmax, []), (programs.layer_norm, []),
                (programs.sddmm, []), (programs.swiglu, [half["N"], half["N"]]),
                (programs.padded, []), (programs.rows_of_index, []), (programs.atomic, [])]:
            with self.subTest(function.__name__):
                program = function.specialize(*types).compile(
                    target="cuda", chip="sm_90a", device_code="ptx")
                self.assertEqual(program.entries, [function.__name__])

    def test_tensor_cores(self):
        """Tiles that numbers cut out of tensors of a higher rank are no obstacle."""
        half = pit.tile.f16
        sizes = dict(m=128, n=256, k=64)
        for function, types, constants in [
                (programs.matmul, [half["M", "K"], half["K", "N"]], sizes),
                (programs.batched, [], sizes), (programs.atomic, [], dict(n=256, k=64, chunk=128))]:
            ptx = function.specialize(*types, **constants).artifact(
                "ptx", target="cuda", chip="sm_90a").decode()
            self.assertIn("wgmma", ptx, function.__name__)


if __name__ == "__main__":
    unittest.main()
