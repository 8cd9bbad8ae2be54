# RUN: %python %s
# REQUIRES: pit-compile
"""The compiler from Python."""

import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

TEXT = """
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %r = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @same(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
"""
MARKED = """
func.func @f(%a: tensor<256x128xf32>, %b: tensor<128x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %s = pit.sparse %a : tensor<256x128xf32>
  %r = linalg.matmul ins(%s, %b : tensor<256x128xf32>, tensor<128x256xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
"""
X = np.arange(3, dtype=np.float32)


class Compile(unittest.TestCase):
    def test_program(self):
        program = pit.compile(TEXT)
        self.assertEqual(program.entries, ["twice", "same"])
        np.testing.assert_array_equal(program.twice(X), 2 * X)
        np.testing.assert_array_equal(program.same(X), X)

    def test_one_entry(self):
        self.assertEqual(pit.compile(TEXT, entry="same").entries, ["same"])

    def test_samples(self):
        few = np.zeros((256, 128), np.float32)
        few.flat[::9] = 1
        rows = np.zeros_like(few)
        rows[::20] = 1
        compiler = pit.Compiler()

        def rule(**options):
            compiler.artifact(MARKED, "mlir", explain=True, **options)
            lines = compiler.diagnostics.splitlines()
            return [line.split("candidate ")[1].split(" ")[0] for line in lines
                    if "chosen: the least" in line] or ["dense"]

        self.assertEqual(rule(samples={"f:0": few}), ["1x1"])
        self.assertEqual(rule(samples={"f:0": rows}), ["1x*"])
        self.assertEqual(rule(samples={"f:0": np.ones_like(few)}), ["dense"])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.npy"
            np.save(path, rows)
            self.assertEqual(rule(samples={"f:0": [path, rows]}), ["1x*"])
        b, c = np.ones((128, 256), np.float32), np.zeros((256, 256), np.float32)
        program = pit.compile(MARKED, samples={"f:0": few})
        np.testing.assert_allclose(program.f(few, b, c), few @ b)
        self.assertEqual(program.f.choices(), [])
        for samples, message in [({"g:0": few}, "there are: f:0"),
                                 ({"f:0": few.T}, "mark 'f:0': .* has shape 128x256"),
                                 ({"f:0": object()}, "must be an array or a path"),
                                 ([few], "samples must be a dict")]:
            with self.assertRaisesRegex(pit.Error, message):
                pit.compile(MARKED, samples=samples)

    def test_profile(self):
        few = np.zeros((256, 128), np.float32)
        few.flat[::9] = 1
        b, c = np.ones((128, 256), np.float32), np.zeros((256, 256), np.float32)
        context = pit.Context("cpu")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "p.json"
            with self.assertRaisesRegex(pit.Error, "no call has recorded anything"):
                context.write_profile(path)
            recording = pit.compile(MARKED, pipeline="record=true")
            for _ in range(3):
                recording.f(few, b, c, context=context)
            context.write_profile(path)
            compiler = pit.Compiler()
            program = compiler.compile(MARKED, profile=path, explain=True)
            self.assertRegex(compiler.diagnostics, r"\(3 calls\) of mark 'f:0'")
            np.testing.assert_allclose(program.f(few, b, c), few @ b)
            self.assertEqual(program.f.choices(), [])
            with self.assertRaisesRegex(pit.Error, "is of another program"):
                compiler.compile(MARKED.replace("128", "64"), profile=path)
            with self.assertRaisesRegex(pit.Error, "cannot write"):
                context.write_profile(Path(folder) / "nowhere" / "p.json")

    def test_errors(self):
        for text, options, message in [
                ("func.func", {}, "error"), (TEXT, {"target": "abacus"}, "abacus"),
                (TEXT, {"entry": "nothing"}, "nothing"),
                (TEXT, {"target": "nvptx", "device_code": "gold"}, "'gold' is not known")]:
            with self.assertRaisesRegex(pit.Error, message):
                pit.compile(text, **options)
        for text, options, message in [
                (5, {}, "must be a string or bytes, not a int"),
                (Path("f.mlir"), {}, "path.read_text()"),
                (TEXT, {"nothing": 1}, "no option 'nothing'; there are: target, cpu"),
                (TEXT, {"target": 1}, "target must be a string, not a int"),
                (TEXT, {"target": "cpu\0"}, "NUL"),
                (TEXT, {"opt_level": "3"}, "opt_level must be a number, not '3'"),
                (TEXT, {"openmp": None}, "openmp must be a bool"),
                (TEXT, {"opt_level": 2**40}, "opt_level must be a number")]:
            with self.assertRaises(pit.Error) as caught:
                pit.compile(text, **options)
            self.assertIn(message, str(caught.exception))
        self.assertEqual(pit.compile(TEXT.encode(), target=None).entries, ["twice", "same"])
        with self.assertRaisesRegex(pit.Error, "my.mlir:2"):
            pit.Compiler().compile("\nfunc.func", name="my.mlir")

    def test_level_of_environment(self):
        named = {level: pit.Compiler().artifact(TEXT, "llvm", opt_level=level) for level in (0, 3)}
        self.assertNotEqual(named[0], named[3])
        for given, level in (("0", 0), ("3", 3), ("", 3)):
            with mock.patch.dict(os.environ, PIT_OPT_LEVEL=given):
                self.assertEqual(pit.Compiler().artifact(TEXT, "llvm"), named[level])
                self.assertEqual(pit.Compiler().artifact(TEXT, "llvm", opt_level=0), named[0])
        with mock.patch.dict(os.environ, PIT_OPT_LEVEL="fast"):
            with self.assertRaisesRegex(pit.Error, "PIT_OPT_LEVEL is 'fast' in the environment"):
                pit.compile(TEXT)

    def test_library_is_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            path, programs = Path(folder) / "f.so", []
            for factor in range(1, 4):
                text = TEXT.replace("linalg.add", "linalg.sub") if factor == 2 else TEXT
                pit.Compiler().write(text, "so", path)
                programs += [pit.load(path), pit.load(path)]
            for program, factor in zip(programs, (2, 2, 0, 0, 2, 2)):
                np.testing.assert_array_equal(program.twice(X), factor * X)
            path.unlink()
            with self.assertRaisesRegex(pit.Error, "No such file"):
                pit.load(path)

    def test_artifacts(self):
        compiler = pit.Compiler()
        self.assertIn(b"func.func @twice", compiler.artifact(TEXT, "mlir"))
        self.assertIn(b"pit_twice", compiler.artifact(TEXT, "header"))
        for chip in ("sm_90a", None):
            text = compiler.artifact(TEXT, "mlir-llvm", target="nvptx", chip=chip,
                                     device_code="ptx")
            self.assertIn(f".target {chip or 'sm_80'}".encode(), text)
        with self.assertRaisesRegex(pit.Error, "nothing called 'gold'"):
            compiler.artifact(TEXT, "gold")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "twice.so"
            compiler.write(TEXT, "so", path)
            np.testing.assert_array_equal(pit.load(path).twice(X), 2 * X)
            with self.assertRaises(pit.Error):
                compiler.write(TEXT, "so", Path(folder) / "no" / "folder.so")
            path = Path(folder) / "zwölf 🎲.so"
            compiler.write(TEXT, "so", path)
            np.testing.assert_array_equal(pit.load(path).twice(X), 2 * X)

    def test_names_of_the_math_library(self):
        text = """
        func.func @NAME(%x: tensor<3xTYPE>) -> tensor<3xTYPE> {
          %r = math.OP %x : tensor<3xTYPE>
          return %r : tensor<3xTYPE>
        }"""
        for name, op, dtype, wanted in [("expm1", "expm1", np.float64, np.expm1),
                                        ("cbrtf", "cbrt", np.float32, np.cbrt),
                                        ("erf", "log1p", np.float64, np.log1p)]:
            type_ = f"f{8 * np.dtype(dtype).itemsize}"
            program = pit.compile(text.replace("NAME", name).replace("OP", op).replace("TYPE", type_))
            self.assertEqual(program.entries, [name])
            np.testing.assert_allclose(program[name](X.astype(dtype)), wanted(X.astype(dtype)), rtol=1e-6)

    def test_explain(self):
        compiler = pit.Compiler()
        compiler.compile(TEXT, explain=True)
        self.assertIsInstance(compiler.diagnostics, str)


if __name__ == "__main__":
    unittest.main()
