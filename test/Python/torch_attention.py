# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""pit.attention on tensors of torch: gradients, graphs, batches of vmap, bf16, BlockMask; against
torch in float64, with scores as a whole."""

import sys
import unittest
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

import attention_reference  # noqa: E402
import block_reference  # noqa: E402
import paged_reference  # noqa: E402


def reference(q, k, v, mask=None, causal=False, align="start", window=None, sinks=None,
              sink_logits=None, alibi=None, bias=None, lengths=None, cu_seqlens=None, scale=None,
              softcap=None):
    q, k, v = (x.double() for x in (q, k, v))
    heads, queries, keys = q.shape[1], q.shape[2], k.shape[2]
    k, v = (x.repeat_interleave(heads // x.shape[1], 1) for x in (k, v))
    scores = q @ k.mT * (scale or q.shape[3] ** -0.5)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if bias is not None:
        scores = scores + bias.double()
    i = torch.arange(queries)[:, None] + (keys - queries if align == "end" else 0)
    j = torch.arange(keys)
    if cu_seqlens is not None:
        i, j, of_one = map(torch.from_numpy, attention_reference.places(
            *(x.numpy() for x in cu_seqlens), queries, keys, align))
    if alibi is not None:
        scores = scores + alibi.double()[:, None, None] * (j - i)
    counts = torch.ones(scores.shape, dtype=torch.bool)
    if cu_seqlens is not None:
        counts &= of_one
    if mask is not None:
        counts &= mask
    if causal:
        counts &= j <= i
    if window is not None:
        near = (j > i - window) & (causal | (j < i + window))
        counts &= near if sinks is None else near | (j < sinks)
    if lengths is not None:
        counts &= j < lengths[:, None, None, None]
    scores = scores.masked_fill(~counts, -torch.inf)
    base = scores.amax(-1, keepdim=True).detach()
    powers = torch.exp(scores - torch.where(base == -torch.inf, 0, base))
    sums = powers.sum(-1, keepdim=True)
    nothing = sums == 0
    if sink_logits is not None:
        sums = sums + torch.exp(sink_logits.double()[:, None, None] - torch.where(
            base == -torch.inf, 0, base))
    sums = torch.where(sums == 0, 1, sums)
    return torch.where(nothing, 0, powers @ v / sums)


def draw(rng, dtype="f4", **sizes):
    arrays, options, wanted = attention_reference.draw(rng, dtype, head_sizes=(8, 16), **sizes)
    return ([torch.from_numpy(x) for x in arrays],
            *({name: tensors_of(x) for name, x in each.items()} for each in (options, wanted)))


def tensors_of(x):
    if isinstance(x, tuple) and isinstance(x[0], np.ndarray):
        return tuple(map(torch.from_numpy, x))
    return torch.from_numpy(np.array(x)) if isinstance(x, np.ndarray) else x


class Attention(unittest.TestCase):
    def close(self, found, wanted, limit=3e-4):
        self.assertEqual(found.shape, wanted.shape)
        off = (found.double() - wanted).abs().max().item()
        self.assertLessEqual(off / max(1, wanted.abs().max().item()), limit)

    def gradients(self, call, tensors, grad):
        given = [x.clone().requires_grad_() for x in tensors]
        result = call(*given)
        return result, torch.autograd.grad(result, given, grad.to(result.dtype))

    def test_gradients(self):
        seed = int(np.random.default_rng().integers(2 ** 31))
        print("seed", seed)
        rng = np.random.default_rng(seed)
        for i in range(4):
            tensors, options, wanted = draw(
                rng, "f2" if i == 3 else "f4", sizes=[(70, 65), (64, 130), (1, 40), (65, 64)][i])
            shapes = {name: getattr(x, "shape", x) for name, x in options.items()}
            with self.subTest(shapes=[x.shape for x in tensors], **shapes):
                grad = torch.randn(*tensors[0].shape[:3], tensors[2].shape[3])
                found = self.gradients(lambda *x: pit.attention(*x, **options), tensors, grad)
                right = self.gradients(lambda *x: reference(*x, **wanted), tensors, grad)
                for made, exact in zip((found[0], *found[1]), (right[0], *right[1])):
                    self.close(made, exact, 1e-2 if i == 3 else 3e-4)

    def test_deterministic(self):
        """All gradients are one program of f16 on a device, unless its order of sums has to be known."""
        q = SimpleNamespace(is_cuda=True, dtype=torch.float16)
        self.assertTrue(pit.torch._attention.is_in_one_loop(q))
        torch.use_deterministic_algorithms(True)
        try:
            self.assertFalse(pit.torch._attention.is_in_one_loop(q))
        finally:
            torch.use_deterministic_algorithms(False)
        self.assertFalse(pit.torch._attention.is_in_one_loop(torch.zeros(1, dtype=torch.float16)))

    def test_gradients_of_sinks_and_logs(self):
        q, k, v = (torch.randn(1, 2, 33, 8) for _ in range(3))
        sinks = torch.randn(2)

        def logs(q, k, v, sinks):
            scores = (q.double() @ k.double().mT) * 8 ** -0.5
            sinks = sinks.double()[None, :, None, None].expand(1, 2, 33, 1)
            return torch.cat([scores, sinks], -1).logsumexp(-1)

        grad = torch.randn(1, 2, 33)
        found = self.gradients(lambda q, k, v, sinks: pit.attention(
            q, k, v, sink_logits=sinks, return_lse=True)[1], (q, k, v, sinks), grad)
        given = [x.clone().requires_grad_() for x in (q, k, v, sinks)]
        right = torch.autograd.grad(logs(*given), [given[i] for i in (0, 1, 3)], grad.double())
        for i, exact in zip((0, 1, 3), right):
            self.close(found[1][i], exact)
        self.assertFalse(found[1][2].any())

    def test_orders(self):
        """Gradients of blocks in orders, of heads that share keys; in a graph, where it makes the order."""
        q, k, v = torch.randn(2, 4, 150, 16), torch.randn(2, 2, 150, 16), torch.randn(2, 2, 150, 8)
        blocks, grad = torch.rand(1, 4, 3, 5) < 0.6, torch.randn(2, 4, 150, 8)
        options = {"blocks": blocks, "block_size": (64, 32), "causal": True}
        for shape in ((150,), (4, 150), (2, 1, 150)):
            drawn = torch.rand(shape)
            order = np.broadcast_to(drawn.argsort(-1).numpy(), (2, 4, 150))
            mask = attention_reference.repeat(blocks.expand(2, 4, 3, 5).numpy(), (64, 32), 150, 150)
            mask = torch.from_numpy(attention_reference.in_orders(mask, order, order))
            call = torch.compile(lambda *x: pit.attention(*x, order=drawn.argsort(-1), **options),
                                 fullgraph=True, backend="aot_eager")
            found = self.gradients(call, (q, k, v), grad)
            right = self.gradients(lambda *x: reference(*x, mask=mask, causal=True), (q, k, v), grad)
            for made, exact in zip((found[0], *found[1]), (right[0], *right[1])):
                self.close(made, exact.double())
        grid = pit.grid_order((2, 3), (1, 0), like=q)
        self.assertEqual((grid.dtype, grid.tolist()), (torch.int32, [0, 3, 1, 4, 2, 5]))
        live = pit.block_index(q, k, top_k=2, order=torch.stack([torch.arange(150)] * 4))
        self.assertTrue(torch.equal(live, pit.block_index(q, k, top_k=2)))

    def test_gradients_of_bias(self):
        """Of any shape that broadcasts, of which dims of size 1 are sums."""
        rng = np.random.default_rng()
        for i, dims in enumerate(((0, 0, 1, 1), (1, 1, 0, 1), (0, 1, 1, 0), (0, 0, 0, 0), (1, 1, 1, 1))):
            tensors, options, wanted = draw(rng, "f4", sizes=(40, 70))
            sizes = (*tensors[0].shape[:3], 70)
            bias = torch.randn([size if kept else 1 for size, kept in zip(sizes, dims)][i % 2:])
            for each in (options, wanted):
                each.pop("bias", None)
            shapes = {name: getattr(x, "shape", x) for name, x in options.items()}
            with self.subTest(bias=bias.shape, **shapes):
                grad = torch.randn(*sizes[:3], tensors[2].shape[3])
                found = self.gradients(lambda x: pit.attention(*tensors, bias=x, **options), [bias], grad)
                right = self.gradients(lambda x: reference(*tensors, bias=x, **wanted), [bias], grad)
                self.close(found[1][0], right[1][0].double())

    def test_gradients_of_alibi(self):
        """Of slopes, beside those of what draws them; in a graph, and of packed sequences."""
        rng = np.random.default_rng()
        for i in range(4):
            tensors, options, wanted = draw(rng, "f4", sizes=(40, 70))
            slopes = -torch.rand(tensors[0].shape[1])
            for each in (options, wanted):
                each.pop("alibi", None)
                if i == 3:
                    each.pop("lengths", None)
                    each |= dict(cu_seqlens=(torch.tensor([0, 9, 9, 33]), torch.tensor([0, 20, 21, 70])))
            shapes = {name: getattr(x, "shape", x) for name, x in options.items()}
            with self.subTest(shapes=[x.shape for x in tensors], **shapes):
                grad = torch.randn(*tensors[0].shape[:3], tensors[2].shape[3])
                def call(q, x):
                    return pit.attention(q, *tensors[1:], alibi=x, **options)
                call = torch.compile(call, fullgraph=True, backend="aot_eager") if i == 2 else call
                given = tensors[0], slopes
                found = self.gradients(call, given, grad)
                right = self.gradients(lambda q, x: reference(q, *tensors[1:], alibi=x, **wanted), given,
                                       grad)
                for made, exact in zip(found[1], right[1]):
                    self.close(made, exact.double())
        q, k, v = (torch.randn(1, 2, 33, 8) for _ in range(3))
        _, (found,) = self.gradients(lambda x: pit.attention(q, k, v, alibi=x),
                                     [torch.zeros(2, dtype=torch.float16)], torch.ones(1, 2, 33, 8))
        self.assertEqual(found.dtype, torch.float16)

    def test_small_floats(self):
        """Queries and keys of 8 bits beside values of another type, scores times scales of both; no gradients."""
        q, k, v = (torch.randn(shape) for shape in ((2, 4, 70, 128), (2, 2, 130, 128), (2, 2, 130, 8)))
        blocks = torch.rand(4, 2, 3) < 0.6
        mask = torch.from_numpy(attention_reference.repeat(blocks.numpy(), (64, 64), 70, 130))
        order, order_of_keys = torch.randperm(70), torch.randperm(130)
        moved = torch.empty_like(mask)
        moved[:, order[:, None], order_of_keys] = mask
        scales = torch.rand(4, 1) + 0.5, torch.rand(2, 2, 130) + 0.5
        for dtype, other, options, wanted in (
                (torch.float8_e4m3fn, torch.float16, {"causal": True, "align": "end"}, None),
                (torch.float8_e5m2, torch.bfloat16, {"blocks": blocks, "scale": 0.1}, {"mask": mask, "scale": 0.1}),
                (torch.float8_e4m3fn, torch.float32, {"blocks": blocks, "order": (order, order_of_keys)},
                 {"mask": moved})):
            small, values = [x.to(dtype) for x in (q, k)], v.to(other)
            wide = [x.double() * s[..., None] for x, s in zip(small, scales)]
            found = pit.attention(*small, values, q_scale=scales[0], k_scale=scales[1], **options)
            self.assertEqual(found.dtype, other)
            self.close(found, reference(*wide, values, **(wanted or options)),
                       {torch.float32: 3e-4, torch.float16: 4e-3, torch.bfloat16: 2e-2}[other])
        self.close(pit.attention(*small, values), reference(*small, values))
        rows = torch.rand(2, 4, 70) + 0.5
        rows[:, 1] = 0
        self.close(pit.attention(*small, values, q_scale=rows, softcap=3.0),
                   reference(small[0].double() * rows[..., None], small[1], values, softcap=3.0), 3e-4)
        self.close(pit.attention(*small, values, q_scale=rows),
                   reference(small[0].double() * rows[..., None], small[1], values), 3e-4)
        rows[:, 2] = -1
        self.assertTrue(pit.attention(*small, values, q_scale=rows)[:, 2].isnan().all())
        with self.assertRaisesRegex(pit.Error, "v is of a cache or of 8 bits, and has no gradient"):
            pit.attention(*small, values.clone().requires_grad_())
        for error, arrays, options in (
                ("q_scale is that of a q of 8 bits", (q, k, v), {"q_scale": scales[0]}),
                ("v_scale is that of a v of 8 bits", (*small, values), {"v_scale": scales[1]}),
                ("dtype is the result's where q, k and v have 8 bits; others have the type of v", (*small, values),
                 {"dtype": torch.float16}),
                ("there are: f64, f32, f16, bf16", (*small, v.to(torch.float8_e4m3fn)), {"dtype": torch.int32}),
                ("v has elements of i8", (*small, v.to(torch.int8)), {}),
                ("k has elements of bf16", (small[0], k.bfloat16(), v), {})):
            with self.assertRaisesRegex(pit.Error, error):
                pit.attention(*arrays, **options)

    def test_rounded(self):
        """Queries, keys and values of 8 bits: probabilities are rounded to 8 bits, unless keys are read one by one."""
        shapes = (2, 4, 70, 64), (2, 2, 130, 64), (2, 2, 130, 80)
        blocks = torch.rand(4, 2, 3) < 0.6
        blocks[0, 0] = False
        mask = torch.from_numpy(attention_reference.repeat(blocks.numpy(), (64, 64), 70, 130))
        scales = torch.rand(4, 1) + 0.5, torch.rand(2, 2, 130) + 0.5, torch.rand(2, 1) + 0.5
        for dtypes, options, wanted, rounds in (
                (["float8_e4m3fn"] * 3 + ["float16"], {"causal": True, "align": "end"}, None, 1 / 16),
                (["float8_e5m2"] * 3 + ["float32"], {"blocks": blocks}, {"mask": mask}, 1 / 8),
                (["float8_e4m3fn"] * 3 + ["bfloat16"], {"window": 9, "sink_logits": torch.randn(4)}, None, 1 / 16),
                (["float8_e4m3fn"] * 2 + ["float8_e5m2", "float16"], {"mask": mask}, None, 0),
                (["float8_e4m3fn"] * 3 + ["float32"], {"lengths": torch.tensor([0, 77])}, None, 1 / 16)):
            *small, result = (getattr(torch, name) for name in dtypes)
            small = [torch.randn(shape).to(dtype) for shape, dtype in zip(shapes, small)]
            wide = [x.double() * scale[..., None] for x, scale in zip(small, scales)]
            found, logs = pit.attention(*small, q_scale=scales[0], k_scale=scales[1], v_scale=scales[2], dtype=result,
                                        return_lse=True, **options)
            self.assertEqual((found.dtype, logs.dtype), (result, torch.float32))
            exact = reference(*wide, **(wanted or options))
            most = reference(*wide[:2], wide[2].abs(), **(wanted or options)).nan_to_num()
            limit = {torch.float32: 1e-4, torch.float16: 4e-3, torch.bfloat16: 3e-2}[result]
            off = (found.double() - exact.nan_to_num()).abs()
            self.assertTrue((off <= most * rounds + limit).all(), (dtypes, options, off.max()))
            self.assertLessEqual(off.mean(), most.mean() * rounds / 3 + limit)
            _, others = pit.attention(*(x.float() for x in wide), return_lse=True, **options)
            torch.testing.assert_close(logs, others, atol=1e-4, rtol=1e-4)
        self.assertEqual(pit.attention(*small).dtype, torch.float16)
        # Short heads, and a scale of each value: nothing is rounded to 8 bits.
        short = small[2][..., :64]
        self.close(pit.attention(*small[:2], short), reference(*small[:2], short), 8e-3)
        found = pit.attention(*small, v_scale=scales[1])
        self.close(found, reference(*small[:2], small[2].double() * scales[1][..., None]), 8e-3)

    def test_scales(self):
        """A cache of 8 bits: in a graph, with autocast, a batch of vmap; the gradient of q, and no others."""
        q, k, v = (torch.randn(shape) for shape in ((2, 4, 33, 16), (2, 2, 70, 16), (2, 2, 70, 8)))
        scales = (torch.rand(2, 1) + 0.5) / 30, torch.rand(2, 2, 70) / 30
        grad = torch.randn(2, 4, 33, 8)
        call = torch.compile(lambda *x: pit.attention(*x[:3], k_scale=x[3], v_scale=x[4], causal=True,
                                                      align="end"), fullgraph=True, backend="aot_eager")
        for dtype in (torch.float8_e4m3fn, torch.float8_e5m2, torch.int8):
            stored = [(x * 30).to(dtype) for x in (k, v)]
            wide = [x.double() * s[..., None] for x, s in zip(stored, scales)]
            right = self.gradients(lambda q: reference(q, *wide, causal=True, align="end"), [q], grad)
            found = self.gradients(lambda q: call(q, *stored, *scales), [q], grad)
            self.close(found[0], right[0])
            self.close(found[1][0], right[1][0].double())
            with torch.autocast("cpu", torch.bfloat16):
                y = call(q, *stored, *scales)
            self.assertEqual(y.dtype, torch.bfloat16)
            self.close(y, right[0], 2e-2)
        rows = torch.vmap(lambda q, k, v: pit.attention(q[None], k[None], v[None], k_scale=scales[0])[0])(
            q, *stored)
        self.close(rows, reference(q, stored[0].double() * scales[0][..., None], stored[1]))
        for name in ("v", "k_scale"):
            given = dict(v=v.clone(), k_scale=scales[0].clone())
            given[name].requires_grad_()
            with self.assertRaisesRegex(pit.Error, f"{name} is of a cache or of 8 bits"):
                pit.attention(q, stored[0], **given)
        with self.assertRaisesRegex(pit.Error, r"k_scale has shape .* it broadcasts to .*heads of keys"):
            pit.attention(q, *stored, k_scale=torch.ones(3, 1))

    def test_gradients_of_sequences(self):
        """Also in a graph; of other queries and keys than their own, sequences have none."""
        tensors = [torch.randn(shape) for shape in ((1, 4, 150, 16), (1, 2, 180, 16), (1, 2, 180, 8))]
        starts = torch.tensor([0, 70, 70, 140]), torch.tensor([0, 10, 30, 170])
        grad = torch.randn(1, 4, 150, 8)
        for options in ({"causal": True}, {"align": "end", "window": 30, "sinks": 2}):
            options["cu_seqlens"] = starts
            right = self.gradients(lambda *x: reference(*x, **options), tensors, grad)
            call = torch.compile(lambda *x: pit.attention(*x, **options), fullgraph=True,
                                 backend="aot_eager")
            found = self.gradients(call, tensors, grad)
            for made, exact in zip((found[0], *found[1]), (right[0], *right[1])):
                self.close(made, exact)

    def test_graph(self):
        q, k, v = (torch.randn(1, 2, 64, 16, requires_grad=True) for _ in range(3))

        def layer(q, k, v):
            return pit.attention(q * 2, k, v, causal=True).sin()

        compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
        grad = torch.randn(1, 2, 64, 16)
        for made, exact in zip(torch.autograd.grad(compiled(q, k, v), (q, k, v), grad),
                               torch.autograd.grad(layer(q, k, v), (q, k, v), grad)):
            self.close(made, exact.double())

    def test_graph_of_any_sizes(self):
        """All sizes are symbols, and so are numbers that the function finds outside."""
        q, k, v = (torch.randn(2, heads, 37, 16, requires_grad=True) for heads in (4, 2, 2))
        grad, live = torch.randn(2, 4, 37, 16), torch.rand(2, 4, 3, 3) < 0.7
        for options in ({"scale": 0.3, "softcap": 5.0}, {"causal": True, "window": 5, "sinks": 2},
                        {"blocks": live, "block_size": 16, "order": torch.randperm(37)}):
            torch._dynamo.reset()

            def layer(q, k, v, options=options):
                return pit.attention(q, k, v, **options)

            compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend="aot_eager")
            for made, exact in zip(torch.autograd.grad(compiled(q, k, v), (q, k, v), grad),
                                   torch.autograd.grad(layer(q, k, v), (q, k, v), grad)):
                self.close(made, exact.double())

    def test_graph_of_one_tensor(self):
        """A tensor that is given twice: x for all three, one cu_seqlens for queries and keys."""
        x = torch.randn(1, 2, 40, 16, requires_grad=True)
        starts = torch.tensor([0, 7, 40])

        def layer(x):
            return pit.attention(x, x, x, causal=True, cu_seqlens=starts)

        compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
        bounds = ((0, 7), (7, 40))
        right = torch.cat([torch.nn.functional.scaled_dot_product_attention(
            *[x.double()[:, :, a:b]] * 3, is_causal=True) for a, b in bounds], 2)
        self.close(compiled(x), right)
        grad = torch.randn(1, 2, 40, 16)
        self.close(torch.autograd.grad(compiled(x), x, grad)[0],
                   torch.autograd.grad(right, x, grad.double())[0])

    def test_vmap(self):
        q, k, v = (torch.randn(3, 1, 2, 20, 8) for _ in range(3))
        found = torch.vmap(lambda q, k, v: pit.attention(q, k, v, causal=True))(q, k, v)
        for i in range(3):
            self.close(found[i], reference(q[i], k[i], v[i], causal=True))
        grads = torch.vmap(torch.func.grad(lambda q, k, v: pit.attention(q, k, v).sin().sum()))(q, k, v)
        right = torch.vmap(torch.func.grad(lambda q, k, v: reference(q, k, v).sin().sum()))(q, k, v)
        self.close(grads, right.double())

    def test_bf16(self):
        q, k, v = (torch.randn(1, 2, 70, 16).bfloat16() for _ in range(3))
        self.close(pit.attention(q, k, v, causal=True), reference(q, k, v, causal=True), 2e-2)

    def test_block_mask(self):
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        q, k, v = (torch.randn(2, 2, 256, 16) for _ in range(3))

        def near(b, h, i, j):
            return (i - j).abs() < 100

        def same(b, h, i, j):
            return (i // 128) == (j // 128)

        for kept in (near, same):
            mask = create_block_mask(kept, 2, 2, 256, 256, device="cpu")
            self.close(pit.attention(q, k, v, blocks=mask),
                       flex_attention(q.double(), k.double(), v.double(), block_mask=mask))

    def test_paged(self):
        """In a graph, with lengths that change under it; no gradients."""
        rng = np.random.default_rng()
        q, k, v = (torch.randn(shape) for shape in ((2, 4, 16), (7, 16, 2, 16), (7, 16, 2, 8)))
        pages = torch.from_numpy(rng.permutation(7)[:6].reshape(2, 3).astype("i4"))
        call = torch.compile(lambda *x: pit.paged_attention(*x, return_lse=True), fullgraph=True)
        scaled = torch.compile(pit.paged_attention, fullgraph=True, backend="aot_eager")
        for lengths in (torch.tensor([48, 0]), torch.tensor([5, 33])):
            given = [q, k, v, pages, lengths]
            wanted = paged_reference.paged_attention(q[:, :, None].numpy(), *(
                x.numpy() for x in given[1:]))
            stored = [q, *((x * 30).to(torch.float8_e4m3fn) for x in (k, v)), pages, lengths]
            scales = dict(k_scale=torch.rand(7, 16, 2) / 30, v_scale=torch.rand(()) / 30)
            wide = [x.double() * (s[..., None] if s.dim() else s)
                    for x, s in zip(stored[1:3], scales.values())]
            exact, _ = paged_reference.paged_attention(q[:, :, None].numpy(), *(
                x.numpy() for x in (*wide, *given[3:])))
            for found in (pit.paged_attention(*stored, **scales), scaled(*stored, **scales)):
                self.close(found[:, :, None], torch.from_numpy(exact))
            for found in (pit.paged_attention(*given, return_lse=True), call(*given)):
                for made, right in zip(found, wanted):
                    np.testing.assert_allclose(made, right[:, :, 0], atol=1e-5, rtol=1e-5)
        with self.assertRaisesRegex(pit.Error, "paged_attention: it has no gradients"):
            pit.paged_attention(q.requires_grad_(), k, v, pages, lengths)

    def test_block_index(self):
        """Eager, and as one graph, in which nothing asks what a tensor holds."""
        rng = np.random.default_rng()
        for i in range(8):
            (q, k), options = block_reference.draw(rng, "f8")
            with self.subTest(q=q.shape, k=k.shape, **options):
                wanted = block_reference.block_index(q, k, **options)
                options = {name: tensors_of(x) for name, x in options.items()}
                q, k = torch.from_numpy(q).requires_grad_(), torch.from_numpy(k)
                call = pit.block_index if i % 4 else torch.compile(
                    pit.block_index, fullgraph=True, backend="eager", dynamic=False)
                found = call(q, k, **options)
                self.assertEqual((found.dtype, found.requires_grad), (torch.bool, False))
                np.testing.assert_array_equal(found.expand(wanted.shape).numpy(), wanted)
        for i in range(8):
            arrays, options = block_reference.draw_pages(rng)
            with self.subTest(shapes=[x.shape for x in arrays], **options):
                call = pit.page_index if i % 4 else torch.compile(
                    pit.page_index, fullgraph=True, backend="eager", dynamic=False)
                wanted = block_reference.page_index(*arrays, **options)
                for made, right in zip(call(*map(torch.from_numpy, arrays), **options), wanted):
                    np.testing.assert_array_equal(made.numpy(), right)
        for dtype in (torch.bfloat16, torch.float16):
            q, k = (torch.randn(2, heads, places, 24).to(dtype) for heads, places in ((4, 100), (2, 300)))
            live = pit.block_index(q, k, block_size=(32, 16), top_k=7)
            of_q, of_k = (torch.stack([x.mean(2) for x in t.double().split(size, 2)], 2)
                          for t, size in ((q, 32), (k, 16)))
            scores = of_q @ of_k.repeat_interleave(2, 1).mT
            least, most = (scores.masked_fill(other, fill) for other, fill in (
                (~live, torch.inf), (live, -torch.inf)))
            self.assertTrue((live.sum(-1) == 7).all())
            # Means and their products are those of f32, whatever the elements are.
            self.assertTrue((most.amax(-1) < least.amin(-1) + 1e-5 * scores.abs().max()).all())
        q = torch.zeros(1, 2, 130, 8, dtype=torch.bfloat16)
        self.assertTrue((pit.block_index(q, q, top_k=2).sum(-1) == 2).all())
        q = torch.randn(1, 2, 256, 8, dtype=torch.bfloat16)
        wanted = pit.block_index(q, q, top_k=1)
        call = torch.compile(pit.block_index, fullgraph=True, backend="eager")
        rows = torch.vmap(lambda q: pit.block_index(q, q, top_k=1))(q[None])
        for found in (call(q, q, top_k=1), rows[0]):
            self.assertTrue(torch.equal(found, wanted))
        batch = torch.randn(3, 2, 2, 100, 8)
        for options in ({"top_p": 0.3}, {"sinks": 1, "window": 9}, {"top_k": 1, "slash": 2, "causal": True}):
            options["block_size"] = 16
            rows = torch.vmap(lambda q: pit.block_index(q, q, **options))(batch)
            for found, q in zip(rows, batch):
                self.assertTrue(torch.equal(found, pit.block_index(q, q, **options)))
        with self.assertRaisesRegex(pit.Error, "q is an array of torch, k one of numpy"):
            pit.block_index(q, q.float().numpy(), top_k=2)

    def test_errors(self):
        q, k, v = (torch.randn(1, 1, 8, 8, requires_grad=True) for _ in range(3))
        index = pit.build_index(np.ones((1, 1, 8, 8), bool), (0, 0, 64, 1), 3, source="mask")
        with self.assertRaisesRegex(pit.Error, "keys that an index= lists have no gradients"):
            pit.attention(q, k, v, index=index)


if __name__ == "__main__":
    unittest.main()
