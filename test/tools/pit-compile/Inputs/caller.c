//===- caller.c - Calls a compiled program, linked and loaded -------------===//

#include HEADER

#include <stdio.h>

static int fail(pit_context *context, const char *what, int32_t status) {
  char message[256];
  pit_context_message(context, message, sizeof(message));
  printf("%s: %s: %s\n", what, pit_status_string(status), message);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  pit_context *context;
  if (pit_context_create(NULL, &context) != PIT_OK)
    return 1;
  float a[] = {1, 2}, b[] = {2, 4}, c[2] = {0, 0};
  int64_t shape[] = {2};
  DLTensor x = {.data = a,
                .device = {kDLCPU, 0},
                .ndim = 1,
                .dtype = {kDLFloat, 32, 1},
                .shape = shape};
  DLTensor y = x, z = x;
  y.data = b;
  z.data = c;
  const pit_value ins[] = {{.tensor = &x}, {.tensor = &y}};
  DLTensor *outs[] = {&z};
  int32_t status = pit_add(context, ins, outs, NULL);
  if (status != PIT_OK)
    return fail(context, "linked", status);
  printf("linked: %g %g\n", (double)c[0], (double)c[1]);

  // What does not fit is refused.
  y.ndim = 0;
  status = pit_add(context, ins, outs, NULL);
  if (status == PIT_OK)
    return 1;
  fail(context, "linked", status);
  y.ndim = 1;

  pit_program *program;
  const pit_entry *entry;
  status = pit_program_open(context, argv[1], &program);
  if (status == PIT_OK)
    status = pit_program_entry(context, program, "add", &entry);
  if (status != PIT_OK)
    return fail(context, "loaded", status);
  printf("loaded: %d entries, %s takes %d arguments\n",
         pit_program_num_entries(program), pit_entry_name(entry),
         pit_entry_num_args(entry));
  c[0] = c[1] = 0;
  status = pit_entry_run(context, entry, ins, 2, outs, 1, NULL);
  if (status != PIT_OK)
    return fail(context, "loaded", status);
  printf("loaded: %g %g\n", (double)c[0], (double)c[1]);
  pit_program_close(program);
  pit_context_destroy(context);
  return 0;
}
