//===- ScanKernelsSelect.c - The kernels this CPU runs best ---------------===//

#include "ScanKernels.h"

const pit_scan_kernels *pit_scan_kernels_select(void) {
#ifdef __x86_64__
  // The features that -march=x86-64-v4 and x86-64-v3, which the kernels are
  // built for, assume.
  if (__builtin_cpu_supports("x86-64-v4"))
    return &pit_scan_kernels_avx512;
  if (__builtin_cpu_supports("x86-64-v3"))
    return &pit_scan_kernels_avx2;
#endif
  return &pit_scan_kernels_baseline;
}
