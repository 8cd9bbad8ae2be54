// RUN: pit-opt %s -pit-sequence-foralls -split-input-file -verify-diagnostics | FileCheck %s

// Two dims, two outputs. %x is the loop's own slice, %y is another one: that is
// what it was before the loop.
// CHECK-LABEL: func.func @outputs
// CHECK-SAME: %[[A:[^:]*]]: tensor<8x8xf32>, %[[B:[^:]*]]: tensor<8xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[A1:.*]] = %[[A]], %[[B1:.*]] = %[[B]])
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[A2:.*]] = %[[A1]], %[[B2:.*]] = %[[B1]])
// CHECK: %[[X:.*]] = tensor.extract_slice %[[A2]][%[[I]], %[[J]]] [4, 2] [1, 1]
// CHECK: tensor.extract_slice %[[A]][0, 0] [4, 2] [1, 1]
// CHECK: %[[S:.*]] = pit.sparse
// CHECK: %[[A3:.*]] = tensor.insert_slice %[[S]] into %[[A2]][%[[I]], %[[J]]] [4, 2] [1, 1]
// CHECK: %[[B3:.*]] = tensor.insert_slice %{{.*}} into %[[B2]][%[[I]]] [1] [1]
// CHECK: scf.yield %[[A3]], %[[B3]]
func.func @outputs(%a: tensor<8x8xf32>, %b: tensor<8xf32>, %v: tensor<1xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  // expected-remark @below {{scf.forall runs one iteration after another: an index is built in it}}
  %r:2 = scf.forall (%i, %j) = (0, 0) to (8, 8) step (4, 2) shared_outs(%o = %a, %p = %b) -> (tensor<8x8xf32>, tensor<8xf32>) {
    %x = tensor.extract_slice %o[%i, %j] [4, 2] [1, 1] : tensor<8x8xf32> to tensor<4x2xf32>
    %y = tensor.extract_slice %o[0, 0] [4, 2] [1, 1] : tensor<8x8xf32> to tensor<4x2xf32>
    %q = linalg.add ins(%x, %y : tensor<4x2xf32>, tensor<4x2xf32>) outs(%x : tensor<4x2xf32>) -> tensor<4x2xf32>
    %s = pit.sparse %q : tensor<4x2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, %j] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<8x8xf32>
      tensor.parallel_insert_slice %v into %p[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r#0, %r#1 : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// A mark in a loop within it counts; a loop without one stays.
// CHECK-LABEL: func.func @inner
// CHECK: scf.for
// CHECK: scf.for
// CHECK: pit.sparse
// CHECK: scf.forall
func.func @inner(%a: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  // expected-remark @below {{scf.forall runs one iteration after another: an index is built in it}}
  %r = scf.forall (%i) in (8) shared_outs(%o = %a) -> tensor<8x4xf32> {
    %x = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    // expected-remark @below {{scf.forall runs one iteration after another: an index is built in it}}
    %y = scf.forall (%j) in (4) shared_outs(%p = %x) -> tensor<1x4xf32> {
      %z = tensor.extract_slice %a[%i, %j] [1, 1] [1, 1] : tensor<8x4xf32> to tensor<1x1xf32>
      %s = pit.sparse %z : tensor<1x1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %p[0, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<1x4xf32>
      }
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    }
  }
  %q = scf.forall (%i) in (8) shared_outs(%o = %a) -> tensor<8x4xf32> {
    %x = tensor.extract_slice %r[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    }
  }
  return %r, %q : tensor<8x4xf32>, tensor<8x4xf32>
}
