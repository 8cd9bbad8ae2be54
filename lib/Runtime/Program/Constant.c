//===- Constant.c - What calls keep of constant memory --------------------===//

#include "Constant.h"

#include <stdlib.h>
#include <string.h>

struct pit_constant {
  pit_context *context;
  pit_kept *kept;
};

enum { MAX_LAYOUT_WORDS = 64 };

//===----------------------------------------------------------------------===//
// Pieces; callers hold the context's lock where nothing else is said
//===----------------------------------------------------------------------===//

/// Frees a list of pieces. Without the lock: memory may be large.
static void free_pieces(pit_kept *kept) {
  while (kept) {
    pit_kept *next = kept->next;
    pit_buffer_free(&kept->memory);
    pit_index_builder_destroy(kept->builder);
    free(kept);
    kept = next;
  }
}

/// Takes a piece from the list of its owner. If no call uses it, it is added to
/// `unused`.
static void drop(pit_context *context, pit_kept *kept, pit_kept **unused) {
  pit_kept **link = &kept->owner->kept;
  while (*link != kept)
    link = &(*link)->next;
  *link = kept->next;
  kept->owner = NULL;
  --context->kept.pieces;
  context->kept.bytes -= kept->bytes;
  if (kept->users > 0)
    return;
  kept->next = *unused;
  *unused = kept;
}

static bool overlap(const pit_range *range, uintptr_t begin, uintptr_t end) {
  return begin < range->end && range->begin < end;
}

static bool is_wanted(const pit_kept *kept, const pit_kept_key *key) {
  return kept->data == key->data && (kept->builder != NULL) == key->index &&
         kept->num_words == key->num_words &&
         memcmp(kept->words, key->words,
                (size_t)key->num_words * sizeof(*key->words)) == 0;
}

/// Finds what a key describes, and a constant that may own it.
static pit_kept *look_up(pit_context *context, const pit_kept_key *key,
                         pit_constant **owner) {
  uintptr_t begin = (uintptr_t)key->data, end = begin + (uintptr_t)key->bytes;
  *owner = NULL;
  int32_t count = atomic_load(&context->num_constants);
  for (int32_t i = 0; i < count; ++i) {
    const pit_range *range = &context->constants[i];
    if (begin < range->begin || end > range->end)
      continue;
    *owner = range->constant;
    for (pit_kept *kept = range->constant->kept; kept; kept = kept->next)
      if (is_wanted(kept, key))
        return kept;
  }
  return NULL;
}

/// Has the call hold a piece, for which its frame has room. In a loop it finds
/// the same piece many times.
static void hold(pit_frame *frame, pit_kept *kept) {
  for (int32_t i = 0; i < frame->num_kept; ++i)
    if (frame->kept[i] == kept)
      return;
  ++kept->users;
  frame->kept[frame->num_kept++] = kept;
}

