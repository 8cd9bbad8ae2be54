// What a table of costs alone has, and what it leaves out.

// RUN: split-file %s %t

// A product of 10x20x300, of which 304 columns are computed. Dense: 60800 products of
// 1 ns, and 6000 elements of B that are read, 5 ns each. Looking takes 400 ns. Rows: 30
// ns for the list, and B is read. Single elements: 600 ns for the lists; each takes 2 ns for its 304
// columns and 16 more for each 128, and reads its row of B: 704 + 1500 ns. With 60 rows B is packed,
// 18000 ns, and where their number is not known, if there are more than 48.
// RUN: pit-opt %t/ok.mlir -pit-plan="choice=run-time tile-table=%t/costs.json" | FileCheck %t/ok.mlir --check-prefixes=CHECK,COSTS

// The tiles are those of the built-in table, for this kind of CPU.
// RUN: pit-opt %t/ok.mlir -pit-plan="target=avx2 tile-table=%t/costs.json" | FileCheck %t/ok.mlir --check-prefix=AVX2
// RUN: pit-opt %t/ok.mlir -pit-plan="target=avx512 tile-table=%t/costs.json" | FileCheck %t/ok.mlir --check-prefix=AVX512

// Costs of a kind of CPU count for that kind. If there are none, those of the kind with the
// nearest vectors are scaled: with half the bits a product takes twice as long.
// RUN: pit-opt %t/kinds.mlir -pit-plan="choice=run-time target=avx2 tile-table=%t/kinds.json" | FileCheck %t/kinds.mlir --check-prefix=OF-AVX2
// RUN: pit-opt %t/kinds.mlir -pit-plan="choice=run-time target=avx512 tile-table=%t/kinds.json" | FileCheck %t/kinds.mlir --check-prefix=OF-AVX512
// RUN: pit-opt %t/kinds.mlir -pit-plan="choice=run-time target=generic tile-table=%t/kinds.json" | FileCheck %t/kinds.mlir --check-prefix=OF-GENERIC

// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/kind.json" 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: {{.*}}: costs 0: sse f32 is for a kind of CPU, sse, that is not known; known are generic, avx2, avx512, amx
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/read.json" 2>&1 | FileCheck %s --check-prefix=READ
// READ: error: {{.*}}: costs 0: f32's read is -3.50; it must be 0 or more
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/pack.json" 2>&1 | FileCheck %s --check-prefix=PACK
// PACK: error: {{.*}}: costs 0: f32 has a micro-tile whose fixed, pack, group and leave are not 0 or more
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/leave.json" 2>&1 | FileCheck %s --check-prefix=PACK
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/ask.json" 2>&1 | FileCheck %s --check-prefix=ASK
// ASK: error: {{.*}}: costs 0: f32's ask is -2.50; it must be 0 or more
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/dense.json" 2>&1 | FileCheck %s --check-prefix=NO-DENSE
// NO-DENSE: error: {{.*}}: costs 0: f32 needs a positive dense
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/empty.json" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: {{.*}}: a tile table is an object with a live fraction in (0, 1] and a list of entries, or with costs alone

// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/layout.json" 2>&1 | FileCheck %s --check-prefix=LAYOUT
// LAYOUT: error: {{.*}}: costs 0: f32 has a layout middle; it must be left, left-bt, right or result

// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/key.json" 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: {{.*}}: costs 0: a micro-tile of f32 has "known"; it may have rows, multiply, fixed, pack, group, leave, compile_time_only
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/entry-key.json" 2>&1 | FileCheck %s --check-prefix=ENTRY-KEY
// ENTRY-KEY: error: tile table {{.*}}entry-key.json: costs 0: f32 has "collumn"; it may have element, dense, scan, group, layout, column,
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/shape-key.json" 2>&1 | FileCheck %s --check-prefix=SHAPE-KEY
// SHAPE-KEY: error: {{.*}}: shapes has "list_colums"; it may have {{.*}} list_columns, in_place_rows
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/table-key.json" 2>&1 | FileCheck %s --check-prefix=TABLE-KEY
// TABLE-KEY: error: tile table {{.*}}table-key.json: has "cost"; it may have target, live_fraction, {{.*}} costs
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/number.json" 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: {{.*}}: list_columns is 0.00; it must be more than 0

