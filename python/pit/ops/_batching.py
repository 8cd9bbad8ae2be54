"""How an op runs once for a batch of calls (vmap of torch and JAX): a sum of products
gets one more dimension, and rows of images, tokens or padded batches become more rows.
If neither works, one call follows the other.
"""

import functools
from dataclasses import dataclass, replace

from . import _op
from ._block_choice import BlockChoice
from ._block_means import BlockMeans
from ._conv import LAYOUTS, Conv2d
from ._einsum import ActivationGradient, Einsum
from ._gradients import selector_of
from ._moe import Experts, PaddedMlp

LETTERS = "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"


@dataclass(frozen=True)
class Place:
    """The place of the batch's dimension in an array. If it is `merged`, that and the
    next one are one dimension."""

    position: int = 0
    merged: bool = False


@dataclass(frozen=True)
class Batched:
    op: _op.Op
    arguments: tuple  # a Place for each, None: it has no batch
    result: Place


@functools.lru_cache(maxsize=1024)
def batched(op, given):
    """The Batched of an op, or None; `given` says which arguments have a batch."""
    if isinstance(op, ActivationGradient):
        return None
    if isinstance(op, Einsum):
        return widen(op, given) or fold_tokens(op, given)
    if isinstance(op, Conv2d):
        return fold(op, given, "n", LAYOUTS[op.layout][2])
    if isinstance(op, Experts):
        return fold(op, given, "t", "tn")
    if isinstance(op, BlockMeans):
        return fold(op, given, "b", "bhnd")
    if isinstance(op, BlockChoice):
        return fold(op, given, "b", "bhmn")
    return fold(op, given, "b", "bsn") if isinstance(op, PaddedMlp) else None


def widen(op, given):
    """With another dimension, which arguments have that have a batch."""
    count, needed, selector = len(op.inputs), list(given), selector_of(op)
    dims = op.selector_dims
    letter = next(x for x in LETTERS if x not in "".join((op.output, *op.inputs)))
    if op.bias and given[count]:
        return None  # a bias is a vector
    if selector is not None:
        marked = selector.operand
        if marked < 0 or given[marked] or given[-1]:
            if selector.source in ("routing", "index"):
                return None  # are about the dimensions that there are
            if selector.source == "mask" and dims is None and not given[-1]:
                dims = tuple(op.output if marked < 0 else op.inputs[marked])
            needed[-1] = given[-1] or selector.source != "mask"  # which is repeated
            if needed[-1]:
                dims = dims and (letter, *dims)
                needed[max(marked, 0)] = True  # a dimension of the result is one of an operand
    inputs = tuple(letter + each if need else each for each, need in zip(op.inputs, needed))
    marks = tuple(shift(m) if m.operand < 0 or needed[m.operand] else m for m in op.marks)
    dynamic = op.dynamic()
    if isinstance(dynamic, str):
        dynamic += letter
    wider = replace(op, inputs=inputs, output=letter + op.output, marks=marks,
                    selector_dims=dims, dynamic_names=dynamic)
    return Batched(_op.unique(wider), tuple(Place() if need else None for need in needed), Place())


def shift(mark):
    """A mark of a tensor that has got another first dimension."""
    return replace(mark, axis=None if mark.axis is None else mark.axis + 1,
                   micro_tile=None if mark.micro_tile is None else (1, *mark.micro_tile))


def fold_tokens(op, given):
    """A batch of routed tokens is more tokens."""
    selector = selector_of(op)
    if selector is None or selector.source != "routing" or selector.operand < 0:
        return None
    return fold(op, given, op.inputs[selector.operand][0], op.output)


def fold(op, given, name, output):
    """The batch becomes part of the dimension `name`. An op without that can have no
    batch."""
    dims = [argument.dims for argument in op.arguments()]
    if name not in output or any(each and name not in d for each, d in zip(given, dims)):
        return None
    places = tuple(Place(d.index(name), True) if name in d else None for d in dims)
    return Batched(op, places, Place(output.index(name), True))
