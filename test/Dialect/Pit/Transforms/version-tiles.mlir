// RUN: pit-opt %s -pit-version-tiles=target=sm_90a -canonicalize -cse | FileCheck %s
// RUN: pit-opt %s -pit-version-tiles="target=sm_90a explain" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: pit-opt %s -pit-version-tiles=target=sm_90a -pit-tile-dense=target=sm_90a | FileCheck %s --check-prefix=TILED
// RUN: pit-opt %s -pit-version-tiles=target=avx512 | FileCheck %s --check-prefix=CPU
// RUN: pit-opt %s -pit-to-gpu-tiles="chip=sm_90a" | FileCheck %s --check-prefix=TILED
// RUN: pit-opt %s -pit-to-gpu-tiles="chip=sm_90a tile-versions=false" | FileCheck %s --check-prefix=CPU
// RUN: pit-opt %s -pit-to-gpu-tiles="chip=sm_90a strict" | FileCheck %s --check-prefix=CPU

// CPU-NOT: scf.if

// A version for each range of rows. All write to the same memory, and each
// starts from a fill of its own.
// WHY: [[#@LINE+33]]:8: remark: linalg.matmul: tiles by the extent of d0: [64, 128, 64] up to 256, [128, 128, 64] up to 512, [128, 256, 64] above
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x4096xf16>
// CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
// CHECK-DAG: %[[C512:.*]] = arith.constant 512 : index
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %[[A]]
// CHECK: %[[MEMORY:.*]] = tensor.empty(
// CHECK: %[[FEW:.*]] = arith.cmpi ule, %[[ROWS]], %[[C256]]
// CHECK: %[[R:.*]] = scf.if %[[FEW]]
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK: %[[P:.*]] = linalg.matmul {pit.rule = #pit.rule<tile = [64, 128, 64]>} {{.*}} outs(%[[FILL]]
// CHECK: %[[Y:.*]] = bufferization.materialize_in_destination %[[P]] in %[[MEMORY]]
// CHECK: scf.yield %[[Y]]
// CHECK: } else {
// CHECK: %[[MORE:.*]] = arith.cmpi ule, %[[ROWS]], %[[C512]]
// CHECK: scf.if %[[MORE]]
// CHECK: linalg.matmul {pit.rule = #pit.rule<tile = [128, 128, 64]>}
// CHECK: materialize_in_destination {{.*}} in %[[MEMORY]]
// CHECK: } else {
// CHECK: linalg.matmul {pit.rule = #pit.rule<tile = [128, 256, 64]>}
// CHECK: materialize_in_destination {{.*}} in %[[MEMORY]]
// CHECK: return %[[R]]
// TILED-LABEL: func.func @rows(
// TILED: pit.forall {{.*}} step (64, 128)
// TILED: pit.forall {{.*}} step (128, 128)
// TILED: pit.forall {{.*}} step (128, 256)
// TILED-NOT: pit.rule
func.func @rows(%a: tensor<?x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<?x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x4096xf16>
  %e = tensor.empty(%m) : tensor<?x4096xf16>
  %c = linalg.fill ins(%zero : f16) outs(%e : tensor<?x4096xf16>) -> tensor<?x4096xf16>
  %r = linalg.matmul ins(%a, %b : tensor<?x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<?x4096xf16>) -> tensor<?x4096xf16>
  return %r : tensor<?x4096xf16>
}

// The unknown extent may be that of columns.
// CHECK-LABEL: func.func @columns(
// CHECK: linalg.matmul {pit.rule = #pit.rule<tile = [64, 16, 32]>}
// CHECK: linalg.matmul {pit.rule = #pit.rule<tile = [64, 64, 32]>}
// CHECK: linalg.matmul {pit.rule = #pit.rule<tile = [128, 256, 16]>}
func.func @columns(%a: tensor<4096x4096xf32>, %b: tensor<4096x?xf32>, %c: tensor<4096x?xf32>) -> tensor<4096x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x?xf32>) outs(%c : tensor<4096x?xf32>) -> tensor<4096x?xf32>
  return %r : tensor<4096x?xf32>
}

// Of f32, whose tiles of few rows are not timed: up to 16 rows, and large products.
// WHY: remark: linalg.matmul: tiles by the extent of d0: [16, 64, 32] up to 16, [64, 64, 32] up to 256, [128, 256, 16] above
// CHECK-LABEL: func.func @portable(
// CHECK: arith.cmpi ule, {{.*}}, %c16
// CHECK: linalg.matmul {pit.rule = #pit.rule<tile = [16, 64, 32]>}
// CHECK: arith.cmpi ule, {{.*}}, %c256
// CHECK: linalg.matmul {pit.rule = #pit.rule<tile = [64, 64, 32]>}
// CHECK: linalg.matmul {pit.rule = #pit.rule<tile = [128, 256, 16]>}
func.func @portable(%a: tensor<?x4096xf32>, %b: tensor<4096x4096xf32>, %c: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x4096xf32>, tensor<4096x4096xf32>) outs(%c : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %r : tensor<?x4096xf32>
}

