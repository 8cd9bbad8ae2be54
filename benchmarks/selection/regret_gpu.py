#!/usr/bin/env python3
"""How good the choice is that a program makes at run time on a GPU: products of
matrices of several shapes and patterns of zeros, by the default program, by each rule
that it could have been given, dense, and by cuBLAS.

    regret_gpu.py --build BUILD --out DIR [--chip sm_90a] [--only REGEX]     where the compiler is
    regret_gpu.py --run DIR [--cases REGEX] [--rounds N] [--seconds S]       where the GPU is

All take turns in CUDA graphs over operand sets that are more than the L2 holds, each with
a pattern of its own; medians. `regret` is the default's time over that of the best of
pit's other programs, `dense` over pit's dense one, `cublas` over torch's product.
Marks are of the values of the left operand, by a mask of it (`mask`), or of the wanted
part of the result (`wanted`), which torch multiplies by. With `values-bt` the right operand
is stored [n, k], as torch.nn.Linear has its weights. With `right` and `right-bt` it is that
operand that is marked, by its values: names of rules and of patterns are those of its
transpose, so 32x1 are 32 columns.
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

SHAPES = [(4096, 4096, 4096), (1024, 4096, 4096), (2048, 2048, 2048), (4096, 1024, 512),
          (1, 16384, 4096), (16, 16384, 4096)]
TYPES = ("f16", "bf16", "f32")
RULES = {"rows": "axis = 0, micro_tile = [1, *]", "4x1": "axis = 1, micro_tile = [4, 1]",
         "8x1": "axis = 1, micro_tile = [8, 1]", "16x1": "axis = 1, micro_tile = [16, 1]",
         "32x1": "axis = 1, micro_tile = [32, 1]", "64x1": "axis = 1, micro_tile = [64, 1]",
         "128x1": "axis = 1, micro_tile = [128, 1]", "1x8": "axis = 0, micro_tile = [1, 8]",
         "1x64": "axis = 0, micro_tile = [1, 64]", "1x256": "axis = 0, micro_tile = [1, 256]"}
OF_VALUES = ("rows", "1x8", "4x1", "8x1", "16x1", "32x1", "64x1", "128x1")
MARKS = {"values": OF_VALUES, "values-bt": OF_VALUES, "right": OF_VALUES, "right-bt": OF_VALUES,
         "mask": ("rows", "32x1", "64x1"), "wanted": ("rows", "1x64", "1x256")}
KINDS = {"anywhere": (1, 1), "2x1": (2, 1), "4x1": (4, 1), "8x1": (8, 1), "32x1": (32, 1), "64x1": (64, 1), "128x1": (128, 1),
         "rows": (1, 0), "32x32": (32, 32), "1x64": (1, 64)}
LIVE_FRACTIONS = (1.0, 0.5, 0.25, 0.1, 0.05, 0.01)


def rule_of(name, mark):
    """The rule of the marked operand as it is stored."""
    axis, tile = re.fullmatch(r"axis = (\d), micro_tile = (.*)", RULES[name]).groups()
    if mark == "right":
        axis, tile = 1 - int(axis), "[" + ", ".join(reversed(tile[1:-1].split(", "))) + "]"
    return f" rule(#pit.rule<axis = {axis}, micro_tile = {tile}>)"


def program(shape, element, mark, rule=""):
    m, k, n = shape
    is_bt, is_right = mark.endswith("-bt"), mark.startswith("right")
    a, b, c = (f"tensor<{m}x{k}x{element}>",
               f"tensor<{n}x{k}x{element}>" if is_bt else f"tensor<{k}x{n}x{element}>",
               f"tensor<{m}x{n}xf32>")
    rule = rule_of(rule, mark) if rule else ""
    mask = f"tensor<{m}x{n if mark == 'wanted' else k}xi8>"
    by_mask = mark in ("mask", "wanted")
    selects = f" mask(%m : {mask})" if by_mask else ""
    marked, type_ = ("%b", b) if is_right else ("%a", a)
    before = f"%s = pit.sparse {marked}{selects}{rule} : {type_}" if mark != "wanted" else ""
    after = f"%s = pit.sparse %r{selects}{rule} : {c}" if mark == "wanted" else ""
    left, right, result = (("%a", "%b", "%s") if mark == "wanted" else
                           ("%a", "%s", "%r") if is_right else ("%s", "%b", "%r"))
    maps = ("indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
            "affine_map<(m, n, k) -> (m, n)>]" if is_bt else "")
    return f"""func.func @f(%a: {a}, %b: {b}{f", %m: {mask}" if by_mask else ""}) -> {c} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%z : f32) outs(%e : {c}) -> {c}
  {before}
  %r = linalg.matmul {maps} ins({left}, {right} : {a}, {b}) outs(%f : {c}) -> {c}
  {after}
  return {result} : {c}
}}"""


def name_of(shape, element, mark, contender):
    return "-".join([*map(str, shape), element, mark, contender])


def build(arguments):
    arguments.out.mkdir(parents=True, exist_ok=True)
    for shape in SHAPES:
        for element in TYPES:
            for mark, rules in MARKS.items():
                texts = {"default": program(shape, element, mark),
                         "dense": program(shape, element, mark)}
                texts |= {rule: program(shape, element, mark, rule) for rule in rules}
                for contender, text in texts.items():
                    name = name_of(shape, element, mark, contender)
                    if re.search(arguments.only, name):
                        compile_one(arguments, name, text)


def compile_one(arguments, name, text):
    source = arguments.out / f"{name}.mlir"
    source.write_text(text)
    print(name, flush=True)
    dense = ["--pipeline=dense=true"] if name.endswith("dense") else []
    subprocess.run([arguments.build / "bin" / "pit-compile", source, "--target=cuda",
                    f"--chip={arguments.chip}", *dense, *arguments.option,
                    "-o", arguments.out / f"{name}.so"], check=True)


def selected(torch, rows, columns, kind, live_fraction):
    """The live elements, in blocks of `kind`; 0 is the whole dimension."""
    h, w = KINDS[kind][0], KINDS[kind][1] or columns
    live = torch.rand((-(-rows // h), -(-columns // w)), device="cuda") < live_fraction
    return live.repeat_interleave(h, 0).repeat_interleave(w, 1)[:rows, :columns].contiguous()


def make_arguments(torch, shape, dtype, mark, kind, live_fraction):
    """Of a program, with what torch multiplies for it."""
    m, k, n = shape
    a = torch.randn((m, k), device="cuda", dtype=dtype)
    b = torch.randn((k, n), device="cuda", dtype=dtype)
    if mark.startswith("right"):
        b *= selected(torch, n, k, kind, live_fraction).t()
    else:
        live = selected(torch, m, n if mark == "wanted" else k, kind, live_fraction)
    if mark.startswith("values"):
        a *= live
    if mark.endswith("-bt"):
        b = b.t().contiguous()
    return (a, b, live.to(torch.int8)) if mark in ("mask", "wanted") else (a, b)


def peer(torch, mark, given, flat, product):
    """torch's product into `product`, with a masked operand in `flat`."""
    if mark == "mask":
        return lambda: torch.matmul(torch.mul(given[0], given[2], out=flat), given[1], out=product)
    if mark == "wanted":
        return lambda: torch.mul(torch.matmul(given[0], given[1], out=product), given[2], out=product)
    right = given[1].t() if mark.endswith("-bt") else given[1]
    return lambda: torch.matmul(given[0], right, out=product)


