//===- ArgSpecFuzz.c - Broken descriptions of arguments -------------------===//

#include "ArgSpec.h"
#include "Fuzz.h"
#include "Messages.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

void fuzz_write_seeds(void) {
  static const char *const seeds[] = {
      "zeros(2x3,f32)",
      "zeros(,i64)",
      "full(4,bf16,1.5)",
      "full(0x7,bool,nan)",
      "random(8x6,f16,sparsity=0.5,micro=2x*,seed=3,low=-1,high=2)",
      "random(5x2,i32,low=0,high=4)",
      "random(3x3x3,u8,sparsity=1e-1,micro=*x1x2)"};
  for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); ++i)
    fuzz_seed(seeds[i], strlen(seeds[i]));
}

/// Large shapes are sound, but take long.
static bool is_small(const char *text) {
  const char *at = strchr(text, '(');
  unsigned long elements = 1;
  while (at && isdigit((unsigned char)*++at)) {
    char *end;
    unsigned long extent = strtoul(at, &end, 10);
    if (extent > 4096 || (elements *= extent ? extent : 1) > 4096)
      return false;
    at = *end == 'x' ? end : NULL;
  }
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  FUZZ_CHECK(text);
  for (size_t i = 0; i < size; ++i)
    text[i] = iscntrl(data[i]) ? ' ' : (char)data[i];
  text[size] = '\0';
  tensor t;
  messages_clear();
  if (argspec_is(text) && is_small(text)) {
    bool ok = argspec_make(text, &t);
    messages_check(ok);
    if (ok) {
      int64_t count = tensor_count(&t);
      for (int64_t i = 0; i < count; ++i)
        (void)tensor_get(&t, i);
      tensor_free(&t);
    }
  }
  free(text);
  return 0;
}
