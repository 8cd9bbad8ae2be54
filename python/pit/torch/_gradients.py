"""Gradients of ops by torch and by pit; which ops those are says ops/_gradients.py."""

import functools
from dataclasses import replace

import torch

from .. import _arrays
from .._library import Error
from ..ops import _conv_gradients, _op
from ..ops._conv import LAYOUTS, Conv2d
from ..ops._conv_wanted import WantedConv2d
from ..ops._einsum import Einsum
from ..ops._gradients import (
    activation_gradient, bias_gradient, count_factors, einsum_gradient, needed, selector_of,
    selects_itself, without_activation)
from ..ops._joint_gradients import joint_gradients
from ..ops._operand import order_of
from . import _convolutions, _sharding, _training, _vmap
from ._plain import PLAIN

_, transforms, _, _, _ = _arrays.torch_modes()

plans = {}  # what `saved` returns, by id of the op (which lives for ever) and needs


def saved(op, needs):
    """The tensors that the gradients of an op need: numbers of tensors, and whether its result.
    `needs` has a bool for each tensor, which says that its gradient is wanted."""
    found = plans.get((id(op), needs))
    if found is None:
        rule = RULES.get(type(op))
        is_needed = rule.saved(op, needs) if rule else lambda which: False
        found = plans[id(op), needs] = (
            tuple(i for i in range(len(needs)) if is_needed(i)), is_needed("output"))
    return found


def orders_of_memory(op, tensors):
    """The order of dims in which each operand of a sum lies without gaps, None where that is the usual
    one, or it has no other that the op may take. Nothing if that holds for all."""
    if type(op) is not Einsum:
        return ()
    orders = [None if type(x) not in PLAIN or x.is_contiguous() or not op.permutable(i)
              else order_of(tuple(x.shape), x.stride())
              for i, x in enumerate(tensors[:len(op.inputs)])]
    return orders if any(orders) else ()


def in_orders(op, orders, inputs, shapes):
    """An op, its tensors and their shapes, with operands' dims in such orders."""
    letters, inputs, shapes = list(op.inputs), list(inputs), list(shapes)
    for i, order in enumerate(orders):
        if order:
            letters[i] = "".join(letters[i][d] for d in order)
            shapes[i] = tuple(shapes[i][d] for d in order)
            if inputs[i] is not None:
                inputs[i] = inputs[i].permute(order)
    return _op.unique(replace(op, inputs=tuple(letters))), inputs, shapes


def backward(op, inputs, output, grad, needs, shapes, orders=()):
    """The gradient of each argument, None where `needs` has False. Gradients of operands lie in memory as
    `orders`, which orders_of_memory has told, says of these: autograd would copy them, as that of a
    weight of (k, n) that a layer has as (n, k)."""
    if orders:
        op, inputs, shapes = in_orders(op, orders, inputs, shapes)
        grads = backward(op, inputs, output, grad, needs, shapes)
        for i, order in enumerate(orders):
            if order and grads[i] is not None:
                grads[i] = grads[i].permute([order.index(d) for d in range(len(order))])
        return grads
    rule = RULES.get(type(op))
    if not op.differentiable:
        raise Error(f"{op.name} has no gradients")
    if rule is None:
        raise Error(f"{op.name}: gradients of this op are those of the ops that it consists of; "
                    "call it through pit, not through torch.ops")
    return rule.backward(op, inputs, output, grad, needs, shapes)


@functools.lru_cache(maxsize=1024)
def multilinear(op, bias):
    """An op without its activation, with or without its bias: a sum of products, linear in each
    operand. Facts about the values of operands do not hold for their tangents."""
    marks = tuple(replace(mark, assume=False, live_fraction=None) for mark in op.marks)
    return _op.unique(replace(op, marks=marks, activation=None, bias=bias))


def forward(op, inputs, output, tangents):
    """The tangent of the result of an op: the sum of those that each operand's makes. `tangents`
    has None for a tensor that has none."""
    if type(op) not in RULES:
        raise Error(f"{op.name} has no gradients")
    count = count_factors(op)
    of_bias = tangents[count] if op.bias else None
    factors, selectors = list(inputs[:count]), inputs[count + op.bias:]
    moved = [(i, x) for i, x in enumerate(tangents[:count]) if x is not None]
    if not moved and of_bias is not None:
        moved = [(0, torch.zeros_like(factors[0]))]  # the op selects what of a bias is there
    total = None
    for i, x in moved:
        bias = [of_bias] if total is None and of_bias is not None else []
        arrays = [*factors[:i], x, *factors[i + 1:], *bias, *selectors]
        term = _op.run(multilinear(op, bool(bias)), arrays)
        total = term if total is None else total + term
    return None if total is None else linear_part(op, inputs, output, total)


