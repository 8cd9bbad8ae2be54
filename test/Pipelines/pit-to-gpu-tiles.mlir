// RUN: pit-opt %s -pit-to-gpu-tiles | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: pit-opt %s -pit-to-gpu-tiles=deterministic | FileCheck %s --check-prefixes=CHECK,DETERMINISTIC
// RUN: pit-opt %s -pit-to-gpu-tiles=round-partials | FileCheck %s --check-prefixes=CHECK,FAST,ROUNDED
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
// DETERMINISTIC: pit.transpose_index
// DETERMINISTIC: pit.forall (%{{.*}}) = {{.*}} step (1) iter_args
// DETERMINISTIC-NOT: combine
// CHECK: return
// DENSE-LABEL: func.func @parts(
// DENSE: pit.forall (%{{.*}}, %{{.*}}) = {{.*}} step (128, 256) iter_args
func.func @parts(%x: !t, %w: tensor<1024x1024xf16>, %c: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 0, micro_tile = [1, 64]>) : !t
  %r = linalg.matmul ins(%s, %w : !t, tensor<1024x1024xf16>) outs(%c : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %r : tensor<?x1024xf32>
}

// What they add to a result of 16 bits may be rounded: then it is written, in the result's
// type, and added in f32.
// CHECK-LABEL: func.func @narrow_partials(
// ROUNDED: tensor.empty(%{{.*}}) : tensor<?x1024xf16>
// ROUNDED: pit.forall (%{{.*}}, %{{.*}}) = {{.*}} step (256, 64) iter_args
// ROUNDED: pit.swrite {{.*}} : tensor<128x256xf32> into tensor<?x1024xf16>
// ROUNDED: pit.transpose_index
// ROUNDED: arith.extf %{{.*}} : f16 to f32
// ROUNDED-NEXT: arith.addf {{.*}} : f32
// ROUNDED-NOT: combine
// CHECK: return
func.func @narrow_partials(%x: !t, %w: tensor<1024x1024xf16>, %c: !t) -> !t {
  %s = pit.sparse %x rule(#pit.rule<axis = 0, micro_tile = [1, 64]>) : !t
  %r = linalg.matmul ins(%s, %w : !t, tensor<1024x1024xf16>) outs(%c : !t) -> !t
  return %r : !t
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

// Experts: tiles of packed tensors have no dim for the expert, so that what is
// left are contractions of rows and columns. Their epilogues are element-wise.
// CHECK-LABEL: func.func @experts(
// CHECK: pit.forall (%{{.*}}, %{{.*}}) = {{.*}} step (1, 256)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<128x32xf16>, tensor<1x32x256xf16>) outs({{.*}} : tensor<128x256xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins({{.*}} : tensor<128x1xf32>, tensor<128x256xf32>) outs({{.*}} : tensor<128x256xf32>)
// CHECK: pit.swrite {{.*}} : tensor<128x256xf32> into tensor<?x2048xf16>
// FAST: pit.forall {{.*}} conflicts(atomic)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<128x32xf16>, tensor<1x32x256xf16>) outs({{.*}} : tensor<128x256xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins({{.*}} : tensor<128x1xf32>, tensor<128x256xf32>) outs({{.*}} : tensor<128x256xf32>)
// FAST: pit.swrite {{.*}} combine(addf) : tensor<128x256xf32> into tensor<?x512xf32>
func.func @experts(%g: tensor<?x8xf32>, %x: tensor<?x512xf16>, %up: tensor<8x512x2048xf16>, %down: tensor<8x2048x512xf16>,
                   %h0: tensor<?x8x2048xf16>, %y0: tensor<?x512xf32>, %to: tensor<?x2xi32>) -> tensor<?x512xf32> {
  %z = arith.constant 0.0 : f16
  %h1 = linalg.fill ins(%z : f16) outs(%h0 : tensor<?x8x2048xf16>) -> tensor<?x8x2048xf16>
  %r = pit.sparse %g routing(%to : tensor<?x2xi32>) : tensor<?x8xf32>
  %h = linalg.generic {
      indexing_maps = [affine_map<(t, e, f, k) -> (t, e)>, affine_map<(t, e, f, k) -> (t, k)>,
                       affine_map<(t, e, f, k) -> (e, k, f)>, affine_map<(t, e, f, k) -> (t, e, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%r, %x, %up : tensor<?x8xf32>, tensor<?x512xf16>, tensor<8x512x2048xf16>) outs(%h1 : tensor<?x8x2048xf16>) {
  ^bb0(%w: f32, %a: f16, %b: f16, %o: f16):
    %v = arith.truncf %w : f32 to f16
    %p = arith.mulf %a, %b : f16
    %q = arith.mulf %v, %p : f16
    %s = arith.addf %o, %q : f16
    linalg.yield %s : f16
  } -> tensor<?x8x2048xf16>
  %y = linalg.generic {
      indexing_maps = [affine_map<(t, n, e, f) -> (t, e)>, affine_map<(t, n, e, f) -> (t, e, f)>,
                       affine_map<(t, n, e, f) -> (e, f, n)>, affine_map<(t, n, e, f) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%r, %h, %down : tensor<?x8xf32>, tensor<?x8x2048xf16>, tensor<8x2048x512xf16>) outs(%y0 : tensor<?x512xf32>) {
  ^bb0(%w: f32, %a: f16, %b: f16, %o: f32):
    %a32 = arith.extf %a : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %p = arith.mulf %a32, %b32 : f32
    %q = arith.mulf %w, %p : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}
