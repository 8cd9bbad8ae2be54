#!/usr/bin/env python3
"""Times a feed-forward block of which a mask names the neurons that count for each token, for the few
tokens of a decoder's step: by pit.torch.PredictedMlp (the mask is given: a predictor's time is not in it), by
two products of pit that are told the mask, and by torch's dense layers. Several blocks take turns, so that
weights come from memory. All ways take turns; figures are the CPU time of one block in us and ratios over
the dense block.

    python3 benchmarks/python/predicted_mlp.py [--features=1024] [--neurons=4096]
        [--tokens=1 4 16] [--live=0.05 0.1 0.3] [--dtype=float32] [--layers=8] [--rounds=9]
"""

import argparse
import os

arguments = argparse.ArgumentParser(
    description=__doc__.partition("\n\n")[0],
    formatter_class=argparse.ArgumentDefaultsHelpFormatter)
for name, default in (("features", 1024), ("neurons", 4096), ("layers", 8), ("rounds", 9)):
    arguments.add_argument(f"--{name}", type=int, default=default)
arguments.add_argument("--tokens", type=int, nargs="+", default=[1, 4, 16])
arguments.add_argument("--live", type=float, nargs="+", default=[0.05, 0.1, 0.3])
arguments.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
given = arguments.parse_args()
os.environ["OMP_NUM_THREADS"] = "1"  # before libraries read it; the clock is one thread's

import itertools  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import torch  # noqa: E402
from torch import nn  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402
import pit.torch  # noqa: E402


def two_products(mlp, x, mask):
    h = torch.relu(pit.linear(x, mlp.up.weight, mlp.up.bias, sparse="out", mask=mask))
    return pit.linear(h, mlp.down.weight, mlp.down.bias, mask=mask, assume=True)


def error(mlp, x, mask):
    up, down = (layer.double() for layer in (mlp.up, mlp.down))
    expected = down((torch.relu(up(x.double())) * mask))
    up, down = (layer.to(x.dtype) for layer in (mlp.up, mlp.down))
    return ((mlp(x).double() - expected).abs().max() / expected.abs().max()).item()


@torch.no_grad()
def main():
    torch.manual_seed(0)
    k, f, dtype = given.features, given.neurons, getattr(torch, given.dtype)
    masks = {}
    blocks = [pit.torch.PredictedMlp(nn.Linear(k, f, dtype=dtype), nn.Linear(f, k, dtype=dtype),
                                     lambda x: masks["now"]) for _ in range(given.layers)]
    print(f"{k} x {f} x {k}, {given.dtype}, torch {torch.__version__}")
    for tokens, live in itertools.product(given.tokens, given.live):
        x, mask = torch.randn(tokens, k, dtype=dtype), torch.rand(tokens, f) < live
        masks["now"] = mask
        functions = {"dense": lambda mlp: mlp.of_all(x), "two products": lambda mlp: two_products(mlp, x, mask),
                     "pit": lambda mlp: mlp(x)}
        times = {name: [] for name in functions}
        for _ in range(given.rounds + 2):
            for name, function in functions.items():
                start = time.process_time()
                for mlp in blocks:
                    function(mlp)
                times[name].append(1e6 * (time.process_time() - start) / len(blocks))
        found = {name: statistics.median(each[2:]) for name, each in times.items()}
        print(f"{tokens:2} tokens, {live:4.0%} live  " + "  ".join(
            f"{name} {us:7.0f} ({found['dense'] / us:5.2f})" for name, us in found.items())
            + f"  error {error(blocks[0], x, mask):.0e}", flush=True)


if __name__ == "__main__":
    main()
