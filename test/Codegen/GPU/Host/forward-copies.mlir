// RUN: pit-opt %s -pit-forward-copies -split-input-file | FileCheck %s

!half = memref<?x64xf32, strided<[128, 1]>>
!other = memref<?x64xf32, strided<[128, 1], offset: 64>>
module {
  module @kernels attributes {pit.kernels} {
    func.func private @two(memref<?x64xf32>, memref<?x64xf32>, memref<?x64xf32>)
  }
  // Both halves are results of one launch. Bufferization has the first one in its place.
  // CHECK-LABEL: func.func @halves(
  // CHECK: %[[ALL:.*]] = memref.alloc(%{{.*}}) : memref<?x128xf32>
  // CHECK-DAG: %[[ONE:.*]] = memref.subview %[[ALL]][0, 0]
  // CHECK-DAG: %[[OTHER:.*]] = memref.subview %[[ALL]][0, 64]
  // CHECK: pit.launch {{.*}} outs(%[[ONE]], %[[OTHER]] :
  // CHECK-NOT: memref.copy
  // CHECK-NOT: memref.alloc
  // CHECK: return
  func.func @halves(%x: memref<?x64xf32>, %n: index) -> memref<?x128xf32> {
    %all = memref.alloc(%n) : memref<?x128xf32>
    %one = memref.subview %all[0, 0] [%n, 64] [1, 1] : memref<?x128xf32> to !half
    %apart = memref.alloc(%n) : memref<?x64xf32>
    pit.launch @kernels::@two iterations(%n) ins(%x : memref<?x64xf32>) outs(%one, %apart : !half, memref<?x64xf32>)
    memref.copy %one, %one : !half to !half
    %other = memref.subview %all[0, 64] [%n, 64] [1, 1] : memref<?x128xf32> to !other
    memref.copy %apart, %other : memref<?x64xf32> to !other
    return %all : memref<?x128xf32>
  }

  // Of equal views, one is copied onto itself, too.
  // CHECK-LABEL: func.func @equal_views(
  // CHECK-NOT: memref.copy
  // CHECK: return
  func.func @equal_views(%all: memref<?x128xf32>, %n: index) {
    %one = memref.subview %all[0, 0] [%n, 64] [1, 1] : memref<?x128xf32> to !half
    %two = memref.subview %all[0, 0] [%n, 64] [1, 1] : memref<?x128xf32> to !half
    memref.copy %one, %two : !half to !half
    return
  }

  // What goes to the target's place is read once more, later.
  // CHECK-LABEL: func.func @read_later(
  // CHECK: memref.copy
  func.func @read_later(%x: memref<?x64xf32>, %n: index) -> memref<?x128xf32> {
    %all = memref.alloc(%n) : memref<?x128xf32>
    %other = memref.subview %all[0, 64] [%n, 64] [1, 1] : memref<?x128xf32> to !other
    %apart = memref.alloc(%n) : memref<?x64xf32>
    %more = memref.alloc(%n) : memref<?x64xf32>
    pit.launch @kernels::@two iterations(%n) ins(%x : memref<?x64xf32>) outs(%more, %apart : memref<?x64xf32>, memref<?x64xf32>)
    memref.copy %apart, %other : memref<?x64xf32> to !other
    pit.launch @kernels::@two iterations(%n) ins(%apart : memref<?x64xf32>) outs(%more, %apart : memref<?x64xf32>, memref<?x64xf32>)
    return %all : memref<?x128xf32>
  }

  // The launch reads or writes the target's place, by a view of it or as a whole.
  // CHECK-LABEL: func.func @overlap(
  // CHECK: memref.copy
  func.func @overlap(%x: memref<?x64xf32>, %n: index) -> memref<?x128xf32> {
    %all = memref.alloc(%n) : memref<?x128xf32>
    %other = memref.subview %all[0, 64] [%n, 64] [1, 1] : memref<?x128xf32> to !other
    %middle = memref.subview %all[0, 32] [%n, 64] [1, 1] : memref<?x128xf32> to memref<?x64xf32, strided<[128, 1], offset: 32>>
    %apart = memref.alloc(%n) : memref<?x64xf32>
    %more = memref.alloc(%n) : memref<?x64xf32>
    pit.launch @kernels::@two iterations(%n) ins(%middle : memref<?x64xf32, strided<[128, 1], offset: 32>>) outs(%more, %apart : memref<?x64xf32>, memref<?x64xf32>)
    memref.copy %apart, %other : memref<?x64xf32> to !other
    return %all : memref<?x128xf32>
  }

  // Meanwhile another launch uses all of it.
  // CHECK-LABEL: func.func @between(
  // CHECK: memref.copy
  func.func @between(%x: memref<?x64xf32>, %n: index) -> memref<?x128xf32> {
    %all = memref.alloc(%n) : memref<?x128xf32>
    %other = memref.subview %all[0, 64] [%n, 64] [1, 1] : memref<?x128xf32> to !other
    %apart = memref.alloc(%n) : memref<?x64xf32>
    %more = memref.alloc(%n) : memref<?x64xf32>
    pit.launch @kernels::@two iterations(%n) ins(%x : memref<?x64xf32>) outs(%more, %apart : memref<?x64xf32>, memref<?x64xf32>)
    pit.launch @kernels::@two iterations(%n) ins(%all : memref<?x128xf32>) outs(%more, %more : memref<?x64xf32>, memref<?x64xf32>)
    memref.copy %apart, %other : memref<?x64xf32> to !other
    return %all : memref<?x128xf32>
  }

  // Or it uses what may be all of it, by another name.
  // CHECK-LABEL: func.func @another_name(
  // CHECK: memref.copy
  func.func @another_name(%x: memref<?x64xf32>, %n: index, %y: memref<?x128xf32>, %is: i1) -> memref<?x128xf32> {
    %all = memref.alloc(%n) : memref<?x128xf32>
    %other = memref.subview %all[0, 64] [%n, 64] [1, 1] : memref<?x128xf32> to !other
    %one = arith.select %is, %all, %y : memref<?x128xf32>
    %apart = memref.alloc(%n) : memref<?x64xf32>
    %more = memref.alloc(%n) : memref<?x64xf32>
    pit.launch @kernels::@two iterations(%n) ins(%x : memref<?x64xf32>) outs(%more, %apart : memref<?x64xf32>, memref<?x64xf32>)
    pit.launch @kernels::@two iterations(%n) ins(%one : memref<?x128xf32>) outs(%more, %more : memref<?x64xf32>, memref<?x64xf32>)
    memref.copy %apart, %other : memref<?x64xf32> to !other
    return %all : memref<?x128xf32>
  }

  // The place is the caller's, and may be that of %x; or it is not known before the launch.
  // CHECK-LABEL: func.func @of_others(
  // CHECK: memref.copy
  func.func @of_others(%x: memref<?x64xf32>, %all: memref<?x128xf32>, %n: index) {
    %other = memref.subview %all[0, 64] [%n, 64] [1, 1] : memref<?x128xf32> to !other
    %apart = memref.alloc(%n) : memref<?x64xf32>
    %more = memref.alloc(%n) : memref<?x64xf32>
    pit.launch @kernels::@two iterations(%n) ins(%x : memref<?x64xf32>) outs(%more, %apart : memref<?x64xf32>, memref<?x64xf32>)
    memref.copy %apart, %other : memref<?x64xf32> to !other
    return
  }

  // CHECK-LABEL: func.func @not_known(
  // CHECK: memref.copy
  func.func @not_known(%x: memref<?x64xf32>, %n: index, %at: memref<index>) -> memref<?x128xf32> {
    %all = memref.alloc(%n) : memref<?x128xf32>
    %apart = memref.alloc(%n) : memref<?x64xf32>
    %more = memref.alloc(%n) : memref<?x64xf32>
    pit.launch @kernels::@two iterations(%n) ins(%x : memref<?x64xf32>) outs(%more, %apart : memref<?x64xf32>, memref<?x64xf32>)
    %i = memref.load %at[] : memref<index>
    %other = memref.subview %all[0, %i] [%n, 64] [1, 1] : memref<?x128xf32> to memref<?x64xf32, strided<[128, 1], offset: ?>>
    memref.copy %apart, %other : memref<?x64xf32> to memref<?x64xf32, strided<[128, 1], offset: ?>>
    return %all : memref<?x128xf32>
  }
}
