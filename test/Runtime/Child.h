//===- Child.h - What ends a process, tested in another one -----*- C++ -*-===//

#ifndef PIT_TEST_RUNTIME_CHILD_H
#define PIT_TEST_RUNTIME_CHILD_H

#include <stddef.h>

/// Fails the test unless a child process that calls `run` aborts; `text` is
/// what it has written to stderr.
void expect_abort(void (*run)(void *argument), void *argument, char *text,
                  size_t size);

#endif // PIT_TEST_RUNTIME_CHILD_H
