// RUN: pit-opt %s -pit-plan -cse -pit-fold -cse -split-input-file | FileCheck %s --check-prefix=FOLD
// RUN: pit-opt %s -pit-plan -cse -pit-fold -cse -pit-tile=kernels -pit-fuse-epilogues -pit-lower-marks -canonicalize -cse -split-input-file | FileCheck %s

// Element-wise ops that are wanted where the product before them is computed
// lose their rule, and the product's loop computes them [E6].

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>

// Bias and activation, a cast, and a dense residual: one loop. It starts from
// the background, whatever the ops make of what the index does not list.
// FOLD-LABEL: func.func @chain(
// FOLD: linalg.matmul {pit.rule = #pit.rule
// FOLD-NOT: pit.rule =
// FOLD: pit.sparse %{{.*}} index(%{{.*}}) background(-1.000000e+00 : f16) : tensor<?x96xf16>
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x64xf32>, %[[W:[^:]*]]: tensor<64x96xf32>, %[[B:[^:]*]]: tensor<96xf32>, %[[RES:[^:]*]]: tensor<?x96xf16>, %[[I:[^:]*]]: !pit.index
// CHECK-DAG: %[[M1:.*]] = arith.constant -1.000000e+00 : f16
// CHECK: %[[START:.*]] = linalg.fill ins(%[[M1]] : f16)
// CHECK: %[[R:.*]] = pit.forall %[[IDS:.*]] at %{{.*}} in %[[I]] {{.*}} iter_args(%{{.*}} = %[[START]]) -> (tensor<?x96xf16>) {
// CHECK: pit.sread %[[X]][%[[IDS]]
// CHECK: linalg.matmul
// CHECK: pit.sread %[[B]][
// CHECK: arith.maximumf
// CHECK: arith.truncf
// CHECK: pit.sread %[[RES]][%[[IDS]] : !pit.ids<{{.*}}>, %{{.*}}] : tensor<?x96xf16>
// CHECK: arith.addf %{{.*}} : f16
// CHECK: pit.swrite %{{.*}}[%[[IDS]] : !pit.ids
// CHECK-NOT: pit.forall
// CHECK: return %[[R]]
func.func @chain(%x: tensor<?x64xf32>, %w: tensor<64x96xf32>, %b: tensor<96xf32>, %res: tensor<?x96xf16>,
                 %i: !rows, %z: tensor<?x96xf32>, %h: tensor<?x96xf16>) -> tensor<?x96xf16> {
  %zero = arith.constant 0.0 : f32
  %xs = pit.sparse %x index(%i : !rows) : tensor<?x64xf32>
  %p = linalg.matmul ins(%xs, %w : tensor<?x64xf32>, tensor<64x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %a = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%p, %b : tensor<?x96xf32>, tensor<96xf32>) outs(%z : tensor<?x96xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x96xf32>
  %c = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%a : tensor<?x96xf32>) outs(%h : tensor<?x96xf16>) {
  ^bb0(%u: f32, %o: f16):
    %s = arith.truncf %u : f32 to f16
    linalg.yield %s : f16
  } -> tensor<?x96xf16>
  %d = linalg.add ins(%c, %res : tensor<?x96xf16>, tensor<?x96xf16>) outs(%h : tensor<?x96xf16>) -> tensor<?x96xf16>
  %y = pit.sparse %d index(%i : !rows) background(-1.0 : f16) : tensor<?x96xf16>
  return %y : tensor<?x96xf16>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>

// A hidden value stays packed, and is no loop either.
// FOLD-LABEL: func.func @hidden(
// FOLD-COUNT-2: pit.rule =
// FOLD-NOT: pit.rule =
// FOLD: return
// CHECK-LABEL: func.func @hidden(
// CHECK: %[[H:.*]] = pit.forall {{.*}} -> (tensor<?x96xf32>) {
// CHECK: linalg.matmul
// CHECK: math.tanh
// CHECK: pit.swrite %{{.*}} into %{{.*}}[%{{.*}} : !pit.ids
// CHECK: %[[R:.*]] = pit.forall
// CHECK: pit.sread %[[H]]
// CHECK: linalg.matmul
// CHECK: arith.addf
// CHECK: pit.swrite
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]
func.func @hidden(%x: tensor<?x64xf32>, %w: tensor<64x96xf32>, %v: tensor<96x64xf32>, %b: tensor<64xf32>,
                  %i: !rows) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?x64xf32>
  %eh = tensor.empty(%d) : tensor<?x96xf32>
  %zh = linalg.fill ins(%zero : f32) outs(%eh : tensor<?x96xf32>) -> tensor<?x96xf32>
  %ey = tensor.empty(%d) : tensor<?x64xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<?x64xf32>) -> tensor<?x64xf32>
  %xs = pit.sparse %x index(%i : !rows) : tensor<?x64xf32>
  %p = linalg.matmul ins(%xs, %w : tensor<?x64xf32>, tensor<64x96xf32>) outs(%zh : tensor<?x96xf32>) -> tensor<?x96xf32>
  %t = linalg.tanh ins(%p : tensor<?x96xf32>) outs(%eh : tensor<?x96xf32>) -> tensor<?x96xf32>
  %ts = pit.sparse %t index(%i : !rows) : tensor<?x96xf32>
  %q = linalg.matmul ins(%ts, %v : tensor<?x96xf32>, tensor<96x64xf32>) outs(%zy : tensor<?x64xf32>) -> tensor<?x64xf32>
  %s = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%q, %b : tensor<?x64xf32>, tensor<64xf32>) outs(%ey : tensor<?x64xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %r = arith.addf %a, %c : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  %y = pit.sparse %s index(%i : !rows) : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

!groups = !pit.index<micro_tile = [1, 1, *], axis = 1>
#x = affine_map<(b, s, n, k) -> (b, s, k)>
#w = affine_map<(b, s, n, k) -> (k, n)>
#y = affine_map<(b, s, n, k) -> (b, s, n)>

// Of two products that meet one is computed packed. The loop of the other reads
// it at the positions of its ids, without the dims of groups.
// CHECK-LABEL: func.func @gated(
// CHECK-SAME: %[[I:[^:]*]]: !pit.index
// CHECK: %[[U:.*]] = pit.forall {{.*}} -> (tensor<?x96xf32>) {
// CHECK: %[[R:.*]] = pit.forall {{.*}} -> (tensor<?x?x96xf32>) {
// CHECK-NEXT: pit.for %[[IDS:.*]] at %[[AT:.*]] in %[[I]][%[[G:arg[0-9]+]]{{[]]}}
// CHECK: %[[T:.*]] = pit.sread %[[U]][%[[AT]] : !pit.ids<[[N:.*]]>, %{{.*}}] : tensor<?x96xf32> -> tensor<[[N]]x{{[0-9]*}}xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[T]] :
// CHECK: arith.mulf
// CHECK: pit.swrite %{{.*}}[%[[G]], %[[IDS]] : !pit.ids
// CHECK: return %[[R]]
func.func @gated(%x: tensor<?x?x64xf32>, %w: tensor<64x96xf32>, %v: tensor<64x96xf32>,
                 %i: !groups) -> tensor<?x?x96xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %e = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %h = tensor.empty(%d, %e) : tensor<?x?x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%h : tensor<?x?x96xf32>) -> tensor<?x?x96xf32>
  %xs = pit.sparse %x index(%i : !groups) : tensor<?x?x64xf32>
  %g = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%xs, %w : tensor<?x?x64xf32>, tensor<64x96xf32>) outs(%z : tensor<?x?x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x?x96xf32>
  %u = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%xs, %v : tensor<?x?x64xf32>, tensor<64x96xf32>) outs(%z : tensor<?x?x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x?x96xf32>
  %m = linalg.mul ins(%g, %u : tensor<?x?x96xf32>, tensor<?x?x96xf32>) outs(%h : tensor<?x?x96xf32>) -> tensor<?x?x96xf32>
  %y = pit.sparse %m index(%i : !groups) : tensor<?x?x96xf32>
  return %y : tensor<?x?x96xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>

// No op at all between product and mark; and marks in between, of which the
// last counts.
// CHECK-LABEL: func.func @marks(
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3.000000e+00 : f32
// CHECK: %[[S1:.*]] = linalg.fill ins(%[[TWO]] : f32)
// CHECK: %[[R1:.*]] = pit.forall {{.*}} iter_args(%{{.*}} = %[[S1]])
// CHECK: %[[S2:.*]] = linalg.fill ins(%[[THREE]] : f32)
// CHECK: %[[R2:.*]] = pit.forall {{.*}} iter_args(%{{.*}} = %[[S2]])
// CHECK: linalg.matmul
// CHECK: math.exp
// CHECK: math.exp
// CHECK-NOT: pit.forall
// CHECK: return %[[R1]], %[[R2]]
func.func @marks(%x: tensor<?x64xf32>, %w: tensor<64x96xf32>, %v: tensor<64x96xf32>, %i: !rows,
                 %z: tensor<?x96xf32>) -> (tensor<?x96xf32>, tensor<?x96xf32>) {
  %xs = pit.sparse %x index(%i : !rows) : tensor<?x64xf32>
  %p = linalg.matmul ins(%xs, %w : tensor<?x64xf32>, tensor<64x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %y = pit.sparse %p index(%i : !rows) background(2.0 : f32) : tensor<?x96xf32>
  %q = linalg.matmul ins(%xs, %v : tensor<?x64xf32>, tensor<64x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %e = linalg.exp ins(%q : tensor<?x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %es = pit.sparse %e index(%i : !rows) background(2.0 : f32) : tensor<?x96xf32>
  %f = linalg.exp ins(%es : tensor<?x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %fs = pit.sparse %f index(%i : !rows) background(3.0 : f32) : tensor<?x96xf32>
  return %y, %fs : tensor<?x96xf32>, tensor<?x96xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// The product is marked, and what comes after it skips the background [E4].
// FOLD-LABEL: func.func @skipped(
// FOLD: linalg.matmul {pit.rule =
// FOLD-NOT: pit.rule =
// FOLD: return
// CHECK-LABEL: func.func @skipped(
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[S:.*]] = linalg.fill ins(%[[ONE]] : f32)
// CHECK: %[[R:.*]] = pit.forall {{.*}} iter_args(%{{.*}} = %[[S]])
// CHECK: math.exp
// CHECK: return %[[R]]
func.func @skipped(%x: tensor<?x64xf32>, %w: tensor<64x96xf32>, %i: !rows, %z: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %xs = pit.sparse %x index(%i : !rows) : tensor<?x64xf32>
  %p = linalg.matmul ins(%xs, %w : tensor<?x64xf32>, tensor<64x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %ps = pit.sparse %p index(%i : !rows) : tensor<?x96xf32>
  %e = linalg.exp ins(%ps : tensor<?x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %e : tensor<?x96xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#nm = affine_map<(m, n) -> (n, m)>

// What is refused keeps its rule, and has a loop of its own.

// Another index [E6].
// FOLD-LABEL: func.func @other_index(
// FOLD-COUNT-2: pit.rule =
// FOLD: return
// CHECK-LABEL: func.func @other_index(
// CHECK-COUNT-2: pit.forall
// CHECK: return
func.func @other_index(%x: tensor<?x64xf32>, %w: tensor<64x96xf32>, %i: !rows, %j: !rows, %z: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %xs = pit.sparse %x index(%i : !rows) : tensor<?x64xf32>
  %p = linalg.matmul ins(%xs, %w : tensor<?x64xf32>, tensor<64x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %e = linalg.exp ins(%p : tensor<?x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %y = pit.sparse %e index(%j : !rows) : tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// The same index along another dim [E6]: the rows of the result are columns of
// the product.
// FOLD-LABEL: func.func @other_dim(
// FOLD-COUNT-2: pit.rule =
// FOLD: return
func.func @other_dim(%x: tensor<?x64xf32>, %w: tensor<64x?xf32>, %i: !rows, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %xs = pit.sparse %x index(%i : !rows) : tensor<?x64xf32>
  %p = linalg.matmul ins(%xs, %w : tensor<?x64xf32>, tensor<64x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e = linalg.generic {indexing_maps = [#mn, #nm], iterator_types = ["parallel", "parallel"]}
         ins(%p : tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %y = pit.sparse %e index(%i : !rows) : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// The product is used twice [E2].
// FOLD-LABEL: func.func @twice(
// FOLD-COUNT-2: pit.rule =
// FOLD: return
func.func @twice(%x: tensor<?x64xf32>, %w: tensor<64x96xf32>, %i: !rows, %z: tensor<?x96xf32>) -> (tensor<?x96xf32>, tensor<?x96xf32>) {
  %xs = pit.sparse %x index(%i : !rows) : tensor<?x64xf32>
  %p = linalg.matmul ins(%xs, %w : tensor<?x64xf32>, tensor<64x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %e = linalg.exp ins(%p : tensor<?x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %y = pit.sparse %e index(%i : !rows) : tensor<?x96xf32>
  return %y, %p : tensor<?x96xf32>, tensor<?x96xf32>
}

// It is read transposed [E2].
// FOLD-LABEL: func.func @transposed(
// FOLD-COUNT-2: pit.rule =
// FOLD: return
func.func @transposed(%x: tensor<?x64xf32>, %w: tensor<64x?xf32>, %i: !rows, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %xs = pit.sparse %x index(%i : !rows) : tensor<?x64xf32>
  %p = linalg.matmul ins(%xs, %w : tensor<?x64xf32>, tensor<64x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e = linalg.generic {indexing_maps = [#nm, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%p : tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %y = pit.sparse %e index(%i : !rows) : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// It may trap [E1].
// FOLD-LABEL: func.func @traps(
// FOLD-COUNT-2: pit.rule =
// FOLD: return
func.func @traps(%x: tensor<?x64xi32>, %w: tensor<64x96xi32>, %i: !rows, %z: tensor<?x96xi32>, %d: tensor<?x96xi32>) -> tensor<?x96xi32> {
  %xs = pit.sparse %x index(%i : !rows) : tensor<?x64xi32>
  %p = linalg.matmul ins(%xs, %w : tensor<?x64xi32>, tensor<64x96xi32>) outs(%z : tensor<?x96xi32>) -> tensor<?x96xi32>
  %e = linalg.div ins(%d, %p : tensor<?x96xi32>, tensor<?x96xi32>) outs(%z : tensor<?x96xi32>) -> tensor<?x96xi32>
  %y = pit.sparse %e index(%i : !rows) : tensor<?x96xi32>
  return %y : tensor<?x96xi32>
}

// It asks which row it is in, so it is not planned [C7], and not taken [E5].
// CHECK-LABEL: func.func @asks_for_row(
// CHECK: %[[P:.*]] = pit.forall
// CHECK: linalg.generic {{.*}} ins(%[[P]] :
// CHECK: linalg.index 0
func.func @asks_for_row(%x: tensor<?x64xf32>, %w: tensor<64x96xf32>, %i: !rows, %z: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %xs = pit.sparse %x index(%i : !rows) : tensor<?x64xf32>
  %p = linalg.matmul ins(%xs, %w : tensor<?x64xf32>, tensor<64x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %e = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%p : tensor<?x96xf32>) outs(%z : tensor<?x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = linalg.index 0 : index
    %t = arith.index_cast %m : index to i32
    %u = arith.sitofp %t : i32 to f32
    %r = arith.addf %a, %u : f32
    linalg.yield %r : f32
  } -> tensor<?x96xf32>
  %y = pit.sparse %e index(%i : !rows) : tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// Columns could be told, but not in a mainloop.
// FOLD-LABEL: func.func @asks_for_column(
// FOLD-COUNT-2: pit.rule =
// FOLD: return
func.func @asks_for_column(%x: tensor<?x64xf32>, %w: tensor<64x96xf32>, %i: !rows, %z: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %xs = pit.sparse %x index(%i : !rows) : tensor<?x64xf32>
  %p = linalg.matmul ins(%xs, %w : tensor<?x64xf32>, tensor<64x96xf32>) outs(%z : tensor<?x96xf32>) -> tensor<?x96xf32>
  %e = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%p : tensor<?x96xf32>) outs(%z : tensor<?x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = linalg.index 1 : index
    %t = arith.index_cast %m : index to i32
    %u = arith.sitofp %t : i32 to f32
    %r = arith.addf %a, %u : f32
    linalg.yield %r : f32
  } -> tensor<?x96xf32>
  %y = pit.sparse %e index(%i : !rows) : tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// The product skips columns that it sums over: its loop writes all rows [E7].
// FOLD-LABEL: func.func @reduced(
// FOLD-COUNT-2: pit.rule =
// FOLD: return
func.func @reduced(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %i: !rows, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %ws = pit.sparse %w index(%i : !rows) : tensor<?x?xf32>
  %p = linalg.matmul ins(%x, %ws : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e = linalg.exp ins(%p : tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = pit.sparse %e index(%i : !rows) : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
