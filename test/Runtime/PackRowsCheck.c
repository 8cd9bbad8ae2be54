//===- PackRowsCheck.c - Copies for TMA, compared with the host's ---------===//
//
// Runs pit_rt_pack_rows on a device, or on the emulator that LD_LIBRARY_PATH
// finds: random shapes and strides of every element size, extents of 0 and 1,
// addresses off their alignment, conditions. The copy is poisoned before.
// PackRowsCheck [CASES [SEED]]; exits with 1 if a copy was wrong.
//
//===----------------------------------------------------------------------===//

#include "DeviceCheck.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_RANK = 5,
  SOURCE_BYTES = 1 << 22,
  COPY_BYTES = 1 << 22,
  POISON = 0xA5
};

static device_check device;
static CUdeviceptr from, to, word;
static uint8_t *source, *copy, *wanted;

static int64_t below(int64_t n) { return device_check_below(&device, n); }

typedef struct array {
  int64_t size, rank, offset; ///< bytes of an element; of the first element
  int64_t shape[MAX_RANK], strides[MAX_RANK];
} array;

/// An array whose dimensions lie in any order, with gaps or without.
static array draw(void) {
  array a = {.size = 1 << below(3), .rank = 1 + below(MAX_RANK)};
  // Mostly a matrix in few batches, whose edges are no multiples of anything.
  for (int64_t d = 0; d < a.rank; ++d)
    a.shape[d] = d < a.rank - 2 ? 1 + below(3) : 1 + below(below(4) ? 40 : 300);
  if (below(8) == 0)
    a.shape[below(a.rank)] = below(2);
  int64_t order[MAX_RANK];
  for (int64_t d = 0; d < a.rank; ++d)
    order[d] = d;
  for (int64_t d = a.rank - 1; d > 0 && below(3); --d) {
    int64_t other = below(d + 1), kept = order[d];
    order[d] = order[other];
    order[other] = kept;
  }
  int64_t stride = 1 + (below(8) == 0);
  bool gaps = below(3) == 0;
  for (int64_t d = a.rank - 1; d >= 0; --d) {
    a.strides[order[d]] = stride;
    stride *= a.shape[order[d]] ? a.shape[order[d]] : 1;
    stride += gaps ? below(9) : 0;
  }
  a.offset = below(16) * a.size;
  return a;
}

/// What the copy has to be; the number of its bytes.
static int64_t pack(const array *a) {
  int64_t last = a->rank - 1, rows = 1;
  int64_t pitch = (a->shape[last] * a->size + 15) / 16 * 16;
  for (int64_t d = 0; d < last; ++d)
    rows *= a->shape[d];
  if (rows * pitch > COPY_BYTES)
    return -1;
  memset(wanted, 0, (size_t)(rows * pitch));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t start = 0, rest = row;
    for (int64_t d = last - 1; d >= 0; --d) {
      start += rest % a->shape[d] * a->strides[d];
      rest /= a->shape[d];
    }
    for (int64_t i = 0; i < a->shape[last]; ++i) {
      int64_t at = a->offset + (start + i * a->strides[last]) * a->size;
      if (at + a->size > SOURCE_BYTES)
        return -1;
      memcpy(wanted + row * pitch + i * a->size, source + at, (size_t)a->size);
    }
  }
  return rows * pitch;
}

static bool check(int number) {
  array a = draw();
  int64_t bytes = pack(&a);
  if (bytes < 0)
    return true;
  // Every fourth one asks a word, and half of these are refused.
  bool asks = below(4) == 0, refused = asks && below(2) == 0;
  pit_view view = {.data =
                       (const void *)(uintptr_t)(from + (CUdeviceptr)a.offset)};
  memcpy(view.shape, a.shape, (size_t)a.rank * sizeof(*a.shape));
  memcpy(view.strides, a.strides, (size_t)a.rank * sizeof(*a.strides));
  memset(copy, POISON, COPY_BYTES);
  device_check_write(&device, to, copy, COPY_BYTES);
  pit_frame *frame;
  char message[512] = "";
  int32_t status = pit_rt_enter(device.context, &device_no_args, NULL, NULL,
                                NULL, NULL, &frame);
  if (status == PIT_OK)
    status = pit_rt_leave(
        frame, pit_rt_pack_rows(frame, (void *)(uintptr_t)to, &view,
                                (int32_t)a.size, (int32_t)a.rank,
                                asks ? (const int32_t *)(uintptr_t)word : NULL,
                                refused ? 6 : 7));
  if (status != PIT_OK)
    pit_context_message(device.context, message, sizeof(message));
  device_check_read(&device, copy, to, COPY_BYTES);
  int64_t checked = refused ? 0 : bytes;
  bool good = status == PIT_OK && memcmp(copy, wanted, (size_t)checked) == 0;
  // Nothing is written behind the copy.
  for (int64_t i = checked; i < COPY_BYTES; ++i)
    good &= copy[i] == POISON;
  if (good)
    return true;
  printf("FAIL case %d: %lld bytes an element%s; %s\n", number,
         (long long)a.size, refused ? ", refused" : "", message);
  for (int64_t d = 0; d < a.rank; ++d)
    printf("  dimension %lld: %lld, stride %lld\n", (long long)d,
           (long long)a.shape[d], (long long)a.strides[d]);
  return false;
}

/// Arguments that make no sense are refused, with the number.
static bool refuses(int64_t extent, int64_t offset, const char *what) {
  const pit_view view = {
      (const void *)(uintptr_t)(from + (CUdeviceptr)offset), {extent}, {1}};
  char message[512] = "";
  pit_frame *frame;
  if (pit_rt_enter(device.context, &device_no_args, NULL, NULL, NULL, NULL,
                   &frame))
    return false;
  int32_t status =
      pit_rt_leave(frame, pit_rt_pack_rows(frame, (void *)(uintptr_t)to, &view,
                                           4, 1, NULL, 0));
  pit_context_message(device.context, message, sizeof(message));
  bool good = status != PIT_OK && strstr(message, what);
  if (!good)
    printf("FAIL status %d, '%s' and not '%s'\n", status, message, what);
  return good;
}

int main(int argc, char **argv) {
  int cases = argc > 1 ? atoi(argv[1]) : 200, right = 0;
  device_check_open(&device, "PackRowsCheck",
                    argc > 2 ? strtoull(argv[2], NULL, 0) : 1);
  from = device_check_alloc(&device, SOURCE_BYTES);
  to = device_check_alloc(&device, COPY_BYTES);
  word = device_check_alloc(&device, sizeof(int32_t));
  source = malloc(SOURCE_BYTES);
  copy = malloc(COPY_BYTES);
  wanted = malloc(COPY_BYTES);
  for (int64_t i = 0; i < SOURCE_BYTES; ++i)
    source[i] = (uint8_t)below(256);
  device_check_write(&device, from, source, SOURCE_BYTES);
  const int32_t seven = 7;
  device_check_write(&device, word, &seven, sizeof(seven));

  for (int i = 0; i < cases; ++i)
    right += check(i);
  bool refused = refuses(-1, 0, "dimension 0 is -1") &&
                 refuses(1, 2, "data must be aligned to 4 bytes");
  printf("PackRowsCheck: %d of %d copies are right, nonsense is %s\n", right,
         cases, refused ? "refused" : "taken");
  device_check_close(&device);
  return right != cases || !refused;
}
