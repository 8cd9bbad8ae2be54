// RUN: pit-opt %s -convert-pit-to-gpu -canonicalize -cse | FileCheck %s
// RUN: %if ptxas %{ pit-opt %s -convert-pit-to-gpu=chip=sm_80 -pit-kernels-to-ptx | %python %S/../../../Inputs/ptx.py > %t.ptx %}
// RUN: %if ptxas %{ %ptxas -arch=sm_80 %t.ptx -o %t.cubin %}

// Each kind of op, and what makes it special.

!t = memref<?x?xf32>
!v = memref<?xf32>
!rows = !pit.index<micro_tile = [1, *], axis = 0>
!flat = !pit.index<micro_tile = [1], axis = 0>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

module {
// CHECK: gpu.module @pit_kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx81">]
module @pit_kernels attributes {pit.kernels} {

// Threads of the whole grid share whole memrefs; the output's innermost
// dimension is the fastest.
// CHECK-LABEL: gpu.func @transpose(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x?xf32>, %[[Y:[^:]*]]: memref<?x?xf32>) kernel
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, pit.launch_info = #pit.launch_info<threads = 256>
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK: %[[B:.*]] = gpu.block_id x
// CHECK: %[[F:.*]] = arith.muli %[[B]], %c256
// CHECK: %[[ID:.*]] = arith.addi %[[F]], %[[T]]
// CHECK: scf.for %[[E:.*]] = %[[ID]] to
// CHECK: %[[FAST:.*]] = arith.remui %[[E]],
// CHECK: %[[SLOW:.*]] = arith.divui %[[E]],
// CHECK: memref.load %[[X]][%[[FAST]], %[[SLOW]]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[SLOW]], %[[FAST]]]
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
func.func @transpose(%x: !t, %y: !t) {
  linalg.transpose ins(%x : !t) outs(%y : !t) permutation = [1, 0]
  return
}

// Where all operands have the same order, 16 bytes at a time, if memory is
// aligned; the rest element by element.
// CHECK-LABEL: gpu.func @copy(
// CHECK-NOT: arith.remui
// CHECK: arith.cmpi eq
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
// CHECK: vector.store {{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
// CHECK: memref.load
// CHECK: memref.store
// CHECK-NOT: arith.remui
func.func @copy(%x: !t, %y: !t) {
  memref.copy %x, %y : !t to !t
  return
}

// CHECK-LABEL: gpu.func @fill(
// CHECK-NOT: memref.load
// CHECK: vector.store
// CHECK-NOT: memref.load
// CHECK: memref.store
func.func @fill(%x: !t) {
  %c = arith.constant 3.0 : f32
  linalg.fill ins(%c : f32) outs(%x : !t)
  return
}

// The kernel's columns are not what lies along memory: a thread each output.
// CHECK-LABEL: gpu.func @conv(
// CHECK-NOT: gpu.shuffle
// CHECK: affine.apply
// CHECK: gpu.return
func.func @conv(%x: memref<?x?x?x?xf32>, %w: memref<?x?x?x?xf32>, %y: memref<?x?x?x?xf32>) {
  linalg.conv_2d_nchw_fchw ins(%x, %w : memref<?x?x?x?xf32>, memref<?x?x?x?xf32>) outs(%y : memref<?x?x?x?xf32>)
  return
}

// The sum stays in a register; products may be fused with it.
// CHECK-LABEL: gpu.func @matmul(
// CHECK: scf.for {{.*}} iter_args(
// CHECK: arith.mulf {{.*}} fastmath<contract>
// CHECK: arith.addf {{.*}} fastmath<contract>
// CHECK: gpu.return
func.func @matmul(%x: !t, %w: !t, %y: !t) {
  linalg.matmul ins(%x, %w : !t, !t) outs(%y : !t)
  return
}

// Down the columns, threads read neighbours.
// CHECK-LABEL: gpu.func @column_max(
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
func.func @column_max(%x: !t, %y: !v) {
  linalg.reduce ins(%x : !t) outs(%y : !v) dimensions = [0]
    (%a: f32, %s: f32) {
      %t = arith.maximumf %a, %s : f32
      linalg.yield %t : f32
    }
  return
}

// Along the rows, lanes do: of a block if rows are few, else of a warp.
// CHECK-LABEL: gpu.func @row_max(
// CHECK: %[[WARPS:.*]] = arith.muli %{{.*}}, %c8
// CHECK: %[[FEW:.*]] = arith.cmpi ult, %{{.*}}, %[[WARPS]]
// CHECK: scf.if %[[FEW]]
// CHECK: iter_args(%{{.*}} = %cst)
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: memref.store {{.*}} : memref<8xf32>
// CHECK: gpu.barrier
// CHECK: } else {
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
func.func @row_max(%x: !t, %y: !v) {
  linalg.reduce ins(%x : !t) outs(%y : !v) dimensions = [1]
    (%a: f32, %s: f32) {
      %t = arith.maximumf %a, %s : f32
      linalg.yield %t : f32
    }
  return
}

// Of short rows a warp has several: a lane for each eight elements.
// CHECK-LABEL: gpu.func @short_rows(
// CHECK: } else {
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<?x128xf16>, vector<8xf16>
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
func.func @short_rows(%x: memref<?x128xf16>, %y: memref<?x128xf16>, %s: !v) {
  linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : memref<?x128xf16>, memref<?x128xf16>) outs(%s : !v) {
  ^bb0(%a: f16, %b: f16, %t: f32):
    %u = arith.extf %a : f16 to f32
    %v = arith.extf %b : f16 to f32
    %p = arith.mulf %u, %v : f32
    %q = arith.addf %t, %p : f32
    linalg.yield %q : f32
  }
  return
}

// Beside the sums of rows, lanes store what there is for each element; eight of them at once,
// where rows are aligned.
// CHECK-LABEL: gpu.func @rows_and_sums(
// CHECK: scf.if %{{.*}} -> (f32
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<?x512xbf16>, vector<8xbf16>
// CHECK: vector.store {{.*}} {alignment = 16 : i64} : memref<?x512xf32>, vector<8xf32>
// CHECK: } else {
// CHECK-COUNT-8: memref.load {{.*}} : memref<?x512xbf16>
// CHECK: memref.store {{.*}} : memref<?x512xf32>
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: memref.store {{.*}} : memref<?xf32>
// CHECK: gpu.return
func.func @rows_and_sums(%x: memref<?x512xbf16>, %y: memref<?x512xf32>, %s: !v) {
  linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x512xbf16>) outs(%y, %s : memref<?x512xf32>, !v) {
  ^bb0(%a: bf16, %o: f32, %t: f32):
    %w = arith.extf %a : bf16 to f32
    %q = arith.mulf %w, %w : f32
    %u = arith.addf %t, %w : f32
    linalg.yield %q, %u : f32, f32
  }
  return
}

