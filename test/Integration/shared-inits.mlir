// REQUIRES: pit-run
// RUN: pit-run %s --entry=fills --arg='full(4,f32,2)' --print --check | FileCheck %s --check-prefix=FILLS
// RUN: pit-run %s --entry=results --arg='full(4,f32,2)' --print --check | FileCheck %s --check-prefix=RESULTS
// RUN: pit-run %s --entry=marked --arg='full(4,f32,2)' --arg='full(4,f32,2)' --print --check | FileCheck %s --check-prefix=MARKED

// Results that start from one tensor do not share memory. The expected values
// are written down: the dense program may share a fault.

#id = affine_map<(d0) -> (d0)>

// FILLS: result 0
// FILLS-NEXT: {{^}}5 5 5 5{{$}}
// FILLS: result 1
// FILLS-NEXT: {{^}}-1 -1 -1 -1{{$}}
// FILLS-COUNT-2: ok
func.func @fills(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c3 = arith.constant 3.0 : f32
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%i : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %c3 : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%i : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.subf %in, %c3 : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %p, %q : tensor<4xf32>, tensor<4xf32>
}

// One op with several results, and the tensor that they start from.
// RESULTS: result 0
// RESULTS-NEXT: {{^}}3 3 3 3{{$}}
// RESULTS: result 1
// RESULTS-NEXT: {{^}}-1 -1 -1 -1{{$}}
// RESULTS: result 2
// RESULTS-NEXT: {{^}}1 1 1 1{{$}}
// RESULTS-COUNT-3: ok
func.func @results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%one : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%i, %i : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %s = arith.addf %o, %a : f32
    %d = arith.subf %p, %a : f32
    linalg.yield %s, %d : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1, %i : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Fills that pit itself makes, for what is not selected.
// MARKED: result 0
// MARKED-NEXT: {{^}}4 4 4 4{{$}}
// MARKED: result 1
// MARKED-NEXT: {{^}}6 6 6 6{{$}}
// MARKED-COUNT-2: ok
func.func @marked(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c2 = arith.constant 2.0 : f32
  %c3 = arith.constant 3.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %sx = pit.sparse %x : tensor<4xf32>
  %sy = pit.sparse %y : tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%sx : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %o: f32):
    %s = arith.mulf %in, %c2 : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%sy : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %o: f32):
    %s = arith.mulf %in, %c3 : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %p, %q : tensor<4xf32>, tensor<4xf32>
}
