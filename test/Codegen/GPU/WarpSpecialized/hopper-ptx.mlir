// Hopper's schedule all the way to machine code: no registers in memory, and
// wgmmas that run ahead. ptxas says of those that do not "serialized" (C7510 and
// its neighbours), as a remark that -Werror does not turn into an error. That it
// "injected" warpgroup.arrive (C7519) is harmless: it puts another
// wgmma.fence where accumulators are set to zero before the loop, once a tile.

// REQUIRES: ptxas, pit-compile
// RUN: pit-compile %s --target=nvptx --chip=sm_90a --emit=ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: %ptxas -arch=sm_90a -warn-spills -Werror %t.ptx -o %t.cubin > %t.log 2>&1
// RUN: FileCheck %s --check-prefix=PTXAS --allow-empty < %t.log
// PTXAS-NOT: {{serialized|[Ss]pill}}

// CHECK: .target sm_90a
// CHECK-LABEL: .entry dense_f16_kernel_hopper(
// CHECK: .reqnctapercluster 2
// CHECK-DAG: setmaxnreg.dec.sync.aligned.u32 {{[0-9]+}};
// CHECK-DAG: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
// CHECK-DAG: setmaxnreg.inc.sync.aligned.u32 {{2[0-9]+}};
// CHECK-DAG: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK-DAG: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-LABEL: .entry dense_f16_kernel(
// CHECK-NOT: wgmma
func.func @dense_f16(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}

// CHECK-LABEL: .entry dense_bf16_kernel_hopper(
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
func.func @dense_bf16(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// CHECK-LABEL: .entry transposed_f16_kernel_hopper(
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
func.func @transposed_f16(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: .entry rows_bf16_kernel{{.*}}_hopper(
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
func.func @rows_bf16(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %i: !pit.index<micro_tile = [1, *], axis = 0>) -> tensor<?x?xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xbf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xbf16>
  %zero = arith.constant 0.0 : bf16
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [1, *], axis = 0>) rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<?x?xbf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}

// Rows of both operands, by ids along k.
// CHECK-LABEL: .entry columns_f16_kernel_hopper(
// CHECK-DAG: cp.async.cg.shared.global
// CHECK-DAG: cp.async.mbarrier.arrive.noinc.shared
// CHECK-DAG: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
func.func @columns_f16(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %i: !pit.index<micro_tile = [1, 128], axis = 0>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [1, 128], axis = 0>) rule(#pit.rule<axis = 0, micro_tile = [1, 128]>) : tensor<4096x4096xf16>
  %e = tensor.empty() : tensor<4096x4096xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%s, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// CHECK-LABEL: .entry columns_bf16_kernel{{.*}}_hopper(
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
func.func @columns_bf16(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xbf16>, %i: !pit.index<micro_tile = [1, 128], axis = 0>) -> tensor<?x?xbf16> {
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [1, 128], axis = 0>) rule(#pit.rule<axis = 0, micro_tile = [1, 128]>) : tensor<?x?xbf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%s, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}

// Experts that add to their result, a column at a time: what the columns of a
// thread are is not kept while wgmmas run.
// CHECK-LABEL: .entry experts_bf16_kernel{{.*}}_hopper(
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// CHECK: red.global.add.v4.f32
func.func @experts_bf16(%r: tensor<16384x8xbf16>, %a: tensor<16384x4096xbf16>, %b: tensor<8x4096x14336xbf16>,
                        %i: !pit.index<micro_tile = [1, 1], axis = 0>) -> tensor<16384x14336xbf16> {
  %zero = arith.constant 0.0 : bf16
  %s = pit.sparse %r index(%i : !pit.index<micro_tile = [1, 1], axis = 0>) : tensor<16384x8xbf16>
  %e = tensor.empty() : tensor<16384x14336xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<16384x14336xbf16>) -> tensor<16384x14336xbf16>
  %h = linalg.generic {
         indexing_maps = [affine_map<(t, e, k, n) -> (t, e)>, affine_map<(t, e, k, n) -> (t, k)>,
                          affine_map<(t, e, k, n) -> (e, k, n)>, affine_map<(t, e, k, n) -> (t, n)>],
         iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
         ins(%s, %a, %b : tensor<16384x8xbf16>, tensor<16384x4096xbf16>, tensor<8x4096x14336xbf16>)
         outs(%c : tensor<16384x14336xbf16>) {
  ^bb0(%g: bf16, %x: bf16, %y: bf16, %o: bf16):
    %p = arith.mulf %x, %y : bf16
    %q = arith.mulf %g, %p : bf16
    %t = arith.addf %o, %q : bf16
    linalg.yield %t : bf16
  } -> tensor<16384x14336xbf16>
  return %h : tensor<16384x14336xbf16>
}

// Tiles of few rows, transposed.
// CHECK-LABEL: .entry few_rows_f16_kernel_{{[0-9]}}_hopper(
// CHECK-DAG: wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16
// CHECK-DAG: stmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-DAG: cp.async.ca.shared.global [{{.*}}], [{{.*}}], 4, %r
func.func @few_rows_f16(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xf16>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}
