// C = A^T B; for each ${MT} columns of A the index lists the rows of A and B that
// count.
!lists = !pit.index<micro_tile = [1, ${MT}], axis = 0>
func.func @f(%a: tensor<${K}x${M}x${T}>, %b: tensor<${K}x${N}x${T}>, %i: !lists) -> tensor<${M}x${N}x${T}> {
  %s = pit.sparse %a index(%i : !lists) : tensor<${K}x${M}x${T}>
  %zero = arith.constant 0.0 : ${T}
  %e = tensor.empty() : tensor<${M}x${N}x${T}>
  %c = linalg.fill ins(%zero : ${T}) outs(%e : tensor<${M}x${N}x${T}>) -> tensor<${M}x${N}x${T}>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                                      affine_map<(m, n, k) -> (m, n)>]
         ins(%s, %b : tensor<${K}x${M}x${T}>, tensor<${K}x${N}x${T}>)
         outs(%c : tensor<${M}x${N}x${T}>) -> tensor<${M}x${N}x${T}>
  return %r : tensor<${M}x${N}x${T}>
}
