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

#c = affine_map<(m) -> (m)>
func.func @computes_in_load(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    // expected-error@+1 {{[pointwise 7] stands elsewhere than in 'compute' of a mainloop with a 'body'}}
    %p = pit.pointwise(%y) tile [4] maps [#c, #c] : (vector<4xf32>) -> vector<4xf32> {
    ^bb0(%m: index, %e: f32):
      pit.yield %e : f32
    }
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    pit.yield %at : vector<4xf32>
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

#c = affine_map<(m) -> (m)>
func.func @computes_in_init(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] body [4] sums [#c] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    pit.yield %at : vector<4xf32>
  } init {
    %zero = arith.constant 0.0 : f32
    // expected-error@+1 {{[pointwise 7] stands elsewhere than in 'compute' of a mainloop with a 'body'}}
    %p = pit.pointwise() tile [] maps [affine_map<() -> ()>] : () -> vector<f32> {
      pit.yield %zero : f32
    }
    pit.yield %zero : f32
  } finish {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

// A mainloop of a contraction computes nothing else.
#c = affine_map<(m) -> (m)>
func.func @computes_without_a_body(%i: index, %x: memref<?xf32>, %o: memref<?xf32>) {
  pit.mainloop step [] extra_maps [] into %o[%i : index] : memref<?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%yt: vector<4xf32>, %at: vector<4xf32>):
    // expected-error@+1 {{[pointwise 7] stands elsewhere than in 'compute' of a mainloop with a 'body'}}
    %p = pit.pointwise(%yt) tile [4] maps [#c, #c] : (vector<4xf32>) -> vector<4xf32> {
    ^bb0(%m: index, %e: f32):
      pit.yield %e : f32
    }
    pit.yield %p : vector<4xf32>
  } init {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } finish {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}
