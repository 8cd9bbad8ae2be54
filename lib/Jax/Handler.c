//===- Handler.c - Programs as custom calls of XLA ------------------------===//
//
// JAX calls an op of pit by a custom call, with the op as a string in the
// attribute `op` (Op.encode of python/pit/ops). The key of other programs is a
// name and a digest, and the attribute `text` has their text. XLA passes a
// handler nothing that a process could have put there, because compiled
// functions may be stored and loaded elsewhere. So this library itself
// remembers which program runs which op on which shapes, and asks Python (the
// resolver) for what it does not know.
//
//===----------------------------------------------------------------------===//

#include "Ffi.h"
#include "pit-runtime/Runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARRAYS = 32, MESSAGE_SIZE = 2048, KEY_SIZE = 4096, BUCKETS = 1024 };

/// An entry point, and the context that it is called on.
typedef struct pit_jax_program {
  pit_context *context;
  const pit_entry *entry;
} pit_jax_program;

/// Finds the program of an op on arguments, whose data it does not read. `text`
/// is the program's if it is none of an op, else NULL. Returns 0, or something
/// else and a message. The program stays for as long as the process does.
typedef int32_t (*pit_jax_resolver)(const char *op, const char *text,
                                    const DLTensor *args, int32_t num_args,
                                    pit_jax_program *program, char *message,
                                    size_t message_size);

/// The program of one op on arguments of certain types, shapes and device.
typedef struct known {
  struct known *next; ///< in its bucket
  pit_jax_program program;
  size_t size;
  unsigned char key[];
} known;

static struct {
  pthread_rwlock_t lock;
  pit_jax_resolver resolver;
  known *buckets[BUCKETS];
} programs = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/// The process has one resolver; the last one counts.
PIT_RT_EXPORT void pit_jax_set_resolver(pit_jax_resolver resolver) {
  pthread_rwlock_wrlock(&programs.lock);
  programs.resolver = resolver;
  pthread_rwlock_unlock(&programs.lock);
}

static pit_ffi_error *fail(const pit_ffi_frame *frame, int32_t code,
                           const char *message) {
  pit_ffi_error_args args = {sizeof(args), NULL, message, code};
  return frame->api->make_error(&args);
}

//===----------------------------------------------------------------------===//
// The parts of a frame
//===----------------------------------------------------------------------===//

static bool read_type(int32_t type, DLDataType *found) {
  static const struct {
    int32_t type;
    DLDataType dtype;
  } types[] = {{PIT_FFI_PRED, {PIT_DTYPE_BOOL, 8, 1}},
               {PIT_FFI_S8, {kDLInt, 8, 1}},
               {PIT_FFI_S16, {kDLInt, 16, 1}},
               {PIT_FFI_S32, {kDLInt, 32, 1}},
               {PIT_FFI_S64, {kDLInt, 64, 1}},
               {PIT_FFI_F16, {kDLFloat, 16, 1}},
               {PIT_FFI_BF16, {kDLBfloat, 16, 1}},
               {PIT_FFI_F32, {kDLFloat, 32, 1}},
               {PIT_FFI_F64, {kDLFloat, 64, 1}},
               {PIT_FFI_F8E4M3FN, {PIT_DTYPE_FLOAT8_E4M3FN, 8, 1}},
               {PIT_FFI_F8E5M2, {PIT_DTYPE_FLOAT8_E5M2, 8, 1}}};
  for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i)
    if (types[i].type == type) {
      *found = types[i].dtype;
      return true;
    }
  return false;
}

/// Reads arguments or results, MAX_ARRAYS at most; false if no program takes
/// such.
static bool read_buffers(const pit_ffi_buffers *buffers, DLDevice device,
                         DLTensor *arrays) {
  if (buffers->count > MAX_ARRAYS)
    return false;
  for (int64_t i = 0; i < buffers->count; ++i) {
    const pit_ffi_buffer *buffer = buffers->values[i];
    DLTensor *array = &arrays[i];
    if (buffers->kinds[i] != PIT_FFI_BUFFER || buffer->rank > PIT_MAX_RANK ||
        !read_type(buffer->type, &array->dtype))
      return false;
    array->data = buffer->data;
    array->device = device;
    array->ndim = (int32_t)buffer->rank;
    array->shape = buffer->dims;
    array->strides = NULL; // XLA passes row-major arrays to handlers
    array->byte_offset = 0;
  }
  return true;
}

