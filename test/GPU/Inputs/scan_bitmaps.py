"""Bits that pit.scan writes, on the emulator or the CPU, compared bit by bit with numpy's.

    scan_bitmaps.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]
    scan_bitmaps.py [--one-of=N] PIT_RUN cpu NAME [OPTIONS of pit-to-cpu]

The last line says how many programs wrote the right ones. Values are drawn anew each time.
"""

import numpy as np

from pit_run import PitRun, draw_seed

DENSE = """
func.func @f(%x: tensor<?x?xTYPE>) -> (tensor<?x?xTYPE>, tensor<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %M = tensor.dim %x, %c0 : tensor<?x?xTYPE>
  %N = tensor.dim %x, %c1 : tensor<?x?xTYPE>
  %words = arith.ceildivui %N, %c64 : index
  %bytes = arith.muli %words, %c8 : index
  %e = tensor.empty(%M, %N) : tensor<?x?xTYPE>
  %b = tensor.empty(%M, %bytes) : tensor<?x?xi8>
  %h:2 = pit.forall (%m, %n) = (%c0, %c0) to (%M, %N) step (ROWS, COLS)
         iter_args(%o = %e, %w = %b) -> (tensor<?x?xTYPE>, tensor<?x?xi8>) {
    %r = pit.sread %x[%m, %n] : tensor<?x?xTYPE> -> tensor<ROWSxCOLSxTYPE>
    %o1 = pit.swrite %r into %o[%m, %n] : tensor<ROWSxCOLSxTYPE> into tensor<?x?xTYPE>
    %w1 = pit.scan %o1[%m, %n : index, index] tile [ROWS, COLS]BACKGROUND into %w
          : tensor<?x?xTYPE> into tensor<?x?xi8> -> tensor<?x?xi8>
    pit.yield %o1, %w1 : tensor<?x?xTYPE>, tensor<?x?xi8>
  }
  return %h#0, %h#1 : tensor<?x?xTYPE>, tensor<?x?xi8>
}
"""
# Only rows that are not all zero are written, as ids name them.
GATHERED = """
!rows = !pit.index<micro_tile = [1, *], axis = 0>
func.func @f(%x: tensor<?x?xTYPE>) -> (tensor<?x?xTYPE>, tensor<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant ZERO : TYPE
  %none = arith.constant 0 : i8
  %M = tensor.dim %x, %c0 : tensor<?x?xTYPE>
  %N = tensor.dim %x, %c1 : tensor<?x?xTYPE>
  %words = arith.ceildivui %N, %c64 : index
  %bytes = arith.muli %words, %c8 : index
  %e = tensor.empty(%M, %N) : tensor<?x?xTYPE>
  %f = linalg.fill ins(%zero : TYPE) outs(%e : tensor<?x?xTYPE>) -> tensor<?x?xTYPE>
  %b = tensor.empty(%M, %bytes) : tensor<?x?xi8>
  %g = linalg.fill ins(%none : i8) outs(%b : tensor<?x?xi8>) -> tensor<?x?xi8>
  %live = pit.index %x : tensor<?x?xTYPE> -> !rows
  %h:2 = pit.forall (%n) = (%c0) to (%N) step (COLS), %ids at %p in %live : !rows chunk ROWS
         iter_args(%o = %f, %w = %g) -> (tensor<?x?xTYPE>, tensor<?x?xi8>) {
    %r = pit.sread %x[%ids : !pit.ids<ROWS>, %n] : tensor<?x?xTYPE> -> tensor<ROWSxCOLSxTYPE>
    %o1 = pit.swrite %r into %o[%ids : !pit.ids<ROWS>, %n] : tensor<ROWSxCOLSxTYPE> into tensor<?x?xTYPE>
    %w1 = pit.scan %o1[%ids, %n : !pit.ids<ROWS>, index] tile [ROWS, COLS]BACKGROUND into %w
          : tensor<?x?xTYPE> into tensor<?x?xi8> -> tensor<?x?xi8>
    pit.yield %o1, %w1 : tensor<?x?xTYPE>, tensor<?x?xi8>
  }
  return %h#0, %h#1 : tensor<?x?xTYPE>, tensor<?x?xi8>
}
"""
# A product of whole numbers as the mainloop of a kernel; ids may name its rows, or its steps.
PRODUCT = """
!list = !pit.index<LIST>
func.func @f(%x: tensor<?x?xf16>, %y: tensor<?x?xf16>) -> (tensor<?x?xTYPE>, tensor<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %nothing = arith.constant 0.0 : TYPE
  %none = arith.constant 0 : i8
  %M = tensor.dim %x, %c0 : tensor<?x?xf16>
  %K = tensor.dim %x, %c1 : tensor<?x?xf16>
  %N = tensor.dim %y, %c1 : tensor<?x?xf16>
  %words = arith.ceildivui %N, %c64 : index
  %bytes = arith.muli %words, %c8 : index
  %e = tensor.empty(%M, %N) : tensor<?x?xTYPE>
  %f = linalg.fill ins(%nothing : TYPE) outs(%e : tensor<?x?xTYPE>) -> tensor<?x?xTYPE>
  %b = tensor.empty(%M, %bytes) : tensor<?x?xi8>
  %g = linalg.fill ins(%none : i8) outs(%b : tensor<?x?xi8>) -> tensor<?x?xi8>
  %live = pit.index %x : tensor<?x?xf16> -> !list
  %h:2 = pit.forall LOOP
         iter_args(%o = %f, %w = %g) -> (tensor<?x?xTYPE>, tensor<?x?xi8>) {
    %init = tensor.empty() : tensor<ROWSxCOLSxf32>
    %start = linalg.fill ins(%zero : f32) outs(%init : tensor<ROWSxCOLSxf32>) -> tensor<ROWSxCOLSxf32>
    %sum = pit.for STEPS iter_args(%acc = %start) -> (tensor<ROWSxCOLSxf32>) {
      %p = pit.sread %x[ROW, STEP] : tensor<?x?xf16> -> tensor<ROWSxDEPTHxf16>
      %q = pit.sread %y[STEP, %n] : tensor<?x?xf16> -> tensor<DEPTHxCOLSxf16>
      %s = linalg.matmul ins(%p, %q : tensor<ROWSxDEPTHxf16>, tensor<DEPTHxCOLSxf16>)
                         outs(%acc : tensor<ROWSxCOLSxf32>) -> tensor<ROWSxCOLSxf32>
      pit.yield %s : tensor<ROWSxCOLSxf32>
    }
NARROW    %o1 = pit.swrite TILE into %o[ROW, %n] : tensor<ROWSxCOLSxTYPE> into tensor<?x?xTYPE>
    %w1 = pit.scan %o1[LOOKED] tile [ROWS, COLS] into %w
          : tensor<?x?xTYPE> into tensor<?x?xi8> -> tensor<?x?xi8>
    pit.yield %o1, %w1 : tensor<?x?xTYPE>, tensor<?x?xi8>
  }
  return %h#0, %h#1 : tensor<?x?xTYPE>, tensor<?x?xi8>
}
"""
NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.float32,
         "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}

