func.func @add(%a: tensor<?xf32>, %b: tensor<?xf64>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}
