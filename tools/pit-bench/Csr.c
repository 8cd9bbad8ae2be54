//===- Csr.c - MLIR's own sparsifier as a peer ----------------------------===//

#include "Csr.h"
#include "Tool.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// %1 the type, %2 to %4 the sizes m, n, k, %5 and %6 which factor is
// compressed, %7 to %10 its sizes and those of the other, %11 the factors in
// order.
static const char program[] =
    "#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : "
    "compressed), posWidth = 32, crdWidth = 32}>\n"
    "!p = tensor<?xi32>\n"
    "!v = tensor<?x%1$s>\n"
    "!a = tensor<%2$lldx%4$lldx%1$s%5$s>\n"
    "!b = tensor<%4$lldx%3$lldx%1$s%6$s>\n"
    "!c = tensor<%2$lldx%3$lldx%1$s>\n"
    "!s = tensor<%7$lldx%8$lldx%1$s, #csr>\n"
    "!x = tensor<%7$lldx%8$lldx%1$s>\n"
    "!y = tensor<%9$lldx%10$lldx%1$s>\n"
    "func.func @multiply(%%p: !p, %%i: !p, %%v: !v, %%y: !y,\n"
    "                    %%c: !c {bufferization.writable = true}) -> !c\n"
    "    attributes {llvm.emit_c_interface} {\n"
    "  %%s = sparse_tensor.assemble (%%p, %%i), %%v : (!p, !p), !v to !s\n"
    "  %%r = linalg.matmul ins(%11$s : !a, !b) outs(%%c : !c) -> !c\n"
    "  return %%r : !c\n"
    "}\n"
    "func.func @convert(%%x: !x, %%y: !y,\n"
    "                   %%c: !c {bufferization.writable = true}) -> !c\n"
    "    attributes {llvm.emit_c_interface} {\n"
    "  %%s = sparse_tensor.convert %%x : !x to !s\n"
    "  %%r = linalg.matmul ins(%11$s : !a, !b) outs(%%c : !c) -> !c\n"
    "  bufferization.dealloc_tensor %%s : !s\n"
    "  return %%r : !c\n"
    "}\n";

/// Memory as MLIR's C interface passes it.
typedef struct vector {
  void *allocated, *aligned;
  int64_t offset, size, stride;
} vector;
typedef struct matrix {
  void *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} matrix;

/// A pattern in compressed rows.
typedef struct compressed {
  int32_t *positions, *columns;
  char *values;
  int64_t rows, live;
} compressed;

typedef struct csr {
  const problem *problem;
  void *library;
  void (*multiply)(matrix *result, vector *positions, vector *columns,
                   vector *values, matrix *other, matrix *place);
  void (*convert)(matrix *result, matrix *sparse, matrix *other, matrix *place);
  int sparse;        ///< which argument is compressed
  compressed *forms; ///< [num_patterns]; NULL: made in each run
  tensor result;
} csr;

static void destroy(void *user) {
  csr *s = user;
  for (int32_t i = 0; s->forms && i < s->problem->num_patterns; ++i) {
    free(s->forms[i].positions);
    free(s->forms[i].columns);
    free(s->forms[i].values);
  }
  free(s->forms);
  tensor_free(&s->result);
  if (s->library)
    dlclose(s->library);
  free(s);
}

static vector vector_of(void *data, int64_t size) {
  return (vector){data, data, 0, size, 1};
}

static matrix matrix_of(const DLTensor *t) {
  return (matrix){
      t->data, t->data, 0, {t->shape[0], t->shape[1]}, {t->shape[1], 1}};
}

