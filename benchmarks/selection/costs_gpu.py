#!/usr/bin/env python3
"""What the cost model predicts for a GPU beside what is measured: a product by each rule
that could be forced, by the default program and by the dense one, for zeros of several
patterns, with weights as (k, n) and as (n, k), and of the right operand (`right`).

    costs_gpu.py --build BUILD --out DIR [--chip sm_90a] [--only REGEX]    where the compiler is
    costs_gpu.py --run DIR [--cases REGEX] [--seconds S] [--results FILE]  where the GPU is

The first compiles the programs and asks the model, by the density that a mark can tell.
Both can be asked for at once. A line has, for each rule, the measured microseconds and the
predicted ones. At the end are, for each rule, the costs that fit the measured times best:
`fixed` microseconds, and the picoseconds of a multiplication and addition of a live
micro-tile (`multiply` of a tile table)."""

import argparse
import concurrent.futures
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "python"))

SIZES = (4096, 2048)
TYPES = ("f32", "f16", "bf16")
LAYOUTS = ("kn", "nk", "right")
# By micro-tiles of a left operand, 0 the whole row; of a right one they are the same, with
# columns for rows.
RULES = {"rows": (1, 0), "1x64": (1, 64), **{f"{h}x1": (h, 1) for h in (1, 4, 8, 16, 32, 64)}}
KINDS = {"anywhere": (1, 1), "8x1": (8, 1), "16x1": (16, 1), "32x1": (32, 1), "64x1": (64, 1),
         "1x64": (1, 64), "rows": (1, 0)}
LIVE = (0.5, 0.2, 0.1, 0.05, 0.01)


def sizes_of(rule, layout):
    """The micro-tile of a rule, and its axis."""
    h, w = RULES[rule]
    axis = 0 if (h, w) == (1, w) and w != 1 else 1
    return ((h, w), axis) if layout != "right" else ((w, h), 1 - axis)


def forced(rule, layout):
    micro_tile, axis = sizes_of(rule, layout)
    sizes = ", ".join("*" if size == 0 else str(size) for size in micro_tile)
    return f"rule(#pit.rule<axis = {axis}, micro_tile = [{sizes}]>)"


def program(n, element, layout, mark):
    """A product of n x n x n; `mark` is what the mark says, or None: there is no mark."""
    a, c = f"tensor<{n}x{n}x{element}>", f"tensor<{n}x{n}xf32>"
    left, right = {"kn": ("(m, k)", "(k, n)"), "nk": ("(m, k)", "(n, k)"),
                   "right": ("(k, n)", "(m, k)")}[layout]
    marked = f"%s = pit.sparse %a {mark} : {a}" if mark is not None else ""
    widen = "" if element == "f32" else f"""
    %u = arith.extf %x : {element} to f32
    %v = arith.extf %y : {element} to f32"""
    x, y = ("%x", "%y") if element == "f32" else ("%u", "%v")
    return f"""func.func @f(%a: {a}, %b: {a}) -> {c} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {c}
  %i = linalg.fill ins(%z : f32) outs(%e : {c}) -> {c}
  {marked}
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> {left}>,
    affine_map<(m, n, k) -> {right}>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]}}
    ins({"%s" if marked else "%a"}, %b : {a}, {a}) outs(%i : {c}) {{
  ^bb0(%x: {element}, %y: {element}, %w: f32):{widen}
    %p = arith.mulf {x}, {y} : f32
    %q = arith.addf %w, %p : f32
    linalg.yield %q : f32
  }} -> {c}
  return %r : {c}
}}"""


def marks(layout):
    return {"default": "", "dense": None, **{rule: forced(rule, layout) for rule in RULES}}


def configurations(only, sizes):
    for n in sizes:
        for element in TYPES:
            for layout in LAYOUTS:
                name = f"{n}-{element}-{layout}"
                if re.search(only, name):
                    yield name, n, element, layout


def compiler(arguments, source, *options):
    return subprocess.run(
        [arguments.build / "bin" / "pit-compile", "-", "--target=cuda", f"--chip={arguments.chip}",
         *arguments.option, *options], input=source, capture_output=True, text=True)


