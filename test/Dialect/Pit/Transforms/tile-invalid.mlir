// RUN: pit-opt %s -pit-tile -split-input-file -verify-diagnostics

!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>

func.func @no_operand(%a: !t, %b: !t, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  // expected-error @+1 {{'linalg.matmul' op has a pit.rule without one of its operands}}
  %r = linalg.matmul {pit.rule = #pit.rule<axis = 1, tile = [32, 128, 64]>} ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xf32>
func.func @operand_3(%a: !t, %b: !t, %c: !t) -> !t {
  // expected-error @+1 {{'linalg.matmul' op has a pit.rule without one of its operands}}
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 3, axis = 1, tile = [32, 128, 64]>} ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xf32>
func.func @no_mark(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a : !t
  // expected-error @+1 {{'linalg.matmul' op has a rule for operand 0, which is not marked by pit.sparse index(..)}}
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 128, 64]>} ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

// The other operand is marked.
!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @other_operand(%a: !t, %b: !t, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  // expected-error @+1 {{has a rule for operand 1, which is not marked by pit.sparse index(..)}}
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 1, axis = 1, tile = [32, 128, 64]>} ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

// Somebody else needs all of the result.
!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @result_has_other_uses(%a: !t, %b: !t, %c: !t, %i: !cols) -> (!t, !t) {
  // expected-error @+1 {{has a rule for operand 2, which is not marked by pit.sparse index(..)}}
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 2, axis = 1, tile = [32, 64, 64]>} ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  %s = pit.sparse %r index(%i : !cols) : !t
  return %s, %r : !t, !t
}

// -----

!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @tile_rank(%a: !t, %b: !t, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  // expected-error @+1 {{cannot be tiled by its rule: the rule's tile has 0 extents, the op iterates over 3 dims}}
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1>} ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @no_axis(%a: !t, %b: !t, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  // expected-error @+1 {{cannot be tiled by its rule: operand 0 has no plain dim at axis 2}}
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 2, tile = [32, 128, 64]>} ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @other_axis(%a: !t, %b: !t, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  // expected-error @+1 {{cannot be tiled by its rule: the index is of axis 1 of a rank-2 tensor}}
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [32, 128, 64]>} ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @other_tile(%a: !t, %b: !t, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  // expected-error @+1 {{a tile touches 16 elements every 16 along dimension 0 of the sparse operand, a micro-tile of the index 32 every 32}}
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [16, 128, 64]>} ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!t = tensor<40x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @single_tile(%a: !t, %b: tensor<?x8xf32>, %c: tensor<40x8xf32>, %i: !cols) -> tensor<40x8xf32> {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  // expected-error @+1 {{a micro-tile of 32 along dimension 0 does not cover the single tile of 64}}
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [64, 8, 64]>} ins(%s, %b : !t, tensor<?x8xf32>) outs(%c : tensor<40x8xf32>) -> tensor<40x8xf32>
  return %r : tensor<40x8xf32>
}

// -----

!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @other_micro_tile(%a: !t, %b: !t, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  // expected-error @+1 {{the micro-tile of #pit.rule<operand = 0, axis = 1, micro_tile = [16, 1], tile = [32, 128, 64]> is not that of !pit.index<micro_tile = [32, 1], axis = 1>}}
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [16, 1], tile = [32, 128, 64]>} ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!b = tensor<?x?x?xf32>
!parts = !pit.index<micro_tile = [1, 1, 64], axis = 1>
func.func @two_phase(%a: !b, %b: !b, %c: !b, %i: !parts) -> !b {
  %s = pit.sparse %a index(%i : !parts) assume : !b
  // expected-error @+1 {{d0 numbers groups, but they do not conflict along it, so there are no two phases; groups have to be sequential}}
  %r = linalg.batch_matmul {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [1, 64, 128, 64], conflicts = two_phase>} ins(%s, %b : !b, !b) outs(%c : !b) -> !b
  return %r : !b
}

// -----

!t = tensor<?x?xf32>
!z = tensor<?xcomplex<f32>>
!parts = !pit.index<micro_tile = [1, 64], axis = 0>
func.func @no_atomic(%a: !t, %b: !z, %c: !z, %i: !parts) -> !z {
  %s = pit.sparse %a index(%i : !parts) assume : !t
  // expected-error @+1 {{complex.add of result 0 is no atomic operation; groups have to be sequential}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%s, %b : !t, !z) outs(%c : !z)
      attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 64], conflicts = atomic>} {
  ^bb0(%x: f32, %y: complex<f32>, %o: complex<f32>):
    %zero = arith.constant 0.0 : f32
    %none = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
    %is = arith.cmpf une, %x, %zero : f32
    %p = arith.select %is, %y, %none : complex<f32>
    %q = complex.add %o, %p : complex<f32>
    linalg.yield %q : complex<f32>
  } -> !z
  return %r : !z
}

// -----

!t = tensor<?x?xi1>
!parts = !pit.index<micro_tile = [1, 64], axis = 0>
func.func @no_bits(%a: !t, %c: tensor<?xi1>, %i: !parts) -> tensor<?xi1> {
  %s = pit.sparse %a index(%i : !parts) assume : !t
  // expected-error @+1 {{i1 of result 0 cannot be combined in memory by arith.ori; groups have to be sequential}}
  %r = linalg.reduce ins(%s : !t) outs(%c : tensor<?xi1>) dimensions = [1] {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 64], conflicts = atomic>}
  (%x: i1, %o: i1) {
    %q = arith.ori %o, %x : i1
    linalg.yield %q : i1
  }
  return %r : tensor<?xi1>
}

// -----

!t = tensor<?x?xf32>
!rows = !pit.index<micro_tile = [1, *], axis = 0>
func.func @not_a_pit_axis(%a: !t, %c: !t, %i: !rows) -> !t {
  %s = pit.sparse %a index(%i : !rows) assume : !t
  // expected-error @+1 {{cannot be tiled by its rule: d0 is no PIT axis [C7]}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : !t) outs(%c : !t) attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [32, 64]>} {
  ^bb0(%x: f32, %o: f32):
    %m = linalg.index 0 : index
    %m64 = arith.index_cast %m : index to i64
    %f = arith.sitofp %m64 : i64 to f32
    %p = arith.mulf %x, %f : f32
    linalg.yield %p : f32
  } -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @skipping(%a: !t, %c: tensor<?xf32>, %i: !cols) -> tensor<?xf32> {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  // expected-error @+1 {{cannot be tiled by its rule: skipping operand 0 is not legal [S3]}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%s : !t) outs(%c : tensor<?xf32>) attrs = {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 64]>} {
  ^bb0(%x: f32, %o: f32):
    %e = math.exp %x : f32
    %q = arith.addf %o, %e : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Results that are reduced over different dims are not written together.
!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @different_results(%a: !t, %c: tensor<?xf32>, %d: !t, %i: !cols) -> (tensor<?xf32>, !t) {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  // expected-error @+1 {{cannot be tiled by its rule: its results are reduced over different dims}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%s : !t) outs(%c, %d : tensor<?xf32>, !t) attrs = {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 64]>} {
  ^bb0(%x: f32, %o: f32, %p: f32):
    %q = arith.addf %o, %x : f32
    linalg.yield %q, %x : f32, f32
  } -> (tensor<?xf32>, !t)
  return %r#0, %r#1 : tensor<?xf32>, !t
}

// -----

// Memrefs carry no marks.
func.func @memrefs(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  // expected-error @+1 {{has a rule for operand 0, which is not marked by pit.sparse index(..)}}
  linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 128, 64]>} ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}
