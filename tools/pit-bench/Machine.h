//===- Machine.h - What the machine can do --------------------------------===//

#ifndef PIT_TOOLS_BENCH_MACHINE_H
#define PIT_TOOLS_BENCH_MACHINE_H

#include "Tensor.h"

/// The time of a clock that only runs.
double seconds_now(void);
/// That of the calling thread's clock, which stands while others run.
double seconds_of_thread(void);

/// Operations a second (2 a multiplication and addition) of independent
/// instructions on registers, on `threads` threads together, for a millisecond
/// or two: of those that the processor has for the type, where bf16 and i8 have
/// AMX and i8 a dot product, and else f32. `cpu_time`: of one thread, by its
/// own clock.
double machine_operations(DLDataType type, int32_t threads, bool cpu_time);

/// Bytes a second of reading memory that no cache holds; 0: not enough of it.
double machine_bandwidth(int32_t threads, bool cpu_time);

enum { MACHINE_NAME_SIZE = 128 };

/// The processor's name, as far as the system tells.
const char *machine_name(char buffer[MACHINE_NAME_SIZE]);

#endif // PIT_TOOLS_BENCH_MACHINE_H
