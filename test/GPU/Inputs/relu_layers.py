"""Layers whose activation is marked, on the emulator or the CPU, compared with numpy in
float64: what computes the activation says which of its elements are live.

    relu_layers.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]
    relu_layers.py [--one-of=N] PIT_RUN cpu NAME [OPTIONS of pit-to-cpu]

The last line says how many programs were right. Extents, patterns of zeros and values are
drawn anew each time, and which one of N programs is run; the seed is printed.
"""

import itertools
import sys
from pathlib import Path

import numpy as np

from pit_run import PitRun, draw_seed

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Differential"))
import dtypes  # noqa: E402

TYPES = {t.mlir: t for t in (dtypes.F64, dtypes.F32, dtypes.F16, dtypes.BF16, dtypes.E4M3,
                             dtypes.E5M2)}

# What makes zeros of some elements, or another background of them.
ACTIVATIONS = {
    "relu": ("%z = arith.maximumf %s, %zero : TYPE", 0.0),
    "relu_squared": ("""%p = arith.maximumf %s, %zero : TYPE
    %z = arith.mulf %p, %p : TYPE""", 0.0),
    "threshold": ("""%k = arith.cmpf olt, %s, %half : TYPE
    %z = arith.select %k, %zero, %s : TYPE""", 0.0),
    "signed_zero": ("""%k = arith.cmpf olt, %s, %zero : TYPE
    %n = arith.negf %zero : TYPE
    %z = arith.select %k, %n, %s : TYPE""", 0.0),
    "clamp": ("%z = arith.maximumf %s, %half : TYPE", 0.5),
}
APPLY = {
    "relu": lambda s: np.maximum(s, 0),
    "relu_squared": lambda s: np.maximum(s, 0) ** 2,
    "threshold": lambda s: np.where(s < 0.5, 0, s),
    "signed_zero": lambda s: np.where(s < 0, 0, s),
    "clamp": lambda s: np.maximum(s, 0.5),
}

HEAD = """
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> WEIGHT>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @f(%x: tensor<?xD0xTYPE>ARGS) -> RESULTS {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : TYPE
  %half = arith.constant 0.5 : TYPE
  %zsum = arith.constant 0.0 : SUM
  %m = tensor.dim %x, %c0 : tensor<?xD0xTYPE>
  %none = tensor.empty() : tensor<0xTYPE>
"""
PRODUCT = """
  %eI = tensor.empty(%m) : tensor<?xN1xSUM>
  %fI = linalg.fill ins(%zsum : SUM) outs(%eI : tensor<?xN1xSUM>) -> tensor<?xN1xSUM>
  %pI = linalg.generic {indexing_maps = [#mk, #weight, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%IN, %wI : tensor<?xN0xTYPE>, tensor<WIDTHSxTYPE>) outs(%fI : tensor<?xN1xSUM>) {
  ^bb0(%a: TYPE, %b: TYPE, %c: SUM):
    MULTIPLY
    %u = arith.addf %c, %t : SUM
    linalg.yield %u : SUM
  } -> tensor<?xN1xSUM>
"""
ACTIVATION = """
  %vI = tensor.empty(%m) : tensor<?xN1xTYPE>
  %hI = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%pI, %bI : tensor<?xN1xSUM>, tensor<N1xTYPE>) outs(%vI : tensor<?xN1xTYPE>) {
  ^bb0(%a: SUM, %b: TYPE, %c: TYPE):
    NARROW
    %s = arith.addf %q, %b : TYPE
    ACT
    linalg.yield %z : TYPE
  } -> tensor<?xN1xTYPE>
  %sI = pit.sparse %hIBACKGROUNDRULE : tensor<?xN1xTYPE>
"""
# Without a bias rows of zeros stay zeros, and all variants of a product compute the activation.
UNBIASED = (ACTIVATION.replace("#id, #row, #id", "#id, #id").replace("%b: TYPE, ", "")
            .replace("%pI, %bI : tensor<?xN1xSUM>, tensor<N1xTYPE>", "%pI : tensor<?xN1xSUM>")
            .replace("%s = arith.addf %q, %b : TYPE", "%s = arith.addf %q, %q : TYPE"))


