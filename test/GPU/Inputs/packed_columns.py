"""Products whose A, [m, k], has zeros in micro-tiles of n x 1, of which the build of the index
packs what is live, run on the emulator and compared with numpy in float64.

    packed_columns.py PIT_RUN LIBCUDA CHIP

Of each product a line says what packed A; the last one, how many were right.
"""

import re

import numpy as np

from pit_run import PitRun, draw_floats, draw_seed, value

# One product, and two of the same marked value, the second one of a part of its result.
PROGRAMS = {
    "one": """
func.func @f(%a: tensor<MxKxT>, %b: tensor<KxNxT>) -> tensor<MxNxf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [W, 1]>) : tensor<MxKxT>
PRODUCT(r, s, b)
  return %r : tensor<MxNxf32>
}
""",
    "two": """
func.func @f(%a: tensor<MxKxT>, %b: tensor<KxNxT>, %d: tensor<KxNxT>)
    -> (tensor<MxNxf32>, tensor<MxNxf32>) {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [W, 1]>) : tensor<MxKxT>
PRODUCT(r, s, b)
PRODUCT(q, s, d)
  return %r, %q : tensor<MxNxf32>, tensor<MxNxf32>
}
""",
    # The value is computed by the program.
    "relu": """
func.func @f(%x: tensor<MxKxT>, %b: tensor<KxNxT>) -> tensor<MxNxf32> {
  %none = arith.constant 0.0 : T
  %ae = tensor.empty(DIMS_K) : tensor<MxKxT>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<MxKxT>) outs(%ae : tensor<MxKxT>) {
  ^bb0(%v: T, %o: T):
    %0 = arith.maximumf %v, %none : T
    linalg.yield %0 : T
  } -> tensor<MxKxT>
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [W, 1]>) : tensor<MxKxT>
PRODUCT(r, s, b)
  return %r : tensor<MxNxf32>
}
""",
}
PRODUCT = """
  %RESULTzero = arith.constant 0.0 : f32
  %RESULTe = tensor.empty(DIMS_N) : tensor<MxNxf32>
  %RESULTf = linalg.fill ins(%RESULTzero : f32) outs(%RESULTe : tensor<MxNxf32>) -> tensor<MxNxf32>
  %RESULT = linalg.matmul ins(%LEFT, %RIGHT : tensor<MxKxT>, tensor<KxNxT>)
         outs(%RESULTf : tensor<MxNxf32>) -> tensor<MxNxf32>"""

# Program, type, rows of a micro-tile, extents (m, n, k), options: "dynamic" rows; "first": the
# first rows hold all that is live; "all", "none".
PRODUCTS = [
    ("one", "f16", 32, (128, 1024, 256)), ("one", "bf16", 32, (75, 1032, 264), "dynamic"),
    ("one", "f16", 16, (48, 2048, 2056)), ("one", "f16", 8, (20, 1100, 136), "all"),
    ("one", "bf16", 64, (200, 1024, 520)), ("one", "f16", 128, (130, 1024, 264), "first"),
    ("one", "f16", 32, (64, 1024, 256), "none"), ("one", "f16", 32, (1, 2048, 128), "dynamic"),
    ("one", "f16", 32, (0, 2048, 128), "dynamic"), ("two", "f16", 32, (96, 1024, 128)),
    # Rows that do not begin at multiples of 16 bytes; too long ones.
    ("one", "f16", 32, (64, 1024, 131)), ("one", "f16", 128, (128, 1024, 4104)),
    ("relu", "f16", 32, (64, 1024, 256)),
]


def text(product):
    program, type_, width, (m, n, k), *options = product
    code = re.sub(r"PRODUCT\((\w+), (\w+), (\w+)\)",
                  lambda found: PRODUCT.replace("RESULT", found[1]).replace("LEFT", found[2])
                  .replace("RIGHT", found[3]), PROGRAMS[program])
    rows = "?" if "dynamic" in options else m
    if rows == "?":
        code = code.replace("{\n  %s =", "{\n  %c0 = arith.constant 0 : index\n"
                            "  %m = tensor.dim %a, %c0 : tensor<MxKxT>\n  %s =", 1)
    for old, new in (("DIMS_N", "%m" if rows == "?" else ""), ("DIMS_K", ""),
                     ("MxKxT", f"{rows}x{k}x{type_}"), ("KxNxT", f"{k}x{n}x{type_}"),
                     ("MxN", f"{rows}x{n}"), ("[W, 1]", f"[{width}, 1]"), (": T", f": {type_}")):
        code = code.replace(old, new)
    return code


def run(pit_run, product, rng):
    """What packed A, and whether the results are right."""
    program, type_, width, (m, n, k), *options = product
    arrays = [draw_floats(rng, (m, k), type_)]
    arrays += [draw_floats(rng, (k, n), type_) for _ in range(2 if program == "two" else 1)]
    live = rng.random((-(-m // width), k)) < 0.2
    if "first" in options:
        live[1:] = False
    if "all" in options or "none" in options:
        live[:] = "all" in options
    dead = ~np.repeat(live, width, axis=0)[:m]
    # Some zeros are negative.
    zeros = np.where(rng.random(dead.shape) < 0.5, 0x8000, 0).astype(np.uint16)
    arrays[0].view(np.uint16)[dead] = zeros[dead]
    left = np.maximum(value(arrays[0]), 0) if program == "relu" else value(arrays[0])
    results, kernels = pit_run.traced(text(product), arrays, len(arrays) - 1)
    if results is None:
        return kernels, False
    builds = sum(name.startswith("pit_index_packed") for name in kernels)
    loops = sum(not name.startswith("pit_") and not name.endswith("_hopper") for name in kernels)
    packed = f"{builds} builds" if builds else f"{loops} kernels"
    error = 0
    for result, right in zip(results, arrays[1:]):
        want = left @ value(right)
        scale = max(1e-6, np.sqrt(np.mean(want ** 2))) if want.size else 1
        error = max(error, np.abs(result - want).max(initial=0) / scale)
    return packed + ("" if error < 1e-4 else f", off by {error:.2g}"), error < 1e-4


def main():
    pit_run, rng = PitRun(), draw_seed()
    right = 0
    for product in PRODUCTS:
        told, is_right = run(pit_run, product, rng)
        print(*product, ":", told, flush=True)
        right += is_right
    print(f"{right} of {len(PRODUCTS)} products are right")


main()
