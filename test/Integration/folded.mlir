// REQUIRES: pit-run, pit-fake-cuda
// RUN: pit-run %s --entry=feed_forward --check --stats --shape=0:4x20x32 \
// RUN:   --arg='random(4x20x32,f32,seed=1)' --arg='random(4,i32,low=0,high=20,seed=8)' \
// RUN:   --arg='random(32x96,f32,seed=2)' --arg='random(96,f32,seed=3)' --arg='random(96,f32,seed=4)' \
// RUN:   --arg='random(96,f32,seed=5)' --arg='random(96x32,f32,seed=6)' --arg='random(32,f32,seed=7)' \
// RUN:   | FileCheck %s --check-prefix=FF
// RUN: pit-run %s --entry=experts --check --stats \
// RUN:   --arg='random(50x8,f32,seed=1)' --arg='random(50x2,i32,low=-1,high=7,seed=5)' \
// RUN:   --arg='random(50x64,f32,seed=2)' --arg='random(8x64x256,f32,seed=3)' --arg='random(8x256x64,f32,seed=4)' \
// RUN:   | FileCheck %s --check-prefix=EXPERTS

// On a device a tensor that is packed by a routing has a row for each slot, not
// for each pair of a token and an expert.
// RUN: env PIT_FAKE_CUDA_TRACE=1 pit-run %s --entry=experts --target=cuda --cuda-library=%pit_fake_cuda \
// RUN:   --arg='zeros(20000x8,f32)' --arg='zeros(20000x2,i32)' --arg='zeros(20000x64,f32)' \
// RUN:   --arg='zeros(8x64x256,f32)' --arg='zeros(8x256x64,f32)' 2>&1 | FileCheck %s --check-prefix=ROOM
// ROOM: fake: launch pit_index_
// ROOM: fake: allocate 40960000 bytes
// ROOM-NOT: fake: allocate

// Chains of planned ops whose values stay packed between them compute what the
// dense program does.

// One index serves all widths.
// FF: index 0: lengths of argument 1
// FF-NOT: index 1
// FF: check: result 0: {{.*}}: ok

// EXPERTS: index 0: routing of argument 1
// EXPERTS-NOT: index 1
// EXPERTS: check: result 0: {{.*}}: ok

#x = affine_map<(b, s, n, k) -> (b, s, k)>
#w = affine_map<(b, s, n, k) -> (k, n)>
#y = affine_map<(b, s, n, k) -> (b, s, n)>
#bsn = affine_map<(b, s, n) -> (b, s, n)>
#bs = affine_map<(b, s, n) -> (b, s)>
#n = affine_map<(b, s, n) -> (n)>

