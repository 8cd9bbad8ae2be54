// Tiles of groups whose steps have ids of their own: all 47 groups go through a column block of the
// dense operand's columns before the next one, so that this stays in the L2 cache.
// Column blocks have 512 columns.

// RUN: pit-opt %s --pit-to-gpu-tiles=chip=sm_90a --pit-tiles-to-kernels=chip=sm_90a --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a --convert-pit-gpu-to-nvvm --canonicalize --cse | FileCheck %s

// Columns of A are packed: nothing but positions tells the group.
// CHECK-LABEL: gpu.func @packed_kernel_0_hopper(
// CHECK: nvvm.setmaxregister decrease
// CHECK: scf.for
// CHECK: arith.divui %{{.*}}, %c376_i32
// CHECK: %[[IN_ALL:.*]] = arith.subi
// CHECK-NEXT: %[[STRIP:.*]] = arith.divui %[[IN_ALL]], %c47_i32
// CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[STRIP]], %c47_i32
// CHECK-NEXT: %[[GROUP:.*]] = arith.subi %[[IN_ALL]], %[[BEFORE]]
func.func @packed(%a: tensor<3008x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<3008x4096xf16>) -> tensor<3008x4096xf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [64, 1]>) : tensor<3008x4096xf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%s, %b : tensor<3008x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<3008x4096xf16>) -> tensor<3008x4096xf16>
  return %r : tensor<3008x4096xf16>
}

// A stored the other way round.
// CHECK-LABEL: gpu.func @stored_kernel_hopper(
// CHECK: nvvm.setmaxregister decrease
// CHECK: scf.for
// CHECK: arith.divui %{{.*}}, %c376_i32
// CHECK: %[[IN_ALL:.*]] = arith.subi
// CHECK-NEXT: %[[STRIP:.*]] = arith.divui %[[IN_ALL]], %c47_i32
// CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[STRIP]], %c47_i32
// CHECK-NEXT: %[[GROUP:.*]] = arith.subi %[[IN_ALL]], %[[BEFORE]]
func.func @stored(%a: tensor<4096x3008xf16>, %b: tensor<4096x4096xf16>, %c: tensor<3008x4096xf16>) -> tensor<3008x4096xf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 64]>) : tensor<4096x3008xf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%s, %b : tensor<4096x3008xf16>, tensor<4096x4096xf16>) outs(%c : tensor<3008x4096xf16>) -> tensor<3008x4096xf16>
  return %r : tensor<3008x4096xf16>
}

// Few rows, which are computed transposed.
// CHECK-LABEL: gpu.func @few_rows_kernel_{{[0-9]}}_hopper(
// CHECK: nvvm.setmaxregister decrease
// CHECK: scf.for
// CHECK: arith.divui %{{.*}}, %c376_i32
// CHECK: %[[IN_ALL:.*]] = arith.subi
// CHECK-NEXT: %[[STRIP:.*]] = arith.divui %[[IN_ALL]], %c47_i32
// CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[STRIP]], %c47_i32
// CHECK-NEXT: %[[GROUP:.*]] = arith.subi %[[IN_ALL]], %[[BEFORE]]
func.func @few_rows(%a: tensor<752x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<752x4096xf16>) -> tensor<752x4096xf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [16, 1]>) : tensor<752x4096xf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%s, %b : tensor<752x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<752x4096xf16>) -> tensor<752x4096xf16>
  return %r : tensor<752x4096xf16>
}
