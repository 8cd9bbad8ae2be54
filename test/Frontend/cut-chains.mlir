// RUN: pit-opt %s -pit-cut-chains=length=1 -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-cut-chains=length=1 -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   -canonicalize -split-input-file | FileCheck %s --check-prefix=MEMORY

!v = tensor<3xf32>
!e = tensor<1xf32>

// Each insertion but the first is into memory of the one before.
// CHECK-LABEL: func.func @chain
// CHECK: %[[A:.*]] = tensor.insert_slice %{{.*}} into %arg3[0]
// CHECK: %[[M:.*]] = bufferization.to_buffer %[[A]] : tensor<3xf32> to memref<3xf32>
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[M]] restrict writable
// CHECK: %[[B:.*]] = tensor.insert_slice %{{.*}} into %[[T]][1]
// CHECK: bufferization.to_buffer %[[B]]
// CHECK: %[[C:.*]] = tensor.insert_slice
// CHECK-NEXT: return %[[C]]
// There are three copies, into one buffer.
// MEMORY-LABEL: func.func @chain
// MEMORY-NOT: alloc
// MEMORY-COUNT-3: memref.copy
// MEMORY-NOT: memref.copy
func.func @chain(%x: !e, %y: !e, %z: !e, %e: !v) -> !v {
  %a = tensor.insert_slice %x into %e[0] [1] [1] : !e into !v
  %b = tensor.insert_slice %y into %a[1] [1] [1] : !e into !v
  %c = tensor.insert_slice %z into %b[2] [1] [1] : !e into !v
  return %c : !v
}

// -----

!v = tensor<3xf32>
!e = tensor<1xf32>

// Two in a row are few, and %b is read.
// CHECK-LABEL: func.func @read
// CHECK-NOT: to_buffer
// MEMORY-LABEL: func.func @read
func.func @read(%x: !e, %y: !e, %z: !e, %e: !v) -> (!v, f32) {
  %c0 = arith.constant 0 : index
  %a = tensor.insert_slice %x into %e[0] [1] [1] : !e into !v
  %b = tensor.insert_slice %y into %a[1] [1] [1] : !e into !v
  %c = tensor.insert_slice %z into %b[2] [1] [1] : !e into !v
  %d = tensor.insert_slice %z into %c[0] [1] [1] : !e into !v
  %r = tensor.extract %b[%c0] : !v
  return %d, %r : !v, f32
}

// -----

!v = tensor<3xf32>
!e = tensor<1xf32>

// The chain is built where it goes to.
// CHECK-LABEL: func.func @memory
// CHECK: %[[D:.*]] = bufferization.to_tensor %arg3 restrict writable
// CHECK-NOT: tensor.empty
// CHECK: tensor.insert_slice %{{.*}} into %[[D]][0]
// CHECK: %[[C:.*]] = tensor.insert_slice {{.*}}[2]
// CHECK-NEXT: bufferization.materialize_in_destination %[[C]] in writable %arg3
// MEMORY-LABEL: func.func @memory
// MEMORY-NOT: alloc
// MEMORY-COUNT-3: memref.copy %{{.*}} to memref<1xf32, strided
// MEMORY-NOT: memref.copy
func.func @memory(%x: !e, %y: !e, %z: !e, %out: memref<3xf32>) {
  %d = bufferization.to_tensor %out restrict writable : memref<3xf32> to !v
  %e = tensor.empty() : !v
  %a = tensor.insert_slice %x into %e[0] [1] [1] : !e into !v
  %b = tensor.insert_slice %y into %a[1] [1] [1] : !e into !v
  %c = tensor.insert_slice %z into %b[2] [1] [1] : !e into !v
  %r = bufferization.materialize_in_destination %c in %d : (!v, !v) -> !v
  bufferization.materialize_in_destination %r in writable %out : (!v, memref<3xf32>) -> ()
  return
}

// -----

!v = tensor<3xf32>
!e = tensor<1xf32>

// A loop carries its tensor in one place.
// CHECK-LABEL: func.func @loop
// CHECK-NOT: to_buffer
// MEMORY-LABEL: func.func @loop
func.func @loop(%x: !e, %e: !v, %n: index) -> !v {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %e) -> !v {
    %a = tensor.insert_slice %x into %t[0] [1] [1] : !e into !v
    %b = tensor.insert_slice %x into %a[1] [1] [1] : !e into !v
    %c = tensor.insert_slice %x into %b[2] [1] [1] : !e into !v
    scf.yield %c : !v
  }
  return %r : !v
}
