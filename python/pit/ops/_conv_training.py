"""Convolutions of images with zeros anywhere, forwards and backwards, as the CPU is fast at them.

Images lie in one row of pixels (_pixels.py), so that one index of the pixels serves all points of
the filter. Forwards, and for the gradient of images, each point adds its products to results that
lie at a distance. Its filters, or a column block of them, stay in the first cache meanwhile.

The gradient of filters adds up over pixels, for all points of the filter at once: a view of what
the pixels meet has a dim for them, along which it overlaps. The images or the gradient of the
result may be what has zeros; the other one is met.

A filter of one point multiplies a matrix of pixels.
"""

from dataclasses import dataclass

from ._conv import result_extents
from ._op import Argument, Mark, Op, kind
from ._pixels import (
    Grid, any_column_block, arrange, divisor, flat, loop, of_phase, phases, column_block, times, view)
from ._text import sum_type

FLOATS = ("f32", "f64")
SUMS = 28  # vectors of them that a program has registers for
CHUNK = 1152  # pixels that are computed with before others are
CACHED = 1 << 17  # elements of what is computed with meanwhile, where filters are one point
LEAST_CHUNK = 256  # pixels in a list's part, at least
PART = 128  # channels that are, too: their filters stay in the first cache
LITTLE = 1 << 14  # filters of one point that stay in the second cache
ROWS = Mark(0, micro_tile=(1, 1), axis=1)


@dataclass(frozen=True)
class Convolution(Op):
    stride: tuple
    padding: tuple  # (top, bottom, left, right)
    dilation: tuple
    sizes: tuple  # that tell the programs of layers apart: only batches become dynamic
    threads: int  # of whose caches a chunk fills its share

    def dynamic(self):
        return ()

    def exact(self):
        return "hwpqrtcf"

    def extents(self, sizes):
        """The height and width of the result."""
        return result_extents(sizes, self.stride, self.padding, self.dilation)

    def phases(self, sizes):
        """The phases of rows, and those of columns."""
        return [phases(self.stride[i], self.dilation[i], self.padding[2 * i], sizes["hw"[i]],
                       sizes["rt"[i]]) for i in range(2)]

    def is_matrix(self, sizes):
        """Whether a filter is one point, which meets each pixel or every few of them."""
        return sizes["r"] == sizes["t"] == 1 and not any(self.padding)


def sizes_of(values, orders, letters):
    """Sizes by the names of dims that arguments have."""
    return {names[i]: size for value, order, names in zip(values, orders, letters)
            for i, size in zip(order or range(4), value.dims)}


# --------------------------------------------------------------------------
# Results, and the gradient of images
# --------------------------------------------------------------------------


