// RUN: pit-opt %s --pit-to-cuda=chip=sm_90a | FileCheck %s
// RUN: pit-opt %s --pit-to-cuda='chip=sm_90a choice=now' | FileCheck %s --check-prefix=NOW
// RUN: pit-opt %s --pit-to-cuda='chip=sm_90a deterministic' --mlir-print-ir-after=pit-plan 2>&1 | FileCheck %s --check-prefix=DETERMINISTIC

// The host starts the kernels of all variants; what it knows of one is a branch.
// CHECK-LABEL: llvm.func internal @pit_f.body(
// CHECK: llvm.call @pit_rt_choose_on_device
// CHECK: llvm.call @pit_rt_build_if_chosen
// CHECK: llvm.cond_br
// CHECK: llvm.call @pit_rt_build_if_chosen
// CHECK: llvm.cond_br
// CHECK: llvm.call @pit_rt_launch
// NOW-NOT: pit_rt_choose
// NOW: llvm.call @pit_rt_build_packed
// DETERMINISTIC: pit.choose {{.*}} deterministic
func.func @f(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a : tensor<?x?xf16>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
