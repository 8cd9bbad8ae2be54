// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-form-mainloops,canonicalize))' | FileCheck %s
// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-form-mainloops{tf32=true},canonicalize))' | FileCheck %s --check-prefix=TF32

// Rows of A are gathered; C is added to; bias and ReLU follow. Operands of f16
// stay f16.

// TF32-LABEL: func.func @epilogue
// TF32: pit.mainloop
// TF32-NOT: tf32

// CHECK-LABEL: func.func @epilogue
// CHECK: pit.forall ({{.*}}), %[[IDS:.*]] at
// CHECK:   %[[C:.*]] = pit.view %arg3[%[[IDS]], {{.*}}] : memref<?x?xf32> -> vector<64x128xf32>
// CHECK:   %[[BIAS:.*]] = pit.view %arg4[{{.*}}] : memref<?xf16> -> vector<128xf16>
// CHECK:   pit.mainloop %{{.*}} to %{{.*}} step [32]
// CHECK-SAME: extras(%[[C]], %[[BIAS]] : vector<64x128xf32>, vector<128xf16>)
// CHECK-SAME: into %arg5[%[[IDS]], {{.*}}] : memref<?x?xf16> load {
// CHECK:     %[[A:.*]] = pit.view %arg1[%[[IDS]], %{{.*}}] pad(0.000000e+00 : f16)
// CHECK:     %[[B:.*]] = pit.view %arg2
// CHECK:     pit.yield %[[A]], %[[B]]
// CHECK:   } compute {
// CHECK:   ^bb0(%[[XT:.*]]: vector<64x32xf16>, %[[YT:.*]]: vector<32x128xf16>, %[[AT:.*]]: vector<64x128xf32>):
// CHECK:     pit.contract %[[XT]], %[[YT]], %[[AT]] tile [64, 128, 32]
// CHECK:     ^bb0(%[[X:.*]]: f16, %[[Y:.*]]: f16, %[[ACC:.*]]: f32):
// CHECK:     arith.addf
// CHECK:   } prologue {
// CHECK:   ^bb0(%[[OLD:.*]]: f32, %{{.*}}: f16):
// CHECK:     pit.yield %[[OLD]]
// CHECK:   } epilogue {
// CHECK:   ^bb0(%[[SUM:.*]]: f32, %{{.*}}: f32, %[[B16:.*]]: f16):
// CHECK:     %[[WIDE:.*]] = arith.extf %[[B16]]
// CHECK:     %[[SHIFTED:.*]] = arith.addf %[[SUM]], %[[WIDE]]
// CHECK:     arith.maximumf %[[SHIFTED]]
// CHECK-NOT: bufferization.materialize_in_destination
#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>
func.func @epilogue(%index: !pit.index<micro_tile = [1, *], axis = 0>,
                    %a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>,
                    %bias: memref<?xf16>, %out: memref<?x?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %b, %c1 : memref<?x?xf16>
  %k = memref.dim %b, %c0 : memref<?x?xf16>
  %at = bufferization.to_tensor %a restrict : memref<?x?xf16> to tensor<?x?xf16>
  %bt = bufferization.to_tensor %b restrict : memref<?x?xf16> to tensor<?x?xf16>
  %ct = bufferization.to_tensor %c restrict : memref<?x?xf32> to tensor<?x?xf32>
  %biast = bufferization.to_tensor %bias restrict : memref<?xf16> to tensor<?xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<?x?xf16> to tensor<?x?xf16>
  %r = pit.forall (%j) = (%c0) to (%n) step (128),
         %ids at %pos in %index : !pit.index<micro_tile = [1, *], axis = 0> chunk 64
         iter_args(%o = %ot) -> (tensor<?x?xf16>) {
    %old = pit.sread %ct[%ids : !pit.ids<64>, %j] : tensor<?x?xf32> -> tensor<64x128xf32>
    %sum = pit.for (%p) = (%c0) to (%k) step (32) iter_args(%acc = %old) -> (tensor<64x128xf32>) {
      %x = pit.sread %at[%ids : !pit.ids<64>, %p] pad(0.0 : f16) : tensor<?x?xf16> -> tensor<64x32xf16>
      %y = pit.sread %bt[%p, %j] pad(0.0 : f16) : tensor<?x?xf16> -> tensor<32x128xf16>
      %s = linalg.matmul ins(%x, %y : tensor<64x32xf16>, tensor<32x128xf16>)
             outs(%acc : tensor<64x128xf32>) -> tensor<64x128xf32>
      pit.yield %s : tensor<64x128xf32>
    }
    %bs = pit.sread %biast[%j] : tensor<?xf16> -> tensor<128xf16>
    %e = tensor.empty() : tensor<64x128xf32>
    %t = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
           ins(%sum, %bs : tensor<64x128xf32>, tensor<128xf16>) outs(%e : tensor<64x128xf32>) {
    ^bb0(%u: f32, %v: f16, %w: f32):
      %wide = arith.extf %v : f16 to f32
      %shifted = arith.addf %u, %wide : f32
      %positive = arith.maximumf %shifted, %zero : f32
      linalg.yield %positive : f32
    } -> tensor<64x128xf32>
    %written = pit.swrite %t into %o[%ids : !pit.ids<64>, %j] : tensor<64x128xf32> into tensor<?x?xf16>
    pit.yield %written : tensor<?x?xf16>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x?xf16>, memref<?x?xf16>) -> ()
  return
}

