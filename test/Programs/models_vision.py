"""Convolutional networks: blocks of ResNet, MobileNet, U-Net, squeeze and excite, group
norm, transposed convolution."""

import numpy as np

from builder import Builder
from suite import program


def attributes(strides=1, dilations=1):
    return (f"{{dilations = dense<{dilations}> : vector<2xi64>, "
            f"strides = dense<{strides}> : vector<2xi64>}}")


def conv(x, w, strides=1, pad=0):
    """A convolution of images (n, c, h, w) with filters (f, c, h, w)."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("ncijkl,fckl->nfij", windows[:, :, ::strides, ::strides], w)


def relu(x):
    return np.maximum(x, 0)


def per_channel(value):
    return value[:, None, None]


# -- ResNet ----------------------------------------------------------------


def batch_norm(b, x, mean, variance, weight, bias):
    """As torch-mlir has it: one generic of five operands."""
    def body(e, a, m, v, w, c):
        factor = e.math("rsqrt", e.addf(v, e.const(1e-5)))
        return e.addf(e.mulf(e.mulf(e.subf(a, m), factor), w), c)
    return b.generic("ncij c c c c -> ncij", [x, mean, variance, weight, bias],
                     b.empty(x.dims), body)


def padded(b, x, dims, number=0.0):
    return b.pad(x, "[0, 0, 1, 1]", "[0, 0, 1, 1]", dims, number)


def resnet_text(_):
    b = Builder()
    x = b.arg("x", "B", 8, "H", "W")
    w1, w2, w3 = b.arg("w1", 12, 8, 3, 3), b.arg("w2", 12, 12, 3, 3), b.arg("w3", 12, 8, 1, 1)
    norms = [[b.arg(f"n{i}{j}", 12) for j in range(4)] for i in range(3)]
    small = lambda: b.fill(("B", 12, "P", "Q"))
    b.known |= {"P", "Q"}
    for letter, source in (("P", "H"), ("Q", "W")):  # (size - 1) / 2 + 1
        one, two = b.constant(1, "index"), b.constant(2, "index")
        b.lines += [f"  %{letter}_0 = arith.subi %{source}, {one} : index",
                    f"  %{letter}_1 = arith.floordivsi %{letter}_0, {two} : index",
                    f"  %{letter} = arith.addi %{letter}_1, {one} : index"]
    wide = b.mark(padded(b, x, ("B", 8, "R", "S")))
    y = b.named("conv_2d_nchw_fchw", wide, w1, None, attributes(2), init=small())
    y = b.relu(batch_norm(b, y, *norms[0]))
    y = b.mark(padded(b, y, ("B", 12, "Y", "Z")))
    y = b.named("conv_2d_nchw_fchw", y, w2, None, attributes(), init=small())
    y = batch_norm(b, y, *norms[1])
    short = b.named("conv_2d_nchw_fchw", b.mark(x), w3, None, attributes(2), init=small())
    short = batch_norm(b, short, *norms[2])
    return b.text(b.relu(b.add(y, short)))


def draw_norm(d, channels):
    """Mean, variance, weight, bias, and what they do."""
    mean, variance = d.f32(channels), d.f32(channels, low=2, high=12)
    weight, bias = d.f32(channels), d.f32(channels)
    return lambda x: ((x - per_channel(mean)) / np.sqrt(per_channel(variance) + 1e-5)
                      * per_channel(weight) + per_channel(bias))


RESNET = [dict(B=1, H=10, W=10, P=5, Q=5, R=12, S=12, Y=7, Z=7),
          dict(B=3, H=17, W=8, P=9, Q=4, R=19, S=10, Y=11, Z=6),
          dict(B=2, H=1, W=3, P=1, Q=2, R=3, S=5, Y=3, Z=4)]


@program(resnet_text, *RESNET, tolerance=2e-5)
def resnet_block(d):
    x = d.f32(d.B, 8, d.H, d.W, zeros=0.6, micro=(1, 1, d.H, d.W))
    w1, w2, w3 = (d.f32(*shape, scale=1 / 32) for shape in
                  ((12, 8, 3, 3), (12, 12, 3, 3), (12, 8, 1, 1)))
    norms = [draw_norm(d, 12) for _ in range(3)]
    y = relu(norms[0](conv(x, w1, 2, 1)))
    return relu(norms[1](conv(y, w2, 1, 1)) + norms[2](conv(x, w3, 2)))


def folded_text(_):
    """Norms folded into filters and biases; images with channels last, the bias is the
    convolution's initial result, as IREE and StableHLO have it."""
    b = Builder()
    x = b.arg("x", "B", "H", "W", 8)
    filters = [b.arg(f"w{i}", 3, 3, 8, 8) for i in range(2)]
    biases = [b.arg(f"b{i}", 8) for i in range(2)]
    dims = ("B", "H", "W", 8)
    y = x
    for i in range(2):
        wide = b.pad(y, "[0, 1, 1, 0]", "[0, 1, 1, 0]", ("B", "R", "S", 8))
        start = b.generic("l -> ijkl", [biases[i]], b.empty(dims), lambda e, a: a)
        y = b.named("conv_2d_nhwc_hwcf", b.mark(wide), filters[i], None, attributes(), init=start)
        if i == 0:
            y = b.map(lambda e, a: e.maximumf(a, e.const(0.0)), y)
    y = b.map(lambda e, a: e.maximumf(a, e.const(0.0)), b.add(y, x))
    pooled = b.map(lambda e, a: e.divf(a, e.const(16.0)), b.sum(y, axes=[1, 2], keep=False))
    return b.text(y, pooled)


