// RUN: pit-opt %s -pit-plan="choice=run-time tile-table=%S/Inputs/costs.json" -canonicalize -split-input-file -verify-diagnostics | FileCheck %s

// Choosing at run time for marks of results, of images and of filters.

// The dense variant of wanted results selects after the op. Rows and columns are
// looked for, and parts of rows; columns of a vector of rows or more.

// CHECK-LABEL: func.func @wanted(
// CHECK-SAME: %[[A:.*]]: tensor<64x64xf32>, %[[B:.*]]: tensor<64x256xf32>, %[[M:.*]]: tensor<64x256xi8>
// CHECK: %[[V:.*]], %[[BITS:.*]] = pit.choose %[[M]] mask of [!pit.index<micro_tile = [1, 16], axis = 0>,
// CHECK-SAME: !pit.index<micro_tile = [1, *], axis = 0>
// CHECK-SAME: !pit.index<micro_tile = [*, 1], axis = 1>
// CHECK: %[[R:.*]] = scf.if
// CHECK: %[[I:.*]] = pit.index mask %[[M]] seen(%[[BITS]]) : {{.*}}micro_tile = [1, 16], axis = 0
// CHECK: %[[P:.*]] = linalg.matmul {pit.rule = #pit.rule<operand = 2, axis = 0
// CHECK: %[[T:.*]] = pit.sparse %[[P]] index(%[[I]]
// CHECK: pit.sparse %[[T]] mask(%[[M]]
// CHECK: } else {
// CHECK: %[[D:.*]] = linalg.matmul ins(%[[A]], %[[B]]
// CHECK: pit.sparse %[[D]] mask(%[[M]]
// CHECK: return %[[R]]
func.func @wanted(%a: tensor<64x64xf32>, %b: tensor<64x256xf32>, %m: tensor<64x256xi8>) -> tensor<64x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x256xf32>) outs(%f : tensor<64x256xf32>) -> tensor<64x256xf32>
  %s = pit.sparse %r mask(%m : tensor<64x256xi8>) : tensor<64x256xf32>
  return %s : tensor<64x256xf32>
}

// -----

// Of a marked operand and a marked result the operand comes first. All variants
// select.

// CHECK-LABEL: func.func @both(
// CHECK-SAME: %[[A:.*]]: tensor<64x64xf32>, %{{.*}}: tensor<64x256xf32>, %[[M:.*]]: tensor<64x256xi8>
// CHECK: pit.choose %[[A]] of
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 0
// CHECK: pit.sparse %{{.*}} mask(%[[M]]
// CHECK: pit.choose %[[M]] mask of
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 2
// CHECK: linalg.matmul ins(%[[A]],
// CHECK: pit.sparse %{{.*}} mask(%[[M]]
func.func @both(%a: tensor<64x64xf32>, %b: tensor<64x256xf32>, %m: tensor<64x256xi8>) -> tensor<64x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %t = pit.sparse %a : tensor<64x64xf32>
  %r = linalg.matmul ins(%t, %b : tensor<64x64xf32>, tensor<64x256xf32>) outs(%f : tensor<64x256xf32>) -> tensor<64x256xf32>
  %s = pit.sparse %r mask(%m : tensor<64x256xi8>) : tensor<64x256xf32>
  return %s : tensor<64x256xf32>
}

// -----

// What the mark selects is read by an op that has a rule by it, too: the two may
// keep it packed.

// CHECK-LABEL: func.func @packed(
// CHECK-NOT: pit.choose
func.func @packed(%a: tensor<64x64xf32>, %b: tensor<64x256xf32>, %m: tensor<64x256xi8>) -> tensor<64x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x256xf32>) outs(%f : tensor<64x256xf32>) -> tensor<64x256xf32>
  %s = pit.sparse %r mask(%m : tensor<64x256xi8>) : tensor<64x256xf32>
  %x = linalg.abs ins(%s : tensor<64x256xf32>) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %x : tensor<64x256xf32>
}

// -----

// Windows of an image, with a list of channels for each, or for each pixel.

// CHECK-LABEL: func.func @image(
// CHECK-SAME: %[[X:.*]]: tensor<2x18x18x32xf32>
// CHECK: pit.choose %[[X]] of [!pit.index<micro_tile = [1, 6, 6, 1], axis = 3, step = [1, 4, 4, 1]>, !pit.index<micro_tile = [1, 1, 1, 1], axis = 3>]
// CHECK: linalg.conv_2d_nhwc_hwcf {dilations = {{.*}}, pit.rule = #pit.rule<operand = 0, axis = 3, micro_tile = [1, 6, 6, 1]
// CHECK: linalg.conv_2d_nhwc_hwcf {dilations = {{.*}}, pit.rule = #pit.rule<operand = 0, axis = 3, micro_tile = [1, 1, 1, 1]
// CHECK: linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>} ins(%[[X]],
func.func @image(%x: tensor<2x18x18x32xf32>, %w: tensor<3x3x32x64xf32>, %c: tensor<2x16x16x64xf32>) -> tensor<2x16x16x64xf32> {
  %s = pit.sparse %x : tensor<2x18x18x32xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>} ins(%s, %w : tensor<2x18x18x32xf32>, tensor<3x3x32x64xf32>)
         outs(%c : tensor<2x16x16x64xf32>) -> tensor<2x16x16x64xf32>
  return %r : tensor<2x16x16x64xf32>
}

