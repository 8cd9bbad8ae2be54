// REQUIRES: x86
// pit-tune measures one element type in the least time, and the compiler takes its table.

// RUN: rm -f %t.json %t.json.state
// RUN: %pit_tune --element=f32 --heights=4 --seconds=0.01 --out=%t.json > %t.txt
// RUN: FileCheck %s --check-prefix=SAYS --input-file=%t.txt
// SAYS: second cache {{[0-9]+}} KB, last {{[0-9]+}} KB
// SAYS: [1/8] {{.*}} f32 8x8x16: dense {{.*}} us, spread of quartiles up to {{.*}} %, left {{.*}}
// SAYS: [8/8]
// SAYS: f32: the model is off by {{.*}} % (root mean square), most at
// SAYS: wrote {{.*}}.json: pit-compile --pipeline=tile-table={{.*}}.json

// RUN: FileCheck %s --check-prefix=TABLE --input-file=%t.json
// TABLE: "target": "cpu"
// TABLE: "element": "{{[a-z0-9]+}} f32", "bytes": {{[0-9]+}}, "dense": {{[0-9.]+}}, "scan": {{[0-9.]+}}, "group": {{[0-9.]+}}, "read": {{[0-9.]+}}, "step": {{[0-9]+}}, "micro": [{"rows": 4, "multiply": {{[0-9.]+}}, "group": {{[0-9.]+}}
// TABLE: "element": "{{[a-z0-9]+}} f32", "dense"

// RUN: pit-opt %s -pit-plan="choice=run-time tile-table=%t.json explain=true" 2>&1 | FileCheck %s
// CHECK: linalg.matmul
func.func @f(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %s = pit.sparse %a : tensor<512x512xf32>
  %r = linalg.matmul ins(%s, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// A second run has nothing to measure.
// RUN: %pit_tune --element=f32 --heights=4 --seconds=0.01 --out=%t.json | FileCheck %s --check-prefix=AGAIN
// AGAIN: 8 of 8 shapes were measured before
// AGAIN-NOT: left
// AGAIN: wrote

// What would be measured.
// RUN: %pit_tune --element=i8 --heights=4,32 --dry-run --out=%t.none.json | FileCheck %s --check-prefix=DRY
// DRY: i8 512x{{[0-9]+}}x256: dense, 4x1 50 %, 4x1 10 %, 4x1 2 %, 4x1 0.5 %, 32x1 50 %, 32x1 10 %, 32x1 2 %, 32x1 0.5 %, rows 50 %, rows 10 %, rows 2 %, rows 0.5 %
// DRY: 8 of 8 shapes, at most {{.*}} of runs

// RUN: not %pit_tune --element=f8 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT: error: argument --element: 'f8' is none of f32, f64, f16, bf16, i8
// RUN: not %pit_tune --heights=0 2>&1 | FileCheck %s --check-prefix=HEIGHTS
// HEIGHTS: error: argument --heights: '0' is no list of heights of 1 to 128, as 1,4,32
// RUN: not %pit_tune --seconds=-1 2>&1 | FileCheck %s --check-prefix=SECONDS
// SECONDS: error: argument --seconds: '-1' is no number of seconds, from 0 to 3600

// Another machine's state, or one of other heights, is refused.
// RUN: not %pit_tune --element=f32 --heights=8 --resume=%t.json.state --out=%t.none.json 2>&1 | FileCheck %s --check-prefix=STATE
// STATE: error: {{.*}}.state was measured with heights [4], not [8]; remove it to begin anew, or name another file
// RUN: not %pit_tune --element=f32 --heights=8 --resume=%t.txt --out=%t.none.json 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: error: {{.*}}.txt is no state of pit-tune: {{.*}}; remove it to begin anew