// -----

// Groups add to the same outputs: the mainloop starts from 0 and combines.

// TF32-LABEL: func.func @atomic
// TF32: pit.mainloop step [] {{.*}} combine(addf) atomic
// TF32: pit.contract {{.*}} tile [64, 128, 64] {{.*}} tf32

// CHECK-LABEL: func.func @atomic
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: pit.forall ({{.*}}) conflicts(atomic)
// CHECK:   pit.for
// CHECK:     pit.mainloop step [] {{.*}} combine(addf) atomic :
// CHECK:     pit.contract {{.*}} tile [64, 128, 64]
// CHECK:     } prologue {
// CHECK-NEXT:  pit.yield %[[ZERO]]
func.func @atomic(%index: !pit.index<micro_tile = [1, 64], axis = 0>,
                  %a: memref<256x256xf32>, %b: memref<256x256xf32>, %out: memref<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %at = bufferization.to_tensor %a restrict : memref<256x256xf32> to tensor<256x256xf32>
  %bt = bufferization.to_tensor %b restrict : memref<256x256xf32> to tensor<256x256xf32>
  %ot = bufferization.to_tensor %out restrict writable : memref<256x256xf32> to tensor<256x256xf32>
  %r = pit.forall (%p, %j) = (%c0, %c0) to (%c256, %c256) step (64, 128) conflicts(atomic)
         iter_args(%o = %ot) -> (tensor<256x256xf32>) {
    %w = pit.for %ids at %pos in %index[%p] : !pit.index<micro_tile = [1, 64], axis = 0> chunk 64
           iter_args(%oo = %o) -> (tensor<256x256xf32>) {
      %e = tensor.empty() : tensor<64x128xf32>
      %start = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
      %x = pit.sread %at[%ids : !pit.ids<64>, %p] pad(0.0 : f32) : tensor<256x256xf32> -> tensor<64x64xf32>
      %y = pit.sread %bt[%p, %j] pad(0.0 : f32) : tensor<256x256xf32> -> tensor<64x128xf32>
      %s = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x128xf32>)
             outs(%start : tensor<64x128xf32>) -> tensor<64x128xf32>
      %written = pit.swrite %s into %oo[%ids : !pit.ids<64>, %j] combine(addf)
                   : tensor<64x128xf32> into tensor<256x256xf32>
      pit.yield %written : tensor<256x256xf32>
    }
    pit.yield %w : tensor<256x256xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<256x256xf32>, memref<256x256xf32>) -> ()
  return
}

// -----

// No contraction of two operands: left as it is.

