// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-form-mainloops,canonicalize))' | FileCheck %s

// Loops over steps that compute more than a contraction of what they read.

// An attention: scores of keys that are there, their largest so far and the sum of
// their powers, by which what was summed up before is scaled. The rows of q are read
// once, and where a step begins is a number. What is carried has no dimension for the
// heads, of which a tile has one.

// CHECK-DAG: #[[$ROWS:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-DAG: #[[$ACC:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$FIRST:.*]] = affine_map<(d0, d1, d2) -> (0)>
// CHECK-LABEL: func.func @attention
// CHECK-DAG: %[[LOW:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[N:.*]] = memref.dim %arg1
// CHECK: pit.forall (%[[H:.*]], %[[I:.*]]) =
// CHECK:   %[[ONCE:.*]] = pit.view %arg0[%[[H]], %[[I]], %c0 : index, index, index] : memref<?x?x64xf16> -> vector<1x64x64xf16>
// CHECK:   pit.mainloop %c0 to %[[N]] step [32] invariants(%[[ONCE]] : vector<1x64x64xf16>) extra_maps []
// CHECK-SAME: into %arg3[%[[H]], %[[I]], %c0 : index, index, index] body [1, 64, 64] sums [#[[$ACC]], #[[$FIRST]], #[[$ROWS]]] : memref<?x?x64xf16> load {
// CHECK:   ^bb0(%[[J:.*]]: index):
// CHECK:     %[[K:.*]] = pit.view %arg1[%[[H]], %[[J]], %c0 {{.*}} -> vector<1x32x64xf16>
// CHECK:     %[[V:.*]] = pit.view %arg2[%[[H]], %[[J]], %c0 {{.*}} -> vector<1x32x64xf16>
// CHECK:     pit.yield %[[K]], %[[V]], %[[J]] : vector<1x32x64xf16>, vector<1x32x64xf16>, index
// CHECK:   } compute {
// CHECK:   ^bb0(%[[KT:.*]]: vector<1x32x64xf16>, %[[VT:.*]]: vector<1x32x64xf16>, %[[QT:.*]]: vector<1x64x64xf16>, %[[AT:.*]]: index, %[[OLD:.*]]: vector<64x64xf32>, %[[TOP:.*]]: vector<64xf32>, %[[TOTAL:.*]]: vector<64xf32>):
// CHECK:     %[[START:.*]] = pit.pointwise() tile [64, 32]
// CHECK:       pit.yield %[[ZERO]]
// CHECK:     %[[S:.*]] = pit.contract %[[QT]], %[[KT]], %[[START]] tile [64, 32, 1, 64]
// CHECK:     %[[INSIDE:.*]] = pit.pointwise(%[[S]]) tile [64, 32]
// CHECK:     ^bb0(%{{.*}}: index, %[[COL:.*]]: index, %[[X:.*]]: f32):
// CHECK:       %[[KEY:.*]] = arith.addi %[[COL]], %[[AT]]
// CHECK:       %[[IS:.*]] = arith.cmpi slt, %[[KEY]], %[[N]]
// CHECK:       arith.select %[[IS]], %[[X]], %[[LOW]]
// CHECK:     %[[HIGHER:.*]] = pit.pointwise(%[[INSIDE]]) reduces %[[TOP]] tile [64, 32] maps [#{{.*}}, #{{.*}}] : (vector<64x32xf32>, vector<64xf32>) -> vector<64xf32> {
// CHECK:     ^bb0(%{{.*}}: index, %{{.*}}: index, %[[X:.*]]: f32, %[[MOST:.*]]: f32):
// CHECK:       arith.maximumf %[[MOST]], %[[X]]
// CHECK:     %[[P:.*]] = pit.pointwise(%[[INSIDE]], %[[HIGHER]]) tile [64, 32]
// CHECK:       math.exp2
// CHECK:     %[[SCALE:.*]] = pit.pointwise(%[[TOP]], %[[HIGHER]]) tile [64]
// CHECK:     %[[LESS:.*]] = pit.pointwise(%[[TOTAL]], %[[SCALE]]) tile [64]
// CHECK:     %[[ALL:.*]] = pit.pointwise(%[[P]]) reduces %[[LESS]] tile [64, 32]
// CHECK:     %[[P16:.*]] = pit.pointwise(%[[P]]) {{.*}} -> vector<64x32xf16>
// CHECK:     %[[SCALED:.*]] = pit.pointwise(%[[OLD]], %[[SCALE]]) tile [64, 64]
// CHECK:     %[[NEW:.*]] = pit.contract %[[P16]], %[[VT]], %[[SCALED]] tile [64, 64, 1, 32]
// CHECK:     pit.yield %[[NEW]], %[[HIGHER]], %[[ALL]] : vector<64x64xf32>, vector<64xf32>, vector<64xf32>
// CHECK:   } prologue {
// CHECK-NEXT: pit.yield %[[ZERO]], %[[LOW]], %[[ZERO]] : f32, f32, f32
// CHECK:   } epilogue {
// CHECK:   ^bb0(%[[SUM:.*]]: f32, %{{.*}}: f32, %[[POWERS:.*]]: f32):
// CHECK:     arith.divf %[[SUM]], %[[POWERS]]
// CHECK-NOT: pit.swrite
// CHECK-NOT: bufferization.materialize_in_destination
#tile = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#vec = affine_map<(m) -> (m)>
#out = affine_map<(e, m, n) -> (e, m, n)>
func.func @attention(%q: memref<?x?x64xf16>, %k: memref<?x?x64xf16>, %v: memref<?x?x64xf16>, %out: memref<?x?x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %heads = memref.dim %q, %c0 : memref<?x?x64xf16>
  %rows = memref.dim %q, %c1 : memref<?x?x64xf16>
  %keys = memref.dim %k, %c1 : memref<?x?x64xf16>
  %qt = bufferization.to_tensor %q restrict : memref<?x?x64xf16> to tensor<?x?x64xf16>
  %kt = bufferization.to_tensor %k restrict : memref<?x?x64xf16> to tensor<?x?x64xf16>
  %vt = bufferization.to_tensor %v restrict : memref<?x?x64xf16> to tensor<?x?x64xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<?x?x64xf16> to tensor<?x?x64xf16>
  %r = pit.forall (%h, %i) = (%c0, %c0) to (%heads, %rows) step (1, 64) iter_args(%o = %ot) -> (tensor<?x?x64xf16>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %e1 = tensor.empty() : tensor<64xf32>
    %acc0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %top0 = linalg.fill ins(%low : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
    %total0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
    %sums:3 = pit.for (%j) = (%c0) to (%keys) step (32) iter_args(%acc = %acc0, %top = %top0, %total = %total0)
                -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) {
      %x = pit.sread %qt[%h, %i, %c0] : tensor<?x?x64xf16> -> tensor<1x64x64xf16>
      %y = pit.sread %kt[%h, %j, %c0] : tensor<?x?x64xf16> -> tensor<1x32x64xf16>
      %e2 = tensor.empty() : tensor<64x32xf32>
      %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x32xf32>) -> tensor<64x32xf32>
      %s = linalg.generic {indexing_maps = [affine_map<(m, n, e, k) -> (e, m, k)>, affine_map<(m, n, e, k) -> (e, n, k)>,
                                            affine_map<(m, n, e, k) -> (m, n)>],
                           iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
             ins(%x, %y : tensor<1x64x64xf16>, tensor<1x32x64xf16>) outs(%start : tensor<64x32xf32>) {
      ^bb0(%xe: f16, %ye: f16, %sum: f32):
        %xw = arith.extf %xe : f16 to f32
        %yw = arith.extf %ye : f16 to f32
        %p = arith.mulf %xw, %yw : f32
        %t = arith.addf %sum, %p : f32
        linalg.yield %t : f32
      } -> tensor<64x32xf32>
      %inside = linalg.generic {indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}
                  ins(%s : tensor<64x32xf32>) outs(%e2 : tensor<64x32xf32>) {
      ^bb0(%xe: f32, %old: f32):
        %d = linalg.index 1 : index
        %key = arith.addi %d, %j : index
        %is = arith.cmpi slt, %key, %keys : index
        %t = arith.select %is, %xe, %low : f32
        linalg.yield %t : f32
      } -> tensor<64x32xf32>
      %higher = linalg.reduce { arith.maximumf } ins(%inside : tensor<64x32xf32>) outs(%top : tensor<64xf32>) dimensions = [1]
      %powers = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]}
                  ins(%inside, %higher : tensor<64x32xf32>, tensor<64xf32>) outs(%e2 : tensor<64x32xf32>) {
      ^bb0(%xe: f32, %most: f32, %old: f32):
        %d = arith.subf %xe, %most : f32
        %p = math.exp2 %d : f32
        linalg.yield %p : f32
      } -> tensor<64x32xf32>
      %scale = linalg.generic {indexing_maps = [#vec, #vec, #vec], iterator_types = ["parallel"]}
                 ins(%top, %higher : tensor<64xf32>, tensor<64xf32>) outs(%e1 : tensor<64xf32>) {
      ^bb0(%xe: f32, %most: f32, %old: f32):
        %d = arith.subf %xe, %most : f32
        %p = math.exp2 %d : f32
        linalg.yield %p : f32
      } -> tensor<64xf32>
      %less = linalg.map { arith.mulf } ins(%total, %scale : tensor<64xf32>, tensor<64xf32>) outs(%e1 : tensor<64xf32>)
      %all = linalg.reduce { arith.addf } ins(%powers : tensor<64x32xf32>) outs(%less : tensor<64xf32>) dimensions = [1]
      %z = pit.sread %vt[%h, %j, %c0] : tensor<?x?x64xf16> -> tensor<1x32x64xf16>
      %e16 = tensor.empty() : tensor<64x32xf16>
      %p16 = linalg.map { arith.truncf } ins(%powers : tensor<64x32xf32>) outs(%e16 : tensor<64x32xf16>)
      %scaled = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]}
                  ins(%acc, %scale : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
      ^bb0(%xe: f32, %by: f32, %old: f32):
        %p = arith.mulf %xe, %by : f32
        linalg.yield %p : f32
      } -> tensor<64x64xf32>
      %new = linalg.generic {indexing_maps = [affine_map<(m, n, e, k) -> (m, k)>, affine_map<(m, n, e, k) -> (e, k, n)>,
                                              affine_map<(m, n, e, k) -> (m, n)>],
                             iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
               ins(%p16, %z : tensor<64x32xf16>, tensor<1x32x64xf16>) outs(%scaled : tensor<64x64xf32>) {
      ^bb0(%xe: f16, %ye: f16, %sum: f32):
        %xw = arith.extf %xe : f16 to f32
        %yw = arith.extf %ye : f16 to f32
        %p = arith.mulf %xw, %yw : f32
        %t = arith.addf %sum, %p : f32
        linalg.yield %t : f32
      } -> tensor<64x64xf32>
      pit.yield %new, %higher, %all : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    %e3 = tensor.empty() : tensor<1x64x64xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(e, m, n) -> (m, n)>, affine_map<(e, m, n) -> (m)>, #out],
                         iterator_types = ["parallel", "parallel", "parallel"]}
           ins(%sums#0, %sums#2 : tensor<64x64xf32>, tensor<64xf32>) outs(%e3 : tensor<1x64x64xf32>) {
    ^bb0(%xe: f32, %all: f32, %old: f32):
      %d = arith.divf %xe, %all : f32
      linalg.yield %d : f32
    } -> tensor<1x64x64xf32>
    %w = pit.swrite %t into %o[%h, %i, %c0] : tensor<1x64x64xf32> into tensor<?x?x64xf16>
    pit.yield %w : tensor<?x?x64xf16>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x?x64xf16>, memref<?x?x64xf16>) -> ()
  return
}

