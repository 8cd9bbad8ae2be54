// Schedules written by hand: the lowering does what they say, or says why it cannot.
// What it refuses is made of the good ones by sed.

// RUN: pit-opt %s --convert-pit-to-gpu=chip=sm_90a --convert-pit-gpu-to-nvvm | FileCheck %s

// Three stages in place of four, one block alone in place of a cluster of two, and
// two parts in place of none.
// CHECK-LABEL: gpu.func @by_hand_hopper(
// CHECK-SAME: threads = 384, shared_bytes = 163968, grid = machine, stream_bytes = 131072, pdl = true,
// CHECK-LABEL: gpu.func @by_hand(
// CHECK-SAME: shared_bytes = 49152,
// A third tile is loaded before the first one is there, with four stages a fourth.
// CHECK: nvvm.cp.async.wait.group 0

// Schedules that are there are not planned anew, and no better one is added.
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a | FileCheck %s --check-prefix=KEPT
// KEPT: schedules = [#pit.gpu_schedule<multiply = wgmma, {{.*}}stages = 3, {{[^>]*}}>, #pit.gpu_schedule<multiply = mma_sync, {{.*}}stages = 2, {{[^>]*}}>]
// RUN: sed -e '/multiply = wgmma/d' %s | pit-opt --pit-schedule-kernels=chip=sm_90a | FileCheck %s --check-prefix=ONE
// ONE: schedules = [#pit.gpu_schedule<multiply = mma_sync, {{[^>]*}}>]

// Each chip takes the first that it can run; one without any gets one behind them.
// RUN: pit-opt %s --convert-pit-to-gpu=chip=sm_80 | FileCheck %s --check-prefix=CHIP
// CHIP-NOT: gpu.func @by_hand_hopper(
// CHIP: gpu.func @by_hand({{.*}} shared_bytes = 49152>
// RUN: sed -e '/multiply = mma_sync/d; s/splits = 2>,/splits = 2>/' %s | pit-opt --pit-schedule-kernels=chip=sm_80 | FileCheck %s --check-prefix=BEHIND
// BEHIND: schedules = [#pit.gpu_schedule<multiply = wgmma, {{[^>]*}}>, #pit.gpu_schedule<multiply = mma_sync, {{[^>]*}}>]

// RUN: sed -e '/#pit.gpu_schedule</d' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: 'pit.mainloop' op has no #pit.gpu_schedule without producers that sm_80 can run: run pit-schedule-kernels first

// RUN: sed -e '/multiply = mma_sync/d; s/splits = 2>,/splits = 2>/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=NEWER
// NEWER: error: 'pit.mainloop' op has no #pit.gpu_schedule without producers that sm_80 can run: run pit-schedule-kernels first

// RUN: sed -e '/multiply = wgmma/d; s/mulf/addf/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=CORES
// CORES: error: 'pit.mainloop' op has the schedule {{.*}}; tensor cores do not take these operands

// RUN: sed -e '/multiply = wgmma/d; s/tile = \[128, 256\], w/tile = [128, 128], w/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=COVER
// COVER: error: 'pit.mainloop' op has the schedule {{.*}}; its workers compute 128 x 128 elements of a tile of 128 x 256

// RUN: sed -e '/multiply = wgmma/d; s/\[2, 4\]/[1, 4]/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=WARPS
// WARPS: error: 'pit.mainloop' op has the schedule {{.*}}; a tile of 128 x 256 has more accumulators than its warps hold

// RUN: sed -e '/multiply = wgmma/d; s/mma_sync/scalar/; s/\[2, 4\]/[8, 64]/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=UNIT
// UNIT: error: 'pit.mainloop' op has the schedule {{.*}}; its threads have to compute multiples of 1 x 8

// RUN: sed -e '/multiply = wgmma/d; s/mma_sync/scalar/; s/\[2, 4\]/[4, 32]/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: 'pit.mainloop' op has the schedule {{.*}}; a tile of 128 x 256 has more accumulators than its threads hold

// RUN: sed -e '/multiply = wgmma/d; s/depth = 32/depth = 8/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: error: 'pit.mainloop' op has the schedule {{.*}}; its depth has to be a multiple of 16

// RUN: sed -e '/multiply = wgmma/d; s/depth = 32/depth = 48/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: error: 'pit.mainloop' op has the schedule {{.*}}; its depth has to divide the tile's 64 along k, or cover them

// RUN: sed -e '/multiply = wgmma/d; s/stages = 2/stages = 5/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: error: 'pit.mainloop' op has the schedule {{.*}}; it takes 122880 bytes of shared memory; sm_80 has 98304 for it

