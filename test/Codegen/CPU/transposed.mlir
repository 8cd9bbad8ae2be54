// RUN: pit-opt %s --split-input-file --pit-tiles-to-loops | FileCheck %s
// RUN: pit-opt %s --split-input-file --pit-tiles-to-loops='vector-width=256' | FileCheck %s --check-prefix=AVX2

// Columns of C by ids: lanes run along its rows. A's rows become panels, squares
// of lanes at a time: segments of 128 bits are interleaved, then they change
// places. B is transposed if the index names enough of its columns.

// CHECK-LABEL: func.func @wanted
// CHECK: scf.parallel
// CHECK-COUNT-16: vector.load %arg1
// CHECK: vector.shuffle {{.*}} [0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29] : vector<16xf32>, vector<16xf32>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27] : vector<16xf32>, vector<16xf32>
// CHECK: %[[OFTEN:.*]] = arith.cmpi sgt
// CHECK: scf.if %[[OFTEN]] {
// CHECK:   scf.parallel
// CHECK-COUNT-16: vector.load %arg2
// CHECK: scf.parallel
// CHECK:   %[[B:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x64xf32>
// CHECK:   scf.if %[[OFTEN]] {
// CHECK:     vector.maskedload
// CHECK:     vector.store {{.*}}, %[[B]]
// CHECK:   } else {
// CHECK:     memref.store {{.*}}, %[[B]]
// Rows of the block are columns of C.
// CHECK:   scf.for {{.*}} step %c4 iter_args
// CHECK:     memref.load %[[B]]
// CHECK:     vector.broadcast
// And sums go there one by one, those of four rows with each id that exists.
// CHECK:   vector.store {{.*}} : memref<64x32xf32>
// CHECK:   scf.for {{.*}} step %c4 {
// CHECK:     memref.load {{.*}} : memref<?xi32>
// CHECK:     scf.if
// CHECK-COUNT-4: memref.load {{.*}} : memref<64x32xf32>
// CHECK-COUNT-4: memref.store {{.*}} : memref<?x?xf32>
// CHECK:   memref.load {{.*}} : memref<64x32xf32>
// CHECK:   memref.store {{.*}} : memref<?x?xf32>

// AVX2-LABEL: func.func @wanted
// AVX2: vector.shuffle {{.*}} [0, 8, 1, 9, 4, 12, 5, 13] : vector<8xf32>, vector<8xf32>
// AVX2: vector.shuffle {{.*}} [2, 10, 3, 11, 6, 14, 7, 15] : vector<8xf32>, vector<8xf32>
// AVX2: vector.shuffle {{.*}} [0, 1, 2, 3, 8, 9, 10, 11] : vector<8xf32>, vector<8xf32>
// AVX2: vector.shuffle {{.*}} [4, 5, 6, 7, 12, 13, 14, 15] : vector<8xf32>, vector<8xf32>
func.func @wanted(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %mask: tensor<?x?xi8>, %c: tensor<?x?xf32>, %m: index, %k: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %cst = arith.constant 0.0 : f32
  %i = pit.index mask %mask : tensor<?x?xi8> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %r = pit.forall (%x) = (%c0) to (%m) step (32) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %q = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%p = %o) -> (tensor<?x?xf32>) {
      %t = tensor.empty() : tensor<32x64xf32>
      %acc = linalg.fill ins(%cst : f32) outs(%t : tensor<32x64xf32>) -> tensor<32x64xf32>
      %sum = pit.for (%z) = (%c0) to (%k) step (64) iter_args(%s = %acc) -> (tensor<32x64xf32>) {
        %at = pit.sread %a[%x, %z] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x64xf32>
        %bt = pit.sread %b[%z, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<64x64xf32>
        %w = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x64xf32>) outs(%s : tensor<32x64xf32>) -> tensor<32x64xf32>
        pit.yield %w : tensor<32x64xf32>
      }
      %w = pit.swrite %sum into %p[%x, %ids : !pit.ids<64>] : tensor<32x64xf32> into tensor<?x?xf32>
      pit.yield %w : tensor<?x?xf32>
    }
    pit.yield %q : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// Inside of another loop nothing can be packed for all tiles: the tile is transposed
// element by element. bf16 is extended by it.

