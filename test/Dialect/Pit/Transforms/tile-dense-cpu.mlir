// For a CPU contractions are tiled if register blocks hold them: one input has
// the lanes. Others are left to the vectorizer.

// RUN: pit-opt %s --split-input-file --pit-tile-dense="target=avx2" | FileCheck %s
// RUN: pit-opt %s --split-input-file --pit-tile-dense="target=avx2 explain" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// WHY: remark: linalg.matmul is not tiled: the 15 columns of its result fill no vectors; it takes at least 16
// WHY: remark: linalg.matmul is not tiled: fewer than 32 rows meet each of its columns, which would have to be transposed
// WHY: remark: linalg.matvec is not tiled: fewer than 32 rows meet each of its columns
// WHY: remark: linalg.generic is not tiled: it has several results, one element, or asks for the numbers of its iterations
// WHY: remark: linalg.matmul is not tiled: elements are no numbers of 1 byte or more
// WHY-NOT: remark:

// RUN: pit-opt %s --split-input-file --pit-to-tiles=tile-dense=false | FileCheck %s --check-prefix=OFF
// OFF-NOT: pit.forall

// CHECK-LABEL: @matmul
// CHECK:       pit.forall {{.*}} step (64, 96)
// CHECK:         pit.for {{.*}} step (256)
// CHECK:           linalg.matmul ins(%{{.*}} : tensor<64x256xf32>, tensor<256x96xf32>)
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// One row fills lanes, too.
// CHECK-LABEL: @one_row
// CHECK:       pit.forall
func.func @one_row(%a: tensor<1x512xf64>, %b: tensor<512x512xf64>, %c: tensor<1x512xf64>) -> tensor<1x512xf64> {
  %r = linalg.matmul ins(%a, %b : tensor<1x512xf64>, tensor<512x512xf64>) outs(%c : tensor<1x512xf64>) -> tensor<1x512xf64>
  return %r : tensor<1x512xf64>
}

// -----

// Few columns do not.
// CHECK-LABEL: @columns
// CHECK-NOT:   pit.forall
func.func @columns(%a: tensor<512x512xf32>, %b: tensor<512x15xf32>, %c: tensor<512x15xf32>) -> tensor<512x15xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x15xf32>) outs(%c : tensor<512x15xf32>) -> tensor<512x15xf32>
  return %r : tensor<512x15xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// Columns that have to be turned are worth it for many rows.
// CHECK-LABEL: @turned
// CHECK:       pit.forall
func.func @turned(%a: tensor<32x512xf32>, %b: tensor<512x512xf32>, %c: tensor<32x512xf32>) -> tensor<32x512xf32> {
  %r = linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<32x512xf32>, tensor<512x512xf32>) outs(%c : tensor<32x512xf32>) -> tensor<32x512xf32>
  return %r : tensor<32x512xf32>
}

// CHECK-LABEL: @turned_for_few
// CHECK-NOT:   pit.forall
func.func @turned_for_few(%a: tensor<31x512xf32>, %b: tensor<512x512xf32>, %c: tensor<31x512xf32>) -> tensor<31x512xf32> {
  %r = linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<31x512xf32>, tensor<512x512xf32>) outs(%c : tensor<31x512xf32>) -> tensor<31x512xf32>
  return %r : tensor<31x512xf32>
}

// -----

// Lanes would run along the result's only dim, which both inputs have or which
// is a dim of rows.
// CHECK-LABEL: @matvec
// CHECK-NOT:   pit.forall
func.func @matvec(%a: tensor<512x512xf32>, %x: tensor<512xf32>, %y: tensor<512xf32>) -> tensor<512xf32> {
  %r = linalg.matvec ins(%a, %x : tensor<512x512xf32>, tensor<512xf32>) outs(%y : tensor<512xf32>) -> tensor<512xf32>
  return %r : tensor<512xf32>
}

// -----

// What has to know where it is has no blocks, nor have single bits.
// CHECK-LABEL: @positions
// CHECK-NOT:   pit.forall
func.func @positions(%a: tensor<64x64xi64>, %b: tensor<64x64xi64>, %c: tensor<64x64xi64>) -> tensor<64x64xi64> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xi64>, tensor<64x64xi64>) outs(%c : tensor<64x64xi64>) {
  ^bb0(%x: i64, %y: i64, %z: i64):
    %k = linalg.index 2 : index
    %i = arith.index_cast %k : index to i64
    %p = arith.muli %x, %y : i64
    %q = arith.muli %p, %i : i64
    %s = arith.addi %z, %q : i64
    linalg.yield %s : i64
  } -> tensor<64x64xi64>
  return %r : tensor<64x64xi64>
}

// CHECK-LABEL: @bits
// CHECK-NOT:   pit.forall
func.func @bits(%a: tensor<64x64xi1>, %b: tensor<64x64xi1>, %c: tensor<64x64xi1>) -> tensor<64x64xi1> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xi1>, tensor<64x64xi1>) outs(%c : tensor<64x64xi1>) -> tensor<64x64xi1>
  return %r : tensor<64x64xi1>
}
