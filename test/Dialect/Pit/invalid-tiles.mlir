// RUN: pit-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// pit.sread
//===----------------------------------------------------------------------===//

func.func @into_tensor(%x: tensor<8xf32>, %m: memref<4xf32>, %d: index) {
  // expected-error@+1 {{reads a tensor into a tensor or a memref into a memref}}
  pit.sread %x[%d] into %m : tensor<8xf32> -> memref<4xf32>
  return
}

// -----

func.func @out_of_memref(%x: memref<8xf32>, %d: index) {
  // expected-error@+1 {{reads a tensor into a tensor or a memref into a memref}}
  pit.sread %x[%d] : memref<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @neither(%x: tensor<8xf32>, %d: index) {
  // expected-error@+1 {{either has a result or writes into a memref}}
  "pit.sread"(%x, %d) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<8xf32>, index) -> ()
  return
}

// -----

func.func @narrower(%x: tensor<8xf32>, %d: index) {
  // expected-error@+1 {{cannot read elements of type 'f32' as 'f16'; the tile's have to be the same or wider}}
  pit.sread %x[%d] : tensor<8xf32> -> tensor<4xf16>
  return
}

// -----

func.func @other_kind(%x: tensor<8xi8>, %d: index) {
  // expected-error@+1 {{cannot read elements of type 'i8' as 'f32'}}
  pit.sread %x[%d] : tensor<8xi8> -> tensor<4xf32>
  return
}

// -----

func.func @pad_type(%x: tensor<8xf16>, %d: index) {
  // expected-error@+1 {{pad has type 'f16', the elements have type 'f32'}}
  pit.sread %x[%d] pad(0.0 : f16) : tensor<8xf16> -> tensor<4xf32>
  return
}

// -----

