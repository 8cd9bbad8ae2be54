# RUN: %quick_python %s
# REQUIRES: pit-compile, jax
"""Programs that JAX writes as StableHLO, against what JAX computes."""

import sys
import unittest
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

random = np.random.default_rng()


def array(*shape, zeros=0.0):
    values = random.standard_normal(shape).astype("f")
    return np.where(random.random(shape) < zeros, 0, values).astype("f")


def mark(x, *mask):
    """What a program of JAX says to pit: that a value has zeros."""
    return jax.ffi.ffi_call("pit.sparse", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, *mask)


def network(x, w1, b1, w2, b2, *, mark=mark):
    h = mark(jax.nn.relu(x @ w1 + b1))
    return jax.nn.softmax(h @ w2 + b2)


def attention(x, wq, wk, wv, allowed, *, mark=mark):
    q, k, v = (jnp.reshape(x @ w, (x.shape[0], 4, -1)) for w in (wq, wk, wv))
    scores = jnp.einsum("qhd,khd->hqk", q, k) / q.shape[-1] ** 0.5
    scores = jnp.where(allowed[None], scores, -jnp.inf)
    return jnp.einsum("hqk,khd->qhd", mark(jax.nn.softmax(scores)), v)


def image(x, w, b, *, mark=mark):
    y = jax.lax.conv_general_dilated(mark(x), w, (1, 1), "SAME",
                                     dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.nn.gelu(y + b, approximate=False).mean((1, 2))


def layer_norm(x, scale, *, mark=mark):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale


class StableHLO(unittest.TestCase):
    def check(self, function, *arrays, sparse=None, level=1):
        plain = jax.jit(lambda *a: function(*a, mark=lambda x, *mask: x))
        expected = np.asarray(plain(*arrays), "d")
        text = jax.jit(function).lower(*arrays).as_text()
        program = pit.compile(text, **({} if sparse is None else {"sparse": sparse}))
        found = program.main(*arrays)
        self.assertEqual(found.shape, expected.shape)
        scale = max(1, abs(expected).max(initial=0))  # both sum in f32
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * scale)
        return program

    def test_network(self):
        arrays = (array(33, 20, zeros=0.8), array(20, 64), array(64), array(64, 40), array(40))
        program = self.check(network, *arrays)
        self.assertIn("stablehlo.dot_general", program.show(1))
        self.assertIn("pit.choose", program.show(3))
        self.check(network, *arrays, sparse=(0,))

    def test_attention(self):
        allowed = random.random((24, 24)) < 0.3
        np.fill_diagonal(allowed, True)
        self.check(attention, array(24, 32), *(array(32, 32) for _ in range(3)), allowed)

    def test_image(self):
        x = array(2, 9, 8, 6)
        x[..., ::2] = 0
        self.check(image, x, array(3, 3, 6, 10), array(10))

    def test_layer_norm(self):
        self.check(layer_norm, array(7, 30), array(30), sparse=[])

    def test_mask(self):
        x, w, mask = array(30, 20), array(20, 50), random.random((30, 20)) < 0.3

        def product(x, w, mask):
            return mark(x, mask) @ w

        text = jax.jit(product).lower(x, w, mask).as_text()
        poisoned = np.where(mask, x, np.nan).astype("f")
        np.testing.assert_allclose(pit.compile(text).main(poisoned, w, mask),
                                   np.where(mask, x, 0).astype("d") @ w, rtol=1e-4, atol=1e-5)

    def test_functions(self):
        """Ops of the dialect chlo, also where a program has no others."""
        x = array(5, 4)
        for function in (jnp.square, jnp.sinh, jax.lax.erf, lambda x: jax.lax.erf(x) @ x.T):
            exported = jax.export.export(jax.jit(function))(x)
            for program in (exported.mlir_module(), exported.mlir_module_serialized):
                np.testing.assert_allclose(pit.compile(program).main(x), jax.jit(function)(x),
                                           rtol=1e-5, atol=1e-5)

    def test_unsigned_integers(self):
        a = random.integers(0, 200, (5, 6)).astype("uint8")
        b = random.integers(0, 2**32, (6, 3)).astype("uint32")
        w = array(6, 3)
        a[random.random(a.shape) < 0.5] = 0
        for function, arrays, sparse in (
                (lambda a, w: (a // 3 + 1).astype("float32") @ w, (a, w), ()),
                (lambda a, w: mark(a).astype("float32") @ w, (a, w), ()),
                (lambda a, b: (a.astype("uint32") @ b, jnp.maximum(a, 7)), (a, b), (0,)),
                (lambda a, b: (a >> 1, (b > jnp.uint32(2**31)).sum(dtype="uint16")), (a, b), ())):
            text = jax.jit(function).lower(*arrays).as_text()
            found = pit.compile(text, sparse=sparse).main(*arrays)
            plain = function if mark.__name__ not in function.__code__.co_names else (
                lambda a, w: a.astype("float32") @ w)
            for each, wanted in zip(jax.tree.leaves(found), jax.tree.leaves(plain(*arrays))):
                self.assertEqual((each.dtype, each.shape), (wanted.dtype, wanted.shape))
                np.testing.assert_allclose(each, wanted, rtol=1e-5, atol=1e-3)

    def test_bytecode(self):
        x, w = array(5, 4), array(4, 3)
        exported = jax.export.export(jax.jit(lambda x, w: x @ w))(x, w)
        program = pit.compile(exported.mlir_module_serialized)
        np.testing.assert_allclose(program.main(x, w), x @ w, rtol=1e-4, atol=1e-5)

    def test_errors(self):
        x = array(5, 4)
        text = jax.jit(lambda x: jnp.sort(x)).lower(x).as_text()
        with self.assertRaisesRegex(pit.Error, "no pass of jaxlib takes stablehlo.sort to linalg"):
            pit.compile(text)
        text = jax.jit(network).lower(x, array(4, 3), array(3), array(3, 2), array(2)).as_text()
        with self.assertRaisesRegex(pit.Error, "the program has 5 arguments, from 0 on"):
            pit.compile(text, sparse=(5,))
        other = jax.ffi.ffi_call("other", jax.ShapeDtypeStruct(x.shape, x.dtype))
        with self.assertRaisesRegex(pit.Error, "a custom call of 'other'; pit knows 'pit.sparse'"):
            pit.compile(jax.jit(lambda x: other(x)).lower(x).as_text())
        with self.assertRaisesRegex(pit.Error, "names arguments of a StableHLO program"):
            pit.compile("func.func @f() { return }", sparse=(0,))


if __name__ == "__main__":
    unittest.main()
