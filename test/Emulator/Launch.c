//===- Launch.c - Blocks, warps and their turns ---------------------------===//
//
// Warps take turns, each until it waits or its turn is over. As many blocks as
// the device has room for are there at once, and the blocks of a cluster always
// are: they may wait for each other. If nothing can go on, that is an error,
// which says where each warp waits.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Machine.h"
#include "TensorProxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  TURN_SHIFTS = 13,  ///< random turns are 1 << n instructions, n below this
  TURN = 4096,       ///< instructions
  SPINS = 256,       ///< jumps back before other lanes of the warp get a turn
  STANDSTILL = 3000, ///< rounds without an effect
  POISON = 0xA5
};

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

/// The last letter of a name, as %tid.x, as a number; -1: there is none.
static int dimension_of(const char *name, const char *stem) {
  size_t length = strlen(stem);
  if (strncmp(name, stem, length) != 0 || name[length] != '.' ||
      name[length + 1] < 'x' || name[length + 1] > 'z' || name[length + 2])
    return -1;
  return name[length + 1] - 'x';
}

/// The value of a special register; false: it is not known.
static bool special_value(const emu_warp *w, const char *name, uint32_t lane,
                          uint64_t *value) {
  const emu_block *b = w->block;
  const emu_launch *launch = b->launch;
  uint32_t thread = w->number * EMU_LANES + lane;
  const uint32_t *extents = launch->block;
  const uint32_t position[] = {thread % extents[0],
                               thread / extents[0] % extents[1],
                               thread / extents[0] / extents[1]};
  const uint32_t of_cluster[] = {launch->cluster, 1, 1};
  const uint32_t in_cluster[] = {b->rank, 0, 0};
  const uint32_t clusters[] = {launch->grid[0] / launch->cluster,
                               launch->grid[1], launch->grid[2]};
  const uint32_t cluster[] = {b->id[0] / launch->cluster, b->id[1], b->id[2]};
  const struct {
    const char *stem;
    const uint32_t *values;
  } vectors[] = {{"%tid", position},
                 {"%ntid", extents},
                 {"%ctaid", b->id},
                 {"%nctaid", launch->grid},
                 {"%cluster_ctaid", in_cluster},
                 {"%cluster_nctaid", of_cluster},
                 {"%clusterid", cluster},
                 {"%nclusterid", clusters}};
  for (size_t n = 0; n < sizeof(vectors) / sizeof(*vectors); ++n) {
    int d = dimension_of(name, vectors[n].stem);
    if (d >= 0) {
      *value = vectors[n].values[d];
      return true;
    }
  }
  const uint32_t below = (UINT32_C(1) << lane) - 1;
  const struct {
    const char *name;
    uint64_t value;
  } scalars[] = {
      {"%laneid", lane},
      {"%warpid", w->number},
      {"%nwarpid", b->warp_count},
      {"%smid", 0},
      {"%nsmid", (uint64_t)emu_multiprocessors()},
      {"%gridid", 0},
      {"%cluster_ctarank", b->rank},
      {"%cluster_nctarank", launch->cluster},
      {"%lanemask_eq", UINT32_C(1) << lane},
      {"%lanemask_lt", below},
      {"%lanemask_le", below | UINT32_C(1) << lane},
      {"%lanemask_gt", ~(below | UINT32_C(1) << lane)},
      {"%lanemask_ge", ~below},
      {"%dynamic_smem_size", launch->dynamic_shared},
      {"%total_smem_size", b->shared_bytes - EMU_SHARED_START},
  };
  for (size_t n = 0; n < sizeof(scalars) / sizeof(*scalars); ++n)
    if (strcmp(name, scalars[n].name) == 0) {
      *value = scalars[n].value;
      return true;
    }
  return false;
}

