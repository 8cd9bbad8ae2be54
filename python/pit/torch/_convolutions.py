"""Convolutions of torch's tensors on the CPU, forwards and backwards: by the programs of
ops/_conv_training.py where there are zeros enough, else by torch itself.

How many zeros there are is counted in a sample, or said by the caller (live_fraction=). What is enough
was measured (docs/performance/cpu-convolutions.md): it depends on whether a filter has several
points, and on whether channels lie together. Where they do not, images and results are transposed.
"""

import torch

from .. import _arrays, _types
from ..ops import _op, _operand
from ..ops._conv import LAYOUTS, Conv2d
from ..ops._conv_training import (
    FilterGradient, ImageGradient, SparseConv2d, at_once, largest_phase)
from ..ops._pixels import any_column_block
from ._plain import PLAIN

_, transforms, count_modes, any_level, is_jit_tracing = _arrays.torch_modes()
RUNS, RUN = 128, 8  # of neighbours in a sample: as many lines of memory
WHOLE = 0.1  # a part of runs: zeros lie in whole channels if hardly more runs have elements than there are
LIVE_RUNS = 0.65  # up to which whole channels are skipped in less time than torch takes for all
FEW = 0.2  # parts that are not zero, up to which lists of pixels are to be long
MOST_THREADS = 16  # that programs are made for
CALLS = 4096  # whose answers are kept
LEAST_CHANNELS = 16  # fewer leave a pixel's list too short
LEAST_FILTERS = 32
LISTING = 1.5  # cycles that an element takes to be listed; 16 products take one

NAMES = {getattr(torch, t.array): t.name for t in _types.TYPES if hasattr(torch, t.array)}
plain = {}  # what is_plain returns, by id of the op (which lives for ever)
most_of_calls = {}  # what most_ever returns, by id of the op and of what tensors have
most_alone = {}  # what most_live_alone does


def sample(x):
    """Some elements of a tensor, in runs of neighbours. They lie without gaps, in any order."""
    count = x.numel()
    step = count // RUNS
    if step <= RUN:
        return x
    return x.as_strided((RUNS, RUN), (step | 1 if (step | 1) * RUNS <= count else step, 1))


def live_fraction(x):
    """About which part of a tensor's elements is not zero. They lie without gaps, in any order."""
    x = sample(x.detach() if x.requires_grad else x)
    return torch.count_nonzero(x).item() / max(x.numel(), 1)


def has_whole_zeros(x, live):
    """Whether zeros lie in runs, as those of whole channels do, and are enough; `live` is the live fraction
    of x."""
    runs = sample(x)
    if live > LIVE_RUNS or runs.dim() != 2:
        return False
    part = (runs != 0).any(1).sum().item() / RUNS
    return part <= LIVE_RUNS and part - live <= WHOLE * part


def is_packed(x):
    """Whether elements lie without gaps, in any order."""
    if x.is_contiguous() or x.is_contiguous(memory_format=torch.channels_last):
        return True
    step = 1
    for size, stride in sorted(zip(x.shape, x.stride()), key=lambda both: both[1]):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


def is_plain(op):
    """Whether an op is one of these: zeros anywhere in the images are all that is known."""
    found = plain.get(id(op))
    if found is None:
        found = plain[id(op)] = (
            type(op) is Conv2d and op.groups == 1 and len(op.marks) == 1
            and op.marks[0].operand == 0 and op.marks[0].source == "values"
            and op.marks[0].micro_tile is None and op.marks[0].axis is None)
    return found


def takes(op, x, weight):
    """Whether the choice is made here: by tensors that are memory, of which elements may be
    counted, and that nobody follows."""
    return (is_plain(op) and type(x) in PLAIN and type(weight) in PLAIN and transforms() is None
            and not (count_modes() or any_level() or is_jit_tracing())
            and x.device.type == weight.device.type == "cpu"
            and x.dtype == weight.dtype == torch.float32 and x.dim() == weight.dim() == 4
            and 0 not in x.shape and 0 not in weight.shape and is_packed(x))


def ordered(x, letters, wanted):
    return x if letters == wanted else x.permute([letters.index(d) for d in wanted])


def rule_of(cls, op, images, weight, *options):
    """The op that computes something of a layer, by the sizes and the threads that tell such
    programs apart."""
    threads = 1 << min(torch.get_num_threads(), MOST_THREADS).bit_length() - 1
    return _op.make(cls, op.stride, op.padding, op.dilation, (*images.shape[1:], *weight.shape),
                    threads, *options)


# The choice
# --------------------------------------------------------------------------


def most_live(channels, filters, points, transposes):
    """The part of elements that are not zero, up to which a sparse convolution takes less time.
    `transposes`: channels do not lie together."""
    if channels < LEAST_CHANNELS or filters < LEAST_FILTERS or any_column_block(filters, 4, "f32") < 16:
        return 0
    if points > 1:
        return 0.45 if transposes else 0.52
    if transposes:  # what takes longer than the products of few channels
        return 0.32 if min(channels, filters) >= 128 else 0
    return enough(filters, 0.52)


