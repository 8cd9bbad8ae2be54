// RUN: pit-opt %s --split-input-file --pit-tiles-to-loops | FileCheck %s
// RUN: pit-opt %s --split-input-file --pit-tiles-to-loops='vector-width=256' | FileCheck %s --check-prefix=AVX2

// B in panels of 64 columns and A in tiles of 32x64 are packed before the loop
// over tiles. Whether B is packed is decided at run time, by how many of its
// rows the index names; if the caller has promised that it is constant, it is
// packed in the first call.

// CHECK-LABEL: func.func @columns
// CHECK: %[[TOTAL:.*]] = arith.index_cast
// CHECK: %[[READS:.*]] = arith.muli %{{.*}}, %c32
// CHECK: %[[ELEMENTS:.*]] = arith.muli %{{.*}}, %c48
// CHECK: %[[WORTH:.*]] = arith.cmpi sgt, %[[READS]], %[[ELEMENTS]]
// CHECK: %[[NEEDED:.*]] = arith.extui %[[WORTH]]
// CHECK: call @pit_rt_keep(%arg0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[NEEDED]], %{{.*}}, %{{.*}})
// CHECK-NEXT: pit.check_status
// CHECK: %[[KEPT:.*]] = arith.cmpi ne, %[[STATE:.*]], %c0_i32
// CHECK: %[[PACKED:.*]] = arith.ori %[[WORTH]], %[[KEPT]]
// CHECK: %[[MISSING:.*]] = arith.cmpi ne, %[[STATE]], %c2_i32
// CHECK: %[[PACKS:.*]] = arith.andi %[[PACKED]], %[[MISSING]]
// CHECK: scf.if %[[PACKS]] {
// CHECK:   scf.parallel
// CHECK:     vector.load {{.*}} vector<16xf32>
// CHECK:     vector.store {{.*}}, vector<16xf32>
// CHECK:   call @pit_rt_kept(%arg0, %{{.*}})
// CHECK: %[[STRIPS:.*]] = arith.select %[[PACKED]], %{{.*}}, %{{.*}} : memref<?x?x64xf32, strided<[?, ?, 1]>>
// CHECK: scf.parallel
// CHECK:   scf.for
// CHECK:     vector.gather
// CHECK:     vector.store {{.*}} : memref<32x64xf32, strided<[64, 1], offset: ?>>

// The tile loop: columns outside, since tiles of the same ones share panels.
// With few ids there is one chunk, and sums go from registers to C.
// CHECK: scf.parallel (%[[N:.*]], %[[M:.*]]) =
// CHECK:   scf.if
// Rows of B are found once a chunk; the first block of rows prefetches them.
// CHECK:     scf.for
// CHECK:       vector.maskedload {{.*}} : memref<?xi32>, vector<16xi1>, vector<16xi32> into vector<16xi32>
// CHECK:       arith.minsi {{.*}} : vector<16xi32>
// CHECK:       vector.store {{.*}} : memref<64xindex>, vector<16xindex>
// If they are few, each block asks for a part of the next panel.
// CHECK:     %[[IDS:.*]] = arith.muli %{{.*}}, %c4
// CHECK:     %[[FEW:.*]] = arith.cmpi slt, %[[IDS]], %c1024
// CHECK-NOT:   locality<2>
// CHECK:     %[[STRIP:.*]] = arith.addi %{{.*}}, %c64
// CHECK:     %[[MORE:.*]] = arith.cmpi slt, %[[STRIP]], %c128
// CHECK:     %[[AHEAD:.*]] = arith.andi %[[FEW]], %[[MORE]]
// CHECK:     scf.if %[[AHEAD]] {
// CHECK:       scf.for
// CHECK-COUNT-4: memref.prefetch {{.*}} locality<3>
// CHECK:     scf.for {{.*}} step %c4 iter_args({{.*}}) -> (vector<16xf32>, {{.*}}) {
// CHECK:       memref.load {{.*}} : memref<64xindex>
// CHECK-COUNT-4: memref.prefetch %[[STRIPS]]{{.*}} locality<3>
// CHECK:       memref.load {{.*}} : memref<64xindex>
// CHECK-COUNT-4: vector.load %[[STRIPS]]
// CHECK:       %[[A0:.*]] = vector.broadcast
// CHECK:       arith.mulf %[[A0]], %{{.*}} fastmath<contract> : vector<16xf32>
// If C is large and aligned it is stored past the caches.
// CHECK:       scf.if %[[STREAMS:.*]] {
// CHECK-COUNT-4: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK:       } else {
// CHECK-COUNT-4: vector.store {{.*}}[{{[^{]*}}] : memref<2048x512xf32
// CHECK:   } else {
// Each panel asks for a part of what the next chunk reads of A.
// CHECK:     %[[PART:.*]] = arith.muli %{{.*}}, %c32
// CHECK-NEXT: memref.prefetch %[[NEXT:.*]][%c0, %[[PART]]], read, locality<2>, data : memref<32x64xf32
// CHECK-NEXT: %[[LINE:.*]] = arith.addi %[[PART]], %c16
// CHECK-NEXT: memref.prefetch %[[NEXT]][%c0, %[[LINE]]]
// CHECK-COUNT-6: memref.prefetch %[[NEXT]]{{.*}} locality<2>
// CHECK-NOT:   locality<2>
// CHECK:     scf.for {{.*}} iter_args
// CHECK:   scf.if %[[STREAMS]] {
// CHECK:     llvm.fence seq_cst

