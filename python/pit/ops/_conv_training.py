"""Convolutions of images with zeros anywhere, forwards and backwards, as the CPU is fast at them.

Images lie in one row of pixels, each row of them with as many zeros behind it as its padding is
wide. So all that a point of the filter does is at a fixed distance: the pixel k meets the result
k - d. One index of the pixels serves all points of the filter.

Forwards, and for the gradient of images, each point adds its products to results that far away.
Its filters, or a strip of them, stay in the first cache meanwhile. The gradient of filters adds
up over pixels, for all points of the filter at once: a view of the gradient of the result has
a dim for them, along which it overlaps.

Strides leave no fixed distance: then each result has a sum of its own over the pixels it meets.
"""

from dataclasses import dataclass

from ._op import Argument, Mark, Op, kind
from ._text import sum_type, wide_type

FLOATS = ("f32", "f64")
LANES = {"f32": 16, "f64": 8}  # that a vector has, at most
SUMS = 28  # vectors of them that a program has registers for
CHUNK = 1152  # pixels that are computed with before others are
PART = 128  # channels that are, too: their filters stay in the first cache
PIXELS = Mark(0, micro_tile=(1, 1, 1, 1), axis=3)
ROWS = Mark(0, micro_tile=(1, 1), axis=1)


# --------------------------------------------------------------------------
# Text
# --------------------------------------------------------------------------


