"""The tile programs of test/Python/Inputs/tiles.py on tensors of a GPU, against torch in
float64. `python3 test/GPU/tiles.py`, on a machine with a GPU, with PIT_RUNTIME_LIBRARY
set and libPITCompiler beside that library."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "test" / "Python" / "Inputs"), str(ROOT / "python")]

import tiles  # noqa: E402
import torch  # noqa: E402

LIMITS = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def dense(*shape, dtype=torch.float32):
    return torch.randn(shape, device="cuda").to(dtype)


def gappy(m, n):
    """Rows and columns of zeros, and single ones."""
    x = dense(m, n)
    x[torch.rand(m) < 0.4] = 0
    x[:, torch.rand(n) < 0.3] = 0
    return torch.where(torch.rand_like(x) < 0.5, x, 0)


class Tiles(unittest.TestCase):
    def check(self, found, expected):
        self.assertEqual(found.shape, expected.shape)
        self.assertTrue(found.is_cuda)
        if expected.numel():
            scale = max(1.0, expected.abs().max().item())
            error = (found.double() - expected).abs().max().item() / scale
            self.assertLessEqual(error, LIMITS[found.dtype])

    def test_matmul(self):
        for dtype in LIMITS:
            for m, k, n in ((128, 64, 256), (33, 70, 21), (0, 5, 3), (5, 0, 3), (1, 1, 1)):
                a, b = dense(m, k, dtype=dtype), dense(k, n, dtype=dtype)
                self.check(tiles.matmul(a, b), (a.double() @ b.double() + 1).relu())

    def test_batched(self):
        a, b = dense(3, 65, 40, dtype=torch.float16), dense(3, 40, 70, dtype=torch.float16)
        self.check(tiles.batched(a, b), a.double() @ b.double())

    def test_live_micro_tiles(self):
        for a in (gappy(130, 90), torch.zeros(130, 90, device="cuda"), dense(130, 90)):
            b = dense(90, 140)
            self.check(tiles.rows(a, b), a.double() @ b.double())
            self.check(tiles.columns(a, b), a.double() @ b.double())

    def test_experts(self):
        x, w = dense(70, 40), dense(5, 40, 60)
        gate, to = dense(70, 5), torch.rand(70, 5, device="cuda").topk(2).indices.int()
        to[3, 1] = -1
        there = torch.zeros(70, 6, device="cuda").scatter(1, to.long() % 6, 1)[:, :5].bool()
        expected = torch.einsum("te,tk,ekn->tn", torch.where(there, gate, 0).double(),
                                x.double(), w.double())
        self.check(tiles.experts(x, w, to, gate), expected)
        half = x.half(), w.half()
        expected = torch.einsum("te,tk,ekn->tn", torch.where(there, gate, 0).double(),
                                *(v.double() for v in half))
        self.check(tiles.atomic(*half, to, gate), expected)
        one = to[:, :1].contiguous()
        expected = torch.stack([v.double() @ w[e].double() for v, e in zip(x, one[:, 0].long())])
        self.check(tiles.routed(x, w, one), expected)

    def test_softmax(self):
        x, mask = dense(50, 90), torch.rand(50, 90, device="cuda") < 0.3
        mask[7] = False
        low = torch.where(mask, x.double(), -torch.inf)
        self.check(tiles.softmax(x, mask), low.softmax(-1).nan_to_num(0))

    def test_layer_norm(self):
        x, scale, shift = gappy(60, 100), dense(100), dense(100)
        live = (x != 0).any(1)
        wanted = torch.nn.functional.layer_norm(x.double(), (100,), scale.double(),
                                                shift.double(), 1e-5)
        self.check(tiles.layer_norm(x, scale, shift, 1e-5),
                   torch.where(live[:, None], wanted, 0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
