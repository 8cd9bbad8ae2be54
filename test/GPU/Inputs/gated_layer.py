"""A gated layer of a mixture of experts, whose two projections share a loop, run on the
emulator or the CPU and compared with numpy in float64.

    gated_layer.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]
    gated_layer.py [--one-of=N] PIT_RUN cpu NAME [OPTIONS of pit-to-cpu]

The last line says how many layers were right.
"""

import numpy as np

from pit_run import PitRun, draw_seed

LAYER = """
#te = affine_map<(t, e, f, k) -> (t, e)>
#tk = affine_map<(t, e, f, k) -> (t, k)>
#ekf = affine_map<(t, e, f, k) -> (e, k, f)>
#tef = affine_map<(t, e, f, k) -> (t, e, f)>
#id = affine_map<(t, e, f) -> (t, e, f)>
#out = affine_map<(t, n, e, f) -> (t, n)>
#down = affine_map<(t, n, e, f) -> (e, f, n)>
#hidden = affine_map<(t, n, e, f) -> (t, e, f)>
#weight = affine_map<(t, n, e, f) -> (t, e)>
func.func @f(%r: tensor<TxExTYPE>, %assigned: tensor<TxSxi32>, %x: tensor<TxKxTYPE>,
             %a: tensor<ExKxFxTYPE>, %b: tensor<ExKxFxTYPE>, %d: tensor<ExFxKxTYPE>) -> tensor<TxKxRESULT> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %s = pit.sparse %r routing(%assigned : tensor<TxSxi32>) : tensor<TxExTYPE>
  %e = tensor.empty() : tensor<TxExFxf32>
  %zh = linalg.fill ins(%zero : f32) outs(%e : tensor<TxExFxf32>) -> tensor<TxExFxf32>
PROJECTIONS
  %eh = tensor.empty() : tensor<TxExFxTYPE>
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%g, %u : tensor<TxExFxf32>, tensor<TxExFxf32>) outs(%eh : tensor<TxExFxTYPE>) {
  ^bb0(%p: f32, %q: f32, %o: TYPE):
    %n = arith.negf %p : f32
    %m = math.exp %n : f32
    %w = arith.addf %m, %one : f32
    %v = arith.divf %p, %w : f32
    %y = arith.mulf %v, %q : f32
    NARROW
    linalg.yield %z : TYPE
  } -> tensor<TxExFxTYPE>
  %nothing = arith.constant 0.0 : RESULT
  %ey = tensor.empty() : tensor<TxKxRESULT>
  %zy = linalg.fill ins(%nothing : RESULT) outs(%ey : tensor<TxKxRESULT>) -> tensor<TxKxRESULT>
  %y = linalg.generic {indexing_maps = [#weight, #hidden, #down, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
         ins(%s, %h, %d : tensor<TxExTYPE>, tensor<TxExFxTYPE>, tensor<ExFxKxTYPE>) outs(%zy : tensor<TxKxRESULT>) {
  DOWN
  } -> tensor<TxKxRESULT>
  return %y : tensor<TxKxRESULT>
}
"""
PROJECTION = """
  %NAME = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%s, %x, %WEIGHTS : tensor<TxExTYPE>, tensor<TxKxTYPE>, tensor<ExKxFxTYPE>) outs(%zh : tensor<TxExFxf32>) {
  BODY
  } -> tensor<TxExFxf32>
"""
WIDE_BODY = """^bb0(%w: TYPE, %p: TYPE, %q: TYPE, %o: f32):
    %0 = arith.extf %p : TYPE to f32
    %1 = arith.extf %q : TYPE to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.extf %w : TYPE to f32
    %4 = arith.mulf %3, %2 : f32
    %5 = arith.addf %o, %4 : f32
    linalg.yield %5 : f32"""
ONE_TYPE_BODY = """^bb0(%w: TYPE, %p: TYPE, %q: TYPE, %o: TYPE):
    %0 = arith.mulf %p, %q : TYPE
    %1 = arith.mulf %w, %0 : TYPE
    %2 = arith.addf %o, %1 : TYPE
    linalg.yield %2 : TYPE"""

# Tokens, width, hidden width, experts, type: ragged edges, one token, one expert.
# Up to two experts a token, or as many as a last number says. The result is f32, or it
# has the type of the operands; then experts' parts of it may be rounded to that (round-partials).
LAYERS = [(37, 64, 256, 4, "f16"), (150, 128, 192, 2, "f16"), (1, 64, 72, 3, "f16"),
          (70, 96, 130, 1, "f32"), (300, 64, 328, 2, "f16"), (90, 64, 72, 70, "f16"),
          (150, 128, 192, 3, "f16", 1), (140, 200, 64, 5, "all f16", 3),
          (33, 72, 136, 2, "all bf16"), (1, 8, 64, 40, "all f16", 8)]
