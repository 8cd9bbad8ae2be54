# RUN: %quick_python %s
# REQUIRES: pit-compile
"""pit.moe, padded_mlp, masked_mlp and conv2d, against numpy in float64."""

import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

from pit.ops import _op  # noqa: E402

random = np.random.default_rng()


def dense(*shape, scale=1.0):
    return (scale * random.standard_normal(shape)).astype("f")


def silu(x):
    return x / (1 + np.exp(-x))


class Layers(unittest.TestCase):
    def check(self, found, expected, limit=1e-5, dtype="float32"):
        self.assertEqual(found.shape, expected.shape)
        self.assertEqual(found.dtype.name, dtype)
        if expected.size:
            scale = max(1.0, abs(expected).max())
            self.assertLessEqual(abs(found.astype("d") - expected).max() / scale, limit)


def experts_reference(x, weights, experts, gate, up, down, function=silu):
    y = np.zeros((len(x), down.shape[2]))
    for token, (row, chosen) in enumerate(zip(weights, experts)):
        for weight, e in zip(row, chosen):
            if e >= 0:
                value = x[token].astype("d")
                hidden = value @ up[e]
                hidden = function(hidden) if gate is None else function(value @ gate[e]) * hidden
                y[token] += weight * (hidden @ down[e])
    return y


class Moe(Layers):
    COUNT, K, F, N = 5, 24, 18, 13

    def setUp(self):
        self.gate, self.up = (dense(self.COUNT, self.K, self.F, scale=0.2) for _ in range(2))
        self.down = dense(self.COUNT, self.F, self.N, scale=0.2)

    def draw(self, tokens):
        experts = np.argsort(random.random((tokens, self.COUNT)))[:, :2].astype("i")
        return dense(tokens, self.K), random.random((tokens, 2)).astype("f"), experts

    def test_tokens(self):
        for tokens in (37, 0, 1, 200):
            drawn = self.draw(tokens)
            self.check(pit.moe(*drawn, self.gate, self.up, self.down),
                       experts_reference(*drawn, self.gate, self.up, self.down))

    def test_routes(self):
        x, weights, experts = self.draw(40)
        for chosen in (np.full_like(experts, -1), np.tile(np.int32([2, -1]), (40, 1)),
                       np.tile(np.int32([0, 4]), (40, 1))):
            self.check(pit.moe(x, weights, chosen.astype("l"), self.gate, self.up, self.down),
                       experts_reference(x, weights, chosen, self.gate, self.up, self.down))
        with self.assertRaisesRegex(pit.Error, "expert|assign"):
            pit.moe(x, weights, np.full_like(experts, 5), self.gate, self.up, self.down)

    def test_forms(self):
        x, weights, experts = self.draw(40)
        expected = experts_reference(x, weights, experts, self.gate, self.up, self.down)
        stored = [np.ascontiguousarray(w.transpose(0, 2, 1)).transpose(0, 2, 1)
                  for w in (self.gate, self.up, self.down)]
        self.check(pit.moe(x, weights.astype("d"), experts, *stored), expected)
        half = [v.astype("e") for v in (x, self.gate, self.up, self.down)]
        self.check(pit.moe(half[0], weights, experts, *half[1:]), expected, 1e-2, "float16")
        out = np.full((40, self.N), np.nan, "f")
        self.assertIs(pit.moe(x, weights, experts, self.gate, self.up, self.down, out=out), out)
        self.check(out, expected)
        lead = [v.reshape(4, 10, -1) for v in (x, weights, experts)]
        self.check(pit.moe(*lead, self.gate, self.up, self.down), expected.reshape(4, 10, -1))
        relu = lambda v: np.maximum(v, 0)
        self.check(pit.moe(x, weights, experts, None, self.up, self.down, activation="relu"),
                   experts_reference(x, weights, experts, None, self.up, self.down, relu))

    def test_halves(self):
        """Gates and ups that are stored as one are read there, whatever their order is."""
        x, weights, experts = self.draw(40)
        for f in (18, 7, 9, 11, 13, 15):  # of which the last is dynamic
            stored, down = dense(self.COUNT, 2 * f, self.K, scale=0.2), dense(self.COUNT, f, self.N, scale=0.2)
            for whole in ((stored.transpose(0, 2, 1), stored.transpose(0, 2, 1).copy())
                          if f == 18 else (stored.transpose(0, 2, 1),)):
                gate, up = np.split(whole, 2, -1)
                expected = experts_reference(x, weights, experts, gate, up, down)
                self.check(pit.moe(x, weights, experts, gate, up, down), expected)
                self.check(pit.moe(x, weights, experts, up, gate, down),
                           experts_reference(x, weights, experts, up, gate, down))
                with _op.capture() as plans:
                    pit.moe(x[None], weights[None], experts[None], gate, up, down)
                (plan, arrays), = plans
                prepare = plan.prepare[3] or (lambda array: array)
                self.assertTrue(np.may_share_memory(prepare(arrays[3]), whole))
        with self.assertRaisesRegex(pit.Error, "w_gate and w_up have 15 columns .* has 14 rows"):
            pit.moe(x, weights, experts, gate, up, down[:, :14])


