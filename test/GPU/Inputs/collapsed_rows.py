"""Layers on tensors of several leading dims, or of vectors, on the emulator or the CPU, compared with numpy
in float64.

    collapsed_rows.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]
    collapsed_rows.py [--one-of=N] PIT_RUN cpu NAME [OPTIONS of pit-to-cpu]

The last line says how many programs were right. Extents and values are drawn anew each
time; the seed is printed.
"""

import sys
from pathlib import Path

import numpy as np

from pit_run import PitRun, draw_seed

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Differential"))
import dtypes  # noqa: E402

TYPES = {t.mlir: t for t in (dtypes.F32, dtypes.F16, dtypes.BF16)}


def tensor(letters, sizes, element, dynamic=""):
    shape = ["?" if x in dynamic else str(sizes[x]) for x in letters]
    return f"tensor<{'x'.join([*shape, element])}>"


def maps(loops, *operands):
    names = ", ".join(f"d{x}" for x in loops)
    return "[" + ", ".join(f"affine_map<({names}) -> ({', '.join('d' + x for x in each)})>"
                           for each in operands) + "]"


def parallel(loops):
    return "iterator_types = [" + ", ".join(['"parallel"'] * len(loops)) + "]"


def text(sizes, equation, type_, dynamic, followers, repeated):
    """`equation`: of x, the weight and the result; `followers`: operands of the element-wise
    ops after the product, each added but for those that multiply (*), and then relu."""
    inputs, out = equation.split("->")
    x, w = inputs.split(",")
    loops = out + "".join(c for c in x if c not in out)
    args = [("x", x, type_), ("w", w, type_)]
    args += [(f"o{i}", each.strip("*"), type_) for i, each in enumerate(followers)]
    lines = ["%zero = arith.constant 0.0 : f32"]
    sized = {}
    for name, letters in (("w", w), ("x", x)):
        sized.update({c: (name, i, letters) for i, c in enumerate(letters)})
    for c, (name, i, letters) in sized.items():
        lines.append(f"%i{c} = arith.constant {i} : index")
        lines.append(f"%s{c} = tensor.dim %{name}, %i{c} : {tensor(letters, sizes, type_, dynamic)}")
    open_ = ", ".join(f"%s{c}" for c in out if c in dynamic)
    weight = w
    if repeated:
        # As exporters have it: the weight once for each element of the batch.
        weight = x[0] + w
        open_w = ", ".join(f"%s{c}" for c in weight if c in dynamic)
        lines.append(f"%ew = tensor.empty({open_w}) : {tensor(weight, sizes, type_, dynamic)}")
        lines.append(
            f"%wide = linalg.generic {{indexing_maps = {maps(weight, w, weight)}, "
            f"{parallel(weight)}}} ins(%w : {tensor(w, sizes, type_, dynamic)}) "
            f"outs(%ew : {tensor(weight, sizes, type_, dynamic)}) {{\n  ^bb0(%a: {type_}, %b: {type_}):\n"
            f"    linalg.yield %a : {type_}\n  }} -> {tensor(weight, sizes, type_, dynamic)}")
    sums = tensor(out, sizes, "f32", dynamic)
    lines.append(f"%e = tensor.empty({open_}) : {sums}")
    lines.append(f"%f = linalg.fill ins(%zero : f32) outs(%e : {sums}) -> {sums}")
    lines.append(
        f"%p = linalg.contract indexing_maps = {maps(loops, x, weight, out)} "
        f"ins(%x, %{'wide' if repeated else 'w'} : {tensor(x, sizes, type_, dynamic)}, "
        f"{tensor(weight, sizes, type_, dynamic)}) outs(%f : {sums}) -> {sums}")
    value, element = "%p", "f32"
    for i, (name, letters, _) in enumerate(args[2:]):
        result = tensor(out, sizes, type_, dynamic)
        body = []
        if element != type_:
            body.append(f"%n = arith.truncf %a : {element} to {type_}")
        body.append(f"%t = arith.{'mulf' if '*' in followers[i] else 'addf'} "
                    f"{'%n' if body else '%a'}, %b : {type_}")
        last = "%t"
        if i == 0:
            body.insert(0, f"%z = arith.constant 0.0 : {type_}")
            body.append(f"%r = arith.maximumf %t, %z : {type_}")
            last = "%r"
        inner = "\n    ".join(body)
        lines.append(f"%e{name} = tensor.empty({open_}) : {result}")
        lines.append(
            f"%v{name} = linalg.generic {{indexing_maps = {maps(out, out, letters, out)}, {parallel(out)}}} "
            f"ins({value}, %{name} : {tensor(out, sizes, element, dynamic)}, "
            f"{tensor(letters, sizes, type_, dynamic)}) outs(%e{name} : {result}) {{\n"
            f"  ^bb0(%a: {element}, %b: {type_}, %c: {type_}):\n    {inner}\n"
            f"    linalg.yield {last} : {type_}\n  }} -> {result}")
        value, element = f"%v{name}", type_
    result = tensor(out, sizes, element, dynamic)
    listed = ", ".join(f"%{name}: {tensor(letters, sizes, t, dynamic)}" for name, letters, t in args)
    body = "\n  ".join(lines)
    return (f"func.func @f({listed}) -> {result} {{\n  {body}\n  return {value} : {result}\n}}\n",
            [letters for _, letters, _ in args], element)


