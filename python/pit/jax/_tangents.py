"""Derivatives of ops: the primitive `pit_tangent` is the tangent of an op's result, a linear
function of tangents of its arguments.

JAX makes every derivative of it. jvp and jacfwd compute it, by `forward` of _gradients.py;
grad and vjp transpose it, by `backward`. Hessians differentiate what these two run.
"""

import functools

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .._library import Error
from . import _avals, _gradients

primitive = Primitive("pit_tangent")
# Its operands are the op's arguments that the derivative needs, of the numbers `kept`, the
# op's output if it needs that, and tangents of the arguments `which`.
PARAMETERS = ("op", "which", "kept", "with_output", "shape", "dtype")


def is_zero(tangent):
    return isinstance(tangent, ad.Zero)


def differentiate(bind, primals, tangents, *, op):
    """The rule of the primitive that runs ops, whose `bind` it is."""
    output = bind(*primals, op=op)
    which = tuple(i for i, t in enumerate(tangents) if not is_zero(t))
    if not which or not jnp.issubdtype(output.dtype, jnp.inexact):
        return output, ad.Zero(_avals.type_of(output).to_tangent_aval())
    needed = _gradients.saved(op, tuple(not is_zero(t) for t in tangents))
    kept = tuple(i for i in range(len(primals)) if needed(i))
    outputs = [output] if needed("output") else []
    operands = [*(primals[i] for i in kept), *outputs, *(tangents[i] for i in which)]
    return output, primitive.bind(
        *_avals.alike(operands), op=op, which=which, kept=kept, with_output=bool(outputs),
        shape=output.shape, dtype=output.dtype)


def read(operands, op, which, kept, with_output):
    """(the op's arguments, None where they are not kept; its output, or None; tangents,
    None of other arguments)"""
    count = len(op.arguments())
    inputs, tangents = [None] * count, [None] * count
    for i, x in zip(kept, operands):
        inputs[i] = x
    for i, x in zip(which, operands[len(kept) + with_output:]):
        tangents[i] = x
    return inputs, operands[len(kept)] if with_output else None, tangents


@primitive.def_abstract_eval
def abstract(*avals, shape, dtype, **_):
    return _avals.result(avals, shape, dtype)


def compute(*operands, op, which, kept, with_output, shape, dtype):
    """The tangent, by ops and functions that have derivatives and batches themselves."""
    inputs, output, tangents = read(operands, op, which, kept, with_output)
    return _gradients.forward(op, inputs, output, tangents, shape, dtype)


def transpose(cotangent, *operands, op, which, kept, with_output, shape, dtype):
    inputs, output, tangents = read(operands, op, which, kept, with_output)
    needs = tuple(t is not None and ad.is_undefined_primal(t) for t in tangents)
    found = [None] * len(needs)
    if not is_zero(cotangent):
        shapes = [t.aval.shape if need else None for t, need in zip(tangents, needs)]
        found = _gradients.backward(op, inputs, output, cotangent, needs, shapes)
    return [*[None] * (len(operands) - len(which)), *(found[i] for i in which)]


def transpose_op(cotangent, *operands, op):
    """The rule of the primitive that runs ops: jax.linear_transpose takes one that is linear in
    an argument."""
    needs = tuple(map(ad.is_undefined_primal, operands))
    if (not op.differentiable or type(op) in _gradients.COMPOSITIONS or op.bias
            or op.activation is not None or sum(needs) != 1):
        raise Error(f"{op.name}: jax.linear_transpose takes ops that are linear in one argument, "
                    "without a bias and an activation")
    if is_zero(cotangent):
        return [None] * len(needs)
    inputs = [None if need else x for need, x in zip(needs, operands)]
    shapes = [x.aval.shape if need else None for need, x in zip(needs, operands)]
    return _gradients.backward(op, inputs, None, cotangent, needs, shapes)


def differentiate_again(operands, tangents, **parameters):
    return _gradients.jvp_of(functools.partial(compute, **parameters), operands,
                             [None if is_zero(t) else t for t in tangents])


def batch(operands, dims, **parameters):
    return jax.vmap(functools.partial(compute, **parameters), dims)(*operands), 0


ad.primitive_jvps[primitive] = differentiate_again
ad.primitive_transposes[primitive] = transpose
batching.primitive_batchers[primitive] = batch
mlir.register_lowering(primitive, mlir.lower_fun(compute, multiple_results=False))
