// RUN: pit-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// pit.sread
//===----------------------------------------------------------------------===//

func.func @into_tensor(%x: tensor<8xf32>, %m: memref<4xf32>, %d: index) {
  // expected-error@+1 {{[sread 2] reads a tensor into a tensor or a memref into a memref}}
  pit.sread %x[%d] into %m : tensor<8xf32> -> memref<4xf32>
  return
}

// -----

func.func @out_of_memref(%x: memref<8xf32>, %d: index) {
  // expected-error@+1 {{[sread 2] reads a tensor into a tensor or a memref into a memref}}
  pit.sread %x[%d] : memref<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @neither(%x: tensor<8xf32>, %d: index) {
  // expected-error@+1 {{[sread 1] either has a result or writes into a memref}}
  "pit.sread"(%x, %d) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<8xf32>, index) -> ()
  return
}

// -----

func.func @narrower(%x: tensor<8xf32>, %d: index) {
  // expected-error@+1 {{[sread 3] cannot read elements of type 'f32' as 'f16'; the tile's have to be the same or wider}}
  pit.sread %x[%d] : tensor<8xf32> -> tensor<4xf16>
  return
}

// -----

func.func @other_kind(%x: tensor<8xi8>, %d: index) {
  // expected-error@+1 {{[sread 3] cannot read elements of type 'i8' as 'f32'}}
  pit.sread %x[%d] : tensor<8xi8> -> tensor<4xf32>
  return
}

// -----

func.func @pad_type(%x: tensor<8xf16>, %d: index) {
  // expected-error@+1 {{[element 2] pad has type 'f16', the elements have type 'f32'}}
  pit.sread %x[%d] pad(0.0 : f16) : tensor<8xf16> -> tensor<4xf32>
  return
}

// -----

