//===- Lanes.h - Functions that compute lane by lane ----------------------===//

#ifndef PIT_TEST_EMULATOR_LANES_H
#define PIT_TEST_EMULATOR_LANES_H

#include "Machine.h"

#include <string.h>

// The compiler makes vectors of the loop over all lanes. It computes into
// memory of its own, since the destination may be an operand, too.
#define EMU_LOOP(type, ...)                                                    \
  emu_##type *d = EMU_D(type, 0);                                              \
  if (w->active == UINT32_MAX) {                                               \
    emu_##type all[EMU_LANES];                                                 \
    for (int l = 0; l < EMU_LANES; ++l)                                        \
      all[l] = (emu_##type)(__VA_ARGS__);                                      \
    memcpy(d, all, sizeof(all));                                               \
  } else {                                                                     \
    EMU_EACH(l)                                                                \
    d[l] = (emu_##type)(__VA_ARGS__);                                          \
  }                                                                            \
  return EMU_NEXT;

#define EMU_HEAD(name)                                                         \
  static emu_action name(emu_warp *w, const emu_instruction *i)

/// d = f(a): the result's type, the operand's, and an expression of a[l].
#define EMU_UNARY(name, to, from, ...)                                         \
  EMU_HEAD(name) {                                                             \
    const emu_##from *a = EMU_S(from, 1);                                      \
    EMU_LOOP(to, __VA_ARGS__)                                                  \
  }

#define EMU_BINARY(name, to, from, from2, ...)                                 \
  EMU_HEAD(name) {                                                             \
    const emu_##from *a = EMU_S(from, 1);                                      \
    const emu_##from2 *b = EMU_S(from2, 2);                                    \
    EMU_LOOP(to, __VA_ARGS__)                                                  \
  }

#define EMU_TERNARY(name, to, from, from2, from3, ...)                         \
  EMU_HEAD(name) {                                                             \
    const emu_##from *a = EMU_S(from, 1);                                      \
    const emu_##from2 *b = EMU_S(from2, 2);                                    \
    const emu_##from3 *c = EMU_S(from3, 3);                                    \
    EMU_LOOP(to, __VA_ARGS__)                                                  \
  }

/// A predicate of two operands.
#define EMU_COMPARE(name, from, ...)                                           \
  EMU_HEAD(name) {                                                             \
    const emu_##from *a = EMU_S(from, 1), *b = EMU_S(from, 2);                 \
    uint32_t bits = 0;                                                         \
    for (uint32_t l = 0; l < EMU_LANES; ++l)                                   \
      bits |= (uint32_t)(__VA_ARGS__) << l;                                    \
    emu_set_predicate(w, &i->operands[0], bits);                               \
    return EMU_NEXT;                                                           \
  }

#endif // PIT_TEST_EMULATOR_LANES_H
