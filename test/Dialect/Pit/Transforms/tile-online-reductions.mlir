// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions,canonicalize,cse))' | FileCheck %s
// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions{target=sm_90a},canonicalize,cse))' | FileCheck %s --check-prefix=GPU

// The logarithm of a sum of exponentials: maximum and sum in one loop. A GPU
// shares out each reduction by itself.

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
// CHECK-LABEL: func @log_sum_exp(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x?xf32>
// CHECK: %[[R:.*]] = pit.forall (%[[I:.*]]) = (%{{.*}}) to (%{{.*}}) step (64)
// CHECK:   %[[S:.*]]:2 = pit.for (%[[J:.*]]) = ({{.*}}) to ({{.*}}) step (64)
// CHECK-SAME: iter_args(%[[TOP:.*]] = %{{.*}}, %[[TOTAL:.*]] = %{{.*}}) -> (tensor<64xf32>, tensor<64xf32>)
// Beyond the end x reads -inf.
// CHECK:     %[[T:.*]] = pit.sread %[[X]][%[[I]], %[[J]]] pad(0xFF800000 : f32)
// CHECK:     %[[MOST:.*]] = linalg.generic {{.*}} ins(%[[T]] :
// CHECK:       arith.maximumf
// CHECK:     %[[NEXT:.*]] = linalg.generic {{.*}} ins(%[[TOP]], %[[MOST]] :
// CHECK:       arith.maximumf
// What is subtracted is finite where nothing has been seen.
// CHECK:     %[[SHIFT:.*]] = linalg.generic {{.*}} ins(%[[NEXT]] :
// CHECK:       arith.cmpf oeq
// CHECK:       arith.select
// The factor is 1 where the maximum stays: both products are rounded alike.
// CHECK:     %[[FACTOR:.*]] = linalg.generic {{.*}} ins(%[[TOP]], %[[SHIFT]] :
// CHECK-NOT:   math.fma
// CHECK:       arith.mulf
// CHECK:       arith.addf
// CHECK:       math.exp2
// CHECK:     %[[P:.*]] = linalg.generic {{.*}} ins(%[[T]], %[[SHIFT]] :
// CHECK:       math.fma
// CHECK:       math.exp2
// CHECK:     %[[PART:.*]] = linalg.generic {{.*}} ins(%[[P]] :
// CHECK:       arith.addf
// CHECK:     linalg.generic {{.*}} ins(%[[TOTAL]], %[[PART]], %[[FACTOR]] :
// CHECK:       arith.mulf
// CHECK:       arith.addf
// CHECK:     pit.yield %[[NEXT]]
// CHECK:   %[[LOG:.*]] = linalg.generic {{.*}} ins(%[[S]]#0, %[[S]]#1 :
// CHECK:     math.log
// CHECK:   pit.swrite %[[LOG]]
// GPU-LABEL: func @log_sum_exp(
// GPU-NOT: pit.for
func.func @log_sum_exp(%x: tensor<?x?xf32>, %rows: tensor<?xf32>, %all: tensor<?x?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%m0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<?x?xf32>, tensor<?xf32>) outs(%all : tensor<?x?xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<?x?xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x?xf32>) outs(%l0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
      ins(%m, %l : tensor<?xf32>, tensor<?xf32>) outs(%rows : tensor<?xf32>) {
  ^bb0(%t: f32, %s: f32, %o: f32):
    %b = math.log %s : f32
    %c = arith.addf %t, %b : f32
    linalg.yield %c : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// An attention, its softmax with a quotient before the product, causal: scores are
// computed in the loop, which ends at the diagonal. The scale is left to the
// exponents, the quotient to the end.

#qd = affine_map<(b, i, j, d) -> (b, i, d)>
#kd = affine_map<(b, i, j, d) -> (b, j, d)>
#ij = affine_map<(b, i, j, d) -> (b, i, j)>
#all = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
// CHECK-LABEL: func @causal(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x?x64xf16>, %[[K:[^:]*]]: tensor<?x?x64xf16>, %[[V:[^:]*]]: tensor<?x?x64xf16>
// CHECK-DAG: %[[UNIT:.*]] = arith.constant 0.180336878 : f32
// CHECK: pit.forall (%[[B:.*]], %[[I:.*]]) = {{.*}} step (1, 64)
// CHECK:   %[[END:.*]] = arith.addi %[[I]], %c64
// CHECK:   %[[LAST:.*]] = arith.minsi %{{.*}}, %[[END]]
// CHECK:   %[[S:.*]]:3 = pit.for (%[[J:.*]]) = (%c0) to (%[[LAST]]) step (64)
// CHECK-SAME: -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64x64xf32>)
// CHECK:     pit.sread %[[Q]][%[[B]], %[[I]], %c0]
// CHECK:     pit.sread %[[K]][%[[B]], %[[J]], %c0]
// CHECK:     linalg.generic {{.*}}"reduction"
// CHECK:     linalg.generic
// CHECK:       arith.cmpi sle
// CHECK-NOT:   arith.mulf
// CHECK:       arith.cmpi slt
// CHECK:     arith.maximumf
// CHECK:     arith.mulf %{{.*}}, %[[UNIT]]
// CHECK:     arith.addf
// CHECK:     math.exp2 {{.*}} fastmath<afn>
// CHECK:     math.fma %{{.*}}, %[[UNIT]]
// CHECK:     arith.truncf
// CHECK-NOT: arith.divf
// CHECK:     pit.sread %[[V]][%[[B]], %[[J]], %c0]
// CHECK:     pit.yield
// A row of which nothing counts is 0.
// CHECK:   %[[ONE:.*]] = linalg.generic {{.*}} ins(%[[S]]#1 :
// CHECK:     arith.divf
// CHECK:     arith.cmpf oeq
// CHECK:     arith.select
// CHECK:   linalg.generic {{.*}} ins(%[[S]]#2, %[[ONE]] :
// CHECK:     arith.mulf
// CHECK:   pit.swrite
// GPU-LABEL: func @causal(
// GPU: pit.forall {{.*}} step (1, 192)
// GPU: pit.for {{.*}} step (128)
func.func @causal(%q: tensor<?x?x64xf16>, %k: tensor<?x?x64xf16>, %v: tensor<?x?x64xf16>, %e: tensor<?x?x?xf32>,
                  %eh: tensor<?x?x?xf16>, %er: tensor<?x?xf32>, %eo: tensor<?x?x64xf16>) -> tensor<?x?x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %hz = arith.constant 0.0 : f16
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %s = linalg.generic {indexing_maps = [#qd, #kd, #ij], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x?x64xf16>, tensor<?x?x64xf16>) outs(%z : tensor<?x?x?xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %m = arith.mulf %xw, %yw : f32
    %a = arith.addf %o, %m : f32
    linalg.yield %a : f32
  } -> tensor<?x?x?xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %scale : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %in = arith.cmpi sle, %j, %i : index
    %w = arith.select %in, %y, %low : f32
    linalg.yield %w : f32
  } -> tensor<?x?x?xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<?x?xf32>) -> tensor<?x?xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<?x?xf32>) -> tensor<?x?xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%t : tensor<?x?x?xf32>) outs(%m0 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t, %m : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %b = arith.subf %a, %c : f32
    %d = math.exp %b : f32
    linalg.yield %d : f32
  } -> tensor<?x?x?xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<?x?x?xf32>) outs(%l0 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?x?xf32>
  %n = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %l : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%eh : tensor<?x?x?xf16>) {
  ^bb0(%a: f32, %c: f32, %o: f16):
    %b = arith.divf %a, %c : f32
    %d = arith.truncf %b : f32 to f16
    linalg.yield %d : f16
  } -> tensor<?x?x?xf16>
  %zo = linalg.fill ins(%hz : f16) outs(%eo : tensor<?x?x64xf16>) -> tensor<?x?x64xf16>
  %r = linalg.batch_matmul ins(%n, %v : tensor<?x?x?xf16>, tensor<?x?x64xf16>)
         outs(%zo : tensor<?x?x64xf16>) -> tensor<?x?x64xf16>
  return %r : tensor<?x?x64xf16>
}

