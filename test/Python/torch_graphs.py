# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""Ops by meaning where torch holds graphs: torch.compile, torch.export, opcheck, fake
tensors, torch.func, autocast. With PIT_TEST_DEVICE=cuda on a GPU."""

import io
import os
import sys
import unittest
import warnings
from pathlib import Path
from unittest import mock

import torch

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

from pit.ops import _op  # noqa: E402

DEVICE = os.environ.get("PIT_TEST_DEVICE", "cpu")
torch.set_default_device(DEVICE)
close = torch.testing.assert_close


def zeros(*shape):
    return torch.relu(torch.randn(*shape) - 0.5)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(16, 32), torch.nn.Linear(32, 8)

    def forward(self, x):
        hidden = pit.linear(x, self.first.weight, self.first.bias, activation="relu", sparse=None)
        return pit.linear(hidden, self.second.weight, self.second.bias)

    def reference(self, x):
        return self.second(torch.relu(self.first(x)))


def calls():
    """A call of each op of pit, its arguments, and torch's form of it."""
    x, w, mask = zeros(6, 16), torch.randn(16, 8), torch.rand(6, 16) < 0.5
    wanted, lengths = torch.rand(6, 8) < 0.5, torch.tensor([2, 0])
    there = torch.arange(3) < lengths[:, None]
    experts = torch.rand(6, 4).topk(2).indices
    routed = torch.zeros(6, 4, dtype=torch.bool).scatter(1, experts, True)
    silu = torch.nn.functional.silu

    def moe(x, r, g, u, d):
        hidden = silu(torch.einsum("tk,ekf->tef", x, g)) * torch.einsum("tk,ekf->tef", x, u)
        return torch.einsum("te,tef,efn->tn", torch.zeros(6, 4).scatter(1, experts, r), hidden, d)

    return {
        "matmul": (lambda x, w: pit.matmul(x, w), torch.matmul, x, w),
        "matmul of batches": (lambda x, w: pit.matmul(x, w), torch.matmul, zeros(2, 3, 16), w),
        "mask that broadcasts": (
            lambda x, w, m: pit.masked_matmul(x, w, m[:, :1]),
            lambda x, w, m: (x @ w) * m[:, :1], x, w, mask),
        "mask": (lambda x, w, m: pit.matmul(x, w, mask=m), lambda x, w, m: (x * m) @ w, x, w,
                 mask),
        "masked_matmul": (lambda x, w, m: pit.masked_matmul(x, w, m),
                          lambda x, w, m: (x @ w) * m, x, w, wanted),
        "linear": (lambda x, w: pit.linear(x, w.t(), activation="gelu"),
                   lambda x, w: torch.nn.functional.gelu(x @ w), x, w),
        "padded_linear": (lambda x, w: pit.padded_linear(x, lengths, w.t()),
                          lambda x, w: x @ w * there[..., None], zeros(2, 3, 16), w),
        "routing": (lambda g, x, w: pit.einsum("te,tk,ekn->tn", g, x, w, sparse="a",
                                               routing=experts),
                    lambda g, x, w: torch.einsum("te,tk,ekn->tn", g * routed, x, w),
                    torch.rand(6, 4), x, torch.randn(4, 16, 8)),
        "moe": (lambda x, r, g, u, d: pit.moe(x, r, experts, g, u, d), moe, x, torch.rand(6, 2),
                torch.randn(4, 16, 8), torch.randn(4, 16, 8), torch.randn(4, 8, 16)),
        "padded_mlp": (lambda x, w, v: pit.padded_mlp(x, lengths, w.t(), None, v, None),
                       lambda x, w, v: torch.nn.functional.gelu(x @ w) @ v.t() * there[..., None],
                       zeros(2, 3, 16), w, torch.randn(16, 8)),
        "conv2d": (lambda x, w: pit.conv2d(x, w, padding=1, activation="relu"),
                   lambda x, w: torch.relu(torch.nn.functional.conv2d(x, w, padding=1)),
                   zeros(2, 3, 6, 5), torch.randn(4, 3, 3, 3)),
    }


