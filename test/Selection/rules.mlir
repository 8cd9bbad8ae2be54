// RUN: pit-test-rules %s | FileCheck %s

// What is found and tiled through the public headers is what the passes make.
// RUN: pit-test-rules %s --tile > %t.own
// RUN: pit-opt %s --pit-plan=choice=now --pit-tile 2> %t.remarks | diff %t.own -

// The best rule comes first; a rule that is asked for need not be among them.
// CHECK-LABEL: linalg.matmul
//  CHECK-NEXT:   legal: #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]> by !pit.index<micro_tile = [32, 1], axis = 1>
//  CHECK-NEXT:   legal: #pit.rule<operand = 0, axis = 0, micro_tile = [1, 64], tile = [64, 128, 64], conflicts = sequential>
//  CHECK-NEXT:   legal: #pit.rule<operand = 0, axis = 0, micro_tile = [1, *]
//  CHECK-NEXT:   asked for: by !pit.index<micro_tile = [16, 1], axis = 1>
func.func @legal(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a : tensor<?x?xf32>
  %r = linalg.matmul {pit_test.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [16, 1], tile = [16, 64, 32]>}
         ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// A result that a mask wants; an index of the program's own.
// CHECK-LABEL: linalg.matmul
//       CHECK:   legal: #pit.rule<operand = 2,
//       CHECK:   asked for: operand 0 has no mark
func.func @result(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>,
                  %m: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %r = linalg.matmul {pit_test.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [16, 1], tile = [16, 64, 32]>}
         ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = pit.sparse %r mask(%m : tensor<?x?xi1>) : tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}

// CHECK-LABEL: linalg.matmul
//  CHECK-NEXT:   legal: #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1]
//  CHECK-NEXT:   asked for: the tile has 2 dimensions; the op has 3 loops
func.func @index(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>,
                 %i: !pit.index<micro_tile = [32, 1], axis = 1>) -> tensor<?x?xf32> {
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [32, 1], axis = 1>) : tensor<?x?xf32>
  %r = linalg.matmul {pit_test.rule = #pit.rule<operand = 0, axis = 1, tile = [16, 64]>}
         ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: linalg.exp
//       CHECK:   asked for: the rule is of axis 2; the operand has rank 2
func.func @axis(%a: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s = pit.sparse %a : tensor<8x8xf32>
  %r = linalg.exp {pit_test.rule = #pit.rule<operand = 0, axis = 2, tile = [8, 8]>}
         ins(%s : tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// CHECK-LABEL: linalg.generic
//       CHECK:   refused: operand 0, axis 0: {{.*}}[C7]
//       CHECK:   asked for: {{.*}}[C7]
#id = affine_map<(i) -> (i)>
func.func @index_of_dim(%a: tensor<8xi64>, %c: tensor<8xi64>) -> tensor<8xi64> {
  %s = pit.sparse %a : tensor<8xi64>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"],
                       pit_test.rule = #pit.rule<operand = 0, axis = 0, tile = [8]>}
         ins(%s : tensor<8xi64>) outs(%c : tensor<8xi64>) {
  ^bb0(%x: i64, %o: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %y = arith.muli %x, %n : i64
    linalg.yield %y : i64
  } -> tensor<8xi64>
  return %r : tensor<8xi64>
}
