# RUN: pit-compile %S/Inputs/functions.mlir -o %t.so
# RUN: env PIT_TEST_FUNCTIONS=%t.so %python %s
# REQUIRES: pit-compile, torch
"""Tensors of torch on the CPU. test/GPU has the tests on a GPU."""

import sys
import unittest
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import functions, pit  # noqa: E402

f = functions()


class Tensors(unittest.TestCase):
    def check(self):
        a, b, c = torch.randn(33, 70), torch.randn(70, 5), torch.randn(33, 5)
        result = f.matmul(a, b, c)
        self.assertIs(type(result), torch.Tensor)
        torch.testing.assert_close(result, a @ b + c)
        out = torch.full((33, 5), float("nan"))
        self.assertIs(f.matmul(a, b, c, out=out), out)
        torch.testing.assert_close(out, a @ b + c)
        for name, dtype in {"f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
                            "i8": torch.int8, "i64": torch.int64}.items():
            x = torch.tensor([1, -2, 3], dtype=dtype)
            result = f[f"double_{name}"](x)
            self.assertEqual(result.dtype, dtype)
            torch.testing.assert_close(result, x + x)
        mask = torch.tensor([True, False, True])
        self.assertEqual(f.masked(torch.tensor([1.0, 2.0, 4.0]), mask).item(), 5)
        self.assertEqual(f.rows(torch.tensor(2), torch.zeros(4)).shape, (2, 4))

    def refuses(self, message, tensor):
        with self.assertRaisesRegex(pit.Error, message):
            f.double_f32(tensor)

    def check_refused(self):
        self.refuses("detach", torch.zeros(3, requires_grad=True))
        self.refuses("contiguous", torch.zeros(6)[::2])
        self.refuses("", torch.zeros(3).to_sparse())
        self.refuses("", torch.zeros(3, dtype=torch.complex64))
        self.refuses("", torch.zeros(3, device="meta"))
        self.refuses("resolve_neg", torch._neg_view(torch.zeros(3)))

    def test_exchange_interface(self):
        adapter = pit._arrays.adapter_of(torch.Tensor)
        if adapter.fill is None:
            self.skipTest(f"torch {torch.__version__} has no exchange interface of DLPack")
        self.check()
        self.check_refused()

    def test_capsules(self):
        adapter = pit._arrays.adapter_of(torch.Tensor)
        fill, adapter.fill = adapter.fill, None
        try:
            self.check()
            self.check_refused()
        finally:
            adapter.fill = fill

    def test_parameter_without_a_gradient(self):
        x = torch.nn.Parameter(torch.ones(3), requires_grad=False)
        torch.testing.assert_close(f.double_f32(x), 2 * torch.ones(3))

    def test_index(self):
        x = torch.randn(20, 11)
        x[torch.rand(20) < 0.5] = 0
        w, c = torch.randn(11, 4), torch.zeros(20, 4)
        index = pit.build_index(x, (1, None), 0)
        torch.testing.assert_close(f.indexed(x, w, index, c), x @ w)


if __name__ == "__main__":
    unittest.main()
