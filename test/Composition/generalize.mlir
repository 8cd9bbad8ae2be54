// REQUIRES: pit-run
// Marks are used after MLIR's passes on linalg ops, and what they give computes
// what the program did before.

// RUN: pit-opt %s -linalg-generalize-named-ops -linalg-fuse-elementwise-ops -linalg-fold-unit-extent-dims -canonicalize -cse -o %t.1.mlir
// RUN: FileCheck %s < %t.1.mlir
// RUN: pit-run %t.1.mlir --arg='random(96x128,f32,seed=1)' --arg='random(128x256,f32,seed=2)' --arg='full(256,f32,-9)' \
// RUN:   --arg='random(256x64,f32,seed=3)' --pipeline=choice=now --stats --check=%s | FileCheck %s --check-prefix=USED
// RUN: pit-opt %t.1.mlir --pit-to-tiles=choice=now | FileCheck %s --check-prefix=TILES

// Planned ops lose their rule to these passes. Their index stays, and the rule is
// made again.
// RUN: pit-opt %s -pit-plan -linalg-generalize-named-ops -linalg-fuse-elementwise-ops -linalg-fold-unit-extent-dims -canonicalize -cse -o %t.2.mlir
// RUN: FileCheck %s --check-prefix=PLANNED < %t.2.mlir
// RUN: pit-run %t.2.mlir --arg='random(96x128,f32,seed=1)' --arg='random(128x256,f32,seed=2)' --arg='full(256,f32,-9)' \
// RUN:   --arg='random(256x64,f32,seed=3)' --stats --check=%s | FileCheck %s --check-prefix=USED

// So do those of the variants of a choice.
// RUN: pit-opt %s -pit-plan=choice=run-time -linalg-generalize-named-ops -linalg-fuse-elementwise-ops -linalg-fold-unit-extent-dims -canonicalize -cse -o %t.3.mlir
// RUN: pit-run %t.3.mlir --arg='random(96x128,f32,seed=1)' --arg='random(128x256,f32,seed=2)' --arg='full(256,f32,-9)' \
// RUN:   --arg='random(256x64,f32,seed=3)' --stats --check=%s | FileCheck %s --check-prefix=CHOICE

// CHECK-NOT: linalg.matmul
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %arg2 :
// CHECK: arith.addf
// CHECK-NEXT: arith.maximumf
// CHECK: %[[S:.*]] = pit.sparse %[[R]] : tensor<96x256xf32>
// CHECK: linalg.generic {{.*}} ins(%[[S]], %arg3

// The accumulators are filled, not read, though the fills have no names.
// TILES: linalg.fill
// TILES: pit.index
// TILES: linalg.fill
// TILES-NEXT: pit.for %{{.*}} at %{{.*}} in

// PLANNED: %[[I:.*]] = pit.index
// PLANNED: %[[S:.*]] = pit.sparse %{{.*}} index(%[[I]]
// PLANNED: linalg.generic
// PLANNED-NOT: pit.rule
// PLANNED: ins(%[[S]], %arg3

// USED: index 0: values of an intermediate tensor, 96x256 along axis 1 in micro-tiles of 32x1
// USED: rule: {{.*}} micro_tile = [32, 1]
// USED: check: result 0: {{.*}}: ok

// CHOICE: choice 0: of 96x256
// CHOICE: index 0: values of an intermediate tensor, 96x256
// CHOICE: check: result 0: {{.*}}: ok

#map2 = affine_map<(d0, d1) -> (d0, d1)>
#bias = affine_map<(d0, d1) -> (d1)>
func.func @mlp(%x: tensor<96x128xf32>, %w1: tensor<128x256xf32>, %b1: tensor<256xf32>, %w2: tensor<256x64xf32>) -> tensor<96x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<96x256xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<96x256xf32>) -> tensor<96x256xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<96x128xf32>, tensor<128x256xf32>) outs(%z1 : tensor<96x256xf32>) -> tensor<96x256xf32>
  %hb = linalg.generic {indexing_maps = [#map2, #bias, #map2], iterator_types = ["parallel", "parallel"]} ins(%h, %b1 : tensor<96x256xf32>, tensor<256xf32>) outs(%e1 : tensor<96x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<96x256xf32>
  %r = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%hb : tensor<96x256xf32>) outs(%e1 : tensor<96x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<96x256xf32>
  %m = pit.sparse %r : tensor<96x256xf32>
  %e2 = tensor.empty() : tensor<96x64xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<96x64xf32>) -> tensor<96x64xf32>
  %y = linalg.matmul ins(%m, %w2 : tensor<96x256xf32>, tensor<256x64xf32>) outs(%z2 : tensor<96x64xf32>) -> tensor<96x64xf32>
  %sq = linalg.square ins(%y : tensor<96x64xf32>) outs(%e2 : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %sq : tensor<96x64xf32>
}
