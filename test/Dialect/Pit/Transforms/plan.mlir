// RUN: pit-opt %s -pit-plan -cse | FileCheck %s
// Planning what is planned changes nothing.
// RUN: pit-opt %s -pit-plan -cse | pit-opt -pit-plan -cse | FileCheck %s

!t = tensor<?x?xf32>
!m = tensor<?x?xi1>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

//===----------------------------------------------------------------------===//
// A matmul, by operand and axis
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @a_k(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf32>, %[[B:[^:]*]]:
// CHECK-NEXT: %[[I:.*]] = pit.index %[[A]] : tensor<?x?xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
// CHECK-NEXT: %[[S:.*]] = pit.sparse %[[A]] index(%[[I]] : !pit.index<micro_tile = [32, 1], axis = 1>) assume : tensor<?x?xf32>
// CHECK-NEXT: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>} ins(%[[S]], %[[B]] :
func.func @a_k(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a : !t
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// Whole rows: no two of them write the same output.
// CHECK-LABEL: func.func @a_m_whole
// CHECK: pit.index %{{.*}} -> !pit.index<micro_tile = [1, *], axis = 0>
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, *], tile = [64, 128, 64]>}
func.func @a_m_whole(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : !t
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// Parts of rows do. The micro-tile is the user's, and so is the tile along k.
// CHECK-LABEL: func.func @a_m_parts
// CHECK: pit.index %{{.*}} -> !pit.index<micro_tile = [1, 48], axis = 0>
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 48], tile = [64, 128, 48], conflicts = sequential>}
func.func @a_m_parts(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 48]>) : !t
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// CHECK-LABEL: func.func @b_k(
// CHECK: pit.index %{{.*}} -> !pit.index<micro_tile = [1, 128], axis = 0>
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 1, axis = 0, micro_tile = [1, 128], tile = [32, 128, 64]>}
func.func @b_k(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %b : !t
  %r = linalg.matmul ins(%a, %s : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// CHECK-LABEL: func.func @b_n(
// CHECK: pit.index %{{.*}} -> !pit.index<micro_tile = [*, 1], axis = 1>
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 1, axis = 1, micro_tile = [*, 1], tile = [32, 64, 64]>}
func.func @b_n(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %b rule(#pit.rule<axis = 1, micro_tile = [*, 1]>) : !t
  %r = linalg.matmul ins(%a, %s : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// The result: its index is built before the op. It selects more than the mask
// does, which therefore stays.
// CHECK-LABEL: func.func @c_n(
// CHECK-SAME: %[[M:[^:]*]]: tensor<?x?xi1>)
// CHECK-NEXT: %[[I:.*]] = pit.index mask %[[M]] : tensor<?x?xi1> -> !pit.index<micro_tile = [32, 1], axis = 1>
// CHECK-NEXT: %[[R:.*]] = linalg.matmul {pit.rule = #pit.rule<operand = 2, axis = 1, micro_tile = [32, 1], tile = [32, 64, 64]>}
// CHECK-NEXT: %[[S:.*]] = pit.sparse %[[R]] index(%[[I]] : {{.*}}) : tensor<?x?xf32>
// CHECK-NEXT: pit.sparse %[[S]] mask(%[[M]] : tensor<?x?xi1>) : tensor<?x?xf32>
func.func @c_n(%a: !t, %b: !t, %c: !t, %m: !m) -> !t {
  %r = linalg.matmul ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  %s = pit.sparse %r mask(%m : !m) : !t
  return %s : !t
}

// One element wide, micro-tiles select just what the mask does.
// CHECK-LABEL: func.func @c_m_exact
// CHECK: %[[R:.*]] = linalg.matmul {pit.rule = #pit.rule<operand = 2, axis = 0, micro_tile = [1, 1], tile = [64, 1, 64]>}
// CHECK-NEXT: %[[S:.*]] = pit.sparse %[[R]] index(%{{.*}} : !pit.index<micro_tile = [1, 1], axis = 0>) background(1.000000e+00 : f32) : tensor<?x?xf32>
// CHECK-NEXT: return %[[S]]
func.func @c_m_exact(%a: !t, %b: !t, %c: !t, %m: !m) -> !t {
  %r = linalg.matmul ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  %s = pit.sparse %r mask(%m : !m) background(1.0 : f32) rule(#pit.rule<axis = 0, micro_tile = [1, 1]>) : !t
  return %s : !t
}

// A value used twice: one of the uses is chosen, the other reads all of it.
// CHECK-LABEL: func.func @twice
// CHECK: %[[V:.*]] = pit.sparse %{{.*}} : tensor<?x?xf32>
// CHECK: %[[S:.*]] = pit.sparse %{{.*}} index(
// CHECK: linalg.matmul indexing_maps = {{.*}} {pit.rule = #pit.rule<operand = 0, axis = 1, {{.*}}>} ins(%[[S]], %[[V]] :
func.func @twice(%a: !t, %c: !t) -> !t {
  %s = pit.sparse %a : !t
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%s, %s : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// Two marks: the one that the user insists on goes first.
// CHECK-LABEL: func.func @insisted
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 1, axis = 0, micro_tile = [1, 128], tile = [32, 128, 64]>}
func.func @insisted(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a : !t
  %u = pit.sparse %b rule(#pit.rule<axis = 0>) : !t
  %r = linalg.matmul ins(%s, %u : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// One mark, two ops: each has a rule, and the same index serves both.
// CHECK-LABEL: func.func @shared
// CHECK: %[[S:.*]] = pit.sparse %{{.*}} index(
// CHECK: linalg.matmul {{.*}} ins(%[[S]],
// CHECK-NOT: pit.index %
// CHECK: linalg.matmul {{.*}} ins(%[[S]],
func.func @shared(%a: !t, %b: !t, %d: !t, %c: !t) -> (!t, !t) {
  %s = pit.sparse %a : !t
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  %q = linalg.matmul ins(%s, %d : !t, !t) outs(%c : !t) -> !t
  return %r, %q : !t, !t
}

// The whole rule is the user's.
// CHECK-LABEL: func.func @tile
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [8, 1], tile = [8, 48, 16]>}
func.func @tile(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [8, 1], tile = [8, 48, 16]>) : !t
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// Tiles are not larger than the dims, and not empty.
// CHECK-LABEL: func.func @small
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [3, 1], tile = [3, 1, 5]>}
// CHECK: linalg.matmul {pit.rule = #pit.rule<{{.*}}, tile = [1, 1, 1]>}
func.func @small(%a: tensor<3x5xf32>, %b: tensor<5x1xf32>, %c: tensor<3x1xf32>,
                 %d: tensor<0x0xf32>, %e: tensor<0x0xf32>) -> (tensor<3x1xf32>, tensor<0x0xf32>) {
  %s = pit.sparse %a : tensor<3x5xf32>
  %r = linalg.matmul ins(%s, %b : tensor<3x5xf32>, tensor<5x1xf32>) outs(%c : tensor<3x1xf32>) -> tensor<3x1xf32>
  %u = pit.sparse %d : tensor<0x0xf32>
  %q = linalg.matmul ins(%u, %e : tensor<0x0xf32>, tensor<0x0xf32>) outs(%e : tensor<0x0xf32>) -> tensor<0x0xf32>
  return %r, %q : tensor<3x1xf32>, tensor<0x0xf32>
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @background
// CHECK: %[[I:.*]] = pit.index %{{.*}} background(3 : i8) : tensor<?x?xi8>
// CHECK: pit.sparse %{{.*}} index(%[[I]] : {{.*}}) background(3 : i8) assume : tensor<?x?xi8>
// CHECK: pit.rule = #pit.rule<operand = 0, axis = 1
func.func @background(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %s = pit.sparse %a background(3 : i8) : tensor<?x?xi8>
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %z = arith.constant 3 : i32
    %x32 = arith.extsi %x : i8 to i32
    %y32 = arith.extsi %y : i8 to i32
    %d = arith.subi %x32, %z : i32
    %p = arith.muli %d, %y32 : i32
    %q = arith.addi %o, %p : i32
    linalg.yield %q : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// Blocks select more than a mask: it comes first.
// CHECK-LABEL: func.func @mask(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf32>, %{{.*}}, %[[M:[^:]*]]: tensor<?x?xi1>)
// CHECK: %[[S:.*]] = pit.sparse %[[A]] mask(%[[M]] : tensor<?x?xi1>) : tensor<?x?xf32>
// CHECK: %[[I:.*]] = pit.index mask %[[M]] :
// CHECK: pit.sparse %[[S]] index(%[[I]] : {{.*}}) assume : tensor<?x?xf32>
func.func @mask(%a: !t, %b: !t, %c: !t, %m: !m) -> !t {
  %s = pit.sparse %a mask(%m : !m) : !t
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// If the caller promises that the rest is background, it need not be looked at.
// CHECK-LABEL: func.func @mask_assume
// CHECK-NOT: mask(
// CHECK: %[[I:.*]] = pit.index mask
// CHECK-NEXT: pit.sparse %{{.*}} index(%[[I]] : {{.*}}) assume : tensor<?x?xf32>
func.func @mask_assume(%a: !t, %b: !t, %c: !t, %m: !m) -> !t {
  %s = pit.sparse %a mask(%m : !m) assume : !t
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// Lengths list positions: whole rows of each batch, just what is selected.
// CHECK-LABEL: func.func @lengths
// CHECK: %[[I:.*]] = pit.index lengths %{{.*}} shape(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<?xi32> -> !pit.index<micro_tile = [1, 1, *], axis = 1>
// CHECK-NEXT: pit.sparse %{{.*}} index(%[[I]] : {{.*}}) : tensor<?x?x64xf32>
// CHECK-NEXT: linalg.batch_matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [1, 1, *], tile = [1, 64, 128, 64]>}
func.func @lengths(%a: tensor<?x?x64xf32>, %b: tensor<?x64x?xf32>, %c: tensor<?x?x?xf32>, %l: tensor<?xi32>) -> tensor<?x?x?xf32> {
  %s = pit.sparse %a lengths(%l : tensor<?xi32>) : tensor<?x?x64xf32>
  %r = linalg.batch_matmul ins(%s, %b : tensor<?x?x64xf32>, tensor<?x64x?xf32>) outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// Another axis takes a mask before it.
// CHECK-LABEL: func.func @lengths_along_k
// CHECK: %[[S:.*]] = pit.sparse %{{.*}} lengths(%{{.*}} : tensor<?xi64>) : tensor<?x?x64xf32>
// CHECK: %[[I:.*]] = pit.index lengths %{{.*}} -> !pit.index<micro_tile = [1, 32, 1], axis = 2>
// CHECK: pit.sparse %[[S]] index(%[[I]] : {{.*}}) assume
func.func @lengths_along_k(%a: tensor<?x?x64xf32>, %b: tensor<?x64x?xf32>, %c: tensor<?x?x?xf32>, %l: tensor<?xi64>) -> tensor<?x?x?xf32> {
  %s = pit.sparse %a lengths(%l : tensor<?xi64>) rule(#pit.rule<axis = 2>) : tensor<?x?x64xf32>
  %r = linalg.batch_matmul ins(%s, %b : tensor<?x?x64xf32>, tensor<?x64x?xf32>) outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// Routing: each expert is a group of tokens. Going up, their outputs differ;
// going down, experts add to the same ones.
// CHECK-LABEL: func.func @experts
// CHECK: %[[I:.*]] = pit.index routing %{{.*}} shape(%{{.*}}, %{{.*}}) : tensor<?x2xi32> -> !pit.index<micro_tile = [1, 1], axis = 0>
// CHECK-NEXT: %[[S:.*]] = pit.sparse %{{.*}} index(%[[I]] : {{.*}}) : tensor<?x8xf32>
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[S]], {{.*}} attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 1], tile = [64, 1, 128, 64]>}
// CHECK: linalg.generic {{.*}} ins(%[[S]], {{.*}} attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 1], tile = [64, 64, 1, 64], conflicts = sequential>}
func.func @experts(%g: tensor<?x8xf32>, %x: tensor<?x64xf32>, %up: tensor<8x64x256xf32>, %down: tensor<8x256x64xf32>,
                   %h0: tensor<?x8x256xf32>, %y0: tensor<?x64xf32>, %to: tensor<?x2xi32>) -> tensor<?x64xf32> {
  %r = pit.sparse %g routing(%to : tensor<?x2xi32>) : tensor<?x8xf32>
  %h = linalg.generic {
      indexing_maps = [affine_map<(t, e, f, k) -> (t, e)>, affine_map<(t, e, f, k) -> (t, k)>,
                       affine_map<(t, e, f, k) -> (e, k, f)>, affine_map<(t, e, f, k) -> (t, e, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%r, %x, %up : tensor<?x8xf32>, tensor<?x64xf32>, tensor<8x64x256xf32>) outs(%h0 : tensor<?x8x256xf32>) {
  ^bb0(%w: f32, %a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %w, %p : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x8x256xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(t, n, e, f) -> (t, e)>, affine_map<(t, n, e, f) -> (t, e, f)>,
                       affine_map<(t, n, e, f) -> (e, f, n)>, affine_map<(t, n, e, f) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%r, %h, %down : tensor<?x8xf32>, tensor<?x8x256xf32>, tensor<8x256x64xf32>) outs(%y0 : tensor<?x64xf32>) {
  ^bb0(%w: f32, %a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %w, %p : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// The caller's index says which axis and which micro-tile.
// CHECK-LABEL: func.func @index(
// CHECK-NOT: pit.index %
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [16, 1], tile = [16, 128, 64]>}
func.func @index(%a: !t, %b: !t, %c: !t, %i: !pit.index<micro_tile = [16, 1], axis = 1>) -> !t {
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [16, 1], axis = 1>) : !t
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

// Batches are taken one by one.
// CHECK-LABEL: func.func @batch
// CHECK: linalg.batch_matmul {pit.rule = #pit.rule<operand = 0, axis = 2, micro_tile = [1, 32, 1], tile = [1, 32, 128, 64]>}
func.func @batch(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %s = pit.sparse %a : tensor<?x?x?xf32>
  %r = linalg.batch_matmul ins(%s, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// The batch as the axis: the tile stays of bounded size.
// CHECK-LABEL: func.func @batch_axis
// CHECK: linalg.batch_matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 32, *], tile = [16, 32, 128, 64]>}
func.func @batch_axis(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0>) : tensor<?x?x?xf32>
  %r = linalg.batch_matmul ins(%s, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// A group is the window that a tile of pixels sees; with 3x3 filters it is 2
// larger than the tile, which is long where results are in one piece. With each
// id come 9 products, so chunks are short. Filters of unknown size are taken
// pixel by pixel.
// CHECK-LABEL: func.func @nchw(
// CHECK: pit.index %{{.*}} -> !pit.index<micro_tile = [1, 1, 6, 130], axis = 1, step = [1, 1, 4, 128]>
// CHECK: linalg.conv_2d_nchw_fchw {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [1, 1, 6, 130], tile = [1, 32, 4, 128, 16, 3, 3]>}
// CHECK: pit.index %{{.*}} -> !pit.index<micro_tile = [1, 1, *, *], axis = 1>
// CHECK: linalg.conv_2d_nchw_fchw {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [1, 1, *, *], tile = [1, 32, 4, 128, 64, 1, 1]>}
func.func @nchw(%x: tensor<?x?x?x?xf32>, %w: tensor<?x?x3x3xf32>, %v: tensor<?x?x?x?xf32>, %c: tensor<?x?x?x?xf32>)
    -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) {
  %s = pit.sparse %x : tensor<?x?x?x?xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%s, %w : tensor<?x?x?x?xf32>, tensor<?x?x3x3xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %u = pit.sparse %x : tensor<?x?x?x?xf32>
  %q = linalg.conv_2d_nchw_fchw ins(%u, %v : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r, %q : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
}

// CHECK-LABEL: func.func @nhwc_strided_dilated
// CHECK: pit.index %{{.*}} -> !pit.index<micro_tile = [1, 9, 32, 1], axis = 3, step = [1, 8, 28, 1]>
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}}pit.rule = #pit.rule<operand = 0, axis = 3, micro_tile = [1, 9, 32, 1], tile = [1, 4, 28, 128, 3, 3, 16]>
func.func @nhwc_strided_dilated(%x: tensor<?x?x?x?xf32>, %w: tensor<3x3x?x?xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %s = pit.sparse %x : tensor<?x?x?x?xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>}
      ins(%s, %w : tensor<?x?x?x?xf32>, tensor<3x3x?x?xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// The user's micro-tile is a single element of each pixel: windows are run through
// point by point.
// CHECK-LABEL: func.func @pixels
// CHECK: pit.index %{{.*}} -> !pit.index<micro_tile = [1, 1, 1, 1], axis = 3>
// CHECK: linalg.conv_2d_nhwc_hwcf {pit.rule = #pit.rule<operand = 0, axis = 3, micro_tile = [1, 1, 1, 1], tile = [1, 1, 1, 128, 1, 1, 64]>, strides = dense<2>
func.func @pixels(%x: tensor<?x?x?x?xf32>, %w: tensor<3x3x?x?xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 3, micro_tile = [1, 1, 1, 1]>) : tensor<?x?x?x?xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>}
      ins(%s, %w : tensor<?x?x?x?xf32>, tensor<3x3x?x?xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// The user's micro-tile is the window: 6 pixels see 3 outputs of stride 2.
// CHECK-LABEL: func.func @window
// CHECK: linalg.conv_2d_nchw_fchw {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [1, 1, 7, 7], tile = [1, 32, 3, 3, 16, 3, 3]>, strides = dense<2>
func.func @window(%x: tensor<?x?x?x?xf32>, %w: tensor<?x?x3x3xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 1, micro_tile = [1, 1, 7, 7]>) : tensor<?x?x?x?xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>}
      ins(%s, %w : tensor<?x?x?x?xf32>, tensor<?x?x3x3xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: func.func @filter
// CHECK: linalg.conv_2d_nchw_fchw {pit.rule = #pit.rule<operand = 1, axis = 1, micro_tile = [32, 1, 3, 3], tile = [1, 32, 4, 128, 16, 3, 3]>}
func.func @filter(%x: tensor<?x?x?x?xf32>, %w: tensor<?x?x3x3xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %s = pit.sparse %w : tensor<?x?x3x3xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%x, %s : tensor<?x?x?x?xf32>, tensor<?x?x3x3xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// Without a reduction over other dims, long rows are the vector.
// CHECK-LABEL: func.func @element_wise
// CHECK: linalg.add {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 128], tile = [64, 128]>}
// CHECK: linalg.exp {pit.rule = #pit.rule<operand = 0, axis = 3, micro_tile = [1, 1, 32, 1], tile = [1, 1, 32, 64]>}
func.func @element_wise(%a: !t, %b: !t, %x: tensor<?x?x?x?xf32>) -> (!t, tensor<?x?x?x?xf32>) {
  %s = pit.sparse %a : !t
  %r = linalg.add ins(%s, %b : !t, !t) outs(%b : !t) -> !t
  %u = pit.sparse %x : tensor<?x?x?x?xf32>
  %q = linalg.exp ins(%u : tensor<?x?x?x?xf32>) outs(%x : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r, %q : !t, tensor<?x?x?x?xf32>
}

// CHECK-LABEL: func.func @reduce
// CHECK: linalg.reduce {{.*}} {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [128, 1], tile = [128, 64]>}
func.func @reduce(%a: !t, %c: tensor<?xf32>) -> tensor<?xf32> {
  %s = pit.sparse %a background(0xFF800000 : f32) : !t
  %r = linalg.reduce ins(%s : !t) outs(%c : tensor<?xf32>) dimensions = [1] (%x: f32, %o: f32) {
    %q = arith.maximumf %o, %x : f32
    linalg.yield %q : f32
  }
  return %r : tensor<?xf32>
}

// Passes of others tile planned ops, whose rule is then about nothing.
// CHECK-LABEL: func.func @stale
// CHECK: pit.sparse %{{.*}} index
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>}
// CHECK: linalg.matmul ins(
func.func @stale(%a: !t, %b: !t, %c: !t) -> (!t, !t) {
  %s = pit.sparse %a : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, *], tile = [64, 64, 64]>}
         ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  %q = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, *], tile = [64, 64, 64]>}
         ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  return %r, %q : !t, !t
}
