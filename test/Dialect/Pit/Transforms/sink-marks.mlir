// RUN: pit-opt %s -pit-sink-marks -split-input-file -verify-diagnostics | FileCheck %s

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x4x8xf32>
func.func @chain(%x: tensor<?x4x8xf32>, %init: tensor<8x?xf32>) -> tensor<?x?xf32> {
  // CHECK-NEXT: %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]]
  // CHECK-NEXT: %[[T:.*]] = linalg.transpose ins(%[[C]] :
  // CHECK-NEXT: %[[D:.*]] = tensor.cast %[[T]]
  // CHECK-NEXT: %[[S:.*]] = pit.sparse %[[D]] background(1.000000e+00 : f32) rule(<axis = 0, micro_tile = [1, *]>) : tensor<?x?xf32>
  // CHECK-NEXT: return %[[S]]
  %s = pit.sparse %x background(1.0 : f32) rule(<axis = 2, micro_tile = [*, *, 1]>) : tensor<?x4x8xf32>
  %c = tensor.collapse_shape %s [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
  %t = linalg.transpose ins(%c : tensor<?x8xf32>) outs(%init : tensor<8x?xf32>) permutation = [1, 0]
  %d = tensor.cast %t : tensor<8x?xf32> to tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// -----

// Each user gets the mark it needs.
// CHECK-LABEL: func.func @users
func.func @users(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<64xf32>, tensor<2x4x8xf32>) {
  // CHECK: %[[S:.*]] = pit.sparse %arg0 : tensor<8x8xf32>
  // CHECK: %[[C:.*]] = tensor.collapse_shape %arg0
  // CHECK: %[[SC:.*]] = pit.sparse %[[C]] : tensor<64xf32>
  // CHECK: %[[E:.*]] = tensor.expand_shape %arg0
  // CHECK: %[[SE:.*]] = pit.sparse %[[E]] : tensor<2x4x8xf32>
  // CHECK: return %[[S]], %[[SC]], %[[SE]]
  %s = pit.sparse %x : tensor<8x8xf32>
  %c = tensor.collapse_shape %s [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  %e = tensor.expand_shape %s [[0, 1], [2]] output_shape [2, 4, 8] : tensor<8x8xf32> into tensor<2x4x8xf32>
  return %s, %c, %e : tensor<8x8xf32>, tensor<64xf32>, tensor<2x4x8xf32>
}

// -----

// Not a tensor whose dimensions are known.
// CHECK-LABEL: func.func @unranked
func.func @unranked(%x: tensor<8xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: %[[S:.*]] = pit.sparse
  // CHECK-NEXT: tensor.cast %[[S]]
  %s = pit.sparse %x : tensor<8xf32>
  %c = tensor.cast %s : tensor<8xf32> to tensor<*xf32>
  return %c : tensor<*xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @expanded_rules
func.func @expanded_rules(%x: tensor<?x8xf32>, %d: index) -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<1x?x8x1xf32>, tensor<1x?x8x1xf32>) {
  // Rows of several dimensions.
  // CHECK: pit.sparse {{.*}} rule(<axis = 2, micro_tile = [*, *, 1]>) : tensor<?x4x8xf32>
  %0 = pit.sparse %x rule(<axis = 1, micro_tile = [*, 1]>) : tensor<?x8xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [%d, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  // CHECK: pit.sparse {{.*}} rule(<axis = 2>) : tensor<?x4x8xf32>
  %2 = pit.sparse %x rule(<axis = 1>) : tensor<?x8xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [%d, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  // Dimensions of extent 1 are no split.
  // CHECK: pit.sparse {{.*}} rule(<axis = 2, micro_tile = [1, 32, 1, 1], tile = [32, 64, 64]>) : tensor<1x?x8x1xf32>
  %4 = pit.sparse %x rule(<axis = 1, micro_tile = [32, 1], tile = [32, 64, 64]>) : tensor<?x8xf32>
  %5 = tensor.expand_shape %4 [[0, 1], [2, 3]] output_shape [1, %d, 8, 1] : tensor<?x8xf32> into tensor<1x?x8x1xf32>
  // CHECK: pit.sparse {{.*}} rule(<axis = 1, micro_tile = [1, 1, *, 1]>) : tensor<1x?x8x1xf32>
  %6 = pit.sparse %x rule(<axis = 0, micro_tile = [1, *]>) : tensor<?x8xf32>
  %7 = tensor.expand_shape %6 [[0, 1], [2, 3]] output_shape [1, %d, 8, 1] : tensor<?x8xf32> into tensor<1x?x8x1xf32>
  return %1, %3, %5, %7 : tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<1x?x8x1xf32>, tensor<1x?x8x1xf32>
}

// -----

// CHECK-LABEL: func.func @expanded_rules_dropped
func.func @expanded_rules_dropped(%x: tensor<?x8xf32>, %d: index) -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>) {
  // CHECK: pit.sparse %{{.*}} : tensor<?x4x8xf32>
  %0 = pit.sparse %x rule(<axis = 0, micro_tile = [1, *]>) : tensor<?x8xf32>
  // expected-remark @+1 {{drops the rule #pit.rule<axis = 0, micro_tile = [1, *]> of the mark before it: dimension 0 does not stay in one piece}}
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [%d, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  // CHECK: pit.sparse %{{.*}} : tensor<?x4x8xf32>
  %2 = pit.sparse %x rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x8xf32>
  // expected-remark @+1 {{dimension 0 does not stay in one piece}}
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [%d, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  return %1, %3 : tensor<?x4x8xf32>, tensor<?x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @collapsed_rules
func.func @collapsed_rules(%x: tensor<?x4x8xf32>, %y: tensor<1x?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: pit.sparse {{.*}} rule(<axis = 1, micro_tile = [*, 1]>)
  %0 = pit.sparse %x rule(<axis = 2, micro_tile = [*, *, 1]>) : tensor<?x4x8xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
  // The same rows, in one group.
  // CHECK: pit.sparse {{.*}} rule(<axis = 0, micro_tile = [1, *]>)
  %2 = pit.sparse %x rule(<axis = 1, micro_tile = [1, 1, *]>) : tensor<?x4x8xf32>
  %3 = tensor.collapse_shape %2 [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
  // CHECK: pit.sparse {{.*}} rule(<axis = 0>)
  %4 = pit.sparse %y rule(<axis = 1>) : tensor<1x?x8xf32>
  %5 = tensor.collapse_shape %4 [[0, 1], [2]] : tensor<1x?x8xf32> into tensor<?x8xf32>
  // CHECK: pit.sparse {{.*}} rule(<axis = 1, micro_tile = [32, 1]>)
  %6 = pit.sparse %y rule(<axis = 2, micro_tile = [1, 32, 1]>) : tensor<1x?x8xf32>
  %7 = tensor.collapse_shape %6 [[0, 1], [2]] : tensor<1x?x8xf32> into tensor<?x8xf32>
  return %1, %3, %5, %7 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func @collapsed_rules_dropped
func.func @collapsed_rules_dropped(%x: tensor<?x4x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: pit.sparse %{{.*}} : tensor<?x8xf32>
  %0 = pit.sparse %x rule(<axis = 1>) : tensor<?x4x8xf32>
  // expected-remark @+1 {{dimension 1 does not stay in one piece}}
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
  // CHECK: pit.sparse %{{.*}} : tensor<?x8xf32>
  %2 = pit.sparse %x rule(<axis = 2, micro_tile = [1, *, 1]>) : tensor<?x4x8xf32>
  // expected-remark @+1 {{dimension 0 does not stay in one piece}}
  %3 = tensor.collapse_shape %2 [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
  // CHECK: pit.sparse %{{.*}} : tensor<?x8xf32>
  %4 = pit.sparse %x rule(<axis = 1, micro_tile = [*, 1, 1]>) : tensor<?x4x8xf32>
  // expected-remark @+1 {{dimension 1 does not stay in one piece}}
  %5 = tensor.collapse_shape %4 [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
  return %1, %3, %5 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @masks
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x8xf32>, %[[M:[^:]*]]: tensor<?x?xi8>, %[[I:[^:]*]]: tensor<8x?xf32>
func.func @masks(%x: tensor<?x8xf32>, %m: tensor<?x?xi8>, %init: tensor<8x?xf32>, %d: index) -> (tensor<?x4x8xf32>, tensor<8x?xf32>, tensor<16x8xf32>) {
  // CHECK-DAG: %[[EX:.*]] = tensor.expand_shape %[[X]]
  // CHECK-DAG: %[[MC:.*]] = tensor.cast %[[M]] : tensor<?x?xi8> to tensor<?x8xi8>
  // CHECK-DAG: %[[EM:.*]] = tensor.expand_shape %[[MC]] {{\[\[}}0, 1], [2]] output_shape [%{{.*}}, 4, 8] : tensor<?x8xi8> into tensor<?x4x8xi8>
  // CHECK: %[[SE:.*]] = pit.sparse %[[EX]] mask(%[[EM]] : tensor<?x4x8xi8>) assume : tensor<?x4x8xf32>
  %s = pit.sparse %x mask(%m : tensor<?x?xi8>) assume : tensor<?x8xf32>
  %0 = tensor.expand_shape %s [[0, 1], [2]] output_shape [%d, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  // CHECK-DAG: %[[TX:.*]] = linalg.transpose ins(%[[X]] : {{.*}}) outs(%[[I]]
  // CHECK-DAG: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<8x?xi8>
  // CHECK-DAG: %[[TM:.*]] = linalg.transpose ins(%{{.*}} : tensor<?x8xi8>) outs(%[[E]] : tensor<8x?xi8>) permutation = [1, 0]
  // CHECK: %[[ST:.*]] = pit.sparse %[[TX]] mask(%[[TM]] : tensor<8x?xi8>) assume : tensor<8x?xf32>
  %1 = linalg.transpose ins(%s : tensor<?x8xf32>) outs(%init : tensor<8x?xf32>) permutation = [1, 0]
  // CHECK-DAG: %[[CX:.*]] = tensor.cast %[[X]] : tensor<?x8xf32> to tensor<16x8xf32>
  // CHECK: %[[SC:.*]] = pit.sparse %[[CX]] mask(%[[M]] : tensor<?x?xi8>) assume : tensor<16x8xf32>
  %2 = tensor.cast %s : tensor<?x8xf32> to tensor<16x8xf32>
  // CHECK: return %[[SE]], %[[ST]], %[[SC]]
  return %0, %1, %2 : tensor<?x4x8xf32>, tensor<8x?xf32>, tensor<16x8xf32>
}

// -----

// A program that is wrong at run time stays as it is.
// CHECK-LABEL: func.func @contradiction
func.func @contradiction(%x: tensor<?xf32>, %m: tensor<8xi1>) -> tensor<9xf32> {
  // CHECK-NEXT: pit.sparse
  // CHECK-NEXT: tensor.cast
  %s = pit.sparse %x mask(%m : tensor<8xi1>) : tensor<?xf32>
  %c = tensor.cast %s : tensor<?xf32> to tensor<9xf32>
  return %c : tensor<9xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Lengths, routings, indices
//===----------------------------------------------------------------------===//

// Lengths are about the first two dimensions.
// CHECK-LABEL: func.func @lengths
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x?x4x8xf32>, %[[L:[^:]*]]: tensor<?xi32>
func.func @lengths(%x: tensor<?x?x4x8xf32>, %l: tensor<?xi32>) -> (tensor<?x?x32xf32>, tensor<?x4x8xf32>) {
  // CHECK-DAG: %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1], [2, 3]]
  // CHECK: pit.sparse %[[C]] lengths(%[[L]] : tensor<?xi32>) : tensor<?x?x32xf32>
  %s = pit.sparse %x lengths(%l : tensor<?xi32>) : tensor<?x?x4x8xf32>
  %0 = tensor.collapse_shape %s [[0], [1], [2, 3]] : tensor<?x?x4x8xf32> into tensor<?x?x32xf32>
  // CHECK-DAG: %[[D:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2], [3]]
  // CHECK-DAG: %[[M:.*]] = linalg.generic {{.*}} ins(%[[L]] : tensor<?xi32>) outs(%{{.*}} : tensor<?x?x4x8xi1>)
  // CHECK-DAG: linalg.index 1
  // CHECK-DAG: arith.cmpi slt
  // CHECK-DAG: %[[MD:.*]] = tensor.collapse_shape %[[M]] {{\[\[}}0, 1], [2], [3]] : tensor<?x?x4x8xi1> into tensor<?x4x8xi1>
  // CHECK: pit.sparse %[[D]] mask(%[[MD]] : tensor<?x4x8xi1>) : tensor<?x4x8xf32>
  %1 = tensor.collapse_shape %s [[0, 1], [2], [3]] : tensor<?x?x4x8xf32> into tensor<?x4x8xf32>
  return %0, %1 : tensor<?x?x32xf32>, tensor<?x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @routing
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x16xf32>, %[[A:[^:]*]]: tensor<?x2xi64>
func.func @routing(%x: tensor<?x16xf32>, %a: tensor<?x2xi64>, %init: tensor<16x?xf32>) -> (tensor<?x?xf32>, tensor<16x?xf32>, tensor<?x16x1xf32>) {
  // CHECK-DAG: %[[C:.*]] = tensor.cast %[[X]]
  // CHECK: pit.sparse %[[C]] routing(%[[A]] : tensor<?x2xi64>) : tensor<?x?xf32>
  %s = pit.sparse %x routing(%a : tensor<?x2xi64>) : tensor<?x16xf32>
  %0 = tensor.cast %s : tensor<?x16xf32> to tensor<?x?xf32>
  // CHECK-DAG: %[[T:.*]] = linalg.transpose ins(%[[X]] :
  // CHECK-DAG: %[[M:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<?x2xi64>)
  // CHECK-DAG: %[[MT:.*]] = linalg.transpose ins(%[[M]] :
  // CHECK: pit.sparse %[[T]] mask(%[[MT]] : tensor<16x?xi1>)
  %1 = linalg.transpose ins(%s : tensor<?x16xf32>) outs(%init : tensor<16x?xf32>) permutation = [1, 0]
  // Routings select from matrices only.
  // CHECK: pit.sparse %{{.*}} mask(%{{.*}} : tensor<?x16x1xi1>)
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x16xf32>
  %2 = tensor.expand_shape %s [[0], [1, 2]] output_shape [%d, 16, 1] : tensor<?x16xf32> into tensor<?x16x1xf32>
  return %0, %1, %2 : tensor<?x?xf32>, tensor<16x?xf32>, tensor<?x16x1xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// Behind what moves elements, the values have the selection in them.
// CHECK-LABEL: func.func @index
func.func @index(%x: tensor<?x16xf32>, %i: !rows) -> (tensor<?x?xf32>, tensor<?xf32>) {
  // CHECK-DAG: %[[S:.*]] = pit.sparse %arg0 index
  // CHECK-DAG: %[[C:.*]] = tensor.cast %arg0
  // CHECK-DAG: pit.sparse %[[C]] index(%arg1 : !pit.index<micro_tile = [1, *], axis = 0>) : tensor<?x?xf32>
  // CHECK-DAG: %[[D:.*]] = tensor.collapse_shape %[[S]]
  // CHECK-DAG: pit.sparse %[[D]] : tensor<?xf32>
  %s = pit.sparse %x index(%i : !rows) : tensor<?x16xf32>
  %0 = tensor.cast %s : tensor<?x16xf32> to tensor<?x?xf32>
  %1 = tensor.collapse_shape %s [[0, 1]] : tensor<?x16xf32> into tensor<?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// CHECK-LABEL: func.func @index_assumed
func.func @index_assumed(%x: tensor<?x16xf32>, %i: !rows) -> tensor<?xf32> {
  // CHECK-NEXT: %[[D:.*]] = tensor.collapse_shape %arg0
  // CHECK-NEXT: pit.sparse %[[D]] : tensor<?xf32>
  %s = pit.sparse %x index(%i : !rows) assume : tensor<?x16xf32>
  %1 = tensor.collapse_shape %s [[0, 1]] : tensor<?x16xf32> into tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>

// Casts of elements cast the background, too.
// CHECK-LABEL: func.func @element_cast
func.func @element_cast(%x: tensor<8x16xf32>, %m: tensor<8x16xi1>, %o: tensor<8x16xf16>) -> (tensor<8x16xf16>, tensor<8x16xf16>) {
  // CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%arg0 :
  // CHECK: pit.sparse %[[C]] mask(%arg1 : tensor<8x16xi1>) background(1.099610e+00 : f16) rule(<axis = 1, micro_tile = [8, 1]>) label("x") : tensor<8x16xf16>
  %s = pit.sparse %x mask(%m : tensor<8x16xi1>) background(1.1 : f32) rule(<axis = 1, micro_tile = [8, 1]>) label("x") : tensor<8x16xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x16xf32>) outs(%o : tensor<8x16xf16>) {
  ^bb0(%a: f32, %b: f16):
    %y = arith.truncf %a : f32 to f16
    linalg.yield %y : f16
  } -> tensor<8x16xf16>
  // A sample of f32 is none of f16.
  // CHECK: %[[D:.*]] = linalg.generic {{.*}} ins(%arg0 :
  // CHECK: pit.sparse %[[D]] label("y[f16]") : tensor<8x16xf16>
  %v = pit.sparse %x label("y") : tensor<8x16xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<8x16xf32>) outs(%o : tensor<8x16xf16>) {
  ^bb0(%a: f32, %b: f16):
    %y = arith.truncf %a : f32 to f16
    linalg.yield %y : f16
  } -> tensor<8x16xf16>
  %e = linalg.exp ins(%c : tensor<8x16xf16>) outs(%o : tensor<8x16xf16>) -> tensor<8x16xf16>
  %f = linalg.exp ins(%d : tensor<8x16xf16>) outs(%o : tensor<8x16xf16>) -> tensor<8x16xf16>
  return %e, %f : tensor<8x16xf16>, tensor<8x16xf16>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// The last op of a function skips itself, as nothing behind it could.
// CHECK-LABEL: func.func @last_cast
func.func @last_cast(%x: tensor<8x16xf32>, %o: tensor<8x16xf16>) -> tensor<?x?xf16> {
  // CHECK: %[[S:.*]] = pit.sparse %arg0
  // CHECK: linalg.generic {{.*}} ins(%[[S]] :
  // CHECK-NOT: pit.sparse
  %s = pit.sparse %x : tensor<8x16xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x16xf32>) outs(%o : tensor<8x16xf16>) {
  ^bb0(%a: f32, %b: f16):
    %y = arith.truncf %a : f32 to f16
    linalg.yield %y : f16
  } -> tensor<8x16xf16>
  %d = tensor.cast %c : tensor<8x16xf16> to tensor<?x?xf16>
  return %d : tensor<?x?xf16>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>

// What does more than cast is an op that may use the mark.
// CHECK-LABEL: func.func @no_element_cast
func.func @no_element_cast(%x: tensor<8x16xf32>, %o: tensor<16x8xf16>, %p: tensor<8x16xf16>) -> (tensor<16x8xf16>, tensor<8x16xf16>) {
  // CHECK: %[[S:.*]] = pit.sparse %arg0
  // CHECK: linalg.generic {{.*}} ins(%[[S]] :
  // CHECK: linalg.generic {{.*}} ins(%[[S]] :
  // CHECK-NOT: pit.sparse
  %s = pit.sparse %x : tensor<8x16xf32>
  %c = linalg.generic {indexing_maps = [#id, #t], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x16xf32>) outs(%o : tensor<16x8xf16>) {
  ^bb0(%a: f32, %b: f16):
    %y = arith.truncf %a : f32 to f16
    linalg.yield %y : f16
  } -> tensor<16x8xf16>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x16xf32>) outs(%p : tensor<8x16xf16>) {
  ^bb0(%a: f32, %b: f16):
    %y = arith.truncf %a : f32 to f16
    %z = arith.addf %y, %y : f16
    linalg.yield %z : f16
  } -> tensor<8x16xf16>
  return %c, %d : tensor<16x8xf16>, tensor<8x16xf16>
}

// -----

// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: tensor<8x16xf32>, %m: tensor<8x16xi1>, %shape: tensor<1xindex>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK: %[[R:.*]] = tensor.reshape %arg0(%arg2)
  // CHECK: pit.sparse %[[R]] : tensor<?xf32>
  // CHECK: %[[M:.*]] = tensor.reshape %arg1(%arg2) : (tensor<8x16xi1>, tensor<1xindex>) -> tensor<?xi1>
  // CHECK: %[[Q:.*]] = tensor.reshape %arg0(%arg2)
  // CHECK: pit.sparse %[[Q]] mask(%[[M]] : tensor<?xi1>) : tensor<?xf32>
  // expected-remark @+2 {{drops the rule #pit.rule<axis = 1> of the mark before it: dimension 1 does not stay in one piece}}
  %s = pit.sparse %x rule(<axis = 1>) : tensor<8x16xf32>
  %0 = tensor.reshape %s(%shape) : (tensor<8x16xf32>, tensor<1xindex>) -> tensor<?xf32>
  %t = pit.sparse %x mask(%m : tensor<8x16xi1>) : tensor<8x16xf32>
  %1 = tensor.reshape %t(%shape) : (tensor<8x16xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// What is added around a mark is selected, if it is the background.
// CHECK-LABEL: func.func @pad
func.func @pad(%x: tensor<8x16xf32>, %m: tensor<8x16xi1>, %l: tensor<8xi32>) -> (tensor<8x18xf32>, tensor<8x18xf32>, tensor<8x18xf32>, tensor<8x18xf32>, tensor<9x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  // CHECK: %[[P:.*]] = tensor.pad %arg0 low[0, 1] high[0, 1]
  // CHECK: pit.sparse %[[P]] rule(<axis = 1, micro_tile = [8, 1]>) : tensor<8x18xf32>
  %s = pit.sparse %x rule(<axis = 1, micro_tile = [8, 1]>) : tensor<8x16xf32>
  %0 = tensor.pad %s low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<8x16xf32> to tensor<8x18xf32>
  // CHECK: %[[T:.*]] = pit.sparse %arg0 mask
  // CHECK: %[[TRUE:.*]] = arith.constant true
  // CHECK: %[[M:.*]] = tensor.pad %arg1 low[0, 1] high[0, 1]
  // CHECK: tensor.yield %[[TRUE]] : i1
  // CHECK: %[[Q:.*]] = tensor.pad %arg0 low[0, 1] high[0, 1]
  // CHECK: pit.sparse %[[Q]] mask(%[[M]] : tensor<8x18xi1>)
  %t = pit.sparse %x mask(%m : tensor<8x16xi1>) : tensor<8x16xf32>
  %1 = tensor.pad %t low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x16xf32> to tensor<8x18xf32>
  // CHECK: tensor.pad %[[T]]
  %2 = tensor.pad %t low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<8x16xf32> to tensor<8x18xf32>
  // CHECK: %[[U:.*]] = tensor.pad %arg0 low[0, 0] high[0, 2]
  // CHECK: pit.sparse %[[U]] mask(
  %u = pit.sparse %x lengths(%l : tensor<8xi32>) : tensor<8x16xf32>
  %3 = tensor.pad %u low[0, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x16xf32> to tensor<8x18xf32>
  // CHECK: %[[V:.*]] = tensor.pad %arg0 low[0, 0] high[1, 0]
  // CHECK: pit.sparse %[[V]] mask(
  %4 = tensor.pad %u low[0, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x16xf32> to tensor<9x16xf32>
  return %0, %1, %2, %3, %4 : tensor<8x18xf32>, tensor<8x18xf32>, tensor<8x18xf32>, tensor<8x18xf32>, tensor<9x16xf32>
}

// -----

// The mark on a result stays there.
// CHECK-LABEL: func.func @result
func.func @result(%a: tensor<8x8xf32>, %m: tensor<8x8xi1>) -> tensor<64xf32> {
  // CHECK: %[[R:.*]] = linalg.matmul
  // CHECK: %[[S:.*]] = pit.sparse %[[R]] mask(%arg1 : tensor<8x8xi1>) : tensor<8x8xf32>
  // CHECK: %[[C:.*]] = tensor.collapse_shape %[[S]]
  // CHECK: %[[M:.*]] = tensor.collapse_shape %arg1
  // CHECK: %[[T:.*]] = pit.sparse %[[C]] mask(%[[M]] : tensor<64xi1>) assume : tensor<64xf32>
  // CHECK: return %[[T]]
  %r = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = pit.sparse %r mask(%m : tensor<8x8xi1>) : tensor<8x8xf32>
  %c = tensor.collapse_shape %s [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  return %c : tensor<64xf32>
}

// -----

// Of a slice the mark is its own: by values, by a slice of the mask, and by the
// lengths of rows that all are part of it.
// CHECK-LABEL: func.func @slice
// CHECK-SAME: %[[X:[^:]*]]: tensor<16x32x8xf32>, %[[M:[^:]*]]: tensor<16x32x8xi1>, %[[L:[^:]*]]: tensor<16xi32>, %[[I:[^:]*]]: index
func.func @slice(%x: tensor<16x32x8xf32>, %m: tensor<16x32x8xi1>, %l: tensor<16xi32>, %i: index)
    -> (tensor<32x4xf32>, tensor<4x8x8xf32>, tensor<16x32x4xf32>, tensor<4x32x8xf32>) {
  // CHECK: %[[A:.*]] = tensor.extract_slice %[[X]][%[[I]], 0, 4] [1, 32, 4] [1, 1, 1]
  // CHECK: pit.sparse %[[A]] rule(<axis = 0, micro_tile = [1, 4]>) : tensor<32x4xf32>
  %0 = pit.sparse %x rule(#pit.rule<axis = 1, micro_tile = [1, 1, 4]>) : tensor<16x32x8xf32>
  %a = tensor.extract_slice %0[%i, 0, 4] [1, 32, 4] [1, 1, 1] : tensor<16x32x8xf32> to tensor<32x4xf32>
  // CHECK-DAG: %[[B:.*]] = tensor.extract_slice %[[X]][%[[I]], 0, 0] [4, 8, 8] [2, 3, 1]
  // CHECK-DAG: %[[BM:.*]] = tensor.extract_slice %[[M]][%[[I]], 0, 0] [4, 8, 8] [2, 3, 1]
  // CHECK: pit.sparse %[[B]] mask(%[[BM]] : tensor<4x8x8xi1>) : tensor<4x8x8xf32>
  %1 = pit.sparse %x mask(%m : tensor<16x32x8xi1>) : tensor<16x32x8xf32>
  %b = tensor.extract_slice %1[%i, 0, 0] [4, 8, 8] [2, 3, 1] : tensor<16x32x8xf32> to tensor<4x8x8xf32>
  // CHECK: %[[C:.*]] = tensor.extract_slice %[[X]][0, 0, 2] [16, 32, 4] [1, 1, 1]
  // CHECK: pit.sparse %[[C]] lengths(%[[L]] : tensor<16xi32>) : tensor<16x32x4xf32>
  %2 = pit.sparse %x lengths(%l : tensor<16xi32>) : tensor<16x32x8xf32>
  %c = tensor.extract_slice %2[0, 0, 2] [16, 32, 4] [1, 1, 1] : tensor<16x32x8xf32> to tensor<16x32x4xf32>
  // CHECK: pit.sparse %{{.*}} mask(%{{.*}} : tensor<4x32x8xi1>) : tensor<4x32x8xf32>
  %d = tensor.extract_slice %2[%i, 0, 0] [4, 32, 8] [1, 1, 1] : tensor<16x32x8xf32> to tensor<4x32x8xf32>
  return %a, %b, %c, %d : tensor<32x4xf32>, tensor<4x8x8xf32>, tensor<16x32x4xf32>, tensor<4x32x8xf32>
}

// -----

// A dimension that the rule is about is gone.
func.func @slice_rule(%x: tensor<16x32xf32>, %i: index) -> tensor<32xf32> {
  %0 = pit.sparse %x rule(#pit.rule<axis = 0>) : tensor<16x32xf32>
  // expected-remark @+1 {{drops the rule #pit.rule<axis = 0> of the mark before it: dimension 0 does not stay in one piece}}
  %a = tensor.extract_slice %0[%i, 0] [1, 32] [1, 1] : tensor<16x32xf32> to tensor<32xf32>
  return %a : tensor<32xf32>
}

// -----

//===----------------------------------------------------------------------===//
// What is known of the zeros
//===----------------------------------------------------------------------===//

// A label tells that elements were moved; a live fraction's micro-tile moves with the
// dimensions.

// CHECK-LABEL: func.func @known
func.func @known(%x: tensor<?x4x8xf32>, %init: tensor<8x?xf32>) -> (tensor<8x?xf32>, tensor<1x4x8xf32>, tensor<?x8xf32>) {
  // CHECK: linalg.transpose
  // CHECK-NEXT: %[[T:.*]] = pit.sparse %{{.*}} live_fraction(2.500000e-01 in [1, *]) label("x[1-0]") : tensor<8x?xf32>
  // CHECK: tensor.extract_slice
  // CHECK-NEXT: %[[L:.*]] = pit.sparse %{{.*}} live_fraction(2.500000e-01 in [*, *, 1]) label("x[slice]") : tensor<1x4x8xf32>
  // CHECK: return %[[T]], %[[L]]
  %s = pit.sparse %x live_fraction(0.25 in [*, *, 1]) label("x") : tensor<?x4x8xf32>
  %c = tensor.collapse_shape %s [[0, 1], [2]] : tensor<?x4x8xf32> into tensor<?x8xf32>
  %t = linalg.transpose ins(%c : tensor<?x8xf32>) outs(%init : tensor<8x?xf32>) permutation = [1, 0]
  %l = tensor.extract_slice %s[1, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<?x4x8xf32> to tensor<1x4x8xf32>
  return %t, %l, %c : tensor<8x?xf32>, tensor<1x4x8xf32>, tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func @broken_live_fraction
func.func @broken_live_fraction(%x: tensor<8x8xf32>) -> tensor<64xf32> {
  // CHECK: pit.sparse %{{.*}} label("x") : tensor<64xf32>
  %s = pit.sparse %x live_fraction(0.25 in [4, 1]) label("x") : tensor<8x8xf32>
  // expected-remark@+1 {{drops the live fraction of the mark before it: dimension 0 of its micro-tile does not stay in one piece}}
  %c = tensor.collapse_shape %s [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  return %c : tensor<64xf32>
}
