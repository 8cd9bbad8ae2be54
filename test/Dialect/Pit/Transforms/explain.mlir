// RUN: pit-opt --pit-explain %s -o /dev/null 2>&1 | FileCheck %s
// RUN: pit-opt --pit-explain %s 2>/dev/null | FileCheck %s --check-prefix=IR

// The IR stays as it is.
// IR-LABEL: func @matmul
// IR: pit.sparse
// IR-NEXT: linalg.matmul

// CHECK: remark: linalg.matmul: d0 is a PIT axis: it indexes every result
// CHECK: remark: linalg.matmul: d1 is a PIT axis: it indexes every result
// CHECK: remark: linalg.matmul: d2 is a PIT axis: arith.addf combines result 0
// CHECK: remark: linalg.matmul: operand 0 is sparse, by its values, background 0.000000e+00 : f32
// CHECK: remark: linalg.matmul: skipping operand 0 is legal: result 0 is kept
// CHECK: remark: linalg.matmul: operand 0 may be packed along d0 (dimension 0 of operand 0), d2 (dimension 1 of operand 0)
// CHECK: remark: linalg.matmul: carries no rule, so it is computed dense
// CHECK-NOT: remark: linalg.matmul
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a : tensor<?x?xf32>
  %c = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}

// Nothing is said of an op without a mark.
// CHECK-NOT: linalg.add
func.func @unmarked(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c = linalg.add ins(%a, %a : tensor<?xf32>, tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
  return %c : tensor<?xf32>
}

// Through everything that only moves; the transpose itself is not explained.
// CHECK-NOT: linalg.transpose:
// CHECK: remark: linalg.vecmat: operand 0 is sparse, by its values, background 0.000000e+00 : f32, through tensor.collapse_shape, tensor.cast, linalg.transpose, tensor.expand_shape, and is to use #pit.rule<axis = 0
// CHECK: remark: linalg.vecmat: operand 0 may be packed along d1 (dimension 0 of operand 0)
func.func @traced(%a: tensor<8xf32>, %b: tensor<?x?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0>) : tensor<8xf32>
  %e = tensor.expand_shape %s [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %i = tensor.empty() : tensor<1x8xf32>
  %t = linalg.transpose ins(%e : tensor<8x1xf32>) outs(%i : tensor<1x8xf32>) permutation = [1, 0]
  %d = tensor.cast %t : tensor<1x8xf32> to tensor<1x?xf32>
  %f = tensor.collapse_shape %d [[0, 1]] : tensor<1x?xf32> into tensor<?xf32>
  %c = linalg.vecmat ins(%f, %b : tensor<?xf32>, tensor<?x?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %c : tensor<?xf32>
}

// Refused: every zero contributes.
// CHECK: remark: linalg.reduce: d0 is a PIT axis: arith.maximumf combines result 0
// CHECK: remark: linalg.reduce: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.maximumf
// CHECK: remark: linalg.reduce: operand 0 stays dense: nothing of it may be skipped
func.func @max(%a: tensor<?xf32>, %o: tensor<f32>) -> tensor<f32> {
  %s = pit.sparse %a : tensor<?xf32>
  %c = linalg.reduce { arith.maximumf } ins(%s : tensor<?xf32>) outs(%o : tensor<f32>) dimensions = [0]
  return %c : tensor<f32>
}

// Refused: no dim of the filter is an axis.
// CHECK: remark: linalg.conv_1d: d1 is no PIT axis [C1]: map 0 contains it as d0 + d1
// CHECK: remark: linalg.conv_1d: skipping operand 1 is legal: result 0 is kept
// CHECK: remark: linalg.conv_1d: operand 1 stays dense: no PIT axis indexes it [S9]
func.func @filter(%a: tensor<?xf32>, %f: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %s = pit.sparse %f : tensor<?xf32>
  %c = linalg.conv_1d ins(%a, %s : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %c : tensor<?xf32>
}

// A background, a mask, and both operands of one op marked.
// CHECK: remark: linalg.generic: operand 0 is sparse, by its mask, background 0xFF800000 : f32
// CHECK: remark: linalg.generic: skipping operand 0 is legal: result 0 becomes 0.000000e+00 : f32
// CHECK: remark: linalg.generic: operand 1 is sparse, by its values, background 0.000000e+00 : f32
// CHECK: remark: linalg.generic: skipping operand 1 is legal: result 0 becomes 0.000000e+00 : f32
func.func @two(%a: tensor<?xf32>, %m: tensor<?xi1>, %b: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %s = pit.sparse %a mask(%m : tensor<?xi1>) background(0xFF800000 : f32) : tensor<?xf32>
  %t = pit.sparse %b : tensor<?xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s, %t : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %e = math.exp %x : f32
    %p = arith.mulf %e, %y : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %c : tensor<?xf32>
}

// A marked result, directly and through a transpose.
// CHECK: remark: linalg.matmul: result 0 is sparse, by its mask, background 0.000000e+00 : f32
// CHECK: remark: linalg.matmul: skipping in result 0 is legal: each element has iterations of its own
// CHECK: remark: linalg.matmul: result 0 may be packed along d0 (dimension 0 of result 0), d1 (dimension 1 of result 0)
func.func @wanted(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>, %m: tensor<?x?xi8>) -> tensor<?x?xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = pit.sparse %c mask(%m : tensor<?x?xi8>) : tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}
// CHECK: remark: linalg.matmul: result 0 is sparse, by its mask, background 0.000000e+00 : f32, through linalg.transpose
func.func @wanted_transposed(%a: tensor<?x?xf32>, %o: tensor<?x?xf32>, %m: tensor<?x?xi8>) -> tensor<?x?xf32> {
  %c = linalg.matmul ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  %t = linalg.transpose ins(%c : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) permutation = [1, 0]
  %s = pit.sparse %t mask(%m : tensor<?x?xi8>) : tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}

// All of the result is wanted after all, so the mark stands alone.
// CHECK: remark: pit.sparse: the mark reaches no structured linalg op [M1]
func.func @all_wanted(%a: tensor<?x?xf32>, %o: tensor<?x?xf32>, %m: tensor<?x?xi8>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c = linalg.matmul ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = pit.sparse %c mask(%m : tensor<?x?xi8>) : tensor<?x?xf32>
  return %s, %c : tensor<?x?xf32>, tensor<?x?xf32>
}

// What was chosen.
// CHECK: remark: linalg.matmul: operand 0 is sparse, by its index, background 0.000000e+00 : f32
// CHECK: remark: linalg.matmul: chosen: #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>, packs operand 0 along d2
func.func @chosen(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %i = pit.index %a : tensor<?x?xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [32, 1], axis = 1>) assume : tensor<?x?xf32>
  %c = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>}
      ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}

