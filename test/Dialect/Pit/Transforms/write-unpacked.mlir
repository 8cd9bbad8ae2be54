// RUN: pit-opt %s -pit-write-unpacked -split-input-file | FileCheck %s

!index = !pit.index<micro_tile = [1], axis = 0>

// The second loop goes, and the first writes at the ids into what that one wrote into, which moves.
// CHECK-LABEL: func.func @unpacked(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[I:.*]]: !pit.index
// CHECK: %[[Z:.*]] = linalg.fill
// CHECK: %[[R:.*]] = pit.forall %[[IDS:.*]] at %{{.*}} in %[[I]] {{.*}} chunk 32 iter_args(%[[O:.*]] = %[[Z]])
// CHECK: %[[T:.*]] = pit.sread %[[X]][%[[IDS]]
// CHECK: pit.swrite %[[T]] into %[[O]][%[[IDS]]
// CHECK-NOT: pit.forall
// CHECK: return %[[R]]
func.func @unpacked(%x: tensor<?x64xf32>, %i: !index, %n: index) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %p = pit.forall %ids at %pos in %i : !index chunk 32 iter_args(%o = %e) -> (tensor<?x64xf32>) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : tensor<?x64xf32> -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%pos : !pit.ids<32>, %c0] : tensor<32x64xf32> into tensor<?x64xf32>
    pit.yield %w : tensor<?x64xf32>
  }
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = pit.forall (%c) = (%c0) to (%c64) step (32), %ids at %pos in %i : !index chunk 16
         iter_args(%o = %z) -> (tensor<?x64xf32>) {
    %t = pit.sread %p[%pos : !pit.ids<16>, %c] : tensor<?x64xf32> -> tensor<16x32xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<16>, %c] : tensor<16x32xf32> into tensor<?x64xf32>
    pit.yield %w : tensor<?x64xf32>
  }
  return %y : tensor<?x64xf32>
}

// -----

!index = !pit.index<micro_tile = [1], axis = 0>

// Somebody else reads what is packed.
// CHECK-LABEL: func.func @read_twice(
// CHECK-COUNT-2: pit.forall
func.func @read_twice(%x: tensor<?x64xf32>, %i: !index, %e: tensor<?x64xf32>, %z: tensor<?x64xf32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %p = pit.forall %ids at %pos in %i : !index chunk 32 iter_args(%o = %e) -> (tensor<?x64xf32>) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : tensor<?x64xf32> -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%pos : !pit.ids<32>, %c0] : tensor<32x64xf32> into tensor<?x64xf32>
    pit.yield %w : tensor<?x64xf32>
  }
  %y = pit.forall (%c) = (%c0) to (%c64) step (64), %ids at %pos in %i : !index chunk 16
         iter_args(%o = %z) -> (tensor<?x64xf32>) {
    %t = pit.sread %p[%pos : !pit.ids<16>, %c] : tensor<?x64xf32> -> tensor<16x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<16>, %c] : tensor<16x64xf32> into tensor<?x64xf32>
    pit.yield %w : tensor<?x64xf32>
  }
  return %p, %y : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

!index = !pit.index<micro_tile = [1], axis = 0>

// Half of the columns are unpacked.
// CHECK-LABEL: func.func @a_part(
// CHECK-COUNT-2: pit.forall
func.func @a_part(%x: tensor<?x64xf32>, %i: !index, %e: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %p = pit.forall %ids at %pos in %i : !index chunk 32 iter_args(%o = %e) -> (tensor<?x64xf32>) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : tensor<?x64xf32> -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%pos : !pit.ids<32>, %c0] : tensor<32x64xf32> into tensor<?x64xf32>
    pit.yield %w : tensor<?x64xf32>
  }
  %y = pit.forall (%c) = (%c0) to (%c32) step (32), %ids at %pos in %i : !index chunk 16
         iter_args(%o = %z) -> (tensor<?x64xf32>) {
    %t = pit.sread %p[%pos : !pit.ids<16>, %c] : tensor<?x64xf32> -> tensor<16x32xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<16>, %c] : tensor<16x32xf32> into tensor<?x64xf32>
    pit.yield %w : tensor<?x64xf32>
  }
  return %y : tensor<?x64xf32>
}

// -----

!index = !pit.index<micro_tile = [1], axis = 0>

// Another index says where rows belong.
// CHECK-LABEL: func.func @other_index(
// CHECK-COUNT-2: pit.forall
func.func @other_index(%x: tensor<?x64xf32>, %i: !index, %j: !index, %e: tensor<?x64xf32>, %z: tensor<?x64xf32>)
    -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %p = pit.forall %ids at %pos in %i : !index chunk 32 iter_args(%o = %e) -> (tensor<?x64xf32>) {
    %t = pit.sread %x[%ids : !pit.ids<32>, %c0] : tensor<?x64xf32> -> tensor<32x64xf32>
    %w = pit.swrite %t into %o[%pos : !pit.ids<32>, %c0] : tensor<32x64xf32> into tensor<?x64xf32>
    pit.yield %w : tensor<?x64xf32>
  }
  %y = pit.forall (%c) = (%c0) to (%c64) step (64), %ids at %pos in %j : !index chunk 16
         iter_args(%o = %z) -> (tensor<?x64xf32>) {
    %t = pit.sread %p[%pos : !pit.ids<16>, %c] : tensor<?x64xf32> -> tensor<16x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<16>, %c] : tensor<16x64xf32> into tensor<?x64xf32>
    pit.yield %w : tensor<?x64xf32>
  }
  return %y : tensor<?x64xf32>
}
