// The loop over keys that is derived from an attention: its body is in ops on fragments. A causal mask does not
// stand in the loop of the steps for which it holds everywhere.

// RUN: pit-opt %s --pit-to-cuda="chip=sm_90a device-code=ptx" --mlir-print-ir-before=convert-pit-gpu-to-nvvm -o /dev/null 2>&1 | FileCheck %s

// CHECK: gpu.func @attention_kernel_hopper(
// CHECK: role "workers"

// The loop of those steps carries the maxima and the sums of rows, the result, and the factor of the product that
// is late.
// CHECK: pit_gpu.tile_of
// CHECK: scf.while
// CHECK: scf.while
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i1, %[[TOP:.*]]: !pit_gpu.fragment<64x1xf32>, %[[TOTAL:.*]]: !pit_gpu.fragment<64x1xf32>, %[[SUMS:.*]]: !pit_gpu.fragment<64x64xf32>, %[[BEFORE:.*]]: !pit_gpu.fragment<64x128xf16>):
// CHECK-NOT: unrealized_conversion_cast
// CHECK: %[[STARTED:.*]]:2 = pit_gpu.hand_over
// CHECK: pit_gpu.mma %{{.*}} transpose
// CHECK: %[[ADDED:.*]] = pit_gpu.accumulate %[[SUMS]]
// CHECK: pit_gpu.mma %[[BEFORE]], %{{.*}}, %[[ADDED]]
// CHECK: %[[SCORES:.*]] = pit_gpu.mma_wait pending 1 of %[[STARTED]]#0
// CHECK-NOT: pit_gpu.map
// CHECK: %[[MAX:.*]] = pit_gpu.reduce_rows %[[SCORES]] : <64x128xf32> -> <64x1xf32> {
// CHECK: arith.maximumf
// CHECK: %[[NEXT_TOP:.*]] = pit_gpu.map(%[[TOP]], %[[MAX]] :
// CHECK: %[[OFFSET:.*]] = pit_gpu.map(%[[NEXT_TOP]] :
// CHECK: %[[SCALE:.*]] = pit_gpu.map(%[[TOP]], %[[OFFSET]] :
// CHECK: %[[POWERS:.*]] = pit_gpu.map(%[[SCORES]], %[[OFFSET]] : !pit_gpu.fragment<64x128xf32>, !pit_gpu.fragment<64x1xf32>) -> <64x128xf32> {
// CHECK: math.fma
// CHECK: math.exp2
// CHECK: %[[SUM:.*]] = pit_gpu.reduce_rows %[[POWERS]]
// CHECK: %[[NEXT_TOTAL:.*]] = pit_gpu.map(%[[TOTAL]], %[[SUM]], %[[SCALE]] :
// CHECK: %[[DONE:.*]] = pit_gpu.mma_wait pending 0 of %[[STARTED]]#1
// CHECK: %[[NEXT_SUMS:.*]] = pit_gpu.map(%[[DONE]], %[[SCALE]] :
// CHECK: %[[FACTOR:.*]] = pit_gpu.map(%[[POWERS]] : !pit_gpu.fragment<64x128xf32>) -> <64x128xf16> {
// CHECK-NOT: unrealized_conversion_cast
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NEXT_TOP]], %[[NEXT_TOTAL]], %[[NEXT_SUMS]], %[[FACTOR]] :

// The other steps have the comparisons.
// CHECK: scf.if
// CHECK: pit_gpu.map({{.*}} rows from %{{.*}} {
// CHECK: arith.cmpi sle, {{.*}} : index
// CHECK: arith.cmpi slt, {{.*}} : index
// CHECK: role "producers"

