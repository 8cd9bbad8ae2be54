#!/usr/bin/env python3
"""Every op of math and arith with every element type: compiled, run, compared
with what Inputs/table.py says.

    elements.py --build BUILD [--target cpu|cuda] [--filter REGEX] ...

Programs take and give two-dimensional tensors and have one linalg.generic with
the op in it; with --marked the first operand is marked and has parts of zeros. For
CUDA they are compiled only, unless --device has them run on a GPU, or on the emulator of
one; --device-math runs on the CPU what math's functions become there. What table.py says to be refused has to be, with its message. The last line is

    elements: N right, N refused, N failed
"""

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace

from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE / "Inputs"), str(ROOT / "test" / "Differential"), str(ROOT / "test" / "GPU"),
                str(ROOT / "python")]
from table import LONG, all_cases, document, refusal  # noqa: E402
from workers import Worker, answer, regex  # noqa: E402

ROWS, COLUMNS = 12, 33
COUNT = ROWS * COLUMNS
TIMEOUT = 600
# What makes arithmetic of the functions of f32 that a GPU lacks. It runs on a CPU as well.
DEVICE_MATH = ["--pit-lower-math=device=true", "--math-extend-to-supported-types",
               "--pit-lower-device-math"]


# --------------------------------------------------------------------------
# Programs
# --------------------------------------------------------------------------


def function(case, number, marked):
    """One function; operands and results are carried in types that a program
    takes, and converted in the body."""
    types = [f"tensor<{ROWS}x{COLUMNS}x{t.carried}>" for t in (*case.ins, *case.outs)]
    ins, outs = types[: len(case.ins)], types[len(case.ins):]
    names = [f"%a{i}" for i in range(len(ins))]
    lines = [f"func.func @f{number}({', '.join(f'{n}: {t}' for n, t in zip(names, ins))})"
             f" -> ({', '.join(outs)}) {{"]
    if marked:
        lines.append(f"  %s = pit.sparse %a0 : {ins[0]}")
        names[0] = "%s"
    for i, t in enumerate(outs):
        lines.append(f"  %e{i} = tensor.empty() : {t}")
    maps = ", ".join(["affine_map<(i, j) -> (i, j)>"] * len(types))
    lines.append(f"  %r:{len(outs)} = linalg.generic {{indexing_maps = [{maps}], "
                 'iterator_types = ["parallel", "parallel"]}')
    lines.append(f"      ins({', '.join(names)} : {', '.join(ins)})")
    lines.append(f"      outs({', '.join(f'%e{i}' for i in range(len(outs)))} : {', '.join(outs)}) {{")
    arguments = [f"%{'o' if t.memory else 'x'}{i}: {t.carried}" for i, t in enumerate(case.ins)]
    arguments += [f"%z{i}: {t.carried}" for i, t in enumerate(case.outs)]
    lines.append(f"  ^bb0({', '.join(arguments)}):")
    for i, t in enumerate(case.ins):
        if t.memory:
            lines.append(f"    %x{i} = arith.trunci %o{i} : {t.carried} to {t.name}")
    lines += ["    " + line for line in case.text.split("\n")]
    results = []
    for i, t in enumerate(case.outs):
        results.append(f"%w{i}" if t.memory else f"%r{i}")
        if t.memory:
            lines.append(f"    %w{i} = arith.extsi %r{i} : {t.name} to {t.carried}")
    carried = ", ".join(t.carried for t in case.outs)
    lines.append(f"    linalg.yield {', '.join(results)} : {carried}")
    lines.append(f"  }} -> ({', '.join(outs)})")
    values = ", ".join(f"%r#{i}" for i in range(len(outs)))
    lines += [f"  return {values} : {', '.join(outs)}", "}"]
    return "\n".join(lines) + "\n"


# --------------------------------------------------------------------------
# Data
# --------------------------------------------------------------------------


