// RUN: pit-opt %s | pit-opt | FileCheck %s
// RUN: pit-opt --mlir-print-op-generic %s | pit-opt | FileCheck %s

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!half = !pit_gpu.tile<64x64xbf16, swizzle = 128, pitch = 16384>
!b = !pit_gpu.tile<64x256xbf16, swizzle = 128>
!ring = !pit_gpu.ring<4, [!a, !b]>
!stage = !pit_gpu.stage<[!a, !b]>
!map_a = !pit_gpu.tensor_map<1x128x64xbf16, swizzle = 128>
!map_b = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>
!rows_added = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!map_added = !pit_gpu.tensor_map<16x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x256xf32>
!values = !pit_gpu.fragment<64x256xf32>
!column = !pit_gpu.fragment<64x1xf32>
!factor = !pit_gpu.fragment<64x64xbf16>

// CHECK-LABEL: @types
// CHECK-SAME: !pit_gpu.tile<128x64xbf16, swizzle = 128>, !pit_gpu.tile<64x16xf16, swizzle = 32>
// CHECK-SAME: !pit_gpu.tile<64x16xf32, swizzle = 64>, !pit_gpu.tile<8x32xf8E4M3FN, swizzle = 128>
// CHECK-SAME: !pit_gpu.tile<64x256xf8E5M2, swizzle = 128, pitch = 16384>
// A pitch of its own rows is not printed.
// CHECK-SAME: !pit_gpu.tile<64x64xbf16, swizzle = 128>
// CHECK-SAME: !pit_gpu.ring<32, [<128x64xbf16, swizzle = 128>]>
// CHECK-SAME: !pit_gpu.stage<[<128x64xbf16, swizzle = 128>, <64x256xbf16, swizzle = 128>]>
// CHECK-SAME: !pit_gpu.tensor_map<1x1x1x256x32xf32, swizzle = 128>
// CHECK-SAME: !pit_gpu.accumulator<192x128xf32>
// CHECK-SAME: !pit_gpu.fragment<128x1xf16>, !pit_gpu.fragment<64x8xbf16>
func.func private @types(
    !a, !pit_gpu.tile<64x16xf16, swizzle = 32>, !pit_gpu.tile<64x16xf32, swizzle = 64>,
    !pit_gpu.tile<8x32xf8E4M3FN, swizzle = 128>,
    !pit_gpu.tile<64x256xf8E5M2, swizzle = 128, pitch = 16384>,
    !pit_gpu.tile<64x64xbf16, swizzle = 128, pitch = 8192>, !pit_gpu.ring<32, [!a]>,
    !stage, !pit_gpu.tensor_map<1x1x1x256x32xf32, swizzle = 128>,
    !pit_gpu.accumulator<192x128xf32>, !pit_gpu.fragment<128x1xf16>,
    !pit_gpu.fragment<64x8xbf16>)

