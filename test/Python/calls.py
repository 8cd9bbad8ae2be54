# RUN: pit-compile %S/Inputs/functions.mlir -o %t.so
# RUN: env PIT_TEST_FUNCTIONS=%t.so %python %s
# REQUIRES: pit-compile
"""Calls of a program with arrays of numpy and of unknown frameworks."""

import copy
import gc
import os
import pickle
import pydoc
import shutil
import signal
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import Exporter, functions, pit  # noqa: E402

f = functions()


def draw(*shape, dtype=np.float32):
    return np.random.default_rng(len(shape)).integers(-4, 5, size=shape).astype(dtype)


class Calls(unittest.TestCase):
    def setUp(self):
        self.a, self.b, self.c = draw(33, 70), draw(70, 5), draw(33, 5)
        self.wanted = self.a @ self.b + self.c

    def check_matmul(self, a, b, c):
        np.testing.assert_array_equal(f.matmul(a, b, c), self.wanted)

    def refuses(self, message, entry, *arguments, **options):
        with self.assertRaises(pit.Error) as caught:
            entry(*arguments, **options)
        self.assertIn(message, str(caught.exception))

    def test_result_is_made(self):
        result = f.matmul(self.a, self.b, self.c)
        self.assertIs(type(result), np.ndarray)
        self.assertEqual((result.shape, result.dtype), ((33, 5), np.float32))
        np.testing.assert_array_equal(result, self.wanted)

    def test_choices(self):
        f.matmul(self.a, self.b, self.c)
        choice = f.matmul.choices()[0]
        self.assertEqual((choice.mark, choice.shape), (0, self.a.shape))
        self.assertEqual(f.matmul.choices(pit.Context()), [])
        with self.assertRaisesRegex(pit.Error, "context must be a pit.Context"):
            f.matmul.choices(3)

    def test_result_is_given(self):
        for given in ([np.full((33, 5), np.nan, np.float32)],
                      (np.full((33, 5), np.nan, np.float32),)):
            self.assertIs(f.matmul(self.a, self.b, self.c, out=given), given)
            np.testing.assert_array_equal(given[0], self.wanted)
        given = np.full((33, 5), np.nan, np.float32)
        self.assertIs(f.matmul(self.a, self.b, self.c, out=given), given)
        np.testing.assert_array_equal(given, self.wanted)

    def test_argument_may_not_be_the_result(self):
        self.refuses("shares memory with argument 2", f.matmul, self.a, self.b, self.c, out=self.c)

    def test_empty(self):
        np.testing.assert_array_equal(
            f.matmul(self.a[:, :0], self.b[:0], self.c), self.c)
        self.assertEqual(f.matmul(self.a[:0], self.b, self.c[:0]).shape, (0, 5))

    def test_element_types(self):
        for name, dtype in {"f64": np.float64, "f32": np.float32, "f16": np.float16,
                            "i8": np.int8, "i16": np.int16, "i32": np.int32,
                            "i64": np.int64}.items():
            x = draw(19, dtype=dtype)
            result = f[f"double_{name}"](x)
            self.assertEqual(result.dtype, dtype)
            np.testing.assert_array_equal(result, x + x)
            other = x.astype(np.float32 if dtype != np.float32 else np.float64)
            self.refuses("argument 0 has element type", f[f"double_{name}"], other)

    def test_bf16(self):
        bits = np.array([0x3F80, 0xC040, 0x0000], np.uint16)  # 1, -3, 0
        out = np.zeros(3, np.uint16)
        f.double_bf16(pit.view(bits, "bf16"), out=pit.view(out, "bf16"))
        np.testing.assert_array_equal(out, [0x4000, 0xC0C0, 0x0000])
        self.refuses("u16", f.double_bf16, bits, out=out)
        with self.assertRaisesRegex(pit.Error, "a view of 8 bits an element as bf16"):
            f.double_bf16(pit.view(out.view(np.uint8), "bf16"), out=out)
        with self.assertRaisesRegex(pit.Error, "no element type 'bf17'"):
            pit.view(bits, "bf17")

    def test_mask(self):
        x, mask = draw(50), draw(50) > 0
        result = f.masked(x, mask)
        self.assertEqual(result.shape, ())
        self.assertEqual(result, x[mask].sum())
        self.assertEqual(f.masked(x, np.zeros(50, bool)), 0)
        other = mask.view(np.uint8).copy()
        other[37] = 2
        self.refuses("argument 1: byte 37 of its data is 2; a bool array may hold 0 and 1", f.masked,
                     x, other.view(bool))
        self.refuses("element type u8", f.masked, x, mask.view(np.uint8))

    def test_scalars(self):
        x = draw(6)
        for n, s, h, b, m in [
                (3, 0.5, 2.0, 4.0, 2**40), (np.int8(-128), np.float32(2), np.float16(1), 0, -1),
                (np.array(5, np.int8), np.array(1.5, np.float32), np.array(-1, np.float16),
                 -2.5, np.array(7)), (True, 1, 2, 3, False)]:
            scaled, filled = f.scaled(x, n, s, h, b, m)
            np.testing.assert_array_equal(scaled, x * np.float32(s) + float(n) + float(h) + float(b))
            self.assertEqual(filled.dtype, np.int64)
            np.testing.assert_array_equal(filled, np.full(6, int(m)))

    def test_bf16_scalar_is_rounded_to_even(self):
        zero = np.zeros(1, np.float32)
        for value, wanted in [(1 + 2**-8, 1.0), (1 + 3 * 2**-8, 1 + 2**-6), (2.0**127, 2.0**127),
                              (float("inf"), float("inf")), (-(1 + 2**-8 + 2**-20), -1 - 2**-7)]:
            scaled, _ = f.scaled(zero, 0, 0.0, 0.0, value, 0)
            self.assertEqual(scaled[0], wanted)
        self.assertTrue(np.isnan(f.scaled(zero, 0, 0.0, 0.0, float("nan"), 0)[0][0]))

    def test_scalars_that_are_none(self):
        x = draw(6)
        self.refuses("128 is no value of i8", f.scaled, x, 128, 0.0, 0.0, 0.0, 0)
        self.refuses("2.5 is no value of i8", f.scaled, x, 2.5, 0.0, 0.0, 0.0, 0)
        self.refuses("no value of f16", f.scaled, x, 1, 0.0, 1e6, 0.0, 0)
        self.refuses("no value of f32", f.scaled, x, 1, 1e300, 0.0, 0.0, 0)
        self.refuses("argument 1 must be a number, i8: a str is no array", f.scaled, x, "1", 0.0,
                     0.0, 0.0, 0)
        self.refuses("rank 1; it must be 0", f.scaled, x, 1, x, 0.0, 0.0, 0)
        self.refuses("argument 0 must be an array, f32[?]: a float is no array", f.double_f32, 1.0)

    def test_scalars_of_one_bit(self):
        two, three = np.array([2], np.float32), np.array([3], np.float32)
        for value, wanted in [(False, 3), (True, 2), (0, 3), (1, 2), (np.bool_(1), 2), (1.0, 2),
                              (np.array(True), 2)]:
            self.assertEqual(f.chosen(value, two, three), wanted)
        for value in (2, -1, 0.5, np.int8(3), float("nan")):
            self.refuses("is no value of i1", f.chosen, value, two, three)
        self.refuses("a bool array may hold 0 and 1", f.chosen,
                     np.array(2, np.uint8).view(bool), two, three)

    def test_size_of_a_scalar(self):
        x = draw(4)
        np.testing.assert_array_equal(f.rows(3, x), np.tile(x, (3, 1)))
        self.assertEqual(f.rows(0, x).shape, (0, 4))
        self.refuses("", f.rows, -1, x)

    def test_shapes(self):
        self.refuses("dimension 0 of argument 1 is 33", f.matmul, self.a, self.a, self.c)
        self.refuses("must be 2", f.matmul, self.a[0], self.b, self.c)
        self.refuses("result 0", f.matmul, self.a, self.b, self.c,
                     out=np.zeros((33, 6), np.float32))
        self.refuses("matmul takes 3 arguments, not 2", f.matmul, self.a, self.b)
        self.refuses("matmul has 1 result, out has 2", f.matmul, self.a, self.b, self.c,
                     out=[self.c, self.c])

    def test_layout(self):
        self.refuses("contiguous, row-major", f.matmul, self.a, self.b[:, ::2],
                     draw(33, 3))
        self.refuses("argument 0: strides", f.matmul, np.asfortranarray(self.a), self.b, self.c)
        bytes_ = np.zeros(33 * 5 * 4 + 1, np.uint8)
        self.refuses("aligned", f.matmul, self.a, self.b,
                     bytes_[1:].view(np.float32).reshape(33, 5))
        records = np.zeros(9, [("x", np.float32), ("y", np.int8)])["x"]
        self.refuses("no multiples of the element's 4", f.double_f32, records)
        self.refuses("no element type '>f4'", f.double_f32, draw(9).astype(">f4"))
        self.refuses("no element type", f.double_f32, np.array(["x"]))

    def test_read_only(self):
        frozen = [self.a.copy(), self.b.copy(), self.c.copy()]
        for array in frozen:
            array.flags.writeable = False
        self.check_matmul(*frozen)
        self.refuses("result 0: the array is read-only", f.matmul, self.a, self.b, self.b[:33],
                     out=frozen[2])
        mask = draw(50) > 0
        mask.flags.writeable = False
        self.assertEqual(f.masked(draw(50), mask), draw(50)[mask].sum())

    def test_masked_array(self):
        # Of numpy's: its mask says which of its elements do not count.
        masked = np.ma.masked_array(self.a, self.a > 0)
        self.refuses("argument 0: pit would not see the mask", f.matmul, masked, self.b, self.c)
        self.check_matmul(masked.data, self.b, self.c)
        self.refuses("result 0: pit would not see the mask", f.matmul, self.a, self.b, self.c,
                     out=np.ma.masked_array(self.c))

    def test_memory_map(self):
        with tempfile.TemporaryFile() as file:
            mapped = np.memmap(file, np.float32, "w+", shape=(33, 5))
            f.matmul(self.a, self.b, self.c, out=mapped)
            np.testing.assert_array_equal(mapped, self.wanted)
            self.assertIs(type(f.double_f32(mapped[0])), np.ndarray)

    def test_arrays_that_are_none(self):
        for value, message in [([1.0], "a list is no array"), (None, "a NoneType is no array"),
                               (np.array([object()]), "no element type '|O'"),
                               (np.array(["x"]), "no element type '<U1'"),
                               (np.zeros(3, "M8[s]"), "no element type '<M8"),
                               (np.zeros(3, np.complex64), "has element type"),
                               (np.zeros(3, [("x", "f4")]), "no element type '|V4'")]:
            self.refuses("argument 0", f.double_f32, value)
            self.refuses(message, f.double_f32, value)
        self.refuses("result 0: a list is no array", f.double_f32, draw(3), out=[[1.0]])
        self.refuses("result 0: a int is no array", f.double_f32, draw(3), out=5)

    def test_results_partly_given(self):
        x, given = draw(6), np.zeros(6, np.int64)
        scaled, filled = f.scaled(x, 1, 1.0, 0.0, 0.0, 7, out=[None, given])
        self.assertIs(filled, given)
        np.testing.assert_array_equal(scaled, x + 1)
        np.testing.assert_array_equal(filled, 7)

    def test_tensor_for_an_index(self):
        index = pit.build_index(self.a, (1, 0), 0)
        wanted = "must be a pit.Index, as pit.build_index(..., micro_tile=[1, 0], axis=0) makes"
        for value in (self.a, 3, None):
            self.refuses(f"indexed: argument 2 {wanted}; it is a {type(value).__name__}", f.indexed,
                         self.a, self.b, value, self.c)
        self.refuses("argument 0 must be an array, f32[?, ?]: a Index is no array", f.indexed, index,
                     self.b, index, self.c)
        self.refuses("argument 1 must be a number, i8: a Index is no array", f.scaled, draw(3),
                     index, 0.0, 0.0, 0.0, 0)
        self.refuses("a Index is no array", f.double_f32, draw(3), out=index)

    def test_other_context(self):
        self.refuses("context must be a pit.Context, not a str", f.double_f32, draw(3),
                     context="cpu")

    def test_subclass_of_an_array(self):
        class Mine(np.ndarray):
            pass

        self.check_matmul(self.a.view(Mine), self.b, self.c)

    def test_protocol_alone(self):
        wrapped = [Exporter(x) for x in (self.a, self.b, self.c)]
        out = np.zeros((33, 5), np.float32)
        f.matmul(*wrapped, out=out)
        np.testing.assert_array_equal(out, self.wanted)
        out[...] = 0
        f.matmul(*[Exporter(x, version=1) for x in (self.a, self.b, self.c)],
                 out=Exporter(out, version=1))
        np.testing.assert_array_equal(out, self.wanted)
        self.refuses("read-only", f.matmul, *wrapped, out=Exporter(out, version=1, flags=1))
        self.refuses("made a copy", f.matmul, *wrapped, out=Exporter(out, version=1, flags=2))
        self.refuses("version 2 of DLPack", f.matmul, Exporter(self.a, version=2), self.b, self.c)
        self.refuses("cannot make a result like a Exporter", f.matmul, *wrapped)

    def test_array_interface_alone(self):
        class Interface:
            def __init__(self, array):
                self.__array_interface__ = array.__array_interface__
                self.array = array

        # The type has no such attribute, an instance has.
        self.refuses("a Interface is no array", f.double_f32, Interface(draw(3)))

        class Typed:
            array = draw(3)
            __array_interface__ = property(lambda self: self.array.__array_interface__)

        out = np.zeros(3, np.float32)
        f.double_f32(Typed(), out=out)
        np.testing.assert_array_equal(out, 2 * draw(3))

    def test_other_device(self):
        on_gpu = Exporter(self.a, device=(2, 0))
        cpu = pit.default_context()
        self.refuses("device", f.matmul, on_gpu, self.b, self.c, context=cpu,
                     out=np.zeros((33, 5), np.float32))

    def test_entries(self):
        self.assertEqual(f.entries[:3], ["matmul", "indexed", "scaled"])
        self.assertIn("matmul", dir(f))
        self.assertEqual(str(f.scaled.arguments[1]), "i8")
        self.assertEqual([str(r) for r in f.scaled.results], ["f32[?]", "i64[?]"])
        self.assertEqual(f.matmul.arguments[0].shape, (-1, -1))
        self.assertIn("index(axis 0, micro-tile [1, *])", repr(f.indexed))
        self.refuses("no entry 'nothing'; it has: matmul,", f.__getitem__, "nothing")
        with self.assertRaisesRegex(AttributeError, "no entry 'nothing'"):
            f.nothing

    def test_load_says_why(self):
        self.refuses("cannot load './nothing.so'", pit.load, "nothing.so")
        self.refuses("cannot load './nïchts.so'", pit.load, "nïchts.so")
        self.refuses("NUL", pit.load, "a\0.so")
        self.refuses("path must be a path, not a int", pit.load, 5)
        self.refuses("cannot load", pit.load, b"/" + b"x" * 5000)
        self.refuses("not a program", pit.load, pit._library.runtime_path())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ein Prögramm.so"
            path.write_text("text")
            self.refuses("ein Prögramm.so", pit.load, path)
            shutil.copy(os.environ["PIT_TEST_FUNCTIONS"], path)
            for name in (path, str(path), os.fsencode(path)):
                np.testing.assert_array_equal(pit.load(name).double_f32(draw(3)), 2 * draw(3))

    def test_arguments_live_as_long_as_they_must(self):
        before = [sys.getrefcount(x) for x in (self.a, self.b, self.c)]
        for _ in range(10):
            f.matmul(self.a, self.b, self.c)
        self.assertEqual(before, [sys.getrefcount(x) for x in (self.a, self.b, self.c)])

    def test_neither_pickled_nor_copied(self):
        index = pit.build_index(self.a, (1, 0), 0)
        for value in (f, f.matmul, pit.default_context(), index, pit.constant(draw(3)),
                      pit.Compiler()):
            for make in (pickle.dumps, copy.copy, copy.deepcopy):
                with self.assertRaisesRegex(TypeError, f"a pit.{type(value).__name__} can be neither"):
                    make(value)

    def test_index_and_context_in_a_cycle(self):
        for _ in range(20):
            context = pit.Context()
            index = pit.build_index(self.a, (1, 0), 0, context=context)
            context.index = index
            index.mine = context
            del context, index
        gc.collect()

    def test_another_process(self):
        # Made by a fork, after the threads of a call have been started here.
        self.check_matmul(self.a, self.b, self.c)
        child = os.fork()
        if child == 0:
            wrong = 1
            try:
                self.check_matmul(self.a, self.b, self.c)
                wrong = 0
            finally:
                os._exit(wrong)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_fork_while_threads_call(self):
        """The child finds no lock that a thread of its parent has."""
        x, stop = np.ones(3, np.float32), threading.Event()

        def call():
            while not stop.is_set():
                f.double_f32(x)

        threads = [threading.Thread(target=call) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(60):
                child = os.fork()
                if child == 0:
                    wrong = 1
                    try:
                        signal.alarm(60)
                        wrong = int(f.double_f32(x)[0] != 2)
                    finally:
                        os._exit(wrong)
                self.assertEqual(os.waitpid(child, 0)[1], 0)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_program_is_gone_while_it_runs(self):
        a, b = np.ones((400, 400), np.float32), np.ones((400, 400), np.float32)
        for _ in range(5):
            program = pit.load(os.environ["PIT_TEST_FUNCTIONS"])
            results = []
            thread = threading.Thread(
                target=lambda entry: results.append(entry(a, b, b)), args=(program.matmul,))
            thread.start()
            del program
            gc.collect()
            thread.join()
            self.assertEqual(results[0][0, 0], 401)

    def test_entry_outlives_its_program(self):
        entry = pit.compile("func.func @g(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
                            "  return %x : tensor<3xf32>\n}").g
        np.testing.assert_array_equal(entry(draw(3)), draw(3))

    def test_threads(self):
        context = pit.Context(threads=1)
        self.assertEqual(context.threads, 1)
        wrong = []

        def work(seed):
            rng = np.random.default_rng(seed)
            for _ in range(50):
                k = int(rng.integers(1, 90))
                a = rng.integers(-3, 4, size=(7, k)).astype(np.float32)
                b = rng.integers(-3, 4, size=(k, 5)).astype(np.float32)
                c = np.zeros((7, 5), np.float32)
                for given in (None, context):
                    if not np.array_equal(f.matmul(a, b, c, context=given), a @ b):
                        wrong.append((seed, k))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Package(unittest.TestCase):
    def test_version(self):
        self.assertRegex(pit.__version__, r"^\d+\.\d+\.\d+$")
        with self.assertRaisesRegex(AttributeError, "no attribute 'nothing'"):
            pit.nothing

    def test_help(self):
        for value in (pit, f.matmul, pit.Context):
            self.assertIn("pit", pydoc.render_doc(value))


class Contexts(unittest.TestCase):
    def test_devices(self):
        self.assertIs(pit.default_context(), pit.default_context("cpu"))
        self.assertIn("cpu", repr(pit.default_context()))
        for name in ("tpu", "cuda:x", "cuda:²"):
            with self.assertRaisesRegex(pit.Error, "no device"):
                pit.Context(name)

    def test_refused(self):
        for message, options in {
            "threads must be an integer, not '2'": {"threads": "2"},
            "threads is 4294967296, which is no integer of 32 bits": {"threads": 2**32},
            "kept_bytes must be an integer": {"kept_bytes": 1.5},
            "a device's number must be an integer": {"device": ("cpu", 0)},
            "a device's number is 99999999999": {"device": "cuda:99999999999"},
        }.items():
            with self.assertRaisesRegex(pit.Error, message):
                pit.Context(**options)
        with self.assertRaisesRegex(pit.Error, "nothing called 'all' to record"):
            pit.Context().record("all")

    def test_statistics(self):
        context = pit.Context()
        context.record("waste")
        a = np.eye(64, dtype=np.float32)
        f.matmul(a, draw(64, 200), draw(64, 200), context=context)
        build, = context.recorded()
        self.assertEqual((build.source, build.live > 0), (0, True))
        context.record("off")
        f.matmul(a, draw(64, 200), draw(64, 200), context=context)
        self.assertEqual(context.recorded(), [])


if __name__ == "__main__":
    unittest.main()