// Elements of rows that are scaled, or lie in parts of others, come eight at once, too.
// CHECK-LABEL: gpu.func @scale_rows(
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<?x512xbf16, strided<[1024, 1]>>, vector<8xbf16>
// CHECK: memref.load {{.*}} : memref<?xf32>
// CHECK: vector.store {{.*}} {alignment = 16 : i64} : memref<?x512xbf16>, vector<8xbf16>
// CHECK: scf.if
// CHECK: memref.store {{.*}} : memref<?x512xbf16>
// CHECK: gpu.return
func.func @scale_rows(%x: memref<?x512xbf16, strided<[1024, 1]>>, %s: !v, %y: memref<?x512xbf16>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<?x512xbf16, strided<[1024, 1]>>, !v) outs(%y : memref<?x512xbf16>) {
  ^bb0(%a: bf16, %b: f32, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %t = arith.mulf %w, %b : f32
    %r = arith.truncf %t : f32 to bf16
    linalg.yield %r : bf16
  }
  return
}

// Two results, of types that go through shuffles in two halves.
// CHECK-LABEL: gpu.func @all(
// CHECK: gpu.shuffle
func.func @all(%x: !t, %y: memref<f64>, %n: memref<i64>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : !t) outs(%y, %n : memref<f64>, memref<i64>) {
  ^bb0(%a: f32, %s: f64, %k: i64):
    %e = arith.extf %a : f32 to f64
    %t = arith.addf %s, %e : f64
    %i = linalg.index 0 : index
    %i64 = arith.index_cast %i : index to i64
    %u = arith.addi %k, %i64 : i64
    linalg.yield %t, %u : f64, i64
  }
  return
}

