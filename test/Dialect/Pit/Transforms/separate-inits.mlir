// RUN: pit-opt %s --split-input-file --pit-separate-inits | FileCheck %s
// RUN: pit-opt %s --split-input-file --pit-separate-inits=copy-all | FileCheck %s --check-prefix=ALL

// Two ops that start from one fill.
// CHECK-LABEL: func.func @shared_fill
// CHECK: %[[E0:.*]] = tensor.empty
// CHECK: %[[F0:.*]] = linalg.fill {{.*}} outs(%[[E0]]
// CHECK: linalg.exp {{.*}} outs(%[[F0]]
// CHECK: %[[E1:.*]] = tensor.empty
// CHECK: %[[F1:.*]] = linalg.fill {{.*}} outs(%[[E1]]
// CHECK: linalg.abs {{.*}} outs(%[[F1]]
func.func @shared_fill(%x: tensor<8xf32>, %z: f32) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%i : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.abs ins(%x : tensor<8xf32>) outs(%i : tensor<8xf32>) -> tensor<8xf32>
  return %p, %q : tensor<8xf32>, tensor<8xf32>
}

// -----

// One op with two results. Who only reads the fill keeps it.
// CHECK-LABEL: func.func @two_results
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK: %[[F0:.*]] = linalg.fill
// CHECK: %[[F1:.*]] = linalg.fill
// CHECK: linalg.generic {{.*}} outs(%[[F0]], %[[F1]]
// CHECK: return %{{.*}}, %{{.*}}, %[[FILL]]
func.func @two_results(%x: tensor<8xf32>, %z: f32) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%i, %i : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %s = arith.addf %a, %o : f32
    %d = arith.subf %a, %p : f32
    linalg.yield %s, %d : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %r#0, %r#1, %i : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Any other tensor is copied for the second result.
// ALL-LABEL: func.func @computed
// ALL-COUNT-2: bufferization.alloc_tensor() copy(%{{.*}})
// CHECK-LABEL: func.func @computed
// CHECK-SAME: %[[Y:[a-z0-9]*]]: tensor<8xf32>
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[Y]])
// CHECK: linalg.generic {{.*}} outs(%[[Y]], %[[COPY]]
func.func @computed(%y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%y, %y : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%o: f32, %p: f32):
    %s = arith.addf %o, %o : f32
    %d = arith.mulf %p, %p : f32
    linalg.yield %s, %d : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Tensors that a loop carries. A single user keeps its tensor.
// CHECK-LABEL: func.func @loop
// CHECK: %[[ONCE:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: linalg.fill {{.*}} outs(%[[ONCE]]
// CHECK: %[[E0:.*]] = tensor.empty() : tensor<8xf32>
// CHECK: %[[E1:.*]] = tensor.empty() : tensor<8xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[E1]], %{{.*}} = %[[E0]])
func.func @loop(%n: index, %z: f32) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %once = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%z : f32) outs(%once : tensor<4xf32>) -> tensor<4xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %e, %b = %e) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.yield %b, %a : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1, %f : tensor<8xf32>, tensor<8xf32>, tensor<4xf32>
}

// -----

// Branches share a result's memory; two results do not.
// CHECK-LABEL: func.func @memory
// CHECK: %[[E0:.*]] = tensor.empty() : tensor<8xf32>
// CHECK: %[[E1:.*]] = tensor.empty() : tensor<8xf32>
// CHECK: scf.if
// CHECK: materialize_in_destination %{{.*}} in %[[E0]]
// CHECK: materialize_in_destination %{{.*}} in %[[E1]]
// CHECK: } else {
// CHECK: materialize_in_destination %{{.*}} in %[[E0]]
// CHECK: materialize_in_destination %{{.*}} in %[[E1]]
func.func @memory(%c: i1, %x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %r:2 = scf.if %c -> (tensor<8xf32>, tensor<8xf32>) {
    %v = bufferization.materialize_in_destination %x in %e : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %w = bufferization.materialize_in_destination %y in %e : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    scf.yield %v, %w : tensor<8xf32>, tensor<8xf32>
  } else {
    %v = bufferization.materialize_in_destination %y in %e : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %w = bufferization.materialize_in_destination %x in %e : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    scf.yield %v, %w : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// What joins a result that is materialized, in branches around it or in a
// select, gets memory of its own if it may be the caller's; else not.
// CHECK-LABEL: func.func @joined
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<8xf32>
// CHECK: scf.if
// CHECK: materialize_in_destination
// CHECK: } else {
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK: scf.yield %[[COPY]]
// CHECK: scf.if
// CHECK: linalg.fill
// CHECK-NOT: alloc_tensor
// CHECK: %[[OTHER:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[OTHER]]
func.func @joined(%c: i1, %d: i1, %x: tensor<8xf32>, %z: f32) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %new = tensor.empty() : tensor<8xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    %i = scf.if %d -> (tensor<8xf32>) {
      %v = bufferization.materialize_in_destination %x in %e : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      scf.yield %v : tensor<8xf32>
    } else {
      %v = bufferization.materialize_in_destination %x in %e : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      scf.yield %v : tensor<8xf32>
    }
    scf.yield %i : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  %s = scf.if %d -> (tensor<8xf32>) {
    scf.yield %r : tensor<8xf32>
  } else {
    %f = linalg.fill ins(%z : f32) outs(%new : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %f : tensor<8xf32>
  }
  %t = arith.select %d, %s, %x : tensor<8xf32>
  return %t : tensor<8xf32>
}

// -----

// A fill that two branches and an op before them start from: each branch has one of
// its own, and fills it if it is taken.
// CHECK-LABEL: func @in_branches
// CHECK: linalg.fill
// CHECK-NEXT: linalg.add
// CHECK-NOT: linalg.fill
// CHECK: scf.if
// CHECK: tensor.empty
// CHECK: linalg.fill
// CHECK: linalg.mul
// CHECK: } else {
// CHECK: tensor.empty
// CHECK: linalg.fill
// CHECK: linalg.sub
func.func @in_branches(%c: i1, %x: tensor<8xf32>, %z: f32) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %a = linalg.add ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    %t = linalg.mul ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  } else {
    %t = linalg.sub ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  return %a, %r : tensor<8xf32>, tensor<8xf32>
}

// -----

// The one op that starts from a fill lies in a branch: the fill moves there.
// CHECK-LABEL: func @in_one_branch
// CHECK-NOT: linalg.fill
// CHECK: scf.if
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: linalg.mul
// CHECK-NOT: linalg.fill
// CHECK: return
func.func @in_one_branch(%c: i1, %x: tensor<8xf32>, %z: f32) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    %t = linalg.mul ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
