//===- Onednn.c - oneDNN as a peer ----------------------------------------===//
//
// Versions 2 and 3 of its C interface.
//
//===----------------------------------------------------------------------===//

#include "Onednn.h"
#include "Dense.h"
#include "Tool.h"

#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>
#include <string.h>

static bool succeeded(dnnl_status_t status) {
  return status == dnnl_success ||
         tool_refuse("oneDNN: status %d", (int)status);
}

/// A handle of data that is only read: the library's handles have no const.
static void *as_handle(const void *data) { return (void *)(uintptr_t)data; }

static bool data_type(DLDataType type, dnnl_data_type_t *found) {
  static const struct {
    uint8_t code, bits;
    dnnl_data_type_t type;
  } types[] = {{PIT_DTYPE_FLOAT, 32, dnnl_f32},
               {PIT_DTYPE_FLOAT, 16, dnnl_f16},
               {PIT_DTYPE_BFLOAT, 16, dnnl_bf16},
               {PIT_DTYPE_INT, 32, dnnl_s32},
               {PIT_DTYPE_INT, 8, dnnl_s8}};
  for (size_t i = 0; i < sizeof(types) / sizeof(*types); ++i)
    if (types[i].code == type.code && types[i].bits == type.bits) {
      *found = types[i].type;
      return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Differences between the versions
//===----------------------------------------------------------------------===//

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t layout; ///< owned
typedef const_dnnl_memory_desc_t layout_ref;
static void layout_free(layout *l) { dnnl_memory_desc_destroy(*l); }
static layout_ref ref(const layout *l) { return *l; }
#define layout_by_strides dnnl_memory_desc_create_with_strides
#define layout_by_tag dnnl_memory_desc_create_with_tag
#else
typedef dnnl_memory_desc_t layout;
typedef const dnnl_memory_desc_t *layout_ref;
static void layout_free(layout *l) { (void)l; }
static layout_ref ref(const layout *l) { return l; }
#define layout_by_strides dnnl_memory_desc_init_by_strides
#define layout_by_tag dnnl_memory_desc_init_by_tag
#endif

/// Describes a product; dnnl_unimplemented if there is none of the kind.
static dnnl_status_t describe_product(dnnl_engine_t engine, const layout *a,
                                      const layout *b, const layout *c,
                                      dnnl_primitive_desc_t *made) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_matmul_primitive_desc_create(made, engine, ref(a), ref(b), NULL,
                                           ref(c), NULL);
#else
  dnnl_matmul_desc_t description;
  dnnl_status_t status = dnnl_matmul_desc_init(&description, a, b, NULL, c);
  return status == dnnl_success ? dnnl_primitive_desc_create(made, &description,
                                                             NULL, engine, NULL)
                                : status;
#endif
}

static dnnl_status_t describe_convolution(dnnl_engine_t engine, const layout *x,
                                          const layout *w, const layout *y,
                                          int64_t stride,
                                          dnnl_primitive_desc_t *made) {
  dnnl_dims_t strides = {stride, stride}, zeros = {0, 0};
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_convolution_forward_primitive_desc_create(
      made, engine, dnnl_forward_inference, dnnl_convolution_direct, ref(x),
      ref(w), NULL, ref(y), strides, zeros, zeros, zeros, NULL);
#else
  dnnl_convolution_desc_t description;
  dnnl_status_t status = dnnl_convolution_forward_desc_init(
      &description, dnnl_forward_inference, dnnl_convolution_direct, x, w, NULL,
      y, strides, zeros, zeros);
  return status == dnnl_success ? dnnl_primitive_desc_create(made, &description,
                                                             NULL, engine, NULL)
                                : status;
#endif
}

//===----------------------------------------------------------------------===//
// Something to execute
//===----------------------------------------------------------------------===//

/// A primitive with two inputs.
struct onednn {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_t primitive;
  dnnl_memory_t memories[3]; ///< input, weights, output
  // For a dense problem:
  const problem *problem;
  tensor result;
  // Weights as they are given and in the primitive's order, if it has one.
  dnnl_memory_t plain, packed;
  dnnl_primitive_t reorder;
};

static void onednn_free(void *user) {
  onednn *o = user;
  for (int i = 0; i < 3; ++i)
    dnnl_memory_destroy(o->memories[i]);
  dnnl_memory_destroy(o->plain);
  dnnl_memory_destroy(o->packed);
  dnnl_primitive_destroy(o->reorder);
  dnnl_primitive_destroy(o->primitive);
  dnnl_stream_destroy(o->stream);
  dnnl_engine_destroy(o->engine);
  tensor_free(&o->result);
  free(o);
}

static onednn *onednn_create(void) {
  onednn *o = calloc(1, sizeof(*o));
  if (o && succeeded(dnnl_engine_create(&o->engine, dnnl_cpu, 0)) &&
      succeeded(
          dnnl_stream_create(&o->stream, o->engine, dnnl_stream_default_flags)))
    return o;
  if (!o)
    tool_error("out of memory");
  else
    onednn_free(o);
  return NULL;
}

/// Prepares what puts weights into the order that the primitive wants.
static bool make_reorder(onednn *o, const layout *plain, layout_ref wanted) {
  dnnl_primitive_desc_t made = NULL;
  bool ok = succeeded(dnnl_memory_create(&o->plain, ref(plain), o->engine,
                                         DNNL_MEMORY_NONE)) &&
            succeeded(dnnl_memory_create(&o->packed, wanted, o->engine,
                                         DNNL_MEMORY_ALLOCATE)) &&
            succeeded(dnnl_reorder_primitive_desc_create(
                &made, ref(plain), o->engine, wanted, o->engine, NULL)) &&
            succeeded(dnnl_primitive_create(&o->reorder, made));
  dnnl_primitive_desc_destroy(made);
  return ok;
}

/// Makes the primitive of its description, which this releases. `plain`: of the
/// weights, if the primitive has chosen their layout; or NULL.
static bool finish(onednn *o, dnnl_status_t status, dnnl_primitive_desc_t made,
                   const layout *layouts, const layout *plain) {
  if (status != dnnl_success)
    return false;
  bool ok = succeeded(dnnl_primitive_create(&o->primitive, made));
  if (ok && plain)
    ok = make_reorder(
        o, plain, dnnl_primitive_desc_query_md(made, dnnl_query_weights_md, 0));
  dnnl_primitive_desc_destroy(made);
  for (int i = 0; ok && i < 3; ++i)
    ok = (plain && i == 1) ||
         succeeded(dnnl_memory_create(&o->memories[i], ref(&layouts[i]),
                                      o->engine, DNNL_MEMORY_NONE));
  return ok;
}

bool onednn_pack(onednn *o, const void *weights) {
  dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, o->plain},
                            {DNNL_ARG_TO, o->packed}};
  return succeeded(dnnl_memory_set_data_handle(o->plain, as_handle(weights))) &&
         succeeded(dnnl_primitive_execute(o->reorder, o->stream, 2, args)) &&
         succeeded(dnnl_stream_wait(o->stream));
}

