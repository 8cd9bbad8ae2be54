// RUN: pit-opt %s -pit-tiles-to-loops -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-to-cpu -split-input-file | FileCheck %s --check-prefix=CPU

// Level 3 as a language of its own: programs that pit-tile would not write.

!t = tensor<?x?xf32>
!kv = !pit.index<micro_tile = [32, 1], axis = 1>

// Attention over the blocks of a mask: several carried tensors, two
// contractions, keys and values gathered by the same ids.
// CHECK-LABEL: func.func @attention
// CHECK: call @pit_rt_build
// CHECK: scf.parallel
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK-COUNT-2: linalg.matmul
// CPU: llvm.func @pit_attention(
// CPU: llvm.func internal @pit_attention.body
// CPU: omp.wsloop
func.func @attention(%q: !t, %k: !t, %v: !t, %mask: tensor<?x?xi1>) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e30 : f32
  %m = tensor.dim %q, %c0 : !t
  %c1 = arith.constant 1 : index
  %d = tensor.dim %v, %c1 : !t
  %e = tensor.empty(%m, %d) : !t
  %i = pit.index mask %mask : tensor<?x?xi1> -> !kv
  %r = pit.forall (%mi) = (%c0) to (%m) step (32) iter_args(%o = %e) -> (!t) {
    %qt = pit.sread %q[%mi, %c0] : !t -> tensor<32x64xf32>
    %ev = tensor.empty() : tensor<32xf32>
    %ea = tensor.empty() : tensor<32x64xf32>
    %max0 = linalg.fill ins(%low : f32) outs(%ev : tensor<32xf32>) -> tensor<32xf32>
    %sum0 = linalg.fill ins(%zero : f32) outs(%ev : tensor<32xf32>) -> tensor<32xf32>
    %acc0 = linalg.fill ins(%zero : f32) outs(%ea : tensor<32x64xf32>) -> tensor<32x64xf32>
    %l:3 = pit.for %ids at %pos in %i[%mi] : !kv chunk 16
        iter_args(%max = %max0, %sum = %sum0, %acc = %acc0) -> (tensor<32xf32>, tensor<32xf32>, tensor<32x64xf32>) {
      %kt = pit.sread %k[%ids : !pit.ids<16>, %c0] : !t -> tensor<16x64xf32>
      %vt = pit.sread %v[%ids : !pit.ids<16>, %c0] : !t -> tensor<16x64xf32>
      %mt = pit.sread %mask[%mi, %ids : !pit.ids<16>] : tensor<?x?xi1> -> tensor<32x16xi1>
      %es = tensor.empty() : tensor<32x16xf32>
      %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<32x16xf32>) -> tensor<32x16xf32>
      %s1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
          ins(%qt, %kt : tensor<32x64xf32>, tensor<16x64xf32>) outs(%s0 : tensor<32x16xf32>) -> tensor<32x16xf32>
      %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
          ins(%mt : tensor<32x16xi1>) outs(%s1 : tensor<32x16xf32>) {
      ^bb0(%b: i1, %x: f32):
        %y = arith.select %b, %x, %low : f32
        linalg.yield %y : f32
      } -> tensor<32x16xf32>
      %max1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
          ins(%s : tensor<32x16xf32>) outs(%max : tensor<32xf32>) {
      ^bb0(%x: f32, %y: f32):
        %z = arith.maximumf %y, %x : f32
        linalg.yield %z : f32
      } -> tensor<32xf32>
      %scale = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
          ins(%max, %max1 : tensor<32xf32>, tensor<32xf32>) outs(%ev : tensor<32xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %w = arith.subf %x, %y : f32
        %p = math.exp %w : f32
        linalg.yield %p : f32
      } -> tensor<32xf32>
      %p = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%s, %mt, %max1 : tensor<32x16xf32>, tensor<32x16xi1>, tensor<32xf32>) outs(%es : tensor<32x16xf32>) {
      ^bb0(%x: f32, %b: i1, %y: f32, %z: f32):
        %w = arith.subf %x, %y : f32
        %u = math.exp %w : f32
        %g = arith.select %b, %u, %zero : f32
        linalg.yield %g : f32
      } -> tensor<32x16xf32>
      %sum1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>],
          iterator_types = ["parallel", "reduction"]}
          ins(%p, %scale : tensor<32x16xf32>, tensor<32xf32>) outs(%sum : tensor<32xf32>) {
      ^bb0(%x: f32, %f: f32, %y: f32):
        %n = linalg.index 1 : index
        %first = arith.cmpi eq, %n, %c0 : index
        %sy = arith.mulf %y, %f : f32
        %old = arith.select %first, %sy, %y : f32
        %z = arith.addf %old, %x : f32
        linalg.yield %z : f32
      } -> tensor<32xf32>
      %acc1 = linalg.generic {indexing_maps = [affine_map<(m, d) -> (m)>, affine_map<(m, d) -> (m, d)>], iterator_types = ["parallel", "parallel"]}
          ins(%scale : tensor<32xf32>) outs(%acc : tensor<32x64xf32>) {
      ^bb0(%f: f32, %x: f32):
        %y = arith.mulf %f, %x : f32
        linalg.yield %y : f32
      } -> tensor<32x64xf32>
      %acc2 = linalg.matmul ins(%p, %vt : tensor<32x16xf32>, tensor<16x64xf32>) outs(%acc1 : tensor<32x64xf32>) -> tensor<32x64xf32>
      pit.yield %max1, %sum1, %acc2 : tensor<32xf32>, tensor<32xf32>, tensor<32x64xf32>
    }
    %out = linalg.generic {indexing_maps = [affine_map<(m, d) -> (m)>, affine_map<(m, d) -> (m, d)>], iterator_types = ["parallel", "parallel"]}
        ins(%l#1 : tensor<32xf32>) outs(%l#2 : tensor<32x64xf32>) {
    ^bb0(%s: f32, %x: f32):
      %none = arith.cmpf oeq, %s, %zero : f32
      %y = arith.divf %x, %s : f32
      %z = arith.select %none, %zero, %y : f32
      linalg.yield %z : f32
    } -> tensor<32x64xf32>
    %w = pit.swrite %out into %o[%mi, %c0] : tensor<32x64xf32> into !t
    pit.yield %w : !t
  }
  return %r : !t
}

