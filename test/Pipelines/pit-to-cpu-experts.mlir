// A gated layer of a mixture of experts: its products form mainloops, though what
// lies between them is packed, tokens and experts as one dimension. Both
// projections are one mainloop.

// RUN: pit-opt %s --pit-to-tiles=fuse-siblings=false --pit-form-mainloops=vector-width=512 | FileCheck %s
// RUN: pit-opt %s --pit-to-tiles="vector-width=256 fuse-siblings=false" --pit-form-mainloops=vector-width=256 | FileCheck %s
// RUN: pit-opt %s --pit-to-tiles --pit-form-mainloops=vector-width=512 | FileCheck %s --check-prefix=FUSED
// RUN: pit-opt %s --pit-to-tiles --pit-tiles-to-loops | FileCheck %s --check-prefix=LOOPS

// RUN: pit-run %s --check --threads=2 --arg="random(65x8,f32,seed=2)" --arg="random(65x2,i32,low=0,high=7,seed=3)" --arg="random(65x256,f32,seed=1)" --arg="random(8x256x512,f32,seed=4)" --arg="random(8x256x512,f32,seed=5)" --arg="random(8x512x256,f32,seed=6)" | FileCheck %s --check-prefix=RIGHT
// RIGHT: check: result 0: {{.*}}: ok

// CHECK-COUNT-3: pit.mainloop
// CHECK-NOT: pit.mainloop

// FUSED: pit.mainloop %c0 to %c256 step [64]
// FUSED: load {
// FUSED-COUNT-3: pit.view
// FUSED: pit.yield %{{.*}}, %{{.*}}, %{{.*}} : vector<64x64xf32>, vector<1x64x128xf32>, vector<1x64x128xf32>
// FUSED-COUNT-2: pit.contract
// FUSED: epilogue {
// FUSED-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32
// FUSED: math.exp
// FUSED: pit.mainloop
// FUSED-NOT: pit.mainloop

// A tile of the tokens, which is packed once in a chunk, and a tile of sums for
// each product.
// LOOPS: memref.alloca() {{.*}} : memref<64x64xf32>
// LOOPS-COUNT-2: memref.alloca() {{.*}} : memref<64x128xf32>
// LOOPS-NOT: memref.alloca()
// LOOPS: math.exp
#te = affine_map<(t, e, f, k) -> (t, e)>
#tk = affine_map<(t, e, f, k) -> (t, k)>
#ekf = affine_map<(t, e, f, k) -> (e, k, f)>
#tef = affine_map<(t, e, f, k) -> (t, e, f)>
#id = affine_map<(t, e, f) -> (t, e, f)>
#weight = affine_map<(t, n, e, f) -> (t, e)>
#hidden = affine_map<(t, n, e, f) -> (t, e, f)>
#down = affine_map<(t, n, e, f) -> (e, f, n)>
#out = affine_map<(t, n, e, f) -> (t, n)>
func.func @layer(%r: tensor<?x8xf32>, %to: tensor<?x2xi32>, %x: tensor<?x256xf32>, %a: tensor<8x256x512xf32>,
                 %b: tensor<8x256x512xf32>, %d: tensor<8x512x256xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x256xf32>
  %s = pit.sparse %r routing(%to : tensor<?x2xi32>) : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8x512xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8x512xf32>) -> tensor<?x8x512xf32>
  %g = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%s, %x, %a : tensor<?x8xf32>, tensor<?x256xf32>, tensor<8x256x512xf32>) outs(%init : tensor<?x8x512xf32>) {
  ^bb0(%w: f32, %u: f32, %v: f32, %o: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = arith.mulf %w, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x8x512xf32>
  %h = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%s, %x, %b : tensor<?x8xf32>, tensor<?x256xf32>, tensor<8x256x512xf32>) outs(%init : tensor<?x8x512xf32>) {
  ^bb0(%w: f32, %u: f32, %v: f32, %o: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = arith.mulf %w, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x8x512xf32>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%g, %h : tensor<?x8x512xf32>, tensor<?x8x512xf32>) outs(%e : tensor<?x8x512xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %0 = arith.negf %u : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %u, %2 : f32
    %4 = arith.mulf %3, %v : f32
    linalg.yield %4 : f32
  } -> tensor<?x8x512xf32>
  %n = tensor.empty(%t) : tensor<?x256xf32>
  %y = linalg.fill ins(%zero : f32) outs(%n : tensor<?x256xf32>) -> tensor<?x256xf32>
  %z = linalg.generic {indexing_maps = [#weight, #hidden, #down, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
         ins(%s, %m, %d : tensor<?x8xf32>, tensor<?x8x512xf32>, tensor<8x512x256xf32>) outs(%y : tensor<?x256xf32>) {
  ^bb0(%w: f32, %u: f32, %v: f32, %o: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = arith.mulf %w, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x256xf32>
  return %z : tensor<?x256xf32>
}
