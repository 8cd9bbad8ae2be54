// RUN: pit-opt %s -pit-check-ops -split-input-file -verify-diagnostics -allow-unregistered-dialect -o /dev/null
// RUN: not pit-opt %s -pit-to-cpu -split-input-file -allow-unregistered-dialect -o /dev/null 2>&1 | FileCheck %s
// RUN: not pit-opt %s -pit-to-cuda=chip=sm_80 -split-input-file -allow-unregistered-dialect -o /dev/null 2>&1 | FileCheck %s

// Both pipelines begin with it.
// CHECK: error: 'tosa.exp' op is of dialect tosa, which pit does not take

func.func @tosa(%a: tensor<1x8xf32>) -> tensor<1x8xf32> {
  // expected-error-re @below {{'tosa.exp' op is of dialect tosa, which pit does not take: lower it first, as by mlir-opt --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor))'; taken are affine, arith, {{.*}}, ub, vector}}
  %r = tosa.exp %a : (tensor<1x8xf32>) -> tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}

// -----

func.func @shape(%a: tensor<?xf32>) -> index {
  // expected-error @below {{is of dialect shape, which pit does not take: lower it first, as by mlir-opt --shape-to-shape-lowering --convert-shape-to-std; taken are}}
  %s = shape.shape_of %a : tensor<?xf32> -> tensor<1xindex>
  %z = arith.constant 0 : index
  %r = tensor.extract %s[%z] : tensor<1xindex>
  return %r : index
}

// -----

// Within regions, and of dialects that nobody knows.
func.func @unknown(%a: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<8xf32> {
    // expected-error @below {{'other.op' op is of dialect other, which pit does not take: lower it first; taken are}}
    %y = "other.op"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// All that is taken.
func.func @taken(%a: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %s = pit.sparse %a : tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%s : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %p = ub.poison : f32
  return %r : tensor<8xf32>
}

// -----

// What nobody uses is dropped by the pipelines before, as torch's seed.
// expected-error @below {{'ml_program.global' op is of dialect ml_program, which pit does not take: programs keep nothing from call to call: hand it in and out as an argument and a result; taken are}}
ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>

func.func @seeded() -> tensor<i64> {
  %s = ml_program.global_load @seed : tensor<i64>
  return %s : tensor<i64>
}

// -----

func.func @vscale() -> index {
  // expected-error @below {{'vector.vscale' op is no instruction that each target has [U4]; call a function that is linked to the program}}
  %0 = vector.vscale
  return %0 : index
}

// -----

func.func @assembly(%x: i32) -> i32 {
  // expected-error @below {{'llvm.inline_asm' op is no instruction that each target has [U4]}}
  %0 = llvm.inline_asm "nop", "=r,r" %x : (i32) -> i32
  return %0 : i32
}

// -----

func.func @intrinsics(%x: i32) -> i32 {
  %0 = llvm.call_intrinsic "llvm.ctpop.i32"(%x) : (i32) -> i32
  // expected-error @below {{'llvm.call_intrinsic' op is no instruction that each target has [U4]}}
  %1 = llvm.call_intrinsic "llvm.aarch64.crc32b"(%0, %x) : (i32, i32) -> i32
  return %1 : i32
}
