// C[b] = A[b] B[b]; A is sparse, and the program finds out where.
func.func @f(%a: tensor<${batch}x${M}x${K}x${T}>, %b: tensor<${batch}x${K}x${N}x${T}>)
    -> tensor<${batch}x${M}x${N}x${R}> {
  %s = pit.sparse %a rule(#pit.rule<axis = ${axis}, micro_tile = [${tile}]>) : tensor<${batch}x${M}x${K}x${T}>
  %zero = arith.constant ${zero} : ${R}
  %e = tensor.empty() : tensor<${batch}x${M}x${N}x${R}>
  %c = linalg.fill ins(%zero : ${R}) outs(%e : tensor<${batch}x${M}x${N}x${R}>) -> tensor<${batch}x${M}x${N}x${R}>
  %r = linalg.batch_matmul ins(%s, %b : tensor<${batch}x${M}x${K}x${T}>, tensor<${batch}x${K}x${N}x${T}>)
         outs(%c : tensor<${batch}x${M}x${N}x${R}>) -> tensor<${batch}x${M}x${N}x${R}>
  return %r : tensor<${batch}x${M}x${N}x${R}>
}
