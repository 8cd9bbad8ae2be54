#!/usr/bin/env python3
"""The process in which check_gpu.py beside this file has its cases checked: reads
`STEP PROGRAM` from each line of its input, and writes a line with the outcome.

    worker.py --artifacts DIR --device cuda|cpu|fake [STEP PROGRAM...]

With steps and programs on the command line it checks these (compute-sanitizer
runs it so).
"""

import argparse
import hashlib
import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Differential"), str(HERE.parent / "Programs"),
                str(HERE.parents[1] / "python")]

import numpy as np  # noqa: E402

import catalogue  # noqa: E402, F401
import check  # noqa: E402
import pit  # noqa: E402
from check import Bound, Host, Mismatch  # noqa: E402
from cuda import Cuda  # noqa: E402
from draw import Draw  # noqa: E402
from fake import Fake  # noqa: E402
from grid import Grid  # noqa: E402
from models import Model  # noqa: E402
from suite import Case  # noqa: E402
from workers import answer  # noqa: E402

BATCH = 16  # launches in flight at once
STRESS_SECONDS = 10  # a slow program gets fewer launches
GRAPHS = 16  # of BATCH launches each, between two looks at what they counted


def make_draw(entry, step=None):
    """The Draw that build.py compiled this program of the manifest from. A program of
    the grid has one shape in some of the steps."""
    if entry["kind"] == "program":
        draw = Case(entry["case"])
    elif entry["kind"] == "grid":
        draw = Grid(entry["number"], step)
    elif entry["kind"] == "model":
        draw = Model(entry["model"], step)
    else:
        draw = Draw(entry["seed"], entry["case"], entry["max_dim"])
    program = draw.run()
    digest = hashlib.sha256(program.text().encode()).hexdigest()
    if digest != entry["sha256"]:
        raise Mismatch("the program drawn here is not the one that was compiled: the artifacts "
                       "are of another version")
    return draw, program