// -----

!v = tensor<?xf32>
!flat = !pit.index<micro_tile = [1], axis = 0>

// The index is the caller's. Coordinates are data: each live element times
// where it is, combined with what the output holds.
// CHECK-LABEL: func.func @coords
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr {pit.frame}, {{.*}}, %[[I:[^:]*]]: !llvm.ptr
// CHECK-NOT: @pit_rt_build
// CHECK: llvm.getelementptr %[[I]]
// CHECK: scf.parallel
// CHECK: arith.maximumf
// CPU: llvm.func @pit_coords(
func.func @coords(%x: !v, %y: !v, %i: !flat) -> !v {
  %r = pit.forall %ids at %pos in %i : !flat chunk 32 iter_args(%o = %y) -> (!v) {
    %t = pit.sread %x[%ids : !pit.ids<32>] : !v -> tensor<32xf32>
    %c = pit.coords %ids : !pit.ids<32> -> tensor<32xindex>
    %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%c : tensor<32xindex>) outs(%t : tensor<32xf32>) {
    ^bb0(%at: index, %a: f32):
      %n = arith.index_cast %at : index to i64
      %f = arith.sitofp %n : i64 to f32
      %m = arith.mulf %a, %f : f32
      linalg.yield %m : f32
    } -> tensor<32xf32>
    %w = pit.swrite %p into %o[%ids : !pit.ids<32>] combine(maximumf) : tensor<32xf32> into !v
    pit.yield %w : !v
  }
  return %r : !v
}

// -----

!t = tensor<?x?xf32>
!rows = !pit.index<micro_tile = [1, *], axis = 0>
!cols = !pit.index<micro_tile = [*, 1], axis = 1>

// Two indices in two loops: live rows of a times live columns of b, written
// packed, with as many rows and columns as there are.
// CHECK-LABEL: func.func @outer
// CHECK-COUNT-2: call @pit_rt_build
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: linalg.matmul
// CPU: llvm.func @pit_outer(
func.func @outer(%a: !t, %b: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %k = tensor.dim %a, %c1 : !t
  %i = pit.index %a : !t -> !rows
  %j = pit.index %b : !t -> !cols
  %m = pit.count %i : !rows
  %n = pit.extent %j : !cols
  %e = tensor.empty(%m, %n) : !t
  %r = pit.forall %ids at %pos in %i : !rows chunk 32 iter_args(%o = %e) -> (!t) {
    %r1 = pit.for %jds at %jpos in %j : !cols chunk 16 iter_args(%o1 = %o) -> (!t) {
      %ea = tensor.empty() : tensor<32x16xf32>
      %acc0 = linalg.fill ins(%zero : f32) outs(%ea : tensor<32x16xf32>) -> tensor<32x16xf32>
      %sum = pit.for (%ki) = (%c0) to (%k) step (8) iter_args(%acc = %acc0) -> (tensor<32x16xf32>) {
        %at = pit.sread %a[%ids : !pit.ids<32>, %ki] : !t -> tensor<32x8xf32>
        %bt = pit.sread %b[%ki, %jds : !pit.ids<16>] : !t -> tensor<8x16xf32>
        %p = linalg.matmul ins(%at, %bt : tensor<32x8xf32>, tensor<8x16xf32>) outs(%acc : tensor<32x16xf32>) -> tensor<32x16xf32>
        pit.yield %p : tensor<32x16xf32>
      }
      %w = pit.swrite %sum into %o1[%pos : !pit.ids<32>, %jpos : !pit.ids<16>] : tensor<32x16xf32> into !t
      pit.yield %w : !t
    }
    pit.yield %r1 : !t
  }
  return %r : !t
}

// -----

!t = tensor<?x?xf32>

// No index at all: a dense tile program, sequential, that changes its tensor in
// place, tile by tile.
// CHECK-LABEL: func.func @dense
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.transfer_write
// CPU: llvm.func @pit_dense(
func.func @dense(%a: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : !t
  %n = tensor.dim %a, %c1 : !t
  %r = pit.for (%mi, %ni) = (%c0, %c0) to (%m, %n) step (8, 16) iter_args(%o = %a) -> (!t) {
    %x = pit.sread %o[%mi, %ni] : !t -> tensor<8x16xf32>
    %y = linalg.add ins(%x, %x : tensor<8x16xf32>, tensor<8x16xf32>) outs(%x : tensor<8x16xf32>) -> tensor<8x16xf32>
    %w = pit.swrite %y into %o[%mi, %ni] : tensor<8x16xf32> into !t
    pit.yield %w : !t
  }
  return %r : !t
}
