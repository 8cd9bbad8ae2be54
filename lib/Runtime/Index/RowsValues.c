//===- RowsValues.c - Selections by value ---------------------------------===//

#include "Rows.h"

#include <string.h>

enum {
  /// Windows of fewer bytes are cut out of a column block's bits, larger ones
  /// are read
  /// one by one: below this the calls cost more than the bits.
  WINDOW_MIN_BYTES = 128
};

static const char *at(const pit_rows *rows, const int64_t *coords,
                      int64_t column) {
  int32_t last = rows->tiling.rank - 1;
  int64_t offset = column * rows->data.strides[last];
  for (int32_t d = 0; d < last; ++d)
    offset += coords[d] * rows->data.strides[d];
  return (const char *)rows->data.data + offset * (1 << rows->size_log2);
}

/// Copies n elements that lie `stride` elements apart.
static void gather(const void *from, int64_t stride, int32_t size_log2,
                   int64_t n, void *to) {
  switch (size_log2) {
  case 0:
    for (int64_t j = 0; j < n; ++j)
      ((uint8_t *)to)[j] = ((const uint8_t *)from)[j * stride];
    break;
  case 1:
    for (int64_t j = 0; j < n; ++j)
      ((uint16_t *)to)[j] = ((const uint16_t *)from)[j * stride];
    break;
  case 2:
    for (int64_t j = 0; j < n; ++j)
      ((uint32_t *)to)[j] = ((const uint32_t *)from)[j * stride];
    break;
  default:
    for (int64_t j = 0; j < n; ++j)
      ((uint64_t *)to)[j] = ((const uint64_t *)from)[j * stride];
    break;
  }
}

static void values_columns(const pit_rows *rows, const pit_box *box,
                           int64_t first, int64_t n, uint64_t *bits) {
  const pit_tiling *tiling = &rows->tiling;
  int32_t last = tiling->rank - 1;
  int32_t size = rows->size_log2;
  if (pit_box_empty(box, last)) {
    memset(bits, 0, (size_t)pit_ceil_div(n, 64) * sizeof(*bits));
    return;
  }
  // The innermost of the rows' dimensions is a run of rows.
  int32_t inner = last - 1;
  int64_t run = last > 0 ? box->end[inner] - box->begin[inner] : 1;
  int64_t run_stride = last > 0 ? rows->data.strides[inner] : 0;
  int64_t stride = rows->data.strides[last];
  int64_t coords[PIT_MAX_RANK];
  memcpy(coords, box->begin, sizeof(coords));
  bool one_row = run == 1;
  for (int32_t d = 0; d < inner; ++d)
    one_row &= box->end[d] - box->begin[d] == 1;
  if (one_row && stride == 1) {
    rows->kernels->bits[size](at(rows, coords, first), n, rows->background,
                              rows->care, bits);
    return;
  }
  _Alignas(64) char sums[PIT_COLUMN_BLOCK * 8];
  memset(sums, 0, (size_t)(n << size));
  do {
    const char *base = at(rows, coords, first);
    if (stride == 1) {
      rows->kernels->columns[size](base, run_stride, run, n, rows->background,
                                   sums);
      continue;
    }
    _Alignas(64) char row[PIT_COLUMN_BLOCK * 8];
    for (int64_t r = 0; r < run; ++r) {
      gather(base + r * run_stride * (1 << size), stride, size, n, row);
      rows->kernels->columns[size](row, 0, 1, n, rows->background, sums);
    }
  } while (pit_box_next(box, inner, coords));
  rows->kernels->bits[size](sums, n, 0, rows->care, bits);
}

static void values_windows(const pit_rows *rows, const pit_box *box,
                           int64_t first, int64_t n, uint64_t *bits) {
  int32_t last = rows->tiling.rank - 1;
  if (pit_box_empty(box, last))
    return;
  int64_t coords[PIT_MAX_RANK];
  memcpy(coords, box->begin, sizeof(coords));
  do
    rows->kernels->windows[rows->size_log2](at(rows, coords, 0),
                                            &rows->tiling.dims[last], first, n,
                                            rows->background, rows->care, bits);
  while (pit_box_next(box, last, coords));
}

