// RUN: pit-opt %s -split-input-file -verify-diagnostics

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @tf32_of_f16(%i: index, %x: memref<?x?xf16>, %o: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x32xf16>
    %z = pit.view %x[%i, %i : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<32x64xf16>
    pit.yield %y, %z : vector<64x32xf16>, vector<32x64xf16>
  } compute {
  ^bb0(%xt: vector<64x32xf16>, %yt: vector<32x64xf16>, %at: vector<64x64xf32>):
    // expected-error@+1 {{[contract 6] rounds f32 operands of f32 sums to tf32, not 'f16'}}
    %st = pit.contract %xt, %yt, %at tile [64, 64, 32] maps [#a, #b, #c] tf32
           : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> {
    ^bb0(%p: f16, %q: f16, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<64x64xf32>
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

#a = affine_map<(m, n, k) -> (m + k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @window_beyond_view(%i: index, %x: memref<?xf32>, %w: memref<?x?xf32>, %o: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<65xf32>
    %z = pit.view %w[%i, %i : index, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<65xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%xt: vector<65xf32>, %yt: vector<3x64xf32>, %at: vector<64x64xf32>):
    // expected-error-re@+1 {{[contract 3] reads elements beyond 'vector<65xf32>' of operand 0 by affine_map<{{.*}}(d0 + d2)>}}
    %st = pit.contract %xt, %yt, %at tile [64, 64, 3] maps [#a, #b, #c]
           : vector<65xf32>, vector<3x64xf32>, vector<64x64xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<64x64xf32>
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

// An order of 16 neighbours takes multiples of 16.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, (k floordiv 16) * 16 + ((k mod 8) floordiv 2) * 4 + ((k floordiv 8) mod 2) * 2 + k mod 2)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @order_of_24(%i: index, %x: memref<?x?xf32>, %w: memref<?x?xf32>, %o: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<64x24xf32>
    %z = pit.view %w[%i, %i : index, index] : memref<?x?xf32> -> vector<64x24xf32>
    pit.yield %y, %z : vector<64x24xf32>, vector<64x24xf32>
  } compute {
  ^bb0(%xt: vector<64x24xf32>, %yt: vector<64x24xf32>, %at: vector<64x64xf32>):
    // expected-error-re@+1 {{[contract 2] takes maps of 3 dims to sums of them times positive numbers, but the one of operand 1 is affine_map<{{.*}}>}}
    %st = pit.contract %xt, %yt, %at tile [64, 64, 24] maps [#a, #b, #c]
           : vector<64x24xf32>, vector<64x24xf32>, vector<64x64xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<64x64xf32>
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

#a = affine_map<(m, n, k) -> (m - k + 2)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @window_backwards(%i: index, %x: memref<?xf32>, %w: memref<?x?xf32>, %o: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i : index] : memref<?xf32> -> vector<66xf32>
    %z = pit.view %w[%i, %i : index, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<66xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%xt: vector<66xf32>, %yt: vector<3x64xf32>, %at: vector<64x64xf32>):
    // expected-error-re@+1 {{[contract 2] takes maps of 3 dims to sums of them times positive numbers, but the one of operand 0 is affine_map<{{.*}}>}}
    %st = pit.contract %xt, %yt, %at tile [64, 64, 3] maps [#a, #b, #c]
           : vector<66xf32>, vector<3x64xf32>, vector<64x64xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<64x64xf32>
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
#c = affine_map<(m, n, k) -> (m, m)>
func.func @twice_in_sums(%i: index, %x: memref<?x?xf32>, %w: memref<?x?xf32>, %o: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<64x3xf32>
    %z = pit.view %w[%i, %i : index, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<64x3xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%xt: vector<64x3xf32>, %yt: vector<3x64xf32>, %at: vector<64x64xf32>):
    // expected-error-re@+1 {{[contract 4] has an accumulator of some of the tile's 3 dims, once each, not affine_map<{{.*}}>}}
    %st = pit.contract %xt, %yt, %at tile [64, 64, 3] maps [#a, #b, #c]
           : vector<64x3xf32>, vector<3x64xf32>, vector<64x64xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      pit.yield %sum : f32
    }
    pit.yield %st : vector<64x64xf32>
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
func.func @two_maps(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    // expected-error@+1 {{[contract 1] has 2 maps; it takes one for each of two operands, one for the accumulator, and one for each of 0 scales}}
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b]
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
func.func @accumulator_of_another_shape(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    // expected-error@+1 {{[contract 4] adds to 'vector<4x4xf32>'; by affine_map<(d0, d1, d2) -> (d0, d1)> of its tile it has to be a 'vector<4x2xf32>'}}
    %st = pit.contract %xt, %yt, %at tile [4, 2, 4] maps [#a, #b, #c] : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
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
func.func @region_of_a_contraction(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x4xf32>
    pit.yield %y, %z : vector<4x4xf32>, vector<4x4xf32>
  } compute {
  ^bb0(%xt: vector<4x4xf32>, %yt: vector<4x4xf32>, %at: vector<4x4xf32>):
    // expected-error@+1 {{[contract 5] has a region that takes 'f32', 'f32'; it has to take 'f32', 'f32', 'f32' and to yield 'f32'}}
    %st = pit.contract %xt, %yt, %at tile [4, 4, 4] maps [#a, #b, #c] : vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32):
      pit.yield %p : f32
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
func.func @scale_beyond_view(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x8xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<8x4xf32>
    %w = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<2x1xf32>
    pit.yield %y, %z, %w : vector<4x8xf32>, vector<8x4xf32>, vector<2x1xf32>
  } compute {
  ^bb0(%xt: vector<4x8xf32>, %yt: vector<8x4xf32>, %wt: vector<2x1xf32>, %at: vector<4x4xf32>):
    // expected-error@+1 {{[contract 3] reads elements beyond 'vector<2x1xf32>' of scale 0 by affine_map<(d0, d1, d2) -> (d0, 0)>}}
    %st = pit.contract %xt, %yt, %at scales(%wt : vector<2x1xf32>) tile [4, 4, 8] maps [#a, #b, #c, affine_map<(m, n, k) -> (m, 0)>]
           : vector<4x8xf32>, vector<8x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32, %scale: f32):
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
func.func @scale_along_sums(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x8xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<8x4xf32>
    %w = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x8xf32>
    pit.yield %y, %z, %w : vector<4x8xf32>, vector<8x4xf32>, vector<4x8xf32>
  } compute {
  ^bb0(%xt: vector<4x8xf32>, %yt: vector<8x4xf32>, %wt: vector<4x8xf32>, %at: vector<4x4xf32>):
    // expected-error@+1 {{[contract 7] sums up over dim 2 of its tile, along which scale 0 changes by affine_map<(d0, d1, d2) -> (d0, d2)>}}
    %st = pit.contract %xt, %yt, %at scales(%wt : vector<4x8xf32>) tile [4, 4, 8] maps [#a, #b, #c, #a]
           : vector<4x8xf32>, vector<8x4xf32>, vector<4x4xf32> {
    ^bb0(%p: f32, %q: f32, %sum: f32, %scale: f32):
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
func.func @scale_without_argument(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x8xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<8x4xf32>
    %w = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<4x1xf32>
    pit.yield %y, %z, %w : vector<4x8xf32>, vector<8x4xf32>, vector<4x1xf32>
  } compute {
  ^bb0(%xt: vector<4x8xf32>, %yt: vector<8x4xf32>, %wt: vector<4x1xf32>, %at: vector<4x4xf32>):
    // expected-error@+1 {{[contract 5] has a region that takes 'f32', 'f32', 'f32'; it has to take 'f32', 'f32', 'f32', 'f32' and to yield 'f32'}}
    %st = pit.contract %xt, %yt, %at scales(%wt : vector<4x1xf32>) tile [4, 4, 8] maps [#a, #b, #c, affine_map<(m, n, k) -> (m, 0)>]
           : vector<4x8xf32>, vector<8x4xf32>, vector<4x4xf32> {
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
func.func @empty_step(%i: index, %x: memref<?x?xf32>, %o: memref<?x?xf32>) {
  pit.mainloop step [] extra_maps []
      into %o[%i, %i : index, index] : memref<?x?xf32> load {
    %y = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<1x3xf32>
    %z = pit.view %x[%i, %i : index, index] : memref<?x?xf32> -> vector<3x64xf32>
    pit.yield %y, %z : vector<1x3xf32>, vector<3x64xf32>
  } compute {
  ^bb0(%xt: vector<1x3xf32>, %yt: vector<3x64xf32>, %at: vector<1x64xf32>):
    // expected-error@+1 {{[contract 4] has a tile of extent 0; extents are positive}}
    %st = pit.contract %xt, %yt, %at tile [1, 64, 0] maps [#a, #b, #c]
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
