//===- Choose.c - A device chooses a variant ------------------------------===//
//
// The variant of the least cost among those of a program, without the host: the
// launches that follow ask a word in device memory whether it is their turn. A
// first kernel scans, if it is time to (ChooseScan.c; where that cannot,
// pit_choose_begin, the scans of all variants' indices, and pit_choose_count).
// A second one, pit_choose_list, decides, and makes the lists of the variant's
// index.
//
// Variant 0 is dense. A scan is one only if all blocks that should have
// scanned: the slot may change while they read it. Otherwise the call is dense.
//
//===----------------------------------------------------------------------===//

#include "Choose.h"
#include "Lists.h"

/// Calls after a scan that ends dense, at most, until the next one.
enum { MAX_CALLS = 64 };

PIT_KERNEL(pit_choose_begin) {
  pdl_launch_dependents();
  pdl_wait();
  if (thread() == 0)
    p.state->scan = is_due(p.slot, p.elapsed) && !is_taken(p.after);
}

//===----------------------------------------------------------------------===//
// Numbers of live micro-tiles
//===----------------------------------------------------------------------===//

PIT_DEVICE group_bits bits_of(const pit_choice_variant *variant) {
  return (group_bits){variant->bits, (uint32_t)variant->parts,
                      (uint32_t)variant->part_words, (uint32_t)variant->extent};
}

/// The live micro-tiles of a variant in a thread's share of the words, that of
/// a block of `blocks`.
PIT_DEVICE uint64_t count_share(const pit_choice_variant *variant,
                                uint32_t number, uint32_t blocks) {
  group_bits bits = bits_of(variant);
  int32_t words = variant->groups * variant->words;
  uint64_t sum = 0;
  for (uint32_t w = number * PIT_INDEX_THREADS + thread(); (int32_t)w < words;
       w += blocks * PIT_INDEX_THREADS)
    // Only bits of a single group come in parts, and with some that are no
    // id's.
    sum += popcount(variant->groups > 1 ? bits.words[w] : load_bits(&bits, w));
  return sum;
}

PIT_KERNEL(pit_choose_count) {
  pdl_launch_dependents();
  pdl_wait();
  if (p.state->scan != 1)
    return;
  for (int32_t v = 0; v < p.count; ++v) {
    const pit_choice_variant *variant = &p.table.variants[v];
    if (!variant->numbers)
      continue;
    uint64_t all =
        block_scan_64(count_share(variant, block(), num_blocks())).all;
    if (thread() == 0)
      variant->numbers[block()] = (int32_t)all;
  }
  if (thread() == 0)
    atomic_add((uint32_t *)&p.state->arrived, 1);
}

