// RUN: split-file %s %t
// RUN: pit-opt %t/dense.mlir -pit-tile-dense="target=sm_90a explain" 2>%t/remarks | FileCheck %t/dense.mlir
// RUN: FileCheck %t/dense.mlir --check-prefix=REMARK --input-file %t/remarks
// RUN: pit-opt %t/dense.mlir -pit-tile-dense="target=sm_90a shared=false" | FileCheck %t/dense.mlir --check-prefix=ALONE
// RUN: pit-opt %t/dense.mlir -pit-to-gpu-tiles="chip=sm_90a strict" | FileCheck %t/dense.mlir --check-prefix=ALONE
// RUN: pit-opt %t/marked.mlir -pit-plan="target=sm_90a conflicts=atomic explain" 2>%t/remarks | FileCheck %t/marked.mlir
// RUN: FileCheck %t/marked.mlir --check-prefix=REMARK --input-file %t/remarks
// RUN: pit-opt %t/dense.mlir -pit-to-gpu-tiles=chip=sm_90a | FileCheck %t/dense.mlir
// RUN: pit-opt %t/dense.mlir -pit-to-gpu-tiles=chip=sm_90 | FileCheck %t/dense.mlir --check-prefix=PORTABLE
// RUN: pit-opt %t/dense.mlir -pit-to-gpu-tiles="chip=sm_90a explain" -o /dev/null 2>&1 | FileCheck %t/dense.mlir --check-prefix=REMARK
// RUN: pit-opt %t/tf32.mlir -pit-to-gpu-tiles="chip=sm_90a tf32" | FileCheck %t/tf32.mlir
// RUN: pit-opt %t/tf32.mlir -pit-to-gpu-tiles=tf32 | FileCheck %t/tf32.mlir
// RUN: pit-opt %t/tf32.mlir -pit-to-gpu-tiles=tf32 -pit-tiles-to-kernels=tf32 | FileCheck %t/tf32.mlir --check-prefix=MAINLOOP
// RUN: pit-opt %t/tf32.mlir -pit-to-cuda="chip=sm_90a tf32 explain" -o /dev/null 2>&1 | FileCheck %t/tf32.mlir --check-prefix=REMARK

// Tiles for Hopper: of those that the table gives cycles for, that of the least
// modelled time.

//--- tf32.mlir
!t = tensor<4096x4096xf32>
// CHECK-LABEL: func.func @product(
// CHECK: pit.forall {{.*}} step (128, 256)
// CHECK: pit.for {{.*}} step (32)
// MAINLOOP-LABEL: func.func @product_kernel(
// MAINLOOP: pit.contract {{.*}} tile [128, 256, 32]
// REMARK: linalg.matmul: modelled cycles by tile: [128, 256, 32] 538288,
func.func @product(%a: !t, %b: !t, %c: !t) -> !t {
  %r = linalg.matmul ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}
// Tensor cores do nothing but multiply.
// CHECK-LABEL: func.func @greatest(
// CHECK: pit.forall {{.*}} step (64, 64)
// CHECK: pit.for {{.*}} step (32)
// MAINLOOP-LABEL: func.func @greatest_kernel(
// MAINLOOP: pit.contract {{.*}} tile [64, 64, 32]
// REMARK-NOT: modelled
func.func @greatest(%a: !t, %b: !t, %c: !t) -> !t {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : !t, !t) outs(%c : !t) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.addf %x, %y : f32
    %q = arith.maximumf %o, %p : f32
    linalg.yield %q : f32
  } -> !t
  return %r : !t
}
// Nor do they add in f64.
// CHECK-LABEL: func.func @f64_sums(
// CHECK: pit.forall {{.*}} step (64, 64)
// CHECK: pit.for {{.*}} step (32)
func.func @f64_sums(%a: !t, %b: !t, %c: tensor<4096x4096xf64>) -> tensor<4096x4096xf64> {
  %r = linalg.matmul ins(%a, %b : !t, !t) outs(%c : tensor<4096x4096xf64>) -> tensor<4096x4096xf64>
  return %r : tensor<4096x4096xf64>
}

