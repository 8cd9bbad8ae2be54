//===- Fuzz.h - What the fuzz targets share -------------------------------===//
//
// Each target is a libFuzzer program (LLVMFuzzerTestOneInput). `TARGET
// --seeds=FOLDER` writes its first inputs into a folder that exists.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_FUZZ_FUZZ_H
#define PIT_TEST_FUZZ_FUZZ_H

#include "pit-runtime/Abi.h"
#include "pit-runtime/Runtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Ends the process with a message if a condition that must hold does not.
#define FUZZ_CHECK(condition)                                                  \
  ((condition) ? (void)0 : fuzz_failed(#condition, __FILE__, __LINE__))
_Noreturn void fuzz_failed(const char *condition, const char *file, int line);

/// Writes the seeds of this target; each target defines it.
void fuzz_write_seeds(void);
/// Adds a seed.
void fuzz_seed(const void *data, size_t size);

/// An input, taken from the front. After its end it is zeros.
typedef struct fuzz_input {
  const uint8_t *at;
  size_t left;
} fuzz_input;

uint8_t fuzz_byte(fuzz_input *input);
/// Any word of 8 bytes.
int64_t fuzz_word(fuzz_input *input);
/// A small number, one at the border of some type, or any word.
int64_t fuzz_number(fuzz_input *input);
/// Memory of exactly `size` bytes, filled from the input; ends the process if
/// there is none. To be freed.
void *fuzz_memory(fuzz_input *input, size_t size);

/// A tensor and what it points to.
typedef struct fuzz_tensor {
  DLTensor dl;
  int64_t shape[PIT_MAX_RANK + 1], strides[PIT_MAX_RANK + 1];
  void *memory; ///< of the elements, exactly as large as they need
} fuzz_tensor;

/// Draws a tensor. Where it has elements and says so truly, they are there to
/// be read, and at most MAX_FUZZ_ELEMENTS.
enum { MAX_FUZZ_ELEMENTS = 1 << 12 };
void fuzz_draw_tensor(fuzz_input *input, fuzz_tensor *t);
void fuzz_free_tensor(fuzz_tensor *t);

/// Draws what an index is about.
void fuzz_draw_spec(fuzz_input *input, pit_index_spec *spec);
/// Checks an index that the runtime has accepted by reading all of it.
void fuzz_check_index(const pit_index *index);

/// A context that lives as long as the process.
pit_context *fuzz_context(void);
/// Checks that a failure left one line, and that success is 0.
void fuzz_check_status(pit_context *context, pit_status status);
/// Checks that a call succeeded.
void fuzz_expect_ok(pit_context *context, pit_status status);

#endif // PIT_TEST_FUZZ_FUZZ_H
