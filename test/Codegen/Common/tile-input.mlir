// What no code is made of is the same for CPUs and GPUs, and so are the errors.
// They differ in how groups may be kept apart.

// RUN: sed 's/cpu-error/expected-error/' %s | pit-opt --split-input-file --pass-pipeline='builtin.module(builtin.module(convert-pit-to-scf))' --verify-diagnostics
// RUN: sed 's/gpu-error/expected-error/' %s | pit-opt --split-input-file --convert-pit-to-gpu --verify-diagnostics

module {
module @pit_kernels attributes {pit.kernels} {
func.func @tensors(%x: memref<4xf32>) {
  // expected-error @+1 {{'bufferization.to_tensor' op works on tensors: bufferize it first}}
  %t = bufferization.to_tensor %x : memref<4xf32> to tensor<4xf32>
  return
}
}
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
module {
module @pit_kernels attributes {pit.kernels} {
func.func @whole(%a: memref<?x?xf32>, %p: memref<?x?xf32>, %i: !rows) {
  // expected-error @+1 {{'pit.sread' op packs a whole tensor: run pit-tile first}}
  pit.sread %a[%i : !rows] into %p : memref<?x?xf32> -> memref<?x?xf32>
  return
}
}
}

// -----

!cols = !pit.index<micro_tile = [32, 1], axis = 1>
module {
module @pit_kernels attributes {pit.kernels} {
func.func private @other(!cols)
func.func @called(%i: !cols) {
  // expected-error @+1 {{func.call takes or gives an index, ids or a bitmap, which only pit's own ops do}}
  call @other(%i) : (!cols) -> ()
  return
}
}
}

// -----

!cols = !pit.index<micro_tile = [32, 1], axis = 1>
module {
module @pit_kernels attributes {pit.kernels} {
func.func @selected(%i: !cols, %j: !cols, %c: i1, %x: memref<index>) {
  // expected-error @+1 {{arith.select takes or gives an index, ids or a bitmap, which only pit's own ops do}}
  %k = arith.select %c, %i, %j : !cols
  %n = pit.count %k : !cols
  memref.store %n, %x[] : memref<index>
  return
}
}
}

// -----

module {
module @pit_kernels attributes {pit.kernels} {
func.func @two_phase(%n: index) {
  %c0 = arith.constant 0 : index
  // cpu-error @+2 {{'pit.forall' op keeps groups apart by two_phase; the CPU takes none and sequential}}
  // gpu-error @+1 {{'pit.forall' op keeps groups apart by two_phase; kernels take none, sequential and atomic}}
  pit.forall (%k) = (%c0) to (%n) step (64) conflicts(two_phase) {
  }
  return
}
}
}

// -----

module {
module @pit_kernels attributes {pit.kernels} {
func.func @atomic_wide(%t: memref<4xi128>, %x: memref<?xi128>, %n: index) {
  %c0 = arith.constant 0 : index
  // cpu-error @+1 {{'pit.forall' op keeps groups apart by atomic; the CPU takes none and sequential}}
  pit.forall (%k) = (%c0) to (%n) step (1) conflicts(atomic) {
    // gpu-error @+1 {{'pit.swrite' op combines elements of 'i128' that several groups write; atomics take numbers of 1, 2, 4 or 8 bytes}}
    pit.swrite %t into %x[%c0] combine(addi) : memref<4xi128> into memref<?xi128>
  }
  return
}
}
}
