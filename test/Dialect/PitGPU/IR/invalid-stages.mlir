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

func.func @address_of_a_row(%t: !pit_gpu.tile<64x64xbf16, swizzle = 128>, %i: i32) {
  // expected-error @below {{[address 1] it has a row alone; both, or neither, are right}}
  %a = "pit_gpu.address"(%t, %i) <{operandSegmentSizes = array<i32: 1, 1, 0>}>
      : (!pit_gpu.tile<64x64xbf16, swizzle = 128>, i32) -> i32
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
