// RUN: pit-opt %s --split-input-file --pit-tiles-to-loops | FileCheck %s

// A matrix and one column: rows of A are no vectors by ids, so elements are
// read where they lie, of eight rows at a time. Ids that both operands have are
// noted once a chunk.

// CHECK-LABEL: func.func @column
// CHECK-NOT: vector.gather
// CHECK: %[[IDS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64xindex>
// CHECK: %[[COUNT:.*]] = scf.for {{.*}} iter_args(%[[N:.*]] = %c0) -> (index) {
// CHECK:   memref.store %[[ID:.*]], %[[IDS]][%[[N]]]
// CHECK:   %[[EXISTS:.*]] = arith.cmpi slt, %[[ID]], %{{.*}} : index
// CHECK:   %[[ONE:.*]] = arith.index_castui %[[EXISTS]]
// CHECK:   arith.addi %[[N]], %[[ONE]]
// CHECK: arith.remsi %[[COUNT]], %c4
// CHECK: scf.for {{.*}} step %c4 iter_args({{.*}}) -> (vector<1xf32>, vector<1xf32>, vector<1xf32>, vector<1xf32>, vector<1xf32>, vector<1xf32>, vector<1xf32>, vector<1xf32>) {
// CHECK:   %[[K:.*]] = memref.load %[[IDS]]
// CHECK:   memref.load %arg2[%[[K]], %c0]
// CHECK:   %[[A:.*]] = memref.load %[[IDS]]
// CHECK:   memref.load %arg1[%{{.*}}, %[[A]]]
// CHECK:   arith.mulf {{.*}} : vector<1xf32>
// CHECK: memref.store {{.*}} : memref<?x1xf32>
// CHECK-NOT: vector.gather
func.func @column(%a: tensor<?x?xf32>, %b: tensor<?x1xf32>, %c: tensor<?x1xf32>, %m: index) -> tensor<?x1xf32> {
  %c0 = arith.constant 0 : index
  %i = pit.index %a : tensor<?x?xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %r = pit.forall (%x) = (%c0) to (%m) step (32) iter_args(%o = %c) -> (tensor<?x1xf32>) {
    %acc = pit.sread %o[%x, %c0] : tensor<?x1xf32> -> tensor<32x1xf32>
    %sum = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%s = %acc) -> (tensor<32x1xf32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x64xf32>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %c0] pad(0.0 : f32) : tensor<?x1xf32> -> tensor<64x1xf32>
      %w = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x1xf32>) outs(%s : tensor<32x1xf32>) -> tensor<32x1xf32>
      pit.yield %w : tensor<32x1xf32>
    }
    %w = pit.swrite %sum into %o[%x, %c0] : tensor<32x1xf32> into tensor<?x1xf32>
    pit.yield %w : tensor<?x1xf32>
  }
  return %r : tensor<?x1xf32>
}

// -----

// C of one dimension: the vector's element meets eight rows of the matrix.

// CHECK-LABEL: func.func @vector
// CHECK-NOT: vector.gather
// CHECK: scf.for {{.*}} step %c4 iter_args({{.*}}) -> (vector<1xf64>, vector<1xf64>, vector<1xf64>, vector<1xf64>, vector<1xf64>, vector<1xf64>, vector<1xf64>, vector<1xf64>) {
// CHECK-COUNT-8: memref.load %arg1[%{{.*}}, %{{.*}}]
// CHECK:   memref.load %arg2[%{{.*}}]
// The summands are bf16.
// CHECK:   arith.extf {{.*}} : bf16 to f64
func.func @vector(%a: tensor<?x?xf64>, %b: tensor<?xbf16>, %c: tensor<?xf64>, %m: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %i = pit.index %a : tensor<?x?xf64> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %r = pit.forall (%x) = (%c0) to (%m) step (32) iter_args(%o = %c) -> (tensor<?xf64>) {
    %acc = pit.sread %o[%x] : tensor<?xf64> -> tensor<32xf64>
    %sum = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%s = %acc) -> (tensor<32xf64>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : f64) : tensor<?x?xf64> -> tensor<32x64xf64>
      %bt = pit.sread %b[%ids : !pit.ids<64>] pad(0.0 : bf16) : tensor<?xbf16> -> tensor<64xbf16>
      %w = linalg.matvec ins(%at, %bt : tensor<32x64xf64>, tensor<64xbf16>) outs(%s : tensor<32xf64>) -> tensor<32xf64>
      pit.yield %w : tensor<32xf64>
    }
    %w = pit.swrite %sum into %o[%x] : tensor<32xf64> into tensor<?xf64>
    pit.yield %w : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----

// Positions are no ids: here B lies packed, and what is not in A has to be read
// as 0. Tiles are copied.

// CHECK-LABEL: func.func @packed
// CHECK-NOT: memref<64xindex>
// CHECK: vector.gather
// CHECK-NOT: memref<64xindex>
func.func @packed(%a: tensor<?x?xf32>, %b: tensor<?x1xf32>, %c: tensor<?x1xf32>, %m: index) -> tensor<?x1xf32> {
  %c0 = arith.constant 0 : index
  %i = pit.index %a : tensor<?x?xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %r = pit.forall (%x) = (%c0) to (%m) step (32) iter_args(%o = %c) -> (tensor<?x1xf32>) {
    %acc = pit.sread %o[%x, %c0] : tensor<?x1xf32> -> tensor<32x1xf32>
    %sum = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%s = %acc) -> (tensor<32x1xf32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x64xf32>
      %bt = pit.sread %b[%pos : !pit.ids<64>, %c0] pad(0.0 : f32) : tensor<?x1xf32> -> tensor<64x1xf32>
      %w = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x1xf32>) outs(%s : tensor<32x1xf32>) -> tensor<32x1xf32>
      pit.yield %w : tensor<32x1xf32>
    }
    %w = pit.swrite %sum into %o[%x, %c0] : tensor<32x1xf32> into tensor<?x1xf32>
    pit.yield %w : tensor<?x1xf32>
  }
  return %r : tensor<?x1xf32>
}
