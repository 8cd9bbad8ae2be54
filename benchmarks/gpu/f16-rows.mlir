// C = A B, of the rows that the index lists; the others of C are 0.
func.func @f(%a: tensor<8192x8192xf16>, %b: tensor<8192x8192xf16>, %i: !pit.index<micro_tile = [1, *], axis = 0>) -> tensor<8192x8192xf16> {
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [1, *], axis = 0>) : tensor<8192x8192xf16>
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<8192x8192xf16>
  %c = linalg.fill ins(%zero : f16) outs(%e : tensor<8192x8192xf16>) -> tensor<8192x8192xf16>
  %r = linalg.matmul ins(%s, %b : tensor<8192x8192xf16>, tensor<8192x8192xf16>)
         outs(%c : tensor<8192x8192xf16>) -> tensor<8192x8192xf16>
  return %r : tensor<8192x8192xf16>
}
