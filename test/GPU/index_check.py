#!/usr/bin/env python3
"""Builds indices on the device from every source and compares them with numpy.

Random shapes, micro-tiles, windows, strides, element types, backgrounds, flags
and capacities; then large ones, numbers out of range, a captured graph, and two
streams at once. Usage: index_check.py (--build DIR | --artifacts DIR) [--cases N] [--small]
[--seed S] [--host: check this script with the CPU's builders]"""
import argparse
import itertools
import sys
import time

import numpy as np

import index_runtime as rt

# name: numpy type of the bits, DLPack code, bits of the mantissa (floats)
TYPES = {"i8": (np.int8, 0, 0), "u8": (np.uint8, 1, 0), "bool": (np.uint8, 6, 0),
         "i16": (np.int16, 0, 0), "i32": (np.int32, 0, 0), "i64": (np.int64, 0, 0),
         "f16": (np.uint16, 2, 10), "bf16": (np.uint16, 4, 7), "f32": (np.uint32, 2, 23),
         "f64": (np.uint64, 2, 52)}


def differs(bits, background, mantissa):
    """Whether values differ from the background, by their bits."""
    if not mantissa:
        return bits != background
    width = 8 * bits.itemsize
    wide = bits.astype(np.uint64)
    b = int(background)
    sign = 1 << (width - 1)
    infinity = ((1 << (width - 1)) - 1) & ~((1 << mantissa) - 1)
    magnitude = wide & np.uint64(sign - 1)
    equal = wide == np.uint64(b)
    if b & (sign - 1) == 0:
        equal = magnitude == 0
    nan = magnitude > np.uint64(infinity)
    return ~equal | nan


