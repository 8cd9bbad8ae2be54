// C = A B, dense.
func.func @f(%a: tensor<8192x8192xf16>, %b: tensor<8192x8192xf16>) -> tensor<8192x8192xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<8192x8192xf16>
  %c = linalg.fill ins(%zero : f16) outs(%e : tensor<8192x8192xf16>) -> tensor<8192x8192xf16>
  %r = linalg.matmul ins(%a, %b : tensor<8192x8192xf16>, tensor<8192x8192xf16>)
         outs(%c : tensor<8192x8192xf16>) -> tensor<8192x8192xf16>
  return %r : tensor<8192x8192xf16>
}
