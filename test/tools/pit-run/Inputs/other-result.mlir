func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}