class Steps:
    """Each step checks one program; it raises Mismatch or returns a note."""

    def __init__(self, artifacts, device, launches):
        os.environ["PIT_RUNTIME_LIBRARY"] = str(artifacts / "lib" / "libpit_runtime.so")
        self.programs = artifacts / "programs"
        self.launches = launches
        self.on_gpu = device == "cuda"
        self.memory = {"cuda": Cuda, "fake": Fake, "cpu": Host}[device]()
        self.streams = [None if device == "cpu" else self.memory.stream() for _ in range(2)]

    def load(self, entry):
        return pit.load(self.programs / entry["file"]).f

    def differential(self, entry):
        """All shapes and patterns against float64; on a GPU every other run on a
        stream of its own, with an index that was built there."""
        function = self.load(entry)
        draw, program = make_draw(entry)
        for run in range(draw.runs):
            if run:
                draw.new_run()
            odd = run % 2 == 1
            check.check_run(draw, program, function, run, self.memory,
                            self.streams[0] if odd else None, build_indices=odd)

    def host(self, entry):
        """Over the driver without a device: every run is accepted and launches
        something, also while its stream is captured; and Hopper's kernel if, and only
        if, TMA can read its operands."""
        function, stream = self.load(entry), self.streams[0]
        draw, program = make_draw(entry)
        for run in range(draw.runs):
            if run:
                draw.new_run()
            bound = Bound(draw, program, function, self.memory, run, build_indices=run % 2 == 1)
            bound.launch(stream)
            fits = draw.fits_tma() if entry["hopper"] else None
            if fits not in (None, "hopper" in self.memory.last_kernel()):
                raise Mismatch(f"{bound.describe()}: the kernel {self.memory.last_kernel()} ran")
            self.memory.capture(stream, lambda: bound.launch(stream))
            bound.launch()
            bound.results()  # nothing is written from the host
            empty = any(want.v.size == 0 for _, want in bound.wanted)
            self.memory.check_launches(0 if empty else 3)

    def small(self, entry):
        """One run of a small shape."""
        draw, program = make_draw(entry, "small")
        check.check_run(draw, program, self.load(entry), 0, self.memory)

    def stress(self, entry):
        """Many launches on the same data, several in flight: the bits of each result
        are those of the first. The sums are exact in any order. On a GPU the first
        ones are compared here, the others on the device, and a graph launches them."""
        function = self.load(entry)
        draw, program = make_draw(entry, "stress")
        first = Bound(draw, program, function, self.memory)
        first.launch()
        self.memory.synchronize()
        first.verify()
        bits = [b.copy() for b in first.results()]
        batch = [first.twin() for _ in range(BATCH)]
        started = time.monotonic()
        for start in range(0, BATCH if self.on_gpu else self.launches, BATCH):
            if time.monotonic() - started > STRESS_SECONDS:
                return f"{start} launches"
            for bound in batch:
                bound.poison()
            for bound in batch:
                bound.launch()
            self.memory.synchronize()
            for i, bound in enumerate(batch):
                for result, wanted in zip(bound.results(), bits):
                    different = np.flatnonzero(result != wanted)
                    if len(different):
                        raise Mismatch(f"launch {start + i} of {self.launches}: {len(different)} "
                                       f"bytes differ from the first's, from byte {different[0]}")
        if self.on_gpu:
            return self.stress_on_device(first)
        return f"{self.launches} launches"

    def stress_on_device(self, bound):
        memory, stream = self.memory, self.streams[0]
        pairs = []  # a result's memory, what it is before a launch, and after it
        for buffer, _, _, poison in bound.buffers:
            pairs.append((buffer, memory.upload(poison), memory.upload(memory.download(buffer))))
        counter = memory.upload(np.zeros(1, np.uint32))

        def launch():
            for buffer, before, _ in pairs:
                memory.copy(stream, buffer, before)
            bound.launch(stream)
            for buffer, _, after in pairs:
                memory.count_different(stream, buffer, after, counter)

        launch()
        memory.synchronize()
        replay = memory.capture(stream, lambda: [launch() for _ in range(BATCH)])
        started, done = time.monotonic(), 1
        while done < self.launches and time.monotonic() - started < STRESS_SECONDS:
            for _ in range(GRAPHS):
                replay()
            memory.synchronize()
            done += GRAPHS * BATCH
            different = int(memory.download(counter)[0])
            if different:
                raise Mismatch(f"within {done} launches {different} words differ from the first's")
        return f"{done} launches"

    def graph(self, entry):
        """Captured once, replayed on other data."""
        if not self.on_gpu:
            return "skipped: graphs need a GPU"
        draw, program = make_draw(entry, "graph")
        bound = Bound(draw, program, self.load(entry), self.memory, build_indices=True)
        stream = self.streams[0]
        bound.launch(stream)
        self.memory.synchronize()
        bound.verify()
        bound.poison()
        replay = self.memory.capture(stream, lambda: bound.launch(stream))
        for round_ in range(4):
            if round_:
                bound.refill()
            for _ in range(2):  # a replay must leave everything ready for the next
                replay()
            self.memory.synchronize()
            try:
                bound.verify()
            except Mismatch as error:
                raise Mismatch(f"replay {round_}: {error}") from None

    def concurrent(self, entry):
        """On two streams (on the CPU: threads) at once, each with its own data."""
        function = self.load(entry)
        bounds = []
        for _ in range(2):
            draw, program = make_draw(entry, "graph")
            # Different data, of the same program.
            draw.data = np.random.default_rng([len(bounds), entry["number"]])
            bounds.append(Bound(draw, program, function, self.memory, build_indices=True))
        rounds = max(2, min(100, self.launches // 20))
        if self.on_gpu:
            for _ in range(rounds):
                for bound, stream in zip(bounds, self.streams):
                    bound.launch(stream)
        else:
            work = lambda bound: [bound.launch() for _ in range(rounds)]
            threads = [threading.Thread(target=work, args=(b,)) for b in bounds]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.memory.synchronize()
        for bound in bounds:
            bound.verify()

    def run(self, step, entry):
        started = time.monotonic()
        try:
            note = getattr(self, step)(entry) or ""
            status = "skipped" if note.startswith("skipped") else "passed"
        except (Mismatch, pit.Error) as error:
            status, note = "failed", str(error)
        except Exception:
            status, note = "failed", traceback.format_exc()
        return {"status": status, "message": note, "seconds": time.monotonic() - started}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--artifacts", required=True, type=Path)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu", "fake"))
    parser.add_argument("--launches", type=int, default=20000, help="of the step stress")
    parser.add_argument("cases", nargs="*", help="a step and a program, ...")
    arguments = parser.parse_args()
    manifest = json.loads((arguments.artifacts / "manifest.json").read_text())
    entries = {entry["name"]: entry for entry in manifest["programs"]}
    steps = Steps(arguments.artifacts, arguments.device, arguments.launches)
    if arguments.cases:
        failed = 0
        for step, name in zip(arguments.cases[::2], arguments.cases[1::2]):
            outcome = steps.run(step, entries[name])
            failed += outcome["status"] == "failed"
            print(f"{outcome['status']} {step} {name} {outcome['message']}", flush=True)
        return failed != 0
    for line in sys.stdin:
        step, name = line.split()
        answer(steps.run(step, entries[name]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
