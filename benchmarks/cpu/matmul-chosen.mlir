// C = A B; A is sparse, and each call finds out by which rule, or whether at all.
func.func @f(%a: tensor<${M}x${K}x${T}>, %b: tensor<${K}x${N}x${T}>) -> tensor<${M}x${N}x${R}> {
  %s = pit.sparse %a : tensor<${M}x${K}x${T}>
  %zero = arith.constant ${zero} : ${R}
  %e = tensor.empty() : tensor<${M}x${N}x${R}>
  %c = linalg.fill ins(%zero : ${R}) outs(%e : tensor<${M}x${N}x${R}>) -> tensor<${M}x${N}x${R}>
  %r = linalg.matmul ins(%s, %b : tensor<${M}x${K}x${T}>, tensor<${K}x${N}x${T}>)
         outs(%c : tensor<${M}x${N}x${R}>) -> tensor<${M}x${N}x${R}>
  return %r : tensor<${M}x${N}x${R}>
}
