"""Types of JAX's arrays: their elements, and over which axes of a mesh they vary.

An op of pit runs whole on each device. Inside of jax.shard_map, whose axes are manual,
JAX therefore has to know two things of every primitive of pit, or gradients lack sums
over shards without an error:

1. The operands of a primitive vary over the same axes. `alike` makes it so, by casts of
   JAX. The transpose of such a cast is the sum over the axes.
2. A result varies over the axes that the operands vary over. `result` makes such avals.

Outside of shard_map an axis may be explicit (part of the types of arrays). There the
operands, and so the results, are replicated: `alike` does that, too.
"""

import jax
import jax.numpy as jnp
import numpy
from jax.sharding import PartitionSpec

from .. import _types

NAMES = {t.array: t.name for t in _types.TYPES}  # of element types
DTYPES = {t.name: numpy.dtype(jnp.dtype(t.array)) for t in _types.TYPES}


def varying(aval):
    """The axes that arrays of a type vary over, inside of shard_map."""
    manual = getattr(aval, "mat", None)  # of JAX 0.10; before there was `vma`
    return getattr(aval, "vma", frozenset()) if manual is None else manual.varying


def type_of(x):
    return jax.typeof(x) if hasattr(jax, "typeof") else jax.core.get_aval(x)


def vary(x, axes):
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(x, axes, to="varying")
    return jax.lax.pvary(x, axes)


def is_split(aval):
    """Whether its type says that it is split over explicit axes."""
    sharding = getattr(aval, "sharding", None)
    return any(part is not None for part in getattr(sharding, "spec", ()))


def replicated(aval, rank=None):
    rank = len(aval.shape) if rank is None else rank
    return aval.sharding.update(spec=PartitionSpec(*[None] * rank))


def alike(arrays):
    """The arrays as operands of one primitive."""
    avals = [type_of(x) for x in arrays]
    arrays = [jax.sharding.reshard(x, replicated(aval)) if is_split(aval) else x
              for x, aval in zip(arrays, avals)]
    axes = frozenset().union(*map(varying, avals))
    return [vary(x, tuple(sorted(axes - varying(aval), key=str))) if axes - varying(aval) else x
            for x, aval in zip(arrays, avals)]


def result(avals, shape, dtype):
    """The type of a result of a primitive that has operands of such types."""
    axes = {varying(aval) for aval in avals}
    if len(axes) > 1:
        raise TypeError(f"operands of pit vary over the axes {sorted(map(sorted, axes))} of a mesh; "
                        "they have to vary over the same ones")
    like = next((a for a in avals if not a.sharding.mesh.empty), None)
    if like is None:
        return jax.core.ShapedArray(shape, dtype)
    return like.update(shape=shape, dtype=dtype, weak_type=False,
                       sharding=replicated(like, len(shape)))
