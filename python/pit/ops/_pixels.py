"""Images as rows of pixels, in which all that a point of a filter does is at a fixed distance.

Behind each row of an image are as many zeros as its padding is wide. Then a point of the filter
does the same to every pixel: it makes pixel k meet result k - d. Where results are several pixels
apart, an image falls into phases: those pixels that the same points of the filter meet.
"""

from dataclasses import dataclass
from math import gcd

LANES = {"f32": 16, "f64": 8}  # that a vector has, at most


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
    """The results of `body(number, sums)` for sums, a tensor or several, in each of the iterations up
    to a dim. They are updated in place."""
    single = not isinstance(sums, list)
    values = [sums] if single else sums
    zero, step = builder.constant(0, "index"), builder.size(step)
    at, carried, made = builder.fresh(), [builder.fresh() for _ in values], builder.fresh()
    types = ", ".join(v.mlir for v in values)
    builder.lines.append(
        f"  {made}{'' if single else f':{len(values)}'} = scf.for {at} = {zero} to "
        f"{builder.size(count)} step {step} iter_args("
        f"{', '.join(f'{name} = {v.name}' for name, v in zip(carried, values))}) -> ({types}) {{")
    inner = [type(v)(name, v.dims, v.type) for name, v in zip(carried, values)]
    total = body(at, inner[0] if single else inner)
    found = ", ".join(v.name for v in ([total] if single else total))
    builder.lines += [f"    scf.yield {found} : {types}", "  }"]
    if single:
        return type(sums)(made, sums.dims, sums.type)
    return [type(v)(f"{made}#{i}", v.dims, v.type) for i, v in enumerate(values)]


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


def plus(builder, dim, number):
    """A dim that is larger than another by a number."""
    if isinstance(dim, int):
        return dim + number
    return builder.define(builder.index("addi", builder.size(dim), number)) if number else dim


def flat(builder, value, at):
    """A tensor whose three dims from `at` on are one."""
    first, rows, columns = value.dims[at: at + 3]
    value = builder.merge(value, at + 1, rows * columns)
    return builder.merge(value, at, times(builder, first, rows * columns))


def column_block(filters, most, type_):
    """The most neighbouring filters, up to a number of vectors, that divide all of them; 0: they
    fill no vector."""
    lanes = LANES[type_]
    return next((v * lanes for v in range(most, 0, -1) if filters % (v * lanes) == 0), 0)


def any_column_block(filters, most, type_):
    """The same, where the last vector need not be full."""
    return column_block(filters, most, type_) or divisor(filters, most * LANES[type_])


def divisor(number, most):
    """The largest divisor of a number that is no larger than another."""
    return max((d for d in range(1, min(number, most) + 1) if number % d == 0), default=1)


# --------------------------------------------------------------------------
# Phases
# --------------------------------------------------------------------------


@dataclass(frozen=True)
class Phase:
    """Along a dim of images, the pixels at, at + stride, ... (`size` of them), and the points
    first, first + step, ... (`count` of them) of the filter, which meet these. Of the phase's
    pixels, point i of these makes p + near + i * apart meet result p."""

    at: int
    size: int
    first: int
    step: int
    count: int
    near: int
    apart: int

    @property
    def far(self):
        return self.near + (self.count - 1) * self.apart


def phases(stride, dilation, before, size, window):
    """The phases that have pixels, of a dim with `before` zeros before its pixels."""
    common = gcd(stride, dilation)
    step, apart = stride // common, dilation // common
    found = []
    for first in range(min(step, window)):
        near, at = divmod(first * dilation - before, stride)
        if at < size:
            found.append(Phase(at, (size - at - 1) // stride + 1, first, step,
                               (window - first - 1) // step + 1, near, apart))
    return found


class Grid:
    """How n images, and what is computed of them, lie in rows of pixels, so that all phases of
    rows and of columns meet at fixed distances; and in which chunks of about `chunk` pixels they
    are run through. `shape` is that of results."""

    def __init__(self, builder, n, shape, rows, columns, chunk):
        self.n = n
        self.height, self.pitch = (
            max([result] + [max(phase.size + max(-phase.near, 0), result + max(phase.far, 0))
                            for phase in each])
            for result, each in zip(shape, (rows, columns)))
        most = max(chunk // self.pitch, 1)
        if self.height > most:
            whole = all(size == (self.height, self.pitch) for size in (
                shape, *((r.size, c.size) for r in rows for c in columns)))
            self.rows = divisor(self.height, most)
            if not whole or 4 * self.rows < most:
                parts = -(-self.height // most)
                self.rows = -(-self.height // parts)
                self.height = self.rows * parts
        else:
            self.rows = self.height
            if isinstance(n, int):
                self.rows *= divisor(n, most // self.height)
        self.size = self.rows * self.pitch
        self.pixels = times(builder, n, self.height * self.pitch)
        self.low, self.high = (
            pick([0] + [self.distance(getattr(r, end), getattr(c, end))
                        for r in rows for c in columns])
            for pick, end in ((min, "near"), (max, "far")))
        # The elements at these distances from pixels.
        self.reached = plus(builder, self.pixels, self.high - self.low)

    def distance(self, rows, columns):
        return rows * self.pitch + columns

    def lay(self, builder, images, at):
        """Images (..., n, h, w, ...), whose dim n is `at`, in a row."""
        behind = [0] * len(images.dims)
        behind[at + 1: at + 3] = [self.height - images.dims[at + 1], self.pitch - images.dims[at + 2]]
        if any(behind):
            images = builder.pad(images, [0] * len(behind), behind)
        return flat(builder, images, at)

    def images(self, builder, row, start, shape):
        """The images (j, n, *shape, f) of a row (j, ..., f) whose first pixel is at `start`."""
        column_blocks, _, wide = row.dims
        row = builder.piece(row, (0, start, 0), (column_blocks, self.pixels, wide))
        row = builder.expand(row, 1, self.n, self.height * self.pitch)
        row = builder.expand(row, 2, self.height, self.pitch)
        return builder.piece(row, [0] * 5, (column_blocks, self.n, *shape, wide))


def of_phase(builder, images, names, rows, columns, stride):
    """The pixels of a phase, of images whose dims have names."""
    if stride == (1, 1):
        return images
    sizes, offsets, steps = list(images.dims), [0] * len(images.dims), [1] * len(images.dims)
    for name, phase, step in zip("hw", (rows, columns), stride):
        at = names.index(name)
        sizes[at], offsets[at], steps[at] = phase.size, phase.at, step
    return builder.piece(images, offsets, sizes, steps=steps)


def view(builder, grid, row, pair, sign):
    """The elements that each pixel meets by each point of a pair of phases, in a row of column blocks whose first
    pixel has all that is reached before it: (column blocks, pixels, r, t, of a column block)."""
    rows, columns = pair
    column_blocks, length, wide = row.dims
    start = (-grid.low if sign > 0 else grid.high) + sign * grid.distance(rows.near, columns.near)
    outer = (length * wide if isinstance(length, int) else
             builder.index("muli", builder.size(length), wide))
    steps = (outer, wide, sign * rows.apart * grid.pitch * wide, sign * columns.apart * wide, 1)
    return overlapping(builder, row, (column_blocks, grid.pixels, rows.count, columns.count, wide),
                       steps, start * wide)
