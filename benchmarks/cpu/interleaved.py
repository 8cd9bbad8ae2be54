#!/usr/bin/env python3
"""Times the products of pit-bench's data files, compiled elsewhere or by several versions
of pit, in turns in one process.

interleaved.py compile FOLDER FILE.json...  where pit is built: one program a case
interleaved.py time FOLDER... FILE.json...  on any machine with numpy and pit's runtime library

Each folder is a contender, and with --torch PyTorch's dense product is one. Every run has
another pattern than the one before, index and packing are counted, and sampled elements of
each result are compared with sums of float64 first. The table has medians of the thread's
time on the processor (with several threads: of the clock's), and of how much faster each
contender is than the first one.
"""

import argparse
import itertools
import json
import re
import statistics
import string
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16,
          "i8": np.int8, "i32": np.int32}
SAMPLES = 2000  # elements of a result that are checked

# --------------------------------------------------------------------------
# Cases
# --------------------------------------------------------------------------


class Case:
    """A case of a data file with one of its sets, as pit-bench reads it."""

    def __init__(self, folder, entry, values):
        sparse = entry.get("sparse", {})
        values = {**entry["set"], **values}
        if sparse:
            first = sparse["axis"] == ("k" if sparse["operand"] == "B" else "m")
            block = str(sparse.get("block", "*"))
            values = {"axis": int(not first), "micro": f"1x{block}" if first else f"{block}x1",
                      "tile": f"1, {block}" if first else f"{block}, 1", **values}
        self.values = values
        self.name = self.fill(entry["name"])
        self.program = self.fill((folder / entry["program"]).read_text())
        self.options = [f"--pipeline={entry['pipeline']}"] if "pipeline" in entry else []
        self.sparsity = entry.get("sparsity", [0])
        self.args = entry["args"]

    def fill(self, text, **more):
        return string.Template(text).substitute(self.values | more)

    @property
    def file(self):
        return re.sub(r"[^\w.]+", "-", self.name) + ".so"

    def arguments(self, sparsity, seed):
        """Arrays for a pattern of zeros."""
        return [draw(self.fill(arg, S=sparsity, seed=seed)) for arg in self.args]


def cases_of(options):
    given = dict(each.split("=", 1) for each in options.set)
    for file in map(Path, options.files):
        for entry in json.loads(file.read_text()):
            for values in entry.get("each", [{}]):
                if entry["kind"] != "matmul":
                    continue
                case = Case(file.parent, entry, values | given)
                if re.search(options.only, case.name):
                    yield case


