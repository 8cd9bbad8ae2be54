// Programs for a GPU, over a driver without a device: kernels do not run, but
// what is asked of the device, and in which order, is seen.

// REQUIRES: pit-fake-cuda

// Memory for arguments and results, the arguments' contents, work on one stream,
// one wait for each run, the results; and everything is given back.
// RUN: env PIT_FAKE_CUDA_TRACE=1 pit-run %s --target=cuda --cuda-library=%pit_fake_cuda --entry=scale \
// RUN:   --arg='full(8x4,f32,3)' --arg=2 --repeat=2 --out=%t.npy > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=SCALE --implicit-check-not="fake: {{write|wait|read|free}}" < %t.err
// RUN: FileCheck %s --check-prefix=TIME < %t.out
// SCALE: fake: allocate 128 bytes
// SCALE-NEXT: fake: write 128 bytes on stream [[S:[0-9]+]]
// SCALE-NEXT: fake: wait for stream [[S]]
// SCALE-NEXT: fake: allocate 128 bytes
// SCALE-NEXT: fake: write 128 bytes on stream [[S]]
// SCALE-NEXT: fake: wait for stream [[S]]
// SCALE: fake: launch scale_kernel{{.*}} on stream [[S]]
// SCALE: fake: wait for stream [[S]]
// SCALE-NEXT: fake: launch scale_kernel{{.*}} on stream [[S]]
// SCALE: fake: wait for stream [[S]]
// SCALE-NEXT: fake: launch scale_kernel{{.*}} on stream [[S]]
// SCALE: fake: wait for stream [[S]]
// SCALE-NEXT: fake: read 128 bytes on stream [[S]]
// SCALE-NEXT: fake: wait for stream [[S]]
// SCALE-NEXT: fake: free 128 bytes
// SCALE-NEXT: fake: free 128 bytes
// SCALE: fake: free {{[0-9]+}} bytes
// TIME: time: min {{[0-9.]+}} ms, median {{[0-9.]+}} ms (2 runs)

// Results are what the device's memory holds: here what pit-run filled it with,
// so that whatever a kernel leaves out is seen. The dense program runs on the CPU.
// RUN: not pit-run %s --target=cuda --cuda-library=%pit_fake_cuda --entry=scale \
// RUN:   --arg='full(2x2,f32,3)' --arg=2 --print --check --pipeline=mainloops=false > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=CHECK < %t.out
// RUN: FileCheck %s --check-prefix=OFF < %t.err
// CHECK: result 0: f32 2x2
// CHECK-NEXT: nan {{-?}}nan
// CHECK-NEXT: nan {{-?}}nan
// CHECK-NEXT: dense program on the CPU: {{[0-9.]+}} ms
// CHECK-NEXT: check: result 0: {{.*}}: OFF
// OFF: pit-run: error: result 0: 4 of 4 elements differ from the dense program's; element 0 is {{-?}}nan, not 6

// The chip is that of the GPU, or the one that was asked for.
// RUN: pit-run %s --target=cuda --cuda-library=%pit_fake_cuda --device=1 --entry=matmul \
// RUN:   --arg='zeros(8x8,f32)' --arg='zeros(8x8,f32)' --arg='zeros(8x8,f32)' --stats --explain --pipeline=choice=now 2>&1 | FileCheck %s --check-prefix=STATS
// STATS: remark: linalg.matmul: {{.*}}#pit.rule<operand = 0
// STATS: index 0: values of argument 0, 8x8 along axis
// STATS-NEXT: 0 of {{[0-9]+}} micro-tiles are live: live fraction 0.0000, fullest of {{.*}}; built on the GPU
// STATS-NEXT: rule: {{.*}}#pit.rule<operand = 0

// Of so small a product the host knows that it is dense.
// RUN: pit-run %s --target=cuda --cuda-library=%pit_fake_cuda --entry=matmul \
// RUN:   --arg='zeros(8x8,f32)' --arg='zeros(8x8,f32)' --arg='zeros(8x8,f32)' --stats 2>&1 | FileCheck %s --check-prefix=KNOWN
// KNOWN: {{.*dense.*}}

// What the device alone sees of an index is asked for once.
// RUN: not env PIT_FAKE_CUDA_FILL=1 pit-run %s --target=cuda --cuda-library=%pit_fake_cuda --entry=matmul \
// RUN:   --arg='zeros(8x8,f32)' --arg='zeros(8x8,f32)' --arg='zeros(8x8,f32)' --pipeline=choice=now 2>&1 | FileCheck %s --check-prefix=STATUS
// STATUS: pit-run: error: index 0 of the call is not complete: unknown status

