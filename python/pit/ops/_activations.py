"""Activations of layers and their derivatives, in the bodies of element-wise ops: functions of a
body, the name of an element type, and a value of it."""

from .._library import Error


def relu(body, type_, x):
    larger = "arith.maxsi" if type_.startswith("i") else "arith.maximumf"
    return body.op(larger, type_, x, body.constant(0, type_))


def sigmoid(body, type_, x):
    return body.divide(type_, body.constant(1, type_), one_and_power(body, type_, x))


def silu(body, type_, x):
    return body.divide(type_, x, one_and_power(body, type_, x))


def one_and_power(body, type_, x):
    """1 + exp(-x)."""
    power = body.exp(type_, body.op("arith.negf", type_, x))
    return body.add(type_, power, body.constant(1, type_))


def tanh(body, type_, x):
    return body.op("math.tanh", type_, x)


def gelu(body, type_, x):
    scaled = body.mul(type_, x, body.constant(0.5**0.5, type_))
    power = body.add(type_, body.erf(type_, scaled), body.constant(1, type_))
    return body.mul(type_, body.mul(type_, x, body.constant(0.5, type_)), power)


# Functions of one element by their names; gelu is the one with erf.
ACTIVATIONS = {"relu": relu, "sigmoid": sigmoid, "silu": silu, "tanh": tanh, "gelu": gelu}


def check_activation(name, activation):
    """Raises an error of the op `name` unless the activation is known, or None."""
    if activation is not None and activation not in ACTIVATIONS:
        raise Error(f"{name}: no activation '{activation}'; there are: {', '.join(ACTIVATIONS)}")


def relu_and_slope(body, type_, x):
    zero, one = body.constant(0, type_), body.constant(1, type_)
    live = body.emit(f"arith.cmpf ogt, {x}, {zero} : {type_}")
    return relu(body, type_, x), body.emit(
        f"arith.select {live}, {one}, {zero} : {type_}")


def sigmoid_and_slope(body, type_, x):
    value = sigmoid(body, type_, x)
    return value, body.mul(type_, value, minus(body, type_, value))


def silu_and_slope(body, type_, x):
    part = sigmoid(body, type_, x)
    value = body.mul(type_, x, part)
    return value, body.add(type_, part, body.mul(type_, value, minus(body, type_, part)))


def tanh_and_slope(body, type_, x):
    value = tanh(body, type_, x)
    return value, minus(body, type_, body.mul(type_, value, value))


def gelu_and_slope(body, type_, x):
    scaled = body.mul(type_, x, body.constant(0.5**0.5, type_))
    part = body.add(type_, body.erf(type_, scaled), body.constant(1, type_))
    part = body.mul(type_, part, body.constant(0.5, type_))
    power = body.exp(type_, body.op("arith.negf", type_, body.mul(type_, scaled, scaled)))
    normal = body.mul(type_, power, body.constant(0.3989422804014327, type_))
    return body.mul(type_, x, part), body.add(type_, part, body.mul(type_, x, normal))


def minus(body, type_, x):
    """1 - x."""
    return body.op("arith.subf", type_, body.constant(1, type_), x)


# Values and derivatives.
VALUES_AND_SLOPES = {"relu": relu_and_slope, "sigmoid": sigmoid_and_slope, "silu": silu_and_slope,
                     "tanh": tanh_and_slope, "gelu": gelu_and_slope}
assert VALUES_AND_SLOPES.keys() == ACTIVATIONS.keys()
