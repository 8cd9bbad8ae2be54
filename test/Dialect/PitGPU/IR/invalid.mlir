// RUN: pit-opt %s -split-input-file -verify-diagnostics

!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @not_an_argument(%n: index) {
  %x = memref.alloc(%n, %n) : memref<?x?xbf16>
  // expected-error @below {{[tensor_map 1] the memref is no argument of the kernel; the host describes arguments only}}
  %m = pit_gpu.tensor_map %x : memref<?x?xbf16> -> !map
  return
}

// -----

!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @not_of_the_first_block(%y: memref<?x?xbf16>) {
  cf.br ^bb1(%y : memref<?x?xbf16>)
^bb1(%x: memref<?x?xbf16>):
  // expected-error @below {{[tensor_map 1] the memref is no argument}}
  %m = pit_gpu.tensor_map %x : memref<?x?xbf16> -> !map
  return
}

// -----

!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @other_elements(%x: memref<?x?xf16>) {
  // expected-error @below {{[tensor_map 2] boxes of '!pit_gpu.tensor_map<64x64xbf16, swizzle = 128>' do not describe a 'memref<?x?xf16>'}}
  %m = pit_gpu.tensor_map %x : memref<?x?xf16> -> !map
  return
}

// -----

!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @other_rank(%x: memref<?x?x?xbf16>) {
  // expected-error @below {{[tensor_map 2] boxes of}}
  %m = pit_gpu.tensor_map %x : memref<?x?x?xbf16> -> !map
  return
}

// -----

