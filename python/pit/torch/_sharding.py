"""How torch's DTensors go through `pit::run`: along which dims of the operands each device may compute a
part of its own."""

import functools
import sys

import torch

from .._library import Error
from ..ops import _op
from ..ops._einsum import Einsum

TENSORS = "torch.distributed.tensor"  # imported where there are DTensors


def is_distributed(x):
    """Whether a tensor lies on several devices (DTensor)."""
    return hasattr(x, "placements") and hasattr(x, "to_local")


def parts(op, count):
    """Ways to split an op: for each, the dim of the result, or None where results are to be added, and those
    of `count` arguments that are split, None where one is there as a whole."""
    if not isinstance(op, Einsum) or any(mark.packed for mark in op.marks):
        return []
    sources = {mark.source for mark in op.marks}
    dims = [argument.dims for argument in op.arguments()][:count]
    found = []
    for letter in dict.fromkeys("".join(op.inputs)):
        places = [each.index(letter) if letter in each else None for each in dims]
        if letter in op.output:
            # Lengths count from the first row that there is; routings name experts by number.
            if "lengths" in sources and not whole_of_lengths(op, letter):
                continue
            if "routing" in sources and letter not in op.arguments()[-1].dims:
                continue
            found.append((op.output.index(letter), places))
        elif not sources - {"values", "mask"} and not op.bias and op.activation is None:
            found.append((None, places))
    return found


def whole_of_lengths(op, letter):
    """Whether lengths have a dim, or the tensor whose rows they count has none of it."""
    mark = next(mark for mark in op.marks if mark.source == "lengths")
    counted = op.output if mark.operand < 0 else op.inputs[mark.operand]
    return letter in (op.selector_dims or ()) or letter not in counted


@functools.cache
def register():
    """Tells torch, once there are DTensors."""
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
    from torch.distributed.tensor._op_schema import RuntimeSchemaInfo
    from torch.distributed.tensor.experimental import register_sharding

    @register_sharding(torch.ops.pit.run.default)
    def rule(inputs, op, index):
        if index:
            raise Error("an index= is about the whole of an operand, of which a DTensor has a part here; "
                        "pass a mask")
        count, op = len(inputs), _op.decode(op)

        def placed(dim):
            return Replicate() if dim is None else Shard(dim)

        found = [([Replicate()], [Replicate()] * count + [None, None])]
        for result, places in parts(op, count):
            made = Partial() if result is None else Shard(result)
            found.append(([made], [placed(dim) for dim in places] + [None, None]))
        return found

    # The op's name, a string, is a part of what its rule depends on.
    DTensor._op_dispatcher.sharding_propagator.op_to_schema_info[torch.ops.pit.run.default] = (
        RuntimeSchemaInfo(0, needs_pytree=True))


def see(tensors):
    """Registers the rule if there is a DTensor."""
    if TENSORS in sys.modules and any(is_distributed(x) for x in tensors):
        register()
