//===- IndexGeneral.c - Liveness for every shape, stride and source -------===//
//
// A group's box is a window of each dimension of pit_box_dims. Elements along
// its last dimension are a run; an element has a place in the data and a number
// that sources of integers compare.
//
//===----------------------------------------------------------------------===//

#include "Index.h"
#include "Team.h"

/// A place in the data, and a number to compare.
typedef struct spot {
  int64_t place, number;
} spot;

PIT_DEVICE spot add_spots(spot a, spot b) {
  return (spot){a.place + b.place, a.number + b.number};
}

PIT_DEVICE spot move_spot(spot step, int64_t by) {
  return (spot){step.place * by, step.number * by};
}

/// The elements of runs that are a lane's: number `begin`, and every
/// 2^by_log2-th from there. A lane that is not active has none.
typedef struct share {
  int64_t begin;
  uint32_t by_log2;
  bool active;
} share;

/// The bits in which any of `count` elements of a type differs from the
/// background.
#define RUN_OF_VALUES(load)                                                    \
  for (int64_t i = 0; i < count; ++i)                                          \
  differs |= load(first + i * distance) ^ background

/// The same, for `count` elements of a run from `place` on.
PIT_DEVICE uint64_t run_of_values(const pit_index_lanes_params *p,
                                  int64_t place, int64_t stride, share s,
                                  int64_t count) {
  const char *first = (const char *)p->data + place + s.begin * stride;
  int64_t distance = stride << s.by_log2;
  uint64_t background = p->background, differs = 0;
  switch (p->size_log2) {
  case 0:
    RUN_OF_VALUES(load_8);
    break;
  case 1:
    RUN_OF_VALUES(load_16);
    break;
  case 2:
    RUN_OF_VALUES(load_32);
    break;
  default:
    RUN_OF_VALUES(load_64);
    break;
  }
  return differs;
}

#undef RUN_OF_VALUES

/// The liveness of an element, for sources other than values.
PIT_DEVICE bool is_live(const pit_index_lanes_params *p, spot at) {
  switch (p->kind) {
  case PIT_SCAN_MASK_BITS: {
    int64_t byte = (int64_t)((uint64_t)at.number >> 3);
    uint32_t bits =
        load_8((const char *)p->data + at.place + byte * p->slot_stride);
    return bits >> (at.number & 7) & 1;
  }
  case PIT_SCAN_LENGTHS:
    return at.number < load_int(p->data, p->wide, at.place);
  case PIT_SCAN_ROW_LENGTHS: {
    int64_t matrix = (int64_t)((uint64_t)at.number / (uint64_t)p->slots);
    int64_t row = at.number - matrix * p->slots;
    return row < load_int(p->data, p->wide, matrix * p->slot_stride);
  }
  default: {
    bool found = false;
    for (int64_t j = 0; j < p->slots; ++j)
      found |= load_int(p->data, p->wide, at.place + j * p->slot_stride) ==
               at.number;
    return found;
  }
  }
}

/// The sum over each 8 lanes of a warp.
PIT_DEVICE spot sum_of_dims(spot s) {
  for (uint32_t distance = 1; distance < PIT_BOX_DIMS; distance *= 2)
    s = add_spots(
        s, (spot){(int64_t)shuffle_xor_64((uint64_t)s.place, distance),
                  (int64_t)shuffle_xor_64((uint64_t)s.number, distance)});
  return s;
}

/// The dimension that a lane sees, and the one of runs.
PIT_DEVICE uint32_t lane_dim(void) { return thread() % PIT_BOX_DIMS; }
enum { RUN_DIM = PIT_BOX_DIMS - 1 };

PIT_DEVICE spot stride_of(const pit_box_dims *dims, uint32_t d) {
  return (spot){dims->place[d], dims->number[d]};
}

/// The box of a group.
typedef struct box {
  int64_t length; ///< of the lane's dimension
  int64_t skip;   ///< runs that a step along it skips
  spot start;
  int64_t runs, run; ///< how many, and their length
} box;

