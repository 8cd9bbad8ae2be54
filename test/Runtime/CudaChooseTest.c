//===- CudaChooseTest.c - A device chooses among variants -----------------===//
//
// Over the fake driver, which runs nothing: which kernels are started when, and
// what the host makes of the report that a device would write.
// benchmarks/selection/regret_gpu.py and test/GPU check what kernels compute.
//
//===----------------------------------------------------------------------===//

#include "Builds.h"
#include "CudaFixture.h"

#include "pit-runtime/Program.h"

#include <string.h>

enum { ROWS = 256, COLUMNS = 128 };

static const pit_cost costs[] = {{100, 0, 0}, {10, 1, 0}, {20, 1, 0}};

/// An index along that axis, in micro-tiles of h x w.
static pit_build index_of(int axis, int64_t h, int64_t w) {
  return build_of(32, axis, h, w);
}

/// Variants live as long as a program.
static pit_variants *keep(pit_variants variants) {
  static pit_variants kept[256];
  static int next;
  pit_variants *place = &kept[next++ % 256];
  *place = variants;
  return place;
}

/// A dense variant, and one with this index.
static pit_variants *one_of(int axis, int64_t h, int64_t w) {
  return keep(
      variants_of(index_of(axis, h, w), index_of(PIT_VARIANT_DENSE, 1, 1)));
}

/// Variant 1 has micro-tiles of 16x1, variant 2 whole rows.
static pit_variants *table(void) {
  return keep(variants_of(index_of(1, 16, 1), index_of(0, 1, 0)));
}

typedef struct call {
  cuda_fixture *f;
  pit_frame *frame;
  void *data;
  pit_view view;
} call;

static call begin(cuda_fixture *f, void *stream) {
  call c = {.f = f, .frame = cuda_enter(f, stream)};
  assert_ok(f->context, pit_rt_alloc(c.frame, 4 * ROWS * COLUMNS, &c.data));
  c.view = view_of(c.data, ROWS, COLUMNS);
  return c;
}

static int32_t choose_by(const call *c, const pit_variants *variants,
                         const pit_cost *times,
                         const pit_device_choice **choice) {
  return pit_rt_choose_on_device(c->frame, variants, &c->view, times, NULL,
                                 NULL, choice);
}

static const pit_device_choice *choose(const call *c, int32_t flags) {
  const pit_device_choice *choice = NULL;
  pit_variants *variants = table();
  variants->flags = flags;
  assert_ok(c->f->context, choose_by(c, variants, costs, &choice));
  assert_non_null(choice);
  return choice;
}

static const pit_index *build(const call *c, const pit_device_choice *choice,
                              int axis, int64_t h, int64_t w) {
  const pit_build its = index_of(axis, h, w);
  const pit_index *index = NULL;
  assert_ok(c->f->context,
            pit_rt_build_if_chosen(c->frame, &its, &c->view, c->view.shape,
                                   choice, NULL, &index));
  assert_non_null(index);
  return index;
}

