// RUN: pit-opt %s -pit-plan -split-input-file -verify-diagnostics

!t = tensor<?x?xf32>

// A mark that no op can use stays; the op is computed dense.
func.func @illegal(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a : !t
  // expected-remark @+1 {{stays dense: operand 0, axis 0: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.maximumf; operand 0, axis 1: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.maximumf}}
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%s, %b : !t, !t) outs(%c : !t) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.maximumf %o, %p : f32
    linalg.yield %q : f32
  } -> !t
  return %r : !t
}

// -----

// What the user insists on is an error if it cannot be had.
!t = tensor<?x?xf32>
func.func @insisted(%a: !t, %c: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{the rule cannot be carried out: operand 0, axis 1: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.maximumf}}
  %s = pit.sparse %a rule(#pit.rule<axis = 1>) : !t
  // expected-remark @+1 {{stays dense: operand 0, axis 1: skipping operand 0 is not legal}}
  %r = linalg.reduce ins(%s : !t) outs(%c : tensor<?xf32>) dimensions = [1] (%x: f32, %o: f32) {
    %q = arith.maximumf %o, %x : f32
    linalg.yield %q : f32
  }
  return %r : tensor<?xf32>
}

// -----

func.func @window_axis(%x: tensor<?x?x?x?xf32>, %w: tensor<?x?x3x3xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  // expected-error @+1 {{the rule cannot be carried out: operand 0, axis 2: it is indexed by d2 + d5, not by one dim [C1]}}
  %s = pit.sparse %x rule(#pit.rule<axis = 2>) : tensor<?x?x?x?xf32>
  // expected-remark @+1 {{stays dense}}
  %r = linalg.conv_2d_nchw_fchw ins(%s, %w : tensor<?x?x?x?xf32>, tensor<?x?x3x3xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// -----

func.func @window_loop(%x: tensor<?x?x?x?xf32>, %w: tensor<?x?x?x?xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  // expected-error @+1 {{operand 0, axis 1: a micro-tile is a window along dimension 2 of the sparse operand, so dim d5 has to fit in one tile; its tile is 1}}
  %s = pit.sparse %x rule(#pit.rule<axis = 1, micro_tile = [1, 1, 8, 8]>) : tensor<?x?x?x?xf32>
  // expected-remark @+1 {{stays dense}}
  %r = linalg.conv_2d_nchw_fchw ins(%s, %w : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// -----

!t = tensor<?x?xf32>
func.func @tile_against_micro_tile(%a: !t, %b: !t, %c: !t) -> !t {
  // expected-error @+1 {{operand 0, axis 1: its tile makes an index of type !pit.index<micro_tile = [16, 1], axis = 1>, whose micro-tile is not the rule's}}
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [32, 1], tile = [16, 64, 64]>) : !t
  // expected-remark @+1 {{stays dense}}
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xf32>
func.func @tile_rank(%a: !t, %b: !t, %c: !t) -> !t {
  // expected-error @+1 {{operand 0, axis 1: the rule's tile has 2 extents, the op iterates over 3 dims}}
  %s = pit.sparse %a rule(#pit.rule<axis = 1, tile = [16, 64]>) : !t
  // expected-remark @+1 {{stays dense}}
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xf32>
func.func @large_extent(%a: !t, %b: !t, %c: !t) -> !t {
  // expected-error @+1 {{operand 0, axis 1: a tile of 9223372036854775807 along one dim has more than 16777216 elements}}
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [9223372036854775807, 1]>) : !t
  // expected-remark @+1 {{stays dense}}
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xf32>
func.func @large_tile(%a: !t, %b: !t, %c: !t) -> !t {
  // expected-error @+1 {{operand 0, axis 1: a tile of operand 0 has 67108864 elements, more than 16777216}}
  %s = pit.sparse %a rule(#pit.rule<axis = 1, tile = [8192, 64, 8192]>) : !t
  // expected-remark @+1 {{stays dense}}
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xf32>
func.func @atomic(%a: !t, %b: !t, %c: !t) -> !t {
  // expected-error @+1 {{operand 0, axis 0: groups are kept apart by sequential, not by atomic}}
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 64], conflicts = atomic>) : !t
  // expected-remark @+1 {{stays dense}}
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

// A rule is not dropped in silence.
!t = tensor<?x?xf32>
func.func @no_op(%a: !t) -> !t {
  // expected-error @+1 {{the rule cannot be carried out: no linalg op on tensors uses the mark}}
  %s = pit.sparse %a rule(#pit.rule<axis = 1>) : !t
  return %s : !t
}

// -----

// Nothing wrong with either rule, but an op has one.
!t = tensor<?x?xf32>
func.func @two_rules(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a rule(#pit.rule<axis = 1>) : !t
  // expected-error @+1 {{the rule cannot be carried out: linalg.matmul is tiled by the rule of its operand 0}}
  %u = pit.sparse %b rule(#pit.rule<axis = 1>) : !t
  %r = linalg.matmul ins(%s, %u : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

// Values of the result are known only after it is computed.
!t = tensor<?x?xf32>
func.func @values_of_result(%a: !t, %b: !t, %c: !t) -> !t {
  %r = linalg.matmul ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  // expected-error @+1 {{the rule cannot be carried out: no linalg op on tensors uses the mark}}
  %s = pit.sparse %r rule(#pit.rule<axis = 1>) : !t
  return %s : !t
}

// -----

func.func @rank_0(%a: tensor<f32>, %c: tensor<f32>) -> tensor<f32> {
  %s = pit.sparse %a : tensor<f32>
  // expected-remark @+1 {{stays dense: operand 0 has rank 0; an index takes 1 to 8}}
  %r = linalg.exp ins(%s : tensor<f32>) outs(%c : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

!x = tensor<?x?x?x?x?x?x?x?x?xf32>
func.func @rank_9(%a: !x, %c: !x) -> !x {
  %s = pit.sparse %a : !x
  // expected-remark @+1 {{stays dense: operand 0 has rank 9; an index takes 1 to 8}}
  %r = linalg.exp ins(%s : !x) outs(%c : !x) -> !x
  return %r : !x
}

// -----

// A tile that ends beyond the tensors divides there, too. No pad of y makes
// y * y - y other than 0.
!t = tensor<?x?xi32>
func.func @trap(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a : !t
  // expected-remark @+1 {{stays dense: operand 0, axis 0: a tile that reaches past the end of a dim may divide by zero there; operand 0, axis 1: a tile that reaches past the end of a dim may divide by zero there}}
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%s, %b : !t, !t) outs(%c : !t) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %yy = arith.muli %y, %y : i32
    %d = arith.subi %yy, %y : i32
    %q = arith.divsi %x, %d : i32
    linalg.yield %q : i32
  } -> !t
  return %r : !t
}

// -----

func.func @offset(%a: tensor<?x12xf32>, %c: tensor<?x10xf32>) -> tensor<?x10xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0>) : tensor<?x12xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n + 2)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%s : tensor<?x12xf32>) outs(%c : tensor<?x10xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<?x10xf32>
  return %r : tensor<?x10xf32>
}

// -----

// Dims that run backwards are not cut into tiles.
func.func @reversed(%a: tensor<?x10xf32>, %c: tensor<?x10xf32>) -> tensor<?x10xf32> {
  %s = pit.sparse %a : tensor<?x10xf32>
  // expected-remark @+1 {{stays dense: operand 0, axis 0: its groups cannot be cut out by tiles; operand 0, axis 0: a tile cannot be cut out by -d1 + 9; operand 0, axis 1: it is indexed by -d1 + 9, not by one dim [C1]}}
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, 9 - n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%s : tensor<?x10xf32>) outs(%c : tensor<?x10xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<?x10xf32>
  return %r : tensor<?x10xf32>
}
