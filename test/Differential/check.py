"""Checks one case: draws it, compiles it, runs it, compares."""

import copy
import os
import sys
import traceback
from pathlib import Path

import numpy as np

from draw import EAGER, Draw
from program import IndexType, ScalarType

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402

GUARD = 256  # bytes of canary before and after a result
CANARY = 0xA5
# What the compiler says if it is the program's rule that it cannot carry out.
REFUSED = "error: the rule cannot be carried out: "


class Mismatch(Exception):
    pass


def guarded(shape, dtype, offset):
    """A result buffer full of poison between two canaries, at an address that
    is aligned to the element and, by `offset`, to nothing more."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype.storage).itemsize
    whole = -(-(size + 2 * GUARD + offset) // 4) * 4  # 32-bit words, to compare
    memory = np.full(whole, CANARY, dtype=np.uint8)
    result = memory[GUARD + offset: GUARD + offset + size].view(dtype.storage).reshape(shape)
    result[...] = dtype.poison()
    return memory, result


def untouched(memory, size, offset):
    before, after = memory[: GUARD + offset], memory[GUARD + offset + size:]
    return bool(np.all(before == CANARY) and np.all(after == CANARY))


def compare(number, dtype, want, stored):
    """Raises Mismatch unless a result is what numpy says, within the bound."""
    with np.errstate(all="ignore"):
        got = dtype.load(stored)
        tolerance = np.broadcast_to(np.nan_to_num(np.asarray(want.e, dtype=np.float64), posinf=0.0), want.v.shape)
        if dtype.is_float:
            # The result is rounded to its type; what overflows it is infinite.
            rounded = dtype.unit * np.abs(want.v) + dtype.floor
            tolerance = tolerance + np.where(tolerance > 0, rounded, 0.0)
            want_v = dtype.load(dtype.store(want.v)) if not np.any(want.e) else want.v
        else:
            want_v = want.v
        same = (got == want_v) | (np.isnan(got) & np.isnan(want_v))
        close = np.isfinite(want_v) & (np.abs(got - want_v) <= tolerance)
        # A value may be off by so much that its type has no room for it.
        furthest = want.v + np.copysign(tolerance, want.v)
        overflows = np.isinf(got) & (got == dtype.load(dtype.store(furthest))) if dtype.is_float else False
        wrong = ~(same | close | overflows)
    if not np.any(wrong):
        return
    where = np.argwhere(wrong)
    at = tuple(int(i) for i in where[0])
    raise Mismatch(
        f"result {number} {want.v.shape} x {dtype.mlir}: {len(where)} of {wrong.size} wrong; "
        f"at {list(at)} got {got[at]!r}, want {want_v[at]!r} +- {tolerance[at]:.3g}")


def as_typed(array, dtype):
    """An array as the type that its storage stands for, where numpy has none."""
    return pit.view(array, dtype.mlir) if dtype.viewed else array


class Host:
    """Where the arrays of a call lie: in numpy's memory. test/GPU has the same
    for a GPU's."""

    def __init__(self, threads=0):
        self.context = pit.Context(threads=threads)

    def upload(self, array):
        """A copy of an array."""
        return array.copy()

    def download(self, array):
        return array

    def write(self, array, source):
        """Copies an array into an uploaded one."""
        array[...] = source

    def part(self, buffer, offset, dtype, shape):
        """An array in the bytes of an uploaded one."""
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        return buffer[offset: offset + size].view(dtype).reshape(shape)

    def synchronize(self):
        pass


def place(memory, array, offset):
    """An array uploaded to an address that is off by so many elements."""
    if not offset:
        return memory.upload(array)
    before = np.full(offset * array.itemsize, CANARY, dtype=np.uint8)
    bytes_ = np.frombuffer(array.tobytes(), dtype=np.uint8)
    buffer = memory.upload(np.concatenate([before, bytes_]))
    return memory.part(buffer, len(before), array.dtype, array.shape)


class ImportedIndex:
    """An index argument, from lists that numpy made."""

    def __init__(self, type_, live, memory, gaps):
        self.type = type_
        counts, offsets, ids = type_.lists(live, gaps)
        lists = (counts.astype(np.int32), offsets, ids.astype(np.int32))
        self.index = pit.import_index([d.size for d in type_.dims], type_.micro_tile, type_.axis,
                                      *map(memory.upload, lists), context=memory.context)

    def prepare(self, stream):
        pass


class BuiltIndex:
    """An index argument, built from a mask before each call."""

    def __init__(self, type_, live, memory):
        self.type, self.memory = type_, memory
        shape = [d.size for d in type_.dims]
        self.mask = memory.upload(self.elements(live))
        self.index = pit.build_index(self.mask, type_.micro_tile, type_.axis, source="mask",
                                     shape=shape, context=memory.context)
        memory.synchronize()

    def elements(self, live):
        return np.ascontiguousarray(self.type.selected(live))

    def write(self, live):
        self.memory.write(self.mask, self.elements(live))

    def prepare(self, stream):
        self.index.rebuild(self.mask, stream=stream)


