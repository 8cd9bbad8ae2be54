// RUN: pit-opt %s -transform-interpreter -split-input-file -verify-diagnostics | FileCheck %s
// The scripts print and parse.
// RUN: pit-opt %s -split-input-file | pit-opt -split-input-file -o /dev/null

// Each step alone, from a mark to a tile.
// CHECK-LABEL: func.func @steps
// CHECK: %[[I:.*]] = pit.index %arg0 : tensor<96x128xf32> -> !pit.index<micro_tile = [4, 1], axis = 1>
// CHECK: pit.forall
// CHECK: pit.for {{.*}} in %[[I]]
// CHECK: linalg.matmul
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: pit.swrite
// CHECK-NOT: linalg.exp
// CHECK: return
func.func @steps(%x: tensor<96x128xf32>, %w: tensor<128x64xf32>) -> tensor<96x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
  %s = pit.sparse %x : tensor<96x128xf32>
  %y = linalg.matmul ins(%s, %w : tensor<96x128xf32>, tensor<128x64xf32>) outs(%z : tensor<96x64xf32>) -> tensor<96x64xf32>
  %r = linalg.exp ins(%y : tensor<96x64xf32>) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %r : tensor<96x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %func = transform.get_parent_op %op {op_name = "func.func"} : (!transform.any_op) -> !transform.any_op
    %dims = transform.pit.infer %op : (!transform.any_op) -> !transform.param<i64>
    // expected-remark @below {{along 0 : i64, 1 : i64}}
    transform.debug.emit_param_as_remark %dims, "along" : !transform.param<i64>
    transform.pit.plan %op rule(<axis = 1, micro_tile = [4, 1]>) machine("avx2") : !transform.any_op
    transform.pit.fold %func : !transform.any_op
    %loops = transform.pit.tile %op : (!transform.any_op) -> !transform.any_op
    transform.pit.fuse %loops : !transform.any_op
    transform.pit.lower %func : !transform.any_op
    transform.yield
  }
}

// -----

// Tiling alone leaves no mark that nobody uses.
// CHECK-LABEL: func.func @tiled
// CHECK-NOT: pit.sparse
// CHECK: return
func.func @tiled(%x: tensor<96x128xf32>, %w: tensor<128x64xf32>, %o: tensor<96x64xf32>) -> tensor<96x64xf32> {
  %s = pit.sparse %x : tensor<96x128xf32>
  %y = linalg.matmul ins(%s, %w : tensor<96x128xf32>, tensor<128x64xf32>) outs(%o : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %y : tensor<96x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.pit.plan %op rule(<axis = 1, micro_tile = [4, 1]>) machine("avx2") : !transform.any_op
    %loops = transform.pit.tile %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// Without a rule the best one is taken, and of an operand without a mark the zeros.
// CHECK-LABEL: func.func @chosen
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1],
func.func @chosen(%x: tensor<96x128xf32>, %w: tensor<128x64xf32>, %o: tensor<96x64xf32>) -> tensor<96x64xf32> {
  %s = pit.sparse %x : tensor<96x128xf32>
  %y = linalg.matmul ins(%s, %w : tensor<96x128xf32>, tensor<128x64xf32>) outs(%o : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %y : tensor<96x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %dims = transform.pit.infer %op operand(1) : (!transform.any_op) -> !transform.param<i64>
    // expected-remark @below {{along 0 : i64, 1 : i64}}
    transform.debug.emit_param_as_remark %dims, "along" : !transform.param<i64>
    transform.pit.plan %op : !transform.any_op
    transform.yield
  }
}