// AVX2-LABEL: func.func @columns
// AVX2: scf.for {{.*}} iter_args
// AVX2: arith.mulf {{.*}} vector<8xf32>
func.func @columns(%a: tensor<2048x1024xf32>, %b: tensor<1024x512xf32>) -> tensor<2048x512xf32> {
  %c0 = arith.constant 0 : index
  %m = arith.constant 2048 : index
  %n = arith.constant 512 : index
  %cst = arith.constant 0.0 : f32
  %i = pit.index %a : tensor<2048x1024xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %e = tensor.empty() : tensor<2048x512xf32>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 128) iter_args(%o = %e) -> (tensor<2048x512xf32>) {
    %t = tensor.empty() : tensor<32x128xf32>
    %acc = linalg.fill ins(%cst : f32) outs(%t : tensor<32x128xf32>) -> tensor<32x128xf32>
    %sum = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%s = %acc) -> (tensor<32x128xf32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<2048x1024xf32> -> tensor<32x64xf32>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] pad(0.0 : f32) : tensor<1024x512xf32> -> tensor<64x128xf32>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x128xf32>) outs(%s : tensor<32x128xf32>) -> tensor<32x128xf32>
      pit.yield %p : tensor<32x128xf32>
    }
    %w = pit.swrite %sum into %o[%x, %y] : tensor<32x128xf32> into tensor<2048x512xf32>
    pit.yield %w : tensor<2048x512xf32>
  }
  return %r : tensor<2048x512xf32>
}

// -----

// Rows of A are gathered once for all columns; rows of C that do not exist are
// not stored; the last columns are masked.

// CHECK-LABEL: func.func @rows
// CHECK-NOT: vector.gather
// CHECK: scf.parallel
// CHECK:   scf.for
// CHECK:     vector.maskedload %arg1
// CHECK:     vector.store
// CHECK: scf.parallel
// CHECK-NOT: memref.load %arg1
// CHECK: scf.if
// CHECK:   vector.store
// CHECK: vector.create_mask
// CHECK: vector.maskedstore
func.func @rows(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %k = tensor.dim %b, %c0 : tensor<?x?xf32>
  %i = pit.index %a : tensor<?x?xf32> -> !pit.index<micro_tile = [1, *], axis = 0>
  %r = pit.forall (%y) = (%c0) to (%n) step (128), %ids at %pos in %i[] : !pit.index<micro_tile = [1, *], axis = 0> chunk 32 iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %acc = pit.sread %o[%ids : !pit.ids<32>, %y] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x128xf32>
    %sum = pit.for (%z) = (%c0) to (%k) step (64) iter_args(%s = %acc) -> (tensor<32x128xf32>) {
      %at = pit.sread %a[%ids : !pit.ids<32>, %z] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x64xf32>
      %bt = pit.sread %b[%z, %y] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<64x128xf32>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x128xf32>) outs(%s : tensor<32x128xf32>) -> tensor<32x128xf32>
      pit.yield %p : tensor<32x128xf32>
    }
    %w = pit.swrite %sum into %o[%ids : !pit.ids<32>, %y] : tensor<32x128xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// B is no argument: no caller can promise anything about it.

