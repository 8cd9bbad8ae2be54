# RUN: %python %s
# REQUIRES: pit-compile
"""What pit.explain and Program.show tell of a call."""

import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

random = np.random.default_rng()


def zeros(rows, columns, live_fraction):
    values = random.standard_normal((rows, columns))
    return np.where(random.random((rows, columns)) < live_fraction, values, 0).astype("f")


class Explain(unittest.TestCase):
    w = random.standard_normal((512, 256)).astype("f")

    def chosen(self, explanation):
        found = [c for c in explanation.candidates if c.chosen]
        self.assertEqual(len(found), 1)
        return found[0]

    def test_candidates(self):
        few = pit.explain(pit.matmul, zeros(600, 512, 0.05), self.w)
        chosen = self.chosen(few)
        self.assertIn("x1", chosen.rule)
        self.assertLess(chosen.of_dense, 0.5)
        self.assertEqual(chosen, few.candidates[0])
        single = next(c for c in few.candidates if c.rule == "1x1")
        self.assertLess(abs(single.live_fraction - 0.05), 0.01)
        self.assertEqual(self.chosen(pit.explain(pit.matmul, zeros(600, 512, 1), self.w)).rule,
                         "dense")
        rows = zeros(600, 512, 1)
        rows[::2] = 0
        table = pit.explain(pit.linear, rows, np.ascontiguousarray(self.w.T))
        self.assertEqual(next(c for c in table.candidates if c.rule == "1x*").live_fraction, 0.5)

    def test_weights_as_linear_has_them(self):
        """Single elements of x would gather elements of w that lie apart."""
        x, w = zeros(600, 512, 0.1), np.ascontiguousarray(self.w.T)
        ratios = [{c.rule: c.of_dense for c in found.candidates} for found in (
            pit.explain(pit.matmul, x, self.w), pit.explain(pit.linear, x, w))]
        self.assertGreater(ratios[1]["1x1"], 4 * ratios[0]["1x1"])
        self.assertEqual(ratios[1]["4x1"], ratios[0]["4x1"])

    def test_text(self):
        found = pit.explain(pit.matmul, zeros(600, 512, 0.05), self.w)
        text = repr(found)
        self.assertIn("matmul(f32[?, 512], f32[512, 256])", text)
        self.assertIn("chosen", text)
        self.assertIn("At each call the program chooses", text)
        self.assertIn("<table>", found._repr_html_())
        self.assertIn("pit.sparse", found.show(1))
        self.assertIn("pit.sread", found.show(3))
        self.assertIn("&lt;", found.show(3)._repr_html_())

    def test_others(self):
        x = zeros(30, 512, 1)
        for found in (
                pit.explain(pit.matmul, x, self.w, sparse=None),
                pit.explain(pit.matmul, x, self.w, mask=x > 0),
                pit.explain(pit.matmul, x[None], self.w, mask=x[None, :1] > 0),
                pit.explain(pit.matmul, x, self.w, micro_tile=(32, 1), axis=1),
                pit.explain(pit.padded_linear, x[None], np.int32([3]), self.w.T)):
            self.assertTrue(repr(found))
            self.assertTrue(found._repr_html_())
        with self.assertRaisesRegex(pit.Error, "explain: sum called no op of pit"):
            pit.explain(np.sum, x)
        # Nothing is left behind by an error.
        with self.assertRaisesRegex(pit.Error, "both are 'k'"):
            pit.explain(pit.matmul, x, x)
        self.assertEqual(pit.matmul(x, self.w).shape, (30, 256))

    def test_dynamic(self):
        few, x = zeros(30, 512, 1)[None], zeros(40, 512, 1)[None]
        self.assertIn("matmul(f32[30, 512], f32[512, 256])",
                      repr(pit.explain(pit.matmul, few, self.w, sparse=None)))
        for dynamic, types in (("b", "f32[?, 512], f32[512, 256]"), ("k", "f32[40, ?], f32[?, 256]"),
                               (False, "f32[40, 512], f32[512, 256]"), (True, "f32[?, ?], f32[?, ?]"),
                               (None, "f32[?, 512], f32[512, 256]")):
            found = repr(pit.explain(pit.matmul, x, self.w, sparse=None, dynamic=dynamic))
            self.assertIn(f"matmul({types})", found)

    def test_show(self):
        text = "func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {\n  return %x : tensor<3xf32>\n}\n"
        program = pit.compile(text)
        self.assertEqual(program.show(1), text)
        self.assertIn("func.func @f", program.show())
        self.assertIn("llvm.func", program.show("mlir-llvm"))
        with self.assertRaisesRegex(pit.Error, "no level 7 to show; there are: 1, 3"):
            program.show(7)


if __name__ == "__main__":
    unittest.main()
