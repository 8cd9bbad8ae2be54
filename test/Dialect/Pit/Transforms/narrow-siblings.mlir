// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-narrow-siblings))' | FileCheck %s

// Two projections of routed tokens meet in the hidden layer, one of them after an
// activation of its own: half as many columns of each fit into a tile. The third product
// meets nothing.

// CHECK-LABEL: func.func @gated
// CHECK: linalg.generic {{.*}} tile = [128, 1, 128, 64]
// CHECK: linalg.generic {{.*}} tile = [128, 1, 128, 64]
// CHECK: linalg.generic {{.*}} tile = [128, 1, 256, 64]
#te = affine_map<(t, e, f, k) -> (t, e)>
#tk = affine_map<(t, e, f, k) -> (t, k)>
#ekf = affine_map<(t, e, f, k) -> (e, k, f)>
#tef = affine_map<(t, e, f, k) -> (t, e, f)>
#id = affine_map<(p, f) -> (p, f)>
!routing = !pit.index<micro_tile = [1, 1], axis = 0>
#rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 1], tile = [128, 1, 256, 64]>
func.func @gated(%r: tensor<?x8xbf16>, %i: !routing, %x: tensor<?x512xbf16>, %a: tensor<8x512x1024xbf16>,
                 %b: tensor<8x512x1024xbf16>, %init: tensor<?x8x1024xbf16>, %p: tensor<?x1024xbf16>)
    -> (tensor<?x1024xbf16>, tensor<?x8x1024xbf16>) {
  %s = pit.sparse %r index(%i : !routing) : tensor<?x8xbf16>
  %g = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%s, %x, %a : tensor<?x8xbf16>, tensor<?x512xbf16>, tensor<8x512x1024xbf16>)
         outs(%init : tensor<?x8x1024xbf16>) attrs = {pit.rule = #rule} {
  ^bb0(%w: bf16, %u: bf16, %v: bf16, %o: bf16):
    %0 = arith.mulf %u, %v : bf16
    %1 = arith.mulf %w, %0 : bf16
    %2 = arith.addf %o, %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<?x8x1024xbf16>
  %h = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%s, %x, %b : tensor<?x8xbf16>, tensor<?x512xbf16>, tensor<8x512x1024xbf16>)
         outs(%init : tensor<?x8x1024xbf16>) attrs = {pit.rule = #rule} {
  ^bb0(%w: bf16, %u: bf16, %v: bf16, %o: bf16):
    %0 = arith.mulf %u, %v : bf16
    %1 = arith.mulf %w, %0 : bf16
    %2 = arith.addf %o, %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<?x8x1024xbf16>
  %alone = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%s, %x, %b : tensor<?x8xbf16>, tensor<?x512xbf16>, tensor<8x512x1024xbf16>)
         outs(%init : tensor<?x8x1024xbf16>) attrs = {pit.rule = #rule} {
  ^bb0(%w: bf16, %u: bf16, %v: bf16, %o: bf16):
    %0 = arith.mulf %u, %v : bf16
    %1 = arith.mulf %w, %0 : bf16
    %2 = arith.addf %o, %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<?x8x1024xbf16>
  %gp = pit.sread %g[%i : !routing] : tensor<?x8x1024xbf16> -> tensor<?x1024xbf16>
  %hp = pit.sread %h[%i : !routing] : tensor<?x8x1024xbf16> -> tensor<?x1024xbf16>
  %ga = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
         ins(%gp : tensor<?x1024xbf16>) outs(%p : tensor<?x1024xbf16>) {
  ^bb0(%u: bf16, %o: bf16):
    %0 = math.exp %u : bf16
    linalg.yield %0 : bf16
  } -> tensor<?x1024xbf16>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
         ins(%ga, %hp : tensor<?x1024xbf16>, tensor<?x1024xbf16>) outs(%p : tensor<?x1024xbf16>) {
  ^bb0(%u: bf16, %v: bf16, %o: bf16):
    %0 = arith.mulf %u, %v : bf16
    linalg.yield %0 : bf16
  } -> tensor<?x1024xbf16>
  return %m, %alone : tensor<?x1024xbf16>, tensor<?x8x1024xbf16>
}
