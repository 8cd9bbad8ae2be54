// RUN: env PIT_PTXAS=%S/../../../tools/pit-compile/Inputs/ptxas.sh pit-opt %s --pit-assemble-kernels=device-code=cubin \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CUBIN
// RUN: env PIT_PTXAS=%S/../../../tools/pit-compile/Inputs/ptxas.sh pit-opt %s --pit-assemble-kernels=device-code=auto \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: env PIT_PTXAS=%S/../../../tools/pit-compile/Inputs/ptxas.sh pit-opt %s --pit-assemble-kernels=device-code=ptx \
// RUN:   | FileCheck %s --check-prefix=PTX
// RUN: env PIT_PTXAS=%S/../../../tools/pit-compile/Inputs/ptxas.sh pit-opt %s --pit-assemble-kernels='device-code=cubin own' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: not env PIT_PTXAS=%t.none pit-opt %s --pit-assemble-kernels=device-code=cubin 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE

// The PTX of sm_90a runs nowhere else.
// CHECK: gpu.binary @pit_kernels {{.*}} bin = "\7FELF for -arch=sm_90a\00\00"
// PTX: gpu.binary @pit_kernels {{.*}} assembly = ".target sm_90a"
gpu.binary @pit_kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = ".target sm_90a">]

// Later GPUs run what was made for sm_80.
// CUBIN: gpu.binary @portable {{.*}} bin = "\7FELF for -arch=sm_80\00\00"
// OWN: gpu.binary @portable {{.*}} assembly = ".target sm_80"
// AUTO: gpu.binary @portable {{.*}} assembly = ".target sm_80"
gpu.binary @portable [#gpu.object<#nvvm.target<chip = "sm_80">, assembly = ".target sm_80">]

// Most programs start no fallback.
// CUBIN: gpu.binary @pit_fallback_kernels {{.*}} bin = "\7FELF for -arch=sm_90a\00\00"
// OWN: gpu.binary @pit_fallback_kernels {{.*}} bin =
// AUTO: gpu.binary @pit_fallback_kernels {{.*}} assembly = ".target sm_90a"
gpu.binary @pit_fallback_kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = ".target sm_90a">]

// NONE: error: cannot make a cubin: there is no ptxas at $PIT_PTXAS, '{{.*}}.none'
