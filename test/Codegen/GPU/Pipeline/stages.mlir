// RUN: pit-opt %s --convert-pit-gpu-to-nvvm --canonicalize --cse | FileCheck %s

!tile = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!half = !pit_gpu.tile<64x64xbf16, swizzle = 128, pitch = 16384>
!b = !pit_gpu.tile<64x128xbf16, swizzle = 128>
!own_b = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<3, [!tile, !b]>
!stage = !pit_gpu.stage<[!tile, !b]>
!sums = !pit_gpu.accumulator<64x64xf32>
!row_tile = !pit_gpu.row_tile<128x32xf16>
!rows = !pit_gpu.ring<3, [!row_tile, !row_tile], block>
!rows_stage = !pit_gpu.stage<[!row_tile, !row_tile], block>
!lines = !pit_gpu.ring<2, [!own_b], block>
!lines_stage = !pit_gpu.stage<[!own_b], block>

gpu.module @kernels {
  // Three stages of 16 KiB and 16 KiB, then three barriers of full stages and three of empty ones.
  // CHECK: llvm.mlir.global external @pit_gpu_shared() {addr_space = 3 : i32, alignment = 1024 : i64}
  // CHECK-LABEL: gpu.func @stages
  // CHECK-SAME: shared_bytes = 98352>
  gpu.func @stages(%n: i32, %c: i1, %row: i32, %col: i32, %out: memref<?x?xf32>, %i: index) kernel {
    // CHECK-DAG: %[[BARRIERS:.*]] = arith.constant 98304 : i32
    // CHECK-DAG: %[[EMPTY:.*]] = arith.constant 98328 : i32
    // CHECK-DAG: %[[FULL_1:.*]] = arith.constant 98312 : i32
    // CHECK-DAG: %[[EMPTY_1:.*]] = arith.constant 98336 : i32
    // CHECK-DAG: %[[C128:.*]] = arith.constant 128 : i32
    // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
    // CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
    // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
    // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
    // CHECK-DAG: %[[C24:.*]] = arith.constant 24 : i32
    // CHECK-DAG: %[[STAGE:.*]] = arith.constant 32768 : i32
    // CHECK-DAG: %[[TILE:.*]] = arith.constant 16384 : i32
    // CHECK-DAG: %[[BLOCK_B:.*]] = arith.constant 8192 : i32
    // CHECK-DAG: %[[LINE:.*]] = arith.constant 64 : i32
    // CHECK: %[[SHARED:.*]] = llvm.ptrtoint
    // CHECK: scf.if
    // CHECK: %[[FIRST:.*]] = arith.addi %[[SHARED]], %[[BARRIERS]] : i32
    // CHECK: %[[P:.*]] = llvm.inttoptr %[[FIRST]]
    // CHECK: nvvm.mbarrier.init %[[P]], %[[C128]]
    // CHECK: arith.addi %[[SHARED]], %[[EMPTY]]
    // CHECK: nvvm.mbarrier.init %{{.*}}, %[[C4]]
    // CHECK: arith.addi %[[SHARED]], %[[FULL_1]]
    // CHECK: nvvm.mbarrier.init %{{.*}}, %[[C128]]
    // CHECK: arith.addi %[[SHARED]], %[[EMPTY_1]]
    // CHECK: nvvm.mbarrier.init %{{.*}}, %[[C4]]
    // CHECK-COUNT-2: nvvm.mbarrier.init
    // CHECK-NOT: nvvm.mbarrier.init
    // CHECK: nvvm.fence.mbarrier.init
    // CHECK: nvvm.barrier0
    // CHECK: %[[FULL:.*]] = arith.addi %[[SHARED]], %[[BARRIERS]] : i32
    %ring = pit_gpu.ring full 128 empty 4 : !ring
    pit_gpu.roles {
      role "producers" warps 4 registers 40 {
        // The phase before the first one counts as over.
        // CHECK: %[[USE:.*]] = arith.remui %{{.*}}, %[[C3]]
        // CHECK: %[[AT:.*]] = arith.muli %[[USE]], %[[C8]]
        // CHECK: %[[OWN_FULL:.*]] = arith.addi %[[FULL]], %[[AT]]
        // CHECK: %[[OWN_EMPTY:.*]] = arith.addi %[[OWN_FULL]], %[[C24]]
        // CHECK: %[[ROUND:.*]] = arith.divui %{{.*}}, %[[C3]]
        // CHECK: %[[ODD:.*]] = arith.andi %[[ROUND]], %[[C1]]
        // CHECK: %[[PARITY:.*]] = arith.xori %[[ODD]], %[[C1]]
        // CHECK: %[[P:.*]] = llvm.inttoptr %[[OWN_EMPTY]]
        // CHECK: nvvm.mbarrier.try_wait.parity %[[P]], %[[PARITY]]
        %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
        // CHECK: llvm.store
        %t = pit_gpu.tile %s[0] : !stage -> !tile
        %at = pit_gpu.address %t : !tile
        %p = llvm.inttoptr %at : i32 to !llvm.ptr<3>
        llvm.store %n, %p : i32, !llvm.ptr<3>
        // CHECK: %[[P:.*]] = llvm.inttoptr %[[OWN_FULL]]
        // CHECK: nvvm.mbarrier.arrive %[[P]]
        pit_gpu.commit %s after writes : !stage
      }
      role "consumers" warps 4 registers 232 {
        %zero = arith.constant 0.0 : f32
        %zeros = pit_gpu.splat %zero : f32 -> !pit_gpu.fragment<64x64xf32>
        %acc = pit_gpu.accumulate %zeros : !pit_gpu.fragment<64x64xf32> -> !sums
        // CHECK: %[[USE:.*]] = arith.remui %{{.*}}, %[[C3]]
        // CHECK: %[[BYTES:.*]] = arith.muli %[[USE]], %[[STAGE]]
        // CHECK: %[[PLACE:.*]] = arith.addi %[[SHARED]], %[[BYTES]]
        // CHECK: %[[OWN_EMPTY:.*]] = arith.addi %{{.*}}, %[[C24]]
        // CHECK: %[[ROUND:.*]] = arith.divui %{{.*}}, %[[C3]]
        // CHECK: %[[PARITY:.*]] = arith.andi %[[ROUND]], %[[C1]]
        // CHECK: nvvm.mbarrier.try_wait.parity %{{.*}}, %[[PARITY]]
        // Threads wrote the tiles, and wgmma reads them.
        // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
        %s = pit_gpu.wait %ring[%n] : !ring -> !stage
        %a = pit_gpu.tile %s[0] : !stage -> !tile
        %own = pit_gpu.subtile %a[%row, %col] : !tile -> !half
        // Rows of 128 bytes, and blocks of the whole tile's rows.
        // CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %[[C128]]
        // CHECK: %[[BLOCKS:.*]] = arith.divui %{{.*}}, %[[LINE]]
        // CHECK: %[[COLS:.*]] = arith.muli %[[BLOCKS]], %[[TILE]]
        // CHECK: %[[PART:.*]] = arith.addi %[[ROWS]], %[[COLS]]
        // CHECK: arith.addi %[[PLACE]], %[[PART]]
        // CHECK: %[[SECOND:.*]] = arith.addi %[[PLACE]], %[[TILE]]
        // CHECK: %[[COLS:.*]] = arith.muli %[[BLOCKS]], %[[BLOCK_B]]
        // CHECK: %[[PART:.*]] = arith.addi %[[ROWS]], %[[COLS]]
        // CHECK: arith.addi %[[SECOND]], %[[PART]]
        %b = pit_gpu.tile %s[1] : !stage -> !b
        %own_b = pit_gpu.subtile %b[%row, %col] : !b -> !own_b
        %r = pit_gpu.mma %own, %own_b, %acc : !half, !own_b, !sums
        %f = pit_gpu.mma_wait pending 0 of %r : !sums -> !pit_gpu.fragment<64x64xf32>
        // The first lane of each warp arrives, if the condition holds.
        // CHECK: %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %[[C1]]
        // CHECK: %[[SPEAKS:.*]] = arith.andi %[[FIRST]], %{{.*}} : i1
        // CHECK: scf.if %[[SPEAKS]]
        // CHECK-NEXT: %[[P:.*]] = llvm.inttoptr %[[OWN_EMPTY]]
        // CHECK-NEXT: nvvm.mbarrier.arrive %[[P]]
        pit_gpu.release %s if %c : !stage
        pit_gpu.store %f to %out[%i, %i] : !pit_gpu.fragment<64x64xf32>, memref<?x?xf32>
      }
    }
    gpu.return
  }

  // A stage that a loop carries is committed one iteration later: the fence is there, too.
  // CHECK-LABEL: gpu.func @carried
  gpu.func @carried(%n: index, %first: i32, %none: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ring = pit_gpu.ring full 128 empty 4 : !ring
    pit_gpu.roles {
      role "producers" warps 4 registers 40 {
        %s0 = pit_gpu.acquire %ring[%first] : !ring -> !stage
        %last = scf.for %k = %c1 to %n step %c1 iter_args(%before = %s0) -> !stage {
          %number = arith.index_cast %k : index to i32
          %s = pit_gpu.acquire %ring[%number] : !ring -> !stage
          pit_gpu.commit %before after copies : !stage
          scf.yield %s : !stage
        }
        pit_gpu.commit %last after copies : !stage
      }
      role "consumers" warps 4 registers 232 {
        // CHECK-COUNT-2: nvvm.cp.async.mbarrier.arrive
        // CHECK: nvvm.fence.proxy
        %s = pit_gpu.wait %ring[%first] : !ring -> !stage
        %t = pit_gpu.tile %s[0] : !stage -> !tile
        %at = pit_gpu.address %t : !tile
        pit_gpu.release %s : !stage
      }
    }
    gpu.return
  }

  // A ring that has its places, barriers first, and one behind it.
  // CHECK-LABEL: gpu.func @places
  // CHECK-SAME: shared_bytes = 132144>
  gpu.func @places() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %placed = pit_gpu.ring full 1 empty 4 at 1024 barriers 0 : !pit_gpu.ring<1, [!tile, !b]>
    %ring = pit_gpu.ring full 1 empty 4 : !pit_gpu.ring<3, [!tile, !b]>
    gpu.return
  }

  // A ring whose stages nobody releases has no barriers of empty ones, and nobody waits for these.
  // What has no place yet comes behind all rings, at a multiple of 128 bytes.
  // CHECK-LABEL: gpu.func @never_released
  // CHECK-SAME: shared_bytes = 228>
  gpu.func @never_released(%n: i32, %c: i1) kernel {
    // CHECK: nvvm.mbarrier.init
    // CHECK-NOT: nvvm.mbarrier.init
    // CHECK: nvvm.fence.mbarrier.init
    %ring = pit_gpu.ring full 128 empty 0 : !pit_gpu.ring<1, []>
    // CHECK: %[[BESIDE:.*]] = arith.addi %{{.*}}, %c128_i32
    %beside = pit_gpu.shared 100 : i32
    pit_gpu.roles {
      role "writers" warps 4 registers 40 {
        // CHECK-NOT: nvvm.mbarrier.try_wait
        // CHECK: llvm.inttoptr %[[BESIDE]]
        // CHECK: scf.if %arg1
        // CHECK: nvvm.mbarrier.arrive
        %s = pit_gpu.acquire %ring[%n] : !pit_gpu.ring<1, []> -> !pit_gpu.stage<[]>
        %p = llvm.inttoptr %beside : i32 to !llvm.ptr<3>
        llvm.store %n, %p : i32, !llvm.ptr<3>
        pit_gpu.commit %s after writes if %c : !pit_gpu.stage<[]>
      }
      role "readers" warps 4 registers 40 {
        // CHECK: nvvm.mbarrier.try_wait
        // CHECK-NOT: nvvm.fence.proxy
        %s = pit_gpu.wait %ring[%n] : !pit_gpu.ring<1, []> -> !pit_gpu.stage<[]>
      }
    }
    gpu.return
  }

  // All threads of the block fill stages and read them. A stage's number is carried, and no
  // memory is taken for barriers.
  // CHECK-LABEL: gpu.func @block
  // CHECK-NOT: mbarrier
  gpu.func @block(%place: i32, %n: i32, %ahead: i32, %next: i32, %from: !llvm.ptr<1>) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK-DAG: %[[BYTES:.*]] = arith.constant 16384 : i32
    // CHECK-DAG: %[[SECOND:.*]] = arith.constant 8192 : i32
    // CHECK: nvvm.cp.async.commit.group
    // CHECK-NEXT: nvvm.cp.async.commit.group
    %ring = pit_gpu.block_ring %place : !rows
    %s0 = pit_gpu.acquire %ring[%c0] : !rows -> !rows_stage
    pit_gpu.commit %s0 after copies : !rows_stage
    %s1 = pit_gpu.acquire %ring[%c1] : !rows -> !rows_stage
    pit_gpu.commit %s1 after copies : !rows_stage
    // CHECK: nvvm.cp.async.wait.group 1
    // CHECK-NEXT: nvvm.barrier0
    %first = pit_gpu.wait %ring[%c0] : !rows -> !rows_stage
    // CHECK: scf.for {{.*}} iter_args(%[[NUMBER:.*]] = %c0_i32) -> (i32)
    %last = scf.for %k = %c0 to %n step %c1 iter_args(%stage = %first) -> !rows_stage : i32 {
      // CHECK: %[[AT:.*]] = arith.muli %arg2, %[[BYTES]]
      // CHECK: %[[STAGE:.*]] = arith.addi %arg0, %[[AT]]
      // CHECK: %[[TILE:.*]] = arith.addi %[[STAGE]], %[[SECOND]]
      // CHECK: llvm.inttoptr %[[TILE]]
      // CHECK: nvvm.cp.async.shared.global
      // CHECK: nvvm.cp.async.commit.group
      %s = pit_gpu.acquire %ring[%ahead] : !rows -> !rows_stage
      %t = pit_gpu.tile %s[1] : !rows_stage -> !row_tile
      %at = pit_gpu.address %t : !row_tile
      pit_gpu.copy %from into %at : !llvm.ptr<1>, i32
      pit_gpu.commit %s after copies : !rows_stage
      // CHECK: %[[AT:.*]] = arith.muli %[[NUMBER]], %[[BYTES]]
      // CHECK: %[[STAGE:.*]] = arith.addi %arg0, %[[AT]]
      // CHECK: nvvm.ldmatrix %{{.*}}
      %own = pit_gpu.tile %stage[0] : !rows_stage -> !row_tile
      %row = pit_gpu.address %own : !row_tile
      %words:4 = pit_gpu.load_matrices %row
      pit_gpu.release %stage : !rows_stage
      // CHECK-NEXT: nvvm.cp.async.wait.group 1
      // CHECK-NEXT: nvvm.barrier0
      %full = pit_gpu.wait %ring[%next] : !rows -> !rows_stage
      // CHECK-NEXT: scf.yield %arg3
      scf.yield %full : !rows_stage
    }
    pit_gpu.release %last : !rows_stage
    gpu.return
  }

  // wgmma reads lines by another proxy than the one by which threads wrote them.
  // CHECK-LABEL: gpu.func @block_of_lines
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK-NEXT: nvvm.fence.proxy
  // CHECK-NEXT: nvvm.barrier0
  gpu.func @block_of_lines(%place: i32, %zero: f32) kernel {
    %c0 = arith.constant 0 : i32
    %ring = pit_gpu.block_ring %place : !lines
    %s = pit_gpu.acquire %ring[%c0] : !lines -> !lines_stage
    pit_gpu.commit %s after copies : !lines_stage
    %full = pit_gpu.wait %ring[%c0] : !lines -> !lines_stage
    %t = pit_gpu.tile %full[0] : !lines_stage -> !own_b
    %f = pit_gpu.splat %zero : f32 -> !pit_gpu.fragment<64x64xf32>
    %acc = pit_gpu.accumulate %f : !pit_gpu.fragment<64x64xf32> -> !sums
    %r = pit_gpu.mma %t, %t, %acc : !own_b, !own_b, !sums
    %done = pit_gpu.mma_wait pending 0 of %r : !sums -> !pit_gpu.fragment<64x64xf32>
    pit_gpu.release %full : !lines_stage
    gpu.return
  }
}
