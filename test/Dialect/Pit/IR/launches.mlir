// How a kernel is launched prints as it is read; what is not the case is left out.

// RUN: pit-opt %s | pit-opt | FileCheck %s

gpu.module @pit_kernels {
  // CHECK: gpu.func @plain() kernel attributes {pit.launch_info = #pit.launch_info<threads = 32>}
  gpu.func @plain() kernel attributes {pit.launch_info = #pit.launch_info<
      threads = 32, shared_bytes = 0, grid = iterations, splits = 1, cluster = 1, tensor_maps = []>} {
    gpu.return
  }
  // CHECK: gpu.func @steps(%{{.*}}) kernel attributes {pit.launch_info = #pit.launch_info<threads = 128, shared_bytes = 49152, scratch_bytes = 64, grid = steps, splits = 4, partial_bytes = 16384, predicated = true, preferred = @machine>}
  gpu.func @steps(%x: memref<?x?xf16>) kernel attributes {pit.launch_info = #pit.launch_info<
      threads = 128, shared_bytes = 49152, scratch_bytes = 64, grid = steps, splits = 4, partial_bytes = 16384,
      predicated = true, preferred = @machine>} {
    gpu.return
  }
  // CHECK: gpu.func @machine(%{{.*}}) kernel attributes {pit.launch_info = #pit.launch_info<threads = 384, grid = machine, stream_bytes = 131072, cluster = 2, pdl = true, fills = 0, fills_at_most = 1024, tensor_maps = [<argument = 0, box = [128, 64], swizzle = 128>, <argument = 0, box = [64, 32], swizzle = 64, along_k = 1, order = [1, 0]>]>}
  gpu.func @machine(%x: memref<?x?xf16>, %a: !llvm.ptr, %b: !llvm.ptr) kernel attributes {pit.launch_info = #pit.launch_info<
      threads = 384, grid = machine, stream_bytes = 131072, cluster = 2, pdl = true, fills = 0, fills_at_most = 1024,
      tensor_maps = [#pit.tensor_map<argument = 0, box = [128, 64], swizzle = 128>,
                     <argument = 0, box = [64, 32], swizzle = 64, along_k = 1, order = [1, 0]>]>} {
    gpu.return
  }
}

// CHECK: func.func private @grids() attributes {test.groups = #pit.launch_info<threads = 64, grid = groups>, test.one = #pit.launch_info<threads = 64, grid = one_block>, test.rows = #pit.launch_info<threads = 64, grid = rows, splits = 2>, test.taken = #pit.launch_info<threads = 64, grid = taken>, test.tiles = #pit.launch_info<threads = 64, grid = tiles>}
func.func private @grids() attributes {
  test.one = #pit.launch_info<threads = 64, grid = one_block>, test.groups = #pit.launch_info<threads = 64, grid = groups>,
  test.rows = #pit.launch_info<threads = 64, grid = rows, splits = 2>, test.tiles = #pit.launch_info<threads = 64, grid = tiles>,
  test.taken = #pit.launch_info<threads = 64, grid = taken>}

// CHECK-LABEL: func.func @fill
// CHECK: pit.launch @pit_kernels::@rows iterations(%[[N:.*]]) fill(%[[O:.*]] : memref<?x64xf16> by @pit_kernels::@zeros elements(%[[ALL:.*]])) ins(%{{.*}} : memref<?x64xf16>) outs(%[[O]] : memref<?x64xf16>)
func.func @fill(%n: index, %all: index, %a: memref<?x64xf16>, %o: memref<?x64xf16>) {
  pit.launch @pit_kernels::@rows iterations(%n)
    fill(%o : memref<?x64xf16> by @pit_kernels::@zeros elements(%all))
    ins(%a : memref<?x64xf16>) outs(%o : memref<?x64xf16>)
  return
}

// CHECK-LABEL: func.func @status
// CHECK: pit.check_status %{{.*}}
func.func @status(%s: i32) {
  pit.check_status %s
  return
}
