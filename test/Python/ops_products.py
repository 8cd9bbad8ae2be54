# RUN: %quick_python %s
# REQUIRES: pit-compile
"""pit.matmul, einsum, linear and their like, against numpy in float64."""

import importlib.util
import itertools
import math
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402

from pit.ops import _einsum, _gradients, _op  # noqa: E402

random = np.random.default_rng()
TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 4e-3}


def zeros(*shape, live_fraction=0.1, dtype="f"):
    """Random elements, most of them zeros, anywhere."""
    values = random.standard_normal(shape)
    return np.where(random.random(shape) < live_fraction, values, 0).astype(dtype)


def dense(*shape, dtype="f"):
    return random.standard_normal(shape).astype(dtype)


def broadcast_shapes(*shape):
    """Some of the shapes that broadcast to a shape, others each time."""
    found = [each for rank in range(len(shape) + 1) for each in
             itertools.product(*((1, size) for size in shape[len(shape) - rank:]))]
    return [found[i] for i in random.choice(len(found), 2, replace=False)]


def wide(*arrays):
    return [a.astype("d") for a in arrays]


class Products(unittest.TestCase):
    def test_floats_of_8_bits(self):
        # numpy has none: bits without a sign, and a mark of all that is not +-0.
        values = np.array([0, 0x38, 0x40, 0xB8, 0x80, 0x01], dtype="u1")
        meant = {"f8E4M3FN": np.array([0, 1, 2, -1, -0.0, 2.0**-9]),
                 "f8E5M2": np.array([0, 0.5, 2, -0.5, -0.0, 2.0**-16])}
        for name, known in meant.items():
            i, j = (random.integers(0, len(values), shape) for shape in ((37, 50), (50, 21)))
            a, b = pit.view(values[i], name), pit.view(values[j], name)
            expected = known[i] @ known[j]
            self.check(pit.matmul(a, b), expected)
            self.check(pit.matmul(a, b, sparse=None), expected)
            self.check(pit.matmul(a, b, dtype="f16"), expected, "float16")
            with self.assertRaisesRegex(pit.Error, "b has elements of u8"):
                pit.matmul(a, b.array)
        if importlib.util.find_spec("ml_dtypes"):  # which gives numpy these types
            self.assertEqual(pit.matmul(a, b, dtype=name).dtype.name, "float8_e5m2")
            return
        with self.assertRaisesRegex(pit.Error, f"numpy has no {name}; give the result with out=, as "
                                               rf"pit.view\(uint8_array, '{name}'\)"):
            pit.matmul(a, b, dtype=name)

    def check(self, found, expected, dtype=None):
        self.assertEqual(found.shape, expected.shape)
        self.assertEqual(found.dtype.name, dtype or "float32")
        if expected.size:
            scale = max(1.0, abs(expected).max())
            limit = TOLERANCE.get(found.dtype.name, 0)
            self.assertLessEqual(abs(found.astype("d") - expected).max() / scale, limit)

    def test_matmul(self):
        b = dense(70, 21)
        for a in (zeros(33, 70), zeros(5, 70), zeros(0, 70), np.zeros((9, 70), "f"),
                  dense(40, 70), zeros(1, 70)):
            self.check(pit.matmul(a, b), a.astype("d") @ b.astype("d"))
        out = np.full((33, 21), np.nan, "f")
        a = zeros(33, 70)
        self.assertIs(pit.matmul(a, b, out=out), out)
        self.check(out, a.astype("d") @ b.astype("d"))

    def test_ranks(self):
        a, b, batches = zeros(2, 3, 20), dense(20, 7), dense(2, 20, 7)
        self.check(pit.matmul(a, b), a.astype("d") @ b.astype("d"))
        out = np.empty((2, 3, 7), "f")
        self.assertIs(pit.matmul(a, b, out=out), out)
        self.check(out, a.astype("d") @ b.astype("d"))
        self.check(pit.matmul(a, batches), a.astype("d") @ batches.astype("d"))
        self.check(pit.matmul(a[:, :, :0], b[:0]), np.zeros((2, 3, 7)))
        self.check(pit.matmul(a[0, 0], b), a[0, 0].astype("d") @ b.astype("d"))
        self.check(pit.matmul(a[0], b[:, 0]), a[0].astype("d") @ b[:, 0].astype("d"))
        shapes = [(5,), (4, 5), (3, 4, 5), (2, 3, 4, 5)], [(5,), (5, 6), (3, 5, 6), (2, 3, 5, 6)]
        for left, right in itertools.product(*shapes):
            x, y, sparse = zeros(*left), dense(*right), random.choice(["a", "b"])
            with self.subTest(left=left, right=right, sparse=sparse):
                if len(left) + len(right) == 2:
                    self.assertAlmostEqual(float(pit.matmul(x, y, sparse=sparse)), float(x @ y), 5)
                    continue
                self.check(pit.matmul(x, y, sparse=sparse), x.astype("d") @ y.astype("d"))

    def test_batches_of_one(self):
        for left, right in (((1, 4, 5), (3, 5, 6)), ((3, 4, 5), (1, 5, 6)), ((2, 3, 4, 5), (1, 5, 6)),
                            ((2, 3, 4, 5), (2, 1, 5, 6)), ((1, 3, 4, 5), (2, 1, 5, 6))):
            x, y = zeros(*left), dense(*right)
            wanted = x.astype("d") @ y.astype("d")
            for _ in range(2):
                self.check(pit.matmul(x, y), wanted)
                for name, each in (("a", x), ("b", y)):
                    mask = random.random(each.shape) < 0.5
                    one, other = (x * mask, y) if name == "a" else (x, y * mask)
                    self.check(pit.matmul(x, y, sparse=name, mask=mask),
                               one.astype("d") @ other.astype("d"))
                mask = random.random(wanted.shape) < 0.5
                self.check(pit.masked_matmul(x, y, mask), wanted * mask)

    def test_types(self):
        for dtype in ("d", "e", "i", "l"):
            a, b = (10 * zeros(9, 20)).astype(dtype), (10 * dense(20, 7)).astype(dtype)
            self.check(pit.matmul(a, b), a.astype("d") @ b.astype("d"), np.dtype(dtype).name)
        a, b = (50 * zeros(9, 20)).astype("b"), (50 * dense(20, 7)).astype("b")
        self.check(pit.matmul(a, b), a.astype("d") @ b.astype("d"), "int32")
        a, b = zeros(9, 20, dtype="e"), dense(20, 7, dtype="e")
        self.check(pit.matmul(a, b, dtype=np.float32), a.astype("d") @ b.astype("d"))

    def test_layouts(self):
        a, b = zeros(18, 20), dense(20, 7)
        expected = a.astype("d") @ b.astype("d")
        self.check(pit.matmul(a, np.asfortranarray(b)), expected)
        self.check(pit.matmul(np.asfortranarray(a), b), expected)
        self.check(pit.matmul(a[::2], b), expected[::2])
        self.check(pit.matmul(a[::-1], b), expected[::-1])
        row = np.broadcast_to(a[:1], (18, 20))
        self.check(pit.matmul(row, b), row.astype("d") @ b.astype("d"))

    def test_masks_that_broadcast(self):
        q, k = dense(2, 3, 9, 16), dense(2, 3, 9, 16)
        full = np.einsum("bhqd,bhkd->bhqk", *wide(q, k))
        for shape in broadcast_shapes(2, 3, 9, 9):
            mask = random.random(shape) < 0.5
            self.check(pit.einsum("bhqd,bhkd->bhqk", q, k, sparse="out", mask=mask),
                       np.where(mask, full, 0))
        x, w, bias = dense(3, 5, 8), dense(6, 8), dense(6)
        for shape in broadcast_shapes(3, 5, 8):
            mask = random.random(shape) < 0.5
            kept, poisoned = np.where(mask, x, 0), np.where(mask, x, np.nan)
            self.check(pit.linear(poisoned, w, bias, mask=mask),
                       kept.astype("d") @ w.T.astype("d") + bias)
            self.check(pit.matmul(poisoned, w.T, mask=mask.view("b")),
                       kept.astype("d") @ w.T.astype("d"))
        product = x.astype("d") @ w.T.astype("d")
        for shape in broadcast_shapes(3, 5, 6):
            mask = random.random(shape) < 0.5
            self.check(pit.linear(x, w, sparse="out", mask=mask), np.where(mask, product, 0))
            self.check(pit.masked_matmul(x, w.T, mask), np.where(mask, product, 0))
        for shape in broadcast_shapes(6, 8):
            mask = random.random(shape) < 0.5
            kept, poisoned = np.where(mask, w, 0), np.where(mask, w, np.nan)
            self.check(pit.linear(x, poisoned, sparse=random.choice(["weight", "b"]), mask=mask),
                       x.astype("d") @ kept.T.astype("d"))
        for batch in range(3):  # a size that varies, of a mask that has it and one that has not
            q = dense(batch, 7, 4)
            for shape in ((batch, 1, 7), (1, 7, 7)):
                mask = random.random(shape) < 0.5
                self.check(pit.einsum("bqd,bkd->bqk", q, q, sparse="out", mask=mask),
                           np.where(mask, q.astype("d") @ q.astype("d").swapaxes(1, 2), 0))

    def test_what_is_selected(self):
        a, b = dense(33, 20), dense(20, 9)
        mask = random.random((33, 20)) < 0.2
        poisoned = np.where(mask, a, np.nan)
        expected = np.where(mask, a, 0).astype("d") @ b.astype("d")
        self.check(pit.matmul(poisoned, b, mask=mask), expected)
        self.check(pit.matmul(poisoned, b, mask=mask.view(np.int8)), expected)
        index = pit.build_index(mask, (1, 1), 1, source="mask")
        self.check(pit.matmul(np.where(mask, a, 0), b, index=index), expected)
        kept = random.random((20, 9)) < 0.3
        self.check(pit.matmul(a, b, sparse="b", mask=kept),
                   a.astype("d") @ np.where(kept, b, 0).astype("d"))
        wanted = random.random((33, 9)) < 0.3
        self.check(pit.masked_matmul(a, b, wanted),
                   np.where(wanted, a.astype("d") @ b.astype("d"), 0))
        both = zeros(33, 20), zeros(20, 9)
        self.check(pit.matmul(*both, sparse=("a", "b")), np.matmul(*wide(*both)))

    def test_hints(self):
        a, b = zeros(33, 20), dense(20, 9)
        expected = a.astype("d") @ b.astype("d")
        self.check(pit.matmul(a, b, micro_tile=(1, 1), axis=1), expected)
        self.check(pit.matmul(a, b, micro_tile=(1, 0), axis=0), expected)
        self.check(pit.matmul(a, b, live_fraction=0.1), expected)
        self.check(pit.matmul(a, b, sparse=None), expected)

    def test_einsum(self):
        gates, tokens, weights = dense(16, 4), dense(16, 30), dense(4, 30, 12)
        experts = random.integers(0, 4, (16, 2)).astype("i")
        experts[3, 1] = -1
        chosen = np.zeros((16, 4), bool)
        for token, row in enumerate(experts):
            chosen[token, row[row >= 0]] = True
        found = pit.einsum("te,tk,ekn->tn", gates, tokens, weights, sparse="a", routing=experts)
        self.check(found, np.einsum("te,tk,ekn->tn", np.where(chosen, gates, 0).astype("d"),
                                    *wide(tokens, weights)))
        a, b, c = dense(33, 20), dense(20, 9), zeros(33, 9)
        self.check(pit.einsum("mk,kn,mn->mn", a, b, c, sparse="c"),
                   a.astype("d") @ b.astype("d") * c.astype("d"))
        self.check(pit.einsum("mk->m", zeroed := zeros(33, 20), sparse=0),
                   zeroed.astype("d").sum(1))
        self.check(pit.einsum("ik,kj", a, b), a.astype("d") @ b.astype("d"))
        square, batch = dense(3, 5, 5), zeros(2, 3, 4, 5)
        for equation, *operands in (
                ("...mk,kn->...mn", batch, dense(5, 6)), ("...k,...k", batch, batch),
                ("...mk,bkn->...bmn", batch, dense(2, 5, 6)), ("m...,mn->n...", batch, dense(2, 3)),
                ("bii->b", square), ("bii,ij->bj", square, dense(5, 2)), ("kii", square),
                ("...ii->...i", square), ("iij,j->i", dense(4, 4, 5), dense(5))):
            for _ in range(2):
                self.check(pit.einsum(equation, *operands), np.einsum(equation, *wide(*operands)))

    def test_ones_are_not_read(self):
        op = _einsum.expert_product_op("se,sk,ekf->sf")
        here = np.full((7, 3), np.nan, "f")
        x, w, experts = dense(7, 20), dense(3, 20, 11), random.integers(-1, 3, (7, 1))
        there = (experts == np.arange(3)).astype("d")
        self.check(_op.run(op, [here, x, w, experts]), np.einsum("se,sk,ekf->sf", there, x, w))
        gradient, others, _ = _gradients.einsum_gradient(op, 2)
        self.assertEqual(others, (0, 1))
        grad = dense(7, 11)
        self.check(_op.run(gradient, [grad, here, x, experts]),
                   np.einsum("sf,se,sk->ekf", grad, there, x))

    def test_einsum_of_many_dims(self):
        """A program has eight dims; letters that stand together are one."""
        equation = "abcdefghi,ij->abcdefghj"
        x, w = zeros(2, 1, 2, 3, 1, 2, 1, 2, 5), dense(5, 4)
        for each, *operands in ((equation, x, w), ("...i,ij->...j", x, w),
                                ("abcdefghi,gh", x, dense(1, 2)),
                                ("ab,cdefghi->abcdefghi", dense(2, 3), dense(1, 2, 1, 2, 2, 1, 2))):
            self.check(pit.einsum(each, *operands), np.einsum(each, *wide(*operands)))
        out = np.empty((*x.shape[:-1], 4), "f")
        self.assertIs(pit.einsum(equation, x, w, out=out), out)
        self.check(out, np.einsum(equation, *wide(x, w)))
        for shape in (x.shape, (2, 5), (2, 1, 2, 1, 1, 2, 1, 2, 1)):
            mask = random.random(shape) < 0.5
            self.check(pit.einsum(equation, x, w, sparse="a", mask=mask),
                       np.einsum(equation, *wide(np.where(mask, x, 0), w)))
        lengths = random.integers(0, 3, x.shape[:5])
        there = (np.arange(2) < lengths[..., None])[..., None, None, None]
        self.check(pit.einsum(equation, x, w, sparse="a", lengths=lengths),
                   np.einsum(equation, *wide(np.where(there, x, 0), w)))

    def test_linear(self):
        x, w, bias = zeros(2, 33, 20), dense(9, 20), dense(9)
        plain = x.astype("d") @ w.astype("d").T + bias
        self.check(pit.linear(x, w), plain - bias)
        self.check(pit.linear(x[0, 0], w, bias), plain[0, 0])
        erf = np.vectorize(math.erf)
        for name, function in {
                "relu": lambda v: np.maximum(v, 0), "tanh": np.tanh,
                "sigmoid": lambda v: 1 / (1 + np.exp(-v)), "silu": lambda v: v / (1 + np.exp(-v)),
                "gelu": lambda v: v * 0.5 * (1 + erf(v / math.sqrt(2)))}.items():
            self.check(pit.linear(x, w, bias, activation=name), function(plain))
        half = [v.astype("e") for v in (x, w, bias)]
        expected = half[0].astype("d") @ half[1].astype("d").T + half[2]
        self.check(pit.linear(*half, activation="relu"), np.maximum(expected, 0), "float16")
        whole = [(10 * v).astype("i") for v in (x, w)]
        self.check(pit.linear(*whole, activation="relu"),
                   np.maximum(whole[0].astype("l") @ whole[1].T, 0), "int32")

    def test_padded_linear(self):
        x, w, bias = dense(3, 33, 20), dense(9, 20), dense(9)
        for lengths in (np.array([5, 0, 33], "i"), np.array([0, 0, 0], "l")):
            there = (np.arange(33) < lengths[:, None])[:, :, None]
            expected = np.where(there, np.tanh(x.astype("d") @ w.astype("d").T + bias), 0)
            poisoned = np.where(there, x, np.inf)
            self.check(pit.padded_linear(poisoned, lengths, w, bias, activation="tanh"), expected)
            self.check(pit.padded_linear(np.stack([poisoned] * 2), np.stack([lengths] * 2), w, bias,
                                         activation="tanh"), np.stack([expected] * 2))

    def test_sizes(self):
        """Of 0 and 1."""
        for m, k, n in ((0, 20, 7), (1, 20, 7), (5, 0, 7), (5, 1, 1), (5, 20, 0)):
            a, b = zeros(m, k), dense(k, n)
            self.check(pit.matmul(a, b), a.astype("d") @ b.astype("d"))

    def test_one_program_for_all_batches(self):
        from pit import _cache
        b = dense(24, 6)
        pit.matmul(zeros(3, 24), b)
        before = len(_cache.programs)
        for m in (1, 2, 17, 64, 200):
            a = zeros(m, 24)
            self.check(pit.matmul(a, b), a.astype("d") @ b.astype("d"))
        self.assertEqual(len(_cache.programs), before)
        # Other sizes are static at first, and dynamic after some of them.
        for n in range(1, 9):
            self.check(pit.matmul(zeros(0, 24), dense(24, n)), np.zeros((0, n)))
        self.assertLessEqual(len(_cache.programs), before + 5)


    def test_layers_choose_apart(self):
        """Layers of one shape, each with zeros of its own, share a program."""
        full, few = dense(64, 1024), zeros(64, 1024, live_fraction=0.01)
        first, second = dense(1024, 512), dense(1024, 512)
        pit.matmul(full, first)
        program = next(reversed(pit._cache.programs.values()))
        for _ in range(8):
            self.check(pit.matmul(full, first), np.matmul(*wide(full, first)))
            self.check(pit.matmul(few, second), np.matmul(*wide(few, second)))
        chosen = program.matmul.choices()
        self.assertEqual([(c.variant, c.calls, c.scans) for c in chosen if c.axis is None],
                         [(0, 9, 3)])
        self.assertEqual([(c.calls, c.scans) for c in chosen if c.axis is not None], [(8, 8)])


