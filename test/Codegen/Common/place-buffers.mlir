// RUN: pit-opt %s -pit-place-buffers -canonicalize -cse -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-place-buffers=openmp=false -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=SEQUENTIAL

!m = memref<?x?xf32>

// Tiles in a parallel loop lie in the worker's part of one scratch area, each
// on cache lines of its own: 4 * 5 * 4 bytes take 128, 3 bytes 64. Parts of two
// workers are 1024 bytes apart, so that no prefetcher of one takes lines of the
// other.
// CHECK-LABEL: func.func @tiles
// CHECK-SAME: %[[F:[^:]*]]: !llvm.ptr {pit.frame}
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 1216 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: %[[W:.*]] = call @pit_rt_workers(%[[F]]) : (!llvm.ptr) -> i32
// CHECK-NEXT: %[[WI:.*]] = arith.index_cast %[[W]] : i32 to index
// CHECK-NEXT: %[[ALL:.*]] = arith.muli %[[WI]], %[[BYTES]] : index
// CHECK-NEXT: %[[ALL64:.*]] = arith.index_cast %[[ALL]] : index to i64
// CHECK-NEXT: call @pit_rt_alloc(%[[F]], %[[ALL64]], %{{.*}}) : (!llvm.ptr, i64, !llvm.ptr) -> i32
// CHECK-NEXT: pit.check_status
// CHECK: %[[SCRATCH:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<?xi8>
// CHECK: pit.forall
// CHECK-NEXT: %[[T:.*]] = func.call @omp_get_thread_num() : () -> i32
// CHECK-NEXT: %[[TI:.*]] = arith.index_cast %[[T]] : i32 to index
// CHECK-NEXT: %[[BASE:.*]] = arith.muli %[[TI]], %[[BYTES]] : index
// CHECK-NEXT: %[[V:.*]] = memref.view %[[SCRATCH]][%[[BASE]]][] : memref<?xi8> to memref<4x5xf32>
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[BASE]], %[[C128]] : index
// CHECK-NEXT: %[[U:.*]] = memref.view %[[SCRATCH]][%[[NEXT]]][] : memref<?xi8> to memref<3xi8>
// CHECK-NEXT: pit.sread %{{.*}} into %[[V]]
// CHECK-NEXT: pit.for
// CHECK-NEXT: memref.store %{{.*}}, %[[U]]
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.dealloc
// CHECK: pit.swrite %[[V]]

// One worker: no threads to ask for.
// SEQUENTIAL-LABEL: func.func @tiles
// SEQUENTIAL-NOT: omp_get_thread_num
// SEQUENTIAL: call @pit_rt_alloc(%{{.*}}, %c192_i64,
// SEQUENTIAL: pit.forall
// SEQUENTIAL: pit.sread %{{.*}} into %{{.*}} : memref<?x?xf32> -> memref<4x5xf32>
func.func @tiles(%f: !llvm.ptr {pit.frame}, %a: !m, %n: index, %b: i8) {
  %c0 = arith.constant 0 : index
  pit.forall (%i) = (%c0) to (%n) step (4) {
    %t = memref.alloc() {alignment = 64 : i64} : memref<4x5xf32>
    pit.sread %a[%i, %c0] into %t : !m -> memref<4x5xf32>
    pit.for (%j) = (%c0) to (%n) step (1) {
      %u = memref.alloc() : memref<3xi8>
      memref.store %b, %u[%c0] : memref<3xi8>
      memref.dealloc %u : memref<3xi8>
    }
    pit.swrite %t into %a[%i, %c0] : memref<4x5xf32> into !m
  }
  return
}

// -----

