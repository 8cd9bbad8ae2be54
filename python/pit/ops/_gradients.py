"""Which ops the gradients of ops are, for every framework: each a sparse program of
its own, or several in one (_joint_gradients.py).

Of a sum of products y = a b, where a selector S (a mask, lengths, a routing, an
index) says which elements of a are there: dA = S (dY b), of which only what S
selects is computed, and dB = a dY with a marked as it is in y. If the values of a
say what is there, dA is wanted everywhere, because an element that is zero has a
gradient, unless the caller says that it needs none (sparse_grad): then a itself
selects. If S selects what of y is wanted, dY is marked by S.
"""

import functools
from dataclasses import fields, replace

from . import _op
from ._conv import Conv2d
from ._einsum import ActivationGradient, Einsum
from ._op import Mark
from ._text import wide_type

OF_OUTPUT = ("relu", "sigmoid", "tanh")  # have a derivative that their result tells


def selector_of(op):
    """The mark that an argument selects by; there is at most one."""
    return next((m for m in op.marks if m.source != "values"), None)


def count_factors(op):
    """How many arguments, the first ones, are multiplied."""
    return 2 if isinstance(op, Conv2d) else len(op.inputs)


def needed(op, needs):
    """Which arguments of a sum of products or a convolution, and "output", its derivatives need: a
    function. `needs` says of which arguments derivatives are wanted."""
    some, count = any(needs), count_factors(op)
    from_output = some and op.activation in OF_OUTPUT
    recomputed = some and op.activation is not None and not from_output

    def is_needed(which):
        if which == "output":
            return from_output
        if recomputed:
            return True
        if which >= count:
            return which >= count + op.bias and some  # the selector
        return any(need for i, need in enumerate(needs[:count])
                   if i != which or isinstance(op, Conv2d) or selects_itself(op, i))

    return is_needed


@functools.lru_cache(maxsize=1024)
def without_activation(op):
    return _op.unique(replace(op, activation=None))


def without_sparse_grad(op):
    return _op.unique(replace(op, marks=tuple(replace(m, sparse_grad=False) for m in op.marks)))


@functools.lru_cache(maxsize=1024)
def activation_gradient(op):
    """The op that makes the gradient of the sum from that of the result."""
    return _op.make(ActivationGradient, **{
        f.name: getattr(op, f.name) for f in fields(op) if f.name != "name"},
        name=f"{op.name}_dsum")


@functools.lru_cache(maxsize=4096)
def linear_in(op, i, type_):
    """The op that makes a tangent of the result of one of operand i: without what comes
    after the sum. A tangent has no zeros where its operand has, unless a selector says so.
    `type_` is the result's, which a sum of several tangents rounds to."""
    marks = []
    for mark in op.marks:
        if mark.operand != i:
            marks.append(mark)
        elif mark.source != "values":
            marks.append(replace(mark, assume=False))
    fields = {"marks": tuple(marks), "bias": False, "activation": None}
    if isinstance(op, Einsum):
        fields["dtype"] = wide_type(type_)
        fields["ones"] = tuple(j for j in op.ones if j != i)
    return _op.unique(replace(op, **fields))


@functools.lru_cache(maxsize=4096)
def einsum_gradient(op, i):
    """(the op, which operands it takes beside dY, dims of a vector of ones that it
    takes too) of the gradient of operand i. The op is None where nothing has to be
    multiplied, and selected."""
    others = [j for j in range(len(op.inputs)) if j != i]
    letters = "".join([op.output, *(op.inputs[j] for j in others)])
    marks = []
    for mark in op.marks:
        if mark.operand < 0:
            marks.append(Mark(0, mark.source, mark.packed, packed=mark.packed))
        elif mark.operand != i:
            marks.append(Mark(1 + others.index(mark.operand), mark.source, mark.assume,
                              live_fraction=mark.live_fraction, packed=mark.packed))
        elif mark.source != "values":
            marks.append(Mark(-1, mark.source, packed=mark.packed))
        elif mark.sparse_grad:
            # The results beside it are right, too.
            marks.append(Mark(-1, "nonzero", assume=True))
    if op.activation == "relu" and not marks:
        marks.append(Mark(0))  # no gradient goes through a zero
    ones = "".join(x for x in op.inputs[i] if x not in letters)
    inputs = (op.output, *(op.inputs[j] for j in others))
    output = op.inputs[i]
    if not selector_of(op):
        output = "".join(x for x in output if x not in ones)
        ones = ""
    known = tuple(1 + others.index(j) for j in op.ones if j != i)
    if ones:
        known += (len(inputs),)
        inputs = (*inputs, ones)
    if len(inputs) == 1 and not marks:
        return None, (), ""
    gradient = _op.make(Einsum, f"{op.name}_d{chr(ord('a') + i)}", inputs, output, tuple(marks),
                        None, op.selector_dims, dynamic_names=op.dynamic(), ones=known)
    return gradient, tuple(others), ones


def selects_itself(op, i):
    """Whether the gradient of operand i is only wanted where that is not zero: it is the selector
    of its gradient's op."""
    return any(mark.operand == i and mark.sparse_grad for mark in op.marks)


@functools.lru_cache(maxsize=1024)
def bias_gradient(op):
    """The sum over rows of what is wanted; None: of all."""
    marks = tuple(Mark(0, m.source) for m in op.marks if m.operand < 0)
    if not marks:
        return None
    return _op.make(Einsum, f"{op.name}_dbias", (op.output,), op.output[-1], marks, None,
                    op.selector_dims, dynamic_names=op.dynamic())
