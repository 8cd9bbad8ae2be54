// A machine that is not known is an error of whichever pass is told of it, and
// the error lists those that are.

// RUN: not pit-opt %s --pit-plan=target=sm_75 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not pit-opt %s --pit-tile-dense=target=sm_75 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: target 'sm_75' is not known; known are the CPUs generic (vectors of 128 bits), avx2 (vectors of 256 bits), avx512 (vectors of 512 bits), amx (vectors of 512 bits) and the GPUs sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100,
// RUN: not pit-opt %s --pit-to-tiles=vector-width=384 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: error: target 'vectors of 384 bits' is not known; known are the CPUs generic (vectors of 128 bits), avx2

// RUN: not pit-opt %s --convert-pit-to-gpu=chip=sm_80a 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: chip 'sm_80a' is not known; known are sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100,

// RUN: not pit-opt %s --pit-form-mainloops=vector-width=1024 2>&1 | FileCheck %s --check-prefix=VECTORS
// RUN: not pit-opt %s --convert-pit-to-scf=vector-width=1024 2>&1 | FileCheck %s --check-prefix=VECTORS
// RUN: not pit-opt %s --pit-vectorize=vector-width=1024 2>&1 | FileCheck %s --check-prefix=VECTORS
// VECTORS: error: no CPU is known with vectors of 1024 bits; known are generic (vectors of 128 bits), avx2 (vectors of 256 bits), avx512 (vectors of 512 bits), amx

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
