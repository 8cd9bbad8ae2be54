// RUN: pit-opt %s -transform-interpreter -split-input-file -verify-diagnostics -o /dev/null

func.func @rule(%x: tensor<96x128xf32>, %w: tensor<128x64xf32>, %o: tensor<96x64xf32>) -> tensor<96x64xf32> {
  %s = pit.sparse %x : tensor<96x128xf32>
  // expected-note @below {{the op}}
  %y = linalg.matmul ins(%s, %w : tensor<96x128xf32>, tensor<128x64xf32>) outs(%o : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %y : tensor<96x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{linalg.matmul is not planned: the rule is for 3 dims, its operand 0 has 2}}
    transform.pit.plan %op rule(<axis = 2>) : !transform.any_op
    transform.yield
  }
}

// -----

func.func @other_operand(%x: tensor<96x128xf32>, %w: tensor<128x64xf32>, %o: tensor<96x64xf32>) -> tensor<96x64xf32> {
  %s = pit.sparse %x : tensor<96x128xf32>
  // expected-note @below {{the op}}
  %y = linalg.matmul ins(%s, %w : tensor<96x128xf32>, tensor<128x64xf32>) outs(%o : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %y : tensor<96x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{linalg.matmul is not planned: operand 1 is not marked [M1]}}
    transform.pit.plan %op rule(<operand = 1, axis = 0>) : !transform.any_op
    transform.yield
  }
}

// -----

func.func @illegal(%x: tensor<96x128xf32>, %o: tensor<96xf32>) -> tensor<96xf32> {
  %s = pit.sparse %x : tensor<96x128xf32>
  // expected-note @below {{the op}}
  %y = linalg.reduce ins(%s : tensor<96x128xf32>) outs(%o : tensor<96xf32>) dimensions = [1] (%a: f32, %b: f32) {
    %m = arith.maximumf %a, %b : f32
    linalg.yield %m : f32
  }
  return %y : tensor<96xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.reduce"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{skipping operand 0 is not legal [S3]}}
    transform.pit.plan %op rule(<axis = 1>) : !transform.any_op
    transform.yield
  }
}

// -----

func.func @unmarked(%x: tensor<96x128xf32>, %w: tensor<128x64xf32>, %o: tensor<96x64xf32>) -> tensor<96x64xf32> {
  // expected-note @below {{the op}}
  %y = linalg.matmul ins(%x, %w : tensor<96x128xf32>, tensor<128x64xf32>) outs(%o : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %y : tensor<96x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{linalg.matmul is not planned: no operand is marked [M1]}}
    transform.pit.plan %op : !transform.any_op
    transform.yield
  }
}

// -----

func.func @infer(%x: tensor<96x128xf32>, %o: tensor<96x128xf32>) -> tensor<96x128xf32> {
  %s = pit.sparse %x background(1.0 : f32) : tensor<96x128xf32>
  // expected-note @below {{the op}}
  %y = linalg.max ins(%s, %o : tensor<96x128xf32>, tensor<96x128xf32>) outs(%o : tensor<96x128xf32>) -> tensor<96x128xf32>
  return %y : tensor<96x128xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.max"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{linalg.max cannot be packed: skipping operand 0 is not legal [S3]}}
    %dims = transform.pit.infer %op : (!transform.any_op) -> !transform.param<i64>
    transform.yield
  }
}

// -----

func.func @operand(%x: tensor<96x128xf32>, %o: tensor<96x128xf32>) -> tensor<96x128xf32> {
  %y = linalg.exp ins(%x : tensor<96x128xf32>) outs(%o : tensor<96x128xf32>) -> tensor<96x128xf32>
  return %y : tensor<96x128xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{there is no operand 2: linalg.exp has 2}}
    %dims = transform.pit.infer %op operand(2) : (!transform.any_op) -> !transform.param<i64>
    transform.yield
  }
}

// -----

func.func @not_planned(%x: tensor<96x128xf32>, %o: tensor<96x128xf32>) -> tensor<96x128xf32> {
  // expected-note @below {{the op}}
  %y = linalg.exp ins(%x : tensor<96x128xf32>) outs(%o : tensor<96x128xf32>) -> tensor<96x128xf32>
  return %y : tensor<96x128xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{linalg.exp is not tiled: it has no pit.rule}}
    %loops = transform.pit.tile %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

func.func @no_linalg(%x: tensor<96x128xf32>) -> tensor<96x128xf32> {
  // expected-note @below {{the op}}
  %s = pit.sparse %x : tensor<96x128xf32>
  return %s : tensor<96x128xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["pit.sparse"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{pit.sparse cannot be looked at: it is no structured linalg op}}
    %loops = transform.pit.tile %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

func.func @no_epilogue(%x: tensor<96x128xf32>, %w: tensor<128x64xf32>, %o: tensor<96x64xf32>) -> tensor<96x64xf32> {
  %s = pit.sparse %x : tensor<96x128xf32>
  // expected-note @below {{the op}}
  %y = linalg.matmul ins(%s, %w : tensor<96x128xf32>, tensor<128x64xf32>) outs(%o : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %y : tensor<96x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.pit.plan %op : !transform.any_op
    %loops = transform.pit.tile %op : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{pit.forall has no epilogue: no element-wise op after it fulfils E1 to E5 of docs/Legality.md}}
    transform.pit.fuse %loops : !transform.any_op
    transform.yield
  }
}
