// Programs that were compiled ahead of time, which need no compiler.

// RUN: llvm-readelf -d %pit_run | FileCheck %s --check-prefix=NEEDED --implicit-check-not=LLVM --implicit-check-not=MLIR --implicit-check-not=PITCompiler
// NEEDED: libpit_runtime.so

// RUN: pit-compile %s -o %t.so && pit-compile %s --pipeline=dense=true -o %t.dense.so
// RUN: pit-run %t.so --entry=matmul --arg='random(40x70,f32,sparsity=0.75,micro=32x1,seed=1)' \
// RUN:   --arg='random(70x200,f32,seed=2)' --arg='random(40x200,f32,seed=3)' \
// RUN:   --out=%t.npy --repeat=3 --stats --check=%t.dense.so --live-plot=%t.png 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MATMUL --implicit-check-not=rule:
// RUN: pit-run %t.so --entry=matmul --arg='random(40x70,f32,sparsity=0.75,micro=32x1,seed=1)' \
// RUN:   --arg='random(70x200,f32,seed=2)' --arg='random(40x200,f32,seed=3)' --check=%s | FileCheck %s --check-prefix=SOURCE
// MATMUL: time: min {{[0-9.]+}} ms, median {{[0-9.]+}} ms (3 runs)
// MATMUL: index 0: values of argument 0, 40x70 along axis 1
// MATMUL-NEXT: micro-tiles are live: live fraction 0.{{[0-9]+}}, waste 0.{{[0-9]+}}, {{.*}} ms
// MATMUL: dense program: {{[0-9.]+}} ms
// MATMUL-NEXT: check: result 0: {{.*}}: ok
// SOURCE: dense program: {{[0-9.]+}} ms
// SOURCE-NEXT: check: result 0: {{.*}}: ok

// In this folder, where the loader does not look.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && cp %t.so here.so && pit-run here.so --entry=add --arg='full(2,f32,1)' --arg='full(2,f32,2)' --print | FileCheck %s --check-prefix=HERE
// HERE: result 0: f32 2
// HERE-NEXT: 3 3

// A dense program is one with the same arguments and results.
// RUN: not pit-run %t.so --entry=add --arg='zeros(2,f32)' --arg='zeros(2,f32)' --check=%S/Inputs/one-arg.mlir 2>&1 | FileCheck %s --check-prefix=OTHER-ARGS
// OTHER-ARGS: pit-run: error: 'add' takes 1 argument: f32 ?; got 2
// RUN: not pit-run %t.so --entry=add --arg='zeros(2,f32)' --arg='zeros(2,f32)' --check=%S/Inputs/other-type.mlir 2>&1 | FileCheck %s --check-prefix=OTHER-TYPE
// OTHER-TYPE: pit-run: error: argument 1 is f32 2; it must be f64 ?
// RUN: not pit-run %t.so --entry=add --arg='zeros(2,f32)' --arg='zeros(2,f32)' --check=%S/Inputs/other-result.mlir 2>&1 | FileCheck %s --check-prefix=OTHER-RESULT
// OTHER-RESULT: pit-run: error: 'add' of the dense program has other results than 'add'

// RUN: not pit-run %t.so 2>&1 | FileCheck %s --check-prefix=NO-ENTRY
// NO-ENTRY: pit-run: error: '{{.*}}.so' has 2 public functions; --entry=matmul or another says which
// RUN: not pit-run %t.so --entry=mul 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: pit-run: error: the program has no entry 'mul'; it has: matmul, add
// RUN: not pit-run %t.so --entry=add --opt-level=1 2>&1 | FileCheck %s --check-prefix=COMPILED
// RUN: not pit-run %t.so --entry=add --explain 2>&1 | FileCheck %s --check-prefix=COMPILED
// COMPILED: pit-run: error: '{{.*}}.so' is compiled already; it takes no option that says how to compile
// RUN: not pit-run %t.so --entry=add --check 2>&1 | FileCheck %s --check-prefix=CHECK-FILE
// CHECK-FILE: pit-run: error: '{{.*}}.so' is compiled already; --check=FILE says what the dense program is
// RUN: not pit-run %t.so --entry=add --target=cuda 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: pit-run: error: '{{.*}}.so' runs on the CPU, not on --target=cuda
// RUN: not pit-run %pit_lib_dir/libpit_runtime.so 2>&1 | FileCheck %s --check-prefix=NO-PROGRAM
// NO-PROGRAM: pit-run: error: not a program of pit: no symbol pit_program_entries
// RUN: head -c 1000 %t.so > %t.cut.so
// RUN: not pit-run %t.cut.so 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: pit-run: error: '{{.*}}.cut.so' is cut short: it has 1000 bytes

func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>)
         outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
