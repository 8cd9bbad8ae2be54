// Two products of one matrix that meet element by element: one mainloop with two
// accumulators, in all the ways to compute one, against the dense program.

// Rows of values, and pairs of neighbours along k.
// RUN: pit-run %s --entry=rows --check --arg='random(70x200,f32,sparsity=0.7,micro=1x200,seed=1)' --arg='random(200x131,f32,seed=2)' --arg='random(200x131,f32,seed=3)' | FileCheck %s
// RUN: pit-run %s --entry=pairs --check --arg='random(70x200,i8,sparsity=0.7,micro=1x200,seed=1)' --arg='random(200x131,i8,seed=2)' --arg='random(200x131,i8,seed=3)' | FileCheck %s
// RUN: pit-run %s --entry=rows --check --arg='random(70x200,f32,sparsity=0.7,micro=1x200,seed=1)' --arg='random(200x131,f32,seed=2)' --arg='random(200x131,f32,seed=3)' --threads=2 --cpu=x86-64-v3 | FileCheck %s
// RUN: pit-run %s --entry=pairs --check --arg='random(70x200,i8,sparsity=0.7,micro=1x200,seed=1)' --arg='random(200x131,i8,seed=2)' --arg='random(200x131,i8,seed=3)' --threads=2 --cpu=x86-64-v3 | FileCheck %s
// Ids along k: in one chunk, in several, and none.
// RUN: pit-run %s --entry=columns --check --arg='random(70x200,f32,sparsity=0.8,micro=32x1,seed=1)' --arg='random(200x131,f32,seed=2)' --arg='random(200x131,f32,seed=3)' | FileCheck %s
// RUN: pit-run %s --entry=columns --check %unoptimized --arg='random(70x200,f32,sparsity=0,micro=32x1,seed=1)' --arg='random(200x131,f32,seed=2)' --arg='random(200x131,f32,seed=3)' | FileCheck %s
// RUN: pit-run %s --entry=columns --check %unoptimized --arg='random(70x200,f32,sparsity=1,micro=32x1,seed=1)' --arg='random(200x131,f32,seed=2)' --arg='random(200x131,f32,seed=3)' | FileCheck %s
// RUN: pit-run %s --entry=columns --check --arg='random(70x200,f32,sparsity=0.5,micro=32x1,seed=1)' --arg='random(200x131,f32,seed=2)' --arg='random(200x131,f32,seed=3)' --cpu=x86-64-v3 | FileCheck %s
// Lanes that are no neighbours in B.
// RUN: pit-run %s --entry=turned --check --arg='random(70x200,f32,sparsity=0.5,micro=1x200,seed=1)' --arg='random(131x200,f32,seed=2)' --arg='random(131x200,f32,seed=3)' | FileCheck %s
// RUN: pit-run %s --entry=turned --check --arg='random(70x200,f32,sparsity=0,micro=1x200,seed=1)' --arg='random(131x200,f32,seed=2)' --arg='random(131x200,f32,seed=3)' --cpu=x86-64 | FileCheck %s
// CHECK: check: result 0: {{.*}}: ok

// RUN: pit-opt %s --pit-to-tiles=amx --pit-form-mainloops=vector-width=512 | FileCheck %s --check-prefix=FORMED
// RUN: pit-opt %s --pit-to-cpu=amx | FileCheck %s --check-prefix=AMX

#id = affine_map<(m, n) -> (m, n)>

// FORMED-LABEL: func.func @rows
// FORMED: pit.mainloop
// FORMED-NOT: pit.mainloop
// FORMED: pit.contract
// FORMED-NOT: pit.mainloop
// FORMED: pit.contract
// FORMED-NOT: pit.mainloop
func.func @rows(%x: tensor<70x200xf32>, %a: tensor<200x131xf32>, %b: tensor<200x131xf32>) -> tensor<70x131xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<70x200xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70x131xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<70x131xf32>) -> tensor<70x131xf32>
  %g = linalg.matmul
         ins(%s, %a : tensor<70x200xf32>, tensor<200x131xf32>) outs(%init : tensor<70x131xf32>) -> tensor<70x131xf32>
  %h = linalg.matmul
         ins(%s, %b : tensor<70x200xf32>, tensor<200x131xf32>) outs(%init : tensor<70x131xf32>) -> tensor<70x131xf32>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
         ins(%g, %h : tensor<70x131xf32>, tensor<70x131xf32>) outs(%e : tensor<70x131xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %0 = arith.maximumf %u, %zero : f32
    %1 = arith.mulf %0, %v : f32
    linalg.yield %1 : f32
  } -> tensor<70x131xf32>
  return %m : tensor<70x131xf32>
}