/// The string in an attribute; NULL if there is none.
static const pit_ffi_bytes *find_string(const pit_ffi_attributes *all,
                                        const char *name) {
  const size_t size = strlen(name);
  for (int64_t i = 0; i < all->count; ++i)
    if (all->kinds[i] == PIT_FFI_STRING && all->names[i]->size == size &&
        memcmp(all->names[i]->data, name, size) == 0)
      return all->values[i];
  return NULL;
}

/// The stream and device of a call on a GPU.
static pit_ffi_error *read_device(const pit_ffi_frame *frame, int32_t *ordinal,
                                  void **stream) {
  if (frame->api->struct_size < sizeof(pit_ffi_api))
    return fail(frame, PIT_FFI_UNIMPLEMENTED,
                "pit: this version of JAX does not tell a custom call its GPU; "
                "a newer one is needed");
  pit_ffi_device_args device = {sizeof(device), NULL, frame->context, 0};
  pit_ffi_stream_args on = {sizeof(on), NULL, frame->context, NULL};
  pit_ffi_error *error = frame->api->get_device(&device);
  if (!error)
    error = frame->api->get_stream(&on);
  *ordinal = device.ordinal;
  *stream = on.stream;
  return error;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The words of a key: the op, then as many words for each argument.
enum { WORDS = 2 + PIT_MAX_RANK };

static void write_key(const pit_ffi_bytes *op, const DLTensor *args,
                      int64_t num_args, unsigned char *key) {
  memcpy(key, op->data, op->size);
  key += op->size;
  for (int64_t i = 0; i < num_args; ++i, key += WORDS * sizeof(int64_t)) {
    const DLTensor *arg = &args[i];
    int64_t words[WORDS] = {
        arg->dtype.code << 16 | arg->dtype.bits << 8 | arg->ndim,
        (int64_t)arg->device.device_type << 32 | arg->device.device_id};
    memcpy(words + 2, arg->shape, (size_t)arg->ndim * sizeof(int64_t));
    memcpy(key, words, sizeof(words));
  }
}

/// FNV-1a, by words.
static size_t bucket_of(const unsigned char *key, size_t size) {
  uint64_t hash = 14695981039346656037ull;
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = 0;
    memcpy(&word, key + i, size - i < 8 ? size - i : 8);
    hash = (hash ^ word) * 1099511628211ull;
    hash ^= hash >> 29;
  }
  return hash % BUCKETS;
}

static bool find(const unsigned char *key, size_t size,
                 pit_jax_program *program) {
  const size_t bucket = bucket_of(key, size);
  pthread_rwlock_rdlock(&programs.lock);
  const known *each = programs.buckets[bucket];
  while (each && (each->size != size || memcmp(each->key, key, size) != 0))
    each = each->next;
  if (each)
    *program = each->program;
  pthread_rwlock_unlock(&programs.lock);
  return each;
}

/// Remembers a program. If several threads do, the one of any of them is found.
static void keep(const unsigned char *key, size_t size,
                 pit_jax_program program) {
  known *made = malloc(sizeof(*made) + size);
  if (!made)
    return; // it is asked for again
  made->program = program;
  made->size = size;
  memcpy(made->key, key, size);
  pthread_rwlock_wrlock(&programs.lock);
  known **bucket = &programs.buckets[bucket_of(key, size)];
  made->next = *bucket;
  *bucket = made;
  pthread_rwlock_unlock(&programs.lock);
}

