// An attention whose queries, keys and values have 8 bits, and whose probabilities are rounded to the type of values.
// wgmma takes floats of 8 bits along what it sums up: values are stored along keys before the loop, up to whole
// steps, in the order in which threads have sums. So probabilities become a first factor in registers, and threads
// exchange nothing. The factor of the probabilities is a summand of the exponent.

// RUN: pit-opt %s --pit-to-cuda="chip=sm_90a device-code=ptx" --mlir-print-ir-before=convert-pit-gpu-to-nvvm -o /dev/null 2>&1 | FileCheck %s
// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions{target=sm_90a},canonicalize,cse))' | FileCheck %s --check-prefix=TILES

// TILES-DAG: #[[$FROM:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, (d3 floordiv 16) * 16 + ((d3 floordiv 2) mod 2) * 8 + ((d3 mod 16) floordiv 4) * 2 + d3 mod 2, d2)>
// TILES-DAG: #[[$TO:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, (d4 floordiv 16) * 16 + ((d4 mod 8) floordiv 2) * 4 + ((d4 floordiv 8) mod 2) * 2 + d4 mod 2)>
// TILES: %[[T:.*]] = pit.forall {{.*}} -> (tensor<?x2x128x?xf8E4M3FN>)
// TILES: linalg.generic {indexing_maps = [#[[$FROM]], #{{.*}}]
// TILES: pit.for (%{{.*}}) = (%c0) to (%{{.*}}) step (128)
// TILES: math.fma
// TILES-NEXT: math.exp2
// TILES-NEXT: linalg.yield
// TILES: arith.truncf %{{.*}} : f32 to f8E4M3FN
// TILES: pit.sread %[[T]]
// TILES-SAME: -> tensor<1x1x128x128xf8E4M3FN>
// TILES: linalg.generic {indexing_maps = [#{{.*}}, #[[$TO]], #{{.*}}]

// CHECK: gpu.func @attention_kernel_0_hopper(
// CHECK-DAG: pit_gpu.tensor_map %{{.*}} -> <1x1x128x128xf8E4M3FN, swizzle = 128>
// CHECK-DAG: pit_gpu.tensor_map %{{.*}} -> <1x1x128x128xf8E4M3FN, swizzle = 128>
// CHECK: pit_gpu.mma %{{.*}} : !pit_gpu.tile<64x128xf8E4M3FN, {{.*}}>, <128x128xf8E4M3FN, swizzle = 128>, <64x128xf32>
// CHECK-NOT: spread
// CHECK-DAG: nvvm.convert.f32x2.to.f8x2
// CHECK-DAG: pit_gpu.mma %{{.*}} : !pit_gpu.fragment<64x128xf8E4M3FN>, <128x128xf8E4M3FN, swizzle = 128>, <64x128xf32>

