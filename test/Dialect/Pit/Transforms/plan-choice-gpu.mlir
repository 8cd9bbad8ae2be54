// RUN: pit-opt %s -pit-plan="choice=run-time target=sm_90a" -canonicalize -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-plan="choice=now target=sm_90a" -pit-tile=kernels -pit-lower-marks -canonicalize -split-input-file | FileCheck %s --check-prefix=NOW
// RUN: pit-opt %s -pit-plan="choice=run-time target=sm_90a explain=true" -split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=LEAVE

// Choosing at run time for marks that are not values, on a GPU.

// What a mask selects of an operand is written out once, before the choice, and
// all variants read that.

// CHECK-LABEL: func.func @masked(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4096x4096xf16>, %[[M:[a-z0-9]+]]: tensor<4096x4096xi8>
// CHECK: %[[S:.*]] = pit.sparse %[[A]] mask(%[[M]] : tensor<4096x4096xi8>) : tensor<4096x4096xf16>
// CHECK: %{{.*}}, %[[BITS:.*]] = pit.choose %[[M]] mask of
// CHECK: scf.if
// CHECK: %[[I:.*]] = pit.index mask %[[M]] seen(%[[BITS]])
// CHECK: %[[T:.*]] = pit.sparse %[[S]] index(%[[I]] {{.*}} assume
// CHECK: linalg.matmul {{.*}} ins(%[[T]],
// CHECK: else
// CHECK: linalg.matmul ins(%[[S]],

