// Bad input gets one clear line and an exit code that is not 0.

// RUN: not pit-run 2>&1 | FileCheck %s --check-prefix=NO-FILE
// NO-FILE: pit-run: error: no input file
// NO-FILE-NEXT: Try 'pit-run --help'.
// RUN: not pit-run %s %s 2>&1 | FileCheck %s --check-prefix=TWO-FILES
// TWO-FILES: pit-run: error: more than one input file ('{{.*}}errors.mlir' and '{{.*}}errors.mlir')
// RUN: not pit-run %t.none 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: pit-run: error: cannot read '{{.*}}none': No such file or directory
// RUN: not pit-run %S 2>&1 | FileCheck %s --check-prefix=DIRECTORY
// DIRECTORY: pit-run: error: cannot read '{{.*}}': Is a directory
// RUN: not pit-run %s --bad 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: pit-run: unrecognized option '--bad'
// OPTION-NEXT: Try 'pit-run --help'.
// RUN: pit-run --help | FileCheck %s --check-prefix=HELP
// HELP: usage: pit-run FILE [--entry=F]

// RUN: echo 'func.func @f( {' > %t.mlir
// RUN: not pit-run %t.mlir 2>&1 | FileCheck %s --check-prefix=PARSE
// PARSE: {{.*}}.mlir:1:14: error: {{.+}}
// RUN: echo 'func.func @f(%a: tensor<4xf32>) -> tensor<4xi32> { return %a : tensor<4xf32> }' > %t.mlir
// RUN: not pit-run %t.mlir 2>&1 | FileCheck %s --check-prefix=VERIFY
// VERIFY: {{.*}}.mlir:1:{{[0-9]+}}: error: {{.+}}

// RUN: not pit-run %s 2>&1 | FileCheck %s --check-prefix=NO-ENTRY
// NO-ENTRY: pit-run: error: '{{.*}}errors.mlir' has 2 public functions; --entry=add or another says which
// RUN: echo > %t.mlir
// RUN: not pit-run %t.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: pit-run: error: '{{.*}}' has no public function
// RUN: not pit-run %s --entry=mul 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: error: no public function 'mul'; there are: add, two

// RUN: not pit-run %s --entry=add --arg='zeros(4,f32)' 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: pit-run: error: 'add' takes 2 arguments: f32 ?x4, f32 ?x4; got 1 --arg
// RUN: not pit-run %s --entry=add --arg='zeros(4,f32)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: pit-run: error: argument 0 is f32 4; it must be f32 ?x4
// RUN: not pit-run %s --entry=add --arg='zeros(1x4,f64)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=DTYPE
// DTYPE: pit-run: error: argument 0 is f64 1x4; it must be f32 ?x4
// RUN: not pit-run %s --entry=add --arg='zeros(1x5,f32)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: pit-run: error: argument 0 is f32 1x5; it must be f32 ?x4
// RUN: not pit-run %s --entry=add --arg='zeros(1x4,f32)' --arg='zeros(2x4,f32)' 2>&1 | FileCheck %s --check-prefix=FIT
// FIT: pit-run: error: dimension 0 of argument 1 is 2 but dimension 0 of argument 0 is 1; the first must be equal to the second
// RUN: not pit-run %s --entry=add --arg='zeros(1x4,f32)' --arg='zeros(1x4,f32)' --out=%t.1 --out=%t.2 2>&1 | FileCheck %s --check-prefix=OUTS
// OUTS: pit-run: error: 'add' has 1 result; got 2 --out
// RUN: not pit-run %s --entry=two --arg=abc 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: pit-run: error: cannot read 'abc': No such file or directory

// RUN: not pit-run %s --entry=add --arg='zeros(1x4)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=ZEROS
// ZEROS: pit-run: error: zeros(1x4): after the shape comes the element type: f64, f32,
// RUN: not pit-run %s --entry=add --arg='zeros(1y4,f32)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: pit-run: error: zeros(1y4,f32): the shape must be at most 8 sizes, as 4x128
// RUN: not pit-run %s --entry=add --arg='full(1x4,f32)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: pit-run: error: full(1x4,f32): after the element type comes the value, a number
// RUN: not pit-run %s --entry=add --arg='random(1x4,f32,live fraction=1)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: pit-run: error: random(1x4,f32,live fraction=1): an option must be sparsity=, micro=, seed=, low= or high=
// RUN: not pit-run %s --entry=add --arg='random(1x4,f32,sparsity=2)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=SPARSITY
// SPARSITY: sparsity must be a number from 0 to 1
// RUN: not pit-run %s --entry=add --arg='random(1x4,f32,micro=4)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=MICRO
// MICRO: micro must have a size, or *, for each dimension, as 32x1
// RUN: not pit-run %s --entry=add --arg='random(1x4,f32,micro=0x1)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=MICRO0
// MICRO0: a size of micro must not be 0
// RUN: not pit-run %s --entry=add --arg='random(1x4,i8,low=0.2,high=0.8)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=LOW
// LOW: there is no number from low to high
// RUN: not pit-run %s --entry=add --arg='zeros(99999999999x99999999999,f32)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not pit-run %s --entry=add --arg='zeros(99999999x4000,f32)' --arg='zeros(1x4,f32)' 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: pit-run: error: a tensor of f32 {{[0-9x]+}} does not fit in memory

// RUN: not pit-run %s --repeat=0 2>&1 | FileCheck %s --check-prefix=REPEAT
// REPEAT: pit-run: error: --repeat=0: it must be from 1 to 1000000
// RUN: not pit-run %s --threads=x 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: pit-run: error: --threads=x: it must be from 1 to 4096
// RUN: not pit-run %s --tolerance=nan 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// TOLERANCE: pit-run: error: --tolerance=nan: it must be a number from 0 to 1
// RUN: not pit-run %s --shape=4x4 2>&1 | FileCheck %s --check-prefix=RESULT-SHAPE
// RESULT-SHAPE: pit-run: error: --shape=4x4: it must be the number of a result and its sizes, as 0:4x8
// RUN: not pit-run %s --target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: target 'abacus' is not supported; it must be cpu
// RUN: not pit-run %s --pipeline=abacus 2>&1 | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: error: options of pit-to-cpu "abacus": {{.*}}no such option abacus
// RUN: not pit-run %s --opt-level=7 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: pit-run: error: --opt-level=7: it must be 0, 1, 2 or 3

// RUN: not pit-run %s --entry=two --arg=1 --live-plot=%t.png 2>&1 | FileCheck %s --check-prefix=PLOT
// PLOT: pit-run: error: no picture: the program builds 0 indices; there is no index 0

func.func @add(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = linalg.add ins(%a, %b : tensor<?x4xf32>, tensor<?x4xf32>) outs(%a : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
func.func @two(%a: f32) -> (f32, f32) {
  return %a, %a : f32, f32
}
