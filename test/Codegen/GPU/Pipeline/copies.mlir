// RUN: pit-opt %s --convert-pit-gpu-to-nvvm --canonicalize --cse | FileCheck %s

!wide = !pit_gpu.tile<64x128xbf16, swizzle = 128>
!small = !pit_gpu.tile<64x64xbf16, swizzle = 64>
!ring = !pit_gpu.ring<1, [!wide, !small]>
!stage = !pit_gpu.stage<[!wide, !small]>
!rows = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!of_cluster = !pit_gpu.ring<2, [!rows, !wide]>
!stage_of_cluster = !pit_gpu.stage<[!rows, !wide]>
!row = !pit_gpu.tensor_map<1x64xbf16, swizzle = 128>
!box = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>
!added = !pit_gpu.tile<64x64xf32, swizzle = 128>
!ring_added = !pit_gpu.ring<1, [!added]>
!stage_added = !pit_gpu.stage<[!added]>
!rows_added = !pit_gpu.tensor_map<1x16x32xf32, swizzle = 128>
!box_added = !pit_gpu.tensor_map<1x32x32xf32, swizzle = 128>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @loads
  // The descriptor is a parameter behind all others.
  // CHECK-SAME: %[[MAP:[a-z0-9]+]]: !llvm.ptr) kernel
  // CHECK-SAME: tensor_maps = [<argument = 0, box = [1, 32, 64], swizzle = 128>]
  gpu.func @loads(%x: memref<?x?x?xbf16>, %n: i32, %p: index, %r: index, %c: index) kernel {
    %map = pit_gpu.tensor_map %x : memref<?x?x?xbf16> -> !pit_gpu.tensor_map<1x32x64xbf16, swizzle = 128>
    %ring = pit_gpu.ring full 1 empty 4 : !ring
    pit_gpu.roles {
      role "producers" warps 8 registers 40 {
        %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
        // The first warp elects a thread, which announces the bytes.
        // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
        // CHECK-DAG: %[[C32:.*]] = arith.constant 32 : i32
        // CHECK-DAG: %[[C4096:.*]] = arith.constant 4096 : i32
        // CHECK-DAG: %[[C8192:.*]] = arith.constant 8192 : i32
        // CHECK-DAG: %[[C12288:.*]] = arith.constant 12288 : i32
        // CHECK-DAG: %[[C16384:.*]] = arith.constant 16384 : i32
        // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
        // One thread gives the stage on. So one warp waits for it: another one could be left behind.
        // CHECK: %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %[[C1]]
        // CHECK: scf.if %[[FIRST]]
        // CHECK: nvvm.mbarrier.try_wait.parity
        // CHECK: scf.if %[[FIRST]]
        // CHECK-NEXT: %[[ELECTED:.*]] = nvvm.elect.sync
        // CHECK-NEXT: scf.if %[[ELECTED]]
        // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[C16384]]
        pit_gpu.commit %s after tma bytes 16384 : !stage
        // Two boxes of 32 rows for each line of 64 columns; the innermost coordinate comes first.
        // CHECK-DAG: %[[C:.*]] = arith.index_cast %{{.*}} : index to i32
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%[[COL:.*]], %[[ROW:.*]], %[[PLANE:.*]]] :
        // CHECK: %[[ROW_32:.*]] = arith.addi %[[ROW]], %[[C32]]
        // CHECK: arith.addi %{{.*}}, %[[C4096]]
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%[[COL]], %[[ROW_32]], %[[PLANE]]] :
        // CHECK: %[[COL_64:.*]] = arith.addi %[[COL]], %[[C64]]
        // CHECK: arith.addi %{{.*}}, %[[C8192]]
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%[[COL_64]], %[[ROW]], %[[PLANE]]] :
        // CHECK: arith.addi %{{.*}}, %[[C12288]]
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%[[COL_64]], %[[ROW_32]], %[[PLANE]]] :
        // CHECK-NOT: nvvm.cp.async.bulk
        pit_gpu.load %map[%p, %r, %c] into %s[0] : !pit_gpu.tensor_map<1x32x64xbf16, swizzle = 128>, !stage
      }
      role "consumers" warps 4 registers 232 {
        %s = pit_gpu.wait %ring[%n] : !ring -> !stage
        pit_gpu.release %s : !stage
      }
    }
    gpu.return
  }

  // If one thread leads, it elects no other one.
  // CHECK-LABEL: gpu.func @led
  gpu.func @led(%x: memref<?x?xbf16>, %n: i32, %r: index) kernel {
    %map = pit_gpu.tensor_map %x : memref<?x?xbf16> -> !pit_gpu.tensor_map<64x32xbf16, swizzle = 64>
    %ring = pit_gpu.ring full 1 empty 4 : !ring
    pit_gpu.roles {
      role "producers" warps 4 registers 40 {
        %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
        // CHECK: nvvm.elect.sync
        // CHECK-NOT: nvvm.elect.sync
        // CHECK: nvvm.mbarrier.arrive.expect_tx
        // CHECK-NOT: nvvm.elect.sync
        // CHECK: nvvm.cp.async.bulk
        // CHECK-NOT: nvvm.elect.sync
        // CHECK: nvvm.setmaxregister
        pit_gpu.leader {
          pit_gpu.commit %s after tma bytes 8192 : !stage
          pit_gpu.load %map[%r, %r] into %s[1] : !pit_gpu.tensor_map<64x32xbf16, swizzle = 64>, !stage
        }
      }
      role "consumers" warps 4 registers 232 {
        %s = pit_gpu.wait %ring[%n] : !ring -> !stage
        pit_gpu.release %s : !stage
      }
    }
    gpu.return
  }

  // Each warp adds boxes of its own, here two of four, and waits until they have been read.
  // CHECK-LABEL: gpu.func @adds
  // CHECK-SAME: %[[MAP:[a-z0-9]+]]: !llvm.ptr) kernel
  gpu.func @adds(%x: memref<?x?x?xf32>, %n: i32, %p: index, %r: index, %c: index) kernel {
    %map = pit_gpu.tensor_map %x : memref<?x?x?xf32> -> !box_added
    %ring = pit_gpu.ring full 128 empty 4 : !ring_added
    pit_gpu.roles {
      role "adders" warps 4 registers 40 {
        // CHECK: nvvm.mbarrier.try_wait.parity
        // CHECK: nvvm.fence.proxy
        %s = pit_gpu.wait %ring[%n] : !ring_added -> !stage_added
        // CHECK: %[[ELECTED:.*]] = nvvm.elect.sync
        // CHECK-NEXT: scf.if %[[ELECTED]]
        // CHECK: %[[BLOCK:.*]] = arith.divui %[[WARP:.*]], %c2_i32
        // CHECK: %[[BOX:.*]] = arith.remui %[[WARP]], %c2_i32
        // CHECK: nvvm.cp.async.bulk.tensor.reduce %[[MAP]], %{{.*}}, box[%{{.*}}, %{{.*}}, %{{.*}}] {redKind = #nvvm.tma_redux_kind<add>}
        // CHECK-NOT: nvvm.cp.async.bulk.tensor.reduce
        // CHECK: nvvm.cp.async.bulk.commit.group
        // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
        // CHECK: nvvm.bar.warp.sync
        pit_gpu.add %s[0] to %map[%p, %r, %c] : !stage_added, !box_added
        pit_gpu.release %s : !stage_added
      }
      role "writers" warps 4 registers 232 {
        %s = pit_gpu.acquire %ring[%n] : !ring_added -> !stage_added
        %t = pit_gpu.tile %s[0] : !stage_added -> !added
        %zero = arith.constant 0.0 : f32
        %f = pit_gpu.splat %zero : f32 -> !pit_gpu.fragment<64x64xf32>
        pit_gpu.local_store %f into %t : !pit_gpu.fragment<64x64xf32>, !added
        pit_gpu.commit %s after writes : !stage_added
      }
    }
    gpu.return
  }

  // Each warp adds its own 16 rows when its lanes have written them, by one box for each 32 columns, and waits
  // before it writes them again.
  // CHECK-LABEL: gpu.func @adds_rows
  gpu.func @adds_rows(%x: memref<?x?x?xf32>, %p: index, %r: index, %c: index) kernel {
    %map = pit_gpu.tensor_map %x : memref<?x?x?xf32> -> !rows_added
    %place = pit_gpu.shared 16384 : i32
    pit_gpu.roles {
      role "workers" warps 4 registers 128 {
        %t = pit_gpu.tile_at %place : !added
        %zero = arith.constant 0.0 : f32
        %f = pit_gpu.splat %zero : f32 -> !pit_gpu.fragment<64x64xf32>
        // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
        // CHECK-NEXT: nvvm.bar.warp.sync
        pit_gpu.add_wait
        // CHECK: llvm.store
        pit_gpu.local_store %f into %t : !pit_gpu.fragment<64x64xf32>, !added
        // CHECK: nvvm.fence.proxy
        // CHECK-NEXT: nvvm.bar.warp.sync
        // CHECK: %[[ELECTED:.*]] = nvvm.elect.sync
        // CHECK-NEXT: scf.if %[[ELECTED]]
        // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.reduce
        // CHECK: nvvm.cp.async.bulk.commit.group
        // CHECK-NOT: nvvm.cp.async.bulk.wait_group
        // CHECK: gpu.return
        pit_gpu.add_rows %t to %map[%p, %r, %c] : !added, !rows_added
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @gathers
  gpu.func @gathers(%x: memref<?x?xbf16>, %ids: memref<?xi32>, %n: i32, %r: index, %c: index) kernel {
    %ring = pit_gpu.ring full 384 empty 4 : !ring
    pit_gpu.roles {
      role "producers" warps 12 registers 40 {
        // 512 chunks by 384 threads: some of them copy a second one.
        // CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
        // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
        // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
        // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
        // CHECK-DAG: %[[C128:.*]] = arith.constant 128 : i32
        // CHECK-DAG: %[[C384:.*]] = arith.constant 384 : i32
        // CHECK-DAG: %[[NONE:.*]] = arith.constant -1 : index
        // CHECK: nvvm.mbarrier.try_wait.parity
        %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
        // CHECK: %[[ROW:.*]] = arith.divui %[[CHUNK:.*]], %[[C8]]
        // CHECK: %[[IN_ROW:.*]] = arith.remui %[[CHUNK]], %[[C8]]
        // CHECK: scf.if %{{.*}} -> (index)
        // CHECK: memref.load
        // CHECK: scf.yield %[[NONE]]
        // Lines of 64 bytes: the swizzle goes by the number of the 128 bytes.
        // CHECK: %[[AT:.*]] = arith.muli %[[IN_ROW]], %[[C16]] : i32
        // CHECK: arith.divui %[[AT]], %[[C64]]
        // CHECK: %[[BYTES:.*]] = arith.muli %[[ROW]], %[[C64]]
        // CHECK: %[[LINE:.*]] = arith.divui %[[BYTES]], %[[C128]]
        // CHECK: %[[NUMBER:.*]] = arith.remui %[[LINE]], %[[C4]]
        // CHECK: %[[IN_LINE:.*]] = arith.remui %[[AT]], %[[C64]]
        // CHECK: %[[BITS:.*]] = arith.muli %[[NUMBER]], %[[C16]]
        // CHECK: arith.xori %[[IN_LINE]], %[[BITS]]
        // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}}
        // CHECK: %[[SOME:.*]] = arith.cmpi slt, %{{.*}}, %[[C128]]
        // CHECK: scf.if %[[SOME]]
        // CHECK: nvvm.cp.async.shared.global
        // CHECK-NOT: nvvm.cp.async.shared.global
        pit_gpu.gather %x rows %ids[%r] cols %c into %s[1] : memref<?x?xbf16>, memref<?xi32>, !stage
        // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true}
        pit_gpu.commit %s after copies : !stage
      }
      role "consumers" warps 4 registers 232 {
        %s = pit_gpu.wait %ring[%n] : !ring -> !stage
        pit_gpu.release %s : !stage
      }
    }
    gpu.return
  }

  // A piece of each thread, and one 8 rows and a line further: its place is a constant away.
  // CHECK-LABEL: gpu.func @pieces
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %{{.*}}: i32, %[[ROW:.*]]: i32, %[[COL:.*]]: i32, %[[IS:.*]]: i1)
  gpu.func @pieces(%p: !llvm.ptr<1>, %n: i32, %row: i32, %col: i32, %is: i1) kernel {
    %ring = pit_gpu.ring full 256 empty 4 : !ring
    pit_gpu.roles {
      role "producers" warps 4 registers 40 {
        %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
        // CHECK: nvvm.mbarrier.try_wait.parity
        // CHECK: %[[BYTE:.*]] = arith.muli %[[COL]], %c2_i32 : i32
        // CHECK: arith.xori
        // CHECK-NEXT: arith.addi
        // CHECK-NEXT: arith.addi
        // CHECK-NEXT: %[[FIRST:.*]] = arith.addi
        // CHECK: %[[SIZE:.*]] = arith.select %[[IS]], %{{.*}}, %{{.*}} : i32
        // CHECK: %[[TO:.*]] = llvm.inttoptr %[[FIRST]] : i32 to !llvm.ptr<3>
        // CHECK: nvvm.cp.async.shared.global %[[TO]], %[[P]], 16, cache = cg, %[[SIZE]]
        // CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %c4608_i32
        // CHECK: %[[NEXT:.*]] = llvm.inttoptr %[[SECOND]] : i32 to !llvm.ptr<3>
        // CHECK: nvvm.cp.async.shared.global %[[NEXT]], %[[P]], 4, cache = ca :
        pit_gpu.copy %p if %is into %s[1] at [%row, %col] : !llvm.ptr<1>, !stage
        pit_gpu.copy %p into %s[1] at [%row, %col] plus [8, 32] bytes 4 : !llvm.ptr<1>, !stage
        pit_gpu.commit %s after copies : !stage
        // CHECK: llvm.store %{{.*}}, %[[TO]] : i32, !llvm.ptr<3>
        %t = pit_gpu.tile %s[1] : !stage -> !small
        %at = pit_gpu.address %t[%row, %col] : !small
        %to = llvm.inttoptr %at : i32 to !llvm.ptr<3>
        llvm.store %n, %to : i32, !llvm.ptr<3>
        pit_gpu.commit %s after writes : !stage
      }
      role "consumers" warps 4 registers 232 {
        %s = pit_gpu.wait %ring[%n] : !ring -> !stage
        pit_gpu.release %s : !stage
      }
    }
    gpu.return
  }

  // Words are copied to a place as they are; a thread waits for groups of its copies itself.
  // CHECK-LABEL: gpu.func @words
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[PLACE:.*]]: i32, %[[IS:.*]]: i1)
  gpu.func @words(%p: !llvm.ptr<1>, %place: i32, %is: i1) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        // CHECK: %[[BYTES:.*]] = arith.select %[[IS]], %c4_i32, %c0_i32 : i32
        // CHECK: %[[TO:.*]] = llvm.inttoptr %[[PLACE]] : i32 to !llvm.ptr<3>
        // CHECK: nvvm.cp.async.shared.global %[[TO]], %[[P]], 4, cache = ca, %[[BYTES]]
        // CHECK-NEXT: nvvm.cp.async.commit.group
        // CHECK-NEXT: nvvm.cp.async.wait.group 2
        // CHECK-NEXT: nvvm.bar.warp.sync %c-1_i32
        pit_gpu.copy %p if %is into %place bytes 4 : !llvm.ptr<1>, i32
        pit_gpu.copy_group
        pit_gpu.copy_wait pending 2
        pit_gpu.sync of warp
      }
    }
    gpu.return
  }

  // In a kernel without roles, too.
  // CHECK-LABEL: gpu.func @limited
  gpu.func @limited(%p: !llvm.ptr<1>, %left: i32, %place: i32) kernel {
    // CHECK: %[[TO:.*]] = llvm.inttoptr %arg2 : i32 to !llvm.ptr<3>
    // CHECK-NEXT: nvvm.cp.async.shared.global %[[TO]], %arg0, 16, cache = cg, %arg1
    // CHECK-NEXT: gpu.return
    pit_gpu.copy %p limit %left into %place : !llvm.ptr<1>, i32
    gpu.return
  }

  // Two neighbours go at once where they lie at a multiple of their size; a column goes by one lane
  // of each row.
  // CHECK-LABEL: gpu.func @stores
  gpu.func @stores(%y: memref<?x?xbf16>, %z: memref<?x?xf32>, %x: bf16, %v: f32, %r: index, %c: index) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        %f = pit_gpu.splat %x : bf16 -> !pit_gpu.fragment<64x8xbf16>
        // CHECK-COUNT-2: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<2xbf16>, !llvm.ptr<1>
        // CHECK-NOT: vector<2x
        pit_gpu.store %f to %y[%r, %c] : !pit_gpu.fragment<64x8xbf16>, memref<?x?xbf16>
        %column = pit_gpu.splat %v : f32 -> !pit_gpu.fragment<64x1xf32>
        // CHECK-COUNT-2: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
        // CHECK-NOT: llvm.store
        // CHECK: gpu.return
        pit_gpu.store %column to %z[%r, %c] : !pit_gpu.fragment<64x1xf32>, memref<?x?xf32>
      }
    }
    gpu.return
  }

  // Blocks of a cluster load half of a tile's lines each, for both, or a whole tile alone. Rows
  // come one by one, each warp's own. Barriers of all blocks are told that a stage is empty.
  // CHECK-LABEL: gpu.func @cluster
  // CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
  // CHECK-SAME: cluster = 2
  // CHECK-SAME: tensor_maps = [<argument = 0, box = [1, 64], swizzle = 128, along_k = 1>, <argument = 1, box = [64, 64], swizzle = 128, order = [1, 0]>]
  gpu.func @cluster(%x: memref<?x?xbf16>, %w: memref<?x?xbf16>, %n: i32, %m: index, %alone: i1) kernel {
    %of_x = pit_gpu.tensor_map %x {along_k = 1 : i64} : memref<?x?xbf16> -> !row
    %of_w = pit_gpu.tensor_map %w {order = array<i64: 1, 0>} : memref<?x?xbf16> -> !box
    // CHECK: nvvm.barrier0
    // CHECK-NEXT: nvvm.cluster.arrive
    // CHECK-NEXT: nvvm.cluster.wait
    %ring = pit_gpu.ring full 4 empty 2 cluster 2 : !of_cluster
    pit_gpu.roles {
      role "producers" warps 4 registers 40 {
        %warp = pit_gpu.warp : i32
        // CHECK: nvvm.mbarrier.try_wait.parity
        %s = pit_gpu.acquire %ring[%n] : !of_cluster -> !stage_of_cluster
        // CHECK-NEXT: %[[LEADS:.*]] = nvvm.elect.sync
        // CHECK-NEXT: scf.if %[[LEADS]]
        pit_gpu.leader of warps {
          // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %arg2
          pit_gpu.commit %s after tma announcing %n : !stage_of_cluster
          // CHECK: %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %c1_i32
          // CHECK-NEXT: scf.if %[[FIRST]]
          // CHECK: scf.if %arg4
          // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
          // CHECK: } else {
          // CHECK: %[[RANK:.*]] = arith.remui %{{.*}}, %c2_i32
          // CHECK: arith.muli %[[RANK]], %c8192_i32
          // CHECK: arith.muli %[[RANK]], %c64_i32
          // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %c3_i16
          // CHECK-NOT: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask
          pit_gpu.load %of_w[%m, %m] into %s[1] multicast 2 unless %alone : !box, !stage_of_cluster
          // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%{{.*}}, %arg2]
          pit_gpu.load_rows %of_x[%m, %m] dim 0 rows (%n, %n) into %s[0] from %warp : !row, !stage_of_cluster
        }
      }
      role "consumers" warps 4 registers 232 {
        %s = pit_gpu.wait %ring[%n] : !of_cluster -> !stage_of_cluster
        // CHECK: %[[SPEAKS:.*]] = arith.cmpi slt, %{{.*}}, %c2_i32
        // CHECK: scf.if %[[SPEAKS]]
        // CHECK: nvvm.mapa
        // CHECK: nvvm.mbarrier.arrive {{.*}}relaxed = true, scope = #nvvm.mem_scope<cluster>
        pit_gpu.release %s by warpgroups cluster 2 : !stage_of_cluster
      }
    }
    // A block stays until nobody uses its barriers.
    // CHECK: nvvm.cluster.arrive
    // CHECK-NEXT: nvvm.cluster.wait
    // CHECK-NEXT: gpu.return
    gpu.return
  }
}
