//===- ChooseTest.c - Which variant of a program runs ---------------------===//

#include "Builds.h"
#include "Reference.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

static const pit_manifest no_args = {.version = PIT_MANIFEST_WORD0,
                                     .device = kDLCPU};
static const pit_manifest other = {.version = PIT_MANIFEST_WORD0,
                                   .device = kDLCPU};

enum { N = 64, DENSE = 0, FINE = 1, TALL = 2 };

/// 1000 for the dense variant; 1 for each element, or 10 for each column of 32.
static const pit_cost costs[] = {{1000, 7, 7}, {100, 1, 0}, {100, 10, 0}};

typedef struct fixture {
  pit_context *context;
  pit_frame *frame;
  float x[N * N];
  pit_view view;         ///< of x
  pit_variants variants; ///< dense, 1x1, 32x1
  const pit_bitmap *bitmap;
  int32_t variant;
} fixture;

static void enter_as(fixture *f, const pit_manifest *manifest) {
  assert_ok(f->context, pit_rt_enter(f->context, manifest, NULL, NULL, NULL,
                                     NULL, &f->frame));
}

static int set_up_with(void **state, int32_t deterministic) {
  static fixture f;
  f = (fixture){.variants =
                    variants_of(build_of(32, 1, 1, 1), build_of(32, 1, 32, 1))};
  f.view = view_of(f.x, N, N);
  pit_context_options options = {.deterministic = deterministic};
  assert_int_equal(pit_context_create(&options, &f.context), PIT_OK);
  enter_as(&f, &no_args);
  *state = &f;
  return 0;
}

static int set_up(void **state) { return set_up_with(state, 0); }

static int set_up_deterministic(void **state) { return set_up_with(state, 1); }

static int tear_down(void **state) {
  fixture *f = *state;
  pit_rt_leave(f->frame, 0);
  pit_context_destroy(f->context);
  return 0;
}

/// Makes the first `count` elements of each of the first `rows` rows ones.
static void fill(fixture *f, int rows, int count) {
  memset(f->x, 0, sizeof(f->x));
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < count; ++j)
      f->x[r * N + j] = 1;
}

static int32_t choose_with(fixture *f, int32_t mark,
                           const pit_cost *its_costs) {
  f->bitmap = (const pit_bitmap *)f;
  f->variant = 77;
  pit_variants variants = f->variants;
  variants.mark = mark;
  return pit_rt_choose(f->frame, &variants, &f->view, its_costs, NULL,
                       &f->bitmap, &f->variant);
}

static int32_t choose(fixture *f) { return choose_with(f, 0, costs); }

/// The index of a variant, from the bitmap and from the data, are the same.
static void check_index_of(fixture *f, int64_t tile) {
  const pit_build build = build_of(32, 1, tile, 1);
  const pit_index *a, *b;
  assert_ok(f->context, pit_rt_build(f->frame, &build, &f->view, f->view.shape,
                                     NULL, NULL, &b));
  // The bitmap alone is read.
  float x[N * N];
  memcpy(x, f->x, sizeof(x));
  memset(f->x, 0, sizeof(f->x));
  assert_ok(f->context, pit_rt_build(f->frame, &build, &f->view, f->view.shape,
                                     f->bitmap, NULL, &a));
  memcpy(f->x, x, sizeof(x));
  assert_int_equal(a->total, b->total);
  assert_int_equal(a->groups, b->groups);
  assert_int_equal(a->max_count, b->max_count);
  assert_int_equal(a->source, b->source);
  assert_memory_equal(a->ids, b->ids, (size_t)b->total * sizeof(*b->ids));
  assert_memory_equal(a->counts, b->counts,
                      (size_t)b->groups * sizeof(*b->counts));
  assert_memory_equal(a->offsets, b->offsets,
                      (size_t)b->groups * sizeof(*b->offsets));
  // Without a bitmap the data is.
  assert_ok(f->context, pit_rt_build(f->frame, &build, &f->view, f->view.shape,
                                     NULL, NULL, &a));
  assert_int_equal(a->total, b->total);
}

