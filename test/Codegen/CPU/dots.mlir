// RUN: pit-opt %s --split-input-file --pit-tiles-to-loops=amx=true | FileCheck %s --check-prefixes=CHECK,AMX
// RUN: pit-opt %s --split-input-file --pit-tiles-to-loops | FileCheck %s --check-prefixes=CHECK,VECTOR
// RUN: pit-opt %s --split-input-file --pit-tiles-to-loops='amx=true strict=true' | FileCheck %s --check-prefix=STRICT --implicit-check-not=amx

// Ids along k: elements of A are gathered by words, and rows of B interleaved for
// each chunk: pairs are neighbours in the list of ids. Without tile registers rows of
// B are widened: all of them before, if they are read for more than 64 rows of A, else
// where they are read.

// CHECK-LABEL: func.func @columns_bf16
// STRICT-LABEL: func.func @columns_bf16
// AMX: call @pit_rt_request_amx
// AMX: scf.parallel
// AMX:   llvm.intr.masked.gather {{.*}} : (vector<16x!llvm.ptr>, vector<16xi1>, vector<16xi32>)
// AMX: scf.parallel
// AMX:   vector.interleave {{.*}} : vector<32xbf16> -> vector<64xbf16>
// AMX:   amx.tile_load {{.*}} into !amx.tile<16x16xf32>
// AMX-COUNT-4: amx.tile_mulf {{.*}} : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
// AMX-COUNT-4: amx.tile_store
// VECTOR-NOT: vector.interleave
// VECTOR: %[[READS:.*]] = arith.muli %{{.*}}, %c32
// VECTOR: %[[LIMIT:.*]] = arith.muli %{{.*}}, %c64
// VECTOR: %[[IS_MORE:.*]] = arith.cmpi sgt, %[[READS]], %[[LIMIT]]
// VECTOR: scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%c1024, %c8)
// VECTOR:   arith.extf %{{.*}} : vector<16xbf16> to vector<16xf32>
// VECTOR: scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%c512, %c2048)
// VECTOR-NEXT: scf.if %[[PACKED:.*]] {
// VECTOR-NOT:  vector.load {{.*}} : memref<1024x512xbf16>
// VECTOR:      vector.load {{.*}} : memref<8x1024x64xf32, {{.*}}>, vector<16xf32>
// VECTOR:    } else {
// VECTOR:      %[[B:.*]] = vector.load %arg2[{{.*}} : memref<1024x512xbf16>, vector<16xbf16>
// VECTOR:      arith.extf %[[B]]
func.func @columns_bf16(%a: tensor<2048x1024xbf16>, %b: tensor<1024x512xbf16>) -> tensor<2048x512xf32> {
  %c0 = arith.constant 0 : index
  %m = arith.constant 2048 : index
  %n = arith.constant 512 : index
  %cst = arith.constant 0.0 : f32
  %i = pit.index %a : tensor<2048x1024xbf16> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %e = tensor.empty() : tensor<2048x512xf32>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 128) iter_args(%o = %e) -> (tensor<2048x512xf32>) {
    %t = tensor.empty() : tensor<32x128xf32>
    %acc = linalg.fill ins(%cst : f32) outs(%t : tensor<32x128xf32>) -> tensor<32x128xf32>
    %sum = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%s = %acc) -> (tensor<32x128xf32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : bf16) : tensor<2048x1024xbf16> -> tensor<32x64xbf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] pad(0.0 : bf16) : tensor<1024x512xbf16> -> tensor<64x128xbf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xbf16>, tensor<64x128xbf16>) outs(%s : tensor<32x128xf32>) -> tensor<32x128xf32>
      pit.yield %p : tensor<32x128xf32>
    }
    %w = pit.swrite %sum into %o[%x, %y] : tensor<32x128xf32> into tensor<2048x512xf32>
    pit.yield %w : tensor<2048x512xf32>
  }
  return %r : tensor<2048x512xf32>
}

// -----

// B is interleaved once for all tiles. The last rows of a group may be missing.

// CHECK-LABEL: func.func @rows_bf16
// AMX: call @pit_rt_request_amx
// AMX: scf.parallel
// AMX:   vector.interleave
// AMX:   vector.maskedload
// AMX:   vector.interleave
// AMX: scf.parallel
// AMX-NOT: vector.interleave
// AMX-COUNT-4: amx.tile_mulf
func.func @rows_bf16(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %b, %c1 : tensor<?x?xbf16>
  %k = tensor.dim %b, %c0 : tensor<?x?xbf16>
  %i = pit.index %a : tensor<?x?xbf16> -> !pit.index<micro_tile = [1, *], axis = 0>
  %r = pit.forall (%y) = (%c0) to (%n) step (128), %ids at %pos in %i[] : !pit.index<micro_tile = [1, *], axis = 0> chunk 32 iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %acc = pit.sread %o[%ids : !pit.ids<32>, %y] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x128xf32>
    %sum = pit.for (%z) = (%c0) to (%k) step (64) iter_args(%s = %acc) -> (tensor<32x128xf32>) {
      %at = pit.sread %a[%ids : !pit.ids<32>, %z] pad(0.0 : bf16) : tensor<?x?xbf16> -> tensor<32x64xbf16>
      %bt = pit.sread %b[%z, %y] pad(0.0 : bf16) : tensor<?x?xbf16> -> tensor<64x128xbf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xbf16>, tensor<64x128xbf16>) outs(%s : tensor<32x128xf32>) -> tensor<32x128xf32>
      pit.yield %p : tensor<32x128xf32>
    }
    %w = pit.swrite %sum into %o[%ids : !pit.ids<32>, %y] : tensor<32x128xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// Groups of four; without AMX pairs of i16.

