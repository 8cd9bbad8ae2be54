# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""Layers of experts in training, whose gradients are one program: against torch in float64,
in the ways in which people train. With PIT_TEST_DEVICE=cuda on a GPU."""

import os
import sys
import unittest
from pathlib import Path

import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.utils.checkpoint import checkpoint

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from graphs import recorder  # noqa: E402
from setup import pit  # noqa: E402

from pit.ops import _op  # noqa: E402
from pit.ops._gates import check_formula  # noqa: E402
from pit.ops._moe_training import ExpertsBackward, ExpertsForward  # noqa: E402
from pit.torch import _training  # noqa: E402

DEVICE = os.environ.get("PIT_TEST_DEVICE", "cpu")
torch.set_default_device(DEVICE)
STEPS = 40 * int(os.environ.get("PIT_LONG", 1))
FUNCTIONS = {"silu": torch.nn.functional.silu, "gelu": torch.nn.functional.gelu, "relu": torch.relu,
             "sigmoid": torch.sigmoid, "tanh": torch.tanh}
COUNT, WIDTH, HIDDEN = 6, 24, 40


def new(*shape, dtype=torch.float32):
    return torch.randn(shape, dtype=dtype).requires_grad_()


def reference(x, scales, choices, *weights, activation="silu"):
    """Every expert for every token, in float64."""
    table = torch.zeros(len(x), len(weights[0]), dtype=x.dtype)
    there = torch.where(choices < 0, 0, scales)
    table = table.scatter_add(1, choices.clamp(min=0), there)
    return torch.einsum("te,ten->tn", table, of_experts(x, weights, activation))


def of_experts(x, weights, activation="silu"):
    *gate, up = [torch.einsum("tk,ekf->tef", x, w) for w in weights[:-1]]
    function = FUNCTIONS[activation]
    hidden = function(gate[0]) * up if gate else function(up)
    return torch.einsum("tef,efn->ten", hidden, weights[-1])


def by_tokens(formula, joined, exchanged, x, scales, choices, wide, down, *biases):
    """The same one by one, of a formula, with gates and ups in one weight."""
    wide, down = (w.mT if other else w for w, other in zip((wide, down), exchanged))
    rows = []
    for token, scale, chosen in zip(x, scales, choices):
        total = x.new_zeros(down.shape[2])
        for weight, e in zip(scale, chosen.tolist()):
            if e >= 0:
                both = token @ wide[e] + (biases[0][e] if biases else 0)
                gate, up = {"pairs": (both[::2], both[1::2]), "": (None, both)}.get(
                    joined, (both[:HIDDEN], both[HIDDEN:]))
                y = value_of(formula, gate, up) @ down[e]
                total = total + weight * (y + (biases[1][e] if biases else 0))
        rows.append(total)
    return torch.stack(rows)


def value_of(formula, gate, up):
    if formula == "silu":
        return torch.nn.functional.silu(gate) * up
    if isinstance(formula, str):
        return {"gate": gate, "up": up}[formula]
    if not isinstance(formula, tuple):
        return torch.tensor(formula, dtype=torch.float64)
    x, *more = [value_of(each, gate, up) for each in formula[1:]]
    functions = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "neg": torch.neg,
                 "exp": torch.exp, "min": torch.minimum, "max": torch.maximum, **FUNCTIONS}
    return functions[formula[0]](x, *more)


def route(tokens, top, count=COUNT, absent=0.0):
    choices = torch.rand(tokens, count).topk(top).indices
    return torch.where(torch.rand(tokens, top) < absent, -1, choices)


class Training(unittest.TestCase):
    def setUp(self):
        self.weights = [new(COUNT, WIDTH, HIDDEN), new(COUNT, WIDTH, HIDDEN), new(COUNT, HIDDEN, WIDTH)]

    def expect(self, found, inputs, choices, **options):
        """The gradients that a result has for its inputs, which have been taken."""
        wide = [v.detach().double().requires_grad_() for v in inputs]
        expected = reference(wide[0], wide[1], choices, *wide[2:], **options)
        self.close(found, expected)
        expected.backward(self.gradient.double())
        # One token has few gradients of scales. All of them can be small although their terms are not.
        terms = torch.einsum("ten,tn->te", of_experts(wide[0], wide[2:], **options).abs(), self.gradient.abs().double())
        for one, other, largest in zip(inputs, wide, (None, terms, *[None] * len(wide))):
            self.close(one.grad, other.grad, largest)

    def close(self, found, expected, terms=None):
        """Errors are measured by the largest value, or by the largest sum of absolute terms."""
        terms = expected if terms is None else terms
        scale = terms.abs().max().item() if terms.numel() else 0
        torch.testing.assert_close(found.double(), expected, rtol=0, atol=5e-6 * scale + 1e-30)

    def step(self, x, scales, choices, weights, function=pit.moe):
        for v in (x, scales, *weights):
            v.grad = None
        y = function(x, scales, choices, *weights)
        self.gradient = torch.randn_like(y)
        y.backward(self.gradient)
        return y

    def test_routes(self):
        """Many tokens, one, none; choices that are none; all to one expert; an expert without."""
        for choices in (route(50, 2), route(1, 2), route(0, 2), route(50, 2, absent=0.5),
                        torch.full((50, 2), -1),
                        torch.tensor([[2, -1]] * 50), torch.tensor([[1, 3]] * 50)):
            x, scales = new(len(choices), WIDTH), new(*choices.shape)
            y = self.step(x, scales, choices, self.weights)
            self.expect(y, (x, scales, *self.weights), choices)

    def test_steps(self):
        """One step after another, with other routes, gradients that add up, the same bits again."""
        for _ in range(STEPS):
            tokens = int(torch.randint(1, 90, (1,)))
            choices = route(tokens, 2, absent=0.2)
            x, scales = new(tokens, WIDTH), new(tokens, 2)
            y = self.step(x, scales, choices, self.weights)
            self.expect(y, (x, scales, *self.weights), choices)
            first = [v.grad.clone() for v in (x, scales, *self.weights)]
            pit.moe(x, scales, choices, *self.weights).backward(self.gradient)
            for one, v in zip(first, (x, scales, *self.weights)):
                self.assertTrue(torch.equal(v.grad, one + one))

    def test_layouts(self):
        """Weights as nn.Linear has them: gradients lie as these do."""
        stored = [w.detach().transpose(1, 2).contiguous().requires_grad_() for w in self.weights]
        choices, x, scales = route(50, 2), new(50, WIDTH), new(50, 2)
        y = self.step(x, scales, choices, [w.transpose(1, 2) for w in stored])
        for weight, one in zip(self.weights, stored):
            self.assertTrue(one.grad.is_contiguous())
            weight.grad = one.grad.transpose(1, 2)
        self.expect(y, (x, scales, *self.weights), choices)

    def test_frozen(self):
        """What has no gradient is not computed, as with LoRA, or with a frozen router."""
        choices, x, scales = route(50, 2), new(50, WIDTH), new(50, 2)
        everything = [x, scales, *self.weights]
        self.expect(self.step(x, scales, choices, self.weights), everything, choices)
        expected = [v.grad for v in everything]
        for trained in ({0}, {1}, {4}, {0, 2}):
            for i, v in enumerate(everything):
                v.requires_grad_(i in trained).grad = None
            pit.moe(x, scales, choices, *self.weights).backward(self.gradient)
            for i, (v, grad) in enumerate(zip(everything, expected)):
                if i in trained:
                    self.close(v.grad, grad.double())
                else:
                    self.assertIsNone(v.grad)

    def test_joined(self):
        """Gates and ups in one weight, without a gate, and from the arguments alone."""
        choices, x, scales = route(50, 2, absent=0.2), new(50, WIDTH), new(50, 2)
        gate, up, down = (w.detach() for w in self.weights)
        for weights, layouts, gated, activation in (
                ([torch.cat([gate, up], 2), down], ("ekg", "efn"), True, "gelu"),
                ([torch.cat([gate, up], 2).mT, down.mT], ("egk", "enf"), True, "relu"),
                ([up, down], ("ekf", "efn"), False, "tanh"),
                ([up.mT, down], ("efk", "efn"), False, "sigmoid")):
            joined = "halves" if "g" in layouts[0] else ""
            arguments = [x.detach(), scales.detach(), choices, *(w.contiguous() for w in weights)]
            y, *kept = _op.call(_op.make(ExpertsForward, activation, gated, layouts, joined), arguments)
            grad = torch.randn_like(y)
            wide = [v.detach().double().requires_grad_() for v in (
                x, scales, *((gate, up) if gated else (up,)), down)]
            expected = reference(wide[0], wide[1], choices, *wide[2:], activation=activation)
            expected.backward(grad.double())
            self.close(y, expected)
            for again in (False, True):
                op = _op.make(ExpertsBackward, activation, gated, layouts, (True,) * 4, joined, recompute=again)
                found = list(_op.call(op, [*arguments, grad, *([] if again else kept)]))
                found[2:] = [v if layout in ("ekg", "ekf", "efn") else v.mT
                             for v, layout in zip(found[2:], layouts)]
                if joined:
                    found[2:3] = found[2].chunk(2, 2)
                for one, other in zip(found, wide):
                    self.close(one, other.grad)
        with self.assertRaisesRegex(pit.Error, "80 rows were kept of 50 tokens that have 2"):
            _op.call(op.__class__("tanh", False, ("ekf", "efn"), (True,) * 4),
                     [x, scales, choices, up, down, x, torch.zeros(80, HIDDEN)])
        with self.assertRaisesRegex(pit.Error, "w_gate_up has 30 columns.* w_down has 40 rows"):
            _op.call(_op.make(ExpertsForward, "silu", True, ("ekg", "efn"), "halves"),
                     [x, scales, choices, torch.zeros(COUNT, WIDTH, 30), down])

    def test_formulas(self):
        """Gates and ups in pairs or halves, biases, limits, formulas of all that there is."""
        low = ("min", "gate", 0.5)
        limited = ("mul", ("add", ("min", ("max", "up", -0.4), 0.4), 1),
                   ("mul", low, ("sigmoid", ("mul", low, 1.702))))
        others = ("div", ("sub", ("exp", ("neg", "gate")), "up"), ("add", ("mul", "up", "up"), 2.0))
        both = COUNT, WIDTH, 2 * HIDDEN
        for formula, joined, biases, exchanged in (
                (limited, "pairs", True, (False, False)), (limited, "halves", True, (True, True)),
                (others, "halves", False, (True, False)), (others, "pairs", False, (True, True)),
                ("silu", "pairs", True, (True, True)), (("mul", ("relu", "up"), ("relu", "up")), "", True, (True, True))):
            with self.subTest(formula=formula, joined=joined):
                choices, x, scales = route(50, 2, absent=0.2), new(50, WIDTH), new(50, 2)
                wide = torch.randn(both if joined else (COUNT, WIDTH, HIDDEN)) / 4
                weights = [wide, torch.randn(COUNT, HIDDEN, WIDTH)]
                stored = [(w.mT.contiguous() if other else w).requires_grad_()
                          for w, other in zip(weights, exchanged)]
                more = [new(COUNT, w.shape[2]) for w in weights] if biases else []
                given = (formula, bool(joined), joined, exchanged, biases)
                y = _training.train(_training.forward_op(*given),
                                    (x, scales, choices, *stored, *more), False)
                self.gradient = torch.randn_like(y)
                y.backward(self.gradient)
                op = _op.decode(_training.forward_op(*given, False))
                self.close(_op.run(op, [v.detach() for v in (x, scales, choices, *stored, *more)]),
                           y.detach().double())
                inputs = [v.detach().double().requires_grad_() for v in (x, scales, *stored, *more)]
                expected = by_tokens(formula, joined, exchanged, *inputs[:2], choices, *inputs[2:])
                self.close(y, expected)
                expected.backward(self.gradient.double())
                for one, other in zip((x, scales, *stored, *more), inputs):
                    self.close(one.grad, other.grad)

    def test_gradcheck_of_formulas(self):
        choices = torch.tensor([[0, 1], [2, -1], [1, 2], [-1, -1]])
        formula = ("mul", ("silu", "gate"), ("add", ("tanh", "up"), 1))
        shapes = (4, 3), (4, 2), (3, 3, 10), (3, 5, 2), (3, 10), (3, 2)
        op = _training.forward_op(formula, True, "pairs", (False, False), True)

        def function(x, scales, *rest):
            return _training.train(op, (x, scales, choices, *rest), False)

        inputs = [new(*shape, dtype=torch.float64) for shape in shapes]
        self.assertTrue(gradcheck(function, inputs, nondet_tol=1e-10))
        self.assertTrue(gradgradcheck(function, inputs, nondet_tol=1e-10))

    def test_errors(self):
        for formula, why in ((("pow", "up", 2), "is no formula"), (("add", "up"), "is no formula"),
                             (("min", "up", "up"), "takes a number second"),
                             (("mul", "gate", "up"), "the block has none")):
            with self.assertRaisesRegex(pit.Error, why):
                check_formula("moe", formula, False)

    def test_ways(self):
        """Graphs with tokens of any number, checkpoints, autocast, second derivatives."""
        targets = []

        compiled = torch.compile(pit.moe, fullgraph=True, dynamic=True, backend=recorder(targets))

        def kept(*arguments):
            return checkpoint(pit.moe, *arguments, use_reentrant=False)

        for function in (compiled, kept):
            for tokens in (50, 31):
                choices, x, scales = route(tokens, 2), new(tokens, WIDTH), new(tokens, 2)
                y = self.step(x, scales, choices, self.weights, function)
                self.expect(y, (x, scales, *self.weights), choices)
        self.assertIn("pit.train", targets)
        meta = [v.detach().to("meta").requires_grad_() for v in (x, scales, *self.weights)]
        pit.moe(*meta[:2], choices.to("meta"), *meta[2:]).sum().backward()
        self.assertEqual([v.grad.shape for v in meta], [v.shape for v in meta])
        x, scales, choices = new(50, WIDTH), new(50, 2), route(50, 2)
        with torch.autocast(DEVICE, torch.bfloat16):
            y = self.step(x, scales, choices, self.weights)
        self.assertEqual(y.dtype, torch.bfloat16)
        for v in (x, scales, *self.weights):
            self.assertEqual(v.grad.dtype, torch.float32)
        wide = [v.detach().bfloat16().double().requires_grad_() for v in (x, scales, *self.weights)]
        expected = reference(wide[0], wide[1], choices, *wide[2:])
        expected.backward(self.gradient.double())
        for one, other in zip((x, scales, *self.weights), wide):
            error = (one.grad - other.grad).norm() / other.grad.norm()
            self.assertLess(error.item(), 0.01)

    def test_gradcheck(self):
        choices = torch.tensor([[0, 1], [2, -1], [1, 2], [-1, -1]])
        inputs = [new(*shape, dtype=torch.float64)
                  for shape in ((4, 3), (4, 2), (3, 3, 5), (3, 3, 5), (3, 5, 2))]

        def function(x, scales, *weights):
            return pit.moe(x, scales, choices, *weights)

        self.assertTrue(gradcheck(function, inputs, nondet_tol=1e-10))
        self.assertTrue(gradgradcheck(function, inputs, nondet_tol=1e-10))


if __name__ == "__main__":
    unittest.main()
