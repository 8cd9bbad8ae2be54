// RUN: pit-opt %s -pit-drop-signs | FileCheck %s
// RUN: pit-opt %s -pit-drop-signs | pit-opt -pit-drop-signs | FileCheck %s
// RUN: pit-opt %s -pit-to-cpu -o /dev/null

// No value has a type that says whether it has a sign; callers still see it.
// CHECK-LABEL: func.func @entry
// CHECK-SAME: %[[A:.*]]: tensor<4xi8> {pit.element = ui8}, %[[N:.*]]: i32 {pit.element = ui32}
// CHECK-SAME: -> (tensor<4xi8> {pit.element = ui8}, tensor<4xf32>, i32 {pit.element = ui32})
func.func @entry(%a: tensor<4xui8>, %n: ui32) -> (tensor<4xui8>, tensor<4xf32>, ui32) {
  // CHECK-NOT: unrealized
  // CHECK: linalg.map { arith.uitofp } ins(%[[A]] : tensor<4xi8>)
  %0 = builtin.unrealized_conversion_cast %a : tensor<4xui8> to tensor<4xi8>
  %empty = tensor.empty() : tensor<4xf32>
  %1 = linalg.map { arith.uitofp } ins(%0 : tensor<4xi8>) outs(%empty : tensor<4xf32>)
  // CHECK: arith.constant dense<-56> : tensor<4xi8>
  %c = arith.constant dense<200> : tensor<4xui8>
  // CHECK: %[[SUM:.*]] = call @add
  // CHECK: return %[[SUM]], %{{.*}}, %[[N]] : tensor<4xi8>, tensor<4xf32>, i32
  %2 = call @add(%a, %c) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %2, %1, %n : tensor<4xui8>, tensor<4xf32>, ui32
}

// CHECK: func.func private @add(%{{.*}}: tensor<4xi8>, %{{.*}}: tensor<4xi8>) -> tensor<4xi8>
func.func private @add(%a: tensor<4xui8>, %b: tensor<4xui8>) -> tensor<4xui8> {
  %0:2 = builtin.unrealized_conversion_cast %a, %b
      : tensor<4xui8>, tensor<4xui8> to tensor<4xi8>, tensor<4xi8>
  %1 = linalg.add ins(%0#0, %0#1 : tensor<4xi8>, tensor<4xi8>) outs(%0#0 : tensor<4xi8>)
      -> tensor<4xi8>
  %2 = builtin.unrealized_conversion_cast %1 : tensor<4xi8> to tensor<4xui8>
  return %2 : tensor<4xui8>
}
