//===- TensorProxy.h - Which proxy wrote shared memory --------------------===//
//
// Stores, stmatrix and cp.async write shared memory by the generic proxy; wgmma
// and bulk copies read it by the async proxy, which sees such bytes only after
// a fence.proxy.async between the two ("Proxies"). A device often works without
// one. This finds those that are missing.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_TENSORPROXY_H
#define PIT_TEST_EMULATOR_TENSORPROXY_H

#include <stdint.h>

/// Of a block: who wrote each 16 bytes of its shared memory last, and which
/// warps have fenced since.
typedef struct tensor_proxy tensor_proxy;

/// NULL: out of memory. Nothing was written yet.
tensor_proxy *tensor_proxy_new(uint32_t shared_bytes, uint32_t warps);
void tensor_proxy_free(tensor_proxy *proxy);

/// A warp has written by the generic proxy. Bytes outside of the block's memory
/// are ignored here.
void tensor_proxy_write(tensor_proxy *proxy, uint32_t warp, uint32_t address,
                        uint32_t size);
/// Something has written by the async proxy.
void tensor_proxy_write_async(tensor_proxy *proxy, uint32_t address,
                              uint32_t size);
/// A warp has executed fence.proxy.async, for what it wrote and what it knows
/// to be written. That it does know, by a barrier in between, is not checked.
void tensor_proxy_fence(tensor_proxy *proxy, uint32_t warp);
/// A warp reads by the async proxy: NULL if there was a fence after each of the
/// bytes was written, in this warp or the one that wrote.
const char *tensor_proxy_read(const tensor_proxy *proxy, uint32_t warp,
                              uint32_t address, uint32_t size);

#endif // PIT_TEST_EMULATOR_TENSORPROXY_H
