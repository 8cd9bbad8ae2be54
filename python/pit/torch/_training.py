"""Layers in training: a forward that keeps what a program of all gradients reads
(ops/_moe_training.py, ops/_padded_training.py)."""

import torch

from .. import _arrays
from ..ops import _op
from ..ops._masked_mlp import MaskedMlp, MaskedMlpGradient
from ..ops._moe import Experts, PaddedMlp
from ..ops._moe_training import ExpertsBackward, ExpertsForward
from ..ops._operand import constant_in_graphs
from ..ops._padded_training import PaddedBackward, PaddedForward
from . import _compositions, _vmap
from ._plain import PLAIN

_, _, count_modes, _, _ = _arrays.torch_modes()
library = torch.library.Library("pit", "FRAGMENT")
# `op` is what Op.encode makes; it may have several results.
library.define("run_all(Tensor[] inputs, str op) -> Tensor[]",
               tags=[torch.Tag.pt2_compliant_tag])
# The same, with gradients: of the first result, by what the op's Backward computes.
library.define("train(Tensor[] inputs, str op) -> Tensor[]", tags=[torch.Tag.pt2_compliant_tag])


def run_all(inputs, op):
    found = _op.call(_op.decode(op), list(inputs))
    return list(found) if isinstance(found, tuple) else [found]


def fake(inputs, op):
    from ._run import NAMES, TORCH_TYPES
    op = _op.decode(op)
    found = _op.result_infos(op, [NAMES[x.dtype] for x in inputs], [x.shape for x in inputs])
    return [inputs[0].new_empty(shape, dtype=TORCH_TYPES[type_]) for type_, shape in found]


for _name in ("run_all", "train"):
    for _key in ("CPU", "CUDA"):
        library.impl(_name, run_all, _key)
    torch.library.register_fake(f"pit::{_name}")(fake)

# Dims of weights in the order of memory, by whether the last two are exchanged: those of what
# goes in (x's k or the hidden f) and what comes out.
WIDE, JOINED, DOWN = ("ekf", "efk"), ("ekg", "egk"), ("efn", "enf")
FIRST, SECOND = ("fk", "kf"), ("nf", "fn")  # of padded batches, as (out, in)
EXCHANGED = {FIRST[1], SECOND[1]}
# The number of the argument that says which rows there are, and has no gradient.
SELECTOR = {ExpertsForward: 2, PaddedForward: 1}


def as_stored(weights):
    """Weights as they lie in memory, and whether that exchanged the last two dims."""
    exchanged = [not w.is_contiguous() and w.mT.is_contiguous() for w in weights]
    return [w.mT if other else w.contiguous()
            for w, other in zip(weights, exchanged)], tuple(exchanged)


@constant_in_graphs
def forward_op(activation, gated, joined, exchanged, biases=False, keep=True):
    """The string of an ExpertsForward; `exchanged` says of each weight whether it is stored as
    (experts, out, in)."""
    wide = JOINED if joined else WIDE
    layouts = (*(wide[other] for other in exchanged[:-1]), DOWN[exchanged[-1]])
    return _op.make(ExpertsForward, activation, gated, layouts, joined, biases, keep).encode()


@constant_in_graphs
def padded_forward_op(activation, biases, exchanged):
    layouts = FIRST[exchanged[0]], SECOND[exchanged[1]]
    return _op.make(PaddedForward, activation, biases, layouts).encode()


def backward_op(op, needs):
    if isinstance(op, PaddedForward):
        return _op.make(PaddedBackward, op.activation, op.biases, op.layouts, needs)
    return _op.make(ExpertsBackward, op.activation, op.gated, op.layouts, needs, op.joined, op.biases)


def gradients(op, inputs, kept, grad, needs):
    """The gradient of each argument, None of those that need none; weights are as they are stored."""
    selector = SELECTOR[type(op)]
    wanted = (*needs[:selector], *needs[selector + 1:])
    if not any(wanted):
        return [None] * len(needs)
    if torch.is_grad_enabled() or _vmap.has_batch(grad):
        with _vmap.levels_of(grad):
            return gradients_of_parts(op, inputs, grad, needs)
    grad = grad.to(inputs[0].dtype).contiguous()
    found = iter(torch.ops.pit.run_all([*inputs, grad, *kept], backward_op(op, wanted).encode()))
    return [next(found) if needed and i != selector else None for i, needed in enumerate(needs)]


def gradients_of_parts(op, inputs, grad, needs):
    """The same by the ops that the layer consists of, which take a batch of gradients, and of which
    gradients can be taken."""
    again = torch.is_grad_enabled()
    with torch.enable_grad():
        if isinstance(op, PaddedForward):
            whole = _op.make(PaddedMlp, op.activation, op.biases).encode()
            x, lengths, w1, w2, *biases = inputs
            weights = [w.mT if layout in EXCHANGED else w for w, layout in zip((w1, w2), op.layouts)]
            result = _compositions.run(whole, [x, lengths, *weights, *biases])
        else:
            result = _compositions.experts_forward(op, inputs)
    wanted = [x for x, needed in zip(inputs, needs) if needed]
    found = iter(torch.autograd.grad(result, wanted, grad, create_graph=again))
    return [next(found) if needed else None for needed in needs]


class Train(torch.autograd.Function):
    """`pit::train` for calls that are made at once."""

    @staticmethod
    def forward(ctx, op, *inputs):
        ctx.op = _op.decode(op)
        result, *kept = _op.call(ctx.op, list(inputs))
        ctx.save_for_backward(*inputs, *kept)
        return result

    @staticmethod
    def backward(ctx, grad):
        saved, needs = ctx.saved_tensors, ctx.needs_input_grad[1:]
        return None, *gradients(ctx.op, saved[: len(needs)], saved[len(needs):], grad, needs)


