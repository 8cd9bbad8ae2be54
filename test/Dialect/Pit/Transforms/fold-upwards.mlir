// Reads of whole tensors that move before the ops whose results they read.

// RUN: pit-opt %s -pit-fold -cse -split-input-file | FileCheck %s
// RUN: pit-opt %s -pit-fold -cse -pit-tile -canonicalize -cse -split-input-file -o /dev/null

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// Someone else needs the unpacked value.
// CHECK-LABEL: func.func @other_user
// CHECK: %[[E:.*]] = linalg.exp
// CHECK: pit.sread %[[E]]
func.func @other_user(%x: tensor<?x64xf32>, %i: !rows, %e: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %0 = linalg.exp ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = pit.sread %0[%i : !rows] : tensor<?x64xf32> -> tensor<?x64xf32>
  return %0, %p : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// Two reads by one index are one; by two, the op would run twice.
// CHECK-LABEL: func.func @two_reads
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x64xf32>, %[[I:[^:]*]]: !pit.index
// CHECK: %[[P:.*]] = pit.sread %[[X]][%[[I]]
// CHECK: %[[E:.*]] = linalg.exp ins(%[[P]] :
// CHECK: %[[F:.*]] = linalg.tanh ins(%[[X]] :
// CHECK-DAG: %[[A:.*]] = pit.sread %[[F]][%[[I]]
// CHECK-DAG: %[[B:.*]] = pit.sread %[[F]][%{{.*}}
// CHECK: return %[[E]], %[[E]],
func.func @two_reads(%x: tensor<?x64xf32>, %i: !rows, %j: !rows, %e: tensor<?x64xf32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  %0 = linalg.exp ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = pit.sread %0[%i : !rows] : tensor<?x64xf32> -> tensor<?x64xf32>
  %q = pit.sread %0[%i : !rows] dims[0, 1] : tensor<?x64xf32> -> tensor<?x64xf32>
  %1 = linalg.tanh ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = pit.sread %1[%i : !rows] : tensor<?x64xf32> -> tensor<?x64xf32>
  %s = pit.sread %1[%j : !rows] : tensor<?x64xf32> -> tensor<?x64xf32>
  return %p, %q, %r, %s : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// What has rows only is packed as well; what has none stays.
// CHECK-LABEL: func.func @row_scale
// CHECK-SAME: (%[[X:[^:]*]]: tensor<100x64xf32>, %[[S:[^:]*]]: tensor<100xf32>, %[[B:[^:]*]]: tensor<64xf32>
// CHECK-DAG: %[[PX:.*]] = pit.sread %[[X]][{{.*}}] : tensor<100x64xf32> -> tensor<?x64xf32>
// CHECK-DAG: %[[PS:.*]] = pit.sread %[[S]][{{.*}}] dims[0, -1] : tensor<100xf32> -> tensor<?xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[PX]], %[[PS]], %[[B]] : tensor<?x64xf32>, tensor<?xf32>, tensor<64xf32>) outs(%{{.*}} : tensor<?x64xf32>)
// CHECK: %[[C:.*]] = tensor.cast %[[R]] : tensor<?x64xf32> to tensor<10x64xf32>
// CHECK: return %[[C]]
func.func @row_scale(%x: tensor<100x64xf32>, %s: tensor<100xf32>, %b: tensor<64xf32>, %i: !rows) -> tensor<10x64xf32> {
  %e = tensor.empty() : tensor<100x64xf32>
  %0 = linalg.generic {indexing_maps = [#mn, #m, #n, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%x, %s, %b : tensor<100x64xf32>, tensor<100xf32>, tensor<64xf32>) outs(%e : tensor<100x64xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %q = arith.addf %p, %d : f32
    linalg.yield %q : f32
  } -> tensor<100x64xf32>
  %1 = tensor.cast %0 : tensor<100x64xf32> to tensor<?x64xf32>
  %p = pit.sread %1[%i : !rows] : tensor<?x64xf32> -> tensor<10x64xf32>
  return %p : tensor<10x64xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// Ops in which rows depend on each other, or on where they are.
// CHECK-LABEL: func.func @not_up
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<100x100xf32>) outs(%{{.*}} : tensor<100x64xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<100x64xf32>) outs(%{{.*}} : tensor<100x64xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<102x64xf32>, tensor<3xf32>) outs(%{{.*}} : tensor<100x64xf32>)
func.func @not_up(%q: tensor<100x100xf32>, %x: tensor<100x64xf32>, %w: tensor<102x64xf32>, %k: tensor<3xf32>, %i: !rows) -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  %e = tensor.empty() : tensor<100x64xf32>
  // The packed dim occurs twice.
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
         ins(%q : tensor<100x100xf32>) outs(%e : tensor<100x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<100x64xf32>
  %p0 = pit.sread %0[%i : !rows] : tensor<100x64xf32> -> tensor<?x64xf32>
  // The body asks for the row.
  %1 = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<100x64xf32>) outs(%e : tensor<100x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = linalg.index 0 : index
    %mi = arith.index_cast %m : index to i32
    %mf = arith.sitofp %mi : i32 to f32
    %s = arith.addf %a, %mf : f32
    linalg.yield %s : f32
  } -> tensor<100x64xf32>
  %p1 = pit.sread %1[%i : !rows] : tensor<100x64xf32> -> tensor<?x64xf32>
  // A filter along the rows.
  %2 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m + k, n)>, affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%w, %k : tensor<102x64xf32>, tensor<3xf32>) outs(%e : tensor<100x64xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %t = arith.mulf %a, %c : f32
    %s = arith.addf %t, %o : f32
    linalg.yield %s : f32
  } -> tensor<100x64xf32>
  %p2 = pit.sread %2[%i : !rows] : tensor<100x64xf32> -> tensor<?x64xf32>
  return %p0, %p1, %p2 : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// The op waits for the index.
// CHECK-LABEL: func.func @late_index
// CHECK-NEXT: %[[I:.*]] = pit.index mask
// CHECK: %[[P:.*]] = pit.sread %{{.*}}[%[[I]]
// CHECK: linalg.exp ins(%[[P]] :
func.func @late_index(%x: tensor<?x64xf32>, %m: tensor<?x64xi8>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = linalg.exp ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %i = pit.index mask %m : tensor<?x64xi8> -> !rows
  %p = pit.sread %0[%i : !rows] : tensor<?x64xf32> -> tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// An index of the result itself needs it unpacked.
// CHECK-LABEL: func.func @own_index
// CHECK: %[[E:.*]] = linalg.exp
// CHECK: pit.sread %[[E]]
func.func @own_index(%x: tensor<?x64xf32>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = linalg.exp ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %i = pit.index %0 : tensor<?x64xf32> -> !rows
  %p = pit.sread %0[%i : !rows] : tensor<?x64xf32> -> tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}

// -----

!routed = !pit.index<micro_tile = [1, 1], axis = 0>

// Groups and axis become one dim. What has only some of them cannot be packed.
// CHECK-DAG: #[[$PF:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$P:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[$F:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @groups
// CHECK-SAME: (%[[X:[^:]*]]: tensor<10x8x64xf32>, %[[R:[^:]*]]: tensor<8x10xf32>, %[[B:[^:]*]]: tensor<64xf32>, %[[C:[^:]*]]: tensor<8x64xf32>, %[[I:[^:]*]]: !pit.index
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[C]] :
// CHECK-DAG: %[[PA:.*]] = pit.sread %[[A]][%[[I]] : {{.*}}] : tensor<10x8x64xf32> -> tensor<?x64xf32>
// CHECK-DAG: %[[PR:.*]] = pit.sread %[[R]][%[[I]] : {{.*}}] dims[1, 0] : tensor<8x10xf32> -> tensor<?xf32>
// CHECK: linalg.generic {indexing_maps = [#[[$PF]], #[[$P]], #[[$F]], #[[$PF]]], iterator_types = ["parallel", "parallel"]} ins(%[[PA]], %[[PR]], %[[B]] :
// CHECK: linalg.index 1
func.func @groups(%x: tensor<10x8x64xf32>, %r: tensor<8x10xf32>, %b: tensor<64xf32>, %c: tensor<8x64xf32>, %i: !routed) -> tensor<?x64xf32> {
  %e = tensor.empty() : tensor<10x8x64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(t, e, f) -> (t, e, f)>, affine_map<(t, e, f) -> (e, f)>, affine_map<(t, e, f) -> (t, e, f)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%x, %c : tensor<10x8x64xf32>, tensor<8x64xf32>) outs(%e : tensor<10x8x64xf32>) {
  ^bb0(%a: f32, %d: f32, %o: f32):
    %s = arith.addf %a, %d : f32
    linalg.yield %s : f32
  } -> tensor<10x8x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(t, e, f) -> (t, e, f)>, affine_map<(t, e, f) -> (e, t)>, affine_map<(t, e, f) -> (f)>,
                                        affine_map<(t, e, f) -> (t, e, f)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%0, %r, %b : tensor<10x8x64xf32>, tensor<8x10xf32>, tensor<64xf32>) outs(%e : tensor<10x8x64xf32>) {
  ^bb0(%a: f32, %d: f32, %g: f32, %o: f32):
    %f = linalg.index 2 : index
    %fi = arith.index_cast %f : index to i32
    %ff = arith.sitofp %fi : i32 to f32
    %s = arith.mulf %a, %d : f32
    %t = arith.addf %s, %g : f32
    %u = arith.addf %t, %ff : f32
    linalg.yield %u : f32
  } -> tensor<10x8x64xf32>
  %p = pit.sread %1[%i : !routed] : tensor<10x8x64xf32> -> tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}

