#!/usr/bin/env python3
"""How good the choice is that a program makes at run time, on the CPU: products of f32
of several shapes and patterns of zeros, by the default program, by each rule that it
could have been given, and dense.

    regret.py --build BUILD [--only REGEX] [--seconds S]

All run in turns in one process, on one thread, with a new pattern each time; the median
counts. `regret` is the default's time over that of the best of all others, `dense` the
default's time over the dense program's, and `chose` what it chose last.
"""

import argparse
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

SHAPES = [(599, 512, 256), (512, 1024, 512), (1024, 1024, 1024), (64, 4096, 1024),
          (1, 4096, 4096), (599, 256, 10), (333, 777, 129)]
RULES = {"1x1": "axis = 1, micro_tile = [1, 1]", "2x1": "axis = 1, micro_tile = [2, 1]",
         "4x1": "axis = 1, micro_tile = [4, 1]", "8x1": "axis = 1, micro_tile = [8, 1]",
         "32x1": "axis = 1, micro_tile = [32, 1]", "rows": "axis = 0, micro_tile = [1, *]"}
PATTERNS = 5


def program(m, k, n, rule=""):
    a, b, c = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
    rule = f" rule(#pit.rule<{rule}>)" if rule else ""
    return f"""func.func @f(%a: {a}, %b: {b}) -> {c} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%z : f32) outs(%e : {c}) -> {c}
  %s = pit.sparse %a{rule} : {a}
  %r = linalg.matmul ins(%s, %b : {a}, {b}) outs(%f : {c}) -> {c}
  return %r : {c}
}}"""


def blocks(rng, m, k, density, h, w):
    """Blocks of h x w are live together."""
    live = rng.random((math.ceil(m / h), math.ceil(k / w))) < density
    return np.repeat(np.repeat(live, h, axis=0), w, axis=1)[:m, :k]


def banded(rng, m, k, density):
    """A band along the diagonal."""
    at, along = np.arange(m)[:, None] * k / max(m, 1), np.arange(k)[None, :]
    return np.abs(along - at) < density * k / 2


def skewed(rng, m, k, density):
    """Few columns are nearly full, most nearly empty."""
    weight = (1 + rng.permutation(k)) ** -1.0
    return rng.random((m, k)) < np.minimum(1, weight * density * k / weight.sum())


KINDS = {
    "anywhere": lambda rng, m, k, d: rng.random((m, k)) < d,
    "4x1": lambda rng, m, k, d: blocks(rng, m, k, d, 4, 1),
    "32x1": lambda rng, m, k, d: blocks(rng, m, k, d, 32, 1),
    "rows": lambda rng, m, k, d: blocks(rng, m, k, d, 1, k),
    "32x32": lambda rng, m, k, d: blocks(rng, m, k, d, 32, 32),
    "band": banded,
    "skewed": skewed,
}
DENSITIES = (1.0, 0.5, 0.3, 0.1, 0.05, 0.01)


class Contender:
    def __init__(self, entry, context):
        self.entry, self.context, self.times = entry, context, []

    def run(self, a, b, out):
        start = time.perf_counter()
        self.entry(a, b, out=out, context=self.context)
        self.times.append(time.perf_counter() - start)

    def median(self):
        return statistics.median(self.times)


def measure(compiled, shape, kind, density, seconds, pit):
    m, k, n = shape
    rng = np.random.default_rng()
    inputs = []
    for _ in range(PATTERNS):
        a = rng.standard_normal((m, k), dtype=np.float32)
        a[~KINDS[kind](rng, m, k, density)] = 0
        inputs.append(a)
    b = rng.standard_normal((k, n), dtype=np.float32)
    out = np.empty((m, n), np.float32)
    # A context of its own: what it remembers of other patterns does not count.
    contenders = {name: Contender(entry, pit.Context("cpu", threads=1))
                  for name, entry in compiled.items()}
    end, turn = time.perf_counter() + seconds, 0
    while time.perf_counter() < end or turn < 2 * PATTERNS:
        # Who comes first finds nothing of the pattern in a cache.
        order = list(contenders.values())
        at = turn % len(order)
        for contender in order[at:] + order[:at]:
            contender.run(inputs[turn % PATTERNS], b, out)
        turn += 1
    error = np.abs(out - inputs[(turn - 1) % PATTERNS].astype(np.float64) @ b).max()
    assert error < 1e-2, error
    for contender in contenders.values():
        del contender.times[:PATTERNS]
    return contenders


def chosen(contender):
    choices = contender.entry.choices(contender.context)
    if not choices:
        return "dense"
    choice = choices[0]
    return "dense" if choice.axis is None else "x".join(str(e or "*") for e in choice.micro_tile)


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose name matches")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each case")
    arguments = parser.parse_args()
    os.environ["PIT_RUNTIME_LIBRARY"] = str(arguments.build / "lib" / "libpit_runtime.so")
    import pit

    compiler = pit.Compiler()
    regrets, losses = [], []
    print(f"{'case':28} {'chose':>6} {'ms':>9} {'dense':>6} {'regret':>6}  best")
    for shape in SHAPES:
        names = [f"{'x'.join(map(str, shape))} {kind} {density}"
                 for kind in KINDS for density in DENSITIES
                 if density < 1 or kind == "anywhere"]
        names = [name for name in names if re.search(arguments.only, name)]
        if not names:
            continue
        compiled = {"default": compiler.compile(program(*shape)).f,
                    "dense": compiler.compile(program(*shape), pipeline="dense=true").f}
        for name, rule in RULES.items():
            if "[32" not in rule or shape[0] >= 32:
                compiled[name] = compiler.compile(program(*shape, rule)).f
        for name in names:
            _, kind, density = name.split()
            contenders = measure(compiled, shape, kind, float(density), arguments.seconds, pit)
            mine = contenders.pop("default")
            best = min(contenders, key=lambda other: contenders[other].median())
            regrets.append(mine.median() / contenders[best].median())
            losses.append(mine.median() / contenders["dense"].median())
            print(f"{name:28} {chosen(mine):>6} {1e3 * mine.median():9.3f} {losses[-1]:6.2f} "
                  f"{regrets[-1]:6.2f}  {best}", flush=True)
    regrets.sort()
    print(f"{len(regrets)} cases: regret {geometric_mean(regrets):.3f} (geometric mean), "
          f"{regrets[int(0.95 * (len(regrets) - 1))]:.2f} (95 %), {regrets[-1]:.2f} (most); over "
          f"dense {geometric_mean(losses):.3f}, {max(losses):.2f} (most)")


if __name__ == "__main__":
    main()