class Scaled(unittest.TestCase):
    """pit.scaled_matmul, beside numpy in f64."""

    def product(self, a, b, scale_a, scale_b):
        def scaled(x, scale):
            for axis in range(scale.ndim):
                scale = scale.repeat(x.shape[axis] // max(scale.shape[axis], 1), axis)
            return x.astype("d") * scale

        return scaled(a, scale_a) @ scaled(b, scale_b)

    def check(self, found, expected, limit=1e-5):
        self.assertEqual(found.shape, expected.shape)
        scale = max(1.0, abs(expected).max(initial=0))
        self.assertLessEqual(abs(found.astype("d") - expected).max(initial=0) / scale, limit)

    def test_forms(self):
        m, k, n = 12, 64, 10
        a, b = dense(m, k), dense(n, k).T
        forms_a = [(), (1, 1), (m, 1), (m, 2), (3, 1), (3, 2), (1, 2)]
        forms_b = [(), (1, 1), (1, n), (2, n), (2, 5), (1, 5), (2, 1)]
        for i in random.permutation(49)[:12]:
            scales = [dense(*form) if form else np.array(1.5, "f")
                      for form in (forms_a[i % 7], forms_b[i // 7])]
            with self.subTest(scales=[s.shape for s in scales]):
                self.check(pit.scaled_matmul(a, b, *scales), self.product(a, b, *scales))
                self.check(pit.scaled_matmul(a, b, *scales, dynamic=False),
                           self.product(a, b, *scales))

    def test_rest(self):
        for m in (33, 1, 0):
            a, b, bias = zeros(m, 40), dense(40, 7), dense(7)
            scales = dense(m, 1), dense(1, 7)
            expected = np.maximum(self.product(a, b, *scales) + bias, 0)
            self.check(pit.scaled_matmul(a, b, *scales, bias, activation="relu", sparse="a"),
                       expected)
            half = pit.scaled_matmul(a.astype("e"), b.astype("e"), *scales, bias,
                                     activation="relu", dtype="float16")
            self.assertEqual(half.dtype, np.float16)
            self.check(half, expected, 1e-2)
        out = np.full((4, 7), np.nan, "f")
        a, b, scales = dense(4, 40), dense(40, 7), (dense(4, 5), dense(5, 7))
        self.assertIs(pit.scaled_matmul(a, b, *scales, out=out), out)
        self.check(out, self.product(a, b, *scales))

    def test_errors(self):
        a, b, one = dense(4, 6), dense(6, 8), np.ones((), "f")
        for message, *given in (
                (r"scale_a has shape \(3, 1\); for a of \(4, 6\) it is a number, or", a, b,
                 dense(3, 1), one),
                (r"scale_b has shape \(8,\); for b of", a, b, one, dense(8)),
                ("scale_a has blocks of 3 elements along k, scale_b of 2; they must be alike", a, b,
                 dense(4, 2), dense(3, 8)),
                ("scale_a has elements of f64; it takes f32", a, b, dense(4, 1).astype("d"), one),
                ("a has elements of i32; it takes", a.astype("i"), b, one, one),
                (r"b has shape \(6,\); it must be a matrix", a, b[:, 0], one, one),
                ("dimension 0 of b is 4, but dimension 1 of a is 6", a, b[:4], dense(4, 2),
                 dense(2, 8))):
            with self.assertRaisesRegex(pit.Error, f"scaled_matmul: {message}"):
                pit.scaled_matmul(*given)
        with self.assertRaisesRegex(pit.Error, "dynamic='M': no dim is called 'M'; there are k, m"):
            pit.scaled_matmul(a, b, one, one, dynamic="M")


class Errors(unittest.TestCase):
    def check(self, message, function, *args, **kwargs):
        with self.assertRaises(pit.Error) as caught:
            function(*args, **kwargs)
        self.assertIn(message, str(caught.exception))

    def test_messages(self):
        a, b = zeros(5, 4), dense(4, 3)
        self.check("matmul: dimension 0 of b is 5, but dimension 1 of a is 4; both are 'k'",
                   pit.matmul, a, dense(5, 3))
        self.check("matmul: b has elements of f64, a of f32; convert one of them",
                   pit.matmul, a, b.astype("d"))
        self.check("both are 'k'; a mask has the shape of what it selects from, or one that "
                   "broadcasts to that", pit.matmul, a, b, mask=np.ones((5, 2), bool))
        self.check("dimension 0 of mask is 5, but dimension 1 of a is 4", pit.matmul, a, b,
                   mask=np.ones(5, bool))
        self.check("mask has shape (1, 5, 4); it must have rank 2: (m, k); a mask has the shape of",
                   pit.matmul, a, b, mask=np.ones((1, 5, 4), bool))
        experts = dense(2, 3, 4)
        self.check("weights of experts are (experts, in, out)", pit.moe, a, dense(5, 1),
                   np.zeros((5, 1), "i"), experts, experts, dense(2, 3, 4))
        self.check("linear: dimension 1 of weight is 5, but dimension 1 of x is 4; both are 'k'",
                   pit.linear, a, dense(3, 5))
        self.check("linear: dimension 0 of bias is 2, but dimension 0 of weight is 3", pit.linear,
                   a, dense(3, 4), dense(2))
        self.check("padded_linear: dimension 1 of weight is 5, but dimension 2 of x is 4",
                   pit.padded_linear, a[None], np.int32([2]), dense(3, 5))
        rows, rows_mask = dense(2, 5, 4), np.ones((2, 5), "l")
        for lengths, what in ((rows_mask, "shape (2, 5)"), (rows_mask[0, 0], "shape ()"),
                              (rows_mask > 0, "elements of i1"),
                              (rows_mask[:, 0].astype("h"), "elements of i16")):
            for function, rest in ((pit.padded_linear, (dense(3, 4),)), (
                    pit.padded_mlp, (dense(3, 4), None, dense(4, 3), None))):
                self.check(f"{function.__name__}: lengths has {what}", function, rows, lengths,
                           *rest)
                self.check("mask.sum(-1), any other mask is passed to pit.linear(sparse=\"out\", "
                           "mask=)", function, rows, lengths, *rest)
        self.check("padded_linear: x has shape (5, 4); it must be (batch, positions, k)",
                   pit.padded_linear, rows[0], rows_mask[0], dense(3, 4))
        self.check("matmul: lengths has 3 dimensions; it has those of the tensor up to the one that "
                   "it counts, at least one and at most 2 of (b, m, k); a mask is passed as mask=",
                   pit.matmul, rows, dense(4, 3), lengths=rows_mask[..., None])
        self.check("linear: lengths has elements of i1; it takes i32, i64; a mask is passed as "
                   "mask=", pit.linear, rows, dense(3, 4), lengths=rows_mask > 0)
        self.check("a has elements of complex64", pit.matmul, a.astype("F"), b)
        self.check("a has elements of u8; it takes f64", pit.matmul, a.astype("B"), b)
        self.check("convert it, as to int16, which has all values of u8", pit.matmul,
                   a.astype("B"), b.astype("B"))
        self.check("convert it, as to int8, which has all values of i1", pit.einsum, "mk,kn->mn",
                   a.astype("?"), b)
        self.check("convert it, as to float32, which has all values of u8", pit.moe, a.astype("B"),
                   dense(5, 1), np.zeros((5, 1), "i"), *[dense(2, 4, 4)] * 3)
        self.check('sparse=\'c\'; it is "a", "b" or "out"', pit.matmul, a, b, sparse="c")
        self.check("matmul: b must be an array, not int 3", pit.matmul, a, 3)
        self.check("matmul: b must be an array, not a memoryview; pass numpy.asarray", pit.matmul,
                   a, memoryview(np.ones((2, 2), "f")))
        frame = SimpleNamespace(shape=(4, 2), to_numpy=None)
        self.check("must be an array, not a SimpleNamespace; pass .to_numpy()", pit.matmul, a,
                   frame)
        frame.dtype = np.dtype("f")  # as a column has
        self.check("a SimpleNamespace is no array", pit.matmul, a, frame)
        self.check("einsum: b must be an array, not int 3", pit.einsum, "mk,kn->mn", a, 3)
        self.check("mask= is about one operand", pit.matmul, a, b, sparse=None, mask=a)
        self.check("mask has elements of f32; it takes i1, i8", pit.matmul, a, b, mask=a)
        self.check("mask= and lengths= are given; one at a time", pit.matmul, a, b,
                   mask=a, lengths=a)
        self.check('sparse="out" needs mask=', pit.matmul, a, b, sparse="out")
        self.check("the result's 'z' is in no operand", pit.einsum, "mk,kn->mz", a, b)
        self.check("a letter stands twice in 'mm', of which something is selected", pit.einsum,
                   "mm,kn->n", a, b, mask=a, sparse="a")
        self.check("dimensions 0 and 1 of operand 0 are 5 and 4; both are 'm'", pit.einsum,
                   "mm,kn->n", a, b)
        self.check("operand 1 has rank 2, but more letters", pit.einsum, "mk,...bkn->...mn", a, b)
        self.check('the result has no "..."', pit.einsum, "...k,kn->n", a, b)
        self.check("has 2 operands, but 1 are given", pit.einsum, "mk,kn->mn", a)
        many = dense(1, 1, 1, 1, 1, 1, 1, 2, 3)
        self.check("operand 0 has 9 dims that do not stand together in all operands and the result; "
                   "at most 8 may", pit.einsum, "abcdefghi,ihgfedcba->", many, many.T)
        self.check("dimension 0 of operand 1 is 4, but dimension 8 of operand 0 is 3", pit.einsum,
                   "abcdefghi,ij->abcdefghj", many, a.T)
        self.check("operand 1 has rank 1; the equation has 'ij' for it", pit.einsum,
                   "abcdefghi,ij->abcdefghj", many, a[0])
        self.check("mask has shape (3, 3); what it selects from has (1, 1, 1, 1, 1, 1, 1, 2, 3)",
                   pit.einsum, "abcdefghi->abcdefgh", many, sparse="a", mask=np.ones((3, 3), bool))
        self.check("no activation 'swish'; there are: relu", pit.linear, a, b.T,
                   activation="swish")
        self.check("activation='gelu' takes floats, and sums of integers are i32", pit.linear,
                   a.astype("i"), b.T.astype("i"), activation="gelu")
        self.check("live_fraction='x'; it is the part", pit.matmul, a, b, live_fraction="x")
        for function in pit.matmul, pit.linear:
            self.check(f"{function.__name__}: dynamic='my': no dim is called 'y'; there are k, m",
                       function, a, b.T if function is pit.linear else b, dynamic="my")
            self.check(f"{function.__name__}: dynamic='d': no dim is called 'd'; there are b, c, k",
                       function, a[None, None], b.T if function is pit.linear else b, dynamic="d")
        self.check("einsum: dynamic='z': no dim is called 'z'; there are k, m, n", pit.einsum,
                   "mk,kn->mn", a, b, dynamic="z")
        self.check("dynamic=3; it is a string of letters of dims, True, False or None", pit.matmul,
                   a, b, dynamic=3)
        self.check("micro_tile=(1,) has 1 sizes; operand a has rank 2", pit.matmul, a, b,
                   micro_tile=(1,))
        self.check("out has shape (1, 2, 2); the result has (1, 5, 3)", pit.matmul, a[None], b,
                   out=np.empty((1, 2, 2), "f"))


if __name__ == "__main__":
    unittest.main()
