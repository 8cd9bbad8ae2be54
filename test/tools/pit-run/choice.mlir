// What a program chooses depends on its zeros. Where it chose the dense product, it
// looks again after 1, 2, 4, ... calls.

// RUN: pit-run %s --arg='random(256x256,f32,sparsity=0.95,seed=1)' --arg='random(256x256,f32,seed=2)' \
// RUN:   --repeat=20 --stats --check | FileCheck %s --check-prefix=FEW
// FEW: choice 0: of 256x256 along axis 1 in micro-tiles of 1x1; scanned in 22 of 22 calls
// FEW-NEXT: index 0: values of argument 0, 256x256 along axis 1 in micro-tiles of 1x1
// FEW: check: result 0: {{.*}}: ok

// RUN: pit-run %s --arg='random(256x256,f32,sparsity=0.9,micro=1x256,seed=1)' --arg='random(256x256,f32,seed=2)' \
// RUN:   --repeat=20 --stats --check | FileCheck %s --check-prefix=ROWS
// ROWS: choice 0: of 256x256 along axis 0 in micro-tiles of 1x*; scanned in 22 of 22 calls
// ROWS: check: result 0: {{.*}}: ok

// RUN: pit-run %s --arg='random(256x256,f32,seed=1)' --arg='random(256x256,f32,seed=2)' \
// RUN:   --repeat=20 --stats --check | FileCheck %s --check-prefix=NONE
// NONE: choice 0: of 256x256, dense; scanned in 5 of 22 calls
// NONE-NEXT: indices: none were built
// NONE: check: result 0: {{.*}}: ok

func.func @f(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %s = pit.sparse %a : tensor<256x256xf32>
  %r = linalg.matmul ins(%s, %b : tensor<256x256xf32>, tensor<256x256xf32>)
         outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
