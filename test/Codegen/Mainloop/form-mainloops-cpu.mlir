// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-form-mainloops{vector-width=512},canonicalize,cse))' | FileCheck %s
// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-form-mainloops{vector-width=512},canonicalize),one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},canonicalize)' | FileCheck %s --check-prefix=BUFFERS
// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-form-mainloops{vector-width=512 explain}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// Contractions that form none, in the order of this file:
// WHY: remark: linalg.matmul forms no mainloop: no dimension of its tile is in one piece in the destination and in one operand, and missing in the other
// WHY: remark: linalg.matmul forms no mainloop: no dimension of its tile is in one piece
// WHY: remark: linalg.matmul forms no mainloop: along dimension 0 of its tile, an operand is read in other places than the result is written
// WHY: remark: linalg.matmul forms no mainloop: an operand lies in memory as i1, a byte for each element
// WHY: remark: linalg.generic forms no mainloop: no dimension of its tile is in one piece
// WHY: remark: linalg.generic forms no mainloop: an operand is read by a map that is no sum of dimensions
// WHY: remark: linalg.generic forms no mainloop: its epilogue uses a number of a step
// WHY-NOT: remark:

// Micro-tiles of A along k, bias and ReLU: all of it is one mainloop on tensors,
// which writes in place.

// CHECK-LABEL: func.func @columns
// CHECK: pit.forall {{.*}} iter_args(%[[OUT:.*]] = %
// CHECK:   %[[BIAS:.*]] = pit.view %arg2[{{.*}}] : tensor<?xf32> -> vector<128xf32>
// CHECK:   %[[R:.*]] = pit.mainloop step [] in %{{.*}} chunk 64
// CHECK-SAME: extras(%[[BIAS]] : vector<128xf32>)
// CHECK-SAME: into %[[OUT]][{{.*}}] : tensor<?x?xf32> -> tensor<?x?xf32> load {
// CHECK:     pit.view %arg0[{{.*}}] {{.*}} -> vector<32x64xbf16>
// CHECK:     pit.view %arg1[{{.*}}] {{.*}} -> vector<64x128xbf16>
// CHECK:   } compute {
// CHECK:     pit.contract {{.*}} tile [32, 128, 64]
// CHECK:       arith.extf
// CHECK:   } epilogue {
// CHECK:     arith.maximumf
// CHECK:   pit.yield %[[R]]

// BUFFERS-LABEL: func.func @columns
// BUFFERS: %[[O:.*]] = memref.alloc
// BUFFERS-NOT: memref.alloc
// BUFFERS-NOT: memref.copy
// BUFFERS: pit.mainloop {{.*}} into %[[O]][{{.*}}] : memref<?x?xf32> load
// BUFFERS: pit.view %arg0[{{.*}}] {{.*}} : memref<?x2048xbf16>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
func.func @columns(%a: tensor<?x2048xbf16>, %b: tensor<2048x?xbf16>, %bias: tensor<?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %cst = arith.constant 0.0 : f32
  %i = pit.index %a : tensor<?x2048xbf16> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 128) iter_args(%o = %e) -> (tensor<?x?xf32>) {
    %t = tensor.empty() : tensor<32x128xf32>
    %acc = linalg.fill ins(%cst : f32) outs(%t : tensor<32x128xf32>) -> tensor<32x128xf32>
    %sum = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%s = %acc) -> (tensor<32x128xf32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : bf16) : tensor<?x2048xbf16> -> tensor<32x64xbf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] pad(0.0 : bf16) : tensor<2048x?xbf16> -> tensor<64x128xbf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xbf16>, tensor<64x128xbf16>) outs(%s : tensor<32x128xf32>) -> tensor<32x128xf32>
      pit.yield %p : tensor<32x128xf32>
    }
    %bs = pit.sread %bias[%y] : tensor<?xf32> -> tensor<128xf32>
    %g = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%sum, %bs : tensor<32x128xf32>, tensor<128xf32>) outs(%t : tensor<32x128xf32>) {
    ^bb0(%in: f32, %add: f32, %out: f32):
      %1 = arith.addf %in, %add : f32
      %2 = arith.maximumf %1, %cst : f32
      linalg.yield %2 : f32
    } -> tensor<32x128xf32>
    %w = pit.swrite %g into %o[%x, %y] : tensor<32x128xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// Columns of C are gathered: lanes run along its rows, if these are enough.

