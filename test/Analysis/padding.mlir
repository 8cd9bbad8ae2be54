// RUN: pit-test-analysis %s | FileCheck %s

// What operands may read beyond the end of a dim.

#v = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// Both factors are padded by 0 along k; rows and columns beyond the end are
// dropped, whatever they are.
// CHECK: padding: 0.000000e+00 : f32, 0.000000e+00 : f32
// CHECK: padding: 0 : i8, 0 : i8
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %i: tensor<?x?xi8>, %d: tensor<?x?xi32>) {
  %0 = linalg.matmul {pit_test.quiet, pit_test.pad = [0, 1, 2]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.matmul {pit_test.quiet, pit_test.pad = [0, 1, 2]}
      ins(%i, %i : tensor<?x?xi8>, tensor<?x?xi8>) outs(%d : tensor<?x?xi32>) -> tensor<?x?xi32>
  return
}

// A zero point: padding with 0 would contribute 0 - zp.
// CHECK: padding: 5 : i8, 0 : i8, 0 : i32, 0 : i32
// CHECK: padding: peel [P1]: padding of d2 contributes to result 0
func.func @zero_point(%a: tensor<?x?xi8>, %c: tensor<?x?xi32>, %z: i32) {
  %za = arith.constant 5 : i32
  %0 = linalg.quantized_matmul {pit_test.quiet, pit_test.pad = [2], pit_test.operand = 0, pit_test.background = 5 : i8}
      ins(%a, %a, %za, %z : tensor<?x?xi8>, tensor<?x?xi8>, i32, i32) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  %1 = linalg.quantized_matmul {pit_test.quiet, pit_test.pad = [2]}
      ins(%a, %a, %za, %z : tensor<?x?xi8>, tensor<?x?xi8>, i32, i32) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return
}

// The combiner's identity.
// CHECK: padding: 0xFF800000 : f32
// CHECK: padding: 0x7FC00000 : f32
// CHECK: padding: 1.000000e+00 : bf16
// CHECK: padding: -128 : i8
// CHECK: padding: -1 : i8
// CHECK: padding: 0 : i8
func.func @identities(%a: tensor<?xf32>, %c: tensor<f32>, %h: tensor<?xbf16>, %d: tensor<bf16>, %i: tensor<?xi8>, %e: tensor<i8>) {
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.pad = [0]}
  %1 = linalg.reduce { arith.minnumf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.pad = [0]}
  %2 = linalg.reduce { arith.mulf } ins(%h : tensor<?xbf16>) outs(%d : tensor<bf16>) dimensions = [0] {pit_test.quiet, pit_test.pad = [0]}
  %3 = linalg.reduce { arith.maxsi } ins(%i : tensor<?xi8>) outs(%e : tensor<i8>) dimensions = [0] {pit_test.quiet, pit_test.pad = [0]}
  %4 = linalg.reduce { arith.minui } ins(%i : tensor<?xi8>) outs(%e : tensor<i8>) dimensions = [0] {pit_test.quiet, pit_test.pad = [0]}
  %5 = linalg.reduce { arith.xori } ins(%i : tensor<?xi8>) outs(%e : tensor<i8>) dimensions = [0] {pit_test.quiet, pit_test.pad = [0]}
  return
}

