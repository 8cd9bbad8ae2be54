//===- Machine.h - Warps, blocks and the launch that they are of ----------===//

#ifndef PIT_TEST_EMULATOR_MACHINE_H
#define PIT_TEST_EMULATOR_MACHINE_H

#include "Memory.h"
#include "Program.h"
#include "Races.h"

enum {
  EMU_BARRIERS = 16,
  EMU_TENSOR_LOADS = 16,
  EMU_MAX_WARPS = 32,
  EMU_MAX_CLUSTER = 16,
  /// Shared memory starts here in each block, so that 0 is no address.
  EMU_SHARED_START = 1024,
  EMU_MAX_SHARED = 232448,
  EMU_MULTIPROCESSOR_SHARED = 233472,
  EMU_MULTIPROCESSOR_THREADS = 2048
};

/// Types of registers' lanes, whose memory is of other types meanwhile.
typedef uint16_t __attribute__((may_alias)) emu_u16;
typedef int16_t __attribute__((may_alias)) emu_s16;
typedef uint32_t __attribute__((may_alias)) emu_u32;
typedef int32_t __attribute__((may_alias)) emu_s32;
typedef uint64_t __attribute__((may_alias)) emu_u64;
typedef int64_t __attribute__((may_alias)) emu_s64;
typedef float __attribute__((may_alias)) emu_f32;
typedef double __attribute__((may_alias)) emu_f64;

/// Lanes of a warp that are at the same instruction.
typedef struct emu_group {
  uint32_t pc, mask;
  bool waits;   ///< for another group, warp or copy
  uint64_t ran; ///< when it ran last
} emu_group;

/// Copies of a warp that are under way: what one cp.async of it started.
typedef struct emu_copy {
  uint32_t mask;
  unsigned bytes;
  uint64_t number; ///< of those of the warp
  char *to[EMU_LANES];
  const char *from[EMU_LANES];
  unsigned size[EMU_LANES]; ///< what is read; the rest is 0
  uint32_t group[EMU_LANES];
} emu_copy;

/// A copy of a lane from shared to global memory that is under way.
typedef struct emu_store {
  const struct emu_instruction *instruction;
  uint64_t to;
  uint32_t from, bytes, lane, group;
  // What a tensor map's box is added to, if there are coordinates.
  uint32_t rank;
  int32_t at[5];
  char map[128];
} emu_store;

/// A product of a warp that is under way.
typedef struct emu_product {
  const struct emu_instruction *instruction;
  uint64_t a, b; ///< descriptors, if they are ones
  bool adds;
  uint32_t group;
} emu_product;

/// A product into tensor memory that a lane has started.
typedef struct emu_late {
  const struct emu_instruction *instruction;
  uint32_t lane;
  uint64_t number; ///< of those of the warp
  uint32_t d, shape;
  uint64_t a, b; ///< descriptors
  bool adds;
} emu_late;

/// A load from tensor memory that nothing has waited for.
typedef struct emu_tensor_load {
  const struct emu_instruction *instruction;
  uint32_t address;
} emu_tensor_load;

typedef struct emu_warp {
  struct emu_block *block;
  char *registers;
  const char *bases[2]; ///< by an operand's base
  uint32_t active;      ///< lanes that execute the present instruction
  uint32_t pc;
  uint32_t live; ///< lanes that have not returned
  uint32_t number;
  int groups_count, current;
  emu_group groups[EMU_LANES];
  unsigned spins; ///< jumps back while other groups waited
  char *local;
  uint32_t carry; ///< a bit of each lane
  // Barriers that it has arrived at and waits for.
  bool is_at_barrier, is_at_cluster_barrier;
  uint32_t barrier_round, cluster_round;
  // cp.async
  emu_copy *copies;
  int copy_count, copy_room;
  uint64_t copies_started;
  uint32_t committed[EMU_LANES]; ///< groups
  // cp.async.bulk to global memory
  emu_store *stores;
  int store_count, store_room;
  uint32_t committed_stores[EMU_LANES];
  // wgmma
  emu_product *products;
  int product_count, product_room;
  uint32_t committed_products;
  // tcgen05
  emu_late *late;
  int late_count, late_room;
  uint64_t late_started;
  emu_tensor_load tensor_loads[EMU_TENSOR_LOADS];
  int tensor_load_count;
} emu_warp;

