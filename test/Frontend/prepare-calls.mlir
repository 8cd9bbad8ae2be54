// RUN: pit-opt %s -pit-prepare-calls -split-input-file -verify-diagnostics | FileCheck %s
// RUN: pit-opt %s -pit-prepare-calls -inline -symbol-dce -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=INLINE

// A function of several blocks is one of one block when it is called.
// CHECK-LABEL: func.func private @blocks
// CHECK-SAME: -> f32 {
// CHECK: scf.if
// CHECK-LABEL: func.func @loop
// CHECK: func.call @blocks(%{{.*}}, %{{.*}}) : (f32, i1) -> f32
// INLINE-NOT: @blocks
// INLINE-LABEL: func.func @loop
// INLINE: scf.for
// INLINE: scf.if
// INLINE: arith.addf
// INLINE-NOT: call
func.func private @blocks(%x: f32, %if: i1) -> f32 attributes {no_inline} {
  cf.cond_br %if, ^a, ^b(%x : f32)
^a:
  %y = arith.addf %x, %x : f32
  cf.br ^b(%y : f32)
^b(%z: f32):
  return %z : f32
}
func.func @loop(%x: f32, %if: i1, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> f32 {
    %w = func.call @blocks(%v, %if) {no_inline} : (f32, i1) -> f32
    scf.yield %w : f32
  }
  return %r : f32
}

// -----

// Marks inline, into tile loops as well; a public function stays.
// INLINE-LABEL: func.func @marked
// INLINE: pit.sparse
// INLINE-LABEL: func.func @user
// INLINE: pit.for
// INLINE: pit.sparse
// INLINE-NEXT: pit.yield
func.func @marked(%a: tensor<8xf32>) -> tensor<8xf32> {
  %s = pit.sparse %a : tensor<8xf32>
  return %s : tensor<8xf32>
}
func.func @user(%a: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %r = pit.for (%i) = (%c0) to (%n) step (1) iter_args(%x = %a) -> (tensor<8xf32>) {
    %y = func.call @marked(%x) : (tensor<8xf32>) -> tensor<8xf32>
    pit.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// An entry point of several blocks; what is not computed yet is somewhere, too.
// CHECK-LABEL: func.func @blocks_with_tensors
// CHECK-NOT: ub.poison : tensor
// CHECK: scf.if
// CHECK-NOT: {{ }}cf.
// CHECK: return
func.func @blocks_with_tensors(%a: tensor<?x4xf32>, %n: index, %if: i1) -> tensor<?x4xf32> {
  %c1 = arith.constant 1 : index
  cf.br ^head(%c1, %a : index, tensor<?x4xf32>)
^head(%i: index, %x: tensor<?x4xf32>):
  %go = arith.cmpi ult, %i, %n : index
  cf.cond_br %go, ^body, ^end
^body:
  %j = arith.addi %i, %c1 : index
  %y = linalg.exp ins(%x : tensor<?x4xf32>) outs(%x : tensor<?x4xf32>) -> tensor<?x4xf32>
  cf.cond_br %if, ^head(%j, %y : index, tensor<?x4xf32>), ^out
^out:
  return %y : tensor<?x4xf32>
^end:
  return %x : tensor<?x4xf32>
}

// -----

// What is only declared is the linker's.
// CHECK-LABEL: func.func @external
// CHECK-NEXT: call @cosf
func.func private @cosf(f32) -> f32
func.func @external(%x: f32) -> f32 {
  %r = call @cosf(%x) : (f32) -> f32
  return %r : f32
}

// -----

func.func @itself(%x: f32) -> f32 {
  // expected-error @below {{'func.call' op calls @itself, which so calls itself; recursion is not supported: write a loop}}
  %r = call @itself(%x) : (f32) -> f32
  return %r : f32
}

// -----

func.func @start(%x: f32) -> f32 {
  %r = call @f(%x) : (f32) -> f32
  return %r : f32
}
func.func private @f(%x: f32) -> f32 {
  %r = call @g(%x) : (f32) -> f32
  return %r : f32
}
func.func private @g(%x: f32) -> f32 {
  %r = call @h(%x) : (f32) -> f32
  return %r : f32
}
func.func private @h(%x: f32) -> f32 {
  // expected-error @below {{'func.call' op calls @f, which so calls itself by @g, @h; recursion is not supported: write a loop}}
  %r = call @f(%x) : (f32) -> f32
  return %r : f32
}

// -----

func.func @indirect(%g: (f32) -> f32, %x: f32) -> f32 {
  // expected-error @below {{calls a function that is only known at run time; pit takes func.call of functions that the module defines or declares}}
  %r = call_indirect %g(%x) : (f32) -> f32
  return %r : f32
}
