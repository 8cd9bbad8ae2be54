// A column of a tensor as an operand: its elements are not neighbours in memory.
// Ids choose them, and lanes that are cut off, against the dense program.

// RUN: pit-run %s --entry=column --arg='random(70x2,i32,sparsity=0.6,seed=1)' --arg='random(70x9,i32,seed=2)' --arg='full(70,i32,5)' --arg='random(9,i32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=column --arg='random(70x2,i32,sparsity=0.6,seed=1)' --arg='random(70x9,i32,seed=2)' --arg='full(70,i32,5)' --arg='random(9,i32,seed=3)' --check --cpu=x86-64 --threads=2 | FileCheck %s
// CHECK: check: result 0: {{.*}}: ok

func.func @column(%x: tensor<70x2xi32>, %w: tensor<70x?xi32>, %l: tensor<70xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %c = tensor.extract_slice %x[0, 1] [70, 1] [1, 1] : tensor<70x2xi32> to tensor<70xi32>
  %s = pit.sparse %c : tensor<70xi32>
  %v = pit.sparse %w lengths(%l : tensor<70xi32>) : tensor<70x?xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%s, %v : tensor<70xi32>, tensor<70x?xi32>) outs(%o : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32, %t: i32):
    %p = arith.muli %a, %b : i32
    %q = arith.addi %t, %p : i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}
