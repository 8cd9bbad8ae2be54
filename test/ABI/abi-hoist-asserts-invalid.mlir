// RUN: pit-opt %s --split-input-file --pit-abi-hoist-asserts --verify-diagnostics

func.func @sum(%x: tensor<8xf32>, %o: tensor<f32>, %most: f32) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%o : tensor<f32>) {
  ^bb0(%a: f32, %y: f32):
    %s = arith.addf %a, %y : f32
    %p = arith.cmpf olt, %s, %most : f32
    // expected-error @+1 {{asserts something about a sum that is being computed; only what is known before the op can be checked}}
    cf.assert %p, "too large"
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @nested(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<8xf32>) {
  ^bb0(%y: f32):
    scf.if %c {
      // expected-error @+1 {{stands inside 'scf.if' in the body of 'linalg.generic'; assertions stand directly in the body}}
      cf.assert %c, "nested"
    }
    linalg.yield %y : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
