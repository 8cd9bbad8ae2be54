// RUN: pit-opt %s -pit-sink-marks -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @branches
// CHECK: %[[R:.*]]:4 = scf.if
// CHECK: }
// CHECK: %[[A:.*]] = pit.sparse %[[R]]#0 : tensor<8xf32>
// CHECK: %[[B:.*]] = pit.sparse %[[R]]#1 background(1.000000e+00 : f32) : tensor<8xf32>
// CHECK: return %{{.*}}, %{{.*}}, %[[R]]#2, %[[R]]#3
func.func @branches(%x: tensor<8xf32>, %m: tensor<8xi1>, %p: i1) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %r:4 = scf.if %p -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %s = pit.sparse %x : tensor<8xf32>
    %t = pit.sparse %x mask(%m : tensor<8xi1>) background(1.0 : f32) : tensor<8xf32>
    scf.yield %s, %t, %s, %s : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  } else {
    %s = pit.sparse %x mask(%m : tensor<8xi1>) : tensor<8xf32>
    // Not marked, and background of something else.
    scf.yield %s, %ones, %x, %ones : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @loop
// CHECK: %[[R:.*]]:3 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %arg0, %[[C:.*]] = %{{.*}}) ->
// CHECK-DAG: %[[S:.*]] = pit.sparse %[[A]] : tensor<8xf32>
// CHECK-DAG: pit.sparse %[[C]] : tensor<8xf32>
// CHECK: linalg.exp ins(%[[S]] : tensor<8xf32>) outs(%[[B]] : tensor<8xf32>)
// CHECK: }
// CHECK-DAG: %[[T:.*]] = pit.sparse %[[R]]#0 : tensor<8xf32>
// CHECK-DAG: %[[U:.*]] = pit.sparse %[[R]]#2 : tensor<8xf32>
// CHECK: return %[[T]], %[[R]]#1, %[[U]]
func.func @loop(%x: tensor<8xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = pit.sparse %x : tensor<8xf32>
  // The second one does not start marked; the third is handed on as it is.
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %m, %b = %x, %c = %m) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %e = linalg.exp ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
    %s = pit.sparse %e : tensor<8xf32>
    scf.yield %s, %s, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @while
// CHECK: %[[R:.*]] = scf.while (%[[A:.*]] = %{{.*}})
// CHECK-NEXT: %[[S:.*]] = pit.sparse %[[A]]
// CHECK: scf.condition(%{{.*}}) %[[S]]
// CHECK: ^bb0(%[[B:.*]]: tensor<8xf32>):
// CHECK-NEXT: pit.sparse %[[B]]
// CHECK: %[[T:.*]] = pit.sparse %[[R]]
// CHECK: return %[[T]]
func.func @while(%x: tensor<8xf32>, %limit: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %m = pit.sparse %x : tensor<8xf32>
  %r = scf.while (%a = %m) : (tensor<8xf32>) -> tensor<8xf32> {
    %f = tensor.extract %a[%c0] : tensor<8xf32>
    %p = arith.cmpf olt, %f, %limit : f32
    scf.condition(%p) %a : tensor<8xf32>
  } do {
  ^bb0(%b: tensor<8xf32>):
    %e = linalg.exp ins(%b : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
    %s = pit.sparse %e : tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
