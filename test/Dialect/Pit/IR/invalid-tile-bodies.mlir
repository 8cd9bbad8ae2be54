// RUN: pit-opt %s -split-input-file -verify-diagnostics

// What a step computes beside multiplying tiles, and what stands with it.

#c = affine_map<(m) -> (m)>
#r = affine_map<(m, n) -> (m)>
func.func @one_map_too_many(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 1] has 3 maps; it takes one for each of 1 inputs and one for the result}}
    %p = pit.pointwise(%yt) tile [4, 1] maps [#r, #r, #r] : (vector<4xf32>) -> vector<4xf32> {
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
#twice = affine_map<(m, n) -> (m, m)>
func.func @one_dim_twice(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 2] takes maps of 2 dims to these, once each, or to 0, but the one of the result is affine_map<(d0, d1) -> (d0, d0)>}}
    %p = pit.pointwise(%yt) tile [4, 1] maps [#r, #twice] : (vector<4xf32>) -> vector<4x4xf32> {
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
#window = affine_map<(m, n) -> (m + n)>
func.func @window(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 2] takes maps of 2 dims to these, once each, or to 0, but the one of input 0 is affine_map<(d0, d1) -> (d0 + d1)>}}
    %p = pit.pointwise(%yt) tile [3, 2] maps [#window, #r] : (vector<4xf32>) -> vector<3xf32> {
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
func.func @map_of_other_dims(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 2] takes maps of 2 dims to these, once each, or to 0, but the one of input 0 is affine_map<(d0) -> (d0)>}}
    %p = pit.pointwise(%yt) tile [4, 1] maps [#c, #c] : (vector<4xf32>) -> vector<4xf32> {
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
func.func @beyond_an_input(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 3] reads elements beyond 'vector<4xf32>' of input 0 by affine_map<(d0, d1) -> (d0)>}}
    %p = pit.pointwise(%yt) tile [5, 1] maps [#r, #r] : (vector<4xf32>) -> vector<5xf32> {
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
func.func @part_of_the_result(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 3] computes some elements of 'vector<8xf32>' by affine_map<(d0, d1) -> (d0)> of 4, 1; it has to compute all of them}}
    %p = pit.pointwise(%yt) tile [4, 1] maps [#r, #r] : (vector<4xf32>) -> vector<8xf32> {
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
func.func @result_lacks_a_dim(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 4] gives a result without dim 1, which is 2 long; that takes 'reduces'}}
    %p = pit.pointwise(%yt) tile [4, 2] maps [#r, #r] : (vector<4xf32>) -> vector<4xf32> {
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
func.func @starts_from_another_type(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 5] starts from 'vector<4xf32>' and gives 'vector<4xf16>'; both have to be the same}}
    %p = pit.pointwise(%yt) reduces %at tile [4, 2] maps [#r, #r] : (vector<4xf32>, vector<4xf32>) -> vector<4xf16> {
    ^bb0(%m: index, %n: index, %e: f32, %acc: f16):
      pit.yield %acc : f16
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
func.func @region_without_points(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 6] has a region that takes 'f32'; it has to take 'index', 'index', 'f32' and to yield 'f32'}}
    %p = pit.pointwise(%yt) tile [4, 1] maps [#r, #r] : (vector<4xf32>) -> vector<4xf32> {
    ^bb0(%e: f32):
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

// What is reduced takes the result's element so far.
#c = affine_map<(m) -> (m)>
#r = affine_map<(m, n) -> (m)>
func.func @reduces_without_a_result(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 6] has a region that takes 'index', 'index', 'f32'; it has to take 'index', 'index', 'f32', 'f32' and to yield 'f32'}}
    %p = pit.pointwise(%yt) reduces %at tile [4, 2] maps [#r, #r] : (vector<4xf32>, vector<4xf32>) -> vector<4xf32> {
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
func.func @yields_a_point(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 6] has a region that takes 'index', 'index', 'f32'; it has to take 'index', 'index', 'f32' and to yield 'f32'}}
    %p = pit.pointwise(%yt) tile [4, 1] maps [#r, #r] : (vector<4xf32>) -> vector<4xf32> {
    ^bb0(%m: index, %n: index, %e: f32):
      pit.yield %m : index
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

func.func @two_types_without_body(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 15] has no 'body'; 'sums' and accumulators of several types stand with one}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>, %bt: vector<8xf32>):
    pit.yield %at, %bt : vector<4xf32>, vector<8xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero, %zero : f32, f32
  } epilogue {
  ^bb0(%sum: f32, %other: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

func.func @two_dims_without_body(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 15] has accumulators of 2 dims and no 'body'; its destination has 1}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<1x4xf32>):
    pit.yield %at : vector<1x4xf32>
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
func.func @sums_without_body(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 15] has no 'body'; 'sums' and accumulators of several types stand with one}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] {sum_maps = [#c]} : memref<?xf32> load {
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
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @body_of_two_extents(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 15] has a 'body' of 2 extents and 1 maps in 'sums'; it takes 1 and 1, for its destination and its accumulators}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4, 4] sums [#c] : memref<?xf32> load {
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
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @sums_of_two_accumulators(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 15] has a 'body' of 1 extents and 2 maps in 'sums'; it takes 1 and 1, for its destination and its accumulators}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c, #c] : memref<?xf32> load {
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
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @invariant_no_view(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  %t = arith.constant dense<0.0> : vector<4xf32>
  // expected-error@+1 {{[mainloop 15] has a tile for all steps that is no pit.view or pit.coords}}
  pit.mainloop step [] invariants(%t : vector<4xf32>) extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %tt: vector<4xf32>, %at: vector<4xf32>):
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
func.func @sums_beyond_an_accumulator(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 15] takes the elements of accumulator 0 by affine_map<(d0) -> (d0)>; the map has to go from the 1 dims of 'body', once each, to elements of 'vector<4xf32>'}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [8] sums [#c] : memref<?xf32> load {
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
  }
  return
}

