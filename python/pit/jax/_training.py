"""Several gradients by one program, of a layer of experts (ops/_moe_training.py) or of a product
(ops/_joint_gradients.py): the primitive `pit_run_all`, an op with several results."""

import functools

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching

from ..ops import _op
from ..ops._joint_gradients import JointGradients
from ..ops._moe_training import ExpertsBackward
from . import _avals, _gradients

primitive = Primitive("pit_run_all")
primitive.multiple_results = True
WEIGHTS = 3  # is the number of the first one among the arguments


def gradients(op, inputs, grad, needs):
    """Gradients of each argument of `op`, an Experts; None where `needs` has False."""
    layouts = (*["ekf"] * (len(inputs) - WEIGHTS - 1), "efn")
    wanted = (*needs[:2], *needs[WEIGHTS:])
    backward = _op.make(ExpertsBackward, op.activation, op.gated, layouts, wanted, recompute=True)
    operands = _avals.alike([*inputs, grad.astype(inputs[0].dtype)])
    found = iter(primitive.bind(*operands, op=backward, layer=op))
    return [next(found) if needed and i != 2 else None for i, needed in enumerate(needs)]


def gradients_of_product(joint, inputs, grad):
    """The gradients that a JointGradients computes, in its order."""
    others = [inputs[i] for i in joint.read if i >= 0]
    operands = _avals.alike([grad.astype(others[0].dtype), *others])
    return primitive.bind(*operands, op=joint, layer=None)


def by_parts(*operands, op, layer):
    """The same by the ops that the layer consists of, which have derivatives."""
    if isinstance(op, JointGradients):
        given = dict(zip(op.read, operands))
        return [_op.run(rule, [given[i] for i in taken]) for rule, taken in op.parts]
    *inputs, grad = operands
    needs = (*op.needs[:2], False, *op.needs[2:])
    found = _gradients.of_parts(layer, inputs, grad, needs)
    return [x for x, needed in zip(found, needs) if needed]


def differentiate(primals, tangents, **parameters):
    return _gradients.jvp_of(functools.partial(by_parts, **parameters), primals,
                             [None if isinstance(t, ad.Zero) else t for t in tangents])


def batch(operands, dims, **parameters):
    if isinstance(parameters["op"], JointGradients):  # each of whose parts takes a batch
        found = jax.vmap(functools.partial(by_parts, **parameters), dims)(*operands)
        return found, [0] * len(found)
    mapped = [jnp.moveaxis(x, d, 0) for x, d in zip(operands, dims) if d is not None]

    def one(slices):
        given = iter(slices)
        return primitive.bind(*(x if d is None else next(given)
                                for x, d in zip(operands, dims)), **parameters)

    found = jax.lax.map(one, mapped)
    return found, [0] * len(found)


ad.primitive_jvps[primitive] = differentiate
batching.primitive_batchers[primitive] = batch
