// Element types and headers of .npy files.

// RUN: %python %S/Inputs/make_npy.py %t.f4.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" 0000803f0000c0bf
// RUN: pit-run %s --entry=f32 --arg=%t.f4.npy --print --out=%t.out.npy | FileCheck %s --check-prefix=F32
// RUN: pit-run %s --entry=f32 --arg=%t.out.npy --print | FileCheck %s --check-prefix=F32
// F32: result 0: f32 2
// F32-NEXT: 1 -1.5

// Keys in another order, double quotes, no trailing comma, version 2; Fortran
// order of one dimension is the same as C order.
// RUN: %python %S/Inputs/make_npy.py %t.v2.npy '{"shape": (2 ,), "fortran_order": True, "descr": "<f4"}' 0000803f0000c0bf 2
// RUN: pit-run %s --entry=f32 --arg=%t.v2.npy --print | FileCheck %s --check-prefix=F32

// bf16 is V2 or uint16.
// RUN: %python %S/Inputs/make_npy.py %t.V2.npy "{'descr': '|V2', 'fortran_order': False, 'shape': (2,)}" 803fc0bf
// RUN: pit-run %s --entry=bf16 --arg=%t.V2.npy --print --out=%t.bf16.npy | FileCheck %s --check-prefix=BF16
// RUN: pit-run %s --entry=bf16 --arg=%t.bf16.npy --print | FileCheck %s --check-prefix=BF16
// RUN: %python %S/Inputs/make_npy.py %t.u2.npy "{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}" 803fc0bf
// RUN: pit-run %s --entry=bf16 --arg=%t.u2.npy --print | FileCheck %s --check-prefix=BF16
// BF16: result 0: bf16 2
// BF16-NEXT: 1 -1.5

// f8E4M3FN is V1 or uint8; f8E5M2 is f1, as ml_dtypes writes it, and is written as V1,
// which numpy reads.
// RUN: %python %S/Inputs/make_npy.py %t.V1.npy "{'descr': '<V1', 'fortran_order': False, 'shape': (4,)}" 38bc7f01
// RUN: pit-run %s --entry=e4m3 --arg=%t.V1.npy --print --out=%t.e4m3.npy | FileCheck %s --check-prefix=E4M3
// RUN: pit-run %s --entry=e4m3 --arg=%t.e4m3.npy --print | FileCheck %s --check-prefix=E4M3
// E4M3: result 0: f8E4M3FN 4
// E4M3-NEXT: 1 -1.5 nan 0.001953125
// RUN: %python %S/Inputs/make_npy.py %t.f1.npy "{'descr': '<f1', 'fortran_order': False, 'shape': (4,)}" 3cbe7c01
// RUN: pit-run %s --entry=e5m2 --arg=%t.f1.npy --print --out=%t.e5m2.npy | FileCheck %s --check-prefix=E5M2
// RUN: pit-run %s --entry=e5m2 --arg=%t.e5m2.npy --print | FileCheck %s --check-prefix=E5M2
// RUN: %python %S/Inputs/make_npy.py %t.u1.npy "{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}" 3cbe7c01
// RUN: pit-run %s --entry=e5m2 --arg=%t.u1.npy --print | FileCheck %s --check-prefix=E5M2
// E5M2: result 0: f8E5M2 4
// E5M2-NEXT: 1 -1.5 inf 1.52587891e-05
// RUN: pit-run %s --entry=e4m3 --arg="full(2,f8E4M3FN,463)" --print | FileCheck %s --check-prefix=ROUNDED
// ROUNDED: 448 448

// f16 with a subnormal and an infinity; i8; bool; i64.
// RUN: %python %S/Inputs/make_npy.py %t.f2.npy "{'descr': '<f2', 'fortran_order': False, 'shape': (3,)}" 0100007c00c2
// RUN: pit-run %s --entry=f16 --arg=%t.f2.npy --print | FileCheck %s --check-prefix=F16
// F16: result 0: f16 3
// F16-NEXT: 5.96046448e-08 inf -3
// RUN: %python %S/Inputs/make_npy.py %t.i1.npy "{'descr': '|i1', 'fortran_order': False, 'shape': (2,)}" 7f80
// RUN: pit-run %s --entry=i8 --arg=%t.i1.npy --print | FileCheck %s --check-prefix=I8
// I8: result 0: i8 2
// I8-NEXT: 127 -128
// RUN: %python %S/Inputs/make_npy.py %t.b1.npy "{'descr': '|b1', 'fortran_order': False, 'shape': ()}" 01
// RUN: pit-run %s --entry=bool --arg=%t.b1.npy --print | FileCheck %s --check-prefix=BOOL
// BOOL: result 0: bool
// BOOL-NEXT: 1

