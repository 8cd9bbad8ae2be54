#!/usr/bin/env python3
"""Lets the device choose among variants and compares with numpy: which one is the
cheapest, and the lists of its index. Then backing off, in a captured graph, and calls on
two streams at once. Usage: choose_check.py (--build DIR | --artifacts DIR) [--cases N] [--small]
[--seed S]"""
import argparse
import ctypes as ct
import sys
import time
import zlib

import numpy as np

import index_runtime as rt
from live_fractions_check import Builder as LiveFractionsBuilder
from index_check import Case, TYPES, expect, live_tiles

# A pit_manifest (Abi.h) of no arguments, for CUDA.
MANIFEST = (ct.c_int64 * 7)(0x4D544950 | 6 << 32, 0, 2 << 32, 0, 0, 0, 0)
DENSE, DETERMINISTIC = -1, 1


class Shown(ct.Structure):  # pit_device_choice
    _fields_ = [("variant", ct.c_void_p), ("known", ct.c_int32)]


class Facts(ct.Structure):  # pit_choice_facts
    _fields_ = [("after", ct.c_void_p), ("seen", ct.c_void_p), ("bitmap", ct.c_void_p)]


class Build(ct.Structure):  # pit_build
    _fields_ = [("source", ct.c_int32), ("code", ct.c_uint8), ("bits", ct.c_uint8),
                ("lanes", ct.c_uint16), ("background", ct.c_uint64), ("flags", ct.c_uint32),
                ("data_rank", ct.c_int32), ("rank", ct.c_int32), ("axis", ct.c_int32),
                ("micro_tile", ct.c_int64 * 8), ("step", ct.c_int64 * 8)]


class Variants(ct.Structure):  # pit_variants
    _fields_ = [("identity", ct.c_uint64), ("mark", ct.c_int32), ("flags", ct.c_int32),
                ("count", ct.c_int32), ("reserved", ct.c_int32), ("variants", Build * 16)]


class View(ct.Structure):  # pit_view
    _fields_ = [("data", ct.c_void_p), ("shape", ct.c_int64 * 8), ("strides", ct.c_int64 * 8)]


class Call:
    """One call of a program, which chooses once."""

    def __init__(self, runtime, stream=0):
        self.runtime, self.lib = runtime, runtime.lib
        self.frame = ct.c_void_p()
        self.described = []  # what the runtime reads until the call ends
        self.check(self.lib.pit_rt_enter(runtime.context, MANIFEST, None, None,
                                         ct.c_void_p(stream), None, ct.byref(self.frame)))

    def check(self, status):
        if status:
            raise RuntimeError(self.runtime.message())

    def build(self, case, axis, micro_tile):
        tensor, rank = case.data.tensor, len(case.shape)
        background = 0 if case.background is None else int(case.background)
        tile = (*micro_tile, *[0] * (8 - rank))
        return Build(case.source, tensor.code, tensor.bits, 1, background, 0, rank, rank, axis,
                     tile, tile)

    def choose(self, case, variants, costs, flags=0, after=None, bitmap=None, seen=None):
        """`variants` are (axis, micro_tile), beside the dense one; `after` and `seen` are what
        another choice has shown. With a bitmap the data must not be read."""
        self.case, self.variants = case, variants
        builds = [self.build(case, DENSE, variants[0][1]),
                  *(self.build(case, *variant) for variant in variants)]
        described = Variants(0, 0, flags, len(builds), 0, (Build * 16)(*builds))
        described.identity = zlib.crc32(bytes(described))
        self.described.append(described)
        tensor, pad = case.data.tensor, [0] * (8 - len(case.shape))
        view = View(bitmap.words if bitmap else tensor.data, (*case.shape, *pad),
                    (*tensor.strides[:len(case.shape)], *pad))
        numbers = [number for fixed, live in costs for number in (fixed, live, 0)]
        self.shown = ct.POINTER(Shown)()
        facts = Facts(*(ct.cast(fact, ct.c_void_p) for fact in
                        (after, seen, ct.byref(bitmap) if bitmap else None)))
        self.check(self.lib.pit_rt_choose_on_device(
            self.frame, ct.byref(described), ct.byref(view),
            (ct.c_double * len(numbers))(*numbers), ct.byref(facts), None,
            ct.byref(self.shown)))
        self.word = self.shown.contents.variant
        self.mirrors = []
        for build in builds[1:]:
            mirror = ct.POINTER(rt.Index)()
            self.check(self.lib.pit_rt_build_if_chosen(
                self.frame, ct.byref(build), ct.byref(view), view.shape, self.shown, None,
                ct.byref(mirror)))
            self.mirrors.append(rt.Index.from_buffer_copy(mirror.contents))
        return self

    def leave(self):
        self.check(self.lib.pit_rt_leave(self.frame, 0))

    def variant(self):
        """What was chosen; 0 where the host knew it."""
        self.runtime.wait()
        return int(self.runtime.read(self.word, 1, np.int32)[0]) if self.word else 0

    def check_index(self, number):
        """The index of a variant, if it is not dense."""
        if number == 0:
            return
        axis, micro_tile = self.variants[number - 1]
        case = self.case
        case.axis, case.micro_tile, case.step = axis, list(micro_tile), [0] * len(case.shape)
        reader = rt.Builder.__new__(rt.Builder)
        reader.runtime, reader.handle = self.runtime, None
        case.check_result(reader, self.mirrors[number - 1])


