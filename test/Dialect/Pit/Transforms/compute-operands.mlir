// RUN: pit-opt %s -split-input-file -pit-compute-operands=explain=true -verify-diagnostics | FileCheck %s

#row = affine_map<(n, k) -> (n)>
#nk = affine_map<(n, k) -> (n, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#x = affine_map<(m, n, k) -> (m, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// 8-bit weights with a scale for each row, second operand of few rows [K1 to K5].
// CHECK-LABEL: func @scaled(
// CHECK-SAME: %[[X:.*]]: tensor<9x128xf16>, %[[Q:.*]]: tensor<?x128xi8>, %[[S:.*]]: tensor<?xf16>
// CHECK: pit.forall (%[[N:.*]]) = {{.*}} step (64)
// CHECK:   pit.for (%[[K:.*]]) = {{.*}} step (64)
// CHECK-DAG: %[[QT:.*]] = pit.sread %[[Q]][%[[N]], %[[K]]] : tensor<?x128xi8> -> tensor<64x64xi8>
// CHECK-DAG: %[[ST:.*]] = pit.sread %[[S]][%[[N]]] : tensor<?xf16> -> tensor<64xf16>
// CHECK:     %[[WT:.*]] = linalg.generic {{.*}} ins(%[[QT]], %[[ST]] :
// CHECK:       arith.mulf
// CHECK:     linalg.generic {{.*}} ins(%{{.*}}, %[[WT]] : tensor<16x64xf16>, tensor<64x64xf16>) outs(%{{.*}} : tensor<16x64xf32>)
// CHECK:   pit.swrite %{{.*}} : tensor<16x64xf32> into tensor<9x?xf32>
func.func @scaled(%a: tensor<9x128xf16>, %q: tensor<?x128xi8>, %s: tensor<?xf16>, %we: tensor<?x128xf16>,
                  %ye: tensor<9x?xf32>) -> tensor<9x?xf32> {
  %zero = arith.constant 0.0 : f32
  %b = linalg.generic {indexing_maps = [#nk, #row, #nk], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<?x128xi8>, tensor<?xf16>) outs(%we : tensor<?x128xf16>) {
  ^bb0(%u: i8, %v: f16, %o: f16):
    %f = arith.sitofp %u : i8 to f16
    %r = arith.mulf %f, %v : f16
    linalg.yield %r : f16
  } -> tensor<?x128xf16>
  %init = linalg.fill ins(%zero : f32) outs(%ye : tensor<9x?xf32>) -> tensor<9x?xf32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<9x128xf16>, tensor<?x128xf16>) outs(%init : tensor<9x?xf32>) {
  ^bb0(%u: f16, %v: f16, %o: f32):
    %uw = arith.extf %u : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %p = arith.mulf %uw, %vw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<9x?xf32>
  return %y : tensor<9x?xf32>
}

// -----

#nk = affine_map<(n, k) -> (n, k)>
#w = affine_map<(n, m, k) -> (n, k)>
#x = affine_map<(n, m, k) -> (m, k)>
#y = affine_map<(n, m, k) -> (m, n)>

// What the body reads at places that it computes, and where it is: the tile's place is added.
// CHECK-LABEL: func @places(
// CHECK-SAME: %[[V:.*]]: tensor<?xbf16>,
// CHECK: pit.forall (%[[N:.*]]) = {{.*}} step (64)
// CHECK:   pit.for (%[[K:.*]]) = {{.*}} step (48)
// CHECK:     linalg.generic {{.*}} outs(%{{.*}} : tensor<64x48xbf16>)
// CHECK:       %[[I:.*]] = linalg.index 0
// CHECK:       arith.addi %[[I]], %[[N]]
// CHECK:       tensor.extract %[[V]]
func.func @places(%v: tensor<?xbf16>, %b: tensor<32x96xbf16>, %we: tensor<200x96xbf16>, %init: tensor<32x200xf32>)
    -> tensor<32x200xf32> {
  %a = linalg.generic {indexing_maps = [#nk], iterator_types = ["parallel", "parallel"]}
      outs(%we : tensor<200x96xbf16>) {
  ^bb0(%o: bf16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %at = arith.addi %i, %j : index
    %r = tensor.extract %v[%at] : tensor<?xbf16>
    linalg.yield %r : bf16
  } -> tensor<200x96xbf16>
  %y = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<200x96xbf16>, tensor<32x96xbf16>) outs(%init : tensor<32x200xf32>) {
  ^bb0(%u: bf16, %t: bf16, %o: f32):
    %uw = arith.extf %u : bf16 to f32
    %tw = arith.extf %t : bf16 to f32
    %p = arith.mulf %uw, %tw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<32x200xf32>
  return %y : tensor<32x200xf32>
}

// -----

#nk = affine_map<(n, k) -> (n, k)>
#w = affine_map<(n, m, k) -> (n, k)>
#x = affine_map<(n, m, k) -> (m, k)>
#y = affine_map<(n, m, k) -> (m, n)>

// Somebody else has the operand, too [K2].
// CHECK-LABEL: func @used_twice(
// CHECK-NOT: pit.for
func.func @used_twice(%q: tensor<64x128xi8>, %b: tensor<8x128xf16>, %we: tensor<64x128xf16>, %init: tensor<8x64xf32>)
    -> (tensor<8x64xf32>, tensor<64x128xf16>) {
  // expected-remark @+1 {{linalg.generic is not computed as it is read: others use it}}
  %a = linalg.generic {indexing_maps = [#nk, #nk], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<64x128xi8>) outs(%we : tensor<64x128xf16>) {
  ^bb0(%u: i8, %o: f16):
    %r = arith.sitofp %u : i8 to f16
    linalg.yield %r : f16
  } -> tensor<64x128xf16>
  %y = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x128xf16>, tensor<8x128xf16>) outs(%init : tensor<8x64xf32>) {
  ^bb0(%u: f16, %t: f16, %o: f32):
    %uw = arith.extf %u : f16 to f32
    %tw = arith.extf %t : f16 to f32
    %p = arith.mulf %uw, %tw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  return %y, %a : tensor<8x64xf32>, tensor<64x128xf16>
}

// -----

#nk = affine_map<(n, k) -> (n, k)>
#w = affine_map<(n, m, k) -> (n, k)>
#x = affine_map<(n, m, k) -> (m, k)>
#y = affine_map<(n, m, k) -> (m, n)>

// An operand of as many bytes [K3].
// CHECK-LABEL: func @as_large(
// CHECK-NOT: pit.for
func.func @as_large(%q: tensor<64x128xi16>, %b: tensor<8x128xf16>, %we: tensor<64x128xf16>, %init: tensor<8x64xf32>)
    -> (tensor<8x64xf32>) {
  %a = linalg.generic {indexing_maps = [#nk, #nk], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<64x128xi16>) outs(%we : tensor<64x128xf16>) {
  ^bb0(%u: i16, %o: f16):
    %r = arith.sitofp %u : i16 to f16
    linalg.yield %r : f16
  } -> tensor<64x128xf16>
  %y = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x128xf16>, tensor<8x128xf16>) outs(%init : tensor<8x64xf32>) {
  ^bb0(%u: f16, %t: f16, %o: f32):
    %uw = arith.extf %u : f16 to f32
    %tw = arith.extf %t : f16 to f32
    %p = arith.mulf %uw, %tw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

#nk = affine_map<(n, k) -> (n, k)>
#w = affine_map<(n, m, k) -> (n, k)>
#x = affine_map<(n, m, k) -> (m, k)>
#y = affine_map<(n, m, k) -> (m, n)>

// Tensor cores multiply no f32 as f32 [K4].
// CHECK-LABEL: func @wide(
// CHECK-NOT: pit.for
func.func @wide(%q: tensor<64x128xi8>, %b: tensor<8x128xf32>, %we: tensor<64x128xf32>, %init: tensor<8x64xf32>)
    -> (tensor<8x64xf32>) {
  // expected-remark @+1 {{linalg.generic is not computed as it is read: tensor cores take elements of f16 or bf16}}
  %a = linalg.generic {indexing_maps = [#nk, #nk], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<64x128xi8>) outs(%we : tensor<64x128xf32>) {
  ^bb0(%u: i8, %o: f32):
    %r = arith.sitofp %u : i8 to f32
    linalg.yield %r : f32
  } -> tensor<64x128xf32>
  %y = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x128xf32>, tensor<8x128xf32>) outs(%init : tensor<8x64xf32>) {
  ^bb0(%u: f32, %t: f32, %o: f32):
    %z = arith.constant 0.0 : f32
    %uw = arith.addf %u, %z : f32
    %tw = arith.addf %t, %z : f32
    %p = arith.mulf %uw, %tw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

#nk = affine_map<(n, k) -> (n, k)>
#w = affine_map<(n, m, k) -> (n, k)>
#x = affine_map<(n, m, k) -> (m, k)>
#y = affine_map<(n, m, k) -> (m, n)>

// No sum [K4].
// CHECK-LABEL: func @largest(
// CHECK-NOT: pit.for
func.func @largest(%q: tensor<64x128xi8>, %b: tensor<8x128xf16>, %we: tensor<64x128xf16>, %init: tensor<8x64xf32>)
    -> (tensor<8x64xf32>) {
  // expected-remark @+1 {{linalg.generic is not computed as it is read: it is no factor of a product of two}}
  %a = linalg.generic {indexing_maps = [#nk, #nk], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<64x128xi8>) outs(%we : tensor<64x128xf16>) {
  ^bb0(%u: i8, %o: f16):
    %r = arith.sitofp %u : i8 to f16
    linalg.yield %r : f16
  } -> tensor<64x128xf16>
  %y = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x128xf16>, tensor<8x128xf16>) outs(%init : tensor<8x64xf32>) {
  ^bb0(%u: f16, %t: f16, %o: f32):
    %uw = arith.extf %u : f16 to f32
    %tw = arith.extf %t : f16 to f32
    %p = arith.mulf %uw, %tw : f32
    %r = arith.maximumf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

#nk = affine_map<(n, k) -> (n, k)>
#w = affine_map<(n, m, k) -> (n, k)>
#x = affine_map<(n, m, k) -> (m, k)>
#y = affine_map<(n, m, k) -> (m, n)>

// Other tiles would compute the same elements [K5].
// CHECK-LABEL: func @many_rows(
// CHECK-NOT: pit.for
func.func @many_rows(%q: tensor<64x128xi8>, %b: tensor<65x128xf16>, %we: tensor<64x128xf16>, %init: tensor<65x64xf32>)
    -> (tensor<65x64xf32>) {
  // expected-remark @+1 {{linalg.generic is not computed as it is read: tiles share its elements: the other operand has rows in several dims, or more than 64, or a number that is not known}}
  %a = linalg.generic {indexing_maps = [#nk, #nk], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<64x128xi8>) outs(%we : tensor<64x128xf16>) {
  ^bb0(%u: i8, %o: f16):
    %r = arith.sitofp %u : i8 to f16
    linalg.yield %r : f16
  } -> tensor<64x128xf16>
  %y = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x128xf16>, tensor<65x128xf16>) outs(%init : tensor<65x64xf32>) {
  ^bb0(%u: f16, %t: f16, %o: f32):
    %uw = arith.extf %u : f16 to f32
    %tw = arith.extf %t : f16 to f32
    %p = arith.mulf %uw, %tw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<65x64xf32>
  return %y : tensor<65x64xf32>
}

// -----

#nk = affine_map<(n, k) -> (n, k)>
#w = affine_map<(n, m, k) -> (n, k)>
#x = affine_map<(n, m, k) -> (m, k)>
#y = affine_map<(n, m, k) -> (m, n)>

// Or may do so [K5].
// CHECK-LABEL: func @unknown_rows(
// CHECK-NOT: pit.for
func.func @unknown_rows(%q: tensor<64x128xi8>, %b: tensor<?x128xf16>, %we: tensor<64x128xf16>, %init: tensor<?x64xf32>)
    -> (tensor<?x64xf32>) {
  // expected-remark @+1 {{linalg.generic is not computed as it is read: tiles share its elements: the other operand has rows in several dims, or more than 64, or a number that is not known}}
  %a = linalg.generic {indexing_maps = [#nk, #nk], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<64x128xi8>) outs(%we : tensor<64x128xf16>) {
  ^bb0(%u: i8, %o: f16):
    %r = arith.sitofp %u : i8 to f16
    linalg.yield %r : f16
  } -> tensor<64x128xf16>
  %y = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x128xf16>, tensor<?x128xf16>) outs(%init : tensor<?x64xf32>) {
  ^bb0(%u: f16, %t: f16, %o: f32):
    %uw = arith.extf %u : f16 to f32
    %tw = arith.extf %t : f16 to f32
    %p = arith.mulf %uw, %tw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

#nk = affine_map<(n, k) -> (n, k)>
#w = affine_map<(n, m, k) -> (n, k)>
#x = affine_map<(n, m, k) -> (m, k)>
#y = affine_map<(n, m, k) -> (m, n)>

// Rows that end within a block [K5].
// CHECK-LABEL: func @odd_depth(
// CHECK-NOT: pit.for
func.func @odd_depth(%q: tensor<64x72xi8>, %b: tensor<8x72xf16>, %we: tensor<64x72xf16>, %init: tensor<8x64xf32>)
    -> (tensor<8x64xf32>) {
  // expected-remark @+1 {{linalg.generic is not computed as it is read: its rows have no multiple of 16 elements, or a number that is not known}}
  %a = linalg.generic {indexing_maps = [#nk, #nk], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<64x72xi8>) outs(%we : tensor<64x72xf16>) {
  ^bb0(%u: i8, %o: f16):
    %r = arith.sitofp %u : i8 to f16
    linalg.yield %r : f16
  } -> tensor<64x72xf16>
  %y = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x72xf16>, tensor<8x72xf16>) outs(%init : tensor<8x64xf32>) {
  ^bb0(%u: f16, %t: f16, %o: f32):
    %uw = arith.extf %u : f16 to f32
    %tw = arith.extf %t : f16 to f32
    %p = arith.mulf %uw, %tw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
