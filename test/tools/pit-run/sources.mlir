// Every source of a selection and element type: the same results as the dense
// program, and a picture.

// RUN: pit-run %s --entry=mask --arg='random(70x50,f32)' --arg='random(70x50,bool,sparsity=0.9,micro=1x16)' \
// RUN:   --arg='random(50x33,f32)' --arg='random(70x33,f32)' --stats --check --live-plot=%t.png | FileCheck %s --check-prefix=MASK
// RUN: %python %S/Inputs/png_size.py %t.png | FileCheck %s --check-prefix=MASK-PNG
// MASK: index 0: mask of argument 1, 70x50
// MASK: check: result 0: {{.*}}: ok
// MASK-PNG: 350 490

// RUN: pit-run %s --entry=lengths --arg='random(5x40x30,f16)' --arg='random(5,i32,low=0,high=40)' \
// RUN:   --arg='random(5x30x20,f16)' --arg='zeros(5x40x20,f16)' --stats --check --live-plot=%t.png | FileCheck %s --check-prefix=LENGTHS
// RUN: %python %S/Inputs/png_size.py %t.png | FileCheck %s --check-prefix=LENGTHS-PNG
// LENGTHS: index 0: lengths of argument 1, 5x40x30 {{.*}} 1x1x*
// LENGTHS-NEXT: waste 0.0000
// LENGTHS: check: result 0: {{.*}}: ok
// LENGTHS-PNG: 60 400

// RUN: not pit-run %s --entry=lengths --arg='random(5x40x30,f16)' --arg='full(5,i32,41)' \
// RUN:   --arg='random(5x30x20,f16)' --arg='zeros(5x40x20,f16)' 2>&1 | FileCheck %s --check-prefix=TOO-LONG
// TOO-LONG: pit-run: error: {{.*}}41{{.*}}40

// RUN: pit-run %s --entry=sddmm --arg='random(70x50,f32)' --arg='random(50x33,f32)' --arg='random(70x33,f32)' \
// RUN:   --arg='random(70x33,i8,sparsity=0.9,micro=32x1,low=1,high=1)' --stats --check | FileCheck %s --check-prefix=SDDMM
// SDDMM: index 0: mask of argument 3, 70x33
// SDDMM: check: result 0: {{.*}}: ok

// RUN: pit-run %s --entry=experts --arg='random(30x8,f32)' --arg='random(30x2,i32,low=-1,high=7)' \
// RUN:   --arg='random(30x24,bf16)' --arg='random(8x24x32,bf16)' --arg='zeros(30x8x32,f32)' --stats --check \
// RUN:   --live-plot=%t.png | FileCheck %s --check-prefix=EXPERTS
// RUN: %python %S/Inputs/png_size.py %t.png | FileCheck %s --check-prefix=EXPERTS-PNG
// EXPERTS: index 0: routing of argument 1, 30x8
// EXPERTS: check: result 0: {{.*}}: ok
// EXPERTS-PNG: 128 480

// RUN: pit-run %s --entry=i8 --arg='random(70x50,i8,sparsity=0.8,micro=32x1)' --arg='random(50x33,i8)' \
// RUN:   --arg='random(70x33,i32)' --check | FileCheck %s --check-prefix=I8
// I8: check: result 0: max abs error 0, max relative error 0 (tolerance 0e+00): ok
// RUN: pit-run %s --entry=bf --arg='random(70x50,bf16,sparsity=0.8,micro=32x1)' --arg='random(50x33,bf16)' \
// RUN:   --arg='random(70x33,bf16)' --check | FileCheck %s --check-prefix=BF
// BF: check: result 0: {{.*}} (tolerance 3e-02): ok

// Windows overlap.
// RUN: pit-run %s --entry=conv --arg='random(1x16x20x20,f32,sparsity=0.8,micro=1x1x8x8)' --arg='random(8x16x3x3,f32)' \
// RUN:   --arg='zeros(1x8x18x18,f32)' --stats --check --live-plot=%t.png | FileCheck %s --check-prefix=CONV
// RUN: %python %S/Inputs/png_size.py %t.png | FileCheck %s --check-prefix=CONV-PNG
// CONV: index 0: values of argument 0, 1x16x20x20 along axis 1 in micro-tiles of 1x1x6x{{130|98}} each 1x1x4x{{128|96}}
// CONV: check: result 0: {{.*}}: ok
// CONV-PNG: 20 320
// RUN: not pit-run %s --entry=conv --arg='zeros(1x16x20x20,f32)' --arg='zeros(8x16x3x3,f32)' \
// RUN:   --arg='zeros(1x8x19x18,f32)' 2>&1 | FileCheck %s --check-prefix=WINDOW
// WINDOW: pit-run: error: dimension 2 of argument 0 is 20 but dimension 2 of argument 2 + 2 is 21; the first must be at least the second

