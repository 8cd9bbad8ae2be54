//===- Plot.c - Pictures of sparse tensors --------------------------------===//

#include "Plot.h"
#include "Tensor.h"
#include "Tool.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

/// Pixels along the longer side of a large tensor, and of one that is enlarged.
enum { MAX_SIDE = 1024, ENLARGED_SIDE = 512, MAX_ZOOM = 16 };

/// A tensor as a picture has it: the last dimension along rows, all others
/// down.
typedef struct canvas {
  const pit_index *index;
  int64_t rows, columns;
  uint8_t *covered; ///< [rows * columns]
} canvas;

/// Marks the box of a micro-tile.
static void cover(canvas *c, const int64_t *begin, const int64_t *end) {
  int32_t rank = c->index->rank;
  int64_t at[PIT_MAX_RANK];
  for (int32_t d = 0; d < rank; ++d) {
    if (begin[d] >= end[d])
      return;
    at[d] = begin[d];
  }
  for (;;) {
    int64_t row = 0;
    for (int32_t d = 0; d + 1 < rank; ++d)
      row = row * c->index->shape[d] + at[d];
    memset(c->covered + row * c->columns + begin[rank - 1], 1,
           (size_t)(end[rank - 1] - begin[rank - 1]));
    int32_t d = rank - 2;
    for (; d >= 0 && ++at[d] == end[d]; --d)
      at[d] = begin[d];
    if (d < 0)
      return;
  }
}

static void cover_all(canvas *c) {
  const pit_index *index = c->index;
  for (int64_t g = 0; g < index->groups; ++g) {
    int64_t begin[PIT_MAX_RANK], end[PIT_MAX_RANK], rest = g;
    for (int32_t d = index->rank - 1; d >= 0; --d) {
      int64_t coordinate = rest % index->group_shape[d];
      rest /= index->group_shape[d];
      int64_t extent = index->micro_tile[d];
      begin[d] = extent ? coordinate * index->step[d] : 0;
      end[d] = extent ? begin[d] + extent : index->shape[d];
      if (end[d] > index->shape[d])
        end[d] = index->shape[d];
    }
    for (int32_t i = 0; i < index->counts[g]; ++i) {
      begin[index->axis] = index->ids[index->offsets[g] + i];
      end[index->axis] = begin[index->axis] + 1;
      cover(c, begin, end);
    }
  }
}

/// An element of the data, of which `data` has the shape and strides.
static double element(const tensor *data, const int64_t *strides,
                      const int64_t *at) {
  int64_t offset = 0;
  for (int32_t d = 0; d < data->dl.ndim; ++d)
    offset += at[d] * strides[d];
  return tensor_get(data, offset);
}

/// Whether the source selects the element at these coordinates.
static bool is_selected(pit_source source, const tensor *data,
                        const int64_t *strides, double background,
                        const pit_index *index, const int64_t *at) {
  int32_t rank = index->rank;
  int64_t rows, place[PIT_MAX_RANK];
  memcpy(place, at, sizeof(place));
  switch (source) {
  case PIT_SOURCE_VALUES:
  case PIT_SOURCE_MASK:
    return element(data, strides, at) != background;
  case PIT_SOURCE_MASK_BITS:
    place[rank - 1] = at[rank - 1] / 8;
    return (int)element(data, strides, place) >> at[rank - 1] % 8 & 1;
  case PIT_SOURCE_LENGTHS:
    return (double)at[data->dl.ndim] < element(data, strides, at);
  case PIT_SOURCE_ROW_LENGTHS:
    rows = index->shape[0] / data->shape[0];
    place[0] = at[0] / rows;
    return (double)(at[0] % rows) < element(data, strides, place);
  case PIT_SOURCE_ROUTING:
    for (place[1] = 0; place[1] < data->shape[1]; ++place[1])
      if (element(data, strides, place) == (double)at[1])
        return true;
    return false;
  default:
    return true; // a list of micro-tiles selects all of each
  }
}