class Padded(Layers):
    def test_mlp(self):
        w1, b1, w2, b2 = dense(18, 24), dense(18), dense(13, 18), dense(13)
        for batch, positions in ((3, 20), (1, 1), (0, 7), (4, 130)):
            x = dense(batch, positions, 24)
            lengths = random.integers(0, positions + 1, batch).astype("i")
            there = (np.arange(positions) < lengths[:, None])[..., None]
            poisoned = np.where(there, x, np.nan)
            hidden = np.maximum(x.astype("d") @ w1.T + b1, 0)
            self.check(pit.padded_mlp(poisoned, lengths, w1, b1, w2, b2, activation="relu"),
                       np.where(there, hidden @ w2.T + b2, 0))
            plain = np.tanh(x.astype("d") @ w1.T) @ w2.T
            self.check(pit.padded_mlp(poisoned, lengths, w1, None, w2, None, activation="tanh"),
                       np.where(there, plain, 0))


def masked_reference(x, mask, w1, b1, w2, b2, function):
    x, w1, w2 = (v.astype("d") for v in (x, w1, w2))
    each = [size // max(count, 1) for size, count in zip((len(x), len(w1)), mask.shape)]
    here = mask.astype(bool).repeat(each[0], 0).repeat(each[1], 1).reshape(len(x), len(w1))
    hidden = np.where(here, function(x @ w1.T + (0 if b1 is None else b1)), 0)
    return hidden @ w2.T + (0 if b2 is None else b2)


class Masked(Layers):
    FUNCTIONS = {"relu": lambda v: np.maximum(v, 0), "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
                 "silu": silu, None: lambda v: v}

    def test_mlp(self):
        """Of ragged sizes, of one token or none, with nothing and with all selected."""
        w1, b1, w2, b2 = dense(35, 24), dense(35), dense(13, 35), dense(13)
        for tokens, blocks, live in ((6, 2, 0.5), (21, 3, 0.2), (1, 1, 1), (0, 0, 1), (0, 3, 1),
                                     (8, 8, 0), (128, 1, 0.5), (5, 1, 1)):
            x, mask = dense(tokens, 24), random.random((blocks, 7)) < live
            for activation, function in self.FUNCTIONS.items():
                self.check(pit.masked_mlp(x, mask, w1, b1, w2, b2, activation=activation),
                           masked_reference(x, mask, w1, b1, w2, b2, function))
        for count, neurons in ((35, 35), (1, 35), (0, 0)):
            x, mask = dense(6, 24), (random.random((3, count)) < 0.4).astype("b")
            arrays = mask, w1[:neurons], None, np.ascontiguousarray(w2[:, :neurons]), b2
            self.check(pit.masked_mlp(x, *arrays, activation="silu"),
                       masked_reference(x, *arrays, silu))

    def test_forms(self):
        w1, w2 = dense(32, 24), dense(12, 32)
        x, mask = dense(16, 24), random.random((4, 8)) < 0.4
        relu = self.FUNCTIONS["relu"]
        expected = masked_reference(x, mask, w1, None, w2, None, relu)
        for one in (w1, np.asfortranarray(w1)):
            for other in (w2, np.asfortranarray(w2)):
                self.check(pit.masked_mlp(x, mask, one, None, other, None), expected)
        self.check(pit.masked_mlp(x.reshape(2, 8, 24), mask, w1, None, w2, None),
                   expected.reshape(2, 8, 12))
        out = np.full((16, 12), np.nan, "f")
        self.assertIs(pit.masked_mlp(x, mask, w1, None, w2, None, out=out), out)
        self.check(out, expected)
        half = [v.astype("e") for v in (x, w1, w2)]
        self.check(pit.masked_mlp(half[0], mask, half[1], None, half[2], None), expected, 2e-2,
                   "float16")
        # What nobody uses goes nowhere.
        unused = ~mask.any(0).repeat(4)
        w1[unused] = np.nan
        self.check(pit.masked_mlp(x, mask, w1, None, w2, None), expected)

    def test_errors(self):
        x, w1, w2 = dense(6, 24), dense(32, 24), dense(12, 32)
        for blocks, message in (((4, 8), "6 rows of x, and a mask of 4 blocks"),
                                ((3, 5), "32 neurons .rows of w1., and a mask of 5 blocks"),
                                ((0, 8), "6 rows of x, and a mask of 0 blocks")):
            with self.assertRaisesRegex(pit.Error, f"masked_mlp: {message}"):
                pit.masked_mlp(x, np.ones(blocks, bool), w1, None, w2, None)
        with self.assertRaisesRegex(pit.Error, "masked_mlp: no activation 'swish'"):
            pit.masked_mlp(x, np.ones((3, 8), bool), w1, None, w2, None, activation="swish")


def convolution(x, w, stride, padding, dilation):
    n, _, height, width = x.shape
    padded = np.pad(x.astype("d"), ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    rows, columns = [
        (padded.shape[2 + i] - dilation[i] * (w.shape[2 + i] - 1) - 1) // stride[i] + 1
        for i in range(2)]
    y = np.zeros((n, w.shape[0], rows, columns))
    for i in range(w.shape[2]):
        for j in range(w.shape[3]):
            row, column = i * dilation[0], j * dilation[1]
            window = padded[:, :, row: row + (rows - 1) * stride[0] + 1: stride[0],
                            column: column + (columns - 1) * stride[1] + 1: stride[1]]
            y += np.einsum("nchw,fc->nfhw", window, w[:, :, i, j])
    return y


class Conv2d(Layers):
    def draw(self, n=2):
        x = dense(n, 6, 11, 9)
        x[:, random.random(6) < 0.5] = 0
        return x, dense(5, 6, 3, 2), dense(5)

    def test_windows(self):
        x, w, bias = self.draw()
        for how in (((1, 1), (1, 1), (1, 1)), ((2, 1), (0, 1), (1, 2))):
            stride, padding, dilation = how
            expected = convolution(x, w, *how)
            self.check(pit.conv2d(x, w, bias, stride=stride, padding=padding, dilation=dilation,
                                  activation="relu"),
                       np.maximum(expected + bias[:, None, None], 0))
            found = pit.conv2d(np.ascontiguousarray(x.transpose(0, 2, 3, 1)),
                               np.ascontiguousarray(w.transpose(2, 3, 1, 0)), stride=stride,
                               padding=padding, dilation=dilation, layout="nhwc")
            self.check(found, expected.transpose(0, 2, 3, 1))

    def test_padding(self):
        """Both sides apart, and torch's names."""
        x, w, _ = self.draw()  # windows of 3x2
        for name, sides, dilation in (("same", (1, 1, 0, 1), 1), ("same", (2, 2, 1, 2), (2, 3)),
                                      ("valid", (0, 0, 0, 0), 1), ((2, 0, 1, 3), (2, 0, 1, 3), 1)):
            padded = np.pad(x, ((0, 0), (0, 0), sides[:2], sides[2:]))
            step = dilation if isinstance(dilation, tuple) else (dilation,) * 2
            expected = convolution(padded, w, (1, 1), (0, 0), step)
            self.check(pit.conv2d(x, w, padding=name, dilation=dilation), expected)
            if name == "same":
                self.assertEqual(expected.shape[2:], x.shape[2:])
            self.check(pit.conv2d(x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), padding=name,
                                  dilation=dilation, layout="nhwc"), expected.transpose(0, 2, 3, 1))
        # Of each size of windows, after calls with another one.
        for size in (1, 2, 5):
            w = dense(5, 6, size, size)
            self.assertEqual(pit.conv2d(x, w, padding="same").shape[2:], x.shape[2:])

    def test_channels_of_any_height(self):
        x, w, _ = self.draw()
        for height in range(4, 12):  # becomes dynamic
            for part in (x[:, :, :height], x[:0, :, :height]):
                self.check(pit.conv2d(part, w, padding=1, micro_tile=(1, 1, 0, 0), axis=1),
                           convolution(part, w, (1, 1), (1, 1), (1, 1)))

    def test_masks(self):
        x, w, _ = self.draw()
        kept = random.random(w.shape) < 0.4
        self.check(pit.conv2d(x, np.where(kept, w, np.nan).astype("f"), sparse="weight", mask=kept),
                   convolution(x, np.where(kept, w, 0), (1, 1), (0, 0), (1, 1)))
        for shape in ((1, x.shape[1], 1, 1), x.shape[2:], (x.shape[0], 1, *x.shape[2:]), ()):
            kept = random.random(shape) < 0.4
            self.check(pit.conv2d(np.where(kept, x, np.nan).astype("f"), w, mask=kept),
                       convolution(np.where(kept, x, 0), w, (1, 1), (0, 0), (1, 1)))
        kept = random.random((w.shape[0], 1, 1, 1)) < 0.4
        self.check(pit.conv2d(x, np.where(kept, w, np.nan).astype("f"), sparse="weight", mask=kept),
                   convolution(x, np.where(kept, w, 0), (1, 1), (0, 0), (1, 1)))

    def test_wanted(self):
        """Pixels, filters and elements of the result, in both layouts; of no image, too."""
        for n, stride, padding, dilation in (
                (2, (1, 1), (1, 1), (1, 1)), (1, (2, 1), (0, 1), (1, 2)),
                (3, (1, 2), (2, 0), (2, 1)), (0, (1, 1), (0, 0), (1, 1))):
            x, w, bias = self.draw(n)
            how = dict(stride=stride, padding=padding, dilation=dilation)
            y = np.maximum(convolution(x, w, stride, padding, dilation) + bias[:, None, None], 0)
            rows, columns = y.shape[2:]
            for shape, live in (
                    ((n, 1, rows, columns), 0.4), ((rows, columns), 0.4), ((1, 1, rows, 1), 0.4),
                    ((5, 1, 1), 0.5), (y.shape, 0.3), ((n, 1, rows, columns), 0),
                    ((5, 1, 1), 0), ((5, 1, 1), 1)):
                kept = random.random(shape) < live
                expected = np.where(kept, y, 0)
                self.check(pit.conv2d(x, w, bias, sparse="out", mask=kept, activation="relu", **how),
                           expected)
                last = np.moveaxis(kept.reshape((1,) * (4 - kept.ndim) + shape), 1, 3).astype("b")
                found = pit.conv2d(x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), bias,
                                   layout="nhwc", sparse="out", mask=last, activation="relu", **how)
                self.check(found, expected.transpose(0, 2, 3, 1))

    def test_errors(self):
        x, w, _ = self.draw()
        kept = np.ones((2, 1, 9, 8), bool)
        for message, how in (
                ("the mask has 9 rows of pixels; the result has 11", dict(padding=(1, 0), mask=kept)),
                ('sparse="out" takes a mask= of the result, one group', {}),
                ('sparse="out" takes a mask= of the result, one group',
                 dict(mask=kept, live_fraction=0.1))):
            with self.assertRaisesRegex(pit.Error, f"conv2d: {message}"):
                pit.conv2d(x, w, sparse="out", **how)
        for message, how in (
                ("no layout 'chwn'; there are: nchw, nhwc", dict(layout="chwn")),
                ("stride=\\(0, 0\\)", dict(stride=0)), ("padding=\\(-1", dict(padding=-1)),
                ("padding='full'; it is a number, two of rows and columns", dict(padding="full")),
                ('padding="same" with stride=2', dict(padding="same", stride=2)),
                ("a filter that reaches over 13 elements of dim h, which has 11",
                 dict(dilation=(6, 1)))):
            with self.assertRaisesRegex(pit.Error, message):
                pit.conv2d(x, w, **how)


if __name__ == "__main__":
    unittest.main()
