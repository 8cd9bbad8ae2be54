// RUN: pit-opt %s -pit-abi-prepare -one-shot-bufferize=bufferize-function-boundaries -convert-pit-to-scf | FileCheck %s

// A choice and an index of what it has seen are calls of the runtime.

// The constants are structs of the runtime (Abi.h) as words of 32 bits. pit_variants: identity, mark,
// flags, count, 0, and a pit_build each; pit_build: source, dtype, background, flags, ranks
// of the data and of the index, axis, micro_tile, step. SEEN is PIT_CHOOSE_SEEN.
// CHECK-DAG: constant @[[$SEEN:pit_variants_[0-9a-f]+]](dense<"0x{{[0-9A-F]+}}0100000002000000020000000000000000000000022001000000000000000000000000000200000002000000FFFFFFFF01000000000000001000000000000000
// CHECK-DAG: constant @[[$VARIANTS:pit_variants_[0-9a-f]+]](dense<"0x{{[0-9A-F]+}}0000000000000000020000000000000000000000022001000000000000000000000000000200000002000000FFFFFFFF20000000000000000100000000000000
// CHECK-DAG: constant @[[$BUILD:pit_build_[0-9a-f]+]](dense<[0, 73730, 0, 0, 0, 2, 2, 1, 32, 0, 1, 0, {{.*}}> : tensor<40xi32>)
// CHECK-DAG: func.func private @pit_rt_choose(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: func.func private @pit_rt_build(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr {pit.frame}
// CHECK: %[[TWO:.*]] = llvm.mlir.addressof @[[$VARIANTS]] :
// CHECK: call @pit_rt_choose(%[[FRAME]], %[[TWO]], {{.*}})
// CHECK-NEXT: pit.check_status
// CHECK: %[[V32:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK: arith.index_cast %[[V32]] : i32 to index
// CHECK: %[[BITS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: scf.if
// CHECK: %[[INDEX:.*]] = llvm.mlir.addressof @[[$BUILD]] :
// CHECK: func.call @pit_rt_build(%[[FRAME]], %[[INDEX]], %{{.*}}, %{{.*}}, %[[BITS]], %{{.*}}, %{{.*}})
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
// CHECK: call @pit_rt_choose(%[[FRAME]], {{.*}})
// CHECK: %[[BITS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.store %[[BITS]], %[[FOUND:.*]] : !llvm.ptr, !llvm.ptr
// CHECK: %[[AGAIN:.*]] = llvm.mlir.addressof @[[$SEEN]] :
// CHECK: call @pit_rt_choose(%[[FRAME]], %[[AGAIN]], %{{.*}}, %{{.*}}, %{{.*}}, %[[FOUND]], %{{.*}})
func.func @twice(%a: tensor<64x48xf32>, %t: f64) -> (index, index) {
  %v, %b = pit.choose %a of [!pit.index<micro_tile = [32, 1], axis = 1>]
             dense(%t) fixed(%t) live(%t) : tensor<64x48xf32>
  %w, %c = pit.choose %a seen(%b) of [!pit.index<micro_tile = [1, 16], axis = 0>]
             dense(%t) fixed(%t) live(%t) : tensor<64x48xf32>
  return %v, %w : index, index
}
