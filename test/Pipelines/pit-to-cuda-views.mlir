// Pads, slices and concatenations around ops, which are parts of tensors to the
// kernels: with and without marks, on both schedules.

// RUN: pit-opt %s --split-input-file --pit-to-cuda=chip=sm_80 -o %t.80
// RUN: pit-opt %s --split-input-file --pit-to-cuda="chip=sm_80 dense=true" -o %t.80.dense
// RUN: pit-opt %s --split-input-file --pit-to-cuda="chip=sm_90a device-code=ptx" -o %t.90
// RUN: pit-opt %s --split-input-file --pit-to-gpu-tiles --pit-tiles-to-kernels | FileCheck %s

// What a kernel is made for is what it is launched on: a part of the padded
// image, whose rest is filled.

// CHECK-LABEL: func.func @pad
// CHECK: %[[PART:.*]] = memref.subview %[[ALL:.*]][0, 1, 1, 0] [1, 14, 14, 8] [1, 1, 1, 1]
// CHECK: pit.launch @pit_kernels::@[[COPY:.*]] iterations({{.*}}) ins(%{{.*}} : memref<1x14x14x8xf32>) outs(%[[PART]] : memref<1x14x14x8xf32, strided<[2048, 128, 8, 1], offset: 136>>)
// CHECK: func.func @[[COPY]](%{{.*}}: memref<1x14x14x8xf32>, %{{.*}}: memref<1x14x14x8xf32, strided<[2048, 128, 8, 1], offset: 136>>)
func.func @pad(%x: tensor<1x14x14x8xf32>, %w: tensor<3x3x8x16xf32>, %o: tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<1x14x14x8xf32> to tensor<1x16x16x8xf32>
  %s = pit.sparse %p : tensor<1x16x16x8xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%s, %w : tensor<1x16x16x8xf32>, tensor<3x3x8x16xf32>)
      outs(%o : tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32>
  return %r : tensor<1x14x14x16xf32>
}

// -----

// Operands of a mainloop are views of where they lie, not copies.

// CHECK-LABEL: func.func @slices
// CHECK: func.func @slices_kernel({{.*}}%[[A:[^:]*]]: memref<64x96xbf16, strided<[288, 1], offset: ?>>, %[[B:[^:]*]]: memref<96x64xbf16, strided<[128, 1], offset: 8>>
// CHECK: pit.mainloop
// CHECK-DAG: pit.view %[[A]]
// CHECK-DAG: pit.view %[[B]]
func.func @slices(%x: tensor<64x288xbf16>, %y: tensor<96x128xbf16>, %at: index) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %a = tensor.extract_slice %x[0, %at] [64, 96] [1, 1] : tensor<64x288xbf16> to tensor<64x96xbf16>
  %b = tensor.extract_slice %y[0, 8] [96, 64] [1, 1] : tensor<96x128xbf16> to tensor<96x64xbf16>
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x96xbf16>, tensor<96x64xbf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// CHECK-LABEL: func.func @concat
// CHECK: pit.launch {{.*}} outs(%{{.*}} : memref<?x4xf32, strided<[12, 1]>>)
// CHECK: pit.launch {{.*}} outs(%{{.*}} : memref<?x8xf32, strided<[12, 1], offset: 4>>)
func.func @concat(%x: tensor<?x4xf32>, %y: tensor<?x8xf32>) -> tensor<?x12xf32> {
  %r = tensor.concat dim(1) %x, %y : (tensor<?x4xf32>, tensor<?x8xf32>) -> tensor<?x12xf32>
  return %r : tensor<?x12xf32>
}