# A CPU has no lower bound of what pays, and types that no matrix unit takes.
CPU_LAYERS = LAYERS + [(1, 1, 1, 1, "f32"), (33, 17, 19, 5, "f64"), (64, 48, 64, 4, "bf16"),
                       (19, 33, 70, 3, "bf16"), (5, 256, 16, 7, "f32", 3), (0, 8, 8, 2, "f32")]


def text(extents, type_):
    *how, type_ = type_.split()
    wide = type_ in ("f16", "bf16")
    narrow = f"%z = arith.truncf %y : f32 to {type_}" if wide else "%z = arith.addf %y, %zero : f32"
    projections = "".join(PROJECTION.replace("NAME", name).replace("WEIGHTS", weights)
                          for name, weights in (("g", "a"), ("u", "b")))
    body = WIDE_BODY if wide else ONE_TYPE_BODY
    layer = (LAYER.replace("PROJECTIONS", projections).replace("NARROW", narrow)
             .replace("BODY", body).replace("DOWN", ONE_TYPE_BODY if how else body)
             .replace("RESULT", type_ if how else "f32"))
    for letter, extent in extents.items():
        for before in ("<", "x"):
            layer = layer.replace(f"{before}{letter}x", f"{before}{extent}x")
    return layer.replace("TYPE", type_) if type_ != "f64" else (
        layer.replace("TYPE", type_).replace("f32", type_))


def rounded(values, type_):
    """Values as `type_` has them; bf16 as f32."""
    if type_ != "bf16":
        return values.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[type_])
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)


def stored(array, type_):
    """As pit-run reads it: bf16 is the upper half of f32."""
    bits = type_ == "bf16" and array.dtype == np.float32
    return (np.ascontiguousarray(array).view(np.uint32) >> 16).astype(np.uint16) if bits else array


def draw(rng, tokens, width, hidden, experts, slots, type_):
    assigned = np.full((tokens, slots), -1, np.int32)
    for token in range(tokens):
        chosen = rng.permutation(experts)[:rng.integers(0, slots + 1)]
        assigned[token, :len(chosen)] = chosen
    # Products of three small weights would be f16's smallest numbers, which have few digits.
    arrays = [rng.uniform(0.25, 1, (tokens, experts)), assigned, rng.standard_normal((tokens, width))]
    arrays += [rng.standard_normal(shape) / np.sqrt(shape[1])
               for shape in ((experts, width, hidden), (experts, width, hidden),
                             (experts, hidden, width))]
    return [a if a.dtype == np.int32 else rounded(a, type_) for a in arrays]


def reference(type_, weights, assigned, x, gate, up, down):
    weights, x, gate, up, down = (v.astype(np.float64) for v in (weights, x, gate, up, down))
    result = np.zeros(x.shape)
    for token, choices in enumerate(assigned):
        for expert in choices[choices >= 0]:
            weight = weights[token, expert]
            g, u = (weight * (x[token] @ w[expert]) for w in (gate, up))
            h = rounded(g / (1 + np.exp(-g)) * u, type_).astype(np.float64)
            result[token] += weight * (h @ down[expert])
    return result


def main():
    pit_run, rng = PitRun(), draw_seed()
    layers = pit_run.some(CPU_LAYERS if pit_run.on_cpu else LAYERS, rng)
    right = 0
    for *extents, how, slots in ((*layer, 2)[:6] for layer in layers):
        extents.append(slots)
        type_ = how.split()[-1]
        arrays = draw(rng, *extents, type_)
        results = pit_run.results(text(dict(zip("TKFES", extents)), how),
                                  [stored(array, type_) for array in arrays])
        wrong = "no result"
        if results:
            want, got = reference(type_, *arrays), results[0]
            if got.dtype.kind == "V":  # bf16
                got = (got.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
            typical = max(1e-6, np.sqrt(np.mean(want ** 2))) if want.size else 1
            error = (np.abs(got - want) / np.maximum(np.abs(want), typical)).max(initial=0)
            limit = {"f64": 1e-12, "f32": 1e-4, "f16": 2e-2, "bf16": 1e-1}[type_]
            wrong = "" if error < limit else f"off by {error:.2g} of the element, or of the root mean square"
        right += not wrong
        if wrong:
            print(f"{extents} of {how}: {wrong}")
    print(f"{right} of {len(layers)} layers are right")


main()
