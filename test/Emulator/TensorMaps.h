//===- TensorMaps.h - Tensor maps and bulk copies -------------------------===//
//
// Copies are whole when the function returns. What a program sees of them until
// it waits is up to the caller, and so are mbarriers and bulk groups.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_TENSORMAPS_H
#define PIT_TEST_EMULATOR_TENSORMAPS_H

#include "TensorMemory.h"

enum { TENSOR_MAP_BYTES = 128, TENSOR_MAP_RANK = 5 };

/// cuTensorMapEncodeTiled, with its parameters. Any text means that the driver
/// returns CUDA_ERROR_INVALID_VALUE. `map` is where a program keeps it, and has
/// to be aligned as the driver wants it.
const char *tensor_map_encode(void *map, int type, uint32_t rank,
                              uint64_t address, const uint64_t *dims,
                              const uint64_t *strides, const uint32_t *box,
                              const uint32_t *step, int interleave, int swizzle,
                              int l2_promotion, int fill);

/// The bytes of a map's box; 0: it is no map.
uint32_t tensor_map_bytes(const void *map);

/// cp.async.bulk.tensor.RANKd.shared::cluster.global.tile: loads a box to
/// `address`. Elements outside of the tensor become 0. `*bytes` is what
/// complete_tx counts, which is the whole box wherever it lies. With
/// .multicast::cluster, call it for each block of the mask. `map` may lie
/// anywhere, as a copy of what the program has; `at` is innermost first.
const char *tensor_map_load(const void *map, uint32_t rank, const int32_t *at,
                            const tensor_global *global,
                            const tensor_shared *shared, uint32_t address,
                            uint32_t *bytes);

/// cp.async.bulk.tensor.RANKd.global.shared::cta.tile: stores what is inside of
/// the tensor.
const char *tensor_map_store(const void *map, uint32_t rank, const int32_t *at,
                             const tensor_global *global,
                             const tensor_shared *shared, uint32_t address);

/// cp.reduce.async.bulk.tensor.RANKd.global.shared::cta.add.tile: the same, and
/// adds to what is there.
const char *tensor_map_add(const void *map, uint32_t rank, const int32_t *at,
                           const tensor_global *global,
                           const tensor_shared *shared, uint32_t address);

/// cp.async.bulk.shared::cluster.global.
const char *tensor_bulk_load(const tensor_global *global, uint64_t from,
                             const tensor_shared *shared, uint32_t to,
                             uint32_t bytes);

/// cp.async.bulk.global.shared::cta.
const char *tensor_bulk_store(const tensor_shared *shared, uint32_t from,
                              const tensor_global *global, uint64_t to,
                              uint32_t bytes);

#endif // PIT_TEST_EMULATOR_TENSORMAPS_H