static bool execute(onednn *o, const void *a, const void *b, void *c) {
  if (!succeeded(dnnl_memory_set_data_handle(o->memories[0], as_handle(a))) ||
      (b &&
       !succeeded(dnnl_memory_set_data_handle(o->memories[1], as_handle(b)))) ||
      !succeeded(dnnl_memory_set_data_handle(o->memories[2], c)))
    return false;
  dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, o->memories[0]},
                            {DNNL_ARG_WEIGHTS, b ? o->memories[1] : o->packed},
                            {DNNL_ARG_DST, o->memories[2]}};
  return succeeded(dnnl_primitive_execute(o->primitive, o->stream, 3, args)) &&
         succeeded(dnnl_stream_wait(o->stream));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static bool describe_matrix(layout *l, const gemm_shape *s, int64_t rows,
                            int64_t columns, int64_t ld, DLDataType type) {
  dnnl_data_type_t element;
  dnnl_dims_t dims = {s->batch, rows, columns};
  dnnl_dims_t strides = {rows * ld, ld, 1};
  // A batch of one is none.
  int skip = s->batch == 1;
  return data_type(type, &element) &&
         layout_by_strides(l, 3 - skip, dims + skip, element, strides + skip) ==
             dnnl_success;
}

/// The same in the order that the library likes best.
static bool describe_any(layout *l, const gemm_shape *s, int64_t rows,
                         int64_t columns, DLDataType type) {
  dnnl_data_type_t element;
  dnnl_dims_t dims = {s->batch, rows, columns};
  int skip = s->batch == 1;
  return data_type(type, &element) &&
         layout_by_tag(l, 3 - skip, dims + skip, element,
                       dnnl_format_tag_any) == dnnl_success;
}

