// Sums over the rows of a matrix: no tile, vectors of 16 bytes of four rows at once, sums in
// registers. Blocks share the rows of a tile, and the last one adds the parts.

// RUN: pit-opt %s --pit-schedule-kernels --convert-pit-to-gpu | FileCheck %s
// RUN: pit-opt %s --pit-schedule-kernels=strict --convert-pit-to-gpu | FileCheck %s --check-prefix=STRICT

!index = !pit.index<micro_tile = [1, *], axis = 0>
#rc = affine_map<(r, c) -> (r, c)>
#c = affine_map<(r, c) -> (c)>

module {
  module @pit_kernels attributes {pit.kernels} {
    // Shared memory has the sums of 8 rows of threads, and those of the block.
    // CHECK: gpu.func @dense({{.*}}: i64, %{{.*}}: i64) kernel attributes {{{.*}}pit.launch_info = #pit.launch_info<threads = 256, shared_bytes = 9216, grid = rows, splits = 128, partial_bytes = 1024>}
    // CHECK: scf.for {{.*}} -> (index, f32, f32, f32, f32, f32, f32, f32, f32)
    // CHECK-COUNT-4: vector.load {{.*}} {alignment = 16 : i64} : memref<?x4096xbf16>, vector<8xbf16>
    // Each column's sum has a slot's thread; vectors of four are read of 16 parts at once.
    // CHECK: pit_gpu.store_partials %{{.*}} in %[[PARTIALS:.*]][%{{.*}}] thread %{{.*}} of 256 : f32
    // CHECK: %[[LAST:.*]] = pit_gpu.last_split of %{{.*}} in %{{.*}}[%{{.*}}] thread %{{.*}} through %{{.*}} : i1
    // CHECK: scf.if %[[LAST]]
    // CHECK: pit_gpu.add_partials %{{.*}} in %[[PARTIALS]][%{{.*}}] step %c4_i32{{.*}} thread %{{.*}} of 64 vector 4 once 16 x 4 start 0.000000e+00 : f32 combine {
    // CHECK: arith.addf
    // STRICT: gpu.func @dense(
    // STRICT-NOT: grid = rows
    // STRICT: vector.load {{.*}} vector<8xbf16>
    // STRICT-NOT: pit_gpu.last_split
    func.func @dense(%x: memref<?x4096xbf16>, %i: !index, %y: memref<4096xbf16>) {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %c4096 = arith.constant 4096 : index
      %rows = memref.dim %x, %c0 : memref<?x4096xbf16>
      pit.forall (%n) = (%c0) to (%c4096) step (256) {
        %acc = memref.alloc() : memref<256xf32>
        linalg.fill ins(%zero : f32) outs(%acc : memref<256xf32>)
        pit.for (%r) = (%c0) to (%rows) step (64) {
          %t = memref.alloc() : memref<64x256xbf16>
          pit.sread %x[%r, %n] into %t pad(0.0 : bf16) : memref<?x4096xbf16> -> memref<64x256xbf16>
          linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]}
              ins(%t : memref<64x256xbf16>) outs(%acc : memref<256xf32>) {
          ^bb0(%u: bf16, %w: f32):
            %v = arith.extf %u : bf16 to f32
            %s = arith.addf %w, %v : f32
            linalg.yield %s : f32
          }
        }
        pit.swrite %acc into %y[%n] : memref<256xf32> into memref<4096xbf16>
      }
      return
    }

    // CHECK: gpu.func @listed({{.*}} grid = rows, splits = 128
    // CHECK-COUNT-4: memref.load {{.*}} : memref<?xi32>
    // CHECK-COUNT-4: vector.load {{.*}} vector<8xbf16>
    // STRICT: gpu.func @listed(
    func.func @listed(%x: memref<?x4096xbf16>, %i: !index, %y: memref<4096xbf16>) {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %c4096 = arith.constant 4096 : index
      %rows = memref.dim %x, %c0 : memref<?x4096xbf16>
      pit.forall (%n) = (%c0) to (%c4096) step (256) {
        %acc = memref.alloc() : memref<256xf32>
        linalg.fill ins(%zero : f32) outs(%acc : memref<256xf32>)
        pit.for %ids at %at in %i : !index chunk 64 {
          %t = memref.alloc() : memref<64x256xbf16>
          pit.sread %x[%ids : !pit.ids<64>, %n] into %t pad(0.0 : bf16) : memref<?x4096xbf16> -> memref<64x256xbf16>
          linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]}
              ins(%t : memref<64x256xbf16>) outs(%acc : memref<256xf32>) {
          ^bb0(%u: bf16, %w: f32):
            %v = arith.extf %u : bf16 to f32
            %s = arith.addf %w, %v : f32
            linalg.yield %s : f32
          }
        }
        pit.swrite %acc into %y[%n] : memref<256xf32> into memref<4096xbf16>
      }
      return
    }

    // What pads rows that do not exist counts: a tile is made.
    // CHECK: gpu.func @padded({{.*}} shared_bytes = 33792
    // CHECK-NOT: grid = rows
    // CHECK-NOT: pit_gpu.last_split
    func.func @padded(%x: memref<?x4096xbf16>, %i: !index, %y: memref<4096xbf16>) {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %c4096 = arith.constant 4096 : index
      %rows = memref.dim %x, %c0 : memref<?x4096xbf16>
      pit.forall (%n) = (%c0) to (%c4096) step (256) {
        %acc = memref.alloc() : memref<256xf32>
        linalg.fill ins(%zero : f32) outs(%acc : memref<256xf32>)
        pit.for (%r) = (%c0) to (%rows) step (64) {
          %t = memref.alloc() : memref<64x256xbf16>
          pit.sread %x[%r, %n] into %t pad(1.0 : bf16) : memref<?x4096xbf16> -> memref<64x256xbf16>
          linalg.generic {indexing_maps = [#rc, #c], iterator_types = ["reduction", "parallel"]}
              ins(%t : memref<64x256xbf16>) outs(%acc : memref<256xf32>) {
          ^bb0(%u: bf16, %w: f32):
            %v = arith.extf %u : bf16 to f32
            %s = arith.addf %w, %v : f32
            linalg.yield %s : f32
          }
        }
        pit.swrite %acc into %y[%n] : memref<256xf32> into memref<4096xbf16>
      }
      return
    }
  }
}
