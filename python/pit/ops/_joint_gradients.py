"""The gradients of several operands of a sum of products, as one program.

They are what _gradients.py says. Where both look for the same zeros, as behind a ReLU those of x for
the gradient of x and for that of the weight, the program scans once (pit-share-scans).
"""

import functools
from dataclasses import dataclass

from ._einsum import NUMBERS
from ._gradients import einsum_gradient, selector_of, selects_itself
from ._op import Argument, Op, decode, kind, make


@functools.lru_cache(maxsize=4096)
def joint_gradients(op, needs):
    """The op of the gradients of the operands that `needs` has True for; None where they have no
    zeros to look for in common."""
    rules = [einsum_gradient(op, i) for i, needed in enumerate(needs) if needed]
    if len(rules) < 2 or selector_of(op):
        return None
    if not all([rule is not None and rule.marks and not ones for rule, _, ones in rules]):
        return None
    return make(JointGradients, op.encode(), tuple(needs))


@kind
@dataclass(frozen=True)
class JointGradients(Op):
    """Takes the gradient of the sum, and those operands of an Einsum that are read."""

    of: str  # the Einsum, encoded
    needs: tuple

    differentiable = False

    @functools.cached_property
    def op(self):
        return decode(self.of)

    @functools.cached_property
    def name(self):
        return f"{self.op.name}_gradients"

    @functools.cached_property
    def parts(self):
        """The op of each gradient, and which operands it takes; -1 is the gradient of the sum."""
        found = []
        for i, needed in enumerate(self.needs):
            if needed:
                rule, others, _ = einsum_gradient(self.op, i)
                itself = (i,) if selector_of(rule) and selects_itself(self.op, i) else ()
                found.append((rule, (-1, *others, *itself)))
        return tuple(found)

    @functools.cached_property
    def read(self):
        """The operands that are arguments, in their order."""
        return tuple(sorted({i for _, taken in self.parts for i in taken}))

    def arguments(self):
        names, inputs = self.op.operands(), self.op.inputs
        return [Argument("dy", tuple(self.op.output), NUMBERS, permutable=self.is_permutable(i))
                if i < 0 else
                Argument(names[i], tuple(inputs[i]), NUMBERS, permutable=self.is_permutable(i))
                for i in self.read]

    def is_permutable(self, i):
        return all([argument.permutable for rule, taken in self.parts
                    for argument, j in zip(rule.arguments(), taken) if j == i])

    def dynamic(self):
        return self.op.dynamic()

    def results(self, types, sizes):
        return [result for rule, _ in self.parts for result in rule.results(types, sizes)]

    def build(self, builder, values, orders):
        value, order = dict(zip(self.read, values)), dict(zip(self.read, orders))
        return [result for rule, taken in self.parts for result in rule.build(
            builder, [value[i] for i in taken], [order[i] for i in taken])]