// CHECK-LABEL: @kernel
func.func @kernel(%x: memref<2x?x?xbf16>, %w: memref<?x?xbf16>, %y: memref<?x?xf32>,
                  %m: index, %n: i32, %f: !factor,
                  %narrow: !pit_gpu.tile<8x128xbf16, swizzle = 128>, %small: !pit_gpu.accumulator<64x8xf32>,
                  %from: !llvm.ptr<1>, %is: i1, %more: !stage, %one: bf16) {
  // CHECK: pit_gpu.tensor_map %{{.*}} : memref<2x?x?xbf16> -> {{(!pit_gpu.tensor_map)?}}<1x128x64xbf16, swizzle = 128>
  %of_x = pit_gpu.tensor_map %x : memref<2x?x?xbf16> -> !map_a
  %of_w = pit_gpu.tensor_map %w : memref<?x?xbf16> -> !map_b
  // CHECK: %[[RING:.*]] = pit_gpu.ring full 1 empty 8 : {{(!pit_gpu.ring)?}}<4,
  %ring = pit_gpu.ring full 1 empty 8 : !ring
  // CHECK: pit_gpu.ring full 256 empty 8 at 1024 barriers 8 {note = "placed"} : {{(!pit_gpu.ring)?}}<4,
  %placed = pit_gpu.ring full 256 empty 8 at 1024 barriers 8 {note = "placed"} : !ring
  // CHECK: pit_gpu.ring full 4 empty 16 cluster 2 : {{(!pit_gpu.ring)?}}<1, []>
  %bare = pit_gpu.ring full 4 empty 16 cluster 2 : !pit_gpu.ring<1, []>
  // CHECK: pit_gpu.shared 256 : i32
  // CHECK: pit_gpu.shared 1024 at 512 : i32
  %free = pit_gpu.shared 256 : i32
  %fixed = pit_gpu.shared 1024 at 512 : i32
  // CHECK: pit_gpu.tensor_map %{{.*}} {along_k = 0 : i64, order = array<i64: 1, 0>} : memref<?x?xbf16>
  %of_copy = pit_gpu.tensor_map %w {along_k = 0 : i64, order = array<i64: 1, 0>} : memref<?x?xbf16> -> !map_b
  // CHECK: pit_gpu.roles {
  pit_gpu.roles {
    // CHECK-NEXT: role "producers" warps 4 registers 40 {
    role "producers" warps 4 registers 40 {
      // CHECK: pit_gpu.copy %{{.*}} into %{{.*}}[0] at [%{{.*}}, %{{.*}}] : !llvm.ptr<1>, {{(!pit_gpu.stage)?}}<[
      pit_gpu.copy %from into %more[0] at [%n, %n] : !llvm.ptr<1>, !stage
      // CHECK: pit_gpu.copy %{{.*}} if %{{.*}} into %{{.*}}[1] at [%{{.*}}, %{{.*}}] plus [8, 64] bytes 4 : !llvm.ptr<1>
      pit_gpu.copy %from if %is into %more[1] at [%n, %n] plus [8, 64] bytes 4 : !llvm.ptr<1>, !stage
      // CHECK: pit_gpu.tiles (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) step (128, 256) raster 8 {
      pit_gpu.tiles (%i, %j) to (%m, %m) step (128, 256) raster 8 {
        // CHECK: %[[S:.*]] = pit_gpu.acquire %[[RING]][%{{.*}}] : {{(!pit_gpu.ring)?}}<4, {{.*}}> -> {{(!pit_gpu.stage)?}}<
        %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
        // CHECK: pit_gpu.commit %[[S]] after tma bytes 49152 : {{(!pit_gpu.stage)?}}<[
        pit_gpu.commit %s after tma bytes 49152 : !stage
        // CHECK: pit_gpu.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] into %[[S]][0] : {{(!pit_gpu.tensor_map)?}}<1x128x64xbf16, swizzle = 128>, {{(!pit_gpu.stage)?}}<[
        pit_gpu.load %of_x[%i, %j, %m] into %s[0] : !map_a, !stage
        pit_gpu.load %of_w[%i, %j] into %s[1] : !map_b, !stage
        // CHECK-NOT: pit_gpu.yield
        // CHECK: } {note}
      } {note}
    }
    // CHECK: role "consumers" warps 8 registers 224 {
    role "consumers" warps 8 registers 224 {
      // CHECK: pit_gpu.warpgroup : i32
      %g = pit_gpu.warpgroup : i32
      %zero = arith.constant 0.0 : f32
      // CHECK: pit_gpu.splat %{{.*}} : f32 -> {{(!pit_gpu.fragment)?}}<64x256xf32>
      %zeros = pit_gpu.splat %zero : f32 -> !values
      // CHECK: pit_gpu.accumulate %{{.*}} : {{(!pit_gpu.fragment)?}}<64x256xf32> -> {{(!pit_gpu.accumulator)?}}<64x256xf32>
      %acc = pit_gpu.accumulate %zeros : !values -> !sums
      // CHECK: %{{.*}}:2 = pit_gpu.tiles (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) step (128, 256) raster 8 carry (%[[U:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, index) {
      %end:2 = pit_gpu.tiles (%i, %j) to (%m, %m) step (128, 256) raster 8
          carry (%used = %n, %other = %m) -> (i32, index) {
        // CHECK: pit_gpu.wait %[[RING]][%[[U]]]
        %s = pit_gpu.wait %ring[%used] : !ring -> !stage
        // CHECK: pit_gpu.tile %{{.*}}[0] : {{(!pit_gpu.stage)?}}<{{.*}}> -> {{(!pit_gpu.tile)?}}<128x64xbf16, swizzle = 128>
        %a = pit_gpu.tile %s[0] : !stage -> !a
        %b = pit_gpu.tile %s[1] : !stage -> !b
        // CHECK: pit_gpu.subtile %{{.*}}[%{{.*}}, %{{.*}}] : {{(!pit_gpu.tile)?}}<128x64xbf16, swizzle = 128> -> {{(!pit_gpu.tile)?}}<64x64xbf16, swizzle = 128, pitch = 16384>
        %own = pit_gpu.subtile %a[%g, %g] : !a -> !half
        // CHECK: %[[P:.*]] = pit_gpu.mma %{{.*}}, %{{.*}}, %{{.*}} : {{(!pit_gpu.tile)?}}<64x64xbf16, swizzle = 128, pitch = 16384>, {{(!pit_gpu.tile)?}}<64x256xbf16, swizzle = 128>, {{(!pit_gpu.accumulator)?}}<64x256xf32>
        %p = pit_gpu.mma %own, %b, %acc : !half, !b, !sums
        // CHECK: pit_gpu.mma %{{.*}} transpose, %{{.*}} transpose, %{{.*}} : {{(!pit_gpu.tile)?}}<128x64xbf16
        %q = pit_gpu.mma %a transpose, %narrow transpose, %small : !a, !pit_gpu.tile<8x128xbf16, swizzle = 128>, !pit_gpu.accumulator<64x8xf32>
        // CHECK: pit_gpu.hand_over -> {{(!pit_gpu.accumulator)?}}<64x256xf32> {
        %r = pit_gpu.hand_over -> !sums {
          // CHECK: pit_gpu.mma %{{.*}}, %{{.*}}, %{{.*}} : {{(!pit_gpu.fragment)?}}<64x64xbf16>, {{(!pit_gpu.tile)?}}<64x256xbf16
          %next = pit_gpu.mma %f, %b, %p : !factor, !b, !sums
          // CHECK: pit_gpu.yield %{{.*}} : {{(!pit_gpu.accumulator)?}}<64x256xf32>
          pit_gpu.yield %next : !sums
        }
        // CHECK: pit_gpu.hand_over {
        // CHECK-NEXT: }
        pit_gpu.hand_over {
        }
        // CHECK: pit_gpu.sync of role{{$}}
        pit_gpu.sync of role
        // CHECK: pit_gpu.sync of warpgroup{{$}}
        pit_gpu.sync of warpgroup
        // CHECK: pit_gpu.sync of warp{{$}}
        pit_gpu.sync of warp
        // CHECK: pit_gpu.tile_at %{{.*}} : {{(!pit_gpu.tile)?}}<128x64xbf16
        %staged = pit_gpu.tile_at %n : !a
        // CHECK: pit_gpu.local_store %{{.*}} into %{{.*}} : {{(!pit_gpu.fragment)?}}<128x64xbf16>, {{(!pit_gpu.tile)?}}<128x64xbf16
        %values = pit_gpu.splat %one : bf16 -> !pit_gpu.fragment<128x64xbf16>
        pit_gpu.local_store %values into %staged : !pit_gpu.fragment<128x64xbf16>, !a
        // CHECK: pit_gpu.local_store %{{.*}} transposed into %{{.*}} cols 16 : {{(!pit_gpu.fragment)?}}<64x16xbf16>
        %few = pit_gpu.splat %one : bf16 -> !pit_gpu.fragment<64x16xbf16>
        pit_gpu.local_store %few transposed into %staged cols 16 : !pit_gpu.fragment<64x16xbf16>, !a
        // CHECK: pit_gpu.local_load %{{.*}} : {{(!pit_gpu.tile)?}}<128x64xbf16, {{.*}} -> {{(!pit_gpu.fragment)?}}<128x64xbf16>
        %back = pit_gpu.local_load %staged : !a -> !pit_gpu.fragment<128x64xbf16>
        // CHECK: pit_gpu.copy %{{.*}} into %{{.*}} at [%{{.*}}, %{{.*}}] : !llvm.ptr<1>, {{(!pit_gpu.tile)?}}<128x64xbf16
        pit_gpu.copy %from into %staged at [%n, %n] : !llvm.ptr<1>, !a
        // CHECK: pit_gpu.copy %{{.*}} if %{{.*}} into %{{.*}} bytes 4 : !llvm.ptr<1>, i32
        pit_gpu.copy %from if %is into %n bytes 4 : !llvm.ptr<1>, i32
        // CHECK: pit_gpu.copy %{{.*}} limit %{{.*}} into %{{.*}} : !llvm.ptr<1>, i32
        pit_gpu.copy %from limit %n into %n : !llvm.ptr<1>, i32
        // CHECK: %[[W0:.*]], %[[W1:.*]], %[[W2:.*]], %[[W3:.*]] = pit_gpu.load_matrices %{{.*}}{{$}}
        %words:4 = pit_gpu.load_matrices %n
        // CHECK: pit_gpu.load_matrices %{{.*}} transposed{{$}}
        %turned:4 = pit_gpu.load_matrices %n transposed
        // CHECK: pit_gpu.mma_sync [%[[W0]], %[[W1]], %[[W2]], %[[W3]]] * [%[[W0]], %[[W2]]] + [%[[W0]], %{{.*}}, %{{.*}}, %{{.*}}] : i8
        %p32:4 = pit_gpu.mma_sync [%words#0, %words#1, %words#2, %words#3] * [%words#0, %words#2] + [%words#0, %n, %n, %n] : i8
        // CHECK: pit_gpu.copy_group{{$}}
        pit_gpu.copy_group
        // CHECK: pit_gpu.copy_wait pending 2{{$}}
        pit_gpu.copy_wait pending 2
        // CHECK: pit_gpu.address %{{.*}} : {{(!pit_gpu.tile)?}}<128x64xbf16
        %at = pit_gpu.address %a : !a
        // CHECK: pit_gpu.address %{{.*}}[%{{.*}}, %{{.*}}] : {{(!pit_gpu.tile)?}}<128x64xbf16
        %there = pit_gpu.address %a[%g, %g] : !a
        // CHECK: pit_gpu.mma_wait pending 1{{$}}
        pit_gpu.mma_wait pending 1
        // CHECK: pit_gpu.mma_wait pending 0 holding %{{.*}} : {{(!pit_gpu.fragment)?}}<64x64xbf16>{{$}}
        pit_gpu.mma_wait pending 0 holding %f : !factor
        // CHECK: pit_gpu.mma_wait pending 0 of %{{.*}} : {{(!pit_gpu.accumulator)?}}<64x256xf32> -> {{(!pit_gpu.fragment)?}}<64x256xf32> holding %{{.*}} : {{(!pit_gpu.fragment)?}}<64x64xbf16>
        %v = pit_gpu.mma_wait pending 0 of %r : !sums -> !values holding %f : !factor
        // CHECK: pit_gpu.release %{{.*}} : {{(!pit_gpu.stage)?}}<[
        pit_gpu.release %s : !stage
        // CHECK: pit_gpu.reduce_rows %{{.*}} : {{(!pit_gpu.fragment)?}}<64x256xf32> -> {{(!pit_gpu.fragment)?}}<64x1xf32> {
        // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
        %max = pit_gpu.reduce_rows %v : !values -> !column {
        ^bb0(%x0: f32, %x1: f32):
          %z = arith.maxnumf %x0, %x1 : f32
          pit_gpu.yield %z : f32
        }
        // CHECK: pit_gpu.map(%{{.*}}, %{{.*}} : {{(!pit_gpu.fragment)?}}<64x256xf32>, {{(!pit_gpu.fragment)?}}<64x1xf32>) -> {{(!pit_gpu.fragment)?}}<64x256xf32> attributes {note} {
        // CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: f32):
        %d = pit_gpu.map (%v, %max : !values, !column) -> !values attributes {note} {
        ^bb0(%row: i32, %col: i32, %x0: f32, %x1: f32):
          %z = arith.subf %x0, %x1 : f32
          pit_gpu.yield %z : f32
        }
        // CHECK: pit_gpu.map() -> {{(!pit_gpu.fragment)?}}<1x64xi32, spread> {
        %cols = pit_gpu.map () -> !pit_gpu.fragment<1x64xi32, spread> {
        ^bb0(%row: i32, %col: i32):
          pit_gpu.yield %col : i32
        }
        // CHECK: pit_gpu.map(%{{.*}} : {{(!pit_gpu.fragment)?}}<1x64xi32, spread>) -> {{(!pit_gpu.fragment)?}}<32x64xi1, warp_rows = 32> rows from %{{.*}} {
        %behind = pit_gpu.map (%cols : !pit_gpu.fragment<1x64xi32, spread>)
                    -> !pit_gpu.fragment<32x64xi1, warp_rows = 32> rows from %g {
        ^bb0(%row: i32, %col: i32, %x0: i32):
          %z = arith.cmpi slt, %row, %x0 : i32
          pit_gpu.yield %z : i1
        }
        // CHECK: pit_gpu.splat %{{.*}} : index -> {{(!pit_gpu.fragment)?}}<1x1xindex>
        %place = pit_gpu.splat %m : index -> !pit_gpu.fragment<1x1xindex>
        // CHECK: pit_gpu.map() -> {{(!pit_gpu.fragment)?}}<64x1xf32> {
        %ones = pit_gpu.map () -> !column {
        ^bb0(%row: i32, %col: i32):
          %z = arith.constant 1.0 : f32
          pit_gpu.yield %z : f32
        }
        // CHECK: pit_gpu.store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : {{(!pit_gpu.fragment)?}}<64x256xf32>, memref<?x?xf32>
        pit_gpu.store %d to %y[%i, %j] : !values, memref<?x?xf32>
        // CHECK: pit_gpu.yield %{{.*}}, %{{.*}} : i32, index
        pit_gpu.yield %used, %other : i32, index
      }
    }
  // CHECK: } {note}
  } {note}
  return
}

// CHECK-LABEL: @copies
func.func @copies(%x: memref<?x?xbf16>, %ids: memref<?xi32>, %i: index, %n: i32, %c: i1, %ring: !ring) {
  // CHECK: pit_gpu.roles blocks 2 {
  pit_gpu.roles blocks 2 {
    role "all" warps 4 registers 104 {
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      // CHECK: pit_gpu.gather %{{.*}} rows %{{.*}}[%{{.*}}] cols %{{.*}} into %{{.*}}[0] : memref<?x?xbf16>, memref<?xi32>, {{(!pit_gpu.stage)?}}<[
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<?x?xbf16>, memref<?xi32>, !stage
      // CHECK: pit_gpu.commit %{{.*}} after writes : {{(!pit_gpu.stage)?}}<[
      pit_gpu.commit %s after writes : !stage
      // CHECK: pit_gpu.commit %{{.*}} after copies : {{(!pit_gpu.stage)?}}<[
      pit_gpu.commit %s after copies : !stage
      %t = pit_gpu.wait %ring[%n] : !ring -> !stage
      // CHECK: pit_gpu.release %{{.*}} if %{{.*}} : {{(!pit_gpu.stage)?}}<[
      pit_gpu.release %t if %c : !stage
    }
    // CHECK: role "idle \22 one" warps 4 registers 152 {
    // CHECK-NEXT: }
    role "idle \22 one" warps 4 registers 152 {
    }
  }
  return
}

!row_map = !pit_gpu.tensor_map<1x64xbf16, swizzle = 128>

// CHECK-LABEL: @cluster
func.func @cluster(%of_x: !row_map, %of_w: !map_b, %of_added: !map_added, %m: index, %n: i32, %alone: i1) {
  %ring = pit_gpu.ring full 132 empty 4 cluster 2 : !ring
  pit_gpu.roles {
    role "producers" warps 4 registers 40 {
      // CHECK: pit_gpu.thread : i32
      // CHECK: pit_gpu.warp : i32
      %t = pit_gpu.thread : i32
      %w = pit_gpu.warp : i32
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      // CHECK: pit_gpu.leader of warps {
      pit_gpu.leader of warps {
        // CHECK: pit_gpu.commit %{{.*}} after tma announcing %{{.*}} : {{(!pit_gpu.stage)?}}<
        pit_gpu.commit %s after tma announcing %n : !stage
        // CHECK: pit_gpu.load %{{.*}}[%{{.*}}, %{{.*}}] into %{{.*}}[1] multicast 2 unless %{{.*}} : {{(!pit_gpu.tensor_map)?}}<64x64xbf16, swizzle = 128>, {{(!pit_gpu.stage)?}}<
        pit_gpu.load %of_w[%m, %m] into %s[1] multicast 2 unless %alone : !map_b, !stage
        // CHECK: pit_gpu.load_rows %{{.*}}[%{{.*}}, %{{.*}}] dim 0 rows(%{{.*}}, %{{.*}}) into %{{.*}}[0] from %{{.*}} : {{(!pit_gpu.tensor_map)?}}<1x64xbf16, swizzle = 128>, {{(!pit_gpu.stage)?}}<
        pit_gpu.load_rows %of_x[%m, %m] dim 0 rows (%n, %n) into %s[0] from %w : !row_map, !stage
      // CHECK-NEXT: }
      }
      // CHECK: pit_gpu.address %{{.*}} : {{(!pit_gpu.tile)?}}<128x64xbf16, swizzle = 128>
      %a = pit_gpu.tile %s[0] : !stage -> !a
      %at = pit_gpu.address %a : !a
      // CHECK: pit_gpu.commit %{{.*}} after copies if %{{.*}} : {{(!pit_gpu.stage)?}}<
      pit_gpu.commit %s after copies if %alone : !stage
    }
    role "consumers" warps 8 registers 224 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      // CHECK: pit_gpu.add %{{.*}}[1] to %{{.*}}[%{{.*}}, %{{.*}}] : {{(!pit_gpu.stage)?}}<
      pit_gpu.add %s[1] to %of_w[%m, %m] : !stage, !map_b
      %sums = pit_gpu.tile_at %n : !rows_added
      // CHECK: pit_gpu.add_wait
      pit_gpu.add_wait
      // CHECK: pit_gpu.add_rows %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : {{(!pit_gpu.tile)?}}<64x64xbf16, swizzle = 128>, {{(!pit_gpu.tensor_map)?}}<16x64xbf16, swizzle = 128>
      pit_gpu.add_rows %sums to %of_added[%m, %m] : !rows_added, !map_added
      // CHECK: pit_gpu.release %{{.*}} by warpgroups cluster 2 if %{{.*}} : {{(!pit_gpu.stage)?}}<
      pit_gpu.release %s by warpgroups cluster 2 if %alone : !stage
    }
  }
  return
}

