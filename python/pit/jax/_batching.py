"""Ops under jax.vmap: one call for the batch where ops/_batching.py knows it, else one
element after the other."""

import jax
import jax.numpy as jnp

from ..ops._batching import batched


def batch(bind, arrays, dims, *, op):
    """The rule of a primitive: (the result, its dimension of the batch)."""
    size = next(x.shape[d] for x, d in zip(arrays, dims) if d is not None)
    arrays = [x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(arrays, dims)]
    given = tuple(d is not None for d in dims)
    found = batched(op, given)
    if found is None:
        return one_by_one(bind, op, arrays, given), 0
    together = bind(*(place(x, has, to, size) for x, has, to in zip(
        arrays, given, found.arguments)), op=found.op)
    at = found.result.position
    if found.result.merged:
        shape = together.shape
        together = together.reshape(*shape[:at], size, shape[at] // size, *shape[at + 1:])
    return together, at


def place(x, has_batch, to, size):
    """An array with its batch in a Place."""
    if to is None:
        return x
    if not has_batch:
        x = jnp.broadcast_to(x, (size, *x.shape))
    x = jnp.moveaxis(x, 0, to.position)
    if to.merged:
        shape, at = x.shape, to.position
        x = x.reshape(*shape[:at], shape[at] * shape[at + 1], *shape[at + 2:])
    return x


def one_by_one(bind, op, arrays, given):
    def one(mapped):
        mapped = iter(mapped)
        return bind(*(next(mapped) if has else x for x, has in zip(arrays, given)), op=op)

    return jax.lax.map(one, [x for x, has in zip(arrays, given) if has])
