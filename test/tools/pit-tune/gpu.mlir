// REQUIRES: pit-compile, pit-emulator
// pit-tune measures a GPU, which here is the emulator, and the compiler takes its table.

// DEFINE: %{tune} = env LD_LIBRARY_PATH=%pit_emulator %pit_tune --target=cuda --size=64 --element=bf16 --layout=right --heights=32 --seconds=0.01
// RUN: rm -f %t.json %t.json.state
// RUN: %{tune} --out=%t.json > %t.txt
// RUN: FileCheck %s --check-prefix=SAYS --input-file=%t.txt
// SAYS: Emulated sm_90: sm_90a
// SAYS: [1/4] bf16 right 64x64x64: dense {{.*}} us, spread of quartiles up to {{.*}} %, left {{.*}}
// SAYS: [4/4]
// SAYS: bf16 right: the model is off by {{.*}} % (root mean square), most at
// SAYS: wrote {{.*}}.json: pit-compile --target=cuda --pipeline=tile-table={{.*}}.json

// An emulator's times depend on what else the machine does, and may leave nothing for
// whole rows, which a GPU's table has first, or for the whole entry. What an entry has:
// RUN: %python -c "import json; table = json.load(open('%t.json')); print(table['target'], [(c['element'], c['layout'], min(c['dense'], c['scan'], c['group']) > 0, c['ask'], len(c['micro']) > 0) for c in table['costs']])" | FileCheck %s --check-prefix=TABLE
// TABLE: cuda [{{(\('bf16', 'right', True, 1200000, True\))?}}]
// RUN: %python -c "import sys; sys.path.insert(0, '%pit_src_root/python'); from pit.tune.gpu import ROWS, make_entry; costs = {'dense': 2.5, 'scan': 0, 'multiply 32': 3.14159, 'pack 32': 7}; print(make_entry('bf16', 'right', costs, [32]), make_entry('bf16', 'right', costs, [8]), make_entry('bf16', 'right', {'multiply 8': 1}, [8]))" | FileCheck %s --check-prefix=ENTRY
// ENTRY: {'element': 'bf16', 'layout': 'right', 'dense': 2.5, 'scan': 0.01, 'group': 1, 'ask': 1200000, 'micro': [{'rows': 32, 'multiply': 3.14, 'pack': 7, {{.*}}}]} None None

// RUN: pit-opt %s -pit-plan="target=sm_90a choice=run-time tile-table=%t.json explain=true" 2>&1 | FileCheck %s
// CHECK: linalg.matmul
func.func @f(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %s = pit.sparse %b : tensor<512x512xbf16>
  %r = linalg.matmul ins(%a, %s : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// A second run has nothing to measure.
// RUN: %{tune} --out=%t.json | FileCheck %s --check-prefix=AGAIN
// AGAIN: 4 of 4 shapes were measured before
// AGAIN-NOT: left
// AGAIN: wrote

// What would be measured: rules that a shape has room for.
// RUN: env LD_LIBRARY_PATH=%pit_emulator %pit_tune --target=cuda --size=128 --element=f32 --layout=left --heights=8,64 --dry-run --out=%t.none.json | FileCheck %s --check-prefix=DRY
// DRY: f32 left 128x128x128: dense, rows 50 %, {{.*}}, 8x1 50 %, 8x1 20 %, 8x1 5 %, 8x1 1 %, 64x1 50 %, {{.*}}, parts of 64 50 %, {{.*}}, wanted parts of 64 1 %
// DRY: f32 left 32x128x128: dense, {{.*}} 8x1 1 %, parts of 64 50 %
// DRY: 4 of 4 shapes, at most {{.*}} of runs

// RUN: not %pit_tune --target=cuda --element=i8 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT: error: argument --element: 'i8' is none of f16, bf16, f32
// RUN: not %pit_tune --target=cuda --size=100 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: argument --size: '100' is no multiple of 64 of at most 32768
// RUN: not %pit_tune --target=cuda --layout=middle 2>&1 | FileCheck %s --check-prefix=LAYOUT
// LAYOUT: error: argument --layout: 'middle' is none of left, left-bt, right
