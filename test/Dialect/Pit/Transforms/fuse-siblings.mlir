// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-fuse-siblings,canonicalize,cse))' | FileCheck %s

// Two projections of gathered rows that meet: one loop over steps carries both
// sums, and what both read is read once. The first product is rounded as its
// tensor would have been.

// CHECK-LABEL: func.func @gated
// CHECK-COUNT-1: pit.forall
// CHECK:           %[[SUMS:.*]]:2 = pit.for
// CHECK-COUNT-1:     pit.sread %arg1
// CHECK:             pit.sread %arg2
// CHECK:             linalg.matmul
// CHECK:             pit.sread %arg3
// CHECK:             linalg.matmul
// CHECK:             pit.yield
// CHECK:           linalg.generic {{.*}} ins(%[[SUMS]]#0
// CHECK:             arith.truncf
// CHECK:           linalg.generic
// CHECK:             arith.mulf
// CHECK:           pit.swrite
// CHECK-NOT:     pit.forall
#id = affine_map<(i, j) -> (i, j)>
func.func @gated(%index: !pit.index<micro_tile = [1, *], axis = 0>, %x: tensor<?x64xf16>,
                 %a: tensor<64x256xf16>, %b: tensor<64x256xf16>, %rows: index) -> tensor<?x256xf16> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%rows) : tensor<?x256xf16>
  %g = pit.forall (%j) = (%c0) to (%c256) step (128),
         %ids at %pos in %index : !pit.index<micro_tile = [1, *], axis = 0> chunk 64
         iter_args(%o = %e) -> (tensor<?x256xf16>) {
    %f = tensor.empty() : tensor<64x128xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
    %sum = pit.for (%p) = (%c0) to (%c64) step (32) iter_args(%acc = %start) -> (tensor<64x128xf32>) {
      %xt = pit.sread %x[%ids : !pit.ids<64>, %p] pad(0.0 : f16) : tensor<?x64xf16> -> tensor<64x32xf16>
      %at = pit.sread %a[%p, %j] pad(0.0 : f16) : tensor<64x256xf16> -> tensor<32x128xf16>
      %s = linalg.matmul ins(%xt, %at : tensor<64x32xf16>, tensor<32x128xf16>)
             outs(%acc : tensor<64x128xf32>) -> tensor<64x128xf32>
      pit.yield %s : tensor<64x128xf32>
    }
    %w = pit.swrite %sum into %o[%pos : !pit.ids<64>, %j] : tensor<64x128xf32> into tensor<?x256xf16>
    pit.yield %w : tensor<?x256xf16>
  }
  %h = pit.forall (%j) = (%c0) to (%c256) step (128),
         %ids at %pos in %index : !pit.index<micro_tile = [1, *], axis = 0> chunk 64
         iter_args(%o = %e) -> (tensor<?x256xf16>) {
    %f = tensor.empty() : tensor<64x128xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
    %sum = pit.for (%p) = (%c0) to (%c64) step (32) iter_args(%acc = %start) -> (tensor<64x128xf32>) {
      %xt = pit.sread %x[%ids : !pit.ids<64>, %p] pad(0.0 : f16) : tensor<?x64xf16> -> tensor<64x32xf16>
      %bt = pit.sread %b[%p, %j] pad(0.0 : f16) : tensor<64x256xf16> -> tensor<32x128xf16>
      %s = linalg.matmul ins(%xt, %bt : tensor<64x32xf16>, tensor<32x128xf16>)
             outs(%acc : tensor<64x128xf32>) -> tensor<64x128xf32>
      pit.yield %s : tensor<64x128xf32>
    }
    %gt = pit.sread %g[%pos : !pit.ids<64>, %j] : tensor<?x256xf16> -> tensor<64x128xf16>
    %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
           ins(%gt, %sum : tensor<64x128xf16>, tensor<64x128xf32>) outs(%f : tensor<64x128xf32>) {
    ^bb0(%u: f16, %v: f32, %o1: f32):
      %wide = arith.extf %u : f16 to f32
      %m = arith.mulf %wide, %v : f32
      linalg.yield %m : f32
    } -> tensor<64x128xf32>
    %w = pit.swrite %t into %o[%pos : !pit.ids<64>, %j] : tensor<64x128xf32> into tensor<?x256xf16>
    pit.yield %w : tensor<?x256xf16>
  }
  return %h : tensor<?x256xf16>
}

