"""pit.attention on tensors of torch that are more than memory: with gradients, in graphs, in
batches of vmap. The forward returns the logarithms of sums, too, of which both programs of the
backward (ops/_attention_gradients.py) compute probabilities again."""

from dataclasses import fields

import torch

from .._library import Error
from ..ops import _op
from ..ops._attention import Attention
from ..ops._attention_gradients import (
    AllGradients, BiasGradient, KeyGradient, QueryGradient, RowProducts, SlopeGradient)
from ..ops._operand import constant_in_graphs
from ..ops._paged_attention import PagedAttention
from . import _training  # noqa: F401: it defines pit::run_all

GRADIENTS = {"q": QueryGradient, "kv": KeyGradient, "qkv": AllGradients, "bias": BiasGradient,
             "alibi": SlopeGradient}


@constant_in_graphs
def is_attention(op):
    return type(_op.decode(op)) is Attention


@constant_in_graphs
def returns_logs(op):
    return _op.decode(op).with_lse


@constant_in_graphs
def names_of(op):
    return tuple(argument.name for argument in _op.decode(op).arguments())


@constant_in_graphs
def stored_names(op):
    """Arguments without gradients, where keys are another type's or read times a scale."""
    return _op.decode(op).stored_names()


def values_of(op, **changed):
    return [changed.get(f.name, getattr(op, f.name)) for f in fields(op)]


@constant_in_graphs
def with_logs(op):
    return _op.make(Attention, *values_of(_op.decode(op), with_lse=True)).encode()


@constant_in_graphs
def gradient_op(op, which):
    return _op.make(GRADIENTS[which], *values_of(_op.decode(op), with_lse=False)).encode()


@constant_in_graphs
def row_products_op():
    return _op.make(RowProducts).encode()


def over_batch(info, in_dims, inputs, op):
    """pit::run_all for each element of a batch."""
    found = [torch.ops.pit.run_all([x if dim is None else x.select(dim, i)
                                    for x, dim in zip(inputs, in_dims[0])], op)
             for i in range(info.batch_size)]
    return [torch.stack(each) for each in zip(*found)], [0] * len(found[0])


torch.library.register_vmap("pit::run_all", over_batch)


def sum_to(found, shape):
    """The result of the program without dims of size 1."""
    return found.reshape(shape) if found.numel() == shape.numel() else found.sum().reshape(shape)


def is_in_one_loop(q):
    """Have all gradients one program? Blocks of its loop add to that of q in any order."""
    return (q.is_cuda and q.dtype in (torch.float16, torch.bfloat16)
            and not torch.are_deterministic_algorithms_enabled())


class Differentiated(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(op, *inputs):
        result, logs = torch.ops.pit.run_all(list(inputs), op)
        return result, logs

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.op, *tensors = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors, *output)

    @staticmethod
    def backward(ctx, grad, of_logs):
        *tensors, result, logs = ctx.saved_tensors
        needs = ctx.needs_input_grad[1:]
        wide = logs.dtype
        grad = torch.zeros_like(result) if grad is None else grad.to(result.dtype)
        delta, = torch.ops.pit.run_all([grad, result], row_products_op())
        if of_logs is not None:
            delta = delta - of_logs
        # A row that is nothing has -inf, from which no score can be subtracted; half of the least
        # number is finite in units of log(2), too.
        arrays = [*tensors, grad, logs.clamp_min(torch.finfo(wide).min / 2), delta]
        grads = [None] * len(tensors)
        if all(needs[:3]) and is_in_one_loop(tensors[0]):
            grads[:3] = torch.ops.pit.run_all(arrays, gradient_op(ctx.op, "qkv"))
        else:
            if needs[0]:
                grads[0], = torch.ops.pit.run_all(arrays, gradient_op(ctx.op, "q"))
            if needs[1] or needs[2]:
                grads[1], grads[2] = torch.ops.pit.run_all(arrays, gradient_op(ctx.op, "kv"))
        names = names_of(ctx.op)
        for name in ("bias", "alibi"):
            if name in names and needs[names.index(name)]:
                given = tensors[names.index(name)]
                found, = torch.ops.pit.run_all(arrays, gradient_op(ctx.op, name))
                grads[names.index(name)] = sum_to(found, given.shape).to(given.dtype)
        if "sink_logits" in names and needs[names.index("sink_logits")]:
            sinks = tensors[names.index("sink_logits")]
            part = torch.exp(sinks.to(wide)[:, None] - logs) * -delta
            grads[names.index("sink_logits")] = part.sum((0, 2)).to(sinks.dtype)
        return None, *grads


def run_all(op, tensors, out):
    found = torch.ops.pit.run_all(list(tensors), op)
    if out is not None:
        outs = out if isinstance(out, (tuple, list)) else [out]
        found = [to.copy_(x) for to, x in zip(outs, found)]
    return tuple(found) if returns_logs(op) else found[0]


def each_once(tensors):
    """Tensors that are given twice, as x of attention(x, x, x), as others of the same memory: a graph of
    torch.compile takes none twice for a Function."""
    if not torch.compiler.is_compiling():
        return tensors
    return [x.view_as(x) if any([x is y for y in tensors[:i]]) else x for i, x in enumerate(tensors)]


def run(op, tensors, index, differentiated, out):
    """The result, or with the logarithms, by the op's string."""
    if differentiated:
        if index is not None:
            raise Error("attention: keys that an index= lists have no gradients; pass a mask or blocks")
        for name, x in zip(names_of(op), tensors):
            if name in stored_names(op) and x.requires_grad:
                raise Error(f"attention: {name} is of a cache or of 8 bits, and has no gradient; "
                            f"pass {name}.detach()")
        result, logs = Differentiated.apply(with_logs(op), *each_once(tensors))
        return (result, logs) if returns_logs(op) else result
    if index is not None:
        return _op.call(_op.decode(op), [*tensors, index], out)
    return run_all(op, tensors, out)


@constant_in_graphs
def is_paged(op):
    return type(_op.decode(op)) is PagedAttention


def run_paged(op, tensors, differentiated, out):
    if differentiated:
        raise Error("paged_attention: it has no gradients; call it under torch.no_grad()")
    return run_all(op, tensors, out)
