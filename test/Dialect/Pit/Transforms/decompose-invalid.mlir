// RUN: pit-opt %s --pit-decompose -split-input-file -verify-diagnostics

func.func @filter(%a: tensor<2x3x3x?xf32>, %c: tensor<4x4x?x2xf32>) -> tensor<4x4x?x2xf32> {
  // expected-error @+1 {{is decomposed for static extents only, but has an operand of type 'tensor<2x3x3x?xf32>'}}
  %r = linalg.winograd_filter_transform fmr(F_2_3) ins(%a : tensor<2x3x3x?xf32>) outs(%c : tensor<4x4x?x2xf32>) -> tensor<4x4x?x2xf32>
  return %r : tensor<4x4x?x2xf32>
}

// -----

func.func @output(%a: tensor<4x4x1x1x?x3xf32>, %c: tensor<?x2x2x3xf32>) -> tensor<?x2x2x3xf32> {
  // expected-error @+1 {{'linalg.winograd_output_transform' op is decomposed for static extents only}}
  %r = linalg.winograd_output_transform fmr(F_2_3) ins(%a : tensor<4x4x1x1x?x3xf32>) outs(%c : tensor<?x2x2x3xf32>) -> tensor<?x2x2x3xf32>
  return %r : tensor<?x2x2x3xf32>
}

// -----

func.func @pack(%a: tensor<8x4xf32>, %t: index, %c: tensor<?x4x?x1xf32>) -> tensor<?x4x?x1xf32> {
  %z = arith.constant 0.0 : f32
  // expected-error @+1 {{cannot be decomposed into structured ops: the extents of its inner tiles have to be constants}}
  %r = linalg.pack %a padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [%t, 1] into %c : tensor<8x4xf32> -> tensor<?x4x?x1xf32>
  return %r : tensor<?x4x?x1xf32>
}
