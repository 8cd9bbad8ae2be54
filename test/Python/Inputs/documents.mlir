// What docs/Python.md calls.
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = arith.addf %a, %b : tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @g(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %s = arith.addf %a, %b : tensor<?x?xf32>
  %d = arith.subf %a, %b : tensor<?x?xf32>
  return %s, %d : tensor<?x?xf32>, tensor<?x?xf32>
}
