// Why a CPU has no schedule for a mainloop.

// RUN: pit-opt %s --split-input-file --pit-schedule-mainloops --verify-diagnostics

func.func @bits(%a: memref<?x?xi1>, %b: memref<?x?xi1>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'pit.mainloop' op cannot be computed by vectors of 512 bits: an operand lies in memory as i1, a byte for each element}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] : memref<?x?xi1> -> vector<12x64xi1>
    %y = pit.view %b[%at, %c0 : index, index] : memref<?x?xi1> -> vector<64x192xi1>
    pit.yield %x, %y : vector<12x64xi1>, vector<64x192xi1>
  } compute {
  ^bb0(%xt: vector<12x64xi1>, %yt: vector<64x192xi1>, %at: vector<12x192xf32>):
    %st = pit.contract %xt, %yt, %at tile [12, 192, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<12x64xi1>, vector<64x192xi1>, vector<12x192xf32> {
    ^bb0(%x: i1, %y: i1, %acc: f32):
      %p = arith.andi %x, %y : i1
      %e = arith.uitofp %p : i1 to f32
      %s = arith.addf %acc, %e : f32
      pit.yield %s : f32
    }
    pit.yield %st : vector<12x192xf32>
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

func.func @wide(%a: memref<?x?xi128>, %b: memref<?x?xi128>, %c: memref<?x?xi128>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{cannot be computed by vectors of 512 bits: what it computes is not element-wise on floats or integers of 8, 16, 32 or 64 bits}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] : memref<?x?xi128>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] : memref<?x?xi128> -> vector<12x64xi128>
    %y = pit.view %b[%at, %c0 : index, index] : memref<?x?xi128> -> vector<64x192xi128>
    pit.yield %x, %y : vector<12x64xi128>, vector<64x192xi128>
  } compute {
  ^bb0(%xt: vector<12x64xi128>, %yt: vector<64x192xi128>, %at: vector<12x192xi128>):
    %st = pit.contract %xt, %yt, %at tile [12, 192, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<12x64xi128>, vector<64x192xi128>, vector<12x192xi128> {
    ^bb0(%x: i128, %y: i128, %acc: i128):
      %p = arith.muli %x, %y : i128
      %s = arith.addi %acc, %p : i128
      pit.yield %s : i128
    }
    pit.yield %st : vector<12x192xi128>
  } prologue {
    %zero = arith.constant 0 : i128
    pit.yield %zero : i128
  } epilogue {
  ^bb0(%sum: i128):
    pit.yield %sum : i128
  }
  return
}

// -----

func.func @elsewhere(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{cannot be computed by vectors of 512 bits: along dimension 1 of its tile, an operand is read in other places than the result is written}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %k : index, index] : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] : memref<?x?xf32> -> vector<12x64xf32>
    %y = pit.view %b[%at, %c0 : index, index] : memref<?x?xf32> -> vector<64x192xf32>
    pit.yield %x, %y : vector<12x64xf32>, vector<64x192xf32>
  } compute {
  ^bb0(%xt: vector<12x64xf32>, %yt: vector<64x192xf32>, %at: vector<12x192xf32>):
    %st = pit.contract %xt, %yt, %at tile [12, 192, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<12x64xf32>, vector<64x192xf32>, vector<12x192xf32> {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    pit.yield %st : vector<12x192xf32>
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

func.func @narrow(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{cannot be computed by vectors of 512 bits: no dimension of its tile is in one piece in the destination and in one operand, and missing in the other}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] : memref<?x?xf32> -> vector<12x64xf32>
    %y = pit.view %b[%at, %c0 : index, index] : memref<?x?xf32> -> vector<64x8xf32>
    pit.yield %x, %y : vector<12x64xf32>, vector<64x8xf32>
  } compute {
  ^bb0(%xt: vector<12x64xf32>, %yt: vector<64x8xf32>, %at: vector<12x8xf32>):
    %st = pit.contract %xt, %yt, %at tile [12, 8, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<12x64xf32>, vector<64x8xf32>, vector<12x8xf32> {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    pit.yield %st : vector<12x8xf32>
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

func.func @atomic(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{cannot be computed by vectors of 512 bits: atomic combination and tf32 are for GPUs}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] : memref<?x?xf32> -> vector<12x64xf32>
    %y = pit.view %b[%at, %c0 : index, index] : memref<?x?xf32> -> vector<64x192xf32>
    pit.yield %x, %y : vector<12x64xf32>, vector<64x192xf32>
  } compute {
  ^bb0(%xt: vector<12x64xf32>, %yt: vector<64x192xf32>, %at: vector<12x192xf32>):
    %st = pit.contract %xt, %yt, %at tile [12, 192, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] tf32
           : vector<12x64xf32>, vector<64x192xf32>, vector<12x192xf32> {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    pit.yield %st : vector<12x192xf32>
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

// The columns of one B follow each other, and of the other one the rows: what one
// register block reads of both would lie in two ways.

func.func @two_ways(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %d: memref<?x?xf32, strided<[1, ?]>>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{cannot be computed by vectors of 512 bits: the operands of accumulator 1 lie in another way than those of the first one}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] : memref<?x?xf32> -> vector<12x64xf32>
    %y = pit.view %b[%at, %c0 : index, index] : memref<?x?xf32> -> vector<64x192xf32>
    %z = pit.view %d[%at, %c0 : index, index] : memref<?x?xf32, strided<[1, ?]>> -> vector<64x192xf32>
    pit.yield %x, %y, %z : vector<12x64xf32>, vector<64x192xf32>, vector<64x192xf32>
  } compute {
  ^bb0(%xt: vector<12x64xf32>, %yt: vector<64x192xf32>, %zt: vector<64x192xf32>, %s0: vector<12x192xf32>, %s1: vector<12x192xf32>):
    %n0 = pit.contract %xt, %yt, %s0 tile [12, 192, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<12x64xf32>, vector<64x192xf32>, vector<12x192xf32> {
    ^bb0(%u: f32, %v: f32, %acc: f32):
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    %n1 = pit.contract %xt, %zt, %s1 tile [12, 192, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<12x64xf32>, vector<64x192xf32>, vector<12x192xf32> {
    ^bb0(%u: f32, %v: f32, %acc: f32):
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    pit.yield %n0, %n1 : vector<12x192xf32>, vector<12x192xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero, %zero : f32, f32
  } epilogue {
  ^bb0(%g: f32, %u: f32):
    %r = arith.mulf %g, %u : f32
    pit.yield %r : f32
  }
  return
}

// -----

func.func @scales(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{cannot be computed by vectors of 512 bits: scales are for GPUs}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] : memref<?x?xf32> -> vector<12x64xf32>
    %y = pit.view %b[%at, %c0 : index, index] : memref<?x?xf32> -> vector<64x192xf32>
    %z = pit.view %a[%c0, %at : index, index] : memref<?x?xf32> -> vector<12x1xf32>
    pit.yield %x, %y, %z : vector<12x64xf32>, vector<64x192xf32>, vector<12x1xf32>
  } compute {
  ^bb0(%xt: vector<12x64xf32>, %yt: vector<64x192xf32>, %zt: vector<12x1xf32>, %at: vector<12x192xf32>):
    %st = pit.contract %xt, %yt, %at scales(%zt : vector<12x1xf32>) tile [12, 192, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (m, 0)>]
           : vector<12x64xf32>, vector<64x192xf32>, vector<12x192xf32> {
    ^bb0(%x: f32, %y: f32, %acc: f32, %z: f32):
      %q = arith.mulf %x, %y : f32
      %p = arith.mulf %q, %z : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    pit.yield %st : vector<12x192xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}
