// RUN: pit-opt %s --split-input-file --convert-pit-launch --verify-diagnostics

gpu.module @pit_kernels {
  gpu.func @k(%s: f32, %x: memref<?x?xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @h>} {
    gpu.return
  }
  gpu.func @h(%s: f32, %x: memref<?x?xf32>, %m: !llvm.ptr) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 384, tensor_maps = [<argument = 2, box = [64, 32], swizzle = 128>]>} {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %x: memref<?x?xf32>, %n: index, %s: f32) {
  // expected-error @below {{launches @h, whose tensor map 0, #pit.tensor_map<argument = 2, box = [64, 32], swizzle = 128>, is of no memref among the launch's 2 operands}}
  pit.launch @pit_kernels::@k iterations(%n) ins(%s : f32) outs(%x : memref<?x?xf32>)
  return
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%s: f32, %x: memref<?x?xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @h>} {
    gpu.return
  }
  gpu.func @h(%s: f32, %x: memref<?x?xf32>, %m: !llvm.ptr) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 384, tensor_maps = [<argument = 0, box = [64, 32], swizzle = 128>]>} {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %x: memref<?x?xf32>, %n: index, %s: f32) {
  // expected-error @below {{is of no memref among the launch's 2 operands}}
  pit.launch @pit_kernels::@k iterations(%n) ins(%s : f32) outs(%x : memref<?x?xf32>)
  return
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%s: f32, %x: memref<?x?xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @h>} {
    gpu.return
  }
  // expected-error @below {{has tensor map 0 = #pit.tensor_map<argument = 1, box = [64], swizzle = 128> with a box of rank 1; argument 1 is 'memref<?x?xf32>' of rank 2}}
  gpu.func @h(%s: f32, %x: memref<?x?xf32>, %m: !llvm.ptr) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 384, tensor_maps = [<argument = 1, box = [64], swizzle = 128>]>} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%s: f32, %x: memref<?x?xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @h>} {
    gpu.return
  }
  gpu.func @h(%s: f32, %x: memref<?x?xf32>, %m: !llvm.ptr) kernel {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %x: memref<?x?xf32>, %n: index, %s: f32) {
  // expected-error @below {{launches @pit_kernels::@h, which has no pit.launch_info}}
  pit.launch @pit_kernels::@k iterations(%n) ins(%s : f32) outs(%x : memref<?x?xf32>)
  return
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%x: memref<4xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @h>} {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %x: memref<4xf32>, %n: index) {
  // expected-error @below {{launches @pit_kernels::@h, which is no gpu.func}}
  pit.launch @pit_kernels::@k iterations(%n) outs(%x : memref<4xf32>)
  return
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%x: memref<4x4xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 256>} {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %x: memref<4x4xf32, strided<[8, 1], offset: ?>>, %n: index) {
  // expected-error @below {{hands 'memref<4x4xf32, strided<[8, 1], offset: ?>>' to argument 0 of @k, which takes 'memref<4x4xf32>': run pit-kernel-layouts before convert-pit-to-gpu}}
  pit.launch @pit_kernels::@k iterations(%n) outs(%x : memref<4x4xf32, strided<[8, 1], offset: ?>>)
  return
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%s: f32, %x: memref<4xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @h>} {
    gpu.return
  }
  gpu.func @h(%s: f32, %x: memref<4xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 384, grid = tiles>} {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %x: memref<4xf32>, %n: index, %s: f32) {
  // expected-error @below {{launches @h, which fills no argument; its fill is of argument 1}}
  pit.launch @pit_kernels::@k iterations(%n) fill(%x : memref<4xf32> by @pit_kernels::@k elements(%n)) ins(%s : f32) outs(%x : memref<4xf32>)
  return
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%x: memref<4xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @h>} {
    gpu.return
  }
  gpu.func @h(%x: memref<4xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 384, grid = tiles, fills = 0>} {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %x: memref<4xf32>, %n: index) {
  // expected-error @below {{launches @h, which fills argument 0; its fill is of no argument}}
  pit.launch @pit_kernels::@k iterations(%n) outs(%x : memref<4xf32>)
  return
}
