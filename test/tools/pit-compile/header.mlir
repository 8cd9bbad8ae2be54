// Another program calls the entry points: its C and C++ include the header,
// it is linked with the object, and loads the shared library.

// RUN: pit-compile %s --emit=header -o %t.program.h
// RUN: pit-compile %s --emit=obj -o %t.o
// RUN: pit-compile %s --emit=so -o %t.so
// RUN: %cc -std=c11 -Wall -Wextra -Wpedantic -Werror %pit_cflags -DHEADER='"%t.program.h"' \
// RUN:   %S/Inputs/caller.c %t.o %pit_libs -o %t.caller
// RUN: %t.caller %t.so | FileCheck %s
// RUN: %cxx -std=c++17 -Wall -Wextra -Wpedantic -Werror %pit_cflags -fsyntax-only -x c++ %t.program.h

// CHECK: linked: 3 6
// CHECK-NEXT: linked: wrong shape: argument 1 has rank 0; it must be 1
// CHECK-NEXT: loaded: 1 entries, add takes 2 arguments
// CHECK-NEXT: loaded: 3 6

func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
