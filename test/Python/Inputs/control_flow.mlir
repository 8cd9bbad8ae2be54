// Programs with loops, branches and calls around marked ops; what they compute is
// written in control_flow.py, beside this folder, in numpy.

!m = tensor<8x8xf32>
!d = tensor<?x?xf32>

// x <- a x + b, n times.
func.func @recurrence(%a: !m, %b: !m, %n: index) -> !m {
  %s = pit.sparse %a : !m
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %b) -> (!m) {
    %q = linalg.matmul ins(%s, %x : !m, !m) outs(%b : !m) -> !m
    scf.yield %q : !m
  }
  return %r : !m
}

// The mark is in the loop: an index for each iteration.
func.func @powers(%a: !m, %n: index) -> !m {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !m
  %f = linalg.fill ins(%zero : f32) outs(%e : !m) -> !m
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (!m) {
    %s = pit.sparse %x : !m
    %q = linalg.matmul ins(%s, %a : !m, !m) outs(%f : !m) -> !m
    scf.yield %q : !m
  }
  return %r : !m
}

// x, y <- x y + y, x: values change places.
func.func @exchange(%a: !d, %b: !d, %n: index) -> (!d, !d) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (!d, !d) {
    %s = pit.sparse %x : !d
    %q = linalg.matmul ins(%s, %y : !d, !d) outs(%y : !d) -> !d
    scf.yield %q, %x : !d, !d
  }
  return %r#0, %r#1 : !d, !d
}

// x, y <- x - y, x + y: both are read before one is overwritten.
func.func @rotate(%a: !m, %b: !m, %n: index) -> (!m, !m) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (!m, !m) {
    %e = tensor.empty() : !m
    %q = linalg.sub ins(%x, %y : !m, !m) outs(%e : !m) -> !m
    %p = linalg.add ins(%x, %y : !m, !m) outs(%e : !m) -> !m
    scf.yield %q, %p : !m, !m
  }
  return %r#0, %r#1 : !m, !m
}

// Three values move round, none is computed.
func.func @turn(%a: !m, %b: !m, %c: !m, %n: index) -> (!m, !m, !m) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b, %z = %c) -> (!m, !m, !m) {
    scf.yield %y, %z, %x : !m, !m, !m
  }
  return %r#0, %r#1, %r#2 : !m, !m, !m
}

// Every third iteration gives a new value, the others the old one.
func.func @sometimes(%a: !d, %b: !d, %n: index) -> !d {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = pit.sparse %a : !d
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %b) -> (!d) {
    %q = linalg.matmul ins(%s, %x : !d, !d) outs(%b : !d) -> !d
    %rest = arith.remui %i, %c3 : index
    %now = arith.cmpi eq, %rest, %c0 : index
    %y = scf.if %now -> (!d) {
      scf.yield %q : !d
    } else {
      scf.yield %x : !d
    }
    scf.yield %y : !d
  }
  return %r : !d
}

// The tensor grows.
func.func @grow(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>, %w: tensor<4x4xf32>, %n: index) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %s = pit.sparse %w : tensor<4x4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<?x4xf32>) {
    %c = tensor.concat dim(0) %x, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %m = tensor.dim %c, %c0 : tensor<?x4xf32>
    %e = tensor.empty(%m) : tensor<?x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    %q = linalg.matmul ins(%c, %s : tensor<?x4xf32>, tensor<4x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
    scf.yield %q : tensor<?x4xf32>
  }
  return %r : tensor<?x4xf32>
}

// The condition hands values on in another order; the loop exchanges two.
func.func @while(%a: !m, %b: !m, %n: index) -> (!m, !m) {
  %s = pit.sparse %a : !m
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.while (%i = %c0, %x = %b, %y = %a) : (index, !m, !m) -> (!m, index, !m) {
    %go = arith.cmpi ult, %i, %n : index
    scf.condition(%go) %y, %i, %x : !m, index, !m
  } do {
  ^bb0(%y: !m, %i: index, %x: !m):
    %q = linalg.matmul ins(%s, %x : !m, !m) outs(%b : !m) -> !m
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %q, %x : index, !m, !m
  }
  return %r#0, %r#2 : !m, !m
}