static bool run(void *user, int32_t pattern) {
  csr *s = user;
  const DLTensor *const *args = problem_args(s->problem, pattern);
  matrix other = matrix_of(args[1 - s->sparse]), result,
         place = matrix_of(&s->result.dl);
  // The pipeline would make a constant of a fill, and a copy of that.
  memset(s->result.dl.data, 0, tensor_bytes(&s->result));
  if (s->forms) {
    const compressed *f = &s->forms[pattern];
    vector positions = vector_of(f->positions, f->rows + 1);
    vector columns = vector_of(f->columns, f->live);
    vector values = vector_of(f->values, f->live);
    s->multiply(&result, &positions, &columns, &values, &other, &place);
  } else {
    matrix sparse = matrix_of(args[s->sparse]);
    s->convert(&result, &sparse, &other, &place);
  }
  return result.aligned == s->result.dl.data ||
         tool_refuse("the sparsifier's program returns memory of its own");
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static void write_program(const csr *s, FILE *out) {
  const extents *e = &s->problem->sizes;
  char name[TENSOR_NAME_SIZE];
  bool first = s->sparse == 0;
  long long m = e->m, n = e->n, k = e->k;
  fprintf(out, program, dtype_name(s->problem->type, name), m, n, k,
          first ? ", #csr" : "", first ? "" : ", #csr", first ? m : k,
          first ? k : n, first ? k : m, first ? n : k,
          first ? "%s, %y" : "%y, %s");
}

/// Compiles the program to the shared library `path`.
static bool compile(const csr *s, const char *path) {
  char command[2048];
  int length = snprintf(
      command, sizeof(command),
      "'%s' '--sparsifier=enable-runtime-library=false "
      "enable-index-optimizations=true vl=16' | '%s' --mlir-to-llvmir | "
      "'%s' -x ir -O3 -march=native -ffp-contract=fast -w -shared -fPIC -o "
      "'%s' -",
      PIT_BENCH_MLIR_OPT, PIT_BENCH_MLIR_TRANSLATE, PIT_BENCH_CLANG, path);
  FILE *pipe = length < (int)sizeof(command) ? popen(command, "w") : NULL;
  if (!pipe)
    return tool_refuse("cannot run %s", PIT_BENCH_MLIR_OPT);
  write_program(s, pipe);
  return pclose(pipe) == 0 ||
         tool_refuse("the sparsifier's program does not compile");
}

static bool find(csr *s, const char *symbol, void *function) {
  void *address = dlsym(s->library, symbol);
  // The bits are the same, which POSIX promises and ISO C does not.
  memcpy(function, &address, sizeof(address));
  return address != NULL;
}

static bool load(csr *s) {
  char path[] = "/tmp/pit-bench-XXXXXX.so";
  int file = mkstemps(path, 3);
  if (file < 0)
    return tool_refuse("cannot make a file in /tmp");
  close(file);
  if (compile(s, path)) {
    s->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!s->library)
      tool_error("cannot load the sparsifier's program: %s", dlerror());
  }
  unlink(path);
  return s->library && find(s, "_mlir_ciface_multiply", &s->multiply) &&
         find(s, "_mlir_ciface_convert", &s->convert);
}

//===----------------------------------------------------------------------===//
// Compressed rows
//===----------------------------------------------------------------------===//

static bool is_zero(const DLTensor *t, int64_t i) {
  return t->dtype.bits == 64 ? ((const double *)t->data)[i] == 0
                             : ((const float *)t->data)[i] == 0;
}

static bool compress(const DLTensor *t, compressed *made) {
  int64_t rows = t->shape[0], columns = t->shape[1], live = 0;
  size_t width = t->dtype.bits / 8;
  for (int64_t i = 0; i < rows * columns; ++i)
    live += !is_zero(t, i);
  made->rows = rows;
  made->positions = calloc((size_t)rows + 1, sizeof(*made->positions));
  made->columns = calloc((size_t)live + 1, sizeof(*made->columns));
  made->values = calloc((size_t)live + 1, width);
  if (!made->positions || !made->columns || !made->values)
    return tool_refuse("out of memory");
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      int64_t at = i * columns + j;
      if (is_zero(t, at))
        continue;
      made->columns[made->live] = (int32_t)j;
      memcpy(made->values + (size_t)made->live * width,
             (const char *)t->data + (size_t)at * width, width);
      ++made->live;
    }
    made->positions[i + 1] = (int32_t)made->live;
  }
  return true;
}

static bool compress_all(csr *s) {
  const problem *p = s->problem;
  s->forms = calloc((size_t)p->num_patterns, sizeof(*s->forms));
  if (!s->forms)
    return tool_refuse("out of memory");
  for (int32_t i = 0; i < p->num_patterns; ++i)
    if (!compress(problem_args(p, i)[s->sparse], &s->forms[i]))
      return false;
  return true;
}

static peer_answer make(const problem *p, bool converted, contender *made) {
  char operand = p->from->sparse.operand;
  bool floats = dtype_is_float(p->type) && p->type.bits >= 32;
  // Positions are 32-bit numbers.
  bool small = (double)p->sizes.m * (double)p->sizes.k < INT32_MAX &&
               (double)p->sizes.k * (double)p->sizes.n < INT32_MAX;
  if (p->from->kind != CASE_MATMUL || p->sizes.batch != 1 || !floats ||
      !small || !dtype_equal(p->type, p->result_type) ||
      (operand != 'A' && operand != 'B'))
    return PEER_DECLINED;
  csr *s = calloc(1, sizeof(*s));
  if (!s) {
    tool_error("out of memory");
    return PEER_FAILED;
  }
  s->problem = p;
  s->sparse = operand - 'A';
  if (!load(s) || (converted && !compress_all(s)) ||
      !problem_init_result(p, &s->result)) {
    destroy(s);
    return PEER_FAILED;
  }
  *made = (contender){.name = converted ? "csr made" : "csr",
                      .run = run,
                      .destroy = destroy,
                      .state = s,
                      .result = &s->result};
  return PEER_MADE;
}

peer_answer csr_make(const problem *p, contender *made) {
  return make(p, false, made);
}

peer_answer csr_make_converted(const problem *p, contender *made) {
  return make(p, true, made);
}
