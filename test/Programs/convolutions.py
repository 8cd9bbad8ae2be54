"""Convolutions: one to three image dimensions, layouts, strides, dilations, depthwise,
padded, quantized, images and filters with zeros."""

import itertools

import numpy as np

from suite import program


def correlate(x, w, out, image, strides=1, dilations=1):
    """out[n, p..., f] += x[n, p * stride + k * dilation..., c] w[k..., c, f]; `image` are
    the extents p. Without channels, n and f are extents of one."""
    rank = len(image)
    result = out.copy()
    for k in itertools.product(*(range(size) for size in w.shape[:rank])):
        window = tuple(slice(i * dilations, i * dilations + (size - 1) * strides + 1, strides)
                       for i, size in zip(k, image)) if all(image) else None
        if window is None:
            return result
        result += np.einsum("n...c,cf->n...f", x[(slice(None), *window)], w[k])
    return result


def plain(x, w, out):
    """Without batches and channels."""
    lift = lambda a: a[None, ..., None]
    return correlate(lift(x), w[..., None, None], lift(out), out.shape)[0, ..., 0]


def convolution(name, image, kernel, out, types="f32 f32 f32", attributes="", mark="image",
                background=""):
    """The text of a named op."""
    image, kernel, out = (f"tensor<{'x'.join([*dims, type_])}>"
                          for dims, type_ in zip((image, kernel, out), types.split()))
    value, type_ = ("%x", image) if mark == "image" else ("%w", kernel)
    operands = "%s, %w" if mark == "image" else "%x, %s"
    return f"""
func.func @f(%x: {image}, %w: {kernel}, %c: {out}) -> {out} {{
  %s = pit.sparse {value}{background} : {type_}
  %r = linalg.{name} {attributes} ins({operands} : {image}, {kernel}) outs(%c : {out}) -> {out}
  return %r : {out}
}}
"""


def attributes(rank, strides=1, dilations=1):
    return (f"{{dilations = dense<{dilations}> : tensor<{rank}xi64>, "
            f"strides = dense<{strides}> : tensor<{rank}xi64>}}")


# Without channels no dimension may be packed: each of the image's is added to another.
@program(convolution("conv_1d", "W", "K", "P"), dict(W=10, K=3, P=8), dict(W=70, K=8, P=63),
         tiled=False)
def conv_1d(d):
    x, w, c = d.f32(d.W, zeros=0.5), d.f32(d.K), d.f32(d.P)
    return plain(x, w, c)


@program(convolution("conv_2d", "HW", "KJ", "PQ"), dict(H=8, W=8, K=3, J=3, P=6, Q=6),
         dict(H=33, W=40, K=4, J=2, P=30, Q=39), tiled=False)
def conv_2d(d):
    x, w, c = d.f32(d.H, d.W, zeros=0.5), d.f32(d.K, d.J), d.f32(d.P, d.Q)
    return plain(x, w, c)


@program(convolution("conv_3d", "DHW", "LKJ", "OPQ"),
         dict(D=8, H=8, W=8, L=3, K=3, J=3, O=6, P=6, Q=6), tiled=False)
def conv_3d(d):
    x, w = d.f32(d.D, d.H, d.W, zeros=0.5), d.f32(d.L, d.K, d.J)
    return plain(x, w, d.f32(d.O, d.P, d.Q))


# The elements of a filter that are not zero.
@program(convolution("conv_2d", "HW", "KJ", "PQ", "i32 i32 i32", mark="kernel"),
         dict(H=8, W=8, K=3, J=3, P=6, Q=6), dict(H=33, W=40, K=5, J=5, P=29, Q=36), tiled=False)
def sparse_filter_conv_2d(d):
    x, w = d.i32(d.H, d.W), d.i32(d.K, d.J, zeros=0.7)
    return plain(x, w, d.i32(d.P, d.Q))


@program(convolution("conv_1d_nwc_wcf", "BWC", "KCF", "BPF"), dict(B=3, W=8, C=1, K=3, F=1, P=6),
         dict(B=5, W=33, C=20, K=3, F=17, P=31), dict(B=2, W=8, C=0, K=3, F=4, P=6))
def conv_1d_nwc_wcf(d):
    x, w = d.f32(d.B, d.W, d.C, zeros=0.7), d.f32(d.K, d.C, d.F)
    return correlate(x, w, d.f32(d.B, d.P, d.F), (d.P,))


NHWC = ("BHWC", "KJCF", "BPQF")
IMAGES = [dict(B=3, H=8, W=8, C=1, K=3, J=3, F=1, P=6, Q=6),
          dict(B=2, H=13, W=20, C=34, K=3, J=1, F=19, P=11, Q=20),
          dict(B=0, H=8, W=8, C=2, K=3, J=3, F=2, P=6, Q=6)]


