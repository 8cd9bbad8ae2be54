//===- TensorMaps.c - Tensor maps and bulk copies -------------------------===//

#include "TensorMaps.h"

#include "TensorTypes.h"

#include <string.h>

enum { MAP_ALIGNMENT = 64, CHUNK = 16, BOX_ALIGNMENT = 128, MAX_BOX = 256 };

/// CUtensorMapDataType, from CU_TENSOR_MAP_DATA_TYPE_UINT8 on.
enum {
  UINT8,
  UINT16,
  UINT32,
  INT32,
  UINT64,
  INT64,
  FLOAT16,
  FLOAT32,
  FLOAT64,
  BFLOAT16,
  FLOAT32_FTZ,
  TFLOAT32,
  TFLOAT32_FTZ,
  TYPES
};
static const uint8_t element_sizes[TYPES] = {1, 2, 4, 4, 8, 8, 2,
                                             4, 8, 2, 4, 4, 4};

/// What the 128 bytes hold. Arrays are innermost first.
typedef struct tensor_map {
  uint64_t mark; ///< so that other bytes are not taken for a map
  uint64_t address;
  uint64_t dims[TENSOR_MAP_RANK];
  uint64_t strides[TENSOR_MAP_RANK]; ///< bytes
  uint16_t box[TENSOR_MAP_RANK];     ///< elements that are copied
  uint8_t step[TENSOR_MAP_RANK];
  uint8_t type, rank, span, fill;
} tensor_map;
_Static_assert(sizeof(tensor_map) <= TENSOR_MAP_BYTES, "fits");

static const uint64_t map_mark = UINT64_C(0x70616D7469700001);

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

static const char *encode_dim(tensor_map *made, uint32_t d,
                              const uint64_t *dims, const uint64_t *strides,
                              const uint32_t *box, const uint32_t *step) {
  if (dims[d] < 1 || dims[d] > UINT64_C(1) << 32)
    return "a dimension is not in 1 to 2^32";
  if (d > 0 &&
      (strides[d - 1] % CHUNK != 0 || strides[d - 1] >= UINT64_C(1) << 40))
    return "a stride is not a multiple of 16 bytes below 2^40";
  if (box[d] < 1 || box[d] > MAX_BOX)
    return "an extent of the box is not in 1 to 256";
  if (step[d] < 1 || step[d] > 8)
    return "an element stride is not in 1 to 8";
  made->dims[d] = dims[d];
  made->strides[d] = d > 0 ? strides[d - 1] : element_sizes[made->type];
  // That of the innermost dimension is ignored.
  made->step[d] = d > 0 ? (uint8_t)step[d] : 1;
  made->box[d] = (uint16_t)((box[d] + made->step[d] - 1) / made->step[d]);
  return NULL;
}