//--- dense.mlir
// 128 x 256: 512 tiles are 4 waves of 132, 64 steps of 1024 cycles each.
// CHECK-LABEL: func.func @square(
// CHECK: pit.forall {{.*}} step (128, 256)
// CHECK: pit.for {{.*}} step (64)
// REMARK: linalg.matmul: modelled cycles by tile: [128, 256, 64] 276144, [256, 128, 64] 290480, [128, 192, 64] 332880, [128, 128, 64] 337440, [64, 256, 64] 455200, [64, 128, 64] 523520; the first is chosen
// PORTABLE-LABEL: func.func @square(
// PORTABLE: pit.forall {{.*}} step (128, 256)
// PORTABLE: pit.for {{.*}} step (32)
func.func @square(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}
// CHECK-LABEL: func.func @large(
// CHECK: pit.forall {{.*}} step (128, 256)
// CHECK: pit.for {{.*}} step (64)
// REMARK: linalg.matmul: modelled cycles by tile: [128, 256, 64] 2153152,
func.func @large(%a: tensor<8192x8192xf16>, %b: tensor<8192x8192xf16>, %c: tensor<8192x8192xf16>) -> tensor<8192x8192xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<8192x8192xf16>, tensor<8192x8192xf16>) outs(%c : tensor<8192x8192xf16>) -> tensor<8192x8192xf16>
  return %r : tensor<8192x8192xf16>
}
// Eight tiles of 128 x 256 would leave most of the machine idle.
// CHECK-LABEL: func.func @deep(
// CHECK: pit.forall {{.*}} step (64, 128)
// CHECK: pit.for {{.*}} step (64)
// REMARK: linalg.matmul: modelled cycles by tile: [64, 128, 64] 63440, [128, 128, 64] 81860, [128, 192, 64] 107960,
func.func @deep(%a: tensor<512x8192xf16>, %b: tensor<8192x512xf16>, %c: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<512x8192xf16>, tensor<8192x512xf16>) outs(%c : tensor<512x512xf16>) -> tensor<512x512xf16>
  return %r : tensor<512x512xf16>
}
// Tails are whole tiles and whole steps.
// CHECK-LABEL: func.func @tails(
// CHECK: pit.forall {{.*}} step (128, 256)
// CHECK: pit.for {{.*}} step (64)
// REMARK: linalg.matmul: modelled cycles by tile: [128, 256, 64] 280240,
func.func @tails(%a: tensor<4097x4104xf16>, %b: tensor<4104x4095xf16>, %c: tensor<4097x4095xf16>) -> tensor<4097x4095xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<4097x4104xf16>, tensor<4104x4095xf16>) outs(%c : tensor<4097x4095xf16>) -> tensor<4097x4095xf16>
  return %r : tensor<4097x4095xf16>
}
// 17 columns of tiles would be a fifth wave for a few of them; turned, tiles are 4
// waves.
// CHECK-LABEL: func.func @wide(
// CHECK: pit.forall {{.*}} step (256, 128)
// CHECK: pit.for {{.*}} step (64)
// REMARK: linalg.matmul: modelled cycles by tile: [256, 128, 64] 290480, {{.*}}, [128, 256, 64] 345180
func.func @wide(%a: tensor<4096x4096xf16>, %b: tensor<4096x4104xf16>, %c: tensor<4096x4104xf16>) -> tensor<4096x4104xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4104xf16>) outs(%c : tensor<4096x4104xf16>) -> tensor<4096x4104xf16>
  return %r : tensor<4096x4104xf16>
}
// Few tiles along a long k are shared, so they may be larger: 128 tiles of 64 x 128 would be
// alone, and load twice as much in each step.
// CHECK-LABEL: func.func @long(
// CHECK: pit.forall {{.*}} step (128, 192)
// REMARK: linalg.matmul: modelled cycles by tile: [128, 192, 64]
// ALONE-LABEL: func.func @long(
// ALONE: pit.forall {{.*}} step (64, 128)
func.func @long(%a: tensor<512x14336xf16>, %b: tensor<14336x2048xf16>, %c: tensor<512x2048xf16>) -> tensor<512x2048xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<512x14336xf16>, tensor<14336x2048xf16>) outs(%c : tensor<512x2048xf16>) -> tensor<512x2048xf16>
  return %r : tensor<512x2048xf16>
}
// Two entries become the same tile; it counts once, with the lesser time.
// CHECK-LABEL: func.func @flat(
// CHECK: pit.forall {{.*}} step (128)
// CHECK: pit.for {{.*}} step (64)
// REMARK: linalg.matmul: modelled cycles by tile: [64, 128, 64] 63440, [64, 192, 64] 107960, [64, 256, 64] 111300;
func.func @flat(%a: tensor<64x8192xf16>, %b: tensor<8192x8192xf16>, %c: tensor<64x8192xf16>) -> tensor<64x8192xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<64x8192xf16>, tensor<8192x8192xf16>) outs(%c : tensor<64x8192xf16>) -> tensor<64x8192xf16>
  return %r : tensor<64x8192xf16>
}
// Sums of 8-bit floats are twice as many, those of a step and all: larger tiles where they
// leave no block idle, but not with scales of blocks, which need registers.
// CHECK-LABEL: func.func @f8(
// CHECK: pit.forall {{.*}} step (256, 128)
// CHECK: pit.for {{.*}} step (128)
func.func @f8(%a: tensor<4096x4096xf8E4M3FN>, %b: tensor<4096x4096xf8E4M3FN>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %b : tensor<4096x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
// CHECK-LABEL: func.func @f8_few(
// CHECK: pit.forall {{.*}} step (128, 128)
func.func @f8_few(%a: tensor<1024x4096xf8E4M3FN>, %b: tensor<1024x4096xf8E4M3FN>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%a, %b : tensor<1024x4096xf8E4M3FN>, tensor<1024x4096xf8E4M3FN>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}
// REMARK: linalg.generic: modelled cycles by tile: [128, 128, 1, 128]
// CHECK-LABEL: func.func @blocks(
// CHECK: pit.forall {{.*}} step (128, {{(1, )?}}128)
func.func @blocks(%a: tensor<4096x32x128xbf16>, %b: tensor<4096x32x128xbf16>, %s: tensor<4096x32xf32>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, c, k) -> (m, c, k)>, affine_map<(m, n, c, k) -> (n, c, k)>,
                                        affine_map<(m, n, c, k) -> (m, c)>, affine_map<(m, n, c, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b, %s : tensor<4096x32x128xbf16>, tensor<4096x32x128xbf16>, tensor<4096x32xf32>) outs(%c : tensor<4096x4096xf32>) {
  ^bb0(%x: bf16, %y: bf16, %v: f32, %o: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.mulf %2, %v : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
// What is not known is not modelled: the first entry. Nor is f32, which has no
// timed entries.
// REMARK-NOT: modelled
// CHECK-LABEL: func.func @dynamic(
// CHECK: pit.forall {{.*}} step (128, 256)
// CHECK: pit.for {{.*}} step (64)
func.func @dynamic(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}
// Large products of f32 have large tiles, if rows of B are contiguous.
// CHECK-LABEL: func.func @f32(
// REMARK: linalg.matmul: modelled cycles by tile: [128, 256, 16] 5156000, [64, 64, 32] 5757440
// CHECK: pit.forall {{.*}} step (128, 256)
// CHECK: pit.for {{.*}} step (16)
func.func @f32(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
// CHECK-LABEL: func.func @f32_apart(
// CHECK: pit.forall {{.*}} step (64, 64)
// CHECK: pit.for {{.*}} step (32)
func.func @f32_apart(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

//--- marked.mlir
// Rows: chunks of 128 ids, as many as if all were live.
// CHECK-LABEL: func.func @rows(
// CHECK: tile = [128, 256, 64]>
// REMARK: linalg.matmul: modelled cycles by tile: [128, 256, 64] 276144, [128, 192, 64]
func.func @rows(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<4096x4096xf16>
  %r = linalg.matmul ins(%s, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}
// CHECK-LABEL: func.func @rows_dynamic(
// CHECK: tile = [128, 256, 64]>
func.func @rows_dynamic(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<?x?xf16>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}
// Few rows.
// CHECK-LABEL: func.func @few_rows(
// CHECK: tile = [128, 128, 64]>
// REMARK: modelled cycles by tile: [128, 128, 64]
func.func @few_rows(%a: tensor<512x4096xf16>, %b: tensor<4096x2048xf16>, %c: tensor<512x2048xf16>) -> tensor<512x2048xf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<512x4096xf16>
  %r = linalg.matmul ins(%s, %b : tensor<512x4096xf16>, tensor<4096x2048xf16>) outs(%c : tensor<512x2048xf16>) -> tensor<512x2048xf16>
  return %r : tensor<512x2048xf16>
}
// Along k, the micro-tile says how high the tile is, and so which entries fit.
// CHECK-LABEL: func.func @k128(
// CHECK: tile = [128, 256, 64]>
// REMARK: modelled cycles by tile: [128, 256, 64] {{.*}}, [128, 128, 64]
func.func @k128(%a: tensor<8192x8192xf16>, %b: tensor<8192x8192xf16>, %c: tensor<8192x8192xf16>) -> tensor<8192x8192xf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [128, 1]>) : tensor<8192x8192xf16>
  %r = linalg.matmul ins(%s, %b : tensor<8192x8192xf16>, tensor<8192x8192xf16>) outs(%c : tensor<8192x8192xf16>) -> tensor<8192x8192xf16>
  return %r : tensor<8192x8192xf16>
}
// CHECK-LABEL: func.func @k64(
// CHECK: tile = [64, 512, 32]>
// REMARK: modelled cycles by tile: [64, 512, 32] {{.*}}, [64, 256, 64]
func.func @k64(%a: tensor<8192x8192xf16>, %b: tensor<8192x8192xf16>, %c: tensor<8192x8192xf16>) -> tensor<8192x8192xf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [64, 1]>) : tensor<8192x8192xf16>
  %r = linalg.matmul ins(%s, %b : tensor<8192x8192xf16>, tensor<8192x8192xf16>) outs(%c : tensor<8192x8192xf16>) -> tensor<8192x8192xf16>
  return %r : tensor<8192x8192xf16>
}
// CHECK-LABEL: func.func @k64_index(
// CHECK: tile = [64, 512, 32]>
func.func @k64_index(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>, %i: !pit.index<micro_tile = [64, 1], axis = 1>) -> tensor<?x?xf16> {
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [64, 1], axis = 1>) : tensor<?x?xf16>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}
// The same of the right operand.
// CHECK-LABEL: func.func @k64_right(
// CHECK: tile = [512, 64, 32]>
func.func @k64_right(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %s = pit.sparse %b rule(#pit.rule<axis = 0, micro_tile = [1, 64]>) : tensor<?x?xf16>
  %r = linalg.matmul ins(%a, %s : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}
// A tile of few rows is wide: wgmma has its columns on the long side.
// REMARK: modelled cycles by tile: [16, 1024, 64] {{.*}}, [16, 512, 64]
// CHECK-LABEL: func.func @k16(
// CHECK: tile = [16, 1024, 64]>
func.func @k16(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [16, 1]>) : tensor<4096x4096xf16>
  %r = linalg.matmul ins(%s, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}
// As of few rows, so of few columns.
// REMARK: modelled cycles by tile: [1024, 32, 64] {{.*}}, [512, 32, 64]
// CHECK-LABEL: func.func @k32_right(
// CHECK: tile = [1024, 32, 64]>
func.func @k32_right(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %s = pit.sparse %b rule(#pit.rule<axis = 0, micro_tile = [1, 32]>) : tensor<4096x4096xf16>
  %r = linalg.matmul ins(%a, %s : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}
// Wanted results in few rows or columns.
// CHECK-LABEL: func.func @wanted32(
// CHECK: tile = [32, 256, 64]>
func.func @wanted32(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>, %i: !pit.index<micro_tile = [32, 1], axis = 1>) -> tensor<?x?xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf16>) -> tensor<?x?xf16>
  %s = pit.sparse %r index(%i : !pit.index<micro_tile = [32, 1], axis = 1>) : tensor<?x?xf16>
  return %s : tensor<?x?xf16>
}
// Parts of sums have an entry of their own, rows the parallel one.
// CHECK-LABEL: func.func @parts(
// CHECK: tile = [64, 128, 64], conflicts = atomic>
func.func @parts(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 64]>) : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
// CHECK-LABEL: func.func @no_parts(
// CHECK: tile = [128, 128, 16]>
func.func @no_parts(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
// How high micro-tiles are is not decided by time.
// REMARK-NOT: modelled
// CHECK-LABEL: func.func @k_free(
// CHECK: micro_tile = [32, 1], tile = [32, 256, 64]>
func.func @k_free(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1>) : tensor<4096x4096xf16>
  %r = linalg.matmul ins(%s, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}
