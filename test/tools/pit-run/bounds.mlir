// Bounds that are checked in the program (--pipeline=check-bounds=true).

// RUN: pit-run %s --entry=pick --pipeline=check-bounds=true --arg='full(8,f32,3)' --arg='full(4,i64,7)' --print | FileCheck %s --check-prefix=INSIDE
// INSIDE: result 0: f32 4
// INSIDE-NEXT: 3 3 3 3

// What an index in memory points at is not known before the call; nothing is
// read there.
// RUN: not pit-run %s --entry=pick --pipeline=check-bounds=true --arg='full(8,f32,3)' --arg='full(4,i64,8)' 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND: out of bounds: {{.*}}bounds.mlir:{{.*}}elements from 8 on, 1 of them, along dimension 0, which has 8
// RUN: not pit-run %s --entry=pick --pipeline=check-bounds=true --arg='full(8,f32,3)' --arg='full(4,i64,-9000000000000)' 2>&1 | FileCheck %s --check-prefix=BEFORE
// BEFORE: out of bounds: {{.*}}bounds.mlir:{{.*}}elements from -9000000000000 on
func.func @pick(%a: tensor<8xf32>, %ids: tensor<4xi64>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%ids : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = arith.index_cast %id : i64 to index
    %x = tensor.extract %a[%i] : tensor<8xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