/// Adds up the colors of the elements in each pixel.
static void draw(const canvas *c, pit_source source, const tensor *data,
                 const int64_t *strides, double background, int64_t scale,
                 int64_t width, float (*sums)[3]) {
  static const float white[] = {255, 255, 255}, light[] = {255, 205, 130},
                     dark[] = {25, 60, 120};
  for (int64_t row = 0; row < c->rows; ++row)
    for (int64_t column = 0; column < c->columns; ++column) {
      int64_t at[PIT_MAX_RANK] = {0}, rest = row;
      const float *color = white;
      if (c->covered[row * c->columns + column]) {
        at[c->index->rank - 1] = column;
        for (int32_t d = c->index->rank - 2; d >= 0; --d) {
          at[d] = rest % c->index->shape[d];
          rest /= c->index->shape[d];
        }
        color = is_selected(source, data, strides, background, c->index, at)
                    ? dark
                    : light;
      }
      for (int i = 0; i < 3; ++i)
        sums[row / scale * width + column / scale][i] += color[i];
    }
}

/// Writes sums over scale x scale elements as pixels, each `zoom` wide and
/// high.
static bool write_png(const char *path, const canvas *c, int64_t scale,
                      int64_t zoom, int64_t width, int64_t height,
                      float (*sums)[3]) {
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)(width * zoom),
                     .height = (png_uint_32)(height * zoom),
                     .format = PNG_FORMAT_RGB};
  uint8_t *pixels = malloc(PNG_IMAGE_SIZE(image));
  if (!pixels) {
    tool_error("out of memory for a picture");
    return false;
  }
  uint8_t *pixel = pixels;
  for (int64_t y = 0; y < height * zoom; ++y)
    for (int64_t x = 0; x < width * zoom; ++x, pixel += 3) {
      int64_t column = x / zoom, row = y / zoom;
      // The last ones may hold fewer elements.
      int64_t across = c->columns - column * scale,
              down = c->rows - row * scale;
      float count = (float)((across < scale ? across : scale) *
                            (down < scale ? down : scale));
      for (int i = 0; i < 3; ++i)
        pixel[i] = (uint8_t)(sums[row * width + column][i] / count + 0.5F);
    }
  bool ok = png_image_write_to_file(&image, path, 0, pixels, 0, NULL) != 0;
  if (!ok)
    tool_error("cannot write '%s': %s", path, image.message);
  free(pixels);
  return ok;
}

bool plot_index(const char *path, const pit_index *index, pit_source source,
                const DLTensor *data, const void *background) {
  canvas c = {
      .index = index, .rows = 1, .columns = index->shape[index->rank - 1]};
  for (int32_t d = 0; d + 1 < index->rank; ++d)
    c.rows *= index->shape[d];
  if (c.rows == 0 || c.columns == 0) {
    tool_error("cannot draw '%s': the tensor has no elements", path);
    return false;
  }
  int64_t longer = c.rows > c.columns ? c.rows : c.columns;
  int64_t scale = (longer + MAX_SIDE - 1) / MAX_SIDE;
  int64_t zoom =
      scale > 1 || longer > ENLARGED_SIDE ? 1 : ENLARGED_SIDE / longer;
  zoom = zoom > MAX_ZOOM ? MAX_ZOOM : zoom;
  int64_t width = (c.columns + scale - 1) / scale;
  int64_t height = (c.rows + scale - 1) / scale;

  // The data and its background as tensors that can be read element by element.
  tensor values = {.dl = *data}, zero = {.dl = *data};
  memcpy(values.shape, data->shape, (size_t)data->ndim * sizeof(int64_t));
  zero.dl.data = (void *)(uintptr_t)background;
  double unselected = source == PIT_SOURCE_VALUES ? tensor_get(&zero, 0) : 0;

  c.covered = calloc((size_t)c.rows, (size_t)c.columns);
  float (*sums)[3] = calloc((size_t)(width * height), sizeof(*sums));
  bool ok = c.covered && sums;
  if (ok) {
    cover_all(&c);
    draw(&c, source, &values, data->strides, unselected, scale, width, sums);
    ok = write_png(path, &c, scale, zoom, width, height, sums);
  } else {
    tool_error("out of memory for a picture");
  }
  free(c.covered);
  free(sums);
  return ok;
}
