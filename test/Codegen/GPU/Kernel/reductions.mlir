// A reduction into a tile that was filled for it starts from the constant: the tile is not filled, so no
// barrier stands between. A warp has a row. Lanes start from 0; another constant is added behind them.

// RUN: pit-opt %s --convert-pit-to-gpu | FileCheck %s

#rc = affine_map<(r, c) -> (r, c)>
#r = affine_map<(r, c) -> (r)>

module {
  module @pit_kernels attributes {pit.kernels} {
    // CHECK-LABEL: gpu.func @sums
    // CHECK: gpu.barrier
    // CHECK-NOT: gpu.barrier
    // CHECK-COUNT-5: gpu.shuffle
    // CHECK-NEXT: arith.bitcast
    // CHECK-NEXT: %[[SUM:.*]] = arith.addf
    // CHECK: scf.if
    // CHECK-NEXT: memref.store %[[SUM]]
    // CHECK-NOT: gpu.barrier
    // CHECK-COUNT-5: gpu.shuffle
    // CHECK: scf.if
    // CHECK-NEXT: %[[THREE:.*]] = arith.constant 3.000000e+00 : f32
    // CHECK-NEXT: %[[MORE:.*]] = arith.addf %[[THREE]]
    // CHECK-NEXT: memref.store %[[MORE]]
    // CHECK: gpu.barrier
    func.func @sums(%x: memref<?x256xf32>, %y: memref<?xf32>, %z: memref<?xf32>) {
      %zero = arith.constant 0.0 : f32
      %three = arith.constant 3.0 : f32
      %c0 = arith.constant 0 : index
      %rows = memref.dim %x, %c0 : memref<?x256xf32>
      pit.forall (%n) = (%c0) to (%rows) step (8) {
        %t = memref.alloc() : memref<8x256xf32>
        pit.sread %x[%n, %c0] into %t : memref<?x256xf32> -> memref<8x256xf32>
        %s = memref.alloc() : memref<8xf32>
        linalg.fill ins(%zero : f32) outs(%s : memref<8xf32>)
        linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]}
            ins(%t : memref<8x256xf32>) outs(%s : memref<8xf32>) {
        ^bb0(%u: f32, %w: f32):
          %v = arith.addf %w, %u : f32
          linalg.yield %v : f32
        }
        %more = memref.alloc() : memref<8xf32>
        linalg.fill ins(%three : f32) outs(%more : memref<8xf32>)
        linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]}
            ins(%t : memref<8x256xf32>) outs(%more : memref<8xf32>) {
        ^bb0(%u: f32, %w: f32):
          %v = arith.addf %w, %u : f32
          linalg.yield %v : f32
        }
        pit.swrite %s into %y[%n] : memref<8xf32> into memref<?xf32>
        pit.swrite %more into %z[%n] : memref<8xf32> into memref<?xf32>
      }
      return
    }
  }
}