// -----

// Input channels of a filter: of all taps together, or of each. Taps are too few
// to be listed.

// CHECK-LABEL: func.func @filter(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<3x3x32x64xf32>
// CHECK: pit.choose %[[W]] of [!pit.index<micro_tile = [3, 3, 1, 64], axis = 2>, !pit.index<micro_tile = [1, 1, 1, 16], axis = 2>
// CHECK-NOT: axis = 0
func.func @filter(%x: tensor<2x18x18x32xf32>, %w: tensor<3x3x32x64xf32>, %c: tensor<2x16x16x64xf32>) -> tensor<2x16x16x64xf32> {
  %s = pit.sparse %w : tensor<3x3x32x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %s : tensor<2x18x18x32xf32>, tensor<3x3x32x64xf32>)
         outs(%c : tensor<2x16x16x64xf32>) -> tensor<2x16x16x64xf32>
  return %r : tensor<2x16x16x64xf32>
}

// -----

// Vectors run along the windows: what that costs is not known.

// CHECK-LABEL: func.func @channels_first(
// CHECK-NOT: pit.choose
func.func @channels_first(%x: tensor<2x32x18x18xf32>, %w: tensor<64x32x3x3xf32>, %c: tensor<2x64x16x16xf32>) -> tensor<2x64x16x16xf32> {
  %s = pit.sparse %x : tensor<2x32x18x18xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%s, %w : tensor<2x32x18x18xf32>, tensor<64x32x3x3xf32>)
         outs(%c : tensor<2x64x16x16xf32>) -> tensor<2x64x16x16xf32>
  return %r : tensor<2x64x16x16xf32>
}

// -----

// Each channel has a filter of its own: a tile of windows copies elements that are
// used 9 times, or 25/4 where windows are two apart.

// CHECK-LABEL: func.func @depthwise(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x32x1x18x18xf32>, %[[Y:[a-z0-9]+]]: tensor<2x32x1x19x19xf32>
// CHECK: linalg.conv_2d_ngchw_gfchw {{.*}} ins(%[[X]],
// CHECK: linalg.conv_2d_ngchw_gfchw {{.*}} ins(%[[Y]],
func.func @depthwise(%x: tensor<2x32x1x18x18xf32>, %y: tensor<2x32x1x19x19xf32>, %w: tensor<32x1x1x3x3xf32>, %v: tensor<32x1x1x5x5xf32>, %c: tensor<2x32x1x16x16xf32>, %d: tensor<2x32x1x8x8xf32>) -> (tensor<2x32x1x16x16xf32>, tensor<2x32x1x8x8xf32>) {
  %s = pit.sparse %x : tensor<2x32x1x18x18xf32>
  // expected-remark @+1 {{stays dense: each element of operand 0 is used so rarely that scanning for zeros takes longer}}
  %r = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%s, %w : tensor<2x32x1x18x18xf32>, tensor<32x1x1x3x3xf32>)
         outs(%c : tensor<2x32x1x16x16xf32>) -> tensor<2x32x1x16x16xf32>
  %t = pit.sparse %y : tensor<2x32x1x19x19xf32>
  // expected-remark @+1 {{stays dense: each element of operand 0 is used so rarely that scanning for zeros takes longer}}
  %q = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%t, %v : tensor<2x32x1x19x19xf32>, tensor<32x1x1x5x5xf32>)
         outs(%d : tensor<2x32x1x8x8xf32>) -> tensor<2x32x1x8x8xf32>
  return %r, %q : tensor<2x32x1x16x16xf32>, tensor<2x32x1x8x8xf32>
}

// -----

// Sums, and ops that are computed element by element, read each element once.

// CHECK-LABEL: func.func @once(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<64x64xf32>
// CHECK: linalg.reduce ins(%[[X]]
// CHECK: linalg.exp ins(%[[X]]
func.func @once(%x: tensor<64x64xf32>, %c: tensor<64xf32>, %e: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64x64xf32>) {
  %s = pit.sparse %x : tensor<64x64xf32>
  // expected-remark @+1 {{stays dense: each element of operand 0 is used so rarely that scanning for zeros takes longer}}
  %r = linalg.reduce ins(%s : tensor<64x64xf32>) outs(%c : tensor<64xf32>) dimensions = [1]
    (%i: f32, %o: f32) {
      %q = arith.addf %i, %o : f32
      linalg.yield %q : f32
    }
  // expected-remark @+1 {{stays dense: each element of operand 0 is used so rarely that scanning for zeros takes longer}}
  %y = linalg.exp ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r, %y : tensor<64xf32>, tensor<64x64xf32>
}
