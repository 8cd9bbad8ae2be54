// Choosing at run time for masks, for right operands, for two marks, and for other types.

// RUN: pit-run %s --entry=mask --arg='random(200x256,f32,seed=1)' --arg='random(256x300,f32,seed=2)' \
// RUN:   --arg='random(200x256,bool,sparsity=0.95,seed=3)' --stats --check | FileCheck %s --check-prefix=MASK
// MASK: choice 0: of 200x256 along axis 1 in micro-tiles of 1x1; scanned in 3 of 3 calls
// MASK-NEXT: index 0: mask of argument 2, 200x256 along axis 1 in micro-tiles of 1x1
// MASK: check: result 0: {{.*}}: ok
// RUN: pit-run %s --entry=mask --arg='random(200x256,f32,seed=1)' --arg='random(256x300,f32,seed=2)' \
// RUN:   --arg='random(200x256,bool,sparsity=0.2,seed=3)' --stats --check | FileCheck %s --check-prefix=DENSE
// DENSE: choice 0: of 200x256, dense
// DENSE: check: result 0: {{.*}}: ok

// RUN: pit-run %s --entry=right --arg='random(200x256,i8,seed=1)' --arg='random(256x320,i8,sparsity=0.98,micro=1x16,seed=2)' \
// RUN:   --stats --check | FileCheck %s --check-prefix=RIGHT
// RIGHT: choice 0: of 256x320 along axis 0 in micro-tiles of 1x16
// RIGHT: check: result 0: {{.*}}: ok

// RUN: pit-run %s --entry=both --arg='random(200x256,f64,seed=1)' --arg='random(256x320,f64,sparsity=0.98,micro=1x16,seed=2)' \
// RUN:   --stats --check | FileCheck %s --check-prefix=BOTH
// BOTH-DAG: choice {{[01]}}: of 200x256, dense
// BOTH-DAG: choice {{[01]}}: of 256x320 along axis 0 in micro-tiles of 1x16
// BOTH: check: result 0: {{.*}}: ok
// RUN: pit-run %s --entry=both --arg='random(200x256,f64,sparsity=0.95,seed=1)' --arg='random(256x320,f64,seed=2)' \
// RUN:   --stats --check | FileCheck %s --check-prefix=LEFT
// LEFT: choice {{[01]}}: of 200x256 along axis 1 in micro-tiles of 1x1
// LEFT: check: result 0: {{.*}}: ok

func.func @mask(%a: tensor<200x256xf32>, %b: tensor<256x300xf32>, %m: tensor<200x256xi1>) -> tensor<200x300xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x300xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<200x300xf32>) -> tensor<200x300xf32>
  %s = pit.sparse %a mask(%m : tensor<200x256xi1>) : tensor<200x256xf32>
  %r = linalg.matmul ins(%s, %b : tensor<200x256xf32>, tensor<256x300xf32>) outs(%f : tensor<200x300xf32>) -> tensor<200x300xf32>
  return %r : tensor<200x300xf32>
}
func.func @right(%a: tensor<200x256xi8>, %b: tensor<256x320xi8>) -> tensor<200x320xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<200x320xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<200x320xi32>) -> tensor<200x320xi32>
  %s = pit.sparse %b : tensor<256x320xi8>
  %r = linalg.matmul ins(%a, %s : tensor<200x256xi8>, tensor<256x320xi8>) outs(%f : tensor<200x320xi32>) -> tensor<200x320xi32>
  return %r : tensor<200x320xi32>
}
func.func @both(%a: tensor<200x256xf64>, %b: tensor<256x320xf64>) -> tensor<200x320xf64> {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<200x320xf64>
  %f = linalg.fill ins(%z : f64) outs(%e : tensor<200x320xf64>) -> tensor<200x320xf64>
  %s = pit.sparse %a : tensor<200x256xf64>
  %t = pit.sparse %b : tensor<256x320xf64>
  %r = linalg.matmul ins(%s, %t : tensor<200x256xf64>, tensor<256x320xf64>) outs(%f : tensor<200x320xf64>) -> tensor<200x320xf64>
  return %r : tensor<200x320xf64>
}

// Wanted results, images and filters.