// Loops one after another share the scratch: as much as the larger one takes.
// CHECK-LABEL: func.func @two_loops
// CHECK: arith.constant 1280 : index
// CHECK-COUNT-1: call @pit_rt_alloc
// CHECK-NOT: call @pit_rt_alloc
// CHECK: pit.forall
// CHECK: memref.view {{.*}} to memref<16xf32>
// CHECK: pit.forall
// CHECK: memref.view {{.*}} to memref<64xf32>
func.func @two_loops(%f: !llvm.ptr {pit.frame}, %a: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  pit.forall (%i) = (%c0) to (%n) step (16) {
    %t = memref.alloc() : memref<16xf32>
    pit.sread %a[%i] into %t : memref<?xf32> -> memref<16xf32>
    pit.swrite %t into %a[%i] : memref<16xf32> into memref<?xf32>
  }
  pit.forall (%i) = (%c0) to (%n) step (64) {
    %t = memref.alloc() : memref<64xf32>
    pit.sread %a[%i] into %t : memref<?xf32> -> memref<64xf32>
    pit.swrite %t into %a[%i] : memref<64xf32> into memref<?xf32>
  }
  return
}

// -----

// Other buffers come from the frame. A static one in a pit.for is the same in
// every iteration.
// CHECK-LABEL: func.func @frame
// CHECK-SAME: %[[F:[^:]*]]: !llvm.ptr {pit.frame}, %[[N:[^:]*]]: index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: %[[BYTES:.*]] = arith.muli %[[N]], %[[C128]] : index
// CHECK-NEXT: %[[BYTES64:.*]] = arith.index_cast %[[BYTES]] : index to i64
// CHECK-NEXT: call @pit_rt_alloc(%[[F]], %[[BYTES64]], %{{.*}})
// CHECK-NEXT: pit.check_status
// CHECK: %[[X:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<?x16xf64>
// CHECK: call @pit_rt_alloc(%[[F]], %c64_i64, %{{.*}})
// CHECK-NEXT: pit.check_status
// CHECK: %[[U:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<8xindex>
// CHECK: pit.for
// CHECK-NEXT: memref.store %{{.*}}, %[[U]]
// CHECK: memref.copy %{{.*}}, %[[X]]
func.func @frame(%f: !llvm.ptr {pit.frame}, %n: index, %y: memref<?x16xf64>) {
  %c0 = arith.constant 0 : index
  %x = memref.alloc(%n) : memref<?x16xf64>
  pit.for (%j) = (%c0) to (%n) step (1) {
    %u = memref.alloc() : memref<8xindex>
    memref.store %c0, %u[%c0] : memref<8xindex>
  }
  memref.copy %y, %x : memref<?x16xf64> to memref<?x16xf64>
  return
}

// -----

// Without a frame there is nowhere to take memory from.
// CHECK-LABEL: func.func @no_frame
// CHECK: memref.alloc
func.func @no_frame(%n: index) -> memref<?x16xf64> {
  %x = memref.alloc(%n) : memref<?x16xf64>
  return %x : memref<?x16xf64>
}

// -----

// Buffers of a loop: a static one is placed before it; a dynamic one has the same
// memory in every iteration; one that the loop hands on takes turns with a second.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: %[[F:[^:]*]]: !llvm.ptr {pit.frame}
// CHECK: %[[TWO:.*]] = llvm.alloca %{{.*}} x i64
// CHECK-COUNT-6: llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr
// CHECK: %[[ONE:.*]] = llvm.alloca %{{.*}} x i64
// CHECK-COUNT-6: llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr
// CHECK: call @pit_rt_alloc(%[[F]], %c32_i64, %{{.*}})
// CHECK-NEXT: pit.check_status
// CHECK: scf.for
// CHECK-NOT: @pit_rt_alloc
// CHECK: func.call @pit_rt_realloc(%[[F]], %{{.*}}, %c0_i32, %[[ONE]], %{{.*}})
// CHECK-NEXT: pit.check_status
// CHECK: func.call @pit_rt_realloc(%[[F]], %{{.*}}, %c1_i32, %[[TWO]], %{{.*}})
// CHECK-NEXT: pit.check_status
// CHECK: scf.yield
func.func @loop(%f: !llvm.ptr {pit.frame}, %a: memref<?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%m = %a) -> memref<?xf32> {
    %s = memref.alloc() : memref<8xf32>
    memref.store %x, %s[%c0] : memref<8xf32>
    %t = memref.alloc(%i) : memref<?xf32>
    memref.store %x, %t[%c0] : memref<?xf32>
    %u = memref.alloc(%n) : memref<?xf32>
    memref.copy %m, %u : memref<?xf32> to memref<?xf32>
    scf.yield %u : memref<?xf32>
  }
  memref.store %x, %r[%c0] : memref<?xf32>
  return
}

