// Functions that pit lowers a part of take memory of any layout: results are those of the
// same functions without marks, which MLIR lowers.

// DEFINE: %{empties} = -pit-eliminate-empties
// DEFINE: %{layout} =
// DEFINE: %{pit} = pit-opt %s -pit-functions-to-tiles %{empties} -one-shot-bufferize="bufferize-function-boundaries %{layout}" -pit-functions-to-loops -o %t
// DEFINE: %{lower} = mlir-opt -canonicalize -convert-linalg-to-loops -convert-vector-to-scf -expand-strided-metadata -lower-affine -convert-scf-to-cf \
// DEFINE:   -convert-vector-to-llvm -convert-math-to-llvm -finalize-memref-to-llvm -convert-index-to-llvm -convert-func-to-llvm -convert-arith-to-llvm -convert-cf-to-llvm -reconcile-unrealized-casts %t
// DEFINE: %{run} = mlir-runner -e main -entry-point-result=void -O1 -shared-libs=%pit_lib_dir/libpit_runtime.so,%mlir_lib_dir/libmlir_c_runner_utils.so

// RUN: %{pit}
// RUN: FileCheck %s < %t
// RUN: %{lower} | %{run} | FileCheck %s --check-prefix=RESULT
// REDEFINE: %{empties} =
// REDEFINE: %{layout} = function-boundary-type-conversion=identity-layout-map
// RUN: %{pit}
// RUN: FileCheck %s < %t
// RUN: %{lower} | %{run} | FileCheck %s --check-prefix=RESULT

// Nothing of pit is left, nor an aggregate op in a function with marks.
// CHECK-NOT: pit.{{[a-z]}}
// CHECK-NOT: linalg.softmax
// CHECK-NOT: linalg.pack

// The greatest difference of each pair, and a value.
// RESULT-COUNT-9: {{^0$}}
// RESULT-NEXT: {{^[1-9]}}

#id = affine_map<(i, j) -> (i, j)>
#all = affine_map<(i, j) -> ()>

