// A tensor of which ids select elements within rows is transposed before the tiles.

// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-transpose-gathered{target=sm_90a},canonicalize,cse))' | FileCheck %s
// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-transpose-gathered{target=sm_80}))' | FileCheck %s --check-prefix=PORTABLE
// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-transpose-gathered{target=avx512}))' | FileCheck %s --check-prefix=PORTABLE

// PORTABLE-NOT: linalg.transpose

// CHECK-DAG: #[[$KM:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[$KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>

// A weight [n, k].
// CHECK-LABEL: func @weights(
// CHECK-SAME: %{{.*}}: tensor<?x?xf16>, %[[B:.*]]: tensor<?x?xf16>, %[[I:.*]]: !pit.index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[B]], %[[C0]]
// CHECK-DAG: %[[K:.*]] = tensor.dim %[[B]], %[[C1]]
// CHECK: %[[NONE:.*]] = tensor.empty(%[[K]], %[[N]]) : tensor<?x?xf16>
// CHECK: %[[T:.*]] = pit.forall (%[[X:.*]], %[[Y:.*]]) = (%[[C0]], %[[C0]]) to (%[[N]], %[[K]]) step (64, 64) iter_args(%[[O:.*]] = %[[NONE]])
// CHECK: %[[R:.*]] = pit.sread %[[B]][%[[X]], %[[Y]]] pad(0.000000e+00 : f16) : tensor<?x?xf16> -> tensor<64x64xf16>
// CHECK: %[[U:.*]] = linalg.transpose ins(%[[R]] : tensor<64x64xf16>) outs(%{{.*}} : tensor<64x64xf16>) permutation = [1, 0]
// CHECK: pit.swrite %[[U]] into %[[O]][%[[Y]], %[[X]]]
// CHECK: pit.forall
// CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %[[I]]
// CHECK: pit.sread %[[T]][%[[IDS]] : !pit.ids<64>, %{{.*}}] pad(2.000000e+00 : f16) : tensor<?x?xf16> -> tensor<64x512xf16>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[$KN]], #{{.*}}]
// CHECK-NOT: linalg.transpose
func.func @weights(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %i: !pit.index<micro_tile = [32, 1], axis = 1>, %o: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c0 : tensor<?x?xf16>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 512) iter_args(%q = %o) -> (tensor<?x?xf16>) {
    %e = tensor.empty() : tensor<32x512xf16>
    %f = linalg.fill ins(%zero : f16) outs(%e : tensor<32x512xf16>) -> tensor<32x512xf16>
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf16>) {
      %at = pit.sread %a[%x, %pos : !pit.ids<64>] pad(1.0 : f16) : tensor<?x?xf16> -> tensor<32x64xf16>
      %bt = pit.sread %b[%y, %ids : !pit.ids<64>] pad(2.0 : f16) : tensor<?x?xf16> -> tensor<512x64xf16>
      %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                          affine_map<(m, n, k) -> (m, n)>]
             ins(%at, %bt : tensor<32x64xf16>, tensor<512x64xf16>) outs(%acc : tensor<32x512xf16>) -> tensor<32x512xf16>
      pit.yield %p : tensor<32x512xf16>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<32x512xf16> into tensor<?x?xf16>
    pit.yield %w : tensor<?x?xf16>
  }
  return %r : tensor<?x?xf16>
}