def measure(pit, torch, timing, machine, entries, shape, element, mark, kind, live_fraction, rounds):
    m, k, n = shape
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[element]
    bytes_ = (m * k + k * n) * dtype.itemsize + 4 * m * n
    sets = max(3, -(-2 * machine.l2_bytes // bytes_))
    data = [make_arguments(torch, shape, dtype, mark, kind, live_fraction) for _ in range(sets)]
    out = torch.empty((m, n), device="cuda")
    flat = torch.empty((m, k), device="cuda", dtype=dtype)
    product = torch.empty((m, n), device="cuda", dtype=dtype)
    # A context of its own: what it remembers of other patterns does not count.
    context = pit.Context("cuda")
    contestants = [timing.Contestant(name, [
        (lambda given=given, entry=entry: entry(*given, out=out, context=context))
        for given in data]) for name, entry in entries.items()]
    contestants.append(timing.Contestant("cublas", [
        peer(torch, mark, given, flat, product) for given in data]))
    a, b, *mask = (array.double() for array in data[-1])
    b = b.t() if mark.endswith("-bt") else b
    wanted = (a * mask[0]) @ b if mark == "mask" else a @ b * (mask[0] if mask else 1)
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
            for mark in MARKS:
                entries = {}
                for contender in ("default", "dense", *RULES):
                    path = arguments.run / f"{name_of(shape, element, mark, contender)}.so"
                    if path.exists():
                        entries[contender] = pit.load(path).f
                for kind, live_fraction in ((k, d) for k in KINDS for d in LIVE_FRACTIONS):
                    case = f"{'x'.join(map(str, shape))} {element} {mark} {kind} {live_fraction}"
                    if (live_fraction == 1 and kind != "anywhere" or time.monotonic() > end or
                            not re.search(arguments.cases, case) or not entries):
                        continue
                    times = measure(pit, torch, timing, machine, entries, shape, element, mark,
                                    kind, live_fraction, arguments.rounds)
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
