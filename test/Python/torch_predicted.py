# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""pit.torch.PredictedMlp: the neurons that a predictor names, against torch in float64."""

import copy
import sys
import unittest
from pathlib import Path
from unittest import mock

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402
from pit.torch import _predicted  # noqa: E402

K, F, N = 24, 80, 20
FUNCTIONS = {"relu": torch.relu, "relu2": lambda h: torch.relu(h) ** 2, "silu": nn.functional.silu}


def layers(dtype=torch.float32, bias=True):
    torch.manual_seed(0)
    return [nn.Linear(a, b, bias=bias, dtype=dtype) for a, b in ((K, F), (K, F), (F, N))]


def reference(x, mask, gate, up, down, activation):
    def product(layer, x):
        return nn.functional.linear(x, layer.weight.double(), None if layer.bias is None else layer.bias.double())

    x = x.double()
    h = FUNCTIONS[activation](product(gate, x)) if gate is not None else FUNCTIONS[activation](product(up, x))
    return product(down, (h * product(up, x) if gate is not None else h) * mask)


class Predicted(unittest.TestCase):
    @torch.no_grad()
    def test_values(self):
        """Each way to compute it: token by token, of tokens at once, of all neurons."""
        for dtype, bias, with_gate, activation, limit in (
                (torch.float32, True, False, "relu", 1e-5), (torch.float32, False, True, "relu2", 1e-5),
                (torch.float64, True, True, "silu", 1e-13), (torch.bfloat16, True, False, "relu", 2e-2)):
            gate, up, down = layers(dtype, bias)
            gate = gate if with_gate else None
            for tokens, part, ways in ((1, 0.2, [1]), (5, 0.05, [1, 8]), (5, 0.3, [1, 8]), (3, 0.0, [1, 4])):
                mask = torch.rand(tokens, F) < part
                x = torch.randn(tokens, K, dtype=dtype)
                mlp = pit.torch.PredictedMlp(up, down, lambda x: mask, gate=gate, activation=activation)
                expected = reference(x, mask, gate, up, down, activation)
                for at_once in (*ways, 0):
                    with mock.patch.object(_predicted, "tokens_at_once", lambda mask, half: at_once):
                        found = mlp(x)
                    self.assertEqual(found.dtype, dtype)
                    torch.testing.assert_close(found.double(), expected, rtol=0,
                                               atol=limit * expected.abs().max().item() + 1e-30)

    @torch.no_grad()
    def test_threads(self):
        """Parts of the neurons, whose results are added."""
        _, up, down = layers()
        mask = torch.rand(2, F) < 0.3
        x = torch.randn(2, K)
        threads = torch.get_num_threads()
        for count in (1, 3, 8):
            torch.set_num_threads(count)
            try:
                self.assertEqual(_predicted.parts_of(F, 1), {1: 1, 3: 2, 8: 8}[count])
                found = pit.torch.PredictedMlp(up, down, lambda x: mask)(x)
            finally:
                torch.set_num_threads(threads)
            torch.testing.assert_close(found.double(), reference(x, mask, None, up, down, "relu"),
                                       rtol=0, atol=1e-5)

    def test_which_way(self):
        def way(tokens, part):
            return _predicted.tokens_at_once(torch.rand(tokens, 4096) < part)

        torch.manual_seed(0)
        self.assertEqual([way(1, 0.9), way(16, 0.01), way(4, 0.15), way(16, 0.3)], [1, 1, 4, 0])
        same = (torch.rand(1, 4096) < 0.2).expand(16, -1)  # neurons that all tokens share
        self.assertEqual(_predicted.tokens_at_once(same), 16)

    def test_low_rank(self):
        gate, up, down = layers()
        with torch.no_grad():  # of rank 4, but for noise
            up.weight.copy_(torch.randn(F, 4) @ torch.randn(4, K) / 4 + 1e-3 * torch.randn(F, K))
        mlp = pit.torch.PredictedMlp(up, down, rank=4)
        named, missed = mlp.check(torch.randn(50, K))
        self.assertTrue(0.2 < named < 0.8 and missed < 0.02, (named, missed))
        x = torch.randn(2, 3, K)
        expected = down(torch.relu(up(x)))
        with torch.no_grad():
            torch.testing.assert_close(mlp(x), expected, rtol=0, atol=0.02)
            torch.testing.assert_close(mlp(torch.cat([x] * 3)), torch.cat([expected] * 3))  # all neurons
            for other in (copy.deepcopy(mlp), pit.torch.PredictedMlp(up, down, rank=4)):
                other.load_state_dict(mlp.state_dict())
                torch.testing.assert_close(other(x), mlp(x))
        grads = torch.autograd.grad(mlp(x).square().sum(), list(up.parameters()))
        self.assertTrue(all(g.isfinite().all() and g.any() for g in grads))
        graph = torch.compile(mlp, fullgraph=True, backend="eager")
        torch.testing.assert_close(graph(x), mlp(x))

    def test_errors(self):
        _, up, down = layers()
        with self.assertRaisesRegex(pit.Error, r"up has \(80, 24\), gate \(80, 24\) and down \(80, 24\)"):
            pit.torch.PredictedMlp(up, up, rank=4)
        with self.assertRaisesRegex(pit.Error, "no activation 'gelu'; there are relu, relu2, silu"):
            pit.torch.PredictedMlp(up, down, rank=4, activation="gelu")
        with self.assertRaisesRegex(pit.Error, "give a predictor, or the rank="):
            pit.torch.PredictedMlp(up, down)
        with self.assertRaisesRegex(pit.Error, r"rank=25; the weight has \(80, 24\)"):
            pit.torch.PredictedMlp(up, down, rank=25)
        with self.assertRaisesRegex(pit.Error, r"gives \(1, 24\) for x \(1, 24\); it must be \(1, 80\)"):
            pit.torch.PredictedMlp(up, down, lambda x: x)(torch.zeros(1, K))


if __name__ == "__main__":
    unittest.main()
