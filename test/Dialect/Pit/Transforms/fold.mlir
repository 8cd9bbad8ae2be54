// RUN: pit-opt %s -pit-fold -cse -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-fold -cse -pit-tile -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=TILED

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// A padded feed-forward block, planned for the rows that are no padding: its
// rows are packed once, and unpacked once.
// CHECK-LABEL: func.func @feed_forward
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x512xf32>, %[[MASK:[^:]*]]: tensor<?x512xi1>
// CHECK: %[[I:.*]] = pit.index mask %[[MASK]]
// CHECK-NOT: pit.swrite
// CHECK: %[[PX:.*]] = pit.sread %[[X]][%[[I]]
// CHECK-NOT: pit.s
// CHECK: %[[P1:.*]] = linalg.matmul ins(%[[PX]], %{{.*}})
// CHECK-NOT: pit.s
// CHECK: %[[P2:.*]] = linalg.generic {{.*}} ins(%[[P1]], %{{.*}} : tensor<?x2048xf32>, tensor<2048xf32>)
// CHECK-NOT: pit.s
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[P2]] : tensor<?x2048xf32>) outs(%{{.*}} : tensor<?xf32>)
// CHECK-NOT: pit.s
// CHECK: %[[SQUARES:.*]] = linalg.generic {{.*}} ins(%[[P2]] : tensor<?x2048xf32>) outs(%{{.*}} : tensor<?xf32>)
// CHECK-NOT: pit.s
// CHECK: %[[NORM:.*]] = linalg.generic {{.*}} ins(%[[P2]], %[[SUM]], %[[SQUARES]],
// CHECK-NOT: pit.s
// CHECK: %[[P4:.*]] = linalg.matmul ins(%[[NORM]], %{{.*}})
// CHECK-NOT: pit.s
// CHECK: %[[P5:.*]] = linalg.generic {{.*}} ins(%[[P4]], %{{.*}}, %[[PX]] :
// CHECK-NOT: pit.s
// CHECK: %[[Y:.*]] = pit.swrite %[[P5]]
// CHECK-NEXT: return %[[Y]]
func.func @feed_forward(%x: tensor<?x512xf32>, %mask: tensor<?x512xi1>, %w1: tensor<512x2048xf32>,
                        %b1: tensor<2048xf32>, %gamma: tensor<2048xf32>, %beta: tensor<2048xf32>,
                        %w2: tensor<2048x512xf32>, %b2: tensor<512xf32>) -> tensor<?x512xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x512xf32>
  %i = pit.index mask %mask : tensor<?x512xi1> -> !rows

  // The first matmul, planned.
  %e1 = tensor.empty(%rows) : tensor<?x2048xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %px = pit.sread %x[%i : !rows] : tensor<?x512xf32> -> tensor<?x512xf32>
  %pz1 = pit.sread %z1[%i : !rows] : tensor<?x2048xf32> -> tensor<?x2048xf32>
  %p1 = linalg.matmul ins(%px, %w1 : tensor<?x512xf32>, tensor<512x2048xf32>)
          outs(%pz1 : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %h1 = pit.swrite %p1 into %z1[%i : !rows] : tensor<?x2048xf32> into tensor<?x2048xf32>

  // Bias and ReLU.
  %h2 = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
          ins(%h1, %b1 : tensor<?x2048xf32>, tensor<2048xf32>) outs(%e1 : tensor<?x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x2048xf32>

  // Layer norm.
  %em = tensor.empty(%rows) : tensor<?xf32>
  %zm = linalg.fill ins(%zero : f32) outs(%em : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
           ins(%h2 : tensor<?x2048xf32>) outs(%zm : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
               ins(%h2 : tensor<?x2048xf32>) outs(%zm : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %q, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %count = arith.constant 2048.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %h3 = linalg.generic {indexing_maps = [#mn, #m, #m, #n, #n, #mn], iterator_types = ["parallel", "parallel"]}
          ins(%h2, %sum, %squares, %gamma, %beta : tensor<?x2048xf32>, tensor<?xf32>, tensor<?xf32>,
              tensor<2048xf32>, tensor<2048xf32>)
          outs(%e1 : tensor<?x2048xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32, %g: f32, %b: f32, %o: f32):
    %mean = arith.divf %s, %count : f32
    %square = arith.divf %q, %count : f32
    %mean2 = arith.mulf %mean, %mean : f32
    %var = arith.subf %square, %mean2 : f32
    %vare = arith.addf %var, %eps : f32
    %rstd = math.rsqrt %vare : f32
    %d = arith.subf %a, %mean : f32
    %nd = arith.mulf %d, %rstd : f32
    %ng = arith.mulf %nd, %g : f32
    %r = arith.addf %ng, %b : f32
    linalg.yield %r : f32
  } -> tensor<?x2048xf32>

  // The second matmul, planned.
  %s3 = pit.sparse %h3 index(%i : !rows) assume : tensor<?x2048xf32>
  %e2 = tensor.empty(%rows) : tensor<?x512xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x512xf32>) -> tensor<?x512xf32>
  %p3 = pit.sread %s3[%i : !rows] : tensor<?x2048xf32> -> tensor<?x2048xf32>
  %pz2 = pit.sread %z2[%i : !rows] : tensor<?x512xf32> -> tensor<?x512xf32>
  %p4 = linalg.matmul ins(%p3, %w2 : tensor<?x2048xf32>, tensor<2048x512xf32>)
          outs(%pz2 : tensor<?x512xf32>) -> tensor<?x512xf32>
  %h4 = pit.swrite %p4 into %z2[%i : !rows] : tensor<?x512xf32> into tensor<?x512xf32>

  // Bias and residual; only rows that are no padding are wanted.
  %h5 = linalg.generic {indexing_maps = [#mn, #n, #mn, #mn], iterator_types = ["parallel", "parallel"]}
          ins(%h4, %b2, %x : tensor<?x512xf32>, tensor<512xf32>, tensor<?x512xf32>) outs(%e2 : tensor<?x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.addf %s, %c : f32
    linalg.yield %r : f32
  } -> tensor<?x512xf32>
  %p5 = pit.sread %h5[%i : !rows] : tensor<?x512xf32> -> tensor<?x512xf32>
  %y = pit.swrite %p5 into %z2[%i : !rows] : tensor<?x512xf32> into tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}

// -----

!routed = !pit.index<micro_tile = [1, 1], axis = 0>

// The experts' hidden tensor, T x E x F, exists packed only: T x 2 rows.
// CHECK-LABEL: func.func @experts
// CHECK: %[[I:.*]] = pit.index routing
// CHECK: %[[H:.*]] = linalg.generic {{.*}}pit.rule
// CHECK: %[[P:.*]] = pit.sread %[[H]][%[[I]] : {{.*}}] : tensor<?x8x256xf32> -> tensor<?x256xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[P]] : tensor<?x256xf32>) outs(%{{.*}} : tensor<?x256xf32>)
// CHECK: %[[U:.*]] = pit.swrite %[[R]] into %{{.*}}[%[[I]] : {{.*}}] : tensor<?x256xf32> into tensor<?x8x256xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[U]], %{{.*}}pit.rule

// Neither of the two whole-tensor ops is left when they are tiled.
// TILED-LABEL: func.func @experts
// TILED-NOT: tensor<?x8x256xf32>
// TILED: return
func.func @experts(%r: tensor<?x8xf32>, %routing: tensor<?x2xi32>, %x: tensor<?x64xf32>,
                   %up: tensor<8x64x256xf32>, %down: tensor<8x256x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x64xf32>
  %i = pit.index routing %routing shape(%t, %c8) : tensor<?x2xi32> -> !routed
  %s = pit.sparse %r index(%i : !routed) : tensor<?x8xf32>
  %eh = tensor.empty(%t) : tensor<?x8x256xf32>
  %zh = linalg.fill ins(%zero : f32) outs(%eh : tensor<?x8x256xf32>) -> tensor<?x8x256xf32>
  %h = linalg.generic {
         indexing_maps = [affine_map<(t, e, f, k) -> (t, e)>, affine_map<(t, e, f, k) -> (t, k)>,
                          affine_map<(t, e, f, k) -> (e, k, f)>, affine_map<(t, e, f, k) -> (t, e, f)>],
         iterator_types = ["parallel", "parallel", "parallel", "reduction"],
         pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 1], tile = [32, 1, 64, 64]>}
         ins(%s, %x, %up : tensor<?x8xf32>, tensor<?x64xf32>, tensor<8x64x256xf32>)
         outs(%zh : tensor<?x8x256xf32>) {
  ^bb0(%w: f32, %a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %w, %p : f32
    %v = arith.addf %c, %q : f32
    linalg.yield %v : f32
  } -> tensor<?x8x256xf32>
  %relu = linalg.generic {
         indexing_maps = [affine_map<(t, e, f) -> (t, e, f)>, affine_map<(t, e, f) -> (t, e, f)>],
         iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%h : tensor<?x8x256xf32>) outs(%eh : tensor<?x8x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<?x8x256xf32>
  %ey = tensor.empty(%t) : tensor<?x64xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.generic {
         indexing_maps = [affine_map<(t, n, e, f) -> (t, e)>, affine_map<(t, n, e, f) -> (t, e, f)>,
                          affine_map<(t, n, e, f) -> (e, f, n)>, affine_map<(t, n, e, f) -> (t, n)>],
         iterator_types = ["parallel", "parallel", "reduction", "reduction"],
         pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 1], tile = [32, 64, 1, 64]>}
         ins(%s, %relu, %down : tensor<?x8xf32>, tensor<?x8x256xf32>, tensor<8x256x64xf32>)
         outs(%zy : tensor<?x64xf32>) {
  ^bb0(%w: f32, %a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %w, %p : f32
    %v = arith.addf %c, %q : f32
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}


// -----

//===----------------------------------------------------------------------===//
// Downwards
//===----------------------------------------------------------------------===//

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// ReLU of zero is zero, and a matmul keeps its init there: no mark is needed.
// CHECK-LABEL: func.func @down
// CHECK-SAME: (%[[P:[^:]*]]: tensor<?x64xf32>, %[[I:[^:]*]]: !pit.index
// CHECK-SAME: %[[INIT:[^:]*]]: tensor<?x32xf32>)
// CHECK-NOT: pit.s
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<?x64xf32>)
// CHECK: %[[PI:.*]] = pit.sread %[[INIT]][%[[I]]
// CHECK: %[[M:.*]] = linalg.matmul ins(%[[R]], %{{.*}}) outs(%[[PI]] : tensor<?x32xf32>)
// CHECK: %[[U:.*]] = pit.swrite %[[M]] into %[[INIT]][%[[I]]
// CHECK: return %[[U]]
func.func @down(%p: tensor<?x64xf32>, %i: !rows, %d: index, %w: tensor<64x32xf32>, %init: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%d) : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %x = pit.swrite %p into %f[%i : !rows] : tensor<?x64xf32> into tensor<?x64xf32>
  %r = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<?x64xf32>
  %s = pit.sparse %r : tensor<?x64xf32>
  %y = linalg.matmul ins(%s, %w : tensor<?x64xf32>, tensor<64x32xf32>) outs(%init : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// If exp(x) is not unpacked, it is exp(0) = 1.
// CHECK-LABEL: func.func @constant
// CHECK-SAME: (%[[P:[^:]*]]: tensor<?x64xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[F:.*]] = linalg.fill ins(%[[ONE]] : f32) outs(%{{.*}} : tensor<?x64xf32>)
// CHECK: %[[E:.*]] = linalg.generic {{.*}} ins(%[[P]] :
// CHECK: %[[U:.*]] = pit.swrite %[[E]] into %[[F]]
// CHECK: return %[[U]]
func.func @constant(%p: tensor<?x64xf32>, %i: !rows, %d: index) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%d) : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %x = pit.swrite %p into %f[%i : !rows] : tensor<?x64xf32> into tensor<?x64xf32>
  %r = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = math.exp %a : f32
    linalg.yield %m : f32
  } -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// The sum of two unpacked values: outside it is what the other one is there.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: (%[[P:[^:]*]]: tensor<?x64xf32>, %[[Q:[^:]*]]: tensor<?x64xf32>, %[[D:[^:]*]]: tensor<?x64xf32>
// CHECK: %[[S:.*]] = linalg.add ins(%[[P]], %[[Q]] :
// CHECK: %[[U:.*]] = pit.swrite %[[S]] into %[[D]]
// CHECK: return %[[U]]
func.func @sum(%p: tensor<?x64xf32>, %q: tensor<?x64xf32>, %dest: tensor<?x64xf32>, %i: !rows, %d: index) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%d) : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %x = pit.swrite %p into %f[%i : !rows] : tensor<?x64xf32> into tensor<?x64xf32>
  %y = pit.swrite %q into %dest[%i : !rows] : tensor<?x64xf32> into tensor<?x64xf32>
  %r = linalg.add ins(%x, %y : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// Outside it would be the bias; what is outside of the other is not known; the
// other is packed by another index; and the write rounds.
// CHECK-LABEL: func.func @not_down
// CHECK-COUNT-5: linalg.{{generic|add|exp}} {{.*}}ins(%{{.*}} : tensor<100x64xf32>
// CHECK: return
func.func @not_down(%p: tensor<?x64xf32>, %dest: tensor<100x64xf32>, %half: tensor<100x64xf16>, %i: !rows, %j: !rows, %b: tensor<64xf32>)
    -> (tensor<100x64xf32>, tensor<100x64xf32>, tensor<100x64xf32>, tensor<100x64xf32>, tensor<100x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100x64xf32>) -> tensor<100x64xf32>
  %x = pit.swrite %p into %f[%i : !rows] : tensor<?x64xf32> into tensor<100x64xf32>
  %0 = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%x, %b : tensor<100x64xf32>, tensor<64xf32>) outs(%e : tensor<100x64xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %m = arith.addf %a, %c : f32
    linalg.yield %m : f32
  } -> tensor<100x64xf32>
  %y = pit.swrite %p into %dest[%i : !rows] : tensor<?x64xf32> into tensor<100x64xf32>
  %1 = linalg.exp ins(%y : tensor<100x64xf32>) outs(%e : tensor<100x64xf32>) -> tensor<100x64xf32>
  %z = pit.swrite %p into %f[%j : !rows] : tensor<?x64xf32> into tensor<100x64xf32>
  %2 = linalg.add ins(%x, %z : tensor<100x64xf32>, tensor<100x64xf32>) outs(%e : tensor<100x64xf32>) -> tensor<100x64xf32>
  %3 = linalg.add ins(%x, %dest : tensor<100x64xf32>, tensor<100x64xf32>) outs(%e : tensor<100x64xf32>) -> tensor<100x64xf32>
  %zh = arith.constant 0.0 : f16
  %fh = linalg.fill ins(%zh : f16) outs(%half : tensor<100x64xf16>) -> tensor<100x64xf16>
  %h = pit.swrite %p into %fh[%i : !rows] : tensor<?x64xf32> into tensor<100x64xf16>
  %hw = tensor.empty() : tensor<100x64xf32>
  %w = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%h : tensor<100x64xf16>) outs(%e : tensor<100x64xf32>) {
  ^bb0(%a: f16, %o: f32):
    %m = arith.extf %a : f16 to f32
    linalg.yield %m : f32
  } -> tensor<100x64xf32>
  %4 = linalg.exp ins(%w : tensor<100x64xf32>) outs(%e : tensor<100x64xf32>) -> tensor<100x64xf32>
  return %0, %1, %2, %3, %4 : tensor<100x64xf32>, tensor<100x64xf32>, tensor<100x64xf32>, tensor<100x64xf32>, tensor<100x64xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Planned ops
//===----------------------------------------------------------------------===//

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// Planned for its rows twice, with ReLU between.
// CHECK-LABEL: func.func @planned
// CHECK: %[[M1:.*]] = linalg.matmul {{.*}}pit.rule
// CHECK: %[[P1:.*]] = pit.sread %[[M1]]
// CHECK: %[[P2:.*]] = linalg.max ins(%[[P1]],
// CHECK: %[[U:.*]] = pit.swrite %[[P2]]
// CHECK: %[[S:.*]] = pit.sparse %[[U]] index
// CHECK: linalg.matmul {{.*}}pit.rule{{.*}} ins(%[[S]],
// TILED-LABEL: func.func @planned
// TILED-NOT: tensor<100x32xf32>
// TILED: pit.forall {{.*}} -> (tensor<?x32xf32>)
// TILED: linalg.max
// TILED: pit.forall {{.*}} -> (tensor<100x16xf32>)
func.func @planned(%x: tensor<?x64xf32>, %w1: tensor<64x32xf32>, %w2: tensor<32x16xf32>, %y: tensor<100x16xf32>) -> tensor<100x16xf32> {
  %zero = arith.constant 0.0 : f32
  %i = pit.index %x : tensor<?x64xf32> -> !rows
  %s = pit.sparse %x index(%i : !rows) assume : tensor<?x64xf32>
  %e = tensor.empty() : tensor<100x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<100x32xf32>) -> tensor<100x32xf32>
  %m1 = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, *], tile = [32, 32, 64]>}
          ins(%s, %w1 : tensor<?x64xf32>, tensor<64x32xf32>) outs(%z : tensor<100x32xf32>) -> tensor<100x32xf32>
  %r = linalg.max ins(%m1, %z : tensor<100x32xf32>, tensor<100x32xf32>) outs(%e : tensor<100x32xf32>) -> tensor<100x32xf32>
  %t = pit.sparse %r index(%i : !rows) assume : tensor<100x32xf32>
  %m2 = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, *], tile = [32, 16, 32]>}
          ins(%t, %w2 : tensor<100x32xf32>, tensor<32x16xf32>) outs(%y : tensor<100x16xf32>) -> tensor<100x16xf32>
  return %m2 : tensor<100x16xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// The hidden value is returned as well, so packing it gains nothing.
