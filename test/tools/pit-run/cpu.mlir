// A program is not loaded on a CPU that lacks what it was compiled for. No CPU
// has both of xop and avx512f.
// REQUIRES: x86
// RUN: pit-compile %s --features=+xop,+avx512f -o %t.so
// RUN: not pit-run %t.so --arg='zeros(4,f32)' 2>&1 | FileCheck %s
// RUN: not pit-run %s --features=+xop,+avx512f --arg='zeros(4,f32)' 2>&1 \
// RUN:     | FileCheck %s
// CHECK: error: the program was compiled for a CPU with features that this one
// CHECK-SAME: does not have, as far as the runtime knows: {{.*(xop|avx512f)}}

// What it asks for is what the compiler may use.
// RUN: pit-compile %s --cpu=x86-64-v2 --emit=llvm -o - \
// RUN:     | FileCheck %s --check-prefix=LIST
// LIST: @pit_program_features = weak {{.*}}constant {{.*}}c"{{.*}}sse4.2\00
// RUN: pit-compile %s --cpu=x86-64-v2 --emit=llvm -o - \
// RUN:     | FileCheck %s --check-prefix=OLDER
// OLDER-NOT: avx

func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
