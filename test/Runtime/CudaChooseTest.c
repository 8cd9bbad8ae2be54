//===- CudaChooseTest.c - A device chooses among variants -----------------===//
//
// Over the fake driver, which runs nothing: which kernels are started when, and
// what the host makes of the news that a device would write.
// benchmarks/selection/regret_gpu.py and test/GPU check what kernels compute.
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"

#include "pit-runtime/Program.h"

#include <string.h>

enum { ROWS = 256, COLUMNS = 128, F32 = PIT_DTYPE_FLOAT | 32 << 8 };

/// Variant 1 has micro-tiles of 16x1, variant 2 whole rows.
static const int64_t table[] = {
    3, PIT_VARIANT_DENSE, 1, 16, 1, 16, 1, 0, 1, 0, 1, 0};
static const double costs[] = {100, 0, 0, 10, 1, 0, 20, 1, 0};

/// The words of a build (Abi.h) of an index of these micro-tiles.
typedef struct description {
  int64_t words[17];
} description;

static description describe(int64_t axis, int64_t h, int64_t w) {
  return (description){{F32, 0, 0, 0, 2, ROWS, COLUMNS, COLUMNS, 1, 2, axis,
                        ROWS, COLUMNS, h, w, h, w}};
}

typedef struct call {
  cuda_fixture *f;
  pit_frame *frame;
  void *data;
} call;

static call begin(cuda_fixture *f, void *stream) {
  call c = {.f = f, .frame = cuda_enter(f, stream)};
  assert_ok(f->context, pit_rt_alloc(c.frame, 4 * ROWS * COLUMNS, &c.data));
  return c;
}

static int32_t choose_by(const call *c, const int64_t *variants,
                         const double *times, int32_t flags,
                         const pit_device_choice **choice) {
  const description d = describe(1, 16, 1);
  return pit_rt_choose_on_device(c->frame, NULL, NULL, 0, flags,
                                 PIT_SOURCE_VALUES, c->data, d.words, NULL,
                                 variants, times, NULL, choice);
}

static const pit_device_choice *choose(const call *c, int32_t flags) {
  const pit_device_choice *choice = NULL;
  assert_ok(c->f->context, choose_by(c, table, costs, flags, &choice));
  assert_non_null(choice);
  return choice;
}

static const pit_index *build(const call *c, const pit_device_choice *choice,
                              int64_t axis, int64_t h, int64_t w) {
  const description d = describe(axis, h, w);
  const pit_index *index = NULL;
  assert_ok(c->f->context,
            pit_rt_build_if_chosen(c->frame, PIT_SOURCE_VALUES, c->data,
                                   d.words, choice, NULL, &index));
  assert_non_null(index);
  return index;
}

/// As the device's latest look would have it, whichever choice that was.
static void tell(const cuda_fixture *f, int32_t looks, int32_t variant,
                 int64_t live) {
  struct {
    int32_t looks, variant;
    int64_t live;
  } *news = f->fake->registered;
  assert_non_null(news);
  for (size_t i = 0; i < f->fake->registered_bytes / sizeof(*news); ++i) {
    news[i].looks = looks;
    news[i].variant = variant;
    news[i].live = live;
  }
}

static void leave(const call *c) {
  assert_int_equal(pit_rt_leave(c->frame, PIT_OK), PIT_OK);
}

/// One read for both variants, and the decision with the lists; the indices
/// need nothing more.
static void test_kernels(void **state) {
  cuda_fixture *f = *state;
  call c = begin(f, NULL);
  const pit_device_choice *choice = choose(&c, 0);
  assert_int_equal(choice->known, -1);
  assert_non_null(choice->variant);
  assert_int_equal(f->fake->launches, 2);
  assert_string_equal(f->fake->last.kernel, "pit_choose_list");
  assert_int_equal(f->fake->last.blocks, ROWS / 16);
  const pit_index *columns = build(&c, choice, 1, 16, 1);
  const pit_index *rows = build(&c, choice, 0, 1, 0);
  assert_int_equal(f->fake->launches, 2);
  assert_int_equal(columns->groups, ROWS / 16);
  assert_int_equal(rows->groups, 1);
  assert_true(columns->flags & PIT_INDEX_DEVICE);
  // Two choices of one call are kept apart.
  const pit_device_choice *other = choose(&c, 0);
  assert_ptr_not_equal(other, choice);
  assert_ptr_not_equal(other->variant, choice->variant);
  leave(&c);
  // The next call finds the words of this one.
  const int32_t *word = choice->variant;
  c = begin(f, NULL);
  assert_ptr_equal(choose(&c, 0)->variant, word);
  leave(&c);
}

