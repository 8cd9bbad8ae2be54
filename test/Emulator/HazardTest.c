//===- HazardTest.c - Races that the emulator shows -----------------------===//
//
// Kernels with and without what makes them right: a wait, a barrier, a fence.
// What is wrong with one must show, in the way of running that is meant to show
// it, and the other one must be right in all of them.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "TensorMaps.h"

#include "TensorCase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xFFFFFFFF, ROOM = 1 << 20 };

#define HEAD                                                                   \
  ".version 8.0\n.target sm_90a\n.address_size 64\n"                           \
  ".extern .shared .align 1024 .b8 smem[];\n"

/// Ways of running: copies late or early, turns as always or by a seed.
static void set_way(const char *early, const char *seed) {
  assert_int_equal(setenv("PIT_EMULATOR_EARLY", early, 1), 0);
  assert_int_equal(setenv("PIT_EMULATOR_SEED", seed, 1), 0);
}

/// Runs the kernel of a module in one block. NULL, or what went wrong.
static const char *run(const char *ptx, uint32_t threads,
                       const void *parameters, size_t bytes) {
  static char message[EMU_MESSAGE_SIZE];
  emu_module *module = emu_module_load(ptx, message);
  if (!module)
    return message;
  const emu_function *f = module->functions;
  assert_int_equal(f->parameter_bytes, bytes);
  char *copy = aligned_alloc(128, (bytes + 127) / 128 * 128);
  assert_non_null(copy);
  memcpy(copy, parameters, bytes);
  emu_launch launch = {.function = f,
                       .grid = {1, 1, 1},
                       .block = {threads, 1, 1},
                       .cluster = 1,
                       .dynamic_shared = 4096,
                       .parameters = copy};
  bool good = emu_launch_run(&launch, message);
  free(copy);
  emu_module_free(module);
  return good ? NULL : message;
}