def draw_images(d, of, pixels=0.6):
    """An image in nhwc with pixels that are zero, a filter in hwcf, a result."""
    x = of(d.B, d.H, d.W, d.C, zeros=pixels, micro=(1, 1, 1, max(d.C, 1)))
    return x, of(d.K, d.J, d.C, d.F), of(d.B, d.P, d.Q, d.F)


@program(convolution("conv_2d_nhwc_hwcf", *NHWC), *IMAGES)
def conv_2d_nhwc_hwcf(d):
    return correlate(*draw_images(d, d.f32), (d.P, d.Q))


@program(convolution("conv_2d_nhwc_hwcf", *NHWC, types="f16 f16 f32"), *IMAGES)
def conv_2d_nhwc_hwcf_f16(d):
    x = d.f16(d.B, d.H, d.W, d.C, zeros=0.6, micro=(1, 1, 1, max(d.C, 1)))
    return correlate(x, d.f16(d.K, d.J, d.C, d.F), d.f32(d.B, d.P, d.Q, d.F), (d.P, d.Q))


@program(convolution("conv_2d_nhwc_hwcf", *NHWC, attributes=attributes(2, strides=2)),
         dict(B=1, H=9, W=9, C=3, K=3, J=3, F=4, P=4, Q=4),
         dict(B=2, H=21, W=12, C=34, K=3, J=2, F=19, P=10, Q=6))
def conv_2d_nhwc_hwcf_strided(d):
    return correlate(*draw_images(d, d.f32), (d.P, d.Q), strides=2)


@program(convolution("conv_2d_nhwc_hwcf", *NHWC, attributes=attributes(2, dilations=2)),
         dict(B=1, H=8, W=8, C=3, K=3, J=3, F=4, P=4, Q=4),
         dict(B=2, H=21, W=12, C=34, K=3, J=2, F=19, P=17, Q=10))
def conv_2d_nhwc_hwcf_dilated(d):
    return correlate(*draw_images(d, d.f32), (d.P, d.Q), dilations=2)


# A filter of ones counts pixels: it multiplies by nothing, and alone says how large
# windows are.
@program("""
func.func @f(%x: tensor<BxHxWxCxf32>, %c: tensor<BxPxQx5xf32>) -> tensor<BxPxQx5xf32> {
  %w = arith.constant dense<1.0> : tensor<3x2x4x5xf32>
  %s = pit.sparse %x : tensor<BxHxWxCxf32>
  %r = linalg.conv_2d_nhwc_hwcf """ + attributes(2, dilations=2) + """
         ins(%s, %w : tensor<BxHxWxCxf32>, tensor<3x2x4x5xf32>) outs(%c : tensor<BxPxQx5xf32>) -> tensor<BxPxQx5xf32>
  return %r : tensor<BxPxQx5xf32>
}
""", dict(B=1, H=8, W=8, C=4, P=4, Q=6), dict(B=2, H=21, W=12, C=4, P=17, Q=10))
def conv_2d_filter_of_ones(d):
    x = d.f32(d.B, d.H, d.W, d.C, zeros=0.6, micro=(1, 1, 1, d.C))
    return correlate(x, np.ones((3, 2, 4, 5)), d.f32(d.B, d.P, d.Q, 5), (d.P, d.Q), dilations=2)


@program(convolution("conv_2d_nhwc_hwcf", *NHWC, mark="kernel"), *IMAGES)
def conv_2d_pruned_filter(d):
    x, w = d.f32(d.B, d.H, d.W, d.C), d.f32(d.K, d.J, d.C, d.F, zeros=0.8)
    return correlate(x, w, d.f32(d.B, d.P, d.Q, d.F), (d.P, d.Q))


@program(convolution("conv_2d_nhwc_fhwc", "BHWC", "FKJC", "BPQF"), *IMAGES)
def conv_2d_nhwc_fhwc(d):
    x = d.f32(d.B, d.H, d.W, d.C, zeros=0.7)
    w = d.f32(d.F, d.K, d.J, d.C).transpose(1, 2, 3, 0)
    return correlate(x, w, d.f32(d.B, d.P, d.Q, d.F), (d.P, d.Q))


