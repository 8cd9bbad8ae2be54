#!/usr/bin/env python3
"""Makes bitmaps on the device and compares them, the live fraction of candidates and the
indices that follow with numpy.

Random shapes, strides, element types and sources; micro-tiles that are proposed, and
others. Usage: live_fractions_check.py (--build DIR | --artifacts DIR) [--cases N] [--small]
[--seed S] [--host: check this script with the CPU's builders]"""
import argparse
import ctypes as ct
import sys
import time

import numpy as np

import index_runtime as rt
from index_check import (Case, LAYOUTS, TYPES, expect, live_tiles, matrix_case, random_case, same)

BACKGROUNDS = ["zero", "zero", "zero", "minus zero", "one", "nan"]
SIZES = [1, 2, 3, 4, 5, 8, 16, 32, 33, 64, 100, 128, 200, 256]


class Bitmap(ct.Structure):
    _fields_ = [("words", ct.c_void_p), ("rows", ct.c_int64), ("row_words", ct.c_int64),
                ("rank", ct.c_int32), ("source", ct.c_int32), ("shape", rt.I64x8),
                ("on_device", ct.c_int32)]


class LiveFractions(ct.Structure):
    _fields_ = [("groups", ct.c_int64), ("micro_tiles", ct.c_int64), ("live", ct.c_int64),
                ("max_count", ct.c_int64), ("live_fraction", ct.c_double)]


class Builder(rt.Builder):
    def expect_ok(self, status):
        if status:
            raise RuntimeError(self.runtime.message())

    def bitmap(self, case):
        made = ct.POINTER(Bitmap)()
        shape = (ct.c_int64 * len(case.shape))(*case.shape)
        bits = None if case.background is None else case.background.tobytes()
        self.expect_ok(self.runtime.lib.pit_bitmap_build(
            self.handle, len(case.shape), shape, case.source, ct.byref(case.data.tensor), bits,
            ct.byref(made)))
        return made.contents

    def live_fraction(self, bitmap, specs):
        found = (LiveFractions * len(specs))()
        self.expect_ok(self.runtime.lib.pit_bitmap_live_fractions(
            self.handle, ct.byref(bitmap), (rt.Spec * len(specs))(*specs), len(specs), found))
        return found

    def index(self, bitmap, spec):
        mirror = ct.POINTER(rt.Index)()
        self.expect_ok(self.runtime.lib.pit_index_from_bitmap(
            self.handle, ct.byref(spec), ct.byref(bitmap), ct.byref(mirror)))
        return mirror.contents


def proposed(runtime, shape):
    dims = (ct.c_int64 * len(shape))(*shape)
    room = runtime.lib.pit_live_fraction_candidates(len(shape), dims, None, 0)
    specs = (rt.Spec * room)()
    runtime.lib.pit_live_fraction_candidates(len(shape), dims, specs, room)
    return list(specs)


def drawn(rng, shape):
    """Any other micro-tile, with and without steps of its own."""
    axis = int(rng.integers(len(shape)))
    micro_tile, step = [0] * len(shape), [0] * len(shape)
    for d in range(len(shape)):
        if d != axis and rng.random() < 0.9:
            micro_tile[d] = int(rng.choice(SIZES))
            if rng.random() < 0.3:
                step[d] = int(rng.integers(1, micro_tile[d] + 4))
    return rt.make_spec(shape, axis, micro_tile, step, flags=int(rng.choice([0, rt.DENSE])))


