// RUN: pit-opt %s --split-input-file --pit-outline-kernels --canonicalize | FileCheck %s
// RUN: pit-opt %s --split-input-file --pit-outline-kernels=claimed | FileCheck %s --check-prefix=CLAIMED

// Two kernels: a loop over tiles, and an op on whole tensors. Constants and
// sizes are the kernel's own; the host says how many iterations there are.

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %[[C0]]
// CHECK: %[[ITERATIONS:.*]] = arith.ceildivui %{{.*}}, %[[C64]]
// CHECK: %[[COPIED:.*]] = pit.launch @pit_kernels::@f_kernel iterations(%[[ITERATIONS]]) ins(%[[X]] : tensor<?xf32>) outs(%[[Y]] : tensor<?xf32>) -> (tensor<?xf32>)
// CHECK: %[[SUM:.*]] = pit.launch @pit_kernels::@f_kernel_0 iterations(%{{.*}} elements) ins(%[[COPIED]], %[[X]] : tensor<?xf32>, tensor<?xf32>) outs(%[[Y]] : tensor<?xf32>)
// CHECK: return %[[SUM]]

// CHECK: module @pit_kernels attributes {pit.kernels}
// CHECK: func.func @f_kernel(%[[A:.*]]: memref<?xf32>, %[[O:.*]]: memref<?xf32>)
// CHECK-DAG: %[[AT:.*]] = bufferization.to_tensor %[[A]] restrict : memref
// CHECK-DAG: %[[SIZE:.*]] = memref.dim %[[A]]
// CHECK-DAG: %[[OT:.*]] = bufferization.to_tensor %[[O]] restrict writable
// CHECK: %[[R:.*]] = pit.forall (%{{.*}}) = (%{{.*}}) to (%[[SIZE]]) step (64) iter_args(%{{.*}} = %[[OT]])
// CHECK:   pit.sread %[[AT]]
// CHECK: bufferization.materialize_in_destination %[[R]] in restrict writable %[[O]]
// CHECK: func.func @f_kernel_0
// CHECK: linalg.add
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r = pit.forall (%i) = (%c0) to (%n) step (64) iter_args(%o = %y) -> (tensor<?xf32>) {
    %t = pit.sread %x[%i] : tensor<?xf32> -> tensor<64xf32>
    %w = pit.swrite %t into %o[%i] : tensor<64xf32> into tensor<?xf32>
    pit.yield %w : tensor<?xf32>
  }
  %s = linalg.add ins(%r, %x : tensor<?xf32>, tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// -----

// What only the device knows is computed in the kernel.

// CHECK-LABEL: func.func @count
// CHECK: pit.launch @pit_kernels::@count_kernel
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : !pit.index<micro_tile = [1], axis = 0>, tensor<?xf32>)
// CHECK: func.func @count_kernel(%[[I:.*]]: !pit.index<micro_tile = [1], axis = 0>,
// CHECK: %[[COUNT:.*]] = pit.count %[[I]]
// CHECK: pit.forall (%{{.*}}) = (%{{.*}}) to (%[[COUNT]])
func.func @count(%x: tensor<?xf32>, %y: tensor<?xf32>, %i: !pit.index<micro_tile = [1], axis = 0>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = pit.count %i : !pit.index<micro_tile = [1], axis = 0>
  %r = pit.forall (%k) = (%c0) to (%n) step (64) iter_args(%o = %y) -> (tensor<?xf32>) {
    %t = pit.sread %x[%k] : tensor<?xf32> -> tensor<64xf32>
    %w = pit.swrite %t into %o[%k] : tensor<64xf32> into tensor<?xf32>
    pit.yield %w : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// A tile outside of any loop gets a loop of one iteration.

// CHECK-LABEL: func.func @single
// CHECK-NOT: linalg.matmul
// CHECK: pit.launch @pit_kernels::@single_kernel
// CHECK: func.func @single_kernel
// CHECK: pit.forall
// CHECK:   pit.sread
// CHECK:   pit.sread
// CHECK:   linalg.matmul
// CHECK:   pit.swrite
func.func @single(%x: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %t = pit.sread %x[%c0, %c0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %old = pit.sread %o[%c0, %c0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %p = linalg.matmul ins(%t, %t : tensor<8x8xf32>, tensor<8x8xf32>) outs(%old : tensor<8x8xf32>) -> tensor<8x8xf32>
  %w = pit.swrite %p into %o[%c0, %c0] : tensor<8x8xf32> into tensor<8x8xf32>
  return %w : tensor<8x8xf32>
}

// -----

// Ops that are the same share a kernel. An output that a fill has made is another
// case: a kernel may take over the fill.

// CHECK-LABEL: func.func @shared
// CHECK: %[[A:.*]] = pit.launch @pit_kernels::@shared_kernel iterations
// CHECK: %[[B:.*]] = pit.launch @pit_kernels::@shared_kernel iterations(%{{.*}} elements) ins(%[[A]]
// CHECK: %[[FILL:.*]] = pit.launch @pit_kernels::@[[FILLS:.*]] iterations
// CHECK: pit.launch @pit_kernels::@[[OTHER:.*]] iterations(%{{.*}} elements) ins(%[[B]]{{.*}} outs(%[[FILL]]
// CHECK: module @pit_kernels
// CHECK: func.func @shared_kernel(
// CHECK: func.func @[[FILLS]](
// CHECK: func.func @[[OTHER]](
// CHECK-NOT: func.func
func.func @shared(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: f32) -> tensor<?xf32> {
  %a = linalg.exp ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %b = linalg.exp ins(%a : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %c = linalg.exp ins(%b : tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %c : tensor<?xf32>
}

// -----

// A constant is part of the kernels that read it. If something else uses it, as
// the caller, a kernel copies it to the device.

// CHECK-LABEL: func.func @constants
// CHECK: %[[COPY:.*]] = pit.launch @pit_kernels::@constants_kernel iterations(%{{.*}} elements) outs(
// CHECK: %[[SUM:.*]] = pit.launch @pit_kernels::@constants_kernel_0 iterations(%{{.*}} elements) ins(%{{[^,]*}} : tensor<2xf32>)
// CHECK: return %[[SUM]], %[[COPY]]
// CHECK: func.func @constants_kernel(
// CHECK: arith.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK: linalg.copy
// CHECK: func.func @constants_kernel_0(
// CHECK: arith.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK: linalg.add
func.func @constants(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %a = linalg.add ins(%x, %c : tensor<2xf32>, tensor<2xf32>) outs(%y : tensor<2xf32>) -> tensor<2xf32>
  return %a, %c : tensor<2xf32>, tensor<2xf32>
}

// -----

// Functions that the host computes stay as they are, if it is to be so.

// CHECK-LABEL: func.func @on_device
// CHECK: pit.launch
// CHECK-LABEL: func.func @on_host
// CHECK: pit.launch

// CLAIMED-LABEL: func.func @on_device
// CLAIMED: pit.launch
// CLAIMED-LABEL: func.func @on_host
// CLAIMED: linalg.exp
// CLAIMED: func.func @on_device_kernel
// CLAIMED-NOT: func.func
func.func @on_device(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {pit.device = "cuda"} {
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @on_host(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
