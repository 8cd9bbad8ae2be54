//===- Program.c - Compiled programs --------------------------------------===//

#include "Choices.h"
#include "Core/CpuFeatures.h"
#include "Manifest.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef int32_t (*pit_function)(pit_context *, const pit_value *,
                                DLTensor *const *, pit_stream);

struct pit_entry {
  pit_program *program;
  const char *name; ///< in the program's code, as its manifest
  pit_function function;
  const pit_manifest *manifest;
};

struct pit_program {
  /// The references of callers (pit_program_retain), and one of each call that
  /// runs.
  _Atomic int64_t references;
  void *user;
  void (*close)(void *user);
  int32_t num_entries;
  pit_entry *entries;
};

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Looks `pit_<name><suffix>` up; NULL if it is missing or out of memory.
static void *find(void *(*lookup)(void *user, const char *symbol), void *user,
                  const char *name, const char *suffix) {
  size_t size = strlen("pit_") + strlen(name) + strlen(suffix) + 1;
  char *symbol = malloc(size);
  if (!symbol)
    return NULL;
  snprintf(symbol, size, "pit_%s%s", name, suffix);
  void *address = lookup(user, symbol);
  free(symbol);
  return address;
}

static pit_status load_entry(pit_context *context,
                             void *(*lookup)(void *user, const char *symbol),
                             void *user, const char *name, pit_entry *entry) {
  entry->name = name;
  // ISO C has no conversion from an object pointer to a function pointer; POSIX
  // promises that the bits are the same.
  void *function = find(lookup, user, name, "");
  memcpy(&entry->function, &function, sizeof(function));
  entry->manifest = find(lookup, user, name, "_manifest");
  if (!function || !entry->manifest)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "the program lists '%s' but has no symbol pit_%s%s", name,
                    name, function ? "_manifest" : "");
  return pit_manifest_check(context, entry->manifest);
}

static pit_status load(pit_context *context,
                       void *(*lookup)(void *user, const char *symbol),
                       void *user, pit_program *program) {
  const char *names = lookup(user, "pit_program_entries");
  if (!names)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "not a program of pit: no symbol pit_program_entries");
  const char *features = lookup(user, "pit_program_features");
  pit_status status = features ? pit_cpu_check(context, features) : PIT_OK;
  if (status != PIT_OK)
    return status;
  size_t count = 0;
  for (const char *name = names; *name; name += strlen(name) + 1)
    ++count;
  program->entries = calloc(count ? count : 1, sizeof(*program->entries));
  if (!program->entries || count > INT32_MAX)
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for a program of %zu entries", count);
  for (const char *name = names; *name; name += strlen(name) + 1) {
    pit_entry *entry = &program->entries[program->num_entries++];
    entry->program = program;
    status = load_entry(context, lookup, user, name, entry);
    if (status != PIT_OK)
      return status;
  }
  return PIT_OK;
}

pit_status pit_program_from_lookup(
    pit_context *context, void *(*lookup)(void *user, const char *symbol),
    void *user, void (*close)(void *user), pit_program **program) {
  pit_program *made = lookup && program ? calloc(1, sizeof(*made)) : NULL;
  pit_status status = PIT_OK;
  if (!lookup || !program)
    status = pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "program: an argument is NULL");
  else if (!made)
    status = pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                      "out of memory for a program");
  if (status != PIT_OK) {
    if (close)
      close(user);
    return status;
  }
  made->references = 1;
  made->user = user;
  made->close = close;
  status = load(context, lookup, user, made);
  if (status != PIT_OK) {
    pit_program_close(made);
    return status;
  }
  *program = made;
  return PIT_OK;
}

static void *library_lookup(void *library, const char *symbol) {
  return dlsym(library, symbol);
}

static void library_close(void *library) { dlclose(library); }

/// Another name of the file at `path`, which begins with a folder: slashes and
/// dots before its last part that number this version of the file. NULL if out
/// of memory.
static char *name_version(const char *path) {
  struct stat file = {0};
  (void)stat(path, &file); // what is missing, dlopen reports
  uint64_t number = (uint64_t)file.st_ino * 0x9E3779B97F4A7C15u ^
                    (uint64_t)file.st_ctim.tv_sec * 1000000000u ^
                    (uint64_t)file.st_ctim.tv_nsec;
  size_t folder = (size_t)(strrchr(path, '/') - path) + 1;
  char *name = malloc(strlen(path) + 2 * 64 + 1);
  if (!name)
    return NULL;
  memcpy(name, path, folder);
  char *at = name + folder;
  for (int bit = 0; bit < 64; ++bit) {
    if (number >> bit & 1)
      *at++ = '.';
    *at++ = '/';
  }
  memcpy(at, path + folder, strlen(path + folder) + 1);
  return name;
}

/// Loads the library at `path`, which begins with a folder. The loader takes a
/// name that it knows for the library that it has of that name, even if the
/// file was replaced since; of a name that it does not know it looks at the
/// file.
static void *open_library(const char *path) {
  void *known = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (!known)
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  dlclose(known);
  char *name = name_version(path);
  void *library = name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
  free(name);
  return library;
}

const char *pit_rt_explain_missing(const char *message) {
  if (!message || !strstr(message, "__asan_"))
    return "";
  return "; the program was compiled with sanitize=address: the process needs "
         "AddressSanitizer, by -fsanitize=address of what starts it or by "
         "LD_PRELOAD of clang's libclang_rt.asan";
}

