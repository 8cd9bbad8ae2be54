// Sizes that are known have to fit, also where others are not known.

// RUN: pit-opt %s -split-input-file -verify-diagnostics -pit-check-shapes
// RUN: pit-opt %s -split-input-file -verify-diagnostics -pit-to-cpu
// RUN: pit-opt %s -split-input-file -verify-diagnostics -pit-to-cuda=chip=sm_90a

func.func @inner(%a: tensor<?x40xf32>, %b: tensor<8x16xf32>, %c: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error @+1 {{'linalg.matmul' op has d2 of 40 by dimension 1 of operand 0, but of 8 by dimension 0 of operand 1; both have to be the same}}
  %r = linalg.matmul ins(%a, %b : tensor<?x40xf32>, tensor<8x16xf32>) outs(%c : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}

// -----

// Of a result, in a region.
func.func @result(%p: i1, %a: tensor<4x?xf32>, %c: tensor<5x?xf32>) -> tensor<5x?xf32> {
  %r = scf.if %p -> tensor<5x?xf32> {
    // expected-error @+1 {{'linalg.exp' op has d0 of 4 by dimension 0 of operand 0, but of 5 by dimension 0 of operand 1}}
    %e = linalg.exp ins(%a : tensor<4x?xf32>) outs(%c : tensor<5x?xf32>) -> tensor<5x?xf32>
    scf.yield %e : tensor<5x?xf32>
  } else {
    scf.yield %c : tensor<5x?xf32>
  }
  return %r : tensor<5x?xf32>
}

// -----

// Nine windows of three would need eleven.
func.func @windows(%x: tensor<?x10x10x3xf32>, %f: tensor<3x3x3x8xf32>, %o: tensor<?x8x9x8xf32>) -> tensor<?x8x9x8xf32> {
  // expected-error @+1 {{'linalg.conv_2d_nhwc_hwcf' op reaches 10 in dimension 2 of operand 0, which is of 10; it has to be of 11 at least}}
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %f : tensor<?x10x10x3xf32>, tensor<3x3x3x8xf32>) outs(%o : tensor<?x8x9x8xf32>) -> tensor<?x8x9x8xf32>
  return %r : tensor<?x8x9x8xf32>
}

// -----

// Windows are longer than what they give; sizes that are not known may fit.
func.func @fits(%x: tensor<?x10x10x3xf32>, %f: tensor<3x3x3x8xf32>, %o: tensor<?x8x8x8xf32>, %a: tensor<?x40xf32>, %b: tensor<?x16xf32>, %c: tensor<?x?xf32>)
    -> (tensor<?x8x8x8xf32>, tensor<?x?xf32>) {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %f : tensor<?x10x10x3xf32>, tensor<3x3x3x8xf32>) outs(%o : tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<?x40xf32>, tensor<?x16xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r, %m : tensor<?x8x8x8xf32>, tensor<?x?xf32>
}

// -----

func.func @no_dim(%a: tensor<?x?xf32>) -> index {
  %c2 = arith.constant 2 : index
  // expected-error @+1 {{'tensor.dim' op asks for dimension 2 of 'tensor<?x?xf32>', which has 2, numbered from 0}}
  %d = tensor.dim %a, %c2 : tensor<?x?xf32>
  return %d : index
}

// -----

func.func @negative(%a: tensor<?x?xf32>, %m: memref<?xf32>) -> index {
  %c = arith.constant -1 : index
  // expected-error @+1 {{'memref.dim' op asks for dimension -1 of 'memref<?xf32>', which has 1, numbered from 0}}
  %d = memref.dim %m, %c : memref<?xf32>
  return %d : index
}
