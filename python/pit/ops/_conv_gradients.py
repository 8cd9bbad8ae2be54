"""Gradients of the images of convolutions as convolutions, for every framework: a sparse
program of its own where something tells zeros apart.

Of y = conv(x, w): dX is the convolution of dY, with zeros between its elements where there
is a stride, by w with its filters and channels exchanged and its windows turned around. Each
group stays by itself: its own filters and channels are exchanged. Where neither operand has
a mark there (_gradients.py says which), the framework's own dense gradient is as good.

dW is a convolution, too, of x by dY. But its windows are images, and no code for windows of a
few pixels is good at that: the framework computes it, or, of f32 on the CPU, a program of its
own (_conv_training.py).
"""

import functools

from . import _op
from ._conv import LAYOUTS, Conv2d
from ._gradients import selector_of
from ._op import Mark


@functools.lru_cache(maxsize=4096)
def marks_of_gradient(op):
    """Marks of the convolution of dY by w that is dX."""
    marks = [Mark(1, mark.source, mark.assume, live_fraction=mark.live_fraction)
             for mark in op.marks if mark.operand == 1]
    if op.activation == "relu" and not marks:
        marks.append(Mark(0))  # no gradient goes through a zero: of dY
    return tuple(marks)


def renamed(letters, **names):
    return "".join(names.get(x, x) for x in letters)


def gradient(tools, op, i, other, grad, selector, shape):
    """The gradient of operand i of a shape, None where that is no sparse product. `other` is
    the other operand. `tools` has the framework's permute(x, order), flip(x, dims) and
    pad(x, widths), which also cuts off where a width is negative, and broadcast(x, shape)."""
    marks = marks_of_gradient(op) if i == 0 else ()
    if not marks or 0 in (*shape, *other.shape, *grad.shape):
        return None
    images, filters, result, _ = LAYOUTS[op.layout]
    if op.groups > 1 and other.shape[filters.index("c")] == 1:
        return None  # single channels leave nothing to gather
    sizes = {**dict(zip(images, shape)), **dict(zip(filters, other.shape))}
    sizes.update(zip(result, grad.shape))

    def order(x, have, want):
        return x if have == want else tools.permute(x, [have.index(d) for d in want])

    if not selector_of(op) or selector_of(op).operand == 0:
        selector = None
    elif op.selector_dims is not None:
        selector = tools.broadcast(selector, other.shape)
    grad = grad if grad.dtype == other.dtype else tools.cast(grad, other.dtype)
    return of_images(tools, op, marks, other, grad, selector, sizes, order)


def exchange(tools, x, letters, of_groups, other, groups):
    """Exchanges two dims of a tensor, of which one has the groups: these stay where they
    are, in front of what comes there."""
    at = letters.index(of_groups)
    names = [*letters[:at], "G", *letters[at:]]
    shape = x.shape
    split = x.reshape(*shape[:at], groups, shape[at] // groups, *shape[at + 1:])
    wanted = []
    for name in letters:
        wanted += ["G", other] if name == of_groups else [of_groups if name == other else name]
    found = tools.permute(split, [names.index(name) for name in wanted])
    shape = found.shape
    return found.reshape(*shape[:at], groups * shape[at + 1], *shape[at + 2:])


def of_images(tools, op, marks, weight, grad, selector, sizes, order):
    images, filters, result, _ = LAYOUTS[op.layout]
    padding, widths = [], {}
    for k, (image, window, out) in enumerate(("hrp", "wtq")):
        stride, dilation = op.stride[k], op.dilation[k]
        if stride > 1:
            grad = spread(tools, grad, result.index(out), stride)
        reach = dilation * (sizes[window] - 1)
        before, after = op.padding[2 * k: 2 * k + 2]
        # The part of the image that a stride leaves at its end.
        rest = 0 if stride == 1 else (sizes[image] + before + after - reach - 1) % stride
        low, high = reach - before, reach - after + rest
        if not isinstance(low, int) or not isinstance(high, int):
            return None  # sizes that torch does not know yet: a filter's, an image's by its stride
        padding += [max(low, 0), max(high, 0)]
        widths[out] = (min(low, 0), min(high, 0))
        if grad.shape[result.index(out)] + sum(widths[out]) <= 0:
            return None  # all of it has seen padding only
    grad = tools.pad(grad, [widths.get(x, (0, 0)) for x in result])
    windows = [filters.index(x) for x in "rt"]

    def turn(x):
        return exchange(tools, tools.flip(x, windows), filters, "f", "c", op.groups)

    arrays = [order(grad, result, renamed(images, c="f", h="p", w="q")), turn(weight)]
    if selector is not None:
        arrays.append(turn(selector))
    rule = _op.make(Conv2d, op.layout, (1, 1), tuple(padding), op.dilation, marks, False, None,
                    op.groups)
    return order(_op.run(rule, arrays), renamed(result, f="c", p="h", q="w"), images)


def spread(tools, x, dim, step):
    """Zeros between the elements along a dimension."""
    shape = list(x.shape)
    apart = x.reshape(*shape[: dim + 1], 1, *shape[dim + 1:])
    widths = [(0, 0)] * (dim + 1) + [(0, step - 1)] + [(0, 0)] * (len(shape) - dim - 1)
    shape[dim] *= step
    wide = tools.pad(apart, widths).reshape(shape)
    return tools.pad(wide, [(0, 1 - step if d == dim else 0) for d in range(len(shape))])
