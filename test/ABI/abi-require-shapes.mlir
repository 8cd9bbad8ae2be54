// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-abi-require-shapes))' --split-input-file | FileCheck %s

// The words of a requirement: 0 (equal) or 1 (at least), then two programs, each
// after its length; 1, a, d is dimension d of argument a, 0, c a constant, 2
// and 3 are sum and product; 8, a is the value of argument a.

// Columns of a = rows of b, and the result fits; rows of c = rows of a.
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: pit.require = array<i64: 3,
// CHECK-SAME: 0, 3, 1, 1, 0, 3, 1, 0, 1,
// CHECK-SAME: 0, 3, 1, 2, 0, 3, 1, 0, 0,
// CHECK-SAME: 0, 3, 1, 2, 1, 3, 1, 1, 1>
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>)
         outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// A chain says each thing once; a static size is what a dynamic one must be.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: pit.require = array<i64: 1, 0, 3, 1, 1, 0, 2, 0, 8>
func.func @chain(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>, %c: tensor<4x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x8xf32>, tensor<?x8xf32>)
         outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %q = linalg.matmul ins(%r, %b : tensor<?x8xf32>, tensor<?x8xf32>)
         outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s = arith.addf %q, %a : tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}

// Sizes that need no check need no attribute.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: pit.require
// CHECK: return
func.func @nothing(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>)
         outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// Windows lie inside the image: h >= (oh - 1) * 2 + (kh - 1) + 1.
// CHECK-LABEL: func.func @convolution
// CHECK-SAME: pit.require = array<i64: 1,
// CHECK-SAME: 1, 3, 1, 0, 2, 13, 1, 1, 2, 1, 2, 2, 0, 2, 3, 2, 0, -2, 2>
func.func @convolution(%i: tensor<1x4x?x9xf32>, %f: tensor<8x4x?x3xf32>, %o: tensor<1x8x?x4xf32>) -> tensor<1x8x?x4xf32> {
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>}
         ins(%i, %f : tensor<1x4x?x9xf32>, tensor<8x4x?x3xf32>)
         outs(%o : tensor<1x8x?x4xf32>) -> tensor<1x8x?x4xf32>
  return %r : tensor<1x8x?x4xf32>
}

