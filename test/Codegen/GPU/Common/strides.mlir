// RUN: pit-opt %s --convert-pit-to-gpu --canonicalize --cse | FileCheck %s
// RUN: %if ptxas %{ pit-opt %s -convert-pit-to-gpu=chip=sm_80 -pit-kernels-to-ptx | %python %S/../../../Inputs/ptx.py > %t.ptx %}
// RUN: %if ptxas %{ %ptxas -arch=sm_80 %t.ptx -o %t.cubin %}

// Kernels on parts of tensors.

#id = affine_map<(i, j) -> (i, j)>

module {
module @pit_kernels attributes {pit.kernels} {

// Rows one after another are memory in one piece, from the offset on.
// CHECK-LABEL: gpu.func @flat(
// CHECK-SAME: %[[X:[^:]*]]: memref<8x16xf32, strided<[16, 1], offset: 64>>
// CHECK: llvm.getelementptr %{{.*}}[256] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: vector.load {{.*}} : memref<?xf32>, vector<4xf32>
// CHECK: vector.store {{.*}} : memref<?xf32>, vector<4xf32>
// CHECK: gpu.return
func.func @flat(%x: memref<8x16xf32, strided<[16, 1], offset: 64>>, %y: memref<8x16xf32>) {
  linalg.exp ins(%x : memref<8x16xf32, strided<[16, 1], offset: 64>>) outs(%y : memref<8x16xf32>)
  return
}

// CHECK-LABEL: gpu.func @flat_dynamic(
// CHECK-SAME: %[[X:[^:]*]]: memref<?xf16, strided<[1], offset: ?>>
// CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[X]]
// CHECK: %[[BYTES:.*]] = arith.muli %[[OFFSET]], %c2
// CHECK: %[[I64:.*]] = arith.index_cast %[[BYTES]] : index to i64
// CHECK: llvm.getelementptr %{{.*}}[%[[I64]]]
// CHECK: gpu.return
func.func @flat_dynamic(%x: memref<?xf16, strided<[1], offset: ?>>, %y: memref<?xf16>) {
  memref.copy %x, %y : memref<?xf16, strided<[1], offset: ?>> to memref<?xf16>
  return
}

// Gaps between rows: by coordinates.
// CHECK-LABEL: gpu.func @gaps(
// CHECK-SAME: %[[X:[^:]*]]: memref<8x16xf32>, %[[Y:[^:]*]]: memref<8x16xf32, strided<[64, 1], offset: ?>>
// CHECK-NOT: vector.load
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[I:.*]], %[[J:.*]]] : memref<8x16xf32>
// CHECK: memref.store %[[V]], %[[Y]][%[[I]], %[[J]]] : memref<8x16xf32, strided<[64, 1], offset: ?>>
// CHECK: gpu.return
func.func @gaps(%x: memref<8x16xf32>, %y: memref<8x16xf32, strided<[64, 1], offset: ?>>) {
  memref.copy %x, %y : memref<8x16xf32> to memref<8x16xf32, strided<[64, 1], offset: ?>>
  return
}

// Tiles are read 16 bytes at a time where strides, offset and address allow;
// with gaps between elements one by one.
// CHECK-LABEL: gpu.func @tiles(
// CHECK: memref.extract_strided_metadata %[[X:.*]] : memref<?x?xf32, strided<[?, 1], offset: ?>>
// CHECK: vector.load %[[X]]{{.*}} : memref<?x?xf32, strided<[?, 1], offset: ?>>, vector<4xf32>
// CHECK-NOT: vector.load %{{.*}} strided<[?, 2]
// CHECK: gpu.return
func.func @tiles(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>, %y: memref<?x?xf32, strided<[?, 2]>>,
                 %o: memref<?x?xf32, strided<[64, 1]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32, strided<[?, 1], offset: ?>>
  %n = memref.dim %x, %c1 : memref<?x?xf32, strided<[?, 1], offset: ?>>
  pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (16, 16) {
    %s = memref.alloc() : memref<16x16xf32>
    %t = memref.alloc() : memref<16x16xf32>
    pit.sread %x[%i, %j] into %s : memref<?x?xf32, strided<[?, 1], offset: ?>> -> memref<16x16xf32>
    pit.sread %y[%i, %j] into %t : memref<?x?xf32, strided<[?, 2]>> -> memref<16x16xf32>
    linalg.add ins(%s, %t : memref<16x16xf32>, memref<16x16xf32>) outs(%s : memref<16x16xf32>)
    pit.swrite %s into %o[%i, %j] : memref<16x16xf32> into memref<?x?xf32, strided<[64, 1]>>
  }
  return
}

