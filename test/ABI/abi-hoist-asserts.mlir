// RUN: pit-opt %s --split-input-file --pit-abi-hoist-asserts --canonicalize | FileCheck %s
// RUN: pit-opt %s --split-input-file --pit-abi-hoist-asserts=drop=true | FileCheck %s --check-prefix=DROP

// An embedding: its ids are checked once, not once for each column.

#id = affine_map<(i, j) -> (i)>
#row = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @embedding
// CHECK-SAME: (%[[IDS:.*]]: tensor<?xi64>, %[[T:.*]]: tensor<50x4xf32>, %[[O:.*]]: tensor<?x4xf32>)
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 50 : index
// CHECK-DAG: %[[TRUE:.*]] = arith.constant true
// CHECK: %[[INIT:.*]] = linalg.fill ins(%[[TRUE]] : i1)
// CHECK: %[[ALL:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[IDS]] : tensor<?xi64>) outs(%[[INIT]] : tensor<i1>)
// CHECK:   %[[AT:.*]] = arith.index_cast
// CHECK:   %[[FITS:.*]] = arith.cmpi slt, %[[AT]], %[[ROWS]]
// CHECK:   %[[BOTH:.*]] = arith.andi %{{.*}}, %[[FITS]]
// CHECK:   linalg.yield %[[BOTH]]
// CHECK: %[[HOLDS:.*]] = tensor.extract %[[ALL]][]
// CHECK: cf.assert %[[HOLDS]], "the id is too large"
// CHECK: linalg.generic {{.*}}["parallel", "parallel"]} ins(%[[IDS]]
// CHECK-NOT: cf.assert
// CHECK:   tensor.extract %[[T]]
// CHECK-NOT: cf.assert

// DROP-LABEL: func.func @embedding
// DROP-NOT: cf.assert
// DROP-NOT: reduction
// DROP: tensor.extract
// DROP-NOT: cf.assert
func.func @embedding(%ids: tensor<?xi64>, %t: tensor<50x4xf32>, %o: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %n = arith.constant 50 : index
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%o : tensor<?x4xf32>) {
  ^bb0(%x: i64, %y: f32):
    %i = arith.index_cast %x : i64 to index
    %j = linalg.index 1 : index
    %fits = arith.cmpi slt, %i, %n : index
    cf.assert %fits, "the id is too large"
    %v = tensor.extract %t[%i, %j] : tensor<50x4xf32>
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// Loops that no operand of the check has get their extent from one that is not
// read. If another loop has no iteration, nothing is asserted.

#row = affine_map<(i, j, k) -> (i, j, k)>

// CHECK-LABEL: func.func @numbers
// CHECK-SAME: (%[[O:.*]]: tensor<?x?x3xf32>, %[[MOST:.*]]: index)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %[[O]], %[[C0]]
// CHECK-DAG: %[[COLS:.*]] = tensor.dim %[[O]], %c1
// CHECK-DAG: %[[SHAPE:.*]] = tensor.empty(%[[COLS]]) : tensor<?xi1>
// CHECK: %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[SHAPE]] : tensor<?xi1>)
// CHECK:   %[[J:.*]] = linalg.index 0
// CHECK:   arith.cmpi ult, %[[J]], %[[MOST]]
// CHECK: %[[HOLDS:.*]] = tensor.extract %[[ALL]][]
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[ROWS]], %[[C0]]
// CHECK: %[[OR:.*]] = arith.ori %[[HOLDS]], %[[NONE]]
// CHECK: cf.assert %[[OR]], "too many columns"
func.func @numbers(%o: tensor<?x?x3xf32>, %most: index) -> tensor<?x?x3xf32> {
  %r = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%o : tensor<?x?x3xf32>) {
  ^bb0(%y: f32):
    %j = linalg.index 1 : index
    %fits = arith.cmpi ult, %j, %most : index
    cf.assert %fits, "too many columns"
    %v = arith.addf %y, %y : f32
    linalg.yield %v : f32
  } -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// -----

// Each assertion has its text, and is checked before what comes after it.

// CHECK-LABEL: func.func @two
// CHECK: arith.cmpi sge
// CHECK: cf.assert %{{.*}}, "negative"
// CHECK: tensor.extract %{{.*}}[%{{.*}}] : tensor<9xi32>
// CHECK: cf.assert %{{.*}}, "zero"
// CHECK: linalg.generic {{.*}}["parallel"]
#id = affine_map<(i) -> (i)>
func.func @two(%x: tensor<8xi32>, %t: tensor<9xi32>, %o: tensor<8xi32>) -> tensor<8xi32> {
  %zero = arith.constant 0 : i32
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi32>) outs(%o : tensor<8xi32>) {
  ^bb0(%a: i32, %y: i32):
    %p = arith.cmpi sge, %a, %zero : i32
    cf.assert %p, "negative"
    %i = arith.index_cast %a : i32 to index
    %v = tensor.extract %t[%i] : tensor<9xi32>
    %q = arith.cmpi ne, %v, %zero : i32
    cf.assert %q, "zero"
    linalg.yield %v : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}