@program(folded_text, dict(B=1, H=8, W=8, R=10, S=10), dict(B=3, H=7, W=13, R=9, S=15),
         dict(B=0, H=4, W=4, R=6, S=6), tolerance=1e-6)
def resnet_folded(d):
    x = d.f32(d.B, d.H, d.W, 8, zeros=0.6, micro=(1, 1, 1, 8))
    filters = [d.f32(3, 3, 8, 8, scale=1 / 16) for _ in range(2)]
    biases = [d.f32(8) for _ in range(2)]
    to_nchw, to_nhwc = (0, 3, 1, 2), (0, 2, 3, 1)
    step = lambda y, i: conv(y.transpose(to_nchw), filters[i].transpose(3, 2, 0, 1), 1,
                             1).transpose(to_nhwc) + biases[i]
    y = relu(step(relu(step(x, 0)), 1) + x)
    return y, y.sum((1, 2)) / 16


# -- MobileNet -------------------------------------------------------------


def mobilenet_text(_):
    """1x1 to more channels, depthwise 3x3, 1x1 to fewer; the input is added."""
    b = Builder()
    x = b.arg("x", "B", "H", "W", 6)
    up, up_bias = b.arg("up", 1, 1, 6, 20), b.arg("up_bias", 20)
    deep, deep_bias = b.arg("deep", 3, 3, 20), b.arg("deep_bias", 20)
    down, down_bias = b.arg("down", 1, 1, 20, 6), b.arg("down_bias", 6)
    relu6 = lambda y: b.map(
        lambda e, a: e.minimumf(e.maximumf(a, e.const(0.0)), e.const(6.0)), y)
    y = b.named("conv_2d_nhwc_hwcf", b.mark(x), up, None, attributes(),
                init=b.fill(("B", "H", "W", 20)))
    y = relu6(b.add(y, up_bias))
    y = b.mark(b.pad(y, "[0, 1, 1, 0]", "[0, 1, 1, 0]", ("B", "R", "S", 20)))
    y = b.named("depthwise_conv_2d_nhwc_hwc", y, deep, None, attributes(),
                init=b.fill(("B", "H", "W", 20)))
    y = relu6(b.add(y, deep_bias))
    y = b.named("conv_2d_nhwc_hwcf", b.mark(y), down, None, attributes(),
                init=b.fill(("B", "H", "W", 6)))
    return b.text(b.add(b.add(y, down_bias), x))


