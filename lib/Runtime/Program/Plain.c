//===- Plain.c - Calls of functions that have no context ------------------===//
//
// A function that another compiler calls as any other, with memrefs and no
// context, takes the memory of its calls from a context that belongs to its
// module. It has no way to return a status either.
//
//===----------------------------------------------------------------------===//

#include "Frame.h"

#include "pit-runtime/Abi.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void die(const char *message) {
  fprintf(stderr, "pit: error: %s\n", message);
  abort();
}

/// The module's context, which the first call makes. Threads that come at the
/// same time all make one, and take that of the first.
static pit_context *get_context(void **module) {
  _Atomic(void *) *slot = (_Atomic(void *) *)module;
  void *context = atomic_load_explicit(slot, memory_order_acquire);
  if (context)
    return context;
  pit_context *made;
  if (pit_context_create(NULL, &made) != PIT_OK)
    die("out of memory for a context");
  if (atomic_compare_exchange_strong(slot, &context, made))
    return made;
  pit_context_destroy(made);
  return context;
}

pit_frame *pit_rt_open(void **module, const void *function) {
  pit_context *context = get_context(module);
  pit_frame *frame;
  pit_rt_expect(NULL, pit_frame_acquire(context, &frame));
  frame->manifest = function; // an address of its own, as a manifest has
  pit_context_retain(context);
  return frame;
}

void pit_rt_expect(pit_frame *frame, int32_t status) {
  if (status == PIT_OK)
    return;
  char message[512];
  if (!frame ||
      pit_context_message(frame->context, message, sizeof(message)) == 0)
    snprintf(message, sizeof(message), "%s", pit_status_string(status));
  die(message);
}
