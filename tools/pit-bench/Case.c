//===- Case.c - What to measure, from data files --------------------------===//

#include "Case.h"
#include "Tensor.h"
#include "Tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"matmul", "conv", "experts"};
enum { KINDS = sizeof(kind_names) / sizeof(*kind_names) };

static bool wrong(const bench_case *c, const char *what) {
  return tool_refuse("%s: case '%s': %s", c->file, c->name ? c->name : "?",
                     what);
}

/// The text of a key; NULL if there is none.
static const char *text_of(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

static bool check_keys(const bench_case *c, json_t *entry) {
  static const char *const keys[] = {"name", "kind",    "program",  "set",
                                     "args", "sparse",  "sparsity", "pipeline",
                                     "each", "constant"};
  const char *key;
  json_t *value;
  json_object_foreach(entry, key, value) {
    size_t i = 0;
    while (i < sizeof(keys) / sizeof(*keys) && strcmp(keys[i], key) != 0)
      ++i;
    if (i == sizeof(keys) / sizeof(*keys))
      return tool_refuse("%s: case '%s': it has a key '%s'; there are name, "
                         "kind, program, set, each, args, constant, sparse, "
                         "sparsity, pipeline",
                         c->file, c->name, key);
  }
  return true;
}

static bool read_kind(bench_case *c, const char *text) {
  for (int k = 0; text && k < KINDS; ++k)
    if (strcmp(text, kind_names[k]) == 0) {
      c->kind = (case_kind)k;
      return true;
    }
  return wrong(c, "its kind must be matmul, conv or experts");
}

/// The path of the program, which is named from the data file's folder.
static bool read_program(bench_case *c, const char *name) {
  if (!name)
    return wrong(c, "it must have a program, the name of a file");
  const char *slash = strrchr(c->file, '/');
  size_t folder = name[0] != '/' && slash ? (size_t)(slash + 1 - c->file) : 0;
  size_t size = folder + strlen(name) + 1;
  c->program = malloc(size);
  if (!c->program)
    return tool_refuse("out of memory");
  snprintf(c->program, size, "%.*s%s", (int)folder, c->file, name);
  return true;
}

static bool read_sparse(bench_case *c, json_t *sparse) {
  static const char *const dims[] = {
      ['A' - 'A'] = "mk", ['B' - 'A'] = "kn", ['C' - 'A'] = "mn"};
  if (!sparse)
    return true;
  const char *operand = text_of(sparse, "operand");
  const char *axis = text_of(sparse, "axis");
  if (!operand || strlen(operand) != 1 || operand[0] < 'A' || operand[0] > 'C')
    return wrong(c, "the sparse operand must be \"A\", \"B\" or \"C\"");
  c->sparse.operand = operand[0];
  const char *has = dims[operand[0] - 'A'];
  if (!axis || strlen(axis) != 1 || !strchr(has, axis[0]))
    return tool_refuse("%s: case '%s': the axis of %c must be \"%c\" or \"%c\"",
                       c->file, c->name, operand[0], has[0], has[1]);
  c->sparse.axis = axis[0];
  json_t *block = json_object_get(sparse, "block");
  c->sparse.block = json_integer_value(block);
  if (block && c->sparse.block < 1)
    return wrong(c, "a sparse operand's block must be at least 1");
  return true;
}

static bool read_sparsities(bench_case *c, json_t *list) {
  c->num_sparsities = json_is_array(list) ? (int32_t)json_array_size(list) : 1;
  if (c->num_sparsities == 0)
    return wrong(c, "its sparsity has no number");
  c->sparsities = calloc((size_t)c->num_sparsities, sizeof(*c->sparsities));
  if (!c->sparsities)
    return tool_refuse("out of memory");
  for (int32_t i = 0; i < c->num_sparsities; ++i) {
    json_t *value =
        json_is_array(list) ? json_array_get(list, (size_t)i) : list;
    c->sparsities[i] = json_number_value(value);
    if (value && (!json_is_number(value) ||
                  !(c->sparsities[i] >= 0 && c->sparsities[i] <= 1)))
      return wrong(c, "its sparsity must be numbers from 0 to 1");
  }
  return true;
}

static bool check_args(bench_case *c) {
  if (json_array_size(c->args) == 0)
    return wrong(c, "it must have args, an array of texts");
  size_t i;
  json_t *arg;
  json_array_foreach(c->args, i, arg) {
    if (!json_is_string(arg))
      return wrong(c, "its args must be texts");
  }
  return true;
}

/// Constants are arguments that do not differ from pattern to pattern.
static bool check_constant(bench_case *c) {
  size_t i;
  json_t *arg;
  if (c->constant && !json_is_array(c->constant))
    return wrong(c, "its constant must be an array of numbers of arguments");
  json_array_foreach(c->constant, i, arg) {
    json_int_t number = json_integer_value(arg);
    if (!json_is_integer(arg) || number < 0 ||
        number >= (json_int_t)json_array_size(c->args))
      return wrong(c, "its constant must be numbers of its args, from 0");
    const char *text =
        json_string_value(json_array_get(c->args, (size_t)number));
    if (strstr(text, "${seed}"))
      return wrong(c, "an argument that depends on ${seed} is not constant");
  }
  return true;
}

bool case_is_constant(const bench_case *c, int32_t arg) {
  size_t i;
  json_t *constant;
  json_array_foreach(c->constant, i, constant) {
    if (json_integer_value(constant) == arg)
      return true;
  }
  return false;
}

/// Takes the variables of an entry and, over them, those of one of its "each",
/// which may be NULL, and the overrides; they also stand in its name.
static bool read_variables(bench_case *c, json_t *entry, json_t *each,
                           json_t *overrides) {
  const char *name = text_of(entry, "name");
  json_t *set = json_object_get(entry, "set");
  if (!name)
    return wrong(c, "it must have a name");
  c->name = strdup(name);
  if (set && !json_is_object(set))
    return wrong(c, "its set must be an object of variables");
  c->set = set ? json_copy(set) : json_object();
  if (!c->name || !c->set)
    return tool_refuse("out of memory");
  if (each && (!json_is_object(each) || json_object_update(c->set, each) != 0))
    return wrong(c, "its each must be an array of objects of variables");
  if (overrides && json_object_update_existing(c->set, overrides) != 0)
    return tool_refuse("out of memory");
  char *expanded = case_expand(c, c->name, &(case_instance){0});
  if (!expanded)
    return false;
  free(c->name);
  c->name = expanded;
  return true;
}

static bool read_case(bench_case *c, json_t *entry, json_t *each,
                      json_t *overrides) {
  if (!read_variables(c, entry, each, overrides))
    return false;
  c->pipeline = text_of(entry, "pipeline");
  if (!c->pipeline)
    c->pipeline = "";
  c->args = json_object_get(entry, "args");
  c->constant = json_object_get(entry, "constant");
  return check_keys(c, entry) && read_kind(c, text_of(entry, "kind")) &&
         read_program(c, text_of(entry, "program")) &&
         read_sparse(c, json_object_get(entry, "sparse")) &&
         read_sparsities(c, json_object_get(entry, "sparsity")) &&
         check_args(c) && check_constant(c);
}

/// Makes room for more; what is there stays.
static bool grow(void **memory, size_t size, size_t count) {
  void *larger = realloc(*memory, size * (count ? count : 1));
  if (!larger)
    return tool_refuse("out of memory");
  *memory = larger;
  return true;
}

/// Adds what an entry of a file stands for.
static bool read_entry(case_list *list, const char *path, json_t *entry) {
  json_t *each = json_object_get(entry, "each");
  size_t count = each ? json_array_size(each) : 1;
  if (count == 0)
    return tool_refuse("%s: a case's each must be an array that is not empty",
                       path);
  if (!grow((void **)&list->cases, sizeof(*list->cases),
            (size_t)list->count + count))
    return false;
  for (size_t i = 0; i < count; ++i) {
    bench_case *c = &list->cases[list->count++];
    *c = (bench_case){.file = path};
    if (!read_case(c, entry, json_array_get(each, i), list->overrides))
      return false;
  }
  return true;
}

bool case_read(case_list *list, const char *path) {
  char *text;
  size_t size;
  if (!tool_read_file(path, &text, &size))
    return false;
  json_error_t error;
  json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
  free(text);
  if (!root)
    return tool_refuse("%s:%d:%d: %s", path, error.line, error.column,
                       error.text);
  bool ok = json_array_size(root) > 0 ||
            tool_refuse("%s: it must be an array of cases", path);
  ok = ok && grow((void **)&list->roots, sizeof(*list->roots),
                  (size_t)list->num_roots + 1);
  if (!ok) {
    json_decref(root);
    return false;
  }
  list->roots[list->num_roots++] = root;
  size_t i;
  json_t *entry;
  json_array_foreach(root, i, entry) {
    if (!read_entry(list, path, entry))
      return false;
  }
  return true;
}

void case_free(case_list *list) {
  for (int32_t i = 0; i < list->count; ++i) {
    free(list->cases[i].name);
    json_decref(list->cases[i].set);
    free(list->cases[i].program);
    free(list->cases[i].sparsities);
  }
  for (int32_t i = 0; i < list->num_roots; ++i)
    json_decref(list->roots[i]);
  free(list->cases);
  free(list->roots);
  *list = (case_list){0};
}

bool case_size_or(const bench_case *c, const char *name, int64_t otherwise,
                  int64_t *size) {
  json_t *value = json_object_get(c->set, name);
  *size = value ? json_integer_value(value) : otherwise;
  // Products of a few sizes have to fit.
  if (*size >= 1 && *size <= INT32_MAX)
    return true;
  return tool_refuse("%s: case '%s': its set must have %s, a whole number from "
                     "1 to %d",
                     c->file, c->name, name, INT32_MAX);
}

bool case_size(const bench_case *c, const char *name, int64_t *size) {
  return case_size_or(c, name, 0, size);
}

bool case_dtype(const bench_case *c, const char *name, DLDataType *dtype) {
  const char *text = text_of(c->set, name);
  if (!text)
    text = text_of(c->set, "T");
  if (text && dtype_parse(text, strlen(text), dtype))
    return true;
  return tool_refuse("%s: case '%s': its set must have %s, an element type "
                     "(" DTYPE_NAMES ")",
                     c->file, c->name, name);
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

enum { VALUE_SIZE = 64 };

/// The variables of the sparse operand; false: it is none of them.
static bool sparse_value(const case_sparse *s, const char *name,
                         char value[VALUE_SIZE]) {
  if (!s->operand)
    return false;
  // The operand's dimensions are (m, k), (k, n) and (m, n).
  bool first = s->operand == 'B' ? s->axis == 'k' : s->axis == 'm';
  bool as_spec = strcmp(name, "micro") == 0;
  if (strcmp(name, "axis") == 0) {
    snprintf(value, VALUE_SIZE, "%d", first ? 0 : 1);
    return true;
  }
  if (!as_spec && strcmp(name, "tile") != 0)
    return false;
  char block[24] = "*";
  if (s->block)
    snprintf(block, sizeof(block), "%lld", (long long)s->block);
  snprintf(value, VALUE_SIZE, "%s%s%s", first ? "1" : block,
           as_spec ? "x" : ", ", first ? block : "1");
  return true;
}

/// The value of a variable, in `buffer` or where it stands; NULL: it has none.
static const char *value_of(const bench_case *c, const char *name,
                            const case_instance *instance,
                            char buffer[VALUE_SIZE]) {
  json_t *value = json_object_get(c->set, name);
  if (json_is_string(value))
    return json_string_value(value);
  if (json_is_integer(value))
    snprintf(buffer, VALUE_SIZE, "%lld", (long long)json_integer_value(value));
  else if (strcmp(name, "S") == 0)
    snprintf(buffer, VALUE_SIZE, "%.9g", instance->sparsity);
  else if (strcmp(name, "seed") == 0)
    snprintf(buffer, VALUE_SIZE, "%lld", (long long)instance->seed);
  else if (!sparse_value(&c->sparse, name, buffer))
    return NULL;
  return buffer;
}

char *case_expand(const bench_case *c, const char *text,
                  const case_instance *instance) {
  char *result = NULL;
  size_t size;
  FILE *out = open_memstream(&result, &size);
  bool ok = out != NULL;
  while (ok && *text) {
    const char *start = strstr(text, "${");
    const char *end = start ? strchr(start, '}') : NULL;
    if (!end) {
      fputs(text, out);
      break;
    }
    char name[VALUE_SIZE], buffer[VALUE_SIZE];
    snprintf(name, sizeof(name), "%.*s", (int)(end - start - 2), start + 2);
    const char *value = value_of(c, name, instance, buffer);
    ok = value != NULL;
    if (!ok)
      tool_error("%s: case '%s': its set has no value of ${%s}", c->file,
                 c->name, name);
    else
      fprintf(out, "%.*s%s", (int)(start - text), text, value);
    text = end + 1;
  }
  // Only memory can be short.
  if (out && fclose(out) != 0)
    ok = false;
  if (ok)
    return result;
  free(result);
  return NULL;
}