def draw(spec):
    """An array of pit-run's `random(SHAPE,DTYPE,...)`."""
    found = re.fullmatch(r"random\((\w+),(\w+)((?:,\w+=[^,)]+)*)\)", spec)
    if not found:
        sys.exit(f"interleaved.py: '{spec}' is not random(SHAPE,DTYPE,...)")
    shape = tuple(map(int, found[1].split("x")))
    options = dict(each.split("=") for each in found[3].split(",")[1:])
    random = np.random.default_rng(int(options.get("seed", 0)))
    if found[2] == "i8":
        low, high = int(options.get("low", -100)), int(options.get("high", 100))
        array = random.integers(low, high + 1, shape, np.int8)
    else:
        low, high = float(options.get("low", -1)), float(options.get("high", 1))
        array = random.random(shape, np.float32) * np.float32(high - low) + np.float32(low)
    if "micro" in options:
        micro = [n if m == "*" else int(m) for m, n in zip(options["micro"].split("x"), shape)]
        alive = random.random([-(-n // m) for m, n in zip(micro, shape)])
        alive = alive >= float(options["sparsity"])
        for axis, m in enumerate(micro):
            alive = alive.repeat(m, axis)
        array *= alive[tuple(map(slice, shape))]
    if found[2] == "bf16":
        return (array.view(np.uint32) >> 16).astype(np.uint16)
    return array.astype(DTYPES[found[2]])


def as_numbers(array):
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


# --------------------------------------------------------------------------
# Contenders
# --------------------------------------------------------------------------


class PitContender:
    def __init__(self, folder, case, context):
        self.name = str(folder)
        self.run_entry = pit.load(Path(folder) / case.file).f
        self.context = context

    def prepare(self, args):
        return [pit.view(a, "bf16") if a.dtype == np.uint16 else a for a in args]

    def run(self, args, out):
        self.run_entry(*args, out=[out], context=self.context)


class TorchContender:
    name = "torch"

    def __init__(self, threads):
        import torch
        torch.set_num_threads(threads)
        self.torch = torch

    def prepare(self, args):
        torch = self.torch
        made = [torch.from_numpy(a.view(np.int16)).view(torch.bfloat16) if a.dtype == np.uint16
                else torch.from_numpy(a) for a in args[:2]]
        shape = (*made[0].shape[:-1], made[1].shape[-1])
        return [*made, torch.empty(shape, dtype=made[0].dtype)]

    def run(self, args, out):
        a, b, c = args
        (self.torch.mm if a.dim() == 2 else self.torch.bmm)(a, b, out=c)


def check(case, args, out, name):
    """Compares elements of a result with sums of float64."""
    random = np.random.default_rng(7)
    at = tuple(random.integers(0, n, SAMPLES) for n in out.shape)
    a, b = as_numbers(args[0][at[:-1]]), as_numbers(np.moveaxis(args[1], -1, -2)[(*at[:-2], at[-1])])
    wanted, size = (a * b).sum(-1), (np.abs(a) * np.abs(b)).sum(-1)
    if len(args) > 2:
        wanted *= args[2][at] != 0
    worst = np.max(np.abs(out[at] - wanted) / np.maximum(size, 1e-30))
    bound = 0 if out.dtype == np.int32 else 8 * np.finfo(out.dtype).eps
    if not worst <= bound:
        sys.exit(f"interleaved.py: {case.name}: {name} is wrong: by {worst:.2g} of the sum of all products' sizes, "
                 f"{bound:.2g} is allowed")


# --------------------------------------------------------------------------
# Commands
# --------------------------------------------------------------------------


def compile_cases(options):
    folder = Path(options.folders[0])
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases_of(options):
        source = folder / (case.file[:-3] + ".mlir")
        source.write_text(case.program)
        command = [options.pit_compile, source, "--emit=so", "-o", folder / case.file, *case.options]
        subprocess.run([*command, *options.option], check=True)
        print(case.name, flush=True)


def time_case(case, sparsity, contenders, options):
    """Seconds of each contender's runs. A pattern comes again when all others have been run,
    whoever runs it, so that it is in nobody's cache."""
    patterns = [case.arguments(sparsity, 100 + i) for i in range(options.patterns)]
    first = patterns[0]
    for args in patterns[1:]:
        for arg, text in enumerate(case.args):
            if "${seed}" not in text:  # it is there once
                args[arg] = first[arg]
    shape = (*first[0].shape[:-1], first[1].shape[-1])
    out = np.empty(shape, DTYPES[case.values["R"]])
    prepared = [[each.prepare(args) for args in patterns] for each in contenders]
    clock = time.thread_time if options.threads == 1 else time.perf_counter
    seconds = [[] for _ in contenders]
    for each, args in zip(contenders, prepared):
        out.view(np.uint8).fill(0x7F)
        each.run(args[0], out)
        if each.name != "torch":  # whose bf16 is rounded
            check(case, first, out, each.name)
    pattern = itertools.cycle(range(len(patterns)))
    for turn in range(options.rounds):
        for i in range(len(contenders)):
            at = (i + turn) % len(contenders)
            args = prepared[at][next(pattern)]
            start = clock()
            contenders[at].run(args, out)
            seconds[at].append(clock() - start)
    return seconds


def time_cases(options):
    context = pit.Context(threads=options.threads)
    for case in cases_of(options):
        contenders = [PitContender(folder, case, context) for folder in options.folders]
        if options.torch and case.values["T"] in ("f32", "f64", "bf16"):
            contenders.append(TorchContender(options.threads))
        for sparsity in case.sparsity:
            seconds = time_case(case, sparsity, contenders, options)
            told = [f"{case.name:<32}{sparsity:>5.0%}"]
            for each, own in zip(contenders, seconds):
                ratio = statistics.median(x / y for x, y in zip(seconds[0], own))
                told.append(f"{each.name} {statistics.median(own) * 1e3:.2f} ms {ratio:.2f}")
            print("  ".join(told), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["compile", "time"])
    parser.add_argument("paths", nargs="+", help="folders, and data files (*.json)")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose name matches")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable of all cases")
    parser.add_argument("--pit-compile", default="pit-compile", metavar="FILE")
    parser.add_argument("--option", action="append", default=[], help="of pit-compile, as --cpu=x86-64-v4")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--patterns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--torch", action="store_true", help="PyTorch takes turns, too")
    options = parser.parse_args()
    options.files = [path for path in options.paths if path.endswith(".json")]
    options.folders = [path for path in options.paths if not path.endswith(".json")]
    if not options.files or not options.folders:
        parser.error("give folders and data files")
    if options.command == "compile" and len(options.folders) > 1:
        parser.error(f"programs go to one folder, not to {' and '.join(options.folders)}")
    {"compile": compile_cases, "time": time_cases}[options.command](options)


if __name__ == "__main__":
    main()
