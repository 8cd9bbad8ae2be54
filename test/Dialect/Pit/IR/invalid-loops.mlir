// RUN: pit-opt %s -split-input-file -verify-diagnostics

func.func @counts(%c: index) {
  // expected-error@+1 {{2 induction variables, 1 lower bounds, 2 upper bounds and 2 steps have to be as many}}
  pit.for (%i, %j) = (%c) to (%c, %c) step (1, 1) {
  }
  return
}

// -----

func.func @nothing() {
  // expected-error@+1 {{[loop 1] runs over dense ranges, an index or both, and has neither}}
  pit.for () = () to () step () {
  ^bb0:
    pit.yield
  }
  return
}

// -----

func.func @generic_counts(%c: index) {
  // expected-error@+1 {{[loop 2] has 1 lower bounds, 0 upper bounds and 1 steps}}
  "pit.for"(%c) <{chunk = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>, steps = array<i64: 1>}> ({
  ^bb0(%i: index):
    pit.yield
  }) : (index) -> ()
  return
}

// -----

func.func @step(%c: index) {
  // expected-error@+1 {{[loop 3] step 0 is not positive}}
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
  // expected-error@+1 {{[loop 4] a chunk has a positive number of ids, not 0}}
  "pit.for"(%i) <{chunk = 0 : i64, operandSegmentSizes = array<i32: 0, 0, 1, 0, 0>, steps = array<i64>}> ({
  ^bb0(%ids: !pit.ids<4>, %pos: !pit.ids<4>):
    pit.yield
  }) : (!pit.index<micro_tile = [1, *], axis = 0>) -> ()
  return
}

// -----

func.func @needless_chunk(%c: index) {
  // expected-error@+1 {{[loop 4] has a chunk of 4 ids, but no index}}
  "pit.for"(%c, %c) <{chunk = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, steps = array<i64: 1>}> ({
  ^bb0(%i: index):
    pit.yield
  }) : (index, index) -> ()
  return
}

// -----

func.func @needless_group(%c: index) {
  // expected-error@+1 {{[loop 5] names a group, but has no index}}
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
  // expected-error@+1 {{[loop 5] names a group by 0 subscripts, the index numbers its groups by 1 dimensions}}
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
  // expected-error@+1 {{[loop 6] body has arguments ('f32'), expected ('index')}}
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
  // expected-error@+1 {{expects parent op to be one of 'pit.forall, pit.for, pit.mainloop, pit.contract, pit.pointwise'}}
  pit.yield
}

// -----

func.func @forall_without_update(%c: index, %x: tensor<4xf32>) {
  // expected-error@+1 {{[forall 1] iter_arg 0 has to be yielded updated by one pit.swrite, pit.mainloop or pit.scan into it, or by a pit.for that does so}}
  pit.forall (%i) = (%c) to (%c) step (1) iter_args(%a = %x) -> (tensor<4xf32>) {
    pit.yield %a : tensor<4xf32>
  }
  return
}

// -----

// What the update writes into is another tensor.
func.func @forall_other_update(%c: index, %x: tensor<4xf32>, %t: tensor<1xf32>) {
  // expected-error@+1 {{[forall 1] iter_arg 0 has to be yielded updated by one pit.swrite, pit.mainloop or pit.scan into it, or by a pit.for that does so}}
  pit.forall (%i) = (%c) to (%c) step (1) iter_args(%a = %x) -> (tensor<4xf32>) {
    %w = pit.swrite %t into %x[%i] : tensor<1xf32> into tensor<4xf32>
    pit.yield %w : tensor<4xf32>
  }
  return
}

// -----

// A loop inside that carries the iter_arg, but yields it as it is.
func.func @forall_idle_loop(%c: index, %x: tensor<4xf32>) {
  // expected-error@+1 {{[forall 1] iter_arg 0 has to be yielded updated by one pit.swrite, pit.mainloop or pit.scan into it, or by a pit.for that does so}}
  pit.forall (%i) = (%c) to (%c) step (1) iter_args(%a = %x) -> (tensor<4xf32>) {
    %f = pit.for (%j) = (%c) to (%c) step (1) iter_args(%b = %a) -> (tensor<4xf32>) {
      pit.yield %b : tensor<4xf32>
    }
    pit.yield %f : tensor<4xf32>
  }
  return
}
