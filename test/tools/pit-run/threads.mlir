// If there is no room for the stacks of 300 threads, fewer compute.
// RUN: pit-compile %s -o %t.so
// RUN: sh -c "ulimit -v 2000000 && pit-run %t.so --threads=300 \
// RUN:     --arg='random(512x512,f32)' --arg='random(512x512,f32)' \
// RUN:     --arg='zeros(512x512,f32)'" | FileCheck %s
// CHECK: time: min

// RUN: not pit-run %t.so --threads=4097 2>&1 \
// RUN:     | FileCheck %s --check-prefix=MANY
// MANY: --threads=4097: it must be from 1 to 4096

func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
