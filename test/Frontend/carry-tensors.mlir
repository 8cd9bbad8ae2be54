// RUN: pit-opt %s -pit-carry-tensors -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-carry-tensors -one-shot-bufferize="bufferize-function-boundaries allow-return-allocs-from-loops" -split-input-file -o /dev/null

!m = tensor<8x8xf32>
!d = tensor<?x?xf32>

// A new value of the same size takes the place of the old one. What is updated
// already, and what does not change, stays.
// CHECK-LABEL: func.func @new
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}}, %[[Z:.*]] = %{{.*}})
// CHECK: %[[P:.*]] = linalg.exp
// CHECK: %[[Q:.*]] = linalg.add
// CHECK-NOT: bufferization.alloc_tensor
// CHECK: %[[R:.*]] = bufferization.materialize_in_destination %[[P]] in %[[X]]
// CHECK: scf.yield %[[R]], %[[Q]], %[[Z]]
func.func @new(%a: !m, %n: index) -> (!m, !m, !m) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %a, %z = %a) -> (!m, !m, !m) {
    %e = tensor.empty() : !m
    %p = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
    %q = linalg.add ins(%x, %z : !m, !m) outs(%y : !m) -> !m
    scf.yield %p, %q, %z : !m, !m, !m
  }
  return %r#0, %r#1, %r#2 : !m, !m, !m
}

// -----

!m = tensor<8x8xf32>

// An exchange: the old value is copied before its memory is overwritten.
// CHECK-LABEL: func.func @exchange
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}})
// CHECK: %[[P:.*]] = linalg.exp
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK: %[[R:.*]] = bufferization.materialize_in_destination %[[P]] in %[[X]]
// CHECK: %[[S:.*]] = bufferization.materialize_in_destination %[[C]] in %[[Y]]
// CHECK: scf.yield %[[R]], %[[S]]
func.func @exchange(%a: !m, %b: !m, %n: index) -> (!m, !m) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (!m, !m) {
    %e = tensor.empty() : !m
    %p = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
    scf.yield %p, %x : !m, !m
  }
  return %r#0, %r#1 : !m, !m
}

// -----

!d = tensor<?x?xf32>

// Dynamic sizes: the same by the ops that computed it, or not known.
// CHECK-LABEL: func.func @sizes
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}})
// CHECK: %[[P:.*]] = linalg.exp
// CHECK: %[[Q:.*]] = linalg.exp
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[Q]])
// CHECK: %[[R:.*]] = bufferization.materialize_in_destination %[[P]] in %[[X]]
// CHECK: scf.yield %[[R]], %[[C]]
func.func @sizes(%a: !d, %b: !d, %n: index, %k: index) -> (!d, !d) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (!d, !d) {
    %d0 = tensor.dim %x, %c0 : !d
    %d1 = tensor.dim %x, %c1 : !d
    %e = tensor.empty(%d0, %d1) : !d
    %p = linalg.exp ins(%x : !d) outs(%e : !d) -> !d
    %f = tensor.empty(%d0, %k) : !d
    %q = linalg.exp ins(%y : !d) outs(%f : !d) -> !d
    scf.yield %p, %q : !d, !d
  }
  return %r#0, %r#1 : !d, !d
}

// -----

!m = tensor<8x8xf32>

// The condition of scf.while hands on, too. A branch may give the old value.
// CHECK-LABEL: func.func @while
// CHECK: scf.while (%{{.*}} = %{{.*}}, %[[X:.*]] = %{{.*}})
// CHECK: %[[P:.*]] = linalg.exp
// CHECK: %[[Q:.*]] = bufferization.materialize_in_destination %[[P]] in %[[X]]
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %[[Q]]
// CHECK: ^bb0(%{{.*}}: index, %[[Y:.*]]: tensor<8x8xf32>)
// CHECK: %[[Z:.*]] = scf.if
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[Z]])
// CHECK: %[[R:.*]] = bufferization.materialize_in_destination %[[C]] in %[[Y]]
// CHECK: scf.yield %{{.*}}, %[[R]]
func.func @while(%a: !m, %n: index, %if: i1) -> !m {
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%i = %c1, %x = %a) : (index, !m) -> (index, !m) {
    %e = tensor.empty() : !m
    %p = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
    %go = arith.cmpi ult, %i, %n : index
    scf.condition(%go) %i, %p : index, !m
  } do {
  ^bb0(%i: index, %y: !m):
    %j = arith.addi %i, %c1 : index
    %z = scf.if %if -> !m {
      scf.yield %y : !m
    } else {
      %e = tensor.empty() : !m
      %p = linalg.exp ins(%y : !m) outs(%e : !m) -> !m
      scf.yield %p : !m
    }
    scf.yield %j, %z : index, !m
  }
  return %r#1 : !m
}

