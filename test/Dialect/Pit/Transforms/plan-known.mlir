// One rule is chosen at compile time where something is known of the zeros.
// The table of Inputs/costs.json: 1 ns for a product of the dense op and of whole
// rows, 2 ns for one of single elements, 2 ns for an element that is read for the
// index, 10 ns for the list of a group and 128 columns.

// RUN: %python %S/Inputs/save_array.py %t.few.npy "numpy.where(i * 20 + j < 5, 1.0, 0.0).astype('f4')"
// RUN: %python %S/Inputs/save_array.py %t.rows.npy "numpy.where(i == 3, 1.0, 0.0).astype('f4')"
// RUN: %python %S/Inputs/save_array.py %t.full.npy "numpy.ones((10, 20), 'f4')"

// Few elements in one row: 300 ns for the lists, 400 for the index, and 5 live
// elements of 304 products each, as vectors have 8 or 16 lanes. A row takes 30 ns for its
// list, and 6080 for its 20 elements.
// RUN: pit-opt %s -pit-label-marks -pit-plan="choice=run-time explain=true samples=f:0=%t.few.npy tile-table=%S/Inputs/costs.json" -o %t.few.mlir 2>%t.few.txt
// RUN: FileCheck %s --check-prefix=FEW --input-file=%t.few.mlir
// RUN: FileCheck %s --check-prefix=FEW-TABLE --input-file=%t.few.txt
// FEW-NOT: pit.choose
// FEW: pit.index %arg0 : tensor<10x20xf32> -> !pit.index<micro_tile = [1, 1], axis = 1>
// FEW-NOT: pit.choose
// FEW: linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [1, 1]
// FEW-TABLE: remark: linalg.matmul: rules compared by sample '{{.*}}few.npy' of mark 'f:0': dense takes 60.8 us
// FEW-TABLE: remark: linalg.matmul: candidate 1x1 along axis 1 of operand 0: live fraction 0.0250, 3.7 us, 0.06 of dense, chosen: the least
// FEW-TABLE: remark: linalg.matmul: candidate 1x* along axis 0 of operand 0: live fraction 0.1000, 6.5 us, 0.11 of dense{{$}}

// A whole row.
// RUN: pit-opt %s -pit-label-marks -pit-plan="samples=f:0=%t.rows.npy tile-table=%S/Inputs/costs.json" | FileCheck %s --check-prefix=ROWS
// ROWS: pit.index %arg0 : tensor<10x20xf32> -> !pit.index<micro_tile = [1, *], axis = 0>

// Nothing to skip. What follows is the dense op without its mark.
// RUN: pit-opt %s -pit-label-marks -pit-plan="choice=run-time explain=true samples=f:0=%t.full.npy tile-table=%S/Inputs/costs.json" -o %t.full.mlir 2>%t.full.txt
// RUN: FileCheck %s --check-prefix=FULL --input-file=%t.full.mlir
// RUN: FileCheck %s --check-prefix=FULL-TABLE --input-file=%t.full.txt
// FULL-NOT: pit.index
// FULL: linalg.matmul ins(%arg0,
// FULL-TABLE: dense takes 60.8 us, and is chosen: no rule is faster

// Two samples count alike: half the time all is live.
// RUN: pit-opt %s -pit-label-marks -pit-plan="explain=true samples=f:0=%t.full.npy,f:0=%t.few.npy tile-table=%S/Inputs/costs.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: rules compared by samples '{{.*}}full.npy', '{{.*}}few.npy' of mark 'f:0'
// TWO: candidate 1x* along axis 0 of operand 0: live fraction 0.5500, 33.9 us, 0.56 of dense, chosen: the least

// What does not fit is an error that names the mark and the file.
// RUN: %python %S/Inputs/save_array.py %t.f8.npy "r"
// RUN: not pit-opt %s -pit-label-marks -pit-plan="samples=f:0=%t.f8.npy" 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: mark 'f:0': sample '{{.*}}.f8.npy' has elements of numpy's type f8; the mark's are f32
// RUN: %python %S/Inputs/save_array.py %t.shape.npy "r.astype('f4').T.copy()"
// RUN: not pit-opt %s -pit-label-marks -pit-plan="samples=f:0=%t.shape.npy" 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: mark 'f:0': sample '{{.*}}.shape.npy' has shape 20x10; the mark's type is tensor<10x20xf32>
// RUN: not pit-opt %s -pit-label-marks -pit-plan="samples=f:0=%s" 2>&1 | FileCheck %s --check-prefix=NPY
// NPY: error: mark 'f:0': sample '{{.*}}plan-known.mlir' is not a .npy file
// RUN: not pit-opt %s -pit-label-marks -pit-plan="samples=f:0=%t.none.npy" 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: mark 'f:0': sample '{{.*}}.none.npy' cannot be read: No such file
// RUN: not pit-opt %s -pit-label-marks -pit-plan="samples=a.npy" 2>&1 | FileCheck %s --check-prefix=PAIR
// PAIR: error: sample 'a.npy' must be the label of a mark and a file, as f:0=a.npy

func.func @f(%a: tensor<10x20xf32>, %b: tensor<20x300xf32>, %c: tensor<10x300xf32>) -> tensor<10x300xf32> {
  %s = pit.sparse %a : tensor<10x20xf32>
  %r = linalg.matmul ins(%s, %b : tensor<10x20xf32>, tensor<20x300xf32>) outs(%c : tensor<10x300xf32>) -> tensor<10x300xf32>
  return %r : tensor<10x300xf32>
}
