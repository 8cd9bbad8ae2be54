// Loops over tiles of several tensors.

// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-form-mainloops{explain}))' --verify-diagnostics | FileCheck %s

// CHECK-DAG: #[[$TILE:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>

#tile = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// The largest tile is the mainloop's own, whatever the order. The others are
// computed from what is carried last: sums of rows, and an element-wise op of them.
// CHECK-LABEL: func.func @sums_of_rows(
// CHECK: pit.mainloop {{.*}} into %arg3[%{{.*}}, %c0 : index, index] body [64, 64] sums [#[[$TILE]]]
// CHECK: } epilogue {
// CHECK: ^bb0(%[[E:.*]]: f32):
// CHECK: pit.yield %[[E]]
// CHECK: } extra_results {
// CHECK: ^bb0(%[[LAST:.*]]: vector<64x64xf32>):
// CHECK: %[[ZERO:.*]] = pit.pointwise() tile [64]
// CHECK: %[[SUMS:.*]] = pit.pointwise(%[[LAST]]) reduces %[[ZERO]] tile [64, 64] maps [#[[$TILE]], #[[$ROW]]]
// CHECK: %[[ROOTS:.*]] = pit.pointwise(%[[SUMS]]) tile [64]
// CHECK: pit.store %[[ROOTS]] into %arg2[%{{.*}} : index] : vector<64xf32> into memref<512xf32>
// CHECK: pit.yield
// CHECK-NOT: pit.swrite
func.func @sums_of_rows(%a: memref<512x512xf16>, %b: memref<512x64xf16>, %rows: memref<512xf32>, %out: memref<512x64xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %bt = bufferization.to_tensor %b restrict : memref<512x64xf16> to tensor<512x64xf16>
  %rt = bufferization.to_tensor %rows restrict writable : memref<512xf32> to tensor<512xf32>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x64xf32> to tensor<512x64xf32>
  %r:2 = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%p = %rt, %o = %ot) -> (tensor<512xf32>, tensor<512x64xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %bt[%j, %c0] : tensor<512x64xf16> -> tensor<64x64xf16>
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      pit.yield %s : tensor<64x64xf32>
    }
    %f = tensor.empty() : tensor<64xf32>
    %none = linalg.fill ins(%zero : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
    %sums = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]}
        ins(%sum : tensor<64x64xf32>) outs(%none : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %v, %u : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %roots = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
        ins(%sums : tensor<64xf32>) outs(%f : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = math.sqrt %u : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %w = pit.swrite %roots into %p[%i] : tensor<64xf32> into tensor<512xf32>
    %z = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x64xf32>
    pit.yield %w, %z : tensor<512xf32>, tensor<512x64xf32>
  }
  bufferization.materialize_in_destination %r#0 in restrict writable %rows : (tensor<512xf32>, memref<512xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %out : (tensor<512x64xf32>, memref<512x64xf32>) -> ()
  return
}

// A further result that reads a tile.
// CHECK-LABEL: func.func @reads(
// CHECK: pit.swrite
func.func @reads(%a: memref<512x512xf16>, %rows: memref<512xf32>, %more: memref<512xf32>, %out: memref<512x64xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %mt = bufferization.to_tensor %more restrict : memref<512xf32> to tensor<512xf32>
  %rt = bufferization.to_tensor %rows restrict writable : memref<512xf32> to tensor<512xf32>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x64xf32> to tensor<512x64xf32>
  %r:2 = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%p = %rt, %o = %ot) -> (tensor<512xf32>, tensor<512x64xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it has further results; nor a tile body, because a further result is computed from something else than what the loop over its steps carries}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      pit.yield %s : tensor<64x64xf32>
    }
    %b = pit.sread %mt[%i] : tensor<512xf32> -> tensor<64xf32>
    %w = pit.swrite %b into %p[%i] : tensor<64xf32> into tensor<512xf32>
    %z = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x64xf32>
    pit.yield %w, %z : tensor<512xf32>, tensor<512x64xf32>
  }
  bufferization.materialize_in_destination %r#0 in restrict writable %rows : (tensor<512xf32>, memref<512xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %out : (tensor<512x64xf32>, memref<512x64xf32>) -> ()
  return
}

// One that sums are added to.
// CHECK-LABEL: func.func @adds(
// CHECK: pit.swrite
func.func @adds(%a: memref<512x512xf16>, %out: memref<512x64xf32>, %total: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x64xf32> to tensor<512x64xf32>
  %tt = bufferization.to_tensor %total restrict writable : memref<64x64xf32> to tensor<64x64xf32>
  %r:2 = pit.forall (%i) = (%c0) to (%c512) step (64) conflicts(atomic) iter_args(%o = %ot, %p = %tt) -> (tensor<512x64xf32>, tensor<64x64xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: a loop around it adds to one of several results}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      pit.yield %s : tensor<64x64xf32>
    }
    %z = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x64xf32>
    %w = pit.swrite %sum into %p[%c0, %c0] combine(addf) : tensor<64x64xf32> into tensor<64x64xf32>
    pit.yield %z, %w : tensor<512x64xf32>, tensor<64x64xf32>
  }
  bufferization.materialize_in_destination %r#0 in restrict writable %out : (tensor<512x64xf32>, memref<512x64xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %total : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  return
}

// One that the largest result reads.
// CHECK-LABEL: func.func @reads_what_is_written(
// CHECK: pit.swrite
func.func @reads_what_is_written(%a: memref<512x512xf16>, %rows: memref<512xf32>, %out: memref<512x64xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %rt = bufferization.to_tensor %rows restrict writable : memref<512xf32> to tensor<512xf32>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x64xf32> to tensor<512x64xf32>
  %r:2 = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%p = %rt, %o = %ot) -> (tensor<512xf32>, tensor<512x64xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %f = tensor.empty() : tensor<64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %none = linalg.fill ins(%zero : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it has further results; nor a tile body, because it reads a tensor that a further result is for}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      pit.yield %s : tensor<64x64xf32>
    }
    %b = pit.sread %p[%i] : tensor<512xf32> -> tensor<64xf32>
    %t = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %b : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%u: f32, %v: f32, %w: f32):
      %s = arith.addf %u, %v : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    %sums = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]}
        ins(%sum : tensor<64x64xf32>) outs(%none : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %v, %u : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %w = pit.swrite %sums into %p[%i] : tensor<64xf32> into tensor<512xf32>
    %z = pit.swrite %t into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x64xf32>
    pit.yield %w, %z : tensor<512xf32>, tensor<512x64xf32>
  }
  bufferization.materialize_in_destination %r#0 in restrict writable %rows : (tensor<512xf32>, memref<512xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %out : (tensor<512x64xf32>, memref<512x64xf32>) -> ()
  return
}