// -----

// The second loop reads another tile than the one that was written: both stay.

// CHECK-LABEL: func.func @shifted
// CHECK-COUNT-2: pit.forall
func.func @shifted(%x: tensor<128x64xf32>, %a: tensor<64x256xf32>, %b: tensor<64x256xf32>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %g = pit.forall (%i, %j) = (%c0, %c0) to (%c128, %c256) step (64, 128) iter_args(%o = %e) -> (tensor<128x256xf32>) {
    %f = tensor.empty() : tensor<64x128xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
    %sum = pit.for (%p) = (%c0) to (%c64) step (32) iter_args(%acc = %start) -> (tensor<64x128xf32>) {
      %xt = pit.sread %x[%i, %p] pad(0.0 : f32) : tensor<128x64xf32> -> tensor<64x32xf32>
      %at = pit.sread %a[%p, %j] pad(0.0 : f32) : tensor<64x256xf32> -> tensor<32x128xf32>
      %s = linalg.matmul ins(%xt, %at : tensor<64x32xf32>, tensor<32x128xf32>)
             outs(%acc : tensor<64x128xf32>) -> tensor<64x128xf32>
      pit.yield %s : tensor<64x128xf32>
    }
    %w = pit.swrite %sum into %o[%i, %j] : tensor<64x128xf32> into tensor<128x256xf32>
    pit.yield %w : tensor<128x256xf32>
  }
  %h = pit.forall (%i, %j) = (%c0, %c0) to (%c128, %c256) step (64, 128) iter_args(%o = %e) -> (tensor<128x256xf32>) {
    %f = tensor.empty() : tensor<64x128xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
    %sum = pit.for (%p) = (%c0) to (%c64) step (32) iter_args(%acc = %start) -> (tensor<64x128xf32>) {
      %xt = pit.sread %x[%i, %p] pad(0.0 : f32) : tensor<128x64xf32> -> tensor<64x32xf32>
      %bt = pit.sread %b[%p, %j] pad(0.0 : f32) : tensor<64x256xf32> -> tensor<32x128xf32>
      %s = linalg.matmul ins(%xt, %bt : tensor<64x32xf32>, tensor<32x128xf32>)
             outs(%acc : tensor<64x128xf32>) -> tensor<64x128xf32>
      pit.yield %s : tensor<64x128xf32>
    }
    %gt = pit.sread %g[%i, %c0] : tensor<128x256xf32> -> tensor<64x128xf32>
    %t = linalg.mul ins(%gt, %sum : tensor<64x128xf32>, tensor<64x128xf32>) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
    %w = pit.swrite %t into %o[%i, %j] : tensor<64x128xf32> into tensor<128x256xf32>
    pit.yield %w : tensor<128x256xf32>
  }
  return %h : tensor<128x256xf32>
}

// -----

// 2 x 128 x 128 sums of f32 are more than a block of threads has registers for: both
// stay.

