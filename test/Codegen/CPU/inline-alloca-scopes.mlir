// RUN: pit-opt %s -pit-inline-alloca-scopes -split-input-file | FileCheck %s

// CHECK-LABEL: @result
func.func @result(%i: index) -> f32 {
  // CHECK: %[[STACK:.*]] = llvm.intr.stacksave
  // CHECK: %[[M:.*]] = memref.alloca()
  // CHECK: %[[V:.*]] = memref.load %[[M]]
  // CHECK: llvm.intr.stackrestore %[[STACK]]
  // CHECK: return %[[V]]
  %r = memref.alloca_scope -> (f32) {
    %m = memref.alloca() : memref<8xf32>
    %v = memref.load %m[%i] : memref<8xf32>
    memref.alloca_scope.return %v : f32
  }
  return %r : f32
}

// -----

// CHECK-LABEL: @nested
func.func @nested(%n: index) {
  // CHECK: %[[OUTER:.*]] = llvm.intr.stacksave
  // CHECK: scf.if
  // CHECK:   %[[INNER:.*]] = llvm.intr.stacksave
  // CHECK:   memref.alloca
  // CHECK:   llvm.intr.stackrestore %[[INNER]]
  // CHECK: llvm.intr.stackrestore %[[OUTER]]
  memref.alloca_scope {
    %c = arith.cmpi sgt, %n, %n : index
    scf.if %c {
      memref.alloca_scope {
        %m = memref.alloca(%n) : memref<?xf32>
        func.call @use(%m) : (memref<?xf32>) -> ()
      }
    }
  }
  return
}
func.func private @use(memref<?xf32>)

// -----

// CHECK-LABEL: @nothing_allocated
func.func @nothing_allocated() {
  // CHECK-NEXT: call @other
  // CHECK-NEXT: return
  memref.alloca_scope {
    func.call @other() : () -> ()
  }
  return
}
func.func private @other()
