func.func @f(%a: tensor<1024x1024xf32>, %b: tensor<1024x512xf32>,
             %c: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
  %s = pit.sparse %a : tensor<1024x1024xf32>
  %r = linalg.matmul ins(%s, %b : tensor<1024x1024xf32>, tensor<1024x512xf32>)
         outs(%c : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %r : tensor<1024x512xf32>
}
