// Products of 8-bit floats by wgmma, all the way to machine code. The sums of a stage,
// 128 elements along k, are added to the others in f32: the first wgmma of each stage
// replaces what is there (its predicate is false), and all of them have ended before.

// REQUIRES: ptxas, pit-compile
// RUN: pit-compile %s --target=nvptx --chip=sm_90a --emit=ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin > %t.log 2>&1
// RUN: FileCheck %s --check-prefix=PTXAS < %t.log
// PTXAS-NOT: serialized
// PTXAS: Function properties for blocks_kernel_hopper
// PTXAS-NEXT: 0 bytes spill stores, 0 bytes spill loads
// PTXAS: Function properties for scaled_kernel_hopper
// PTXAS-NEXT: 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: serialized

// Scales of the tensor, of rows and of columns are factors that do not depend on the
// reduction, and multiply the result.

// CHECK-LABEL: .entry scaled_kernel_hopper(
// CHECK-NOT: mul.{{.*}}f32
// CHECK: setp.ne.b32 p, 0, 0;
// CHECK: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3
// CHECK: setp.ne.b32 p, 1, 0;
// CHECK: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3
// CHECK: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3
// CHECK: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: add.{{.*}}f32
// CHECK: mul.{{.*}}f32
func.func @scaled(%a: tensor<?x4096xf8E4M3FN>, %b: tensor<4096x4096xf8E4M3FN>, %t: tensor<f32>,
                  %rows: tensor<?xf32>, %columns: tensor<4096xf32>, %c: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                        affine_map<(m, n, k) -> ()>, affine_map<(m, n, k) -> (m)>,
                                        affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %t, %rows, %columns : tensor<?x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN>, tensor<f32>,
          tensor<?xf32>, tensor<4096xf32>)
      outs(%c : tensor<?x4096xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %s: f32, %u: f32, %v: f32, %o: f32):
    %0 = arith.extf %x : f8E4M3FN to f32
    %1 = arith.extf %y : f8E4M3FN to f32
    %2 = arith.mulf %0, %u : f32
    %3 = arith.mulf %1, %v : f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.mulf %4, %s : f32
    %6 = arith.addf %o, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<?x4096xf32>
  return %r : tensor<?x4096xf32>
}

// Scales of blocks of 128 come with the stage, into shared memory. The stage's sums are
// multiplied as they are added.
// CHECK-LABEL: .entry blocks_kernel_hopper(
// CHECK: fma.rn.f32
// CHECK: ld.shared.b32
// CHECK-NOT: ld.global
// CHECK: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: cp.async.ca.shared.global
func.func @blocks(%a: tensor<?x32x128xf8E4M3FN>, %b: tensor<32x128x32x128xf8E4M3FN>, %rows: tensor<?x32xf32>,
                  %columns: tensor<32x32xf32>, %c: tensor<?x32x128xf32>) -> tensor<?x32x128xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, N, n, c, k) -> (m, c, k)>, affine_map<(m, N, n, c, k) -> (N, n, c, k)>,
                                        affine_map<(m, N, n, c, k) -> (m, c)>, affine_map<(m, N, n, c, k) -> (N, c)>,
                                        affine_map<(m, N, n, c, k) -> (m, N, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b, %rows, %columns : tensor<?x32x128xf8E4M3FN>, tensor<32x128x32x128xf8E4M3FN>, tensor<?x32xf32>,
          tensor<32x32xf32>)
      outs(%c : tensor<?x32x128xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %s: f32, %t: f32, %o: f32):
    %0 = arith.extf %x : f8E4M3FN to f32
    %1 = arith.extf %y : f8E4M3FN to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.mulf %2, %s : f32
    %4 = arith.mulf %3, %t : f32
    %5 = arith.addf %o, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<?x32x128xf32>
  return %r : tensor<?x32x128xf32>
}

// Experts of a layer, with weights in blocks of 128 x 128: scales of rows come by the same
// ids as the rows.
// CHECK-LABEL: .entry experts_kernel{{.*}}_hopper(
// CHECK: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: fma.rn.f32
func.func @experts(%i: !pit.index<micro_tile = [1, 1], axis = 0>, %gates: tensor<?x8xf32>, %a: tensor<?x16x128xf8E4M3FN>,
                   %b: tensor<8x4x128x16x128xf8E4M3FN>, %s: tensor<?x16xf32>, %t: tensor<8x4x16xf32>,
                   %c: tensor<?x8x4x128xf32>) -> tensor<?x8x4x128xf32> {
  %w = pit.sparse %gates index(%i : !pit.index<micro_tile = [1, 1], axis = 0>) rule(#pit.rule<axis = 0, micro_tile = [1, 1]>)
         : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, e, N, n, c, k) -> (m, e)>, affine_map<(m, e, N, n, c, k) -> (m, c, k)>,
                                        affine_map<(m, e, N, n, c, k) -> (e, N, n, c, k)>, affine_map<(m, e, N, n, c, k) -> (m, c)>,
                                        affine_map<(m, e, N, n, c, k) -> (e, N, c)>, affine_map<(m, e, N, n, c, k) -> (m, e, N, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%w, %a, %b, %s, %t : tensor<?x8xf32>, tensor<?x16x128xf8E4M3FN>, tensor<8x4x128x16x128xf8E4M3FN>,
          tensor<?x16xf32>, tensor<8x4x16xf32>)
      outs(%c : tensor<?x8x4x128xf32>) {
  ^bb0(%g: f32, %x: f8E4M3FN, %y: f8E4M3FN, %u: f32, %v: f32, %o: f32):
    %0 = arith.extf %x : f8E4M3FN to f32
    %1 = arith.extf %y : f8E4M3FN to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.mulf %2, %u : f32
    %4 = arith.mulf %3, %v : f32
    %5 = arith.mulf %4, %g : f32
    %6 = arith.addf %o, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<?x8x4x128xf32>
  return %r : tensor<?x8x4x128xf32>
}

// Factors of both types; rows by ids, with weights along k.
// CHECK-LABEL: .entry rows_kernel{{.*}}_hopper(
// CHECK: wgmma.mma_async.sync.aligned.m64n128k32.f32.e5m2.e4m3
func.func @rows(%a: tensor<?x4096xf8E5M2>, %b: tensor<4096x4096xf8E4M3FN>,
                %i: !pit.index<micro_tile = [1, *], axis = 0>, %c: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [1, *], axis = 0>) rule(#pit.rule<axis = 0, micro_tile = [1, *]>)
         : tensor<?x4096xf8E5M2>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%s, %b : tensor<?x4096xf8E5M2>, tensor<4096x4096xf8E4M3FN>) outs(%c : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %r : tensor<?x4096xf32>
}

// wgmma transposes no bytes: the host hands a copy of B that lies along k.
// CHECK-LABEL: .entry other_order_kernel_hopper(
// CHECK: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3
func.func @other_order(%a: tensor<?x4096xf8E4M3FN>, %b: tensor<4096x4096xf8E4M3FN>, %c: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN>) outs(%c : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %r : tensor<?x4096xf32>
}
