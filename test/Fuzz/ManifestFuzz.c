//===- ManifestFuzz.c - Broken manifests of shared libraries --------------===//
//
// An input is the list of entry points (its length in one byte), tensors to
// call them with (a byte each for how many, and for their sizes), and the words
// of the manifest that all entry points have. A manifest does not say how long
// it is; what follows it is zeros, where every reader stops.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "SampleManifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_GROUPS = 1 << 12 };
enum { MAX_ARGS = 8, MAX_WORDS = 512, ZEROS = 2 * PIT_SHAPE_MAX_WORDS + 64 };

//===----------------------------------------------------------------------===//
// Seeds
//===----------------------------------------------------------------------===//

static void seed(const int64_t *words, size_t count) {
  uint8_t bytes[16 + 8 * MAX_WORDS] = {4, 'f', 0, 'g', 0, 3, 2, 4, 4};
  memcpy(bytes + 9, words, 8 * count);
  fuzz_seed(bytes, 9 + 8 * count);
}

void fuzz_write_seeds(void) {
  // clang-format off
  static const int64_t required[] = {
      PIT_MANIFEST_WORD0, 2, 1, 128, kDLCPU,
      PIT_ARG_TENSOR, F32, 2, -1, -1,
      PIT_ARG_SCALAR, I64,
      2,
      PIT_REQUIRE_AT_LEAST, 3, PIT_SHAPE_DIM, 0, 1, 2, PIT_SHAPE_CONST, 2,
      PIT_REQUIRE_EQUAL, 8, PIT_SHAPE_DIM, 0, 1, PIT_SHAPE_SCALAR, 1,
                            PIT_SHAPE_CONST, 5, PIT_SHAPE_MOD,
                         1, PIT_SHAPE_UNKNOWN,
      F32, 2, 3, PIT_SHAPE_DIM, 0, 0, 8, PIT_SHAPE_DIM, 0, 1,
              PIT_SHAPE_CONST, 2, PIT_SHAPE_FLOORDIV, PIT_SHAPE_SCALAR, 1,
  };
  // clang-format on
  seed(sample_manifest, sizeof(sample_manifest) / sizeof(*sample_manifest));
  seed(required, sizeof(required) / sizeof(*required));
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

typedef struct library {
  char *names;
  int64_t *words;
} library;

/// What the entry points of the program do; libFuzzer runs one at a time.
static library loaded;

static int32_t entry_point(pit_context *context, const DLTensor *const *ins,
                           DLTensor *const *outs, pit_stream stream) {
  // As a compiled program: room for the address and the sizes of each.
  int64_t views[2 * MAX_ARGS * (1 + PIT_MAX_RANK) + 1];
  pit_frame *frame;
  int32_t status =
      pit_rt_enter(context, loaded.words, ins, outs, stream, views, &frame);
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
    return l->words;
  int32_t (*function)(pit_context *, const DLTensor *const *, DLTensor *const *,
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

static DLTensor *make_value(value *v, const pit_arg_info *info, uint8_t size) {
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
      return NULL;
    fuzz_expect_ok(context,
                   pit_index_import(context, &spec, &arrays, &v->index));
    return (DLTensor *)(void *)&v->index;
  }
  // Nothing but scalars is read: any address will do, but not twice.
  v->dl = (DLTensor){.data = v->data,
                     .device = {kDLCPU, 0},
                     .ndim = info->rank,
                     .dtype = info->dtype,
                     .shape = v->shape};
  return &v->dl;
}

static void call(pit_context *context, const pit_entry *entry,
                 const uint8_t *sizes) {
  int32_t num_ins = pit_entry_num_args(entry);
  int32_t num_outs = pit_entry_num_results(entry);
  if (num_ins > MAX_ARGS || num_outs > MAX_ARGS)
    return;
  value values[2 * MAX_ARGS];
  const DLTensor *ins[MAX_ARGS + 1] = {NULL};
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
    outs[i] = make_value(&values[num_ins + i], &info, sizes[i % 4]);
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
  size_t count = input.left / 8 < MAX_WORDS ? input.left / 8 : MAX_WORDS;
  loaded.words = fuzz_memory(&input, 8 * (count + ZEROS));
  for (size_t i = count; i < count + ZEROS; ++i)
    loaded.words[i] = 0;

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
  free(loaded.names);
  free(loaded.words);
  return 0;
}
