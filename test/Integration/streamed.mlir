// REQUIRES: pit-run
//
// A result that no cache holds is stored past them where its rows are aligned
// (1024 and 1040 columns) and as usual where they are not (1027).
//
// RUN: sed s/COLUMNS/1024/g %s > %t.1.mlir
// RUN: pit-run %t.1.mlir --arg='random(1100x64,f32,sparsity=0.7,micro=32x1,seed=1)' --arg='random(64x1024,f32,seed=2)' --check
// RUN: sed s/COLUMNS/1040/g %s > %t.2.mlir
// RUN: pit-run %t.2.mlir --arg='random(1100x64,f32,sparsity=0.7,micro=32x1,seed=3)' --arg='random(64x1040,f32,seed=4)' --check
// RUN: sed s/COLUMNS/1027/g %s > %t.3.mlir
// RUN: pit-run %t.3.mlir --arg='random(1100x64,f32,sparsity=0.7,micro=32x1,seed=5)' --arg='random(64x1027,f32,seed=6)' --check
func.func @f(%a: tensor<1100x64xf32>, %b: tensor<64xCOLUMNSxf32>) -> tensor<1100xCOLUMNSxf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1100xCOLUMNSxf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1100xCOLUMNSxf32>) -> tensor<1100xCOLUMNSxf32>
  %s = pit.sparse %a : tensor<1100x64xf32>
  %c = linalg.matmul ins(%s, %b : tensor<1100x64xf32>, tensor<64xCOLUMNSxf32>)
         outs(%init : tensor<1100xCOLUMNSxf32>) -> tensor<1100xCOLUMNSxf32>
  return %c : tensor<1100xCOLUMNSxf32>
}
