// RUN: pit-opt %s -pit-eliminate-empties -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-eliminate-empties -one-shot-bufferize="bufferize-function-boundaries" -split-input-file -o /dev/null

!m = tensor<8x8xf32>
!b = memref<8x8xf32>

// What is not read later is computed where it goes to.
// CHECK-LABEL: func.func @chain
// CHECK: %[[D:.*]] = bufferization.to_tensor
// CHECK: %[[A:.*]] = linalg.exp ins(%{{.*}}) outs(%[[D]] :
// CHECK: linalg.matmul {{.*}} outs(%[[A]] :
func.func @chain(%x: !m {bufferization.writable = false}, %out: !b) {
  %d = bufferization.to_tensor %out restrict writable : !b to !m
  %e = tensor.empty() : !m
  %a = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
  %q = linalg.matmul ins(%x, %x : !m, !m) outs(%a : !m) -> !m
  %r = bufferization.materialize_in_destination %q in %d : (!m, !m) -> !m
  bufferization.materialize_in_destination %r in writable %out : (!m, !b) -> ()
  return
}

// -----

!m = tensor<8x8xf32>
!b = memref<8x8xf32>

// The first version is read when the second lies in %out: it takes the other
// result's memory.
// CHECK-LABEL: func.func @version
// CHECK: %[[D0:.*]] = bufferization.to_tensor
// CHECK: %[[D1:.*]] = bufferization.to_tensor
// CHECK: %[[A:.*]] = linalg.exp ins(%{{.*}}) outs(%[[D1]] :
// CHECK: linalg.matmul {{.*}} outs(%[[A]] :
func.func @version(%x: !m {bufferization.writable = false}, %out0: !b, %out1: !b) {
  %d0 = bufferization.to_tensor %out0 restrict writable : !b to !m
  %d1 = bufferization.to_tensor %out1 restrict writable : !b to !m
  %e = tensor.empty() : !m
  %a = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
  %q = linalg.matmul ins(%x, %x : !m, !m) outs(%a : !m) -> !m
  %r0 = bufferization.materialize_in_destination %q in %d0 : (!m, !m) -> !m
  %r1 = bufferization.materialize_in_destination %a in %d1 : (!m, !m) -> !m
  bufferization.materialize_in_destination %r0 in writable %out0 : (!m, !b) -> ()
  bufferization.materialize_in_destination %r1 in writable %out1 : (!m, !b) -> ()
  return
}

// -----

!m = tensor<8x8xf32>
!b = memref<8x8xf32>

// Only one branch hands on %a, and what the branches give is needed twice.
// CHECK-LABEL: func.func @branch
// CHECK: %[[D0:.*]] = bufferization.to_tensor
// CHECK: %[[D1:.*]] = bufferization.to_tensor
// CHECK: linalg.exp ins(%{{.*}}) outs(%[[D1]] :
// CHECK: scf.if
func.func @branch(%x: !m {bufferization.writable = false}, %p: i1, %out0: !b, %out1: !b) {
  %d0 = bufferization.to_tensor %out0 restrict writable : !b to !m
  %d1 = bufferization.to_tensor %out1 restrict writable : !b to !m
  %e = tensor.empty() : !m
  %a = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
  %q = scf.if %p -> !m {
    %s = linalg.matmul ins(%x, %x : !m, !m) outs(%a : !m) -> !m
    scf.yield %s : !m
  } else {
    scf.yield %a : !m
  }
  %r0 = bufferization.materialize_in_destination %q in %d0 : (!m, !m) -> !m
  %r1 = bufferization.materialize_in_destination %q in %d1 : (!m, !m) -> !m
  bufferization.materialize_in_destination %r0 in writable %out0 : (!m, !b) -> ()
  bufferization.materialize_in_destination %r1 in writable %out1 : (!m, !b) -> ()
  return
}

// -----

!m = tensor<8x8xf32>
!b = memref<8x8xf32>

// Both branches start from %a, which is read later.
// CHECK-LABEL: func.func @start
// CHECK: %[[D0:.*]] = bufferization.to_tensor
// CHECK: %[[D1:.*]] = bufferization.to_tensor
// CHECK: linalg.exp ins(%{{.*}}) outs(%[[D1]] :
// CHECK: scf.if
func.func @start(%x: !m {bufferization.writable = false}, %p: i1, %out0: !b, %out1: !b) {
  %d0 = bufferization.to_tensor %out0 restrict writable : !b to !m
  %d1 = bufferization.to_tensor %out1 restrict writable : !b to !m
  %e = tensor.empty() : !m
  %a = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
  %q = scf.if %p -> !m {
    %s = linalg.matmul ins(%x, %x : !m, !m) outs(%a : !m) -> !m
    scf.yield %s : !m
  } else {
    scf.yield %x : !m
  }
  %r0 = bufferization.materialize_in_destination %q in %d0 : (!m, !m) -> !m
  %r1 = bufferization.materialize_in_destination %a in %d1 : (!m, !m) -> !m
  bufferization.materialize_in_destination %r0 in writable %out0 : (!m, !b) -> ()
  bufferization.materialize_in_destination %r1 in writable %out1 : (!m, !b) -> ()
  return
}

