// RUN: pit-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// #pit.rule
//===----------------------------------------------------------------------===//

// expected-error@+1 {{conflicts is none, sequential, atomic, two_phase, two_phase_rounded or disjoint, not twophase}}
#r = #pit.rule<conflicts = twophase>

// -----

// expected-error@+1 {{a rule has operand, axis, micro_tile, tile and conflicts, not tiles}}
#r = #pit.rule<axis = 0, tiles = [1, 2]>

// -----

// expected-error@+1 {{axis is given twice}}
#r = #pit.rule<axis = 0, axis = 1>

// -----

// expected-error@+1 {{micro_tile is given twice}}
#r = #pit.rule<micro_tile = [1], micro_tile = [32]>

// -----

// expected-error@+1 {{axis -1 of a rule is negative}}
#r = #pit.rule<axis = -1>

// -----

// expected-error@+1 {{operand -2 of a rule is negative}}
#r = #pit.rule<operand = -2>

// -----

// expected-error@+1 {{extent 0 of a rule is not positive}}
#r = #pit.rule<micro_tile = [0, 1]>

// -----

// expected-error@+1 {{extent -8 of a rule is not positive}}
#r = #pit.rule<tile = [-8]>

// -----

// expected-error@+1 {{axis 2 is not a dimension of a rank-2 micro-tile}}
#r = #pit.rule<axis = 2, micro_tile = [32, 1]>

// -----

// expected-error@+1 {{micro-tile is 32 wide along its axis 0, it has to be 1}}
#r = #pit.rule<axis = 0, micro_tile = [32, 1]>

// -----

// expected-error@+1 {{micro-tile is * wide along its axis 1, it has to be 1}}
#r = #pit.rule<axis = 1, micro_tile = [1, *]>

// -----

// expected-error@+1 {{a rule's tile has a number for each iteration dimension, not *}}
#r = #pit.rule<tile = [32, *]>

// -----

//===----------------------------------------------------------------------===//
// !pit.index and !pit.ids
//===----------------------------------------------------------------------===//

// expected-error@+1 {{axis 2 is not a dimension of a rank-2 micro-tile}}
func.func private @f(!pit.index<micro_tile = [32, 1], axis = 2>)

// -----

// expected-error@+1 {{axis 0 is not a dimension of a rank-0 micro-tile}}
func.func private @f(!pit.index<micro_tile = [], axis = 0>)

// -----

// expected-error@+1 {{micro-tile is 32 wide along its axis 0, it has to be 1}}
func.func private @f(!pit.index<micro_tile = [32, 1], axis = 0>)

// -----

// expected-error@+1 {{step has 1 dimensions, the micro-tile has 2}}
func.func private @f(!pit.index<micro_tile = [32, 1], axis = 1, step = [32]>)

// -----

// expected-error@+1 {{step has 0 dimensions, the micro-tile has 2}}
func.func private @f(!pit.index<micro_tile = [32, 1], axis = 1, step = []>)

// -----

// expected-error@+1 {{micro-tile extent 0 of dimension 0 is not positive; use * for the whole dimension}}
func.func private @f(!pit.index<micro_tile = [0, 1], axis = 1>)

// -----

// expected-error@+1 {{step of dimension 0 has to be * as the micro-tile is whole}}
func.func private @f(!pit.index<micro_tile = [*, 1], axis = 1, step = [4, 1]>)

// -----

// expected-error@+1 {{step of dimension 0 has to be positive}}
func.func private @f(!pit.index<micro_tile = [4, 1], axis = 1, step = [0, 1]>)

// -----

// expected-error@+1 {{step of dimension 0 has to be positive}}
func.func private @f(!pit.index<micro_tile = [4, 1], axis = 1, step = [*, 1]>)

// -----

// expected-error@+1 {{step along the axis 1 is 2, it has to be 1}}
func.func private @f(!pit.index<micro_tile = [4, 1], axis = 1, step = [4, 2]>)

// -----

// expected-error@+1 {{an index of rank 9 is too large; the runtime takes up to 8}}
func.func private @f(!pit.index<micro_tile = [1, *, *, *, *, *, *, *, *], axis = 0>)

// -----

// expected-error@+1 {{a chunk has a positive number of ids, not 0}}
func.func private @f(!pit.ids<0>)

// -----

//===----------------------------------------------------------------------===//
// pit.sparse
//===----------------------------------------------------------------------===//

