//===- Pack.h - Copies of parts of matrices -------------------------------===//

#ifndef PIT_TOOLS_BENCH_PACK_H
#define PIT_TOOLS_BENCH_PACK_H

#include "Tensor.h"

/// Rows and columns of a row-major matrix: a range, or those that ids list.
typedef struct part {
  int64_t first, count;
  const int32_t *ids; ///< NULL: first, first + 1, ...
} part;

/// Packs a part of a matrix into rows of `to_ld` elements of `width` bytes;
/// what is beyond the part, up to `padded` rows, is 0.
void pack_part(char *to, int64_t to_ld, int64_t padded, const char *from,
               int64_t from_ld, part rows, part columns, int width);

/// Writes a packed part to where it belongs, or adds it.
void unpack_part(char *to, int64_t to_ld, const char *from, int64_t from_ld,
                 part rows, part columns, DLDataType type, bool add);

/// True if unpack_part adds elements of the type.
bool pack_can_add(DLDataType type);

/// Lists in `ids`, which has room for one more, the rows of a matrix that have
/// a live element in the columns [first, first + count); returns how many.
/// `live` has room for a byte each.
int64_t pack_live_rows(const void *data, DLDataType type, int64_t rows,
                       int64_t ld, int64_t first, int64_t count, uint8_t *live,
                       int32_t *ids);

/// The same for columns, in the rows [first, first + count).
int64_t pack_live_columns(const void *data, DLDataType type, int64_t columns,
                          int64_t ld, int64_t first, int64_t count,
                          uint8_t *live, int32_t *ids);

#endif // PIT_TOOLS_BENCH_PACK_H
