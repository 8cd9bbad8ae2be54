// RUN: pit-opt %s -pit-lower-f8 | FileCheck %s
// RUN: pit-opt %s -pit-lower-f8 | FileCheck %s --check-prefix=NONE

// What is computed with each of the types is checked in test/Elements.

// NONE-NOT: arith.{{extf|truncf}} {{.*}}f8

// CHECK-LABEL: func @extend
// CHECK-SAME: %[[X:.*]]: f8E4M3FN
func.func @extend(%x: f8E4M3FN) -> f32 {
  // CHECK: %[[I:.*]] = arith.bitcast %[[X]] : f8E4M3FN to i8
  // CHECK: arith.extui %[[I]] : i8 to i32
  // CHECK: arith.subf
  // CHECK: %[[R:.*]] = arith.bitcast %{{.*}} : i32 to f32
  // CHECK: return %[[R]]
  %r = arith.extf %x : f8E4M3FN to f32
  return %r : f32
}

// A device multiplies: LLVM's passes for devices take long for sums of what is shifted.
// CHECK-LABEL: gpu.func @extend
gpu.module @kernels {
  gpu.func @extend(%x: f8E5M2, %y: memref<f32>) kernel {
    // CHECK: arith.shli
    // CHECK-NEXT: arith.bitcast
    // CHECK: arith.constant 5.19229686E+33 : f32
    // CHECK-NEXT: arith.mulf
    // CHECK-NOT: arith.addi
    // CHECK: gpu.return
    %r = arith.extf %x : f8E5M2 to f32
    memref.store %r, %y[] : memref<f32>
    gpu.return
  }
}

// Of vectors, to other types by way of f32, which is exact.
// CHECK-LABEL: func @vectors
func.func @vectors(%x: vector<4xf8E5M2>) -> (vector<4xf64>, vector<4xbf16>) {
  // CHECK-DAG: arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
  // CHECK-DAG: arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
  %a = arith.extf %x : vector<4xf8E5M2> to vector<4xf64>
  %b = arith.extf %x : vector<4xf8E5M2> to vector<4xbf16>
  return %a, %b : vector<4xf64>, vector<4xbf16>
}

// CHECK-LABEL: func @truncate
func.func @truncate(%x: vector<4xf32>) -> vector<4xf8E5M2> {
  // CHECK: %[[I:.*]] = arith.trunci %{{.*}} : vector<4xi32> to vector<4xi8>
  // CHECK: %[[R:.*]] = arith.bitcast %[[I]] : vector<4xi8> to vector<4xf8E5M2>
  // CHECK: return %[[R]]
  %r = arith.truncf %x : vector<4xf32> to vector<4xf8E5M2>
  return %r : vector<4xf8E5M2>
}

// From f64 it is rounded once: to odd before.
// CHECK-LABEL: func @once
func.func @once(%x: f64) -> f8E4M3FN {
  // CHECK: %[[N:.*]] = arith.truncf %{{.*}} : f64 to f32
  // CHECK: arith.extf %[[N]] : f32 to f64
  // CHECK: arith.select
  // CHECK: arith.bitcast %{{.*}} : i8 to f8E4M3FN
  %r = arith.truncf %x : f64 to f8E4M3FN
  return %r : f8E4M3FN
}

// Other types are left alone.
// CHECK-LABEL: func @others
func.func @others(%x: f16, %y: f32) -> (f32, bf16) {
  // CHECK: arith.extf %{{.*}} : f16 to f32
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  %a = arith.extf %x : f16 to f32
  %b = arith.truncf %y : f32 to bf16
  return %a, %b : f32, bf16
}
