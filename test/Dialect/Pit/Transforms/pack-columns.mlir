// What ids select within rows is packed for the tiles that read it again.

// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-pack-columns{target=sm_90a},canonicalize,cse))' | FileCheck %s
// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-pack-columns{target=sm_80}))' | FileCheck %s --check-prefix=PORTABLE
// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-pack-columns{target=avx512}))' | FileCheck %s --check-prefix=PORTABLE

// PORTABLE-NOT: pit.extent
// PORTABLE-NOT: linalg.transpose

// CHECK-DAG: #[[$KM:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[$KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>

// A block packs some columns at once: 62, so that their rows lie in different
// banks.
// CHECK-LABEL: func @columns(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf16>, %[[B:.*]]: tensor<?x?xf16>, %[[I:.*]]: !pit.index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[COUNT:.*]] = pit.extent %[[I]]
// CHECK: %[[NONE:.*]] = tensor.empty(%[[COUNT]]) : tensor<?x32xf16>
// CHECK: %[[P:.*]] = pit.forall (%[[M:.*]]) = (%[[C0]]) to (%{{.*}}) step (32) iter_args(%[[O:.*]] = %[[NONE]])
// CHECK: pit.for %[[IDS:.*]] at %[[POS:.*]] in %[[I]][%[[M]]] : {{.*}} chunk 62 iter_args(%[[Q:.*]] = %[[O]])
// CHECK: %[[T:.*]] = pit.sread %[[A]][%[[M]], %[[IDS]] : !pit.ids<62>] pad(1.000000e+00 : f16) : tensor<?x?xf16> -> tensor<32x62xf16>
// CHECK: %[[U:.*]] = linalg.transpose ins(%[[T]] : tensor<32x62xf16>) outs(%{{.*}} : tensor<62x32xf16>) permutation = [1, 0]
// CHECK: pit.swrite %[[U]] into %[[Q]][%[[POS]] : !pit.ids<62>, %[[C0]]]
// CHECK: pit.forall (%[[M:.*]], %[[N:.*]]) =
// CHECK: pit.for %[[IDS:.*]] at %[[POS:.*]] in %[[I]][%[[M]]] : {{.*}} chunk 64
// CHECK: %[[X:.*]] = pit.sread %[[P]][%[[POS]] : !pit.ids<64>, %[[C0]]] pad(1.000000e+00 : f16) : tensor<?x32xf16> -> tensor<64x32xf16>
// CHECK: %[[Y:.*]] = pit.sread %[[B]][%[[IDS]] : !pit.ids<64>, %[[N]]]
// CHECK: linalg.generic {indexing_maps = [#[[$KM]], #[[$KN]], #{{.*}}]{{.*}}ins(%[[X]], %[[Y]] :
func.func @columns(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %i: !pit.index<micro_tile = [32, 1], axis = 1>, %o: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 512) iter_args(%q = %o) -> (tensor<?x?xf16>) {
    %e = tensor.empty() : tensor<32x512xf16>
    %f = linalg.fill ins(%zero : f16) outs(%e : tensor<32x512xf16>) -> tensor<32x512xf16>
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf16>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(1.0 : f16) : tensor<?x?xf16> -> tensor<32x64xf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] : tensor<?x?xf16> -> tensor<64x512xf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf16>, tensor<64x512xf16>) outs(%acc : tensor<32x512xf16>) -> tensor<32x512xf16>
      pit.yield %p : tensor<32x512xf16>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<32x512xf16> into tensor<?x?xf16>
    pit.yield %w : tensor<?x?xf16>
  }
  return %r : tensor<?x?xf16>
}

