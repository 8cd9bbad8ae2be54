// Functions of which pit lowers its part keep their signature. What is left is
// lowered by the stock mlir-opt, and runs with the runtime alone.

// DEFINE: %{tiles} =
// DEFINE: %{bufferize} =
// DEFINE: %{before} =
// DEFINE: %{after} =
// DEFINE: %{pit} = pit-opt %s -pit-functions-to-tiles=%{tiles} -one-shot-bufferize="bufferize-function-boundaries %{bufferize}" %{before} -pit-functions-to-loops %{after}
// DEFINE: %{lower} = mlir-opt -convert-linalg-to-loops -convert-vector-to-scf -expand-strided-metadata -lower-affine -convert-scf-to-cf \
// DEFINE:   -convert-vector-to-llvm -convert-math-to-llvm -finalize-memref-to-llvm -convert-index-to-llvm -convert-func-to-llvm -convert-arith-to-llvm -convert-cf-to-llvm -reconcile-unrealized-casts
// DEFINE: %{run} = mlir-runner -e main -entry-point-result=void -O1 -shared-libs=%pit_lib_dir/libpit_runtime.so,%mlir_lib_dir/libmlir_c_runner_utils.so

// RUN: %{pit} | FileCheck %s
// RUN: %{pit} | %{lower} | %{run} | FileCheck %s --check-prefix=RESULT
// REDEFINE: %{tiles} = choice=now
// REDEFINE: %{bufferize} = function-boundary-type-conversion=identity-layout-map
// RUN: %{pit} | %{lower} | %{run} | FileCheck %s --check-prefix=RESULT

// MLIR frees what a function allocates, after pit's loops are there or before. What a
// frame has is not freed.
// REDEFINE: %{after} = -buffer-deallocation-pipeline -convert-bufferization-to-memref
// RUN: %{pit} | FileCheck %s --check-prefix=FREED
// RUN: %{pit} | %{lower} | %{run} | FileCheck %s --check-prefix=RESULT
// REDEFINE: %{before} = -ownership-based-buffer-deallocation -canonicalize -buffer-deallocation-simplification
// REDEFINE: %{after} = -bufferization-lower-deallocations -cse -canonicalize -convert-bufferization-to-memref
// RUN: %{pit} | FileCheck %s --check-prefix=FREED
// RUN: %{pit} | %{lower} | %{run} | FileCheck %s --check-prefix=RESULT
// FREED-LABEL: func.func private @ours_in_frame(
// FREED: %[[Q:.*]] = memref.alloc(
// FREED-NOT: memref.dealloc
// FREED: call @theirs(
// FREED: memref.dealloc %[[Q]]
// FREED-NOT: memref.dealloc
// FREED-LABEL: func.func @dense(
// FREED-LABEL: func.func @main(
// FREED: call @ours(
// FREED: memref.dealloc

// What has no marks is as it was.
// CHECK: llvm.mlir.global internal @pit_calls() {{.*}} : !llvm.array<2 x ptr>
// CHECK-LABEL: func.func @theirs(
// CHECK: %[[E:.*]] = memref.alloc
// CHECK-NEXT: linalg.exp ins(%arg0 {{.*}} outs(%[[E]]
// CHECK-NOT: pit_rt
// CHECK-LABEL: func.func @ours(%arg0: memref<?x128xf32{{[^%]*}}>, %arg1: memref<128x64xf32{{[^%]*}}>) -> memref<?x64xf32> {
// CHECK: %[[FRAME:.*]] = call @pit_rt_open(
// CHECK: %[[R:.*]] = call @ours_in_frame(%[[FRAME]], %arg0, %arg1)
// CHECK: call @pit_rt_leave(%[[FRAME]]
// CHECK: return %[[R]]
// CHECK-LABEL: func.func private @ours_in_frame(%arg0: !llvm.ptr,
// CHECK-NOT: pit.
// CHECK: call @pit_rt_choose(
// CHECK-NEXT: call @pit_rt_expect(
// CHECK: func.call @pit_rt_build(
// CHECK-NOT: scf.parallel

// The greatest difference from the function without marks, and a value.
// RESULT: 0
// RESULT-NEXT: 1.00367

#id = affine_map<(i, j) -> (i, j)>
#all = affine_map<(i, j) -> ()>

