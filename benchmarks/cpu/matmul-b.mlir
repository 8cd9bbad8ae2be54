// C = A B; B is sparse, and the program finds out where.
func.func @f(%a: tensor<${M}x${K}x${T}>, %b: tensor<${K}x${N}x${T}>) -> tensor<${M}x${N}x${R}> {
  %s = pit.sparse %b rule(#pit.rule<axis = ${axis}, micro_tile = [${tile}]>) : tensor<${K}x${N}x${T}>
  %zero = arith.constant ${zero} : ${R}
  %e = tensor.empty() : tensor<${M}x${N}x${R}>
  %c = linalg.fill ins(%zero : ${R}) outs(%e : tensor<${M}x${N}x${R}>) -> tensor<${M}x${N}x${R}>
  %r = linalg.matmul ins(%a, %s : tensor<${M}x${K}x${T}>, tensor<${K}x${N}x${T}>)
         outs(%c : tensor<${M}x${N}x${R}>) -> tensor<${M}x${N}x${R}>
  return %r : tensor<${M}x${N}x${R}>
}
