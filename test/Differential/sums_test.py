"""Tests of the rewritings of sums of products: each keeps the value, each is drawn, and a
program that computes something else is found."""

import sys
import unittest

import numpy as np

import rewrite
from draw_sums import DrawSums
from rewrite import rewritten
from sums import Added, Leaf, Moved, Sum, position


def value(node, arrays):
    """A tree's value, node by node."""
    if isinstance(node, Leaf):
        return arrays[node.name]
    parts = [value(p, arrays) for p in node.parts]
    if isinstance(node, Moved):
        kind, *how = node.how
        shape = [d.size for d in node.dims]
        if kind == "transpose":
            return parts[0].transpose(how[0])
        if kind in ("expand", "collapse"):
            return parts[0].reshape(shape)
        if kind == "concat":
            return np.concatenate(parts, how[0])
        if kind == "slice":
            return parts[0].take(range(how[1], how[1] + shape[how[0]]), how[0])
        assert kind == "pad"
        grown = np.zeros(shape)
        grown[tuple(map(slice, parts[0].shape))] = parts[0]
        return grown
    dims = node.all_dims() if isinstance(node, Sum) else node.dims
    numbers = [[position(dims, d) for d in n.dims] for n in [*node.parts, node]]
    if isinstance(node, Added):
        return sum(np.einsum(p, n, numbers[-1]) for p, n in zip(parts, numbers))
    operands = [x for p, n in zip(parts, numbers) for x in (p, n)]
    result = np.einsum(*operands, numbers[-1], optimize="greedy")
    return result + value(node.init, arrays) if node.init else result


def drawn(case):
    draw = DrawSums(1, case, 9)
    tree = draw.base()
    draw.reference(tree)
    return draw, tree


class Rewritings(unittest.TestCase):
    def test_values(self):
        """All of them are drawn, and no value changes."""
        seen = set()
        for case in range(60):
            draw, tree = drawn(case)
            draw.program.draw_data()
            arrays = {a.name: draw.program.values[a.name].v for a in draw.program.args}
            [(_, want)] = draw.program.expected()
            self.assertFalse(np.any(want.e))
            np.testing.assert_array_equal(draw.out_type.wrap(value(tree, arrays)), want.v)
            for steps in (1, 1, 2, 3):
                other, names = rewritten(draw.rng, tree, steps)
                self.assertEqual(other.dims, tree.dims)
                np.testing.assert_array_equal(draw.out_type.wrap(value(other, arrays)), want.v, str(names))
                seen.update(names)
        self.assertEqual(seen, {r.__name__ for r in rewrite.REWRITINGS})


class Checks(unittest.TestCase):
    """With a compiler: argument 1 is the build folder."""

    def checker(self):
        from check_sums import SumsChecker

        return SumsChecker(BUILD)

    def outcome(self, change=lambda text: text):
        """Of a case most of whose sums are not 0, with another text of one function."""
        def is_dense(case):
            draw, _ = drawn(case)
            draw.program.draw_data()
            [(_, want)] = draw.program.expected()
            return want.v.size > 4 and np.mean(want.v != 0) > 0.5

        checker = self.checker()
        draw = DrawSums(1, next(filter(is_dense, range(100))), 9)
        draw.run()
        first, *others = draw.functions
        draw.functions = [*others, (first[0], change(first[1]), first[2])]
        return checker.run(draw, checker.options(3)), first[0]

    def test_right(self):
        outcome, _ = self.outcome()
        self.assertEqual(outcome["counts"]["failed"], 0, outcome["message"])
        self.assertGreater(outcome["counts"]["tiled"], 0)

    def test_wrong_value(self):
        """What is wrong in one function is said of it alone."""
        outcome, name = self.outcome(lambda text: text.replace("arith.add", "arith.sub"))
        self.assertEqual(outcome["counts"]["failed"], 1)
        self.assertIn(f"@{name}(", outcome["program"])
        self.assertIn("wrong; at", outcome["message"])

    def test_refused(self):
        """An error of one function leaves the others."""
        outcome, name = self.outcome(lambda text: text.replace("axis = ", "axis = 7"))
        self.assertEqual(outcome["counts"]["failed"] + outcome["counts"]["refused"], 1)
        self.assertGreater(outcome["counts"]["tiled"], 0)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