@program(mobilenet_text, dict(B=1, H=8, W=8, R=10, S=10), dict(B=3, H=7, W=13, R=9, S=15),
         tolerance=1e-6)
def mobilenet_block(d):
    x = d.f32(d.B, d.H, d.W, 6, zeros=0.6, micro=(1, 1, 1, 6))
    up, up_bias = d.f32(1, 1, 6, 20)[0, 0], d.f32(20)
    deep, deep_bias = d.f32(3, 3, 20), d.f32(20)
    down, down_bias = d.f32(1, 1, 20, 6)[0, 0], d.f32(6)
    y = np.clip(x @ up + up_bias, 0, 6)
    rim = np.pad(y, ((0, 0), (1, 1), (1, 1), (0, 0)))
    y = sum(rim[:, i:i + d.H, j:j + d.W] * deep[i, j] for i in range(3) for j in range(3))
    y = np.clip(y + deep_bias, 0, 6)
    return y @ down + down_bias + x


# -- U-Net -----------------------------------------------------------------


def unet_text(_):
    """Halved by pooling, doubled again by index, and beside what it was before."""
    b = Builder()
    x, w1 = b.arg("x", "B", 4, "H", "W"), b.arg("w1", 6, 4, 3, 3)
    w2, w3 = b.arg("w2", 6, 6, 3, 3), b.arg("w3", 5, 12, 3, 3)
    full, half = ("B", 6, "H", "W"), ("B", 6, "P", "Q")
    step = lambda y, w, dims, channels, r, s: b.relu(b.named(
        "conv_2d_nchw_fchw", b.mark(padded(b, y, ("B", channels, r, s))), w, None, attributes(),
        init=b.fill(dims)))
    y = step(x, w1, full, 4, "R", "S")
    b.known |= {"P", "Q"}
    for letter, source in (("P", "H"), ("Q", "W")):
        b.lines.append(f"  %{letter} = arith.floordivsi %{source}, {b.constant(2, 'index')} "
                       ": index")
    window = b.empty((2, 2))
    z = b.named("pooling_nchw_max", y, window, None, attributes(2),
                init=b.fill(half, float("-inf")))
    z = step(z, w2, half, 6, "Y", "Z")

    def nearest(e):
        two = e.const(2, "index")
        at = [e.index(i) for i in range(4)]
        at[2:] = [e.emit(f"arith.floordivsi {i}, {two}", "index") for i in at[2:]]
        return e.extract(z, *at)

    z = b.generic("-> ijkl", [], b.empty(full), nearest)
    both = b.concat(1, [y, z], ("B", 12, "H", "W"))
    return b.text(step(both, w3, ("B", 5, "H", "W"), 12, "R", "S"))


@program(unet_text, dict(B=1, H=8, W=8, P=4, Q=4, R=10, S=10, Y=6, Z=6),
         dict(B=2, H=6, W=14, P=3, Q=7, R=8, S=16, Y=5, Z=9), tolerance=1e-6)
def unet_down_and_up(d):
    x = d.f32(d.B, 4, d.H, d.W, zeros=0.6, micro=(1, 1, d.H, d.W))
    w1, w2, w3 = (d.f32(*shape, scale=1 / 16) for shape in
                  ((6, 4, 3, 3), (6, 6, 3, 3), (5, 12, 3, 3)))
    y = relu(conv(x, w1, 1, 1))
    z = y.reshape(d.B, 6, d.P, 2, d.Q, 2).max((3, 5))
    z = relu(conv(z, w2, 1, 1)).repeat(2, 2).repeat(2, 3)
    return relu(conv(np.concatenate([y, z], 1), w3, 1, 1))


# -- other layers ----------------------------------------------------------


