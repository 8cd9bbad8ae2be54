"""Convolutions of which not all results are wanted: pixels, or filters.

Images lie in a row of pixels (_pixels.py), of which a view has a dim for the points of the filter. So
the wanted pixels are rows of a matrix, and the convolution is one product of them. Wanted filters
are rows of the weights.
"""

from dataclasses import dataclass

from .._library import Error
from ._conv import LAYOUTS, Conv2d
from ._conv_training import Operand
from ._einsum import BROADCAST
from ._op import SELECTOR_TYPES, Argument, Mark, kind, make
from ._pixels import Grid, arrange, phases, view
from ._text import Value, wide_type

CHUNK = 1 << 12  # pixels; of no consequence here, as all are one matrix


@kind
@dataclass(frozen=True)
class WantedConv2d(Conv2d):
    """A convolution of which a mask says what is wanted; the rest is 0. The mask has the dims
    `selector_dims` of the result: without f those of pixels, with nothing else of filters."""

    def arguments(self):
        return [*super().arguments(), Argument("mask", self.dims_of_mask(), SELECTOR_TYPES["mask"],
                                               alike=False, advice=BROADCAST)]

    def dims_of_mask(self):
        return self.selector_dims or tuple(LAYOUTS[self.layout][2])

    def of_filters(self):
        """Whether filters are wanted, not pixels."""
        return [d for d in self.dims_of_mask() if d != 1] == ["f"]

    def without_mask(self):
        """The plain convolution, all of which is computed."""
        return make(Conv2d, self.layout, self.stride, self.padding, self.dilation, (Mark(0),),
                    self.bias, self.activation)

    def dynamic(self):
        return False

    def varying(self):
        return ("n",)

    def exact(self):
        return "hwrtpq"

    def results(self, types, sizes):
        for i, dim in enumerate("pq"):
            found = self.extents(sizes)[i]
            if sizes.get(dim, found) != found:
                raise Error(f"conv2d: the mask has {sizes[dim]} {('rows', 'columns')[i]} of "
                            f"pixels; the result has {found}")
        return super().results(types, sizes)

    def build(self, builder, values, orders):
        x, weight, mask = values[0], values[1], values[-1]
        bias = values[2] if self.bias else None
        images, filters, result, _ = LAYOUTS[self.layout]
        sizes = {**dict(zip(filters, weight.dims)), **dict(zip(images, x.dims))}
        sizes.update(zip("pq", self.extents(sizes)))
        rows, columns = (phases(self.stride[i], self.dilation[i], self.padding[2 * i],
                                sizes["hw"[i]], sizes["rt"[i]]) for i in range(2))
        shape = sizes["p"], sizes["q"]
        grid = Grid(builder, sizes["n"], shape, rows, columns, CHUNK)
        order = None if images == "nhwc" else tuple("nhwc".index(d) for d in images)
        x = Operand(x, order, "nhwc")
        met = []
        for pair in [(r, t) for r in rows for t in columns]:
            row = x.of_phase(builder, *pair, self.stride).in_column_blocks(
                builder, grid, sizes["c"], -grid.low, grid.high)
            seen = view(builder, grid, row, pair, 1)
            met.append((pair, builder.squeeze(seen, [True] + [False] * 4)))
        names = self.dims_of_mask()
        summed = wide_type(x.value.type)
        if self.of_filters():
            y = self.by_filters(builder, grid, met, weight, mask, bias, sizes, summed)
        else:
            y = self.by_pixels(builder, grid, met, weight, mask, bias, sizes, summed)
        y = grid.images(builder, y, 0, shape)
        y = builder.merge(builder.transpose(y, (1, 2, 3, 0, 4)), 3, sizes["f"])
        if result != "npqf":
            y = builder.transpose(y, ["npqf".index(d) for d in result])
        if "f" in names and len([d for d in names if d != 1]) > 1:
            mask = builder.broadcast(mask, names, result, [sizes[d] for d in result])
            y = chosen(builder, mask, y)
        return [y]

    def of_points(self, builder, weight, letters, pair):
        """The filters of the points of a pair of phases."""
        r, t = pair
        sizes, offsets, steps = list(weight.dims), [0] * len(letters), [1] * len(letters)
        for letter, phase in zip("rt", (r, t)):
            at = letters.index(letter)
            sizes[at], offsets[at], steps[at] = phase.count, phase.first, phase.step
        if tuple(sizes) == weight.dims:
            return weight
        return builder.piece(weight, offsets, sizes, steps=steps)

    def by_pixels(self, builder, grid, met, weight, mask, bias, sizes, summed):
        """The row of results (1, pixels, f) of which pixels are wanted."""
        filters, type_ = LAYOUTS[self.layout][1], weight.type
        names = list(self.dims_of_mask())
        if "f" in names and names != ["f"]:
            mask, names = any_of(builder, mask, names, "f")
        mask = builder.broadcast(*in_order(builder, mask, names, "npq"), "npq",
                                 [sizes[d] for d in "npq"])
        index = Index(builder, grid.lay(builder, mask, 0))
        weight = arrange(builder, weight, None, filters, "rtcf")
        total = builder.zeros((index.count, sizes["f"]), summed)
        for pair, seen in met:
            total = add_product(builder, [index.pack(seen, 0), self.of_points(
                builder, weight, "rtcf", pair)], ["krtc", "rtcf"], total, "kf")
        y = index.unpack(builder.epilogue(total, bias, self.activation, type_),
                         (grid.pixels, sizes["f"]), [0])
        return builder.expand(y, 0, 1, y.dims[0])

    def by_filters(self, builder, grid, met, weight, mask, bias, sizes, summed):
        """The row of results (1, pixels, f) of which filters are wanted."""
        filters, type_ = LAYOUTS[self.layout][1], weight.type
        index = Index(builder, builder.squeeze(mask, [d == 1 for d in self.dims_of_mask()]))
        weight = index.pack(arrange(builder, weight, None, filters, "frtc"), 0)
        total = builder.zeros((index.count, grid.pixels), summed)
        for pair, seen in met:
            total = add_product(builder, [self.of_points(builder, weight, "frtc", pair), seen],
                                ["frtc", "krtc"], total, "fk")
        bias = bias and index.pack(bias, 0)
        y = index.unpack(builder.epilogue(total, bias, self.activation, type_, 0),
                         (sizes["f"], grid.pixels), [0])
        y = builder.transpose(y, (1, 0))
        return builder.expand(y, 0, 1, y.dims[0])


