// RUN: pit-test-analysis %s | FileCheck %s

// The structured ops of MLIR's linalg dialect, as its documentation has them.

// CHECK-LABEL: linalg.dot
// CHECK-NEXT: d0 is a PIT axis: arith.addf combines result 0
func.func @dot(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.dot ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: linalg.matvec
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: arith.addf combines result 0
// CHECK-LABEL: linalg.vecmat
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: arith.addf combines result 0
// CHECK-LABEL: linalg.batch_matvec
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: it indexes every result
// CHECK-NEXT: d2 is a PIT axis: arith.addf combines result 0
// CHECK-LABEL: linalg.batch_vecmat
// CHECK-COUNT-2: it indexes every result
// CHECK-NEXT: d2 is a PIT axis: arith.addf combines result 0
func.func @vectors(%a: tensor<?x?xf32>, %x: tensor<?xf32>, %y: tensor<?xf32>, %b: tensor<?x?x?xf32>) {
  %0 = linalg.matvec ins(%a, %x : tensor<?x?xf32>, tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.vecmat ins(%x, %a : tensor<?xf32>, tensor<?x?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %2 = linalg.batch_matvec ins(%b, %a : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = linalg.batch_vecmat ins(%a, %b : tensor<?x?xf32>, tensor<?x?x?xf32>) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: linalg.mmt4d
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: it indexes every result
// CHECK-NEXT: d2 is a PIT axis: arith.addf combines result 0
// CHECK-NEXT: d3 is a PIT axis: it indexes every result
// CHECK-NEXT: d4 is a PIT axis: it indexes every result
// CHECK-NEXT: d5 is a PIT axis: arith.addf combines result 0
func.func @mmt4d(%a: tensor<10x32x8x1xf32>, %b: tensor<80x32x4x1xf32>, %c: tensor<10x80x8x4xf32>) -> tensor<10x80x8x4xf32> {
  %r = linalg.mmt4d ins(%a, %b : tensor<10x32x8x1xf32>, tensor<80x32x4x1xf32>) outs(%c : tensor<10x80x8x4xf32>) -> tensor<10x80x8x4xf32>
  return %r : tensor<10x80x8x4xf32>
}

// CHECK-LABEL: linalg.contract
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: it indexes every result
// CHECK-NEXT: d2 is a PIT axis: arith.addf combines result 0
// CHECK-NEXT: skipping operand 0 is legal: result 0 is kept
func.func @contract(%a: tensor<4x1xf32>, %b: tensor<1x64xf32>, %c: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      {pit_test.operand = 0} ins(%a, %b : tensor<4x1xf32>, tensor<1x64xf32>) outs(%c : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// An operand of contract that is broadcast.
// CHECK-LABEL: linalg.contract
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: arith.addf combines result 0
// CHECK-NEXT: d2 is a PIT axis: it indexes every result
// CHECK-NEXT: d3 is a PIT axis: it indexes every result
func.func @contract_broadcast(%a: tensor<?x?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(b, k, m, n) -> (b, m, k)>, affine_map<(b, k, m, n) -> (k, n)>, affine_map<(b, k, m, n) -> (b, n, m)>]
      ins(%a, %b : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// Elementwise with user-defined maps: d0 and d1 are swapped in one operand.
// CHECK-LABEL: linalg.elementwise
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
// CHECK-NEXT: d1 is a PIT axis: it indexes every result (exact)
// CHECK-NEXT: skipping operand 0 is not legal [S6]: result 0 yields operand 1, whose map or type is not its own
func.func @elementwise(%a: tensor<8x16xf32>, %b: tensor<16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %r = linalg.elementwise kind=#linalg.elementwise_kind<add>
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]
      {pit_test.operand = 0} ins(%a, %b : tensor<8x16xf32>, tensor<16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// CHECK-LABEL: linalg.map
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
// CHECK-LABEL: linalg.transpose
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
// CHECK-NEXT: d1 is a PIT axis: it indexes every result (exact)
// CHECK-LABEL: linalg.broadcast
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
// CHECK-NEXT: d1 is a PIT axis: it indexes every result (exact)
// CHECK-LABEL: linalg.fill
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
// CHECK-LABEL: linalg.copy
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
// CHECK-LABEL: linalg.select
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
// CHECK-NEXT: skipping operand 0 is legal: result 0 becomes operand 2
// CHECK-LABEL: linalg.negf
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
// CHECK-NEXT: skipping operand 0 is legal: result 0 becomes -0.000000e+00 : f32
// CHECK-LABEL: linalg.max
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
// CHECK-NEXT: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.maximumf
func.func @pointwise(%a: tensor<64xf32>, %b: tensor<64xf32>, %c: tensor<64xf32>, %m: tensor<?x?xf32>, %p: tensor<64xi1>, %x: f32) {
  %0 = linalg.map { arith.addf } ins(%a, %b : tensor<64xf32>, tensor<64xf32>) outs(%c : tensor<64xf32>)
  %1 = linalg.transpose ins(%m : tensor<?x?xf32>) outs(%m : tensor<?x?xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<8x64xf32>
  %2 = linalg.broadcast ins(%a : tensor<64xf32>) outs(%e : tensor<8x64xf32>) dimensions = [0]
  %3 = linalg.fill ins(%x : f32) outs(%c : tensor<64xf32>) -> tensor<64xf32>
  %4 = linalg.copy ins(%a : tensor<64xf32>) outs(%c : tensor<64xf32>) -> tensor<64xf32>
  %5 = linalg.select {pit_test.operand = 0} ins(%p, %a, %b : tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) outs(%c : tensor<64xf32>) -> tensor<64xf32>
  %6 = linalg.negf {pit_test.operand = 0} ins(%a : tensor<64xf32>) outs(%c : tensor<64xf32>) -> tensor<64xf32>
  %7 = linalg.max {pit_test.operand = 0} ins(%a, %b : tensor<64xf32>, tensor<64xf32>) outs(%c : tensor<64xf32>) -> tensor<64xf32>
  return
}

// Pooling: batch and channel. The window's values are never read.
// CHECK-LABEL: linalg.pooling_nhwc_max
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is no PIT axis [C1]: map 0 contains it as d1 + d4
// CHECK-NEXT: d2 is no PIT axis [C1]: map 0 contains it as d2 + d5
// CHECK-NEXT: d3 is a PIT axis: it indexes every result
// CHECK-NEXT: d4 is no PIT axis [C1]
// CHECK-NEXT: d5 is no PIT axis [C1]
// CHECK-NEXT: skipping operand 0 is legal: result 0 is kept
// CHECK-LABEL: linalg.pooling_nhwc_max
// CHECK: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.maximumf
// CHECK-LABEL: linalg.pooling_nchw_sum
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: it indexes every result
// CHECK-NEXT: d2 is no PIT axis [C1]: map 0 contains it as d2 * 2 + d4
// CHECK-NEXT: d3 is no PIT axis [C1]: map 0 contains it as d3 * 2 + d5
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK-LABEL: linalg.pooling_nhwc_min_unsigned
// CHECK: skipping operand 0 is legal: result 0 is kept
// CHECK-LABEL: linalg.pooling_ndhwc_max
// CHECK-NEXT: d0 is a PIT axis
// CHECK-COUNT-3: is no PIT axis [C1]
// CHECK-NEXT: d4 is a PIT axis
// CHECK-COUNT-3: is no PIT axis [C1]
func.func @pooling(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3xf32>, %c: tensor<1x6x6x4xf32>, %y: tensor<1x4x8x8xf32>, %v: tensor<2x2xf32>,
    %d: tensor<1x4x4x4xf32>, %i: tensor<1x8x8x4xi8>, %j: tensor<1x6x6x4xi8>, %u: tensor<3x3xi8>,
    %z: tensor<1x8x8x8x4xf32>, %t: tensor<3x3x3xf32>, %e: tensor<1x6x6x6x4xf32>) {
  %0 = linalg.pooling_nhwc_max {pit_test.operand = 0, pit_test.background = 0xFF800000 : f32}
      ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3xf32>) outs(%c : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %1 = linalg.pooling_nhwc_max {pit_test.operand = 0}
      ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3xf32>) outs(%c : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %2 = linalg.pooling_nchw_sum {pit_test.operand = 0, strides = dense<2> : tensor<2xi64>}
      ins(%y, %v : tensor<1x4x8x8xf32>, tensor<2x2xf32>) outs(%d : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %3 = linalg.pooling_nhwc_min_unsigned {pit_test.operand = 0, pit_test.background = -1 : i8}
      ins(%i, %u : tensor<1x8x8x4xi8>, tensor<3x3xi8>) outs(%j : tensor<1x6x6x4xi8>) -> tensor<1x6x6x4xi8>
  %4 = linalg.pooling_ndhwc_max ins(%z, %t : tensor<1x8x8x8x4xf32>, tensor<3x3x3xf32>) outs(%e : tensor<1x6x6x6x4xf32>) -> tensor<1x6x6x6x4xf32>
  return
}

// More convolutions.
// CHECK-LABEL: linalg.conv_1d
// CHECK-NEXT: d0 is no PIT axis [C1]: map 0 contains it as d0 + d1
// CHECK-NEXT: d1 is no PIT axis [C1]: map 0 contains it as d0 + d1
// CHECK-LABEL: linalg.conv_1d_ncw_fcw
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: it indexes every result
// CHECK-NEXT: d2 is no PIT axis [C1]
// CHECK-NEXT: d3 is a PIT axis: arith.addf combines result 0
// CHECK-NEXT: d4 is no PIT axis [C1]
// CHECK-LABEL: linalg.conv_2d_ngchw_fgchw
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: it indexes every result
// CHECK-NEXT: d2 is a PIT axis: it indexes every result
// CHECK-NEXT: d3 is no PIT axis [C1]
// CHECK-NEXT: d4 is no PIT axis [C1]
// CHECK-NEXT: d5 is a PIT axis: arith.addf combines result 0
// CHECK-LABEL: linalg.conv_3d_ndhwc_dhwcf
// CHECK-NEXT: d0 is a PIT axis
// CHECK-COUNT-3: is no PIT axis [C1]
// CHECK-NEXT: d4 is a PIT axis: it indexes every result
// CHECK-COUNT-3: is no PIT axis [C1]
// CHECK-NEXT: d8 is a PIT axis: arith.addf combines result 0
// CHECK-LABEL: linalg.depthwise_conv_1d_nwc_wcm
// CHECK-NEXT: d0 is a PIT axis
// CHECK-NEXT: d1 is no PIT axis [C1]
// CHECK-NEXT: d2 is a PIT axis: it indexes every result
// CHECK-NEXT: d3 is a PIT axis: it indexes every result
// CHECK-NEXT: d4 is no PIT axis [C1]
// CHECK-LABEL: linalg.conv_2d_nhwc_hwcf_q
// CHECK: d3 is a PIT axis: it indexes every result
// CHECK: d6 is a PIT axis: arith.addi combines result 0 (exact)
func.func @convolutions(%x: tensor<?xf32>, %a: tensor<?x?x?xf32>, %g: tensor<?x?x?x?x?xf32>, %i: tensor<?x?x?x?xi8>, %z: i32, %j: tensor<?x?x?x?xi32>) {
  %0 = linalg.conv_1d ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.conv_1d_ncw_fcw ins(%a, %a : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%a : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %2 = linalg.conv_2d_ngchw_fgchw ins(%g, %g : tensor<?x?x?x?x?xf32>, tensor<?x?x?x?x?xf32>) outs(%g : tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %3 = linalg.conv_3d_ndhwc_dhwcf ins(%g, %g : tensor<?x?x?x?x?xf32>, tensor<?x?x?x?x?xf32>) outs(%g : tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  %f = tensor.empty() : tensor<3x4x2xf32>
  %d = tensor.empty() : tensor<1x6x4x2xf32>
  %n = tensor.empty() : tensor<1x8x4xf32>
  %4 = linalg.depthwise_conv_1d_nwc_wcm ins(%n, %f : tensor<1x8x4xf32>, tensor<3x4x2xf32>) outs(%d : tensor<1x6x4x2xf32>) -> tensor<1x6x4x2xf32>
  %5 = linalg.conv_2d_nhwc_hwcf_q ins(%i, %i, %z, %z : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>, i32, i32) outs(%j : tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32>
  return
}

// Reductions over several dims, and of two inputs at once.
// CHECK-LABEL: linalg.reduce
// CHECK-NEXT: d0 is a PIT axis: arith.addf combines result 0
// CHECK-NEXT: d1 is a PIT axis: it indexes every result
// CHECK-NEXT: d2 is a PIT axis: arith.addf combines result 0
// CHECK-LABEL: linalg.reduce
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: arith.addf combines result 0, arith.maximumf combines result 1
// CHECK-NEXT: skipping operand 0 is not legal [S3]: result 1 yields a value of arith.maximumf
func.func @reductions(%a: tensor<16x32x64xf32>, %c: tensor<32xf32>, %x: tensor<?x?xf32>, %y: tensor<?xf32>) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<16x32x64xf32>) outs(%c : tensor<32xf32>) dimensions = [0, 2]
  %1:2 = linalg.reduce ins(%x, %x : tensor<?x?xf32>, tensor<?x?xf32>) outs(%y, %y : tensor<?xf32>, tensor<?xf32>) dimensions = [1] {pit_test.operand = 0}
      (%p: f32, %q: f32, %sum: f32, %max: f32) {
        %s = arith.addf %p, %sum : f32
        %m = arith.maximumf %q, %max : f32
        linalg.yield %s, %m : f32, f32
      }
  return
}

// Random numbers depend on both indices.
// CHECK-LABEL: linalg.fill_rng_2d
// CHECK-NEXT: d0 is no PIT axis [C7]: the body reads linalg.index 0
// CHECK-NEXT: d1 is no PIT axis [C7]: the body reads linalg.index 1
func.func @random(%lo: f64, %hi: f64, %seed: i32, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %r = linalg.fill_rng_2d ins(%lo, %hi, %seed : f64, f64, i32) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// A scalar: no dims at all.
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: skipping operand 0 is legal: result 0 becomes 0.000000e+00 : f32
func.func @scalar(%a: tensor<f32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {pit_test.operand = 0, indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%a : tensor<f32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