// So it is where there is no choice: tiles are read as they are.
// NOW-LABEL: func.func @masked(
// NOW-SAME: %[[A:[a-z0-9]+]]: tensor<4096x4096xf16>, %[[M:[a-z0-9]+]]: tensor<4096x4096xi8>
// NOW: %[[S:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[M]]
// NOW: pit.forall
// NOW: pit.sread %[[S]]
// NOW-NOT: pit.sread %[[M]]
// NOW: linalg.matmul
// NOW: return
func.func @masked(%a: tensor<4096x4096xf16>, %m: tensor<4096x4096xi8>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %s = pit.sparse %a mask(%m : tensor<4096x4096xi8>) : tensor<4096x4096xf16>
  %r = linalg.matmul ins(%s, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// What the caller promises needs no pass.

// CHECK-LABEL: func.func @promised(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4096x4096xf16>, %[[M:[a-z0-9]+]]: tensor<4096x4096xi8>
// CHECK-NOT: pit.sparse {{.*}} mask
// CHECK: pit.choose %[[M]] mask of
// CHECK: pit.sparse %[[A]] index
// CHECK: linalg.matmul ins(%[[A]],
func.func @promised(%a: tensor<4096x4096xf16>, %m: tensor<4096x4096xi8>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %s = pit.sparse %a mask(%m : tensor<4096x4096xi8>) assume : tensor<4096x4096xf16>
  %r = linalg.matmul ins(%s, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// Of a wanted result whole rows are looked for, and columns of 32 rows: one read finds both.

// CHECK-LABEL: func.func @wanted(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4096x4096xf16>, %{{.*}}: tensor<4096x4096xf16>, %[[M:[a-z0-9]+]]: tensor<4096x4096xi8>
// CHECK: pit.choose %[[M]] mask of [!pit.index<micro_tile = [1, *], axis = 0>, !pit.index<micro_tile = [32, 1], axis = 1>] dense
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 2, axis = 0, micro_tile = [1, *]
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 2, axis = 1, micro_tile = [32, 1]
// CHECK: %[[D:.*]] = linalg.matmul ins(%[[A]],
// CHECK: pit.sparse %[[D]] mask(%[[M]]
func.func @wanted(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %m: tensor<4096x4096xi8>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %s = pit.sparse %r mask(%m : tensor<4096x4096xi8>) : tensor<4096x4096xf32>
  return %s : tensor<4096x4096xf32>
}

// -----

// Two marks: where the first one's choice ends dense, the second one chooses.

// CHECK-LABEL: func.func @both(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4096x4096xf32>, %[[B:[a-z0-9]+]]: tensor<4096x4096xf32>
// CHECK: pit.choose %[[A]] of
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 0
// CHECK: pit.choose %[[B]] of
// CHECK: linalg.matmul {pit.rule = #pit.rule<operand = 1
// CHECK: linalg.matmul ins(%[[A]], %[[B]]
func.func @both(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %s = pit.sparse %a : tensor<4096x4096xf32>
  %t = pit.sparse %b : tensor<4096x4096xf32>
  %r = linalg.matmul ins(%s, %t : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// The same of a left operand, whose rows are summed up: the gradient of a weight that lies as (k, n).
// Whole columns, which would be transposed, never pay there, either.

// CHECK-LABEL: func.func @left_tokens(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<?x4096xf16>
// CHECK: pit.choose %[[A]] of [!pit.index<micro_tile = [1, *], axis = 0>] dense
func.func @left_tokens(%a: tensor<?x4096xf16>, %b: tensor<?x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %s = pit.sparse %a : tensor<?x4096xf16>
  %r = linalg.matmul
         indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%s, %b : tensor<?x4096xf16>, tensor<?x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// A right operand of 16 bits: parts of rows of [k, n], since whole columns never pay there, or whole
// rows where their number is not known; of [n, k], rows and micro-tiles of 64x1.

// CHECK-LABEL: func.func @right(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<4096x4096xf16>, %[[B:[a-z0-9]+]]:
// CHECK: pit.choose %[[B]] of [!pit.index<micro_tile = [1, 64], axis = 0>] dense
func.func @right(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %s = pit.sparse %b : tensor<4096x4096xf16>
  %r = linalg.matmul ins(%a, %s : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
// CHECK-LABEL: func.func @right_tokens(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<?x4096xf16>, %[[B:[a-z0-9]+]]:
// CHECK: pit.choose %[[B]] of [!pit.index<micro_tile = [1, *], axis = 0>] dense
func.func @right_tokens(%a: tensor<?x4096xf16>, %b: tensor<?x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %s = pit.sparse %b : tensor<?x4096xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %s : tensor<?x4096xf16>, tensor<?x4096xf16>) outs(%c : tensor<4096x4096xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xf = arith.extf %x : f16 to f32
    %yf = arith.extf %y : f16 to f32
    %p = arith.mulf %xf, %yf : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
// CHECK-LABEL: func.func @right_rows(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<4096x4096xf16>, %[[B:[a-z0-9]+]]:
// CHECK: pit.choose %[[B]] of [!pit.index<micro_tile = [1, *], axis = 0>, !pit.index<micro_tile = [64, 1], axis = 1>] dense
func.func @right_rows(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %s = pit.sparse %b : tensor<4096x4096xf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %s : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// Kernels of a variant take time where it is not chosen. Those of one
// variant are worth it in a product of 45 us, and none in one of 26.

// LEAVE: remark: linalg.matmul: chooses at run time: dense, '!pit.index<micro_tile = [64, 1], axis = 1>'
// LEAVE: remark: linalg.matmul: no variant 1x* along axis 0 of operand 0: it saves at most {{.*}} us; where it is not chosen, it takes 1.4 us
func.func @worth_it(%a: tensor<1024x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
  %s = pit.sparse %a : tensor<1024x4096xf16>
  %r = linalg.matmul ins(%s, %b : tensor<1024x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}

// -----

// CHECK-LABEL: func.func @not_worth_it(
// CHECK-NOT: pit.choose
// CHECK: return
// LEAVE: remark: linalg.matmul: no variant 64x1 along axis 1 of operand 0: it saves at most {{.*}} us; where it is not chosen, it takes 3.0 us
// LEAVE: remark: stays dense: no rule for operand 0 is worth a choice
func.func @not_worth_it(%a: tensor<2048x2048xf16>, %b: tensor<2048x2048xf16>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %s = pit.sparse %a : tensor<2048x2048xf16>
  %r = linalg.matmul ins(%s, %b : tensor<2048x2048xf16>, tensor<2048x2048xf16>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %r : tensor<2048x2048xf32>
}

// -----

// Parts of eight sums are added to the result eight times as often as parts of 64, and
// that is most of their time: 6.9 ms on an H200.

// LEAVE: remark: linalg.matmul: rules compared by the mark's live fraction
// LEAVE: candidate 16x1 along axis 1 of operand 0: live fraction 0.5695, 2.88 ms, {{.*}}, chosen: the least
// LEAVE: candidate 1x8 along axis 0 of operand 0: live fraction 0.5695, 7.31 ms
func.func @parts(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %s = pit.sparse %a live_fraction(0.1 in [2, 1]) : tensor<4096x4096xf32>
  %r = linalg.matmul ins(%s, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// Each element of the matrix is used once: to look for the vector's zeros does not
// pay, and by a list of the others, memory is read in pieces.

// CHECK-LABEL: func.func @vector(
// CHECK-NOT: pit.
// CHECK: return
// LEAVE: remark: stays dense: each element of operand 0 is used so rarely that scanning for zeros takes longer
func.func @vector(%x: tensor<4096xf16>, %w: tensor<4096x4096xf16>, %c: tensor<4096xf32>) -> tensor<4096xf32> {
  %s = pit.sparse %x : tensor<4096xf16>
  %r = linalg.vecmat ins(%s, %w : tensor<4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096xf32>) -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}

// -----

// Nor does it pay for elements whose costs are not known.

// CHECK-LABEL: func.func @vector_f64(
// CHECK-NOT: pit.
// CHECK: return
func.func @vector_f64(%x: tensor<4096xf64>, %w: tensor<4096x4096xf64>, %c: tensor<4096xf64>) -> tensor<4096xf64> {
  %s = pit.sparse %x : tensor<4096xf64>
  %r = linalg.vecmat ins(%s, %w : tensor<4096xf64>, tensor<4096x4096xf64>) outs(%c : tensor<4096xf64>) -> tensor<4096xf64>
  return %r : tensor<4096xf64>
}

// -----

// A factor of each channel is no such vector: its zeros skip rows of a product.

// CHECK-LABEL: func.func @channels(
// CHECK: pit.index %arg2 : tensor<512xf16> -> !pit.index<micro_tile = [1], axis = 0>
func.func @channels(%a: tensor<256x512xf16>, %b: tensor<512x256xf16>, %x: tensor<512xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %s = pit.sparse %x : tensor<512xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (k)>,
                                        affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b, %s : tensor<256x512xf16>, tensor<512x256xf16>, tensor<512xf16>) outs(%c : tensor<256x256xf32>) {
  ^bb0(%p: f16, %q: f16, %f: f16, %o: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.extf %q : f16 to f32
    %2 = arith.extf %f : f16 to f32
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.mulf %3, %2 : f32
    %5 = arith.addf %o, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
