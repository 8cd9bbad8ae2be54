// RUN: pit-opt %s --split-input-file --pit-outline-kernels --verify-diagnostics

func.func private @theirs(f32) -> f32

func.func @call(%a: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.map ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) (%x: f32, %y: f32) {
    // expected-error @+1 {{is in a kernel, which calls no functions; give @theirs a body in this module, and inline the call}}
    %z = func.call @theirs(%x) : (f32) -> f32
    linalg.yield %z : f32
  }
  return %r : tensor<4xf32>
}

// -----

func.func @space(%a: memref<4xf32>, %b: memref<4xf32, 3>) {
  // expected-error @+1 {{becomes a kernel, and accesses 'memref<4xf32, 3>' in memory space 3 : i64; kernels access the device's global memory}}
  memref.copy %a, %b : memref<4xf32> to memref<4xf32, 3>
  return
}