// What comes before the condition computes, too.
func.func @do_while(%a: !d, %b: !d, %n: index) -> !d {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%i = %c0, %x = %b) : (index, !d) -> (index, !d) {
    %s = pit.sparse %x : !d
    %q = linalg.matmul ins(%s, %a : !d, !d) outs(%b : !d) -> !d
    %j = arith.addi %i, %c1 : index
    %go = arith.cmpi ult, %j, %n : index
    scf.condition(%go) %j, %q : index, !d
  } do {
  ^bb0(%i: index, %x: !d):
    scf.yield %i, %x : index, !d
  }
  return %r#1 : !d
}

// An inner loop carries what the outer one carries.
func.func @nested(%a: !d, %b: !d, %n: index) -> (!d, !d) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = pit.sparse %a : !d
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %b, %y = %a) -> (!d, !d) {
    %t:2 = scf.for %j = %c0 to %n step %c1 iter_args(%u = %x, %v = %y) -> (!d, !d) {
      %q = linalg.matmul ins(%s, %u : !d, !d) outs(%v : !d) -> !d
      scf.yield %v, %q : !d, !d
    }
    scf.yield %t#1, %x : !d, !d
  }
  return %r#0, %r#1 : !d, !d
}

// h <- max(h w + x[t], 0): rows of a sequence, weights that are sparse.
func.func @rnn(%x: tensor<16x4x8xf32>, %w: !m, %h0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %s = pit.sparse %w : !m
  %r = scf.for %t = %c0 to %c16 step %c1 iter_args(%h = %h0) -> tensor<4x8xf32> {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<16x4x8xf32> to tensor<4x8xf32>
    %p = linalg.matmul ins(%h, %s : tensor<4x8xf32>, !m) outs(%xt : tensor<4x8xf32>) -> tensor<4x8xf32>
    %e = tensor.empty() : tensor<4x8xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %q = linalg.max ins(%p, %z : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.yield %q : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// Slices of a marked tensor have indices of their own.
func.func @slices(%a: tensor<32x64xf32>, %b: tensor<64x8xf32>, %c: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %s = pit.sparse %a : tensor<32x64xf32>
  %r = scf.for %k = %c0 to %c64 step %c16 iter_args(%o = %c) -> tensor<32x8xf32> {
    %x = tensor.extract_slice %s[0, %k] [32, 16] [1, 1] : tensor<32x64xf32> to tensor<32x16xf32>
    %y = tensor.extract_slice %b[%k, 0] [16, 8] [1, 1] : tensor<64x8xf32> to tensor<16x8xf32>
    %q = linalg.matmul ins(%x, %y : tensor<32x16xf32>, tensor<16x8xf32>) outs(%o : tensor<32x8xf32>) -> tensor<32x8xf32>
    scf.yield %q : tensor<32x8xf32>
  }
  return %r : tensor<32x8xf32>
}

// Slices of masked and of ragged tensors.
func.func @masked(%a: tensor<4x16x8xf32>, %m: tensor<4x16x8xi1>, %l: tensor<4xi32>, %w: !m, %t: index)
    -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = pit.sparse %a mask(%m : tensor<4x16x8xi1>) : tensor<4x16x8xf32>
  %x = tensor.extract_slice %s[%t, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<4x16x8xf32> to tensor<16x8xf32>
  %p = pit.sparse %a lengths(%l : tensor<4xi32>) : tensor<4x16x8xf32>
  %y = tensor.extract_slice %p[%t, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<4x16x8xf32> to tensor<16x8xf32>
  %e = tensor.empty() : tensor<16x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x8xf32>) -> tensor<16x8xf32>
  %q = linalg.matmul ins(%x, %w : tensor<16x8xf32>, !m) outs(%f : tensor<16x8xf32>) -> tensor<16x8xf32>
  %r = linalg.matmul ins(%y, %w : tensor<16x8xf32>, !m) outs(%f : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %q, %r : tensor<16x8xf32>, tensor<16x8xf32>
}

// A mark in a branch.
func.func @branch(%a: !m, %b: !m, %c: !m, %if: i1) -> !m {
  %r = scf.if %if -> (!m) {
    %s = pit.sparse %a : !m
    %q = linalg.matmul ins(%s, %b : !m, !m) outs(%c : !m) -> !m
    scf.yield %q : !m
  } else {
    %s = pit.sparse %b : !m
    %q = linalg.matmul ins(%s, %a : !m, !m) outs(%c : !m) -> !m
    scf.yield %q : !m
  }
  return %r : !m
}

// Blocks of rows, each with an index of its own.
func.func @forall(%a: tensor<64x32xf32>, %b: tensor<32x32xf32>, %c: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %r = scf.forall (%i) = (0) to (64) step (16) shared_outs(%o = %c) -> tensor<64x32xf32> {
    %x = tensor.extract_slice %a[%i, 0] [16, 32] [1, 1] : tensor<64x32xf32> to tensor<16x32xf32>
    %s = pit.sparse %x : tensor<16x32xf32>
    %y = tensor.extract_slice %o[%i, 0] [16, 32] [1, 1] : tensor<64x32xf32> to tensor<16x32xf32>
    %q = linalg.matmul ins(%s, %b : tensor<16x32xf32>, tensor<32x32xf32>) outs(%y : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q into %o[%i, 0] [16, 32] [1, 1] : tensor<16x32xf32> into tensor<64x32xf32>
    }
  }
  return %r : tensor<64x32xf32>
}

// Each iteration reads the first block as it was before the loop.
func.func @forall_reads(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %r = scf.forall (%i) = (0) to (16) step (4) shared_outs(%o = %a) -> tensor<16x8xf32> {
    %x = tensor.extract_slice %o[0, 0] [4, 8] [1, 1] : tensor<16x8xf32> to tensor<4x8xf32>
    %s = pit.sparse %x : tensor<4x8xf32>
    %y = tensor.extract_slice %o[%i, 0] [4, 8] [1, 1] : tensor<16x8xf32> to tensor<4x8xf32>
    %q = linalg.add ins(%s, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%y : tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q into %o[%i, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<16x8xf32>
    }
  }
  return %r : tensor<16x8xf32>
}

// Buffers in parallel iterations: of static size, and of dynamic size.
func.func @forall_buffers(%a: tensor<64x16xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.forall (%i) = (0) to (64) step (16) shared_outs(%o = %c) -> tensor<64xf32> {
    %x = tensor.extract_slice %a[%i, 0] [16, 16] [1, 1] : tensor<64x16xf32> to tensor<16x16xf32>
    %e = tensor.empty() : tensor<16x16xf32>
    %t = linalg.square ins(%x : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
    %y = tensor.extract_slice %o[%i] [16] [1] : tensor<64xf32> to tensor<16xf32>
    %q = linalg.reduce { arith.addf } ins(%t : tensor<16x16xf32>) outs(%y : tensor<16xf32>) dimensions = [1]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q into %o[%i] [16] [1] : tensor<16xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}
func.func @forall_dynamic(%a: !d, %c: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : !d
  %n = tensor.dim %a, %c1 : !d
  %r = scf.forall (%i) in (%m) shared_outs(%o = %c) -> tensor<?xf32> {
    %x = tensor.extract_slice %a[%i, 0] [1, %n] [1, 1] : !d to tensor<1x?xf32>
    %e = tensor.empty(%n) : tensor<1x?xf32>
    %t = linalg.square ins(%x : tensor<1x?xf32>) outs(%e : tensor<1x?xf32>) -> tensor<1x?xf32>
    %y = tensor.extract_slice %o[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
    %q = linalg.reduce { arith.addf } ins(%t : tensor<1x?xf32>) outs(%y : tensor<1xf32>) dimensions = [1]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %r : tensor<?xf32>
}

// Functions that call each other; @twice has two blocks, and is called in a loop.
func.func @product(%a: !m, %b: !m, %c: !m) -> !m {
  %s = pit.sparse %a : !m
  %r = linalg.matmul ins(%s, %b : !m, !m) outs(%c : !m) -> !m
  return %r : !m
}
func.func private @twice(%a: !m, %b: !m, %c: !m, %if: i1) -> !m attributes {no_inline} {
  cf.cond_br %if, ^two, ^one
^two:
  %p = call @product(%a, %b, %c) {no_inline} : (!m, !m, !m) -> !m
  %q = call @product(%a, %b, %p) : (!m, !m, !m) -> !m
  return %q : !m
^one:
  %o = call @product(%a, %b, %c) : (!m, !m, !m) -> !m
  return %o : !m
}
func.func @calls(%a: !m, %b: !m, %n: index) -> !m {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %b) -> (!m) {
    %first = arith.cmpi eq, %i, %c0 : index
    %y = func.call @twice(%a, %b, %x, %first) : (!m, !m, !m, i1) -> !m
    scf.yield %y : !m
  }
  return %r : !m
}

module @inside {
  func.func private @twice(%x: !m) -> !m {
    %e = tensor.empty() : !m
    %r = linalg.add ins(%x, %x : !m, !m) outs(%e : !m) -> !m
    return %r : !m
  }
  func.func @doubled(%x: !m) -> !m {
    %r = call @twice(%x) : (!m) -> !m
    return %r : !m
  }
}

// One dimension becomes two, of which the caller tells the sizes; C calls this
// function as all others.
func.func @heads(%x: tensor<?x8xf32>, %w: !m, %b: index, %s: index, %o: tensor<?x8xf32>) -> tensor<?x?x8xf32>
    attributes {llvm.emit_c_interface} {
  %m = pit.sparse %x : tensor<?x8xf32>
  %r = linalg.matmul ins(%m, %w : tensor<?x8xf32>, !m) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  %e = tensor.expand_shape %r [[0, 1], [2]] output_shape [%b, %s, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
  return %e : tensor<?x?x8xf32>
}

// A tile program: rows of x that are live, times 2.
func.func @tiles(%x: !d, %y: !d) -> !d {
  %c0 = arith.constant 0 : index
  %i = pit.index %x : !d -> !pit.index<micro_tile = [1, *], axis = 0>
  %r = pit.forall %ids at %pos in %i : !pit.index<micro_tile = [1, *], axis = 0> chunk 4 iter_args(%o = %y) -> (!d) {
    %t = pit.sread %x[%ids : !pit.ids<4>, %c0] : !d -> tensor<4x8xf32>
    %u = linalg.add ins(%t, %t : tensor<4x8xf32>, tensor<4x8xf32>) outs(%t : tensor<4x8xf32>) -> tensor<4x8xf32>
    %w = pit.swrite %u into %o[%ids : !pit.ids<4>, %c0] : tensor<4x8xf32> into !d
    pit.yield %w : !d
  }
  return %r : !d
}

// Blocks: a loop that may be left early.
func.func @blocks(%a: !m, %b: !m, %n: index, %last: index) -> !m {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = pit.sparse %a : !m
  cf.br ^head(%c0, %b : index, !m)
^head(%i: index, %x: !m):
  %go = arith.cmpi ult, %i, %n : index
  cf.cond_br %go, ^body, ^end
^body:
  %q = linalg.matmul ins(%s, %x : !m, !m) outs(%b : !m) -> !m
  %j = arith.addi %i, %c1 : index
  %more = arith.cmpi ne, %i, %last : index
  cf.cond_br %more, ^head(%j, %q : index, !m), ^out
^out:
  %r = linalg.add ins(%q, %q : !m, !m) outs(%b : !m) -> !m
  return %r : !m
^end:
  return %x : !m
}

func.func @switch(%a: !m, %b: !m, %k: index) -> !m {
  %r = scf.index_switch %k -> !m
  case 0 {
    %s = pit.sparse %a : !m
    %q = linalg.matmul ins(%s, %b : !m, !m) outs(%b : !m) -> !m
    scf.yield %q : !m
  }
  default {
    scf.yield %a : !m
  }
  return %r : !m
}

// Versions of one tensor that are results, too: each needs memory of its own.
func.func @versions(%a: !m, %b: !m) -> (!m, !m) {
  %e = tensor.empty() : !m
  %s = pit.sparse %a : !m
  %x = linalg.add ins(%s, %b : !m, !m) outs(%e : !m) -> !m
  %q = linalg.matmul ins(%s, %b : !m, !m) outs(%x : !m) -> !m
  return %q, %x : !m, !m
}

func.func @version_of_branch(%a: !m, %b: !m, %p: i1) -> (!m, !m, !m) {
  %e = tensor.empty() : !m
  %s = pit.sparse %a : !m
  %x = linalg.add ins(%s, %b : !m, !m) outs(%e : !m) -> !m
  %y = scf.if %p -> !m {
    %q = linalg.matmul ins(%s, %b : !m, !m) outs(%x : !m) -> !m
    scf.yield %q : !m
  } else {
    scf.yield %x : !m
  }
  return %y, %x, %y : !m, !m, !m
}
