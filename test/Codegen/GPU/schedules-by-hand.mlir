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

// A schedule that is there is not planned anew.
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a | FileCheck %s --check-prefix=KEPT
// KEPT: hopper_schedule = #pit.hopper_schedule<{{.*}}stages = 3,
// KEPT-SAME: schedule = #pit.portable_schedule<{{.*}}stages = 2,

// RUN: sed -e '/ [a-z_]*schedule = /d' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: 'pit.mainloop' op has no #pit.portable_schedule as its schedule, which says how to run it: run pit-schedule-kernels first

// RUN: sed -e '/ hopper_schedule/d; s/mulf/addf/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=CORES
// CORES: error: 'pit.mainloop' op has schedule = {{.*}}; tensor cores do not take these operands

// RUN: sed -e '/ hopper_schedule/d; s/\[64, 64\], depth/[64, 32], depth/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=COVER
// COVER: error: 'pit.mainloop' op has schedule = {{.*}}; its workers compute 128 x 128 elements of a tile of 128 x 256

// RUN: sed -e '/ hopper_schedule/d; s/\[2, 4\]/[1, 4]/; s/\[64, 64\], depth/[128, 64], depth/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=WARPS
// WARPS: error: 'pit.mainloop' op has schedule = {{.*}}; a tile of 128 x 256 has more accumulators than its warps hold

// RUN: sed -e '/ hopper_schedule/d; s/tensor_cores = true, workers = \[2, 4\], per_worker = \[64, 64\]/workers = [8, 64], per_worker = [16, 4]/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=UNIT
// UNIT: error: 'pit.mainloop' op has schedule = {{.*}}; its threads have to compute multiples of 1 x 8

// RUN: sed -e '/ hopper_schedule/d; s/tensor_cores = true, workers = \[2, 4\], per_worker = \[64, 64\]/workers = [4, 32], per_worker = [32, 8]/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: 'pit.mainloop' op has schedule = {{.*}}; a tile of 128 x 256 has more accumulators than its threads hold

// RUN: sed -e '/ hopper_schedule/d; s/depth = 32/depth = 8/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: error: 'pit.mainloop' op has schedule = {{.*}}; its depth has to be a multiple of 16

// RUN: sed -e '/ hopper_schedule/d; s/depth = 32/depth = 48/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: error: 'pit.mainloop' op has schedule = {{.*}}; its depth has to divide the tile's 64 along k, or cover them

// RUN: sed -e '/ hopper_schedule/d; s/stages = 2/stages = 5/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: error: 'pit.mainloop' op has schedule = {{.*}}; its stages take 122880 bytes of shared memory; sm_80 has 98304 for them

// RUN: sed -e '/ hopper_schedule/d; s/swizzles/splits = 2, swizzles/; s/^    return/    memref.copy %o, %o : memref<4096x4096xf16> to memref<4096x4096xf16>\n    return/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=SPLIT
// SPLIT: error: 'pit.mainloop' op has schedule = {{.*}} splits = 2, {{.*}}; the kernel is no loop over tiles with one mainloop

// RUN: sed -e '/ hopper_schedule/d; s/shared_bytes = 49152/shared_bytes = 49153/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: 'pit.mainloop' op has schedule = {{.*}}; its shared_bytes have to be 49152

// RUN: sed -e '/ hopper_schedule/d; s/\[2, 4\], per_worker = \[64, 64\]/[4, 2], per_worker = [32, 128]/; s/shared_bytes/wgmma = true, shared_bytes/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: error: 'pit.mainloop' op has schedule = {{.*}}; only tile bodies have wgmma in it{{$}}

// RUN: not pit-opt %s --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; sm_80 has no wgmma, sm_90a has

// RUN: sed -e 's/#pit.hopper_schedule.*>,/7 : i64,/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: {{.*}}attribute 'hopper_schedule' failed to satisfy constraint: schedule of a GPU with wgmma

// RUN: sed -e 's/^    return/    memref.copy %o, %o : memref<4096x4096xf16> to memref<4096x4096xf16>\n    return/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=NEST
// NEST: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; the kernel is no loop over tiles with one mainloop

// RUN: sed -e 's/a = 0, m/a = 1, m/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=A
// A: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; its m and n are less than the tile's 256 x 128

// RUN: sed -e 's/depth = 64/depth = 32/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=LINE
// LINE: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; its depth has to be a multiple of 64 up to 64

// RUN: sed -e 's/n = 256/n = 128/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; its m and n are less than the tile's 128 x 256

// RUN: sed -e 's/n = 256/n = 264/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; each consumer has to compute a multiple of 64 columns, not 264

// RUN: sed -e 's/m = 128, n/m = 256, n/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=SUMS
// SUMS: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; a tile of 128 x 256 has more accumulators than two warpgroups hold

// RUN: sed -e 's/load_a = tma_tile/load_a = cp_async_gather/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=LOADER
// LOADER: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; cp_async_gather does not load consecutive rows, those of operand 0

// RUN: sed -e 's/splits = 2/cluster = 3/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=CLUSTER
// CLUSTER: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; clusters of 3 blocks have no tiles along m for which each loads a part of the other operand

// RUN: sed -e 's/%K = arith.constant 4096 : index/%K = memref.dim %a, %c0 : memref<4096x4096xf16>/; s/memref<4096x4096xf16>/memref<?x?xf16>/g' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; blocks share tiles in splits only if the number of steps is known or tiles of few rows or columns say which ids there are, no index gives chunks, no sum is atomic and there is one accumulator