// One tile reads it, so that packing would read as much.
// CHECK-LABEL: func @one_tile(
// CHECK-NOT: pit.extent
// CHECK: pit.sread %{{.*}} -> tensor<32x64xf16>
func.func @one_tile(%a: tensor<?x?xf16>, %b: tensor<?x512xf16>, %i: !pit.index<micro_tile = [32, 1], axis = 1>, %o: tensor<?x512xf16>) -> tensor<?x512xf16> {
  %c0 = arith.constant 0 : index
  %n = arith.constant 512 : index
  %zero = arith.constant 0.0 : f16
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 512) iter_args(%q = %o) -> (tensor<?x512xf16>) {
    %e = tensor.empty() : tensor<32x512xf16>
    %f = linalg.fill ins(%zero : f16) outs(%e : tensor<32x512xf16>) -> tensor<32x512xf16>
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf16>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] : tensor<?x?xf16> -> tensor<32x64xf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] : tensor<?x512xf16> -> tensor<64x512xf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf16>, tensor<64x512xf16>) outs(%acc : tensor<32x512xf16>) -> tensor<32x512xf16>
      pit.yield %p : tensor<32x512xf16>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<32x512xf16> into tensor<?x512xf16>
    pit.yield %w : tensor<?x512xf16>
  }
  return %r : tensor<?x512xf16>
}

// Two tiles of 32 rows have the ids of one group of 64: a position would have
// two columns.
// CHECK-LABEL: func @half_a_group(
// CHECK-NOT: pit.extent
// CHECK: pit.sread %{{.*}} -> tensor<32x64xf16>
func.func @half_a_group(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %i: !pit.index<micro_tile = [64, 1], axis = 1>, %o: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 512) iter_args(%q = %o) -> (tensor<?x?xf16>) {
    %e = tensor.empty() : tensor<32x512xf16>
    %f = linalg.fill ins(%zero : f16) outs(%e : tensor<32x512xf16>) -> tensor<32x512xf16>
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [64, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf16>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] : tensor<?x?xf16> -> tensor<32x64xf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] : tensor<?x?xf16> -> tensor<64x512xf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf16>, tensor<64x512xf16>) outs(%acc : tensor<32x512xf16>) -> tensor<32x512xf16>
      pit.yield %p : tensor<32x512xf16>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<32x512xf16> into tensor<?x?xf16>
    pit.yield %w : tensor<?x?xf16>
  }
  return %r : tensor<?x?xf16>
}

// wgmma takes f32 as it lies.
// CHECK-LABEL: func @f32(
// CHECK-NOT: pit.extent
// CHECK: pit.sread %{{.*}} -> tensor<32x64xf32>
func.func @f32(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %i: !pit.index<micro_tile = [32, 1], axis = 1>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 512) iter_args(%q = %o) -> (tensor<?x?xf32>) {
    %e = tensor.empty() : tensor<32x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x512xf32>) -> tensor<32x512xf32>
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] : tensor<?x?xf32> -> tensor<32x64xf32>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] : tensor<?x?xf32> -> tensor<64x512xf32>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x512xf32>) outs(%acc : tensor<32x512xf32>) -> tensor<32x512xf32>
      pit.yield %p : tensor<32x512xf32>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<32x512xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// All tiles are of one group, which no loop numbers.
// CHECK-LABEL: func @one_group(
// CHECK-NOT: pit.extent
// CHECK: pit.sread %{{.*}} -> tensor<32x64xf16>
func.func @one_group(%a: tensor<32x?xf16>, %b: tensor<?x1024xf16>, %i: !pit.index<micro_tile = [32, 1], axis = 1>, %o: tensor<32x1024xf16>) -> tensor<32x1024xf16> {
  %c0 = arith.constant 0 : index
  %n = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f16
  %r = pit.forall (%y) = (%c0) to (%n) step (512) iter_args(%q = %o) -> (tensor<32x1024xf16>) {
    %e = tensor.empty() : tensor<32x512xf16>
    %f = linalg.fill ins(%zero : f16) outs(%e : tensor<32x512xf16>) -> tensor<32x512xf16>
    %s = pit.for %ids at %pos in %i[%c0] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf16>) {
      %at = pit.sread %a[%c0, %ids : !pit.ids<64>] : tensor<32x?xf16> -> tensor<32x64xf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] : tensor<?x1024xf16> -> tensor<64x512xf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf16>, tensor<64x512xf16>) outs(%acc : tensor<32x512xf16>) -> tensor<32x512xf16>
      pit.yield %p : tensor<32x512xf16>
    }
    %w = pit.swrite %s into %q[%c0, %y] : tensor<32x512xf16> into tensor<32x1024xf16>
    pit.yield %w : tensor<32x1024xf16>
  }
  return %r : tensor<32x1024xf16>
}

