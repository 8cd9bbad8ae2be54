//===- Channels.c - Convolutions of live channels by oneDNN ---------------===//

#include "Channels.h"
#include "Gemm.h"
#include "Onednn.h"
#include "Pack.h"
#include "Tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct channels {
  const problem *problem;
  onednn **convolutions; ///< by padded number of channels / 32; some are NULL
  int64_t num_convolutions;
  char *image, *filter; ///< of the live channels
  uint8_t *live;
  int32_t *ids;
  tensor result;
} channels;

static void destroy(void *user) {
  channels *x = user;
  for (int64_t i = 0; x->convolutions && i < x->num_convolutions; ++i)
    if (x->convolutions[i])
      onednn_conv_free(x->convolutions[i]);
  free(x->convolutions);
  free(x->image);
  free(x->filter);
  free(x->live);
  free(x->ids);
  tensor_free(&x->result);
  free(x);
}

/// The convolution of so many channels.
static onednn *find(channels *x, int64_t count) {
  onednn **found = &x->convolutions[count / 32];
  if (!*found) {
    extents sizes = x->problem->sizes;
    sizes.channels = count;
    *found =
        onednn_conv_create(&sizes, x->problem->type, x->problem->result_type);
  }
  if (!*found)
    tool_error("oneDNN has no convolution of %lld channels", (long long)count);
  return *found;
}

static bool run(void *user, int32_t pattern) {
  channels *x = user;
  const problem *p = x->problem;
  const extents *e = &p->sizes;
  const char *image = problem_data(p, pattern, 0);
  const char *filter = problem_data(p, pattern, 1);
  int width = p->type.bits / 8;
  int64_t pixels = e->batch * e->height * e->width;
  int64_t live = pack_live_columns(image, p->type, e->channels, e->channels, 0,
                                   pixels, x->live, x->ids);
  if (live == 0) {
    memset(x->result.dl.data, 0, tensor_bytes(&x->result));
    return true;
  }
  int64_t count = gemm_padded(live);
  part listed = {.count = live, .ids = x->ids};
  part all_pixels = {.count = pixels}, all_filters = {.count = e->filters};
  pack_part(x->image, count, pixels, image, e->channels, all_pixels, listed,
            width);
  for (int64_t at = 0; at < e->kernel * e->kernel; ++at)
    pack_part(x->filter + at * count * e->filters * width, e->filters, count,
              filter + at * e->channels * e->filters * width, e->filters,
              listed, all_filters, width);
  onednn *convolution = find(x, count);
  return convolution && onednn_pack(convolution, x->filter) &&
         onednn_conv_run(convolution, x->image, x->result.dl.data);
}

static bool make_room(channels *x) {
  const extents *e = &x->problem->sizes;
  size_t width = x->problem->type.bits / 8;
  int64_t most = gemm_padded(e->channels);
  x->num_convolutions = most / 32 + 1;
  x->convolutions =
      calloc((size_t)x->num_convolutions, sizeof(*x->convolutions));
  x->image = aligned_alloc(
      64, (size_t)(e->batch * e->height * e->width * most) * width);
  x->filter = aligned_alloc(
      64, (size_t)(e->kernel * e->kernel * most * e->filters) * width);
  x->live = malloc((size_t)e->channels);
  x->ids = malloc(((size_t)e->channels + 1) * sizeof(*x->ids));
  if (!x->convolutions || !x->image || !x->filter || !x->live || !x->ids)
    return tool_refuse("out of memory");
  return true;
}

peer_answer channels_make(const problem *p, const char *name, contender *made) {
  const case_sparse *sparse = &p->from->sparse;
  if (sparse->operand != 'A' || sparse->axis != 'k' || sparse->block != 0 ||
      p->type.bits < 16)
    return PEER_DECLINED;
  channels *x = calloc(1, sizeof(*x));
  if (!x) {
    tool_error("out of memory");
    return PEER_FAILED;
  }
  x->problem = p;
  if (!make_room(x) || !problem_init_result(p, &x->result)) {
    destroy(x);
    return PEER_FAILED;
  }
  *made = (contender){.name = name,
                      .run = run,
                      .destroy = destroy,
                      .state = x,
                      .result = &x->result};
  return PEER_MADE;
}