func.func @element(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{[element 1] cannot be of elements of type 'complex<f32>'; they have to be signless integers, index or floats}}
  pit.sparse %x : tensor<4xcomplex<f32>>
  return
}

// -----

func.func @signed_element(%x: tensor<4xsi32>) {
  // expected-error@+1 {{[element 1] cannot be of elements of type 'si32'; they have to be signless integers, index or floats}}
  pit.sparse %x : tensor<4xsi32>
  return
}

// -----

func.func @background_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{[element 2] background has type 'i32', the elements have type 'f32'}}
  pit.sparse %x background(0 : i32) : tensor<4xf32>
  return
}

// -----

func.func @background_kind(%x: tensor<4xf32>) {
  // expected-error@+1 {{[element 3] background is a number, not "zero" : f32}}
  pit.sparse %x background("zero" : f32) : tensor<4xf32>
  return
}

// -----

func.func @no_selector(%x: tensor<4xf32>) {
  // expected-error@+1 {{[sparse 1] source mask needs a selector}}
  "pit.sparse"(%x) <{source = #pit<source mask>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @needless_selector(%x: tensor<4xf32>, %m: tensor<4xi1>) {
  // expected-error@+1 {{[sparse 1] source values takes no selector}}
  "pit.sparse"(%x, %m) <{source = #pit<source values>}> : (tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>
  return
}

// -----

func.func @index_type(%x: tensor<4xf32>, %m: tensor<4xi1>) {
  // expected-error@+1 {{[sparse 2] selects by an index, but its selector has type 'tensor<4xi1>'}}
  pit.sparse %x index(%m : tensor<4xi1>) : tensor<4xf32>
  return
}

// -----

func.func @index_rank(%x: tensor<4xf32>, %i: !pit.index<micro_tile = [4, 1], axis = 1>) {
  // expected-error@+1 {{[sparse 3] index of a rank-2 tensor cannot select from a rank-1 tensor}}
  pit.sparse %x index(%i : !pit.index<micro_tile = [4, 1], axis = 1>) : tensor<4xf32>
  return
}

// -----

func.func @selector_type(%x: tensor<4x4xf32>, %i: !pit.index<micro_tile = [4, 1], axis = 1>) {
  // expected-error@+1 {{[sparse 2] selector has type '!pit.index<micro_tile = [4, 1], axis = 1>', not a tensor}}
  pit.sparse %x mask(%i : !pit.index<micro_tile = [4, 1], axis = 1>) : tensor<4x4xf32>
  return
}

// -----

func.func @mask_element(%x: tensor<4xf32>, %m: tensor<4xi24>) {
  // expected-error@+1 {{[selector 1] mask has elements of type 'i24', not i1, or integers or floats of 8, 16, 32 or 64 bits}}
  pit.sparse %x mask(%m : tensor<4xi24>) : tensor<4xf32>
  return
}

// -----

func.func @mask_shape(%x: tensor<4xf32>, %m: tensor<5xi1>) {
  // expected-error@+1 {{[selector 2] mask has shape [5], what it selects from has shape [4]}}
  pit.sparse %x mask(%m : tensor<5xi1>) : tensor<4xf32>
  return
}

// -----

func.func @mask_rank(%x: tensor<4x?xf32>, %m: tensor<?xi1>) {
  // expected-error@+1 {{[selector 2] mask has shape [?], what it selects from has shape [4, ?]}}
  pit.sparse %x mask(%m : tensor<?xi1>) : tensor<4x?xf32>
  return
}

// -----

func.func @lengths_element(%x: tensor<4x4xf32>, %l: tensor<4xindex>) {
  // expected-error@+1 {{[selector 3] lengths have elements of type 'index', not i32 or i64}}
  pit.sparse %x lengths(%l : tensor<4xindex>) : tensor<4x4xf32>
  return
}

// -----

func.func @lengths_rank(%x: tensor<4x4xf32>, %l: tensor<4x4xi32>) {
  // expected-error@+1 {{[selector 4] lengths of rank 2 need a tensor of rank 3 or more to select from, not 2}}
  pit.sparse %x lengths(%l : tensor<4x4xi32>) : tensor<4x4xf32>
  return
}

// -----

func.func @lengths_shape(%x: tensor<4x6xf32>, %l: tensor<6xi32>) {
  // expected-error@+1 {{[selector 5] lengths have shape [6], the first dimensions of what they select from have shape [4]}}
  pit.sparse %x lengths(%l : tensor<6xi32>) : tensor<4x6xf32>
  return
}

// -----

func.func @routing_element(%x: tensor<4x4xf32>, %a: tensor<4x2xi16>) {
  // expected-error@+1 {{[selector 6] routing has elements of type 'i16', not i32 or i64}}
  pit.sparse %x routing(%a : tensor<4x2xi16>) : tensor<4x4xf32>
  return
}

// -----

func.func @routing_rank(%x: tensor<4x4xf32>, %a: tensor<4xi32>) {
  // expected-error@+1 {{[selector 7] routing is a T x K tensor that selects from a T x E tensor; their ranks are 1 and 2}}
  pit.sparse %x routing(%a : tensor<4xi32>) : tensor<4x4xf32>
  return
}

// -----

func.func @routing_shape(%x: tensor<4x8xf32>, %a: tensor<8x2xi32>) {
  // expected-error@+1 {{[selector 8] routing has 8 rows, what it selects from has 4}}
  pit.sparse %x routing(%a : tensor<8x2xi32>) : tensor<4x8xf32>
  return
}

// -----

func.func @rule_operand(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{[sparse 4] takes a rule without an operand number; that belongs on the op that uses the mark}}
  pit.sparse %x rule(<operand = 0>) : tensor<4x8xf32>
  return
}

// -----

func.func @rule_axis(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{[sparse 5] rule's axis 2 is not a dimension of a rank-2 tensor}}
  pit.sparse %x rule(<axis = 2>) : tensor<4x8xf32>
  return
}

// -----

func.func @rule_micro_tile(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{[sparse 6] rule's micro-tile has rank 3, the tensor 2}}
  pit.sparse %x rule(<micro_tile = [1, 1, 1]>) : tensor<4x8xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// pit.index
//===----------------------------------------------------------------------===//

func.func @index_source(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{[index 1] is not built from an index}}
  "pit.index"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, source = #pit<source index>}> : (tensor<4x8xf32>) -> !pit.index<micro_tile = [1, *], axis = 0>
  return
}

// -----

func.func @no_shape(%l: tensor<4xi32>) {
  // expected-error@+1 {{[index 2] from lengths takes 2 shape operands, not 0}}
  pit.index lengths %l : tensor<4xi32> -> !pit.index<micro_tile = [1, 1], axis = 1>
  return
}

// -----

// Only along axis 0 are two dimensions one.
func.func @rows_of_batch(%l: tensor<4xi32>, %d: index) {
  // expected-error@+1 {{[index 2] from lengths takes 2 shape operands, not 3}}
  pit.index lengths %l shape(%d, %d, %d) : tensor<4xi32> -> !pit.index<micro_tile = [1, 1], axis = 1>
  return
}

// -----

func.func @needless_shape(%x: tensor<4x8xf32>, %d: index) {
  // expected-error@+1 {{[index 2] from values takes 0 shape operands, not 1}}
  pit.index %x shape(%d) : tensor<4x8xf32> -> !pit.index<micro_tile = [1, *], axis = 0>
  return
}

// -----

func.func @index_background(%m: tensor<4x8xi1>) {
  // expected-error@+1 {{[index 3] from mask has no use for a background}}
  pit.index mask %m background(false) : tensor<4x8xi1> -> !pit.index<micro_tile = [1, *], axis = 0>
  return
}

// -----

func.func @index_background_type(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{[element 2] background has type 'f64', the elements have type 'f32'}}
  pit.index %x background(0.0) : tensor<4x8xf32> -> !pit.index<micro_tile = [1, *], axis = 0>
  return
}

// -----

func.func @index_input_rank(%x: tensor<4x8x2xf32>) {
  // expected-error@+1 {{[index 5] input has rank 3, the micro-tile 2}}
  pit.index %x : tensor<4x8x2xf32> -> !pit.index<micro_tile = [1, *], axis = 0>
  return
}

// -----

func.func @index_element(%x: tensor<4x8xcomplex<f32>>) {
  // expected-error@+1 {{[element 1] cannot be of elements of type 'complex<f32>'; they have to be signless integers, index or floats}}
  pit.index %x : tensor<4x8xcomplex<f32>> -> !pit.index<micro_tile = [1, *], axis = 0>
  return
}

// -----

func.func @index_mask(%x: memref<4x8xindex>) {
  // expected-error@+1 {{[selector 1] mask has elements of type 'index', not i1, or integers or floats of 8, 16, 32 or 64 bits}}
  pit.index mask %x : memref<4x8xindex> -> !pit.index<micro_tile = [1, *], axis = 0>
  return
}

// -----

func.func @index_lengths(%l: tensor<4xi32>) {
  %c6 = arith.constant 6 : index
  // expected-error@+1 {{[selector 5] lengths have shape [4], the first dimensions of what they select from have shape [6]}}
  pit.index lengths %l shape(%c6, %c6) : tensor<4xi32> -> !pit.index<micro_tile = [1, 1], axis = 1>
  return
}

// -----

func.func @packed_axis(%x: tensor<64x128xf16>, %o: tensor<?x32xf16>) {
  // expected-error@+1 {{[packed 1] packs micro-tiles [n, 1] of a matrix in steps of n, not those of '!pit.index<micro_tile = [1, 32], axis = 0>' of a tensor of rank 2}}
  pit.packed_index %x into %o : tensor<64x128xf16> into tensor<?x32xf16> -> !pit.index<micro_tile = [1, 32], axis = 0>, tensor<?x32xf16>
  return
}

// -----

func.func @packed_rank(%x: memref<2x64x128xf16>, %o: memref<?x32xf16>) {
  // expected-error@+1 {{[packed 1] packs micro-tiles [n, 1] of a matrix in steps of n, not those of '!pit.index<micro_tile = [32, 1], axis = 1>' of a tensor of rank 3}}
  pit.packed_index %x into %o : memref<2x64x128xf16> into memref<?x32xf16> -> !pit.index<micro_tile = [32, 1], axis = 1>
  return
}

// -----

func.func @packed_width(%x: memref<64x128xf16>, %o: memref<?x16xf16>) {
  // expected-error@+1 {{[packed 2] packs into a matrix with rows of 32 'f16', not into 'memref<?x16xf16>'}}
  pit.packed_index %x into %o : memref<64x128xf16> into memref<?x16xf16> -> !pit.index<micro_tile = [32, 1], axis = 1>
  return
}

// -----

func.func @packed_result(%x: tensor<64x128xf16>, %o: tensor<?x32xf16>) {
  // expected-error@+1 {{[packed 3] takes tensors and gives one of type 'tensor<?x32xf16>', or takes memrefs and gives none}}
  pit.packed_index %x into %o : tensor<64x128xf16> into tensor<?x32xf16> -> !pit.index<micro_tile = [32, 1], axis = 1>
  return
}

// -----

func.func @transpose_type(%i: !pit.index<micro_tile = [1, 1], axis = 0>) {
  // expected-error@+1 {{[transpose 1] makes an index of type '!pit.index<micro_tile = [1, 1], axis = 1>', not '!pit.index<micro_tile = [1, 1], axis = 0>'}}
  pit.transpose_index %i : !pit.index<micro_tile = [1, 1], axis = 0> -> !pit.index<micro_tile = [1, 1], axis = 0>
  return
}

// -----

func.func @transpose_variant(%i: !pit.index<micro_tile = [1, 1], axis = 0>, %b: !pit.bitmap) {
  // expected-error@+1 {{[transpose 2] with a choice has the number of a variant, 0 or more, and without one none}}
  pit.transpose_index %i if(%b is -1) : !pit.index<micro_tile = [1, 1], axis = 0> -> !pit.index<micro_tile = [1, 1], axis = 1>
  return
}

// -----

//===----------------------------------------------------------------------===//
// pit.count, pit.ids, pit.coords, pit.reorder
//===----------------------------------------------------------------------===//

func.func @count_group(%i: !pit.index<micro_tile = [32, 1], axis = 1>, %d: index) {
  // expected-error@+1 {{[count 1] has 2 subscripts, the index numbers its groups by 1 dimensions}}
  pit.count %i[%d, %d] : !pit.index<micro_tile = [32, 1], axis = 1>
  return
}

// -----

func.func @ids_subscripts(%x: tensor<4x?xi32>, %d: index) {
  // expected-error@+1 {{[ids 1] has 1 subscripts for lists in 'tensor<4x?xi32>'; there is one for each dimension}}
  pit.ids %x[%d] : tensor<4x?xi32> -> !pit.ids<8>
  return
}

// -----

func.func @ids_of_nothing(%x: tensor<i32>) {
  // expected-error@+1 {{[ids 1] has 0 subscripts for lists in 'tensor<i32>'; there is one for each dimension, and one at least}}
  pit.ids %x[] : tensor<i32> -> !pit.ids<8>
  return
}

// -----

func.func @ids_apart(%x: memref<?xi32, strided<[2]>>, %d: index) {
  // expected-error@+1 {{[ids 2] takes ids that lie side by side, not those of 'memref<?xi32, strided<[2]>>'}}
  pit.ids %x[%d] : memref<?xi32, strided<[2]>> -> !pit.ids<8>
  return
}

// -----

func.func @reorder_dims(%x: tensor<4x?xi1>, %order: tensor<?xi32>) {
  // expected-error@+1 {{[reorder 1] numbers the dimensions of an order of rank 1 by dims [0, 1] of a tensor of rank 2}}
  pit.reorder %x by %order dims [0, 1] : tensor<4x?xi1>, tensor<?xi32>
  return
}

// -----

func.func @reorder_twice(%x: tensor<4x?xi1>, %order: tensor<4x?xi32>) {
  // expected-error@+1 {{[reorder 1] numbers the dimensions of an order of rank 2 by dims [1, 1] of a tensor of rank 2}}
  pit.reorder %x by %order dims [1, 1] : tensor<4x?xi1>, tensor<4x?xi32>
  return
}

// -----

func.func @reorder_extent(%x: tensor<4x?xi1>, %order: tensor<5xi32>) {
  // expected-error@+1 {{[reorder 2] dimension 0 has extent 4, dimension 0 of the order has 5}}
  pit.reorder %x by %order dims [0] : tensor<4x?xi1>, tensor<5xi32>
  return
}

// -----

func.func @coords_neither(%ids: !pit.ids<8>) {
  // expected-error@+1 {{[coords 1] either has a result or writes into a memref}}
  pit.coords %ids : !pit.ids<8>
  return
}

// -----

func.func @coords_both(%ids: !pit.ids<8>, %m: memref<8xindex>) {
  // expected-error@+1 {{[coords 1] either has a result or writes into a memref}}
  pit.coords %ids into %m : memref<8xindex> : !pit.ids<8> -> tensor<8xindex>
  return
}

// -----

func.func @coords_size(%ids: !pit.ids<8>) {
  // expected-error@+1 {{[coords 2] of 8 ids has 8 elements, not the shape of 'tensor<9xindex>'}}
  pit.coords %ids : !pit.ids<8> -> tensor<9xindex>
  return
}

// -----

func.func @no_candidates(%a: tensor<4x8xf32>, %t: f64) {
  // expected-error@+1 {{[choose 1] has no candidates; it takes at least one}}
  %v, %b = pit.choose %a of [] dense(%t) fixed() live() : tensor<4x8xf32>
  return
}

// -----

func.func @times(%a: tensor<4x8xf32>, %t: f64) {
  // expected-error@+1 {{[choose 3] has 1 candidates, 2 fixed times and 1 times of live micro-tiles; there must be as many}}
  %v, %b = pit.choose %a of [!pit.index<micro_tile = [1, 1], axis = 1>] dense(%t) fixed(%t, %t) live(%t) : tensor<4x8xf32>
  return
}

// -----

func.func @candidate(%a: tensor<4x8xf32>, %t: f64) {
  // expected-error@+1 {{[choose 4] has a candidate of type 'i32'; candidates are types of indices}}
  %v, %b = pit.choose %a of [i32] dense(%t) fixed(%t) live(%t) : tensor<4x8xf32>
  return
}

// -----

func.func @candidate_rank(%a: tensor<4x8xf32>, %t: f64) {
  // expected-error@+1 {{[choose 5] input has rank 2, the micro-tile of a candidate 3}}
  %v, %b = pit.choose %a of [!pit.index<micro_tile = [1, 1, 1], axis = 1>] dense(%t) fixed(%t) live(%t) : tensor<4x8xf32>
  return
}

// -----

func.func @choose_mask(%m: tensor<4x8xi24>, %t: f64) {
  // expected-error@+1 {{[selector 1] mask}}
  %v, %b = pit.choose %m mask of [!pit.index<micro_tile = [1, 1], axis = 1>] dense(%t) fixed(%t) live(%t) : tensor<4x8xi24>
  return
}

// -----

func.func @choose_mask_background(%m: tensor<4x8xi1>, %t: f64) {
  // expected-error@+1 {{[choose 6] scans a mask, which has no use for a background}}
  %v, %b = pit.choose %m mask of [!pit.index<micro_tile = [1, 1], axis = 1>] dense(%t) fixed(%t) live(%t) background(true) : tensor<4x8xi1>
  return
}

// -----

func.func @choose_after(%a: tensor<4x8xf32>, %t: f64, %other: !pit.bitmap) {
  // expected-error@+1 {{[choose 8] comes after another choice, but is not made on the device}}
  %v, %b = pit.choose %a of [!pit.index<micro_tile = [1, 1], axis = 1>] dense(%t) fixed(%t) live(%t) after(%other) : tensor<4x8xf32>
  return
}

// -----

func.func @choose_seen_by_nobody(%a: tensor<4x8xf32>, %t: f64, %other: !pit.bitmap) {
  // expected-error@+1 {{[choose 9] takes what another pit.choose has seen of the same values, and then no bits}}
  %v, %b = pit.choose %a seen(%other) of [!pit.index<micro_tile = [1, 1], axis = 1>] dense(%t) fixed(%t) live(%t) : tensor<4x8xf32>
  return
}

// -----

func.func @choose_seen_of_mask(%a: tensor<4x8xi8>, %t: f64) {
  %v, %b = pit.choose %a of [!pit.index<micro_tile = [1, 1], axis = 1>] dense(%t) fixed(%t) live(%t) : tensor<4x8xi8>
  // expected-error@+1 {{[choose 9] takes what another pit.choose has seen of the same mask, and then no bits}}
  %w, %c = pit.choose %a mask seen(%b) of [!pit.index<micro_tile = [1, 1], axis = 1>] dense(%t) fixed(%t) live(%t) : tensor<4x8xi8>
  return
}

// -----

func.func @choose_seen_and_bits(%a: tensor<4x8xf32>, %bitmap: tensor<4x8xi8>, %t: f64) {
  %v, %b = pit.choose %a of [!pit.index<micro_tile = [1, 1], axis = 1>] dense(%t) fixed(%t) live(%t) : tensor<4x8xf32>
  // expected-error@+1 {{[choose 9] takes what another}}
  %w, %c = pit.choose %a seen(%b) bitmap(%bitmap : tensor<4x8xi8>) of [!pit.index<micro_tile = [1, 1], axis = 1>] dense(%t) fixed(%t) live(%t) : tensor<4x8xf32>
  return
}

// -----

func.func @seen_lengths(%l: tensor<4xi32>, %b: !pit.bitmap, %n: index) {
  // expected-error@+1 {{[index 4] from lengths is not built from a bitmap of elements}}
  %i = pit.index lengths %l shape(%n, %n) seen(%b) : tensor<4xi32> -> !pit.index<micro_tile = [1, 1], axis = 1>
  return
}

// -----

func.func @live_fraction(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{[sparse 7] live fraction is 1.500000e+00; it must be in [0, 1]}}
  %s = pit.sparse %a live_fraction(1.5) : tensor<4x8xf32>
  return
}

// -----

func.func @live_fraction_rank(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{[sparse 8] live fraction's micro-tile has rank 1, the tensor 2}}
  %s = pit.sparse %a live_fraction(0.5 in [4]) : tensor<4x8xf32>
  return
}

// -----

func.func @live_fraction_size(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{[sparse 9] live fraction's micro-tile has a size of -2; it must be at least 1, or * for a whole dimension}}
  %s = pit.sparse %a live_fraction(0.5 in [4, -2]) : tensor<4x8xf32>
  return
}

// -----

func.func @record_index(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{[record 2] from lengths needs a shape}}
  pit.record lengths %a label("x") signature("s") location("l") : tensor<4x8xf32>
  return
}

// -----

func.func @record_of_index(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{[record 1] counts elements, which an index has none of}}
  "pit.record"(%a) <{label = "x", location = "l", signature = "s", source = #pit<source index>}> : (tensor<4x8xf32>) -> ()
  return
}

// -----

func.func @variant_of_device(%a: tensor<4x8xf32>, %t: f64) -> index {
  // expected-error@+1 {{[choose 2] chooses on the device, where the host cannot read the variant, which is used}}
  %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, 1], axis = 1>] dense(%t) fixed(%t) live(%t) on_device : tensor<4x8xf32>
  return %v : index
}
