// RUN: pit-opt %s -pit-to-cpu=choice=now -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-to-cpu="vector-width=256 openmp=false" -split-input-file | FileCheck %s --check-prefix=AVX2
// RUN: pit-opt %s -pit-to-cpu=dense -split-input-file | FileCheck %s --check-prefix=DENSE
// What comes out is LLVM's.
// RUN: pit-opt %s -pit-to-cpu -split-input-file -o %t.mlir && mlir-translate -split-input-file -mlir-to-llvmir %t.mlir | FileCheck %s --check-prefix=LLVM

// One op of each type: the index is built before the parallel loop, rows are
// moved as vectors, and the inner loop multiplies and adds vectors.

// CHECK: llvm.mlir.global external constant @pit_f32_manifest
// CHECK: llvm.func @pit_f32(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// CHECK: llvm.call @pit_rt_enter
// CHECK: llvm.call @pit_f32.body
// CHECK: llvm.call @pit_rt_leave
// CHECK: llvm.func internal @pit_f32.body
// CHECK: llvm.call @pit_rt_build
// CHECK: omp.parallel
// CHECK-NOT: llvm.call @pit_rt
// CHECK: llvm.intr.masked.load {{.*}} vector<16xf32>
// CHECK: llvm.store %{{.*}} : vector<16xf32>
// CHECK: %[[P:.*]] = llvm.fmul %{{.*}} {fastmathFlags = #llvm.fastmath<contract>} : vector<16xf32>
// CHECK-NEXT: llvm.fadd %{{.*}}, %[[P]] {fastmathFlags = #llvm.fastmath<contract>} : vector<16xf32>
// CHECK: llvm.intr.masked.store {{.*}} vector<16xf32>
// AVX2: llvm.func internal @pit_f32.body
// AVX2-NOT: omp.
// AVX2: llvm.fmul {{.*}} vector<8xf32>
// DENSE: llvm.func internal @pit_f32.body
// DENSE-NOT: @pit_rt_build
// DENSE: llvm.fmul {{.*}} vector<16xf32>
// LLVM: define i32 @pit_f32(ptr %0, ptr %1, ptr %2, ptr %3)
// LLVM: call void {{.*}}@__kmpc_fork_call_if(
// LLVM: fmul contract <16 x float>
func.func @f32(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// CHECK: llvm.func internal @pit_f64.body
// CHECK: llvm.intr.masked.load {{.*}} vector<8xf64>
// CHECK: %[[P:.*]] = llvm.fmul %{{.*}} : vector<8xf64>
// CHECK-NEXT: llvm.fadd %{{.*}}, %[[P]] {{.*}} : vector<8xf64>
// AVX2: llvm.fmul {{.*}} vector<4xf64>
func.func @f64(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %c: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %s = pit.sparse %a : tensor<?x?xf64>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%c : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----

// Moved as f16, summed in f32, rounded once.
// CHECK: llvm.func internal @pit_f16.body
// CHECK: llvm.intr.masked.load {{.*}} vector<16xf16>
// CHECK: llvm.fpext %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: %[[P:.*]] = llvm.fmul %{{.*}} : vector<16xf32>
// CHECK-NEXT: llvm.fadd %{{.*}}, %[[P]] {{.*}} : vector<16xf32>
// CHECK: llvm.fptrunc %{{.*}} : vector<16xf32> to vector<16xf16>
// CHECK: llvm.intr.masked.store {{.*}} vector<16xf16>
func.func @f16(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %s = pit.sparse %a : tensor<?x?xf16>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}

// -----

// bf16 is bits: LLVM's own conversions may be library calls.
// CHECK: llvm.func internal @pit_bf16.body
// CHECK-NOT: bf16
// CHECK: %[[P:.*]] = llvm.fmul %{{.*}} : vector<16xf32>
// CHECK-NEXT: llvm.fadd %{{.*}}, %[[P]] {{.*}} : vector<16xf32>
// CHECK-NOT: bf16
// CHECK: llvm.intr.masked.store {{.*}} vector<16xi16>
func.func @bf16(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %s = pit.sparse %a : tensor<?x?xbf16>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}

// -----

// CHECK: llvm.func internal @pit_i8.body
// Pairs of products, from which LLVM makes vpmaddwd.
// CHECK: llvm.sext %{{.*}} : vector<{{[0-9]+}}xi8> to vector<{{[0-9]+}}xi16>
// CHECK: %[[P:.*]] = llvm.mul %{{.*}} : vector<32xi32>
// CHECK-NEXT: %[[EVEN:.*]] = llvm.shufflevector %[[P]], %{{.*}} [0, 2, {{.*}}] : vector<32xi32>
// CHECK-NEXT: %[[ODD:.*]] = llvm.shufflevector %[[P]], %{{.*}} [1, 3, {{.*}}] : vector<32xi32>
// CHECK-NEXT: llvm.add %[[EVEN]], %[[ODD]] : vector<16xi32>
func.func @i8(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %s = pit.sparse %a : tensor<?x?xi8>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}
