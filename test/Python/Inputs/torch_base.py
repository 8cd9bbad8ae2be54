"""Random tensors, and the comparison of results and gradients with float64, for tests of ops."""

import os
import sys
import unittest
from pathlib import Path

import torch
from torch.autograd import gradcheck, gradgradcheck

sys.path.insert(0, str(Path(__file__).parent))
from setup import pit  # noqa: E402, F401

DEVICE = os.environ.get("PIT_TEST_DEVICE", "cpu")
torch.set_default_device(DEVICE)
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
FUNCTIONS = {
    None: lambda x: x, "relu": torch.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh,
    "silu": torch.nn.functional.silu, "gelu": torch.nn.functional.gelu}


def dense(*shape, dtype=torch.float64, grad=True):
    return torch.randn(*shape, dtype=torch.float64).to(dtype).requires_grad_(grad)


def zeros(*shape, dtype=torch.float64, grad=True, live_fraction=0.4):
    """Random elements, most of them zeros, anywhere."""
    x = torch.randn(*shape, dtype=torch.float64) * (torch.rand(*shape) < live_fraction)
    return x.to(dtype).requires_grad_(grad)


def wide(x):
    """The same tensor in float64, a leaf of its own."""
    return x.detach().double().requires_grad_(x.requires_grad)


class Base(unittest.TestCase):
    def close(self, found, expected, tolerance, what=""):
        self.assertEqual(found.shape, expected.shape)
        if expected.numel():
            scale = max(1.0, expected.abs().max().item())
            error = (found.double() - expected.double()).abs().max().item() / scale
            self.assertLessEqual(error, tolerance, what)

    def compare(self, function, reference, *tensors):
        """Results and gradients of `function` and those of `reference` in float64."""
        same = [wide(x) if x.is_floating_point() else x for x in tensors]
        found, expected = function(*tensors), reference(*same)
        tolerance = TOLERANCE[found.dtype]
        self.close(found, expected, tolerance)
        asked = [i for i, x in enumerate(tensors) if x.requires_grad]
        if not asked:
            self.assertFalse(found.requires_grad)
            return
        grad = torch.randn(found.shape, dtype=torch.float64).to(found.dtype)
        grads = torch.autograd.grad(found, [tensors[i] for i in asked], grad)
        wanted = torch.autograd.grad(expected, [same[i] for i in asked], grad.double())
        for i, one, other in zip(asked, grads, wanted):
            self.assertEqual(one.dtype, tensors[i].dtype)
            # A derivative of an activation is taken at a rounded result.
            self.close(one, other, 4 * tolerance, f"gradient of argument {i}")

    def check(self, function, *inputs):
        # Sums of a GPU may be in another order each time.
        self.assertTrue(gradcheck(function, inputs, nondet_tol=1e-10))
        self.assertTrue(gradgradcheck(function, inputs, nondet_tol=1e-10))