def enough(met, most):
    """A part of elements, up to which lists of them pay: to list one costs as much as a vector of
    the products that it has."""
    found = min(0.62 * (1 - 16 / met), most)
    # Several threads wait for each other after each chunk.
    return found if torch.get_num_threads() == 1 else 0.9 * found


def most_live_of_filters(skipped, met, points, phase, transposes):
    """The same for the gradient of filters, whose zeros are in so many `skipped` channels. Up to
    `phase` points of a filter meet the same pixels."""
    if min(skipped, met) < LEAST_CHANNELS or max(skipped, met) < LEAST_FILTERS:
        return 0
    if not at_once(met, phase, "f32"):
        return 0
    if phase > 1:
        slow = transposes and (phase < points or min(skipped, met) < 128)
        return 0.45 if slow else 0.52
    if transposes and points == 1:
        return 0.2 if min(skipped, met) >= 128 else 0
    return enough(met, 0.46)


def filters_plan(op, sizes, live, transposes):
    """Whether the gradient of filters is to be computed by the zeros of the gradient, or by those
    of images, or None where it is torch's. `live` says of images and of the gradient which part is
    not zero, None: that is not known."""
    phase = largest_phase(op, (sizes["r"], sizes["t"]))
    best, found = None, None
    for by_grad, part in enumerate(live):
        skipped, met = sizes["fc"[not by_grad]], sizes["fc"[by_grad]]
        most = most_live_of_filters(skipped, met, sizes["r"] * sizes["t"], phase, transposes)
        if part is None or part > most:
            continue
        cost = skipped * (LISTING + part * phase * met / 16)
        if best is None or cost < best:
            best, found = cost, bool(by_grad)
    return found


def is_sparse(x, most, known=None):
    """Whether a tensor has at most so many elements that are not zero, and how many."""
    if most == 0:
        return False, 1
    live = live_fraction(x) if known is None else known
    return live <= most, live


# --------------------------------------------------------------------------
# Convolutions
# --------------------------------------------------------------------------


def extents_of(op, x, weight):
    """Channels, filters, points of a filter, and whether channels of images lie apart."""
    images, filters, _, _ = LAYOUTS[op.layout]
    sizes = dict(zip(filters, weight.shape))
    return (sizes["c"], sizes["f"], sizes["r"] * sizes["t"],
            not ordered(x, images, "nhwc").is_contiguous())


def forward(op, inputs):
    """The result of an op; None: it is none of these."""
    if type(op) is not Conv2d or not takes(op, *inputs[:2]):
        return None
    x, weight = inputs[:2]
    enough, live = is_sparse(x, most_live(*extents_of(op, x, weight)), op.marks[0].live_fraction)
    return sparse(op, inputs, live) if enough else dense(op, *inputs)


def sparse(op, inputs, live):
    """The result by a program for zeros anywhere."""
    x, weight, *bias = inputs
    images, filters, result, _ = LAYOUTS[op.layout]
    wide = ordered(x, images, "nhwc")
    first = not wide.is_contiguous() and images != "nhwc"
    rule = rule_of(SparseConv2d, op, wide, weight, first, live < FEW, op.bias, op.activation)
    y = _op.call(rule, [wide, ordered(weight, filters, "rtcf"), *bias])
    return y if first else ordered(y, "npqf", result)


def alone(op, inputs):
    """The result where nobody asks for gradients; None: the op's own program is as good, or tensors
    are more than memory."""
    if _operand.route(inputs) is not None:
        return None
    # Few steps here, too.
    x, weight = inputs[:2]
    key = (id(op), x.stride(), torch.get_num_threads(), *[
        each for v in inputs for each in (v.shape, v.dtype, v.device.type)])
    most = most_alone.get(key, -1)
    if most == -1:
        if len(most_alone) >= CALLS:
            most_alone.clear()
        most = most_alone[key] = most_live_alone(op, inputs)
    if most is None:
        return None
    most, in_channels = most
    known = op.marks[0].live_fraction
    if known is None and (most > 0 or in_channels):
        known = live_fraction(x)
        # The op's own program skips zeros that lie in whole channels.
        if in_channels and has_whole_zeros(x, known):
            return None
    if most == 0 or known > most:
        return dense(op, *inputs)
    return sparse(op, inputs, known)


def most_live_alone(op, inputs):
    """most_live of images, and whether channels of them lie apart. None: tensors are not taken."""
    x, weight = inputs[:2]
    if not takes(op, x, weight):
        return None
    _op.result_infos(op, [NAMES.get(v.dtype) for v in inputs], [v.shape for v in inputs])
    extents = extents_of(op, x, weight)
    return most_live(*extents), extents[-1]


