// Vectors along another dimension than the last one of C, and A turned for
// columns of B that choose from its rows, against the dense program: columns of
// C that a mask wants or that live ones of B make, with a factor that lies by rows, parts of B with ids along k,
// and B whose columns lie in one piece; ragged extents, extents of 0 and 1, nothing
// and everything live, narrow types, and vectors of 128 bits.

// DEFINE: %{f32} = --arg='random(75x90,f32,sparsity=0.6,micro=32x1,seed=1)' --arg='random(77x90,f32,seed=2)' --arg='random(75x77,f32,seed=3)'
// RUN: pit-run %s --entry=rows_of_b %{f32} --check | FileCheck %s
// RUN: pit-run %s --entry=rows_of_b %{f32} --check --threads=2 --cpu=x86-64 | FileCheck %s
// RUN: pit-run %s --entry=rows_of_b --arg='random(75x0,f32,seed=1)' --arg='random(77x0,f32,seed=2)' --arg='random(75x77,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=rows_of_b --arg='random(75x3,f32,seed=1)' --arg='random(1x3,f32,seed=2)' --arg='random(75x1,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=rows_of_b --arg='random(5x71,f32,seed=1)' --arg='random(0x71,f32,seed=2)' --arg='random(5x0,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=rows_of_b_i8 --arg='random(75x133,i8,sparsity=0.6,micro=32x1,seed=1)' --arg='random(77x133,i8,seed=2)' --arg='random(75x77,i32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=rows_of_b_bf16 --arg='random(75x133,bf16,sparsity=0.6,micro=32x1,seed=1)' --arg='random(77x133,bf16,seed=2)' --arg='random(75x77,f32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=batches_of_b --arg='random(3x40x70,f64,sparsity=0.6,seed=1)' --arg='random(3x50x70,f64,seed=2)' --arg='random(3x40x50,f64,seed=3)' --check | FileCheck %s

// DEFINE: %{wanted} = --arg='random(75x90,f32,seed=1)' --arg='random(90x277,f32,seed=2)' --arg='random(277,f32,seed=4)'
// RUN: pit-run %s --entry=wanted %{wanted} --arg='random(75x277,i8,sparsity=0.5,micro=32x1,seed=3,low=1,high=1)' --check | FileCheck %s
// RUN: pit-run %s --entry=wanted %{wanted} --arg='random(75x277,i8,sparsity=0.98,micro=32x1,seed=3,low=1,high=1)' --check %unoptimized --threads=2 | FileCheck %s
// RUN: pit-run %s --entry=wanted %{wanted} --arg='random(75x277,i8,sparsity=0.9,seed=3,low=1,high=1)' --check --cpu=x86-64 | FileCheck %s
// RUN: pit-run %s --entry=wanted %{wanted} --arg='random(75x277,i8,sparsity=1,seed=3,low=1,high=1)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=wanted --arg='random(75x0,f32,seed=1)' --arg='random(0x277,f32,seed=2)' --arg='random(277,f32,seed=4)' --arg='random(75x277,i8,sparsity=0.5,seed=3,low=1,high=1)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=wanted --arg='random(0x9,f32,seed=1)' --arg='random(9x277,f32,seed=2)' --arg='random(277,f32,seed=4)' --arg='random(0x277,i8,sparsity=0.5,seed=3,low=1,high=1)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=wanted_f16 --arg='random(75x90,f16,seed=1)' --arg='random(90x277,f16,seed=2)' --arg='random(75x277,i8,sparsity=0.5,micro=32x1,seed=3,low=1,high=1)' --check | FileCheck %s
// RUN: pit-run %s --entry=wanted_i8 --arg='random(75x90,i8,seed=1)' --arg='random(90x277,i8,seed=2)' --arg='random(75x277,i8,sparsity=0.5,micro=32x1,seed=3,low=1,high=1)' --check | FileCheck %s
// RUN: pit-run %s --entry=wanted_i8 --arg='random(75x90,i8,seed=1)' --arg='random(90x277,i8,seed=2)' --arg='random(75x277,i8,sparsity=0.99,micro=32x1,seed=3,low=1,high=1)' --check %unoptimized | FileCheck %s

