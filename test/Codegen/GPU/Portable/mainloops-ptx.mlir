// Mainloops all the way to machine code: tensor cores where they should be, copies
// that run ahead, and no registers in memory on any chip.

// REQUIRES: ptxas, pit-compile
// RUN: pit-compile %s --target=nvptx --emit=ptx -o %t.80.ptx
// RUN: %ptxas -arch=sm_80 -warn-spills -Werror %t.80.ptx -o %t.80.cubin
// RUN: FileCheck %s < %t.80.ptx
// RUN: pit-compile %s --target=nvptx --chip=sm_90 --emit=ptx -o %t.90.ptx
// RUN: %ptxas -arch=sm_90 -warn-spills -Werror %t.90.ptx -o %t.90.cubin
// RUN: FileCheck %s < %t.90.ptx
// RUN: FileCheck %s --check-prefix=SM90 < %t.90.ptx
// RUN: pit-compile %s --target=nvptx --chip=sm_100 --emit=ptx -o %t.100.ptx
// RUN: %ptxas -arch=sm_100 -warn-spills -Werror %t.100.ptx -o %t.100.cubin

// CHECK-LABEL: .entry dense_f16
// CHECK: cp.async.cg.shared.global
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @dense_f16(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Rows gathered and scattered.
// CHECK-LABEL: .entry rows_bf16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
func.func @rows_bf16(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<?x?xbf16>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Bytes along k are loaded as they are, others transposed in registers.
// CHECK-LABEL: .entry dense_i8
// CHECK-NOT: prmt
// CHECK: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
func.func @dense_i8(%a: tensor<512x512xi8>, %b: tensor<512x512xi8>, %c: tensor<512x512xi32>) -> tensor<512x512xi32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%c : tensor<512x512xi32>) -> tensor<512x512xi32>
  return %r : tensor<512x512xi32>
}

// CHECK-LABEL: .entry rows_of_b_i8
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-DAG: prmt.b32
// CHECK: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
func.func @rows_of_b_i8(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// CHECK-LABEL: .entry transposed_i8
// CHECK: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
func.func @transposed_i8(%a: tensor<512x512xi8>, %b: tensor<512x512xi8>, %c: tensor<512x512xi32>) -> tensor<512x512xi32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%c : tensor<512x512xi32>) -> tensor<512x512xi32>
  return %r : tensor<512x512xi32>
}

// f32 is exact: no tensor cores.
// CHECK-LABEL: .entry columns_f32
// CHECK-NOT: mma.sync
// CHECK: ld.shared.v4.b32
// CHECK: fma.rn.f32
func.func @columns_f32(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<1024x1024xf32>
  %r = linalg.matmul ins(%s, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

// Groups add to the same outputs, four elements at once where the chip can.
// CHECK-LABEL: .entry blocks_f32
// SM90-LABEL: .entry blocks_f32
// SM90: red.global.add.v4.f32
func.func @blocks_f32(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 64]>) : tensor<1024x1024xf32>
  %r = linalg.matmul ins(%s, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

// A narrow operand that is read as f64: no flags of fast math to copy.
// CHECK-LABEL: .entry widened
// CHECK: fma.rn.f64
func.func @widened(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// Groups of rows of f16 add to the same outputs.
// CHECK-LABEL: .entry blocks_f16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @blocks_f16(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 64]>) : tensor<1024x1024xf16>
  %r = linalg.matmul ins(%s, %b : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}
