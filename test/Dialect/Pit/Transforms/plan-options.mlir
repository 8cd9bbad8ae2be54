// RUN: split-file %s %t
// RUN: pit-opt %t/ok.mlir -pit-plan="tile-table=%S/Inputs/tiles.json" | FileCheck %t/ok.mlir --check-prefix=TABLE
// RUN: pit-opt %t/ok.mlir -pit-plan=unordered | FileCheck %t/ok.mlir --check-prefix=UNORDERED
// RUN: pit-opt %t/conflicts.mlir -pit-plan=conflicts=atomic | FileCheck %t/conflicts.mlir --check-prefixes=CHECK,ATOMIC
// RUN: pit-opt %t/conflicts.mlir -pit-plan="conflicts=atomic deterministic" | FileCheck %t/conflicts.mlir --check-prefixes=CHECK,DETERMINISTIC
// RUN: pit-opt %t/conflicts.mlir -pit-plan=conflicts=two_phase_rounded | FileCheck %t/conflicts.mlir --check-prefix=ROUNDED
// RUN: pit-opt %t/conflicts.mlir -pit-plan="conflicts=two_phase_rounded deterministic" | FileCheck %t/conflicts.mlir --check-prefix=ROUNDED-DETERMINISTIC
// RUN: pit-opt %t/conflicts.mlir -pit-plan=conflicts=two_phase | FileCheck %t/conflicts.mlir --check-prefixes=CHECK,TWO-PHASE
// RUN: not pit-opt %t/conflicts.mlir -pit-plan=conflicts=some 2>&1 | FileCheck %s --check-prefix=SOME
// SOME: some
// RUN: pit-opt %t/strict.mlir -pit-plan=strict -verify-diagnostics | FileCheck %t/strict.mlir

// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/none.json" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: tile table {{.*}}none.json: No such file or directory
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/text.json" 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: tile table {{.*}}text.json: not JSON: {{.*}}Invalid JSON value
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/live-fraction.json" 2>&1 | FileCheck %s --check-prefix=LIVE-FRACTION
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/list.json" 2>&1 | FileCheck %s --check-prefix=LIVE-FRACTION
// LIVE-FRACTION: error: {{.*}}: a tile table is an object with a live fraction in (0, 1] and a list of entries
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/name.json" 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: {{.*}}: entry 1 names no element type
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/zero.json" 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: {{.*}}: entry 0 (any) needs a chunk of 1 to 4096
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/missing.json" 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: {{.*}}: entry 0 (any) needs a window of 1 to 4096
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/any.json" 2>&1 | FileCheck %s --check-prefix=ANY
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/any-form.json" 2>&1 | FileCheck %s --check-prefix=ANY
// ANY: error: {{.*}}: no entry is for element type any and all forms, and not timed
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/form.json" 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: {{.*}}: entry 0 (any) is of form dense, parallel, reduced or parts, not sparse
// RUN: not pit-opt %t/ok.mlir -pit-tile-dense="tile-table=%t/by.json" 2>&1 | FileCheck %s --check-prefix=BY
// BY: error: {{.*}}: entries are chosen by marked or by inputs, not by outputs
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/elements.json" 2>&1 | FileCheck %s --check-prefix=ELEMENTS
// ELEMENTS: error: {{.*}}: a tile has at least 1 element, not -4
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/group.json" 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: error: {{.*}}: entry 0 (any) has a group of 1 to 4096, or 0 for none
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/processors.json" 2>&1 | FileCheck %s --check-prefix=PROCESSORS
// PROCESSORS: error: {{.*}}: a machine has at least 1 processor, not -1
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/no-processors.json" 2>&1 | FileCheck %s --check-prefix=NO-PROCESSORS
// NO-PROCESSORS: error: {{.*}}: entry 0 (f32) is timed, but the table does not say how many processors there are
// RUN: not pit-opt %t/ok.mlir -pit-tile-dense="tile-table=%t/step.json" 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: error: {{.*}}: entry 0 (f32) takes -7 cycles (step); 1 to 1000000, or 0 for what is not known
// RUN: not pit-opt %t/ok.mlir -pit-tile-dense="tile-table=%t/fixed.json" 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED: error: {{.*}}: entry 0 (f32) takes 2000000 cycles (fixed); 1 to 1000000, or 0 for what is not known
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/any-timed.json" 2>&1 | FileCheck %s --check-prefix=ANY
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/kind.json" 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: {{.*}}: entry (avx2 f32) is for a kind of CPU, as only entries of the built-in table are; this table is for one, so leave out the kind
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/key.json" 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: {{.*}}: entry 0 (any) has "colums"; it may have element, form, vector, rows, chunk,
// RUN: not pit-opt %t/ok.mlir -pit-plan="tile-table=%t/versions.json" 2>&1 | FileCheck %s --check-prefix=VERSIONS
// VERSIONS: error: {{.*}}: versions needs a positive alike
// RUN: not pit-opt %t/ok.mlir -pit-plan=target=tpu 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: tpu

