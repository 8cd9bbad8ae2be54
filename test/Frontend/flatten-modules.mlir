// RUN: pit-opt %s -pit-flatten-modules -split-input-file -verify-diagnostics | FileCheck %s

// Modules in modules, and the modules beside them.
// CHECK-LABEL: module @outer
// CHECK-NOT: module
// CHECK: func.func @a
// CHECK-NOT: module
// CHECK: func.func @b
// CHECK-NOT: module
// CHECK: func.func @c
module @outer {
  module @inner {
    func.func @a(%x: tensor<8xf32>) -> tensor<8xf32> {
      return %x : tensor<8xf32>
    }
    module {
      func.func @b(%x: tensor<8xf32>) -> tensor<8xf32> {
        return %x : tensor<8xf32>
      }
    }
  }
  module {
    func.func @c(%x: tensor<8xf32>) -> tensor<8xf32> {
      return %x : tensor<8xf32>
    }
  }
}

// -----

// Private functions of one name keep apart, wherever they stand; a declaration
// is needed once.
// CHECK-LABEL: module
// CHECK: func.func private @[[H:h_[0-9]+]](%{{.*}}: f32)
// CHECK: func.func @f
// CHECK-NEXT: call @[[H]](
// CHECK: func.func private @h(%{{.*}}: f64)
// CHECK: func.func @g
// CHECK-NEXT: call @h(
// CHECK: func.func private @cosf
// CHECK-NOT: @cosf
module {
  module {
    func.func private @cosf(f32) -> f32
    func.func private @h(%x: f32) -> f32 {
      return %x : f32
    }
    func.func @f(%x: f32) -> f32 {
      %y = call @h(%x) : (f32) -> f32
      return %y : f32
    }
  }
  func.func private @h(%x: f64) -> f64 {
    return %x : f64
  }
  func.func @g(%x: f64) -> f64 {
    %y = call @h(%x) : (f64) -> f64
    return %y : f64
  }
  func.func private @cosf(f32) -> f32
}

// -----

// Kernels stay by themselves.
// CHECK: module @pit_kernels attributes {pit.kernels}
module {
  module @pit_kernels attributes {pit.kernels} {
    func.func @k() {
      return
    }
  }
}

// -----

module {
  module {
    // expected-error @below {{'func.func' op @f stands in a nested module, but the module around it has a symbol of that name; one of both has to be renamed}}
    func.func @f(%x: f32) -> f32 {
      return %x : f32
    }
  }
  // expected-note @below {{which is here}}
  func.func @f(%x: f64) -> f64 {
    return %x : f64
  }
}
