// Blocks share the steps of tiles where there are fewer tiles than the machine has
// room for (split-K).

// RUN: pit-opt %s --split-input-file --pit-schedule-kernels=chip=sm_80 | FileCheck %s --check-prefix=SCHEDULE
// RUN: pit-opt %s --split-input-file --pit-schedule-kernels="chip=sm_80 strict=true" | FileCheck %s --check-prefix=STRICT --implicit-check-not=parts
// RUN: pit-opt %s --split-input-file --pit-schedule-kernels=chip=sm_80 --convert-pit-to-gpu=chip=sm_80 | FileCheck %s
// RUN: pit-opt %s --split-input-file --pit-schedule-kernels=chip=sm_80 --convert-pit-to-gpu=chip=sm_80 --convert-pit-launch | FileCheck %s --check-prefix=HOST

// Four tiles of 32 stages, of 8 or more in a part. The bits of the result are found by
// the block that stores it.

// STRICT-LABEL: func.func @few_rows(
// STRICT: #pit.gpu_schedule<
// SCHEDULE-LABEL: func.func @few_rows(
// SCHEDULE: blocks = 6, splits = 4,

// CHECK-LABEL: gpu.func @few_rows(
// CHECK-SAME: %{{.*}}: i64, %{{.*}}: i64) kernel attributes {
// CHECK-SAME: nvvm.minctasm = 6 : i32
// CHECK-SAME: grid = steps, splits = 4, partial_bytes = 4096
// CHECK: %[[PART:.*]] = arith.index_cast %block_id_y : index to i32
// CHECK: %[[LAUNCHED:.*]] = arith.index_cast %grid_dim_y : index to i32
// CHECK: %{{.*}}, %{{.*}}, %[[PARTS:.*]] = pit_gpu.steps_of_split %[[PART]] of %[[LAUNCHED]] in %c32_i32{{.*}} least 8 : i32
// CHECK: %[[HAS:.*]] = arith.cmpi slt, %[[PART]], %[[PARTS]]
// CHECK: scf.if %[[HAS]] {
// Sums are written, and a block counted.
// CHECK: %[[SHARED:.*]] = arith.cmpi sgt, %[[PARTS]], %c1_i32
// CHECK: %[[SUMS:.*]]:17 = scf.if %[[SHARED]]
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
// CHECK: %[[SLOT:.*]] = arith.addi %[[FIRST]], %[[PART]] : i32
// CHECK: pit_gpu.store_partials %{{.*}} in %[[PARTIALS:.*]][%[[SLOT]]] thread %[[THREAD:.*]] of 64 : f32, f32,
// CHECK: %[[LAST:.*]] = pit_gpu.last_split of %[[PARTS]] in %{{.*}}[%{{.*}}] thread %[[THREAD]] through %{{.*}} : i1
// The last one adds up all parts.
// CHECK: scf.if %[[LAST]]
// CHECK-NEXT: pit_gpu.add_partials %[[PARTS]] in %[[PARTIALS]][%[[FIRST]]] thread %[[THREAD]] of 64 once 1 x 16 : f32, f32,
// CHECK: scf.if %[[SUMS]]#16 {
// CHECK: arith.maximumf
// CHECK: llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr<1>
// CHECK: gpu.barrier
// CHECK: memref.store %{{.*}} : memref<16x32xi8>
// CHECK: gpu.return

