"""Takes the code blocks of README.md apart, for Readme.test.

    readme.py README.md program | level3 | command | output | python | sh | c

The C of the page is put into a program, which prints a sum of its results.
"""

import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
program, level3 = re.findall(r"^```mlir\n(.*?)^```$", text, re.M | re.S)[:2]
session = re.search(r"^```console\n\$ (.*?[^\\])\n(.*?)^```$", text, re.M | re.S)
MAIN = """
#include "pit-runtime/Runtime.h"
#include <stdio.h>
#include <stdlib.h>
static DLTensor make(int64_t *shape, float value) {
  float *data = malloc(sizeof(*data) * shape[0] * shape[1]);
  for (int64_t i = 0; i < shape[0] * shape[1]; ++i)
    data[i] = value;
  return (DLTensor){data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
}
int main(void) {
  int64_t left[] = {1024, 1024}, right[] = {1024, 512};
  DLTensor a = make(left, 2), b = make(right, 1), c = make(right, 3), r = make(right, 0);
  pit_context *context; pit_program *program; const pit_entry *entry;
  if (pit_context_create(NULL, &context))
    return 1;
%s  printf("%%g\\n", ((float *)r.data)[0]);
}
"""


def first(language):
    return re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)[1]


part = {
    "program": program,
    "level3": level3,
    "command": "set -e\n" + session[1] + "\n",
    "output": session[2],
    "python": first("python"),
    "sh": "set -e\n" + first("sh"),
    "c": MAIN % first("c"),
}[sys.argv[2]]
sys.stdout.write(part)