// RUN: sed -e 's/splits = 2/splits = 65/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; a tile of 64 steps has no 65 splits

// RUN: sed -e 's/splits = 2/column_blocks = 2/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=STRIPS
// STRIPS: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; column blocks are of results that groups of an index add to atomically, in tiles along n{{$}}

// RUN: sed -e 's/stages = 3/stages = 5/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; it takes 262272 bytes of shared memory; a block of sm_90a has 232448

// RUN: sed -e 's/splits = 2/shared_bytes = 1/' %s | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; its shared_bytes have to be 163968

// Of kernels whose rows ids select, and one that fills rows.

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e 's/tma_row_gather/tma_tile/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=IDS
// IDS: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; tma_tile does not load rows that ids select, those of operand 0{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e 's/cp_async_gather/tma_row_gather/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=GATHER
// GATHER: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; tma_row_gather loads a multiple of 4 rows up to 128, the same in all steps, not the 64 of operand 0{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e 's/fill_rows = 512/fill_rows = 500/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=LISTED
// LISTED: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; its fill_rows have to be 512{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e '/pit.launch @pit_kernels::@fill /d' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=LAUNCH
// LAUNCH: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; its fill_rows have to be 0: no launch before it fills its result

// Of kernels with a tile body.

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/workers = \[4, 1\]/workers = [2, 1]/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: 'pit.mainloop' op has schedule = {{.*}}; its warps have 32 rows, its tiles 64{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/workers = \[4, 1\]/workers = [4, 2]/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=ALONG
// ALONG: error: 'pit.mainloop' op has schedule = {{.*}}; a tile body takes tensor cores, and warps along m only{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/tensor_cores = true, workers = \[4, 1\]/workers = [4, 8]/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: error: 'pit.mainloop' op has schedule = {{.*}}; a tile body takes tensor cores, and warps along m only{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/depth = 1,/depth = 16,/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=DEPTH
// DEPTH: error: 'pit.mainloop' op has schedule = {{.*}}; of a tile body depth is 1, so are the swizzles, and a warp has all columns{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/swizzles = \[1, 1\]/swizzles = [1, 2]/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=SWIZZLES
// SWIZZLES: error: 'pit.mainloop' op has schedule = {{.*}}; of a tile body depth is 1, so are the swizzles, and a warp has all columns{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/depth = 1,/splits = 2, depth = 1,/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=BODY
// BODY: error: 'pit.mainloop' op has schedule = {{.*}}; the steps of a tile body are not shared in splits{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/per_worker = \[16, 64\]/per_worker = [16, 32]/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: error: 'pit.mainloop' op has schedule = {{.*}}; of a tile body depth is 1, so are the swizzles, and a warp has all columns{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/stages = 3/stages = 9/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=RING
// RING: error: 'pit.mainloop' op has schedule = {{.*}}; its stages take 155648 bytes of shared memory; sm_80 has 98304 for them{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/shared_bytes = 57344/shared_bytes = 49152/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: error: 'pit.mainloop' op has schedule = {{.*}}; its shared_bytes have to be 57344{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e '/body \[64, 32\]/s/shared_bytes/wgmma = true, shared_bytes/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: 'pit.mainloop' op has schedule = {{.*}}; wgmma takes tiles of 64 rows, and of multiples of 64 columns, of sm_90a; a warp has 16 rows{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e '/body \[64, 64\]/s/per_worker = \[16, 64\]/per_worker = [32, 64]/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=GROUPS
// GROUPS: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; wgmma takes tiles of 64 rows, and of multiples of 64 columns, of sm_90a; a warp has 16 rows{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_80 | sed -e '/body \[64, 64\]/s/shared_bytes/wgmma = true, shared_bytes/' | not pit-opt --convert-pit-to-gpu=chip=sm_80 2>&1 | FileCheck %s --check-prefix=OLDER
// OLDER: error: 'pit.mainloop' op has schedule = {{.*}}; wgmma takes tiles of 64 rows, and of multiples of 64 columns, of sm_90a; a warp has 16 rows{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e '/body \[128, 64\]/s/workers = \[8, 1\]/workers = [16, 1]/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: 'pit.mainloop' op has hopper_schedule = {{.*}}; producers load for up to 12 workers, and it has 16{{$}}

// RUN: pit-opt %S/schedule-kernels.mlir --pit-schedule-kernels=chip=sm_90a | sed -e '/body \[128, 64\]/s/{hopper_schedule = \(#[^>]*>\), schedule = [^}]*}/{schedule = \1}/' | not pit-opt --convert-pit-to-gpu=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: 'pit.mainloop' op has schedule = {{.*}}; warps that only load are those of its hopper_schedule{{$}}

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
          into %o[%i, %j : index, index] {
            hopper_schedule = #pit.hopper_schedule<a = 0, m = 128, n = 256, depth = 64, stages = 3, load_a = tma_tile, load_b = tma_tile, splits = 2>,
            schedule = #pit.portable_schedule<tensor_cores = true, workers = [2, 4], per_worker = [64, 64], depth = 32, stages = 2, swizzles = [1, 1], shared_bytes = 49152>
          } : memref<4096x4096xf16> load {
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
