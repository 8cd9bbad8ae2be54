// RUN: pit-opt %s --pit-to-tiles="choice=run-time" | FileCheck %s
// RUN: pit-opt %s --pit-to-tiles="choice=now" | FileCheck %s --check-prefix=NOW

// The first product writes which of its activations are live, in its epilogue. The choice of
// the second one, and whichever index it comes to, take that.
// CHECK: %[[h:.*]]:2 = pit.forall
// CHECK: arith.maximumf
// CHECK: pit.scan
// CHECK: %{{.*}}, %[[seen:.*]] = pit.choose %[[h]]#0 bitmap(%[[h]]#1 : tensor<?x128xi8>)
// CHECK: pit.index %[[h]]#0 seen(%[[seen]])
// NOW: %[[h:.*]]:2 = pit.forall
// NOW: pit.scan
// NOW: pit.index %[[h]]#0 bitmap(%[[h]]#1 : tensor<?x128xi8>)
func.func @mlp(%x: tensor<?x512xf32>, %w1: tensor<512x1024xf32>, %b: tensor<1024xf32>, %w2: tensor<1024x512xf32>) -> tensor<?x512xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x512xf32>
  %e = tensor.empty(%m) : tensor<?x1024xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<?x512xf32>, tensor<512x1024xf32>) outs(%f : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%h, %b : tensor<?x1024xf32>, tensor<1024xf32>) outs(%e : tensor<?x1024xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %s = arith.addf %a, %c : f32
      %t = arith.maximumf %s, %z : f32
      linalg.yield %t : f32
  } -> tensor<?x1024xf32>
  %s = pit.sparse %r : tensor<?x1024xf32>
  %e2 = tensor.empty(%m) : tensor<?x512xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<?x512xf32>) -> tensor<?x512xf32>
  %o = linalg.matmul ins(%s, %w2 : tensor<?x1024xf32>, tensor<1024x512xf32>) outs(%f2 : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %o : tensor<?x512xf32>
}