// RUN: sed -e '/multiply = wgmma/d; s/shared_bytes/splits = 2, shared_bytes/; s/^    return/    memref.copy %o, %o : memref<4096x4096xf16> to memref<4096x4096xf16>\n    return/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=SPLIT
// SPLIT: error: 'pit.mainloop' op has the schedule {{.*}} splits = 2, {{.*}}; the kernel is no loop over tiles with one mainloop

// RUN: sed -e '/multiply = wgmma/d; s/shared_bytes = 49152/shared_bytes = 49153/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: 'pit.mainloop' op has the schedule {{.*}}; its shared_bytes have to be 49152

// RUN: sed -e 's/^    return/    memref.copy %o, %o : memref<4096x4096xf16> to memref<4096x4096xf16>\n    return/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=NEST
// NEST: error: 'pit.mainloop' op has the schedule {{.*}}; the kernel is no loop over tiles with one mainloop

// RUN: sed -e 's/stages = 3/stages = 3, a = 1/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=A
// A: error: 'pit.mainloop' op has the schedule {{.*}}; its tile is 128 x 256, and has to be 256 x 128 or larger

// RUN: sed -e 's/wgmma, tile = \[128, 256\], workers = \[8, 1\]/wgmma, tile = [64, 256], workers = [4, 1]/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=CONSUMERS
// CONSUMERS: error: 'pit.mainloop' op has the schedule {{.*}}; two warpgroups multiply a product that producers load: its workers have to be [8, 1] or [4, 2]

// RUN: sed -e 's/splits = 2/blocks = 2/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'pit.mainloop' op has the schedule {{.*}}; a product that producers load has one block on a multiprocessor, and no swizzles

// RUN: sed -e 's/depth = 64/depth = 32/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=LINE
// LINE: error: 'pit.mainloop' op has the schedule {{.*}}; its depth has to be a multiple of 64 up to 64

// RUN: sed -e 's/wgmma, tile = \[128, 256\]/wgmma, tile = [128, 128]/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: error: 'pit.mainloop' op has the schedule {{.*}}; its tile is 128 x 128, and has to be 128 x 256 or larger

// RUN: sed -e 's/wgmma, tile = \[128, 256\]/wgmma, tile = [128, 264]/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: error: 'pit.mainloop' op has the schedule {{.*}}; each consumer has to compute a multiple of 64 columns, not 264

// RUN: sed -e 's/wgmma, tile = \[128, 256\]/wgmma, tile = [256, 256]/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=SUMS
// SUMS: error: 'pit.mainloop' op has the schedule {{.*}}; a tile of 128 x 256 has more accumulators than two warpgroups hold

// RUN: sed -e 's/load_a = tma_tile, //' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=LOADER
// LOADER: error: 'pit.mainloop' op has the schedule {{.*}}; cp_async does not load consecutive rows, those of operand 0

// RUN: sed -e 's/splits = 2/cluster = 3/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=CLUSTER
// CLUSTER: error: 'pit.mainloop' op has the schedule {{.*}}; clusters of 3 blocks have no tiles along m for which each loads a part of the other operand

// RUN: sed -e 's/%K = arith.constant 4096 : index/%K = memref.dim %a, %c0 : memref<4096x4096xf16>/; s/memref<4096x4096xf16>/memref<?x?xf16>/g' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'pit.mainloop' op has the schedule {{.*}}; blocks share tiles in splits only if the number of steps is known or tiles of few rows or columns say which ids there are, no index gives chunks, no sum is atomic and there is one accumulator

// RUN: sed -e 's/splits = 2/splits = 65/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: error: 'pit.mainloop' op has the schedule {{.*}}; a tile of 64 steps has no 65 splits

// RUN: sed -e 's/splits = 2/column_blocks = 2/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=STRIPS
// STRIPS: error: 'pit.mainloop' op has the schedule {{.*}}; column blocks are of results that groups of an index add to atomically, in tiles along n{{$}}

// RUN: sed -e 's/stages = 3/stages = 5/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: error: 'pit.mainloop' op has the schedule {{.*}}; it takes 262272 bytes of shared memory; sm_90a has 232448 for it

// RUN: sed -e 's/splits = 2/shared_bytes = 1/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: error: 'pit.mainloop' op has the schedule {{.*}}; its shared_bytes have to be 163968

// Of kernels whose rows ids select, and one that fills rows.

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e 's/tma_row_gather/tma_tile/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=IDS
// IDS: error: 'pit.mainloop' op has the schedule {{.*}}; tma_tile does not load rows that ids select, those of operand 0{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e 's/stages = 4, shared_bytes = 213120/stages = 4, load_a = tma_row_gather, shared_bytes = 213120/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=GATHER
// GATHER: error: 'pit.mainloop' op has the schedule {{.*}}; tma_row_gather loads a multiple of 4 rows up to 128, the same in all steps, not the 64 of operand 0{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e 's/fill_rows = 512/fill_rows = 500/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=LISTED
// LISTED: error: 'pit.mainloop' op has the schedule {{.*}}; its fill_rows have to be 512{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e '/pit.launch @pit_kernels::@fill /d' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=LAUNCH
// LAUNCH: error: 'pit.mainloop' op has the schedule {{.*}}; its fill_rows have to be 0: no launch before it fills its result