// An index argument is built from the values of what is given for it.
// RUN: pit-run %s --entry=byindex --arg='random(70x50,f32,sparsity=0.8,micro=1x*)' --arg='random(70x50,f32)' \
// RUN:   --arg='random(50x33,f32)' --arg='zeros(70x33,f32)' --check | FileCheck %s --check-prefix=INDEX
// INDEX: check: result 0: {{.*}}: ok
// RUN: not pit-run %s --entry=byindex --arg='zeros(70,f32)' --arg='random(70x50,f32)' \
// RUN:   --arg='random(50x33,f32)' --arg='zeros(70x33,f32)' 2>&1 | FileCheck %s --check-prefix=INDEX-RANK
// INDEX-RANK: pit-run: error: argument 0 is built from a tensor of rank 1; the index is of one of rank 2
// RUN: not pit-run %s --entry=byindex --arg='zeros(60x50,f32)' --arg='random(70x50,f32)' \
// RUN:   --arg='random(50x33,f32)' --arg='zeros(70x33,f32)' 2>&1 | FileCheck %s --check-prefix=INDEX-SHAPE
// INDEX-SHAPE: pit-run: error: dimension 0 of argument 0 is 60 but dimension 0 of argument 1 is 70; the first must be equal to the second

func.func @mask(%a: tensor<?x?xf32>, %m: tensor<?x?xi1>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a mask(%m : tensor<?x?xi1>) : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @lengths(%a: tensor<?x?x?xf16>, %l: tensor<?xi32>, %b: tensor<?x?x?xf16>, %c: tensor<?x?x?xf16>) -> tensor<?x?x?xf16> {
  %s = pit.sparse %a lengths(%l : tensor<?xi32>) : tensor<?x?x?xf16>
  %r = linalg.batch_matmul ins(%s, %b : tensor<?x?x?xf16>, tensor<?x?x?xf16>) outs(%c : tensor<?x?x?xf16>) -> tensor<?x?x?xf16>
  return %r : tensor<?x?x?xf16>
}
func.func @sddmm(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %m: tensor<?x?xi8>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = pit.sparse %r mask(%m : tensor<?x?xi8>) : tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}
func.func @experts(%r: tensor<?x?xf32>, %t: tensor<?x2xi32>, %a: tensor<?x?xbf16>, %w: tensor<?x?x?xbf16>, %h: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %s = pit.sparse %r routing(%t : tensor<?x2xi32>) : tensor<?x?xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(t, e, f, k) -> (t, e)>, affine_map<(t, e, f, k) -> (t, k)>, affine_map<(t, e, f, k) -> (e, k, f)>, affine_map<(t, e, f, k) -> (t, e, f)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%s, %a, %w : tensor<?x?xf32>, tensor<?x?xbf16>, tensor<?x?x?xbf16>) outs(%h : tensor<?x?x?xf32>) {
  ^bb0(%x: f32, %y: bf16, %z: bf16, %acc: f32):
    %y1 = arith.extf %y : bf16 to f32
    %z1 = arith.extf %z : bf16 to f32
    %p = arith.mulf %y1, %z1 : f32
    %q = arith.mulf %x, %p : f32
    %v = arith.addf %acc, %q : f32
    linalg.yield %v : f32
  } -> tensor<?x?x?xf32>
  return %o : tensor<?x?x?xf32>
}
func.func @i8(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %s = pit.sparse %a : tensor<?x?xi8>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}
func.func @bf(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %s = pit.sparse %a : tensor<?x?xbf16>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}
func.func @conv(%i: tensor<1x16x?x?xf32>, %f: tensor<8x16x3x3xf32>, %o: tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32> {
  %s = pit.sparse %i : tensor<1x16x?x?xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%s, %f : tensor<1x16x?x?xf32>, tensor<8x16x3x3xf32>) outs(%o : tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32>
  return %r : tensor<1x8x?x?xf32>
}
func.func @byindex(%i: !pit.index<micro_tile = [1, *], axis = 0>, %a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [1, *], axis = 0>) : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
