"""Products with scales of blocks, rows or all, on the emulator or the CPU, compared with
numpy in float64.

    scaled_products.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]
    scaled_products.py [--one-of=N] PIT_RUN cpu NAME [OPTIONS of pit-to-cpu]

The last line says how many programs were right. Extents and values are drawn anew each
time; the seed is printed.
"""

import sys
from pathlib import Path

import numpy as np

from pit_run import PitRun, draw_seed

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Differential"))
import dtypes  # noqa: E402

TYPES = {t.mlir: t for t in (dtypes.F32, dtypes.F16, dtypes.BF16, dtypes.E4M3, dtypes.E5M2)}

# Dims of the scales of a and of b: m, n and their blocks M and N; c numbers blocks of k.
KINDS = {"blocks": ("mc", "Nc"), "rows of blocks": ("mc", "nc"), "one of two": ("mc", ""),
         "other of two": ("", "Nc"), "by step": ("c", "c"), "blocks of rows": ("Mc", "Nc"),
         "halves": ("mc", "nc")}
HALVES = ("halves",)  # the kinds whose scales are f16

PROGRAM = """
func.func @f(%x: tensor<ROWSxCxDxTYPE>, %w: tensor<COLSxCxDxTYPE>ARGS) -> tensor<OUTxRESULT> {
  ZERO
  %e = tensor.empty() : tensor<OUTxf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<OUTxf32>) -> tensor<OUTxf32>
  MARK
  %p = linalg.generic {indexing_maps = [MAPS], iterator_types = [KINDS]}
        ins(%sx, %wINS) outs(%f : tensor<OUTxf32>) {
  ^bb0(%a: TYPE, %b: TYPESCALES, %c: f32):
    WIDEN
    %p0 = arith.mulf %u, %v : f32
    MULTIPLY
    %t = arith.addf %c, %pLAST : f32
    linalg.yield %t : f32
  } -> tensor<OUTxf32>
  FINISH
}
"""


def text(sizes, kind, type_, result, sparse):
    """`sizes`: of all dims, by letters; M and N may be missing, and are 1 then."""
    rows = [x for x in "Mm" if x in sizes]
    cols = [x for x in "Nn" if x in sizes]
    loops = [*rows, *cols, "c", "k"]

    def shape(letters):
        return "x".join(str(sizes[x]) for x in letters)

    def tensor(letters, element):
        return f"tensor<{'x'.join([*(str(sizes[x]) for x in letters), element])}>"

    names = ", ".join(f"d{x}" for x in loops)
    scales = [(i, letters) for i, letters in enumerate(KINDS[kind]) if letters]
    maps = [[*rows, "c", "k"], [*cols, "c", "k"], *(letters for _, letters in scales),
            [*rows, *cols]]
    listed = ", ".join(f"affine_map<({names}) -> ({', '.join('d' + x for x in each)})>"
                       for each in maps)
    scale = "f16" if kind in HALVES else "f32"
    args = "".join(f", %s{i}: {tensor(letters, scale)}" for i, letters in scales)
    types = ", ".join([tensor([*rows, "c", "k"], type_), tensor([*cols, "c", "k"], type_),
                       *(tensor(letters, scale) for _, letters in scales)])
    ins = "".join(f", %s{i}" for i, _ in scales) + " : " + types
    factor = "%w" if kind in HALVES else "%f"
    wide = "".join(f"%w{i} = arith.extf %f{i} : f16 to f32\n    " for i, _ in scales)
    multiply = (wide if kind in HALVES else "") + "\n    ".join(
        f"%p{j + 1} = arith.mulf %p{j}, {factor}{i} : f32" for j, (i, _) in enumerate(scales))
    widen = ("" if type_ == "f32" else
             f"%u = arith.extf %a : {type_} to f32\n    %v = arith.extf %b : {type_} to f32")
    out = shape([*rows, *cols])
    finish = f"return %p : tensor<{out}xf32>" if result == "f32" else f"""
  %o = tensor.empty() : tensor<{out}x{result}>
  %q = linalg.generic {{indexing_maps = [#id, #id], iterator_types = [{', '.join(['"parallel"'] * len(rows + cols))}]}}
        ins(%p : tensor<{out}xf32>) outs(%o : tensor<{out}x{result}>) {{
  ^bb0(%a: f32, %b: {result}):
    %z = arith.maximumf %a, %zero : f32
    %t = arith.truncf %z : f32 to {result}
    linalg.yield %t : {result}
  }} -> tensor<{out}x{result}>
  return %q : tensor<{out}x{result}>"""
    program = (PROGRAM.replace("MAPS", listed).replace("ARGS", args).replace("INS", ins)
               .replace("WIDEN", widen).replace("MULTIPLY", multiply).replace("FINISH", finish)
               .replace("SCALES", "".join(f", %f{i}: {scale}" for i, _ in scales))
               .replace("LAST", str(len(scales))).replace("OUT", out)
               .replace("KINDS", ", ".join('"parallel"' if x in rows + cols else '"reduction"'
                                           for x in loops)))
    if not widen:
        program = program.replace("%u, %v", "%a, %b")
    mark = f"%sx = pit.sparse %x{sparse} : {tensor([*rows, 'c', 'k'], type_)}" if sparse is not None else ""
    if not mark:
        program = program.replace("%sx", "%x")
    head = (f"#id = affine_map<({', '.join(f'd{i}' for i in range(len(rows + cols)))}) -> "
            f"({', '.join(f'd{i}' for i in range(len(rows + cols)))})>\n")
    program = (program.replace("MARK", mark).replace("ROWS", shape(rows)).replace("COLS", shape(cols))
               .replace("xCxD", f"x{sizes['c']}x{sizes['k']}").replace("TYPE", type_)
               .replace("RESULT", result)
               .replace("ZERO", "%zero = arith.constant 0.0 : f32"))
    return head + program


