"""Products of operands that TMA or wgmma cannot take as they lie in memory, run on the
emulator and compared with numpy in float64.

    copied_operands.py PIT_RUN LIBCUDA CHIP [f16 | tf32 | f8 | vectors]

Of each product a line says which kernels ran; the last one, how many were right.
"""

import sys

import numpy as np

from pit_run import PitRun, draw_floats, draw_seed, float8, value

PRODUCT = """
func.func @f(%a: tensor<ATYPE>, %b: tensor<BTYPE>, %v: tensor<VTYPE>) -> tensor<CTYPE> {
  %zero = arith.constant 0.0 : OUT
DIMS
  %e = tensor.empty(SIZES) : tensor<CTYPE>
  %z = linalg.fill ins(%zero : OUT) outs(%e : tensor<CTYPE>) -> tensor<CTYPE>
  %s = MARK
  %p = linalg.generic {indexing_maps = [affine_map<ITER -> AMAP>, affine_map<ITER -> BMAP>,
                                        affine_map<ITER -> CMAP>], iterator_types = [KINDS]}
         ins(%s, %b : tensor<ATYPE>, tensor<BTYPE>) outs(%z : tensor<CTYPE>) {
  ^bb0(%x: IN, %y: IN, %o: OUT):
    BODY
  } -> tensor<CTYPE>
  %r = linalg.generic {indexing_maps = [affine_map<OITER -> CMAP>, affine_map<OITER -> (n)>,
                                        affine_map<OITER -> CMAP>], iterator_types = [OKINDS]}
         ins(%p, %v : tensor<CTYPE>, tensor<VTYPE>) outs(%e : tensor<CTYPE>) {
  ^bb0(%x: OUT, %y: OUT, %o: OUT):
    %0 = arith.addf %x, %y : OUT
    %1 = arith.maximumf %0, %zero : OUT
    linalg.yield %1 : OUT
  } -> tensor<CTYPE>
  return %r : tensor<CTYPE>
}
"""
ROWS = "pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<ATYPE>"

# Type, how A and B are stored, extents (b, m, n, k), options: "dynamic" extents, "rows" of A
# that are zero. Odd rows; rows of few elements; a result with rows that are not aligned; one
# tile, and several; few rows, which are not worth a copy of words, and two, which are not worth
# any; nothing at all.
PRODUCTS = {
    "f16": [("f16", "mk", "kn", (None, 131, 259, 67)), ("f16", "mk", "nk", (None, 131, 259, 67)),
            ("bf16", "km", "nk", (None, 259, 131, 133)),
            ("f16", "mk", "kn", (None, 257, 264, 129), "dynamic"),
            ("f16", "mk", "nk", (None, 264, 131, 200), "dynamic"),
            ("bf16", "mk", "kn", (None, 40, 300, 131)),
            ("f16", "mk", "nk", (None, 40, 300, 131), "dynamic"),
            ("f16", "mk", "nk", (None, 2, 300, 131), "dynamic"),
            ("f16", "bmk", "bkn", (3, 130, 201, 77), "dynamic"),
            ("bf16", "bmk", "bnk", (2, 130, 129, 77)),
            ("f16", "mk", "nk", (None, 300, 264, 131), "rows"),
            ("f16", "mk", "kn", (None, 0, 259, 67), "dynamic"),
            ("f16", "mk", "kn", (None, 131, 259, 0), "dynamic")],
    # So many rows, or columns, that copies pay: LaunchedMaps::copyPays.
    "tf32": [("f32", "mk", "kn", (None, 392, 260, 100)), ("f32", "km", "nk", (None, 131, 392, 200)),
             ("f32", "km", "kn", (None, 771, 773, 35), "dynamic"),
             ("f32", "mk", "nk", (None, 771, 773, 35)),
             ("f32", "bmk", "bkn", (3, 386, 72, 72), "dynamic"),
             ("f32", "mk", "kn", (None, 392, 260, 100), "rows"),
             ("f32", "mk", "kn", (None, 376, 260, 100))],
    "f8": [("f8E4M3FN", "mk", "kn", (None, 256, 384, 256)),
           ("f8E5M2", "km", "kn", (None, 131, 261, 135), "dynamic"),
           ("f8E4M3FN", "km", "nk", (None, 264, 131, 201)),
           ("f8E4M3FN", "bmk", "bkn", (2, 130, 131, 131)),
           ("f8E4M3FN", "mk", "kn", (None, 300, 264, 131), "rows"),
           ("f8E5M2", "mk", "kn", (None, 24, 260, 144))],
    # The portable schedule takes none of them: products that wgmma takes, few rows, which are
    # computed tile by tile, and ids of the steps, for which there is no mainloop.
    "f8 km kn": [("f8E4M3FN", "km", "kn", (None, 264, 384, 200)),
                 ("f8E4M3FN", "km", "kn", (None, 2, 260, 72), "dynamic"),
                       ("f8E5M2", "bkm", "bkn", (2, 3, 130, 70)),
                 ("f8E4M3FN", "km", "kn", (None, 131, 130, 70), "rows")],
    # One row or one column, of which nothing has to be copied, and some of which it has.
    "vectors": [("f16", "mk", "kn", (None, 1, 264, 200)), ("bf16", "mk", "nk", (None, 1, 300, 72)),
                ("f16", "mk", "kn", (None, 264, 1, 200)), ("bf16", "mk", "nk", (None, 300, 1, 136)),
                ("f16", "km", "kn", (None, 1, 264, 200)), ("f16", "km", "nk", (None, 264, 1, 200)),
                ("f16", "mk", "kn", (None, 1, 1, 200)), ("f16", "mk", "kn", (None, 1, 259, 131)),
                ("bf16", "bmk", "bkn", (3, 1, 200, 136)), ("f16", "bmk", "bnk", (3, 130, 1, 136)),
                ("f32", "mk", "nk", (None, 1, 260, 100)), ("f32", "mk", "kn", (None, 260, 1, 100)),
                ("f8E4M3FN", "mk", "nk", (None, 1, 264, 256)),
                ("f16", "mk", "nk", (None, 300, 1, 136), "rows"),
                ("f16", "mk", "kn", (None, 1, 264, 136), "rows")],
}


