// RUN: pit-opt %s -convert-pit-to-gpu -split-input-file -verify-diagnostics

module {
module @pit_kernels attributes {pit.kernels} {
// expected-error @+1 {{kernel returns 1 values; results of a kernel are memref arguments that it writes}}
func.func @result(%x: memref<?xf32>) -> memref<?xf32> {
  return %x : memref<?xf32>
}
}
}

// -----

module {
module @pit_kernels attributes {pit.kernels} {
// expected-error @+1 {{kernel argument of type 'memref<4x4xf32, affine_map<(d0, d1) -> (d0, d1 mod 2)>>'; a memref with strides, a scalar or an index is right}}
func.func @layout(%x: memref<4x4xf32, affine_map<(d0, d1) -> (d0, d1 mod 2)>>) {
  return
}
}
}

// -----

module {
module @pit_kernels attributes {pit.kernels} {
// expected-error @+1 {{kernel of several blocks; use scf for control flow}}
func.func @blocks() {
  cf.br ^bb1
^bb1:
  return
}
}
}

// -----

module {
module @pit_kernels attributes {pit.kernels} {
func.func @dynamic_tile(%n: index) {
  %c0 = arith.constant 0 : index
  pit.forall (%i) = (%c0) to (%n) step (4) {
    // expected-error @+1 {{buffer of type 'memref<?xf32>' in a kernel; a block has room for buffers of static shape without gaps only}}
    %t = memref.alloc(%i) : memref<?xf32>
  }
  return
}
}
}

// -----

!cols = !pit.index<micro_tile = [32, 1], axis = 1>
module {
module @pit_kernels attributes {pit.kernels} {
func.func @build(%a: memref<?x?xf32>, %n: memref<index>) {
  // expected-error @+1 {{'pit.index' op cannot be run by a block of threads; a kernel takes pit's tile loops, SRead and SWrite, linalg on memrefs, scf, arith and math}}
  %i = pit.index %a : memref<?x?xf32> -> !cols
  %c = pit.count %i : !cols
  memref.store %c, %n[] : memref<index>
  return
}
}
}

// -----

module {
module @pit_kernels attributes {pit.kernels} {
func.func private @other(memref<4xf32>)
func.func @call(%x: memref<4xf32>) {
  // expected-error @+1 {{'func.call' op has effects on a device that are not known; a kernel takes pit's ops, linalg on memrefs, scf, arith and math}}
  call @other(%x) : (memref<4xf32>) -> ()
  return
}
}
}

// -----

module {
module @pit_kernels attributes {pit.kernels} {
func.func @read_modify_write(%x: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  pit.forall (%k) = (%c0) to (%n) step (1) {
    // expected-error @+1 {{'memref.atomic_rmw' op cannot be run by a block of threads}}
    %r = memref.atomic_rmw addf %one, %x[%k] : (f32, memref<4xf32>) -> f32
  }
  return
}
}
}

// -----

module {
module @pit_kernels attributes {pit.kernels} {
func.func @softmax(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @+1 {{'linalg.softmax' op cannot be run by a block of threads}}
  linalg.softmax dimension(1) ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  return
}
}
}

// -----

module {
module @pit_kernels attributes {pit.kernels} {
// expected-error @+1 {{has pit.launch_info = #pit.launch_info<threads = 256, grid = rows, splits = 2>; only a kernel that is nothing but sums of rows shares rows}}
func.func @no_sums(%x: memref<?xf32>, %y: memref<?xf32>) attributes {pit.launch_info = #pit.launch_info<threads = 256, grid = rows, splits = 2>} {
  linalg.exp ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}
}
}
