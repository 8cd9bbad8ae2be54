// RUN: pit-opt %s --pit-form-matrices --canonicalize --cse --split-input-file | FileCheck %s

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#kn = affine_map<(b, m, n, k) -> (k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(b, m, n) -> (b, m, n)>
#n = affine_map<(b, m, n) -> (n)>

// Rows, and the element-wise ops that follow. No size is that of a result.
// CHECK-LABEL: func.func @layer(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x256xbf16>, %[[W:.*]]: tensor<256x512xbf16>, %[[BIAS:.*]]: tensor<512xbf16>, %[[RES:.*]]: tensor<?x?x512xbf16>)
// CHECK-DAG: %[[D0:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG: %[[D1:.*]] = tensor.dim %[[X]], %c1
// CHECK-DAG: %[[XC:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]]
// CHECK: %[[F:.*]] = linalg.fill {{.*}} -> tensor<?x512xf32>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[XC]], %[[W]] : {{.*}}) outs(%[[F]] :
// CHECK: %[[RC:.*]] = tensor.collapse_shape %[[RES]] {{\[\[}}0, 1], [2]]
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[BIAS]], %[[RC]] : tensor<?x512xf32>, tensor<512xbf16>, tensor<?x512xbf16>)
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<?x512xbf16>)
// CHECK: %[[E:.*]] = tensor.expand_shape %[[Z]] {{\[\[}}0, 1], [2]] output_shape [%[[D0]], %[[D1]], 512]
// CHECK: return %[[E]]
func.func @layer(%x: tensor<?x?x256xbf16>, %w: tensor<256x512xbf16>, %bias: tensor<512xbf16>,
                 %res: tensor<?x?x512xbf16>) -> tensor<?x?x512xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %d0 = tensor.dim %x, %c0 : tensor<?x?x256xbf16>
  %d1 = tensor.dim %x, %c1 : tensor<?x?x256xbf16>
  %e = tensor.empty(%d0, %d1) : tensor<?x?x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x512xf32>) -> tensor<?x?x512xf32>
  %p = linalg.contract indexing_maps = [#bmk, #kn, #bmn]
    ins(%x, %w : tensor<?x?x256xbf16>, tensor<256x512xbf16>) outs(%f : tensor<?x?x512xf32>) -> tensor<?x?x512xf32>
  %e2 = tensor.empty(%d0, %d1) : tensor<?x?x512xbf16>
  %y = linalg.generic {indexing_maps = [#id, #n, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%p, %bias, %res : tensor<?x?x512xf32>, tensor<512xbf16>, tensor<?x?x512xbf16>) outs(%e2 : tensor<?x?x512xbf16>) {
  ^bb0(%l: f32, %r: bf16, %q: bf16, %s: bf16):
    %lt = arith.truncf %l : f32 to bf16
    %t = arith.addf %lt, %r : bf16
    %v = arith.addf %t, %q : bf16
    linalg.yield %v : bf16
  } -> tensor<?x?x512xbf16>
  %z = linalg.exp ins(%y : tensor<?x?x512xbf16>) outs(%e2 : tensor<?x?x512xbf16>) -> tensor<?x?x512xbf16>
  return %z : tensor<?x?x512xbf16>
}

// -----

// Heads are columns that go together, and so are two reductions.
// CHECK-LABEL: func.func @heads(
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<400x1024xf16>, tensor<1024x256xf16>) outs(%{{.*}} : tensor<400x256xf32>)
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2, 3]] output_shape [4, 100, 8, 32]
func.func @heads(%x: tensor<4x100x16x64xf16>, %w: tensor<16x64x8x32xf16>, %o: tensor<4x100x8x32xf32>) -> tensor<4x100x8x32xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(b, m, h, d, i, j) -> (b, m, i, j)>, affine_map<(b, m, h, d, i, j) -> (i, j, h, d)>,
                                        affine_map<(b, m, h, d, i, j) -> (b, m, h, d)>]
    ins(%x, %w : tensor<4x100x16x64xf16>, tensor<16x64x8x32xf16>) outs(%o : tensor<4x100x8x32xf32>) -> tensor<4x100x8x32xf32>
  return %r : tensor<4x100x8x32xf32>
}

// -----

