// Masks of blocks, which frameworks repeat to masks of elements.

// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions,canonicalize,cse))' | FileCheck %s

// The index lists blocks. A step has half of one, so each is listed as two; rows
// are half of one, too, and read its number. Nothing of the repeated mask is left.

// CHECK-LABEL: func @blocks(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x?xf32>, %{{.*}}, %[[MASK:[^:]*]]: tensor<?x?xi1>
// CHECK-DAG: %[[HALVES:.*]] = linalg.broadcast ins(%[[MASK]] : tensor<?x?xi1>) {{.*}} dimensions = [2]
// CHECK-DAG: %[[TWICE:.*]] = tensor.collapse_shape %[[HALVES]] {{\[\[}}0], [1, 2]] : tensor<?x?x2xi1> into tensor<?x?xi1>
// CHECK: %[[INDEX:.*]] = pit.index mask %[[TWICE]] : tensor<?x?xi1> -> !pit.index<micro_tile = [1, 1], axis = 1>
// CHECK-NOT: linalg
// CHECK: pit.forall (%[[I:.*]]) = {{.*}} step (64)
// CHECK:   %[[GROUP:.*]] = arith.divui %[[I]], %c128
// CHECK:   pit.for %[[IDS:.*]] at %{{.*}} in %[[INDEX]][%[[GROUP]]] : {{.*}} chunk 1
// CHECK:     %[[COORDS:.*]] = pit.coords %[[IDS]] : !pit.ids<1> -> tensor<1xindex>
// CHECK:     %[[BLOCK:.*]] = tensor.extract %[[COORDS]][%c0]
// CHECK:     %[[J:.*]] = arith.muli %[[BLOCK]], %c64
// CHECK:     pit.sread %[[X]][%[[I]], %[[J]]]
// CHECK-NOT: pit.sread
// CHECK:     pit.yield
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#blocks = affine_map<(m, i, n, j) -> (m, n)>
#elements = affine_map<(m, i, n, j) -> (m, i, n, j)>
func.func @blocks(%x: tensor<?x?xf32>, %rows: tensor<?xf32>, %mask: tensor<?x?xi1>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %M = tensor.dim %mask, %c0 : tensor<?x?xi1>
  %N = tensor.dim %mask, %c1 : tensor<?x?xi1>
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%M, %N) : tensor<?x128x?x128xi1>
  %wide = linalg.generic {indexing_maps = [#blocks, #elements], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%mask : tensor<?x?xi1>) outs(%e : tensor<?x128x?x128xi1>) {
  ^bb0(%a: i1, %o: i1):
    linalg.yield %a : i1
  } -> tensor<?x128x?x128xi1>
  %flat = tensor.collapse_shape %wide [[0, 1], [2, 3]] : tensor<?x128x?x128xi1> into tensor<?x?xi1>
  %part = tensor.extract_slice %flat[0, 0] [%m, %n] [1, 1] : tensor<?x?xi1> to tensor<?x?xi1>
  %t = pit.sparse %x mask(%part : tensor<?x?xi1>) background(0xFF800000 : f32) : tensor<?x?xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %most = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%t : tensor<?x?xf32>) outs(%m0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  %ep = tensor.empty(%m, %n) : tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%t, %most : tensor<?x?xf32>, tensor<?xf32>) outs(%ep : tensor<?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %b = arith.subf %a, %c : f32
    %d = math.exp %b : f32
    linalg.yield %d : f32
  } -> tensor<?x?xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x?xf32>) outs(%l0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  return %most, %l : tensor<?xf32>, tensor<?xf32>
}

// -----

// Rows and columns of the mask are in orders. The mask is listed as it is; rows are
// read and written, and columns read, by the orders' ids. The mask's rows and columns
// behind the end are absent.

