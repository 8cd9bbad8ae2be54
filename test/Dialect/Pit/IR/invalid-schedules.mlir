// RUN: pit-opt %s -split-input-file -verify-diagnostics

func.func @dims(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{[mainloop 18] has the schedule #pit.cpu_schedule<a = 0, m = 0, n = 0, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 4>; m, n, batch and k have to be the tile's 3 dimensions, each once}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] {schedules = [#pit.cpu_schedule<a = 0, m = 0, n = 0, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 4>]} : memref<?x?xf32>
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

func.func @lane(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{[mainloop 18] has the schedule #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 2, k = [2], lanes = 16, rows = 6, vectors = 4>; lane has to be one of the 2 dimensions of operand 1}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] {schedules = [#pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 2, k = [2], lanes = 16, rows = 6, vectors = 4>]} : memref<?x?xf32>
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

func.func @kind(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'pit.mainloop' op attribute 'schedules' failed to satisfy constraint: list of #pit.cpu_schedule and #pit.gpu_schedule}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] {schedules = [7 : i64]} : memref<?x?xf32>
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

func.func @wgmma_without_producers(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{[mainloop 19] has the schedule #pit.gpu_schedule<multiply = wgmma, tile = [64, 192], workers = [4, 1], depth = 32, stages = 2>; wgmma multiplies products that producers load}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] {schedules = [#pit.gpu_schedule<multiply = wgmma, tile = [64, 192], workers = [4, 1], depth = 32, stages = 2>]} : memref<?x?xf32>
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
