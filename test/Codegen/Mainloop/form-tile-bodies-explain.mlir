// Why a loop that computes more than a contraction has no tile body.

// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-form-mainloops{explain}))' --verify-diagnostics

#tile = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>
#row = affine_map<(m, n) -> (m)>

// An op with two results.
func.func @several_results(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because an op on tiles has several results, or extents that are not known}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t:2 = linalg.generic {indexing_maps = [#tile, #tile, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<64x64xf32>) outs(%e, %e : tensor<64x64xf32>, tensor<64x64xf32>) {
      ^bb0(%p: f32, %u: f32, %v: f32):
        %q = math.absf %p : f32
        linalg.yield %q, %p : f32, f32
      } -> (tensor<64x64xf32>, tensor<64x64xf32>)
      pit.yield %t#0 : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Tiles have numbers, which are no pairs.
func.func @complex_tiles(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %ec = tensor.empty() : tensor<64x64xcomplex<f32>>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because tiles have elements that are no numbers}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %u = linalg.generic {indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<64x64xf32>) outs(%ec : tensor<64x64xcomplex<f32>>) {
      ^bb0(%p: f32, %old: complex<f32>):
        %q = complex.create %p, %p : complex<f32>
        linalg.yield %q : complex<f32>
      } -> tensor<64x64xcomplex<f32>>
      %t = linalg.generic {indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%u : tensor<64x64xcomplex<f32>>) outs(%e : tensor<64x64xf32>) {
      ^bb0(%p: complex<f32>, %old: f32):
        %q = complex.abs %p : complex<f32>
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Another op on tiles.
func.func @another_op(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because tensor.collapse_shape stands in the loop over its steps}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %u = tensor.collapse_shape %s [[0, 1]] : tensor<64x64xf32> into tensor<4096xf32>
      %v = tensor.expand_shape %u [[0, 1]] output_shape [64, 64] : tensor<4096xf32> into tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%v : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Distances: the op has two operands, but only one runs along what is summed up.
func.func @no_product(%a: memref<512x512xf16>, %b: memref<512xf16>, %out: memref<512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %bt = bufferization.to_tensor %b restrict : memref<512xf16> to tensor<512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512xf32> to tensor<512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512xf32>) {
    %e = tensor.empty() : tensor<64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %bt[%i] : tensor<512xf16> -> tensor<64xf16>
      // expected-remark @+1 {{linalg.generic forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because the loop over its steps multiplies no tiles}}
      %t = linalg.generic {indexing_maps = [#tile, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %y : tensor<64x64xf16>, tensor<64xf16>) outs(%acc : tensor<64xf32>) {
      ^bb0(%p: f16, %q: f16, %old: f32):
        %d = arith.subf %p, %q : f16
        %f = arith.extf %d : f16 to f32
        %g = math.absf %f : f32
        %h = arith.addf %old, %g : f32
        linalg.yield %h : f32
      } -> tensor<64xf32>
      %v = linalg.map { math.absf } ins(%t : tensor<64xf32>) outs(%e : tensor<64xf32>)
      pit.yield %v : tensor<64xf32>
    }
    %w = pit.swrite %sum into %o[%i] : tensor<64xf32> into tensor<512xf32>
    pit.yield %w : tensor<512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512xf32>, memref<512xf32>) -> ()
  return
}

// No step reads anything of its own.
func.func @same_steps(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%c0, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because all steps read the same}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// What comes after the loop reduces.
func.func @reduces_after(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %e1 = tensor.empty() : tensor<64xf32>
    %start1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because what is computed after it is not element-wise on tiles that are read}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %m = linalg.reduce { arith.addf } ins(%sum : tensor<64x64xf32>) outs(%start1 : tensor<64xf32>) dimensions = [1]
    %b = linalg.broadcast ins(%m : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
    %w = pit.swrite %b into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// An element of the result takes two of what is carried.
func.func @two_elements_after(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because its first values or its epilogue are no scalar code on elements that are read}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %b = linalg.generic {indexing_maps = [#tile, #turned, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %sum : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %old: f32):
      %d = arith.addf %p, %q : f32
      linalg.yield %d : f32
    } -> tensor<64x64xf32>
    %w = pit.swrite %b into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// A tile that is computed before the loop.
func.func @computed_before(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %g = pit.sread %at[%i, %c0] : tensor<512x512xf16> -> tensor<64x64xf32>
    %f = linalg.map { math.absf } ins(%g : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because a tile is computed before the loop over its steps}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { arith.addf } ins(%s, %f : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Of a row's elements one is kept, whichever comes last.
func.func @keeps_one(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %e1 = tensor.empty() : tensor<64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because an op keeps one of several values of an element}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %k = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]}
        ins(%s : tensor<64x64xf32>) outs(%e1 : tensor<64xf32>) {
      ^bb0(%p: f32, %old: f32):
        linalg.yield %p : f32
      } -> tensor<64xf32>
      %t = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%s, %k : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
      ^bb0(%p: f32, %q: f32, %old: f32):
        %d = arith.addf %p, %q : f32
        linalg.yield %d : f32
      } -> tensor<64x64xf32>
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// A scale for each two columns.
func.func @blocks_of_columns(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      %z = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x32xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because an op on tiles reads elements by a map of more than dimensions}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.generic {indexing_maps = [#tile, affine_map<(m, n) -> (m, n floordiv 2)>, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%s, %z : tensor<64x64xf32>, tensor<64x32xf16>) outs(%e : tensor<64x64xf32>) {
      ^bb0(%p: f32, %q: f16, %old: f32):
        %f = arith.extf %q : f16 to f32
        %d = arith.mulf %p, %f : f32
        linalg.yield %d : f32
      } -> tensor<64x64xf32>
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// What is carried starts from what is read.
func.func @starts_from_what_is_read(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %first = pit.sread %at[%i, %c0] : tensor<512x512xf16> -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %first) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because what it carries does not start from constants}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// The same, of what is added at the end, too.
func.func @starts_from_an_extra(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %first = pit.sread %at[%i, %c0] : tensor<512x512xf16> -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %first) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because what it carries does not start from constants}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %b = linalg.map { arith.addf } ins(%sum, %first : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
    %w = pit.swrite %b into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Two layers without a loop over steps.
func.func @no_loop(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %x = pit.sread %at[%i, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
    %y = pit.sread %at[%c0, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
    %z = pit.sread %at[%c0, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
    %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
    %e16 = tensor.empty() : tensor<64x64xf16>
    %h = linalg.map { arith.truncf } ins(%s : tensor<64x64xf32>) outs(%e16 : tensor<64x64xf16>)
    // expected-remark @+1 {{linalg.matmul forms no mainloop: operand 0 is no tile that is read from a tensor; nor a tile body, because its tile is computed from no loop over steps}}
    %t = linalg.matmul ins(%h, %z : tensor<64x64xf16>, tensor<64x64xf16>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
    %w = pit.swrite %t into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// What is read is no argument of the kernel.
func.func @reads_a_constant(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %k = arith.constant dense<1.0> : tensor<512x64xf16>
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %k[%j, %c0] : tensor<512x64xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because a tile is read from no argument, or has a dynamic extent}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// What is read wider than it lies in memory is padded so, too.
func.func @padded_wider(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      %z = pit.sread %at[%i, %j] pad(1.0 : f32) : tensor<512x512xf16> -> tensor<64x64xf32>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because a tile is padded in another type than its tensor's}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { arith.addf } ins(%s, %z : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// An op that may trap.
func.func @may_trap(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : i32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because arith.divsi in it is not pure}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.generic {indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
      ^bb0(%p: f32, %old: f32):
        %f = arith.fptosi %p : f32 to i32
        %g = arith.divsi %one, %f : i32
        %h = arith.sitofp %g : i32 to f32
        linalg.yield %h : f32
      } -> tensor<64x64xf32>
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}
