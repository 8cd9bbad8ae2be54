// RUN: pit-opt %s -split-input-file -verify-diagnostics

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @groups_and_group(%i: index, %ix: !pit.index<micro_tile = [1, 1], axis = 1>, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{[mainloop 10] names groups by its steps, which takes an index, steps, and no group for all of them}}
  pit.mainloop %i to %i step [1] in %ix[%i] chunk 3 : !pit.index<micro_tile = [1, 1], axis = 1> extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
  ^bb0(%j: index, %ids: !pit.ids<3>, %pos: !pit.ids<3>):
    %y = pit.view %x[%j, %ids : index, !pit.ids<3>] : memref<?x?xf32> -> vector<1x3xf32>
    %z = pit.view %x[%ids, %i : !pit.ids<3>, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<1x3xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%xt: vector<1x3xf32>, %yt: vector<3x64xf32>, %at: vector<1x64xf32>):
    %st = pit.contract %xt, %yt, %at tile [1, 64, 3] maps [#a, #b, #c]
           : vector<1x3xf32>, vector<3x64xf32>, vector<1x64xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<1x64xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
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
func.func @groups_of_two_subscripts(%i: index, %ix: !pit.index<micro_tile = [1, 1], axis = 1>, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{[mainloop 9] groups has to end with a pit.yield of 'index'}}
  pit.mainloop %i to %i step [1] in %ix[] chunk 3 : !pit.index<micro_tile = [1, 1], axis = 1> extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
  ^bb0(%j: index, %ids: !pit.ids<3>, %pos: !pit.ids<3>):
    %y = pit.view %x[%j, %ids : index, !pit.ids<3>] : memref<?x?xf32> -> vector<1x3xf32>
    %z = pit.view %x[%ids, %i : !pit.ids<3>, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<1x3xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%xt: vector<1x3xf32>, %yt: vector<3x64xf32>, %at: vector<1x64xf32>):
    %st = pit.contract %xt, %yt, %at tile [1, 64, 3] maps [#a, #b, #c]
           : vector<1x3xf32>, vector<3x64xf32>, vector<1x64xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<1x64xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  } groups {
  ^bb0(%j: index):
    pit.yield %j, %j : index, index
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @more_steps_than_bounds(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{[mainloop 1] has 1 lower bounds, 1 upper bounds and 2 steps}}
  pit.mainloop %i to %i step [4, 4] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c]
           : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<4x4xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @extra_map_of_nothing(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{[mainloop 2] has 1 maps for 0 extras}}
  pit.mainloop step [] extra_maps [#c]
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c]
           : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<4x4xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @loads_no_view(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  %t = arith.constant dense<0.0> : vector<4x4xf32>
  // expected-error@+1 {{[mainloop 5] load has to yield views, and yields 2 values, 1 of them views}}
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %t : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c] : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<4x4xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @load_takes_a_step(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{[mainloop 8] load takes}}
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
  ^bb0(%k: index):
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c]
           : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<4x4xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @epilogue_yields_two(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{[mainloop 11] init has to yield a value for each of 1 accumulators and finish one; they yield 1 and 2}}
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c]
           : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<4x4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum, %sum : f32, f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @one_subscript(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{[mainloop 12] has 1 subscripts for a destination of rank 2}}
  pit.mainloop step [] extra_maps []
      into %o[%i : index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c]
           : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<4x4xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @memref_result(%i: index, %x: memref<?x?xf32>, %o: tensor<?x?xf32>) {
  // expected-error@+1 {{[mainloop 13] writes into 'tensor<?x?xf32>' and has no result}}
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : tensor<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c]
           : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<4x4xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @maps_of_an_extra(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  %e = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
  // expected-error@+1 {{[mainloop 3] takes maps of 2 dims}}
  pit.mainloop step [] extras(%e : vector<4x4xf32>) extra_maps [affine_map<(m, n) -> (m - n, n)>]
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c] : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<4x4xf32>
  } prologue {
  ^bb0(%e0: f32):
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32, %e0: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @beyond_an_extra(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  %e = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
  // expected-error@+1 {{[mainloop 4] reads elements beyond}}
  pit.mainloop step [] extras(%e : vector<4x4xf32>) extra_maps [affine_map<(m, n) -> (m + n, n)>]
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c] : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<4x4xf32>
  } prologue {
  ^bb0(%e0: f32):
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32, %e0: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @computes_nothing(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{[mainloop 6] compute has to yield one accumulator or more}}
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>):
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @passes_its_accumulator_on(%i: index, %x: tensor<?x?xf32>, %o: tensor<?x?xf32>) {
  // expected-error@+1 {{[mainloop 7] compute has to yield, as value 0, a pit.contract that adds two of the loaded tiles to accumulator 0}}
  %r = pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : tensor<?x?xf32> -> tensor<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : tensor<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : tensor<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    pit.yield %at : vector<4x4xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @adds_to_one_accumulator_twice(%i: index, %x: tensor<?x?xf32>, %o: tensor<?x?xf32>) {
  // expected-error@+1 {{[mainloop 7] compute has to yield, as value 1, a pit.contract that adds two of the loaded tiles to accumulator 1}}
  %r = pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : tensor<?x?xf32> -> tensor<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : tensor<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : tensor<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>, %bt: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c] : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st, %st : vector<4x4xf32>, vector<4x4xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @contractions_differ(%i: index, %x: tensor<?x?xf32>, %o: tensor<?x?xf32>) {
  // expected-error@+1 {{[mainloop 7] compute has contractions of unequal tiles, maps or regions}}
  %r = pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : tensor<?x?xf32> -> tensor<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : tensor<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : tensor<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>, %bt: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c] : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    %tt = pit.contract %xt, %yt, %bt tile [4, 4, 4] maps [#a, #b, #c] : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %p : f32
    }
    pit.yield %st, %tt : vector<4x4xf32>, vector<4x4xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#d = affine_map<(m, n) -> (m, n)>
func.func @computes_something_else(%i: index, %x: tensor<?x?xf32>, %o: tensor<?x?xf32>) {
  // expected-error@+1 {{[mainloop 7] compute has 2 ops for 1 accumulators; there is a pit.contract for each, and nothing else}}
  %r = pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : tensor<?x?xf32> -> tensor<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : tensor<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : tensor<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c] : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    %other = pit.pointwise(%xt) tile [4, 4] maps [#d, #d] : (vector<4x4xf32>) -> vector<4x4xf32> {
    ^bb0(%m: index, %n: index, %e: f32):
      pit.yield %e : f32
    }
    pit.yield %st : vector<4x4xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @scan_narrow_tiles(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>, %w: memref<?x?xi8>) {
  // expected-error@+1 {{[mainloop 14] scans tiles of 4 columns in 'memref<?x?xf32>'; it scans tiles of memrefs, which are final, and have a multiple of 64 columns}}
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] bitmap(%w : memref<?x?xi8>) : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c]
           : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<4x4xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @step_of_0(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{[mainloop 1] has a step of 0; steps are positive}}
  pit.mainloop %i to %i step [0] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
  ^bb0(%j: index):
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<1x3xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<1x3xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%xt: vector<1x3xf32>, %yt: vector<3x64xf32>, %at: vector<1x64xf32>):
    %st = pit.contract %xt, %yt, %at tile [1, 64, 3] maps [#a, #b, #c]
           : vector<1x3xf32>, vector<3x64xf32>, vector<1x64xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<1x64xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @negative_step(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{[mainloop 1] has a step of -1; steps are positive}}
  pit.mainloop %i, %i to %i, %i step [4, -1] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
  ^bb0(%j: index, %k: index):
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<1x3xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<1x3xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%xt: vector<1x3xf32>, %yt: vector<3x64xf32>, %at: vector<1x64xf32>):
    %st = pit.contract %xt, %yt, %at tile [1, 64, 3] maps [#a, #b, #c]
           : vector<1x3xf32>, vector<3x64xf32>, vector<1x64xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<1x64xf32>
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

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @chunk_of_0(%i: index, %ix: !pit.index<micro_tile = [1, 1], axis = 1>, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  // expected-error@+1 {{[mainloop 1] has a chunk of 0 ids of its index; a chunk is positive}}
  pit.mainloop step [] in %ix[%i] chunk 0 : !pit.index<micro_tile = [1, 1], axis = 1> extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<1x3xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<1x3xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%xt: vector<1x3xf32>, %yt: vector<3x64xf32>, %at: vector<1x64xf32>):
    %st = pit.contract %xt, %yt, %at tile [1, 64, 3] maps [#a, #b, #c]
           : vector<1x3xf32>, vector<3x64xf32>, vector<1x64xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<1x64xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}