// A weight that was repeated for each batch element is read as it was, here in rows of n.
// CHECK-LABEL: func.func @repeated(
// CHECK-SAME: %[[X:.*]]: tensor<4x8x16xf32>, %[[W:.*]]: tensor<32x16xf32>, %[[O:.*]]: tensor<4x8x32xf32>)
// CHECK-NOT: tensor<4x16x32xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[W]] : tensor<32x16xf32>, tensor<32x16xf32>) outs(%{{.*}} : tensor<32x32xf32>)
func.func @repeated(%x: tensor<4x8x16xf32>, %w: tensor<32x16xf32>, %o: tensor<4x8x32xf32>) -> tensor<4x8x32xf32> {
  %e = tensor.empty() : tensor<4x16x32xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(b, k, n) -> (n, k)>, affine_map<(b, k, n) -> (b, k, n)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%w : tensor<32x16xf32>) outs(%e : tensor<4x16x32xf32>) {
  ^bb0(%l: f32, %s: f32):
    linalg.yield %l : f32
  } -> tensor<4x16x32xf32>
  %r = linalg.batch_matmul ins(%x, %b : tensor<4x8x16xf32>, tensor<4x16x32xf32>) outs(%o : tensor<4x8x32xf32>) -> tensor<4x8x32xf32>
  return %r : tensor<4x8x32xf32>
}

// -----

// A sum over what both operands are repeated along keeps one of them.
// CHECK-LABEL: func.func @both(
// CHECK-SAME: %[[X:.*]]: tensor<16xf32>, %[[Y:.*]]: tensor<16xf32>, %[[O:.*]]: tensor<16xf32>)
// CHECK: %[[B:.*]] = linalg.broadcast ins(%[[Y]]
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[B]] : tensor<16xf32>, tensor<16x4xf32>) outs(%[[O]] :
func.func @both(%x: tensor<16xf32>, %y: tensor<16xf32>, %o: tensor<16xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<16x4xf32>
  %a = linalg.broadcast ins(%x : tensor<16xf32>) outs(%e : tensor<16x4xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%y : tensor<16xf32>) outs(%e : tensor<16x4xf32>) dimensions = [1]
  %r = linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>]
    ins(%a, %b : tensor<16x4xf32>, tensor<16x4xf32>) outs(%o : tensor<16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// Products of their own, which all inputs number.
// CHECK-LABEL: func.func @batched(
// CHECK: linalg.batch_matmul
func.func @batched(%x: tensor<4x8x16xf32>, %w: tensor<4x16x32xf32>, %o: tensor<4x8x32xf32>) -> tensor<4x8x32xf32> {
  %r = linalg.batch_matmul ins(%x, %w : tensor<4x8x16xf32>, tensor<4x16x32xf32>) outs(%o : tensor<4x8x32xf32>) -> tensor<4x8x32xf32>
  return %r : tensor<4x8x32xf32>
}
// CHECK-LABEL: func.func @images(
// CHECK: linalg.conv_2d_nhwc_hwcf
func.func @images(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x8xf32>, %o: tensor<2x6x6x8xf32>) -> tensor<2x6x6x8xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x8xf32>) outs(%o : tensor<2x6x6x8xf32>) -> tensor<2x6x6x8xf32>
  return %r : tensor<2x6x6x8xf32>
}

// -----

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#mbk = affine_map<(b, m, n, k) -> (m, b, k)>
#kn = affine_map<(b, m, n, k) -> (k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>
!x = tensor<4x8x16xf32>
!w = tensor<16x32xf32>
!y = tensor<4x8x32xf32>