// DEFINE: %{b} = --arg='random(270x133,f32,sparsity=0.6,micro=64x1,seed=2)' --arg='random(75x133,f32,seed=3)'
// RUN: pit-run %s --entry=along_n --arg='random(75x270,f32,seed=1)' %{b} --check | FileCheck %s
// RUN: pit-run %s --entry=along_n --arg='random(75x270,f32,seed=1)' %{b} --check --threads=2 --cpu=x86-64 | FileCheck %s
// RUN: pit-run %s --entry=along_n --arg='random(75x0,f32,seed=1)' --arg='zeros(0x133,f32)' --arg='random(75x133,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=along_n --arg='random(1x70,f32,seed=1)' --arg='random(70x1,f32,seed=2)' --arg='random(1x1,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=along_n --arg='random(9x70,f32,seed=1)' --arg='random(70x0,f32,seed=2)' --arg='random(9x0,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=along_n_bf16 --arg='random(175x270,bf16,seed=1)' --arg='random(270x133,bf16,sparsity=0.6,micro=64x1,seed=2)' --check | FileCheck %s
// RUN: pit-run %s --entry=along_n_i8 --arg='random(75x270,i8,seed=1)' --arg='random(270x133,i8,sparsity=0.6,micro=64x1,seed=2)' --check --threads=2 | FileCheck %s

// RUN: pit-run %s --entry=along_n_weighted --arg='random(75x3,f32,seed=4)' --arg='random(75x64,f32,seed=1)' --arg='random(3x64x70,f32,sparsity=0.5,seed=2)' --check --pipeline=check-bounds=true | FileCheck %s
// RUN: pit-run %s --entry=along_k --arg='random(75x90,f32,seed=1)' --arg='random(90x277,f32,sparsity=0.5,micro=1x64,seed=2)' --arg='random(75x277,f32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=along_k --arg='random(75x90,f32,seed=1)' --arg='random(90x277,f32,sparsity=0.99,micro=1x64,seed=2)' --arg='random(75x277,f32,seed=3)' --check %unoptimized --threads=2 | FileCheck %s
// RUN: pit-run %s --entry=along_k --arg='random(75x90,f32,seed=1)' --arg='random(90x277,f32,sparsity=0.5,micro=1x64,seed=2)' --arg='random(75x277,f32,seed=3)' --check --cpu=x86-64 | FileCheck %s
// RUN: pit-run %s --entry=along_k --arg='random(75x0,f32,seed=1)' --arg='zeros(0x277,f32)' --arg='random(75x277,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=along_k --arg='random(1x3,f32,seed=1)' --arg='random(3x66,f32,seed=2)' --arg='random(1x66,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=along_k_bf16 --arg='random(75x190,bf16,seed=1)' --arg='random(190x277,bf16,sparsity=0.5,micro=1x64,seed=2)' --check | FileCheck %s
// RUN: pit-run %s --entry=along_k_i8 --arg='random(75x190,i8,seed=1)' --arg='random(190x277,i8,sparsity=0.5,micro=1x64,seed=2)' --check | FileCheck %s
// RUN: pit-run %s --entry=along_k_batches --arg='random(3x40x70,f64,seed=1)' --arg='random(3x70x130,f64,sparsity=0.5,seed=2)' --arg='random(3x40x130,f64,seed=3)' --check | FileCheck %s
// CHECK: check: result 0: {{.*}}: ok

#a = affine_map<(m, n, k) -> (m, k)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