func.func @attention(%q: tensor<?x2x?x128xf8E4M3FN>, %k: tensor<?x2x?x128xf8E4M3FN>, %v: tensor<?x2x?x128xf8E4M3FN>, %q_scale: tensor<?x2x1xf32>, %k_scale: tensor<?x2x1xf32>, %v_scale: tensor<?x2x1xf32>) -> (tensor<?x2x?x128xf16>) {
  %c_0 = arith.constant 0 : index
  %c_1 = arith.constant 2 : index
  %c_2 = arith.constant 0.00000000000000000e+00 : f32
  %c_3 = arith.constant 0x7FC00000 : f32
  %c_4 = arith.constant 5.42101086242752217e-20 : f32
  %c_5 = arith.constant 8.83883476483184466e-02 : f32
  %c_6 = arith.constant -1.0e+999 : f32
  %c_7 = arith.constant 2.56000000000000000e+02 : f32
  %d_b = tensor.dim %q, %c_0 : tensor<?x2x?x128xf8E4M3FN>
  %d_m = tensor.dim %q, %c_1 : tensor<?x2x?x128xf8E4M3FN>
  %d_n = tensor.dim %k, %c_1 : tensor<?x2x?x128xf8E4M3FN>
  %1 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x2x?x?xf32>
  %2 = linalg.fill ins(%c_2 : f32) outs(%1 : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x2x?x128xf8E4M3FN>, tensor<?x2x?x128xf8E4M3FN>) outs(%2 : tensor<?x2x?x?xf32>) {
  ^bb0(%3: f8E4M3FN, %4: f8E4M3FN, %5: f32):
    %6 = arith.extf %3 : f8E4M3FN to f32
    %7 = arith.extf %4 : f8E4M3FN to f32
    %8 = arith.mulf %6, %7 : f32
    %9 = arith.addf %5, %8 : f32
    linalg.yield %9 : f32
  } -> tensor<?x2x?x?xf32>
  %11 = tensor.collapse_shape %q_scale [[0], [1, 2]] : tensor<?x2x1xf32> into tensor<?x2xf32>
  %12 = tensor.collapse_shape %k_scale [[0], [1, 2]] : tensor<?x2x1xf32> into tensor<?x2xf32>
  %13 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x2x?x?xf32>
  %24 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%10, %11, %12 : tensor<?x2x?x?xf32>, tensor<?x2xf32>, tensor<?x2xf32>) outs(%13 : tensor<?x2x?x?xf32>) {
  ^bb0(%14: f32, %15: f32, %16: f32, %17: f32):
    %18 = arith.mulf %15, %16 : f32
    %19 = arith.cmpf oge, %18, %c_2 : f32
    %20 = arith.select %19, %18, %c_3 : f32
    %21 = arith.maximumf %20, %c_4 : f32
    %22 = arith.mulf %14, %21 : f32
    %23 = arith.mulf %22, %c_5 : f32
    linalg.yield %23 : f32
  } -> tensor<?x2x?x?xf32>
  %25 = tensor.empty(%d_b, %d_m) : tensor<?x2x?xf32>
  %26 = linalg.fill ins(%c_6 : f32) outs(%25 : tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  %30 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%24 : tensor<?x2x?x?xf32>) outs(%26 : tensor<?x2x?xf32>) {
  ^bb0(%27: f32, %28: f32):
    %29 = arith.maximumf %28, %27 : f32
    linalg.yield %29 : f32
  } -> tensor<?x2x?xf32>
  %31 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x2x?x?xf32>
  %38 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%24, %30 : tensor<?x2x?x?xf32>, tensor<?x2x?xf32>) outs(%31 : tensor<?x2x?x?xf32>) {
  ^bb0(%32: f32, %33: f32, %34: f32):
    %35 = arith.subf %32, %33 : f32
    %36 = math.exp %35 : f32
    %37 = arith.mulf %36, %c_7 : f32
    linalg.yield %37 : f32
  } -> tensor<?x2x?x?xf32>
  %39 = tensor.empty(%d_b, %d_m) : tensor<?x2x?xf32>
  %40 = linalg.fill ins(%c_2 : f32) outs(%39 : tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  %44 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%38 : tensor<?x2x?x?xf32>) outs(%40 : tensor<?x2x?xf32>) {
  ^bb0(%41: f32, %42: f32):
    %43 = arith.addf %42, %41 : f32
    linalg.yield %43 : f32
  } -> tensor<?x2x?xf32>
  %45 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x2x?x?xf8E4M3FN>
  %49 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%38 : tensor<?x2x?x?xf32>) outs(%45 : tensor<?x2x?x?xf8E4M3FN>) {
  ^bb0(%46: f32, %47: f8E4M3FN):
    %48 = arith.truncf %46 : f32 to f8E4M3FN
    linalg.yield %48 : f8E4M3FN
  } -> tensor<?x2x?x?xf8E4M3FN>
  %50 = tensor.empty(%d_b, %d_m) : tensor<?x2x?x128xf32>
  %51 = linalg.fill ins(%c_2 : f32) outs(%50 : tensor<?x2x?x128xf32>) -> tensor<?x2x?x128xf32>
  %59 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%49, %v : tensor<?x2x?x?xf8E4M3FN>, tensor<?x2x?x128xf8E4M3FN>) outs(%51 : tensor<?x2x?x128xf32>) {
  ^bb0(%52: f8E4M3FN, %53: f8E4M3FN, %54: f32):
    %55 = arith.extf %52 : f8E4M3FN to f32
    %56 = arith.extf %53 : f8E4M3FN to f32
    %57 = arith.mulf %55, %56 : f32
    %58 = arith.addf %54, %57 : f32
    linalg.yield %58 : f32
  } -> tensor<?x2x?x128xf32>
  %60 = tensor.collapse_shape %v_scale [[0], [1, 2]] : tensor<?x2x1xf32> into tensor<?x2xf32>
  %61 = tensor.empty(%d_b, %d_m) : tensor<?x2x?x128xf16>
  %69 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%59, %44, %60 : tensor<?x2x?x128xf32>, tensor<?x2x?xf32>, tensor<?x2xf32>) outs(%61 : tensor<?x2x?x128xf16>) {
  ^bb0(%62: f32, %63: f32, %64: f32, %65: f16):
    %66 = arith.divf %62, %63 : f32
    %67 = arith.mulf %66, %64 : f32
    %68 = arith.truncf %67 : f32 to f16
    linalg.yield %68 : f16
  } -> tensor<?x2x?x128xf16>
  return %69 : tensor<?x2x?x128xf16>
}

