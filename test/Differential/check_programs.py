"""Checks one program of several ops: draws it (compose_flow.py), or reads it from a file;
compiles it, runs it, compares with what the interpreter says."""

import os
import re
import subprocess
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import dtypes
from check import GUARD, REFUSED, Host, ImportedIndex, Mismatch, as_typed, guarded, untouched
from compose_flow import Compose
from generic_form import element_of, functions, parse
from interpreter import Interpreter
from program import Dim, IndexType
from scalars import Num, Unsupported

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402

DTYPES = {t.mlir: t for t in vars(dtypes).values() if isinstance(t, dtypes.DType)}
SHARED = "awbox"  # arguments that may be the same memory begin so


class Refused(Exception):
    """A rule that was drawn is not legal."""


@dataclass
class Call:
    """The arguments of one call: arrays as they are stored, or (of an index) the live
    micro-tiles with the shape of what is indexed."""

    arrays: list
    shapes: dict = field(default_factory=dict)  # by argument: of an index
    same: dict = field(default_factory=dict)  # arguments that are another one's memory
    threads: int = 1
    given: bool = True  # results are the caller's memory

    def save(self, path):
        extra = {f"shape{i}": np.array(s) for i, s in self.shapes.items()}
        extra |= {f"same{i}": np.array(j) for i, j in self.same.items()}
        np.savez_compressed(path, *self.arrays, threads=self.threads, given=self.given, **extra)

    @staticmethod
    def load(path):
        found = np.load(path)
        arrays = [found[f"arr_{i}"] for i in range(sum(k.startswith("arr_") for k in found))]
        numbered = lambda stem: {int(k[len(stem):]): found[k] for k in found if k.startswith(stem)}
        return Call(arrays, {i: tuple(s) for i, s in numbered("shape").items()},
                    {i: int(j) for i, j in numbered("same").items()},
                    int(found["threads"]), bool(found["given"]))


def index_type(text, shape):
    tile = re.search(r"micro_tile = \[([^\]]*)\]", text)[1].split(", ")
    axis = int(re.search(r"axis = (\d+)", text)[1])
    return IndexType([Dim(True, int(n)) for n in shape], [0 if t == "*" else int(t) for t in tile], axis)


def loaded(array, type_, shape=None):
    """An argument as the interpreter takes it."""
    if type_.startswith("!pit.index"):
        return Num(index_type(type_, shape).selected(array).astype(np.int64))
    values = DTYPES[element_of(type_)].load(array)
    return Num(values if DTYPES[element_of(type_)].is_float else array.astype(np.int64))


def compare(number, type_, want, stored):
    """Raises Mismatch unless a result is what the interpreter says; returns how much of it
    that says anything about."""
    dtype = DTYPES[element_of(type_)]
    if stored.shape != want.v.shape:
        raise Mismatch(f"result {number} has the shape {stored.shape}, not {want.v.shape}")
    e = np.broadcast_to(np.asarray(want.e, dtype=float), want.v.shape)
    got = dtype.load(stored) if dtype.is_float else stored.astype(np.int64)
    with np.errstate(all="ignore"):
        right = got == want.v
        if dtype.is_float:
            tolerance = e + np.where(e > 0, dtype.unit * np.abs(want.v) + dtype.floor, 0.0)
            # 0 times infinity and the like are not computed where they are skipped, and
            # NaN is what comes of them (docs/Semantics.md).
            right |= np.isnan(want.v) | (np.abs(got - want.v) <= tolerance)
        right |= ~np.isfinite(e)
    if not np.all(right):
        where = np.argwhere(~right)
        at = tuple(int(i) for i in where[0])
        raise Mismatch(f"result {number} {want.v.shape} x {dtype.mlir}: {len(where)} of {right.size} wrong; "
                       f"at {list(at)} got {got[at]}, want {want.v[at]} +- {e[at]:.3g}")
    return float(np.mean(np.isfinite(e))) if e.size else 1.0


def printed(build, text, *options):
    done = subprocess.run([build / "bin" / "pit-opt", "-", *options], input=text, capture_output=True,
                          text=True, timeout=60)
    if done.returncode:
        raise Mismatch(f"no program: {done.stderr.strip()}")
    return done.stdout


def generic_form(build, text, *passes):
    return printed(build, text, *passes, "--mlir-print-op-generic")


def interpretable(build, text):
    """The module that the interpreter runs: without named ops."""
    return parse(generic_form(build, text, "--linalg-generalize-named-ops"))


def readable(build, text):
    return printed(build, text, "--mlir-print-local-scope")


