// Results that are reshaped are computed in the caller's memory, on CPUs and GPUs alike.
// Nothing is copied, and the host allocates nothing.

// RUN: pit-opt %s --pit-to-tiles --pit-tiles-to-loops | FileCheck %s --check-prefix=CPU --implicit-check-not=memref.copy
// RUN: pit-opt %s --pit-to-gpu-tiles --pit-tiles-to-kernels | FileCheck %s --check-prefix=GPU --implicit-check-not=memref.copy

// CPU-LABEL: func.func @fixed
// CPU-NOT: memref.alloc
// GPU-LABEL: func.func @fixed(
// GPU-NOT: memref.alloc
// GPU: pit.launch
func.func @fixed(%a: tensor<4x8x16xf32>, %b: tensor<4x16x32xf32>) -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8x32xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8x32xf32>) -> tensor<4x8x32xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<4x8x16xf32>, tensor<4x16x32xf32>) outs(%c : tensor<4x8x32xf32>) -> tensor<4x8x32xf32>
  %f = tensor.collapse_shape %r [[0, 1], [2]] : tensor<4x8x32xf32> into tensor<32x32xf32>
  return %f : tensor<32x32xf32>
}
// CPU-LABEL: func.func @dynamic
// CPU-NOT: memref.alloc
// GPU-LABEL: func.func @dynamic(
// GPU-NOT: memref.alloc
// GPU: pit.launch
func.func @dynamic(%a: tensor<?x?x16xf32>, %b: tensor<?x16x32xf32>) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?x?x16xf32>
  %m = tensor.dim %a, %c1 : tensor<?x?x16xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?x32xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<?x?x16xf32>, tensor<?x16x32xf32>) outs(%c : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %f = tensor.collapse_shape %r [[0, 1], [2]] : tensor<?x?x32xf32> into tensor<?x32xf32>
  return %f : tensor<?x32xf32>
}
// CPU-LABEL: func.func @expand
// CPU-NOT: memref.alloc
// GPU-LABEL: func.func @expand(
// GPU-NOT: memref.alloc
// GPU: pit.launch
func.func @expand(%a: tensor<?x16xf32>, %b: tensor<16x32xf32>) -> tensor<?x4x32xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %a, %c0 : tensor<?x16xf32>
  %q = arith.divui %n, %c4 : index
  %e = tensor.empty(%n) : tensor<?x32xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x16xf32>, tensor<16x32xf32>) outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  %f = tensor.expand_shape %r [[0, 1], [2]] output_shape [%q, 4, 32] : tensor<?x32xf32> into tensor<?x4x32xf32>
  return %f : tensor<?x4x32xf32>
}
// CPU-LABEL: func.func @chain
// CPU-NOT: memref.alloc
// GPU-LABEL: func.func @chain(
// GPU-NOT: memref.alloc
// GPU: pit.launch
// GPU-NOT: memref.alloc
// GPU: pit.launch
func.func @chain(%a: tensor<?x4x16xf32>, %b: tensor<16x32xf32>) -> (tensor<?x4x4x8xf32>, tensor<?x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4x16xf32>
  %e = tensor.empty(%n) : tensor<?x4x32xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<?x4x16xf32>, tensor<16x32xf32>) outs(%c : tensor<?x4x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x4x32xf32>
  %f = tensor.collapse_shape %r [[0, 1], [2]] : tensor<?x4x32xf32> into tensor<?x32xf32>
  %d = tensor.dim %f, %c0 : tensor<?x32xf32>
  %c4 = arith.constant 4 : index
  %q = arith.divui %d, %c4 : index
  %g = tensor.expand_shape %f [[0, 1], [2, 3]] output_shape [%q, 4, 4, 8] : tensor<?x32xf32> into tensor<?x4x4x8xf32>
  %o = tensor.empty(%d) : tensor<?x32xf32>
  %h = linalg.exp ins(%f : tensor<?x32xf32>) outs(%o : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %g, %h : tensor<?x4x4x8xf32>, tensor<?x32xf32>
}

// CPU: return
// GPU: module @pit_kernels
