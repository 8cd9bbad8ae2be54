//===- CudaModuleTest.c - Device code: loading, caching, launching --------===//

#include "CudaFixture.h"

#include "Core/Sha256.h"
#include "Cuda/CudaContext.h"
#include "Program/Frame.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_sha256(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int times;
    const char *digest;
  } cases[] = {
      {"", 1,
       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", 1,
       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"aaaaaaaaaa", 100000,
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    pit_sha256 sha;
    uint8_t digest[PIT_SHA256_SIZE];
    char text[2 * PIT_SHA256_SIZE + 1];
    pit_sha256_begin(&sha);
    for (int j = 0; j < cases[i].times; ++j)
      pit_sha256_add(&sha, cases[i].text, strlen(cases[i].text));
    pit_sha256_end(&sha, digest);
    for (int j = 0; j < PIT_SHA256_SIZE; ++j)
      snprintf(text + (size_t)2 * j, 3, "%02x", digest[j]);
    assert_string_equal(text, cases[i].digest);
  }
}

static int32_t launch_image(cuda_fixture *f, const pit_image *image,
                            const char *kernel) {
  pit_frame *frame = cuda_enter(f, NULL);
  int32_t status = pit_rt_launch(
      frame, &(pit_kernel){image, kernel, 32, 0, 0, 0}, 1, 1, NULL);
  return pit_rt_leave(frame, status);
}

static int32_t launch(cuda_fixture *f, const char *code, const char *kernel) {
  const pit_image image = {code, (int64_t)strlen(code) + 1};
  return launch_image(f, &image, kernel);
}

