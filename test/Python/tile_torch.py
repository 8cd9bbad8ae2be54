# RUN: %python %s
# REQUIRES: pit-compile, torch
"""Functions of pit.jit on tensors of torch."""

import copy
import sys
import unittest
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import tiles  # noqa: E402
from setup import pit  # noqa: E402

from pit import tile  # noqa: E402


class Torch(unittest.TestCase):
    def test_types(self):
        for dtype, tolerance in ((torch.float32, 1e-5), (torch.bfloat16, 2e-2),
                                 (torch.float16, 4e-3)):
            a, b = torch.randn(70, 90, dtype=dtype), torch.randn(90, 50, dtype=dtype)
            got = tiles.matmul(a, b)
            self.assertEqual(got.dtype, dtype)
            wanted = torch.relu(a.double() @ b.double() + 1)
            torch.testing.assert_close(got.double(), wanted, rtol=tolerance, atol=20 * tolerance)

    def test_stored(self):
        """Floats of 8 bits are read, cast, multiplied and written; nothing else takes them."""
        @pit.jit
        def product(a: tile.tensor["M", 32], b: tile.tensor[32, "N"], *, T):
            (M, _), (_, N) = a.shape, b.shape
            c, rounded = tile.empty((M, N), tile.f32), tile.empty((M, N), T)
            for i, j in tile.forall((0, M, 16), (0, N, 16)):
                t = tile.dot(tile.sread(a[i, :]), tile.sread(b[:, j]))
                tile.swrite(c[i, j], t)
                tile.swrite(rounded[i, j], (t * 0.125).to(T))
            return c, rounded

        @pit.jit
        def added(a: tile.tensor["M", 32]):
            M, _ = a.shape
            c = tile.empty((M, 32), a.dtype)
            for i in tile.forall((0, M, 16)):
                t = tile.sread(a[i, :])
                tile.swrite(c[i, :], t + t)
            return c

        for dtype, type_ in ((torch.float8_e4m3fn, tile.f8E4M3FN), (torch.float8_e5m2, tile.f8E5M2)):
            a, b = torch.randn(40, 32).to(dtype), torch.randn(32, 50).to(dtype)
            c, rounded = product(a, b, T=type_)
            torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=1e-5, atol=1e-4)
            self.assertEqual(rounded.dtype, dtype)
            self.assertTrue(torch.equal(rounded.float(), (c * 0.125).to(dtype).float()))
            with self.assertRaisesRegex(pit.Error, rf"\+ does not take {type_.name}; write .to\(tile.f32\)"):
                added(a)

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

    def test_gradients(self):
        """A program gets its gradient from an autograd.Function, under torch.compile, too."""
        class Product(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                ctx.save_for_backward(a, b)
                return tiles.rows(a, b)

            @staticmethod
            def backward(ctx, gradient):
                a, b = ctx.saved_tensors
                gradient = gradient.contiguous()
                return (tiles.rows(gradient, b.T.contiguous()),
                        tiles.rows(a.T.contiguous(), gradient))

        a, b = (torch.randn(9, 9, requires_grad=True) for _ in range(2))
        wanted = torch.autograd.grad((a @ b).square().sum(), (a, b))
        for run in (Product.apply, torch.compile(Product.apply, backend="eager")):
            got = torch.autograd.grad(run(a, b).square().sum(), (a, b))
            torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)
        with self.assertRaisesRegex(pit.Error, r"argument 0 \(a\): a tensor that requires a grad"):
            tiles.rows(a, b)
        with torch.no_grad():
            torch.testing.assert_close(tiles.rows(a, b), a @ b)

    def test_graphs(self):
        a, b = torch.randn(7, 9), torch.randn(9, 5)

        def layer(a, b):
            return torch.relu(tiles.rows(a, b))

        torch.testing.assert_close(torch.compile(layer, backend="eager")(a, b), torch.relu(a @ b))
        torch.compiler.reset()
        with self.assertRaisesRegex(Exception, "runs between graphs; with fullgraph=True"):
            torch.compile(layer, backend="eager", fullgraph=True)(a, b)

        @torch.library.custom_op("pit_test::matmul", mutates_args=())
        def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return tiles.rows(a, b)

        matmul.register_fake(lambda a, b: a.new_empty(a.shape[0], b.shape[1]))
        compiled = torch.compile(lambda a, b: torch.relu(matmul(a, b)), backend="eager",
                                 fullgraph=True)
        torch.testing.assert_close(compiled(a, b), torch.relu(a @ b))

    def test_copies(self):
        """A module that has called a function can be copied."""
        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight, self.run = torch.nn.Parameter(torch.randn(9, 5)), tiles.rows

            @torch.no_grad()
            def forward(self, x):
                return self.run(x, self.weight)

        layer, x = Layer(), torch.randn(7, 9)
        wanted = layer(x)
        torch.testing.assert_close(copy.deepcopy(layer)(x), wanted)

    def test_wrong(self):
        a = torch.randn(7, 9)
        with self.assertRaisesRegex(pit.Error, "contiguous|strides"):
            tiles.matmul(a.T, a)


if __name__ == "__main__":
    unittest.main()