def linear_part(op, inputs, output, grad):
    """The gradient with respect to what an activation is applied to; or, from a tangent of
    that, the tangent of the result: both are products with the same derivatives."""
    if op.activation is None:
        return grad
    if op.activation == "relu":
        return torch.ops.aten.threshold_backward(grad, output, 0)
    if op.activation == "sigmoid":
        return grad * (output * (1 - output))
    if op.activation == "tanh":
        return grad * (1 - output * output)
    if isinstance(op, Einsum) and not torch.is_grad_enabled():
        # One program: nothing of the sum is stored.
        given = len(op.inputs) + op.bias
        return _op.run(activation_gradient(op), [*inputs[:given], grad, *inputs[given:]])
    before = _op.run(without_activation(op), inputs).to(grad.dtype)
    if op.activation == "silu":
        if not torch.is_grad_enabled():
            return torch.ops.aten.silu_backward(grad, before)
        part = torch.sigmoid(before)  # the op above has no gradient of its own
        return grad * (part * (1 + before * (1 - part)))
    assert op.activation == "gelu", op.activation
    return torch.ops.aten.gelu_backward(grad, before)


# --------------------------------------------------------------------------
# Sums of products
# --------------------------------------------------------------------------


class EinsumRule:
    saved = staticmethod(needed)

    @staticmethod
    def backward(op, inputs, output, grad, needs, shapes):
        count = len(op.inputs)
        grads = [None] * len(needs)
        selectors = inputs[-1:] if selector_of(op) else []
        grad = linear_part(op, inputs, output, grad)
        joint = joint_gradients(op, tuple(needs[:count]))
        if joint is not None and EinsumRule.runs_jointly(grad):
            found = EinsumRule.run_jointly(joint, inputs, grad)
            for i in range(count):
                if needs[i]:
                    grads[i] = spread(next(found), next(found), op.inputs[i], shapes[i])
        else:
            for i in range(count):
                if needs[i]:
                    grads[i] = EinsumRule.of_operand(op, i, inputs, selectors, grad, shapes[i])
        if op.bias and needs[count]:
            rule = bias_gradient(op)
            if rule is None:
                grads[count] = grad.sum(tuple(range(grad.dim() - 1)))
            else:
                grads[count] = _op.run(rule, [grad, *selectors])
        return grads

    @staticmethod
    def of_operand(op, i, inputs, selectors, grad, shape):
        rule, others, ones = einsum_gradient(op, i)
        letters = op.inputs[i]
        if rule is not None and takes_dense(op, i, selectors, grad.is_cuda):
            factors = ",".join([op.output, *(op.inputs[j] for j in others)])
            return torch.einsum(f"{factors}->{letters}", grad.to(inputs[others[0]].dtype),
                                *(inputs[j] for j in others))
        if any([mark.packed and mark.operand == i for mark in op.marks]):
            shape = selectors[0].shape
        if rule is None:
            found, have = grad, op.output
        else:
            # A sum in a wider type has its gradient in that of the operands.
            dtype = inputs[others[0]].dtype if others else grad.dtype
            arrays = [grad.to(dtype), *(inputs[j] for j in others)]
            if ones:
                arrays.append(grad.new_ones([shape[letters.index(x)] for x in ones], dtype=dtype))
            if selector_of(rule):
                arrays += [inputs[i]] if selects_itself(op, i) else selectors
            found, have = _op.run(rule, arrays), rule.output
            if rule.has_packed_result():
                return found
        return spread(found, have, letters, shape)

    @staticmethod
    def runs_jointly(grad):
        """Whether several gradients may be one program, which has no gradients of its own, and no
        rule for a batch or a part of it."""
        return not (torch.is_grad_enabled() or transforms() is not None or _vmap.has_batch(grad)
                    or _sharding.is_distributed(grad))

    @staticmethod
    def run_jointly(joint, inputs, grad):
        """Pairs of a gradient and its dims, one after the other."""
        others = [inputs[i] for i in joint.read if i >= 0]
        arrays = [grad.to(others[0].dtype), *others]
        found = (_op.call(joint, arrays) if _training.is_memory(arrays)
                 else torch.ops.pit.run_all(arrays, joint.encode()))
        for gradient, (rule, _) in zip(found, joint.parts):
            yield gradient
            yield rule.output


