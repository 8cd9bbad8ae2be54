// RUN: pit-run %s --entry=matmul --arg='random(40x70,f32,sparsity=0.75,micro=32x1,seed=1)' \
// RUN:   --arg='random(70x9,f32,seed=2)' --arg='random(40x9,f32,seed=3)' \
// RUN:   --out=%t.npy --repeat=3 --stats --check --pipeline=choice=now --live-plot=%t.png 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MATMUL
// RUN: %python %S/Inputs/png_size.py %t.png | FileCheck %s --check-prefix=PNG
//
// What is made of constants is made in the first of five runs; the results are
// the same, and what comes after the runs builds its own.
// RUN: pit-run %s --entry=matmul --arg='random(200x170,f32,sparsity=0.75,micro=32x1,seed=1)' \
// RUN:   --arg='random(170x90,f32,seed=2)' --arg='random(200x90,f32,seed=3)' \
// RUN:   --pipeline=choice=now --repeat=4 --constant=1 --constant=0 --constant=1 --stats --check 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: not pit-run %s --entry=scale --arg='full(2x3,bf16,3)' --arg=0.5 --constant=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-TENSOR
//
// A result that was saved is an argument like any other.
// RUN: pit-run %s --entry=matmul --arg=%t.npy --arg='zeros(9x3,f32)' \
// RUN:   --arg='full(40x3,f32,2.5)' --print | FileCheck %s --check-prefix=SAVED
//
// RUN: pit-run %s --entry=scale --arg='full(2x3,bf16,3)' --arg=0.5 --print \
// RUN:   | FileCheck %s --check-prefix=SCALAR
// RUN: pit-run %s --entry=not --arg=true --print | FileCheck %s --check-prefix=BOOL
// RUN: pit-run %s --entry=iota --arg=3 --print | FileCheck %s --check-prefix=SHAPE
// RUN: not pit-run %s --entry=iota --arg=-3 --print 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: pit-run %s --entry=hidden --arg='full(,i64,3)' --shape=0:3 --print | FileCheck %s --check-prefix=SHAPE
// RUN: not pit-run %s --entry=hidden --arg='full(,i64,3)' --shape=0:4 2>&1 | FileCheck %s --check-prefix=WRONG-SHAPE
// RUN: not pit-run %s --entry=hidden --arg='full(,i64,3)' 2>&1 | FileCheck %s --check-prefix=NO-SHAPE
// RUN: pit-run %s --entry=matmul --arg='zeros(0x5,f32)' --arg='zeros(5x4,f32)' \
// RUN:   --arg='zeros(0x4,f32)' --pipeline=choice=now --print --check --stats | FileCheck %s --check-prefix=EMPTY
// RUN: pit-run %s --entry=scale --arg='zeros(1x1,bf16)' --arg=1 --explain --stats 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: pit-run %s --entry=matmul --arg='full(2x3,f32,1)' --arg='full(3x1,f32,1)' \
// RUN:   --arg='zeros(2x1,f32)' --pipeline=choice=now --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: pit-run - --entry=not --arg=false --print --no-openmp --opt-level=0 --threads=1 < %s \
// RUN:   | FileCheck %s --check-prefix=STDIN

// RUN: pit-opt %s --emit-bytecode -o %t.mlirbc && pit-run %t.mlirbc --entry=not --arg=false --print \
// RUN:   | FileCheck %s --check-prefix=STDIN

// MATMUL: time: min {{[0-9.]+}} ms, median {{[0-9.]+}} ms (3 runs)
// MATMUL-NEXT: index 0: values of argument 0, 40x70 along axis 1 in micro-tiles of {{.+}}
// MATMUL-NEXT: {{[0-9]+}} of {{[0-9]+}} micro-tiles are live: live fraction 0.{{[0-9]+}}, waste 0.{{[0-9]+}}, fullest of {{[0-9]+}} group{{.*}}; built in {{[0-9.]+}} ms
// MATMUL-NEXT: rule: {{.*}}run.mlir:{{.*}}: remark: linalg.matmul: {{.*}}#pit.rule<operand = 0
// MATMUL-NOT: rule:
// MATMUL: dense program: {{[0-9.]+}} ms
// MATMUL-NEXT: check: result 0: max abs error {{.*}}: ok
// KEPT: time:
// KEPT-NEXT: kept: 2 pieces of 2 constants, {{[0-9]+}} bytes; made 2, used again 8 times
// KEPT-NEXT: index 0: values of argument 0,
// KEPT-NEXT: live fraction 0.{{[0-9]+}}, waste 0.{{[0-9]+}}, {{.*}}; built in
// KEPT: check: result 0: max abs error {{.*}}: ok
// NO-TENSOR: pit-run: error: --constant=1: 'scale' has no tensor argument 1
// PNG: 490 280
// SAVED: result 0: f32 40x3
// SAVED-NEXT: 2.5 2.5 2.5
// SCALAR: result 0: bf16 2x3
// SCALAR-NEXT: 1.5 1.5 1.5
// SCALAR-NEXT: 1.5 1.5 1.5
// BOOL: result 0: bool
// BOOL-NEXT: 0
// STDIN: result 0: bool
// STDIN-NEXT: 1
// SHAPE: result 0: i64 3
// SHAPE-NEXT: 0 1 2
// NEGATIVE: pit-run: error: result 0: dimension 0 would be -3 (argument 0); the arguments are too small
// WRONG-SHAPE: pit-run: error: result 0: dimension 0 is 4; the computed result has 3
// NO-SHAPE: pit-run: error: the shape of result 0 (i64 ?) depends on the contents of tensors; give it with --shape=0:SHAPE
// EMPTY: index 0: {{.*}} 0x5
// EMPTY-NEXT: 0 of 0 micro-tiles are live: live fraction 0.0000, waste 0.0000
// EMPTY: result 0: f32 0x4
// EMPTY: check: result 0: {{.*}}: ok
// NONE: indices: none were built
// EXPLAIN: run.mlir:{{[0-9]+:[0-9]+}}: remark: linalg.matmul: {{.*}}
// EXPLAIN: time:

func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>)
         outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @scale(%a: tensor<?x?xbf16>, %s: bf16) -> tensor<?x?xbf16> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<?x?xbf16>, bf16) outs(%a : tensor<?x?xbf16>) {
  ^bb0(%x: bf16, %f: bf16, %o: bf16):
    %p = arith.mulf %x, %f : bf16
    linalg.yield %p : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}

func.func @not(%p: i1) -> i1 {
  %true = arith.constant true
  %r = arith.xori %p, %true : i1
  return %r : i1
}

// The size of the result is no function of the arguments' shapes.
func.func @hidden(%t: tensor<index>) -> tensor<?xi64> {
  %n = tensor.extract %t[] : tensor<index>
  %r = call @iota_of(%n) : (index) -> tensor<?xi64>
  return %r : tensor<?xi64>
}

func.func @iota(%n: index) -> tensor<?xi64> {
  %r = call @iota_of(%n) : (index) -> tensor<?xi64>
  return %r : tensor<?xi64>
}

func.func private @iota_of(%n: index) -> tensor<?xi64> {
  %e = tensor.empty(%n) : tensor<?xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<?xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %v = arith.index_cast %i : index to i64
    linalg.yield %v : i64
  } -> tensor<?xi64>
  return %r : tensor<?xi64>
}
