# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""Products whose operand has no gradient where it is zero: against torch in float64, and what
is not wanted is 0, or right. With PIT_TEST_DEVICE=cuda on a GPU."""

import os
import sys
import unittest
from pathlib import Path
from unittest import mock

import torch

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

from pit.ops import _op  # noqa: E402

DEVICE = os.environ.get("PIT_TEST_DEVICE", "cpu")
torch.set_default_device(DEVICE)


def zeros(rows, columns, kind):
    """What is live of a matrix."""
    if kind == "rows":
        return (torch.rand(rows, 1) < 0.3).expand(rows, columns)
    if kind == "columns of 32 rows":
        blocks = torch.rand(-(-rows // 32), columns) < 0.1
        return blocks.repeat_interleave(32, 0)[:rows]
    part = {"all": 1, "none": 0, "anywhere": 0.1}[kind]
    return torch.rand(rows, columns) < part


class SparseGrad(unittest.TestCase):
    def expect(self, function, reference, x, *others):
        """Results and gradients agree; those of x where x is not zero."""
        x, *others = [v.detach().clone().requires_grad_() for v in (x, *others)]
        wide = [v.detach().double().requires_grad_() for v in (x, *others)]
        y, expected = function(x, *others), reference(*wide)
        gradient = torch.randn_like(y)
        y.backward(gradient)
        expected.backward(gradient.double())
        self.close(y, expected)
        for mine, theirs in zip(others, wide[1:]):
            self.close(mine.grad, theirs.grad)
        self.close(torch.where(x != 0, x.grad, 0), torch.where(x != 0, wide[0].grad, 0))
        unwanted = torch.where(x == 0, x.grad, 0)
        self.close(unwanted, torch.where(unwanted != 0, wide[0].grad, 0))
        return x.grad

    def close(self, found, expected):
        torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-4)

    def test_linear(self):
        for rows, k, n in ((70, 96, 80), (257, 64, 33), (1, 8, 8), (0, 8, 8), (33, 1, 5)):
            for kind in ("rows", "columns of 32 rows", "anywhere", "all", "none"):
                with self.subTest(rows=rows, k=k, n=n, kind=kind):
                    x = torch.randn(rows, k) * zeros(rows, k, kind)
                    self.expect(lambda x, w, b: pit.linear(x, w, b, sparse_grad=True),
                                torch.nn.functional.linear, x, torch.randn(n, k), torch.randn(n))

    def test_products(self):
        x = torch.randn(40, 64) * zeros(40, 64, "columns of 32 rows")
        self.expect(lambda x, w: pit.matmul(x, w, sparse_grad=True), torch.matmul,
                    x, torch.randn(64, 48))
        self.expect(lambda x, w: pit.matmul(w, x, sparse="b", sparse_grad=True),
                    lambda x, w: w @ x, x, torch.randn(48, 40))
        batch = torch.randn(3, 24, 32) * (torch.rand(3, 24, 1) < 0.4)
        self.expect(lambda x, w: pit.matmul(x, w, sparse_grad=True), torch.matmul,
                    batch, torch.randn(3, 32, 16))
        self.expect(lambda x, w: pit.linear(x, w, sparse_grad=True), torch.nn.functional.linear,
                    batch, torch.randn(16, 32))
        self.expect(
            lambda x, w: pit.einsum("bsk,kn->bsn", x, w, sparse="a", sparse_grad=True),
            lambda x, w: torch.einsum("bsk,kn->bsn", x, w), batch, torch.randn(32, 16))

    def test_order_of_memory(self):
        """Gradients lie as what they are of does, so that autograd copies none."""
        cases = [
            ("linear", lambda x, w: pit.linear(x, w, sparse_grad=True),
             torch.nn.functional.linear, (257, 64), (33, 64)),
            ("one gradient", lambda x, w: pit.linear(x.detach(), w), lambda x, w: x.detach() @ w.mT,
             (40, 24), (16, 24)),
            ("gelu", lambda x, w: pit.linear(x, w, activation="gelu"),
             lambda x, w: torch.nn.functional.gelu(x @ w.mT), (40, 24), (16, 24)),
            ("batch", lambda x, w: pit.einsum("bsk,bnk->bsn", x, w, sparse="a"),
             lambda x, w: x @ w.mT, (3, 24, 32), (3, 16, 32)),
            ("none", lambda x, w: pit.linear(x, w, sparse_grad=True),
             torch.nn.functional.linear, (0, 8), (5, 8)),
        ]
        for name, function, reference, *shapes in cases:
            for stored in ((False, True), (True, False), (True, True)):
                with self.subTest(name, stored=stored):
                    x, w = (torch.randn(shape) for shape in shapes)
                    x = x * (x > 0.5)
                    x, w = (v.mT.contiguous().mT if other else v for v, other in zip((x, w), stored))
                    asked = [v.requires_grad_() for v in (x, w)]
                    y = function(x, w)
                    wide = [v.detach().double().requires_grad_() for v in (x, w)]
                    expected, g = reference(*wide), torch.randn_like(y)
                    found = torch.autograd.grad(y, asked, g, allow_unused=True)
                    of_wide = torch.autograd.grad(expected, wide, g.double(), allow_unused=True)
                    for one, other, v in zip(found, of_wide, (x, w)):
                        if other is None or not v.numel():
                            continue
                        self.assertEqual(one.stride(), v.stride())
                        wanted = (v != 0) if name == "linear" and v is x else True
                        self.close(torch.where(torch.as_tensor(wanted), one, 0),
                                   torch.where(torch.as_tensor(wanted), other, 0))

    @unittest.skipIf(DEVICE == "cuda", "a GPU computes so small ones densely")
    def test_unwanted(self):
        """Whole rows that are zero have no gradient, which is what it is for."""
        x = torch.randn(512, 256) * (torch.arange(512) % 8 == 0)[:, None]
        found = self.expect(lambda x, w: pit.linear(x, w, sparse_grad=True),
                            torch.nn.functional.linear, x, torch.randn(256, 256))
        self.assertEqual(torch.count_nonzero(found[1::8]), 0)

    def test_special_values(self):
        """-0.0 is zero, NaN and infinities are not."""
        x = torch.zeros(64, 32)
        x[8] = -0.0
        x[32:] = torch.tensor([float("nan"), float("inf"), -float("inf"), 1e-40])[:, None].repeat(
            8, 32)
        x.requires_grad_()
        w = torch.randn(16, 32)
        pit.linear(x, w, sparse_grad=True).backward(torch.ones(64, 16))
        self.close(x.grad[32:], w.double().sum(0).expand(32, -1))

    def test_behind_relu(self):
        """A layer behind ReLU, whose parameters have the gradients of the dense one."""
        w1, w2 = torch.randn(96, 48), torch.randn(40, 96)

        def layer(x, w1, w2):
            hidden = pit.linear(x, w1, activation="relu", sparse=None)
            return pit.linear(hidden, w2, sparse_grad=True)

        def dense(x, w1, w2):
            return torch.relu(x @ w1.T) @ w2.T

        inputs = [v.requires_grad_() for v in (torch.randn(64, 48), w1, w2)]
        wide = [v.detach().double().requires_grad_() for v in inputs]
        gradient = torch.randn(64, 40)
        layer(*inputs).backward(gradient)
        dense(*wide).backward(gradient.double())
        for mine, theirs in zip(inputs, wide):
            torch.testing.assert_close(mine.grad.double(), theirs.grad, rtol=1e-4, atol=1e-3)
        compiled = torch.compile(layer, fullgraph=True)
        again = [v.detach().clone().requires_grad_() for v in inputs]
        compiled(*again).backward(gradient)
        for mine, theirs in zip(again, wide):
            torch.testing.assert_close(mine.grad.double(), theirs.grad, rtol=1e-4, atol=1e-3)

    def test_modules(self):
        """A layer sees that its input is the result of a ReLU, torch's or pit's."""
        layer = pit.torch.Linear(32, 16)
        x, w = torch.randn(24, 8), torch.randn(32, 8, requires_grad=True)

        def is_sparse(hidden):
            return layer(hidden).grad_fn.op.marks[0].sparse_grad == "relu"

        self.assertTrue(is_sparse(torch.relu(x @ w.T)))
        self.assertTrue(is_sparse(torch.nn.functional.relu_(x @ w.T)))
        self.assertTrue(is_sparse(pit.linear(x, w, activation="relu", sparse=None)))
        self.assertFalse(is_sparse(torch.sigmoid(x @ w.T)))
        self.assertFalse(is_sparse(torch.relu(x @ w.T).detach()))
        layer.sparse = "weight"
        self.assertFalse(is_sparse(torch.relu(x @ w.T)))

    def test_watched(self):
        """If somebody asks for the gradient of a ReLU's result, it is that of a dense layer."""
        layer = pit.torch.Linear(64, 16)
        first = torch.nn.Linear(8, 64)
        x = torch.randn(512, 8)
        with torch.no_grad():
            first.bias -= 4  # most are zero

        def hook(x):
            seen = []
            x.register_hook(seen.append)
            return lambda result: (result.sum().backward(), seen[0])[1]

        def retain(x):
            x.retain_grad()
            return lambda result: (result.sum().backward(), x.grad)[1]

        def ask(x):
            return lambda result: torch.autograd.grad(result.sum(), x)[0]

        def ask_more(x):
            return lambda result: torch.autograd.grad(result.sum(), [first.weight, x])[1]

        def accumulate(x):
            return lambda result: (result.sum().backward(inputs=[first.weight, x]), x.grad)[1]

        for shape in ((512, 64), (8, 64, 64)):
            for watch in (hook, retain, ask, ask_more, accumulate):
                for late in (False, True):
                    with self.subTest(watch=watch.__name__, late=late, shape=shape):
                        hidden = torch.relu(first(x.view(*shape[:-1], 8)))
                        watched = None if late else watch(hidden)
                        result = layer(hidden)
                        found = (watched or watch(hidden))(result)
                        self.close(found, layer.weight.double().sum(0).expand(shape))

    def test_watched_in_graphs(self):
        """torch.func and torch.compile ask for whole gradients, too."""
        x, w = torch.relu(torch.randn(64, 32) - 1), torch.randn(16, 32)
        expected = w.double().sum(0).expand(64, 32)

        def total(x, w):
            return pit.linear(x, w, sparse_grad="relu").sum()

        self.close(torch.func.grad(total)(x, w), expected)
        found = torch.compile(total, fullgraph=True)(x.requires_grad_(), w.requires_grad_())
        self.close(torch.autograd.grad(found, x)[0], expected)
        with torch.autograd.graph.save_on_cpu():
            self.expect(lambda x, w: pit.linear(x, w, sparse_grad="relu"),
                        torch.nn.functional.linear, x, w)

    @unittest.skipIf(DEVICE == "cuda", "a GPU computes so small ones densely")
    def test_not_watched(self):
        """backward() skips the gradients that a ReLU drops, with frozen parameters, too."""
        layer = pit.torch.Linear(256, 256)
        x = torch.randn(512, 256)
        x = torch.where(torch.arange(512)[:, None] % 8 == 0, x, -x.abs())  # one row of eight
        for frozen in (False, True):
            seen = []

            before = x.clone().requires_grad_()
            hidden = torch.relu(before)
            hidden.grad_fn.register_prehook(lambda grads: seen.append(grads[0]))
            layer.requires_grad_(not frozen)
            layer(hidden).sum().backward()
            self.assertEqual(torch.count_nonzero(seen[0][1::8]), 0)
            self.close(before.grad, torch.where(x > 0, layer.weight.double().sum(0), 0))

    def test_together(self):
        """Gradients that look for the same zeros are one program, which has what each alone has."""
        from torch.utils.flop_counter import FlopCounterMode
        x, w = torch.randn(64, 48) * zeros(64, 48, "rows"), torch.randn(32, 48)
        batch = torch.randn(5, 64, 32)

        def sparse(x, w):
            return pit.linear(x, w, sparse_grad=True)

        def behind(x, w):  # no gradient goes through the zeros of the result
            return pit.linear(x, w, sparse=None, activation="relu")

        def matmul(x, w):
            return pit.matmul(x, w.mT, sparse_grad=True)

        for function, name in ((sparse, "linear"), (behind, "linear"), (matmul, "matmul")):
            for needs, program in (((True, True), f"{name}_gradients"), ((True, False), f"{name}_da"),
                                   ((False, True), f"{name}_db")):
                with self.subTest(function=function.__name__, needs=needs):
                    inputs = [v.clone().requires_grad_(need) for v, need in zip((x, w), needs)]
                    y = function(*inputs)
                    with mock.patch.object(_op, "call", wraps=_op.call) as call:
                        y.backward(batch[0], retain_graph=True)
                        self.assertEqual([each.args[0].name for each in call.call_args_list], [program])
                    found = [v for v in inputs if v.requires_grad]
                    for again in (batch[0], batch):  # of several gradients, each alone
                        many = again is batch
                        second = torch.autograd.grad(y, found, again, retain_graph=True,
                                                     is_grads_batched=many)
                        for v, other in zip(found, second):
                            wanted = v != 0  # all weights are
                            other = (other[0] if many else other).double()
                            self.close(torch.where(wanted, v.grad, 0), torch.where(wanted, other, 0))
        inputs = [v.clone().requires_grad_() for v in (x, w)]
        with FlopCounterMode(display=False) as counter:
            sparse(*inputs).sum().backward()
        self.assertEqual(counter.get_total_flops(), 3 * 2 * 64 * 48 * 32)

    def test_second_gradients(self):
        """If x is not zero they are those of the dense product."""
        x = (torch.randn(32, 16) * zeros(32, 16, "rows")).requires_grad_()
        w = torch.randn(8, 16, requires_grad=True)
        there = (x != 0).double()

        def second(product, x, w, there):
            first, = torch.autograd.grad(product(x, w).square().sum(), x, create_graph=True)
            return torch.autograd.grad((first * there).square().sum(), w)[0]

        found = second(lambda x, w: pit.linear(x, w, sparse_grad=True), x, w, there.float())
        expected = second(torch.nn.functional.linear, x.detach().double().requires_grad_(),
                          w.detach().double().requires_grad_(), there)
        torch.testing.assert_close(found.double(), expected, rtol=1e-3, atol=1e-2)

    def test_errors(self):
        x, w, mask = torch.ones(4, 8), torch.ones(3, 8), torch.ones(4, 8, dtype=torch.bool)
        for options, message in (
                ({"sparse": None}, "linear: sparse_grad= is about operands that are sparse by their "
                                   "own zeros; sparse= names none"),
                ({"sparse_grad": 1.5}, 'linear: sparse_grad=1.5; it is False, True or "relu"'),
                ({"mask": mask}, "linear: sparse_grad= is about operands that are sparse by their "
                                 "own zeros; with mask=, the gradient of an operand is 0 where it "
                                 "is not selected anyway")):
            with self.assertRaisesRegex(pit.Error, message):
                pit.linear(x, w, **{"sparse_grad": True, **options})


if __name__ == "__main__":
    unittest.main()
