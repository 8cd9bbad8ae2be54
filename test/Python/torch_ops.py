# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""Ops by meaning on tensors of torch: results and gradients against float64. With
PIT_TEST_DEVICE=cuda on a GPU, as test/GPU/torch_device.py runs it."""

import os
import sys
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import torch
from torch.autograd import gradcheck

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from torch_base import Base, DEVICE, FUNCTIONS, TOLERANCE, dense, pit, zeros  # noqa: E402

from pit.ops import _op  # noqa: E402


class SmallFloats(Base):
    def test_scales(self):
        a = torch.randn(20, 64).to(torch.float8_e4m3fn)
        w = torch.randn(12, 64).to(torch.float8_e5m2)
        rows, blocks = torch.rand(20, 2), torch.rand(2, 3)
        expected = ((a.double() * rows.repeat_interleave(32, 1))
                    @ (w.t().double() * blocks.repeat_interleave(32, 0).repeat_interleave(4, 1)))
        function = lambda *given: pit.scaled_matmul(*given)
        batch = lambda x: pit.scaled_matmul(x, w.t(), torch.tensor(2.0), blocks)
        for run in (function, torch.compile(function, fullgraph=True)):
            torch.testing.assert_close(run(a, w.t(), rows, blocks).double(), expected, rtol=1e-5,
                                       atol=1e-4)
            with torch.autocast("cpu", dtype=torch.bfloat16):  # scales stay f32
                torch.testing.assert_close(run(a, w.t(), rows, blocks).double(), expected,
                                           rtol=1e-5, atol=1e-4)
        stacked = torch.stack([a, a.flip(0)])
        torch.testing.assert_close(torch.func.vmap(batch)(stacked), torch.stack(
            [batch(each) for each in stacked]))
        with self.assertRaisesRegex(pit.Error, "scaled_matmul has no gradients"):
            pit.scaled_matmul(a, w.t(), rows.requires_grad_(), blocks).sum().backward()

    def test_products(self):
        for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
            a, b = torch.randn(20, 32).relu().to(dtype), torch.randn(32, 12).to(dtype)
            expected = a.double() @ b.double()

            def check(found, dtype=torch.float32, tolerance=1e-5):
                self.assertEqual(found.dtype, dtype)
                torch.testing.assert_close(found.double(), expected, rtol=tolerance,
                                           atol=tolerance * 10)

            check(pit.matmul(a, b))
            check(pit.matmul(a, b, sparse=None))
            check(pit.matmul(a, b, dtype=torch.bfloat16), torch.bfloat16, 1e-2)
            check(pit.linear(a.view(4, 5, 32), b.T).view(20, 12))
            check(pit.matmul(a, b, mask=a.float() != 0))
            check(pit.einsum("mk,nk->mn", a, b.T.contiguous(), sparse="a"))
            check(torch.func.vmap(lambda x: pit.matmul(x, b))(a.view(4, 5, 32)).view(20, 12))
            check(torch.compile(lambda a, b: pit.matmul(a, b), fullgraph=True)(a, b))
            out = torch.empty(20, 12)
            check(pit.matmul(a, b, out=out))
            self.assertEqual(pit.matmul(a, b, dtype=dtype).dtype, dtype)
            for bias in (torch.float32, torch.bfloat16, dtype):
                bias = torch.randn(12).to(bias)
                found = pit.linear(a, b.T, bias, activation="relu", sparse=None)
                torch.testing.assert_close(found.double(), torch.relu(expected + bias.double()),
                                           rtol=1e-5, atol=1e-4)
            bias = torch.randn(12, requires_grad=True)
            pit.linear(a, b.T, bias).sum().backward()
            torch.testing.assert_close(bias.grad, torch.full((12,), 20.0))
            with self.assertRaisesRegex(pit.Error, "b has elements of f32, a of f8"):
                pit.matmul(a, b.float())


class Gradients(Base):
    """By torch.autograd.gradcheck, of first and second order."""

    def test_values(self):
        a, b = zeros(5, 7), dense(7, 3)
        self.check(pit.matmul, a, b)
        self.check(pit.matmul, zeros(2, 3, 4, 5), dense(3, 5, 2))
        self.check(lambda a, b: pit.matmul(a, b, sparse=("a", "b")), a, zeros(7, 3))
        self.check(lambda a: pit.einsum("mk->m", a, sparse="a"), a)
        self.check(lambda a, b, c: pit.einsum("mk,kn,mn->mn", a, b, c, sparse="c"), a, b,
                   zeros(5, 3))

    def test_mask(self):
        a, b, mask = dense(5, 7), dense(7, 3), torch.rand(5, 7) < 0.5
        self.check(lambda a, b: pit.matmul(a, b, mask=mask), a, b)
        self.check(lambda a: pit.einsum("mk->m", a, sparse="a", mask=mask), a)
        kept = torch.rand(7, 3) < 0.5
        self.check(lambda a, b: pit.matmul(a, b, sparse="b", mask=kept), a, b)

    def test_masks_that_broadcast(self):
        for shape in ((2, 1, 5), (4, 1), (1, 4, 5), ()):
            mask = torch.rand(shape) < 0.5
            self.check(lambda a, b: pit.einsum("bqd,bkd->bqk", a, b, sparse="out", mask=mask),
                       dense(2, 4, 3), dense(2, 5, 3))
        for shape in ((2, 1, 3), (3,), (4, 1)):
            mask = torch.rand(shape) < 0.5
            self.check(lambda x, w: pit.linear(x, w, mask=mask, activation="relu"), dense(2, 4, 3),
                       dense(5, 3))
        for shape, name in (((1, 1, 4, 3), "x"), ((2, 1, 1, 1), "x"), ((3, 1, 1), "weight")):
            mask = torch.rand(shape) < 0.5
            for stride in (1, 2):
                self.assertTrue(gradcheck(
                    lambda x, w: pit.conv2d(x, w, sparse=name, mask=mask, stride=stride),
                    (dense(2, 3, 4, 3), dense(2, 3, 2, 2)), nondet_tol=1e-10))

    def test_wanted(self):
        wanted = torch.rand(2, 5, 3) < 0.4
        self.check(lambda a, b: pit.masked_matmul(a, b, wanted), dense(2, 5, 7), dense(2, 7, 3))

    def test_lengths(self):
        lengths = torch.tensor([3, 0])
        self.check(lambda a, b: pit.einsum("bmk,kn->bmn", a, b, sparse="a", lengths=lengths),
                   dense(2, 4, 5), dense(5, 3))
        # No other operand has the dim of rows.
        self.check(lambda a, b: pit.einsum("bmk,kn->bn", a, b, sparse="a", lengths=lengths),
                   dense(2, 4, 5), dense(5, 3))
        for activation in (None, "tanh", "gelu", "relu"):
            self.check(lambda x, w, c: pit.padded_linear(x, lengths, w, c, activation=activation),
                       dense(2, 4, 5), dense(3, 5), dense(3))

    def test_routing(self):
        routing = torch.tensor([[0, 2], [1, -1], [3, 0], [-1, -1], [2, 1]])
        self.check(lambda g, t, w: pit.einsum("te,tk,ekn->tn", g, t, w, sparse="a",
                                              routing=routing),
                   dense(5, 4), dense(5, 6), dense(4, 6, 3))

    def test_index(self):
        mask = torch.rand(6, 8) < 0.5
        for tile, axis in (((1, 1), 1), ((1, 0), 0), ((2, 1), 1)):
            index = pit.build_index(mask, tile, axis, source="mask")
            self.check(lambda a, b: pit.matmul(a, b, index=index), dense(6, 8), dense(8, 3))

    def test_dense_gradient(self):
        """As on a GPU, where blocks along a dim that is summed up are not skipped: that of x for blocks of
        rows of a weight."""
        from pit.torch import _gradients
        real, taken = _gradients.takes_dense, []

        def on_gpu(op, i, selectors, _):
            taken.append(real(op, i, selectors, True))
            return taken[-1]

        mask = torch.rand(8, 6) < 0.5
        blocks = mask[::4].repeat_interleave(4, 0), mask[:, :1].expand(8, 6).contiguous()
        for kept, tile, axis, wanted in ((blocks[0], (4, 1), 1, True), (blocks[1], (1, 0), 0, False)):
            index = pit.build_index(kept, tile, axis, source="mask")
            x, w = dense(2, 3, 6), (dense(8, 6) * kept).detach().requires_grad_()
            with mock.patch.object(_gradients, "takes_dense", on_gpu):
                y = pit.linear(x, w, sparse="weight", index=index, assume=True)
                found = torch.autograd.grad(y, (x, w), torch.ones_like(y))
            y = torch.nn.functional.linear(x, w * kept)
            for each, right in zip(found, torch.autograd.grad(y, (x, w), torch.ones_like(y))):
                torch.testing.assert_close(each, right)
            self.assertEqual(taken, [wanted, False])
            taken.clear()

    def test_index_built_again(self):
        """Between a call and its gradients."""
        mask = torch.rand(6, 8) < 0.5
        index = pit.build_index(mask, (1, 1), 1, source="mask")
        a, b = dense(6, 8), dense(8, 3)
        for call in (lambda: pit.matmul(a, b, index=index).sum(),
                     lambda: torch.func.vjp(lambda a: pit.matmul(a, b, index=index), a)[1]):
            before = call()
            index.rebuild(~mask)
            with self.assertRaisesRegex(pit.Error, "matmul: its index was built again .* at version "
                                        f"{index.version}, the call read version "
                                        f"{index.version - 1}"):
                before.backward() if torch.is_tensor(before) else before(torch.ones(6, 3).double())
        self.check(lambda a, b: pit.matmul(a, b, index=index), a, b)

    def test_forward_and_batched(self):
        """Gradients that are taken forwards, in batches, and both; by torch.func, too."""
        mask, wanted = torch.rand(2, 5) < 0.5, torch.rand(2, 3) < 0.5
        index = pit.build_index(mask, (1, 1), 1, source="mask")
        lengths, routing = torch.tensor([3, 0]), torch.tensor([[1], [0]])
        matrices = zeros(2, 5), dense(5, 3)
        for name, function, inputs in (
                ("values", pit.matmul, matrices),
                ("assume", lambda a, b: pit.matmul(a, b, mask=mask, assume=True),
                 (torch.where(mask, dense(2, 5), 0).detach().requires_grad_(), matrices[1])),
                ("wanted", lambda a, b: pit.masked_matmul(a, b, wanted), matrices),
                ("index", lambda a, b: pit.matmul(a, b, index=index), matrices),
                ("activation", lambda x, w, c: pit.linear(x, w.t(), c, activation="tanh"),
                 (*matrices, dense(3))),
                ("lengths", lambda x, w, c: pit.padded_linear(x, lengths, w, c, activation="silu"),
                 (dense(2, 3, 2), dense(2, 2), dense(2))),
                ("routing", lambda g, t, w: pit.einsum("te,tk,ekn->tn", g, t, w, sparse="a",
                                                       routing=routing),
                 (dense(2, 2), dense(2, 3), dense(2, 3, 2))),
                ("conv2d", lambda x, w, c: pit.conv2d(x, w, c, padding=1, activation="relu"),
                 (zeros(1, 2, 3, 3), dense(2, 2, 2, 2), dense(2))),
                ("moe", lambda x, u, d: pit.moe(x, x.new_ones(2, 1), routing, None, u, d),
                 (dense(2, 2), dense(2, 2, 3), dense(2, 3, 2)))):
            with self.subTest(name):
                if name != "assume":  # which holds for the values that there are
                    self.assertTrue(gradcheck(
                        function, inputs, nondet_tol=1e-10, check_forward_ad=True,
                        check_batched_grad=True, check_batched_forward_grad=True))
                which = tuple(range(len(inputs)))
                inputs = [x.detach() for x in inputs]
                forwards = torch.func.jacfwd(function, which)(*inputs)
                backwards = torch.func.jacrev(function, which)(*inputs)
                for found, expected in zip(forwards, backwards):
                    self.close(found, expected, 1e-9)
                square = lambda x: function(x, *inputs[1:]).square().sum()
                expected = torch.autograd.functional.hessian(square, inputs[0])
                self.close(torch.func.hessian(square)(inputs[0]), expected, 1e-9)
                self.close(torch.autograd.functional.hessian(square, inputs[0], vectorize=True),
                           expected, 1e-9)
        # A bias alone, and what changes between a call and its tangent.
        x, w, c = dense(2, 3, 2), dense(2, 2), dense(2)
        found = torch.func.jvp(lambda c: pit.padded_linear(x, lengths, w, c), (c,), (c,))[1]
        there = (torch.arange(3) < lengths[:, None])[..., None]
        self.close(found, c * there, 1e-12)
        with self.assertRaisesRegex(pit.Error, "scaled_matmul has no gradients"):
            torch.func.jvp(lambda s: pit.scaled_matmul(w.float(), w.float(), s, s),
                           (torch.ones(()),), (torch.ones(()),))

    @unittest.skipIf(os.environ.get("PIT_TEST_DEVICE") == "cuda", "a GPU has one such thread")
    def test_batches_in_another_thread(self):
        """A GPU's gradients are computed in a thread that does not know of the caller's batch."""
        x, w = zeros(2, 5), dense(5, 3)
        y = pit.matmul(x, w)

        class Elsewhere(torch.autograd.Function):
            @staticmethod
            def forward(ctx, y):
                return y.clone()

            @staticmethod
            def backward(ctx, grad):
                with ThreadPoolExecutor(1) as pool:
                    return pool.submit(torch.autograd.grad, y, x, grad).result()[0] @ w.detach()

        grads = torch.randn(4, 2, 3, dtype=y.dtype)
        found, = torch.autograd.grad(Elsewhere.apply(y), y, grads, is_grads_batched=True)
        self.close(found, grads @ w.detach().T @ w.detach(), 1e-12)

    def test_shapes_alone(self):
        """Tensors of the device "meta", and nested ones, which have no one shape."""
        x, w = (dense(*shape).to("meta").requires_grad_() for shape in ((2, 3, 7), (4, 7)))
        lengths = torch.zeros(2, dtype=torch.int64, device="meta")
        for found in (pit.linear(x, w), pit.padded_linear(x, lengths, w, activation="gelu")):
            self.assertEqual((found.shape, found.device.type), ((2, 3, 4), "meta"))
            self.assertEqual(torch.autograd.grad(found.sum(), w)[0].shape, w.shape)
        with torch.no_grad():
            self.assertEqual(pit.matmul(x, w.t()).shape, (2, 3, 4))
        with self.assertRaisesRegex(pit.Error, "'k'"):
            pit.linear(x, w.t())
        for layout in (torch.strided, torch.jagged):
            nested = torch.nested.nested_tensor([torch.zeros(2, 7), torch.zeros(3, 7)],
                                                layout=layout)
            for call in (pit.linear, lambda x, w: pit.einsum("bsk,nk->bsn", x, w)):
                with self.assertRaisesRegex(pit.Error, ": [ax] is a nested tensor"):
                    call(nested, torch.zeros(4, 7))

    def test_linear(self):
        for activation in FUNCTIONS:
            self.check(lambda x, w, c: pit.linear(x, w, c, activation=activation), zeros(2, 3, 7),
                       dense(4, 7), dense(4))

    def test_experts(self):
        experts = torch.tensor([[0, 1], [2, -1], [1, 2], [-1, -1]])
        inputs = dense(4, 3), dense(4, 2), dense(3, 3, 5), dense(3, 3, 5), dense(3, 5, 2)
        self.check(lambda x, r, g, u, d: pit.moe(x, r, experts, g, u, d, activation="silu"),
                   *inputs)

    def test_padded_mlp(self):
        lengths = torch.tensor([2, 3])
        self.check(lambda x, w1, b1, w2: pit.padded_mlp(x, lengths, w1, b1, w2, None,
                                                        activation="silu"),
                   dense(2, 3, 4), dense(5, 4), dense(5), dense(4, 5))

    def test_masked_mlp(self):
        """With frozen weights the gradient of x is one program; others go through both products."""
        for tokens, blocks, neurons, live in (
                (6, 3, 8, 0.5), (12, 1, 3, 0.5), (4, 4, 8, 0), (4, 2, 1, 1)):
            x, w1, b1 = dense(tokens, 5), dense(24, 5), dense(24)
            w2, b2 = dense(7, 24), dense(7)
            mask = torch.rand(blocks, neurons) < live
            here = mask.repeat_interleave(tokens // blocks, 0).repeat_interleave(24 // neurons, 1)
            for activation, function in FUNCTIONS.items():
                def plain(x, w1, b1, w2, b2):
                    linear = torch.nn.functional.linear
                    return linear(torch.where(here, function(linear(x, w1, b1)), 0), w2, b2)

                call = lambda x, w1, b1, w2, b2: pit.masked_mlp(x, mask, w1, b1, w2, b2,
                                                                activation=activation)
                frozen = [v.detach() for v in (w1, b1, w2, b2)]
                names, run = [], _op.call
                with mock.patch.object(_op, "call",
                                       lambda op, *v: names.append(op.name) or run(op, *v)):
                    self.compare(call, plain, x, *frozen)
                if x.is_cpu:
                    self.assertEqual(
                        names, [] if mask.all() else ["masked_mlp", "masked_mlp_dx"])
                self.compare(call, plain, x, *(v.t().contiguous().t() for v in frozen))
                self.compare(call, plain, x, w1, b1, w2, b2)
        mask[0] = False
        x = dense(4, 5)
        self.check(lambda x: pit.masked_mlp(x, mask, w1.detach(), None, w2.detach(), None,
                                            activation="tanh"), x)


class Values(Base):
    def test_types(self):
        for dtype in TOLERANCE:
            x, w, b = zeros(9, 20, dtype=dtype), dense(7, 20, dtype=dtype), dense(7, dtype=dtype)
            for activation, function in FUNCTIONS.items():
                self.compare(lambda x, w, b: pit.linear(x, w, b, activation=activation),
                             lambda x, w, b: function(x @ w.T + b), x, w, b)
        a, b = torch.randint(-9, 9, (9, 20), dtype=torch.int8), torch.ones(20, 3, dtype=torch.int8)
        self.assertTrue(torch.equal(pit.matmul(a, b), a.int() @ b.int() if DEVICE == "cpu"
                                    else (a.double() @ b.double()).int()))

    def test_wider_result(self):
        a, b = zeros(9, 20, dtype=torch.float16), dense(20, 3, dtype=torch.float16)
        y = pit.matmul(a, b, dtype=torch.float32)
        self.assertEqual(y.dtype, torch.float32)
        y.sum().backward()
        self.assertEqual(a.grad.dtype, torch.float16)
        self.close(a.grad, b.detach().double().sum(1).expand(9, 20), 4e-3)

    def test_sizes(self):
        """Of 0 and 1, and what no zero is in."""
        for m, k, n in ((0, 20, 7), (1, 20, 7), (5, 0, 7), (5, 1, 1), (5, 20, 0), (1, 1, 1)):
            self.compare(pit.matmul, torch.matmul, zeros(m, k), dense(k, n))
        self.compare(pit.matmul, torch.matmul, dense(5, 8), dense(8, 3))
        self.compare(pit.matmul, torch.matmul, zeros(5, 8, live_fraction=0), dense(8, 3))

    def test_layouts(self):
        a, b = zeros(18, 20), dense(20, 7)
        for change in (lambda x: x.t(), lambda x: x[::2], lambda x: x.t()[1:].t(),
                       lambda x: x[:1].expand(18, 20)):
            first = change(a).t() if change(a).shape[0] == 20 else change(a)
            second = b if first.shape[1] == 20 else b[: first.shape[1]]
            self.compare(pit.matmul, torch.matmul, first, second)
        self.compare(pit.matmul, torch.matmul, a, dense(7, 20).t())
        y = pit.matmul(a, b)
        y.backward(torch.ones(1, 1, dtype=torch.float64).expand(18, 7))  # strides of 0

    def test_what_requires_gradients(self):
        for asked in range(8):
            x, w, b = (dense(*shape, grad=bool(asked >> i & 1))
                       for i, shape in enumerate(((5, 8), (3, 8), (3,))))
            for activation, function in FUNCTIONS.items():
                self.compare(lambda x, w, b: pit.linear(x, w, b, activation=activation),
                             lambda x, w, b: function(x @ w.T + b), x, w, b)
        with torch.no_grad():
            self.assertFalse(pit.matmul(zeros(5, 8), dense(8, 3)).requires_grad)
        with torch.inference_mode():
            self.assertEqual(pit.matmul(zeros(5, 8), dense(8, 3)).shape, (5, 3))

    def test_known_calls(self):
        """A call that was seen before, on tensors of which more is wanted now."""
        x, w = zeros(6, 8, grad=False), dense(5, 8, grad=False)
        expected = x @ w.T
        call = lambda: pit.linear(x, w)
        for _ in range(2):
            self.close(call(), expected, 1e-12)
        w.requires_grad_()
        self.assertTrue(call().requires_grad)
        with torch.no_grad():
            self.assertFalse(call().requires_grad)
        with torch.inference_mode():
            self.close(call(), expected, 1e-12)
        parameter = torch.nn.Parameter(w.detach())
        self.assertTrue(pit.linear(x, parameter).requires_grad)
        with torch.no_grad():
            self.close(pit.linear(x, parameter), expected, 1e-12)
        w.requires_grad_(False)
        self.assertFalse(call().requires_grad)
        with torch.autocast(DEVICE, torch.bfloat16):
            self.assertEqual(pit.linear(x.float(), w.float()).dtype, torch.bfloat16)
        self.assertEqual(pit.linear(x.float(), w.float()).dtype, torch.float32)
        batch = zeros(3, 6, 8, grad=False)
        mapped = torch.func.vmap(lambda each: pit.linear(each, w))
        for _ in range(2):
            self.close(mapped(batch), batch @ w.T, 1e-12)
        for _ in range(2):  # memory that holds the negation
            self.close(pit.linear(torch.complex(x, x).conj().imag, w), -expected, 1e-12)
            self.close(pit.linear(torch._neg_view(x), w), -expected, 1e-12)

    def test_background_goes_nowhere(self):
        a, b, mask = dense(5, 7), dense(7, 3), torch.rand(5, 7) < 0.5
        poisoned = torch.where(mask, a.detach(), float("nan")).requires_grad_()
        self.compare(lambda a, b: pit.matmul(a, b, mask=mask),
                     lambda a, b: torch.where(mask, a, 0) @ b, poisoned, b)
        lengths, there = torch.tensor([2, 0, 4]), torch.arange(4) < torch.tensor([[2], [0], [4]])
        x = torch.where(there[..., None], dense(3, 4, 7).detach(), float("inf")).requires_grad_()
        self.compare(lambda x, b: pit.padded_linear(x, lengths, b.t()),
                     lambda x, b: torch.where(there[..., None], torch.where(
                         there[..., None], x, 0) @ b, 0), x, b)

    def test_experts(self):
        x, r = dense(40, 16, dtype=torch.float32), torch.rand(40, 2).requires_grad_()
        experts = torch.rand(40, 6).topk(2).indices
        weights = [dense(6, 16, 24, dtype=torch.float32) for _ in range(2)]
        down = dense(6, 24, 16, dtype=torch.float32)

        def reference(x, r, gate, up, down):
            hidden = torch.nn.functional.silu(torch.einsum("tk,ekf->tef", x, gate)) * torch.einsum(
                "tk,ekf->tef", x, up)
            table = torch.zeros(40, 6, dtype=r.dtype).scatter(1, experts, r)
            return torch.einsum("te,tef,efn->tn", table, hidden, down)

        self.compare(lambda x, r, g, u, d: pit.moe(x, r, experts, g, u, d), reference, x, r,
                     *weights, down)
        self.compare(lambda x, r, g, u, d: pit.moe(x, r, experts, g, u, d), reference,
                     *(v.detach() for v in (x, r, *weights, down)))

    def test_threads(self):
        a, b = zeros(64, 48), dense(48, 16)
        expected = torch.autograd.grad((a @ b).square().sum(), (a, b))
        errors = []

        def work():
            try:
                for _ in range(20):
                    found = torch.autograd.grad(pit.matmul(a, b).square().sum(), (a, b))
                    for one, other in zip(found, expected):
                        self.close(one, other, 1e-12)
            except Exception as error:  # of a thread
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])


class Observed(Base):
    """What profilers and FlopCounterMode see."""

    def test_profiler(self):
        a, b = dense(5, 8, grad=False), dense(8, 3, grad=False)
        pit.matmul(a, b)  # planned, so that another call would go without Python
        activities = [torch.profiler.ProfilerActivity.CPU]
        with torch.profiler.profile(activities=activities) as profile:
            result = pit.matmul(a, b)
            pit.linear(dense(5, 8), dense(3, 8)).sum().backward()
        torch.testing.assert_close(result, a @ b)
        counts = {e.key: e.count for e in profile.key_averages() if e.key.startswith("pit::")}
        self.assertEqual(counts["pit::matmul"], 1)
        self.assertEqual(counts["pit::linear"], 1)

    def count(self, function, *inputs):
        with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
            result = function(*inputs)
            if result.requires_grad:
                result.sum().backward()
        return counter.get_total_flops()

    def test_operations(self):
        """As many as torch counts for what is the same."""
        import torch.utils.flop_counter  # noqa: F401
        x, w = dense(2, 4, 9, 9, grad=False), dense(6, 4, 3, 3, grad=False)
        half = w[:, :2].contiguous()
        for mine, theirs, inputs in [
                (pit.matmul, torch.matmul, (dense(5, 8, grad=False), dense(8, 3, grad=False))),
                (pit.linear, torch.nn.functional.linear, (dense(5, 8), dense(3, 8))),
                (pit.conv2d, torch.conv2d, (x, w)),
                (lambda x, w: pit.conv2d(x, w, groups=2),
                 lambda x, w: torch.conv2d(x, w, groups=2), (x, half))]:
            self.assertEqual(self.count(mine, *inputs), self.count(theirs, *inputs))
        f32 = [dense(*shape, dtype=torch.float32, grad=False)
               for shape in ((4, 3), (4, 2), (3, 3, 5), (3, 3, 5), (3, 5, 2))]
        experts = torch.tensor([[0, 1], [2, 1], [1, 2], [0, 1]])
        self.assertEqual(self.count(
            lambda x, r, g, u, d: pit.moe(x, r, experts, g, u, d, activation="silu"), *f32),
            2 * 4 * 2 * (2 * 3 * 5 + 5 * 2))
        self.assertEqual(self.count(
            lambda x, r, g, u, d: pit.moe(x, r, experts, g, u, d, activation="silu"),
            *(v.clone().requires_grad_() for v in f32)), 3 * 2 * 4 * 2 * (2 * 3 * 5 + 5 * 2))
        lengths, weights = torch.tensor([2, 1]), [f32[2][0].t().contiguous(), dense(
            4, 5, dtype=torch.float32, grad=False)]
        self.assertEqual(self.count(
            lambda x, w1, w2: pit.padded_mlp(x, lengths, w1, None, w2, None),
            f32[0].reshape(2, 2, 3), *weights), 2 * 4 * (3 * 5 + 5 * 4))


class Errors(Base):
    def test_messages(self):
        a, b = zeros(5, 8), dense(8, 3)
        for message, function in {
                "matmul: dimension 0 of b is 3, but dimension 1 of a is 8": lambda: pit.matmul(
                    a, b.t()),
                "matmul: out= takes no part in gradients": lambda: pit.matmul(
                    a, b, out=torch.empty(5, 3, dtype=torch.float64)),
                "convert one of them": lambda: pit.matmul(a, b.float()),
                "matmul: a is a tensor of layout torch.sparse_coo": lambda: pit.matmul(
                    a.detach().to_sparse(), b.detach()),
                "matmul: a ndarray beside tensors": lambda: pit.matmul(
                    a, b.detach().cpu().numpy())}.items():
            with self.assertRaises(pit.Error) as caught:
                function()
            self.assertIn(message, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
