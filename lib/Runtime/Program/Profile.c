//===- Profile.c - The live fraction that calls record --------------------===//
//
// An entry for each mark and each shape of its value. All of it is under the
// context's lock.
//
//===----------------------------------------------------------------------===//

#include "Frame.h"
#include "Index/Bitmap.h"
#include "pit-runtime/Program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_CANDIDATES = 1024,
  MAX_ENTRIES = 4096, ///< shapes may differ from call to call
  TEXTS = 3
};

/// The numbers of a candidate.
typedef struct live_count {
  int64_t micro_tiles, min, max;
  double sum;
} live_count;

typedef struct entry {
  struct entry *next;
  char *texts[TEXTS]; ///< label, signature, location; in one piece
  int32_t rank;
  int32_t candidates;
  int64_t shape[PIT_MAX_RANK];
  int64_t calls;
  pit_index_spec *specs; ///< [candidates]
  live_count *counts;    ///< [candidates]
} entry;

struct pit_profile {
  entry *first, **last;
  int32_t entries;
  int64_t dropped; ///< calls that had no room
};

static void free_entry(entry *e) {
  if (!e)
    return;
  free(e->texts[0]);
  free(e->specs);
  free(e->counts);
  free(e);
}

void pit_profile_free(struct pit_profile *profile) {
  while (profile && profile->first) {
    entry *e = profile->first;
    profile->first = e->next;
    free_entry(e);
  }
  free(profile);
}

static bool is_of(const entry *e, const char *const *texts,
                  const pit_bitmap *bitmap) {
  for (int t = 0; t < TEXTS; ++t)
    if (strcmp(e->texts[t], texts[t]) != 0)
      return false;
  return e->rank == bitmap->rank &&
         memcmp(e->shape, bitmap->shape, (size_t)e->rank * sizeof(*e->shape)) ==
             0;
}

/// An entry that has seen nothing; NULL if there is no memory.
static entry *make_entry(const char *mark, size_t bytes,
                         const pit_bitmap *bitmap) {
  entry *e = calloc(1, sizeof(*e));
  if (!e)
    return NULL;
  e->rank = bitmap->rank;
  memcpy(e->shape, bitmap->shape, sizeof(e->shape));
  e->candidates = (int32_t)pit_min(
      MAX_CANDIDATES, pit_live_fraction_candidates(e->rank, e->shape, NULL, 0));
  e->texts[0] = malloc(bytes);
  e->specs = calloc((size_t)e->candidates, sizeof(*e->specs));
  e->counts = calloc((size_t)e->candidates, sizeof(*e->counts));
  if (!e->texts[0] || !e->specs || !e->counts) {
    free_entry(e);
    return NULL;
  }
  memcpy(e->texts[0], mark, bytes);
  for (int t = 1; t < TEXTS; ++t)
    e->texts[t] = e->texts[t - 1] + strlen(e->texts[t - 1]) + 1;
  (void)pit_live_fraction_candidates(e->rank, e->shape, e->specs,
                                     e->candidates);
  return e;
}

/// The entry of a mark and shape, made if there is none. NULL: there is no
/// room, or, if `failed`, no memory. Under the lock.
static entry *find_or_add(pit_context *context, const char *mark,
                          const pit_bitmap *bitmap, bool *failed) {
  const char *texts[TEXTS] = {mark};
  for (int t = 1; t < TEXTS; ++t)
    texts[t] = texts[t - 1] + strlen(texts[t - 1]) + 1;
  size_t bytes =
      (size_t)(texts[TEXTS - 1] - mark) + strlen(texts[TEXTS - 1]) + 1;
  struct pit_profile *profile = context->profile;
  if (!profile) {
    profile = context->profile = calloc(1, sizeof(*profile));
    *failed = !profile;
    if (!profile)
      return NULL;
    profile->last = &profile->first;
  }
  for (entry *e = profile->first; e; e = e->next)
    if (is_of(e, texts, bitmap))
      return e;
  if (profile->entries == MAX_ENTRIES) {
    ++profile->dropped;
    return NULL;
  }
  entry *e = make_entry(mark, bytes, bitmap);
  *failed = !e;
  if (!e)
    return NULL;
  *profile->last = e;
  profile->last = &e->next;
  ++profile->entries;
  return e;
}

static void add(entry *e, const pit_live_fraction *live_fractions) {
  for (int32_t i = 0; i < e->candidates; ++i) {
    live_count *count = &e->counts[i];
    int64_t live = live_fractions[i].live;
    count->micro_tiles = live_fractions[i].micro_tiles;
    count->min = e->calls ? pit_min(count->min, live) : live;
    count->max = e->calls ? pit_max(count->max, live) : live;
    count->sum += (double)live;
  }
  ++e->calls;
}

