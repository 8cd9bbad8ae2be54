//===- TensorMemory.c - What tensor instructions read and write -----------===//

#include "TensorMemory.h"

const char *tensor_check_shared(const tensor_shared *shared, uint32_t address,
                                uint32_t size, uint32_t alignment) {
  if (address % alignment != 0)
    return alignment == 8     ? "shared address is not a multiple of 8"
           : alignment == 16  ? "shared address is not a multiple of 16"
           : alignment == 128 ? "shared address is not a multiple of 128"
                              : "shared address is not aligned";
  return size > shared->size || address > shared->size - size
             ? "shared address is outside of the block's memory"
             : NULL;
}

const char *tensor_check_async_read(const tensor_shared *shared,
                                    uint32_t address, uint32_t size,
                                    uint32_t alignment) {
  const char *error = tensor_check_shared(shared, address, size, alignment);
  if (!error && shared->proxy)
    error = tensor_proxy_read(shared->proxy, shared->warp, address, size);
  uint32_t other;
  if (!error && shared->races)
    error = races_access(shared->races, shared->race_warp, shared->block,
                         address, size, RACE_READ, &other);
  return error;
}

void tensor_note_write(const tensor_shared *shared, uint32_t address,
                       uint32_t size, bool async) {
  if (!shared->proxy)
    return;
  if (async)
    tensor_proxy_write_async(shared->proxy, address, size);
  else
    tensor_proxy_write(shared->proxy, shared->warp, address, size);
}

uint32_t tensor_swizzle(uint32_t address, uint32_t span) {
  uint32_t chunks = span / 16;
  return chunks > 1 ? address ^ (address >> 7 & (chunks - 1)) << 4 : address;
}
