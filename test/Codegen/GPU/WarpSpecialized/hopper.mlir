// Hopper's schedule of mainloops: what is planned (that numbers fit is checked by
// the tool itself), and the kernels. A kernel that fits becomes two.

// RUN: pit-test-hopper-plan %s | FileCheck %s --check-prefix=PLAN
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a --convert-pit-gpu-to-nvvm | FileCheck %s
// The kernel before its ops become instructions, printed and parsed once more.
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a --canonicalize --cse | pit-opt | FileCheck %s --check-prefix=OPS

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nm = affine_map<(m, n, k) -> (n, m)>
module {
module @pit_kernels attributes {pit.kernels} {
  // B is shared by two blocks, each of which loads half of it.
  // PLAN-LABEL: {{^}}dense:
  // PLAN-NEXT: tile 128 x 256, 4 stages of 1 x 64, cluster 2
  // PLAN-NEXT: a: operand 0, 128 rows x 1 blocks by boxes, k along lines
  // PLAN-NEXT: b: operand 1, 64 rows x 4 blocks by boxes, k along rows
  // PLAN-NEXT: consumers: 1 wgmmas of 64 x 256, split along m
  // PLAN-NEXT: registers: 40, 232; arrivals: 1
  // CHECK: llvm.mlir.global external @pit_gpu_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK-LABEL: gpu.func @dense_hopper(
  // CHECK-SAME: %[[A:.*]]: memref<?x?xf16>, %[[B:.*]]: memref<?x?xf16>, %{{.*}}: memref<?x?xf16>, %[[MAP_A:.*]]: !llvm.ptr, %[[MAP_B:.*]]: !llvm.ptr) kernel
  // CHECK-SAME: known_block_size = array<i32: 384, 1, 1>
  // CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
  // CHECK-SAME: threads = 384, shared_bytes = 213120, grid = tiles, cluster = 2, pdl = true
  // CHECK-SAME: tensor_maps = [<argument = 0, box = [128, 64], swizzle = 128, along_k = 1>, <argument = 1, box = [64, 64], swizzle = 128, along_k = 0>]
  // A full and an empty barrier for each of four stages, visible to the cluster
  // before anybody uses them.
  // CHECK-COUNT-8: nvvm.mbarrier.init
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: nvvm.barrier0
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  // The next kernel may begin, and this one waits for the one before.
  // CHECK: nvvm.griddepcontrol launch_dependents
  // CHECK: nvvm.griddepcontrol wait
  // The producer, one elected thread: every tile of this block, every stage of it.
  // CHECK: nvvm.setmaxregister decrease 40
  // CHECK: nvvm.elect.sync
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: %[[BYTES:.*]] = arith.constant 49152 : i32
  // CHECK: nvvm.mbarrier.arrive.expect_tx %[[FULL:.*]], %[[BYTES]]
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP_A]], %{{.*}}, box[%{{.*}}, %{{.*}}] :
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP_B]], %{{.*}}, box[%{{.*}}, %{{.*}}] multicast_mask
  // CHECK-NOT: nvvm.cp.async
  // The consumers: a stage is handed back when the next one's wgmmas have begun.
  // CHECK: nvvm.setmaxregister increase 232
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: nvvm.wgmma.fence.aligned
  // CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}}<m = 64, n = 256, k = 16>{{.*}}<f32>, <one>
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  // CHECK: nvvm.wgmma.wait.group.sync.aligned 1
  // Nothing moves mapa out of the branch, where threads are numbers of no blocks.
  // CHECK: scf.if
  // CHECK: %[[RANK:.*]] = llvm.inline_asm has_side_effects {{.*}}"mov.b32 $0, $1;"
  // CHECK: nvvm.mapa %{{.*}}, %[[RANK]]
  // CHECK: nvvm.mbarrier.arrive {{.*}}relaxed = true
  // Results are read behind the last wait only.
  // CHECK: llvm.inline_asm has_side_effects {{.*}}wgmma.wait_group.sync.aligned 0
  // Four times 64 columns, turned around to go to memory 16 bytes at a time.
  // CHECK-COUNT-16: nvvm.stmatrix
  // CHECK-NOT: nvvm.stmatrix
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  // CHECK: gpu.return
  // CHECK-LABEL: gpu.func @dense(

  // OPS-LABEL: gpu.func @dense_hopper(
  // OPS: %[[A:.*]] = pit_gpu.tensor_map %arg0 {along_k = 1 : i64}
  // OPS: %[[B:.*]] = pit_gpu.tensor_map %arg1 {along_k = 0 : i64}
  // OPS: pit_gpu.shared 16384 : i32
  // OPS: %[[RING:.*]] = pit_gpu.ring full 1 empty 4 cluster 2 : <4, [<128x64xf16, swizzle = 128>, <64x256xf16, swizzle = 128>]>
  // OPS: pit_gpu.roles {
  // OPS-NEXT: role "producers" warps 4 registers 40 {
  // OPS-NEXT: pit_gpu.leader {
  // OPS: scf.for
  // OPS: scf.for
  // OPS: %[[S:.*]] = pit_gpu.acquire %[[RING]]
  // OPS-NEXT: pit_gpu.commit %[[S]] after tma bytes 49152
  // OPS-NEXT: pit_gpu.load %[[A]][%[[M:.*]], %[[K:.*]]] into %[[S]][0] :
  // OPS-NEXT: pit_gpu.load %[[B]][%[[K]], %{{.*}}] into %[[S]][1] multicast 2 unless
  // OPS: role "consumers" warps 8 registers 232 {
  // OPS: scf.for
  // OPS: scf.for
  // OPS: scf.for {{.*}} iter_args(%[[SUMS:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}})
  // OPS: %[[S:.*]] = pit_gpu.wait %[[RING]]
  // OPS-NEXT: %[[TILE:.*]] = pit_gpu.tile %[[S]][0]
  // OPS-NEXT: %[[PART:.*]] = pit_gpu.subtile %[[TILE]]
  // OPS-NEXT: %[[OTHER:.*]] = pit_gpu.tile %[[S]][1]
  // OPS-NEXT: %[[MORE:.*]] = pit_gpu.mma %[[PART]], %[[OTHER]], %[[SUMS]]
  // OPS-NEXT: pit_gpu.mma_wait pending 1
  // OPS: pit_gpu.release %[[BEFORE]] by warpgroups cluster 2 if
  // OPS-NEXT: scf.yield %[[MORE]], %[[S]]
  // OPS: pit_gpu.mma_wait pending 0 of
  // OPS: pit_gpu.release %{{.*}} by warpgroups cluster 2 if
  // OPS-LABEL: gpu.func @dense(
  // CHECK-SAME: preferred = @dense_hopper
  // CHECK-NOT: wgmma
  // CHECK: nvvm.mma.sync
  func.func @dense(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xf16>
    %n = memref.dim %b, %c1 : memref<?x?xf16>
    %K = memref.dim %a, %c1 : memref<?x?xf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      pit.mainloop %c0 to %K step [64] extra_maps [] into %o[%i, %j : index, index] : memref<?x?xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<128x64xf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x256xf16>
        pit.yield %x, %y : vector<128x64xf16>, vector<64x256xf16>
      } compute {
      ^bb0(%xt: vector<128x64xf16>, %yt: vector<64x256xf16>, %at: vector<128x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 256, 64] maps [#mk, #kn, #mn]
               : vector<128x64xf16>, vector<64x256xf16>, vector<128x256xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x256xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // B's rows run along k; the parts of a cluster are rows. Results of f32 are stored
  // in pairs, as threads have them.
  // PLAN-LABEL: {{^}}dense_bt:
  // PLAN-NEXT: tile 128 x 256, 4 stages of 1 x 64, cluster 2
  // PLAN-NEXT: a: operand 0, 128 rows x 1 blocks by boxes, k along lines
  // PLAN-NEXT: b: operand 1, 256 rows x 1 blocks by boxes, k along lines
  // PLAN-NEXT: consumers: 1 wgmmas of 64 x 256, split along m
  // PLAN-NEXT: registers: 40, 232; arrivals: 1
  // CHECK-LABEL: gpu.func @dense_bt_hopper(
  // CHECK-SAME: <argument = 1, box = [128, 64], swizzle = 128, along_k = 1>]
  // CHECK-COUNT-4: nvvm.wgmma.mma_async
  // CHECK-NOT: nvvm.stmatrix
  // CHECK: llvm.store {{.*}}{alignment = 8 : i64} : vector<2xf32>
  // CHECK-LABEL: gpu.func @dense_bt(
  func.func @dense_bt(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xf16>
    %n = memref.dim %b, %c0 : memref<?x?xf16>
    %K = memref.dim %a, %c1 : memref<?x?xf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      pit.mainloop %c0 to %K step [64] extra_maps [] into %o[%i, %j : index, index] : memref<?x?xf32> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<128x64xf16>
        %y = pit.view %b[%j, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<256x64xf16>
        pit.yield %x, %y : vector<128x64xf16>, vector<256x64xf16>
      } compute {
      ^bb0(%xt: vector<128x64xf16>, %yt: vector<256x64xf16>, %at: vector<128x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 256, 64] maps [#mk, #nk, #mn]
               : vector<128x64xf16>, vector<256x64xf16>, vector<128x256xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x256xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // What is added before and after the sum, and ReLU.
  // PLAN-LABEL: {{^}}bias_relu:
  // CHECK-LABEL: gpu.func @bias_relu_hopper(
  // CHECK: nvvm.wgmma.mma_async {{.*}}<bf16>{{.*}}<bf16>
  // CHECK: wgmma.wait_group.sync.aligned 0
  // CHECK: arith.extf %{{.*}} : bf16 to f32
  // CHECK: arith.addf
  // CHECK: arith.maximumf
  // CHECK: nvvm.stmatrix
  // CHECK-LABEL: gpu.func @bias_relu(
  func.func @bias_relu(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %c: memref<?x?xf32>, %bias: memref<?xbf16>, %o: memref<?x?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xbf16>
    %n = memref.dim %b, %c1 : memref<?x?xbf16>
    %K = memref.dim %a, %c1 : memref<?x?xbf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      %old = pit.view %c[%i, %j : index, index] : memref<?x?xf32> -> vector<128x256xf32>
      %add = pit.view %bias[%j : index] : memref<?xbf16> -> vector<256xbf16>
      pit.mainloop %c0 to %K step [64] extras(%old, %add : vector<128x256xf32>, vector<256xbf16>) extra_maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>] into %o[%i, %j : index, index] : memref<?x?xbf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<128x64xbf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x256xbf16>
        pit.yield %x, %y : vector<128x64xbf16>, vector<64x256xbf16>
      } compute {
      ^bb0(%xt: vector<128x64xbf16>, %yt: vector<64x256xbf16>, %at: vector<128x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 256, 64] maps [#mk, #kn, #mn]
               : vector<128x64xbf16>, vector<64x256xbf16>, vector<128x256xf32> {
        ^bb0(%p: bf16, %q: bf16, %acc: f32):
          %0 = arith.extf %p : bf16 to f32
          %1 = arith.extf %q : bf16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x256xf32>
      } prologue {
      ^bb0(%before: f32, %e: bf16):
        pit.yield %before : f32
      } epilogue {
      ^bb0(%s: f32, %before: f32, %e: bf16):
        %wide = arith.extf %e : bf16 to f32
        %t = arith.addf %s, %wide : f32
        %u = arith.maximumf %t, %zero : f32
        pit.yield %u : f32
      }
    }
    return
  }

  // 64 rows are one wgmma: the consumers share the columns.
  // PLAN-LABEL: {{^}}at_bt:
  // PLAN-NEXT: tile 64 x 512, 2 stages of 1 x 64, cluster 2
  // PLAN-NEXT: a: operand 0, 64 rows x 1 blocks by boxes, k along rows
  // PLAN-NEXT: b: operand 1, 512 rows x 1 blocks by boxes, k along lines
  // PLAN-NEXT: consumers: 1 wgmmas of 64 x 256, split along n
  // PLAN-NEXT: registers: 40, 232; arrivals: 1
  func.func @at_bt(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c1 : memref<?x?xf16>
    %n = memref.dim %b, %c0 : memref<?x?xf16>
    %K = memref.dim %a, %c0 : memref<?x?xf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 512) {
      pit.mainloop %c0 to %K step [64] extra_maps [] into %o[%i, %j : index, index] : memref<?x?xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%k, %i : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x64xf16>
        %y = pit.view %b[%j, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<512x64xf16>
        pit.yield %x, %y : vector<64x64xf16>, vector<512x64xf16>
      } compute {
      ^bb0(%xt: vector<64x64xf16>, %yt: vector<512x64xf16>, %at: vector<64x512xf32>):
        %st = pit.contract %xt, %yt, %at tile [64, 512, 64] maps [#km, #nk, #mn]
               : vector<64x64xf16>, vector<512x64xf16>, vector<64x512xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<64x512xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // A box has 256 rows at most, and boxes do not overlap.
  // PLAN-LABEL: {{^}}long_columns:
  // PLAN-NEXT: tile 64 x 320, 4 stages of 1 x 64, cluster 2
  // PLAN-NEXT: a: operand 0, 64 rows x 1 blocks by boxes, k along lines
  // PLAN-NEXT: b: operand 1, 320 rows x 1 blocks by boxes, k along lines
  // PLAN-NEXT: consumers: 1 wgmmas of 64 x 160, split along n
  // PLAN-NEXT: registers: 40, 232; arrivals: 1
  // CHECK-LABEL: gpu.func @long_columns_hopper(
  // CHECK-SAME: <argument = 1, box = [160, 64], swizzle = 128, along_k = 1>]
  // CHECK-LABEL: gpu.func @long_columns(
  func.func @long_columns(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xf16>
    %n = memref.dim %b, %c0 : memref<?x?xf16>
    %K = memref.dim %a, %c1 : memref<?x?xf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 320) {
      pit.mainloop %c0 to %K step [64] extra_maps [] into %o[%i, %j : index, index] : memref<?x?xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x64xf16>
        %y = pit.view %b[%j, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<320x64xf16>
        pit.yield %x, %y : vector<64x64xf16>, vector<320x64xf16>
      } compute {
      ^bb0(%xt: vector<64x64xf16>, %yt: vector<320x64xf16>, %at: vector<64x320xf32>):
        %st = pit.contract %xt, %yt, %at tile [64, 320, 64] maps [#mk, #nk, #mn]
               : vector<64x64xf16>, vector<320x64xf16>, vector<64x320xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<64x320xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // Accumulators lie along the result's rows: operands change places.
  // PLAN-LABEL: {{^}}transposed:
  // PLAN-NEXT: tile 128 x 256, 4 stages of 1 x 64, cluster 2
  // PLAN-NEXT: a: operand 1, 64 rows x 2 blocks by boxes, k along rows
  // PLAN-NEXT: b: operand 0, 256 rows x 1 blocks by boxes, k along lines
  // PLAN-NEXT: consumers: 1 wgmmas of 64 x 256, split along m
  // PLAN-NEXT: registers: 40, 232; arrivals: 1
  // CHECK-LABEL: gpu.func @transposed_hopper(
  // CHECK-SAME: tensor_maps = [<argument = 1, box = [64, 64], swizzle = 128, along_k = 0>, <argument = 0, box = [128, 64], swizzle = 128, along_k = 1>]
  // CHECK-LABEL: gpu.func @transposed(
  func.func @transposed(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xf16>
    %n = memref.dim %b, %c1 : memref<?x?xf16>
    %K = memref.dim %a, %c1 : memref<?x?xf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (256, 128) {
      pit.mainloop %c0 to %K step [64] extra_maps [] into %o[%j, %i : index, index] : memref<?x?xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<256x64xf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x128xf16>
        pit.yield %x, %y : vector<256x64xf16>, vector<64x128xf16>
      } compute {
      ^bb0(%xt: vector<256x64xf16>, %yt: vector<64x128xf16>, %at: vector<128x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [256, 128, 64] maps [#mk, #kn, #nm]
               : vector<256x64xf16>, vector<64x128xf16>, vector<128x256xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x256xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // Short steps, where k does not run along lines.
  // PLAN-LABEL: {{^}}shallow:
  // PLAN-NEXT: tile 128 x 256, 8 stages of 1 x 32, cluster 2
  func.func @shallow(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c1 : memref<?x?xf16>
    %n = memref.dim %b, %c1 : memref<?x?xf16>
    %K = memref.dim %a, %c0 : memref<?x?xf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      pit.mainloop %c0 to %K step [32] extra_maps [] into %o[%i, %j : index, index] : memref<?x?xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%k, %i : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<32x128xf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<32x256xf16>
        pit.yield %x, %y : vector<32x128xf16>, vector<32x256xf16>
      } compute {
      ^bb0(%xt: vector<32x128xf16>, %yt: vector<32x256xf16>, %at: vector<128x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 256, 32] maps [#km, #kn, #mn]
               : vector<32x128xf16>, vector<32x256xf16>, vector<128x256xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x256xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // Few tiles and many steps: blocks share a tile along k. Each multiplies its
  // part of the steps, writes its sums, and counts each warp in. A warp waits for
  // the same ones of the others, not forever; unless one gave up, or it comes
  // last, it adds up the pieces of its part only: first the sums of all parts,
  // then a store of 64 columns.
  // CHECK-LABEL: gpu.func @shared_hopper(
  // CHECK-SAME: %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) kernel
  // CHECK-SAME: grid = machine, stream_bytes = 131072
  // CHECK: nvvm.setmaxregister decrease
  // CHECK: nvvm.setmaxregister increase
  // CHECK: nvvm.wgmma.mma_async
  // CHECK: nvvm.bar.warp.sync
  // CHECK-NEXT: llvm.fence syncscope("device") acq_rel
  // CHECK: llvm.atomicrmw add {{.*}} syncscope("device") monotonic
  // CHECK: scf.while {{.*}} %c1000_i32
  // CHECK: llvm.load volatile {{.*}} -> i32
  // CHECK: scf.while
  // CHECK: llvm.cmpxchg {{.*}} syncscope("device") monotonic monotonic
  // CHECK: llvm.fence syncscope("device") acq_rel
  // CHECK: llvm.atomicrmw uinc_wrap {{.*}} syncscope("device") monotonic
  // CHECK: llvm.store %c0
  // CHECK: nvvm.bar.warp.sync
  // CHECK: %[[WHAT:.*]] = nvvm.shfl.sync idx
  // CHECK-DAG: %[[IS_SHARED:.*]] = arith.cmpi eq, %[[WHAT]], %c1_
  // CHECK-DAG: %[[IS_ALONE:.*]] = arith.cmpi eq, %[[WHAT]], %c2_
  // CHECK: %[[OR_NONE:.*]] = arith.select %[[IS_ALONE]], %c0_{{.*}}, %c4_
  // CHECK: %[[FIRST:.*]] = arith.select %[[IS_SHARED]], %{{.*}}, %[[OR_NONE]]
  // CHECK: %[[APART:.*]] = arith.select %[[IS_SHARED]], %[[PARTS:.*]], %c1_
  // CHECK: scf.for %{{.*}} = %[[FIRST]] to %c4_{{.*}} step %[[APART]]
  // CHECK: scf.for %{{.*}} = %c0_{{.*}} to %[[PARTS]] step %c2_
  // CHECK: llvm.load volatile {{.*}} -> vector<4xf32>
  // CHECK: nvvm.stmatrix
  // OPS-LABEL: gpu.func @shared_hopper(
  // OPS: role "consumers"
  // OPS: pit_gpu.store_partials %{{.*}} in %[[MEMORY:.*]][%{{.*}}] from %c0_i32 of 128 thread %[[THREAD:.*]] of 256 vector 4 : f32,
  // OPS: %[[FIRST:.*]], %[[STEP:.*]] = pit_gpu.await_splits %{{.*}} of %[[PARTS:.*]] in %{{.*}}[%{{.*}}] pieces 4 polls 1000
  // OPS: scf.for %[[PIECE:.*]] = %[[FIRST]] to %c4_i32 step %[[STEP]]
  // OPS: %[[FROM:.*]] = arith.muli %[[PIECE]], %c32_i32
  // OPS: pit_gpu.add_partials %[[PARTS]] in %[[MEMORY]][%{{.*}}] step %{{.*}} from %[[FROM]] of 128 thread %{{.*}} of 256 vector 4 once 2 x 32 : f32,
  // CHECK-LABEL: gpu.func @shared(
  func.func @shared(%a: memref<256x8192xf16>, %b: memref<8192x512xf16>, %o: memref<256x512xf16>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 256 : index
    %n = arith.constant 512 : index
    %depth = arith.constant 8192 : index
    %zero = arith.constant 0.0 : f32
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      pit.mainloop %c0 to %depth step [64] extra_maps []
          into %o[%i, %j : index, index] : memref<256x512xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<256x8192xf16> -> vector<128x64xf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f16) : memref<8192x512xf16> -> vector<64x256xf16>
        pit.yield %x, %y : vector<128x64xf16>, vector<64x256xf16>
      } compute {
      ^bb0(%xt: vector<128x64xf16>, %yt: vector<64x256xf16>, %at: vector<128x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 256, 64] maps [#mk, #kn, #mn]
               : vector<128x64xf16>, vector<64x256xf16>, vector<128x256xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x256xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }
}
}
// PLAN: plans: ok
