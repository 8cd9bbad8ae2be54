// pit's pipeline runs in the middle of mlp-opt's own.
// RUN: mlp-opt --mlp-to-llvm --mlir-print-debuginfo %s | FileCheck %s
// RUN: mlp-opt --mlp-to-llvm=strict=true %s -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STRICT

// The entry point that the runtime calls, an index of what the relu left, and the
// debug scope that mlp-opt adds.
//      CHECK: llvm.func @pit_layers(
//      CHECK: llvm.call @pit_rt_build
//      CHECK: #llvm.di_subprogram<{{.*}}name = "pit_layers"

// STRICT: remark: stays dense: {{.*}}(strict)

func.func @layers(%x: tensor<?x48xf32>, %w0: tensor<48x96xf32>,
                  %w1: tensor<96x32xf32>) -> tensor<?x32xf32> {
  %0 = mlp.dense %x, %w0 : tensor<?x48xf32>, tensor<48x96xf32> -> tensor<?x96xf32>
  %1 = mlp.relu %0 : tensor<?x96xf32>
  %2 = mlp.dense %1, %w1 : tensor<?x96xf32>, tensor<96x32xf32> -> tensor<?x32xf32>
  return %2 : tensor<?x32xf32>
}
