//===- Races.h - Accesses of shared memory that nothing orders ------------===//
//
// Two warps access the same bytes, one of them writes, and no barrier or
// mbarrier is between the two: then it is chance who comes first, even if the
// values are right here. Each warp counts its releases, and knows up to which
// release of every other one it has waited (vector clocks). Lanes of one warp
// are not told apart. What an asynchronous copy writes counts as written by the
// warp that starts it, when it does; what wgmma reads as read by the first warp
// of its group.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_RACES_H
#define PIT_TEST_EMULATOR_RACES_H

#include <stdbool.h>
#include <stdint.h>

/// Of a cluster: its warps, those of the first block first, and the shared
/// memory of its blocks.
typedef struct races races;

/// NULL: out of memory.
races *races_new(uint32_t blocks, uint32_t warps_per_block,
                 uint32_t shared_bytes);
void races_free(races *r);

typedef enum race_access { RACE_READ, RACE_WRITE, RACE_ATOMIC } race_access;

/// A warp of the cluster accesses bytes of a block's shared memory: NULL, or a
/// text, and in `*other` the warp of the access that is not ordered. Atomic
/// accesses do not race with each other.
const char *races_access(races *r, uint32_t warp, uint32_t block,
                         uint32_t address, uint32_t bytes, race_access access,
                         uint32_t *other);

/// A warp releases what it did, or acquires what others released, through a
/// barrier or mbarrier: `object` is its number. False: out of memory.
bool races_release(races *r, uint32_t warp, uint64_t object);
void races_acquire(races *r, uint32_t warp, uint64_t object);

#endif // PIT_TEST_EMULATOR_RACES_H