// -----

// Two layers of a perceptron: the first one's result is computed piece by piece, and
// never stored. What is added to it is an extra.

// CHECK-LABEL: func.func @perceptron
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: pit.forall (%[[I:.*]]) =
// CHECK:   %[[OLD:.*]] = pit.view %arg3[%[[I]], %c0 : index, index] : memref<?x80xf32> -> vector<48x80xf32>
// CHECK:   %[[X:.*]] = pit.view %arg0[%[[I]], %c0 : index, index] : memref<?x64xf16> -> vector<48x64xf16>
// CHECK:   pit.mainloop {{.*}} step [32] invariants(%[[X]] : vector<48x64xf16>) extras(%[[OLD]] : vector<48x80xf32>) extra_maps [#[[ID:[a-z0-9]*]]]
// CHECK-SAME: into %arg4[%[[I]], %c0 : index, index] body [48, 80] sums [#[[ID]]] : memref<?x80xf32> load {
// CHECK:   ^bb0(%[[J:.*]]: index):
// CHECK:     %[[W1:.*]] = pit.view %arg1[%c0, %[[J]] : index, index] : memref<64x?xf16> -> vector<64x32xf16>
// CHECK:     %[[W2:.*]] = pit.view %arg2[%[[J]], %c0 : index, index] : memref<?x80xf16> -> vector<32x80xf16>
// CHECK:     pit.yield %[[W1]], %[[W2]] : vector<64x32xf16>, vector<32x80xf16>
// CHECK:   ^bb0(%[[A:.*]]: vector<64x32xf16>, %[[B:.*]]: vector<32x80xf16>, %[[XT:.*]]: vector<48x64xf16>, %[[ACC:.*]]: vector<48x80xf32>):
// CHECK:     %[[START:.*]] = pit.pointwise() tile [48, 32]
// CHECK:     %[[S:.*]] = pit.contract %[[XT]], %[[A]], %[[START]] tile [48, 32, 64]
// CHECK:     %[[HIDDEN:.*]] = pit.pointwise(%[[S]]) {{.*}} : (vector<48x32xf32>) -> vector<48x32xf32>
// CHECK:     ^bb0(%{{.*}}: index, %{{.*}}: index, %[[E:.*]]: f32):
// CHECK:       arith.maximumf %[[E]], %[[ZERO]]
// CHECK:     %[[H16:.*]] = pit.pointwise(%[[HIDDEN]]) {{.*}} : (vector<48x32xf32>) -> vector<48x32xf16>
// CHECK:       arith.truncf
// CHECK:     %[[NEW:.*]] = pit.contract %[[H16]], %[[B]], %[[ACC]] tile [48, 80, 32]
// CHECK:     pit.yield %[[NEW]] : vector<48x80xf32>
// CHECK:   } prologue {
// CHECK:     pit.yield %[[ZERO]] : f32
// CHECK:   } epilogue {
// CHECK:   ^bb0(%[[SUM:.*]]: f32, %[[ADDED:.*]]: f32):
// CHECK:     arith.addf %[[SUM]], %[[ADDED]]
#tile = affine_map<(m, n) -> (m, n)>
func.func @perceptron(%x: memref<?x64xf16>, %w1: memref<64x?xf16>, %w2: memref<?x80xf16>, %old: memref<?x80xf32>, %out: memref<?x80xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %x, %c0 : memref<?x64xf16>
  %hidden = memref.dim %w1, %c1 : memref<64x?xf16>
  %xt = bufferization.to_tensor %x restrict : memref<?x64xf16> to tensor<?x64xf16>
  %at = bufferization.to_tensor %w1 restrict : memref<64x?xf16> to tensor<64x?xf16>
  %bt = bufferization.to_tensor %w2 restrict : memref<?x80xf16> to tensor<?x80xf16>
  %oldt = bufferization.to_tensor %old restrict : memref<?x80xf32> to tensor<?x80xf32>
  %ot = bufferization.to_tensor %out restrict writable : memref<?x80xf32> to tensor<?x80xf32>
  %r = pit.forall (%i) = (%c0) to (%m) step (48) iter_args(%o = %ot) -> (tensor<?x80xf32>) {
    %e = tensor.empty() : tensor<48x80xf32>
    %acc0 = linalg.fill ins(%zero : f32) outs(%e : tensor<48x80xf32>) -> tensor<48x80xf32>
    %sum = pit.for (%j) = (%c0) to (%hidden) step (32) iter_args(%acc = %acc0) -> (tensor<48x80xf32>) {
      %a = pit.sread %xt[%i, %c0] : tensor<?x64xf16> -> tensor<48x64xf16>
      %b = pit.sread %at[%c0, %j] : tensor<64x?xf16> -> tensor<64x32xf16>
      %e1 = tensor.empty() : tensor<48x32xf32>
      %start = linalg.fill ins(%zero : f32) outs(%e1 : tensor<48x32xf32>) -> tensor<48x32xf32>
      %s = linalg.matmul ins(%a, %b : tensor<48x64xf16>, tensor<64x32xf16>) outs(%start : tensor<48x32xf32>) -> tensor<48x32xf32>
      %h = linalg.generic {indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}
             ins(%s : tensor<48x32xf32>) outs(%e1 : tensor<48x32xf32>) {
      ^bb0(%xe: f32, %u: f32):
        %t = arith.maximumf %xe, %zero : f32
        linalg.yield %t : f32
      } -> tensor<48x32xf32>
      %c = pit.sread %bt[%j, %c0] : tensor<?x80xf16> -> tensor<32x80xf16>
      %e16 = tensor.empty() : tensor<48x32xf16>
      %h16 = linalg.map { arith.truncf } ins(%h : tensor<48x32xf32>) outs(%e16 : tensor<48x32xf16>)
      %p = linalg.matmul ins(%h16, %c : tensor<48x32xf16>, tensor<32x80xf16>) outs(%acc : tensor<48x80xf32>) -> tensor<48x80xf32>
      pit.yield %p : tensor<48x80xf32>
    }
    %added = pit.sread %oldt[%i, %c0] : tensor<?x80xf32> -> tensor<48x80xf32>
    %t = linalg.map { arith.addf } ins(%sum, %added : tensor<48x80xf32>, tensor<48x80xf32>) outs(%e : tensor<48x80xf32>)
    %w = pit.swrite %t into %o[%i, %c0] : tensor<48x80xf32> into tensor<?x80xf32>
    pit.yield %w : tensor<?x80xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x80xf32>, memref<?x80xf32>) -> ()
  return
}

