// Why a contraction in a kernel forms no mainloop.

// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-form-mainloops{explain}))' --verify-diagnostics

func.func @large(%a: memref<512x64xf16>, %b: memref<64x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x64xf16> to tensor<512x64xf16>
  %bt = bufferization.to_tensor %b restrict : memref<64x512xf16> to tensor<64x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i, %j) = (%c0, %c0) to (%c512, %c512) step (512, 256) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<512x256xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %x = pit.sread %at[%i, %c0] pad(0.0 : f16) : tensor<512x64xf16> -> tensor<512x64xf16>
    %y = pit.sread %bt[%c0, %j] pad(0.0 : f16) : tensor<64x512xf16> -> tensor<64x256xf16>
    // expected-remark @+1 {{linalg.matmul forms no mainloop: a tile of 512 x 256 has more accumulators than 8 warps hold}}
    %s = linalg.matmul ins(%x, %y : tensor<512x64xf16>, tensor<64x256xf16>)
           outs(%start : tensor<512x256xf32>) -> tensor<512x256xf32>
    %w = pit.swrite %s into %o[%i, %j] : tensor<512x256xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// -----

func.func @beside(%a: memref<512x64xf16>, %b: memref<64x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x64xf16> to tensor<512x64xf16>
  %bt = bufferization.to_tensor %b restrict : memref<64x512xf16> to tensor<64x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i, %j) = (%c0, %c0) to (%c512, %c512) step (64, 64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %x = pit.sread %at[%i, %c0] pad(0.0 : f16) : tensor<512x64xf16> -> tensor<64x64xf16>
    %y = pit.sread %bt[%c0, %j] pad(0.0 : f16) : tensor<64x512xf16> -> tensor<64x64xf16>
    // expected-remark @+1 {{linalg.matmul forms no mainloop: its first values or its epilogue are no scalar code on elements that are read}}
    %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>)
           outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
    %other = tensor.empty() : tensor<64x64xf32>
    %turned = linalg.transpose ins(%s : tensor<64x64xf32>) outs(%other : tensor<64x64xf32>) permutation = [1, 0]
    %w = pit.swrite %turned into %o[%j, %i] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// -----

// A scale of a step may change along rows or along columns.

func.func @scale_of_both(%a: memref<512x4x64xf16>, %b: memref<512x4x64xf16>, %s: memref<512x512x4xf32>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x4x64xf16> to tensor<512x4x64xf16>
  %bt = bufferization.to_tensor %b restrict : memref<512x4x64xf16> to tensor<512x4x64xf16>
  %st = bufferization.to_tensor %s restrict : memref<512x512x4xf32> to tensor<512x512x4xf32>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i, %j) = (%c0, %c0) to (%c512, %c512) step (64, 64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%c) = (%c0) to (%c4) step (1) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %c, %c0] pad(0.0 : f16) : tensor<512x4x64xf16> -> tensor<64x1x64xf16>
      %y = pit.sread %bt[%j, %c, %c0] pad(0.0 : f16) : tensor<512x4x64xf16> -> tensor<64x1x64xf16>
      %u = pit.sread %st[%i, %j, %c] pad(0.0 : f32) : tensor<512x512x4xf32> -> tensor<64x64x1xf32>
      // expected-remark @+1 {{linalg.generic forms no mainloop: scale 0 changes along m and along n}}
      %z = linalg.generic {indexing_maps = [affine_map<(m, n, c, k) -> (m, c, k)>, affine_map<(m, n, c, k) -> (n, c, k)>,
                                            affine_map<(m, n, c, k) -> (m, n, c)>, affine_map<(m, n, c, k) -> (m, n)>],
                           iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%x, %y, %u : tensor<64x1x64xf16>, tensor<64x1x64xf16>, tensor<64x64x1xf32>)
          outs(%acc : tensor<64x64xf32>) {
      ^bb0(%p: f16, %q: f16, %g: f32, %h: f32):
        %0 = arith.extf %p : f16 to f32
        %1 = arith.extf %q : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.mulf %2, %g : f32
        %4 = arith.addf %h, %3 : f32
        linalg.yield %4 : f32
      } -> tensor<64x64xf32>
      pit.yield %z : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %j] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}
