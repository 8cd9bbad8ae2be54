// C = A B; 32 rows of a column of A are zero or not.
func.func @f(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<4096x4096xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%s, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>)
         outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
