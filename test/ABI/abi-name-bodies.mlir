// RUN: pit-opt %s --pit-abi-name-bodies | FileCheck %s
// RUN: not pit-opt %s --convert-func-to-llvm --pit-abi-emit-wrapper -o /dev/null 2>&1 | FileCheck %s --check-prefix=FIRST

// Names of the C library are free for calls of it; others stay.
// CHECK: func.func @pit_expm1.body(
// FIRST: error: 'llvm.func' op has a pit.manifest, but no name like pit_f.body; run pit-abi-name-bodies first
func.func @expm1(%frame: !llvm.ptr {pit.frame}) -> i32 attributes {pit.manifest = array<i64: 27067173200, 0, 0, 0, 1, 0>} {
  %ok = arith.constant 0 : i32
  return %ok : i32
}

// CHECK: func.func private @helper(
func.func private @helper() {
  return
}

// Calls of an entry follow its name.
// CHECK: func.func @caller
// CHECK: call @pit_expm1.body(
func.func @caller(%frame: !llvm.ptr) -> i32 {
  %status = func.call @expm1(%frame) : (!llvm.ptr) -> i32
  return %status : i32
}