// Of kernels with a tile body.

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/tile = \[64, 64\], workers = \[4, 1\]/tile = [32, 64], workers = [2, 1]/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: 'pit.mainloop' op has the schedule {{.*}}; its tile is 32 x 64, and has to be 64 x 64{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/tile = \[64, 64\]/tile = [64, 32]/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: error: 'pit.mainloop' op has the schedule {{.*}}; its tile is 64 x 32, and has to be 64 x 64{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/workers = \[4, 1\]/workers = [4, 2]/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=ALONG
// ALONG: error: 'pit.mainloop' op has the schedule {{.*}}; a tile body takes tensor cores, and warps along m only{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/mma_sync\(.*\)workers = \[4, 1\]/scalar\1workers = [4, 8]/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: error: 'pit.mainloop' op has the schedule {{.*}}; a tile body takes tensor cores, and warps along m only{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/stages = 3/depth = 16, stages = 3/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=DEPTH
// DEPTH: error: 'pit.mainloop' op has the schedule {{.*}}; a tile body has a depth of 1, and no swizzles{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/stages = 3/stages = 3, swizzles = [1, 2]/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=SWIZZLES
// SWIZZLES: error: 'pit.mainloop' op has the schedule {{.*}}; a tile body has a depth of 1, and no swizzles{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/stages = 3/stages = 3, splits = 2/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=BODY
// BODY: error: 'pit.mainloop' op has the schedule {{.*}}; the steps of a tile body are not shared in splits{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/stages = 3/stages = 9/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=RING
// RING: error: 'pit.mainloop' op has the schedule {{.*}}; it takes 155648 bytes of shared memory; sm_80 has 98304 for it{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/shared_bytes = 57344/shared_bytes = 49152/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: error: 'pit.mainloop' op has the schedule {{.*}}; its shared_bytes have to be 57344{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e '/body \[64, 32\]/s/mma_sync/wgmma/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: 'pit.mainloop' op has the schedule {{.*}}; wgmma takes tiles of 64 rows, and of multiples of 64 columns; a warp has 16 rows{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e '/body \[64, 64\]/s/tile = \[64, 64\]/tile = [128, 64]/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=GROUPS
// GROUPS: error: 'pit.mainloop' op has the schedule {{.*}}; wgmma takes tiles of 64 rows, and of multiples of 64 columns; a warp has 16 rows{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/mma_sync/wgmma/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=OLDER
// OLDER: error: 'pit.mainloop' op has no #pit.gpu_schedule without producers that sm_80 can run: run pit-schedule-kernels first{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e '/body \[128, 64\]/s/tile = \[128, 64\], workers = \[8, 1\]/tile = [256, 64], workers = [16, 1]/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: 'pit.mainloop' op has the schedule {{.*}}; producers load for up to 12 workers, and it has 16{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e '/body \[128, 64\]/s/producers = 4/producers = 4, cluster = 2/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: 'pit.mainloop' op [mainloop 19] has the schedule {{.*}}; a, load_a, load_b, cluster, column_blocks and fill_rows are of products, and it is a tile body{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e '/body \[128, 64\]/s/\(\[#[^>]*>\), #[^>]*>/\1/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: 'pit.mainloop' op has no #pit.gpu_schedule without producers that sm_90a can run: run pit-schedule-kernels first{{$}}

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
module @pit_kernels attributes {pit.kernels} {
  func.func @by_hand(%a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %o: memref<4096x4096xf16>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 4096 : index
    %n = arith.constant 4096 : index
    %K = arith.constant 4096 : index
    %zero = arith.constant 0.0 : f32
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      pit.mainloop %c0 to %K step [64] extra_maps []
          into %o[%i, %j : index, index] {schedules = [
            #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 3, load_a = tma_tile, load_b = tma_tile, splits = 2>,
            #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 2, shared_bytes = 49152>
          ]} : memref<4096x4096xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<4096x4096xf16> -> vector<128x64xf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f16) : memref<4096x4096xf16> -> vector<64x256xf16>
        pit.yield %x, %y : vector<128x64xf16>, vector<64x256xf16>
      } compute {
      ^bb0(%xt: vector<128x64xf16>, %yt: vector<64x256xf16>, %at: vector<128x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 256, 64] maps [#mk, #kn, #mn]
               : vector<128x64xf16>, vector<64x256xf16>, vector<128x256xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x256xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }
}
}
