// RUN: pit-opt %s -split-input-file -verify-diagnostics -pit-read-resources | FileCheck %s
// RUN: pit-opt %s -split-input-file -verify-diagnostics -pit-to-cpu -o /dev/null

// CHECK-LABEL: func.func @numbers
// CHECK-DAG: arith.constant dense<2.500000e-01> : tensor<f32>
// CHECK-DAG: arith.constant dense<-2> : tensor<1x1xi64>
// CHECK-DAG: arith.constant dense<true> : tensor<i1>
// CHECK-DAG: arith.constant dense_resource<two> : tensor<2xf32>
func.func @numbers(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<1x1xi64>, tensor<i1>) {
  %a = arith.constant dense_resource<scale> : tensor<f32>
  %b = arith.constant dense_resource<place> : tensor<1x1xi64>
  %c = arith.constant dense_resource<yes> : tensor<i1>
  %d = arith.constant dense_resource<two> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
         ins(%x, %a, %d : tensor<2xf32>, tensor<f32>, tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %o: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = arith.addf %0, %w : f32
    linalg.yield %1 : f32
  } -> tensor<2xf32>
  return %r, %b, %c : tensor<2xf32>, tensor<1x1xi64>, tensor<i1>
}

{-#
  dialect_resources: {
    builtin: {
      scale: "0x040000000000803E",
      place: "0x08000000FEFFFFFFFFFFFFFF",
      yes: "0x0100000001",
      two: "0x040000000000803F00000040"
    }
  }
#-}

// -----

// What LLVM IR does not get from a resource: bits, complex numbers and index.
// CHECK-LABEL: func.func @types
// CHECK-DAG: arith.constant dense<[true, false, true]> : tensor<3xi1>
// CHECK-DAG: arith.constant dense<[(1.000000e+00,0.000000e+00), (2.000000e+00,2.000000e+00)]> : tensor<2xcomplex<f32>>
// CHECK-DAG: arith.constant dense<[1, 2]> : tensor<2xindex>
func.func @types(%i: index) -> (i1, f32, index) {
  %a = arith.constant dense_resource<bits> : tensor<3xi1>
  %b = arith.constant dense_resource<pairs> : tensor<2xcomplex<f32>>
  %c = arith.constant dense_resource<places> : tensor<2xindex>
  %0 = tensor.extract %a[%i] : tensor<3xi1>
  %1 = tensor.extract %b[%i] : tensor<2xcomplex<f32>>
  %2 = complex.re %1 : complex<f32>
  %3 = tensor.extract %c[%i] : tensor<2xindex>
  return %0, %2, %3 : i1, f32, index
}

{-#
  dialect_resources: {
    builtin: {
      bits: "0x01000000010001",
      pairs: "0x040000000000803F000000000000004000000040",
      places: "0x0800000001000000000000000200000000000000"
    }
  }
#-}

// -----

func.func @elided(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{is in resource '__elided__', which the program does not have: print it with its large elements}}
  %d = arith.constant dense_resource<__elided__> : tensor<2xf32>
  return %d : tensor<2xf32>
}

// -----

func.func @short(%x: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has type 'tensor<4xf32>' of 16 bytes, but resource 'short' has 4}}
  %d = arith.constant dense_resource<short> : tensor<4xf32>
  return %d : tensor<4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000803F"
    }
  }
#-}