// As many parts as fill the machine: four blocks of 64 threads for each multiprocessor.
// HOST-LABEL: func.func @call(
// HOST: %[[MULTIPROCESSORS:.*]] = call @pit_rt_multiprocessors
// HOST: %[[WIDE:.*]] = arith.extsi %[[MULTIPROCESSORS]] : i32 to i64
// HOST: %[[MOST:.*]] = arith.muli %[[WIDE]], %{{.*}} : i64
// HOST: %[[SPLIT:.*]] = arith.divsi %[[MOST]],
// HOST: arith.minsi %[[SPLIT]],
// HOST: %[[PARTS:.*]] = arith.maxsi
// HOST: %[[IS_SHARED:.*]] = arith.cmpi sgt, %[[PARTS]],
// HOST: %[[BYTES:.*]] = arith.select %[[IS_SHARED]],
// HOST: call @pit_rt_alloc(
// HOST: call @pit_rt_counters(
// HOST: call @pit_rt_launch(%{{.*}}, %{{.*}}, %{{.*}}, %[[PARTS]],

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
func.func @call(%frame: !llvm.ptr {pit.frame}, %a: memref<16x512xf32>, %b: memref<512x256xf32>, %o: memref<16x256xf32>, %bitmap: memref<16x32xi8>) {
  %c4 = arith.constant 4 : index
  pit.launch @pit_kernels::@few_rows iterations(%c4) ins(%a, %b : memref<16x512xf32>, memref<512x256xf32>) outs(%o, %bitmap : memref<16x256xf32>, memref<16x32xi8>)
  return
}
module @pit_kernels attributes {pit.kernels} {
  func.func @few_rows(%a: memref<16x512xf32>, %b: memref<512x256xf32>, %o: memref<16x256xf32>, %bitmap: memref<16x32xi8>) {
    %c0 = arith.constant 0 : index
    %n = arith.constant 256 : index
    %K = arith.constant 512 : index
    %zero = arith.constant 0.0 : f32
    pit.forall (%j) = (%c0) to (%n) step (64) {
      pit.mainloop %c0 to %K step [16] extra_maps [] into %o[%c0, %j : index, index] bitmap(%bitmap : memref<16x32xi8>) : memref<16x256xf32> load {
      ^bb0(%k: index):
        %x = pit.view %a[%c0, %k : index, index] pad(0.0 : f32) : memref<16x512xf32> -> vector<16x16xf32>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f32) : memref<512x256xf32> -> vector<16x64xf32>
        pit.yield %x, %y : vector<16x16xf32>, vector<16x64xf32>
      } compute {
      ^bb0(%xt: vector<16x16xf32>, %yt: vector<16x64xf32>, %at: vector<16x64xf32>):
        %st = pit.contract %xt, %yt, %at tile [16, 64, 16] maps [#mk, #kn, #mn] : vector<16x16xf32>, vector<16x64xf32>, vector<16x64xf32> {
        ^bb0(%p: f32, %q: f32, %acc: f32):
          %0 = arith.mulf %p, %q : f32
          %1 = arith.addf %acc, %0 : f32
          pit.yield %1 : f32
        }
        pit.yield %st : vector<16x64xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%sum: f32):
        %0 = arith.maximumf %sum, %zero : f32
        pit.yield %0 : f32
      }
    }
    return
  }
}
}

// -----

// Kernels whose tiles are not shared: there are enough for the machine, or of too
// few steps, and no sums of products.

// SCHEDULE-LABEL: func.func @many_tiles(
// SCHEDULE: #pit.gpu_schedule<
// SCHEDULE-NOT: parts
// SCHEDULE-LABEL: func.func @few_steps(
// SCHEDULE: #pit.gpu_schedule<
// SCHEDULE-NOT: parts
// SCHEDULE-LABEL: func.func @maxima(
// SCHEDULE: #pit.gpu_schedule<
// SCHEDULE-NOT: parts
// Where the number of tiles, or of steps, is not known, that is decided on the device.
// SCHEDULE-LABEL: func.func @unknown(
// SCHEDULE: splits = 32,