// -----

// Scores of which a mask selects: the loop goes through ids of its index, by which
// both products gather. What a live micro-tile has beside what is selected is
// left out by the mask's tile.

#qd = affine_map<(i, j, d) -> (i, d)>
#kd = affine_map<(i, j, d) -> (j, d)>
#ij = affine_map<(i, j, d) -> (i, j)>
#vj = affine_map<(i, e, j) -> (i, j)>
#ve = affine_map<(i, e, j) -> (j, e)>
#ie = affine_map<(i, e, j) -> (i, e)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func @masked(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x32xf32>, %[[K:[^:]*]]: tensor<?x32xf32>, %[[V:[^:]*]]: tensor<?x16xf32>, %[[M:[^:]*]]: tensor<?x?xi1>
// CHECK: %[[INDEX:.*]] = pit.index mask %[[M]] : tensor<?x?xi1> -> !pit.index<micro_tile = [64, 1], axis = 1>
// CHECK: pit.forall (%[[I:.*]]) =
// CHECK:   pit.for %[[IDS:.*]] at %{{.*}} in %[[INDEX]][%[[I]]] : {{.*}} chunk 64
// CHECK:     pit.sread %[[K]][%[[IDS]] : !pit.ids<64>, %c0]
// CHECK:     pit.sread %[[M]][%[[I]], %[[IDS]] : !pit.ids<64>]
// CHECK:       arith.select
// CHECK:     pit.sread %[[V]][%[[IDS]] : !pit.ids<64>, %c0]
// GPU-LABEL: func @masked(
func.func @masked(%q: tensor<?x32xf32>, %k: tensor<?x32xf32>, %v: tensor<?x16xf32>, %mask: tensor<?x?xi1>,
                  %e: tensor<?x?xf32>, %er: tensor<?xf32>, %eo: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#qd, #kd, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x32xf32>, tensor<?x32xf32>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %a = arith.addf %o, %m : f32
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  %t = pit.sparse %s mask(%mask : tensor<?x?xi1>) background(0xFF800000 : f32) : tensor<?x?xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%t : tensor<?x?xf32>) outs(%m0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maxnumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%t, %m : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
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
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x16xf32>) -> tensor<?x16xf32>
  %r = linalg.generic {indexing_maps = [#vj, #ve, #ie], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<?x?xf32>, tensor<?x16xf32>) outs(%zo : tensor<?x16xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %a = arith.mulf %x, %y : f32
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?x16xf32>
  return %r, %l : tensor<?x16xf32>, tensor<?xf32>
}

// -----

// A softmax whose powers are stored (O4): nothing becomes a loop.

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func @stored(
// CHECK-NOT: pit.for
func.func @stored(%x: tensor<?x?xf32>, %rows: tensor<?xf32>, %all: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%m0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<?x?xf32>, tensor<?xf32>) outs(%all : tensor<?x?xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<?x?xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x?xf32>) outs(%l0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  return %p, %l : tensor<?x?xf32>, tensor<?xf32>
}

// -----

// What an attention's gradients sum: an exponential of a product is multiplied
// again. No reduction uses another, but no scores are stored.

#qd = affine_map<(i, j, d) -> (i, d)>
#kd = affine_map<(i, j, d) -> (j, d)>
#ij = affine_map<(i, j, d) -> (i, j)>
#vj = affine_map<(i, e, j) -> (i, j)>
#ve = affine_map<(i, e, j) -> (j, e)>
#ie = affine_map<(i, e, j) -> (i, e)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func @gradient(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x32xf32>, %[[K:[^:]*]]: tensor<?x32xf32>, %[[LOGS:[^:]*]]: tensor<?xf32>
// CHECK: pit.forall (%[[I:.*]]) = {{.*}} step (64)
// CHECK:   pit.for (%[[J:.*]]) = {{.*}} step (64) iter_args({{.*}}) -> (tensor<64x32xf32>)
// CHECK:     pit.sread %[[Q]][%[[I]], %c0]
// CHECK:     pit.sread %[[K]][%[[J]], %c0]
// CHECK:     pit.sread %[[LOGS]][%[[I]]]
// CHECK:     math.exp
// Beyond the end powers of 0 are not 0.
// CHECK:     arith.cmpi slt
// CHECK:     arith.select
// CHECK:     linalg.generic {{.*}}"reduction"
// GPU-LABEL: func @gradient(
// GPU: pit.for
func.func @gradient(%q: tensor<?x32xf32>, %k: tensor<?x32xf32>, %logs: tensor<?xf32>,
                    %e: tensor<?x?xf32>, %eo: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#qd, #kd, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x32xf32>, tensor<?x32xf32>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %a = arith.addf %o, %m : f32
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %logs : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %b = arith.subf %a, %c : f32
    %d = math.exp %b : f32
    linalg.yield %d : f32
  } -> tensor<?x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.generic {indexing_maps = [#vj, #ve, #ie], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %k : tensor<?x?xf32>, tensor<?x32xf32>) outs(%zo : tensor<?x32xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %a = arith.mulf %x, %y : f32
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// -----

// The gradient of keys that the queries of several heads share: products of all heads are summed up by one loop
// along heads and queries. The causal bound is that of all heads.

#jd = affine_map<(g, j, i, d) -> (j, d)>
#id = affine_map<(g, j, i, d) -> (g, i, d)>
#ji = affine_map<(g, j, i, d) -> (g, j, i)>
#pj = affine_map<(j, e, g, i) -> (g, j, i)>
#qe = affine_map<(j, e, g, i) -> (g, i, e)>
#je = affine_map<(j, e, g, i) -> (j, e)>
#all = affine_map<(g, j, i) -> (g, j, i)>
#row = affine_map<(g, j, i) -> (g, i)>
// CHECK-LABEL: func @shared_keys(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<4x?x32xf32>, %[[K:[^:]*]]: tensor<?x32xf32>, %[[LOGS:[^:]*]]: tensor<4x?xf32>
// CHECK: pit.forall (%[[J:.*]]) = {{.*}} step (64)
// CHECK:   %[[FROM:.*]] = arith.maxsi %[[J]], %c0
// CHECK:   pit.for (%[[G:.*]], %[[I:.*]]) = (%c0, %[[FROM]]) to (%c4, %{{.*}}) step (1, 64) iter_args({{.*}}) -> (tensor<64x32xf32>)
// CHECK:     pit.sread %[[Q]][%[[G]], %[[I]], %c0]
// CHECK:     pit.sread %[[LOGS]][%[[G]], %[[I]]]
// CHECK:     linalg.generic {{.*}}"reduction", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<1x64x64xf32>, tensor<1x64x32xf32>)
// GPU-LABEL: func @shared_keys(
// GPU: pit.for (%{{.*}}, %{{.*}}) =
func.func @shared_keys(%q: tensor<4x?x32xf32>, %k: tensor<?x32xf32>, %logs: tensor<4x?xf32>,
                       %e: tensor<4x?x?xf32>, %eo: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %s = linalg.generic {indexing_maps = [#jd, #id, #ji], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%k, %q : tensor<?x32xf32>, tensor<4x?x32xf32>) outs(%z : tensor<4x?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %a = arith.addf %o, %m : f32
    linalg.yield %a : f32
  } -> tensor<4x?x?xf32>
  %kept = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<4x?x?xf32>) outs(%e : tensor<4x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 1 : index
    %i = linalg.index 2 : index
    %is = arith.cmpi sle, %j, %i : index
    %b = arith.select %is, %a, %low : f32
    linalg.yield %b : f32
  } -> tensor<4x?x?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%kept, %logs : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%e : tensor<4x?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %b = arith.subf %a, %c : f32
    %d = math.exp %b : f32
    linalg.yield %d : f32
  } -> tensor<4x?x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.generic {indexing_maps = [#pj, #qe, #je], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %q : tensor<4x?x?xf32>, tensor<4x?x32xf32>) outs(%zo : tensor<?x32xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %a = arith.mulf %x, %y : f32
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// -----

// A sum over heads of what is no product is none of the loop: each dim is reduced by itself, or all at once.

#jd = affine_map<(g, j, i, d) -> (j, d)>
#id = affine_map<(g, j, i, d) -> (g, i, d)>
#ji = affine_map<(g, j, i, d) -> (g, j, i)>
#all = affine_map<(g, j, i) -> (g, j, i)>
#row = affine_map<(g, j, i) -> (g, i)>
#of = affine_map<(g, j, i) -> (j)>
// CHECK-LABEL: func @sum_of_powers(
// CHECK-NOT: pit.for (
// CHECK: return
func.func @sum_of_powers(%q: tensor<4x?x32xf32>, %k: tensor<?x32xf32>, %logs: tensor<4x?xf32>,
                         %e: tensor<4x?x?xf32>, %eo: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %s = linalg.generic {indexing_maps = [#jd, #id, #ji], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%k, %q : tensor<?x32xf32>, tensor<4x?x32xf32>) outs(%z : tensor<4x?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %a = arith.addf %o, %m : f32
    linalg.yield %a : f32
  } -> tensor<4x?x?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %logs : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%e : tensor<4x?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %b = arith.subf %a, %c : f32
    %d = math.exp %b : f32
    linalg.yield %d : f32
  } -> tensor<4x?x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#all, #of], iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%p : tensor<4x?x?xf32>) outs(%zo : tensor<?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %b = arith.addf %o, %x : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Sequences of rows in columns [begin, end), which lie in memory: a loop before
// the other takes the least and the largest of each tile of rows, where a row
// behind the last one counts for nothing. One length of all rows of a tile is read
// as a number.

#all = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#batch = affine_map<(b, i, j) -> (b)>
#places = affine_map<(b, i, j) -> (i)>
// CHECK-LABEL: func @ranges(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x?x?xf32>, %[[BEGIN:[^:]*]]: tensor<?xi32>, %[[END:[^:]*]]: tensor<?xi64>, %[[LENGTHS:[^:]*]]: tensor<?xi32>
// CHECK: %[[COUNT:.*]] = arith.ceildivui %[[ROWS:.*]], %c64
// CHECK: %[[R:.*]]:2 = pit.forall (%[[B:.*]], %[[N:.*]]) = (%c0, %c0) to (%{{.*}}, %[[COUNT]]) step (1, 1)
// CHECK:   %[[AT:.*]] = arith.muli %[[N]], %c64
// CHECK-DAG: pit.sread %[[BEGIN]][%[[AT]]] pad(2147483647 : i32) : tensor<?xi32> -> tensor<64xi32>
// CHECK-DAG: pit.sread %[[END]][%[[AT]]] pad(-9223372036854775808 : i64) : tensor<?xi64> -> tensor<64xi64>
// CHECK-DAG: arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK-DAG: arith.maxsi %{{.*}}, %{{.*}} : i64
// CHECK-DAG: pit.sread %[[LENGTHS]][%[[B]]] : tensor<?xi32> -> tensor<1xi32>
// CHECK:   pit.swrite {{.*}}[%[[B]], %[[N]]]
// CHECK:   pit.swrite {{.*}}[%[[B]], %[[N]]]
// CHECK: pit.forall (%[[B:.*]], %[[I:.*]]) = (%c0, %c0) to (%{{.*}}, %[[ROWS]]) step (1, 64)
// CHECK:   %[[AT:.*]] = arith.divui %[[I]], %c64
// CHECK:   pit.sread %[[R]]#0[%[[B]], %[[AT]]] : tensor<?x?xi64> -> tensor<1x1xi64>
// CHECK:   %[[FROM:.*]] = arith.index_cast
// CHECK:   pit.sread %[[R]]#1[%[[B]], %[[AT]]]
// CHECK:   %[[TO:.*]] = arith.index_cast
// CHECK:   pit.for (%{{.*}}) = (%[[FROM]]) to (%[[TO]]) step (64)
func.func @ranges(%x: tensor<?x?x?xf32>, %begin: tensor<?xi32>, %end: tensor<?xi64>,
                  %lengths: tensor<?xi32>, %rows: tensor<?x?xf32>,
                  %all: tensor<?x?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<?x?xf32>) -> tensor<?x?xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#all, #places, #places, #batch, #all],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %begin, %end, %lengths : tensor<?x?x?xf32>, tensor<?xi32>, tensor<?xi64>, tensor<?xi32>)
      outs(%all : tensor<?x?x?xf32>) {
  ^bb0(%a: f32, %begins: i32, %ends: i64, %length: i32, %o: f32):
    %j = linalg.index 2 : index
    %from = arith.index_cast %begins : i32 to index
    %to = arith.index_cast %ends : i64 to index
    %most = arith.index_cast %length : i32 to index
    %c = arith.cmpi sge, %j, %from : index
    %d = arith.cmpi slt, %j, %to : index
    %e = arith.cmpi slt, %j, %most : index
    %f = arith.andi %c, %d : i1
    %g = arith.andi %f, %e : i1
    %b = arith.select %g, %a, %low : f32
    linalg.yield %b : f32
  } -> tensor<?x?x?xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<?x?x?xf32>) outs(%m0 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%all : tensor<?x?x?xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<?x?x?xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<?x?x?xf32>) outs(%l0 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?x?xf32>
  return %l : tensor<?x?xf32>
}

// -----

// The first four columns, then the last hundred: one loop goes through the steps of
// both. Rows behind a number have no step.

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func @gap(
// CHECK-SAME: %[[COUNT:[a-z0-9]*]]: index
// CHECK: pit.forall (%[[I:.*]]) = (%c0) to (%{{.*}}) step (64)
// CHECK-DAG: %[[END:.*]] = arith.addi %[[I]], %c64
// CHECK-DAG: %[[LAST:.*]] = arith.minsi %{{.*}}, %[[END]]
// CHECK-DAG: %[[ROWS:.*]] = arith.subi %[[I]], %[[COUNT]]
// CHECK-DAG: %[[ANY:.*]] = arith.cmpi slt, %[[ROWS]], %c0
// CHECK: %[[UPPER:.*]] = arith.select %[[ANY]], %[[LAST]], %c0
// CHECK: %[[NEAR:.*]] = arith.addi %[[I]], %c-99
// CHECK: %[[TO:.*]] = arith.maxsi %[[UPPER]], %c0
// CHECK: %[[MOST:.*]] = arith.minsi %[[TO]], %c4
// CHECK: %[[HEAD:.*]] = arith.maxsi %[[MOST]], %c0
// CHECK: %[[STEPS:.*]] = arith.ceildivui %[[HEAD]], %c64
// CHECK: %[[FIRST:.*]] = arith.muli %[[STEPS]], %c64
// CHECK: %[[SECOND:.*]] = arith.maxsi %[[NEAR]], %[[FIRST]]
// CHECK: %[[REST:.*]] = arith.subi %[[TO]], %[[SECOND]]
// CHECK: %[[AFTER:.*]] = arith.maxsi %[[REST]], %c0
// CHECK: %[[ALL:.*]] = arith.addi %[[FIRST]], %[[AFTER]]
// CHECK: %[[BY:.*]] = arith.subi %[[SECOND]], %[[FIRST]]
// CHECK: pit.for (%[[STEP:.*]]) = (%c0) to (%[[ALL]]) step (64)
// CHECK:   %[[IS_FIRST:.*]] = arith.cmpi slt, %[[STEP]], %[[FIRST]]
// CHECK:   %[[MOVE:.*]] = arith.select %[[IS_FIRST]], %c0, %[[BY]]
// CHECK:   %[[J:.*]] = arith.addi %[[STEP]], %[[MOVE]]
// CHECK:   pit.sread %{{.*}}[%[[I]], %[[J]]]
func.func @gap(%count: index, %x: tensor<?x?xf32>, %rows: tensor<?xf32>, %all: tensor<?x?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %four = arith.constant 4 : index
  %hundred = arith.constant 100 : index
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%all : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %from = arith.subi %i, %hundred : index
    %near = arith.cmpi sgt, %j, %from : index
    %sink = arith.cmpi slt, %j, %four : index
    %either = arith.ori %near, %sink : i1
    %before = arith.cmpi sle, %j, %i : index
    %there = arith.cmpi slt, %i, %count : index
    %both = arith.andi %either, %before : i1
    %c = arith.andi %both, %there : i1
    %b = arith.select %c, %a, %low : f32
    linalg.yield %b : f32
  } -> tensor<?x?xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<?x?xf32>) outs(%m0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %m : tensor<?x?xf32>, tensor<?xf32>) outs(%all : tensor<?x?xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<?x?xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x?xf32>) outs(%l0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  return %l : tensor<?xf32>
}
