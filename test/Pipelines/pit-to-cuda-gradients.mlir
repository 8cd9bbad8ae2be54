// The gradients of keys and values of an attention: one loop along the queries for both, of four products. An
// sm_90a takes tiles of 128 keys, two warpgroups, and as many queries as registers are left beside both sums.

// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions{target=sm_90a}))' | FileCheck %s --check-prefix=TILES
// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions{target=sm_80}))' | FileCheck %s --check-prefix=OLD
// RUN: sed -e 's/x128xf/x64xf/g' %s | pit-opt --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions{target=sm_90a}))' | FileCheck %s --check-prefix=NARROW
// RUN: sed -e 's/x128xf/x256xf/g' %s | pit-opt --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions{target=sm_90a}))' | FileCheck %s --check-prefix=WIDE
// RUN: pit-opt %s --pit-to-cuda="chip=sm_90a device-code=ptx" --mlir-print-ir-before=convert-pit-gpu-to-nvvm -o /dev/null 2>&1 | FileCheck %s
// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions{target=sm_80}))' | pit-opt --pit-to-cuda="chip=sm_90a device-code=ptx" --mlir-print-ir-after=pit-schedule-kernels -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: pit-compile %s --emit=ptx --target=cuda --chip=sm_90a -o - | FileCheck %s --check-prefix=PTX

// TILES: pit.forall {{.*}} step (1, 128)
// TILES: pit.for {{.*}} step (64) iter_args({{.*}}) -> (tensor<1x128x128xf32>, tensor<1x128x128xf32>)
// OLD: pit.forall {{.*}} step (1, 64)
// OLD: pit.for {{.*}} step (64) iter_args({{.*}}) -> (tensor<1x64x128xf32>, tensor<1x64x128xf32>)
// NARROW: pit.forall {{.*}} step (1, 128)
// NARROW: pit.for {{.*}} step (112) iter_args({{.*}}) -> (tensor<1x128x64xf32>, tensor<1x128x64xf32>)
// Sums of 512 columns leave nothing.
// WIDE: pit.forall {{.*}} step (1, 64)
// WIDE: pit.for {{.*}} step (64) iter_args({{.*}}) -> (tensor<1x64x256xf32>, tensor<1x64x256xf32>)

// Of tiles of 64 keys there are two blocks on a multiprocessor: producers of boxes alone leave each worker 232 registers.
// TWO: schedules = [#pit.gpu_schedule<multiply = wgmma, {{.*}}workers = [4, 1], producers = 4, {{.*}}blocks = 2

// Logarithms of sums are scaled once for a column, powers of 16-bit factors are one instruction.
// TILES-NOT: math.exp{{ }}
// TILES: math.fma
// TILES: math.exp2 {{.*}} fastmath<afn>

// A step whose queries are all there is one of its own, without comparisons. Both products of what is loaded
// start at once, that of the probabilities before the second one is awaited.
// CHECK: gpu.func @gradient_kernel_hopper(
// CHECK: role "workers" warps 8 registers 240
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.if {{.*}} -> (!pit_gpu.fragment<64x128xf32>, !pit_gpu.fragment<64x128xf32>, !pit_gpu.fragment<1x64xf32, spread>, !pit_gpu.fragment<1x64xf32, spread>)
// CHECK-NOT: arith.cmpi
// CHECK: %[[S:.*]] = pit_gpu.mma {{.*}} : !pit_gpu.tile
// CHECK: %[[P:.*]] = pit_gpu.mma {{.*}} : !pit_gpu.tile
// CHECK: pit_gpu.mma_wait pending 1 of %[[S]]
// CHECK-NOT: arith.cmpi
// CHECK: pit_gpu.map({{.*}}!pit_gpu.fragment<64x64xf32>, !pit_gpu.fragment<1x64xf32, spread>
// CHECK: math.exp2
// CHECK-NOT: pit_gpu.mma_wait
// CHECK: %[[V:.*]] = pit_gpu.mma {{.*}} : !pit_gpu.fragment<64x64xf16>
// CHECK: pit_gpu.mma_wait pending 1 of %[[P]]
// CHECK-NOT: arith.cmpi
// CHECK: %[[K:.*]] = pit_gpu.mma {{.*}} : !pit_gpu.fragment<64x64xf16>
// Columns of the next step are on their way while products run.
// CHECK-NOT: pit_gpu.mma
// CHECK-COUNT-4: llvm.load
// CHECK: pit_gpu.mma_wait pending 1 of %[[V]]
// CHECK: pit_gpu.release
// CHECK: pit_gpu.mma_wait pending 0 of %[[K]]
// CHECK: pit_gpu.release
// CHECK: } else {
// CHECK: arith.select

