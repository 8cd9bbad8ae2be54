"""Rows that are scaled, and beside them a sum of each row: as one op whose rows are known to be
long, and as two of short ones. On the emulator, compared with numpy in float64.

    rows_and_sums.py PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

A line for each program, with how many kernels it ran; the last one says how many were right.
Extents and values are drawn anew each time; the seed is printed.
"""

import numpy as np

from pit_run import PitRun, draw_floats, draw_seed, value

# The rows are a part, from column FIRST on, of longer ones.
PROGRAM = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<?xLONGxTYPE>, %y: tensor<?xNxTYPE>, %s: tensor<?xf32>)
    -> (tensor<?xNxTYPE>, tensor<?xNxf32>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xNxTYPE>
  %part = tensor.extract_slice %x[0, FIRST] [%n, N] [1, 1] : tensor<?xLONGxTYPE> to tensor<?xNxTYPE>
  %e = tensor.empty(%n) : tensor<?xNxTYPE>
  %w = tensor.empty(%n) : tensor<?xNxf32>
  %p:2 = linalg.generic {indexing_maps = [#id, #id, #row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%part, %y, %s : tensor<?xNxTYPE>, tensor<?xNxTYPE>, tensor<?xf32>)
      outs(%e, %w : tensor<?xNxTYPE>, tensor<?xNxf32>) {
  ^bb0(%a: TYPE, %b: TYPE, %c: f32, %o: TYPE, %u: f32):
    %aw = arith.extf %a : TYPE to f32
    %bw = arith.extf %b : TYPE to f32
    %t = arith.mulf %aw, %c : f32
    %r = arith.truncf %t : f32 to TYPE
    %q = arith.mulf %t, %bw : f32
    linalg.yield %r, %q : TYPE, f32
  } -> (tensor<?xNxTYPE>, tensor<?xNxf32>)
  %v = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%v : tensor<?xf32>) -> tensor<?xf32>
  %d = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%part, %y : tensor<?xNxTYPE>, tensor<?xNxTYPE>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: TYPE, %b: TYPE, %o: f32):
    %aw = arith.extf %a : TYPE to f32
    %bw = arith.extf %b : TYPE to f32
    %t = arith.mulf %aw, %bw : f32
    %u = arith.addf %o, %t : f32
    linalg.yield %u : f32
  } -> tensor<?xf32>
  return %p#0, %p#1, %d : tensor<?xNxTYPE>, tensor<?xNxf32>, tensor<?xf32>
}
"""


def main():
    rng, run, right = draw_seed(), PitRun(), 0

    def any_of(low, high):
        return int(rng.integers(low, high))

    # Rows, columns, where they begin, and how many follow them: vectors of 16 bytes, or not.
    cases = [(50, 512, 0, 0), (3, 768, 256, 8), (any_of(1, 60), 8 * any_of(32, 70), 8, 0),
             (any_of(1, 60), 512, any_of(1, 8), 0), (any_of(1, 60), any_of(256, 600), 0, 0),
             (any_of(1, 60), 64, 0, 64), (any_of(1, 60), any_of(1, 200), any_of(0, 9), any_of(0, 9))]
    for number, (rows, columns, first, behind) in enumerate(cases):
        type_ = ("bf16", "f16")[number % 2]
        text = PROGRAM
        for name, size in {"LONG": first + columns + behind, "FIRST": first, "TYPE": type_,
                           "N": columns}.items():
            text = text.replace(name, str(size))
        arrays = [draw_floats(rng, (rows, first + columns + behind), type_),
                  draw_floats(rng, (rows, columns), type_), draw_floats(rng, (rows,), "f32")]
        x, y, s = [value(array) for array in arrays]
        x = x[:, first:first + columns]
        wanted = [x * s[:, None], x * s[:, None] * y, (x * y).sum(1)]
        found, kernels = run.traced(text, arrays, 3)
        if found is None:
            print(f"{rows} x {columns}: {kernels}")
            continue
        if type_ == "bf16":
            found[0] = found[0].view(np.uint16)
        off = [np.abs(value(got) - want) / (1 + np.abs(want)) for got, want in zip(found, wanted)]
        off = [each.max() for each in off]
        is_right = off[0] < 1e-2 and max(off[1:]) < 1e-4
        right += is_right
        print(f"{type_} {'long' if columns >= 256 else 'short'} rows {rows} x {columns} from {first} : "
              f"{len(kernels)} kernels {'right' if is_right else f'off by {off}'}", flush=True)
    print(f"{right} of {len(cases)} programs are right")


main()
