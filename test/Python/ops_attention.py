# RUN: %quick_python %s
# REQUIRES: pit-compile
"""pit.attention against numpy in float64, with scores as a whole; and what lists blocks for it."""

import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402
from pit.ops import _block_index, _op  # noqa: E402

import attention_reference as reference  # noqa: E402
import block_reference  # noqa: E402
import paged_reference  # noqa: E402

random = np.random.default_rng()
LIMITS = {"float64": 1e-12, "float32": 2e-5, "float16": 4e-3}


def draw(batch, heads, groups, queries, keys, d, e, dtype="f"):
    return [random.standard_normal(shape).astype(dtype) for shape in (
        (batch, heads, queries, d), (batch, groups, keys, d), (batch, groups, keys, e))]


class Attention(unittest.TestCase):
    def check(self, found, wanted):
        self.assertEqual(found.shape, wanted.shape)
        nothing = np.isneginf(wanted)
        np.testing.assert_array_equal(np.isneginf(found), nothing)
        if not nothing.all():
            off = abs(found.astype("d") - wanted)[~nothing].max()
            self.assertLessEqual(off / max(1, abs(wanted[~nothing]).max()), LIMITS[found.dtype.name])

    def compare(self, arrays, options, wanted):
        shapes = {name: getattr(x, "shape", x) for name, x in options.items()}
        with self.subTest(shapes=[x.shape for x in arrays], dtype=arrays[0].dtype, **shapes):
            with np.errstate(invalid="ignore"):
                result, logs = reference.attention(*arrays, **wanted)
                found, found_logs = pit.attention(*arrays, return_lse=True, **options)
                self.check(found, result)
                self.check(found_logs.astype(found.dtype), logs)
                self.check(pit.attention(*arrays, **options), result)

    def test_draws(self):
        """Any options, sizes from 0 on, ragged."""
        seed = int(random.integers(2 ** 31))
        print("seed", seed)
        rng = np.random.default_rng(seed)
        for _ in range(8):
            arrays, options, wanted = reference.draw(rng, rng.choice(["f4", "f4", "f2", "f8"]))
            self.compare(arrays, options, wanted)

    def test_scales(self):
        """Keys and values of 8 bits, or of any type, that are multiplied as they are read."""
        seed = int(random.integers(2 ** 31))
        print("seed", seed)
        rng = np.random.default_rng(seed)
        for i in range(4):
            dtype = rng.choice(["f4", "f2", "f8"])
            sizes = [(33, 70), (70, 130), (1, 65), (64, 64)][i]
            (q, *others), options, wanted = reference.draw(rng, dtype, sizes)
            full = others[0].shape[:3]
            scales, stored = [], []
            for x in others if i != 3 else others[:1]:
                shape = [1 if rng.random() < 0.4 else n for n in full][rng.integers(4):]
                scales.append((rng.random(shape) / 30 + 0.01).astype(rng.choice(["f4", "f2"])))
                stored.append(np.rint(x * 30).astype("i1"))
            stored += others[len(stored):]  # a value of q's type
            options |= dict(zip(("k_scale", "v_scale"), scales))
            wide = [x * s[..., None].astype("d") if s.ndim else x * s.astype("d")
                    for x, s in zip(stored, [*scales, np.ones(())])]
            shapes = {name: getattr(x, "shape", x) for name, x in options.items()}
            with self.subTest(q=q.shape, dtype=dtype, **shapes):
                with np.errstate(invalid="ignore"):
                    result, logs = reference.attention(q, *wide, **wanted)
                    found, found_logs = pit.attention(q, *stored, return_lse=True, **options)
                self.check(found, result)
                self.check(found_logs.astype(found.dtype), logs)

    def test_skewed(self):
        """All keys for one block of queries, none for others; rows of which nothing is selected."""
        arrays = draw(1, 2, 1, 130, 200, 16, 16)
        mask = np.zeros((130, 200), bool)
        mask[:64] = True
        mask[100, 199] = True
        self.compare(arrays, {"mask": mask}, {"mask": mask})
        self.assertFalse(pit.attention(*arrays, mask=mask)[:, :, 101:].any())

    def test_sequences(self):
        """One behind the other, of which one is empty: as each by itself, and 0 behind the last."""
        q, k, v = draw(1, 4, 2, 150, 260, 16, 8)
        starts, of_keys = np.array([0, 70, 70, 140]), np.array([0, 10, 30, 250], "i4")
        for options in ({}, {"causal": True}, {"align": "end", "window": 30, "sinks": 2}):
            found = pit.attention(q, k, v, cu_seqlens=(starts, of_keys), **options)
            for a, b, c, d in zip(starts, starts[1:], of_keys, of_keys[1:]):
                wanted, _ = reference.attention(q[:, :, a:b], k[:, :, c:d], v[:, :, c:d], **options)
                np.testing.assert_allclose(found[:, :, a:b], wanted, atol=1e-5)
            self.assertFalse(found[:, :, 140:].any())
        same = pit.attention(q, q, q, cu_seqlens=starts)
        np.testing.assert_array_equal(same, pit.attention(q, q, q, cu_seqlens=(starts, starts)))

    def test_orders(self):
        """As the attention of queries, keys and values that are moved, and its result moved back."""
        for groups, shape, block in ((2, (4,), 64), (1, (), (64, 32)), (4, (2, 4), (128, 16))):
            q, k, v = draw(2, 4, groups, 150, 150, 16, 8)
            order = np.argsort(random.random((*shape, 150)), -1).astype("i4")
            rows, columns = block if isinstance(block, tuple) else (block, block)
            blocks = random.random((4, -(-150 // rows), -(-150 // columns))) < 0.4
            each = np.broadcast_to(order, (2, 4, 150))[..., None]
            moved = [np.take_along_axis(x.repeat(4 // x.shape[1], 1), each, 2) for x in (q, k, v)]
            result, logs = reference.attention(*moved, mask=reference.repeat(blocks, (rows, columns), 150, 150))
            wanted, wanted_logs = np.empty_like(result), np.empty_like(logs)
            np.put_along_axis(wanted, each, result, 2)
            np.put_along_axis(wanted_logs, each[..., 0], logs, 2)
            out = np.full((2, 4, 150, 8), np.nan, "f"), np.full((2, 4, 150), np.nan, "f")
            with self.subTest(shape=shape, block=block), np.errstate(invalid="ignore"):
                pit.attention(q, k, v, blocks=blocks, block_size=block, order=order, return_lse=True,
                              out=out)
                self.check(out[0], wanted)
                self.check(out[1], wanted_logs)
        # One of keys alone, of other lengths.
        q, k, v = draw(1, 2, 2, 1, 70, 8, 8)
        order, blocks = random.permutation(70), np.array([[True, False]])
        mask = np.zeros((1, 70), bool)
        mask[:, order[:64]] = True
        self.compare((q, k, v), {"blocks": blocks, "block_size": (1, 64), "order": (None, order)},
                     {"mask": mask})

    def test_sinks_of_long_texts(self):
        """Tiles between the first keys and the window are skipped; the others are all there."""
        for queries, keys, sinks, options in (
                (200, 333, 3, {}), (200, 333, 70, {"causal": True, "align": "end"}),
                (1, 513, 4, {"causal": True, "align": "end"}), (333, 200, 200, {}),
                (333, 333, 0, {"causal": True}),
                (150, 333, 2, {"lengths": np.array([130, 1, 333], "i4")})):
            options = options | {"window": 20, "sinks": sinks}
            self.compare(draw(3, 2, 1, queries, keys, 16, 16), options, options)

    def test_index(self):
        arrays = draw(2, 3, 3, 70, 130, 16, 24)
        kept = random.random((2, 3, 70, 130)) < 0.1
        index = pit.build_index(kept, (1, 1, 64, 1), 3, source="mask")
        # What lies in a live micro-tile is selected as a whole.
        whole = np.concatenate([np.broadcast_to(kept[:, :, i:i + 64].any(2, keepdims=True),
                                                kept[:, :, i:i + 64].shape) for i in (0, 64)], 2)
        self.compare(arrays, {"index": index}, {"mask": whole})
        self.compare(arrays, {"index": index, "causal": True}, {"mask": whole, "causal": True})
        shared = pit.build_index(kept, (0, 0, 64, 1), 3, source="mask")
        self.compare(arrays, {"index": shared}, {"mask": whole.any((0, 1))})
        self.compare([arrays[0], *(x[:, :1] for x in arrays[1:])], {"index": index}, {"mask": whole})

    def test_layouts(self):
        """Places before heads, as layers have them, are read where they lie."""
        q, k, v = draw(2, 4, 2, 33, 47, 16, 16)
        moved = [np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2) for x in (q, k, v)]
        np.testing.assert_allclose(pit.attention(*moved), pit.attention(q, k, v), atol=1e-5)
        out = np.empty_like(q)
        self.assertIs(pit.attention(q, k, v, out=out), out)
        np.testing.assert_allclose(out, pit.attention(q, k, v), atol=1e-5)

    def test_large_scores(self):
        """The largest score of a row may come late, and scores may be far apart."""
        q, k, v = draw(1, 1, 1, 64, 256, 8, 8)
        k *= np.linspace(0, 300, 256, dtype="f")[:, None]
        self.compare((q, k, v), {}, {})

    def test_logarithms(self):
        """Thousands of steps, by scores of hundreds, leave logarithms as exact as one."""
        q, k, v = draw(1, 2, 2, 5, 5000, 8, 8)
        bias = 400 * random.random((1, 2, 1, 1)).astype("f") + np.zeros((5, 5000), "f")
        _, wanted = reference.attention(q, k, v, bias=bias)
        _, found = pit.attention(q, k, v, bias=bias, return_lse=True)
        self.assertLessEqual(abs(found - wanted).max(), 5 * np.spacing(np.float32(512)))

    def test_errors(self):
        q, k, v = draw(1, 4, 3, 8, 8, 16, 16)
        for error, options in (
                ("q has 4 heads, k and v have 3", {}),
                ("mask and blocks are given", {"mask": np.ones(8), "blocks": np.ones((1, 1))}),
                (r"mask has shape \(1, 1, 1, 7\); it broadcasts to", {"mask": np.ones(7, bool)}),
                ("sinks are keys outside of a window", {"sinks": 4}),
                ("lengths and cu_seqlens are given", {"lengths": np.ones(1, "i4"),
                                                      "cu_seqlens": np.zeros(2, "i4")}),
                ("cu_seqlens of queries is int 0; it is an array", {"cu_seqlens": [0, 8]}),
                (r"cu_seqlens of queries is \[0, 9\]; .* ends with 8 at most", {
                    "cu_seqlens": np.array([0, 9])}),
                (r"cu_seqlens of keys is \[0, 5, 4\]; it begins with 0, does not decrease", {
                    "cu_seqlens": (np.array([0, 5, 6]), np.array([0, 5, 4]))}),
                (r"cu_seqlens of queries is \[1, 8\]; it begins with 0", {"cu_seqlens": np.array([1, 8])}),
                ("cu_seqlens has 3 arrays", {"cu_seqlens": [np.ones(2, "i4")] * 3}),
                (r"cu_seqlens of keys has shape \(2, 1\); it has rank 1", {
                    "cu_seqlens": (np.zeros(2, "i4"), np.ones((2, 1), "i4"))}),
                ("cu_seqlens has 1 sequences of queries, 2 of keys", {
                    "cu_seqlens": (np.zeros(2, "i4"), np.zeros(3, "i4"))}),
                ("window is 0; it has 1 place or more", {"window": 0}),
                ("window is 2.5; it is a whole number", {"window": 2.5}),
                ("sinks is -1; it is 0 or more", {"window": 2, "sinks": -1}),
                ("softcap is 0.0; it is larger than 0", {"softcap": 0}),
                ("scale is ndarray .* it is a number of the program", {"scale": np.ones(3)}),
                ("block_size is 0; it is 1 or more", {"blocks": np.ones((1, 1), bool), "block_size": 0}),
                (r"block_size is \(64,\); it is a number, or one", {
                    "blocks": np.ones((1, 1), bool), "block_size": (64,)}),
                ("order is that of blocks of queries and keys; give blocks", {"order": np.arange(8)}),
                ("order has 3 parts", {"blocks": np.ones((1, 1), bool), "order": (None, None, None)}),
                (r"order has shape \(7,\); it broadcasts to \(batch, heads, queries\), and has each of 8",
                 {"blocks": np.ones((1, 1), bool), "order": np.arange(7)}),
                (r"order lacks place 5: it is \[0, 1, 2, 3, 4, -1, 6, 7\] and so on; it has each of 8",
                 {"blocks": np.ones((1, 1), bool), "order": np.where(np.arange(8) == 5, -1, np.arange(8))}),
                (r"order has shape \(1, 3, 8\); it broadcasts to \(1, 4, 8\)",
                 {"blocks": np.ones((1, 1), bool), "order": np.zeros((3, 8), "i4")}),
                ("bias must be an array, not float 0.5", {"bias": 0.5}),
                ("k_scale must be an array, not float 0.5", {"k_scale": 0.5}),
                ("align is 'left'", {"align": "left"})):
            with self.assertRaisesRegex(pit.Error, error):
                pit.attention(q, k, v, **options)
        with self.assertRaisesRegex(pit.Error, "mask has elements of f32; .* added to scores are bias="):
            pit.attention(q, q, q, mask=np.zeros((8, 8), "f"))
        with self.assertRaisesRegex(pit.Error, "k has elements of u8; .* a view of it as float8_e4m3fn"):
            pit.attention(q, q.astype("u1"), q)
        with self.assertRaisesRegex(pit.Error, "k has shape .* it must have rank 4"):
            pit.attention(q, k[0], v)
        with self.assertRaisesRegex(pit.Error, "heads of q and k have 600 elements"):
            pit.attention(*draw(1, 1, 1, 4, 4, 600, 8))
        with self.assertRaisesRegex(pit.Error, "8 queries are 1 blocks of 64, but blocks has 2|"
                                               "blocks has shape"):
            pit.attention(*draw(1, 1, 1, 8, 8, 8, 8), blocks=np.ones((2, 1), bool))
        with self.assertRaisesRegex(pit.Error, r"blocks has shape \(1, 1, 3, 4\); it broadcasts to "
                                               r"\(1, 1, 1, 4\): \(batch, heads, blocks of 128 "
                                               r"queries, blocks of 32 keys\); block_size says"):
            pit.attention(*draw(1, 1, 1, 128, 128, 8, 8), blocks=np.ones((3, 4), bool),
                          block_size=(128, 32))


class Paged(unittest.TestCase):
    check = Attention.check

    def compare(self, arrays, options, **how):
        shapes = [x.shape for x in arrays]
        with self.subTest(shapes=shapes, dtype=arrays[0].dtype, **options, **how):
            result, logs = paged_reference.paged_attention(*arrays, **options)
            found, found_logs = pit.paged_attention(*arrays, return_lse=True, **options, **how)
            self.check(found, result)
            self.check(found_logs.astype(found.dtype), logs)
            self.check(pit.paged_attention(*arrays, **options, **how), result)

    def test_draws(self):
        """Sizes from 0 on, ragged lengths, sequences of no key, pages that are none."""
        seed = int(random.integers(2 ** 31))
        print("seed", seed)
        rng = np.random.default_rng(seed)
        for _ in range(6):
            arrays, options = paged_reference.draw(rng, rng.choice(["f4", "f4", "f2", "f8"]),
                                                   (1, 16, 24, 64, 128))
            self.compare(arrays, options, splits=rng.choice([None, 1, 2, 4]))

    def test_scales(self):
        """Caches of 8 bits, or of any type, that are multiplied as they are read."""
        seed = int(random.integers(2 ** 31))
        print("seed", seed)
        rng = np.random.default_rng(seed)
        for i in range(6):
            (q, *caches, pages, lengths), options = paged_reference.draw(
                rng, rng.choice(["f4", "f2", "f8"]), (16, 24, 64), (8, 24))
            scales = {}
            for name, at in (("k_scale", 0), ("v_scale", 1)):
                if i % 3 == 2 - at:
                    continue  # of q's type, as it is
                caches[at] = np.rint(caches[at] * 30).astype("i1")
                shape = [1 if rng.random() < 0.4 else n for n in caches[at].shape[:3]][rng.integers(4):]
                scales[name] = (rng.random(shape) / 30 + 0.01).astype(rng.choice(["f4", "f2"]))
            factors = [scales.get(name, np.ones(())).astype("d") for name in ("k_scale", "v_scale")]
            wide = [x * (s[..., None] if s.ndim else s) for x, s in zip(caches, factors)]
            with self.subTest(q=q.shape, dtype=q.dtype, caches=[(x.shape, x.dtype) for x in caches],
                              scales={name: x.shape for name, x in scales.items()}, **options):
                result, logs = paged_reference.paged_attention(q, *wide, pages, lengths, **options)
                found, found_logs = pit.paged_attention(q, *caches, pages, lengths, return_lse=True,
                                                        splits=rng.choice([1, 2]), **scales, **options)
                self.check(found, result)
                self.check(found_logs.astype(found.dtype), logs)

    def test_shapes(self):
        """One query without a dim of its own; heads before places; results of the caller."""
        arrays = [random.standard_normal(shape).astype("f") for shape in (
            (2, 6, 1, 8), (5, 16, 2, 8), (5, 16, 2, 8))]
        pages, lengths = np.array([[3, -1], [4, 0]], "i4"), np.array([20, 30], "i4")
        wanted, _ = paged_reference.paged_attention(*arrays, pages, lengths)
        q, *caches = arrays
        found = pit.paged_attention(q[:, :, 0], *caches, pages, lengths)
        self.check(found, wanted[:, :, 0])
        for order in ((0, 2, 1, 3), (2, 0, 1, 3)):
            back = np.argsort(order)
            moved = [np.ascontiguousarray(x.transpose(order)).transpose(back) for x in caches]
            self.check(pit.paged_attention(q, *moved, pages, lengths), wanted)
        out = np.empty_like(q)
        self.assertIs(pit.paged_attention(q, *caches, pages, lengths, out=out), out)
        self.check(out, wanted)

    def test_errors(self):
        def call(q=(2, 4, 8), k=(3, 16, 2, 8), pages=(2, 2), lengths=(2,), **options):
            x = [np.zeros(shape, "f") for shape in (q, k, k)]
            return pit.paged_attention(*x, np.zeros(pages, "i4"), np.zeros(lengths, "i4"), **options)

        for error, options in (
                (r"q has shape \(2, 8\); it must have rank 3 or 4", {"q": (2, 8)}),
                (r"k_cache has shape \(3, 16, 8\); it must have rank 4", {"k": (3, 16, 8)}),
                ("q has 3 heads, k_cache has 2", {"q": (2, 3, 8)}),
                (r"page_table has shape \(4,\); it must have rank 2", {"pages": (4,)}),
                ("dimension 0 of page_table is 3, but dimension 0 of q is 2", {"pages": (3, 2)}),
                ("dimension 0 of lengths is 1", {"lengths": (1,)}),
                ("heads of q and k_cache have 600 elements", {"q": (2, 4, 600), "k": (3, 16, 2, 600)}),
                ("pages of k_cache have no places", {"k": (3, 0, 2, 8)}),
                (r"k_scale has shape \(1, 16, 3\); it broadcasts to \(3, 16, 2\): \(pages, places",
                 {"k_scale": np.ones((16, 3))}),
                ("v_scale must be an array, not float 0.5", {"v_scale": 0.5}),
                ("splits is 0", {"splits": 0}), ("window is 0", {"window": 0})):
            with self.assertRaisesRegex(pit.Error, error):
                call(**options)


class PageIndex(unittest.TestCase):
    def test_draws(self):
        """Sequences of no page, pages that are none, fewer than top_k."""
        seed = int(random.integers(2 ** 31))
        print("seed", seed)
        rng = np.random.default_rng(seed)
        for _ in range(30):
            arrays, options = block_reference.draw_pages(rng)
            with self.subTest(shapes=[x.shape for x in arrays], **options):
                wanted = block_reference.page_index(*arrays, **options)
                for made, right in zip(pit.page_index(*arrays, **options), wanted):
                    self.assertEqual(made.dtype, right.dtype)
                    np.testing.assert_array_equal(made, right)

    def test_attention(self):
        """All pages, in their order, are the attention of all."""
        q, k, v = (random.standard_normal(x).astype("f") for x in ((2, 4, 8), (5, 16, 2, 8), (5, 16, 2, 8)))
        pages, lengths = np.array([[3, 1], [4, 0]], "i4"), np.array([20, 9], "i4")
        table, places = pit.page_index(q, k.min(1), k.max(1), pages, lengths, page_size=16, top_k=9)
        np.testing.assert_array_equal(places, lengths)
        np.testing.assert_array_equal(table, [[3, 1], [4, -1]])
        np.testing.assert_allclose(pit.paged_attention(q, k, v, table, places),
                                   pit.paged_attention(q, k, v, pages, lengths), atol=1e-6)

    def test_errors(self):
        def call(q=(2, 4, 8), lows=(3, 2, 8), highs=(3, 2, 8), pages=(2, 2), lengths=(2,), **options):
            x = [np.zeros(shape, "f") for shape in (q, lows, highs)]
            options = {"page_size": 4, "top_k": 1, **options}
            return pit.page_index(*x, np.zeros(pages, "i4"), np.zeros(lengths, "i4"), **options)

        for error, options in (
                (r"q has shape \(2, 8\)", {"q": (2, 8)}), ("q has 3 heads, lows has 2", {"q": (2, 3, 8)}),
                (r"lengths has shape \(2, 1\); it must have rank 1", {"lengths": (2, 1)}),
                (r"highs \(3, 2, 9\)", {"highs": (3, 2, 9)}), ("top_k is 0", {"top_k": 0}),
                ("q has a batch of 2, page_table 3", {"pages": (3, 2)})):
            with self.assertRaisesRegex(pit.Error, error):
                call(**options)


class BlockIndex(unittest.TestCase):
    def test_draws(self):
        """Any options; blocks may be ragged, fewer than top_k, and of other sizes for keys."""
        seed = int(random.integers(2 ** 31))
        print("seed", seed)
        rng = np.random.default_rng(seed)
        for _ in range(30):
            (q, k), options = block_reference.draw(rng, "f8")
            with self.subTest(q=q.shape, k=k.shape, **options):
                wanted = block_reference.block_index(q, k, **options)
                found = pit.block_index(q, k, **options)
                self.assertEqual(found.dtype, bool)
                np.testing.assert_array_equal(np.broadcast_to(found, wanted.shape), wanted)

    def test_equal_scores(self):
        """No more than top_k of them, whichever; top_p has as many as add up to it."""
        q, k = np.zeros((2, 4, 100, 8), "f2"), np.ones((2, 2, 300, 8), "f2")
        for count, wanted in ((0, 0), (3, 3), (5, 5), (100, 5)):
            live = pit.block_index(q, k, top_k=count)
            self.assertEqual(live.shape, (2, 4, 2, 5))
            self.assertTrue((live.sum(-1) == wanted).all())
        self.assertTrue((pit.block_index(q, k, top_p=0.5).sum(-1) == 3).all())
        causal = pit.block_index(q, k, top_k=2, block_size=(20, 10), causal=True)
        self.assertTrue((causal.sum(-1) == 2).all() and not causal[..., 0, 2:].any())

    def test_means(self):
        """In any order of dims, of short blocks, of blocks of odd sizes, of many sizes of heads."""
        for dtype in ("f2", "f4", "f8"):
            for shape, size, order in (((2, 3, 70, 8), 16, (0, 1, 2, 3)), ((1, 90, 2, 33), 30, (0, 2, 1, 3)),
                                       ((2, 1, 3, 5), 4, (0, 1, 2, 3)), ((2, 5, 7, 6), 1, (2, 3, 0, 1)),
                                       ((1, 2, 50, 8), 31, (0, 1, 2, 3)),
                                       *(((1, 1, 5, d), 2, (0, 1, 2, 3)) for d in range(9, 14))):
                x = random.standard_normal(shape).astype(dtype).transpose(order)
                found = _op.run(_block_index.means_op(size), (x,))
                self.assertEqual(found.dtype, "f8" if dtype == "f8" else "f4")
                wanted = [x[:, :, i:i + size].astype("d").mean(2) for i in range(0, x.shape[2], size)]
                np.testing.assert_allclose(found, np.stack(wanted, 2), atol=1e-6)

    def test_choice(self):
        """Scores that halving does not tell apart: equal, huge, tiny, near each other, infinite, NaN."""
        for dtype, rows, columns in (("f4", 40, 250), ("f8", 40, 250), ("f4", 3, 3000), ("f4", 5, 1)):
            x = random.standard_normal((rows, columns)).astype(dtype)
            x[1:3] = np.round(x[1:3])
            for row, change in enumerate((
                    lambda x: 3, lambda x: -np.inf, lambda x: x * 1e-30, lambda x: 1000 + 1e-4 * x,
                    lambda x: np.where(x > 0, np.inf, x), lambda x: np.where(x > 0, 0.0, -0.0),
                    lambda x: np.where(x > 0, np.nan, x), lambda x: np.where(x > 2, x * 1e30, x),
                    lambda x: np.where(x > 0, x, -np.inf), lambda x: -abs(np.round(x * 20))), 3):
                if row < rows:
                    x[row] = change(x[row])
            known = np.where(np.isnan(x), -np.inf, x)
            order = np.argsort(-known, -1, kind="stable")
            for count in (0, 1, 26, 249, 250, 9999):
                found = self.choose(x, columns, top_k=count)
                wanted = np.zeros_like(found)
                np.put_along_axis(wanted, order[:, :count], True, -1)
                np.testing.assert_array_equal(found, wanted & (known > -np.inf))
            finite = np.isfinite(known).any(-1) & (known < np.inf).all(-1)
            for share in (0.0, 0.3, 0.9, 1.5):
                with np.errstate(invalid="ignore"):
                    chances = np.nan_to_num(block_reference.softmax(known.astype("d")))
                ordered = np.take_along_axis(chances, order, -1)
                found = np.take_along_axis(self.choose(x, columns, top_p=share), order, -1)
                # What rounding decides may be either.
                before = ordered.cumsum(-1) - ordered
                self.assertFalse((found & ~((before < share + 1e-5) & (ordered > 0)))[finite].any())
                self.assertFalse(((before < share - 1e-5) & (ordered > 1e-30) & ~found)[finite].any())

    def choose(self, x, columns, top_k=None, top_p=None):
        blocks, arrays = (len(x), columns), _block_index.arrays_of(x)
        return _block_index.chosen(
            arrays, (x[None, None],), blocks, blocks, sizes=(1, 1), top_k=top_k, top_p=top_p, sinks=None,
            window=None, segments=None, lines=None, scale=1.0, causal=False, behind=False,
            at_end=False)[0, 0]

    def test_heads_alike(self):
        """Nothing depends on a head: one list of blocks serves all."""
        q, k = np.zeros((2, 4, 100, 8), "f"), np.zeros((2, 4, 300, 8), "f")
        live = pit.block_index(q, k, sinks=1, window=1, align="end", causal=True)
        np.testing.assert_array_equal(live, [[[[1, 0, 0, 1, 1], [1, 0, 0, 0, 1]]]])

    def test_attention(self):
        q, k, v = draw(1, 4, 2, 130, 150, 16, 16)
        live = pit.block_index(q, k, block_size=(32, 16), top_k=2, window=20, causal=True)
        found = pit.attention(q, k, v, blocks=live, block_size=(32, 16), causal=True)
        wanted, _ = reference.attention(q, k, v, causal=True,
                                        mask=reference.repeat(live, (32, 16), 130, 150))
        np.testing.assert_allclose(found, wanted, atol=1e-5)

    def test_grid(self):
        """Frames and positions of a grid behind a text: heads within frames, and within positions."""
        frames, positions, text = 5, 40, 20
        places = text + frames * positions
        q, k, v = draw(1, 4, 2, places, places, 16, 16)
        grid = pit.grid_order((frames, positions), (1, 0), before=text)
        order = np.stack([np.arange(places, dtype="i4"), grid] * 2)
        live = np.concatenate([np.broadcast_to(pit.block_index(
            q, k, block_size=(32, 16), segments=(size, text), sinks=text, order=grid), (1, 1, 7, 14))
            for size in (positions, frames)] * 2, 1)
        found = pit.attention(q, k, v, blocks=live, block_size=(32, 16), order=order)
        mask = reference.in_orders(reference.repeat(live, (32, 16), places, places),
                                   order[None], order[None])
        self.assertTrue(mask[..., :text].all())
        at = np.arange(frames * positions)
        for head, of_one in ((0, at // positions), (1, at % positions)):
            kept = mask[0, head, text:, text:]
            self.assertTrue(kept[of_one[:, None] == of_one].all())
            self.assertLess(kept.mean(), 0.7)
        wanted, _ = reference.attention(q, k, v, mask=mask)
        np.testing.assert_allclose(found, wanted, atol=1e-5)
        np.testing.assert_array_equal(pit.grid_order((2, 3), (1, 0), before=1, after=1),
                                      [0, 1, 4, 2, 5, 3, 6, 7])
        with self.assertRaisesRegex(pit.Error, r"axes are \(0, 0\) of a grid of \(2, 3\)"):
            pit.grid_order((2, 3), (0, 0))

    def test_empty(self):
        for queries, keys in ((0, 70), (70, 0)):
            q, k = np.zeros((2, 4, queries, 8), "f"), np.zeros((2, 2, keys, 8), "f")
            for options in ({"top_k": 3}, {"slash": 3}, {"window": 4}):
                live = pit.block_index(q, k, **options)
                self.assertEqual(live.shape, (2, 4, -(-queries // 64), -(-keys // 64)))

    def test_errors(self):
        q, k = np.zeros((1, 4, 8, 8), "f"), np.zeros((1, 2, 8, 8), "f")
        for error, options in (
                ("nothing says which blocks count", {}), ("top_k and top_p are given", {
                    "top_k": 1, "top_p": 0.5}), ("slash is -1; it is 0 or more", {"slash": -1}),
                ("window is 0; it has 1 place", {"window": 0}),
                ("block_size is 0; it is 1 or more", {"block_size": 0, "top_k": 1}),
                (r"block_size is \(4,\); it is a number", {"block_size": (4,), "top_k": 1}),
                ("top_k is 2.5; it is a whole number", {"top_k": 2.5}),
                ("top_p is 2.0; it is a share of the probabilities, 0 to 1", {"top_p": 2.0}),
                (r"segments is \(0, 0\); it is n or \(n, p\)", {"segments": 0}),
                (r"lines is \(4,\); it is \(s, p\)", {"lines": (4,)}),
                ("vertical and slash lines are those of places", {"slash": 1, "order": np.arange(8)}),
                ("align is 'left'", {"align": "left", "top_k": 1})):
            with self.assertRaisesRegex(pit.Error, error):
                pit.block_index(q, k, **options)
        for error, k in (("q has 4 heads, k has 3", (1, 3, 8, 8)), ("must have rank 4", (2, 8, 8)),
                         ("q has elements of a head: 8, k 9", (1, 2, 8, 9)),
                         ("q has a batch of 1, k 2", (2, 2, 8, 8))):
            with self.assertRaisesRegex(pit.Error, error):
                pit.block_index(q, np.zeros(k, "f"), top_k=1)


if __name__ == "__main__":
    unittest.main()