// exp(-inf) contributes nothing; no constant has a cosine of 0.
// CHECK: padding: 0xFF800000 : f32
// CHECK: padding: peel [P1]: padding of d0 contributes to result 0
func.func @exp_and_cos(%a: tensor<?xf32>, %c: tensor<f32>) {
  %0 = linalg.generic {pit_test.quiet, pit_test.pad = [0], indexing_maps = [#v, #s], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %e = math.exp %x : f32
    %s = arith.addf %acc, %e : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %1 = linalg.generic {pit_test.quiet, pit_test.pad = [0], indexing_maps = [#v, #s], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %e = math.cos %x : f32
    %s = arith.addf %acc, %e : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return
}

// Padding is computed, so 0 * inf is NaN there: a factor without the dim may
// be infinite. As an integer it may not.
// CHECK: padding: peel [P1]: padding of d1 contributes to result 0
// CHECK: padding: 0 : i32, 0 : i32
func.func @weighted_rows(%a: tensor<?x?xf32>, %w: tensor<?xf32>, %c: tensor<?xf32>, %i: tensor<?x?xi32>, %x: tensor<?xi32>) {
  %0 = linalg.generic {pit_test.quiet, pit_test.pad = [1], indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) {
  ^bb0(%x0: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x0, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %1 = linalg.generic {pit_test.quiet, pit_test.pad = [1], indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%i, %x : tensor<?x?xi32>, tensor<?xi32>) outs(%x : tensor<?xi32>) {
  ^bb0(%x0: i32, %y: i32, %acc: i32):
    %p = arith.muli %x0, %y : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  return
}

// x + i may read an element where i is beyond the end, so only the filter is
// padded, and only an integer 0 undoes any element.
// CHECK: padding: peel [P1]: padding of d1 contributes to result 0
// CHECK: padding: 0 : i32, 0 : i32
// CHECK: padding: 0 : i32, 0 : i32
func.func @window(%a: tensor<?xf32>, %f: tensor<?xf32>, %c: tensor<?xf32>, %i: tensor<?xi32>) {
  %0 = linalg.conv_1d {pit_test.quiet, pit_test.pad = [1]} ins(%a, %f : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.conv_1d {pit_test.quiet, pit_test.pad = [1]} ins(%i, %i : tensor<?xi32>, tensor<?xi32>) outs(%i : tensor<?xi32>) -> tensor<?xi32>
  // The image dim is parallel: what is beyond its end is dropped.
  %2 = linalg.conv_1d {pit_test.quiet, pit_test.pad = [0]} ins(%i, %i : tensor<?xi32>, tensor<?xi32>) outs(%i : tensor<?xi32>) -> tensor<?xi32>
  return
}

// A divisor must not be padded by 0, even where the quotient is dropped.
// CHECK: padding: 0 : i32, 1 : i32
// CHECK: padding: 0 : i32, 0 : i32
// CHECK: padding: peel [P2]: arith.divsi may trap beyond the end of d0
func.func @division(%a: tensor<?xi32>, %b: tensor<?xi32>, %y: tensor<i32>) {
  %0 = linalg.div {pit_test.quiet, pit_test.pad = [0]} ins(%a, %b : tensor<?xi32>, tensor<?xi32>) outs(%a : tensor<?xi32>) -> tensor<?xi32>
  // A divisor without the dim would trap without padding, too.
  %1 = linalg.generic {pit_test.quiet, pit_test.pad = [0], indexing_maps = [#v, #s, #v], iterator_types = ["parallel"]}
      ins(%a, %y : tensor<?xi32>, tensor<i32>) outs(%a : tensor<?xi32>) {
  ^bb0(%p: i32, %q: i32, %old: i32):
    %d = arith.divui %p, %q : i32
    linalg.yield %d : i32
  } -> tensor<?xi32>
  // The prior value is padded by what happens to be there.
  %2 = linalg.generic {pit_test.quiet, pit_test.pad = [0], indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%a : tensor<?xi32>) outs(%b : tensor<?xi32>) {
  ^bb0(%p: i32, %old: i32):
    %d = arith.divsi %p, %old : i32
    linalg.yield %d : i32
  } -> tensor<?xi32>
  return
}

// Remainders and quotients that are rounded down, too.
// CHECK: padding: 0 : i32, 1 : i32
// CHECK: padding: 0 : index, 1 : index
// CHECK: padding: 0 : i8, 1 : i8
func.func @remainders(%a: tensor<?xi32>, %i: tensor<?xindex>, %b: tensor<?xi8>) {
  %0 = linalg.generic {pit_test.quiet, pit_test.pad = [0], indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%a, %a : tensor<?xi32>, tensor<?xi32>) outs(%a : tensor<?xi32>) {
  ^bb0(%p: i32, %q: i32, %old: i32):
    %d = arith.floordivsi %p, %q : i32
    linalg.yield %d : i32
  } -> tensor<?xi32>
  %1 = linalg.generic {pit_test.quiet, pit_test.pad = [0], indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%i, %i : tensor<?xindex>, tensor<?xindex>) outs(%i : tensor<?xindex>) {
  ^bb0(%p: index, %q: index, %old: index):
    %d = arith.remsi %p, %q : index
    linalg.yield %d : index
  } -> tensor<?xindex>
  // What is cut off is 0 or not.
  %2 = linalg.generic {pit_test.quiet, pit_test.pad = [0], indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%b, %b : tensor<?xi8>, tensor<?xi8>) outs(%b : tensor<?xi8>) {
  ^bb0(%p: i8, %q: i8, %old: i8):
    %m = arith.trunci %p : i8 to i4
    %n = arith.trunci %q : i8 to i4
    %d = arith.remui %m, %n : i4
    %e = arith.extui %d : i4 to i8
    linalg.yield %e : i8
  } -> tensor<?xi8>
  return
}

// A constant operand is no constant beyond its end.
// CHECK: padding: 0.000000e+00 : f32, 0.000000e+00 : f32
func.func @splat(%a: tensor<8xf32>, %c: tensor<f32>) -> tensor<f32> {
  %inf = arith.constant dense<0x7F800000> : tensor<8xf32>
  %r = linalg.dot {pit_test.quiet, pit_test.pad = [0]} ins(%a, %inf : tensor<8xf32>, tensor<8xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// Constants along two padded dims. If one ends, the other's constant makes
// the product 0; where both end, it is pad times pad. So neither may count on
// the other's constant, and 0 times an unknown float may be NaN.
// CHECK: padding: 0.000000e+00 : f32, 0.000000e+00 : f32
// CHECK: padding: peel [P1]: padding of d0 contributes to result 0
func.func @two_splats(%c: tensor<f32>) {
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %0 = linalg.generic {pit_test.quiet, pit_test.pad = [0], indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%ones, %ones : tensor<8xf32>, tensor<8xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %1 = linalg.generic {pit_test.quiet, pit_test.pad = [0, 1], indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%ones, %ones : tensor<8xf32>, tensor<8xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return
}

// Several results: a sum wants 0, a maximum beside it -inf.
// CHECK: padding: peel [P1]: padding of d0 contributes to result 1
// CHECK: padding: 0.000000e+00 : f32, 0xFF800000 : f32
func.func @sum_and_max(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<f32>) {
  %0:2 = linalg.generic {pit_test.quiet, pit_test.pad = [0], indexing_maps = [#v, #s, #s], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c, %c : tensor<f32>, tensor<f32>) {
  ^bb0(%x: f32, %sum: f32, %max: f32):
    %s = arith.addf %sum, %x : f32
    %m = arith.maximumf %max, %x : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  %1:2 = linalg.generic {pit_test.quiet, pit_test.pad = [0], indexing_maps = [#v, #v, #s, #s], iterator_types = ["reduction"]}
      ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c, %c : tensor<f32>, tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32, %max: f32):
    %s = arith.addf %sum, %x : f32
    %m = arith.maximumf %max, %y : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return
}

// More inputs than are searched exhaustively are left to peeling, in no time.
// CHECK: padding: peel [P1]: padding of d0 contributes to result 0
func.func @many_inputs(%a: tensor<?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {pit_test.quiet, pit_test.pad = [0], indexing_maps = [#v, #v, #v, #v, #v, #v, #v, #v, #s], iterator_types = ["reduction"]}
      ins(%a, %a, %a, %a, %a, %a, %a, %a : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
      outs(%c : tensor<f32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %acc: f32):
    %e = math.cos %x7 : f32
    %s = arith.addf %acc, %e : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
