//===- FloatOps.c - f32 and f64 -------------------------------------------===//

#include "Half.h"
#include "Lanes.h"

// One rounding where the host has the instruction for it.
#if defined(__x86_64__)
#define WITH_FMA __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define WITH_FMA
#endif

#define FLOAT(type, suffix)                                                    \
  EMU_BINARY(add_##type, type, type, type, a[l] + b[l])                        \
  EMU_BINARY(sub_##type, type, type, type, a[l] - b[l])                        \
  EMU_BINARY(mul_##type, type, type, type, a[l] * b[l])                        \
  EMU_BINARY(div_##type, type, type, type, a[l] / b[l])                        \
  EMU_BINARY(min_##type, type, type, type, emu_min(a[l], b[l]))                \
  EMU_BINARY(max_##type, type, type, type, emu_max(a[l], b[l]))                \
  EMU_BINARY(min_nan_##type, type, type, type, emu_min_nan(a[l], b[l]))        \
  EMU_BINARY(max_nan_##type, type, type, type, emu_max_nan(a[l], b[l]))        \
  EMU_BINARY(copysign_##type, type, type, type, copysign##suffix(b[l], a[l]))  \
  EMU_UNARY(rcp_##type, type, type, 1 / a[l])                                  \
  EMU_UNARY(sqrt_##type, type, type, sqrt##suffix(a[l]))                       \
  EMU_UNARY(neg_##type, type, type, -a[l])                                     \
  EMU_UNARY(abs_##type, type, type, fabs##suffix(a[l]))                        \
  WITH_FMA EMU_TERNARY(fma_##type, type, type, type, type,                     \
                       fma##suffix(a[l], b[l], c[l]))                          \
      EMU_COMPARE(eq_##type, type, a[l] == b[l]) EMU_COMPARE(                  \
          ne_##type, type,                                                     \
          a[l]<b[l] || a[l]> b[l]) EMU_COMPARE(lt_##type, type, a[l] < b[l])   \
          EMU_COMPARE(le_##type, type,                                         \
                      a[l] <= b[l]) EMU_COMPARE(gt_##type, type, a[l] > b[l])  \
              EMU_COMPARE(ge_##type, type, a[l] >= b[l]) EMU_COMPARE(          \
                  equ_##type, type, !(a[l] < b[l] || a[l] > b[l]))             \
                  EMU_COMPARE(neu_##type, type, a[l] != b[l]) EMU_COMPARE(     \
                      ltu_##type, type, !(a[l] >= b[l]))                       \
                      EMU_COMPARE(leu_##type, type, !(a[l] > b[l]))            \
                          EMU_COMPARE(gtu_##type, type, !(a[l] <= b[l]))       \
                              EMU_COMPARE(geu_##type, type, !(a[l] < b[l]))    \
                                  EMU_COMPARE(num_##type, type,                \
                                              a[l] == a[l] && b[l] == b[l])    \
                                      EMU_COMPARE(nan_##type, type,            \
                                                  a[l] != a[l] ||              \
                                                      b[l] != b[l])            \
                                          EMU_HEAD(is_infinite_##type) {       \
    const emu_##type *a = EMU_S(type, 1);                                      \
    uint32_t bits = 0;                                                         \
    for (uint32_t l = 0; l < EMU_LANES; ++l)                                   \
      bits |= (uint32_t)(isinf(a[l]) != 0) << l;                               \
    emu_set_predicate(w, &i->operands[0], bits);                               \
    return EMU_NEXT;                                                           \
  }                                                                            \
  EMU_HEAD(is_finite_##type) {                                                 \
    const emu_##type *a = EMU_S(type, 1);                                      \
    uint32_t bits = 0;                                                         \
    for (uint32_t l = 0; l < EMU_LANES; ++l)                                   \
      bits |= (uint32_t)(isfinite(a[l]) != 0) << l;                            \
    emu_set_predicate(w, &i->operands[0], bits);                               \
    return EMU_NEXT;                                                           \
  }
FLOAT(f32, f)
FLOAT(f64, )

/// Subnormal numbers are 0 (.ftz).
static float flush(float x) {
  return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

EMU_UNARY(ex2, f32, f32, exp2f(a[l]))
EMU_UNARY(ex2_ftz, f32, f32, flush(exp2f(flush(a[l]))))
EMU_UNARY(rcp_ftz, f32, f32, flush(1 / flush(a[l])))
EMU_UNARY(lg2, f32, f32, log2f(a[l]))
EMU_UNARY(lg2_ftz, f32, f32, log2f(flush(a[l])))
EMU_UNARY(sin_f32, f32, f32, sinf(a[l]))
EMU_UNARY(cos_f32, f32, f32, cosf(a[l]))
EMU_UNARY(tanh_f32, f32, f32, tanhf(a[l]))
EMU_UNARY(rsqrt_f32, f32, f32, 1 / sqrt((double)a[l]))
EMU_UNARY(rsqrt_f64, f64, f64, 1 / sqrt(a[l]))

/// The upper half of an f64, where subnormal numbers are 0.
static double upper(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  bits &= fabs(x) < 0x1p-1022 ? UINT64_C(1) << 63 : ~(uint64_t)UINT32_MAX;
  memcpy(&x, &bits, sizeof(bits));
  return x;
}
// Both read the upper half alone, and give it.
EMU_UNARY(rcp_upper, f64, f64, upper(1 / upper(a[l])))
EMU_UNARY(rsqrt_upper, f64, f64, upper(1 / sqrt(upper(a[l]))))

#define TYPE(name, w)                                                          \
  {"add.rn." #name, w w w, add_##name}, {"add." #name, w w w, add_##name},     \
      {"sub.rn." #name, w w w, sub_##name}, {"sub." #name, w w w, sub_##name}, \
      {"mul.rn." #name, w w w, mul_##name}, {"mul." #name, w w w, mul_##name}, \
      {"div.rn." #name, w w w, div_##name}, {"min." #name, w w w, min_##name}, \
      {"max." #name, w w w, max_##name},                                       \
      {"min.NaN." #name, w w w, min_nan_##name},                               \
      {"max.NaN." #name, w w w, max_nan_##name},                               \
      {"copysign." #name, w w w, copysign_##name},                             \
      {"rcp.rn." #name, w w, rcp_##name},                                      \
      {"sqrt.rn." #name, w w, sqrt_##name}, {"neg." #name, w w, neg_##name},   \
      {"abs." #name, w w, abs_##name}, {"fma.rn." #name, w w w w, fma_##name}, \
      {"setp.eq." #name, "1" w w, eq_##name},                                  \
      {"setp.ne." #name, "1" w w, ne_##name},                                  \
      {"setp.lt." #name, "1" w w, lt_##name},                                  \
      {"setp.le." #name, "1" w w, le_##name},                                  \
      {"setp.gt." #name, "1" w w, gt_##name},                                  \
      {"setp.ge." #name, "1" w w, ge_##name},                                  \
      {"setp.equ." #name, "1" w w, equ_##name},                                \
      {"setp.neu." #name, "1" w w, neu_##name},                                \
      {"setp.ltu." #name, "1" w w, ltu_##name},                                \
      {"setp.leu." #name, "1" w w, leu_##name},                                \
      {"setp.gtu." #name, "1" w w, gtu_##name},                                \
      {"setp.geu." #name, "1" w w, geu_##name},                                \
      {"setp.num." #name, "1" w w, num_##name},                                \
      {"setp.nan." #name, "1" w w, nan_##name},                                \
      {"testp.infinite." #name, "1" w, is_infinite_##name}, {                  \
    "testp.finite." #name, "1" w, is_finite_##name                             \
  }

const emu_opcode emu_float_opcodes[] = {
    TYPE(f32, "4"),
    TYPE(f64, "8"),
    {"div.full.f32", "444", div_f32},
    {"div.approx.f32", "444", div_f32},
    {"rcp.approx.f32", "44", rcp_f32},
    {"sqrt.approx.f32", "44", sqrt_f32},
    {"rsqrt.approx.f32", "44", rsqrt_f32},
    {"rsqrt.approx.f64", "88", rsqrt_f64},
    {"rcp.approx.ftz.f32", "44", rcp_ftz},
    {"ex2.approx.f32", "44", ex2},
    {"ex2.approx.ftz.f32", "44", ex2_ftz},
    {"lg2.approx.f32", "44", lg2},
    {"lg2.approx.ftz.f32", "44", lg2_ftz},
    {"rcp.approx.ftz.f64", "88", rcp_upper},
    {"rsqrt.approx.ftz.f64", "88", rsqrt_upper},
    {"sin.approx.f32", "44", sin_f32},
    {"cos.approx.f32", "44", cos_f32},
    {"tanh.approx.f32", "44", tanh_f32},
    {NULL, NULL, NULL}};
