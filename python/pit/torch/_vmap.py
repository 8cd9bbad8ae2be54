"""Ops on batches of torch: of torch.vmap, and of gradients that are asked for in a batch
(is_grads_batched, vectorize=True), which torch makes by an older vmap.
"""

from contextlib import contextmanager, nullcontext

import torch

from .._library import Error
from ..ops import _op
from ..ops._batching import batched


def call(apply, op, has_index, size, in_dims, inputs):
    """The result for a batch, and where it has the batch: one call where ops/_batching.py
    knows it, else one for each element. `apply(op, inputs)` runs an op."""
    given = tuple(dim is not None for dim in in_dims)
    found = batched(op, given + (False,) * has_index) if size else None
    if found is None:
        def one(i):
            return apply(op, [x if dim is None else x.select(dim, i)
                              for x, dim in zip(inputs, in_dims)])

        if size:
            return torch.stack([one(i) for i in range(size)]), 0
        # The shape of nothing is that of something.
        def of_one(x, dim):
            return x.new_zeros([1 if d == dim else n for d, n in enumerate(x.shape)])

        inputs = [x if dim is None else of_one(x, dim) for x, dim in zip(inputs, in_dims)]
        return one(0)[None][:0], 0
    together = apply(found.op, [place(x, dim, to, size)
                                for x, dim, to in zip(inputs, in_dims, found.arguments)])
    at = found.result.position
    if found.result.merged:
        together = together.unflatten(at, (size, together.shape[at] // size))
    return together, at


def place(x, dim, to, size):
    """A tensor, whose batch is its dimension `dim` (None: it has none), with that in a
    Place."""
    if to is None:
        return x
    x = x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)
    x = x.movedim(0, to.position)
    return x.flatten(to.position, to.position + 1) if to.merged else x


# --------------------------------------------------------------------------
# The older vmap
# --------------------------------------------------------------------------

# Its tensors look like those of one element, and have no memory that can be read.
enter = getattr(torch._C, "_vmapmode_increment_nesting", lambda: 1)
leave = getattr(torch._C, "_vmapmode_decrement_nesting", lambda: 0)
KEY = torch._C._dispatch_key_parse("Batched")


def level():
    """How many of them are around this call."""
    enter()
    return leave()


def has_batch(x):
    return isinstance(x, torch.Tensor) and torch._C._dispatch_keys(x).has(KEY)


def is_batch(arrays):
    """Whether one of the arrays is a batch of an older vmap."""
    return level() > 0 and any([has_batch(x) for x in arrays])


def levels_of(grad):
    """Enters those that a gradient is a batch of, where this thread is not inside of them: torch
    computes gradients of a GPU in a thread of its own, which does not know the caller's."""
    return inside(grad) if has_batch(grad) and not level() else nullcontext()


@contextmanager
def inside(x):
    depth = 0
    while has_batch(x):
        depth += 1
        x = torch._remove_batch_dim(x, depth, 1, 0)
    for _ in range(depth):
        enter()
    try:
        yield
    finally:
        for _ in range(depth):
            leave()


def run(op, arrays, out):
    """Runs an op inside of the innermost one."""
    if out is not None:
        raise Error(f"{op.name}: out= in a batch of gradients; call it without out=")
    innermost = level()
    tensors = [x for x in arrays if isinstance(x, torch.Tensor)]
    others = arrays[len(tensors):]  # an index
    # A tensor without a batch there gets one of size 1.
    inputs = [torch._remove_batch_dim(x, innermost, 1, 0) for x in tensors]
    size = next((x.shape[0] for x in inputs if x.shape[0] != 1), 1)
    in_dims = tuple(0 if x.shape[0] == size else None for x in inputs)
    inputs = [x if dim == 0 else x[0] for x, dim in zip(inputs, in_dims)]
    leave()
    try:
        result, at = call(lambda op, given: _op.run(op, [*given, *others]), op, bool(others), size,
                          in_dims, inputs)
    finally:
        enter()
    return torch._add_batch_dim(result, at, innermost)