// -----

!m = tensor<8x8xf32>
!b = memref<8x8xf32>

// One result twice: the copy reads what is there already.
// CHECK-LABEL: func.func @twice
// CHECK: %[[D0:.*]] = bufferization.to_tensor
// CHECK: linalg.exp ins(%{{.*}}) outs(%[[D0]] :
func.func @twice(%x: !m {bufferization.writable = false}, %out0: !b, %out1: !b) {
  %d0 = bufferization.to_tensor %out0 restrict writable : !b to !m
  %d1 = bufferization.to_tensor %out1 restrict writable : !b to !m
  %e = tensor.empty() : !m
  %a = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
  %r0 = bufferization.materialize_in_destination %a in %d0 : (!m, !m) -> !m
  %r1 = bufferization.materialize_in_destination %a in %d1 : (!m, !m) -> !m
  bufferization.materialize_in_destination %r0 in writable %out0 : (!m, !b) -> ()
  bufferization.materialize_in_destination %r1 in writable %out1 : (!m, !b) -> ()
  return
}

// -----

!m = tensor<8x8xf32>

// What the branch gives is inserted into itself.
// CHECK-LABEL: func.func @itself
// CHECK: scf.if
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.exp ins(%{{.*}}) outs(%[[E]] :
func.func @itself(%x: !m {bufferization.writable = false}, %p: i1) -> !m {
  %q = scf.if %p -> !m {
    %e = tensor.empty() : !m
    %a = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
    scf.yield %a : !m
  } else {
    scf.yield %x : !m
  }
  %r = tensor.insert_slice %q into %q[0, 0] [8, 8] [1, 1] : !m into !m
  return %r : !m
}

// -----

!m = tensor<8x8xf32>
!b = memref<8x8xf32>

// Branches that share memory for a result compute it where it goes to, also if
// one starts from another tensor.
// CHECK-LABEL: func.func @branches
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<8x8xf32>
// CHECK: %[[D:.*]] = bufferization.to_tensor
// CHECK: scf.if
// CHECK: linalg.exp ins(%[[X]] {{.*}} outs(%[[D]] :
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[D]]
// CHECK: } else {
// CHECK: bufferization.materialize_in_destination %[[X]] in %[[D]]
func.func @branches(%x: !m {bufferization.writable = false}, %c: i1, %out: !b) {
  %d = bufferization.to_tensor %out restrict writable : !b to !m
  %shared = tensor.empty() : !m
  %q = scf.if %c -> !m {
    %e = tensor.empty() : !m
    %a = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
    %w = bufferization.materialize_in_destination %a in %shared : (!m, !m) -> !m
    scf.yield %w : !m
  } else {
    %w = bufferization.materialize_in_destination %x in %shared : (!m, !m) -> !m
    scf.yield %w : !m
  }
  %r = bufferization.materialize_in_destination %q in %d : (!m, !m) -> !m
  bufferization.materialize_in_destination %r in writable %out : (!m, !b) -> ()
  return
}

// -----

!m = tensor<8x8xf32>
!b = memref<8x8xf32>

// An update of the result in place follows it.
// CHECK-LABEL: func.func @updated
// CHECK: %[[D:.*]] = bufferization.to_tensor
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[D]]
// CHECK: } else {
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[D]]
func.func @updated(%x: !m {bufferization.writable = false}, %c: i1, %out: !b) {
  %d = bufferization.to_tensor %out restrict writable : !b to !m
  %shared = tensor.empty() : !m
  %q = scf.if %c -> !m {
    %e = tensor.empty() : !m
    %a = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
    %w = bufferization.materialize_in_destination %a in %shared : (!m, !m) -> !m
    scf.yield %w : !m
  } else {
    %w = bufferization.materialize_in_destination %x in %shared : (!m, !m) -> !m
    scf.yield %w : !m
  }
  %u = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%q : !m) {
  ^bb0(%v: f32):
    %n = arith.negf %v : f32
    linalg.yield %n : f32
  } -> !m
  %r = bufferization.materialize_in_destination %u in %d : (!m, !m) -> !m
  bufferization.materialize_in_destination %r in writable %out : (!m, !b) -> ()
  return
}

// -----