// CHECK-LABEL: gpu.func @sum_f16(
// CHECK: arith.bitcast {{.*}} : f16 to i16
// CHECK: gpu.shuffle
func.func @sum_f16(%x: memref<?x?xf16>, %y: memref<?xf16>) {
  linalg.reduce ins(%x : memref<?x?xf16>) outs(%y : memref<?xf16>) dimensions = [1]
    (%a: f16, %s: f16) {
      %t = arith.addf %a, %s : f16
      linalg.yield %t : f16
    }
  return
}

// Which lane's result is the right one, nobody knows: a thread runs through.
// CHECK-LABEL: gpu.func @argmax(
// CHECK-NOT: gpu.shuffle
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}) -> (f32, index)
// CHECK: gpu.return
func.func @argmax(%x: !t, %m: !v, %at: memref<?xindex>) {
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : !t) outs(%m, %at : !v, memref<?xindex>) {
  ^bb0(%a: f32, %s: f32, %k: index):
    %j = linalg.index 1 : index
    %g = arith.cmpf ogt, %a, %s : f32
    %t = arith.select %g, %a, %s : f32
    %u = arith.select %g, %j, %k : index
    linalg.yield %t, %u : f32, index
  }
  return
}

// What depends on the rest of the grid is left to one block, which waits for
// itself.
// CHECK-LABEL: gpu.func @one_block(
// CHECK-SAME: grid = one_block
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %block_id_x, %c0
// CHECK: scf.if %[[ONE]]
// CHECK: memref.store {{.*}} : memref<?xi1>
// CHECK: gpu.barrier
// CHECK: memref.load {{.*}} : memref<?xi1>
// CHECK: gpu.return
func.func @one_block(%x: !t, %y: memref<?x?xi1>, %z: !t) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : !t) outs(%y : memref<?x?xi1>) {
  ^bb0(%a: f32, %b: i1):
    %g = arith.cmpf ogt, %a, %zero : f32
    linalg.yield %g : i1
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : memref<?x?xi1>) outs(%z : !t) {
  ^bb0(%b: i1, %a: f32):
    %f = arith.uitofp %b : i1 to f32
    linalg.yield %f : f32
  }
  return
}

// So are iterations that run one after another.
// CHECK-LABEL: gpu.func @one_after_another(
// CHECK-SAME: grid = one_block
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %{{.*}} step
func.func @one_after_another(%x: !t, %z: !t) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : !t
  pit.forall (%i) = (%c0) to (%m) step (8) conflicts(sequential) {
    %b = memref.alloc() : memref<8x16xf32>
    pit.sread %x[%i, %c0] into %b : !t -> memref<8x16xf32>
    pit.swrite %b into %z[%c0, %c0] : memref<8x16xf32> into !t
    memref.dealloc %b : memref<8x16xf32>
  }
  return
}

// Two ops that do not know of each other are no reason for that.
// CHECK-LABEL: gpu.func @independent(
// CHECK-NOT: grid = one_block
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
func.func @independent(%x: !t, %y: !t, %z: !t) {
  linalg.exp ins(%x : !t) outs(%y : !t)
  linalg.abs ins(%x : !t) outs(%z : !t)
  return
}

