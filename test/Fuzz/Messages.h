//===- Messages.h - What the parsers of the tools say ---------------------===//
//
// Messages.c takes the place of tools/support/Tool.c.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_FUZZ_MESSAGES_H
#define PIT_TEST_FUZZ_MESSAGES_H

#include <stdbool.h>

/// Forgets what was said.
void messages_clear(void);
/// Checks that a parser said nothing if all is well, else one line.
void messages_check(bool ok);

#endif // PIT_TEST_FUZZ_MESSAGES_H
