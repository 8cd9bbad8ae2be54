# RUN: env JAX_PLATFORMS=cpu XLA_FLAGS=--xla_force_host_platform_device_count=4 %python %s
# REQUIRES: pit-compile, jax
"""Functions of pit.jit inside of functions that JAX compiles."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as Spec

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

from pit import tile  # noqa: E402

random = np.random.default_rng()


@pit.jit
def double(x: tile.f32["M", "N"]):
    M, N = x.shape
    y = tile.empty((M, N), tile.f32)
    for i, j in tile.forall((0, M, 8), (0, N, 8)):
        tile.swrite(y[i, j], tile.sread(x[i, j]) * 2.0)
    return y


@pit.jit
def both(x: tile.f32["N"], z: tile.f32["N"], *, size=8):
    N, = x.shape
    y, v = tile.empty((N,), tile.f32), tile.empty((N,), tile.f32)
    for i in tile.forall((0, N, size)):
        tile.swrite(y[i], tile.sread(x[i]) * 2.0)
        tile.swrite(v[i], tile.sread(z[i]) + 1.0)
    return y, v


@pit.jit
def scaled(x: tile.f32["N"], factor: tile.f32, count: tile.i32):
    N, = x.shape
    y = tile.zeros((N,), tile.f32)
    for i in tile.forall((0, count, 8)):
        tile.swrite(y[i], tile.sread(x[i]) * factor)
    return y


@pit.jit
def first(x: tile.f32["N"], count: tile.i32):
    N, = x.shape
    y = tile.zeros((count,), tile.f32)
    for i in tile.forall((0, N, 8)):
        tile.swrite(y[i], tile.sread(x[i]))
    return y


def array(*shape):
    return jnp.asarray(random.standard_normal(shape), "float32")


class Programs(unittest.TestCase):
    def same(self, found, expected):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))

    def test_jit(self):
        for shape in ((13, 21), (5, 7), (0, 3)):
            x = array(*shape)
            self.same(jax.jit(double)(x), 2 * x)
        x, z = array(21), array(21)
        calls = (lambda x, z: both(x, z), lambda x, z: both(x, z, size=4))
        for call in calls:
            found = jax.jit(call)(x, z)
            self.assertIsInstance(found, tuple)
            self.same(found[0], 2 * x)
            self.same(found[1], z + 1)
        # Only the second argument is traced.
        self.same(jax.jit(lambda z: both(x, z)[1])(z), z + 1)
        with jax.disable_jit():
            self.same(jax.vmap(double)(x[None, None]), 2 * x[None, None])

    def test_numbers(self):
        x = array(21)
        self.same(jax.jit(lambda x: scaled(x, 2.5, 21))(x), 2.5 * x)
        self.same(jax.jit(scaled)(x, jnp.float32(2.5), jnp.int32(21)), 2.5 * x)
        self.same(jax.jit(lambda x: first(x, 21))(x), x)
        with self.assertRaisesRegex(pit.Error, "first: sizes depend on argument 1, a number that"):
            jax.jit(first)(x, jnp.int32(21))

    def test_transformations(self):
        x = array(3, 5, 8)
        self.same(jax.vmap(double)(x), 2 * x)
        mapped = jax.jit(jax.vmap(both, (0, None)))(x[0], x[1, 0])
        self.same(mapped[1], jnp.broadcast_to(x[1, 0] + 1, (5, 8)))
        step = lambda carry, _: (double(carry), None)
        self.same(jax.jit(lambda x: jax.lax.scan(step, x, None, length=3)[0])(x[0]), 8 * x[0])
        call = jax.custom_vjp(double)
        call.defvjp(lambda x: (double(x), None), lambda _, grad: (double(grad),))
        gradient = jax.grad(lambda x: (call(x) * x).sum())
        for each in (gradient, jax.jit(gradient)):
            self.same(each(x[0]), 4 * x[0])
        with self.assertRaisesRegex(pit.Error, "double: functions of pit.jit have no gradients"):
            jax.grad(lambda x: double(x).sum())(x[0])

    def test_shard_map(self):
        mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
        x = array(16, 8)
        shard = lambda out: jax.shard_map(double, mesh=mesh, in_specs=Spec("d"), out_specs=out)
        self.same(jax.jit(shard(Spec("d")))(x), 2 * x)
        self.same(shard(Spec("d"))(x), 2 * x)
        with self.assertRaisesRegex(ValueError, "out_specs"):
            jax.jit(shard(Spec()))(x)

    def test_export(self):
        """The process that runs it does not have the source."""
        allowed = [jax.export.DisabledSafetyCheck.custom_call("pit_run")]
        x = array(5, 8)
        stored = jax.export.export(jax.jit(double), disabled_checks=allowed)(x)
        program = "import sys, jax.export, numpy, pit.jax\n" \
                  "f = jax.export.deserialize(bytearray(open(sys.argv[1], 'rb').read()))\n" \
                  "numpy.save(sys.argv[2], f.call(numpy.load(sys.argv[2])))\n"
        with tempfile.TemporaryDirectory() as folder:
            function, data = f"{folder}/f", f"{folder}/x.npy"
            try:
                Path(function).write_bytes(stored.serialize())
            except ImportError:
                self.skipTest("JAX stores functions by flatbuffers")
            np.save(data, x)
            subprocess.run([sys.executable, "-c", program, function, data], check=True,
                           env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
            self.same(np.load(data), 2 * x)

    def test_errors(self):
        x = array(5, 8)
        index = pit.build_index(np.asarray(x) != 0, (1, 1), 1, source="mask")
        calls = {
            "not of rank 1": lambda x: double(x[0]),
            "not of f16": lambda x: double(x.astype("float16")),
            "dimension 0 of argument 1 is 4": lambda x: both(x[0], x[0, :4]),
            "out=, context= and stream= are": lambda x: double(x, out=np.zeros((5, 8), "f")),
            "takes 1 arguments": lambda x: double(x, x),
            "x must be an array": lambda x: both(index, x[0])}
        for message, call in calls.items():
            with self.subTest(message), self.assertRaisesRegex(pit.Error, message):
                jax.jit(call)(x)


if __name__ == "__main__":
    unittest.main()
