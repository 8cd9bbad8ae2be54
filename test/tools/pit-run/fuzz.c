//===- fuzz.c - Broken .npy files and argument descriptions ---------------===//
//
// Changes sound inputs at random and parses them; sanitizers watch. What is
// accepted must hold together: as many elements as the shape says. The file's
// own test is fuzz.test.
//
//===----------------------------------------------------------------------===//

#include "ArgSpec.h"
#include "Npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static uint32_t next_random(uint32_t below) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return (uint32_t)(state >> 33) % below;
}

static const DLDataType f32 = {PIT_DTYPE_FLOAT, 32, 1};

/// Reads all of a tensor.
static double sum(const tensor *t) {
  double total = 0;
  int64_t count = tensor_count(t);
  for (int64_t i = 0; i < count; ++i)
    total += tensor_get(t, i);
  return total;
}

/// Replaces, drops, doubles or cuts at a random place. The text has `room`.
static size_t change(char *text, size_t size, size_t room,
                     const char *alphabet) {
  size_t at = size ? next_random((uint32_t)size) : 0;
  char c = alphabet && next_random(4)
               ? alphabet[next_random((uint32_t)strlen(alphabet))]
               : (char)next_random(256);
  switch (next_random(5)) {
  case 0:
    return size ? at : 0;
  case 1:
    if (size == 0)
      return 0;
    memmove(text + at, text + at + 1, size - at - 1);
    return size - 1;
  case 2:
    if (size + 1 >= room)
      return size;
    memmove(text + at + 1, text + at, size - at);
    text[at] = c;
    return size + 1;
  default:
    if (size)
      text[at] = c;
    return size;
  }
}

static int fuzz_npy(int rounds) {
  static const char header[] =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    char file[256] = "\x93NUMPY\x01\x00";
    size_t size = 10 + sizeof(header) - 1;
    file[8] = (char)(sizeof(header) - 1);
    memcpy(file + 10, header, sizeof(header) - 1);
    memset(file + size, 0x3F, 24);
    size += 24;
    for (uint32_t changes = next_random(4); changes > 0; --changes)
      size = change(file, size, sizeof(file), "0123456789(){}',: <>|fiubVTrue");
    // Exactly as large as it is, so that reading past its end is seen.
    char *exact = malloc(size ? size : 1);
    memcpy(exact, file, size);
    tensor t;
    if (npy_parse("fuzz", exact, size, f32, &t)) {
      ++accepted;
      sum(&t);
      tensor_free(&t);
    }
    free(exact);
  }
  return accepted;
}

static int fuzz_argspec(int rounds) {
  static const char *const sound[] = {
      "zeros(2x3,f32)", "full(4,bf16,1.5)",
      "random(8x6,f16,sparsity=0.5,micro=2x*,seed=3,low=-1,high=2)",
      "random(5x2,i32,low=0,high=4)"};
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    char text[128];
    const char *from = sound[next_random(4)];
    size_t size = strlen(from);
    memcpy(text, from, size);
    for (uint32_t changes = next_random(4); changes > 0; --changes)
      size = change(text, size, sizeof(text) - 1, "0123456789x*,=().fib-e");
    text[size] = '\0';
    tensor t;
    // Large shapes are sound, but take long.
    size_t digits = strspn(text + strcspn(text, "0123456789"), "0123456789x");
    if (digits <= 5 && argspec_is(text) && argspec_make(text, &t)) {
      ++accepted;
      sum(&t);
      tensor_free(&t);
    }
  }
  return accepted;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 20000;
  int npy = fuzz_npy(rounds), argspec = fuzz_argspec(rounds);
  printf("accepted %d of %d files and %d of %d descriptions\n", npy, rounds,
         argspec, rounds);
  // About a quarter is not changed at all.
  return npy > rounds / 5 && argspec > rounds / 10 ? 0 : 1;
}