def takes_dense(op, i, selectors, on_gpu):
    """Whether a gradient is a dense product, as an index says what of another operand is there, in blocks
    along a dim that is summed up. A program would add a part for each block, which takes a GPU ten times as
    long. The other operand is promised to be 0 elsewhere."""
    mark = selector_of(op)
    if not on_gpu or mark is None or mark.source != "index" or mark.packed or not mark.assume:
        return False
    if mark.operand < 0 or mark.operand == i:
        return False
    index, letters = selectors[0], op.inputs[mark.operand]
    return any(size and d != index.axis and letters[d] not in op.inputs[i]
               for d, size in enumerate(index.micro_tile))


def spread(found, have, letters, shape):
    """A gradient with dims `have` as one of an operand, whose other dims were summed."""
    if have != letters:
        kept = "".join(x for x in letters if x in have)
        found = found.permute([have.index(x) for x in kept])
        for position, x in enumerate(letters):
            if x not in have:
                found = found.unsqueeze(position)
        found = found.expand(shape)
    return found


# --------------------------------------------------------------------------
# Convolutions
# --------------------------------------------------------------------------


class ConvRule:
    """Sparse convolutions where something tells zeros apart, else torch's own gradients.
    If pixels are selected by a mask, the others count as zero, and get none."""

    saved = staticmethod(needed)

    @staticmethod
    def backward(op, inputs, output, grad, needs, shapes):
        grad = linear_part(op, inputs, output, grad)
        mask = selector_of(op)
        grads = [None] * len(needs)
        plain = _convolutions.takes(op, *inputs[:2]) and not torch.is_grad_enabled()
        if plain:
            grads[:2] = _convolutions.gradients(op, *inputs[:2], grad, needs[:2])
        for i in range(2):
            if needs[i] and not plain:
                grads[i] = _conv_gradients.gradient(TOOLS, op, i, inputs[1 - i], grad, inputs[-1],
                                                    shapes[i])
                if grads[i] is not None and mask and mask.operand == i:
                    grads[i] = torch.where(inputs[-1].bool(), grads[i], 0)
        dense = [needs[i] and grads[i] is None for i in range(2)]
        if any(dense):
            pair = list(inputs[:2])
            if mask:
                pair[mask.operand] = torch.where(inputs[-1].bool(), pair[mask.operand], 0)
            images, filters, result, _ = LAYOUTS[op.layout]
            x, weight = reorder(pair[0], images, "nchw"), reorder(pair[1], filters, "fcrt")
            # torch's padding is the same on both sides; what one has more is padded here.
            top, bottom, left, right = op.padding
            least = [min(top, bottom), min(left, right)]
            more = [(0, 0), (0, 0), (top - least[0], bottom - least[0]),
                    (left - least[1], right - least[1])]
            found = list(torch.ops.aten.convolution_backward(
                reorder(grad, result, "nfpq"), TOOLS.pad(x, more), weight, None, op.stride, least,
                op.dilation, False, [0, 0], op.groups, [*dense, False]))
            if dense[0]:
                found[0] = TOOLS.pad(found[0], [(-before, -after) for before, after in more])
            for i, (letters, usual) in enumerate(((images, "nchw"), (filters, "fcrt"))):
                if dense[i]:
                    each = reorder(found[i], usual, letters)
                    if mask and mask.operand == i:
                        each = torch.where(inputs[-1].bool(), each, 0)
                    grads[i] = each
        if op.bias and needs[2]:
            dims = LAYOUTS[op.layout][2]
            grads[2] = grad.sum([i for i, x in enumerate(dims) if x != "f"])
        return grads


class WantedRule:
    """An element that is not wanted is 0 whatever it is made of: its gradient goes nowhere. So the incoming
    gradient has zeros, which the gradients of a plain convolution skip."""

    saved = ConvRule.saved

    @staticmethod
    def backward(op, inputs, output, grad, needs, shapes):
        grad = torch.where(inputs[-1].bool(), grad, 0)
        found = ConvRule.backward(op.without_mask(), inputs[:-1], output, grad, needs[:-1], shapes[:-1])
        return [*found, None]


class TOOLS:
    """The functions of torch that ops/_conv_gradients.py needs."""

    permute = staticmethod(torch.permute)
    broadcast = staticmethod(torch.broadcast_to)
    flip = staticmethod(torch.flip)
    cast = staticmethod(torch.Tensor.to)

    @staticmethod
    def pad(x, widths):
        flat = [width for pair in reversed(widths) for width in pair]
        return torch.nn.functional.pad(x, flat) if any(flat) else x


def reorder(x, have, want):
    return x if have == want else x.permute([have.index(d) for d in want])


RULES = {Einsum: EinsumRule, Conv2d: ConvRule, WantedConv2d: WantedRule}
