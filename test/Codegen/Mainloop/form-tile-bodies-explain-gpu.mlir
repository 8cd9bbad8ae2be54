// Which tile bodies no schedule for GPUs takes.

// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-form-mainloops{explain}))' --verify-diagnostics

#tile = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>
#row = affine_map<(m, n) -> (m)>
#col = affine_map<(m, n) -> (n)>

// Rows are divided by 16.
func.func @forty_rows(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (40) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<40x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<40x64xf32>) -> tensor<40x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<40x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<40x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: its tiles have 40 rows, which is no multiple of 16}}
      %s = linalg.matmul ins(%x, %y : tensor<40x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<40x64xf32>) -> tensor<40x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<40x64xf32>) outs(%e : tensor<40x64xf32>)
      pit.yield %t : tensor<40x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<40x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// So are columns,
func.func @columns(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x24xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x24xf32>) -> tensor<64x24xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x24xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x24xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: a tile has 24 columns, which is no multiple of 16}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x24xf16>) outs(%acc : tensor<64x24xf32>) -> tensor<64x24xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x24xf32>) outs(%e : tensor<64x24xf32>)
      pit.yield %t : tensor<64x24xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x24xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// and what is summed up.
func.func @products(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (24) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x24xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<24x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it multiplies tiles of 24 elements, which is no multiple of 16}}
      %s = linalg.matmul ins(%x, %y : tensor<64x24xf16>, tensor<24x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// One block of threads has 16 warps, and a warp with many columns 16 rows.
func.func @many_rows(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (512) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<512x128xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<512x128xf32>) -> tensor<512x128xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<512x128xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<512x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x128xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: its tiles have 512 rows, more than 16 warps take}}
      %s = linalg.matmul ins(%x, %y : tensor<512x64xf16>, tensor<64x128xf16>) outs(%acc : tensor<512x128xf32>) -> tensor<512x128xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<512x128xf32>) outs(%e : tensor<512x128xf32>)
      pit.yield %t : tensor<512x128xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<512x128xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Tensor cores multiply f16 and bf16.