# Type, background, rows and columns of a tile, and of the matrix.
CASES = [
    ("f32", None, 8, 128, 37, 300), ("f32", "0.5", 4, 64, 9, 128), ("f32", None, 3, 8, 5, 61),
    ("f64", None, 8, 16, 10, 65), ("f64", "-2.0", 2, 24, 6, 190), ("f16", None, 16, 256, 33, 511),
    ("f16", "0.5", 8, 32, 8, 96), ("bf16", None, 8, 128, 17, 130), ("bf16", "1.0", 4, 8, 4, 7),
    ("i8", None, 8, 64, 12, 200), ("i8", "-3", 2, 128, 7, 129), ("i16", None, 4, 40, 9, 121),
    ("i32", "7", 8, 16, 9, 50), ("i64", None, 2, 8, 3, 17), ("f32", None, 8, 64, 0, 70),
    ("f32", None, 8, 64, 5, 0), ("f32", "0x7FC00000", 8, 64, 5, 71), ("f32", None, 1, 64, 1, 1),
]

# The loop whose ids are named, the type of the result, rows and columns of a tile, and of
# the result.
PRODUCTS = [(None, "f32", 64, 64, 70, 100), ("rows", "f16", 64, 96, 130, 200),
            ("steps", "f32", 32, 256, 70, 300), ("steps", "f16", 16, 256, 37, 130),
            ("steps", "f32", 128, 32, 150, 41), ("rows", "f32", 128, 128, 150, 70)]


def text(template, type_, background, rows, cols):
    zero = "0.0" if type_[0] != "i" else "0"
    return (template.replace("BACKGROUND", f" background({background} : {type_})" if background else "")
            .replace("ROWS", str(rows)).replace("COLS", str(cols)).replace("ZERO", zero)
            .replace("TYPE", type_))


