//===- device.c - A context on a GPU --------------------------------------===//
//
// device [ordinal [library]]: makes a context for CUDA programs, or says why
// there is none.
//
//===----------------------------------------------------------------------===//

#include "pit-runtime/Runtime.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  char message[512];
  pit_context_options options = {
      .device_type = kDLCUDA,
      .device_id = argc > 1 ? (int32_t)strtol(argv[1], NULL, 10) : 0,
      .cuda_library = argc > 2 ? argv[2] : NULL,
      .message = message,
      .message_size = sizeof(message)};
  pit_context *context = NULL;
  if (pit_context_create(&options, &context) != PIT_OK) {
    printf("refused: %s\n", message);
    return 0;
  }
  printf("device %d: ready\n", options.device_id);
  pit_context_destroy(context);
  return 0;
}
