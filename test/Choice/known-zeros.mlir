// Rules by what is known of the zeros: as pit-plan takes them.

// RUN: pit-opt %s -pit-label-marks -o %t.mlir
// RUN: %python -c "import numpy, sys; a = numpy.zeros((512, 512), 'f4'); a[::32, ::8] = 1; numpy.save(sys.argv[1], a)" %t.npy
// RUN: pit-test-rules %t.mlir --sample=f:0=%t.npy | FileCheck %s
// RUN: pit-test-rules %t.mlir --sample=f:0=%t.npy --tile > %t.own
// RUN: pit-opt %t.mlir --pit-plan="choice=now samples=f:0=%t.npy" --pit-tile 2> /dev/null | diff %t.own -

// All rules of the op are compared by a sample, with what they take. The other
// op's mark says its live fraction itself.
// CHECK-LABEL: linalg.matmul
//  CHECK-NEXT:   legal: {{.*}}, live fraction 0.{{.*}}, 0.{{.*}} of dense
//       CHECK:   legal: {{.*}} of dense
//   CHECK-NOT:   legal: {{.*}}>{{$}}
// CHECK-LABEL: linalg.matmul
//       CHECK:   legal: {{.*}}, live fraction 0.01

// Without samples nothing is known of the first one.
// RUN: pit-test-rules %t.mlir | FileCheck %s --check-prefix=NONE
// NONE-LABEL: linalg.matmul
//  NONE-NEXT:   legal: {{.*}} axis = 1>{{$}}

// RUN: not pit-test-rules %t.mlir --sample=f:0=%t.none.npy 2>&1 | FileCheck %s --check-prefix=NO-FILE
// NO-FILE: error: mark 'f:0': {{.*}}none.npy
// RUN: not pit-test-rules %t.mlir --sample=nothing 2>&1 | FileCheck %s --check-prefix=NO-PAIR
// NO-PAIR: error: {{.*}}must be the label of a mark and a file
// RUN: not pit-test-rules %t.mlir --target=z80 2>&1 | FileCheck %s --check-prefix=NO-TARGET
// NO-TARGET: error: target 'z80' is not known

// RUN: pit-test-rules %t.mlir --target=sm_90a > %t.f32
// RUN: pit-test-rules %t.mlir --target=sm_90a --tf32 > %t.tf32
// RUN: not diff %t.f32 %t.tf32

func.func @f(%a: tensor<512x512xf32>, %b: tensor<512x256xf32>, %c: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %s = pit.sparse %a : tensor<512x512xf32>
  %r = linalg.matmul ins(%s, %b : tensor<512x512xf32>, tensor<512x256xf32>) outs(%c : tensor<512x256xf32>) -> tensor<512x256xf32>
  return %r : tensor<512x256xf32>
}

func.func @g(%a: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %s = pit.sparse %a live_fraction(0.01 in [32, 1]) : tensor<512x512xf32>
  %r = linalg.matmul ins(%s, %a : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
