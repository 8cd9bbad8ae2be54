//===- ManifestFuzz.c - Broken manifests of shared libraries --------------===//
//
// An input is the list of entry points (its length in one byte), tensors to
// call them with (a byte each for how many, and for their sizes), and the
// manifest that all entry points have. Its lists are as long as it says, which
// no reader can check; all else may be wild.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_GROUPS = 1 << 12 };
enum { MAX_ARGS = 8, MAX_REQUIREMENTS = 8, MAX_SIZES = 64 };

//===----------------------------------------------------------------------===//
// Seeds
//===----------------------------------------------------------------------===//

void fuzz_write_seeds(void) {
  // "f" and "g", three sizes; two arguments, one result, one requirement, on a
  // CPU; kind, code, bits, lanes, rank, axis and the dimensions of each value;
  // the requirement's two programs; those of the result.
  // clang-format off
  static const uint8_t required[] = {
      3, 'f', 0, 'g', 0, 0, 3, 2, 4, 4,
      2, 1, 1, 1, 0,
      0, 2, 32, 1, 2, 0, 255, 255,
      2, 0, 64, 1, 0, 0,
      0, 2, 32, 1, 2, 0, 255, 255,
      1, 1, PIT_SHAPE_DIM, 0, 1, 1, PIT_SHAPE_CONST, 0, 2,
      1, PIT_SHAPE_DIM, 0, 0,
      4, PIT_SHAPE_DIM, 0, 1, PIT_SHAPE_CONST, 0, 2,
         PIT_SHAPE_FLOORDIV, 0, 0, PIT_SHAPE_SCALAR, 1, 0,
  };
  static const uint8_t index[] = {
      1, 'f', 0, 0, 3, 2, 4, 4,
      1, 1, 0, 1, 0,
      1, 0, 0, 0, 2, 1, 2, 2, 1, 1,
      0, 2, 32, 1, 1, 0, 255,
      5, PIT_SHAPE_DIM, 0, 0, PIT_SHAPE_CONST, 0, 3, PIT_SHAPE_CEILDIV, 0, 0,
         PIT_SHAPE_CONST, 0, 2, PIT_SHAPE_MUL, 0, 0,
  };
  // clang-format on
  fuzz_seed(required, sizeof(required));
  fuzz_seed(index, sizeof(index));
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

typedef struct library {
  char *names;
  pit_manifest manifest;
  pit_arg_info values[2 * MAX_ARGS];
  pit_requirement requirements[MAX_REQUIREMENTS];
  pit_shape_program sizes[MAX_SIZES];
} library;

/// The program whose entry points run; libFuzzer runs one at a time.
static library loaded;

/// A number, mostly of one byte.
static int64_t draw_number(fuzz_input *input) {
  int8_t small = (int8_t)fuzz_byte(input);
  return small == INT8_MIN ? fuzz_number(input) : small;
}

/// A number of elements of a list, which has room for `most` of them; or one
/// that is refused.
static int32_t draw_count(fuzz_input *input, int32_t most) {
  int64_t count = draw_number(input);
  return (int32_t)(count > most && count < 1 << 20 ? most : count);
}

static pit_arg_info draw_info(fuzz_input *input) {
  pit_arg_info info = {.kind = (pit_arg_kind)draw_number(input)};
  info.dtype.code = fuzz_byte(input);
  info.dtype.bits = fuzz_byte(input);
  info.dtype.lanes = fuzz_byte(input);
  info.rank = (int32_t)draw_number(input);
  info.axis = (int32_t)draw_number(input);
  for (int32_t d = 0; d < info.rank && d < PIT_MAX_RANK; ++d) {
    if (info.kind == PIT_KIND_INDEX) {
      info.micro_tile[d] = draw_number(input);
      info.step[d] = draw_number(input);
    } else {
      info.dims[d] = draw_number(input);
    }
  }
  return info;
}

/// A program, in memory of exactly its size.
static pit_shape_program draw_program(fuzz_input *input) {
  int64_t count = draw_number(input);
  int64_t real = count < 1 || count > PIT_SHAPE_MAX_OPS ? 0 : count;
  fuzz_input none = {0};
  pit_shape_op *ops = fuzz_memory(&none, (size_t)real * sizeof(*ops));
  for (int64_t i = 0; i < real; ++i) {
    ops[i].op = (int32_t)draw_number(input);
    ops[i].arg = (int32_t)draw_number(input);
    ops[i].value = draw_number(input);
  }
  return (pit_shape_program){ops, count};
}

static void draw_library(fuzz_input *input, library *l) {
  l->manifest = (pit_manifest){.version = PIT_MANIFEST_WORD0,
                               .values = l->values,
                               .requirements = l->requirements,
                               .sizes = l->sizes};
  l->manifest.num_args = draw_count(input, MAX_ARGS);
  l->manifest.num_results = draw_count(input, MAX_ARGS);
  l->manifest.num_requirements = draw_count(input, MAX_REQUIREMENTS);
  l->manifest.device = (int32_t)draw_number(input);
  l->manifest.workspace = draw_number(input);
  int32_t values = 0;
  for (int32_t i = 0; i < l->manifest.num_args && i < MAX_ARGS; ++i)
    l->values[values++] = draw_info(input);
  for (int32_t i = 0; i < l->manifest.num_results && i < MAX_ARGS; ++i)
    l->values[values++] = draw_info(input);
  for (int32_t i = 0; i < MAX_REQUIREMENTS; ++i) {
    bool used = i < l->manifest.num_requirements;
    l->requirements[i] = (pit_requirement){0};
    if (!used)
      continue;
    l->requirements[i].relation = draw_number(input);
    for (int side = 0; side < 2; ++side)
      l->requirements[i].sides[side] = draw_program(input);
  }
  for (int32_t i = 0; i < MAX_SIZES; ++i)
    l->sizes[i] =
        input->left > 0 ? draw_program(input) : (pit_shape_program){NULL, 0};
}

static void free_library(library *l) {
  for (int32_t i = 0; i < MAX_REQUIREMENTS; ++i)
    for (int side = 0; side < 2; ++side)
      free((void *)(uintptr_t)l->requirements[i].sides[side].ops);
  for (int32_t i = 0; i < MAX_SIZES; ++i)
    free((void *)(uintptr_t)l->sizes[i].ops);
  free(l->names);
}

/// The entry points as a compiled program has them.
static int32_t entry_point(pit_context *context, const pit_value *ins,
                           DLTensor *const *outs, pit_stream stream) {
  int64_t views[2 * MAX_ARGS * (1 + PIT_MAX_RANK) + 1];
  pit_frame *frame;
  int32_t status =
      pit_rt_enter(context, &loaded.manifest, ins, outs, stream, views, &frame);
  return status ? status : pit_rt_leave(frame, PIT_OK);
}

static void *lookup(void *user, const char *symbol) {
  library *l = user;
  if (strcmp(symbol, "pit_program_entries") == 0)
    return l->names;
  if (strcmp(symbol, "pit_program_features") == 0)
    return NULL;
  size_t length = strlen(symbol);
  if (length >= 9 && strcmp(symbol + length - 9, "_manifest") == 0)
    return &l->manifest;
  int32_t (*function)(pit_context *, const pit_value *, DLTensor *const *,
                      pit_stream) = entry_point;
  void *address;
  memcpy(&address, &function, sizeof(address));
  return address;
}

/// An argument or result of the sizes that the input says, of the kind that the
/// manifest does.
typedef struct value {
  DLTensor dl;
  pit_index index;
  int64_t shape[PIT_MAX_RANK];
  _Alignas(8) char data[8];
} value;

static pit_value make_value(value *v, const pit_arg_info *info, uint8_t size) {
  memset(v, 0, sizeof(*v));
  v->data[0] = (char)size;
  for (int32_t d = 0; d < info->rank; ++d)
    v->shape[d] = info->kind == PIT_KIND_TENSOR && info->dims[d] >= 0
                      ? info->dims[d]
                      : size;
  if (info->kind == PIT_KIND_INDEX) {
    // No id is live.
    static const int32_t counts[MAX_GROUPS];
    static const int64_t offsets[MAX_GROUPS];
    pit_index_spec spec = {.rank = info->rank, .axis = info->axis};
    memcpy(spec.shape, v->shape, sizeof(v->shape));
    memcpy(spec.micro_tile, info->micro_tile, sizeof(v->shape));
    memcpy(spec.step, info->step, sizeof(v->shape));
    pit_index_arrays arrays = {.counts = counts, .offsets = offsets};
    pit_context *context = fuzz_context();
    if (pit_index_groups(context, &spec, NULL, &arrays.groups) != PIT_OK ||
        arrays.groups > MAX_GROUPS)
      return pit_index_value(NULL);
    fuzz_expect_ok(context,
                   pit_index_import(context, &spec, &arrays, &v->index));
    return pit_index_value(&v->index);
  }
  // Nothing but scalars is read: any address will do, but not twice.
  v->dl = (DLTensor){.data = v->data,
                     .device = {kDLCPU, 0},
                     .ndim = info->rank,
                     .dtype = info->dtype,
                     .shape = v->shape};
  return pit_tensor_value(&v->dl);
}

static void call(pit_context *context, const pit_entry *entry,
                 const uint8_t *sizes) {
  int32_t num_ins = pit_entry_num_args(entry);
  int32_t num_outs = pit_entry_num_results(entry);
  if (num_ins > MAX_ARGS || num_outs > MAX_ARGS)
    return;
  value values[2 * MAX_ARGS];
  pit_value ins[MAX_ARGS + 1] = {{0}};
  DLTensor *outs[MAX_ARGS + 1] = {NULL};
  pit_arg_info info;
  for (int32_t i = 0; i < num_ins; ++i) {
    FUZZ_CHECK(pit_entry_arg(entry, i, &info));
    FUZZ_CHECK(info.rank >= 0 && info.rank <= PIT_MAX_RANK);
    ins[i] = make_value(&values[i], &info, sizes[i % 4]);
  }
  for (int32_t i = 0; i < num_outs; ++i) {
    FUZZ_CHECK(pit_entry_result(entry, i, &info));
    int64_t shape[PIT_MAX_RANK];
    pit_status status =
        pit_entry_result_shape(context, entry, ins, num_ins, i, shape);
    fuzz_check_status(context, status);
    if (status != PIT_OK)
      return;
    for (int32_t d = 0; d < info.rank; ++d) {
      FUZZ_CHECK(shape[d] >= -1);
      info.dims[d] = shape[d];
    }
    (void)make_value(&values[num_ins + i], &info, sizes[i % 4]);
    outs[i] = &values[num_ins + i].dl;
  }
  fuzz_check_status(context, pit_entry_run(context, entry, ins, num_ins, outs,
                                           num_outs, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input input = {data, size};
  size_t length = fuzz_byte(&input) % 32;
  loaded.names = fuzz_memory(&input, length + 2);
  loaded.names[length] = loaded.names[length + 1] = '\0';
  // Of symbols that end in _manifest the library could not tell what they are.
  for (size_t i = 0; i < length; ++i)
    if (loaded.names[i] == '_')
      loaded.names[i] = '-';
  uint8_t sizes[4];
  for (int i = 0; i < 4; ++i)
    sizes[i] = fuzz_byte(&input);
  draw_library(&input, &loaded);

  pit_context *context = fuzz_context();
  pit_program *program = NULL;
  pit_status status =
      pit_program_from_lookup(context, lookup, &loaded, NULL, &program);
  fuzz_check_status(context, status);
  if (status == PIT_OK) {
    int32_t entries = pit_program_num_entries(program);
    for (int32_t i = 0; i < entries; ++i)
      call(context, pit_program_entry_at(program, i), sizes);
    pit_program_close(program);
  }
  free_library(&loaded);
  return 0;
}
