//===- Amx.c - Leave to use tile registers --------------------------------===//

#include "Frame.h"

#include "pit-runtime/Abi.h"

#include <errno.h>
#include <string.h>

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>

// From asm/prctl.h, and the number of the registers' part of the processor
// state.
enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };

/// The kernel gives processes room for the registers when they ask for it. All
/// threads get it, and asking again is a matter of a tenth of a microsecond.
static int request(void) {
  return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) ? errno : 0;
}
#else
static int request(void) { return ENOSYS; }
#endif

int32_t pit_rt_request_amx(pit_frame *frame) {
  int error = request();
  if (!error)
    return PIT_OK;
  return pit_fail(frame ? frame->context : NULL, PIT_ERROR_UNSUPPORTED,
                  "the program was compiled for AMX, which %s (%s); compile "
                  "it with the features -amx-bf16,-amx-int8",
                  error == EPERM ? "the system does not let this process use"
                                 : "this machine does not have",
                  strerror(error));
}
