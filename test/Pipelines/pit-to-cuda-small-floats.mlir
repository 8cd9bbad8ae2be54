// An attention whose queries and keys have 8 bits: on an sm_90a wgmma multiplies these as they are, and
// probabilities of f16 with values of f16. Tensor cores before multiply no floats of 8 bits.

// RUN: pit-opt %s --pit-to-cuda="chip=sm_90a device-code=ptx" --mlir-print-ir-before=convert-pit-gpu-to-nvvm -o /dev/null 2>&1 | FileCheck %s
// RUN: pit-opt %s --pit-to-cuda="chip=sm_80 device-code=ptx explain" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OLD

// CHECK: gpu.func @attention_kernel_hopper(
// CHECK-DAG: pit_gpu.tensor_map %{{.*}} -> <1x1x1x128x128xf8E4M3FN, swizzle = 128>
// CHECK-DAG: pit_gpu.tensor_map %{{.*}} -> <1x1x128x128xf8E4M3FN, swizzle = 128>
// CHECK-DAG: pit_gpu.tensor_map %{{.*}} -> <1x1x128x64xf16, swizzle = 128>
// CHECK: pit_gpu.mma %{{.*}} : !pit_gpu.tile<64x128xf8E4M3FN, {{.*}}>, <128x128xf8E4M3FN, swizzle = 128>, <64x128xf32>
// CHECK: pit_gpu.mma %{{.*}} : !pit_gpu.fragment<64x128xf16>, <128x64xf16, swizzle = 128>, <64x64xf32>
// CHECK: gpu.func @attention_kernel(

// OLD: forms no mainloop: wgmma alone multiplies floats of 8 bits, in tiles of 64 rows with lines of 32 elements

