// C = A B^T: B is stored as torch.nn.Linear has its weights.
func.func @f(%a: tensor<${M}x${K}x${T}>, %b: tensor<${N}x${K}x${T}>) -> tensor<${M}x${N}x${R}> {
  %zero = arith.constant ${zero} : ${R}
  %e = tensor.empty() : tensor<${M}x${N}x${R}>
  %c = linalg.fill ins(%zero : ${R}) outs(%e : tensor<${M}x${N}x${R}>) -> tensor<${M}x${N}x${R}>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                      affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %b : tensor<${M}x${K}x${T}>, tensor<${N}x${K}x${T}>)
         outs(%c : tensor<${M}x${N}x${R}>) -> tensor<${M}x${N}x${R}>
  return %r : tensor<${M}x${N}x${R}>
}