!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @gaps(%x: memref<?x?xbf16, strided<[?, 2]>>) {
  // expected-error @below {{[tensor_map 3] elements of a row of 'memref<?x?xbf16, strided<[?, 2]>>' do not lie side by side}}
  %m = pit_gpu.tensor_map %x : memref<?x?xbf16, strided<[?, 2]>> -> !map
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>

func.func @no_arrivals() {
  // expected-error @below {{[ring 1] a stage is full after 0 and empty after 8 arrivals; from 1 and from 0 to 1048575 is right}}
  %r = pit_gpu.ring full 0 empty 8 : !ring
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>

func.func @too_many_arrivals() {
  // expected-error @below {{[ring 1] a stage is full after 1 and empty after 1048576 arrivals}}
  %r = pit_gpu.ring full 1 empty 1048576 : !ring
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>

func.func @wrong_places() {
  // expected-error @below {{[ring 2] stages at 512, barriers at 0; a multiple of 1024 below 16777216 and one of 8 below 16777216, or neither is right}}
  %r = pit_gpu.ring full 1 empty 1 at 512 barriers 0 : !ring
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>

func.func @negative_places() {
  // expected-error @below {{[ring 2] stages at -1024, barriers at 0}}
  %r = pit_gpu.ring full 1 empty 1 at -1024 barriers 0 : !ring
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>

func.func @one_place() {
  // expected-error @below {{[ring 2] stages at 1024, barriers at 0}}
  %r = "pit_gpu.ring"() {full = 1 : i64, empty = 1 : i64, offset = 1024 : i64} : () -> !ring
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>

func.func @ring_in_a_role() {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[ring 3] it is in a pit_gpu.roles; all threads run it, once, before their roles begin}}
      %r = pit_gpu.ring full 1 empty 8 : !ring
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>

func.func @ring_in_a_loop(%n: index) {
  scf.for %i = %n to %n step %n {
    // expected-error @below {{[ring 3] it is in a scf.for}}
    %r = pit_gpu.ring full 1 empty 8 : !ring
  }
  return
}

// -----

func.func @no_roles() {
  // expected-error @below {{[roles 1] 0 regions with 0 names, 0 numbers of warps and 0 of registers}}
  pit_gpu.roles {
  }
  return
}

// -----

func.func @numbers_of_roles() {
  // expected-error @below {{[roles 1] 1 regions with 2 names, 0 numbers of warps and 1 of registers}}
  "pit_gpu.roles"() <{names = ["a", "b"], warps = array<i64>, registers = array<i64: 24>}> ({
  ^bb0:
  }) : () -> ()
  return
}

// -----

func.func @three_warps() {
  // expected-error @below {{[roles 2] 3 warps with 128 registers; a multiple of 4 up to 32, and one of 8 from 24 to 256 are right}}
  pit_gpu.roles {
    role "a" warps 3 registers 128 {
    }
  }
  return
}

// -----

func.func @negative_warps() {
  // expected-error @below {{[roles 2] -4 warps with 128 registers}}
  pit_gpu.roles {
    role "a" warps -4 registers 128 {
    }
  }
  return
}

// -----

func.func @very_many_warps() {
  // expected-error @below {{[roles 2] 576460752303423492 warps}}
  pit_gpu.roles {
    role "a" warps 576460752303423492 registers 128 {
    }
  }
  return
}

// -----

func.func @registers() {
  // expected-error @below {{[roles 2] 4 warps with 260 registers}}
  pit_gpu.roles {
    role "a" warps 4 registers 260 {
    }
  }
  return
}

// -----

func.func @too_many_threads() {
  // expected-error @below {{[roles 3] 1 blocks of 1152 threads with 27648 registers; 1 or more blocks of at most 1024 threads, with at most 65536 registers together, are right}}
  pit_gpu.roles {
    role "a" warps 32 registers 24 {
    }
    role "b" warps 4 registers 24 {
    }
  }
  return
}

// -----

func.func @too_many_registers() {
  // expected-error @below {{[roles 3] 1 blocks of 384 threads with 69632 registers}}
  pit_gpu.roles {
    role "a" warps 4 registers 64 {
    }
    role "b" warps 8 registers 240 {
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

func.func @acquire_without_a_role(%r: !ring, %n: i32) {
  // expected-error @below {{'pit_gpu.acquire' op [roles 4] there is no role around it}}
  %s = pit_gpu.acquire %r[%n] : !ring -> !stage
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

func.func @wait_without_a_role(%r: !ring, %n: i32) {
  // expected-error @below {{'pit_gpu.wait' op [roles 4] there is no role around it}}
  %s = pit_gpu.wait %r[%n] : !ring -> !stage
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @commit_without_a_role(%s: !stage) {
  // expected-error @below {{'pit_gpu.commit' op [roles 4] there is no role around it}}
  pit_gpu.commit %s after copies : !stage
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @release_without_a_role(%s: !stage) {
  // expected-error @below {{'pit_gpu.release' op [roles 4] there is no role around it}}
  pit_gpu.release %s : !stage
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @load_without_a_role(%s: !stage, %m: !map, %i: index) {
  // expected-error @below {{'pit_gpu.load' op [roles 4] there is no role around it}}
  pit_gpu.load %m[%i, %i] into %s[0] : !map, !stage
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_without_a_role(%s: !stage, %x: memref<?x?xbf16>, %ids: memref<?xi32>, %i: index) {
  // expected-error @below {{'pit_gpu.gather' op [roles 4] there is no role around it}}
  pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<?x?xbf16>, memref<?xi32>, !stage
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @store_without_a_role(%f: !values, %x: memref<?x?xf32>, %i: index) {
  // expected-error @below {{'pit_gpu.store' op [roles 4] there is no role around it}}
  pit_gpu.store %f to %x[%i, %i] : !values, memref<?x?xf32>
  return
}

// -----

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!b = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>

func.func @mma_without_a_role(%a: !a, %b: !b, %acc: !sums) {
  // expected-error @below {{'pit_gpu.mma' op [roles 4] there is no role around it}}
  %r = pit_gpu.mma %a, %b, %acc : !a, !b, !sums
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @map_without_a_role() {
  // expected-error @below {{'pit_gpu.map' op [roles 4] there is no role around it}}
  %f = pit_gpu.map () -> !values {
  ^bb0(%i: i32, %j: i32):
    %x = arith.constant 0.0 : f32
    pit_gpu.yield %x : f32
  }
  return
}

// -----

func.func @warpgroup() {
  // expected-error @below {{[warpgroup 1] there is no role around it}}
  %g = pit_gpu.warpgroup : i32
  return
}

// -----

func.func @no_extents() {
  // expected-error @below {{[tile_space 1] 0 extents; one at least, and one type, are right}}
  %s = "pit_gpu.tile_space"() <{operandSegmentSizes = array<i32: 0, 0>, order = 0 : i32}> : () -> !pit_gpu.tile_space
  return
}

// -----

func.func @extents_of_two_types(%n: i32, %m: index) {
  // expected-error @below {{[tile_space 1] 2 extents}}
  %s = pit_gpu.tile_space (%n, %m) by rows : i32, index
  return
}

// -----

func.func @no_such_dimension(%n: i32) {
  // expected-error @below {{[tile_space 2] names dimension 2 of 2; each of 0 to 1, once, is right}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 2 by rows : i32, i32
  return
}

// -----

func.func @rows_are_columns(%n: i32) {
  // expected-error @below {{[tile_space 2] names dimension 1 of 2}}
  %s = pit_gpu.tile_space (%n, %n) rows 1 by cols alike [1] : i32, i32
  return
}

// -----

func.func @bands_of_nothing(%n: i32) {
  // expected-error @below {{[tile_space 3] by bands, with bands of 0 rows and 0 dimensions that are alike; bands of 1 to 65536 rows, or of a height of the extents' type, without any, or rows or cols without bands, are right}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by bands of 0 : i32, i32
  return
}

// -----

func.func @rows_of_bands(%n: i32) {
  // expected-error @below {{[tile_space 3] by rows, with bands of 8 rows}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by rows of 8 : i32, i32
  return
}

// -----

func.func @height_of_bands(%n: i32, %m: index) {
  // expected-error @below {{[tile_space 3] by bands, with bands of 0 rows}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by bands height %m : index : i32, i32
  return
}

// -----

func.func @alike_in_bands(%n: i32) {
  // expected-error @below {{[tile_space 3] by bands, with bands of 8 rows and 1 dimensions that are alike}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 by bands of 8 alike [1] : i32, i32
  return
}

// -----

func.func @cluster_of_three(%n: i32) {
  // expected-error @below {{[tile_space 4] a cluster of 3 blocks; 1, 2, 4 or 8 blocks with rows, by bands, are right, and pairs of several with columns}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by bands of 8 cluster 3 : i32, i32
  return
}

// -----

func.func @cluster_by_columns(%n: i32) {
  // expected-error @below {{[tile_space 4] a cluster of 2 blocks}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by cols cluster 2 : i32, i32
  return
}

// -----

func.func @pairs_of_one(%n: i32) {
  // expected-error @below {{[tile_space 4] a cluster of 1 blocks, in pairs along columns}}
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by bands of 8 pairs : i32, i32
  return
}

// -----

func.func @counts_an_argument(%s: !pit_gpu.tile_space) {
  // expected-error @below {{[count_tiles 1] a space that no pit_gpu.tile_space makes}}
  %n = pit_gpu.count_tiles %s : i32
  return
}

// -----

func.func @counts_in_another_type(%n: i32) {
  %s = pit_gpu.tile_space (%n) by rows : i32
  // expected-error @below {{[count_tiles 1] numbers of type 'index', of a space with extents of 'i32'; one type is right}}
  %t = pit_gpu.count_tiles %s : index
  return
}

// -----

func.func @number_of_another_type(%n: i32, %m: index) {
  %s = pit_gpu.tile_space (%n) by rows : i32
  // expected-error @below {{[tile_of 1] numbers of type 'index'}}
  %t = pit_gpu.tile_of %m in %s : index -> index
  return
}

// -----

func.func @too_few_coordinates(%n: i32) {
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by rows : i32, i32
  // expected-error @below {{[tile_of 2] gives 1 values, of a space of 2 dimensions; 2 are right, the first ones of type 'i32'}}
  %t = pit_gpu.tile_of %n in %s : i32 -> i32
  return
}

// -----

func.func @pairs_without_a_bit(%n: i32) {
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by bands of 8 cluster 2 pairs : i32, i32
  // expected-error @below {{[tile_of 2] gives 2 values, of a space of 2 dimensions with pairs; 3 are right}}
  %t:2 = pit_gpu.tile_of %n in %s rank %n : i32 -> i32, i32
  return
}

// -----

func.func @cluster_without_rank(%n: i32) {
  %s = pit_gpu.tile_space (%n, %n) rows 0 cols 1 by bands of 8 cluster 2 : i32, i32
  // expected-error @below {{[tile_of 3] no rank in a cluster of 2; blocks of a cluster of several have one}}
  %t:2 = pit_gpu.tile_of %n in %s : i32 -> i32, i32
  return
}

// -----

func.func @rank_of_one(%n: i32) {
  %s = pit_gpu.tile_space (%n) by rows : i32
  // expected-error @below {{[tile_of 3] a rank in a cluster of 1}}
  %t = pit_gpu.tile_of %n in %s rank %n : i32 -> i32
  return
}

// -----

func.func @lists_of_nothing(%n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 24 {
      // expected-error @below {{[list_tiles 1] the first region takes 1 values and gives 0; one i32, and 1 to 8 of them, are right}}
      %next = pit_gpu.list_tiles %n first %n step %n count {
      ^bb0(%list: i32):
        pit_gpu.yield
      } tile {
      ^bb0(%list: i32, %number: i32):
        pit_gpu.yield
      }
    }
  }
  return
}

// -----

func.func @lists_without_numbers(%n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 24 {
      // expected-error @below {{[list_tiles 2] the second region takes 2 values and gives 0, with 1 results; 4, 1 and 1 i32 are right}}
      %next:2 = pit_gpu.list_tiles %n first %n step %n carry %n : i32 count {
      ^bb0(%list: i32):
        pit_gpu.yield %list, %list : i32, i32
      } tile {
      ^bb0(%list: i32, %number: i32):
        pit_gpu.yield
      }
    }
  }
  return
}

// -----

func.func @lists_in_no_role(%n: i32) {
  // expected-error @below {{[list_tiles 3] it is in no role; all lanes of a role's warps run it}}
  %next = pit_gpu.list_tiles %n first %n step %n count {
  ^bb0(%list: i32):
    pit_gpu.yield %list : i32
  } tile {
  ^bb0(%list: i32, %number: i32):
    pit_gpu.yield
  }
  return
}

// -----

func.func @lists_of_a_leader(%n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 24 {
      pit_gpu.leader {
        // expected-error @below {{[list_tiles 3] it is in a leader}}
        %next = pit_gpu.list_tiles %n first %n step %n count {
        ^bb0(%list: i32):
          pit_gpu.yield %list : i32
        } tile {
        ^bb0(%list: i32, %number: i32):
          pit_gpu.yield
        }
      }
    }
  }
  return
}

// -----

func.func @one_part(%n: i32) {
  // expected-error @below {{[share_tiles 1] tiles have 1 splits at most; 2 to 1024 are right}}
  %w, %p, %t = pit_gpu.share_tiles %n among %n most 1
  return
}

// -----

func.func @no_step(%n: index) {
  // expected-error @below {{[tiles 1] 2 steps and a raster of 8; two steps, and 1 to 65536 for each, are right}}
  pit_gpu.tiles (%i, %j) to (%n, %n) step (0, 64) raster 8 {
  }
  return
}

// -----

func.func @large_step(%n: index) {
  // expected-error @below {{[tiles 1] 2 steps}}
  pit_gpu.tiles (%i, %j) to (%n, %n) step (64, 4294967296) raster 8 {
  }
  return
}

// -----

func.func @no_raster(%n: index) {
  // expected-error @below {{[tiles 1] 2 steps and a raster of -1}}
  pit_gpu.tiles (%i, %j) to (%n, %n) step (64, 64) raster -1 {
  }
  return
}

// -----

func.func @one_step(%n: index) {
  // expected-error @below {{[tiles 1] 1 steps}}
  "pit_gpu.tiles"(%n, %n) <{step = array<i64: 64>, raster = 8 : i64}> ({
  ^bb0(%i: index, %j: index):
    pit_gpu.yield
  }) : (index, index) -> ()
  return
}

// -----

func.func @no_coordinates(%n: index) {
  // expected-error @below {{[tiles 2] carries 0 values, has 0 arguments and yields 0}}
  "pit_gpu.tiles"(%n, %n) <{step = array<i64: 64, 64>, raster = 8 : i64}> ({
  ^bb0:
    pit_gpu.yield
  }) : (index, index) -> ()
  return
}

// -----

func.func @yields_nothing(%n: index) {
  // expected-error @below {{[tiles 2] carries 1 values, has 3 arguments and yields 0}}
  %r = "pit_gpu.tiles"(%n, %n, %n) <{step = array<i64: 64, 64>, raster = 8 : i64}> ({
  ^bb0(%i: index, %j: index, %k: index):
    pit_gpu.yield
  }) : (index, index, index) -> index
  return
}

// -----

func.func @too_many_results(%n: index) {
  // expected-error @below {{[tiles 2] carries 0 values, has 2 arguments and yields 0}}
  %r = "pit_gpu.tiles"(%n, %n) <{step = array<i64: 64, 64>, raster = 8 : i64}> ({
  ^bb0(%i: index, %j: index):
    pit_gpu.yield
  }) : (index, index) -> index
  return
}

// -----

func.func @no_terminator(%n: index) {
  // expected-error @below {{expects regions to end with 'pit_gpu.yield', found 'llvm.unreachable'}}
  // expected-note @below {{in custom textual format, the absence of terminator implies 'pit_gpu.yield'}}
  "pit_gpu.tiles"(%n, %n) <{step = array<i64: 64, 64>, raster = 8 : i64}> ({
  ^bb0(%i: index, %j: index):
    llvm.unreachable
  }) : (index, index) -> ()
  return
}

// -----

func.func @hand_over_without_a_role() {
  // expected-error @below {{[hand_over 1] there is no role around it}}
  pit_gpu.hand_over {
  }
  return
}

// -----

func.func @hand_over_yields(%n: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[hand_over 2] yields 0 values, and has 1 results}}
      %r = pit_gpu.hand_over -> index {
      }
    }
  }
  return
}

// -----

func.func @hand_over_in_a_hand_over() {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      pit_gpu.hand_over {
        // expected-error @below {{[hand_over 3] it is in another one, whose turn would not end}}
        pit_gpu.hand_over {
        }
      }
    }
  }
  return
}

// -----

func.func @sync_without_a_role() {
  // expected-error @below {{[sync 1] there is no role around it; a pit_gpu.roles has roles}}
  pit_gpu.sync of role
  return
}

// -----

func.func @sync_of_a_leader() {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      pit_gpu.leader {
        // expected-error @below {{[sync 1] one thread is here; all of a role wait for each other}}
        pit_gpu.sync of role
      }
    }
  }
  return
}

// -----

func.func @sync_in_a_hand_over() {
  pit_gpu.roles {
    role "all" warps 8 registers 128 {
      pit_gpu.hand_over {
        // expected-error @below {{[sync 2] 2 warpgroups wait for each other in the turn of one; `of warpgroup` is right there}}
        pit_gpu.sync of role
      }
    }
  }
  return
}

// -----

func.func @barriers() {
  // expected-error @below {{[roles 5] hand-overs and syncs take 16 named barriers; a block has 15 beside its own}}
  pit_gpu.roles {
    role "all" warps 32 registers 64 {
      pit_gpu.hand_over {
        pit_gpu.sync of warpgroup
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @copy_bytes(%s: !stage, %p: !llvm.ptr<1>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 1] 2 bytes from a '!llvm.ptr<1>'; 4, 8 or 16 from an !llvm.ptr<1> are right}}
      pit_gpu.copy %p into %s[0] at [%i, %i] bytes 2 : !llvm.ptr<1>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @copy_from(%s: !stage, %p: !llvm.ptr<3>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 1] 16 bytes from a '!llvm.ptr<3>'}}
      pit_gpu.copy %p into %s[0] at [%i, %i] : !llvm.ptr<3>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @copy_number(%s: !stage, %p: !llvm.ptr<1>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 2] there is no tile 1 in a stage of 1}}
      pit_gpu.copy %p into %s[1] at [%i, %i] : !llvm.ptr<1>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @copy_plus(%s: !stage, %p: !llvm.ptr<1>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 3] further rows and columns are [4, 0]; multiples of 8 and of 64, a line's elements, are right}}
      pit_gpu.copy %p into %s[0] at [%i, %i] plus [4, 0] : !llvm.ptr<1>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @copy_without_a_role(%s: !stage, %p: !llvm.ptr<1>, %i: i32) {
  // expected-error @below {{'pit_gpu.copy' op [roles 4] there is no role around it}}
  pit_gpu.copy %p into %s[0] at [%i, %i] : !llvm.ptr<1>, !stage
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @copy_without_a_number(%s: !stage, %p: !llvm.ptr<1>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 2] the tile of a stage has a number; it copies into a '!pit_gpu.stage<}}
      pit_gpu.copy %p into %s at [%i, %i] : !llvm.ptr<1>, !stage
    }
  }
  return
}