// CHECK-LABEL: func.func @gathered_columns
// CHECK: pit.mainloop step []
// CHECK: pit.contract {{.*}} tile [32, 64, 64]
// CHECK-NOT: linalg.matmul
func.func @gathered_columns(%a: tensor<?x64xf32>, %b: tensor<64x?xf32>, %i: !pit.index<micro_tile = [32, 1], axis = 1>, %x: index, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %r = pit.forall %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %acc = pit.sread %o[%x, %ids : !pit.ids<64>] : tensor<?x?xf32> -> tensor<32x64xf32>
    %at = pit.sread %a[%x, %c0] pad(0.0 : f32) : tensor<?x64xf32> -> tensor<32x64xf32>
    %bt = pit.sread %b[%c0, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<64x?xf32> -> tensor<64x64xf32>
    %p = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
    %w = pit.swrite %p into %o[%x, %ids : !pit.ids<64>] : tensor<32x64xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: pit.mainloop
// CHECK: linalg.matmul
func.func @few_rows(%a: tensor<?x64xf32>, %b: tensor<64x?xf32>, %i: !pit.index<micro_tile = [8, 1], axis = 1>, %x: index, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %r = pit.forall %ids at %pos in %i[%x] : !pit.index<micro_tile = [8, 1], axis = 1> chunk 64 iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %acc = pit.sread %o[%x, %ids : !pit.ids<64>] : tensor<?x?xf32> -> tensor<8x64xf32>
    %at = pit.sread %a[%x, %c0] pad(0.0 : f32) : tensor<?x64xf32> -> tensor<8x64xf32>
    %bt = pit.sread %b[%c0, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<64x?xf32> -> tensor<64x64xf32>
    %p = linalg.matmul ins(%at, %bt : tensor<8x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<8x64xf32>) -> tensor<8x64xf32>
    %w = pit.swrite %p into %o[%x, %ids : !pit.ids<64>] : tensor<8x64xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// Columns of B in one piece make lanes of C; but a single row does not pay for
// turning them.

// CHECK-LABEL: func.func @rows_of_b
// CHECK-COUNT-1: pit.mainloop
// CHECK-NOT: pit.mainloop
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @rows_of_b(%a: tensor<?x64xf32>, %b: tensor<?x64xf32>, %x: index, %c: tensor<?x?xf32>, %d: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %bt = pit.sread %b[%x, %c0] pad(0.0 : f32) : tensor<?x64xf32> -> tensor<64x64xf32>
  %acc = pit.sread %c[%c0, %x] : tensor<?x?xf32> -> tensor<32x64xf32>
  %at = pit.sread %a[%c0, %c0] pad(0.0 : f32) : tensor<?x64xf32> -> tensor<32x64xf32>
  %p = linalg.matmul indexing_maps = [#a, #b, #c] ins(%at, %bt : tensor<32x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
  %r = pit.swrite %p into %c[%c0, %x] : tensor<32x64xf32> into tensor<?x?xf32>
  %acc1 = pit.sread %d[%c0, %x] : tensor<?x?xf32> -> tensor<1x64xf32>
  %at1 = pit.sread %a[%c0, %c0] pad(0.0 : f32) : tensor<?x64xf32> -> tensor<1x64xf32>
  %q = linalg.matmul indexing_maps = [#a, #b, #c] ins(%at1, %bt : tensor<1x64xf32>, tensor<64x64xf32>) outs(%acc1 : tensor<1x64xf32>) -> tensor<1x64xf32>
  %s = pit.swrite %q into %d[%c0, %x] : tensor<1x64xf32> into tensor<?x?xf32>
  return %r, %s : tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// A tile that reads beyond the others' range is padded: that takes a tile of
// its own.

// CHECK-LABEL: func.func @shifted
// CHECK-NOT: pit.mainloop
func.func @shifted(%a: tensor<?x64xf32>, %b: tensor<64x?xf32>, %m: index, %n: index, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 64) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %next = arith.addi %x, %c1 : index
    %acc = pit.sread %o[%x, %y] : tensor<?x?xf32> -> tensor<32x64xf32>
    %at = pit.sread %a[%next, %c0] pad(0.0 : f32) : tensor<?x64xf32> -> tensor<32x64xf32>
    %bt = pit.sread %b[%c0, %y] pad(0.0 : f32) : tensor<64x?xf32> -> tensor<64x64xf32>
    %p = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
    %w = pit.swrite %p into %o[%x, %y] : tensor<32x64xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// An epilogue that reads a mask: its bytes are no vector of i1.

// CHECK-LABEL: func.func @masked
// CHECK-NOT: pit.mainloop
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @masked(%a: tensor<?x64xf32>, %b: tensor<64x?xf32>, %m: index, %n: index, %c: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %cst = arith.constant 0.0 : f32
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 64) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %acc = pit.sread %o[%x, %y] : tensor<?x?xf32> -> tensor<32x64xf32>
    %at = pit.sread %a[%x, %c0] pad(0.0 : f32) : tensor<?x64xf32> -> tensor<32x64xf32>
    %bt = pit.sread %b[%c0, %y] pad(0.0 : f32) : tensor<64x?xf32> -> tensor<64x64xf32>
    %p = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
    %mt = pit.sread %mask[%x, %y] : tensor<?x?xi1> -> tensor<32x64xi1>
    %t = tensor.empty() : tensor<32x64xf32>
    %g = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %mt : tensor<32x64xf32>, tensor<32x64xi1>) outs(%t : tensor<32x64xf32>) {
    ^bb0(%in: f32, %keep: i1, %out: f32):
      %1 = arith.select %keep, %in, %cst : f32
      linalg.yield %1 : f32
    } -> tensor<32x64xf32>
    %w = pit.swrite %g into %o[%x, %y] : tensor<32x64xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// Windows, strided and dilated: each element of a tile may be read by several.

// CHECK-LABEL: func.func @windows
// CHECK: pit.mainloop step [] in %{{.*}}[%{{.*}}] chunk 16 {{.*}} extras
// CHECK: pit.view %arg0{{.*}} -> vector<1x17x12x16xf32>
// CHECK: pit.view %arg1{{.*}} -> vector<3x3x16x32xf32>
// CHECK: pit.contract {{.*}} tile [1, 8, 8, 32, 3, 3, 16] maps [#{{.*}}, #{{.*}}, #{{.*}}]
// CHECK-NOT: linalg.conv
func.func @windows(%x: tensor<?x?x?x?xf32>, %w: tensor<3x3x?x?xf32>, %c: tensor<?x?x?x?xf32>, %i: !pit.index<micro_tile = [1, 17, 12, 1], axis = 3, step = [1, 16, 8, 1]>, %h: index, %f: index) -> tensor<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %r = pit.forall (%n, %y, %z, %g) = (%c0, %c0, %c0, %c0) to (%h, %h, %h, %f) step (1, 8, 8, 32) iter_args(%o = %c) -> (tensor<?x?x?x?xf32>) {
    %acc = pit.sread %o[%n, %y, %z, %g] : tensor<?x?x?x?xf32> -> tensor<1x8x8x32xf32>
    %y2 = affine.apply affine_map<(d0) -> (d0 * 2)>(%y)
    %sum = pit.for %ids at %pos in %i[%n, %y2, %z] : !pit.index<micro_tile = [1, 17, 12, 1], axis = 3, step = [1, 16, 8, 1]> chunk 16 iter_args(%s = %acc) -> (tensor<1x8x8x32xf32>) {
      %xt = pit.sread %x[%n, %y2, %z, %ids : !pit.ids<16>] : tensor<?x?x?x?xf32> -> tensor<1x17x12x16xf32>
      %wt = pit.sread %w[%c0, %c0, %ids : !pit.ids<16>, %g] : tensor<3x3x?x?xf32> -> tensor<3x3x16x32xf32>
      %p = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>} ins(%xt, %wt : tensor<1x17x12x16xf32>, tensor<3x3x16x32xf32>) outs(%s : tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
      pit.yield %p : tensor<1x8x8x32xf32>
    }
    %t = pit.swrite %sum into %o[%n, %y, %z, %g] : tensor<1x8x8x32xf32> into tensor<?x?x?x?xf32>
    pit.yield %t : tensor<?x?x?x?xf32>
  }
  return %r : tensor<?x?x?x?xf32>
}

// -----

// Lanes run along windows of stride 1, but not of stride 2, and not backwards.

// CHECK-LABEL: func.func @lanes_in_windows
// CHECK-COUNT-1: pit.mainloop
// CHECK-NOT: pit.mainloop
// CHECK: linalg.generic
// CHECK: linalg.generic
#stride1 = affine_map<(w, f, k) -> (w + k)>
#stride2 = affine_map<(w, f, k) -> (w * 2 + k)>
#back = affine_map<(w, f, k) -> (w - k + 2)>
#filter = affine_map<(w, f, k) -> (f, k)>
#out = affine_map<(w, f, k) -> (f, w)>
func.func @lanes_in_windows(%x: tensor<?xf32>, %k: tensor<?x3xf32>, %c: tensor<?x?xf32>, %d: tensor<?x?xf32>, %e: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %kt = pit.sread %k[%c0, %c0] : tensor<?x3xf32> -> tensor<8x3xf32>
  %acc = pit.sread %c[%c0, %c0] : tensor<?x?xf32> -> tensor<8x32xf32>
  %xt = pit.sread %x[%c0] : tensor<?xf32> -> tensor<34xf32>
  %p = linalg.generic {indexing_maps = [#stride1, #filter, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%xt, %kt : tensor<34xf32>, tensor<8x3xf32>) outs(%acc : tensor<8x32xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x32xf32>
  %r = pit.swrite %p into %c[%c0, %c0] : tensor<8x32xf32> into tensor<?x?xf32>
  %x2 = pit.sread %x[%c0] : tensor<?xf32> -> tensor<65xf32>
  %q = linalg.generic {indexing_maps = [#stride2, #filter, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x2, %kt : tensor<65xf32>, tensor<8x3xf32>) outs(%acc : tensor<8x32xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x32xf32>
  %t = pit.swrite %q into %d[%c0, %c0] : tensor<8x32xf32> into tensor<?x?xf32>
  %b = linalg.generic {indexing_maps = [#back, #filter, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%xt, %kt : tensor<34xf32>, tensor<8x3xf32>) outs(%acc : tensor<8x32xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x32xf32>
  %w = pit.swrite %b into %e[%c0, %c0] : tensor<8x32xf32> into tensor<?x?xf32>
  return %r, %t, %w : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// Each point of the filter meets another pixel, whose ids come next: the loops
// over both are steps of one mainloop.

// CHECK-LABEL: func.func @pixels
// CHECK: pit.mainloop %c0, %c0 to %c3, %c3 step [1, 1] in %{{.*}}[] chunk 64
// CHECK-SAME: extra_maps [] into %{{.*}} load {
// CHECK: ^bb0(%[[Y:.*]]: index, %[[X:.*]]: index, %[[IDS:.*]]: !pit.ids<64>, %{{.*}}: !pit.ids<64>):
// CHECK:   %[[ROW:.*]] = affine.apply
// CHECK:   pit.view %arg0[%[[ROW]], %{{.*}}, %[[IDS]] : {{.*}} -> vector<1x1x64xf32>
// CHECK:   pit.view %arg1[%[[Y]], %[[X]], %[[IDS]], {{.*}} -> vector<1x1x64x128xf32>
// CHECK: } groups {
// CHECK: ^bb0(%[[GY:.*]]: index, %[[GX:.*]]: index):
// CHECK:   %[[G0:.*]] = affine.apply #{{.*}}(%{{.*}}, %[[GY]])
// CHECK:   %[[G1:.*]] = affine.apply #{{.*}}(%{{.*}}, %[[GX]])
// CHECK:   pit.yield %[[G0]], %[[G1]] : index, index
// CHECK-NOT: pit.for (
func.func @pixels(%x: tensor<?x?x?xf32>, %w: tensor<3x3x?x?xf32>, %c: tensor<?x?x?xf32>, %i: !pit.index<micro_tile = [1, 1, 1], axis = 2>, %h: index, %v: index, %n: index) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %cst = arith.constant 0.0 : f32
  %r = pit.forall (%y0, %x0, %f0) = (%c0, %c0, %c0) to (%h, %v, %n) step (1, 1, 128) iter_args(%o = %c) -> (tensor<?x?x?xf32>) {
    %t = tensor.empty() : tensor<1x1x128xf32>
    %acc = linalg.fill ins(%cst : f32) outs(%t : tensor<1x1x128xf32>) -> tensor<1x1x128xf32>
    %sum = pit.for (%ky, %kx) = (%c0, %c0) to (%c3, %c3) step (1, 1) iter_args(%s = %acc) -> (tensor<1x1x128xf32>) {
      %row = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)>(%y0, %ky)
      %column = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%x0, %kx)
      %inner = pit.for %ids at %pos in %i[%row, %column] : !pit.index<micro_tile = [1, 1, 1], axis = 2> chunk 64 iter_args(%q = %s) -> (tensor<1x1x128xf32>) {
        %a = pit.sread %x[%row, %column, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<?x?x?xf32> -> tensor<1x1x64xf32>
        %b = pit.sread %w[%ky, %kx, %ids : !pit.ids<64>, %f0] pad(0.0 : f32) : tensor<3x3x?x?xf32> -> tensor<1x1x64x128xf32>
        %p = linalg.generic {indexing_maps = [affine_map<(y, x, f, ky, kx, c) -> (y * 2 + ky, x + kx, c)>, affine_map<(y, x, f, ky, kx, c) -> (ky, kx, c, f)>, affine_map<(y, x, f, ky, kx, c) -> (y, x, f)>],
                             iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%a, %b : tensor<1x1x64xf32>, tensor<1x1x64x128xf32>) outs(%q : tensor<1x1x128xf32>) {
        ^bb0(%u: f32, %z: f32, %old: f32):
          %m = arith.mulf %u, %z : f32
          %k = arith.addf %old, %m : f32
          linalg.yield %k : f32
        } -> tensor<1x1x128xf32>
        pit.yield %p : tensor<1x1x128xf32>
      }
      pit.yield %inner : tensor<1x1x128xf32>
    }
    %out = pit.swrite %sum into %o[%y0, %x0, %f0] : tensor<1x1x128xf32> into tensor<?x?x?xf32>
    pit.yield %out : tensor<?x?x?xf32>
  }
  return %r : tensor<?x?x?xf32>
}

// -----

// What comes after the sum may reduce a single step, as the weight of the one
// expert that a tile's rows go to: it reads its element at 0.
// CHECK: #[[$WEIGHT:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func.func @weighted
// CHECK: pit.mainloop {{.*}} extras(%{{.*}}, %{{.*}} : vector<32x1xf32>, vector<32x128xf32>)
// CHECK-SAME: extra_maps [#[[$WEIGHT]], #{{.*}}]
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @weighted(%r: tensor<?x?xf32>, %a: tensor<?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?xf32>, %e: index, %m: index, %n: index, %k: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %cst = arith.constant 0.0 : f32
  %x = pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (32, 128) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %old = pit.sread %o[%i, %j] : tensor<?x?xf32> -> tensor<32x128xf32>
    %t = tensor.empty() : tensor<32x128xf32>
    %zero = linalg.fill ins(%cst : f32) outs(%t : tensor<32x128xf32>) -> tensor<32x128xf32>
    %sum = pit.for (%l) = (%c0) to (%k) step (64) iter_args(%s = %zero) -> (tensor<32x128xf32>) {
      %at = pit.sread %a[%i, %l] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x64xf32>
      %bt = pit.sread %b[%e, %l, %j] pad(0.0 : f32) : tensor<?x?x?xf32> -> tensor<1x64x128xf32>
      %p = linalg.generic {indexing_maps = [affine_map<(t, e, k, n) -> (t, k)>, affine_map<(t, e, k, n) -> (e, k, n)>, affine_map<(t, e, k, n) -> (t, n)>],
                           iterator_types = ["parallel", "reduction", "reduction", "parallel"]} ins(%at, %bt : tensor<32x64xf32>, tensor<1x64x128xf32>) outs(%s : tensor<32x128xf32>) {
      ^bb0(%u: f32, %v: f32, %w: f32):
        %q = arith.mulf %u, %v : f32
        %y = arith.addf %w, %q : f32
        linalg.yield %y : f32
      } -> tensor<32x128xf32>
      pit.yield %p : tensor<32x128xf32>
    }
    %weight = pit.sread %r[%i, %e] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x1xf32>
    %h = linalg.generic {indexing_maps = [affine_map<(t, e, n) -> (t, e)>, affine_map<(t, e, n) -> (t, n)>, affine_map<(t, e, n) -> (t, n)>],
                         iterator_types = ["parallel", "reduction", "parallel"]} ins(%weight, %sum : tensor<32x1xf32>, tensor<32x128xf32>) outs(%old : tensor<32x128xf32>) {
    ^bb0(%u: f32, %v: f32, %w: f32):
      %q = arith.mulf %v, %u : f32
      %y = arith.addf %w, %q : f32
      linalg.yield %y : f32
    } -> tensor<32x128xf32>
    %z = pit.swrite %h into %o[%i, %j] : tensor<32x128xf32> into tensor<?x?xf32>
    pit.yield %z : tensor<?x?xf32>
  }
  return %x : tensor<?x?xf32>
}

// -----

// What is computed from the step's number outside of the products makes no
// mainloop: what was begun goes again, uses of its own values first.
// CHECK-LABEL: func.func @numbered
// CHECK-NOT: pit.mainloop
func.func @numbered(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %m: index, %n: index, %k: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %r = pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (32, 128) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %old = pit.sread %o[%i, %j] : tensor<?x?xf32> -> tensor<32x128xf32>
    %sum = pit.for (%l) = (%c0) to (%k) step (1) iter_args(%s = %old) -> (tensor<32x128xf32>) {
      %at = pit.sread %a[%i, %l] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x1xf32>
      %bt = pit.sread %b[%l, %j] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<1x128xf32>
      %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                           iterator_types = ["parallel", "parallel", "reduction"]} ins(%at, %bt : tensor<32x1xf32>, tensor<1x128xf32>) outs(%s : tensor<32x128xf32>) {
      ^bb0(%u: f32, %v: f32, %w: f32):
        %x = arith.index_cast %l : index to i32
        %y = arith.sitofp %x : i32 to f32
        %q = arith.mulf %u, %v : f32
        %z = arith.mulf %q, %y : f32
        %t = arith.addf %w, %z : f32
        linalg.yield %t : f32
      } -> tensor<32x128xf32>
      pit.yield %p : tensor<32x128xf32>
    }
    %z = pit.swrite %sum into %o[%i, %j] : tensor<32x128xf32> into tensor<?x?xf32>
    pit.yield %z : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}
