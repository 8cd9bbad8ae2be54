# RUN: pit-compile %S/Inputs/functions.mlir -o %t.so
# RUN: env PIT_TEST_FUNCTIONS=%t.so JAX_PLATFORMS=cpu %python %s
# REQUIRES: pit-compile, jax
"""Calls with arrays of JAX, on the CPU."""

import sys
import unittest
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import functions, pit  # noqa: E402

f = functions()


class Jax(unittest.TestCase):
    def test_results(self):
        for shape in ((33, 70, 5), (300, 64, 64), (0, 3, 5), (3, 0, 5)):
            m, k, n = shape
            a, b, c = jnp.ones((m, k)), jnp.ones((k, n)), jnp.full((m, n), 2.0)
            result = f.matmul(a, b, c)
            self.assertIsInstance(result, jax.Array)
            np.testing.assert_array_equal(result, a @ b + c)

    def test_element_types(self):
        for name, dtype in {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8",
                            "i16": "int16", "i32": "int32"}.items():
            x = jnp.arange(-3, 4).astype(dtype)
            result = f[f"double_{name}"](x)
            self.assertEqual((type(result), result.dtype), (type(x), x.dtype))
            np.testing.assert_array_equal(result, x + x)
        self.assertEqual(f.masked(jnp.arange(5.0), jnp.arange(5) > 2), 7)

    def test_64_bits(self):
        x = jnp.ones(3)
        with self.assertRaisesRegex(pit.Error, "JAX has no i64 unless jax_enable_x64 is set"):
            f.scaled(x, 0, 1.0, 0.0, 0.0, 2**40)
        given = np.zeros(3, np.int64)
        f.scaled(x, 0, 1.0, 0.0, 0.0, 2**40, out=[np.zeros(3, np.float32), given])
        np.testing.assert_array_equal(given, 2**40)

    def test_immutable(self):
        x, out = jnp.ones(4), jnp.zeros(4)
        with self.assertRaisesRegex(pit.Error, "result 0: an array of JAX is immutable; without "
                                               "out= the call makes its result"):
            f.double_f32(x, out=out)
        np.testing.assert_array_equal(out, 0)
        given = np.zeros(4, np.float32)
        f.double_f32(x, out=given)
        np.testing.assert_array_equal(given, 2)

    def test_results_stay(self):
        results = [f.double_f32(jnp.full(64, i, jnp.float32)) for i in range(50)]
        for i, result in enumerate(results):
            np.testing.assert_array_equal(result, 2 * i)

    def test_tracers(self):
        for transform in (jax.jit, jax.vmap, lambda g: jax.grad(lambda x: g(x).sum())):
            with self.assertRaisesRegex(pit.Error, "a tracer of JAX has no memory.*pure_callback"):
                transform(f.double_f32)(jnp.ones((2, 3)))

        def called(x):
            return jax.pure_callback(f.double_f32, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

        np.testing.assert_array_equal(jax.jit(called)(jnp.ones(3)), np.full(3, 2, "f"))


if __name__ == "__main__":
    unittest.main()
