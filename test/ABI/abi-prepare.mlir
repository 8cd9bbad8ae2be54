// RUN: pit-opt %s --pit-abi-prepare --split-input-file --verify-diagnostics | FileCheck %s

// The words of a manifest: magic and version, number of arguments, of results,
// workspace, device (1: the CPU); a tensor argument is 0, dtype (8194 = float, 32 bits), rank, dims;
// a scalar 2, dtype; an index 1, rank, axis, micro-tile, step; a result dtype,
// rank, and for each dimension a program after its length. Between arguments and
// results stand the number of requirements on shapes, and these.

// CHECK-LABEL: func.func @add
// CHECK-SAME: (%[[FRAME:.*]]: !llvm.ptr {pit.frame},
// CHECK-SAME: %[[A:.*]]: tensor<?x4xf32> {bufferization.writable = false},
// CHECK-SAME: %[[S:.*]]: f32,
// CHECK-SAME: %[[I:.*]]: !pit.index<micro_tile = [32, *, 1], axis = 2, step = [8, *, 1]>,
// CHECK-SAME: %[[OUT0:.*]]: memref<?x4xf32>, %[[OUT1:.*]]: memref<f32>) -> i32
// CHECK-SAME: pit.manifest = array<i64: 27067173200, 3, 2, 0, 1,
// CHECK-SAME:   0, 8194, 2, -1, 4,
// CHECK-SAME:   2, 8194,
// CHECK-SAME:   1, 3, 2, 32, 0, 1, 8, 0, 1,
// CHECK-SAME:   0,
// CHECK-SAME:   8194, 2, 3, 1, 0, 0, 2, 0, 4,
// CHECK-SAME:   8194, 0>
func.func @add(%a: tensor<?x4xf32>, %s: f32,
               %i: !pit.index<micro_tile = [32, *, 1], axis = 2, step = [8, *, 1]>)
    -> (tensor<?x4xf32>, f32) {
  // CHECK: %[[PLACE:.*]] = bufferization.to_tensor %[[OUT0]] restrict writable
  // CHECK: %[[R:.*]] = arith.addf %[[A]], %[[A]]
  %r = arith.addf %a, %a : tensor<?x4xf32>
  // CHECK: %[[PLACED:.*]] = bufferization.materialize_in_destination %[[R]] in %[[PLACE]]
  // CHECK: bufferization.materialize_in_destination %[[PLACED]] in writable %[[OUT0]]
  // CHECK: memref.store %[[S]], %[[OUT1]][]
  // CHECK: %[[OK:.*]] = arith.constant 0 : i32
  // CHECK: return %[[OK]] : i32
  return %r, %s : tensor<?x4xf32>, f32
}

// -----

// Every dtype: f64, f16, bf16, i64, i32, i16, i8, i1 (a bool of 8 bits), index,
// unsigned.
// CHECK-LABEL: func.func @dtypes
// CHECK-SAME: array<i64: 27067173200, 10, 0, 0, 1, 0, 16386, 0, 0, 4098, 0, 0, 4100, 0,
// CHECK-SAME: 0, 16384, 0, 0, 8192, 0, 0, 4096, 0, 0, 2048, 0, 0, 2054, 0, 0, 16384, 0, 0, 2049, 0, 0>
func.func @dtypes(%0: tensor<f64>, %1: tensor<f16>, %2: tensor<bf16>, %3: tensor<i64>,
                  %4: tensor<i32>, %5: tensor<i16>, %6: tensor<i8>, %7: tensor<i1>,
                  %8: tensor<index>, %9: tensor<ui8>) {
  return
}

// -----

// Callers see the type in pit.element: i8 as ui8, i32 as ui32.
// CHECK-LABEL: func.func @elements
// CHECK-SAME: tensor<4xi8> {bufferization.writable = false},
// CHECK-SAME: array<i64: 27067173200, 1, 1, 0, 1, 0, 2049, 1, 4, 0, 8193, 0>
func.func @elements(%a: tensor<4xi8> {pit.element = ui8}) -> (i32 {pit.element = ui32}) {
  %c = arith.constant 1 : i32
  return %c : i32
}