// -----

!tokens = !pit.index<micro_tile = [1, 1, *], axis = 1>
!rows = !pit.index<micro_tile = [1, *], axis = 0>

// A mark that selects all of what is packed goes; a mask that may select part of
// it is packed.
// CHECK-LABEL: func.func @marks
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4x10x64xf32>, %[[L:[^:]*]]: tensor<4xi32>, %[[Y:[^:]*]]: tensor<10x64xf32>, %[[M:[^:]*]]: tensor<10x64xi1>
// CHECK-DAG: %[[I:.*]] = pit.index lengths
// CHECK-DAG: %[[J:.*]] = pit.index mask
// CHECK-DAG: %[[PX:.*]] = pit.sread %[[X]][%[[I]] : {{.*}}] : tensor<4x10x64xf32> -> tensor<?x64xf32>
// CHECK-DAG: %[[PY:.*]] = pit.sread %[[Y]][%[[J]] : {{.*}}] : tensor<10x64xf32> -> tensor<?x64xf32>
// CHECK-DAG: %[[PM:.*]] = pit.sread %[[M]][%[[J]] : {{.*}}] : tensor<10x64xi1> -> tensor<?x64xi1>
// CHECK: %[[S:.*]] = pit.sparse %[[PY]] mask(%[[PM]] : tensor<?x64xi1>) background(1.000000e+00 : f32)
// CHECK: %[[O:.*]] = pit.sparse %[[X]] lengths
// CHECK: %[[PO:.*]] = pit.sread %[[O]]
// CHECK: return %[[PX]], %[[S]], %[[PO]]
func.func @marks(%x: tensor<4x10x64xf32>, %l: tensor<4xi32>, %y: tensor<10x64xf32>, %m: tensor<10x64xi1>, %other: tensor<4xi32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  %i = pit.index lengths %l shape(%c4, %c10, %c64) : tensor<4xi32> -> !tokens
  %j = pit.index mask %m : tensor<10x64xi1> -> !rows
  %0 = pit.sparse %x lengths(%l : tensor<4xi32>) : tensor<4x10x64xf32>
  %1 = pit.sparse %0 index(%i : !tokens) assume : tensor<4x10x64xf32>
  %p = pit.sread %1[%i : !tokens] : tensor<4x10x64xf32> -> tensor<?x64xf32>
  %2 = pit.sparse %y mask(%m : tensor<10x64xi1>) background(1.0 : f32) : tensor<10x64xf32>
  %q = pit.sread %2[%j : !rows] : tensor<10x64xf32> -> tensor<?x64xf32>
  %3 = pit.sparse %x lengths(%other : tensor<4xi32>) : tensor<4x10x64xf32>
  %r = pit.sread %3[%i : !tokens] : tensor<4x10x64xf32> -> tensor<?x64xf32>
  return %p, %q, %r : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}
