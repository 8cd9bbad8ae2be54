# RUN: %python %s
"""The live fraction of candidates, and what programs chose."""

import ctypes
import sys
import types
import unittest
from ctypes import byref, c_double, c_int32, c_int64, c_void_p
from pathlib import Path
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402


def reference(x, tile, axis):
    """(live, micro-tiles, fullest) of a matrix by blocks of numpy."""
    tile = [n if t == 0 else t for t, n in zip(tile, x.shape)]
    tile[axis] = 1
    pad = [(0, -n % t) for n, t in zip(x.shape, tile)]
    live = np.pad(x != 0, pad)
    rows, columns = (n // t for n, t in zip(live.shape, tile))
    live = live.reshape(rows, tile[0], columns, tile[1]).any((1, 3))
    return live.sum(), live.size, live.sum(axis).max(initial=0)


class LiveFractions(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(3)
        self.x = np.where(random.random((150, 203)) < 0.02, 1, 0).astype(np.float32)
        self.x[40:90] = 0

    def test_proposed(self):
        table = pit.live_fractions(self.x)
        self.assertEqual(len(table), 18)
        for c in table:
            self.assertEqual((c.live, c.micro_tiles, c.fullest),
                             reference(self.x, c.micro_tile, c.axis), c)
            self.assertAlmostEqual(c.live_fraction, c.live / c.micro_tiles)
        self.assertEqual(table[8].label, "*x1")

    def test_candidates(self):
        tiles = [((32, 1), 1), ([1, 0], 0), ((3, 1), 1)]
        table = pit.live_fractions(self.x, tiles)
        for c, (tile, axis) in zip(table, tiles, strict=True):
            self.assertEqual((c.live, c.micro_tiles, c.fullest), reference(self.x, tile, axis))
        # Windows of 4 rows, 2 apart.
        step, = pit.live_fractions(self.x, [((4, 1), 1, (2, 1))])
        windows = [self.x[i: i + 4].any(0) for i in range(0, 147, 2)]
        self.assertEqual(step.groups, len(windows))
        self.assertEqual(step.live, np.sum(windows))
        self.assertEqual(step.step, (2, 1))
        self.assertEqual(len(pit.live_fractions(self.x, [])), 0)

    def test_same_as_an_index(self):
        for c in pit.live_fractions(self.x.T):
            index = pit.build_index(self.x.T, c.micro_tile, c.axis)
            self.assertEqual((c.live, c.fullest, c.groups),
                             (index.total, index.max_count, index.groups))

    def test_sources(self):
        mask = self.x > 0
        self.assertEqual(pit.live_fractions(mask, [((8, 1), 1)], source="mask")[0],
                         pit.live_fractions(self.x, [((8, 1), 1)])[0])
        lengths = np.array([2, 0, 3], np.int32)
        c, = pit.live_fractions(lengths, [((1, 1), 1)], source="lengths", shape=(3, 4))
        self.assertEqual((c.live, c.fullest), (5, 3))
        x = np.full((3, 3), -1, np.int8)
        x[1, 1] = 0
        self.assertEqual(pit.live_fractions(x, [((1, 1), 1)], background=-1)[0].live, 1)

    def test_shown(self):
        table = pit.live_fractions(self.x, [((32, 1), 1), ((0, 1), 1)])
        lines = repr(table).splitlines()
        self.assertEqual(lines[0], "live fractions of 150x203 by 2 candidates")
        self.assertEqual(lines[1].split(), list(table.HEADINGS))
        live, all_, fullest = reference(self.x, (32, 1), 1)
        self.assertEqual(lines[2].split(), ["32x1", "1", "5", str(all_), str(live),
                                            f"{live / all_:.4f}", str(fullest)])
        self.assertEqual(table._repr_html_().count("<tr>"), 3)
        self.assertIn("<td>*x1</td>", table._repr_html_())
        self.assertEqual(table.columns()["live"][0], live)

    def test_plot(self):
        table = pit.live_fractions(self.x)
        axes = mock.Mock()
        self.assertIs(table.plot(axes), axes)
        self.assertEqual([call.args[1] for call in axes.barh.call_args_list],
                         [c.live_fraction for c in table])
        pyplot = types.SimpleNamespace(subplots=lambda **_: (None, axes))
        package = types.SimpleNamespace(pyplot=pyplot)
        with mock.patch.dict(sys.modules, {"matplotlib": package, "matplotlib.pyplot": pyplot}):
            self.assertIs(table.plot(), axes)
        with mock.patch.dict(sys.modules, {"matplotlib": None}):
            with self.assertRaisesRegex(pit.Error, "matplotlib, which is not installed"):
                table.plot()

    def test_refused(self):
        x = self.x
        for message, call in {
            "a candidate is .micro_tile, axis. .*, not 3": lambda: pit.live_fractions(x, [3]),
            "not .1, 2, 3, 4.": lambda: pit.live_fractions(x, [(1, 2, 3, 4)]),
            "a micro-tile of 1 sizes for a shape of 2": lambda: pit.live_fractions(x, [((1,), 1)]),
            "axis 2 of a tensor of rank 2": lambda: pit.live_fractions(x, [((1, 1), 2)]),
            "no index source 'zeros'": lambda: pit.live_fractions(x, source="zeros"),
            "needs the shape": lambda: pit.live_fractions(x, source="lengths"),
            "a list is no array": lambda: pit.live_fractions([1, 2]),
            "the source is a list of blocks": lambda: pit.live_fractions(
                np.zeros((1, 2), np.int32), source="blocks", shape=(3, 3)),
            "a tensor of rank 0": lambda: pit.live_fractions(np.float32(3).reshape(())),
            "300 is no value of i8": lambda: pit.live_fractions(np.zeros((2, 2), np.int8),
                                                          background=300),
            "context must be a pit.Context": lambda: pit.live_fractions(x, context=3),
        }.items():
            with self.subTest(message), self.assertRaisesRegex(pit.Error, message):
                call()


def words(*values):
    return (c_int64 * len(values))(*values)


# A pit_manifest without arguments and results, for the CPU.
MANIFEST = words(0x4D544950 | 6 << 32, 0, 1 << 32, 0, 0, 0, 0)


def choose(context, x, calls):
    """Chooses between dense and 1x1, as a compiled program would; returns
    whether each call has looked."""
    library, scanned = pit._library.runtime(), []
    def build(axis):  # pit_build: f32, data and index of rank 2, micro-tiles of 1x1
        tile = [1, 1, 0, 0, 0, 0, 0, 0]
        return [(2 | 32 << 8 | 1 << 16) << 32, 0, 2 << 32, 2 | (axis & 0xFFFFFFFF) << 32, *tile, *tile]

    variants = words(0, 7, 2, *build(-1), *build(1))  # of mark 7
    view = words(x.ctypes.data, *x.shape, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0)
    costs = (c_double * 6)(10, 0, 0, 0, 1, 0)
    for _ in range(calls):
        frame, bitmap, variant = c_void_p(), c_void_p(), c_int32()
        context.check(library.pit_rt_enter(c_void_p(context.handle), MANIFEST, None, None, None,
                                           None, byref(frame)))
        status = library.pit_rt_choose(frame, variants, view, costs, None, byref(bitmap),
                                       byref(variant))
        scanned.append(bool(bitmap))
        context.check(library.pit_rt_leave(frame, status))
    return scanned


class Choices(unittest.TestCase):
    dense = np.ones((4, 4), np.float32)

    def test_deterministic(self):
        self.assertEqual(choose(pit.Context(), self.dense, 6),
                         [True, False, True, False, False, True])
        self.assertEqual(choose(pit.Context(deterministic=True), self.dense, 6), [True] * 6)

    def test_entry(self):
        library, context = pit._library.runtime(), pit.Context()
        symbols = {b"pit_program_entries": ctypes.create_string_buffer(b"f\0"),
                   b"pit_f_manifest": MANIFEST, b"pit_f": MANIFEST}

        @ctypes.CFUNCTYPE(c_void_p, c_void_p, ctypes.c_char_p)
        def look_up(_, symbol):
            return ctypes.addressof(symbols[symbol]) if symbol in symbols else None

        program = c_void_p()
        context.check(library.pit_program_from_lookup(c_void_p(context.handle), look_up, None,
                                                      None, byref(program)))
        entry = pit._program.Entry(None, library.pit_program_entry_at(program, 0))
        self.assertEqual(entry.choices(context), [])
        choose(context, self.dense, 2)
        choice, = entry.choices(context)
        self.assertEqual(choice, pit._program.Choice(
            mark=7, shape=(4, 4), calls=2, scans=1, variant=0, variants=2, axis=None,
            micro_tile=None, cost=10, live_fraction=None))
        choose(context, np.eye(4, dtype=np.float32), 1)
        choice, = entry.choices(context)
        self.assertEqual((choice.calls, choice.scans, choice.variant), (3, 2, 1))
        self.assertEqual((choice.axis, choice.micro_tile), (1, (1, 1)))
        self.assertEqual((choice.cost, choice.live_fraction), (4, 0.25))
        self.assertEqual(entry.choices(), [])
        library.pit_program_close(program)


if __name__ == "__main__":
    unittest.main()