static void test_launch(void **state) {
  cuda_fixture *f = *state;
  void *stream = f->stream(), *value = f;
  void *params[] = {&value};
  const pit_image image = {" one two ", 10};
  pit_frame *frame = cuda_enter(f, stream);
#define LAUNCH(kernel, blocks, threads, shared)                                \
  pit_rt_launch(frame, &(pit_kernel){&image, kernel, threads, shared, 0, 0},   \
                blocks, 1, params)
  assert_ok(f->context, LAUNCH("one", 7, 128, 200000));
  const fake_launch *last = &f->fake->last;
  assert_string_equal(last->kernel, "one");
  assert_int_equal(last->blocks, 7);
  assert_int_equal(last->threads, 128);
  assert_int_equal(last->shared, 200000);
  assert_ptr_equal(last->stream, stream);
  assert_ptr_equal(last->first, value);
  assert_ok(f->context, LAUNCH("two", INT64_MAX, 1024, 0));
  assert_string_equal(last->kernel, "two");
  assert_int_equal(last->blocks, INT32_MAX);
  assert_int_equal(last->split, 1);
  assert_ok(f->context,
            pit_rt_launch(frame, &(pit_kernel){&image, "one", 32, 0, 0, 0}, 7,
                          65535, params));
  assert_int_equal(last->blocks, 7);
  assert_int_equal(last->split, 65535);
  assert_ok(f->context,
            pit_rt_launch(frame, &(pit_kernel){&image, "one", 32, 0, 0, 0}, 7,
                          INT64_MAX, params));
  assert_int_equal(last->split, 65535);
  assert_false(last->is_pdl);
  const pit_kernel pdl = {&image, "one", 32, 0, PIT_KERNEL_PDL, 0};
  assert_ok(f->context, pit_rt_launch(frame, &pdl, 7, 1, params));
  assert_true(last->is_pdl);
  assert_ok(f->context,
            pit_rt_launch(frame, &(pit_kernel){&image, "one", 32, 0, 0, 0}, 0,
                          0, params));
  check_error(f->context,
              pit_rt_launch(frame, &(pit_kernel){&image, "one", 32, 0, 0, 0}, 1,
                            0, params),
              PIT_ERROR_INVALID_ARGUMENT,
              "cuda: kernel 'one' is to run with 0 blocks along y; there must "
              "be at least 1");
  assert_ok(f->context, LAUNCH("none", 0, 0, -1));
  assert_ok(f->context, LAUNCH("none", -3, 0, -1));
  assert_int_equal(f->fake->launches, 5);
  check_error(f->context, LAUNCH("three", 1, 32, 0), PIT_ERROR_LOAD,
              "cuda: the program's device code has no kernel 'three'");
  check_error(f->context, LAUNCH("one", 1, 0, 0), PIT_ERROR_INVALID_ARGUMENT,
              "cuda: kernel 'one' is to run with 0 threads a block; there can "
              "be 1 to 1024");
  check_error(f->context, LAUNCH("one", 1, 1025, 0), PIT_ERROR_INVALID_ARGUMENT,
              "with 1025 threads a block");
  check_error(f->context, LAUNCH("one", 1, 32, 231425), PIT_ERROR_DEVICE,
              "cuda: kernel 'one' needs 231425 bytes of shared memory beside "
              "its own 1024; device 0 (Fake 0) has 232448 for both");
  check_error(f->context, LAUNCH("one", 1, 32, -1), PIT_ERROR_DEVICE,
              "needs -1 bytes");
  cuda_fail(f, "cuLaunchKernel", 701, 0, 1);
  check_error(
      f->context, LAUNCH("one", 5, 64, 16), PIT_ERROR_DRIVER,
      "cuda: starting kernel 'one' with 5 x 1 blocks of 64 threads and 16 "
      "bytes of shared memory failed on device 0 (Fake 0): fake error "
      "(error 701)");
  check_error(f->context,
              pit_rt_launch(frame, &(pit_kernel){NULL, "one", 32, 0, 0, 0}, 1,
                            1, params),
              PIT_ERROR_INVALID_ARGUMENT,
              "cuda: a kernel's image or name is missing");
  assert_int_equal(pit_rt_launch(NULL,
                                 &(pit_kernel){&image, "one", 32, 0, 0, 0}, 1,
                                 1, NULL),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(f->fake->loads, 1);
  assert_int_equal(f->fake->attributes_set, 2);

  pit_cuda_grid grid = {.blocks = 8, .threads = 64, .cluster = 4};
  const pit_cuda_work *work = &frame->cuda->work;
  assert_ok(f->context, pit_cuda_launch(work, &image, "two", &grid, params));
  assert_int_equal(last->cluster, 4);
  assert_int_equal(last->blocks, 8);
  assert_int_equal(last->split, 1);
  assert_ptr_equal(last->stream, stream);
  grid.blocks = 9;
  check_error(f->context, pit_cuda_launch(work, &image, "two", &grid, params),
              PIT_ERROR_INVALID_ARGUMENT,
              "cuda: kernel 'two' is to run with 9 blocks in clusters of 4; it "
              "must be a multiple");
  uint32_t *words;
  assert_ok(f->context, pit_cuda_alloc(work, 40, (void **)&words));
  assert_ok(f->context, pit_cuda_fill(work, words, 0xABCD, 10));
  assert_int_equal(words[9], 0xABCD);
  assert_int_equal(pit_cuda_device(f->context)->capability, 90);
  assert_int_equal(pit_cuda_device(f->context)->l2_bytes, 50 << 20);
  pit_rt_leave(frame, 0);
}

/// Code is known by its content: the address only makes finding it quick.
static void test_identity(void **state) {
  cuda_fixture *f = *state;
  char place[] = " k a ", other[] = " k a ";
  assert_ok(f->context, launch(f, place, "k"));
  assert_ok(f->context, launch(f, place, "k"));
  assert_ok(f->context, launch(f, other, "k"));
  assert_ok(f->context, launch(f, place, "k"));
  assert_int_equal(f->fake->loads, 1);
  // Another program at the same address, of the same size.
  place[3] = 'b';
  assert_ok(f->context, launch(f, place, "k"));
  assert_int_equal(f->fake->loads, 2);
  assert_ok(f->context, launch(f, place, "b"));
  check_error(f->context, launch(f, place, "a"), PIT_ERROR_LOAD,
              "has no kernel 'a'");
  assert_int_equal(f->fake->loads, 2);
  // And back.
  place[3] = 'a';
  assert_ok(f->context, launch(f, place, "a"));
  assert_int_equal(f->fake->loads, 2);
}

/// A call compares an image once; then it is the program that it was, and not
/// one that lay at the same address before.
static void test_identity_in_a_call(void **state) {
  cuda_fixture *f = *state;
  char place[] = " k a ";
  const pit_image image = {place, sizeof(place)};
  assert_ok(f->context, launch(f, place, "k"));
  assert_ok(f->context, launch(f, place, "a"));
  place[3] = 'b';
  pit_frame *frame = cuda_enter(f, NULL);
  assert_ok(f->context,
            pit_rt_launch(frame, &(pit_kernel){&image, "k", 32, 0, 0, 0}, 1, 1,
                          NULL));
  check_error(
      f->context,
      pit_rt_launch(frame, &(pit_kernel){&image, "a", 32, 0, 0, 0}, 1, 1, NULL),
      PIT_ERROR_LOAD, "has no kernel 'a'");
  assert_ok(f->context,
            pit_rt_launch(frame, &(pit_kernel){&image, "b", 32, 0, 0, 0}, 1, 1,
                          NULL));
  pit_rt_leave(frame, 0);
  assert_int_equal(f->fake->loads, 2);
}

/// Loading and unloading disturb no capture, of this stream or another.
static void test_capture(void **state) {
  cuda_fixture *f = *state;
  void *stream = f->stream();
  void *graph = f->capture(stream);
  pit_frame *frame = cuda_enter(f, stream);
  const pit_image image = {" k ", 4};
  assert_ok(f->context,
            pit_rt_launch(frame, &(pit_kernel){&image, "k", 32, 0, 0, 0}, 1, 1,
                          NULL));
  pit_rt_leave(frame, 0);
  assert_ok(f->context, launch(f, " other ", "other"));
  pit_context_destroy(f->context);
  f->context = NULL;
  f->end_capture(stream);
  f->destroy_graph(graph);
}

/// PTX of the compiler says what it is in its last line.
static void test_identity_by_line(void **state) {
  cuda_fixture *f = *state;
  char place[] = " k a \n// pit 0123456789abcdef";
  assert_ok(f->context, launch(f, place, "a"));
  assert_ok(f->context, launch(f, place, "k"));
  assert_int_equal(f->fake->loads, 1);
  // Nothing else is looked at.
  place[3] = 'b';
  assert_ok(f->context, launch(f, place, "a"));
  place[sizeof(place) - 2] = '0';
  assert_ok(f->context, launch(f, place, "b"));
  assert_int_equal(f->fake->loads, 2);
  // A line of another form is part of the text.
  place[sizeof(place) - 18] = '_';
  place[3] = 'c';
  assert_ok(f->context, launch(f, place, "c"));
  place[3] = 'd';
  assert_ok(f->context, launch(f, place, "d"));
  assert_int_equal(f->fake->loads, 4);
}

/// A cubin with such a line behind it, and NULs inside.
static void test_identity_of_cubin(void **state) {
  cuda_fixture *f = *state;
  char place[] = "\177ELF k a \0\0\n// pit 0123456789abcdef";
  const pit_image image = {place, sizeof(place)};
  for (int i = 0; i < 3; ++i) {
    assert_ok(f->context, launch_image(f, &image, "k"));
    assert_ok(f->context, launch_image(f, &image, "a"));
  }
  assert_int_equal(f->fake->loads, 1);
  assert_int_equal(f->fake->links, 0);
  // Only the line is compared.
  place[7] = 'b';
  assert_ok(f->context, launch_image(f, &image, "a"));
  assert_int_equal(f->fake->loads, 1);
  place[sizeof(place) - 2] = '0';
  check_error(f->context, launch_image(f, &image, "a"), PIT_ERROR_LOAD,
              "has no kernel 'a'");
  assert_ok(f->context, launch_image(f, &image, "b"));
  assert_int_equal(f->fake->loads, 2);
}

static void test_bad_code(void **state) {
  cuda_fixture *f = *state;
  check_error(f->context, launch(f, " k broken ", "k"), PIT_ERROR_LOAD,
              "cuda: the program's device code does not load on device 0 "
              "(Fake 0, sm_90): cuLinkAddData: fake error (error 218): ptxas: "
              "line 1 broken");
  check_error(f->context, launch(f, "\177ELF k broken ", "k"), PIT_ERROR_LOAD,
              "cuModuleLoadDataEx: fake error (error 218): not a cubin");
  cuda_fail(f, "cuModuleLoadDataEx", 200, 0, 1);
  check_error(f->context, launch(f, "\177ELF k ", "k"), PIT_ERROR_LOAD,
              "cuModuleLoadDataEx: fake error (error 200): it is a cubin: the "
              "GPU must be of its architecture, and the driver as new as its "
              "assembler (for older ones: pit-compile --device-code=ptx)");
  pit_frame *frame = cuda_enter(f, NULL);
  const pit_image cut = {" k ", 3};
  check_error(
      f->context,
      pit_rt_launch(frame, &(pit_kernel){&cut, "k", 32, 0, 0, 0}, 1, 1, NULL),
      PIT_ERROR_LOAD,
      "cuda: the program's device code is neither a cubin nor PTX that "
      "ends in a NUL");
  pit_rt_leave(frame, 0);
  static const struct {
    const char *function, *part;
    int error;
    pit_status status;
  } cases[] = {
      {"cuLinkCreate_v2", "cuLinkCreate", 719, PIT_ERROR_LOAD},
      {"cuLinkAddData_v2", "cuLinkAddData", 719, PIT_ERROR_LOAD},
      {"cuLinkComplete", "cuLinkComplete", 719, PIT_ERROR_LOAD},
      {"cuLinkComplete", "cuda: cuLinkComplete failed", 2,
       PIT_ERROR_OUT_OF_MEMORY},
      {"cuModuleLoadDataEx", "cuModuleLoadDataEx", 719, PIT_ERROR_LOAD},
      {"cuModuleGetFunction", "cuModuleGetFunction", 719, PIT_ERROR_DRIVER},
      {"cuFuncGetAttribute", "cuFuncGetAttribute", 719, PIT_ERROR_DRIVER},
      {"cuFuncSetAttribute", "cuFuncSetAttribute", 719, PIT_ERROR_DRIVER},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    cuda_fail(f, cases[i].function, cases[i].error, 0, 1);
    check_error(f->context, launch(f, " k ", "k"), cases[i].status,
                cases[i].part);
  }
  // It is not remembered that it failed.
  assert_ok(f->context, launch(f, " k ", "k"));
  assert_ok(f->context, launch(f, "\177ELF e ", "e"));
}

//===----------------------------------------------------------------------===//
// The cache on disk
//===----------------------------------------------------------------------===//

/// Calls `see` for each file of a folder; returns how many there are.
static int each_file(const char *folder, void (*see)(const char *path)) {
  DIR *all = opendir(folder);
  assert_non_null(all);
  int count = 0;
  for (struct dirent *one; (one = readdir(all));)
    if (one->d_name[0] != '.') {
      char path[600];
      snprintf(path, sizeof(path), "%s/%s", folder, one->d_name);
      if (see)
        see(path);
      ++count;
    }
  closedir(all);
  return count;
}

static void remove_file(const char *path) { assert_int_equal(remove(path), 0); }

static void cut_file(const char *path) {
  assert_int_equal(truncate(path, 50), 0);
}

static void damage_file(const char *path) {
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  fseek(file, -2, SEEK_END);
  fputc('!', file);
  fclose(file);
}

static void empty_file(const char *path) {
  assert_int_equal(truncate(path, 0), 0);
}

/// Runs a kernel in a new context; returns how often it was linked.
static int links_of_run(cuda_fixture *f, const char *folder) {
  int before = f->fake->links;
  assert_int_equal(cuda_create(f, 0, folder), PIT_OK);
  assert_ok(f->context, launch(f, " kept ", "kept"));
  assert_string_equal(f->fake->last.kernel, "kept");
  pit_context_destroy(f->context);
  f->context = NULL;
  return f->fake->links - before;
}

static void test_cache(void **state) {
  cuda_fixture *f = *state;
  char base[] = "/tmp/pit-cache-test-XXXXXX", folder[64];
  assert_non_null(mkdtemp(base));
  snprintf(folder, sizeof(folder), "%s/deeper/still", base);
  assert_int_equal(links_of_run(f, folder), 1);
  assert_int_equal(each_file(folder, NULL), 1);
  assert_int_equal(links_of_run(f, folder), 0);
  // A broken file is ignored and written again.
  void (*const harms[])(const char *) = {cut_file, damage_file, empty_file};
  for (size_t i = 0; i < sizeof(harms) / sizeof(*harms); ++i) {
    each_file(folder, harms[i]);
    assert_int_equal(links_of_run(f, folder), 1);
    assert_int_equal(links_of_run(f, folder), 0);
  }
  // A cubin that the driver does not take, too.
  cuda_fail(f, "cuModuleLoadDataEx", 209, 0, 1);
  assert_int_equal(links_of_run(f, folder), 1);
  // Another driver, another device: another file.
  f->fake->version = 13000;
  assert_int_equal(links_of_run(f, folder), 1);
  f->fake->capability_major = 10;
  assert_int_equal(links_of_run(f, folder), 1);
  assert_int_equal(each_file(folder, NULL), 3);
  // Nothing is kept if that is asked for, or if there is no place for it.
  assert_int_equal(links_of_run(f, ""), 1);
  assert_int_equal(links_of_run(f, ""), 1);
  assert_int_equal(links_of_run(f, "/dev/null/pit"), 1);
  each_file(folder, remove_file);
  rmdir(folder);
  // The folder is gone meanwhile: no error, and nothing is left elsewhere.
  assert_int_equal(cuda_create(f, 0, folder), PIT_OK);
  rmdir(folder);
  assert_ok(f->context, launch(f, " kept ", "kept"));
  pit_context_destroy(f->context);
  f->context = NULL;
  *strrchr(folder, '/') = '\0';
  assert_int_equal(each_file(folder, NULL), 0);
  rmdir(folder);
  assert_int_equal(rmdir(base), 0);
}

static void test_cache_folder(void **state) {
  (void)state;
  char base[] = "/tmp/pit-cache-test-XXXXXX", wanted[64];
  assert_non_null(mkdtemp(base));
  unsetenv("PIT_CACHE_DIR");
  setenv("XDG_CACHE_HOME", base, 1);
  snprintf(wanted, sizeof(wanted), "%s/pit", base);
  char *folder = pit_cuda_cache_folder(NULL);
  assert_string_equal(folder, wanted);
  free(folder);
  rmdir(wanted);
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", base, 1);
  snprintf(wanted, sizeof(wanted), "%s/.cache/pit", base);
  folder = pit_cuda_cache_folder(NULL);
  assert_string_equal(folder, wanted);
  free(folder);
  rmdir(wanted);
  *strrchr(wanted, '/') = '\0';
  rmdir(wanted);
  setenv("PIT_CACHE_DIR", base, 1);
  folder = pit_cuda_cache_folder(NULL);
  assert_string_equal(folder, base);
  free(folder);
  assert_null(pit_cuda_cache_folder(""));
  setenv("PIT_CACHE_DIR", "", 1);
  assert_null(pit_cuda_cache_folder(NULL));
  unsetenv("PIT_CACHE_DIR");
  unsetenv("HOME");
  assert_null(pit_cuda_cache_folder(NULL));
  assert_int_equal(rmdir(base), 0);
}

//===----------------------------------------------------------------------===//
// TMA descriptors
//===----------------------------------------------------------------------===//

static void test_tensor_map(void **state) {
  cuda_fixture *f = *state;
  pit_frame *frame = cuda_enter(f, NULL);
  _Alignas(64) uint64_t map[16] = {0};
  _Alignas(16) char data[16];
  // 100x4096 bf16, rows 8192 apart; boxes of 64x64, 128-byte swizzle.
  const pit_tensor_map sound = {.dtype = {PIT_DTYPE_BFLOAT, 16, 1},
                                .rank = 2,
                                .swizzle = 128,
                                .l2_promotion = 256,
                                .box = {64, 64}};
  const pit_view whole = {data, {100, 4096}, {8192, 1}};
  pit_tensor_map form = sound;
  pit_view view = whole;
#define MAP() pit_rt_tensor_map(frame, map, &form, &view)
  assert_ok(f->context, MAP());
  assert_int_equal(map[0], 9 | 2 << 8 | 3 << 16 | 3 << 24);
  assert_ptr_equal((void *)(uintptr_t)map[1], data);
  const uint64_t rest[] = {4096, 100, 16384, 64, 64};
  assert_memory_equal(map + 2, rest, sizeof(rest));
  form.swizzle = form.l2_promotion = 0;
  assert_ok(f->context, MAP());
  assert_int_equal(map[0], 9 | 2 << 8);
  form.swizzle = 32;
  form.l2_promotion = 64;
  form.box[1] = 16;
  assert_ok(f->context, MAP());
  assert_int_equal(map[0], 9 | 2 << 8 | 1 << 16 | 1 << 24);
  form = sound;
  const struct {
    int64_t *word, value;
    pit_status status;
    const char *part;
  } cases[] = {
      {&view.shape[0], 0, PIT_ERROR_SHAPE, "tensor map: dimension 0 is 0"},
      {&view.shape[1], INT64_C(1) << 32, PIT_ERROR_SHAPE,
       "tensor map: dimension 1 is 4294967296"},
      {&view.strides[0], 8191, PIT_ERROR_LAYOUT,
       "tensor map: stride 0 is 8191 elements of 2 bytes; it must be a "
       "multiple of 16 bytes below 2^40"},
      {&view.strides[0], INT64_C(1) << 62, PIT_ERROR_LAYOUT, "below 2^40"},
      {&view.strides[1], 2, PIT_ERROR_LAYOUT,
       "tensor map: the innermost stride is 2; it must be 1"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    view = whole;
    *cases[i].word = cases[i].value;
    check_error(f->context, MAP(), cases[i].status, cases[i].part);
  }
  view = whole;
  form.dtype = (DLDataType){5, 8, 1};
  check_error(f->context, MAP(), PIT_ERROR_DTYPE,
              "tensor map: element type (code 5");
  form = sound;
  cuda_fail(f, "cuTensorMapEncodeTiled", 1, 0, 1);
  check_error(f->context, MAP(), PIT_ERROR_DRIVER,
              "cuda: cuTensorMapEncodeTiled failed");
  view.data = data + 8;
  check_error(f->context, MAP(), PIT_ERROR_ALIGNMENT,
              "tensor map: the data must be aligned to 16 bytes");
  view = whole;
  check_error(
      f->context, pit_rt_tensor_map(frame, (char *)map + 8, &form, &view),
      PIT_ERROR_ALIGNMENT, "tensor map: the map must be aligned to 64 bytes");
  check_error(f->context, pit_rt_tensor_map(frame, NULL, &form, &view),
              PIT_ERROR_INVALID_ARGUMENT, "tensor map: an argument is NULL");
  pit_rt_leave(frame, 0);
  pit_context_destroy(f->context);

  f->fake->capability_major = 8;
  assert_int_equal(cuda_create(f, 0, ""), PIT_OK);
  frame = cuda_enter(f, NULL);
  check_error(f->context, MAP(), PIT_ERROR_DEVICE,
              "tensor map: device 0 (Fake 0) has compute capability 8.0; TMA "
              "needs 9.0");
  pit_rt_leave(frame, 0);
}

int main(void) {
#define BARE(name)                                                             \
  cmocka_unit_test_setup_teardown(name, cuda_set_up_bare, cuda_tear_down)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sha256),
      CUDA_TEST(test_launch),
      CUDA_TEST(test_identity),
      CUDA_TEST(test_identity_in_a_call),
      CUDA_TEST(test_capture),
      CUDA_TEST(test_identity_by_line),
      CUDA_TEST(test_identity_of_cubin),
      CUDA_TEST(test_bad_code),
      BARE(test_cache),
      cmocka_unit_test(test_cache_folder),
      CUDA_TEST(test_tensor_map),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
