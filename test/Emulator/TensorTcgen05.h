//===- TensorTcgen05.h - tcgen05: products into tensor memory -----*- C -*-===//
//
// Tensor memory has 128 lanes of 512 words. An address has the lane in its
// upper half, the column in its lower one. None of it has been measured on a
// device: it is what the PTX ISA says ("TensorCore 5th Generation Family
// Instructions").
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_TENSORTCGEN05_H
#define PIT_TEST_EMULATOR_TENSORTCGEN05_H

#include "TensorMemory.h"
#include "TensorTypes.h"

enum { TENSOR_LANES = 128, TENSOR_COLUMNS = 512 };

/// The tensor memory of a block: word [lane][column]. Blocks allocate columns
/// from 0 on, so that `columns` says which there are.
typedef struct tensor_tcgen05_memory {
  uint32_t (*words)[TENSOR_COLUMNS];
  uint32_t columns;
} tensor_tcgen05_memory;

typedef enum tensor_tcgen05_kind {
  TENSOR_KIND_F16,
  TENSOR_KIND_TF32,
  TENSOR_KIND_F8F6F4
} tensor_tcgen05_kind;

/// tcgen05.mma.cta_group::1 of 128 rows, with both factors in shared memory,
/// dense, and sums of f32: d = a * b, and + d if `adds`. `shape` is the
/// instruction descriptor.
const char *tensor_tcgen05_mma(tensor_tcgen05_kind kind,
                               const tensor_shared *shared,
                               const tensor_tcgen05_memory *memory, uint32_t d,
                               uint64_t a, uint64_t b, uint32_t shape,
                               bool adds);

/// What such an instruction reads of shared memory: NULL, or what is wrong with
/// that.
const char *tensor_tcgen05_mma_reads(tensor_tcgen05_kind kind,
                                     const tensor_shared *shared, uint64_t a,
                                     uint64_t b, uint32_t shape);

/// tcgen05.ld.16x256b by warp `warp` of its warpgroup: `registers` registers of
/// each lane, four for each eight columns.
const char *tensor_tcgen05_load(const tensor_tcgen05_memory *memory,
                                uint32_t warp, uint32_t address,
                                uint32_t registers, uint32_t (*to)[32]);

#endif // PIT_TEST_EMULATOR_TENSORTCGEN05_H
