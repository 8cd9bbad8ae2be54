// Loops of equal ops become one function: the four products here whose results are
// marked, of which the first reads an argument. The last one writes the caller's memory,
// and no bits beside it.
// RUN: pit-compile %s --emit=llvm --pipeline=choice=now | FileCheck %s

// CHECK: fmul {{.*}} x float>
// CHECK: {{^}}}
// CHECK: fmul {{.*}} x float>
// CHECK: {{^}}}
// CHECK-NOT: fmul
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s0 = pit.sparse %a : tensor<?x?xf32>
  %0 = linalg.matmul ins(%s0, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s1 = pit.sparse %0 : tensor<?x?xf32>
  %1 = linalg.matmul ins(%s1, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s2 = pit.sparse %1 : tensor<?x?xf32>
  %2 = linalg.matmul ins(%s2, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s3 = pit.sparse %2 : tensor<?x?xf32>
  %3 = linalg.matmul ins(%s3, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s4 = pit.sparse %3 : tensor<?x?xf32>
  %4 = linalg.matmul ins(%s4, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %4 : tensor<?x?xf32>
}
