// RUN: pit-opt %s -split-input-file -verify-diagnostics

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

func.func @warpgroup() {
  // expected-error @below {{[warpgroup 1] there is no role around it}}
  %g = pit_gpu.warpgroup : i32
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

func.func @copy_without_a_role(%s: !stage, %p: !llvm.ptr<1>, %i: i32) {
  // expected-error @below {{'pit_gpu.copy' op [roles 4] there is no role around it}}
  pit_gpu.copy %p into %s[0] at [%i, %i] : !llvm.ptr<1>, !stage
  return
}

// -----

func.func @local_store_without_a_role(%f: !pit_gpu.fragment<64x64xf16>, %t: !pit_gpu.tile<64x64xf16, swizzle = 128>) {
  // expected-error @below {{'pit_gpu.local_store' op [roles 4] there is no role around it}}
  pit_gpu.local_store %f into %t : !pit_gpu.fragment<64x64xf16>, !pit_gpu.tile<64x64xf16, swizzle = 128>
  return
}

// -----

func.func @yield() {
  // expected-error @below {{expects parent op to be one of}}
  pit_gpu.yield
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @map_terminator(%x: !values) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{expects regions to end with 'pit_gpu.yield'}}
      // expected-note @below {{in custom textual format}}
      %f = "pit_gpu.map"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
      ^bb0(%i: i32, %j: i32, %e: f32):
        llvm.unreachable
      }) : (!values) -> !values
    }
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
