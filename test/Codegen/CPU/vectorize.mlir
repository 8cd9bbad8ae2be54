// RUN: pit-opt %s -pit-vectorize -canonicalize -cse -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-vectorize=vector-width=256 -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=AVX2
// RUN: pit-opt %s -pit-vectorize=parallel -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=PARALLEL

// CHECK-LABEL: func @matmul_f32(
// CHECK-SAME: %[[A:.*]]: memref<64x64xf32>, %[[B:.*]]: memref<64x64xf32>, %[[C:.*]]: memref<64x64xf32>
// CHECK: scf.for
// CHECK: vector.load %[[C]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load %[[B]]{{.*}} : memref<64x64xf32>, vector<16xf32>
// CHECK: %[[P:.*]] = arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: arith.addf {{.*}}%[[P]]{{.*}} fastmath<contract> : vector<16xf32>
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %[[C]]{{.*}} : memref<64x64xf32>, vector<16xf32>
// AVX2-LABEL: func @matmul_f32(
// AVX2: arith.mulf {{.*}} : vector<8xf32>
func.func @matmul_f32(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// CHECK-LABEL: func @matmul_f64(
// CHECK-SAME: %[[A:.*]]: memref<64x64xf64>, %[[B:.*]]: memref<64x64xf64>, %[[C:.*]]: memref<64x64xf64>
// CHECK: scf.for
// CHECK: vector.load %[[C]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load %[[B]]{{.*}} : memref<64x64xf64>, vector<8xf64>
// CHECK: %[[P:.*]] = arith.mulf {{.*}} fastmath<contract> : vector<8xf64>
// CHECK: arith.addf {{.*}}%[[P]]{{.*}} fastmath<contract> : vector<8xf64>
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %[[C]]{{.*}} : memref<64x64xf64>, vector<8xf64>
// AVX2-LABEL: func @matmul_f64(
// AVX2: arith.mulf {{.*}} : vector<4xf64>
func.func @matmul_f64(%a: memref<64x64xf64>, %b: memref<64x64xf64>, %c: memref<64x64xf64>) {
  linalg.matmul ins(%a, %b : memref<64x64xf64>, memref<64x64xf64>) outs(%c : memref<64x64xf64>)
  return
}

// -----

// CHECK-LABEL: func @matmul_f16(
// CHECK-SAME: %[[A:.*]]: memref<64x64xf16>, %[[B:.*]]: memref<64x64xf16>, %[[C:.*]]: memref<64x64xf32>
// CHECK: %[[PACKED:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x64xf32>
// CHECK: %[[N:.*]] = vector.load %[[B]]{{.*}} : memref<64x64xf16>, vector<16xf16>
// CHECK: %[[W:.*]] = arith.extf %[[N]] : vector<16xf16> to vector<16xf32>
// CHECK: vector.store %[[W]], %[[PACKED]]
// CHECK: vector.load %[[C]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load %[[PACKED]]{{.*}} : memref<64x64xf32>, vector<16xf32>
// CHECK: %[[P:.*]] = arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: arith.addf {{.*}}%[[P]]{{.*}} fastmath<contract> : vector<16xf32>
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %[[C]]{{.*}} : memref<64x64xf32>, vector<16xf32>
// AVX2-LABEL: func @matmul_f16(
// AVX2: arith.mulf {{.*}} : vector<8xf32>
func.func @matmul_f16(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  linalg.matmul ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// CHECK-LABEL: func @matmul_bf16(
// CHECK-SAME: %[[A:.*]]: memref<64x64xbf16>, %[[B:.*]]: memref<64x64xbf16>, %[[C:.*]]: memref<64x64xf32>
// CHECK: %[[PACKED:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x64xf32>
// CHECK: %[[N:.*]] = vector.load %[[B]]{{.*}} : memref<64x64xbf16>, vector<16xbf16>
// CHECK: %[[W:.*]] = arith.extf %[[N]] : vector<16xbf16> to vector<16xf32>
// CHECK: vector.store %[[W]], %[[PACKED]]
// CHECK: vector.load %[[C]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load %[[PACKED]]{{.*}} : memref<64x64xf32>, vector<16xf32>
// CHECK: %[[P:.*]] = arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: arith.addf {{.*}}%[[P]]{{.*}} fastmath<contract> : vector<16xf32>
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %[[C]]{{.*}} : memref<64x64xf32>, vector<16xf32>
// AVX2-LABEL: func @matmul_bf16(
// AVX2: arith.mulf {{.*}} : vector<8xf32>
func.func @matmul_bf16(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %c: memref<64x64xf32>) {
  linalg.matmul ins(%a, %b : memref<64x64xbf16>, memref<64x64xbf16>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// CHECK-LABEL: func @matmul_i8(
// CHECK-SAME: %[[A:.*]]: memref<64x64xi8>, %[[B:.*]]: memref<64x64xi8>, %[[C:.*]]: memref<64x64xi32>
// CHECK: %[[PACKED:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x64xi32>
// CHECK: %[[N:.*]] = vector.load %[[B]]{{.*}} : memref<64x64xi8>, vector<16xi8>
// CHECK: %[[W:.*]] = arith.extsi %[[N]] : vector<16xi8> to vector<16xi32>
// CHECK: vector.store %[[W]], %[[PACKED]]
// CHECK: vector.load %[[C]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load %[[PACKED]]{{.*}} : memref<64x64xi32>, vector<16xi32>
// CHECK: %[[P:.*]] = arith.muli {{.*}} : vector<16xi32>
// CHECK: arith.addi {{.*}}%[[P]]{{.*}} : vector<16xi32>
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %[[C]]{{.*}} : memref<64x64xi32>, vector<16xi32>
// AVX2-LABEL: func @matmul_i8(
// AVX2: arith.muli {{.*}} : vector<8xi32>
func.func @matmul_i8(%a: memref<64x64xi8>, %b: memref<64x64xi8>, %c: memref<64x64xi32>) {
  linalg.matmul ins(%a, %b : memref<64x64xi8>, memref<64x64xi8>) outs(%c : memref<64x64xi32>)
  return
}

// -----

// CHECK-LABEL: func @matmul_i32(
// CHECK-SAME: %[[A:.*]]: memref<64x64xi32>, %[[B:.*]]: memref<64x64xi32>, %[[C:.*]]: memref<64x64xi32>
// CHECK: scf.for
// CHECK: vector.load %[[C]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load %[[B]]{{.*}} : memref<64x64xi32>, vector<16xi32>
// CHECK: %[[P:.*]] = arith.muli {{.*}} : vector<16xi32>
// CHECK: arith.addi {{.*}}%[[P]]{{.*}} : vector<16xi32>
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %[[C]]{{.*}} : memref<64x64xi32>, vector<16xi32>
// AVX2-LABEL: func @matmul_i32(
// AVX2: arith.muli {{.*}} : vector<8xi32>
func.func @matmul_i32(%a: memref<64x64xi32>, %b: memref<64x64xi32>, %c: memref<64x64xi32>) {
  linalg.matmul ins(%a, %b : memref<64x64xi32>, memref<64x64xi32>) outs(%c : memref<64x64xi32>)
  return
}

// -----

// Sums of narrow floats stay in f32 until they are stored.
// CHECK-LABEL: func @matmul_bf16_sum_in_f32(
// CHECK: %[[C:.*]] = vector.load %{{.*}} : memref<8x16xbf16>, vector<16xbf16>
// CHECK: arith.extf %[[C]] : vector<16xbf16> to vector<16xf32>
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: arith.truncf
// CHECK: scf.yield
// CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
func.func @matmul_bf16_sum_in_f32(%a: memref<8x64xbf16>, %b: memref<64x16xbf16>, %c: memref<8x16xbf16>) {
  linalg.matmul ins(%a, %b : memref<8x64xbf16>, memref<64x16xbf16>) outs(%c : memref<8x16xbf16>)
  return
}

// -----

// A register block, not the tile, is unrolled: 24 sums and a rest of rows.
// CHECK-LABEL: func @large_tile_is_a_loop(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-24: arith.mulf {{.*}} : vector<16xf32>
// CHECK: scf.yield
// CHECK-COUNT-8: arith.mulf {{.*}} : vector<16xf32>
// CHECK: scf.yield
// CHECK-NOT: arith.mulf
func.func @large_tile_is_a_loop(%a: memref<128x64xf32>, %b: memref<64x512xf32>, %c: memref<128x512xf32>) {
  linalg.matmul ins(%a, %b : memref<128x64xf32>, memref<64x512xf32>) outs(%c : memref<128x512xf32>)
  return
}

// -----

// What is left of a row is a masked vector.
// CHECK-LABEL: func @static_rest(
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: %[[MASK:.*]] = vector.constant_mask [5] : vector<16xi1>
// CHECK: vector.maskedload {{.*}}, %[[MASK]]
// CHECK: vector.maskedstore {{.*}}, %[[MASK]]
func.func @static_rest(%a: memref<8x21xf32, strided<[32, 1]>>, %b: memref<8x21xf32>) {
  linalg.copy ins(%a : memref<8x21xf32, strided<[32, 1]>>) outs(%b : memref<8x21xf32>)
  return
}

// -----

// CHECK-LABEL: func @dynamic_rest(
// CHECK: memref.collapse_shape
// CHECK: scf.for
// CHECK: vector.store
// CHECK: scf.for
// CHECK: vector.create_mask
// CHECK: vector.maskedstore
func.func @dynamic_rest(%a: memref<?x?xf32>, %b: memref<?x?xf32>) {
  linalg.exp ins(%a : memref<?x?xf32>) outs(%b : memref<?x?xf32>)
  return
}

// -----

// A lane that is off might divide by zero: no masks.
// CHECK-LABEL: func @division(
// CHECK: arith.divsi {{.*}} : vector<16xi32>
// CHECK-NOT: mask
// CHECK: scf.for
// CHECK: arith.divsi {{.*}} : i32
func.func @division(%a: memref<21xi32>, %b: memref<21xi32>) {
  linalg.div ins(%b, %a : memref<21xi32>, memref<21xi32>) outs(%b : memref<21xi32>)
  return
}

// -----

// CHECK-LABEL: func @row_maximum(
// CHECK-DAG: arith.constant dense<0xFF800000> : vector<16xf32>
// CHECK: scf.for
// CHECK: arith.maximumf {{.*}} : vector<16xf32>
// CHECK: vector.reduction <maximumf>
// CHECK: memref.store
func.func @row_maximum(%a: memref<8x64xf32>, %b: memref<8xf32>) {
  linalg.reduce { arith.maximumf } ins(%a : memref<8x64xf32>) outs(%b : memref<8xf32>) dimensions = [1]
  return
}

// -----

// CHECK-LABEL: func @column_sum(
// CHECK: scf.for {{.*}} iter_args
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK-NOT: vector.reduction
// CHECK: vector.store
func.func @column_sum(%a: memref<8x64xf32>, %b: memref<64xf32>) {
  linalg.reduce { arith.addf } ins(%a : memref<8x64xf32>) outs(%b : memref<64xf32>) dimensions = [0]
  return
}

// -----

// CHECK-LABEL: func @transpose(
// CHECK-COUNT-16: vector.load
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store
// CHECK-NOT: memref.load
func.func @transpose(%a: memref<32x64xf32>, %b: memref<64x32xf32>) {
  linalg.transpose ins(%a : memref<32x64xf32>) outs(%b : memref<64x32xf32>) permutation = [1, 0]
  return
}

// -----

// A vector of i1 is not how i1 is stored.
// CHECK-LABEL: func @mask(
// CHECK: %[[BYTES:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<64xi1> to memref<64xi8>
// CHECK: %[[M:.*]] = vector.load %[[BYTES]]
// CHECK: %[[S:.*]] = arith.cmpi ne, %[[M]]
// CHECK: arith.select %[[S]]
func.func @mask(%m: memref<64xi1>, %a: memref<64xf32>, %b: memref<64xf32>) {
  linalg.select ins(%m, %a, %b : memref<64xi1>, memref<64xf32>, memref<64xf32>) outs(%b : memref<64xf32>)
  return
}

// -----

// An input that is read across memory is transposed first.
// CHECK-LABEL: func @transposed_input(
// CHECK-SAME: %[[A:.*]]: memref<32x64xf32>, %[[B:.*]]: memref<32x64xf32>
// CHECK: %[[PACKED:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x32xf32>
// CHECK: vector.load %[[B]]
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[PACKED]]
// CHECK: scf.for {{.*}} iter_args
// CHECK-DAG: memref.load %[[A]]
// CHECK-DAG: vector.load %[[PACKED]]
func.func @transposed_input(%a: memref<32x64xf32>, %b: memref<32x64xf32>, %c: memref<32x32xf32>) {
  linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : memref<32x64xf32>, memref<32x64xf32>) outs(%c : memref<32x32xf32>)
  return
}

// -----

// The channels of a convolution are lanes; rows of the block are columns of the
// image.
// CHECK-LABEL: func @conv_nhwc(
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load {{.*}} : memref<3x3x8x32xf32>, vector<16xf32>
// CHECK: arith.mulf {{.*}} : vector<16xf32>
func.func @conv_nhwc(%x: memref<1x10x10x8xf32>, %f: memref<3x3x8x32xf32>, %y: memref<1x8x8x32xf32>) {
  linalg.conv_2d_nhwc_hwcf ins(%x, %f : memref<1x10x10x8xf32>, memref<3x3x8x32xf32>) outs(%y : memref<1x8x8x32xf32>)
  return
}

// -----

// Dims of size one do not hide the contiguous one.
// CHECK-LABEL: func @unit_dims(
// CHECK: memref.subview {{.*}} to memref<1x64xf32, strided<[64, 1]>>
// CHECK: vector.load {{.*}}, vector<16xf32>
func.func @unit_dims(%a: memref<1x64x1xf32>, %b: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j)>],
                  iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%a : memref<1x64x1xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  }
  return
}

