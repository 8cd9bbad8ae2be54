"""How many operations torch's FlopCounterMode counts for the ops of pit: those of a dense
program, as for torch's own. pit.explain has the savings by zeros."""

import math
import sys

import torch

from ..ops import (
    _conv, _einsum, _joint_gradients, _masked_mlp, _moe, _moe_training, _op, _padded_training, _scaled)


def count(inputs, op, index, *, out_shape, **_):
    """A formula of register_flop_formula: `inputs` are shapes."""
    op = _op.decode(op)
    if index:  # has dims that a packed operand lacks
        from ._run import indices
        inputs = (*inputs, indices[index].shape)
    sizes = {dim: size for argument, shape in zip(op.arguments(), inputs)
             for dim, size in zip(argument.dims, shape) if isinstance(dim, str)}

    def product(dims):
        return math.prod(sizes[dim] for dim in dims)

    if isinstance(op, _einsum.Einsum):  # a factor is a multiplication, and there is one sum
        return len(op.inputs) * product({*op.output, *"".join(op.inputs)})
    if isinstance(op, _joint_gradients.JointGradients):
        return sum(len(rule.inputs) * product({*rule.output, *"".join(rule.inputs)})
                   for rule, _ in op.parts)
    if isinstance(op, _scaled.ScaledMatmul):
        return 2 * product("mkn")
    if isinstance(op, _conv.Conv2d):
        return 2 * math.prod(out_shape) * math.prod(inputs[1]) // sizes["f"]
    if isinstance(op, (_moe.PaddedMlp, _padded_training.PaddedForward)):
        return 2 * product("bsf") * (sizes["k"] + sizes["n"])
    if isinstance(op, _padded_training.PaddedBackward):
        x, w1, w2, *biases = op.needs
        hidden = x or w1 or (op.biases[0] and biases[0])
        return 2 * product("bsf") * (sizes["n"] * (hidden + w2) + sizes["k"] * (x + w1))
    if isinstance(op, _masked_mlp.Block):  # one product that is not of neurons and k is of n
        return 2 * product("tf") * (sizes["k"] + sizes["n"])
    if isinstance(op, _moe.Experts):
        wide = sizes["k"] * (2 if op.gated else 1)
        return 2 * product(("t", "top", "f")) * (wide + sizes["n"])
    if isinstance(op, _moe_training.Layer):
        rows, wide = product(("t", "top", "f")), sizes["k"] * (2 if op.gated else 1)
        if isinstance(op, _moe_training.ExpertsForward):
            return 2 * rows * (wide + sizes["n"])
        x, router, *of_wide, down = op.needs
        each = wide // len(of_wide)
        hidden = x or router or any(of_wide)
        return 2 * rows * (sizes["n"] * (hidden + down) + wide * x + each * sum(of_wide))
    raise AssertionError(f"nobody says how many operations {op.name} has")


def count_all(inputs, op, *, out_shape, **_):
    return count(inputs, op, 0, out_shape=out_shape)


def register():
    """Tells torch, and counters that exist already. Not before there can be one: the import of
    torch's module takes long."""
    module = sys.modules.get("torch.utils.flop_counter")
    if module is None:
        return
    formulas = {torch.ops.pit.run: count, torch.ops.pit.train: count_all,
                torch.ops.pit.run_all: count_all}
    for packet, formula in formulas.items():
        if packet not in module.flop_registry:
            module.register_flop_formula(packet)(formula)
    for mode in torch.utils._python_dispatch._get_current_dispatch_mode_stack():
        counter = getattr(mode, "counter", mode)
        if isinstance(counter, module.FlopCounterMode):
            for packet in formulas:
                counter.flop_registry.setdefault(packet, module.flop_registry[packet])