// Absent ids, and those beyond the tensor, read the pad; an absent id is not
// loaded. Rows that start in the middle go element by element.
// CHECK-LABEL: gpu.func @gather(
// CHECK: scf.for %{{.*}} = %block_id_x to %{{.*}} step %grid_dim_x
// CHECK: %[[LIVE:.*]] = arith.minsi
// CHECK: %[[IS:.*]] = arith.cmpi slt, %[[I:.*]], %[[LIVE]]
// CHECK: arith.select %[[IS]], %[[I]], %c0
// CHECK: arith.cmpi ult
// CHECK: vector.load {{.*}} {alignment = 16 : i64}
// CHECK: } else {
// CHECK: memref.load
// CHECK: scf.yield %cst
func.func @gather(%x: !t, %i: !rows, %y: !t, %at: index) {
  %c0 = arith.constant 0 : index
  pit.forall %ids at %pos in %i : !rows chunk 8 {
    %t = memref.alloc() : memref<8x12xf32>
    pit.sread %x[%ids : !pit.ids<8>, %at] into %t pad(7.0 : f32) : !t -> memref<8x12xf32>
    pit.swrite %t into %y[%pos : !pit.ids<8>, %c0] : memref<8x12xf32> into !t
  }
  return
}

// Combining reads first. Arguments may be the same memory: the second write
// waits for the first, and for the reads.
// CHECK-LABEL: gpu.func @combine(
// CHECK: gpu.barrier
// CHECK: arith.maximumf
// CHECK: gpu.barrier
// CHECK: arith.addf
func.func @combine(%x: !t, %y: !t, %s: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  pit.forall (%q) = (%c0) to (%c1) step (1) {
    %t = memref.alloc() : memref<4x8xf32>
    pit.sread %x[%s, %c0] into %t pad(7.0 : f32) : !t -> memref<4x8xf32>
    pit.swrite %t into %y[%c0, %c0] combine(maximumf) : memref<4x8xf32> into !t
    pit.swrite %t into %x[%c0, %s] combine(addf) : memref<4x8xf32> into !t
  }
  return
}

// A softmax's statistics: 16 rows have 16 lanes each. Two reads of different
// tensors do not wait for each other.
// CHECK-LABEL: gpu.func @lanes(
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
func.func @lanes(%x: !t, %y: !v, %z: !v) {
  %c0 = arith.constant 0 : index
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %x, %c0 : !t
  pit.forall (%q) = (%c0) to (%m) step (16) {
    %t = memref.alloc() : memref<16x64xf32>
    pit.sread %x[%q, %c0] into %t : !t -> memref<16x64xf32>
    %u = memref.alloc() : memref<16xf32>
    linalg.fill ins(%low : f32) outs(%u : memref<16xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%t : memref<16x64xf32>) outs(%u : memref<16xf32>) {
    ^bb0(%a: f32, %s: f32):
      %v = arith.maximumf %a, %s : f32
      linalg.yield %v : f32
    }
    pit.swrite %u into %y[%q] : memref<16xf32> into !v
    linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%u : memref<16xf32>) outs(%t : memref<16x64xf32>) {
    ^bb0(%a: f32, %s: f32):
      %v = arith.subf %s, %a : f32
      %w = math.exp %v : f32
      linalg.yield %w : f32
    }
    linalg.fill ins(%zero : f32) outs(%u : memref<16xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%t : memref<16x64xf32>) outs(%u : memref<16xf32>) {
    ^bb0(%a: f32, %s: f32):
      %v = arith.addf %a, %s : f32
      linalg.yield %v : f32
    }
    pit.swrite %u into %z[%q] : memref<16xf32> into !v
  }
  return
}

