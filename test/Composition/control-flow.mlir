// REQUIRES: pit-run
// Marks go with values into functions that are called, into branches and loops, and
// out of them.

// DEFINE: %{entry} = call
// DEFINE: %{more} =
// DEFINE: %{run} = --entry=%{entry} --arg='random(64x64,f32,sparsity=0.95,micro=32x1,seed=1)' --arg='random(64x64,f32,seed=2)' %{more} \
// DEFINE:   --pipeline=choice=now --stats --check=%s
// RUN: pit-opt %s -linalg-generalize-named-ops -linalg-fuse-elementwise-ops -linalg-fold-unit-extent-dims -canonicalize -cse -o %t.mlir
// RUN: pit-run %s %{run} | FileCheck %s
// RUN: pit-run %t.mlir %{run} | FileCheck %s
// REDEFINE: %{entry} = branch
// REDEFINE: %{more} = --arg=1
// RUN: pit-run %s %{run} | FileCheck %s
// RUN: pit-run %t.mlir %{run} | FileCheck %s
// REDEFINE: %{entry} = merge
// RUN: pit-run %s %{run} | FileCheck %s
// RUN: pit-run %t.mlir %{run} | FileCheck %s
// REDEFINE: %{entry} = loop
// REDEFINE: %{more} = --arg=2
// RUN: pit-run %s %{run} | FileCheck %s --check-prefixes=CHECK,TWICE
// RUN: pit-run %t.mlir %{run} | FileCheck %s
// REDEFINE: %{entry} = while
// RUN: pit-run %s %{run} | FileCheck %s --check-prefixes=CHECK,TWICE
// RUN: pit-run %t.mlir %{run} | FileCheck %s

// CHECK: index 0: values of {{.*}}, 64x64 along axis 1 in micro-tiles of 32x1
// CHECK-NEXT: 7 of 128 micro-tiles are live
// TWICE: index 1: values of an intermediate tensor
// CHECK: check: result 0: {{.*}}: ok

func.func private @layer(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// The mark is in the caller, its user in the callee.
func.func @call(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = pit.sparse %x : tensor<64x64xf32>
  %y = call @layer(%s, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// It is before the branch, its user in it.
func.func @branch(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %p: i1) -> tensor<64x64xf32> {
  %s = pit.sparse %x : tensor<64x64xf32>
  %r = scf.if %p -> tensor<64x64xf32> {
    %y = func.call @layer(%s, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %y : tensor<64x64xf32>
  } else {
    scf.yield %w : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// Both branches yield a mark.
func.func @merge(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %p: i1) -> tensor<64x64xf32> {
  %r = scf.if %p -> tensor<64x64xf32> {
    %s = pit.sparse %x : tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  } else {
    %s = pit.sparse %x : tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  %y = func.call @layer(%r, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// Every iteration of a loop yields one.
func.func @loop(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %n: index) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s0 = pit.sparse %x : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s0) -> tensor<64x64xf32> {
    %y = func.call @layer(%a, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %s = pit.sparse %y : tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

func.func @while(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %n: index) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s0 = pit.sparse %x : tensor<64x64xf32>
  %r:2 = scf.while (%i = %c0, %a = %s0) : (index, tensor<64x64xf32>) -> (index, tensor<64x64xf32>) {
    %p = arith.cmpi slt, %i, %n : index
    scf.condition(%p) %i, %a : index, tensor<64x64xf32>
  } do {
  ^bb0(%i: index, %a: tensor<64x64xf32>):
    %y = func.call @layer(%a, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %s = pit.sparse %y : tensor<64x64xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %s : index, tensor<64x64xf32>
  }
  return %r#1 : tensor<64x64xf32>
}
