//===- Reference.c - Indices the slow and obvious way ---------------------===//

#include "Reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t rng_next(rng *r) { // splitmix64
  uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

int64_t rng_range(rng *r, int64_t low, int64_t high) {
  return low + (int64_t)(rng_next(r) % (uint64_t)(high - low + 1));
}

double rng_unit(rng *r) { return (double)(rng_next(r) >> 11) * 0x1p-53; }

/// The number of windows, counted: ceil((n - size) / step) + 1 if positive.
static int64_t count_windows(int64_t n, int64_t size, int64_t step) {
  int64_t over = n - size;
  int64_t quotient = over / step;
  if (over % step > 0)
    ++quotient;
  return quotient + 1 > 0 ? quotient + 1 : 0;
}

typedef struct layout {
  int64_t groups;
  int64_t group_shape[PIT_MAX_RANK];
  int64_t step[PIT_MAX_RANK];
} layout;

static layout layout_of(const pit_index_spec *spec) {
  layout l = {.groups = 1};
  for (int32_t d = 0; d < spec->rank; ++d) {
    l.group_shape[d] = 1;
    l.step[d] = spec->step[d] ? spec->step[d] : spec->micro_tile[d];
    if (d != spec->axis && spec->micro_tile[d])
      l.group_shape[d] =
          count_windows(spec->shape[d], spec->micro_tile[d], l.step[d]);
    if (d == spec->axis)
      l.step[d] = 1;
    l.groups *= l.group_shape[d];
  }
  return l;
}

/// One micro-tile, element by element.
typedef struct tile {
  int64_t selected, elements;
  int32_t origin; ///< smallest of its elements, -1: none
} tile;

static tile look(const pit_index_spec *spec, const layout *l, const selected *x,
                 int64_t group, int64_t id) {
  int64_t begin[PIT_MAX_RANK], end[PIT_MAX_RANK], at[PIT_MAX_RANK];
  tile t = {0, 0, -1};
  for (int32_t d = spec->rank - 1; d >= 0; --d) {
    int64_t coordinate = group % l->group_shape[d];
    group /= l->group_shape[d];
    begin[d] = coordinate * l->step[d];
    end[d] = begin[d] + spec->micro_tile[d];
    if (spec->micro_tile[d] == 0) {
      begin[d] = 0;
      end[d] = spec->shape[d];
    }
    if (d == spec->axis) {
      begin[d] = id;
      end[d] = id + 1;
    }
    if (end[d] > spec->shape[d])
      end[d] = spec->shape[d];
    if (begin[d] >= end[d])
      return t;
    at[d] = begin[d];
  }
  for (;;) {
    int64_t element = 0;
    for (int32_t d = 0; d < spec->rank; ++d)
      element = element * spec->shape[d] + at[d];
    ++t.elements;
    t.selected += x->bytes[element];
    if (x->origin && x->bytes[element] &&
        (t.origin < 0 || x->origin[element] < t.origin))
      t.origin = x->origin[element];
    int32_t d = spec->rank - 1;
    for (; d >= 0 && ++at[d] == end[d]; --d)
      at[d] = begin[d];
    if (d < 0)
      return t;
  }
}

