"""Layers of networks on images: the text of each, and what it computes in numpy."""

import numpy as np


class Layers:
    """Text of layers on NHWC images, and what they compute. A value is its name
    and its array."""

    def __init__(self, model, dtype="f32"):
        self.model, self.dtype, self.lines, self.count = model, dtype, [], 0
        self.signature = []
        self.lines.append("%zero = arith.constant 0.0 : f32")

    def type(self, array):
        return f"tensor<{'x'.join([*map(str, np.shape(array)), self.dtype])}>"

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def argument(self, shape, scale=1.0, zeros=0.0):
        name = f"%a{len(self.signature)}"
        array = self.model.tensor(name[1:], shape, scale=scale, zeros=zeros)
        self.signature.append(f"{name}: {self.type(array)}")
        return name, array

    def emit(self, text, array):
        """`text` with R for the result's name, T for its type."""
        name = self.name()
        self.lines.append(text.replace("RESULT", name).replace("TYPE", self.type(array)))
        return name, array

    def filled(self, shape, value):
        array = np.full(shape, value)
        number = {0.0: "0.0", -np.inf: "0xFF800000"}[value]
        constant = self.name()
        self.lines.append(f"{constant} = arith.constant {number} : f32")
        empty = self.emit("RESULT = tensor.empty() : TYPE", array)
        return self.emit(f"RESULT = linalg.fill ins({constant} : f32) outs({empty[0]} : TYPE) -> TYPE",
                         array)

    def mark(self, x):
        return self.emit(f"RESULT = pit.sparse {x[0]} : TYPE", x[1])

    def pad(self, x, by, value=0.0):
        """Rows and columns of an image."""
        number = {0.0: "0.0", -np.inf: "0xFF800000"}[value]
        array = np.pad(x[1], ((0, 0), (by, by), (by, by), (0, 0)), constant_values=value)
        self.count += 1
        constant = f"%p{self.count}"
        self.lines.append(f"{constant} = arith.constant {number} : f32")
        return self.emit(
            f"RESULT = tensor.pad {x[0]} low[0, {by}, {by}, 0] high[0, {by}, {by}, 0] {{\n"
            f"^bb0(%i: index, %j: index, %k: index, %l: index):\n"
            f"  tensor.yield {constant} : f32\n}} : {self.type(x[1])} to TYPE", array)

    def conv(self, x, w, stride=1):
        windows = windows_of(x[1], w[1].shape[:2], stride)
        array = np.einsum("nhwijc,ijcf->nhwf", windows, w[1], optimize=True)
        return self.windowed("conv_2d_nhwc_hwcf", x, w, stride, array)

    def depthwise(self, x, w, stride=1):
        windows = windows_of(x[1], w[1].shape[:2], stride)
        return self.windowed("depthwise_conv_2d_nhwc_hwc", x, w, stride,
                             np.einsum("nhwijc,ijc->nhwc", windows, w[1], optimize=True))

    def windowed(self, op, x, w, stride, array, start=0.0):
        init = self.filled(array.shape, start)
        return self.emit(
            f"RESULT = linalg.{op} {{strides = dense<{stride}> : vector<2xi64>, dilations = "
            f"dense<1> : vector<2xi64>}} ins({x[0]}, {w[0]} : {self.type(x[1])}, {self.type(w[1])}) "
            f"outs({init[0]} : TYPE) -> TYPE", array)

    def max_pool(self, x, size, stride):
        array = windows_of(x[1], (size, size), stride).max((3, 4))
        window = self.emit("RESULT = tensor.empty() : TYPE", np.zeros((size, size)))
        return self.windowed("pooling_nhwc_max", x, window, stride, array, -np.inf)

    def pointwise(self, body, array, *operands):
        """An element-wise op; operands of rank 1 are by channel. In `body` they
        are %x0, %x1, ..."""
        dims = [f"d{i}" for i in range(array.ndim)]
        maps = [f"affine_map<({', '.join(dims)}) -> "
                f"({', '.join(dims if o[1].ndim == array.ndim else dims[-1:])})>"
                for o in [*operands, ("", array)]]
        iterators = ", ".join(['"parallel"'] * array.ndim)
        init = self.emit("RESULT = tensor.empty() : TYPE", array)
        arguments = [f"%x{i}: f32" for i in range(len(operands))]
        return self.emit(
            f"RESULT = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = "
            f"[{iterators}]}} ins({', '.join(o[0] for o in operands)} : "
            f"{', '.join(self.type(o[1]) for o in operands)}) outs({init[0]} : TYPE) {{\n"
            f"^bb0({', '.join(arguments)}, %o: f32):\n{body}\n}} -> TYPE", array)

    def norm(self, x):
        """Batch normalization: a scale and a shift of each channel."""
        channels = x[1].shape[-1]
        scale, shift = self.argument((channels,)), self.argument((channels,))
        return self.pointwise("%m = arith.mulf %x0, %x1 : f32\n%y = arith.addf %m, %x2 : f32\n"
                              "linalg.yield %y : f32", x[1] * scale[1] + shift[1], x, scale, shift)

    def clamp(self, x, most=None):
        """relu, or relu6."""
        body = "%y = arith.maximumf %x0, %zero : f32\n"
        last = "%y"
        if most is not None:
            body += f"%most = arith.constant {most:.1f} : f32\n%z = arith.minimumf %y, %most : f32\n"
            last = "%z"
        return self.pointwise(f"{body}linalg.yield {last} : f32", np.clip(x[1], 0.0, most), x)

    def add(self, x, y):
        return self.pointwise("%y = arith.addf %x0, %x1 : f32\nlinalg.yield %y : f32",
                              x[1] + y[1], x, y)

    def concat(self, x, y):
        array = np.concatenate([x[1], y[1]], axis=-1)
        return self.emit(f"RESULT = tensor.concat dim({array.ndim - 1}) {x[0]}, {y[0]} : "
                         f"({self.type(x[1])}, {self.type(y[1])}) -> TYPE", array)

    def cut(self, x, start, size):
        """Channels."""
        array = x[1][..., start: start + size]
        offsets = ", ".join(["0"] * (array.ndim - 1) + [str(start)])
        return self.emit(f"RESULT = tensor.extract_slice {x[0]}[{offsets}] "
                         f"[{', '.join(map(str, array.shape))}] [{', '.join(['1'] * array.ndim)}] : "
                         f"{self.type(x[1])} to TYPE", array)

    def spread(self, x):
        """Every other row and column of zeros, as before a transposed convolution."""
        n, h, w, c = x[1].shape
        array = np.zeros((n, 2 * h, 2 * w, c))
        array[:, ::2, ::2] = x[1]
        zeros = self.filled(array.shape, 0.0)
        return self.emit(f"RESULT = tensor.insert_slice {x[0]} into {zeros[0]}[0, 0, 0, 0] "
                         f"[{n}, {h}, {w}, {c}] [1, 2, 2, 1] : {self.type(x[1])} into TYPE", array)

    def mean(self, x):
        """Over rows and columns."""
        n, h, w, c = x[1].shape
        total = self.filled((n, c), 0.0)
        summed = x[1].sum((1, 2))
        total = self.emit(
            f"RESULT = linalg.reduce {{ arith.addf }} ins({x[0]} : {self.type(x[1])}) "
            f"outs({total[0]} : TYPE) dimensions = [1, 2]", summed)
        body = (f"%n = arith.constant {h * w}.0 : f32\n%y = arith.divf %x0, %n : f32\n"
                "linalg.yield %y : f32")
        return self.pointwise(body, summed / (h * w), total)

    def function(self, *results):
        for _, array in results:
            self.model.result(array)
        types = ", ".join(self.type(array) for _, array in results)
        names = ", ".join(name for name, _ in results)
        body = "\n".join(self.lines)
        return (f"func.func @f({', '.join(self.signature)}) -> ({types}) {{\n{body}\n"
                f"return {names} : {types}\n}}\n")


def windows_of(x, size, stride):
    """[n, h, w, i, j, c]."""
    found = np.lib.stride_tricks.sliding_window_view(x, size, axis=(1, 2))
    return np.moveaxis(found[:, ::stride, ::stride], 3, -1)
