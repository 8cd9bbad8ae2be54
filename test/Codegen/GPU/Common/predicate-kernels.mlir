// RUN: pit-opt %s --pass-pipeline='builtin.module(gpu.module(pit-predicate-kernels))' | FileCheck %s

gpu.module @kernels {
  // Memory on the stack stays in the first block. TMA's descriptors keep their
  // attributes.
  // CHECK-LABEL: llvm.func @variant
  // CHECK-SAME: (%{{.*}}: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>}, %[[N:.*]]: i64, %[[ADDRESS:.*]]: i64, %[[NUMBER:.*]]: i64)
  // CHECK: %[[SIZE:.*]] = llvm.mlir.constant(4 : i64)
  // CHECK: llvm.alloca %[[SIZE]] x f32
  // CHECK-NOT: llvm.store
  // CHECK-NOT: nvvm.griddepcontrol
  // CHECK: %[[HAS_WORD:.*]] = llvm.icmp "ne" %[[ADDRESS]], %{{.*}} : i64
  // CHECK: llvm.cond_br %[[HAS_WORD]], ^[[ASK:.*]], ^[[BODY:.*]]
  // CHECK: ^[[ASK]]:
  // CHECK: %[[POINTER:.*]] = llvm.inttoptr %[[ADDRESS]] : i64 to !llvm.ptr<1>
  // CHECK: %[[WORD:.*]] = llvm.load %[[POINTER]] : !llvm.ptr<1> -> i32
  // CHECK: %[[TURN:.*]] = llvm.trunc %[[NUMBER]] : i64 to i32
  // CHECK: %[[IS_TURN:.*]] = llvm.icmp "eq" %[[WORD]], %[[TURN]] : i32
  // CHECK: llvm.cond_br %[[IS_TURN]], ^[[BODY]], ^[[LEAVE:.*]]
  // CHECK: ^[[LEAVE]]:
  // CHECK-NEXT: llvm.return
  // CHECK: ^[[BODY]]:
  // CHECK: llvm.store %[[N]]
  llvm.func @variant(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>}, %n: i64)
      attributes {nvvm.kernel, pit.launch_info = #pit.launch_info<threads = 64, predicated = true>} {
    llvm.store %n, %map : i64, !llvm.ptr
    %size = llvm.mlir.constant(4 : i64) : i64
    %stack = llvm.alloca %size x f32 : (i64) -> !llvm.ptr
    llvm.return
  }

  // What starts early asks when the kernel before is done. The next one may come when
  // the blocks of a variant that leaves are gone.
  // CHECK-LABEL: llvm.func @early
  // CHECK-NOT: launch_dependents
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NOT: launch_dependents
  // CHECK: llvm.cond_br %{{.*}}, ^[[ASK:.*]], ^[[BODY:.*]]
  // CHECK: ^[[ASK]]:
  // CHECK-NOT: launch_dependents
  // CHECK: ^[[BODY]]:
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: llvm.return
  llvm.func @early() attributes {nvvm.kernel, pit.launch_info = #pit.launch_info<threads = 64, pdl = true, predicated = true>} {
    llvm.return
  }

  // Hopper's kernels say themselves when it may; those of variants at once.
  // CHECK-LABEL: llvm.func @hopper
  // CHECK: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK: llvm.cond_br
  llvm.func @hopper() attributes {nvvm.kernel, pit.launch_info = #pit.launch_info<threads = 64, pdl = true, predicated = true>} {
    nvvm.griddepcontrol launch_dependents
    nvvm.griddepcontrol wait
    llvm.return
  }

  // CHECK-LABEL: llvm.func @always()
  // CHECK-NEXT: llvm.return
  llvm.func @always() attributes {nvvm.kernel} {
    llvm.return
  }
}
