// MLIR's passes would end the process on these.

// RUN: pit-opt %s -split-input-file -verify-diagnostics -pit-run-schedule
// RUN: pit-opt %s -split-input-file -verify-diagnostics -pit-to-cpu
// RUN: pit-opt %s -split-input-file -verify-diagnostics -pit-to-cuda=chip=sm_90a

module attributes {transform.with_named_sequence} {
  func.func @softmax(%a: tensor<8xi32>, %e: tensor<8xi32>) -> tensor<8xi32> {
    // expected-error @+1 {{'linalg.softmax' op is computed with floats only, not with 'i32' [U1]; cast the elements to a float type}}
    %y = linalg.softmax dimension(0) ins(%a : tensor<8xi32>) outs(%e : tensor<8xi32>) -> tensor<8xi32>
    return %y : tensor<8xi32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %m = transform.structured.match ops{["linalg.softmax"]} in %root : (!transform.any_op) -> !transform.any_op
    %x = transform.structured.decompose_interface %m : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @empty(%a: tensor<8x0xf32>, %e: tensor<8x0xf32>) -> tensor<8x0xf32> {
    // expected-error @+1 {{'linalg.exp' op iterates 0 times along d1, so MLIR cannot tile it [U3]; make the extent dynamic, or leave the op out of the schedule}}
    %y = linalg.exp ins(%a : tensor<8x0xf32>) outs(%e : tensor<8x0xf32>) -> tensor<8x0xf32>
    return %y : tensor<8x0xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %m = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %loop = transform.structured.tile_using_forall %m num_threads [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A schedule that tiles nothing takes it.
module attributes {transform.with_named_sequence} {
  func.func @taken(%a: tensor<8x0xf32>, %e: tensor<8x0xf32>) -> tensor<8x0xf32> {
    %y = linalg.exp ins(%a : tensor<8x0xf32>) outs(%e : tensor<8x0xf32>) -> tensor<8x0xf32>
    return %y : tensor<8x0xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %g = transform.apply_registered_pass "pit-lower-marks" to %f : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
