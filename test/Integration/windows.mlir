// Convolutions in register blocks, against the dense program: strides,
// dilations, ragged extents, images without a pixel or a channel, all zero and
// all dense, lanes along windows, and pixels with ids of their own.

// RUN: pit-run %s --entry=nhwc --arg='random(2x7x35x37,f32,sparsity=0.7,seed=1)' --arg='random(3x3x37x33,f32,seed=2)' --arg='random(2x2x33x33,f32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=nhwc --arg='random(2x7x35x37,f32,sparsity=1,seed=1)' --arg='random(3x3x37x33,f32,seed=2)' --arg='random(2x2x33x33,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=nhwc --arg='random(2x7x35x37,f32,sparsity=0,seed=1)' --arg='random(3x3x37x33,f32,seed=2)' --arg='random(2x2x33x33,f32,seed=3)' --check %unoptimized --threads=2 | FileCheck %s
// RUN: pit-run %s --entry=nhwc --arg='zeros(0x7x35x37,f32)' --arg='random(3x3x37x33,f32,seed=2)' --arg='zeros(0x2x33x33,f32)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=nhwc --arg='zeros(1x7x35x0,f32)' --arg='zeros(3x3x0x33,f32)' --arg='random(1x2x33x33,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=nhwc --arg='random(1x5x3x1,f32,seed=1)' --arg='random(3x3x1x16,f32,seed=2)' --arg='random(1x1x1x16,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=nchw --arg='random(1x19x6x40,bf16,sparsity=0.7,seed=1)' --arg='random(9x19x3x3,bf16,seed=2)' --arg='random(1x9x4x38,f32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=rows --arg='random(21x33,f32,sparsity=0.5,seed=1)' --arg='random(3x33x80,f32,seed=2)' --arg='random(10x80,f32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=pixels --arg='random(2x7x35x37,f32,sparsity=0.7,seed=1)' --arg='random(3x3x37x133,f32,seed=2)' --arg='random(2x2x33x133,f32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=pixels --arg='random(2x7x35x37,f32,sparsity=1,seed=1)' --arg='random(3x3x37x33,f32,seed=2)' --arg='random(2x2x33x33,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=pixels --arg='random(2x7x35x137,f32,sparsity=0,seed=1)' --arg='random(3x3x137x33,f32,seed=2)' --arg='random(2x2x33x33,f32,seed=3)' --check %unoptimized --threads=2 | FileCheck %s
// RUN: pit-run %s --entry=pixels --arg='zeros(0x7x35x37,f32)' --arg='random(3x3x37x33,f32,seed=2)' --arg='zeros(0x2x33x33,f32)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=pixels --arg='zeros(1x7x35x0,f32)' --arg='zeros(3x3x0x33,f32)' --arg='random(1x2x33x33,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=pixels --arg='random(1x5x3x1,f32,seed=1)' --arg='random(3x3x1x1,f32,seed=2)' --arg='random(1x1x1x1,f32,seed=3)' --check %unoptimized | FileCheck %s
// RUN: pit-run %s --entry=pixels_bf16 --arg='random(1x19x6x40,bf16,sparsity=0.7,seed=1)' --arg='random(9x19x3x3,bf16,seed=2)' --arg='random(1x9x4x38,f32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=blocks --arg='random(37x5x70,f32,sparsity=0.7,seed=1)' --arg='random(5x70x40,f32,seed=2)' --arg='random(37x40,f32,seed=3)' --check | FileCheck %s
// RUN: pit-run %s --entry=blocks --arg='zeros(37x0x70,f32)' --arg='zeros(0x70x40,f32)' --arg='random(37x40,f32,seed=3)' --check %unoptimized | FileCheck %s
// CHECK: check: result 0: {{.*}}: ok

func.func @nhwc(%x: tensor<?x?x?x?xf32>, %w: tensor<3x3x?x?xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 3>) : tensor<?x?x?x?xf32>
  %y = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[2, 1]> : tensor<2xi64>} ins(%s, %w : tensor<?x?x?x?xf32>, tensor<3x3x?x?xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %y : tensor<?x?x?x?xf32>
}

func.func @nchw(%x: tensor<?x?x?x?xbf16>, %w: tensor<?x?x3x3xbf16>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 1>) : tensor<?x?x?x?xbf16>
  %y = linalg.conv_2d_nchw_fchw ins(%s, %w : tensor<?x?x?x?xbf16>, tensor<?x?x3x3xbf16>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %y : tensor<?x?x?x?xf32>
}

#image = affine_map<(h, f, k, c) -> (h * 2 + k, c)>
#filter = affine_map<(h, f, k, c) -> (k, c, f)>
#out = affine_map<(h, f, k, c) -> (h, f)>
func.func @rows(%x: tensor<?x?xf32>, %w: tensor<3x?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 1>) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%s, %w : tensor<?x?xf32>, tensor<3x?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @pixels(%x: tensor<?x?x?x?xf32>, %w: tensor<3x3x?x?xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 3, micro_tile = [1, 1, 1, 1]>) : tensor<?x?x?x?xf32>
  %y = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[2, 1]> : tensor<2xi64>} ins(%s, %w : tensor<?x?x?x?xf32>, tensor<3x3x?x?xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %y : tensor<?x?x?x?xf32>
}

func.func @pixels_bf16(%x: tensor<?x?x?x?xbf16>, %w: tensor<?x?x3x3xbf16>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %s = pit.sparse %x rule(#pit.rule<axis = 1, micro_tile = [1, 1, 1, 1]>) : tensor<?x?x?x?xbf16>
  %y = linalg.conv_2d_nchw_fchw ins(%s, %w : tensor<?x?x?x?xbf16>, tensor<?x?x3x3xbf16>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %y : tensor<?x?x?x?xf32>
}

#cube = affine_map<(m, n, j, k) -> (m, j, k)>
#stack = affine_map<(m, n, j, k) -> (j, k, n)>
#sum = affine_map<(m, n, j, k) -> (m, n)>
func.func @blocks(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = pit.sparse %a rule(#pit.rule<axis = 2, micro_tile = [32, 1, 1]>) : tensor<?x?x?xf32>
  %y = linalg.generic {indexing_maps = [#cube, #stack, #sum], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%s, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %r = arith.mulf %p, %q : f32
    %t = arith.addf %sum, %r : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