def draw(rng, shape, type_):
    """Bits as pit-run reads them, and their values."""
    if type_.startswith("f8"):
        # Exponents around that of 1.
        bits = rng.integers(0x30, 0x40, shape).astype(np.uint8)
        bits |= (rng.integers(0, 2, shape) << 7).astype(np.uint8)
        return bits, float8(bits, type_)
    stored = draw_floats(rng, shape, type_)
    return stored, value(stored)


def text(type_, a, b, sizes, options):
    c = a[:-2] + "mn"
    result = "f32" if type_ not in ("f16",) else "f16"
    shape = lambda dims: "".join(f"{'?' if 'dynamic' in options else sizes[d]}x" for d in dims)
    loops = a[:-2] + "mnk"
    affine = lambda dims: f"({', '.join(dims)})"
    kinds = ", ".join('"reduction"' if d == "k" else '"parallel"' for d in loops)
    if type_ == "f32":
        body = "%0 = arith.mulf %x, %y : f32\n%1 = arith.addf %o, %0 : f32\nlinalg.yield %1 : f32"
    elif result == type_:
        body = ("%0 = arith.mulf %x, %y : f16\n%1 = arith.addf %o, %0 : f16\n"
                "linalg.yield %1 : f16")
    else:
        body = ("%0 = arith.extf %x : IN to f32\n%1 = arith.extf %y : IN to f32\n"
                "%2 = arith.mulf %0, %1 : f32\n%3 = arith.addf %o, %2 : f32\nlinalg.yield %3 : f32")
    dims, given = [], []
    if "dynamic" in options:
        for d in c:
            operand, at = ("a", a.index(d)) if d in a else ("b", b.index(d))
            dims.append(f"  %i{d} = arith.constant {at} : index\n"
                        f"  %d{d} = tensor.dim %{operand}, %i{d} : tensor<{operand.upper()}TYPE>")
            given.append(f"%d{d}")
    mark = ROWS if "rows" in options else "tensor.cast %a : tensor<ATYPE> to tensor<ATYPE>"
    program = PRODUCT
    for old, new in (("DIMS", "\n".join(dims)), ("SIZES", ", ".join(given)), ("MARK", mark),
                     ("BODY", body), ("OITER", affine(c)), ("ITER", affine(loops)),
                     ("AMAP", affine(a)), ("BMAP", affine(b)), ("CMAP", affine(c)),
                     ("OKINDS", ", ".join(['"parallel"'] * len(c))), ("KINDS", kinds),
                     ("ATYPE", shape(a) + type_), ("BTYPE", shape(b) + type_),
                     ("CTYPE", shape(c) + result), ("VTYPE", shape("n") + result),
                     ("IN", type_), ("OUT", result)):
        program = program.replace(old, new)
    return program, result


def run(pit_run, product, rng):
    """Which kernels ran, and whether the result is right."""
    type_, a, b, (batch, m, n, k), *options = product
    sizes = dict(zip("bmnk", (batch, m, n, k)))
    program, result = text(type_, a, b, sizes, options)
    drawn = [draw(rng, [sizes[d] for d in dims], t)
             for dims, t in ((a, type_), (b, type_), ("n", result))]
    if "rows" in options:
        dead = rng.random(len(drawn[0][0])) < 0.5
        drawn[0][0][dead] = drawn[0][1][dead] = 0
    results, kernels = pit_run.traced(program, [bits for bits, _ in drawn],
                                      options=["--pipeline=tf32=true"] if type_ == "f32" else [])
    if results is None:
        return kernels, False
    values = [v for _, v in drawn]
    want = np.maximum(np.einsum(f"{a},{b}->{a[:-2]}mn", values[0], values[1]) + values[2], 0)
    error = np.abs(results[0] - want).max(initial=0)
    error /= max(1e-6, np.sqrt(np.mean(want ** 2))) if want.size else 1
    # Sums in f32; f32 factors are cut to tf32, and sums of 8-bit floats have 14 bits.
    right = error < {"f32": 1e-2, "f16": 6e-3, "bf16": 1e-4}.get(type_, 1e-3)
    return ", ".join(sorted(kernels)) + ("" if right else f", off by {error:.2g}"), right


def main():
    pit_run, groups = PitRun(sys.argv[1:4]), sys.argv[4:]
    rng = draw_seed()
    right, count = 0, 0
    for product in (p for group in groups or PRODUCTS for p in PRODUCTS[group]):
        told, is_right = run(pit_run, product, rng)
        print(*product, ":", told, flush=True)
        right, count = right + is_right, count + 1
    print(f"{right} of {count} products are right")


main()
