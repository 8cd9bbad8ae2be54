// RUN: pit-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions{explain}))' -o %t

// What is tiled in one loop, and which condition of docs/Legality.md fails.

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @softmax_alone(%x: tensor<64x80xf32>, %rows: tensor<64xf32>, %all: tensor<64x80xf32>) -> tensor<64x80xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x80xf32>) outs(%m0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<64x80xf32>, tensor<64xf32>) outs(%all : tensor<64x80xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<64x80xf32>
  // expected-remark @+1 {{is not tiled together with what it reduces: [O4] what linalg.generic computes along the reduced dim is used elsewhere}}
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<64x80xf32>) outs(%l0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%p, %l : tensor<64x80xf32>, tensor<64xf32>) outs(%all : tensor<64x80xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.divf %a, %t : f32
    linalg.yield %b : f32
  } -> tensor<64x80xf32>
  return %r : tensor<64x80xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @variance(%x: tensor<64x80xf32>, %rows: tensor<64xf32>, %all: tensor<64x80xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x80xf32>) outs(%l0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<64x80xf32>, tensor<64xf32>) outs(%all : tensor<64x80xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = arith.mulf %b, %b : f32
    linalg.yield %c : f32
  } -> tensor<64x80xf32>
  // expected-remark @+1 {{[O2] arith.mulf uses an earlier reduction other than in exponents or as a factor}}
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<64x80xf32>) outs(%l0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  return %l : tensor<64xf32>
}

// -----

// A sum is no maximum: exponents that it shifts might overflow on the way.

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @shifted_by_sum(%x: tensor<64x80xf32>, %rows: tensor<64xf32>, %all: tensor<64x80xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x80xf32>) outs(%l0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<64x80xf32>, tensor<64xf32>) outs(%all : tensor<64x80xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<64x80xf32>
  // expected-remark @+1 {{[O2] exponents use something else than what a maximum subtracts from them, or a minimum adds}}
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<64x80xf32>) outs(%l0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  return %l : tensor<64xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @largest_power(%x: tensor<64x80xf32>, %rows: tensor<64xf32>, %all: tensor<64x80xf32>) -> tensor<64xf32> {
  %low = arith.constant 0xFF800000 : f32
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x80xf32>) outs(%m0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<64x80xf32>, tensor<64xf32>) outs(%all : tensor<64x80xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<64x80xf32>
  // expected-remark @+1 {{[O3] arith.maximumf combines what uses an earlier reduction; only sums of floats are rescaled}}
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<64x80xf32>) outs(%m0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  return %l : tensor<64xf32>
}

// -----

// A background of 0 counts in a softmax.

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @background(%x: tensor<64x80xf32>, %mask: tensor<64x80xi1>, %rows: tensor<64xf32>, %all: tensor<64x80xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %s = pit.sparse %x mask(%mask : tensor<64x80xi1>) : tensor<64x80xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<64x80xf32>) outs(%m0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %m : tensor<64x80xf32>, tensor<64xf32>) outs(%all : tensor<64x80xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<64x80xf32>
  // expected-remark @+1 {{[O7] what a mark does not select contributes something}}
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<64x80xf32>) outs(%l0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  return %l : tensor<64xf32>
}

// -----

// Columns of the weighted sum whose number is not known do not fit a tile.

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @columns(%x: tensor<64x80xf32>, %v: tensor<80x?xf32>, %rows: tensor<64xf32>, %all: tensor<64x80xf32>, %out: tensor<64x?xf32>) -> tensor<64x?xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%out : tensor<64x?xf32>) -> tensor<64x?xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x80xf32>) outs(%m0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<64x80xf32>, tensor<64xf32>) outs(%all : tensor<64x80xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<64x80xf32>
  // expected-remark @+1 {{[O5] a dim that tiles have as a whole has an extent that is not known, or more than 512}}
  %r = linalg.matmul ins(%p, %v : tensor<64x80xf32>, tensor<80x?xf32>) outs(%z : tensor<64x?xf32>) -> tensor<64x?xf32>
  return %r : tensor<64x?xf32>
}

// -----

// Two reductions that do not use each other are none of this pass's, and there is
// nothing to say.

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @independent(%x: tensor<64x80xf32>, %rows: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x80xf32>) outs(%m0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x80xf32>) outs(%l0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  return %m, %l : tensor<64xf32>, tensor<64xf32>
}

// -----

// A layer of two products with an activation between them is no chain, though the activation has
// a power: it is relative to no number of the row. Without a remark, each product is tiled by itself.
#all = affine_map<(i, j) -> (i, j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j, k)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @activation(%x: tensor<64x24xf32>, %w: tensor<40x24xf32>, %bias: tensor<40xf32>, %down: tensor<24x40xf32>,
                      %h0: tensor<64x40xf32>, %y0: tensor<64x24xf32>) -> tensor<64x24xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %first = linalg.fill ins(%zero : f32) outs(%h0 : tensor<64x40xf32>) -> tensor<64x40xf32>
  %h = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x24xf32>, tensor<40x24xf32>) outs(%first : tensor<64x40xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %p = arith.mulf %e, %f : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x40xf32>
  %g = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (j)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%h, %bias : tensor<64x40xf32>, tensor<40xf32>) outs(%h0 : tensor<64x40xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %t = arith.addf %e, %f : f32
    %n = arith.subf %zero, %t : f32
    %p = math.exp %n : f32
    %d = arith.addf %p, %one : f32
    %r = arith.divf %t, %d : f32
    linalg.yield %r : f32
  } -> tensor<64x40xf32>
  %second = linalg.fill ins(%zero : f32) outs(%y0 : tensor<64x24xf32>) -> tensor<64x24xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g, %down : tensor<64x40xf32>, tensor<24x40xf32>) outs(%second : tensor<64x24xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %p = arith.mulf %e, %f : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x24xf32>
  return %y : tensor<64x24xf32>
}

// -----

// A step would have products of one row and one column for as many batches.
#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#all = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#sum = affine_map<(i, j, b) -> (i, j)>
#each = affine_map<(i, j, b) -> (b, i, j)>
func.func @over_products(%q: tensor<8x64x16xf32>, %k: tensor<8x64x16xf32>, %l: tensor<8x64xf32>,
                         %all: tensor<8x64x64xf32>, %to: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%zero : f32) outs(%all : tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x64x16xf32>, tensor<8x64x16xf32>) outs(%s0 : tensor<8x64x64xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %p = arith.mulf %e, %f : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x64x64xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %l : tensor<8x64x64xf32>, tensor<8x64xf32>) outs(%all : tensor<8x64x64xf32>) {
  ^bb0(%e: f32, %f: f32, %o: f32):
    %t = arith.subf %e, %f : f32
    %x = math.exp %t : f32
    linalg.yield %x : f32
  } -> tensor<8x64x64xf32>
  %r0 = linalg.fill ins(%zero : f32) outs(%to : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-remark @below {{is not tiled together with what it reduces: [O8] it reduces a dim that numbers products}}
  %r = linalg.generic {indexing_maps = [#each, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<8x64x64xf32>) outs(%r0 : tensor<64x64xf32>) {
  ^bb0(%e: f32, %o: f32):
    %t = arith.addf %o, %e : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
