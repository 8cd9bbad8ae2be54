// RUN: pit-opt %s -pit-run-schedule -split-input-file -verify-diagnostics | FileCheck %s
// RUN: pit-opt %s -pit-to-cpu -split-input-file -o /dev/null

// The schedule tiles what it matches, and is gone then.
// CHECK: module {
// CHECK-NOT: transform.
// CHECK-LABEL: func.func @mm
// CHECK: pit.forall
// CHECK: linalg.matmul
// CHECK-NOT: transform.
module attributes {transform.with_named_sequence} {
  func.func @mm(%a: tensor<128x128xf32>, %b: tensor<128x128xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
    %s = pit.sparse %a : tensor<128x128xf32>
    %r = linalg.matmul ins(%s, %b : tensor<128x128xf32>, tensor<128x128xf32>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
    return %r : tensor<128x128xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %g = transform.apply_registered_pass "pit-plan" to %f : (!transform.any_op) -> !transform.any_op
    %h = transform.apply_registered_pass "pit-tile" to %g : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// What nothing calls is not run.
// CHECK: module {
// CHECK-NOT: transform.
// CHECK-LABEL: func.func @library
// CHECK-NEXT: pit.sparse
module {
  module @schedules attributes {transform.with_named_sequence} {
    // expected-remark @below {{transform.named_sequence is removed: the module has no transform.named_sequence @__transform_main, which alone is run}}
    transform.named_sequence @lower(%root: !transform.any_op) {
      %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
      %g = transform.apply_registered_pass "pit-lower-marks" to %f : (!transform.any_op) -> !transform.any_op
      transform.yield
    }
  }
  func.func @library(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %s = pit.sparse %a : tensor<8x8xf32>
    return %s : tensor<8x8xf32>
  }
}

// -----

// Without a schedule nothing happens.
// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: return
func.func @nothing(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}