def arrange(builder, value, order, have, want, apart=()):
    """A tensor, passed with its dims in an order, with dims in the order of `want`. `have` names
    its dims. `apart` is (name, outer name, size): that dim is cut into parts of a size."""
    names = [have[i] for i in order or range(len(have))]
    if apart:
        name, outer, size = apart
        at = names.index(name)
        value = builder.expand(value, at, value.dims[at] // size, size)
        names.insert(at, outer)
    places = [names.index(name) for name in want]
    return value if places == sorted(places) else builder.transpose(value, places)


def loop(builder, count, step, sums, body):
    """What `body(number, sums)` makes of sums in each of the iterations up to a dim, which
    are updated in place."""
    zero, step = builder.constant(0, "index"), builder.constant(step, "index")
    at, carried, made = builder.fresh(), builder.fresh(), builder.fresh()
    builder.lines.append(f"  {made} = scf.for {at} = {zero} to {builder.size(count)} step {step} "
                         f"iter_args({carried} = {sums.name}) -> ({sums.mlir}) {{")
    total = body(at, type(sums)(carried, sums.dims, sums.type))
    builder.lines += [f"    scf.yield {total.name} : {sums.mlir}", "  }"]
    return type(sums)(made, sums.dims, sums.type)


def overlapping(builder, value, dims, steps, start):
    """A view of a tensor that sees elements several times, at `steps` of memory from element
    `start` on: what no op of tensors says, and no copy."""
    sizes = ", ".join(str(d) if isinstance(d, int) else builder.size(d) for d in dims)
    shape = "x".join("?" if isinstance(d, str) else str(d) for d in dims)
    made = f"memref<{value.mlir[len('tensor<'):-1]}>"
    static = ", ".join("?" if isinstance(s, str) else str(s) for s in steps)
    layout = f"strided<[{static}]{f', offset: {start}' if start else ''}>"
    memory, seen = builder.fresh(), builder.fresh()
    viewed = f"memref<{shape}x{value.type}, {layout}>"
    builder.lines += [
        f"  {memory} = bufferization.to_buffer {value.name} read_only : {value.mlir} to {made}",
        f"  {seen} = memref.reinterpret_cast {memory} to offset: [{start}], sizes: [{sizes}], "
        f"strides: [{', '.join(map(str, steps))}] : {made} to {viewed}"]
    return builder.emit(f"bufferization.to_tensor {seen} restrict : {viewed} to "
                        f"tensor<{shape}x{value.type}>", dims, value.type)


def times(builder, dim, number):
    """A dim that is a number of times another."""
    if isinstance(dim, int):
        return dim * number
    return builder.define(builder.index("muli", builder.size(dim), number))


def flat(builder, value, at):
    """A tensor whose three dims from `at` on are one."""
    first, rows, columns = value.dims[at: at + 3]
    value = builder.merge(value, at + 1, rows * columns)
    return builder.merge(value, at, times(builder, first, rows * columns))


def strip(filters, most, type_):
    """The most neighbouring filters, up to a number of vectors, that divide all of them; 0: they
    fill no vector."""
    lanes = LANES[type_]
    return next((v * lanes for v in range(most, 0, -1) if filters % (v * lanes) == 0), 0)


# --------------------------------------------------------------------------
# Rows of pixels
# --------------------------------------------------------------------------


class Grid:
    """How n images (h, w) lie in a row of pixels, with padding for filters that reach `far`
    behind each row and each image; and in which chunks of `size` it is run through."""

    def __init__(self, builder, n, h, w, padding, far, chunk):
        top, bottom, left, right = padding
        self.n, self.h, self.w = n, h, w
        self.pitch, self.height = w + max(left, right), h + max(top, bottom)
        rows = max(chunk // self.pitch, 1)
        if self.height > rows:
            parts = -(-self.height // rows)
            rows = -(-self.height // parts)
            self.height = rows * parts
        else:
            most = rows // self.height
            rows = self.height
            if isinstance(n, int):
                rows *= max(m for m in range(1, n + 1) if n % m == 0 and m <= most)
        self.size = rows * self.pitch
        self.pixels = times(builder, n, self.height * self.pitch)
        # The farthest result from its pixel, and the first result that there is.
        self.lead = far[0] * self.pitch + far[1]
        self.start = self.lead - top * self.pitch - left

    def lay(self, builder, images, at):
        """Images (..., n, h, w, ...), whose dim n is `at`, in a row."""
        behind = [0] * len(images.dims)
        behind[at + 1: at + 3] = [self.height - images.dims[at + 1], self.pitch - images.dims[at + 2]]
        if any(behind):
            images = builder.pad(images, [0] * len(behind), behind)
        return flat(builder, images, at)

    def results(self, builder, row, p, q):
        """The results (j, n, p, q, f) in a row (j, pixels, f)."""
        strips, _, wide = row.dims
        row = builder.piece(row, (0, self.start, 0), (strips, self.pixels, wide))
        row = builder.expand(row, 1, self.n, self.height * self.pitch)
        row = builder.expand(row, 2, self.height, self.pitch)
        return builder.piece(row, [0] * 5, (strips, self.n, p, q, wide))


@dataclass(frozen=True)
class Convolution(Op):
    stride: tuple
    padding: tuple  # (top, bottom, left, right)
    dilation: tuple
    sizes: tuple  # that tell the programs of layers apart: only batches become dynamic

    def dynamic(self):
        return ()

    def exact(self):
        return "hwpqrtcf"


@kind
@dataclass(frozen=True)
class SparseConv2d(Convolution):
    """activation(x * weight + bias) of (n, h, w, c) by (r, t, c, f). `turned`: the windows of
    weights are turned around first, as in the gradient of images. The result is (n, p, q, f), or
    (n, f, p, q) if `channels_first`. `few`: so few elements are not zero that lists are to be
    long rather than filters in the first cache."""

    bias: bool = False
    activation: str | None = None
    turned: bool = False
    channels_first: bool = False
    few: bool = False
    threaded: bool = False  # points one after another are work for one thread

    name = "conv2d"

    def arguments(self):
        found = [Argument("x", tuple("nhwc"), FLOATS, permutable=True),
                 Argument("weight", tuple("rtcf"), FLOATS, permutable=True)]
        if self.bias:
            found.append(Argument("bias", ("f",), FLOATS))
        return found

    def results(self, types, sizes):
        found = {"n": sizes["n"], "f": sizes["f"]}
        for i, (image, window) in enumerate(("hr", "wt")):
            room = sizes[image] + sum(self.padding[2 * i: 2 * i + 2])
            far = self.dilation[i] * (sizes[window] - 1) + 1
            found["pq"[i]] = (room - far) // self.stride[i] + 1
        return [(sum_type(types[0]),
                 tuple(found[d] for d in ("nfpq" if self.channels_first else "npqf")))]

    def build(self, builder, values, orders):
        sizes = dict(zip((("nhwc"[i]) for i in orders[0] or range(4)), values[0].dims))
        sizes.update(zip((("rtcf"[i]) for i in orders[1] or range(4)), values[1].dims))
        (_, shape), = self.results((values[0].type,), sizes)
        sizes.update(zip("nfpq" if self.channels_first else "npqf", shape))
        bias = values[2] if self.bias else None
        type_ = sum_type(values[0].type)
        if not self.threaded and self.stride == (1, 1) and sizes["r"] * sizes["t"] > 1 and strip(
                sizes["f"], 8, values[0].type):
            y = self.by_points(builder, *values[:2], *orders[:2], sizes)
            y = builder.transpose(y, (1, 0, 4, 2, 3) if self.channels_first else (1, 2, 3, 0, 4))
            y = builder.merge(y, 1 if self.channels_first else 3, sizes["f"])
            return [builder.epilogue(y, bias, self.activation, type_, 1 if self.channels_first
                                     else 3)]
        y = self.by_results(builder, *values[:2], *orders[:2], sizes)
        y = builder.epilogue(y, bias, self.activation, type_, 3)
        return [builder.transpose(y, (0, 3, 1, 2)) if self.channels_first else y]

    def by_points(self, builder, x, weight, order, weight_order, sizes):
        """The results (strips, n, p, q, filters of a strip)."""
        c, f, rows, columns = (sizes[d] for d in "cfrt")
        wide = strip(f, 8 if self.few else 4, x.type)
        most = PART * (2 if self.few else 1)
        channels = max((m for m in range(PART // 4, most + 1) if c % m == 0), default=c)
        far = [step * (count - 1) for step, count in zip(self.dilation, (rows, columns))]
        grid = Grid(builder, *(sizes[d] for d in "nhw"), self.padding, far, CHUNK)
        if channels == c:
            x = grid.lay(builder, arrange(builder, x, order, "nhwc", "nhwc"), 0)
            x = builder.expand(x, 0, 1, x.dims[0])
        else:
            x = arrange(builder, x, order, "nhwc", "gnhwc", ("c", "g", channels))
            x = grid.lay(builder, x, 1)
        weight = arrange(builder, weight, weight_order, "rtcf", "rtjcf", ("f", "j", wide))
        length = grid.pixels + grid.lead if isinstance(grid.pixels, int) else builder.define(
            builder.index("addi", builder.size(grid.pixels), grid.lead))
        type_ = sum_type(x.type)
        sums = builder.zeros((f // wide, length, wide), type_)
        index = builder.index

        def of_chunk(at, sums):
            return loop(builder, c // channels, 1, sums, lambda g, sums: of_part(at, g, sums))

        def of_part(at, g, sums):
            part = builder.piece(x, (g, at, 0), (1, grid.size, channels), drop=(0,))
            part = builder.mark(part, ROWS)
            first = index("muli", g, channels)
            return loop(builder, f // wide, 1, sums, lambda j, sums: loop(
                builder, rows, 1, sums, lambda r, sums: loop(
                    builder, columns, 1, sums,
                    lambda t, sums: of_point(at, part, first, j, r, t, sums))))

        def of_point(at, part, first, j, r, t, sums):
            distance = index("addi", index("muli", r, self.dilation[0] * grid.pitch),
                             index("muli", t, self.dilation[1]))
            # Turned around, the first point is the farthest.
            to = (index("addi", at, distance) if self.turned else
                  index("subi", index("addi", at, grid.lead), distance))
            filters = builder.piece(weight, (r, t, j, first, 0), (1, 1, 1, channels, wide),
                                    drop=(0, 1, 2))
            place = (j, to, 0), (1, grid.size, wide)
            old = builder.piece(sums, *place, drop=(0,))
            new = builder.emit(
                f"linalg.matmul ins({part.name}, {filters.name} : {part.mlir}, {filters.mlir}) "
                f"outs({old.name} : {old.mlir}) -> {old.mlir}", old.dims, type_)
            return builder.put(new, sums, *place)

        sums = loop(builder, grid.pixels, grid.size, sums, of_chunk)
        return grid.results(builder, sums, sizes["p"], sizes["q"])

    def by_results(self, builder, x, weight, order, weight_order, sizes):
        """The results (n, p, q, f), each a sum of its own."""
        x = builder.mark(arrange(builder, x, order, "nhwc", "nhwc"), PIXELS)
        weight = arrange(builder, weight, weight_order, "rtcf", "rtcf")
        if self.turned and sizes["r"] * sizes["t"] > 1:
            weight = turn(builder, weight)
        if any(self.padding):
            x = builder.pad(x, [0, *self.padding[::2], 0], [0, *self.padding[1::2], 0])
        type_ = wide_type(sum_type(x.type))
        y = builder.zeros([sizes[d] for d in "npqf"], type_)
        return builder.emit(
            f"linalg.conv_2d_nhwc_hwcf {{dilations = dense<{list(self.dilation)}> : "
            f"tensor<2xi64>, strides = dense<{list(self.stride)}> : tensor<2xi64>}} "
            f"ins({x.name}, {weight.name} : {x.mlir}, {weight.mlir}) "
            f"outs({y.name} : {y.mlir}) -> {y.mlir}", y.dims, type_)


def turn(builder, weight):
    """Filters (r, t, c, f) whose windows are turned around."""
    rows, columns, *matrix = weight.dims
    found = builder.empty(weight.dims, weight.type)
    for r in range(rows):
        for t in range(columns):
            sizes = (1, 1, *matrix)
            part = builder.piece(weight, (r, t, 0, 0), sizes, drop=(0, 1))
            found = builder.put(part, found, (rows - 1 - r, columns - 1 - t, 0, 0), sizes)
    return found


@kind
@dataclass(frozen=True)
class FilterGradient(Convolution):
    """Of filters (r, t, c, f), from images (n, h, w, c) with zeros and the gradient of the
    result (n, p, q, f). Strides are 1. Its dims are in an order of "rtcf"."""

    window: tuple = (1, 1)
    order: str = "rtcf"

    name = "conv2d_dweight"

    def arguments(self):
        return [Argument("x", tuple("nhwc"), FLOATS, permutable=True),
                Argument("grad", tuple("npqf"), FLOATS, permutable=True)]

    def results(self, types, sizes):
        sizes = {**sizes, **dict(zip("rt", self.window))}
        return [(sum_type(types[0]), tuple(sizes[d] for d in self.order))]

    def build(self, builder, values, orders):
        sizes = dict(zip((("nhwc"[i]) for i in orders[0] or range(4)), values[0].dims))
        f = values[1].dims[(orders[1] or range(4)).index(3)]
        far = [step * (count - 1) for step, count in zip(self.dilation, self.window)]
        grid = Grid(builder, *(sizes[d] for d in "nhw"), self.padding, far, CHUNK)
        wide = filters_at_once(f, self.window[0] * self.window[1], values[0].type)
        # Where channels lie together, a chunk is transposed while it is in a cache.
        last = (orders[0] or (0, 1, 2, 3))[-1] == 3
        x = arrange(builder, values[0], orders[0], "nhwc", "nhwc" if last else "cnhw")
        x = grid.lay(builder, x, 0 if last else 1)
        if grid.lead:
            grad = arrange(builder, values[1], orders[1], "npqf", "jnpqf", ("f", "j", wide))
            grad = grid.lay(builder, grad, 1)
            grad = builder.pad(grad, (0, grid.start, 0), (0, grid.lead - grid.start, 0))
            met, letters = self.points(builder, grid, grad), "jkrtf"
        else:
            grad = grid.lay(builder, arrange(builder, values[1], orders[1], "npqf", "npqf"), 0)
            met, letters = builder.expand(grad, 1, f // wide, wide), "kjf"
        made = self.add_up(builder, grid, x, last, met, letters)
        made = arrange(builder, made, None, "jcrtf", [
            part for d in self.order for part in ("jf" if d == "f" else d)])
        return [builder.merge(made, self.order.index("f"), f)]

    def points(self, builder, grid, grad):
        """What each pixel meets by each point of the filter: (strips, pixels, r, t, filters)."""
        strips, length, wide = grad.dims
        outer = (length * wide if isinstance(length, int) else
                 builder.index("muli", builder.size(length), wide))
        steps = (outer, wide, -self.dilation[0] * grid.pitch * wide, -self.dilation[1] * wide, 1)
        return overlapping(builder, grad, (strips, grid.pixels, *self.window, wide), steps,
                           grid.lead * wide)

    def add_up(self, builder, grid, x, last, met, letters):
        """The sums (strips, c, r, t, filters) over chunks of pixels. `last`: x has channels
        last. `letters` are the dims of what each pixel meets."""
        sizes = dict(zip(letters, met.dims))
        channels, type_ = x.dims[last], sum_type(x.type)
        result = letters.replace("k", "").replace("j", "jc")

        def add(at, sums):
            if last:
                part = builder.piece(x, (at, 0), (grid.size, channels))
                part = builder.transpose(part, (1, 0))
            else:
                part = builder.piece(x, (0, at), (channels, grid.size))
            part = builder.mark(part, ROWS)
            near = builder.piece(met, [at if d == "k" else 0 for d in letters],
                                 [grid.size if d == "k" else sizes[d] for d in letters])
            return builder.generic(
                ["ck", letters, result], result + "k", [part, near], sums,
                lambda body, a, b, total: body.add(type_, total, body.mul(type_, a, b)))

        sums = builder.zeros([channels if d == "c" else sizes[d] for d in result], type_)
        sums = loop(builder, grid.pixels, grid.size, sums, add)
        if "r" in result:
            return sums
        return builder.expand(builder.expand(sums, 2, 1, sums.dims[2]), 2, 1, 1)


def filters_at_once(filters, points, type_):
    """How many filters' sums of all points of a filter are in registers at once."""
    return strip(filters, max(min(SUMS // points if points <= SUMS else 4, 8), 1), type_)