// What is collapsed before it is returned is computed in the result's memory.
// CHECK-LABEL: func.func @collapsed
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?x4xf32>
// CHECK: %[[DIM:.*]] = memref.dim %[[OUT]]
// CHECK: %[[SIZE:.*]] = arith.divui %[[DIM]], %{{.*}} : index
// CHECK: %[[B:.*]] = memref.expand_shape %[[OUT]] {{\[\[}}0, 1], [2]] output_shape [%[[SIZE]], 3, 4]
// CHECK: %[[E:.*]] = bufferization.to_tensor %[[B]] restrict writable
// CHECK: %[[A:.*]] = linalg.exp {{.*}} outs(%[[E]] :
// CHECK: %[[R:.*]] = bufferization.materialize_in_destination %[[A]] in %[[E]]
// CHECK: bufferization.materialize_in_destination %[[R]] in writable %[[B]]
func.func @collapsed(%x: tensor<?x3x4xf32> {bufferization.writable = false}, %n: index,
                     %out: memref<?x4xf32>) {
  %d = bufferization.to_tensor %out restrict writable : memref<?x4xf32> to tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x3x4xf32>
  %a = linalg.exp ins(%x : tensor<?x3x4xf32>) outs(%e : tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  %c = tensor.collapse_shape %a [[0, 1], [2]] : tensor<?x3x4xf32> into tensor<?x4xf32>
  %r = bufferization.materialize_in_destination %c in %d : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<?x4xf32>, memref<?x4xf32>) -> ()
  return
}

// -----

// Of two sizes the result tells the product alone. The empty tensor has them.
// CHECK-LABEL: func.func @sizes
// CHECK-SAME: %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index, %[[OUT:[a-z0-9]+]]: memref
// CHECK: %[[B:.*]] = memref.expand_shape %[[OUT]] {{\[\[}}0, 1]] output_shape [%[[M]], %[[N]]]
// CHECK: %[[E:.*]] = bufferization.to_tensor %[[B]] restrict writable
// CHECK: linalg.exp {{.*}} outs(%[[E]] :
func.func @sizes(%x: tensor<?x?xf32> {bufferization.writable = false}, %m: index, %n: index,
                 %out: memref<?xf32>) {
  %d = bufferization.to_tensor %out restrict writable : memref<?xf32> to tensor<?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %a = linalg.exp ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = tensor.collapse_shape %a [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %r = bufferization.materialize_in_destination %c in %d : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

// A result of any extents is one of rows in the same memory: the copy is one of the memory to
// itself, in one shape.
// CHECK-LABEL: func.func @expanded
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?x?x4xf32>
// CHECK: %[[B:.*]] = memref.collapse_shape %[[OUT]] {{\[\[}}0, 1], [2]]
// CHECK: %[[E:.*]] = bufferization.to_tensor %[[B]] restrict writable
// CHECK: %[[A:.*]] = linalg.exp {{.*}} outs(%[[E]] :
// CHECK: %[[R:.*]] = bufferization.materialize_in_destination %[[A]] in %[[E]]
// CHECK: bufferization.materialize_in_destination %[[R]] in writable %[[B]]
func.func @expanded(%x: tensor<?x4xf32> {bufferization.writable = false}, %m: index, %n: index, %mn: index,
                    %out: memref<?x?x4xf32>) {
  %d = bufferization.to_tensor %out restrict writable : memref<?x?x4xf32> to tensor<?x?x4xf32>
  %e = tensor.empty(%mn) : tensor<?x4xf32>
  %a = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = tensor.expand_shape %a [[0, 1], [2]] output_shape [%m, %n, 4] : tensor<?x4xf32> into tensor<?x?x4xf32>
  %r = bufferization.materialize_in_destination %c in %d : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<?x?x4xf32>, memref<?x?x4xf32>) -> ()
  return
}

// -----

// The sizes of the empty tensor are not those of what is collapsed last, though the types
// are the same.
// CHECK-LABEL: func.func @other_sizes
// CHECK: %[[D:.*]] = bufferization.to_tensor
// CHECK-NOT: memref.expand_shape
// CHECK: linalg.exp
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[D]]
func.func @other_sizes(%x: tensor<?x?xf32> {bufferization.writable = false}, %m: index, %n: index,
                       %out: memref<?xf32>) {
  %d = bufferization.to_tensor %out restrict writable : memref<?xf32> to tensor<?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %a = linalg.exp ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %b = tensor.collapse_shape %a [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %w = tensor.expand_shape %b [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  %c = tensor.collapse_shape %w [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %r = bufferization.materialize_in_destination %c in %d : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

!s = memref<8x4xf32, strided<[8, 1]>>

// Memory with gaps keeps its shape, which could not be collapsed.
// CHECK-LABEL: func.func @gaps
// CHECK: %[[D:.*]] = bufferization.to_tensor
// CHECK-NOT: memref.collapse_shape
// CHECK: linalg.exp
// CHECK: bufferization.materialize_in_destination %{{.*}} in %[[D]]
func.func @gaps(%x: tensor<32xf32> {bufferization.writable = false}, %out: !s) {
  %d = bufferization.to_tensor %out restrict writable : !s to tensor<8x4xf32>
  %e = tensor.empty() : tensor<32xf32>
  %a = linalg.exp ins(%x : tensor<32xf32>) outs(%e : tensor<32xf32>) -> tensor<32xf32>
  %c = tensor.expand_shape %a [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  %r = bufferization.materialize_in_destination %c in %d : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<8x4xf32>, !s) -> ()
  return
}
