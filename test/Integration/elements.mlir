// Products of few rows or columns, whose elements are read in place by ids along
// k, against the dense program: one to three columns, vectors, batches, narrow
// types, ragged extents, extents of 0 and 1, nothing and everything live.

// DEFINE: %{a} = --arg='random(75x190,f32,sparsity=0.6,micro=32x1,seed=1)'
// RUN: pit-run %s --entry=one %{a} --arg='random(190x1,f32,seed=2)' --arg='random(75x1,f32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=one %{a} --arg='random(190x1,f32,seed=2)' --arg='random(75x1,f32,seed=3)' --check --threads=2 --cpu=x86-64 | FileCheck %s
// RUN: pit-run %s --entry=one --arg='random(75x190,f32,sparsity=1)' --arg='random(190x1,f32,seed=2)' --arg='random(75x1,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=one --arg='random(1x1,f32,seed=1)' --arg='random(1x1,f32,seed=2)' --arg='random(1x1,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=one --arg='zeros(75x0,f32)' --arg='zeros(0x1,f32)' --arg='random(75x1,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=one --arg='zeros(0x9,f32)' --arg='random(9x1,f32,seed=2)' --arg='zeros(0x1,f32)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=three %{a} --arg='random(190x3,f32,seed=2)' --arg='random(75x3,f32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=three_bf16 --arg='random(75x190,bf16,sparsity=0.6,micro=32x1,seed=1)' --arg='random(190x3,bf16,seed=2)' --check | FileCheck %s
// RUN: pit-run %s --entry=two_i8 --arg='random(75x190,i8,sparsity=0.6,micro=32x1,seed=1)' --arg='random(190x2,i8,seed=2)' --arg='random(75x2,i32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=vector %{a} --arg='random(190,f32,seed=2)' --arg='random(75,f32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=vector --arg='random(1x3,f32,seed=1)' --arg='random(3,f32,seed=2)' --arg='random(1,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=batches --arg='random(3x40x70,f64,sparsity=0.6,seed=1)' --arg='random(3x70,f64,seed=2)' --arg='random(3x40,f64,seed=3)' --check --threads=2 | FileCheck %s
// RUN: pit-run %s --entry=columns_of_b --arg='random(1x190,f32,seed=1)' --arg='random(75x190,f32,sparsity=0.6,micro=32x1,seed=2)' --arg='random(1x75,f32,seed=3)' --check | FileCheck %s
// CHECK: check: result 0: {{.*}}: ok

// An index of 10 columns does not go with tensors of 6.
// RUN: pit-run %s --entry=fits --arg='full(3x10,i8,1)' --arg='full(3x10,f32,2)' --arg='full(10x1,f32,3)' --arg='zeros(3x1,f32)' --print | FileCheck %s --check-prefix=SAME
// RUN: not pit-run %s --entry=fits --arg='full(3x10,i8,1)' --arg='full(3x6,f32,2)' --arg='full(10x1,f32,3)' --arg='zeros(3x1,f32)' 2>&1 | FileCheck %s --check-prefix=OTHER
// SAME-COUNT-3: 60
// OTHER: dimension 1 of argument 1 is 6 but dimension 1 of argument 0 is 10; the first must be equal to the second

func.func @one(%a: tensor<?x?xf32>, %b: tensor<?x1xf32>, %c: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %s = pit.sparse %a rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x1xf32>) outs(%c : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %r : tensor<?x1xf32>
}

func.func @three(%a: tensor<?x?xf32>, %b: tensor<?x3xf32>, %c: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %s = pit.sparse %a rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x3xf32>) outs(%c : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

func.func @three_bf16(%a: tensor<?x?xbf16>, %b: tensor<?x3xbf16>) -> tensor<?x3xbf16> {
  %zero = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xbf16>
  %e = tensor.empty(%m) : tensor<?x3xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<?x3xbf16>) -> tensor<?x3xbf16>
  %s = pit.sparse %a rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xbf16>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xbf16>, tensor<?x3xbf16>) outs(%c : tensor<?x3xbf16>) -> tensor<?x3xbf16>
  return %r : tensor<?x3xbf16>
}

func.func @two_i8(%a: tensor<?x?xi8>, %b: tensor<?x2xi8>, %c: tensor<?x2xi32>) -> tensor<?x2xi32> {
  %s = pit.sparse %a rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xi8>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xi8>, tensor<?x2xi8>) outs(%c : tensor<?x2xi32>) -> tensor<?x2xi32>
  return %r : tensor<?x2xi32>
}

func.func @vector(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %s = pit.sparse %a rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xf32>
  %r = linalg.matvec ins(%s, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @batches(%a: tensor<?x?x?xf64>, %b: tensor<?x?xf64>, %c: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %s = pit.sparse %a rule(<axis = 2, micro_tile = [1, 16, 1]>) : tensor<?x?x?xf64>
  %r = linalg.batch_matvec ins(%s, %b : tensor<?x?x?xf64>, tensor<?x?xf64>) outs(%c : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

func.func @columns_of_b(%a: tensor<1x?xf32>, %b: tensor<?x?xf32>, %c: tensor<1x?xf32>) -> tensor<1x?xf32> {
  %s = pit.sparse %b rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %s : tensor<1x?xf32>, tensor<?x?xf32>) outs(%c : tensor<1x?xf32>) -> tensor<1x?xf32>
  return %r : tensor<1x?xf32>
}

func.func @fits(%mask: tensor<?x?xi8>, %a: tensor<?x?xf32>, %b: tensor<?x1xf32>, %c: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %i = pit.index mask %mask : tensor<?x?xi8> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %r = pit.forall (%x) = (%c0) to (%m) step (32) iter_args(%o = %c) -> (tensor<?x1xf32>) {
    %acc = pit.sread %o[%x, %c0] : tensor<?x1xf32> -> tensor<32x1xf32>
    %sum = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%s = %acc) -> (tensor<32x1xf32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<32x64xf32>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %c0] pad(0.0 : f32) : tensor<?x1xf32> -> tensor<64x1xf32>
      %w = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x1xf32>) outs(%s : tensor<32x1xf32>) -> tensor<32x1xf32>
      pit.yield %w : tensor<32x1xf32>
    }
    %w = pit.swrite %sum into %o[%x, %c0] : tensor<32x1xf32> into tensor<?x1xf32>
    pit.yield %w : tensor<?x1xf32>
  }
  return %r : tensor<?x1xf32>
}
