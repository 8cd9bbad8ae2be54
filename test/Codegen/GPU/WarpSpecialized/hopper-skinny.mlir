// Tiles of few columns, and of few rows of wanted results, all the way to machine code: narrow
// wgmmas that run ahead (hopper-ptx.mlir says what ptxas tells of those that do not).

// REQUIRES: ptxas, pit-compile
// RUN: pit-compile %s --target=nvptx --chip=sm_90a --emit=ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin > %t.log 2>&1
// RUN: FileCheck %s --check-prefix=PTXAS --allow-empty < %t.log
// PTXAS-NOT: serialized

// Few columns: the other operand has rows for ids, from a kernel before; lines of 32 results
// go through shared memory as they are.
// CHECK-LABEL: .entry few_columns_f16_kernel_{{[0-9]}}_hopper(
// CHECK-DAG: wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16
// CHECK-DAG: stmatrix.sync.aligned.m8n8.x4.shared.b16
func.func @few_columns_f16(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %s = pit.sparse %b rule(#pit.rule<axis = 0, micro_tile = [1, 32]>) : tensor<4096x4096xf16>
  %r = linalg.matmul ins(%a, %s : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

// The same of weights [n, k].
// CHECK-LABEL: .entry pruned_weights_bf16_kernel_{{[0-9]}}_hopper(
// CHECK: wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16
func.func @pruned_weights_bf16(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %s = pit.sparse %b rule(#pit.rule<axis = 1, micro_tile = [16, 1]>) : tensor<4096x4096xbf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %s : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// Wanted results in few rows, transposed.
// CHECK-LABEL: .entry wanted_rows_f16_kernel_{{[0-9]}}_hopper(
// CHECK: wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16
func.func @wanted_rows_f16(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>, %m: tensor<4096x4096xi1>) -> tensor<4096x4096xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %s = pit.sparse %r mask(%m : tensor<4096x4096xi1>) rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<4096x4096xf32>
  return %s : tensor<4096x4096xf32>
}
