// RUN: pit-opt %s -pit-share-scans -split-input-file | pit-opt -split-input-file | FileCheck %s

!rows = !pit.index<micro_tile = [1, *], axis = 0>
!columns = !pit.index<micro_tile = [32, 1], axis = 1>

// Rows of 100 elements take two words. The tiles cover all of the result, so its bits start
// as nothing. Two readers share them.
// CHECK-LABEL: func @covered
// CHECK: %[[bits:.*]] = tensor.empty(%{{.*}}) : tensor<?x16xi8>
// CHECK: %[[h:.*]]:2 = pit.forall (%[[m:.*]], %[[n:.*]]) = {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[b:.*]] = %[[bits]])
// CHECK: %[[w:.*]] = pit.swrite
// CHECK: %[[l:.*]] = pit.scan %[[w]][%[[m]], %[[n]] : index, index] tile [32, 64] into %[[b]]
// CHECK: pit.yield %[[w]], %[[l]]
// CHECK: %{{.*}}, %[[seen:.*]] = pit.choose %[[h]]#0 bitmap(%[[h]]#1 : tensor<?x16xi8>)
// CHECK: pit.index %[[h]]#0 seen(%[[seen]]) : tensor<?x100xf32>
func.func @covered(%x: tensor<?x100xf32>, %M: index, %t: f64) -> (!columns, index) {
  %c0 = arith.constant 0 : index
  %c100 = arith.constant 100 : index
  %e = tensor.empty(%M) : tensor<?x100xf32>
  %h = pit.forall (%m, %n) = (%c0, %c0) to (%M, %c100) step (32, 64) iter_args(%o = %e) -> (tensor<?x100xf32>) {
    %r = pit.sread %x[%m, %n] : tensor<?x100xf32> -> tensor<32x64xf32>
    %w = pit.swrite %r into %o[%m, %n] : tensor<32x64xf32> into tensor<?x100xf32>
    pit.yield %w : tensor<?x100xf32>
  }
  %v, %s = pit.choose %h of [!columns] dense(%t) fixed(%t) live(%t) : tensor<?x100xf32>
  %i = pit.index %h seen(%s) : tensor<?x100xf32> -> !columns
  return %i, %v : !columns, index
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
!columns = !pit.index<micro_tile = [32, 1], axis = 1>

// Rows that are not written are the background, whose bits are 0.
// CHECK-LABEL: func @some_rows
// CHECK: %[[zero:.*]] = arith.constant 0 : i8
// CHECK: %[[bits:.*]] = linalg.fill ins(%[[zero]] : i8)
// CHECK: pit.forall {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[bits]])
// CHECK: pit.scan %{{.*}} tile [16, 64] background(5.000000e-01 : f32)
// CHECK: pit.index %{{.*}}#0 bitmap(%{{.*}}#1 : tensor<?x8xi8>) background
func.func @some_rows(%x: tensor<?x64xf32>, %live: !rows, %M: index) -> !columns {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %e = tensor.empty(%M) : tensor<?x64xf32>
  %f = linalg.fill ins(%half : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %h = pit.forall %ids at %p in %live : !rows chunk 16 iter_args(%o = %f) -> (tensor<?x64xf32>) {
    %r = pit.sread %x[%ids : !pit.ids<16>, %c0] : tensor<?x64xf32> -> tensor<16x64xf32>
    %w = pit.swrite %r into %o[%ids : !pit.ids<16>, %c0] : tensor<16x64xf32> into tensor<?x64xf32>
    pit.yield %w : tensor<?x64xf32>
  }
  %i = pit.index %h background(0.5 : f32) : tensor<?x64xf32> -> !columns
  return %i : !columns
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
!columns = !pit.index<micro_tile = [32, 1], axis = 1>

// Rows that are not written hold another number: they would have to be read.
// CHECK-LABEL: func @others_live
// CHECK-NOT: pit.scan
// CHECK: pit.index %{{[^ ]+}} :
func.func @others_live(%x: tensor<?x64xf32>, %live: !rows, %M: index) -> !columns {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%M) : tensor<?x64xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %h = pit.forall %ids at %p in %live : !rows chunk 16 iter_args(%o = %f) -> (tensor<?x64xf32>) {
    %r = pit.sread %x[%ids : !pit.ids<16>, %c0] : tensor<?x64xf32> -> tensor<16x64xf32>
    %w = pit.swrite %r into %o[%ids : !pit.ids<16>, %c0] : tensor<16x64xf32> into tensor<?x64xf32>
    pit.yield %w : tensor<?x64xf32>
  }
  %i = pit.index %h : tensor<?x64xf32> -> !columns
  return %i : !columns
}

// -----

!columns = !pit.index<micro_tile = [32, 1], axis = 1>

// Whichever variant of a product ran, it has scanned.
// CHECK-LABEL: func @variants
// CHECK: %[[h:.*]]:2 = scf.if
// CHECK: pit.scan
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<64x128xf16>, tensor<64x16xi8>
// CHECK: } else {
// CHECK: pit.scan
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<64x128xf16>, tensor<64x16xi8>
// CHECK: pit.index %[[h]]#0 bitmap(%[[h]]#1 : tensor<64x16xi8>)
func.func @variants(%x: tensor<64x128xf16>, %which: i1) -> !columns {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %e = tensor.empty() : tensor<64x128xf16>
  %h = scf.if %which -> (tensor<64x128xf16>) {
    %a = pit.forall (%m, %n) = (%c0, %c0) to (%c64, %c128) step (32, 64) iter_args(%o = %e) -> (tensor<64x128xf16>) {
      %r = pit.sread %x[%m, %n] : tensor<64x128xf16> -> tensor<32x64xf16>
      %w = pit.swrite %r into %o[%m, %n] : tensor<32x64xf16> into tensor<64x128xf16>
      pit.yield %w : tensor<64x128xf16>
    }
    %to = bufferization.materialize_in_destination %a in %e : (tensor<64x128xf16>, tensor<64x128xf16>) -> tensor<64x128xf16>
    scf.yield %to : tensor<64x128xf16>
  } else {
    %a = pit.forall (%m, %n) = (%c0, %c0) to (%c64, %c128) step (8, 128) iter_args(%o = %e) -> (tensor<64x128xf16>) {
      %r = pit.sread %x[%m, %n] : tensor<64x128xf16> -> tensor<8x128xf16>
      %w = pit.swrite %r into %o[%m, %n] : tensor<8x128xf16> into tensor<64x128xf16>
      pit.yield %w : tensor<64x128xf16>
    }
    %to = bufferization.materialize_in_destination %a in %e : (tensor<64x128xf16>, tensor<64x128xf16>) -> tensor<64x128xf16>
    scf.yield %to : tensor<64x128xf16>
  }
  %i = pit.index %h : tensor<64x128xf16> -> !columns
  return %i : !columns
}

// -----

!columns = !pit.index<micro_tile = [32, 1], axis = 1>

// What a loop adds up is not final in any tile; tiles of 12 columns share bytes; an argument
// nobody computes; and there is no scan of an i1.
// CHECK-LABEL: func @refused
// CHECK-NOT: pit.scan
// CHECK-NOT: bits(
func.func @refused(%x: tensor<64x48xf32>, %t: tensor<64x48xi1>) -> (!columns, !columns, !columns, !columns) {
  %c0 = arith.constant 0 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %e = tensor.empty() : tensor<64x48xf32>
  %sum = pit.forall (%m, %n) = (%c0, %c0) to (%c64, %c48) step (32, 16) iter_args(%o = %x) -> (tensor<64x48xf32>) {
    %r = pit.sread %x[%m, %n] : tensor<64x48xf32> -> tensor<32x16xf32>
    %w = pit.swrite %r into %o[%m, %n] combine(addf) : tensor<32x16xf32> into tensor<64x48xf32>
    pit.yield %w : tensor<64x48xf32>
  }
  %odd = pit.forall (%m, %n) = (%c0, %c0) to (%c64, %c48) step (32, 12) iter_args(%o = %e) -> (tensor<64x48xf32>) {
    %r = pit.sread %x[%m, %n] : tensor<64x48xf32> -> tensor<32x12xf32>
    %w = pit.swrite %r into %o[%m, %n] : tensor<32x12xf32> into tensor<64x48xf32>
    pit.yield %w : tensor<64x48xf32>
  }
  %et = tensor.empty() : tensor<64x48xi1>
  %truth = pit.forall (%m, %n) = (%c0, %c0) to (%c64, %c48) step (32, 16) iter_args(%o = %et) -> (tensor<64x48xi1>) {
    %r = pit.sread %t[%m, %n] : tensor<64x48xi1> -> tensor<32x16xi1>
    %w = pit.swrite %r into %o[%m, %n] : tensor<32x16xi1> into tensor<64x48xi1>
    pit.yield %w : tensor<64x48xi1>
  }
  %i = pit.index %sum : tensor<64x48xf32> -> !columns
  %j = pit.index %odd : tensor<64x48xf32> -> !columns
  %k = pit.index %x : tensor<64x48xf32> -> !columns
  %l = pit.index %truth : tensor<64x48xi1> -> !columns
  return %i, %j, %k, %l : !columns, !columns, !columns, !columns
}

// -----

// Rows of several dims, computed as rows of one: so are their bits.
// CHECK-LABEL: func @expanded
// CHECK: %[[h:.*]]:2 = pit.forall {{.*}} -> (tensor<?x100xf32>, tensor<?x16xi8>)
// CHECK: %[[x:.*]] = tensor.expand_shape %[[h]]#0
// CHECK: %[[b:.*]] = tensor.expand_shape %[[h]]#1 {{\[\[}}0, 1], [2]] output_shape [%{{.*}}, 4, 16] : tensor<?x16xi8> into tensor<?x4x16xi8>
// CHECK: pit.index %[[x]] bitmap(%[[b]] : tensor<?x4x16xi8>)
func.func @expanded(%x: tensor<?x100xf32>, %M: index, %N: index) -> !pit.index<micro_tile = [1, 1, *], axis = 1> {
  %c0 = arith.constant 0 : index
  %c100 = arith.constant 100 : index
  %e = tensor.empty(%M) : tensor<?x100xf32>
  %h = pit.forall (%m, %n) = (%c0, %c0) to (%M, %c100) step (32, 64) iter_args(%o = %e) -> (tensor<?x100xf32>) {
    %r = pit.sread %x[%m, %n] : tensor<?x100xf32> -> tensor<32x64xf32>
    %w = pit.swrite %r into %o[%m, %n] : tensor<32x64xf32> into tensor<?x100xf32>
    pit.yield %w : tensor<?x100xf32>
  }
  %l = tensor.expand_shape %h [[0, 1], [2]] output_shape [%N, 4, 100] : tensor<?x100xf32> into tensor<?x4x100xf32>
  %i = pit.index %l : tensor<?x4x100xf32> -> !pit.index<micro_tile = [1, 1, *], axis = 1>
  return %i : !pit.index<micro_tile = [1, 1, *], axis = 1>
}

// Bits run along the last dim, which must not be split.
// CHECK-LABEL: func @split
// CHECK: pit.index %{{[^ ]*}} : tensor<?x4x25xf32>
func.func @split(%x: tensor<?x100xf32>, %M: index) -> !pit.index<micro_tile = [1, 1, *], axis = 1> {
  %c0 = arith.constant 0 : index
  %c100 = arith.constant 100 : index
  %e = tensor.empty(%M) : tensor<?x100xf32>
  %h = pit.forall (%m, %n) = (%c0, %c0) to (%M, %c100) step (32, 64) iter_args(%o = %e) -> (tensor<?x100xf32>) {
    %r = pit.sread %x[%m, %n] : tensor<?x100xf32> -> tensor<32x64xf32>
    %w = pit.swrite %r into %o[%m, %n] : tensor<32x64xf32> into tensor<?x100xf32>
    pit.yield %w : tensor<?x100xf32>
  }
  %l = tensor.expand_shape %h [[0], [1, 2]] output_shape [%M, 4, 25] : tensor<?x100xf32> into tensor<?x4x25xf32>
  %i = pit.index %l : tensor<?x4x25xf32> -> !pit.index<micro_tile = [1, 1, *], axis = 1>
  return %i : !pit.index<micro_tile = [1, 1, *], axis = 1>
}
