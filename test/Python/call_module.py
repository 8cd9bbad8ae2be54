# RUN: pit-compile %S/Inputs/functions.mlir -o %t.so
# RUN: env PIT_TEST_FUNCTIONS=%t.so %python %s
# REQUIRES: pit-compile
"""The extension module that calls programs: every way to read an array, what goes wrong in
the middle of a call, and that nothing is left behind."""

import gc
import importlib.machinery
import importlib.util
import inspect
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import Exporter, functions, pit  # noqa: E402

f = functions()
REPEATS = int(os.environ.get("PIT_TEST_REPEATS", 100_000))
PACKAGE = Path(pit.__file__).parents[1]
MODULE = pit._call.extension()


def draw(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).integers(-4, 5, size=shape).astype(dtype)


class Typed:
    """An array that has __array_interface__ and nothing else."""

    def __init__(self, array):
        self.array = array

    __array_interface__ = property(lambda self: self.array.__array_interface__)


class Raising:
    """An array whose protocol fails with an exception of a type."""

    def __init__(self, error):
        self.error = error

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **arguments):
        raise self.error("no")


class Returning(Raising):
    """An array whose protocol returns anything."""

    def __dlpack__(self, **arguments):
        return self.error


def resident():
    """Bytes of memory that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Leaks(unittest.TestCase):
    def check(self, call, repeats=REPEATS):
        """Repeats a call: neither objects nor memory may become more."""
        for _ in range(repeats // 20):
            call()
        gc.collect()
        blocks, memory = sys.getallocatedblocks(), resident()
        for _ in range(repeats):
            call()
        gc.collect()
        self.assertLess(sys.getallocatedblocks() - blocks, repeats // 10)
        self.assertLess(resident() - memory, 1 << 20)

    def fails(self, entry, *arguments, **options):
        def call():
            try:
                entry(*arguments, **options)
            except pit.Error:
                return
            raise AssertionError("the call did not fail")
        return call

    def test_calls(self):
        a, b, c, out = draw(3, 7), draw(7, 5), draw(3, 5), draw(3, 5)
        x = draw(64)
        self.check(lambda: f.matmul(a, b, c, out=out))
        self.check(lambda: f.matmul(a, b, c))
        self.check(lambda: f.double_f32(x), REPEATS // 2)
        self.check(lambda: f.scaled(x, 3, 0.5, np.float16(2), 4.0, 2**40), REPEATS // 2)

    def test_results_of_many_bytes(self):
        x = draw(10_000)
        self.check(lambda: f.double_f32(x), REPEATS // 20)

    def test_other_ways(self):
        x, out = draw(64), draw(64)
        frozen = draw(64)
        frozen.flags.writeable = False
        bits, doubled = np.zeros(8, np.uint16), np.zeros(8, np.uint16)
        for call in (lambda: f.double_f32(Exporter(x), out=Exporter(out, version=1)),
                     lambda: f.double_f32(Typed(x), out=out),
                     lambda: f.double_f32(frozen),
                     lambda: f.double_bf16(pit.view(bits, "bf16"), out=pit.view(doubled, "bf16")),
                     lambda: f.rows(np.array(2), x[:4]), lambda: pit.live_fractions(x, [((1,), 0)])):
            self.check(call, REPEATS // 10)

    def test_index(self):
        a, b, c = draw(20, 7), draw(7, 4), draw(20, 4)
        index = pit.build_index(a, (1, 0), 0)
        self.check(lambda: f.indexed(a, b, index, c), REPEATS // 10)
        self.check(lambda: index.rebuild(a), REPEATS // 10)
        self.check(lambda: pit.constant(a).close(), REPEATS // 10)

    def test_errors(self):
        x, out = draw(6), draw(6)
        frozen = draw(6)
        frozen.flags.writeable = False
        index = pit.build_index(draw(4, 4), (1, 0), 0)
        for call in (self.fails(f.double_f32, 1.0), self.fails(f.double_f32, x, out=frozen),
                     self.fails(f.double_f32, x, x), self.fails(f.double_f32, x, out=[out, out]),
                     self.fails(f.double_f32, x.astype(float)), self.fails(f.double_f32, x[::2]),
                     self.fails(f.double_f32, x, context=3), self.fails(f.double_f32, index),
                     self.fails(f.scaled, x, 1000, 0.0, 0.0, 0.0, 0),
                     self.fails(f.scaled, x, 1, 0.0, 0.0, 0.0, 0, out=[None, out]),
                     self.fails(f.double_f32, Raising(ValueError)),
                     self.fails(f.double_f32, Returning(5)),
                     self.fails(f.double_bf16, pit.view(x, "bf16")),
                     self.fails(f.double_f32, Exporter(x))):
            self.check(call, REPEATS // 20)


class Middle(unittest.TestCase):
    def refuses(self, message, entry, *arguments, **options):
        with self.assertRaisesRegex(pit.Error, message):
            entry(*arguments, **options)

    def test_errors_of_others_pass(self):
        self.refuses("double_f32: argument 0: no", f.double_f32, Raising(MemoryError))
        for error in (KeyboardInterrupt, SystemExit):
            with self.assertRaises(error):
                f.double_f32(Raising(error))

        class Item:
            def item(self):
                raise LookupError("none")

        with self.assertRaisesRegex(LookupError, "none"):
            f.scaled(draw(3), Item(), 0.0, 0.0, 0.0, 0)

        class Truth(int):
            def __eq__(self, other):
                raise LookupError("neither")

        with self.assertRaisesRegex(LookupError, "neither"):
            f.chosen(Truth(1), draw(1), draw(1))

    def test_capsules_of_anything(self):
        exporter = Exporter(draw(3))
        capsule = exporter.__dlpack__()
        self.assertIn("dltensor", str(capsule))
        np.testing.assert_array_equal(f.double_f32(Returning(capsule), out=np.zeros(3, np.float32)),
                                      2 * draw(3))
        import ctypes
        rename = ctypes.pythonapi.PyCapsule_SetName
        rename.argtypes = (ctypes.py_object, ctypes.c_char_p)
        rename(capsule, b"used_dltensor")
        for value in (capsule, None, 5, "text", ()):
            with self.assertRaises((pit.Error, TypeError)):
                f.double_f32(Returning(value), out=np.zeros(3, np.float32))
        self.refuses("argument 0: its __dlpack__ gave 5, which is no tensor", f.double_f32,
                     Returning(5))

    def test_call_within_a_call(self):
        inner = []

        class Within(Exporter):
            def __dlpack__(self, **arguments):
                inner.append(f.double_f32(draw(9)))
                return super().__dlpack__(**arguments)

        np.testing.assert_array_equal(
            f.double_f32(Within(draw(5)), out=np.zeros(5, np.float32)), 2 * draw(5))
        np.testing.assert_array_equal(inner[0], 2 * draw(9))

    def test_out_changes_meanwhile(self):
        out = []

        class Clearing(Exporter):
            def __dlpack__(self, **arguments):
                out.clear()
                gc.collect()
                return super().__dlpack__(**arguments)

        result = np.zeros(5, np.float32)
        out.append(Clearing(result))
        f.double_f32(draw(5), out=out)
        np.testing.assert_array_equal(result, 2 * draw(5))
        self.assertEqual(out, [])

    def test_view_changes_meanwhile(self):
        view = pit.view(np.full(3, 0x3F80, np.uint16), "bf16")

        class Changing(Exporter):
            def __dlpack__(self, **arguments):
                view.array = np.zeros(100_000, np.uint16)
                gc.collect()
                return super().__dlpack__(**arguments)

        bits = np.zeros(3, np.uint16)
        out = pit.view(Changing(bits), "bf16")
        f.double_bf16(view, out=out)
        np.testing.assert_array_equal(bits, 0x4000)

    def test_view_of_itself(self):
        view = pit.view(np.zeros(3, np.uint16), "bf16")
        view.array = view
        with self.assertRaises(RecursionError):
            f.double_bf16(view, out=np.zeros(3, np.uint16))
        view.array = pit.view(pit.view(np.full(3, 0x3F80, np.int16), "u16"), "f16")
        bits = np.zeros(3, np.uint16)
        f.double_bf16(view, out=pit.view(bits, "bf16"))
        np.testing.assert_array_equal(bits, 0x4000)

    def test_array_whose_type_is_new(self):
        for _ in range(20):
            kind = type("Mine", (np.ndarray,), {})
            np.testing.assert_array_equal(f.double_f32(draw(5).view(kind)), 2 * draw(5))

    def test_temporaries(self):
        for i in range(200):
            result = f.double_f32(np.full(5000, i, np.float32))
            np.testing.assert_array_equal(result, 2 * i)
            f.double_f32(np.full(5000, i, np.float32), out=np.empty(5000, np.float32))

    def test_keywords(self):
        with self.assertRaisesRegex(TypeError, r"double_f32\(\) got an unexpected keyword argument "
                                               "'output'; there are out, context and stream"):
            f.double_f32(draw(3), output=None)
        np.testing.assert_array_equal(
            f.double_f32(draw(3), **{"".join(["o", "ut"]): None}, context=None, stream=None),
            2 * draw(3))
        self.assertEqual(str(inspect.signature(f.matmul)),
                         "(*args, out=None, context=None, stream=None)")

    def test_threads_and_kinds(self):
        """One entry, arrays of several kinds at once, and a result that goes away."""
        wrong = []

        def work(seed):
            x = draw(400 + seed)
            for i in range(300):
                given = [x, Exporter(x), Typed(x), pit.view(x, "f32")][(seed + i) % 4]
                out = [np.full_like(x, np.nan)]
                if not np.array_equal(f.double_f32(given, out=out)[0], 2 * x):
                    wrong.append((seed, i))
                if seed % 2 and not np.array_equal(f.double_f32(x), 2 * x):
                    wrong.append((seed, i))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Shapes(unittest.TestCase):
    refuses = Middle.refuses

    def test_ranks(self):
        for rank in (0, 2, 9, 32):
            self.refuses(f"argument 0 .*has rank {rank}; it must be 1", f.double_f32,
                         np.zeros((1,) * rank, np.float32), out=draw(1))

        class Deep:
            __array_interface__ = property(lambda self: {
                "data": (0x1000, False), "shape": (1,) * self.rank, "typestr": "<f4",
                "version": 3, "strides": (4,) * self.rank})

        for rank in (9, 65, 100_000):
            deep = Deep()
            deep.rank = rank
            self.refuses(f"argument 0 .*has rank {rank}; it must be 1", f.double_f32, deep,
                         out=draw(1))

    def test_descriptions_that_are_none(self):
        class Wrong:
            def __init__(self, **fields):
                self.fields = fields

            __array_interface__ = property(lambda self: {
                "data": (0x1000, False), "shape": (3,), "typestr": "<f4", "version": 3,
                **self.fields})

        for fields in ({"strides": (4, 4)}, {"shape": ("3",)}, {"shape": (2**70,)},
                       {"data": ("x", False)}, {"shape": (2.5,)}, {"shape": (-1,)}):
            with self.subTest(fields), self.assertRaises((pit.Error, TypeError, ValueError,
                                                          OverflowError)):
                f.double_f32(Wrong(**fields), out=draw(3))

    def test_strides(self):
        x = draw(8)
        self.refuses("argument 0: strides.* contiguous|contiguous", f.double_f32, x[::-1])
        self.refuses("contiguous", f.double_f32, x, out=draw(16)[::-2])
        self.refuses("contiguous", f.double_f32, Typed(x[::-1]), out=draw(8))
        self.refuses("contiguous", f.double_f32, np.broadcast_to(x[:1], (8,)))
        # A dimension of size 1 may have any stride.
        np.testing.assert_array_equal(f.double_f32(x[:1][::-1]), 2 * x[:1])
        np.testing.assert_array_equal(f.double_f32(x[3::7]), 2 * x[3::7])
        np.testing.assert_array_equal(f.double_f32(x[8:][::-1]), x[:0])

    def test_types_of_numpy(self):
        wanted = {"f": "double_f{}", "i": "double_i{}"}
        for name in "?bhilqBHILQefdgFDGSUVMmO":
            x = np.zeros(3, name)
            entry = wanted.get(x.dtype.kind, "").format(8 * x.itemsize)
            if entry in f.entries:
                self.assertEqual(f[entry](x).dtype, x.dtype)
                entry = "double_f32" if name != "f" else "double_f64"
            self.refuses("argument 0", f[entry if entry in f.entries else "double_f32"], x)

    def test_many_arguments(self):
        """More than a call has on the stack."""
        count = 40
        arguments = ", ".join(f"%x{i}: tensor<?xf32>" for i in range(count))
        text = [f"func.func @many({arguments}, %n: i32) -> (tensor<?xf32>, tensor<?xf32>) {{"]
        for i in range(1, count):
            left = "%x0" if i == 1 else f"%s{i - 1}"
            text.append(f"%s{i} = arith.addf {left}, %x{i} : tensor<?xf32>")
        text.append(f"return %s{count - 1}, %x0 : tensor<?xf32>, tensor<?xf32>\n}}")
        many = pit.compile("\n".join(text)).many
        arrays = [draw(11) + i for i in range(count)]
        for _ in range(100):
            total, first = many(*arrays, 5)
            np.testing.assert_array_equal(total, np.sum(arrays, 0))
            np.testing.assert_array_equal(first, arrays[0])
        self.refuses("argument 40: 4294967296 is no value of i32", many, *arrays, 2**32)
        self.refuses("many takes 41 arguments, not 40: <pit entry many", many, *arrays)


class Scalars(unittest.TestCase):
    def pack(self, name, value):
        """The bytes, or None if the type has no such value."""
        try:
            return pit._call.pack_scalar(pit._types.BY_NAME[name], value)
        except pit.Error as error:
            self.assertEqual(str(error), f"{value!r} is no value of {name}")
            return None

    def expect(self, letter, value):
        try:
            return struct.pack("<" + letter, value)
        except (struct.error, OverflowError):
            return None

    def test_integers(self):
        values = [sign * (2**bits + d) for bits in (0, 7, 8, 15, 16, 31, 32, 63, 64, 100)
                  for d in (-1, 0, 1) for sign in (1, -1)]
        for t in pit._types.TYPES:
            if t.name[0] in "iu" and t.name != "i1":
                for value in [*values, True, 1.5, 1j, "1", None]:
                    self.assertEqual(self.pack(t.name, value), self.expect(t.pack, value),
                                     (t.name, value))

    def test_floats(self):
        rng = np.random.default_rng()
        halves = np.arange(0x7C01, dtype=np.uint16).view(np.float16).astype(np.float64)
        middles = (halves[:-2] + halves[1:-1]) / 2
        values = [*halves, *middles, *np.nextafter(middles, 0), *np.nextafter(middles, 1e9),
                  *rng.integers(0, 2**64, 20_000, np.uint64).view(np.float64),
                  65519.999, 65520.0, 3.4028235677973366e38, 3.4028235e38, 1e-45, 1e-46, 5e-324]
        for name, letter in (("f16", "e"), ("f32", "f"), ("f64", "d")):
            for value in values:
                for number in (float(value), -float(value)):
                    if number == number:
                        self.assertEqual(self.pack(name, number), self.expect(letter, number),
                                         (name, number))
            for value in (10**400, "1", None, 1j):
                self.assertIsNone(self.pack(name, value))
            nan = np.frombuffer(self.pack(name, float("nan")), f"f{pit._types.BY_NAME[name].size}")
            self.assertTrue(np.isnan(nan[0]))

    def test_unknown_types(self):
        for code, bits in ((3, 32), (2, 8), (0, 128), (0, 7), (6, 1), (4, 32), (255, 255)):
            with self.assertRaisesRegex(pit.Error, f"code {code} and {bits} bits"):
                MODULE.pack_scalar(code, bits, 1)


class Modules(unittest.TestCase):
    def test_not_bound(self):
        loader = importlib.machinery.ExtensionFileLoader("_pit_call", MODULE.__file__)
        other = importlib.util.module_from_spec(
            importlib.util.spec_from_file_location("_pit_call", MODULE.__file__, loader=loader))
        loader.exec_module(other)
        self.assertIsNot(other, MODULE)
        for call in (lambda: other.read(draw(3)), lambda: other.pack_scalar(0, 8, 1),
                     lambda: other.Caller(0, None, [], [])):
            with self.assertRaisesRegex(RuntimeError, "part of the package pit"):
                call()
        with self.assertRaisesRegex(TypeError, "Error is missing"):
            other.bind(pit._library.runtime()._handle)
        for kind in (other.Adapter, other.Array):
            with self.assertRaisesRegex(TypeError, "cannot create"):
                kind()

    def test_runtime_alone(self):
        """Without the module beside it; the runtime found by the loader alone."""
        program = ("import numpy, pit\ntry: pit.build_index(numpy.ones(1), (1,), 0)\n"
                   "except pit.Error as error: print(error)\n")
        runtime = Path(pit._library.runtime_path())
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(runtime, folder)
            for name in (f"{folder}/{runtime.name}", runtime.name):
                said = subprocess.run(
                    [sys.executable, "-c", program], capture_output=True, text=True, timeout=60,
                    env={**os.environ, "PYTHONPATH": str(PACKAGE), "PIT_RUNTIME_LIBRARY": name,
                         "LD_LIBRARY_PATH": folder}).stdout
                self.assertIn(f"cannot load {folder}/_pit_call.abi3.so", said)
                self.assertIn("belongs beside libpit_runtime.so", said)

    def test_interpreters(self):
        """A second interpreter of the process has a state of its own."""
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            self.skipTest("this Python does not show its interpreters")
        library = os.environ.get("PIT_TEST_FUNCTIONS")
        if library is None:
            self.skipTest("the program was compiled in this process")
        script = f"""if True:
            import ctypes, sys
            sys.path.insert(0, {str(PACKAGE)!r})
            import pit
            class Typed:
                def __init__(self, memory):
                    self.memory = memory
                __array_interface__ = property(lambda self: {{
                    "data": (ctypes.addressof(self.memory), False), "shape": (3,),
                    "typestr": "<f4", "version": 3}})
            x, out = (ctypes.c_float * 3)(1, -2, 3), (ctypes.c_float * 3)()
            program = pit.load({library!r})
            for _ in range(100):
                program.double_f32(Typed(x), out=Typed(out))
            assert out[:] == [2, -4, 6], out[:]
            try:
                program.double_f32(5)
            except pit.Error as error:
                assert "argument 0 must be an array" in str(error)
            else:
                assert False
        """
        for _ in range(3):
            other = interpreters.create(isolated=False)  # ctypes needs that in 3.12
            try:
                interpreters.run_string(other, script)
            finally:
                interpreters.destroy(other)
            np.testing.assert_array_equal(f.double_f32(draw(4)), 2 * draw(4))


if __name__ == "__main__":
    unittest.main()
