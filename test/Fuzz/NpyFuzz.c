//===- NpyFuzz.c - Broken .npy files --------------------------------------===//
//
// The first byte says which element type is wanted; the rest is the file.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Messages.h"
#include "Npy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seed(int major, const char *header, size_t bytes) {
  char file[512] = "?\x93NUMPY";
  size_t length = strlen(header), begin = major == 1 ? 11 : 13;
  file[7] = (char)major;
  file[9] = (char)length;
  memcpy(file + begin, header, length);
  memset(file + begin + length, 0x3F, bytes);
  fuzz_seed(file, begin + length + bytes);
}

void fuzz_write_seeds(void) {
  seed(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24);
  seed(2, "{'descr': '|b1', 'fortran_order': True, 'shape': (5,), }\n", 5);
  seed(3, "{\"shape\": (), 'descr': '|V2', 'fortran_order': False}", 2);
  seed(1, "{'descr': '>i8', 'fortran_order': False, 'shape': (0, 9), }", 0);
  seed(1, "{'descr': '|V1', 'fortran_order': False, 'shape': (3,), }", 3);
  seed(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (4,), }", 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input input = {data, size};
  uint8_t code = fuzz_byte(&input) % 16;
  DLDataType wanted = {code, code < 8 ? 16 : 8, 1};
  // Of exactly this size, so that reading past its end is seen.
  size_t length = input.left;
  char *file = fuzz_memory(&input, length);
  tensor t;
  messages_clear();
  bool ok = npy_parse("file", file, length, wanted, &t);
  messages_check(ok);
  if (ok) {
    FUZZ_CHECK(tensor_bytes(&t) <= length);
    int64_t count = tensor_count(&t);
    for (int64_t i = 0; i < count; ++i)
      (void)tensor_get(&t, i);
    tensor_free(&t);
  }
  free(file);
  return 0;
}
