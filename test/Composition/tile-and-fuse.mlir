// REQUIRES: pit-run
// Marks are used in the loops that MLIR's tiling makes, whether they are fused into
// these or stay before them; and so are planned ops, which are planned anew.

// RUN: split-file %s %t
// DEFINE: %{schedule} =
// DEFINE: %{plan} =
// DEFINE: %{tile} = pit-opt %t/program.mlir --pass-pipeline='builtin.module(%{plan}transform-preload-library{transform-library-paths=%t/%{schedule}.mlir},transform-interpreter,canonicalize,cse)'
// DEFINE: %{run} = pit-run %t/tiled.mlir --arg='random(96x128,f32,sparsity=0.95,micro=32x1,seed=1)' --arg='random(128x64,f32,seed=2)' \
// DEFINE:   --arg='random(96x64,f32,seed=3)' --pipeline=choice=now --stats --check=%t/program.mlir

// REDEFINE: %{schedule} = fuse
// RUN: %{tile} -o %t/tiled.mlir
// RUN: FileCheck %s --check-prefix=FUSED < %t/tiled.mlir
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{schedule} = for
// RUN: %{tile} -o %t/tiled.mlir
// RUN: FileCheck %s --check-prefix=BEFORE < %t/tiled.mlir
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{schedule} = forall
// RUN: %{tile} -o %t/tiled.mlir
// RUN: FileCheck %s --check-prefix=BEFORE < %t/tiled.mlir
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{plan} = func.func(pit-plan),
// RUN: %{tile} -o %t/tiled.mlir
// RUN: FileCheck %s --check-prefix=PLANNED < %t/tiled.mlir
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{schedule} = fuse
// RUN: %{tile} -o %t/tiled.mlir
// RUN: FileCheck %s --check-prefix=FUSED < %t/tiled.mlir
// RUN: %{run} 2>&1 | FileCheck %s

// FUSED: scf.for
// FUSED: scf.for
// FUSED: %[[X:.*]] = tensor.extract_slice
// FUSED: %[[S:.*]] = pit.sparse %[[X]] : tensor<32x128xf32>
// FUSED: linalg.matmul {{.*}}ins(%[[S]],
// FUSED: linalg.exp

// BEFORE: %[[S:.*]] = pit.sparse %arg0 : tensor<96x128xf32>
// BEFORE: scf.for
// BEFORE: tensor.extract_slice %[[S]]

// PLANNED: %[[S:.*]] = pit.sparse %arg0 index
// PLANNED: scf.forall
// PLANNED: tensor.extract_slice %[[S]]

// An index for each of the tiles.
// CHECK: index 0: values of argument 0, 32x128 along axis 1 in micro-tiles of 32x1
// CHECK: index 5: {{.*}} 32x128 along axis 1 in micro-tiles of 32x1
// CHECK: rule: {{.*}} micro_tile = [32, 1]
// CHECK: check: result 0: {{.*}}: ok

//--- program.mlir
func.func @f(%x: tensor<96x128xf32>, %w: tensor<128x64xf32>, %o: tensor<96x64xf32>) -> tensor<96x64xf32> {
  %s = pit.sparse %x : tensor<96x128xf32>
  %y = linalg.matmul ins(%s, %w : tensor<96x128xf32>, tensor<128x64xf32>) outs(%o : tensor<96x64xf32>) -> tensor<96x64xf32>
  %r = linalg.exp ins(%y : tensor<96x64xf32>) outs(%o : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %r : tensor<96x64xf32>
}

//--- fuse.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %e = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.fuse %e tile_sizes [32, 32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

//--- for.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %e = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %e tile_sizes [32, 32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

//--- forall.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %e = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_forall %e tile_sizes [32, 32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
