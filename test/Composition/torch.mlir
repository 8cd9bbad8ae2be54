// REQUIRES: pit-run
// A network as torch-mlir writes it: a seed that nobody reads, an assertion, the
// weights transposed, and what is marked rounded to f16 before it is multiplied.

// DEFINE: %{run} = --arg='random(80x64,f32,seed=1)' --arg='random(128x64,f32,seed=2)' --arg='full(128,f32,-8)' \
// DEFINE:   --arg='random(32x128,f32,seed=3)' --pipeline=choice=now --stats --check=%s
// RUN: pit-run %s %{run} | FileCheck %s
// RUN: pit-opt %s -linalg-generalize-named-ops -canonicalize -cse -o %t.1.mlir
// RUN: pit-run %t.1.mlir %{run} | FileCheck %s
// RUN: pit-opt %s -linalg-generalize-named-ops -linalg-fuse-elementwise-ops -linalg-fold-unit-extent-dims -canonicalize -cse -o %t.2.mlir
// RUN: pit-run %t.2.mlir %{run} | FileCheck %s

// CHECK: index 0: values of an intermediate tensor, 80x128 along axis 1 in micro-tiles of 32x1
// CHECK-NOT: index 1
// CHECK: rule: {{.*}} micro_tile = [32, 1], tile = [32, 32, 64]
// CHECK: check: result 0: {{.*}}: ok

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
module attributes {torch.debug_module_name = "Net"} {
  ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
  func.func @forward(%arg0: tensor<?x64xf32>, %w1: tensor<128x64xf32>, %b1: tensor<128xf32>, %w2: tensor<32x128xf32>) -> tensor<?x32xf32> attributes {torch.assume_strict_symbolic_shapes} {
    %cst = arith.constant 0.000000e+00 : f32
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %dim = tensor.dim %arg0, %c0 : tensor<?x64xf32>
    %d64 = arith.index_cast %dim : index to i64
    %ok = arith.cmpi sge, %d64, %c0_i64 : i64
    cf.assert %ok, "unimplemented: negative batch"
    %0 = tensor.empty() : tensor<64x128xf32>
    %t = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%w1 : tensor<128x64xf32>) outs(%0 : tensor<64x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x128xf32>
    %1 = tensor.empty(%dim) : tensor<?x128xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<?x128xf32>) -> tensor<?x128xf32>
    %3 = linalg.matmul ins(%arg0, %t : tensor<?x64xf32>, tensor<64x128xf32>) outs(%2 : tensor<?x128xf32>) -> tensor<?x128xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %b1 : tensor<?x128xf32>, tensor<128xf32>) outs(%1 : tensor<?x128xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %20 = arith.addf %in, %in_2 : f32
      linalg.yield %20 : f32
    } -> tensor<?x128xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<?x128xf32>) outs(%1 : tensor<?x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.cmpf ugt, %in, %cst : f32
      %21 = arith.select %20, %in, %cst : f32
      linalg.yield %21 : f32
    } -> tensor<?x128xf32>
    %m = pit.sparse %5 : tensor<?x128xf32>
    %6 = tensor.empty(%dim) : tensor<?x128xf16>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<?x128xf32>) outs(%6 : tensor<?x128xf16>) {
    ^bb0(%in: f32, %out: f16):
      %20 = arith.truncf %in : f32 to f16
      linalg.yield %20 : f16
    } -> tensor<?x128xf16>
    %8 = tensor.empty() : tensor<128x32xf32>
    %t2 = linalg.transpose ins(%w2 : tensor<32x128xf32>) outs(%8 : tensor<128x32xf32>) permutation = [1, 0]
    %e16 = tensor.empty() : tensor<128x32xf16>
    %t16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%t2 : tensor<128x32xf32>) outs(%e16 : tensor<128x32xf16>) {
    ^bb0(%in: f32, %out: f16):
      %20 = arith.truncf %in : f32 to f16
      linalg.yield %20 : f16
    } -> tensor<128x32xf16>
    %9 = tensor.empty(%dim) : tensor<?x32xf32>
    %10 = linalg.fill ins(%cst : f32) outs(%9 : tensor<?x32xf32>) -> tensor<?x32xf32>
    %11 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7, %t16 : tensor<?x128xf16>, tensor<128x32xf16>) outs(%10 : tensor<?x32xf32>) {
    ^bb0(%in: f16, %in_2: f16, %out: f32):
      %20 = arith.extf %in : f16 to f32
      %21 = arith.extf %in_2 : f16 to f32
      %22 = arith.mulf %20, %21 : f32
      %23 = arith.addf %out, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<?x32xf32>
    return %11 : tensor<?x32xf32>
  }
}