/// A product; `packs`: by weights in an order of the library's own.
static onednn *make_product(const gemm_shape *s, bool packs) {
  onednn *o = onednn_create();
  layout l[3], plain;
  memset(l, 0, sizeof(l));
  memset(&plain, 0, sizeof(plain));
  bool ok = o && describe_matrix(&l[0], s, s->m, s->k, s->lda, s->type) &&
            describe_matrix(&plain, s, s->k, s->n, s->ldb, s->type) &&
            describe_matrix(&l[2], s, s->m, s->n, s->ldc, s->result_type) &&
            (packs ? describe_any(&l[1], s, s->k, s->n, s->type)
                   : describe_matrix(&l[1], s, s->k, s->n, s->ldb, s->type));
  dnnl_primitive_desc_t made = NULL;
  if (ok) {
    dnnl_status_t status =
        describe_product(o->engine, &l[0], &l[1], &l[2], &made);
    ok = finish(o, status, made, l, packs ? &plain : NULL);
  }
  for (int i = 0; i < 3; ++i)
    layout_free(&l[i]);
  layout_free(&plain);
  if (!ok && o)
    onednn_free(o);
  return ok ? o : NULL;
}

static void *gemm_create(const gemm_shape *s) { return make_product(s, false); }

static bool gemm_run(void *gemm, const void *a, const void *b, void *c) {
  return execute(gemm, a, b, c);
}

const gemm_library *onednn_gemm(void) {
  static const gemm_library library = {gemm_create, gemm_run, onednn_free};
  return &library;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

bool onednn_conv_run(onednn *o, const void *image, void *result) {
  return execute(o, image, NULL, result);
}

void onednn_conv_free(onednn *o) { onednn_free(o); }

static bool make_convolution(onednn *o, const extents *s, DLDataType image_type,
                             DLDataType result_type) {
  int64_t rows = (s->height - s->kernel) / s->stride + 1;
  int64_t columns = (s->width - s->kernel) / s->stride + 1;
  dnnl_dims_t x = {s->batch, s->channels, s->height, s->width};
  dnnl_dims_t w = {s->filters, s->channels, s->kernel, s->kernel};
  dnnl_dims_t y = {s->batch, s->filters, rows, columns};
  dnnl_data_type_t type, result;
  if (!data_type(image_type, &type) || !data_type(result_type, &result))
    return false;
  layout l[3], plain;
  memset(l, 0, sizeof(l));
  memset(&plain, 0, sizeof(plain));
  dnnl_primitive_desc_t made = NULL;
  bool ok =
      layout_by_tag(&l[0], 4, x, type, dnnl_nhwc) == dnnl_success &&
      layout_by_tag(&l[1], 4, w, type, dnnl_format_tag_any) == dnnl_success &&
      layout_by_tag(&l[2], 4, y, result, dnnl_nhwc) == dnnl_success &&
      layout_by_tag(&plain, 4, w, type, dnnl_hwio) == dnnl_success;
  if (ok) {
    dnnl_status_t status =
        describe_convolution(o->engine, &l[0], &l[1], &l[2], s->stride, &made);
    ok = finish(o, status, made, l, &plain);
  }
  for (int i = 0; i < 3; ++i)
    layout_free(&l[i]);
  layout_free(&plain);
  return ok;
}

onednn *onednn_conv_create(const extents *sizes, DLDataType type,
                           DLDataType result_type) {
  onednn *o = onednn_create();
  if (!o || make_convolution(o, sizes, type, result_type))
    return o;
  onednn_free(o);
  return NULL;
}

//===----------------------------------------------------------------------===//
// The dense problem
//===----------------------------------------------------------------------===//

static bool run(void *state, int32_t pattern) {
  onednn *o = state;
  return execute(o, problem_data(o->problem, pattern, 0),
                 o->packed ? NULL : problem_data(o->problem, pattern, 1),
                 o->result.dl.data);
}

peer_answer onednn_make(const problem *p, contender *made) {
  const extents *s = &p->sizes;
  onednn *o = NULL;
  if (p->from->kind == CASE_CONV)
    o = onednn_conv_create(s, p->type, p->result_type);
  else if (p->from->kind == CASE_MATMUL) {
    gemm_shape shape = dense_shape(p);
    o = make_product(&shape, case_is_constant(p->from, 1));
  }
  if (!o)
    return PEER_DECLINED;
  o->problem = p;
  if ((o->packed && !onednn_pack(o, problem_data(p, 0, 1))) ||
      !problem_init_result(p, &o->result)) {
    onednn_free(o);
    return PEER_FAILED;
  }
  *made = (contender){.name = "onednn",
                      .run = run,
                      .destroy = onednn_free,
                      .state = o,
                      .result = &o->result,
                      .unwanted = p->from->sparse.operand == 'C'};
  return PEER_MADE;
}
