//===- Pack.c - Copies of parts of matrices -------------------------------===//

#include "Pack.h"

#include <string.h>

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

// One loop for each width of an element.
#define COPY_ROWS(bits)                                                        \
  static void copy_row_##bits(char *to, const char *from, const int32_t *ids,  \
                              int64_t count) {                                 \
    uint##bits##_t *t = (uint##bits##_t *)(void *)to;                          \
    const uint##bits##_t *f = (const uint##bits##_t *)(const void *)from;      \
    for (int64_t i = 0; i < count; ++i)                                        \
      t[i] = f[ids[i]];                                                        \
  }                                                                            \
  static void place_row_##bits(char *to, const char *from, const int32_t *ids, \
                               int64_t count) {                                \
    uint##bits##_t *t = (uint##bits##_t *)(void *)to;                          \
    const uint##bits##_t *f = (const uint##bits##_t *)(const void *)from;      \
    for (int64_t i = 0; i < count; ++i)                                        \
      t[ids[i]] = f[i];                                                        \
  }
COPY_ROWS(8)
COPY_ROWS(16)
COPY_ROWS(32)
COPY_ROWS(64)

static void copy_row(char *to, const char *from, part columns, int width) {
  size_t bytes = (size_t)width;
  if (!columns.ids)
    memcpy(to, from + columns.first * width, (size_t)columns.count * bytes);
  else if (width == 1)
    copy_row_8(to, from, columns.ids, columns.count);
  else if (width == 2)
    copy_row_16(to, from, columns.ids, columns.count);
  else if (width == 4)
    copy_row_32(to, from, columns.ids, columns.count);
  else
    copy_row_64(to, from, columns.ids, columns.count);
}

static int64_t row_at(part rows, int64_t i) {
  return rows.ids ? rows.ids[i] : rows.first + i;
}

/// Packs a part of a matrix into rows of `to_ld` elements; what is beyond the
/// part, up to `padded` rows, is 0.
void pack_part(char *to, int64_t to_ld, int64_t padded, const char *from,
               int64_t from_ld, part rows, part columns, int width) {
#pragma omp parallel for
  for (int64_t i = 0; i < padded; ++i) {
    char *row = to + i * to_ld * width;
    int64_t count = i < rows.count ? columns.count : 0;
    if (count)
      copy_row(row, from + row_at(rows, i) * from_ld * width, columns, width);
    memset(row + count * width, 0, (size_t)((to_ld - count) * width));
  }
}

static void add_f32(char *to, const char *from, int64_t at, int64_t count) {
  float *t = (float *)(void *)to + at;
  const float *f = (const float *)(const void *)from;
  for (int64_t i = 0; i < count; ++i)
    t[i] += f[i];
}

static void add_i32(char *to, const char *from, int64_t at, int64_t count) {
  int32_t *t = (int32_t *)(void *)to + at;
  const int32_t *f = (const int32_t *)(const void *)from;
  for (int64_t i = 0; i < count; ++i)
    t[i] += f[i];
}

static void add_f64(char *to, const char *from, int64_t at, int64_t count) {
  double *t = (double *)(void *)to + at;
  const double *f = (const double *)(const void *)from;
  for (int64_t i = 0; i < count; ++i)
    t[i] += f[i];
}

/// Adds a row where that is possible (see can_add).
static void add_row(char *to, const char *from, part columns, DLDataType type) {
  void (*add)(char *, const char *, int64_t, int64_t) =
      !dtype_is_float(type) ? add_i32
      : type.bits == 64     ? add_f64
                            : add_f32;
  int width = type.bits / 8;
  if (!columns.ids)
    add(to, from, columns.first, columns.count);
  for (int64_t i = 0; columns.ids && i < columns.count; ++i)
    add(to, from + i * width, columns.ids[i], 1);
}

bool pack_can_add(DLDataType type) {
  return (dtype_is_float(type) && type.bits >= 32) ||
         (type.code == PIT_DTYPE_INT && type.bits == 32);
}

