// RUN: pit-opt %s -pit-schedule-kernels=chip=sm_80 -convert-pit-to-gpu=chip=sm_80 | FileCheck %s

// A thread's multiply-adds of a stage are a loop, where straight code of them would be
// so long that LLVM takes many seconds for it: here 64 steps of 8 x 8.

#e = affine_map<(m, n) -> (m, n)>
module {
module @pit_kernels attributes {pit.kernels} {

// CHECK-LABEL: gpu.func @f8(
// CHECK: scf.for %{{.*}} = %c0_i32{{.*}} to %c64_i32{{.*}} step %c16_i32{{.*}} iter_args(
// CHECK-COUNT-1024: arith.mulf
// CHECK-NOT: arith.mulf
func.func @f8(%a: memref<?x?xf8E4M3FN>, %b: memref<?x?xf8E4M3FN>, %e: memref<?x?xf32>, %r: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
  %n = memref.dim %b, %c1 : memref<?x?xf8E4M3FN>
  %k = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
  pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 128) {
    %v = pit.view %e[%i, %j : index, index] : memref<?x?xf32> -> vector<128x128xf32>
    pit.mainloop %c0 to %k step [128] extras(%v : vector<128x128xf32>) extra_maps [#e]
        into %r[%i, %j : index, index] : memref<?x?xf32> load {
    ^bb0(%l: index):
      %x = pit.view %a[%i, %l : index, index] pad(0.0 : f8E4M3FN) : memref<?x?xf8E4M3FN> -> vector<128x128xf8E4M3FN>
      %y = pit.view %b[%l, %j : index, index] pad(0.0 : f8E4M3FN) : memref<?x?xf8E4M3FN> -> vector<128x128xf8E4M3FN>
      pit.yield %x, %y : vector<128x128xf8E4M3FN>, vector<128x128xf8E4M3FN>
    } compute {
    ^bb0(%x: vector<128x128xf8E4M3FN>, %y: vector<128x128xf8E4M3FN>, %z: vector<128x128xf32>):
      %s = pit.contract %x, %y, %z tile [128, 128, 128] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
          : vector<128x128xf8E4M3FN>, vector<128x128xf8E4M3FN>, vector<128x128xf32> {
      ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %t: f32):
        %0 = arith.extf %p : f8E4M3FN to f32
        %1 = arith.extf %q : f8E4M3FN to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %t, %2 : f32
        pit.yield %3 : f32
      }
      pit.yield %s : vector<128x128xf32>
    } prologue {
    ^bb0(%o: f32):
      pit.yield %o : f32
    } epilogue {
    ^bb0(%t: f32, %o: f32):
      pit.yield %t : f32
    }
  }
  return
}

}
}
