// RUN: pit-opt %s -split-input-file -verify-diagnostics -pit-lower-device-math | FileCheck %s

// CHECK-LABEL: func.func @exp
// CHECK: math.roundeven
// CHECK-COUNT-2: math.fma
// CHECK-COUNT-2: math.exp2
// CHECK-NOT: math.exp
func.func @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @exp_approximate
// CHECK: %[[P:.*]] = arith.mulf
// CHECK-NEXT: %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[P]])
// CHECK-NEXT: return %[[E]]
func.func @exp_approximate(%x: f32) -> f32 {
  %y = math.exp %x fastmath<afn> : f32
  return %y : f32
}

// CHECK-LABEL: func.func @erf_approximate
// CHECK-COUNT-6: math.fma
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: math.copysign
// CHECK-NOT: arith.select
func.func @erf_approximate(%x: f32) -> f32 {
  %y = math.erf %x fastmath<afn> : f32
  return %y : f32
}

// max(x, 0) - |x| 2^Q(|x|), whatever the order of the factors.
// CHECK-LABEL: func.func @gelu
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[A:.*]] = math.absf %[[X]]
// CHECK-NEXT: %[[B:.*]] = llvm.intr.minimum(%[[A]], %{{.*}})
// CHECK-COUNT-6: math.fma
// CHECK-NEXT: %[[P:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NEXT: %[[R:.*]] = llvm.intr.maximum(%[[X]], %{{.*}})
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[B]]
// CHECK-NEXT: %[[Y:.*]] = math.fma %[[N]], %[[P]], %[[R]]
// CHECK-NEXT: return %[[Y]]
func.func @gelu(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %c = arith.constant 0.707106781 : f32
  %z = arith.mulf %c, %x : f32
  %e = math.erf %z fastmath<afn> : f32
  %s = arith.addf %one, %e : f32
  %h = arith.mulf %x, %half : f32
  %y = arith.mulf %s, %h : f32
  return %y : f32
}

// Twice as much, which is a factor of what is positive. An erf that is exact stays.
// CHECK-LABEL: func.func @gelu_doubled
// CHECK: %[[R:.*]] = llvm.intr.maximum
// CHECK-NEXT: arith.mulf %[[R]], %{{.*}} : f32
// CHECK-LABEL: func.func @gelu_exact
// CHECK: math.copysign
// CHECK: arith.select
func.func @gelu_doubled(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %c = arith.constant 0.707106781 : f32
  %z = arith.mulf %x, %c : f32
  %e = math.erf %z fastmath<afn> : f32
  %s = arith.addf %e, %one : f32
  %h = arith.mulf %x, %one : f32
  %y = arith.mulf %h, %s : f32
  return %y : f32
}
func.func @gelu_exact(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %c = arith.constant 0.707106781 : f32
  %z = arith.mulf %x, %c : f32
  %e = math.erf %z : f32
  %s = arith.addf %e, %one : f32
  %h = arith.mulf %x, %half : f32
  %y = arith.mulf %h, %s : f32
  return %y : f32
}

// CHECK-LABEL: func.func @silu
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[S:.*]] = arith.addf
// CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[S]])
// CHECK: arith.mulf %[[X]], %[[R]]
func.func @silu(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %n = arith.negf %x : f32
  %e = math.exp %n fastmath<afn> : f32
  %s = arith.addf %e, %one : f32
  %y = arith.divf %x, %s fastmath<afn> : f32
  return %y : f32
}

// A divisor of which nothing is known may be subnormal.
// CHECK-LABEL: func.func @divide
// CHECK: arith.divf
func.func @divide(%x: f32, %y: f32) -> f32 {
  %z = arith.divf %x, %y fastmath<afn> : f32
  return %z : f32
}

// What PTX has stays, in f64 too.
// CHECK-LABEL: func.func @native
// CHECK: math.sqrt %{{.*}} : f64
// CHECK: math.floor %{{.*}} : f64
// CHECK: math.exp2 %{{.*}} : f32
func.func @native(%x: f64, %y: f32) -> (f64, f32) {
  %a = math.sqrt %x : f64
  %b = math.floor %a : f64
  %c = math.exp2 %y : f32
  return %b, %c : f64, f32
}

// CHECK-LABEL: func.func @rsqrt
// CHECK: %[[S:.*]] = math.sqrt %{{.*}} : f64
// CHECK: arith.divf %{{.*}}, %[[S]]
func.func @rsqrt(%x: f64) -> f64 {
  %a = math.rsqrt %x : f64
  return %a : f64
}

// LLVM compares with 0 instead.
// CHECK-LABEL: func.func @bits
// CHECK-NOT: arith.fpto{{.*}} i1
// CHECK-COUNT-2: arith.cmpf oge
// CHECK: arith.fptosi %{{.*}} : f32 to i8
func.func @bits(%x: f32, %y: bf16) -> (i1, i1, i8) {
  %a = arith.fptosi %x : f32 to i1
  %b = arith.fptoui %y : bf16 to i1
  %c = arith.fptosi %x : f32 to i8
  return %a, %b, %c : i1, i1, i8
}