//--- ok.mlir
// The entry is that of the marked operand's element type.
// TABLE-LABEL: func.func @f32
// TABLE: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [6, 1], tile = [6, 24, 10]>}
// UNORDERED-LABEL: func.func @f32
// UNORDERED: pit.index %{{.*}} unordered : tensor<?x?xf32> ->
func.func @f32(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
// TABLE-LABEL: func.func @f16
// TABLE: linalg.batch_matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [1, 1, *], tile = [1, 4, 16, 12]>}
// UNORDERED-LABEL: func.func @f16
// UNORDERED: pit.index lengths %{{.*}} shape({{.*}}) unordered : tensor<?xi32> ->
func.func @f16(%a: tensor<?x?x?xf16>, %b: tensor<?x?x?xf16>, %c: tensor<?x?x?xf32>, %l: tensor<?xi32>) -> tensor<?x?x?xf32> {
  %s = pit.sparse %a lengths(%l : tensor<?xi32>) : tensor<?x?x?xf16>
  %r = linalg.batch_matmul ins(%s, %b : tensor<?x?x?xf16>, tensor<?x?x?xf16>) outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
// TABLE-LABEL: func.func @conv
// TABLE: linalg.conv_2d_nchw_fchw {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [1, 1, 6, 6], tile = [1, 6, 4, 4, 10, 3, 3]>}
func.func @conv(%x: tensor<?x?x?x?xf32>, %w: tensor<?x?x3x3xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %s = pit.sparse %x : tensor<?x?x?x?xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%s, %w : tensor<?x?x?x?xf32>, tensor<?x?x3x3xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

//--- conflicts.mlir
!t = tensor<?x?xf32>
!h = tensor<?x?xbf16>
!i = tensor<?x?xi32>
!z = tensor<?xcomplex<f32>>
// Parts of rows add to the same outputs. In which order shows in floats.
// CHECK-LABEL: func.func @floats
// ATOMIC: tile = [64, 128, 48], conflicts = atomic>
// DETERMINISTIC: tile = [64, 128, 48], conflicts = two_phase>
// TWO-PHASE: tile = [64, 128, 48], conflicts = two_phase>
// ROUNDED: tile = [64, 128, 48], conflicts = atomic>
func.func @floats(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 48]>) : !t
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}
// Parts of what is narrower than its sums may be rounded.
// CHECK-LABEL: func.func @halves
// ATOMIC: conflicts = atomic>
// DETERMINISTIC: conflicts = two_phase>
// TWO-PHASE: conflicts = two_phase>
// ROUNDED: conflicts = two_phase_rounded>
// ROUNDED-DETERMINISTIC: func.func @halves
// ROUNDED-DETERMINISTIC: conflicts = two_phase_rounded>
func.func @halves(%a: !h, %b: !h, %c: !h) -> !h {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 48]>) : !h
  %r = linalg.matmul ins(%s, %b : !h, !h) outs(%c : !h) -> !h
  return %r : !h
}
// CHECK-LABEL: func.func @integers
// ATOMIC: conflicts = atomic>
// DETERMINISTIC: conflicts = atomic>
// TWO-PHASE: conflicts = two_phase>
func.func @integers(%a: !i, %b: !i, %c: !i) -> !i {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 48]>) : !i
  %r = linalg.matmul ins(%s, %b : !i, !i) outs(%c : !i) -> !i
  return %r : !i
}
// No memory adds complex numbers in one step.
// CHECK-LABEL: func.func @complex
// CHECK: conflicts = sequential>
func.func @complex(%a: !t, %b: !z, %c: !z) -> !z {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 48]>) : !t
  %r = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%s, %b : !t, !z) outs(%c : !z) {
  ^bb0(%x: f32, %y: complex<f32>, %o: complex<f32>):
    %zero = arith.constant 0.0 : f32
    %none = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
    %is = arith.cmpf une, %x, %zero : f32
    %p = arith.select %is, %y, %none : complex<f32>
    %q = complex.add %o, %p : complex<f32>
    linalg.yield %q : complex<f32>
  } -> !z
  return %r : !z
}
// What the user insists on is kept.
// CHECK-LABEL: func.func @user
// CHECK: conflicts = sequential>
func.func @user(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 48], conflicts = sequential>) : !t
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}
// Partial results of 2048 groups of 8192 rows would not fit in memory; nor are
// there two phases if groups conflict along some dims only.
// CHECK-LABEL: func.func @large
// ATOMIC: conflicts = atomic>
// DETERMINISTIC: conflicts = sequential>
// TWO-PHASE: conflicts = sequential>
func.func @large(%a: tensor<8192x8192xf32>, %b: tensor<8192x8192xf32>, %c: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 4]>) : tensor<8192x8192xf32>
  %r = linalg.matmul ins(%s, %b : tensor<8192x8192xf32>, tensor<8192x8192xf32>) outs(%c : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  return %r : tensor<8192x8192xf32>
}
// CHECK-LABEL: func.func @batches
// ATOMIC: conflicts = atomic>
// DETERMINISTIC: conflicts = sequential>
// TWO-PHASE: conflicts = sequential>
func.func @batches(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [1, 1, 48]>) : tensor<?x?x?xf32>
  %r = linalg.batch_matmul ins(%s, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
// If two phases are not possible, nothing is rounded.
// ROUNDED-LABEL: func.func @large_halves
// ROUNDED: conflicts = atomic>
// ROUNDED-DETERMINISTIC-LABEL: func.func @large_halves
// ROUNDED-DETERMINISTIC: conflicts = sequential>
func.func @large_halves(%a: tensor<8192x8192xbf16>, %b: tensor<8192x8192xbf16>, %c: tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 4]>) : tensor<8192x8192xbf16>
  %r = linalg.matmul ins(%s, %b : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) outs(%c : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  return %r : tensor<8192x8192xbf16>
}
// ROUNDED-LABEL: func.func @batches_of_halves
// ROUNDED: conflicts = atomic>
// ROUNDED-DETERMINISTIC-LABEL: func.func @batches_of_halves
// ROUNDED-DETERMINISTIC: conflicts = sequential>
func.func @batches_of_halves(%a: tensor<?x?x?xbf16>, %b: tensor<?x?x?xbf16>, %c: tensor<?x?x?xbf16>) -> tensor<?x?x?xbf16> {
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [1, 1, 48]>) : tensor<?x?x?xbf16>
  %r = linalg.batch_matmul ins(%s, %b : tensor<?x?x?xbf16>, tensor<?x?x?xbf16>) outs(%c : tensor<?x?x?xbf16>) -> tensor<?x?x?xbf16>
  return %r : tensor<?x?x?xbf16>
}
// A token has parts for its slots, not for all experts.
// CHECK-LABEL: func.func @slots
// ATOMIC: conflicts = atomic>
// DETERMINISTIC: conflicts = two_phase>
// TWO-PHASE: conflicts = two_phase>
func.func @slots(%x: tensor<?x64xf32>, %w: tensor<1024x64x2048xf32>, %c: tensor<?x2048xf32>, %r: tensor<?x1024xf32>, %a: tensor<?x8xi32>) -> tensor<?x2048xf32> {
  %s = pit.sparse %r routing(%a : tensor<?x8xi32>) : tensor<?x1024xf32>
  %o = linalg.generic {
      indexing_maps = [affine_map<(t, e, k, n) -> (t, e)>, affine_map<(t, e, k, n) -> (t, k)>,
                       affine_map<(t, e, k, n) -> (e, k, n)>, affine_map<(t, e, k, n) -> (t, n)>],
      iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%s, %x, %w : tensor<?x1024xf32>, tensor<?x64xf32>, tensor<1024x64x2048xf32>) outs(%c : tensor<?x2048xf32>) {
  ^bb0(%g: f32, %p: f32, %q: f32, %v: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.mulf %g, %0 : f32
    %2 = arith.addf %v, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x2048xf32>
  return %o : tensor<?x2048xf32>
}
// With one slot no two experts share a token.
// CHECK-LABEL: func.func @one_slot
// CHECK: conflicts = disjoint>
func.func @one_slot(%x: tensor<?x64xf32>, %w: tensor<8x64x2048xf32>, %c: tensor<?x2048xf32>, %r: tensor<?x8xf32>, %a: tensor<?x1xi32>) -> tensor<?x2048xf32> {
  %s = pit.sparse %r routing(%a : tensor<?x1xi32>) : tensor<?x8xf32>
  %o = linalg.generic {
      indexing_maps = [affine_map<(t, e, k, n) -> (t, e)>, affine_map<(t, e, k, n) -> (t, k)>,
                       affine_map<(t, e, k, n) -> (e, k, n)>, affine_map<(t, e, k, n) -> (t, n)>],
      iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%s, %x, %w : tensor<?x8xf32>, tensor<?x64xf32>, tensor<8x64x2048xf32>) outs(%c : tensor<?x2048xf32>) {
  ^bb0(%g: f32, %p: f32, %q: f32, %v: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.mulf %g, %0 : f32
    %2 = arith.addf %v, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x2048xf32>
  return %o : tensor<?x2048xf32>
}
// Whole rows do not conflict.
// CHECK-LABEL: func.func @rows
// CHECK: tile = [64, 128, 64]>
func.func @rows(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : !t
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

//--- strict.mlir
!t = tensor<?x?xf32>
!h = tensor<?x?xf16>
!m = tensor<?x?xi1>

// Sums of integers have one value, in whichever order.
// CHECK-LABEL: func.func @integers
// CHECK: pit.rule = #pit.rule<operand = 0, axis = 1
func.func @integers(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %s = pit.sparse %a : tensor<?x?xi8>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// CHECK-LABEL: func.func @max
// CHECK: pit.rule = #pit.rule<operand = 0, axis = 1
func.func @max(%a: !t, %c: tensor<?xf32>) -> tensor<?xf32> {
  %s = pit.sparse %a background(0xFF800000 : f32) : !t
  %r = linalg.reduce ins(%s : !t) outs(%c : tensor<?xf32>) dimensions = [1] (%x: f32, %o: f32) {
    %q = arith.maximumf %o, %x : f32
    linalg.yield %q : f32
  }
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @floats
// CHECK-NOT: #pit.rule<
func.func @floats(%a: !t, %b: !t, %c: !t) -> !t {
  %s = pit.sparse %a : !t
  // expected-remark @+1 {{stays dense: operand 0, axis 0: skipping operand 0 is not legal [S3]: result 0 yields a value of arith.addf; operand 0, axis 1: summing floats in another order changes bits (strict)}}
  %r = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// Which outputs are computed does not change them.
// CHECK-LABEL: func.func @result
// CHECK: pit.rule = #pit.rule<operand = 2,
func.func @result(%a: !t, %b: !t, %c: !t, %m: !m) -> !t {
  %r = linalg.matmul ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  %s = pit.sparse %r mask(%m : !m) : !t
  return %s : !t
}

// CHECK-LABEL: func.func @narrow
// CHECK-NOT: #pit.rule<
func.func @narrow(%a: !h, %b: !h, %c: !h, %m: !m) -> !h {
  // expected-remark @+1 {{narrow floats are summed in f32 (strict)}}
  %r = linalg.matmul ins(%a, %b : !h, !h) outs(%c : !h) -> !h
  %s = pit.sparse %r mask(%m : !m) : !h
  return %s : !h
}

// CHECK-LABEL: func.func @two_dims
// CHECK-NOT: #pit.rule<
func.func @two_dims(%x: tensor<?x?x?x?xf32>, %w: tensor<?x?x3x3xf32>, %c: tensor<?x?x?x?xf32>, %m: tensor<?x?x?x?xi1>) -> tensor<?x?x?x?xf32> {
  // expected-remark @+1 {{tiles of several reduced dims are summed in another order (strict)}}
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<?x?x?x?xf32>, tensor<?x?x3x3xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %s = pit.sparse %r mask(%m : tensor<?x?x?x?xi1>) : tensor<?x?x?x?xf32>
  return %s : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: func.func @factor
// CHECK-NOT: #pit.rule<
func.func @factor(%a: !t, %b: !t, %g: tensor<?xf32>, %c: !t, %m: !m) -> !t {
  // expected-remark @+1 {{a factor leaves the sum, which rounds differently (strict)}}
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b, %g : !t, !t, tensor<?xf32>) outs(%c : !t) {
  ^bb0(%x: f32, %y: f32, %w: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.mulf %p, %w : f32
    %z = arith.addf %o, %q : f32
    linalg.yield %z : f32
  } -> !t
  %s = pit.sparse %r mask(%m : !m) : !t
  return %s : !t
}

//--- key.json
{"live_fraction": 0.1, "entries": [{"element": "any", "vector": 64, "rows": 16, "chunk": 32, "reduced": 32, "window": 4, "colums": 8}]}

//--- versions.json
{"live_fraction": 0.1, "versions": {"alike": 0}, "entries": [{"element": "any", "vector": 64, "rows": 16, "chunk": 32, "reduced": 32, "window": 4}]}

//--- text.json
tiles
//--- live-fraction.json
{"live_fraction": 0, "entries": []}
//--- list.json
[1, 2]
//--- name.json
{"live_fraction": 1, "entries": [{"element": "any", "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}, {"vector": 1}]}
//--- zero.json
{"live_fraction": 1, "entries": [{"element": "any", "vector": 1, "rows": 1, "chunk": 0, "reduced": 1, "window": 1}]}
//--- missing.json
{"live_fraction": 1, "entries": [{"element": "any", "vector": 1, "rows": 1, "chunk": 1, "reduced": 1}]}
//--- any.json
{"live_fraction": 1, "entries": [{"element": "f32", "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}]}
//--- any-form.json
{"live_fraction": 1, "entries": [{"form": "dense", "element": "any", "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}]}
//--- kind.json
{"live_fraction": 1, "entries": [{"element": "avx2 f32", "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1},
                           {"element": "any", "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}]}
//--- form.json
{"live_fraction": 1, "entries": [{"form": "sparse", "element": "any", "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}]}
//--- by.json
{"live_fraction": 1, "by": "outputs", "entries": [{"element": "any", "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}]}
//--- elements.json
{"live_fraction": 1, "elements": -4, "entries": [{"element": "any", "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}]}
//--- group.json
{"live_fraction": 1, "entries": [{"group": 5000, "element": "any", "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}]}
//--- processors.json
{"live_fraction": 1, "processors": -1, "entries": [{"element": "any", "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}]}
//--- no-processors.json
{"live_fraction": 1, "entries": [{"element": "f32", "step": 9, "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}]}
//--- step.json
{"live_fraction": 1, "entries": [{"element": "f32", "step": -7, "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}]}
//--- fixed.json
{"live_fraction": 1, "entries": [{"element": "f32", "fixed": 2000000, "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}]}
//--- any-timed.json
{"live_fraction": 1, "processors": 4, "entries": [{"element": "any", "step": 9, "vector": 1, "rows": 1, "chunk": 1, "reduced": 1, "window": 1}]}