def compile_one(arguments, configuration, contender, mark):
    name, n, element, layout = configuration
    path = arguments.out / f"{name}-{contender}.so"
    if not path.exists():
        done = compiler(arguments, program(n, element, layout, mark), "-o", str(path))
        if done.returncode:
            print(f"{path.stem}: {done.stderr.strip().splitlines()[0]}", flush=True)


def predict(arguments, configuration, kind, live):
    """Microseconds by rule."""
    name, n, element, layout = configuration
    h, w = KINDS[kind]
    told = (h, w or n) if layout != "right" else (w or n, h)
    told = f"density({live} in [{told[0]}, {told[1]}])"
    explained = compiler(arguments, program(n, element, layout, told), "--emit=mlir", "--explain",
                         "-o", "-").stderr
    unit = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
    found = {}
    for rule, axis, value, by in re.findall(
            r"candidate (\S+) along axis (\d) of operand 0: coverage \S+, (\S+) (\w+),", explained):
        found[rule, axis] = float(value) * unit[by]
    dense = re.search(r"dense takes (\S+) (\w+)", explained)
    times = {"dense": float(dense[1]) * unit[dense[2]]} if dense else {}
    for rule in RULES:
        micro_tile, axis = sizes_of(rule, layout)
        key = "x".join("*" if size == 0 else str(size) for size in micro_tile), str(axis)
        if key in found:
            times[rule] = found[key]
    return f"{name} {kind} {live}", times


def build(arguments):
    arguments.out.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(compile_one, arguments, c, contender, mark)
                for c in configurations(arguments.only, arguments.sizes) for contender, mark in marks(c[3]).items()]
        predictions = [pool.submit(predict, arguments, c, kind, live)
                       for c in configurations(arguments.only, arguments.sizes) for kind in KINDS for live in arguments.live]
        for job in jobs:
            job.result()
        (arguments.out / "predicted.json").write_text(
            json.dumps(dict(job.result() for job in predictions)))