// RUN: pit-run %s --entry=wanted --arg='random(200x256,f32,seed=1)' --arg='random(256x320,f32,seed=2)' \
// RUN:   --arg='random(200x320,bool,sparsity=0.9,micro=1x16,seed=3)' --stats --check | FileCheck %s --check-prefix=WANTED
// WANTED: choice 0: of 200x320 along axis 0 in micro-tiles of 1x16
// WANTED: check: result 0: {{.*}}: ok
// RUN: pit-run %s --entry=wanted --arg='random(200x256,f32,seed=1)' --arg='random(256x320,f32,seed=2)' \
// RUN:   --arg='random(200x320,bool,sparsity=0.9,micro=200x1,seed=3)' --stats --check | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: choice 0: of 200x320 along axis 1
// COLUMNS: check: result 0: {{.*}}: ok
// RUN: pit-run %s --entry=wanted --arg='random(200x256,f32,seed=1)' --arg='random(256x320,f32,seed=2)' \
// RUN:   --arg='random(200x320,bool,sparsity=0.5,seed=3)' --stats --check | FileCheck %s --check-prefix=ALL
// ALL: choice 0: of 200x320, dense
// ALL: check: result 0: {{.*}}: ok

// RUN: pit-run %s --entry=image --arg='random(2x13x15x64,f32,sparsity=0.95,seed=1)' --arg='random(3x3x64x80,f32,seed=2)' \
// RUN:   --stats --check | FileCheck %s --check-prefix=PIXELS
// PIXELS: choice 0: of 2x13x15x64 along axis 3 in micro-tiles of 1x1x1x1
// PIXELS: check: result 0: {{.*}}: ok
// RUN: pit-run %s --entry=image --arg='random(2x13x15x64,f32,sparsity=0.9,micro=1x13x15x1,seed=1)' --arg='random(3x3x64x80,f32,seed=2)' \
// RUN:   --stats --check | FileCheck %s --check-prefix=CHANNELS
// CHANNELS: choice 0: of 2x13x15x64 along axis 3 in micro-tiles of 1x{{[2-9]}}
// CHANNELS: check: result 0: {{.*}}: ok
// RUN: pit-run %s --entry=image --arg='random(2x13x15x64,f32,seed=1)' --arg='random(3x3x64x80,f32,seed=2)' \
// RUN:   --stats --check | FileCheck %s --check-prefix=FULL
// FULL: choice 0: of 2x13x15x64, dense
// FULL: check: result 0: {{.*}}: ok

// RUN: pit-run %s --entry=filter --arg='random(2x13x15x64,f32,seed=1)' --arg='random(3x3x64x80,f32,sparsity=0.9,micro=3x3x1x80,seed=2)' \
// RUN:   --stats --check | FileCheck %s --check-prefix=FILTER
// FILTER: choice 0: of 3x3x64x80 along axis 2
// FILTER: check: result 0: {{.*}}: ok

func.func @wanted(%a: tensor<200x256xf32>, %b: tensor<256x320xf32>, %m: tensor<200x320xi1>) -> tensor<200x320xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x320xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<200x320xf32>) -> tensor<200x320xf32>
  %r = linalg.matmul ins(%a, %b : tensor<200x256xf32>, tensor<256x320xf32>) outs(%f : tensor<200x320xf32>) -> tensor<200x320xf32>
  %s = pit.sparse %r mask(%m : tensor<200x320xi1>) background(-1.0 : f32) : tensor<200x320xf32>
  return %s : tensor<200x320xf32>
}
func.func @image(%x: tensor<2x13x15x64xf32>, %w: tensor<3x3x64x80xf32>) -> tensor<2x6x7x80xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x7x80xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x6x7x80xf32>) -> tensor<2x6x7x80xf32>
  %s = pit.sparse %x : tensor<2x13x15x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%s, %w : tensor<2x13x15x64xf32>, tensor<3x3x64x80xf32>)
         outs(%f : tensor<2x6x7x80xf32>) -> tensor<2x6x7x80xf32>
  return %r : tensor<2x6x7x80xf32>
}
func.func @filter(%x: tensor<2x13x15x64xf32>, %w: tensor<3x3x64x80xf32>) -> tensor<2x11x13x80xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x11x13x80xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x11x13x80xf32>) -> tensor<2x11x13x80xf32>
  %s = pit.sparse %w : tensor<3x3x64x80xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %s : tensor<2x13x15x64xf32>, tensor<3x3x64x80xf32>)
         outs(%f : tensor<2x11x13x80xf32>) -> tensor<2x11x13x80xf32>
  return %r : tensor<2x11x13x80xf32>
}
