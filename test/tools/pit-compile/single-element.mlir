// The last vector has one element. LLVM 22 would store it as an i64 if the store
// were masked.

// RUN: pit-compile %s --cpu=x86-64-v4 --pipeline=vector-width=256 --emit=llvm -o - | FileCheck %s
// CHECK-LABEL: define {{.*}} @pit_f(
// CHECK-NOT: llvm.masked.store
// CHECK: store <4 x i32> {{.*}}, align 4
// CHECK-NOT: llvm.masked.store
// CHECK: store i32 {{.*}}, align 4
// CHECK-NOT: llvm.masked.store
// CHECK-LABEL: define {{.*}} @pit_g(

// Two elements are as many as the mask says.
// RUN: pit-compile %s --cpu=x86-64-v4 --pipeline=vector-width=256 --emit=llvm -o - | FileCheck %s --check-prefix=TWO
// TWO-LABEL: define {{.*}} @pit_g(
// TWO: llvm.masked.store{{.*}}<4 x i1> <i1 true, i1 true, i1 false, i1 false>

func.func @f(%x: tensor<13xi64>) -> tensor<13xi32> {
  %e = tensor.empty() : tensor<13xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<13xi64>) outs(%e : tensor<13xi32>) {
  ^bb0(%a: i64, %b: i32):
    %t = arith.trunci %a : i64 to i32
    linalg.yield %t : i32
  } -> tensor<13xi32>
  return %r : tensor<13xi32>
}

func.func @g(%x: tensor<14xi64>) -> tensor<14xi32> {
  %e = tensor.empty() : tensor<14xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<14xi64>) outs(%e : tensor<14xi32>) {
  ^bb0(%a: i64, %b: i32):
    %t = arith.trunci %a : i64 to i32
    linalg.yield %t : i32
  } -> tensor<14xi32>
  return %r : tensor<14xi32>
}
