// RUN: pit-opt %s -pit-label-marks="samples=f:0=a.npy,out=b.npy,g:0[1-0]=c.npy" | FileCheck %s
// RUN: not pit-opt %s -pit-label-marks="samples=f:2=a.npy" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: sample 'f:2=a.npy' is of no mark: there are: f:0, out, g:0

// Numbers count the marks of a function, whether they have labels or not.

// CHECK-LABEL: func.func @f
func.func @f(%a: tensor<4x4xf32>, %m: tensor<4x4xi1>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: pit.sparse %{{.*}} label("f:0")
  %s = pit.sparse %a : tensor<4x4xf32>
  // CHECK: pit.sparse %{{.*}} label("out")
  %t = pit.sparse %a mask(%m : tensor<4x4xi1>) label("out") : tensor<4x4xf32>
  return %s, %t : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func private @g
func.func private @g(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: pit.sparse %{{.*}} label("g:0")
  %s = pit.sparse %a : tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}