// What a product starts from, and where it goes, in the memory of an argument.
func.func @product(%a: tensor<40x40xf32>, %b: tensor<40x40xf32>, %c: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %x = tensor.extract_slice %a[0, 0] [24, 40] [1, 1] : tensor<40x40xf32> to tensor<24x40xf32>
  %i = tensor.extract_slice %c[0, 0] [24, 40] [1, 1] : tensor<40x40xf32> to tensor<24x40xf32>
  %s = pit.sparse %x rule(#pit.rule<axis = 1, micro_tile = [1, 1], tile = [1, 16, 8]>) : tensor<24x40xf32>
  %p = linalg.matmul ins(%s, %b : tensor<24x40xf32>, tensor<40x40xf32>) outs(%i : tensor<24x40xf32>) -> tensor<24x40xf32>
  %r = tensor.insert_slice %p into %c[0, 0] [24, 40] [1, 1] : tensor<24x40xf32> into tensor<40x40xf32>
  return %r : tensor<40x40xf32>
}
func.func @product_dense(%a: tensor<40x40xf32>, %b: tensor<40x40xf32>, %c: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %x = tensor.extract_slice %a[0, 0] [24, 40] [1, 1] : tensor<40x40xf32> to tensor<24x40xf32>
  %i = tensor.extract_slice %c[0, 0] [24, 40] [1, 1] : tensor<40x40xf32> to tensor<24x40xf32>
  %p = linalg.matmul ins(%x, %b : tensor<24x40xf32>, tensor<40x40xf32>) outs(%i : tensor<24x40xf32>) -> tensor<24x40xf32>
  %r = tensor.insert_slice %p into %c[0, 0] [24, 40] [1, 1] : tensor<24x40xf32> into tensor<40x40xf32>
  return %r : tensor<40x40xf32>
}

// Whole rows, and an epilogue that reads an argument.
func.func @rows(%a: tensor<40x40xf32>, %b: tensor<40x40xf32>, %c: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : tensor<40x40xf32>
  %p = linalg.matmul ins(%s, %b : tensor<40x40xf32>, tensor<40x40xf32>) outs(%z : tensor<40x40xf32>) -> tensor<40x40xf32>
  %r = linalg.mul ins(%p, %c : tensor<40x40xf32>, tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  return %r : tensor<40x40xf32>
}
func.func @rows_dense(%a: tensor<40x40xf32>, %b: tensor<40x40xf32>, %c: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %p = linalg.matmul ins(%a, %b : tensor<40x40xf32>, tensor<40x40xf32>) outs(%z : tensor<40x40xf32>) -> tensor<40x40xf32>
  %r = linalg.mul ins(%p, %c : tensor<40x40xf32>, tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  return %r : tensor<40x40xf32>
}

// A filter, read by windows.
func.func @filter(%a: tensor<40x40xf32>, %b: tensor<40x40xf32>, %c: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %x = tensor.expand_shape %a [[0, 1], [2, 3]] output_shape [1, 40, 5, 8] : tensor<40x40xf32> into tensor<1x40x5x8xf32>
  %f = tensor.extract_slice %b[0, 0] [32, 20] [1, 2] : tensor<40x40xf32> to tensor<32x20xf32>
  %w = tensor.expand_shape %f [[0, 1, 2], [3]] output_shape [2, 2, 8, 20] : tensor<32x20xf32> into tensor<2x2x8x20xf32>
  %o = tensor.extract_slice %c[0, 0] [39, 40] [1, 1] : tensor<40x40xf32> to tensor<39x40xf32>
  %i = tensor.expand_shape %o [[0, 1], [2, 3]] output_shape [1, 39, 2, 20] : tensor<39x40xf32> into tensor<1x39x2x20xf32>
  %s = pit.sparse %x rule(#pit.rule<axis = 3, micro_tile = [1, 5, 4, 1], tile = [1, 4, 2, 16, 2, 2, 8]>) : tensor<1x40x5x8xf32>
  %p = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<[1, 2]> : vector<2xi64>}
         ins(%s, %w : tensor<1x40x5x8xf32>, tensor<2x2x8x20xf32>) outs(%i : tensor<1x39x2x20xf32>) -> tensor<1x39x2x20xf32>
  %q = tensor.collapse_shape %p [[0, 1], [2, 3]] : tensor<1x39x2x20xf32> into tensor<39x40xf32>
  %r = tensor.insert_slice %q into %c[0, 0] [39, 40] [1, 1] : tensor<39x40xf32> into tensor<40x40xf32>
  return %r : tensor<40x40xf32>
}
func.func @filter_dense(%a: tensor<40x40xf32>, %b: tensor<40x40xf32>, %c: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %x = tensor.expand_shape %a [[0, 1], [2, 3]] output_shape [1, 40, 5, 8] : tensor<40x40xf32> into tensor<1x40x5x8xf32>
  %f = tensor.extract_slice %b[0, 0] [32, 20] [1, 2] : tensor<40x40xf32> to tensor<32x20xf32>
  %w = tensor.expand_shape %f [[0, 1, 2], [3]] output_shape [2, 2, 8, 20] : tensor<32x20xf32> into tensor<2x2x8x20xf32>
  %o = tensor.extract_slice %c[0, 0] [39, 40] [1, 1] : tensor<40x40xf32> to tensor<39x40xf32>
  %i = tensor.expand_shape %o [[0, 1], [2, 3]] output_shape [1, 39, 2, 20] : tensor<39x40xf32> into tensor<1x39x2x20xf32>
  %p = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<[1, 2]> : vector<2xi64>}
         ins(%x, %w : tensor<1x40x5x8xf32>, tensor<2x2x8x20xf32>) outs(%i : tensor<1x39x2x20xf32>) -> tensor<1x39x2x20xf32>
  %q = tensor.collapse_shape %p [[0, 1], [2, 3]] : tensor<1x39x2x20xf32> into tensor<39x40xf32>
  %r = tensor.insert_slice %q into %c[0, 0] [39, 40] [1, 1] : tensor<39x40xf32> into tensor<40x40xf32>
  return %r : tensor<40x40xf32>
}

// Two products that start from one filled tensor, beside an op without indexing maps.
func.func @two(%a: tensor<40x40xf32>, %b: tensor<40x40xf32>, %c: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %s = pit.sparse %a : tensor<40x40xf32>
  %p = linalg.matmul ins(%s, %b : tensor<40x40xf32>, tensor<40x40xf32>) outs(%z : tensor<40x40xf32>) -> tensor<40x40xf32>
  %t = pit.sparse %b : tensor<40x40xf32>
  %q = linalg.matmul ins(%t, %a : tensor<40x40xf32>, tensor<40x40xf32>) outs(%z : tensor<40x40xf32>) -> tensor<40x40xf32>
  %packed = tensor.empty() : tensor<5x5x8x8xf32>
  %d = linalg.pack %c inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %packed : tensor<40x40xf32> -> tensor<5x5x8x8xf32>
  %u = linalg.unpack %d inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %e : tensor<5x5x8x8xf32> -> tensor<40x40xf32>
  %m = linalg.softmax dimension(1) ins(%u : tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  // 1, but for roundings.
  %h = arith.addf %m, %m : tensor<40x40xf32>
  %g = linalg.max ins(%h, %q : tensor<40x40xf32>, tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %v = linalg.sub ins(%p, %g : tensor<40x40xf32>, tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %r = linalg.floor ins(%v : tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  return %r : tensor<40x40xf32>
}
func.func @two_dense(%a: tensor<40x40xf32>, %b: tensor<40x40xf32>, %c: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %p = linalg.matmul ins(%a, %b : tensor<40x40xf32>, tensor<40x40xf32>) outs(%z : tensor<40x40xf32>) -> tensor<40x40xf32>
  %q = linalg.matmul ins(%b, %a : tensor<40x40xf32>, tensor<40x40xf32>) outs(%z : tensor<40x40xf32>) -> tensor<40x40xf32>
  %m0 = linalg.exp ins(%c : tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %e1 = tensor.empty() : tensor<40xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<40xf32>) -> tensor<40xf32>
  %sum = linalg.reduce { arith.addf } ins(%m0 : tensor<40x40xf32>) outs(%z1 : tensor<40xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<40xf32>) outs(%e : tensor<40x40xf32>) dimensions = [1]
  %m = linalg.div ins(%m0, %sums : tensor<40x40xf32>, tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %h = linalg.add ins(%m, %m : tensor<40x40xf32>, tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %g = linalg.max ins(%h, %q : tensor<40x40xf32>, tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %v = linalg.sub ins(%p, %g : tensor<40x40xf32>, tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %r = linalg.floor ins(%v : tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  return %r : tensor<40x40xf32>
}

func.func private @printF32(f32)
func.func private @printNewline()

// Small integers, about a third of which is 0: sums of them are exact.
func.func private @draw(%seed: i32) -> tensor<40x80xf32> {
  %into = tensor.empty() : tensor<40x80xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%into : tensor<40x80xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c97 = arith.constant 97 : index
    %a = arith.muli %i, %c97 : index
    %b = arith.addi %a, %j : index
    %c = arith.index_cast %b : index to i32
    %k1 = arith.constant 1103515245 : i32
    %d = arith.muli %c, %k1 : i32
    %e = arith.addi %d, %seed : i32
    %k16 = arith.constant 16 : i32
    %f = arith.shrui %e, %k16 : i32
    %k5 = arith.constant 5 : i32
    %m = arith.remui %f, %k5 : i32
    %k2 = arith.constant 2 : i32
    %p = arith.subi %m, %k2 : i32
    %k0 = arith.constant 0 : i32
    %q = arith.maxsi %p, %k0 : i32
    %t = arith.sitofp %q : i32 to f32
    linalg.yield %t : f32
  } -> tensor<40x80xf32>
  return %r : tensor<40x80xf32>
}

func.func private @compare(%a: tensor<40x40xf32>, %b: tensor<40x40xf32>) -> f32 {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %diff, %most = linalg.generic {indexing_maps = [#id, #id, #all, #all], iterator_types = ["reduction", "reduction"]}
      ins(%a, %b : tensor<40x40xf32>, tensor<40x40xf32>) outs(%zero, %zero : tensor<f32>, tensor<f32>) {
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
  return %1 : f32
}

// All four on three tensors, of which no one may be overwritten.
func.func private @all(%a: tensor<40x40xf32>, %b: tensor<40x40xf32>, %c: tensor<40x40xf32>) {
  %p = call @product(%a, %b, %c) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %pd = call @product_dense(%a, %b, %c) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %0 = call @compare(%p, %pd) : (tensor<40x40xf32>, tensor<40x40xf32>) -> f32
  %r = call @rows(%a, %b, %c) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %rd = call @rows_dense(%a, %b, %c) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %1 = call @compare(%r, %rd) : (tensor<40x40xf32>, tensor<40x40xf32>) -> f32
  %f = call @filter(%a, %b, %c) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %fd = call @filter_dense(%a, %b, %c) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %2 = call @compare(%f, %fd) : (tensor<40x40xf32>, tensor<40x40xf32>) -> f32
  %t = call @two(%a, %b, %c) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %td = call @two_dense(%a, %b, %c) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %3 = call @compare(%t, %td) : (tensor<40x40xf32>, tensor<40x40xf32>) -> f32
  return
}

func.func @main() {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 77777 : i32
  %c3 = arith.constant 999999 : i32
  %x = call @draw(%c1) : (i32) -> tensor<40x80xf32>
  %y = call @draw(%c2) : (i32) -> tensor<40x80xf32>
  %z = call @draw(%c3) : (i32) -> tensor<40x80xf32>
  // Rows with gaps, and without.
  %xg = tensor.extract_slice %x[0, 0] [40, 40] [1, 2] : tensor<40x80xf32> to tensor<40x40xf32>
  %yg = tensor.extract_slice %y[0, 0] [40, 40] [1, 2] : tensor<40x80xf32> to tensor<40x40xf32>
  %zg = tensor.extract_slice %z[0, 0] [40, 40] [1, 2] : tensor<40x80xf32> to tensor<40x40xf32>
  call @all(%xg, %yg, %zg) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> ()
  %xn = tensor.extract_slice %x[0, 40] [40, 40] [1, 1] : tensor<40x80xf32> to tensor<40x40xf32>
  %yn = tensor.extract_slice %y[0, 40] [40, 40] [1, 1] : tensor<40x80xf32> to tensor<40x40xf32>
  %zn = tensor.extract_slice %z[0, 40] [40, 40] [1, 1] : tensor<40x80xf32> to tensor<40x40xf32>
  call @all(%xn, %yn, %zn) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> ()
  // A result in memory with gaps, which nobody needs any more.
  %o = call @draw(%c3) : (i32) -> tensor<40x80xf32>
  %og = tensor.extract_slice %o[0, 0] [40, 40] [1, 2] : tensor<40x80xf32> to tensor<40x40xf32>
  %pg = call @product(%xn, %yn, %og) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %pd = call @product_dense(%xn, %yn, %zg) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %0 = call @compare(%pg, %pd) : (tensor<40x40xf32>, tensor<40x40xf32>) -> f32
  %p = call @product(%xn, %yn, %zn) : (tensor<40x40xf32>, tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %i = arith.constant 0 : index
  %v = tensor.extract %p[%i, %i] : tensor<40x40xf32>
  call @printF32(%v) : (f32) -> ()
  call @printNewline() : () -> ()
  return
}
