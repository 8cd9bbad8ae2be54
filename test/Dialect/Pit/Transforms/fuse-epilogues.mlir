// RUN: pit-opt %s -pit-fuse-epilogues -canonicalize -cse -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-fuse-epilogues=separate-functions -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=APART

!t = tensor<?x?xf32>
!h = tensor<?x?xf16>
#mn = affine_map<(m, n) -> (m, n)>
#nm = affine_map<(m, n) -> (n, m)>
#n = affine_map<(m, n) -> (n)>
#m0 = affine_map<(m, n) -> (m, 0)>

// Bias, scaling and residual, one after another. What was rounded when it was
// written still is; the tile is written where, and as what, the last op would.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x?xf32>, %[[BIAS:[^:]*]]: tensor<?xf16>, %[[SCALE:[^:]*]]: tensor<?x1xf16>, %[[RES:[^:]*]]: tensor<?x?xf32>
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?xf32>
// CHECK: %[[R:.*]] = pit.forall (%[[I:.*]], %[[J:.*]]) = {{.*}} iter_args(%[[O:.*]] = %[[E]]) -> (tensor<?x?xf32>)
// CHECK-NEXT: %[[T:.*]] = pit.sread %[[X]][%[[I]], %[[J]]]
// CHECK-NEXT: %[[B:.*]] = pit.sread %[[BIAS]][%[[J]]] : tensor<?xf16> -> tensor<64xf16>
// CHECK: %[[T1:.*]] = linalg.generic {{.*}} ins(%[[T]], %[[B]] : tensor<32x64xf32>, tensor<64xf16>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[C:.*]]: f16, %{{.*}}: f16):
// CHECK-NEXT: %[[N:.*]] = arith.truncf %[[A]] : f32 to f16
// CHECK-NEXT: arith.addf %[[N]], %[[C]] : f16
// CHECK: %[[S:.*]] = pit.sread %[[SCALE]][%[[I]], %c0] : tensor<?x1xf16> -> tensor<32x1xf16>
// CHECK: %[[T2:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[T1]] :
// CHECK: %[[Q:.*]] = pit.sread %[[RES]][%[[J]], %[[I]]] : tensor<?x?xf32> -> tensor<64x32xf32>
// CHECK: %[[T3:.*]] = linalg.generic {{.*}} ins(%[[T2]], %[[Q]] : tensor<32x64xf16>, tensor<64x32xf32>) outs(%{{.*}} : tensor<64x32xf32>)
// CHECK: %[[W:.*]] = pit.swrite %[[T3]] into %[[O]][%[[J]], %[[I]]] : tensor<64x32xf32> into tensor<?x?xf32>
// CHECK-NEXT: pit.yield %[[W]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]
func.func @chain(%x: !t, %bias: tensor<?xf16>, %scale: tensor<?x1xf16>, %res: !t, %m: index, %n: index, %d: !h, %f: !t) -> !t {
  %c0 = arith.constant 0 : index
  %e = tensor.empty(%m, %n) : !h
  %r = pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (32, 64) iter_args(%o = %e) -> (!h) {
    %t = pit.sread %x[%i, %j] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%i, %j] : tensor<32x64xf32> into !h
    pit.yield %w : !h
  }
  %0 = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : !h, tensor<?xf16>) outs(%d : !h) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %z = arith.addf %a, %b : f16
    linalg.yield %z : f16
  } -> !h
  %1 = linalg.generic {indexing_maps = [#m0, #mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%scale, %0 : tensor<?x1xf16>, !h) outs(%d : !h) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %z = arith.mulf %a, %b : f16
    linalg.yield %z : f16
  } -> !h
  %2 = linalg.generic {indexing_maps = [#mn, #nm, #nm], iterator_types = ["parallel", "parallel"]}
      ins(%1, %res : !h, !t) outs(%f : !t) {
  ^bb0(%a: f16, %b: f32, %o: f32):
    %y = arith.extf %a : f16 to f32
    %z = arith.addf %y, %b : f32
    linalg.yield %z : f32
  } -> !t
  return %2 : !t
}

// -----

!t = tensor<?x?xf32>
!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>

//===----------------------------------------------------------------------===//
// Rows that no id names are 0
//===----------------------------------------------------------------------===//

// They stay 0.
// CHECK-LABEL: func.func @relu(
// CHECK: %[[Z:.*]] = linalg.fill ins(%cst : f32)
// CHECK: %[[R:.*]] = pit.forall {{.*}} iter_args(%{{.*}} = %[[Z]])
// CHECK: arith.maximumf
// CHECK: pit.swrite
// CHECK: return %[[R]]
func.func @relu(%x: !t, %y: !t, %bias: tensor<?xf32>, %i: !rows, %d: !t) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %init) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %s = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%r : !t) outs(%d : !t) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.maximumf %a, %zero : f32
    linalg.yield %z : f32
  } -> !t
  return %s : !t
}

