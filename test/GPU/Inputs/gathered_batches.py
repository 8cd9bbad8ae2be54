"""Batches of products of which one operand is sparse along k, in micro-tiles of 32, stored so that
ids select elements within rows of the other one: on the emulator, compared with numpy in float64.

    gathered_batches.py PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

The last line says how many programs were right. Extents and values are drawn anew each
time; the seed is printed.
"""

import numpy as np

from pit_run import PitRun, draw_seed

PRODUCT = """
#maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (BMAP)>,
         affine_map<(b, m, n, k) -> (b, m, n)>]
func.func @f(%a: tensor<?x?x?xf16>, %b: tensor<?x?x?xf16>, %c: tensor<?x?x?xf32>)
    -> tensor<?x?x?xf32> {
  %s = pit.sparse MARKED rule(#pit.rule<RULE>) : tensor<?x?x?xf16>
  %r = linalg.generic {indexing_maps = #maps,
         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(LEFT, RIGHT : tensor<?x?x?xf16>, tensor<?x?x?xf16>) outs(%c : tensor<?x?x?xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
"""
ALONG_K = "axis = 2, micro_tile = [1, 32, 1]"
# Which operand is sparse, by what rule, and how B is stored.
CASES = [("a", ALONG_K, "b, n, k"), ("b", "axis = 1, micro_tile = [1, 1, 32]", "b, k, n"),
         ("b", ALONG_K, "b, n, k")]


def main():
    draw, run, right = draw_seed(), PitRun(), 0
    for marked, rule, stored in CASES:
        sizes = dict(zip("bmnk", (3, *(int(s) * 8 for s in draw.integers(9, 40, 3)))))
        text = PRODUCT
        for name, value in (("BMAP", stored), ("MARKED", f"%{marked}"), ("RULE", rule),
                            ("LEFT", "%s" if marked == "a" else "%a"),
                            ("RIGHT", "%s" if marked == "b" else "%b")):
            text = text.replace(name, value)
        operands = {"a": [sizes[d] for d in "bmk"], "b": [sizes[d] for d in stored.split(", ")]}
        values = {name: draw.standard_normal(shape) for name, shape in operands.items()}
        # What is live comes in stretches of 32, of dimension 1 or 2.
        shape, along = operands[marked], 1 if rule == ALONG_K else 2
        parts = list(shape)
        parts[along] = -(-shape[along] // 32)
        live = (draw.random(parts) < 0.3).repeat(32, along)[:, :shape[1], :shape[2]]
        values[marked] = values[marked] * live
        a, b = (values[name].astype(np.float16) for name in "ab")
        start = draw.standard_normal([sizes[d] for d in "bmn"]).astype(np.float32)
        found = run.results(text, [a, b, start])
        columns = b.astype(np.float64)
        if stored == "b, n, k":
            columns = columns.transpose(0, 2, 1)
        wanted = start + a.astype(np.float64) @ columns
        off = np.inf if found is None else np.abs(found[0] - wanted).max()
        right += bool(off < 1e-3)
        if not off < 1e-3:
            print(f"{marked} sparse, B [{stored}], {sizes}: off by {off}")
    print(f"{right} of {len(CASES)} programs are right")


main()
