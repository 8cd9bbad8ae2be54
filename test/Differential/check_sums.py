"""Checks the functions of one sum of products (draw_sums.py), compiled as one module."""

import os
import re
import sys
import traceback
from collections import Counter
from pathlib import Path

import numpy as np

from check import REFUSED, Bound, Host, Mismatch
from draw import EAGER
from draw_sums import DrawSums

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402


class SumsChecker:
    """`device` has the options of the compiler for a GPU, if it is to be one; `pipeline` has
    options of the pipeline."""

    def __init__(self, build, pipeline="", device=None):
        os.environ["PIT_RUNTIME_LIBRARY"] = str(Path(build) / "lib" / "libpit_runtime.so")
        self.pipeline, self.device = pipeline, device
        self.compiler = pit.Compiler()
        if device:
            sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "GPU"))
            from cuda import Cuda

            self.memories = dict.fromkeys((1, 2, 3), Cuda())
        else:
            self.memories = {n: Host(threads=n) for n in (1, 2, 3)}

    def options(self, case):
        """Most functions have one rule, the one drawn or chosen now."""
        choice = ["choice=now", "choice=now", "choice=now", f"tile-table={EAGER}", ""][case % 5]
        options = {"pipeline": f"{self.pipeline} {choice}".strip()}
        # LLVM takes two thirds of the time to optimize.
        return {"opt_level": (0, 0, 0, 3)[case % 4], **(self.device or {}), **options}

    def check(self, seed, case, max_dim):
        draw = DrawSums(seed, case, max_dim)
        outcome = {"program": "", "tags": [], "message": ""}
        try:
            draw.run()
            return {**outcome, **self.run(draw, self.options(case))}
        except Exception:
            text = "".join(text for _, text, _ in draw.functions)
            return {"program": text, "tags": [], "status": "failed", "message": traceback.format_exc()}

    def compiled(self, functions, options):
        """The program of all functions but those that are refused or fail to compile, and
        these by name, each with its status and what is said of it."""
        left, others = list(functions), {}
        while left:
            text = "".join(text for _, text, _ in left)
            try:
                return self.compiler.compile(text, **options), others
            except pit.Error as error:
                name, text = self.blamed(left, error.message)
                refused = REFUSED in error.message
                others[name] = ("refused" if refused else "failed", error.message)
                left = [f for f in left if f[0] != name]
        return None, others

    @staticmethod
    def blamed(functions, message):
        """The function that an error is about; the first one if it does not say."""
        found = re.search(r"program\.mlir:(\d+):\d+: error", message)
        line = int(found[1]) if found else 1
        for name, text, _ in functions:
            line -= text.count("\n")
            if line <= 0:
                return name, text
        return functions[0][:2]

    def run(self, draw, options):
        program, outcomes = self.compiled(draw.functions, options)
        for run in range(draw.runs if program else 0):
            if run:
                draw.new_run()
            memory = self.memories[1 + int(draw.data.integers(3))]
            reference = Bound(draw, draw.program, None, memory, run)
            if any(np.any(want.e) for _, want in reference.wanted):
                raise AssertionError("what was drawn is not exact")
            for name in program.entries:
                if outcomes.get(name, ("",))[0] != "failed":
                    status, message = self.call(reference, program[name], memory)
                    tiled = outcomes.get(name, ("",))[0] == "tiled" and status == "dense"
                    outcomes[name] = ("tiled" if tiled else status, message)
        return self.outcome(draw, outcomes)

    def call(self, reference, entry, memory):
        """Runs one of the functions on the arguments of all; what it returns has to be equal."""
        bound = reference.twin()
        bound.entry = entry
        if not self.device:
            memory.context.record("on")
        try:
            bound.launch()
            memory.synchronize()
            indexed = not self.device and bool(memory.context.recorded())
            bound.verify()
        except (pit.Error, Mismatch) as error:
            return "failed", str(error)
        return ("tiled" if indexed else "dense"), ""

    @staticmethod
    def outcome(draw, outcomes):
        """Of all functions; what is wrong is said with the text of the first wrong one alone."""
        tags, failed = [], []
        for name, text, own in draw.functions:
            status, message = outcomes[name]
            tags += [(tag, status) for tag in sorted(set(own))]
            if status == "failed":
                failed.append((message, text))
        counts = Counter(status for status, _ in outcomes.values())
        status = "failed" if failed else counts.most_common(1)[0][0]
        message, text = failed[0] if failed else ("", "".join(text for _, text, _ in draw.functions))
        reasons = [m.splitlines()[0] for s, m in outcomes.values() if s == "refused"]
        return {"status": status, "message": message, "program": text, "counts": counts,
                "tagged": tags, "reasons": reasons}
