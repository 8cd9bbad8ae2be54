// RUN: pit-opt --pit-plan --split-input-file --verify-diagnostics %s

// Of two rules on one op only one can be carried out, and the other is not
// dropped silently.
func.func @two(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1>) : tensor<?x?xf32>
  // expected-error@+1 {{the rule cannot be carried out: linalg.matmul is tiled by the rule of its operand 0}}
  %t = pit.sparse %b rule(#pit.rule<axis = 0>) : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %t : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

func.func @unused(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-error@+1 {{the rule cannot be carried out: no linalg op on tensors uses the mark}}
  %s = pit.sparse %a rule(#pit.rule<axis = 1>) : tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}
