# RUN: %python %s
# REQUIRES: pit-compile
"""Calls of functions of pit.jit: arguments, constants, what is compiled and when."""

import contextlib
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402
from pit import tile  # noqa: E402

random = np.random.default_rng()
FACTOR = 2.0


class settings:
    OFFSET = 1.0


@pit.jit
def scaled(x: tile.tensor["N"], *, size=16, square=False):
    """FACTOR times x."""
    N, = x.shape
    y = tile.empty((N,), x.dtype)
    for i in tile.forall((0, N, size)):
        t = tile.sread(x[i])
        if square:
            t = t * t
        tile.swrite(y[i], t * FACTOR)
    return y


@pit.jit
def added(a: tile.f32["M", "N"], b: tile.f32["M", "N"], scale: tile.f32, *, m=4, n=16):
    M, N = a.shape
    c, d = tile.empty((M, N), tile.f32), tile.empty((M, N), tile.f32)
    for i, j in tile.forall((0, M, m), (0, N, n)):
        tile.swrite(c[i, j], tile.sread(a[i, j]) + tile.sread(b[i, j]))
        tile.swrite(d[i, j], tile.sread(a[i, j]) * scale)
    return c, d


@pit.jit
def means(x: tile.f32["M", "W"], *, W):
    M = x.shape[0]
    y = tile.empty((M,), tile.f32)
    for i in tile.forall((0, M, 8)):
        tile.swrite(y[i], tile.sum(tile.sread(x[i, :]), axis=1) / float(W))
    return y


@contextlib.contextmanager
def compilations():
    """The list of texts that are compiled meanwhile."""
    from pit import _cache
    texts, program = [], _cache.program

    def spy(text, *arguments, **options):
        texts.append(text)
        return program(text, *arguments, **options)

    with mock.patch.object(_cache, "program", spy):
        yield texts