func.func @f32_operands(%a: memref<512x512xf32>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf32> to tensor<512x512xf32>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf32> -> tensor<64x64xf32>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf32> -> tensor<64x64xf32>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: tensor cores add products of f16, of bf16, or of floats of 8 bits to f32, and a contraction is another}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// What is computed has no place in shared memory: it is the first factor, so its rows are those of the sums.
func.func @computed_second(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
      %e16 = tensor.empty() : tensor<64x64xf16>
      %h = linalg.map { arith.truncf } ins(%s : tensor<64x64xf32>) outs(%e16 : tensor<64x64xf16>)
      // expected-remark @+1 {{linalg.matmul forms no mainloop: operand 1 is no tile that is read from a tensor; nor a tile body, because a dimension runs along the rows of one tile and along the columns of another}}
      %t = linalg.matmul ins(%x, %h : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Of two that are computed one would be the second: its columns are nowhere.
func.func @both_computed(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      %e16 = tensor.empty() : tensor<64x64xf16>
      %g = linalg.map { math.absf } ins(%x : tensor<64x64xf16>) outs(%e16 : tensor<64x64xf16>)
      %h = linalg.map { math.absf } ins(%y : tensor<64x64xf16>) outs(%e16 : tensor<64x64xf16>)
      // expected-remark @+1 {{linalg.matmul forms no mainloop: operand 0 is no tile that is read from a tensor; nor a tile body, because it is not known what the rows of a tile are}}
      %t = linalg.matmul ins(%g, %h : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// What is carried has none either.
func.func @carried_operand(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %zero16 = arith.constant 0.0 : f16
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %first16 = tensor.empty() : tensor<64x64xf16>
    %start16 = linalg.fill ins(%zero16 : f16) outs(%first16 : tensor<64x64xf16>) -> tensor<64x64xf16>
    %sum:2 = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start, %more = %start16) -> (tensor<64x64xf32>, tensor<64x64xf16>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: a contraction multiplies what is carried}}
      %s = linalg.matmul ins(%more, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %e16 = tensor.empty() : tensor<64x64xf16>
      %h = linalg.map { arith.truncf } ins(%s : tensor<64x64xf32>) outs(%e16 : tensor<64x64xf16>)
      pit.yield %s, %h : tensor<64x64xf32>, tensor<64x64xf16>
    }
    %w = pit.swrite %sum#0 into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Sums of columns: a warp has some rows only.
func.func @reduces_rows(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      // expected-remark @+1 {{linalg.matmul forms no mainloop: an op reduces rows, which different warps have}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %k = linalg.reduce { arith.addf } ins(%s : tensor<64x64xf32>) outs(%start1 : tensor<64xf32>) dimensions = [0]
      %t = linalg.generic {indexing_maps = [#tile, #col, #tile], iterator_types = ["parallel", "parallel"]}
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

// What is reduced goes from lane to lane by a single op.
func.func @quotients(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      // expected-remark @+1 {{linalg.matmul forms no mainloop: an op reduces by more than one op that is commutative and associative}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %k = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]}
        ins(%s : tensor<64x64xf32>) outs(%start1 : tensor<64xf32>) {
      ^bb0(%p: f32, %old: f32):
        %d = arith.divf %old, %p : f32
        linalg.yield %d : f32
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

// Rows beyond the end are 0 in shared memory.
func.func @padded(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      %y = pit.sread %at[%j, %c0] pad(1.0 : f16) : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: a contraction reads a tile that is padded with something else than 0, or is no matrix}}
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

// Nothing says how the elements of a carried tile are divided.
func.func @no_row(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
    %sum:2 = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start, %more = %start1) -> (tensor<64x64xf32>, tensor<64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: a loop over its steps carries 2 values, or groups that write the same; nor a tile body, because it is not known what the rows of a tile are}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      %u = linalg.map { math.absf } ins(%more : tensor<64xf32>) outs(%e1 : tensor<64xf32>)
      pit.yield %t, %u : tensor<64x64xf32>, tensor<64xf32>
    }
    %w = pit.swrite %sum#0 into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// What is a row of one tile is a column of another.
func.func @turned(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because a dimension runs along the rows of one tile and along the columns of another}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.transpose ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) permutation = [1, 0]
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// The same, behind the loop: of two carried tiles one is written turned.
func.func @turned_after(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum:2 = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start, %more = %start) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: the result has other rows or columns than what is carried}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      %q = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%more : tensor<64x64xf32>) -> tensor<64x64xf32>
      %v = linalg.map { math.absf } ins(%q : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t, %v : tensor<64x64xf32>, tensor<64x64xf32>
    }
    %b = linalg.generic {indexing_maps = [#tile, #turned, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%sum#0, %sum#1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
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

// Two contractions of different rows.
func.func @fewer_rows(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %e2 = tensor.empty() : tensor<32x64xf32>
    %start2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<32x64xf32>) -> tensor<32x64xf32>
    %sum:2 = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start, %more = %start2) -> (tensor<64x64xf32>, tensor<32x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      %z = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<32x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: a loop over its steps carries 2 values, or groups that write the same; nor a tile body, because tiles have different numbers of rows}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      %q = linalg.matmul ins(%z, %y : tensor<32x64xf16>, tensor<64x64xf16>) outs(%more : tensor<32x64xf32>) -> tensor<32x64xf32>
      %v = linalg.map { math.absf } ins(%q : tensor<32x64xf32>) outs(%e2 : tensor<32x64xf32>)
      pit.yield %t, %v : tensor<64x64xf32>, tensor<32x64xf32>
    }
    %w = pit.swrite %sum#0 into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// A dimension that both operands and the result have.
func.func @batches(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      %y = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.generic forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because a contraction has several dimensions for one of m, n and k, or one for none of them}}
      %s = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) {
      ^bb0(%p: f16, %q: f16, %old: f32):
        %f = arith.extf %p : f16 to f32
        %g = arith.extf %q : f16 to f32
        %d = arith.mulf %f, %g : f32
        %u = arith.addf %old, %d : f32
        linalg.yield %u : f32
      } -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// A matrix times a vector.
func.func @vector(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x1xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x1xf32>) -> tensor<64x1xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x1xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x1xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because a contraction has a single row, column or product}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x1xf16>) outs(%acc : tensor<64x1xf32>) -> tensor<64x1xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x1xf32>) outs(%e : tensor<64x1xf32>)
      pit.yield %t : tensor<64x1xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x1xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Columns of the result that nothing has that is carried.
func.func @columns_after(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start1) -> (tensor<64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: the result has rows or columns that nothing has that is carried}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.reduce { arith.addf } ins(%s : tensor<64x64xf32>) outs(%acc : tensor<64xf32>) dimensions = [1]
      pit.yield %t : tensor<64xf32>
    }
    %b = linalg.broadcast ins(%sum : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
    %w = pit.swrite %b into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Two stages, and what is read once, lie in shared memory.
func.func @shared_memory(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %c0] : tensor<512x512xf16> -> tensor<64x512xf16>
      %y = pit.sread %at[%c0, %j] : tensor<512x512xf16> -> tensor<512x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: two stages and what is loaded once take 196608 of 98304 bytes of shared memory}}
      %s = linalg.matmul ins(%x, %y : tensor<64x512xf16>, tensor<512x64xf16>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { arith.addf } ins(%s, %acc : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Elements are integers or floats.
func.func @indices(%a: memref<512x512xf16>, %b: memref<512x512xindex>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %bt = bufferization.to_tensor %b restrict : memref<512x512xindex> to tensor<512x512xindex>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      %z = pit.sread %bt[%i, %j] : tensor<512x512xindex> -> tensor<64x64xindex>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it reads elements that are no integers or floats}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.generic {indexing_maps = [#tile, #tile, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%s, %z : tensor<64x64xf32>, tensor<64x64xindex>) outs(%e : tensor<64x64xf32>) {
      ^bb0(%p: f32, %q: index, %old: f32):
        %is = arith.cmpi slt, %q, %i : index
        %d = arith.select %is, %p, %zero : f32
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
