//===- Access.c - Registers and addresses ---------------------------------===//

#include "Machine.h"
#include "TensorProxy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// What an instruction's text is on one line.
static void one_line(const emu_instruction *i, char *to, size_t size) {
  size_t used = 0;
  bool blank = false;
  for (uint32_t n = 0; n < i->length && used + 2 < size; ++n) {
    char c = i->text[n];
    if (c == '\n' || c == '\t' || c == ' ') {
      blank = used > 0;
      continue;
    }
    if (blank)
      to[used++] = ' ';
    blank = false;
    to[used++] = c;
  }
  to[used] = '\0';
}

emu_action emu_fault(emu_warp *w, const emu_instruction *i, uint32_t lane,
                     const char *format, ...) {
  const emu_block *b = w->block;
  emu_launch *launch = b->launch;
  if (launch->message[0])
    return EMU_FAULT;
  char what[400], text[200] = "";
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof(what), format, arguments);
  va_end(arguments);
  if (i)
    one_line(i, text, sizeof(text));
  snprintf(launch->message, EMU_MESSAGE_SIZE,
           "%s: line %u, '%s': block (%u, %u, %u), thread %u: %s",
           launch->function->name, i ? i->line : 0, text, b->id[0], b->id[1],
           b->id[2], w->number * EMU_LANES + lane, what);
  return EMU_FAULT;
}

static char *global_place(emu_warp *w, const emu_instruction *i, uint32_t lane,
                          uint64_t address, unsigned bytes) {
  emu_launch *launch = w->block->launch;
  const emu_allocation *found = emu_memory_find(address);
  if (found && bytes <= found->bytes - (address - found->begin)) {
    launch->last = found;
    return found->host + (address - found->begin);
  }
  const emu_allocation *before = emu_memory_before(address);
  if (before && address - before->begin < before->bytes + (1 << 24))
    emu_fault(w, i, lane,
              "%u bytes of global memory at 0x%llx, which is %lld bytes after "
              "the beginning of an allocation of %llu bytes",
              bytes, (unsigned long long)address,
              (long long)(address - before->begin),
              (unsigned long long)before->bytes);
  else
    emu_fault(w, i, lane,
              "%u bytes of global memory at 0x%llx, where nothing is allocated",
              bytes, (unsigned long long)address);
  return NULL;
}

emu_block *emu_shared_block(emu_warp *w, const emu_instruction *i,
                            uint32_t lane, uint64_t address, unsigned bytes,
                            uint32_t *place) {
  emu_block *block = w->block;
  uint64_t at = address >= EMU_SHARED_BASE && address < EMU_LOCAL_BASE
                    ? address - EMU_SHARED_BASE
                    : address;
  uint64_t rank = at >> 24;
  *place = (uint32_t)(at & 0xFFFFFF);
  if (rank > block->cluster->count) {
    emu_fault(w, i, lane, "0x%llx is no address of shared memory",
              (unsigned long long)address);
    return NULL;
  }
  if (rank > 0)
    block = &block->cluster->blocks[rank - 1];
  if (*place < EMU_SHARED_START || *place + bytes > block->shared_bytes) {
    emu_fault(w, i, lane,
              "%u bytes of shared memory at %d; the block has %u bytes", bytes,
              (int)*place - EMU_SHARED_START,
              block->shared_bytes - EMU_SHARED_START);
    return NULL;
  }
  return block;
}

static uint32_t number_in_cluster(const emu_warp *w) {
  return w->block->rank * w->block->warp_count + w->number;
}

bool emu_check_block_race(emu_warp *w, const emu_instruction *i, uint32_t lane,
                          const emu_block *block, uint32_t place,
                          unsigned bytes, race_access access) {
  races *r = w->block->cluster->races;
  uint32_t other = 0;
  const char *why = r ? races_access(r, number_in_cluster(w), block->rank,
                                     place, bytes, access, &other)
                      : NULL;
  if (why)
    emu_fault(w, i, lane, "%u bytes of shared memory at %d: %s, number %u",
              bytes, (int)place - EMU_SHARED_START, why,
              other % w->block->warp_count);
  return !why;
}

bool emu_check_race(emu_warp *w, const emu_instruction *i, uint32_t lane,
                    const char *at, unsigned bytes, race_access access) {
  const emu_block *b = w->block;
  uintptr_t place = (uintptr_t)at - (uintptr_t)b->shared;
  return !b->cluster->races || place >= b->shared_bytes ||
         emu_check_block_race(w, i, lane, b, (uint32_t)place, bytes, access);
}

static uint64_t race_object(int kind, const emu_block *block, uint32_t number) {
  return (uint64_t)kind << 60 | (uint64_t)block->rank << 32 | number;
}

bool emu_release(emu_warp *w, const emu_instruction *i, int kind,
                 const emu_block *block, uint32_t number) {
  races *r = w->block->cluster->races;
  if (!r ||
      races_release(r, number_in_cluster(w), race_object(kind, block, number)))
    return true;
  emu_fault(w, i, 0, "the host is out of memory");
  return false;
}

void emu_acquire(emu_warp *w, int kind, const emu_block *block,
                 uint32_t number) {
  races *r = w->block->cluster->races;
  if (r)
    races_acquire(r, number_in_cluster(w), race_object(kind, block, number));
}

void emu_note_write(const emu_warp *w, const char *to, unsigned bytes) {
  const emu_block *b = w->block;
  uintptr_t at = (uintptr_t)to - (uintptr_t)b->shared;
  if (at < b->shared_bytes)
    tensor_proxy_write(b->proxy, w->number, (uint32_t)at, bytes);
}

char *emu_resolve(emu_warp *w, const emu_instruction *i, uint32_t lane,
                  emu_space space, uint64_t address, unsigned bytes,
                  unsigned align) {
  if (address & (align - 1)) {
    emu_fault(w, i, lane, "the address 0x%llx is no multiple of %u",
              (unsigned long long)address, align);
    return NULL;
  }
  emu_launch *launch = w->block->launch;
  if (space == EMU_GLOBAL || space == EMU_CONST) {
    const emu_allocation *last = launch->last;
    if (last && address - last->begin < last->bytes &&
        bytes <= last->bytes - (address - last->begin))
      return last->host + (address - last->begin);
    return global_place(w, i, lane, address, bytes);
  }
  if (space == EMU_SHARED ||
      (space == EMU_GENERIC && address >= EMU_SHARED_BASE &&
       address < EMU_LOCAL_BASE)) {
    uint32_t place;
    emu_block *block = emu_shared_block(w, i, lane, address, bytes, &place);
    return block ? block->shared + place : NULL;
  }
  if (address >= EMU_PARAM_BASE) {
    uint64_t offset = address - EMU_PARAM_BASE;
    uint32_t size = launch->function->parameter_bytes;
    if (offset + bytes <= size)
      return launch->parameters + offset;
    emu_fault(w, i, lane, "%u bytes at %llu of %u bytes of parameters", bytes,
              (unsigned long long)offset, size);
    return NULL;
  }
  if (address >= EMU_LOCAL_BASE) {
    uint64_t offset = address - EMU_LOCAL_BASE;
    uint32_t size = launch->function->local_bytes;
    if (offset + bytes <= size)
      return w->local + (size_t)lane * size + offset;
    emu_fault(w, i, lane, "%u bytes at %llu of %u bytes of local memory", bytes,
              (unsigned long long)offset, size);
    return NULL;
  }
  if (space != EMU_GENERIC) {
    emu_fault(w, i, lane, "0x%llx is no address of the instruction's space",
              (unsigned long long)address);
    return NULL;
  }
  return global_place(w, i, lane, address, bytes);
}
