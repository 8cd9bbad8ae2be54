// RUN: pit-test-analysis %s | FileCheck %s

// One test per condition of docs/Legality.md that skipping can fail.

#v = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// S1: an input, a tensor, a background of its type.
// CHECK: skipping operand 2 is not legal [S1]: it is no input; the op has 2
// CHECK: skipping operand 9 is not legal [S1]: it is no input; the op has 2
// CHECK: skipping operand 0 is not legal [S1]: its elements are f32, the background is 0 : i8
// CHECK: skipping operand 0 is not legal [S1]: its type f32 is no ranked tensor
func.func @what_may_be_marked(%a: tensor<?x?xf32>, %c: tensor<?x?xf32>, %x: f32) {
  %0 = linalg.matmul {pit_test.quiet, pit_test.operand = [2, 9]}
      ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.matmul {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0 : i8}
      ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = linalg.fill {pit_test.quiet, pit_test.operand = 0} ins(%x : f32) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return
}

// S2: the body.
// CHECK: skipping operand 0 is not legal [S2]: the body contains test.effect, which may have side effects
func.func @impure(%a: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<?xf32>) {
  ^bb0(%x: f32, %old: f32):
    "test.effect"(%x) : (f32) -> ()
    linalg.yield %x : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// S3: max over products with background 0. With a background of -inf the
// product is -inf only where the other factor is positive.
// CHECK: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.maximumf
// CHECK: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.maximumf
func.func @max_of_products(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %m = arith.maximumf %acc, %p : f32
    linalg.yield %m : f32
  } -> tensor<?x?xf32>
  %s = linalg.generic {pit_test.quiet, pit_test.operand = 0, pit_test.background = 0xFF800000 : f32, indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %m = arith.maximumf %acc, %p : f32
    linalg.yield %m : f32
  } -> tensor<?x?xf32>
  return %r, %s : tensor<?x?xf32>, tensor<?x?xf32>
}

// Every zero contributes exp(0) = 1.
// CHECK: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.addf
func.func @sum_of_exp(%a: tensor<?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#v, #s], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %e = math.exp %x : f32
    %s = arith.addf %acc, %e : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// cos(0) is 1, so a product of cosines is kept; that of values becomes 0.
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 0 is not legal [S4]: result 0 yields 0.000000e+00 : f32 where it is not written exactly once per element (arith.mulf combines it)
func.func @products(%a: tensor<?xf32>, %c: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#v, #s], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = math.cos %x : f32
    %s = arith.mulf %acc, %y : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %t = linalg.reduce { arith.mulf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.operand = 0}
  return %r, %t : tensor<f32>, tensor<f32>
}

// S4: a fill would change what the op never writes.
// CHECK: skipping operand 0 is not legal [S4]: result 0 yields 0.000000e+00 : f32 where it is not written exactly once per element
// CHECK: skipping operand 0 is not legal [S4]: result 0 yields 0.000000e+00 : f32 where it is not written exactly once per element
func.func @not_everywhere(%a: tensor<?xf32>, %c: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#v, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  } -> tensor<?x?xf32>
  %s = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#v, affine_map<(i) -> (i, 0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  } -> tensor<?x?xf32>
  return %r, %s : tensor<?x?xf32>, tensor<?x?xf32>
}

// S5: the fill would destroy the prior value that live points multiply.
// CHECK: skipping operand 0 is not legal [S5]: result 0 yields 0.000000e+00 : f32, yet the body reads its prior value
func.func @scale_in_place(%a: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0, indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<?xf32>) {
  ^bb0(%x: f32, %old: f32):
    %p = arith.mulf %x, %old : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// S6: a broadcast input is no copy of the result.
// CHECK: skipping operand 0 is not legal [S6]: result 0 yields operand 1, whose map or type is not its own
func.func @bias(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {pit_test.quiet, pit_test.operand = 0,
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// S7: one of several results.
// CHECK: skipping in result 1 is not legal [S7]: the op has 2 results
func.func @one_of_two(%a: tensor<?xf32>, %c: tensor<?xf32>, %d: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r:2 = linalg.generic {pit_test.quiet, pit_test.result = 1, indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%c, %d : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32):
    linalg.yield %x, %x : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}

// S8: the iterations of an element are not found from its place.
// CHECK: skipping in result 0 is not legal [S8]: its map (d0, d1) -> (d0 + d1) is no projected permutation
// CHECK: skipping in result 0 is not legal [S2]: the body contains test.effect, which may have side effects
func.func @scatter(%a: tensor<4xf32>, %f: tensor<3xf32>, %c: tensor<6xf32>, %d: tensor<4xf32>) -> (tensor<6xf32>, tensor<4xf32>) {
  %r = linalg.generic {pit_test.quiet, pit_test.result = 0,
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i + j)>], iterator_types = ["reduction", "reduction"]}
      ins(%a, %f : tensor<4xf32>, tensor<3xf32>) outs(%c : tensor<6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  %t = linalg.generic {pit_test.quiet, pit_test.result = 0, indexing_maps = [#v, #v], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%x: f32, %old: f32):
    "test.effect"(%x) : (f32) -> ()
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r, %t : tensor<6xf32>, tensor<4xf32>
}

// Strict: 0 * inf is NaN and -0 + 0 is +0, so only integers, or fast math that
// rules both out, may be skipped.
// CHECK: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.addf
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.addf
// CHECK: skipping operand 0 is legal: result 0 is kept
func.func @strict(%a: tensor<?x?xf32>, %c: tensor<?x?xf32>, %i: tensor<?x?xi8>, %d: tensor<?x?xi32>, %v: tensor<?xf32>, %e: tensor<f32>) {
  %0 = linalg.matmul {pit_test.quiet, pit_test.strict, pit_test.operand = 0} ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.matmul {pit_test.quiet, pit_test.strict, pit_test.operand = 0} ins(%i, %i : tensor<?x?xi8>, tensor<?x?xi8>) outs(%d : tensor<?x?xi32>) -> tensor<?x?xi32>
  %2 = linalg.reduce { arith.addf } ins(%v : tensor<?xf32>) outs(%e : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.strict, pit_test.operand = 0}
  %3 = linalg.reduce { arith.addf } ins(%v : tensor<?xf32>) outs(%e : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.strict, pit_test.operand = 0, pit_test.background = -0.0 : f32}
  return
}