# A layer whose activation is marked: what computes its rows says which are live.
MARKED = """
#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#kn = affine_map<(b, m, n, k) -> (k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(b, m, n) -> (b, m, n)>
func.func @f(%x: tensor<?x?x64xf16>, %w: tensor<64x256xf16>, %v: tensor<256x128xf16>) -> tensor<?x?x128xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?x64xf16>
  %d1 = tensor.dim %x, %c1 : tensor<?x?x64xf16>
  %e = tensor.empty(%d0, %d1) : tensor<?x?x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x256xf32>) -> tensor<?x?x256xf32>
  %r = linalg.contract indexing_maps = [#bmk, #kn, #bmn] ins(%x, %w : tensor<?x?x64xf16>, tensor<64x256xf16>)
         outs(%f : tensor<?x?x256xf32>) -> tensor<?x?x256xf32>
  %e2 = tensor.empty(%d0, %d1) : tensor<?x?x256xf16>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%r : tensor<?x?x256xf32>) outs(%e2 : tensor<?x?x256xf16>) {
  ^bb0(%l: f32, %s: f16):
    %a = arith.maximumf %l, %zero : f32
    %t = arith.truncf %a : f32 to f16
    linalg.yield %t : f16
  } -> tensor<?x?x256xf16>
  %s = pit.sparse %h rule(#pit.rule<axis = 1, micro_tile = [1, 1, *]>) : tensor<?x?x256xf16>
  %e3 = tensor.empty(%d0, %d1) : tensor<?x?x128xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<?x?x128xf32>) -> tensor<?x?x128xf32>
  %y = linalg.contract indexing_maps = [#bmk, #kn, #bmn] ins(%s, %v : tensor<?x?x256xf16>, tensor<256x128xf16>)
         outs(%f3 : tensor<?x?x128xf32>) -> tensor<?x?x128xf32>
  return %y : tensor<?x?x128xf32>
}
"""


def compute(equation, followers, arrays):
    if equation is None:
        return np.maximum(arrays[0] @ arrays[1], 0) @ arrays[2]
    out = equation.split("->")[1]
    total = np.einsum(equation, *arrays[:2], optimize=True)
    for i, (each, array) in enumerate(zip(followers, arrays[2:])):
        letters = each.strip("*")
        array = np.einsum(f"{letters},{out}->{out}", array, np.ones(total.shape))
        total = total * array if "*" in each else total + array
        if i == 0:
            total = np.maximum(total, 0)
    return total


