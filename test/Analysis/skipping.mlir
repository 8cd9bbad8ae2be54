// RUN: pit-test-analysis %s | FileCheck %s

// Backgrounds that may be skipped, and what the results are there.

#v = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>
#ij = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

//===----------------------------------------------------------------------===//
// S3a: nothing is contributed
//===----------------------------------------------------------------------===//

// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 1 is legal: result 0 is kept
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul {pit_test.quiet, pit_test.operand = [0, 1]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Mixed precision: the casts of a zero are zeros.
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 1 is legal: result 0 is kept
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 0 is legal: result 0 is kept
func.func @matmul_narrow(%a: tensor<?x?xbf16>, %h: tensor<?x?xf16>, %i: tensor<?x?xi8>, %c: tensor<?x?xf32>, %d: tensor<?x?xi32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>) {
  %r = linalg.matmul {pit_test.quiet, pit_test.operand = [0, 1]}
      ins(%a, %a : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.matmul {pit_test.quiet, pit_test.operand = 0}
      ins(%h, %h : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %t = linalg.matmul {pit_test.quiet, pit_test.operand = 0}
      ins(%i, %i : tensor<?x?xi8>, tensor<?x?xi8>) outs(%d : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r, %s, %t : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>
}

// A quantized operand whose background is its zero point.
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.addi
func.func @zero_point(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %zb: i32, %c: tensor<?x?xi32>) -> (tensor<?x?xi32>, tensor<?x?xi32>) {
  %za = arith.constant -7 : i32
  %r = linalg.quantized_matmul {pit_test.quiet, pit_test.operand = 0, pit_test.background = -7 : i8}
      ins(%a, %b, %za, %zb : tensor<?x?xi8>, tensor<?x?xi8>, i32, i32) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  %s = linalg.quantized_matmul {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0 : i8}
      ins(%a, %b, %za, %zb : tensor<?x?xi8>, tensor<?x?xi8>, i32, i32) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r, %s : tensor<?x?xi32>, tensor<?x?xi32>
}

// Sums, products, maxima and minima over the values themselves.
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 0 is legal: result 0 is kept
func.func @reductions(%a: tensor<?xf32>, %c: tensor<f32>, %i: tensor<?xi8>, %d: tensor<i8>) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0}
  %1 = linalg.reduce { arith.mulf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0, pit_test.background = 1.0 : f32}
  %2 = linalg.reduce { arith.maximumf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0xFF800000 : f32}
  %3 = linalg.reduce { arith.minimumf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0x7F800000 : f32}
  %4 = linalg.reduce { arith.maxsi } ins(%i : tensor<?xi8>) outs(%d : tensor<i8>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0, pit_test.background = -128 : i8}
  %5 = linalg.reduce { arith.minui } ins(%i : tensor<?xi8>) outs(%d : tensor<i8>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0, pit_test.background = -1 : i8}
  %6 = linalg.reduce { arith.andi } ins(%i : tensor<?xi8>) outs(%d : tensor<i8>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0, pit_test.background = -1 : i8}
  return
}

// maxnumf(NaN, -inf) is -inf: legal where the result is known to start as a
// number.
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.maxnumf
// CHECK: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.maxnumf
// CHECK: skipping operand 0 is legal: result 0 is kept
func.func @maxnumf(%a: tensor<?xf32>, %c: tensor<f32>) {
  %low = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %empty = tensor.empty() : tensor<f32>
  %lows = linalg.fill {pit_test.quiet} ins(%low : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %nans = linalg.fill {pit_test.quiet} ins(%nan : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %0 = linalg.reduce { arith.maxnumf } ins(%a : tensor<?xf32>) outs(%lows : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0xFF800000 : f32}
  %1 = linalg.reduce { arith.maxnumf } ins(%a : tensor<?xf32>) outs(%nans : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0xFF800000 : f32}
  %2 = linalg.reduce { arith.maxnumf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0xFF800000 : f32}
  %3 = linalg.reduce { arith.maxnumf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0x7FC00000 : f32}
  return
}

// A softmax's sum of exp(x - max) over -inf, as f32 and as bf16.
// CHECK: skipping operand 0 is legal: result 0 is kept
func.func @exp_sum(%a: tensor<?x?xf32>, %m: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0xFF800000 : f32,
      indexing_maps = [#ij, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %m : tensor<?x?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) {
  ^bb0(%x: f32, %max: f32, %acc: f32):
    %d = arith.subf %x, %max : f32
    %e = math.exp %d : f32
    %s = arith.addf %acc, %e : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
// CHECK: skipping operand 0 is legal: result 0 is kept
func.func @exp_sum_bf16(%a: tensor<?xbf16>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0xFF80 : bf16,
      indexing_maps = [#v, #s], iterator_types = ["reduction"]}
      ins(%a : tensor<?xbf16>) outs(%c : tensor<f32>) {
  ^bb0(%x: bf16, %acc: f32):
    %e = math.exp %x : bf16
    %w = arith.extf %e : bf16 to f32
    %s = arith.addf %acc, %w : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// relu, then a maximum with what is never below zero: max(acc, relu(x)) is not
// acc at x = 0, but sum(relu(x)) is.
// CHECK: skipping operand 0 is legal: result 0 is kept
func.func @relu_sum(%a: tensor<?xf16>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#v, #s], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf16>) outs(%c : tensor<f32>) {
  ^bb0(%x: f16, %acc: f32):
    %zero = arith.constant 0.0 : f16
    %p = arith.maximumf %x, %zero : f16
    %w = arith.extf %p : f16 to f32
    %s = arith.addf %w, %acc : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// The maximum as a comparison and a selection.
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 0 is legal: result 0 is kept
func.func @select_max(%a: tensor<?xf32>, %c: tensor<f32>, %i: tensor<?xi16>, %d: tensor<i16>) -> (tensor<f32>, tensor<i16>) {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0xFF800000 : f32,
      indexing_maps = [#v, #s], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %gt = arith.cmpf ogt, %x, %acc : f32
    %m = arith.select %gt, %x, %acc : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  %s = linalg.generic {pit_test.quiet, pit_test.operand = 0, pit_test.background = -32768 : i16,
      indexing_maps = [#v, #s], iterator_types = ["reduction"]}
      ins(%i : tensor<?xi16>) outs(%d : tensor<i16>) {
  ^bb0(%x: i16, %acc: i16):
    %le = arith.cmpi sle, %x, %acc : i16
    %m = arith.select %le, %acc, %x : i16
    linalg.yield %m : i16
  } -> tensor<i16>
  return %r, %s : tensor<f32>, tensor<i16>
}

// One value used twice: each operand is its own, unless it reads the same
// element.
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 1 is legal: result 0 is kept
// CHECK: skipping operand 0 is legal: result 0 becomes 0.000000e+00 : f32
func.func @used_twice(%a: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      {pit_test.quiet, pit_test.operand = [0, 1]}
      ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.add {pit_test.quiet, pit_test.operand = 0}
      ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r, %s : tensor<?x?xf32>, tensor<?x?xf32>
}

// Several results.
// CHECK: skipping operand 0 is legal: result 0 is kept, result 1 becomes 0.000000e+00 : f32
func.func @several_results(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?xf32>, %d: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) {
  %r:2 = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#ij, #ij, #row, #ij], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c, %d : tensor<?xf32>, tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32, %old: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s, %p : f32, f32
  } -> (tensor<?xf32>, tensor<?x?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?x?xf32>
}

// math.fma, and complex numbers.
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 1 is legal: result 0 is kept
func.func @fma(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = [0, 1], indexing_maps = [#v, #v, #s], iterator_types = ["reduction"]}
      ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %s = math.fma %x, %y, %acc : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
// CHECK: skipping operand 0 is legal: result 0 is kept
func.func @complex(%a: tensor<?x?xcomplex<f32>>, %c: tensor<?x?xcomplex<f32>>) -> tensor<?x?xcomplex<f32>> {
  %r = linalg.matmul {pit_test.quiet, pit_test.operand = 0}
      ins(%a, %a : tensor<?x?xcomplex<f32>>, tensor<?x?xcomplex<f32>>) outs(%c : tensor<?x?xcomplex<f32>>) -> tensor<?x?xcomplex<f32>>
  return %r : tensor<?x?xcomplex<f32>>
}

// The prior value stays where the body says so, also without a reduction.
// CHECK: skipping operand 0 is legal: result 0 is kept
func.func @update(%a: tensor<?xf64>, %c: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf64>) outs(%c : tensor<?xf64>) {
  ^bb0(%x: f64, %old: f64):
    %d = arith.subf %old, %x : f64
    linalg.yield %d : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

//===----------------------------------------------------------------------===//
// S3b: a constant
//===----------------------------------------------------------------------===//

// CHECK: skipping operand 0 is legal: result 0 becomes 1.000000e+00 : f32
// CHECK: skipping operand 0 is legal: result 0 becomes 0.000000e+00 : f32
// CHECK: skipping operand 0 is legal: result 0 becomes 0.000000e+00 : f32
// CHECK: skipping operand 1 is legal: result 0 becomes 0.000000e+00 : f32
// CHECK: skipping operand 0 is legal: result 0 becomes 0xFF800000 : f32
// CHECK: skipping operand 0 is legal: result 0 becomes 1.000000e+00 : f16
// CHECK: skipping operand 0 is legal: result 0 becomes 0.000000e+00 : f32
func.func @elementwise(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>, %h: tensor<?xf16>) {
  %0 = linalg.exp {pit_test.quiet, pit_test.operand = 0} ins(%a : tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.tanh {pit_test.quiet, pit_test.operand = 0} ins(%a : tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %2 = linalg.div {pit_test.quiet, pit_test.operand = 0} ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %3 = linalg.mul {pit_test.quiet, pit_test.operand = 1} ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %4 = linalg.log {pit_test.quiet, pit_test.operand = 0} ins(%a : tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %5 = linalg.exp {pit_test.quiet, pit_test.operand = 0} ins(%h : tensor<?xf16>) outs(%h : tensor<?xf16>) -> tensor<?xf16>
  %6 = linalg.elementwise kind=#linalg.elementwise_kind<mul> {pit_test.quiet, pit_test.operand = 0} ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  return
}

// A transposed and a broadcast result are written once per element, too.
// CHECK: skipping operand 0 is legal: result 0 becomes 0.000000e+00 : f32
// CHECK: skipping operand 0 is legal: result 0 becomes -1.000000e+00 : f32
func.func @move(%a: tensor<?x?xf32>, %v: tensor<?xf32>, %c: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %r = linalg.transpose ins(%a : tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) permutation = [1, 0] {pit_test.quiet, pit_test.operand = 0}
  %s = linalg.broadcast ins(%v : tensor<?xf32>) outs(%c : tensor<?x?xf32>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0, pit_test.background = -1.0 : f32}
  return %r, %s : tensor<?x?xf32>, tensor<?x?xf32>
}

// Clamps, casts and comparisons of the background.
// CHECK: skipping operand 0 is legal: result 0 becomes 3 : i8
func.func @quantize(%a: tensor<?xf32>, %c: tensor<?xi8>) -> tensor<?xi8> {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<?xi8>) {
  ^bb0(%x: f32, %old: i8):
    %scale = arith.constant 0.05 : f32
    %zp = arith.constant 3.0 : f32
    %lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %q = arith.divf %x, %scale : f32
    %e = math.roundeven %q : f32
    %s = arith.addf %e, %zp : f32
    %m = arith.maximumf %s, %lo : f32
    %n = arith.minimumf %m, %hi : f32
    %i = arith.fptosi %n : f32 to i8
    linalg.yield %i : i8
  } -> tensor<?xi8>
  return %r : tensor<?xi8>
}

// Selected by the marked value; the other branch is never taken there.
// CHECK: skipping operand 0 is legal: result 0 becomes 0xFF800000 : f32
func.func @masked_fill(%m: tensor<?xi1>, %a: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %low = arith.constant 0xFF800000 : f32
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, pit_test.background = false, indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%m, %a : tensor<?xi1>, tensor<?xf32>) outs(%c : tensor<?xf32>) {
  ^bb0(%b: i1, %x: f32, %old: f32):
    %s = arith.select %b, %x, %low : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A result with a unit dim is still written once per element.
// CHECK: skipping operand 0 is legal: result 0 becomes 0.000000e+00 : f32
func.func @unit_dim(%a: tensor<?xf32>, %c: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#v, affine_map<(i) -> (i, 0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<?x1xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  } -> tensor<?x1xf32>
  return %r : tensor<?x1xf32>
}

//===----------------------------------------------------------------------===//
// S3c: a copy of another input
//===----------------------------------------------------------------------===//

// CHECK: skipping operand 0 is legal: result 0 becomes operand 1
// CHECK: skipping operand 1 is legal: result 0 becomes operand 0
// CHECK: skipping operand 0 is legal: result 0 becomes operand 1
func.func @vector_add(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) {
  %0 = linalg.add {pit_test.quiet, pit_test.operand = [0, 1]} ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.map {arith.maximumf} ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0xFF800000 : f32}
  return
}

// Through a wider type and back.
// CHECK: skipping operand 0 is legal: result 0 becomes operand 1
func.func @add_bf16(%a: tensor<?xbf16>, %b: tensor<?xbf16>, %c: tensor<?xbf16>) -> tensor<?xbf16> {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xbf16>, tensor<?xbf16>) outs(%c : tensor<?xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %old: bf16):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<?xbf16>
  return %r : tensor<?xbf16>
}

//===----------------------------------------------------------------------===//
// Sparse results
//===----------------------------------------------------------------------===//

// CHECK: skipping in result 0 is legal: each element has iterations of its own
func.func @wanted_outputs(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul {pit_test.quiet, pit_test.result = 0}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
