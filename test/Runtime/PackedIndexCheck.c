//===- PackedIndexCheck.c - Indices that are packed as they are built -----===//
//
// Runs pit_rt_build_packed on a device, or on the emulator that LD_LIBRARY_PATH
// finds, and compares the index, its copy in device memory and what was packed
// with loops of its own: random matrices of 2-byte elements, micro-tiles of 4
// to 256 rows, none or all live, negative zeros and NaN, other backgrounds,
// gaps behind rows. Memory is poisoned before. A place is used again.
// PackedIndexCheck [CASES [SEED]]; exits with 1 if an index was wrong.
//
//===----------------------------------------------------------------------===//

#include "Builds.h"
#include "DeviceCheck.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_ELEMENTS = 1 << 21,
  MAX_PACKED = 1 << 23,
  POISON = 0xA5A5,
  MINUS_ZERO = 0x8000,
  F16_NAN = 0x7E01,
  F16_ONE = 0x3C00
};

static device_check device;
static CUdeviceptr from, to;
static uint16_t *values, *packed;
static bool has_clusters;

static void read_back(void *host, const void *from_device, size_t bytes) {
  device_check_read(&device, host, (CUdeviceptr)(uintptr_t)from_device, bytes);
}

static int64_t below(int64_t n) { return device_check_below(&device, n); }

/// A matrix, its micro-tiles [width, 1], and what they are compared with.
typedef struct matrix {
  int64_t rows, columns, stride, width;
  uint16_t background;
  int64_t lives; ///< percent of the micro-tiles
  bool odd;      ///< rows do not begin at multiples of 16 bytes
} matrix;

static matrix draw(void) {
  static const int64_t widths[] = {4, 8, 16, 32, 32, 64, 128, 256};
  static const int64_t lives[] = {0, 1, 10, 50, 100};
  matrix m = {.width = widths[below(8)], .lives = lives[below(5)]};
  m.rows = below(6) ? 1 + below(3 * m.width) : 1 + below(600);
  m.columns = 8 * (1 + (below(4) ? below(40) : below(1200)));
  if (below(16) == 0)
    m.columns = below(2) * 16 * 1030; // more than a cluster has room for
  if (below(16) == 0)
    m.rows = 0;
  m.odd = below(8) == 0;
  m.stride = m.columns + 8 * (below(3) == 0) * below(5) + m.odd;
  m.background = below(4) ? 0 : below(2) ? F16_ONE : MINUS_ZERO;
  // Less than a micro-tile of the longest rows is room enough.
  while (m.rows > 0 && (m.rows * m.stride > MAX_ELEMENTS ||
                        (m.rows + m.width) * m.columns > MAX_PACKED))
    m.rows /= 2;
  return m;
}

static bool differs(const matrix *m, uint16_t x) {
  bool is_nan = (x & 0x7FFF) > 0x7C00;
  bool zeros = (m->background & 0x7FFF) == 0 && (x & 0x7FFF) == 0;
  return is_nan || (x != m->background && !zeros);
}

static void fill(const matrix *m) {
  uint16_t zero = m->background;
  for (int64_t i = 0; i < m->rows * m->stride; ++i)
    values[i] =
        (m->background & 0x7FFF) == 0 && below(2) ? zero ^ MINUS_ZERO : zero;
  for (int64_t g = 0; g < m->rows; g += m->width)
    for (int64_t k = 0; k < m->columns; ++k) {
      if (below(100) >= m->lives)
        continue;
      int64_t height = m->rows - g < m->width ? m->rows - g : m->width;
      // Some have one element alone.
      int64_t only = below(3) ? -1 : g + below(height);
      for (int64_t r = g; r < g + height; ++r)
        if (only < 0 || r == only)
          values[r * m->stride + k] =
              below(20) ? (uint16_t)below(65536) : F16_NAN;
    }
}

/// Has a micro-tile a live element?
static bool is_live(const matrix *m, int64_t g, int64_t k) {
  for (int64_t r = g * m->width; r < (g + 1) * m->width && r < m->rows; ++r)
    if (differs(m, values[r * m->stride + k]))
      return true;
  return false;
}

/// As Abi.h tells it.
static bool can_be_done(const matrix *m) {
  int64_t room = m->width > 32 ? 524288 / m->width : 16384;
  bool aligned = !m->odd || m->rows == 1; // a single row has no stride
  return has_clusters && m->width >= 8 && aligned && m->rows > 0 &&
         m->columns > 0 && m->columns <= room;
}

