"""Products of f32 and f64, which have no tensor cores: operands in either layout, dense, with rows
that ids select, or with ids along the sum; on the emulator, compared with numpy in float64. f64 is
compared as it is.

    scalar_products.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

The last line says how many layers were right.
"""

import itertools

import numpy as np

from pit_run import check_layers

PROGRAM = """
func.func @f(%a: A_TYPE, %b: B_TYPE, %c: C_TYPE) -> C_TYPE {
  MARK
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (A_DIMS)>, affine_map<(m, n, k) -> (B_DIMS)>,
                                      affine_map<(m, n, k) -> (m, n)>]
         ins(LEFT, %b : A_TYPE, B_TYPE) outs(%c : C_TYPE) -> C_TYPE
  return %r : C_TYPE
}
"""
RULES = {"rows": "axis = 0, micro_tile = [1, *]", "columns": "axis = 1, micro_tile = [32, 1]"}
SIZES = [(150, 270, 70), (131, 257, 37), (256, 256, 64), (1, 130, 33), (300, 1, 9), (0, 64, 32),
         (64, 64, 0), (129, 128, 128)]
# A's dims and B's, the element type, sizes, whether they are known, and what is sparse.
LAYERS = [(a, b, type_, SIZES[i % len(SIZES)], i % 3 != 0, sparse)
          for i, (a, b, type_, sparse) in enumerate(itertools.chain(
              itertools.product(("m, k", "k, m"), ("k, n", "n, k"), ("f32", "f32", "f64"), ("dense",)),
              itertools.product(("m, k",), ("k, n", "n, k"), ("f32", "f64", "f32"), RULES)))]


def check(pit_run, rng, a_dims, b_dims, type_, sizes, known, sparse):
    extent = dict(zip("mnk", sizes))
    shapes = {name: [extent[d] for d in dims.split(", ")]
              for name, dims in (("A", a_dims), ("B", b_dims), ("C", "m, n"))}
    text = PROGRAM
    for name, shape in shapes.items():
        dims = "".join(f"{size if known else '?'}x" for size in shape)
        text = text.replace(f"{name}_TYPE", f"tensor<{dims}{type_}>")
    a, b, c = (rng.standard_normal(shape).astype("f4" if type_ == "f32" else "f8")
               for shape in shapes.values())
    mark, left = "", "%a"
    if sparse != "dense":
        height, width = (1, a.shape[1]) if sparse == "rows" else (32, 1)
        live = rng.random((-(-a.shape[0] // height), -(-a.shape[1] // max(width, 1)))) < 0.4
        a = a * live.repeat(height, 0).repeat(max(width, 1), 1)[:a.shape[0], :a.shape[1]]
        kind = text[text.index("%a: ") + 4:text.index(", %b")]
        mark, left = f"%s = pit.sparse %a rule(#pit.rule<{RULES[sparse]}>) : {kind}", "%s"
        a = a.astype(b.dtype)
    for name, value in (("A_DIMS", a_dims), ("B_DIMS", b_dims), ("MARK", mark), ("LEFT", left)):
        text = text.replace(name, value)
    found = pit_run.results(text, [a, b, c])
    if found is None:
        return "pit-run failed"
    wide = [x.astype("f8") for x in (a, b, c)]
    left, right = (x.T if dims[0] != first else x
                   for x, dims, first in zip(wide, (a_dims, b_dims), "mk"))
    error = np.abs(found[0] - (wide[2] + left @ right)).max(initial=0)
    return "" if error < (1e-3 if type_ == "f32" else 1e-11) else f"off by {error:.1e}"


if __name__ == "__main__":
    check_layers(LAYERS, check)
