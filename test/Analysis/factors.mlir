// RUN: pit-test-analysis %s | FileCheck %s

// The factors of sums of products, and where they vary.

#v = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>

// H[t, e, f] += r[t, e] * A[t, k] * B[e, k, f]: r does not vary along k.
// CHECK: factor of operands [0] varies along [0, 1]
// CHECK-NEXT: factor of operands [1] varies along [0, 3]
// CHECK-NEXT: factor of operands [2] varies along [1, 2, 3]
func.func @experts_up(%w: tensor<?x?xf32>, %a: tensor<?x?xbf16>, %b: tensor<?x?x?xbf16>, %h: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = linalg.generic {pit_test.quiet, pit_test.factors,
      indexing_maps = [affine_map<(t, e, f, k) -> (t, e)>, affine_map<(t, e, f, k) -> (t, k)>,
                       affine_map<(t, e, f, k) -> (e, k, f)>, affine_map<(t, e, f, k) -> (t, e, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %a, %b : tensor<?x?xf32>, tensor<?x?xbf16>, tensor<?x?x?xbf16>) outs(%h : tensor<?x?x?xf32>) {
  ^bb0(%x: f32, %y: bf16, %z: bf16, %acc: f32):
    %0 = arith.extf %y : bf16 to f32
    %1 = arith.extf %z : bf16 to f32
    %p = arith.mulf %0, %1 : f32
    %q = arith.mulf %x, %p : f32
    %s = arith.addf %acc, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// A widened product has the factors of what is widened; integers might have
// wrapped before, so theirs stay together.
// CHECK: factor of operands [0] varies along [0]
// CHECK-NEXT: factor of operands [1] varies along []
// CHECK: factor of operands [0, 1] varies along [0]
func.func @widened(%a: tensor<?xf16>, %b: tensor<f16>, %c: tensor<f32>, %i: tensor<?xi8>, %j: tensor<i8>, %d: tensor<i32>) {
  %0 = linalg.generic {pit_test.quiet, pit_test.factors, indexing_maps = [#v, #s, #s], iterator_types = ["reduction"]}
      ins(%a, %b : tensor<?xf16>, tensor<f16>) outs(%c : tensor<f32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %p = arith.mulf %x, %y : f16
    %w = arith.extf %p : f16 to f32
    %s = arith.addf %w, %acc : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %1 = linalg.generic {pit_test.quiet, pit_test.factors, indexing_maps = [#v, #s, #s], iterator_types = ["reduction"]}
      ins(%i, %j : tensor<?xi8>, tensor<i8>) outs(%d : tensor<i32>) {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %p = arith.muli %x, %y : i8
    %w = arith.extsi %p : i8 to i32
    %s = arith.addi %w, %acc : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return
}

// Factors may be computed, constant, captured, or read an index; a product
// that is used elsewhere too stays whole.
// CHECK: factor of operands [0, 1] varies along [0]
// CHECK-NEXT: factor of operands [] varies along []
// CHECK-NEXT: factor of operands [] varies along [0]
// CHECK: factor of operands [0, 1] varies along [0]
func.func @computed(%a: tensor<?xf32>, %b: tensor<f32>, %scale: f32, %c: tensor<f32>, %e: tensor<?xf32>) {
  %0 = linalg.generic {pit_test.quiet, pit_test.factors, indexing_maps = [#v, #s, #s], iterator_types = ["reduction"]}
      ins(%a, %b : tensor<?xf32>, tensor<f32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %d = arith.subf %x, %y : f32
    %n = math.exp %d : f32
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %p = arith.mulf %n, %scale : f32
    %q = arith.mulf %p, %f : f32
    %s = arith.addf %acc, %q : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %1:2 = linalg.generic {pit_test.quiet, pit_test.factors, indexing_maps = [#v, #s, #s, #v], iterator_types = ["reduction"]}
      ins(%a, %b : tensor<?xf32>, tensor<f32>) outs(%c, %e : tensor<f32>, tensor<?xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32, %old: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s, %p : f32, f32
  } -> (tensor<f32>, tensor<?xf32>)
  return
}

// A single value is a product of one factor; a maximum is none.
// CHECK: factor of operands [0] varies along [0]
// CHECK: no sum of products
// CHECK: no sum of products
func.func @other(%a: tensor<?xf32>, %c: tensor<f32>) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.factors}
  %1 = linalg.reduce { arith.maximumf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0] {pit_test.quiet, pit_test.factors}
  %2 = linalg.add {pit_test.quiet, pit_test.factors} ins(%a, %a : tensor<?xf32>, tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
  return
}