def count(case, variants):
    return [int(live_tiles(case.selected, axis, list(micro_tile), [0] * len(case.shape)).sum())
            for axis, micro_tile in variants]


def random_case(rng):
    """A matrix, most often one that a single read is enough for."""
    kind = str(rng.choice(["f16", "bf16", "f32", "f64", "i8"]))
    wide = 16 // np.dtype(TYPES[kind][0]).itemsize
    rows = int(rng.choice([1, 5, 40, 64, 100, 257, 300, 2100]))
    columns = int(rng.choice([1, 2, 31, 32, 33, 64, 70, 130])) * wide
    shape = [rows, columns + (rng.random() < 0.1)]
    if rng.random() < 0.2:
        shape = [int(rng.choice([2, 3])), *shape]
    case = Case(shape, len(shape) - 1, [0] * len(shape))
    layout = "padded" if rng.random() < 0.1 else "rows"
    if rng.random() < 0.1:
        return case.mask(rng, layout)
    return case.values(rng, kind, str(rng.choice(["zero", "zero", "one", "nan"])), layout,
                       live_fraction=float(rng.choice([0, 1e-4, 1e-3, 0.01, 0.1])))


def random_variants(rng, rank):
    low = [1] * (rank - 2)
    height = int(rng.choice([8, 16, 32, 64, 128]))
    if rng.random() < 0.1:
        height = int(rng.choice([1, 4, 20, 0]))
    columns, rows = (rank - 1, [*low, height, 1]), (rank - 2, [*low, 1, 0])
    drawn = rng.random()
    if drawn < 0.7:
        variants = [columns, rows]
    elif drawn < 0.8:
        variants = [columns]
    elif drawn < 0.9:
        variants = [rows]
    else:
        variants = [columns, rows, (rank - 1, [*low, 2, 1])]
    return [variants[i] for i in rng.permutation(len(variants))]


def check_choice(runtime, rng, case, variants):
    """Costs that are whole numbers, so that they come out the same everywhere."""
    numbers = count(case, variants)
    costs = [(int(rng.integers(1, 100000)), 0)]
    costs += [(int(rng.integers(0, 1000)), int(rng.integers(0, 100))) for _ in variants]
    if rng.random() < 0.5:  # dense is out of the question
        costs[0] = (10**12, 0)
    builder = LiveFractionsBuilder(runtime)
    with_bits = case.source == 0 and rng.random() < 0.5
    bitmap = builder.bitmap(case) if with_bits else None
    call = Call(runtime).choose(case, variants, costs, DETERMINISTIC, bitmap=bitmap)
    call.leave()
    totals = [fixed + live * n for (fixed, live), n in zip(costs, [0, *numbers])]
    chosen, wanted = call.variant(), int(np.argmin(totals))
    expect(chosen == wanted, f"variant {chosen}, not {wanted}, of costs {totals}"
           f"{', by bits' if with_bits else ''}")
    call.check_index(chosen)


def check_seen(runtime, rng, case, variants):
    """A second choice by the same data, by costs of its own, of some of the variants: it shares the
    look and the indices."""
    some = [variants[i] for i in rng.permutation(len(variants))[:rng.integers(1, len(variants) + 1)]]
    if rng.random() < 0.1:  # what the first one has not looked for
        some.append((len(case.shape) - 1, [*[1] * (len(case.shape) - 2), 24, 1]))

    def draw(each):
        costs = [(int(rng.integers(1, 100000)) if rng.random() < 0.5 else 10**12, 0)]
        return costs + [(int(rng.integers(0, 1000)), int(rng.integers(0, 100))) for _ in each]

    first, second = draw(variants), draw(some)
    call = Call(runtime).choose(case, variants, first, DETERMINISTIC)
    word, mirrors = call.word, call.mirrors
    call.choose(case, some, second, DETERMINISTIC, seen=call.shown)
    call.leave()
    for of, costs in ((some, second), (variants, first)):
        totals = [fixed + live * n for (fixed, live), n in zip(costs, [0, *count(case, of)])]
        chosen, wanted = call.variant(), int(np.argmin(totals))
        expect(chosen == wanted, f"variant {chosen}, not {wanted}, of costs {totals}")
        call.check_index(chosen)
        call.word, call.mirrors, call.variants = word, mirrors, variants


