# RUN: pit-compile %S/Inputs/functions.mlir -o %t.so
# RUN: env PIT_TEST_FUNCTIONS=%t.so %python %s
# REQUIRES: pit-compile
"""Indices built and imported from Python."""

import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import functions, pit  # noqa: E402

f = functions()


def lists(index):
    """The ids of each group."""
    counts, offsets, ids = (np.asarray(a) for a in (index.counts, index.offsets, index.ids))
    return [ids[o: o + c].tolist() for c, o in zip(counts, offsets)]


class Built(unittest.TestCase):
    def test_values(self):
        x = np.zeros((70, 9), np.float32)
        x[3, 2] = x[40, 2] = x[69, 8] = 1
        index = pit.build_index(x, micro_tile=(32, 1), axis=1)
        self.assertEqual(lists(index), [[2], [2], [8]])
        self.assertEqual((index.groups, index.total, index.extent, index.max_count), (3, 3, 3, 1))
        self.assertEqual((index.shape, index.micro_tile, index.axis, index.source),
                         ((70, 9), (32, 1), 1, "values"))
        self.assertIn("micro-tile [32, 1]", repr(index))

    def test_background(self):
        x = np.full((2, 5), 7, np.int8)
        x[1, 3] = 0
        self.assertEqual(lists(pit.build_index(x, (1, 1), 1, background=7)), [[], [3]])
        x = np.full((2, 5), np.float16(-0.5))
        x[0, 1] = 0
        self.assertEqual(lists(pit.build_index(x, (0, 1), 1, background=-0.5)), [[1]])
        with self.assertRaisesRegex(pit.Error, "300 is no value of i8"):
            pit.build_index(np.zeros((2, 2), np.int8), (1, 1), 1, background=300)

    def test_sources(self):
        mask = np.array([[True, False, True], [False, False, False]])
        self.assertEqual(lists(pit.build_index(mask, (1, 0), 0, source="mask")), [[0]])
        lengths = np.array([2, 0, 3], np.int32)
        self.assertEqual(
            lists(pit.build_index(lengths, (1, 1), 1, source="lengths", shape=(3, 4))),
            [[0, 1], [], [0, 1, 2]])
        routing = np.array([[1, -1], [0, 1], [-1, -1], [1, 1]], np.int64)
        index = pit.build_index(routing, (1, 1), 0, source="routing", shape=(4, 2))
        self.assertEqual(lists(index), [[1], [0, 1, 3]])
        self.assertIsNotNone(index.origin)
        blocks = np.array([[1, 2], [0, 3]], np.int32)
        self.assertEqual(
            lists(pit.build_index(blocks, (1, 1), 1, source="blocks", shape=(2, 4))), [[3], [2]])
        rows = np.array([1, 0, 2], np.int32)  # of matrices of two rows
        index = pit.build_index(rows, (1, 0), 0, source="row_lengths", shape=(6, 4))
        self.assertEqual((lists(index), index.source), ([[0, 4, 5]], "row_lengths"))
        for source in ("import", "index"):
            with self.assertRaisesRegex(
                    pit.Error, f"no index source '{source}'; there are: values, mask, mask_bits, "
                    "lengths, routing, blocks, row_lengths$"):
                pit.build_index(mask, (1, 1), 1, source=source, shape=(2, 3))

    def test_again(self):
        x = np.eye(4, dtype=np.float32)
        index = pit.build_index(x, (1, 1), 1)
        self.assertEqual(lists(index), [[0], [1], [2], [3]])
        self.assertEqual(index.version, 1)
        self.assertIs(index.rebuild(x[::-1].copy()), index)
        self.assertEqual(index.version, 2)
        self.assertEqual(lists(index), [[3], [2], [1], [0]])

    def test_strides(self):
        x = np.zeros((4, 6), np.float32)
        x[1, 2] = 1
        self.assertEqual(lists(pit.build_index(x.T, (1, 1), 1)), [[], [], [1], [], [], []])
        records = np.zeros((4, 6), np.dtype([("kind", "u1"), ("value", "f4")]))
        records["value"] = x
        for laid in (records["value"].T, x[::-1].T[:, ::-1]):
            self.assertEqual(lists(pit.build_index(laid, (1, 1), 1)), [[], [], [1], [], [], []])
            c, = pit.live_fractions(laid, [((1, 1), 1)])
            self.assertEqual(c.live, 1)

    def test_arrays_keep_the_index(self):
        counts = np.asarray(pit.build_index(np.eye(300, dtype=np.float32), (1, 1), 1).counts)
        self.assertTrue(np.all(counts == 1))
        with self.assertRaises(ValueError):
            counts[0] = 2

    def test_refused(self):
        x = np.zeros((4, 4), np.float32)
        for message, call in {
            "no index source 'nothing'": lambda: pit.build_index(x, (1, 1), 1, source="nothing"),
            "needs the shape": lambda: pit.build_index(x, (1, 1), 1, source="lengths"),
            "axis is 1099511627776, which is no integer of 32 bits":
                lambda: pit.build_index(x, (1, 1), 2**40),
            "axis must be an integer, not '1'": lambda: pit.build_index(x, (1, 1), "1"),
            "micro_tile is 11805916207": lambda: pit.build_index(x, (1, 2**70), 1),
            "micro_tile must be an integer, not 1.5": lambda: pit.build_index(x, (1.5, 1), 1),
            "micro_tile must be a list": lambda: pit.build_index(x, 1, 1),
            "micro_tile.0. is -1": lambda: pit.build_index(x, (-1, 1), 1),
            "steps of 1 sizes": lambda: pit.build_index(x, (1, 1), 1, step=(1,)),
            "shape must be a list": lambda: pit.build_index(x, (1, 1), 1, shape=4),
            "capacity must be an integer": lambda: pit.build_index(x, (1, 1), 1, capacity=1.0),
            "context must be a pit.Context": lambda: pit.build_index(x, (1, 1), 1, context="cpu"),
            "index data: a NoneType is no array": lambda: pit.build_index(None, (1, 1), 1),
            "index counts: a list is no array":
                lambda: pit.import_index((4, 4), (1, 1), 1, [1], [2], [3]),
            "axis 5": lambda: pit.build_index(x, (1, 1), 5),
            "micro_tile has a size of None; 0 is the whole dimension": lambda: pit.build_index(x, (1, None), 0),
            "micro-tile of 1 sizes": lambda: pit.build_index(x, (1,), 0),
            "a list is no array": lambda: pit.build_index([1], (1,), 0, shape=(1,)),
        }.items():
            with self.assertRaisesRegex(pit.Error, message):
                call()


