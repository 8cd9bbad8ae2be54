// C = A B; B is stored [k, n], or [n, k], as torch.nn.Linear has its weights.
func.func @f(%a: tensor<${M}x${K}x${T}>, %b: tensor<${B_SHAPE}x${T}>) -> tensor<${M}x${N}x${R}> {
  %zero = arith.constant ${zero} : ${R}
  %e = tensor.empty() : tensor<${M}x${N}x${R}>
  %c = linalg.fill ins(%zero : ${R}) outs(%e : tensor<${M}x${N}x${R}>) -> tensor<${M}x${N}x${R}>
  %r = linalg.matmul ${B_MAPS} ins(%a, %b : tensor<${M}x${K}x${T}>, tensor<${B_SHAPE}x${T}>)
         outs(%c : tensor<${M}x${N}x${R}>) -> tensor<${M}x${N}x${R}>
  return %r : tensor<${M}x${N}x${R}>
}
