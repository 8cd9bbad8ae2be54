// How mainloops are run is decided here. Each test pins one choice; changing a
// heuristic of MainloopPlan.cpp changes this file and no other.

// RUN: pit-opt %s --split-input-file --pit-schedule-mainloops | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: pit-opt %s --split-input-file --pit-schedule-mainloops=vector-width=256 | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: pit-opt %s --split-input-file --pit-schedule-mainloops=amx | FileCheck %s --check-prefixes=CHECK,AMX

// Rows of A and of B follow each other: four vectors by six rows, of which two
// blocks make 12 rows; with 16 registers three vectors by four rows.

// CHECK-LABEL: func.func @matmul
// AVX512: schedules = [#pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 4>
// AVX2:   schedules = [#pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 8, rows = 4, vectors = 3>
// AMX:    schedules = [#pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 4>
func.func @matmul(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<12x64xf32>
    %y = pit.view %b[%at, %c0 : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<64x192xf32>
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

// B has n where others have k: its lanes are transposed while it is packed.

// CHECK-LABEL: func.func @transposed_b
// CHECK: #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 0, k = [2], {{.*}}transpose_b = true>
func.func @transposed_b(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<12x64xf32>
    %y = pit.view %b[%c0, %at : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<192x64xf32>
    pit.yield %x, %y : vector<12x64xf32>, vector<192x64xf32>
  } compute {
  ^bb0(%xt: vector<12x64xf32>, %yt: vector<192x64xf32>, %at: vector<12x192xf32>):
    %st = pit.contract %xt, %yt, %at tile [12, 192, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<12x64xf32>, vector<192x64xf32>, vector<12x192xf32> {
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

// One row: as many sums as hide the latency of one, and no row to pack.

// CHECK-LABEL: func.func @one_row
// AVX512: #pit.cpu_schedule<a = 0, n = 1, lane = 1, batch = [0], k = [2], lanes = 16, rows = 1, vectors = 8>
// AVX2:   #pit.cpu_schedule<a = 0, n = 1, lane = 1, batch = [0], k = [2], lanes = 8, rows = 1, vectors = 8>
func.func @one_row(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<1x64xf32>
    %y = pit.view %b[%at, %c0 : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<64x128xf32>
    pit.yield %x, %y : vector<1x64xf32>, vector<64x128xf32>
  } compute {
  ^bb0(%xt: vector<1x64xf32>, %yt: vector<64x128xf32>, %at: vector<1x128xf32>):
    %st = pit.contract %xt, %yt, %at tile [1, 128, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<1x64xf32>, vector<64x128xf32>, vector<1x128xf32> {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    pit.yield %st : vector<1x128xf32>
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

// Narrow elements with wide sums: in tile registers if there are any, else A is
// extended while it is packed.

// CHECK-LABEL: func.func @bf16
// AVX512: #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 4, vectors = 4, pack_a = true>
// AMX: #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 8, vectors = 2, pack_a = true, dots = <group = 2, step = 32, tile_rows = 16, tiles = 2, element = bf16, amx = true>>

// Without a frame the system cannot be asked for tile registers.
// CHECK-LABEL: func.func @no_frame
// AMX-NOT: amx = true
func.func @bf16(%frame: !llvm.ptr {pit.frame}, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<32x64xbf16>
    %y = pit.view %b[%at, %c0 : index, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x128xbf16>
    pit.yield %x, %y : vector<32x64xbf16>, vector<64x128xbf16>
  } compute {
  ^bb0(%xt: vector<32x64xbf16>, %yt: vector<64x128xbf16>, %at: vector<32x128xf32>):
    %st = pit.contract %xt, %yt, %at tile [32, 128, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<32x64xbf16>, vector<64x128xbf16>, vector<32x128xf32> {
    ^bb0(%x: bf16, %y: bf16, %acc: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    pit.yield %st : vector<32x128xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

func.func @no_frame(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<32x64xbf16>
    %y = pit.view %b[%at, %c0 : index, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x128xbf16>
    pit.yield %x, %y : vector<32x64xbf16>, vector<64x128xbf16>
  } compute {
  ^bb0(%xt: vector<32x64xbf16>, %yt: vector<64x128xbf16>, %at: vector<32x128xf32>):
    %st = pit.contract %xt, %yt, %at tile [32, 128, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<32x64xbf16>, vector<64x128xbf16>, vector<32x128xf32> {
    ^bb0(%x: bf16, %y: bf16, %acc: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    pit.yield %st : vector<32x128xf32>
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

// One row of A, of which ids stand for k: the points of a filter, which B and C
// have, are the rows of the block. Elements of A are read where they lie.

// CHECK-LABEL: func.func @points
// AVX512: schedules = [#pit.cpu_schedule<a = 0, n = 3, lane = 3, batch = [0, 1, 2], k = [4], lanes = 16, rows = 9, vectors = 2>
// AVX2:   schedules = [#pit.cpu_schedule<a = 0, n = 3, lane = 3, batch = [0, 1, 2], k = [4], lanes = 8, rows = 9, vectors = 1>
func.func @points(%a: memref<?x?xf32>, %b: memref<?x3x3x32xf32>, %c: memref<?x3x3x32xf32>, %row: index, %i: !pit.index<micro_tile = [1, 1], axis = 1>) {
  %c0 = arith.constant 0 : index
  pit.mainloop step [] in %i[%row] chunk 64 : !pit.index<micro_tile = [1, 1], axis = 1> extra_maps [] into %c[%row, %c0, %c0, %c0 : index, index, index, index] : memref<?x3x3x32xf32>
  load {
  ^bb0(%ids: !pit.ids<64>, %at: !pit.ids<64>):
    %x = pit.view %a[%row, %ids : index, !pit.ids<64>] pad(0.0 : f32) : memref<?x?xf32> -> vector<1x64xf32>
    %y = pit.view %b[%ids, %c0, %c0, %c0 : !pit.ids<64>, index, index, index] pad(0.0 : f32) : memref<?x3x3x32xf32> -> vector<64x3x3x32xf32>
    pit.yield %x, %y : vector<1x64xf32>, vector<64x3x3x32xf32>
  } compute {
  ^bb0(%xt: vector<1x64xf32>, %yt: vector<64x3x3x32xf32>, %at: vector<1x3x3x32xf32>):
    %st = pit.contract %xt, %yt, %at tile [1, 3, 3, 32, 64] maps [affine_map<(c, r, s, f, k) -> (c, k)>, affine_map<(c, r, s, f, k) -> (k, r, s, f)>, affine_map<(c, r, s, f, k) -> (c, r, s, f)>]
           : vector<1x64xf32>, vector<64x3x3x32xf32>, vector<1x3x3x32xf32> {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    pit.yield %st : vector<1x3x3x32xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}
