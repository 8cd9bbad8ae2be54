//===- TensorMemory.h - What tensor instructions read and write -----------===//
//
// The functions of Tensor*.h are instructions of PTX, as pure functions of C:
// they know registers and memory, and nothing of threads, time or parsing. Each
// returns NULL, or a text that says what the program did wrong: its results are
// then undefined. Section titles in comments are those of the PTX ISA.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_TENSORMEMORY_H
#define PIT_TEST_EMULATOR_TENSORMEMORY_H

#include "Races.h"
#include "TensorProxy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The shared memory of a block. Addresses of shared::cta are offsets into it.
/// Whatever the block does not own before its first byte is part of it, so that
/// swizzles, which depend on addresses, are those of the device.
typedef struct tensor_shared {
  uint8_t *bytes;
  uint32_t size;
  tensor_proxy *proxy; ///< NULL: which proxy wrote is not checked
  uint32_t warp;       ///< that executes the instruction, for the proxy
  races *races;        ///< NULL: nor which accesses nothing orders
  uint32_t block;      ///< in the cluster, for the races
  uint32_t race_warp;  ///< the warp's number there
} tensor_shared;

/// The device's memory. `find` gives the place of `size` bytes (at least 1) at
/// an address of the device; NULL: they are not all part of one allocation.
typedef struct tensor_global {
  void *(*find)(void *context, uint64_t address, uint64_t size);
  void *context;
} tensor_global;

/// NULL if `size` bytes at `address` lie in the block's memory and the address
/// is a multiple of `alignment`.
const char *tensor_check_shared(const tensor_shared *shared, uint32_t address,
                                uint32_t size, uint32_t alignment);

/// The same, and that the async proxy may read what is there.
const char *tensor_check_async_read(const tensor_shared *shared,
                                    uint32_t address, uint32_t size,
                                    uint32_t alignment);
/// Says that the async proxy, or this warp by the generic one, has written.
void tensor_note_write(const tensor_shared *shared, uint32_t address,
                       uint32_t size, bool async);

/// Where the byte at `address` lies, if 16-byte chunks are swizzled over
/// `span` bytes (0 or 16: none, 32, 64 or 128). By the address alone: bits 4 to
/// 6 are xored with bits 7 to 9, as many as the span has.
uint32_t tensor_swizzle(uint32_t address, uint32_t span);

#endif // PIT_TEST_EMULATOR_TENSORMEMORY_H
