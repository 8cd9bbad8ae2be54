// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-run-where{attribute=pit.device pipeline=func.func(canonicalize,cse)}))' | FileCheck %s
// RUN: pit-opt %s --pass-pipeline='builtin.module(pit-run-where{attribute=pit.kernels pipeline=builtin.module(func.func(canonicalize))},any(pit-run-where{attribute=pit.kernels pipeline=func.func(canonicalize)}))' | FileCheck %s --check-prefix=MODULE
// RUN: not pit-opt %s --pass-pipeline='builtin.module(pit-run-where{pipeline=any(cse)})' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not pit-opt %s --pass-pipeline='builtin.module(pit-run-where{attribute=pit.kernels pipeline=any(no-such-pass)})' 2>&1 | FileCheck %s --check-prefix=PASS

// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-run-where{dialect=pit pipeline=func.func(canonicalize)}))' | FileCheck %s --check-prefix=DIALECT

// NAME: pit-run-where: attribute is missing
// PASS: no-such-pass

// CHECK-LABEL: func.func @has
// CHECK-NEXT: arith.constant 3
// MODULE-LABEL: func.func @has
// MODULE: arith.addi
func.func @has() -> i32 attributes {pit.device = "cuda"} {
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  %c = arith.addi %a, %b : i32
  return %c : i32
}

// CHECK-LABEL: func.func @has_not
// CHECK: arith.addi
// MODULE-LABEL: func.func @has_not
// MODULE: arith.addi
func.func @has_not() -> i32 {
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  %c = arith.addi %a, %b : i32
  return %c : i32
}

// The pipeline is for functions, and this is none.
// MODULE: module @inner attributes {pit.kernels}
// MODULE: arith.addi
module @inner attributes {pit.kernels} {
  func.func @inside() -> i32 {
    %a = arith.constant 1 : i32
    %b = arith.constant 2 : i32
    %c = arith.addi %a, %b : i32
    return %c : i32
  }
}

// An op of the dialect is in it.
// DIALECT-LABEL: func.func @has
// DIALECT: arith.addi
// DIALECT-LABEL: func.func @has_not
// DIALECT: arith.addi
// DIALECT-LABEL: func.func @marked
// DIALECT-NOT: arith.addi
func.func @marked(%t: tensor<8xf32>) -> (tensor<8xf32>, i32) {
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  %c = arith.addi %a, %b : i32
  %s = pit.sparse %t : tensor<8xf32>
  return %s, %c : tensor<8xf32>, i32
}
