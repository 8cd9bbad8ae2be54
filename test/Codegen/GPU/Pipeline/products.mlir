// RUN: pit-opt %s --convert-pit-gpu-to-nvvm --canonicalize --cse | FileCheck %s

!bf16 = !pit_gpu.tile<64x128xbf16, swizzle = 128>
!a = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!parts = !pit_gpu.tile<128x32xf16, swizzle = 64>
!f16 = !pit_gpu.tile<64x32xf16, swizzle = 64>
!f32 = !pit_gpu.tile<64x16xf32, swizzle = 32>
!e4m3 = !pit_gpu.tile<64x32xf8E4M3FN, swizzle = 32>
!e5m2 = !pit_gpu.tile<64x32xf8E5M2, swizzle = 32>
!stage = !pit_gpu.stage<[!bf16, !f16, !f32, !e4m3, !e5m2, !parts]>
!sums = !pit_gpu.accumulator<64x64xf32>
!wide = !pit_gpu.accumulator<64x128xf32>
!two = !pit_gpu.accumulator<128x64xf32>
!values = !pit_gpu.fragment<64x64xf32>
!factor = !pit_gpu.fragment<64x64xbf16>

gpu.module @kernels {
  // A product is a group: a fence, a wgmma for each 32 bytes of k, a commit.
  // CHECK-LABEL: gpu.func @kinds
  gpu.func @kinds(%f: f32, %p: i32, %n: i32) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        %s = builtin.unrealized_conversion_cast %p, %n, %n : i32, i32, i32 to !stage
        %v = pit_gpu.splat %f : f32 -> !values
        %acc = pit_gpu.accumulate %v : !values -> !sums
        %x = pit_gpu.tile %s[1] : !stage -> !f16
        // CHECK: nvvm.wgmma.fence.aligned
        // CHECK-COUNT-2: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 64, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]
        // CHECK-NOT: nvvm.wgmma.mma_async
        // CHECK: nvvm.wgmma.commit.group.sync.aligned
        %0 = pit_gpu.mma %x, %x transpose, %acc : !f16, !f16, !sums
        %y = pit_gpu.tile %s[2] : !stage -> !f32
        // CHECK-COUNT-2: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 64, k = 8>, D[<f32>, <one>], A[<tf32>, <one>, <row>], B[<tf32>, <one>, <col>]
        // CHECK: nvvm.wgmma.commit.group.sync.aligned
        %1 = pit_gpu.mma %y, %y transpose, %0 : !f32, !f32, !sums
        %z = pit_gpu.tile %s[3] : !stage -> !e4m3
        %w = pit_gpu.tile %s[4] : !stage -> !e5m2
        // CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 64, k = 32>, D[<f32>, <one>], A[<e4m3>, <one>, <row>], B[<e5m2>, <one>, <col>]
        // CHECK: nvvm.wgmma.commit.group.sync.aligned
        %2 = pit_gpu.mma %z, %w transpose, %1 : !e4m3, !e5m2, !sums
        // The registers of the sums go through the wait.
        // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=&f,=&f,{{.*}},0,1,
        %r = pit_gpu.mma_wait pending 0 of %2 : !sums -> !values
      }
    }
    gpu.return
  }

  // Both factors as they lie in memory, k x m and k x n. A descriptor has the start in units of 16
  // bytes, the distance of blocks (8192) in bits 16 and on, that of eight lines (1024) in bits 32
  // and on, and the swizzle (1: 128 bytes) in the two highest bits. A step is 16 lines of 128 bytes.
  // CHECK-LABEL: gpu.func @transposed
  gpu.func @transposed(%p: i32, %n: i32) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        // CHECK-DAG: %[[C128:.*]] = arith.constant 128 : i64
        // CHECK-DAG: %[[C384:.*]] = arith.constant 384 : i64
        // CHECK-DAG: %[[BITS:.*]] = arith.constant 4611686293338849280 : i64
        %s = builtin.unrealized_conversion_cast %p, %n, %n : i32, i32, i32 to !stage
        %zero = arith.constant 0.0 : f32
        %i = arith.constant 0 : i32
        %v = pit_gpu.splat %zero : f32 -> !pit_gpu.fragment<64x128xf32>
        %acc = pit_gpu.accumulate %v : !pit_gpu.fragment<64x128xf32> -> !wide
        %b = pit_gpu.tile %s[0] : !stage -> !bf16
        %a = pit_gpu.subtile %b[%i, %i] : !bf16 -> !a
        // CHECK: %[[D:.*]] = arith.ori %{{.*}}, %[[BITS]]
        // Sums of zeros are replaced by the first step.
        // CHECK: nvvm.wgmma.mma_async %[[D]], %[[D]], {{.*}}D[<f32>, <zero>], A[<bf16>, <one>, <col>], B[<bf16>, <one>, <row>]
        // CHECK: %[[NEXT:.*]] = arith.addi %[[D]], %[[C128]]
        // CHECK: nvvm.wgmma.mma_async %[[NEXT]], %[[NEXT]], {{.*}}D[<f32>, <one>]
        // CHECK: nvvm.wgmma.mma_async
        // CHECK: %[[LAST:.*]] = arith.addi %[[D]], %[[C384]]
        // CHECK: nvvm.wgmma.mma_async %[[LAST]], %[[LAST]]
        // CHECK-NOT: nvvm.wgmma.mma_async
        // CHECK: nvvm.wgmma.wait.group.sync.aligned 0
        %r = pit_gpu.mma %a transpose, %b, %acc : !a, !bf16, !wide
        pit_gpu.mma_wait pending 0
      }
    }
    gpu.return
  }

  // Two parts of 64 rows: a of the second one lies 64 lines of 64 bytes later; a step along k is 32
  // bytes of a line. Eight lines are 512 bytes, and the swizzle is 2: 64 bytes.
  // CHECK-LABEL: gpu.func @parts
  gpu.func @parts(%p: i32, %n: i32) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i64
        // CHECK-DAG: %[[C256:.*]] = arith.constant 256 : i64
        // CHECK-DAG: %[[C258:.*]] = arith.constant 258 : i64
        // CHECK-DAG: %[[BITS:.*]] = arith.constant -9223371899415756800 : i64
        %s = builtin.unrealized_conversion_cast %p, %n, %n : i32, i32, i32 to !stage
        %one = arith.constant 1.0 : f32
        %v = pit_gpu.splat %one : f32 -> !pit_gpu.fragment<128x64xf32>
        %acc = pit_gpu.accumulate %v : !pit_gpu.fragment<128x64xf32> -> !two
        %a = pit_gpu.tile %s[5] : !stage -> !parts
        %b = pit_gpu.tile %s[1] : !stage -> !f16
        // CHECK-DAG: %[[A:.*]] = arith.ori %{{.*}}, %[[BITS]]
        // CHECK: %[[X:.*]] = nvvm.wgmma.mma_async %[[A1:.*]], %[[B1:.*]], %{{.*}}, <m = 64, n = 64, k = 16>
        // CHECK: %[[A2:.*]] = arith.addi %[[A1]], %[[C256]]
        // CHECK: %[[Y:.*]] = nvvm.wgmma.mma_async %[[A2]], %[[B1]], %{{.*}}, <m
        // CHECK: %[[A3:.*]] = arith.addi %[[A1]], %[[C2]]
        // CHECK: nvvm.wgmma.mma_async %[[A3]], %[[B2:.*]], %[[X]], <m
        // CHECK: %[[A4:.*]] = arith.addi %[[A1]], %[[C258]]
        // CHECK: nvvm.wgmma.mma_async %[[A4]], %[[B2]], %[[Y]], <m
        %r = pit_gpu.mma %a, %b transpose, %acc : !parts, !f16, !two
        pit_gpu.mma_wait pending 0
      }
    }
    gpu.return
  }

  // A fragment is a factor in registers, four for each step. The first wait after which the product
  // is done holds them, here the second one: its 16 registers, without sums of its own.
  // CHECK-LABEL: gpu.func @fragment
  gpu.func @fragment(%x: bf16, %y: f32, %p: i32, %n: i32) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        %s = builtin.unrealized_conversion_cast %p, %n, %n : i32, i32, i32 to !stage
        %v = pit_gpu.splat %y : f32 -> !pit_gpu.fragment<64x128xf32>
        %acc = pit_gpu.accumulate %v : !pit_gpu.fragment<64x128xf32> -> !wide
        %f = pit_gpu.splat %x : bf16 -> !factor
        %b = pit_gpu.tile %s[0] : !stage -> !bf16
        // CHECK: %[[PAIR:.*]] = llvm.bitcast %{{.*}} : vector<2xbf16> to i32
        // CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
        // CHECK-SAME: wgmma.commit_group.sync.aligned; }"
        %r = pit_gpu.mma %f, %b, %acc : !factor, !bf16, !wide
        // CHECK: nvvm.wgmma.wait.group.sync.aligned 1
        pit_gpu.mma_wait pending 1
        // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r" %[[PAIR]], {{.*}} -> ()
        pit_gpu.mma_wait pending 0
        // CHECK: nvvm.wgmma.wait.group.sync.aligned 0
        pit_gpu.mma_wait pending 0
      }
    }
    gpu.return
  }

  // A loop of products that may have no iteration goes into a branch, with its wait.
  // CHECK-LABEL: gpu.func @loop
  gpu.func @loop(%n: index, %y: f32, %out: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        %s = ub.poison : !stage
        %v = pit_gpu.splat %y : f32 -> !values
        %acc = pit_gpu.accumulate %v : !values -> !sums
        %x = pit_gpu.tile %s[1] : !stage -> !f16
        // CHECK: %[[ANY:.*]] = arith.cmpi sgt, %{{.*}}, %c0 : index
        // CHECK: scf.if %[[ANY]] -> (f32, f32
        // CHECK: scf.for
        // CHECK: nvvm.wgmma.mma_async
        // CHECK: wgmma.wait_group.sync.aligned 0;
        // CHECK: } else {
        // CHECK-NEXT: scf.yield
        %sums = scf.for %k = %c0 to %n step %c1 iter_args(%so_far = %acc) -> !sums {
          %more = pit_gpu.mma %x, %x transpose, %so_far : !f16, !f16, !sums
          pit_gpu.mma_wait pending 1
          scf.yield %more : !sums
        }
        %r = pit_gpu.mma_wait pending 0 of %sums : !sums -> !values
        pit_gpu.store %r to %out[%c0, %c0] : !values, memref<?x?xf32>
      }
    }
    gpu.return
  }

  // Sums that change places in a loop are copied behind the wait for them.
  // CHECK-LABEL: gpu.func @moved
  gpu.func @moved(%n: index, %y: f32, %out: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    pit_gpu.roles {
      role "all" warps 4 registers 248 {
        %s = ub.poison : !stage
        %v = pit_gpu.splat %y : f32 -> !values
        %x = pit_gpu.tile %s[1] : !stage -> !f16
        // CHECK: scf.for
        // CHECK: wgmma.wait_group.sync.aligned 0;
        // CHECK: %[[COPY:.*]] = llvm.inline_asm has_side_effects {{.*}}"mov.b32 $0, $1;", "=f,f"
        // CHECK: scf.yield %[[COPY]]
        %sums:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %v, %b = %v) -> (!values, !values) {
          %before = pit_gpu.accumulate %b : !values -> !sums
          %more = pit_gpu.mma %x, %x transpose, %before : !f16, !f16, !sums
          %r = pit_gpu.mma_wait pending 0 of %more : !sums -> !values
          scf.yield %r, %a : !values, !values
        }
        // Those that stay are not.
        // CHECK: scf.for
        // CHECK: wgmma.wait_group.sync.aligned 0;
        // CHECK-NOT: mov.b32
        %same = scf.for %k = %c0 to %n step %c1 iter_args(%a = %sums#0) -> !values {
          %before = pit_gpu.accumulate %a : !values -> !sums
          %more = pit_gpu.mma %x, %x transpose, %before : !f16, !f16, !sums
          %r = pit_gpu.mma_wait pending 0 of %more : !sums -> !values
          scf.yield %r : !values
        }
        pit_gpu.store %same to %out[%c0, %c0] : !values, memref<?x?xf32>
        pit_gpu.store %sums#1 to %out[%c0, %c0] : !values, memref<?x?xf32>
      }
    }
    gpu.return
  }

  // A warp's product is an instruction for each 16 rows and 8 columns, the columns of the first rows first.
  // CHECK-LABEL: gpu.func @of_a_warp
  gpu.func @of_a_warp(%x: i32, %y: i32, %z: f32, %out: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    // CHECK: %[[P0:.*]] = nvvm.mma.sync A[%arg0, %arg0, %arg0, %arg0] B[%arg0, %arg1] C[%arg2, %arg2, %arg2, %arg2]
    // CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>
    // CHECK: nvvm.mma.sync A[%arg0, %arg0, %arg0, %arg0] B[%arg1, %arg1]
    // CHECK: nvvm.mma.sync A[%arg1, %arg1, %arg1, %arg1] B[%arg0, %arg1]
    // CHECK: %[[P3:.*]] = nvvm.mma.sync A[%arg1, %arg1, %arg1, %arg1] B[%arg1, %arg1]
    // CHECK: %[[LAST:.*]] = llvm.extractvalue %[[P3]][3]
    // CHECK: memref.store %[[LAST]]
    %p:16 = pit_gpu.mma_sync [%x, %x, %x, %x, %y, %y, %y, %y] * [%x, %y, %y, %y]
              + [%z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z] : bf16
    memref.store %p#15, %out[%c0] : memref<16xf32>
    // Words of f16 are vectors; k is 32 bytes.
    // CHECK: %[[X:.*]] = llvm.bitcast %arg0 : i32 to vector<2xf16>
    // CHECK: nvvm.mma.sync A[%[[X]], %[[X]], %[[X]], %[[X]]] {{.*}}k = 16>
    // CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>, {{.*}}k = 8>
    // CHECK: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, {{.*}}multiplicandAPtxType = #nvvm.mma_type<s8>, {{.*}}k = 32>
    %h:4 = pit_gpu.mma_sync [%x, %x, %x, %x] * [%x, %x] + [%z, %z, %z, %z] : f16
    %t:4 = pit_gpu.mma_sync [%x, %x, %x, %x] * [%x, %x] + [%h#0, %h#1, %h#2, %h#3] : f32
    memref.store %t#0, %out[%c0] : memref<16xf32>
    %i:4 = pit_gpu.mma_sync [%x, %x, %x, %x] * [%x, %x] + [%x, %x, %x, %x] : i8
    %f = arith.sitofp %i#0 : i32 to f32
    memref.store %f, %out[%c0] : memref<16xf32>
    gpu.return
  }
}