def setup_context(ctx, inputs, output):
    tensors, ctx.op = inputs
    ctx.save_for_backward(*tensors, *output[1:])


def backward(ctx, grads):
    saved, needs = ctx.saved_tensors, ctx.needs_input_grad[0]
    return gradients(_op.decode(ctx.op), saved[: len(needs)], saved[len(needs):], grads[0],
                     needs), None


torch.library.register_autograd("pit::train", backward, setup_context=setup_context)


class TrainLists(torch.autograd.Function):
    """The same where each expert has parameters of its own, which are views of one tensor for each
    weight, as `whole` finds."""

    @staticmethod
    def forward(ctx, op, whole, x, scales, choices, *parameters):
        ctx.op, ctx.whole = _op.decode(op), whole
        result, *kept = _op.call(ctx.op, [x, scales, choices, *whole(parameters)])
        ctx.save_for_backward(x, scales, choices, *parameters, *kept)
        return result

    @staticmethod
    def backward(ctx, grad):
        saved, needs = ctx.saved_tensors, ctx.needs_input_grad[2:]
        inputs, kept, each = saved[: len(needs)], saved[len(needs):], len(ctx.op.layouts)
        count = len(needs[3:]) // each
        groups = [needs[3 + i * count: 3 + (i + 1) * count] for i in range(each)]
        with torch.no_grad():
            weights = ctx.whole(inputs[3:])
        if torch.is_grad_enabled():
            weights = [torch.stack(inputs[3 + i * count: 3 + (i + 1) * count]) for i in range(each)]
        found = gradients(ctx.op, [*inputs[:3], *weights], kept, grad,
                          (*needs[:3], *map(any, groups)))
        of_parameters = []
        for group, of_weight in zip(groups, found[3:]):
            parts = [None] * count if of_weight is None else of_weight.unbind()
            of_parameters += [part if needed else None for part, needed in zip(parts, group)]
        return None, None, *found[:3], *of_parameters


class TrainMasked(torch.autograd.Function):
    """pit.masked_mlp whose weights are frozen: the gradient of x is one program, too."""

    @staticmethod
    def forward(ctx, op, x, mask, w1, w2, *biases):
        keeping = _op.make(MaskedMlp, op.activation, op.biases, True)
        result, kept = _op.call(keeping, [x, mask, w1, w2, *biases])
        ctx.op = op
        ctx.save_for_backward(x, mask, w1, w2, *biases, kept)
        return result

    @staticmethod
    def backward(ctx, grad):
        *inputs, kept = ctx.saved_tensors
        if torch.is_grad_enabled() or _vmap.has_batch(grad):
            with _vmap.levels_of(grad), torch.enable_grad():
                result = _compositions.run(ctx.op.encode(), inputs)
            found, = torch.autograd.grad(result, inputs[:1], grad, create_graph=True)
        else:
            rule = _op.make(MaskedMlpGradient, ctx.op.activation, ctx.op.biases)
            found = _op.call(rule, [grad.to(inputs[0].dtype).contiguous(), *inputs[1:4], kept])
        return None, found, *[None] * (len(inputs) - 1)


def run_frozen(op, tensors):
    """pit.masked_mlp where x alone has a gradient; torch's layer where the mask leaves all."""
    op, mask = _op.decode(op), tensors[1]
    if mask.count_nonzero() < mask.numel():
        return TrainMasked.apply(op, *tensors)
    x, _, w1, w2, *biases = tensors
    hidden = torch.nn.functional.linear(x, w1, biases.pop(0) if op.biases[0] else None)
    if op.activation is not None:
        hidden = getattr(torch.nn.functional, op.activation)(hidden)
    return torch.nn.functional.linear(hidden, w2, biases.pop(0) if op.biases[1] else None)


def is_frozen_mlp(op, tensors):
    """Whether a call is one of pit.masked_mlp on the CPU in which x alone has a gradient, and is
    made at once."""
    return (type(_op.decode(op)) is MaskedMlp and is_memory(tensors) and tensors[0].is_cpu
            and tensors[0].requires_grad and not any([x.requires_grad for x in tensors[1:]]))


@constant_in_graphs
def is_layer(op):
    return type(_op.decode(op)) in (Experts, PaddedMlp)


@constant_in_graphs
def is_padded(op):
    return type(_op.decode(op)) is PaddedMlp


@constant_in_graphs
def fields_of(op):
    op = _op.decode(op)
    if isinstance(op, PaddedMlp):
        return op.activation, op.biases
    return op.activation, op.gated, "halves" if op.joined else ""


def run(op, arrays, in_graph):
    """A layer of pit.moe, or pit.padded_mlp, by its string, on tensors of which some have
    gradients."""
    if is_padded(op):
        x, lengths, w1, w2, *biases = arrays
        weights, exchanged = as_stored((w1, w2))
        inputs = (x, lengths, *weights, *biases)
        return train(padded_forward_op(*fields_of(op), exchanged), inputs, in_graph)
    x, scales, choices, *weights = arrays
    weights, exchanged = as_stored(weights)
    return train(forward_op(*fields_of(op), exchanged), (x, scales, choices, *weights), in_graph)


def train(op, inputs, in_graph):
    inputs = [x.contiguous() for x in inputs]
    if in_graph or not is_memory(inputs):
        return torch.ops.pit.train(inputs, op)[0]
    return Train.apply(op, *inputs)


def is_memory(tensors):
    """Whether nothing follows calls on these tensors, and all have elements."""
    return not count_modes() and all([type(x) in PLAIN and not x.is_meta for x in tensors])
