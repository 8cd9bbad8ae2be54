// RUN: pit-opt %s -pit-fuse-row-sums -split-input-file | FileCheck %s

!m = tensor<?x256xbf16>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#turned = affine_map<(i, j) -> (j, i)>

// What scales the rows is read by one, and the other reads something of its own.
// CHECK-LABEL: func.func @points_first(
// CHECK-SAME: %[[X:.*]]: tensor<?x256xbf16>, %[[Y:.*]]: tensor<?x256xbf16>, %[[S:.*]]: tensor<?xf32>, %[[Z:.*]]: tensor<?x256xf32>
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[E]]
// CHECK: %[[R:.*]]:3 = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[Y]], %[[S]], %[[Z]]
// CHECK-SAME: outs(%{{.*}}, %{{.*}}, %[[ZERO]] : tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?xf32>)
// CHECK-NEXT: ^bb0(%{{.*}}: bf16, %{{.*}}: bf16, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: bf16, %{{.*}}: bf16, %[[SUM:.*]]: f32):
// CHECK: arith.addf %[[SUM]]
// CHECK: linalg.yield %{{.*}}, %{{.*}}, %{{.*}} : bf16, bf16, f32
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @points_first(%x: !m, %y: !m, %s: tensor<?xf32>, %z: tensor<?x256xf32>) -> (!m, !m, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : !m
  %e = tensor.empty(%n) : !m
  %p:2 = linalg.generic {indexing_maps = [#id, #id, #row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %s : !m, !m, tensor<?xf32>) outs(%e, %e : !m, !m) {
  ^bb0(%a: bf16, %b: bf16, %c: f32, %o: bf16, %u: bf16):
    %w = arith.extf %a : bf16 to f32
    %t = arith.mulf %w, %c : f32
    %r = arith.truncf %t : f32 to bf16
    %q = arith.mulf %a, %b : bf16
    linalg.yield %r, %q : bf16, bf16
  } -> (!m, !m)
  %v = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%v : tensor<?xf32>) -> tensor<?xf32>
  %d = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y, %z : !m, tensor<?x256xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%b: bf16, %c: f32, %o: f32):
    %w = arith.extf %b : bf16 to f32
    %t = arith.mulf %w, %c : f32
    %u = arith.addf %o, %t : f32
    linalg.yield %u : f32
  } -> tensor<?xf32>
  return %p#0, %p#1, %d : !m, !m, tensor<?xf32>
}

// -----

!m = tensor<4x512xf32>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @sums_first(
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]}
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4x512xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]#1, %[[R]]#0
func.func @sums_first(%x: !m, %f: tensor<4xf32>) -> (!m, tensor<4xf32>) {
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : !m) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.maximumf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  %e = tensor.empty() : !m
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : !m) outs(%e : !m) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %a : f32
    linalg.yield %t : f32
  } -> !m
  return %p, %s : !m, tensor<4xf32>
}

// -----

!m = tensor<4x512xf32>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// One needs what the other one gives, itself or what is made of it.
// CHECK-LABEL: func.func @softmax_like(
// CHECK-COUNT-2: linalg.generic
// CHECK: return
func.func @softmax_like(%x: !m, %f: tensor<4xf32>) -> (!m, tensor<4xf32>) {
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : !m) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.maximumf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  %e = tensor.empty() : !m
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : !m, tensor<4xf32>) outs(%e : !m) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> !m
  return %p, %s : !m, tensor<4xf32>
}

// CHECK-LABEL: func.func @through_another(
// CHECK-COUNT-3: linalg.generic
// CHECK: return
func.func @through_another(%x: !m, %f: tensor<4xf32>) -> (!m, tensor<4xf32>) {
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : !m) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.addf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  %v = tensor.empty() : tensor<4xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s : tensor<4xf32>) outs(%v : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = math.sqrt %a : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  %e = tensor.empty() : !m
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %h : !m, tensor<4xf32>) outs(%e : !m) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> !m
  return %p, %s : !m, tensor<4xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#turned = affine_map<(i, j) -> (j, i)>

// Rows are short, or of a length that is not known; an operand is another one, or read in
// another order; nobody knows how partial results are put together.
// CHECK-LABEL: func.func @not(
// CHECK-COUNT-6: linalg.generic
// CHECK: return
func.func @not(%x: tensor<4x128xf32>, %z: tensor<512x512xf32>, %y: tensor<512x512xf32>, %f: tensor<4xf32>, %g: tensor<512xf32>)
    -> (tensor<4x128xf32>, tensor<4xf32>, tensor<512x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>) {
  %e = tensor.empty() : tensor<4x128xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x128xf32>) outs(%e : tensor<4x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %a : f32
    linalg.yield %t : f32
  } -> tensor<4x128xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x128xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.addf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  %d = tensor.empty() : tensor<512x512xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<512x512xf32>) outs(%d : tensor<512x512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %a : f32
    linalg.yield %t : f32
  } -> tensor<512x512xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<512x512xf32>) outs(%g : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.addf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<512xf32>
  %t = linalg.generic {indexing_maps = [#turned, #row], iterator_types = ["parallel", "reduction"]}
      ins(%z : tensor<512x512xf32>) outs(%g : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.addf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<512xf32>
  %w = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%z : tensor<512x512xf32>) outs(%g : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.subf %a, %o : f32
    linalg.yield %u : f32
  } -> tensor<512xf32>
  return %p, %s, %q, %r, %t, %w : tensor<4x128xf32>, tensor<4xf32>, tensor<512x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>
}
