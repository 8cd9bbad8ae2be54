// RUN: pit-opt %s --convert-pit-to-gpu --canonicalize --cse | FileCheck %s
// RUN: %if ptxas %{ pit-opt %s -convert-pit-to-gpu=chip=sm_80 -pit-kernels-to-ptx | %python %S/../../../Inputs/ptx.py > %t.ptx %}
// RUN: %if ptxas %{ %ptxas -arch=sm_80 %t.ptx -o %t.cubin %}

// Tiles that are read, transposed and written; by the emulator test/Emulator/emulated-choices.test
// and others compute products whose operands are transposed like that.

!t = memref<?x?xbf16>

module {
module @pit_kernels attributes {pit.kernels} {

// A tile of 64x64 has one buffer of 8192 bytes. 256 threads read two pieces of 16 bytes each, both
// before the first is stored, and store eight elements of a column at once.
// CHECK-LABEL: gpu.func @tiles(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x?xbf16>, %[[Y:[^:]*]]: memref<?x?xbf16>
// CHECK-SAME: shared_bytes = 8192
// CHECK: scf.if
// CHECK: %[[A:.*]] = scf.if
// CHECK: vector.load %[[X]]{{.*}} {alignment = 16 : i64} : memref<?x?xbf16>, vector<8xbf16>
// CHECK: %[[B:.*]] = scf.if
// CHECK: vector.load %[[X]]{{.*}} {alignment = 16 : i64} : memref<?x?xbf16>, vector<8xbf16>
// CHECK: arith.xori
// CHECK: vector.store %[[A]], {{.*}} {alignment = 16 : i64} : memref<64x64xbf16>, vector<8xbf16>
// CHECK: vector.store %[[B]], {{.*}} {alignment = 16 : i64} : memref<64x64xbf16>, vector<8xbf16>
// What is not aligned goes element by element.
// CHECK: memref.load %[[X]]
// CHECK: memref.store {{.*}} : memref<64x64xbf16>
// CHECK: gpu.barrier
// CHECK-COUNT-8: memref.load {{.*}} : memref<64x64xbf16>
// CHECK: vector.from_elements
// CHECK: vector.store %{{.*}}, %[[Y]]{{.*}} {alignment = 16 : i64} : memref<?x?xbf16>, vector<8xbf16>
// CHECK: memref.store %{{.*}}, %[[Y]]
// CHECK: gpu.return
func.func @tiles(%x: !t, %y: !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : !t
  %n = memref.dim %x, %c1 : !t
  pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 64) {
    %a = memref.alloc() : memref<64x64xbf16>
    %b = memref.alloc() : memref<64x64xbf16>
    pit.sread %x[%i, %j] into %a : !t -> memref<64x64xbf16>
    linalg.transpose ins(%a : memref<64x64xbf16>) outs(%b : memref<64x64xbf16>) permutation = [1, 0]
    pit.swrite %b into %y[%j, %i] : memref<64x64xbf16> into !t
  }
  return
}

// Rows that hold no power of two of pieces stay two buffers; so does what is read once more.
// CHECK-LABEL: gpu.func @odd(
// CHECK-SAME: shared_bytes = 12288
// CHECK: gpu.return
func.func @odd(%x: !t, %y: !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : !t
  %n = memref.dim %x, %c1 : !t
  pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 48) {
    %a = memref.alloc() : memref<64x48xbf16>
    %b = memref.alloc() : memref<48x64xbf16>
    pit.sread %x[%i, %j] into %a : !t -> memref<64x48xbf16>
    linalg.transpose ins(%a : memref<64x48xbf16>) outs(%b : memref<48x64xbf16>) permutation = [1, 0]
    pit.swrite %b into %y[%j, %i] : memref<48x64xbf16> into !t
  }
  return
}

// CHECK-LABEL: gpu.func @again(
// CHECK-SAME: shared_bytes = 16384
// CHECK: gpu.return
func.func @again(%x: !t, %y: !t, %z: !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : !t
  %n = memref.dim %x, %c1 : !t
  pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 64) {
    %a = memref.alloc() : memref<64x64xbf16>
    %b = memref.alloc() : memref<64x64xbf16>
    pit.sread %x[%i, %j] into %a : !t -> memref<64x64xbf16>
    linalg.transpose ins(%a : memref<64x64xbf16>) outs(%b : memref<64x64xbf16>) permutation = [1, 0]
    pit.swrite %b into %y[%j, %i] : memref<64x64xbf16> into !t
    pit.swrite %a into %z[%i, %j] : memref<64x64xbf16> into !t
  }
  return
}

}
}
