//===- Memory.h - The memory of the emulated device -----------------------===//
//
// The device's addresses are no addresses of the host: a host that reads what
// is behind one crashes, as on a machine with a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_MEMORY_H
#define PIT_TEST_EMULATOR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Where parts of the generic address space begin.
#define EMU_DEVICE_BASE (UINT64_C(1) << 57)
#define EMU_SHARED_BASE (UINT64_C(1) << 58)
#define EMU_LOCAL_BASE (UINT64_C(1) << 59)
#define EMU_PARAM_BASE (UINT64_C(1) << 60)

typedef struct emu_allocation {
  uint64_t begin, bytes;
  char *host;
  bool is_owned; ///< freed with the allocation
} emu_allocation;

/// Allocates memory full of bytes that are no sensible number. 0: there is no
/// room.
uint64_t emu_memory_new(size_t bytes, size_t room);
/// The same, at an address that is the host's, too.
uint64_t emu_memory_new_shared(size_t bytes, size_t room);
/// Makes memory of the host one of the device, at the same address.
bool emu_memory_register(void *memory, size_t bytes);
/// False: no allocation begins there.
bool emu_memory_free(uint64_t address);
size_t emu_memory_used(void);

/// The allocation that an address is in; NULL: there is none. It stays until
/// one is made or freed.
const emu_allocation *emu_memory_find(uint64_t address);
/// The allocation that ends last before an address, for messages.
const emu_allocation *emu_memory_before(uint64_t address);
/// The host's memory behind an address of the device, or, if there is none,
/// the same address, which is the host's then. NULL: it has no such bytes.
char *emu_memory_host(uint64_t address, size_t bytes);

#endif // PIT_TEST_EMULATOR_MEMORY_H