def masked(torch, n, dtype, kind, live):
    h, w = KINDS[kind][0], KINDS[kind][1] or n
    alive = torch.rand((-(-n // h), -(-n // w)), device="cuda") < live
    alive = alive.repeat_interleave(h, 0).repeat_interleave(w, 1)[:n, :n]
    return torch.randn((n, n), device="cuda", dtype=dtype) * alive


def coverage(torch, values, rule):
    """The part of the micro-tiles of a rule that is live."""
    n = len(values)
    live = values != 0
    if rule == "rows":
        return live.any(1).float().mean().item()
    h, w = map(int, rule.split("x"))
    return live.reshape(n // h, h, n // w, w).any(3).any(1).float().mean().item()


def clock(torch, call, budget):
    """Microseconds of a call: the median of a few bursts that take `budget` in all."""
    def burst(repeat):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(repeat):
            call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e3 / repeat

    call()
    once = burst(1)
    if once > budget:
        return once
    repeat = max(1, min(20, int(budget / 3 / once)))
    return statistics.median(burst(repeat) for _ in range(3))


def measure(pit, torch, arguments, configuration, predicted, records):
    name, n, element, layout = configuration
    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[element]
    folder = arguments.run
    entries = {contender: pit.load(folder / f"{name}-{contender}.so").f for contender in marks(layout)
               if (folder / f"{name}-{contender}.so").exists()}
    b = torch.randn((n, n), device="cuda", dtype=dtype)
    out = torch.empty((n, n), device="cuda")
    def product(a, b):
        """By torch. The zeros are those of a left operand."""
        return b @ a.T if layout == "right" else a @ (b if layout == "kn" else b.T)

    checked = set()
    for kind in KINDS:
        for live in arguments.live:
            case = f"{name} {kind} {live}"
            if not re.search(arguments.cases, case) or time.monotonic() > arguments.end:
                continue
            a = masked(torch, n, dtype, kind, live)
            given = a.T.contiguous() if layout == "right" else a
            context = pit.Context("cuda")  # what it remembers is of these zeros
            line, shares = {}, {}
            for contender, entry in entries.items():
                line[contender] = clock(torch, lambda: entry(given, b, out=out, context=context),
                                        arguments.burst)
                if contender not in checked:
                    wanted = product(a.float(), b.float())
                    error = ((out - wanted).norm() / wanted.norm()).item()
                    assert error < 2e-3, f"{case} {contender}: {error}"
                    checked.add(contender)
                if contender in RULES:
                    shares[contender] = coverage(torch, a, contender)
            line["torch"] = clock(torch, lambda: product(a, b), arguments.burst)
            records.append({"case": case, "us": line, "coverage": shares,
                            "predicted": predicted.get(case, {})})
            known = predicted.get(case, {})
            best = min((c for c in line if c not in ("default", "torch")), key=line.get)
            print(f"{case:28}" + " ".join(
                f"{c} {t:.0f}" + (f"/{known[c]:.0f}" if c in known else "") for c, t in line.items())
                + f"  best {best}, default/best {line.get('default', 0) / line[best]:.2f}, "
                f"default/dense {line.get('default', 0) / line['dense']:.2f}", flush=True)


def fit(torch, records):
    """For each program of a rule: time = fixed + multiply * live multiplications."""
    for name in dict.fromkeys(record["case"].split()[0] for record in records):
        mine = [r for r in records if r["case"].split()[0] == name]
        size = int(name.split("-")[0])
        parts = [f"dense {statistics.median(r['us']['dense'] for r in mine) * 1e6 / size ** 3:.4f} ps"]
        for rule in RULES:
            points = [(r["coverage"][rule], r["us"][rule]) for r in mine if rule in r["us"]]
            if len(points) < 3:
                continue
            # Relative errors count alike.
            rows = torch.tensor([[1 / t, c / t] for c, t in points], dtype=torch.float64)
            fixed, slope = torch.linalg.lstsq(
                rows, torch.ones(len(points), 1, dtype=torch.float64)).solution.flatten().tolist()
            off = statistics.fmean((abs(fixed + slope * c - t) / t) ** 2 for c, t in points) ** 0.5
            parts.append(f"{rule}: fixed {fixed:.1f} us, multiply {slope * 1e6 / size ** 3:.4f} ps "
                         f"(off {off:.2f})")
        print(f"fit {name}: " + "; ".join(parts), flush=True)


def run(arguments):
    import torch

    import pit

    arguments.end = time.monotonic() + arguments.seconds
    predicted = json.loads((arguments.run / "predicted.json").read_text())
    records = []
    try:
        for configuration in configurations(arguments.only, arguments.sizes):
            measure(pit, torch, arguments, configuration, predicted, records)
    finally:
        if arguments.results:
            arguments.results.write_text(json.dumps(records))
    fit(torch, records)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path)
    parser.add_argument("--out", type=Path, metavar="DIR", help="where programs go")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--option", action="append", default=[], help="of pit-compile")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", metavar="REGEX", help="as 4096-f32-nk")
    numbers = lambda kind: lambda text: tuple(map(kind, text.split(",")))
    parser.add_argument("--sizes", type=numbers(int), default=SIZES, metavar="LIST",
                        help="multiples of 64")
    parser.add_argument("--live", type=numbers(float), default=LIVE, metavar="LIST")
    parser.add_argument("--run", type=Path, metavar="DIR")
    parser.add_argument("--cases", default="", metavar="REGEX", help="as 4096-f32-nk anywhere 0.05")
    parser.add_argument("--burst", type=float, default=1500, help="microseconds to measure a program")
    parser.add_argument("--seconds", type=float, default=60, help="start no case later")
    parser.add_argument("--results", type=Path, metavar="FILE", help="all numbers, as JSON")
    arguments = parser.parse_args()
    if arguments.build and arguments.out:
        build(arguments)
    if arguments.run:
        run(arguments)
    elif not arguments.build or not arguments.out:
        parser.error("--build with --out, or --run, is needed")


if __name__ == "__main__":
    main()