// -----

func.func @copy_with_a_number(%p: !llvm.ptr<1>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 2] a number is that of a stage's tile; it copies into a 'i32'}}
      pit_gpu.copy %p into %i[0] : !llvm.ptr<1>, i32
    }
  }
  return
}

// -----

func.func @copy_without_a_place(%t: !pit_gpu.tile<64x64xbf16, swizzle = 128>, %p: !llvm.ptr<1>) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 4] a piece of a tile has a row and a column; it copies into a '!pit_gpu.tile<}}
      pit_gpu.copy %p into %t : !llvm.ptr<1>, !pit_gpu.tile<64x64xbf16, swizzle = 128>
    }
  }
  return
}

// -----

func.func @copy_to_an_address(%p: !llvm.ptr<1>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 4] an address has no rows and columns; it copies into a 'i32'}}
      pit_gpu.copy %p into %i at [%i, %i] : !llvm.ptr<1>, i32
    }
  }
  return
}

// -----

func.func @copy_wait() {
  // expected-error @below {{[copy_wait 1] 65 groups pending; 0 to 64 is right}}
  pit_gpu.copy_wait pending 65
  return
}

// -----

func.func @local_store_elements(%f: !pit_gpu.fragment<64x64xf16>, %t: !pit_gpu.tile<64x64xbf16, swizzle = 128>) {
  // expected-error @below {{[local_store 1] '!pit_gpu.fragment<64x64xf16>' into '!pit_gpu.tile<64x64xbf16, swizzle = 128>'; the same elements}}
  pit_gpu.local_store %f into %t : !pit_gpu.fragment<64x64xf16>, !pit_gpu.tile<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @local_store_of_a_column(%f: !pit_gpu.fragment<64x1xf16>, %t: !pit_gpu.tile<64x64xf16, swizzle = 128>) {
  // expected-error @below {{[local_store 1] '!pit_gpu.fragment<64x1xf16>' into}}
  pit_gpu.local_store %f into %t : !pit_gpu.fragment<64x1xf16>, !pit_gpu.tile<64x64xf16, swizzle = 128>
  return
}

// -----

func.func @local_store_warp_rows(%f: !pit_gpu.fragment<128x64xf32, warp_rows = 32>, %t: !pit_gpu.tile<128x64xf32, swizzle = 128>) {
  // expected-error @below {{[local_store 1] '!pit_gpu.fragment<128x64xf32, warp_rows = 32>' into}}
  pit_gpu.local_store %f into %t : !pit_gpu.fragment<128x64xf32, warp_rows = 32>, !pit_gpu.tile<128x64xf32, swizzle = 128>
  return
}

// -----

func.func @local_store_words(%f: !pit_gpu.fragment<64x32xf32>, %t: !pit_gpu.tile<32x64xf32, swizzle = 128>) {
  // expected-error @below {{[local_store 1] '!pit_gpu.fragment<64x32xf32>' transposed into}}
  pit_gpu.local_store %f transposed into %t : !pit_gpu.fragment<64x32xf32>, !pit_gpu.tile<32x64xf32, swizzle = 128>
  return
}

// -----

func.func @local_store_rows(%f: !pit_gpu.fragment<64x32xf16>, %t: !pit_gpu.tile<32x64xf16, swizzle = 128>) {
  // expected-error @below {{[local_store 2] 64x32 elements from column 0 on, of 32x64; the same rows}}
  pit_gpu.local_store %f into %t : !pit_gpu.fragment<64x32xf16>, !pit_gpu.tile<32x64xf16, swizzle = 128>
  return
}

// -----

func.func @local_store_cols(%f: !pit_gpu.fragment<64x32xf16>, %t: !pit_gpu.tile<64x64xf16, swizzle = 128>) {
  // expected-error @below {{[local_store 2] 64x32 elements from column 48 on, of 64x64}}
  pit_gpu.local_store %f into %t cols 48 : !pit_gpu.fragment<64x32xf16>, !pit_gpu.tile<64x64xf16, swizzle = 128>
  return
}

// -----

func.func @local_store_from(%f: !pit_gpu.fragment<64x32xf16>, %t: !pit_gpu.tile<64x64xf16, swizzle = 128>) {
  // expected-error @below {{[local_store 2] 64x32 elements from column 8 on, of 64x64; the same rows, and columns from a multiple of 16}}
  pit_gpu.local_store %f into %t cols 8 : !pit_gpu.fragment<64x32xf16>, !pit_gpu.tile<64x64xf16, swizzle = 128>
  return
}

// -----

func.func @local_store_without_a_role(%f: !pit_gpu.fragment<64x64xf16>, %t: !pit_gpu.tile<64x64xf16, swizzle = 128>) {
  // expected-error @below {{'pit_gpu.local_store' op [roles 4] there is no role around it}}
  pit_gpu.local_store %f into %t : !pit_gpu.fragment<64x64xf16>, !pit_gpu.tile<64x64xf16, swizzle = 128>
  return
}

// -----

func.func @local_load(%t: !pit_gpu.tile<64x32xf32, swizzle = 128>) {
  // expected-error @below {{[local_load 1] '!pit_gpu.tile<64x32xf32, swizzle = 128>' as '!pit_gpu.fragment<64x32xf32>'; the same extents and elements of 16 bits}}
  %f = pit_gpu.local_load %t : !pit_gpu.tile<64x32xf32, swizzle = 128> -> !pit_gpu.fragment<64x32xf32>
  return
}

// -----

func.func @local_load_cols(%t: !pit_gpu.tile<64x64xf16, swizzle = 128>) {
  // expected-error @below {{[local_load 1] '!pit_gpu.tile<64x64xf16, swizzle = 128>' as '!pit_gpu.fragment<64x32xf16>'}}
  %f = pit_gpu.local_load %t : !pit_gpu.tile<64x64xf16, swizzle = 128> -> !pit_gpu.fragment<64x32xf16>
  return
}

// -----

func.func @address_of_a_row(%t: !pit_gpu.tile<64x64xbf16, swizzle = 128>, %i: i32) {
  // expected-error @below {{[address 1] it has a row alone; both, or neither, are right}}
  %a = "pit_gpu.address"(%t, %i) <{operandSegmentSizes = array<i32: 1, 1, 0>}>
      : (!pit_gpu.tile<64x64xbf16, swizzle = 128>, i32) -> i32
  return
}

// -----

func.func @yield() {
  // expected-error @below {{expects parent op to be one of}}
  pit_gpu.yield
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!other = !pit_gpu.tile<64x128xbf16, swizzle = 128>
!others = !pit_gpu.stage<[!other]>

func.func @acquired_tiles(%r: !ring, %n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[acquire 1] a stage of 1 tiles from a ring of 1; the same tiles are right}}
      %s = pit_gpu.acquire %r[%n] : !ring -> !others
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!other = !pit_gpu.tile<64x128xbf16, swizzle = 128>
!others = !pit_gpu.stage<[!other]>

func.func @awaited_tiles(%r: !ring, %n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[wait 1] a stage of 1 tiles from a ring of 1; the same tiles are right}}
      %s = pit_gpu.wait %r[%n] : !ring -> !others
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @tma_without_bytes(%s: !stage) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[commit 1] after tma with no number of bytes}}
      pit_gpu.commit %s after tma : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @bytes_of_copies(%s: !stage) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[commit 1] after copies with 64 bytes; TMA has 1 to 1048575, others have none}}
      pit_gpu.commit %s after copies bytes 64 : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @too_many_bytes(%s: !stage) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[commit 1] after tma with 1048576 bytes}}
      pit_gpu.commit %s after tma bytes 1048576 : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

