//===- ScanKernelsAvx512.c - Inner loops for AVX-512 ----------------------===//
//
// The build compiles this file for its instruction set.
//
//===----------------------------------------------------------------------===//

#define KERNELS pit_scan_kernels_avx512
#include "ScanKernels.inc"
