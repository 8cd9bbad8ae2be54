"""Layers as the ops that they consist of, for gradients, each of which is then a sparse program of its
own. `tools` has what these need of a framework.

The hidden values of a mixture of experts are (tokens, experts, f) in the op, which keeps them packed. Here
each choice of a token is a row, so that they are (tokens * top, f), and nothing larger is kept for the
gradients.
"""

from . import _op
from ._einsum import NOTHING, expert_product_op
from ._products import linear_op


def of_choices(tools, x, choices, count):
    """A row of x for each choice of a token among `count` experts, and a function that multiplies such
    rows by the experts' weights."""
    routing = choices.reshape(-1, 1)
    rows = tools.repeat(x, choices.shape[1], 0)
    here = tools.ones(x, (rows.shape[0], count))

    def product(equation, rows, weight):
        return _op.run(expert_product_op(equation), [here, rows, weight, routing])

    return rows, product


def sum_choices(tools, y, choices, router_weights):
    """What tokens get of the rows of their choices."""
    # The weight of a choice that is none counts for nothing.
    scale = tools.where(choices < 0, 0, router_weights).reshape(-1, 1)
    return (y * tools.cast(scale, y.dtype)).reshape(-1, choices.shape[1], y.shape[-1]).sum(1)


def experts(tools, activation, x, router_weights, choices, *weights):
    *wide, down = weights
    rows, product = of_choices(tools, x, choices, down.shape[0])
    *gate, up = [product("se,sk,ekf->sf", rows, w) for w in wide]
    hidden = activation(gate[0]) * up if gate else activation(up)
    return sum_choices(tools, product("se,sf,efn->sn", hidden, down), choices, router_weights)


def padded_mlp(activation, has_biases, x, lengths, *weights):
    return two_layers("padded_linear", 3, ("out", "out"), "lengths", 1, activation, has_biases, x, lengths,
                      weights)


def masked_mlp(activation, has_biases, x, mask, *weights):
    """`mask` has an element for each token and neuron."""
    return two_layers("masked_mlp", 2, ("out", "x"), "mask", None, activation, has_biases, x, mask, weights)


def two_layers(name, rank, marks, source, form, activation, has_biases, x, selector, weights):
    """`weights` are two, and behind them the biases that there are."""
    biases = list(weights[2:])
    for weight, sparse, has_bias, function in zip(weights, marks, has_biases, (activation, None)):
        layer = linear_op(name, rank, sparse, source, form, NOTHING, has_bias, function, None, None)
        x = _op.run(layer, [x, weight, *([biases.pop(0)] if has_bias else []), selector])
    return x
