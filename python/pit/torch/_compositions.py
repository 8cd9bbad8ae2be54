"""Ops that consist of others, as these (ops/_compositions.py), which torch.compile traces."""

import operator

import torch

from ..ops import _compositions, _op
from ..ops._masked_mlp import MaskedMlp
from ..ops._moe import Experts, PaddedMlp
from ..ops._operand import constant_in_graphs


class TOOLS:
    """What ops/_compositions.py needs of torch."""

    repeat = staticmethod(torch.repeat_interleave)
    where = staticmethod(torch.where)

    @staticmethod
    def ones(like, shape):
        return like.new_ones(shape)

    @staticmethod
    def cast(x, dtype):
        return x.to(dtype)


@constant_in_graphs
def kind_of(op):
    return type(_op.decode(op)).__name__


@constant_in_graphs
def activation_of(op):
    return _op.decode(op).activation


@constant_in_graphs
def has_bias(op, which):
    return bool(_op.decode(op).biases[which])


def experts(op, arrays):
    return _compositions.experts(TOOLS, getattr(torch.nn.functional, activation_of(op)), *arrays)


OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}


def evaluate(formula, gate, up):
    """A formula (ops/_gates.py) of tensors."""
    if isinstance(formula, str):
        return gate if formula == "gate" else up
    if not isinstance(formula, tuple):
        return formula
    name, first, *rest = formula
    value = evaluate(first, gate, up)
    if name == "min":
        return value.clamp(max=rest[0])
    if name == "max":
        return value.clamp(min=rest[0])
    if name in OPERATORS:
        return OPERATORS[name](value, evaluate(rest[0], gate, up))
    return getattr(torch if name in ("neg", "exp") else torch.nn.functional, name)(value)


def experts_forward(op, arrays):
    """The first result of an ExpertsForward."""
    x, router_weights, choices, *rest = arrays
    weights, biases = rest[: len(op.layouts)], rest[len(op.layouts):]
    rows, multiply = _compositions.of_choices(TOOLS, x, choices, weights[-1].shape[0])
    own = choices.clamp(min=0).flatten()

    def product(rows, which, map_):
        layout = op.layouts[which].replace("g", "f")
        y = multiply(f"se,{map_},{layout}->s{'n' if map_ == 'sf' else 'f'}", rows, weights[which])
        return y + biases[which][own] if biases else y

    *gate, up = [product(rows, which, "sk") for which in range(len(weights) - 1)]
    if op.joined == "pairs":
        gate, up = [up[..., ::2]], up[..., 1::2]
    elif op.joined:
        *gate, up = up.chunk(2, -1)
    hidden = evaluate(op.formula, gate[0] if gate else None, up)
    return _compositions.sum_choices(TOOLS, product(hidden, -1, "sf"), choices, router_weights)


def padded_mlp(op, arrays):
    return _compositions.padded_mlp(activation_of(op), (has_bias(op, 0), has_bias(op, 1)), *arrays)


def masked_mlp(op, arrays):
    x, mask, w1, *rest = arrays
    if 0 in mask.shape:
        mask = mask.new_zeros((x.shape[0], w1.shape[0]))
    for dim, whole in enumerate((x.shape[0], w1.shape[0])):
        mask = mask.repeat_interleave(whole // max(mask.shape[dim], 1), dim)
    return _compositions.masked_mlp(activation_of(op), (has_bias(op, 0), has_bias(op, 1)), x, mask, w1, *rest)


FUNCTIONS = {Experts: experts, MaskedMlp: masked_mlp, PaddedMlp: padded_mlp}
BY_NAME = {cls.__name__: function for cls, function in FUNCTIONS.items()}


def run(op, arrays):
    """The setup of an op by its string."""
    return BY_NAME[kind_of(op)](op, arrays)