!whole = !pit_gpu.tile<64x256xbf16, swizzle = 128>
!in_tensor_memory = !pit_gpu.accumulator<128x256xf32, tensor_memory>
!ring_of_sums = !pit_gpu.ring<2, [!in_tensor_memory]>
!stage_of_sums = !pit_gpu.stage<[!in_tensor_memory]>
!wide = !pit_gpu.fragment<128x64xf32, warp_rows = 32>

// CHECK-LABEL: @tensor_memory
func.func @tensor_memory(%n: i32, %condition: i1) {
  %ring = pit_gpu.ring full 128 empty 1 : !ring
  // CHECK: pit_gpu.ring full 1 empty 4 at 256 barriers 8 : {{(!pit_gpu.ring)?}}<2, [!pit_gpu.accumulator<128x256xf32, tensor_memory>]>
  %sums = pit_gpu.ring full 1 empty 4 at 256 barriers 8 : !ring_of_sums
  pit_gpu.roles {
    role "producers" warps 4 registers 40 {
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      pit_gpu.commit %s after writes : !stage
    }
    role "products" warps 4 registers 40 {
      %t = pit_gpu.acquire %sums[%n] : !ring_of_sums -> !stage_of_sums
      // CHECK: pit_gpu.tile %{{.*}}[0] : {{.*}} -> !pit_gpu.accumulator<128x256xf32, tensor_memory>
      %acc = pit_gpu.tile %t[0] : !stage_of_sums -> !in_tensor_memory
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      %a = pit_gpu.tile %s[0] : !stage -> !a
      %b = pit_gpu.tile %s[1] : !stage -> !whole
      // CHECK: pit_gpu.mma %{{.*}}, %{{.*}}, %{{.*}} adds if %{{.*}} : !pit_gpu.tile
      %r = pit_gpu.mma %a, %b, %acc adds if %condition : !a, !whole, !in_tensor_memory
      // CHECK: pit_gpu.release %{{.*}} after products : {{(!pit_gpu.stage)?}}<
      pit_gpu.release %s after products : !stage
      // CHECK: pit_gpu.commit %{{.*}} after products : {{(!pit_gpu.stage)?}}<
      pit_gpu.commit %t after products : !stage_of_sums
    }
    role "epilogue" warps 4 registers 168 {
      %t = pit_gpu.wait %sums[%n] : !ring_of_sums -> !stage_of_sums
      %acc = pit_gpu.tile %t[0] : !stage_of_sums -> !in_tensor_memory
      // CHECK: pit_gpu.read %{{.*}} cols %{{.*}} : {{(!pit_gpu.accumulator)?}}<128x256xf32, tensor_memory> -> {{(!pit_gpu.fragment)?}}<128x64xf32, warp_rows = 32>
      %v = pit_gpu.read %acc cols %n : !in_tensor_memory -> !wide
      pit_gpu.release %t : !stage_of_sums
    }
  }
  return
}

