// C = A B, of the rows that the index lists, as loops over tiles: the others of C
// stay what they were in the caller's memory.
!rows = !pit.index<micro_tile = [1, *], axis = 0>
func.func @f(%a: tensor<${M}x${K}x${T}>, %b: tensor<${K}x${N}x${T}>, %i: !rows) -> tensor<${M}x${N}x${T}> {
  %c0 = arith.constant 0 : index
  %columns = arith.constant ${N} : index
  %depth = arith.constant ${K} : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<${M}x${N}x${T}>
  %r = pit.forall (%n) = (%c0) to (%columns) step (256), %ids at %pos in %i : !rows chunk 128
         iter_args(%c = %e) -> (tensor<${M}x${N}x${T}>) {
    %t = tensor.empty() : tensor<128x256xf32>
    %acc0 = linalg.fill ins(%zero : f32) outs(%t : tensor<128x256xf32>) -> tensor<128x256xf32>
    %sum = pit.for (%k) = (%c0) to (%depth) step (64) iter_args(%acc = %acc0) -> (tensor<128x256xf32>) {
      %at = pit.sread %a[%ids : !pit.ids<128>, %k] pad(0.0 : ${T}) : tensor<${M}x${K}x${T}> -> tensor<128x64x${T}>
      %bt = pit.sread %b[%k, %n] pad(0.0 : ${T}) : tensor<${K}x${N}x${T}> -> tensor<64x256x${T}>
      %p = linalg.matmul ins(%at, %bt : tensor<128x64x${T}>, tensor<64x256x${T}>)
             outs(%acc : tensor<128x256xf32>) -> tensor<128x256xf32>
      pit.yield %p : tensor<128x256xf32>
    }
    %w = pit.swrite %sum into %c[%ids : !pit.ids<128>, %n] : tensor<128x256xf32> into tensor<${M}x${N}x${T}>
    pit.yield %w : tensor<${M}x${N}x${T}>
  }
  return %r : tensor<${M}x${N}x${T}>
}
