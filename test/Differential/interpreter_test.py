"""Tests of the interpreter against numpy, of the generic form's parser and printer, and of
the reducer. pit-opt has to be in the PATH."""

import subprocess
import unittest

import numpy as np

from generic_form import parse, print_module
from interpreter import Interpreter
from scalars import Num


def generic(text, *passes):
    return subprocess.run(["pit-opt", "-", *passes, "--mlir-print-op-generic"], input=text,
                          capture_output=True, text=True, check=True).stdout


def run(text, *arrays):
    """The results of @f."""
    module = parse(generic(text, "--linalg-generalize-named-ops"))
    return Interpreter(module).call("f", [Num(np.asarray(a)) for a in arrays])


def integers(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).integers(-3, 4, size=shape).astype(float)


class Programs(unittest.TestCase):
    def equal(self, num, want):
        self.assertTrue(num.known, num.e)
        np.testing.assert_array_equal(num.v, want)

    def test_matmul_and_fill(self):
        a, b = integers(4, 5), integers(5, 3)
        [r] = run("""
        func.func @f(%a: tensor<?x5xf32>, %b: tensor<5x3xf32>) -> tensor<?x3xf32> {
          %c0 = arith.constant 0 : index
          %d = tensor.dim %a, %c0 : tensor<?x5xf32>
          %e = tensor.empty(%d) : tensor<?x3xf32>
          %one = arith.constant 1.0 : f32
          %i = linalg.fill ins(%one : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
          %r = linalg.matmul ins(%a, %b : tensor<?x5xf32>, tensor<5x3xf32>) outs(%i : tensor<?x3xf32>) -> tensor<?x3xf32>
          return %r : tensor<?x3xf32>
        }""", a, b)
        self.equal(r, a @ b + 1)

    def test_convolution_with_padding(self):
        x, w = integers(1, 2, 4), integers(2, 2, 3)
        [r] = run("""
        func.func @f(%x: tensor<1x2x4xf32>, %w: tensor<2x2x3xf32>, %o: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
          %z = arith.constant 0.0 : f32
          %p = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
          ^bb0(%i: index, %j: index, %k: index):
            tensor.yield %z : f32
          } : tensor<1x2x4xf32> to tensor<1x2x6xf32>
          %r = linalg.conv_1d_ncw_fcw ins(%p, %w : tensor<1x2x6xf32>, tensor<2x2x3xf32>)
                 outs(%o : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
          return %r : tensor<1x2x4xf32>
        }""", x, w, np.zeros((1, 2, 4)))
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1)))
        want = [[sum(padded[0, c, o: o + 3] @ w[f, c] for c in range(2)) for o in range(4)] for f in range(2)]
        self.equal(r, np.array([want]))

    def test_loop_swaps_and_branches(self):
        a, b = integers(3), integers(3, seed=1)
        p, q, s = run("""
        func.func @f(%a: tensor<3xi32>, %b: tensor<3xi32>, %g: tensor<i1>) -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c3 = arith.constant 3 : index
          %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a, %y = %b) -> (tensor<3xi32>, tensor<3xi32>) {
            %s = arith.addi %x, %y : tensor<3xi32>
            scf.yield %s, %x : tensor<3xi32>, tensor<3xi32>
          }
          %c = tensor.extract %g[] : tensor<i1>
          %t = scf.if %c -> tensor<3xi32> {
            scf.yield %a : tensor<3xi32>
          } else {
            %n = arith.subi %a, %b : tensor<3xi32>
            scf.yield %n : tensor<3xi32>
          }
          return %r#0, %r#1, %t : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
        }""", a.astype(np.int64), b.astype(np.int64), np.array(0))
        self.equal(p, 3 * a + 2 * b)
        self.equal(q, 2 * a + b)
        self.equal(s, a - b)

    def test_while_call_and_slices(self):
        a = integers(4, 3)
        [r] = run("""
        func.func private @g(%x: tensor<1x3xf32>) -> tensor<3x1xf32> {
          %e = tensor.empty() : tensor<3x1xf32>
          %t = linalg.transpose ins(%x : tensor<1x3xf32>) outs(%e : tensor<3x1xf32>) permutation = [1, 0]
          return %t : tensor<3x1xf32>
        }
        func.func @f(%a: tensor<4x3xf32>) -> tensor<3x4xf32> {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c4 = arith.constant 4 : index
          %e = tensor.empty() : tensor<3x4xf32>
          %r:2 = scf.while (%i = %c0, %x = %e) : (index, tensor<3x4xf32>) -> (index, tensor<3x4xf32>) {
            %c = arith.cmpi slt, %i, %c4 : index
            scf.condition(%c) %i, %x : index, tensor<3x4xf32>
          } do {
          ^bb0(%i: index, %x: tensor<3x4xf32>):
            %s = tensor.extract_slice %a[%i, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<1x3xf32>
            %t = func.call @g(%s) : (tensor<1x3xf32>) -> tensor<3x1xf32>
            %n = tensor.insert_slice %t into %x[0, %i] [3, 1] [1, 1] : tensor<3x1xf32> into tensor<3x4xf32>
            %j = arith.addi %i, %c1 : index
            scf.yield %j, %n : index, tensor<3x4xf32>
          }
          return %r#1 : tensor<3x4xf32>
        }""", a)
        self.equal(r, a.T)

    def test_slices_of_smaller_rank(self):
        a = integers(2, 3, 2)
        [r] = run("""
        func.func @f(%a: tensor<2x?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
          %r = tensor.extract_slice %a[1, 0, 0] [1, %n, %m] [1, 1, 1] : tensor<2x?x?xf32> to tensor<?x?xf32>
          return %r : tensor<?x?xf32>
        }""", a, np.array(2), np.array(1))
        self.equal(r, a[1, :2, :1])

    def test_marks(self):
        x = integers(3, 4)
        lengths, routing = np.array([0, 4, 2]), np.array([[1, -1], [3, 3], [0, 2]])
        results = run("""
        func.func @f(%x: tensor<3x4xf32>, %m: tensor<3x4xi8>, %l: tensor<3xi64>, %t: tensor<3x2xi32>)
            -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
          %a = pit.sparse %x : tensor<3x4xf32>
          %b = pit.sparse %x mask(%m : tensor<3x4xi8>) background(5.0 : f32) : tensor<3x4xf32>
          %c = pit.sparse %x lengths(%l : tensor<3xi64>) : tensor<3x4xf32>
          %d = pit.sparse %x routing(%t : tensor<3x2xi32>) : tensor<3x4xf32>
          return %a, %b, %c, %d : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
        }""", x, (x > 0).astype(np.int64), lengths, routing)
        chosen = np.array([[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 1, 0]], dtype=bool)
        self.equal(results[0], x)
        self.equal(results[1], np.where(x > 0, x, 5))
        self.equal(results[2], np.where(np.arange(4) < lengths[:, None], x, 0))
        self.equal(results[3], np.where(chosen, x, 0))

    def test_no_combiner(self):
        """The last positive value of each row, one step after another."""
        x = integers(5, 6)
        [r] = run("""
        func.func @f(%x: tensor<5x6xf32>, %o: tensor<5xf32>) -> tensor<5xf32> {
          %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
              iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x6xf32>) outs(%o : tensor<5xf32>) {
          ^bb0(%a: f32, %b: f32):
            %z = arith.constant 0.0 : f32
            %c = arith.cmpf ogt, %a, %z : f32
            %s = arith.select %c, %a, %b : f32
            linalg.yield %s : f32
          } -> tensor<5xf32>
          return %r : tensor<5xf32>
        }""", x, np.full(5, -7.0))
        self.equal(r, [next((v for v in row[::-1] if v > 0), -7) for row in x])

    def test_what_is_not_known(self):
        """Memory that was never written, and sums beyond the type's range."""
        [r, s] = run("""
        func.func @f(%x: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>) {
          %e = tensor.empty() : tensor<4xf16>
          %y = arith.addf %x, %e : tensor<4xf16>
          %z = arith.mulf %x, %x : tensor<4xf16>
          return %y, %z : tensor<4xf16>, tensor<4xf16>
        }""", np.array([1.0, 2.0, 300.0, -1.5]))
        self.assertTrue(np.all(np.isinf(r.e)))
        np.testing.assert_array_equal(np.isinf(s.e), [False, False, True, False])

    def test_rounding_is_bounded(self):
        """Sums in f32 are within the bound; a lost term is not."""
        x = np.random.default_rng(1).normal(size=(3, 500)).astype(np.float32)
        [r] = run("""
        func.func @f(%x: tensor<3x500xf32>, %o: tensor<3xf32>) -> tensor<3xf32> {
          %r = linalg.reduce { arith.addf } ins(%x : tensor<3x500xf32>) outs(%o : tensor<3xf32>) dimensions = [1]
          return %r : tensor<3xf32>
        }""", x.astype(float), np.zeros(3))
        self.assertTrue(np.all(np.abs(np.add.accumulate(x, axis=1)[:, -1] - r.v) <= r.e))
        self.assertTrue(np.all(np.abs(x).max(axis=1) > 4 * r.e))

    def test_printed(self):
        """What is printed is what was parsed."""
        text = generic("""
        func.func @f(%x: tensor<3x4xf32>, %n: index) -> (tensor<3x4xf32>, index) {
          %c0 = arith.constant 0 : index
          %r:2 = scf.for %i = %c0 to %n step %n iter_args(%y = %x, %k = %c0) -> (tensor<3x4xf32>, index) {
            %s = pit.sparse %y background(1.0 : f32) rule(#pit.rule<axis = 1>) : tensor<3x4xf32>
            %t = linalg.exp ins(%s : tensor<3x4xf32>) outs(%y : tensor<3x4xf32>) -> tensor<3x4xf32>
            scf.yield %t, %i : tensor<3x4xf32>, index
          }
          return %r#0, %r#1 : tensor<3x4xf32>, index
        }""")
        self.assertEqual(generic(print_module(parse(text))), text)


