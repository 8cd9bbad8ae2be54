// C = A B^T; whole micro-tiles of B are zero, and the program finds out which.
func.func @f(%a: tensor<${M}x${K}x${T}>, %b: tensor<${N}x${K}x${T}>) -> tensor<${M}x${N}x${T}> {
  %s = pit.sparse %b rule(#pit.rule<axis = ${axis}, micro_tile = ${micro_tile}>) : tensor<${N}x${K}x${T}>
  %zero = arith.constant 0.0 : ${T}
  %e = tensor.empty() : tensor<${M}x${N}x${T}>
  %c = linalg.fill ins(%zero : ${T}) outs(%e : tensor<${M}x${N}x${T}>) -> tensor<${M}x${N}x${T}>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                      affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %s : tensor<${M}x${K}x${T}>, tensor<${N}x${K}x${T}>)
         outs(%c : tensor<${M}x${N}x${T}>) -> tensor<${M}x${N}x${T}>
  return %r : tensor<${M}x${N}x${T}>
}