class Compile(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()

    def check(self, backend):
        for name, (function, reference, *inputs) in calls().items():
            with self.subTest(name):
                compiled = torch.compile(function, fullgraph=True, backend=backend)
                close(compiled(*inputs), reference(*inputs), atol=2e-4, rtol=2e-4)
                asked = [x.clone().requires_grad_() if x.is_floating_point() else x
                         for x in inputs]
                leaves = [x for x in asked if x.requires_grad]
                found = torch.autograd.grad(compiled(*asked).square().sum(), leaves)
                expected = torch.autograd.grad(reference(*asked).square().sum(), leaves)
                close(found, expected, atol=2e-3, rtol=2e-3)

    def test_each_op(self):
        self.check("aot_eager")

    def test_inductor(self):
        model = Model()
        compiled = torch.compile(model, fullgraph=True)
        for training in (False, True):
            x = torch.randn(10, 16)
            with torch.set_grad_enabled(training):
                y = compiled(x)
                close(y, model.reference(x))
            if training:
                found = torch.autograd.grad(y.square().sum(), list(model.parameters()))
                close(found, torch.autograd.grad(model.reference(x).square().sum(),
                                                 list(model.parameters())), atol=1e-4, rtol=1e-4)

    def test_dynamic_sizes(self):
        graphs = []

        def count(graph, inputs):
            graphs.append(graph)
            return graph.forward

        w = torch.randn(16, 8)
        compiled = torch.compile(lambda x, w: pit.matmul(x, w), fullgraph=True, dynamic=True,
                                 backend=count)
        for rows in (3, 7, 20):
            x = zeros(rows, 16)
            close(compiled(x, w), x @ w)
        self.assertEqual(len(graphs), 1)
        nodes = [str(node.target) for node in graphs[0].graph.nodes if node.op == "call_function"]
        self.assertEqual(nodes, ["pit.run"])

    def test_no_warnings(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = torch.compile(lambda x, w: pit.matmul(x, w, live_fraction=0.2, dtype="f32"),
                                     fullgraph=True, backend="eager")
            compiled(zeros(4, 16), torch.randn(16, 8))

    def test_traced_before_any_call(self):
        """A new process, whose first use of the package is in torch.compile."""
        import subprocess
        for order in ("torch, pit", "pit, torch"):
            text = (f"import {order}\n"
                    "f = torch.compile(lambda x, w: pit.matmul(x, w), fullgraph=True, "
                    "backend='eager')\n"
                    "x, w = torch.ones(2, 3), torch.ones(3, 4)\n"
                    "assert torch.equal(f(x, w), x @ w)\n")
            subprocess.run([sys.executable, "-c", text], check=True, timeout=300, env={
                **os.environ, "PYTHONPATH": str(Path(pit.__file__).parents[1])})

    def test_out(self):
        x, w, out = zeros(4, 16), torch.randn(16, 8), torch.empty(4, 8)
        compiled = torch.compile(lambda x, w, out: pit.matmul(x, w, out=out), fullgraph=True,
                                 backend="aot_eager")
        compiled(x, w, out)
        close(out, x @ w)

    def test_errors(self):
        x, w = zeros(4, 16), torch.randn(16, 8)
        index = pit.build_index(x, (1, 1), 1)
        compiled = torch.compile(lambda x, w: pit.matmul(x, w, index=index), fullgraph=True,
                                 backend="eager")
        with self.assertRaisesRegex(Exception, "index= cannot be part of a graph; pass mask="):
            compiled(x, w)
        compiled = torch.compile(lambda x, w: pit.matmul(x, w), fullgraph=True, backend="eager")
        with self.assertRaisesRegex(Exception, "dimension 0 of b is 8, but dimension 1 of a"):
            compiled(x, w.t())


class Graphs(unittest.TestCase):
    def test_opcheck(self):
        from pit.ops import _op
        for name, (function, _, *inputs) in calls().items():
            found = []

            class Recorder(torch.utils._python_dispatch.TorchDispatchMode):
                def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                    if function is torch.ops.pit.run.default:
                        found.append(args)
                    return function(*args, **kwargs or {})

            with Recorder():
                function(*inputs)
            self.assertEqual(len(found), 1, name)
            tensors, op, index = found[0]
            for grad in (False, True):
                if grad and type(_op.decode(op)).__name__ in ("Experts", "PaddedMlp"):
                    continue  # their gradients are those of other ops
                inputs = [x.detach().clone().requires_grad_(grad and x.is_floating_point())
                          for x in tensors]
                torch.library.opcheck(torch.ops.pit.run.default, (inputs, op, index))

    def test_export(self):
        model, x = Model().eval(), torch.randn(5, 16)
        rows = torch.export.Dim("rows", min=2, max=1000)
        program = torch.export.export(model, (x,), dynamic_shapes=({0: rows},))
        buffer = io.BytesIO()
        torch.export.save(program, buffer)
        buffer.seek(0)
        loaded = torch.export.load(buffer).module()
        for size in (2, 5, 77):
            x = torch.randn(size, 16)
            close(loaded(x), model.reference(x))

    def test_fake_tensors(self):
        from torch._subclasses import FakeTensorMode
        with FakeTensorMode():
            y = pit.matmul(torch.empty(2, 4, 16), torch.empty(16, 8), dtype="f16")
            self.assertEqual((y.shape, y.dtype, y.device.type), ((2, 4, 8), torch.float16, DEVICE))
            with self.assertRaisesRegex(pit.Error, "both are 'k'"):
                pit.matmul(torch.empty(4, 5), torch.empty(16, 8))

    def test_functions(self):
        a, b = zeros(3, 4, 5), torch.randn(5, 2)
        f, g = (lambda b: pit.matmul(a, b).square().sum()), lambda b: (a @ b).square().sum()
        close(torch.func.grad(f)(b), torch.func.grad(g)(b))
        close(torch.func.vmap(lambda x: pit.matmul(x, b))(a), a @ b)
        nothing = torch.func.vmap(lambda x: pit.matmul(x, b))(a[:0])
        self.assertEqual(nothing.shape, (0, 4, 2))
        close(torch.func.vmap(torch.func.grad(lambda x: pit.matmul(x, b).square().sum()))(a),
              torch.func.grad(lambda x: (x @ b).square().sum())(a))
        close(torch.func.jacrev(lambda b: pit.matmul(a[0], b))(b),
              torch.func.jacrev(lambda b: a[0] @ b)(b))

    def test_vmap(self):
        """Beside one call after the other, and in how many calls."""
        x, image = zeros(4, 6, 16), zeros(3, 2, 4, 5, 5)
        w, w2, b = torch.randn(8, 16), torch.randn(16, 8), torch.randn(8)
        experts, up = torch.randint(0, 3, (4, 6, 2)), torch.randn(3, 16, 8)
        experts[..., 1] = (experts[..., 0] + 1) % 3
        gate, down, filters = torch.rand(4, 6, 2), torch.randn(3, 8, 16), torch.randn(7, 4, 3, 3)
        table, lengths = torch.rand(4, 6, 3), torch.randint(0, 4, (4, 2))
        padded, mask = torch.randn(4, 2, 3, 16), torch.rand(3, 2, 4, 5, 5) < 0.5
        moe = lambda x, g, e, w: pit.moe(x, g, e, None, w, down, activation="relu")
        mlp = lambda x, n, w: pit.padded_mlp(x, n, w, b, w2, None, activation="relu")
        routed = lambda t, x, e, w: pit.einsum("te,tk,ekf->tf", t, x, w, sparse="a", routing=e)
        for calls, function, *given in (
                (1, lambda x: pit.linear(x, w, b), x),
                (1, lambda row: pit.linear(row, w, b), x[0]),
                (1, pit.linear, x, w.expand(4, 8, 16)),
                (4, pit.linear, x, w.expand(4, 8, 16), b.expand(4, 8)),
                (1, lambda *v: moe(*v, up), x, gate, experts),
                (1, lambda x: moe(x, gate[0], experts[0], up), x),
                (4, moe, x, gate, experts, up.expand(4, 3, 16, 8)),
                (1, lambda *v: mlp(*v, w), padded, lengths),
                (1, lambda n: mlp(padded[0], n, w), lengths),
                (4, mlp, padded, lengths, w.expand(4, 8, 16)),
                (1, lambda *v: routed(*v, up), table, x, experts),
                (1, lambda e: routed(table[0], x[0], e, up), experts),
                (1, lambda x: pit.conv2d(x, filters, padding=1, activation="relu"), image),
                (1, lambda x, m: pit.conv2d(x, filters, mask=m), image, mask),
                (1, lambda x: pit.conv2d(x.movedim(1, 3), filters.permute(2, 3, 1, 0),
                                         layout="nhwc"), image),
                (3, lambda x, w: pit.conv2d(x, w), image, filters.expand(3, 7, 4, 3, 3)),
                (1, lambda x: pit.linear(x.double(), w.double(), lengths=lengths[0]), padded)):
            expected = torch.stack([function(*each) for each in zip(*given)])
            made, call = [], _op.call
            with mock.patch.object(_op, "call", lambda *v: made.append(1) or call(*v)):
                close(torch.func.vmap(function)(*given), expected)
            self.assertEqual(len(made), calls)
            moved = [x.movedim(0, -1) for x in given]
            close(torch.func.vmap(function, -1, 1)(*moved).movedim(1, 0), expected)
        nested = torch.func.vmap(torch.func.vmap(lambda x: pit.conv2d(x[None], filters)[0]))
        close(nested(image), torch.stack([pit.conv2d(x, filters) for x in image]))
        loss = lambda x, g, e: moe(x, g, e, up).square().sum()
        close(torch.func.vmap(torch.func.grad(loss))(x, gate, experts),
              torch.stack([torch.func.grad(loss)(*each) for each in zip(x, gate, experts)]))

    def test_autocast(self):
        a, b = zeros(4, 16), torch.randn(16, 8, requires_grad=True)
        for dtype in (torch.bfloat16, torch.float16):
            with torch.autocast(DEVICE, dtype=dtype):
                y = pit.matmul(a, b)
                self.assertEqual(y.dtype, dtype)
                close(y, a.to(dtype) @ b.to(dtype), atol=0.1, rtol=0.02)
                self.assertEqual(pit.matmul(a.double(), b.double()).dtype, torch.float64)
                compiled = torch.compile(lambda a, b: pit.matmul(a, b), fullgraph=True,
                                         backend="eager")
                self.assertEqual(compiled(a, b).dtype, dtype)
            grad, = torch.autograd.grad(y.float().sum(), b)
            self.assertEqual(grad.dtype, torch.float32)
            close(grad, a.sum(0)[:, None].expand(16, 8), atol=0.1, rtol=0.02)

    def test_explained(self):
        """pit.explain looks at calls that have gradients, too."""
        x, w = zeros(64, 128), torch.randn(128, 64, requires_grad=True)
        self.assertIn("matmul", repr(pit.explain(pit.matmul, x, w)))


if __name__ == "__main__":
    unittest.main()
