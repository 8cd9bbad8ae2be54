# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""pit.attention of few queries, whose keys a GPU splits: which calls these are, and what they give, against
torch in float64. The GPU's program is that of emulated-attention.test."""

import sys
import unittest
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

from pit.ops import _attention, _few_tiles, _op  # noqa: E402


class OnGpu:
    """A tensor as a GPU's: what the choice looks at."""

    def __init__(self, x):
        self.is_cuda, self.dtype, self.shape = True, x.dtype, x.shape
        self.stride, self.is_contiguous = x.stride, x.is_contiguous


def tensors(b, h, g, m, n, d=64, e=64, dtype=torch.float16):
    return (torch.randn(b, h, m, d, dtype=dtype), torch.randn(b, g, n, d, dtype=dtype),
            torch.randn(b, g, n, e, dtype=dtype))


def is_split(q, k, v, out=None, **options):
    """Whether a call on a GPU would be one of these."""
    taken, run = [], _attention.run
    _attention.run = lambda op, arrays, out: taken.extend((op, arrays))
    try:
        pit.attention(q, k, v, **options)
    finally:
        _attention.run = run
    op, arrays = taken
    on_gpu = None if out is None else OnGpu(out)
    return _few_tiles.find(op, tuple(map(OnGpu, arrays)), on_gpu) is not None


class Choice(unittest.TestCase):
    def test_sizes(self):
        for sizes, expected in (
                ((1, 32, 8, 1, 16384), True), ((16, 32, 8, 1, 4096), True), ((1, 2, 2, 16, 512), True),
                ((1, 2, 2, 16, 511), False), ((1, 2, 2, 17, 4096), False), ((1, 8, 8, 512, 32768), True),
                ((1, 8, 8, 512, 500), False),  # too few keys to be split
                ((1, 8, 8, 2048, 32768), False), ((2, 4, 4, 0, 600), False), ((0, 4, 4, 1, 600), False)):
            self.assertEqual(is_split(*tensors(*sizes)), expected, sizes)

    def test_options(self):
        few = tensors(1, 4, 2, 1, 600)
        ones = torch.ones(1, 4, 1, 600, dtype=torch.bool)
        for options, expected in (
                ({"causal": True}, False), ({"causal": True, "align": "end"}, True), ({"softcap": 5.0}, True),
                ({"window": 90}, False), ({"window": 90, "align": "end"}, True),
                ({"window": 90, "sinks": 2, "align": "end"}, False), ({"mask": ones}, False),
                ({"bias": ones.half()}, False), ({"lengths": torch.tensor([7])}, False),
                ({"alibi": torch.ones(4).half()}, False), ({"return_lse": True}, True)):
            self.assertEqual(is_split(*few, **options), expected, options)

    def test_arrays(self):
        q, k, v = tensors(2, 4, 2, 1, 600)
        turned = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (k, v)]
        self.assertTrue(is_split(q, *turned))
        self.assertFalse(is_split(q, k.mT.contiguous().mT, v))  # keys lie side by side
        self.assertFalse(is_split(q, k.transpose(0, 2).contiguous().transpose(0, 2), v))
        self.assertFalse(is_split(*(x.float() for x in (q, k, v))))
        self.assertFalse(is_split(*tensors(1, 4, 2, 1, 600, d=300)))
        out = torch.empty_like(q)
        self.assertTrue(is_split(q, k, v, out))
        self.assertFalse(is_split(q, k, v, out.float()))
        self.assertFalse(is_split(q, k, v, torch.empty(2, 4, 1, 128, dtype=q.dtype)[..., ::2]))

    def test_errors(self):
        """Are those of pit.attention."""
        q, k, v = tensors(1, 4, 2, 1, 600)
        for other in (tensors(1, 4, 3, 1, 600)[1:], (k, v[:, :, 1:]), (k[..., 1:], v), (k.float(), v)):
            self.assertFalse(is_split(q, *other))


class Values(unittest.TestCase):
    def test_values(self):
        torch.manual_seed(0)
        for sizes, options in (
                ((2, 4, 2, 1, 700), {}), ((1, 4, 4, 3, 600), {"causal": True}), ((1, 2, 1, 64, 515), {"window": 70}),
                ((1, 6, 2, 2, 513), {"causal": True, "window": 100, "softcap": 4.0}), ((3, 2, 2, 2, 9), {"scale": 0.5})):
            for turned in (False, True):
                q, k, v = tensors(*sizes)
                if turned:
                    k, v = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in (k, v))
                options = {"scale": q.shape[3] ** -0.5, "softcap": None, "causal": False, "window": None, **options}
                wanted = pit.attention(q.double(), k.double(), v.double(), align="end", return_lse=True,
                                       **options)
                fields = [options[x] for x in ("scale", "softcap", "causal", "window")]
                splits = _few_tiles.splits_of(2, k.shape[2])
                op = _few_tiles.op_in_parts(q.shape[2], *fields, splits, True)
                found = _few_tiles.run(_op.call, op, (q, k, v), None)
                outs = torch.full_like(q[..., :v.shape[3]], torch.nan), torch.full(q.shape[:3], torch.nan)
                self.assertIs(_few_tiles.run(_op.call, op, (q, k, v), outs), outs)
                for made, written, right in zip(found, outs, wanted):
                    torch.testing.assert_close(made.double(), right, atol=5e-3, rtol=1e-2)
                    self.assertTrue(torch.equal(made, written))
                op = _few_tiles.op_in_parts(q.shape[2], *fields, splits, False)
                alone = _few_tiles.run(_op.call, op, (q, k, v), None)
                self.assertTrue(torch.equal(alone, found[0]))

    def test_slices(self):
        """Keys of a cache that has room for more."""
        q, k, v = tensors(2, 4, 2, 1, 900)
        k, v, full = k[:, :, :700], v[:, :, :700], v
        op = _few_tiles.op_in_parts(1, 0.125, None, False, None, 2, False)
        found = _few_tiles.run(_op.call, op, (q, k, v), None)
        wanted = pit.attention(q.double(), k.double(), v.double())
        torch.testing.assert_close(found.double(), wanted, atol=5e-3, rtol=1e-2)
        self.assertTrue(is_split(q, k, v) and is_split(q, k, full[:, :, 200:]))


if __name__ == "__main__":
    unittest.main()
