"""Groups of an index that add to a result which is larger than its part of the L2 cache, so
that they go through it column block by column block: on the emulator, compared with numpy in float64.

    column_blocks.py PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

The last line says how many programs were right. Extents and values are drawn anew each
time; the seed is printed.
"""

import numpy as np

from pit_run import PitRun, draw_seed

SUMS = 18 << 20  # bytes of a result that is more than one column block on every chip with column blocks

PARTS = """
func.func @f(%a: tensor<ROWSxKxf16>, %b: tensor<KxCOLSxf16>, %c: tensor<ROWSxCOLSxf32>)
    -> tensor<ROWSxCOLSxf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 64]>) : tensor<ROWSxKxf16>
  %r = linalg.matmul ins(%s, %b : tensor<ROWSxKxf16>, tensor<KxCOLSxf16>)
         outs(%c : tensor<ROWSxCOLSxf32>) -> tensor<ROWSxCOLSxf32>
  return %r : tensor<ROWSxCOLSxf32>
}
"""

EXPERTS = """
func.func @f(%a: tensor<ROWSxKxf16>, %b: tensor<EXPERTSxKxCOLSxf16>, %c: tensor<ROWSxCOLSxf32>,
             %w: tensor<ROWSxEXPERTSxf16>, %i: tensor<ROWSx2xi32>) -> tensor<ROWSxCOLSxf32> {
  %s = pit.sparse %w routing(%i : tensor<ROWSx2xi32>) : tensor<ROWSxEXPERTSxf16>
  %r = linalg.generic {
         indexing_maps = [affine_map<(t, e, k, n) -> (t, e)>, affine_map<(t, e, k, n) -> (t, k)>,
                          affine_map<(t, e, k, n) -> (e, k, n)>, affine_map<(t, e, k, n) -> (t, n)>],
         iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
         ins(%s, %a, %b : tensor<ROWSxEXPERTSxf16>, tensor<ROWSxKxf16>, tensor<EXPERTSxKxCOLSxf16>)
         outs(%c : tensor<ROWSxCOLSxf32>) {
  ^bb0(%g: f16, %x: f16, %y: f16, %o: f32):
    %gw = arith.extf %g : f16 to f32
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %q = arith.mulf %gw, %p : f32
    %t = arith.addf %o, %q : f32
    linalg.yield %t : f32
  } -> tensor<ROWSxCOLSxf32>
  return %r : tensor<ROWSxCOLSxf32>
}
"""


def fill_in(text, sizes, dynamic):
    for name, size in sizes.items():
        text = text.replace(name, "?" if dynamic and name == "ROWS" else str(size))
    return text


def parts(draw, sizes, live_fraction):
    """Of each row, stretches of 64 are there or not."""
    a = draw.standard_normal((sizes["ROWS"], sizes["K"]))
    there = draw.random((sizes["ROWS"], -(-sizes["K"] // 64))) < live_fraction
    a *= there.repeat(64, 1)[:, :sizes["K"]]
    b = draw.standard_normal((sizes["K"], sizes["COLS"])) / 8
    a, b = a.astype(np.float16), b.astype(np.float16)
    return PARTS, [a, b], a.astype(np.float64) @ b.astype(np.float64)


def experts(draw, sizes, live_fraction):
    """A token has up to two of the experts."""
    rows, count = sizes["ROWS"], sizes["EXPERTS"]
    a = draw.standard_normal((rows, sizes["K"])).astype(np.float16)
    b = (draw.standard_normal((count, sizes["K"], sizes["COLS"])) / 8).astype(np.float16)
    weights = draw.random((rows, count)).astype(np.float16)
    chosen = draw.permuted(np.tile(np.arange(count, dtype=np.int32), (rows, 1)), axis=1)[:, :2]
    chosen[draw.random(chosen.shape) >= live_fraction] = -1
    wanted = np.zeros((rows, sizes["COLS"]))
    for slot in range(2):
        for e in range(count):
            tokens = np.flatnonzero(chosen[:, slot] == e)
            wanted[tokens] += (weights[tokens, e, None].astype(np.float64) *
                               (a[tokens].astype(np.float64) @ b[e].astype(np.float64)))
    return EXPERTS, [a, b, weights, np.ascontiguousarray(chosen)], wanted


def main():
    draw, run = draw_seed(), PitRun()
    # The live fraction, whether the number of rows is known, and what is multiplied.
    cases = [(parts, 0.02, False), (parts, 0.02, True), (parts, 0.0, False), (parts, 1.0, True),
             (experts, 0.05, False), (experts, 0.05, True)]
    right = 0
    for program, live_fraction, dynamic in cases:
        cols = int(draw.integers(600, 1100)) // 8 * 8
        sizes = {"EXPERTS": int(draw.integers(33, 40)), "COLS": cols, "K": 64,
                 "ROWS": SUMS // (4 * cols) + int(draw.integers(1, 900))}
        if program is parts:
            sizes["K"] = int(draw.integers(8, 16)) * 8
        text, arrays, wanted = program(draw, sizes, live_fraction)
        start = draw.standard_normal(wanted.shape).astype(np.float32)
        found = run.results(fill_in(text, sizes, dynamic), [*arrays[:2], start, *arrays[2:]])
        off = np.inf if found is None else np.abs(found[0] - (start + wanted)).max()
        right += bool(off < 1e-3)
        if not off < 1e-3:
            print(f"{program.__name__} {sizes}, {live_fraction} there, off by {off}")
    print(f"{right} of {len(cases)} programs are right")


main()
