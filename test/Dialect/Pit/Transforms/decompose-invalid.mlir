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

// -----

func.func @softmax(%x: tensor<8xindex>, %o: tensor<8xindex>) -> tensor<8xindex> {
  // expected-error @+1 {{'linalg.softmax' op is computed with floats only, not with 'index' [U1]; cast the elements to a float type}}
  %p = linalg.softmax dimension(0) ins(%x : tensor<8xindex>) outs(%o : tensor<8xindex>) -> tensor<8xindex>
  return %p : tensor<8xindex>
}

// -----

func.func @complex(%x: tensor<8xcomplex<f32>>, %o: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  // expected-error @+1 {{not with 'complex<f32>' [U1]}}
  %p = linalg.softmax dimension(0) ins(%x : tensor<8xcomplex<f32>>) outs(%o : tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return %p : tensor<8xcomplex<f32>>
}

// -----

func.func @filter_i32(%a: tensor<2x3x3x5xi32>, %o: tensor<6x6x5x2xi32>) -> tensor<6x6x5x2xi32> {
  // expected-error @+1 {{'linalg.winograd_filter_transform' op is computed with floats only, not with 'i32' [U2]}}
  %r = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<2x3x3x5xi32>) outs(%o : tensor<6x6x5x2xi32>) -> tensor<6x6x5x2xi32>
  return %r : tensor<6x6x5x2xi32>
}

// -----

func.func @input_i32(%x: tensor<1x10x10x5xi32>, %o: tensor<6x6x2x2x1x5xi32>) -> tensor<6x6x2x2x1x5xi32> {
  // expected-error @+1 {{'linalg.winograd_input_transform' op is computed with floats only, not with 'i32' [U2]}}
  %p = linalg.winograd_input_transform fmr(F_4_3) ins(%x : tensor<1x10x10x5xi32>) outs(%o : tensor<6x6x2x2x1x5xi32>) -> tensor<6x6x2x2x1x5xi32>
  return %p : tensor<6x6x2x2x1x5xi32>
}
