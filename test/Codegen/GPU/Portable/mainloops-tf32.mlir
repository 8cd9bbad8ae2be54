// f32 on tensor cores, where tf32 is asked for: operands that run along k by
// ldmatrix, others by pairs of words, rounded when fragments are formed; no
// registers in memory on any chip.

// REQUIRES: ptxas, pit-compile
// RUN: pit-compile %s --target=cuda --pipeline=tf32=true --emit=mlir -o - | FileCheck %s --check-prefix=TILES
// RUN: pit-compile %s --target=cuda --pipeline=tf32=true --emit=ptx -o %t.80.ptx
// RUN: %ptxas -arch=sm_80 -warn-spills -Werror %t.80.ptx -o %t.80.cubin
// RUN: FileCheck %s --check-prefixes=CHECK,SM80 < %t.80.ptx
// RUN: pit-compile %s --target=cuda --pipeline=tf32=true --chip=sm_90 --emit=ptx -o %t.90.ptx
// RUN: %ptxas -arch=sm_90 -warn-spills -Werror %t.90.ptx -o %t.90.cubin
// RUN: FileCheck %s --check-prefixes=CHECK,SM90 < %t.90.ptx
// RUN: pit-compile %s --target=cuda --pipeline=tf32=true --chip=sm_100 --emit=ptx -o %t.100.ptx
// RUN: %ptxas -arch=sm_100 -warn-spills -Werror %t.100.ptx -o %t.100.cubin

// Tiles are those of tf32.
// TILES-LABEL: func.func @dense(
// TILES: linalg.matmul {{.*}} -> tensor<128x256xf32>

// CHECK-LABEL: .entry dense
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: ld.shared.v2.b32
// SM80-DAG: cvt.rna.tf32.f32
// SM90-DAG: cvt.rn.tf32.f32
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @dense(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: .entry both_along_k
// CHECK-NOT: ld.shared.v2.b32
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @both_along_k(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// CHECK-LABEL: .entry neither_along_k
// CHECK-NOT: ldmatrix
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @neither_along_k(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// CHECK-LABEL: .entry columns
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @columns(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<1024x1024xf32>
  %r = linalg.matmul ins(%s, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

// Groups add to the same outputs, four neighbours at once where the chip can.
// CHECK-LABEL: .entry blocks
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// SM90: red.global.add.v4.f32
func.func @blocks(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 64]>) : tensor<1024x1024xf32>
  %r = linalg.matmul ins(%s, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

// f64 sums are exact.
// CHECK-LABEL: .entry widened
// CHECK-NOT: mma.sync
// CHECK: fma.rn.f64
func.func @widened(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}
