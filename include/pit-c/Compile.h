//===- Compile.h - The compiler behind a C interface --------------*- C -*-===//
//
// From a program on tensors, as text or bytecode of MLIR, to an artifact in
// memory or in a file, or to a program of the runtime in this process. Link
// with libPITCompiler and libpit_runtime.
//
//   pit_compiler *compiler;
//   pit_program *program;
//   if (pit_compiler_create(&compiler) != PIT_OK)
//     ...
//   if (pit_compile_program(compiler, text, strlen(text), "f.mlir", NULL,
//                           &program) != PIT_OK)
//     fputs(pit_compiler_diagnostics(compiler), stderr);
//
//===----------------------------------------------------------------------===//

#ifndef PIT_C_COMPILE_H
#define PIT_C_COMPILE_H

#include "pit-runtime/Program.h"
#include "pit-runtime/Status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A compiler is used by one thread at a time; several may exist.
typedef struct pit_compiler pit_compiler;

/// How to compile. Begin with PIT_COMPILE_OPTIONS, which holds the defaults.
/// Members may be added at the end: `struct_size` says which there are.
typedef struct pit_compile_options {
  size_t struct_size;   ///< sizeof(pit_compile_options)
  const char *target;   ///< "cpu", or "cuda" (or "nvptx"): NVIDIA GPUs
  const char *cpu;      ///< a name that LLVM knows; "native": this machine's
  const char *features; ///< "+avx2,-avx512f"; after the cpu's own
  const char *pipeline; ///< further options of pit-to-cpu or pit-to-cuda, as
                        ///< "dense=true"
  int32_t opt_level;    ///< of LLVM, 0 .. 3
  int32_t openmp;       ///< run parallel loops on several threads
  int32_t explain;   ///< add remarks that say which rules were chosen and why
  const char *entry; ///< compile this function only; "": all public ones
  const char *chip;  ///< of cuda: the oldest GPU, "sm_80" or newer. PTX of an
                     ///< sm_90a runs on that one only
  const char *device_code; ///< of cuda, what a program holds of its kernels:
                           ///< "ptx", which the driver assembles; "cubin", made
                           ///< by ptxas for chip; "auto": a cubin for a chip
                           ///< as sm_90a, if there is ptxas, else PTX
  /// Arrays as the values of marks will be, by which rules are chosen: each the
  /// label of a mark and a .npy file, as "f:0=a.npy"; NULL ends the list. NULL:
  /// none.
  const char *const *samples;
  const char *profile; ///< a file of pit_context_write_profile, by which rules
                       ///< are chosen; "": none
} pit_compile_options;

#define PIT_COMPILE_OPTIONS                                                    \
  {sizeof(pit_compile_options),                                                \
   "cpu",                                                                      \
   "native",                                                                   \
   "",                                                                         \
   "",                                                                         \
   3,                                                                          \
   1,                                                                          \
   0,                                                                          \
   "",                                                                         \
   "sm_80",                                                                    \
   "auto",                                                                     \
   NULL,                                                                       \
   ""}

/// The output to make of a program.
typedef enum pit_emit {
  PIT_EMIT_MLIR = 0,      ///< MLIR at level 3: loops over tiles
  PIT_EMIT_MLIR_LLVM = 1, ///< MLIR in the llvm dialect
  PIT_EMIT_LLVM = 2,      ///< LLVM IR, optimized
  PIT_EMIT_OBJECT = 3,    ///< an object file; link with libpit_runtime, libomp
  PIT_EMIT_SHARED = 4,    ///< a shared library for pit_program_open
  PIT_EMIT_HEADER = 5,    ///< a C header that declares the entry points
  PIT_EMIT_PTX = 6,       ///< of cuda: the kernels as PTX
  PIT_EMIT_CUBIN = 7      ///< of cuda: the kernels, assembled by ptxas for chip
} pit_emit;

/// Makes a compiler.
PIT_RT_EXPORT pit_status pit_compiler_create(pit_compiler **compiler);
/// Programs it compiled stay. NULL is fine.
PIT_RT_EXPORT void pit_compiler_destroy(pit_compiler *compiler);

/// The messages of the last pit_compile_* on this compiler: errors, warnings
/// and, if asked for, remarks, one a line, each with its location. Empty if
/// there was nothing; valid until the next pit_compile_* on the compiler.
PIT_RT_EXPORT const char *
pit_compiler_diagnostics(const pit_compiler *compiler);

/// Compiles the `size` bytes at `source` to an artifact in memory, which
/// pit_free releases; a NUL follows its `*artifact_size` bytes. `name` stands
/// for the source in locations, and for the program in a header. `options` may
/// be NULL.
PIT_RT_EXPORT pit_status
pit_compile_to_memory(pit_compiler *compiler, const void *source, size_t size,
                      const char *name, const pit_compile_options *options,
                      pit_emit emit, void **artifact, size_t *artifact_size);

/// The same to a file; after an error there is none.
PIT_RT_EXPORT pit_status pit_compile_to_file(pit_compiler *compiler,
                                             const void *source, size_t size,
                                             const char *name,
                                             const pit_compile_options *options,
                                             pit_emit emit, const char *path);

/// The same to a program in this process, which may outlive the compiler;
/// pit_program_close releases it.
PIT_RT_EXPORT pit_status pit_compile_program(pit_compiler *compiler,
                                             const void *source, size_t size,
                                             const char *name,
                                             const pit_compile_options *options,
                                             pit_program **program);

/// Releases memory that the compiler gave. NULL is fine.
PIT_RT_EXPORT void pit_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif // PIT_C_COMPILE_H