func.func @attention(%q: tensor<?x4x?x64xf16>, %k: tensor<?x4x?x64xf16>, %v: tensor<?x4x?x64xf16>) -> (tensor<?x4x?x64xf16>, tensor<?x4x?xf32>) {
  %c_0 = arith.constant 0 : index
  %c_1 = arith.constant 2 : index
  %c_2 = arith.constant 0.00000000000000000e+00 : f32
  %c_3 = arith.constant 1.25000000000000000e-01 : f32
  %c_4 = arith.constant -1.0e+999 : f32
  %d_b = tensor.dim %q, %c_0 : tensor<?x4x?x64xf16>
  %d_m = tensor.dim %q, %c_1 : tensor<?x4x?x64xf16>
  %d_n = tensor.dim %k, %c_1 : tensor<?x4x?x64xf16>
  %1 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x4x?x?xf32>
  %2 = linalg.fill ins(%c_2 : f32) outs(%1 : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x4x?x64xf16>, tensor<?x4x?x64xf16>) outs(%2 : tensor<?x4x?x?xf32>) {
  ^bb0(%3: f16, %4: f16, %5: f32):
    %6 = arith.extf %3 : f16 to f32
    %7 = arith.extf %4 : f16 to f32
    %8 = arith.mulf %6, %7 : f32
    %9 = arith.addf %5, %8 : f32
    linalg.yield %9 : f32
  } -> tensor<?x4x?x?xf32>
  %11 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x4x?x?xf32>
  %19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%10 : tensor<?x4x?x?xf32>) outs(%11 : tensor<?x4x?x?xf32>) {
  ^bb0(%12: f32, %13: f32):
    %14 = arith.mulf %12, %c_3 : f32
    %15 = linalg.index 3 : index
    %16 = linalg.index 2 : index
    %17 = arith.cmpi sle, %15, %16 : index
    %18 = arith.select %17, %14, %c_4 : f32
    linalg.yield %18 : f32
  } -> tensor<?x4x?x?xf32>
  %20 = tensor.empty(%d_b, %d_m) : tensor<?x4x?xf32>
  %21 = linalg.fill ins(%c_4 : f32) outs(%20 : tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%19 : tensor<?x4x?x?xf32>) outs(%21 : tensor<?x4x?xf32>) {
  ^bb0(%22: f32, %23: f32):
    %24 = arith.maximumf %23, %22 : f32
    linalg.yield %24 : f32
  } -> tensor<?x4x?xf32>
  %26 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x4x?x?xf32>
  %32 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%19, %25 : tensor<?x4x?x?xf32>, tensor<?x4x?xf32>) outs(%26 : tensor<?x4x?x?xf32>) {
  ^bb0(%27: f32, %28: f32, %29: f32):
    %30 = arith.subf %27, %28 : f32
    %31 = math.exp %30 : f32
    linalg.yield %31 : f32
  } -> tensor<?x4x?x?xf32>
  %33 = tensor.empty(%d_b, %d_m) : tensor<?x4x?xf32>
  %34 = linalg.fill ins(%c_2 : f32) outs(%33 : tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %38 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%32 : tensor<?x4x?x?xf32>) outs(%34 : tensor<?x4x?xf32>) {
  ^bb0(%35: f32, %36: f32):
    %37 = arith.addf %36, %35 : f32
    linalg.yield %37 : f32
  } -> tensor<?x4x?xf32>
  %39 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x4x?x?xf16>
  %43 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%32 : tensor<?x4x?x?xf32>) outs(%39 : tensor<?x4x?x?xf16>) {
  ^bb0(%40: f32, %41: f16):
    %42 = arith.truncf %40 : f32 to f16
    linalg.yield %42 : f16
  } -> tensor<?x4x?x?xf16>
  %44 = tensor.empty(%d_b, %d_m) : tensor<?x4x?x64xf32>
  %45 = linalg.fill ins(%c_2 : f32) outs(%44 : tensor<?x4x?x64xf32>) -> tensor<?x4x?x64xf32>
  %53 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%43, %v : tensor<?x4x?x?xf16>, tensor<?x4x?x64xf16>) outs(%45 : tensor<?x4x?x64xf32>) {
  ^bb0(%46: f16, %47: f16, %48: f32):
    %49 = arith.extf %46 : f16 to f32
    %50 = arith.extf %47 : f16 to f32
    %51 = arith.mulf %49, %50 : f32
    %52 = arith.addf %48, %51 : f32
    linalg.yield %52 : f32
  } -> tensor<?x4x?x64xf32>
  %54 = tensor.empty(%d_b, %d_m) : tensor<?x4x?x64xf16>
  %60 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%53, %38 : tensor<?x4x?x64xf32>, tensor<?x4x?xf32>) outs(%54 : tensor<?x4x?x64xf16>) {
  ^bb0(%55: f32, %56: f32, %57: f16):
    %58 = arith.divf %55, %56 : f32
    %59 = arith.truncf %58 : f32 to f16
    linalg.yield %59 : f16
  } -> tensor<?x4x?x64xf16>
  %61 = tensor.empty(%d_b, %d_m) : tensor<?x4x?xf32>
  %69 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%38, %25 : tensor<?x4x?xf32>, tensor<?x4x?xf32>) outs(%61 : tensor<?x4x?xf32>) {
  ^bb0(%62: f32, %63: f32, %64: f32):
    %65 = math.log %62 : f32
    %66 = arith.cmpf oeq, %63, %c_4 : f32
    %67 = arith.select %66, %c_2, %63 : f32
    %68 = arith.addf %67, %65 : f32
    linalg.yield %68 : f32
  } -> tensor<?x4x?xf32>
  return %60, %69 : tensor<?x4x?x64xf16>, tensor<?x4x?xf32>
}