@dataclass(frozen=True)
class Points(Convolution):
    """Sums of what the points of the filter make of pixels. The result has its channels after the
    images, if `channels_first`, else last. `few`: so few elements are not zero that lists are to
    be long rather than filters in the first cache."""

    channels_first: bool = False
    few: bool = False

    def by_matrix(self, builder, x, weight, n, each):
        """The product of pixels (k, c) of n images, of which each has so many, and filters (c, f)."""
        (pixels, c), f = x.dims, weight.dims[1]
        channels, wide = divisor(c, PART), any_column_block(f, 4, x.type)
        # An index of a part has to serve several column blocks.
        whole = (self.few or c * f <= LITTLE or 4 * channels < min(c, PART)
                 or f < 4 * min(wide, 64) and c > channels)
        size = chunk_of(n, each, pixels, self.threads * max(
            2 * CACHED // (c + f if whole else channels + wide), LEAST_CHUNK))
        if not whole:
            weight = builder.transpose(builder.expand(weight, 1, f // wide, wide), (1, 0, 2))

        def of_chunk(at, sums):
            place = (at, 0), (size, f)
            zeros = builder.fill_over(builder.piece(sums, *place), 0)
            if whole:
                part = builder.mark(builder.piece(x, (at, 0), (size, c)), ROWS)
                return builder.put(self.multiply(builder, part, weight, zeros), sums, *place)
            sums = builder.put(zeros, sums, *place)
            return loop(builder, c // channels, 1, sums, lambda g, sums: of_part(at, g, sums))

        def of_part(at, g, sums):
            first = builder.index("muli", g, channels)
            part = builder.mark(builder.piece(x, (at, first), (size, channels)), ROWS)

            def of_column_block(j, sums):
                filters = builder.piece(weight, (j, first, 0), (1, channels, wide), drop=(0,))
                place = (at, builder.index("muli", j, wide)), (size, wide)
                new = self.multiply(builder, part, filters, builder.piece(sums, *place))
                return builder.put(new, sums, *place)

            return loop(builder, f // wide, 1, sums, of_column_block)

        return loop(builder, pixels, size, builder.empty((pixels, f), sum_type(x.type)), of_chunk)

    def multiply(self, builder, x, weight, sums):
        return builder.emit(
            f"linalg.matmul ins({x.name}, {weight.name} : {x.mlir}, {weight.mlir}) "
            f"outs({sums.name} : {sums.mlir}) -> {sums.mlir}", sums.dims, sums.type)

    def in_parts(self, builder, x, order, names, grid):
        """Images in a row of pixels (parts, pixels, channels of a part)."""
        c = x.dims[order.index(3) if order else 3]
        most = PART * (2 if self.few else 1)
        channels = max((m for m in range(PART // 4, most + 1) if c % m == 0), default=c)
        if channels == c:
            x = grid.lay(builder, arrange(builder, x, order, names, names), 0)
            return builder.expand(x, 0, 1, x.dims[0])
        wanted = "g" + names
        x = arrange(builder, x, order, names, wanted, (names[-1], "g", channels))
        return grid.lay(builder, x, 1)

    def add_points(self, builder, grid, x, weight, sums, pairs, sign):
        """Sums (pairs, column blocks, pixels reached, filters of a column block), to which the points of pairs of
        phases added their products of pixels, as `in_parts` gives them, and weights (r, t, column blocks,
        c, filters of a column block). Pixel k adds to k + sign * the distance of a point."""
        parts, _, channels = x.dims
        column_blocks, wide = sums.dims[1], sums.dims[3]
        index = builder.index
        start = grid.high if sign < 0 else -grid.low

        def of_chunk(at, sums):
            return loop(builder, parts, 1, sums, lambda g, sums: of_part(at, g, sums))

        def of_part(at, g, sums):
            part = builder.mark(builder.piece(
                x, (g, at, 0), (1, grid.size, channels), drop=(0,)), ROWS)
            first = index("muli", g, channels)
            return loop(builder, column_blocks, 1, sums, lambda j, sums: of_column_block(at, part, first, j, sums))

        def of_column_block(at, part, first, j, sums):
            for number, (rows, columns) in enumerate(pairs):
                to = index("addi", at, start + sign * grid.distance(rows.near, columns.near))
                steps = sign * rows.apart * grid.pitch, sign * columns.apart
                sums = loop(builder, rows.count, 1, sums, lambda r, sums: loop(
                    builder, columns.count, 1, sums, lambda t, sums: of_point(
                        index("addi", to, index("addi", index("muli", r, steps[0]),
                                                index("muli", t, steps[1]))),
                        [index("addi", index("muli", i, phase.step), phase.first)
                         for i, phase in ((r, rows), (t, columns))],
                        part, first, j, number, sums)))
            return sums

        def of_point(to, point, part, first, j, number, sums):
            filters = builder.piece(weight, (*point, j, first, 0), (1, 1, 1, channels, wide),
                                    drop=(0, 1, 2))
            place = (number, j, to, 0), (1, 1, grid.size, wide)
            new = self.multiply(builder, part, filters, builder.piece(sums, *place, drop=(0, 1)))
            return builder.put(new, sums, *place)

        return loop(builder, grid.pixels, grid.size, sums, of_chunk)

    def row_of_sums(self, builder, grid, pairs, filters, type_):
        wide = any_column_block(filters, 8 if self.few else 4, type_)
        return builder.zeros((pairs, filters // wide, grid.reached, wide), sum_type(type_))

    def joined(self, builder, images, filters):
        """Images (column blocks, n, h, w, filters of a column block) as the result has them."""
        if self.channels_first:
            return builder.merge(builder.transpose(images, (1, 0, 4, 2, 3)), 1, filters)
        return builder.merge(builder.transpose(images, (1, 2, 3, 0, 4)), 3, filters)

    def unrolled(self, builder, pixels, n, shape):
        """Pixels (k, f) as images of a shape, as the result has them."""
        images = builder.expand(pixels, 0, n, shape[0] * shape[1])
        images = builder.expand(images, 1, *shape)
        return builder.transpose(images, (0, 3, 1, 2)) if self.channels_first else images


@kind
@dataclass(frozen=True)
class SparseConv2d(Points):
    """activation(x * weight + bias) of (n, h, w, c) by (r, t, c, f)."""

    bias: bool = False
    activation: str | None = None

    name = "conv2d"

    def arguments(self):
        found = [Argument("x", tuple("nhwc"), FLOATS, permutable=True),
                 Argument("weight", tuple("rtcf"), FLOATS, permutable=True)]
        if self.bias:
            found.append(Argument("bias", ("f",), FLOATS))
        return found

    def results(self, types, sizes):
        found = {**sizes, **dict(zip("pq", self.extents(sizes)))}
        return [(sum_type(types[0]),
                 tuple(found[d] for d in ("nfpq" if self.channels_first else "npqf")))]

    def build(self, builder, values, orders):
        sizes = sizes_of(values[:2], orders[:2], ("nhwc", "rtcf"))
        shape = self.extents(sizes)
        bias = values[2] if self.bias else None
        type_ = sum_type(values[0].type)
        rows, columns = self.phases(sizes)
        x, order = values[0], orders[0]
        names = ["nhwc"[i] for i in order or range(4)]
        if self.is_matrix(sizes):
            x = of_phase(builder, x, names, rows[0], columns[0], self.stride)
            x = flat(builder, arrange(builder, x, order, "nhwc", "nhwc"), 0)
            weight = arrange(builder, values[1], orders[1], "rtcf", "rtcf")
            weight = builder.merge(builder.merge(weight, 1, sizes["c"]), 0, sizes["c"])
            y = self.by_matrix(builder, x, weight, sizes["n"], shape[0] * shape[1])
            y = builder.epilogue(y, bias, self.activation, type_)
            return [self.unrolled(builder, y, sizes["n"], shape)]
        grid = Grid(builder, sizes["n"], shape, rows, columns, CHUNK * self.threads)
        sums = self.row_of_sums(builder, grid, 1, sizes["f"], x.type)
        wide = sums.dims[3]
        weight = arrange(builder, values[1], orders[1], "rtcf", "rtjcf", ("f", "j", wide))
        for pair in [(r, c) for r in rows for c in columns]:
            sampled = of_phase(builder, x, names, *pair, self.stride)
            row = self.in_parts(builder, sampled, order, "nhwc", grid)
            sums = self.add_points(builder, grid, row, weight, sums, [pair], -1)
        sums = builder.piece(sums, [0] * 4, (1, *sums.dims[1:]), drop=(0,))
        y = self.joined(builder, grid.images(builder, sums, grid.high, shape), sizes["f"])
        return [builder.epilogue(y, bias, self.activation, type_, 1 if self.channels_first else 3)]


@kind
@dataclass(frozen=True)
class ImageGradient(Points):
    """The gradient of images (n, h, w, c), from that of the result (n, p, q, f) and weights (r, t, c, f)."""

    image: tuple = (1, 1)  # height and width

    name = "conv2d_dx"

    def arguments(self):
        return [Argument("grad", tuple("npqf"), FLOATS, permutable=True),
                Argument("weight", tuple("rtcf"), FLOATS, permutable=True)]

    def results(self, types, sizes):
        found = {**sizes, **dict(zip("hw", self.image))}
        return [(sum_type(types[0]),
                 tuple(found[d] for d in ("nchw" if self.channels_first else "nhwc")))]

    def build(self, builder, values, orders):
        sizes = {**sizes_of(values, orders, ("npqf", "rtcf")), **dict(zip("hw", self.image))}
        shape = sizes["p"], sizes["q"]
        rows, columns = self.phases(sizes)
        grad, c, f = values[0], sizes["c"], sizes["f"]
        pairs = [(r, t) for r in rows for t in columns]
        if self.is_matrix(sizes):
            grad = flat(builder, arrange(builder, grad, orders[0], "npqf", "npqf"), 0)
            weight = arrange(builder, values[1], orders[1], "rtcf", "rtfc")
            weight = builder.merge(builder.merge(weight, 1, f), 0, f)
            found = self.by_matrix(builder, grad, weight, sizes["n"], shape[0] * shape[1])
            found = [self.unrolled(builder, found, sizes["n"], shape)]
        else:
            grid = Grid(builder, sizes["n"], shape, rows, columns, CHUNK * self.threads)
            sums = self.row_of_sums(builder, grid, len(pairs), c, grad.type)
            weight = arrange(builder, values[1], orders[1], "rtcf", "rtjfc", ("c", "j", sums.dims[3]))
            row = self.in_parts(builder, grad, orders[0], "npqf", grid)
            sums = self.add_points(builder, grid, row, weight, sums, pairs, 1)
            found = []
            for i, (r, t) in enumerate(pairs):
                part = builder.piece(sums, (i, 0, 0, 0), (1, *sums.dims[1:]), drop=(0,))
                images = grid.images(builder, part, -grid.low, (r.size, t.size))
                found.append(self.joined(builder, images, c))
        if self.stride == (1, 1):
            return found
        names = "nchw" if self.channels_first else "nhwc"
        made = builder.zeros([sizes[d] for d in names], sum_type(grad.type))
        for images, (r, t) in zip(found, pairs):
            at = dict(zip("hw", (r.at, t.at)))
            step = dict(zip("hw", self.stride))
            made = builder.put(images, made, [at.get(d, 0) for d in names], images.dims,
                               [step.get(d, 1) for d in names])
        return [made]


# --------------------------------------------------------------------------
# The gradient of filters
# --------------------------------------------------------------------------


@kind
@dataclass(frozen=True)
class FilterGradient(Convolution):
    """The gradient of filters (r, t, c, f), from images (n, h, w, c) and the gradient of the result
    (n, p, q, f). `by_grad`: the zeros of the gradient are skipped, not those of the images. Its
    dims are in an order of "rtcf"."""

    window: tuple = (1, 1)
    order: str = "rtcf"
    by_grad: bool = False

    name = "conv2d_dweight"

    def arguments(self):
        return [Argument("x", tuple("nhwc"), FLOATS, permutable=True),
                Argument("grad", tuple("npqf"), FLOATS, permutable=True)]

    def results(self, types, sizes):
        sizes = {**sizes, **dict(zip("rt", self.window))}
        return [(sum_type(types[0]), tuple(sizes[d] for d in self.order))]

    def build(self, builder, values, orders):
        sizes = {**sizes_of(values, orders, ("nhwc", "npqf")), **dict(zip("rt", self.window))}
        rows, columns = self.phases(sizes)
        images, gradient = (Operand(*each) for each in zip(values, orders, ("nhwc", "npqf")))
        skipped, met = "fc" if self.by_grad else "cf"
        if self.is_matrix(sizes):
            images = images.of_phase(builder, rows[0], columns[0], self.stride)
            made = self.of_matrices(builder, *(
                (gradient, images) if self.by_grad else (images, gradient)))
        else:
            made = self.of_points(builder, images, gradient, rows, columns, sizes)
        # (column blocks, skipped, r, t, of a column block)
        made = arrange(builder, made, None, f"j{skipped}rt{met}", [
            part for d in self.order for part in (f"j{met}" if d == met else d)])
        return [builder.merge(made, self.order.index(met), sizes[met])]

    def of_matrices(self, builder, skipped, met):
        """The sums (column blocks, skipped channels, 1, 1, of a column block) where a filter is one point."""
        n, height, width, channels = (skipped.size(i) for i in range(4))
        pixels = times(builder, n, height * width)
        size = chunk_of(n, height * width, pixels,
                        self.threads * max(CACHED // (channels + met.size(3)), LEAST_CHUNK))
        last = skipped.is_last()
        if last:
            x = flat(builder, skipped.arranged(builder, skipped.names), 0)
        else:
            x = flat(builder, skipped.arranged(builder, skipped.names[-1] + skipped.names[:-1]), 1)
        met = flat(builder, met.arranged(builder, met.names), 0)
        wide = at_once(met.dims[1], 1, x.type)
        met = builder.expand(met, 1, met.dims[1] // wide, wide)
        sums, = self.add_up(builder, pixels, size, x, last, [(met, "kjf")],
                            [builder.zeros((met.dims[1], channels, wide), sum_type(x.type))])
        return builder.expand(builder.expand(sums, 2, 1, wide), 2, 1, 1)

    def of_points(self, builder, images, gradient, rows, columns, sizes):
        """The sums (column blocks, skipped channels, r, t, of a column block)."""
        grid = Grid(builder, sizes["n"], (sizes["p"], sizes["q"]), rows, columns, CHUNK * self.threads)
        pairs = [(r, t) for r in rows for t in columns]
        phases_of = [images.of_phase(builder, *pair, self.stride) for pair in pairs]
        met = sizes["c" if self.by_grad else "f"]
        skipped = sizes["f" if self.by_grad else "c"]
        wide = at_once(met, max([r.count * t.count for r, t in pairs], default=1),
                       images.value.type)
        type_ = sum_type(images.value.type)
        column_blocks = met // wide
        whole = (column_blocks, skipped, *self.window, wide)
        sums = [builder.zeros((column_blocks, skipped, r.count, t.count, wide), type_) for r, t in pairs]
        if self.by_grad:
            x, last = gradient.laid(builder, grid)
            views = [(view(builder, grid, phase.in_column_blocks(builder, grid, wide, -grid.low,
                                                               grid.high), pair, 1), "jkrtf")
                     for phase, pair in zip(phases_of, pairs)]
            sums = self.add_up(builder, grid.pixels, grid.size, x, last, views, sums) if views else []
        else:
            row = gradient.in_column_blocks(builder, grid, wide, grid.high, -grid.low)
            for i, (phase, pair) in enumerate(zip(phases_of, pairs)):
                x, last = phase.laid(builder, grid)
                met_by = [(view(builder, grid, row, pair, -1), "jkrtf")]
                sums[i], = self.add_up(builder, grid.pixels, grid.size, x, last, met_by, [sums[i]])
        if len(pairs) == 1 and sums[0].dims == whole:
            return sums[0]
        made = builder.zeros(whole, type_)
        for part, (r, t) in zip(sums, pairs):
            made = builder.put(part, made, (0, 0, r.first, t.first, 0), part.dims,
                               (1, 1, r.step, t.step, 1))
        return made

    def add_up(self, builder, pixels, size, x, last, met, sums):
        """Each of the sums (column blocks, channels, points, of a column block) with what it lacks: products of
        the pixels of x, which has channels last or first, and of what these meet, by chunks of
        `size`. `met` has tensors, and letters for their dims, of which k are pixels."""
        channels, type_ = x.dims[last], sums[0].type

        def add(at, sums):
            if last:  # A chunk is transposed while it is in a cache.
                part = builder.piece(x, (at, 0), (size, channels))
                part = builder.transpose(part, (1, 0))
            else:
                part = builder.piece(x, (0, at), (channels, size))
            part = builder.mark(part, ROWS)
            found = []
            for (value, letters), total in zip(met, sums):
                near = builder.piece(value, [at if d == "k" else 0 for d in letters],
                                     [size if d == "k" else n for d, n in zip(letters, value.dims)])
                if letters == "kjf":  # read once in its order: what comes from memory is awaited
                    near, letters = builder.transpose(near, (1, 0, 2)), "jkf"
                result = letters.replace("k", "").replace("j", "jc")
                found.append(builder.generic(
                    ["ck", letters, result], result + "k", [part, near], total,
                    lambda body, a, b, c: body.add(type_, c, body.mul(type_, a, b))))
            return found

        if size == pixels:
            return add(0, sums)
        return loop(builder, pixels, size, sums, add)


@dataclass
class Operand:
    """Images, passed with their dims (`names`, channels last) in an order."""

    value: object
    order: tuple
    names: str

    def size(self, i):
        return self.value.dims[self.order.index(i) if self.order else i]

    def is_last(self):
        """Whether channels lie together."""
        return (self.order or (0, 1, 2, 3))[-1] == 3

    def of_phase(self, builder, rows, columns, stride):
        letters = [self.names[i] for i in self.order or range(4)]
        return Operand(of_phase(builder, self.value, letters, rows, columns, stride), self.order,
                       self.names)

    def arranged(self, builder, want, apart=()):
        return arrange(builder, self.value, self.order, self.names, want, apart)

    def laid(self, builder, grid):
        """The images in a row of pixels; whether channels are last there, else they are first."""
        if self.is_last():
            return grid.lay(builder, self.arranged(builder, self.names), 0), True
        return grid.lay(builder, self.arranged(builder, self.names[-1] + self.names[:-1]), 1), False

    def in_column_blocks(self, builder, grid, wide, before, behind):
        """The same in column blocks of channels, with zeros around: (column blocks, pixels, of a column block)."""
        channel = self.names[-1]
        row = self.arranged(builder, "j" + self.names, (channel, "j", wide))
        row = grid.lay(builder, row, 1)
        return builder.pad(row, (0, before, 0), (0, behind, 0))


def chunk_of(n, each, pixels, most):
    """How many of the pixels of n images, of which each has so many, are computed with before
    others are: a divisor of all, at most so many if that leaves enough."""
    size = divisor(each, most)
    if size == each and isinstance(n, int):
        size *= divisor(n, most // each)
    return size if 8 * size >= most else pixels


def at_once(filters, points, type_):
    """How many filters' sums of some points are in registers at once; 0: that is not possible."""
    return column_block(filters, max(min(SUMS // points if points <= SUMS else 4, 8), 1), type_)


def largest_phase(op, window):
    """How many points of a filter one pixel can meet, at most, where results are apart."""
    found = 1
    for stride, dilation, size in zip(op.stride, op.dilation, window):
        found *= max(phase.count for phase in phases(stride, dilation, 0, stride, size))
    return found