// -----

// The size of a matmul's result is its init's.
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: 8194, 2, 3, 1, 0, 0, 3, 1, 1, 1>
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = pit.sparse %a : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>)
         outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// Products and quotients of sizes: collapse, expand, pad.
// CHECK-LABEL: func.func @arithmetic
// CHECK-SAME: 8194, 1, 7, 1, 0, 0, 1, 0, 1, 3,
// CHECK-SAME: 8194, 2, 6, 1, 1, 0, 0, 4, 4, 2, 0, 4,
// CHECK-SAME: 8194, 1, 6, 1, 1, 0, 0, 3, 2>
// CHECK-NOT: tensor.dim
func.func @arithmetic(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %f: f32)
    -> (tensor<?xf32>, tensor<?x4xf32>, tensor<?xf32>) {
  %flat = tensor.collapse_shape %a [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  // CHECK: tensor.dim
  %n = tensor.dim %b, %c0 : tensor<?xf32>
  %q = arith.divui %n, %c4 : index
  %rows = tensor.expand_shape %b [[0, 1]] output_shape [%q, 4] : tensor<?xf32> into tensor<?x4xf32>
  %pad = tensor.pad %b low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %flat, %rows, %pad : tensor<?xf32>, tensor<?x4xf32>, tensor<?xf32>
}

// -----

// A loop keeps a tensor's size if its body does.
// CHECK-LABEL: func.func @loops
// CHECK-SAME: 8194, 1, 3, 1, 0, 0, 8194, 1, 1, 7>
func.func @loops(%a: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<?xf32> {
    %u = arith.addf %t, %t : tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  }
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<?xf32> {
    %d = tensor.dim %t, %c0 : tensor<?xf32>
    %h = arith.divui %d, %c1 : index
    %m = arith.addi %h, %c1 : index
    %e = tensor.empty(%m) : tensor<?xf32>
    scf.yield %e : tensor<?xf32>
  }
  return %r, %s : tensor<?xf32>, tensor<?xf32>
}

// -----

// A size that the arguments do not tell is checked before the result is
// copied, and the result is not computed in the caller's buffer.
// CHECK: func.func private @pit_rt_check_dim(!llvm.ptr, i32, i32, i64, i64) -> i32
// CHECK-LABEL: func.func @unknown
// CHECK-SAME: (%[[FRAME:.*]]: !llvm.ptr {pit.frame}, %[[N:.*]]: tensor<index> {{.*}}, %[[OUT:.*]]: memref<3x?xf32>)
// CHECK-SAME: 8194, 2, 2, 0, 3, 1, 7>
// CHECK-NOT: bufferization.to_tensor
// CHECK: %[[T:.*]] = linalg.fill
// CHECK: %[[DIM:.*]] = tensor.dim %[[T]]
// CHECK: %[[GIVEN:.*]] = memref.dim %[[OUT]]
// CHECK-DAG: %[[RESULT:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[NUMBER:.*]] = arith.constant 1 : i32
// CHECK: %[[D:.*]] = arith.index_cast %[[DIM]] : index to i64
// CHECK: %[[G:.*]] = arith.index_cast %[[GIVEN]] : index to i64
// CHECK: %[[STATUS:.*]] = call @pit_rt_check_dim(%[[FRAME]], %[[RESULT]], %[[NUMBER]], %[[D]], %[[G]])
// CHECK-NEXT: pit.check_status %[[STATUS]]
// CHECK-NEXT: bufferization.materialize_in_destination %[[T]] in writable %[[OUT]]
func.func @unknown(%t: tensor<index>) -> tensor<3x?xf32> {
  %n = tensor.extract %t[] : tensor<index>
  %e = tensor.empty(%n) : tensor<3x?xf32>
  %zero = arith.constant 0.0 : f32
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<3x?xf32>) -> tensor<3x?xf32>
  return %c : tensor<3x?xf32>
}

// -----

