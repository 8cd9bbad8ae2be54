//===- Machine.c - What the machine can do --------------------------------===//

#include "Machine.h"

#ifdef __x86_64__
#include <immintrin.h>
#include <sys/syscall.h>
#endif
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double seconds_now(void) { return seconds_of(CLOCK_MONOTONIC); }

double seconds_of_thread(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

/// Operations of one thread's part of a probe.
typedef double (*probe)(int64_t steps);

// Two units and four cycles of latency want eight sums; twelve are enough. The
// empty statement hides that the factors do not change.
#define FMA_PROBE(name, isa, constraint, scalar, bytes)                        \
  __attribute__((target(isa))) static double name(int64_t steps) {             \
    typedef scalar vector __attribute__((vector_size(bytes)));                 \
    vector sums[12], x, y;                                                     \
    memset(sums, 0, sizeof(sums));                                             \
    for (size_t i = 0; i < bytes / sizeof(scalar); ++i) {                      \
      x[i] = (scalar)0.5;                                                      \
      y[i] = (scalar)1;                                                        \
    }                                                                          \
    for (int64_t s = 0; s < steps; ++s) {                                      \
      __asm__ volatile("" : "+" constraint(x), "+" constraint(y));             \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < 12; ++i)          \
          sums[i] = sums[i] * x + y;                                           \
    }                                                                          \
    for (int i = 0; i < 12; ++i)                                               \
      __asm__ volatile("" : "+" constraint(sums[i]));                          \
    return (double)steps * 12 * 2 * bytes / sizeof(scalar);                    \
  }

#ifdef __x86_64__
FMA_PROBE(fma_f32_512, "avx512f", "v", float, 64)
FMA_PROBE(fma_f64_512, "avx512f", "v", double, 64)
FMA_PROBE(fma_f32_256, "avx2,fma", "x", float, 32)
FMA_PROBE(fma_f64_256, "avx2,fma", "x", double, 32)
FMA_PROBE(fma_f32, "sse2", "x", float, 16)
FMA_PROBE(fma_f64, "sse2", "x", double, 16)

__attribute__((target("avx512f,avx512vnni"))) static double
dot_i8_512(int64_t steps) {
  typedef int vector __attribute__((vector_size(64)));
  vector sums[12], x, y;
  memset(sums, 0, sizeof(sums));
  memset(&x, 1, sizeof(x));
  memset(&y, 1, sizeof(y));
  for (int64_t s = 0; s < steps; ++s)
    _Pragma("clang loop unroll(full)") for (
        int i = 0; i < 12; ++i) __asm__ volatile("vpdpbusd %2, %1, %0" :
                                                 "+v"(sums[i]) : "v"(x),
                                                 "v"(y));
  return (double)steps * 12 * 2 * 64;
}

/// The instructions on tiles of 16 rows of 64 bytes: four products that do not
/// wait for each other.
#define TILE_PROBE(name, isa, instruction, depth)                              \
  __attribute__((target(isa))) static double name(int64_t steps) {             \
    struct {                                                                   \
      uint8_t palette, start, reserved[14];                                    \
      uint16_t bytes[16];                                                      \
      uint8_t rows[16];                                                        \
    } config = {.palette = 1};                                                 \
    for (int i = 0; i < 8; ++i) {                                              \
      config.bytes[i] = 64;                                                    \
      config.rows[i] = 16;                                                     \
    }                                                                          \
    _tile_loadconfig(&config); /* all tiles are 0 */                           \
    for (int64_t s = 0; s < steps / 16; ++s) {                                 \
      instruction(0, 4, 6);                                                    \
      instruction(1, 4, 7);                                                    \
      instruction(2, 5, 6);                                                    \
      instruction(3, 5, 7);                                                    \
    }                                                                          \
    _tile_release();                                                           \
    return (double)(steps / 16) * 4 * 2 * 16 * 16 * (depth);                   \
  }
TILE_PROBE(tile_bf16, "amx-tile,amx-bf16", _tile_dpbf16ps, 32)
TILE_PROBE(tile_i8, "amx-tile,amx-int8", _tile_dpbssd, 64)

/// Asks the system for the tiles' registers, which a process has to.
static bool has_tiles(void) {
  enum { REQUEST = 0x1023, TILE_DATA = 18 };
  return syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
}

static probe find_probe(DLDataType type) {
  bool wide = __builtin_cpu_supports("avx512f");
  bool fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool bytes = !dtype_is_float(type) && type.bits == 8;
  if (bytes && __builtin_cpu_supports("amx-int8") && has_tiles())
    return tile_i8;
  if (type.code == PIT_DTYPE_BFLOAT && __builtin_cpu_supports("amx-bf16") &&
      has_tiles())
    return tile_bf16;
  if (bytes && __builtin_cpu_supports("avx512vnni"))
    return dot_i8_512;
  if (dtype_is_float(type) && type.bits == 64)
    return wide ? fma_f64_512 : fma ? fma_f64_256 : fma_f64;
  return wide ? fma_f32_512 : fma ? fma_f32_256 : fma_f32;
}
#else
static double fma_plain(int64_t steps) {
  float sums[12] = {0}, x = 0.5F, y = 1;
  for (int64_t s = 0; s < steps; ++s) {
    __asm__ volatile("" : "+m"(x), "+m"(y));
    for (int i = 0; i < 12; ++i)
      sums[i] = sums[i] * x + y;
  }
  __asm__ volatile("" : "+m"(sums));
  return (double)steps * 12 * 2;
}

static probe find_probe(DLDataType type) {
  (void)type;
  return fma_plain;
}
#endif

double machine_operations(DLDataType type, int32_t threads, bool cpu_time) {
  probe probe = find_probe(type);
  double (*now)(void) = cpu_time ? seconds_of_thread : seconds_now;
  double operations = 0, start = now();
#pragma omp parallel num_threads(threads) reduction(+ : operations)
  operations += probe(500000);
  return operations / (now() - start);
}

double machine_bandwidth(int32_t threads, bool cpu_time) {
  double (*now)(void) = cpu_time ? seconds_of_thread : seconds_now;
  int64_t count = (int64_t)16 << 20; // 128 MiB
  uint64_t *memory = malloc((size_t)count * sizeof(*memory)), sum = 0;
  if (!memory)
    return 0;
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < count; ++i)
    memory[i] = (uint64_t)i;
  double best = 0;
  for (int run = 0; run < 4; ++run) {
    double start = now();
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (int64_t i = 0; i < count; ++i)
      sum += memory[i];
    double rate = (double)count * sizeof(*memory) / (now() - start);
    best = rate > best ? rate : best;
  }
  __asm__ volatile("" : "+r"(sum));
  free(memory);
  return best;
}

const char *machine_name(char buffer[MACHINE_NAME_SIZE]) {
  snprintf(buffer, MACHINE_NAME_SIZE, "unknown processor");
  FILE *file = fopen("/proc/cpuinfo", "r");
  char line[256];
  while (file && fgets(line, sizeof(line), file)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon)
      continue;
    colon[1 + strcspn(colon + 1, "\n")] = '\0';
    snprintf(buffer, MACHINE_NAME_SIZE, "%s", colon + 1 + (colon[1] == ' '));
    break;
  }
  if (file)
    fclose(file);
  return buffer;
}