@program(convolution("conv_2d_nchw_fchw", "BCHW", "FCKJ", "BFPQ"), *IMAGES)
def conv_2d_nchw_fchw(d):
    x = d.f32(d.B, d.C, d.H, d.W, zeros=0.7, micro=(1, 1, max(d.H, 1), max(d.W, 1)))
    w, c = d.f32(d.F, d.C, d.K, d.J), d.f32(d.B, d.F, d.P, d.Q)
    result = correlate(x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), c.transpose(0, 2, 3, 1),
                       (d.P, d.Q))
    return result.transpose(0, 3, 1, 2)


@program(convolution("conv_2d_nchw_fchw", "BCHW", "FCKJ", "BFPQ", types="i8 i8 i32"), *IMAGES)
def conv_2d_nchw_fchw_i8(d):
    x = d.i8(d.B, d.C, d.H, d.W, zeros=0.7, micro=(1, 1, max(d.H, 1), max(d.W, 1)))
    w, c = d.i8(d.F, d.C, d.K, d.J), d.i32(d.B, d.F, d.P, d.Q)
    result = correlate(x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), c.transpose(0, 2, 3, 1),
                       (d.P, d.Q))
    return result.transpose(0, 3, 1, 2)


# Both zero points; the image's is what may be skipped.
@program("""
func.func @f(%x: tensor<BxCxHxWxi8>, %w: tensor<FxCxKxJxi8>, %c: tensor<BxFxPxQxi32>)
    -> tensor<BxFxPxQxi32> {
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %s = pit.sparse %x background(1 : i8) : tensor<BxCxHxWxi8>
  %r = linalg.conv_2d_nchw_fchw_q
         ins(%s, %w, %one, %three : tensor<BxCxHxWxi8>, tensor<FxCxKxJxi8>, i32, i32)
         outs(%c : tensor<BxFxPxQxi32>) -> tensor<BxFxPxQxi32>
  return %r : tensor<BxFxPxQxi32>
}
""", *IMAGES)
def conv_2d_nchw_fchw_quantized(d):
    x = d.given("i8", d.numbers((d.B, d.C, d.H, d.W), -8, 7, 0.7, None) + 1)
    w, c = d.i8(d.F, d.C, d.K, d.J), d.i32(d.B, d.F, d.P, d.Q).astype(float)
    result = correlate(x.transpose(0, 2, 3, 1) - 1, w.transpose(2, 3, 1, 0) - 3,
                       c.transpose(0, 2, 3, 1), (d.P, d.Q))
    return result.transpose(0, 3, 1, 2)


@program(convolution("conv_3d_ndhwc_dhwcf", "BDHWC", "LKJCF", "BOPQF"),
         dict(B=1, D=8, H=8, W=8, C=1, L=3, K=3, J=3, F=1, O=6, P=6, Q=6),
         dict(B=2, D=5, H=9, W=6, C=18, L=2, K=3, J=1, F=7, O=4, P=7, Q=6))
def conv_3d_ndhwc_dhwcf(d):
    x = d.f32(d.B, d.D, d.H, d.W, d.C, zeros=0.6, micro=(1, 1, 1, 1, d.C))
    w = d.f32(d.L, d.K, d.J, d.C, d.F)
    return correlate(x, w, d.f32(d.B, d.O, d.P, d.Q, d.F), (d.O, d.P, d.Q))


def depthwise(x, w, out, image, strides=1):
    result = out.copy()
    for k in itertools.product(*(range(size) for size in w.shape[:len(image)])):
        window = tuple(slice(i, i + (size - 1) * strides + 1, strides)
                       for i, size in zip(k, image))
        result += x[(slice(None), *window)] * w[k]
    return result


@program(convolution("depthwise_conv_1d_nwc_wc", "BWC", "KC", "BPC"), dict(B=1, W=8, C=4, K=3, P=6),
         dict(B=3, W=30, C=35, K=5, P=26))
def depthwise_conv_1d(d):
    x, w = d.f32(d.B, d.W, d.C, zeros=0.7, micro=(1, d.W, 1)), d.f32(d.K, d.C)
    return depthwise(x, w, d.f32(d.B, d.P, d.C), (d.P,))


@program(convolution("depthwise_conv_2d_nhwc_hwc", "BHWC", "KJC", "BPQC",
                     attributes=attributes(2, strides=2)),
         dict(B=1, H=9, W=9, C=4, K=3, J=3, P=4, Q=4),
         dict(B=2, H=13, W=8, C=35, K=3, J=2, P=6, Q=4))
def depthwise_conv_2d(d):
    x = d.f32(d.B, d.H, d.W, d.C, zeros=0.7, micro=(1, d.H, d.W, 1))
    return depthwise(x, d.f32(d.K, d.J, d.C), d.f32(d.B, d.P, d.Q, d.C), (d.P, d.Q), 2)


