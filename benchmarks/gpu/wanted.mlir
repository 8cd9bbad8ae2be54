// C = A B, where the mask says, as scores of sparse attention; elsewhere C is 0.
func.func @f(%a: tensor<${M}x${K}x${T}>, %b: tensor<${B_SHAPE}x${T}>, %mask: tensor<${M}x${N}xi1>) -> tensor<${M}x${N}x${T}> {
  %zero = arith.constant 0.0 : ${T}
  %e = tensor.empty() : tensor<${M}x${N}x${T}>
  %c = linalg.fill ins(%zero : ${T}) outs(%e : tensor<${M}x${N}x${T}>) -> tensor<${M}x${N}x${T}>
  %r = linalg.matmul ${B_MAPS} ins(%a, %b : tensor<${M}x${K}x${T}>, tensor<${B_SHAPE}x${T}>)
         outs(%c : tensor<${M}x${N}x${T}>) -> tensor<${M}x${N}x${T}>
  %w = pit.sparse %r mask(%mask : tensor<${M}x${N}xi1>) rule(#pit.rule<axis = ${axis}, micro_tile = ${micro_tile}>) : tensor<${M}x${N}x${T}>
  return %w : tensor<${M}x${N}x${T}>
}