// What is refused.
// RUN: not pit-run %s --entry=f32 --arg=%t.none.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: pit-run: error: cannot read '{{.*}}none.npy': No such file or directory
// RUN: not pit-run %s --entry=f32 --arg=%s 2>&1 | FileCheck %s --check-prefix=NOT-NPY
// NOT-NPY: pit-run: error: '{{.*}}npy.mlir' is not a .npy file
// RUN: %python %S/Inputs/make_npy.py %t.x.npy "{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}" 00000000
// RUN: not pit-run %s --entry=f32 --arg=%t.x.npy 2>&1 | FileCheck %s --check-prefix=BIG
// BIG: pit-run: error: '{{.*}}' is big-endian (>f4); save it as <f4
// RUN: %python %S/Inputs/make_npy.py %t.x.npy "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}" 0000000000000000
// RUN: not pit-run %s --entry=f32 --arg=%t.x.npy 2>&1 | FileCheck %s --check-prefix=COMPLEX
// COMPLEX: pit-run: error: '{{.*}}' has elements of type <c8; it must be f64, f32,
// RUN: %python %S/Inputs/make_npy.py %t.x.npy "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}" 0000000000000000
// RUN: not pit-run %s --entry=f32 --arg=%t.x.npy 2>&1 | FileCheck %s --check-prefix=FORTRAN
// FORTRAN: pit-run: error: '{{.*}}' is in Fortran order; save numpy.ascontiguousarray(it)
// RUN: %python %S/Inputs/make_npy.py %t.x.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}" 0000000000000000
// RUN: not pit-run %s --entry=f32 --arg=%t.x.npy 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: pit-run: error: '{{.*}}' has 8 bytes of data; its shape (f32 3) takes more
// RUN: %python %S/Inputs/make_npy.py %t.x.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}" 00
// RUN: not pit-run %s --entry=f32 --arg=%t.x.npy 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: pit-run: error: '{{.*}}' has 1 bytes of data; its shape (f32 4611686018427387904x4) takes more than there can be
// RUN: %python %S/Inputs/make_npy.py %t.x.npy "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}" 00000000
// RUN: not pit-run %s --entry=f32 --arg=%t.x.npy 2>&1 | FileCheck %s --check-prefix=RECORD
// RECORD: pit-run: error: '{{.*}}' is not a sound .npy file: its element type is not a simple one
// Messages repeat no control characters.
// RUN: %python %S/Inputs/make_npy.py %t.x.npy "{'descr': '	f4', 'fortran_order': False, 'shape': (1,)}" 00000000
// RUN: not pit-run %s --entry=f32 --arg=%t.x.npy 2>&1 | FileCheck %s --check-prefix=RECORD
// RUN: not pit-run %s --entry=f32 --arg=%t.f4.npy --out=/nowhere/x.npy 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: pit-run: error: cannot write '/nowhere/x.npy': No such file or directory

func.func @f32(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }
func.func @bf16(%a: tensor<?xbf16>) -> tensor<?xbf16> { return %a : tensor<?xbf16> }
func.func @e4m3(%a: tensor<?xf8E4M3FN>) -> tensor<?xf8E4M3FN> { return %a : tensor<?xf8E4M3FN> }
func.func @e5m2(%a: tensor<?xf8E5M2>) -> tensor<?xf8E5M2> { return %a : tensor<?xf8E5M2> }
func.func @f16(%a: tensor<?xf16>) -> tensor<?xf16> { return %a : tensor<?xf16> }
func.func @i8(%a: tensor<?xi8>) -> tensor<?xi8> { return %a : tensor<?xi8> }
func.func @bool(%a: i1) -> i1 { return %a : i1 }
