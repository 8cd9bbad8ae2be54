// RUN: pit-opt %s -pit-lower-bf16 | FileCheck %s

// CHECK-LABEL: func @wide
// CHECK-SAME: (%[[M:.*]]: memref<4xi16>, %[[I:.*]]: index) -> f32
func.func @wide(%m: memref<4xbf16>, %i: index) -> f32 {
  // CHECK: %[[X:.*]] = memref.load %[[M]][%[[I]]] : memref<4xi16>
  // CHECK: %[[L:.*]] = arith.extui %[[X]] : i16 to i32
  // CHECK: arith.shli %[[L]]
  // CHECK: return
  %x = memref.load %m[%i] : memref<4xbf16>
  %w = arith.extf %x : bf16 to f32
  return %w : f32
}

// CHECK-LABEL: func @doubles
func.func @doubles(%x: vector<4xbf16>, %d: vector<4xf64>)
    -> (vector<4xf64>, vector<4xbf16>) {
  // CHECK-DAG: arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
  // CHECK-DAG: arith.truncf %{{.*}} : vector<4xf64> to vector<4xf32>
  // CHECK: return %{{.*}}, %{{.*}} : vector<4xf64>, vector<4xi16>
  %w = arith.extf %x : vector<4xbf16> to vector<4xf64>
  %n = arith.truncf %d : vector<4xf64> to vector<4xbf16>
  return %w, %n : vector<4xf64>, vector<4xbf16>
}

// CHECK-LABEL: func @constants
func.func @constants() -> (bf16, vector<2xbf16>, vector<2xbf16>) {
  // CHECK-DAG: arith.constant 16256 : i16
  // CHECK-DAG: arith.constant dense<16256> : vector<2xi16>
  // CHECK-DAG: arith.constant dense<[16256, -16384]> : vector<2xi16>
  %a = arith.constant 1.0 : bf16
  %b = arith.constant dense<1.0> : vector<2xbf16>
  %c = arith.constant dense<[1.0, -2.0]> : vector<2xbf16>
  return %a, %b, %c : bf16, vector<2xbf16>, vector<2xbf16>
}

// Other floats keep their types.
// CHECK-LABEL: func @other
// CHECK-SAME: memref<2xf16>
func.func @other(%m: memref<2xf16>, %i: index) -> f32 {
  // CHECK: arith.extf %{{.*}} : f16 to f32
  %x = memref.load %m[%i] : memref<2xf16>
  %w = arith.extf %x : f16 to f32
  return %w : f32
}

// CHECK-LABEL: func @flags
func.func @flags(%x: f16, %y: f32) -> (f32, f16) {
  // CHECK: arith.extf %{{.*}} : f16 to f32
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %w = arith.extf %x fastmath<contract> : f16 to f32
  %n = arith.truncf %y fastmath<contract> : f32 to f16
  return %w, %n : f32, f16
}