// CHECK-LABEL: func @ordered(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x?xf32>, %{{.*}}, %[[MASK:[^:]*]]: tensor<?x?xi1>, %[[ORDER:.*]]: tensor<?xi32>, %[[OTHERS:.*]]: tensor<?xi32>)
// CHECK-NOT: pit.reorder
// CHECK: pit.forall (%[[I:.*]]) = {{.*}} step (64)
// CHECK:   %[[ROWS:.*]] = pit.ids %[[ORDER]][%[[I]]] : tensor<?xi32> -> !pit.ids<64>
// CHECK:   %[[GROUP:.*]] = arith.divui %[[I]], %c128
// CHECK:   pit.for {{.*}}[%[[GROUP]]] : {{.*}} chunk 1
// CHECK:     %[[J:.*]] = arith.muli %{{.*}}, %c64
// CHECK:     %[[COLUMNS:.*]] = pit.ids %[[OTHERS]][%[[J]]] : tensor<?xi32> -> !pit.ids<64>
// CHECK:     pit.sread %[[X]][%[[ROWS]] : !pit.ids<64>, %[[COLUMNS]] : !pit.ids<64>]
// CHECK:     pit.coords %[[COLUMNS]]
// CHECK:   pit.swrite %{{.*}} into %{{.*}}[%[[ROWS]] : !pit.ids<64>]
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#blocks = affine_map<(m, i, n, j) -> (m, n)>
#elements = affine_map<(m, i, n, j) -> (m, i, n, j)>
func.func @ordered(%x: tensor<?x?xf32>, %rows: tensor<?xf32>, %mask: tensor<?x?xi1>,
                   %order: tensor<?xi32>, %others: tensor<?xi32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %M = tensor.dim %mask, %c0 : tensor<?x?xi1>
  %N = tensor.dim %mask, %c1 : tensor<?x?xi1>
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%M, %N) : tensor<?x128x?x128xi1>
  %wide = linalg.generic {indexing_maps = [#blocks, #elements], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%mask : tensor<?x?xi1>) outs(%e : tensor<?x128x?x128xi1>) {
  ^bb0(%a: i1, %o: i1):
    linalg.yield %a : i1
  } -> tensor<?x128x?x128xi1>
  %flat = tensor.collapse_shape %wide [[0, 1], [2, 3]] : tensor<?x128x?x128xi1> into tensor<?x?xi1>
  %part = tensor.extract_slice %flat[0, 0] [%m, %n] [1, 1] : tensor<?x?xi1> to tensor<?x?xi1>
  %by_rows = pit.reorder %part by %order dims [0] : tensor<?x?xi1>, tensor<?xi32>
  %moved = pit.reorder %by_rows by %others dims [1] : tensor<?x?xi1>, tensor<?xi32>
  %t = pit.sparse %x mask(%moved : tensor<?x?xi1>) background(0xFF800000 : f32) : tensor<?x?xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %most = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%t : tensor<?x?xf32>) outs(%m0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  %ep = tensor.empty(%m, %n) : tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%t, %most : tensor<?x?xf32>, tensor<?xf32>) outs(%ep : tensor<?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %b = arith.subf %a, %c : f32
    %d = math.exp %b : f32
    linalg.yield %d : f32
  } -> tensor<?x?xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x?xf32>) outs(%l0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  return %most, %l : tensor<?xf32>, tensor<?xf32>
}


// -----

// Blocks of 4 are too few elements for a step: they are gathered one by one.

// CHECK-LABEL: func @few(
// CHECK: pit.index mask {{.*}} -> !pit.index<micro_tile = [64, 1], axis = 1>
// CHECK: pit.for {{.*}} chunk 64
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @few(%x: tensor<?x?xf32>, %rows: tensor<?xf32>, %mask: tensor<?x?xi1>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m = tensor.dim %mask, %c0 : tensor<?x?xi1>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %N = tensor.dim %mask, %c1 : tensor<?x?xi1>
  %e = tensor.empty(%m, %N) : tensor<?x?x4xi1>
  %wide = linalg.broadcast ins(%mask : tensor<?x?xi1>) outs(%e : tensor<?x?x4xi1>) dimensions = [2]
  %flat = tensor.collapse_shape %wide [[0], [1, 2]] : tensor<?x?x4xi1> into tensor<?x?xi1>
  %t = pit.sparse %x mask(%flat : tensor<?x?xi1>) background(0xFF800000 : f32) : tensor<?x?xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %most = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%t : tensor<?x?xf32>) outs(%m0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  %ep = tensor.empty(%m, %n) : tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%t, %most : tensor<?x?xf32>, tensor<?xf32>) outs(%ep : tensor<?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %b = arith.subf %a, %c : f32
    %d = math.exp %b : f32
    linalg.yield %d : f32
  } -> tensor<?x?xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x?xf32>) outs(%l0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  return %most, %l : tensor<?xf32>, tensor<?xf32>
}