// CHECK-LABEL: gpu.func @many_tiles(
// CHECK-NOT: grid = steps
// CHECK-NOT: gpu.block_id y
// CHECK-LABEL: gpu.func @unknown(
// CHECK-SAME: grid = steps, splits = 32,
// CHECK: pit_gpu.steps_of_split %{{.*}} of %{{.*}} in %{{[0-9]+}} least 8 : i32

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
module @pit_kernels attributes {pit.kernels} {
  func.func @many_tiles(%a: memref<16x512xf32>, %b: memref<512x32768xf32>, %o: memref<16x32768xf32>) {
    %c0 = arith.constant 0 : index
    %n = arith.constant 32768 : index
    %K = arith.constant 512 : index
    %zero = arith.constant 0.0 : f32
    pit.forall (%j) = (%c0) to (%n) step (64) {
      pit.mainloop %c0 to %K step [16] extra_maps [] into %o[%c0, %j : index, index] : memref<16x32768xf32> load {
      ^bb0(%k: index):
        %x = pit.view %a[%c0, %k : index, index] pad(0.0 : f32) : memref<16x512xf32> -> vector<16x16xf32>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f32) : memref<512x32768xf32> -> vector<16x64xf32>
        pit.yield %x, %y : vector<16x16xf32>, vector<16x64xf32>
      } compute {
      ^bb0(%xt: vector<16x16xf32>, %yt: vector<16x64xf32>, %at: vector<16x64xf32>):
        %st = pit.contract %xt, %yt, %at tile [16, 64, 16] maps [#mk, #kn, #mn] : vector<16x16xf32>, vector<16x64xf32>, vector<16x64xf32> {
        ^bb0(%p: f32, %q: f32, %acc: f32):
          %0 = arith.mulf %p, %q : f32
          %1 = arith.addf %acc, %0 : f32
          pit.yield %1 : f32
        }
        pit.yield %st : vector<16x64xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%sum: f32):
        pit.yield %sum : f32
      }
    }
    return
  }
  func.func @few_steps(%a: memref<16x240xf32>, %b: memref<240x256xf32>, %o: memref<16x256xf32>) {
    %c0 = arith.constant 0 : index
    %n = arith.constant 256 : index
    %K = arith.constant 240 : index
    %zero = arith.constant 0.0 : f32
    pit.forall (%j) = (%c0) to (%n) step (64) {
      pit.mainloop %c0 to %K step [16] extra_maps [] into %o[%c0, %j : index, index] : memref<16x256xf32> load {
      ^bb0(%k: index):
        %x = pit.view %a[%c0, %k : index, index] pad(0.0 : f32) : memref<16x240xf32> -> vector<16x16xf32>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f32) : memref<240x256xf32> -> vector<16x64xf32>
        pit.yield %x, %y : vector<16x16xf32>, vector<16x64xf32>
      } compute {
      ^bb0(%xt: vector<16x16xf32>, %yt: vector<16x64xf32>, %at: vector<16x64xf32>):
        %st = pit.contract %xt, %yt, %at tile [16, 64, 16] maps [#mk, #kn, #mn] : vector<16x16xf32>, vector<16x64xf32>, vector<16x64xf32> {
        ^bb0(%p: f32, %q: f32, %acc: f32):
          %0 = arith.mulf %p, %q : f32
          %1 = arith.addf %acc, %0 : f32
          pit.yield %1 : f32
        }
        pit.yield %st : vector<16x64xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%sum: f32):
        pit.yield %sum : f32
      }
    }
    return
  }
  func.func @maxima(%a: memref<16x512xf32>, %b: memref<512x256xf32>, %o: memref<16x256xf32>) {
    %c0 = arith.constant 0 : index
    %n = arith.constant 256 : index
    %K = arith.constant 512 : index
    %zero = arith.constant 0.0 : f32
    pit.forall (%j) = (%c0) to (%n) step (64) {
      pit.mainloop %c0 to %K step [16] extra_maps [] into %o[%c0, %j : index, index] : memref<16x256xf32> load {
      ^bb0(%k: index):
        %x = pit.view %a[%c0, %k : index, index] pad(0.0 : f32) : memref<16x512xf32> -> vector<16x16xf32>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f32) : memref<512x256xf32> -> vector<16x64xf32>
        pit.yield %x, %y : vector<16x16xf32>, vector<16x64xf32>
      } compute {
      ^bb0(%xt: vector<16x16xf32>, %yt: vector<16x64xf32>, %at: vector<16x64xf32>):
        %st = pit.contract %xt, %yt, %at tile [16, 64, 16] maps [#mk, #kn, #mn] : vector<16x16xf32>, vector<16x64xf32>, vector<16x64xf32> {
        ^bb0(%p: f32, %q: f32, %acc: f32):
          %0 = arith.mulf %p, %q : f32
          %1 = arith.maximumf %acc, %0 : f32
          pit.yield %1 : f32
        }
        pit.yield %st : vector<16x64xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%sum: f32):
        pit.yield %sum : f32
      }
    }
    return
  }
  func.func @unknown(%a: memref<?x?xf32>, %b: memref<?x512xf32>, %o: memref<?x512xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %a, %c0 : memref<?x?xf32>
    %n = arith.constant 512 : index
    %K = memref.dim %a, %c1 : memref<?x?xf32>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 64) {
      pit.mainloop %c0 to %K step [16] extra_maps [] into %o[%i, %j : index, index] : memref<?x512xf32> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<64x16xf32>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f32) : memref<?x512xf32> -> vector<16x64xf32>
        pit.yield %x, %y : vector<64x16xf32>, vector<16x64xf32>
      } compute {
      ^bb0(%xt: vector<64x16xf32>, %yt: vector<16x64xf32>, %at: vector<64x64xf32>):
        %st = pit.contract %xt, %yt, %at tile [64, 64, 16] maps [#mk, #kn, #mn] : vector<64x16xf32>, vector<16x64xf32>, vector<64x64xf32> {
        ^bb0(%p: f32, %q: f32, %acc: f32):
          %0 = arith.mulf %p, %q : f32
          %1 = arith.addf %acc, %0 : f32
          pit.yield %1 : f32
        }
        pit.yield %st : vector<64x64xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%sum: f32):
        pit.yield %sum : f32
      }
    }
    return
  }
}
}
