// RUN: pit-opt %s -pit-share-scans -split-input-file | pit-opt -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-plan="choice=run-time target=sm_90a" -canonicalize -cse -pit-share-scans -split-input-file | FileCheck %s --check-prefix=PLANNED

!rows = !pit.index<micro_tile = [1, *], axis = 0>
!columns = !pit.index<micro_tile = [32, 1], axis = 1>

// Both gradients of a product behind a ReLU: of x where that is not zero, which a mask of numbers
// says, and of the weight, without the zeros of x.
// PLANNED-LABEL: func @gradients(
// PLANNED-SAME: %{{.*}}: tensor<?x4096xbf16>, %{{.*}}: tensor<4096x4096xbf16>, %[[X:.*]]: tensor<?x4096xbf16>
// PLANNED: %{{.*}}, %[[BITS:.*]] = pit.choose %[[X]] of [!pit.index<micro_tile = [1, *], axis = 0>, !pit.index<micro_tile = [32, 1], axis = 1>]
// PLANNED: pit.index %[[X]] seen(%[[BITS]]) : tensor<?x4096xbf16> -> !pit.index<micro_tile = [1, *], axis = 0>
// PLANNED: pit.index %[[X]] seen(%[[BITS]]) : tensor<?x4096xbf16> -> !pit.index<micro_tile = [32, 1], axis = 1>
// PLANNED: %{{.*}}, %[[AGAIN:.*]] = pit.choose %[[X]] seen(%[[BITS]]) of [!pit.index<micro_tile = [1, *], axis = 0>]
// PLANNED: pit.index %[[X]] seen(%[[AGAIN]])
// PLANNED-NOT: pit.choose
// PLANNED: return
func.func @gradients(%dy: tensor<?x4096xbf16>, %w: tensor<4096x4096xbf16>, %x: tensor<?x4096xbf16>, %f: tensor<?x4096xf32>, %g: tensor<4096x4096xf32>) -> (tensor<?x4096xf32>, tensor<4096x4096xf32>) {
  %p = linalg.matmul ins(%dy, %w : tensor<?x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %dx = pit.sparse %p mask(%x : tensor<?x4096xbf16>) assume : tensor<?x4096xf32>
  %s = pit.sparse %x : tensor<?x4096xbf16>
  %dw = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
          ins(%dy, %s : tensor<?x4096xbf16>, tensor<?x4096xbf16>) outs(%g : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %dx, %dw : tensor<?x4096xf32>, tensor<4096x4096xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
!columns = !pit.index<micro_tile = [32, 1], axis = 1>

// The one that looks for all comes first, with the times of its variants.
// CHECK-LABEL: func @most(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[T:.*]]: f64
// CHECK: %[[MUCH:.*]] = arith.mulf %[[T]], %[[T]]
// CHECK: %[[V2:.*]], %[[SEEN:.*]] = pit.choose %[[X]] of [!pit.index<micro_tile = [32, 1], axis = 1>, !pit.index<micro_tile = [1, *], axis = 0>] dense(%[[MUCH]])
// CHECK: %[[V1:.*]], %{{.*}} = pit.choose %[[X]] seen(%[[SEEN]]) of [!pit.index<micro_tile = [1, *], axis = 0>] dense(%[[T]])
// CHECK: return %[[V1]], %[[V2]]
func.func @most(%x: tensor<?x64xf32>, %t: f64) -> (index, index) {
  %v1, %b1 = pit.choose %x of [!rows] dense(%t) fixed(%t) live(%t) : tensor<?x64xf32>
  %much = arith.mulf %t, %t : f64
  %v2, %b2 = pit.choose %x of [!columns, !rows] dense(%much) fixed(%t, %t) live(%t, %t) : tensor<?x64xf32>
  return %v1, %v2 : index, index
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
!columns = !pit.index<micro_tile = [32, 1], axis = 1>

// Its times depend on the first one: it stays behind that.
// CHECK-LABEL: func @late(
// CHECK: %[[V:.*]], %[[SEEN:.*]] = pit.choose %{{.*}} of [!pit.index<micro_tile = [1, *], axis = 0>]
// CHECK: arith.index_cast %[[V]]
// CHECK: pit.choose %{{.*}} seen(%[[SEEN]]) of [!pit.index<micro_tile = [32, 1], axis = 1>, !pit.index
func.func @late(%x: tensor<?x64xf32>, %t: f64) -> index {
  %v1, %b1 = pit.choose %x of [!rows] dense(%t) fixed(%t) live(%t) : tensor<?x64xf32>
  %i = arith.index_cast %v1 : index to i64
  %much = arith.uitofp %i : i64 to f64
  %v2, %b2 = pit.choose %x of [!columns, !rows] dense(%much) fixed(%t, %t) live(%t, %t) : tensor<?x64xf32>
  return %v2 : index
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// Other values, other backgrounds, masks, bits that a loop wrote, and other branches share nothing;
// nor do choices by memory, which may be written to between them.
// CHECK-LABEL: func @apart(
// CHECK-NOT: seen
// CHECK: return
func.func @apart(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>, %m: tensor<?x64xi8>, %b: tensor<?x8xi8>, %p: memref<?x64xf32>, %is: i1, %t: f64) -> index {
  %v1, %b1 = pit.choose %x of [!rows] dense(%t) fixed(%t) live(%t) : tensor<?x64xf32>
  %v2, %b2 = pit.choose %y of [!rows] dense(%t) fixed(%t) live(%t) : tensor<?x64xf32>
  %v3, %b3 = pit.choose %x of [!rows] dense(%t) fixed(%t) live(%t) background(1.0 : f32) : tensor<?x64xf32>
  %v4, %b4 = pit.choose %m mask of [!rows] dense(%t) fixed(%t) live(%t) : tensor<?x64xi8>
  %v5, %b5 = pit.choose %m of [!rows] dense(%t) fixed(%t) live(%t) : tensor<?x64xi8>
  %v6, %b6 = pit.choose %x bitmap(%b : tensor<?x8xi8>) of [!rows] dense(%t) fixed(%t) live(%t) : tensor<?x64xf32>
  %v7, %b7 = pit.choose %p of [!rows] dense(%t) fixed(%t) live(%t) : memref<?x64xf32>
  %v8, %b8 = pit.choose %p of [!rows] dense(%t) fixed(%t) live(%t) : memref<?x64xf32>
  %v9 = scf.if %is -> index {
    %v, %s = pit.choose %y of [!rows] dense(%t) fixed(%t) live(%t) : tensor<?x64xf32>
    scf.yield %v : index
  } else {
    scf.yield %v1 : index
  }
  %a = arith.addi %v2, %v3 : index
  %c = arith.addi %v4, %v5 : index
  %d = arith.addi %v6, %v7 : index
  %e = arith.addi %v8, %v9 : index
  %f = arith.addi %a, %c : index
  %g = arith.addi %d, %e : index
  %h = arith.addi %f, %g : index
  return %h : index
}
