// RUN: pit-opt %s -pit-lower-math | FileCheck %s --check-prefixes=CHECK,HOST
// RUN: pit-opt %s -pit-lower-math=device=true | FileCheck %s --check-prefixes=CHECK,DEVICE

// Between the two, whichever is larger than what.
// CHECK-LABEL: func.func @clampf
// CHECK-SAME: (%[[X:.*]]: f64, %[[LOW:.*]]: f64, %[[HIGH:.*]]: f64)
// CHECK-NEXT: %[[MAX:.*]] = arith.maximumf %[[X]], %[[LOW]] fastmath<nnan>
// CHECK-NEXT: %[[MIN:.*]] = arith.minimumf %[[MAX]], %[[HIGH]] fastmath<nnan>
// CHECK-NEXT: return %[[MIN]]
func.func @clampf(%x: f64, %low: f64, %high: f64) -> f64 {
  %r = math.clampf %x to [%low, %high] fastmath<nnan> : f64
  return %r : f64
}

// In integers, so that f16 and bf16 need no wider type, in which their subnormal
// numbers would be normal.
// CHECK-LABEL: func.func @classes
// CHECK-DAG: %[[MASK:.*]] = arith.constant dense<32767> : vector<4xi16>
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<31744> : vector<4xi16>
// CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<1024> : vector<4xi16>
// CHECK-DAG: %[[RANGE:.*]] = arith.constant dense<30720> : vector<4xi16>
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : vector<4xf16> to vector<4xi16>
// CHECK: %[[ABS:.*]] = arith.andi %[[BITS]], %[[MASK]]
// CHECK: arith.cmpi eq, %[[ABS]], %[[INF]]
// CHECK: %[[ABOVE:.*]] = arith.subi %{{.*}}, %[[LEAST]]
// CHECK: arith.cmpi ult, %[[ABOVE]], %[[RANGE]]
func.func @classes(%x: vector<4xf16>) -> (vector<4xi1>, vector<4xi1>) {
  %i = math.isinf %x : vector<4xf16>
  %n = math.isnormal %x : vector<4xf16>
  return %i, %n : vector<4xi1>, vector<4xi1>
}

// CHECK-LABEL: func.func @constant_powers
// CHECK-SAME: (%[[X:.*]]: vector<8xf32>
// CHECK-COUNT-2: arith.mulf %[[X]], %[[X]]
// CHECK: %[[CUBE:.*]] = arith.mulf
// CHECK: arith.divf %{{.*}}, %[[CUBE]]
// CHECK-COUNT-4: arith.muli
// CHECK-NOT: math.
// CHECK: return
func.func @constant_powers(%x: vector<8xf32>, %i: i8) -> (vector<8xf32>, vector<8xf32>, i8) {
  %two = arith.constant dense<2> : vector<8xi32>
  %three = arith.constant dense<-3> : vector<8xi32>
  %nine = arith.constant 9 : i8
  %a = math.fpowi %x, %two : vector<8xf32>, vector<8xi32>
  %b = math.fpowi %x, %three : vector<8xf32>, vector<8xi32>
  %c = math.ipowi %i, %nine : i8
  return %a, %b, %c : vector<8xf32>, vector<8xf32>, i8
}

// Each product would be rounded.
// CHECK-LABEL: func.func @narrow_power
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK-COUNT-3: arith.mulf {{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @narrow_power(%x: bf16) -> bf16 {
  %n = arith.constant 5 : i32
  %r = math.fpowi %x, %n : bf16, i32
  return %r : bf16
}

// CHECK-LABEL: func.func @ipowi
// CHECK: scf.for
// CHECK: arith.shrui
// CHECK: arith.cmpi slt
// CHECK-NOT: math.
// CHECK: return
func.func @ipowi(%x: index, %n: index) -> index {
  %r = math.ipowi %x, %n : index
  return %r : index
}

// CHECK-LABEL: func.func @fpowi
// HOST: %[[ABS:.*]] = math.absf %{{.*}} : f32
// HOST: %[[WIDE:.*]] = arith.extf %[[ABS]] : f32 to f64
// HOST: %[[N:.*]] = arith.sitofp %{{.*}} : i32 to f64
// HOST: math.powf %[[WIDE]], %[[N]]
// HOST: math.copysign
// DEVICE: math.fpowi
func.func @fpowi(%x: f32, %n: i32) -> f32 {
  %r = math.fpowi %x, %n : f32, i32
  return %r : f32
}

// The product is exact in f32, and in f64.
// CHECK-LABEL: func.func @fma
// HOST-COUNT-3: arith.extf %{{.*}} : f16 to f32
// HOST: arith.mulf %{{.*}} : f32
// HOST: arith.truncf %{{.*}} : f32 to f16
// HOST-COUNT-3: arith.extf %{{.*}} : bf16 to f64
// HOST: arith.mulf %{{.*}} : f64
// HOST: arith.truncf %{{.*}} : f64 to f32
// HOST: arith.truncf %{{.*}} : f32 to bf16
// HOST: math.fma %{{.*}} : f32
// DEVICE: math.fma %{{.*}} : f16
// DEVICE: math.fma %{{.*}} : bf16
// DEVICE: math.fma %{{.*}} : f32
func.func @fma(%x: f16, %y: bf16, %z: f32) -> (f16, bf16, f32) {
  %a = math.fma %x, %x, %x : f16
  %b = math.fma %y, %y, %y : bf16
  %c = math.fma %z, %z, %z : f32
  return %a, %b, %c : f16, bf16, f32
}

// The way through f32 goes to the neighbour whose last bit is 1.
// CHECK-LABEL: func.func @truncf
// HOST: %[[NEAR:.*]] = arith.truncf %[[X:.*]] : f64 to f32
// HOST: %[[BACK:.*]] = arith.extf %[[NEAR]] : f32 to f64
// HOST: arith.cmpf one, %[[BACK]], %[[X]]
// HOST: arith.truncf %{{.*}} : f32 to f16
// DEVICE: arith.truncf %{{.*}} : f64 to f16
func.func @truncf(%x: f64) -> (f16, f32) {
  %r = arith.truncf %x : f64 to f16
  // CHECK: arith.truncf %{{.*}} : f64 to f32
  %s = arith.truncf %x : f64 to f32
  return %r, %s : f16, f32
}

// CHECK-LABEL: func.func @difference
// HOST: call @expm1(%{{.*}}) : (f64) -> f64
// HOST: call @expm1f(%{{.*}}) : (f32) -> f32
// DEVICE-COUNT-2: math.expm1
func.func @difference(%x: f64, %y: f32) -> (f64, f32) {
  %a = math.expm1 %x : f64
  %b = math.expm1 %y : f32
  return %a, %b : f64, f32
}
