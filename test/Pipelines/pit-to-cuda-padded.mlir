// RUN: pit-opt %s --pit-to-cuda=chip=sm_90a --mlir-print-ir-after=pit-schedule-kernels -o %t 2>&1 | FileCheck %s
// RUN: pit-opt %s --pit-to-cuda=chip=sm_80 --mlir-print-ir-after=pit-schedule-kernels -o %t 2>&1 | FileCheck %s --check-prefix=AMPERE

#x = affine_map<(b, s, n, k) -> (b, s, k)>
#w = affine_map<(b, s, n, k) -> (n, k)>
#y = affine_map<(b, s, n, k) -> (b, s, n)>
#bsn = affine_map<(b, s, n) -> (b, s, n)>
#n = affine_map<(b, s, n) -> (n)>

// The feed-forward block of a padded batch is two kernels, and one that fills
// the padding: biases, activation and rounding are parts of them. The hidden
// value is packed, and nothing lies in memory in f32. Both have Hopper's schedule,
// though the second one scatters what it computes. That one fills the padding
// itself, whatever the extents are.
// CHECK-LABEL: func.func @block
// CHECK: pit.launch {{.*}} outs(%{{.*}} : memref<?x512xf16>)
// CHECK: pit.launch {{.*}} iterations(%{{.*}} elements) outs(%[[Y:.*]] : memref<?x?x256xf16>)
// CHECK: pit.launch {{.*}} outs(%[[Y]] : memref<?x?x256xf16>)
// CHECK-NOT: pit.launch
// CHECK: func.func @block_kernel(
// CHECK: pit.mainloop {{.*}} extras({{.*}} into %{{.*}}[%{{.*}}, %{{.*}} : !pit.ids<{{.*}}>, index] {schedules = [#pit.gpu_schedule<multiply = wgmma, {{.*}} : memref<?x512xf16>
// CHECK: math.erf
// CHECK: func.func @block_kernel_1(
// CHECK: pit.mainloop {{.*}} extras({{.*}} into %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}} : index, !pit.ids<{{.*}}>, index] {schedules = [#pit.gpu_schedule<multiply = wgmma, {{.*}}load_a = tma_tile, load_b = tma_tile, cluster = 2, fill_rows = 16384, {{.*}} : memref<?x?x256xf16>
// CHECK-NOT: pit.mainloop
// CHECK: return
// AMPERE-LABEL: func.func @block
// AMPERE-COUNT-3: pit.launch
// AMPERE-NOT: pit.launch
// AMPERE-COUNT-2: pit.mainloop
func.func @block(%x: tensor<?x?x256xf16>, %lengths: tensor<?xi32>, %w1: tensor<512x256xf16>, %b1: tensor<512xf16>,
                 %w2: tensor<256x512xf16>, %b2: tensor<256xf16>) -> tensor<?x?x256xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x256xf16>
  %s = tensor.dim %x, %c1 : tensor<?x?x256xf16>
  %xs = pit.sparse %x lengths(%lengths : tensor<?xi32>) : tensor<?x?x256xf16>
  %e1 = tensor.empty(%b, %s) : tensor<?x?x512xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x?x512xf32>) -> tensor<?x?x512xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%xs, %w1 : tensor<?x?x256xf16>, tensor<512x256xf16>) outs(%z1 : tensor<?x?x512xf32>) {
  ^bb0(%u: f16, %v: f16, %o: f32):
    %uw = arith.extf %u : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %t = arith.mulf %uw, %vw : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<?x?x512xf32>
  %eh = tensor.empty(%b, %s) : tensor<?x?x512xf16>
  %h = linalg.generic {indexing_maps = [#bsn, #n, #bsn], iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%p, %b1 : tensor<?x?x512xf32>, tensor<512xf16>) outs(%eh : tensor<?x?x512xf16>) {
  ^bb0(%u: f32, %v: f16, %o: f16):
    %vw = arith.extf %v : f16 to f32
    %t = arith.addf %u, %vw : f32
    %g = math.erf %t : f32
    %i = arith.addf %g, %one : f32
    %j = arith.mulf %t, %i : f32
    %r = arith.truncf %j : f32 to f16
    linalg.yield %r : f16
  } -> tensor<?x?x512xf16>
  %hs = pit.sparse %h lengths(%lengths : tensor<?xi32>) : tensor<?x?x512xf16>
  %e2 = tensor.empty(%b, %s) : tensor<?x?x256xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x?x256xf32>) -> tensor<?x?x256xf32>
  %q = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%hs, %w2 : tensor<?x?x512xf16>, tensor<256x512xf16>) outs(%z2 : tensor<?x?x256xf32>) {
  ^bb0(%u: f16, %v: f16, %o: f32):
    %uw = arith.extf %u : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %t = arith.mulf %uw, %vw : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<?x?x256xf32>
  %ey = tensor.empty(%b, %s) : tensor<?x?x256xf16>
  %a = linalg.generic {indexing_maps = [#bsn, #n, #bsn], iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%q, %b2 : tensor<?x?x256xf32>, tensor<256xf16>) outs(%ey : tensor<?x?x256xf16>) {
  ^bb0(%u: f32, %v: f16, %o: f16):
    %vw = arith.extf %v : f16 to f32
    %t = arith.addf %u, %vw : f32
    %r = arith.truncf %t : f32 to f16
    linalg.yield %r : f16
  } -> tensor<?x?x256xf16>
  %y = pit.sparse %a lengths(%lengths : tensor<?xi32>) : tensor<?x?x256xf16>
  return %y : tensor<?x?x256xf16>
}
