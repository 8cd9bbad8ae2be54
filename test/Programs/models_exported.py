"""Whole small networks, line by line as exporters print them: a convolutional one by
torch-mlir (linalg on tensors), a transformer by StableHLO's conversion to linalg."""

import numpy as np

from convolutions import correlate
from models_layers import softmax
from suite import program

# Convolution, batch norm, relu, max pooling; convolution with bias, relu, average pooling;
# linear layer, log softmax. A global nobody reads, f64 epsilons that bodies truncate, vectors
# as strides, weights transposed by a generic op, a maximum with its position.
TORCH = """
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1, d0)>
#map5 = affine_map<(d0, d1) -> (d1)>
#map6 = affine_map<(d0, d1) -> (d0, 0)>
module attributes {torch.debug_module_name = "Net"} {
  ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
  func.func @f(%arg0: tensor<Nx3x16x16xf32>, %arg1: tensor<8x3x3x3xf32>, %arg2: tensor<8xf32>, %arg3: tensor<8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8xf32>, %arg6: tensor<16x8x3x3xf32>, %arg7: tensor<16xf32>, %arg8: tensor<10x16xf32>, %arg9: tensor<10xf32>) -> tensor<Nx10xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e-05 : f64
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 6.400000e+01 : f32
    %c0 = arith.constant 0 : index
    %N = tensor.dim %arg0, %c0 : tensor<Nx3x16x16xf32>
    %dim_i64 = arith.index_cast %N : index to i64
    %true = arith.cmpi sge, %dim_i64, %c0_i64 : i64
    cf.assert %true, "unimplemented: negative batch size"
    %padded = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg10: index, %arg11: index, %arg12: index, %arg13: index):
      tensor.yield %cst : f32
    } : tensor<Nx3x16x16xf32> to tensor<Nx3x18x18xf32>
    %0 = tensor.empty(#N) : tensor<Nx8x16x16xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<Nx8x16x16xf32>) -> tensor<Nx8x16x16xf32>
    %2 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded, %arg1 : tensor<Nx3x18x18xf32>, tensor<8x3x3x3xf32>) outs(%1 : tensor<Nx8x16x16xf32>) -> tensor<Nx8x16x16xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1, #map1, #map1, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %arg2, %arg3, %arg4, %arg5 : tensor<Nx8x16x16xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%2 : tensor<Nx8x16x16xf32>) {
    ^bb0(%in: f32, %in_3: f32, %in_4: f32, %in_5: f32, %in_6: f32, %out: f32):
      %40 = arith.truncf %cst_0 : f64 to f32
      %41 = arith.addf %in_6, %40 : f32
      %42 = math.rsqrt %41 : f32
      %43 = arith.subf %in, %in_5 : f32
      %44 = arith.mulf %43, %42 : f32
      %45 = arith.mulf %44, %in_3 : f32
      %46 = arith.addf %45, %in_4 : f32
      linalg.yield %46 : f32
    } -> tensor<Nx8x16x16xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<Nx8x16x16xf32>) outs(%0 : tensor<Nx8x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = arith.cmpf ugt, %in, %cst : f32
      %41 = arith.select %40, %in, %cst : f32
      linalg.yield %41 : f32
    } -> tensor<Nx8x16x16xf32>
    %5 = tensor.empty(#N) : tensor<Nx8x8x8xf32>
    %6 = linalg.fill ins(%cst_1 : f32) outs(%5 : tensor<Nx8x8x8xf32>) -> tensor<Nx8x8x8xf32>
    %7 = tensor.empty() : tensor<2x2xf32>
    %8 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%4, %7 : tensor<Nx8x16x16xf32>, tensor<2x2xf32>) outs(%6 : tensor<Nx8x8x8xf32>) -> tensor<Nx8x8x8xf32>
    %s = pit.sparse %8 : tensor<Nx8x8x8xf32>
    %padded_7 = tensor.pad %s low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg10: index, %arg11: index, %arg12: index, %arg13: index):
      tensor.yield %cst : f32
    } : tensor<Nx8x8x8xf32> to tensor<Nx8x10x10xf32>
    %9 = tensor.empty(#N) : tensor<Nx16x8x8xf32>
    %broadcasted = linalg.broadcast ins(%arg7 : tensor<16xf32>) outs(%9 : tensor<Nx16x8x8xf32>) dimensions = [0, 2, 3]
    %10 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded_7, %arg6 : tensor<Nx8x10x10xf32>, tensor<16x8x3x3xf32>) outs(%broadcasted : tensor<Nx16x8x8xf32>) -> tensor<Nx16x8x8xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10 : tensor<Nx16x8x8xf32>) outs(%9 : tensor<Nx16x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = arith.cmpf ugt, %in, %cst : f32
      %41 = arith.select %40, %in, %cst : f32
      linalg.yield %41 : f32
    } -> tensor<Nx16x8x8xf32>
    %t = pit.sparse %11 : tensor<Nx16x8x8xf32>
    %12 = tensor.empty(#N) : tensor<Nx16x1x1xf32>
    %13 = linalg.fill ins(%cst : f32) outs(%12 : tensor<Nx16x1x1xf32>) -> tensor<Nx16x1x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%t : tensor<Nx16x8x8xf32>) outs(%13 : tensor<Nx16x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = arith.addf %in, %out : f32
      linalg.yield %40 : f32
    } -> tensor<Nx16x1x1xf32>
    %15 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14 : tensor<Nx16x1x1xf32>) outs(%12 : tensor<Nx16x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = arith.divf %in, %cst_2 : f32
      linalg.yield %40 : f32
    } -> tensor<Nx16x1x1xf32>
    %collapsed = tensor.collapse_shape %15 [[0], [1, 2, 3]] : tensor<Nx16x1x1xf32> into tensor<Nx16xf32>
    %16 = tensor.empty() : tensor<16x10xf32>
    %17 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg8 : tensor<10x16xf32>) outs(%16 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x10xf32>
    %18 = tensor.empty(#N) : tensor<Nx10xf32>
    %19 = linalg.fill ins(%cst : f32) outs(%18 : tensor<Nx10xf32>) -> tensor<Nx10xf32>
    %20 = linalg.matmul ins(%collapsed, %17 : tensor<Nx16xf32>, tensor<16x10xf32>) outs(%19 : tensor<Nx10xf32>) -> tensor<Nx10xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%20, %arg9 : tensor<Nx10xf32>, tensor<10xf32>) outs(%18 : tensor<Nx10xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %40 = arith.addf %in, %in_8 : f32
      linalg.yield %40 : f32
    } -> tensor<Nx10xf32>
    %22 = tensor.empty(#N) : tensor<Nx1xi64>
    %23 = linalg.fill ins(%c0_i64 : i64) outs(%22 : tensor<Nx1xi64>) -> tensor<Nx1xi64>
    %24 = tensor.empty(#N) : tensor<Nx1xf32>
    %25 = linalg.fill ins(%cst_1 : f32) outs(%24 : tensor<Nx1xf32>) -> tensor<Nx1xf32>
    %26:2 = linalg.generic {indexing_maps = [#map3, #map6, #map6], iterator_types = ["parallel", "reduction"]} ins(%21 : tensor<Nx10xf32>) outs(%25, %23 : tensor<Nx1xf32>, tensor<Nx1xi64>) {
    ^bb0(%in: f32, %out: f32, %out_8: i64):
      %40 = linalg.index 1 : index
      %41 = arith.index_cast %40 : index to i64
      %42 = arith.maximumf %in, %out : f32
      %43 = arith.cmpf ogt, %in, %out : f32
      %44 = arith.select %43, %41, %out_8 : i64
      linalg.yield %42, %44 : f32, i64
    } -> (tensor<Nx1xf32>, tensor<Nx1xi64>)
    %27 = linalg.generic {indexing_maps = [#map3, #map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%21, %26#0 : tensor<Nx10xf32>, tensor<Nx1xf32>) outs(%18 : tensor<Nx10xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %40 = arith.subf %in, %in_8 : f32
      linalg.yield %40 : f32
    } -> tensor<Nx10xf32>
    %28 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%27 : tensor<Nx10xf32>) outs(%18 : tensor<Nx10xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = math.exp %in : f32
      linalg.yield %40 : f32
    } -> tensor<Nx10xf32>
    %29 = linalg.fill ins(%cst : f32) outs(%24 : tensor<Nx1xf32>) -> tensor<Nx1xf32>
    %30 = linalg.generic {indexing_maps = [#map3, #map6], iterator_types = ["parallel", "reduction"]} ins(%28 : tensor<Nx10xf32>) outs(%29 : tensor<Nx1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = arith.addf %in, %out : f32
      linalg.yield %40 : f32
    } -> tensor<Nx1xf32>
    %31 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%30 : tensor<Nx1xf32>) outs(%24 : tensor<Nx1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = math.log %in : f32
      linalg.yield %40 : f32
    } -> tensor<Nx1xf32>
    %32 = linalg.generic {indexing_maps = [#map3, #map6, #map3], iterator_types = ["parallel", "parallel"]} ins(%27, %31 : tensor<Nx10xf32>, tensor<Nx1xf32>) outs(%18 : tensor<Nx10xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %40 = arith.subf %in, %in_8 : f32
      linalg.yield %40 : f32
    } -> tensor<Nx10xf32>
    return %32 : tensor<Nx10xf32>
  }
}
"""