func.func @commit_awaited(%r: !ring, %n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      %s = pit_gpu.wait %r[%n] : !ring -> !stage
      // expected-error @below {{[commit 2] a stage that was waited for; it is released}}
      pit_gpu.commit %s after writes : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

func.func @release_acquired(%r: !ring, %n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      %s = pit_gpu.acquire %r[%n] : !ring -> !stage
      // expected-error @below {{[release 1] a stage that was acquired; it is committed}}
      pit_gpu.release %s : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @no_such_tile(%s: !stage) {
  // expected-error @below {{[tile 1] there is no tile 1 in a stage of 1}}
  %t = pit_gpu.tile %s[1] : !stage -> !tile
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @negative_tile(%s: !stage) {
  // expected-error @below {{[tile 1] there is no tile -1 in a stage of 1}}
  %t = pit_gpu.tile %s[-1] : !stage -> !tile
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!other = !pit_gpu.tile<64x128xbf16, swizzle = 128>

func.func @another_tile(%s: !stage) {
  // expected-error @below {{[tile 1] tile 0 is a '!pit_gpu.tile<64x64xbf16, swizzle = 128>', not a '!pit_gpu.tile<64x128xbf16, swizzle = 128>'}}
  %t = pit_gpu.tile %s[0] : !stage -> !other
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>

func.func @larger_part(%t: !tile, %i: i32) {
  // expected-error @below {{[subtile 1]}}
  %p = pit_gpu.subtile %t[%i, %i] : !tile -> !pit_gpu.tile<128x64xbf16, swizzle = 128>
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>

func.func @other_pitch(%t: !pit_gpu.tile<128x64xbf16, swizzle = 128>, %i: i32) {
  // expected-error @below {{is no part of}}
  %p = pit_gpu.subtile %t[%i, %i] : !pit_gpu.tile<128x64xbf16, swizzle = 128> -> !tile
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>

func.func @part_of_a_line(%t: !tile, %i: i32) {
  // expected-error @below {{[subtile 2] 32 columns; all 64 or a multiple of 64 are right}}
  %p = pit_gpu.subtile %t[%i, %i] : !tile -> !pit_gpu.tile<64x32xbf16, swizzle = 128>
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @coordinates(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 1] 1 coordinates in a tensor of 2 dimensions}}
      pit_gpu.load %m[%i] into %s[0] : !map, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @load_no_such_tile(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 2] there is no tile 7 in a stage of 1}}
      pit_gpu.load %m[%i, %i] into %s[7] : !map, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @add_coordinates(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[add 1] 1 coordinates in a tensor of 2 dimensions}}
      pit_gpu.add %s[0] to %m[%i] : !stage, !map
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @add_no_such_tile(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[add 2] there is no tile 7 in a stage of 1}}
      pit_gpu.add %s[7] to %m[%i, %i] : !stage, !map
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>

func.func @add_boxes(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[add 3] boxes of '!pit_gpu.tensor_map<128x64xbf16, swizzle = 128>' do not make up a '!pit_gpu.tile<64x64xbf16, swizzle = 128>' of f16, bf16 or f32}}
      pit_gpu.add %s[0] to %m[%i, %i] : !stage, !map
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x128xf8E4M3FN, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x128xf8E4M3FN, swizzle = 128>

func.func @add_small_floats(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[add 3] boxes of}}
      pit_gpu.add %s[0] to %m[%i, %i] : !stage, !map
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @add_of_a_leader(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      pit_gpu.leader {
        // expected-error @below {{[add 4] all warps of a role add}}
        pit_gpu.add %s[0] to %m[%i, %i] : !stage, !map
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xf32, swizzle = 128>
!map = !pit_gpu.tensor_map<16x32xf32, swizzle = 128>

func.func @add_rows_coordinates(%t: !tile, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[add_rows 1] 1 coordinates in a tensor of 2 dimensions}}
      pit_gpu.add_rows %t to %m[%i] : !tile, !map
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xf32, swizzle = 128>
!map = !pit_gpu.tensor_map<64x32xf32, swizzle = 128>

func.func @add_rows_of_others(%t: !tile, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[add_rows 2] boxes of '!pit_gpu.tensor_map<64x32xf32, swizzle = 128>' and a '!pit_gpu.tile<64x64xf32, swizzle = 128>'; 64 rows of f16, bf16 or f32 in boxes of 16 are right}}
      pit_gpu.add_rows %t to %m[%i, %i] : !tile, !map
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xf32, swizzle = 128>
!map = !pit_gpu.tensor_map<16x32xf32, swizzle = 128>