class Bound:
    """An entry with arguments and poisoned results in some memory, and what it
    has to compute."""

    def __init__(self, draw, program, entry, memory, run=0, build_indices=False):
        self.draw, self.program, self.entry, self.memory = draw, program, entry, memory
        self.run = run
        self.stored = program.draw_data()
        self.wanted = program.expected()
        self.placed, self.ins, self.indices = [], [], []
        for argument, array in zip(program.args, self.stored):
            type_ = argument.type
            if isinstance(type_, IndexType):
                placed = (BuiltIndex(type_, array, memory) if build_indices
                          else ImportedIndex(type_, array, memory, gaps=3 * run))
                self.ins.append(placed.index)
                self.indices.append(placed)
            elif isinstance(type_, ScalarType):
                placed = array
                self.ins.append(array.item())
            else:
                placed = place(memory, array, draw.argument_offset(argument.name))
                self.ins.append(as_typed(placed, type_.dtype))
            self.placed.append(placed)
        self.make_results()

    def make_results(self):
        self.buffers, self.outs = [], []
        for dtype, want in self.wanted:
            offset = self.draw.result_offset() * np.dtype(dtype.storage).itemsize
            poison, result = guarded(want.v.shape, dtype, offset)
            buffer, size = self.memory.upload(poison), result.nbytes
            result = self.memory.part(buffer, GUARD + offset, dtype.storage, want.v.shape)
            self.buffers.append((buffer, offset, size, poison))
            self.outs.append(as_typed(result, dtype))

    def twin(self):
        """The same arguments, with results of its own."""
        other = copy.copy(self)
        other.make_results()
        return other

    def refill(self):
        """Other data of the same sizes, in the same memory. Indices have to be
        built."""
        self.draw.cache = {}
        self.stored = self.program.draw_data()
        self.wanted = self.program.expected()
        for argument, placed, array in zip(self.program.args, self.placed, self.stored):
            if isinstance(placed, BuiltIndex):
                placed.write(array)
            elif not isinstance(argument.type, ScalarType):
                self.memory.write(placed, array)
        self.poison()

    def poison(self):
        for buffer, _, _, poison in self.buffers:
            self.memory.write(buffer, poison)

    def launch(self, stream=None):
        for index in self.indices:
            index.prepare(stream)
        self.entry(*self.ins, out=self.outs, context=self.memory.context, stream=stream)

    def describe(self):
        shapes = [tuple(d.size for d in a.type.dims) for a in self.program.args]
        return f"run {self.run} on {shapes}, {self.memory.context}"

    def results(self):
        """The results' bytes, after a look at what lies around them."""
        found = []
        for i, (buffer, offset, size, _) in enumerate(self.buffers):
            bytes_ = self.memory.download(buffer)
            if not untouched(bytes_, size, offset):
                raise Mismatch(f"result {i}: written outside of its memory")
            found.append(bytes_[GUARD + offset: GUARD + offset + size])
        return found

    def verify(self):
        """Raises Mismatch unless all is as it must be."""
        try:
            for i, ((dtype, want), bytes_) in enumerate(zip(self.wanted, self.results())):
                compare(i, dtype, want, bytes_.view(dtype.storage).reshape(want.v.shape))
            for i, (argument, placed, array) in enumerate(
                    zip(self.program.args, self.placed, self.stored)):
                if isinstance(argument.type, (IndexType, ScalarType)):
                    continue
                if self.memory.download(placed).tobytes() != array.tobytes():
                    raise Mismatch(f"argument {i} was written to")
        except Mismatch as error:
            raise Mismatch(f"{self.describe()}: {error}") from None


def check_run(draw, program, entry, run, memory, stream=None, build_indices=False):
    """Draws the data of one run, calls the entry, compares."""
    bound = Bound(draw, program, entry, memory, run, build_indices)
    try:
        bound.launch(stream)
        memory.synchronize()
    except pit.Error as error:
        raise Mismatch(f"{bound.describe()}: {error}") from error
    bound.verify()


class Checker:
    def __init__(self, build, pipeline=""):
        self.pipeline = pipeline
        os.environ["PIT_RUNTIME_LIBRARY"] = str(Path(build) / "lib" / "libpit_runtime.so")
        self.compiler = pit.Compiler()
        self.memories = {n: Host(threads=n) for n in (1, 2, 3)}

    def check(self, seed, case, max_dim):
        draw = Draw(seed, case, max_dim)
        program = draw.run()
        text = program.text()
        outcome = {"program": text, "tags": sorted(program.tags)}
        try:
            status, message = self.run(draw, program, text, self.options_of(case))
        except Mismatch as error:
            status, message = "failed", str(error)
        except Exception:
            status, message = "failed", traceback.format_exc()
        return {**outcome, "status": status, "message": message}

    def options_of(self, case):
        """Every other case skips whatever its zeros are. The others choose, half of them
        among the rules alone. LLVM, which takes two thirds of the time to optimize, does that
        to a quarter of each."""
        option = ["", "choice=now", f"tile-table={EAGER}", "choice=now"][case % 4]
        return {"pipeline": f"{self.pipeline} {option}".strip(),
                "opt_level": 0 if case // 4 % 4 else 3}

    def run(self, draw, program, text, options):
        try:
            level3 = self.compiler.artifact(text, emit="mlir", **options)
        except pit.Error as error:
            if REFUSED not in error.message:
                raise Mismatch(f"refused for no fault of its own: {error.message}") from error
            return "refused", error.message
        # What was accepted has to go all the way.
        loaded = self.compiler.compile(text, **options)
        tiled = b"pit.index" in level3 and (b"pit.for" in level3)
        for run in range(draw.runs):
            if run:
                draw.new_run()
            threads = 1 + draw.data.integers(3)
            check_run(draw, program, loaded.f, run, self.memories[int(threads)])
        return ("tiled" if tiled else "dense"), ""