def operands(case, marked, device_math=False):
    """Values of each operand: every pair of special values, then drawn ones."""
    rng = np.random.default_rng(COUNT)
    found = []
    for i, t in enumerate(case.ins):
        special, period = t.special, 1
        for other in case.ins[:i]:
            period *= len(other.special)
        # The last ones are drawn, and all of them if there are too many pairs.
        count = COUNT - 40
        values = [special[(k // (period if period < count else i + 1)) % len(special)]
                  for k in range(count)]
        drawn = t.draw(rng, COUNT - count)
        found.append(np.concatenate([values, drawn]).astype(LONG) if t.is_float else values + list(drawn))
    if marked:
        dead = (np.arange(COUNT) // COLUMNS) % 4 != 1
        if case.ins[0].is_float:
            found[0] = np.where(dead, LONG(0), found[0])
        else:
            found[0] = [0 if d else v for d, v in zip(dead, found[0])]
    if device_math and case.ins[0].precision <= 24 and re.search(r"\.(sin|cos|tan|sincos)$", case.name):
        found[0] = np.where(np.abs(found[0]) <= 1e9, found[0], LONG(1.5))
    if case.domain:
        found = list(case.domain(*found))
    return found


def compare(case, t, got, want, forgiven):
    """The place of the first wrong value and how it is wrong, or None."""
    if not t.is_float:
        for k, (g, w) in enumerate(zip(got, want)):
            if g != w and not forgiven[k]:
                return k, f"got {g}, want {w}"
        return None
    with np.errstate(all="ignore"):
        rounded = t.round(want)
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        if case.signed_zero:
            same &= (got != 0) | (np.signbit(got) == np.signbit(rounded))
        if case.ulps > 0.5:
            place = t.place(want)
            same |= np.abs(got - want) <= case.ulps * place
            # Functions may give 0 for what is less than any normal number.
            normal = np.ldexp(LONG(1), t.smallest + t.precision - 1)
            same |= (np.abs(want) < normal) & (np.abs(got) <= normal)
            top = t.top
            overflows = np.isinf(got) & (np.sign(got) == np.sign(want))
            if not t.has_infinity:
                overflows = np.isnan(got)
            same |= overflows & (np.abs(want) >= top * (1 - case.ulps * LONG(2.0) ** -t.precision))
            error = np.abs(got - want) / place
        else:
            error = np.abs(got - want) / t.place(want)
    wrong = np.flatnonzero(~(same | forgiven))
    if not len(wrong):
        return None
    worst = wrong[np.nanargmax(np.nan_to_num(error[wrong], nan=np.inf))]
    return int(worst), (f"{len(wrong)} wrong; got {got[worst]!r}, want {rounded[worst]!r}, "
                        f"off by {float(error[worst]):.3g} of the last place")


def arguments_of(pit, case, values, memory):
    arrays = []
    for t, v in zip(case.ins, values):
        array = memory.upload(np.ascontiguousarray(t.store(v).reshape(ROWS, COLUMNS)))
        arrays.append(pit.view(array, t.name) if t.viewed else array)
    return arrays


class Host:
    """Memory as test/GPU/cuda.py has it."""

    def upload(self, array):
        return array

    def download(self, array):
        return array


def check(pit, case, entry, context, marked, device_math, memory=Host()):
    """What is wrong with a case, or an empty text."""
    if device_math and case.ulps > 0.5 and case.ins[0].precision >= 24:
        case = replace(case, ulps=4 if case.ins[0].precision == 53 else 10)
    values = operands(case, marked, device_math)
    outs = [memory.upload(np.full((ROWS, COLUMNS), 1, dtype=t.storage)) for t in case.outs]
    entry(*arguments_of(pit, case, values, memory), context=context,
          out=[pit.view(o, t.name) if t.viewed else o for t, o in zip(case.outs, outs)])
    return verdict(case, values, [memory.download(out) for out in outs], marked)


def verdict(case, values, outs, marked):
    with np.errstate(all="ignore"):
        wants = case.reference(*values)
        skipped = None
        if marked:
            # If the marked operand is 0 the others may count as anything.
            ones = [values[0]] + [np.ones(COUNT, dtype=LONG) if t.is_float else [1] * COUNT
                                  for t in case.ins[1:]]
            skipped = case.reference(*(case.domain(*ones) if case.domain else ones))
    for r, (t, out, want) in enumerate(zip(case.outs, outs, wants)):
        got = t.load(out)
        forgiven = np.zeros(COUNT, dtype=bool)
        if marked:
            zero = np.array(values[0], dtype=LONG) == 0
            with np.errstate(all="ignore"):
                other = t.round(skipped[r]) if t.is_float else np.array(skipped[r], dtype=object)
                near = np.array(got == other, dtype=bool) if t.is_float else np.array(got, dtype=object) == other
            forgiven = zero & near.astype(bool)
            if t.is_float:
                # Nor is the sign of a zero specified there.
                forgiven |= zero & (np.asarray(got == 0) & np.asarray(want == 0))
        found = compare(case, t, got, want, forgiven)
        if found:
            k, message = found
            at = ", ".join(repr(v[k]) for v in values)
            return f"result {r} of ({at}): {message}"
    return ""


# --------------------------------------------------------------------------
# The two processes
# --------------------------------------------------------------------------


def run_worker(arguments, cases):
    os.environ["PIT_RUNTIME_LIBRARY"] = str(arguments.build / "lib" / "libpit_runtime.so")
    import pit

    context, memory, on_gpu = None, Host(), {}
    if arguments.device:
        from cuda import Cuda
        memory = Cuda()
        context, on_gpu = memory.context, {"target": "nvptx", "chip": arguments.chip}
    elif arguments.target == "cpu":
        context = pit.Context(threads=1)
    compiler = pit.Compiler()
    for line in sys.stdin:
        numbers = [int(n) for n in line.split()]
        text = "".join(function(cases[n], n, arguments.marked) for n in numbers)
        if arguments.device_math:
            lowered = subprocess.run([arguments.build / "bin" / "pit-opt", *DEVICE_MATH], input=text,
                                     capture_output=True, text=True)
            if lowered.returncode:
                answer({"status": "refused" if lowered.returncode == 1 else "failed",
                        "message": lowered.stderr})
                continue
            text = lowered.stdout
        try:
            if context:
                program = compiler.compile(text, pipeline=arguments.pipeline, cpu=arguments.cpu,
                                           opt_level=arguments.opt_level, **on_gpu)
            else:
                compiler.artifact(text, arguments.emit, target="nvptx", chip=arguments.chip,
                                  pipeline=arguments.pipeline, opt_level=arguments.opt_level)
        except pit.Error as error:
            answer({"status": "refused", "message": error.message})
            continue
        wrong = {}
        for n in numbers if context else []:
            message = check(pit, cases[n], getattr(program, f"f{n}"), context, arguments.marked,
                            arguments.device_math or arguments.device, memory)
            if message:
                wrong[n] = message
        answer({"status": "done", "wrong": wrong})


class Check:
    """Hands out parts, and halves those that do not compile until it is known
    which case it is."""

    def __init__(self, arguments, cases):
        command = [sys.executable, __file__, "--worker", *sys.argv[1:]]
        self.worker, self.cases = Worker(command, TIMEOUT), cases
        self.count = Counter()
        target = "cuda" if arguments.target == "cuda" or arguments.device_math else "cpu"
        self.wanted = [refusal(case, target) for case in cases]

    def run(self, numbers):
        outcome = self.worker.check(" ".join(map(str, numbers)))
        if len(numbers) == 1 and self.wanted[numbers[0]]:
            self.check_refusal(numbers[0], outcome)
        elif outcome["status"] == "done":
            self.count["right"] += len(numbers) - len(outcome["wrong"])
            for n, message in outcome["wrong"].items():
                self.report(int(n), "WRONG", message)
        elif len(numbers) > 1:
            middle = len(numbers) // 2
            self.run(numbers[:middle])
            self.run(numbers[middle:])
        else:
            self.report(numbers[0], outcome["status"].upper(), outcome["message"])

    def check_refusal(self, n, outcome):
        if outcome["status"] == "refused" and self.wanted[n] in outcome["message"]:
            self.count["refused"] += 1
        else:
            self.report(n, "NOT REFUSED", outcome.get("message", "it was compiled"))

    def report(self, n, what, message):
        self.count["failed"] += 1
        print(f"{what} {self.cases[n].label}: {message[:400]}", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="pit's build folder")
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--device", action="store_true", help="run what is compiled for a GPU")
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--emit", default="ptx")
    parser.add_argument("--cpu", default="native")
    parser.add_argument("--opt-level", type=int, default=0)
    parser.add_argument("--pipeline", default="", help="options of the pipeline")
    parser.add_argument("--device-math", action="store_true",
                        help="run on the CPU what a GPU computes of math's functions")
    parser.add_argument("--marked", action="store_true")
    parser.add_argument("--filter", type=regex, default=re.compile(""))
    parser.add_argument("--every", type=int, default=1, help="take one case of so many")
    parser.add_argument("--size", type=int, default=60, help="functions in a module")
    parser.add_argument("--print", action="store_true", help="print the programs")
    parser.add_argument("--document", action="store_true",
                        help="print the table of docs/Semantics.md")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if arguments.document:
        print("\n".join(document()))
        return 0
    cases = [case for case in all_cases() if arguments.filter.search(case.label)]
    cases = cases[:: arguments.every]
    if arguments.print:
        print("".join(function(c, n, arguments.marked) for n, c in enumerate(cases)))
        return 0
    if arguments.worker:
        run_worker(arguments, cases)
        return 0
    run = Check(arguments, cases)
    taken = [n for n in range(len(cases)) if not run.wanted[n]]
    for first in range(0, len(taken), arguments.size):
        run.run(taken[first: first + arguments.size])
    for n in range(len(cases)):
        if run.wanted[n]:
            run.run([n])
    run.worker.stop()
    print("elements: {right} right, {refused} refused, {failed} failed".format(
        **{k: run.count[k] for k in ("right", "refused", "failed")}))
    return bool(run.count["failed"])


if __name__ == "__main__":
    sys.exit(main())