func.func @add_rows_of_a_leader(%t: !tile, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      pit_gpu.leader {
        // expected-error @below {{[add_rows 3] all warps add their own rows}}
        pit_gpu.add_rows %t to %m[%i, %i] : !tile, !map
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @boxes_rows_of_boxes(%s: !stage, %m: !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 3] boxes of '!pit_gpu.tensor_map<128x64xbf16, swizzle = 128>' do not make up a}}
      pit_gpu.load %m[%i, %i] into %s[0] : !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @boxes_swizzle(%s: !stage, %m: !pit_gpu.tensor_map<64x32xbf16, swizzle = 64>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 3] boxes of '!pit_gpu.tensor_map<64x32xbf16, swizzle = 64>' do not make up a}}
      pit_gpu.load %m[%i, %i] into %s[0] : !pit_gpu.tensor_map<64x32xbf16, swizzle = 64>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @boxes_elements(%s: !stage, %m: !pit_gpu.tensor_map<64x64xf16, swizzle = 128>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 3] boxes of '!pit_gpu.tensor_map<64x64xf16, swizzle = 128>' do not make up a}}
      pit_gpu.load %m[%i, %i] into %s[0] : !pit_gpu.tensor_map<64x64xf16, swizzle = 128>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @boxes_few_rows(%s: !stage, %m: !pit_gpu.tensor_map<4x64xbf16, swizzle = 128>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 3] boxes of '!pit_gpu.tensor_map<4x64xbf16, swizzle = 128>' do not make up a}}
      pit_gpu.load %m[%i, %i] into %s[0] : !pit_gpu.tensor_map<4x64xbf16, swizzle = 128>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @boxes_planes(%s: !stage, %m: !pit_gpu.tensor_map<2x64x64xbf16, swizzle = 128>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 3] boxes}}
      pit_gpu.load %m[%i, %i, %i] into %s[0] : !pit_gpu.tensor_map<2x64x64xbf16, swizzle = 128>, !stage
    }
  }
  return
}

