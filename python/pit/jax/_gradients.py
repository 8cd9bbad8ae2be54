"""Tangents and gradients of ops by JAX and by pit; which ops those are says
ops/_gradients.py. `forward` and `backward` are the transposes of each other."""

import functools

import jax
import jax.numpy as jnp

from .._library import Error
from ..ops import _compositions, _conv_gradients, _op
from ..ops._conv import LAYOUTS, Conv2d
from ..ops._conv_wanted import WantedConv2d
from ..ops._gradients import (
    OF_OUTPUT, bias_gradient, count_factors, einsum_gradient, linear_in, needed, selector_of,
    selects_itself, without_activation)
from ..ops._joint_gradients import joint_gradients
from ..ops._masked_mlp import MaskedMlp
from ..ops._moe import Experts, PaddedMlp
from ._avals import NAMES


def activation_of(op):
    """Its activation, as a function of JAX."""
    function = getattr(jax.nn, op.activation)
    return functools.partial(function, approximate=False) if op.activation == "gelu" else function


def saved(op, needs):
    """Which of its arguments, and "output", the derivatives of an op need: a function."""
    if not op.differentiable:
        return lambda which: False
    if type(op) in COMPOSITIONS:
        return lambda which: which != "output"
    return needed(op, needs)


def forward(op, inputs, output, tangents, shape, dtype):
    """The tangent of the result, of a shape and an element type, from those of arguments, of
    which not all are None."""
    if not op.differentiable:
        raise Error(f"{op.name} has no derivatives")
    if type(op) in COMPOSITIONS:
        function = functools.partial(COMPOSITIONS[type(op)], op)
        return jvp_of(function, inputs, tangents)[1].astype(dtype)
    count = count_factors(op)
    selectors = inputs[-1:] if selector_of(op) else []
    parts = []  # in f32 where the result is narrower
    for i, tangent in enumerate(tangents[:count]):
        if tangent is not None:
            arrays = [*inputs[:i], tangent, *inputs[i + 1: count], *selectors]
            parts.append(_op.run(linear_in(op, i, NAMES[jnp.dtype(dtype).name]), arrays))
    if op.bias and tangents[count] is not None:
        parts.append(of_bias(op, tangents[count], selectors, shape))
    found = functools.reduce(jnp.add, parts)
    return through_activation(op, inputs, output, found).astype(dtype)


def backward(op, inputs, output, grad, needs, shapes):
    """The gradient of each argument, None where `needs` has False."""
    if not op.differentiable:
        raise Error(f"{op.name} has no gradients")
    if type(op) in COMPOSITIONS:
        return of_composition(op, inputs, grad, needs)
    grad = through_activation(op, inputs, output, grad)
    grads = [None] * len(needs)
    if isinstance(op, Conv2d):
        grads[:2] = of_convolution(op, inputs, grad, needs, shapes)
        last = [i for i, x in enumerate(LAYOUTS[op.layout][2]) if x != "f"]
        if op.bias and needs[2]:
            grads[2] = grad.sum(last)
        return grads
    count = count_factors(op)
    selectors = inputs[-1:] if selector_of(op) else []
    joint = joint_gradients(op, tuple(needs[:count]))
    together = iter(()) if joint is None else zip(joint.parts, by_joint(joint, inputs, grad))
    for i in range(count):
        if needs[i] and joint is not None:
            (rule, _), found = next(together)
            grads[i] = spread(found, rule.output, op.inputs[i], shapes[i])
        elif needs[i]:
            grads[i] = of_operand(op, i, inputs, selectors, grad, shapes[i])
    if op.bias and needs[count]:
        rule = bias_gradient(op)
        grads[count] = (grad.sum(range(grad.ndim - 1)) if rule is None
                        else _op.run(rule, [grad, *selectors]))
    return grads


def jvp_of(function, primals, tangents):
    """(the result, its tangent) of a function, where the tangents that are None are zero."""
    which = [i for i, t in enumerate(tangents) if t is not None]

    def varied(*given):
        arrays = list(primals)
        for i, x in zip(which, given):
            arrays[i] = x
        return function(*arrays)

    return jax.jvp(varied, [primals[i] for i in which], [tangents[i] for i in which])


def of_bias(op, tangent, selectors, shape):
    """The tangent of a result from that of the bias: where the result is wanted."""
    letters = LAYOUTS[op.layout][2] if isinstance(op, Conv2d) else op.output
    at = letters.index("f") if isinstance(op, Conv2d) else len(letters) - 1
    found = jnp.broadcast_to(
        tangent.reshape([-1 if i == at else 1 for i in range(len(shape))]), shape)
    mark = next((m for m in op.marks if m.operand < 0), None)
    return found if mark is None else jnp.where(wanted(op, mark, *selectors, shape), found, 0)


def wanted(op, mark, selector, shape):
    """Bools that broadcast to the shape of a result: what a mask or lengths select of it."""
    dims = tuple(op.output) if op.selector_dims is None else op.selector_dims
    if mark.source == "lengths":
        selector = jnp.arange(shape[len(dims)]) < selector[..., None]
        dims = (*dims, op.output[len(dims)])
    selector = selector.astype(bool).reshape([x for d, x in zip(dims, selector.shape) if d != 1])
    return jnp.expand_dims(selector, [i for i, d in enumerate(op.output) if d not in dims])


def through_activation(op, inputs, output, change):
    """The tangent of the result from that of what the activation is applied to, and the gradient
    with respect to that from the result's: both are times the derivative, element by element."""
    if op.activation is None:
        return change
    if op.activation in OF_OUTPUT:
        return through(op, output, change)
    value = _op.run(without_activation(op), inputs).astype(change.dtype)
    return jax.jvp(activation_of(op), (value,), (change,))[1]


