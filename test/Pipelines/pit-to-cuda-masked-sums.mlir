// A gradient of weights, summed over a batch and its rows, of which a mask selects some: one list
// has the rows of all batch elements, so the kernel has a mainloop.

// RUN: pit-opt %s --pit-to-cuda="chip=sm_90a device-code=ptx choice=now" --mlir-print-ir-after=pit-form-mainloops -o /dev/null 2>&1 | FileCheck %s

// CHECK: pit.mainloop step [] in %{{.*}} : !pit.index<micro_tile = [1, {{[0-9]+}}], axis = 0>

func.func @gradient(%x: tensor<8x64x256xf32>, %mask: tensor<8x64x256xi8>, %g: tensor<8x64x512xf32>) -> tensor<256x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
  %s = pit.sparse %x mask(%mask : tensor<8x64x256xi8>) : tensor<8x64x256xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(k, n, b, m) -> (b, m, k)>, affine_map<(k, n, b, m) -> (b, m, n)>, affine_map<(k, n, b, m) -> (k, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%s, %g : tensor<8x64x256xf32>, tensor<8x64x512xf32>) outs(%f : tensor<256x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<256x512xf32>
  return %y : tensor<256x512xf32>
}
