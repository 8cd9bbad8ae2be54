// RUN: pit-opt %s --pit-abi-name-bodies --pit-abi-emit-wrapper --split-input-file --verify-diagnostics | FileCheck %s

// f(tensor<?x4xf32>, f32, i1, !pit.index<[32, 1], axis 1>) -> tensor<4x?xf32>

// CHECK-DAG: llvm.func @pit_rt_enter(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK-DAG: llvm.func @pit_rt_leave(!llvm.ptr, i32) -> i32
// CHECK: llvm.mlir.global external constant @pit_f_manifest() {{.*}} : !llvm.struct<(struct<(i64, i32, i32, i32, i32, i64, ptr, ptr, ptr)>, array<5 x struct<{{.*}}>>, array<0 x {{.*}}>, array<1 x struct<(ptr, i64)>>, array<1 x struct<(i32, i32, i64)>>)>
// CHECK: llvm.mlir.constant(dense<[-1, 4, 0, 0, 0, 0, 0, 0]> : tensor<8xi64>)
// The second size of the result is a program, the first one is known.
// CHECK: llvm.mlir.constant(dense<[4, -1, 0, 0, 0, 0, 0, 0]> : tensor<8xi64>)
// CHECK: llvm.mlir.constant(27067173200 : i64)
// CHECK: llvm.insertvalue %{{.*}}, %{{.*}}[2] : !llvm.struct<(i32, i32, i64)>
// CHECK: llvm.return

// CHECK-LABEL: llvm.func @pit_f(
// CHECK-SAME: %[[CTX:.*]]: !llvm.ptr, %[[INS:.*]]: !llvm.ptr, %[[OUTS:.*]]: !llvm.ptr, %[[STREAM:.*]]: !llvm.ptr) -> i32
// Three views of a (data and two sizes), one each of s, p and i, three of the
// result.
// CHECK: %[[WORDS:.*]] = llvm.mlir.constant(9 : i64) : i64
// CHECK: %[[VIEWS:.*]] = llvm.alloca %[[WORDS]] x i64
// CHECK: %[[SLOT:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: %[[MANIFEST:.*]] = llvm.mlir.addressof @pit_f_manifest
// CHECK: %[[STATUS:.*]] = llvm.call @pit_rt_enter(%[[CTX]], %[[MANIFEST]], %[[INS]], %[[OUTS]], %[[STREAM]], %[[VIEWS]], %[[SLOT]])
// CHECK: llvm.cond_br %{{.*}}, ^[[GO:.*]], ^[[REFUSE:.*]]
// CHECK: ^[[GO]]:
// CHECK: %[[FRAME:.*]] = llvm.load %[[SLOT]]
// CHECK: llvm.getelementptr %[[VIEWS]][0]
// CHECK: %[[A:.*]] = llvm.load
// CHECK: llvm.getelementptr %[[VIEWS]][1]
// CHECK: %[[SIZE:.*]] = llvm.load
// CHECK: llvm.getelementptr %[[VIEWS]][2]
// CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: llvm.mul %{{.*}}, %[[FOUR]]
// CHECK: llvm.getelementptr %[[VIEWS]][3]
// CHECK: %[[SP:.*]] = llvm.load {{.*}} -> !llvm.ptr
// CHECK: %[[S:.*]] = llvm.load %[[SP]] : !llvm.ptr -> f32
// CHECK: llvm.getelementptr %[[VIEWS]][4]
// CHECK: %[[BYTE:.*]] = llvm.load {{.*}} -> i8
// CHECK: %[[P:.*]] = llvm.icmp "ne" %[[BYTE]]
// CHECK: llvm.getelementptr %[[VIEWS]][5]
// CHECK: %[[I:.*]] = llvm.load {{.*}} -> !llvm.ptr
// CHECK: llvm.getelementptr %[[VIEWS]][6]
// CHECK: %[[R:.*]] = llvm.call @pit_f.body(%[[FRAME]], %[[A]], %[[A]], %{{.*}}, %[[SIZE]], %[[FOUR]], %{{.*}}, %{{.*}}, %[[S]], %[[P]], %[[I]],
// CHECK: %[[L:.*]] = llvm.call @pit_rt_leave(%[[FRAME]], %[[R]])
// CHECK: llvm.return %[[L]]
// CHECK: ^[[REFUSE]]:
// CHECK: llvm.return %[[STATUS]]

