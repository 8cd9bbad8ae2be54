#!/usr/bin/env python3
"""Times forward and backward of pit.torch.MaskedLinear, whose mask stays for many steps, beside
torch's dense layer, `F.linear(x, weight * mask)` and pit.linear(mask=), which looks at the mask in
each call. All take turns; ratios are the dense layer's median over that of each.

    python3 benchmarks/python/masked_layers.py [--rows=512] [--features=1024] [--outputs=1024]
        [--threads=1] [--rounds=7]
"""

import argparse
import os

arguments = argparse.ArgumentParser(
    description=__doc__.partition("\n\n")[0],
    formatter_class=argparse.ArgumentDefaultsHelpFormatter)
for name, default in (("rows", 512), ("features", 1024), ("outputs", 1024), ("threads", 1),
                      ("rounds", 7)):
    arguments.add_argument(f"--{name}", type=int, default=default)
given = arguments.parse_args()
os.environ["OMP_NUM_THREADS"] = str(given.threads)  # before libraries read it

import statistics  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import torch  # noqa: E402
from torch.nn import functional  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402
import pit.torch  # noqa: E402

BLOCKS = {"single weights": (1, 1), "16x1": (16, 1), "32x1": (32, 1), "rows": (1, 0)}
KEPT = (1, 0.5, 0.2, 0.1, 0.05, 0.01)


def medians(functions):
    times = {name: [] for name in functions}
    for turn in range(given.rounds + 2):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(each[2:]) for name, each in times.items()}


def main():
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    n, k = given.outputs, given.features
    x, grad = torch.randn(given.rows, k, requires_grad=True), torch.randn(given.rows, n)
    print(f"{given.rows} x {k} x {n}, f32, {given.threads} threads")
    for name, (rows, columns) in BLOCKS.items():
        for kept in KEPT:
            columns = columns or k
            mask = torch.rand(-(-n // rows), -(-k // columns)) < kept
            mask = mask.repeat_interleave(rows, 0).repeat_interleave(columns, 1)[:n, :k]
            layer = pit.torch.MaskedLinear(k, n, bias=False)
            layer.set_mask(mask)
            weight = layer.weight
            calls = {
                "dense": lambda: functional.linear(x, weight),
                "weight * mask": lambda: functional.linear(x, weight * mask),
                "pit.linear(mask=)": lambda: pit.linear(x, weight, sparse="weight", mask=mask),
                "MaskedLinear": lambda: layer(x)}
            times = medians({each: (lambda call=call: torch.autograd.grad(
                call(), (x, weight), grad)) for each, call in calls.items()})
            ratios = "  ".join(f"{each} {times['dense'] / t:5.2f}" for each, t in times.items())
            print(f"{name:14} {kept:5.0%} kept, {1e3 * times['dense']:7.1f} ms  {ratios}  skips "
                  f"{layer.skips}", flush=True)


if __name__ == "__main__":
    main()
