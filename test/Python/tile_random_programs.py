# RUN: %python %s
# REQUIRES: pit-compile
"""Random programs of pit.jit do what Python does with the same text (Inputs/tile_reference.py).
PIT_TILE_PROGRAMS is their number, PIT_TILE_SEED the first one's seed."""

import inspect
import linecache
import os
import random
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import tile_reference  # noqa: E402
import tiles  # noqa: E402
from setup import pit  # noqa: E402
from tile_random import Program  # noqa: E402

SIZES = [(1, 1), (4, 8), (9, 17), (6, 20), (0, 5), (5, 0), (3, 9)]


def function(text, path, **names):
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    exec(compile(text, path, "exec"), names)
    return names["f"]


def arguments(m, n, array):
    def floats():
        # Few digits, so that equal ones stay equal, and rows of zeros.
        return np.round(array.standard_normal((m, n)), 1) * (array.random((m, 1)) < 0.6)

    x, y, h = floats().astype("f"), floats().astype("f"), floats().astype("e")
    q, b = array.integers(-9, 9, (m, n)).astype("i"), array.random((m, n)) < 0.5
    return x, y, q, b, h, np.ascontiguousarray(x.T)


def close(got, wanted, half):
    """Where these arrays agree."""
    if got.dtype.kind != "f":
        return got == wanted
    finite = np.isfinite(wanted)
    scale = max(1, np.abs(wanted[finite].astype("d")).max()) if finite.any() else 1
    tolerance = 2e-2 if half else 1e-3
    return np.isclose(got.astype("d"), wanted.astype("d"), rtol=tolerance,
                      atol=tolerance * scale, equal_nan=True) | ~finite


def results(function, given):
    found = function(*map(tile_reference.Tensor, given))
    return [f.array for f in (found if isinstance(found, tuple) else (found,))]


def determined(function, given, wanted, half, generator):
    """Where each result stays as it is, however values are rounded."""
    changes = [{"noise": generator}] * 3 + [{"snaps": True}]
    same = [np.ones(w.shape, bool) for w in wanted]
    for change in changes:
        with tile_reference.rounding(**change):
            for number, other in enumerate(results(function, given)):
                same[number] &= close(other, wanted[number], half)
    return same


class RandomPrograms(unittest.TestCase):
    def test_programs(self):
        first = int(os.environ.get("PIT_TILE_SEED") or random.randrange(1 << 30))
        programs = int(os.environ.get("PIT_TILE_PROGRAMS") or 12)
        compared = elements = 0
        for seed in range(first, first + programs):
            text = Program(random.Random(seed)).text()
            with self.subTest(f"PIT_TILE_SEED={seed} PIT_TILE_PROGRAMS=1\n{text}"):
                counts = self.check(seed, text)
                compared, elements = compared + counts[0], elements + counts[1]
        if programs >= 12:
            self.assertGreater(compared, 0.9 * elements, f"PIT_TILE_SEED={first}")

    def check(self, seed, text):
        """The program of a seed. Returns counts of compared elements, and of all."""
        mine = pit.jit(function(text, f"program{seed}.py", tile=pit.tile))
        program = mine.specialize().compile(opt_level=1)
        right = function("from __future__ import annotations\n" + text, "reference.py",
                         tile=tile_reference.language)
        array, half, counts = np.random.default_rng(seed), "f16" in text, [0, 0]
        for m, n in SIZES:
            given = arguments(m, n, array)
            got, wanted = program.f(*given), results(right, given)
            got = got if isinstance(got, tuple) else (got,)
            same = determined(right, given, wanted, half, np.random.default_rng(seed))
            for one, other, rounded in zip(got, wanted, same, strict=True):
                self.assertEqual((one.shape, one.dtype), (other.shape, other.dtype))
                self.assertTrue(np.all(close(one, other, half) | ~rounded),
                                f"{m} x {n}:\n{one}\n{other}")
                counts[0] += int(rounded.sum())
                counts[1] += rounded.size
        return counts

    def test_rounding(self):
        """An equation with a sum is not determined by its text, one of arguments is."""
        array = np.random.default_rng(0)
        x = array.standard_normal((8, 8)).astype("f")
        for equation, wanted in (("tile.dot(a, a.T) == tile.dot(a, a.T)", False),
                                 ("tile.dot(a, a.T) - 1e-7 == tile.dot(a, a.T)", False),
                                 ("a == a", True), ("a + 1 < a", True)):
            text = (f"def f(x):\n    o = tile.zeros((8, 8), tile.i1)\n"
                    f"    for i in tile.forall((0, 8, 8)):\n"
                    f"        a = tile.sread(x[i, 0:8])\n"
                    f"        tile.swrite(o[i, 0:8], {equation})\n    return o\n")
            run = function(text, "rounding.py", tile=tile_reference.language)
            same, = determined(run, [x], results(run, [x]), False, array)
            self.assertEqual(same.all(), wanted, equation)
            self.assertEqual(same.any(), wanted, equation)

    def test_reference(self):
        """The reference itself, on a product of live rows."""
        array = np.random.default_rng()
        a = array.standard_normal((20, 30)) * (array.random((20, 1)) < 0.5)
        b = array.standard_normal((30, 10))
        text = inspect.getsource(tiles.columns)
        text = "from __future__ import annotations\n" + text.replace("@pit.jit\n", "").replace(
            "def columns", "def f")
        run = function(text, "columns.py", tile=tile_reference.language)
        got = run(tile_reference.Tensor(a.astype("f")), tile_reference.Tensor(b.astype("f")))
        np.testing.assert_allclose(got.array, a @ b, rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
