//===- TensorProxyTest.c - Missing fences between proxies -----------------===//

#include "TensorMaps.h"
#include "TensorMma.h"
#include "TensorWgmma.h"

#include "TensorCase.h"

#include <stdlib.h>
#include <string.h>

static void test_fences(void **unused) {
  (void)unused;
  tensor_proxy *proxy = tensor_proxy_new(4096, 3);
  assert_non_null(proxy);
  assert_ok(tensor_proxy_read(proxy, 0, 0, 4096));
  // 2 bytes that cross chunks are parts of both.
  tensor_proxy_write(proxy, 1, 511, 2);
  assert_error(tensor_proxy_read(proxy, 0, 496, 16), "fence.proxy.async");
  assert_error(tensor_proxy_read(proxy, 0, 527, 1), "fence.proxy.async");
  assert_ok(tensor_proxy_read(proxy, 0, 0, 496));
  assert_ok(tensor_proxy_read(proxy, 0, 528, 4096 - 528));
  // The fence of a third warp says nothing.
  tensor_proxy_fence(proxy, 2);
  assert_error(tensor_proxy_read(proxy, 0, 512, 16), "fence.proxy.async");
  assert_ok(tensor_proxy_read(proxy, 2, 512, 16));
  // That of the reader is enough, and so is the writer's, for all.
  tensor_proxy_fence(proxy, 0);
  assert_ok(tensor_proxy_read(proxy, 0, 512, 16));
  tensor_proxy_write(proxy, 1, 512, 16);
  assert_error(tensor_proxy_read(proxy, 0, 512, 16), "fence.proxy.async");
  tensor_proxy_fence(proxy, 1);
  assert_ok(tensor_proxy_read(proxy, 0, 512, 16));
  // What the async proxy wrote last needs none.
  tensor_proxy_write(proxy, 1, 512, 32);
  tensor_proxy_write_async(proxy, 512, 16);
  assert_ok(tensor_proxy_read(proxy, 0, 512, 16));
  assert_error(tensor_proxy_read(proxy, 0, 528, 16), "fence.proxy.async");
  tensor_proxy_write(proxy, 1, 0xFFFFFFF0, 16);
  tensor_proxy_free(proxy);
}

static void test_instructions(void **unused) {
  (void)unused;
  uint64_t seed = 61;
  tensor_shared shared = make_shared(&seed);
  shared.proxy = tensor_proxy_new(shared.size, 8);
  assert_non_null(shared.proxy);
  static uint32_t d[4][TENSOR_WARPGROUP];
  const tensor_wgmma op = {.n = 8,
                           .a = TENSOR_F16,
                           .b = TENSOR_F16,
                           .sum = TENSOR_F32,
                           .scale_a = 1,
                           .scale_b = 1};
  // Without swizzle: 16 core matrices of a, and 2 of b.
  const uint64_t a = UINT64_C(8) << 16 | UINT64_C(16) << 32;
  const uint64_t b = a | 4096 >> 4;
  assert_ok(tensor_wgmma_run(&op, &shared, a, b, d));
  uint32_t addresses[TENSOR_WARP], r[1][TENSOR_WARP] = {0};
  for (uint32_t lane = 0; lane < TENSOR_WARP; ++lane)
    addresses[lane] = 4096 + 16 * (lane % 8);
  shared.warp = 1;
  assert_ok(tensor_stmatrix(&shared, 1, false, addresses, r));
  shared.warp = 4;
  assert_error(tensor_wgmma_run(&op, &shared, a, b, d), "generic proxy");
  assert_ok(tensor_wgmma_run(&op, &shared, a, a, d));
  one_allocation memory = {malloc(256), 4096, 256};
  assert_non_null(memory.bytes);
  tensor_global global = {find_in_allocation, &memory};
  assert_error(tensor_bulk_store(&shared, 4096, &global, 4096, 128),
               "generic proxy");
  assert_ok(tensor_bulk_store(&shared, 4096 + 128, &global, 4096, 128));
  _Alignas(64) uint8_t map[TENSOR_MAP_BYTES];
  assert_ok(tensor_map_encode(map, 0, 1, 4096, (uint64_t[]){256}, NULL,
                              (uint32_t[]){128}, (uint32_t[]){1}, 0, 0, 0, 0));
  assert_error(tensor_map_store(map, 1, (int32_t[]){0}, &global, &shared, 4096),
               "generic proxy");
  // Generic loads need no fence, and what is loaded over it is new.
  assert_ok(tensor_ldmatrix(&shared, 1, false, addresses, r));
  uint32_t bytes;
  assert_ok(
      tensor_map_load(map, 1, (int32_t[]){0}, &global, &shared, 4096, &bytes));
  assert_ok(tensor_wgmma_run(&op, &shared, a, b, d));
  shared.warp = 1;
  assert_ok(tensor_stmatrix(&shared, 1, false, addresses, r));
  assert_ok(tensor_bulk_load(&global, 4096, &shared, 4096, 128));
  shared.warp = 4;
  assert_ok(tensor_bulk_store(&shared, 4096, &global, 4096, 128));
  free(memory.bytes);
  tensor_proxy_free(shared.proxy);
  free(shared.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fences),
                                     cmocka_unit_test(test_instructions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
