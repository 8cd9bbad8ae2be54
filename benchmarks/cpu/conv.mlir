// A convolution with a sparse input whose borders are there already.
func.func @f(%x: tensor<${batch}x${H}x${W}x${C}x${T}>, %w: tensor<${kernel}x${kernel}x${C}x${F}x${T}>)
    -> tensor<${batch}x${OH}x${OW}x${F}x${R}> {
  %s = pit.sparse %x rule(#pit.rule<${rule}>) : tensor<${batch}x${H}x${W}x${C}x${T}>
  %zero = arith.constant ${zero} : ${R}
  %e = tensor.empty() : tensor<${batch}x${OH}x${OW}x${F}x${R}>
  %c = linalg.fill ins(%zero : ${R}) outs(%e : tensor<${batch}x${OH}x${OW}x${F}x${R}>)
         -> tensor<${batch}x${OH}x${OW}x${F}x${R}>
  %y = linalg.conv_2d_nhwc_hwcf {strides = dense<${stride}> : tensor<2xi64>}
         ins(%s, %w : tensor<${batch}x${H}x${W}x${C}x${T}>, tensor<${kernel}x${kernel}x${C}x${F}x${T}>)
         outs(%c : tensor<${batch}x${OH}x${OW}x${F}x${R}>) -> tensor<${batch}x${OH}x${OW}x${F}x${R}>
  return %y : tensor<${batch}x${OH}x${OW}x${F}x${R}>
}
