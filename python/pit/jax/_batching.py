"""Ops under jax.vmap: a sum of products gets one more dimension, and where it cannot,
and for other ops, one element of the batch is computed after the other."""

from dataclasses import replace

import jax
import jax.numpy as jnp

from ..ops import _op
from ..ops._einsum import Einsum
from ..ops._gradients import selector_of

LETTERS = "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"


def batch(bind, arrays, dims, *, op):
    """The rule of a primitive: (the result, its dimension of the batch)."""
    size = next(x.shape[d] for x, d in zip(arrays, dims) if d is not None)
    arrays = [x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(arrays, dims)]
    batched = [d is not None for d in dims]
    wider = widen(op, batched) if isinstance(op, Einsum) else None
    if wider is None:
        return in_turn(bind, op, arrays, batched), 0
    op, needed = wider
    arrays = [jnp.broadcast_to(x, (size, *x.shape)) if need and not have else x
              for x, have, need in zip(arrays, batched, needed)]
    return bind(*arrays, op=op), 0


def in_turn(bind, op, arrays, batched):
    def one(mapped):
        mapped = iter(mapped)
        return bind(*(next(mapped) if b else x for x, b in zip(arrays, batched)), op=op)

    return jax.lax.map(one, [x for x, b in zip(arrays, batched) if b])


def widen(op, batched):
    """(the op with a dimension of a batch, which of its arguments have that), or None."""
    count, needed, selector = len(op.inputs), list(batched), selector_of(op)
    if op.bias and batched[count]:
        return None  # a bias is a vector
    if selector is not None:
        marked = selector.operand
        with_selector = marked < 0 or batched[marked] or batched[-1]
        if with_selector and selector.source == "routing":
            return None  # is about two dimensions
        if with_selector:
            needed[-1] = True
            needed[max(marked, 0)] = True  # a dimension of the result is one of an operand
    letter = next(x for x in LETTERS if x not in "".join((op.output, *op.inputs)))
    inputs = tuple(letter + each if need else each for each, need in zip(op.inputs, needed))
    marks = tuple(shift(m) if m.operand < 0 or needed[m.operand] else m for m in op.marks)
    dynamic = op.dynamic()
    if isinstance(dynamic, str):
        dynamic += letter
    wider = replace(op, inputs=inputs, output=letter + op.output, marks=marks,
                    lengths_rank=op.lengths_rank + (op.lengths_rank > 0),
                    dynamic_names=dynamic)
    return _op.unique(wider), needed


def shift(mark):
    """A mark of a tensor that has got another first dimension."""
    return replace(mark, axis=None if mark.axis is None else mark.axis + 1,
                   micro_tile=None if mark.micro_tile is None else (1, *mark.micro_tile))
