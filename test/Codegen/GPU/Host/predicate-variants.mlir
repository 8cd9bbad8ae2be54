// RUN: pit-opt %s --split-input-file --pit-predicate-variants --verify-diagnostics | FileCheck %s

// The launches of all variants follow each other, each for its own.
// CHECK-LABEL: func.func @three
// CHECK: %{{.*}}, %[[BITS:.*]] = pit.choose {{.*}} on_device : memref<8x8xf32>
// CHECK-NOT: scf.if
// CHECK: %[[INDEX:.*]] = pit.index %{{.*}} seen(%[[BITS]])
// CHECK: pit.transpose_index %[[INDEX]] if(%[[BITS]] is 1)
// CHECK: pit.launch @kernels::@rows if(%[[BITS]] : !pit.bitmap is 1)
// CHECK: memref.alloc
// CHECK: scf.for
// CHECK: pit.launch @kernels::@columns if(%[[BITS]] : !pit.bitmap is 2)
// CHECK: memref.dealloc
// CHECK: pit.launch @kernels::@dense if(%[[BITS]] : !pit.bitmap is 0)
// CHECK: pit.launch @kernels::@after iterations
// CHECK: return %arg1
func.func @three(%a: memref<8x8xf32>, %c: memref<8x8xf32>, %t: f64, %n: index) -> memref<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, *], axis = 0>, !pit.index<micro_tile = [4, 1], axis = 1>]
                dense(%t) fixed(%t, %t) live(%t, %t) : memref<8x8xf32>
  %is_1 = arith.cmpi eq, %v, %c1 : index
  %r = scf.if %is_1 -> (memref<8x8xf32>) {
    %i = pit.index %a seen(%bitmap) : memref<8x8xf32> -> !pit.index<micro_tile = [1, *], axis = 0>
    %lists = pit.transpose_index %i : !pit.index<micro_tile = [1, *], axis = 0> -> !pit.index<micro_tile = [1, 1], axis = 1>
    pit.launch @kernels::@rows iterations(%n) ins(%a, %lists : memref<8x8xf32>, !pit.index<micro_tile = [1, 1], axis = 1>) outs(%c : memref<8x8xf32>)
    scf.yield %c : memref<8x8xf32>
  } else {
    %is_2 = arith.cmpi eq, %v, %c2 : index
    %s = scf.if %is_2 -> (memref<8x8xf32>) {
      %e = memref.alloc() : memref<8x8xf32>
      scf.for %k = %c0 to %n step %c1 {
        pit.launch @kernels::@columns iterations(%k) ins(%e : memref<8x8xf32>) outs(%c : memref<8x8xf32>)
      }
      memref.dealloc %e : memref<8x8xf32>
      scf.yield %c : memref<8x8xf32>
    } else {
      pit.launch @kernels::@dense iterations(%n) ins(%a : memref<8x8xf32>) outs(%c : memref<8x8xf32>)
      scf.yield %c : memref<8x8xf32>
    }
    scf.yield %s : memref<8x8xf32>
  }
  pit.launch @kernels::@after iterations(%n) outs(%c : memref<8x8xf32>)
  return %r : memref<8x8xf32>
}

// -----

// Branches of the program's own stay, and come with what the device chooses.
// CHECK-LABEL: func.func @inside
// CHECK: scf.if %{{.*}} {
// CHECK: pit.choose {{.*}} on_device
// CHECK-NOT: scf.if
// CHECK: pit.launch @kernels::@sparse if({{.*}} is 1)
// CHECK: scf.if %{{.*}} {
// CHECK: pit.launch @kernels::@dense if({{.*}} is 0)
func.func @inside(%a: memref<8x8xf32>, %c: memref<8x8xf32>, %t: f64, %n: index, %p: i1) {
  %c1 = arith.constant 1 : index
  scf.if %p {
    %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, *], axis = 0>] dense(%t) fixed(%t) live(%t) : memref<8x8xf32>
    %is_1 = arith.cmpi eq, %v, %c1 : index
    scf.if %is_1 {
      pit.launch @kernels::@sparse iterations(%n) outs(%c : memref<8x8xf32>)
    } else {
      scf.if %p {
        pit.launch @kernels::@dense iterations(%n) outs(%c : memref<8x8xf32>)
      }
    }
  }
  return
}

// -----

