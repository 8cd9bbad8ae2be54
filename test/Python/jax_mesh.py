# RUN: env JAX_PLATFORMS=cpu XLA_FLAGS=--xla_force_host_platform_device_count=4 %python %s
# REQUIRES: pit-compile, jax
"""Ops of pit on arrays that are split over several devices: inside of jax.shard_map, and
outside of it. The reference is JAX's dense ops in f64."""

import sys
import unittest
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as Spec

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

jax.config.update("jax_enable_x64", True)
random = np.random.default_rng()
MESH = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))


def dense(*shape):
    return jnp.asarray(random.standard_normal(shape))


def zeros(*shape):
    return jnp.where(random.random(shape) < 0.4, dense(*shape), 0)


def is_there(lengths, size):
    return (jnp.arange(size) < lengths[:, None])[:, :, None]


def mixture(x, weights, choices, up, down):
    table = jax.nn.one_hot(choices, up.shape[0]) * weights[..., None]
    hidden = jax.nn.relu(jnp.einsum("tk,ekf->tef", x, up))
    return jnp.einsum("te,tef,efn->tn", table.sum(1), hidden, down)


# A function of pit, the dense one, and arrays.
CASES = {
    "linear": (
        lambda x, w, b: pit.linear(x, w, b, activation="relu"),
        lambda x, w, b: jax.nn.relu(x @ w.T + b), zeros(8, 4), dense(6, 4), dense(6)),
    "masked": (
        lambda a, b, mask: pit.matmul(a, b, mask=mask), lambda a, b, mask: jnp.where(mask, a, 0) @ b,
        dense(8, 4), dense(4, 6), jnp.asarray(random.random((8, 4)) < 0.5)),
    "padded": (
        lambda x, n, w: pit.padded_linear(x, n, w, activation="gelu"),
        lambda x, n, w: jnp.where(is_there(n, 4), jax.nn.gelu(x @ w.T, approximate=False), 0),
        dense(4, 4, 4), jnp.asarray([3, 0, 4, 2]), dense(6, 4)),
    "moe": (
        lambda x, weights, choices, up, down: pit.moe(x, weights, choices, None, up, down,
                                                      activation="relu"),
        mixture, dense(8, 4), dense(8, 2),
        jnp.asarray(random.permuted([[0, 1, 2]] * 8, axis=1)[:, :2]), dense(3, 4, 6),
        dense(3, 6, 4)),
    "conv2d": (
        lambda x, w: pit.conv2d(x, w, padding=1),
        lambda x, w: jax.lax.conv(x, w, (1, 1), "SAME"), zeros(4, 3, 5, 5), dense(4, 3, 3, 3)),
}


class Mesh(unittest.TestCase):
    def close(self, found, expected):
        for each, wanted in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            self.assertEqual(each.shape, wanted.shape)
            np.testing.assert_allclose(each, wanted, rtol=1e-11, atol=1e-11)

    def check(self, name, split, checked, wrap):
        """Values, gradients of a shard_map and gradients inside of one; `split` says which
        arguments each device has its own of."""
        function, reference, *arrays = CASES[name]
        arrays = [jnp.stack([x, *(jnp.roll(x, i, 0) for i in (1, 2, 3))]) if s else x
                  for x, s in zip(arrays, split)]
        specs = tuple(Spec("d") if s else Spec() for s in split)
        floats = [i for i, x in enumerate(arrays) if jnp.issubdtype(x.dtype, jnp.floating)]

        def results(call):
            def local(*given):
                y = call(*(x[0] if s else x for x, s in zip(given, split)))
                return jnp.sin(y).sum()

            def shard(body, out):
                return jax.shard_map(body, mesh=MESH, in_specs=specs, out_specs=out,
                                     check_vma=checked)

            whole = shard(lambda *given: jax.lax.psum(local(*given), "d"), Spec())
            # Of what is not checked, each device has a gradient of its own.
            inside = shard(jax.grad(local, floats),
                           tuple(specs[i] if checked else Spec("d") for i in floats))
            return (wrap(jax.value_and_grad(whole, floats))(*arrays), wrap(inside)(*arrays))

        self.close(results(function), results(reference))

    def test_split_rows(self):
        for name in CASES:
            for checked in (True, False):
                with self.subTest(name=name, checked=checked):
                    count = len(CASES[name]) - 2
                    self.check(name, [True] + [False] * (count - 1), checked, jax.jit)

    def test_split_weights(self):
        for name, split in {"linear": (0, 1, 0), "masked": (0, 0, 1), "moe": (0, 0, 1, 0, 1),
                            "padded": (0, 1, 0), "conv2d": (0, 1)}.items():
            with self.subTest(name=name):
                self.check(name, split, True, jax.jit)

    def test_without_jit(self):
        for checked in (True, False):
            self.check("linear", (1, 0, 0), checked, lambda function: function)

    def test_varying_result_is_no_replicated_one(self):
        for name, (function, _, *arrays) in CASES.items():
            specs = (Spec("d"), *[Spec()] * (len(arrays) - 1))
            mapped = jax.shard_map(lambda x, *rest: function(x[0], *rest), mesh=MESH,
                                   in_specs=specs, out_specs=Spec())
            with self.subTest(name=name), self.assertRaisesRegex(ValueError, "out_specs"):
                jax.jit(mapped)(jnp.stack([arrays[0]] * 4), *arrays[1:])

    def test_forward_mode(self):
        function, reference, x, w, b = CASES["linear"]
        step = lambda call: jax.shard_map(call, mesh=MESH, in_specs=(Spec("d"), Spec(), Spec()),
                                          out_specs=Spec("d"))
        found, expected = (jax.jit(lambda *a: jax.jvp(step(call), a, a))(x, w, b)
                           for call in (function, reference))
        self.close(found, expected)

    def test_axis_of_a_batch(self):
        """vmap with a mesh's axis for the batch: what has no batch is the same everywhere."""
        mesh = jax.make_mesh((2, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
        x, w = zeros(2, 8, 4), dense(6, 4)
        mapped = jax.shard_map(pit.linear, mesh=mesh, in_specs=(Spec("a"), Spec()),
                               out_specs=Spec("a"))
        self.close(jax.jit(jax.vmap(mapped, (0, None), spmd_axis_name="b"))(x, w), x @ w.T)

    def test_outside_of_shard_map(self):
        """An op runs whole on each device; gradients lie as the arrays."""
        x, w = zeros(8, 4), dense(6, 4)
        loss = lambda call: lambda x, w: (call(x, w) ** 2).sum()
        expected = jax.grad(loss(lambda x, w: x @ w.T), (0, 1))(x, w)
        for kind in (AxisType.Auto, AxisType.Explicit):
            mesh = jax.make_mesh((4,), ("d",), axis_types=(kind,))
            given = (jax.device_put(x, NamedSharding(mesh, Spec("d"))),
                     jax.device_put(w, NamedSharding(mesh, Spec())))
            self.close(pit.linear(*given), x @ w.T)
            self.close(jax.jit(jax.grad(loss(pit.linear), (0, 1)))(*given), expected)

    def test_device(self):
        """The result lies where the arrays do, also without jit."""
        device = jax.devices()[1]
        given = [jax.device_put(a, device) for a in (zeros(8, 4), dense(6, 4))]
        for found in (pit.linear(*given), jax.jit(pit.linear)(*given)):
            self.assertEqual(found.devices(), {device})
            self.close(found, given[0] @ given[1].T)


if __name__ == "__main__":
    unittest.main()