func.func @rows_of_b(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xf32>
  %r = linalg.matmul indexing_maps = [#a, #bt, #c] ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @rows_of_b_i8(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %s = pit.sparse %a rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xi8>
  %r = linalg.matmul indexing_maps = [#a, #bt, #c] ins(%s, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

func.func @rows_of_b_bf16(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xbf16>
  %r = linalg.matmul indexing_maps = [#a, #bt, #c] ins(%s, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @batches_of_b(%a: tensor<?x?x?xf64>, %b: tensor<?x?x?xf64>, %c: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %s = pit.sparse %a rule(<axis = 1, micro_tile = [1, 1, *]>) : tensor<?x?x?xf64>
  %r = linalg.batch_matmul indexing_maps = [affine_map<(g, m, n, k) -> (g, m, k)>, affine_map<(g, m, n, k) -> (g, n, k)>, affine_map<(g, m, n, k) -> (g, m, n)>]
    ins(%s, %b : tensor<?x?x?xf64>, tensor<?x?x?xf64>) outs(%c : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}

func.func @wanted(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %bias: tensor<?xf32>, %mask: tensor<?x?xi8>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%p, %bias : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %0 = arith.addf %u, %v : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  %r = pit.sparse %q mask(%mask : tensor<?x?xi8>) rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @wanted_f16(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %mask: tensor<?x?xi8>) -> tensor<?x?xf16> {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf16>
  %c = linalg.fill ins(%zero : f16) outs(%e : tensor<?x?xf16>) -> tensor<?x?xf16>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf16>) -> tensor<?x?xf16>
  %r = pit.sparse %p mask(%mask : tensor<?x?xi8>) rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}

func.func @wanted_i8(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %mask: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %b, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %c = linalg.fill ins(%zero : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = pit.sparse %p mask(%mask : tensor<?x?xi8>) rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

func.func @along_n(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %b rule(<axis = 1, micro_tile = [64, 1]>) : tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %s : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @along_n_bf16(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %zero = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xbf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  %s = pit.sparse %b rule(<axis = 1, micro_tile = [64, 1]>) : tensor<?x?xbf16>
  %r = linalg.matmul ins(%a, %s : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}

func.func @along_n_i8(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %b, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %c = linalg.fill ins(%zero : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %s = pit.sparse %b rule(<axis = 1, micro_tile = [64, 1]>) : tensor<?x?xi8>
  %r = linalg.matmul ins(%a, %s : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

func.func @along_n_weighted(%f: tensor<?x3xf32>, %a: tensor<?x64xf32>, %b: tensor<3x64x70xf32>) -> tensor<?x70xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %a, %c0 : tensor<?x64xf32>
  %s = pit.sparse %b rule(<axis = 2, micro_tile = [1, 32, 1]>) : tensor<3x64x70xf32>
  %e = tensor.empty(%t) : tensor<?x70xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<?x70xf32>) -> tensor<?x70xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(t, n, e, k) -> (t, e)>, affine_map<(t, n, e, k) -> (t, k)>, affine_map<(t, n, e, k) -> (e, k, n)>, affine_map<(t, n, e, k) -> (t, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%f, %a, %s : tensor<?x3xf32>, tensor<?x64xf32>, tensor<3x64x70xf32>) outs(%c : tensor<?x70xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %old: f32):
    %xy = arith.mulf %x, %y : f32
    %xyz = arith.mulf %xy, %z : f32
    %new = arith.addf %old, %xyz : f32
    linalg.yield %new : f32
  } -> tensor<?x70xf32>
  return %r : tensor<?x70xf32>
}

func.func @along_k(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %b rule(<axis = 0, micro_tile = [1, 64]>) : tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %s : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @along_k_bf16(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %zero = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xbf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  %s = pit.sparse %b rule(<axis = 0, micro_tile = [1, 64]>) : tensor<?x?xbf16>
  %r = linalg.matmul ins(%a, %s : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}

func.func @along_k_i8(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %b, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %c = linalg.fill ins(%zero : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %s = pit.sparse %b rule(<axis = 0, micro_tile = [1, 64]>) : tensor<?x?xi8>
  %r = linalg.matmul ins(%a, %s : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

func.func @along_k_batches(%a: tensor<?x?x?xf64>, %b: tensor<?x?x?xf64>, %c: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %s = pit.sparse %b rule(<axis = 1, micro_tile = [1, 1, 32]>) : tensor<?x?x?xf64>
  %r = linalg.batch_matmul ins(%a, %s : tensor<?x?x?xf64>, tensor<?x?x?xf64>) outs(%c : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}
