// The stock mlir-opt with both plugins, in any order, and pit-opt with this one.
// RUN: mlir-opt --load-dialect-plugin=%pit --load-pass-plugin=%pit --load-pass-plugin=%plugin %s \
// RUN:   --pass-pipeline='builtin.module(func.func(mark-products),pit-to-tiles{choice=now})' | FileCheck %s --check-prefix=TILES
// RUN: mlir-opt --load-pass-plugin=%plugin --load-dialect-plugin=%pit %s \
// RUN:   --pass-pipeline='builtin.module(func.func(mark-products))' | FileCheck %s
// RUN: pit-opt --load-pass-plugin=%plugin %s \
// RUN:   --pass-pipeline='builtin.module(func.func(mark-products),pit-to-tiles{choice=now})' | FileCheck %s --check-prefix=TILES

// CHECK: %[[M:.*]] = linalg.max
// CHECK: %[[S:.*]] = pit.sparse %[[M]]
// CHECK: linalg.matmul ins(%[[S]],
// TILES: pit.index
// TILES: pit.forall
func.func @f(%x: tensor<64x96xf32>, %w: tensor<96x32xf32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %m = linalg.max ins(%x, %z : tensor<64x96xf32>, tensor<64x96xf32>) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %r = linalg.matmul ins(%m, %w : tensor<64x96xf32>, tensor<96x32xf32>) outs(%o : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}
