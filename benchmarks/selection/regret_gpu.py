#!/usr/bin/env python3
"""How good the choice is that a program makes at run time on a GPU: products of
matrices of several shapes and patterns of zeros, by the default program, by each rule
that it could have been given, dense, and by cuBLAS.

    regret_gpu.py --build BUILD --out DIR [--chip sm_90a] [--only REGEX]     where the compiler is
    regret_gpu.py --run DIR [--cases REGEX] [--rounds N] [--seconds S]       where the GPU is

All take turns in CUDA graphs over operand sets that are more than the L2 holds, each with
a pattern of its own; medians. `regret` is the default's time over that of the best of
pit's other programs, `dense` over pit's dense one, `cublas` over torch's product.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "benchmarks" / "gpu")]

SHAPES = [(4096, 4096, 4096), (1024, 4096, 4096), (4096, 1024, 512)]
TYPES = ("f16", "f32")
RULES = {"rows": "axis = 0, micro_tile = [1, *]", "16x1": "axis = 1, micro_tile = [16, 1]",
         "32x1": "axis = 1, micro_tile = [32, 1]", "64x1": "axis = 1, micro_tile = [64, 1]",
         "128x1": "axis = 1, micro_tile = [128, 1]"}
KINDS = {"anywhere": (1, 1), "8x1": (8, 1), "32x1": (32, 1), "64x1": (64, 1), "128x1": (128, 1),
         "rows": (1, 0), "32x32": (32, 32)}
DENSITIES = (1.0, 0.5, 0.25, 0.1, 0.05, 0.01)


def program(shape, element, rule="", marked=True):
    m, k, n = shape
    a, b, c = (f"tensor<{m}x{k}x{element}>", f"tensor<{k}x{n}x{element}>", f"tensor<{m}x{n}xf32>")
    rule = f" rule(#pit.rule<{rule}>)" if rule else ""
    mark = f"%s = pit.sparse %a{rule} : {a}" if marked else ""
    return f"""func.func @f(%a: {a}, %b: {b}) -> {c} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%z : f32) outs(%e : {c}) -> {c}
  {mark}
  %r = linalg.matmul ins({"%s" if marked else "%a"}, %b : {a}, {b}) outs(%f : {c}) -> {c}
  return %r : {c}
}}"""


def name_of(shape, element, contender):
    return "-".join([*map(str, shape), element, contender])


def build(arguments):
    arguments.out.mkdir(parents=True, exist_ok=True)
    for shape in SHAPES:
        for element in TYPES:
            texts = {"default": program(shape, element),
                     "dense": program(shape, element, marked=False)}
            texts |= {rule: program(shape, element, text) for rule, text in RULES.items()}
            for contender, text in texts.items():
                name = name_of(shape, element, contender)
                if not re.search(arguments.only, name):
                    continue
                source = arguments.out / f"{name}.mlir"
                source.write_text(text)
                print(name, flush=True)
                subprocess.run([arguments.build / "bin" / "pit-compile", source, "--target=cuda",
                                f"--chip={arguments.chip}", *arguments.option,
                                "-o", arguments.out / f"{name}.so"], check=True)


def masked(torch, shape, dtype, kind, density):
    """Random values, zeros in blocks of `kind`; 0 is the whole dimension."""
    m, k, _ = shape
    h, w = KINDS[kind][0], KINDS[kind][1] or k
    live = torch.rand((-(-m // h), -(-k // w)), device="cuda") < density
    live = live.repeat_interleave(h, 0).repeat_interleave(w, 1)[:m, :k]
    values = torch.randn((m, k), device="cuda", dtype=dtype)
    return torch.where(live, values, torch.zeros_like(values))


def measure(pit, torch, timing, machine, entries, shape, element, kind, density, rounds):
    m, k, n = shape
    dtype = {"f16": torch.float16, "f32": torch.float32}[element]
    bytes_ = (m * k + k * n) * dtype.itemsize + 4 * m * n
    sets = max(3, -(-2 * machine.l2_bytes // bytes_))
    data = [(masked(torch, shape, dtype, kind, density),
             torch.randn((k, n), device="cuda", dtype=dtype)) for _ in range(sets)]
    out = torch.empty((m, n), device="cuda")
    flat = torch.empty((m, n), device="cuda", dtype=dtype)
    # A context of its own: what it remembers of other patterns does not count.
    context = pit.Context("cuda")
    contestants = [timing.Contestant(name, [
        (lambda a=a, b=b, entry=entry: entry(a, b, out=out, context=context)) for a, b in data])
        for name, entry in entries.items()]
    contestants.append(timing.Contestant("cublas", [
        (lambda a=a, b=b: torch.matmul(a, b, out=flat)) for a, b in data]))
    wanted = data[-1][0].double() @ data[-1][1].double()
    for contestant in contestants[:-1]:
        out.fill_(float("nan"))
        contestant.calls[-1]()
        error = ((out - wanted).norm() / (wanted.norm() + 1e-30)).item()
        assert error < 2e-3, f"{contestant.name}: {error}"
    ready = timing.race(machine, contestants, rounds)
    for contestant in contestants:
        if contestant.note:
            print(f"{contestant.name}: {contestant.note}")
    return {contestant.name: contestant.microseconds for contestant in ready}


def run(arguments):
    os.environ.setdefault("PIT_RUNTIME_LIBRARY", str(arguments.run / "libpit_runtime.so"))
    import torch

    import pit
    import timing

    machine, regrets, losses = timing.Gpu(), [], []
    end = time.monotonic() + arguments.seconds
    for shape in SHAPES:
        for element in TYPES:
            entries = {}
            for contender in ("default", "dense", *RULES):
                path = arguments.run / f"{name_of(shape, element, contender)}.so"
                if path.exists():
                    entries[contender] = pit.load(path).f
            for kind in KINDS:
                for density in DENSITIES:
                    case = f"{'x'.join(map(str, shape))} {element} {kind} {density}"
                    if (density == 1 and kind != "anywhere" or time.monotonic() > end or
                            not re.search(arguments.cases, case) or not entries):
                        continue
                    times = measure(pit, torch, timing, machine, entries, shape, element, kind,
                                    density, arguments.rounds)
                    line = {"case": case, "us": {n: round(t, 1) for n, t in times.items()}}
                    if "default" in times:
                        best = min((n for n in times if n not in ("default", "cublas")),
                                   key=times.get)
                        regrets.append(times["default"] / times[best])
                        losses.append(times["default"] / times["dense"])
                        line |= {"best": best, "regret": round(regrets[-1], 3),
                                 "dense": round(losses[-1], 3),
                                 "cublas": round(times["default"] / times["cublas"], 3)}
                    print(json.dumps(line), flush=True)
    if regrets:
        regrets.sort()
        mean = math.exp(statistics.fmean(map(math.log, regrets)))
        print(f"{len(regrets)} cases: regret {mean:.3f} (geometric mean), "
              f"{regrets[int(0.95 * (len(regrets) - 1))]:.2f} (95 %), {regrets[-1]:.2f} (most); "
              f"over dense {math.exp(statistics.fmean(map(math.log, losses))):.3f}, "
              f"{max(losses):.2f} (most)")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--option", action="append", default=[], help="of pit-compile")
    parser.add_argument("--only", default="", metavar="REGEX", help="programs whose name matches")
    parser.add_argument("--run", type=Path)
    parser.add_argument("--cases", default="", metavar="REGEX", help="cases whose name matches")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=540, help="start no case later")
    arguments = parser.parse_args()
    if arguments.build and arguments.out:
        build(arguments)
    elif arguments.run:
        run(arguments)
    else:
        parser.error("--build with --out, or --run, is needed")


if __name__ == "__main__":
    main()