// A lane has a column of eight from the lane that is in the same place of another four.
// PTX: shfl.sync.idx.b32 {{.*}}, 28, 799, -1;

#a = affine_map<(h, n, m, d) -> (h, n, d)>
#b = affine_map<(h, n, m, d) -> (h, m, d)>
#s = affine_map<(h, n, m, d) -> (h, n, m)>
#p = affine_map<(h, n, d, m) -> (h, n, m)>
#q = affine_map<(h, n, d, m) -> (h, m, d)>
#g = affine_map<(h, n, d, m) -> (h, n, d)>
#all = affine_map<(h, n, m) -> (h, n, m)>
#col = affine_map<(h, n, m) -> (h, m)>
func.func @gradient(%q: tensor<4x?x128xf16>, %k: tensor<4x?x128xf16>, %v: tensor<4x?x128xf16>,
                    %dy: tensor<4x?x128xf16>, %logs: tensor<4x?xf32>, %delta: tensor<4x?xf32>)
    -> (tensor<4x?x128xf32>, tensor<4x?x128xf32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %m = tensor.dim %q, %c1 : tensor<4x?x128xf16>
  %n = tensor.dim %k, %c1 : tensor<4x?x128xf16>
  %e = tensor.empty(%n, %m) : tensor<4x?x?xf32>
  %h = tensor.empty(%n, %m) : tensor<4x?x?xf16>
  %eo = tensor.empty(%n) : tensor<4x?x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x?x128xf32>) -> tensor<4x?x128xf32>
  %scores = linalg.generic {indexing_maps = [#a, #b, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%k, %q : tensor<4x?x128xf16>, tensor<4x?x128xf16>) outs(%z : tensor<4x?x?xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %xy = arith.mulf %xw, %yw : f32
    %sum = arith.addf %o, %xy : f32
    linalg.yield %sum : f32
  } -> tensor<4x?x?xf32>
  %chances = linalg.generic {indexing_maps = [#all, #col, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %logs : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%e : tensor<4x?x?xf32>) {
  ^bb0(%x: f32, %log: f32, %o: f32):
    %scaled = arith.mulf %x, %scale : f32
    %away = arith.subf %scaled, %log : f32
    %power = math.exp %away : f32
    linalg.yield %power : f32
  } -> tensor<4x?x?xf32>
  %back = linalg.generic {indexing_maps = [#a, #b, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%v, %dy : tensor<4x?x128xf16>, tensor<4x?x128xf16>) outs(%z : tensor<4x?x?xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %xy = arith.mulf %xw, %yw : f32
    %sum = arith.addf %o, %xy : f32
    linalg.yield %sum : f32
  } -> tensor<4x?x?xf32>
  %slopes = linalg.generic {indexing_maps = [#all, #all, #col, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%chances, %back, %delta : tensor<4x?x?xf32>, tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%h : tensor<4x?x?xf16>) {
  ^bb0(%x: f32, %y: f32, %row: f32, %o: f16):
    %less = arith.subf %y, %row : f32
    %xy = arith.mulf %x, %less : f32
    %short = arith.truncf %xy : f32 to f16
    linalg.yield %short : f16
  } -> tensor<4x?x?xf16>
  %factors = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%chances : tensor<4x?x?xf32>) outs(%h : tensor<4x?x?xf16>) {
  ^bb0(%x: f32, %o: f16):
    %short = arith.truncf %x : f32 to f16
    linalg.yield %short : f16
  } -> tensor<4x?x?xf16>
  %dk = linalg.generic {indexing_maps = [#p, #q, #g], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%slopes, %q : tensor<4x?x?xf16>, tensor<4x?x128xf16>) outs(%zo : tensor<4x?x128xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %xy = arith.mulf %xw, %yw : f32
    %sum = arith.addf %o, %xy : f32
    linalg.yield %sum : f32
  } -> tensor<4x?x128xf32>
  %dv = linalg.generic {indexing_maps = [#p, #q, #g], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%factors, %dy : tensor<4x?x?xf16>, tensor<4x?x128xf16>) outs(%zo : tensor<4x?x128xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %xy = arith.mulf %xw, %yw : f32
    %sum = arith.addf %o, %xy : f32
    linalg.yield %sum : f32
  } -> tensor<4x?x128xf32>
  return %dk, %dv : tensor<4x?x128xf32>, tensor<4x?x128xf32>
}