func.func @feed_forward(%x: tensor<?x?x32xf32>, %l: tensor<?xi32>, %w1: tensor<32x96xf32>,
                        %b1: tensor<96xf32>, %gamma: tensor<96xf32>, %beta: tensor<96xf32>,
                        %w2: tensor<96x32xf32>, %b2: tensor<32xf32>) -> tensor<?x?x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %e1 = tensor.empty(%b, %t) : tensor<?x?x96xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x?x96xf32>) -> tensor<?x?x96xf32>
  %xs = pit.sparse %x lengths(%l : tensor<?xi32>) rule(<axis = 1, micro_tile = [1, 1, *]>) : tensor<?x?x32xf32>
  %h1 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%xs, %w1 : tensor<?x?x32xf32>, tensor<32x96xf32>) outs(%z1 : tensor<?x?x96xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %q = arith.addf %p, %o : f32
    linalg.yield %q : f32
  } -> tensor<?x?x96xf32>
  %h2 = linalg.generic {indexing_maps = [#bsn, #n, #bsn], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%h1, %b1 : tensor<?x?x96xf32>, tensor<96xf32>) outs(%e1 : tensor<?x?x96xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x?x96xf32>
  %em = tensor.empty(%b, %t) : tensor<?x?xf32>
  %zm = linalg.fill ins(%zero : f32) outs(%em : tensor<?x?xf32>) -> tensor<?x?xf32>
  %sums:2 = linalg.generic {indexing_maps = [#bsn, #bs, #bs], iterator_types = ["parallel", "parallel", "reduction"]}
           ins(%h2 : tensor<?x?x96xf32>) outs(%zm, %zm : tensor<?x?xf32>, tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32, %oo: f32):
    %s = arith.addf %a, %o : f32
    %q = arith.mulf %a, %a : f32
    %ss = arith.addf %q, %oo : f32
    linalg.yield %s, %ss : f32, f32
  } -> (tensor<?x?xf32>, tensor<?x?xf32>)
  %count = arith.constant 96.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %h3 = linalg.generic {indexing_maps = [#bsn, #bs, #bs, #n, #n, #bsn], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%h2, %sums#0, %sums#1, %gamma, %beta : tensor<?x?x96xf32>, tensor<?x?xf32>, tensor<?x?xf32>,
              tensor<96xf32>, tensor<96xf32>)
          outs(%e1 : tensor<?x?x96xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32, %g: f32, %d: f32, %o: f32):
    %mean = arith.divf %s, %count : f32
    %square = arith.divf %q, %count : f32
    %mean2 = arith.mulf %mean, %mean : f32
    %var = arith.subf %square, %mean2 : f32
    %vare = arith.addf %var, %eps : f32
    %rstd = math.rsqrt %vare : f32
    %m = arith.subf %a, %mean : f32
    %nd = arith.mulf %m, %rstd : f32
    %ng = arith.mulf %nd, %g : f32
    %r = arith.addf %ng, %d : f32
    linalg.yield %r : f32
  } -> tensor<?x?x96xf32>
  %h3s = pit.sparse %h3 lengths(%l : tensor<?xi32>) rule(<axis = 1, micro_tile = [1, 1, *]>) : tensor<?x?x96xf32>
  %e2 = tensor.empty(%b, %t) : tensor<?x?x32xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %h4 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%h3s, %w2 : tensor<?x?x96xf32>, tensor<96x32xf32>) outs(%z2 : tensor<?x?x32xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %c : f32
    %q = arith.addf %p, %o : f32
    linalg.yield %q : f32
  } -> tensor<?x?x32xf32>
  %h5 = linalg.generic {indexing_maps = [#bsn, #n, #bsn, #bsn], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%h4, %b2, %x : tensor<?x?x32xf32>, tensor<32xf32>, tensor<?x?x32xf32>) outs(%e2 : tensor<?x?x32xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.addf %s, %d : f32
    linalg.yield %r : f32
  } -> tensor<?x?x32xf32>
  %y = pit.sparse %h5 lengths(%l : tensor<?xi32>) rule(<axis = 1, micro_tile = [1, 1, *]>) : tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}

func.func @experts(%r: tensor<?x8xf32>, %routing: tensor<?x2xi32>, %x: tensor<?x64xf32>,
                   %up: tensor<8x64x256xf32>, %down: tensor<8x256x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x64xf32>
    %s = pit.sparse %r routing(%routing : tensor<?x2xi32>) rule(<axis = 0, micro_tile = [1, 1]>) : tensor<?x8xf32>
  %eh = tensor.empty(%t) : tensor<?x8x256xf32>
  %zh = linalg.fill ins(%zero : f32) outs(%eh : tensor<?x8x256xf32>) -> tensor<?x8x256xf32>
  %h = linalg.generic {
         indexing_maps = [affine_map<(t, e, f, k) -> (t, e)>, affine_map<(t, e, f, k) -> (t, k)>,
                          affine_map<(t, e, f, k) -> (e, k, f)>, affine_map<(t, e, f, k) -> (t, e, f)>],
         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%s, %x, %up : tensor<?x8xf32>, tensor<?x64xf32>, tensor<8x64x256xf32>)
         outs(%zh : tensor<?x8x256xf32>) {
  ^bb0(%w: f32, %a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %w, %p : f32
    %v = arith.addf %c, %q : f32
    linalg.yield %v : f32
  } -> tensor<?x8x256xf32>
  %relu = linalg.generic {
         indexing_maps = [affine_map<(t, e, f) -> (t, e, f)>, affine_map<(t, e, f) -> (t, e, f)>],
         iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%h : tensor<?x8x256xf32>) outs(%eh : tensor<?x8x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<?x8x256xf32>
  %ey = tensor.empty(%t) : tensor<?x64xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.generic {
         indexing_maps = [affine_map<(t, n, e, f) -> (t, e)>, affine_map<(t, n, e, f) -> (t, e, f)>,
                          affine_map<(t, n, e, f) -> (e, f, n)>, affine_map<(t, n, e, f) -> (t, n)>],
         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
         ins(%s, %relu, %down : tensor<?x8xf32>, tensor<?x8x256xf32>, tensor<8x256x64xf32>)
         outs(%zy : tensor<?x64xf32>) {
  ^bb0(%w: f32, %a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %w, %p : f32
    %v = arith.addf %c, %q : f32
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
