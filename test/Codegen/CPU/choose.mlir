// RUN: pit-opt %s -pit-abi-prepare -one-shot-bufferize=bufferize-function-boundaries -convert-pit-to-scf | FileCheck %s

// A choice and an index of what it has seen are calls of the runtime.

// CHECK-DAG: func.func private @pit_rt_choose(!llvm.ptr, i32, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: func.func private @pit_rt_build(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr {pit.frame}
// Two variants: PIT_VARIANT_DENSE, and one with an axis, micro_tile and step.
// CHECK: %[[COUNT:.*]] = arith.constant 2 : i64
// CHECK: %[[DENSE:.*]] = arith.constant -1 : i64
// CHECK: %[[AXIS:.*]] = arith.constant 1 : i64
// CHECK: %[[ROWS:.*]] = arith.constant 32 : i64
// CHECK: llvm.store %[[COUNT]]
// CHECK: llvm.store %[[DENSE]]
// CHECK: llvm.store %[[AXIS]]
// CHECK: llvm.store %[[ROWS]]
// CHECK: call @pit_rt_choose(%[[FRAME]], {{.*}})
// CHECK-NEXT: pit.check_status
// CHECK: %[[V32:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK: arith.index_cast %[[V32]] : i32 to index
// CHECK: %[[BITS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: scf.if
// CHECK: func.call @pit_rt_build(%[[FRAME]], %{{.*}}, %{{.*}}, %{{.*}}, %[[BITS]], %{{.*}}, %{{.*}})
// CHECK-NEXT: pit.check_status
func.func @f(%a: tensor<64x48xf32>, %t: f64) -> index {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %v, %b = pit.choose %a of [!pit.index<micro_tile = [32, 1], axis = 1>]
             dense(%t) fixed(%t) live(%t) : tensor<64x48xf32>
  %is = arith.cmpi eq, %v, %c1 : index
  %n = scf.if %is -> index {
    %i = pit.index %a seen(%b) : tensor<64x48xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
    %n = pit.count %i : !pit.index<micro_tile = [32, 1], axis = 1>
    scf.yield %n : index
  } else {
    scf.yield %c0 : index
  }
  return %n : index
}

// What a choice has seen is told to the next one by the same values (PIT_CHOOSE_SEEN).
// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr {pit.frame}
// CHECK: call @pit_rt_choose(%[[FRAME]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK: %[[BITS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.store %[[BITS]], %[[SEEN:.*]] : !llvm.ptr, !llvm.ptr
// CHECK: %[[FLAGS:.*]] = arith.constant 2 : i32
// CHECK: call @pit_rt_choose(%[[FRAME]], %{{.*}}, %[[FLAGS]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[SEEN]], %{{.*}})
func.func @twice(%a: tensor<64x48xf32>, %t: f64) -> (index, index) {
  %v, %b = pit.choose %a of [!pit.index<micro_tile = [32, 1], axis = 1>]
             dense(%t) fixed(%t) live(%t) : tensor<64x48xf32>
  %w, %c = pit.choose %a seen(%b) of [!pit.index<micro_tile = [1, 16], axis = 0>]
             dense(%t) fixed(%t) live(%t) : tensor<64x48xf32>
  return %v, %w : index, index
}