class Index:
    """The selection of a mask, a vector."""

    def __init__(self, builder, mask):
        self.builder = builder
        self.name, self.type = builder.lone(f"pit.index mask {mask.name} : {mask.mlir} ->",
                                            "!pit.index<micro_tile = [1], axis = 0>")
        extent = builder.fresh()
        builder.lines.append(f"  {extent} = pit.extent {self.name} : {self.type}")
        self.count = builder.define(extent)

    def pack(self, value, at):
        dims = (self.count, *(d for i, d in enumerate(value.dims) if i != at))
        made = Value("", dims, value.type)
        return self.builder.emit(
            f"pit.sread {value.name}[{self.name} : {self.type}] dims [{at}] : {value.mlir} -> "
            f"{made.mlir}", dims, value.type)

    def unpack(self, packed, dims, at):
        zeros = self.builder.zeros(dims, packed.type)
        return self.builder.emit(
            f"pit.swrite {packed.name} into {zeros.name}[{self.name} : {self.type}] dims {at} : "
            f"{packed.mlir} into {zeros.mlir}", dims, packed.type)


def add_product(builder, operands, maps, total, out):
    """A sum with the products of operands."""
    loops = [*out, *dict.fromkeys(d for each in maps for d in each if d not in out)]
    types = [v.type for v in operands]

    def function(body, a, b, c):
        a, b = (body.cast(v, type_, total.type) for v, type_ in zip((a, b), types))
        return body.add(total.type, c, body.mul(total.type, a, b))

    return builder.generic([*map(list, maps), list(out)], loops, operands, total, function)


def in_order(builder, value, names, wanted):
    """A tensor without dims that have no name, those that have one in an order; and the names."""
    value = builder.squeeze(value, [d == 1 for d in names])
    names = [d for d in names if d != 1]
    ordered = [d for d in wanted if d in names]
    if ordered != names:
        value = builder.transpose(value, [names.index(d) for d in ordered])
    return value, ordered


def any_of(builder, mask, names, over):
    """A mask without a dim, along which something is selected."""
    mask = builder.squeeze(mask, [d == 1 for d in names])
    names = [d for d in names if d != 1]
    left = [d for d in names if d != over]
    sizes = dict(zip(names, mask.dims))

    def function(body, a, b):
        return body.emit(f"arith.ori {a}, {b} : {mask.type}")

    zeros = builder.zeros([sizes[d] for d in left], mask.type)
    return builder.generic([names, left], [*left, over], [mask], zeros, function), left


def chosen(builder, mask, value):
    """A value where a mask has something, else 0."""
    def function(body, here, v):
        if mask.type != "i1":
            here = body.emit(f"arith.cmpi ne, {here}, {body.constant(0, mask.type)} : {mask.type}")
        return body.emit(f"arith.select {here}, {v}, {body.constant(0, value.type)} : {value.type}")

    return builder.elementwise([mask, value], function, value.type)