static void test_choice(void **state) {
  fixture *f = *state;
  // 100 ones, of which 1x1 costs 200; in 50 columns of 32, so 32x1 costs 600.
  fill(f, 2, 50);
  assert_ok(f->context, choose(f));
  assert_int_equal(f->variant, FINE);
  assert_non_null(f->bitmap);
  check_index_of(f, 1);
  // 50 columns of 32 full of ones.
  fill(f, 32, 50);
  assert_ok(f->context, choose(f));
  assert_int_equal(f->variant, TALL);
  check_index_of(f, 32);
  // Ones everywhere.
  fill(f, N, N);
  assert_ok(f->context, choose(f));
  assert_int_equal(f->variant, DENSE);
  // The fullest group counts, too: 2 of 50 here.
  fill(f, 2, 50);
  const pit_cost fullest[] = {{1000, 0, 0}, {100, 1, 16}, {1000, 10, 0}};
  assert_ok(f->context, choose_with(f, 1, fullest));
  assert_int_equal(f->variant, DENSE); // 100 + 100 + 800, and the first wins
  const pit_cost less[] = {{1000, 0, 0}, {100, 1, 15}, {1000, 10, 0}};
  assert_ok(f->context, choose_with(f, 2, less));
  assert_int_equal(f->variant, FINE);
  // A cost that is no number is not chosen.
  const pit_cost some[] = {{NAN, 0, 0}, {NAN, 0, 0}, {5000, 1, 0}};
  assert_ok(f->context, choose_with(f, 3, some));
  assert_int_equal(f->variant, TALL);
}

/// Calls until the next scan; its variant.
static int calls_until_scan(fixture *f) {
  for (int calls = 1;; ++calls) {
    assert_ok(f->context, choose(f));
    if (f->bitmap)
      return calls;
    assert_int_equal(f->variant, DENSE);
  }
}

static void test_back_off(void **state) {
  fixture *f = *state;
  fill(f, N, N);
  static const int dense[] = {1, 2, 3, 5, 9, 17, 33, 65, 65, 65};
  for (size_t i = 0; i < sizeof(dense) / sizeof(*dense); ++i) {
    assert_int_equal(calls_until_scan(f), dense[i]);
    assert_int_equal(f->variant, DENSE);
  }
  // It takes the next scan to find that the data has changed; then each call
  // scans.
  fill(f, 1, 1);
  assert_int_equal(calls_until_scan(f), 65);
  assert_int_equal(f->variant, FINE);
  for (int i = 0; i < 5; ++i) {
    assert_int_equal(calls_until_scan(f), 1);
    assert_int_equal(f->variant, FINE);
  }
  // And from the beginning.
  fill(f, N, N);
  for (int i = 0; i < 4; ++i)
    assert_int_equal(calls_until_scan(f), dense[i]);
}

/// Marks, shapes, functions and tables of variants have a state each.
static void test_keys(void **state) {
  fixture *f = *state;
  fill(f, N, N);
  assert_ok(f->context, choose(f));
  assert_non_null(f->bitmap);
  assert_ok(f->context, choose_with(f, 1, costs));
  assert_non_null(f->bitmap);
  const pit_variants before = f->variants;
  f->variants = variants_of(build_of(32, 1, 1, 1), build_of(32, 1, 16, 1));
  assert_ok(f->context, choose(f));
  assert_non_null(f->bitmap);
  f->variants = before;
  f->view.shape[0] = N / 2;
  const pit_cost cheap[] = {{100, 0, 0}, {0, 1, 0}, {0, 10, 0}};
  assert_ok(f->context, choose_with(f, 0, cheap));
  assert_non_null(f->bitmap);
  assert_int_equal(f->bitmap->shape[0], N / 2);
  f->view.shape[0] = N;
  pit_rt_leave(f->frame, 0);
  enter_as(f, &other);
  assert_ok(f->context, choose(f));
  assert_non_null(f->bitmap);
  assert_ok(f->context, choose(f));
  assert_null(f->bitmap);
  pit_rt_leave(f->frame, 0);
  enter_as(f, &no_args);
  assert_ok(f->context, choose(f));
  assert_null(f->bitmap);
}

