// C = A B where the mask wants it, 0 elsewhere.
func.func @f(%a: tensor<${M}x${K}x${T}>, %b: tensor<${K}x${N}x${T}>, %mask: tensor<${M}x${N}xi8>)
    -> tensor<${M}x${N}x${R}> {
  %zero = arith.constant ${zero} : ${R}
  %e = tensor.empty() : tensor<${M}x${N}x${R}>
  %c = linalg.fill ins(%zero : ${R}) outs(%e : tensor<${M}x${N}x${R}>) -> tensor<${M}x${N}x${R}>
  %r = linalg.matmul ins(%a, %b : tensor<${M}x${K}x${T}>, tensor<${K}x${N}x${T}>)
         outs(%c : tensor<${M}x${N}x${R}>) -> tensor<${M}x${N}x${R}>
  %s = pit.sparse %r mask(%mask : tensor<${M}x${N}xi8>)
         rule(#pit.rule<axis = ${axis}, micro_tile = [${tile}]>) : tensor<${M}x${N}x${R}>
  return %s : tensor<${M}x${N}x${R}>
}