# With a rim of zeros around the image.
@program("""
func.func @f(%x: tensor<BxHxWxCxf32>, %w: tensor<3x3xCxFxf32>, %c: tensor<BxHxWxFxf32>)
    -> tensor<BxHxWxFxf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<BxHxWxCxf32> to tensor<BxPxQxCxf32>
  %s = pit.sparse %p : tensor<BxPxQxCxf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%s, %w : tensor<BxPxQxCxf32>, tensor<3x3xCxFxf32>)
         outs(%c : tensor<BxHxWxFxf32>) -> tensor<BxHxWxFxf32>
  return %r : tensor<BxHxWxFxf32>
}
""", dict(B=3, H=8, W=8, C=1, F=1, P=10, Q=10), dict(B=2, H=13, W=5, C=20, F=17, P=15, Q=7),
         dict(B=1, H=1, W=1, C=3, F=2, P=3, Q=3))
def conv_2d_padded(d):
    x = d.f32(d.B, d.H, d.W, d.C, zeros=0.6, micro=(1, 1, 1, d.C))
    w, c = d.f32(3, 3, d.C, d.F), d.f32(d.B, d.H, d.W, d.F)
    return correlate(np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), w, c, (d.H, d.W))


# Two convolutions, the second one of what the first one leaves positive.
@program("""
func.func @f(%x: tensor<BxHxWxCxf32>, %w: tensor<3x3xCxFxf32>, %v: tensor<3x3xFxFxf32>,
             %c: tensor<BxPxQxFxf32>, %d: tensor<BxRxSxFxf32>) -> tensor<BxRxSxFxf32> {
  %zero = arith.constant 0.0 : f32
  %s = pit.sparse %x : tensor<BxHxWxCxf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%s, %w : tensor<BxHxWxCxf32>, tensor<3x3xCxFxf32>)
         outs(%c : tensor<BxPxQxFxf32>) -> tensor<BxPxQxFxf32>
  %1 = linalg.generic #[ijkl -> ijkl] ins(%0 : tensor<BxPxQxFxf32>)
         outs(%c : tensor<BxPxQxFxf32>) {
  ^bb0(%y: f32, %o: f32):
    %3 = arith.maximumf %y, %zero : f32
    linalg.yield %3 : f32
  } -> tensor<BxPxQxFxf32>
  %t = pit.sparse %1 : tensor<BxPxQxFxf32>
  %2 = linalg.conv_2d_nhwc_hwcf ins(%t, %v : tensor<BxPxQxFxf32>, tensor<3x3xFxFxf32>)
         outs(%d : tensor<BxRxSxFxf32>) -> tensor<BxRxSxFxf32>
  return %2 : tensor<BxRxSxFxf32>
}
""", dict(B=1, H=9, W=9, C=3, F=4, P=7, Q=7, R=5, S=5),
         dict(B=2, H=12, W=8, C=20, F=17, P=10, Q=6, R=8, S=4))
def conv_2d_twice(d):
    x = d.f32(d.B, d.H, d.W, d.C, zeros=0.6, micro=(1, 1, 1, d.C), scale=1)
    w, v = d.f32(3, 3, d.C, d.F, low=-1, high=1, scale=1), d.f32(3, 3, d.F, d.F, low=-1, high=1,
                                                                 scale=1)
    c, out = d.f32(d.B, d.P, d.Q, d.F, scale=1), d.f32(d.B, d.R, d.S, d.F, scale=1)
    middle = np.maximum(correlate(x, w, c, (d.P, d.Q)), 0)
    return correlate(middle, v, out, (d.R, d.S))


# The image and the filter have zeros; one of them is packed.
@program("""
func.func @f(%x: tensor<BxHxWxCxf32>, %w: tensor<KxJxCxFxf32>, %c: tensor<BxPxQxFxf32>)
    -> tensor<BxPxQxFxf32> {
  %s = pit.sparse %x : tensor<BxHxWxCxf32>
  %t = pit.sparse %w : tensor<KxJxCxFxf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%s, %t : tensor<BxHxWxCxf32>, tensor<KxJxCxFxf32>)
         outs(%c : tensor<BxPxQxFxf32>) -> tensor<BxPxQxFxf32>
  return %r : tensor<BxPxQxFxf32>
}
""", *IMAGES)
def conv_2d_of_two_sparse(d):
    x = d.f32(d.B, d.H, d.W, d.C, zeros=0.6)
    w = d.f32(d.K, d.J, d.C, d.F, zeros=0.6)
    return correlate(x, w, d.f32(d.B, d.P, d.Q, d.F), (d.P, d.Q))
