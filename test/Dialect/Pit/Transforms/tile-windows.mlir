// RUN: pit-opt %s -pit-tile -canonicalize -cse -split-input-file | FileCheck %s

!x = tensor<?x?x?x?xf32>
!w = tensor<?x?x3x3xf32>
!win = !pit.index<micro_tile = [1, 1, 10, 10], axis = 1, step = [1, 1, 8, 8]>

// A tile of 8x8 outputs sees a window of 10x10 inputs, every 8 of them: the
// group is named by where the window starts.
// CHECK-LABEL: func.func @nchw
// CHECK: pit.forall (%[[N:.*]], %[[F:.*]], %[[Y:.*]], %[[X:.*]]) = {{.*}} step (1, 32, 8, 8)
// CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[N]], %[[Y]], %[[X]]] :
// CHECK-NEXT: pit.sread %arg0[%[[N]], %[[IDS]] : !pit.ids<16>, %[[Y]], %[[X]]] {{.*}} -> tensor<1x16x10x10xf32>
// CHECK-NEXT: pit.sread %arg1[%[[F]], %[[IDS]] : !pit.ids<16>, %c0, %c0] {{.*}} -> tensor<32x16x3x3xf32>
// CHECK-NEXT: linalg.conv_2d_nchw_fchw ins({{.*}} : tensor<1x16x10x10xf32>, tensor<32x16x3x3xf32>) outs({{.*}} : tensor<1x32x8x8xf32>)
func.func @nchw(%x: !x, %w: !w, %c: !x, %i: !win) -> !x {
  %s = pit.sparse %x index(%i : !win) assume : !x
  %r = linalg.conv_2d_nchw_fchw {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [1, 32, 8, 8, 16, 3, 3]>}
      ins(%s, %w : !x, !w) outs(%c : !x) -> !x
  return %r : !x
}

// -----

!x = tensor<?x?x?x?xf32>
!w = tensor<3x3x?x?xf32>
!win = !pit.index<micro_tile = [1, 17, 12, 1], axis = 3, step = [1, 16, 8, 1]>

// A stride moves windows further, a dilation makes them longer; the op on tiles
// has both.
// CHECK: #[[$TWICE:.*]] = affine_map<(d0) -> (d0 * 2)>
// CHECK-LABEL: func.func @nhwc_strided_dilated
// CHECK: pit.forall (%[[N:.*]], %[[Y:.*]], %[[X:.*]], %[[F:.*]]) = {{.*}} step (1, 8, 8, 32)
// CHECK: %[[Y2:.*]] = affine.apply #[[$TWICE]](%[[Y]])
// CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[N]], %[[Y2]], %[[X]]] :
// CHECK-NEXT: pit.sread %arg0[%[[N]], %[[Y2]], %[[X]], %[[IDS]] : !pit.ids<16>] {{.*}} -> tensor<1x17x12x16xf32>
// CHECK-NEXT: pit.sread %arg1[%c0, %c0, %[[IDS]] : !pit.ids<16>, %[[F]]] {{.*}} -> tensor<3x3x16x32xf32>
// CHECK-NEXT: linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}
func.func @nhwc_strided_dilated(%x: !x, %w: !w, %c: !x, %i: !win) -> !x {
  %s = pit.sparse %x index(%i : !win) assume : !x
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>,
      pit.rule = #pit.rule<operand = 0, axis = 3, tile = [1, 8, 8, 32, 3, 3, 16]>}
      ins(%s, %w : !x, !w) outs(%c : !x) -> !x
  return %r : !x
}

// -----

!x = tensor<?x?x?x?xf32>
!win = !pit.index<micro_tile = [1, 1, *, *], axis = 1>

