// Dimensions of 0 that are known when a program is compiled: a sum over nothing
// is the initial output, and what has no element is not written. Tiles have
// elements all the same.

// RUN: pit-opt %s -pit-to-tiles -o /dev/null
// RUN: pit-opt %s -pit-to-cuda=chip=sm_90a -o /dev/null
// RUN: pit-run %s --entry=sum --arg='zeros(33x0,f32)' --arg='zeros(0x40,f32)' --arg='random(33x40,f32)' --check | FileCheck %s
// RUN: pit-run %s --entry=columns --arg='random(33x40,f32,sparsity=0.5)' --arg='zeros(40x0,f32)' --arg='zeros(33x0,f32)' --check | FileCheck %s
// RUN: pit-run %s --entry=rows --arg='zeros(0x40,f32)' --arg='zeros(0x40,f32)' --check | FileCheck %s
// CHECK: check: result 0: {{.*}}: ok

func.func @sum(%x: tensor<33x0xf32>, %w: tensor<0x40xf32>, %c: tensor<33x40xf32>) -> tensor<33x40xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<33x0xf32>
  %y = linalg.matmul ins(%s, %w : tensor<33x0xf32>, tensor<0x40xf32>) outs(%c : tensor<33x40xf32>) -> tensor<33x40xf32>
  return %y : tensor<33x40xf32>
}

func.func @columns(%x: tensor<33x40xf32>, %w: tensor<40x0xf32>, %c: tensor<33x0xf32>) -> tensor<33x0xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<33x40xf32>
  %y = linalg.matmul ins(%s, %w : tensor<33x40xf32>, tensor<40x0xf32>) outs(%c : tensor<33x0xf32>) -> tensor<33x0xf32>
  return %y : tensor<33x0xf32>
}

func.func @rows(%x: tensor<0x40xf32>, %o: tensor<0x40xf32>) -> tensor<0x40xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<0x40xf32>
  %y = linalg.exp ins(%s : tensor<0x40xf32>) outs(%o : tensor<0x40xf32>) -> tensor<0x40xf32>
  return %y : tensor<0x40xf32>
}