#id = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>

// Contractions that meet, and the epilogues up to where their result goes, are
// in the same branches. What has another use stays where it is.
// CHECK-LABEL: func.func @siblings(
// CHECK-SAME: %[[DEST:[^:,]*]]: tensor<?x4096xf32>)
// CHECK-NOT: linalg.generic
// CHECK: %[[R:.*]] = scf.if
// CHECK: linalg.matmul {pit.rule = #pit.rule<tile = [64, 128, 64]>}
// CHECK: linalg.generic
// CHECK: linalg.matmul {pit.rule = #pit.rule<tile = [64, 128, 64]>}
// CHECK: %[[LAST:.*]] = linalg.generic
// CHECK: %[[Y:.*]] = bufferization.materialize_in_destination %[[LAST]] in %[[DEST]]
// CHECK: scf.yield %[[Y]]
// CHECK: linalg.matmul {pit.rule = #pit.rule<tile = [128, 128, 64]>}
// CHECK: linalg.matmul {pit.rule = #pit.rule<tile = [128, 256, 64]>}
// CHECK-NOT: scf.if
// CHECK: linalg.generic {{.*}} ins(%[[R]]
// CHECK-NOT: linalg.matmul
func.func @siblings(%x: tensor<?x4096xf16>, %a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %bias: tensor<4096xf32>, %g: tensor<?x4096xf32>, %dest: tensor<?x4096xf32>) -> (tensor<?x4096xf32>, tensor<?x4096xf32>) {
  %1 = linalg.matmul ins(%x, %a : tensor<?x4096xf16>, tensor<4096x4096xf16>) outs(%g : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %2 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1, %bias : tensor<?x4096xf32>, tensor<4096xf32>) outs(%g : tensor<?x4096xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x4096xf32>
  %3 = linalg.matmul ins(%x, %b : tensor<?x4096xf16>, tensor<4096x4096xf16>) outs(%g : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %4 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2, %3 : tensor<?x4096xf32>, tensor<?x4096xf32>) outs(%g : tensor<?x4096xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x4096xf32>
  %5 = bufferization.materialize_in_destination %4 in %dest : (tensor<?x4096xf32>, tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %6 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%5 : tensor<?x4096xf32>) outs(%g : tensor<?x4096xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.negf %p : f32
    linalg.yield %s : f32
  } -> tensor<?x4096xf32>
  return %5, %6 : tensor<?x4096xf32>, tensor<?x4096xf32>
}

// 8-bit floats have other tiles above than those of an unknown number of rows
// by the table alone.
// CHECK-LABEL: func.func @f8(
// CHECK: tile = [128, 128, 128]
// CHECK: tile = [256, 128, 128]
func.func @f8(%a: tensor<?x4096xf8E4M3FN>, %b: tensor<4096x4096xf8E4M3FN>, %c: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN>) outs(%c : tensor<?x4096xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %o: f32):
    %u = arith.extf %x : f8E4M3FN to f32
    %v = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %u, %v : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x4096xf32>
  return %r : tensor<?x4096xf32>
}

// One tile for all: all extents are known, or two are not, or just that along
// the reduction; the weights are few; the op has a rule.
// CHECK-LABEL: func.func @left_alone(
// CHECK-NOT: scf.if
func.func @left_alone(%k: tensor<64x4096xf16>, %a: tensor<?x4096xf16>, %b: tensor<4096x4096xf16>, %n: tensor<4096x?xf16>, %few: tensor<4096x63xf16>,
                      %c: tensor<64x4096xf32>, %d: tensor<?x?xf32>, %e: tensor<?x63xf32>, %f: tensor<?x4096xf32>, %g: tensor<64x?xf16>, %h: tensor<?x4096xf16>)
    -> (tensor<64x4096xf32>, tensor<?x?xf32>, tensor<?x63xf32>, tensor<?x4096xf32>, tensor<64x4096xf32>) {
  %1 = linalg.matmul ins(%k, %b : tensor<64x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %2 = linalg.matmul ins(%a, %n : tensor<?x4096xf16>, tensor<4096x?xf16>) outs(%d : tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = linalg.matmul ins(%a, %few : tensor<?x4096xf16>, tensor<4096x63xf16>) outs(%e : tensor<?x63xf32>) -> tensor<?x63xf32>
  %4 = linalg.matmul {pit.rule = #pit.rule<tile = [128, 128, 64]>} ins(%a, %b : tensor<?x4096xf16>, tensor<4096x4096xf16>) outs(%f : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %5 = linalg.matmul ins(%g, %h : tensor<64x?xf16>, tensor<?x4096xf16>) outs(%c : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %1, %2, %3, %4, %5 : tensor<64x4096xf32>, tensor<?x?xf32>, tensor<?x63xf32>, tensor<?x4096xf32>, tensor<64x4096xf32>
}
