// C[t] = r[t, e] A[t] B[e] for the expert e that the index has of token t, as loops
// over tiles: a token has one expert, so that no two of them write the same row.
!routing = !pit.index<micro_tile = [1, 1], axis = 0>
func.func @f(%r: tensor<${M}x${E}x${T}>, %a: tensor<${M}x${K}x${T}>, %b: tensor<${E}x${K}x${N}x${T}>,
             %i: !routing) -> tensor<${M}x${N}x${T}> {
  %c0 = arith.constant 0 : index
  %experts = arith.constant ${E} : index
  %columns = arith.constant ${N} : index
  %depth = arith.constant ${K} : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<${M}x${N}x${T}>
  %h = pit.forall (%n, %e) = (%c0, %c0) to (%columns, %experts) step (256, 1)
         iter_args(%c = %empty) -> (tensor<${M}x${N}x${T}>) {
    %rows = pit.for %ids at %pos in %i[%e] : !routing chunk 128 iter_args(%d = %c) -> (tensor<${M}x${N}x${T}>) {
      %t = tensor.empty() : tensor<128x256xf32>
      %acc0 = linalg.fill ins(%zero : f32) outs(%t : tensor<128x256xf32>) -> tensor<128x256xf32>
      %sum = pit.for (%k) = (%c0) to (%depth) step (64) iter_args(%acc = %acc0) -> (tensor<128x256xf32>) {
        %at = pit.sread %a[%ids : !pit.ids<128>, %k] pad(0.0 : ${T}) : tensor<${M}x${K}x${T}> -> tensor<128x64x${T}>
        %bt = pit.sread %b[%e, %k, %n] pad(0.0 : ${T}) : tensor<${E}x${K}x${N}x${T}> -> tensor<1x64x256x${T}>
        %p = linalg.generic {
               indexing_maps = [affine_map<(t, e, k, n) -> (t, k)>, affine_map<(t, e, k, n) -> (e, k, n)>,
                                affine_map<(t, e, k, n) -> (t, n)>],
               iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
               ins(%at, %bt : tensor<128x64x${T}>, tensor<1x64x256x${T}>) outs(%acc : tensor<128x256xf32>) {
        ^bb0(%x: ${T}, %y: ${T}, %o: f32):
          %xf = arith.extf %x : ${T} to f32
          %yf = arith.extf %y : ${T} to f32
          %m = arith.mulf %xf, %yf : f32
          %s = arith.addf %o, %m : f32
          linalg.yield %s : f32
        } -> tensor<128x256xf32>
        pit.yield %p : tensor<128x256xf32>
      }
      %rt = pit.sread %r[%ids : !pit.ids<128>, %e] pad(0.0 : ${T}) : tensor<${M}x${E}x${T}> -> tensor<128x1x${T}>
      %scaled = linalg.generic {
             indexing_maps = [affine_map<(t, n) -> (t, 0)>, affine_map<(t, n) -> (t, n)>, affine_map<(t, n) -> (t, n)>],
             iterator_types = ["parallel", "parallel"]}
             ins(%rt, %sum : tensor<128x1x${T}>, tensor<128x256xf32>) outs(%t : tensor<128x256xf32>) {
      ^bb0(%g: ${T}, %x: f32, %o: f32):
        %gf = arith.extf %g : ${T} to f32
        %m = arith.mulf %x, %gf : f32
        linalg.yield %m : f32
      } -> tensor<128x256xf32>
      %w = pit.swrite %scaled into %d[%ids : !pit.ids<128>, %n] : tensor<128x256xf32> into tensor<${M}x${N}x${T}>
      pit.yield %w : tensor<${M}x${N}x${T}>
    }
    pit.yield %rows : tensor<${M}x${N}x${T}>
  }
  return %h : tensor<${M}x${N}x${T}>
}