class Used(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(1)
        self.x = rng.integers(-3, 4, size=(20, 11)).astype(np.float32)
        self.x[rng.random(20) < 0.6] = 0
        self.w = rng.integers(-3, 4, size=(11, 4)).astype(np.float32)
        self.c = np.ones((20, 4), np.float32)

    def test_built(self):
        index = pit.build_index(self.x, (1, 0), 0)
        np.testing.assert_array_equal(
            f.indexed(self.x, self.w, index, self.c), self.x @ self.w + 1)

    def test_only_what_it_covers(self):
        one = np.zeros_like(self.x)
        one[7] = 1
        x = np.ones_like(self.x)
        result = f.indexed(x, self.w, pit.build_index(one, (1, 0), 0), self.c)
        wanted = np.ones((20, 4), np.float32)
        wanted[7] += self.w.sum(axis=0)
        np.testing.assert_array_equal(result, wanted)

    def imported(self, **changes):
        live = np.flatnonzero(self.x.any(axis=1)).astype(np.int32)
        arguments = {"counts": np.array([len(live)], np.int32), "offsets": np.zeros(1, np.int64),
                     "ids": live, **changes}
        return pit.import_index((20, 11), (1, 0), 0, **arguments)

    def test_imported(self):
        index = self.imported()
        self.assertEqual(index.source, "import")
        np.testing.assert_array_equal(
            f.indexed(self.x, self.w, index, self.c), self.x @ self.w + 1)
        with self.assertRaisesRegex(pit.Error, "imported index"):
            index.rebuild(self.x)

    def test_import_refused(self):
        for message, changes in {
            "counts: the elements must be i32": {"counts": np.zeros(1, np.int64)},
            "one dimension": {"ids": np.zeros((2, 2), np.int32)},
            "contiguous": {"ids": np.zeros(20, np.int32)[::2]},
            "index": {"ids": np.array([50], np.int32), "counts": np.ones(1, np.int32)},
        }.items():
            with self.assertRaisesRegex(pit.Error, message):
                self.imported(**changes)

    def test_index_of_another_kind(self):
        with self.assertRaisesRegex(pit.Error, "argument 2"):
            f.indexed(self.x, self.w, pit.build_index(self.x, (4, 1), 1), self.c)


if __name__ == "__main__":
    unittest.main()
