//===- CpuFeatures.c - What a program needs of the CPU --------------------===//
//
// The compiler may use every instruction of the CPU that it compiles for, and
// another one stops at those that it lacks. So a program lists the features
// that it was compiled with, by LLVM's names, and is not loaded without them.
// The list has features that the compiler uses on its own; AMX is none of
// them: programs ask for it when they run (pit_rt_request_amx).
//
//===----------------------------------------------------------------------===//

#include "CpuFeatures.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/// The place of a feature in CPUID: leaf, subleaf, and one of its registers.
enum {
  LEAF_1_C,
  LEAF_1_D,
  LEAF_7_B,
  LEAF_7_C,
  LEAF_7_D,
  LEAF_7_1_A,
  LEAF_7_1_D,
  LEAF_EXT_C,
  LEAF_AVX10, ///< bit n: version n and those before it
  NUM_PLACES
};

/// Registers that the system has to save for a feature, as XCR0 has them.
enum { NONE = 0, YMM = 0x6, ZMM = 0xE6, APX = 0x80000 };

typedef struct feature {
  const char *name;
  uint8_t place, bit;
  uint32_t registers;
} feature;

static const feature features[] = {
    {"cmov", LEAF_1_D, 15, NONE},
    {"cx8", LEAF_1_D, 8, NONE},
    {"mmx", LEAF_1_D, 23, NONE},
    {"sse", LEAF_1_D, 25, NONE},
    {"sse2", LEAF_1_D, 26, NONE},
    {"sse3", LEAF_1_C, 0, NONE},
    {"ssse3", LEAF_1_C, 9, NONE},
    {"fma", LEAF_1_C, 12, YMM},
    {"cx16", LEAF_1_C, 13, NONE},
    {"sse4.1", LEAF_1_C, 19, NONE},
    {"sse4.2", LEAF_1_C, 20, NONE},
    {"movbe", LEAF_1_C, 22, NONE},
    {"popcnt", LEAF_1_C, 23, NONE},
    {"avx", LEAF_1_C, 28, YMM},
    {"f16c", LEAF_1_C, 29, YMM},
    {"bmi", LEAF_7_B, 3, NONE},
    {"avx2", LEAF_7_B, 5, YMM},
    {"bmi2", LEAF_7_B, 8, NONE},
    {"avx512f", LEAF_7_B, 16, ZMM},
    {"avx512dq", LEAF_7_B, 17, ZMM},
    {"adx", LEAF_7_B, 19, NONE},
    {"avx512ifma", LEAF_7_B, 21, ZMM},
    {"avx512cd", LEAF_7_B, 28, ZMM},
    {"avx512bw", LEAF_7_B, 30, ZMM},
    {"avx512vl", LEAF_7_B, 31, ZMM},
    {"avx512vbmi", LEAF_7_C, 1, ZMM},
    {"avx512vbmi2", LEAF_7_C, 6, ZMM},
    {"gfni", LEAF_7_C, 8, NONE},
    {"avx512vnni", LEAF_7_C, 11, ZMM},
    {"avx512bitalg", LEAF_7_C, 12, ZMM},
    {"avx512vpopcntdq", LEAF_7_C, 14, ZMM},
    {"avx512vp2intersect", LEAF_7_D, 8, ZMM},
    {"avx512fp16", LEAF_7_D, 23, ZMM},
    {"raoint", LEAF_7_1_A, 3, NONE},
    {"avxvnni", LEAF_7_1_A, 4, YMM},
    {"avx512bf16", LEAF_7_1_A, 5, ZMM},
    {"cmpccxadd", LEAF_7_1_A, 7, NONE},
    {"avxifma", LEAF_7_1_A, 23, YMM},
    {"avxvnniint8", LEAF_7_1_D, 4, YMM},
    {"avxneconvert", LEAF_7_1_D, 5, YMM},
    {"avxvnniint16", LEAF_7_1_D, 10, YMM},
    {"egpr", LEAF_7_1_D, 21, APX},
    {"push2pop2", LEAF_7_1_D, 21, APX},
    {"ppx", LEAF_7_1_D, 21, APX},
    {"ndd", LEAF_7_1_D, 21, APX},
    {"ccmp", LEAF_7_1_D, 21, APX},
    {"nf", LEAF_7_1_D, 21, APX},
    {"cf", LEAF_7_1_D, 21, APX},
    {"zu", LEAF_7_1_D, 21, APX},
    {"sahf", LEAF_EXT_C, 0, NONE},
    {"lzcnt", LEAF_EXT_C, 5, NONE},
    {"sse4a", LEAF_EXT_C, 6, NONE},
    {"xop", LEAF_EXT_C, 11, YMM},
    {"fma4", LEAF_EXT_C, 16, YMM},
    {"tbm", LEAF_EXT_C, 21, NONE},
    {"avx10.1", LEAF_AVX10, 1, ZMM},
    {"avx10.2", LEAF_AVX10, 2, ZMM},
};

/// The registers of CPUID on this machine.
typedef struct machine {
  uint32_t places[NUM_PLACES];
  uint64_t registers;
} machine;

static uint64_t saved_registers(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | (uint64_t)high << 32;
}

static machine read_machine(void) {
  machine m = {{0}, 0};
  uint32_t a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    m.places[LEAF_1_C] = c;
    m.places[LEAF_1_D] = d;
    const uint32_t osxsave = UINT32_C(1) << 27;
    if (c & osxsave)
      m.registers = saved_registers();
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    m.places[LEAF_7_B] = b;
    m.places[LEAF_7_C] = c;
    m.places[LEAF_7_D] = d;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) {
      m.places[LEAF_7_1_A] = a;
      m.places[LEAF_7_1_D] = d;
    }
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d))
    m.places[LEAF_EXT_C] = c;
  const uint32_t avx10 = UINT32_C(1) << 19;
  if ((m.places[LEAF_7_1_D] & avx10) &&
      __get_cpuid_count(0x24, 0, &a, &b, &c, &d)) {
    uint32_t version = b & 0xFF;
    m.places[LEAF_AVX10] =
        version < 31 ? (UINT32_C(2) << version) - 1 : UINT32_MAX;
  }
  return m;
}

static const feature *find(const char *name) {
  for (size_t i = 0; i < sizeof(features) / sizeof(*features); ++i)
    if (strcmp(features[i].name, name) == 0)
      return &features[i];
  return NULL;
}

static bool is_there(const machine *m, const char *name) {
  const feature *f = find(name);
  return f && (m->places[f->place] >> f->bit & 1) &&
         (m->registers & f->registers) == f->registers;
}

#else
// No compiler lists any; a program that does was made for another machine.
typedef int machine;
static machine read_machine(void) { return 0; }
static const void *find(const char *name) {
  (void)name;
  return NULL;
}
static bool is_there(const machine *m, const char *name) {
  (void)m, (void)name;
  return false;
}
#endif

int32_t pit_rt_lists_cpu_feature(const char *name) {
  return name && find(name) != NULL;
}

pit_status pit_cpu_check(pit_context *context, const char *names) {
  machine m = read_machine();
  char missing[256] = "";
  size_t used = 0;
  for (const char *name = names; *name; name += strlen(name) + 1)
    if (!is_there(&m, name) && used < sizeof(missing))
      used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%s",
                               used ? ", " : "", name);
  if (!used)
    return PIT_OK;
  return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                  "the program was compiled for a CPU with features that this "
                  "one does not have, as far as the runtime knows: %s; compile "
                  "it for this CPU (--cpu)",
                  missing);
}
