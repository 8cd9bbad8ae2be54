// RUN: pit-opt %s -pit-abi-prepare -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" -convert-pit-to-scf -canonicalize -cse | FileCheck %s

// A packed index is a call of the runtime, which says whether it has packed; if
// not, a loop does, into the same memory.

// CHECK: constant @[[$BUILD:pit_build_[0-9a-f]+]](dense<[0, 69634, 0, 0, 0, 2, 2, 1, 32, 0, 1, 0, {{.*}}> : tensor<40xi32>)
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr {pit.frame}, %[[A:.*]]: memref<?x?xf16>
// CHECK-DAG: %[[NO:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-DAG: %[[INDEX:.*]] = llvm.mlir.addressof @[[$BUILD]] :
// CHECK: llvm.store %[[NO]], %[[DONE:.*]] :
// CHECK: call @pit_rt_build_packed(%[[FRAME]], %[[INDEX]], %{{.*}}, %{{.*}}, %[[NONE]], %[[SLOT:[^)]*]])
// CHECK-NEXT: pit.check_status
// CHECK: %[[WORD:.*]] = llvm.load %[[DONE]] : !llvm.ptr -> i64
// CHECK: %[[IS_DONE:.*]] = arith.cmpi {{eq|ne}}, %[[WORD]], %[[NO]] : i64
// CHECK: llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
// CHECK: scf.if %[[IS_DONE]]
func.func @f(%a: tensor<?x?xf16>, %n: index) -> tensor<?x32xf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %o = tensor.empty(%n) : tensor<?x32xf16>
  %i, %done, %p = pit.packed_index %a into %o : tensor<?x?xf16> into tensor<?x32xf16> -> !pit.index<micro_tile = [32, 1], axis = 1>, tensor<?x32xf16>
  %r = scf.if %done -> (tensor<?x32xf16>) {
    scf.yield %p : tensor<?x32xf16>
  } else {
    %x = pit.forall (%g) = (%c0) to (%m) step (32) iter_args(%q = %p) -> (tensor<?x32xf16>) {
      %s = pit.for %ids at %pos in %i[%g] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%t = %q) -> (tensor<?x32xf16>) {
        %at = pit.sread %a[%g, %ids : !pit.ids<64>] : tensor<?x?xf16> -> tensor<32x64xf16>
        %e = tensor.empty() : tensor<64x32xf16>
        %u = linalg.transpose ins(%at : tensor<32x64xf16>) outs(%e : tensor<64x32xf16>) permutation = [1, 0]
        %w = pit.swrite %u into %t[%pos : !pit.ids<64>, %c0] : tensor<64x32xf16> into tensor<?x32xf16>
        pit.yield %w : tensor<?x32xf16>
      }
      pit.yield %s : tensor<?x32xf16>
    }
    scf.yield %x : tensor<?x32xf16>
  }
  return %r : tensor<?x32xf16>
}
