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


class Older(torch.Tensor):
    """A tensor of a version of torch without DLPack's exchange interface."""

    __dlpack_c_exchange_api__ = None


class Tensors(unittest.TestCase):
    def check(self, kind):
        made = lambda tensor: tensor.as_subclass(kind)
        a, b, c = torch.randn(33, 70), torch.randn(70, 5), torch.randn(33, 5)
        result = f.matmul(made(a), made(b), made(c))
        self.assertIs(type(result), torch.Tensor)
        torch.testing.assert_close(result, a @ b + c)
        out = made(torch.full((33, 5), float("nan")))
        self.assertIs(f.matmul(made(a), made(b), made(c), out=out), out)
        torch.testing.assert_close(out.as_subclass(torch.Tensor), a @ b + c)
        for name, dtype in {"f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
                            "i8": torch.int8, "i64": torch.int64}.items():
            x = torch.tensor([1, -2, 3], dtype=dtype)
            result = f[f"double_{name}"](made(x))
            self.assertEqual(result.dtype, dtype)
            torch.testing.assert_close(result, x + x)
        for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
            x, y = (made(torch.randn(9, 9).to(dtype)) for _ in range(2))
            result = pit.matmul(x, y)
            self.assertEqual(result.dtype, torch.float32)
            torch.testing.assert_close(result, x.to(torch.float32) @ y.to(torch.float32))
            self.assertEqual(pit.matmul(x, y, dtype=dtype).dtype, dtype)
        mask = torch.tensor([True, False, True])
        self.assertEqual(f.masked(made(torch.tensor([1.0, 2.0, 4.0])), made(mask)).item(), 5)
        self.assertEqual(f.rows(made(torch.tensor(2)), made(torch.zeros(4))).shape, (2, 4))

    def refuses(self, message, tensor):
        with self.assertRaisesRegex(pit.Error, message):
            f.double_f32(tensor)

    def check_refused(self, kind):
        made = lambda tensor: tensor.as_subclass(kind)
        self.refuses("argument 0: a tensor that requires a gradient would lose it; use "
                     r"tensor.detach\(\)", made(torch.zeros(3)).requires_grad_())
        self.refuses("contiguous", made(torch.zeros(6)[::2]))
        self.refuses("", torch.zeros(3).to_sparse())
        self.refuses("", made(torch.zeros(3, dtype=torch.complex64)))
        self.refuses("argument 0: .*conj", made(torch.zeros(3, dtype=torch.complex64).conj()))
        self.refuses("", torch.zeros(3, device="meta"))
        self.refuses("argument 0: the tensor's memory holds its negation; use tensor.resolve_neg",
                     made(torch._neg_view(torch.zeros(3))))
        self.refuses("", torch.zeros(3).to_mkldnn())
        self.refuses("", torch.nested.nested_tensor([torch.zeros(3)]))
        with self.assertRaisesRegex(pit.Error, "result 0: a tensor that requires a gradient"):
            f.double_f32(made(torch.zeros(3)), out=made(torch.zeros(3)).requires_grad_())

    def check_gradients(self, kind):
        """A tensor that requires a gradient is refused only where one would be recorded."""
        made = torch.ones(3).as_subclass(kind).requires_grad_()
        twice = torch.full((3,), 2.0)
        for mode in (torch.no_grad, torch.inference_mode):
            with mode():
                torch.testing.assert_close(f.double_f32(made).as_subclass(torch.Tensor), twice)
                self.assertIs(f.double_f32(torch.ones(3), out=made), made)
                made.copy_(torch.ones(3))

        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return f.double_f32(x)

            @staticmethod
            def backward(ctx, gradient):
                return f.double_f32(gradient.contiguous())

        Double.apply(made).sum().backward()
        torch.testing.assert_close(made.grad.as_subclass(torch.Tensor), twice)
        # A promise, and what an index and a live fraction count, have no gradient.
        pit.constant(made).close()
        index = pit.build_index(made, micro_tile=[1], axis=0)
        self.assertEqual(index.total, 3)
        index.rebuild(made)
        self.assertEqual(pit.live_fractions(made, [((1,), 0)])[0].live, 3)

    def test_gradients(self):
        self.check_gradients(torch.Tensor)

    def test_gradients_by_capsules(self):
        self.check_gradients(Older)

    def test_without_memory(self):
        """Tensors that compute in their own way."""
        from torch._subclasses.fake_tensor import FakeTensorMode
        with FakeTensorMode() as mode:
            self.refuses("a FakeTensor, which computes in its own way, has no memory",
                         mode.from_tensor(torch.zeros(3)))
        with self.assertRaisesRegex(pit.Error, "torch.func transforms .* torch.library.custom_op"):
            torch.func.vmap(f.double_f32)(torch.zeros(2, 3))

    def test_memory(self):
        """Ops read and write tensors that programs do not: negated ones, and those with gaps."""
        a, b = torch.randn(5, 8), torch.randn(8, 6)
        wanted = a @ b
        memory = torch.zeros(a.nbytes + 1, dtype=torch.uint8)
        odd = torch.frombuffer(memory.numpy(), dtype=torch.float32, count=40, offset=1).view(5, 8)
        odd.copy_(a)
        for _ in range(2):
            for left in (torch._neg_view(-a), torch.complex(a, -a).conj().imag, odd):
                torch.testing.assert_close(pit.matmul(left, b), wanted)
                torch.testing.assert_close(pit.build_index(left, (1, 1), 1).total, 40)
            for out in (torch.zeros(6, 5).T, torch.zeros(5, 12)[:, ::2],
                        torch._neg_view(torch.zeros(5, 6))):
                self.assertIs(pit.matmul(a, b, out=out), out)
                torch.testing.assert_close(out, wanted)
                stacked = out.new_zeros(3, *out.shape).transpose(1, 2).contiguous().transpose(1, 2)
                self.assertIs(pit.linear(a.expand(3, 5, 8), b.T, out=stacked), stacked)
                torch.testing.assert_close(stacked, wanted.expand(3, 5, 6))
            with self.assertRaisesRegex(pit.Error, "single memory location"):
                pit.matmul(a, b, out=torch.zeros(1, 6).expand(5, 6))
            with self.assertRaisesRegex(pit.Error, "a tensor that requires a gradient"):
                pit.matmul(a, b, out=torch.zeros(6, 5, requires_grad=True).T)

    def test_exchange_interface(self):
        if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
            self.skipTest(f"torch {torch.__version__} has no exchange interface of DLPack")
        self.check(torch.Tensor)
        self.check_refused(torch.Tensor)

    def test_capsules(self):
        self.check(Older)
        self.check_refused(Older)

    def test_result_is_the_frameworks_own(self):
        result = f.double_f32(torch.ones(3))
        result.resize_(1000)  # memory of somebody else cannot grow
        self.assertFalse(result.requires_grad)
        with torch.inference_mode():
            self.assertTrue(f.double_f32(torch.ones(3)).is_inference())

    def test_a_view_of_a_tensor(self):
        bits = torch.tensor([0x3F80, -0x3FC0], dtype=torch.int16)  # 1, -3
        result = f.double_bf16(pit.view(bits, "bf16"))
        torch.testing.assert_close(result, torch.tensor([2, -6], dtype=torch.bfloat16))

    def test_parameter_without_a_gradient(self):
        x = torch.nn.Parameter(torch.ones(3), requires_grad=False)
        torch.testing.assert_close(f.double_f32(x), 2 * torch.ones(3))

    def test_index(self):
        x = torch.randn(20, 11)
        x[torch.rand(20) < 0.5] = 0
        w, c = torch.randn(11, 4), torch.zeros(20, 4)
        index = pit.build_index(x, (1, 0), 0)
        torch.testing.assert_close(f.indexed(x, w, index, c), x @ w)


if __name__ == "__main__":
    unittest.main()