// They become 1.
// CHECK-LABEL: func.func @exp(
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: %[[F:.*]] = linalg.fill ins(%[[ONE]] : f32)
// CHECK: %[[R:.*]] = pit.forall {{.*}} iter_args(%{{.*}} = %[[F]])
// CHECK: math.exp
// CHECK: return %[[R]]
func.func @exp(%x: !t, %y: !t, %bias: tensor<?xf32>, %i: !rows, %d: !t) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %init) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %s = linalg.exp ins(%r : !t) outs(%d : !t) -> !t
  return %s : !t
}

// 0 + y is y.
// CHECK-LABEL: func.func @residual(
// CHECK: %[[R:.*]] = pit.forall %[[IDS:.*]] at {{.*}} iter_args(%{{.*}} = %arg1)
// CHECK: pit.sread %arg1[%[[IDS]] : !pit.ids<32>, %c0] : tensor<?x?xf32> -> tensor<32x64xf32>
// CHECK: arith.addf
// CHECK: return %[[R]]
func.func @residual(%x: !t, %y: !t, %bias: tensor<?xf32>, %i: !rows, %d: !t) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %init) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %s = linalg.add ins(%r, %y : !t, !t) outs(%d : !t) -> !t
  return %s : !t
}

// In each row a bias would have to be written: the op stays behind the loop.
// CHECK-LABEL: func.func @bias(
// CHECK: %[[R:.*]] = pit.forall
// CHECK-NOT: linalg.generic
// CHECK: pit.yield
// CHECK-NEXT: }
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[R]], %arg2 :
func.func @bias(%x: !t, %y: !t, %bias: tensor<?xf32>, %i: !rows, %d: !t) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %init) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %s = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : !t, tensor<?xf32>) outs(%d : !t) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %z = arith.addf %a, %b : f32
    linalg.yield %z : f32
  } -> !t
  return %s : !t
}

// The op is wanted in rows that nothing is known of, too.
// CHECK-LABEL: func.func @init(
// CHECK: %[[R:.*]] = pit.forall
// CHECK: }
// CHECK: linalg.generic {{.*}} ins(%[[R]] :
func.func @init(%x: !t, %y: !t, %bias: tensor<?xf32>, %i: !rows, %d: !t) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %y) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %s = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%r : !t) outs(%d : !t) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.maximumf %a, %zero : f32
    linalg.yield %z : f32
  } -> !t
  return %s : !t
}

// A chunk's rows are gathered, so the tile does not know which they are.
// CHECK-LABEL: func.func @where(
// CHECK: %[[R:.*]] = pit.forall
// CHECK: }
// CHECK: linalg.generic {{.*}} ins(%[[R]] :
func.func @where(%x: !t, %y: !t, %bias: tensor<?xf32>, %i: !rows, %d: !t) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %init) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %s = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%r : !t) outs(%d : !t) {
  ^bb0(%a: f32, %o: f32):
    %m = linalg.index 0 : index
    %m32 = arith.index_cast %m : index to i32
    %f = arith.sitofp %m32 : i32 to f32
    %z = arith.mulf %a, %f : f32
    linalg.yield %z : f32
  } -> !t
  return %s : !t
}

// But it knows its columns.
// CHECK-LABEL: func.func @columns(
// CHECK: %[[R:.*]] = pit.forall
// CHECK: linalg.index 1
// CHECK: return %[[R]]
func.func @columns(%x: !t, %y: !t, %bias: tensor<?xf32>, %i: !rows, %d: !t) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %init) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %s = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%r : !t) outs(%d : !t) {
  ^bb0(%a: f32, %o: f32):
    %n = linalg.index 1 : index
    %n32 = arith.index_cast %n : index to i32
    %f = arith.sitofp %n32 : i32 to f32
    %z = arith.mulf %a, %f : f32
    linalg.yield %z : f32
  } -> !t
  return %s : !t
}

//===----------------------------------------------------------------------===//
// Tiles that are not final, values that others need
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @atomic(
// CHECK: %[[R:.*]] = pit.forall
// CHECK: }
// CHECK: linalg.generic {{.*}} ins(%[[R]] :
func.func @atomic(%x: !t, %y: !t, %bias: tensor<?xf32>, %i: !rows, %d: !t) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r = pit.forall %ids at %pos in %i : !rows chunk 32 conflicts(atomic) iter_args(%o = %init) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] combine(addf) : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %s = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%r : !t) outs(%d : !t) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.maximumf %a, %zero : f32
    linalg.yield %z : f32
  } -> !t
  return %s : !t
}

