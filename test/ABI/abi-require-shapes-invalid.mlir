// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-abi-require-shapes))' --split-input-file -verify-diagnostics

// Rows of b are not columns of a, along which the ids count.
func.func @ids(%a: tensor<64x128xf32>, %b: tensor<96x32xf32>, %c: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %i = pit.index %a : tensor<64x128xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %r = pit.forall (%m) = (%c0) to (%c64) step (32) iter_args(%o = %c) -> (tensor<64x32xf32>) {
    %e = tensor.empty() : tensor<32x32xf32>
    // expected-note @below {{which is here}}
    %s = pit.for %ids at %pos in %i[%m] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 16 iter_args(%x = %e) -> (tensor<32x32xf32>) {
      %at = pit.sread %a[%m, %ids : !pit.ids<16>] : tensor<64x128xf32> -> tensor<32x16xf32>
      // expected-error @below {{'pit.sread' op takes tiles along dimension 0, of size 96, by a variable that counts along a dimension of size 128 elsewhere; both have to be the same}}
      %bt = pit.sread %b[%ids : !pit.ids<16>, %c0] : tensor<96x32xf32> -> tensor<16x32xf32>
      %y = linalg.matmul ins(%at, %bt : tensor<32x16xf32>, tensor<16x32xf32>) outs(%x : tensor<32x32xf32>) -> tensor<32x32xf32>
      pit.yield %y : tensor<32x32xf32>
    }
    %w = pit.swrite %s into %o[%m, %c0] : tensor<32x32xf32> into tensor<64x32xf32>
    pit.yield %w : tensor<64x32xf32>
  }
  return %r : tensor<64x32xf32>
}

// -----

// What is written has another size than what is read.
func.func @range(%a: tensor<64xf32>, %c: tensor<65xf32>) -> tensor<65xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %r = pit.forall (%i) = (%c0) to (%c64) step (8) iter_args(%o = %c) -> (tensor<65xf32>) {
    // expected-note @below {{which is here}}
    %t = pit.sread %a[%i] : tensor<64xf32> -> tensor<8xf32>
    // expected-error @below {{'pit.swrite' op takes tiles along dimension 0, of size 65, by a variable that counts along a dimension of size 64 elsewhere}}
    %w = pit.swrite %t into %o[%i] : tensor<8xf32> into tensor<65xf32>
    pit.yield %w : tensor<65xf32>
  }
  return %r : tensor<65xf32>
}