// CHECK-LABEL: @order_of_tiles
func.func @order_of_tiles(%n: i32, %m: index) {
  // CHECK: %[[BANDS:.*]] = pit_gpu.tile_space(%{{.*}}, %{{.*}}, %{{.*}}) rows 1 cols 2 by bands of 16 cluster 2 pairs : i32, i32, i32
  %bands = pit_gpu.tile_space(%n, %n, %n) rows 1 cols 2 by bands of 16 cluster 2 pairs : i32, i32, i32
  // CHECK: %[[COLS:.*]] = pit_gpu.tile_space(%{{.*}}, %{{.*}}, %{{.*}}) rows 0 cols 2 by cols alike [1] : i32, i32, i32
  %cols = pit_gpu.tile_space(%n, %n, %n) rows 0 cols 2 by cols alike [1] : i32, i32, i32
  // CHECK: pit_gpu.tile_space(%{{.*}}, %{{.*}}) rows 0 cols 1 by bands height %{{.*}} : i32 last first : i32, i32
  %tall = pit_gpu.tile_space(%n, %n) rows 0 cols 1 by bands height %n : i32 last first : i32, i32
  // CHECK: %[[ROWS:.*]] = pit_gpu.tile_space(%{{.*}}) by rows last first : index
  %rows = pit_gpu.tile_space(%m) by rows last first : index
  // CHECK: pit_gpu.count_tiles %[[BANDS]] : i32
  %total = pit_gpu.count_tiles %bands : i32
  // CHECK: pit_gpu.tile_of %{{.*}} in %[[BANDS]] rank %{{.*}} : i32 -> i32, i32, i32, i1
  %tile:4 = pit_gpu.tile_of %n in %bands rank %n : i32 -> i32, i32, i32, i1
  // CHECK: pit_gpu.tile_of %{{.*}} in %[[ROWS]] : index -> index
  %row = pit_gpu.tile_of %m in %rows : index -> index
  // CHECK: pit_gpu.share_tiles %{{.*}} among %{{.*}} most 4
  %whole, %parts, %numbers = pit_gpu.share_tiles %total among %n most 4
  // CHECK: pit_gpu.split_of %{{.*}} whole %{{.*}} splits %{{.*}}
  %of:4 = pit_gpu.split_of %n whole %whole splits %parts
  // CHECK: pit_gpu.split_of %{{.*}} whole %{{.*}} splits %{{.*}} usually whole
  %usually:4 = pit_gpu.split_of %n whole %whole splits %parts usually whole
  // CHECK: pit_gpu.steps_of_split %{{.*}} of %{{.*}} in %{{.*}} : index
  %steps:3 = pit_gpu.steps_of_split %m of %m in %m : index
  // CHECK: pit_gpu.steps_of_split %{{.*}} of %{{.*}} in %{{.*}} least 8 by 64 : i32
  %part:3 = pit_gpu.steps_of_split %n of %n in %n least 8 by 64 : i32
  // CHECK: pit_gpu.share_lists %{{.*}} among %{{.*}} worker %{{.*}} enough 2 least 512 most 16 {
  // CHECK-NEXT: pit_gpu.yield %{{.*}}, %{{.*}} : i32, i32
  %shared:4 = pit_gpu.share_lists %n among %n worker %n enough 2 least 512 most 16 {
    pit_gpu.yield %n, %total : i32, i32
  }
  pit_gpu.roles {
    role "all" warps 4 registers 24 {
      // CHECK: %{{.*}}, %{{.*}} = pit_gpu.list_tiles %{{.*}} first %{{.*}} step %{{.*}} carry %{{.*}} : i32 count {
      // CHECK-NEXT: ^bb0(%[[LIST:.*]]: i32):
      // CHECK-NEXT: pit_gpu.yield %[[LIST]], %{{.*}} : i32, i32
      // CHECK-NEXT: } tile {
      // CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[NUMBER:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32):
      // CHECK-NEXT: pit_gpu.yield %[[NUMBER]] : i32
      %next, %end = pit_gpu.list_tiles %n first %n step %n carry %n : i32 count {
      ^bb0(%list: i32):
        pit_gpu.yield %list, %n : i32, i32
      } tile {
      ^bb0(%list: i32, %number: i32, %ids: i32, %used: i32):
        pit_gpu.yield %number : i32
      }
    }
  }
  return
}

