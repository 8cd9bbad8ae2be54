// RUN: pit-opt %s -pit-place-buffers -convert-pit-to-scf -split-input-file -verify-diagnostics

func.func @dynamic_tile(%f: !llvm.ptr {pit.frame}, %n: index) {
  %c0 = arith.constant 0 : index
  pit.forall (%i) = (%c0) to (%n) step (4) {
    // expected-error @+1 {{buffer of dynamic size inside of pit.forall; only static tiles can be placed in a worker's scratch}}
    %t = memref.alloc(%i) : memref<?xf32>
  }
  return
}

// -----

!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @no_frame(%a: memref<?x?xf32>) -> index {
  // expected-error @+1 {{'pit.index' op needs a function with a frame to build in: run pit-abi-prepare first}}
  %i = pit.index %a : memref<?x?xf32> -> !cols
  %n = pit.count %i : !cols
  return %n : index
}

// -----

// Its status could not return from another thread.
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @index_in_loop(%f: !llvm.ptr {pit.frame}, %a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  pit.forall (%j) = (%c0) to (%n) step (1) {
    // expected-error @+1 {{'pit.index' op stands inside of a tile loop; an index is built outside of them, so that its status can return}}
    %i = pit.index %a : memref<?x?xf32> -> !cols
  }
  return
}

// -----

!cols = !pit.index<micro_tile = [32, 1], axis = 1>
func.func @atomic(%a: memref<?x?xf32>, %t: memref<32x64xf32>, %i: !cols) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'pit.forall' op keeps groups apart by atomic; the CPU takes none and sequential}}
  pit.forall %ids at %pos in %i[%c0] : !cols chunk 64 conflicts(atomic) {
    pit.swrite %t into %a[%c0, %ids : !pit.ids<64>] combine(addf) : memref<32x64xf32> into memref<?x?xf32>
  }
  return
}

// -----

func.func @mark(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-error @+1 {{'pit.sparse' op was not lowered: run pit-lower-marks first}}
  %s = pit.sparse %a : tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}

// -----

func.func @no_schedule(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'pit.mainloop' op has no #pit.cpu_schedule, which says how to run it: run pit-schedule-mainloops first}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] : memref<?x?xf32>
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
