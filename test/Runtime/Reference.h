//===- Reference.h - Indices the slow and obvious way ---------------------===//

#ifndef PIT_TEST_RUNTIME_REFERENCE_H
#define PIT_TEST_RUNTIME_REFERENCE_H

#include "pit-runtime/Runtime.h"

#include <stdbool.h>
#include <stdint.h>

// cmocka's header needs these before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/// A small generator of numbers that are the same everywhere.
typedef struct rng {
  uint64_t state;
} rng;

uint64_t rng_next(rng *r);
/// A number in [low, high].
int64_t rng_range(rng *r, int64_t low, int64_t high);
double rng_unit(rng *r);

/// X as the reference sees it: one byte per element, row-major, selected or
/// not. For a routing, `origin` holds the slot + 1 that selected the
/// element.
typedef struct selected {
  int32_t rank;
  int64_t shape[PIT_MAX_RANK];
  int64_t elements;
  uint8_t *bytes;
  int32_t *origin;
} selected;

/// Fails the test unless the index is exactly that of the selected elements.
/// `origin`: it must have one. `slack`: ids past `capacity` are not touched.
void check_index(const pit_index_spec *spec, const selected *x,
                 const pit_index *index, bool origin);

/// What an index of the selected elements would have.
pit_live_fraction reference_live_fraction(const pit_index_spec *spec,
                                          const selected *x);

/// The number of selected elements and of elements, over all live micro-tiles.
double reference_waste(const pit_index_spec *spec, const selected *x);

/// Fails the test unless `status` is `wanted` and the context's message has
/// `part` in it.
void check_error(pit_context *context, int32_t status, pit_status wanted,
                 const char *part);

#define assert_ok(context, expression)                                         \
  assert_status_ok((context), (expression), #expression, __FILE__, __LINE__)
void assert_status_ok(pit_context *context, int32_t status,
                      const char *expression, const char *file, int line);

/// A context that builds indices.
typedef struct builder_fixture {
  pit_context *context;
  pit_index_builder *builder;
  const pit_index *index; ///< of the test
} builder_fixture;

int builder_set_up(void **state);
int builder_tear_down(void **state);

/// A test with such a context.
#define BUILDER_TEST(name)                                                     \
  cmocka_unit_test_setup_teardown(name, builder_set_up, builder_tear_down)

/// A contiguous tensor on the CPU, without strides.
DLTensor tensor_of(void *data, uint8_t code, uint8_t bits, int32_t rank,
                   int64_t *shape);

#endif // PIT_TEST_RUNTIME_REFERENCE_H