static void test_deterministic_flag(void **state) {
  fixture *f = *state;
  fill(f, N, N);
  f->variants.flags = PIT_CHOOSE_DETERMINISTIC;
  for (int i = 0; i < 5; ++i) {
    assert_ok(f->context, choose(f));
    assert_non_null(f->bitmap);
    assert_int_equal(f->variant, DENSE);
  }
}

static void test_deterministic_context(void **state) {
  fixture *f = *state;
  fill(f, N, N);
  for (int i = 0; i < 5; ++i) {
    assert_ok(f->context, choose(f));
    assert_non_null(f->bitmap);
  }
}

/// What cannot win is not looked at.
static void test_dense_always_wins(void **state) {
  fixture *f = *state;
  fill(f, 1, 1);
  const pit_cost dense_wins[] = {{99, 0, 0}, {100, 1, 0}, {100, 10, 0}};
  assert_ok(f->context, choose_with(f, 0, dense_wins));
  assert_int_equal(f->variant, DENSE);
  assert_null(f->bitmap);
  // More micro-tiles make it cheaper: that takes a scan.
  const pit_cost odd[] = {{99, 0, 0}, {100, -2, 0}, {100, 10, 0}};
  assert_ok(f->context, choose_with(f, 1, odd));
  assert_int_equal(f->variant, FINE);
  assert_non_null(f->bitmap);
  f->variants.variants[0] = build_of(32, 1, 4, 1);
  f->variants.count = 1;
  assert_ok(f->context, choose(f));
  assert_int_equal(f->variant, 0);
  assert_null(f->bitmap);
}

/// Of constant memory one scan is enough, for whatever costs.
static void test_constant(void **state) {
  fixture *f = *state;
  fill(f, 2, 50);
  int64_t shape[2] = {N, N};
  DLTensor tensor = tensor_of(f->x, PIT_DTYPE_FLOAT, 32, 2, shape);
  pit_constant *constant;
  assert_ok(f->context, pit_constant_create(f->context, &tensor, &constant));
  const pit_cost other_costs[] = {{150, 0, 0}, {100, 1, 0}, {100, 10, 0}};
  for (int i = 0; i < 4; ++i) {
    assert_ok(f->context, choose(f));
    assert_int_equal(f->variant, FINE);
    assert_int_equal(f->bitmap != NULL, i == 0);
    check_index_of(f, 1);
    assert_ok(f->context, choose_with(f, 0, other_costs));
    assert_int_equal(f->variant, DENSE);
    assert_null(f->bitmap);
    pit_rt_leave(f->frame, 0);
    enter_as(f, &no_args);
  }
  pit_kept_stats kept;
  pit_context_kept(f->context, &kept);
  assert_int_equal(kept.pieces, 2); // the live fractions and the index
  pit_rt_leave(f->frame, 0);
  pit_constant_destroy(constant);
  enter_as(f, &no_args);
  assert_ok(f->context, choose(f));
  assert_non_null(f->bitmap);
}

/// A place of a loop has one bitmap and one index.
static void test_place(void **state) {
  fixture *f = *state;
  pit_place place = {0};
  const pit_bitmap *first = NULL;
  for (int i = 0; i < 20; ++i) {
    fill(f, 2, i + 1);
    assert_ok(f->context, pit_rt_choose(f->frame, &f->variants, &f->view, costs,
                                        &place, &f->bitmap, &f->variant));
    assert_true(!first || f->bitmap == first);
    first = f->bitmap;
    const pit_index *index;
    assert_ok(f->context,
              pit_rt_build(f->frame, &f->variants.variants[FINE], &f->view,
                           f->view.shape, f->bitmap, &place, &index));
    assert_int_equal(index->total, 2 * (i + 1));
  }
}