int32_t pit_rt_record(pit_frame *frame, const pit_build *build,
                      const pit_view *data, const int64_t *shape,
                      const char *mark, pit_place *place) {
  if (!frame || !mark)
    return PIT_ERROR_INVALID_ARGUMENT;
  pit_context *context = frame->context;
  if (frame->cuda)
    return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                    "record: the program runs on a device; its zeros are "
                    "recorded by the same program on the CPU");
  pit_selection selection = pit_selection_of(build, data);
  pit_index_builder *builder = NULL;
  pit_status status = pit_frame_builder(frame, place, &builder);
  if (status == PIT_OK)
    status = pit_bitmap_fill(builder, build->rank, shape, &selection);
  if (status != PIT_OK)
    return status;
  bool failed = false;
  pthread_mutex_lock(&context->lock);
  entry *e = find_or_add(context, mark, &builder->bitmap, &failed);
  pthread_mutex_unlock(&context->lock);
  pit_live_fraction *live_fractions =
      e ? malloc((size_t)e->candidates * sizeof(*live_fractions)) : NULL;
  if (failed || (e && !live_fractions))
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for a profile");
  if (!e)
    return PIT_OK;
  // Entries do not move, and specs do not change.
  status = pit_count_live_fractions(builder, &builder->bitmap, e->specs,
                                    e->candidates, live_fractions);
  pthread_mutex_lock(&context->lock);
  if (status == PIT_OK)
    add(e, live_fractions);
  pthread_mutex_unlock(&context->lock);
  free(live_fractions);
  return status;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void write_text(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text; ++text) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(file, "\\%c", c);
    else if (c < ' ')
      fprintf(file, "\\u%04x", c);
    else
      fputc(c, file);
  }
  fputc('"', file);
}

static void write_sizes(FILE *file, const int64_t *sizes, int32_t rank) {
  for (int32_t d = 0; d < rank; ++d)
    fprintf(file, "%s%lld", d ? ", " : "[", (long long)sizes[d]);
  fputc(']', file);
}

static void write_entry(FILE *file, const entry *e) {
  static const char *const names[TEXTS] = {"label", "signature", "location"};
  fputs("  {", file);
  for (int t = 0; t < TEXTS; ++t) {
    fprintf(file, "%s\"%s\": ", t ? ", " : "", names[t]);
    write_text(file, e->texts[t]);
  }
  fputs(",\n   \"shape\": ", file);
  write_sizes(file, e->shape, e->rank);
  fprintf(file, ", \"calls\": %lld,\n   \"candidates\": [",
          (long long)e->calls);
  for (int32_t i = 0; i < e->candidates; ++i) {
    const live_count *count = &e->counts[i];
    fprintf(file, "%s    {\"axis\": %d, \"micro_tile\": ", i ? ",\n" : "\n",
            e->specs[i].axis);
    write_sizes(file, e->specs[i].micro_tile, e->rank);
    fprintf(file,
            ", \"micro_tiles\": %lld, \"live\": {\"min\": %lld, \"mean\": "
            "%.17g, \"max\": %lld}}",
            (long long)count->micro_tiles, (long long)count->min,
            count->sum / (double)e->calls, (long long)count->max);
  }
  fputs("]}", file);
}

pit_status pit_context_write_profile(pit_context *context, const char *path) {
  if (!context)
    return PIT_ERROR_INVALID_ARGUMENT;
  if (!path)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "profile: the path is NULL");
  int64_t calls = 0;
  pthread_mutex_lock(&context->lock);
  const struct pit_profile *profile = context->profile;
  for (const entry *e = profile ? profile->first : NULL; e; e = e->next)
    calls += e->calls;
  FILE *file = calls ? fopen(path, "w") : NULL;
  int error = errno;
  if (file) {
    fprintf(file, "{\"pit_profile\": 1, \"dropped\": %lld, \"marks\": [",
            (long long)profile->dropped);
    bool first = true;
    for (const entry *e = profile->first; e; e = e->next) {
      if (!e->calls)
        continue;
      fputs(first ? "\n" : ",\n", file);
      first = false;
      write_entry(file, e);
    }
    fputs("]}\n", file);
  }
  pthread_mutex_unlock(&context->lock);
  if (!calls)
    return pit_fail(context, PIT_ERROR_NOT_FOUND,
                    "profile: no call has recorded anything; compile the "
                    "program with record=true, for the CPU");
  bool ok = file && !ferror(file);
  if (file && fclose(file) != 0) {
    error = errno;
    ok = false;
  }
  if (ok)
    return PIT_OK;
  if (file)
    remove(path);
  return pit_fail(context, PIT_ERROR_NOT_FOUND,
                  "profile: cannot write '%s': %s", path, strerror(error));
}