/// As the device's latest scan would have it, whichever choice that was.
static void tell(const cuda_fixture *f, int32_t scans, int32_t variant,
                 int64_t live) {
  struct {
    int32_t scans, variant;
    int64_t live;
  } *reports = f->fake->registered;
  assert_non_null(reports);
  for (size_t i = 0; i < f->fake->registered_bytes / sizeof(*reports); ++i) {
    reports[i].scans = scans;
    reports[i].variant = variant;
    reports[i].live = live;
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
static void check_launches(const call *c, const pit_variants *variants,
                           int32_t launches, int64_t blocks) {
  int32_t before = c->f->fake->launches;
  const pit_device_choice *choice = NULL;
  assert_ok(c->f->context, choose_by(c, variants, costs, &choice));
  assert_int_equal(c->f->fake->launches - before, launches);
  assert_string_equal(c->f->fake->last.kernel, "pit_choose_list");
  assert_int_equal(c->f->fake->last.blocks, blocks);
}

/// What one read does for, and what needs a scan for each variant: a launch
/// that begins, the scans, and one that counts.
static void test_reads(void **state) {
  cuda_fixture *f = *state;
  call c = begin(f, NULL);
  check_launches(&c, one_of(1, 128, 1), 2, ROWS / 128);
  check_launches(&c, one_of(0, 1, 0), 2, 1);
  check_launches(&c, one_of(1, 4, 1), 4, ROWS / 4);
  check_launches(&c, one_of(1, 20, 1), 4, (ROWS + 19) / 20);
  pit_variants *overlapping = one_of(1, 16, 1);
  overlapping->variants[1].step[0] = 8;
  check_launches(&c, overlapping, 4, (ROWS - 16) / 8 + 1);
  check_launches(&c, keep(variants_of(index_of(1, 16, 1), index_of(1, 32, 1))),
                 5, ROWS / 16);
  check_launches(&c, one_of(0, 1, 64), 4, COLUMNS / 64);
  // Rows of the matrix that do not begin at multiples of 16 bytes.
  c.view.strides[0] = COLUMNS + 1;
  int32_t before = f->fake->launches;
  (void)choose(&c, 0);
  assert_int_equal(f->fake->launches - before, 5);
  leave(&c);
}

/// The costs alone tell that nothing can beat the dense variant.
static void test_dense_always_wins(void **state) {
  cuda_fixture *f = *state;
  const pit_cost dear[] = {{10, 0, 0}, {10, 1, 0}, {20, 1, 0}};
  call c = begin(f, NULL);
  const pit_device_choice *choice = NULL;
  assert_ok(f->context, choose_by(&c, table(), dear, &choice));
  assert_int_equal(choice->known, 0);
  assert_null(choice->variant);
  const pit_index *index = build(&c, choice, 1, 16, 1);
  assert_int_equal(f->fake->launches, 0);
  assert_int_equal(index->total, 0);
  assert_true(index->flags & PIT_INDEX_DEVICE);
  leave(&c);
  // Fewer micro-tiles are no better: dense does not always win.
  const pit_cost odd[] = {{10, 0, 0}, {10, -1, 0}, {20, 1, 0}};
  c = begin(f, NULL);
  assert_ok(f->context, choose_by(&c, table(), odd, &choice));
  assert_int_equal(choice->known, -1);
  leave(&c);
}

/// A choice that comes after one which the device makes is the device's, too,
/// whatever the host knows of it alone.
static void test_after(void **state) {
  cuda_fixture *f = *state;
  const pit_cost dear[] = {{10, 0, 0}, {10, 1, 0}, {20, 1, 0}};
  call c = begin(f, NULL);
  pit_variants *marked = table();
  marked->mark = 1;
  const pit_device_choice *first = choose(&c, 0), *second = NULL;
  assert_ok(f->context,
            pit_rt_choose_on_device(c.frame, marked, &c.view, dear,
                                    &(pit_choice_facts){.after = first}, NULL,
                                    &second));
  assert_int_equal(second->known, -1);
  assert_non_null(second->variant);
  assert_ptr_not_equal(second->variant, first->variant);
  leave(&c);
  // The host knows that the first one is dense.
  c = begin(f, NULL);
  assert_ok(f->context, choose_by(&c, table(), dear, &first));
  assert_int_equal(first->known, 0);
  assert_ok(f->context,
            pit_rt_choose_on_device(c.frame, marked, &c.view, dear,
                                    &(pit_choice_facts){.after = first}, NULL,
                                    &second));
  assert_int_equal(second->known, 0);
  leave(&c);
}

/// Another choice, by data with such a row stride, where `seen` has scanned.
static const pit_device_choice *choose_again(call *c,
                                             const pit_device_choice *seen,
                                             pit_variants *variants,
                                             int64_t stride) {
  pit_view view = c->view;
  view.strides[0] = stride;
  variants->mark = 1;
  variants->flags = PIT_CHOOSE_DETERMINISTIC;
  const pit_device_choice *choice = NULL;
  assert_ok(c->f->context,
            pit_rt_choose_on_device(c->frame, variants, &view, costs,
                                    &(pit_choice_facts){.seen = seen}, NULL,
                                    &choice));
  return choice;
}

/// What one choice has found serves another one by the same data: it decides
/// and lists, and has the same indices.
static void test_seen(void **state) {
  cuda_fixture *f = *state;
  pit_variants *rows = one_of(0, 1, 0), *others = one_of(1, 32, 1);
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
  // In a graph both scan.
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

/// Calls without the device after scans that ended dense, 1, 2, 4, ... of them;
/// not if it is to be deterministic, and not in a graph.
static void test_back_off(void **state) {
  cuda_fixture *f = *state;
  int32_t known[10];
  for (int32_t i = 0, scans = 0; i < 10; ++i) {
    call c = begin(f, NULL);
    known[i] = choose(&c, 0)->known;
    leave(&c);
    if (known[i] < 0)
      tell(f, ++scans, 0, 0);
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

/// What the host hears of is what pit_entry_choices says, and sparse scans go
/// on.
static void test_report(void **state) {
  cuda_fixture *f = *state;
  for (int32_t i = 1; i <= 3; ++i) {
    call c = begin(f, NULL);
    assert_int_equal(choose(&c, 0)->known, -1);
    leave(&c);
    tell(f, i, 1, 512);
  }
  // Nonsense is no report.
  tell(f, 4, 7, -3);
  call c = begin(f, NULL);
  assert_int_equal(choose(&c, 0)->known, -1);
  leave(&c);
}

static void test_errors(void **state) {
  cuda_fixture *f = *state;
  const pit_device_choice *choice = NULL;
  call c = begin(f, NULL);
  const pit_cost fullest[] = {{100, 0, 0}, {10, 1, 2}, {20, 1, 0}};
  check_error(f->context, choose_by(&c, table(), fullest, &choice),
              PIT_ERROR_UNSUPPORTED,
              "choice: variant 1 costs 2 for each micro-tile of the fullest "
              "group; on a device that must be 0");
  pit_variants *no_dense = table();
  no_dense->variants[0].axis = 1;
  check_error(f->context, choose_by(&c, no_dense, costs, &choice),
              PIT_ERROR_UNSUPPORTED,
              "choice: variant 0 has an index; on a device it must be the "
              "dense one");
  pit_variants *lengths = table();
  lengths->variants[0].source = PIT_SOURCE_LENGTHS;
  check_error(f->context, choose_by(&c, lengths, costs, &choice),
              PIT_ERROR_UNSUPPORTED,
              "a device chooses by values (0) or by a mask (1)");
  assert_null(choice);
  // A bitmap of another shape, and one that is not on the device.
  pit_bitmap bitmap;
  const int64_t other[] = {ROWS, COLUMNS + 64};
  for (int32_t on_device = 1; on_device >= 0; --on_device) {
    const int64_t shape[] = {ROWS, COLUMNS};
    assert_ok(f->context, pit_rt_bitmap(c.frame, 2, on_device ? other : shape,
                                        c.data, &bitmap));
    bitmap.on_device = on_device;
    check_error(
        f->context,
        pit_rt_choose_on_device(c.frame, table(), &c.view, costs,
                                &(pit_choice_facts){.bitmap = &bitmap}, NULL,
                                &choice),
        PIT_ERROR_INVALID_ARGUMENT,
        "the bitmap is not one on a device, of source 0 and of the data's "
        "shape");
    assert_null(choice);
  }
  choice = choose(&c, 0);
  const pit_build low = index_of(1, 8, 1);
  const pit_index *index = NULL;
  check_error(f->context,
              pit_rt_build_if_chosen(c.frame, &low, &c.view, c.view.shape,
                                     choice, NULL, &index),
              PIT_ERROR_INVALID_ARGUMENT,
              "index: none of the 3 variants of the choice has an index of "
              "these micro-tiles along axis 1");
  const pit_device_choice none = {NULL, -1};
  check_error(f->context,
              pit_rt_build_if_chosen(c.frame, &low, &c.view, c.view.shape,
                                     &none, NULL, &index),
              PIT_ERROR_INVALID_ARGUMENT,
              "index: this call has made no such choice on a device");
  assert_null(index);
  leave(&c);
}

/// If the device cannot write the host's memory, or there is no memory at
/// all.
static void test_failures(void **state) {
  cuda_fixture *f = *state;
  call c = begin(f, NULL);
  const pit_device_choice *choice = NULL;
  cuda_fail(f, "cuMemAlloc_v2", 2, 0, 8);
  assert_int_not_equal(choose_by(&c, table(), costs, &choice), PIT_OK);
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
  const pit_variants *variants = table();
  pit_place of_choice = {.index = 0}, of_index = {.index = 0};
  const int32_t *word = NULL;
  int before = 0, scans = 0;
  for (int32_t i = 0; i < 50; ++i) {
    const pit_device_choice *choice = NULL;
    const pit_index *index = NULL;
    if (i % 8 == 7)
      tell(f, i, 0, 0);
    assert_ok(f->context,
              pit_rt_choose_on_device(c.frame, variants, &c.view, costs, NULL,
                                      &of_choice, &choice));
    assert_ok(f->context,
              pit_rt_build_if_chosen(c.frame, &variants->variants[1], &c.view,
                                     c.view.shape, choice, &of_index, &index));
    scans += choice->known < 0;
    if (choice->known < 0 && !word)
      word = choice->variant;
    assert_ptr_equal(choice->variant, choice->known < 0 ? word : NULL);
    if (i == 2)
      before = f->fake->allocations;
  }
  assert_int_equal(f->fake->allocations, before);
  assert_true(scans > 20 && scans < 50);
  leave(&c);
}

/// A runtime without device code knows what the costs alone tell.
static void test_without_code(void **state) {
  cuda_fixture *f = *state;
  const pit_cost dear[] = {{10, 0, 0}, {10, 1, 0}, {20, 1, 0}};
  const pit_device_choice *choice = NULL;
  call c = begin(f, NULL);
  check_error(f->context, choose_by(&c, table(), costs, &choice),
              PIT_ERROR_UNSUPPORTED,
              "index: this runtime was built without the compiler, and so "
              "without device code");
  assert_null(choice);
  assert_ok(f->context, choose_by(&c, table(), dear, &choice));
  assert_int_equal(choice->known, 0);
  assert_int_equal(build(&c, choice, 1, 16, 1)->total, 0);
  leave(&c);
}

/// What is on a device is not known to the host.
static void test_host_choice(void **state) {
  cuda_fixture *f = *state;
  const pit_variants *variants = table();
  const pit_view view = view_of(f, ROWS, COLUMNS);
  pit_frame *frame = cuda_enter(f, NULL);
  const pit_bitmap *bitmap;
  int32_t variant;
  check_error(
      f->context,
      pit_rt_choose(frame, variants, &view, costs, NULL, &bitmap, &variant),
      PIT_ERROR_UNSUPPORTED, "choice: the program runs on a device");
  const pit_bitmap made = {.source = PIT_SOURCE_VALUES, .rank = 1};
  const pit_index *index;
  check_error(f->context,
              pit_rt_build(frame, &variants->variants[1], &view, view.shape,
                           &made, NULL, &index),
              PIT_ERROR_INVALID_ARGUMENT,
              "the index is to be of source 0 on a device");
  pit_rt_leave(frame, 0);
}

int main(void) {
  const struct CMUnitTest with_code[] = {
      CUDA_TEST(test_host_choice), CUDA_TEST(test_kernels),
      CUDA_TEST(test_reads),       CUDA_TEST(test_dense_always_wins),
      CUDA_TEST(test_after),       CUDA_TEST(test_back_off),
      CUDA_TEST(test_report),      CUDA_TEST(test_errors),
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