/// Everything differs from a NaN.
static void all_columns(const pit_rows *rows, const pit_box *box, int64_t first,
                        int64_t n, uint64_t *bits) {
  (void)first;
  memset(bits, 0, (size_t)pit_ceil_div(n, 64) * sizeof(*bits));
  if (!pit_box_empty(box, rows->tiling.rank - 1))
    pit_bits_fill(bits, 0, n);
}

static bool is_unit(const pit_dim *dim) {
  return dim->size == 1 && dim->step == 1;
}

static bool is_whole(const pit_dim *dim) {
  return dim->groups == 1 && dim->size >= dim->extent;
}

/// Merges dimension q, of consecutive elements for each coordinate of p, into
/// p, if their micro-tiles are runs of the merged dimension in the same order.
static bool merge(pit_dim *p, const pit_dim *q) {
  bool blocks = q->size == q->step && q->extent % q->size == 0;
  if (is_whole(q))
    *p = (pit_dim){p->extent * q->extent, p->size * q->extent,
                   p->step * q->extent, p->groups};
  else if (is_unit(p) && blocks)
    *p = (pit_dim){p->extent * q->extent, q->size, q->step,
                   p->groups * q->groups};
  else
    return false;
  return true;
}

static void merge_dims(pit_rows *rows) {
  pit_tiling *tiling = &rows->tiling;
  int64_t *strides = rows->data.strides;
  for (int32_t d = 0; d < tiling->rank; ++d)
    if (tiling->dims[d].extent == 0)
      return;
  int32_t kept = 0;
  int32_t axis = -1;
  for (int32_t d = 0; d < tiling->rank; ++d) {
    pit_dim dim = tiling->dims[d];
    // Beyond the extent a window's size means nothing.
    dim.size = pit_min(dim.size, dim.extent);
    bool is_axis = d == tiling->axis;
    if (!is_axis && dim.extent == 1 && dim.groups == 1)
      continue;
    bool follows = !is_axis && kept > 0 && kept - 1 != axis &&
                   strides[kept - 1] == dim.extent * strides[d];
    if (follows && merge(&tiling->dims[kept - 1], &dim)) {
      strides[kept - 1] = strides[d];
      continue;
    }
    tiling->dims[kept] = dim;
    strides[kept] = strides[d];
    if (is_axis)
      axis = kept;
    ++kept;
  }
  tiling->rank = kept;
  tiling->axis = axis;
}

static uint64_t low_bits(int32_t bits) {
  return bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
}

/// The largest bits of a float without its sign that are no NaN; 0: the type is
/// none of floats.
static uint64_t largest_magnitude(pit_dtype dtype) {
  int32_t fraction;
  switch (dtype.code) {
  case PIT_DTYPE_FLOAT8_E4M3FN: // a finite number
    return 0x7E;
  case PIT_DTYPE_FLOAT8_E5M2:
    fraction = 2;
    break;
  case PIT_DTYPE_BFLOAT:
    fraction = 7;
    break;
  case PIT_DTYPE_FLOAT:
    fraction = dtype.bits == 16 ? 10 : dtype.bits == 32 ? 23 : 52;
    break;
  default:
    return 0;
  }
  return low_bits(dtype.bits) >> 1 & ~low_bits(fraction); // infinity
}

void pit_rows_init_values(pit_rows *rows, uint64_t background) {
  pit_dtype dtype = rows->data.dtype;
  uint64_t all = low_bits(dtype.bits);
  uint64_t magnitude = all >> 1;
  rows->size_log2 = __builtin_ctz(dtype.bits / 8);
  rows->background = background & all;
  rows->care = all;
  merge_dims(rows);
  rows->columns = values_columns;
  const pit_dim *last = &rows->tiling.dims[rows->tiling.rank - 1];
  // The axis has windows of size 1, so this never is the axis. Windows that
  // overlap are better cut out of bits than read again and again.
  if (last->size >= WINDOW_MIN_BYTES >> rows->size_log2 &&
      last->size <= last->step &&
      rows->data.strides[rows->tiling.rank - 1] == 1)
    rows->windows = values_windows;
  uint64_t largest = largest_magnitude(dtype);
  if (largest == 0)
    return;
  if ((background & magnitude) == 0) {
    rows->background = 0;
    rows->care = magnitude;
  } else if ((background & magnitude) > largest) {
    rows->always = true;
    rows->columns = all_columns;
    rows->windows = NULL;
  }
}