// -----

#c = affine_map<(m) -> (m * 2)>
func.func @sums_of_windows(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 15] takes the elements of accumulator 0 by affine_map<(d0) -> (d0 * 2)>; the map has to go from the 1 dims of 'body', once each, to elements of 'vector<4xf32>'}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [2] sums [#c] : memref<?xf32> load {
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
  }
  return
}

// -----

#c = affine_map<(m, n) -> (m)>
func.func @sums_of_other_dims(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 15] takes the elements of accumulator 0 by affine_map<(d0, d1) -> (d0)>; the map has to go from the 1 dims of 'body', once each, to elements of 'vector<4xf32>'}}
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
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @computes_on_vectors(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 16] has arith.negf in 'compute'; it takes pit.contract, pit.pointwise and pit.store}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    %n = arith.negf %yt : vector<4xf32>
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

// Numbers come behind tiles.
#c = affine_map<(m) -> (m)>
func.func @tile_behind_numbers(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 5] load has to yield views, and yields 2 values, 1 of them views}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %i, %y : index, vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %n: index, %at: vector<4xf32>):
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
func.func @carries_nothing(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 6] compute has to yield one accumulator or more}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>):
    pit.yield
  } prologue {
    pit.yield
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#c = affine_map<(m) -> (m)>
func.func @carries_a_number(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 6] compute has to yield one accumulator or more}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y, %i : vector<4xf32>, index
  } compute {
  ^bb0(%yt: vector<4xf32>, %n: index, %at: index):
    pit.yield %n : index
  } prologue {
    pit.yield %i : index
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

// Tiles for all steps come before numbers.
#c = affine_map<(m) -> (m)>
func.func @once_behind_numbers(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  %t = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
  // expected-error@+1 {{[mainloop 8] compute takes 'vector<4xf32>', 'index', 'vector<4xf32>', 'vector<4xf32>' instead of 'vector<4xf32>', 'vector<4xf32>', 'index', 'vector<4xf32>'}}
  pit.mainloop step [] invariants(%t : vector<4xf32>) extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y, %i : vector<4xf32>, index
  } compute {
  ^bb0(%yt: vector<4xf32>, %n: index, %tt: vector<4xf32>, %at: vector<4xf32>):
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
func.func @carries_another_type(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  // expected-error@+1 {{[mainloop 8] compute takes 'vector<4xf32>', 'vector<4xf16>' instead of 'vector<4xf32>', 'vector<4xf32>'}}
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf16>):
    pit.yield %yt : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}
