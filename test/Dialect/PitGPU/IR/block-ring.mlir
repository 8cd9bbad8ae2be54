// Rings of the block that keep the protocol, as they are written and read back.
//
// RUN: pit-opt %s | pit-opt | FileCheck %s
// RUN: pit-opt --mlir-print-op-generic %s | pit-opt | FileCheck %s

!rows = !pit_gpu.row_tile<128x32xf16>
!pairs = !pit_gpu.row_tile<16x132xf32, shift = 2>
!ring = !pit_gpu.ring<3, [!rows, !rows], block>
!stage = !pit_gpu.stage<[!rows, !rows], block>
!lines = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!two = !pit_gpu.ring<2, [!lines], block>
!of_two = !pit_gpu.stage<[!lines], block>
!sums = !pit_gpu.accumulator<64x64xf32>

// CHECK-LABEL: @types
// CHECK-SAME: !pit_gpu.row_tile<128x32xf16>, !pit_gpu.row_tile<16x132xf32, shift = 2>
// CHECK-SAME: !pit_gpu.row_tile<3x16xi8>
// CHECK-SAME: !pit_gpu.ring<3, [!pit_gpu.row_tile<128x32xf16>, !pit_gpu.row_tile<128x32xf16>], block>
// CHECK-SAME: !pit_gpu.stage<[<64x64xbf16, swizzle = 128>], block>
// CHECK-SAME: !pit_gpu.ring<2, [], block>
func.func private @types(!rows, !pairs, !pit_gpu.row_tile<3x16xi8, shift = 1>, !ring, !of_two,
                         !pit_gpu.ring<2, [], block>)

// A step is loaded two steps ahead.
// CHECK-LABEL: @read_in_its_step
// CHECK: %[[RING:.*]] = pit_gpu.block_ring %{{.*}} : {{(!pit_gpu.ring)?}}<3, [!pit_gpu.row_tile<128x32xf16>, !pit_gpu.row_tile<128x32xf16>], block>
// CHECK: pit_gpu.acquire %[[RING]]
// CHECK: scf.for
// CHECK: %[[STAGE:.*]] = pit_gpu.wait %[[RING]]
// CHECK: %[[TILE:.*]] = pit_gpu.tile %[[STAGE]][1] : {{.*}} -> {{(!pit_gpu.row_tile)?}}<128x32xf16>
// CHECK: pit_gpu.address %[[TILE]] : {{(!pit_gpu.row_tile)?}}<128x32xf16>
// CHECK: pit_gpu.release %[[STAGE]]
func.func @read_in_its_step(%place: i32, %n: i32, %from: !llvm.ptr<1>, %ahead: i32, %next: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // Other copies may come before.
  pit_gpu.copy %from into %place : !llvm.ptr<1>, i32
  pit_gpu.copy_group
  pit_gpu.copy_wait pending 0
  %ring = pit_gpu.block_ring %place : !ring
  %s0 = pit_gpu.acquire %ring[%c0] : !ring -> !stage
  pit_gpu.commit %s0 after copies : !stage
  %s1 = pit_gpu.acquire %ring[%c1] : !ring -> !stage
  %any = arith.cmpi slt, %c1, %n : i32
  scf.if %any {
    %t = pit_gpu.tile %s1[0] : !stage -> !rows
    %at = pit_gpu.address %t : !rows
    pit_gpu.copy %from into %at : !llvm.ptr<1>, i32
  }
  pit_gpu.commit %s1 after copies : !stage
  %end = scf.for %k = %c0 to %n step %c1 iter_args(%number = %c0) -> i32 : i32 {
    %full = pit_gpu.wait %ring[%number] : !ring -> !stage
    %s = pit_gpu.acquire %ring[%ahead] : !ring -> !stage
    pit_gpu.commit %s after copies : !stage
    %t = pit_gpu.tile %full[1] : !stage -> !rows
    %at = pit_gpu.address %t : !rows
    %w:4 = pit_gpu.load_matrices %at
    pit_gpu.release %full : !stage
    scf.yield %next : i32
  }
  pit_gpu.copy_wait pending 0
  // Another ring lies at the same place.
  %other = pit_gpu.block_ring %place : !two
  %s2 = pit_gpu.acquire %other[%c0] : !two -> !of_two
  pit_gpu.commit %s2 after copies : !of_two
  %last = pit_gpu.wait %other[%c0] : !two -> !of_two
  pit_gpu.release %last : !of_two
  return
}

// The next step's stage is read in this one already, and carried.
// CHECK-LABEL: @carried
func.func @carried(%place: i32, %n: i32, %ahead: i32, %next: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = pit_gpu.block_ring %place : !two
  %s0 = pit_gpu.acquire %ring[%c0] : !two -> !of_two
  pit_gpu.commit %s0 after copies : !of_two
  %first = pit_gpu.wait %ring[%c0] : !two -> !of_two
  %last = scf.for %k = %c0 to %n step %c1 iter_args(%stage = %first) -> !of_two : i32 {
    %s = pit_gpu.acquire %ring[%ahead] : !two -> !of_two
    pit_gpu.commit %s after copies : !of_two
    %t = pit_gpu.tile %stage[0] : !of_two -> !lines
    scf.if %c {
      pit_gpu.release %stage : !of_two
    } else {
      pit_gpu.release %stage : !of_two
    }
    %full = pit_gpu.wait %ring[%next] : !two -> !of_two
    scf.yield %full : !of_two
  }
  pit_gpu.release %last : !of_two
  return
}

// A product has read the stage before it is released.
// CHECK-LABEL: @product
func.func @product(%place: i32, %acc: !sums) {
  %c0 = arith.constant 0 : i32
  %ring = pit_gpu.block_ring %place : !two
  %s0 = pit_gpu.acquire %ring[%c0] : !two -> !of_two
  pit_gpu.commit %s0 after copies : !of_two
  %full = pit_gpu.wait %ring[%c0] : !two -> !of_two
  %t = pit_gpu.tile %full[0] : !of_two -> !lines
  %more = pit_gpu.mma %t, %t, %acc : !lines, !lines, !sums
  pit_gpu.mma_wait pending 0
  pit_gpu.release %full : !of_two
  return
}
