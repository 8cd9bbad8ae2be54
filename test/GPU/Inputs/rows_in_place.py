"""Loops over the positions of an index that compute an element-wise op, on operands that have all
rows or fewer, and into results that have more: on the emulator, compared with numpy in float64.

    rows_in_place.py PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

The last line says how many programs were right. Extents and values are drawn anew each
time; the seed is printed.
"""

import numpy as np

from pit_run import PitRun, draw_seed

PROGRAM = """
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
func.func @f(%x: tensor<?xCxf32>, %s: tensor<?xf32>, %lengths: tensor<?xi32>, %like: tensor<?x?xf32>)
    -> tensor<?xCxf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %start = arith.constant -1.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?xCxf32>
  %more = arith.addi %rows, %c7 : index
  %empty = tensor.empty(%more) : tensor<?xCxf32>
  %y = linalg.fill ins(%start : f32) outs(%empty : tensor<?xCxf32>) -> tensor<?xCxf32>
  %b = tensor.dim %like, %c0 : tensor<?x?xf32>
  %n = tensor.dim %like, %c1 : tensor<?x?xf32>
  %i = pit.index lengths %lengths shape(%b, %n) : tensor<?xi32> -> !pit.index<micro_tile = [1], axis = 0>
  %r = pit.forall %ids at %pos in %i : !pit.index<micro_tile = [1], axis = 0> chunk 8
         iter_args(%o = %y) -> (tensor<?xCxf32>) {
    %t = pit.sread %x[%pos : !pit.ids<8>, %c0] : tensor<?xCxf32> -> tensor<8xCxf32>
    %u = pit.sread %s[%pos : !pit.ids<8>] : tensor<?xf32> -> tensor<8xf32>
    %e = tensor.empty() : tensor<8xCxf32>
    %g = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%t, %u : tensor<8xCxf32>, tensor<8xf32>) outs(%e : tensor<8xCxf32>) {
    ^bb0(%a: f32, %f: f32, %z: f32):
      %v = math.exp %a : f32
      %m = arith.addf %v, %f : f32
      linalg.yield %m : f32
    } -> tensor<8xCxf32>
    %w = pit.swrite %g into %o[%pos : !pit.ids<8>, %c0] : tensor<8xCxf32> into tensor<?xCxf32>
    pit.yield %w : tensor<?xCxf32>
  }
  return %r : tensor<?xCxf32>
}
"""


def main():
    rng, run, right = draw_seed(), PitRun(), 0
    cases = [(columns, short) for columns in (8, 13) for short in (False, True)]
    for columns, short in cases:
        batch, positions = 3, int(rng.integers(20, 60))
        lengths = rng.integers(5, positions + 1, batch).astype(np.int32)
        total = int(lengths.sum())
        rows = int(rng.integers(1, total)) if short else batch * positions
        x, s = (rng.standard_normal(shape).astype(np.float32) for shape in ((rows, columns), rows))
        found = run.results(PROGRAM.replace("xC", f"x{columns}"), [
            x, s, lengths, np.zeros((batch, positions), np.float32)])
        wanted = np.full((rows + 7, columns), -1.0)
        # What is beyond the end of an operand is 0.
        wanted[:total] = 1
        wanted[:min(rows, total)] = (np.exp(x.astype(np.float64)) + s[:, None])[:total]
        off = np.inf if found is None else np.abs(found[0] - wanted).max()
        right += bool(off < 1e-4)
        if not off < 1e-4:
            print(f"{columns} columns, {rows} rows of {total}: off by {off}")
    print(f"{right} of {len(cases)} programs are right")


main()