def windows(extent, size, step):
    """[begin, end) of each window of a dimension."""
    if size == 0:
        return [(0, extent)]
    count = max(0, -(-(extent - size) // step) + 1)
    return [(min(c * step, extent), min(c * step + size, extent)) for c in range(count)]


def live_tiles(selected, axis, micro_tile, step):
    """live[group][id] of a selection of X's shape."""
    dims = [[(0, selected.shape[d])] if d == axis else
            windows(selected.shape[d], micro_tile[d], step[d] or micro_tile[d])
            for d in range(selected.ndim)]
    others = tuple(d for d in range(selected.ndim) if d != axis)
    groups = []
    for box in itertools.product(*dims):
        part = selected[tuple(slice(b, e) for b, e in box)]
        groups.append(part.any(axis=others) if part.size else np.zeros(selected.shape[axis], bool))
    return np.array(groups, bool).reshape(len(groups), selected.shape[axis])


class Case:
    """What is built, and what must come out."""

    def __init__(self, shape, axis, micro_tile, step=None, **options):
        self.shape, self.axis = list(shape), axis
        self.micro_tile, self.step = list(micro_tile), list(step or [0] * len(shape))
        self.options = options
        self.background = None
        self.status = 0
        self.routing = None

    def describe(self):
        return (f"source {self.source}, shape {self.shape}, axis {self.axis}, micro_tile "
                f"{self.micro_tile}, step {self.step}, {self.options}, {self.note}")

    def spec(self):
        return rt.make_spec(self.shape, self.axis, self.micro_tile, self.step, **self.options)

    def values(self, rng, kind, background, layout="rows", live_fraction=None):
        dtype, code, mantissa = TYPES[kind]
        bits = np.dtype(dtype).itemsize * 8
        if live_fraction is None:
            live_fraction = rng.choice([0, 0.01, 0.1, 0.5, 1])
        zero, minus_zero = dtype(0), np.array(1 << (bits - 1), np.uint64).astype(dtype)
        unit = np.array(((1 << (bits - 1)) - 1 & ~((1 << mantissa) - 1)) >> 1, np.uint64).astype(dtype)
        nan = np.array((1 << (bits - 1)) - 1, np.uint64).astype(dtype)
        b = {"zero": zero, "minus zero": minus_zero, "one": unit if mantissa else dtype(1),
             "nan": nan}[background]
        x = np.full(self.shape, b)
        if mantissa and background in ("zero", "minus zero"):
            x[rng.random(self.shape) < 0.5] = minus_zero
        loud = rng.random(self.shape) < live_fraction
        noise = np.frombuffer(rng.bytes(max(1, x.size) * x.itemsize), dtype)[:x.size].reshape(x.shape)
        x[loud] = noise[loud]
        if mantissa:
            x[loud & (rng.random(self.shape) < 0.1)] = nan
        x = lay_out(rng, x, layout)
        self.source, self.note = rt.VALUES, f"{kind}, background {background}, {layout}, {live_fraction}"
        self.data = rt.Data(x, code)
        self.background = None if background == "zero" else b
        self.selected = differs(x, b, mantissa)
        return self

    def mask(self, rng, layout="rows"):
        x = lay_out(rng, (rng.random(self.shape) < rng.choice([0.01, 0.5])).astype(np.uint8) *
                    rng.integers(1, 256, self.shape, np.uint8), layout)
        self.source, self.note = rt.MASK, layout
        self.data, self.selected = rt.Data(x, 6), x != 0
        return self

    def mask_bits(self, rng, layout="rows"):
        n = self.shape[-1]
        packed = rng.integers(0, 256, self.shape[:-1] + [-(-n // 8)], np.uint8)
        packed &= rng.integers(0, 256, packed.shape, np.uint8)
        x = lay_out(rng, packed, layout)
        self.source, self.note = rt.MASK_BITS, layout
        bits = np.unpackbits(x, axis=-1, bitorder="little") if x.size else np.zeros(self.shape, np.uint8)
        self.data, self.selected = rt.Data(x, 1), bits[..., :n].reshape(self.shape) != 0
        return self

    def lengths(self, rng, wide, layout="rows", bad=False):
        r = int(rng.integers(0, len(self.shape)))
        dtype = np.int64 if wide else np.int32
        x = np.asarray(rng.integers(0, self.shape[r] + 1, tuple(self.shape[:r]))).astype(dtype)
        if bad and x.size:
            x.reshape(-1)[rng.integers(x.size)] = self.shape[r] + 1
            self.status = rt.INVALID_ARGUMENT
        x = lay_out(rng, np.array(x), layout)
        self.source, self.note = rt.LENGTHS, f"r {r}, {dtype.__name__}, {layout}, bad {bad}"
        self.data = rt.Data(x, 0)
        coord = np.arange(self.shape[r]).reshape([-1] + [1] * (len(self.shape) - r - 1))
        self.selected = np.broadcast_to(coord < x.reshape(list(x.shape) + [1] * (len(self.shape) - r)),
                                        self.shape)
        return self

    def route(self, rng, slots, wide, layout="rows", bad=False):
        tokens, experts = self.shape
        x = rng.integers(-1, experts, (tokens, slots)).astype(np.int64 if wide else np.int32)
        if bad and x.size:
            x.reshape(-1)[rng.integers(x.size)] = experts if rng.random() < 0.5 else -2
            self.status = rt.INVALID_ARGUMENT
        x = lay_out(rng, x, layout)
        self.source, self.note = rt.ROUTING, f"{slots} slots, wide {wide}, {layout}, bad {bad}"
        self.data, self.routing = rt.Data(x, 0), x
        self.selected = np.zeros(self.shape, bool)
        t, s = np.nonzero((x >= 0) & (x < experts))
        self.selected[t, x[t, s]] = True
        return self

    def blocks(self, rng, count, wide, layout="rows", bad=False):
        dims = [1 if d == self.axis else len(windows(self.shape[d], self.micro_tile[d],
                                                     self.step[d] or self.micro_tile[d]))
                for d in range(len(self.shape))]
        groups, extent = int(np.prod(dims)), self.shape[self.axis]
        if groups * extent == 0:
            count = 0
        pairs = np.stack([rng.integers(0, max(1, groups), count), rng.integers(0, max(1, extent), count)],
                         axis=1).astype(np.int64 if wide else np.int32)
        if bad and count:
            pairs[rng.integers(count), rng.integers(2)] = rng.choice([-1, 1 << 30])
            self.status = rt.INVALID_ARGUMENT
        x = lay_out(rng, pairs.reshape(count, 2), layout)
        self.source, self.note = rt.BLOCKS, f"{count}, wide {wide}, {layout}, bad {bad}"
        self.data, self.selected = rt.Data(x, 0), None
        self.live = np.zeros((groups, extent), bool)
        ok = (x[:, 0] >= 0) & (x[:, 0] < groups) & (x[:, 1] >= 0) & (x[:, 1] < extent)
        self.live[x[ok, 0], x[ok, 1]] = True
        return self

    def first_slots(self, groups, ids):
        """The first slots that make (group, id) live."""
        other = 1 - self.axis
        bounds = np.array(windows(self.shape[other], self.micro_tile[other],
                                  self.step[other] or self.micro_tile[other])).reshape(-1, 2)
        begin, end = bounds[groups, 0], bounds[groups, 1]
        token, low, high = (ids, begin, end) if self.axis == 0 else (begin, ids, ids + 1)
        rows = self.routing[token]
        return ((rows >= low[:, None]) & (rows < high[:, None])).argmax(axis=1)

    def check(self, builder):
        if builder.runtime.host and (self.status or self.options.get("capacity")):
            return  # the CPU's builders refuse these, which has tests of its own
        mirror = builder.build(self.spec(), self.source, self.data, self.background)
        self.check_result(builder, mirror)
        if builder.other and mirror.groups * mirror.shape[mirror.axis] < 1 << 22:
            self.check_transpose(builder, mirror)

    @staticmethod
    def check_transpose(builder, mirror):
        """That of the index that was built: its ids by numpy's stable sort."""
        other = builder.other
        transpose = other.transpose(mirror)
        copy, arrays = builder.result(mirror)
        lists, of = other.result(transpose)
        begins = np.repeat(arrays["offsets"], arrays["counts"])
        firsts = np.repeat(np.cumsum(arrays["counts"]) - arrays["counts"], arrays["counts"])
        positions = begins + np.arange(len(begins)) - firsts
        ids = arrays["ids"][positions]
        order = np.argsort(ids, kind="stable")
        extent = mirror.shape[mirror.axis]
        counts = np.bincount(ids, minlength=extent)
        offsets = (np.cumsum(counts) - counts if builder.runtime.host
                   else np.arange(extent) * mirror.groups)
        expect(transpose.rank == 2 and transpose.axis == 1 and lists.groups == extent and
               transpose.shape[0] == extent and transpose.shape[1] == mirror.extent,
               "the transpose is not of that shape")
        same("counts of the transpose", of["counts"], counts)
        same("offsets of the transpose", of["offsets"], offsets)
        at = np.repeat(offsets - (np.cumsum(counts) - counts), counts) + np.arange(len(ids))
        same("ids of the transpose", of["ids"][at.astype(np.int64)], positions[order])
        expect(lists.total == copy.total, f"total {lists.total}, not {copy.total}")
        expect(lists.max_count == counts.max(initial=0), f"max_count {lists.max_count}")
        end = int((offsets + counts).max(initial=0)) if builder.runtime.host else (
            int(offsets[-1] + counts[-1]) if extent else 0)
        expect(lists.extent == end, f"extent {lists.extent}, not {end}")
        expect(end <= transpose.extent and lists.max_count <= transpose.max_count and
               lists.total <= transpose.total, "a bound is too small")

    def check_result(self, builder, mirror):
        copy, arrays = builder.result(mirror)
        live = self.live if self.selected is None else live_tiles(self.selected, self.axis,
                                                                  self.micro_tile, self.step)
        groups, extent = live.shape
        counts = live.sum(axis=1)
        host = builder.runtime.host
        dense = bool(mirror.flags & rt.DENSE) or host
        expect(dense or not self.options.get("flags", 0) & rt.DENSE, "dense was asked for")
        expect(host or mirror.flags & rt.DEVICE, "no device flag")
        expect(mirror.groups == groups == copy.groups, f"{mirror.groups} groups, not {groups}")
        offsets = np.cumsum(counts) - counts if dense else np.arange(groups) * extent
        offsets = np.minimum(offsets, mirror.capacity)
        kept = np.minimum(counts, mirror.capacity - offsets)
        total = int(kept.sum())
        end = int((offsets + kept).max()) if groups else 0
        same("counts", arrays["counts"], kept)
        same("offsets", arrays["offsets"], offsets)
        where, ids = np.nonzero(live)
        rank = np.arange(len(ids)) - np.repeat(np.cumsum(counts) - counts, counts)
        fits = rank < kept[where]
        at = (offsets[where] + rank)[fits]
        same("ids", arrays["ids"][at], ids[fits])
        expect(copy.total == total, f"total {copy.total}, not {total}")
        expect(copy.extent == end, f"extent {copy.extent}, not {end}")
        expect(copy.max_count == (kept.max() if groups else 0), f"max_count {copy.max_count}")
        status = rt.CAPACITY if total < counts.sum() else self.status
        expect(copy.status == status, f"status {copy.status}, not {status}")
        expect(end <= mirror.extent and total <= mirror.total and copy.max_count <= mirror.max_count,
               "a bound is too small")
        expect(mirror.capacity <= max(self.options.get("capacity", 0) or groups * extent, 0),
               "too large a capacity")
        if self.source == rt.ROUTING:
            has = self.axis == 0 or self.micro_tile[0] == 1
            expect((arrays["origin"] is not None) == has or copy.capacity == 0, "origin")
            if has and len(at):
                same("origin", arrays["origin"][at], self.first_slots(where[fits], ids[fits]))
        size = self.options.get("chunk_size", 0)
        expect(copy.num_chunks <= mirror.num_chunks, "num_chunks")
        if size:
            wanted = [(g, min(size, n - i), o + i) for g, (n, o) in enumerate(zip(kept, offsets))
                      for i in range(0, n, size)]
            expect(copy.num_chunks == len(wanted), f"{copy.num_chunks} chunks, not {len(wanted)}")
            # A list of no chunks may lie nowhere.
            got = np.zeros((0, 2), np.int64) if not wanted else arrays["chunks"].reshape(-1, 2)
            same("chunks", np.stack([got[:, 0] & 0xFFFFFFFF, got[:, 0] >> 32, got[:, 1]], 1),
                 np.array(wanted, np.int64).reshape(-1, 3))


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def same(what, got, wanted):
    if not np.array_equal(got, wanted):
        at = np.nonzero(np.asarray(got != wanted).reshape(len(wanted), -1).any(axis=1))[0]
        raise AssertionError(f"{what}: {len(at)} of {len(wanted)} differ, the first at {at[0]}: "
                             f"{got[at[0]]}, not {wanted[at[0]]}")


def lay_out(rng, x, layout):
    """The same values with other strides."""
    if x.ndim == 0:
        return x
    x = np.ascontiguousarray(x)
    if layout == "rows":
        return x
    if layout == "transposed":
        order = rng.permutation(x.ndim)
        return np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))
    wide = np.zeros([2 * n + 1 for n in x.shape], x.dtype)
    view = wide[tuple(slice(1, 2 * n + 1, 2) for n in x.shape)]
    if layout == "backwards":
        view = view[tuple(slice(None, None, -1) for _ in x.shape)]
    elif layout == "padded":
        wide = np.zeros([n + 3 for n in x.shape], x.dtype)
        view = wide[tuple(slice(1, n + 1) for n in x.shape)]
    view[...] = x
    return view


LAYOUTS = ["rows", "rows", "transposed", "strided", "backwards", "padded"]


def random_case(rng):
    rank = int(rng.integers(1, 6))
    while True:
        shape = [int(rng.choice([0, 1, 2, 3, 5, 8, 16, 17, 31, 32, 33, 64, 65, 100, 256, 300],
                                p=[0.01] + [0.99 / 15] * 15)) for _ in range(rank)]
        if np.prod([max(1, n) for n in shape]) <= 100000:
            break
    axis = int(rng.integers(rank))
    micro_tile, step = [0] * rank, [0] * rank
    for d in range(rank):
        if d != axis and rng.random() < 0.8:
            micro_tile[d] = int(rng.choice([1, 2, 3, 4, 8, 16, 32, 33, 64]))
            if rng.random() < 0.3:
                step[d] = int(rng.integers(1, micro_tile[d] + 4))
    return with_source(rng, shape, axis, micro_tile, step)


def with_source(rng, shape, axis, micro_tile, step):
    options = {"flags": int(rng.choice([0, 0, rt.UNORDERED, rt.DENSE]))}
    if rng.random() < 0.2:
        options["chunk_size"] = int(rng.choice([1, 7, 64, 1000]))
    if rng.random() < 0.1:
        options["capacity"] = int(rng.integers(1, 200))
    case = Case(shape, axis, micro_tile, step, **options)
    layout = str(rng.choice(LAYOUTS))
    wide, bad = bool(rng.random() < 0.5), bool(rng.random() < 0.1)
    source = int(rng.choice([rt.VALUES] * 4 + [rt.MASK, rt.MASK_BITS, rt.LENGTHS, rt.BLOCKS]))
    if source == rt.MASK:
        return case.mask(rng, layout)
    if source == rt.MASK_BITS:
        return case.mask_bits(rng, layout)
    if source == rt.LENGTHS:
        return case.lengths(rng, wide, layout, bad and 0 not in shape)
    if source == rt.BLOCKS:
        return case.blocks(rng, int(rng.choice([0, 1, 100, 5000])), wide, layout, bad)
    return case.values(rng, str(rng.choice(list(TYPES))),
                       str(rng.choice(["zero", "zero", "minus zero", "one", "nan"])), layout)


def matrix_case(rng):
    """Rows of 16 bytes: what has kernels of its own."""
    kind = str(rng.choice(list(TYPES)))
    size = np.dtype(TYPES[kind][0]).itemsize
    shape = [int(rng.choice([1, 5, 32, 100, 257, 300])), int(rng.choice([1, 2, 3, 31, 32, 33, 64, 70, 130])) * (16 // size)]
    batch = [int(rng.choice([2, 3]))] if rng.random() < 0.3 else []
    axis = int(rng.integers(2))
    micro_tile, step = [0, 0], [0, 0]
    if axis == 1:
        micro_tile[0] = int(rng.choice([0, 1, 4, 16, 31, 32, 64, 128]))
        if micro_tile[0] and rng.random() < 0.3:
            step[0] = int(rng.integers(1, 2 * micro_tile[0] + 1))
    else:
        micro_tile[1] = int(rng.choice([0, 1, 2, 4, 8, 16, 32, 3, 34, 64])) * (16 // size)
        if micro_tile[1] and rng.random() < 0.3:
            step[1] = int(rng.integers(1, 70)) * (16 // size)
    case = Case(batch + shape, axis + len(batch), [1] * len(batch) + micro_tile, [0] * len(batch) + step,
                flags=int(rng.choice([0, 0, 0, rt.DENSE])))
    return case.values(rng, kind, str(rng.choice(["zero", "zero", "one", "nan"])),
                       "padded" if rng.random() < 0.05 else "rows")


def bits_case(rng):
    """Packed bits of rows of whole words, of many groups: listed by the kernel that reads them."""
    rows = int(rng.choice([1, 2, 4, 32]))
    shape = [rows * int(rng.integers(62, 70)) + int(rng.integers(0, 3)),
             32 * int(rng.choice([3, 4, 12, 33, 128, 300, 1100]))]
    step = int(rng.integers(1, 2 * rows)) if rng.random() < 0.3 else 0
    case = Case(shape, 1, [rows, 0], [step, 0], flags=int(rng.choice([0, 0, rt.DENSE])))
    return case.mask_bits(rng, "padded" if rng.random() < 0.1 else "rows")


def routing_case(rng):
    shape = [int(rng.choice([1, 31, 128, 129, 500, 2000])), int(rng.choice([1, 8, 64, 256, 1500]))]
    axis = int(rng.choice([0, 0, 0, 1]))
    size = 1 if rng.random() < 0.6 else int(rng.choice([0, 2, 8]))
    options = {"flags": int(rng.choice([0, rt.DENSE]))}
    if rng.random() < 0.3:
        options["chunk_size"] = int(rng.choice([16, 128]))
    if rng.random() < 0.1:
        options["capacity"] = int(rng.integers(1, 400))
    micro_tile = [1, size] if axis == 0 else [size, 1]
    step = [0, 0]
    if size > 1 and rng.random() < 0.3:
        step[1 - axis] = int(rng.integers(1, size + 2))
    return Case(shape, axis, micro_tile, step, **options).route(
        rng, int(rng.choice([0, 1, 2, 8])), bool(rng.random() < 0.5),
        str(rng.choice(["rows", "rows", "transposed", "backwards"])), bool(rng.random() < 0.1))


def large_cases(rng):
    n = 2048
    for rows in (16, 32, 64, 128):
        yield Case([n, n], 1, [rows, 0]).values(rng, "f16", "zero", live_fraction=1 / (4 * rows))
    # Few and high, so that several blocks share them.
    for rows, type_ in ((0, "f16"), (0, "f32"), (0, "i8"), (1000, "bf16"), (512, "f16")):
        yield Case([n + 5, n], 1, [rows, 0]).values(rng, type_, "zero", live_fraction=1 / (2 * n))
    for columns in (32, 64, 128, 8, 96):
        yield Case([n, n], 0, [0, columns]).values(rng, "f16", "zero", live_fraction=1 / (4 * columns))
    yield Case([4 * n, n], 0, [0, 0]).values(rng, "bf16", "zero", live_fraction=1 / n)
    yield Case([n, n], 1, [32, 0], flags=rt.DENSE, chunk_size=64).values(rng, "f32", "zero", live_fraction=0.01)
    yield Case([n, n], 1, [1, 0]).values(rng, "i8", "zero", live_fraction=0.1)
    yield Case([300000], 0, [0]).mask(rng)
    yield Case([n, 999], 0, [0, 0]).values(rng, "f16", "zero", live_fraction=1 / n)
    for flags in (0, rt.DENSE):
        yield Case([16384, 256], 0, [0, 1], flags=flags).route(rng, 8, flags == 0)
    yield Case([64, 512, 64], 1, [1, 0, 0]).lengths(rng, False)


def check_graph(runtime, rng):
    """A captured build sees new values at each replay."""
    driver = runtime.driver
    builder = rt.Builder(runtime)
    case = Case([512, 512], 1, [32, 0]).values(rng, "f16", "zero", live_fraction=0.01)
    dense = Case([1000, 64], 0, [0, 1], flags=rt.DENSE).route(rng, 4, False)
    other = rt.Builder(runtime)
    stream = driver.stream()
    builder.set_stream(stream), other.set_stream(stream)
    case.check(builder), dense.check(other)
    mirrors = []

    def build(*pairs):
        mirrors[:] = [b.build(c.spec(), c.source, c.data) for b, c in pairs]

    replay = driver.capture(stream, lambda: build((builder, case), (other, dense)))
    mirror, other_mirror = mirrors
    for _ in range(20):
        fresh = Case([512, 512], 1, [32, 0]).values(rng, "f16", "zero", live_fraction=0.02)
        case.data.take(fresh.data)
        case.selected = fresh.selected
        replay()
        case.check_result(builder, mirror)
        dense.check_result(other, other_mirror)
    # A builder whose first build is captured.
    first = rt.Builder(runtime)
    first.set_stream(stream)
    replay = driver.capture(stream, lambda: build((first, case)))
    for _ in range(3):
        replay()
        case.check_result(first, mirrors[0])


def check_streams(runtime, rng, rounds):
    """Builds on several streams at once do not disturb each other."""
    streams = [runtime.driver.stream() for _ in range(3)]
    builders = [rt.Builder(runtime) for _ in streams]
    for builder, stream in zip(builders, streams):
        builder.set_stream(stream)
    cases = [Case([1024, 1024], 1, [32, 0]).values(rng, "f16", "zero", live_fraction=0.01),
             Case([1024, 1024], 0, [0, 64]).values(rng, "f16", "zero", live_fraction=0.01),
             Case([4096, 64], 0, [0, 1], flags=rt.DENSE).route(rng, 2, False)]
    for _ in range(rounds):
        mirrors = [None] * 3
        for _ in range(rounds):
            for i, case in enumerate(cases):
                mirrors[i] = builders[i].build(case.spec(), case.source, case.data)
        for i, case in enumerate(cases):
            case.check_result(builders[i], mirrors[i])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--artifacts")
    parser.add_argument("--cases", type=int, default=400, help="random cases of each kind")
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--small", action="store_true", help="without what is slow to emulate")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    print(f"index_check: seed {args.seed}", flush=True)
    runtime = rt.Runtime(rt.library_of(args), args.host)
    builder = rt.Builder(runtime)
    builder.other = rt.Builder(runtime)
    rng = np.random.default_rng(args.seed)
    failed = checked = 0

    def run(name, make, check):
        nonlocal failed, checked
        checked += 1
        text = name
        try:
            case = make()
            text = f"{name}: {case.describe()}" if case else name
            check(case)
        except (AssertionError, RuntimeError) as error:
            failed += 1
            print(f"FAILED {text}\n  {error}", flush=True)
            if "error 7" in str(error) or failed > 20:
                sys.exit("index_check: gave up")

    kinds = (("matrix", matrix_case), ("bits", bits_case), ("routing", routing_case),
             ("any", random_case))
    for name, make in kinds:
        start = time.time()
        for _ in range(args.cases):
            run(name, lambda: make(rng), lambda case: case.check(builder))
        print(f"{name}: {args.cases} cases, {time.time() - start:.1f} s", flush=True)
    for case in () if args.small else large_cases(rng):
        run("large", lambda: case, lambda case: case.check(builder))
    if not args.host:
        run("graph", lambda: None, lambda _: check_graph(runtime, rng))
        run("streams", lambda: None, lambda _: check_streams(runtime, rng, 3 if args.small else 25))
    print(f"index_check: {checked - failed} of {checked} passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
