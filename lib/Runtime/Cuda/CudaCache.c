//===- CudaCache.c - Compiled device code on disk -------------------------===//
//
// One file per key: a header with the SHA-256 of what follows, so that a file
// that is cut or damaged is seen, and the data. Files are written under another
// name and renamed: readers see all of one or none.
//
//===----------------------------------------------------------------------===//

#include "Core/Sha256.h"
#include "CudaContext.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct file_header {
  char magic[8];
  uint64_t size; ///< of the data
  uint8_t digest[PIT_SHA256_SIZE];
} file_header;

static const char magic[8] = "PITCUB1";

enum { MAX_SIZE = 1 << 30 }; ///< no cubin is that large

/// Joins two paths; the caller frees the result. NULL: out of memory.
static char *join(const char *folder, const char *name) {
  size_t size = strlen(folder) + strlen(name) + 2;
  char *path = malloc(size);
  if (path)
    snprintf(path, size, "%s/%s", folder, name);
  return path;
}

/// Makes a folder and those that it is in.
static bool make_folder(char *path) {
  for (char *at = path + 1; *at; ++at)
    if (*at == '/') {
      *at = '\0';
      bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
      *at = '/';
      if (!made)
        return false;
    }
  return mkdir(path, 0777) == 0 || errno == EEXIST;
}

char *pit_cuda_cache_folder(const char *option) {
  char *folder = NULL;
  const char *given = option ? option : getenv("PIT_CACHE_DIR");
  const char *xdg = getenv("XDG_CACHE_HOME");
  const char *home = getenv("HOME");
  if (given)
    folder = *given ? strdup(given) : NULL;
  else if (xdg && *xdg)
    folder = join(xdg, "pit");
  else if (home && *home)
    folder = join(home, ".cache/pit");
  if (folder && make_folder(folder))
    return folder;
  free(folder);
  return NULL;
}

static char *path_of(const char *folder, const uint8_t key[PIT_CUDA_KEY_SIZE]) {
  char name[80];
  size_t at = 0;
  for (int i = 0; i < PIT_CUDA_KEY_SIZE; ++i, at += 2)
    snprintf(name + at, 3, "%02x", key[i]);
  snprintf(name + at, sizeof(name) - at, ".cubin");
  return join(folder, name);
}

static void digest_of(const void *data, size_t size,
                      uint8_t digest[PIT_SHA256_SIZE]) {
  pit_sha256 sha;
  pit_sha256_begin(&sha);
  pit_sha256_add(&sha, data, size);
  pit_sha256_end(&sha, digest);
}

/// Reads the data that a header announces.
static void *read_data(FILE *file, const file_header *header) {
  struct stat about;
  if (memcmp(header->magic, magic, sizeof(magic)) != 0 || header->size == 0 ||
      header->size > MAX_SIZE || fstat(fileno(file), &about) != 0 ||
      (uint64_t)about.st_size != sizeof(*header) + header->size)
    return NULL;
  void *data = malloc(header->size);
  uint8_t digest[PIT_SHA256_SIZE];
  if (data && fread(data, 1, header->size, file) == header->size) {
    digest_of(data, header->size, digest);
    if (memcmp(digest, header->digest, sizeof(digest)) == 0)
      return data;
  }
  free(data);
  return NULL;
}

void *pit_cuda_cache_read(const char *folder,
                          const uint8_t key[PIT_CUDA_KEY_SIZE], size_t *size) {
  char *path = folder ? path_of(folder, key) : NULL;
  FILE *file = path ? fopen(path, "rbe") : NULL;
  free(path);
  if (!file)
    return NULL;
  file_header header;
  void *data = NULL;
  if (fread(&header, sizeof(header), 1, file) == 1)
    data = read_data(file, &header);
  (void)fclose(file);
  if (data)
    *size = header.size;
  return data;
}

void pit_cuda_cache_write(const char *folder,
                          const uint8_t key[PIT_CUDA_KEY_SIZE],
                          const void *data, size_t size) {
  char *path = folder ? path_of(folder, key) : NULL;
  char *other = folder ? join(folder, "new-XXXXXX") : NULL;
  int descriptor = path && other ? mkstemp(other) : -1;
  if (descriptor >= 0) {
    file_header header = {.size = size};
    memcpy(header.magic, magic, sizeof(magic));
    digest_of(data, size, header.digest);
    FILE *file = fdopen(descriptor, "wb");
    bool written = file && fwrite(&header, sizeof(header), 1, file) == 1 &&
                   fwrite(data, 1, size, file) == size;
    if (file)
      written = fclose(file) == 0 && written;
    else
      close(descriptor);
    if (!written || rename(other, path) != 0)
      unlink(other);
  }
  free(other);
  free(path);
}
