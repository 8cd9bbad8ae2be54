"""Products with a bias that begins anywhere, of any length, on the emulator, compared with
numpy in float64.

    biases.py PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

The last line says how many programs were right. Extents and values are drawn anew each
time; the seed is printed.
"""

import sys
from pathlib import Path

import numpy as np

from pit_run import PitRun, draw_seed

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Differential"))
import dtypes  # noqa: E402

# The bias is `cols` elements from `first` on; there may be a second one.
PROGRAM = """
func.func @f(%x: tensor<ROWSxKxTYPE>, %w: tensor<COLSxKxTYPE>, %long: tensor<LONGxTYPE>,
             %more: tensor<COLSxTYPE>) -> tensor<ROWSxCOLSxTYPE> {
  %zero = arith.constant 0.0 : f32
  %bias = tensor.extract_slice %long[FIRST] [COLS] [1] : tensor<LONGxTYPE> to tensor<COLSxTYPE>
  %e = tensor.empty() : tensor<ROWSxCOLSxf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<ROWSxCOLSxf32>) -> tensor<ROWSxCOLSxf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%x, %w : tensor<ROWSxKxTYPE>, tensor<COLSxKxTYPE>) outs(%f : tensor<ROWSxCOLSxf32>) {
  ^bb0(%a: TYPE, %b: TYPE, %c: f32):
    %u = arith.extf %a : TYPE to f32
    %v = arith.extf %b : TYPE to f32
    %q = arith.mulf %u, %v : f32
    %s = arith.addf %c, %q : f32
    linalg.yield %s : f32
  } -> tensor<ROWSxCOLSxf32>
  %o = tensor.empty() : tensor<ROWSxCOLSxTYPE>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                                        affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
         ins(%p, %bias, %more : tensor<ROWSxCOLSxf32>, tensor<COLSxTYPE>, tensor<COLSxTYPE>)
         outs(%o : tensor<ROWSxCOLSxTYPE>) {
  ^bb0(%c: f32, %b: TYPE, %m: TYPE, %d: TYPE):
    %u = arith.extf %b : TYPE to f32
    %v = arith.extf %m : TYPE to f32
    %s = arith.addf %c, %u : f32
    %q = arith.mulf %s, %v : f32
    %t = arith.truncf %q : f32 to TYPE
    linalg.yield %t : TYPE
  } -> tensor<ROWSxCOLSxTYPE>
  return %r : tensor<ROWSxCOLSxTYPE>
}
"""


def main():
    draw, run, right = draw_seed(), PitRun(), 0
    any_of = lambda low, high: int(draw.integers(low, high))
    # Rows, columns, where the bias begins.
    cases = [(130, 256, 0), (130, 256, 1), (any_of(1, 300), any_of(1, 64) * 8, any_of(0, 9)),
             (200, 264, 2), (any_of(1, 300), any_of(1, 600), any_of(0, 9)), (300, 1, 1),
             (any_of(1, 300), any_of(1, 64) * 8, 2 * any_of(0, 9))]
    for number, (rows, cols, first) in enumerate(cases):
        type_ = (dtypes.F16, dtypes.BF16)[number % 2]
        sizes = {"ROWS": rows, "COLS": cols, "K": 64, "LONG": first + cols + any_of(0, 3),
                 "FIRST": first, "TYPE": type_.mlir}
        text = PROGRAM
        for name, size in sizes.items():
            text = text.replace(name, str(size))
        shapes = [(rows, 64), (cols, 64), (sizes["LONG"],), (cols,)]
        arrays = [type_.store(draw.standard_normal(shape)) for shape in shapes]
        x, w, bias, more = [type_.load(array) for array in arrays]
        want = (x @ w.T + bias[first:first + cols]) * more
        results = run.results(text, arrays)
        got = type_.load(results[0].view(type_.storage)) if results else np.inf
        off = (np.abs(got - want) / (1 + np.abs(want))).max()
        right += bool(off < (2e-3 if type_ is dtypes.F16 else 1.6e-2))
        print(f"{sizes}: off by {off:.1e}")
    print(f"{right} of {len(cases)} programs are right")


main()