static void test_errors(void **state) {
  fixture *f = *state;
  pit_context *context = f->context;
  fill(f, 2, 50);
  pit_build *fine = &f->variants.variants[FINE];
  fine->micro_tile[0] = -4;
  check_error(context, choose(f), PIT_ERROR_INVALID_ARGUMENT,
              "micro_tile[0] is -4");
  fine->micro_tile[0] = 1;
  const pit_cost none[] = {{NAN, 0, 0}, {NAN, 0, 0}, {NAN, 0, 0}};
  check_error(context, choose_with(f, 0, none), PIT_ERROR_INVALID_ARGUMENT,
              "choice: the costs of all 3 variants are NaN");
  f->variants.variants[0].source = PIT_SOURCE_BLOCKS;
  check_error(context, choose(f), PIT_ERROR_INVALID_ARGUMENT,
              "bitmap: the source is a list of blocks");
  f->variants.variants[0].source = PIT_SOURCE_VALUES;
  assert_int_equal(pit_rt_choose(NULL, &f->variants, &f->view, costs, NULL,
                                 &f->bitmap, &f->variant),
                   PIT_ERROR_INVALID_ARGUMENT);

  assert_ok(context, choose_with(f, 9, costs));
  const pit_index *index;
  const int64_t shape[] = {N, N - 1};
  check_error(
      context,
      pit_rt_build(f->frame, fine, &f->view, shape, f->bitmap, NULL, &index),
      PIT_ERROR_SHAPE,
      "index: the bitmap has shape 64x64; it must be "
      "64x63");
  assert_null(index);
  fine->source = PIT_SOURCE_MASK;
  check_error(context,
              pit_rt_build(f->frame, fine, &f->view, f->view.shape, f->bitmap,
                           NULL, &index),
              PIT_ERROR_INVALID_ARGUMENT,
              "the bitmap was made of source 0 on the CPU, the index is to be "
              "of source 1");
}

/// A program that computed the data has written the bits, too: neither the
/// choice nor the index reads the data.
static void test_written_bits(void **state) {
  fixture *f = *state;
  uint64_t words[N] = {0};
  for (int r = 0; r < 32; ++r)
    words[r] = (UINT64_C(1) << 50) - 1;
  memset(f->x, 0, sizeof(f->x));
  const int64_t shape[] = {N, N};
  pit_bitmap written;
  assert_ok(f->context, pit_rt_bitmap(f->frame, 2, shape, words, &written));
  assert_int_equal(written.rows, N);
  assert_int_equal(written.row_words, 1);
  assert_int_equal(written.source, PIT_SOURCE_VALUES);
  assert_int_equal(written.on_device, 0);
  f->bitmap = &written;
  f->variants.flags = PIT_CHOOSE_SEEN;
  assert_ok(f->context, pit_rt_choose(f->frame, &f->variants, &f->view, costs,
                                      NULL, &f->bitmap, &f->variant));
  assert_int_equal(f->variant, TALL);
  assert_ptr_equal(f->bitmap, &written);
  fill(f, 32, 50); // for check_index_of, which compares with the data
  check_index_of(f, 32);
  check_error(f->context, pit_rt_bitmap(f->frame, 9, shape, words, &written),
              PIT_ERROR_SHAPE, "bitmap: rank 9; ranks 1 to 8 are supported");
  assert_int_equal(pit_rt_bitmap(NULL, 2, shape, words, &written),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(pit_rt_bitmap(f->frame, 2, shape, words, NULL),
                   PIT_ERROR_INVALID_ARGUMENT);
}

//===----------------------------------------------------------------------===//
// Of a program
//===----------------------------------------------------------------------===//

static const pit_manifest pick_manifest = {
    .version = PIT_MANIFEST_WORD0,
    .num_args = 1,
    .num_results = 1,
    .device = kDLCPU,
    .values = (const pit_arg_info[]){{.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 2,
                                      .dims = {-1, -1}},
                                     {.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_INT, 32, 1},
                                      .rank = 1,
                                      .dims = {1}}}};