func.func @pad_kind(%x: tensor<8xf32>, %d: index) {
  // expected-error@+1 {{pad is a number, not "zero" : f32}}
  pit.sread %x[%d] pad("zero" : f32) : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @no_zero(%x: tensor<8xcomplex<f32>>, %d: index) {
  // expected-error@+1 {{cannot be of elements of type 'complex<f32>'; they have to be signless integers, index or floats}}
  pit.sread %x[%d] : tensor<8xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @dims(%x: tensor<8xf32>, %d: index) {
  // expected-error@+1 {{takes dims only with an index}}
  pit.sread %x[%d] dims[0] : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @subscripts(%x: tensor<8x8xf32>, %d: index) {
  // expected-error@+1 {{has 1 subscripts for a tensor of rank 2}}
  pit.sread %x[%d] : tensor<8x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @tile_rank(%x: tensor<8x8xf32>, %d: index) {
  // expected-error@+1 {{tile has rank 1, the tensor 2}}
  pit.sread %x[%d, %d] : tensor<8x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_tile(%x: tensor<8x8xf32>, %d: index) {
  // expected-error@+1 {{tile has the shape of 'tensor<4x?xf32>', which is not static}}
  pit.sread %x[%d, %d] : tensor<8x8xf32> -> tensor<4x?xf32>
  return
}

// -----

func.func @index_of_two(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>, %d: index) {
  // expected-error@+1 {{takes an index only as its single subscript}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>, %d] : tensor<8x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @ids(%x: tensor<8x8xf32>, %ids: !pit.ids<16>, %d: index) {
  // expected-error@+1 {{dimension 0 of the tile has extent 4, but is gathered by 16 ids}}
  pit.sread %x[%ids : !pit.ids<16>, %d] : tensor<8x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @whole_not_packable(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [4, 1], axis = 1>) {
  // expected-error@+1 {{packs a whole tensor only by micro-tiles that are 1 wide or whole (*) along every dimension, not '!pit.index<micro_tile = [4, 1], axis = 1>'}}
  pit.sread %x[%i : !pit.index<micro_tile = [4, 1], axis = 1>] : tensor<8x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @whole_dims(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{names 1 dimensions, the index has 2}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] dims[0] : tensor<8x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @whole_dim(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{dimension 2 is not one of a rank-2 tensor}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] dims[0, 2] : tensor<8x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @whole_dim_twice(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{names dimension 1 twice}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] dims[1, 1] : tensor<8x8xf32> -> tensor<?x8xf32>
  return
}

// -----

// Only a whole dimension may be missing.
func.func @whole_axis_missing(%x: tensor<8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{dimension -1 is not one of a rank-1 tensor}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] dims[-1, 0] : tensor<8xf32> -> tensor<?xf32>
  return
}

// -----

// An index of more dimensions than the tensor.
func.func @whole_rank(%x: tensor<8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{dimension 1 is not one of a rank-1 tensor}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] : tensor<8xf32> -> tensor<?xf32>
  return
}

// -----

func.func @packed_rank(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{packed tensor has rank 1, not 2}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] : tensor<8x8xf32> -> tensor<?xf32>
  return
}

// -----

func.func @packed_extent(%x: tensor<8x8xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{packed dimension 1 has extent 9, dimension 1 has 8}}
  pit.sread %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] : tensor<8x8xf32> -> tensor<?x9xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// pit.swrite
//===----------------------------------------------------------------------===//

func.func @write_mixed(%x: tensor<8xf32>, %m: memref<4xf32>, %d: index) {
  // expected-error@+1 {{writes a tensor into a tensor or a memref into a memref}}
  pit.swrite %m into %x[%d] : memref<4xf32> into tensor<8xf32>
  return
}

// -----

func.func @write_result(%x: tensor<8xf32>, %t: tensor<4xf32>, %d: index) {
  // expected-error@+1 {{has a result of its destination's type when that is a tensor, and none otherwise}}
  "pit.swrite"(%t, %x, %d) : (tensor<4xf32>, tensor<8xf32>, index) -> ()
  return
}

// -----

func.func @write_wider(%x: tensor<8xf32>, %t: tensor<4xf16>, %d: index) {
  // expected-error@+1 {{cannot write elements of type 'f16' as 'f32'; the tile's have to be the same or wider}}
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
  // expected-error@+1 {{cannot combine elements of type 'f32' by addi}}
  pit.swrite %t into %x[%d] combine(addi) : tensor<4xf32> into tensor<8xf32>
  return
}

// -----

func.func @combiner_assign(%x: tensor<8xi32>, %t: tensor<4xi32>, %d: index) {
  // expected-error@+1 {{cannot combine elements of type 'i32' by assign}}
  pit.swrite %t into %x[%d] combine(assign) : tensor<4xi32> into tensor<8xi32>
  return
}

// -----

func.func @write_dims(%x: tensor<8xf32>, %t: tensor<4xf32>, %d: index) {
  // expected-error@+1 {{takes dims only with an index}}
  pit.swrite %t into %x[%d] dims[0] : tensor<4xf32> into tensor<8xf32>
  return
}

// -----

func.func @write_subscripts(%x: tensor<8xf32>, %t: tensor<4xf32>, %d: index) {
  // expected-error@+1 {{has 2 subscripts for a tensor of rank 1}}
  pit.swrite %t into %x[%d, %d] : tensor<4xf32> into tensor<8xf32>
  return
}

// -----

func.func @write_packed(%x: tensor<8x8xf32>, %t: tensor<?x7xf32>, %i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{packed dimension 1 has extent 7, dimension 1 has 8}}
  pit.swrite %t into %x[%i : !pit.index<micro_tile = [1, *], axis = 0>] : tensor<?x7xf32> into tensor<8x8xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

func.func @counts(%c: index) {
  // expected-error@+1 {{2 induction variables, 1 lower bounds, 2 upper bounds and 2 steps have to be as many}}
  pit.for (%i, %j) = (%c) to (%c, %c) step (1, 1) {
  }
  return
}

// -----

func.func @nothing() {
  // expected-error@+1 {{runs over dense ranges, an index or both, and has neither}}
  pit.for () = () to () step () {
  ^bb0:
    pit.yield
  }
  return
}

// -----

func.func @generic_counts(%c: index) {
  // expected-error@+1 {{has 1 lower bounds, 0 upper bounds and 1 steps}}
  "pit.for"(%c) <{chunk = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>, steps = array<i64: 1>}> ({
  ^bb0(%i: index):
    pit.yield
  }) : (index) -> ()
  return
}

// -----

func.func @step(%c: index) {
  // expected-error@+1 {{step 0 is not positive}}
  pit.for (%i) = (%c) to (%c) step (0) {
  }
  return
}

// -----

func.func @chunk(%i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{a chunk has a positive number of ids, not -4}}
  pit.for %ids at %pos in %i : !pit.index<micro_tile = [1, *], axis = 0> chunk -4 {
  }
  return
}

// -----

func.func @generic_chunk(%i: !pit.index<micro_tile = [1, *], axis = 0>) {
  // expected-error@+1 {{a chunk has a positive number of ids, not 0}}
  "pit.for"(%i) <{chunk = 0 : i64, operandSegmentSizes = array<i32: 0, 0, 1, 0, 0>, steps = array<i64>}> ({
  ^bb0(%ids: !pit.ids<4>, %pos: !pit.ids<4>):
    pit.yield
  }) : (!pit.index<micro_tile = [1, *], axis = 0>) -> ()
  return
}

// -----

func.func @needless_chunk(%c: index) {
  // expected-error@+1 {{has a chunk of 4 ids, but no index}}
  "pit.for"(%c, %c) <{chunk = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, steps = array<i64: 1>}> ({
  ^bb0(%i: index):
    pit.yield
  }) : (index, index) -> ()
  return
}

// -----

func.func @needless_group(%c: index) {
  // expected-error@+1 {{names a group, but has no index}}
  "pit.for"(%c, %c, %c) <{chunk = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>, steps = array<i64: 1>}> ({
  ^bb0(%i: index):
    pit.yield
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @index_type(%c: index) {
  // expected-error@+1 {{runs over a !pit.index, not 'index'}}
  pit.for %ids at %pos in %c : index chunk 4 {
  }
  return
}

// -----

func.func @group(%i: !pit.index<micro_tile = [4, 1], axis = 1>) {
  // expected-error@+1 {{names a group by 0 subscripts, the index numbers its groups by 1 dimensions}}
  pit.for %ids at %pos in %i : !pit.index<micro_tile = [4, 1], axis = 1> chunk 4 {
  }
  return
}

// -----

func.func @conflicts(%c: index) {
  // expected-error@+1 {{conflicts is none, sequential, atomic or two_phase, not some}}
  pit.for (%i) = (%c) to (%c) step (1) conflicts(some) {
  }
  return
}

// -----

func.func @iter_types(%c: index, %x: tensor<4xf32>) {
  // expected-error@+1 {{1 iter_args have 2 types}}
  pit.for (%i) = (%c) to (%c) step (1) iter_args(%a = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    pit.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @arguments(%c: index) {
  // expected-error@+1 {{body has arguments ('f32'), expected ('index')}}
  "pit.for"(%c, %c) <{chunk = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, steps = array<i64: 1>}> ({
  ^bb0(%i: f32):
    pit.yield
  }) : (index, index) -> ()
  return
}

// -----

func.func @result_types(%c: index, %x: tensor<4xf32>) {
  // expected-error@+1 {{0-th region iter_arg and 0-th loop result have different type: 'tensor<4xf32>' != 'tensor<5xf32>'}}
  "pit.for"(%c, %c, %x) <{chunk = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>, steps = array<i64: 1>}> ({
  ^bb0(%i: index, %a: tensor<4xf32>):
    pit.yield %a : tensor<4xf32>
  }) : (index, index, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @yield(%c: index, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{0-th region iter_arg and 0-th yielded value have different type: 'tensor<4xf32>' != 'tensor<5xf32>'}}
  pit.for (%i) = (%c) to (%c) step (1) iter_args(%a = %x) -> (tensor<4xf32>) {
    pit.yield %y : tensor<5xf32>
  }
  return
}

// -----

func.func @no_yield(%c: index) {
  // expected-note@+2 {{absence of terminator implies 'pit.yield'}}
  // expected-error@+1 {{expects regions to end with 'pit.yield', found 'llvm.unreachable'}}
  "pit.for"(%c, %c) <{chunk = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, steps = array<i64: 1>}> ({
  ^bb0(%i: index):
    llvm.unreachable
  }) : (index, index) -> ()
  return
}

// -----

func.func @empty_body(%c: index) {
  // expected-error@+1 {{expects a non-empty block}}
  "pit.for"(%c, %c) <{chunk = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, steps = array<i64: 1>}> ({
  ^bb0(%i: index):
  }) : (index, index) -> ()
  return
}

// -----

func.func @too_few_arguments(%c: index, %x: tensor<4xf32>) {
  // expected-error@+1 {{different number of inits and region iter_args: 1 != 0}}
  "pit.for"(%c, %c, %x) <{chunk = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>, steps = array<i64: 1>}> ({
    pit.yield %x : tensor<4xf32>
  }) : (index, index, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @yield_too_few(%c: index, %x: tensor<4xf32>) {
  // expected-error@+1 {{region branch point has 0 operands, but region successor needs 1 inputs}}
  pit.for (%i) = (%c) to (%c) step (1) iter_args(%a = %x) -> (tensor<4xf32>) {
    // expected-note@+1 {{region branch point}}
    pit.yield
  }
  return
}

// -----

func.func @yield_parent() {
  // expected-error@+1 {{expects parent op to be one of 'pit.forall, pit.for, pit.ring'}}
  pit.yield
}

// -----

func.func @forall_without_update(%c: index, %x: tensor<4xf32>) {
  // expected-error@+1 {{iter_arg 0 has to be yielded updated by one pit.swrite or pit.ring into it, or by a pit.for that does so}}
  pit.forall (%i) = (%c) to (%c) step (1) iter_args(%a = %x) -> (tensor<4xf32>) {
    pit.yield %a : tensor<4xf32>
  }
  return
}

// -----

// What the update writes into is another tensor.
func.func @forall_other_update(%c: index, %x: tensor<4xf32>, %t: tensor<1xf32>) {
  // expected-error@+1 {{iter_arg 0 has to be yielded updated by one pit.swrite or pit.ring into it, or by a pit.for that does so}}
  pit.forall (%i) = (%c) to (%c) step (1) iter_args(%a = %x) -> (tensor<4xf32>) {
    %w = pit.swrite %t into %x[%i] : tensor<1xf32> into tensor<4xf32>
    pit.yield %w : tensor<4xf32>
  }
  return
}

// -----

// A loop inside that carries the iter_arg, but yields it as it is.
func.func @forall_idle_loop(%c: index, %x: tensor<4xf32>) {
  // expected-error@+1 {{iter_arg 0 has to be yielded updated by one pit.swrite or pit.ring into it, or by a pit.for that does so}}
  pit.forall (%i) = (%c) to (%c) step (1) iter_args(%a = %x) -> (tensor<4xf32>) {
    %f = pit.for (%j) = (%c) to (%c) step (1) iter_args(%b = %a) -> (tensor<4xf32>) {
      pit.yield %b : tensor<4xf32>
    }
    pit.yield %f : tensor<4xf32>
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @ring_tf32_of_f16(%i: index, %x: memref<?x?xf16>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{rounds f32 operands of f32 sums to tf32, not 'f16'}}
  pit.ring step [] tile [64, 64, 32] maps [#a, #b, #c] extra_maps []
      into %o[%i, %i : index, index] tf32 : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x32xf16>
    %z = pit.view %x[%i, %i : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<32x64xf16>
    pit.yield %y, %z : vector<64x32xf16>, vector<32x64xf16>
  } compute {
  ^bb0(%p: f16, %q: f16, %sum: f32):
    pit.yield %sum : f32
  } init {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } finish {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m + k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @ring_window_beyond_view(%i: index, %x: memref<?xf32>, %w: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error-re@+1 {{reads elements beyond 'vector<65xf32>' of operand 0 by affine_map<{{.*}}(d0 + d2)>}}
  pit.ring step [] tile [64, 64, 3] maps [#a, #b, #c] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<65xf32>
    %z = pit.view %w[%i, %i : index, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<65xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    pit.yield %sum : f32
  } init {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } finish {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m - k + 2)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @ring_window_backwards(%i: index, %x: memref<?xf32>, %w: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error-re@+1 {{takes maps of 3 dims to sums of them times positive numbers, but the one of operand 0 is affine_map<{{.*}}>}}
  pit.ring step [] tile [64, 64, 3] maps [#a, #b, #c] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<66xf32>
    %z = pit.view %w[%i, %i : index, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<66xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    pit.yield %sum : f32
  } init {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } finish {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, m)>
func.func @ring_twice_in_sums(%i: index, %x: memref<?x?xf32>, %w: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error-re@+1 {{has an accumulator of some of the tile's 3 dims, once each, not affine_map<{{.*}}>}}
  pit.ring step [] tile [64, 64, 3] maps [#a, #b, #c] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<64x3xf32>
    %z = pit.view %w[%i, %i : index, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<64x3xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    pit.yield %sum : f32
  } init {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } finish {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @ring_groups_and_group(%i: index, %ix: !pit.index<micro_tile = [1, 1], axis = 1>, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{names groups by its steps, which takes an index, steps, and no group for all of them}}
  pit.ring %i to %i step [1] in %ix[%i] chunk 3 : !pit.index<micro_tile = [1, 1], axis = 1> tile [1, 64, 3] maps [#a, #b, #c] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
  ^bb0(%j: index, %ids: !pit.ids<3>, %pos: !pit.ids<3>):
    %y = pit.view %x[%j, %ids : index, !pit.ids<3>] : memref<?x?xf32> -> vector<1x3xf32>
    %z = pit.view %x[%ids, %i : !pit.ids<3>, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<1x3xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    pit.yield %sum : f32
  } init {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } finish {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  } groups {
  ^bb0(%j: index):
    pit.yield %j : index
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @ring_groups_of_two_subscripts(%i: index, %ix: !pit.index<micro_tile = [1, 1], axis = 1>, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{groups has to end with a pit.yield of 'index'}}
  pit.ring %i to %i step [1] in %ix[] chunk 3 : !pit.index<micro_tile = [1, 1], axis = 1> tile [1, 64, 3] maps [#a, #b, #c] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
  ^bb0(%j: index, %ids: !pit.ids<3>, %pos: !pit.ids<3>):
    %y = pit.view %x[%j, %ids : index, !pit.ids<3>] : memref<?x?xf32> -> vector<1x3xf32>
    %z = pit.view %x[%ids, %i : !pit.ids<3>, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<1x3xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    pit.yield %sum : f32
  } init {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } finish {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  } groups {
  ^bb0(%j: index):
    pit.yield %j, %j : index, index
  }
  return
}