def through(op, output, x):
    """A tangent, or a gradient, times the derivative that the output of an activation tells."""
    if op.activation == "relu":
        return jnp.where(output > 0, x, 0)
    if op.activation == "sigmoid":
        return x * (output * (1 - output))
    return x * (1 - output * output)


def of_operand(op, i, inputs, selectors, grad, shape):
    rule, others, ones = einsum_gradient(op, i)
    letters = op.inputs[i]
    found, have = grad, op.output
    if rule is not None:
        # A sum in a wider type has its gradient in that of the operands.
        dtype = inputs[others[0]].dtype if others else grad.dtype
        arrays = [grad.astype(dtype), *(inputs[j] for j in others)]
        if ones:
            arrays.append(jnp.ones([shape[letters.index(x)] for x in ones], dtype))
        if selector_of(rule):
            arrays += [inputs[i]] if selects_itself(op, i) else selectors
        found, have = _op.run(rule, arrays), rule.output
    return spread(found, have, letters, shape)


def by_joint(joint, inputs, grad):
    from . import _training
    return _training.gradients_of_product(joint, inputs, grad)


def spread(found, have, letters, shape):
    """A gradient with dims `have` as one of an operand, whose other dims were summed."""
    found = found.transpose([have.index(x) for x in letters if x in have])
    missing = [position for position, x in enumerate(letters) if x not in have]
    return jnp.broadcast_to(jnp.expand_dims(found, missing), shape)


def of_convolution(op, inputs, grad, needs, shapes):
    """Sparse convolutions where something tells zeros apart, else JAX's own gradients.
    Elements that a mask does not select count as zero, and get none."""
    mark = selector_of(op)
    grads = [None, None]
    for i in range(2):
        if needs[i]:
            grads[i] = _conv_gradients.gradient(TOOLS, op, i, inputs[1 - i], grad, inputs[-1],
                                                shapes[i])
            if grads[i] is not None and mark and mark.operand == i:
                grads[i] = jnp.where(inputs[-1].astype(bool), grads[i], 0)
    if all(found is not None or not need for found, need in zip(grads, needs)):
        return grads
    images, filters, result, _ = (x.upper() for x in LAYOUTS[op.layout])

    def convolve(x, weight):
        pair = [x, weight]
        if mark:
            pair[mark.operand] = jnp.where(inputs[-1].astype(bool), pair[mark.operand], 0)
        rows, columns = op.padding[:2], op.padding[2:]
        names = [images, filters.translate(TO_LAX_FILTER), result.translate(TO_LAX_RESULT)]
        return jax.lax.conv_general_dilated(
            *pair, op.stride, (rows, columns), rhs_dilation=op.dilation, dimension_numbers=names,
            feature_group_count=op.groups)

    _, pull = jax.vjp(convolve, *inputs[:2])
    return [(each if found is None else found) if need else None
            for each, found, need in zip(pull(grad), grads, needs)]


class TOOLS:
    """The functions of JAX that ops/_conv_gradients.py and ops/_compositions.py need."""

    permute = staticmethod(jnp.transpose)
    broadcast = staticmethod(jnp.broadcast_to)
    flip = staticmethod(jnp.flip)
    cast = staticmethod(jnp.astype)
    repeat = staticmethod(jnp.repeat)
    where = staticmethod(jnp.where)

    @staticmethod
    def ones(like, shape):
        return jnp.ones(shape, like.dtype)

    @staticmethod
    def pad(x, widths):
        return jax.lax.pad(x, jnp.zeros((), x.dtype), [(*each, 0) for each in widths])


# LAYOUTS names dims of filters f, c, r, t and of results n, f, p, q; lax O, I, H, W and
# N, C, H, W.
TO_LAX_FILTER = str.maketrans("FCRT", "OIHW")
TO_LAX_RESULT = str.maketrans("FPQ", "CHW")

# --------------------------------------------------------------------------
# Ops that consist of others
# --------------------------------------------------------------------------


def experts(op, *arrays):
    return _compositions.experts(TOOLS, activation_of(op), *arrays)


def padded_mlp(op, *arrays):
    return _compositions.padded_mlp(op.activation, op.biases, *arrays)


def masked_mlp(op, x, mask, w1, *rest):
    for dim, whole in enumerate((x.shape[0], w1.shape[0])):
        mask = jnp.repeat(mask, whole // max(mask.shape[dim], 1), dim, total_repeat_length=whole)
    return _compositions.masked_mlp(op.activation, op.biases, x, mask, w1, *rest)


def wanted_conv2d(op, *arrays):
    *arrays, mask = arrays
    return jnp.where(mask != 0, _op.run(op.without_mask(), arrays), 0)


COMPOSITIONS = {Experts: experts, MaskedMlp: masked_mlp, PaddedMlp: padded_mlp,
                WantedConv2d: wanted_conv2d}


def of_composition(op, inputs, grad, needs):
    """The gradients of a layer: of experts by one program, else of what it consists of."""
    if type(op) is Experts:
        from . import _training
        return _training.gradients(op, inputs, grad, needs)
    return of_parts(op, inputs, grad, needs)


def of_parts(op, inputs, grad, needs):
    """The gradients of the ops that a layer consists of, which are computed again."""
    which = [i for i, need in enumerate(needs) if need]

    def function(*varied):
        arrays = list(inputs)
        for i, x in zip(which, varied):
            arrays[i] = x
        return COMPOSITIONS[type(op)](op, *arrays)

    _, pull = jax.vjp(function, *(inputs[i] for i in which))
    grads = [None] * len(inputs)
    for i, each in zip(which, pull(grad)):
        grads[i] = each
    return grads