class Reduction(unittest.TestCase):
    def test_what_is_left(self):
        """A program fails as long as it has a product; the rest goes."""
        from check_programs import Call
        from reducer import Reducer

        text = generic("""
        func.func @f(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
          %e = tensor.empty() : tensor<4x4xf32>
          %a = linalg.add ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
          %s = pit.sparse %a background(0.0 : f32) : tensor<4x4xf32>
          %p = linalg.matmul ins(%s, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
          %t = linalg.sub ins(%p, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
          return %t, %a : tensor<4x4xf32>, tensor<4x4xf32>
        }""")

        def check(text, call, options):
            failed = "linalg.matmul" in text
            return {"status": "failed" if failed else "passed", "message": "there is a product"}

        arrays = [integers(4, 4).astype(np.float32), integers(4, 4, seed=1).astype(np.float32)]
        reducer = Reducer(text, Call(arrays), {"pipeline": "strict=true"}, check,
                          lambda text: parse(generic(text, "--linalg-generalize-named-ops")))
        self.assertTrue(reducer.run())
        left = [op.name for op in parse(reducer.text).walk() if op.name.startswith(("linalg.", "pit."))]
        self.assertEqual(left, ["linalg.matmul", "linalg.yield"])
        self.assertEqual(reducer.options["pipeline"], "")
        self.assertLessEqual(len(reducer.call.arrays), 3)


if __name__ == "__main__":
    unittest.main()