void check_index(const pit_index_spec *spec, const selected *x,
                 const pit_index *index, bool origin) {
  layout l = layout_of(spec);
  assert_int_equal(index->groups, l.groups);
  assert_int_equal(index->rank, spec->rank);
  assert_int_equal(index->axis, spec->axis);
  for (int32_t d = 0; d < spec->rank; ++d) {
    assert_int_equal(index->shape[d], spec->shape[d]);
    assert_int_equal(index->group_shape[d], l.group_shape[d]);
    assert_int_equal(index->step[d], l.step[d]);
    assert_int_equal(index->micro_tile[d],
                     d == spec->axis ? 1 : spec->micro_tile[d]);
  }
  assert_int_equal(index->status, PIT_OK);
  if (!origin)
    assert_null(index->origin);
  else if (index->capacity > 0)
    assert_non_null(index->origin);
  int64_t position = 0;
  int64_t max_count = 0;
  int64_t chunk = 0;
  for (int64_t g = 0; g < l.groups; ++g) {
    int64_t start = position;
    assert_int_equal(index->offsets[g], start);
    for (int64_t id = 0; id < spec->shape[spec->axis]; ++id) {
      tile t = look(spec, &l, x, g, id);
      if (t.selected == 0)
        continue;
      assert_true(position < index->capacity);
      assert_int_equal(index->ids[position], id);
      if (origin)
        assert_int_equal(index->origin[position], t.origin);
      ++position;
    }
    assert_int_equal(index->counts[g], position - start);
    if (position - start > max_count)
      max_count = position - start;
    for (int64_t i = start; spec->chunk_size && i < position;
         i += spec->chunk_size, ++chunk) {
      int64_t live = position - i;
      assert_true(chunk < index->num_chunks);
      assert_int_equal(index->chunks[chunk].group, g);
      assert_int_equal(index->chunks[chunk].first, i);
      assert_int_equal(index->chunks[chunk].live,
                       live < spec->chunk_size ? live : spec->chunk_size);
    }
  }
  assert_int_equal(index->total, position);
  assert_int_equal(index->extent, position);
  assert_int_equal(index->max_count, max_count);
  assert_int_equal(index->num_chunks, chunk);
}

pit_live_fraction reference_live_fraction(const pit_index_spec *spec,
                                          const selected *x) {
  layout l = layout_of(spec);
  pit_live_fraction found = {.groups = l.groups};
  for (int64_t g = 0; g < l.groups; ++g) {
    int64_t count = 0;
    for (int64_t id = 0; id < spec->shape[spec->axis];
         ++id, ++found.micro_tiles)
      count += look(spec, &l, x, g, id).selected > 0;
    found.live += count;
    if (count > found.max_count)
      found.max_count = count;
  }
  if (found.micro_tiles)
    found.live_fraction = (double)found.live / (double)found.micro_tiles;
  return found;
}

double reference_waste(const pit_index_spec *spec, const selected *x) {
  layout l = layout_of(spec);
  int64_t selected = 0, elements = 0;
  for (int64_t g = 0; g < l.groups; ++g)
    for (int64_t id = 0; id < spec->shape[spec->axis]; ++id) {
      tile t = look(spec, &l, x, g, id);
      if (t.selected == 0)
        continue;
      selected += t.selected;
      elements += t.elements;
    }
  return elements ? 1 - (double)selected / (double)elements : 0;
}

void check_error(pit_context *context, int32_t status, pit_status wanted,
                 const char *part) {
  char message[600];
  pit_context_message(context, message, sizeof(message));
  if (status != (int32_t)wanted || !strstr(message, part))
    fail_msg("status %d (%s), message '%s'; wanted status %d (%s) and '%s'",
             status, pit_status_string(status), message, wanted,
             pit_status_string(wanted), part);
}

void assert_status_ok(pit_context *context, int32_t status,
                      const char *expression, const char *file, int line) {
  if (status == PIT_OK)
    return;
  char message[600];
  pit_context_message(context, message, sizeof(message));
  print_error("%s: %s: %s\n", expression, pit_status_string(status), message);
  _fail(file, line);
}

DLTensor tensor_of(void *data, uint8_t code, uint8_t bits, int32_t rank,
                   int64_t *shape) {
  return (DLTensor){.data = data,
                    .device = {kDLCPU, 0},
                    .ndim = rank,
                    .dtype = {code, bits, 1},
                    .shape = shape};
}

int builder_set_up(void **state) {
  static builder_fixture f;
  f = (builder_fixture){0};
  assert_int_equal(pit_context_create(NULL, &f.context), PIT_OK);
  assert_ok(f.context, pit_index_builder_create(f.context, &f.builder));
  *state = &f;
  return 0;
}

int builder_tear_down(void **state) {
  builder_fixture *f = *state;
  pit_index_builder_destroy(f->builder);
  pit_context_destroy(f->context);
  return 0;
}