def product(ids_name, type_, rows, cols):
    """The text of PRODUCT, in which ids name "rows", "steps" or nothing."""
    replaced = {"LIST": "micro_tile = [1, *], axis = 0", "NARROW": "", "TILE": "%sum",
                "LOOP": "(%m, %n) = (%c0, %c0) to (%M, %N) step (ROWS, COLS)", "ROW,": "%m,",
                "LOOKED": "%m, %n : index, index", "STEPS": "(%k) = (%c0) to (%K) step (DEPTH)",
                "STEP": "%k"}
    if type_ != "f32":
        replaced |= {"TILE": "%t", "NARROW": "    %t = arith.truncf %sum : tensor<ROWSxCOLSxf32> "
                                             "to tensor<ROWSxCOLSxTYPE>\n"}
    if ids_name == "rows":
        replaced |= {"LOOP": "(%n) = (%c0) to (%N) step (COLS), %ids at %at in %live : !list chunk ROWS",
                     "ROW,": "%ids : !pit.ids<ROWS>,",
                     "LOOKED": "%ids, %n : !pit.ids<ROWS>, index"}
    if ids_name == "steps":
        replaced |= {"LIST": "micro_tile = [ROWS, 1], axis = 1", "STEP": "%ids : !pit.ids<DEPTH>",
                     "STEPS": "%ids at %at in %live[%m] : !list chunk DEPTH"}
    template = PRODUCT
    for name, by in replaced.items():
        template = template.replace(name, by)
    template = template.replace("DEPTH", "32" if ids_name == "steps" else "64")
    return text(template, type_, None, rows, cols)


def draw(rng, type_, shape):
    """Values with zeros of both signs, NaN, infinities, the smallest number, and backgrounds."""
    if type_[0] == "i":
        return rng.choice([0, 0, 0, 1, -3, 7, -128, 127], size=shape).astype(NUMPY[type_])
    tiny = {"f16": 2.0 ** -24, "f64": 5e-324}.get(type_, 2.0 ** -133)
    special = [0.0, -0.0, 0.0, -0.0, 0.5, -2.0, 1.0, np.nan, np.inf, -np.inf, tiny, -tiny]
    drawn = rng.choice(special, size=shape)
    drawn[rng.random(shape[0]) < 0.3] = 0
    return drawn.astype(NUMPY[type_])


def packed(live):
    """One bit an element, rows of whole words."""
    rows, cols = live.shape
    padded = np.zeros((rows, -(-cols // 64) * 64), bool)
    padded[:, :cols] = live
    return np.packbits(padded, axis=1, bitorder="little")


def main():
    pit_run, rng = PitRun(), draw_seed()
    right = count = 0
    for type_, background, *tile, rows, cols in pit_run.some(CASES, rng):
        x = draw(rng, type_, (rows, cols))
        number = {None: 0, "0x7FC00000": np.nan}.get(background) if background in (
            None, "0x7FC00000") else float(background)
        for template in (DENSE, GATHERED) if not background else (DENSE,):
            stored = (x.view(np.uint32) >> 16).astype(np.uint16) if type_ == "bf16" else x
            results = pit_run.results(text(template, type_, background, *tile), [stored], 2)
            want = packed(x != NUMPY[type_](number))
            count += 1
            if results and np.array_equal(results[1].view(np.uint8), want):
                right += 1
            else:
                kind = "dense" if template == DENSE else "gathered"
                print(f"{kind}, {type_}, background {background}, tile {tile}, {rows}x{cols}")
    for ids_name, type_, *tile, rows, cols in pit_run.some(PRODUCTS, rng):
        x = rng.integers(-2, 3, (rows, 72)) * (rng.random((rows, 72)) < 0.04)
        y = rng.integers(-2, 3, (72, cols)) * (rng.random((72, cols)) < 0.5)
        results = pit_run.results(product(ids_name, type_, *tile),
                                  [x.astype(np.float16), y.astype(np.float16)], 2)
        count += 1
        if (results and np.array_equal(results[0], x @ y) and
                np.array_equal(results[1].view(np.uint8), packed(x @ y != 0))):
            right += 1
        else:
            print(f"product, ids of {ids_name}, {type_}, tile {tile}, {rows}x{cols}")
    print(f"{right} of {count} programs are right")


main()