// CHECK-LABEL: func.func @copy
// CHECK-NOT: pit.mainloop
// CHECK: pit.swrite
func.func @copy(%a: memref<256xf32>, %out: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %at = bufferization.to_tensor %a restrict : memref<256xf32> to tensor<256xf32>
  %ot = bufferization.to_tensor %out restrict writable : memref<256xf32> to tensor<256xf32>
  %r = pit.forall (%i) = (%c0) to (%c256) step (64) iter_args(%o = %ot) -> (tensor<256xf32>) {
    %t = pit.sread %at[%i] : tensor<256xf32> -> tensor<64xf32>
    %w = pit.swrite %t into %o[%i] : tensor<64xf32> into tensor<256xf32>
    pit.yield %w : tensor<256xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// -----

// Scales of blocks of k, of rows and of all columns, are tiles of the step, too, in
// whichever order the op has them.

// CHECK-LABEL: func.func @scales
// CHECK: load {
// CHECK:     %[[A:.*]] = pit.view %arg1[%{{[a-z0-9]*}}, %[[C:[a-z0-9]*]], %c0 : {{.*}} -> vector<64x1x32xf16>
// CHECK:     %[[B:.*]] = pit.view %arg2[%{{[a-z0-9]*}}, %[[C]], %c0 : {{.*}} -> vector<128x1x32xf16>
// CHECK:     %[[ROWS:.*]] = pit.view %arg0[%{{[a-z0-9]*}}, %[[C]] : {{.*}} -> vector<64x1xf32>
// CHECK:     %[[ALL:.*]] = pit.view %arg3[%[[C]] : {{.*}} -> vector<1xbf16>
// CHECK:     pit.yield %[[A]], %[[B]], %[[ROWS]], %[[ALL]]
// CHECK:   } compute {
// CHECK:     pit.contract %{{.*}}, %{{.*}}, %{{.*}} scales(%{{.*}}, %{{.*}} : vector<64x1xf32>, vector<1xbf16>) tile [64, 128, 1, 32]
// CHECK-SAME: maps [#{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}] :
// CHECK:     ^bb0(%[[X:.*]]: f16, %[[Y:.*]]: f16, %[[ACC:.*]]: f32, %[[S:.*]]: f32, %[[T:.*]]: bf16):
// CHECK:       %[[XW:.*]] = arith.extf %[[X]]
// CHECK:       %[[SX:.*]] = arith.mulf %[[S]], %[[XW]]
// CHECK:       %[[YW:.*]] = arith.extf %[[Y]]
// CHECK:       arith.mulf %[[SX]], %[[YW]]
// CHECK:       arith.extf %[[T]]
// TF32-LABEL: func.func @scales
// TF32: pit.contract
func.func @scales(%s: memref<?x?xf32>, %a: memref<?x?x32xf16>, %b: memref<?x?x32xf16>, %t: memref<?xbf16>,
                  %out: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x?x32xf16>
  %n = memref.dim %b, %c0 : memref<?x?x32xf16>
  %k = memref.dim %a, %c1 : memref<?x?x32xf16>
  %at = bufferization.to_tensor %a restrict : memref<?x?x32xf16> to tensor<?x?x32xf16>
  %bt = bufferization.to_tensor %b restrict : memref<?x?x32xf16> to tensor<?x?x32xf16>
  %st = bufferization.to_tensor %s restrict : memref<?x?xf32> to tensor<?x?xf32>
  %tt = bufferization.to_tensor %t restrict : memref<?xbf16> to tensor<?xbf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<?x?xf32> to tensor<?x?xf32>
  %r = pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 128) iter_args(%o = %ot) -> (tensor<?x?xf32>) {
    %e = tensor.empty() : tensor<64x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
    %sum = pit.for (%c) = (%c0) to (%k) step (1) iter_args(%acc = %f) -> (tensor<64x128xf32>) {
      %x = pit.sread %at[%i, %c, %c0] pad(0.0 : f16) : tensor<?x?x32xf16> -> tensor<64x1x32xf16>
      %y = pit.sread %bt[%j, %c, %c0] pad(0.0 : f16) : tensor<?x?x32xf16> -> tensor<128x1x32xf16>
      %u = pit.sread %st[%i, %c] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<64x1xf32>
      %v = pit.sread %tt[%c] pad(0.0 : bf16) : tensor<?xbf16> -> tensor<1xbf16>
      %z = linalg.generic {indexing_maps = [affine_map<(m, n, c, k) -> (m, c)>, affine_map<(m, n, c, k) -> (m, c, k)>,
                                            affine_map<(m, n, c, k) -> (n, c, k)>, affine_map<(m, n, c, k) -> (c)>,
                                            affine_map<(m, n, c, k) -> (m, n)>],
                           iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%u, %x, %y, %v : tensor<64x1xf32>, tensor<64x1x32xf16>, tensor<128x1x32xf16>, tensor<1xbf16>)
          outs(%acc : tensor<64x128xf32>) {
      ^bb0(%p: f32, %q: f16, %w: f16, %g: bf16, %h: f32):
        %0 = arith.extf %q : f16 to f32
        %1 = arith.mulf %p, %0 : f32
        %2 = arith.extf %w : f16 to f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.extf %g : bf16 to f32
        %5 = arith.mulf %3, %4 : f32
        %6 = arith.addf %h, %5 : f32
        linalg.yield %6 : f32
      } -> tensor<64x128xf32>
      pit.yield %z : tensor<64x128xf32>
    }
    %w = pit.swrite %sum into %o[%i, %j] : tensor<64x128xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  bufferization.materialize_in_destination %r in writable %out : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  return
}

// -----

// A quotient by a constant cannot trap, so it may stand beside the loop: here rows
// of A share a group of B's, as places of a block share a list.

// CHECK-LABEL: func.func @quotient
// CHECK: %[[GROUP:.*]] = arith.floordivsi %{{.*}}, %c128
// CHECK: pit.mainloop
// CHECK:   pit.view %arg1[%[[GROUP]], {{.*}}]
func.func @quotient(%a: memref<?x?xf16>, %b: memref<?x?x?xf16>, %out: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x?xf16>
  %k = memref.dim %a, %c1 : memref<?x?xf16>
  %n = memref.dim %b, %c2 : memref<?x?x?xf16>
  %at = bufferization.to_tensor %a restrict : memref<?x?xf16> to tensor<?x?xf16>
  %bt = bufferization.to_tensor %b restrict : memref<?x?x?xf16> to tensor<?x?x?xf16>
  %ot = bufferization.to_tensor %out restrict writable : memref<?x?xf32> to tensor<?x?xf32>
  %r = pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 64) iter_args(%o = %ot) -> (tensor<?x?xf32>) {
    %group = arith.floordivsi %i, %c128 : index
    %e = tensor.empty() : tensor<64x64xf32>
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %sum = pit.for (%p) = (%c0) to (%k) step (32) iter_args(%acc = %init) -> (tensor<64x64xf32>) {
      %x = pit.sread %at[%i, %p] : tensor<?x?xf16> -> tensor<64x32xf16>
      %y = pit.sread %bt[%group, %p, %j] : tensor<?x?x?xf16> -> tensor<1x32x64xf16>
      %s = linalg.generic {indexing_maps = [affine_map<(i, j, g, p) -> (i, p)>, affine_map<(i, j, g, p) -> (g, p, j)>,
                                            affine_map<(i, j, g, p) -> (i, j)>],
                           iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%x, %y : tensor<64x32xf16>, tensor<1x32x64xf16>) outs(%acc : tensor<64x64xf32>) {
      ^bb0(%l: f16, %h: f16, %old: f32):
        %lw = arith.extf %l : f16 to f32
        %hw = arith.extf %h : f16 to f32
        %t = arith.mulf %lw, %hw : f32
        %u = arith.addf %old, %t : f32
        linalg.yield %u : f32
      } -> tensor<64x64xf32>
      pit.yield %s : tensor<64x64xf32>
    }
    %w = pit.swrite %sum into %o[%i, %j] : tensor<64x64xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  bufferization.materialize_in_destination %r in writable %out : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  return
}