// The build of the index packs if it can; both products read what it packed.
// CHECK-LABEL: func @built(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf16>, %{{.*}}: tensor<?x?xf16>, %{{.*}}: tensor<?x?xf16>, %{{.*}}: tensor<?x?xf16>)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[A]], %[[C0]]
// CHECK-DAG: %[[K:.*]] = tensor.dim %[[A]], %[[C1]]
// CHECK-DAG: %[[G:.*]] = arith.ceildivui %[[M]], %[[C32]]
// CHECK-DAG: %[[ROOM:.*]] = arith.muli %[[G]], %[[K]]
// CHECK: %[[NONE:.*]] = tensor.empty(%[[ROOM]]) : tensor<?x32xf16>
// CHECK: %[[I:.*]], %[[DONE:.*]], %[[PACKED:.*]] = pit.packed_index %[[A]] into %[[NONE]] background(1.000000e+00 : f16) : tensor<?x?xf16> into tensor<?x32xf16>
// CHECK: %[[P:.*]] = scf.if %[[DONE]] -> (tensor<?x32xf16>) {
// CHECK-NEXT: scf.yield %[[PACKED]]
// CHECK: } else {
// CHECK: pit.forall (%[[X:.*]]) = (%[[C0]]) to (%[[M]]) step (32) iter_args(%[[Q:.*]] = %[[PACKED]])
// CHECK: pit.for %[[IDS:.*]] at %[[POS:.*]] in %[[I]][%[[X]]] : {{.*}} chunk 62
// CHECK: pit.sread %[[A]][%[[X]], %[[IDS]] : !pit.ids<62>]
// CHECK: pit.swrite
// CHECK: pit.for %{{.*}} at %[[POS:.*]] in %[[I]]
// CHECK: pit.sread %[[P]][%[[POS]] : !pit.ids<64>, %[[C0]]] pad(0.000000e+00 : f16) : tensor<?x32xf16> -> tensor<64x32xf16>
// CHECK: pit.for %{{.*}} at %[[POS:.*]] in %[[I]]
// CHECK: pit.sread %[[P]][%[[POS]] : !pit.ids<64>, %[[C0]]] pad(0.000000e+00 : f16) : tensor<?x32xf16> -> tensor<64x32xf16>
func.func @built(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %d: tensor<?x?xf16>, %o: tensor<?x?xf16>) -> (tensor<?x?xf16>, tensor<?x?xf16>) {
  %i = pit.index %a background(1.0 : f16) : tensor<?x?xf16> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 512) iter_args(%q = %o) -> (tensor<?x?xf16>) {
    %e = tensor.empty() : tensor<32x512xf16>
    %f = linalg.fill ins(%zero : f16) outs(%e : tensor<32x512xf16>) -> tensor<32x512xf16>
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf16>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : f16) : tensor<?x?xf16> -> tensor<32x64xf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] : tensor<?x?xf16> -> tensor<64x512xf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf16>, tensor<64x512xf16>) outs(%acc : tensor<32x512xf16>) -> tensor<32x512xf16>
      pit.yield %p : tensor<32x512xf16>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<32x512xf16> into tensor<?x?xf16>
    pit.yield %w : tensor<?x?xf16>
  }
  %r2 = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 512) iter_args(%q = %o) -> (tensor<?x?xf16>) {
    %e = tensor.empty() : tensor<32x512xf16>
    %f = linalg.fill ins(%zero : f16) outs(%e : tensor<32x512xf16>) -> tensor<32x512xf16>
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf16>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : f16) : tensor<?x?xf16> -> tensor<32x64xf16>
      %bt = pit.sread %d[%ids : !pit.ids<64>, %y] : tensor<?x?xf16> -> tensor<64x512xf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf16>, tensor<64x512xf16>) outs(%acc : tensor<32x512xf16>) -> tensor<32x512xf16>
      pit.yield %p : tensor<32x512xf16>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<32x512xf16> into tensor<?x?xf16>
    pit.yield %w : tensor<?x?xf16>
  }
  return %r, %r2 : tensor<?x?xf16>, tensor<?x?xf16>
}