// CHECK-LABEL: gpu.func @coords(
// CHECK: arith.select %{{.*}}, %{{.*}}, %c-1
// CHECK: memref.store {{.*}} : memref<32xindex>
func.func @coords(%i: !flat, %x: !v, %y: !v) {
  pit.forall %ids at %pos in %i : !flat chunk 32 {
    %t = memref.alloc() : memref<32xf32>
    %c = memref.alloc() : memref<32xindex>
    pit.sread %x[%ids : !pit.ids<32>] into %t : !v -> memref<32xf32>
    pit.coords %ids into %c : memref<32xindex> : !pit.ids<32>
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%c : memref<32xindex>) outs(%t : memref<32xf32>) {
    ^bb0(%at: index, %a: f32):
      %n = arith.index_cast %at : index to i64
      %f = arith.sitofp %n : i64 to f32
      %m = arith.mulf %a, %f : f32
      linalg.yield %m : f32
    }
    pit.swrite %t into %y[%ids : !pit.ids<32>] combine(maximumf) : memref<32xf32> into !v
  }
  return
}

// Where there is no instruction, threads try until nobody arrivals between.
// CHECK-LABEL: gpu.func @atomics(
// CHECK: scf.while
// CHECK: arith.muli %{{.*}} : i8
// CHECK: llvm.cmpxchg {{.*}} syncscope("device") monotonic monotonic : !llvm.ptr, i8
// CHECK: llvm.atomicrmw max {{.*}} syncscope("device") monotonic : !llvm.ptr, i32
// CHECK: llvm.atomicrmw add {{.*}} syncscope("device") monotonic : !llvm.ptr, i64
func.func @atomics(%x: memref<?x?xi32>, %a: memref<?xi8>, %b: memref<?xi32>, %c: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x?xi32>
  pit.forall (%q) = (%c0) to (%m) step (1) conflicts(atomic) {
    %t = memref.alloc() : memref<1x24xi32>
    pit.sread %x[%q, %c0] into %t : memref<?x?xi32> -> memref<1x24xi32>
    %s = memref.collapse_shape %t [[0, 1]] : memref<1x24xi32> into memref<24xi32>
    pit.swrite %s into %a[%c0] combine(muli) : memref<24xi32> into memref<?xi8>
    pit.swrite %s into %b[%c0] combine(maxs) : memref<24xi32> into memref<?xi32>
    %w = memref.alloc() : memref<24xi64>
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%s : memref<24xi32>) outs(%w : memref<24xi64>) {
    ^bb0(%e: i32, %o: i64):
      %f = arith.extsi %e : i32 to i64
      linalg.yield %f : i64
    }
    pit.swrite %w into %c[%c0] combine(addi) : memref<24xi64> into memref<?xi64>
  }
  return
}

// 144 KB of tiles, of which two never live at the same time as two others: 72
// stay in shared memory, 72 leave for the scratch.
// CHECK-LABEL: gpu.func @big(
// CHECK-SAME: %[[SCRATCH:[^:]*]]: memref<?xi8>) kernel
// CHECK-SAME: shared_bytes = 73728, scratch_bytes = 73728
// CHECK: llvm.mlir.addressof @pit_shared : !llvm.ptr<3>
// CHECK: arith.muli %{{.*}}, %c73728
func.func @big(%x: !t, %y: !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : !t
  %n = memref.dim %x, %c1 : !t
  pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (96, 96) {
    %t = memref.alloc() : memref<96x96xf32>
    %u = memref.alloc() : memref<96x96xf32>
    %v = memref.alloc() : memref<96x96xf32>
    %w = memref.alloc() : memref<96x96xf32>
    pit.sread %x[%i, %j] into %t : !t -> memref<96x96xf32>
    pit.sread %y[%i, %j] into %u : !t -> memref<96x96xf32>
    linalg.transpose ins(%t : memref<96x96xf32>) outs(%v : memref<96x96xf32>) permutation = [1, 0]
    linalg.transpose ins(%u : memref<96x96xf32>) outs(%w : memref<96x96xf32>) permutation = [1, 0]
    linalg.add ins(%v, %w : memref<96x96xf32>, memref<96x96xf32>) outs(%v : memref<96x96xf32>)
    linalg.transpose ins(%v : memref<96x96xf32>) outs(%t : memref<96x96xf32>) permutation = [1, 0]
    linalg.mul ins(%t, %u : memref<96x96xf32>, memref<96x96xf32>) outs(%t : memref<96x96xf32>)
    pit.swrite %t into %y[%i, %j] : memref<96x96xf32> into !t
  }
  return
}

