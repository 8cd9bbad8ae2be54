// --check fails if the results are off: here the mark's promise (assume) that
// what is not selected is 0 does not hold, and only the sparse program relies
// on it.

// RUN: not pit-run %s --arg='full(32x8,f32,1)' --arg='random(32x8,bool,sparsity=0.5,micro=32x1)' \
// RUN:   --arg='full(8x4,f32,1)' --arg='zeros(32x4,f32)' --check --pipeline=choice=now > %t 2>&1
// RUN: FileCheck %s < %t

// RUN: pit-run %s --arg='full(32x8,f32,1)' --arg='random(32x8,bool,sparsity=0.5,micro=32x1)' \
// RUN:   --arg='full(8x4,f32,1)' --arg='zeros(32x4,f32)' --check --pipeline=choice=now --tolerance=0.5 | FileCheck %s --check-prefix=TOLERANCE
// TOLERANCE: check: result 0: max abs error 4, max relative error 0.5 (tolerance 5e-01): ok

// CHECK-DAG: check: result 0: max abs error 4, max relative error 0.5 (tolerance 1e-04): OFF
// CHECK-DAG: pit-run: error: result 0: 128 of 128 elements differ from the dense program's; element 0 is 4, not 8

func.func @f(%a: tensor<?x?xf32>, %m: tensor<?x?xi1>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a mask(%m : tensor<?x?xi1>) assume : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>)
         outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
