// RUN: pit-opt %s -pit-plan="choice=run-time tile-table=%S/Inputs/costs.json" -canonicalize -split-input-file -verify-diagnostics | FileCheck %s
// RUN: pit-opt %s -pit-plan="tile-table=%S/Inputs/costs.json" -split-input-file | FileCheck %s --check-prefix=NOW

// The variants' times follow from the table and the sizes: 1 ns for a product of
// the dense program, 2 ns of single elements, 1 ns of whole rows, 10 ns for the
// list of a group and 128 columns. Vectors have 8 or 16 lanes, so 304 columns are
// computed. Looking takes 2 ns an element.

// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[A:.*]]: tensor<10x20xf32>
// NOW-LABEL: func.func @product(
// NOW-NOT: pit.choose
func.func @product(%a: tensor<10x20xf32>, %b: tensor<20x300xf32>, %bias: tensor<10x300xf32>) -> tensor<10x300xf32> {
  %zero = arith.constant 0.0 : f32
  %s = pit.sparse %a : tensor<10x20xf32>
  %e = tensor.empty() : tensor<10x300xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10x300xf32>) -> tensor<10x300xf32>
  // CHECK-DAG: %[[DENSE:.*]] = arith.constant 6.080000e+04 : f64
  // CHECK-DAG: %[[LIVE_ROW:.*]] = arith.constant 6.080000e+03 : f64
  // CHECK-DAG: %[[LIVE_ONE:.*]] = arith.constant 6.080000e+02 : f64
  // CHECK-DAG: %[[LISTS:.*]] = arith.constant 7.000000e+02 : f64
  // CHECK-DAG: %[[LIST:.*]] = arith.constant 4.300000e+02 : f64
  // CHECK: %[[V:.*]], %[[BITS:.*]] = pit.choose %[[A]] of [!pit.index<micro_tile = [1, *], axis = 0>, !pit.index<micro_tile = [1, 1], axis = 1>]
  // CHECK-SAME: dense(%[[DENSE]]) fixed(%[[LIST]], %[[LISTS]]) live(%[[LIVE_ROW]], %[[LIVE_ONE]])
  // CHECK: %[[IS_ROWS:.*]] = arith.cmpi eq, %[[V]], %c1
  // CHECK: %[[R:.*]] = scf.if %[[IS_ROWS]]
  // CHECK: %[[I:.*]] = pit.index %[[A]] seen(%[[BITS]]) : {{.*}}micro_tile = [1, *], axis = 0
  // CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0
  // What follows goes along.
  // CHECK: linalg.add
  // CHECK: } else {
  // CHECK: scf.if
  // CHECK: pit.index %[[A]] seen(%[[BITS]]) : {{.*}}micro_tile = [1, 1], axis = 1
  // CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1
  // CHECK: linalg.add
  // CHECK: } else {
  // CHECK: linalg.matmul ins(%[[A]],
  // CHECK: linalg.add
  // CHECK: return %[[R]]
  %m = linalg.matmul ins(%s, %b : tensor<10x20xf32>, tensor<20x300xf32>) outs(%f : tensor<10x300xf32>) -> tensor<10x300xf32>
  %r = linalg.add ins(%m, %bias : tensor<10x300xf32>, tensor<10x300xf32>) outs(%e : tensor<10x300xf32>) -> tensor<10x300xf32>
  return %r : tensor<10x300xf32>
}

// -----

// Sizes that are not known are counted at run time.

