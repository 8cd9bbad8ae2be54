// Loops along what comparisons of places leave.
// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions,canonicalize,cse))' | FileCheck %s

// The keys of a window, or the first four: steps are the tile with these, then
// tiles from where the window begins. What the window leaves out is not read.

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func @first_and_near(
// CHECK-SAME: %[[X:[^:]*]]: tensor<512x1024xf32>
// CHECK: pit.forall (%[[I:.*]]) =
// CHECK:   %[[PAST:.*]] = arith.addi %[[I]], %c-93
// CHECK:   %[[GAP:.*]] = arith.maxsi %[[PAST]], %c0
// CHECK:   %[[LESS:.*]] = arith.subi %c1024, %[[GAP]]
// CHECK:   %[[END:.*]] = arith.maxsi %[[LESS]], %c64
// CHECK:   pit.for (%[[J:.*]]) = (%c0) to (%[[END]]) step (64)
// CHECK:     %[[IS:.*]] = arith.cmpi slt, %[[J]], %c64
// CHECK:     %[[BY:.*]] = arith.select %[[IS]], %c0, %[[GAP]]
// CHECK:     %[[AT:.*]] = arith.addi %[[J]], %[[BY]]
// CHECK:     pit.sread %[[X]][%[[I]], %[[AT]]]
func.func @first_and_near(%x: tensor<512x1024xf32>, %rows: tensor<512xf32>, %all: tensor<512x1024xf32>) -> tensor<512xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %wide = arith.constant 30 : index
  %first = arith.constant 4 : index
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<512x1024xf32>) outs(%all : tensor<512x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %from = arith.subi %i, %wide : index
    %near = arith.cmpi sgt, %j, %from : index
    %early = arith.cmpi slt, %j, %first : index
    %kept = arith.ori %near, %early : i1
    %b = arith.select %kept, %a, %low : f32
    linalg.yield %b : f32
  } -> tensor<512x1024xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<512xf32>) -> tensor<512xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<512x1024xf32>) outs(%m0 : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<512xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %m : tensor<512x1024xf32>, tensor<512xf32>) outs(%all : tensor<512x1024xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<512x1024xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<512x1024xf32>) outs(%l0 : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<512xf32>
  return %l : tensor<512xf32>
}

// -----

// A sum of powers along the queries of a key. All queries have the first four
// keys, so the loop of a tile that has one of them ends at the end.

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func @first_rows(
// CHECK-SAME: %[[X:[^:]*]]: tensor<512x1024xf32>
// CHECK: pit.forall (%[[I:.*]]) =
// CHECK:   %[[LIMIT:.*]] = arith.addi %[[I]], %c93
// CHECK:   %[[HAS:.*]] = arith.cmpi slt, %[[I]], %c4
// CHECK:   %[[TO:.*]] = arith.select %[[HAS]], %c1024, %[[LIMIT]]
// CHECK:   %[[END:.*]] = arith.minsi %[[TO]], %c1024
// CHECK:   pit.for (%[[J:.*]]) = (%c0) to (%[[END]]) step (64)
// CHECK:     pit.sread %[[X]][%[[I]], %[[J]]]
func.func @first_rows(%x: tensor<512x1024xf32>, %rows: tensor<512xf32>, %all: tensor<512x1024xf32>) -> tensor<512xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %wide = arith.constant 30 : index
  %first = arith.constant 4 : index
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<512x1024xf32>) outs(%all : tensor<512x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %to = arith.addi %i, %wide : index
    %near = arith.cmpi slt, %j, %to : index
    %early = arith.cmpi slt, %i, %first : index
    %kept = arith.ori %early, %near : i1
    %b = arith.select %kept, %a, %low : f32
    linalg.yield %b : f32
  } -> tensor<512x1024xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<512xf32>) -> tensor<512xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<512x1024xf32>) outs(%m0 : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<512xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %m : tensor<512x1024xf32>, tensor<512xf32>) outs(%all : tensor<512x1024xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<512x1024xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<512x1024xf32>) outs(%l0 : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<512xf32>
  return %l : tensor<512xf32>
}
