// RUN: pit-opt %s -one-shot-bufferize=bufferize-function-boundaries | FileCheck %s

// Whether a loop reads what it carries is asked once for each loop around it. Asked twice, as
// of upstream's loops, this takes minutes.

// CHECK-LABEL: func @nest
// CHECK-COUNT-24: pit.for
// CHECK-NOT: memref.alloc
func.func @nest(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %r0 = pit.for (%i0) = (%c0) to (%n) step (8) iter_args(%a0 = %x) -> (tensor<8xf32>) {
  %r1 = pit.for (%i1) = (%c0) to (%n) step (8) iter_args(%a1 = %a0) -> (tensor<8xf32>) {
  %r2 = pit.for (%i2) = (%c0) to (%n) step (8) iter_args(%a2 = %a1) -> (tensor<8xf32>) {
  %r3 = pit.for (%i3) = (%c0) to (%n) step (8) iter_args(%a3 = %a2) -> (tensor<8xf32>) {
  %r4 = pit.for (%i4) = (%c0) to (%n) step (8) iter_args(%a4 = %a3) -> (tensor<8xf32>) {
  %r5 = pit.for (%i5) = (%c0) to (%n) step (8) iter_args(%a5 = %a4) -> (tensor<8xf32>) {
  %r6 = pit.for (%i6) = (%c0) to (%n) step (8) iter_args(%a6 = %a5) -> (tensor<8xf32>) {
  %r7 = pit.for (%i7) = (%c0) to (%n) step (8) iter_args(%a7 = %a6) -> (tensor<8xf32>) {
  %r8 = pit.for (%i8) = (%c0) to (%n) step (8) iter_args(%a8 = %a7) -> (tensor<8xf32>) {
  %r9 = pit.for (%i9) = (%c0) to (%n) step (8) iter_args(%a9 = %a8) -> (tensor<8xf32>) {
  %r10 = pit.for (%i10) = (%c0) to (%n) step (8) iter_args(%a10 = %a9) -> (tensor<8xf32>) {
  %r11 = pit.for (%i11) = (%c0) to (%n) step (8) iter_args(%a11 = %a10) -> (tensor<8xf32>) {
  %r12 = pit.for (%i12) = (%c0) to (%n) step (8) iter_args(%a12 = %a11) -> (tensor<8xf32>) {
  %r13 = pit.for (%i13) = (%c0) to (%n) step (8) iter_args(%a13 = %a12) -> (tensor<8xf32>) {
  %r14 = pit.for (%i14) = (%c0) to (%n) step (8) iter_args(%a14 = %a13) -> (tensor<8xf32>) {
  %r15 = pit.for (%i15) = (%c0) to (%n) step (8) iter_args(%a15 = %a14) -> (tensor<8xf32>) {
  %r16 = pit.for (%i16) = (%c0) to (%n) step (8) iter_args(%a16 = %a15) -> (tensor<8xf32>) {
  %r17 = pit.for (%i17) = (%c0) to (%n) step (8) iter_args(%a17 = %a16) -> (tensor<8xf32>) {
  %r18 = pit.for (%i18) = (%c0) to (%n) step (8) iter_args(%a18 = %a17) -> (tensor<8xf32>) {
  %r19 = pit.for (%i19) = (%c0) to (%n) step (8) iter_args(%a19 = %a18) -> (tensor<8xf32>) {
  %r20 = pit.for (%i20) = (%c0) to (%n) step (8) iter_args(%a20 = %a19) -> (tensor<8xf32>) {
  %r21 = pit.for (%i21) = (%c0) to (%n) step (8) iter_args(%a21 = %a20) -> (tensor<8xf32>) {
  %r22 = pit.for (%i22) = (%c0) to (%n) step (8) iter_args(%a22 = %a21) -> (tensor<8xf32>) {
  %r23 = pit.for (%i23) = (%c0) to (%n) step (8) iter_args(%a23 = %a22) -> (tensor<8xf32>) {
  %s = linalg.exp ins(%a23 : tensor<8xf32>) outs(%a23 : tensor<8xf32>) -> tensor<8xf32>
  pit.yield %s : tensor<8xf32> }
  pit.yield %r23 : tensor<8xf32> }
  pit.yield %r22 : tensor<8xf32> }
  pit.yield %r21 : tensor<8xf32> }
  pit.yield %r20 : tensor<8xf32> }
  pit.yield %r19 : tensor<8xf32> }
  pit.yield %r18 : tensor<8xf32> }
  pit.yield %r17 : tensor<8xf32> }
  pit.yield %r16 : tensor<8xf32> }
  pit.yield %r15 : tensor<8xf32> }
  pit.yield %r14 : tensor<8xf32> }
  pit.yield %r13 : tensor<8xf32> }
  pit.yield %r12 : tensor<8xf32> }
  pit.yield %r11 : tensor<8xf32> }
  pit.yield %r10 : tensor<8xf32> }
  pit.yield %r9 : tensor<8xf32> }
  pit.yield %r8 : tensor<8xf32> }
  pit.yield %r7 : tensor<8xf32> }
  pit.yield %r6 : tensor<8xf32> }
  pit.yield %r5 : tensor<8xf32> }
  pit.yield %r4 : tensor<8xf32> }
  pit.yield %r3 : tensor<8xf32> }
  pit.yield %r2 : tensor<8xf32> }
  pit.yield %r1 : tensor<8xf32> }
  return %r0 : tensor<8xf32>
}