/// How many launches a choice takes, and with how many blocks the last.
static void check_launches(const call *c, const int64_t *variants,
                           int32_t launches, int64_t blocks) {
  int32_t before = c->f->fake->launches;
  const pit_device_choice *choice = NULL;
  assert_ok(c->f->context, choose_by(c, variants, costs, 0, &choice));
  assert_int_equal(c->f->fake->launches - before, launches);
  assert_string_equal(c->f->fake->last.kernel, "pit_choose_list");
  assert_int_equal(c->f->fake->last.blocks, blocks);
}

/// What one read does for, and what needs a scan for each variant: a launch
/// that begins, the scans, and one that counts.
static void test_reads(void **state) {
  cuda_fixture *f = *state;
  call c = begin(f, NULL);
  enum { DENSE = PIT_VARIANT_DENSE };
  const int64_t columns[] = {2, DENSE, 1, 128, 1, 128, 1};
  check_launches(&c, columns, 2, ROWS / 128);
  const int64_t rows[] = {2, DENSE, 0, 1, 0, 1, 0};
  check_launches(&c, rows, 2, 1);
  const int64_t low[] = {2, DENSE, 1, 4, 1, 4, 1};
  check_launches(&c, low, 4, ROWS / 4);
  const int64_t odd[] = {2, DENSE, 1, 20, 1, 20, 1};
  check_launches(&c, odd, 4, (ROWS + 19) / 20);
  const int64_t overlapping[] = {2, DENSE, 1, 16, 1, 8, 1};
  check_launches(&c, overlapping, 4, (ROWS - 16) / 8 + 1);
  const int64_t two[] = {3, DENSE, 1, 16, 1, 16, 1, 1, 32, 1, 32, 1};
  check_launches(&c, two, 5, ROWS / 16);
  const int64_t parts[] = {2, DENSE, 0, 1, 64, 1, 64};
  check_launches(&c, parts, 4, COLUMNS / 64);
  // Rows of the matrix that do not begin at multiples of 16 bytes.
  description d = describe(1, 16, 1);
  d.words[7] = COLUMNS + 1;
  const pit_device_choice *choice = NULL;
  int32_t before = f->fake->launches;
  assert_ok(f->context,
            pit_rt_choose_on_device(c.frame, NULL, NULL, 0, 0,
                                    PIT_SOURCE_VALUES, c.data, d.words, NULL,
                                    table, costs, NULL, &choice));
  assert_int_equal(f->fake->launches - before, 5);
  leave(&c);
}

/// The costs alone tell that nothing can beat the dense variant.
static void test_foregone(void **state) {
  cuda_fixture *f = *state;
  const double dear[] = {10, 0, 0, 10, 1, 0, 20, 1, 0};
  call c = begin(f, NULL);
  const pit_device_choice *choice = NULL;
  assert_ok(f->context, choose_by(&c, table, dear, 0, &choice));
  assert_int_equal(choice->known, 0);
  assert_null(choice->variant);
  const pit_index *index = build(&c, choice, 1, 16, 1);
  assert_int_equal(f->fake->launches, 0);
  assert_int_equal(index->total, 0);
  assert_true(index->flags & PIT_INDEX_DEVICE);
  leave(&c);
  // Fewer micro-tiles are no better: nothing is foregone.
  const double odd[] = {10, 0, 0, 10, -1, 0, 20, 1, 0};
  c = begin(f, NULL);
  assert_ok(f->context, choose_by(&c, table, odd, 0, &choice));
  assert_int_equal(choice->known, -1);
  leave(&c);
}

/// A choice that comes after one which the device makes is the device's, too,
/// whatever the host knows of it alone.
static void test_after(void **state) {
  cuda_fixture *f = *state;
  const double dear[] = {10, 0, 0, 10, 1, 0, 20, 1, 0};
  const description d = describe(1, 16, 1);
  call c = begin(f, NULL);
  const pit_device_choice *first = choose(&c, 0), *second = NULL;
  assert_ok(f->context, pit_rt_choose_on_device(
                            c.frame, first, NULL, 1, 0, PIT_SOURCE_VALUES,
                            c.data, d.words, NULL, table, dear, NULL, &second));
  assert_int_equal(second->known, -1);
  assert_non_null(second->variant);
  assert_ptr_not_equal(second->variant, first->variant);
  leave(&c);
  // The host knows that the first one is dense.
  c = begin(f, NULL);
  assert_ok(f->context, choose_by(&c, table, dear, 0, &first));
  assert_int_equal(first->known, 0);
  assert_ok(f->context, pit_rt_choose_on_device(
                            c.frame, first, NULL, 1, 0, PIT_SOURCE_VALUES,
                            c.data, d.words, NULL, table, dear, NULL, &second));
  assert_int_equal(second->known, 0);
  leave(&c);
}