def check_after(runtime, rng, height):
    """If a choice took a variant with an index, one that comes after it takes none."""
    case, full, variants = sparse_and_full(rng, [300, 1024])
    variants = [(1, [height, 1]), variants[1]]
    first, second = [(10**6, 0), (0, 1), (10**5, 1)], [(10**7, 0), (0, 1), (1, 10**5)]
    for dense in (10**6, 0, 10**6, 10**6, 0, 0):
        first[0] = (dense, 0)
        for flags in (DETERMINISTIC, 0):
            call = Call(runtime).choose(case, variants, first, DETERMINISTIC)
            call.choose(case, variants, second, flags, after=call.shown)
            call.leave()
            chosen = call.variant()
            expect(chosen == (-1 if dense else 1), f"variant {chosen} after one of costs {first}")
            if chosen > 0:
                call.check_index(chosen)


def sparse_and_full(rng, shape):
    case = Case(shape, 1, [64, 1]).values(rng, "f16", "zero", live_fraction=0.001)
    full = Case(shape, 1, [64, 1]).values(rng, "f16", "zero", live_fraction=1)
    return case, full, [(1, [64, 1]), (0, [1, 0])]


def check_graph(runtime, rng):
    """A replay that has not looked is dense, and the next scan sees new values. In a
    context of its own: other choices may share what is remembered."""
    runtime = rt.Runtime(runtime.library)
    case, full, variants = sparse_and_full(rng, [512, 1024])
    selected = case.selected
    costs = [(count(case, variants)[0] + 100, 0), (0, 1), (10**6, 1)]
    stream = runtime.driver.stream()
    calls = []

    def launch():
        calls.append(Call(runtime, stream).choose(case, variants, costs))
        calls[0].leave()

    replay = runtime.driver.capture(stream, launch)
    call = calls[0]
    # (is it sparse, what is chosen): after scans that end dense, 1, 2, 4 calls do not scan.
    for number, (is_sparse, wanted) in enumerate(
            [(0, 0), (1, 0), (0, 0), (1, 0), (1, 0), (1, 1), (1, 1), (0, 0), (1, 0), (1, 1)]):
        case.data.take(case.data if is_sparse else full.data)
        case.selected = selected
        replay()
        chosen = call.variant()
        expect(chosen == wanted, f"replay {number}: variant {chosen}, not {wanted}")
        call.check_index(chosen)


def check_streams(runtime, rng, rounds):
    """Calls on several streams, which share when to scan: what is chosen is built."""
    case, _, variants = sparse_and_full(rng, [2048, 1024])
    costs = [(10**6, 0), (0, 1), (0, 1000)]
    streams = [runtime.driver.stream() for _ in range(3)]
    for _ in range(rounds):
        calls = []
        for stream in streams * min(rounds, 10):
            calls.append(Call(runtime, stream).choose(case, variants, costs))
            calls[-1].leave()
        for call in calls[-len(streams):]:
            chosen = call.variant()
            expect(chosen in (0, 1), f"variant {chosen}")
            call.check_index(chosen)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--artifacts")
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--small", action="store_true", help="without what is slow to emulate")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    print(f"choose_check: seed {args.seed}", flush=True)
    runtime = rt.Runtime(rt.library_of(args))
    rng = np.random.default_rng(args.seed)
    failed = checked = 0

    def run(name, check):
        nonlocal failed, checked
        checked += 1
        try:
            check()
        except (AssertionError, RuntimeError) as error:
            failed += 1
            print(f"FAILED {name}\n  {error}", flush=True)
            if "error 7" in str(error) or failed > 20:
                sys.exit("choose_check: gave up")

    for _ in range(args.cases):
        case = random_case(rng)
        variants = random_variants(rng, len(case.shape))
        run(f"{case.describe()}, variants {variants}",
            lambda: (check_choice if rng.random() < 0.7 else check_seen)(
                runtime, rng, case, variants))
    rows = 7000 if args.small else 70000
    large = Case([rows, 64], 1, [64, 1]).values(rng, "f16", "zero", live_fraction=1e-3)
    run("large", lambda: check_choice(runtime, rng, large, [(0, [1, 0])]))
    run("graph", lambda: check_graph(runtime, rng))
    for height in (64, 20):  # by one read, and by a scan for each variant
        run(f"after, {height} rows", lambda: check_after(runtime, rng, height))
    run("streams", lambda: check_streams(runtime, rng, 2 if args.small else 50))
    print(f"choose_check: {checked - failed} of {checked} passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