// CHECK-LABEL: func.func @planned_used
// CHECK-NOT: pit.sread
// CHECK-NOT: pit.swrite
// CHECK: return
func.func @planned_used(%x: tensor<100x64xf32>, %w1: tensor<64x32xf32>, %w2: tensor<32x16xf32>, %y: tensor<100x16xf32>)
    -> (tensor<100x16xf32>, tensor<100x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %i = pit.index %x : tensor<100x64xf32> -> !rows
  %s = pit.sparse %x index(%i : !rows) assume : tensor<100x64xf32>
  %e = tensor.empty() : tensor<100x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<100x32xf32>) -> tensor<100x32xf32>
  %m1 = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, *], tile = [32, 32, 64]>}
          ins(%s, %w1 : tensor<100x64xf32>, tensor<64x32xf32>) outs(%z : tensor<100x32xf32>) -> tensor<100x32xf32>
  %t = pit.sparse %m1 index(%i : !rows) assume : tensor<100x32xf32>
  %m2 = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, *], tile = [32, 16, 32]>}
          ins(%t, %w2 : tensor<100x32xf32>, tensor<32x16xf32>) outs(%y : tensor<100x16xf32>) -> tensor<100x16xf32>
  return %m2, %m1 : tensor<100x16xf32>, tensor<100x32xf32>
}