/// A warp computes a group's box.
PIT_DEVICE box get_box(const pit_box_dims *dims, uint32_t group) {
  uint32_t d = lane_dim();
  uint64_t window =
      (uint64_t)group / (uint64_t)dims->skip[d] % (uint64_t)dims->windows[d];
  int64_t begin = (int64_t)window * dims->step[d];
  int64_t length = max_64(min_64(dims->size[d], dims->extent[d] - begin), 0);
  box b = {.length = length,
           .skip = 1,
           .start = sum_of_dims(move_spot(stride_of(dims, d), begin)),
           .runs = 1,
           .run = (int64_t)shuffle_from_64((uint64_t)length, RUN_DIM)};
  for (uint32_t k = 0; k < RUN_DIM; ++k) {
    int64_t other = (int64_t)shuffle_from_64((uint64_t)length, k);
    b.runs *= other;
    b.skip *= k > d ? other : 1;
  }
  return b;
}

/// A warp finds the start of run `n` of a box, to be added to the box's.
PIT_DEVICE spot start_of_run(const pit_box_dims *dims, const box *b,
                             int64_t n) {
  uint32_t d = lane_dim();
  uint64_t in_dim = (uint64_t)n / (uint64_t)b->skip % (uint64_t)b->length;
  return sum_of_dims(
      move_spot(stride_of(dims, d), d == RUN_DIM ? 0 : (int64_t)in_dim));
}

/// A warp computes the liveness of the box of `group`, moved by what the id
/// adds.
PIT_DEVICE bool scan_box(const pit_index_lanes_params *p, uint32_t group,
                         int64_t id, share s) {
  box b = get_box(&p->dims, group);
  spot step = stride_of(&p->dims, RUN_DIM);
  spot start =
      add_spots(b.start, move_spot((spot){p->id_place, p->id_number}, id));
  // The elements of a run that are this lane's.
  int64_t by = INT64_C(1) << s.by_log2;
  int64_t count = s.active ? (b.run - s.begin + by - 1) >> s.by_log2 : 0;
  int64_t runs = b.run > 0 ? b.runs : 0;
  bool found = false;
  for (int64_t n = 0; n < runs && ballot(s.active && !found) != 0; ++n) {
    spot run = add_spots(start, start_of_run(&p->dims, &b, n));
    if (p->kind == PIT_SCAN_VALUES) {
      // Without branches, so that many loads are under way.
      uint64_t differs = run_of_values(p, run.place, step.place, s, count);
      found |= (differs & p->care) != 0 || (count > 0 && p->always);
      continue;
    }
    for (int64_t i = 0; i < count; ++i)
      found |= is_live(
          p, add_spots(run, move_spot(step, s.begin + (i << s.by_log2))));
  }
  return found;
}

/// A warp takes 32 ids of a group, a lane one of them: where ids are neighbours
/// in memory, or micro-tiles small.
PIT_KERNEL(pit_index_lanes) {
  begin_index(&p.begin);
  if (leaves(&p.when))
    return;
  uint32_t words = (uint32_t)p.bits.words;
  int32_t items = p.bits.groups * p.bits.words;
  for (uint32_t item = grid_warp(); (int32_t)item < items;
       item += grid_warps()) {
    uint32_t group = item / words, at = item - group * words;
    uint32_t id = at * 32 + lane();
    share all = {.active = id < (uint64_t)p.bits.extent};
    uint32_t word = ballot(scan_box(&p, group, id, all));
    if (lane() == 0)
      p.bits.bits[item] = word;
  }
}

/// A block takes 32 ids of a group, a warp four of them, one by one: where long
/// runs of a micro-tile are neighbours in memory.
PIT_KERNEL(pit_index_warps) {
  begin_index(&p.begin);
  if (leaves(&p.when))
    return;
  enum { WARP_IDS = 32 / TEAM_WARPS };
  uint32_t words = (uint32_t)p.bits.words;
  int32_t items = p.bits.groups * p.bits.words;
  for (uint32_t item = block(); (int32_t)item < items; item += num_blocks()) {
    uint32_t group = item / words, at = item - group * words;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < WARP_IDS; ++i) {
      uint32_t number = warp() * WARP_IDS + i, id = at * 32 + number;
      share own = {lane(), 5, id < (uint64_t)p.bits.extent};
      bits |= ballot(scan_box(&p, group, id, own)) ? 1u << number : 0;
    }
    uint32_t word = join_warps(bits);
    if (thread() == 0)
      p.bits.bits[item] = word;
  }
}
