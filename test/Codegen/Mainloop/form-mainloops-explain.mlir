// Why a contraction in a kernel forms no mainloop.

// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-form-mainloops{explain}))' --verify-diagnostics

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
