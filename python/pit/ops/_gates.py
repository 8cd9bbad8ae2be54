"""Formulas of what stands between the two products of an expert: a gate and its up, or, of a plain
block, the up alone, make a hidden value.

A formula is "gate", "up", a number, or (name, formula, ...): nested tuples, which compare, hash and go
through JSON. ("mul", ("silu", "gate"), "up") is what `activation="silu"` means of a gated block. Here
they become bodies of element-wise ops, with the derivatives by both.
"""

from .._library import Error
from ._activations import ACTIVATIONS, VALUES_AND_SLOPES

VARIABLES = ("gate", "up")
# These have two operands; the second one of `min` and `max` is a number.
PAIRS = ("add", "sub", "mul", "div", "min", "max")
SINGLES = ("neg", "exp", *ACTIVATIONS)


def formula_of(activation, gated):
    """The formula that an activation by its name stands for; a formula is one already."""
    if not isinstance(activation, str):
        return activation
    return ("mul", (activation, "gate"), "up") if gated else (activation, "up")


def check_formula(name, formula, gated):
    """Raises an error of the op `name` unless a formula is one, of what there is."""
    if isinstance(formula, (int, float)) and not isinstance(formula, bool):
        return
    if formula in VARIABLES:
        if formula == "gate" and not gated:
            raise Error(f"{name}: a formula has 'gate', but the block has none")
        return
    known = isinstance(formula, tuple) and formula and formula[0]
    if known not in (*PAIRS, *SINGLES) or len(formula) != (3 if known in PAIRS else 2):
        raise Error(f"{name}: {formula!r} is no formula; one is 'gate', 'up', a number, or a tuple of "
                    f"{', '.join(PAIRS)} and two formulas, or of {', '.join(SINGLES)} and one")
    if known in ("min", "max") and not isinstance(formula[2], (int, float)):
        raise Error(f"{name}: {known!r} in a formula takes a number second, not {formula[2]!r}")
    for each in formula[1:]:
        check_formula(name, each, gated)


class Writer:
    """Writes formulas of an element's gate and up, of float type `type_`, into a Body; equal
    parts once."""

    def __init__(self, body, type_, gate, up):
        self.body, self.type = body, type_
        self.values = {"gate": gate, "up": up}
        self.slopes = {}  # by formulas: of each variable, None where it is zero

    def op(self, name, *operands):
        return self.body.op(f"arith.{name}f", self.type, *operands)

    def value(self, formula):
        if formula not in self.values:
            self.values[formula] = self.write(formula)
        return self.values[formula]

    def write(self, formula):
        if isinstance(formula, (int, float)):
            return self.body.constant(formula, self.type)
        name, *operands = formula
        if name == "div":
            return self.body.divide(self.type, *map(self.value, operands))
        if name in PAIRS:
            mlir = {"min": "minimum", "max": "maximum"}.get(name, name)
            return self.op(mlir, *map(self.value, operands))
        x = self.value(operands[0])
        if name == "neg":
            return self.op("neg", x)
        if name == "exp":
            return self.body.exp(self.type, x)
        return ACTIVATIONS[name](self.body, self.type, x)

    def derive(self, formula):
        """A formula's value, and its derivatives by the gate and by the up; None is zero."""
        if formula not in self.slopes:
            self.slopes[formula] = self.write_slopes(formula)
        return self.value(formula), self.slopes[formula]

    def write_slopes(self, formula):
        one = self.body.constant(1, self.type)
        if formula in VARIABLES:
            return [one if formula == each else None for each in VARIABLES]
        if isinstance(formula, (int, float)):
            return [None, None]
        name, first, *rest = formula
        if name in VALUES_AND_SLOPES:
            x, inner = self.derive(first)
            self.values[formula], slope = VALUES_AND_SLOPES[name](self.body, self.type, x)
            return self.scaled(inner, slope)
        x, of_first = self.derive(first)
        if name == "neg":
            return [each and self.op("neg", each) for each in of_first]
        if name == "exp":
            return self.scaled(of_first, self.value(formula))
        if name in ("min", "max"):
            # As torch's clamp: the slope of a value on the bound is one.
            within = self.body.emit(f"arith.cmpf {'ole' if name == 'min' else 'oge'}, {x}, "
                                    f"{self.value(rest[0])} : {self.type}")
            zero = self.body.constant(0, self.type)
            return [each and self.body.emit(f"arith.select {within}, {each}, {zero} : {self.type}")
                    for each in of_first]
        y, of_second = self.derive(rest[0])
        if name in ("add", "sub"):
            if name == "sub":
                of_second = [each and self.op("neg", each) for each in of_second]
            return self.sums(of_first, of_second)
        if name == "mul":
            return self.sums(self.scaled(of_first, y), self.scaled(of_second, x))
        # (x / y)' = (x' - (x / y) y') / y
        ratio = self.op("neg", self.value(formula)) if any(of_second) else None
        found = self.sums(of_first, self.scaled(of_second, ratio))
        return [each and self.body.divide(self.type, each, y) for each in found]

    def scaled(self, slopes, factor):
        return [each and self.product(each, factor) for each in slopes]

    def product(self, a, b):
        one = self.body.constant(1, self.type)
        return b if a == one else a if b == one else self.op("mul", a, b)

    def sums(self, a, b):
        return [self.op("add", x, y) if x and y else x or y for x, y in zip(a, b)]
