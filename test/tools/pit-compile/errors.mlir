// RUN: not pit-compile 2>&1 | FileCheck %s --check-prefix=NO-FILE
// NO-FILE: pit-compile: error: no input file
// NO-FILE-NEXT: Try 'pit-compile --help'.
// RUN: pit-compile --help | FileCheck %s --check-prefix=HELP
// HELP: usage: pit-compile FILE.mlir
// RUN: not pit-compile %s --emit=elf 2>&1 | FileCheck %s --check-prefix=EMIT
// EMIT: pit-compile: error: --emit=elf: it must be mlir, mlir-llvm, llvm, obj, so, header, ptx or cubin
// RUN: not pit-compile %s --emit=ptx 2>&1 | FileCheck %s --check-prefix=PTX
// PTX: error: PTX and cubins are of target cuda, not of 'cpu'
// RUN: not pit-compile %t.none 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: pit-compile: error: cannot read '{{.*}}none': No such file or directory
// RUN: not pit-compile %s --cpu=abacus 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: cpu 'abacus' is not known for
// RUN: not pit-compile %s --features=abacus 2>&1 | FileCheck %s --check-prefix=FEATURE
// FEATURE: error: feature 'abacus' is not known for {{.*}}; it must be + or - and a name
// RUN: not pit-compile %s --target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: target 'abacus' is not supported; it must be cpu
// RUN: not pit-compile %s --target=cuda --chip=abacus 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: chip 'abacus' is not known; known are sm_80, {{.*}}sm_90, sm_90a,
// RUN: not pit-compile %s --target=cuda --chip=sm_999 2>&1 | FileCheck %s --check-prefix=NEWER
// NEWER: error: chip 'sm_999' is not known
// RUN: not pit-compile %s --target=cuda --chip=sm_75 2>&1 | FileCheck %s --check-prefix=OLDER
// RUN: not pit-compile %s --target=cuda --pipeline=chip=sm_75 2>&1 | FileCheck %s --check-prefix=OLDER
// OLDER: error: chip 'sm_75' is not known; known are sm_80,
// RUN: not pit-compile %s --emit=obj -o /nowhere/f.o 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: error: cannot write '/nowhere/f.o': No such file or directory
// RUN: not pit-compile %s -o /nowhere/f.so 2>&1 | FileCheck %s --check-prefix=LINK
// LINK: error: cannot link '/nowhere/f.so' with {{.+}}: {{.+}}
// RUN: env PATH=/nowhere %pit_compile %s --emit=obj -o %t.o
// RUN: not env PATH=/nowhere %pit_compile %s -o %t.so 2>&1 | FileCheck %s --check-prefix=LINKER
// LINKER: error: no linker: neither cc nor clang-{{[0-9]+}} is in PATH

// An error leaves no file behind.
// RUN: rm -f %t.so && echo 'func.func @f(%%a: tensor<*xf32>) { return }' > %t.mlir
// RUN: not pit-compile %t.mlir -o %t.so 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: not ls %t.so
// PROGRAM: {{.*}}.mlir:1:1: error: 'func.func' op argument 0 is of type 'tensor<*xf32>'; an entry point takes

// What MLIR's verifier ends the process on.
// RUN: echo 'func.func @f(%%a: tensor<f32>, %%b: tensor<f32>) -> tensor<f32> { %%r = linalg.transpose ins(%%a : tensor<f32>) outs(%%b : tensor<f32>) permutation = [] return %%r : tensor<f32> }' > %t.mlir
// RUN: not pit-compile %t.mlir -o %t.so 2>&1 | FileCheck %s --check-prefix=TRANSPOSE
// TRANSPOSE: {{.*}}.mlir:1:{{.*}}: error: 'linalg.transpose' op is of 'tensor<f32>', and MLIR transposes one dimension or more [U5]; linalg.copy takes one element

func.func @f(%a: f32) -> f32 {
  return %a : f32
}
