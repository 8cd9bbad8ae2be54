// REQUIRES: ptxas
// RUN: pit-opt %s -convert-pit-to-gpu=chip=sm_80 -pit-kernels-to-ptx | %python %S/../../../Inputs/ptx.py > %t.80.ptx
// RUN: %ptxas -arch=sm_80 %t.80.ptx -o %t.80.cubin
// RUN: FileCheck %s < %t.80.ptx
// RUN: pit-opt %s -convert-pit-to-gpu=chip=sm_90 -pit-kernels-to-ptx | %python %S/../../../Inputs/ptx.py > %t.90.ptx
// RUN: %ptxas -arch=sm_90 %t.90.ptx -o %t.90.cubin
// RUN: pit-opt %s -convert-pit-to-gpu=chip=sm_100 -pit-kernels-to-ptx | %python %S/../../../Inputs/ptx.py > %t.100.ptx
// RUN: %ptxas -arch=sm_100 %t.100.ptx -o %t.100.cubin

// All the way from level 3 to what the assembler takes.

!cols = !pit.index<micro_tile = [32, 1], axis = 1>
!rows = !pit.index<micro_tile = [1, *], axis = 0>
!parts = !pit.index<micro_tile = [1, 64], axis = 0>

module attributes {gpu.container_module} {
module @pit_kernels attributes {pit.kernels} {
  // Tiles lie in shared memory, which the loads and stores know; the inner loop
  // multiplies and adds 4 x 4 numbers in registers.
  // CHECK: .extern .shared .align 128 .b8 pit_shared[];
  // CHECK-LABEL: .entry cols(
  // CHECK: .maxntid 256, 1, 1
  // CHECK: ld.global.v4.b32
  // CHECK: st.shared.v4.b32
  // CHECK: bar.sync
  // CHECK: ld.shared.b32
  // CHECK-COUNT-16: fma.rn.f32
  // CHECK-NOT: fma.rn.f32
  func.func @cols(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %i: !cols, %c: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %a, %c0 : memref<?x?xf32>
    %n = memref.dim %b, %c1 : memref<?x?xf32>
    pit.forall (%mi, %ni) = (%c0, %c0) to (%m, %n) step (32, 128) {
      %acc = memref.alloc() : memref<32x128xf32>
      pit.sread %c[%mi, %ni] into %acc : memref<?x?xf32> -> memref<32x128xf32>
      pit.for %ids at %pos in %i[%mi] : !cols chunk 64 {
        %at = memref.alloc() : memref<32x64xf32>
        pit.sread %a[%mi, %ids : !pit.ids<64>] into %at : memref<?x?xf32> -> memref<32x64xf32>
        %bt = memref.alloc() : memref<64x128xf32>
        pit.sread %b[%ids : !pit.ids<64>, %ni] into %bt : memref<?x?xf32> -> memref<64x128xf32>
        linalg.matmul ins(%at, %bt : memref<32x64xf32>, memref<64x128xf32>) outs(%acc : memref<32x128xf32>)
      }
      pit.swrite %acc into %c[%mi, %ni] : memref<32x128xf32> into memref<?x?xf32>
    }
    return
  }

  // CHECK-LABEL: .entry rows(
  // CHECK: ld.global.v4.b32
  func.func @rows(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %i: !rows, %c: memref<?x?xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = memref.dim %a, %c1 : memref<?x?xf16>
    %n = memref.dim %b, %c1 : memref<?x?xf16>
    pit.forall (%ni) = (%c0) to (%n) step (128), %ids at %pos in %i : !rows chunk 64 {
      %acc = memref.alloc() : memref<64x128xf32>
      pit.sread %c[%ids : !pit.ids<64>, %ni] into %acc : memref<?x?xf16> -> memref<64x128xf32>
      pit.for (%ki) = (%c0) to (%k) step (64) {
        %at = memref.alloc() : memref<64x64xf16>
        pit.sread %a[%ids : !pit.ids<64>, %ki] into %at : memref<?x?xf16> -> memref<64x64xf16>
        %bt = memref.alloc() : memref<64x128xf16>
        pit.sread %b[%ki, %ni] into %bt : memref<?x?xf16> -> memref<64x128xf16>
        linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}
            ins(%at, %bt : memref<64x64xf16>, memref<64x128xf16>) outs(%acc : memref<64x128xf32>) {
        ^bb0(%x: f16, %y: f16, %z: f32):
          %u = arith.extf %x : f16 to f32
          %v = arith.extf %y : f16 to f32
          %p = arith.mulf %u, %v : f32
          %s = arith.addf %z, %p : f32
          linalg.yield %s : f32
        }
      }
      pit.swrite %acc into %c[%ids : !pit.ids<64>, %ni] : memref<64x128xf32> into memref<?x?xf16>
    }
    return
  }

  // CHECK-LABEL: .entry parts(
  func.func @parts(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %i: !parts, %c: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = memref.dim %a, %c1 : memref<?x?xbf16>
    %n = memref.dim %b, %c1 : memref<?x?xbf16>
    pit.forall (%ni) = (%c0) to (%n) step (128) {
      pit.for (%ki) = (%c0) to (%k) step (64) conflicts(sequential) {
        pit.for %ids at %pos in %i[%ki] : !parts chunk 64 {
          %acc = memref.alloc() : memref<64x128xf32>
          pit.sread %c[%ids : !pit.ids<64>, %ni] into %acc : memref<?x?xf32> -> memref<64x128xf32>
          %at = memref.alloc() : memref<64x64xbf16>
          pit.sread %a[%ids : !pit.ids<64>, %ki] into %at : memref<?x?xbf16> -> memref<64x64xbf16>
          %bt = memref.alloc() : memref<64x128xbf16>
          pit.sread %b[%ki, %ni] into %bt : memref<?x?xbf16> -> memref<64x128xbf16>
          linalg.matmul ins(%at, %bt : memref<64x64xbf16>, memref<64x128xbf16>) outs(%acc : memref<64x128xf32>)
          pit.swrite %acc into %c[%ids : !pit.ids<64>, %ni] : memref<64x128xf32> into memref<?x?xf32>
        }
      }
    }
    return
  }

  // Groups that write the same outputs at the same time.
  // CHECK-LABEL: .entry atomic(
  // CHECK: {{atom|red}}.{{.*}}global.add.f32
  func.func @atomic(%x: memref<?x?xf32>, %i: !parts, %c: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = memref.dim %x, %c1 : memref<?x?xf32>
    pit.forall (%ki) = (%c0) to (%k) step (64) conflicts(atomic) {
      pit.for %ids at %pos in %i[%ki] : !parts chunk 16 {
        %t = memref.alloc() : memref<16x64xf32>
        pit.sread %x[%ids : !pit.ids<16>, %ki] into %t : memref<?x?xf32> -> memref<16x64xf32>
        pit.swrite %t into %c[%ids : !pit.ids<16>, %c0] combine(addf) : memref<16x64xf32> into memref<?x?xf32>
      }
    }
    return
  }

  // Functions become arithmetic.
  // CHECK-LABEL: .entry exp(
  // CHECK: ex2.approx
  func.func @exp(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
    linalg.exp ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
    return
  }

  // A row's sum is computed by a warp, or a block.
  // CHECK-LABEL: .entry sum(
  // CHECK: shfl.sync.bfly
  func.func @sum(%x: memref<?x?xf32>, %y: memref<?xf32>) {
    linalg.reduce ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) dimensions = [1]
      (%a: f32, %s: f32) {
        %t = arith.addf %s, %a : f32
        linalg.yield %t : f32
      }
    return
  }
}
}
