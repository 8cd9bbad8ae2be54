// REQUIRES: ptxas
// RUN: pit-opt %s -convert-pit-to-gpu=chip=sm_80 -pit-kernels-to-ptx | %python %S/../../../Inputs/ptx.py > %t.80.ptx
// RUN: %ptxas -arch=sm_80 %t.80.ptx -o %t.80.cubin
// RUN: pit-opt %s -convert-pit-to-gpu=chip=sm_90 -pit-kernels-to-ptx | %python %S/../../../Inputs/ptx.py > %t.90.ptx
// RUN: %ptxas -arch=sm_90 %t.90.ptx -o %t.90.cubin
// RUN: FileCheck %s < %t.90.ptx

// Element types and operations that the back end has to find instructions for.

#id = affine_map<(i) -> (i)>
module {
module @pit_kernels attributes {pit.kernels} {

// CHECK-LABEL: .entry bf16(
func.func @bf16(%x: memref<?xbf16>, %y: memref<?xbf16>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<?xbf16>) outs(%y : memref<?xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %0 = arith.addf %a, %b : bf16
    %1 = arith.mulf %0, %b : bf16
    %2 = arith.divf %1, %a : bf16
    %3 = arith.maximumf %2, %b : bf16
    %4 = arith.minnumf %3, %b : bf16
    %5 = math.exp %4 : bf16
    %6 = math.rsqrt %5 : bf16
    %7 = arith.remf %6, %a : bf16
    %8 = arith.negf %7 : bf16
    linalg.yield %8 : bf16
  }
  return
}

// CHECK-LABEL: .entry f16(
func.func @f16(%x: memref<?xf16>, %y: memref<?xf16>, %z: memref<?xi1>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x : memref<?xf16>) outs(%y, %z : memref<?xf16>, memref<?xi1>) {
  ^bb0(%a: f16, %b: f16, %c: i1):
    %0 = math.tanh %a : f16
    %1 = arith.divf %0, %b : f16
    %2 = math.absf %1 : f16
    %3 = math.sin %2 : f16
    %4 = arith.cmpf ogt, %3, %b : f16
    %5 = arith.select %c, %3, %b : f16
    linalg.yield %5, %4 : f16, i1
  }
  return
}

// CHECK-LABEL: .entry f64(
// CHECK: div.rn.f64
// CHECK: sqrt.rn.f64
func.func @f64(%x: memref<?xf64>, %y: memref<?xf64>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<?xf64>) outs(%y : memref<?xf64>) {
  ^bb0(%a: f64, %b: f64):
    %0 = arith.divf %a, %b : f64
    %1 = math.sqrt %0 : f64
    %2 = math.roundeven %1 : f64
    %3 = math.round %2 : f64
    %4 = arith.remf %3, %a : f64
    %5 = arith.maximumf %4, %b : f64
    linalg.yield %5 : f64
  }
  return
}

// CHECK-LABEL: .entry integers(
func.func @integers(%x: memref<?xi8>, %y: memref<?xi64>, %z: memref<?xindex>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x : memref<?xi8>) outs(%y, %z : memref<?xi64>, memref<?xindex>) {
  ^bb0(%a: i8, %b: i64, %c: index):
    %0 = arith.divsi %a, %a : i8
    %1 = arith.extsi %0 : i8 to i64
    %2 = arith.remsi %1, %b : i64
    %3 = math.ctlz %2 : i64
    %4 = math.ctpop %3 : i64
    %5 = arith.floordivsi %4, %b : i64
    %6 = arith.ceildivsi %5, %b : i64
    %7 = math.absi %6 : i64
    %8 = arith.index_cast %7 : i64 to index
    %9 = arith.maxsi %8, %c : index
    linalg.yield %7, %9 : i64, index
  }
  return
}

// CHECK-LABEL: .entry complex(
func.func @complex(%x: memref<?xcomplex<f32>>, %y: memref<?xcomplex<f32>>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<?xcomplex<f32>>) outs(%y : memref<?xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %b: complex<f32>):
    %0 = complex.mul %a, %b : complex<f32>
    %1 = complex.add %0, %b : complex<f32>
    %2 = complex.abs %1 : complex<f32>
    %3 = complex.create %2, %2 : complex<f32>
    linalg.yield %3 : complex<f32>
  }
  return
}

// Scalars, and code around tiles.
// CHECK-LABEL: .entry scalars(
func.func @scalars(%x: memref<?xf32>, %f: f32, %b: i1, %n: index, %h: bf16) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = arith.extf %h : bf16 to f32
  pit.forall (%i) = (%c0) to (%n) step (64) {
    %t = memref.alloc() : memref<64xf32>
    pit.sread %x[%i] into %t : memref<?xf32> -> memref<64xf32>
    scf.if %b {
      linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%t : memref<64xf32>) {
      ^bb0(%a: f32):
        %0 = arith.mulf %a, %f : f32
        linalg.yield %0 : f32
      }
    } else {
      scf.for %j = %c0 to %n step %c1 {
        linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%t : memref<64xf32>) {
        ^bb0(%a: f32):
          %0 = arith.addf %a, %g : f32
          linalg.yield %0 : f32
        }
      }
    }
    %s = memref.subview %t[8] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1], offset: 8>>
    %u = memref.alloc() : memref<32xf32>
    memref.copy %s, %u : memref<32xf32, strided<[1], offset: 8>> to memref<32xf32>
    pit.swrite %u into %x[%i] : memref<32xf32> into memref<?xf32>
  }
  return
}
}
}