// -----

// Anything may be in a body.
// CHECK-LABEL: func @impure(
// CHECK: scf.for %[[I:.*]] =
// CHECK: memref.load
// CHECK: call @opaque
// CHECK: arith.index_cast %[[I]]
// CHECK-NOT: vector
func.func @impure(%a: memref<64xi64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : memref<64xi64>) {
  ^bb0(%x: i64):
    %y = func.call @opaque(%x) : (i64) -> i64
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %z = arith.addi %y, %j : i64
    linalg.yield %z : i64
  }
  return
}
func.func private @opaque(i64) -> i64

// -----

// Only copies between whole buffers are left to memcpy.
// CHECK-LABEL: func @copies(
// CHECK: memref.copy %{{.*}} : memref<?xf32> to memref<?xf32>
// CHECK: vector.store
// CHECK-NOT: memref.copy
func.func @copies(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<8x64xf32, strided<[128, 1]>>, %d: memref<8x64xf32>) {
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  memref.copy %c, %d : memref<8x64xf32, strided<[128, 1]>> to memref<8x64xf32>
  return
}

// -----

// A contraction of any size: if it transposes out to be large, tiles of 132 x 256,
// blocks of 512 in the reduction, panels of 64 columns that are packed.
// CHECK-LABEL: func @dynamic_contraction(
// CHECK: scf.if
// CHECK: scf.for {{.*}} step %c132
// CHECK: scf.for {{.*}} step %c256
// CHECK: scf.if
// CHECK: scf.for {{.*}} step %c512
// CHECK: scf.for {{.*}} step %c64
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<512x64xf32>
func.func @dynamic_contraction(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// -----

// Tiles that are larger than an op do not hide its extents: few rows and one column are
// one register block, with lanes along the sums.
// CHECK-LABEL: func @few_rows(
// CHECK-NOT: affine.min
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-2: vector.reduction <add>
func.func @few_rows(%a: memref<2x1048576xf32>, %b: memref<1048576x1xf32>, %c: memref<2x1xf32>) {
  linalg.matmul ins(%a, %b : memref<2x1048576xf32>, memref<1048576x1xf32>) outs(%c : memref<2x1xf32>)
  return
}

// -----

// So are their packed inputs as large as the op.
// CHECK-LABEL: func @small_tile(
// CHECK-NOT: affine.min
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<512x16xf32>
// CHECK: vector.load {{.*}} : memref<512x16xf32>, vector<16xf32>
func.func @small_tile(%a: memref<16x65536xf32>, %b: memref<65536x16xf32>, %c: memref<16x16xf32>) {
  linalg.matmul ins(%a, %b : memref<16x65536xf32>, memref<65536x16xf32>) outs(%c : memref<16x16xf32>)
  return
}

// -----

// A vector times a matrix takes 16 rows of it at a time, from their begin to their end.
// CHECK-LABEL: func @rows_of_a_matrix(
// CHECK: scf.for %[[K:.*]] = %c0 to %c8192 step %c16
// CHECK: memref.subview %arg1[%[[K]], 0] [16, 1024]
// CHECK: scf.for {{.*}} = %c0 to %c1024 step %c128
// CHECK: scf.for {{.*}} = %c0 to %c16 step %c1 iter_args

// Threads have columns of their own.
// PARALLEL-LABEL: func @rows_of_a_matrix(
// PARALLEL: scf.parallel ({{.*}}) = (%c0) to (%c1024) step (%c256)
// PARALLEL: scf.for {{.*}} = %c0 to %c8192 step %c16
func.func @rows_of_a_matrix(%a: memref<8192xf32>, %b: memref<8192x1024xf32>, %c: memref<1024xf32>) {
  linalg.vecmat ins(%a, %b : memref<8192xf32>, memref<8192x1024xf32>) outs(%c : memref<1024xf32>)
  return
}

// -----

// Rows that are as long as a register block are read whole as they are.
// CHECK-LABEL: func @short_rows(
// CHECK-NOT: memref.subview
// CHECK: return
func.func @short_rows(%a: memref<65536xf32>, %b: memref<65536x64xf32>, %c: memref<64xf32>) {
  linalg.vecmat ins(%a, %b : memref<65536xf32>, memref<65536x64xf32>) outs(%c : memref<64xf32>)
  return
}

// -----

// Threads only outside of parallel loops, and if there is much to do.
// PARALLEL-LABEL: func @threads(
// PARALLEL: scf.if
// PARALLEL: scf.parallel
// PARALLEL: vector.store
// PARALLEL: else
// PARALLEL-NOT: scf.parallel
// PARALLEL: vector.store
// PARALLEL: return
func.func @threads(%a: memref<?xf32>, %b: memref<?xf32>) {
  linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  return
}

// -----

// What is one tile stays in its side of the branch.
// PARALLEL-LABEL: func @one_tile(
// PARALLEL: scf.if
// PARALLEL: vector.store
// PARALLEL: else
// PARALLEL: vector.store
// PARALLEL: return
func.func @one_tile(%a: memref<54x?xf32>, %b: memref<54x?xf32, strided<[?, 1]>>) {
  linalg.exp ins(%a : memref<54x?xf32>) outs(%b : memref<54x?xf32, strided<[?, 1]>>)
  return
}

// -----

// PARALLEL-LABEL: func @threads_already(
// PARALLEL: scf.parallel
// PARALLEL-NOT: scf.parallel
// PARALLEL: return
func.func @threads_already(%a: memref<8x?xf32>, %b: memref<8x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    linalg.exp ins(%a : memref<8x?xf32>) outs(%b : memref<8x?xf32>)
  }
  return
}