/// The live micro-tiles of a variant, counted by a block; 0 if it has no index.
PIT_DEVICE uint64_t count_live(const pit_choice_variant *variant) {
  uint64_t mine = 0;
  if (variant->numbers)
    for (int32_t i = (int32_t)thread(); i < variant->num_numbers;
         i += PIT_INDEX_THREADS)
      mine += (uint32_t)variant->numbers[i];
  else
    mine = count_share(variant, 0, 1);
  return block_scan_64(mine).all;
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

typedef struct decision {
  int32_t variant;
  uint64_t live; ///< micro-tiles
} decision;

/// A block finds the variant of the least cost, the first of equal ones.
PIT_DEVICE decision find_cheapest(const pit_choice_table *table,
                                  int32_t count) {
  decision best = {0, 0};
  double least = __builtin_inf();
  for (int32_t v = 0; v < count; ++v) {
    const pit_choice_variant *variant = &table->variants[v];
    uint64_t live = count_live(variant);
    double cost = variant->fixed + (double)live * variant->live;
    if (cost < least) {
      least = cost;
      best = (decision){v, live};
    }
  }
  return best;
}

/// A slot, read and written at once.
typedef int32_t slot_words __attribute__((ext_vector_type(4)));

/// A thread decides: a call that has not looked is dense, or is none of the
/// choice's: then the next scan is due as before.
PIT_DEVICE void skip_scan(const pit_choose_list_params *p, slot_words was) {
  bool taken = is_taken(p->after);
  p->state->variant = taken ? -1 : 0;
  p->state->scan = 0;
  uint32_t skip = (uint32_t)was.x - (uint32_t)p->elapsed - (taken ? 0 : 1);
  p->slot->skip = max_32((int32_t)skip, 0);
}

/// A thread writes the variant, and when the next scan is due.
PIT_DEVICE void end_scan(const pit_choose_list_params *p, slot_words was,
                         decision best) {
  p->state->variant = best.variant;
  p->state->scan = 1;
  bool is_dense = best.variant == 0;
  int32_t calls = max_32(was.y, 1);
  int32_t scans = (int32_t)((uint32_t)was.z + 1);
  int32_t next =
      is_dense ? min_32((int32_t)((uint32_t)calls * 2), MAX_CALLS) : 1;
  *(slot_words *)p->slot =
      (slot_words){is_dense ? calls : 0, next, scans, was.w};
  // In one store, so that the host finds all of it or nothing.
  if (p->report)
    *(volatile slot_words *)p->report =
        (slot_words){scans, best.variant, (int32_t)(uint32_t)best.live,
                     (int32_t)(uint32_t)(best.live >> 32)};
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// The grid makes the lists of a variant's index.
PIT_DEVICE void list_variant(const pit_choice_variant *variant) {
  uint32_t slices = (uint32_t)variant->slices, span = (uint32_t)variant->span;
  uint32_t words = (uint32_t)variant->words;
  int32_t items = variant->groups * variant->slices;
  for (uint32_t item = block(); (int32_t)item < items; item += num_blocks()) {
    uint32_t g = item / slices, slice = item - g * slices;
    group_bits bits = bits_of(variant);
    bits.words += (uint64_t)g * words;
    int64_t place = g * (int64_t)bits.extent;
    uint32_t begin = slice * span, end = min_u32(begin + span, words);
    uint32_t position = count_before(&bits, begin);
    uint32_t live = list_words(&bits, begin, end, variant->arrays.ids + place,
                               position, INT32_MAX);
    if (thread() != 0)
      continue;
    add_ids(variant->arrays.copy, live - position);
    if (slice == slices - 1)
      tell_group(&variant->arrays, g, (uint32_t)variant->groups, place, live);
  }
}

/// How many blocks have scanned: those of the earlier choice, if its scan is
/// this one's.
PIT_DEVICE int32_t count_arrived(const pit_choose_list_params *p) {
  if (!p->seen)
    return read_word(&p->state->arrived);
  return read_word(&p->seen->scan) ? p->expected : 0;
}

/// All blocks that should have scanned: decides, and lists.
PIT_DEVICE void decide(const pit_choose_list_params *p, slot_words was) {
  decision best = find_cheapest(&p->table, p->count);
  if (is_grid_first())
    end_scan(p, was, best);
  const pit_choice_variant *variant = &p->table.variants[best.variant];
  // The lists of the earlier choice are there.
  if (!p->seen || read_word(&p->seen->variant) != variant->same)
    list_variant(variant);
}

PIT_KERNEL(pit_choose_list) {
  pdl_launch_dependents();
  // The scan does not write the slot. The words of the call before may be old:
  // that costs a scan too many, or one that the host does not hear of.
  slot_words was = 0;
  if (is_grid_first())
    was = *(const volatile slot_words *)p.slot;
  pdl_wait();
  int32_t arrived = count_arrived(&p);
  if (arrived == 0) {
    if (is_grid_first())
      skip_scan(&p, was);
    return;
  }
  // A block that has read the number says so at once, and asks at the end.
  barrier();
  uint32_t readers = 0;
  if (thread() == 0)
    readers = atomic_add((uint32_t *)&p.state->readers, 1) + 1;
  if (arrived == p.expected)
    decide(&p, was);
  else if (is_grid_first())
    skip_scan(&p, was);
  // The last makes the state that of no call.
  if (readers == num_blocks()) {
    p.state->readers = 0;
    p.state->arrived = 0;
  }
}
