# RUN: %python %s
# REQUIRES: pit-compile
"""Calls of functions of pit.jit: arguments, constants, what is compiled and when."""

import builtins
import contextlib
import copy
import functools
import linecache
import math
import pickle
import struct
import sys
import tempfile
import types
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


def reading(expression, **values):
    """A function of pit.jit that multiplies by what an expression gives, and its globals."""
    text = ("def f(x: tile.f32['N']):\n    N, = x.shape\n    y = tile.empty((N,), tile.f32)\n"
            "    for i in tile.forall((0, N, 8)):\n"
            f"        tile.swrite(y[i], tile.sread(x[i]) * ({expression}))\n    return y\n")
    path = f"reading {expression}"
    linecache.cache[path] = len(text), None, text.splitlines(True), path
    values.update(tile=tile)
    exec(compile(text, path, "exec"), values)
    return pit.jit(values["f"]), values


def twice(t=1.0, *, by=2.0, parts=[1.0]):
    return t * by * parts[0]


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

    def test_reads(self):
        """Whatever a program has read of Python, it is compiled again where that has changed: each
        path by which the front end reads."""
        module, lazy = types.ModuleType("module"), types.ModuleType("lazy")
        module.K, lazy.attributes = 2.0, {"K": 2.0}
        lazy.__getattr__ = lambda name: lazy.attributes[name]
        other = types.ModuleType("other")
        other.K = 5.0
        listed, deep = [2.0, 1.0], (1.0, [2.0])

        def change(name, value):
            return lambda names: names.__setitem__(name, value)

        def defaults(names):
            twice.__defaults__ = (3.0,)

        def keywords(names):
            twice.__kwdefaults__["by"] = 5.0

        def contents(names):
            twice.__kwdefaults__["parts"][0] = 7.0

        def code(names):
            names["g"].__code__ = (lambda: 3.0).__code__

        def two():
            return 2.0

        for expression, values, change_it in [
                ("K", {"K": 2.0}, change("K", 5.0)),
                ("K", {"K": 0.0}, change("K", -0.0)),
                ("K", {"K": 1.0}, change("K", True)),
                ("K", {"K": 2.0}, lambda names: names.pop("K")),
                ("float(K is None)", {"K": None}, lambda names: names.pop("K")),
                ("m.K", {"m": module}, lambda names: setattr(module, "K", 5.0)),
                ("m.K", {"m": module}, lambda names: delattr(module, "K")),
                ("m.K", {"m": other}, change("m", types.SimpleNamespace(K=1.0))),
                ("m.K", {"m": lazy}, lambda names: lazy.attributes.update(K=5.0)),
                ("m.K", {"m": lazy}, lambda names: setattr(lazy, "K", 7.0)),
                ("L[0]", {"L": listed}, lambda names: listed.__setitem__(0, 3.0)),
                ("float(len(L))", {"L": listed}, lambda names: listed.append(3.0)),
                ("T[1][0]", {"T": deep}, lambda names: deep[1].__setitem__(0, 3.0)),
                ("T[1][0][0]", {"T": (1.0, [[2.0]])}, lambda names: names["T"][1][0].clear()),
                ("g()", {"g": twice}, change("g", math.sqrt)),
                ("g()", {"g": twice}, defaults),
                ("g()", {"g": twice}, keywords),
                ("g()", {"g": twice}, contents),
                ("g()", {"g": two}, code),
                ("max(1.0, 2.0)", {}, change("max", min)),
                ("K", {}, lambda names: delattr(builtins, "K")),
        ]:
            with self.subTest(expression, values=values):
                if not values and expression == "K":
                    builtins.K = 2.0
                function, names = reading(expression, **values)
                made = function.specialize()
                self.assertTrue(made.is_current())
                change_it(names)
                self.assertFalse(made.is_current())

    def test_what_is_the_same(self):
        """A value that is another object, and equal, is no reason to compile again."""
        function, names = reading("K * L[0]", K=2.5, L=[3.5])
        made = function.specialize()
        names["K"], names["L"][0] = float("2.5"), float("3.5")
        self.assertTrue(made.is_current())
        names["unused"] = 3
        self.assertTrue(made.is_current())

    def test_objects(self):
        """Of an object whose contents may change a program sees which one it is."""
        class Settings:
            def __float__(self):
                return 2.0

        function, names = reading("2.0 if S is None else 3.0", S=Settings())
        self.assertIn("3.0", function.mlir())
        made = function.specialize()
        names["S"] = None
        self.assertFalse(made.is_current())
        for expression, value in [
                ("float(S)", Settings()), ("float(len(S))", {1: 2}), ("2.0 if S else 3.0", set()),
                ("2.0 if S == 1 else 3.0", Settings()), ("2.0 if 1 in S else 3.0", {1}),
                ("float(f'{S}')", Settings()), ("sum(S)", {2.0}), ("float(S)", np.ones(())),
                ("(1.0, 2.0)[S]", np.array(1)), ("float(str(S))", Settings())]:
            with self.subTest(expression), self.assertRaisesRegex(
                    tile.SourceError, f"a {type(value).__name__} may change unseen"):
                reading(expression, S=value)[0].mlir()
        self.assertIn("2.5", reading("S", S=np.float32(0.25))[0].mlir())
        with self.assertRaisesRegex(tile.SourceError, "a Settings has no scale"):
            reading("S.scale", S=Settings())[0].mlir()

    def test_names_of_python(self):
        """Names mean what they mean in Python."""
        @functools.wraps(twice)
        def wrapper():
            return 3.0

        self.assertIn("3.0", reading("g()", g=wrapper)[0].mlir())
        for text, message in [
                ("K if False else K2", "there is no K2 here"),
                ("y2", "there is no y2 here")]:
            with self.subTest(text), self.assertRaisesRegex(tile.SourceError, message):
                reading(text, K=1.0)[0].mlir()

        @pit.jit
        def late(x: tile.f32["N"], *, known=False):
            y = tile.copy(x)
            if known:
                FACTOR = 3.0
            for i in tile.forall((0, x.shape[0], 8)):
                tile.swrite(y[i], tile.sread(x[i]) * FACTOR)
            return y

        self.assertIn("3.0", late.mlir(known=True))
        with self.assertRaisesRegex(tile.SourceError, "FACTOR has no value here"):
            late.mlir()

    def test_constants_that_are_equal(self):
        """Programs are kept by what tells constants apart, which == does not."""
        @pit.jit
        def filled(x: tile.f64["N"], *, c):
            y = tile.full((x.shape[0],), 0, tile.f64)
            for i in tile.forall((0, x.shape[0], 8)):
                value = c[0] if isinstance(c, tuple) else c
                kind = 0.5 if value is True else 4.0 if isinstance(value, float) else 1.0
                tile.swrite(y[i], tile.full((8,), value, tile.f64) * kind)
            return y

        x = np.zeros(3)
        nan = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000123))[0]
        for c in (0.0, -0.0, 1, True, 1.0, (1,), (True,), (1.0,), (0.0,), (-0.0,), math.nan, nan):
            value = c[0] if isinstance(c, tuple) else c
            wanted = value * (0.5 if value is True else 4.0 if isinstance(value, float) else 1.0)
            got = filled(x, c=c)[0]
            with self.subTest(c):
                self.assertEqual(struct.pack("<d", got), struct.pack("<d", wanted))
        count = len(filled._specialized)
        for c in (0.0, float("nan"), np.float64(1), (np.int64(1),)):
            filled(x, c=c)
        self.assertEqual(len(filled._specialized), count)
        with self.assertRaisesRegex(pit.Error, "f: constant 'ks' is a list of 1"):
            @pit.jit
            def f(x: tile.f32["N"], *, ks=[1.0]):
                return tile.copy(x)

    def test_copies(self):
        """A function is copied and pickled by its name, as functions are."""
        x = np.ones(3, "f")
        np.testing.assert_array_equal(scaled(x), 2 * x)
        self.assertIs(copy.deepcopy({"f": scaled})["f"], scaled)
        self.assertIs(copy.copy(scaled), scaled)
        self.assertIs(pickle.loads(pickle.dumps(scaled)), scaled)
        with self.assertRaisesRegex((pickle.PicklingError, AttributeError), "local"):
            pickle.dumps(self.local_function())

    @staticmethod
    def local_function():
        @pit.jit
        def local(x: tile.f32["N"]):
            return tile.copy(x)
        return local

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
