# RUN: %python %s
# REQUIRES: pit-compile, torch
"""Functions of pit.jit on tensors of torch."""

import sys
import unittest
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import tiles  # noqa: E402
from setup import pit  # noqa: E402


class Torch(unittest.TestCase):
    def test_types(self):
        for dtype, tolerance in ((torch.float32, 1e-5), (torch.bfloat16, 2e-2),
                                 (torch.float16, 4e-3)):
            a, b = torch.randn(70, 90, dtype=dtype), torch.randn(90, 50, dtype=dtype)
            got = tiles.matmul(a, b)
            self.assertEqual(got.dtype, dtype)
            wanted = torch.relu(a.double() @ b.double() + 1)
            torch.testing.assert_close(got.double(), wanted, rtol=tolerance, atol=20 * tolerance)

    def test_experts(self):
        x, w, gate = torch.randn(50, 40), torch.randn(5, 40, 70), torch.rand(50, 5)
        to = torch.stack([torch.randperm(5)[:2] for _ in range(50)]).int()
        share = torch.zeros(50, 5).scatter_(1, to.long(), gate.gather(1, to.long()))
        wanted = torch.einsum("te,tk,ekn->tn", share.double(), x.double(), w.double())
        torch.testing.assert_close(tiles.experts(x, w, to, gate).double(), wanted, rtol=1e-4,
                                   atol=1e-4)

    def test_out(self):
        a, b = torch.randn(7, 9), torch.randn(9, 5)
        c = torch.empty(7, 5)
        self.assertIs(tiles.matmul(a, b, out=c), c)
        torch.testing.assert_close(c, torch.relu(a @ b + 1))

    def test_wrong(self):
        a = torch.randn(7, 9)
        with self.assertRaisesRegex(pit.Error, "contiguous|strides"):
            tiles.matmul(a.T, a)


if __name__ == "__main__":
    unittest.main()
