// REQUIRES: pit-run
//
// Long sums are added up in parts, between which sums lie in a tile: 600 steps
// are two of 256 and one of 88. Packed rows of 512 floats would share few sets
// of a cache, and are a line longer.
//
// RUN: sed s/SUMS/600/g %s > %t.1.mlir
// RUN: pit-run %t.1.mlir --arg='random(170x600,f32,sparsity=0.5,micro=1x600,seed=1)' --arg='random(600x130,f32,seed=2)' --arg='random(170x130,f32,seed=3)' --check
// RUN: pit-run %t.1.mlir --arg='random(170x600,f32,sparsity=0.5,micro=1x600,seed=1)' --arg='random(600x130,f32,seed=2)' --arg='random(170x130,f32,seed=3)' --check --cpu=x86-64-v3
// RUN: sed s/SUMS/512/g %s > %t.2.mlir
// RUN: pit-run %t.2.mlir --arg='random(170x512,f32,sparsity=0.5,micro=1x512,seed=1)' --arg='random(512x130,f32,seed=2)' --arg='random(170x130,f32,seed=3)' --check
// RUN: pit-run %t.2.mlir --arg='random(170x512,f32,sparsity=0.5,micro=1x512,seed=1)' --arg='random(512x130,f32,seed=2)' --arg='random(170x130,f32,seed=3)' --check --cpu=x86-64-v3
// RUN: sed s/SUMS/256/g %s > %t.3.mlir
// RUN: pit-run %t.3.mlir --arg='random(170x256,f32,sparsity=0.5,micro=1x256,seed=1)' --arg='random(256x130,f32,seed=2)' --arg='random(170x130,f32,seed=3)' --check
func.func @f(%a: tensor<170xSUMSxf32>, %b: tensor<SUMSx130xf32>, %c: tensor<170x130xf32>) -> tensor<170x130xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, SUMS]>) : tensor<170xSUMSxf32>
  %r = linalg.matmul ins(%s, %b : tensor<170xSUMSxf32>, tensor<SUMSx130xf32>)
         outs(%c : tensor<170x130xf32>) -> tensor<170x130xf32>
  return %r : tensor<170x130xf32>
}