// CHECK-LABEL: func.func @alone
// CHECK: %[[B:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x32xf32>
// CHECK: %[[E:.*]] = memref.load %{{.*}} : memref<?x64xbf16>
// CHECK: %[[X:.*]] = arith.extf %[[E]]
// CHECK: memref.store %[[X]], %[[B]]
// CHECK: vector.load %[[B]]{{.*}} vector<16xf32>
func.func @alone(%a: tensor<?x64xbf16>, %b: tensor<?x64xbf16>, %c: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %r = scf.for %x = %c0 to %m step %c32 iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %t = pit.forall (%y) = (%c0) to (%n) step (32) iter_args(%p = %o) -> (tensor<?x?xf32>) {
      %acc = pit.sread %p[%x, %y] : tensor<?x?xf32> -> tensor<32x32xf32>
      %at = pit.sread %a[%x, %c0] pad(0.0 : bf16) : tensor<?x64xbf16> -> tensor<32x64xbf16>
      %bt = pit.sread %b[%y, %c0] pad(0.0 : bf16) : tensor<?x64xbf16> -> tensor<32x64xbf16>
      %s = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%at, %bt : tensor<32x64xbf16>, tensor<32x64xbf16>) outs(%acc : tensor<32x32xf32>) -> tensor<32x32xf32>
      %w = pit.swrite %s into %p[%x, %y] : tensor<32x32xf32> into tensor<?x?xf32>
      pit.yield %w : tensor<?x?xf32>
    }
    scf.yield %t : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// Groups of columns add to the same elements of C: all columns of the tile's
// rows are transposed, added to as vectors, and transposed back. That is not worth it if
// the index names few.

