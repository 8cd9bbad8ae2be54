// What a mark says of its zeros chooses the rule, too: for marks of any operand, of
// wanted results, and of several operands at once.
// RUN: pit-opt %s -pit-plan="choice=run-time explain=true tile-table=%S/Inputs/costs.json" -split-input-file -o %t.mlir 2>%t.txt
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=TABLE --input-file=%t.txt

// Of micro-tiles of 4 rows, and of whole rows.

// CHECK-LABEL: func.func @tall(
// CHECK: pit.index %{{.*}} -> !pit.index<micro_tile = [4, 1], axis = 1>
// TABLE: rules compared by the mark's live fraction: dense
// TABLE: candidate 4x1 along axis 1 of operand 0: live fraction 0.0500, {{.*}}, chosen: the least
// TABLE: candidate 8x1 along axis 1 of operand 0: live fraction 0.0975
// TABLE: candidate 16x1 along axis 1 of operand 0: live fraction 0.1855
func.func @tall(%a: tensor<256x128xf32>, %b: tensor<128x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %s = pit.sparse %a live_fraction(0.05 in [4, 1]) : tensor<256x128xf32>
  %r = linalg.matmul ins(%s, %b : tensor<256x128xf32>, tensor<128x256xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// -----

// CHECK-LABEL: func.func @rows(
// CHECK: pit.index %{{.*}} -> !pit.index<micro_tile = [1, *], axis = 0>
func.func @rows(%a: tensor<256x128xf32>, %b: tensor<128x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %s = pit.sparse %a live_fraction(0.3 in [1, *]) : tensor<256x128xf32>
  %r = linalg.matmul ins(%s, %b : tensor<256x128xf32>, tensor<128x256xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// -----

// CHECK-LABEL: func.func @full(
// CHECK-NOT: pit.index
// CHECK: linalg.matmul ins(%arg0, %arg1
// TABLE: dense takes {{.*}}, and is chosen: no rule is faster
func.func @full(%a: tensor<256x128xf32>, %b: tensor<128x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %s = pit.sparse %a live_fraction(0.9) : tensor<256x128xf32>
  %r = linalg.matmul ins(%s, %b : tensor<256x128xf32>, tensor<128x256xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// -----

// The better one of two marks, of another type than the table has.

// CHECK-LABEL: func.func @both(
// CHECK: pit.index %arg1 : tensor<128x256xf64> -> !pit.index<micro_tile = [*, 1], axis = 1>
// TABLE: rules compared by the mark's live fraction: dense
// TABLE: candidate 1x1 along axis 1 of operand 0: live fraction 0.2000, {{.*}} of dense{{$}}
// TABLE: rules compared by the mark's live fraction: dense
// TABLE: candidate *x1 along axis 1 of operand 1: live fraction 0.1000, {{.*}}, chosen: the least
func.func @both(%a: tensor<256x128xf64>, %b: tensor<128x256xf64>, %c: tensor<256x256xf64>) -> tensor<256x256xf64> {
  %s = pit.sparse %a live_fraction(0.2) : tensor<256x128xf64>
  %t = pit.sparse %b live_fraction(0.1 in [*, 1]) : tensor<128x256xf64>
  %r = linalg.matmul ins(%s, %t : tensor<256x128xf64>, tensor<128x256xf64>) outs(%c : tensor<256x256xf64>) -> tensor<256x256xf64>
  return %r : tensor<256x256xf64>
}

// -----

// Wanted results. If most of them are, it is the dense op, and what is not wanted
// becomes 0.

// CHECK-LABEL: func.func @wanted(
// CHECK: pit.index mask %{{.*}} -> !pit.index<micro_tile = [1, *], axis = 0>
// CHECK-LABEL: func.func @most_wanted(
// CHECK-NOT: pit.index
// CHECK: %[[R:.*]] = linalg.matmul ins(%arg0, %arg1
// CHECK: pit.sparse %[[R]] mask(
func.func @wanted(%a: tensor<256x128xf32>, %b: tensor<128x256xf32>, %c: tensor<256x256xf32>, %m: tensor<256x256xi1>) -> tensor<256x256xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<256x128xf32>, tensor<128x256xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  %s = pit.sparse %r mask(%m : tensor<256x256xi1>) live_fraction(0.1 in [1, *]) : tensor<256x256xf32>
  return %s : tensor<256x256xf32>
}
func.func @most_wanted(%a: tensor<256x128xf32>, %b: tensor<128x256xf32>, %c: tensor<256x256xf32>, %m: tensor<256x256xi1>) -> tensor<256x256xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<256x128xf32>, tensor<128x256xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  %s = pit.sparse %r mask(%m : tensor<256x256xi1>) live_fraction(0.9) : tensor<256x256xf32>
  return %s : tensor<256x256xf32>
}

// -----

// Of one mark something is known, and it does not pay; the other one is scanned
// when the program runs.

// CHECK-LABEL: func.func @one_known(
// CHECK: pit.choose %arg1 of
// CHECK-NOT: pit.index %arg0
func.func @one_known(%a: tensor<256x128xf32>, %b: tensor<128x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %s = pit.sparse %a live_fraction(1.0) : tensor<256x128xf32>
  %t = pit.sparse %b : tensor<128x256xf32>
  %r = linalg.matmul ins(%s, %t : tensor<256x128xf32>, tensor<128x256xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// -----

// A rule of the user's goes before what is known.

// CHECK-LABEL: func.func @insisted(
// CHECK: pit.index %{{.*}} -> !pit.index<micro_tile = [8, 1], axis = 1>
func.func @insisted(%a: tensor<256x128xf32>, %b: tensor<128x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [8, 1]>) live_fraction(0.9) : tensor<256x128xf32>
  %r = linalg.matmul ins(%s, %b : tensor<256x128xf32>, tensor<128x256xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// -----

// Convolutions: channels that are dead in whole images.

// CHECK-LABEL: func.func @channels(
// CHECK: pit.index %{{.*}} -> !pit.index<micro_tile = [1, *, *, 1], axis = 3>
func.func @channels(%x: tensor<8x18x18x64xf32>, %w: tensor<3x3x64x64xf32>, %o: tensor<8x16x16x64xf32>) -> tensor<8x16x16x64xf32> {
  %s = pit.sparse %x live_fraction(0.1 in [1, *, *, 1]) : tensor<8x18x18x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%s, %w : tensor<8x18x18x64xf32>, tensor<3x3x64x64xf32>) outs(%o : tensor<8x16x16x64xf32>) -> tensor<8x16x16x64xf32>
  return %r : tensor<8x16x16x64xf32>
}
