// RUN: pit-opt %s --split-input-file --pit-tiles-to-loops | FileCheck %s

// A table says where a step's tile lies. While a step reads its rows, it asks for
// those of the next step, whose entry it reads ahead; the last step asks for its own.

// CHECK-LABEL: func.func @pages
// CHECK: scf.for %[[P:.*]] = %c0 to %[[END:.*]] step %c64
// CHECK: %[[NUMBER:.*]] = memref.load
// CHECK: %[[PAGE:.*]] = arith.index_cast %[[NUMBER]]
// CHECK: %[[STEP:.*]] = arith.addi %[[P]], %c64
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[STEP]], %[[END]]
// CHECK: %[[NEXT:.*]] = arith.select %[[MORE]], %[[STEP]], %[[P]]
// CHECK: %[[ENTRY:.*]] = arith.floordivsi %[[NEXT]], %c64
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[ENTRY]], %{{.*}}
// CHECK: %[[AHEAD:.*]] = scf.if %[[INSIDE]]
// CHECK:   memref.load %arg2[%[[ENTRY]]]
// CHECK: } else {
// CHECK:   scf.yield %[[NUMBER]]
// CHECK: %[[NEXTPAGE:.*]] = arith.index_cast %[[AHEAD]]
// CHECK: scf.for %[[I:.*]] = %c0 to
// CHECK:   scf.for %[[ROW:.*]] = %c0 to %c64 step %c1
// CHECK:     %[[TO:.*]] = arith.addi %[[NEXTPAGE]], %[[I]]
// CHECK:     scf.for %[[LINE:.*]] = %c0 to %c128 step %c16
// CHECK:       memref.prefetch %arg1[%[[TO]], %[[ROW]], %[[LINE]]], read, locality<3>, data
func.func @pages(%cache: tensor<?x64x128xf32>, %table: tensor<?xi32>, %o: tensor<?x64x128xf32>, %n: index) -> tensor<?x64x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = pit.forall (%x) = (%c0) to (%c1) step (1) iter_args(%to = %o) -> (tensor<?x64x128xf32>) {
    %first = pit.sread %to[%x, %c0, %c0] : tensor<?x64x128xf32> -> tensor<1x64x128xf32>
    %sum = pit.for (%p) = (%c0) to (%n) step (64) iter_args(%s = %first) -> (tensor<1x64x128xf32>) {
      %e = arith.floordivsi %p, %c64 : index
      %t = pit.sread %table[%e] pad(-1 : i32) : tensor<?xi32> -> tensor<1xi32>
      %number = tensor.extract %t[%c0] : tensor<1xi32>
      %page = arith.index_cast %number : i32 to index
      %k = pit.sread %cache[%page, %c0, %c0] : tensor<?x64x128xf32> -> tensor<1x64x128xf32>
      %w = linalg.add ins(%s, %k : tensor<1x64x128xf32>, tensor<1x64x128xf32>) outs(%s : tensor<1x64x128xf32>) -> tensor<1x64x128xf32>
      pit.yield %w : tensor<1x64x128xf32>
    }
    %w = pit.swrite %sum into %to[%x, %c0, %c0] : tensor<1x64x128xf32> into tensor<?x64x128xf32>
    pit.yield %w : tensor<?x64x128xf32>
  }
  return %r : tensor<?x64x128xf32>
}

// -----

// Steps in a row are foreseen by the hardware, and an entry that no step changes
// is no other tile.

// CHECK-LABEL: func.func @in_a_row
// CHECK-NOT: memref.prefetch
func.func @in_a_row(%cache: tensor<?x64x128xf32>, %table: tensor<?xi32>, %o: tensor<?x64x128xf32>, %n: index) -> tensor<?x64x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = pit.forall (%x) = (%c0) to (%c1) step (1) iter_args(%to = %o) -> (tensor<?x64x128xf32>) {
    %first = pit.sread %to[%x, %c0, %c0] : tensor<?x64x128xf32> -> tensor<1x64x128xf32>
    %sum = pit.for (%p) = (%c0) to (%n) step (1) iter_args(%s = %first) -> (tensor<1x64x128xf32>) {
      %t = pit.sread %table[%x] : tensor<?xi32> -> tensor<1xi32>
      %number = tensor.extract %t[%c0] : tensor<1xi32>
      %base = arith.index_cast %number : i32 to index
      %page = arith.addi %base, %p : index
      %k = pit.sread %cache[%page, %c0, %c0] : tensor<?x64x128xf32> -> tensor<1x64x128xf32>
      %w = linalg.add ins(%s, %k : tensor<1x64x128xf32>, tensor<1x64x128xf32>) outs(%s : tensor<1x64x128xf32>) -> tensor<1x64x128xf32>
      pit.yield %w : tensor<1x64x128xf32>
    }
    %w = pit.swrite %sum into %to[%x, %c0, %c0] : tensor<1x64x128xf32> into tensor<?x64x128xf32>
    pit.yield %w : tensor<?x64x128xf32>
  }
  return %r : tensor<?x64x128xf32>
}

// -----

// The entry that an earlier loop read last is the same in each step.

// CHECK-LABEL: func.func @left_by_a_loop
// CHECK-NOT: memref.prefetch
func.func @left_by_a_loop(%cache: tensor<?x64x128xf32>, %table: tensor<?xi32>, %o: tensor<?x64x128xf32>, %n: index) -> tensor<?x64x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = pit.forall (%x) = (%c0) to (%c1) step (1) iter_args(%to = %o) -> (tensor<?x64x128xf32>) {
    %none = pit.sread %table[%x] : tensor<?xi32> -> tensor<1xi32>
    %last = pit.for (%p) = (%c0) to (%n) step (1) iter_args(%before = %none) -> (tensor<1xi32>) {
      %t = pit.sread %table[%p] : tensor<?xi32> -> tensor<1xi32>
      pit.yield %t : tensor<1xi32>
    }
    %first = pit.sread %to[%x, %c0, %c0] : tensor<?x64x128xf32> -> tensor<1x64x128xf32>
    %sum = pit.for (%p) = (%c0) to (%n) step (1) iter_args(%s = %first) -> (tensor<1x64x128xf32>) {
      %number = tensor.extract %last[%c0] : tensor<1xi32>
      %page = arith.index_cast %number : i32 to index
      %k = pit.sread %cache[%page, %c0, %c0] : tensor<?x64x128xf32> -> tensor<1x64x128xf32>
      %w = linalg.add ins(%s, %k : tensor<1x64x128xf32>, tensor<1x64x128xf32>) outs(%s : tensor<1x64x128xf32>) -> tensor<1x64x128xf32>
      pit.yield %w : tensor<1x64x128xf32>
    }
    %w = pit.swrite %sum into %to[%x, %c0, %c0] : tensor<1x64x128xf32> into tensor<?x64x128xf32>
    pit.yield %w : tensor<?x64x128xf32>
  }
  return %r : tensor<?x64x128xf32>
}