// -----

!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @part_of_a_box(%s: !pit_gpu.stage<[!pit_gpu.tile<64x16xbf16, swizzle = 128>]>, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 3] boxes}}
      pit_gpu.load %m[%i, %i] into %s[0] : !map, !pit_gpu.stage<[!pit_gpu.tile<64x16xbf16, swizzle = 128>]>
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_rank(%s: !stage, %x: memref<?xbf16>, %ids: memref<?xi32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 1] rows of 'memref<?xbf16>' by ids of 'memref<?xi32>'}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<?xbf16>, memref<?xi32>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_no_rank(%s: !stage, %x: memref<bf16>, %ids: memref<?xi32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 1] rows of 'memref<bf16>' by ids of 'memref<?xi32>'}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<bf16>, memref<?xi32>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_gaps(%s: !stage, %x: memref<?x?xbf16, strided<[?, ?]>>, %ids: memref<?xi32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 1] rows of 'memref<?x?xbf16, strided<[?, ?]>>' by ids of 'memref<?xi32>'}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<?x?xbf16, strided<[?, ?]>>, memref<?xi32>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_ids(%s: !stage, %x: memref<?x?xbf16>, %ids: memref<?xi64>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 1] rows of 'memref<?x?xbf16>' by ids of 'memref<?xi64>'}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<?x?xbf16>, memref<?xi64>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_matrix_of_ids(%s: !stage, %x: memref<?x?xbf16>, %ids: memref<?x?xi32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 1] rows of 'memref<?x?xbf16>' by ids of 'memref<?x?xi32>'}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<?x?xbf16>, memref<?x?xi32>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_elements(%s: !stage, %x: memref<?x?xf16>, %ids: memref<?xi32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 2] elements of 'memref<?x?xf16>' into a}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<?x?xf16>, memref<?xi32>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_no_such_tile(%s: !stage, %x: memref<?x?xbf16>, %ids: memref<?xi32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 2] there is no tile 2 in a stage of 1}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[2] : memref<?x?xbf16>, memref<?xi32>, !stage
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @store_elements(%f: !values, %x: memref<?x?xbf16>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[store 1] '!pit_gpu.fragment<64x64xf32>' to 'memref<?x?xbf16>'}}
      pit_gpu.store %f to %x[%i, %i] : !values, memref<?x?xbf16>
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @store_gaps(%f: !values, %x: memref<?x?xf32, strided<[?, 4]>>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[store 1] '!pit_gpu.fragment<64x64xf32>' to 'memref<?x?xf32, strided<[?, 4]>>'}}
      pit_gpu.store %f to %x[%i, %i] : !values, memref<?x?xf32, strided<[?, 4]>>
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @store_rank(%f: !values, %x: memref<f32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[store 1] '!pit_gpu.fragment<64x64xf32>' to 'memref<f32>'}}
      pit_gpu.store %f to %x[%i, %i] : !values, memref<f32>
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>

func.func @mma_rows(%a: !tile, %b: !tile, %acc: !pit_gpu.accumulator<128x64xf32>) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 1] 64x64 times 64x64 gives no 128x64}}
      %r = pit_gpu.mma %a, %b, %acc : !tile, !tile, !pit_gpu.accumulator<128x64xf32>
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>

func.func @mma_depth(%a: !tile, %b: !pit_gpu.tile<128x64xbf16, swizzle = 128>, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 1] 64x64 times 128x64 gives no 64x64}}
      %r = pit_gpu.mma %a, %b, %acc : !tile, !pit_gpu.tile<128x64xbf16, swizzle = 128>, !sums
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>

func.func @mma_transposed_depth(%a: !pit_gpu.tile<128x64xbf16, swizzle = 128>, %b: !pit_gpu.tile<64x128xbf16, swizzle = 128>, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 1] 64x128 times 64x128 gives no 64x64}}
      %r = pit_gpu.mma %a transpose, %b, %acc : !pit_gpu.tile<128x64xbf16, swizzle = 128>, !pit_gpu.tile<64x128xbf16, swizzle = 128>, !sums
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>

func.func @mma_elements(%a: !tile, %b: !pit_gpu.tile<64x64xf16, swizzle = 128>, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 2] 'bf16' times 'f16'; one type is right}}
      %r = pit_gpu.mma %a, %b, %acc : !tile, !pit_gpu.tile<64x64xf16, swizzle = 128>, !sums
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>