func.func @pad_kind(%x: tensor<8xf32>, %d: index) {
  // expected-error@+1 {{[element 3] pad is a number, not "zero" : f32}}
  pit.sread %x[%d] pad("zero" : f32) : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @no_zero(%x: tensor<8xcomplex<f32>>, %d: index) {
  // expected-error@+1 {{[element 1] cannot be of elements of type 'complex<f32>'; they have to be signless integers, index or floats}}
  pit.sread %x[%d] : tensor<8xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @dims(%x: tensor<8xf32>, %d: index) {
  // expected-error@+1 {{[tile 6] takes dims only with an index}}
  pit.sread %x[%d] dims[0] : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @subscripts(%x: tensor<8x8xf32>, %d: index) {
  // expected-error@+1 {{[tile 1] has 1 subscripts for a tensor of rank 2}}
  pit.sread %x[%d] : tensor<8x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @tile_rank(%x: tensor<8x8xf32>, %d: index) {
  // expected-error@+1 {{[tile 2] tile has rank 1, the tensor 2}}
  pit.sread %x[%d, %d] : tensor<8x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_tile(%x: tensor<8x8xf32>, %d: index) {
  // expected-error@+1 {{[tile 3] tile has the shape of 'tensor<4x?xf32>', which is not static}}
  pit.sread %x[%d, %d] : tensor<8x8xf32> -> tensor<4x?xf32>
  return
}

// -----

// A tensor may be empty, a tile of it may not.
func.func @read_nothing(%x: tensor<?x0xf32>, %ids: !pit.ids<16>, %d: index) {
  // expected-error@+1 {{[tile 3] tile 'tensor<16x0xf32>' has extent 0 along dimension 1; extents are positive}}
  pit.sread %x[%ids : !pit.ids<16>, %d] : tensor<?x0xf32> -> tensor<16x0xf32>
  return
}

// -----

func.func @write_nothing(%t: memref<0x8xf32>, %x: memref<?x8xf32>, %d: index) {
  // expected-error@+1 {{[tile 3] tile 'memref<0x8xf32>' has extent 0 along dimension 0; extents are positive}}
  pit.swrite %t into %x[%d, %d] : memref<0x8xf32> into memref<?x8xf32>
  return
}

// -----

func.func @index_of_two(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>, %d: index) {
  // expected-error@+1 {{[tile 4] takes an index only as its single subscript}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>, %d] : tensor<8x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @ids(%x: tensor<8x8xf32>, %ids: !pit.ids<16>, %d: index) {
  // expected-error@+1 {{[tile 5] dimension 0 of the tile has extent 4, but is gathered by 16 ids}}
  pit.sread %x[%ids : !pit.ids<16>, %d] : tensor<8x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @whole_not_packable(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [4, 1], axis = 1>) {
  // expected-error@+1 {{[whole 1] packs a whole tensor only by micro-tiles that are 1 wide or whole (*) along every dimension, not '!pit.index<micro_tile = [4, 1], axis = 1>'}}
  pit.sread %x[%i : !pit.index<micro_tile = [4, 1], axis = 1>] : tensor<8x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @whole_dims(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{[whole 2] names 1 dimensions, the index has 2}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] dims[0] : tensor<8x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @whole_dim(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{[whole 3] dimension 2 is not one of a rank-2 tensor}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] dims[0, 2] : tensor<8x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @whole_dim_twice(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{[whole 4] names dimension 1 twice}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] dims[1, 1] : tensor<8x8xf32> -> tensor<?x8xf32>
  return
}

// -----

// Only a whole dimension may be missing.
func.func @whole_axis_missing(%x: tensor<8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{[whole 3] dimension -1 is not one of a rank-1 tensor}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] dims[-1, 0] : tensor<8xf32> -> tensor<?xf32>
  return
}

// -----

// An index of more dimensions than the tensor.
func.func @whole_rank(%x: tensor<8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{[whole 3] dimension 1 is not one of a rank-1 tensor}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] : tensor<8xf32> -> tensor<?xf32>
  return
}

// -----

func.func @packed_rank(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{[whole 5] packed tensor has rank 1, not 2}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] : tensor<8x8xf32> -> tensor<?xf32>
  return
}

// -----

func.func @packed_extent(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{[whole 6] packed dimension 1 has extent 9, dimension 1 has 8}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] : tensor<8x8xf32> -> tensor<?x9xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// pit.swrite
//===----------------------------------------------------------------------===//

func.func @write_mixed(%x: tensor<8xf32>, %m: memref<4xf32>, %d: index) {
  // expected-error@+1 {{[swrite 1] writes a tensor into a tensor or a memref into a memref}}
  pit.swrite %m into %x[%d] : memref<4xf32> into tensor<8xf32>
  return
}

// -----

func.func @write_result(%x: tensor<8xf32>, %t: tensor<4xf32>, %d: index) {
  // expected-error@+1 {{[swrite 2] has a result of its destination's type when that is a tensor, and none otherwise}}
  "pit.swrite"(%t, %x, %d) : (tensor<4xf32>, tensor<8xf32>, index) -> ()
  return
}

// -----

func.func @write_wider(%x: tensor<8xf32>, %t: tensor<4xf16>, %d: index) {
  // expected-error@+1 {{[swrite 3] cannot write elements of type 'f16' as 'f32'; the tile's have to be the same or wider}}
  pit.swrite %t into %x[%d] : tensor<4xf16> into tensor<8xf32>
  return
}

// -----

func.func @unknown_combiner(%x: tensor<8xf32>, %t: tensor<4xf32>, %d: index) {
  // expected-error@+1 {{unknown combiner plus}}
  pit.swrite %t into %x[%d] combine(plus) : tensor<4xf32> into tensor<8xf32>
  return
}

// -----

func.func @combiner(%x: tensor<8xf32>, %t: tensor<4xf32>, %d: index) {
  // expected-error@+1 {{[swrite 5] cannot combine elements of type 'f32' by addi}}
  pit.swrite %t into %x[%d] combine(addi) : tensor<4xf32> into tensor<8xf32>
  return
}

// -----

func.func @combiner_assign(%x: tensor<8xi32>, %t: tensor<4xi32>, %d: index) {
  // expected-error@+1 {{[swrite 5] cannot combine elements of type 'i32' by assign}}
  pit.swrite %t into %x[%d] combine(assign) : tensor<4xi32> into tensor<8xi32>
  return
}

// -----

func.func @write_dims(%x: tensor<8xf32>, %t: tensor<4xf32>, %d: index) {
  // expected-error@+1 {{[tile 6] takes dims only with an index}}
  pit.swrite %t into %x[%d] dims[0] : tensor<4xf32> into tensor<8xf32>
  return
}

// -----

func.func @write_subscripts(%x: tensor<8xf32>, %t: tensor<4xf32>, %d: index) {
  // expected-error@+1 {{[tile 1] has 2 subscripts for a tensor of rank 1}}
  pit.swrite %t into %x[%d, %d] : tensor<4xf32> into tensor<8xf32>
  return
}

// -----

func.func @write_packed(%x: tensor<8x8xf32>, %t: tensor<?x7xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{[whole 6] packed dimension 1 has extent 7, dimension 1 has 8}}
  pit.swrite %t into %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] : tensor<?x7xf32> into tensor<8x8xf32>
  return
}

// -----

func.func @combine_bits(%i: index, %t: tensor<4xi1>, %d: tensor<?xi1>) -> tensor<?xi1> {
  // expected-error@+1 {{[swrite 4] cannot combine elements of type i1; use i8}}
  %r = pit.swrite %t into %d[%i] combine(ori) : tensor<4xi1> into tensor<?xi1>
  return %r : tensor<?xi1>
}