// A table may have other numbers than the built-in ones: with more than 5 rows B is packed.
// RUN: pit-opt %t/ok.mlir -pit-plan="choice=run-time tile-table=%t/shapes.json" | FileCheck %s --check-prefix=SHAPES
// SHAPES-LABEL: func.func @f(
// SHAPES-DAG: %[[ONES:.*]] = arith.constant 1.900000e+04 : f64
// SHAPES: pit.choose
// SHAPES-SAME: fixed({{.*}}, %[[ONES]])

// Ops that read their operands in another way have costs of their own; where there are none, those
// of rows count. A micro-tile that is for known zeros is no variant.
// RUN: pit-opt %t/layouts.mlir -pit-plan="choice=run-time target=sm_90a tile-table=%t/layouts.json" | FileCheck %t/layouts.mlir

//--- layouts.mlir
// Dense: 64x64x64 by 1 ns, 2 ns, 3 ns.
// CHECK-LABEL: func.func @rows(
// CHECK-DAG: %[[DENSE:.*]] = arith.constant 2.621440e+05 : f64
// CHECK: pit.choose %{{.*}} of [!pit.index<micro_tile = [1, *], axis = 0>, !pit.index<micro_tile = [16, 1], axis = 1>]
// CHECK-SAME: dense(%[[DENSE]])
func.func @rows(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = pit.sparse %a : tensor<64x64xf32>
  %r = linalg.matmul ins(%s, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @apart(
// CHECK-DAG: %[[DENSE:.*]] = arith.constant 5.242880e+05 : f64
// CHECK: pit.choose %{{.*}} of [!pit.index<micro_tile = [1, *], axis = 0>, !pit.index<micro_tile = [32, 1], axis = 1>]
// CHECK-SAME: dense(%[[DENSE]])
func.func @apart(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = pit.sparse %a : tensor<64x64xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%s, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @right(
// CHECK-DAG: %[[DENSE:.*]] = arith.constant 7.864320e+05 : f64
// CHECK: pit.choose %{{.*}} of [!pit.index<micro_tile = [1, 64], axis = 0>, !pit.index<micro_tile = [*, 1], axis = 1>]
// CHECK-SAME: dense(%[[DENSE]])
func.func @right(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = pit.sparse %b : tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %s : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @not_told(
// CHECK-DAG: %[[DENSE:.*]] = arith.constant 0x4130000000000000 : f64
// CHECK: pit.choose
// CHECK-SAME: dense(%[[DENSE]])
func.func @not_told(%a: tensor<64x64xf64>, %b: tensor<64x64xf64>, %c: tensor<64x64xf64>) -> tensor<64x64xf64> {
  %s = pit.sparse %b : tensor<64x64xf64>
  %r = linalg.matmul ins(%a, %s : tensor<64x64xf64>, tensor<64x64xf64>) outs(%c : tensor<64x64xf64>) -> tensor<64x64xf64>
  return %r : tensor<64x64xf64>
}

// Of a result: rows, and columns of 16 rows, for which B is packed, 4096 elements by 5 ns.
// CHECK-LABEL: func.func @wanted(
// CHECK-DAG: %[[DENSE:.*]] = arith.constant 1.310720e+06 : f64
// CHECK-DAG: %[[COLUMNS:.*]] = arith.constant 20500.11{{.*}} : f64
// CHECK-DAG: %[[LIVE:.*]] = arith.constant 2.048000e+00 : f64
// CHECK: pit.choose %{{.*}} of [!pit.index<micro_tile = [1, *], axis = 0>, !pit.index<micro_tile = [16, 1], axis = 1>]
// CHECK-SAME: dense(%[[DENSE]]) fixed(%{{.*}}, %[[COLUMNS]]) live(%{{.*}}, %[[LIVE]])
func.func @wanted(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %m: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = pit.sparse %r mask(%m : tensor<64x64xf32>) : tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}

//--- layouts.json
{"target": "hopper", "costs": [
  {"element": "f32", "layout": "right", "dense": 3000, "scan": 1, "group": 1, "micro": [{"rows": 64, "multiply": 2}, {"rows": 0, "multiply": 3}]},
  {"element": "f32", "layout": "left-bt", "dense": 2000, "scan": 1, "group": 1, "micro": [{"rows": 32, "multiply": 2}, {"rows": 8, "multiply": 1, "compile_time_only": true}, {"rows": 0, "multiply": 3}]},
  {"element": "f32", "layout": "left", "dense": 1000, "scan": 1, "group": 1, "micro": [{"rows": 16, "multiply": 2}, {"rows": 0, "multiply": 3}]},
  {"element": "f32", "layout": "result", "dense": 5000, "scan": 1, "group": 1, "micro": [{"rows": 16, "multiply": 2, "pack": 5000, "fixed": 16000}, {"rows": 0, "multiply": 3}]},
  {"element": "f64", "dense": 4000, "scan": 1, "group": 1, "micro": [{"rows": 16, "multiply": 2}, {"rows": 0, "multiply": 3}]}
]}

//--- layout.json
{"target": "cpu", "costs": [{"element": "f32", "layout": "middle", "dense": 1, "scan": 1, "group": 1, "micro": [{"rows": 1, "multiply": 1}]}]}

//--- ok.mlir
// CHECK-LABEL: func.func @f(
// COSTS-DAG: %[[DENSE:.*]] = arith.constant 9.080000e+04 : f64
// COSTS-DAG: %[[ROWS:.*]] = arith.constant 3.043000e+04 : f64
// COSTS-DAG: %[[ROW:.*]] = arith.constant 6.080000e+03 : f64
// COSTS-DAG: %[[ONES:.*]] = arith.constant 1.000000e+03 : f64
// COSTS-DAG: %[[ONE:.*]] = arith.constant 2.204000e+03 : f64
// COSTS: pit.choose %{{.*}} of [!pit.index<micro_tile = [1, *], axis = 0>, !pit.index<micro_tile = [1, 1], axis = 1>]
// COSTS-SAME: dense(%[[DENSE]]) fixed(%[[ROWS]], %[[ONES]]) live(%[[ROW]], %[[ONE]])
// AVX2: #pit.rule<{{.*}} tile = [10, 96, 20]>
// AVX512: #pit.rule<{{.*}} tile = [10, 128, 20]>
func.func @f(%a: tensor<10x20xf32>, %b: tensor<20x300xf32>, %c: tensor<10x300xf32>) -> tensor<10x300xf32> {
  %s = pit.sparse %a : tensor<10x20xf32>
  %r = linalg.matmul ins(%s, %b : tensor<10x20xf32>, tensor<20x300xf32>) outs(%c : tensor<10x300xf32>) -> tensor<10x300xf32>
  return %r : tensor<10x300xf32>
}

// CHECK-LABEL: func.func @more(
// COSTS-DAG: %[[ONES:.*]] = arith.constant 2.400000e+04 : f64
// COSTS: pit.choose
// COSTS-SAME: fixed({{.*}}, %[[ONES]])
func.func @more(%a: tensor<60x20xf32>, %b: tensor<20x300xf32>, %c: tensor<60x300xf32>) -> tensor<60x300xf32> {
  %s = pit.sparse %a : tensor<60x20xf32>
  %r = linalg.matmul ins(%s, %b : tensor<60x20xf32>, tensor<20x300xf32>) outs(%c : tensor<60x300xf32>) -> tensor<60x300xf32>
  return %r : tensor<60x300xf32>
}

// CHECK-LABEL: func.func @none(
// COSTS: pit.choose %{{.*}} of [!pit.index<micro_tile = [1, 1], axis = 1>]
func.func @none(%a: tensor<0x20xf32>, %b: tensor<20x300xf32>, %c: tensor<0x300xf32>) -> tensor<0x300xf32> {
  %s = pit.sparse %a : tensor<0x20xf32>
  %r = linalg.matmul ins(%s, %b : tensor<0x20xf32>, tensor<20x300xf32>) outs(%c : tensor<0x300xf32>) -> tensor<0x300xf32>
  return %r : tensor<0x300xf32>
}

// CHECK-LABEL: func.func @unknown(
// COSTS-DAG: %[[PACKING:.*]] = arith.constant 1.800000e+04 : f64
// COSTS-DAG: %[[FEW:.*]] = arith.constant 4.800000e+01 : f64
// COSTS: %[[MORE:.*]] = arith.cmpf ogt, %{{.*}}, %[[FEW]] : f64
// COSTS: arith.select %[[MORE]], %[[PACKING]], %{{.*}} : f64
// COSTS: pit.choose
func.func @unknown(%a: tensor<?x20xf32>, %b: tensor<20x300xf32>, %c: tensor<?x300xf32>) -> tensor<?x300xf32> {
  %s = pit.sparse %a : tensor<?x20xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x20xf32>, tensor<20x300xf32>) outs(%c : tensor<?x300xf32>) -> tensor<?x300xf32>
  return %r : tensor<?x300xf32>
}

//--- kinds.mlir
// OF-AVX2-DAG: %[[DENSE:.*]] = arith.constant 6.080000e+04 : f64
// OF-AVX2: pit.choose %{{.*}} dense(%[[DENSE]])
// OF-AVX512-DAG: %[[DENSE:.*]] = arith.constant 3.040000e+04 : f64
// OF-AVX512: pit.choose %{{.*}} dense(%[[DENSE]])
// OF-GENERIC-DAG: %[[DENSE:.*]] = arith.constant 1.200000e+05 : f64
// OF-GENERIC: pit.choose %{{.*}} dense(%[[DENSE]])
func.func @f(%a: tensor<10x20xi16>, %b: tensor<20x300xi16>, %c: tensor<10x300xi32>) -> tensor<10x300xi32> {
  %s = pit.sparse %a : tensor<10x20xi16>
  %r = linalg.matmul ins(%s, %b : tensor<10x20xi16>, tensor<20x300xi16>) outs(%c : tensor<10x300xi32>) -> tensor<10x300xi32>
  return %r : tensor<10x300xi32>
}

//--- costs.json
{"costs": [{"element": "f32", "dense": 1000, "scan": 2000, "group": 10000, "read": 5000, "step": 16,
            "micro": [{"rows": 1, "multiply": 2000, "group": 20000, "pack": 3000}, {"rows": 0, "multiply": 1000}]}]}

//--- shapes.json
{"shapes": {"in_place_rows": 5},
 "costs": [{"element": ["f64", "f32"], "dense": 1000, "scan": 2000, "group": 10000, "read": 5000, "step": 16,
            "micro": [{"rows": 1, "multiply": 2000, "group": 20000, "pack": 3000}, {"rows": 0, "multiply": 1000}]}]}

//--- key.json
{"costs": [{"element": "f32", "dense": 1, "scan": 2, "group": 1, "micro": [{"rows": 0, "multiply": 1, "known": true}]}]}

//--- entry-key.json
{"costs": [{"element": "f32", "dense": 1, "scan": 2, "group": 1, "collumn": 2, "micro": [{"rows": 0, "multiply": 1}]}]}

//--- shape-key.json
{"shapes": {"list_colums": 8}, "costs": [{"element": "f32", "dense": 1, "scan": 2, "group": 1, "micro": [{"rows": 0, "multiply": 1}]}]}

//--- table-key.json
{"cost": [{"element": "f32", "dense": 1, "scan": 2, "group": 1, "micro": [{"rows": 0, "multiply": 1}]}]}

//--- number.json
{"shapes": {"list_columns": 0}, "costs": [{"element": "f32", "dense": 1, "scan": 2, "group": 1, "micro": [{"rows": 0, "multiply": 1}]}]}

//--- kinds.json
{"costs": [{"element": "avx2 i16", "dense": 1000, "scan": 2000, "group": 10000, "micro": [{"rows": 0, "multiply": 1000}]}]}

//--- kind.json
{"costs": [{"element": "sse f32", "dense": 1000, "scan": 2000, "group": 10000, "micro": [{"rows": 0, "multiply": 1000}]}]}

//--- read.json
{"costs": [{"element": "f32", "dense": 1, "scan": 2, "group": 1, "read": -3.5, "micro": [{"rows": 0, "multiply": 1}]}]}

//--- pack.json
{"costs": [{"element": "f32", "dense": 1, "scan": 2, "group": 1, "micro": [{"rows": 0, "multiply": 1, "pack": -1}]}]}

//--- leave.json
{"costs": [{"element": "f32", "dense": 1, "scan": 2, "group": 1, "micro": [{"rows": 0, "multiply": 1, "leave": -1}]}]}

//--- ask.json
{"costs": [{"element": "f32", "dense": 1, "scan": 2, "group": 1, "ask": -2.5, "micro": [{"rows": 0, "multiply": 1}]}]}

//--- dense.json
{"costs": [{"element": "f32", "dense": 0, "scan": 2, "group": 1, "micro": [{"rows": 0, "multiply": 1}]}]}

//--- empty.json
{"target": "cpu"}
