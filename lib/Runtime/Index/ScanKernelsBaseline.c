//===- ScanKernelsBaseline.c - Inner loops for whatever the build targets -===//
//
// The build compiles this file for its instruction set.
//
//===----------------------------------------------------------------------===//

#define KERNELS pit_scan_kernels_baseline
#include "ScanKernels.inc"
