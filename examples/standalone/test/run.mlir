// The program that mlp-opt marks runs, and gives the dense program's results.
// RUN: mlp-opt --lower-mlp %s \
// RUN:   | pit-run - --arg='random(70x48,f32)' --arg='random(48x96,f32)' \
// RUN:       --arg='random(96x32,f32)' --check | FileCheck %s

// CHECK: check: result 0: {{.*}}: ok

func.func @layers(%x: tensor<?x48xf32>, %w0: tensor<48x96xf32>,
                  %w1: tensor<96x32xf32>) -> tensor<?x32xf32> {
  %0 = mlp.dense %x, %w0 : tensor<?x48xf32>, tensor<48x96xf32> -> tensor<?x96xf32>
  %1 = mlp.relu %0 : tensor<?x96xf32>
  %2 = mlp.dense %1, %w1 : tensor<?x96xf32>, tensor<96x32xf32> -> tensor<?x32xf32>
  return %2 : tensor<?x32xf32>
}
