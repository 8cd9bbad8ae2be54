// REQUIRES: pit-run, pit-fake-cuda, ptxas
// A program for sm_90a holds the kernels that run where tensors do not suit TMA as PTX of
// their own, which is loaded when one of them is started first.
// RUN: pit-compile %s --target=cuda --chip=sm_90a -o %t.so
// RUN: env PIT_FAKE_CUDA_TRACE=1 pit-run %t.so --cuda-library=%pit_fake_cuda --repeat=2 \
// RUN:   --arg='zeros(256x64,f16)' --arg='zeros(64x256,f16)' --arg='zeros(256x256,f16)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALIGNED --implicit-check-not='fake: {{link|load}}' --implicit-check-not='launch f_kernel{{ }}'
// ALIGNED: fake: load a cubin
// ALIGNED: fake: launch f_kernel_hopper
// ALIGNED: fake: launch f_kernel_hopper

// Rows of 14 and 30 bytes; each element of a copy of B would be used once.
// RUN: env PIT_FAKE_CUDA_TRACE=1 pit-run %t.so --cuda-library=%pit_fake_cuda --repeat=2 \
// RUN:   --arg='zeros(1x7,f16)' --arg='zeros(7x15,f16)' --arg='zeros(1x15,f16)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ROWS --implicit-check-not='fake: {{link|load}}' --implicit-check-not=f_kernel_hopper
// ROWS: fake: link PTX
// ROWS: fake: load a cubin
// ROWS: fake: launch f_kernel{{ }}
// ROWS: fake: launch f_kernel{{ }}

// Who asks for an artifact, or for a form, gets all kernels in one.
// RUN: pit-compile %s --target=cuda --chip=sm_90a --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: pit-compile %s --target=cuda --chip=sm_90a --device-code=cubin --emit=mlir-llvm | FileCheck %s --check-prefix=ONE
// PTX-DAG: .entry f_kernel(
// PTX-DAG: .entry f_kernel_hopper(
// ONE-NOT: pit_fallback_image
// RUN: not pit-compile %s --target=cuda --chip=sm_90a --emit=ptx --pipeline=device-code=auto 2>&1 | FileCheck %s --check-prefix=AUTO
// AUTO: error: the pipeline's device-code is not what is to be emitted
func.func @f(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}
