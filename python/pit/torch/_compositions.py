"""Ops that consist of others, as these: for gradients, each of which is then a sparse
program of its own.

The hidden values of a mixture of experts are (tokens, experts, f) in the op, which
keeps them packed. Here each choice of a token is a row, so that they are (tokens *
top, f), and nothing larger is kept for the gradients.
"""

import operator

import torch

from ..ops import _op
from ..ops._einsum import NOTHING, expert_product_op
from ..ops._masked_mlp import MaskedMlp
from ..ops._moe import Experts, PaddedMlp
from ..ops._operand import constant_in_graphs
from ..ops._products import linear_op


@constant_in_graphs
def kind_of(op):
    return type(_op.decode(op)).__name__


@constant_in_graphs
def activation_of(op):
    return _op.decode(op).activation


@constant_in_graphs
def count_biases(op, which):
    return int(_op.decode(op).biases[which])


def product_of_experts(equation, here, rows, weight, routing):
    op = expert_product_op(equation)
    return _op.run(op, [here, rows, weight, routing])


def experts(op, arrays):
    x, router_weights, choices, *wide, down = arrays
    top, count = choices.shape[1], down.shape[0]
    routing = choices.reshape(-1, 1)
    rows = x.repeat_interleave(top, 0)
    here = x.new_ones((rows.shape[0], count))
    *gate, up = [product_of_experts("se,sk,ekf->sf", here, rows, w, routing) for w in wide]
    activation = getattr(torch.nn.functional, activation_of(op))
    hidden = activation(gate[0]) * up if gate else activation(up)
    y = product_of_experts("se,sf,efn->sn", here, hidden, down, routing)
    # The weight of a choice that is none counts for nothing.
    scale = torch.where(choices < 0, 0, router_weights).reshape(-1, 1)
    return (y * scale.to(y.dtype)).reshape(-1, top, y.shape[-1]).sum(1)


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
    top, count = choices.shape[1], weights[-1].shape[0]
    routing = choices.reshape(-1, 1)
    rows, own = x.repeat_interleave(top, 0), routing.clamp(min=0).flatten()
    here = x.new_ones((rows.shape[0], count))

    def product(rows, which, map_):
        layout = op.layouts[which].replace("g", "f")
        y = product_of_experts(f"se,{map_},{layout}->s{'n' if map_ == 'sf' else 'f'}", here, rows,
                               weights[which], routing)
        return y + biases[which][own] if biases else y

    *gate, up = [product(rows, which, "sk") for which in range(len(weights) - 1)]
    if op.joined == "pairs":
        gate, up = [up[..., ::2]], up[..., 1::2]
    elif op.joined:
        *gate, up = up.chunk(2, -1)
    hidden = evaluate(op.formula, gate[0] if gate else None, up)
    y = product(hidden, -1, "sf")
    scale = torch.where(choices < 0, 0, router_weights).reshape(-1, 1)
    return (y * scale.to(y.dtype)).reshape(-1, top, y.shape[-1]).sum(1)


def padded_mlp(op, arrays):
    x, lengths, w1, w2, *rest = arrays
    hidden, biases = x, list(rest)  # which torch.compile may have made a tuple of
    for i, weight in enumerate((w1, w2)):
        bias = [biases.pop(0)] if count_biases(op, i) else []
        layer = linear_op("padded_linear", 3, "out", "lengths", 1, NOTHING, bool(bias),
                          activation_of(op) if i == 0 else None, None, None)
        hidden = _op.run(layer, [hidden, weight, *bias, lengths])
    return hidden


def masked_mlp(op, arrays):
    x, mask, w1, w2, *rest = arrays
    biases = list(rest)
    if 0 in mask.shape:
        mask = mask.new_zeros((x.shape[0], w1.shape[0]))
    for dim, whole in enumerate((x.shape[0], w1.shape[0])):
        mask = mask.repeat_interleave(whole // max(mask.shape[dim], 1), dim)
    hidden = x
    for i, (weight, sparse) in enumerate(((w1, "out"), (w2, "x"))):
        bias = [biases.pop(0)] if count_biases(op, i) else []
        layer = linear_op("masked_mlp", 2, sparse, "mask", None, NOTHING, bool(bias),
                          activation_of(op) if i == 0 else None, None, None)
        hidden = _op.run(layer, [hidden, weight, *bias, mask])
    return hidden


FUNCTIONS = {Experts: experts, MaskedMlp: masked_mlp, PaddedMlp: padded_mlp}
BY_NAME = {cls.__name__: function for cls, function in FUNCTIONS.items()}


def run(op, arrays):
    """The setup of an op by its string."""
    return BY_NAME[kind_of(op)](op, arrays)
