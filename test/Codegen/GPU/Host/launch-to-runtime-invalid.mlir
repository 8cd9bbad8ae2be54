// RUN: pit-opt %s --split-input-file --convert-pit-launch --verify-diagnostics

gpu.module @pit_kernels {
  gpu.func @k(%s: f32, %x: memref<?x?xf32>) kernel attributes {pit.threads = 256 : i64, pit.hopper = @h} {
    gpu.return
  }
  gpu.func @h(%s: f32, %x: memref<?x?xf32>, %m: !llvm.ptr) kernel
      attributes {pit.threads = 384 : i64, pit.tensor_maps = [{argument = 2 : i64, box = array<i64: 64, 32>, swizzle = 128 : i64}]} {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %x: memref<?x?xf32>, %n: index, %s: f32) {
  // expected-error @below {{launches @h, whose tensor map 0, {argument = 2 : i64, box = array<i64: 64, 32>, swizzle = 128 : i64}, is of no memref among the launch's 2 operands}}
  pit.launch @pit_kernels::@k iterations(%n) ins(%s : f32) outs(%x : memref<?x?xf32>)
  return
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%s: f32, %x: memref<?x?xf32>) kernel attributes {pit.threads = 256 : i64, pit.hopper = @h} {
    gpu.return
  }
  gpu.func @h(%s: f32, %x: memref<?x?xf32>, %m: !llvm.ptr) kernel
      attributes {pit.threads = 384 : i64, pit.tensor_maps = [{argument = 0 : i64, box = array<i64: 64, 32>, swizzle = 128 : i64}]} {
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
  gpu.func @k(%s: f32, %x: memref<?x?xf32>) kernel attributes {pit.threads = 256 : i64, pit.hopper = @h} {
    gpu.return
  }
  gpu.func @h(%s: f32, %x: memref<?x?xf32>, %m: !llvm.ptr) kernel
      attributes {pit.threads = 384 : i64, pit.tensor_maps = [{argument = 1 : i64, box = array<i64: 64>, swizzle = 128 : i64}]} {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %x: memref<?x?xf32>, %n: index, %s: f32) {
  // expected-error @below {{has a box of rank 1, and 'memref<?x?xf32>' is of rank 2}}
  pit.launch @pit_kernels::@k iterations(%n) ins(%s : f32) outs(%x : memref<?x?xf32>)
  return
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%s: f32, %x: memref<?x?xf32>) kernel attributes {pit.threads = 256 : i64, pit.hopper = @h} {
    gpu.return
  }
  gpu.func @h(%s: f32, %x: memref<?x?xf32>, %m: !llvm.ptr) kernel
      attributes {pit.tensor_maps = []} {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %x: memref<?x?xf32>, %n: index, %s: f32) {
  // expected-error @below {{launches @pit_kernels::@h, which does not say pit.threads}}
  pit.launch @pit_kernels::@k iterations(%n) ins(%s : f32) outs(%x : memref<?x?xf32>)
  return
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%x: memref<4xf32>) kernel attributes {pit.threads = 256 : i64, pit.hopper = @h} {
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
  gpu.func @k(%x: memref<4x4xf32>) kernel attributes {pit.threads = 256 : i64} {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %x: memref<4x4xf32, strided<[8, 1], offset: ?>>, %n: index) {
  // expected-error @below {{hands 'memref<4x4xf32, strided<[8, 1], offset: ?>>' to argument 0 of @k, which takes 'memref<4x4xf32>': run pit-kernel-layouts before convert-pit-to-gpu}}
  pit.launch @pit_kernels::@k iterations(%n) outs(%x : memref<4x4xf32, strided<[8, 1], offset: ?>>)
  return
}
