//===- Memory.c - The memory of the emulated device -----------------------===//

#include "Memory.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 512, POISON = 0xCB };

/// Sorted by their beginnings.
static emu_allocation *allocations;
static size_t count, capacity, used;

/// How many allocations begin at an address or before it.
static size_t upper_bound(uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (allocations[middle].begin <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool insert(emu_allocation made) {
  if (count == capacity) {
    size_t room = capacity ? 2 * capacity : 64;
    emu_allocation *moved = realloc(allocations, room * sizeof(*moved));
    if (!moved)
      return false;
    allocations = moved;
    capacity = room;
  }
  size_t at = upper_bound(made.begin);
  memmove(allocations + at + 1, allocations + at,
          (count - at) * sizeof(*allocations));
  allocations[at] = made;
  ++count;
  return true;
}

static uint64_t make(size_t bytes, size_t room, uint64_t base) {
  if (bytes == 0 || bytes > room || used > room - bytes)
    return 0;
  size_t size = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  char *host = aligned_alloc(ALIGNMENT, size);
  if (!host)
    return 0;
  memset(host, POISON, size);
  uint64_t begin = (uintptr_t)host + base;
  if (!insert((emu_allocation){begin, bytes, host, true})) {
    free(host);
    return 0;
  }
  used += bytes;
  return begin;
}

uint64_t emu_memory_new(size_t bytes, size_t room) {
  return make(bytes, room, EMU_DEVICE_BASE);
}

uint64_t emu_memory_new_shared(size_t bytes, size_t room) {
  return make(bytes, room, 0);
}

bool emu_memory_register(void *memory, size_t bytes) {
  return insert((emu_allocation){(uintptr_t)memory, bytes, memory, false});
}

bool emu_memory_free(uint64_t address) {
  size_t at = upper_bound(address);
  if (at == 0 || allocations[at - 1].begin != address)
    return false;
  emu_allocation *freed = &allocations[at - 1];
  if (freed->is_owned) {
    used -= freed->bytes;
    free(freed->host);
  }
  memmove(freed, freed + 1, (count - at) * sizeof(*freed));
  if (--count == 0) {
    free(allocations);
    allocations = NULL;
    capacity = 0;
  }
  return true;
}

size_t emu_memory_used(void) { return used; }

const emu_allocation *emu_memory_before(uint64_t address) {
  size_t at = upper_bound(address);
  return at > 0 ? &allocations[at - 1] : NULL;
}

const emu_allocation *emu_memory_find(uint64_t address) {
  const emu_allocation *found = emu_memory_before(address);
  return found && address - found->begin < found->bytes ? found : NULL;
}

char *emu_memory_host(uint64_t address, size_t bytes) {
  if (address < EMU_DEVICE_BASE)
    return (char *)(uintptr_t)address;
  const emu_allocation *found = emu_memory_find(address);
  if (!found || bytes > found->bytes - (address - found->begin))
    return NULL;
  return found->host + (address - found->begin);
}
