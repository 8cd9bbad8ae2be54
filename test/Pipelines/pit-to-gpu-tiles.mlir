// RUN: pit-opt %s -pit-to-gpu-tiles | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: pit-opt %s -pit-to-gpu-tiles=deterministic | FileCheck %s --check-prefixes=CHECK,DETERMINISTIC
// RUN: pit-opt %s -pit-to-gpu-tiles=dense | FileCheck %s --check-prefix=DENSE

!t = tensor<?x1024xf16>
#mn = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>

// A dense layer is one loop, bias and activation included.
// CHECK-LABEL: func.func @layer(
// CHECK: pit.forall (%{{.*}}, %{{.*}}) = {{.*}} step (128, 256)
// CHECK: pit.for
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: pit.swrite
// CHECK-NOT: linalg.
// CHECK: return
func.func @layer(%x: !t, %w: tensor<1024x1024xf16>, %bias: tensor<1024xf16>) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %m = tensor.dim %x, %c0 : !t
  %e = tensor.empty(%m) : !t
  %c = linalg.fill ins(%zero : f16) outs(%e : !t) -> !t
  %r = linalg.matmul ins(%x, %w : !t, tensor<1024x1024xf16>) outs(%c : !t) -> !t
  %s = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : !t, tensor<1024xf16>) outs(%e : !t) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %y = arith.addf %a, %b : f16
    %z = arith.maximumf %y, %zero : f16
    linalg.yield %z : f16
  } -> !t
  return %s : !t
}

// Groups that add to the same outputs do so at once, if the order may show.
// CHECK-LABEL: func.func @parts(
// FAST: pit.forall (%{{.*}}, %{{.*}}) = {{.*}} step (256, 64) conflicts(atomic)
// FAST: combine(addf)
// DETERMINISTIC: pit.forall (%{{.*}}, %{{.*}}) = {{.*}} step (256, 64) iter_args
// DETERMINISTIC: pit.forall (%{{.*}}) = {{.*}} step (32) iter_args
// DETERMINISTIC-NOT: combine
// CHECK: return
// DENSE-LABEL: func.func @parts(
// DENSE: pit.forall (%{{.*}}, %{{.*}}) = {{.*}} step (128, 256) iter_args
func.func @parts(%x: !t, %w: tensor<1024x1024xf16>, %c: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 0, micro_tile = [1, 64]>) : !t
  %r = linalg.matmul ins(%s, %w : !t, tensor<1024x1024xf16>) outs(%c : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %r : tensor<?x1024xf32>
}

// A mark that is no gain leaves a dense contraction.
// CHECK-LABEL: func.func @stays_dense(
// CHECK-NOT: pit.index
// CHECK: pit.forall (%{{.*}}, %{{.*}}) =
// CHECK: arith.maximumf
func.func @stays_dense(%x: !t, %w: tensor<1024x1024xf16>, %c: !t) -> !t {
  %s = pit.sparse %x : !t
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%s, %w : !t, tensor<1024x1024xf16>) outs(%c : !t) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %p = arith.mulf %a, %b : f16
    %q = arith.maximumf %o, %p : f16
    linalg.yield %q : f16
  } -> !t
  return %r : !t
}