def check(builder, case, specs, indices):
    """The words, the live fraction by `specs`, and the indices by some of them."""
    runtime, shape = builder.runtime, case.shape
    bitmap = builder.bitmap(case)
    expect(bitmap.on_device == (not runtime.host), "where the bitmap is")
    found = builder.live_fraction(bitmap, specs)
    rows = int(np.prod(shape[:-1]))
    runtime.host or runtime.wait()
    words = runtime.read(bitmap.words, rows * -(-shape[-1] // 64), np.uint64)
    bits = np.unpackbits(words.view(np.uint8), bitorder="little").reshape(rows, -(-shape[-1] // 64) * 64)
    same("bits", bits[:, :shape[-1]], np.asarray(case.selected).reshape(rows, shape[-1]))
    expect(not bits[:, shape[-1]:].any(), "bits past a row's end")
    for number, (spec, got) in enumerate(zip(specs, found)):
        n = len(shape)
        live = live_tiles(case.selected, spec.axis, list(spec.micro_tile)[:n], list(spec.step)[:n])
        what = f"{list(spec.micro_tile)[:n]} every {list(spec.step)[:n]} along axis {spec.axis}"
        counts = live.sum(axis=1)
        wanted = (len(live), live.size, int(live.sum()), int(counts.max(initial=0)))
        numbers = (got.groups, got.micro_tiles, got.live, got.max_count)
        expect(numbers == wanted, f"{what}: {numbers}, not {wanted}")
        if number in indices:
            listed = Case(shape, spec.axis, list(spec.micro_tile)[:n], list(spec.step)[:n],
                          flags=spec.flags)
            listed.source, listed.selected = case.source, case.selected
            if case.source == rt.ROUTING:
                listed.source = rt.LENGTHS  # of which no origin is told, as of bits
            try:
                listed.check_result(builder, builder.index(bitmap, spec))
            except AssertionError as error:
                raise AssertionError(f"index of {what}: {error}") from None
    # Indices and live fractions leave the bitmap as it is.
    same("words afterwards", runtime.read(bitmap.words, words.size, np.uint64), words)


def clusters(rng, shape):
    """Live rows, columns and blocks of a matrix."""
    selected = np.zeros(shape, bool)
    for _ in range(int(rng.integers(1, 6))):
        at = [int(rng.integers(n)) for n in shape]
        size = [int(rng.choice([1, 3, 40, n])) for n in shape]
        selected[tuple(slice(a, a + s) for a, s in zip(at, size))] = True
    return selected


def matrix(rng):
    """Of every kind: one row, one column, ragged, empty of live elements, full."""
    shape = [int(rng.choice([1, 2, 31, 33, 128, 129, 257, 300])) for _ in range(2)]
    if rng.random() < 0.4:
        shape[1] = 16 * int(rng.choice([1, 2, 5, 16, 33]))
    case = Case(shape, 1, [1, 1])
    case.values(rng, str(rng.choice(list(TYPES))), str(rng.choice(BACKGROUNDS)),
                str(rng.choice(LAYOUTS)))
    return case


def clustered(rng):
    shape = [int(rng.choice([64, 200, 500])), int(rng.choice([64, 208, 1000]))]
    case = Case(shape, 1, [1, 1])
    selected = clusters(rng, shape)
    x = np.zeros((shape[0], shape[1] + 48), np.float32)[:, :shape[1]]
    x[selected] = 1
    case.source, case.note, case.selected = rt.VALUES, "clusters", selected
    case.data = rt.Data(x, 2)
    return case


def any_source(rng):
    while True:
        case = random_case(rng)
        if case.source != rt.BLOCKS and not case.status:
            return case


def packed_rows(rng):
    """Rows of the mask of an odd number of 32-bit words, those of the bitmap of one more."""
    shape = [int(rng.choice([1, 2, 31, 100])), 64 * int(rng.integers(5)) + int(rng.integers(25, 33))]
    return Case(shape, 1, [1, 1]).mask_bits(rng)


def routing(rng):
    case = Case([int(rng.choice([1, 100, 300])), int(rng.choice([1, 8, 64, 100]))], 1, [1, 1])
    return case.route(rng, int(rng.choice([0, 1, 4])), bool(rng.random() < 0.5))


def empty(rng):
    return Case([int(rng.choice([0, 5])), 0], 1, [1, 1]).values(rng, "f32", "zero")


def large(rng, kind, live_fraction):
    return Case([2048, 2048], 1, [1, 1]).values(rng, kind, "zero", live_fraction=live_fraction)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--artifacts")
    parser.add_argument("--cases", type=int, default=200, help="random cases of each kind")
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--small", action="store_true", help="without what is slow to emulate")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    print(f"live_fractions_check: seed {args.seed}", flush=True)
    runtime = rt.Runtime(rt.library_of(args), args.host)
    builder = Builder(runtime)
    rng = np.random.default_rng(args.seed)
    kinds = [("matrix", matrix), ("rows of 16 bytes", matrix_case), ("clustered", clustered),
             ("any", any_source), ("packed rows", packed_rows), ("routing", routing),
             ("empty", empty)]
    cases = [(name, make) for name, make in kinds for _ in range(args.cases)]
    if not args.small:
        cases += [("large", lambda r, k=k, d=d: large(r, k, d))
                  for k in ("f16", "f32", "i8") for d in (0.01, 0.5, 1)]
    failed = 0
    for name, make in cases:
        case = make(rng)
        specs = proposed(runtime, case.shape)
        if len(specs) > 18:
            specs = [specs[i] for i in rng.choice(len(specs), 18, replace=False)]
        specs += [drawn(rng, case.shape) for _ in range(3)]
        indices = set(rng.choice(len(specs), 3).tolist())
        try:
            check(builder, case, specs, indices)
        except (AssertionError, RuntimeError) as error:
            failed += 1
            print(f"FAILED {name}: {case.describe()}\n  {error}", flush=True)
            if failed > 20:
                sys.exit("live_fractions_check: gave up")
    print(f"live_fractions_check: {len(cases) - failed} of {len(cases)} passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