/// Another choice, by data with such a row stride, where `seen` has looked.
static const pit_device_choice *choose_again(const call *c,
                                             const pit_device_choice *seen,
                                             const int64_t *variants,
                                             int64_t stride) {
  description d = describe(1, 16, 1);
  d.words[7] = stride;
  const pit_device_choice *choice = NULL;
  assert_ok(c->f->context,
            pit_rt_choose_on_device(c->frame, NULL, seen, 1,
                                    PIT_CHOOSE_DETERMINISTIC, PIT_SOURCE_VALUES,
                                    c->data, d.words, NULL, variants, costs,
                                    NULL, &choice));
  return choice;
}

/// What one choice has found serves another one by the same data: it decides
/// and lists, and has the same indices.
static void test_seen(void **state) {
  cuda_fixture *f = *state;
  enum { DENSE = PIT_VARIANT_DENSE };
  const int64_t rows[] = {2, DENSE, 0, 1, 0, 1, 0};
  const int64_t others[] = {2, DENSE, 1, 32, 1, 32, 1};
  call c = begin(f, NULL);
  const pit_device_choice *seen = choose(&c, 0);
  const pit_index *index = build(&c, seen, 0, 1, 0);
  int32_t before = f->fake->launches;
  const pit_device_choice *choice = choose_again(&c, seen, rows, COLUMNS);
  assert_int_equal(f->fake->launches - before, 1);
  assert_string_equal(f->fake->last.kernel, "pit_choose_list");
  assert_int_equal(choice->known, -1);
  assert_ptr_not_equal(choice->variant, seen->variant);
  assert_ptr_equal(build(&c, choice, 0, 1, 0)->ids, index->ids);
  // It serves a third one, too; but not for what nobody has looked for, or
  // other data.
  before = f->fake->launches;
  choose_again(&c, choice, rows, COLUMNS);
  assert_int_equal(f->fake->launches - before, 1);
  choose_again(&c, seen, others, COLUMNS);
  assert_int_equal(f->fake->launches - before, 3);
  choose_again(&c, seen, rows, 2 * COLUMNS);
  assert_int_equal(f->fake->launches - before, 5);
  leave(&c);
  // The host knows that the first one is dense: that has not looked.
  tell(f, 1, 0, 0);
  c = begin(f, NULL);
  seen = choose(&c, 0);
  assert_int_equal(seen->known, 0);
  before = f->fake->launches;
  choose_again(&c, seen, rows, COLUMNS);
  assert_int_equal(f->fake->launches - before, 2);
  leave(&c);
  // In a graph both look.
  void *stream = f->stream(), *graph = f->capture(stream);
  c = begin(f, stream);
  before = f->fake->launches;
  seen = choose(&c, 0);
  choose_again(&c, seen, rows, COLUMNS);
  assert_int_equal(f->fake->launches - before, 4);
  leave(&c);
  f->end_capture(stream);
  f->destroy_graph(graph);
}

/// Calls without the device after looks that ended dense, 1, 2, 4, ... of them;
/// not if it is to be deterministic, and not in a graph.
static void test_back_off(void **state) {
  cuda_fixture *f = *state;
  int32_t known[10];
  for (int32_t i = 0, looks = 0; i < 10; ++i) {
    call c = begin(f, NULL);
    known[i] = choose(&c, 0)->known;
    leave(&c);
    if (known[i] < 0)
      tell(f, ++looks, 0, 0);
  }
  const int32_t expected[] = {-1, 0, -1, 0, 0, -1, 0, 0, 0, 0};
  assert_memory_equal(known, expected, sizeof(known));
  call c = begin(f, NULL);
  tell(f, 4, 0, 0);
  assert_int_equal(choose(&c, PIT_CHOOSE_DETERMINISTIC)->known, -1);
  leave(&c);
  void *stream = f->stream(), *graph = f->capture(stream);
  c = begin(f, stream);
  assert_int_equal(choose(&c, 0)->known, -1);
  leave(&c);
  f->end_capture(stream);
  f->destroy_graph(graph);
}

