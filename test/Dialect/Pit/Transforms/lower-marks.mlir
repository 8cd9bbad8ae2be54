// RUN: pit-opt %s -pit-lower-marks -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @identity
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x?xf32>
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @identity(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %0 = pit.sparse %x : tensor<?x?xf32>
  %1 = pit.sparse %x mask(%m : tensor<?x?xi1>) background(1.0 : f32) assume : tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// CHECK: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @mask
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x8xf32>, %[[M:[^:]*]]: tensor<?x?xi1>
// CHECK: %[[BG:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x8xf32>
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$ID]], #[[$ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[M]] : {{.*}}) outs(%[[E]]
// CHECK-NEXT: ^bb0(%[[V:.*]]: f32, %[[S:.*]]: i1, %{{.*}}: f32):
// CHECK-NEXT: %[[O:.*]] = arith.select %[[S]], %[[V]], %[[BG]] : f32
// CHECK-NEXT: linalg.yield %[[O]]
// CHECK: return %[[R]]
func.func @mask(%x: tensor<?x8xf32>, %m: tensor<?x?xi1>) -> tensor<?x8xf32> {
  %0 = pit.sparse %x mask(%m : tensor<?x?xi1>) background(0xFF800000 : f32) : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// Any i8 but 0 selects.
// CHECK-LABEL: func.func @mask_i8
// CHECK: linalg.generic {{.*}} iterator_types = []}
// CHECK-NEXT: ^bb0(%[[V:.*]]: i32, %[[B:.*]]: i8, %{{.*}}: i32):
// CHECK: %[[S:.*]] = arith.cmpi ne, %[[B]], %{{.*}} : i8
// CHECK: arith.select %[[S]], %[[V]],
func.func @mask_i8(%x: tensor<i32>, %m: tensor<i8>) -> tensor<i32> {
  %0 = pit.sparse %x mask(%m : tensor<i8>) : tensor<i32>
  return %0 : tensor<i32>
}

// -----

// CHECK: #[[$ID:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK: #[[$LEADING:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
// CHECK-LABEL: func.func @lengths
// CHECK: linalg.generic {indexing_maps = [#[[$ID]], #[[$LEADING]], #[[$ID]]]
// CHECK-NEXT: ^bb0(%[[V:.*]]: bf16, %[[L:.*]]: i32, %{{.*}}: bf16):
// CHECK-DAG: %[[I:.*]] = linalg.index 2
// CHECK-DAG: %[[I64:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-DAG: %[[L64:.*]] = arith.extsi %[[L]] : i32 to i64
// CHECK: %[[S:.*]] = arith.cmpi slt, %[[I64]], %[[L64]] : i64
// CHECK: arith.select %[[S]], %[[V]],
func.func @lengths(%x: tensor<4x?x?x8xbf16>, %l: tensor<?x?xi32>) -> tensor<4x?x?x8xbf16> {
  %0 = pit.sparse %x lengths(%l : tensor<?x?xi32>) : tensor<4x?x?x8xbf16>
  return %0 : tensor<4x?x?x8xbf16>
}

// -----

// CHECK: #[[$NONE:.*]] = affine_map<(d0) -> ()>
// CHECK-LABEL: func.func @length
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[$NONE]], #{{.*}}], iterator_types = ["parallel"]}
// CHECK: linalg.index 0
func.func @length(%x: tensor<?xindex>, %l: tensor<i64>) -> tensor<?xindex> {
  %0 = pit.sparse %x lengths(%l : tensor<i64>) : tensor<?xindex>
  return %0 : tensor<?xindex>
}

// -----