static bool fits(const pit_context *context, int64_t bytes) {
  return context->kept_limit == 0 ||
         bytes <= context->kept_limit - context->kept.bytes;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Makes room to hold one more piece.
static bool reserve(pit_frame *frame) {
  if (frame->num_kept < frame->kept_room)
    return true;
  int32_t room = frame->kept_room ? frame->kept_room : 4;
  if (frame->kept_room)
    room = room <= INT32_MAX / 2 ? 2 * room : frame->kept_room;
  pit_kept **moved = NULL;
  if (room > frame->num_kept)
    moved = realloc(frame->kept, (size_t)room * sizeof(*moved));
  if (!moved)
    return false;
  frame->kept = moved;
  frame->kept_room = room;
  return true;
}

/// A piece with memory of its own; NULL: there is none.
static pit_kept *make(pit_context *context, const pit_kept_key *key,
                      int64_t room) {
  size_t words = (size_t)key->num_words * sizeof(*key->words);
  pit_kept *made = calloc(1, sizeof(*made) + words);
  if (!made)
    return NULL;
  made->data = key->data;
  made->num_words = key->num_words;
  memcpy(made->words, key->words, words);
  pit_status status = PIT_OK;
  // No message: a call can do without.
  if (key->index) {
    made->builder = malloc(sizeof(*made->builder));
    if (made->builder)
      pit_builder_init(made->builder, context);
    else
      status = PIT_ERROR_OUT_OF_MEMORY;
  } else {
    made->bytes = room;
    status = pit_buffer_reserve(NULL, &made->memory, pit_max(room, 1), 1, "");
  }
  if (status == PIT_OK)
    return made;
  free(made);
  return NULL;
}

/// Takes what is there, or else adds `made`, if there is any. Tells whether it
/// is missed: it would be kept, but is not there.
static int32_t take(pit_frame *frame, const pit_kept_key *key, pit_kept *made,
                    pit_kept **result, bool *missed) {
  pit_context *context = frame->context;
  pit_constant *owner;
  pit_kept *kept = look_up(context, key, &owner);
  *missed = owner && !kept;
  if (kept && kept->ready) {
    hold(frame, *result = kept);
    ++context->kept.reused;
    return PIT_KEEP_READY;
  }
  if (!*missed || !made || !fits(context, made->bytes))
    return PIT_KEEP_NONE;
  *missed = false;
  made->owner = owner;
  made->next = owner->kept;
  owner->kept = made;
  hold(frame, *result = made);
  ++context->kept.pieces;
  context->kept.bytes += made->bytes;
  return PIT_KEEP_FILL;
}

int32_t pit_kept_find(pit_frame *frame, const pit_kept_key *key, int64_t room,
                      pit_kept **kept) {
  pit_context *context = frame->context;
  *kept = NULL;
  if (frame->cuda || key->bytes <= 0 ||
      atomic_load(&context->num_constants) == 0 || !reserve(frame))
    return PIT_KEEP_NONE;
  bool missed, tries;
  pthread_mutex_lock(&context->lock);
  int32_t state = take(frame, key, NULL, kept, &missed);
  tries = missed && fits(context, room);
  context->kept.refused += missed && !tries;
  pthread_mutex_unlock(&context->lock);
  if (!tries)
    return state;
  // The memory may be large: it is made without the lock, so look again.
  pit_kept *made = make(context, key, room);
  pthread_mutex_lock(&context->lock);
  state = take(frame, key, made, kept, &missed);
  context->kept.refused += missed;
  pthread_mutex_unlock(&context->lock);
  if (*kept != made)
    free_pieces(made);
  return state;
}

void pit_kept_publish(pit_context *context, pit_kept *kept) {
  // How large an index is, is known when it has been built.
  int64_t more = kept->builder ? pit_builder_shrink(kept->builder) : 0;
  pit_kept *unused = NULL; // there is none: the call still uses it
  pthread_mutex_lock(&context->lock);
  ++context->kept.made;
  kept->ready = true;
  if (kept->owner && fits(context, more)) {
    kept->bytes += more;
    context->kept.bytes += more;
  } else if (kept->owner) {
    ++context->kept.refused;
    drop(context, kept, &unused);
  }
  pthread_mutex_unlock(&context->lock);
}

void pit_kept_release(pit_frame *frame) {
  pit_context *context = frame->context;
  if (frame->num_kept == 0)
    return;
  pit_kept *unused = NULL;
  pthread_mutex_lock(&context->lock);
  for (int32_t i = 0; i < frame->num_kept; ++i) {
    pit_kept *kept = frame->kept[i];
    --kept->users;
    if (kept->owner && !kept->ready) {
      drop(context, kept, &unused);
    } else if (!kept->owner && kept->users == 0) {
      kept->next = unused;
      unused = kept;
    }
  }
  frame->num_kept = 0;
  pthread_mutex_unlock(&context->lock);
  free_pieces(unused);
}

int32_t pit_rt_keep(pit_frame *frame, const void *data, int64_t data_bytes,
                    const int64_t *layout, int64_t bytes, int32_t needed,
                    void **memory, int32_t *state) {
  if (!frame || !layout || !memory || !state)
    return PIT_ERROR_INVALID_ARGUMENT;
  if (bytes < 0 || layout[0] < 0 || layout[0] > MAX_LAYOUT_WORDS)
    return pit_fail(frame->context, PIT_ERROR_INVALID_ARGUMENT,
                    "keep: %lld bytes in a layout of %lld words; they must be "
                    "at least 0 and 0 to %d",
                    (long long)bytes, (long long)layout[0], MAX_LAYOUT_WORDS);
  pit_kept_key key = {.data = data,
                      .bytes = data_bytes,
                      .num_words = layout[0],
                      .words = layout + 1};
  pit_kept *kept;
  *state = pit_kept_find(frame, &key, bytes, &kept);
  *memory = kept ? kept->memory.data : NULL;
  return kept || !needed ? PIT_OK : pit_rt_alloc(frame, bytes, memory);
}

void pit_rt_kept(pit_frame *frame, const void *memory) {
  for (int32_t i = 0; i < frame->num_kept; ++i)
    if (frame->kept[i]->memory.data == memory && !frame->kept[i]->ready) {
      pit_kept_publish(frame->context, frame->kept[i]);
      return;
    }
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

void pit_constants_after_fork(pit_context *context) {
  // Its user is gone, so that nobody would ever free it: it stays allocated.
  pit_kept *unused = NULL;
  int32_t count = atomic_load(&context->num_constants);
  for (int32_t i = 0; i < count; ++i) {
    pit_kept *next = context->constants[i].constant->kept;
    while (next) {
      pit_kept *kept = next;
      next = kept->next;
      if (!kept->ready)
        drop(context, kept, &unused);
    }
  }
}

/// Adds a range to the context's; false: out of memory. Under the lock.
static bool add_range(pit_context *context, pit_range range) {
  int32_t count = atomic_load(&context->num_constants);
  if (count == context->constants_room) {
    int32_t room = count < 16 ? 16 : count <= INT32_MAX / 2 ? 2 * count : count;
    pit_range *moved = NULL;
    if (room > count)
      moved = realloc(context->constants, (size_t)room * sizeof(*moved));
    if (!moved)
      return false;
    context->constants = moved;
    context->constants_room = room;
  }
  context->constants[count] = range;
  atomic_store(&context->num_constants, count + 1);
  return true;
}

pit_status pit_constant_create(pit_context *context, const DLTensor *tensor,
                               pit_constant **constant) {
  if (!context || !constant)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "constant: an argument is NULL");
  *constant = NULL;
  pit_data data;
  bool on_device;
  pit_status status =
      pit_data_from_tensor(context, "constant", tensor, &data, &on_device);
  if (status != PIT_OK)
    return status;
  if (!pit_is_contiguous(data.rank, data.shape, data.strides)) {
    char is[PIT_DIMS_NAME_SIZE];
    return pit_fail(context, PIT_ERROR_LAYOUT,
                    "constant: strides %s; it must be contiguous and "
                    "row-major, as the arguments of programs are",
                    pit_dims_name(data.strides, data.rank, is));
  }
  int64_t bytes = 0;
  (void)pit_tensor_bytes(data.rank, data.shape, data.dtype.bits / 8, &bytes);
  pit_constant *made = calloc(1, sizeof(*made));
  bool added = false;
  if (made) {
    made->context = context;
    uintptr_t begin = (uintptr_t)data.data;
    pthread_mutex_lock(&context->lock);
    added =
        add_range(context, (pit_range){begin, begin + (uintptr_t)bytes, made});
    pthread_mutex_unlock(&context->lock);
  }
  if (!added) {
    free(made);
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for a constant");
  }
  *constant = made;
  return PIT_OK;
}

void pit_constant_destroy(pit_constant *constant) {
  if (!constant)
    return;
  pit_context *context = constant->context;
  pit_kept *unused = NULL;
  pthread_mutex_lock(&context->lock);
  while (constant->kept)
    drop(context, constant->kept, &unused);
  int32_t count = atomic_load(&context->num_constants);
  for (int32_t i = 0; i < count; ++i)
    if (context->constants[i].constant == constant) {
      context->constants[i] = context->constants[count - 1];
      break;
    }
  atomic_store(&context->num_constants, count - 1);
  pthread_mutex_unlock(&context->lock);
  free_pieces(unused);
  free(constant);
}

void pit_constant_changed(pit_constant *constant) {
  if (!constant)
    return;
  pit_context *context = constant->context;
  pit_kept *unused = NULL;
  pthread_mutex_lock(&context->lock);
  int32_t count = atomic_load(&context->num_constants);
  uintptr_t begin = 0, end = 0;
  for (int32_t i = 0; i < count; ++i)
    if (context->constants[i].constant == constant) {
      begin = context->constants[i].begin;
      end = context->constants[i].end;
    }
  for (int32_t i = 0; i < count; ++i)
    if (overlap(&context->constants[i], begin, end))
      while (context->constants[i].constant->kept)
        drop(context, context->constants[i].constant->kept, &unused);
  pthread_mutex_unlock(&context->lock);
  free_pieces(unused);
}

bool pit_constant_overlaps(pit_context *context, const void *data,
                           int64_t bytes) {
  if (bytes <= 0 || atomic_load(&context->num_constants) == 0)
    return false;
  uintptr_t begin = (uintptr_t)data;
  bool found = false;
  pthread_mutex_lock(&context->lock);
  int32_t count = atomic_load(&context->num_constants);
  for (int32_t i = 0; i < count && !found; ++i)
    found = overlap(&context->constants[i], begin, begin + (uintptr_t)bytes);
  pthread_mutex_unlock(&context->lock);
  return found;
}

void pit_constants_free(pit_context *context) {
  int32_t count = atomic_load(&context->num_constants);
  for (int32_t i = 0; i < count; ++i) {
    free_pieces(context->constants[i].constant->kept);
    free(context->constants[i].constant);
  }
  free(context->constants);
}

void pit_context_kept(pit_context *context, pit_kept_stats *stats) {
  if (!stats)
    return;
  *stats = (pit_kept_stats){0};
  if (!context)
    return;
  pthread_mutex_lock(&context->lock);
  *stats = context->kept;
  stats->constants = atomic_load(&context->num_constants);
  pthread_mutex_unlock(&context->lock);
}
