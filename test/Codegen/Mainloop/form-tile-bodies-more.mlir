// Loops that a tile body once was made of in a wrong way, and what is made of them now.

// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-form-mainloops{explain}))' --verify-diagnostics | FileCheck %s

// CHECK-DAG: #[[$NONE:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-DAG: #[[$FIRST:.*]] = affine_map<(d0, d1) -> (0, 0)>

#tile = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#zmn = affine_map<(m, n, k) -> (0, m, n)>
#halves = affine_map<(m, n, k) -> (m floordiv 2, k)>
#turns = affine_map<(m, n, k) -> (m mod 32, k)>

// A step has numbers that are known before its tiles are there. An element of a tile that
// is read is one, which the loads hand to what computes,
// CHECK-LABEL: func.func @element_of_what_is_read
// CHECK: load {
// CHECK: %[[TILE:.*]] = pit.view
// CHECK: %[[NUMBER:.*]] = vector.extract %[[TILE]][0, 0] : f16 from vector<64x64xf16>
// CHECK: %[[BY:.*]] = arith.extf %[[NUMBER]]
// CHECK: pit.yield {{.*}}, %[[BY]]
func.func @element_of_what_is_read(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      %h = tensor.extract %x[%c0, %c0] : tensor<64x64xf16>
      %by = arith.extf %h : f16 to f32
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.generic {indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
      ^bb0(%p: f32, %old: f32):
        %u = arith.mulf %p, %by : f32
        linalg.yield %u : f32
      } -> tensor<64x64xf32>
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// but none of one that is computed.
// CHECK-LABEL: func.func @element_of_what_is_computed
// CHECK-NOT: pit.mainloop
func.func @element_of_what_is_computed(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because tensor.extract stands in the loop over its steps}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %by = tensor.extract %s[%c0, %c0] : tensor<64x64xf32>
      %t = linalg.generic {indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
      ^bb0(%p: f32, %old: f32):
        %u = arith.mulf %p, %by : f32
        linalg.yield %u : f32
      } -> tensor<64x64xf32>
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// It may say where the step reads,
// CHECK-LABEL: func.func @element_says_where
// CHECK: load {
// CHECK: %[[NUMBER:.*]] = vector.extract
// CHECK: %[[ROW:.*]] = arith.index_cast
// CHECK: pit.view {{.*}}[%[[ROW]], 
func.func @element_says_where(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %z = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %h = tensor.extract %z[%c0, %c0] : tensor<64x64xf16>
      %hi = arith.fptosi %h : f16 to i64
      %row = arith.index_cast %hi : i64 to index
      %x = pit.sread %at[%row, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      pit.yield %s : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// and need not be used.
// CHECK-LABEL: func.func @element_unused
// CHECK: pit.mainloop
func.func @element_unused(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      %h = tensor.extract %x[%c0, %c0] : tensor<64x64xf16>
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      pit.yield %s : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// So is the coordinate of an id: here that of a block of 64 rows.
// CHECK-LABEL: func.func @id_of_block
// CHECK: load {
// CHECK-NEXT: ^bb0(%[[IDS:.*]]: !pit.ids<1>,
// CHECK: %[[COORDS:.*]] = pit.coords %[[IDS]]
// CHECK: %[[BLOCK:.*]] = vector.extract %[[COORDS]][0] : index from vector<1xindex>
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]]
// CHECK: pit.view {{.*}}[%{{.*}}, %[[FIRST]] :
!blocks = !pit.index<micro_tile = [1, 1], axis = 1>
func.func @id_of_block(%a: memref<512x512xf16>, %live: !blocks, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %group = arith.divui %i, %c64 : index
    %sum = pit.for %ids at %pos in %live[%group] : !blocks chunk 1 iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %coords = pit.coords %ids : !pit.ids<1> -> tensor<1xindex>
      %block = tensor.extract %coords[%c0] : tensor<1xindex>
      %j = arith.muli %block, %c64 : index
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      pit.yield %s : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Nor is an extent of a tile such a number.
func.func @extent(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because tensor.dim stands in the loop over its steps}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %d = tensor.dim %s, %c0 : tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// The place of a row that is read for two rows is no sum of dimensions,
func.func @rows_twice(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<32x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.generic forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because a contraction reads or writes elements by a map that is no sum of dimensions}}
      %s = linalg.generic {indexing_maps = [#halves, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<32x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) {
      ^bb0(%p: f16, %q: f16, %old: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %u = arith.mulf %pw, %qw : f32
        %v = arith.addf %old, %u : f32
        linalg.yield %v : f32
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

// in whatever order,
func.func @rows_in_turns(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<32x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.generic forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because a contraction reads or writes elements by a map that is no sum of dimensions}}
      %s = linalg.generic {indexing_maps = [#turns, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<32x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) {
      ^bb0(%p: f16, %q: f16, %old: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %u = arith.mulf %pw, %qw : f32
        %v = arith.addf %old, %u : f32
        linalg.yield %v : f32
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

// nor is the place of a result that lies in the first of several tiles.
func.func @result_with_zero(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<1x64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<1x64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.generic forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because a contraction reads or writes elements by a map that is no sum of dimensions}}
      %s = linalg.generic {indexing_maps = [#mk, #kn, #zmn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<1x64x64xf32>) {
      ^bb0(%p: f16, %q: f16, %old: f32):
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %u = arith.mulf %pw, %qw : f32
        %v = arith.addf %old, %u : f32
        linalg.yield %v : f32
      } -> tensor<1x64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<1x64x64xf32>) outs(%e : tensor<1x64x64xf32>)
      pit.yield %t : tensor<1x64x64xf32>
    }
    %e2 = tensor.empty() : tensor<64x64xf32>
    %flat = linalg.generic {indexing_maps = [affine_map<(m, n) -> (0, m, n)>, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<1x64x64xf32>) outs(%e2 : tensor<64x64xf32>) {
    ^bb0(%p: f32, %old: f32):
      linalg.yield %p : f32
    } -> tensor<64x64xf32>
    %w = pit.swrite %flat into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// What is read at all coordinates of an index is no view.
func.func @whole_index(%a: memref<512x512xf16>, %b: memref<64x64xf32>, %index: !pit.index<micro_tile = [1, *], axis = 0>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %bt = bufferization.to_tensor %b restrict : memref<64x64xf32> to tensor<64x64xf32>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %big = pit.sread %bt[%index : !pit.index<micro_tile = [1, *], axis = 0>] : tensor<64x64xf32> -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because a tile is computed before the loop over its steps}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { arith.addf } ins(%s, %big : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// A pair is no number of a step.
func.func @pair_of_a_step(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      %pair = complex.create %zero, %zero : complex<f32>
      // expected-remark @+1 {{linalg.matmul forms no mainloop: it is no op of two operands and one result that reduces; nor a tile body, because an op on tiles uses what is no integer, index or float of a step}}
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.generic {indexing_maps = [#tile, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
      ^bb0(%p: f32, %old: f32):
        %re = complex.re %pair : complex<f32>
        %u = arith.addf %p, %re : f32
        linalg.yield %u : f32
      } -> tensor<64x64xf32>
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// What is read wider than it lies in memory is widened where an op starts from it: one
// that reduces,

// CHECK-LABEL: func.func @reduces_to_wider
// CHECK: pit.mainloop {{.*}} invariants(%{{.*}} : vector<64xf16>)
// CHECK: ^bb0(%{{.*}}: vector<64x64xf16>, %{{.*}}: vector<64x64xf16>, %[[B:.*]]: vector<64xf16>, %{{.*}}: vector<64x64xf32>):
// CHECK:   %[[S:.*]] = pit.contract
// CHECK:   %[[WIDE:.*]] = pit.pointwise(%[[B]]) {{.*}} : (vector<64xf16>) -> vector<64xf32> {
// CHECK:     arith.extf %{{.*}} : f16 to f32
// CHECK:   pit.pointwise(%[[S]]) reduces %[[WIDE]] {{.*}} : (vector<64x64xf32>, vector<64xf32>) -> vector<64xf32> {
func.func @reduces_to_wider(%a: memref<512x512xf16>, %b: memref<512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %bt = bufferization.to_tensor %b restrict : memref<512xf16> to tensor<512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      %wide = pit.sread %bt[%i] : tensor<512xf16> -> tensor<64xf32>
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %most = linalg.reduce { arith.addf } ins(%s : tensor<64x64xf32>) outs(%wide : tensor<64xf32>) dimensions = [1]
      %t = linalg.generic {indexing_maps = [#tile, #row, #tile], iterator_types = ["parallel", "parallel"]}
        ins(%s, %most : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
      ^bb0(%p: f32, %q: f32, %old: f32):
        %u = arith.mulf %p, %q : f32
        linalg.yield %u : f32
      } -> tensor<64x64xf32>
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// a contraction,

// CHECK-LABEL: func.func @adds_to_wider
// CHECK: ^bb0(%[[A:.*]]: vector<64x64xf16>, %[[B:.*]]: vector<64x64xf16>, %[[C:.*]]: vector<64x64xf16>, %[[ACC:.*]]: vector<64x64xf32>):
// CHECK:   %[[WIDE:.*]] = pit.pointwise(%[[C]]) {{.*}} : (vector<64x64xf16>) -> vector<64x64xf32> {
// CHECK:     arith.extf %{{.*}} : f16 to f32
// CHECK:   %[[S:.*]] = pit.contract %[[A]], %[[B]], %[[WIDE]]
// CHECK:   pit.pointwise(%[[S]], %[[ACC]])
func.func @adds_to_wider(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      %wide = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf32>
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%wide : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { arith.addf } ins(%s, %acc : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// and the next step.

// CHECK-LABEL: func.func @carries_wider
// CHECK: ^bb0(%{{.*}}: vector<64x64xf16>, %{{.*}}: vector<64x64xf16>, %[[C:.*]]: vector<64x64xf16>, %{{.*}}: vector<64x64xf32>, %[[LAST:.*]]: vector<64x64xf32>):
// CHECK:   %[[T:.*]] = pit.pointwise(%{{.*}}, %[[LAST]])
// CHECK:   %[[WIDE:.*]] = pit.pointwise(%[[C]]) {{.*}} : (vector<64x64xf16>) -> vector<64x64xf32> {
// CHECK:     arith.extf %{{.*}} : f16 to f32
// CHECK:   pit.yield %[[T]], %[[WIDE]] : vector<64x64xf32>, vector<64x64xf32>
func.func @carries_wider(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum:2 = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start, %last = %start) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      %wide = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf32>
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { arith.addf } ins(%s, %last : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t, %wide : tensor<64x64xf32>, tensor<64x64xf32>
    }
    %w = pit.swrite %sum#0 into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// A contraction whose region asks where an element is, and does not use it: the region of
// a pit.contract knows no places.

// CHECK-LABEL: func.func @unused_place
// CHECK: pit.contract
// CHECK-NEXT: ^bb0(%[[P:.*]]: f16, %[[Q:.*]]: f16, %[[SUM:.*]]: f32):
// CHECK-NEXT:   %[[PW:.*]] = arith.extf %[[P]]
// CHECK-NEXT:   %[[QW:.*]] = arith.extf %[[Q]]
// CHECK-NEXT:   %[[U:.*]] = arith.mulf %[[PW]], %[[QW]]
// CHECK-NEXT:   %[[V:.*]] = arith.addf %[[SUM]], %[[U]]
// CHECK-NEXT:   pit.yield %[[V]] : f32
func.func @unused_place(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
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
      %s = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) {
      ^bb0(%p: f16, %q: f16, %old: f32):
        %place = linalg.index 0 : index
        %pw = arith.extf %p : f16 to f32
        %qw = arith.extf %q : f16 to f32
        %u = arith.mulf %pw, %qw : f32
        %v = arith.addf %old, %u : f32
        linalg.yield %v : f32
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

// A tile of a single number is carried, and no dimension is its row.

// CHECK-LABEL: func.func @carries_a_single_number
// CHECK: body [64, 64] sums [#{{[a-z0-9]+}}, #[[$NONE]]]
// CHECK: ^bb0(%{{.*}}: vector<64x64xf16>, %{{.*}}: vector<64x64xf16>, %{{.*}}: vector<64x64xf32>, %[[ONE:.*]]: vector<f32>):
// CHECK:   pit.yield %{{.*}}, %[[ONE]] : vector<64x64xf32>, vector<f32>
func.func @carries_a_single_number(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %e0 = tensor.empty() : tensor<f32>
    %start0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
    %sum:2 = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start, %one = %start0) -> (tensor<64x64xf32>, tensor<f32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      pit.yield %t, %one : tensor<64x64xf32>, tensor<f32>
    }
    %w = pit.swrite %sum#0 into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// A reduction of two inputs that both run along what it reduces is a contraction only if
// it adds products. This one takes the largest score of a row that a mask lets through.

// CHECK-LABEL: func.func @masked_reduction
// CHECK: body [64, 64] sums [#[[$ID:.*]], #{{.*}}]
// CHECK: ^bb0(%[[A:.*]]: vector<64x64xf16>, %[[B:.*]]: vector<64x64xf16>, %[[MASK:.*]]: vector<64x64xi8>, %[[ACC:.*]]: vector<64x64xf32>, %[[TOP:.*]]: vector<64xf32>):
// CHECK:   %[[S:.*]] = pit.contract %[[A]], %[[B]], %[[ACC]]
// CHECK:   %[[T:.*]] = pit.pointwise(%[[S]], %[[MASK]]) reduces %[[TOP]] tile [64, 64] maps [#[[$ID]], #[[$ID]], #{{[a-z0-9]+}}] {{.*}} -> vector<64xf32> {
// CHECK:   ^bb0(%{{.*}}: index, %{{.*}}: index, %[[P:.*]]: f32, %[[IS8:.*]]: i8, %[[MOST:.*]]: f32):
// CHECK:     %[[IS:.*]] = arith.trunci %[[IS8]]
// CHECK:     %[[U:.*]] = arith.select %[[IS]], %[[P]]
// CHECK:     arith.maximumf %[[MOST]], %[[U]]
// CHECK:   pit.yield %[[S]], %[[T]] : vector<64x64xf32>, vector<64xf32>
func.func @masked_reduction(%a: memref<512x512xf16>, %b: memref<512x512xi8>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %bt = bufferization.to_tensor %b restrict : memref<512x512xi8> to tensor<512x512xi8>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %e1 = tensor.empty() : tensor<64xf32>
    %low = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
    %sum:2 = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start, %top = %low) -> (tensor<64x64xf32>, tensor<64xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      %mask = pit.sread %bt[%i, %j] : tensor<512x512xi8> -> tensor<64x64xi8>
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.generic {indexing_maps = [#tile, #tile, #row], iterator_types = ["parallel", "reduction"]}
        ins(%s, %mask : tensor<64x64xf32>, tensor<64x64xi8>) outs(%top : tensor<64xf32>) {
      ^bb0(%p: f32, %b0: i8, %most: f32):
        %is = arith.trunci %b0 : i8 to i1
        %u = arith.select %is, %p, %zero : f32
        %v = arith.maximumf %most, %u : f32
        linalg.yield %v : f32
      } -> tensor<64xf32>
      pit.yield %s, %t : tensor<64x64xf32>, tensor<64xf32>
    }
    %w = pit.swrite %sum#0 into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}

// Beside what is written, half as many columns are carried.
// CHECK-LABEL: func.func @carries_other_columns(
// CHECK: pit.mainloop {{.*}} body [64, 64] sums [#{{.*}}, #[[$FIRST]]]
func.func @carries_other_columns(%a: memref<512x512xf16>, %out: memref<512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<512x512xf16> to tensor<512x512xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<512x512xf32> to tensor<512x512xf32>
  %r = pit.forall (%i) = (%c0) to (%c512) step (64) iter_args(%o = %ot) -> (tensor<512x512xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %e2 = tensor.empty() : tensor<64x32xf32>
    %start2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %sum:2 = pit.for (%j) = (%c0) to (%c512) step (64) iter_args(%acc = %start, %more = %start2) -> (tensor<64x64xf32>, tensor<64x32xf32>) {
      %x = pit.sread %at[%i, %j] : tensor<512x512xf16> -> tensor<64x64xf16>
      %y = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x64xf16>
      %z = pit.sread %at[%j, %c0] : tensor<512x512xf16> -> tensor<64x32xf16>
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %t = linalg.map { math.absf } ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>)
      %q = linalg.matmul ins(%x, %z : tensor<64x64xf16>, tensor<64x32xf16>) outs(%more : tensor<64x32xf32>) -> tensor<64x32xf32>
      %v = linalg.map { math.absf } ins(%q : tensor<64x32xf32>) outs(%e2 : tensor<64x32xf32>)
      pit.yield %t, %v : tensor<64x64xf32>, tensor<64x32xf32>
    }
    %w = pit.swrite %sum#0 into %o[%i, %c0] : tensor<64x64xf32> into tensor<512x512xf32>
    pit.yield %w : tensor<512x512xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
  return
}
