"""Checks one case: draws it, compiles it, runs it, compares."""

import os
import sys
import traceback
from pathlib import Path

import numpy as np

from draw import Draw
from program import IndexType

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402

GUARD = 256  # bytes of canary before and after a result
CANARY = 0xA5


class Mismatch(Exception):
    pass


def guarded(shape, dtype, offset):
    """A result buffer full of poison between two canaries, at an address that
    is aligned to the element and, by `offset`, to nothing more."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype.storage).itemsize
    memory = np.full(size + 2 * GUARD + offset, CANARY, dtype=np.uint8)
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
        wrong = ~(same | close)
    if not np.any(wrong):
        return
    where = np.argwhere(wrong)
    at = tuple(int(i) for i in where[0])
    raise Mismatch(
        f"result {number} {want.v.shape} x {dtype.mlir}: {len(where)} of {wrong.size} wrong; "
        f"at {list(at)} got {got[at]!r}, want {want_v[at]!r} +- {tolerance[at]:.3g}")


def as_typed(array, dtype):
    """An array as the type that its storage stands for, where numpy has none."""
    return pit.view(array, dtype.mlir) if dtype.mlir == "bf16" else array


class Checker:
    def __init__(self, build):
        os.environ["PIT_RUNTIME_LIBRARY"] = str(Path(build) / "lib" / "libpit_runtime.so")
        self.compiler = pit.Compiler()
        self.contexts = {n: pit.Context(threads=n) for n in (1, 2, 3)}

    def check(self, seed, case, max_dim):
        draw = Draw(seed, case, max_dim)
        program = draw.run()
        text = program.text()
        outcome = {"program": text, "tags": sorted(program.tags)}
        try:
            status, message = self.run(draw, program, text)
        except Mismatch as error:
            status, message = "failed", str(error)
        except Exception:
            status, message = "failed", traceback.format_exc()
        return {**outcome, "status": status, "message": message}

    def run(self, draw, program, text):
        try:
            level3 = self.compiler.artifact(text, emit="mlir")
        except pit.Error as error:
            if "error: the rule cannot be carried out: " not in error.message:
                raise Mismatch(f"refused for no fault of its own: {error.message}") from error
            return "refused", error.message
        # What was accepted has to go all the way.
        loaded = self.compiler.compile(text)
        tiled = b"pit.index" in level3 and (b"pit.for" in level3)
        runs = 2 if any(not d.static for a in program.args for d in a.type.dims) else 1
        for run in range(runs):
            if run:
                draw.new_run()
            self.run_once(draw, program, loaded.f, run)
        return ("tiled" if tiled else "dense"), ""

    @staticmethod
    def operand(context, type_, array, run):
        """What an entry is given for an argument."""
        if not isinstance(type_, IndexType):
            return as_typed(array, type_.dtype)
        counts, offsets, ids = type_.lists(array, gaps=3 * run)
        return pit.import_index(
            [d.size for d in type_.dims], type_.micro_tile, type_.axis, counts.astype(np.int32),
            offsets, ids.astype(np.int32), context=context)

    def run_once(self, draw, program, entry, run):
        stored = program.draw_data()
        wanted = program.expected()
        threads = 1 + draw.data.integers(3)
        context = self.contexts[int(threads)]
        before = [a.copy() for a in stored]
        ins = [self.operand(context, argument.type, a, run)
               for argument, a in zip(program.args, stored)]
        buffers, outs = [], []
        for dtype, want in wanted:
            offset = int(draw.data.integers(4)) * np.dtype(dtype.storage).itemsize
            memory, result = guarded(want.v.shape, dtype, offset)
            buffers.append((memory, result, offset))
            outs.append(as_typed(result, dtype))
        shapes = [tuple(d.size for d in a.type.dims) for a in program.args]
        try:
            entry(*ins, out=outs, context=context)
        except pit.Error as error:
            raise Mismatch(f"run {run} on {shapes}: {error}") from error
        try:
            for i, ((dtype, want), (memory, result, offset)) in enumerate(zip(wanted, buffers)):
                if not untouched(memory, result.nbytes, offset):
                    raise Mismatch(f"result {i}: written outside of its memory")
                compare(i, dtype, want, result)
            for i, (now, then) in enumerate(zip(stored, before)):
                if now.tobytes() != then.tobytes():
                    raise Mismatch(f"argument {i} was written to")
        except Mismatch as error:
            raise Mismatch(f"run {run} on {shapes} with {threads} threads: {error}") from None