// Filters of unknown size go pixel by pixel; whole images are one window.
// CHECK: #[[$SUM:.*]] = affine_map<(d0, d1) -> (d0 + d1)>
// CHECK-LABEL: func.func @unknown_filter
// CHECK: pit.forall (%[[N:.*]], %[[F:.*]], %[[Y:.*]], %[[X:.*]]) =
// CHECK: pit.for (%[[KY:.*]], %[[KX:.*]]) = {{.*}} step (1, 1)
// CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[N]]] :
// CHECK-DAG: %[[IY:.*]] = affine.apply #[[$SUM]](%[[Y]], %[[KY]])
// CHECK-DAG: %[[IX:.*]] = affine.apply #[[$SUM]](%[[X]], %[[KX]])
// CHECK: pit.sread %arg0[%[[N]], %[[IDS]] : !pit.ids<16>, %[[IY]], %[[IX]]] {{.*}} -> tensor<1x16x8x8xf32>
// CHECK: pit.sread %arg1[%[[F]], %[[IDS]] : !pit.ids<16>, %[[KY]], %[[KX]]] {{.*}} -> tensor<32x16x1x1xf32>
func.func @unknown_filter(%x: !x, %w: !x, %c: !x, %i: !win) -> !x {
  %s = pit.sparse %x index(%i : !win) assume : !x
  %r = linalg.conv_2d_nchw_fchw {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [1, 32, 8, 8, 16, 1, 1]>}
      ins(%s, %w : !x, !x) outs(%c : !x) -> !x
  return %r : !x
}

// -----

!x = tensor<?x?x?x?xf32>
!w = tensor<?x?x3x3xf32>
!fil = !pit.index<micro_tile = [32, 1, 3, 3], axis = 1>