func.func @theirs(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %r = linalg.exp ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

func.func @ours(%x: tensor<?x128xf32>, %w: tensor<128x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x128xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %s = pit.sparse %x : tensor<?x128xf32>
  %y = linalg.matmul ins(%s, %w : tensor<?x128xf32>, tensor<128x64xf32>) outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  %q = linalg.square ins(%y : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = func.call @theirs(%q) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

func.func @dense(%x: tensor<?x128xf32>, %w: tensor<128x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x128xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x128xf32>, tensor<128x64xf32>) outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>
  %q = linalg.square ins(%y : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = func.call @theirs(%q) : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

func.func private @printF32(f32)
func.func private @printNewline()

// Numbers that look random, of which those of random columns stay, in blocks of 32
// rows; sums of so small integers are exact.
func.func private @draw(%into: tensor<96x128xf32>, %keep: i32) -> tensor<96x128xf32> {
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%into : tensor<96x128xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c32 = arith.constant 32 : index
    %c131 = arith.constant 131 : index
    %block = arith.divui %i, %c32 : index
    %a = arith.muli %block, %c131 : index
    %b = arith.addi %a, %j : index
    %c = arith.index_cast %b : index to i32
    %k1 = arith.constant 1103515245 : i32
    %k2 = arith.constant 12345 : i32
    %d = arith.muli %c, %k1 : i32
    %e = arith.addi %d, %k2 : i32
    %k16 = arith.constant 16 : i32
    %f = arith.shrui %e, %k16 : i32
    %k10 = arith.constant 10 : i32
    %g = arith.remui %f, %k10 : i32
    %live = arith.cmpi ult, %g, %keep : i32
    %h = arith.index_cast %i : index to i32
    %l = arith.addi %h, %f : i32
    %k7 = arith.constant 7 : i32
    %m = arith.remui %l, %k7 : i32
    %k3 = arith.constant 3 : i32
    %p = arith.subi %m, %k3 : i32
    %q = arith.sitofp %p : i32 to f32
    %scale = arith.constant 0.03125 : f32
    %t = arith.mulf %q, %scale : f32
    %zero = arith.constant 0.0 : f32
    %v = arith.select %live, %t, %zero : f32
    linalg.yield %v : f32
  } -> tensor<96x128xf32>
  return %r : tensor<96x128xf32>
}

func.func @main() {
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %e = tensor.empty() : tensor<96x128xf32>
  %x = call @draw(%e, %c1) : (tensor<96x128xf32>, i32) -> tensor<96x128xf32>
  %v = call @draw(%e, %c10) : (tensor<96x128xf32>, i32) -> tensor<96x128xf32>
  %w = tensor.extract_slice %v[0, 0] [64, 128] [1, 1] : tensor<96x128xf32> to tensor<64x128xf32>
  %we = tensor.empty() : tensor<128x64xf32>
  %wt = linalg.transpose ins(%w : tensor<64x128xf32>) outs(%we : tensor<128x64xf32>) permutation = [1, 0]
  %xd = tensor.cast %x : tensor<96x128xf32> to tensor<?x128xf32>
  %a = call @ours(%xd, %wt) : (tensor<?x128xf32>, tensor<128x64xf32>) -> tensor<?x64xf32>
  %b = call @dense(%xd, %wt) : (tensor<?x128xf32>, tensor<128x64xf32>) -> tensor<?x64xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %diff, %most = linalg.generic {indexing_maps = [#id, #id, #all, #all], iterator_types = ["reduction", "reduction"]}
      ins(%a, %b : tensor<?x64xf32>, tensor<?x64xf32>) outs(%zero, %zero : tensor<f32>, tensor<f32>) {
  ^bb0(%p: f32, %q: f32, %d: f32, %m: f32):
    %s = arith.subf %p, %q : f32
    %t = math.absf %s : f32
    %u = arith.maximumf %d, %t : f32
    %n = arith.maximumf %m, %p : f32
    linalg.yield %u, %n : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  %0 = tensor.extract %diff[] : tensor<f32>
  %1 = tensor.extract %most[] : tensor<f32>
  func.call @printF32(%0) : (f32) -> ()
  func.call @printNewline() : () -> ()
  func.call @printF32(%1) : (f32) -> ()
  func.call @printNewline() : () -> ()
  return
}
