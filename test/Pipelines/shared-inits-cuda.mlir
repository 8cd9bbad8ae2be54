// Two products of one shape start from one fill. The second one's variant that skips rows
// fills in its place, and only if the device takes that variant: nothing else is filled or
// copied.

// RUN: pit-opt %s --pit-to-cuda="chip=sm_90a device-code=ptx choice=run-time" --mlir-print-ir-after=pit-predicate-variants -o /dev/null 2>&1 | FileCheck %s

// CHECK-LABEL: func.func @layers
// CHECK-NOT: elements)
// CHECK: pit.launch {{.*}} iterations(%{{[^ ]*}}) ins
// CHECK-NOT: elements)
// CHECK: pit.choose
// CHECK: pit.launch {{.*}} if(%{{.*}} is 1) iterations(%{{.*}} elements) outs(
// CHECK-NOT: elements)
// CHECK: return

func.func @layers(%x: tensor<?x1024xf16>, %w0: tensor<1024x4096xf16>, %w1: tensor<4096x4096xf16>) -> tensor<?x4096xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.0 : f16
  %m = tensor.dim %x, %c0 : tensor<?x1024xf16>
  %e = tensor.empty(%m) : tensor<?x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %p = linalg.matmul ins(%x, %w0 : tensor<?x1024xf16>, tensor<1024x4096xf16>) outs(%f : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %n = tensor.empty(%m) : tensor<?x4096xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x4096xf32>) outs(%n : tensor<?x4096xf16>) {
  ^bb0(%a: f32, %b: f16):
    %q = arith.truncf %a : f32 to f16
    %r = arith.maximumf %q, %half : f16
    linalg.yield %r : f16
  } -> tensor<?x4096xf16>
  %s = pit.sparse %h : tensor<?x4096xf16>
  %o = linalg.matmul ins(%s, %w1 : tensor<?x4096xf16>, tensor<4096x4096xf16>) outs(%f : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %o : tensor<?x4096xf32>
}