// -----

// Keys that are selected, by chunks of ids: a chunk may have ids that are absent, whose
// coordinates are -1. The coordinates are a tile of the step.

// CHECK-LABEL: func.func @selected
// CHECK: pit.mainloop step [] in %arg2[] chunk 32 {{.*}} invariants(%{{.*}} : vector<64x64xf16>)
// CHECK-SAME: body [64] sums [#{{.*}}] : memref<?xf32> load {
// CHECK:   ^bb0(%[[IDS:.*]]: !pit.ids<32>, %{{.*}}: !pit.ids<32>):
// CHECK:     %[[K:.*]] = pit.view %arg1[%[[IDS]], %c0 : !pit.ids<32>, index] : memref<?x64xf16> -> vector<32x64xf16>
// CHECK:     %[[AT:.*]] = pit.coords %[[IDS]] : !pit.ids<32> -> vector<32xindex>
// CHECK:     pit.yield %[[K]], %[[AT]] : vector<32x64xf16>, vector<32xindex>
// CHECK:   ^bb0(%{{.*}}: vector<32x64xf16>, %[[COORDS:.*]]: vector<32xindex>, %{{.*}}: vector<64x64xf16>, %[[TOP:.*]]: vector<64xf32>):
// CHECK:     %[[S:.*]] = pit.contract
// CHECK:     %[[THERE:.*]] = pit.pointwise(%[[S]], %[[COORDS]]) tile [64, 32]
// CHECK:     %[[NEW:.*]] = pit.pointwise(%[[THERE]]) reduces %[[TOP]] tile [64, 32]
// CHECK:     pit.yield %[[NEW]] : vector<64xf32>
#tile = affine_map<(m, n) -> (m, n)>
#col = affine_map<(m, n) -> (n)>
func.func @selected(%q: memref<?x64xf16>, %k: memref<?x64xf16>, %index: !pit.index<micro_tile = [1], axis = 0>, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m = memref.dim %q, %c0 : memref<?x64xf16>
  %qt = bufferization.to_tensor %q restrict : memref<?x64xf16> to tensor<?x64xf16>
  %kt = bufferization.to_tensor %k restrict : memref<?x64xf16> to tensor<?x64xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<?xf32> to tensor<?xf32>
  %r = pit.forall (%i) = (%c0) to (%m) step (64) iter_args(%o = %ot) -> (tensor<?xf32>) {
    %e = tensor.empty() : tensor<64xf32>
    %top0 = linalg.fill ins(%low : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %most = pit.for %ids at %pos in %index : !pit.index<micro_tile = [1], axis = 0> chunk 32 iter_args(%top = %top0) -> (tensor<64xf32>) {
      %x = pit.sread %qt[%i, %c0] : tensor<?x64xf16> -> tensor<64x64xf16>
      %y = pit.sread %kt[%ids : !pit.ids<32>, %c0] : tensor<?x64xf16> -> tensor<32x64xf16>
      %at = pit.coords %ids : !pit.ids<32> -> tensor<32xindex>
      %e2 = tensor.empty() : tensor<64x32xf32>
      %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x32xf32>) -> tensor<64x32xf32>
      %s = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                           iterator_types = ["parallel", "parallel", "reduction"]}
             ins(%x, %y : tensor<64x64xf16>, tensor<32x64xf16>) outs(%start : tensor<64x32xf32>) {
      ^bb0(%xe: f16, %ye: f16, %sum: f32):
        %xw = arith.extf %xe : f16 to f32
        %yw = arith.extf %ye : f16 to f32
        %p = arith.mulf %xw, %yw : f32
        %t = arith.addf %sum, %p : f32
        linalg.yield %t : f32
      } -> tensor<64x32xf32>
      %there = linalg.generic {indexing_maps = [#tile, #col, #tile], iterator_types = ["parallel", "parallel"]}
                 ins(%s, %at : tensor<64x32xf32>, tensor<32xindex>) outs(%e2 : tensor<64x32xf32>) {
      ^bb0(%xe: f32, %id: index, %old: f32):
        %is = arith.cmpi sge, %id, %c0 : index
        %t = arith.select %is, %xe, %low : f32
        linalg.yield %t : f32
      } -> tensor<64x32xf32>
      %new = linalg.reduce { arith.maximumf } ins(%there : tensor<64x32xf32>) outs(%top : tensor<64xf32>) dimensions = [1]
      pit.yield %new : tensor<64xf32>
    }
    %w = pit.swrite %most into %o[%i] : tensor<64xf32> into tensor<?xf32>
    pit.yield %w : tensor<?xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}