// If the output's size is computed from the image's, nothing can go wrong.
// CHECK-LABEL: func.func @exact
// CHECK-NOT: pit.require
// CHECK: return
func.func @exact(%i: tensor<?xf32>, %f: tensor<3xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %i, %c0 : tensor<?xf32>
  %m = arith.subi %n, %c2 : index
  %o = tensor.empty(%m) : tensor<?xf32>
  %r = linalg.conv_1d ins(%i, %f : tensor<?xf32>, tensor<3xf32>)
         outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A mask has the shape of what it marks, lengths its first dimensions, an
// routing its tokens, an index its own shape.
// CHECK-LABEL: func.func @marks
// CHECK-SAME: pit.require = array<i64: 6,
// CHECK-SAME: 0, 3, 1, 1, 0, 3, 1, 0, 0, 0, 3, 1, 1, 1, 3, 1, 0, 1,
// CHECK-SAME: 0, 3, 1, 2, 0, 3, 1, 0, 0,
// CHECK-SAME: 0, 3, 1, 3, 0, 3, 1, 0, 0,
// CHECK-SAME: 0, 3, 1, 4, 0, 3, 1, 0, 0, 0, 3, 1, 4, 1, 3, 1, 0, 1>
func.func @marks(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>, %l: tensor<?xi32>, %t: tensor<?x2xi32>,
                 %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  %0 = pit.sparse %x mask(%m : tensor<?x?xi1>) : tensor<?x?xf32>
  %1 = pit.sparse %x lengths(%l : tensor<?xi32>) : tensor<?x?xf32>
  %2 = pit.sparse %x routing(%t : tensor<?x2xi32>) : tensor<?x?xf32>
  %y = tensor.cast %x : tensor<?x?xf32> to tensor<?x?xf32>
  %3 = pit.sparse %y index(%i : !pit.index<micro_tile = [1, *], axis = 0>) : tensor<?x?xf32>
  return
}

// A cast claims a size, an expansion that it divides, a slice that it is inside.
// CHECK-LABEL: func.func @tensors
// CHECK-SAME: pit.require = array<i64: 4,
// CHECK-SAME: 0, 3, 1, 0, 0, 2, 0, 4,
// CHECK-SAME: 0, 3, 1, 1, 0, 9, 1, 1, 0, 0, 3, 4, 0, 3, 3,
// CHECK-SAME: 1, 3, 1, 1, 0, 2, 0, 7,
// CHECK-SAME: 1, 3, 1, 1, 0, 2, 0, 10>
func.func @tensors(%a: tensor<?xf32>, %b: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %0 = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
  %n = tensor.dim %b, %c0 : tensor<?xf32>
  %q = arith.divui %n, %c3 : index
  %1 = tensor.expand_shape %b [[0, 1]] output_shape [%q, 3] : tensor<?xf32> into tensor<?x3xf32>
  %2 = tensor.extract_slice %b[2] [5] [1] : tensor<?xf32> to tensor<5xf32>
  %3 = tensor.extract %b[%c9] : tensor<?xf32>
  return
}

// Integer arguments: a slice at %n of %m elements, and an element.
// CHECK-LABEL: func.func @scalars
// CHECK-SAME: pit.require = array<i64: 5,
// CHECK-SAME: 1, 3, 1, 0, 0, 5, 8, 1, 8, 2, 2,
// CHECK-SAME: 1, 2, 8, 1, 2, 0, 0,
// CHECK-SAME: 1, 2, 8, 2, 2, 0, 0,
// CHECK-SAME: 1, 3, 1, 0, 0, 5, 8, 1, 0, 1, 2,
// CHECK-SAME: 0, 3, 1, 3, 0, 2, 8, 2>
func.func @scalars(%a: tensor<?xf32>, %n: index, %m: index, %b: tensor<?xf32>) {
  %0 = tensor.extract_slice %a[%n] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  %1 = tensor.extract %a[%n] : tensor<?xf32>
  %2 = arith.addf %0, %b : tensor<?xf32>
  return
}

// What may not be run requires nothing.
// CHECK-LABEL: func.func @branch
// CHECK-NOT: pit.require
// CHECK: return
func.func @branch(%a: tensor<?xf32>, %b: tensor<?xf32>, %p: i1) -> tensor<?xf32> {
  %r = scf.if %p -> tensor<?xf32> {
    %s = arith.addf %a, %b : tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  } else {
    scf.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// Tiles: what the same variable or ids cut apart is of one size, and ids count
// along the axis of what their index is built from. Groups start where rows do.
// CHECK-LABEL: func.func @tiles
// CHECK-SAME: pit.require = array<i64: 4,
// Rows of b and elements of v are columns of a;
// CHECK-SAME: 0, 3, 1, 1, 0, 3, 1, 0, 1,
// CHECK-SAME: 0, 3, 1, 3, 0, 3, 1, 0, 1,
// rows of the result are those of a, its columns those of b.
// CHECK-SAME: 0, 3, 1, 2, 0, 3, 1, 0, 0,
// CHECK-SAME: 0, 3, 1, 2, 1, 3, 1, 1, 1>
func.func @tiles(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %v: tensor<?xf32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %i = pit.index %a : tensor<?x?xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %r = pit.forall (%m, %k) = (%c0, %c0) to (%n, %n) step (32, 64) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %e = tensor.empty() : tensor<32x64xf32>
    %s = pit.for %ids at %pos in %i[%m] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 16 iter_args(%x = %e) -> (tensor<32x64xf32>) {
      %at = pit.sread %a[%m, %ids : !pit.ids<16>] : tensor<?x?xf32> -> tensor<32x16xf32>
      %bt = pit.sread %b[%ids : !pit.ids<16>, %k] : tensor<?x?xf32> -> tensor<16x64xf32>
      %vt = pit.sread %v[%ids : !pit.ids<16>] : tensor<?xf32> -> tensor<16xf32>
      %y = linalg.matmul ins(%at, %bt : tensor<32x16xf32>, tensor<16x64xf32>) outs(%x : tensor<32x64xf32>) -> tensor<32x64xf32>
      pit.yield %y : tensor<32x64xf32>
    }
    %w = pit.swrite %s into %o[%m, %k] : tensor<32x64xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// A variable plus an offset is another one: a window of three elements.
// CHECK-LABEL: func.func @window
// CHECK-NOT: pit.require
// CHECK: return
func.func @window(%a: tensor<34xf32>, %c: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %r = pit.forall (%i) = (%c0) to (%c32) step (8) iter_args(%o = %c) -> (tensor<32xf32>) {
    %j = arith.addi %i, %c2 : index
    %t = pit.sread %a[%j] : tensor<34xf32> -> tensor<8xf32>
    %w = pit.swrite %t into %o[%i] : tensor<8xf32> into tensor<32xf32>
    pit.yield %w : tensor<32xf32>
  }
  return %r : tensor<32xf32>
}

// The program computes the size of what it writes: nothing is said of it.
// CHECK-LABEL: func.func @differences
// CHECK-NOT: pit.require
// CHECK: return
func.func @differences(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %N = tensor.dim %x, %c0 : tensor<?xf32>
  %n = arith.subi %N, %c1 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = pit.forall (%i) = (%c0) to (%n) step (8) iter_args(%o = %e) -> (tensor<?xf32>) {
    %t = pit.sread %x[%i] : tensor<?xf32> -> tensor<8xf32>
    %w = pit.swrite %t into %o[%i] : tensor<8xf32> into tensor<?xf32>
    pit.yield %w : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}