// CHECK-LABEL: func.func @columns_i8
// AMX: vector.interleave {{.*}} : vector<32xi8> -> vector<64xi8>
// AMX: vector.interleave {{.*}} : vector<64xi8> -> vector<128xi8>
// AMX-COUNT-4: amx.tile_muli {{.*}} : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
// VECTOR: llvm.intr.masked.gather
// VECTOR: arith.extsi {{.*}} : vector<64xi8> to vector<64xi16>
// VECTOR: vector.interleave {{.*}} : vector<64xi16> -> vector<128xi16>
// VECTOR: vector.load {{.*}}, vector<2xi16>
// VECTOR: arith.muli {{.*}} : vector<32xi32>
// VECTOR: vector.deinterleave
func.func @columns_i8(%a: tensor<2048x1024xi8>, %b: tensor<1024x512xi8>) -> tensor<2048x512xi32> {
  %c0 = arith.constant 0 : index
  %m = arith.constant 2048 : index
  %n = arith.constant 512 : index
  %cst = arith.constant 0 : i32
  %i = pit.index %a : tensor<2048x1024xi8> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %e = tensor.empty() : tensor<2048x512xi32>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 128) iter_args(%o = %e) -> (tensor<2048x512xi32>) {
    %t = tensor.empty() : tensor<32x128xi32>
    %acc = linalg.fill ins(%cst : i32) outs(%t : tensor<32x128xi32>) -> tensor<32x128xi32>
    %sum = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%s = %acc) -> (tensor<32x128xi32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0 : i8) : tensor<2048x1024xi8> -> tensor<32x64xi8>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] pad(0 : i8) : tensor<1024x512xi8> -> tensor<64x128xi8>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xi8>, tensor<64x128xi8>) outs(%s : tensor<32x128xi32>) -> tensor<32x128xi32>
      pit.yield %p : tensor<32x128xi32>
    }
    %w = pit.swrite %sum into %o[%x, %y] : tensor<32x128xi32> into tensor<2048x512xi32>
    pit.yield %w : tensor<2048x512xi32>
  }
  return %r : tensor<2048x512xi32>
}

// -----

// CHECK-LABEL: func.func @rows_i8
// AMX: scf.parallel
// AMX:   vector.interleave
// AMX: scf.parallel
// AMX-COUNT-4: amx.tile_muli
// VECTOR: vector.interleave
// VECTOR: scf.parallel
// VECTOR-NOT: vector.interleave
// VECTOR: vector.deinterleave
func.func @rows_i8(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %b, %c1 : tensor<?x?xi8>
  %k = tensor.dim %b, %c0 : tensor<?x?xi8>
  %i = pit.index %a : tensor<?x?xi8> -> !pit.index<micro_tile = [1, *], axis = 0>
  %r = pit.forall (%y) = (%c0) to (%n) step (128), %ids at %pos in %i[] : !pit.index<micro_tile = [1, *], axis = 0> chunk 32 iter_args(%o = %c) -> (tensor<?x?xi32>) {
    %acc = pit.sread %o[%ids : !pit.ids<32>, %y] pad(0 : i32) : tensor<?x?xi32> -> tensor<32x128xi32>
    %sum = pit.for (%z) = (%c0) to (%k) step (64) iter_args(%s = %acc) -> (tensor<32x128xi32>) {
      %at = pit.sread %a[%ids : !pit.ids<32>, %z] pad(0 : i8) : tensor<?x?xi8> -> tensor<32x64xi8>
      %bt = pit.sread %b[%z, %y] pad(0 : i8) : tensor<?x?xi8> -> tensor<64x128xi8>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xi8>, tensor<64x128xi8>) outs(%s : tensor<32x128xi32>) -> tensor<32x128xi32>
      pit.yield %p : tensor<32x128xi32>
    }
    %w = pit.swrite %sum into %o[%ids : !pit.ids<32>, %y] : tensor<32x128xi32> into tensor<?x?xi32>
    pit.yield %w : tensor<?x?xi32>
  }
  return %r : tensor<?x?xi32>
}
