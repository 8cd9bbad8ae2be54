//===- Torch.c - PyTorch as a peer ----------------------------------------===//
//
// Its C interface, which stays the same for the models that it compiles
// (torch/csrc/inductor/aoti_torch/c). The functions that are used of it are
// declared here: the library is opened at run time, and nothing of it is needed
// to build.
//
//===----------------------------------------------------------------------===//

#include "Torch.h"
#include "Tool.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// A tensor of the library's; functions that return int32_t return 0 if all
/// went well.
typedef struct torch_tensor *torch_tensor;

static struct torch {
  void *library; ///< NULL: not opened
  int32_t (*from_blob)(void *data, int64_t rank, const int64_t *sizes,
                       const int64_t *strides, int64_t offset, int32_t dtype,
                       int32_t device_type, int32_t device, torch_tensor *made);
  int32_t (*destroy)(torch_tensor tensor);
  int32_t (*device_type_cpu)(void);
  int32_t (*mm)(torch_tensor c, torch_tensor a, torch_tensor b);
  int32_t (*bmm)(torch_tensor c, torch_tensor a, torch_tensor b);
  int32_t (*int_mm)(torch_tensor c, torch_tensor a, torch_tensor b);
} torch;

static bool find(const char *symbol, void *function) {
  void *address = dlsym(torch.library, symbol);
  // The bits are the same, which POSIX promises and ISO C does not.
  memcpy(function, &address, sizeof(address));
  return address || tool_refuse("cannot use torch: %s", dlerror());
}

bool torch_is_open(void) { return torch.library != NULL; }

bool torch_open(const char *path) {
  // Its OpenMP functions are looked up in the process first, where LLVM's
  // library has them: it starts no threads of its own.
  torch.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!torch.library)
    return tool_refuse("cannot load torch: %s", dlerror());
  return find("aoti_torch_create_tensor_from_blob", &torch.from_blob) &&
         find("aoti_torch_delete_tensor_object", &torch.destroy) &&
         find("aoti_torch_device_type_cpu", &torch.device_type_cpu) &&
         find("aoti_torch_cpu_mm_out", &torch.mm) &&
         find("aoti_torch_cpu_bmm_out", &torch.bmm) &&
         find("aoti_torch_cpu__int_mm_out", &torch.int_mm);
}

/// The library's number of a type.
static bool data_type(DLDataType type, int32_t *found) {
  static const struct {
    uint8_t code, bits;
    const char *symbol;
  } types[] = {{PIT_DTYPE_FLOAT, 64, "aoti_torch_dtype_float64"},
               {PIT_DTYPE_FLOAT, 32, "aoti_torch_dtype_float32"},
               {PIT_DTYPE_FLOAT, 16, "aoti_torch_dtype_float16"},
               {PIT_DTYPE_BFLOAT, 16, "aoti_torch_dtype_bfloat16"},
               {PIT_DTYPE_INT, 32, "aoti_torch_dtype_int32"},
               {PIT_DTYPE_INT, 8, "aoti_torch_dtype_int8"}};
  int32_t (*number)(void);
  for (size_t i = 0; i < sizeof(types) / sizeof(*types); ++i)
    if (types[i].code == type.code && types[i].bits == type.bits &&
        find(types[i].symbol, &number)) {
      *found = number();
      return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

typedef struct product {
  gemm_shape shape;
  int32_t type, result_type;
  int32_t (*run)(torch_tensor c, torch_tensor a, torch_tensor b);
} product;

static void *create(const gemm_shape *s) {
  const DLDataType i8 = {PIT_DTYPE_INT, 8, 1}, i32 = {PIT_DTYPE_INT, 32, 1};
  bool floats =
      s->type.code != PIT_DTYPE_INT && dtype_equal(s->type, s->result_type);
  bool integers = s->batch == 1 && dtype_equal(s->type, i8) &&
                  dtype_equal(s->result_type, i32);
  product made = {.shape = *s,
                  .run = integers        ? torch.int_mm
                         : s->batch == 1 ? torch.mm
                                         : torch.bmm};
  if (!(floats || integers) || !data_type(s->type, &made.type) ||
      !data_type(s->result_type, &made.result_type))
    return NULL;
  product *p = malloc(sizeof(*p));
  if (p)
    *p = made;
  return p;
}

/// A tensor of a matrix, or of a batch of them, where it lies. The library's
/// tensors have no const.
static torch_tensor view(const gemm_shape *s, const void *data, int64_t rows,
                         int64_t columns, int64_t ld, int32_t type) {
  const int64_t sizes[] = {s->batch, rows, columns};
  const int64_t strides[] = {rows * ld, ld, 1};
  // A batch of one is none.
  int skip = s->batch == 1;
  torch_tensor made;
  int32_t status = torch.from_blob((void *)(uintptr_t)data, 3 - skip,
                                   sizes + skip, strides + skip, 0, type,
                                   torch.device_type_cpu(), 0, &made);
  return status == 0 ? made : NULL;
}

static bool run(void *gemm, const void *a, const void *b, void *c) {
  const product *p = gemm;
  const gemm_shape *s = &p->shape;
  torch_tensor tensors[] = {view(s, c, s->m, s->n, s->ldc, p->result_type),
                            view(s, a, s->m, s->k, s->lda, p->type),
                            view(s, b, s->k, s->n, s->ldb, p->type)};
  bool ok = tensors[0] && tensors[1] && tensors[2] &&
            p->run(tensors[0], tensors[1], tensors[2]) == 0;
  for (int i = 0; i < 3; ++i)
    if (tensors[i])
      torch.destroy(tensors[i]);
  return ok || tool_refuse("torch: a product failed");
}

const gemm_library *torch_gemm(void) {
  static const gemm_library library = {create, run, free};
  return &library;
}
