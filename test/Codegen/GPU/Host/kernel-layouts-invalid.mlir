// RUN: pit-opt %s --split-input-file --pit-kernel-layouts --verify-diagnostics

func.func @missing(%x: memref<8xf32>, %n: index) {
  // expected-error @+1 {{hands 1 operands to @pit_kernels::@k, which is no function that takes them}}
  pit.launch @pit_kernels::@k iterations(%n) outs(%x : memref<8xf32>)
  return
}

// -----

func.func @rank(%x: memref<8x8xf32>, %n: index) {
  // expected-error @+1 {{hands 'memref<8x8xf32>' to argument 0 of its kernel, 'memref<8xf32>'}}
  pit.launch @pit_kernels::@k iterations(%n) outs(%x : memref<8x8xf32>)
  return
}
module @pit_kernels attributes {pit.kernels} {
  func.func @k(%a: memref<8xf32>) {
    return
  }
}

// -----

func.func @space(%x: memref<8xf32, 3>, %n: index) {
  // expected-error @+1 {{hands 'memref<8xf32, 3>' to a kernel, in memory space 3 : i64; kernels take the device's global memory}}
  pit.launch @pit_kernels::@k iterations(%n) outs(%x : memref<8xf32, 3>)
  return
}
module @pit_kernels attributes {pit.kernels} {
  func.func @k(%a: memref<8xf32>) {
    return
  }
}