// CHECK: llvm.func internal @pit_f.body(%{{.*}}: !llvm.ptr, %
// CHECK-NOT: pit.manifest
llvm.func @f(%frame: !llvm.ptr {pit.frame}, %a: !llvm.ptr, %a1: !llvm.ptr, %a2: i64, %a3: i64, %a4: i64, %a5: i64, %a6: i64,
             %s: f32, %p: i1, %i: !llvm.ptr,
             %o: !llvm.ptr, %o1: !llvm.ptr, %o2: i64, %o3: i64, %o4: i64, %o5: i64, %o6: i64) -> i32
    attributes {pit.manifest = array<i64: 27067173200, 4, 1, 0, 1,
      0, 8194, 2, -1, 4,
      2, 8194,
      2, 2054,
      1, 2, 1, 32, 1, 32, 1,
      0,
      8194, 2, 2, 0, 4, 3, 1, 0, 0>} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}

// CHECK-LABEL: llvm.func @pit_g(
// CHECK-NOT: pit_rt_workers
// CHECK: llvm.call @pit_g.body(%{{.*}}) : (!llvm.ptr) -> i32
llvm.func @g(%frame: !llvm.ptr) -> i32 attributes {pit.manifest = array<i64: 27067173200, 0, 0, 0, 1, 0>} {
  llvm.call @helper() : () -> ()
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}

// CHECK: llvm.func internal @helper()
llvm.func @helper() {
  llvm.return
}

// CHECK: llvm.func @outside()
llvm.func @outside()

// CHECK: llvm.mlir.global weak constant @pit_program_entries("f\00g\00\00")

// -----

// Parallel regions get their threads before the first one.
// CHECK-LABEL: llvm.func @pit_parallel(
// CHECK: %[[FRAME:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT: llvm.call @pit_rt_workers(%[[FRAME]]) : (!llvm.ptr) -> i32
// CHECK-NEXT: llvm.call @pit_parallel.body(%[[FRAME]])
llvm.func @parallel(%frame: !llvm.ptr) -> i32 attributes {pit.manifest = array<i64: 27067173200, 0, 0, 0, 1, 0>} {
  omp.parallel {
    omp.terminator
  }
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}

// -----

// A module without entry points lists none.
// CHECK: llvm.mlir.global weak constant @pit_program_entries("\00")

// -----

// expected-error @below {{has a pit.manifest that is no manifest of version 6}}
llvm.func @magic(%frame: !llvm.ptr) -> i32 attributes {pit.manifest = array<i64: 7, 0, 0, 0, 0>} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}

// -----

// expected-error @below {{has a pit.manifest that is no manifest}}
llvm.func @short(%frame: !llvm.ptr) -> i32 attributes {pit.manifest = array<i64: 27067173200, 1000000, 0, 0, 1, 0, 8194, 3, 4>} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}

// -----

// expected-error @below {{has 1 parameters and returns 'i32'; its manifest asks for 6 parameters and i32}}
llvm.func @params(%frame: !llvm.ptr) -> i32 attributes {pit.manifest = array<i64: 27067173200, 1, 0, 0, 1, 0, 8194, 1, -1, 0>} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}

// -----

llvm.func @h(%frame: !llvm.ptr) -> i32 attributes {pit.manifest = array<i64: 27067173200, 0, 0, 0, 1, 0>} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
// expected-error @below {{is exported as 'pit_h_manifest', but that name is taken}}
llvm.func @h_manifest(%frame: !llvm.ptr) -> i32 attributes {pit.manifest = array<i64: 27067173200, 0, 0, 0, 1, 0>} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}

// -----

// expected-error @below {{is exported as 'pit_program_entries', but that name is taken}}
llvm.func @program_entries(%frame: !llvm.ptr) -> i32 attributes {pit.manifest = array<i64: 27067173200, 0, 0, 0, 1, 0>} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
