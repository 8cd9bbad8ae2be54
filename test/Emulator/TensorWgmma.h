//===- TensorWgmma.h - wgmma.mma_async ------------------------------------===//
//
// Registers of a warpgroup are arrays [register][thread of the warpgroup].
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_TENSORWGMMA_H
#define PIT_TEST_EMULATOR_TENSORWGMMA_H

#include "TensorMemory.h"
#include "TensorTypes.h"

enum { TENSOR_WARPGROUP = 128 };

/// wgmma.mma_async.sync.aligned.m64nNkK{.satfinite}.D.A.B. K is 256 bits.
typedef struct tensor_wgmma {
  uint32_t n; ///< a multiple of 8, up to 256; of integers 8, 24 or one of 16
  tensor_type a, b;
  tensor_type sum;  ///< TENSOR_F32, or TENSOR_S32 of integers
  bool saturate;    ///< .satfinite, of integers
  bool scale_d;     ///< false: d = a * b
  int scale_a;      ///< 1, or -1 to negate a; floats only
  int scale_b;      ///< the same of b
  bool transpose_a; ///< imm-trans-a: m, not k, is contiguous; 16 bits only
  bool transpose_b; ///< imm-trans-b: n, not k, is contiguous
} tensor_wgmma;

/// d += a * b with both factors in shared memory. `d` has N / 2 registers. For
/// the rounding see tensor_mma_run. Nothing is known of time: the memory may be
/// read whenever a device may, from the instruction to the wait for it.
const char *tensor_wgmma_run(const tensor_wgmma *op,
                             const tensor_shared *shared, uint64_t a,
                             uint64_t b, uint32_t (*d)[TENSOR_WARPGROUP]);

/// The same with `a` in 4 registers.
const char *tensor_wgmma_run_registers(const tensor_wgmma *op,
                                       const tensor_shared *shared,
                                       const uint32_t (*a)[TENSOR_WARPGROUP],
                                       uint64_t b,
                                       uint32_t (*d)[TENSOR_WARPGROUP]);

/// The address of an element of a matrix that a descriptor ("Matrix Descriptor
/// Format") describes: the one at `outer` along m or n and `k` along k.
/// `major`: m or n is contiguous. Whether it lies in the block's memory is not
/// checked.
const char *tensor_descriptor_address(uint64_t descriptor, tensor_type type,
                                      bool major, uint32_t outer, uint32_t k,
                                      uint32_t *address);

#endif // PIT_TEST_EMULATOR_TENSORWGMMA_H