// The other operand of a sparse weight [k, n], for two loops that share the copy.
// CHECK-LABEL: func @other_of_weights(
// CHECK-SAME: %[[A:.*]]: tensor<128x96xbf16>
// CHECK: %[[T:.*]] = pit.forall (%{{.*}}, %{{.*}}) = {{.*}} step (64, 64) {{.*}} -> (tensor<96x128xbf16>)
// CHECK: linalg.transpose
// CHECK-NOT: linalg.transpose
// CHECK: pit.sread %[[T]][%{{.*}} : !pit.ids<64>, %{{.*}}] : tensor<96x128xbf16> -> tensor<64x128xbf16>
// CHECK: linalg.generic {indexing_maps = [#[[$KM]], #{{.*}}, #{{.*}}]
// CHECK: pit.sread %[[T]][%{{.*}} : !pit.ids<64>, %{{.*}}] : tensor<96x128xbf16> -> tensor<64x128xbf16>
func.func @other_of_weights(%a: tensor<128x96xbf16>, %b: tensor<96x128xbf16>, %c: tensor<96x128xbf16>,
                            %i: !pit.index<micro_tile = [1, 32], axis = 0>, %o: tensor<128x128xbf16>) -> tensor<128x128xbf16> {
  %c0 = arith.constant 0 : index
  %m = arith.constant 128 : index
  %n = arith.constant 128 : index
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<128x32xbf16>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (128, 32) iter_args(%q = %o) -> (tensor<128x128xbf16>) {
    %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<128x32xbf16>) -> tensor<128x32xbf16>
    %s = pit.for %ids at %pos in %i[%y] : !pit.index<micro_tile = [1, 32], axis = 0> chunk 64 iter_args(%acc = %f) -> (tensor<128x32xbf16>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] : tensor<128x96xbf16> -> tensor<128x64xbf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] : tensor<96x128xbf16> -> tensor<64x32xbf16>
      %p = linalg.matmul ins(%at, %bt : tensor<128x64xbf16>, tensor<64x32xbf16>) outs(%acc : tensor<128x32xbf16>) -> tensor<128x32xbf16>
      pit.yield %p : tensor<128x32xbf16>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<128x32xbf16> into tensor<128x128xbf16>
    pit.yield %w : tensor<128x128xbf16>
  }
  %t = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (128, 32) iter_args(%q = %r) -> (tensor<128x128xbf16>) {
    %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<128x32xbf16>) -> tensor<128x32xbf16>
    %s = pit.for %ids at %pos in %i[%y] : !pit.index<micro_tile = [1, 32], axis = 0> chunk 64 iter_args(%acc = %f) -> (tensor<128x32xbf16>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] : tensor<128x96xbf16> -> tensor<128x64xbf16>
      %bt = pit.sread %c[%ids : !pit.ids<64>, %y] : tensor<96x128xbf16> -> tensor<64x32xbf16>
      %p = linalg.matmul ins(%at, %bt : tensor<128x64xbf16>, tensor<64x32xbf16>) outs(%acc : tensor<128x32xbf16>) -> tensor<128x32xbf16>
      pit.yield %p : tensor<128x32xbf16>
    }
    %w = pit.swrite %s into %q[%x, %y] : tensor<128x32xbf16> into tensor<128x128xbf16>
    pit.yield %w : tensor<128x128xbf16>
  }
  return %t : tensor<128x128xbf16>
}

// Left alone: what few groups read, what is read by positions, elements of 32 bits, and rows
// that are no multiple of 16 bytes.
// CHECK-LABEL: func @left_alone(
// CHECK-NOT: linalg.transpose
func.func @left_alone(%a: tensor<96x96xf16>, %b: tensor<512x96xf16>, %c: tensor<512x96xf32>, %d: tensor<?x96xf16>,
                      %i: !pit.index<micro_tile = [32, 1], axis = 1>, %o: tensor<96x512xf16>, %p: tensor<32x512xf32>, %q: tensor<64x4xf16>)
    -> (tensor<96x512xf16>, tensor<32x512xf32>, tensor<64x4xf16>) {
  %c0 = arith.constant 0 : index
  %m = arith.constant 96 : index
  %n = arith.constant 512 : index
  %n4 = arith.constant 4 : index
  %many = arith.constant 256 : index
  %e = tensor.empty() : tensor<32x512xf16>
  %one = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 512) iter_args(%t = %o) -> (tensor<96x512xf16>) {
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %e) -> (tensor<32x512xf16>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] : tensor<96x96xf16> -> tensor<32x64xf16>
      %bt = pit.sread %b[%y, %ids : !pit.ids<64>] : tensor<512x96xf16> -> tensor<512x64xf16>
      %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
             ins(%at, %bt : tensor<32x64xf16>, tensor<512x64xf16>) outs(%acc : tensor<32x512xf16>) -> tensor<32x512xf16>
      pit.yield %r : tensor<32x512xf16>
    }
    %w = pit.swrite %s into %t[%x, %y] : tensor<32x512xf16> into tensor<96x512xf16>
    pit.yield %w : tensor<96x512xf16>
  }
  %f = tensor.empty() : tensor<32x512xf32>
  %words = pit.forall (%x, %y) = (%c0, %c0) to (%many, %n) step (32, 512) iter_args(%t = %p) -> (tensor<32x512xf32>) {
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<32x512xf32>) {
      %at = pit.sread %a[%c0, %pos : !pit.ids<64>] : tensor<96x96xf16> -> tensor<32x64xf16>
      %bt = pit.sread %c[%y, %ids : !pit.ids<64>] : tensor<512x96xf32> -> tensor<512x64xf32>
      %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
             ins(%at, %bt : tensor<32x64xf16>, tensor<512x64xf32>) outs(%acc : tensor<32x512xf32>) -> tensor<32x512xf32>
      pit.yield %r : tensor<32x512xf32>
    }
    %w = pit.swrite %s into %t[%c0, %y] : tensor<32x512xf32> into tensor<32x512xf32>
    pit.yield %w : tensor<32x512xf32>
  }
  %g = tensor.empty() : tensor<32x4xf16>
  %short = pit.forall (%x, %y) = (%c0, %c0) to (%many, %n4) step (32, 4) iter_args(%t = %q) -> (tensor<64x4xf16>) {
    %s = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%acc = %g) -> (tensor<32x4xf16>) {
      %at = pit.sread %a[%c0, %pos : !pit.ids<64>] : tensor<96x96xf16> -> tensor<32x64xf16>
      %bt = pit.sread %d[%y, %ids : !pit.ids<64>] : tensor<?x96xf16> -> tensor<4x64xf16>
      %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
             ins(%at, %bt : tensor<32x64xf16>, tensor<4x64xf16>) outs(%acc : tensor<32x4xf16>) -> tensor<32x4xf16>
      pit.yield %r : tensor<32x4xf16>
    }
    %w = pit.swrite %s into %t[%x, %y] : tensor<32x4xf16> into tensor<64x4xf16>
    pit.yield %w : tensor<64x4xf16>
  }
  return %one, %words, %short : tensor<96x512xf16>, tensor<32x512xf32>, tensor<64x4xf16>
}

