// Gradients of the keys of a single query, of which heads share the keys: nothing along the axis is read
// as a matrix, from whose bytes the columns of a step would follow.

// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions{target=sm_90a}))' | FileCheck %s

// CHECK-LABEL: func @attention_k_gradient(
// CHECK: pit.for

func.func @attention_k_gradient(%q: tensor<?x3x1x64xf16>, %k: tensor<?x1x?x64xf16>, %v: tensor<?x1x?x64xf16>, %dy: tensor<?x3x1x64xf16>, %logs: tensor<?x3x1xf32>, %delta: tensor<?x3x1xf32>) -> (tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>) {
  %c_0 = arith.constant 0 : index
  %c_1 = arith.constant 2 : index
  %c_2 = arith.constant 0.00000000000000000e+00 : f32
  %c_3 = arith.constant 1 : index
  %c_4 = arith.constant 2.99999999999999989e-01 : f32
  %c_5 = arith.constant -1.0e+999 : f32
  %c_6 = arith.constant 1.00000000000000000e+00 : f32
  %d_b = tensor.dim %q, %c_0 : tensor<?x3x1x64xf16>
  %d_n = tensor.dim %k, %c_1 : tensor<?x1x?x64xf16>
  %1 = tensor.expand_shape %q [[0], [1, 2], [3], [4]] output_shape [%d_b, 1, 3, 1, 64] : tensor<?x3x1x64xf16> into tensor<?x1x3x1x64xf16>
  %2 = tensor.expand_shape %dy [[0], [1, 2], [3], [4]] output_shape [%d_b, 1, 3, 1, 64] : tensor<?x3x1x64xf16> into tensor<?x1x3x1x64xf16>
  %3 = tensor.expand_shape %logs [[0], [1, 2], [3]] output_shape [%d_b, 1, 3, 1] : tensor<?x3x1xf32> into tensor<?x1x3x1xf32>
  %4 = tensor.expand_shape %delta [[0], [1, 2], [3]] output_shape [%d_b, 1, 3, 1] : tensor<?x3x1xf32> into tensor<?x1x3x1xf32>
  %5 = tensor.empty(%d_b, %d_n) : tensor<?x1x3x?x1xf32>
  %6 = linalg.fill ins(%c_2 : f32) outs(%5 : tensor<?x1x3x?x1xf32>) -> tensor<?x1x3x?x1xf32>
  %14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%k, %1 : tensor<?x1x?x64xf16>, tensor<?x1x3x1x64xf16>) outs(%6 : tensor<?x1x3x?x1xf32>) {
  ^bb0(%7: f16, %8: f16, %9: f32):
    %10 = arith.extf %7 : f16 to f32
    %11 = arith.extf %8 : f16 to f32
    %12 = arith.mulf %10, %11 : f32
    %13 = arith.addf %9, %12 : f32
    linalg.yield %13 : f32
  } -> tensor<?x1x3x?x1xf32>
  %15 = tensor.empty(%d_b, %d_n) : tensor<?x1x3x?x1xf32>
  %19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%14 : tensor<?x1x3x?x1xf32>) outs(%15 : tensor<?x1x3x?x1xf32>) {
  ^bb0(%16: f32, %17: f32):
    %18 = arith.mulf %16, %c_4 : f32
    linalg.yield %18 : f32
  } -> tensor<?x1x3x?x1xf32>
  %20 = tensor.empty(%d_b, %d_n) : tensor<?x1x3x?x1xf32>
  %26 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%19, %3 : tensor<?x1x3x?x1xf32>, tensor<?x1x3x1xf32>) outs(%20 : tensor<?x1x3x?x1xf32>) {
  ^bb0(%21: f32, %22: f32, %23: f32):
    %24 = arith.subf %21, %22 : f32
    %25 = math.exp %24 : f32
    linalg.yield %25 : f32
  } -> tensor<?x1x3x?x1xf32>
  %27 = tensor.empty(%d_b, %d_n) : tensor<?x1x3x?x1xf32>
  %28 = linalg.fill ins(%c_2 : f32) outs(%27 : tensor<?x1x3x?x1xf32>) -> tensor<?x1x3x?x1xf32>
  %36 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%v, %2 : tensor<?x1x?x64xf16>, tensor<?x1x3x1x64xf16>) outs(%28 : tensor<?x1x3x?x1xf32>) {
  ^bb0(%29: f16, %30: f16, %31: f32):
    %32 = arith.extf %29 : f16 to f32
    %33 = arith.extf %30 : f16 to f32
    %34 = arith.mulf %32, %33 : f32
    %35 = arith.addf %31, %34 : f32
    linalg.yield %35 : f32
  } -> tensor<?x1x3x?x1xf32>
  %37 = tensor.empty(%d_b, %d_n) : tensor<?x1x3x?x1xf16>
  %45 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%26, %36, %4 : tensor<?x1x3x?x1xf32>, tensor<?x1x3x?x1xf32>, tensor<?x1x3x1xf32>) outs(%37 : tensor<?x1x3x?x1xf16>) {
  ^bb0(%38: f32, %39: f32, %40: f32, %41: f16):
    %42 = arith.subf %39, %40 : f32
    %43 = arith.mulf %38, %42 : f32
    %44 = arith.truncf %43 : f32 to f16
    linalg.yield %44 : f16
  } -> tensor<?x1x3x?x1xf16>
  %46 = tensor.empty(%d_b, %d_n) : tensor<?x1x3x?x1xf16>
  %50 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%26 : tensor<?x1x3x?x1xf32>) outs(%46 : tensor<?x1x3x?x1xf16>) {
  ^bb0(%47: f32, %48: f16):
    %49 = arith.truncf %47 : f32 to f16
    linalg.yield %49 : f16
  } -> tensor<?x1x3x?x1xf16>
  %51 = tensor.empty(%d_b, %d_n) : tensor<?x1x?x64xf32>
  %52 = linalg.fill ins(%c_2 : f32) outs(%51 : tensor<?x1x?x64xf32>) -> tensor<?x1x?x64xf32>
  %60 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d2, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5, d3)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%45, %1 : tensor<?x1x3x?x1xf16>, tensor<?x1x3x1x64xf16>) outs(%52 : tensor<?x1x?x64xf32>) {
  ^bb0(%53: f16, %54: f16, %55: f32):
    %56 = arith.extf %53 : f16 to f32
    %57 = arith.extf %54 : f16 to f32
    %58 = arith.mulf %56, %57 : f32
    %59 = arith.addf %55, %58 : f32
    linalg.yield %59 : f32
  } -> tensor<?x1x?x64xf32>
  %61 = tensor.empty(%d_b, %d_n) : tensor<?x1x?x64xf16>
  %66 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%60 : tensor<?x1x?x64xf32>) outs(%61 : tensor<?x1x?x64xf16>) {
  ^bb0(%62: f32, %63: f16):
    %64 = arith.mulf %62, %c_4 : f32
    %65 = arith.truncf %64 : f32 to f16
    linalg.yield %65 : f16
  } -> tensor<?x1x?x64xf16>
  %67 = tensor.empty(%d_b, %d_n) : tensor<?x1x?x64xf32>
  %68 = linalg.fill ins(%c_2 : f32) outs(%67 : tensor<?x1x?x64xf32>) -> tensor<?x1x?x64xf32>
  %76 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d2, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5, d3)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%50, %2 : tensor<?x1x3x?x1xf16>, tensor<?x1x3x1x64xf16>) outs(%68 : tensor<?x1x?x64xf32>) {
  ^bb0(%69: f16, %70: f16, %71: f32):
    %72 = arith.extf %69 : f16 to f32
    %73 = arith.extf %70 : f16 to f32
    %74 = arith.mulf %72, %73 : f32
    %75 = arith.addf %71, %74 : f32
    linalg.yield %75 : f32
  } -> tensor<?x1x?x64xf32>
  %77 = tensor.empty(%d_b, %d_n) : tensor<?x1x?x64xf16>
  %82 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%76 : tensor<?x1x?x64xf32>) outs(%77 : tensor<?x1x?x64xf16>) {
  ^bb0(%78: f32, %79: f16):
    %80 = arith.mulf %78, %c_6 : f32
    %81 = arith.truncf %80 : f32 to f16
    linalg.yield %81 : f16
  } -> tensor<?x1x?x64xf16>
  return %66, %82 : tensor<?x1x?x64xf16>, tensor<?x1x?x64xf16>
}
