// A run records the zeros of its marks, and a compilation plans by them.

// RUN: rm -f %t.json
// RUN: pit-run %s --arg='random(256x128,f32,sparsity=0.9,micro=8x1,seed=1)' --arg='random(128x256,f32,seed=2)' \
// RUN:   --arg='random(256x256,bool,sparsity=0.5,micro=1x256,seed=3)' --repeat=3 --profile-out=%t.json --check
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// JSON: {"pit_profile": 1, "dropped": 0, "marks": [
// JSON: {"label": "f:0", "signature": "values of tensor<256x128xf32> for linalg.matmul", "location": "{{.*}}profile.mlir:{{[0-9]+}}:8",
// JSON-NEXT: "shape": [256, 128], "calls": 4,
// JSON: {"axis": 1, "micro_tile": [8, 1], "micro_tiles": 4096, "live": {"min": 410, "mean": 410, "max": 410}}
// JSON: {"label": "wanted", "signature": "mask of tensor<256x256xf32> for func.return",
// JSON: {"axis": 0, "micro_tile": [1, 0], "micro_tiles": 256, "live": {"min": 128, "mean": 128, "max": 128}}

// RUN: pit-run %s --arg='random(256x128,f32,sparsity=0.9,micro=8x1,seed=4)' --arg='random(128x256,f32,seed=2)' \
// RUN:   --arg='random(256x256,bool,sparsity=0.5,micro=1x256,seed=3)' --profile=%t.json --explain --check 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PLAN
// PLAN-DAG: rules compared by profile '{{.*}}.json' (4 calls) of mark 'f:0': dense takes
// PLAN-DAG: candidate 8x1 along axis 1 of operand 0: live fraction 0.1001
// PLAN-DAG: rules compared by profile '{{.*}}.json' (4 calls) of mark 'wanted': dense takes
// PLAN-DAG: candidate 1x* along axis 0 of operand 2: live fraction 0.5000
// PLAN: check: result 0: {{.*}}: ok

// A profile of another program, or none at all.
// RUN: sed 's/tensor<256x128xf32>/tensor<512x128xf32>/' %t.json > %t.other.json
// RUN: not pit-compile %s --emit=mlir --profile=%t.other.json 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: mark 'f:0': profile '{{.*}}.other.json' is of another program: its mark 'f:0' is values of tensor<512x128xf32> for linalg.matmul, and here it is values of tensor<256x128xf32> for linalg.matmul; record it anew
// RUN: sed 's/"wanted"/"f:7"/' %t.json > %t.more.json
// RUN: not pit-compile %s --emit=mlir --profile=%t.more.json 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: error: profile '{{.*}}.more.json' is of another program: it has a mark 'f:7', but there are: f:0, wanted; record it anew
// RUN: echo '{"pit_profile": 1, "marks": []}' > %t.empty.json
// RUN: pit-compile %s --emit=mlir --profile=%t.empty.json -o %t.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: warning: profile '{{.*}}.empty.json' has nothing of mark 'f:0': no call reached it, or it is new
// RUN: echo '{"pit_profile": 1, "marks": [{"label": "f:0"}]}' > %t.bad.json
// RUN: not pit-compile %s --emit=mlir --profile=%t.bad.json 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: profile '{{.*}}.bad.json': mark 0 ('f:0'): it needs a signature, a shape, a positive number of calls and candidates
// RUN: not pit-compile %s --emit=mlir --profile=%s 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: profile '{{.*}}profile.mlir': not JSON
// RUN: not pit-compile %s --emit=mlir --profile=%t.none.json 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: profile '{{.*}}.none.json': No such file
// RUN: pit-compile %s -o %t.so
// RUN: not pit-run %t.so --arg='full(256x128,f32,1)' --arg='full(128x256,f32,1)' --arg='full(256x256,bool,1)' \
// RUN:   --profile-out=%t.out.json 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: pit-run: error: {{.*}}profile: no call has recorded anything; compile the program with record=true, for the CPU

func.func @f(%a: tensor<256x128xf32>, %b: tensor<128x256xf32>, %m: tensor<256x256xi1>) -> tensor<256x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %s = pit.sparse %a : tensor<256x128xf32>
  %r = linalg.matmul ins(%s, %b : tensor<256x128xf32>, tensor<128x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %w = pit.sparse %r mask(%m : tensor<256x256xi1>) label("wanted") : tensor<256x256xf32>
  return %w : tensor<256x256xf32>
}
