# RUN: env JAX_PLATFORMS=cpu %quick_python %s
# REQUIRES: pit-compile, jax
"""Ops of pit inside of functions that JAX compiles: results, gradients and vmap,
against JAX's dense ones in f64."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import ROOT, pit  # noqa: E402

jax.config.update("jax_enable_x64", True)
random = np.random.default_rng()
TOLERANCE = {"float64": 1e-11, "float32": 2e-5, "float16": 1e-2, "bfloat16": 6e-2}
ACTIVATIONS = {
    None: lambda x: x, "relu": jax.nn.relu, "sigmoid": jax.nn.sigmoid, "tanh": jnp.tanh,
    "silu": jax.nn.silu, "gelu": lambda x: jax.nn.gelu(x, approximate=False)}


def dense(*shape, dtype="float32"):
    return jnp.asarray(random.standard_normal(shape), dtype)


def zeros(*shape, live_fraction=0.2, dtype="float32"):
    """Random elements, most of them zeros, anywhere."""
    return jnp.asarray((random.random(shape) < live_fraction) * random.standard_normal(shape), dtype)


def wide(x):
    return x.astype("float64") if jnp.issubdtype(x.dtype, jnp.floating) else x


class Case(unittest.TestCase):
    def close(self, found, expected, dtype=None):
        self.assertEqual(found.shape, expected.shape)
        dtype = dtype or found.dtype.name
        self.assertEqual(found.dtype.name, dtype)
        if expected.size:
            expected = np.asarray(expected, "d")
            scale = max(1.0, abs(expected).max())
            error = abs(np.asarray(found, "d") - expected).max() / scale
            self.assertLessEqual(error, TOLERANCE[dtype])

    def check(self, function, reference, *arrays, static=(), forward=False):
        """A function of pit and a dense one of arrays in f64: results of jax.jit, and
        gradients of every array of floats; or tangents, too. One case in three, drawn at
        random, has gradients that are not compiled, too: XLA compiles each of their ops."""
        floats = [i for i, x in enumerate(arrays) if jnp.issubdtype(x.dtype, jnp.floating)]

        @jax.jit  # one compilation, where each of its ops would be one
        def of_reference(given, weights):
            every = lambda *floating: [dict(zip(floats, floating)).get(i, x) for i, x in enumerate(arrays)]
            value, pull = jax.vjp(lambda *floating: reference(*every(*floating), *static), *given)
            return value, pull(weights)

        call = jax.jit(lambda *given: function(*given, *static))
        found = call(*arrays)
        weights = dense(*found.shape, dtype=found.dtype)
        expected, wanted = of_reference([wide(arrays[i]) for i in floats], wide(weights))
        self.close(found, expected)

        def loss(*given):
            return (function(*given, *static) * weights).astype("float64").sum()

        gradient = jax.grad(loss, argnums=floats)
        for call in [gradient, jax.jit(gradient)][random.random() > 1 / 3:]:
            gradients = call(*arrays)
            for i, each, other in zip(floats, gradients, wanted):
                self.close(each, other, arrays[i].dtype.name)
        if forward:  # the gradients as tangents
            vary = lambda call, arrays: lambda *given: call(
                *(dict(zip(floats, given)).get(i, x) for i, x in enumerate(arrays)), *static)
            given, tangents = [arrays[i] for i in floats], list(gradients)
            _, expected = jax.jvp(vary(reference, [*map(wide, arrays)]), [*map(wide, given)],
                                  [*map(wide, tangents)])
            tangent = jax.jit(lambda *pair: jax.jvp(vary(function, arrays), *pair)[1])
            self.close(tangent(given, tangents), expected, found.dtype.name)
        return found


class Products(Case):
    def test_matmul(self):
        for m, k, n in ((33, 20, 7), (1, 20, 7), (5, 1, 1), (0, 20, 7), (5, 0, 7), (5, 20, 0)):
            self.check(pit.matmul, jnp.matmul, zeros(m, k), dense(k, n))
        self.check(pit.matmul, jnp.matmul, jnp.zeros((9, 20), "float32"), dense(20, 7))
        self.check(pit.matmul, jnp.matmul, dense(9, 20), dense(20, 7))
        self.check(pit.matmul, jnp.matmul, zeros(2, 3, 20), dense(20, 7))
        self.check(pit.matmul, jnp.matmul, zeros(2, 3, 20), dense(2, 20, 7))
        self.check(pit.matmul, jnp.matmul, zeros(20), dense(20, 7))

    def test_types(self):
        for dtype in ("float64", "float32", "float16", "bfloat16"):
            a, b = zeros(9, 20, dtype=dtype), dense(20, 7, dtype=dtype)
            self.check(pit.matmul, jnp.matmul, a, b)
        half = zeros(9, 20, dtype="bfloat16"), dense(20, 7, dtype="bfloat16")
        found = jax.jit(lambda a, b: pit.matmul(a, b, dtype="f32"))(*half)
        self.close(found, jnp.matmul(*map(wide, half)), "float32")
        for dtype in ("int8", "int16", "int32", "int64"):
            a, b = (10 * zeros(9, 20)).astype(dtype), (10 * dense(20, 7)).astype(dtype)
            found = jax.jit(pit.matmul)(a, b)
            np.testing.assert_array_equal(found, a.astype("int64") @ b.astype("int64"))

    def test_einsum(self):
        for equation, shapes in {"mk,kn->nm": ((9, 20), (20, 7)), "bmd,bnd->bmn":
                                 ((2, 5, 8), (2, 6, 8)), "mk->m": ((9, 20),), "mk,kn->n":
                                 ((9, 20), (20, 7)), "ij,kj,lj->ikl": ((4, 9), (3, 9), (5, 9)),
                                 "mk,kn->": ((4, 9), (9, 3))}.items():
            arrays = [zeros(*shapes[0]), *(dense(*shape) for shape in shapes[1:])]
            self.check(lambda *x: pit.einsum(equation, *x, sparse=0),
                       lambda *x: jnp.einsum(equation, *x), *arrays, forward=True)

    def test_floats_of_8_bits(self):
        for dtype in (jnp.float8_e4m3fn, jnp.float8_e5m2):
            a, b = zeros(9, 20).astype(dtype), dense(20, 7).astype(dtype)
            expected = np.asarray(a).astype("d") @ np.asarray(b).astype("d")
            for call in (pit.matmul, jax.jit(pit.matmul)):
                found = call(a, b)
                self.assertEqual(found.dtype, jnp.float32)
                np.testing.assert_allclose(np.asarray(found), expected, 1e-5, 1e-4)
            narrow = jax.jit(lambda a, b: pit.matmul(a, b, dtype=dtype))(a, b)
            self.assertEqual(narrow.dtype, dtype)
            biased = jax.jit(pit.linear)(a, b.T, jnp.ones(7))
            np.testing.assert_allclose(np.asarray(biased), expected + 1, 1e-5, 1e-4)

    def test_masks(self):
        a, b = dense(9, 20), dense(20, 7)
        for shape, name in (((9, 20), "a"), ((20, 7), "b"), ((9, 7), "out")):
            mask = jnp.asarray(random.random(shape) < 0.3)

            def reference(a, b, mask):
                a = jnp.where(mask, a, 0) if name == "a" else a
                b = jnp.where(mask, b, 0) if name == "b" else b
                return jnp.where(mask, a @ b, 0) if name == "out" else a @ b

            self.check(lambda a, b, mask: pit.matmul(a, b, sparse=name, mask=mask), reference,
                       a, b, static=(mask,), forward=True)
            # As an argument that is traced, too.
            call = jax.jit(lambda a, b, mask: pit.matmul(a, b, sparse=name, mask=mask))
            self.close(call(a, b, mask), reference(wide(a), wide(b), mask), "float32")
        for shape in ((2, 1, 7), (9, 1), (7,), (1, 9, 7)):
            mask = jnp.asarray(random.random(shape) < 0.5)
            a, b = dense(2, 9, 20), dense(2, 20, 7)
            self.check(lambda a, b, mask: pit.masked_matmul(a, b, mask),
                       lambda a, b, mask: jnp.where(mask, a @ b, 0), a, b, static=(mask,))
        mask = jnp.asarray(random.random((9,)) < 0.5)
        x = dense(9)
        self.check(lambda x, mask: pit.einsum("k->", x, sparse=0, mask=mask),
                   lambda x, mask: jnp.where(mask, x, 0).sum(), x, static=(mask,))

    def test_linear(self):
        x, w, bias = zeros(2, 9, 20), dense(7, 20), dense(7)
        for name, function in ACTIVATIONS.items():
            self.check(lambda x, w, b: pit.linear(x, w, b, activation=name),
                       lambda x, w, b: function(x @ w.T + b), x, w, bias)
        self.check(lambda x, w: pit.linear(x, w, activation="gelu"),
                   lambda x, w: ACTIVATIONS["gelu"](x @ w.T), x, w)
        half = [v.astype("bfloat16") for v in (x, w, bias)]
        self.check(lambda x, w, b: pit.linear(x, w, b, activation="silu"),
                   lambda x, w, b: jax.nn.silu(x @ w.T + b), *half, forward=True)

    def test_sparse_grad(self):
        """The gradient of what is zero is 0, or what it would be."""
        x, w = zeros(64, 48).at[::4].set(0), dense(40, 48)
        found, of_w = jax.jit(jax.grad(
            lambda x, w: (pit.linear(x, w, sparse_grad=True) ** 2).sum(), (0, 1)))(x, w)
        y = 2 * wide(x) @ wide(w).T
        expected = y @ wide(w)
        right = jnp.where((x == 0) & (found == 0), expected.astype("float32"), found)
        self.close(right, expected)
        self.close(of_w, y.T @ wide(x), "float32")
        self.assertEqual(np.count_nonzero(found[::4]), 0)

    def test_together(self):
        """Gradients that look for the same zeros are one program, which takes batches and has
        derivatives."""
        x, w = zeros(8, 12, dtype="float64"), dense(5, 12, dtype="float64")

        def programs(needs, function):
            made = jax.make_jaxpr(jax.grad(lambda x, w: function(x, w).sum(), needs))(x, w)
            ops = [each.params["op"].name for each in made.jaxpr.eqns if "op" in each.params]
            return ops[1:]  # without that of the result

        def sparse(x, w):
            return pit.linear(x, w, sparse_grad=True) ** 2

        def behind(x, w):
            return pit.linear(x, w, sparse=None, activation="relu") ** 2

        for function in (sparse, behind):
            self.assertEqual(programs((0, 1), function), ["linear_gradients"])
            self.assertEqual(programs(0, function), ["linear_da"])
            self.assertEqual(programs(1, function), ["linear_db"])
        self.check(behind, lambda x, w: jax.nn.relu(x @ w.T) ** 2, x, w)

        def dense_grads(x, w):
            y = 2 * x @ w.T
            return y @ w, y.T @ x

        def grads(x, w):
            of_x, of_w = jax.grad(lambda x, w: sparse(x, w).sum(), (0, 1))(x, w)
            return jnp.where(x != 0, of_x, 0), of_w

        xs = jnp.stack([x, 2 * x, 0 * x])
        for found, expected in zip(jax.vmap(grads, (0, None))(xs, w), jax.vmap(dense_grads, (0, None))(xs, w)):
            if found.shape == xs.shape:
                expected = jnp.where(xs != 0, expected, 0)
            self.close(found, expected)
        second = jax.jacfwd(lambda w: grads(x, w)[1])(w)
        self.close(second, jax.jacfwd(lambda w: dense_grads(x, w)[1])(w))

    def test_lengths(self):
        x, w, bias = dense(3, 9, 20), dense(7, 20), dense(7)
        for lengths in ((5, 0, 9), (0, 0, 0)):
            there = (jnp.arange(9) < jnp.asarray(lengths)[:, None])[:, :, None]
            for dtype in ("int32", "int64"):
                given = jnp.asarray(lengths, dtype)
                self.check(
                    lambda x, w, b: pit.padded_linear(x, given, w, b, activation="tanh"),
                    lambda x, w, b: jnp.where(there, jnp.tanh(x @ w.T + b), 0), x, w, bias)
        # What lies in the padding goes nowhere, and gets no gradient.
        given = jnp.asarray((5, 0, 9))
        there = (jnp.arange(9) < given[:, None])[:, :, None]
        poisoned = jnp.where(there, x, jnp.nan)
        found = jax.grad(lambda x: pit.padded_linear(x, given, w).sum())(poisoned)
        self.close(found, jnp.where(there, w.sum(0), 0))

    def test_second_derivatives(self):
        x, w = zeros(5, 8, dtype="float64"), dense(8, 3, dtype="float64")
        loss = lambda product: lambda x, w: (product(x, w) ** 3).sum()
        for argnums in ((0, 0), (0, 1), (1, 1)):
            def second(product):
                first = jax.grad(loss(product), argnums[0])
                return jax.grad(lambda *a: (first(*a) ** 2).sum(), argnums[1])(x, w)

            self.close(second(pit.matmul), second(jnp.matmul))

    def test_linear_transpose(self):
        x, w, y = zeros(5, 8), dense(3, 8), dense(5, 3)
        for i, expected in enumerate((wide(y) @ wide(w), wide(y).T @ wide(x))):
            call = lambda v: pit.linear(*(v if j == i else a for j, a in enumerate((x, w))))
            found, = jax.linear_transpose(call, (x, w)[i])(y)
            self.close(found, expected, "float32")
        with self.assertRaisesRegex(pit.Error, "linear: jax.linear_transpose takes ops that are"):
            jax.linear_transpose(lambda x: pit.linear(x, w, activation="relu"), x)(y)

    def test_forward_mode(self):
        x, w, bias = (v.astype("float64") for v in (zeros(5, 8), dense(3, 8), dense(3)))
        lengths = jnp.asarray([3, 0, 2])
        there = (jnp.arange(5) < lengths[:, None])[:, :, None]
        batch = dense(3, 5, 8, dtype="float64")
        calls = {
            "gelu": (lambda x, w, b: pit.linear(x, w, b, activation="gelu"),
                     lambda x, w, b: ACTIVATIONS["gelu"](x @ w.T + b), x, w, bias),
            "padded": (lambda x, w, b: pit.padded_linear(x, lengths, w, b, activation="tanh"),
                       lambda x, w, b: jnp.where(there, jnp.tanh(x @ w.T + b), 0), batch, w, bias)}
        for name, (function, reference, *arrays) in calls.items():
            for i in range(3):
                with self.subTest(name=name, argument=i):
                    found, expected = ([
                        jax.jit(jax.hessian(lambda *a: (call(*a) ** 3).sum(), i))(*arrays),
                        jax.grad(lambda *a: (jax.jvp(call, a, a)[1] ** 2).sum(), i)(*arrays)]
                        for call in (function, reference))
                    for each, wanted in zip(found, expected):
                        self.close(each, wanted)


class Layers(Case):
    def test_conv2d(self):
        x, w, bias = zeros(2, 3, 9, 8), dense(4, 3, 3, 2), dense(4)
        mask = jnp.asarray(random.random(x.shape) < 0.3)

        def reference(layout, dims, **options):
            def function(x, w, *bias):
                y = jax.lax.conv_general_dilated(
                    x, w, options["stride"], [(p, p) for p in options["padding"]],
                    rhs_dilation=options["dilation"], dimension_numbers=dims)
                if bias:
                    y += bias[0].reshape([-1 if d == "C" else 1 for d in dims[2]])
                return jax.nn.relu(y)
            return function

        for options in ({"stride": (1, 1), "padding": (1, 0), "dilation": (1, 1)},
                        {"stride": (2, 1), "padding": (1, 1), "dilation": (1, 2)}):
            call = lambda *a: pit.conv2d(*a, activation="relu", **options)
            dense_one = reference("nchw", ("NCHW", "OIHW", "NCHW"), **options)
            self.check(call, dense_one, x, w, bias)
            self.check(call, dense_one, x, w)
            self.check(lambda *a: pit.conv2d(*a, activation="relu", mask=mask, **options),
                       lambda x, w: dense_one(jnp.where(mask, x, 0), w), dense(*x.shape), w)
            self.check(lambda *a: pit.conv2d(*a, layout="nhwc", activation="relu", **options),
                       reference("nhwc", ("NHWC", "HWIO", "NHWC"), **options),
                       x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), bias, forward=True)

    def test_moe(self):
        tokens, experts, top, k, f, n = 13, 5, 2, 8, 12, 6
        x, weights = dense(tokens, k), jax.nn.softmax(dense(tokens, top))
        choices = np.array([random.permutation(experts)[:top] for _ in range(tokens)], "int32")
        choices[random.random(choices.shape) < 0.2] = -1
        gate, up, down = dense(experts, k, f), dense(experts, k, f), dense(experts, f, n)

        def reference(x, weights, gate, up, down):
            table = jnp.zeros((tokens, experts + 1), x.dtype)
            rows = jnp.arange(tokens)[:, None]
            table = table.at[rows, choices % (experts + 1)].add(weights)[:, :experts]
            hidden = jax.nn.silu(jnp.einsum("tk,ekf->tef", x, gate)) * jnp.einsum(
                "tk,ekf->tef", x, up)
            return jnp.einsum("te,tef,efn->tn", table, hidden, down)

        self.check(lambda x, weights, *w: pit.moe(x, weights, jnp.asarray(choices), *w),
                   reference, x, weights, gate, up, down, forward=True)

    def test_padded_mlp(self):
        x, w1, b1, w2, b2 = dense(3, 9, 8), dense(12, 8), dense(12), dense(6, 12), dense(6)
        lengths = jnp.asarray((5, 0, 9))
        there = (jnp.arange(9) < lengths[:, None])[:, :, None]
        self.check(lambda x, *w: pit.padded_mlp(x, lengths, *w),
                   lambda x, w1, b1, w2, b2: jnp.where(
                       there, ACTIVATIONS["gelu"](x @ w1.T + b1) @ w2.T + b2, 0),
                   x, w1, b1, w2, b2, forward=True)

    def test_conv2d_wanted(self):
        x, w = dense(2, 3, 6, 5), dense(4, 3, 3, 3)
        for shape in ((2, 1, 6, 5), (4, 1, 1)):
            mask = jnp.asarray(random.random(shape) < 0.5)
            self.check(lambda *v: pit.conv2d(*v, padding=1, sparse="out", mask=mask),
                       lambda x, w: jnp.where(mask, jax.lax.conv_general_dilated(
                           x, w, (1, 1), "SAME"), 0), x, w, forward=True)

    def test_masked_mlp(self):
        x, w1, b1, w2, b2 = dense(9, 8), dense(12, 8), dense(12), dense(6, 12), dense(6)
        mask = jnp.asarray(random.random((3, 4)) < 0.5)
        here = jnp.repeat(jnp.repeat(mask, 3, 0), 3, 1)
        self.check(lambda x, *w: pit.masked_mlp(x, mask, *w, activation="gelu"),
                   lambda x, w1, b1, w2, b2: jnp.where(
                       here, ACTIVATIONS["gelu"](x @ w1.T + b1), 0) @ w2.T + b2,
                   x, w1, b1, w2, b2, forward=True)


class Transformations(Case):
    def test_vmap(self):
        a, b, bias = zeros(4, 9, 20), dense(4, 20, 7), dense(4, 7)
        mask = jnp.asarray(random.random((4, 9, 20)) < 0.3)

        def both(function, reference, dims, *arrays):
            expected = jax.vmap(reference, dims)(*map(wide, arrays))
            for call in (jax.vmap(function, dims), jax.jit(jax.vmap(function, dims))):
                self.close(call(*arrays), expected, "float32")

        both(pit.matmul, jnp.matmul, (0, None), a, b[0])
        both(pit.matmul, jnp.matmul, (None, 0), a[0], b)
        both(pit.matmul, jnp.matmul, (0, 0), a, b)
        both(pit.matmul, jnp.matmul, (1, 0), a.transpose(1, 0, 2), b)
        both(lambda a, b: pit.matmul(a, b, micro_tile=(1, 1), axis=1), jnp.matmul, (0, 0), a, b)
        masked = lambda a, b, mask: pit.matmul(a, b, mask=mask)
        reference = lambda a, b, mask: jnp.where(mask, a, 0) @ b
        for dims in ((0, None, 0), (0, 0, None), (None, None, 0), (None, 0, None)):
            given = [x if d == 0 else x[0] for x, d in zip((a, b, mask), dims)]
            both(masked, reference, dims, *given)
        wanted = mask[:, :, :7]
        both(lambda a, b, m: pit.masked_matmul(a, b, m), lambda a, b, m: jnp.where(m, a @ b, 0),
             (0, None, None), a, b[0], wanted[0])
        weight = b.transpose(0, 2, 1)
        for dims in ((0, None, None), (None, 0, None), (None, None, 0), (0, 0, 0)):
            given = [x if d == 0 else x[0] for x, d in zip((a, weight, bias), dims)]
            both(lambda x, w, b: pit.linear(x, w, b, activation="relu"),
                 lambda x, w, b: jax.nn.relu(x @ w.T + b), dims, *given)
        lengths = jnp.asarray(random.integers(0, 10, (4, 3)))
        x = dense(4, 3, 9, 20)

        def padded(x, lengths, w):
            there = (jnp.arange(9) < lengths[:, None])[:, :, None]
            return jnp.where(there, x @ w.T, 0)

        for dims in ((0, 0, None), (0, None, None), (None, None, 0), (None, 0, None)):
            given = [v if d == 0 else v[0] for v, d in zip((x, lengths, weight), dims)]
            both(pit.padded_linear, padded, dims, *given)

    def test_vmap_of_layers(self):
        """In one call, or one after the other."""
        x, w, w2 = zeros(4, 6, 16), dense(8, 16), dense(16, 8)
        first = random.integers(0, 3, (4, 6, 1))
        experts = jnp.asarray(np.concatenate([first, (first + 1) % 3], -1))
        gate, up, down = jnp.asarray(random.random((4, 6, 2))), dense(3, 16, 8), dense(3, 8, 16)
        image, filters = zeros(3, 2, 4, 5, 5), dense(7, 4, 3, 3)
        padded, lengths = dense(4, 2, 3, 16), jnp.asarray(random.integers(0, 4, (4, 2)))
        calls = (
            (lambda x, g, e: pit.moe(x, g, e, None, up, down, activation="relu"),
             x, gate, experts),
            (lambda x, g, e, w: pit.moe(x, g, e, None, w, down, activation="relu"),
             x, gate, experts, jnp.broadcast_to(up, (4, *up.shape))),
            (lambda x, n: pit.padded_mlp(x, n, w, None, w2, None), padded, lengths),
            (lambda n: pit.padded_mlp(padded[0], n, w, None, w2, None), lengths),
            (lambda x: pit.conv2d(x, filters, padding=1), image),
            (lambda x, w: pit.conv2d(x, w), image, jnp.broadcast_to(filters, (3, *filters.shape))))
        for at, (function, *given) in enumerate(calls):
            expected = jnp.stack([function(*each) for each in zip(*given)])
            mapped = jax.vmap(function)
            self.close(mapped(*given), expected.astype("float64"), "float32")
            loops = "scan" in str(jax.make_jaxpr(mapped)(*given))
            self.assertEqual(loops, at in (1, 5))
        with self.assertRaises(Exception):
            jax.vmap(calls[0][0])(x, gate[:2], experts)

    def test_gradients_of_each_sample(self):
        x, w = zeros(6, 20), dense(20, 7)
        loss = lambda product: lambda w, x: (product(x, w) ** 2).sum()
        found = jax.vmap(jax.grad(loss(pit.matmul)), (None, 0))(w, x)
        self.close(found, jax.vmap(jax.grad(loss(jnp.matmul)), (None, 0))(wide(w), wide(x)),
                   "float32")

    def test_scan_and_remat(self):
        x, w = zeros(5, 20), dense(20, 20) / 8

        def through(product):
            layer = jax.checkpoint(lambda x: jax.nn.relu(product(x, w.astype(x.dtype))))
            return lambda x: jax.lax.scan(lambda x, _: (layer(x), None), x, length=3)[0]

        self.check(through(pit.matmul), through(jnp.matmul), x)

    def test_shapes_without_running(self):
        shapes = [jax.ShapeDtypeStruct(s, "bfloat16") for s in ((9, 20), (20, 7))]
        found = jax.eval_shape(pit.matmul, *shapes)
        self.assertEqual((found.shape, found.dtype), ((9, 7), jnp.bfloat16))

    def test_export(self):
        """A function that is stored runs in another process."""
        a, b = zeros(9, 20), dense(20, 7)
        allowed = [jax.export.DisabledSafetyCheck.custom_call("pit_run")]
        exported = jax.export.export(jax.jit(pit.matmul), disabled_checks=allowed)(a, b)
        self.close(exported.call(a, b), wide(a) @ wide(b), "float32")
        if not importlib.util.find_spec("flatbuffers"):
            self.skipTest("JAX stores functions by flatbuffers")
        program = "import sys, jax.export, numpy, pit.jax\n" \
                  "f = jax.export.deserialize(bytearray(open(sys.argv[1], 'rb').read()))\n" \
                  "a, b = numpy.load(sys.argv[2]).values()\n" \
                  "numpy.save(sys.argv[3], f.call(a, b))\n"
        with tempfile.TemporaryDirectory() as folder:
            function, inputs, output = (f"{folder}/{n}" for n in ("f", "in.npz", "out.npy"))
            Path(function).write_bytes(exported.serialize())
            np.savez(inputs, a, b)
            subprocess.run([sys.executable, "-c", program, function, inputs, output], check=True,
                           env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
            self.close(np.load(output), wide(a) @ wide(b), "float32")

    def test_export_of_any_size(self):
        """Sizes may be left open: the calls compile."""
        arrays = zeros(6, 20), dense(7, 20), dense(7)
        sizes = [jax.ShapeDtypeStruct(jax.export.symbolic_shape(dims, scope=scope), "float32")
                 for scope in [jax.export.SymbolicScope()] for dims in ("b,k", "n,k", "n")]
        allowed = [jax.export.DisabledSafetyCheck.custom_call("pit_run")]
        layer = lambda x, w, b: pit.linear(x, w, b, activation="relu")
        reference = lambda x, w, b: jax.nn.relu(x @ w.T + b)
        gradient = lambda call: jax.grad(lambda *a: (call(*a) ** 2).sum(), (0, 1, 2))
        export = lambda call: jax.export.export(jax.jit(call), disabled_checks=allowed)(*sizes)
        value, slope = export(layer), export(gradient(layer))
        for b, k, n in ((6, 20, 7), (3, 5, 4)):
            given = [x[tuple(map(slice, dims))] for x, dims in zip(arrays, ((b, k), (n, k), (n,)))]
            self.close(value.call(*given), reference(*map(wide, given)), "float32")
            for each, wanted in zip(slope.call(*given), gradient(reference)(*map(wide, given))):
                self.close(each, wanted, "float32")
        image = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n,3,h,w"), "float32")
        with self.assertRaisesRegex(pit.Error, "conv2d: .* constraints="):
            jax.export.export(jax.jit(pit.conv2d), disabled_checks=allowed)(
                image, dense(4, 3, 3, 3))

    def test_without_jit(self):
        x, w = zeros(5, 8), dense(3, 8)
        loss = lambda product: lambda x, w: (product(x, w) ** 2).sum()
        with jax.disable_jit():
            found = jax.vmap(pit.linear, (0, None))(x[None], w)[0]
            slope = jax.grad(loss(pit.linear))(x, w)
            _, tangent = jax.jvp(pit.linear, (x, w), (x, w))
        x, w = wide(x), wide(w)
        self.close(found, x @ w.T, "float32")
        self.close(slope, jax.grad(loss(lambda x, w: x @ w.T))(x, w), "float32")
        self.close(tangent, 2 * (x @ w.T), "float32")

    def test_threads(self):
        b, failures = dense(64, 48), []
        call = jax.jit(lambda a, b: pit.matmul(a, b))

        def work():
            generator = np.random.default_rng()
            for _ in range(20):
                m = int(generator.integers(1, 5))
                a = np.where(generator.random((m, 64)) < 0.2, 1.0, 0).astype("f")
                found = np.asarray(call(a, b), "d")
                if not np.allclose(found, a.astype("d") @ np.asarray(b, "d"), atol=1e-4):
                    failures.append(m)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Documents(Case):
    def test_example(self):
        """That of docs/Jax.md."""
        code = (ROOT / "docs/Jax.md").read_text().split("```python\n")[1].split("```")[0]
        found = {}
        exec(compile(code, "Jax.md", "exec"), found)

        def loss(w1, b1, w2, x, y):
            return ((jax.nn.relu(x @ w1.T + b1) @ w2.T - y) ** 2).mean()

        arrays = [dense(*s) for s in ((12, 8), (12,), (5, 12), (9, 8), (9, 5))]
        expected = jax.grad(loss, argnums=(0, 1, 2))(*map(wide, arrays))
        for each, wanted in zip(found["step"](*arrays), expected):
            self.close(each, wanted, "float32")


class Errors(Case):
    def check(self, message, function, *arrays):
        with self.assertRaises(pit.Error) as caught:
            jax.jit(function)(*arrays)
        self.assertIn(message, str(caught.exception))

    def test_messages(self):
        a, b = zeros(5, 4), dense(4, 3)
        self.check("matmul: dimension 0 of b is 5, but dimension 1 of a is 4", pit.matmul, a,
                   dense(5, 3))
        self.check("matmul: b has elements of f64, a of f32; convert one of them", pit.matmul, a,
                   wide(b))
        self.check("a has elements of complex64; pit has float64", pit.matmul,
                   a.astype("complex64"), b)
        self.check("matmul: out= is no part of a function that JAX compiles",
                   lambda a, b: pit.matmul(a, b, out=np.empty((5, 3), "f")), a, b)
        index = pit.build_index(np.asarray(a) != 0, (1, 1), 1, source="mask")
        self.check("matmul: index is a Index, beside arrays of JAX; pass mask= in its place",
                   lambda a, b: pit.matmul(a, b, index=index), a, b)
        for transform in (jax.grad, lambda f: lambda a: jax.jvp(f, (a,), (a,))):
            with self.assertRaisesRegex(pit.Error, "scaled_matmul has no (gradients|derivatives)"):
                transform(lambda a: pit.scaled_matmul(a, b, 1.0 * a[0, 0], a[0, 1]).sum())(a)

    def test_types_that_jax_lacks(self):
        a, b = zeros(5, 4), dense(4, 3)
        with jax.enable_x64(False):
            self.check("the result is f64, which JAX does not have unless jax_enable_x64 is set",
                       lambda a, b: pit.matmul(a, b, dtype="f64"), a, b)
            self.check("b has elements of float64, which JAX does not have unless",
                       lambda a: pit.matmul(a, np.ones((4, 3))), a)

    @unittest.skipIf(jax.default_backend() != "cpu", "a GPU ignores lengths out of range")
    def test_while_running(self):
        """What the runtime refuses is an error of the compiled function."""
        x, lengths, w = dense(2, 3, 4), jnp.asarray([1, 7]), dense(5, 4)
        with self.assertRaisesRegex(Exception, "pit: .*7"):
            jax.jit(pit.padded_linear)(x, lengths, w).block_until_ready()


if __name__ == "__main__":
    unittest.main()
