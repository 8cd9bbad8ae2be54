// A factor of rows that is known to be positive does not change which score is the largest: the loop takes maxima
// of scores without it, and it enters exponents with the constants. A factor that may be negative multiplies each
// score, as one of columns does.

// RUN: pit-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(pit-tile-online-reductions,canonicalize,cse))' | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func @positive(
// CHECK: pit.for
// CHECK:   %[[X:.*]] = pit.sread %arg0
// CHECK:   %[[SCALE:.*]] = pit.sread %arg1
// CHECK:   %[[SCORES:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[SCALE]] :
// CHECK-NOT: arith.mulf
// CHECK:   linalg.generic {{.*}} ins(%[[SCORES]] :
// CHECK:     arith.maximumf
// CHECK:   %[[UNIT:.*]] = linalg.generic {{.*}} ins(%[[SCALE]] :
// CHECK:     %[[POSITIVE:.*]] = arith.maximumf %{{.*}}, %cst
// CHECK:     arith.mulf %[[POSITIVE]], %cst
// CHECK:   linalg.generic {{.*}} ins(%[[SCORES]], %{{.*}}, %[[UNIT]] :
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[SHIFT:.*]]: f32, %[[BY:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: math.fma %[[A]], %[[BY]], %[[SHIFT]]
// CHECK-NEXT: math.exp2
// CHECK:   pit.yield
// The largest score of the result has the factor.
// CHECK: pit.sread %arg1
// CHECK: arith.maximumf
// CHECK: arith.mulf
// CHECK: pit.swrite
func.func @positive(%x: tensor<?x?xf32>, %scales: tensor<?xf32>, %rows: tensor<?xf32>, %all: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %least = arith.constant 1.0e-10 : f32
  %low = arith.constant 0xFF800000 : f32
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %scales : tensor<?x?xf32>, tensor<?xf32>) outs(%all : tensor<?x?xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %u = arith.maximumf %t, %least : f32
    %b = arith.mulf %a, %u : f32
    %c = arith.mulf %b, %half : f32
    linalg.yield %c : f32
  } -> tensor<?x?xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<?x?xf32>) outs(%m0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %m : tensor<?x?xf32>, tensor<?xf32>) outs(%all : tensor<?x?xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<?x?xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x?xf32>) outs(%l0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  return %m, %l : tensor<?xf32>, tensor<?xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func @any_sign(
// CHECK: pit.for
// CHECK:   %[[X:.*]] = pit.sread %arg0
// CHECK:   linalg.generic {{.*}} ins(%[[X]], %
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[T:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.mulf %[[A]], %[[T]]
func.func @any_sign(%x: tensor<?x?xf32>, %scales: tensor<?xf32>, %rows: tensor<?xf32>, %all: tensor<?x?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %scales : tensor<?x?xf32>, tensor<?xf32>) outs(%all : tensor<?x?xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.mulf %a, %t : f32
    linalg.yield %b : f32
  } -> tensor<?x?xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<?x?xf32>) outs(%m0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %m : tensor<?x?xf32>, tensor<?xf32>) outs(%all : tensor<?x?xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %b = arith.subf %a, %t : f32
    %c = math.exp %b : f32
    linalg.yield %c : f32
  } -> tensor<?x?xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x?xf32>) outs(%l0 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  return %l : tensor<?xf32>
}
