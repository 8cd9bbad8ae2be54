// RUN: pit-test-analysis %s | FileCheck %s

// Elements that are vectors, and types that lack a zero or an infinity: there
// is nothing to skip by, and nothing breaks.

#v = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.addf
func.func @vectors(%a: tensor<?xvector<4xf32>>, %c: tensor<?xvector<4xf32>>) -> tensor<?xvector<4xf32>> {
  %ones = arith.constant dense<1.0> : vector<4xf32>
  %r = linalg.generic {pit_test.operand = 0, indexing_maps = [#v, #s, #v], iterator_types = ["parallel"]}
      ins(%a, %ones : tensor<?xvector<4xf32>>, vector<4xf32>) outs(%c : tensor<?xvector<4xf32>>) {
  ^bb0(%x: vector<4xf32>, %y: vector<4xf32>, %old: vector<4xf32>):
    %t = arith.addf %y, %y : vector<4xf32>
    %s = arith.addf %x, %t : vector<4xf32>
    linalg.yield %s : vector<4xf32>
  } -> tensor<?xvector<4xf32>>
  return %r : tensor<?xvector<4xf32>>
}

// No infinity: the least number instead.
// CHECK-LABEL: linalg.reduce
// CHECK-NEXT: d0 is a PIT axis: arith.maximumf combines result 0
// CHECK-NEXT: padding: -4.480000e+02 : f8E4M3FN
func.func @no_infinity(%a: tensor<?xf8E4M3FN>, %c: tensor<f8E4M3FN>) -> tensor<f8E4M3FN> {
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<?xf8E4M3FN>) outs(%c : tensor<f8E4M3FN>) dimensions = [0] {pit_test.pad = [0]}
  return %r : tensor<f8E4M3FN>
}

// No zero and no sign.
// CHECK-LABEL: linalg.mul
// CHECK-NEXT: d0 is a PIT axis
// CHECK-NEXT: skipping operand 0 is not legal [S1]: its elements are f8E8M0FNU, the background is missing
// CHECK-NEXT: padding: 1.000000e+00 : f8E8M0FNU, 1.000000e+00 : f8E8M0FNU
func.func @no_zero(%a: tensor<?xf8E8M0FNU>, %c: tensor<?xf8E8M0FNU>) -> tensor<?xf8E8M0FNU> {
  %r = linalg.mul {pit_test.operand = 0, pit_test.pad = [0]} ins(%a, %a : tensor<?xf8E8M0FNU>, tensor<?xf8E8M0FNU>) outs(%c : tensor<?xf8E8M0FNU>) -> tensor<?xf8E8M0FNU>
  return %r : tensor<?xf8E8M0FNU>
}
