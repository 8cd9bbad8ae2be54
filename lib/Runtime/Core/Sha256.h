//===- Sha256.h - SHA-256 (FIPS 180-4) ------------------------------------===//

#ifndef PIT_LIB_RUNTIME_CORE_SHA256_H
#define PIT_LIB_RUNTIME_CORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { PIT_SHA256_SIZE = 32 };

typedef struct pit_sha256 {
  uint32_t state[8];
  uint8_t block[64];
  uint64_t bytes; ///< seen so far
} pit_sha256;

void pit_sha256_begin(pit_sha256 *sha);
void pit_sha256_add(pit_sha256 *sha, const void *data, size_t size);
void pit_sha256_end(pit_sha256 *sha, uint8_t digest[PIT_SHA256_SIZE]);

#endif // PIT_LIB_RUNTIME_CORE_SHA256_H