func.func @mma_tf32(%a: !pit_gpu.tile<64x32xf32, swizzle = 128>, %b: !pit_gpu.tile<32x64xf32, swizzle = 128>, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 2] 'f32' times 'f32'; a of m x k and b of n x k, and one type are right}}
      %r = pit_gpu.mma %a, %b, %acc : !pit_gpu.tile<64x32xf32, swizzle = 128>, !pit_gpu.tile<32x64xf32, swizzle = 128>, !sums
    }
  }
  return
}

// -----

func.func @mma_f8(%a: !pit_gpu.tile<128x128xf8E5M2, swizzle = 128>, %b: !pit_gpu.tile<64x128xf8E4M3FN, swizzle = 128>, %acc: !pit_gpu.accumulator<128x64xf32>) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 2] 'f8E5M2' times 'f8E4M3FN'}}
      %r = pit_gpu.mma %a transpose, %b transpose, %acc : !pit_gpu.tile<128x128xf8E5M2, swizzle = 128>, !pit_gpu.tile<64x128xf8E4M3FN, swizzle = 128>, !pit_gpu.accumulator<128x64xf32>
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>

func.func @mma_step(%a: !pit_gpu.tile<64x8xbf16, swizzle = 128>, %b: !pit_gpu.tile<8x64xbf16, swizzle = 128>, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 3] k of 8 elements of 'bf16'; a multiple of 32 bytes is right}}
      %r = pit_gpu.mma %a, %b, %acc : !pit_gpu.tile<64x8xbf16, swizzle = 128>, !pit_gpu.tile<8x64xbf16, swizzle = 128>, !sums
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>
!values = !pit_gpu.fragment<64x64xf32>

func.func @mma_fragment(%a: !values, %b: !pit_gpu.tile<64x64xf32, swizzle = 128>, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 4] a fragment of 'f32' with 16 rows in a warp; one of 8 or 16 bits with 16, as it is, is right}}
      %r = pit_gpu.mma %a, %b transpose, %acc : !values, !pit_gpu.tile<64x64xf32, swizzle = 128>, !sums
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>
!narrow = !pit_gpu.fragment<64x64xbf16>

func.func @mma_transposed_fragment(%a: !narrow, %b: !tile, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 4] a fragment of 'bf16' with 16 rows in a warp, transposed}}
      %r = pit_gpu.mma %a transpose, %b, %acc : !narrow, !tile, !sums
    }
  }
  return
}

// -----

func.func @pending() {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma_wait 1] 8 products pending; 0 to 7 is right}}
      pit_gpu.mma_wait pending 8
    }
  }
  return
}

// -----

func.func @negative_pending() {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma_wait 1] -1 products pending}}
      pit_gpu.mma_wait pending -1
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>

func.func @other_extents(%acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma_wait 2] a fragment of f32 with the same extents for each accumulator, and 16 rows in a warp, is right}}
      %f = pit_gpu.mma_wait pending 0 of %acc : !sums -> !pit_gpu.fragment<64x32xf32>
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>
!narrow = !pit_gpu.fragment<64x64xbf16>

func.func @rounded(%acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma_wait 2]}}
      %f = pit_gpu.mma_wait pending 0 of %acc : !sums -> !narrow
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>

func.func @no_fragment(%acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma_wait 2]}}
      "pit_gpu.mma_wait"(%acc) <{pending = 0 : i64, operandSegmentSizes = array<i32: 1, 0>}> : (!sums) -> ()
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>
!values = !pit_gpu.fragment<64x64xf32>

func.func @still_pending(%t: !tile, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      %r = pit_gpu.mma %t, %t, %acc : !tile, !tile, !sums
      // expected-error @below {{[mma_wait 3] 1 products may be pending, and 0 were started after the one that gives the sums}}
      %f = pit_gpu.mma_wait pending 1 of %r : !sums -> !values
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>
!values = !pit_gpu.fragment<64x64xf32>

func.func @pending_of_a_hand_over(%t: !tile, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      %x, %y = pit_gpu.hand_over -> !sums, !sums {
        %r = pit_gpu.mma %t, %t, %acc : !tile, !tile, !sums
        %q = pit_gpu.mma %t, %t, %acc : !tile, !tile, !sums
        pit_gpu.yield %r, %q : !sums, !sums
      }
      %f = pit_gpu.mma_wait pending 1 of %x : !sums -> !values
      // expected-error @below {{[mma_wait 3] 1 products may be pending, and 0 were}}
      %g = pit_gpu.mma_wait pending 1 of %y : !sums -> !values
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @accumulate(%f: !values) {
  // expected-error @below {{[accumulate 1] '!pit_gpu.fragment<64x64xf32>' as '!pit_gpu.accumulator<64x128xf32>'; the same extents, of f32 in registers, with 16 rows in a warp are right}}
  %acc = pit_gpu.accumulate %f : !values -> !pit_gpu.accumulator<64x128xf32>
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>
!narrow = !pit_gpu.fragment<64x64xbf16>

func.func @accumulate_rounded(%f: !narrow) {
  // expected-error @below {{[accumulate 1]}}
  %acc = pit_gpu.accumulate %f : !narrow -> !sums
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @splat(%x: f16) {
  // expected-error @below {{[splat 1] 'f16' as element of '!pit_gpu.fragment<64x64xf32>'}}
  %f = pit_gpu.splat %x : f16 -> !values
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @map_rows(%x: !pit_gpu.fragment<128x64xf32>) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[map 1] an input '!pit_gpu.fragment<128x64xf32>' of '!pit_gpu.fragment<64x64xf32>'; the same rows, as many in a warp, and as many columns or one, are right}}
      %f = pit_gpu.map (%x : !pit_gpu.fragment<128x64xf32>) -> !values {
      ^bb0(%i: i32, %j: i32, %e: f32):
        pit_gpu.yield %e : f32
      }
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>
!column = !pit_gpu.fragment<64x1xf32>

func.func @map_cols(%x: !values) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[map 1] an input}}
      %f = pit_gpu.map (%x : !values) -> !column {
      ^bb0(%i: i32, %j: i32, %e: f32):
        pit_gpu.yield %e : f32
      }
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @map_arguments(%x: !values) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[map 2] the region has to take two i32 and an element of each of 1 inputs, and to yield one 'f32'}}
      %f = pit_gpu.map (%x : !values) -> !values {
      ^bb0(%i: i32, %j: i32):
        %e = arith.constant 0.0 : f32
        pit_gpu.yield %e : f32
      }
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @map_yields(%x: !values) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[map 2] the region}}
      %f = pit_gpu.map (%x : !values) -> !values {
      ^bb0(%i: i32, %j: i32, %e: f32):
        pit_gpu.yield
      }
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>
!narrow = !pit_gpu.fragment<64x64xbf16>