static pit_ffi_error *find_program(const pit_ffi_frame *frame,
                                   const pit_ffi_bytes *op, DLTensor *args,
                                   pit_jax_program *program) {
  // The NUL that the resolver wants of the op is not part of the key.
  unsigned char key[KEY_SIZE];
  const int64_t num_args = frame->args.count;
  const size_t size = op->size + (size_t)num_args * WORDS * sizeof(int64_t);
  if (size > KEY_SIZE)
    return fail(frame, PIT_FFI_INVALID_ARGUMENT, "pit: the op is too long");
  write_key(op, args, num_args, key);
  if (find(key, size, program))
    return NULL;
  pthread_rwlock_rdlock(&programs.lock);
  pit_jax_resolver resolver = programs.resolver;
  pthread_rwlock_unlock(&programs.lock);
  if (!resolver)
    return fail(frame, PIT_FFI_UNIMPLEMENTED,
                "pit: a compiled function has an op of pit; import pit.jax "
                "before it is run");
  char name[KEY_SIZE + 1], message[MESSAGE_SIZE] = "pit: no message";
  memcpy(name, op->data, op->size);
  name[op->size] = 0;
  const pit_ffi_bytes *given = find_string(&frame->attributes, "text");
  char *text = given ? strndup(given->data, given->size) : NULL;
  if (given && !text)
    return fail(frame, PIT_FFI_RESOURCE_EXHAUSTED, "pit: out of memory");
  const int32_t failed = resolver(name, text, args, (int32_t)num_args, program,
                                  message, sizeof(message));
  free(text);
  if (failed)
    return fail(frame, PIT_FFI_INVALID_ARGUMENT, message);
  keep(key, size, *program);
  return NULL;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Answers what XLA asks when a handler is registered: which version of the
/// interface it is written for.
static bool tell_metadata(const pit_ffi_frame *frame) {
  if (!frame->extension || frame->extension->type != PIT_FFI_METADATA)
    return false;
  pit_ffi_metadata *metadata =
      ((pit_ffi_metadata_extension *)frame->extension)->metadata;
  metadata->version.major = PIT_FFI_MAJOR;
  metadata->version.minor = PIT_FFI_MINOR;
  metadata->traits = 0;
  return true;
}

static pit_ffi_error *run(const pit_ffi_frame *frame, DLDeviceType type) {
  if (tell_metadata(frame))
    return NULL;
  const pit_ffi_bytes *op = find_string(&frame->attributes, "op");
  if (!op)
    return fail(frame, PIT_FFI_INVALID_ARGUMENT,
                "pit: the custom call has no attribute op");
  DLDevice device = {type, 0};
  void *stream = NULL;
  pit_ffi_error *error =
      type == kDLCPU ? NULL : read_device(frame, &device.device_id, &stream);
  if (error)
    return error;
  DLTensor args[MAX_ARRAYS], results[MAX_ARRAYS];
  DLTensor *outs[MAX_ARRAYS];
  if (!read_buffers(&frame->args, device, args) ||
      !read_buffers(&frame->results, device, results))
    return fail(frame, PIT_FFI_INVALID_ARGUMENT,
                "pit: a buffer that is no array of a type and rank of pit");
  pit_jax_program program;
  error = find_program(frame, op, args, &program);
  if (error)
    return error;
  pit_value ins[MAX_ARRAYS];
  for (int64_t i = 0; i < frame->args.count; ++i)
    ins[i] = pit_tensor_value(&args[i]);
  for (int64_t i = 0; i < frame->results.count; ++i)
    outs[i] = &results[i];
  pit_status status = pit_entry_run(program.context, program.entry, ins,
                                    (int32_t)frame->args.count, outs,
                                    (int32_t)frame->results.count, stream);
  if (status == PIT_OK)
    return NULL;
  char said[MESSAGE_SIZE], message[MESSAGE_SIZE + 64];
  pit_context_message(program.context, said, sizeof(said));
  snprintf(message, sizeof(message), "pit: %s: %s", pit_status_string(status),
           said);
  return fail(frame, PIT_FFI_INVALID_ARGUMENT, message);
}

/// Handlers of XLA's FFI, for the platforms "cpu" and "CUDA".
PIT_RT_EXPORT pit_ffi_error *pit_jax_run_cpu(const pit_ffi_frame *frame) {
  return run(frame, kDLCPU);
}

PIT_RT_EXPORT pit_ffi_error *pit_jax_run_cuda(const pit_ffi_frame *frame) {
  return run(frame, kDLCUDA);
}
