//===- TensorMma.h - mma.sync, ldmatrix and stmatrix ----------------------===//
//
// Registers of a warp are arrays [register][lane], in the order in which the
// instruction names them.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_TENSORMMA_H
#define PIT_TEST_EMULATOR_TENSORMMA_H

#include "TensorMemory.h"
#include "TensorTypes.h"

enum { TENSOR_WARP = 32 };

/// mma.sync.aligned.m16n8kK.row.col{.satfinite}.D.A.B.C. K times the bits of an
/// element is 128 (a has 2 registers, b has 1) or 256 (4 and 2).
typedef struct tensor_mma {
  uint32_t k;
  tensor_type a, b; ///< the same, or both of 8-bit integers or both of fp8
  tensor_type sum;  ///< TENSOR_F32, or TENSOR_S32 of integers
  bool saturate;    ///< .satfinite, of integers
} tensor_mma;

/// d = a * b + c. Floats: products and their sum with c are exact up to the
/// rounding of double, and are rounded once, to float. (A device truncates
/// more: results differ in the last bits of a float.) `d` may be `c`.
const char *tensor_mma_run(const tensor_mma *op,
                           const uint32_t (*a)[TENSOR_WARP],
                           const uint32_t (*b)[TENSOR_WARP],
                           const uint32_t (*c)[TENSOR_WARP],
                           uint32_t (*d)[TENSOR_WARP]);

/// ldmatrix.sync.aligned.m8n8.xCOUNT{.trans}.shared.b16: `count` is 1, 2 or 4.
/// Lane i has the address of row i % 8 of matrix i / 8.
const char *tensor_ldmatrix(const tensor_shared *shared, uint32_t count,
                            bool transposed,
                            const uint32_t addresses[TENSOR_WARP],
                            uint32_t (*registers)[TENSOR_WARP]);

/// stmatrix.sync.aligned.m8n8.xCOUNT{.trans}.shared.b16.
const char *tensor_stmatrix(const tensor_shared *shared, uint32_t count,
                            bool transposed,
                            const uint32_t addresses[TENSOR_WARP],
                            const uint32_t (*registers)[TENSOR_WARP]);

#endif // PIT_TEST_EMULATOR_TENSORMMA_H
