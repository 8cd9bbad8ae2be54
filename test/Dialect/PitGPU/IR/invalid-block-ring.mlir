// Rings of the block that break a rule.
//
// RUN: pit-opt %s -split-input-file -verify-diagnostics

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @of_roles(%place: i32) {
  // expected-error @below {{[block_ring 1] a ring that roles share; one of the block, where all threads are, is right}}
  %r = pit_gpu.block_ring %place : !pit_gpu.ring<3, [!rows]>
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @carried(%place: i32, %n: i32) {
  // expected-error @below {{[block_ring 1] a scf.for takes it; acquire and wait alone are followed}}
  %r = pit_gpu.block_ring %place : !ring
  %last = scf.for %k = %n to %n step %n iter_args(%same = %r) -> !ring : i32 {
    scf.yield %same : !ring
  }
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @in_a_role(%place: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[block_ring 1] it is in a role; one of the block}}
      %r = pit_gpu.block_ring %place : !ring
    }
  }
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @with_barriers() {
  // expected-error @below {{[ring 5] a ring of the block; pit_gpu.block_ring makes it}}
  %r = pit_gpu.ring full 1 empty 1 : !ring
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @acquired_in_a_role(%r: !ring, %n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[acquire 2] it is in a role, and the ring one of the whole block}}
      %s = pit_gpu.acquire %r[%n] : !ring -> !stage
    }
  }
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @awaited_in_a_role(%r: !ring, %n: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[wait 2] it is in a role, and the ring one of the whole block}}
      %s = pit_gpu.wait %r[%n] : !ring -> !stage
    }
  }
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @stage_of_roles(%r: !ring, %n: i32) {
  // expected-error @below {{[acquire 1] a stage of 1 tiles from a ring of 1 of the block; the same tiles are right}}
  %s = pit_gpu.acquire %r[%n] : !ring -> !pit_gpu.stage<[!rows]>
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @written(%r: !ring, %n: i32) {
  %s = pit_gpu.acquire %r[%n] : !ring -> !stage
  // expected-error @below {{[commit 4] a stage of the block is full after writes; after copies, always, is right}}
  pit_gpu.commit %s after writes : !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @committed_on_a_condition(%r: !ring, %n: i32, %c: i1) {
  %s = pit_gpu.acquire %r[%n] : !ring -> !stage
  // expected-error @below {{[commit 4] a stage of the block is full after copies on a condition}}
  pit_gpu.commit %s after copies if %c : !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @released_by_warpgroups(%r: !ring, %n: i32) {
  %s = pit_gpu.wait %r[%n] : !ring -> !stage
  // expected-error @below {{[release 4] a stage of the block is released on a condition, by warpgroups or to others; a release alone is right}}
  pit_gpu.release %s by warpgroups : !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @released_after_products(%r: !ring, %n: i32) {
  %s = pit_gpu.wait %r[%n] : !ring -> !stage
  // expected-error @below {{[release 4] a stage of the block is released after products}}
  pit_gpu.release %s after products : !stage
  return
}

// -----

!lines = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!lines], block>
!stage = !pit_gpu.stage<[!lines], block>

func.func @load_without_a_role(%s: !stage, %map: !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>, %i: index) {
  // expected-error @below {{[roles 4] there is no role around it}}
  pit_gpu.load %map[%i, %i] into %s[0] : !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>, !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @load_into_rows(%s: !stage, %map: !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>, %i: index) {
  // expected-error @below {{[load 2] tile 0 is a '!pit_gpu.row_tile<128x32xf16>'; copies go to matrices in lines}}
  pit_gpu.load %map[%i, %i] into %s[0] : !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>, !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @no_commit(%place: i32, %n: i32) {
  // expected-error @below {{[protocol 1] the block does not commit a stage on every path}}
  %r = pit_gpu.block_ring %place : !ring
  // expected-note @below {{the stage}}
  %s = pit_gpu.acquire %r[%n] : !ring -> !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @committed_on_a_branch(%place: i32, %n: i32, %c: i1) {
  // expected-error @below {{[block_ring 2] a stage is committed more than once, or elsewhere than it was acquired}}
  %r = pit_gpu.block_ring %place : !ring
  // expected-note @below {{the stage}}
  %s = pit_gpu.acquire %r[%n] : !ring -> !stage
  scf.if %c {
    pit_gpu.commit %s after copies : !stage
  } else {
    pit_gpu.commit %s after copies : !stage
  }
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @committed_twice(%place: i32, %n: i32) {
  // expected-error @below {{[block_ring 2] a stage is committed more than once}}
  %r = pit_gpu.block_ring %place : !ring
  // expected-note @below {{the stage}}
  %s = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s after copies : !stage
  pit_gpu.commit %s after copies : !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @committed_later(%place: i32, %n: i32, %none: !stage) {
  %c1 = arith.constant 1 : i32
  // expected-error @below {{[block_ring 2] a stage is committed by others than acquire it}}
  %r = pit_gpu.block_ring %place : !ring
  // expected-note @below {{the stage}}
  %s = pit_gpu.acquire %r[%n] : !ring -> !stage
  %last = scf.for %k = %c1 to %n step %c1 iter_args(%before = %s) -> !stage : i32 {
    pit_gpu.commit %before after copies : !stage
    scf.yield %before : !stage
  }
  pit_gpu.commit %last after copies : !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @written_after_commit(%place: i32, %n: i32) {
  // expected-error @below {{[protocol 2] the block uses a stage after it has been given on}}
  %r = pit_gpu.block_ring %place : !ring
  %s = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s after copies : !stage
  // expected-note @below {{the use}}
  %t = pit_gpu.tile %s[0] : !stage -> !rows
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @no_release(%place: i32, %n: i32, %c: i1) {
  // expected-error @below {{[protocol 1] the block does not release a stage on every path}}
  %r = pit_gpu.block_ring %place : !ring
  %s0 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s0 after copies : !stage
  %s1 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s1 after copies : !stage
  // expected-note @below {{the stage}}
  %full = pit_gpu.wait %r[%n] : !ring -> !stage
  scf.if %c {
    pit_gpu.release %full : !stage
  }
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @read_after_release(%place: i32, %n: i32) {
  // expected-error @below {{[protocol 2] the block uses a stage after it has been given on}}
  %r = pit_gpu.block_ring %place : !ring
  %s0 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s0 after copies : !stage
  %s1 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s1 after copies : !stage
  %full = pit_gpu.wait %r[%n] : !ring -> !stage
  pit_gpu.release %full : !stage
  // expected-note @below {{the use}}
  %t = pit_gpu.tile %full[0] : !stage -> !rows
  return
}

// -----

!lines = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!lines], block>
!stage = !pit_gpu.stage<[!lines], block>

func.func @released_too_early(%place: i32, %n: i32, %acc: !pit_gpu.accumulator<64x64xf32>) {
  // expected-error @below {{[protocol 5] the block releases a stage while a product may read it}}
  %r = pit_gpu.block_ring %place : !ring
  %s0 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s0 after copies : !stage
  %full = pit_gpu.wait %r[%n] : !ring -> !stage
  %t = pit_gpu.tile %full[0] : !stage -> !lines
  // expected-note @below {{the product}}
  %more = pit_gpu.mma %t, %t, %acc : !lines, !lines, !pit_gpu.accumulator<64x64xf32>
  pit_gpu.release %full : !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @too_few(%place: i32, %n: i32) {
  // expected-error @below {{[block_ring 3] 1 uses of 3 stages are committed before a wait; 2 are right}}
  %r = pit_gpu.block_ring %place : !ring
  %s0 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s0 after copies : !stage
  // expected-note @below {{the wait}}
  %full = pit_gpu.wait %r[%n] : !ring -> !stage
  pit_gpu.release %full : !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

// The third one would be the stage that is awaited.
func.func @too_many(%place: i32, %n: i32) {
  // expected-error @below {{[block_ring 3] 3 uses of 3 stages are committed before a wait; 2 are right}}
  %r = pit_gpu.block_ring %place : !ring
  %s0 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s0 after copies : !stage
  %s1 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s1 after copies : !stage
  %s2 = pit_gpu.acquire %r[%n] : !ring -> !stage
  // expected-note @below {{the commit}}
  pit_gpu.commit %s2 after copies : !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

// The last steps commit stages, too.
func.func @commits_end(%place: i32, %n: i32, %more: i1) {
  %c1 = arith.constant 1 : i32
  // expected-error @below {{[block_ring 3] a loop or a branch changes how many uses are committed or held, from 2 and 0 to 1 and 0}}
  %r = pit_gpu.block_ring %place : !ring
  %s0 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s0 after copies : !stage
  %s1 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s1 after copies : !stage
  scf.for %k = %c1 to %n step %c1 : i32 {
    %full = pit_gpu.wait %r[%n] : !ring -> !stage
    pit_gpu.release %full : !stage
    // expected-note @below {{the loop, or the branch}}
    scf.if %more {
      %s = pit_gpu.acquire %r[%n] : !ring -> !stage
      pit_gpu.commit %s after copies : !stage
    }
  }
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @loop_without_commit(%place: i32, %n: i32) {
  %c1 = arith.constant 1 : i32
  // expected-error @below {{[block_ring 3] a loop or a branch changes how many uses are committed or held, from 2 and 0 to 1 and 0}}
  %r = pit_gpu.block_ring %place : !ring
  %s0 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s0 after copies : !stage
  %s1 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s1 after copies : !stage
  // expected-note @below {{the loop, or the branch}}
  scf.for %k = %c1 to %n step %c1 : i32 {
    %full = pit_gpu.wait %r[%n] : !ring -> !stage
    pit_gpu.release %full : !stage
  }
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @held_too_long(%place: i32, %n: i32) {
  // expected-error @below {{[block_ring 4] a stage is not released before the next wait, whose barrier shows that it is empty}}
  %r = pit_gpu.block_ring %place : !ring
  %s0 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s0 after copies : !stage
  %s1 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s1 after copies : !stage
  %full = pit_gpu.wait %r[%n] : !ring -> !stage
  %s2 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s2 after copies : !stage
  // expected-note @below {{the wait}}
  %next = pit_gpu.wait %r[%n] : !ring -> !stage
  pit_gpu.release %full : !stage
  pit_gpu.release %next : !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @other_group(%place: i32, %n: i32) {
  // expected-error @below {{[block_ring 5] another group of copies is ended while waits count those of the ring}}
  %r = pit_gpu.block_ring %place : !ring
  %s0 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s0 after copies : !stage
  %s1 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s1 after copies : !stage
  // expected-note @below {{the group}}
  pit_gpu.copy_group
  %full = pit_gpu.wait %r[%n] : !ring -> !stage
  pit_gpu.release %full : !stage
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @group_of_another_ring(%place: i32, %n: i32, %other: !ring) {
  %c1 = arith.constant 1 : i32
  // expected-error @below {{[block_ring 5] another group of copies is ended}}
  %r = pit_gpu.block_ring %place : !ring
  %s0 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s0 after copies : !stage
  %s1 = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s1 after copies : !stage
  scf.for %k = %c1 to %n step %c1 : i32 {
    %full = pit_gpu.wait %r[%n] : !ring -> !stage
    %s = pit_gpu.acquire %r[%n] : !ring -> !stage
    pit_gpu.commit %s after copies : !stage
    pit_gpu.release %full : !stage
    %o = pit_gpu.acquire %other[%n] : !ring -> !stage
    // expected-note @below {{the group}}
    pit_gpu.commit %o after copies : !stage
  }
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

func.func @element_of_rows(%t: !rows, %i: i32) {
  // expected-error @below {{[address 1] an element of a '!pit_gpu.row_tile<128x32xf16>'; its first byte alone has an address}}
  %a = pit_gpu.address %t[%i, %i] : !rows
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<3, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

// An op that says less than it has to is found before the protocol is looked at.
func.func @no_kind(%place: i32, %n: i32) {
  %r = pit_gpu.block_ring %place : !ring
  %s = pit_gpu.acquire %r[%n] : !ring -> !stage
  // expected-error @below {{requires attribute 'kind'}}
  "pit_gpu.commit"(%s) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!stage) -> ()
  return
}

// -----

!rows = !pit_gpu.row_tile<128x32xf16>
!ring = !pit_gpu.ring<2, [!rows], block>
!stage = !pit_gpu.stage<[!rows], block>

// Nothing becomes of a value that a loop has no place for.
func.func @yields_too_much(%place: i32, %n: i32) {
  %c1 = arith.constant 1 : i32
  // expected-error @below {{[protocol 1] the block does not release a stage on every path}}
  %r = pit_gpu.block_ring %place : !ring
  %s = pit_gpu.acquire %r[%n] : !ring -> !stage
  pit_gpu.commit %s after copies : !stage
  // expected-note @below {{the stage}}
  %full = pit_gpu.wait %r[%n] : !ring -> !stage
  "scf.for"(%n, %n, %c1) ({
  ^bb0(%k: i32):
    "scf.yield"(%full) : (!stage) -> ()
  }) : (i32, i32, i32) -> ()
  return
}