// -----

!m = tensor<8x8xf32>

// A branch that hands on a value from outside, where the other one updates what the
// loop carries: bufferization takes the two for the same memory.
// CHECK-LABEL: func.func @branches
// CHECK: scf.while {{.*}} = %[[Z:[a-z0-9_]+]]) :
// CHECK: scf.if
// CHECK-NEXT: %[[S:.*]] = linalg.add
// CHECK-NEXT: scf.yield %[[S]]
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[Z]])
// CHECK-NEXT: scf.yield %[[C]]
func.func @branches(%n: i32, %q: i1, %a: !m) -> !m {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : !m
  %r:2 = scf.while (%i = %c0, %x = %z) : (i32, !m) -> (i32, !m) {
    %y = scf.if %q -> (!m) {
      %s = linalg.add ins(%x, %a : !m, !m) outs(%x : !m) -> !m
      scf.yield %s : !m
    } else {
      scf.yield %z : !m
    }
    %j = arith.addi %i, %c1 : i32
    %c = arith.cmpi slt, %j, %n : i32
    scf.condition(%c) %j, %y : i32, !m
  } do {
  ^bb0(%i: i32, %x: !m):
    scf.yield %i, %x : i32, !m
  }
  return %r#1 : !m
}

// -----

!m = tensor<8x8xf32>

// The update may be in a branch of the branch.
// CHECK-LABEL: func.func @nested
// CHECK: linalg.add
// CHECK-NEXT: scf.yield
// CHECK: bufferization.alloc_tensor() copy(%arg2)
// CHECK: } else {
// CHECK-NEXT: bufferization.alloc_tensor() copy(%cst)
func.func @nested(%q: i1, %n: index, %a: !m) -> !m {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : !m
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %z) -> (!m) {
    %y = scf.if %q -> (!m) {
      %w = scf.if %q -> (!m) {
        %s = linalg.add ins(%x, %a : !m, !m) outs(%x : !m) -> !m
        scf.yield %s : !m
      } else {
        scf.yield %a : !m
      }
      scf.yield %w : !m
    } else {
      scf.yield %z : !m
    }
    scf.yield %y : !m
  }
  return %r : !m
}

// -----

!m = tensor<8x8xf32>

// The branch that hands on what the other one updates keeps its memory.
// CHECK-LABEL: func.func @kept
// CHECK: scf.if
// CHECK-NOT: bufferization.alloc_tensor
// CHECK: } else {
// CHECK-NEXT: scf.yield
func.func @kept(%n: index, %q: i1, %a: !m) -> !m {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (!m) {
    %y = scf.if %q -> (!m) {
      %s = linalg.add ins(%x, %a : !m, !m) outs(%x : !m) -> !m
      scf.yield %s : !m
    } else {
      scf.yield %x : !m
    }
    scf.yield %y : !m
  }
  return %r : !m
}

// -----

!m = tensor<8x8xf32>

// A loop in the loop updates a part of the tensor that both carry.
// CHECK-LABEL: func.func @nested
// CHECK-NOT: bufferization
// CHECK: return
func.func @nested(%n: index, %a: tensor<4x8xf32>) -> !m {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : !m
  %f = linalg.fill ins(%z : f32) outs(%e : !m) -> !m
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %f) -> (!m) {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%y = %x) -> (!m) {
      %p = tensor.extract_slice %y[%j, 0] [4, 8] [1, 1] : !m to tensor<4x8xf32>
      %q = linalg.add ins(%a, %p : tensor<4x8xf32>, tensor<4x8xf32>) outs(%p : tensor<4x8xf32>) -> tensor<4x8xf32>
      %t = tensor.insert_slice %q into %y[%j, 0] [4, 8] [1, 1] : tensor<4x8xf32> into !m
      scf.yield %t : !m
    }
    scf.yield %s : !m
  }
  return %r : !m
}