// CHECK-LABEL: func.func @dynamic(
// CHECK: arith.uitofp
// CHECK: pit.choose
func.func @dynamic(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// Each element is used twice: looking at it takes as long.

// CHECK-LABEL: func.func @few_columns(
// CHECK-SAME: %[[A:.*]]: tensor<10x20xf32>
// CHECK-NOT: pit.choose
// CHECK: linalg.matmul ins(%[[A]],
func.func @few_columns(%a: tensor<10x20xf32>, %b: tensor<20x2xf32>, %c: tensor<10x2xf32>) -> tensor<10x2xf32> {
  %s = pit.sparse %a : tensor<10x20xf32>
  // expected-remark @+1 {{stays dense: each element of operand 0 is used so rarely that scanning for zeros takes longer}}
  %r = linalg.matmul ins(%s, %b : tensor<10x20xf32>, tensor<20x2xf32>) outs(%c : tensor<10x2xf32>) -> tensor<10x2xf32>
  return %r : tensor<10x2xf32>
}

// -----

// A rule of the user's, and sources that no bitmap is made of, have no choice.

// CHECK-LABEL: func.func @none(
// CHECK-NOT: pit.choose
func.func @none(%a: tensor<32x64xf32>, %l: tensor<32xi32>, %b: tensor<64x128xf32>, %c: tensor<32x128xf32>)
    -> (tensor<32x128xf32>, tensor<32x128xf32>) {
  %s = pit.sparse %a rule(#pit.rule<axis = 1>) : tensor<32x64xf32>
  %t = pit.sparse %a lengths(%l : tensor<32xi32>) : tensor<32x64xf32>
  %x = linalg.matmul ins(%s, %b : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  %y = linalg.matmul ins(%t, %b : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %x, %y : tensor<32x128xf32>, tensor<32x128xf32>
}

// -----

// Types without costs take those of f32: f64 twice, narrow ones once.

// CHECK-LABEL: func.func @types(
func.func @types(%a: tensor<32x64xf64>, %b: tensor<64x128xf64>, %c: tensor<32x128xf64>,
                 %h: tensor<32x64xf16>, %g: tensor<64x128xf16>, %d: tensor<32x128xf32>)
    -> (tensor<32x128xf64>, tensor<32x128xf32>) {
  // CHECK-DAG: %[[DENSE:.*]] = arith.constant 2.621440e+05 : f64
  // CHECK-DAG: %[[DOUBLE:.*]] = arith.constant 5.242880e+05 : f64
  // CHECK: pit.choose %{{.*}} dense(%[[DOUBLE]])
  // CHECK: pit.choose %{{.*}} dense(%[[DENSE]])
  %s = pit.sparse %a : tensor<32x64xf64>
  %t = pit.sparse %h : tensor<32x64xf16>
  %x = linalg.matmul ins(%s, %b : tensor<32x64xf64>, tensor<64x128xf64>) outs(%c : tensor<32x128xf64>) -> tensor<32x128xf64>
  %y = linalg.matmul ins(%t, %g : tensor<32x64xf16>, tensor<64x128xf16>) outs(%d : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %x, %y : tensor<32x128xf64>, tensor<32x128xf32>
}

// -----

// A mask is looked at in place of the values. The dense variant selects by it.

// CHECK-LABEL: func.func @mask(
// CHECK-SAME: %[[A:.*]]: tensor<32x64xf32>, %[[M:.*]]: tensor<32x64xi1>
func.func @mask(%a: tensor<32x64xf32>, %m: tensor<32x64xi1>, %b: tensor<64x128xf32>, %c: tensor<32x128xf32>) -> tensor<32x128xf32> {
  // CHECK: %{{.*}}, %[[BITS:.*]] = pit.choose %[[M]] mask of
  // CHECK: pit.index mask %[[M]] seen(%[[BITS]])
  // CHECK: pit.index mask %[[M]] seen(%[[BITS]])
  // CHECK: } else {
  // CHECK: %[[S:.*]] = pit.sparse %[[A]] mask(%[[M]]
  // CHECK: linalg.matmul ins(%[[S]],
  %s = pit.sparse %a mask(%m : tensor<32x64xi1>) : tensor<32x64xf32>
  %r = linalg.matmul ins(%s, %b : tensor<32x64xf32>, tensor<64x128xf32>) outs(%c : tensor<32x128xf32>) -> tensor<32x128xf32>
  return %r : tensor<32x128xf32>
}

// -----

// Groups of the right operand are columns: as few as fill a vector.

// CHECK-LABEL: func.func @right(
// CHECK-SAME: tensor<32x64xf32>, %[[B:.*]]: tensor<64x256xf32>
func.func @right(%a: tensor<32x64xf32>, %b: tensor<64x256xf32>, %c: tensor<32x256xf32>) -> tensor<32x256xf32> {
  // CHECK: pit.choose %[[B]] of [
  // CHECK-SAME: !pit.index<micro_tile = [1, 16], axis = 0>
  %s = pit.sparse %b : tensor<64x256xf32>
  %r = linalg.matmul ins(%a, %s : tensor<32x64xf32>, tensor<64x256xf32>) outs(%c : tensor<32x256xf32>) -> tensor<32x256xf32>
  return %r : tensor<32x256xf32>
}

// -----

// Of two marks the second is scanned where the first one is not worth it.

// CHECK-LABEL: func.func @both(
// CHECK-SAME: %[[A:.*]]: tensor<32x64xf32>, %[[B:.*]]: tensor<64x256xf32>
func.func @both(%a: tensor<32x64xf32>, %b: tensor<64x256xf32>, %c: tensor<32x256xf32>) -> tensor<32x256xf32> {
  // CHECK: pit.choose %[[A]]
  // CHECK: pit.index %[[A]]
  // CHECK: pit.index %[[A]]
  // CHECK: pit.choose %[[B]]
  // CHECK: pit.index %[[B]]
  // CHECK: linalg.matmul ins(%[[A]], %[[B]]
  %s = pit.sparse %a : tensor<32x64xf32>
  %t = pit.sparse %b : tensor<64x256xf32>
  %r = linalg.matmul ins(%s, %t : tensor<32x64xf32>, tensor<64x256xf32>) outs(%c : tensor<32x256xf32>) -> tensor<32x256xf32>
  return %r : tensor<32x256xf32>
}

// -----

// A value that is both operands is scanned once, as one of them.
// CHECK-LABEL: func.func @both
// CHECK: pit.choose
// CHECK-NOT: pit.choose
func.func @both(%a: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%s, %s : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