/// Compares what came out; NULL: it is right.
static const char *compare(const matrix *m, const pit_index *mirror,
                           bool done) {
  int64_t groups = (m->rows + m->width - 1) / m->width, total = 0, most = 0,
          end = 0;
  pit_index index;
  read_back(&index, (const char *)mirror->counts - mirror->device_copy,
            sizeof(index));
  if (index.groups != groups || index.status != PIT_OK ||
      index.capacity != mirror->capacity)
    return "groups, status or capacity";
  int32_t *counts = malloc((size_t)groups * sizeof(*counts) + 1);
  int64_t *offsets = malloc((size_t)groups * sizeof(*offsets) + 1);
  int32_t *ids = malloc((size_t)index.capacity * sizeof(*ids) + 1);
  read_back(counts, index.counts, (size_t)groups * sizeof(*counts));
  read_back(offsets, index.offsets, (size_t)groups * sizeof(*offsets));
  read_back(ids, index.ids, (size_t)index.capacity * sizeof(*ids));
  const char *wrong = NULL;
  for (int64_t g = 0; g < groups && !wrong; ++g) {
    int64_t count = 0;
    for (int64_t k = 0; k < m->columns && !wrong; ++k) {
      if (!is_live(m, g, k))
        continue;
      int64_t p = offsets[g] + count++;
      if (count > counts[g] || p >= index.capacity || ids[p] != k)
        wrong = "ids";
      for (int64_t i = 0; i < m->width && done && !wrong; ++i) {
        int64_t r = g * m->width + i;
        uint16_t x = r < m->rows ? values[r * m->stride + k] : 0;
        if (packed[p * m->width + i] != x)
          wrong = "what is packed";
        packed[p * m->width + i] = POISON;
      }
    }
    if (!wrong && count != counts[g])
      wrong = "counts";
    total += count;
    most = count > most ? count : most;
    end = offsets[g] + count > end ? offsets[g] + count : end;
  }
  if (!wrong && (index.total != total || index.max_count != most ||
                 index.extent < end || index.extent > index.capacity))
    wrong = "total, max_count or extent";
  // All else is as it was.
  for (int64_t i = 0; i < MAX_PACKED && !wrong; ++i)
    if (packed[i] != POISON)
      wrong = "memory that is not to be written";
  free(counts);
  free(offsets);
  free(ids);
  return wrong;
}

static bool check(int number, int *count_done) {
  matrix m = draw();
  fill(&m);
  for (int64_t i = 0; i < MAX_PACKED; ++i)
    packed[i] = POISON;
  device_check_write(&device, from, values,
                     (size_t)(m.rows * m.stride) * sizeof(*values));
  device_check_write(&device, to, packed, MAX_PACKED * sizeof(*packed));
  pit_build build = build_of(16, 1, m.width, 1);
  build.background = m.background;
  pit_view view = view_of((const void *)(uintptr_t)from, m.rows, m.columns);
  view.strides[0] = m.stride;
  int64_t room = (m.rows + m.width - 1) / m.width * m.columns;
  // Without room for all positions nothing is packed.
  bool is_short = room > 0 && below(16) == 0;
  pit_frame *frame;
  pit_place place = {0};
  const pit_index *index = NULL;
  pit_packed rows = {(void *)(uintptr_t)to, room - is_short, -1};
  int32_t status = pit_rt_enter(device.context, &device_no_args, NULL, NULL,
                                NULL, NULL, &frame);
  if (status != PIT_OK) {
    printf("FAIL case %d: cannot enter\n", number);
    return false;
  }
  for (int64_t times = 1 + below(2); times > 0 && status == PIT_OK; --times)
    status = pit_rt_build_packed(frame, &build, &view, &rows, &place, &index);
  const char *wrong = status == PIT_OK ? NULL : "status";
  if (!wrong && rows.done != (can_be_done(&m) && !is_short))
    wrong = "done";
  read_back(packed, (const void *)(uintptr_t)to, MAX_PACKED * sizeof(*packed));
  if (!wrong)
    wrong = compare(&m, index, rows.done != 0);
  char message[512] = "";
  if (pit_rt_leave(frame, status) != PIT_OK)
    pit_context_message(device.context, message, sizeof(message));
  *count_done += rows.done == 1;
  if (!wrong)
    return true;
  printf("FAIL case %d: %s; %lld x %lld, stride %lld, micro-tiles of %lld, "
         "background %#x, %lld %% live, done %d; %s\n",
         number, wrong, (long long)m.rows, (long long)m.columns,
         (long long)m.stride, (long long)m.width, m.background,
         (long long)m.lives, (int)rows.done, message);
  return false;
}

int main(int argc, char **argv) {
  int cases = argc > 1 ? atoi(argv[1]) : 100, right = 0, done = 0;
  device_check_open(&device, "PackedIndexCheck",
                    argc > 2 ? strtoull(argv[2], NULL, 0) : 1);
  from = device_check_alloc(&device, MAX_ELEMENTS * sizeof(*values));
  to = device_check_alloc(&device, MAX_PACKED * sizeof(*packed));
  values = malloc(MAX_ELEMENTS * sizeof(*values));
  packed = malloc(MAX_PACKED * sizeof(*packed));
  pit_device_info info;
  if (pit_device_query(device.context, &info) != PIT_OK)
    return 1;
  has_clusters = info.capability >= 90;
  for (int i = 0; i < cases; ++i)
    right += check(i, &done);
  bool is_many = done > cases / 4;
  printf("PackedIndexCheck: %d of %d indices are right, %s are packed\n", right,
         cases,
         is_many ? "many"
         : done  ? "few"
                 : "none");
  device_check_close(&device);
  free(values);
  free(packed);
  return right != cases || is_many != has_clusters;
}
