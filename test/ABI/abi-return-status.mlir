// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-abi-return-status))' --split-input-file --verify-diagnostics | FileCheck %s

func.func private @pit_rt_alloc(!llvm.ptr, i64, !llvm.ptr) -> i32

// CHECK-LABEL: func.func @two
// CHECK-SAME: (%[[F:.*]]: !llvm.ptr, %[[N:.*]]: i64, %[[P:.*]]: !llvm.ptr)
func.func @two(%f: !llvm.ptr, %n: i64, %p: !llvm.ptr) -> i32 {
  // CHECK: %[[A:.*]] = call @pit_rt_alloc(%[[F]], %[[N]], %[[P]]) : (
  // CHECK: %[[C0:.*]] = arith.constant 0 : i32
  // CHECK: %[[NE:.*]] = arith.cmpi ne, %[[A]], %[[C0]] : i32
  // CHECK: cf.cond_br %[[NE]], ^[[RETURN:.*]](%[[A]] : i32), ^[[NEXT:.*]]
  %0 = call @pit_rt_alloc(%f, %n, %p) : (!llvm.ptr, i64, !llvm.ptr) -> i32
  pit.check_status %0
  // CHECK: ^[[NEXT]]:
  // CHECK: cf.br ^[[LOOP:.*]](%[[N]] : i64)
  cf.br ^loop(%n : i64)
^loop(%i: i64):
  // CHECK: ^[[LOOP]](%[[I:.*]]: i64):
  // CHECK: %[[B:.*]] = call @pit_rt_alloc(%[[F]], %[[I]], %[[P]]) : (
  // CHECK: cf.cond_br %{{.*}}, ^[[RETURN]](%[[B]] : i32), ^[[BODY:.*]]
  %1 = call @pit_rt_alloc(%f, %i, %p) : (!llvm.ptr, i64, !llvm.ptr) -> i32
  pit.check_status %1
  // CHECK: ^[[BODY]]:
  // CHECK: cf.cond_br %{{.*}}, ^[[LOOP]](%{{.*}} : i64), ^[[END:.*]]
  %c1 = arith.constant 1 : i64
  %j = arith.subi %i, %c1 : i64
  %more = arith.cmpi ne, %j, %c1 : i64
  cf.cond_br %more, ^loop(%j : i64), ^end
^end:
  // CHECK: ^[[END]]:
  // CHECK: return
  %ok = arith.constant 0 : i32
  return %ok : i32
  // CHECK: ^[[RETURN]](%[[S:.*]]: i32):
  // CHECK: return %[[S]] : i32
}

// A status that nothing checks.
// CHECK-LABEL: func.func @unchecked
// CHECK-NEXT: call @pit_rt_alloc
// CHECK-NEXT: return
func.func @unchecked(%f: !llvm.ptr, %n: i64, %p: !llvm.ptr) -> i32 {
  %0 = call @pit_rt_alloc(%f, %n, %p) : (!llvm.ptr, i64, !llvm.ptr) -> i32
  return %0 : i32
}

// -----

func.func private @pit_rt_alloc(!llvm.ptr, i64, !llvm.ptr) -> i32
func.func @nested(%f: !llvm.ptr, %n: i64, %p: !llvm.ptr) -> i32 {
  omp.parallel {
    %0 = func.call @pit_rt_alloc(%f, %n, %p) : (!llvm.ptr, i64, !llvm.ptr) -> i32
    // expected-error @below {{'pit.check_status' op stands inside 'omp.parallel', from where a status cannot be returned; it has to stand directly in a block of the function}}
    pit.check_status %0
    omp.terminator
  }
  %ok = arith.constant 0 : i32
  return %ok : i32
}

// -----

func.func private @f() -> i32
func.func @returns() -> i64 {
  %0 = call @f() : () -> i32
  // expected-error @below {{stands in @returns, which returns 'i64'; it has to return one i32, the status}}
  pit.check_status %0
  %ok = arith.constant 0 : i64
  return %ok : i64
}