// A loop whose iterations depend on each other: one block, one after another.
// All threads run the scalar code; none loads what another still writes.
// CHECK-LABEL: gpu.func @sequence(
// CHECK-SAME: grid = one_block
// CHECK: gpu.barrier
// CHECK: %[[S:.*]] = memref.load %{{.*}}[%c0] : memref<40xf32>
// CHECK: memref.store %[[S]], %{{.*}} : memref<?xf32>
func.func @sequence(%x: !t, %y: !v) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : !t
  pit.for (%i) = (%c0) to (%m) step (1) {
    %t = memref.alloc() : memref<1x40xf32>
    pit.sread %x[%i, %c0] into %t : !t -> memref<1x40xf32>
    %u = memref.alloc() : memref<40xf32>
    pit.sread %y[%c0] into %u : !v -> memref<40xf32>
    linalg.generic {indexing_maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%t : memref<1x40xf32>) outs(%u : memref<40xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    %s = memref.load %u[%c0] : memref<40xf32>
    memref.store %s, %y[%c0] : !v
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%u : memref<40xf32>) {
    ^bb0(%a: f32):
      %b = arith.mulf %a, %s : f32
      linalg.yield %b : f32
    }
    pit.swrite %u into %y[%c0] combine(addf) : memref<40xf32> into !v
  }
  return
}

// Blocks along y share the chunks of a group: its rows are its own.
// CHECK-LABEL: gpu.func @split(
// CHECK-SAME: grid = groups
// CHECK: %[[BY:.*]] = gpu.block_id y
// CHECK: %[[GY:.*]] = gpu.grid_dim y
// CHECK: %[[FIRST:.*]] = arith.muli %[[BY]], %c16
// CHECK: %[[STEP:.*]] = arith.muli %[[GY]], %c16
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]]
func.func @split(%x: memref<?x?x?xf32>, %i: !pit.index<micro_tile = [1, 1], axis = 0>, %y: !t) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x?x?xf32>
  pit.forall (%g) = (%c0) to (%m) step (1) {
    pit.for %ids at %pos in %i[%g] : !pit.index<micro_tile = [1, 1], axis = 0> chunk 16 {
      %t = memref.alloc() : memref<1x16x32xf32>
      pit.sread %x[%g, %ids : !pit.ids<16>, %c0] into %t : memref<?x?x?xf32> -> memref<1x16x32xf32>
      %s = memref.collapse_shape %t [[0, 1], [2]] : memref<1x16x32xf32> into memref<16x32xf32>
      pit.swrite %s into %y[%pos : !pit.ids<16>, %c0] : memref<16x32xf32> into !t
    }
  }
  return
}

// Here all chunks add to the same row: they stay in order, in one block.
// CHECK-LABEL: gpu.func @no_split(
// CHECK-NOT: grid = groups
// CHECK-NOT: gpu.block_id y
// CHECK: gpu.return
func.func @no_split(%x: memref<?x?xf32>, %i: !pit.index<micro_tile = [1, 1], axis = 1>, %y: !t) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  pit.forall (%g) = (%c0) to (%m) step (1) {
    pit.for %ids at %pos in %i[%g] : !pit.index<micro_tile = [1, 1], axis = 1> chunk 16 {
      %t = memref.alloc() : memref<1x16xf32>
      pit.sread %x[%g, %ids : !pit.ids<16>] into %t : memref<?x?xf32> -> memref<1x16xf32>
      pit.swrite %t into %y[%g, %c0] combine(addf) : memref<1x16xf32> into !t
    }
  }
  return
}
}
}
