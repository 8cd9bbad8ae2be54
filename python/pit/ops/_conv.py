"""Convolutions of images with zeros in them."""

from dataclasses import dataclass, replace

from .._arrays import framework_of
from .._library import Error
from ._activations import check_activation
from ._einsum import (
    BROADCAST, NOTHING, NUMBERS, OF_LAYERS, check_hints, form_of_mask, make_marks, pick_selector,
    read_hints, selector_dims)
from ._op import SELECTOR_TYPES, Argument, Op, Shortcut, kind, make, run, unique
from ._operand import is_traced, makes_op
from ._products import rank_of
from ._text import sum_type, wide_type

# Dims of images, filters and results, and linalg's name, by layout.
LAYOUTS = {"nchw": ("nchw", "fcrt", "nfpq", "conv_2d_nchw_fchw"),
           "nhwc": ("nhwc", "rtcf", "npqf", "conv_2d_nhwc_hwcf")}
# The same of groups, and how that op has the dims of filters, of which f is two.
GROUPED = {"nchw": ("conv_2d_ngchw_gfchw", (0, 1, 2, 3, 4)),
           "nhwc": ("conv_2d_nhwgc_gfhwc", (3, 4, 0, 1, 2))}


@kind
@dataclass(frozen=True)
class Conv2d(Op):
    """A convolution of images by filters, in a layout of LAYOUTS."""

    layout: str
    stride: tuple
    padding: tuple  # (top, bottom, left, right)
    dilation: tuple
    marks: tuple
    bias: bool
    activation: str | None
    groups: int = 1
    selector_dims: tuple | None = None  # of a mask that broadcasts: letters and 1

    name = "conv2d"

    def letters(self):
        """The dims of images and filters; a filter of a group has the channels i."""
        images, filters, _, _ = LAYOUTS[self.layout]
        return images, filters if self.groups == 1 else filters.replace("c", "i")

    def arguments(self):
        images, filters = self.letters()
        found = [Argument("x", tuple(images), NUMBERS), Argument("weight", tuple(filters), NUMBERS)]
        if self.bias:
            found.append(Argument("bias", ("f",), NUMBERS, widens=True))
        for mark in self.marks:
            if mark.source != "values":
                dims = (self.letters()[mark.operand] if self.selector_dims is None
                        else self.selector_dims)
                found.append(Argument("mask", tuple(dims), SELECTOR_TYPES["mask"], alike=False,
                                      advice=BROADCAST))
        return found

    def dynamic(self):
        return ("n",)

    def exact(self):
        return "hwrt" if self.groups == 1 else "hwrtcfi"

    def extents(self, sizes):
        """The height and width of the result."""
        return result_extents(sizes, self.stride, self.padding, self.dilation)

    def results(self, types, sizes):
        if self.groups > 1 and (sizes["c"] != self.groups * sizes["i"]
                                or sizes["f"] % self.groups):
            raise Error(f"conv2d: {sizes['c']} channels of x and {sizes['f']} filters of "
                        f"{sizes['i']} channels, in {self.groups} groups; x has as many times the "
                        "channels of a filter, and the filters are divided among them")
        sizes = {**sizes, **dict(zip("pq", self.extents(sizes)))}
        return [(sum_type(types[0]), tuple(sizes[x] for x in LAYOUTS[self.layout][2]))]

    def build(self, builder, values, orders):
        x, weight = values[:2]
        images, filters, result, name = LAYOUTS[self.layout]
        dims = {**dict(zip(filters, weight.dims)), **dict(zip(images, x.dims))}
        for mark in self.marks:
            operand, selector = (x, weight)[mark.operand], values[-1]
            if self.selector_dims is not None:
                selector = builder.broadcast(selector, self.selector_dims,
                                             self.letters()[mark.operand], operand.dims)
            marked = builder.mark(operand, mark, selector)
            x, weight = (marked, weight) if mark.operand == 0 else (x, marked)
        for i, (image, window) in enumerate(("hr", "wt")):
            dims["pq"[i]] = builder.window_count(
                dims[image], self.padding[2 * i: 2 * i + 2], dims[window], self.stride[i],
                self.dilation[i])
        if any(self.padding):
            low = [self.padding[2 * "hw".index(d)] if d in "hw" else 0 for d in images]
            high = [self.padding[2 * "hw".index(d) + 1] if d in "hw" else 0 for d in images]
            x = builder.pad(x, low, high)
        type_ = sum_type(x.type)
        after = self.bias or self.activation is not None
        wide = wide_type(type_) if after else type_
        y = builder.zeros([dims[d] for d in result], wide)
        if self.groups > 1:
            name, order = GROUPED[self.layout]
            x = builder.split(x, images.index("c"), self.groups)
            weight = builder.split(weight, filters.index("f"), self.groups)
            if order != tuple(range(5)):
                weight = builder.transpose(weight, order)
            y = builder.split(y, result.index("f"), self.groups)
        y = builder.emit(
            f"linalg.{name} {{dilations = dense<{list(self.dilation)}> : tensor<2xi64>, "
            f"strides = dense<{list(self.stride)}> : tensor<2xi64>}} "
            f"ins({x.name}, {weight.name} : {x.mlir}, {weight.mlir}) "
            f"outs({y.name} : {y.mlir}) -> {y.mlir}", y.dims, wide)
        if self.groups > 1:
            y = builder.merge(y, result.index("f"), dims["f"])
        return [builder.epilogue(y, values[2] if self.bias else None, self.activation, type_,
                                 result.index("f"))]