func.func @map_other_yield(%x: !values) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[map 2] the region}}
      %f = pit_gpu.map (%x : !values) -> !narrow {
      ^bb0(%i: i32, %j: i32, %e: f32):
        pit_gpu.yield %e : f32
      }
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @map_stores(%x: !values, %m: memref<?x?xf32>, %z: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[map 3] there is a pit_gpu.store in the region, which computes single elements}}
      %f = pit_gpu.map (%x : !values) -> !values {
      ^bb0(%i: i32, %j: i32, %e: f32):
        pit_gpu.store %x to %m[%z, %z] : !values, memref<?x?xf32>
        pit_gpu.yield %e : f32
      }
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @map_terminator(%x: !values) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{expects regions to end with 'pit_gpu.yield'}}
      // expected-note @below {{in custom textual format}}
      %f = "pit_gpu.map"(%x) ({
      ^bb0(%i: i32, %j: i32, %e: f32):
        llvm.unreachable
      }) : (!values) -> !values
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @reduce_columns(%x: !values) {
  // expected-error @below {{[reduce_rows 1] '!pit_gpu.fragment<64x64xf32>' to '!pit_gpu.fragment<64x64xf32>'; one column, and the same rows and elements, are right}}
  %r = pit_gpu.reduce_rows %x : !values -> !values {
  ^bb0(%a: f32, %b: f32):
    pit_gpu.yield %a : f32
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @reduce_elements(%x: !values) {
  // expected-error @below {{[reduce_rows 1]}}
  %r = pit_gpu.reduce_rows %x : !values -> !pit_gpu.fragment<64x1xf16> {
  ^bb0(%a: f32, %b: f32):
    pit_gpu.yield %a : f32
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>
!column = !pit_gpu.fragment<64x1xf32>

func.func @reduce_one(%x: !values) {
  // expected-error @below {{[reduce_rows 2] the region has to take two 'f32' and to yield one}}
  %r = pit_gpu.reduce_rows %x : !values -> !column {
  ^bb0(%a: f32):
    pit_gpu.yield %a : f32
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>
!column = !pit_gpu.fragment<64x1xf32>

func.func @reduce_splats(%x: !values) {
  // expected-error @below {{[reduce_rows 3] there is a pit_gpu.splat in the region}}
  %r = pit_gpu.reduce_rows %x : !values -> !column {
  ^bb0(%a: f32, %b: f32):
    %s = pit_gpu.splat %a : f32 -> !values
    pit_gpu.yield %b : f32
  }
  return
}

// -----

// Two blocks of a multiprocessor share its registers.
func.func @registers_of_two_blocks() {
  // expected-error @below {{[roles 3] 2 blocks of 256 threads with 34816 registers}}
  pit_gpu.roles blocks 2 {
    role "a" warps 4 registers 40 {
    }
    role "b" warps 4 registers 232 {
    }
  }
  return
}

// -----

func.func @no_blocks() {
  // expected-error @below {{[roles 3] 0 blocks}}
  pit_gpu.roles blocks 0 {
    role "a" warps 4 registers 40 {
    }
  }
  return
}

// -----

func.func @order_of_two(%x: memref<4x8x64xbf16>) {
  // expected-error @below {{[tensor_map 4] dimension 0 and an order of 2 dimensions; each of the 3 once is right}}
  %m = pit_gpu.tensor_map %x {order = array<i64: 0, 2>} : memref<4x8x64xbf16> -> !pit_gpu.tensor_map<1x8x64xbf16, swizzle = 128>
  return
}

// -----

func.func @along_nothing(%x: memref<8x64xbf16>) {
  // expected-error @below {{[tensor_map 4] dimension 2}}
  %m = pit_gpu.tensor_map %x {along_k = 2 : i64} : memref<8x64xbf16> -> !pit_gpu.tensor_map<8x64xbf16, swizzle = 128>
  return
}

// -----

func.func @odd_cluster() {
  // expected-error @below {{[ring 4] a cluster of 3 blocks; 1, 2, 4 or 8 is right}}
  %r = pit_gpu.ring full 1 empty 1 cluster 3 : !pit_gpu.ring<2, []>
  return
}

// -----

func.func @nothing_shared() {
  // expected-error @below {{[shared 1] 0 bytes at 0; 1 to 16777215 below 16777216 are right}}
  %p = pit_gpu.shared 0 : i32
  return
}

// -----

func.func @thread_of_nobody() {
  // expected-error @below {{[thread 1] there is no role around it}}
  %t = pit_gpu.thread : i32
  return
}

// -----

func.func @warp_of_nobody() {
  // expected-error @below {{[warp 1] there is no role around it}}
  %w = pit_gpu.warp : i32
  return
}

// -----

func.func @two_leaders() {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      pit_gpu.leader of warps {
        // expected-error @below {{[leader 1] there is no role around it, or another leader}}
        pit_gpu.leader {
        }
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @bytes_twice(%s: !stage, %n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[commit 1] after tma with 64 bytes, and others that are announced}}
      pit_gpu.commit %s after tma bytes 64 announcing %n : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @release_to_five(%s: !stage) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[release 2] a cluster of 5 blocks; 1, 2, 4 or 8 is right}}
      pit_gpu.release %s cluster 5 : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @half_a_box(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 4] a multicast of '!pit_gpu.tile<64x64xbf16, swizzle = 128>' to 2 blocks in boxes of 64 rows}}
      pit_gpu.load %m[%i, %i] into %s[0] multicast 2 : !map, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!row = !pit_gpu.tensor_map<1x64xbf16, swizzle = 128>

func.func @rows_along_columns(%s: !stage, %m: !row, %i: index, %r: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      pit_gpu.leader of warps {
        // expected-error @below {{[load_rows 1] 2 coordinates, and rows along dimension 1, in a tensor of 2 dimensions}}
        pit_gpu.load_rows %m[%i, %i] dim 1 rows (%r) into %s[0] from %r : !row, !stage
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!box = !pit_gpu.tensor_map<8x64xbf16, swizzle = 128>

func.func @boxes_of_rows(%s: !stage, %m: !box, %i: index, %r: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      pit_gpu.leader of warps {
        // expected-error @below {{[load_rows 2] boxes of}}
        pit_gpu.load_rows %m[%i, %i] dim 0 rows (%r) into %s[0] from %r : !box, !stage
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!row = !pit_gpu.tensor_map<1x64xbf16, swizzle = 128>

func.func @rows_by_all(%s: !stage, %m: !row, %i: index, %r: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load_rows 3] there is no pit_gpu.leader of warps around it}}
      pit_gpu.load_rows %m[%i, %i] dim 0 rows (%r) into %s[0] from %r : !row, !stage
    }
  }
  return
}
