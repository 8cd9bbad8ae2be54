// RUN: pit-opt %s -pit-schedule-mainloops=vector-width=512 -convert-pit-to-scf=vector-width=512 | FileCheck %s

// Sums so long are taken in parts, and in one chunk: for each accumulator.

// CHECK-LABEL: func.func @two(
// CHECK: %[[P:.*]] = memref.alloca() {{.*}} : memref<32x64xf32>
// CHECK: %[[Q:.*]] = memref.alloca() {{.*}} : memref<32x64xf32>
// CHECK: scf.for {{.*}} to %c512{{.*}} step %c128
// CHECK: arith.mulf
// CHECK: vector.store %{{.*}}, %[[P]][
// CHECK: scf.for {{.*}} to %c512{{.*}} step %c128
// CHECK: arith.mulf
// CHECK: vector.store %{{.*}}, %[[Q]][
// CHECK: arith.subf
func.func @two(%a: memref<32x512xf32>, %b: memref<512x64xf32>, %d: memref<512x64xf32>, %c: memref<32x64xf32>) {
  %c0 = arith.constant 0 : index
  pit.mainloop step [] extra_maps [] into %c[%c0, %c0 : index, index] : memref<32x64xf32> load {
    %x = pit.view %a[%c0, %c0 : index, index] pad(0.0 : f32) : memref<32x512xf32> -> vector<32x512xf32>
    %y = pit.view %b[%c0, %c0 : index, index] pad(0.0 : f32) : memref<512x64xf32> -> vector<512x64xf32>
    %z = pit.view %d[%c0, %c0 : index, index] pad(0.0 : f32) : memref<512x64xf32> -> vector<512x64xf32>
    pit.yield %x, %y, %z : vector<32x512xf32>, vector<512x64xf32>, vector<512x64xf32>
  } compute {
  ^bb0(%x: vector<32x512xf32>, %y: vector<512x64xf32>, %z: vector<512x64xf32>, %p: vector<32x64xf32>, %q: vector<32x64xf32>):
    %s = pit.contract %x, %y, %p tile [32, 64, 512]
        maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : vector<32x512xf32>, vector<512x64xf32>, vector<32x64xf32> {
    ^bb0(%i: f32, %j: f32, %r: f32):
      %m = arith.mulf %i, %j : f32
      %t = arith.addf %r, %m : f32
      pit.yield %t : f32
    }
    %u = pit.contract %x, %z, %q tile [32, 64, 512]
        maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : vector<32x512xf32>, vector<512x64xf32>, vector<32x64xf32> {
    ^bb0(%i: f32, %j: f32, %r: f32):
      %m = arith.mulf %i, %j : f32
      %t = arith.addf %r, %m : f32
      pit.yield %t : f32
    }
    pit.yield %s, %u : vector<32x64xf32>, vector<32x64xf32>
  } prologue {
    %z = arith.constant 0.0 : f32
    pit.yield %z, %z : f32, f32
  } epilogue {
  ^bb0(%i: f32, %j: f32):
    %m = arith.subf %i, %j : f32
    pit.yield %m : f32
  }
  return
}