// An index argument is built on the device, from a copy.
// RUN: env PIT_FAKE_CUDA_TRACE=1 pit-run %s --target=cuda --chip=sm_80 --cuda-library=%pit_fake_cuda --entry=byindex \
// RUN:   --arg='random(16x8,f16)' --arg='zeros(16x8,f32)' --arg='zeros(8x4,f32)' --arg='zeros(16x4,f32)' 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: fake: allocate 256 bytes
// INDEX-NEXT: fake: write 256 bytes on stream [[S:[0-9]+]]
// INDEX: fake: launch pit_index_{{.*}} on stream [[S]]
// INDEX: fake: write 512 bytes on stream [[S]]
// INDEX: fake: launch byindex_kernel{{.*}} on stream [[S]]
// INDEX: fake: read 256 bytes on stream [[S]]

// A program that was compiled ahead of time says itself where it runs.
// RUN: pit-compile %s --target=cuda -o %t.so
// RUN: pit-run %t.so --cuda-library=%pit_fake_cuda --entry=scale --arg='zeros(8x4,f32)' --arg=2 | FileCheck %s --check-prefix=ONCE
// RUN: pit-run %t.so --target=cuda --cuda-library=%pit_fake_cuda --entry=scale --arg='zeros(8x4,f32)' --arg=2 | FileCheck %s --check-prefix=ONCE
// ONCE: time: min {{[0-9.]+}} ms, median {{[0-9.]+}} ms (1 run)
// Its kernels may be assembled already.
// RUN: env PIT_FAKE_CUDA_TRACE=1 pit-run %t.so --cuda-library=%pit_fake_cuda --entry=scale --arg='zeros(8x4,f32)' --arg=2 2>&1 | FileCheck %s --check-prefix=PTX
// PTX: fake: link PTX
// PTX-NEXT: fake: load a cubin
// PTX: fake: launch scale_kernel
// RUN: %if ptxas %{ pit-compile %s --target=cuda --chip=sm_90a -o %t.90a.so %}
// RUN: %if ptxas %{ env PIT_FAKE_CUDA_TRACE=1 pit-run %t.90a.so --cuda-library=%pit_fake_cuda --entry=scale --repeat=3 \
// RUN:   --arg='zeros(8x4,f32)' --arg=2 2>&1 | FileCheck %s --check-prefix=CUBIN --implicit-check-not='fake: {{link|load}}' %}
// RUN: %if ptxas %{ env PIT_FAKE_CUDA_TRACE=1 pit-run %s --target=cuda --cuda-library=%pit_fake_cuda --entry=scale --repeat=3 \
// RUN:   --arg='zeros(8x4,f32)' --arg=2 2>&1 | FileCheck %s --check-prefix=CUBIN --implicit-check-not='fake: {{link|load}}' %}
// CUBIN: fake: load a cubin
// CUBIN: fake: launch scale_kernel
// CUBIN: fake: launch scale_kernel
// RUN: not pit-run %t.so --target=cpu --entry=scale 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: pit-run: error: '{{.*}}.so' runs on a GPU, not on --target=cpu

// RUN: not pit-run %s --entry=scale --arg='zeros(2x2,f32)' --arg=2 --check=%t.so 2>&1 | FileCheck %s --check-prefix=DENSE
// DENSE: pit-run: error: --check={{.*}}.so runs on a GPU; the dense program of one for the CPU runs there

// No GPU, no driver, no memory: one line.
// RUN: not pit-run %s --target=cuda --cuda-library=%t.none 2>&1 | FileCheck %s --check-prefix=NO-DRIVER
// RUN: not pit-run %t.so --cuda-library=%t.none --entry=scale 2>&1 | FileCheck %s --check-prefix=NO-DRIVER
// NO-DRIVER: pit-run: error: cuda: cannot open the driver's library: {{.*}}.none: {{.+}}
// RUN: not pit-run %s --target=cuda --cuda-library=%pit_fake_cuda --device=2 2>&1 | FileCheck %s --check-prefix=NO-DEVICE
// NO-DEVICE: pit-run: error: cuda: device_id is 2; this machine has 2 devices, numbered from 0
// RUN: not pit-run %s --target=cuda --cuda-library=%pit_fake_cuda --entry=scale \
// RUN:   --arg='zeros(100000x4000,f32)' --arg=2 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: pit-run: error: cuda: out of memory on device 0 (Fake 0): 1600000000 bytes were asked for; {{[0-9]+}} of 1073741824 are free
// RUN: not pit-run %s --device=-1 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: pit-run: error: --device=-1: it must be a number from 0
// RUN: not pit-run %s --target=cuda --cuda-library=%pit_fake_cuda --entry=scale \
// RUN:   --arg='zeros(2x2,f32)' --arg=2 --live-plot=%t.png 2>&1 | FileCheck %s --check-prefix=PLOT
// PLOT: pit-run: error: --live-plot takes indices that are built on the CPU

func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>)
         outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @scale(%a: tensor<?x?xf32>, %s: f32) -> tensor<?x?xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<?x?xf32>, f32) outs(%a : tensor<?x?xf32>) {
  ^bb0(%x: f32, %f: f32, %o: f32):
    %p = arith.mulf %x, %f : f32
    linalg.yield %p : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @byindex(%i: !pit.index<micro_tile = [1, *], axis = 0>, %a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [1, *], axis = 0>) : tensor<?x?xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
