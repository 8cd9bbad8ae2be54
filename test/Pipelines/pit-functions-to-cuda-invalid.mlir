// What a device cannot do in functions of others is an error with a reason.

// RUN: pit-opt %s -pit-functions-to-kernels=choice=now -one-shot-bufferize=bufferize-function-boundaries -pit-functions-to-cuda -split-input-file -verify-diagnostics -o /dev/null

func.func @element(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>, %o: tensor<64x64xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %s = pit.sparse %x : tensor<64x128xf32>
  %y = linalg.matmul ins(%s, %w : tensor<64x128xf32>, tensor<128x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-error @+1 {{works on a tensor's elements on the host, which cannot read the device's memory}}
  %r = tensor.extract %y[%c0, %c0] : tensor<64x64xf32>
  return %r : f32
}

// -----

// expected-error @+1 {{argument 1 is an index, which only entry points of the calling convention take (pit-abi-prepare); build it in the function}}
func.func @index(%x: tensor<64x128xf32>, %i: !pit.index<micro_tile = [32, 1], axis = 1>, %w: tensor<128x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = pit.sparse %x index(%i : !pit.index<micro_tile = [32, 1], axis = 1>) : tensor<64x128xf32>
  %y = linalg.matmul ins(%s, %w : tensor<64x128xf32>, tensor<128x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

func.func @ends(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>, %o: tensor<64x64xf32>, %t: !gpu.async.token) -> tensor<64x64xf32> {
  %s = pit.sparse %x : tensor<64x128xf32>
  %y = linalg.matmul ins(%s, %w : tensor<64x128xf32>, tensor<128x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-error @+1 {{ends the stream of the function, to which pit's frame still belongs; let the caller wait}}
  gpu.wait [%t]
  return %y : tensor<64x64xf32>
}
