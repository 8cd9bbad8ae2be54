// What a table of costs alone has, and what it leaves out.

// RUN: split-file %s %t

// A product of 10x20x300, of which 304 columns are computed. Dense: 60800 products of
// 1 ns, and 6000 elements of B that are read, 5 ns each. Looking takes 400 ns. Rows: 30
// ns for the list, and B is read. Single elements: 600 ns for the lists, 18000 to pack B; each takes 2
// ns for its 304 columns and 16 more for each 128, and reads its row of B: 704 + 1500 ns.
// RUN: pit-opt %t/ok.mlir -pit-plan="choice=run-time tile-table=%t/costs.json" | FileCheck %t/ok.mlir --check-prefixes=CHECK,COSTS

// The tiles are those of the built-in table, for this kind of CPU.
// RUN: pit-opt %t/ok.mlir -pit-plan="target=avx2 tile-table=%t/costs.json" | FileCheck %t/ok.mlir --check-prefix=AVX2
// RUN: pit-opt %t/ok.mlir -pit-plan="target=avx512 tile-table=%t/costs.json" | FileCheck %t/ok.mlir --check-prefix=AVX512

// Costs of a kind of CPU count for that kind. Where there are none, those of the kind with the
// nearest vectors are scaled: with half the bits a product takes twice as long.
// RUN: pit-opt %t/kinds.mlir -pit-plan="choice=run-time target=avx2 tile-table=%t/kinds.json" | FileCheck %t/kinds.mlir --check-prefix=OF-AVX2
// RUN: pit-opt %t/kinds.mlir -pit-plan="choice=run-time target=avx512 tile-table=%t/kinds.json" | FileCheck %t/kinds.mlir --check-prefix=OF-AVX512
// RUN: pit-opt %t/kinds.mlir -pit-plan="choice=run-time target=generic tile-table=%t/kinds.json" | FileCheck %t/kinds.mlir --check-prefix=OF-GENERIC

// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/kind.json" 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: {{.*}}: costs 0: sse f32 is for a kind of CPU, sse, that is not known; known are generic, avx2, avx512, amx
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/read.json" 2>&1 | FileCheck %s --check-prefix=READ
// READ: error: {{.*}}: costs 0: f32 has a read of -3.50; it must be 0 or more
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/pack.json" 2>&1 | FileCheck %s --check-prefix=PACK
// PACK: error: {{.*}}: costs 0: f32 has a micro-tile whose fixed, pack and group are not 0 or more
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/dense.json" 2>&1 | FileCheck %s --check-prefix=NO-DENSE
// NO-DENSE: error: {{.*}}: costs 0: f32 needs a positive dense
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/empty.json" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: {{.*}}: a tile table is an object with a density in (0, 1] and a list of entries, or with costs alone

//--- ok.mlir
// CHECK-LABEL: func.func @f(
// COSTS-DAG: %[[DENSE:.*]] = arith.constant 9.080000e+04 : f64
// COSTS-DAG: %[[ROWS:.*]] = arith.constant 3.043000e+04 : f64
// COSTS-DAG: %[[ROW:.*]] = arith.constant 6.080000e+03 : f64
// COSTS-DAG: %[[ONES:.*]] = arith.constant 1.900000e+04 : f64
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

//--- kinds.json
{"costs": [{"element": "avx2 i16", "dense": 1000, "scan": 2000, "group": 10000, "micro": [{"rows": 0, "multiply": 1000}]}]}

//--- kind.json
{"costs": [{"element": "sse f32", "dense": 1000, "scan": 2000, "group": 10000, "micro": [{"rows": 0, "multiply": 1000}]}]}

//--- read.json
{"costs": [{"element": "f32", "dense": 1, "scan": 2, "group": 1, "read": -3.5, "micro": [{"rows": 0, "multiply": 1}]}]}

//--- pack.json
{"costs": [{"element": "f32", "dense": 1, "scan": 2, "group": 1, "micro": [{"rows": 0, "multiply": 1, "pack": -1}]}]}

//--- dense.json
{"costs": [{"element": "f32", "dense": 0, "scan": 2, "group": 1, "micro": [{"rows": 0, "multiply": 1}]}]}

//--- empty.json
{"target": "cpu"}