def text(widths, activation, type_, rule, marked, biased=True):
    """Products by widths[1:], an activation after each but the last. With `marked` x is, too.
    Without a bias what is activated is twice the product."""
    wide = TYPES[type_].bits < 32
    transposed = TYPES[type_].bits == 8  # as wgmma takes 8-bit floats
    sums = "f32" if wide else type_
    act, background = ACTIVATIONS[activation]
    args = "".join(f", %w{i}: tensor<{f'{b}x{a}' if transposed else f'{a}x{b}'}xTYPE>, %b{i}: tensor<{b}xTYPE>"
                   for i, (a, b) in enumerate(itertools.pairwise(widths)))
    program = HEAD.replace("D0", str(widths[0]))
    program = program.replace("WEIGHT", "(n, k)" if transposed else "(k, n)")
    program = program.replace("  %none = tensor.empty() : tensor<0xTYPE>\n", "")
    source, body = "x", ""
    if marked:
        body += f"  %xs = pit.sparse %x : tensor<?x{widths[0]}xTYPE>\n"
        source = "xs"
    last = len(widths) - 2
    for i, (a, b) in enumerate(itertools.pairwise(widths)):
        part = PRODUCT + ((ACTIVATION if biased else UNBIASED) if i < last else "")
        part = part.replace("WIDTHS", "N1xN0" if transposed else "N0xN1")
        part = (part.replace("N0", str(a)).replace("N1", str(b)).replace("IN", source)
                .replace("BACKGROUND", f" background({background} : TYPE)" if background else "")
                .replace("RULE", f" rule({rule})" if rule else "").replace("ACT", act))
        for letter in "efpwvhsb":
            part = part.replace(f"%{letter}I", f"%{letter}{i}")
        body += part
        source = f"s{i}"
    multiply = ("%d = arith.extf %a : TYPE to SUM\n    %g = arith.extf %b : TYPE to SUM\n"
                "    %t = arith.mulf %d, %g : SUM" if wide else "%t = arith.mulf %a, %b : SUM")
    narrow = "%q = arith.truncf %a : SUM to TYPE" if wide else "%q = arith.addf %a, %zsum : SUM"
    program += body + f"  return %p{last}, %h{last - 1} : RESULTS\n}}\n"
    results = f"tensor<?x{widths[-1]}xSUM>, tensor<?x{widths[-2]}xTYPE>"
    program = program.replace("-> RESULTS", f"-> ({results})").replace("RESULTS", results)
    return (program.replace("ARGS", args).replace("MULTIPLY", multiply).replace("NARROW", narrow)
            .replace("SUM", sums).replace("TYPE", type_))


def draw(rng, rows, widths, type_):
    """Activations are background mostly: by single elements, rows or columns."""
    x = rng.standard_normal((rows, widths[0]))
    x[rng.random(rows) < 0.2] = 0
    arrays = [x]
    for a, b in itertools.pairwise(widths):
        pattern = rng.choice(["few", "none", "all", "columns", "nan"])
        bias = {"few": -1.2, "none": -50, "all": 50, "columns": -50, "nan": -1}[pattern]
        bias = np.full(b, bias, float)
        if pattern == "columns":
            bias[rng.random(b) < 0.1] = 1
        if pattern == "nan" and b:
            bias[rng.integers(b)] = np.nan
        arrays += [rng.standard_normal((a, b)) / np.sqrt(max(a, 1)), bias]
    return [TYPES[type_].store(array) for array in arrays]


def compute(activation, type_, arrays, biased):
    def rounded(values):
        return TYPES[type_].load(TYPES[type_].store(values))

    value, *rest = (TYPES[type_].load(array) for array in arrays)
    weights, biases = rest[::2], rest[1::2]
    for i, (weight, bias) in enumerate(zip(weights, biases)):
        total = value @ weight
        if i + 1 == len(weights):
            return total, value
        total = rounded(total)
        value = rounded(APPLY[activation](rounded(total + (bias if biased else total))))