// A size may be computed from integer arguments: 8, arg pushes the value. Those
// may be negative, so that divui is not floordiv; arithmetic on i32 wraps.
// CHECK-LABEL: func.func @scalars
// CHECK-SAME: 8194, 1, 5, 8, 0, 8, 1, 2,
// CHECK-SAME: 8194, 1, 1, 7,
// CHECK-SAME: 8194, 1, 2, 8, 2,
// CHECK-SAME: 8194, 1, 1, 7>
func.func @scalars(%n: index, %m: i64, %k: i32)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c2 = arith.constant 2 : index
  %mi = arith.index_cast %m : i64 to index
  %sum = arith.addi %n, %mi : index
  %half = arith.divui %n, %c2 : index
  %ki = arith.index_cast %k : i32 to index
  %kk = arith.addi %k, %k : i32
  %kki = arith.index_cast %kk : i32 to index
  %0 = tensor.empty(%sum) : tensor<?xf32>
  %1 = tensor.empty(%half) : tensor<?xf32>
  %2 = tensor.empty(%ki) : tensor<?xf32>
  %3 = tensor.empty(%kki) : tensor<?xf32>
  return %0, %1, %2, %3 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// Division that rounds otherwise than floor, if the dividend may be negative:
// (n - 3) / 2 is -1 and not -2 for n = 1. Known if it may not.
// CHECK-LABEL: func.func @rounding
// CHECK-SAME: 8194, 1, 1, 7,
// CHECK-SAME: 8194, 1, 9, 1, 0, 0, 0, 3, 2, 0, 2, 4,
// CHECK-SAME: 8194, 1, 9, 1, 0, 0, 0, -3, 2, 0, 2, 4>
func.func @rounding(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %less = arith.subi %n, %c3 : index
  %more = arith.addi %n, %c3 : index
  %x = arith.divsi %less, %c2 : index
  %y = arith.divsi %more, %c2 : index
  %z = arith.floordivsi %less, %c2 : index
  %ex = tensor.empty(%x) : tensor<?xf32>
  %ey = tensor.empty(%y) : tensor<?xf32>
  %ez = tensor.empty(%z) : tensor<?xf32>
  return %ex, %ey, %ez : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// What pit-abi-require-shapes found goes into the manifest.
// CHECK-LABEL: func.func @require
// CHECK-SAME: {pit.manifest = array<i64: 27067173200, 1, 1, 0, 1, 0, 8194, 2, -1, -1,
// CHECK-SAME: 1, 0, 3, 1, 0, 0, 3, 1, 0, 1,
// CHECK-SAME: 8194, 0>}
func.func @require(%a: tensor<?x?xf32>) -> f32
    attributes {pit.require = array<i64: 1, 0, 3, 1, 0, 0, 3, 1, 0, 1>} {
  %zero = arith.constant 0.0 : f32
  return %zero : f32
}

// -----

// expected-error @below {{has a pit.require that is no list of requirements}}
func.func @list() attributes {pit.require = array<i64: 1, 0, 3>} {
  return
}

// -----

// Two returns: the result's size is known only where both agree, and neither
// may claim the buffer for itself.
// CHECK-LABEL: func.func @twice
// CHECK-SAME: 8194, 2, 3, 1, 0, 0, 1, 7>
func.func @twice(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %p: i1) -> tensor<?x?xf32> {
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  return %a : tensor<?x?xf32>
^bb2:
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  return %e : tensor<?x?xf32>
}

// -----

// Private functions are no entry points, and declarations stay.
// CHECK-LABEL: func.func private @helper(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
func.func private @helper(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
// CHECK: func.func private @outside(f32)
func.func private @outside(f32)

// -----

// An exponential number of paths does not take exponential time.
// CHECK-LABEL: func.func @paths
// CHECK-SAME: 8194, 1, 1, 7>
func.func @paths(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %m = tensor.dim %b, %c0 : tensor<?xf32>
  %0 = arith.addi %n, %m : index
  %1 = arith.muli %0, %0 : index
  %2 = arith.muli %1, %1 : index
  %3 = arith.muli %2, %2 : index
  %4 = arith.muli %3, %3 : index
  %5 = arith.muli %4, %4 : index
  %6 = arith.muli %5, %5 : index
  %7 = arith.muli %6, %6 : index
  %8 = arith.muli %7, %7 : index
  %9 = arith.muli %8, %8 : index
  %10 = arith.muli %9, %9 : index
  %11 = arith.muli %10, %10 : index
  %12 = arith.muli %11, %11 : index
  %13 = arith.muli %12, %12 : index
  %14 = arith.muli %13, %13 : index
  %15 = arith.muli %14, %14 : index
  %16 = arith.muli %15, %15 : index
  %17 = arith.muli %16, %16 : index
  %18 = arith.muli %17, %17 : index
  %19 = arith.muli %18, %18 : index
  %20 = arith.muli %19, %19 : index
  %21 = arith.muli %20, %20 : index
  %22 = arith.muli %21, %21 : index
  %23 = arith.muli %22, %22 : index
  %24 = arith.muli %23, %23 : index
  %e = tensor.empty(%24) : tensor<?xf32>
  return %e : tensor<?xf32>
}

// -----

// expected-error @below {{argument 1 is of type 'memref<4xf32>'; an entry point takes and returns ranked tensors and scalars}}
func.func @buffer(%a: f32, %b: memref<4xf32>) {
  return
}

// -----

// expected-error @below {{argument 0 is of type 'tensor<4xi8>', and has pit.element = ui16; that is a signed or unsigned integer of the same width}}
func.func @element(%a: tensor<4xi8> {pit.element = ui16}) {
  return
}

// -----

// expected-error @below {{argument 0 is of type 'tensor<4xi4>'; an entry point takes and returns}}
func.func @narrow(%a: tensor<4xi4>) {
  return
}

// -----

// expected-error @below {{argument 0 is of type 'tensor<*xf32>'; an entry point takes and returns}}
func.func @unranked(%a: tensor<*xf32>) {
  return
}

// -----

// expected-error @below {{argument 0 has rank 9; an entry point's tensors have at most 8 dimensions}}
func.func @rank(%a: tensor<1x1x1x1x1x1x1x1x1xf32>) {
  return
}

// -----

// expected-error @below {{argument 0 has the encoding "csr"; an entry point's tensors are dense and row-major}}
func.func @encoding(%a: tensor<4xf32, "csr">) {
  return
}

// -----

// expected-error @below {{result 0 is an index; an index lives only until the function returns}}
func.func @escape(%i: !pit.index<micro_tile = [1, *], axis = 0>) -> !pit.index<micro_tile = [1, *], axis = 0> {
  return %i : !pit.index<micro_tile = [1, *], axis = 0>
}

// -----

// expected-error @below {{is an entry point; its name must not begin with omp_, as those of functions that programs call do}}
func.func @omp_get_thread_num(%x: i32) -> i32 {
  return %x : i32
}

// -----

// expected-error @below {{is an entry point; its name must not begin with pit_rt_}}
func.func @pit_rt_workers(%x: i32) -> i32 {
  return %x : i32
}

// -----

// expected-error @below {{is an entry point; its name has to be a C identifier, not "a-b"}}
func.func @"a-b"() {
  return
}

// -----

func.func @callee(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func @caller(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{calls @callee, which this module defines: inline it first (--inline); recursion is not supported}}
  %r = call @callee(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// No program overwrites its arguments: what is meant for the memory of one stays a value.
// CHECK-LABEL: func.func @in_argument
// CHECK: %[[OUT:.*]] = bufferization.to_tensor
// CHECK: %[[S:.*]] = arith.addf
// CHECK-NEXT: tensor.extract_slice
// CHECK-NEXT: bufferization.materialize_in_destination %[[S]] in %[[OUT]]
// CHECK-NEXT: bufferization.materialize_in_destination %{{.*}} in writable
func.func @in_argument(%a: tensor<8x4xf32>, %b: tensor<8x8xf32>) -> tensor<8x4xf32> {
  %s = arith.addf %a, %a : tensor<8x4xf32>
  %d = tensor.extract_slice %b[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %m = bufferization.materialize_in_destination %s in %d : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %m : tensor<8x4xf32>
}