func.func @attention(%q: tensor<?x4x?x128xf8E4M3FN>, %k: tensor<?x2x?x128xf8E4M3FN>, %v: tensor<?x2x?x64xf16>, %q_scale: tensor<?x4x1xf32>, %k_scale: tensor<?x2x?xf32>) -> (tensor<?x4x?x64xf16>, tensor<?x4x?xf32>) {
  %c_0 = arith.constant 0 : index
  %c_1 = arith.constant 2 : index
  %c_2 = arith.constant 0.00000000000000000e+00 : f32
  %c_3 = arith.constant 8.83883476483184466e-02 : f32
  %c_4 = arith.constant -1.0e+999 : f32
  %d_b = tensor.dim %q, %c_0 : tensor<?x4x?x128xf8E4M3FN>
  %d_m = tensor.dim %q, %c_1 : tensor<?x4x?x128xf8E4M3FN>
  %d_n = tensor.dim %k, %c_1 : tensor<?x2x?x128xf8E4M3FN>
  %1 = tensor.expand_shape %q [[0], [1, 2], [3], [4]] output_shape [%d_b, 2, 2, %d_m, 128] : tensor<?x4x?x128xf8E4M3FN> into tensor<?x2x2x?x128xf8E4M3FN>
  %2 = tensor.expand_shape %q_scale [[0], [1, 2], [3]] output_shape [%d_b, 2, 2, 1] : tensor<?x4x1xf32> into tensor<?x2x2x1xf32>
  %3 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x2x2x?x?xf32>
  %4 = linalg.fill ins(%c_2 : f32) outs(%3 : tensor<?x2x2x?x?xf32>) -> tensor<?x2x2x?x?xf32>
  %12 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%1, %k : tensor<?x2x2x?x128xf8E4M3FN>, tensor<?x2x?x128xf8E4M3FN>) outs(%4 : tensor<?x2x2x?x?xf32>) {
  ^bb0(%5: f8E4M3FN, %6: f8E4M3FN, %7: f32):
    %8 = arith.extf %5 : f8E4M3FN to f32
    %9 = arith.extf %6 : f8E4M3FN to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %7, %10 : f32
    linalg.yield %11 : f32
  } -> tensor<?x2x2x?x?xf32>
  %13 = tensor.collapse_shape %2 [[0], [1], [2, 3]] : tensor<?x2x2x1xf32> into tensor<?x2x2xf32>
  %14 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x2x2x?x?xf32>
  %28 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%12, %13, %k_scale : tensor<?x2x2x?x?xf32>, tensor<?x2x2xf32>, tensor<?x2x?xf32>) outs(%14 : tensor<?x2x2x?x?xf32>) {
  ^bb0(%15: f32, %16: f32, %17: f32, %18: f32):
    %19 = arith.mulf %15, %16 : f32
    %20 = arith.mulf %19, %17 : f32
    %21 = arith.mulf %20, %c_3 : f32
    %22 = linalg.index 4 : index
    %23 = linalg.index 3 : index
    %24 = arith.subi %d_n, %d_m : index
    %25 = arith.addi %23, %24 : index
    %26 = arith.cmpi sle, %22, %25 : index
    %27 = arith.select %26, %21, %c_4 : f32
    linalg.yield %27 : f32
  } -> tensor<?x2x2x?x?xf32>
  %29 = tensor.empty(%d_b, %d_m) : tensor<?x2x2x?xf32>
  %30 = linalg.fill ins(%c_4 : f32) outs(%29 : tensor<?x2x2x?xf32>) -> tensor<?x2x2x?xf32>
  %34 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%28 : tensor<?x2x2x?x?xf32>) outs(%30 : tensor<?x2x2x?xf32>) {
  ^bb0(%31: f32, %32: f32):
    %33 = arith.maximumf %32, %31 : f32
    linalg.yield %33 : f32
  } -> tensor<?x2x2x?xf32>
  %35 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x2x2x?x?xf32>
  %41 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%28, %34 : tensor<?x2x2x?x?xf32>, tensor<?x2x2x?xf32>) outs(%35 : tensor<?x2x2x?x?xf32>) {
  ^bb0(%36: f32, %37: f32, %38: f32):
    %39 = arith.subf %36, %37 : f32
    %40 = math.exp %39 : f32
    linalg.yield %40 : f32
  } -> tensor<?x2x2x?x?xf32>
  %42 = tensor.empty(%d_b, %d_m) : tensor<?x2x2x?xf32>
  %43 = linalg.fill ins(%c_2 : f32) outs(%42 : tensor<?x2x2x?xf32>) -> tensor<?x2x2x?xf32>
  %47 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%41 : tensor<?x2x2x?x?xf32>) outs(%43 : tensor<?x2x2x?xf32>) {
  ^bb0(%44: f32, %45: f32):
    %46 = arith.addf %45, %44 : f32
    linalg.yield %46 : f32
  } -> tensor<?x2x2x?xf32>
  %48 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x2x2x?x?xf16>
  %52 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%41 : tensor<?x2x2x?x?xf32>) outs(%48 : tensor<?x2x2x?x?xf16>) {
  ^bb0(%49: f32, %50: f16):
    %51 = arith.truncf %49 : f32 to f16
    linalg.yield %51 : f16
  } -> tensor<?x2x2x?x?xf16>
  %53 = tensor.empty(%d_b, %d_m) : tensor<?x2x2x?x64xf32>
  %54 = linalg.fill ins(%c_2 : f32) outs(%53 : tensor<?x2x2x?x64xf32>) -> tensor<?x2x2x?x64xf32>
  %62 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5, d4)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%52, %v : tensor<?x2x2x?x?xf16>, tensor<?x2x?x64xf16>) outs(%54 : tensor<?x2x2x?x64xf32>) {
  ^bb0(%55: f16, %56: f16, %57: f32):
    %58 = arith.extf %55 : f16 to f32
    %59 = arith.extf %56 : f16 to f32
    %60 = arith.mulf %58, %59 : f32
    %61 = arith.addf %57, %60 : f32
    linalg.yield %61 : f32
  } -> tensor<?x2x2x?x64xf32>
  %63 = tensor.empty(%d_b, %d_m) : tensor<?x2x2x?x64xf16>
  %69 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%62, %47 : tensor<?x2x2x?x64xf32>, tensor<?x2x2x?xf32>) outs(%63 : tensor<?x2x2x?x64xf16>) {
  ^bb0(%64: f32, %65: f32, %66: f16):
    %67 = arith.divf %64, %65 : f32
    %68 = arith.truncf %67 : f32 to f16
    linalg.yield %68 : f16
  } -> tensor<?x2x2x?x64xf16>
  %70 = tensor.collapse_shape %69 [[0], [1, 2], [3], [4]] : tensor<?x2x2x?x64xf16> into tensor<?x4x?x64xf16>
  %71 = tensor.empty(%d_b, %d_m) : tensor<?x2x2x?xf32>
  %79 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%47, %34 : tensor<?x2x2x?xf32>, tensor<?x2x2x?xf32>) outs(%71 : tensor<?x2x2x?xf32>) {
  ^bb0(%72: f32, %73: f32, %74: f32):
    %75 = arith.cmpf oeq, %73, %c_4 : f32
    %76 = arith.select %75, %c_2, %73 : f32
    %77 = math.log %72 : f32
    %78 = arith.addf %76, %77 : f32
    linalg.yield %78 : f32
  } -> tensor<?x2x2x?xf32>
  %80 = tensor.collapse_shape %79 [[0], [1, 2], [3]] : tensor<?x2x2x?xf32> into tensor<?x4x?xf32>
  return %70, %80 : tensor<?x4x?x64xf16>, tensor<?x4x?xf32>
}