class ProgramChecker:
    """`without` are families that are not drawn; `device` has the options of the compiler for
    a GPU, if it is to be one."""

    def __init__(self, build, without=(), device=None):
        os.environ["PIT_RUNTIME_LIBRARY"] = str(Path(build) / "lib" / "libpit_runtime.so")
        self.build = Path(build)
        self.without = without
        self.compiler = pit.Compiler()
        self.device, self.on_gpu = device, device is not None
        if self.on_gpu:
            sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "GPU"))
            from cuda import Cuda

            self.memories = dict.fromkeys((1, 2, 3), Cuda())
        else:
            self.memories = {n: Host(threads=n) for n in (1, 2, 3)}

    def compiled(self, text, options):
        if self.on_gpu:
            options = self.device
        try:
            return self.compiler.compile(text, **options)
        except pit.Error as error:
            if REFUSED in error.message:
                raise Refused(error.message) from None
            raise Mismatch(f"refused: {error.message}") from None

    def check_call(self, program, module, call):
        """Runs f, compares; returns how much was compared, and whether anything was
        indexed."""
        main = functions(module)["f"]
        types = [a.type for a in main.block.args]
        results = [o.type for o in main.block.ops[-1].operands]
        ins = [loaded(a, t, call.shapes.get(i)) for i, (a, t) in enumerate(zip(call.arrays, types))]
        want = Interpreter(module).call("f", ins)
        memory = self.memories[call.threads]
        placed, dtypes_ = [], [DTYPES[element_of(t)] for t in results]
        for i, (array, type_) in enumerate(zip(call.arrays, types)):
            if i in call.same:
                placed.append(placed[call.same[i]])
            elif type_.startswith("!pit.index"):
                placed.append(ImportedIndex(index_type(type_, call.shapes[i]), array, memory, 0).index)
            else:
                placed.append(as_typed(memory.upload(array), DTYPES[element_of(type_)]))
        self.record(memory)
        got, buffers = None, []
        try:
            if not call.given and not self.on_gpu:
                got = self.made(program, placed, memory)
            if got is None:
                for dtype, x in zip(dtypes_, want):
                    poison, result = guarded(x.v.shape, dtype, 0)
                    buffers.append((memory.upload(poison), result.nbytes))
                outs = [memory.part(b, GUARD, d.storage, x.v.shape)
                        for (b, _), d, x in zip(buffers, dtypes_, want)]
                program.f(*placed, out=[as_typed(o, d) for o, d in zip(outs, dtypes_)], context=memory.context)
            memory.synchronize()
        except pit.Error as error:
            raise Mismatch(f"the call failed: {error}") from None
        if got is None:
            found = [memory.download(b) for b, _ in buffers]
            for i, (bytes_, (_, size)) in enumerate(zip(found, buffers)):
                if not untouched(bytes_, size, 0):
                    raise Mismatch(f"result {i}: written outside of its memory")
            got = [bytes_[GUARD: GUARD + size].view(d.storage).reshape(x.v.shape)
                   for bytes_, (_, size), d, x in zip(found, buffers, dtypes_, want)]
        compared = [compare(i, t, x, g) for i, (t, x, g) in enumerate(zip(results, want, got))]
        for i, (array, copy, type_) in enumerate(zip(call.arrays, placed, types)):
            if not type_.startswith("!pit.index") and DTYPES[element_of(type_)].mlir != "bf16" \
                    and memory.download(copy).tobytes() != array.tobytes():
                raise Mismatch(f"argument {i} was written to")
        indexed = not self.on_gpu and bool(memory.context.recorded())
        return float(np.mean(compared)), indexed

    def record(self, memory):
        """From now on, which indices are built."""
        if not self.on_gpu:
            memory.context.record("on")

    @staticmethod
    def made(program, placed, memory):
        """Results that the package makes, if it can tell their shapes."""
        try:
            got = program.f(*placed, context=memory.context)
        except pit.Error as error:
            if "give it with out=" in str(error):
                return None
            raise
        return list(got) if isinstance(got, (list, tuple)) else [got]

    # -- drawn programs ----------------------------------------------------------------

    def check(self, seed, case, max_dim):
        draw = Compose(seed, case, max_dim, self.without)
        outcome = {"program": "", "tags": [], "message": ""}
        try:
            text = draw.run().text()
            outcome.update(program=text, tags=sorted(draw.program.tags), options=draw.options())
            outcome["status"] = self.run(draw, text, outcome)
        except Refused as error:
            outcome.update(status="refused", message=str(error))
        except (Mismatch, Unsupported) as error:
            outcome.update(status="failed", message=str(error))
        except Exception:
            outcome.update(status="failed", message=traceback.format_exc())
        return outcome

    def run(self, draw, text, outcome):
        module = interpretable(self.build, text)
        program = self.compiled(text, outcome["options"])
        tiled, shares = False, []
        for run in range(draw.runs):
            if run:
                draw.new_extents()
            call = drawn_call(draw, run)
            share, indexed = self.check_call(program, module, call)
            shares.append(share)
            tiled |= indexed
        outcome["compared"] = float(np.mean(shares))
        return "tiled" if tiled else "dense"

    # -- files -------------------------------------------------------------------------

    def check_file(self, path, options):
        """A program and the arguments beside it, as the reducer writes them."""
        text = Path(path).read_text()
        try:
            module = interpretable(self.build, text)
            program = self.compiled(text, options)
            self.check_call(program, module, Call.load(str(path) + ".npz"))
        except Refused as error:
            return {"status": "refused", "message": str(error)}
        except (Mismatch, Unsupported) as error:
            return {"status": "failed", "message": str(error)}
        except Exception:
            return {"status": "failed", "message": traceback.format_exc()}
        return {"status": "passed", "message": ""}


def drawn_call(draw, run):
    """The arguments of one run."""
    args = draw.program.args
    arrays = draw.program.draw_data()
    call = Call(arrays)
    for i, argument in enumerate(args):
        if isinstance(argument.type, IndexType):
            call.shapes[i] = tuple(d.size for d in argument.type.dims)
    alike = {}
    for i, argument in enumerate(args):
        if isinstance(argument.type, IndexType) or argument.name[1] not in SHARED:
            continue
        first = alike.setdefault((argument.type.mlir, arrays[i].shape), i)
        if first != i and draw.data.random() < 0.1:
            call.same[i], arrays[i] = first, arrays[first]
    call.threads = 1 + int(draw.data.integers(3))
    narrow = any(r.dtype.mlir == "bf16" for r in draw.program.here.results)
    call.given = bool(narrow or not args or draw.data.random() < 0.7)
    return call
