// REQUIRES: pit-run
//
// A result that no cache holds is stored past them where its rows are aligned
// (1024 and 1040 columns) and as usual where they are not (1027). Vectors of a
// part of a cache line are gathered to rows before: with few ids, in one chunk,
// and with many.
//
// RUN: sed "s/COLUMNS/1024/g; s/SUMS/64/g" %s > %t.1.mlir
// RUN: pit-run %t.1.mlir --arg='random(1100x64,f32,sparsity=0.7,micro=32x1,seed=1)' --arg='random(64x1024,f32,seed=2)' --check
// RUN: pit-run %t.1.mlir --arg='random(1100x64,f32,sparsity=0.7,micro=32x1,seed=1)' --arg='random(64x1024,f32,seed=2)' --check --cpu=x86-64-v3
// RUN: sed "s/COLUMNS/1040/g; s/SUMS/64/g" %s > %t.2.mlir
// RUN: pit-run %t.2.mlir --arg='random(1100x64,f32,sparsity=0.7,micro=32x1,seed=3)' --arg='random(64x1040,f32,seed=4)' --check
// RUN: pit-run %t.2.mlir --arg='random(1100x64,f32,sparsity=0.7,micro=32x1,seed=3)' --arg='random(64x1040,f32,seed=4)' --check --cpu=x86-64-v3
// RUN: sed "s/COLUMNS/1027/g; s/SUMS/64/g" %s > %t.3.mlir
// RUN: pit-run %t.3.mlir --arg='random(1100x64,f32,sparsity=0.7,micro=32x1,seed=5)' --arg='random(64x1027,f32,seed=6)' --check
// RUN: pit-run %t.3.mlir --arg='random(1100x64,f32,sparsity=0.7,micro=32x1,seed=5)' --arg='random(64x1027,f32,seed=6)' --check --cpu=x86-64-v3
// RUN: sed "s/COLUMNS/1024/g; s/SUMS/160/g" %s > %t.4.mlir
// RUN: pit-run %t.4.mlir --arg='random(1100x160,f32,sparsity=0.2,micro=32x1,seed=7)' --arg='random(160x1024,f32,seed=8)' --check
// RUN: pit-run %t.4.mlir --arg='random(1100x160,f32,sparsity=0.2,micro=32x1,seed=7)' --arg='random(160x1024,f32,seed=8)' --check --cpu=x86-64-v3
// RUN: sed "s/COLUMNS/1040/g; s/SUMS/160/g" %s > %t.5.mlir
// RUN: pit-run %t.5.mlir --arg='random(1100x160,f32,sparsity=0.2,micro=32x1,seed=9)' --arg='random(160x1040,f32,seed=10)' --check
// RUN: pit-run %t.5.mlir --arg='random(1100x160,f32,sparsity=0.2,micro=32x1,seed=9)' --arg='random(160x1040,f32,seed=10)' --check --cpu=x86-64-v3
// RUN: sed "s/COLUMNS/1027/g; s/SUMS/160/g" %s > %t.6.mlir
// RUN: pit-run %t.6.mlir --arg='random(1100x160,f32,sparsity=0.2,micro=32x1,seed=11)' --arg='random(160x1027,f32,seed=12)' --check
// RUN: pit-run %t.6.mlir --arg='random(1100x160,f32,sparsity=0.2,micro=32x1,seed=11)' --arg='random(160x1027,f32,seed=12)' --check --cpu=x86-64-v3
func.func @f(%a: tensor<1100xSUMSxf32>, %b: tensor<SUMSxCOLUMNSxf32>) -> tensor<1100xCOLUMNSxf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1100xCOLUMNSxf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1100xCOLUMNSxf32>) -> tensor<1100xCOLUMNSxf32>
  %s = pit.sparse %a : tensor<1100xSUMSxf32>
  %c = linalg.matmul ins(%s, %b : tensor<1100xSUMSxf32>, tensor<SUMSxCOLUMNSxf32>)
         outs(%init : tensor<1100xCOLUMNSxf32>) -> tensor<1100xCOLUMNSxf32>
  return %c : tensor<1100xCOLUMNSxf32>
}
