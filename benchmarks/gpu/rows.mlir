// C = A B, of the rows that the index lists; the others of C are 0.
!rows = !pit.index<micro_tile = [1, *], axis = 0>
func.func @f(%a: tensor<${M}x${K}x${T}>, %b: tensor<${K}x${N}x${T}>, %i: !rows) -> tensor<${M}x${N}x${T}> {
  %s = pit.sparse %a index(%i : !rows) : tensor<${M}x${K}x${T}>
  %zero = arith.constant 0.0 : ${T}
  %e = tensor.empty() : tensor<${M}x${N}x${T}>
  %c = linalg.fill ins(%zero : ${T}) outs(%e : tensor<${M}x${N}x${T}>) -> tensor<${M}x${N}x${T}>
  %r = linalg.matmul ins(%s, %b : tensor<${M}x${K}x${T}>, tensor<${K}x${N}x${T}>)
         outs(%c : tensor<${M}x${N}x${T}>) -> tensor<${M}x${N}x${T}>
  return %r : tensor<${M}x${N}x${T}>
}
