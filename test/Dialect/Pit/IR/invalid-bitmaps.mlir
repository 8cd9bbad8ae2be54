// RUN: pit-opt %s -split-input-file -verify-diagnostics

// What may be scanned, and where the bitmap goes.

func.func @scan_mixed(%x: tensor<8x64xf32>, %b: memref<8x8xi8>, %i: index) {
  // expected-error@+1 {{[scan 1] scans 'tensor<8x64xf32>', but writes into 'memref<8x8xi8>'}}
  pit.scan %x[%i, %i : index, index] tile [8, 64] into %b : tensor<8x64xf32> into memref<8x8xi8>
  return
}

// -----

func.func @scan_no_result(%x: tensor<8x64xf32>, %b: tensor<8x8xi8>, %i: index) {
  // expected-error@+1 {{[scan 2] has a result of the type of its bits when that is a tensor, and none otherwise}}
  pit.scan %x[%i, %i : index, index] tile [8, 64] into %b : tensor<8x64xf32> into tensor<8x8xi8>
  return
}

// -----

func.func @scan_subscripts(%x: memref<8x64xf32>, %b: memref<8x8xi8>, %i: index) {
  // expected-error@+1 {{[scan 3] has 1 subscripts and a tile of 2 extents for a source of rank 2}}
  pit.scan %x[%i : index] tile [8, 64] into %b : memref<8x64xf32> into memref<8x8xi8>
  return
}

// -----

func.func @scan_width(%x: memref<8x64xf32>, %b: memref<8x8xi8>, %i: index) {
  // expected-error@+1 {{[scan 4] has a tile of extent 12 along dimension 1; extents are positive, and the last is a multiple of 8}}
  pit.scan %x[%i, %i : index, index] tile [8, 12] into %b : memref<8x64xf32> into memref<8x8xi8>
  return
}

// -----

func.func @scan_ids(%x: memref<8x64xf32>, %b: memref<8x8xi8>, %i: index, %ids: !pit.ids<4>) {
  // expected-error@+1 {{[scan 5] has a tile of extent 8 along dimension 0, but 4 ids}}
  pit.scan %x[%ids, %i : !pit.ids<4>, index] tile [8, 64] into %b : memref<8x64xf32> into memref<8x8xi8>
  return
}

// -----

func.func @scan_columns(%x: memref<8x64xf32>, %b: memref<8x8xi8>, %i: index, %ids: !pit.ids<64>) {
  // expected-error@+1 {{[scan 6] has a subscript of type '!pit.ids<64>' along dimension 1; it takes numbers, and ids but in the last dimension}}
  pit.scan %x[%i, %ids : index, !pit.ids<64>] tile [8, 64] into %b : memref<8x64xf32> into memref<8x8xi8>
  return
}

// -----

func.func @bits_of_words(%x: memref<8x64xf32>, %b: memref<8x1xi64>, %i: index) {
  // expected-error@+1 {{[bitmap 1] has bits in 'memref<8x1xi64>' for 'memref<8x64xf32>'; they are bytes, and both have the same rank, not 0}}
  pit.scan %x[%i, %i : index, index] tile [8, 64] into %b : memref<8x64xf32> into memref<8x1xi64>
  return
}

// -----

// A row of 65 elements takes two words.
func.func @bits_extent(%x: tensor<8x65xf32>, %b: tensor<8x9xi8>) {
  // expected-error@+1 {{[bitmap 2] has 9 along dimension 1 of the bits, which 'tensor<8x65xf32>' needs 16 of}}
  %i = pit.index %x bitmap(%b : tensor<8x9xi8>) : tensor<8x65xf32> -> !pit.index<micro_tile = [1, 1], axis = 1>
  return
}

// -----

func.func @bits_of_mask(%x: tensor<8x64xi1>, %b: tensor<8x8xi8>) {
  // expected-error@+1 {{[index 6] has bits of values, but is built from mask}}
  %i = pit.index mask %x bitmap(%b : tensor<8x8xi8>) : tensor<8x64xi1> -> !pit.index<micro_tile = [1, 1], axis = 1>
  return
}

// -----

func.func @bits_and_bitmap(%x: tensor<8x64xf32>, %b: tensor<8x8xi8>, %t: f64) {
  %v, %s = pit.choose %x of [!pit.index<micro_tile = [1, 1], axis = 1>] dense(%t) fixed(%t) live(%t) : tensor<8x64xf32>
  // expected-error@+1 {{[index 6] has bits of values, but is built from values that were seen before}}
  %i = pit.index %x seen(%s) bitmap(%b : tensor<8x8xi8>) : tensor<8x64xf32> -> !pit.index<micro_tile = [1, 1], axis = 1>
  return
}

// -----

func.func @choose_mask(%x: tensor<8x64xi1>, %b: tensor<8x8xi8>, %t: f64) {
  // expected-error@+1 {{[choose 7] scans a mask, but has bits of values}}
  %v, %s = pit.choose %x mask bitmap(%b : tensor<8x8xi8>) of [!pit.index<micro_tile = [1, 1], axis = 1>] dense(%t) fixed(%t) live(%t) : tensor<8x64xi1>
  return
}
