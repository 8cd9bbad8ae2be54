// RUN: pit-opt %s --pit-balance-loops | FileCheck %s

// How much there is to do for a group stands in memory.

// CHECK-LABEL: func.func @counts
// Few chunks of few iterations: (n * n) / 128, from 1 to 64.
// CHECK: %[[ALL:.*]] = arith.muli
// CHECK: %[[PART:.*]] = arith.divsi %[[ALL]], %c128
// CHECK: %[[MOST:.*]] = arith.minsi %[[PART]], %c64
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[MOST]], %c1
// CHECK: %[[CHUNK:.*]] = arith.index_cast %[[LEAST]] : index to i64
// CHECK: omp.wsloop schedule(dynamic = %[[CHUNK]] : i64, nonmonotonic)
func.func @counts(%n: index, %counts: memref<?xi32>, %offsets: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %most = arith.constant 64 : index
  omp.wsloop {
    omp.loop_nest (%g, %x) : index = (%c0, %c0) to (%n, %n) step (%c1, %c1) collapse(2) {
      %in = arith.cmpi slt, %g, %most : index
      %from, %count = scf.if %in -> (index, i32) {
        %a = memref.load %offsets[%g] : memref<?xindex>
        %b = memref.load %counts[%g] : memref<?xi32>
        scf.yield %a, %b : index, i32
      } else {
        %zero = arith.constant 0 : i32
        scf.yield %c0, %zero : index, i32
      }
      %ids = arith.index_cast %count : i32 to index
      %live = arith.minsi %ids, %most : index
      %some = arith.cmpi sgt, %ids, %c0 : index
      scf.if %some {
        scf.for %i = %c0 to %live step %c1 {
          func.call @step(%g, %i) : (index, index) -> ()
        }
      }
      omp.yield
    }
  }
  return
}
func.func private @step(index, index)

// Sizes are the same in all iterations, also if they come from memory before; what
// is only computed with does not count, nor what says where to end in another loop.

// CHECK-LABEL: func.func @even
// CHECK-NOT: schedule
func.func @even(%n: index, %sizes: memref<1xindex>, %data: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %m = memref.load %sizes[%c0] : memref<1xindex>
  omp.wsloop {
    omp.loop_nest (%g) : index = (%c0) to (%n) step (%c8) {
      %next = arith.addi %g, %c8 : index
      %end = arith.minsi %next, %m : index
      scf.for %i = %g to %end step %c1 {
        %x = memref.load %data[%i] : memref<?xf32>
        %y = arith.mulf %x, %x : f32
        memref.store %y, %data[%i] : memref<?xf32>
        scf.for %j = %c0 to %i step %c1 {
          func.call @step(%i, %j) : (index, index) -> ()
        }
      }
      omp.yield
    }
  }
  return
}

// What somebody has chosen stays.

// CHECK-LABEL: func.func @chosen
// CHECK: schedule(static)
func.func @chosen(%n: index, %counts: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  omp.wsloop schedule(static) {
    omp.loop_nest (%g) : index = (%c0) to (%n) step (%c1) {
      %count = memref.load %counts[%g] : memref<?xindex>
      scf.for %i = %c0 to %count step %c1 {
        func.call @step(%g, %i) : (index, index) -> ()
      }
      omp.yield
    }
  }
  return
}

// A team is made for more than one iteration, along any dimension.

// CHECK-LABEL: func.func @team
// CHECK-SAME: (%[[N:.*]]: index, %[[M:.*]]: index)
// CHECK: %[[ROWS:.*]] = arith.cmpi sgt, %[[N]], %c32
// CHECK: %[[COLUMNS:.*]] = arith.cmpi sgt, %[[M]], %c1
// CHECK: %[[SEVERAL:.*]] = arith.ori %[[ROWS]], %[[COLUMNS]]
// CHECK: omp.parallel if(%[[SEVERAL]])
func.func @team(%n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i, %j) : index = (%c0, %c0) to (%n, %m) step (%c32, %c1) collapse(2) {
        func.call @step(%i, %j) : (index, index) -> ()
        omp.yield
      }
    }
    omp.terminator
  }
  return
}

// What runs once in every thread has to.

// CHECK-LABEL: func.func @each_thread
// CHECK: omp.parallel {
func.func @each_thread(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  omp.parallel {
    func.call @step(%c0, %n) : (index, index) -> ()
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
        func.call @step(%i, %i) : (index, index) -> ()
        omp.yield
      }
    }
    omp.terminator
  }
  return
}
