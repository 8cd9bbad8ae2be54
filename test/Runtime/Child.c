//===- Child.c - What ends a process, tested in another one ---------------===//

#include "Child.h"

#include "Reference.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

void expect_abort(void (*run)(void *argument), void *argument, char *text,
                  size_t size) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(ends[1], 2);
    signal(SIGABRT, SIG_DFL);
    run(argument);
    _exit(0);
  }
  close(ends[1]);
  ssize_t length = read(ends[0], text, size - 1);
  text[length > 0 ? length : 0] = '\0';
  close(ends[0]);
  int how;
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_true(WIFSIGNALED(how));
  assert_int_equal(WTERMSIG(how), SIGABRT);
}
