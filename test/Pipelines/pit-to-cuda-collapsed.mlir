// Layers on tensors of several leading dims: a product of rows, with all that follows it
// element by element, is one kernel, a mainloop for tensor cores, and nothing is copied.

// RUN: pit-opt %s --pit-to-gpu-tiles="chip=sm_80 explain" --pit-tiles-to-kernels="chip=sm_80 explain" --split-input-file 2>&1 | FileCheck %s --implicit-check-not=memref.copy --implicit-check-not=memref.alloc --implicit-check-not="forms no mainloop"
// RUN: pit-opt %s --pit-to-gpu-tiles="chip=sm_90a explain" --pit-tiles-to-kernels="chip=sm_90a explain" --pit-schedule-kernels="chip=sm_90a explain" --split-input-file -o %t 2> %t.remarks
// RUN: FileCheck %s --check-prefixes=CHECK,HOPPER --implicit-check-not=memref.copy --implicit-check-not=memref.alloc < %t
// RUN: FileCheck %s --check-prefix=REMARKS --implicit-check-not="forms no mainloop" --implicit-check-not="portable schedule only" < %t.remarks

// REMARKS: linalg.generic: modelled cycles by tile: [128, 256, 64] {{[0-9]+}}, [
// REMARKS: linalg.contract: modelled cycles by tile: [1, 128, 256, 64] {{[0-9]+}}, [

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#kn = affine_map<(b, m, n, k) -> (k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(b, m, n) -> (b, m, n)>
#n = affine_map<(b, m, n) -> (n)>

// CHECK-LABEL: func.func @layer(
// CHECK: pit.launch @{{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<?x256xbf16>, memref<256x512xbf16>, memref<512xbf16>, memref<?x512xbf16>) outs(%{{.*}} : memref<?x512xbf16>)
// CHECK-NOT: pit.launch
// CHECK: func.func @layer_kernel(
// CHECK: pit.mainloop
// HOPPER-SAME: schedules = [#pit.gpu_schedule<multiply = wgmma
// CHECK-NOT: pit.mainloop
func.func @layer(%x: tensor<?x?x256xbf16>, %w: tensor<256x512xbf16>, %bias: tensor<512xbf16>,
                 %res: tensor<?x?x512xbf16>) -> tensor<?x?x512xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %zb = arith.constant 0.0 : bf16
  %d0 = tensor.dim %x, %c0 : tensor<?x?x256xbf16>
  %d1 = tensor.dim %x, %c1 : tensor<?x?x256xbf16>
  %e = tensor.empty(%d0, %d1) : tensor<?x?x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x512xf32>) -> tensor<?x?x512xf32>
  %p = linalg.generic {indexing_maps = [#bmk, #kn, #bmn], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<?x?x256xbf16>, tensor<256x512xbf16>) outs(%f : tensor<?x?x512xf32>) {
  ^bb0(%l: bf16, %r: bf16, %s: f32):
    %le = arith.extf %l : bf16 to f32
    %re = arith.extf %r : bf16 to f32
    %m = arith.mulf %le, %re : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<?x?x512xf32>
  %e2 = tensor.empty(%d0, %d1) : tensor<?x?x512xbf16>
  %y = linalg.generic {indexing_maps = [#id, #n, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%p, %bias : tensor<?x?x512xf32>, tensor<512xbf16>) outs(%e2 : tensor<?x?x512xbf16>) {
  ^bb0(%l: f32, %r: bf16, %s: bf16):
    %lt = arith.truncf %l : f32 to bf16
    %t = arith.addf %lt, %r : bf16
    %u = arith.maximumf %t, %zb : bf16
    linalg.yield %u : bf16
  } -> tensor<?x?x512xbf16>
  %z = linalg.add ins(%y, %res : tensor<?x?x512xbf16>, tensor<?x?x512xbf16>) outs(%e2 : tensor<?x?x512xbf16>) -> tensor<?x?x512xbf16>
  return %z : tensor<?x?x512xbf16>
}

// -----

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#nk = affine_map<(b, m, n, k) -> (n, k)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>

// As torch-mlir has it, a weight of rows of n is repeated, and nothing is known of the init.
// CHECK-LABEL: func.func @repeated(
// CHECK: pit.launch @{{.*}} ins(%{{.*}} : memref<4096x2048xf32>, memref<4096x1024xf16>, memref<2048x1024xf16>) outs(%{{.*}} : memref<4096x2048xf32>)
// CHECK-NOT: pit.launch
// CHECK: func.func @repeated_kernel(
// CHECK: pit.mainloop
// HOPPER-SAME: schedules = [#pit.gpu_schedule<multiply = wgmma
func.func @repeated(%x: tensor<4x1024x1024xf16>, %w: tensor<2048x1024xf16>, %o: tensor<4x1024x2048xf32>) -> tensor<4x1024x2048xf32> {
  %e = tensor.empty() : tensor<4x1024x2048xf16>
  %b = linalg.generic {indexing_maps = [affine_map<(b, k, n) -> (n, k)>, affine_map<(b, k, n) -> (b, k, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%w : tensor<2048x1024xf16>) outs(%e : tensor<4x1024x2048xf16>) {
  ^bb0(%l: f16, %s: f16):
    linalg.yield %l : f16
  } -> tensor<4x1024x2048xf16>
  %r = linalg.batch_matmul ins(%x, %b : tensor<4x1024x1024xf16>, tensor<4x1024x2048xf16>) outs(%o : tensor<4x1024x2048xf32>) -> tensor<4x1024x2048xf32>
  return %r : tensor<4x1024x2048xf32>
}

// -----

// A factor for each batch element leaves the rows as they are: tiles have one dim of them.
// CHECK-LABEL: func.func @factor(
// CHECK: pit.launch @{{.*}} outs(%{{.*}} : memref<4x1024x2048xf16>)
// CHECK-NOT: pit.launch
// CHECK: func.func @factor_kernel(
// CHECK: pit.mainloop
// HOPPER-SAME: schedules = [#pit.gpu_schedule<multiply = wgmma
// CHECK: pit.contract {{.*}} tile [1, 128, 256,
func.func @factor(%x: tensor<4x1024x1024xf16>, %w: tensor<1024x2048xf16>, %s: tensor<4x2048xf16>) -> tensor<4x1024x2048xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x1024x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x1024x2048xf32>) -> tensor<4x1024x2048xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
    ins(%x, %w : tensor<4x1024x1024xf16>, tensor<1024x2048xf16>) outs(%f : tensor<4x1024x2048xf32>) -> tensor<4x1024x2048xf32>
  %e2 = tensor.empty() : tensor<4x1024x2048xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r, %s : tensor<4x1024x2048xf32>, tensor<4x2048xf16>) outs(%e2 : tensor<4x1024x2048xf16>) {
  ^bb0(%l: f32, %q: f16, %o: f16):
    %n = arith.truncf %l : f32 to f16
    %p = arith.mulf %n, %q : f16
    linalg.yield %p : f16
  } -> tensor<4x1024x2048xf16>
  return %y : tensor<4x1024x2048xf16>
}