def excite_text(_):
    b = Builder()
    x = b.arg("x", "B", 12, "H", "W")
    w1, b1, w2, b2 = b.arg("w1", 3, 12), b.arg("b1", 3), b.arg("w2", 12, 3), b.arg("b2", 12)
    s = b.mark(x)
    mean = b.map(lambda e, a: e.divf(a, e.const(64.0)), b.sum(s, axes=[2, 3], keep=False))
    y = b.relu(b.linear(mean, w1, b1))
    y = b.sigmoid(b.linear(b.mark(y), w2, b2))
    y = b.expand(y, "[[0], [1, 2, 3]]", ("B", 12, 1, 1))
    return b.text(b.mul(s, y))


@program(excite_text, dict(B=2, H=8, W=8), dict(B=5, H=4, W=16), tolerance=1e-5)
def squeeze_and_excite(d):
    x = d.f32(d.B, 12, d.H, d.W, zeros=0.6, micro=(1, 1, d.H, d.W))
    w1, b1, w2, b2 = d.f32(3, 12), d.f32(3), d.f32(12, 3), d.f32(12)
    y = relu(x.mean((2, 3)) @ w1.T + b1)
    return x * (1 / (1 + np.exp(-(y @ w2.T + b2))))[:, :, None, None]


def group_norm_text(_):
    """Three groups of four channels, then x sigmoid(x)."""
    b = Builder()
    x, weight, bias = b.arg("x", "B", 12, "L"), b.arg("weight", 12, 1), b.arg("bias", 12, 1)
    y = b.expand(b.mark(x), "[[0], [1, 2], [3]]", ("B", 3, 4, "L"))
    size = float(4 * 16)
    mean = b.map(lambda e, a: e.divf(a, e.const(size)), b.sum(y, axes=[2, 3]))
    off = b.sub(y, mean)
    variance = b.sum(off, axes=[2, 3], term=lambda e, a: e.mulf(a, a))
    factor = b.map(lambda e, a: e.math("rsqrt", e.addf(e.divf(a, e.const(size)),
                                                       e.const(1e-5))), variance)
    y = b.collapse(b.mul(off, factor), "[[0], [1, 2], [3]]", ("B", 12, "L"))
    return b.text(b.silu(b.add(b.mul(y, weight), bias)))


@program(group_norm_text, dict(B=2, L=16), dict(B=5, L=16), tolerance=1e-5)
def group_norm(d):
    x = d.f32(d.B, 12, d.L, zeros=0.6)
    weight, bias = d.f32(12, 1), d.f32(12, 1)
    y = x.reshape(d.B, 3, 4 * d.L)
    y = (y - y.mean(2, keepdims=True)) / np.sqrt(y.var(2, keepdims=True) + 1e-5)
    y = y.reshape(d.B, 12, d.L) * weight + bias
    return y / (1 + np.exp(-y))


def conv_transpose_text(_):
    """The image's pixels two apart, among zeros: a convolution with the turned filter."""
    b = Builder()
    x, w = b.arg("x", 2, 4, 5, 6), b.arg("w", 4, 3, 3, 3)
    apart = b.insert(x, b.fill((2, 4, 13, 15)), (0, 0, 2, 2), (2, 4, 5, 6), (1, 1, 2, 2))

    def turned(e):
        two = e.const(2, "index")
        f, c, i, j = (e.index(k) for k in range(4))
        i, j = (e.emit(f"arith.subi {two}, {k}", "index") for k in (i, j))
        return e.extract(w, c, f, i, j)

    filters = b.generic("-> ijkl", [], b.empty((3, 4, 3, 3)), turned)
    return b.text(b.named("conv_2d_nchw_fchw", b.mark(apart), filters, None, attributes(),
                          init=b.fill((2, 3, 11, 13))))


@program(conv_transpose_text)
def conv_transposed(d):
    x, w = d.f32(2, 4, 5, 6, zeros=0.5, micro=(1, 1, 5, 6)), d.f32(4, 3, 3, 3)
    out = np.zeros((2, 3, 11, 13))
    for i in range(5):
        for j in range(6):
            out[:, :, 2 * i:2 * i + 3, 2 * j:2 * j + 3] += np.einsum(
                "nc,cfkl->nfkl", x[:, :, i, j], w)
    return out
