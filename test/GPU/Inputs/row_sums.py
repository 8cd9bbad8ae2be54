"""Sums over rows, and products that are summed over the rows of a batch, with and without
lengths: on the emulator, compared with numpy in float64.

    row_sums.py PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

A line for each program, with the kernels that it ran; the last one says how many were right.
Extents, lengths and values are drawn anew each time; the seed is printed.
"""

import numpy as np

from pit_run import PitRun, draw_floats, draw_seed, value

SUM = """
#x = affine_map<(LOOPS) -> (XMAP)>
#y = affine_map<(LOOPS) -> (n)>
#n = affine_map<(n) -> (n)>
func.func @f(%x: tensor<XTYPE>LENGTHS) -> tensor<OUTTYPE> {
  %init = arith.constant INIT : ACC
  HALF
  MARK
  %axis = arith.constant LAST : index
  %n = tensor.dim %x, %axis : tensor<XTYPE>
  %e = tensor.empty(SIZE) : tensor<NxACC>
  %z = linalg.fill ins(%init : ACC) outs(%e : tensor<NxACC>) -> tensor<NxACC>
  %s = linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", KINDS]}
         ins(%m : tensor<XTYPE>) outs(%z : tensor<NxACC>) {
  ^bb0(%u: ELEMENT, %o: ACC):
    WIDEN
    %r = COMBINE %o, %v : ACC
    linalg.yield %r : ACC
  } -> tensor<NxACC>
  AFTER
}
"""
HALVE = """%eo = tensor.empty(SIZE) : tensor<OUTTYPE>
  %h = linalg.generic {indexing_maps = [#n, #n], iterator_types = ["parallel"]}
         ins(%s : tensor<NxACC>) outs(%eo : tensor<OUTTYPE>) {
  ^bb0(%u: ACC, %o: OUT):
    %w = arith.mulf %u, %half : ACC
    NARROW
    linalg.yield %t : OUT
  } -> tensor<OUTTYPE>
  return %h : tensor<OUTTYPE>"""

PRODUCT = """
#y = affine_map<(n, k, b, s) -> (b, s, n)>
#x = affine_map<(n, k, b, s) -> (b, s, k)>
#w = affine_map<(n, k, b, s) -> (n, k)>
func.func @f(%y: tensor<?x?xNxTYPE>, %x: tensor<?x?xKxTYPE>, %lengths: tensor<?xi32>)
    -> tensor<NxKxf32> {
  %zero = arith.constant 0.0 : f32
  %m = pit.sparse %y lengths(%lengths : tensor<?xi32>) : tensor<?x?xNxTYPE>
  %e = tensor.empty() : tensor<NxKxf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<NxKxf32>) -> tensor<NxKxf32>
  %p = linalg.generic {indexing_maps = [#y, #x, #w],
         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
         ins(%m, %x : tensor<?x?xNxTYPE>, tensor<?x?xKxTYPE>) outs(%z : tensor<NxKxf32>) {
  ^bb0(%u: TYPE, %v: TYPE, %o: f32):
    WIDEN
    %t = arith.mulf %uw, %vw : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<NxKxf32>
  return %p : tensor<NxKxf32>
}
"""


def fill_in(text, **values):
    for name in sorted(values, key=len, reverse=True):
        text = text.replace(name, str(values[name]))
    return text


def sum_program(element, out, dims, columns, combine, has_lengths):
    """Dims are letters, "sn" or "bsn"; `columns` is None where their number is not known."""
    is_float = element[0] != "i"
    acc = ("f64" if element == "f64" else "f32") if is_float else element
    n = "?" if columns is None else str(columns)
    widen = (f"%v = arith.extf %u : {element} to {acc}" if is_float and element != acc else
             f"%zero = arith.constant 0{'.0' if is_float else ''} : {acc}\n"
             f"    %v = arith.add{'f' if is_float else 'i'} %u, %zero : {acc}")
    xtype = "x".join(["?"] * (len(dims) - 1) + [n, element])
    narrow = (f"%t = arith.truncf %w : {acc} to {out}" if out != acc else
              f"%t = arith.addf %w, %w : {acc}")
    after = HALVE if is_float else "return %s : tensor<NxACC>"
    mark = (f"%m = pit.sparse %x lengths(%lengths : tensor<?xi32>) background(INIT : {element}) : "
            "tensor<XTYPE>" if has_lengths else "%m = tensor.cast %x : tensor<XTYPE> to tensor<XTYPE>")
    init = {"arith.maximumf": "0xFF800000" if acc == "f32" else "-1.0e+999"}.get(
        combine, "0.0" if is_float else "0")
    half = "%half = arith.constant 5.0e-01 : ACC" if is_float else ""
    text = SUM.replace("HALF", half).replace("AFTER", after).replace("MARK", mark)
    if has_lengths and "maximumf" in combine:
        text = text.replace("background(INIT", "background(" + {
            "f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80"}[element])
    return fill_in(
        text, LOOPS=", ".join("n" + dims[:-1]), XMAP=", ".join(dims), XTYPE=xtype,
        LENGTHS=", %lengths: tensor<?xi32>" if has_lengths else "", OUTTYPE=f"{n}x{out}", INIT=init,
        ACC=acc, LAST=len(dims) - 1, SIZE="%n" if columns is None else "", NxACC=f"{n}x{acc}",
        KINDS=", ".join(['"reduction"'] * (len(dims) - 1)), ELEMENT=element, WIDEN=widen,
        COMBINE=combine, NARROW=narrow, OUT=out).replace(f"Nx{acc}", f"{n}x{acc}")


