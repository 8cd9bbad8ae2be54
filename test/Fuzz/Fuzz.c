//===- Fuzz.c - What the fuzz targets share -------------------------------===//

#include "Fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

static const char *seed_folder;
static int seeds_written;

void fuzz_failed(const char *condition, const char *file, int line) {
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
  abort();
}

void fuzz_seed(const void *data, size_t size) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/seed-%d", seed_folder, seeds_written++);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
    perror(path);
    exit(1);
  }
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  static const char option[] = "--seeds=";
  for (int i = 1; i < *argc; ++i)
    if (strncmp((*argv)[i], option, sizeof(option) - 1) == 0) {
      seed_folder = (*argv)[i] + sizeof(option) - 1;
      fuzz_write_seeds();
      exit(0);
    }
  return 0;
}

//===----------------------------------------------------------------------===//
// Numbers and memory
//===----------------------------------------------------------------------===//

uint8_t fuzz_byte(fuzz_input *input) {
  if (!input->left)
    return 0;
  --input->left;
  return *input->at++;
}

int64_t fuzz_word(fuzz_input *input) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i)
    word |= (uint64_t)fuzz_byte(input) << (8 * i);
  return (int64_t)word;
}

int64_t fuzz_number(fuzz_input *input) {
  static const int64_t borders[] = {-1,
                                    -2,
                                    INT64_MIN,
                                    INT64_MAX,
                                    INT64_MAX - 1,
                                    INT32_MIN,
                                    INT32_MAX,
                                    INT64_C(1) << 31,
                                    INT64_C(1) << 32,
                                    INT64_C(1) << 60,
                                    (INT64_C(1) << 60) + 1,
                                    INT64_C(1) << 62,
                                    63,
                                    64,
                                    65,
                                    1000};
  enum { BORDERS = sizeof(borders) / sizeof(*borders) };
  uint8_t choice = fuzz_byte(input);
  if (choice == 255)
    return fuzz_word(input);
  if (choice >= 255 - BORDERS)
    return borders[254 - choice];
  return choice % 32;
}