// A choice in the dense variant of another one comes after that. Its launches
// ask for its variants alone: there are none if the first one took another.
// CHECK-LABEL: func.func @two
// CHECK: %{{.*}}, %[[FIRST:.*]] = pit.choose %arg0 {{.*}} on_device : memref<8x8xf32>
// CHECK: pit.launch @kernels::@first if(%[[FIRST]] : !pit.bitmap is 1)
// CHECK: %{{.*}}, %[[SECOND:.*]] = pit.choose %arg1 {{.*}} on_device after(%[[FIRST]]) : memref<8x8xf32>
// CHECK: pit.launch @kernels::@second if(%[[SECOND]] : !pit.bitmap is 1)
// CHECK: pit.launch @kernels::@dense if(%[[SECOND]] : !pit.bitmap is 0)
func.func @two(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %c: memref<8x8xf32>, %t: f64, %n: index) {
  %c1 = arith.constant 1 : index
  %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, *], axis = 0>] dense(%t) fixed(%t) live(%t) : memref<8x8xf32>
  %is_1 = arith.cmpi eq, %v, %c1 : index
  scf.if %is_1 {
    pit.launch @kernels::@first iterations(%n) outs(%c : memref<8x8xf32>)
  } else {
    %w, %more = pit.choose %b of [!pit.index<micro_tile = [*, 1], axis = 1>] dense(%t) fixed(%t) live(%t) : memref<8x8xf32>
    %is_other = arith.cmpi eq, %w, %c1 : index
    scf.if %is_other {
      pit.launch @kernels::@second iterations(%n) outs(%c : memref<8x8xf32>)
    } else {
      pit.launch @kernels::@dense iterations(%n) outs(%c : memref<8x8xf32>)
    }
  }
  return
}

// -----

func.func @in_skipping(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %t: f64) {
  %c1 = arith.constant 1 : index
  %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, *], axis = 0>] dense(%t) fixed(%t) live(%t) : memref<8x8xf32>
  %is_1 = arith.cmpi eq, %v, %c1 : index
  scf.if %is_1 {
    // expected-error @+1 {{'pit.choose' op is part of variants that skip; a choice can come after the dense one alone}}
    %w, %more = pit.choose %b of [!pit.index<micro_tile = [*, 1], axis = 1>] dense(%t) fixed(%t) live(%t) : memref<8x8xf32>
  }
  return
}

// -----

func.func @read(%a: memref<8x8xf32>, %t: f64) -> index {
  %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, *], axis = 0>] dense(%t) fixed(%t) live(%t) : memref<8x8xf32>
  // expected-error @+1 {{'func.return' op needs the variant on the host, which does not know what the device chooses}}
  return %v : index
}

// -----

func.func @effect(%a: memref<8x8xf32>, %c: memref<8x8xf32>, %t: f64) {
  %c1 = arith.constant 1 : index
  %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, *], axis = 0>] dense(%t) fixed(%t) live(%t) : memref<8x8xf32>
  %is_1 = arith.cmpi eq, %v, %c1 : index
  scf.if %is_1 {
    // expected-error @+1 {{'memref.copy' op is part of a variant, but the host cannot know whether that is chosen}}
    memref.copy %a, %c : memref<8x8xf32> to memref<8x8xf32>
  }
  return
}

// -----