pit_status pit_program_open(pit_context *context, const char *path,
                            pit_program **program) {
  if (!path || !program)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "program: an argument is NULL");
  // The loader takes a name without a slash for one of its search path.
  char *file = NULL;
  if (!strchr(path, '/')) {
    size_t size = strlen("./") + strlen(path) + 1;
    file = malloc(size);
    if (!file)
      return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                      "out of memory for the name of a program");
    snprintf(file, size, "./%s", path);
  }
  void *library = open_library(file ? file : path);
  free(file);
  if (!library) {
    const char *why = dlerror();
    return pit_fail(context, PIT_ERROR_LOAD, "cannot load '%s': %s%s", path,
                    why ? why : "no reason given", pit_rt_explain_missing(why));
  }
  return pit_program_from_lookup(context, library_lookup, library,
                                 library_close, program);
}

pit_program *pit_program_retain(pit_program *program) {
  if (program)
    atomic_fetch_add_explicit(&program->references, 1, memory_order_relaxed);
  return program;
}

void pit_program_close(pit_program *program) {
  // The last one has to see what the others did before they let go.
  if (!program || atomic_fetch_sub_explicit(&program->references, 1,
                                            memory_order_acq_rel) > 1)
    return;
  free(program->entries);
  if (program->close)
    program->close(program->user);
  free(program);
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

int32_t pit_program_num_entries(const pit_program *program) {
  return program ? program->num_entries : 0;
}

const pit_entry *pit_program_entry_at(const pit_program *program, int32_t i) {
  return program && i >= 0 && i < program->num_entries ? &program->entries[i]
                                                       : NULL;
}

pit_status pit_program_entry(pit_context *context, const pit_program *program,
                             const char *name, const pit_entry **entry) {
  if (!program || !name || !entry)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "program entry: an argument is NULL");
  char known[256] = "";
  size_t used = 0;
  for (int32_t i = 0; i < program->num_entries; ++i) {
    const pit_entry *candidate = &program->entries[i];
    if (strcmp(candidate->name, name) == 0) {
      *entry = candidate;
      return PIT_OK;
    }
    if (used < sizeof(known))
      used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                               i ? ", " : "", candidate->name);
  }
  return pit_fail(context, PIT_ERROR_NOT_FOUND,
                  "the program has no entry '%s'; it has: %s", name,
                  program->num_entries ? known : "none");
}

const char *pit_entry_name(const pit_entry *entry) {
  return entry ? entry->name : "";
}

int32_t pit_entry_num_args(const pit_entry *entry) {
  return entry ? entry->manifest->num_args : 0;
}

int32_t pit_entry_num_results(const pit_entry *entry) {
  return entry ? entry->manifest->num_results : 0;
}

int64_t pit_entry_workspace(const pit_entry *entry) {
  return entry ? entry->manifest->workspace : 0;
}

int32_t pit_entry_device(const pit_entry *entry) {
  return entry ? entry->manifest->device : 0;
}

bool pit_entry_arg(const pit_entry *entry, int32_t arg, pit_arg_info *info) {
  if (!entry || !info || arg < 0 || arg >= entry->manifest->num_args)
    return false;
  *info = entry->manifest->values[arg];
  return true;
}

bool pit_entry_result(const pit_entry *entry, int32_t result,
                      pit_arg_info *info) {
  if (!entry || !info || result < 0 || result >= entry->manifest->num_results)
    return false;
  *info = entry->manifest->values[entry->manifest->num_args + result];
  return true;
}

static pit_status check_count(pit_context *context, const pit_entry *entry,
                              const char *what, int32_t is, int32_t wanted) {
  return is == wanted ? PIT_OK
                      : pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                                 "'%s' takes %d %s, not %d", entry->name,
                                 wanted, what, is);
}

pit_status pit_entry_result_shape(pit_context *context, const pit_entry *entry,
                                  const pit_value *ins, int32_t num_ins,
                                  int32_t result, int64_t *shape) {
  if (!entry || !shape)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "result shape: an argument is NULL");
  const pit_manifest *manifest = entry->manifest;
  if (result < 0 || result >= manifest->num_results)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "'%s' has no result %d; it has %d", entry->name, result,
                    manifest->num_results);
  pit_status status =
      check_count(context, entry, "arguments", num_ins, manifest->num_args);
  if (status == PIT_OK && num_ins > 0 && !ins)
    status = pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "the list of arguments of '%s' is NULL", entry->name);
  if (status == PIT_OK)
    status = pit_enter_shapes(context, manifest, ins);
  const pit_shape_program *sizes = manifest->sizes;
  const pit_arg_info *results = manifest->values + manifest->num_args;
  for (int32_t i = 0; i < result; ++i)
    for (int32_t d = 0; d < results[i].rank; ++d)
      sizes += results[i].dims[d] < 0;
  return status == PIT_OK ? pit_manifest_result(context, manifest, ins, result,
                                                &sizes, shape)
                          : status;
}

pit_status pit_entry_run(pit_context *context, const pit_entry *entry,
                         const pit_value *ins, int32_t num_ins,
                         DLTensor *const *outs, int32_t num_outs,
                         pit_stream stream) {
  if (!context || !entry)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "run: an argument is NULL");
  pit_status status = check_count(context, entry, "arguments", num_ins,
                                  entry->manifest->num_args);
  if (status == PIT_OK)
    status = check_count(context, entry, "results", num_outs,
                         entry->manifest->num_results);
  if (status != PIT_OK)
    return status;
  // The code stays until it has returned, also if it closes its own program.
  pit_program *program = pit_program_retain(entry->program);
  status = (pit_status)entry->function(context, ins, outs, stream);
  pit_program_close(program);
  return status;
}

int32_t pit_entry_choices(pit_context *context, const pit_entry *entry,
                          pit_choice *choices, int32_t max) {
  return context && entry ? pit_choices_list(context, entry->manifest, choices,
                                             choices ? max : 0)
                          : 0;
}
