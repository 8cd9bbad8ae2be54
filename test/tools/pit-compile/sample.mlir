// RUN: %python %S/../../Dialect/Pit/Transforms/Inputs/save_array.py %t.npy "numpy.where(i == 3, 1.0, 0.0).astype('f4')"
// RUN: pit-compile %s --emit=mlir --sample=hidden=%t.npy --explain -o %t.mlir \
// RUN:   --pipeline=tile-table=%S/../../Dialect/Pit/Transforms/Inputs/costs.json 2>&1 | FileCheck %s
// CHECK: remark: linalg.matmul: rules compared by sample '{{.*}}.npy' of mark 'hidden': dense takes
// CHECK: remark: linalg.matmul: candidate {{.*}}, chosen: the least
// RUN: not pit-compile %s --emit=mlir --sample=f:0=%t.npy 2>&1 | FileCheck %s --check-prefix=LABEL
// LABEL: error: sample 'f:0={{.*}}.npy' is of no mark: there are: hidden
// So small a product is dense on a GPU.
// RUN: pit-compile %s --target=cuda --chip=sm_90a --emit=mlir --sample=hidden=%t.npy --explain -o %t.gpu.mlir 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GPU
// GPU: remark: linalg.matmul: rules compared by sample '{{.*}}.npy' of mark 'hidden': dense takes {{.*}}, and is chosen: no rule is faster
func.func @f(%a: tensor<10x20xf32>, %b: tensor<20x300xf32>, %c: tensor<10x300xf32>) -> tensor<10x300xf32> {
  %s = pit.sparse %a label("hidden") : tensor<10x20xf32>
  %r = linalg.matmul ins(%s, %b : tensor<10x20xf32>, tensor<20x300xf32>) outs(%c : tensor<10x300xf32>) -> tensor<10x300xf32>
  return %r : tensor<10x300xf32>
}
