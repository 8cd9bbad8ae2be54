// The same of keys in an order: queries are boxes, and rows of keys are copied by ids, which come
// a step ahead.

// RUN: pit-opt %s --pit-to-cuda="chip=sm_90a device-code=ptx" --mlir-print-ir-before=convert-pit-gpu-to-nvvm -o /dev/null 2>&1 | FileCheck %s

// CHECK: gpu.func @attention_kernel_hopper(
// CHECK: %[[OF_Q:.*]] = pit_gpu.tensor_map %{{.*}} -> <1x1x64x64xf16, swizzle = 128>
// CHECK-NOT: pit_gpu.tensor_map
// CHECK: role "producers"
// CHECK: pit_gpu.load %[[OF_Q]]
// CHECK: scf.for
// CHECK: pit_gpu.copy %{{.*}} limit
// CHECK: pit_gpu.commit %{{.*}} after copies
// CHECK: gpu.func @attention_kernel(

#qk = affine_map<(h, m, i, n, d) -> (h, m, i, d)>
#kk = affine_map<(h, m, i, n, d) -> (h, n, d)>
#ss = affine_map<(h, m, i, n, d) -> (h, m, i, n)>
#pv = affine_map<(h, m, i, d, n) -> (h, m, i, n)>
#vv = affine_map<(h, m, i, d, n) -> (h, n, d)>
#oo = affine_map<(h, m, i, d, n) -> (h, m, i, d)>
#all = affine_map<(h, m, i, n) -> (h, m, i, n)>
#row = affine_map<(h, m, i, n) -> (h, m, i)>
#mask = affine_map<(h, m, i, n) -> (h, m, n)>
#blocks = affine_map<(h, m, n, j) -> (h, m, n)>
#keys = affine_map<(h, m, n, j) -> (h, m, n, j)>
#four = affine_map<(h, m, i, d) -> (h, m, i, d)>
#three = affine_map<(h, m, i, d) -> (h, m, i)>
func.func @attention(%q: tensor<4x16x64x64xf16>, %k: tensor<4x1024x64xf16>,
                     %v: tensor<4x1024x64xf16>, %live: tensor<4x16x16xi1>,
                     %order: tensor<4x1024xi32>) -> tensor<4x16x64x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scores = tensor.empty() : tensor<4x16x64x1024xf32>
  %rows = tensor.empty() : tensor<4x16x64xf32>
  %sums = tensor.empty() : tensor<4x16x64x64xf32>
  %out = tensor.empty() : tensor<4x16x64x64xf16>
  %s0 = linalg.fill ins(%zero : f32) outs(%scores : tensor<4x16x64x1024xf32>) -> tensor<4x16x64x1024xf32>
  %s = linalg.generic {indexing_maps = [#qk, #kk, #ss],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<4x16x64x64xf16>, tensor<4x1024x64xf16>) outs(%s0 : tensor<4x16x64x1024xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %z = arith.mulf %x, %y : f32
    %w = arith.addf %o, %z : f32
    linalg.yield %w : f32
  } -> tensor<4x16x64x1024xf32>
  %parts = tensor.empty() : tensor<4x16x16x64xi1>
  %each = linalg.generic {indexing_maps = [#blocks, #keys],
                          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%live : tensor<4x16x16xi1>) outs(%parts : tensor<4x16x16x64xi1>) {
  ^bb0(%a: i1, %o: i1):
    linalg.yield %a : i1
  } -> tensor<4x16x16x64xi1>
  %of_keys = tensor.collapse_shape %each [[0], [1], [2, 3]] : tensor<4x16x16x64xi1> into tensor<4x16x1024xi1>
  %masks = tensor.empty() : tensor<4x16x64x1024xi1>
  %mask = linalg.generic {indexing_maps = [#mask, #all],
                          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%of_keys : tensor<4x16x1024xi1>) outs(%masks : tensor<4x16x64x1024xi1>) {
  ^bb0(%a: i1, %o: i1):
    linalg.yield %a : i1
  } -> tensor<4x16x64x1024xi1>
  %moved = pit.reorder %mask by %order dims [0, 3] : tensor<4x16x64x1024xi1>, tensor<4x1024xi32>
  %kept = pit.sparse %s mask(%moved : tensor<4x16x64x1024xi1>) background(0xFF800000 : f32) : tensor<4x16x64x1024xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<4x16x64xf32>) -> tensor<4x16x64xf32>
  %m = linalg.generic {indexing_maps = [#all, #row],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%kept : tensor<4x16x64x1024xf32>) outs(%m0 : tensor<4x16x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x = arith.maximumf %o, %a : f32
    linalg.yield %x : f32
  } -> tensor<4x16x64xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%kept, %m : tensor<4x16x64x1024xf32>, tensor<4x16x64xf32>) outs(%scores : tensor<4x16x64x1024xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %x = arith.subf %a, %t : f32
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<4x16x64x1024xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<4x16x64xf32>) -> tensor<4x16x64xf32>
  %l = linalg.generic {indexing_maps = [#all, #row],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p : tensor<4x16x64x1024xf32>) outs(%l0 : tensor<4x16x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %x = arith.addf %o, %a : f32
    linalg.yield %x : f32
  } -> tensor<4x16x64xf32>
  %halves = tensor.empty() : tensor<4x16x64x1024xf16>
  %narrow = linalg.generic {indexing_maps = [#all, #all],
                            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p : tensor<4x16x64x1024xf32>) outs(%halves : tensor<4x16x64x1024xf16>) {
  ^bb0(%a: f32, %o: f16):
    %x = arith.truncf %a : f32 to f16
    linalg.yield %x : f16
  } -> tensor<4x16x64x1024xf16>
  %o0 = linalg.fill ins(%zero : f32) outs(%sums : tensor<4x16x64x64xf32>) -> tensor<4x16x64x64xf32>
  %o = linalg.generic {indexing_maps = [#pv, #vv, #oo],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%narrow, %v : tensor<4x16x64x1024xf16>, tensor<4x1024x64xf16>) outs(%o0 : tensor<4x16x64x64xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %z = arith.mulf %x, %y : f32
    %w = arith.addf %o, %z : f32
    linalg.yield %w : f32
  } -> tensor<4x16x64x64xf32>
  %r = linalg.generic {indexing_maps = [#four, #three, #four],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o, %l : tensor<4x16x64x64xf32>, tensor<4x16x64xf32>) outs(%out : tensor<4x16x64x64xf16>) {
  ^bb0(%a: f32, %t: f32, %o2: f16):
    %x = arith.divf %a, %t : f32
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<4x16x64x64xf16>
  return %r : tensor<4x16x64x64xf16>
}
