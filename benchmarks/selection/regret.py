#!/usr/bin/env python3
"""How good the choice is that a program makes at run time, on the CPU, and how good the
order is that the cost model predicts: products of several types, shapes and patterns of
zeros (patterns.py), and layers of networks that are trained here (networks.py), by the
default program, by each rule that it could have been given, and dense.

    regret.py --build BUILD --out results.json [--only REGEX] [--seconds S] [--limit S]
              [--cpu NAME]

All run in turns in one process, on one thread, in an order of its own each round, with
other zeros than the call before; the median of the thread's time counts. `regret` is the
default's time over that of the best of all others, `dense` the default's mean time, with
the scans of calls that end dense, over the dense program's. `tau` compares the order that
Algorithm 1 predicts for these zeros with the measured one (Kendall), and `picked` is the
time of the rule that it picks over the best one's. Cases in the file are not measured
again: with --limit a run ends after so many seconds, and the next one goes on.
"""

import argparse
import itertools
import json
import math
import os
import re
import statistics
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import networks  # noqa: E402
from patterns import PATTERNS, Case, synthetic_cases  # noqa: E402

RULES = {"1x1": "axis = 1, micro_tile = [1, 1]", "2x1": "axis = 1, micro_tile = [2, 1]",
         "4x1": "axis = 1, micro_tile = [4, 1]", "8x1": "axis = 1, micro_tile = [8, 1]",
         "32x1": "axis = 1, micro_tile = [32, 1]", "1x*": "axis = 0, micro_tile = [1, *]"}
ARRAYS = 5  # different zeros of a case
LEAST_TURNS, MOST_TURNS = 10, 200


def program(case, rule=""):
    from pit.tune.cases import ELEMENTS

    (m, k, n), (_, result) = case.shape, ELEMENTS[case.element]
    a, b, c = (f"tensor<{x}x{y}x{e}>" for x, y, e in
               ((m, k, case.element), (k, n, case.element), (m, n, result)))
    rule = f" rule(#pit.rule<{rule}>)" if rule else ""
    return f"""func.func @f(%a: {a}, %b: {b}) -> {c} {{
  %z = arith.constant {"0" if result == "i32" else "0.0"} : {result}
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%z : {result}) outs(%e : {c}) -> {c}
  %s = pit.sparse %a{rule} : {a}
  %r = linalg.matmul ins(%s, %b : {a}, {b}) outs(%f : {c}) -> {c}
  return %r : {c}
}}"""


def make_inputs(case, layers):
    """The left operands of a case, and the right one."""
    from pit.tune.cases import make_array

    if case.layer:
        a, b = layers[case.layer]
        # Other samples first: another pattern, of the same layer.
        return [np.roll(a, 7 * i, axis=0).copy() for i in range(ARRAYS)], b.copy()
    rng, (m, k, n) = np.random.default_rng(1), case.shape
    inputs = []
    for _ in range(ARRAYS):
        a = make_array(rng, case.element, m, k)
        a[~PATTERNS[case.kind](rng, m, k, case.live_fraction)] = 0
        inputs.append(a)
    return inputs, make_array(rng, case.element, k, n)


class Contender:
    def __init__(self, entry, context):
        self.entry, self.context, self.times = entry, context, []

    def run(self, a, b, out):
        start = time.thread_time()
        self.entry(a, b, out=out, context=self.context)
        self.times.append(time.thread_time() - start)

    def median(self):
        return statistics.median(self.times)

    def mean(self):
        """A disturbance of a call is cut off, a scan is not."""
        most = 3 * self.median()
        return statistics.fmean(min(one, most) for one in self.times)


def run_interleaved(case, compiled, inputs, b, seconds, pit):
    from pit.tune.cases import ELEMENTS, RESULTS, as_argument

    a = np.empty_like(inputs[0])
    arguments = as_argument(case.element, a), as_argument(case.element, b)
    out = np.empty((case.shape[0], case.shape[2]), RESULTS[ELEMENTS[case.element][1]])
    # A context of its own: what it remembers of other patterns does not count.
    contenders = {name: Contender(entry, pit.Context("cpu", threads=1))
                  for name, entry in compiled.items()}
    rng, order = np.random.default_rng(2), list(contenders.values())
    for contender in order:  # the first call allocates
        np.copyto(a, inputs[0])
        contender.run(*arguments, out)
        contender.times.clear()
    end, call = time.monotonic() + seconds, itertools.count()
    for turn in range(MOST_TURNS):
        if turn >= LEAST_TURNS and time.monotonic() > end:
            break
        for i in rng.permutation(len(order)):
            np.copyto(a, inputs[next(call) % ARRAYS])  # as an op before has just written it
            order[i].run(*arguments, out)
    check(case, a, b, out)
    return contenders


def check(case, a, b, out):
    if case.element in ("f32", "f64"):
        error = np.abs(out - a.astype(np.float64) @ b).max()
        assert error < 1e-2 * max(1, np.abs(out).max()), (case.name, error)


def predict(compiler, case, array, options):
    """Times of rules and of the dense program by Algorithm 1, in ns."""
    if case.element == "bf16":  # numpy has none: what is zero is the same
        array = np.where(array != 0, np.float32(1), np.float32(0)).view(np.uint32)
        array = (array >> 16).astype(np.uint16)
    compiler.artifact(program(case), "mlir", samples={"f:0": array}, explain=True, **options)
    units = {"ns": 1, "us": 1e3, "ms": 1e6}
    found = {}
    for line in compiler.diagnostics.splitlines():
        dense = re.search(r"dense takes ([\d.]+) (ns|us|ms)", line)
        rule = re.search(r"candidate (\S+) along axis \d of operand 0: live fraction [\d.]+, "
                         r"([\d.]+) (ns|us|ms)", line)
        if dense:
            found["dense"] = float(dense[1]) * units[dense[2]]
        elif rule:
            found[rule[1]] = float(rule[2]) * units[rule[3]]
    return found