// -----

// Of what may be handed on for longer nothing is known.
// CHECK-LABEL: func.func @kept
// CHECK: scf.for
// CHECK: func.call @pit_rt_alloc
func.func @kept(%f: !llvm.ptr {pit.frame}, %a: memref<?xf32>, %n: index, %x: f32, %if: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%m = %a) -> memref<?xf32> {
    %u = memref.alloc(%n) : memref<?xf32>
    %v = arith.select %if, %m, %u : memref<?xf32>
    scf.yield %v : memref<?xf32>
  }
  memref.store %x, %r[%c0] : memref<?xf32>
  return
}

// -----

// Parallel loops of scf have scratch as well. The inner loop is part of the outer
// one.
// CHECK-LABEL: func.func @parallel
// CHECK: arith.constant 1152 : index
// CHECK: scf.forall
// CHECK-NEXT: call @omp_get_thread_num
// CHECK-COUNT-2: memref.view
// CHECK-NOT: memref.alloc
// SEQUENTIAL-LABEL: func.func @parallel
// SEQUENTIAL-COUNT-2: call @pit_rt_alloc
// SEQUENTIAL: scf.for
// SEQUENTIAL-NOT: @pit_rt_alloc
// SEQUENTIAL: pit.forall
func.func @parallel(%f: !llvm.ptr {pit.frame}, %a: memref<?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (%n) {
    %s = memref.alloc() : memref<8xf32>
    memref.store %x, %s[%c0] : memref<8xf32>
    pit.forall (%j) = (%c0) to (%n) step (8) {
      %t = memref.alloc() : memref<8xf32>
      memref.store %x, %t[%c0] : memref<8xf32>
    }
  }
  return
}

// -----

// A size that is not known beforehand is no part of any scratch.
// CHECK-LABEL: func.func @dynamic
// CHECK: scf.for
// CHECK: func.call @pit_rt_realloc
// CHECK: scf.for
// CHECK: func.call @pit_rt_realloc
func.func @dynamic(%f: !llvm.ptr {pit.frame}, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%i) in (%n) {
    %s = memref.alloc(%i) : memref<?xf32>
    memref.store %x, %s[%c0] : memref<?xf32>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %s = memref.alloc(%i) : memref<?xf32>
    memref.store %x, %s[%c0] : memref<?xf32>
    scf.reduce
  }
  return
}

// -----

// What a function returns is its caller's, and so is its end.
// CHECK-LABEL: func.func @returned
// CHECK-DAG: %[[A:.*]] = memref.alloc() : memref<8xf32>
// CHECK-DAG: %[[B:.*]] = memref.alloc() : memref<8xf32>
// CHECK-DAG: call @pit_rt_alloc(
// CHECK-NOT: memref.alloc
// CHECK: memref.dealloc
// CHECK-NOT: memref.dealloc
// CHECK: return
func.func @returned(%frame: !llvm.ptr {pit.frame}, %c: i1, %x: f32) -> memref<8xf32> {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %t = memref.alloc() : memref<8xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
  linalg.fill ins(%x : f32) outs(%b : memref<8xf32>)
  linalg.fill ins(%x : f32) outs(%t : memref<8xf32>)
  memref.copy %t, %a : memref<8xf32> to memref<8xf32>
  memref.dealloc %t : memref<8xf32>
  %r = arith.select %c, %a, %b : memref<8xf32>
  %d = arith.select %c, %b, %a : memref<8xf32>
  memref.dealloc %d : memref<8xf32>
  return %r : memref<8xf32>
}