static void place_row(char *to, const char *from, part columns, int width) {
  if (!columns.ids)
    memcpy(to + columns.first * width, from, (size_t)(columns.count * width));
  else if (width == 1)
    place_row_8(to, from, columns.ids, columns.count);
  else if (width == 2)
    place_row_16(to, from, columns.ids, columns.count);
  else if (width == 4)
    place_row_32(to, from, columns.ids, columns.count);
  else
    place_row_64(to, from, columns.ids, columns.count);
}

/// Writes or adds a packed part to where it belongs.
void unpack_part(char *to, int64_t to_ld, const char *from, int64_t from_ld,
                 part rows, part columns, DLDataType type, bool add) {
  int width = type.bits / 8;
#pragma omp parallel for
  for (int64_t i = 0; i < rows.count; ++i) {
    char *row = to + row_at(rows, i) * to_ld * width;
    const char *packed = from + i * from_ld * width;
    if (add)
      add_row(row, packed, columns, type);
    else
      place_row(row, packed, columns, width);
  }
}

//===----------------------------------------------------------------------===//
// Which are live
//===----------------------------------------------------------------------===//

// The bits but the sign, which does not make a zero live.
#define MARK_ROW(bits)                                                         \
  static void mark_row_##bits(const char *row, int64_t count, uint64_t mask,   \
                              uint8_t *flags) {                                \
    const uint##bits##_t *at = (const uint##bits##_t *)(const void *)row;      \
    uint##bits##_t wanted = (uint##bits##_t)mask;                              \
    for (int64_t i = 0; i < count; ++i)                                        \
      flags[i] |= (at[i] & wanted) != 0;                                       \
  }
MARK_ROW(8)
MARK_ROW(16)
MARK_ROW(32)
MARK_ROW(64)

static void mark_row(const char *row, int64_t count, DLDataType type,
                     uint8_t *flags) {
  uint64_t all = ~(uint64_t)0 >> (64 - type.bits);
  uint64_t mask = dtype_is_float(type) ? all >> 1 : all;
  if (type.bits == 8)
    mark_row_8(row, count, mask, flags);
  else if (type.bits == 16)
    mark_row_16(row, count, mask, flags);
  else if (type.bits == 32)
    mark_row_32(row, count, mask, flags);
  else
    mark_row_64(row, count, mask, flags);
}

static int64_t list_ids(const uint8_t *flags, int64_t count, int32_t *ids) {
  int64_t live = 0;
  for (int64_t i = 0; i < count; ++i) {
    ids[live] = (int32_t)i;
    live += flags[i] != 0;
  }
  return live;
}

/// Lists what of the axis is live in the columns [first, first + count) of a
/// matrix whose rows are the axis.
int64_t pack_live_rows(const void *data, DLDataType type, int64_t rows,
                       int64_t ld, int64_t first, int64_t count, uint8_t *live,
                       int32_t *ids) {
  const char *bytes = data;
  int width = type.bits / 8;
#pragma omp parallel for
  for (int64_t i = 0; i < rows; ++i) {
    // Part by part: most rows show early that they are live.
    enum { PART = 256 };
    uint8_t flags[PART];
    live[i] = 0;
    for (int64_t at = 0; at < count && !live[i]; at += PART) {
      int64_t length = count - at < PART ? count - at : PART;
      memset(flags, 0, (size_t)length);
      mark_row(bytes + (i * ld + first + at) * width, length, type, flags);
      live[i] = memchr(flags, 1, (size_t)length) != NULL;
    }
  }
  return list_ids(live, rows, ids);
}

/// The same in rows [first, first + count), whose columns are the axis.
int64_t pack_live_columns(const void *data, DLDataType type, int64_t columns,
                          int64_t ld, int64_t first, int64_t count,
                          uint8_t *live, int32_t *ids) {
  const char *bytes = data;
  int width = type.bits / 8;
  enum { PART = 1024 };
#pragma omp parallel for
  for (int64_t at = 0; at < columns; at += PART) {
    int64_t length = columns - at < PART ? columns - at : PART;
    memset(live + at, 0, (size_t)length);
    for (int64_t i = first; i < first + count; ++i)
      mark_row(bytes + (i * ld + at) * width, length, type, live + at);
  }
  return list_ids(live, columns, ids);
}