def kendall(predicted, measured):
    """The pairs of rules in the same order less those in the other one. Pairs whose
    times differ by less than 3 % have no order."""
    votes = [math.copysign(1, (predicted[x] - predicted[y]) * (measured[x] - measured[y]))
             for x, y in itertools.combinations(predicted, 2)
             if abs(measured[x] - measured[y]) > 0.03 * min(measured[x], measured[y])]
    return statistics.fmean(votes) if votes else 1.0


def chosen(contender):
    choices = contender.entry.choices(contender.context)
    if not choices or choices[0].axis is None:
        return "dense"
    return "x".join(str(e or "*") for e in choices[0].micro_tile)


def measure(compiler, case, compiled, layers, arguments, pit):
    """The record of a case."""
    options = {"cpu": arguments.cpu}
    inputs, b = make_inputs(case, layers)
    contenders = run_interleaved(case, compiled, inputs, b, arguments.seconds, pit)
    mine = contenders.pop("default")
    times = {name: contender.median() for name, contender in contenders.items()}
    best = min(times, key=times.get)
    predicted = predict(compiler, case, inputs[0], options)
    predicted = {name: predicted[name] for name in times if name in predicted}
    picked = min(predicted, key=predicted.get) if predicted else "dense"
    return {"chose": chosen(mine), "default": mine.median(), "mean": mine.mean(),
            "dense_mean": contenders["dense"].mean(), "times": times, "best": best,
            "predicted": predicted, "picked": picked, "tau": kendall(predicted, times),
            "turns": len(mine.times)}


def compile_all(compiler, case, options):
    compiled = {"default": compiler.compile(program(case), **options).f,
                "dense": compiler.compile(program(case), pipeline="dense=true", **options).f}
    for name, rule in RULES.items():
        if name == "1x*" or int(name.split("x")[0]) <= case.shape[0]:
            compiled[name] = compiler.compile(program(case, rule), **options).f
    return compiled


def regret(record):
    return record["default"] / record["times"][record["best"]]


def over_dense(record):
    return record["mean"] / record["dense_mean"]


def picked_regret(record):
    return record["times"][record["picked"]] / record["times"][record["best"]]


def print_case(name, record):
    print(f"{name:36} {record['chose']:>6} {1e3 * record['default']:9.3f} "
          f"{over_dense(record):6.2f} {regret(record):6.2f} {record['best']:>6} "
          f"{record['tau']:5.2f} {record['picked']:>6} {picked_regret(record):6.2f}", flush=True)


def summarize(records):
    def say(what, values):
        values = sorted(values)
        mean = math.exp(statistics.fmean(map(math.log, values)))
        print(f"{what}: {mean:.3f} in the geometric mean, {values[int(0.95 * (len(values) - 1))]:.2f} "
              f"in 95 %, {values[-1]:.2f} at most")

    print(f"{len(records)} cases")
    say("regret", [regret(record) for record in records.values()])
    say("over dense", [over_dense(record) for record in records.values()])
    say("regret of Algorithm 1", [picked_regret(record) for record in records.values()])
    print(f"order: tau {statistics.fmean(record['tau'] for record in records.values()):.2f} in the "
          f"mean")
    for what, value in (("regret", regret), ("over dense", over_dense)):
        worst = sorted(records, key=lambda name: -value(records[name]))[:6]
        print(f"worst {what}: " + "; ".join(
            f"{name} {value(records[name]):.2f} ({records[name]['chose']}, best "
            f"{records[name]['best']})" for name in worst))


def all_cases(layers):
    networks_cases = [Case("f32", (*a.shape, b.shape[1]), "", layer=name)
                      for name, (a, b) in layers.items()]
    return synthetic_cases() + networks_cases


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path, help="the results; read first")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose name matches")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each case")
    parser.add_argument("--limit", type=float, default=math.inf, metavar="S",
                        help="begin no case after so many seconds")
    parser.add_argument("--cpu", default="native", help="as pit-compile has it")
    return parser.parse_args()


def main():
    arguments = parse()
    os.environ["PIT_RUNTIME_LIBRARY"] = str(arguments.build / "lib" / "libpit_runtime.so")
    import pit

    layers = networks.load_layers(arguments.build)
    records = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    cases = [case for case in all_cases(layers) if re.search(arguments.only, case.name)]
    compiler, end = pit.Compiler(), time.monotonic() + arguments.limit
    print(f"{'case':36} {'chose':>6} {'ms':>9} {'dense':>6} {'regret':>6} {'best':>6} {'tau':>5} "
          f"{'picked':>6} {'regret':>6}")
    compiled, of = None, None
    for case in cases:
        if case.name not in records and time.monotonic() < end:
            if (case.element, case.shape) != of:
                compiled = compile_all(compiler, case, {"cpu": arguments.cpu})
                of = case.element, case.shape
            records[case.name] = measure(compiler, case, compiled, layers, arguments, pit)
            arguments.out.write_text(json.dumps(records, indent=1))
        if case.name in records:
            print_case(case.name, records[case.name])
    summarize({case.name: records[case.name] for case in cases if case.name in records})


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        # The reader of the output has had enough; the measurements are in the file.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
