// C = A B; whole micro-tiles of B are zero, and the program finds out which.
func.func @f(%a: tensor<${M}x${K}x${T}>, %b: tensor<${B_SHAPE}x${T}>) -> tensor<${M}x${N}x${T}> {
  %s = pit.sparse %b rule(#pit.rule<axis = ${axis}, micro_tile = ${micro_tile}>) : tensor<${B_SHAPE}x${T}>
  %zero = arith.constant 0.0 : ${T}
  %e = tensor.empty() : tensor<${M}x${N}x${T}>
  %c = linalg.fill ins(%zero : ${T}) outs(%e : tensor<${M}x${N}x${T}>) -> tensor<${M}x${N}x${T}>
  %r = linalg.matmul ${B_MAPS} ins(%a, %s : tensor<${M}x${K}x${T}>, tensor<${B_SHAPE}x${T}>)
         outs(%c : tensor<${M}x${N}x${T}>) -> tensor<${M}x${N}x${T}>
  return %r : tensor<${M}x${N}x${T}>
}