def draw_values(draw, shape, element):
    if element[0] == "i":
        return draw.integers(-9, 9, shape).astype({"i8": np.int8, "i32": np.int32}[element])
    if element == "f64":
        return draw.standard_normal(shape)
    return draw_floats(draw, shape, element)


def poison(x, there):
    """NaN in the padding goes nowhere."""
    if x.dtype == np.uint16:
        x[~there] = 0x7FC0
    elif x.dtype.kind == "f":
        x[~there] = np.nan


def check_sum(run, draw, element, out, dims, columns, known, combine, has_lengths):
    rows = [int(r) for r in draw.integers(*((5, 9) if len(dims) == 3 else (300, 700)), 1)]
    if len(dims) == 3:
        rows.append(int(draw.integers(90, 140)))
    x = draw_values(draw, [*rows, columns], element)
    arrays = [x]
    there = np.ones(rows, bool)
    if has_lengths:
        lengths = draw.integers(0, rows[1] + 1, rows[0]).astype(np.int32)
        lengths[:2] = 0, rows[1]
        there = np.arange(rows[1]) < lengths[:, None]
        poison(x, there)
        arrays.append(lengths)
    text = sum_program(element, out, dims, columns if known else None, combine, has_lengths)
    results, kernels = run.traced(text, arrays)
    name = f"{element} {combine} {dims} {columns}{' known' if known else ''}" \
           f"{' lengths' if has_lengths else ''}"
    if results is None:
        print(name, kernels)
        return False
    wide = x.astype(np.int64) if x.dtype.kind == "i" else value(x)
    picked = wide[there]
    wanted = picked.max(0) if "max" in combine else picked.sum(0)
    if element[0] != "i":
        wanted = wanted * (0.5 if out != ("f64" if element == "f64" else "f32") else 1)
    found = results[0]
    if found.dtype.kind == "V":
        found = found.view(np.uint16)  # bf16
    found = value(found) if element[0] != "i" else found.astype(np.int64)
    scale = np.abs(picked).sum(0).max() if element[0] != "i" else 1
    off = np.abs(found - wanted).max()
    allowed = 0 if element[0] == "i" else {"f64": 1e-13, "f32": 1e-6, "f16": 2e-3, "bf16": 1e-2}[out]
    right = bool(off <= allowed * max(scale, 1))
    print(name, ":", ", ".join(k for k in kernels if k.startswith("f_")), "right" if right else
          f"off by {off}", flush=True)
    return right


def check_product(run, draw, type_, n, k):
    batch, rows = int(draw.integers(3, 6)), int(draw.integers(50, 90))
    lengths = draw.integers(0, rows + 1, batch).astype(np.int32)
    lengths[:2] = rows, 0
    there = np.arange(rows) < lengths[:, None]
    y, x = (draw_floats(draw, (batch, rows, size), type_) for size in (n, k))
    poison(y, there)
    poison(x, there)
    widen = ("%uw = arith.extf %u : TYPE to f32\n    %vw = arith.extf %v : TYPE to f32"
             if type_ != "f32" else "%uw = arith.addf %u, %zero : f32\n"
             "    %vw = arith.addf %v, %zero : f32")
    text = PRODUCT.replace("WIDEN", widen)
    text = text.replace("TYPE", type_).replace("NxK", f"{n}x{k}").replace("xN", f"x{n}").replace(
        "xK", f"x{k}")
    results, kernels = run.traced(text, [y, x, lengths])
    name = f"{type_} product {n} {k}"
    if results is None:
        print(name, kernels)
        return False
    wanted = value(y)[there].T @ value(x)[there]
    off = np.abs(results[0] - wanted).max()
    right = bool(off < 1e-3)
    print(name, ":", ", ".join(k for k in kernels if k.startswith("f_")), "right" if right else
          f"off by {off}", flush=True)
    return right


def main():
    draw, run, right, count = draw_seed(), PitRun(), 0, 0
    add, largest = "arith.addf", "arith.maximumf"
    sums = [("f32", "f32", "sn", 264, True, add, False), ("bf16", "bf16", "sn", 600, False, add, False),
            ("f16", "f16", "sn", 101, True, add, False), ("f64", "f64", "sn", 40, True, add, False),
            ("i32", "i32", "sn", 77, True, "arith.addi", False),
            ("f32", "f32", "sn", 300, False, largest, False),
            ("bf16", "f32", "bsn", 264, False, add, False),
            ("bf16", "bf16", "bsn", 512, True, add, True), ("f32", "f32", "bsn", 67, False, add, True),
            ("f16", "f16", "bsn", 272, True, largest, True)]
    for case in run.some(sums, draw):
        count += 1
        right += check_sum(run, draw, *case)
    for case in run.some([("bf16", 264, 136), ("f16", 128, 257), ("f32", 72, 40)], draw):
        count += 1
        right += check_product(run, draw, *case)
    print(f"{right} of {count} programs are right")


main()
