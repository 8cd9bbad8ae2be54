// RUN: pit-test-analysis %s | FileCheck %s

// One test per condition of docs/Legality.md that a dim can fail.

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C1]: map 0 contains it as d0 + d1
// CHECK-NEXT: d1 is no PIT axis [C1]: map 0 contains it as d0 + d1
func.func @sum_of_dims(%a: tensor<8xf32>, %f: tensor<3xf32>, %c: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(x, i) -> (x + i)>, affine_map<(x, i) -> (i)>, affine_map<(x, i) -> (x)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a, %f : tensor<8xf32>, tensor<3xf32>) outs(%c : tensor<6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C2]: map 1 of result 0 contains it 2 times
func.func @diagonal_result(%a: tensor<?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C2]: map 0 contains it 2 times
func.func @trace(%a: tensor<?x?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : tensor<?x?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %s = arith.addf %acc, %x : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is no PIT axis [C3]: map 1 of result 0 lacks it, yet its iterator is parallel
func.func @parallel_into_constant(%a: tensor<?x?xf32>, %c: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf32>) outs(%c : tensor<?x1xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<?x1xf32>
  return %r : tensor<?x1xf32>
}

// Absent from the second of two results only.
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is a PIT axis: it indexes every result
// CHECK-NEXT: d1 is no PIT axis [C3]: map 2 of result 1 lacks it, yet its iterator is parallel
func.func @parallel_missing(%a: tensor<?x?xf32>, %c: tensor<?x?xf32>, %d: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf32>) outs(%c, %d : tensor<?x?xf32>, tensor<?xf32>) {
  ^bb0(%x: f32, %acc: f32, %sum: f32):
    %s = arith.addf %sum, %x : f32
    linalg.yield %x, %s : f32, f32
  } -> (tensor<?x?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?xf32>
}

#in = affine_map<(i) -> (i)>
#out = affine_map<(i) -> ()>

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C4]: arith.subf uses the accumulator of result 0, which is no commutative and associative combiner
func.func @subtraction(%a: tensor<?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %s = arith.subf %x, %acc : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C4]: every iteration overwrites the accumulator of result 0
func.func @last_wins(%a: tensor<?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// Horner's scheme: acc * y + x.
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C4]: arith.mulf and arith.addf both combine the accumulator of result 0
func.func @horner(%a: tensor<?xf32>, %y: f32, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %p = arith.mulf %acc, %y : f32
    %s = arith.addf %p, %x : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C4]: the accumulator of result 0 is used 2 times
func.func @accumulator_twice(%a: tensor<?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %p = arith.mulf %acc, %x : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// A prefix sum: the running sum is a result of its own.
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C4]: the combined value of result 0 is used 2 times
func.func @prefix_sum(%a: tensor<?xf32>, %c: tensor<f32>, %d: tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c, %d : tensor<f32>, tensor<?xf32>) {
  ^bb0(%x: f32, %acc: f32, %old: f32):
    %s = arith.addf %acc, %x : f32
    linalg.yield %s, %s : f32, f32
  } -> (tensor<f32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<f32>, tensor<?xf32>
}

// argmax: the index depends on the maximum so far.
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C4]: the accumulator of result 0 is used 2 times
func.func @argmax(%a: tensor<?xf32>, %i: tensor<?xi32>, %c: tensor<f32>, %d: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %r:2 = linalg.generic {indexing_maps = [#in, #in, #out, #out], iterator_types = ["reduction"]}
      ins(%a, %i : tensor<?xf32>, tensor<?xi32>) outs(%c, %d : tensor<f32>, tensor<i32>) {
  ^bb0(%x: f32, %at: i32, %max: f32, %arg: i32):
    %m = arith.maximumf %x, %max : f32
    %gt = arith.cmpf ogt, %x, %max : f32
    %n = arith.select %gt, %at, %arg : i32
    linalg.yield %m, %n : f32, i32
  } -> (tensor<f32>, tensor<i32>)
  return %r#0, %r#1 : tensor<f32>, tensor<i32>
}

// Two results that swap their accumulators.
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C4]: the accumulator of result 0 is yielded as result 1
func.func @swap(%a: tensor<?xf32>, %c: tensor<f32>, %d: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c, %d : tensor<f32>, tensor<f32>) {
  ^bb0(%x: f32, %p: f32, %q: f32):
    linalg.yield %q, %p : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C4]: the accumulator of result 0 is yielded uncombined
func.func @kept(%a: tensor<?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %acc : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// A sum that is rounded to bf16 after every addition.
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C4]: arith.extf uses the accumulator of result 0, which is no commutative and associative combiner
func.func @rounded_sum(%a: tensor<?xbf16>, %c: tensor<bf16>) -> tensor<bf16> {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%a : tensor<?xbf16>) outs(%c : tensor<bf16>) {
  ^bb0(%x: bf16, %acc: bf16):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %acc : bf16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<bf16>
  return %r : tensor<bf16>
}

// The combiner stands in a nested region.
// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C4]: the accumulator of result 0 is used 2 times
func.func @nested(%a: tensor<?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %acc: f32):
    %zero = arith.constant 0.0 : f32
    %live = arith.cmpf ogt, %x, %zero : f32
    %s = scf.if %live -> f32 {
      %t = arith.addf %acc, %x : f32
      scf.yield %t : f32
    } else {
      scf.yield %acc : f32
    }
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C5]: the body contains test.effect, which may have side effects
func.func @impure(%a: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [#in, #in], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<?xf32>) {
  ^bb0(%x: f32, %old: f32):
    "test.effect"(%x) : (f32) -> ()
    linalg.yield %x : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C5]: the body contains memref.store, which may have side effects
func.func @impure_nested(%a: tensor<?xf32>, %c: tensor<?xf32>, %m: memref<f32>, %b: i1) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [#in, #in], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%c : tensor<?xf32>) {
  ^bb0(%x: f32, %old: f32):
    scf.if %b {
      memref.store %x, %m[] : memref<f32>
    }
    linalg.yield %x : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C6]: the body captures a value of type tensor<?xf32>, used by tensor.extract
func.func @captured_tensor(%a: tensor<?xindex>, %t: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [#in, #in], iterator_types = ["parallel"]}
      ins(%a : tensor<?xindex>) outs(%c : tensor<?xf32>) {
  ^bb0(%i: index, %old: f32):
    %x = tensor.extract %t[%i] : tensor<?xf32>
    linalg.yield %x : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: linalg.generic
// CHECK-NEXT: d0 is no PIT axis [C7]: the body reads linalg.index 0
func.func @index_of_axis(%a: tensor<?xi64>, %c: tensor<?xi64>) -> tensor<?xi64> {
  %r = linalg.generic {indexing_maps = [#in, #in], iterator_types = ["parallel"]}
      ins(%a : tensor<?xi64>) outs(%c : tensor<?xi64>) {
  ^bb0(%x: i64, %old: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %s = arith.addi %x, %j : i64
    linalg.yield %s : i64
  } -> tensor<?xi64>
  return %r : tensor<?xi64>
}

// CHECK-LABEL: linalg.matmul
// CHECK-NEXT: d0 is no PIT axis [C8]: the op does not work on tensors alone
// CHECK-NEXT: d1 is no PIT axis [C8]
// CHECK-NEXT: d2 is no PIT axis [C8]
func.func @memrefs(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}