void *fuzz_memory(fuzz_input *input, size_t size) {
  uint8_t *memory = malloc(size ? size : 1);
  if (!memory) {
    perror("fuzz");
    exit(1);
  }
  size_t given = size < input->left ? size : input->left;
  if (given)
    memcpy(memory, input->at, given);
  memset(memory + given, 0, size - given);
  input->at += given;
  input->left -= given;
  return memory;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// How far the elements of a tensor reach before and behind its first one;
/// false if they are too many, or too far away, for a test.
static bool find_reach(const fuzz_tensor *t, int64_t *below, int64_t *above) {
  int64_t count = 1, stride = 1;
  *below = *above = 0;
  for (int32_t d = 0; d < t->dl.ndim; ++d)
    if (t->shape[d] == 0)
      return true;
  for (int32_t d = t->dl.ndim - 1; d >= 0; --d) {
    int64_t step = t->dl.strides ? t->strides[d] : stride;
    if (t->shape[d] < 0 || t->shape[d] > MAX_FUZZ_ELEMENTS ||
        count * t->shape[d] > MAX_FUZZ_ELEMENTS)
      return false;
    count *= t->shape[d];
    // A dimension of one element takes no step.
    if (t->shape[d] > 1) {
      if (step < -MAX_FUZZ_ELEMENTS || step > MAX_FUZZ_ELEMENTS)
        return false;
      *(step < 0 ? below : above) += (t->shape[d] - 1) * step;
    }
    stride *= t->shape[d];
  }
  return *below >= -MAX_FUZZ_ELEMENTS && *above < MAX_FUZZ_ELEMENTS;
}

static DLDataType draw_dtype(fuzz_input *input) {
  static const DLDataType known[] = {
      {PIT_DTYPE_INT, 8, 1},    {PIT_DTYPE_INT, 16, 1},
      {PIT_DTYPE_INT, 32, 1},   {PIT_DTYPE_INT, 64, 1},
      {PIT_DTYPE_UINT, 8, 1},   {PIT_DTYPE_UINT, 32, 1},
      {PIT_DTYPE_FLOAT, 16, 1}, {PIT_DTYPE_FLOAT, 32, 1},
      {PIT_DTYPE_FLOAT, 64, 1}, {PIT_DTYPE_BFLOAT, 16, 1},
      {PIT_DTYPE_BOOL, 8, 1}};
  uint8_t choice = fuzz_byte(input);
  if (choice != 255)
    return known[choice % (sizeof(known) / sizeof(*known))];
  DLDataType any = {fuzz_byte(input), fuzz_byte(input), 0};
  any.lanes = fuzz_byte(input);
  return any;
}

void fuzz_draw_tensor(fuzz_input *input, fuzz_tensor *t) {
  memset(t, 0, sizeof(*t));
  uint8_t odd = fuzz_byte(input);
  t->dl.dtype = draw_dtype(input);
  uint8_t rank = fuzz_byte(input);
  t->dl.ndim = rank % (PIT_MAX_RANK + 2);
  t->dl.device = (DLDevice){kDLCPU, 0};
  for (int32_t d = 0; d < t->dl.ndim; ++d)
    t->shape[d] = fuzz_number(input);
  t->dl.shape = t->shape;
  if (odd & 1) {
    t->dl.strides = t->strides;
    for (int32_t d = 0; d < t->dl.ndim; ++d)
      t->strides[d] = fuzz_number(input);
  }
  if (odd & 2)
    t->dl.byte_offset = fuzz_byte(input) % 65;
  int64_t below, above;
  bool sound = find_reach(t, &below, &above);
  int64_t element = (t->dl.dtype.bits + 7) / 8;
  if (sound) {
    size_t bytes = (size_t)((above - below + 1) * element);
    t->memory = fuzz_memory(input, bytes + t->dl.byte_offset);
    t->dl.data = (char *)t->memory - below * element;
  }
  if ((odd & 0xC) == 0xC)
    t->dl.data = NULL;
  if ((odd & 0x30) == 0x30)
    t->dl.device = (DLDevice){(DLDeviceType)fuzz_byte(input), fuzz_byte(input)};
  if ((odd & 0xC0) == 0xC0) {
    uint8_t what = fuzz_byte(input);
    if (what & 1)
      t->dl.shape = NULL;
    if (what & 2)
      t->dl.ndim = (int32_t)fuzz_number(input);
    // What it says is no longer true: nothing may be read.
    t->dl.data = NULL;
  }
}

void fuzz_free_tensor(fuzz_tensor *t) { free(t->memory); }

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

void fuzz_draw_spec(fuzz_input *input, pit_index_spec *spec) {
  memset(spec, 0, sizeof(*spec));
  spec->rank = fuzz_byte(input) % (PIT_MAX_RANK + 2);
  spec->axis = spec->rank ? fuzz_byte(input) % spec->rank : 0;
  for (int32_t d = 0; d < spec->rank && d < PIT_MAX_RANK; ++d) {
    spec->shape[d] = fuzz_number(input);
    spec->micro_tile[d] = d == spec->axis ? 1 : fuzz_number(input);
    spec->step[d] = fuzz_byte(input) % 4 ? 0 : fuzz_number(input);
  }
  uint8_t odd = fuzz_byte(input);
  if (odd & 1)
    spec->chunk_size = fuzz_number(input);
  if (odd & 2)
    spec->capacity = fuzz_number(input);
  if (odd & 4)
    spec->flags = fuzz_byte(input);
  if ((odd & 0x18) == 0x18)
    spec->axis = (int32_t)fuzz_number(input);
  if ((odd & 0x60) == 0x60)
    spec->micro_tile[fuzz_byte(input) % PIT_MAX_RANK] = fuzz_number(input);
}

/// The work list, which follows from the groups.
static void check_chunks(const pit_index *index) {
  int64_t chunks = 0;
  for (int64_t g = 0; g < index->groups; ++g)
    for (int64_t i = 0; i < index->counts[g]; i += index->chunk_size) {
      FUZZ_CHECK(chunks < index->num_chunks);
      const pit_chunk *chunk = &index->chunks[chunks++];
      FUZZ_CHECK(chunk->group == g && chunk->first == index->offsets[g] + i);
      FUZZ_CHECK(chunk->live == index->chunk_size ||
                 i + chunk->live == index->counts[g]);
    }
  FUZZ_CHECK(chunks == index->num_chunks);
}

static int compare_ids(const void *a, const void *b) {
  int32_t x, y;
  memcpy(&x, a, sizeof(x));
  memcpy(&y, b, sizeof(y));
  return (x > y) - (x < y);
}

static void check_unique(const int32_t *ids, int64_t count) {
  size_t bytes = (size_t)count * sizeof(*ids);
  int32_t *sorted = malloc(bytes + 1);
  FUZZ_CHECK(sorted);
  if (bytes)
    memcpy(sorted, ids, bytes);
  qsort(sorted, (size_t)count, sizeof(*sorted), compare_ids);
  for (int64_t i = 1; i < count; ++i)
    FUZZ_CHECK(sorted[i - 1] < sorted[i]);
  free(sorted);
}

/// A group's ids: in range, each once, and in order where that is promised.
static void check_ids(const pit_index *index, int64_t offset, int64_t count) {
  const int32_t *ids = index->ids + offset;
  bool ordered = !(index->flags & PIT_INDEX_UNORDERED);
  for (int64_t i = 0; i < count; ++i) {
    FUZZ_CHECK(ids[i] >= 0 && ids[i] < index->shape[index->axis]);
    FUZZ_CHECK(!ordered || i == 0 || ids[i - 1] < ids[i]);
    FUZZ_CHECK(!index->origin || index->origin[offset + i] >= 0);
  }
  if (!ordered)
    check_unique(ids, count);
}

void fuzz_check_index(const pit_index *index) {
  int64_t total = 0, extent = 0, max_count = 0;
  uint8_t *taken = calloc((size_t)index->capacity + 1, 1);
  FUZZ_CHECK(taken);
  for (int64_t g = 0; g < index->groups; ++g) {
    int64_t count = index->counts[g], offset = index->offsets[g];
    FUZZ_CHECK(count >= 0 && offset >= 0);
    FUZZ_CHECK(offset <= index->capacity && count <= index->capacity - offset);
    check_ids(index, offset, count);
    for (int64_t i = offset; i < offset + count; ++i)
      FUZZ_CHECK(!taken[i]++);
    total += count;
    extent = count && offset + count > extent ? offset + count : extent;
    max_count = count > max_count ? count : max_count;
  }
  free(taken);
  FUZZ_CHECK(index->total == total && index->max_count == max_count);
  // An empty group's place counts, but is of no account.
  FUZZ_CHECK(index->extent >= extent && index->extent <= index->capacity);
  if (index->chunk_size > 0)
    check_chunks(index);
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

pit_context *fuzz_context(void) {
  static pit_context *context;
  const pit_context_options options = {.threads = 1};
  if (!context)
    FUZZ_CHECK(pit_context_create(&options, &context) == PIT_OK);
  return context;
}

void fuzz_check_status(pit_context *context, pit_status status) {
  if (status == PIT_OK)
    return;
  char message[1024];
  size_t length = pit_context_message(context, message, sizeof(message));
  FUZZ_CHECK(length > 0 && length < sizeof(message));
  FUZZ_CHECK(!strchr(message, '\n'));
  FUZZ_CHECK(strcmp(pit_status_string(status), "unknown status") != 0);
}

void fuzz_expect_ok(pit_context *context, pit_status status) {
  char message[1024];
  pit_context_message(context, message, sizeof(message));
  if (status != PIT_OK)
    fuzz_failed(message, "refused", status);
}