// CHECK-LABEL: func.func @kept
// CHECK: %[[TOTAL:.*]] = arith.index_cast
// CHECK: %[[OFTEN:.*]] = arith.cmpi sgt, %{{.*}}, %{{.*}} : index
// CHECK: %[[ALL:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<?x?x64xf32>
// CHECK: scf.parallel (%[[M:.*]]) = 
// CHECK:   %[[TILE:.*]] = memref.subview %[[ALL]][%{{.*}}, 0, 0] [1, %{{.*}}, 64] [1, 1, 1]
// CHECK:   scf.if %{{.*}} {
// CHECK-COUNT-16: vector.load %[[C:.*]][%{{.*}}, %{{.*}}] : memref<?x?xf32>, vector<16xf32>
// CHECK:     vector.store {{.*}}, %[[TILE]]
// CHECK:     scf.for
// CHECK:       scf.for
// CHECK:         vector.load %[[TILE]]
// CHECK:         vector.store {{.*}}, %[[TILE]]
// CHECK:     vector.load %[[TILE]]
// CHECK:     vector.store {{.*}}, %[[C]]
// CHECK:     vector.maskedload %[[TILE]]
// CHECK:     vector.maskedstore %[[C]]
// CHECK:   } else {
// CHECK-NOT:   %[[TILE]][
// CHECK:       memref.store {{.*}}, %[[C]]
func.func @kept(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %m: index, %k: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %i = pit.index %b : tensor<?x?xf32> -> !pit.index<micro_tile = [64, 1], axis = 1>
  %r = pit.forall (%x) = (%c0) to (%m) step (64) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %q = pit.for (%z) = (%c0) to (%k) step (64) iter_args(%p = %o) -> (tensor<?x?xf32>) {
      %y = pit.for %ids at %pos in %i[%z] : !pit.index<micro_tile = [64, 1], axis = 1> chunk 64 iter_args(%s = %p) -> (tensor<?x?xf32>) {
        %acc = pit.sread %s[%x, %ids : !pit.ids<64>] : tensor<?x?xf32> -> tensor<64x64xf32>
        %at = pit.sread %a[%x, %z] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<64x64xf32>
        %bt = pit.sread %b[%z, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<64x64xf32>
        %w = linalg.matmul ins(%at, %bt : tensor<64x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
        %t = pit.swrite %w into %s[%x, %ids : !pit.ids<64>] : tensor<64x64xf32> into tensor<?x?xf32>
        pit.yield %t : tensor<?x?xf32>
      }
      pit.yield %y : tensor<?x?xf32>
    }
    pit.yield %q : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// A factor of the sums meets the transposed ones in vectors: it has the lanes last.

// CHECK-LABEL: func.func @kept_with_factor
// CHECK: vector.load %arg3[%{{.*}}, %{{.*}}] : memref<2x?xf32>, vector<16xf32>
func.func @kept_with_factor(%a: tensor<?x?xf32>, %b: tensor<2x?x?xf32>, %f: tensor<2x?xf32>, %c: tensor<?x?xf32>, %m: index, %k: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %i = pit.index %b : tensor<2x?x?xf32> -> !pit.index<micro_tile = [1, 32, 1], axis = 2>
  %r = pit.forall (%x) = (%c0) to (%m) step (32) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %q = pit.for (%e, %z) = (%c0, %c0) to (%c2, %k) step (1, 32) iter_args(%p = %o) -> (tensor<?x?xf32>) {
      %y = pit.for %ids at %pos in %i[%e, %z] : !pit.index<micro_tile = [1, 32, 1], axis = 2> chunk 64 iter_args(%s = %p) -> (tensor<?x?xf32>) {
        %old = pit.sread %s[%x, %ids : !pit.ids<64>] : tensor<?x?xf32> -> tensor<32x64xf32>
        %t = tensor.empty() : tensor<32x64xf32>
        %acc = linalg.fill ins(%zero : f32) outs(%t : tensor<32x64xf32>) -> tensor<32x64xf32>
        %at = pit.sread %a[%x, %z] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x32xf32>
        %bt = pit.sread %b[%e, %z, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<2x?x?xf32> -> tensor<1x32x64xf32>
        %w = linalg.generic {indexing_maps = [affine_map<(t, n, e, k) -> (t, k)>, affine_map<(t, n, e, k) -> (e, k, n)>, affine_map<(t, n, e, k) -> (t, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%at, %bt : tensor<32x32xf32>, tensor<1x32x64xf32>) outs(%acc : tensor<32x64xf32>) {
        ^bb0(%u: f32, %v: f32, %sum: f32):
          %uv = arith.mulf %u, %v : f32
          %next = arith.addf %sum, %uv : f32
          linalg.yield %next : f32
        } -> tensor<32x64xf32>
        %ft = pit.sread %f[%e, %x] pad(0.0 : f32) : tensor<2x?xf32> -> tensor<1x32xf32>
        %scaled = linalg.generic {indexing_maps = [affine_map<(t, n) -> (0, t)>, affine_map<(t, n) -> (t, n)>, affine_map<(t, n) -> (t, n)>], iterator_types = ["parallel", "parallel"]} ins(%ft, %w : tensor<1x32xf32>, tensor<32x64xf32>) outs(%old : tensor<32x64xf32>) {
        ^bb0(%u: f32, %v: f32, %sum: f32):
          %uv = arith.mulf %u, %v : f32
          %next = arith.addf %sum, %uv : f32
          linalg.yield %next : f32
        } -> tensor<32x64xf32>
        %new = pit.swrite %scaled into %s[%x, %ids : !pit.ids<64>] : tensor<32x64xf32> into tensor<?x?xf32>
        pit.yield %new : tensor<?x?xf32>
      }
      pit.yield %y : tensor<?x?xf32>
    }
    pit.yield %q : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// If it has not, results are not transposed, and sums meet it one by one.

// CHECK-LABEL: func.func @factor_by_elements
// CHECK-NOT: vector.{{(masked)?}}load %arg3
// CHECK: memref.load %arg3[%{{.*}}, %{{.*}}] : memref<?x2xf32>
// CHECK-NOT: vector.{{(masked)?}}load %arg3
// CHECK: return
func.func @factor_by_elements(%a: tensor<?x?xf32>, %b: tensor<2x?x?xf32>, %f: tensor<?x2xf32>, %c: tensor<?x?xf32>, %m: index, %k: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %i = pit.index %b : tensor<2x?x?xf32> -> !pit.index<micro_tile = [1, 32, 1], axis = 2>
  %r = pit.forall (%x) = (%c0) to (%m) step (32) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %q = pit.for (%e, %z) = (%c0, %c0) to (%c2, %k) step (1, 32) iter_args(%p = %o) -> (tensor<?x?xf32>) {
      %y = pit.for %ids at %pos in %i[%e, %z] : !pit.index<micro_tile = [1, 32, 1], axis = 2> chunk 64 iter_args(%s = %p) -> (tensor<?x?xf32>) {
        %old = pit.sread %s[%x, %ids : !pit.ids<64>] : tensor<?x?xf32> -> tensor<32x64xf32>
        %t = tensor.empty() : tensor<32x64xf32>
        %acc = linalg.fill ins(%zero : f32) outs(%t : tensor<32x64xf32>) -> tensor<32x64xf32>
        %at = pit.sread %a[%x, %z] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x32xf32>
        %bt = pit.sread %b[%e, %z, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<2x?x?xf32> -> tensor<1x32x64xf32>
        %w = linalg.generic {indexing_maps = [affine_map<(t, n, e, k) -> (t, k)>, affine_map<(t, n, e, k) -> (e, k, n)>, affine_map<(t, n, e, k) -> (t, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%at, %bt : tensor<32x32xf32>, tensor<1x32x64xf32>) outs(%acc : tensor<32x64xf32>) {
        ^bb0(%u: f32, %v: f32, %sum: f32):
          %uv = arith.mulf %u, %v : f32
          %next = arith.addf %sum, %uv : f32
          linalg.yield %next : f32
        } -> tensor<32x64xf32>
        %ft = pit.sread %f[%x, %e] pad(0.0 : f32) : tensor<?x2xf32> -> tensor<32x1xf32>
        %scaled = linalg.generic {indexing_maps = [affine_map<(t, n) -> (t, 0)>, affine_map<(t, n) -> (t, n)>, affine_map<(t, n) -> (t, n)>], iterator_types = ["parallel", "parallel"]} ins(%ft, %w : tensor<32x1xf32>, tensor<32x64xf32>) outs(%old : tensor<32x64xf32>) {
        ^bb0(%u: f32, %v: f32, %sum: f32):
          %uv = arith.mulf %u, %v : f32
          %next = arith.addf %sum, %uv : f32
          linalg.yield %next : f32
        } -> tensor<32x64xf32>
        %new = pit.swrite %scaled into %s[%x, %ids : !pit.ids<64>] : tensor<32x64xf32> into tensor<?x?xf32>
        pit.yield %new : tensor<?x?xf32>
      }
      pit.yield %y : tensor<?x?xf32>
    }
    pit.yield %q : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// Columns of B have ids of their own along k: A, which they all read, is transposed
// if they name enough of it, and tiles copy parts of its columns.

// CHECK-LABEL: func.func @chosen
// CHECK: arith.cmpi sgt
// CHECK: %[[OFTEN:.*]] = arith.cmpi sgt
// CHECK: %[[TURNED:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<?x?xf32>
// CHECK: scf.if %[[OFTEN]] {
// CHECK:   scf.parallel
// CHECK-COUNT-16: vector.load %arg1
// CHECK:     vector.store {{.*}}, %[[TURNED]]
// CHECK: scf.parallel
// CHECK:   %[[A:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x32xf32>
// CHECK:   scf.if %[[OFTEN]] {
// CHECK:     scf.for
// CHECK:       vector.maskedload %[[TURNED]]
// CHECK:       vector.store {{.*}}, %[[A]]
// CHECK:   } else {
// CHECK:     memref.load %arg1
// CHECK:     memref.store {{.*}}, %[[A]]
// CHECK:   scf.for {{.*}} step %c4 iter_args
// CHECK:     memref.load %[[A]]
func.func @chosen(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %i = pit.index %b : tensor<?x?xf32> -> !pit.index<micro_tile = [1, 64], axis = 0>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 64) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %acc = pit.sread %o[%x, %y] : tensor<?x?xf32> -> tensor<32x64xf32>
    %sum = pit.for %ids at %pos in %i[%y] : !pit.index<micro_tile = [1, 64], axis = 0> chunk 64 iter_args(%s = %acc) -> (tensor<32x64xf32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x64xf32>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<64x64xf32>
      %w = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x64xf32>) outs(%s : tensor<32x64xf32>) -> tensor<32x64xf32>
      pit.yield %w : tensor<32x64xf32>
    }
    %w = pit.swrite %sum into %o[%x, %y] : tensor<32x64xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// Here no other tile reads what one reads of A.

// CHECK-LABEL: func.func @once
// CHECK-NOT: vector.shuffle
// CHECK: %[[A:.*]] = memref.alloca() {alignment = 64 : i64} : memref<32x64xf32>
// CHECK: vector.gather %arg1
// CHECK: vector.store {{.*}}, %[[A]]
// CHECK-NOT: vector.shuffle
func.func @once(%a: tensor<?x?xf32>, %b: tensor<?x64xf32>, %c: tensor<?x64xf32>, %m: index) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %i = pit.index %a : tensor<?x?xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %r = pit.forall (%x) = (%c0) to (%m) step (32) iter_args(%o = %c) -> (tensor<?x64xf32>) {
    %acc = pit.sread %o[%x, %c0] : tensor<?x64xf32> -> tensor<32x64xf32>
    %sum = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%s = %acc) -> (tensor<32x64xf32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x64xf32>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %c0] pad(0.0 : f32) : tensor<?x64xf32> -> tensor<64x64xf32>
      %w = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x64xf32>) outs(%s : tensor<32x64xf32>) -> tensor<32x64xf32>
      pit.yield %w : tensor<32x64xf32>
    }
    %w = pit.swrite %sum into %o[%x, %c0] : tensor<32x64xf32> into tensor<?x64xf32>
    pit.yield %w : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}