/// What the host hears of is what pit_entry_choices says, and sparse looks go
/// on.
static void test_news(void **state) {
  cuda_fixture *f = *state;
  for (int32_t i = 1; i <= 3; ++i) {
    call c = begin(f, NULL);
    assert_int_equal(choose(&c, 0)->known, -1);
    leave(&c);
    tell(f, i, 1, 512);
  }
  // Nonsense is no news.
  tell(f, 4, 7, -3);
  call c = begin(f, NULL);
  assert_int_equal(choose(&c, 0)->known, -1);
  leave(&c);
}

static void test_errors(void **state) {
  cuda_fixture *f = *state;
  const pit_device_choice *choice = NULL;
  call c = begin(f, NULL);
  const double fullest[] = {100, 0, 0, 10, 1, 2, 20, 1, 0};
  check_error(f->context, choose_by(&c, table, fullest, 0, &choice),
              PIT_ERROR_UNSUPPORTED,
              "choice: variant 1 costs 2 for each micro-tile of the fullest "
              "group; on a device that must be 0");
  const int64_t no_dense[] = {1, 1, 16, 1, 16, 1};
  check_error(f->context, choose_by(&c, no_dense, costs, 0, &choice),
              PIT_ERROR_UNSUPPORTED,
              "choice: variant 0 has an index; on a device it must be the "
              "dense one");
  const int64_t many[] = {PIT_MAX_VARIANTS + 1};
  check_error(f->context, choose_by(&c, many, costs, 0, &choice),
              PIT_ERROR_INVALID_ARGUMENT, "there can be 1 to 16");
  const description lengths = describe(1, 16, 1);
  check_error(f->context,
              pit_rt_choose_on_device(c.frame, NULL, NULL, 0, 0,
                                      PIT_SOURCE_LENGTHS, c.data, lengths.words,
                                      NULL, table, costs, NULL, &choice),
              PIT_ERROR_UNSUPPORTED,
              "a device chooses by values (0) or by a mask (1)");
  assert_null(choice);
  // A bitmap of another shape, and one that is not on the device.
  pit_bitmap bitmap;
  const int64_t other[] = {ROWS, COLUMNS + 64};
  const description values = describe(1, 16, 1);
  for (int32_t on_device = 1; on_device >= 0; --on_device) {
    const int64_t shape[] = {ROWS, COLUMNS};
    assert_ok(f->context, pit_rt_bitmap(c.frame, 2, on_device ? other : shape,
                                        c.data, &bitmap));
    bitmap.on_device = on_device;
    check_error(
        f->context,
        pit_rt_choose_on_device(c.frame, NULL, NULL, 0, 0, PIT_SOURCE_VALUES,
                                c.data, values.words, &bitmap, table, costs,
                                NULL, &choice),
        PIT_ERROR_INVALID_ARGUMENT,
        "the bitmap is not one on a device, of source 0 and of the data's "
        "shape");
    assert_null(choice);
  }
  choice = choose(&c, 0);
  const description d = describe(1, 8, 1);
  const pit_index *index = NULL;
  check_error(f->context,
              pit_rt_build_if_chosen(c.frame, PIT_SOURCE_VALUES, c.data,
                                     d.words, choice, NULL, &index),
              PIT_ERROR_INVALID_ARGUMENT,
              "index: none of the 3 variants of the choice has an index of "
              "these micro-tiles along axis 1");
  const pit_device_choice none = {NULL, -1};
  check_error(f->context,
              pit_rt_build_if_chosen(c.frame, PIT_SOURCE_VALUES, c.data,
                                     d.words, &none, NULL, &index),
              PIT_ERROR_INVALID_ARGUMENT,
              "index: this call has made no such choice on a device");
  assert_null(index);
  leave(&c);
}

/// Where the device cannot write the host's memory, or there is no memory at
/// all.
static void test_failures(void **state) {
  cuda_fixture *f = *state;
  call c = begin(f, NULL);
  const pit_device_choice *choice = NULL;
  cuda_fail(f, "cuMemAlloc_v2", 2, 0, 8);
  assert_int_not_equal(choose_by(&c, table, costs, 0, &choice), PIT_OK);
  f->fake->fail_count = 0;
  cuda_fail(f, "cuMemHostRegister_v2", 801, 0, 1);
  assert_int_equal(choose(&c, 0)->known, -1);
  assert_int_equal(choose(&c, 0)->known, -1);
  leave(&c);
}