def by_torch(op, inputs):
    """The result by torch's own op, whose gradients are torch's, where so few images' elements are
    zero that no program of pit is likely to be taken, now or in the gradients; else None."""
    x, weight = inputs[:2]
    if not takes(op, x, weight) or any([type(v) not in PLAIN for v in inputs[2:]]):
        return None
    # Few steps: between layers all of them come out of cold caches.
    key = id(op), x.shape, x.stride(), weight.shape, torch.get_num_threads()
    most = most_of_calls.get(key)
    if most is None:
        if len(most_of_calls) >= CALLS:
            most_of_calls.clear()
        most = most_of_calls[key] = most_ever(op, x, weight)
    return None if is_sparse(x, most, op.marks[0].live_fraction)[0] else dense(op, *inputs)


def most_ever(op, x, weight):
    """The part of images' elements that are not zero, up to which something of the step may be
    computed by a program of pit."""
    *extents, apart = extents_of(op, x, weight)
    sizes = dict(zip(LAYOUTS[op.layout][1], weight.shape))
    return max(most_live(*extents, apart), most_live_of_filters(
        *extents, largest_phase(op, (sizes["r"], sizes["t"])), apart))


def dense(op, x, weight, bias=None):
    """torch's."""
    images, filters, result, _ = LAYOUTS[op.layout]
    x, weight = ordered(x, images, "nchw"), ordered(weight, filters, "fcrt")
    top, bottom, left, right = op.padding
    if top != bottom or left != right:
        x, top, left = torch.nn.functional.pad(x, (left, right, top, bottom)), 0, 0
    y = torch.nn.functional.conv2d(x, weight, bias, op.stride, (top, left), op.dilation)
    if op.activation is not None:
        y = getattr(torch.nn.functional, op.activation)(y)
    return ordered(y, "nfpq", result)


def of_wanted_filters(op, arrays, out=None):
    """The result of a WantedConv2d of which a mask says what filters are wanted: torch's layer of
    these, whose gradients are torch's."""
    x, weight, *bias, mask = arrays
    _, filters, result, _ = LAYOUTS[op.layout]
    _op.result_infos(op, [NAMES[v.dtype] for v in arrays], [v.shape for v in arrays])
    live = mask.reshape(-1).nonzero()[:, 0]
    none = len(live) == 0
    if none:  # a layer has one filter at least, which then does not count
        live = live.new_zeros(1)
    picked = [v.index_select(at, live) for v, at in (
        (weight, filters.index("f")), *((b, 0) for b in bias))]
    y = dense(op, x, *picked)
    at = result.index("f")
    if none:
        y = torch.where(mask.new_zeros((), dtype=torch.bool), y, 0)
    if len(live) < mask.numel():
        whole = y.new_zeros([mask.numel() if i == at else n for i, n in enumerate(y.shape)])
        if y.dim() == 4 and y.is_contiguous(memory_format=torch.channels_last):
            whole = whole.contiguous(memory_format=torch.channels_last)
        y = whole.index_copy_(at, live, y)
    return y if out is None else out.copy_(y)


def gradients(op, x, weight, grad, needs):
    """The gradients of images and of filters, those that are needed; None: torch's is as good."""
    images, filters, result, _ = LAYOUTS[op.layout]
    sizes = dict(zip(filters, weight.shape))
    if grad.dtype != torch.float32:
        return [None, None]
    wide = ordered(x, images, "nhwc")
    grad_live = live_fraction(grad) if is_packed(grad) else None
    found = [None, None]
    if needs[0] and grad_live is not None:
        found[0] = of_images(op, wide, weight, ordered(grad, result, "npqf"), sizes, grad_live)
    if needs[1]:
        known = op.marks[0].live_fraction
        live = live_fraction(x) if known is None else known, grad_live
        by_grad = filters_plan(op, sizes, live, not wide.is_contiguous())
        if by_grad is not None:
            found[1] = of_filters(op, wide, weight, ordered(grad, result, "npqf"), sizes, by_grad)
    return found


def of_images(op, x, weight, grad, sizes, live):
    """The gradient of images (n, h, w, c), whose own is (n, p, q, f); None: torch's is as good."""
    first = not grad.is_contiguous()
    if live > most_live(sizes["f"], sizes["c"], sizes["r"] * sizes["t"], first):
        return None
    images, filters, _, _ = LAYOUTS[op.layout]
    first = first and images != "nhwc"
    rule = rule_of(ImageGradient, op, grad, weight, first, live < FEW, tuple(x.shape[1:3]))
    found = _op.call(rule, [grad, ordered(weight, filters, "rtcf")])
    return found if first else ordered(found, "nhwc", images)


def of_filters(op, x, weight, grad, sizes, by_grad):
    """The gradient of filters like `weight`."""
    _, filters, _, _ = LAYOUTS[op.layout]
    strides = weight.stride()
    order = "".join(sorted(filters, key=lambda d: -strides[filters.index(d)]))
    rule = rule_of(FilterGradient, op, x, weight, (sizes["r"], sizes["t"]), order, by_grad)
    return ordered(_op.call(rule, [x, grad]), order, filters)