const char *tensor_map_encode(void *map, int type, uint32_t rank,
                              uint64_t address, const uint64_t *dims,
                              const uint64_t *strides, const uint32_t *box,
                              const uint32_t *step, int interleave, int swizzle,
                              int l2_promotion, int fill) {
  if (!map || !dims || !box || !step || (rank > 1 && !strides))
    return "an argument is NULL";
  if ((uintptr_t)map % MAP_ALIGNMENT != 0)
    return "the tensor map is not aligned to 64 bytes";
  if (type < 0 || type >= TYPES)
    return "the data type is not one that sm_90 has";
  if (rank < 1 || rank > TENSOR_MAP_RANK)
    return "the rank is not in 1 to 5";
  if (!address || address % CHUNK != 0)
    return "the global address is not a multiple of 16";
  if (interleave != 0)
    return "interleaved layouts are not emulated";
  if (swizzle < 0 || swizzle > 3)
    return "the swizzle is not one of 0, 32, 64 and 128 bytes";
  if (l2_promotion < 0 || l2_promotion > 3)
    return "the L2 promotion is not one of 0, 64, 128 and 256 bytes";
  bool is_float = type >= FLOAT16 && type <= TFLOAT32_FTZ;
  if (fill != 0 && (fill != 1 || !is_float))
    return "the fill is not zero, or NaN of a float";
  tensor_map made = {.mark = map_mark,
                     .address = address,
                     .type = (uint8_t)type,
                     .rank = (uint8_t)rank,
                     .span = (uint8_t)(swizzle ? 16 << swizzle : 0),
                     .fill = (uint8_t)fill};
  for (uint32_t d = 0; d < rank; ++d) {
    const char *error = encode_dim(&made, d, dims, strides, box, step);
    if (error)
      return error;
  }
  uint32_t inner = box[0] * element_sizes[type];
  if (inner % CHUNK != 0)
    return "a row of the box is not a multiple of 16 bytes";
  if (made.span && inner > made.span)
    return "a row of the box is larger than the swizzle";
  memset(map, 0, TENSOR_MAP_BYTES);
  memcpy(map, &made, sizeof(made));
  return NULL;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// A row of a box: its bytes in the tensor (NULL: all are outside), how many
/// there are before, in and after the tensor, and where it is in shared memory
/// before swizzling.
typedef struct box_row {
  uint8_t *global;
  uint32_t before, inside, bytes, shared;
} box_row;

typedef struct box_copy {
  tensor_map map;
  const int32_t *at;
  const tensor_global *global;
  const tensor_shared *shared;
  uint32_t address;
  uint32_t rows, bytes; ///< of the box
} box_copy;

/// 0: too many.
static uint32_t box_bytes(const tensor_map *m) {
  uint64_t bytes = element_sizes[m->type];
  for (uint32_t d = 0; d < m->rank && bytes <= UINT32_MAX; ++d)
    bytes *= m->box[d];
  return bytes <= UINT32_MAX ? (uint32_t)bytes : 0;
}

uint32_t tensor_map_bytes(const void *map) {
  tensor_map m;
  memcpy(&m, map, sizeof(m));
  return m.mark == map_mark ? box_bytes(&m) : 0;
}

static const char *begin_copy(box_copy *copy, const void *map, uint32_t rank) {
  memcpy(&copy->map, map, sizeof(copy->map));
  const tensor_map *m = &copy->map;
  if (m->mark != map_mark)
    return "no tensor map is at the address";
  if (m->rank != rank)
    return "the tensor map has another rank";
  if (m->fill)
    return "NaN outside of tensors is not emulated";
  uint32_t size = element_sizes[m->type];
  if (m->span && m->box[0] * size != m->span)
    return "boxes with rows smaller than the swizzle are not emulated";
  copy->bytes = box_bytes(m);
  if (!copy->bytes)
    return "the box is larger than shared memory";
  copy->rows = copy->bytes / (m->box[0] * size);
  return tensor_check_shared(copy->shared, copy->address, copy->bytes,
                             BOX_ALIGNMENT);
}

/// Bytes of a box's row that lie before the tensor and within it.
static void clip_row(const tensor_map *m, int64_t first, box_row *row) {
  int64_t extent = m->box[0], end = first + extent;
  int64_t limit = (int64_t)m->dims[0];
  int64_t low = first < 0 ? 0 : first, high = end < limit ? end : limit;
  uint32_t size = element_sizes[m->type];
  row->bytes = (uint32_t)extent * size;
  row->before = low < high ? (uint32_t)(low - first) * size : 0;
  row->inside = low < high ? (uint32_t)(high - low) * size : 0;
}

static const char *find_row(const box_copy *copy, uint32_t number,
                            box_row *row) {
  const tensor_map *m = &copy->map;
  clip_row(m, copy->at[0], row);
  row->shared = copy->address + number * row->bytes;
  row->global = NULL;
  uint64_t address = m->address;
  for (uint32_t d = 1; d < m->rank; ++d) {
    int64_t index =
        copy->at[d] + (int64_t)(number % m->box[d]) * (int64_t)m->step[d];
    number /= m->box[d];
    if (index < 0 || index >= (int64_t)m->dims[d])
      row->inside = 0;
    else
      address += (uint64_t)index * m->strides[d];
  }
  if (!row->inside)
    return NULL;
  address +=
      (uint64_t)((int64_t)copy->at[0] * element_sizes[m->type] + row->before);
  row->global = copy->global->find(copy->global->context, address, row->inside);
  return row->global ? NULL : "the tensor map's memory is not one allocation";
}

/// Copies between a row in shared memory, which is swizzled, and one that is
/// not.
static void move_row(const box_copy *copy, const box_row *row, uint8_t *linear,
                     bool load) {
  for (uint32_t i = 0; i < row->bytes; i += CHUNK) {
    uint8_t *chunk =
        copy->shared->bytes + tensor_swizzle(row->shared + i, copy->map.span);
    if (load)
      memcpy(chunk, linear + i, CHUNK);
    else
      memcpy(linear + i, chunk, CHUNK);
  }
}

enum { MAX_ROW = MAX_BOX * 8 };

const char *tensor_map_load(const void *map, uint32_t rank, const int32_t *at,
                            const tensor_global *global,
                            const tensor_shared *shared, uint32_t address,
                            uint32_t *bytes) {
  box_copy copy = {
      .at = at, .global = global, .shared = shared, .address = address};
  const char *error = begin_copy(&copy, map, rank);
  for (uint32_t r = 0; !error && r < copy.rows; ++r) {
    uint8_t linear[MAX_ROW] = {0};
    box_row row;
    error = find_row(&copy, r, &row);
    if (error)
      break;
    if (row.global)
      memcpy(linear + row.before, row.global, row.inside);
    move_row(&copy, &row, linear, /*load=*/true);
  }
  if (!error) {
    tensor_note_write(shared, address, copy.bytes, /*async=*/true);
    *bytes = copy.bytes;
  }
  return error;
}

static void store_bytes(int type, uint8_t *to, const uint8_t *from,
                        uint32_t bytes) {
  (void)type;
  memcpy(to, from, bytes);
}

static void add_floats(tensor_type type, uint8_t *to, const uint8_t *from,
                       uint32_t size) {
  uint32_t a = 0, b = 0;
  memcpy(&a, to, size);
  memcpy(&b, from, size);
  a = tensor_round(type, tensor_value(type, a) + tensor_value(type, b));
  memcpy(to, &a, size);
}

static void add_bytes(int type, uint8_t *to, const uint8_t *from,
                      uint32_t bytes) {
  uint32_t size = element_sizes[type];
  for (uint32_t i = 0; i < bytes; i += size) {
    uint64_t a = 0, b = 0;
    switch (type) {
    case FLOAT16:
      add_floats(TENSOR_F16, to + i, from + i, size);
      continue;
    case BFLOAT16:
      add_floats(TENSOR_BF16, to + i, from + i, size);
      continue;
    case FLOAT32:
      add_floats(TENSOR_F32, to + i, from + i, size);
      continue;
    default: // integers, whose bytes are the lowest of a word
      memcpy(&a, to + i, size);
      memcpy(&b, from + i, size);
      a += b;
      memcpy(to + i, &a, size);
    }
  }
}

static const char *store_box(box_copy *copy, const void *map, uint32_t rank,
                             void (*store)(int type, uint8_t *to,
                                           const uint8_t *from,
                                           uint32_t bytes)) {
  const char *error = begin_copy(copy, map, rank);
  if (!error)
    error = tensor_check_async_read(copy->shared, copy->address, copy->bytes,
                                    BOX_ALIGNMENT);
  if (!error && store == add_bytes) {
    int type = copy->map.type;
    if (type != UINT32 && type != INT32 && type != UINT64 && type != FLOAT16 &&
        type != BFLOAT16 && type != FLOAT32)
      return "there is no .add of the tensor map's type";
  }
  for (uint32_t r = 0; !error && r < copy->rows; ++r) {
    uint8_t linear[MAX_ROW];
    box_row row;
    error = find_row(copy, r, &row);
    if (error || !row.global)
      continue;
    move_row(copy, &row, linear, /*load=*/false);
    store(copy->map.type, row.global, linear + row.before, row.inside);
  }
  return error;
}

const char *tensor_map_store(const void *map, uint32_t rank, const int32_t *at,
                             const tensor_global *global,
                             const tensor_shared *shared, uint32_t address) {
  box_copy copy = {
      .at = at, .global = global, .shared = shared, .address = address};
  return store_box(&copy, map, rank, store_bytes);
}

const char *tensor_map_add(const void *map, uint32_t rank, const int32_t *at,
                           const tensor_global *global,
                           const tensor_shared *shared, uint32_t address) {
  box_copy copy = {
      .at = at, .global = global, .shared = shared, .address = address};
  return store_box(&copy, map, rank, add_bytes);
}

//===----------------------------------------------------------------------===//
// Copies without a map
//===----------------------------------------------------------------------===//

static const char *find_bulk(const tensor_global *global, uint64_t address,
                             const tensor_shared *shared, uint32_t at,
                             uint32_t bytes, uint8_t **found) {
  *found = NULL;
  if (bytes % CHUNK != 0 || address % CHUNK != 0)
    return "a bulk copy's address or size is not a multiple of 16";
  const char *error = tensor_check_shared(shared, at, bytes, CHUNK);
  if (error || bytes == 0)
    return error;
  *found = global->find(global->context, address, bytes);
  return *found ? NULL : "the global memory is not one allocation";
}

const char *tensor_bulk_load(const tensor_global *global, uint64_t from,
                             const tensor_shared *shared, uint32_t to,
                             uint32_t bytes) {
  uint8_t *found;
  const char *error = find_bulk(global, from, shared, to, bytes, &found);
  if (!error && found) {
    memcpy(shared->bytes + to, found, bytes);
    tensor_note_write(shared, to, bytes, /*async=*/true);
  }
  return error;
}

const char *tensor_bulk_store(const tensor_shared *shared, uint32_t from,
                              const tensor_global *global, uint64_t to,
                              uint32_t bytes) {
  uint8_t *found;
  const char *error = find_bulk(global, to, shared, from, bytes, &found);
  if (!error)
    error = tensor_check_async_read(shared, from, bytes, CHUNK);
  if (!error && found)
    memcpy(found, shared->bytes + from, bytes);
  return error;
}