def compute(sizes, kind, result, arrays, type_):
    rows, cols = ([x for x in each if x in sizes] for each in ("Mm", "Nn"))
    x, w, *scales = arrays
    factors = [("".join([*rows, "ck"]), TYPES[type_].load(x)),
               ("".join([*cols, "ck"]), TYPES[type_].load(w)),
               *zip([letters for letters in KINDS[kind] if letters],
                    [s.astype("d") for s in scales])]
    equation = ",".join(letters for letters, _ in factors) + "->" + "".join([*rows, *cols])
    total = np.einsum(equation, *(value for _, value in factors), optimize=True)
    return total if result == "f32" else np.maximum(total, 0)


def programs(rng):
    """Sizes, kind of scales, type, result, mark of x (None: none)."""
    r = [int(v) for v in rng.integers(1, 300, size=12)]
    f8, g8 = "f8E4M3FN", "f8E5M2"
    rows = " rule(#pit.rule<axis = 0, micro_tile = [1, *, *]>)"
    return [
        ({"m": 128, "n": 128, "N": 2, "c": 3, "k": 128}, "blocks", f8, "f32", None),
        ({"m": 200, "n": 128, "N": 1, "c": 2, "k": 128}, "blocks", f8, "bf16", None),
        ({"m": r[0], "n": 128, "N": 3, "c": 1, "k": 128}, "blocks", g8, "f16", None),
        ({"m": r[1], "n": r[2], "c": 4, "k": 128}, "rows of blocks", f8, "f32", None),
        ({"m": 1, "n": 40, "c": 2, "k": 128}, "one of two", f8, "f32", None),
        ({"m": r[3], "n": 64, "N": 2, "c": 2, "k": 128}, "other of two", f8, "bf16", None),
        ({"m": r[4], "n": r[5], "c": 3, "k": 128}, "by step", f8, "f32", None),
        ({"m": 64, "M": 3, "n": 128, "N": 2, "c": 2, "k": 128}, "blocks of rows", f8, "f32", None),
        ({"m": r[6], "n": r[7], "c": 2, "k": 64}, "rows of blocks", g8, "f32", None),
        ({"m": r[7], "n": r[8], "c": 3, "k": 128}, "halves", f8, "f32", None),
        ({"m": 200, "n": 72, "c": 2, "k": 128}, "halves", f8, "bf16", rows),
        ({"m": r[8], "n": r[9], "c": 3, "k": 32}, "rows of blocks", f8, "f32", None),
        ({"m": r[10], "n": r[11], "c": 2, "k": 48}, "one of two", f8, "f32", None),
        ({"m": 130, "n": 136, "c": 3, "k": 64}, "rows of blocks", "f16", "f32", None),
        ({"m": 65, "n": 128, "N": 2, "c": 2, "k": 128}, "blocks", "bf16", "bf16", None),
        ({"m": 70, "n": 72, "c": 2, "k": 32}, "rows of blocks", "f32", "f32", None),
        ({"m": 0, "n": 16, "c": 2, "k": 128}, "rows of blocks", f8, "f32", None),
        ({"m": 9, "n": 16, "c": 0, "k": 128}, "rows of blocks", f8, "f32", None),
        ({"m": 150, "n": 128, "N": 2, "c": 2, "k": 128}, "blocks", f8, "f32", rows),
        ({"m": 150, "n": 136, "c": 2, "k": 128}, "rows of blocks", f8, "bf16", rows),
        ({"m": 90, "n": 64, "c": 2, "k": 128}, "rows of blocks", f8, "f32", ""),
    ]


def draw(rng, sizes, kind, type_, marked):
    rows, cols = ([x for x in each if x in sizes] for each in ("Mm", "Nn"))

    def normal(letters):
        return rng.standard_normal([sizes[x] for x in letters])

    x = normal([*rows, "c", "k"])
    if marked:
        x[rng.random(x.shape[:1]) < 0.6] = 0
    arrays = [TYPES[type_].store(x), TYPES[type_].store(normal([*cols, "c", "k"]))]
    for letters in KINDS[kind]:
        if letters:
            scale = normal(letters) * 2.0 ** rng.integers(-3, 4)
            scale[rng.random(scale.shape) < 0.1] = 0
            arrays.append(scale.astype(np.float16 if kind in HALVES else "f"))
    return arrays


def main():
    pit_run, rng = PitRun(), draw_seed()
    right = count = 0
    for sizes, kind, type_, result, sparse in pit_run.some(programs(rng), rng):
        arrays = draw(rng, sizes, kind, type_, sparse is not None)
        results = pit_run.results(text(sizes, kind, type_, result, sparse), arrays)
        wrong = "no result"
        if results:
            own = TYPES[result]
            got = own.load(results[0].view(own.storage))
            want = compute(sizes, kind, result, arrays, type_)
            scale = max(np.sqrt((want ** 2).mean()) if want.size else 0, 1e-9)
            error = np.abs(got - want).max(initial=0) / scale
            limit = {"f32": 5e-3, "f16": 3e-2, "bf16": 2e-1}[result]
            wrong = "" if error < limit else f"off by {error:.2g} of the root mean square"
        count += 1
        right += not wrong
        if wrong:
            print(f"{sizes}, {kind}, {type_} to {result}, x marked: {sparse!r}: {wrong}")
    print(f"{right} of {count} programs are right")


main()
