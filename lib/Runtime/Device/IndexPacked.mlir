//===- IndexPacked.mlir - Indices whose micro-tiles are packed at once ----===//
//
// The kernels of IndexPackedRows.mlir.in share this. From sm_90 on.
//
//===----------------------------------------------------------------------===//

// LLVM loads four numbers at once, but tells ptxas no alignment of its own.
llvm.mlir.global internal @packed_bits() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x i32>
llvm.mlir.global internal @packed_sums() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8 x i32>
// By the blocks of the cluster.
llvm.mlir.global internal @packed_counts() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8 x i32>

/// The sum of those of `count` numbers before number `at`, and of all.
func.func private @sum_before(%numbers: !llvm.ptr<3>, %at: i32, %count: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sums:2 = scf.for %i = %c0 to %count step %c1
      iter_args(%before = %c0, %all = %c0) -> (i32, i32) : i32 {
    %from = llvm.getelementptr %numbers[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %number = llvm.load %from : !llvm.ptr<3> -> i32
    %is_before = arith.cmpi ult, %i, %at : i32
    %more = arith.select %is_before, %number, %c0 : i32
    %next_before = arith.addi %before, %more : i32
    %next_all = arith.addi %all, %number : i32
    scf.yield %next_before, %next_all : i32, i32
  }
  return %sums#0, %sums#1 : i32, i32
}

/// Begins an index, before the kernel that makes all of it.
llvm.func @pit_index_begin(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  func.call @wait_for_previous() : () -> ()
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %is_first = arith.cmpi eq, %tid, %c0 : i32
  scf.if %is_first {
    func.call @begin_copy(%head, %copy) : (!llvm.ptr, !llvm.ptr<1>) -> ()
  }
  llvm.return
}
