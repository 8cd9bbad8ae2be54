//===- AmxTest.c - Leave to use tile registers ----------------------------===//

#include "pit-runtime/Abi.h"

#include "Reference.h"

#include <stdio.h>
#include <string.h>

#if defined(__linux__) && defined(__x86_64__)
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GET_PERMISSION = 0x1022, TILE_DATA = 18 };

static int has_amx(void) {
  FILE *file = fopen("/proc/cpuinfo", "r");
  int found = 0;
  for (char line[1 << 14]; file && fgets(line, sizeof(line), file);)
    found |= strncmp(line, "flags", 5) == 0 && strstr(line, " amx_tile");
  if (file)
    fclose(file);
  return found;
}

static int says(pit_context *context, const char *words) {
  char message[256];
  pit_context_message(context, message, sizeof(message));
  return strstr(message, words) != NULL;
}

static void test_request(void **state) {
  (void)state;
  pit_context *context;
  assert_int_equal(pit_context_create(NULL, &context), PIT_OK);
  static const pit_manifest no_args = {.version = PIT_MANIFEST_WORD0,
                                       .device = kDLCPU};
  pit_frame *frame;
  assert_ok(context,
            pit_rt_enter(context, &no_args, NULL, NULL, NULL, NULL, &frame));
  int32_t status = pit_rt_request_amx(frame);
  if (has_amx()) {
    assert_ok(context, status);
    uint64_t features = 0;
    assert_int_equal(syscall(SYS_arch_prctl, GET_PERMISSION, &features), 0);
    assert_true(features >> TILE_DATA & 1);
    assert_ok(context, pit_rt_request_amx(frame));
  } else {
    assert_int_equal(status, PIT_ERROR_UNSUPPORTED);
    assert_true(says(context, "AMX, which this machine does not have"));
  }
  pit_rt_leave(frame, 0);
  pit_context_destroy(context);
}

/// In a process whose arch_prctl fails with EPERM; 0: as it should.
static int refused(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};
  pit_context *context;
  if (pit_context_create(NULL, &context) ||
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
    return 77;
  static const pit_manifest no_args = {.version = PIT_MANIFEST_WORD0,
                                       .device = kDLCPU};
  pit_frame *frame;
  if (pit_rt_enter(context, &no_args, NULL, NULL, NULL, NULL, &frame))
    return 1;
  if (pit_rt_request_amx(frame) != PIT_ERROR_UNSUPPORTED)
    return 2;
  return !says(context, "does not let this process use");
}

static void test_refusal(void **state) {
  (void)state;
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child)
    _exit(refused());
  int result;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_true(WIFEXITED(result));
  if (WEXITSTATUS(result) == 77)
    skip(); // no filters here
  assert_int_equal(WEXITSTATUS(result), 0);
}
#else
static void test_request(void **state) {
  (void)state;
  assert_int_equal(pit_rt_request_amx(NULL), PIT_ERROR_UNSUPPORTED);
}
static void test_refusal(void **state) { test_request(state); }
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_request),
      cmocka_unit_test(test_refusal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
