// tf32 and f8 that do not run along k: the kernel reads copies that do, by descriptors whose
// last dimension is k.

// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a --convert-pit-gpu-to-nvvm | FileCheck %s

module {
module @pit_kernels attributes {pit.kernels} {
  // The box of B, 128 columns along k, has its k first among the coordinates; those of A
  // are in their own order.
  // CHECK-LABEL: gpu.func @tf32_hopper(
  // CHECK-SAME: %[[MAP_A:[a-z0-9]+]]: !llvm.ptr, %[[MAP_B:[a-z0-9]+]]: !llvm.ptr) kernel
  // CHECK-SAME: tensor_maps = [<argument = 0, box = [1, 128, 32], swizzle = 128, along_k = 2>, <argument = 1, box = [1, 64, 32], swizzle = 128, along_k = 1, order = [0, 2, 1]>]
  // CHECK: nvvm.mbarrier.arrive.expect_tx
  // CHECK: %[[G:.*]] = arith.index_cast %[[BATCH:.*]] : index to i32
  // CHECK-NEXT: %[[M:.*]] = arith.index_cast
  // CHECK-NEXT: %[[K:.*]] = arith.index_cast %[[STEP:.*]] : index to i32
  // CHECK: cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP_A]], %{{.*}}, box[%[[K]], %[[M]], %[[G]]]
  // CHECK: %[[BG:.*]] = arith.index_cast %[[BATCH]] : index to i32
  // CHECK-NEXT: %[[N:.*]] = arith.index_cast
  // CHECK-NEXT: %[[BK:.*]] = arith.index_cast %[[STEP]] : index to i32
  // CHECK: cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP_B]], %{{.*}}, box[%[[BK]], %[[N]], %[[BG]]]
  // CHECK: nvvm.wgmma.mma_async {{.*}}<tf32>
  func.func @tf32(%a: memref<?x?x?xf32>, %b: memref<?x?x?xf32>, %o: memref<?x?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %e = memref.dim %a, %c0 : memref<?x?x?xf32>
    %m = memref.dim %a, %c1 : memref<?x?x?xf32>
    %n = memref.dim %b, %c2 : memref<?x?x?xf32>
    %K = memref.dim %a, %c2 : memref<?x?x?xf32>
    %zero = arith.constant 0.0 : f32
    pit.forall (%g, %i, %j) = (%c0, %c0, %c0) to (%e, %m, %n) step (1, 128, 128) {
      pit.mainloop %c0 to %K step [32] extra_maps []
          into %o[%g, %i, %j : index, index, index] : memref<?x?x?xf32> load {
      ^bb0(%k: index):
        %x = pit.view %a[%g, %i, %k : index, index, index] pad(0.0 : f32) : memref<?x?x?xf32> -> vector<1x128x32xf32>
        %y = pit.view %b[%g, %k, %j : index, index, index] pad(0.0 : f32) : memref<?x?x?xf32> -> vector<1x32x128xf32>
        pit.yield %x, %y : vector<1x128x32xf32>, vector<1x32x128xf32>
      } compute {
      ^bb0(%xt: vector<1x128x32xf32>, %yt: vector<1x32x128xf32>, %at: vector<1x128x128xf32>):
        %st = pit.contract %xt, %yt, %at tile [1, 128, 128, 32]
               maps [affine_map<(g, m, n, k) -> (g, m, k)>, affine_map<(g, m, n, k) -> (g, k, n)>, affine_map<(g, m, n, k) -> (g, m, n)>] tf32
               : vector<1x128x32xf32>, vector<1x32x128xf32>, vector<1x128x128xf32> {
        ^bb0(%p: f32, %q: f32, %acc: f32):
          %0 = arith.mulf %p, %q : f32
          %1 = arith.addf %acc, %0 : f32
          pit.yield %1 : f32
        }
        pit.yield %st : vector<1x128x128xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }
}
}
