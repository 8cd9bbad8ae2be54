// RUN: pit-opt %s -split-input-file -verify-diagnostics

// Where the tiles of a body come from, and where they are computed.

// What is loaded is viewed, and no constant.
#c = affine_map<(m) -> (m)>
func.func @loads_a_constant(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 5] load has to yield views, and yields 2 values, 1 of them views}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    %k = arith.constant dense<0.0> : vector<4xf32>
    pit.yield %y, %k : vector<4xf32>, vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %kt: vector<4xf32>, %at: vector<4xf32>):
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

// Nor is it memory: behind tiles stand numbers.
#c = affine_map<(m) -> (m)>
func.func @loads_memory(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 5] load has to yield views, and yields 2 values, 1 of them views}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y, %x : vector<4xf32>, memref<?xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %xt: memref<?xf32>, %at: vector<4xf32>):
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @carries_a_tile_from_outside(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  %v = arith.constant dense<0.0> : vector<4xf32>
  // expected-error@+1 {{[mainloop 6] compute has to yield tiles of its own}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    pit.yield %v : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @computes_in_load(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    // expected-error@+1 {{[pointwise 7] stands elsewhere than in 'compute' or 'also' of a mainloop}}
    %p = pit.pointwise(%y) tile [4] maps [#c, #c] : (vector<4xf32>) -> vector<4xf32> {
    ^bb0(%m: index, %e: f32):
      pit.yield %e : f32
    }
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @computes_in_init(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    // expected-error@+1 {{[pointwise 7] stands elsewhere than in 'compute' or 'also' of a mainloop}}
    %p = pit.pointwise() tile [] maps [affine_map<() -> ()>] : () -> vector<f32> {
      pit.yield %zero : f32
    }
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @stores_vectors(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 17] has arith.negf in 'also'; it takes pit.pointwise and pit.store}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  } extra_results {
  ^bb0(%last: vector<4xf32>):
    %n = arith.negf %last : vector<4xf32>
    pit.store %n into %o[%i : index] : vector<4xf32> into memref<?xf32>
    pit.yield
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @takes_no_tiles(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 8] extra_results takes  instead of 'vector<4xf32>'}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  } extra_results {
    pit.yield
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @yields_tiles(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 9] extra_results has to end with a pit.yield of}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  } extra_results {
  ^bb0(%last: vector<4xf32>):
    pit.yield %last : vector<4xf32>
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @stores_two_dims(%i: index, %x: memref<?xf32>, %o: memref<?xf32>, %p: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  } extra_results {
  ^bb0(%last: vector<4xf32>):
    // expected-error@+1 {{[store 1] has a tile of rank 1 and 2 subscripts for a destination of rank 2; all have to be equal}}
    pit.store %last into %p[%i, %i : index, index] : vector<4xf32> into memref<?x?xf32>
    pit.yield
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @stores_by_an_index(%i: index, %x: memref<?xf32>, %o: memref<?xf32>, %l: !pit.index<micro_tile = [1], axis = 0>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  } extra_results {
  ^bb0(%last: vector<4xf32>):
    // expected-error@+1 {{[store 2] subscript 0 is an index; a store is of one tile}}
    pit.store %last into %o[%l : !pit.index<micro_tile = [1], axis = 0>] : vector<4xf32> into memref<?xf32>
    pit.yield
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @stores_by_other_ids(%i: index, %x: memref<?xf32>, %o: memref<?xf32>, %l: !pit.index<micro_tile = [1], axis = 0>) {
  pit.forall %ids at %pos in %l : !pit.index<micro_tile = [1], axis = 0> chunk 8 {
    pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
      %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
      pit.yield %y : vector<4xf32>
    } compute {
    ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
      pit.yield %at : vector<4xf32>
    } prologue {
      %zero = arith.constant 0.0 : f32
      pit.yield %zero : f32
    } epilogue {
    ^bb0(%sum: f32):
      pit.yield %sum : f32
    } extra_results {
    ^bb0(%last: vector<4xf32>):
      // expected-error@+1 {{[store 3] subscript 0 has 8 ids, the tile has 4 there}}
      pit.store %last into %o[%ids : !pit.ids<8>] : vector<4xf32> into memref<?xf32>
      pit.yield
    }
    pit.yield
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
#r = affine_map<(m, n) -> (m)>
func.func @points_of_nothing(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 2] has a tile of extent 0; extents are positive}}
    %p = pit.pointwise(%yt) tile [4, 0] maps [#r, #r] : (vector<4xf32>) -> vector<4xf32> {
    ^bb0(%m: index, %n: index, %e: f32):
      pit.yield %e : f32
    }
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
#r = affine_map<(m, n) -> (m)>
func.func @empty_body(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 15] has a 'body' of extent 0; extents are positive}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [0] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    %p = pit.pointwise(%yt) tile [4, 1] maps [#r, #r] : (vector<4xf32>) -> vector<4xf32> {
    ^bb0(%m: index, %n: index, %e: f32):
      pit.yield %e : f32
    }
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @overwrites_in_each_step(%i: index, %x: memref<?xf32>, %o: memref<?xf32>, %p: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[store 4] stands in 'compute' without 'combine'; all steps would write there}}
    pit.store %yt into %p[%i : index] : vector<4xf32> into memref<?xf32>
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @adds_behind_the_steps(%i: index, %x: memref<?xf32>, %o: memref<?xf32>, %p: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    pit.yield %at : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  } extra_results {
  ^bb0(%last: vector<4xf32>):
    // expected-error@+1 {{[store 4] has 'combine' and is a further result; 'compute' takes it}}
    pit.store %last into %p[%i : index] combine(addf) : vector<4xf32> into memref<?xf32>
    pit.yield
  }
  return
}
