// C = A B, dense.
func.func @f(%a: tensor<8192x8192xi8>, %b: tensor<8192x8192xi8>) -> tensor<8192x8192xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8192x8192xi32>
  %c = linalg.fill ins(%zero : i32) outs(%e : tensor<8192x8192xi32>) -> tensor<8192x8192xi32>
  %r = linalg.matmul ins(%a, %b : tensor<8192x8192xi8>, tensor<8192x8192xi8>)
         outs(%c : tensor<8192x8192xi32>) -> tensor<8192x8192xi32>
  return %r : tensor<8192x8192xi32>
}