// Tiles that are combined with what is there, without a word on conflicts.
// CHECK-LABEL: func.func @combined(
// CHECK: %[[R:.*]] = pit.forall
// CHECK: }
// CHECK: linalg.generic {{.*}} ins(%[[R]] :
func.func @combined(%x: !t, %y: !t, %bias: tensor<?xf32>, %i: !rows, %d: !t) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %init) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] combine(addf) : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %s = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%r : !t) outs(%d : !t) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.maximumf %a, %zero : f32
    linalg.yield %z : f32
  } -> !t
  return %s : !t
}

// Groups one after another add to what they read.
// CHECK-LABEL: func.func @sequential(
// CHECK: %[[R:.*]] = pit.forall
// CHECK: return %[[R]]
// CHECK-LABEL: func.func @reads_its_output(
// CHECK: %[[R:.*]] = pit.forall
// CHECK: }
// CHECK: linalg.generic {{.*}} ins(%[[R]] :
func.func @sequential(%x: !t, %k: index, %i: !pit.index<micro_tile = [1, 8], axis = 0>, %d: !t) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r = pit.forall (%n) = (%c0) to (%k) step (8) iter_args(%o = %init) -> (!t) {
    %q = pit.for %ids at %pos in %i[%n] : !pit.index<micro_tile = [1, 8], axis = 0> chunk 32 iter_args(%p = %o) -> (!t) {
      %t = pit.sread %x[%ids : !pit.ids<32>, %n] : !t -> tensor<32x8xf32>
      %w = pit.swrite %t into %p[%ids : !pit.ids<32>, %n] : tensor<32x8xf32> into !t
      pit.yield %w : !t
    }
    pit.yield %q : !t
  }
  %s = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%r : !t) outs(%d : !t) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.maximumf %a, %zero : f32
    linalg.yield %z : f32
  } -> !t
  return %s : !t
}
func.func @reads_its_output(%x: !t, %k: index, %i: !pit.index<micro_tile = [1, 8], axis = 0>, %d: !t) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r = pit.forall (%n) = (%c0) to (%k) step (8) iter_args(%o = %init) -> (!t) {
    %q = pit.for %ids at %pos in %i[%n] : !pit.index<micro_tile = [1, 8], axis = 0> chunk 32 iter_args(%p = %o) -> (!t) {
      %u = pit.sread %p[%ids : !pit.ids<32>, %n] : !t -> tensor<32x8xf32>
      %t = pit.sread %x[%ids : !pit.ids<32>, %n] : !t -> tensor<32x8xf32>
      %v = linalg.add ins(%t, %u : tensor<32x8xf32>, tensor<32x8xf32>) outs(%u : tensor<32x8xf32>) -> tensor<32x8xf32>
      %w = pit.swrite %v into %p[%ids : !pit.ids<32>, %n] : tensor<32x8xf32> into !t
      pit.yield %w : !t
    }
    pit.yield %q : !t
  }
  %s = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%r : !t) outs(%d : !t) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.maximumf %a, %zero : f32
    linalg.yield %z : f32
  } -> !t
  return %s : !t
}

// Somebody else needs the result as it is.
// CHECK-LABEL: func.func @two_uses(
// CHECK: %[[R:.*]] = pit.forall
// CHECK: }
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[R]] :
// CHECK: return %[[S]], %[[R]]
func.func @two_uses(%x: !t, %y: !t, %bias: tensor<?xf32>, %i: !rows, %d: !t) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %init) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %s = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%r : !t) outs(%d : !t) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.maximumf %a, %zero : f32
    linalg.yield %z : f32
  } -> !t
  return %s, %r : !t, !t
}