class Calls(unittest.TestCase):
    def test_programs_are_kept(self):
        with compilations() as texts:
            for size in (5, 100, 0):
                x = random.standard_normal(size).astype("f")
                np.testing.assert_array_equal(scaled(x), 2 * x)
            self.assertLessEqual(len(texts), 1)
            scaled(x.astype("d"))
            scaled(x, size=8)
            scaled(x, size=8)
            scaled(x, square=True)
            self.assertLessEqual(len(texts), 4)
            self.assertEqual(len(set(texts)), len(texts))
            means(random.standard_normal((3, 4)).astype("f"))
            means(random.standard_normal((9, 4)).astype("f"))
            count = len(texts)
            means(random.standard_normal((9, 5)).astype("f"))
            self.assertEqual(len(texts), count + 1)

    def test_constants(self):
        x = random.standard_normal(40).astype("f")
        np.testing.assert_array_equal(scaled(x, square=True, size=3), 2 * (x * x))
        with self.assertRaisesRegex(pit.Error, "scaled has no constant 'sizes'; it has: size"):
            scaled(x, sizes=3)
        with self.assertRaisesRegex(pit.Error, "scaled: constant 'size' is a list of 1"):
            scaled.mlir(x, size=[3])
        with self.assertRaisesRegex(pit.Error, "scaled: constant 'size' is a list of 1"):
            scaled(x, size=[3])
        np.testing.assert_array_equal(scaled(x, size=np.int64(3)), scaled(x, size=3))
        with self.assertRaisesRegex(pit.Error, "argument 'x' is given by its position"):
            scaled.mlir(x=x)
        with self.assertRaisesRegex(tile.SourceError, "a constant size above 0, not 0"):
            scaled(x, size=0)
        with self.assertRaisesRegex(pit.Error, "means: constant 'W' is not given"):
            means.mlir()
        with self.assertRaisesRegex(pit.Error, "means: x: size 'W' is 3, and here 4"):
            means(np.zeros((2, 4), "f"), W=3)
        with self.assertRaisesRegex(pit.Error, "size 'W' must be a whole number, not 'a'"):
            means.mlir(W="a")

    def test_globals(self):
        """What the function reads outside of itself is a constant, too."""
        global FACTOR
        x = random.standard_normal(40).astype("f")
        np.testing.assert_array_equal(scaled(x), 2 * x)
        FACTOR = 3.0
        try:
            np.testing.assert_array_equal(scaled(x), 3 * x)
        finally:
            FACTOR = 2.0
        np.testing.assert_array_equal(scaled(x), 2 * x)

    def test_enclosing_variables(self):
        shift = 1.0

        def moved(t):
            return t + shift

        @pit.jit
        def local(x: tile.f32["N"]):
            N, = x.shape
            y = tile.empty((N,), tile.f32)
            for i in tile.forall((0, N, 8)):
                tile.swrite(y[i], moved(tile.sread(x[i])))
            return y

        x = random.standard_normal(40).astype("f")
        np.testing.assert_array_equal(local(x), x + 1)
        shift = 5.0
        np.testing.assert_array_equal(local(x), x + 5)

    def test_results(self):
        a, b = (random.standard_normal((9, 20)).astype("f") for _ in range(2))
        c, d = added(a, b, 3.0)
        np.testing.assert_array_equal(c, a + b)
        np.testing.assert_array_equal(d, a * 3)
        mine = np.empty((9, 20), "f")
        got, d = added(a, b, 3, out=[mine, None])
        self.assertIs(got, mine)
        np.testing.assert_array_equal(mine, a + b)
        context = pit.Context(threads=1)
        np.testing.assert_array_equal(added(a, b, 1.0, context=context)[0], a + b)

    def test_wrong_arguments(self):
        a = np.zeros((3, 4), "f")
        with self.assertRaisesRegex(pit.Error, r"added takes 3 arguments \(a, b, scale\), not 2"):
            added(a, a)
        with self.assertRaisesRegex(pit.Error, r"argument 1 \(b\).*f32"):
            added(a, a.astype("d"), 1.0)
        with self.assertRaisesRegex(pit.Error, "4.*5|5.*4|'N'"):
            added(a, np.zeros((3, 5), "f"), 1.0)
        with self.assertRaisesRegex(pit.Error, "rank"):
            added(a, np.zeros(3, "f"), 1.0)
        with self.assertRaisesRegex(pit.Error, "scaled: x has elements of u8; tile programs"):
            scaled(np.zeros(3, np.uint8))
        with self.assertRaisesRegex(pit.Error, "scaled: x must be an array"):
            scaled(3)
        with self.assertRaisesRegex(pit.Error, "rank"):
            scaled(a)
        with self.assertRaisesRegex(pit.Error, "scaled: x must be .* not of rank 2"):
            scaled.mlir(a)
        with self.assertRaisesRegex(pit.Error, "added: b: size 'N' is 3, and here 4"):
            added.mlir(tile.f32["M", 3], tile.f32["M", 4])
        with self.assertRaisesRegex(pit.Error, "added: b must be .* not of f16"):
            added.mlir(tile.f32["M", 3], tile.f16["M", 3])
        with self.assertRaisesRegex(pit.Error, "scaled: x may have any element type; give an arra"):
            scaled.mlir()

    def test_names_of_sizes(self):
        """Equal names are equal sizes, also where no tile is read by both."""
        @pit.jit
        def first(x: tile.f32["N"], y: tile.f32["N"]):
            z = tile.copy(x)
            for i in tile.forall((0, x.shape[0], 8)):
                tile.swrite(z[i], tile.sread(x[i]) + tile.sread(y[0:1]))
            return z

        x = random.standard_normal(9).astype("f")
        np.testing.assert_array_equal(first(x, x), x + x[0])
        with self.assertRaisesRegex(pit.Error, "dimension 0 of y and dimension 0 of x are both"):
            first(x, x[:5].copy())

    def test_assertions(self):
        @pit.jit
        def short(x: tile.f32["N"], n: tile.i32):
            N, = x.shape
            assert N <= 8, "rows are long"
            assert n > 0
            y = tile.copy(x)
            for i in tile.forall((0, N, 8)):
                tile.swrite(y[i], tile.sread(x[i]) * n.to(tile.f32))
            return y

        np.testing.assert_array_equal(short(np.ones(8, "f"), 2), np.full(8, 2))
        with self.assertRaisesRegex(pit.Error, r"rows are long \(.*tile_calls.py:\d+\)"):
            short(np.ones(9, "f"), 2)
        with self.assertRaisesRegex(pit.Error, "n > 0"):
            short(np.ones(8, "f"), 0)

    def test_text(self):
        text = scaled.mlir(tile.f32["N"])
        self.assertIn("func.func @scaled(%x: tensor<?xf32>) -> tensor<?xf32>", text)
        self.assertNotIn("loc(", text)
        self.assertEqual(pit.compile(text).entries, ["scaled"])
        line = scaled.source.tree.lineno
        located = scaled.mlir(tile.f32["N"], locations=True)
        self.assertIn(f'loc("{__file__}":{line}:', located)
        self.assertIn("tensor<4xf16>", scaled.mlir(tile.f16[4]))
        self.assertIn("pit.forall", scaled.show(tile.f32["N"]))
        self.assertIn("llvm.func @pit_scaled", scaled.show(tile.f32["N"], level="mlir-llvm"))
        self.assertIn(".entry", scaled.show(tile.f32["N"], level="ptx", target="cuda"))
        self.assertIn("<pre>", text._repr_html_())
        with self.assertRaisesRegex(pit.Error, "no level 4 to show"):
            scaled.show(tile.f32["N"], level=4)

    def test_artifacts(self):
        made = scaled.specialize(tile.f32["N"])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scaled.so"
            path.write_bytes(made.artifact("so"))
            x = random.standard_normal(40).astype("f")
            np.testing.assert_array_equal(pit.load(path).scaled(x), 2 * x)

    def test_explain(self):
        """What the compiler says has Python's lines."""
        import tiles
        made = tiles.matmul.specialize(tile.f16["M", "K"], tile.f16["K", "N"], k=32)
        said = made.explain(target="cuda", chip="sm_90a")
        self.assertRegex(said, r"tiles.py:\d+:\d+: remark: .* no multiple of 64\n +tile.swrite\(c")

    def test_sameness(self):
        self.assertEqual((scaled.__name__, scaled.__doc__), ("scaled", "FACTOR times x."))
        self.assertIn("pit.jit scaled(x: tile.tensor['N'])", repr(scaled))
        self.assertIs(pit.jit, tile.jit)


if __name__ == "__main__":
    unittest.main()