// What lies outside of the matrix is no zero, which a build would pack.
// CHECK-LABEL: func @built_with_pad(
// CHECK: pit.index
// CHECK: pit.extent
// CHECK-NOT: pit.packed_index
func.func @built_with_pad(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %o: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %i = pit.index %a : tensor<?x?xf16> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 512) iter_args(%q = %o) -> (tensor<?x?xf16>) {
    %e = tensor.empty() : tensor<32x512xf16>
    %f = linalg.fill ins(%zero : f16) outs(%e : tensor<32x512xf16>) -> tensor<32x512xf16>
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf16>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(1.0 : f16) : tensor<?x?xf16> -> tensor<32x64xf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] : tensor<?x?xf16> -> tensor<64x512xf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf16>, tensor<64x512xf16>) outs(%acc : tensor<32x512xf16>) -> tensor<32x512xf16>
      pit.yield %p : tensor<32x512xf16>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<32x512xf16> into tensor<?x?xf16>
    pit.yield %w : tensor<?x?xf16>
  }
  return %r : tensor<?x?xf16>
}

// A mask says what is live: the build does not read A. Nor with bits of it.
// CHECK-LABEL: func @built_of_mask(
// CHECK: pit.index mask
// CHECK: pit.extent
func.func @built_of_mask(%a: tensor<?x?xf16>, %k: tensor<?x?xi1>, %b: tensor<?x?xf16>, %o: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %i = pit.index mask %k : tensor<?x?xi1> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 512) iter_args(%q = %o) -> (tensor<?x?xf16>) {
    %e = tensor.empty() : tensor<32x512xf16>
    %f = linalg.fill ins(%zero : f16) outs(%e : tensor<32x512xf16>) -> tensor<32x512xf16>
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf16>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] : tensor<?x?xf16> -> tensor<32x64xf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] : tensor<?x?xf16> -> tensor<64x512xf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf16>, tensor<64x512xf16>) outs(%acc : tensor<32x512xf16>) -> tensor<32x512xf16>
      pit.yield %p : tensor<32x512xf16>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<32x512xf16> into tensor<?x?xf16>
    pit.yield %w : tensor<?x?xf16>
  }
  return %r : tensor<?x?xf16>
}

// CHECK-LABEL: func @built_of_bits(
// CHECK: pit.index %{{.*}} bitmap(
// CHECK: pit.extent
func.func @built_of_bits(%a: tensor<?x?xf16>, %k: tensor<?x?xi8>, %b: tensor<?x?xf16>, %o: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %i = pit.index %a bitmap(%k : tensor<?x?xi8>) : tensor<?x?xf16> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 512) iter_args(%q = %o) -> (tensor<?x?xf16>) {
    %e = tensor.empty() : tensor<32x512xf16>
    %f = linalg.fill ins(%zero : f16) outs(%e : tensor<32x512xf16>) -> tensor<32x512xf16>
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf16>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] : tensor<?x?xf16> -> tensor<32x64xf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] : tensor<?x?xf16> -> tensor<64x512xf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf16>, tensor<64x512xf16>) outs(%acc : tensor<32x512xf16>) -> tensor<32x512xf16>
      pit.yield %p : tensor<32x512xf16>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<32x512xf16> into tensor<?x?xf16>
    pit.yield %w : tensor<?x?xf16>
  }
  return %r : tensor<?x?xf16>
}

// CHECK-LABEL: func @built_of_what_is_seen(
// CHECK: pit.index %{{.*}} seen(
// CHECK: pit.extent
func.func @built_of_what_is_seen(%a: tensor<?x?xf16>, %k: !pit.bitmap, %b: tensor<?x?xf16>, %o: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %i = pit.index %a seen(%k) : tensor<?x?xf16> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 512) iter_args(%q = %o) -> (tensor<?x?xf16>) {
    %e = tensor.empty() : tensor<32x512xf16>
    %f = linalg.fill ins(%zero : f16) outs(%e : tensor<32x512xf16>) -> tensor<32x512xf16>
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf16>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] : tensor<?x?xf16> -> tensor<32x64xf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] : tensor<?x?xf16> -> tensor<64x512xf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf16>, tensor<64x512xf16>) outs(%acc : tensor<32x512xf16>) -> tensor<32x512xf16>
      pit.yield %p : tensor<32x512xf16>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<32x512xf16> into tensor<?x?xf16>
    pit.yield %w : tensor<?x?xf16>
  }
  return %r : tensor<?x?xf16>
}
