//===- TensorProxy.c - Which proxy wrote shared memory --------------------===//

#include "TensorProxy.h"

#include <stdlib.h>

enum { CHUNK = 16 };

/// The last write of a chunk; time 0: there was none by the generic proxy.
typedef struct chunk {
  uint64_t time;
  uint32_t warp;
} chunk;

struct tensor_proxy {
  uint64_t time; ///< counts writes and fences
  uint32_t count;
  chunk *chunks;
  uint64_t fences[]; ///< the time of each warp's last one
};

tensor_proxy *tensor_proxy_new(uint32_t shared_bytes, uint32_t warps) {
  tensor_proxy *made =
      calloc(1, sizeof(*made) + warps * sizeof(made->fences[0]));
  if (!made)
    return NULL;
  made->count = shared_bytes / CHUNK + 1;
  made->chunks = calloc(made->count, sizeof(*made->chunks));
  if (!made->chunks) {
    free(made);
    return NULL;
  }
  return made;
}

void tensor_proxy_free(tensor_proxy *proxy) {
  if (proxy)
    free(proxy->chunks);
  free(proxy);
}

/// The number of the chunk behind the last one of some bytes.
static uint32_t end_of(const tensor_proxy *proxy, uint32_t address,
                       uint32_t size) {
  uint64_t end = ((uint64_t)address + size + CHUNK - 1) / CHUNK;
  return end < proxy->count ? (uint32_t)end : proxy->count;
}

void tensor_proxy_write(tensor_proxy *proxy, uint32_t warp, uint32_t address,
                        uint32_t size) {
  uint64_t time = ++proxy->time;
  for (uint32_t c = address / CHUNK, end = end_of(proxy, address, size);
       c < end; ++c)
    proxy->chunks[c] = (chunk){time, warp};
}

void tensor_proxy_write_async(tensor_proxy *proxy, uint32_t address,
                              uint32_t size) {
  for (uint32_t c = address / CHUNK, end = end_of(proxy, address, size);
       c < end; ++c)
    proxy->chunks[c] = (chunk){0, 0};
}

void tensor_proxy_fence(tensor_proxy *proxy, uint32_t warp) {
  proxy->fences[warp] = ++proxy->time;
}

const char *tensor_proxy_read(const tensor_proxy *proxy, uint32_t warp,
                              uint32_t address, uint32_t size) {
  for (uint32_t c = address / CHUNK, end = end_of(proxy, address, size);
       c < end; ++c) {
    const chunk *last = &proxy->chunks[c];
    if (last->time > proxy->fences[warp] &&
        last->time > proxy->fences[last->warp])
      return "shared memory was written by the generic proxy, and no "
             "fence.proxy.async came after it";
  }
  return NULL;
}