// CHECK-LABEL: func.func @computed
// CHECK-NOT: pit_rt_keep
// CHECK: %[[WORTH:.*]] = arith.cmpi sgt
// CHECK: scf.if %[[WORTH]] {
// CHECK: arith.select %[[WORTH]], %{{.*}}, %{{.*}} : memref<?x?x64xf32
func.func @computed(%a: tensor<2048x1024xf32>, %b: tensor<1024x512xf32>) -> tensor<2048x512xf32> {
  %c0 = arith.constant 0 : index
  %m = arith.constant 2048 : index
  %n = arith.constant 512 : index
  %cst = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<1024x512xf32>
  %d = linalg.exp ins(%b : tensor<1024x512xf32>) outs(%f : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %i = pit.index %a : tensor<2048x1024xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %e = tensor.empty() : tensor<2048x512xf32>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 128) iter_args(%o = %e) -> (tensor<2048x512xf32>) {
    %t = tensor.empty() : tensor<32x128xf32>
    %acc = linalg.fill ins(%cst : f32) outs(%t : tensor<32x128xf32>) -> tensor<32x128xf32>
    %sum = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%s = %acc) -> (tensor<32x128xf32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<2048x1024xf32> -> tensor<32x64xf32>
      %bt = pit.sread %d[%ids : !pit.ids<64>, %y] pad(0.0 : f32) : tensor<1024x512xf32> -> tensor<64x128xf32>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x128xf32>) outs(%s : tensor<32x128xf32>) -> tensor<32x128xf32>
      pit.yield %p : tensor<32x128xf32>
    }
    %w = pit.swrite %sum into %o[%x, %y] : tensor<32x128xf32> into tensor<2048x512xf32>
    pit.yield %w : tensor<2048x512xf32>
  }
  return %r : tensor<2048x512xf32>
}

// -----

// The same with a B whose panels stay in the caches where they lie: 256 rows,
// 2048 bytes apart. They are never packed; A is.

// CHECK-LABEL: func.func @in_place
// CHECK-NOT: memref<?x?x64xf32
// CHECK: return
func.func @in_place(%a: tensor<2048x256xf32>, %b: tensor<256x512xf32>) -> tensor<2048x512xf32> {
  %c0 = arith.constant 0 : index
  %m = arith.constant 2048 : index
  %n = arith.constant 512 : index
  %cst = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<256x512xf32>
  %d = linalg.exp ins(%b : tensor<256x512xf32>) outs(%f : tensor<256x512xf32>) -> tensor<256x512xf32>
  %i = pit.index %a : tensor<2048x256xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %e = tensor.empty() : tensor<2048x512xf32>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 128) iter_args(%o = %e) -> (tensor<2048x512xf32>) {
    %t = tensor.empty() : tensor<32x128xf32>
    %acc = linalg.fill ins(%cst : f32) outs(%t : tensor<32x128xf32>) -> tensor<32x128xf32>
    %sum = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%s = %acc) -> (tensor<32x128xf32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<2048x256xf32> -> tensor<32x64xf32>
      %bt = pit.sread %d[%ids : !pit.ids<64>, %y] pad(0.0 : f32) : tensor<256x512xf32> -> tensor<64x128xf32>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x128xf32>) outs(%s : tensor<32x128xf32>) -> tensor<32x128xf32>
      pit.yield %p : tensor<32x128xf32>
    }
    %w = pit.swrite %sum into %o[%x, %y] : tensor<32x128xf32> into tensor<2048x512xf32>
    pit.yield %w : tensor<2048x512xf32>
  }
  return %r : tensor<2048x512xf32>
}

// -----

// A tile that windows read is packed; where it reaches beyond the tensor, all of
// it is padded first. Sums stay in registers over windows and ids, rows are as
// many as fill the registers beside two vectors of B.

