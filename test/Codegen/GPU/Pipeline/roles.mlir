// RUN: pit-opt %s --allow-unregistered-dialect --convert-pit-gpu-to-nvvm --canonicalize --cse | FileCheck %s

gpu.module @kernels {
  // The number of a warpgroup decides; the last role has a condition, too. 65536 registers for 640 threads are 102, so 96 of them at first.
  // CHECK-LABEL: gpu.func @roles
  // CHECK-SAME: known_block_size = array<i32: 640, 1, 1>
  // CHECK-SAME: nvvm.minctasm = 1 : i32
  // CHECK-SAME: pit.launch_info = #pit.launch_info<threads = 640>
  gpu.func @roles() kernel {
    // CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
    // CHECK: %[[OF_BLOCK:.*]] = arith.divui %[[WARP]], %c4_i32
    // CHECK: %[[IS_FIRST:.*]] = arith.cmpi slt, %[[OF_BLOCK]], %c1_i32
    // CHECK: scf.if %[[IS_FIRST]]
    // CHECK-NEXT: nvvm.setmaxregister decrease 24
    // CHECK-NEXT: "test.first"() : () -> ()
    // CHECK-NEXT: } else {
    // CHECK: %[[IS_SECOND:.*]] = arith.cmpi slt, %[[OF_BLOCK]], %c4_i32
    // CHECK: scf.if %[[IS_SECOND]]
    // CHECK-NEXT: nvvm.setmaxregister increase 128
    // CHECK: %[[GROUP:.*]] = arith.subi %[[OF_BLOCK]], %c1_i32
    // CHECK: "test.second"(%[[GROUP]])
    // CHECK-NEXT: } else {
    // CHECK: %[[IS_THIRD:.*]] = arith.cmpi slt, %[[OF_BLOCK]], %c5_i32
    // CHECK: scf.if %[[IS_THIRD]]
    // CHECK-NOT: nvvm.setmaxregister
    // CHECK: "test.third"
    pit_gpu.roles {
      role "copy" warps 4 registers 24 {
        "test.first"() : () -> ()
      }
      role "multiply" warps 12 registers 128 {
        %g = pit_gpu.warpgroup : i32
        "test.second"(%g) : (i32) -> ()
      }
      role "store" warps 4 registers 96 {
        "test.third"() : () -> ()
      }
    }
    gpu.return
  }

  // A barrier for each of three warpgroups, behind that of the block: 1, 2 and 3.
  // The last one gives the first one its first turn, and the first one takes the one after the last.
  // CHECK-LABEL: gpu.func @turns
  gpu.func @turns(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    pit_gpu.roles {
      role "copy" warps 4 registers 24 {
      }
      role "multiply" warps 12 registers 152 {
        // CHECK: %[[OF_BLOCK:.*]] = arith.divui %{{.*}}, %c4_i32
        // CHECK: %[[GROUP:.*]] = arith.subi %[[OF_BLOCK]], %c1_i32
        // CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[GROUP]], %c2_i32
        // CHECK: scf.if %[[IS_LAST]]
        // CHECK: nvvm.barrier.arrive id = %{{.*}} number_of_threads = %c256_i32
        // CHECK: scf.for
        // CHECK: nvvm.barrier id = %[[OF_BLOCK]] number_of_threads = %c256_i32
        // CHECK: %[[X:.*]] = "test.turn"() : () -> f32
        // CHECK: %[[NEXT:.*]] = arith.select %[[IS_LAST]], %c0_i32, %[[OF_BLOCK]]
        // CHECK: %[[BARRIER:.*]] = arith.addi %[[NEXT]], %c1_i32
        // CHECK: nvvm.barrier.arrive id = %[[BARRIER]] number_of_threads = %c256_i32
        // CHECK: "test.use"(%[[X]])
        scf.for %i = %c0 to %n step %c1 {
          %x = pit_gpu.hand_over -> f32 {
            %y = "test.turn"() : () -> f32
            pit_gpu.yield %y : f32
          }
          "test.use"(%x) : (f32) -> ()
        }
        // CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[GROUP]], %c0_i32
        // CHECK: scf.if %[[IS_FIRST]]
        // CHECK: nvvm.barrier id =
      }
    }
    gpu.return
  }

  // One warpgroup waits for nobody.
  // CHECK-LABEL: gpu.func @one_hand_over
  // CHECK-NOT: nvvm.barrier
  // CHECK: gpu.return
  gpu.func @one_hand_over() kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        pit_gpu.hand_over {
          "test.turn"() : () -> ()
        }
      }
    }
    gpu.return
  }

  // No two of these have the same barrier: a role, each warpgroup of the next one, and its turns.
  // CHECK-LABEL: gpu.func @syncs
  gpu.func @syncs() kernel {
    pit_gpu.roles {
      role "copy" warps 4 registers 56 {
        // CHECK: "test.copy"() : () -> ()
        // CHECK: nvvm.barrier id = %c1_i32 number_of_threads = %c128_i32
        "test.copy"() : () -> ()
        pit_gpu.sync of role
      }
      role "multiply" warps 8 registers 224 {
        // Turns have 2 and 3, warpgroups 4 and 5, the role 6.
        // CHECK: %[[GROUP:.*]] = arith.subi %[[OF_BLOCK:.*]], %c1_i32
        // CHECK: %[[TURN:.*]] = arith.addi %[[OF_BLOCK]], %c1_i32
        // CHECK: nvvm.barrier id = %[[TURN]] number_of_threads = %c256_i32
        // CHECK: "test.turn"() : () -> ()
        // CHECK: %[[OWN:.*]] = arith.addi %[[OF_BLOCK]], %c3_i32
        // CHECK: nvvm.barrier id = %[[OWN]] number_of_threads = %c128_i32
        // CHECK: nvvm.barrier.arrive id =
        // CHECK: nvvm.barrier id = %c6_i32 number_of_threads = %c256_i32
        pit_gpu.hand_over {
          "test.turn"() : () -> ()
          pit_gpu.sync of warpgroup
        }
        pit_gpu.sync of role
      }
    }
    gpu.return
  }

  // Block b of B takes tiles b, b + B and so on, counted in bands of 8 rows of tiles.
  // CHECK-LABEL: gpu.func @tiles
  // CHECK-SAME: (%[[ROWS:.*]]: index, %[[COLS:.*]]: index, %[[INIT:.*]]: i32)
  gpu.func @tiles(%rows: index, %cols: index, %init: i32) kernel {
    // CHECK: %[[M:.*]] = arith.divui %{{.*}}, %c128_i32
    // CHECK: %[[N:.*]] = arith.divui %{{.*}}, %c256_i32
    // CHECK: %[[BLOCK_INDEX:.*]] = gpu.block_id x
    // CHECK: %[[BLOCK:.*]] = arith.index_cast %[[BLOCK_INDEX]]
    // CHECK: %[[GRID_INDEX:.*]] = gpu.grid_dim x
    // CHECK: %[[GRID:.*]] = arith.index_cast %[[GRID_INDEX]]
    // CHECK: %[[COUNT:.*]] = arith.muli %[[M]], %[[N]]
    // CHECK: %[[END:.*]] = scf.for %[[TILE:.*]] = %[[BLOCK]] to %[[COUNT]] step %[[GRID]] iter_args(%[[CARRIED:.*]] = %[[INIT]]) -> (i32) : i32
    // CHECK: arith.muli %[[N]], %c8_i32
    // CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c128 : index
    // CHECK: %[[COL:.*]] = arith.muli %{{.*}}, %c256 : index
    // CHECK: %[[NEXT:.*]] = "test.tile"(%[[ROW]], %[[COL]], %[[CARRIED]])
    // CHECK: scf.yield %[[NEXT]]
    // CHECK: "test.end"(%[[END]])
    %end = pit_gpu.tiles (%i, %j) to (%rows, %cols) step (128, 256) raster 8 carry (%c = %init) -> i32 {
      %next = "test.tile"(%i, %j, %c) : (index, index, i32) -> i32
      pit_gpu.yield %next : i32
    }
    "test.end"(%end) : (i32) -> ()
    gpu.return
  }
}
