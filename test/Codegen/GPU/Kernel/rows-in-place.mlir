// An element-wise op on the rows that have positions: no tile, and all threads of the grid share what
// lies together.

// RUN: pit-opt %s --pit-schedule-kernels --convert-pit-to-gpu | FileCheck %s

!index = !pit.index<micro_tile = [1], axis = 0>
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

module {
  module @pit_kernels attributes {pit.kernels} {
    // CHECK: gpu.func @rows({{.*}}pit.launch_info = #pit.launch_info<threads = {{[0-9]+}}>
    // CHECK-NOT: scratch_bytes
    // CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<?xbf16>, vector<8xbf16>
    // CHECK: math.exp
    // CHECK: vector.store {{.*}} {alignment = 16 : i64} : memref<?xbf16>, vector<8xbf16>
    func.func @rows(%i: !index, %x: memref<?x512xbf16>, %y: memref<?x512xbf16>) {
      %c0 = arith.constant 0 : index
      pit.forall %ids at %pos in %i : !index chunk 8 {
        %t = memref.alloc() : memref<8x512xbf16>
        pit.sread %x[%pos : !pit.ids<8>, %c0] into %t : memref<?x512xbf16> -> memref<8x512xbf16>
        %r = memref.alloc() : memref<8x512xbf16>
        linalg.exp ins(%t : memref<8x512xbf16>) outs(%r : memref<8x512xbf16>)
        pit.swrite %r into %y[%pos : !pit.ids<8>, %c0] : memref<8x512xbf16> into memref<?x512xbf16>
      }
      return
    }

    // Rows come with a factor each.
    // CHECK: gpu.func @scaled({{.*}}pit.launch_info = #pit.launch_info<threads = {{[0-9]+}}>
    // CHECK: vector.store
    func.func @scaled(%i: !index, %x: memref<?x512xf32>, %s: memref<?xf32>, %y: memref<?x512xf32>) {
      %c0 = arith.constant 0 : index
      pit.forall %ids at %pos in %i : !index chunk 8 {
        %t = memref.alloc() : memref<8x512xf32>
        pit.sread %x[%pos : !pit.ids<8>, %c0] into %t : memref<?x512xf32> -> memref<8x512xf32>
        %u = memref.alloc() : memref<8xf32>
        pit.sread %s[%pos : !pit.ids<8>] into %u : memref<?xf32> -> memref<8xf32>
        %r = memref.alloc() : memref<8x512xf32>
        linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
            ins(%t, %u : memref<8x512xf32>, memref<8xf32>) outs(%r : memref<8x512xf32>) {
        ^bb0(%a: f32, %b: f32, %o: f32):
          %m = arith.mulf %a, %b : f32
          linalg.yield %m : f32
        }
        pit.swrite %r into %y[%pos : !pit.ids<8>, %c0] : memref<8x512xf32> into memref<?x512xf32>
      }
      return
    }

    // Ids select rows, what does not exist is not 0, and a part of a row is none: tiles.
    // CHECK: gpu.func @by_ids({{.*}} shared_bytes = 32768
    func.func @by_ids(%i: !index, %x: memref<?x512xf32>, %y: memref<?x512xf32>) {
      %c0 = arith.constant 0 : index
      pit.forall %ids at %pos in %i : !index chunk 8 {
        %t = memref.alloc() : memref<8x512xf32>
        pit.sread %x[%ids : !pit.ids<8>, %c0] into %t : memref<?x512xf32> -> memref<8x512xf32>
        %r = memref.alloc() : memref<8x512xf32>
        linalg.exp ins(%t : memref<8x512xf32>) outs(%r : memref<8x512xf32>)
        pit.swrite %r into %y[%pos : !pit.ids<8>, %c0] : memref<8x512xf32> into memref<?x512xf32>
      }
      return
    }
    // CHECK: gpu.func @padded({{.*}} shared_bytes = 32768
    func.func @padded(%i: !index, %x: memref<?x512xf32>, %y: memref<?x512xf32>) {
      %c0 = arith.constant 0 : index
      pit.forall %ids at %pos in %i : !index chunk 8 {
        %t = memref.alloc() : memref<8x512xf32>
        pit.sread %x[%pos : !pit.ids<8>, %c0] into %t pad(1.0 : f32) : memref<?x512xf32> -> memref<8x512xf32>
        %r = memref.alloc() : memref<8x512xf32>
        linalg.exp ins(%t : memref<8x512xf32>) outs(%r : memref<8x512xf32>)
        pit.swrite %r into %y[%pos : !pit.ids<8>, %c0] : memref<8x512xf32> into memref<?x512xf32>
      }
      return
    }
    // CHECK: gpu.func @parts({{.*}} shared_bytes = 16384
    func.func @parts(%i: !index, %x: memref<?x512xf32>, %y: memref<?x256xf32>) {
      %c0 = arith.constant 0 : index
      pit.forall %ids at %pos in %i : !index chunk 8 {
        %t = memref.alloc() : memref<8x256xf32>
        pit.sread %x[%pos : !pit.ids<8>, %c0] into %t : memref<?x512xf32> -> memref<8x256xf32>
        %r = memref.alloc() : memref<8x256xf32>
        linalg.exp ins(%t : memref<8x256xf32>) outs(%r : memref<8x256xf32>)
        pit.swrite %r into %y[%pos : !pit.ids<8>, %c0] : memref<8x256xf32> into memref<?x256xf32>
      }
      return
    }
  }
}