// -----

// libm has it for one lane only.
// CHECK-LABEL: func @exp2(
// CHECK-NOT: math.exp2
// CHECK-COUNT-6: math.fma {{.*}} : vector<{{[0-9]+}}xf32>
// CHECK: arith.shli {{.*}} : vector<{{[0-9]+}}xi32>
// CHECK-NOT: math.exp2
// CHECK: return
func.func @exp2(%a: memref<64xf16>, %b: memref<64xf16>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<64xf16>) outs(%b : memref<64xf16>) {
  ^bb0(%x: f16, %old: f16):
    %y = math.exp2 %x : f16
    linalg.yield %y : f16
  }
  return
}

// -----

// A constant from outside of the body widens with the reduction.
// CHECK-LABEL: func @narrow_min_of_captured
// CHECK: arith.maximumf {{.*}} : vector<{{[0-9]+}}xf32>
// CHECK: arith.minimumf {{.*}} : vector<{{[0-9]+}}xf32>
func.func @narrow_min_of_captured(%x: memref<4x32xbf16>, %out: memref<32xbf16>) {
  %zero = arith.constant 0.0 : bf16
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<4x32xbf16>) outs(%out : memref<32xbf16>) {
  ^bb0(%a: bf16, %acc: bf16):
    %p = arith.maximumf %a, %zero : bf16
    %m = arith.minimumf %acc, %p : bf16
    linalg.yield %m : bf16
  }
  return
}
