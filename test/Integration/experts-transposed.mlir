// Experts whose weights are stored [f, k]. If few tokens go to an expert, tiles of
// its weights are transposed as they are read; else all of them before the loop.
// Which, a call decides.

// RUN: pit-run %s --check --arg='random(1x4,f32,seed=2)' --arg='random(1x2,i32,low=0,high=3,seed=3)' --arg='random(1x70,f32,seed=1)' --arg='random(4x131x70,f32,seed=4)' --arg='random(4x131x70,f32,seed=5)' --arg='random(4x70x131,f32,seed=6)' | FileCheck %s
// RUN: pit-run %s --check %unoptimized --threads=2 --arg='random(3x4,f32,seed=2)' --arg='random(3x2,i32,low=0,high=3,seed=3)' --arg='random(3x70,f32,seed=1)' --arg='random(4x131x70,f32,seed=4)' --arg='random(4x131x70,f32,seed=5)' --arg='random(4x70x131,f32,seed=6)' | FileCheck %s
// RUN: pit-run %s --check %unoptimized --arg='random(65x4,f32,seed=2)' --arg='random(65x2,i32,low=0,high=3,seed=3)' --arg='random(65x70,f32,seed=1)' --arg='random(4x131x70,f32,seed=4)' --arg='random(4x131x70,f32,seed=5)' --arg='random(4x70x131,f32,seed=6)' | FileCheck %s
// RUN: pit-run %s --check --cpu=x86-64-v3 --arg='random(200x4,f32,seed=2)' --arg='random(200x2,i32,low=0,high=3,seed=3)' --arg='random(200x70,f32,seed=1)' --arg='random(4x131x70,f32,seed=4)' --arg='random(4x131x70,f32,seed=5)' --arg='random(4x70x131,f32,seed=6)' | FileCheck %s
// RUN: pit-run %s --check %unoptimized --arg='random(1300x4,f32,seed=2)' --arg='random(1300x2,i32,low=0,high=3,seed=3)' --arg='random(1300x70,f32,seed=1)' --arg='random(4x131x70,f32,seed=4)' --arg='random(4x131x70,f32,seed=5)' --arg='random(4x70x131,f32,seed=6)' | FileCheck %s
// RUN: pit-run %s --check --cpu=x86-64 --threads=2 --arg='random(1300x4,f32,seed=2)' --arg='random(1300x2,i32,low=0,high=3,seed=3)' --arg='random(1300x70,f32,seed=1)' --arg='random(4x131x70,f32,seed=4)' --arg='random(4x131x70,f32,seed=5)' --arg='random(4x70x131,f32,seed=6)' | FileCheck %s
// CHECK: check: result 0: {{.*}}: ok

// RUN: pit-opt %s --pit-to-tiles --pit-tiles-to-loops | FileCheck %s --check-prefix=LOOPS
// LOOPS: arith.cmpi sgt
// LOOPS-COUNT-2: arith.select {{.*}} : memref<?x?x?x64xf32, strided<[?, ?, ?, 1]>>

#te = affine_map<(t, e, f, k) -> (t, e)>
#tk = affine_map<(t, e, f, k) -> (t, k)>
#ekf = affine_map<(t, e, f, k) -> (e, f, k)>
#tef = affine_map<(t, e, f, k) -> (t, e, f)>
#id = affine_map<(t, e, f) -> (t, e, f)>
#weight = affine_map<(t, n, e, f) -> (t, e)>
#hidden = affine_map<(t, n, e, f) -> (t, e, f)>
#down = affine_map<(t, n, e, f) -> (e, n, f)>
#out = affine_map<(t, n, e, f) -> (t, n)>
func.func @layer(%r: tensor<?x4xf32>, %to: tensor<?x2xi32>, %x: tensor<?x70xf32>, %a: tensor<4x131x70xf32>,
                 %b: tensor<4x131x70xf32>, %d: tensor<4x70x131xf32>) -> tensor<?x70xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x70xf32>
  %s = pit.sparse %r routing(%to : tensor<?x2xi32>) : tensor<?x4xf32>
  %e = tensor.empty(%t) : tensor<?x4x131xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4x131xf32>) -> tensor<?x4x131xf32>
  %g = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%s, %x, %a : tensor<?x4xf32>, tensor<?x70xf32>, tensor<4x131x70xf32>) outs(%init : tensor<?x4x131xf32>) {
  ^bb0(%w: f32, %u: f32, %v: f32, %o: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = arith.mulf %w, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x4x131xf32>
  %h = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%s, %x, %b : tensor<?x4xf32>, tensor<?x70xf32>, tensor<4x131x70xf32>) outs(%init : tensor<?x4x131xf32>) {
  ^bb0(%w: f32, %u: f32, %v: f32, %o: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = arith.mulf %w, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x4x131xf32>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%g, %h : tensor<?x4x131xf32>, tensor<?x4x131xf32>) outs(%e : tensor<?x4x131xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %0 = arith.negf %u : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %u, %2 : f32
    %4 = arith.mulf %3, %v : f32
    linalg.yield %4 : f32
  } -> tensor<?x4x131xf32>
  %n = tensor.empty(%t) : tensor<?x70xf32>
  %y = linalg.fill ins(%zero : f32) outs(%n : tensor<?x70xf32>) -> tensor<?x70xf32>
  %z = linalg.generic {indexing_maps = [#weight, #hidden, #down, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
         ins(%s, %m, %d : tensor<?x4xf32>, tensor<?x4x131xf32>, tensor<4x70x131xf32>) outs(%y : tensor<?x70xf32>) {
  ^bb0(%w: f32, %u: f32, %v: f32, %o: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = arith.mulf %w, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x70xf32>
  return %z : tensor<?x70xf32>
}
