// RUN: pit-opt %s -pit-close-gaps=vector-width=256 -canonicalize | FileCheck %s

// Mainloops that stand in no tile loop take their views along.
// RUN: pit-opt %s -pit-close-gaps=vector-width=256 -pit-schedule-mainloops=vector-width=256 -convert-pit-to-scf=vector-width=256 | FileCheck %s --check-prefix=LOWERED
// LOWERED-NOT: pit.view
// LOWERED: func.func @unknown(
// LOWERED-NOT: pit.view

// Strides that are not known: the same memory or a copy, which is written back.
// CHECK-LABEL: func.func @unknown(
// CHECK-SAME: %[[A:.*]]: memref<8x16xf32>, %[[B:.*]]: memref<16x32xf32>, %[[C:.*]]: memref<8x32xf32, strided<[?, ?], offset: ?>>)
// CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[C]]
// CHECK: %[[GAPLESS:.*]] = arith.cmpi eq, %[[STRIDES]]#1, %c1
// CHECK: %[[SIZE:.*]] = arith.select %[[GAPLESS]], %c0, %{{.*}} : index
// CHECK: %[[ROOM:.*]] = memref.alloc(%[[SIZE]]) : memref<?xf32>
// CHECK: %[[COPY:.*]] = memref.reinterpret_cast %[[ROOM]] to offset: [0], sizes: [8, 32], strides: [32, 1]
// CHECK: %[[CAST:.*]] = memref.cast %[[COPY]]
// CHECK: %[[PLACE:.*]] = memref.reinterpret_cast %[[C]] to offset: [%[[OFFSET]]], sizes: [8, 32], strides: [%[[STRIDES]]#0, 1]
// CHECK: %[[ROWS:.*]] = arith.select %[[GAPLESS]], %[[PLACE]], %[[CAST]]
// CHECK: scf.if %[[GAPS:.*]] {
// CHECK-NEXT: linalg.copy ins(%[[C]] {{.*}}) outs(%[[COPY]]
// CHECK: %[[EXTRA:.*]] = pit.view %[[ROWS]]
// CHECK: pit.mainloop {{.*}} extras(%[[EXTRA]] {{.*}} into %[[ROWS]]
// CHECK: pit.view %[[A]]
// CHECK: pit.view %[[B]]
// CHECK: scf.if %[[GAPS]] {
// CHECK-NEXT: linalg.copy ins(%[[COPY]] {{.*}}) outs(%[[C]]
func.func @unknown(%a: memref<8x16xf32>, %b: memref<16x32xf32>, %c: memref<8x32xf32, strided<[?, ?], offset: ?>>) {
  %c0 = arith.constant 0 : index
  %e = pit.view %c[%c0, %c0 : index, index] : memref<8x32xf32, strided<[?, ?], offset: ?>> -> vector<8x32xf32>
  pit.mainloop step [] extras(%e : vector<8x32xf32>) extra_maps [affine_map<(d0, d1) -> (d0, d1)>]
      into %c[%c0, %c0 : index, index] : memref<8x32xf32, strided<[?, ?], offset: ?>> load {
    %x = pit.view %a[%c0, %c0 : index, index] pad(0.0 : f32) : memref<8x16xf32> -> vector<8x16xf32>
    %y = pit.view %b[%c0, %c0 : index, index] pad(0.0 : f32) : memref<16x32xf32> -> vector<16x32xf32>
    pit.yield %x, %y : vector<8x16xf32>, vector<16x32xf32>
  } compute {
  ^bb0(%x: vector<8x16xf32>, %y: vector<16x32xf32>, %acc: vector<8x32xf32>):
    %s = pit.contract %x, %y, %acc tile [8, 32, 16]
        maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : vector<8x16xf32>, vector<16x32xf32>, vector<8x32xf32> {
    ^bb0(%p: f32, %q: f32, %r: f32):
      %m = arith.mulf %p, %q : f32
      %t = arith.addf %r, %m : f32
      pit.yield %t : f32
    }
    pit.yield %s : vector<8x32xf32>
  } prologue {
  ^bb0(%i: f32):
    pit.yield %i : f32
  } epilogue {
  ^bb0(%i: f32, %f: f32):
    pit.yield %i : f32
  }
  return
}

// B is transposed: it is read in place.
// CHECK-LABEL: func.func @transposed(
// CHECK-NOT: linalg.copy
func.func @transposed(%a: memref<8x16xf32>, %b: memref<16x32xf32, strided<[1, 16]>>, %c: memref<8x32xf32>) {
  %c0 = arith.constant 0 : index
  pit.mainloop step [] extra_maps [] into %c[%c0, %c0 : index, index] : memref<8x32xf32> load {
    %x = pit.view %a[%c0, %c0 : index, index] pad(0.0 : f32) : memref<8x16xf32> -> vector<8x16xf32>
    %y = pit.view %b[%c0, %c0 : index, index] pad(0.0 : f32) : memref<16x32xf32, strided<[1, 16]>> -> vector<16x32xf32>
    pit.yield %x, %y : vector<8x16xf32>, vector<16x32xf32>
  } compute {
  ^bb0(%x: vector<8x16xf32>, %y: vector<16x32xf32>, %acc: vector<8x32xf32>):
    %s = pit.contract %x, %y, %acc tile [8, 32, 16]
        maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : vector<8x16xf32>, vector<16x32xf32>, vector<8x32xf32> {
    ^bb0(%p: f32, %q: f32, %r: f32):
      %m = arith.mulf %p, %q : f32
      %t = arith.addf %r, %m : f32
      pit.yield %t : f32
    }
    pit.yield %s : vector<8x32xf32>
  } prologue {
  ^bb0:
    %z = arith.constant 0.0 : f32
    pit.yield %z : f32
  } epilogue {
  ^bb0(%i: f32):
    pit.yield %i : f32
  }
  return
}
