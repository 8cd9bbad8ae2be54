//===- ScanKernelsAvx2.c - Inner loops for AVX2 ---------------------------===//
//
// The build compiles this file for its instruction set.
//
//===----------------------------------------------------------------------===//

#define KERNELS pit_scan_kernels_avx2
#include "ScanKernels.inc"
