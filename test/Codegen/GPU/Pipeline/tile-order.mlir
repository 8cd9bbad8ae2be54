// Numbers of tiles become coordinates by divisions, which are done here: all sizes are known.

// RUN: pit-opt %s --allow-unregistered-dialect --convert-pit-gpu-to-nvvm --canonicalize --cse | FileCheck %s

gpu.module @kernels {
  // Bands of two of three rows, four columns: the first band column by column, then the row that is left.
  // CHECK-LABEL: gpu.func @bands
  gpu.func @bands() kernel {
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %s = pit_gpu.tile_space (%c3, %c4) rows 0 cols 1 by bands of 2 : i32, i32
    // CHECK: "test.total"(%c12_i32)
    %total = pit_gpu.count_tiles %s : i32
    "test.total"(%total) : (i32) -> ()
    // CHECK: "test.tile"(%c1_i32, %c0_i32)
    // CHECK: "test.tile"(%c0_i32, %c1_i32)
    // CHECK: "test.tile"(%c1_i32, %c3_i32)
    // CHECK: "test.tile"(%c2_i32, %c2_i32)
    %n1 = arith.constant 1 : i32
    %n2 = arith.constant 2 : i32
    %n7 = arith.constant 7 : i32
    %n10 = arith.constant 10 : i32
    %t1:2 = pit_gpu.tile_of %n1 in %s : i32 -> i32, i32
    "test.tile"(%t1#0, %t1#1) : (i32, i32) -> ()
    %t2:2 = pit_gpu.tile_of %n2 in %s : i32 -> i32, i32
    "test.tile"(%t2#0, %t2#1) : (i32, i32) -> ()
    %t7:2 = pit_gpu.tile_of %n7 in %s : i32 -> i32, i32
    "test.tile"(%t7#0, %t7#1) : (i32, i32) -> ()
    %t10:2 = pit_gpu.tile_of %n10 in %s : i32 -> i32, i32
    "test.tile"(%t10#0, %t10#1) : (i32, i32) -> ()
    gpu.return
  }

  // A batch of two, whose last tile comes first; coordinates are index.
  // CHECK-LABEL: gpu.func @last_first
  gpu.func @last_first() kernel {
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %s = pit_gpu.tile_space (%c2, %c3, %c3) rows 1 cols 2 by cols last first : index, index, index
    // CHECK: "test.tile"(%c1, %c2, %c2)
    // CHECK: "test.tile"(%c0, %c1, %c2)
    %n0 = arith.constant 0 : index
    %n10 = arith.constant 10 : index
    %t0:3 = pit_gpu.tile_of %n0 in %s : index -> index, index, index
    "test.tile"(%t0#0, %t0#1, %t0#2) : (index, index, index) -> ()
    %t10:3 = pit_gpu.tile_of %n10 in %s : index -> index, index, index
    "test.tile"(%t10#0, %t10#1, %t10#2) : (index, index, index) -> ()
    gpu.return
  }

  // Row after row, in each of them all tiles that are alike before the next column.
  // CHECK-LABEL: gpu.func @alike
  gpu.func @alike() kernel {
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %s = pit_gpu.tile_space (%c2, %c3, %c4) rows 0 cols 2 by rows alike [1] : i32, i32, i32
    // CHECK: "test.tile"(%c1_i32, %c1_i32, %c2_i32)
    %n = arith.constant 19 : i32
    %t:3 = pit_gpu.tile_of %n in %s : i32 -> i32, i32, i32
    "test.tile"(%t#0, %t#1, %t#2) : (i32, i32, i32) -> ()
    gpu.return
  }

  // Five rows and three columns: two clusters of rows in each column, and two pairs of columns in the row that is left. The second block of the last pair has no column: its row is behind the last one.
  // CHECK-LABEL: gpu.func @pairs
  gpu.func @pairs() kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c5 = arith.constant 5 : i32
    %s = pit_gpu.tile_space (%c5, %c3) rows 0 cols 1 by bands of 16 cluster 2 pairs : i32, i32
    // CHECK: "test.total"(%c8_i32)
    %total = pit_gpu.count_tiles %s : i32
    "test.total"(%total) : (i32) -> ()
    // CHECK: "test.tile"(%c3_i32, %c1_i32, %false)
    // CHECK: "test.tile"(%c4_i32, %c2_i32, %true)
    // CHECK: "test.tile"(%c6_i32, %c2_i32, %true)
    %n3 = arith.constant 3 : i32
    %n7 = arith.constant 7 : i32
    %t3:3 = pit_gpu.tile_of %n3 in %s rank %c1 : i32 -> i32, i32, i1
    "test.tile"(%t3#0, %t3#1, %t3#2) : (i32, i32, i1) -> ()
    %t7:3 = pit_gpu.tile_of %n7 in %s rank %c0 : i32 -> i32, i32, i1
    "test.tile"(%t7#0, %t7#1, %t7#2) : (i32, i32, i1) -> ()
    %last:3 = pit_gpu.tile_of %n7 in %s rank %c1 : i32 -> i32, i32, i1
    "test.tile"(%last#0, %last#1, %last#2) : (i32, i32, i1) -> ()
    gpu.return
  }

  // Ten tiles of four workers: eight are whole, the other two have two parts each.
  // CHECK-LABEL: gpu.func @parts
  gpu.func @parts() kernel {
    %c4 = arith.constant 4 : i32
    %c10 = arith.constant 10 : i32
    // CHECK: "test.share"(%c8_i32, %c2_i32, %c12_i32)
    %whole, %parts, %numbers = pit_gpu.share_tiles %c10 among %c4 most 3
    "test.share"(%whole, %parts, %numbers) : (i32, i32, i32) -> ()
    // CHECK: "test.part"(%c7_i32, %c0_i32, %c1_i32)
    // CHECK: "test.part"(%c9_i32, %c1_i32, %c2_i32, %c1_i32)
    %n7 = arith.constant 7 : i32
    %n11 = arith.constant 11 : i32
    %p7:4 = pit_gpu.split_of %n7 whole %whole splits %parts
    "test.part"(%p7#0, %p7#1, %p7#2) : (i32, i32, i32) -> ()
    %p11:4 = pit_gpu.split_of %n11 whole %whole splits %parts usually whole
    "test.part"(%p11#0, %p11#1, %p11#2, %p11#3) : (i32, i32, i32, i32) -> ()
    gpu.return
  }

  // Eleven steps in three parts.
  // CHECK-LABEL: gpu.func @steps
  gpu.func @steps() kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c11 = arith.constant 11 : i32
    // CHECK: "test.steps"(%c0_i32, %c3_i32, %c3_i32, %c7_i32, %c7_i32, %c11_i32)
    %first:3 = pit_gpu.steps_of_split %c0 of %c3 in %c11 : i32
    %second:3 = pit_gpu.steps_of_split %c1 of %c3 in %c11 : i32
    %last:3 = pit_gpu.steps_of_split %c2 of %c3 in %c11 : i32
    "test.steps"(%first#0, %first#1, %second#0, %second#1, %last#0, %last#1) : (i32, i32, i32, i32, i32, i32) -> ()
    // Five steps each are enough for two parts; and 41 ids, four in a step, for three.
    // CHECK: "test.steps"(%c5_i32, %c11_i32, %c2_i32)
    // CHECK: "test.steps"(%c28_i32, %c41_i32, %c3_i32)
    %few:3 = pit_gpu.steps_of_split %c1 of %c3 in %c11 least 5 : i32
    "test.steps"(%few#0, %few#1, %few#2) : (i32, i32, i32) -> ()
    %c41 = arith.constant 41 : i32
    %ids:3 = pit_gpu.steps_of_split %c2 of %c3 in %c41 by 4 : i32
    "test.steps"(%ids#0, %ids#1, %ids#2) : (i32, i32, i32) -> ()
    gpu.return
  }

  // Lists of 1000 ids on average are long enough for three parts of 300. With 7 workers, the numbers
  // of two tiles are 6; of 21 workers each third has one. Four tiles of 7 workers are enough.
  // CHECK-LABEL: gpu.func @share_lists
  gpu.func @share_lists() kernel {
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c6 = arith.constant 6 : i32
    %c7 = arith.constant 7 : i32
    %c21 = arith.constant 21 : i32
    %ids = arith.constant 2000 : i32
    // CHECK: "test.share"(%c0_i32, %c3_i32, %c6_i32, %c6_i32)
    // CHECK: "test.share"(%c0_i32, %c3_i32, %c2_i32, %c6_i32)
    // CHECK: "test.share"(%c0_i32, %c3_i32, %c6_i32, %c6_i32)
    // CHECK: "test.share"(%c4_i32, %c1_i32, %c6_i32, %c4_i32)
    %a:4 = pit_gpu.share_lists %c2 among %c7 worker %c6 enough 2 least 300 most 8 {
      pit_gpu.yield %ids, %c2 : i32, i32
    }
    "test.share"(%a#0, %a#1, %a#2, %a#3) : (i32, i32, i32, i32) -> ()
    %b:4 = pit_gpu.share_lists %c2 among %c21 worker %c6 enough 2 least 300 most 8 {
      pit_gpu.yield %ids, %c2 : i32, i32
    }
    "test.share"(%b#0, %b#1, %b#2, %b#3) : (i32, i32, i32, i32) -> ()
    %c:4 = pit_gpu.share_lists %c2 among %c21 worker %c7 enough 2 least 300 most 8 {
      pit_gpu.yield %ids, %c2 : i32, i32
    }
    "test.share"(%c#0, %c#1, %c#2, %c#3) : (i32, i32, i32, i32) -> ()
    %d:4 = pit_gpu.share_lists %c4 among %c7 worker %c6 enough 2 least 300 most 8 {
      pit_gpu.yield %ids, %c2 : i32, i32
    }
    "test.share"(%d#0, %d#1, %d#2, %d#3) : (i32, i32, i32, i32) -> ()
    gpu.return
  }

  // Each lane counts the tiles of a list; sums over the lanes say whose a number is.
  // CHECK-LABEL: gpu.func @lists
  // CHECK-SAME: (%[[LISTS:.*]]: i32, %[[BLOCK:.*]]: i32, %[[BLOCKS:.*]]: i32)
  gpu.func @lists(%lists: i32, %block: i32, %blocks: i32) kernel {
    %c0 = arith.constant 0 : i32
    pit_gpu.roles {
      role "all" warps 4 registers 168 {
        // CHECK: %[[ENDS:.*]]:2 = scf.for %[[BATCH:.*]] = %c0_i32 to %[[LISTS]] step %c32_i32 iter_args(%[[FROM:.*]] = %[[BLOCK]], %[[USED:.*]] = %c0_i32) -> (i32, i32)
        // CHECK: %[[LIST:.*]] = arith.addi %[[BATCH]], %[[LANE:.*]] : i32
        // CHECK: %[[LAST:.*]] = arith.subi %[[LISTS]], %c1_i32
        // CHECK: %[[OWN:.*]] = arith.minsi %[[LIST]], %[[LAST]]
        // CHECK: %[[COUNTED:.*]]:2 = "test.count"(%[[OWN]])
        // CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[LIST]], %[[LISTS]]
        // CHECK: %[[TILES:.*]] = arith.select %[[EXISTS]], %[[COUNTED]]#0, %c0_i32
        // CHECK-COUNT-5: nvvm.shfl.sync up
        // CHECK: %[[TOTAL:.*]] = nvvm.shfl.sync idx %c-1_i32, %{{.*}}, %c31_i32
        // CHECK: scf.for %[[TILE:.*]] = %[[FROM]] to %[[TOTAL]] step %[[BLOCKS]] iter_args(%[[CARRIED:.*]] = %[[USED]])
        // CHECK: nvvm.vote.sync ballot
        // CHECK: %[[WHO:.*]] = "llvm.intr.cttz"
        // CHECK: %[[IDS:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[COUNTED]]#1, %[[WHO]]
        // CHECK: %[[WHOSE:.*]] = arith.addi %[[BATCH]], %[[WHO]]
        // CHECK: %[[NUMBER:.*]] = arith.subi %[[TILE]]
        // CHECK: "test.tile"(%[[WHOSE]], %[[NUMBER]], %[[IDS]], %[[CARRIED]])
        // CHECK: "test.end"(%[[ENDS]]#0, %[[ENDS]]#1)
        %next, %end = pit_gpu.list_tiles %lists first %block step %blocks carry %c0 : i32 count {
        ^bb0(%list: i32):
          %tiles, %ids = "test.count"(%list) : (i32) -> (i32, i32)
          pit_gpu.yield %tiles, %ids : i32, i32
        } tile {
        ^bb0(%list: i32, %number: i32, %ids: i32, %used: i32):
          %now = "test.tile"(%list, %number, %ids, %used) : (i32, i32, i32, i32) -> i32
          pit_gpu.yield %now : i32
        }
        "test.end"(%next, %end) : (i32, i32) -> ()
      }
    }
    gpu.return
  }
}
