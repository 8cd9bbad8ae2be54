// Schedules written by hand: the lowering does what they say, or says why it cannot.
// What it refuses is made of the good one by sed.

// RUN: pit-opt %s --convert-pit-to-scf | FileCheck %s

// Blocks of two rows by three vectors in place of six by four.
// CHECK-LABEL: func.func @by_hand
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {

// A schedule that is there is not planned anew, on memrefs or on tensors.
// RUN: pit-opt %s --pit-schedule-mainloops | FileCheck %s --check-prefix=KEPT
// KEPT: schedules = [#pit.cpu_schedule<{{.*}}rows = 2, vectors = 3>
// RUN: sed -e 's/index) {$/index) -> tensor<?x?xf32> {/; s/memref</tensor</g; s/^  pit.mainloop/  %%r = pit.mainloop/; s/} : tensor<?x?xf32>/} : tensor<?x?xf32> -> tensor<?x?xf32>/; s/^  return/  return %%r : tensor<?x?xf32>/' %s > %t
// RUN: pit-opt %t --pass-pipeline='builtin.module(one-shot-bufferize{bufferize-function-boundaries},func.func(pit-schedule-mainloops))' | FileCheck %s --check-prefix=KEPT

// RUN: not pit-opt %s --convert-pit-to-scf=vector-width=256 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: error: 'pit.mainloop' op has the schedule {{.*}}; its lanes have to be 8, those of a vector of 256 bits

// RUN: sed -e 's/lanes = 16/lanes = 1/' %s | not pit-opt --convert-pit-to-scf 2>&1 | FileCheck %s --check-prefix=ELEMENTS
// ELEMENTS: error: 'pit.mainloop' op has the schedule {{.*}}; elements are computed one by one only along the result's last dimension, and where ids stand for k and few rows or columns meet

// RUN: sed -e 's/m = 0, n = 1/m = 0, n = 2/; s/k = .2./k = [1]/' %s | not pit-opt --convert-pit-to-scf 2>&1 | FileCheck %s --check-prefix=N
// N: error: 'pit.mainloop' op has the schedule {{.*}}; its n is 2, no dimension of the result

// RUN: sed -e 's/a = 0, m = 0, n = 1, lane = 1/a = 1, m = 1, n = 0, lane = 0/' %s | not pit-opt --convert-pit-to-scf 2>&1 | FileCheck %s --check-prefix=LANES
// LANES: error: 'pit.mainloop' op has the schedule {{.*}}; lanes cannot run along dimension 0 of its tile

// RUN: sed -e 's/rows = 2/rows = 13/' %s | not pit-opt --convert-pit-to-scf 2>&1 | FileCheck %s --check-prefix=BLOCK
// BLOCK: error: 'pit.mainloop' op has the schedule {{.*}}; its block of 13 rows and 3 vectors is larger than the tile's 12 and 12

// RUN: sed -e 's/rows = 2/rows = 12/' %s | not pit-opt --convert-pit-to-scf 2>&1 | FileCheck %s --check-prefix=REGISTERS
// REGISTERS: error: 'pit.mainloop' op has the schedule {{.*}}; its block of 12 rows and 3 vectors has more sums than the 32 registers hold

// RUN: sed -e 's/vectors = 3/vectors = 3, transpose_b = true/' %s | not pit-opt --convert-pit-to-scf 2>&1 | FileCheck %s --check-prefix=REST
// REST: error: 'pit.mainloop' op has the schedule {{.*}}; with this n, and these lanes, rows and vectors, it has to be #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 2, vectors = 3>

// What is planned passes the check, and what is written over a plan is checked, too.
// RUN: pit-opt %S/schedule-mainloops.mlir --split-input-file --pit-schedule-mainloops=amx --convert-pit-to-scf -o /dev/null
// RUN: pit-opt %S/schedule-mainloops.mlir --split-input-file --pit-schedule-mainloops=vector-width=256 --convert-pit-to-scf=vector-width=256 -o /dev/null

// RUN: pit-opt %S/schedule-mainloops.mlir --split-input-file --pit-schedule-mainloops=amx | sed -e 's/rows = 8, vectors = 2, pack_a/rows = 8, vectors = 3, pack_a/' | not pit-opt --split-input-file --convert-pit-to-scf 2>&1 | FileCheck %s --check-prefix=TILES
// TILES: error: 'pit.mainloop' op has the schedule {{.*}}; its block of 2 x 3 sums takes more tile registers than there are

// RUN: pit-opt %S/schedule-mainloops.mlir --split-input-file --pit-schedule-mainloops=amx | sed -e 's/ {pit.frame}//' | not pit-opt --split-input-file --convert-pit-to-scf 2>&1 | FileCheck %s --check-prefix=FRAME
// FRAME: error: 'pit.mainloop' op has the schedule {{.*}}; the system has to be asked for tile registers, which needs a function with a frame: run pit-abi-prepare first

// Without dots its products of bf16 are extended, and computed by vectors of f32.
// RUN: pit-opt %S/schedule-mainloops.mlir --split-input-file --pit-schedule-mainloops=amx | sed -e 's/, dots = <[^>]*>//' | pit-opt --split-input-file --convert-pit-to-scf | FileCheck %s --check-prefix=VECTORS --implicit-check-not=amx.
// VECTORS-LABEL: func.func @bf16
// VECTORS: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>

func.func @by_hand(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] {
        schedules = [#pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 2, vectors = 3>]
      } : memref<?x?xf32>
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