// Transposed reads, reductions, ops that read their own output, and ops that
// may trap on what lies beyond an end stay as well.
// CHECK-LABEL: func.func @others(
// CHECK: pit.forall
// CHECK-NOT: linalg.generic
// CHECK: linalg.transpose
// CHECK: linalg.reduce
// CHECK: linalg.generic
// CHECK: linalg.div
func.func @others(%x: !t, %y: !t, %bias: tensor<?xf32>, %i: !rows, %d: !t, %v: tensor<?xf32>, %xi: tensor<?x?xi32>, %di: tensor<?x?xi32>) -> (!t, tensor<?xf32>, !t, tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%d : !t) -> !t
  %r0 = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %init) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %r1 = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %init) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %r2 = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %init) -> (!t) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %izero = arith.constant 0 : i32
  %iinit = linalg.fill ins(%izero : i32) outs(%di : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r3 = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %iinit) -> (tensor<?x?xi32>) {
    %t = pit.sread %xi[%ids : !pit.ids<32>, %c0] : tensor<?x?xi32> -> tensor<32x64xi32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<32>, %c0] : tensor<32x64xi32> into tensor<?x?xi32>
    pit.yield %w : tensor<?x?xi32>
  }
  %s0 = linalg.transpose ins(%r0 : !t) outs(%d : !t) permutation = [1, 0]
  %s1 = linalg.reduce ins(%r1 : !t) outs(%v : tensor<?xf32>) dimensions = [1] (%a: f32, %o: f32) {
    %z = arith.addf %a, %o : f32
    linalg.yield %z : f32
  }
  %s2 = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%r2 : !t) outs(%y : !t) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.mulf %a, %o : f32
    linalg.yield %z : f32
  } -> !t
  %s3 = linalg.div ins(%r3, %xi : tensor<?x?xi32>, tensor<?x?xi32>) outs(%di : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %s0, %s1, %s2, %s3 : !t, tensor<?xf32>, !t, tensor<?x?xi32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>

// The loop of a product takes nothing that asks where it is [E5].
// CHECK-LABEL: func.func @asks_a_product(
// CHECK: %[[P:.*]] = pit.forall
// CHECK: linalg.matmul
// CHECK: linalg.generic {{.*}} ins(%[[P]] :
// CHECK: linalg.index 1
func.func @asks_a_product(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>, %e: tensor<?x64xf32>, %n: index) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %o = tensor.empty(%n) : tensor<?x64xf32>
  %r = pit.forall (%i) = (%c0) to (%n) step (64) iter_args(%a = %o) -> (tensor<?x64xf32>) {
    %t = pit.sread %x[%i, %c0] : tensor<?x64xf32> -> tensor<64x64xf32>
    %u = pit.sread %e[%i, %c0] : tensor<?x64xf32> -> tensor<64x64xf32>
    %v = pit.sread %w[%c0, %c0] : tensor<64x64xf32> -> tensor<64x64xf32>
    %p = linalg.matmul ins(%t, %v : tensor<64x64xf32>, tensor<64x64xf32>) outs(%u : tensor<64x64xf32>) -> tensor<64x64xf32>
    %s = pit.swrite %p into %a[%i, %c0] : tensor<64x64xf32> into tensor<?x64xf32>
    pit.yield %s : tensor<?x64xf32>
  }
  %s = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%r : tensor<?x64xf32>) outs(%o : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %l = arith.addf %a, %k : f32
    linalg.yield %l : f32
  } -> tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

// -----

!t = tensor<?x64xf32>
#mn = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>

// A function of another operand of the result's size may be one too many for a loop of tensor cores.
// One of the loop's result, or of a bias, is not.
// CHECK-LABEL: func.func @functions(
// APART-LABEL: func.func @functions(
// CHECK-NOT: linalg.generic {{.*}} -> tensor<?x64xf32>
// APART-COUNT-1: linalg.generic {{.*}}ins(%{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<?x64xf32>)
// APART-NOT: linalg.generic {{.*}}ins(%{{.*}} : tensor<?x64xf32>
func.func @functions(%x: !t, %kept: !t, %bias: tensor<64xf32>, %m: index) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty(%m) : !t
  %r = pit.forall (%i) = (%c0) to (%m) step (32) iter_args(%o = %e) -> (!t) {
    %t = pit.sread %x[%i, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%i, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %0 = linalg.generic {indexing_maps = [#mn, #mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%r, %kept : !t, !t) outs(%e : !t) {
  ^bb0(%a: f32, %k: f32, %o: f32):
    %s = arith.mulf %k, %k : f32
    %f = math.exp %s : f32
    %v = arith.mulf %a, %f : f32
    linalg.yield %v : f32
  } -> !t
  %q = pit.forall (%i) = (%c0) to (%m) step (32) iter_args(%o = %e) -> (!t) {
    %t = pit.sread %x[%i, %c0] : !t -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%i, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  %1 = linalg.generic {indexing_maps = [#mn, #mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%q, %kept, %bias : !t, !t, tensor<64xf32>) outs(%e : !t) {
  ^bb0(%a: f32, %k: f32, %b: f32, %o: f32):
    %g = math.exp %b : f32
    %s = arith.addf %a, %k : f32
    %f = math.exp %s : f32
    %v = arith.mulf %g, %f : f32
    linalg.yield %v : f32
  } -> !t
  return %0, %1 : !t, !t
}
