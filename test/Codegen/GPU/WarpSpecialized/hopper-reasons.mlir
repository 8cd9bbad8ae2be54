// Why kernels with a mainloop, or with a product that is none, do without Hopper's
// schedule. The portable one is always there, and other chips have nothing else.

// RUN: pit-opt %s --pit-schedule-kernels="chip=sm_90a explain" --convert-pit-to-gpu=chip=sm_90a --verify-diagnostics | FileCheck %s
// RUN: sed s/expected-remark// %s | pit-opt --pit-schedule-kernels="chip=sm_90 explain" --convert-pit-to-gpu=chip=sm_90 2>&1 | FileCheck %s

// CHECK-NOT: {{remark|wgmma|_hopper}}
// CHECK: gpu.func @f32(
// CHECK-NOT: {{remark|wgmma|_hopper}}
// CHECK: gpu.func @masked(
// CHECK-NOT: {{remark|wgmma|_hopper}}

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nm = affine_map<(m, n, k) -> (n, m)>
module {
module @pit_kernels attributes {pit.kernels} {
  func.func @f32(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xf32>
    %n = memref.dim %b, %c1 : memref<?x?xf32>
    %K = memref.dim %a, %c1 : memref<?x?xf32>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 128) {
      // expected-remark @below {{kernel f32 has the portable schedule only, not Hopper's: tensor cores do not take these operands}}
      pit.mainloop %c0 to %K step [32] extra_maps [] into %o[%i, %j : index, index] : memref<?x?xf32> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<128x32xf32>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<32x128xf32>
        pit.yield %x, %y : vector<128x32xf32>, vector<32x128xf32>
      } compute {
      ^bb0(%xt: vector<128x32xf32>, %yt: vector<32x128xf32>, %at: vector<128x128xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 128, 32] maps [#mk, #kn, #mn]
               : vector<128x32xf32>, vector<32x128xf32>, vector<128x128xf32> {
        ^bb0(%p: f32, %q: f32, %acc: f32):
          %2 = arith.mulf %p, %q : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x128xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  func.func @large(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xf16>
    %n = memref.dim %b, %c1 : memref<?x?xf16>
    %K = memref.dim %a, %c1 : memref<?x?xf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (192, 136) {
      // expected-remark @below {{kernel large has the portable schedule only, not Hopper's: a tile of 192 x 136 has more accumulators than two warpgroups hold}}
      pit.mainloop %c0 to %K step [64] extra_maps [] into %o[%i, %j : index, index] : memref<?x?xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<192x64xf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x136xf16>
        pit.yield %x, %y : vector<192x64xf16>, vector<64x136xf16>
      } compute {
      ^bb0(%xt: vector<192x64xf16>, %yt: vector<64x136xf16>, %at: vector<192x136xf32>):
        %st = pit.contract %xt, %yt, %at tile [192, 136, 64] maps [#mk, #kn, #mn]
               : vector<192x64xf16>, vector<64x136xf16>, vector<192x136xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<192x136xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  func.func @odd_steps(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xf16>
    %n = memref.dim %b, %c1 : memref<?x?xf16>
    %K = memref.dim %a, %c1 : memref<?x?xf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 128) {
      // expected-remark @below {{kernel odd_steps has the portable schedule only, not Hopper's: steps of 48 along k are no multiple of 64}}
      pit.mainloop %c0 to %K step [48] extra_maps [] into %o[%i, %j : index, index] : memref<?x?xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x48xf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<48x128xf16>
        pit.yield %x, %y : vector<64x48xf16>, vector<48x128xf16>
      } compute {
      ^bb0(%xt: vector<64x48xf16>, %yt: vector<48x128xf16>, %at: vector<64x128xf32>):
        %st = pit.contract %xt, %yt, %at tile [64, 128, 48] maps [#mk, #kn, #mn]
               : vector<64x48xf16>, vector<48x128xf16>, vector<64x128xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<64x128xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  func.func @unaligned_rows(%index: !pit.index<micro_tile = [1, *], axis = 0>, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %o: memref<?x?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %b, %c1 : memref<?x?xbf16>
    %K = memref.dim %a, %c1 : memref<?x?xbf16>
    pit.forall (%j) = (%c0) to (%n) step (128), %ids at %pos in %index : !pit.index<micro_tile = [1, *], axis = 0> chunk 128 {
      // expected-remark @below {{kernel unaligned_rows has the portable schedule only, not Hopper's: gathered rows are not read from multiples of 16 bytes on}}
      pit.mainloop %c1 to %K step [64] extra_maps [] into %o[%ids, %j : !pit.ids<128>, index] : memref<?x?xbf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%ids, %k : !pit.ids<128>, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<128x64xbf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x128xbf16>
        pit.yield %x, %y : vector<128x64xbf16>, vector<64x128xbf16>
      } compute {
      ^bb0(%xt: vector<128x64xbf16>, %yt: vector<64x128xbf16>, %at: vector<128x128xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 128, 64] maps [#mk, #kn, #mn]
               : vector<128x64xbf16>, vector<64x128xbf16>, vector<128x128xf32> {
        ^bb0(%p: bf16, %q: bf16, %acc: f32):
          %0 = arith.extf %p : bf16 to f32
          %1 = arith.extf %q : bf16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x128xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  func.func @elements(%index: !pit.index<micro_tile = [1, 128], axis = 0>, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %o: memref<?x?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xbf16>
    %n = memref.dim %b, %c1 : memref<?x?xbf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      // expected-remark @below {{kernel elements has the portable schedule only, not Hopper's: ids select elements of a row}}
      pit.mainloop step [] in %index[%i] chunk 64 : !pit.index<micro_tile = [1, 128], axis = 0> extra_maps [] into %o[%i, %j : index, index] : memref<?x?xbf16> load {
      ^bb0(%ids: !pit.ids<64>, %pos: !pit.ids<64>):
        %x = pit.view %a[%i, %ids : index, !pit.ids<64>] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<128x64xbf16>
        %y = pit.view %b[%ids, %j : !pit.ids<64>, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x256xbf16>
        pit.yield %x, %y : vector<128x64xbf16>, vector<64x256xbf16>
      } compute {
      ^bb0(%xt: vector<128x64xbf16>, %yt: vector<64x256xbf16>, %at: vector<128x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 256, 64] maps [#mk, #kn, #mn]
               : vector<128x64xbf16>, vector<64x256xbf16>, vector<128x256xf32> {
        ^bb0(%p: bf16, %q: bf16, %acc: f32):
          %0 = arith.extf %p : bf16 to f32
          %1 = arith.extf %q : bf16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x256xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  func.func @packed_k(%index: !pit.index<micro_tile = [1, 128], axis = 0>, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %o: memref<?x?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c1 : memref<?x?xbf16>
    %n = memref.dim %b, %c0 : memref<?x?xbf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      // expected-remark @below {{kernel packed_k has the portable schedule only, not Hopper's: an operand is packed along k, within rows}}
      pit.mainloop step [] in %index[%i] chunk 64 : !pit.index<micro_tile = [1, 128], axis = 0> extra_maps [] into %o[%i, %j : index, index] : memref<?x?xbf16> load {
      ^bb0(%ids: !pit.ids<64>, %pos: !pit.ids<64>):
        %x = pit.view %a[%ids, %i : !pit.ids<64>, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x128xbf16>
        %y = pit.view %b[%j, %pos : index, !pit.ids<64>] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<256x64xbf16>
        pit.yield %x, %y : vector<64x128xbf16>, vector<256x64xbf16>
      } compute {
      ^bb0(%xt: vector<64x128xbf16>, %yt: vector<256x64xbf16>, %at: vector<128x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 256, 64] maps [#km, #nk, #mn]
               : vector<64x128xbf16>, vector<256x64xbf16>, vector<128x256xf32> {
        ^bb0(%p: bf16, %q: bf16, %acc: f32):
          %0 = arith.extf %p : bf16 to f32
          %1 = arith.extf %q : bf16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x256xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  func.func @vector(%a: memref<?x?xf16>, %b: memref<?xf16>, %o: memref<?xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xf16>
    %K = memref.dim %a, %c1 : memref<?x?xf16>
    pit.forall (%i) = (%c0) to (%m) step (128) {
      // expected-remark @below {{kernel vector has the portable schedule only, not Hopper's: an operand is a vector}}
      pit.mainloop %c0 to %K step [64] extra_maps [] into %o[%i : index] : memref<?xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<128x64xf16>
        %y = pit.view %b[%k : index] pad(0.0 : f16) : memref<?xf16> -> vector<64xf16>
        pit.yield %x, %y : vector<128x64xf16>, vector<64xf16>
      } compute {
      ^bb0(%xt: vector<128x64xf16>, %yt: vector<64xf16>, %at: vector<128xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 64] maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>]
               : vector<128x64xf16>, vector<64xf16>, vector<128xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  func.func @outer_products(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xf16>
    %n = memref.dim %b, %c1 : memref<?x?xf16>
    %K = memref.dim %a, %c1 : memref<?x?xf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 128) {
      // expected-remark @below {{kernel outer_products has the portable schedule only, not Hopper's: steps of 1 along k are no multiple of 64}}
      pit.mainloop %c0 to %K step [1] extra_maps [] into %o[%i, %j : index, index] : memref<?x?xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<128x1xf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<1x128xf16>
        pit.yield %x, %y : vector<128x1xf16>, vector<1x128xf16>
      } compute {
      ^bb0(%xt: vector<128x1xf16>, %yt: vector<1x128xf16>, %at: vector<128x128xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 128, 1] maps [#mk, #kn, #mn]
               : vector<128x1xf16>, vector<1x128xf16>, vector<128x128xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x128xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // What is multiplied is not what is read: no mainloop.
  func.func @masked(%a: memref<?x?xf16>, %mask: memref<?x?xi8>, %b: memref<?x?xf16>, %o: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %none = arith.constant 0 : i8
    %zero = arith.constant 0.0 : f16
    %m = memref.dim %a, %c0 : memref<?x?xf16>
    %n = memref.dim %b, %c1 : memref<?x?xf16>
    %K = memref.dim %a, %c1 : memref<?x?xf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 128) {
      %sum = memref.alloc() : memref<64x128xf32>
      pit.sread %o[%i, %j] into %sum : memref<?x?xf32> -> memref<64x128xf32>
      pit.for (%k) = (%c0) to (%K) step (32) {
        %x = memref.alloc() : memref<64x32xf16>
        pit.sread %a[%i, %k] into %x pad(0.0 : f16) : memref<?x?xf16> -> memref<64x32xf16>
        %select = memref.alloc() : memref<64x32xi8>
        pit.sread %mask[%i, %k] into %select pad(0 : i8) : memref<?x?xi8> -> memref<64x32xi8>
        linalg.map ins(%select, %x : memref<64x32xi8>, memref<64x32xf16>) outs(%x : memref<64x32xf16>)
          (%s: i8, %v: f16, %old: f16) {
            %is = arith.cmpi ne, %s, %none : i8
            %kept = arith.select %is, %v, %zero : f16
            linalg.yield %kept : f16
          }
        %y = memref.alloc() : memref<32x128xf16>
        pit.sread %b[%k, %j] into %y pad(0.0 : f16) : memref<?x?xf16> -> memref<32x128xf16>
        // expected-remark @below {{kernel masked has the portable schedule only, not Hopper's: its product is no mainloop}}
        linalg.matmul ins(%x, %y : memref<64x32xf16>, memref<32x128xf16>) outs(%sum : memref<64x128xf32>)
      }
      pit.swrite %sum into %o[%i, %j] : memref<64x128xf32> into memref<?x?xf32>
    }
    return
  }
}
}
