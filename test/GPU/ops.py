"""pit's ops on arrays of a GPU, compiled there, against torch in float64.

    PIT_RUNTIME_LIBRARY=LIB/libpit_runtime.so python3 test/GPU/ops.py

Needs a GPU, torch, CuPy and libPITCompiler beside the runtime.
"""

import sys
import unittest
from pathlib import Path

# In the place of this folder, whose cuda.py hides a package that CuPy imports.
sys.path[0] = str(Path(__file__).resolve().parents[2] / "python")

import cupy  # noqa: E402
import torch  # noqa: E402

import pit  # noqa: E402

LIMITS = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
FLOATS = tuple(LIMITS)


def dense(*shape, dtype=torch.float32, scale=1.0):
    return (scale * torch.randn(shape, device="cuda")).to(dtype)


def zeros(*shape, live_fraction=0.1, dtype=torch.float32):
    return torch.where(torch.rand(shape, device="cuda") < live_fraction, dense(*shape), 0).to(dtype)


class Ops(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(torch.seed())

    def check(self, found, expected, dtype=torch.float32):
        self.assertEqual(found.shape, expected.shape)
        self.assertEqual(found.dtype, dtype)
        self.assertTrue(found.is_cuda)
        if expected.numel():
            scale = max(1.0, expected.abs().max().item())
            limit = LIMITS.get(dtype, 0)
            self.assertLessEqual((found.double() - expected).abs().max().item() / scale, limit)

    def test_matmul(self):
        for dtype in FLOATS:
            b = dense(264, 128, dtype=dtype)
            for a in (zeros(300, 264, dtype=dtype), zeros(7, 264, dtype=dtype),
                      zeros(0, 264, dtype=dtype), zeros(300, 264, live_fraction=0, dtype=dtype),
                      dense(300, 264, dtype=dtype)):
                self.check(pit.matmul(a, b), a.double() @ b.double(), dtype)

    def test_layouts(self):
        for dtype in (torch.float16, torch.float32):
            a, w = zeros(130, 264, dtype=dtype), dense(128, 264, dtype=dtype)
            expected = a.double() @ w.double().T
            self.check(pit.matmul(a, w.T), expected, dtype)
            self.check(pit.matmul(a[::2], w.T), expected[::2], dtype)
            bias = dense(128, dtype=dtype)
            self.check(pit.linear(a, w, bias, activation="relu"), (expected + bias).relu(), dtype)
            lead = a.reshape(2, 65, 264)
            self.check(pit.linear(lead, w), expected.reshape(2, 65, 128), dtype)

    def test_what_is_selected(self):
        a, b = dense(130, 264), dense(264, 70)
        mask = torch.rand(130, 264, device="cuda") < 0.2
        poisoned = torch.where(mask, a, float("nan"))
        self.check(pit.matmul(poisoned, b, mask=mask),
                   torch.where(mask, a, 0).double() @ b.double())
        wanted = torch.rand(130, 70, device="cuda") < 0.3
        self.check(pit.masked_matmul(a, b, wanted),
                   torch.where(wanted, a.double() @ b.double(), 0))
        index = pit.build_index(mask, (1, 1), 1, source="mask")
        self.check(pit.matmul(torch.where(mask, a, 0), b, index=index),
                   torch.where(mask, a, 0).double() @ b.double())

    def test_padded(self):
        for dtype in (torch.float32, torch.float16):
            x, w1, b1 = dense(3, 70, 64, dtype=dtype), dense(96, 64, dtype=dtype), dense(96)
            w2, b2 = dense(40, 96, dtype=dtype, scale=0.1), dense(40, dtype=dtype)
            b1 = b1.to(dtype)
            lengths = torch.tensor([5, 0, 70], dtype=torch.int32, device="cuda")
            there = (torch.arange(70, device="cuda") < lengths[:, None])[..., None]
            poisoned = torch.where(there, x, float("nan"))
            hidden = torch.tanh(x.double() @ w1.double().T + b1)
            self.check(pit.padded_linear(poisoned, lengths, w1, b1, activation="tanh"),
                       torch.where(there, hidden, 0), dtype)
            self.check(pit.padded_mlp(poisoned, lengths, w1, b1, w2, b2, activation="tanh"),
                       torch.where(there, hidden @ w2.double().T + b2, 0), dtype)

    def test_moe(self):
        count, k, f, n = 6, 64, 96, 80
        for dtype in (torch.float32, torch.bfloat16):
            gate, up = (dense(count, k, f, dtype=dtype, scale=0.1) for _ in range(2))
            down = dense(count, f, n, dtype=dtype, scale=0.1)
            for tokens in (200, 0, 1):
                x = dense(tokens, k, dtype=dtype)
                weights, experts = torch.rand(tokens, count, device="cuda").topk(2)
                expected = torch.zeros(tokens, n, dtype=torch.float64, device="cuda")
                for e in range(count):
                    each = x.double()
                    hidden = torch.nn.functional.silu(each @ gate[e].double())
                    y = (hidden * (each @ up[e].double())) @ down[e].double()
                    expected += y * torch.where(experts == e, weights, 0).sum(-1, keepdim=True)
                self.check(pit.moe(x, weights, experts, gate, up, down), expected, dtype)

    def test_conv2d(self):
        x, w = zeros(2, 16, 20, 18), dense(24, 16, 3, 3)
        expected = torch.nn.functional.conv2d(x.double(), w.double(), padding=1)
        self.check(pit.conv2d(x, w, padding=1), expected)

    def test_streams_and_graphs(self):
        a, b = zeros(130, 264, dtype=torch.float16), dense(264, 128, dtype=torch.float16)
        out = torch.empty(130, 128, dtype=torch.float16, device="cuda")
        pit.matmul(a, b, out=out)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            pit.matmul(a, b, out=out)
            made = pit.matmul(a, b)
        for live_fraction in (0.5, 0, 0.02, 1):
            a.copy_(zeros(130, 264, live_fraction=live_fraction, dtype=torch.float16))
            graph.replay()
            expected = a.double() @ b.double()
            self.check(out, expected, torch.float16)
            self.check(made, expected, torch.float16)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            late = zeros(130, 264, dtype=torch.float16)
            torch.cuda._sleep(10_000_000)
            late.fill_(1)
            found = pit.matmul(late, b)
        stream.synchronize()
        self.check(found, late.double() @ b.double(), torch.float16)

    def test_cupy(self):
        a, b = cupy.random.rand(33, 64, dtype="f"), cupy.random.rand(64, 20, dtype="f")
        a[a < 0.9] = 0
        found = pit.matmul(a, b)
        self.assertIsInstance(found, cupy.ndarray)
        self.assertLess(abs(found - a.astype("d") @ b.astype("d")).max(), 1e-4)

    def test_errors(self):
        a, b = dense(5, 4), dense(4, 3)
        for message, call in (("b is on the CPU, a on cuda:0", lambda: pit.matmul(a, b.cpu())),
                              ("both are 'k'", lambda: pit.matmul(a, a))):
            with self.assertRaisesRegex(pit.Error, message):
                call()


if __name__ == "__main__":
    unittest.main(verbosity=2)