def programs(rng):
    """Sizes, equation (None: the marked layer), type, dynamic dims, followers, whether the weight is repeated."""
    r = [int(v) for v in rng.integers(1, 150, size=8)]
    layer, rows = "bmk,kn->bmn", "bmk,nk->bmn"
    all_ = ("n", "bmn")
    sizes = [{"b": 3, "m": r[0], "n": 136, "k": 72}, {"b": 4, "m": 64, "n": 128, "k": 64},
             {"b": r[1] % 9 + 1, "m": r[2], "n": r[3], "k": r[4]}]
    cases = [(each, equation, type_, dynamic, all_, False)
             for each, dynamic in zip(sizes, ("bm", "", "bmnk"))
             for equation in (layer, rows) for type_ in ("f16", "bf16", "f32")]
    one = {"b": 1, "m": r[5], "n": 72, "k": 40}
    heads = {"b": 2, "m": 37, "h": 3, "d": 24, "i": 2, "j": 40}
    return cases + [
        (one, layer, "bf16", "", all_, False),
        (one, layer, "bf16", "b", (), False),
        ({**one, "b": 5, "m": 1}, rows, "f16", "m", all_, False),
        ({**one, "m": 1, "n": 1}, layer, "f16", "bm", all_, False),
        ({**one, "b": 0}, layer, "f16", "bm", all_, False),
        ({**one, "b": 2, "m": 0}, rows, "f16", "", all_, False),
        ({**one, "b": 2, "k": 0}, layer, "f32", "bmk", ("n",), False),
        # An addend or a factor that has some of the rows' dims.
        (sizes[0], layer, "f16", "bm", ("n", "*bn"), False),
        (sizes[1], rows, "bf16", "", ("bmn", "mn"), False),
        (sizes[1], layer, "f16", "", ("b", "n", "bmn"), False),
        ({**sizes[0], "b": 2}, layer, "f32", "bm", all_, True),
        (sizes[1], rows, "f16", "", ("n",), True),
        ({"a": 2, "b": 3, "m": 21, "n": 72, "k": 64}, "abmk,kn->abmn", "bf16", "abm", all_, False),
        (heads, "bmij,ijhd->bmhd", "f16", "", ("hd", "bmhd"), False),
        (heads, "bmij,hdij->bmhd", "bf16", "bm", ("hd",), False),
        (heads, "bmij,hijd->bmhd", "f16", "", (), False),
        # Products of their own, and rows in another order.
        ({"a": 2, **sizes[1], "m": 33}, "abmk,abkn->abmn", "f16", "", ("bn",), False),
        (sizes[0], "mbk,kn->bmn", "bf16", "", ("n",), False),
        ({"b": 3, "m": r[6], "k": 64, "n": 256, "o": 128}, None, "f16", "bm", (), False),
        # Vectors, which get a row.
        ({"n": 136, "k": 72}, "k,nk->n", "f16", "", ("n", "*n"), False),
        ({"n": 300, "k": 712}, "k,kn->n", "bf16", "n", ("n",), False),
        ({"n": r[0], "k": r[1]}, "nk,k->n", "f16", "nk", ("n",), False),
        ({"n": 136, "k": 72}, "kn,k->n", "f32", "", ("n",), False),
        ({"b": 3, "n": 72, "k": 128}, "bk,bnk->bn", "bf16", "b", ("n", "bn"), False),
        ({"b": 3, "n": 64, "k": 64}, "bk,bkn->bn", "f16", "", ("*b", "bn"), False),
        ({"n": 1, "k": r[2]}, "k,nk->n", "f16", "", ("n",), False),
        ({"n": 0, "k": 64}, "k,kn->n", "f16", "n", ("n",), False),
        ({"n": 72, "k": 0}, "nk,k->n", "bf16", "k", ("n",), False),
    ]


def main():
    pit_run, rng = PitRun(), draw_seed()
    right = count = 0
    for sizes, equation, type_, dynamic, followers, repeated in pit_run.some(programs(rng), rng):
        if equation is None:
            program, operands, result = MARKED, ("bmk", "kn", "no"), "f32"
        else:
            program, operands, result = text(sizes, equation, type_, dynamic, followers, repeated)
        arrays = [rng.standard_normal([sizes[c] for c in letters]) for letters in operands]
        if equation is None:
            arrays[0][rng.random(arrays[0].shape[:2]) < 0.6] = 0
        arrays = [TYPES[type_].store(array) for array in arrays]
        results = pit_run.results(program, arrays)
        wrong = "no result"
        if results:
            own = TYPES[result]
            got = own.load(results[0].view(own.storage))
            want = compute(equation, followers, [TYPES[type_].load(a) for a in arrays])
            scale = max(np.sqrt((want ** 2).mean()) if want.size else 0, 1e-9)
            error = np.abs(got - want).max(initial=0) / scale
            limit = {"f32": 1e-2, "f16": 3e-2, "bf16": 2e-1}[result]
            wrong = ("" if got.shape == want.shape and error < limit else
                     f"off by {error:.2g} of the root mean square")
        count += 1
        right += not wrong
        if wrong:
            print(f"{sizes}, {equation}, {type_}, dynamic {dynamic!r}, then {followers}: {wrong}")
    print(f"{right} of {count} programs are right")


main()
