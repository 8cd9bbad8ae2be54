# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""Two layers of padded batches in training, whose gradients are one program: against torch in
float64, in the ways in which people train. With PIT_TEST_DEVICE=cuda on a GPU."""

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

DEVICE = os.environ.get("PIT_TEST_DEVICE", "cpu")
torch.set_default_device(DEVICE)
FUNCTIONS = {"silu": torch.nn.functional.silu, "gelu": torch.nn.functional.gelu, "relu": torch.relu,
             "sigmoid": torch.sigmoid, "tanh": torch.tanh}
WIDTH, HIDDEN, OUT = 24, 40, 16


def new(*shape, dtype=torch.float32):
    return torch.randn(shape, dtype=dtype).requires_grad_()


def reference(x, lengths, w1, b1, w2, b2, activation="gelu"):
    there = torch.arange(x.shape[1]) < lengths[:, None]
    hidden = FUNCTIONS[activation](torch.nn.functional.linear(x, w1, b1))
    return torch.where(there[..., None], torch.nn.functional.linear(hidden, w2, b2), 0)


class Training(unittest.TestCase):
    def setUp(self):
        self.parameters = [new(HIDDEN, WIDTH), new(HIDDEN), new(OUT, HIDDEN), new(OUT)]

    def close(self, found, expected):
        scale = expected.abs().max().item() if expected.numel() else 0
        torch.testing.assert_close(found.double(), expected, rtol=0, atol=5e-6 * scale + 1e-30)

    def expect(self, x, lengths, parameters, activation="gelu", function=pit.padded_mlp):
        """Results and gradients of what has some agree."""
        inputs = [x, *parameters]
        for v in inputs:
            if v is not None:
                v.grad = None
        y = function(x, lengths, *parameters, activation=activation)
        gradient = torch.randn_like(y)
        y.backward(gradient)
        wide = [None if v is None else v.detach().double().requires_grad_(v.requires_grad)
                for v in inputs]
        expected = reference(wide[0], lengths, *wide[1:], activation)
        self.close(y, expected)
        expected.backward(gradient.double())
        for one, other in zip(inputs, wide):
            if other is not None and other.requires_grad:
                self.close(one.grad, other.grad)
            elif one is not None:
                self.assertIsNone(one.grad)

    def test_lengths(self):
        for positions, lengths in ((33, [33, 0, 5, 17, 32]), (8, [0, 0]), (8, [8, 8, 8]), (1, [1]),
                                   (64, [1] * 6), (0, [0, 0]), (7, [])):
            for type_ in (torch.int64, torch.int32):
                x = new(len(lengths), positions, WIDTH)
                self.expect(x, torch.tensor(lengths, dtype=type_), self.parameters)

    def test_steps(self):
        """One step after another, with other lengths; the padding's NaN goes nowhere."""
        for _ in range(12):
            batch, positions = (int(torch.randint(1, 40, (1,))) for _ in range(2))
            lengths = torch.randint(0, positions + 1, (batch,))
            x = torch.randn(batch, positions, WIDTH)
            x[torch.arange(positions) >= lengths[:, None]] = float("nan")
            y = pit.padded_mlp(x.requires_grad_(), lengths, *self.parameters)
            gradient = torch.randn_like(y)
            gradient[torch.arange(positions) >= lengths[:, None]] = float("nan")
            found = torch.autograd.grad(y, (x, *self.parameters), gradient)
            clean, weights = x.detach().nan_to_num(0).double().requires_grad_(), [
                v.detach().double().requires_grad_() for v in self.parameters]
            expected = torch.autograd.grad(reference(clean, lengths, *weights), (clean, *weights),
                                           gradient.nan_to_num(0).double())
            for one, other in zip(found, expected):
                self.close(one, other)

    def test_layers(self):
        """Activations, biases that are not there, and weights that lie the other way round."""
        lengths, (w1, b1, w2, b2) = torch.tensor([9, 0, 20]), self.parameters
        for activation in FUNCTIONS:
            self.expect(new(3, 20, WIDTH), lengths, self.parameters, activation)
        for biases in ((None, b2), (b1, None), (None, None)):
            self.expect(new(3, 20, WIDTH), lengths, [w1, biases[0], w2, biases[1]])
        turned = [w.detach().T.contiguous().requires_grad_() for w in (w1, w2)]
        x = new(3, 20, WIDTH)
        y = pit.padded_mlp(x, lengths, turned[0].T, b1, turned[1].T, b2)
        y.sum().backward()
        self.expect(new(3, 20, WIDTH), lengths, self.parameters)
        for one, w in zip(turned, (w1, w2)):
            self.assertTrue(one.grad.is_contiguous())
            self.assertEqual(one.grad.shape, w.shape[::-1])

    def test_frozen(self):
        """What has no gradient is not computed."""
        lengths, x = torch.tensor([9, 0, 20]), new(3, 20, WIDTH)
        everything = [x, *self.parameters]
        for trained in ({0}, {1}, {2}, {3}, {4}, {1, 4}, {0, 3}):
            for i, v in enumerate(everything):
                v.requires_grad_(i in trained).grad = None
            self.expect(x, lengths, self.parameters)

    def test_ways(self):
        """Graphs with batches of any size, checkpoints, autocast, meta tensors."""
        targets = []

        compiled = torch.compile(pit.padded_mlp, fullgraph=True, dynamic=True, backend=recorder(targets))

        def kept(*arguments, **options):
            return checkpoint(pit.padded_mlp, *arguments, use_reentrant=False, **options)

        for function in (compiled, kept):
            for batch in (3, 5):
                self.expect(new(batch, 20, WIDTH), torch.randint(0, 21, (batch,)), self.parameters,
                            function=function)
        self.assertIn("pit.train", targets)
        meta = [v.detach().to("meta").requires_grad_() for v in (new(3, 20, WIDTH), *self.parameters)]
        lengths = torch.tensor([9, 0, 20])
        pit.padded_mlp(meta[0], lengths.to("meta"), *meta[1:]).sum().backward()
        self.assertEqual([v.grad.shape for v in meta], [v.shape for v in meta])
        x = new(3, 20, WIDTH)
        with torch.autocast(DEVICE, torch.bfloat16):
            y = pit.padded_mlp(x, lengths, *self.parameters)
        self.assertEqual(y.dtype, torch.bfloat16)
        y.float().square().sum().backward()
        wide = [v.detach().double().requires_grad_() for v in (x, *self.parameters)]
        reference(wide[0], lengths, *wide[1:]).square().sum().backward()
        for one, other in zip((x, *self.parameters), wide):
            self.assertEqual(one.grad.dtype, torch.float32)
            self.assertLess(((one.grad - other.grad).norm() / other.grad.norm()).item(), 0.03)

    def test_gradcheck(self):
        lengths = torch.tensor([2, 0, 3])
        inputs = [new(*shape, dtype=torch.float64) for shape in ((3, 3, 4), (5, 4), (5,), (2, 5), (2,))]

        def function(x, w1, b1, w2, b2):
            return pit.padded_mlp(x, lengths, w1, b1, w2, b2)

        self.assertTrue(gradcheck(function, inputs, nondet_tol=1e-10))
        self.assertTrue(gradgradcheck(function, inputs, nondet_tol=1e-10))


if __name__ == "__main__":
    unittest.main()
