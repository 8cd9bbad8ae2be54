// Programs that keep the protocol.
//
// RUN: pit-opt %s | FileCheck %s

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>

// A stage is released one iteration later, when the product that reads it is done.
// CHECK-LABEL: @released_later
func.func @released_later(%n: index, %acc: !sums, %none: !stage, %map: !map) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ring = pit_gpu.ring full 1 empty 4 : !ring
  pit_gpu.roles {
    role "producers" warps 4 registers 40 {
      scf.for %k = %c0 to %n step %c1 {
        %number = arith.index_cast %k : index to i32
        %s = pit_gpu.acquire %ring[%number] : !ring -> !stage
        pit_gpu.commit %s after tma bytes 8192 : !stage
        pit_gpu.load %map[%k, %k] into %s[0] : !map, !stage
      }
    }
    role "consumers" warps 4 registers 232 {
      %sums, %last = scf.for %k = %c0 to %n step %c1
          iter_args(%so_far = %acc, %before = %none) -> (!sums, !stage) {
        %number = arith.index_cast %k : index to i32
        %s = pit_gpu.wait %ring[%number] : !ring -> !stage
        %t = pit_gpu.tile %s[0] : !stage -> !tile
        %r = pit_gpu.mma %t, %t, %so_far : !tile, !tile, !sums
        pit_gpu.mma_wait pending 1
        %later = arith.cmpi sgt, %k, %c0 : index
        pit_gpu.release %before if %later : !stage
        scf.yield %r, %s : !sums, !stage
      }
      pit_gpu.mma_wait pending 0
      %any = arith.cmpi sgt, %n, %c0 : index
      pit_gpu.release %last if %any : !stage
    }
  }
  return
}

// A stage is committed one iteration later, when the next one has been taken.
// CHECK-LABEL: @committed_later
func.func @committed_later(%n: index, %first: i32, %x: memref<?x?xbf16>, %ids: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ring = pit_gpu.ring full 128 empty 4 : !ring
  pit_gpu.roles {
    role "producers" warps 4 registers 40 {
      %s0 = pit_gpu.acquire %ring[%first] : !ring -> !stage
      pit_gpu.gather %x rows %ids[%c0] cols %c0 into %s0[0] : memref<?x?xbf16>, memref<?xi32>, !stage
      %last = scf.for %k = %c1 to %n step %c1 iter_args(%before = %s0) -> !stage {
        %number = arith.index_cast %k : index to i32
        %s = pit_gpu.acquire %ring[%number] : !ring -> !stage
        pit_gpu.commit %before after copies : !stage
        scf.yield %s : !stage
      }
      pit_gpu.commit %last after copies : !stage
    }
    role "consumers" warps 4 registers 232 {
      scf.for %k = %c0 to %n step %c1 {
        %number = arith.index_cast %k : index to i32
        %s = pit_gpu.wait %ring[%number] : !ring -> !stage
        pit_gpu.release %s : !stage
      }
    }
  }
  return
}

// CHECK-LABEL: @by_leader
func.func @by_leader(%n: i32, %k: index, %map: !map) {
  %ring = pit_gpu.ring full 1 empty 4 : !ring
  pit_gpu.roles {
    role "producers" warps 4 registers 40 {
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      pit_gpu.leader {
        pit_gpu.commit %s after tma bytes 8192 : !stage
        pit_gpu.load %map[%k, %k] into %s[0] : !map, !stage
      }
    }
    role "consumers" warps 4 registers 232 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      pit_gpu.release %s : !stage
    }
  }
  return
}

// CHECK-LABEL: @on_both_branches
func.func @on_both_branches(%n: i32, %k: index, %map: !map, %x: memref<?x?xbf16>,
                            %ids: memref<?xi32>, %c: i1, %acc: !sums) {
  %ring = pit_gpu.ring full 1 empty 4 : !ring
  pit_gpu.roles {
    role "producers" warps 4 registers 40 {
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      scf.if %c {
        pit_gpu.commit %s after tma bytes 8192 : !stage
        pit_gpu.load %map[%k, %k] into %s[0] : !map, !stage
      } else {
        pit_gpu.load %map[%k, %k] into %s[0] : !map, !stage
        pit_gpu.commit %s after tma bytes 8192 : !stage
      }
    }
    role "consumers" warps 4 registers 232 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      scf.if %c {
        %t = pit_gpu.tile %s[0] : !stage -> !tile
        %r = pit_gpu.hand_over -> !sums {
          %sums = pit_gpu.mma %t, %t, %acc : !tile, !tile, !sums
          pit_gpu.yield %sums : !sums
        }
        pit_gpu.mma_wait pending 0
        pit_gpu.release %s : !stage
      } else {
        pit_gpu.release %s : !stage
      }
    }
  }
  return
}

// The branch without a product comes first, and needs no wait.
// CHECK-LABEL: @on_one_branch
func.func @on_one_branch(%ring: !ring, %n: i32, %c: i1, %acc: !sums) {
  pit_gpu.roles {
    role "consumers" warps 4 registers 232 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      %t = pit_gpu.tile %s[0] : !stage -> !tile
      scf.if %c {
        pit_gpu.release %s : !stage
      } else {
        %r = pit_gpu.mma %t, %t, %acc : !tile, !tile, !sums
        pit_gpu.mma_wait pending 0
        pit_gpu.release %s : !stage
      }
    }
  }
  return
}

// A branch gives the stage on as its result; tiles carry it.
// CHECK-LABEL: @carried
func.func @carried(%n: i32, %m: index, %c: i1, %none: !stage) {
  %ring = pit_gpu.ring full 128 empty 4 : !ring
  pit_gpu.roles {
    role "producers" warps 4 registers 40 {
      pit_gpu.tiles (%i, %j) to (%m, %m) step (64, 64) raster 8 {
        %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
        pit_gpu.commit %s after writes : !stage
      }
    }
    role "consumers" warps 4 registers 232 {
      %last = pit_gpu.tiles (%i, %j) to (%m, %m) step (64, 64) raster 8 carry (%before = %none) -> !stage {
        pit_gpu.release %before if %c : !stage
        %s = pit_gpu.wait %ring[%n] : !ring -> !stage
        %same = scf.if %c -> !stage {
          scf.yield %s : !stage
        } else {
          scf.yield %s : !stage
        }
        pit_gpu.yield %same : !stage
      }
      pit_gpu.release %last if %c : !stage
    }
  }
  return
}
