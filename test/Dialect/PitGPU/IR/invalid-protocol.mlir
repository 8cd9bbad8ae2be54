// The verifier follows a stage on every path.
//
// RUN: pit-opt %s -split-input-file -verify-diagnostics

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @no_commit(%ring: !ring, %n: i32) {
  // expected-error @below {{[protocol 1] role "producers" does not commit a stage on every path}}
  pit_gpu.roles {
    role "producers" warps 4 registers 128 {
      // expected-note @below {{the stage}}
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

func.func @no_release_on_one_branch(%ring: !ring, %n: i32, %c: i1) {
  // expected-error @below {{[protocol 1] role "consumers" does not release a stage on every path}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      // expected-note @below {{the stage}}
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      scf.if %c {
        pit_gpu.release %s : !stage
      } else {
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

// The next iteration gives it back, and nobody does after the last one.
func.func @no_release_after_loop(%ring: !ring, %n: index, %none: !stage) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{[protocol 1] role "consumers" does not release a stage on every path}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      %last = scf.for %k = %c0 to %n step %c1 iter_args(%before = %none) -> !stage {
        %number = arith.index_cast %k : index to i32
        // expected-note @below {{the stage}}
        %s = pit_gpu.wait %ring[%number] : !ring -> !stage
        %later = arith.cmpi sgt, %k, %c0 : index
        pit_gpu.release %before if %later : !stage
        scf.yield %s : !stage
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

// Which of its lanes a warp elects is not known, and one of them arrives.
func.func @release_by_leader(%ring: !ring, %n: i32) {
  // expected-error @below {{[protocol 1] role "consumers" does not release a stage on every path}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      // expected-note @below {{the stage}}
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      pit_gpu.leader {
        pit_gpu.release %s : !stage
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

// A loop may have no iteration.
func.func @release_in_loop(%ring: !ring, %n: i32, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{[protocol 1] role "consumers" does not release a stage on every path}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      // expected-note @below {{the stage}}
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      scf.for %k = %c0 to %m step %c1 {
        pit_gpu.release %s : !stage
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

// What other loops do with a stage that they carry is not followed.
func.func @carried_by_while(%ring: !ring, %n: i32, %none: !stage) {
  // expected-error @below {{[protocol 1] role "consumers" does not release a stage on every path}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      scf.while (%before = %none) : (!stage) -> () {
        %c = arith.constant true
        scf.condition(%c)
      } do {
        // expected-note @below {{the stage}}
        %s = pit_gpu.wait %ring[%n] : !ring -> !stage
        scf.yield %s : !stage
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

func.func @use_after_release(%ring: !ring, %n: i32) {
  // expected-error @below {{[protocol 2] role "consumers" uses a stage after it has been given on}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      pit_gpu.release %s : !stage
      // expected-note @below {{the use}}
      %t = pit_gpu.tile %s[0] : !stage -> !tile
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

func.func @use_in_a_branch_after_release(%ring: !ring, %n: i32, %c: i1) {
  // expected-error @below {{[protocol 2] role "consumers" uses a stage after it has been given on}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      pit_gpu.release %s : !stage
      scf.if %c {
        // expected-note @below {{the use}}
        %t = pit_gpu.tile %s[0] : !stage -> !tile
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

func.func @two_releases(%ring: !ring, %n: i32, %c: i1) {
  // expected-error @below {{[protocol 2] role "consumers" releases a stage 2 times on one path}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      // expected-note @below {{the stage}}
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      scf.if %c {
        pit_gpu.release %s : !stage
      }
      pit_gpu.release %s : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @wrong_bytes(%ring: !ring, %map: !map, %n: i32, %k: index) {
  // expected-error @below {{[protocol 3] role "producers" announces 8191 bytes of a stage, and loads bring 8192}}
  pit_gpu.roles {
    role "producers" warps 4 registers 128 {
      // expected-note @below {{the stage}}
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      pit_gpu.commit %s after tma bytes 8191 : !stage
      pit_gpu.load %map[%k, %k] into %s[0] : !map, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile, !tile]>
!stage = !pit_gpu.stage<[!tile, !tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

// The sums of both branches are equal, and those of each are not.
func.func @wrong_bytes_on_each_branch(%ring: !ring, %map: !map, %n: i32, %k: index, %c: i1) {
  // expected-error @below {{[protocol 3] role "producers" announces 8192 bytes of a stage, and loads bring 16384}}
  pit_gpu.roles {
    role "producers" warps 4 registers 128 {
      // expected-note @below {{the stage}}
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      scf.if %c {
        pit_gpu.commit %s after tma bytes 8192 : !stage
        pit_gpu.load %map[%k, %k] into %s[0] : !map, !stage
        pit_gpu.load %map[%k, %k] into %s[1] : !map, !stage
      } else {
        pit_gpu.commit %s after tma bytes 16384 : !stage
        pit_gpu.load %map[%k, %k] into %s[0] : !map, !stage
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

func.func @wrong_empty(%n: i32) {
  // expected-note @below {{the ring}}
  %ring = pit_gpu.ring full 128 empty 4 : !ring
  // expected-error @below {{[protocol 4] a ring is full after 128 and empty after 4 arrivals, and its roles arrive 128 and 8 times}}
  pit_gpu.roles {
    role "producers" warps 4 registers 128 {
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      pit_gpu.commit %s after copies : !stage
    }
    role "consumers" warps 8 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      pit_gpu.release %s : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

// All 256 threads arrive with their copies.
func.func @wrong_full(%n: i32) {
  // expected-note @below {{the ring}}
  %ring = pit_gpu.ring full 1 empty 4 : !ring
  // expected-error @below {{[protocol 4] a ring is full after 1 and empty after 4 arrivals, and its roles arrive 256 and 4 times}}
  pit_gpu.roles {
    role "producers" warps 8 registers 128 {
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      pit_gpu.commit %s after writes : !stage
    }
    role "consumers" warps 4 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      pit_gpu.release %s : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

// Nobody fills the ring.
func.func @no_producer(%n: i32) {
  // expected-note @below {{the ring}}
  %ring = pit_gpu.ring full 1 empty 4 : !ring
  // expected-error @below {{[protocol 4] a ring is full after 1 and empty after 4 arrivals, and its roles arrive 0 and 4 times}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      pit_gpu.release %s : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

func.func @arrivals_differ(%ring: !ring, %n: i32, %c: i1) {
  // expected-error @below {{[protocol 4] role "producers" arrives 128 times for one use of a ring, and 256 times for another}}
  pit_gpu.roles {
    role "producers" warps 4 registers 128 {
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      scf.if %c {
        pit_gpu.commit %s after writes : !stage
      }
      pit_gpu.commit %s after copies : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>
!sums = !pit_gpu.accumulator<64x64xf32>

func.func @release_before_wait(%ring: !ring, %n: i32, %acc: !sums) {
  // expected-error @below {{[protocol 5] role "consumers" releases a stage while a product may read it; a mma_wait is missing, or leaves too many pending}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      %t = pit_gpu.tile %s[0] : !stage -> !tile
      // expected-note @below {{the product}}
      %r = pit_gpu.mma %t, %t, %acc : !tile, !tile, !sums
      pit_gpu.release %s : !stage
      pit_gpu.mma_wait pending 0
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!half = !pit_gpu.tile<64x64xbf16, swizzle = 128, pitch = 16384>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>
!sums = !pit_gpu.accumulator<64x64xf32>

// The wait leaves the only product pending, which reads a part of the tile.
func.func @too_many_pending(%ring: !ring, %n: i32, %acc: !sums, %zero: i32) {
  // expected-error @below {{[protocol 5] role "consumers" releases a stage while a product may read it}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      %t = pit_gpu.tile %s[0] : !stage -> !tile
      %h = pit_gpu.subtile %t[%zero, %zero] : !tile -> !half
      // expected-note @below {{the product}}
      %r = pit_gpu.mma %h, %h, %acc : !half, !half, !sums
      pit_gpu.mma_wait pending 1
      pit_gpu.release %s : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>
!sums = !pit_gpu.accumulator<64x64xf32>

// Only a branch waits.
func.func @wait_in_a_branch(%ring: !ring, %n: i32, %acc: !sums, %c: i1) {
  // expected-error @below {{[protocol 5] role "consumers" releases a stage while a product may read it}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      %t = pit_gpu.tile %s[0] : !stage -> !tile
      // expected-note @below {{the product}}
      %r = pit_gpu.mma %t, %t, %acc : !tile, !tile, !sums
      scf.if %c {
        pit_gpu.mma_wait pending 0
      }
      pit_gpu.release %s : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>
!sums = !pit_gpu.accumulator<64x64xf32>

// Two products may be pending when the stage of the last iteration is released: its own, too.
func.func @pending_too_many_in_loop(%ring: !ring, %n: index, %acc: !sums, %none: !stage) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{[protocol 5] role "consumers" releases a stage while a product may read it}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      %sums, %last = scf.for %k = %c0 to %n step %c1
          iter_args(%so_far = %acc, %before = %none) -> (!sums, !stage) {
        %number = arith.index_cast %k : index to i32
        %s = pit_gpu.wait %ring[%number] : !ring -> !stage
        %t = pit_gpu.tile %s[0] : !stage -> !tile
        // expected-note @below {{the product}}
        %r = pit_gpu.mma %t, %t, %so_far : !tile, !tile, !sums
        pit_gpu.mma_wait pending 2
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

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>
!sums = !pit_gpu.accumulator<64x64xf32>

// The product reads the stage of the iteration before, which is released at once.
func.func @product_of_a_carried_stage(%ring: !ring, %n: index, %acc: !sums, %first: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{[protocol 5] role "consumers" releases a stage while a product may read it}}
  pit_gpu.roles {
    role "consumers" warps 4 registers 128 {
      %s0 = pit_gpu.wait %ring[%first] : !ring -> !stage
      %sums, %last = scf.for %k = %c1 to %n step %c1
          iter_args(%so_far = %acc, %before = %s0) -> (!sums, !stage) {
        %number = arith.index_cast %k : index to i32
        %s = pit_gpu.wait %ring[%number] : !ring -> !stage
        %t = pit_gpu.tile %before[0] : !stage -> !tile
        // expected-note @below {{the product}}
        %r = pit_gpu.mma %t, %t, %so_far : !tile, !tile, !sums
        pit_gpu.release %before : !stage
        scf.yield %r, %s : !sums, !stage
      }
      pit_gpu.mma_wait pending 0
      pit_gpu.release %last : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

// One thread of each warpgroup speaks to both blocks of the cluster.
func.func @arrivals_of_a_cluster(%n: i32) {
  // expected-note @below {{the ring}}
  %ring = pit_gpu.ring full 128 empty 8 cluster 2 : !ring
  // expected-error @below {{[protocol 4] a ring is full after 128 and empty after 8 arrivals, and its roles arrive 128 and 4 times}}
  pit_gpu.roles {
    role "producers" warps 4 registers 128 {
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      pit_gpu.commit %s after copies : !stage
    }
    role "consumers" warps 8 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      pit_gpu.release %s by warpgroups cluster 2 : !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x128xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @multicast_to_more(%n: i32, %k: index, %map: !map) {
  %ring = pit_gpu.ring full 1 empty 8 : !ring
  // expected-error @below {{[protocol 6] role "producers" loads for 2 blocks, and the ring's cluster has 1}}
  pit_gpu.roles {
    role "producers" warps 4 registers 128 {
      // expected-note @below {{the stage}}
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      pit_gpu.commit %s after tma bytes 16384 : !stage
      pit_gpu.load %map[%k, %k] into %s[0] multicast 2 : !map, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>
!stage = !pit_gpu.stage<[!tile]>

func.func @release_to_one(%n: i32) {
  %ring = pit_gpu.ring full 1 empty 8 cluster 2 : !ring
  // expected-error @below {{[protocol 6] role "consumers" speaks to 1 blocks, and the ring's cluster has 2}}
  pit_gpu.roles {
    role "consumers" warps 8 registers 128 {
      // expected-note @below {{the stage}}
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      pit_gpu.release %s : !stage
    }
  }
  return
}
