// RUN: pit-test-analysis %s | FileCheck %s

// The ops and axes of the published table, and their neighbours.

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is a PIT axis: arith.addf combines result 0{{$}}
// CHECK-NEXT: d1 is a PIT axis: arith.addf combines result 0{{$}}
func.func @reduce_sum(%a: tensor<?x?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(p, l) -> (p, l)>, affine_map<(p, l) -> ()>],
      iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %s = arith.addf %acc, %x : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: linalg.add
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
func.func @vector_add(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: linalg.matmul
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
// CHECK-NEXT: d1 is a PIT axis: it indexes every result (exact)
// CHECK-NEXT: d2 is a PIT axis: arith.addf combines result 0{{$}}
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Integers may be summed in any order.
// CHECK-LABEL: linalg.matmul
// CHECK-NEXT: d0 is a PIT axis
// CHECK-NEXT: d1 is a PIT axis
// CHECK-NEXT: d2 is a PIT axis: arith.addi combines result 0 (exact)
func.func @matmul_i8(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

#ma = affine_map<(m, n, k) -> (k, m)>
#mb = affine_map<(m, n, k) -> (k, n)>
#mbt = affine_map<(m, n, k) -> (n, k)>
#mat = affine_map<(m, n, k) -> (m, k)>
#mc = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: linalg.matmul
// CHECK-NEXT: d0 is a PIT axis
// CHECK-NEXT: d1 is a PIT axis
// CHECK-NEXT: d2 is a PIT axis: arith.addf combines result 0
func.func @matmul_transpose_a(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul indexing_maps = [#ma, #mb, #mc]
      ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: linalg.matmul
// CHECK-NEXT: d0 is a PIT axis
// CHECK-NEXT: d1 is a PIT axis
// CHECK-NEXT: d2 is a PIT axis: arith.addf combines result 0
func.func @matmul_transpose_b(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul indexing_maps = [#mat, #mbt, #mc]
      ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: linalg.batch_matmul
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: it indexes every result
// CHECK-NEXT: d2 is a PIT axis: it indexes every result
// CHECK-NEXT: d3 is a PIT axis: arith.addf combines result 0
func.func @batch_matmul(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// The batch is a reduction here.
// CHECK-LABEL: linalg.batch_reduce_matmul
// CHECK-NEXT: d0 is a PIT axis: arith.addf combines result 0
// CHECK-NEXT: d1 is a PIT axis: it indexes every result
// CHECK-NEXT: d2 is a PIT axis: it indexes every result
// CHECK-NEXT: d3 is a PIT axis: arith.addf combines result 0
func.func @batch_reduce_matmul(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.batch_reduce_matmul ins(%a, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Convolutions: batch, output channel and input channel, no image or filter
// dim.
// CHECK-LABEL: linalg.conv_2d_nchw_fchw
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: it indexes every result
// CHECK-NEXT: d2 is no PIT axis [C1]: map 0 contains it as d2 + d5
// CHECK-NEXT: d3 is no PIT axis [C1]: map 0 contains it as d3 + d6
// CHECK-NEXT: d4 is a PIT axis: arith.addf combines result 0
// CHECK-NEXT: d5 is no PIT axis [C1]: map 0 contains it as d2 + d5
// CHECK-NEXT: d6 is no PIT axis [C1]: map 0 contains it as d3 + d6
func.func @conv_nchw(%x: tensor<?x?x?x?xf32>, %f: tensor<?x?x3x3xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %r = linalg.conv_2d_nchw_fchw ins(%x, %f : tensor<?x?x?x?xf32>, tensor<?x?x3x3xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: linalg.conv_2d_nchw_fchw
// CHECK-NEXT: d0 is a PIT axis
// CHECK-NEXT: d1 is a PIT axis
// CHECK-NEXT: d2 is no PIT axis [C1]: map 0 contains it as d2 * 2 + d5 * 3
// CHECK-NEXT: d3 is no PIT axis [C1]: map 0 contains it as d3 * 2 + d6 * 3
// CHECK-NEXT: d4 is a PIT axis: arith.addf combines result 0
// CHECK-NEXT: d5 is no PIT axis [C1]: map 0 contains it as d2 * 2 + d5 * 3
// CHECK-NEXT: d6 is no PIT axis [C1]: map 0 contains it as d3 * 2 + d6 * 3
func.func @conv_nchw_strided_dilated(%x: tensor<?x?x?x?xf32>, %f: tensor<?x?x3x3xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>, dilations = dense<3> : tensor<2xi64>}
      ins(%x, %f : tensor<?x?x?x?xf32>, tensor<?x?x3x3xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: linalg.conv_2d_nhwc_hwcf
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is no PIT axis [C1]: map 0 contains it as d1 + d4
// CHECK-NEXT: d2 is no PIT axis [C1]: map 0 contains it as d2 + d5
// CHECK-NEXT: d3 is a PIT axis: it indexes every result
// CHECK-NEXT: d4 is no PIT axis [C1]: map 0 contains it as d1 + d4
// CHECK-NEXT: d5 is no PIT axis [C1]: map 0 contains it as d2 + d5
// CHECK-NEXT: d6 is a PIT axis: arith.addf combines result 0
func.func @conv_nhwc(%x: tensor<?x?x?x?xf32>, %f: tensor<3x3x?x?xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %f : tensor<?x?x?x?xf32>, tensor<3x3x?x?xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: linalg.conv_2d_nhwc_hwcf
// CHECK-NEXT: d0 is a PIT axis
// CHECK-NEXT: d1 is no PIT axis [C1]: map 0 contains it as d1 * 2 + d4
// CHECK-NEXT: d2 is no PIT axis [C1]: map 0 contains it as d2 + d5 * 2
// CHECK-NEXT: d3 is a PIT axis
// CHECK-NEXT: d4 is no PIT axis [C1]: map 0 contains it as d1 * 2 + d4
// CHECK-NEXT: d5 is no PIT axis [C1]: map 0 contains it as d2 + d5 * 2
// CHECK-NEXT: d6 is a PIT axis
func.func @conv_nhwc_strided_dilated(%x: tensor<?x?x?x?xf32>, %f: tensor<3x3x?x?xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>}
      ins(%x, %f : tensor<?x?x?x?xf32>, tensor<3x3x?x?xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// A depthwise channel indexes input, filter and result alike.
// CHECK-LABEL: linalg.depthwise_conv_2d_nhwc_hwc
// CHECK-NEXT: d0 is a PIT axis
// CHECK-NEXT: d1 is no PIT axis [C1]
// CHECK-NEXT: d2 is no PIT axis [C1]
// CHECK-NEXT: d3 is a PIT axis: it indexes every result
// CHECK-NEXT: d4 is no PIT axis [C1]
// CHECK-NEXT: d5 is no PIT axis [C1]
func.func @depthwise(%x: tensor<?x?x?x?xf32>, %f: tensor<3x3x?xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %f : tensor<?x?x?x?xf32>, tensor<3x3x?xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// Experts, up: H[t, e, f] += r[t, e] * A[t, k] * B[e, k, f].
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: it indexes every result
// CHECK-NEXT: d2 is a PIT axis: it indexes every result
// CHECK-NEXT: d3 is a PIT axis: arith.addf combines result 0
func.func @experts_up(%w: tensor<?x?xf32>, %a: tensor<?x?xf32>, %b: tensor<?x?x?xf32>, %h: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(t, e, f, k) -> (t, e)>, affine_map<(t, e, f, k) -> (t, k)>,
                       affine_map<(t, e, f, k) -> (e, k, f)>, affine_map<(t, e, f, k) -> (t, e, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %a, %b : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?x?xf32>) outs(%h : tensor<?x?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.mulf %p, %z : f32
    %s = arith.addf %acc, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// Experts, down: C[t, n] += r[t, e] * H[t, e, f] * B[e, f, n].
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is a PIT axis: it indexes every result
// CHECK-NEXT: d2 is a PIT axis: arith.addf combines result 0
// CHECK-NEXT: d3 is a PIT axis: arith.addf combines result 0
func.func @experts_down(%w: tensor<?x?xf32>, %h: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(t, n, e, f) -> (t, e)>, affine_map<(t, n, e, f) -> (t, e, f)>,
                       affine_map<(t, n, e, f) -> (e, f, n)>, affine_map<(t, n, e, f) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%w, %h, %b : tensor<?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.mulf %p, %z : f32
    %s = arith.addf %acc, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Maxima and minima are exact in any order; maxnumf may return either zero.
// CHECK-LABEL: linalg.reduce
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
// CHECK-NEXT: d1 is a PIT axis: arith.maximumf combines result 0 (exact)
// CHECK-LABEL: linalg.reduce
// CHECK-NEXT: d0 is a PIT axis: arith.minsi combines result 0 (exact)
// CHECK-NEXT: d1 is a PIT axis: it indexes every result (exact)
// CHECK-LABEL: linalg.reduce
// CHECK-NEXT: d0 is a PIT axis: it indexes every result (exact)
// CHECK-NEXT: d1 is a PIT axis: arith.maxnumf combines result 0{{$}}
func.func @max_min(%a: tensor<?x?xf32>, %i: tensor<?x?xi32>, %c: tensor<?xf32>, %d: tensor<?xi32>)
    -> (tensor<?xf32>, tensor<?xi32>, tensor<?xf32>) {
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<?x?xf32>) outs(%c : tensor<?xf32>) dimensions = [1]
  %s = linalg.reduce { arith.minsi } ins(%i : tensor<?x?xi32>) outs(%d : tensor<?xi32>) dimensions = [0]
  %t = linalg.reduce { arith.maxnumf } ins(%a : tensor<?x?xf32>) outs(%c : tensor<?xf32>) dimensions = [1]
  return %r, %s, %t : tensor<?xf32>, tensor<?xi32>, tensor<?xf32>
}

// Every other combiner.
// CHECK-COUNT-4: d0 is a PIT axis: arith.{{mulf|minimumf|minnumf}} combines result {{[0-2]}}
func.func @float_combiners(%a: tensor<?xf32>, %c: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = linalg.reduce { arith.mulf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0]
  %1 = linalg.reduce { arith.minimumf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0]
  %2 = linalg.reduce { arith.minnumf } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0]
  %3 = linalg.reduce { arith.mulf {fastmath = #arith.fastmath<fast>} } ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0]
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
// CHECK: d0 is a PIT axis: arith.addi combines result 0 (exact)
// CHECK: d0 is a PIT axis: arith.addi combines result 0{{$}}
// CHECK: d0 is a PIT axis: arith.muli combines result 0 (exact)
// CHECK: d0 is a PIT axis: arith.maxsi combines result 0 (exact)
// CHECK: d0 is a PIT axis: arith.maxui combines result 0 (exact)
// CHECK: d0 is a PIT axis: arith.minui combines result 0 (exact)
// CHECK: d0 is a PIT axis: arith.andi combines result 0 (exact)
// CHECK: d0 is a PIT axis: arith.ori combines result 0 (exact)
// CHECK: d0 is a PIT axis: arith.xori combines result 0 (exact)
func.func @integer_combiners(%a: tensor<?xi16>, %c: tensor<i16>) {
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<?xi16>) outs(%c : tensor<i16>) dimensions = [0]
  %1 = linalg.reduce { arith.addi {overflowFlags = #arith.overflow<nsw>} } ins(%a : tensor<?xi16>) outs(%c : tensor<i16>) dimensions = [0]
  %2 = linalg.reduce { arith.muli } ins(%a : tensor<?xi16>) outs(%c : tensor<i16>) dimensions = [0]
  %3 = linalg.reduce { arith.maxsi } ins(%a : tensor<?xi16>) outs(%c : tensor<i16>) dimensions = [0]
  %4 = linalg.reduce { arith.maxui } ins(%a : tensor<?xi16>) outs(%c : tensor<i16>) dimensions = [0]
  %5 = linalg.reduce { arith.minui } ins(%a : tensor<?xi16>) outs(%c : tensor<i16>) dimensions = [0]
  %6 = linalg.reduce { arith.andi } ins(%a : tensor<?xi16>) outs(%c : tensor<i16>) dimensions = [0]
  %7 = linalg.reduce { arith.ori } ins(%a : tensor<?xi16>) outs(%c : tensor<i16>) dimensions = [0]
  %8 = linalg.reduce { arith.xori } ins(%a : tensor<?xi16>) outs(%c : tensor<i16>) dimensions = [0]
  return
}
// CHECK: d0 is a PIT axis: complex.add combines result 0{{$}}
// CHECK: d0 is a PIT axis: complex.mul combines result 0{{$}}
func.func @complex_combiners(%a: tensor<?xcomplex<f32>>, %c: tensor<complex<f32>>) {
  %0 = linalg.reduce { complex.add } ins(%a : tensor<?xcomplex<f32>>) outs(%c : tensor<complex<f32>>) dimensions = [0]
  %1 = linalg.reduce { complex.mul } ins(%a : tensor<?xcomplex<f32>>) outs(%c : tensor<complex<f32>>) dimensions = [0]
  return
}

// Several results: d1 is reduced in one, parallel in the other.
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is a PIT axis: arith.maximumf combines result 1 (exact)
// CHECK-NEXT: d1 is a PIT axis: arith.addf combines result 0{{$}}
func.func @several_results(%a: tensor<?x?xf32>, %c: tensor<?xf32>, %d: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x?xf32>) outs(%c, %d : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%x: f32, %sum: f32, %max: f32):
    %s = arith.addf %sum, %x : f32
    %m = arith.maximumf %x, %max : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}

// One value used twice, transposed the second time: A * A^T.
// CHECK-LABEL: linalg.matmul
// CHECK-NEXT: d0 is a PIT axis
// CHECK-NEXT: d1 is a PIT axis
// CHECK-NEXT: d2 is a PIT axis
func.func @used_twice(%a: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul indexing_maps = [#mat, #mbt, #mc]
      ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// linalg.index of another dim does not matter, and that dim may even be
// reduced into a constant place.
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is no PIT axis [C7]: the body reads linalg.index 1
func.func @index_of_other(%a: tensor<?x?xindex>, %c: tensor<?x1xindex>) -> tensor<?x1xindex> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x?xindex>) outs(%c : tensor<?x1xindex>) {
  ^bb0(%x: index, %acc: index):
    %j = linalg.index 1 : index
    %p = arith.muli %x, %j : index
    %s = arith.addi %acc, %p : index
    linalg.yield %s : index
  } -> tensor<?x1xindex>
  return %r : tensor<?x1xindex>
}

// A chain of one combiner, and a captured scalar.
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is a PIT axis: arith.addf combines result 0
func.func @chain(%a: tensor<?xf32>, %b: tensor<?xf32>, %scale: f32, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %scale : f32
    %s = arith.addf %acc, %p : f32
    %t = arith.addf %y, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