// Exact, however large the quotient is.
// CHECK-LABEL: func.func @remainder
// CHECK: scf.while
// CHECK: math.fma {{.*}} : f64
// CHECK: math.copysign {{.*}} : f16
// CHECK: scf.while
// CHECK-NOT: arith.remf
func.func @remainder(%x: f16, %y: f16, %z: f64) -> (f16, f64) {
  %a = arith.remf %x, %y : f16
  %b = arith.remf %z, %z : f64
  return %a, %b : f16, f64
}

// Large arguments are reduced in f64.
// CHECK-LABEL: func.func @sin
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK-NOT: math.sin
func.func @sin(%x: f32) -> f32 {
  %a = math.sin %x : f32
  return %a : f32
}

// CHECK-LABEL: func.func @others
// CHECK-NOT: math.{{acos|acosh|asin|asinh|atan|atanh|cbrt|cos|cosh|erf|erfc|expm1|log|log10|log1p|log2|powf|sinh|sincos|tan|tanh|fpowi}}
// CHECK: return
func.func @others(%x: f32, %i: i32, %o: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %0 = math.acos %x : f32
  %1 = math.acosh %0 : f32
  %2 = math.asin %1 : f32
  %3 = math.asinh %2 : f32
  %4 = math.atan %3 : f32
  %5 = math.atanh %4 : f32
  %6 = math.atan2 %5, %x : f32
  %7 = math.cbrt %6 : f32
  %8 = math.cos %7 : f32
  %9 = math.cosh %8 : f32
  %10 = math.erf %9 : f32
  %11 = math.erfc %10 : f32
  %12 = math.expm1 %11 : f32
  %13 = math.log %12 : f32
  %14 = math.log10 %13 : f32
  %15 = math.log1p %14 : f32
  %16 = math.log2 %15 : f32
  %17 = math.powf %16, %x : f32
  %18 = math.sinh %17 : f32
  %19 = math.tan %18 : f32
  %20 = math.tanh %19 : f32
  %21 = math.fpowi %20, %i : f32, i32
  %22, %23 = math.sincos %21 : f32
  memref.store %22, %o[%c0] : memref<32xf32>
  return
}

// Calls of libdevice.
// CHECK-LABEL: func.func @f64_exp
// CHECK-COUNT-2: llvm.call @__nv_exp(%{{.*}}) : (f64) -> f64
// CHECK-NOT: math.exp
// CHECK: return
func.func @f64_exp(%x: f64) -> f64 {
  %y = math.exp %x : f64
  %z = math.exp %y : f64
  return %z : f64
}

// CHECK-LABEL: func.func @f64_others
// CHECK-NOT: math.{{acos|acosh|asin|asinh|atan|atanh|cbrt|cos|cosh|erf|erfc|exp|expm1|log|log10|log1p|log2|powf|sin|sinh|sincos|tan|tanh|fpowi}}
// CHECK: return
func.func @f64_others(%x: f64, %i: i32, %o: memref<32xf64>) {
  %c0 = arith.constant 0 : index
  %0 = math.acos %x : f64
  %1 = math.acosh %0 : f64
  %2 = math.asin %1 : f64
  %3 = math.asinh %2 : f64
  %4 = math.atan %3 : f64
  %5 = math.atanh %4 : f64
  %6 = math.cbrt %5 : f64
  %7 = math.cos %6 : f64
  %8 = math.cosh %7 : f64
  %9 = math.erf %8 : f64
  %10 = math.erfc %9 : f64
  %11 = math.exp %10 : f64
  %12 = math.exp2 %11 : f64
  %13 = math.expm1 %12 : f64
  %14 = math.log %13 : f64
  %15 = math.log10 %14 : f64
  %16 = math.log1p %15 : f64
  %17 = math.log2 %16 : f64
  %18 = math.sinh %17 : f64
  %19 = math.tan %18 : f64
  %20 = math.tanh %19 : f64
  %21 = math.atan2 %20, %x : f64
  %22 = math.powf %21, %x : f64
  %23 = math.fpowi %22, %i : f64, i32
  %24, %25 = math.sincos %23 : f64
  memref.store %24, %o[%c0] : memref<32xf64>
  return
}

// -----

// CHECK-LABEL: func.func @extremes
// CHECK: llvm.intr.maximum
// CHECK: llvm.intr.minimum
// CHECK: llvm.intr.maxnum
// CHECK: llvm.intr.minnum
// CHECK: arith.maximumf %{{.*}} : f64
func.func @extremes(%x: f32, %y: f32, %z: f64, %w: f64) -> (f32, f64) {
  %0 = arith.maximumf %x, %y : f32
  %1 = arith.minimumf %0, %y : f32
  %2 = arith.maxnumf %1, %y : f32
  %3 = arith.minnumf %2, %y : f32
  %4 = arith.maximumf %z, %w : f64
  return %3, %4 : f32, f64
}

// CHECK-LABEL: func.func @approximate_exp2
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NOT: math.exp2
func.func @approximate_exp2(%x: f32) -> f32 {
  %0 = math.exp2 %x fastmath<afn> : f32
  return %0 : f32
}

// -----

func.func @ipowi(%x: i32) -> i32 {
  // expected-error @+1 {{'math.ipowi' op of type 'i32' has no lowering for a device; functions of f64, of f32, and of what extends to f32, have one}}
  %y = math.ipowi %x, %x : i32
  return %y : i32
}