def differ(got, want, type_):
    if got.shape != want.shape:
        return f"shape {got.shape} in place of {want.shape}"
    if not np.array_equal(np.isnan(got), np.isnan(want)):
        return "NaN elsewhere"
    scale = np.sqrt(np.nanmean(want ** 2)) if np.isfinite(want).any() else 0
    error = np.nanmax(np.abs(got - want), initial=0) / max(scale, 1)
    if error < {"f64": 1e-12, "f32": 1e-4, "f16": 3e-2, "bf16": 2e-1}.get(type_, 1):
        return ""
    return f"off by {error:.2g} of the root mean square"


def programs(rng, on_cpu):
    """Rows, widths, activation, type, is x marked, has it biases."""
    ragged = [int(v) for v in rng.integers(1, 300, size=8)]
    cases = [
        (64, [64, 128, 64], "relu", "f32"), (37, [40, 200, 72], "relu", "f32"),
        (0, [16, 64, 32], "relu", "f32"), (1, [33, 129, 16], "relu_squared", "f32"),
        (130, [64, 256, 64], "threshold", "f16"), (70, [32, 72, 40], "relu", "bf16"),
        (50, [48, 520, 96], "clamp", "f32"), (33, [64, 96, 64, 32], "relu", "f32"),
        (ragged[0], ragged[1:4], "signed_zero", "f32"),
        (ragged[4], ragged[5:8], "relu", "f16"), (65, [16, 1, 16], "relu", "f32"),
        (90, [72, 264, 136, 64], "clamp", "f16"),
        (140, [256, 384, 128], "relu", "f8E4M3FN"), (33, [64, 88, 48], "threshold", "f8E5M2"),
    ]
    if on_cpu:
        cases += [(40, [24, 136, 48], "relu", "f64"), (75, [30, 70, 50], "threshold", "f64")]
    else:  # blocks share the steps of tiles; tiles of wgmma: whole, ragged, of few rows
        cases += [
            (5, [1032, 136, 40], "relu", "f32"), (20, [1040, 72, 24], "threshold", "f16"),
            (200, [128, 384, 128], "relu", "f16"), (9, [128, 512, 128], "threshold", "f16"),
            (300, [64, 648, 128], "clamp", "bf16"), (130, [128, 264, 64], "signed_zero", "bf16"),
        ]
    for i, case in enumerate(cases):
        yield *case, i % 2 == 1, True
    for case in ((130, [64, 256, 64], "relu", "f16"), (37, [40, 72, 200, 24], "relu_squared", "bf16"),
                 (0, [16, 64, 32], "relu", "f16"), (ragged[1], ragged[2:5], "relu", "bf16")):
        yield *case, True, False


def main():
    pit_run, rng = PitRun(), draw_seed()
    right = count = 0
    drawn = pit_run.some(programs(rng, pit_run.on_cpu), rng)
    for rows, widths, activation, type_, marked, biased in drawn:
        arrays = draw(rng, rows, widths, type_)
        turned = [np.ascontiguousarray(array.T) if i and TYPES[type_].bits == 8 and array.ndim == 2
                  else array for i, array in enumerate(arrays)]
        results = pit_run.results(text(widths, activation, type_, None, marked, biased), turned, 2)
        wrong = ["no result"]
        if results:
            own = TYPES[type_]
            kinds = [dtypes.F32 if own.bits < 32 else own, own]
            got = [kind.load(array.view(kind.storage)) for kind, array in zip(kinds, results)]
            wrong = [why for why in (differ(*pair, type_) for pair in zip(
                got, compute(activation, type_, arrays, biased))) if why]
        count += 1
        right += not wrong
        if wrong:
            print(f"{rows} rows, {widths}, {activation}, {type_}, x marked: {marked}, "
                  f"biases: {biased}: {wrong}")
    print(f"{right} of {count} programs are right")


main()