// CHECK-LABEL: func.func @crowded
// CHECK-COUNT-2: pit.forall
func.func @crowded(%x: tensor<128x64xf32>, %a: tensor<64x256xf32>, %b: tensor<64x256xf32>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %g = pit.forall (%i, %j) = (%c0, %c0) to (%c128, %c256) step (128, 128) iter_args(%o = %e) -> (tensor<128x256xf32>) {
    %f = tensor.empty() : tensor<128x128xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
    %sum = pit.for (%p) = (%c0) to (%c64) step (32) iter_args(%acc = %start) -> (tensor<128x128xf32>) {
      %xt = pit.sread %x[%i, %p] pad(0.0 : f32) : tensor<128x64xf32> -> tensor<128x32xf32>
      %at = pit.sread %a[%p, %j] pad(0.0 : f32) : tensor<64x256xf32> -> tensor<32x128xf32>
      %s = linalg.matmul ins(%xt, %at : tensor<128x32xf32>, tensor<32x128xf32>)
             outs(%acc : tensor<128x128xf32>) -> tensor<128x128xf32>
      pit.yield %s : tensor<128x128xf32>
    }
    %w = pit.swrite %sum into %o[%i, %j] : tensor<128x128xf32> into tensor<128x256xf32>
    pit.yield %w : tensor<128x256xf32>
  }
  %h = pit.forall (%i, %j) = (%c0, %c0) to (%c128, %c256) step (128, 128) iter_args(%o = %e) -> (tensor<128x256xf32>) {
    %f = tensor.empty() : tensor<128x128xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
    %sum = pit.for (%p) = (%c0) to (%c64) step (32) iter_args(%acc = %start) -> (tensor<128x128xf32>) {
      %xt = pit.sread %x[%i, %p] pad(0.0 : f32) : tensor<128x64xf32> -> tensor<128x32xf32>
      %bt = pit.sread %b[%p, %j] pad(0.0 : f32) : tensor<64x256xf32> -> tensor<32x128xf32>
      %s = linalg.matmul ins(%xt, %bt : tensor<128x32xf32>, tensor<32x128xf32>)
             outs(%acc : tensor<128x128xf32>) -> tensor<128x128xf32>
      pit.yield %s : tensor<128x128xf32>
    }
    %gt = pit.sread %g[%i, %j] : tensor<128x256xf32> -> tensor<128x128xf32>
    %t = linalg.mul ins(%gt, %sum : tensor<128x128xf32>, tensor<128x128xf32>) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
    %w = pit.swrite %t into %o[%i, %j] : tensor<128x128xf32> into tensor<128x256xf32>
    pit.yield %w : tensor<128x256xf32>
  }
  return %h : tensor<128x256xf32>
}

// -----

// One B is stored [k, n], the other one [n, k]. No mainloop computes both, so both
// stay.

// CHECK-LABEL: func.func @unlike
// CHECK-COUNT-2: pit.forall
func.func @unlike(%x: tensor<128x64xf32>, %a: tensor<64x256xf32>, %b: tensor<256x64xf32>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %g = pit.forall (%i, %j) = (%c0, %c0) to (%c128, %c256) step (64, 64) iter_args(%o = %e) -> (tensor<128x256xf32>) {
    %f = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%p) = (%c0) to (%c64) step (32) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %xt = pit.sread %x[%i, %p] pad(0.0 : f32) : tensor<128x64xf32> -> tensor<64x32xf32>
      %at = pit.sread %a[%p, %j] pad(0.0 : f32) : tensor<64x256xf32> -> tensor<32x64xf32>
      %s = linalg.matmul ins(%xt, %at : tensor<64x32xf32>, tensor<32x64xf32>)
             outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      pit.yield %s : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %j] : tensor<64x64xf32> into tensor<128x256xf32>
    pit.yield %w : tensor<128x256xf32>
  }
  %h = pit.forall (%i, %j) = (%c0, %c0) to (%c128, %c256) step (64, 64) iter_args(%o = %e) -> (tensor<128x256xf32>) {
    %f = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%p) = (%c0) to (%c64) step (32) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %xt = pit.sread %x[%i, %p] pad(0.0 : f32) : tensor<128x64xf32> -> tensor<64x32xf32>
      %bt = pit.sread %b[%j, %p] pad(0.0 : f32) : tensor<256x64xf32> -> tensor<64x32xf32>
      %s = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
             ins(%xt, %bt : tensor<64x32xf32>, tensor<64x32xf32>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      pit.yield %s : tensor<64x64xf32>
    }
    %gt = pit.sread %g[%i, %j] : tensor<128x256xf32> -> tensor<64x64xf32>
    %t = linalg.mul ins(%gt, %sum : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    %w = pit.swrite %t into %o[%i, %j] : tensor<64x64xf32> into tensor<128x256xf32>
    pit.yield %w : tensor<128x256xf32>
  }
  return %h : tensor<128x256xf32>
}