// Where a mark ends, and where it says nothing.
// CHECK: remark: linalg.matmul: result 0 starts from a marked tensor, which skips nothing [S1]: operands are marked, or the result itself
func.func @init(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %o : tensor<?x?xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%s : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}

// CHECK: [[@LINE+5]]:8: remark: pit.sparse: the mark reaches no structured linalg op [M1]
// CHECK: [[@LINE+4]]:8: remark: pit.sparse: the mark ends at scf.yield [M1]: what comes after it is dense unless it is marked anew
// CHECK: [[@LINE+7]]:10: remark: pit.sparse: the mark reaches no structured linalg op [M1]
// CHECK: [[@LINE+6]]:10: remark: pit.sparse: the mark ends at scf.yield [M1]
func.func @branches(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %o: tensor<8x8xf32>, %if: i1) -> tensor<8x8xf32> {
  %s = pit.sparse %a : tensor<8x8xf32>
  %x = scf.if %if -> tensor<8x8xf32> {
    scf.yield %s : tensor<8x8xf32>
  } else {
    %t = pit.sparse %b : tensor<8x8xf32>
    scf.yield %t : tensor<8x8xf32>
  }
  %c = linalg.matmul ins(%x, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}

// One use of two is seen; sizes and the function's result need no mark.
// CHECK-NOT: the mark reaches no structured linalg op
// CHECK: remark: pit.sparse: the mark ends at tensor.pad [M1]: what comes after it is dense
// CHECK-NOT: the mark ends at
func.func @padded(%a: tensor<8x?xf32>, %b: tensor<8x?xf32>, %z: f32) -> (tensor<8x?xf32>, tensor<10x?xf32>, index, tensor<8x?xf32>) {
  %c1 = arith.constant 1 : index
  %s = pit.sparse %a : tensor<8x?xf32>
  %c = linalg.mul ins(%s, %b : tensor<8x?xf32>, tensor<8x?xf32>) outs(%b : tensor<8x?xf32>) -> tensor<8x?xf32>
  %p = tensor.pad %s low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<8x?xf32> to tensor<10x?xf32>
  %d = tensor.dim %s, %c1 : tensor<8x?xf32>
  return %c, %p, %d, %s : tensor<8x?xf32>, tensor<10x?xf32>, index, tensor<8x?xf32>
}

// A transpose whose result is marked is an op as any other.
// CHECK: remark: linalg.transpose: result 0 may be packed along d0 (dimension 0 of result 0), d1 (dimension 1 of result 0)
// CHECK-NOT: the mark reaches no structured linalg op
func.func @transposed_result(%a: tensor<8x4xf32>, %o: tensor<4x8xf32>, %m: tensor<4x8xi1>) -> tensor<4x8xf32> {
  %t = linalg.transpose ins(%a : tensor<8x4xf32>) outs(%o : tensor<4x8xf32>) permutation = [1, 0]
  %s = pit.sparse %t mask(%m : tensor<4x8xi1>) : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}
