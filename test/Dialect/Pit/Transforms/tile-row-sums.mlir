// RUN: pit-opt %s -pit-form-matrices -pit-tile-dense=target=sm_80 -canonicalize -cse --split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-form-matrices -pit-tile-dense="target=sm_80 shared=false" -canonicalize -cse --split-input-file | FileCheck %s --check-prefix=STRICT
// RUN: pit-opt %s -pit-tile-dense -canonicalize -cse --split-input-file | FileCheck %s --check-prefix=STRICT
// STRICT-NOT: pit.forall

// Batch and rows are one dim, sums are f32.
// CHECK-LABEL: func.func @columns
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]]
// CHECK: pit.forall (%[[N:.*]]) = (%c0) to (%c4096) step (256)
// CHECK: pit.for (%[[R:.*]]) = (%c0) to (%{{.*}}) step (64) {{.*}} -> (tensor<256xf32>)
// CHECK: pit.sread %[[X]][%[[R]], %[[N]]] pad(0.000000e+00 : bf16) : tensor<?x4096xbf16> -> tensor<64x256xbf16>
func.func @columns(%x: tensor<?x?x4096xbf16>, %o: tensor<4096xbf16>) -> tensor<4096xbf16> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(n, b, s) -> (b, s, n)>, affine_map<(n, b, s) -> (n)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<?x?x4096xbf16>) outs(%o : tensor<4096xbf16>) {
  ^bb0(%u: bf16, %w: bf16):
    %q = arith.addf %w, %u : bf16
    linalg.yield %q : bf16
  } -> tensor<4096xbf16>
  return %r : tensor<4096xbf16>
}

// -----

// The largest of each column; a named op.
// CHECK-LABEL: func.func @largest
// CHECK: pit.forall {{.*}} step (256)
// CHECK: pit.sread {{.*}} pad(0xFF800000 : f32) : tensor<?x?xf32> -> tensor<64x256xf32>
func.func @largest(%x: tensor<?x?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.reduce ins(%x : tensor<?x?xf32>) outs(%o : tensor<?xf32>) dimensions = [0]
    (%u: f32, %w: f32) {
      %q = arith.maximumf %u, %w : f32
      linalg.yield %q : f32
    }
  return %r : tensor<?xf32>
}

// -----

// Few rows, rows that are summed up themselves, and columns of two tensors stay.
// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: pit.forall
// CHECK-LABEL: func.func @along_rows
// CHECK-NOT: pit.forall
func.func @few_rows(%x: tensor<64x512xf32>, %o: tensor<512xf32>) -> tensor<512xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<64x512xf32>) outs(%o : tensor<512xf32>) dimensions = [0]
  return %r : tensor<512xf32>
}
func.func @along_rows(%x: tensor<512x512xf32>, %o: tensor<512xf32>) -> tensor<512xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<512x512xf32>) outs(%o : tensor<512xf32>) dimensions = [1]
  return %r : tensor<512xf32>
}
