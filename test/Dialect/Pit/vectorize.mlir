// RUN: pit-opt %s -pit-vectorize -canonicalize -cse -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-vectorize=vector-width=256 -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=AVX2

// CHECK-LABEL: func @matmul_f32(
// CHECK-SAME: %[[A:.*]]: memref<64x64xf32>, %[[B:.*]]: memref<64x64xf32>, %[[C:.*]]: memref<64x64xf32>
// CHECK: scf.for
// CHECK: vector.load %[[C]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load %[[B]]{{.*}} : memref<64x64xf32>, vector<16xf32>
// CHECK: %[[P:.*]] = arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: arith.addf {{.*}}%[[P]]{{.*}} fastmath<contract> : vector<16xf32>
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %[[C]]{{.*}} : memref<64x64xf32>, vector<16xf32>
// AVX2-LABEL: func @matmul_f32(
// AVX2: arith.mulf {{.*}} : vector<8xf32>
func.func @matmul_f32(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// CHECK-LABEL: func @matmul_f64(
// CHECK-SAME: %[[A:.*]]: memref<64x64xf64>, %[[B:.*]]: memref<64x64xf64>, %[[C:.*]]: memref<64x64xf64>
// CHECK: scf.for
// CHECK: vector.load %[[C]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load %[[B]]{{.*}} : memref<64x64xf64>, vector<8xf64>
// CHECK: %[[P:.*]] = arith.mulf {{.*}} fastmath<contract> : vector<8xf64>
// CHECK: arith.addf {{.*}}%[[P]]{{.*}} fastmath<contract> : vector<8xf64>
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %[[C]]{{.*}} : memref<64x64xf64>, vector<8xf64>
// AVX2-LABEL: func @matmul_f64(
// AVX2: arith.mulf {{.*}} : vector<4xf64>
func.func @matmul_f64(%a: memref<64x64xf64>, %b: memref<64x64xf64>, %c: memref<64x64xf64>) {
  linalg.matmul ins(%a, %b : memref<64x64xf64>, memref<64x64xf64>) outs(%c : memref<64x64xf64>)
  return
}

// -----

// CHECK-LABEL: func @matmul_f16(
// CHECK-SAME: %[[A:.*]]: memref<64x64xf16>, %[[B:.*]]: memref<64x64xf16>, %[[C:.*]]: memref<64x64xf32>
// CHECK: scf.for
// CHECK: vector.load %[[C]]
// CHECK: scf.for {{.*}} iter_args
// CHECK-DAG: vector.load %[[B]]{{.*}} : memref<64x64xf16>, vector<16xf16>
// CHECK-DAG: arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: %[[P:.*]] = arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: arith.addf {{.*}}%[[P]]{{.*}} fastmath<contract> : vector<16xf32>
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %[[C]]{{.*}} : memref<64x64xf32>, vector<16xf32>
// AVX2-LABEL: func @matmul_f16(
// AVX2: arith.mulf {{.*}} : vector<8xf32>
func.func @matmul_f16(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  linalg.matmul ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// CHECK-LABEL: func @matmul_bf16(
// CHECK-SAME: %[[A:.*]]: memref<64x64xbf16>, %[[B:.*]]: memref<64x64xbf16>, %[[C:.*]]: memref<64x64xf32>
// CHECK: scf.for
// CHECK: vector.load %[[C]]
// CHECK: scf.for {{.*}} iter_args
// CHECK-DAG: vector.load %[[B]]{{.*}} : memref<64x64xbf16>, vector<16xbf16>
// CHECK-DAG: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: %[[P:.*]] = arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: arith.addf {{.*}}%[[P]]{{.*}} fastmath<contract> : vector<16xf32>
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %[[C]]{{.*}} : memref<64x64xf32>, vector<16xf32>
// AVX2-LABEL: func @matmul_bf16(
// AVX2: arith.mulf {{.*}} : vector<8xf32>
func.func @matmul_bf16(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %c: memref<64x64xf32>) {
  linalg.matmul ins(%a, %b : memref<64x64xbf16>, memref<64x64xbf16>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// CHECK-LABEL: func @matmul_i8(
// CHECK-SAME: %[[A:.*]]: memref<64x64xi8>, %[[B:.*]]: memref<64x64xi8>, %[[C:.*]]: memref<64x64xi32>
// CHECK: scf.for
// CHECK: vector.load %[[C]]
// CHECK: scf.for {{.*}} iter_args
// CHECK-DAG: vector.load %[[B]]{{.*}} : memref<64x64xi8>, vector<16xi8>
// CHECK-DAG: arith.extsi {{.*}} : vector<16xi8> to vector<16xi32>
// CHECK: %[[P:.*]] = arith.muli {{.*}} : vector<16xi32>
// CHECK: arith.addi {{.*}}%[[P]]{{.*}} : vector<16xi32>
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %[[C]]{{.*}} : memref<64x64xi32>, vector<16xi32>
// AVX2-LABEL: func @matmul_i8(
// AVX2: arith.muli {{.*}} : vector<8xi32>
func.func @matmul_i8(%a: memref<64x64xi8>, %b: memref<64x64xi8>, %c: memref<64x64xi32>) {
  linalg.matmul ins(%a, %b : memref<64x64xi8>, memref<64x64xi8>) outs(%c : memref<64x64xi32>)
  return
}

// -----

// CHECK-LABEL: func @matmul_i32(
// CHECK-SAME: %[[A:.*]]: memref<64x64xi32>, %[[B:.*]]: memref<64x64xi32>, %[[C:.*]]: memref<64x64xi32>
// CHECK: scf.for
// CHECK: vector.load %[[C]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load %[[B]]{{.*}} : memref<64x64xi32>, vector<16xi32>
// CHECK: %[[P:.*]] = arith.muli {{.*}} : vector<16xi32>
// CHECK: arith.addi {{.*}}%[[P]]{{.*}} : vector<16xi32>
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %[[C]]{{.*}} : memref<64x64xi32>, vector<16xi32>
// AVX2-LABEL: func @matmul_i32(
// AVX2: arith.muli {{.*}} : vector<8xi32>
func.func @matmul_i32(%a: memref<64x64xi32>, %b: memref<64x64xi32>, %c: memref<64x64xi32>) {
  linalg.matmul ins(%a, %b : memref<64x64xi32>, memref<64x64xi32>) outs(%c : memref<64x64xi32>)
  return
}
