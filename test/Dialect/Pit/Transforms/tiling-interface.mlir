// RUN: pit-opt %s -transform-interpreter -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @values
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x64xf32>
// CHECK: scf.for %[[I:[^ ]*]] = {{.*}} iter_args(%[[O:.*]] = %{{.*}}) -> (tensor<?x64xf32>)
// CHECK: %[[N:.*]] = affine.min
// CHECK: %[[T:.*]] = tensor.extract_slice %[[X]][%[[I]], 0] [%[[N]], 64] [1, 1]
// CHECK: %[[S:.*]] = pit.sparse %[[T]] background(1.000000e+00 : f32) rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x64xf32>
// CHECK: tensor.insert_slice %[[S]] into %[[O]][%[[I]], 0] [%[[N]], 64] [1, 1]
func.func @values(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %s = pit.sparse %x background(1.0 : f32) rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %mark = transform.structured.match ops{["pit.sparse"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %mark tile_sizes [32, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A mark is fused into the loop of its user.
// CHECK-LABEL: func.func @mask
// CHECK-SAME: (%[[X:[^:]*]]: tensor<128x64xf32>, %[[M:[^:]*]]: tensor<128x64xi1>
// CHECK: scf.for %[[I:[^ ]*]] = {{.*}}
// CHECK: scf.for %[[J:[^ ]*]] = {{.*}}
// CHECK-DAG: %[[T:.*]] = tensor.extract_slice %[[X]][%[[I]], %[[J]]] [32, 16] [1, 1]
// CHECK-DAG: %[[U:.*]] = tensor.extract_slice %[[M]][%[[I]], %[[J]]] [32, 16] [1, 1]
// CHECK: %[[S:.*]] = pit.sparse %[[T]] mask(%[[U]] : tensor<32x16xi1>) assume : tensor<32x16xf32>
// CHECK: linalg.exp ins(%[[S]] : tensor<32x16xf32>)
func.func @mask(%x: tensor<128x64xf32>, %m: tensor<128x64xi1>, %o: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %s = pit.sparse %x mask(%m : tensor<128x64xi1>) assume : tensor<128x64xf32>
  %e = linalg.exp ins(%s : tensor<128x64xf32>) outs(%o : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %e : tensor<128x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %exp = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.fuse %exp tile_sizes [32, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Rows have the lengths and the routings of their own.
// CHECK-LABEL: func.func @rows
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK-DAG: %[[T:.*]] = tensor.extract_slice %arg0[%[[I]], 0]
// CHECK-DAG: %[[U:.*]] = tensor.extract_slice %arg1[%[[I]]] [%{{.*}}] [1] : tensor<?xi32> to tensor<?xi32>
// CHECK: pit.sparse %[[T]] lengths(%[[U]] : tensor<?xi32>) label("l") : tensor<?x?xf32>
// CHECK: scf.for %[[J:[^ ]*]] =
// CHECK-DAG: %[[V:.*]] = tensor.extract_slice %arg0[%[[J]], 0]
// CHECK-DAG: %[[W:.*]] = tensor.extract_slice %arg2[%[[J]], 0] [%{{.*}}, 2] [1, 1] : tensor<?x2xi32> to tensor<?x2xi32>
// CHECK: pit.sparse %[[V]] routing(%[[W]] : tensor<?x2xi32>) : tensor<?x?xf32>
func.func @rows(%x: tensor<?x?xf32>, %l: tensor<?xi32>, %a: tensor<?x2xi32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %s = pit.sparse %x lengths(%l : tensor<?xi32>) label("l") : tensor<?x?xf32>
  %t = pit.sparse %x routing(%a : tensor<?x2xi32>) : tensor<?x?xf32>
  return %s, %t : tensor<?x?xf32>, tensor<?x?xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %mark = transform.structured.match ops{["pit.sparse"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %mark tile_sizes [32, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Of columns they say nothing. (The errors are upstream's.)
func.func @columns(%x: tensor<?x64xf32>, %l: tensor<?xi32>) -> tensor<?x64xf32> {
  // expected-remark @+3 {{pit.sparse is not tiled: of what its lengths select a tile is no slice}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %s = pit.sparse %x lengths(%l : tensor<?xi32>) : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %mark = transform.structured.match ops{["pit.sparse"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %mark tile_sizes [0, 32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// A tile has an index of its own, of values that have the selection in them.
// CHECK-LABEL: func.func @index
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK: %[[T:.*]] = tensor.extract_slice %arg0[%[[I]], 0]
// CHECK: pit.sparse %[[T]] : tensor<?x64xf32>
func.func @index(%x: tensor<?x64xf32>, %i: !rows) -> tensor<?x64xf32> {
  %s = pit.sparse %x index(%i : !rows) assume : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %mark = transform.structured.match ops{["pit.sparse"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %mark tile_sizes [32, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

