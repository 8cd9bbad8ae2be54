//===- CpuFeatures.h - What a program needs of the CPU --------------------===//

#ifndef PIT_LIB_RUNTIME_CORE_CPUFEATURES_H
#define PIT_LIB_RUNTIME_CORE_CPUFEATURES_H

#include "Internal.h"

/// Checks that this machine has all the features of a list "a\0b\0\0".
pit_status pit_cpu_check(pit_context *context, const char *names);

#endif // PIT_LIB_RUNTIME_CORE_CPUFEATURES_H
