// Both projections of a gated layer in one kernel: the tokens that both read are
// loaded once, and the first projection is never in memory.

// RUN: pit-opt %s --pit-to-gpu-tiles="chip=sm_90a fuse-siblings" --pit-tiles-to-kernels | FileCheck %s --check-prefix=MAINLOOP
// RUN: pit-opt %s --pit-to-gpu-tiles="chip=sm_90a fuse-siblings" --pit-tiles-to-kernels --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a --convert-pit-gpu-to-nvvm | FileCheck %s --check-prefix=HOPPER
// RUN: pit-opt %s --pit-to-gpu-tiles="fuse-siblings" --pit-tiles-to-kernels --pit-schedule-kernels --convert-pit-to-gpu | FileCheck %s --check-prefix=PORTABLE

// MAINLOOP-COUNT-1: pit.mainloop
// MAINLOOP-NOT: pit.mainloop
// MAINLOOP: load {
// MAINLOOP-COUNT-3: pit.view
// MAINLOOP: pit.yield %[[X:[0-9a-z]+]], %{{.*}}, %{{.*}} : vector<128x64xf16>, vector<1x64x128xf16>, vector<1x64x128xf16>
// MAINLOOP: compute {
// MAINLOOP: ^bb0(%[[XT:.*]]: vector<128x64xf16>, %[[AT:.*]]: vector<1x64x128xf16>, %[[BT:.*]]: vector<1x64x128xf16>, %[[G:.*]]: vector<128x128xf32>, %[[U:.*]]: vector<128x128xf32>):
// MAINLOOP: pit.contract %[[XT]], %[[AT]], %[[G]]
// MAINLOOP: pit.contract %[[XT]], %[[BT]], %[[U]]
// MAINLOOP: epilogue {
// MAINLOOP: ^bb0(%[[GATE:.*]]: f32, %[[UP:.*]]: f32
// MAINLOOP: math.exp

// A tensor map for each of the three, and a wgmma for each product: four steps of
// 16 along k in a stage.
// HOPPER-LABEL: gpu.func @{{.*}}_hopper(
// HOPPER-SAME: tensor_maps = [<argument = {{[^>]*}}>, <argument = {{[^>]*}}>, <argument = {{[^>]*}}>]
// HOPPER-COUNT-8: nvvm.wgmma.mma_async {{.*}}n = 128
// HOPPER-NOT: nvvm.wgmma.mma_async
// HOPPER-LABEL: gpu.func @

// Warps with 4096 elements of accumulators each: 2 x 64 x 32.
// PORTABLE: pit_gpu.mma_sync
!routing = !pit.index<micro_tile = [1, 1], axis = 0>
#te = affine_map<(t, e, f, k) -> (t, e)>
#tk = affine_map<(t, e, f, k) -> (t, k)>
#ekf = affine_map<(t, e, f, k) -> (e, k, f)>
#tef = affine_map<(t, e, f, k) -> (t, e, f)>
#id = affine_map<(t, e, f) -> (t, e, f)>
func.func @gated(%r: tensor<256x4xf16>, %i: !routing, %x: tensor<256x512xf16>, %a: tensor<4x512x1024xf16>,
                 %b: tensor<4x512x1024xf16>, %p: tensor<?x1024xf16>) -> tensor<?x1024xf16> {
  %s = pit.sparse %r index(%i : !routing) : tensor<256x4xf16>
  %zero = arith.constant 0.0 : f16
  %one = arith.constant 1.0 : f16
  %e = tensor.empty() : tensor<256x4x1024xf16>
  %init = linalg.fill ins(%zero : f16) outs(%e : tensor<256x4x1024xf16>) -> tensor<256x4x1024xf16>
  %g = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%s, %x, %a : tensor<256x4xf16>, tensor<256x512xf16>, tensor<4x512x1024xf16>)
         outs(%init : tensor<256x4x1024xf16>) {
  ^bb0(%w: f16, %u: f16, %v: f16, %o: f16):
    %0 = arith.mulf %u, %v : f16
    %1 = arith.mulf %w, %0 : f16
    %2 = arith.addf %o, %1 : f16
    linalg.yield %2 : f16
  } -> tensor<256x4x1024xf16>
  %h = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%s, %x, %b : tensor<256x4xf16>, tensor<256x512xf16>, tensor<4x512x1024xf16>)
         outs(%init : tensor<256x4x1024xf16>) {
  ^bb0(%w: f16, %u: f16, %v: f16, %o: f16):
    %0 = arith.mulf %u, %v : f16
    %1 = arith.mulf %w, %0 : f16
    %2 = arith.addf %o, %1 : f16
    linalg.yield %2 : f16
  } -> tensor<256x4x1024xf16>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%g, %h : tensor<256x4x1024xf16>, tensor<256x4x1024xf16>) outs(%e : tensor<256x4x1024xf16>) {
  ^bb0(%u: f16, %v: f16, %o: f16):
    %0 = arith.negf %u : f16
    %1 = math.exp %0 : f16
    %2 = arith.addf %1, %one : f16
    %3 = arith.divf %u, %2 : f16
    %4 = arith.mulf %3, %v : f16
    linalg.yield %4 : f16
  } -> tensor<256x4x1024xf16>
  %packed = pit.sread %m[%i : !routing] : tensor<256x4x1024xf16> -> tensor<?x1024xf16>
  return %packed : tensor<?x1024xf16>
}