// A sparse filter: groups are blocks of output channels.
// CHECK-LABEL: func.func @filter
// CHECK: pit.forall (%[[N:.*]], %[[F:.*]], %[[Y:.*]], %[[X:.*]]) =
// CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[F]], %c0, %c0] :
// CHECK-NEXT: pit.sread %arg0[%[[N]], %[[IDS]] : !pit.ids<16>, %[[Y]], %[[X]]] {{.*}} -> tensor<1x16x10x10xf32>
// CHECK-NEXT: pit.sread %arg1[%[[F]], %[[IDS]] : !pit.ids<16>, %c0, %c0] {{.*}} -> tensor<32x16x3x3xf32>
func.func @filter(%x: !x, %w: !w, %c: !x, %i: !fil) -> !x {
  %s = pit.sparse %w index(%i : !fil) assume : !w
  %r = linalg.conv_2d_nchw_fchw {pit.rule = #pit.rule<operand = 1, axis = 1, tile = [1, 32, 8, 8, 16, 3, 3]>}
      ins(%x, %s : !x, !w) outs(%c : !x) -> !x
  return %r : !x
}

// -----

!x = tensor<?x?x?x?xf32>
!w = tensor<?x?x3x3xf32>
!out = !pit.index<micro_tile = [1, 1, 8, 8], axis = 1>

// Wanted outputs: blocks of pixels, channels by ids.
// CHECK-LABEL: func.func @result
// CHECK: pit.forall (%[[N:.*]], %[[Y:.*]], %[[X:.*]]) = {{.*}} step (1, 8, 8)
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[N]], %[[Y]], %[[X]]] : {{.*}} chunk 32
// CHECK: pit.for (%[[K:.*]]) = {{.*}} step (16)
// CHECK-NEXT: pit.sread %arg0[%[[N]], %[[K]], %[[Y]], %[[X]]] {{.*}} -> tensor<1x16x10x10xf32>
// CHECK-NEXT: pit.sread %arg1[%[[IDS]] : !pit.ids<32>, %[[K]], %c0, %c0] {{.*}} -> tensor<32x16x3x3xf32>
// CHECK: pit.swrite %{{.*}} into %{{.*}}[%[[N]], %[[IDS]] : !pit.ids<32>, %[[Y]], %[[X]]]
func.func @result(%x: !x, %w: !w, %c: !x, %i: !out) -> !x {
  %r = linalg.conv_2d_nchw_fchw {pit.rule = #pit.rule<operand = 2, axis = 1, tile = [1, 32, 8, 8, 16, 3, 3]>}
      ins(%x, %w : !x, !w) outs(%c : !x) -> !x
  %s = pit.sparse %r index(%i : !out) : !x
  return %s : !x
}

// -----

!x = tensor<?x?x?x?xf32>
!img = !pit.index<micro_tile = [1, *, *, *], axis = 0>

// Max pooling of live images. What is not there would be 0 otherwise; the
// window tensor is only there for its shape.
// CHECK-LABEL: func.func @pooling
// CHECK: pit.forall (%[[Y:.*]], %[[X:.*]], %[[C:.*]]) = {{.*}}, %[[IDS:.*]] at
// CHECK: pit.sread %arg0[%[[IDS]] : !pit.ids<4>, %[[Y2:.*]], %[[X2:.*]], %[[C]]] pad(0xFF800000 : f32) : {{.*}} -> tensor<4x9x9x32xf32>
// CHECK: linalg.pooling_nhwc_max
func.func @pooling(%x: !x, %w: tensor<3x3xf32>, %c: !x, %i: !img) -> !x {
  %s = pit.sparse %x index(%i : !img) background(0xFF800000 : f32) assume : !x
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, pit.rule = #pit.rule<operand = 0, axis = 0, tile = [4, 4, 4, 32, 3, 3]>}
      ins(%s, %w : !x, tensor<3x3xf32>) outs(%c : !x) -> !x
  return %r : !x
}

// -----

!x = tensor<?x?x?x?xf32>
!w = tensor<3x3x?x?xf32>
!px = !pit.index<micro_tile = [1, 1, 1, 1], axis = 3>

// Pixels have ids of their own; each point of the filter meets another pixel.
// CHECK: #[[$WINDOW:.*]] = affine_map<(d0, d1) -> (d0 * 2 + d1)>
// CHECK-LABEL: func.func @pixels
// CHECK: pit.forall (%[[N:.*]], %[[Y:.*]], %[[X:.*]], %[[F:.*]]) = {{.*}} step (1, 1, 1, 32)
// CHECK: pit.for (%[[KY:.*]], %[[KX:.*]]) = {{.*}} step (1, 1)
// CHECK: %[[Y2:.*]] = affine.apply #[[$WINDOW]](%[[Y]], %[[KY]])
// CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[N]], %[[Y2]], %[[X2:.*]]] :
// CHECK-NEXT: pit.sread %arg0[%[[N]], %[[Y2]], %[[X2]], %[[IDS]] : !pit.ids<16>] {{.*}} -> tensor<1x1x1x16xf32>
// CHECK-NEXT: pit.sread %arg1[%[[KY]], %[[KX]], %[[IDS]] : !pit.ids<16>, %[[F]]] {{.*}} -> tensor<1x1x16x32xf32>
func.func @pixels(%x: !x, %w: !w, %c: !x, %i: !px) -> !x {
  %s = pit.sparse %x index(%i : !px) assume : !x
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>,
      pit.rule = #pit.rule<operand = 0, axis = 3, tile = [1, 1, 1, 32, 1, 1, 16]>}
      ins(%s, %w : !x, !w) outs(%c : !x) -> !x
  return %r : !x
}

// -----

!x = tensor<?x?x?x?xf32>
!w = tensor<8x4x3x3xf32>
!win = !pit.index<micro_tile = [1, 1, 10, 10], axis = 1, step = [1, 1, 8, 8]>

// A filter of ones multiplies by nothing, but alone says how large windows are.
// CHECK-LABEL: func.func @ones
// CHECK: pit.for %[[IDS:.*]] at
// CHECK-NEXT: pit.sread %arg0[
// CHECK-NEXT: pit.sread %{{.*}} -> tensor<8x16x3x3xf32>
// CHECK-NEXT: linalg.conv_2d_nchw_fchw ins({{.*}} : tensor<1x16x10x10xf32>, tensor<8x16x3x3xf32>) outs({{.*}} : tensor<1x8x8x8xf32>)
func.func @ones(%x: !x, %c: !x, %i: !win) -> !x {
  %w = arith.constant dense<1.0> : !w
  %s = pit.sparse %x index(%i : !win) assume : !x
  %r = linalg.conv_2d_nchw_fchw {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [1, 8, 8, 8, 16, 3, 3]>}
      ins(%s, %w : !x, !w) outs(%c : !x) -> !x
  return %r : !x
}
