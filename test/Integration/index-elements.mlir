// Tensors of index, marked and dense, against the dense program: they are i64 in
// memory, and indices are built of them.

// DEFINE: %{a} = --arg='random(64x96,i64,sparsity=0.6,seed=1)'
// DEFINE: %{b} = --arg='random(96x40,i64,sparsity=0.5,seed=2)'
// DEFINE: %{c} = --arg='random(64x40,i64,seed=3)'
// RUN: pit-run %s --entry=rows %{a} --arg='random(64,i64,seed=2)' --check | FileCheck %s
// RUN: pit-run %s --entry=rows --arg='zeros(3x0,i64)' --arg='random(3,i64,seed=2)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=left %{a} %{b} %{c} --check --threads=2 | FileCheck %s
// RUN: pit-run %s --entry=right %{a} %{b} %{c} --check | FileCheck %s
// RUN: pit-run %s --entry=dense %{a} %{b} %{c} --check --cpu=x86-64 | FileCheck %s
// RUN: pit-run %s --entry=thin %{a} --arg='random(96x1,i64,seed=2)' --arg='random(64x1,i64,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=largest --arg='random(64x96,i64,sparsity=0.9,seed=1)' --arg='zeros(96,i64)' --check | FileCheck %s
// CHECK: check: result 0: {{.*}}: ok

// RUN: pit-opt %s --pit-to-tiles | FileCheck %s --check-prefix=TILES
// TILES-COUNT-4: pit.index {{.*}}xindex>
// RUN: pit-opt %s --pit-to-cuda=chip=sm_80 | FileCheck %s --check-prefix=PTX
// RUN: pit-opt %s --pit-to-cuda=chip=sm_90a | FileCheck %s --check-prefix=PTX
// PTX: .entry

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#product = {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}

func.func @rows(%a: tensor<?x?xindex>, %b: tensor<?xindex>) -> tensor<?xindex> {
  %s = pit.sparse %a : tensor<?x?xindex>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%s : tensor<?x?xindex>) outs(%b : tensor<?xindex>) {
  ^bb0(%x: index, %o: index):
    %v = arith.addi %x, %o : index
    linalg.yield %v : index
  } -> tensor<?xindex>
  return %r : tensor<?xindex>
}

func.func @left(%a: tensor<64x96xindex>, %b: tensor<96x40xindex>, %c: tensor<64x40xindex>) -> tensor<64x40xindex> {
  %s = pit.sparse %a rule(<axis = 1, micro_tile = [32, 1]>) : tensor<64x96xindex>
  %r = linalg.generic #product ins(%s, %b : tensor<64x96xindex>, tensor<96x40xindex>) outs(%c : tensor<64x40xindex>) {
  ^bb0(%x: index, %y: index, %o: index):
    %t = arith.muli %x, %y : index
    %v = arith.addi %o, %t : index
    linalg.yield %v : index
  } -> tensor<64x40xindex>
  return %r : tensor<64x40xindex>
}

func.func @right(%a: tensor<64x96xindex>, %b: tensor<96x40xindex>, %c: tensor<64x40xindex>) -> tensor<64x40xindex> {
  %s = pit.sparse %b rule(<axis = 0, micro_tile = [1, 8]>) : tensor<96x40xindex>
  %r = linalg.generic #product ins(%a, %s : tensor<64x96xindex>, tensor<96x40xindex>) outs(%c : tensor<64x40xindex>) {
  ^bb0(%x: index, %y: index, %o: index):
    %t = arith.muli %x, %y : index
    %v = arith.addi %o, %t : index
    linalg.yield %v : index
  } -> tensor<64x40xindex>
  return %r : tensor<64x40xindex>
}

func.func @dense(%a: tensor<64x96xindex>, %b: tensor<96x40xindex>, %c: tensor<64x40xindex>) -> tensor<64x40xindex> {
  %r = linalg.generic #product ins(%a, %b : tensor<64x96xindex>, tensor<96x40xindex>) outs(%c : tensor<64x40xindex>) {
  ^bb0(%x: index, %y: index, %o: index):
    %t = arith.muli %x, %y : index
    %v = arith.addi %o, %t : index
    linalg.yield %v : index
  } -> tensor<64x40xindex>
  return %r : tensor<64x40xindex>
}

func.func @thin(%a: tensor<64x96xindex>, %b: tensor<96x1xindex>, %c: tensor<64x1xindex>) -> tensor<64x1xindex> {
  %s = pit.sparse %a rule(<axis = 1, micro_tile = [32, 1]>) : tensor<64x96xindex>
  %r = linalg.generic #product ins(%s, %b : tensor<64x96xindex>, tensor<96x1xindex>) outs(%c : tensor<64x1xindex>) {
  ^bb0(%x: index, %y: index, %o: index):
    %t = arith.muli %x, %y : index
    %v = arith.addi %o, %t : index
    linalg.yield %v : index
  } -> tensor<64x1xindex>
  return %r : tensor<64x1xindex>
}

// Columns, whose largest numbers are at least 0.
func.func @largest(%a: tensor<64x96xindex>, %b: tensor<96xindex>) -> tensor<96xindex> {
  %s = pit.sparse %a : tensor<64x96xindex>
  %r = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>],
      iterator_types = ["parallel", "reduction"]} ins(%s : tensor<64x96xindex>) outs(%b : tensor<96xindex>) {
  ^bb0(%x: index, %o: index):
    %v = arith.maxui %x, %o : index
    linalg.yield %v : index
  } -> tensor<96xindex>
  return %r : tensor<96xindex>
}
