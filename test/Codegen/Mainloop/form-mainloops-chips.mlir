// A product becomes a mainloop whatever the chip is. Then each schedule of the chip is asked: what
// none takes is computed tile by tile, and the reasons have the numbers of both.

// RUN: pit-opt %s --pass-pipeline='builtin.module(builtin.module(func.func(pit-form-mainloops{chip=sm_90a explain},canonicalize)),pit-schedule-kernels{chip=sm_90a explain})' 2>&1 | FileCheck %s --implicit-check-not="forms no mainloop"
// RUN: pit-opt %s --pass-pipeline='builtin.module(builtin.module(func.func(pit-form-mainloops{chip=sm_80 explain},canonicalize)),pit-schedule-kernels{chip=sm_80 explain})' 2>&1 | FileCheck %s --check-prefix=OLD --implicit-check-not="forms no mainloop"

// CHECK: remark: kernel hopper has no portable schedule: a tile of 128 x 128 has more accumulators than 512 threads hold{{$}}
// CHECK: remark: kernel neither has no portable schedule: a tile of 64 x 512 has more accumulators than 512 threads hold{{$}}
// CHECK: remark: kernel neither computes tile by tile, as Hopper's schedule does not take it either: its 256 columns that one wgmma multiplies leave no registers to add the sums of each stage{{$}}
// CHECK: remark: kernel scale_of_both has no portable schedule: scale 0 changes along m and along n{{$}}
// CHECK: remark: kernel scale_of_both computes tile by tile, as Hopper's schedule does not take it either: scale 0 changes along m and along n{{$}}
// OLD: remark: kernel hopper has no portable schedule: a tile of 128 x 128 has more accumulators than 512 threads hold{{$}}
// OLD: remark: kernel neither has no portable schedule: a tile of 64 x 512 has more accumulators than 512 threads hold{{$}}
// OLD: remark: kernel scale_of_both has no portable schedule: scale 0 changes along m and along n{{$}}
// OLD: module @pit_kernels
// OLD-NOT: pit.mainloop

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

module {
module @pit_kernels attributes {pit.kernels} {
  // CHECK-LABEL: func.func @hopper(
  // CHECK: pit.forall
  // CHECK-NEXT: pit.mainloop
  func.func @hopper(%a: memref<128x512xf8E4M3FN>, %b: memref<128x512xf8E4M3FN>, %out: memref<512x512xf32>) {
    %c0 = arith.constant 0 : index
    %c512 = arith.constant 512 : index
    %zero = arith.constant 0.0 : f32
    %at = bufferization.to_tensor %a restrict : memref<128x512xf8E4M3FN> to tensor<128x512xf8E4M3FN>
    %bt = bufferization.to_tensor %b restrict : memref<128x512xf8E4M3FN> to tensor<128x512xf8E4M3FN>
    %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
    %r = pit.forall (%i, %j) = (%c0, %c0) to (%c512, %c512) step (128, 128) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
      %e = tensor.empty() : tensor<128x128xf32>
      %start = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
      %x = pit.sread %at[%c0, %i] : tensor<128x512xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
      %y = pit.sread %bt[%c0, %j] : tensor<128x512xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
      %s = linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
             ins(%x, %y : tensor<128x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>) outs(%start : tensor<128x128xf32>) {
      ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %acc: f32):
        %u = arith.extf %p : f8E4M3FN to f32
        %v = arith.extf %q : f8E4M3FN to f32
        %2 = arith.mulf %u, %v : f32
        %3 = arith.addf %acc, %2 : f32
        linalg.yield %3 : f32
      } -> tensor<128x128xf32>
      %w = pit.swrite %s into %o[%i, %j] : tensor<128x128xf32> into tensor<512x512xf32>
      pit.yield %w : tensor<512x512xf32>
    }
    bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
    return
  }

  // CHECK-LABEL: func.func @neither(
  // CHECK-NOT: pit.mainloop
  // CHECK: linalg.generic
  func.func @neither(%a: memref<128x512xf8E4M3FN>, %b: memref<128x512xf8E4M3FN>, %out: memref<512x512xf32>) {
    %c0 = arith.constant 0 : index
    %c512 = arith.constant 512 : index
    %zero = arith.constant 0.0 : f32
    %at = bufferization.to_tensor %a restrict : memref<128x512xf8E4M3FN> to tensor<128x512xf8E4M3FN>
    %bt = bufferization.to_tensor %b restrict : memref<128x512xf8E4M3FN> to tensor<128x512xf8E4M3FN>
    %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
    %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
      %e = tensor.empty() : tensor<64x512xf32>
      %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
      %x = pit.sread %at[%c0, %i] : tensor<128x512xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
      %y = pit.sread %bt[%c0, %c0] : tensor<128x512xf8E4M3FN> -> tensor<128x512xf8E4M3FN>
      %s = linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
             ins(%x, %y : tensor<128x64xf8E4M3FN>, tensor<128x512xf8E4M3FN>) outs(%start : tensor<64x512xf32>) {
      ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %acc: f32):
        %u = arith.extf %p : f8E4M3FN to f32
        %v = arith.extf %q : f8E4M3FN to f32
        %2 = arith.mulf %u, %v : f32
        %3 = arith.addf %acc, %2 : f32
        linalg.yield %3 : f32
      } -> tensor<64x512xf32>
      %w = pit.swrite %s into %o[%i, %c0] : tensor<64x512xf32> into tensor<512x512xf32>
      pit.yield %w : tensor<512x512xf32>
    }
    bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
    return
  }

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
}
}