static bool set_specials(emu_warp *w) {
  const emu_function *f = w->block->launch->function;
  for (uint32_t s = 0; s < f->special_count; ++s) {
    const emu_special *special = &f->specials[s];
    const bool is_wide = strcmp(special->name, "%gridid") == 0;
    const emu_operand o = {
        .kind = EMU_VALUE, .place = special->place, .bytes = is_wide ? 8 : 4};
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
      uint64_t value;
      if (!special_value(w, special->name, lane, &value)) {
        emu_fault(w, NULL, lane, "unknown special register %s", special->name);
        return false;
      }
      emu_write(w, &o, lane, value);
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// One warp
//===----------------------------------------------------------------------===//

/// Joins groups that are at the same place, drops empty ones, and picks the one
/// to run: that which is furthest behind, or, while lanes spin, the one that
/// has not run for longest. False: all wait.
static bool pick_group(emu_warp *w, uint32_t *limit) {
  int count = 0;
  for (int n = 0; n < w->groups_count; ++n) {
    emu_group *g = &w->groups[n];
    if (!g->mask)
      continue;
    int k = 0;
    while (k < count && w->groups[k].pc != g->pc)
      ++k;
    if (k < count) {
      w->groups[k].mask |= g->mask;
      w->groups[k].waits = false;
    } else {
      w->groups[count++] = *g;
    }
  }
  w->groups_count = count;
  w->current = -1;
  const bool is_fair = w->spins > SPINS;
  for (int n = 0; n < count; ++n) {
    const emu_group *g = &w->groups[n];
    if (g->waits)
      continue;
    const emu_group *best = w->current < 0 ? NULL : &w->groups[w->current];
    if (!best || (is_fair ? g->ran < best->ran : g->pc < best->pc))
      w->current = n;
  }
  if (w->current < 0)
    return false;
  if (is_fair)
    w->spins = 0;
  *limit = UINT32_MAX;
  for (int n = 0; n < count; ++n)
    if (w->groups[n].pc > w->groups[w->current].pc && w->groups[n].pc < *limit)
      *limit = w->groups[n].pc;
  return true;
}

/// The next random number of a launch.
static uint32_t draw(emu_launch *launch) {
  launch->random ^= launch->random << 13;
  launch->random ^= launch->random >> 7;
  launch->random ^= launch->random << 17;
  return (uint32_t)(launch->random >> 20);
}

/// Runs a warp until it waits, has returned, or its turn is over. Says how many
/// instructions went on.
static bool run_warp(emu_warp *w, int *done) {
  const emu_instruction *code = w->block->launch->function->code;
  const int turn = w->block->launch->random
                       ? 1 << draw(w->block->launch) % TURN_SHIFTS
                       : TURN;
  uint32_t limit;
  *done = 0;
  for (int n = 0; n < w->groups_count; ++n)
    w->groups[n].waits = false;
  while (*done < turn && pick_group(w, &limit)) {
    emu_group *g = &w->groups[w->current];
    const uint32_t mask = g->mask;
    uint32_t pc = g->pc;
    emu_action action = EMU_NEXT;
    g->ran = ++w->block->launch->clock;
    do {
      const emu_instruction *i = &code[pc];
      w->active = mask;
      if (i->is_guarded) {
        uint32_t bits = *(const emu_u32 *)(w->registers + i->guard);
        w->active &= i->guard_is_negated ? ~bits : bits;
      }
      if (w->active) {
        w->pc = pc;
        action = i->run(w, i);
        if (action == EMU_JUMP && w->groups_count == 1 && g->mask == mask) {
          pc = g->pc; // all lanes go the same way
          action = EMU_NEXT;
          ++*done;
          continue;
        }
        if (action != EMU_NEXT)
          break;
      }
      ++pc;
      ++*done;
    } while (pc < limit && *done < turn);
    if (action == EMU_FAULT)
      return false;
    if (action == EMU_JUMP) {
      ++*done;
      continue;
    }
    w->groups[w->current].pc = pc;
    w->groups[w->current].waits = action == EMU_WAIT;
  }
  return true;
}

static bool start_warp(emu_warp *w, emu_block *b, uint32_t number) {
  const emu_launch *launch = b->launch;
  const emu_function *f = launch->function;
  const uint32_t threads =
      launch->block[0] * launch->block[1] * launch->block[2];
  const uint32_t rest = threads - number * EMU_LANES;
  *w = (emu_warp){.block = b, .number = number};
  w->live = rest < EMU_LANES ? (UINT32_C(1) << rest) - 1 : UINT32_MAX;
  w->groups_count = 1;
  w->groups[0] = (emu_group){.mask = w->live};
  w->registers = aligned_alloc(64, ((size_t)f->register_bytes + 127) / 64 * 64);
  w->local = calloc(EMU_LANES, f->local_bytes ? f->local_bytes : 1);
  if (!w->registers || !w->local) {
    emu_fault(w, NULL, 0, "the host is out of memory");
    return false;
  }
  memset(w->registers, POISON, f->register_bytes);
  w->bases[EMU_IN_REGISTERS] = w->registers;
  w->bases[EMU_IN_CONSTANTS] = f->constants;
  return set_specials(w);
}

//===----------------------------------------------------------------------===//
// Blocks and clusters
//===----------------------------------------------------------------------===//

static uint32_t shared_of(const emu_launch *launch) {
  const emu_module *m = launch->function->module;
  const uint32_t align = m->shared_align ? m->shared_align : 1;
  return (m->static_shared + align - 1) / align * align +
         launch->dynamic_shared;
}

static bool start_block(emu_block *b, emu_launch *launch, emu_cluster *cluster,
                        uint32_t rank, const uint32_t id[3]) {
  *b = (emu_block){.launch = launch,
                   .cluster = cluster,
                   .rank = rank,
                   .id = {id[0], id[1], id[2]},
                   .shared_bytes = EMU_SHARED_START + shared_of(launch)};
  const uint32_t threads =
      launch->block[0] * launch->block[1] * launch->block[2];
  b->warp_count = b->live_warps = (threads + EMU_LANES - 1) / EMU_LANES;
  b->shared = aligned_alloc(1024, (b->shared_bytes + 1023u) / 1024 * 1024);
  b->warps = calloc(b->warp_count, sizeof(*b->warps));
  b->proxy = tensor_proxy_new(b->shared_bytes, b->warp_count);
  if (!b->shared || !b->warps || !b->proxy) {
    snprintf(launch->message, EMU_MESSAGE_SIZE, "the host is out of memory");
    return false;
  }
  memset(b->shared, 0xFF, b->shared_bytes); // floats are NaN
  for (uint32_t n = 0; n < b->warp_count; ++n)
    if (!start_warp(&b->warps[n], b, n))
      return false;
  cluster->live_warps += b->warp_count;
  return true;
}

static void free_cluster(emu_cluster *c) {
  for (uint32_t k = 0; c->blocks && k < c->count; ++k) {
    emu_block *b = &c->blocks[k];
    for (uint32_t n = 0; b->warps && n < b->warp_count; ++n) {
      free(b->warps[n].registers);
      free(b->warps[n].local);
      free(b->warps[n].copies);
      free(b->warps[n].products);
      free(b->warps[n].late);
      free(b->warps[n].stores);
    }
    free(b->warps);
    free(b->shared);
    free(b->arrivals);
    free(b->tensor);
    tensor_proxy_free(b->proxy);
  }
  races_free(c->races);
  free(c->blocks);
  free(c);
}

/// Starts the next blocks of the grid; NULL: a fault.
static emu_cluster *start_cluster(emu_launch *launch, uint64_t first) {
  emu_cluster *c = calloc(1, sizeof(*c));
  if (!c)
    return NULL;
  c->count = launch->cluster;
  c->blocks = calloc(c->count, sizeof(*c->blocks));
  if (emu_environment("PIT_EMULATOR_RACES", 0)) {
    const uint32_t threads =
        launch->block[0] * launch->block[1] * launch->block[2];
    c->races = races_new(c->count, (threads + EMU_LANES - 1) / EMU_LANES,
                         EMU_SHARED_START + shared_of(launch));
    if (!c->races) {
      free_cluster(c);
      return NULL;
    }
  }
  for (uint32_t k = 0; k < c->count; ++k) {
    uint64_t n = first + k;
    const uint32_t id[3] = {(uint32_t)(n % launch->grid[0]),
                            (uint32_t)(n / launch->grid[0] % launch->grid[1]),
                            (uint32_t)(n / launch->grid[0] / launch->grid[1])};
    if (!c->blocks || !start_block(&c->blocks[k], launch, c, k, id)) {
      free_cluster(c);
      return NULL;
    }
  }
  return c;
}

/// A turn of each warp; false: a fault.
static bool run_cluster(emu_cluster *c, uint64_t *done) {
  for (uint32_t k = 0; k < c->count; ++k) {
    emu_block *b = &c->blocks[k];
    const uint32_t first = b->launch->random ? draw(b->launch) : 0;
    for (uint32_t n = 0; n < b->warp_count; ++n) {
      emu_warp *w = &b->warps[(n + first % b->warp_count) % b->warp_count];
      int count;
      if (!w->live)
        continue;
      if (!run_warp(w, &count))
        return false;
      *done += (uint64_t)count;
      if (w->live)
        continue;
      if (w->store_count > 0) {
        emu_fault(w, w->stores[0].instruction, w->stores[0].lane,
                  "the warp has ended without a wait for the copy");
        return false;
      }
      --b->live_warps;
      --c->live_warps;
      ++b->launch->effects;
      if (b->live_warps > 0)
        continue;
      if (b->tensor) {
        emu_fault(w, w->block->launch->function->code, 0,
                  "the block has ended, and has not freed its tensor memory");
        return false;
      }
      // What a kernel leaves behind would be written to memory of others.
      for (int a = 0; a < b->arrival_count; ++a)
        if (b->arrivals[a].is_tensor) {
          emu_fault(w, b->arrivals[a].instruction, 0,
                    "the block has ended, and nothing has waited for the copy");
          return false;
        }
    }
  }
  return true;
}

/// Says where the warps of a launch wait.
static void report_standstill(const emu_launch *launch,
                              const emu_cluster *clusters, const char *what) {
  char *to = launch->message;
  int room = EMU_MESSAGE_SIZE;
  int used =
      snprintf(to, (size_t)room, "%s: %s:", launch->function->name, what);
  for (; clusters; clusters = clusters->next)
    for (uint32_t k = 0; k < clusters->count; ++k) {
      const emu_block *b = &clusters->blocks[k];
      for (uint32_t n = 0; n < b->warp_count; ++n) {
        const emu_warp *w = &b->warps[n];
        for (int g = 0; w->live && g < w->groups_count && used < room; ++g) {
          const emu_instruction *i = &launch->function->code[w->groups[g].pc];
          used += snprintf(to + used, (size_t)(room - used),
                           " block (%u, %u, %u) warp %u lanes 0x%x at line %u "
                           "'%.*s';",
                           b->id[0], b->id[1], b->id[2], n, w->groups[g].mask,
                           i->line, (int)strcspn(i->text, "\t ;\n"), i->text);
        }
      }
    }
}

static bool run_blocks(emu_launch *launch, uint64_t room) {
  const uint64_t total =
      (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
  uint64_t next = 0, resident = 0, seen = 0, still = 0;
  emu_cluster *clusters = NULL;
  bool good = true;
  while (good && (next < total || clusters)) {
    emu_cluster **last = &clusters;
    while (*last)
      last = &(*last)->next;
    for (;
         next < total && (resident == 0 || resident + launch->cluster <= room);
         resident += launch->cluster, next += launch->cluster) {
      *last = start_cluster(launch, next);
      if (!*last) {
        good = false;
        break;
      }
      last = &(*last)->next;
    }
    uint64_t done = 0;
    for (last = &clusters; good && *last;) {
      emu_cluster *c = *last;
      good = run_cluster(c, &done);
      if (good && c->live_warps == 0) {
        *last = c->next;
        resident -= c->count;
        free_cluster(c);
      } else {
        last = &c->next;
      }
    }
    still = launch->effects == seen ? still + 1 : 0;
    seen = launch->effects;
    if (good && clusters && (done == 0 || still > STANDSTILL)) {
      report_standstill(launch, clusters,
                        done == 0 ? "deadlock, every warp waits"
                                  : "nothing happens any more");
      good = false;
    }
  }
  while (clusters) {
    emu_cluster *c = clusters;
    clusters = c->next;
    free_cluster(c);
  }
  return good;
}

unsigned emu_blocks_per_multiprocessor(const emu_function *function,
                                       unsigned threads, unsigned dynamic) {
  unsigned shared = function->module->static_shared + dynamic + 1024;
  unsigned by_shared = EMU_MULTIPROCESSOR_SHARED / shared;
  unsigned by_threads = EMU_MULTIPROCESSOR_THREADS /
                        ((threads + EMU_LANES - 1) / EMU_LANES * EMU_LANES);
  unsigned blocks = by_shared < by_threads ? by_shared : by_threads;
  return blocks < 32 ? blocks : 32;
}

bool emu_launch_run(emu_launch *launch, char message[EMU_MESSAGE_SIZE]) {
  launch->message = message;
  message[0] = '\0';
  launch->copies_early = emu_environment("PIT_EMULATOR_EARLY", 0);
  // Spread over all bits; it must not be 0 then.
  launch->random = (uint64_t)emu_environment("PIT_EMULATOR_SEED", 0) *
                   UINT64_C(0x9E3779B97F4A7C15);
  const uint32_t threads =
      launch->block[0] * launch->block[1] * launch->block[2];
  uint64_t room = (uint64_t)emu_multiprocessors() *
                  emu_blocks_per_multiprocessor(launch->function, threads,
                                                launch->dynamic_shared);
  bool good = run_blocks(launch, room);
  if (!good && !message[0])
    snprintf(message, EMU_MESSAGE_SIZE, "the host is out of memory");
  return good;
}
