// Assertions of the program are errors of the call: those of an op's points, of
// the function and of a loop.

// RUN: pit-run %s --entry=embedding --arg='random(12,i64,low=0,high=50)' --arg='random(50x8,f32)' --check | FileCheck %s
// RUN: not pit-run %s --entry=embedding --arg='random(12,i64,low=50,high=60)' --arg='random(50x8,f32)' 2>&1 | FileCheck %s --check-prefix=ID
// RUN: not pit-run %s --entry=embedding --arg='random(12,i64,low=-5,high=-1)' --arg='random(50x8,f32)' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: pit-run %s --entry=embedding --arg='zeros(0,i64)' --arg='random(50x8,f32)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=embedding --arg='random(12,i64,low=50,high=60)' --arg='zeros(50x0,f32)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=sizes --arg='random(8,f32)' --arg='random(8,f32)' --arg=8 --check | FileCheck %s
// RUN: not pit-run %s --entry=sizes --arg='random(8,f32)' --arg='random(8,f32)' --arg=9 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not pit-run %s --entry=loop --arg='random(8,f32)' --arg=9 2>&1 | FileCheck %s --check-prefix=LOOP

// The same compiles for a device, which checks what the host knows.
// RUN: pit-opt %s --pit-to-cuda=chip=sm_80 -o %t.80
// RUN: pit-opt %s --pit-to-cuda="chip=sm_90a device-code=ptx" -o %t.90

// CHECK: check: result 0: max abs error 0, {{.*}}: ok
// ID: pit-run: error: the program asserts what does not hold: the id must be smaller than the table
// NEGATIVE: pit-run: error: the program asserts what does not hold: the id must not be negative
// SIZE: pit-run: error: the program asserts what does not hold: sizes differ
// LOOP: pit-run: error: the program asserts what does not hold: 8 elements at most

#id = affine_map<(i, j) -> (i)>
#row = affine_map<(i, j) -> (i, j)>

func.func @embedding(%ids: tensor<?xi64>, %t: tensor<50x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i64
  %rows = arith.constant 50 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %m = tensor.dim %t, %c1 : tensor<50x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: i64, %y: f32):
    %i = arith.index_cast %x : i64 to index
    %j = linalg.index 1 : index
    %least = arith.cmpi sge, %x, %none : i64
    cf.assert %least, "the id must not be negative"
    %most = arith.cmpi slt, %i, %rows : index
    cf.assert %most, "the id must be smaller than the table"
    %v = tensor.extract %t[%i, %j] : tensor<50x?xf32>
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @sizes(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %m, %n : index
  cf.assert %same, "sizes differ"
  %e = tensor.empty(%m) : tensor<?xf32>
  %r = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @loop(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %x) -> tensor<8xf32> {
    %fits = arith.cmpi slt, %i, %c8 : index
    cf.assert %fits, "8 elements at most"
    %s = linalg.add ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