// FORMED-LABEL: func.func @pairs
// FORMED: pit.mainloop
// FORMED-NOT: pit.mainloop
// FORMED: pit.contract
// FORMED-NOT: pit.mainloop
// FORMED: pit.contract
// FORMED-NOT: pit.mainloop
// AMX-LABEL: llvm.func {{.*}}@{{.*}}pairs
// AMX-COUNT-8: llvm.x86.tdpbssd
func.func @pairs(%x: tensor<70x200xi8>, %a: tensor<200x131xi8>, %b: tensor<200x131xi8>) -> tensor<70x131xi32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 0, micro_tile = [1, *], tile = [64, 128, 64]>) : tensor<70x200xi8>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<70x131xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<70x131xi32>) -> tensor<70x131xi32>
  %g = linalg.matmul
         ins(%s, %a : tensor<70x200xi8>, tensor<200x131xi8>) outs(%init : tensor<70x131xi32>) -> tensor<70x131xi32>
  %h = linalg.matmul
         ins(%s, %b : tensor<70x200xi8>, tensor<200x131xi8>) outs(%init : tensor<70x131xi32>) -> tensor<70x131xi32>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
         ins(%g, %h : tensor<70x131xi32>, tensor<70x131xi32>) outs(%e : tensor<70x131xi32>) {
  ^bb0(%u: i32, %v: i32, %o: i32):
    %0 = arith.maxsi %u, %zero : i32
    %1 = arith.muli %0, %v : i32
    linalg.yield %1 : i32
  } -> tensor<70x131xi32>
  return %m : tensor<70x131xi32>
}

// FORMED-LABEL: func.func @columns
// FORMED: pit.mainloop
// FORMED-NOT: pit.mainloop
// FORMED: pit.contract
// FORMED-NOT: pit.mainloop
// FORMED: pit.contract
// FORMED-NOT: pit.mainloop
func.func @columns(%x: tensor<70x200xf32>, %a: tensor<200x131xf32>, %b: tensor<200x131xf32>) -> tensor<70x131xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<70x200xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70x131xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<70x131xf32>) -> tensor<70x131xf32>
  %g = linalg.matmul
         ins(%s, %a : tensor<70x200xf32>, tensor<200x131xf32>) outs(%init : tensor<70x131xf32>) -> tensor<70x131xf32>
  %h = linalg.matmul
         ins(%s, %b : tensor<70x200xf32>, tensor<200x131xf32>) outs(%init : tensor<70x131xf32>) -> tensor<70x131xf32>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
         ins(%g, %h : tensor<70x131xf32>, tensor<70x131xf32>) outs(%e : tensor<70x131xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %0 = arith.maximumf %u, %zero : f32
    %1 = arith.mulf %0, %v : f32
    linalg.yield %1 : f32
  } -> tensor<70x131xf32>
  return %m : tensor<70x131xf32>
}

// FORMED-LABEL: func.func @turned
// FORMED: pit.mainloop
// FORMED-NOT: pit.mainloop
// FORMED: pit.contract
// FORMED-NOT: pit.mainloop
// FORMED: pit.contract
// FORMED-NOT: pit.mainloop
func.func @turned(%x: tensor<70x200xf32>, %a: tensor<131x200xf32>, %b: tensor<131x200xf32>) -> tensor<70x131xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<70x200xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70x131xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<70x131xf32>) -> tensor<70x131xf32>
  %g = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%s, %a : tensor<70x200xf32>, tensor<131x200xf32>) outs(%init : tensor<70x131xf32>) -> tensor<70x131xf32>
  %h = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
         ins(%s, %b : tensor<70x200xf32>, tensor<131x200xf32>) outs(%init : tensor<70x131xf32>) -> tensor<70x131xf32>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
         ins(%g, %h : tensor<70x131xf32>, tensor<70x131xf32>) outs(%e : tensor<70x131xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %0 = arith.maximumf %u, %zero : f32
    %1 = arith.mulf %0, %v : f32
    linalg.yield %1 : f32
  } -> tensor<70x131xf32>
  return %m : tensor<70x131xf32>
}
