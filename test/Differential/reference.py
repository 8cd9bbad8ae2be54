"""Tests of the reference: what a sum may be off by, and what it may not."""

import unittest

import numpy as np

from dtypes import F32
from linalg_ref import Op, Output, Val, evaluate, plain_map


def sum_of_exp(x):
    """The sum of exp(x) in f32: the value, what it may be off by, the terms."""
    op = Op([False], [plain_map([0]), []], 1, [Output(("exp", ("arg", 0)))], F32)
    [result] = evaluate(op, [len(x)], [Val(x)], [Val(np.array(0.0))])
    return result.v, result.e, np.exp(x)


class Sums(unittest.TestCase):
    def one_by_one(self, x):
        value, bound, terms = sum_of_exp(x)
        self.assertLess(abs(np.add.accumulate(terms.astype(np.float32))[-1] - value), bound)

    def test_few_values(self):
        """Equal terms are all rounded to the same side."""
        rng = np.random.default_rng(1)
        for count in (300, 44064, 360000):
            for values in ([0.1], [0.1, -0.7], [-2, -1, 0, 1, 2]):
                self.one_by_one(rng.choice(values, count))

    def test_different_values(self):
        rng = np.random.default_rng(2)
        for count in (300, 44064, 360000):
            self.one_by_one(rng.normal(size=count))

    def test_lost_terms(self):
        """One of some thousands is missed, of more a tile."""
        rng = np.random.default_rng(3)
        for count, lost in ((4000, 1), (44064, 64)):
            _, bound, terms = sum_of_exp(rng.choice([-1.0, 0.0, 1.0], count))
            self.assertLess(bound, lost * np.mean(terms))
        _, bound, terms = sum_of_exp(rng.normal(size=44064))
        self.assertLess(bound, 2 * np.mean(terms))


if __name__ == "__main__":
    unittest.main()
