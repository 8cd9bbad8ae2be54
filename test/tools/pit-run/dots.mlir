// Products that dot instructions compute, on whatever this machine has and
// without AMX: extents that end within a group, a step and a register block, few
// ids and none.

// RUN: pit-run %s --entry=rows --arg='random(37x75,bf16,sparsity=0.5,micro=1x75)' --arg='random(75x67,bf16,seed=1)' --check
// RUN: pit-run %s --entry=rows --arg='random(70x2100,bf16,sparsity=0.3,micro=1x2100)' --arg='random(2100x260,bf16,seed=1)' --check
// RUN: pit-run %s --entry=micro --arg='random(70x601,bf16,sparsity=0.3,micro=32x1)' --arg='random(601x290,bf16,seed=1)' --check
// RUN: pit-run %s --entry=micro --arg='random(33x3,bf16,micro=32x1)' --arg='random(3x33,bf16,seed=1)' --check
// RUN: pit-run %s --entry=micro --arg='zeros(64x64,bf16)' --arg='random(64x64,bf16,seed=1)' --check
// RUN: pit-run %s --entry=micro --no-openmp --arg='random(640x700,bf16,micro=32x1)' --arg='random(700x2600,bf16,seed=1)' --check

// RUN: pit-run %s --entry=rows --opt-level=0 --arg='random(37x75,bf16,sparsity=0.5,micro=1x75)' --arg='random(75x67,bf16,seed=1)' --check

// RUN: pit-run %s --entry=bytes --arg='random(37x75,i8,sparsity=0.5,micro=1x75)' --arg='random(75x67,i8,seed=1)' --check
// RUN: pit-run %s --entry=bytes_micro --arg='random(70x1601,i8,sparsity=0.3,micro=32x1)' --arg='random(1601x290,i8,seed=1)' --check
// RUN: pit-run %s --entry=bytes_micro --arg='random(33x3,i8,micro=32x1)' --arg='random(3x33,i8,seed=1)' --check
// RUN: pit-run %s --entry=bytes --features=-amx-int8 --arg='random(37x75,i8,sparsity=0.5,micro=1x75)' --arg='random(75x67,i8,seed=1)' --check
// RUN: pit-run %s --entry=bytes_micro --features=-amx-int8 --arg='random(70x1601,i8,sparsity=0.3,micro=32x1)' --arg='random(1601x290,i8,seed=1)' --check
// RUN: pit-run %s --entry=bytes_micro --features=-amx-int8 --arg='random(33x3,i8,micro=32x1)' --arg='random(3x33,i8,seed=1)' --check
// RUN: pit-run %s --entry=bytes_micro --cpu=x86-64 --arg='random(70x601,i8,sparsity=0.3,micro=32x1)' --arg='random(601x290,i8,seed=1)' --check
// RUN: pit-run %s --entry=unsigned --arg='random(40x90,i8,sparsity=0.5,micro=32x1)' --arg='random(90x40,i8,seed=1)' --check
// RUN: pit-run %s --entry=unsigned --features=-amx-int8 --arg='random(40x90,i8,sparsity=0.5,micro=32x1)' --arg='random(90x40,i8,seed=1)' --check

func.func @rows(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<?x?xbf16>
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xbf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @micro(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xbf16>
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xbf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @bytes(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<?x?xi8>
  %zero = arith.constant 0 : i32
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %b, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %c = linalg.fill ins(%zero : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

func.func @bytes_micro(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xi8>
  %zero = arith.constant 0 : i32
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %b, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %c = linalg.fill ins(%zero : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @unsigned(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = pit.sparse %a rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xi8>
  %zero = arith.constant 0 : i32
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %b, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %c = linalg.fill ins(%zero : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%s, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %u = arith.extui %x : i8 to i32
    %v = arith.extsi %y : i8 to i32
    %p = arith.muli %u, %v : i32
    %q = arith.addi %z, %p : i32
    linalg.yield %q : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}
