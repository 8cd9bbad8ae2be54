"""Products with a bias that begins anywhere, of any length, or with one for each row that is a
part of longer rows, on the emulator, compared with numpy in float64.

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

# The bias is `cols` elements from `first` on; there is a second one. PER_ROW: the rows in front
# of its columns, if each has its own.
PROGRAM = """
func.func @f(%x: tensor<ROWSxKxTYPE>, %w: tensor<COLSxKxTYPE>, %long: tensor<PER_ROWLONGxTYPE>,
             %more: tensor<PER_ROWCOLSxTYPE>) -> tensor<ROWSxCOLSxTYPE> {
  %zero = arith.constant 0.0 : f32
  %bias = tensor.extract_slice %long[PLACE]
            : tensor<PER_ROWLONGxTYPE> to tensor<PER_ROWCOLSxTYPE>
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
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (BIASED)>,
                                        affine_map<(m, n) -> (BIASED)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
         ins(%p, %bias, %more : tensor<ROWSxCOLSxf32>, tensor<PER_ROWCOLSxTYPE>, tensor<PER_ROWCOLSxTYPE>)
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
    # Rows, columns, where the bias begins; has each row its own?
    cases = [(130, 256, 0, False), (130, 256, 1, False),
             (any_of(1, 300), any_of(1, 64) * 8, any_of(0, 9), False), (200, 264, 2, False),
             (any_of(1, 300), any_of(1, 600), any_of(0, 9), False), (300, 1, 1, False),
             (any_of(1, 300), any_of(1, 64) * 8, 2 * any_of(0, 9), False),
             (130, 256, 0, True), (140, 320, 8 * any_of(0, 9), True), (130, 264, 8, True),
             (any_of(1, 300), any_of(1, 600), any_of(0, 9), True)]
    for number, (rows, cols, first, by_row) in enumerate(cases):
        type_ = (dtypes.F16, dtypes.BF16)[number % 2]
        # What follows the last part keeps rows aligned, or does not.
        rest = 8 * any_of(0, 3) if cols % 8 == 0 and first % 8 == 0 else any_of(0, 3)
        sizes = {"ROWS": rows, "COLS": cols, "K": 64, "LONG": first + cols + rest,
                 "TYPE": type_.mlir, "PER_ROW": f"{rows}x" if by_row else "",
                 "BIASED": "m, n" if by_row else "n",
                 "PLACE": f"0, {first}] [{rows}, {cols}] [1, 1" if by_row else f"{first}] [{cols}] [1"}
        text = PROGRAM
        for name, size in reversed(sizes.items()):
            text = text.replace(name, str(size))
        each = (rows,) if by_row else ()
        shapes = [(rows, 64), (cols, 64), (*each, sizes["LONG"]), (*each, cols)]
        arrays = [type_.store(draw.standard_normal(shape)) for shape in shapes]
        x, w, bias, more = [type_.load(array) for array in arrays]
        want = (x @ w.T + bias[..., first:first + cols]) * more
        results = run.results(text, arrays)
        got = type_.load(results[0].view(type_.storage)) if results else np.inf
        off = (np.abs(got - want) / (1 + np.abs(want))).max()
        right += bool(off < (2e-3 if type_ is dtypes.F16 else 1.6e-2))
        print(f"{sizes}: off by {off:.1e}")
    print(f"{right} of {len(cases)} programs are right")


main()