typedef struct emu_barrier {
  uint32_t arrived; ///< threads
  uint32_t round;
} emu_barrier;

/// What arrives at an mbarrier when it is done, and is done when someone waits
/// there: a tensor copy, or the copies or products that lanes had started.
typedef struct emu_arrival {
  uint32_t barrier; ///< its place in the block's shared memory
  emu_warp *warp;   ///< that started it
  uint32_t mask;    ///< its lanes
  const struct emu_instruction *instruction;
  uint64_t copies; ///< or products that were started before, if it is of such
  bool is_late;    ///< of products into tensor memory
  // Of a tensor copy:
  bool is_tensor;
  uint32_t rank, to;
  int32_t at[5];
  char map[128];
} emu_arrival;

typedef struct emu_block {
  struct emu_launch *launch;
  struct emu_cluster *cluster;
  uint32_t rank; ///< in the cluster
  uint32_t id[3];
  char *shared;
  uint32_t shared_bytes; ///< from EMU_SHARED_START on
  emu_warp *warps;
  uint32_t warp_count, live_warps;
  emu_barrier barriers[EMU_BARRIERS];
  struct tensor_proxy *proxy; ///< by which shared memory was written
  emu_arrival *arrivals;
  int arrival_count, arrival_room;
  uint32_t *tensor; ///< memory; NULL: none is allocated
  uint32_t tensor_columns;
} emu_block;

typedef struct emu_cluster {
  races *races; ///< NULL: they are not looked for
  struct emu_cluster *next;
  emu_block *blocks;
  uint32_t count;
  uint32_t live_warps; ///< of all blocks
  uint32_t arrived, round;
} emu_cluster;

typedef struct emu_launch {
  const emu_function *function;
  uint32_t grid[3], block[3], cluster; ///< cluster: blocks along x
  uint32_t dynamic_shared;
  char *parameters;
  uint64_t effects; ///< stores, atomics and arrivals, to see a standstill
  uint64_t clock;
  uint64_t random;   ///< what turns are drawn from; 0: they are always the same
  bool copies_early; ///< copies are done when they start
  const emu_allocation *last; ///< that an address was in
  char *message;              ///< EMU_MESSAGE_SIZE, of the fault
} emu_launch;

/// Runs a kernel to its end. False: `message` says what went wrong.
bool emu_launch_run(emu_launch *launch, char message[EMU_MESSAGE_SIZE]);

/// How many blocks a multiprocessor has room for.
unsigned emu_blocks_per_multiprocessor(const emu_function *function,
                                       unsigned threads, unsigned dynamic);

//===----------------------------------------------------------------------===//
// What instructions use
//===----------------------------------------------------------------------===//

/// The lanes of an operand.
static inline char *emu_lanes(const emu_warp *w, const emu_operand *o) {
  return (char *)(uintptr_t)(w->bases[o->base] + o->place);
}

/// The lanes of operand number `n`.
#define EMU_D(type, n) ((emu_##type *)emu_lanes(w, &i->operands[n]))
#define EMU_S(type, n) ((const emu_##type *)emu_lanes(w, &i->operands[n]))

/// Runs a statement for each active lane.
#define EMU_EACH(lane)                                                         \
  for (uint32_t left_ = w->active, lane = 0;                                   \
       left_ && ((lane = (uint32_t)__builtin_ctz(left_)), true);               \
       left_ &= left_ - 1)

/// The bits of a predicate.
static inline uint32_t emu_predicate(const emu_warp *w, const emu_operand *o) {
  uint32_t bits = *(const emu_u32 *)emu_lanes(w, o);
  return o->is_negated ? ~bits : bits;
}

static inline void emu_set_predicate(const emu_warp *w, const emu_operand *o,
                                     uint32_t bits) {
  if (o->kind == EMU_SINK)
    return;
  emu_u32 *at = (emu_u32 *)emu_lanes(w, o);
  *at = (*at & ~w->active) | (bits & w->active);
}