/// In a loop the memory of the last time is taken again, also after times that
/// did without the device.
static void test_loop(void **state) {
  cuda_fixture *f = *state;
  call c = begin(f, NULL);
  const description d = describe(1, 16, 1);
  pit_place of_choice = {.index = 0}, of_index = {.index = 0};
  const int32_t *word = NULL;
  int before = 0, looks = 0;
  for (int32_t i = 0; i < 50; ++i) {
    const pit_device_choice *choice = NULL;
    const pit_index *index = NULL;
    if (i % 8 == 7)
      tell(f, i, 0, 0);
    assert_ok(f->context,
              pit_rt_choose_on_device(c.frame, NULL, NULL, 0, 0,
                                      PIT_SOURCE_VALUES, c.data, d.words, NULL,
                                      table, costs, &of_choice, &choice));
    assert_ok(f->context,
              pit_rt_build_if_chosen(c.frame, PIT_SOURCE_VALUES, c.data,
                                     d.words, choice, &of_index, &index));
    looks += choice->known < 0;
    if (choice->known < 0 && !word)
      word = choice->variant;
    assert_ptr_equal(choice->variant, choice->known < 0 ? word : NULL);
    if (i == 2)
      before = f->fake->allocations;
  }
  assert_int_equal(f->fake->allocations, before);
  assert_true(looks > 20 && looks < 50);
  leave(&c);
}

/// A runtime without device code knows what the costs alone tell.
static void test_without_code(void **state) {
  cuda_fixture *f = *state;
  const double dear[] = {10, 0, 0, 10, 1, 0, 20, 1, 0};
  const pit_device_choice *choice = NULL;
  call c = begin(f, NULL);
  check_error(f->context, choose_by(&c, table, costs, 0, &choice),
              PIT_ERROR_UNSUPPORTED,
              "index: this runtime was built without the compiler, and so "
              "without device code");
  assert_null(choice);
  assert_ok(f->context, choose_by(&c, table, dear, 0, &choice));
  assert_int_equal(choice->known, 0);
  assert_int_equal(build(&c, choice, 1, 16, 1)->total, 0);
  leave(&c);
}

/// What is on a device is not known to the host.
static void test_host_choice(void **state) {
  cuda_fixture *f = *state;
  const int64_t desc[] = {
      PIT_DTYPE_FLOAT | 32 << 8, 0, 0, 0, 1, 64, 1, 1, 0, 64, 1, 1};
  const int64_t variants[] = {1, PIT_VARIANT_DENSE};
  const double costs[] = {1, 0, 0};
  pit_frame *frame = cuda_enter(f, NULL);
  const pit_bitmap *bitmap;
  int32_t variant;
  check_error(f->context,
              pit_rt_choose(frame, 0, 0, PIT_SOURCE_VALUES, f, desc, variants,
                            costs, NULL, &bitmap, &variant),
              PIT_ERROR_UNSUPPORTED, "choice: the program runs on a device");
  const pit_bitmap made = {.source = PIT_SOURCE_VALUES, .rank = 1};
  const pit_index *index;
  check_error(
      f->context,
      pit_rt_build(frame, PIT_SOURCE_VALUES, f, desc, &made, NULL, &index),
      PIT_ERROR_INVALID_ARGUMENT, "the index is to be of source 0 on a device");
  pit_rt_leave(frame, 0);
}

int main(void) {
  const struct CMUnitTest with_code[] = {
      CUDA_TEST(test_host_choice), CUDA_TEST(test_kernels),
      CUDA_TEST(test_reads),       CUDA_TEST(test_foregone),
      CUDA_TEST(test_after),       CUDA_TEST(test_back_off),
      CUDA_TEST(test_news),        CUDA_TEST(test_errors),
      CUDA_TEST(test_failures),    CUDA_TEST(test_loop),
      CUDA_TEST(test_seen),
  };
  const struct CMUnitTest without_code[] = {
      CUDA_TEST(test_host_choice),
      CUDA_TEST(test_without_code),
  };
  return CUDA_DEVICE_CODE ? cmocka_run_group_tests(with_code, NULL, NULL)
                          : cmocka_run_group_tests(without_code, NULL, NULL);
}