/// Returns the variant of mark 5.
static int32_t pick(pit_context *context, const pit_value *ins,
                    DLTensor *const *outs, pit_stream stream) {
  int64_t views[5];
  pit_frame *frame;
  int32_t status =
      pit_rt_enter(context, &pick_manifest, ins, outs, stream, views, &frame);
  if (status)
    return status;
  pit_variants variants =
      variants_of(build_of(32, 1, 1, 1), build_of(32, 1, 32, 1));
  variants.mark = 5;
  const pit_view view =
      view_of((const void *)(intptr_t)views[0], views[1], views[2]);
  const pit_bitmap *bitmap;
  status = pit_rt_choose(frame, &variants, &view, costs, NULL, &bitmap,
                         (int32_t *)(intptr_t)views[3]);
  return pit_rt_leave(frame, status);
}

static void *look_up(void *user, const char *symbol) {
  (void)user;
  static const char entries[] = "pick\0";
  static const struct {
    const char *name;
    const void *address;
  } symbols[] = {{"pit_program_entries", entries},
                 {"pit_pick_manifest", &pick_manifest}};
  for (int i = 0; i < 2; ++i)
    if (strcmp(symbol, symbols[i].name) == 0) {
      void *address;
      memcpy(&address, &symbols[i].address, sizeof(address));
      return address;
    }
  int32_t (*function)(pit_context *, const pit_value *, DLTensor *const *,
                      pit_stream) = pick;
  void *address = NULL;
  if (strcmp(symbol, "pit_pick") == 0)
    memcpy(&address, &function, sizeof(address));
  return address;
}

static pit_program *open_program(pit_context *context,
                                 const pit_entry **entry) {
  pit_program *program;
  assert_ok(context,
            pit_program_from_lookup(context, look_up, NULL, NULL, &program));
  assert_ok(context, pit_program_entry(context, program, "pick", entry));
  return program;
}

static int32_t run_pick(pit_context *context, const pit_entry *entry, float *x,
                        int64_t rows, int64_t columns, int32_t *variant) {
  int64_t shape[2] = {rows, columns}, one[1] = {1};
  DLTensor tensor = tensor_of(x, PIT_DTYPE_FLOAT, 32, 2, shape);
  DLTensor result = tensor_of(variant, PIT_DTYPE_INT, 32, 1, one);
  const pit_value ins[] = {{.tensor = &tensor}};
  DLTensor *outs[] = {&result};
  return pit_entry_run(context, entry, ins, 1, outs, 1, NULL);
}

static void test_entry(void **state) {
  fixture *f = *state;
  const pit_entry *entry;
  pit_program *program = open_program(f->context, &entry);
  pit_choice choices[3];
  assert_int_equal(pit_entry_choices(f->context, entry, choices, 3), 0);
  int32_t variant;
  fill(f, 2, 50);
  assert_ok(f->context, choose(f)); // another function's
  assert_ok(f->context, run_pick(f->context, entry, f->x, N, N, &variant));
  assert_int_equal(variant, FINE);
  fill(f, N, N);
  for (int i = 0; i < 4; ++i) // scans at calls 1 and 3
    assert_ok(f->context,
              run_pick(f->context, entry, f->x, N - 1, N, &variant));
  assert_int_equal(pit_entry_choices(f->context, entry, NULL, 0), 2);
  assert_int_equal(pit_entry_choices(f->context, entry, choices, 1), 2);
  assert_int_equal(pit_entry_choices(f->context, entry, choices, 3), 2);
  const pit_choice *c = &choices[0];
  assert_int_equal(c->mark, 5);
  assert_int_equal(c->rank, 2);
  assert_int_equal(c->shape[0], N - 1);
  assert_int_equal(c->shape[1], N);
  assert_int_equal(c->calls, 4);
  assert_int_equal(c->scans, 2);
  assert_int_equal(c->variants, 3);
  assert_int_equal(c->variant, DENSE);
  assert_int_equal(c->axis, -1);
  assert_true(c->cost == 1000);
  assert_true(c->live_fraction == -1);
  c = &choices[1];
  assert_int_equal(c->shape[0], N);
  assert_int_equal(c->calls, 1);
  assert_int_equal(c->scans, 1);
  assert_int_equal(c->variant, FINE);
  assert_int_equal(c->axis, 1);
  assert_int_equal(c->micro_tile[0], 1);
  assert_true(c->cost == 200);
  assert_true(fabs(c->live_fraction - 100.0 / (N * N)) < 1e-12);
  assert_int_equal(pit_entry_choices(NULL, entry, choices, 3), 0);
  assert_int_equal(pit_entry_choices(f->context, NULL, choices, 3), 0);
  pit_program_close(program);
}