// What all variants allocate alike and return is one memory.
// CHECK-LABEL: func.func @allocated
// CHECK: arith.addi
// CHECK: %[[BITS:.*]] = memref.alloc(%{{.*}}) : memref<?x8xi8>
// CHECK: pit.launch @kernels::@rows if({{.*}} is 1) {{.*}} outs(%[[BITS]] : memref<?x8xi8>)
// CHECK: %[[CAST:.*]] = memref.cast %[[BITS]]
// CHECK-NOT: memref.alloc
// CHECK: pit.launch @kernels::@columns if({{.*}} is 2) {{.*}} outs(%[[BITS]] : memref<?x8xi8>)
// CHECK-NOT: memref.alloc
// CHECK: pit.launch @kernels::@dense if({{.*}} is 0) {{.*}} outs(%[[BITS]] : memref<?x8xi8>)
// CHECK: return %[[CAST]]
func.func @allocated(%a: memref<8x8xf32>, %t: f64, %n: index) -> memref<?x?xi8> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, *], axis = 0>, !pit.index<micro_tile = [4, 1], axis = 1>]
                dense(%t) fixed(%t, %t) live(%t, %t) : memref<8x8xf32>
  %is_1 = arith.cmpi eq, %v, %c1 : index
  %r = scf.if %is_1 -> (memref<?x?xi8>) {
    %m = arith.addi %n, %c1 : index
    %e = memref.alloc(%m) : memref<?x8xi8>
    pit.launch @kernels::@rows iterations(%n) outs(%e : memref<?x8xi8>)
    %d = memref.cast %e : memref<?x8xi8> to memref<?x?xi8>
    scf.yield %d : memref<?x?xi8>
  } else {
    %is_2 = arith.cmpi eq, %v, %c2 : index
    %s = scf.if %is_2 -> (memref<?x?xi8>) {
      %m = arith.addi %n, %c1 : index
      %e = memref.alloc(%m) : memref<?x8xi8>
      pit.launch @kernels::@columns iterations(%n) outs(%e : memref<?x8xi8>)
      %d = memref.cast %e : memref<?x8xi8> to memref<?x?xi8>
      scf.yield %d : memref<?x?xi8>
    } else {
      %m = arith.addi %n, %c1 : index
      %e = memref.alloc(%m) : memref<?x8xi8>
      pit.launch @kernels::@dense iterations(%n) outs(%e : memref<?x8xi8>)
      %d = memref.cast %e : memref<?x8xi8> to memref<?x?xi8>
      scf.yield %d : memref<?x?xi8>
    }
    scf.yield %s : memref<?x?xi8>
  }
  return %r : memref<?x?xi8>
}

// -----

// Memory of other extents is not.
func.func @extents(%a: memref<8x8xf32>, %t: f64, %n: index, %m: index) -> memref<?x8xi8> {
  %c1 = arith.constant 1 : index
  %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, *], axis = 0>] dense(%t) fixed(%t) live(%t) : memref<8x8xf32>
  %is_1 = arith.cmpi eq, %v, %c1 : index
  // expected-error @+1 {{'scf.if' op result 0 is not the same memory for all variants}}
  %r = scf.if %is_1 -> (memref<?x8xi8>) {
    %e = memref.alloc(%n) : memref<?x8xi8>
    scf.yield %e : memref<?x8xi8>
  } else {
    %e = memref.alloc(%m) : memref<?x8xi8>
    scf.yield %e : memref<?x8xi8>
  }
  return %r : memref<?x8xi8>
}

// -----

func.func @memory(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %c: memref<8x8xf32>, %t: f64) -> memref<8x8xf32> {
  %c1 = arith.constant 1 : index
  %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, *], axis = 0>] dense(%t) fixed(%t) live(%t) : memref<8x8xf32>
  %is_1 = arith.cmpi eq, %v, %c1 : index
  // expected-error @+1 {{'scf.if' op result 0 is not the same memory for all variants}}
  %r = scf.if %is_1 -> (memref<8x8xf32>) {
    scf.yield %b : memref<8x8xf32>
  } else {
    scf.yield %c : memref<8x8xf32>
  }
  return %r : memref<8x8xf32>
}

// -----

func.func @several(%a: memref<8x8xf32>, %c: memref<8x8xf32>, %t: f64, %n: index) {
  %c1 = arith.constant 1 : index
  %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, *], axis = 0>, !pit.index<micro_tile = [4, 1], axis = 1>]
                dense(%t) fixed(%t, %t) live(%t, %t) : memref<8x8xf32>
  %is_1 = arith.cmpi eq, %v, %c1 : index
  scf.if %is_1 {
  } else {
    // expected-error @+1 {{'pit.launch' op is part of 2 variants; a kernel can ask for one alone}}
    pit.launch @kernels::@k iterations(%n) outs(%c : memref<8x8xf32>)
  }
  return
}

// -----

func.func @frees(%a: memref<8x8xf32>, %c: memref<8x8xf32>, %t: f64) {
  %c1 = arith.constant 1 : index
  %v, %bitmap = pit.choose %a of [!pit.index<micro_tile = [1, *], axis = 0>] dense(%t) fixed(%t) live(%t) : memref<8x8xf32>
  %is_1 = arith.cmpi eq, %v, %c1 : index
  scf.if %is_1 {
    // expected-error @+1 {{'memref.dealloc' op is part of a variant, but the host cannot know whether that is chosen}}
    memref.dealloc %c : memref<8x8xf32>
  }
  return
}
