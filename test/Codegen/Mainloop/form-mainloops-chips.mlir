// Each schedule of the chip is asked: a product is a mainloop where one takes it, and what none
// takes is said with the numbers of both.

// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-form-mainloops{chip=sm_90a explain}))' 2>&1 | FileCheck %s
// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-form-mainloops{chip=sm_80 explain}))' 2>&1 | FileCheck %s --check-prefix=OLD

// CHECK: remark: linalg.generic forms no mainloop: a tile of 64 x 512 has more accumulators than 512 threads hold; nor has it Hopper's schedule on sm_90a, because its 256 columns that one wgmma multiplies leave no registers to add the sums of each stage{{$}}
// OLD: remark: linalg.generic forms no mainloop: a tile of 128 x 128 has more accumulators than 512 threads hold{{$}}
// OLD: remark: linalg.generic forms no mainloop: a tile of 64 x 512 has more accumulators than 512 threads hold{{$}}
// OLD-NOT: pit.mainloop

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

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