/// More shapes than a context remembers.
static void test_many_shapes(void **state) {
  fixture *f = *state;
  const pit_entry *entry;
  pit_program *program = open_program(f->context, &entry);
  fill(f, N, N);
  int32_t variant;
  for (int round = 0; round < 2; ++round)
    for (int64_t rows = 1; rows <= N; ++rows)
      for (int64_t columns = 1; columns <= N; ++columns)
        assert_ok(f->context,
                  run_pick(f->context, entry, f->x, rows, columns, &variant));
  static pit_choice choices[2048];
  int32_t count = pit_entry_choices(f->context, entry, choices, 2048);
  assert_in_range(count, 400, 512);
  assert_int_equal(choices[0].shape[0], N);
  assert_int_equal(choices[0].shape[1], N);
  assert_int_equal(choices[1].shape[1], N - 1);
  pit_program_close(program);
}

typedef struct worker {
  pit_context *context;
  const pit_entry *entry;
  int failures;
} worker;

enum { THREADS = 4, ROUNDS = 500 };

static void *work(void *argument) {
  worker *w = argument;
  static const float dense[N * N] = {[0 ... N * N - 1] = 1};
  float x[N * N];
  memcpy(x, dense, sizeof(x));
  pit_choice choices[2];
  for (int i = 0; i < ROUNDS; ++i) {
    int32_t variant = -1;
    memset(x, 0, i % 8 ? 0 : sizeof(x));
    w->failures += run_pick(w->context, w->entry, x, N, N, &variant) != PIT_OK;
    // A scan that found zeros is right about this call's data.
    w->failures += variant != DENSE && variant != FINE && variant != TALL;
    w->failures += pit_entry_choices(w->context, w->entry, choices, 2) != 1;
    memcpy(x, dense, sizeof(x));
  }
  return NULL;
}

static void test_threads(void **state) {
  fixture *f = *state;
  const pit_entry *entry;
  pit_program *program = open_program(f->context, &entry);
  worker workers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    workers[i] = (worker){.context = f->context, .entry = entry};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
    assert_int_equal(workers[i].failures, 0);
  }
  pit_choice choice;
  assert_int_equal(pit_entry_choices(f->context, entry, &choice, 1), 1);
  assert_int_equal(choice.calls, THREADS * ROUNDS);
  assert_in_range(choice.scans, 8, THREADS * ROUNDS);
  pit_program_close(program);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_choice),
      TEST(test_written_bits),
      TEST(test_back_off),
      TEST(test_keys),
      TEST(test_deterministic_flag),
      cmocka_unit_test_setup_teardown(test_deterministic_context,
                                      set_up_deterministic, tear_down),
      TEST(test_dense_always_wins),
      TEST(test_constant),
      TEST(test_place),
      TEST(test_errors),
      TEST(test_entry),
      TEST(test_many_shapes),
      TEST(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