// CHECK: #[[$TK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #[[$TE:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @routing
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x16xf32>, %[[A:[^:]*]]: tensor<?x2xi32>
// CHECK: %[[FALSE:.*]] = arith.constant false
// CHECK: %[[INIT:.*]] = linalg.fill ins(%[[FALSE]] : i1) outs(%{{.*}} : tensor<?x16xi1>)
// CHECK: %[[M:.*]] = linalg.generic {indexing_maps = [#[[$TK]], #[[$TE]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]] : tensor<?x2xi32>) outs(%[[INIT]]
// CHECK-NEXT: ^bb0(%[[E:.*]]: i32, %[[ANY:.*]]: i1):
// CHECK-DAG: %[[E64:.*]] = arith.extsi %[[E]] : i32 to i64
// CHECK-DAG: %[[I:.*]] = linalg.index 1
// CHECK-DAG: %[[I64:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[E64]], %[[I64]] : i64
// CHECK: arith.ori %[[ANY]], %[[SAME]] : i1
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[M]] :
// CHECK: arith.select
func.func @routing(%x: tensor<?x16xf32>, %a: tensor<?x2xi32>) -> tensor<?x16xf32> {
  %0 = pit.sparse %x routing(%a : tensor<?x2xi32>) : tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

// -----

// CHECK-LABEL: func.func @index
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x?xf32>, %[[I:[^:]*]]: !pit.index
// CHECK: %[[D:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[FILL:.*]] = linalg.fill ins(%cst : f32)
// CHECK: %[[R:.*]] = pit.forall (%[[G:.*]]) = (%{{.*}}) to (%[[D]]) step (32) iter_args(%[[O:.*]] = %[[FILL]])
// CHECK-NEXT: %[[F:.*]] = pit.for %[[IDS:.*]] at %{{.*}} in %[[I]][%[[G]]] : {{.*}} chunk 64 iter_args(%[[P:.*]] = %[[O]])
// CHECK-NEXT: %[[T:.*]] = pit.sread %[[X]][%[[G]], %[[IDS]] : !pit.ids<64>] : tensor<?x?xf32> -> tensor<32x64xf32>
// CHECK-NEXT: %[[W:.*]] = pit.swrite %[[T]] into %[[P]][%[[G]], %[[IDS]] : !pit.ids<64>]
// CHECK-NEXT: pit.yield %[[W]]
// CHECK: pit.yield %[[F]]
// CHECK: return %[[R]]
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @index(%x: tensor<?x?xf32>, %i: !cols) -> tensor<?x?xf32> {
  %0 = pit.sparse %x index(%i : !cols) : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// One group: its chunks are taken in parallel. Rows are cut into tiles.
// CHECK-LABEL: func.func @rows
// CHECK: %[[BG:.*]] = arith.constant 1.0
// CHECK: linalg.fill ins(%[[BG]] : f32)
// CHECK: pit.forall (%[[C:.*]]) = (%{{.*}}) to (%c100) step (64), %[[IDS:.*]] at %{{.*}} in %{{.*}} chunk 64
// CHECK-NEXT: pit.sread %{{.*}}[%[[IDS]] : !pit.ids<64>, %[[C]]] : tensor<?x100xf32> -> tensor<64x64xf32>
// CHECK-NEXT: pit.swrite
// CHECK-NEXT: pit.yield
!rows = !pit.index<micro_tile = [1, *], axis = 0>
func.func @rows(%x: tensor<?x100xf32>, %i: !rows) -> tensor<?x100xf32> {
  %0 = pit.sparse %x index(%i : !rows) background(1.0 : f32) : tensor<?x100xf32>
  return %0 : tensor<?x100xf32>
}

// -----

// CHECK-LABEL: func.func @flat
// CHECK: pit.forall %[[IDS:.*]] at %{{.*}} in %{{.*}} : !pit.index<micro_tile = [1], axis = 0> chunk 64 iter_args
!flat = !pit.index<micro_tile = [1], axis = 0>
func.func @flat(%x: tensor<?xf32>, %i: !flat) -> tensor<?xf32> {
  %0 = pit.sparse %x index(%i : !flat) : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Windows overlap: a sequential loop, up to the last one that has an element of
// its own.
// CHECK: #[[$LAST:.*]] = affine_map<()[s0] -> (s0 - 2)>
// CHECK-LABEL: func.func @windows
// CHECK: %[[D:.*]] = tensor.dim
// CHECK: %[[W:.*]] = affine.apply #[[$LAST]]()[%[[D]]]
// CHECK: pit.for (%[[G0:.*]], %[[G2:.*]], %[[G3:.*]]) = (%{{.*}}) to (%c1, %c32, %[[W]]) step (1, 8, 8)
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[G0]], %[[G2]], %[[G3]]] : {{.*}} chunk 40
// CHECK-NEXT: pit.sread %{{.*}}[%[[G0]], %[[IDS]] : !pit.ids<40>, %[[G2]], %[[G3]]] : {{.*}} -> tensor<1x40x10x10xf16>
!windows = !pit.index<micro_tile = [1, 1, 10, 10], axis = 1, step = [1, 1, 8, 8]>
func.func @windows(%x: tensor<1x8x34x?xf16>, %i: !windows) -> tensor<1x8x34x?xf16> {
  %0 = pit.sparse %x index(%i : !windows) : tensor<1x8x34x?xf16>
  return %0 : tensor<1x8x34x?xf16>
}

// -----

// Tiles stay small, and no larger than the tensor.
// CHECK-LABEL: func.func @volume
// CHECK: pit.forall (%[[W0:.*]], %[[G1:.*]], %[[W3:.*]]) = {{.*}} step (3, 16, 64)
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[G1]]] : {{.*}} chunk 3
// CHECK-NEXT: pit.sread %{{.*}}[%[[W0]], %[[G1]], %[[IDS]] : !pit.ids<3>, %[[W3]]] : {{.*}} -> tensor<3x7x3x64xf32>
!volume = !pit.index<micro_tile = [*, 16, 1, *], axis = 2>
func.func @volume(%x: tensor<3x7x?x?xf32>, %i: !volume) -> tensor<3x7x?x?xf32> {
  %0 = pit.sparse %x index(%i : !volume) : tensor<3x7x?x?xf32>
  return %0 : tensor<3x7x?x?xf32>
}

// -----

// What nothing has taken is moved, tile by tile; a tile has elements of one list.
// CHECK-LABEL: func.func @reorder
// CHECK-SAME: %[[X:.*]]: tensor<4x?x?xi1>, %[[ORDER:.*]]: tensor<4x?xi32>
// CHECK: pit.forall (%[[H:.*]], %[[I:.*]], %[[J:.*]]) = {{.*}} step (1, 64, 64) iter_args(%[[TO:.*]] = %{{.*}})
// CHECK-NEXT: %[[IDS:.*]] = pit.ids %[[ORDER]][%[[H]], %[[I]]] : tensor<4x?xi32> -> !pit.ids<64>
// CHECK-NEXT: %[[T:.*]] = pit.sread %[[X]][%[[H]], %[[I]], %[[J]]] : tensor<4x?x?xi1> -> tensor<1x64x64xi1>
// CHECK-NEXT: pit.swrite %[[T]] into %[[TO]][%[[H]], %[[IDS]] : !pit.ids<64>, %[[J]]]
func.func @reorder(%x: tensor<4x?x?xi1>, %order: tensor<4x?xi32>) -> tensor<4x?x?xi1> {
  %0 = pit.reorder %x by %order dims [0, 1] : tensor<4x?x?xi1>, tensor<4x?xi32>
  return %0 : tensor<4x?x?xi1>
}