/// The value of a lane, zero- or sign-extended.
static inline uint64_t emu_read(const emu_warp *w, const emu_operand *o,
                                uint32_t lane) {
  const char *lanes = emu_lanes(w, o);
  switch (o->bytes) {
  case 2:
    return ((const emu_u16 *)lanes)[lane];
  case 4:
    return ((const emu_u32 *)lanes)[lane];
  case 8:
    return ((const emu_u64 *)lanes)[lane];
  case 1:
    return ((const uint8_t *)lanes)[lane];
  default:
    return emu_predicate(w, o) >> lane & 1;
  }
}

/// Sets the low bytes of a lane's value; the rest becomes 0.
static inline void emu_write(const emu_warp *w, const emu_operand *o,
                             uint32_t lane, uint64_t value) {
  if (o->kind == EMU_SINK)
    return;
  char *lanes = emu_lanes(w, o);
  if (o->bytes == 2)
    ((emu_u16 *)lanes)[lane] = (uint16_t)value;
  else if (o->bytes == 4)
    ((emu_u32 *)lanes)[lane] = (uint32_t)value;
  else
    ((emu_u64 *)lanes)[lane] = value;
}

/// The address that an operand says, of a lane.
static inline uint64_t emu_address(const emu_warp *w, const emu_operand *o,
                                   uint32_t lane) {
  return emu_read(w, o, lane) + (uint64_t)o->value;
}

/// The host's memory behind an address; NULL: a fault, which is reported.
char *emu_resolve(emu_warp *w, const emu_instruction *i, uint32_t lane,
                  emu_space space, uint64_t address, unsigned bytes,
                  unsigned align);

/// The block and the place in its shared memory that an address means; a
/// generic or a shared one. NULL: a fault, which is reported.
emu_block *emu_shared_block(emu_warp *w, const emu_instruction *i,
                            uint32_t lane, uint64_t address, unsigned bytes,
                            uint32_t *place);

/// False: the access of these bytes of the host is a race, which is reported.
/// They are looked at if they are shared memory of the warp's block.
bool emu_check_race(emu_warp *w, const emu_instruction *i, uint32_t lane,
                    const char *at, unsigned bytes, race_access access);
/// Likewise, of bytes in a block of the cluster.
bool emu_check_block_race(emu_warp *w, const emu_instruction *i, uint32_t lane,
                          const emu_block *block, uint32_t place,
                          unsigned bytes, race_access access);

/// What a warp releases and acquires through barriers, for the races.
enum { EMU_RACE_BARRIER, EMU_RACE_MBARRIER, EMU_RACE_CLUSTER };
bool emu_release(emu_warp *w, const emu_instruction *i, int kind,
                 const emu_block *block, uint32_t number);
void emu_acquire(emu_warp *w, int kind, const emu_block *block,
                 uint32_t number);

/// Notes that a warp has written these bytes of the host, if they are shared
/// memory of its block.
void emu_note_write(const emu_warp *w, const char *to, unsigned bytes);

/// Reports what went wrong; returns EMU_FAULT.
__attribute__((format(printf, 4, 5))) emu_action
emu_fault(emu_warp *w, const emu_instruction *i, uint32_t lane,
          const char *format, ...);

/// Waits until all lanes of a mask that live are active; true: they are.
static inline bool emu_together(const emu_warp *w, uint32_t mask) {
  return (mask & w->live & ~w->active) == 0;
}

/// Something arrives at an mbarrier when it is done, which a lane has started.
/// NULL: a fault, which is reported.
emu_arrival *emu_add_arrival(emu_warp *w, const emu_instruction *i,
                             uint32_t lane, emu_block *block, uint32_t place);

/// Computes the products into tensor memory with numbers below `before` that
/// lanes of a mask have started.
const char *emu_finish_late(emu_warp *w, uint32_t mask, uint64_t before);

/// Does what arrives at an mbarrier. False: a fault, which is reported.
bool emu_finish_arrivals(emu_warp *w, const emu_instruction *i,
                         emu_block *block, uint32_t barrier);

/// What a lane does that returns.
emu_action emu_return(emu_warp *w, const emu_instruction *i);

#endif // PIT_TEST_EMULATOR_MACHINE_H