/// Memory of the device, and where the host finds it.
static uint64_t allocate(size_t words, uint32_t **host) {
  uint64_t address = emu_memory_new(words * sizeof(**host), ROOM);
  assert_int_not_equal(address, 0);
  *host = (uint32_t *)(void *)emu_memory_host(address, words * sizeof(**host));
  for (size_t n = 0; n < words; ++n)
    (*host)[n] = 1000 + (uint32_t)n;
  return address;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Each thread copies 16 bytes and reads the first four of them.
#define COPY(wait)                                                             \
  HEAD ".visible .entry copy(.param .u64 from, .param .u64 to) {\n"            \
       ".reg .b32 %r<4>; .reg .b64 %rd<6>;\n"                                  \
       "mov.u32 %r0, %tid.x;\n"                                                \
       "mov.u32 %r1, smem;\n"                                                  \
       "mad.lo.u32 %r2, %r0, 16, %r1;\n"                                       \
       "ld.param.u64 %rd0, [from];\n"                                          \
       "ld.param.u64 %rd1, [to];\n"                                            \
       "mul.wide.u32 %rd2, %r0, 16;\n"                                         \
       "add.s64 %rd3, %rd0, %rd2;\n"                                           \
       "cp.async.cg.shared.global [%r2], [%rd3], 16;\n"                        \
       "cp.async.commit_group;\n" wait "ld.shared.b32 %r3, [%r2];\n"           \
       "mul.wide.u32 %rd4, %r0, 4;\n"                                          \
       "add.s64 %rd5, %rd1, %rd4;\n"                                           \
       "st.global.b32 [%rd5], %r3;\n"                                          \
       "ret;\n}\n"

static void test_missing_wait(void **unused) {
  (void)unused;
  static const char right[] = COPY("cp.async.wait_group 0;\n");
  static const char wrong[] = COPY("");
  uint32_t *from, *to;
  uint64_t parameters[2] = {allocate(128, &from), allocate(32, &to)};
  for (int early = 0; early < 2; ++early) {
    set_way(early ? "1" : "0", "0");
    assert_ok(run(right, 32, parameters, sizeof(parameters)));
    for (uint32_t n = 0; n < 32; ++n)
      assert_int_equal(to[n], 1000 + 4 * n);
    assert_ok(run(wrong, 32, parameters, sizeof(parameters)));
    for (uint32_t n = 0; n < 32; ++n)
      assert_int_equal(to[n], early ? 1000 + 4 * n : POISON);
  }
  emu_memory_free(parameters[0]);
  emu_memory_free(parameters[1]);
}

#define WAIT(label, barrier)                                                   \
  label ": mbarrier.try_wait.parity.shared.b64 %p0, [" barrier "], 0;\n"       \
        "@!%p0 bra.uni " label ";\n"
#define LOAD(barrier, at)                                                      \
  "mbarrier.arrive.expect_tx.shared.b64 %rd2, [" barrier "], 128;\n"           \
  "cp.async.bulk.tensor.1d.shared::cluster.global.tile"                        \
  ".mbarrier::complete_tx::bytes [%r0], [%rd0, {" at "}], [" barrier "];\n"
/// One thread loads two boxes to the same place, and reads the first one.
#define BOXES(before, after, end)                                              \
  HEAD ".visible .entry boxes(.param .align 64 .b8 map[128],"                  \
       " .param .u64 to) {\n"                                                  \
       ".reg .pred %p<1>; .reg .b32 %r<6>; .reg .b64 %rd<4>;\n"                \
       "mov.b64 %rd1, map;\n"                                                  \
       "cvta.param.u64 %rd0, %rd1;\n"                                          \
       "ld.param.u64 %rd3, [to];\n"                                            \
       "mov.u32 %r0, smem;\n"                                                  \
       "add.s32 %r1, %r0, 1024;\n"                                             \
       "add.s32 %r2, %r0, 1032;\n"                                             \
       "mov.b32 %r3, 0;\n"                                                     \
       "mov.b32 %r4, 32;\n"                                                    \
       "mbarrier.init.shared.b64 [%r1], 1;\n"                                  \
       "mbarrier.init.shared.b64 [%r2], 1;\n" LOAD("%r1", "%r3")               \
           WAIT("A", "%r1") before LOAD("%r2", "%r4") after                    \
      "st.global.b32 [%rd3], %r5;\n" end "ret;\n}\n"
#define READ "ld.shared.b32 %r5, [%r0];\n"

static void test_early_overwrite(void **unused) {
  (void)unused;
  static const char right[] = BOXES(READ, "", WAIT("B", "%r2"));
  static const char wrong[] = BOXES("", READ, WAIT("B", "%r2"));
  static const char unfinished[] = BOXES(READ, "", "");
  struct {
    _Alignas(64) uint8_t map[TENSOR_MAP_BYTES];
    uint64_t to;
  } parameters;
  enum { BYTES = TENSOR_MAP_BYTES + 8 };
  uint32_t *from, *to;
  uint64_t tensor = allocate(64, &from);
  parameters.to = allocate(1, &to);
  assert_ok(tensor_map_encode(parameters.map, /*UINT32*/ 2, 1, tensor,
                              (uint64_t[]){64}, NULL, (uint32_t[]){32},
                              (uint32_t[]){1}, 0, 0, 0, 0));
  for (int early = 0; early < 2; ++early) {
    set_way(early ? "1" : "0", "0");
    assert_ok(run(right, 1, &parameters, BYTES));
    assert_int_equal(*to, 1000);
    assert_ok(run(wrong, 1, &parameters, BYTES));
    assert_int_equal(*to, early ? 1032 : 1000);
  }
  set_way("0", "0");
  assert_error(run(unfinished, 1, &parameters, BYTES), "waited for the copy");
  emu_memory_free(tensor);
  emu_memory_free(parameters.to);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// The last thread writes, the first one reads.
#define HAND_OVER(barrier)                                                     \
  HEAD ".visible .entry hand_over(.param .u64 to) {\n"                         \
       ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<1>;\n"                \
       "mov.u32 %r0, %tid.x;\n"                                                \
       "mov.u32 %r1, smem;\n"                                                  \
       "setp.eq.u32 %p0, %r0, 0;\n"                                            \
       "setp.eq.u32 %p1, %r0, 63;\n"                                           \
       "ld.param.u64 %rd0, [to];\n"                                            \
       "mov.b32 %r2, 7;\n"                                                     \
       "@%p1 st.shared.b32 [%r1], %r2;\n" barrier                              \
       "@%p0 ld.shared.b32 %r3, [%r1];\n"                                      \
       "@%p0 st.global.b32 [%rd0], %r3;\n"                                     \
       "ret;\n}\n"

static void test_missing_barrier(void **unused) {
  (void)unused;
  static const char right[] = HAND_OVER("bar.sync 0;\n");
  static const char wrong[] = HAND_OVER("");
  uint32_t *to;
  uint64_t address = allocate(1, &to);
  int late = 0, good = 0;
  for (int seed = 0; seed < 20; ++seed) {
    char text[8];
    snprintf(text, sizeof(text), "%d", seed);
    set_way("0", text);
    assert_ok(run(right, 64, &address, sizeof(address)));
    assert_int_equal(*to, 7);
    assert_ok(run(wrong, 64, &address, sizeof(address)));
    late += *to == POISON;
    good += *to == 7;
  }
  assert_int_equal(late + good, 20);
  assert_true(late > 0 && good > 0);
  // Whoever comes first, nothing says so.
  assert_int_equal(setenv("PIT_EMULATOR_RACES", "1", 1), 0);
  for (int seed = 0; seed < 20; ++seed) {
    char text[8];
    snprintf(text, sizeof(text), "%d", seed);
    set_way("0", text);
    assert_ok(run(right, 64, &address, sizeof(address)));
    assert_error(run(wrong, 64, &address, sizeof(address)),
                 "nothing orders it after a");
  }
  assert_int_equal(setenv("PIT_EMULATOR_RACES", "0", 1), 0);
  set_way("0", "0");
  static const char stuck[] = HAND_OVER("@%p0 bar.sync 1, 64;\n");
  assert_error(run(stuck, 64, &address, sizeof(address)), "deadlock");
  emu_memory_free(address);
}

//===----------------------------------------------------------------------===//
// Proxies
//===----------------------------------------------------------------------===//

/// A warpgroup writes ones for a (64 x 16) and b (16 x 8) and multiplies them.
#define PRODUCT(before, after) PRODUCT_OF(before, "bar.sync 0;\n", after)
#define PRODUCT_OF(before, barrier, after)                                     \
  HEAD ".visible .entry product(.param .u64 to) {\n"                           \
       ".reg .pred %p<1>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"                \
       "mov.u32 %r0, %tid.x;\n"                                                \
       "mov.u32 %r1, smem;\n"                                                  \
       "ld.param.u64 %rd0, [to];\n"                                            \
       "mad.lo.u32 %r2, %r0, 32, %r1;\n"                                       \
       "mov.b32 %r3, 0x3C003C00;\n"                                            \
       "st.shared.v4.b32 [%r2], {%r3, %r3, %r3, %r3};\n"                       \
       "st.shared.v4.b32 [%r2+16], {%r3, %r3, %r3, %r3};\n" before             \
           barrier after "shr.u32 %r2, %r1, 4;\n"                              \
       "cvt.u64.u32 %rd1, %r2;\n"                                              \
       "or.b64 %rd2, %rd1, 0x1000080000;\n" /* LBO 128, SBO 256 */             \
       "add.s64 %rd3, %rd2, 128;\n"                                            \
       "setp.ne.b32 %p0, %r0, %r0;\n"                                          \
       "wgmma.fence.sync.aligned;\n"                                           \
       "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"                     \
       " {%r4, %r5, %r6, %r7}, %rd2, %rd3, %p0, 1, 1, 0, 0;\n"                 \
       "wgmma.commit_group.sync.aligned;\n"                                    \
       "wgmma.wait_group.sync.aligned 0;\n"                                    \
       "mul.wide.u32 %rd4, %r0, 16;\n"                                         \
       "add.s64 %rd5, %rd0, %rd4;\n"                                           \
       "st.global.v4.b32 [%rd5], {%r4, %r5, %r6, %r7};\n"                      \
       "ret;\n}\n"

static void test_missing_fence(void **unused) {
  (void)unused;
  // By those that write, or by those that read after the barrier.
  static const char by_writers[] = PRODUCT("fence.proxy.async;\n", "");
  static const char by_readers[] =
      PRODUCT("", "fence.proxy.async.shared::cta;\n");
  static const char wrong[] = PRODUCT("", "");
  uint32_t *to;
  uint64_t address = allocate(512, &to);
  set_way("0", "0");
  for (int n = 0; n < 2; ++n) {
    memset(to, 0, 2048);
    assert_ok(run(n ? by_readers : by_writers, 128, &address, sizeof(address)));
    for (int k = 0; k < 512; ++k)
      assert_int_equal(to[k], bits_of_float(16));
  }
  assert_error(run(wrong, 128, &address, sizeof(address)),
               "no fence.proxy.async");
  // A fence is no barrier.
  static const char racy[] = PRODUCT_OF("fence.proxy.async;\n", "", "");
  assert_int_equal(setenv("PIT_EMULATOR_RACES", "1", 1), 0);
  assert_ok(run(by_writers, 128, &address, sizeof(address)));
  assert_error(run(racy, 128, &address, sizeof(address)),
               "nothing orders it after a write");
  assert_int_equal(setenv("PIT_EMULATOR_RACES", "0", 1), 0);
  emu_memory_free(address);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_missing_wait),
                                     cmocka_unit_test(test_early_overwrite),
                                     cmocka_unit_test(test_missing_barrier),
                                     cmocka_unit_test(test_missing_fence)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
