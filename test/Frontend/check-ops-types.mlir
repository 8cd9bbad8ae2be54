// RUN: pit-opt %s -split-input-file -verify-diagnostics -pit-check-ops
// RUN: pit-opt %s -split-input-file -verify-diagnostics -pit-to-cpu
// RUN: pit-opt %s -split-input-file -verify-diagnostics -pit-to-cuda=chip=sm_80

// Integers of any width up to 64 bits are computed with, in the bodies of ops.
func.func @taken(%a: tensor<8xi8>, %b: tensor<8xindex>) -> (tensor<8xi8>, tensor<8xindex>) {
  %r = linalg.map ins(%a : tensor<8xi8>) outs(%a : tensor<8xi8>) (%x: i8, %o: i8) {
    %0 = arith.trunci %x : i8 to i3
    %1 = arith.muli %0, %0 : i3
    %2 = arith.extsi %1 : i3 to i8
    linalg.yield %2 : i8
  }
  %s = linalg.map ins(%b : tensor<8xindex>) outs(%b : tensor<8xindex>) (%x: index, %o: index) {
    %0 = arith.addi %x, %x : index
    linalg.yield %0 : index
  }
  return %r, %s : tensor<8xi8>, tensor<8xindex>
}

// -----

func.func @f128(%a: tensor<8xf64>) -> tensor<8xf64> {
  // expected-error @+1 {{'tensor.empty' op has a value of type 'tensor<8xf128>', but there is no arithmetic of 'f128'; pit takes f64, f32, f16, bf16, f8E4M3FN, f8E5M2, index and integers of 1 to 64 bits}}
  %e = tensor.empty() : tensor<8xf128>
  %q = linalg.map ins(%a : tensor<8xf64>) outs(%e : tensor<8xf128>) (%x: f64, %o: f128) {
    %0 = arith.extf %x : f64 to f128
    linalg.yield %0 : f128
  }
  %r = linalg.map ins(%q : tensor<8xf128>) outs(%a : tensor<8xf64>) (%x: f128, %o: f64) {
    %0 = arith.truncf %x : f128 to f64
    linalg.yield %0 : f64
  }
  return %r : tensor<8xf64>
}

// -----

func.func @f8(%a: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.map ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) (%x: f32, %o: f32) {
    // expected-error @+1 {{'arith.truncf' op has a value of type 'f8E4M3', but there is no arithmetic of 'f8E4M3'}}
    %0 = arith.truncf %x : f32 to f8E4M3
    %1 = arith.extf %0 : f8E4M3 to f32
    linalg.yield %1 : f32
  }
  return %r : tensor<8xf32>
}

// -----

func.func @constant(%a: tensor<8xf64>) -> tensor<8xf64> {
  %r = linalg.map ins(%a : tensor<8xf64>) outs(%a : tensor<8xf64>) (%x: f64, %o: f64) {
    // expected-error @+1 {{'arith.constant' op has a value of type 'f80', but there is no arithmetic of 'f80'}}
    %c = arith.constant 2.0 : f80
    %0 = arith.truncf %c : f80 to f64
    %1 = arith.addf %x, %0 : f64
    linalg.yield %1 : f64
  }
  return %r : tensor<8xf64>
}

// -----

func.func @i128(%a: tensor<8xi64>) -> tensor<8xi64> {
  %r = linalg.map ins(%a : tensor<8xi64>) outs(%a : tensor<8xi64>) (%x: i64, %o: i64) {
    // expected-error @+1 {{'arith.extsi' op has a value of type 'i128', but there is no arithmetic of 'i128'; pit takes f64, f32, f16, bf16, f8E4M3FN, f8E5M2, index and integers of 1 to 64 bits}}
    %0 = arith.extsi %x : i64 to i128
    %1 = arith.muli %0, %0 : i128
    %2 = arith.trunci %1 : i128 to i64
    linalg.yield %2 : i64
  }
  return %r : tensor<8xi64>
}

// -----

// What is computed with need not be stored.
func.func @i4(%a: tensor<8xi8>) -> tensor<8xi8> {
  // expected-error @+1 {{'tensor.empty' op has a value of type 'tensor<8xi4>', but tensors do not hold 'i4'; they hold f64, f32, f16, bf16, f8E4M3FN, f8E5M2, index and integers of 1, 8, 16, 32 or 64 bits, which an op's body may truncate and extend}}
  %e = tensor.empty() : tensor<8xi4>
  %q = linalg.map ins(%a : tensor<8xi8>) outs(%e : tensor<8xi4>) (%x: i8, %o: i4) {
    %0 = arith.trunci %x : i8 to i4
    linalg.yield %0 : i4
  }
  %s = pit.sparse %q : tensor<8xi4>
  %r = linalg.map ins(%s : tensor<8xi4>) outs(%a : tensor<8xi8>) (%x: i4, %o: i8) {
    %0 = arith.extsi %x : i4 to i8
    linalg.yield %0 : i8
  }
  return %r : tensor<8xi8>
}

// -----

// expected-error @+1 {{'func.func' op has a value of type 'tensor<8xf8E3M4>', but there is no arithmetic of 'f8E3M4'}}
func.func @argument(%a: tensor<8xf8E3M4>) -> tensor<8xf8E3M4> {
  return %a : tensor<8xf8E3M4>
}

// -----

func.func @rounds(%a: tensor<8xf64>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.map ins(%a : tensor<8xf64>) outs(%b : tensor<8xf32>) (%x: f64, %o: f32) {
    %0 = arith.truncf %x to_nearest_even : f64 to f32
    // expected-error @+1 {{'arith.truncf' op rounds toward_zero, but conversions round to_nearest_even only}}
    %1 = arith.truncf %x toward_zero : f64 to f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  }
  return %r : tensor<8xf32>
}

// -----

func.func @scales(%a: tensor<8xf16>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.map ins(%a, %a : tensor<8xf16>, tensor<8xf16>) outs(%b : tensor<8xf32>) (%x: f16, %y: f16, %o: f32) {
    // expected-error @+1 {{'arith.scaling_extf' op scales by f8E8M0FNU, of which there is no arithmetic; multiply by the scale in f32}}
    %0 = arith.scaling_extf %x, %y : f16, f16 to f32
    linalg.yield %0 : f32
  }
  return %r : tensor<8xf32>
}

// -----

func.func @scalable(%a: memref<?xf32>, %i: index) {
  // expected-error @+1 {{'vector.load' op has a value of type 'vector<[4]xf32>', but pit's targets have no scalable vectors; give the vector a length}}
  %0 = vector.load %a[%i] : memref<?xf32>, vector<[4]xf32>
  vector.store %0, %a[%i] : memref<?xf32>, vector<[4]xf32>
  return
}

// -----

func.func @held(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'llvm.mlir.poison' op has a value of type '!llvm.array<2 x vector<[4]xf32>>', but pit's targets have no scalable vectors}}
  %0 = llvm.mlir.poison : !llvm.array<2 x vector<[4]xf32>>
  return %a : tensor<8xf32>
}
