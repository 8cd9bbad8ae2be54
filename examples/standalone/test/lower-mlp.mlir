// RUN: mlp-opt --lower-mlp %s | FileCheck %s

// CHECK-LABEL: func @two_layers
//       CHECK:   %[[H:.*]] = linalg.matmul
//       CHECK:   %[[R:.*]] = linalg.max ins(%[[H]], %
//       CHECK:   %[[S:.*]] = pit.sparse %[[R]] rule(<axis = 1>) : tensor<64x96xf32>
//       CHECK:   linalg.matmul ins(%[[S]],
//   CHECK-NOT:   mlp.
func.func @two_layers(%x: tensor<64x48xf32>, %w0: tensor<48x96xf32>,
                      %w1: tensor<96x32xf32>) -> tensor<64x32xf32> {
  %0 = mlp.dense %x, %w0 : tensor<64x48xf32>, tensor<48x96xf32> -> tensor<64x96xf32>
  %1 = mlp.relu %0 rule(#pit.rule<axis = 1>) : tensor<64x96xf32>
  %2 = mlp.dense %1, %w1 : tensor<64x96xf32>, tensor<96x32xf32> -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}
