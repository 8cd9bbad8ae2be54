// C = A B.
func.func @f(%a: tensor<${M}x${K}x${T}>, %b: tensor<${K}x${N}x${T}>) -> tensor<${M}x${N}x${R}> {
  %zero = arith.constant ${zero} : ${R}
  %e = tensor.empty() : tensor<${M}x${N}x${R}>
  %c = linalg.fill ins(%zero : ${R}) outs(%e : tensor<${M}x${N}x${R}>) -> tensor<${M}x${N}x${R}>
  %r = linalg.matmul ins(%a, %b : tensor<${M}x${K}x${T}>, tensor<${K}x${N}x${T}>)
         outs(%c : tensor<${M}x${N}x${R}>) -> tensor<${M}x${N}x${R}>
  return %r : tensor<${M}x${N}x${R}>
}
