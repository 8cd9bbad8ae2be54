// All gradients of an attention: one loop along the queries, of five products. The gradient of queries sums up
// rows of the tile (Added, O9): each step adds its part to memory, where other tiles add theirs.

// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions{target=sm_90a}))' | FileCheck %s --check-prefix=TILES
// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions{target=sm_80 explain=true}))' 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: sed -e 's/x128xf/x192xf/g' %s | pit-opt --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions{target=sm_90a}))' | FileCheck %s --check-prefix=WIDE
// RUN: pit-opt %s --pit-to-cuda="chip=sm_90a device-code=ptx" --mlir-print-ir-after=pit-schedule-kernels -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: pit-opt %s --pit-to-cuda="chip=sm_90a device-code=ptx" --mlir-print-ir-before=convert-pit-gpu-to-nvvm -o /dev/null 2>&1 | FileCheck %s
// RUN: pit-compile %s --emit=ptx --target=cuda --chip=sm_90a -o - | FileCheck %s --check-prefix=PTX

// The sums begin at 0. Rows beyond the last key count for nothing.
// TILES: %[[SUMS:.*]] = linalg.fill
// TILES: pit.forall {{.*}} step (1, 1, 128) conflicts(atomic) iter_args(%[[DQ:.*]] = %[[SUMS]],
// TILES: pit.for {{.*}} step (64) iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[BEFORE:.*]] = %[[DQ]])
// TILES: linalg.index 2
// TILES: arith.cmpi slt
// TILES: linalg.index 3
// TILES: arith.cmpi slt
// TILES: arith.andi
// TILES: %[[NEXT:.*]] = pit.swrite %{{.*}} into %[[BEFORE]]{{.*}} combine(addf) : tensor<1x1x64x128xf32>
// TILES: pit.yield %{{.*}}, %{{.*}}, %[[NEXT]]
// TILES-NOT: pit.forall

// Others have a loop for the queries, along the keys.
// OLD: has loops of their own for sums over its rows: [O9]
// OLD: pit.forall {{.*}} step (1, 1, 64) iter_args({{.*}}) -> (tensor<?x4x?x128xf16>, tensor<?x4x?x128xf16>)
// OLD: pit.forall {{.*}} step (1, 1, 64) iter_args({{.*}}) -> (tensor<?x4x?x128xf16>)
// OLD-NOT: combine
// WIDE-COUNT-2: pit.forall
// WIDE-NOT: combine

// LOOP: pit.mainloop {{.*}}producers = 4
// LOOP: } compute {
// LOOP: pit.store %{{.*}} into %{{.*}} combine(addf)
// LOOP: } prologue {

// Slopes of both warpgroups go to shared memory; the product of those of the step before begins when they are there,
// and its sums go on to memory while the next one runs. Each warp adds its own rows.
// CHECK: gpu.func @attention_gradients_kernel_0_hopper(
// CHECK: pit_gpu.ring full 256 empty 8 : <2, [<128x64xf16, swizzle = 128>]>
// CHECK: pit_gpu.shared 33792 : i32
// CHECK: pit_gpu.tensor_map {{.*}} -> <1x1x16x32xf32, swizzle = 128>
// CHECK: role "workers" warps 8 registers 240
// CHECK: pit_gpu.acquire
// CHECK: pit_gpu.local_store
// CHECK: pit_gpu.commit {{.*}} after writes
// CHECK: scf.for
// CHECK: pit_gpu.acquire
// CHECK: pit_gpu.local_store
// CHECK: pit_gpu.commit {{.*}} after writes
// CHECK: %[[SLOPES:.*]] = pit_gpu.wait
// CHECK: %[[Q:.*]] = pit_gpu.mma %{{.*}} transpose, %{{.*}} : !pit_gpu.tile<128x64xf16, swizzle = 128>, <128x64xf16, swizzle = 128>, <64x64xf32>
// CHECK: %[[K:.*]] = pit_gpu.mma {{.*}} : !pit_gpu.fragment<64x64xf16>
// CHECK: pit_gpu.mma_wait pending 1 of %[[Q]]
// CHECK: pit_gpu.release %[[SLOPES]]
// CHECK: pit_gpu.add_wait
// CHECK: pit_gpu.local_store
// CHECK: pit_gpu.add_rows
// CHECK: pit_gpu.mma_wait pending 0 of %[[K]]

