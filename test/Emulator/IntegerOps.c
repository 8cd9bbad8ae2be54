//===- IntegerOps.c - Integers and bits -----------------------------------===//

#include "Lanes.h"

// Sums and products wrap: unsigned types compute what both kinds have.
#define WRAPPING(bits)                                                         \
  EMU_BINARY(add##bits, u##bits, u##bits, u##bits, a[l] + b[l])                \
  EMU_BINARY(sub##bits, u##bits, u##bits, u##bits, a[l] - b[l])                \
  EMU_BINARY(mul##bits, u##bits, u##bits, u##bits, (emu_u64)a[l] * b[l])       \
  EMU_TERNARY(mad##bits, u##bits, u##bits, u##bits, u##bits,                   \
              (emu_u64)a[l] * b[l] + c[l])                                     \
  EMU_BINARY(and##bits, u##bits, u##bits, u##bits, a[l] & b[l])                \
  EMU_BINARY(or##bits, u##bits, u##bits, u##bits, a[l] | b[l])                 \
  EMU_BINARY(xor##bits, u##bits, u##bits, u##bits, a[l] ^ b[l])                \
  EMU_UNARY(not##bits, u##bits, u##bits, ~a[l])                                \
  EMU_UNARY(neg##bits, u##bits, u##bits, 0u - a[l])                            \
  EMU_UNARY(abs##bits, u##bits, s##bits,                                       \
            a[l] < 0 ? 0u - (emu_u##bits)a[l] : (emu_u##bits)a[l])             \
  EMU_BINARY(shl##bits, u##bits, u##bits, u32,                                 \
             b[l] < bits ? (emu_u64)a[l] << b[l] : 0)                          \
  EMU_BINARY(shr_u##bits, u##bits, u##bits, u32,                               \
             b[l] < bits ? a[l] >> b[l] : 0)                                   \
  EMU_BINARY(shr_s##bits, u##bits, s##bits, u32,                               \
             a[l] >> (b[l] < bits ? b[l] : bits - 1))
WRAPPING(16)
WRAPPING(32)
WRAPPING(64)

// What hardware leaves open, a division by 0, gives all bits.
#define SIGNED_OR_NOT(type, low)                                               \
  EMU_BINARY(min_##type, type, type, type, a[l] < b[l] ? a[l] : b[l])          \
  EMU_BINARY(max_##type, type, type, type, a[l] > b[l] ? a[l] : b[l])          \
  EMU_BINARY(div_##type, type, type, type,                                     \
             b[l] == 0                             ? (emu_##type) - 1          \
             : low && a[l] == low && b[l] + 1 == 0 ? a[l]                      \
                                                   : a[l] / b[l])              \
  EMU_BINARY(rem_##type, type, type, type,                                     \
             b[l] == 0              ? a[l]                                     \
             : low && b[l] + 1 == 0 ? 0                                        \
                                    : a[l] % b[l])                             \
  EMU_COMPARE(eq_##type, type, a[l] == b[l])                                   \
  EMU_COMPARE(ne_##type, type, a[l] != b[l])                                   \
  EMU_COMPARE(lt_##type, type, a[l] < b[l])                                    \
  EMU_COMPARE(le_##type, type, a[l] <= b[l])                                   \
  EMU_COMPARE(gt_##type, type, a[l] > b[l])                                    \
  EMU_COMPARE(ge_##type, type, a[l] >= b[l])
SIGNED_OR_NOT(u16, 0)
SIGNED_OR_NOT(u32, 0)
SIGNED_OR_NOT(u64, 0)
SIGNED_OR_NOT(s16, INT16_MIN)
SIGNED_OR_NOT(s32, INT32_MIN)
SIGNED_OR_NOT(s64, INT64_MIN)

// Two of 16 bits in a word.
#define PAIRED(name, type, ...)                                                \
  static emu_##type name##_half_##type(emu_##type x, emu_##type y) {           \
    return (emu_##type)(__VA_ARGS__);                                          \
  }                                                                            \
  EMU_BINARY(                                                                  \
      name##2_##type, u32, u32, u32,                                           \
      (emu_u32)(emu_u16)name##_half_##type((emu_##type)(a[l] >> 16),           \
                                           (emu_##type)(b[l] >> 16))           \
              << 16 |                                                          \
          (emu_u16)name##_half_##type((emu_##type)a[l], (emu_##type)b[l]))
PAIRED(add, u16, x + y)
PAIRED(min, u16, x < y ? x : y)
PAIRED(max, u16, x > y ? x : y)
PAIRED(min, s16, x < y ? x : y)
PAIRED(max, s16, x > y ? x : y)

#define WIDE(type, wide)                                                       \
  EMU_BINARY(wide_##type, wide, type, type, (emu_##wide)a[l] * b[l])           \
  EMU_TERNARY(mad_wide_##type, wide, type, type, wide,                         \
              (emu_u64)((emu_##wide)a[l] * b[l]) + (emu_u64)c[l])
WIDE(u16, u32)
WIDE(s16, s32)
WIDE(u32, u64)
WIDE(s32, s64)

static int32_t not_negative(int32_t x) { return x > 0 ? x : 0; }

EMU_BINARY(min_relu, s32, s32, s32, not_negative(a[l] < b[l] ? a[l] : b[l]))
EMU_BINARY(max_relu, s32, s32, s32, not_negative(a[l] > b[l] ? a[l] : b[l]))

EMU_BINARY(hi_u16, u16, u16, u16, (emu_u32)a[l] * b[l] >> 16)
EMU_BINARY(hi_s16, u16, s16, s16, (emu_s32)a[l] * b[l] >> 16)
EMU_BINARY(hi_u32, u32, u32, u32, (emu_u64)a[l] * b[l] >> 32)
EMU_BINARY(hi_s32, u32, s32, s32, (emu_s64)a[l] * b[l] >> 32)
EMU_BINARY(hi_u64, u64, u64, u64, (unsigned __int128)a[l] * b[l] >> 64)
EMU_BINARY(hi_s64, u64, s64, s64, (__int128)a[l] * b[l] >> 64)

// Sums of several words: .cc keeps the carry of each lane, addc, subc and madc
// add that of the instruction before. A difference adds what has all bits
// inverted, and keeps the carry's opposite, the borrow.
static emu_action add_carry(emu_warp *w, const emu_instruction *i,
                            const uint64_t *terms, bool reads, bool keeps,
                            bool minus) {
  emu_u32 *d = EMU_D(u32, 0);
  uint32_t carry = reads ? w->carry : 0;
  EMU_EACH(l) {
    uint64_t in = carry >> l & 1;
    uint64_t sum = terms[l] + (minus ? 1 - in : in);
    d[l] = (emu_u32)sum;
    uint32_t out = (uint32_t)(sum >> 32 & 1) ^ minus;
    if (keeps)
      w->carry = (w->carry & ~(1u << l)) | out << l;
  }
  return EMU_NEXT;
}

#define CARRY(name, reads, keeps, minus, ...)                                  \
  EMU_HEAD(name) {                                                             \
    const emu_u32 *a = EMU_S(u32, 1), *b = EMU_S(u32, 2);                      \
    uint64_t terms[EMU_LANES];                                                 \
    for (int l = 0; l < EMU_LANES; ++l)                                        \
      terms[l] = (__VA_ARGS__);                                                \
    return add_carry(w, i, terms, reads, keeps, minus);                        \
  }
#define CARRIES(name, minus, ...)                                              \
  CARRY(name##_cc, false, true, minus, __VA_ARGS__)                            \
  CARRY(name##c, true, false, minus, __VA_ARGS__)                              \
  CARRY(name##c_cc, true, true, minus, __VA_ARGS__)
CARRIES(add, false, (uint64_t)a[l] + b[l])
CARRIES(sub, true, (uint64_t)a[l] + (emu_u32)~b[l])
CARRIES(mad_lo, false, (uint64_t)(emu_u32)(a[l] * b[l]) + EMU_S(u32, 3)[l])
CARRIES(mad_hi, false, ((uint64_t)a[l] * b[l] >> 32) + EMU_S(u32, 3)[l])

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

static uint64_t low_bits(unsigned count) {
  return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/// `length` bits from a position on.
static uint64_t extract(uint64_t x, unsigned bits, uint32_t position,
                        uint32_t length, bool is_signed) {
  position &= 0xFF;
  length &= 0xFF;
  uint64_t sign = 0;
  if (is_signed && length > 0) {
    unsigned last = position + length - 1;
    last = last < bits - 1 ? last : bits - 1;
    sign = x >> last & 1;
  }
  unsigned there = position >= bits           ? 0
                   : length < bits - position ? length
                                              : bits - position;
  uint64_t found = there ? x >> position & low_bits(there) : 0;
  if (sign && length > 0)
    found |= ~low_bits(there);
  return found;
}

static uint64_t insert(uint64_t a, uint64_t b, unsigned bits, uint32_t position,
                       uint32_t length) {
  position &= 0xFF;
  length &= 0xFF;
  if (position >= bits || length == 0)
    return b;
  uint64_t mask = low_bits(length) << position;
  return (b & ~mask) | (a << position & mask);
}

static uint32_t reverse(uint32_t x) {
  uint32_t y = 0;
  for (int n = 0; n < 32; ++n)
    y |= (x >> n & 1) << (31 - n);
  return y;
}

/// The bytes of b:a that a selector picks.
static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t both = (uint64_t)b << 32 | a;
  uint32_t y = 0;
  for (int n = 0; n < 4; ++n) {
    uint32_t pick = selector >> (4 * n) & 0xF;
    uint32_t byte = (uint32_t)(both >> (8 * (pick & 7))) & 0xFF;
    if (pick & 8)
      byte = byte & 0x80 ? 0xFF : 0;
    y |= byte << (8 * n);
  }
  return y;
}

static uint32_t logic(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t y = 0;
  for (int n = 0; n < 8; ++n)
    if (table >> n & 1)
      y |= (n & 4 ? a : ~a) & (n & 2 ? b : ~b) & (n & 1 ? c : ~c);
  return y;
}

static uint32_t find_high(uint64_t x) {
  return x ? 63u - (uint32_t)__builtin_clzll(x) : UINT32_MAX;
}

EMU_TERNARY(bfe_u32, u32, u32, u32, u32, extract(a[l], 32, b[l], c[l], false))
EMU_TERNARY(bfe_s32, u32, u32, u32, u32, extract(a[l], 32, b[l], c[l], true))
EMU_TERNARY(bfe_u64, u64, u64, u32, u32, extract(a[l], 64, b[l], c[l], false))
EMU_TERNARY(bfe_s64, u64, u64, u32, u32, extract(a[l], 64, b[l], c[l], true))
EMU_TERNARY(prmt, u32, u32, u32, u32, permute(a[l], b[l], c[l]))
EMU_UNARY(popc32, u32, u32, __builtin_popcount(a[l]))
EMU_UNARY(popc64, u32, u64, __builtin_popcountll(a[l]))
EMU_UNARY(clz32, u32, u32, a[l] ? __builtin_clz(a[l]) : 32)
EMU_UNARY(clz64, u32, u64, a[l] ? __builtin_clzll(a[l]) : 64)
EMU_UNARY(brev32, u32, u32, reverse(a[l]))
EMU_UNARY(brev64, u64, u64,
          (uint64_t)reverse((uint32_t)a[l]) << 32 |
              reverse((uint32_t)(a[l] >> 32)))
EMU_UNARY(bfind_u32, u32, u32, find_high(a[l]))
EMU_UNARY(bfind_u64, u32, u64, find_high(a[l]))

#define FOURTH(type) const emu_##type *e = EMU_S(type, 4);
EMU_HEAD(bfi32) {
  const emu_u32 *a = EMU_S(u32, 1), *b = EMU_S(u32, 2), *c = EMU_S(u32, 3);
  FOURTH(u32)
  EMU_LOOP(u32, insert(a[l], b[l], 32, c[l], e[l]))
}
EMU_HEAD(bfi64) {
  const emu_u64 *a = EMU_S(u64, 1), *b = EMU_S(u64, 2);
  const emu_u32 *c = EMU_S(u32, 3);
  FOURTH(u32)
  EMU_LOOP(u64, insert(a[l], b[l], 64, c[l], e[l]))
}
EMU_HEAD(lop3) {
  const emu_u32 *a = EMU_S(u32, 1), *b = EMU_S(u32, 2), *c = EMU_S(u32, 3);
  FOURTH(u32)
  EMU_LOOP(u32, logic(a[l], b[l], c[l], e[l]))
}

// shf.l gives the high half of b:a << c, shf.r the low half of b:a >> c.
#define FUNNEL(name, ...)                                                      \
  EMU_TERNARY(shf_##name, u32, u32, u32, u32,                                  \
              (((emu_u64)b[l] << 32 | a[l]) __VA_ARGS__))
FUNNEL(l_wrap, << (c[l] & 31) >> 32)
FUNNEL(r_wrap, >> (c[l] & 31))
EMU_TERNARY(shf_l_clamp, u32, u32, u32, u32,
            c[l] >= 32 ? a[l] : ((emu_u64)b[l] << 32 | a[l]) << c[l] >> 32)
EMU_TERNARY(shf_r_clamp, u32, u32, u32, u32,
            c[l] >= 32 ? b[l] : ((emu_u64)b[l] << 32 | a[l]) >> c[l])

static uint32_t dot(uint32_t a, bool a_signed, uint32_t b, bool b_signed,
                    uint32_t c) {
  for (int n = 0; n < 32; n += 8) {
    int32_t x = a_signed ? (int8_t)(a >> n) : (uint8_t)(a >> n);
    int32_t y = b_signed ? (int8_t)(b >> n) : (uint8_t)(b >> n);
    c += (uint32_t)(x * y);
  }
  return c;
}
EMU_TERNARY(dp4a_ss, u32, u32, u32, u32, dot(a[l], true, b[l], true, c[l]))
EMU_TERNARY(dp4a_su, u32, u32, u32, u32, dot(a[l], true, b[l], false, c[l]))
EMU_TERNARY(dp4a_us, u32, u32, u32, u32, dot(a[l], false, b[l], true, c[l]))
EMU_TERNARY(dp4a_uu, u32, u32, u32, u32, dot(a[l], false, b[l], false, c[l]))

//===----------------------------------------------------------------------===//
// Their names
//===----------------------------------------------------------------------===//

#define BOTH(name, bits, form, run)                                            \
  {name ".u" #bits, form, run}, { name ".s" #bits, form, run }
#define EACH(name, bits, form, run)                                            \
  {name ".u" #bits, form, run##_u##bits}, {                                    \
    name ".s" #bits, form, run##_s##bits                                       \
  }
#define COMPARE_SIGNED(bits, w)                                                \
  EACH("setp.eq", bits, "1" w w, eq), EACH("setp.ne", bits, "1" w w, ne),      \
      EACH("setp.lt", bits, "1" w w, lt), EACH("setp.le", bits, "1" w w, le),  \
      EACH("setp.gt", bits, "1" w w, gt), EACH("setp.ge", bits, "1" w w, ge),  \
      {"setp.eq.b" #bits, "1" w w, eq_u##bits},                                \
      {"setp.ne.b" #bits, "1" w w, ne_u##bits},                                \
      {"setp.lo.u" #bits, "1" w w, lt_u##bits},                                \
      {"setp.ls.u" #bits, "1" w w, le_u##bits},                                \
      {"setp.hi.u" #bits, "1" w w, gt_u##bits}, {                              \
    "setp.hs.u" #bits, "1" w w, ge_u##bits                                     \
  }
#define WIDTH(bits, w)                                                         \
  BOTH("add", bits, w w w, add##bits), BOTH("sub", bits, w w w, sub##bits),    \
      BOTH("mul.lo", bits, w w w, mul##bits),                                  \
      BOTH("mad.lo", bits, w w w w, mad##bits),                                \
      EACH("mul.hi", bits, w w w, hi), EACH("min", bits, w w w, min),          \
      EACH("max", bits, w w w, max), EACH("div", bits, w w w, div),            \
      EACH("rem", bits, w w w, rem), EACH("shr", bits, w w "4", shr),          \
      {"shr.b" #bits, w w "4", shr_u##bits},                                   \
      {"shl.b" #bits, w w "4", shl##bits}, {"and.b" #bits, w w w, and##bits},  \
      {"or.b" #bits, w w w, or##bits}, {"xor.b" #bits, w w w, xor##bits},      \
      {"not.b" #bits, w w, not##bits}, {"neg.s" #bits, w w, neg##bits},        \
      {"abs.s" #bits, w w, abs##bits}, COMPARE_SIGNED(bits, w)
#define WIDER(bits, w, twice)                                                  \
  EACH("mul.wide", bits, twice w w, wide),                                     \
      EACH("mad.wide", bits, twice w w twice, mad_wide)

#define WITH_CARRY(type)                                                       \
  {"add.cc." type, "444", add_cc}, {"addc." type, "444", addc},                \
      {"addc.cc." type, "444", addc_cc}, {"sub.cc." type, "444", sub_cc},      \
      {"subc." type, "444", subc}, {"subc.cc." type, "444", subc_cc},          \
      {"mad.lo.cc." type, "4444", mad_lo_cc},                                  \
      {"madc.lo." type, "4444", mad_loc}, {                                    \
    "madc.lo.cc." type, "4444", mad_loc_cc                                     \
  }

const emu_opcode emu_integer_opcodes[] = {
    WITH_CARRY("u32"),
    WITH_CARRY("s32"),
    {"mad.hi.cc.u32", "4444", mad_hi_cc},
    {"madc.hi.u32", "4444", mad_hic},
    {"madc.hi.cc.u32", "4444", mad_hic_cc},
    WIDTH(16, "2"),
    WIDTH(32, "4"),
    WIDTH(64, "8"),
    WIDER(16, "2", "4"),
    WIDER(32, "4", "8"),
    {"add.u16x2", "444", add2_u16},
    {"add.s16x2", "444", add2_u16},
    {"min.u16x2", "444", min2_u16},
    {"min.s16x2", "444", min2_s16},
    {"max.u16x2", "444", max2_u16},
    {"max.s16x2", "444", max2_s16},
    {"min.relu.s32", "444", min_relu},
    {"max.relu.s32", "444", max_relu},
    {"bfe.u32", "4444", bfe_u32},
    {"bfe.s32", "4444", bfe_s32},
    {"bfe.u64", "8844", bfe_u64},
    {"bfe.s64", "8844", bfe_s64},
    {"bfi.b32", "44444", bfi32},
    {"bfi.b64", "88844", bfi64},
    {"lop3.b32", "44444", lop3},
    {"prmt.b32", "4444", prmt},
    {"popc.b32", "44", popc32},
    {"popc.b64", "48", popc64},
    {"clz.b32", "44", clz32},
    {"clz.b64", "48", clz64},
    {"brev.b32", "44", brev32},
    {"brev.b64", "88", brev64},
    {"bfind.u32", "44", bfind_u32},
    {"bfind.u64", "48", bfind_u64},
    {"shf.l.wrap.b32", "4444", shf_l_wrap},
    {"shf.r.wrap.b32", "4444", shf_r_wrap},
    {"shf.l.clamp.b32", "4444", shf_l_clamp},
    {"shf.r.clamp.b32", "4444", shf_r_clamp},
    {"dp4a.s32.s32", "4444", dp4a_ss},
    {"dp4a.s32.u32", "4444", dp4a_su},
    {"dp4a.u32.s32", "4444", dp4a_us},
    {"dp4a.u32.u32", "4444", dp4a_uu},
    {NULL, NULL, NULL}};
