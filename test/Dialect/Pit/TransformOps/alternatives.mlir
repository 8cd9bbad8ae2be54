// RUN: pit-opt %s -transform-interpreter -split-input-file | FileCheck %s

// What is not possible fails in a way that another way can be tried: no axis 2, then
// none whose micro-tile suits, then the rule is left to the planner.
// CHECK-LABEL: func.func @third
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, *],
func.func @third(%x: tensor<96x128xf32>, %w: tensor<128x64xf32>, %o: tensor<96x64xf32>) -> tensor<96x64xf32> {
  %s = pit.sparse %x : tensor<96x128xf32>
  %y = linalg.matmul ins(%s, %w : tensor<96x128xf32>, tensor<128x64xf32>) outs(%o : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %y : tensor<96x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.alternatives %func : !transform.any_op {
    ^bb0(%f: !transform.any_op):
      %op = transform.structured.match ops{["linalg.matmul"]} in %f : (!transform.any_op) -> !transform.any_op
      transform.pit.plan %op rule(<axis = 2>) : !transform.any_op
    }, {
    ^bb0(%f: !transform.any_op):
      %op = transform.structured.match ops{["linalg.matmul"]} in %f : (!transform.any_op) -> !transform.any_op
      transform.pit.plan %op rule(<operand = 1, axis = 0>) : !transform.any_op
    }, {
    ^bb0(%f: !transform.any_op):
      %op = transform.structured.match ops{["linalg.matmul"]} in %f : (!transform.any_op) -> !transform.any_op
      transform.pit.plan %op rule(<axis = 0, micro_tile = [1, *]>) : !transform.any_op
    }
    transform.yield
  }
}