// The operand has the dims in another order.
// CHECK-LABEL: func.func @order(
// CHECK-NOT: tensor.collapse_shape
// CHECK: return
func.func @order(%x: tensor<8x4x16xf32>, %w: !w, %o: !y) -> !y {
  %r = linalg.contract indexing_maps = [#mbk, #kn, #bmn] ins(%x, %w : tensor<8x4x16xf32>, !w) outs(%o : !y) -> !y
  return %r : !y
}

// A slice has gaps, and so has where a result goes.
// CHECK-LABEL: func.func @slice(
// CHECK-NOT: tensor.collapse_shape
// CHECK: return
func.func @slice(%x: tensor<4x9x16xf32>, %w: !w, %o: !y) -> !y {
  %s = tensor.extract_slice %x[0, 1, 0] [4, 8, 16] [1, 1, 1] : tensor<4x9x16xf32> to !x
  %r = linalg.contract indexing_maps = [#bmk, #kn, #bmn] ins(%s, %w : !x, !w) outs(%o : !y) -> !y
  return %r : !y
}
// CHECK-LABEL: func.func @inserted(
// CHECK-NOT: tensor.collapse_shape
// CHECK: return
func.func @inserted(%x: !x, %w: !w, %o: !y, %all: tensor<4x9x32xf32>) -> tensor<4x9x32xf32> {
  %r = linalg.contract indexing_maps = [#bmk, #kn, #bmn] ins(%x, %w : !x, !w) outs(%o : !y) -> !y
  %i = tensor.insert_slice %r into %all[0, 1, 0] [4, 8, 32] [1, 1, 1] : !y into tensor<4x9x32xf32>
  return %i : tensor<4x9x32xf32>
}

// A factor for each batch element is multiplied in the same kernel.
// CHECK-LABEL: func.func @factor(
// CHECK-NOT: tensor.collapse_shape
// CHECK: return
func.func @factor(%x: !x, %w: !w, %o: !y, %f: tensor<4xf32>) -> !y {
  %r = linalg.contract indexing_maps = [#bmk, #kn, #bmn] ins(%x, %w : !x, !w) outs(%o : !y) -> !y
  %e = tensor.empty() : !y
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b)>, affine_map<(b, m, n) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r, %f : !y, tensor<4xf32>) outs(%e : !y) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> !y
  return %s : !y
}

// What several ops read is not computed with any of them.
// CHECK-LABEL: func.func @shared(
// CHECK: %[[E:.*]] = tensor.expand_shape
// CHECK: linalg.exp ins(%[[E]] : tensor<4x8x32xf32>)
// CHECK: return %{{.*}}, %[[E]]
func.func @shared(%x: !x, %w: !w, %o: !y) -> (!y, !y) {
  %r = linalg.contract indexing_maps = [#bmk, #kn, #bmn] ins(%x, %w : !x, !w) outs(%o : !y) -> !y
  %e = tensor.empty() : !y
  %s = linalg.exp ins(%r : !y) outs(%e : !y) -> !y
  return %s, %r : !y, !y
}

// What a rule plans is another pass's.
// CHECK-LABEL: func.func @planned(
// CHECK-NOT: tensor.collapse_shape
// CHECK: return
func.func @planned(%x: !x, %w: !w, %o: !y) -> !y {
  %i = pit.index %x : !x -> !pit.index<micro_tile = [1, 1, *], axis = 1>
  %s = pit.sparse %x index(%i : !pit.index<micro_tile = [1, 1, *], axis = 1>) assume : !x
  %r = linalg.contract indexing_maps = [#bmk, #kn, #bmn]
    {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [1, 1, *], tile = [1, 8, 32, 16]>}
    ins(%s, %w : !x, !w) outs(%o : !y) -> !y
  return %r : !y
}

// -----

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#kn = affine_map<(b, m, n, k) -> (k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(b, m, n) -> (b, m, n)>
!x = tensor<?x?x16xf16>
!w = tensor<16x32xf16>
!y = tensor<?x?x32xf32>

// Both projections of a gated layer read the same rows, and meet as rows.
// CHECK-LABEL: func.func @gated(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x16xf16>,
// CHECK: %[[XC:.*]] = tensor.collapse_shape %[[X]]
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[XC]], %{{.*}} : tensor<?x16xf16>, tensor<16x32xf16>)
// CHECK: %[[Q:.*]] = linalg.generic {{.*}} ins(%[[XC]], %{{.*}} : tensor<?x16xf16>, tensor<16x32xf16>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[Q]] : tensor<?x32xf32>, tensor<?x32xf32>)
// CHECK: tensor.expand_shape %[[R]]
// CHECK-NOT: tensor.expand_shape
func.func @gated(%x: !x, %v: !w, %w: !w) -> !y {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %d0 = tensor.dim %x, %c0 : !x
  %d1 = tensor.dim %x, %c1 : !x
  %e = tensor.empty(%d0, %d1) : !y
  %f = linalg.fill ins(%zero : f32) outs(%e : !y) -> !y
  %p = linalg.contract indexing_maps = [#bmk, #kn, #bmn] ins(%x, %v : !x, !w) outs(%f : !y) -> !y
  %q = linalg.contract indexing_maps = [#bmk, #kn, #bmn] ins(%x, %w : !x, !w) outs(%f : !y) -> !y
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%p, %q : !y, !y) outs(%e : !y) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %g = arith.maximumf %a, %zero : f32
    %m = arith.mulf %g, %b : f32
    linalg.yield %m : f32
  } -> !y
  return %r : !y
}
