//===- HalfOps.c - f16 and bf16, and pairs of them ------------------------===//

#include "Half.h"
#include "Lanes.h"

// Sums and products of two are exact in f64, so that one rounding remains.
#define HALF(t)                                                                \
  static uint16_t round_##t(double x) { return emu_to_##t(emu_to_odd(x)); }    \
  static double x_##t(uint16_t a) { return (double)emu_from_##t(a); }          \
  static uint16_t one_add_##t(uint16_t a, uint16_t b) {                        \
    return round_##t(x_##t(a) + x_##t(b));                                     \
  }                                                                            \
  static uint16_t one_sub_##t(uint16_t a, uint16_t b) {                        \
    return round_##t(x_##t(a) - x_##t(b));                                     \
  }                                                                            \
  static uint16_t one_mul_##t(uint16_t a, uint16_t b) {                        \
    return round_##t(x_##t(a) * x_##t(b));                                     \
  }                                                                            \
  static uint16_t one_min_##t(uint16_t a, uint16_t b) {                        \
    return round_##t(emu_min(x_##t(a), x_##t(b)));                             \
  }                                                                            \
  static uint16_t one_max_##t(uint16_t a, uint16_t b) {                        \
    return round_##t(emu_max(x_##t(a), x_##t(b)));                             \
  }                                                                            \
  static uint16_t one_min_nan_##t(uint16_t a, uint16_t b) {                    \
    return round_##t(emu_min_nan(x_##t(a), x_##t(b)));                         \
  }                                                                            \
  static uint16_t one_max_nan_##t(uint16_t a, uint16_t b) {                    \
    return round_##t(emu_max_nan(x_##t(a), x_##t(b)));                         \
  }                                                                            \
  static uint16_t one_fma_##t(uint16_t a, uint16_t b, uint16_t c) {            \
    return round_##t(emu_fma_to_odd(x_##t(a), x_##t(b), x_##t(c)));            \
  }                                                                            \
  BINARY(add, t)                                                               \
  BINARY(sub, t)                                                               \
  BINARY(mul, t)                                                               \
  BINARY(min, t)                                                               \
  BINARY(max, t)                                                               \
  BINARY(min_nan, t)                                                           \
  BINARY(max_nan, t)                                                           \
  EMU_TERNARY(fma_##t, u16, u16, u16, u16, one_fma_##t(a[l], b[l], c[l]))      \
  EMU_TERNARY(fma2_##t, u32, u32, u32, u32,                                    \
              PAIR(one_fma_##t(LOW(a[l]), LOW(b[l]), LOW(c[l])),               \
                   one_fma_##t(HIGH(a[l]), HIGH(b[l]), HIGH(c[l]))))           \
  COMPARE(t, eq, x == y)                                                       \
  COMPARE(t, ne, x<y || x> y)                                                  \
  COMPARE(t, lt, x < y)                                                        \
  COMPARE(t, le, x <= y)                                                       \
  COMPARE(t, gt, x > y)                                                        \
  COMPARE(t, ge, x >= y)                                                       \
  COMPARE(t, equ, !(x < y || x > y))                                           \
  COMPARE(t, neu, x != y)                                                      \
  COMPARE(t, ltu, !(x >= y))                                                   \
  COMPARE(t, leu, !(x > y))                                                    \
  COMPARE(t, gtu, !(x <= y))                                                   \
  COMPARE(t, geu, !(x < y))                                                    \
  COMPARE(t, num, x == x && y == y)                                            \
  COMPARE(t, nan, x != x || y != y)

#define PAIR(low, high) ((uint32_t)(low) | (uint32_t)(high) << 16)
#define LOW(x) (uint16_t)(x)
#define HIGH(x) (uint16_t)((x) >> 16)
#define BINARY(name, t)                                                        \
  EMU_BINARY(name##_##t, u16, u16, u16, one_##name##_##t(a[l], b[l]))          \
  EMU_BINARY(name##2_##t, u32, u32, u32,                                       \
             PAIR(one_##name##_##t(LOW(a[l]), LOW(b[l])),                      \
                  one_##name##_##t(HIGH(a[l]), HIGH(b[l]))))
#define COMPARE(t, name, ...)                                                  \
  static bool is_##name##_##t(uint16_t a, uint16_t b) {                        \
    double x = x_##t(a), y = x_##t(b);                                         \
    return __VA_ARGS__;                                                        \
  }                                                                            \
  EMU_COMPARE(name##_##t, u16, is_##name##_##t(a[l], b[l]))                    \
  EMU_HEAD(name##2_##t) { return compare_pairs(w, i, is_##name##_##t); }

/// A predicate of the low halves, and one of the high ones.
static emu_action compare_pairs(emu_warp *w, const emu_instruction *i,
                                bool (*is)(uint16_t a, uint16_t b)) {
  const emu_u32 *a = EMU_S(u32, 1), *b = EMU_S(u32, 2);
  uint32_t low = 0, high = 0;
  for (uint32_t l = 0; l < EMU_LANES; ++l) {
    low |= (uint32_t)is(LOW(a[l]), LOW(b[l])) << l;
    high |= (uint32_t)is(HIGH(a[l]), HIGH(b[l])) << l;
  }
  emu_set_predicate(w, &i->operands[0], low);
  emu_set_predicate(w, i->operands[0].elements, high);
  return EMU_NEXT;
}

HALF(f16)
HALF(bf16)

EMU_UNARY(neg16, u16, u16, a[l] ^ 0x8000)
EMU_UNARY(abs16, u16, u16, a[l] & 0x7FFF)
EMU_UNARY(neg2, u32, u32, a[l] ^ 0x80008000)
EMU_UNARY(abs2, u32, u32, a[l] & 0x7FFF7FFF)
EMU_UNARY(ex2_f16, u16, u16, emu_to_f16(exp2f(emu_from_f16(a[l]))))
EMU_UNARY(tanh_f16, u16, u16, emu_to_f16(tanhf(emu_from_f16(a[l]))))
EMU_UNARY(ex2_bf16, u16, u16, emu_to_bf16(exp2f(emu_from_bf16(a[l]))))
EMU_UNARY(tanh_bf16, u16, u16, emu_to_bf16(tanhf(emu_from_bf16(a[l]))))

#define TWO(name, t, run)                                                      \
  {name "." #t, "222", run##_##t}, { name "." #t "x2", "444", run##2_##t }
#define SETP(t, name)                                                          \
  {"setp." #name "." #t, "122", name##_##t}, {                                 \
    "setp." #name "." #t "x2", "q44", name##2_##t                              \
  }
#define TYPE(t)                                                                \
  TWO("add.rn", t, add), TWO("add", t, add), TWO("sub.rn", t, sub),            \
      TWO("sub", t, sub), TWO("mul.rn", t, mul), TWO("mul", t, mul),           \
      TWO("min", t, min), TWO("max", t, max), TWO("min.NaN", t, min_nan),      \
      TWO("max.NaN", t, max_nan), {"fma.rn." #t, "2222", fma_##t},             \
      {"fma.rn." #t "x2", "4444", fma2_##t}, {"neg." #t, "22", neg16},         \
      {"abs." #t, "22", abs16}, {"neg." #t "x2", "44", neg2},                  \
      {"abs." #t "x2", "44", abs2}, SETP(t, eq), SETP(t, ne), SETP(t, lt),     \
      SETP(t, le), SETP(t, gt), SETP(t, ge), SETP(t, equ), SETP(t, neu),       \
      SETP(t, ltu), SETP(t, leu), SETP(t, gtu), SETP(t, geu), SETP(t, num),    \
      SETP(t, nan)

const emu_opcode emu_half_opcodes[] = {TYPE(f16),
                                       TYPE(bf16),
                                       {"ex2.approx.f16", "22", ex2_f16},
                                       {"tanh.approx.f16", "22", tanh_f16},
                                       {"ex2.approx.ftz.bf16", "22", ex2_bf16},
                                       {"tanh.approx.bf16", "22", tanh_bf16},
                                       {NULL, NULL, NULL}};