CONV2D = Shortcut(4)
choosing = {}  # ops of which tensors and their zeros tell what computes them, by options


def pair(name, value):
    if isinstance(value, int) and not isinstance(value, bool):
        return value, value
    try:
        first, second = value
        return int(first), int(second)
    except (TypeError, ValueError):
        raise Error(f"conv2d: {name}={value!r}; it is a number or two, of rows and columns") \
            from None


def read_padding(value):
    """(top, bottom, left, right)."""
    if isinstance(value, tuple) and len(value) == 4:
        return (*pair("padding", value[:2]), *pair("padding", value[2:]))
    rows, columns = pair("padding", value)
    return rows, rows, columns, columns


def padding_by_name(padding, weight, stride, dilation, layout):
    """(top, bottom, left, right) of torch's names: where the result is to have the size of
    the image, the last row and column get what is odd."""
    if padding == "valid":
        return 0, 0, 0, 0
    if padding != "same" or layout not in LAYOUTS:
        raise Error(f"conv2d: padding={padding!r}; it is a number, two of rows and columns, four "
                    '(top, bottom, left, right), "valid" or "same"')
    if pair("stride", stride) != (1, 1):
        raise Error(f'conv2d: padding="same" with stride={stride}; a stride makes the result '
                    "smaller than the image")
    found, filters = [], LAYOUTS[layout][1]
    for window, step in zip("rt", pair("dilation", dilation)):
        room = step * (weight.shape[filters.index(window)] - 1)
        found += [room // 2, room - room // 2]
    return tuple(found)


@makes_op
def conv2d_op(layout, stride, padding, dilation, groups, sparse, source, form, hints, bias,
              activation):
    if layout not in LAYOUTS:
        raise Error(f"conv2d: no layout '{layout}'; there are: {', '.join(LAYOUTS)}")
    check_activation("conv2d", activation)
    stride, dilation = pair("stride", stride), pair("dilation", dilation)
    padding = read_padding(padding)
    if min(stride) < 1 or min(dilation) < 1 or min(padding) < 0:
        raise Error(f"conv2d: stride={stride}, dilation={dilation}, padding={padding}; "
                    "strides and dilations are at least 1, paddings 0")
    if not isinstance(groups, int) or isinstance(groups, bool) or groups < 1:
        raise Error(f"conv2d: groups={groups!r}; it is a number, at least 1")
    if sparse == "out":
        return wanted_op(layout, stride, padding, dilation, groups, source, form, hints, bias,
                         activation)
    marks = make_marks("conv2d", OF_LAYERS.get(sparse, sparse), 2, source, hints)
    op = make(Conv2d, layout, stride, padding, dilation, marks, bias, activation, groups)
    for mark in marks:
        check_hints("conv2d", mark, 4)
        dims = selector_dims("conv2d", op.letters()[mark.operand], source, form)
        op = unique(replace(op, selector_dims=dims))
    return op


def result_extents(sizes, stride, padding, dilation):
    """The height and width of the result, of sizes by names of LAYOUTS."""
    found = []
    for i, (image, window) in enumerate(("hr", "wt")):
        room = sizes[image] + sum(padding[2 * i: 2 * i + 2])
        reach = dilation[i] * (sizes[window] - 1) + 1
        if room < reach:
            raise Error(f"conv2d: a filter that reaches over {reach} elements of dim {image}, "
                        f"which has {room} with its padding")
        found.append((room - reach) // stride[i] + 1)
    return found


def wanted_op(layout, stride, padding, dilation, groups, source, form, hints, bias, activation):
    from ._conv_wanted import WantedConv2d
    if source != "mask" or hints != NOTHING or groups != 1:
        raise Error('conv2d: sparse="out" takes a mask= of the result, one group, and no assume=, '
                    "micro_tile=, axis= or live_fraction=")
    dims = selector_dims("conv2d", LAYOUTS[layout][2], source, form)
    return make(WantedConv2d, layout, stride, padding, dilation, (), bias, activation, 1,
                dims)


def shape_of_result(x, weight, layout, stride, padding, dilation):
    """As far as shapes are right, of which the op tells."""
    images, filters, result, _ = LAYOUTS[layout]
    sizes = {**dict(zip(images, x.shape)), **dict(zip(filters, weight.shape))}
    sizes.update(zip("pq", result_extents(sizes, pair("stride", stride), read_padding(padding),
                                          pair("dilation", dilation))))
    return tuple(sizes[d] for d in result)


def is_torch_on_cpu(x, *types):
    """Whether x is a tensor of torch in the CPU's memory, of one of some types: its layers may be
    torch's own."""
    return (framework_of(type(x)) == "torch" and x.device.type == "cpu"
            and str(x.dtype) in types)


def choose(op, x, weight, bias):
    """The result of an op on torch's tensors of the CPU by what is fastest for their zeros; None: by
    the op's own program, or gradients are wanted."""
    if op is None:
        return None
    from ..torch import _convolutions
    return _convolutions.alone(op, (x, weight) if bias is None else (x, weight, bias))


def conv2d(x, weight, bias=None, *, stride=1, padding=0, dilation=1, groups=1, layout="nchw",
           sparse="x", activation=None, mask=None, assume=False, micro_tile=None, axis=None,
           live_fraction=None, out=None):
    """activation(the convolution of images with filters + bias), skipping what is zero.

        y = pit.conv2d(x, w, b, padding=1, activation="relu")     # x has zeros
        y = pit.conv2d(x, w, padding=1, micro_tile=(1, 1, 0, 0), axis=1)  # whole channels

    x           (n, channels, height, width), or (n, height, width, channels) where
                layout is "nhwc"
    weight      (filters, channels / groups, rows, columns); for "nhwc" (rows,
                columns, channels / groups, filters)
    bias        (filters), or None
    stride, padding, dilation
                A number, or two: of rows and of columns. Padding is zeros on both
                sides; four numbers are (top, bottom, left, right), and "same" and
                "valid" are as torch has them
    groups      Of channels and of filters, each convolved by itself: as many as
                there are channels is a depthwise convolution
    sparse      "x", "weight", or None; mask= is a bool or int8 array of its shape,
                or of one that broadcasts to it, as (n, 1, height, width). "out" with a
                mask of the result: of wanted pixels, (n, 1, rows, columns), or of filters,
                (filters, 1, 1); the rest is 0
    activation  as in pit.linear

    Everything else is as in pit.einsum.
    """
    if isinstance(padding, str):
        padding = padding_by_name(padding, weight, stride, dilation, layout)
    given = (out, x, weight, bias, mask, stride, padding, dilation, groups, layout, sparse,
             activation, assume, micro_tile, axis, live_fraction)
    as_key = lambda value: tuple(value) if isinstance(value, list) else value
    # Few steps: after another layer all of them come out of cold caches.
    chooses = mask is out is None and not is_traced() and is_torch_on_cpu(x, "torch.float32")
    if chooses:
        options = (*map(as_key, given[5:]), bias is None)
        found = choose(choosing.get(options), x, weight, bias)
        if found is not None:
            return found
    elif not is_traced():
        found = CONV2D.run(given)
        if found is not NotImplemented:
            return found
    rank_of("conv2d", "x", x)
    source, selector = pick_selector("conv2d", mask, None, None, None)
    hints = read_hints(assume, micro_tile, axis, live_fraction)
    form = None
    if mask is not None and hasattr(mask, "shape"):
        if sparse == "out" and len(x.shape) == len(weight.shape) == 4 and layout in LAYOUTS:
            shape = shape_of_result(x, weight, layout, *map(as_key, (stride, padding, dilation)))
        else:
            shape = (weight if sparse in ("weight", "b", 1) else x).shape
        form = form_of_mask(mask, shape)
    op = conv2d_op(layout, as_key(stride), as_key(padding), as_key(dilation), groups, sparse,
                   source, form, hints, bias is not None, activation)
    arrays = [x, weight]
    if bias is not None:
        arrays.append(bias)
    if selector is not None:
        arrays.append(selector)
    if (sparse == "out" and not is_traced() and op.of_filters()
            and is_torch_on_cpu(x, "torch.float32", "torch.float64")):
        from ..torch import _convolutions
        return _convolutions.of_wanted_filters(op, arrays, out)
    if not chooses:
        CONV2D.add(given, op)
    elif options not in choosing:
        choosing[options] = op
        found = choose(op, x, weight, bias)
        if found is not None:
            return found
    return run(op, arrays, out)
