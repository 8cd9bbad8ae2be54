// C[t, n] = sum over e and k of r[t, e] A[t, k] B[e, k, n]: each token goes to the
// experts that it is assigned to.
func.func @f(%r: tensor<${M}x${E}x${T}>, %a: tensor<${M}x${K}x${T}>, %b: tensor<${E}x${K}x${N}x${T}>,
             %to: tensor<${M}x${top}xi32>) -> tensor<${M}x${N}x${T}> {
  %s = pit.sparse %r routing(%to : tensor<${M}x${top}xi32>) : tensor<${M}x${E}x${T}>
  %zero = arith.constant 0.0 : ${T}
  %empty = tensor.empty() : tensor<${M}x${N}x${T}>
  %c = linalg.fill ins(%zero : ${T}) outs(%empty : tensor<${M}x${N}x${T}>) -> tensor<${M}x${N}x${T}>
  %h = linalg.generic {
         indexing_maps = [affine_map<(t, e, k, n) -> (t, e)>, affine_map<(t, e, k, n) -> (t, k)>,
                          affine_map<(t, e, k, n) -> (e, k, n)>, affine_map<(t, e, k, n) -> (t, n)>],
         iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
         ins(%s, %a, %b : tensor<${M}x${E}x${T}>, tensor<${M}x${K}x${T}>, tensor<${E}x${K}x${N}x${T}>)
         outs(%c : tensor<${M}x${N}x${T}>) {
  ^bb0(%g: ${T}, %x: ${T}, %y: ${T}, %o: ${T}):
    %p = arith.mulf %x, %y : ${T}
    %q = arith.mulf %g, %p : ${T}
    %t = arith.addf %o, %q : ${T}
    linalg.yield %t : ${T}
  } -> tensor<${M}x${N}x${T}>
  return %h : tensor<${M}x${N}x${T}>
}
