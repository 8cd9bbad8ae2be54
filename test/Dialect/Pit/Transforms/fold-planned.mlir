// RUN: pit-opt %s -pit-plan -cse -pit-fold -cse -pit-tile -canonicalize -cse -split-input-file | FileCheck %s

#x = affine_map<(b, s, n, k) -> (b, s, k)>
#w = affine_map<(b, s, n, k) -> (k, n)>
#y = affine_map<(b, s, n, k) -> (b, s, n)>
#bsn = affine_map<(b, s, n) -> (b, s, n)>
#bs = affine_map<(b, s, n) -> (b, s)>
#n = affine_map<(b, s, n) -> (n)>

// From marks to tiles: a batch of sentences, padded to a length, through a
// feed-forward block with layer norm. The rows are read from the batch where
// they are and are packed from then on; nothing is unpacked but the result.
// CHECK-LABEL: func.func @feed_forward
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x?x512xf32>
// CHECK: %[[I:.*]] = pit.index lengths
// CHECK-NOT: = pit.index
// CHECK-NOT: tensor<?x?x2048xf32>
// CHECK-NOT: tensor<?x?xf32>
// CHECK: %[[H1:.*]] = pit.forall {{.*}} -> (tensor<?x2048xf32>) {
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %[[I]]
// CHECK: pit.sread %[[X]][%{{.*}}, %[[IDS]] : !pit.ids
// CHECK: %[[H2:.*]] = linalg.generic {{.*}} ins(%[[H1]], %{{.*}} : tensor<?x2048xf32>,
// CHECK: %[[SUMS:.*]]:2 = linalg.generic {{.*}} ins(%[[H2]] : tensor<?x2048xf32>)
// CHECK: %[[H3:.*]] = pit.forall {{.*}} -> (tensor<?x2048xf32>) {
// CHECK-NEXT: pit.for %{{.*}} at %[[POS:.*]] in %[[I]]
// CHECK-DAG: pit.sread %[[H2]][%[[POS]] : !pit.ids
// CHECK-DAG: pit.sread %[[SUMS]]#0[%[[POS]] : !pit.ids
// CHECK: %[[H5:.*]] = pit.forall {{.*}} -> (tensor<?x?x512xf32>) {
// CHECK-NEXT: pit.for %[[IDS:.*]] at %[[POS:.*]] in %[[I]]
// CHECK: pit.sread %[[H3]][%[[POS]] : !pit.ids
// CHECK: pit.sread %[[X]][%{{.*}}, %[[IDS]] : !pit.ids
// CHECK-NOT: tensor<?x?x2048xf32>
// CHECK-NOT: pit.forall
// CHECK: return %[[H5]]
func.func @feed_forward(%x: tensor<?x?x512xf32>, %l: tensor<?xi32>, %w1: tensor<512x2048xf32>,
                        %b1: tensor<2048xf32>, %gamma: tensor<2048xf32>, %beta: tensor<2048xf32>,
                        %w2: tensor<2048x512xf32>, %b2: tensor<512xf32>) -> tensor<?x?x512xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x512xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x512xf32>
  %e1 = tensor.empty(%b, %t) : tensor<?x?x2048xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x?x2048xf32>) -> tensor<?x?x2048xf32>
  %xs = pit.sparse %x lengths(%l : tensor<?xi32>) rule(<axis = 1, micro_tile = [1, 1, *]>) : tensor<?x?x512xf32>
  %h1 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%xs, %w1 : tensor<?x?x512xf32>, tensor<512x2048xf32>) outs(%z1 : tensor<?x?x2048xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %q = arith.addf %p, %o : f32
    linalg.yield %q : f32
  } -> tensor<?x?x2048xf32>
  %h2 = linalg.generic {indexing_maps = [#bsn, #n, #bsn], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%h1, %b1 : tensor<?x?x2048xf32>, tensor<2048xf32>) outs(%e1 : tensor<?x?x2048xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x?x2048xf32>
  %em = tensor.empty(%b, %t) : tensor<?x?xf32>
  %zm = linalg.fill ins(%zero : f32) outs(%em : tensor<?x?xf32>) -> tensor<?x?xf32>
  %sums:2 = linalg.generic {indexing_maps = [#bsn, #bs, #bs], iterator_types = ["parallel", "parallel", "reduction"]}
           ins(%h2 : tensor<?x?x2048xf32>) outs(%zm, %zm : tensor<?x?xf32>, tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32, %oo: f32):
    %s = arith.addf %a, %o : f32
    %q = arith.mulf %a, %a : f32
    %ss = arith.addf %q, %oo : f32
    linalg.yield %s, %ss : f32, f32
  } -> (tensor<?x?xf32>, tensor<?x?xf32>)
  %count = arith.constant 2048.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %h3 = linalg.generic {indexing_maps = [#bsn, #bs, #bs, #n, #n, #bsn], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%h2, %sums#0, %sums#1, %gamma, %beta : tensor<?x?x2048xf32>, tensor<?x?xf32>, tensor<?x?xf32>,
              tensor<2048xf32>, tensor<2048xf32>)
          outs(%e1 : tensor<?x?x2048xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32, %g: f32, %d: f32, %o: f32):
    %mean = arith.divf %s, %count : f32
    %square = arith.divf %q, %count : f32
    %mean2 = arith.mulf %mean, %mean : f32
    %var = arith.subf %square, %mean2 : f32
    %vare = arith.addf %var, %eps : f32
    %rstd = math.rsqrt %vare : f32
    %m = arith.subf %a, %mean : f32
    %nd = arith.mulf %m, %rstd : f32
    %ng = arith.mulf %nd, %g : f32
    %r = arith.addf %ng, %d : f32
    linalg.yield %r : f32
  } -> tensor<?x?x2048xf32>
  %h3s = pit.sparse %h3 lengths(%l : tensor<?xi32>) rule(<axis = 1, micro_tile = [1, 1, *]>) : tensor<?x?x2048xf32>
  %e2 = tensor.empty(%b, %t) : tensor<?x?x512xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x?x512xf32>) -> tensor<?x?x512xf32>
  %h4 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%h3s, %w2 : tensor<?x?x2048xf32>, tensor<2048x512xf32>) outs(%z2 : tensor<?x?x512xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %q = arith.addf %p, %o : f32
    linalg.yield %q : f32
  } -> tensor<?x?x512xf32>
  %h5 = linalg.generic {indexing_maps = [#bsn, #n, #bsn, #bsn], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%h4, %b2, %x : tensor<?x?x512xf32>, tensor<512xf32>, tensor<?x?x512xf32>) outs(%e2 : tensor<?x?x512xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.addf %s, %d : f32
    linalg.yield %r : f32
  } -> tensor<?x?x512xf32>
  %y = pit.sparse %h5 lengths(%l : tensor<?xi32>) rule(<axis = 1, micro_tile = [1, 1, *]>) : tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}