def same_padded(x, w):
    """A convolution in nchw, of filters in fchw, whose result is as large as the image."""
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))).transpose(0, 2, 3, 1)
    w = w.transpose(2, 3, 1, 0)
    image = x.shape[1] - 2, x.shape[2] - 2
    out = correlate(x, w, np.zeros((len(x), *image, w.shape[3])), image)
    return out.transpose(0, 3, 1, 2)


@program(TORCH, dict(N=2), dict(N=5), dict(N=1), dict(N=0), tolerance=1e-4)
def convnet_of_torch_mlir(d):
    x, w1 = d.f32(d.N, 3, 16, 16), d.f32(8, 3, 3, 3)
    # Some channels are far below zero: nothing of them is left by the relu.
    gamma, beta = d.f32(8, low=1), d.given("f32", np.where(np.arange(8) % 3, -4.0, 1.0))
    mean, variance = d.f32(8), d.f32(8, low=1)
    w2, b2, w3, b3 = d.f32(16, 8, 3, 3), d.f32(16), d.f32(10, 16), d.f32(10)
    channel = (slice(None), None, None)
    y = same_padded(x, w1)
    y = (y - mean[channel]) / np.sqrt(variance + 1e-5)[channel] * gamma[channel] + beta[channel]
    y = np.maximum(y, 0).reshape(d.N, 8, 8, 2, 8, 2).max((3, 5))
    y = np.maximum(same_padded(y, w2) + b2[channel], 0).mean((2, 3))
    logits = y @ w3.T + b3
    logits = logits - logits.max(1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


# Embedding by a gather that clamps, causal attention, residuals, a perceptron, logits. All
# products are generic ops, constants are tensors without dims, one of them in a resource.
STABLEHLO = """
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#map5 = affine_map<(d0, d1, d2) -> ()>
#map6 = affine_map<(d0, d1) -> (d0, d1)>
#map7 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#map10 = affine_map<(d0, d1, d2) -> (d2)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
module @jit_forward {
  func.func public @f(%arg0: tensor<BxSxi32>, %arg1: tensor<24x16xf32>, %arg2: tensor<16x16xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x64xf32>, %arg6: tensor<64xf32>, %arg7: tensor<64x16xf32>) -> (tensor<BxSx24xf32> {jax.result_info = "result"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c23 = arith.constant 23 : index
    %cst = arith.constant dense_resource<scale> : tensor<f32>
    %cst_0 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_2 = arith.constant 0.000000e+00 : f32
    %B = tensor.dim %arg0, %c0 : tensor<BxSxi32>
    %S = tensor.dim %arg0, %c1 : tensor<BxSxi32>
    %0 = tensor.empty(#B, #S) : tensor<BxSx16xf32>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel"]} outs(%0 : tensor<BxSx16xf32>) {
    ^bb0(%out: f32):
      %50 = linalg.index 0 : index
      %51 = linalg.index 1 : index
      %52 = linalg.index 2 : index
      %extracted_9 = tensor.extract %arg0[%50, %51] : tensor<BxSxi32>
      %53 = arith.index_cast %extracted_9 : i32 to index
      %54 = arith.maxsi %53, %c0 : index
      %55 = arith.minsi %54, %c23 : index
      %extracted_10 = tensor.extract %arg1[%55, %52] : tensor<24x16xf32>
      linalg.yield %extracted_10 : f32
    } -> tensor<BxSx16xf32>
    %2 = linalg.fill ins(%cst_2 : f32) outs(%0 : tensor<BxSx16xf32>) -> tensor<BxSx16xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%1, %arg2 : tensor<BxSx16xf32>, tensor<16x16xf32>) outs(%2 : tensor<BxSx16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.mulf %in, %in_9 : f32
      %51 = arith.addf %out, %50 : f32
      linalg.yield %51 : f32
    } -> tensor<BxSx16xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%1, %arg3 : tensor<BxSx16xf32>, tensor<16x16xf32>) outs(%2 : tensor<BxSx16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.mulf %in, %in_9 : f32
      %51 = arith.addf %out, %50 : f32
      linalg.yield %51 : f32
    } -> tensor<BxSx16xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%1, %arg4 : tensor<BxSx16xf32>, tensor<16x16xf32>) outs(%2 : tensor<BxSx16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.mulf %in, %in_9 : f32
      %51 = arith.addf %out, %50 : f32
      linalg.yield %51 : f32
    } -> tensor<BxSx16xf32>
    %6 = tensor.empty(#B, #S, #S) : tensor<BxSxSxf32>
    %7 = linalg.fill ins(%cst_2 : f32) outs(%6 : tensor<BxSxSxf32>) -> tensor<BxSxSxf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%3, %4 : tensor<BxSx16xf32>, tensor<BxSx16xf32>) outs(%7 : tensor<BxSxSxf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.mulf %in, %in_9 : f32
      %51 = arith.addf %out, %50 : f32
      linalg.yield %51 : f32
    } -> tensor<BxSxSxf32>
    %9 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%6 : tensor<BxSxSxf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<BxSxSxf32>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %9 : tensor<BxSxSxf32>, tensor<BxSxSxf32>) outs(%6 : tensor<BxSxSxf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.mulf %in, %in_9 : f32
      linalg.yield %50 : f32
    } -> tensor<BxSxSxf32>
    %11 = tensor.empty(#S, #S) : tensor<SxSxi32>
    %12 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel"]} outs(%11 : tensor<SxSxi32>) {
    ^bb0(%out: i32):
      %50 = linalg.index 0 : index
      %51 = arith.index_cast %50 : index to i32
      linalg.yield %51 : i32
    } -> tensor<SxSxi32>
    %13 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel"]} outs(%11 : tensor<SxSxi32>) {
    ^bb0(%out: i32):
      %50 = linalg.index 1 : index
      %51 = arith.index_cast %50 : index to i32
      linalg.yield %51 : i32
    } -> tensor<SxSxi32>
    %14 = tensor.empty(#S, #S) : tensor<SxSxi1>
    %15 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%12, %13 : tensor<SxSxi32>, tensor<SxSxi32>) outs(%14 : tensor<SxSxi1>) {
    ^bb0(%in: i32, %in_9: i32, %out: i1):
      %50 = arith.cmpi sge, %in, %in_9 : i32
      linalg.yield %50 : i1
    } -> tensor<SxSxi1>
    %16 = tensor.empty(#B, #S, #S) : tensor<BxSxSxi1>
    %17 = linalg.generic {indexing_maps = [#map7, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<SxSxi1>) outs(%16 : tensor<BxSxSxi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<BxSxSxi1>
    %18 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%6 : tensor<BxSxSxf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<BxSxSxf32>
    %19 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17, %10, %18 : tensor<BxSxSxi1>, tensor<BxSxSxf32>, tensor<BxSxSxf32>) outs(%6 : tensor<BxSxSxf32>) {
    ^bb0(%in: i1, %in_9: f32, %in_10: f32, %out: f32):
      %50 = arith.select %in, %in_9, %in_10 : f32
      linalg.yield %50 : f32
    } -> tensor<BxSxSxf32>
    %20 = tensor.empty(#B, #S) : tensor<BxSxf32>
    %extracted = tensor.extract %cst_0[] : tensor<f32>
    %21 = linalg.fill ins(%extracted : f32) outs(%20 : tensor<BxSxf32>) -> tensor<BxSxf32>
    %22 = linalg.generic {indexing_maps = [#map, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%19 : tensor<BxSxSxf32>) outs(%21 : tensor<BxSxf32>) {
    ^bb0(%in: f32, %out: f32):
      %50 = arith.maximumf %out, %in : f32
      linalg.yield %50 : f32
    } -> tensor<BxSxf32>
    %23 = linalg.generic {indexing_maps = [#map8, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<BxSxf32>) outs(%6 : tensor<BxSxSxf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<BxSxSxf32>
    %24 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %23 : tensor<BxSxSxf32>, tensor<BxSxSxf32>) outs(%6 : tensor<BxSxSxf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.subf %in, %in_9 : f32
      linalg.yield %50 : f32
    } -> tensor<BxSxSxf32>
    %25 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<BxSxSxf32>) outs(%6 : tensor<BxSxSxf32>) {
    ^bb0(%in: f32, %out: f32):
      %50 = math.exp %in : f32
      linalg.yield %50 : f32
    } -> tensor<BxSxSxf32>
    %extracted_3 = tensor.extract %cst_1[] : tensor<f32>
    %26 = linalg.fill ins(%extracted_3 : f32) outs(%20 : tensor<BxSxf32>) -> tensor<BxSxf32>
    %27 = linalg.generic {indexing_maps = [#map, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%25 : tensor<BxSxSxf32>) outs(%26 : tensor<BxSxf32>) {
    ^bb0(%in: f32, %out: f32):
      %50 = arith.addf %out, %in : f32
      linalg.yield %50 : f32
    } -> tensor<BxSxf32>
    %28 = linalg.generic {indexing_maps = [#map8, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27 : tensor<BxSxf32>) outs(%6 : tensor<BxSxSxf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<BxSxSxf32>
    %29 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %28 : tensor<BxSxSxf32>, tensor<BxSxSxf32>) outs(%6 : tensor<BxSxSxf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.divf %in, %in_9 : f32
      linalg.yield %50 : f32
    } -> tensor<BxSxSxf32>
    %s = pit.sparse %29 : tensor<BxSxSxf32>
    %30 = linalg.generic {indexing_maps = [#map1, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s, %5 : tensor<BxSxSxf32>, tensor<BxSx16xf32>) outs(%2 : tensor<BxSx16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.mulf %in, %in_9 : f32
      %51 = arith.addf %out, %50 : f32
      linalg.yield %51 : f32
    } -> tensor<BxSx16xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %30 : tensor<BxSx16xf32>, tensor<BxSx16xf32>) outs(%0 : tensor<BxSx16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.addf %in, %in_9 : f32
      linalg.yield %50 : f32
    } -> tensor<BxSx16xf32>
    %32 = tensor.empty(#B, #S) : tensor<BxSx64xf32>
    %33 = linalg.fill ins(%cst_2 : f32) outs(%32 : tensor<BxSx64xf32>) -> tensor<BxSx64xf32>
    %34 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%31, %arg5 : tensor<BxSx16xf32>, tensor<16x64xf32>) outs(%33 : tensor<BxSx64xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.mulf %in, %in_9 : f32
      %51 = arith.addf %out, %50 : f32
      linalg.yield %51 : f32
    } -> tensor<BxSx64xf32>
    %35 = linalg.generic {indexing_maps = [#map10, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg6 : tensor<64xf32>) outs(%32 : tensor<BxSx64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<BxSx64xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34, %35 : tensor<BxSx64xf32>, tensor<BxSx64xf32>) outs(%32 : tensor<BxSx64xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.addf %in, %in_9 : f32
      linalg.yield %50 : f32
    } -> tensor<BxSx64xf32>
    %37 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%32 : tensor<BxSx64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<BxSx64xf32>
    %38 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%36, %37 : tensor<BxSx64xf32>, tensor<BxSx64xf32>) outs(%32 : tensor<BxSx64xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.maximumf %in, %in_9 : f32
      linalg.yield %50 : f32
    } -> tensor<BxSx64xf32>
    %t = pit.sparse %38 : tensor<BxSx64xf32>
    %39 = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%t, %arg7 : tensor<BxSx64xf32>, tensor<64x16xf32>) outs(%2 : tensor<BxSx16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.mulf %in, %in_9 : f32
      %51 = arith.addf %out, %50 : f32
      linalg.yield %51 : f32
    } -> tensor<BxSx16xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31, %39 : tensor<BxSx16xf32>, tensor<BxSx16xf32>) outs(%0 : tensor<BxSx16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.addf %in, %in_9 : f32
      linalg.yield %50 : f32
    } -> tensor<BxSx16xf32>
    %41 = tensor.empty(#B, #S) : tensor<BxSx24xf32>
    %42 = linalg.fill ins(%cst_2 : f32) outs(%41 : tensor<BxSx24xf32>) -> tensor<BxSx24xf32>
    %43 = linalg.generic {indexing_maps = [#map1, #map11, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%40, %arg1 : tensor<BxSx16xf32>, tensor<24x16xf32>) outs(%42 : tensor<BxSx24xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %50 = arith.mulf %in, %in_9 : f32
      %51 = arith.addf %out, %50 : f32
      linalg.yield %51 : f32
    } -> tensor<BxSx24xf32>
    return %43 : tensor<BxSx24xf32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      scale: "0x040000000000803E"
    }
  }
#-}
"""


@program(STABLEHLO, dict(B=2, S=12), dict(B=3, S=37), dict(B=1, S=1), dict(B=0, S=4),
         dict(B=2, S=0), tolerance=1e-4)
def transformer_of_stablehlo(d):
    tokens = d.given("i32", d.random.integers(-2, 30, (d.B, d.S))).astype(int)
    table, wq, wk = d.f32(24, 16), *(d.f32(16, 16, scale=1 / 32) for _ in range(2))
    wv, up = d.f32(16, 16, scale=1 / 32), d.f32(16, 64, scale=1 / 32)
    bias, down = d.f32(64, high=2), d.f32(64, 16, scale=1 / 32)
    x = table[np.clip(tokens, 0, 23)]
    scores = np.einsum("bih,bjh->bij", x @ wq, x @ wk) / 4
    scores = np.where(np.tri(d.S, dtype=bool), scores, -np.inf)
    x = x + (softmax(scores) @ (x @ wv) if d.S else 0)
    x = x + np.maximum(x @ up + bias, 0) @ down
    return x @ table.T
