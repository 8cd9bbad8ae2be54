// REQUIRES: pit-run
// A script takes a batched product through the levels, with transform ops of MLIR
// around those of pit: the batch becomes a loop, its products go through rules in
// turn until one is legal, and the activation is computed on the tiles.

// RUN: split-file %s %t
// RUN: pit-opt %t/program.mlir --pass-pipeline='builtin.module(transform-preload-library{transform-library-paths=%t/script.mlir},transform-interpreter,canonicalize,cse)' -o %t/tiled.mlir
// RUN: FileCheck %s < %t/tiled.mlir
// RUN: pit-run %t/tiled.mlir --arg='random(4x96x128,f32,sparsity=0.95,micro=1x32x1,seed=1)' --arg='random(4x128x64,f32,seed=2)' \
// RUN:   --stats --check=%t/program.mlir 2>&1 | FileCheck %s --check-prefix=USED

// A script that a program brings along is run by the tools.
// RUN: cat %t/program.mlir %t/script.mlir > %t/both.mlir
// RUN: pit-run %t/both.mlir --arg='random(4x96x128,f32,sparsity=0.95,micro=1x32x1,seed=1)' --arg='random(4x128x64,f32,seed=2)' \
// RUN:   --stats --check=%t/program.mlir 2>&1 | FileCheck %s --check-prefix=USED

// CHECK: scf.forall (%[[B:.*]]) in (4)
// CHECK: %[[X:.*]] = tensor.extract_slice %arg0[%[[B]], 0, 0] [1, 96, 128]
// CHECK: %[[I:.*]] = pit.index %[[X]] : tensor<1x96x128xf32> -> !pit.index<micro_tile = [1, 32, 1], axis = 2>
// CHECK: pit.forall
// CHECK: pit.for {{.*}} in %[[I]]
// CHECK: linalg.batch_matmul
// CHECK: arith.maximumf
// CHECK: pit.swrite

// USED: index 3: {{.*}} 1x96x128 along axis 2 in micro-tiles of 1x32x1
// USED: check: result 0: {{.*}}: ok

//--- program.mlir
#id = affine_map<(b, i, j) -> (b, i, j)>

func.func @f(%x: tensor<4x96x128xf32>, %w: tensor<4x128x64xf32>) -> tensor<4x96x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x96x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x96x64xf32>) -> tensor<4x96x64xf32>
  %s = pit.sparse %x : tensor<4x96x128xf32>
  %y = linalg.batch_matmul ins(%s, %w : tensor<4x96x128xf32>, tensor<4x128x64xf32>) outs(%z : tensor<4x96x64xf32>) -> tensor<4x96x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y : tensor<4x96x64xf32>) outs(%e : tensor<4x96x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4x96x64xf32>
  return %r : tensor<4x96x64xf32>
}

//--- script.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %relu = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %product = transform.structured.match ops{["linalg.batch_matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %fill = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %mark = transform.structured.match ops{["pit.sparse"]} in %root : (!transform.any_op) -> !transform.any_op

    // A loop over the batch, and in it all that belongs to one of its products.
    %relu1, %loop = transform.structured.tile_using_forall %relu num_threads [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %product1, %loop1 = transform.structured.fuse_into_containing_op %product into %loop : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    %fill1, %loop2 = transform.structured.fuse_into_containing_op %fill into %loop1 : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    %mark1, %loop3 = transform.structured.fuse_into_containing_op %mark into %loop2 : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)

    // There is no dim 3 of the operand; columns of 32 rows are taken.
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_dce to %func : !transform.any_op
    transform.alternatives %func : !transform.any_op {
    ^bb0(%scope: !transform.any_op):
      %op = transform.structured.match ops{["linalg.batch_matmul"]} in %scope : (!transform.any_op) -> !transform.any_op
      transform.pit.plan %op rule(<axis = 3>) machine("avx2") : !transform.any_op
    }, {
    ^bb0(%scope: !transform.any_op):
      %op = transform.structured.match ops{["linalg.batch_matmul"]} in %scope : (!transform.any_op) -> !transform.any_op
      transform.pit.plan %op rule(<axis = 2, micro_tile = [1, 32, 1]>) machine("avx2") : !transform.any_op
    }
    %planned = transform.structured.match ops{["linalg.batch_matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiles = transform.pit.tile %planned : (!transform.any_op) -> !transform.any_op
    transform.pit.fuse %tiles : !transform.any_op
    transform.yield
  }
}
