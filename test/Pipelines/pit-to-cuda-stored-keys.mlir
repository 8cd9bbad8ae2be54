// An attention whose keys and values have 8 bits, and are multiplied by scales. On a GPU kernels write these
// in the type of the queries, and the loop over them is a mainloop of tensor cores.

// RUN: pit-opt %s --pit-to-cuda="chip=sm_90a device-code=ptx" --mlir-print-ir-before=convert-pit-gpu-to-nvvm -o /dev/null 2>&1 | FileCheck %s

// CHECK-DAG: gpu.func @attention_kernel({{.*}}xi8>{{.*}}xf16>
// CHECK-DAG: gpu.func @attention_kernel_0({{.*}}xi8>{{.*}}xf16>
// CHECK-DAG: gpu.func @attention_kernel_1_hopper({{.*}}128xf16>

func.func @attention(%q: tensor<?x4x?x128xf16>, %k: tensor<?x2x?x128xi8>, %v: tensor<?x2x?x128xi8>, %k_scale: tensor<?x2x1xf32>, %v_scale: tensor<?x2x?xf32>) -> (tensor<?x4x?x128xf16>, tensor<?x4x?xf32>) {
  %c_0 = arith.constant 0 : index
  %c_1 = arith.constant 2 : index
  %c_2 = arith.constant 0.00000000000000000e+00 : f32
  %c_3 = arith.constant 8.83883476483184466e-02 : f32
  %c_4 = arith.constant -1.0e+999 : f32
  %d_b = tensor.dim %q, %c_0 : tensor<?x4x?x128xf16>
  %d_m = tensor.dim %q, %c_1 : tensor<?x4x?x128xf16>
  %d_n = tensor.dim %k, %c_1 : tensor<?x2x?x128xi8>
  %1 = tensor.expand_shape %q [[0], [1, 2], [3], [4]] output_shape [%d_b, 2, 2, %d_m, 128] : tensor<?x4x?x128xf16> into tensor<?x2x2x?x128xf16>
  %2 = tensor.collapse_shape %k_scale [[0], [1, 2]] : tensor<?x2x1xf32> into tensor<?x2xf32>
  %3 = tensor.empty(%d_b, %d_n) : tensor<?x2x?x128xf16>
  %10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k, %2 : tensor<?x2x?x128xi8>, tensor<?x2xf32>) outs(%3 : tensor<?x2x?x128xf16>) {
  ^bb0(%4: i8, %5: f32, %6: f16):
    %7 = arith.sitofp %4 : i8 to f32
    %8 = arith.mulf %7, %5 : f32
    %9 = arith.truncf %8 : f32 to f16
    linalg.yield %9 : f16
  } -> tensor<?x2x?x128xf16>
  %11 = tensor.empty(%d_b, %d_n) : tensor<?x2x?x128xf16>
  %18 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%v, %v_scale : tensor<?x2x?x128xi8>, tensor<?x2x?xf32>) outs(%11 : tensor<?x2x?x128xf16>) {
  ^bb0(%12: i8, %13: f32, %14: f16):
    %15 = arith.sitofp %12 : i8 to f32
    %16 = arith.mulf %15, %13 : f32
    %17 = arith.truncf %16 : f32 to f16
    linalg.yield %17 : f16
  } -> tensor<?x2x?x128xf16>
  %19 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x2x2x?x?xf32>
  %20 = linalg.fill ins(%c_2 : f32) outs(%19 : tensor<?x2x2x?x?xf32>) -> tensor<?x2x2x?x?xf32>
  %28 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%1, %10 : tensor<?x2x2x?x128xf16>, tensor<?x2x?x128xf16>) outs(%20 : tensor<?x2x2x?x?xf32>) {
  ^bb0(%21: f16, %22: f16, %23: f32):
    %24 = arith.extf %21 : f16 to f32
    %25 = arith.extf %22 : f16 to f32
    %26 = arith.mulf %24, %25 : f32
    %27 = arith.addf %23, %26 : f32
    linalg.yield %27 : f32
  } -> tensor<?x2x2x?x?xf32>
  %29 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x2x2x?x?xf32>
  %37 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%28 : tensor<?x2x2x?x?xf32>) outs(%29 : tensor<?x2x2x?x?xf32>) {
  ^bb0(%30: f32, %31: f32):
    %32 = arith.mulf %30, %c_3 : f32
    %33 = linalg.index 4 : index
    %34 = linalg.index 3 : index
    %35 = arith.cmpi sle, %33, %34 : index
    %36 = arith.select %35, %32, %c_4 : f32
    linalg.yield %36 : f32
  } -> tensor<?x2x2x?x?xf32>
  %38 = tensor.empty(%d_b, %d_m) : tensor<?x2x2x?xf32>
  %39 = linalg.fill ins(%c_4 : f32) outs(%38 : tensor<?x2x2x?xf32>) -> tensor<?x2x2x?xf32>
  %43 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%37 : tensor<?x2x2x?x?xf32>) outs(%39 : tensor<?x2x2x?xf32>) {
  ^bb0(%40: f32, %41: f32):
    %42 = arith.maximumf %41, %40 : f32
    linalg.yield %42 : f32
  } -> tensor<?x2x2x?xf32>
  %44 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x2x2x?x?xf32>
  %50 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%37, %43 : tensor<?x2x2x?x?xf32>, tensor<?x2x2x?xf32>) outs(%44 : tensor<?x2x2x?x?xf32>) {
  ^bb0(%45: f32, %46: f32, %47: f32):
    %48 = arith.subf %45, %46 : f32
    %49 = math.exp %48 : f32
    linalg.yield %49 : f32
  } -> tensor<?x2x2x?x?xf32>
  %51 = tensor.empty(%d_b, %d_m) : tensor<?x2x2x?xf32>
  %52 = linalg.fill ins(%c_2 : f32) outs(%51 : tensor<?x2x2x?xf32>) -> tensor<?x2x2x?xf32>
  %56 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%50 : tensor<?x2x2x?x?xf32>) outs(%52 : tensor<?x2x2x?xf32>) {
  ^bb0(%53: f32, %54: f32):
    %55 = arith.addf %54, %53 : f32
    linalg.yield %55 : f32
  } -> tensor<?x2x2x?xf32>
  %57 = tensor.empty(%d_b, %d_m, %d_n) : tensor<?x2x2x?x?xf16>
  %61 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%50 : tensor<?x2x2x?x?xf32>) outs(%57 : tensor<?x2x2x?x?xf16>) {
  ^bb0(%58: f32, %59: f16):
    %60 = arith.truncf %58 : f32 to f16
    linalg.yield %60 : f16
  } -> tensor<?x2x2x?x?xf16>
  %62 = tensor.empty(%d_b, %d_m) : tensor<?x2x2x?x128xf32>
  %63 = linalg.fill ins(%c_2 : f32) outs(%62 : tensor<?x2x2x?x128xf32>) -> tensor<?x2x2x?x128xf32>
  %71 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5, d4)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%61, %18 : tensor<?x2x2x?x?xf16>, tensor<?x2x?x128xf16>) outs(%63 : tensor<?x2x2x?x128xf32>) {
  ^bb0(%64: f16, %65: f16, %66: f32):
    %67 = arith.extf %64 : f16 to f32
    %68 = arith.extf %65 : f16 to f32
    %69 = arith.mulf %67, %68 : f32
    %70 = arith.addf %66, %69 : f32
    linalg.yield %70 : f32
  } -> tensor<?x2x2x?x128xf32>
  %72 = tensor.empty(%d_b, %d_m) : tensor<?x2x2x?x128xf16>
  %78 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%71, %56 : tensor<?x2x2x?x128xf32>, tensor<?x2x2x?xf32>) outs(%72 : tensor<?x2x2x?x128xf16>) {
  ^bb0(%73: f32, %74: f32, %75: f16):
    %76 = arith.divf %73, %74 : f32
    %77 = arith.truncf %76 : f32 to f16
    linalg.yield %77 : f16
  } -> tensor<?x2x2x?x128xf16>
  %79 = tensor.collapse_shape %78 [[0], [1, 2], [3], [4]] : tensor<?x2x2x?x128xf16> into tensor<?x4x?x128xf16>
  %80 = tensor.empty(%d_b, %d_m) : tensor<?x2x2x?xf32>
  %88 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%56, %43 : tensor<?x2x2x?xf32>, tensor<?x2x2x?xf32>) outs(%80 : tensor<?x2x2x?xf32>) {
  ^bb0(%81: f32, %82: f32, %83: f32):
    %84 = arith.cmpf oeq, %82, %c_4 : f32
    %85 = arith.select %84, %c_2, %82 : f32
    %86 = math.log %81 : f32
    %87 = arith.addf %85, %86 : f32
    linalg.yield %87 : f32
  } -> tensor<?x2x2x?xf32>
  %89 = tensor.collapse_shape %88 [[0], [1, 2], [3]] : tensor<?x2x2x?xf32> into tensor<?x4x?xf32>
  return %79, %89 : tensor<?x4x?x128xf16>, tensor<?x4x?xf32>
}

