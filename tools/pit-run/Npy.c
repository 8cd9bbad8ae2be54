//===- Npy.c - Arrays in .npy files ---------------------------------------===//

#include "Npy.h"
#include "Support/Npy.h"
#include "Tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool npy_parse(const char *path, const char *data, size_t size,
               DLDataType wanted, tensor *t) {
  pit_npy npy;
  char message[PIT_NPY_MESSAGE_SIZE];
  if (!pit_npy_parse(data, size, wanted, &npy, message)) {
    tool_error("'%s' %s", path, message);
    return false;
  }
  if (!tensor_init(t, npy.dtype, npy.rank, npy.shape))
    return false;
  memcpy(t->dl.data, npy.data, npy.bytes);
  return true;
}

bool npy_read(const char *path, DLDataType wanted, tensor *t) {
  char *data;
  size_t size;
  if (!tool_read_file(path, &data, &size))
    return false;
  bool ok = npy_parse(path, data, size, wanted, t);
  free(data);
  return ok;
}

bool npy_write(const char *path, const tensor *t) {
  const char *descr = pit_npy_descr(t->dl.dtype);
  // A header of version 1, padded with spaces so that the data begins at a
  // multiple of 64.
  char head[512];
  char order = descr[0] == 'V' || descr[1] == '1' ? '|' : '<';
  int length = snprintf(head + 10, sizeof(head) - 10,
                        "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                        order, descr);
  for (int32_t d = 0; d < t->dl.ndim; ++d)
    length += snprintf(head + 10 + length, sizeof(head) - 10 - (size_t)length,
                       "%lld,%s", (long long)t->shape[d],
                       d + 1 < t->dl.ndim ? " " : "");
  length +=
      snprintf(head + 10 + length, sizeof(head) - 10 - (size_t)length, "), }");
  size_t total = ((size_t)length + 10 + 1 + 63) / 64 * 64;
  memset(head + 10 + length, ' ', total - 10 - (size_t)length);
  head[total - 1] = '\n';
  memcpy(head, "\x93NUMPY\x01\x00", 8);
  head[8] = (char)((total - 10) & 0xFF);
  head[9] = (char)((total - 10) >> 8);

  FILE *file = fopen(path, "wb");
  size_t bytes = tensor_bytes(t);
  bool ok = file && fwrite(head, 1, total, file) == total &&
            fwrite(t->dl.data, 1, bytes, file) == bytes;
  if (file && fclose(file) != 0)
    ok = false;
  if (!ok) {
    tool_error("cannot write '%s': %s", path, strerror(errno));
    if (file)
      remove(path);
  }
  return ok;
}
