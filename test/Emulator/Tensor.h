//===- Tensor.h - Shared memory, as tensor instructions take it -----------===//

#ifndef PIT_TEST_EMULATOR_TENSOR_H
#define PIT_TEST_EMULATOR_TENSOR_H

#include "Machine.h"
#include "TensorMemory.h"

static inline tensor_shared emu_tensor_shared(const emu_warp *w) {
  return (tensor_shared){.bytes = (uint8_t *)w->block->shared,
                         .size = w->block->shared_bytes,
                         .proxy = w->block->proxy,
                         .warp = w->number,
                         .races = w->block->cluster->races,
                         .block = w->block->rank,
                         .race_warp =
                             w->block->rank * w->block->warp_count + w->number};
}

#endif // PIT_TEST_EMULATOR_TENSOR_H
