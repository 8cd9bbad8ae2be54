// Tiles that are rows lie in the registers of a warp, which is a block: no shared memory, no barriers. A
// lane has 4 elements side by side of each 128. Floats are combined by shuffles, integers by one op.
// From sm_90 on such a kernel begins while the one before ends. Where the loop reads what it writes, or tiles are longer, a block of 256 threads has shared memory.

// RUN: pit-opt %s --convert-pit-to-gpu | FileCheck %s
// RUN: pit-opt %s --convert-pit-to-gpu=chip=sm_90 | FileCheck %s --check-prefix=EARLY


module {
  module @pit_kernels attributes {pit.kernels} {
    // CHECK-LABEL: gpu.func @rows(
    // CHECK-SAME: known_block_size = array<i32: 32, 1, 1>
    // CHECK-SAME: #pit.launch_info<threads = 32>
    // EARLY-LABEL: gpu.func @rows(
    // EARLY-SAME: #pit.launch_info<threads = 32, pdl = true>
    // EARLY-NEXT: nvvm.griddepcontrol launch_dependents
    // EARLY-NEXT: nvvm.griddepcontrol wait
    // CHECK-NOT: griddepcontrol
    // CHECK-NOT: gpu.barrier
    // CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
    // CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
    // CHECK: else
    // CHECK-NOT: gpu.barrier
    // CHECK-COUNT-5: gpu.shuffle
    // CHECK-NOT: gpu.shuffle
    // CHECK: nvvm.redux.sync add
    // CHECK-NOT: gpu.barrier
    // CHECK: gpu.return
    func.func @rows(%x: memref<?x256xf32>, %y: memref<?xi32>) {
      %zero = arith.constant 0.0 : f32
      %none = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %rows = memref.dim %x, %c0 : memref<?x256xf32>
      pit.forall (%n) = (%c0) to (%rows) step (1) {
        %t = memref.alloc() : memref<1x256xf32>
        pit.sread %x[%n, %c0] into %t : memref<?x256xf32> -> memref<1x256xf32>
        %s = memref.alloc() : memref<f32>
        linalg.fill ins(%zero : f32) outs(%s : memref<f32>)
        linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> ()>],
                        iterator_types = ["reduction", "reduction"]}
            ins(%t : memref<1x256xf32>) outs(%s : memref<f32>) {
        ^bb0(%u: f32, %w: f32):
          %v = arith.addf %w, %u : f32
          linalg.yield %v : f32
        }
        %more = memref.alloc() : memref<1xi32>
        linalg.fill ins(%none : i32) outs(%more : memref<1xi32>)
        linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> ()>, affine_map<(m, n) -> (m)>],
                        iterator_types = ["parallel", "reduction"]}
            ins(%t, %s : memref<1x256xf32>, memref<f32>) outs(%more : memref<1xi32>) {
        ^bb0(%u: f32, %v: f32, %w: i32):
          %b = arith.cmpf ogt, %u, %v : f32
          %one = arith.extui %b : i1 to i32
          %sum = arith.addi %w, %one : i32
          linalg.yield %sum : i32
        }
        pit.swrite %more into %y[%n] : memref<1xi32> into memref<?xi32>
      }
      return
    }

    // CHECK-LABEL: gpu.func @in_place(
    // CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
    // CHECK-LABEL: gpu.func @long(
    // CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
    func.func @in_place(%x: memref<?x256xf32>) {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %rows = memref.dim %x, %c0 : memref<?x256xf32>
      pit.forall (%n) = (%c0) to (%rows) step (1) {
        %t = memref.alloc() : memref<1x256xf32>
        pit.sread %x[%n, %c0] into %t : memref<?x256xf32> -> memref<1x256xf32>
        %s = memref.alloc() : memref<1xf32>
        linalg.fill ins(%zero : f32) outs(%s : memref<1xf32>)
        linalg.reduce {arith.addf} ins(%t : memref<1x256xf32>) outs(%s : memref<1xf32>) dimensions = [1]
        linalg.broadcast ins(%s : memref<1xf32>) outs(%t : memref<1x256xf32>) dimensions = [1]
        pit.swrite %t into %x[%n, %c0] : memref<1x256xf32> into memref<?x256xf32>
      }
      return
    }
    func.func @long(%x: memref<?x4096xf32>, %y: memref<?xf32>) {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %rows = memref.dim %x, %c0 : memref<?x4096xf32>
      pit.forall (%n) = (%c0) to (%rows) step (1) {
        %t = memref.alloc() : memref<1x4096xf32>
        pit.sread %x[%n, %c0] into %t : memref<?x4096xf32> -> memref<1x4096xf32>
        %s = memref.alloc() : memref<1xf32>
        linalg.fill ins(%zero : f32) outs(%s : memref<1xf32>)
        linalg.reduce {arith.maximumf} ins(%t : memref<1x4096xf32>) outs(%s : memref<1xf32>) dimensions = [1]
        pit.swrite %s into %y[%n] : memref<1xf32> into memref<?xf32>
      }
      return
    }
  }
}
