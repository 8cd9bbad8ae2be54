# RUN: env JAX_PLATFORMS=cpu %quick_python %s
# REQUIRES: pit-compile, jax
"""pit.attention in functions that JAX compiles: results, gradients, vmap, against dense ones."""

import sys
import unittest
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

import attention_reference  # noqa: E402
import block_reference  # noqa: E402
import paged_reference  # noqa: E402

random = np.random.default_rng()


def draw(*shape):
    return jnp.asarray(random.standard_normal(shape).astype("f"))


def reference(q, k, v, mask, sinks=None):
    k, v = (jnp.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = jnp.where(mask, jnp.einsum("bhid,bhjd->bhij", q, k) * q.shape[3] ** -0.5, -jnp.inf)
    if sinks is not None:
        column = jnp.broadcast_to(sinks[None, :, None, None], (*scores.shape[:3], 1))
        scores = jnp.concatenate([scores, column], -1)
    chances = jax.nn.softmax(scores)[..., :k.shape[2]]
    return jnp.einsum("bhij,bhje->bhie", chances, v)


class Attention(unittest.TestCase):
    def close(self, found, wanted):
        self.assertEqual(found.shape, wanted.shape)
        np.testing.assert_allclose(found, wanted, atol=2e-5, rtol=1e-4)

    def test_gradients(self):
        q, k, v, sinks = draw(2, 4, 33, 16), draw(2, 2, 40, 16), draw(2, 2, 40, 8), draw(4)
        mask = jnp.asarray(random.random((33, 40)) < 0.5).at[:, 0].set(True)

        def ours(*arrays):
            return pit.attention(*arrays[:3], mask=mask, sink_logits=arrays[3])

        def right(*arrays):
            return reference(*arrays[:3], mask, arrays[3])

        self.close(jax.jit(ours)(q, k, v, sinks), right(q, k, v, sinks))
        found, wanted = (jax.jit(jax.grad(lambda *x: jnp.sin(f(*x)).sum(), (0, 1, 2, 3)))(q, k, v, sinks)
                         for f in (ours, right))
        for made, exact in zip(found, wanted):
            self.close(made, exact)

    def test_gradients_of_bias(self):
        q, k, v = draw(2, 4, 20, 16), draw(2, 2, 30, 16), draw(2, 2, 30, 8)

        def right(bias):
            k_of_heads, v_of_heads = (jnp.repeat(x, 2, 1) for x in (k, v))
            scores = jnp.einsum("bhid,bhjd->bhij", q, k_of_heads) * 0.25 + bias
            return jnp.einsum("bhij,bhje->bhie", jax.nn.softmax(scores), v_of_heads)

        for shape in ((4, 20, 30), (2, 1, 1, 30)):
            found, wanted = (jax.jit(jax.grad(lambda x: jnp.sin(f(x)).sum()))(draw(*shape) * 0 + 0.5)
                             for f in (lambda x: pit.attention(q, k, v, bias=x), right))
            self.close(found, wanted)

    def test_scales(self):
        q, k, v, scale = draw(2, 4, 20, 16), draw(2, 2, 30, 16), draw(2, 2, 30, 8), (jnp.abs(draw(2, 1)) + 0.1) / 20
        stored = (k * 20).astype(jnp.float8_e4m3fn), (v * 20).astype(jnp.int8)
        wide = [x.astype("f") * scale[..., None] for x in stored]
        found, wanted = (jax.jit(jax.grad(lambda q: jnp.sin(f(q)).sum()))(q) for f in (
            lambda q: pit.attention(q, *stored, k_scale=scale, v_scale=scale),
            lambda q: reference(q, *wide, jnp.ones((20, 30), bool))))
        self.close(found, wanted)
        with self.assertRaisesRegex(pit.Error, "k_scale is of a cache"):
            jax.grad(lambda x: pit.attention(q, *stored, k_scale=x).sum())(scale)

    def test_gradients_of_alibi(self):
        q, k, v, slopes = draw(2, 4, 20, 16), draw(2, 2, 30, 16), draw(2, 2, 30, 8), draw(4)

        def right(q, slopes):
            k_of_heads, v_of_heads = (jnp.repeat(x, 2, 1) for x in (k, v))
            far = jnp.arange(30)[None] - jnp.arange(20)[:, None]
            scores = jnp.einsum("bhid,bhjd->bhij", q, k_of_heads) * 0.25 + slopes[:, None, None] * far
            return jnp.einsum("bhij,bhje->bhie", jax.nn.softmax(scores), v_of_heads)

        found, wanted = (jax.jit(jax.grad(lambda *x: jnp.sin(f(*x)).sum(), (0, 1)))(q, slopes)
                         for f in (lambda q, x: pit.attention(q, k, v, alibi=x), right))
        for made, exact in zip(found, wanted):
            self.close(made, exact)

    def test_sequences(self):
        arrays = [draw(1, 4, 33, 16), draw(1, 2, 40, 16), draw(1, 2, 40, 8)]
        starts = jnp.array([0, 20, 33]), jnp.array([0, 30, 40])
        mask = (jnp.arange(33) < 20)[:, None] == (jnp.arange(40) < 30)

        def ours(*arrays):
            return pit.attention(*arrays, cu_seqlens=starts)

        found, wanted = (jax.jit(jax.grad(lambda *x: jnp.sin(f(*x)).sum(), (0, 1, 2)))(*arrays)
                         for f in (ours, lambda *x: reference(*x, mask)))
        for made, exact in zip(found, wanted):
            self.close(made, exact)

    def test_orders(self):
        arrays = [draw(1, 4, 70, 16), draw(1, 2, 70, 16), draw(1, 2, 70, 8)]
        order = jnp.asarray(np.argsort(random.random((4, 70)), -1).astype("i4"))
        blocks = jnp.asarray(random.random((4, 2, 5)) < 0.5).at[:, :, 0].set(True)
        whole = np.asarray(blocks).repeat(64, 1).repeat(16, 2)[:, :70, :70]
        mask = attention_reference.in_orders(whole[None], order[None], order[None])

        def ours(*arrays):
            return pit.attention(*arrays, blocks=blocks, block_size=(64, 16), order=order)

        found, wanted = (jax.jit(jax.grad(lambda *x: jnp.sin(f(*x)).sum(), (0, 1, 2)))(*arrays)
                         for f in (ours, lambda *x: reference(*x, mask)))
        for made, exact in zip(found, wanted):
            self.close(made, exact)
        grid = pit.grid_order((2, 3), (1, 0), like=order)
        self.assertEqual((grid.dtype, grid.tolist()), (jnp.int32, [0, 3, 1, 4, 2, 5]))
        live = pit.block_index(*arrays[:2], top_k=1, segments=30, sinks=3, order=order)
        plain = pit.block_index(*map(np.asarray, arrays[:2]), top_k=1, segments=30, sinks=3, order=np.asarray(order))
        np.testing.assert_array_equal(live, plain)

    def test_logs(self):
        q, k, v = (draw(1, 2, 20, 8) for _ in range(3))
        found = jax.grad(lambda q: pit.attention(q, k, v, causal=True, return_lse=True)[1].sum())(q)
        scores = jnp.where(jnp.tril(jnp.ones((20, 20), bool)), 0, -jnp.inf)
        wanted = jax.grad(lambda q: jax.nn.logsumexp(
            jnp.einsum("bhid,bhjd->bhij", q, k) * 8 ** -0.5 + scores, -1).sum())(q)
        self.close(found, wanted)

    def test_vmap(self):
        q, k, v = (draw(3, 1, 2, 20, 8) for _ in range(3))
        mask = jnp.tril(jnp.ones((20, 20), bool))
        found = jax.vmap(lambda q, k, v: pit.attention(q, k, v, causal=True))(q, k, v)
        self.close(found, jax.vmap(lambda q, k, v: reference(q, k, v, mask))(q, k, v))

    def test_stablehlo(self):
        """What JAX prints of a softmax between two products, with broadcast constants and ops of one
        operation each, becomes one loop, which ends at the diagonal."""
        q, k, v = (draw(2, 2, 70, 16) for _ in range(3))

        def attend(q, k, v):
            return reference(q, k, v, jnp.tril(jnp.ones((70, 70), bool)))

        compiler = pit.Compiler()
        program = compiler.compile(jax.jit(attend).lower(q, k, v).as_text(), explain=True)
        self.assertIn("3 reductions in one loop", compiler.diagnostics)
        self.assertIn("ends where a comparison says", compiler.diagnostics)
        found = program[program.entries[0]](*map(np.asarray, (q, k, v)))
        self.close(found, attend(q, k, v))
        program = compiler.compile(jax.jit(lambda x: jax.nn.logsumexp(x, -1)).lower(q).as_text(),
                                   explain=True)
        self.assertIn("2 reductions in one loop", compiler.diagnostics)
        x = np.array(q)
        x[0, 0, 3], x[0, 1, 4, 5] = -np.inf, np.inf
        with np.errstate(divide="ignore"):
            self.close(program[program.entries[0]](x), np.asarray(jax.nn.logsumexp(x, -1)))

    def test_paged(self):
        given = [draw(2, 4, 2, 16), draw(7, 16, 2, 16), draw(7, 16, 2, 8),
                 jnp.asarray(random.permutation(7)[:6].reshape(2, 3).astype("i4")), jnp.array([48, 9])]
        wanted, logs = paged_reference.paged_attention(*map(np.asarray, given))
        self.close(jax.jit(pit.paged_attention)(*given), wanted)
        found = jax.jit(lambda *x: pit.paged_attention(*x, return_lse=True))(*given)
        self.close(found[0], wanted)
        self.close(found[1], logs)

    def test_block_index(self):
        rng = np.random.default_rng()
        with jax.enable_x64(True):  # lest a rounded sum be on the other side of top_p
            for _ in range(4):
                (q, k), options = block_reference.draw(rng, "f8")
                with self.subTest(q=q.shape, k=k.shape, **options):
                    wanted = block_reference.block_index(q, k, **options)
                    found = jax.jit(lambda q, k: pit.block_index(q, k, **options))(q, k)
                    np.testing.assert_array_equal(np.broadcast_to(found, wanted.shape), wanted)

                arrays, options = block_reference.draw_pages(rng)
                with self.subTest(shapes=[x.shape for x in arrays], **options):
                    found = jax.jit(lambda *x: pit.page_index(*x, **options))(*arrays)
                    for made, right in zip(found, block_reference.page_index(*arrays, **options)):
                        np.testing.assert_array_equal(made, right)


if __name__ == "__main__":
    unittest.main()