// PTX: cp.reduce.async.bulk.tensor.4d

func.func @attention_gradients(%q: tensor<?x4x?x128xf16>, %k: tensor<?x4x?x128xf16>, %v: tensor<?x4x?x128xf16>, %dy: tensor<?x4x?x128xf16>, %logs: tensor<?x4x?xf32>, %delta: tensor<?x4x?xf32>) -> (tensor<?x4x?x128xf16>, tensor<?x4x?x128xf16>, tensor<?x4x?x128xf16>) {
  %c_0 = arith.constant 0 : index
  %c_1 = arith.constant 2 : index
  %c_2 = arith.constant 0.00000000000000000e+00 : f32
  %c_3 = arith.constant 8.83883476483184466e-02 : f32
  %c_4 = arith.constant -1.0e+999 : f32
  %c_5 = arith.constant 1.00000000000000000e+00 : f32
  %d_b = tensor.dim %q, %c_0 : tensor<?x4x?x128xf16>
  %d_m = tensor.dim %q, %c_1 : tensor<?x4x?x128xf16>
  %d_n = tensor.dim %k, %c_1 : tensor<?x4x?x128xf16>
  %1 = tensor.empty(%d_b, %d_n, %d_m) : tensor<?x4x?x?xf32>
  %2 = linalg.fill ins(%c_2 : f32) outs(%1 : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%k, %q : tensor<?x4x?x128xf16>, tensor<?x4x?x128xf16>) outs(%2 : tensor<?x4x?x?xf32>) {
  ^bb0(%3: f16, %4: f16, %5: f32):
    %6 = arith.extf %3 : f16 to f32
    %7 = arith.extf %4 : f16 to f32
    %8 = arith.mulf %6, %7 : f32
    %9 = arith.addf %5, %8 : f32
    linalg.yield %9 : f32
  } -> tensor<?x4x?x?xf32>
  %11 = tensor.empty(%d_b, %d_n, %d_m) : tensor<?x4x?x?xf32>
  %15 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%10 : tensor<?x4x?x?xf32>) outs(%11 : tensor<?x4x?x?xf32>) {
  ^bb0(%12: f32, %13: f32):
    %14 = arith.mulf %12, %c_3 : f32
    linalg.yield %14 : f32
  } -> tensor<?x4x?x?xf32>
  %16 = tensor.empty(%d_b, %d_n, %d_m) : tensor<?x4x?x?xf32>
  %22 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%15, %logs : tensor<?x4x?x?xf32>, tensor<?x4x?xf32>) outs(%16 : tensor<?x4x?x?xf32>) {
  ^bb0(%17: f32, %18: f32, %19: f32):
    %20 = arith.subf %17, %18 : f32
    %21 = math.exp %20 : f32
    linalg.yield %21 : f32
  } -> tensor<?x4x?x?xf32>
  %23 = tensor.empty(%d_b, %d_n, %d_m) : tensor<?x4x?x?xf32>
  %24 = linalg.fill ins(%c_2 : f32) outs(%23 : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %32 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%v, %dy : tensor<?x4x?x128xf16>, tensor<?x4x?x128xf16>) outs(%24 : tensor<?x4x?x?xf32>) {
  ^bb0(%25: f16, %26: f16, %27: f32):
    %28 = arith.extf %25 : f16 to f32
    %29 = arith.extf %26 : f16 to f32
    %30 = arith.mulf %28, %29 : f32
    %31 = arith.addf %27, %30 : f32
    linalg.yield %31 : f32
  } -> tensor<?x4x?x?xf32>
  %33 = tensor.empty(%d_b, %d_n, %d_m) : tensor<?x4x?x?xf16>
  %41 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%22, %32, %delta : tensor<?x4x?x?xf32>, tensor<?x4x?x?xf32>, tensor<?x4x?xf32>) outs(%33 : tensor<?x4x?x?xf16>) {
  ^bb0(%34: f32, %35: f32, %36: f32, %37: f16):
    %38 = arith.subf %35, %36 : f32
    %39 = arith.mulf %34, %38 : f32
    %40 = arith.truncf %39 : f32 to f16
    linalg.yield %40 : f16
  } -> tensor<?x4x?x?xf16>
  %42 = tensor.empty(%d_b, %d_m) : tensor<?x4x?x128xf32>
  %43 = linalg.fill ins(%c_2 : f32) outs(%42 : tensor<?x4x?x128xf32>) -> tensor<?x4x?x128xf32>
  %51 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d2)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%41, %k : tensor<?x4x?x?xf16>, tensor<?x4x?x128xf16>) outs(%43 : tensor<?x4x?x128xf32>) {
  ^bb0(%44: f16, %45: f16, %46: f32):
    %47 = arith.extf %44 : f16 to f32
    %48 = arith.extf %45 : f16 to f32
    %49 = arith.mulf %47, %48 : f32
    %50 = arith.addf %46, %49 : f32
    linalg.yield %50 : f32
  } -> tensor<?x4x?x128xf32>
  %52 = tensor.empty(%d_b, %d_n, %d_m) : tensor<?x4x?x?xf16>
  %56 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%22 : tensor<?x4x?x?xf32>) outs(%52 : tensor<?x4x?x?xf16>) {
  ^bb0(%53: f32, %54: f16):
    %55 = arith.truncf %53 : f32 to f16
    linalg.yield %55 : f16
  } -> tensor<?x4x?x?xf16>
  %57 = tensor.empty(%d_b, %d_n) : tensor<?x4x?x128xf32>
  %58 = linalg.fill ins(%c_2 : f32) outs(%57 : tensor<?x4x?x128xf32>) -> tensor<?x4x?x128xf32>
  %66 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%41, %q : tensor<?x4x?x?xf16>, tensor<?x4x?x128xf16>) outs(%58 : tensor<?x4x?x128xf32>) {
  ^bb0(%59: f16, %60: f16, %61: f32):
    %62 = arith.extf %59 : f16 to f32
    %63 = arith.extf %60 : f16 to f32
    %64 = arith.mulf %62, %63 : f32
    %65 = arith.addf %61, %64 : f32
    linalg.yield %65 : f32
  } -> tensor<?x4x?x128xf32>
  %67 = tensor.empty(%d_b, %d_n) : tensor<?x4x?x128xf16>
  %72 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%66 : tensor<?x4x?x128xf32>) outs(%67 : tensor<?x4x?x128xf16>) {
  ^bb0(%68: f32, %69: f16):
    %70 = arith.mulf %68, %c_3 : f32
    %71 = arith.truncf %70 : f32 to f16
    linalg.yield %71 : f16
  } -> tensor<?x4x?x128xf16>
  %73 = tensor.empty(%d_b, %d_n) : tensor<?x4x?x128xf32>
  %74 = linalg.fill ins(%c_2 : f32) outs(%73 : tensor<?x4x?x128xf32>) -> tensor<?x4x?x128xf32>
  %82 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%56, %dy : tensor<?x4x?x?xf16>, tensor<?x4x?x128xf16>) outs(%74 : tensor<?x4x?x128xf32>) {
  ^bb0(%75: f16, %76: f16, %77: f32):
    %78 = arith.extf %75 : f16 to f32
    %79 = arith.extf %76 : f16 to f32
    %80 = arith.mulf %78, %79 : f32
    %81 = arith.addf %77, %80 : f32
    linalg.yield %81 : f32
  } -> tensor<?x4x?x128xf32>
  %83 = tensor.empty(%d_b, %d_n) : tensor<?x4x?x128xf16>
  %88 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%82 : tensor<?x4x?x128xf32>) outs(%83 : tensor<?x4x?x128xf16>) {
  ^bb0(%84: f32, %85: f16):
    %86 = arith.mulf %84, %c_5 : f32
    %87 = arith.truncf %86 : f32 to f16
    linalg.yield %87 : f16
  } -> tensor<?x4x?x128xf16>
  %89 = tensor.empty(%d_b, %d_m) : tensor<?x4x?x128xf16>
  %94 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%51 : tensor<?x4x?x128xf32>) outs(%89 : tensor<?x4x?x128xf16>) {
  ^bb0(%90: f32, %91: f16):
    %92 = arith.mulf %90, %c_3 : f32
    %93 = arith.truncf %92 : f32 to f16
    linalg.yield %93 : f16
  } -> tensor<?x4x?x128xf16>
  return %94, %72, %88 : tensor<?x4x?x128xf16>, tensor<?x4x?x128xf16>, tensor<?x4x?x128xf16>
}