// So are eight rows, and not nine.
// CHECK-LABEL: func @few_rows(
// CHECK: pit.forall {{.*}} step (64, 64)
// CHECK: linalg.transpose {{.*}} : tensor<64x64xf16>
// CHECK-NOT: linalg.transpose
func.func @few_rows(%a: tensor<8x96xf16>, %b: tensor<9x96xf16>, %w: tensor<96x512xf16>, %i: !pit.index<micro_tile = [8, 1], axis = 1>,
                    %j: !pit.index<micro_tile = [16, 1], axis = 1>, %o: tensor<8x512xf16>, %p: tensor<16x512xf16>)
    -> (tensor<8x512xf16>, tensor<16x512xf16>) {
  %c0 = arith.constant 0 : index
  %n = arith.constant 512 : index
  %e = tensor.empty() : tensor<8x128xf16>
  %eight = pit.forall (%y) = (%c0) to (%n) step (128) iter_args(%t = %o) -> (tensor<8x512xf16>) {
    %s = pit.for %ids at %pos in %i[%c0] : !pit.index<micro_tile = [8, 1], axis = 1> chunk 64 iter_args(%acc = %e) -> (tensor<8x128xf16>) {
      %at = pit.sread %a[%c0, %ids : !pit.ids<64>] : tensor<8x96xf16> -> tensor<8x64xf16>
      %bt = pit.sread %w[%ids : !pit.ids<64>, %y] : tensor<96x512xf16> -> tensor<64x128xf16>
      %r = linalg.matmul ins(%at, %bt : tensor<8x64xf16>, tensor<64x128xf16>) outs(%acc : tensor<8x128xf16>) -> tensor<8x128xf16>
      pit.yield %r : tensor<8x128xf16>
    }
    %u = pit.swrite %s into %t[%c0, %y] : tensor<8x128xf16> into tensor<8x512xf16>
    pit.yield %u : tensor<8x512xf16>
  }
  %f = tensor.empty() : tensor<16x128xf16>
  %nine = pit.forall (%y) = (%c0) to (%n) step (128) iter_args(%t = %p) -> (tensor<16x512xf16>) {
    %s = pit.for %ids at %pos in %j[%c0] : !pit.index<micro_tile = [16, 1], axis = 1> chunk 64 iter_args(%acc = %f) -> (tensor<16x128xf16>) {
      %at = pit.sread %b[%c0, %ids : !pit.ids<64>] pad(0.0 : f16) : tensor<9x96xf16> -> tensor<16x64xf16>
      %bt = pit.sread %w[%ids : !pit.ids<64>, %y] : tensor<96x512xf16> -> tensor<64x128xf16>
      %r = linalg.matmul ins(%at, %bt : tensor<16x64xf16>, tensor<64x128xf16>) outs(%acc : tensor<16x128xf16>) -> tensor<16x128xf16>
      pit.yield %r : tensor<16x128xf16>
    }
    %u = pit.swrite %s into %t[%c0, %y] : tensor<16x128xf16> into tensor<16x512xf16>
    pit.yield %u : tensor<16x512xf16>
  }
  return %eight, %nine : tensor<8x512xf16>, tensor<16x512xf16>
}
