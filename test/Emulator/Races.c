//===- Races.c - Accesses of shared memory that nothing orders ------------===//

#include "Races.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4, ALL_BYTES = (1 << WORD) - 1 };

/// The last write of a word: 0 is no release of any warp.
typedef struct last_write {
  uint32_t clock;
  uint16_t warp;
  uint8_t bytes, is_atomic; ///< which bytes of the word
} last_write;

typedef struct sync {
  uint64_t object;
  uint32_t *clocks;
} sync;

struct races {
  uint32_t warps, words; ///< of all blocks; of one
  uint32_t *clocks;      ///< [warp][what it knows of each warp]
  last_write *writes;    ///< [block][word]
  uint32_t *reads;       ///< [block][word][warp]; 0: none since the last write
  sync *syncs;
  uint32_t count, room;
};

races *races_new(uint32_t blocks, uint32_t warps_per_block,
                 uint32_t shared_bytes) {
  races *r = calloc(1, sizeof(*r));
  if (!r)
    return NULL;
  r->warps = blocks * warps_per_block;
  r->words = shared_bytes / WORD + 1;
  const size_t words = (size_t)blocks * r->words;
  r->clocks = calloc((size_t)r->warps * r->warps, sizeof(*r->clocks));
  r->writes = calloc(words, sizeof(*r->writes));
  r->reads = calloc(words * r->warps, sizeof(*r->reads));
  if (!r->clocks || !r->writes || !r->reads) {
    races_free(r);
    return NULL;
  }
  for (uint32_t w = 0; w < r->warps; ++w)
    r->clocks[w * r->warps + w] = 1;
  return r;
}

void races_free(races *r) {
  if (!r)
    return;
  for (uint32_t n = 0; n < r->count; ++n)
    free(r->syncs[n].clocks);
  free(r->syncs);
  free(r->clocks);
  free(r->writes);
  free(r->reads);
  free(r);
}

static const char *access_word(races *r, uint32_t warp, size_t word,
                               uint8_t bytes, race_access access,
                               uint32_t *other) {
  const uint32_t *known = r->clocks + (size_t)warp * r->warps;
  last_write *last = &r->writes[word];
  uint32_t *reads = r->reads + word * r->warps;
  if (last->clock > known[last->warp] && (last->bytes & bytes) &&
      !(last->is_atomic && access == RACE_ATOMIC)) {
    *other = last->warp;
    return access == RACE_READ
               ? "nothing orders it after a write of another warp"
               : "nothing orders it after a write of another warp";
  }
  if (access == RACE_READ) {
    // Of parts of a word it is not kept who read which.
    if (bytes == ALL_BYTES)
      reads[warp] = known[warp];
    return NULL;
  }
  if (bytes == ALL_BYTES) {
    for (uint32_t w = 0; w < r->warps; ++w)
      if (w != warp && reads[w] > known[w]) {
        *other = w;
        return "nothing orders it after a read of another warp";
      }
    memset(reads, 0, r->warps * sizeof(*reads));
  }
  *last =
      (last_write){known[warp], (uint16_t)warp, bytes, access == RACE_ATOMIC};
  return NULL;
}

const char *races_access(races *r, uint32_t warp, uint32_t block,
                         uint32_t address, uint32_t bytes, race_access access,
                         uint32_t *other) {
  const uint32_t end = address + bytes;
  for (uint32_t at = address; at < end && at / WORD < r->words;) {
    uint32_t next = (at / WORD + 1) * WORD, part = 0;
    if (next > end)
      next = end;
    for (uint32_t byte = at; byte < next; ++byte)
      part |= 1U << byte % WORD;
    const char *why = access_word(r, warp, (size_t)block * r->words + at / WORD,
                                  (uint8_t)part, access, other);
    if (why)
      return why;
    at = next;
  }
  return NULL;
}

static sync *find(const races *r, uint64_t object) {
  for (uint32_t n = 0; n < r->count; ++n)
    if (r->syncs[n].object == object)
      return &r->syncs[n];
  return NULL;
}

/// Makes `to` know what `from` does.
static void join(uint32_t *to, const uint32_t *from, uint32_t warps) {
  for (uint32_t w = 0; w < warps; ++w)
    if (to[w] < from[w])
      to[w] = from[w];
}

bool races_release(races *r, uint32_t warp, uint64_t object) {
  sync *s = find(r, object);
  if (!s) {
    if (r->count == r->room) {
      const uint32_t room = r->room ? 2 * r->room : 16;
      sync *moved = realloc(r->syncs, room * sizeof(*moved));
      if (!moved)
        return false;
      r->syncs = moved;
      r->room = room;
    }
    s = &r->syncs[r->count];
    *s = (sync){object, calloc(r->warps, sizeof(*s->clocks))};
    if (!s->clocks)
      return false;
    ++r->count;
  }
  uint32_t *known = r->clocks + (size_t)warp * r->warps;
  join(s->clocks, known, r->warps);
  ++known[warp];
  return true;
}

void races_acquire(races *r, uint32_t warp, uint64_t object) {
  const sync *s = find(r, object);
  if (s)
    join(r->clocks + (size_t)warp * r->warps, s->clocks, r->warps);
}