// CHECK-LABEL: func.func @fixup
func.func @fixup(%memory: i64, %n: i32, %x: f32, %f: !pit_gpu.fragment<64x8xf32>) {
  // CHECK: pit_gpu.store_partials %{{.*}}, %{{.*}} in %{{.*}}[%{{.*}}] thread %{{.*}} of 32 : f32, f32
  pit_gpu.store_partials %x, %x in %memory[%n] thread %n of 32 : f32, f32
  // CHECK: pit_gpu.store_partials %{{.*}} in %{{.*}}[%{{.*}}] from %{{.*}} of 8 thread %{{.*}} of 128 vector 4 : !pit_gpu.fragment<64x8xf32>
  pit_gpu.store_partials %f in %memory[%n] from %n of 8 thread %n of 128 vector 4 : !pit_gpu.fragment<64x8xf32>
  // CHECK: pit_gpu.last_split of %{{.*}} in %{{.*}}[%{{.*}}] thread %{{.*}} through %{{.*}} : i1
  %last = pit_gpu.last_split of %n in %memory[%n] thread %n through %n : i1
  // CHECK: pit_gpu.add_partials %{{.*}} in %{{.*}}[%{{.*}}] thread %{{.*}} of 32 : f32, f32
  %two:2 = pit_gpu.add_partials %n in %memory[%n] thread %n of 32 : f32, f32
  // CHECK: pit_gpu.add_partials %{{.*}} in %{{.*}}[%{{.*}}] step %{{.*}} from %{{.*}} of 8 thread %{{.*}} of 128 vector 4 once 2 x 8 : !pit_gpu.fragment<64x8xf32>
  %sums = pit_gpu.add_partials %n in %memory[%n] step %n from %n of 8 thread %n of 128 vector 4 once 2 x 8 : !pit_gpu.fragment<64x8xf32>
  // CHECK: pit_gpu.add_partials %{{.*}} in %{{.*}}[%{{.*}}] thread %{{.*}} of 32 start 1.000000e+00 : f32 combine {
  // CHECK-NEXT: ^bb0(%[[U:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT: pit_gpu.yield %[[U]] : f32
  // CHECK-NEXT: } : f32
  %combined = pit_gpu.add_partials %n in %memory[%n] thread %n of 32 start 1.0 : f32 combine {
  ^bb0(%u: f32, %v: f32):
    pit_gpu.yield %u : f32
  } : f32
  pit_gpu.roles {
    role "all" warps 4 registers 24 {
      // CHECK: pit_gpu.await_splits %{{.*}} of %{{.*}} in %{{.*}}[%{{.*}}] pieces 4 polls 1000
      %first, %step = pit_gpu.await_splits %n of %n in %memory[%n] pieces 4 polls 1000
    }
  }
  return
}