// What the body of an op reads at coordinates of its own reads as 0 outside.
// CHECK-LABEL: gpu.func @gather(
// CHECK-SAME: %{{[^:]*}}: memref<?xi64>, %[[T:[^:]*]]: memref<?x8xf32>
// CHECK: %[[AT:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: %[[ROWS:.*]] = memref.dim %[[T]], %c0
// CHECK: %[[ROW:.*]] = arith.cmpi ult, %[[AT]], %[[ROWS]]
// CHECK: %[[COLUMN:.*]] = arith.cmpi ult, %[[J:.*]], %c8
// CHECK: %[[IN:.*]] = arith.andi %[[ROW]], %[[COLUMN]]
// CHECK: %[[V:.*]] = scf.if %[[IN]] -> (f32)
// CHECK:   %[[L:.*]] = memref.load %[[T]][%[[AT]], %[[J]]]
// CHECK:   scf.yield %[[L]]
// CHECK:   scf.yield %cst
// CHECK: memref.store %[[V]]
func.func @gather(%ids: memref<?xi64>, %t: memref<?x8xf32>, %o: memref<?x8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ids : memref<?xi64>) outs(%o : memref<?x8xf32>) {
  ^bb0(%x: i64, %y: f32):
    %i = arith.index_cast %x : i64 to index
    %j = linalg.index 1 : index
    %v = memref.load %t[%i, %j] : memref<?x8xf32>
    linalg.yield %v : f32
  }
  return
}

// Without coordinates, too, and where elements are taken one after another.
// CHECK-LABEL: gpu.func @gather_flat(
// CHECK: vector.load
// CHECK: scf.if
// CHECK: memref.load %{{.*}}[%{{.*}}] : memref<9xf16>
func.func @gather_flat(%x: memref<?xi32>, %t: memref<9xf16>, %one: memref<f16>, %o: memref<?xf16>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<?xi32>) outs(%o : memref<?xf16>) {
  ^bb0(%a: i32, %y: f16):
    %i = arith.index_cast %a : i32 to index
    %v = memref.load %t[%i] : memref<9xf16>
    %w = memref.load %one[] : memref<f16>
    %s = arith.addf %v, %w : f16
    linalg.yield %s : f16
  }
  return
}

// A number of 32 bits is compared in 32 bits. What is selected, or else -1, is read where it is selected.
// CHECK-LABEL: gpu.func @gather_selected(
// CHECK: %[[LIVE:.*]] = arith.cmpi ne, %[[A:.*]], %{{.*}} : i32
// CHECK: %[[SIZE:.*]] = arith.minui %{{.*}}, %c2147483648 : index
// CHECK: %[[NARROW:.*]] = arith.index_cast %[[SIZE]] : index to i32
// CHECK: %[[FITS:.*]] = arith.cmpi ult, %[[A]], %[[NARROW]] : i32
// CHECK: %[[IN:.*]] = arith.andi %[[LIVE]], %[[FITS]]
// CHECK: scf.if %[[IN]] -> (f16)
func.func @gather_selected(%x: memref<?xi32>, %t: memref<?xf16>, %o: memref<?xf16>) {
  %none = arith.constant -1 : i32
  %zero = arith.constant 0 : i32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<?xi32>) outs(%o : memref<?xf16>) {
  ^bb0(%a: i32, %y: f16):
    %live = arith.cmpi ne, %a, %zero : i32
    %at = arith.select %live, %a, %none : i32
    %i = arith.index_cast %at : i32 to index
    %v = memref.load %t[%i] : memref<?xf16>
    linalg.yield %v : f16
  }
  return
}

// What constants bound is known to be inside: 3 * 15 + 2 of 48, and the fourth row at most. Of 47 it is not.
// CHECK-LABEL: gpu.func @gather_known(
// CHECK-NOT: scf.if
// CHECK: memref.load %{{.*}} : memref<5x48xi32>
// CHECK: scf.if
// CHECK-NEXT: memref.load %{{.*}} : memref<5x47xi32>
func.func @gather_known(%x: memref<?xi32>, %t: memref<5x48xi32>, %u: memref<5x47xi32>, %o: memref<?xi32>) {
  %c4 = arith.constant 4 : index
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %most = arith.constant 15 : i32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<?xi32>) outs(%o : memref<?xi32>) {
  ^bb0(%a: i32, %y: i32):
    %place = linalg.index 0 : index
    %row = arith.minui %place, %c4 : index
    %some = arith.andi %a, %most : i32
    %times = arith.muli %some, %three : i32
    %at = arith.addi %times, %two : i32
    %i = arith.index_cast %at : i32 to index
    %v = memref.load %t[%row, %i] : memref<5x48xi32>
    %w = memref.load %u[%row, %i] : memref<5x47xi32>
    %s = arith.addi %v, %w : i32
    linalg.yield %s : i32
  }
  return
}

}
}
