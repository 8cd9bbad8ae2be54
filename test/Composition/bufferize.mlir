// REQUIRES: pit-run
// A mark that is bufferized says what has to run before; after that it is taken.

// RUN: not mlir-opt %s --load-dialect-plugin=%pit_plugin --load-pass-plugin=%pit_plugin \
// RUN:   --pass-pipeline='builtin.module(one-shot-bufferize{bufferize-function-boundaries})' 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: pit-opt %s -pit-label-marks -o %t.labelled.mlir
// RUN: not pit-opt %t.labelled.mlir -one-shot-bufferize=bufferize-function-boundaries 2>&1 | FileCheck %s --check-prefix=LABEL
// ERROR: bufferize.mlir:[[@LINE+12]]:8: error: 'pit.sparse' op is a mark and marks are of tensors only: before bufferization run pit-to-tiles or pit-functions-to-tiles
// LABEL: error: 'pit.sparse' op is a mark, 'f:0', and marks are of tensors only

// RUN: pit-opt %s -pit-lower-marks -one-shot-bufferize=bufferize-function-boundaries | FileCheck %s --check-prefix=DENSE
// RUN: pit-opt %s -pit-functions-to-tiles -one-shot-bufferize=bufferize-function-boundaries | FileCheck %s --check-prefix=TILES
// DENSE-NOT: tensor<
// DENSE: linalg.matmul {{.*}} memref<64x96xf32
// TILES-NOT: tensor<
// TILES: pit.mainloop

func.func @f(%a: tensor<64x96xf32>, %b: tensor<96x128xf32>, %c: tensor<64x128xf32>)
    -> tensor<64x128xf32> {
  %s = pit.sparse %a : tensor<64x96xf32>
  %r = linalg.matmul ins(%s, %b : tensor<64x96xf32>, tensor<96x128xf32>)
         outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
