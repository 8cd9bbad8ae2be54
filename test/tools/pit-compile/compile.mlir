// Each kind of artifact.

// RUN: pit-compile %s --emit=mlir | FileCheck %s --check-prefix=MLIR
// MLIR: func.func @matmul(
// MLIR: pit.forall
// MLIR: pit.for

// RUN: pit-compile %s --emit=mlir-llvm --explain 2>%t.err | FileCheck %s --check-prefix=DIALECT
// RUN: FileCheck %s --check-prefix=EXPLAIN < %t.err
// DIALECT: llvm.func @pit_matmul(
// EXPLAIN: compile.mlir:{{[0-9]+:[0-9]+}}: remark: linalg.matmul: {{.+}}

// RUN: pit-compile %s --target=cuda --chip=sm_90a --emit=ptx --explain -o %t.ptx 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: compile.mlir:{{[0-9]+:[0-9]+}}: remark: linalg.matmul: {{.+}}
// SCHEDULE: compile.mlir:{{[0-9]+:[0-9]+}}: remark: kernel matmul_kernel{{.*}} has the portable schedule only, not Hopper's: {{.+}}

// RUN: pit-compile %s --emit=llvm --cpu=x86-64-v3 --features=+f16c,-avx2 -o - | FileCheck %s --check-prefix=LLVM
// LLVM: define {{.*}}i32 @pit_matmul(ptr
// LLVM: "target-cpu"="x86-64-v3" "target-features"="+f16c,-avx2"

// The width of vectors follows the cpu.
// RUN: pit-compile %s --emit=llvm --cpu=x86-64-v4 | FileCheck %s --check-prefix=WIDE
// RUN: pit-compile %s --emit=llvm --cpu=x86-64-v3 | FileCheck %s --check-prefix=MIDDLE
// RUN: pit-compile %s --emit=llvm --cpu=x86-64-v2 | FileCheck %s --check-prefix=NARROW
// WIDE: fmul {{.*}}<16 x float>
// MIDDLE-NOT: <16 x float>
// MIDDLE: fmul {{.*}}<8 x float>
// NARROW-NOT: <{{8|16}} x float>
// NARROW: fmul {{.*}}<4 x float>

// Without OpenMP nothing calls its library.
// RUN: pit-compile %s --emit=llvm --no-openmp | FileCheck %s --check-prefix=SEQUENTIAL
// RUN: pit-compile %s --emit=llvm | FileCheck %s --check-prefix=PARALLEL
// SEQUENTIAL-NOT: {{omp_|__kmpc}}
// PARALLEL: pit_rt_omp_fork_call
// PARALLEL-NOT: __kmpc

// Names of files that are not given.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && pit-compile %s && pit-compile %s --emit=obj
// RUN: llvm-readelf --file-headers %t.dir/compile.so | FileCheck %s --check-prefix=SO
// RUN: llvm-readelf --file-headers %t.dir/compile.o | FileCheck %s --check-prefix=OBJ
// SO: DYN (Shared object file)
// OBJ: REL (Relocatable file)

// A shared library exports the entry points and no more, and knows what it
// needs.
// RUN: llvm-nm -D --defined-only %t.dir/compile.so | FileCheck %s --check-prefix=EXPORTS
// RUN: llvm-readelf --dynamic %t.dir/compile.so | FileCheck %s --check-prefix=NEEDED
// EXPORTS-NOT: {{ [A-Z] }}
// EXPORTS: T pit_experts
// EXPORTS-NEXT: D pit_experts_manifest
// EXPORTS-NEXT: T pit_matmul
// EXPORTS-NEXT: D pit_matmul_manifest
// EXPORTS-NEXT: V pit_program_entries
// EXPORTS-NEXT: V pit_program_features
// EXPORTS-NOT: {{ [A-Z] }}
// NEEDED: (NEEDED) {{.*}}libpit_runtime.so
// NEEDED-NOT: (NEEDED) {{.*}}libomp

// A header describes the entry points.
// RUN: pit-compile %s --emit=header -o %t.h
// RUN: FileCheck %s --check-prefix=HEADER < %t.h
// HEADER: #ifndef PIT_PROGRAM_COMPILE_H
// HEADER: // matmul
// HEADER-NEXT: //   ins[0]: f32[?, ?]
// HEADER-NEXT: //   ins[1]: f32[?, 64]
// HEADER-NEXT: //   outs[0]: f32[dim 0 of arg 0, 64]
// HEADER-NEXT: //   requires dim 0 of arg 1 == dim 1 of arg 0
// HEADER-NEXT: int32_t pit_matmul(pit_context *context, const pit_value *ins,
// HEADER: extern const struct pit_manifest pit_matmul_manifest;
// HEADER: // experts
// HEADER-NEXT: //   ins[0]: const pit_index * of axis 0, micro_tile = [1, whole]
// HEADER-NEXT: //   ins[1]: bf16[?, 16]
// HEADER-NEXT: //   ins[2]: bool, a tensor of rank 0
// HEADER-NEXT: //   outs[0]: bf16[dim 0 of arg 1, 16]

func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %s = pit.sparse %a : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x64xf32>)
         outs(%c : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

func.func @experts(%i: !pit.index<micro_tile = [1, *], axis = 0>, %x: tensor<?x16xbf16>, %p: i1) -> tensor<?x16xbf16> {
  return %x : tensor<?x16xbf16>
}
