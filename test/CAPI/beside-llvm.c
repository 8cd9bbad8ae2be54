//===- beside-llvm.c - The compiler beside other copies of LLVM -----------===//
//
// One is LLVM's own library, of the version that the compiler contains, too.
// The other exports symbols of LLVM and MLIR without versions. They come before
// the compiler in the order in which the loader looks symbols up:
//
// RUN: %cc -shared -fPIC %S/Inputs/other_llvm.c -o %t.so
// RUN: %cc %pit_includes %s -o %t -rdynamic %t.so %llvm_lib %pit_libs
// RUN: %t | FileCheck %s
//
// After it, in a program whose code is not position-independent:
// RUN: %cc %pit_includes %s -o %t -fno-pie -no-pie %pit_libs %t.so %llvm_lib
// RUN: %t | FileCheck %s
//
// The compiler exports its C interfaces alone, pit's and MLIR's, and needs no
// LLVM.
// RUN: llvm-nm -D --defined-only -j %pit_lib_dir/libPITCompiler.so > %t.all
// RUN: grep -Ev "^(mlir|pit)[A-Z]" %t.all > %t.nm
// RUN: FileCheck %s --check-prefix=EXPORTS --input-file=%t.nm
// RUN: llvm-readobj --needed-libs %pit_lib_dir/libPITCompiler.so > %t.needed
// RUN: FileCheck %s --check-prefix=NEEDED --input-file=%t.needed
//
//===----------------------------------------------------------------------===//

#include "pit-c/Compile.h"
#include "pit-runtime/Abi.h"
#include "pit-runtime/Runtime.h"

#include <stdio.h>
#include <string.h>

// LLVM's C interface, as far as it is used here.
typedef struct LLVMOpaqueContext *LLVMContextRef;
typedef struct LLVMOpaqueModule *LLVMModuleRef;
LLVMContextRef LLVMContextCreate(void);
void LLVMContextDispose(LLVMContextRef context);
LLVMModuleRef LLVMModuleCreateWithNameInContext(const char *name,
                                                LLVMContextRef context);
char *LLVMPrintModuleToString(LLVMModuleRef module);
void LLVMDisposeMessage(char *message);
void LLVMDisposeModule(LLVMModuleRef module);

int other_llvm_use(void);

static void use_llvm(void) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("mine", context);
  char *text = LLVMPrintModuleToString(module);
  printf("%s", text);
  LLVMDisposeMessage(text);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
}

/// Compiles a program that runs on several threads, and runs it.
static int use_pit(void) {
  static const char source[] =
      "func.func @f(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
      "  %s = pit.sparse %x : tensor<64x64xf32>\n"
      "  %z = arith.constant dense<0.0> : tensor<64x64xf32>\n"
      "  %r = linalg.matmul ins(%s, %x : tensor<64x64xf32>, "
      "tensor<64x64xf32>)\n"
      "         outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>\n"
      "  return %r : tensor<64x64xf32>\n"
      "}\n";
  static float x[64 * 64], y[64 * 64];
  for (int i = 0; i < 64; ++i)
    x[i * 65] = 2;
  int64_t shape[] = {64, 64};
  DLTensor in = {.data = x,
                 .device = {kDLCPU, 0},
                 .ndim = 2,
                 .dtype = {kDLFloat, 32, 1},
                 .shape = shape};
  DLTensor out = in;
  out.data = y;
  const pit_value ins[] = {{.tensor = &in}};
  DLTensor *outs[] = {&out};

  pit_compiler *compiler;
  pit_compile_options options = PIT_COMPILE_OPTIONS;
  pit_program *program = NULL;
  pit_context *context;
  pit_context_options threads = {.threads = 2};
  if (pit_compiler_create(&compiler) != PIT_OK ||
      pit_context_create(&threads, &context) != PIT_OK)
    return 1;
  if (pit_compile_program(compiler, source, strlen(source), "f.mlir", &options,
                          &program) != PIT_OK) {
    printf("%s", pit_compiler_diagnostics(compiler));
    return 1;
  }
  pit_status status = pit_entry_run(context, pit_program_entry_at(program, 0),
                                    ins, 1, outs, 1, NULL);
  printf("status %d, last %g\n", status, y[64 * 64 - 1]);
  pit_program_close(program);
  pit_context_destroy(context);
  pit_compiler_destroy(compiler);
  return 0;
}

int main(void) {
  // Of code that is not position-independent the address is one in this
  // program.
  void *volatile taken = (void *)&pit_rt_enter;
  (void)taken;
  use_llvm();
  if (use_pit())
    return 1;
  printf("other %d\n", other_llvm_use());
  use_llvm();
  return use_pit();
}

// CHECK: ModuleID = 'mine'
// CHECK: status 0, last 4
// CHECK: other 101
// CHECK: ModuleID = 'mine'
// CHECK: status 0, last 4

// EXPORTS-NOT: {{.}}
// EXPORTS: pit_compile_program
// EXPORTS-NEXT: pit_compile_to_file
// EXPORTS-NEXT: pit_compile_to_memory
// EXPORTS-NEXT: pit_compiler_create
// EXPORTS-NEXT: pit_compiler_destroy
// EXPORTS-NEXT: pit_compiler_diagnostics
// EXPORTS-NEXT: pit_free
// EXPORTS-NOT: {{.}}

// NEEDED-NOT: {{LLVM|MLIR}}
// NEEDED: libpit_runtime.so
// NEEDED-NOT: {{LLVM|MLIR}}