// CHECK-LABEL: func.func @windows
// CHECK-DAG: %[[PAD:.*]] = arith.constant dense<1.000000e+00> : vector<16xf32>
// CHECK: scf.parallel
// CHECK:   %[[TILE:.*]] = memref.alloca() {alignment = 64 : i64} : memref<17x16xf32>
// CHECK:   scf.if
// CHECK:     vector.store %[[PAD]], %[[TILE]]
// CHECK:   vector.gather {{.*}}, %[[PAD]]
// CHECK:   scf.for {{.*}} -> (vector<16xf32>, {{.*}}) {
// CHECK:     scf.for {{.*}} -> (vector<16xf32>, {{.*}}) {
// CHECK:       memref.load %[[TILE]][%{{.*}}, %{{.*}}]
// CHECK:       vector.broadcast
func.func @windows(%x: tensor<?x?xf32>, %w: tensor<3x?x?xf32>, %c: tensor<?x?xf32>, %i: !pit.index<micro_tile = [17, 1], axis = 1, step = [14, 1]>, %h: index, %f: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %r = pit.forall (%y, %g) = (%c0, %c0) to (%h, %f) step (7, 32) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %acc = pit.sread %o[%y, %g] : tensor<?x?xf32> -> tensor<7x32xf32>
    %y2 = affine.apply affine_map<(d0) -> (d0 * 2)>(%y)
    %sum = pit.for %ids at %pos in %i[%y2] : !pit.index<micro_tile = [17, 1], axis = 1, step = [14, 1]> chunk 16 iter_args(%s = %acc) -> (tensor<7x32xf32>) {
      %xt = pit.sread %x[%y2, %ids : !pit.ids<16>] pad(1.0 : f32) : tensor<?x?xf32> -> tensor<17x16xf32>
      %wt = pit.sread %w[%c0, %ids : !pit.ids<16>, %g] : tensor<3x?x?xf32> -> tensor<3x16x32xf32>
      %p = linalg.generic {indexing_maps = [affine_map<(h, f, k, c) -> (h * 2 + k * 2, c)>, affine_map<(h, f, k, c) -> (k, c, f)>, affine_map<(h, f, k, c) -> (h, f)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%xt, %wt : tensor<17x16xf32>, tensor<3x16x32xf32>) outs(%s : tensor<7x32xf32>) {
      ^bb0(%u: f32, %v: f32, %t: f32):
        %0 = arith.mulf %u, %v : f32
        %1 = arith.addf %t, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<7x32xf32>
      pit.yield %p : tensor<7x32xf32>
    }
    %t = pit.swrite %sum into %o[%y, %g] : tensor<7x32xf32> into tensor<?x?xf32>
    pit.yield %t : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// A mainloop's tiles on the stack go back in each transpose of the loop that it ends.

// CHECK-LABEL: func.func @nested
// CHECK: scf.for %{{.*}} = %c0 to %c4096 step %c32 {
// CHECK-NEXT: %[[STACK:.*]] = llvm.intr.stacksave
// What is added to is asked for at once.
// CHECK: memref.prefetch %{{.*}}, write, locality<2>, data : memref<4096x64xf32>
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<32x64xf32>
// CHECK: llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT: }
func.func @nested(%a: tensor<4096x4096xf32>, %b: tensor<4096x64xf32>, %c: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4096 : index
  %r = pit.forall (%y) = (%c0) to (%c1) step (1) iter_args(%o = %c) -> (tensor<4096x64xf32>) {
    %t = pit.for (%z) = (%c0) to (%n) step (32) iter_args(%q = %o) -> (tensor<4096x64xf32>) {
      %acc = pit.sread %q[%z, %c0] : tensor<4096x64xf32> -> tensor<32x64xf32>
      %s = pit.for (%k) = (%c0) to (%n) step (64) iter_args(%p = %acc) -> (tensor<32x64xf32>) {
        %at = pit.sread %a[%z, %k] : tensor<4096x4096xf32> -> tensor<32x64xf32>
        %bt = pit.sread %b[%k, %c0] : tensor<4096x64xf32> -> tensor<64x64xf32>
        %w = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x64xf32>) outs(%p : tensor<32x64xf32>) -> tensor<32x64xf32>
        pit.yield %w : tensor<32x64xf32>
      }
      %w = pit.swrite %s into %q[%z, %c0] : tensor<32x64xf32> into tensor<4096x64xf32>
      pit.yield %w : tensor<4096x64xf32>
    }
    pit.yield %t : tensor<4096x64xf32>
  }
  return %r : tensor<4096x64xf32>
}

// -----

// Each point of the filter names the group of another pixel. The only row of a
// block reads A where it lies, eight sums at a time, which rest in memory
// between groups.

// CHECK-LABEL: func.func @pixels
// CHECK: %[[STRIPS:.*]] = arith.select {{.*}} : memref<?x?x?x?x128xf32, strided<[?, ?, ?, ?, 1]>>
// CHECK: scf.parallel
// CHECK:   %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<1x1x128xf32>
// CHECK:   scf.for %[[KY:.*]] = %c0 to %c3
// CHECK:     scf.for %[[KX:.*]] = %c0 to %c3
// CHECK:       %[[ROW:.*]] = affine.apply {{.*}}, %[[KY]])
// CHECK:       %[[COLUMN:.*]] = affine.apply {{.*}}, %[[KX]])
// CHECK:       %[[GROUP:.*]]:2 = scf.if
// CHECK:         memref.load {{.*}} : memref<?xi32>
// CHECK:         memref.load {{.*}} : memref<?xi64>
// CHECK:       scf.for {{.*}} = %c0 to %[[GROUP]]#0 step %c64
// CHECK-COUNT-8: vector.load %[[SUMS]]
// CHECK:         scf.for {{.*}} step %c4 iter_args
// CHECK:           memref.load {{.*}} : memref<?xi32>
// CHECK:           %[[ID:.*]] = arith.minsi
// CHECK-COUNT-8:   vector.load %[[STRIPS]][%[[KY]], %[[KX]], %c0, %[[ID]],
// CHECK:           memref.load %arg1[%[[ROW]], %[[COLUMN]], %[[ID]]]
func.func @pixels(%x: tensor<113x58x64xf32>, %w: tensor<3x3x64x128xf32>, %i: !pit.index<micro_tile = [1, 1, 1], axis = 2>) -> tensor<56x56x128xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c56 = arith.constant 56 : index
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<56x56x128xf32>
  %r = pit.forall (%y0, %x0) = (%c0, %c0) to (%c56, %c56) step (1, 1) iter_args(%o = %e) -> (tensor<56x56x128xf32>) {
    %t = tensor.empty() : tensor<1x1x128xf32>
    %acc = linalg.fill ins(%cst : f32) outs(%t : tensor<1x1x128xf32>) -> tensor<1x1x128xf32>
    %sum = pit.for (%ky, %kx) = (%c0, %c0) to (%c3, %c3) step (1, 1) iter_args(%s = %acc) -> (tensor<1x1x128xf32>) {
      %row = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)>(%y0, %ky)
      %column = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%x0, %kx)
      %inner = pit.for %ids at %pos in %i[%row, %column] : !pit.index<micro_tile = [1, 1, 1], axis = 2> chunk 64 iter_args(%q = %s) -> (tensor<1x1x128xf32>) {
        %a = pit.sread %x[%row, %column, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<113x58x64xf32> -> tensor<1x1x64xf32>
        %b = pit.sread %w[%ky, %kx, %ids : !pit.ids<64>, %c0] pad(0.0 : f32) : tensor<3x3x64x128xf32> -> tensor<1x1x64x128xf32>
        %p = linalg.generic {indexing_maps = [affine_map<(y, x, f, ky, kx, c) -> (y * 2 + ky, x + kx, c)>, affine_map<(y, x, f, ky, kx, c) -> (ky, kx, c, f)>, affine_map<(y, x, f, ky, kx, c) -> (y, x, f)>],
                             iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%a, %b : tensor<1x1x64xf32>, tensor<1x1x64x128xf32>) outs(%q : tensor<1x1x128xf32>) {
        ^bb0(%u: f32, %z: f32, %old: f32):
          %m = arith.mulf %u, %z : f32
          %k = arith.addf %old, %m : f32
          linalg.yield %k : f32
        } -> tensor<1x1x128xf32>
        pit.yield %p : tensor<1x1x128xf32>
      }
      pit.yield %inner : tensor<1x1x128xf32>
    }
    %out = pit.swrite %sum into %o[%y0, %x0, %c0] : tensor<1x1x128xf32> into tensor<56x56x128xf32>
    pit.yield %out : tensor<56x56x128xf32>
  }
  return %r : tensor<56x56x128xf32>
}
