#!/usr/bin/env python3
"""Times a feed-forward block of frozen weights in which blocks of tokens use blocks of neurons:
forward and the gradient of x together, by pit.masked_mlp, by torch on weights that it gathers for
each block of tokens, and by torch's dense layer. All take turns; figures are the CPU time of one
step in ms and ratios over the dense layer.

    python3 benchmarks/python/masked_mlp.py [--tokens=512] [--features=1024] [--neurons=4096]
        [--size=128] [--blocks=1 4] [--live=0.1 0.3 0.5] [--rounds=11]
"""

import argparse
import os

arguments = argparse.ArgumentParser(
    description=__doc__.partition("\n\n")[0],
    formatter_class=argparse.ArgumentDefaultsHelpFormatter)
for name, default in (("tokens", 512), ("features", 1024), ("neurons", 4096), ("rounds", 11)):
    arguments.add_argument(f"--{name}", type=int, default=default)
arguments.add_argument("--size", type=int, default=128, help="of a block of neurons")
arguments.add_argument("--blocks", type=int, nargs="+", default=[1, 4], help="of tokens")
arguments.add_argument("--live", type=float, nargs="+", default=[0.1, 0.3, 0.5])
given = arguments.parse_args()
os.environ["OMP_NUM_THREADS"] = "1"  # before libraries read it; the clock is one thread's

import statistics  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import torch  # noqa: E402
from torch.nn.functional import linear  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402


def gathered(x, mask, w1, w2):
    count, size = mask.shape[1], w1.shape[0] // mask.shape[1]
    parts = []
    for tokens, row in zip(x.chunk(mask.shape[0]), mask):
        ids = row.nonzero()[:, 0]
        first = w1.view(count, size, -1)[ids].flatten(0, 1)
        second = w2.view(-1, count, size)[:, ids].flatten(1)
        parts.append(linear(torch.relu(linear(tokens, first)), second))
    return torch.cat(parts)


def main():
    torch.manual_seed(0)
    t, k, f = given.tokens, given.features, given.neurons
    x, grad = torch.randn(t, k, requires_grad=True), torch.randn(t, k)
    w1, w2 = torch.randn(f, k) / k ** 0.5, torch.randn(k, f) / f ** 0.5
    print(f"{t} x {k} x {f} x {k}, f32, blocks of {given.size} neurons, torch {torch.__version__}")
    for blocks in given.blocks:
        for live in given.live:
            mask = torch.rand(blocks, f // given.size).argsort(-1) < round(live * f / given.size)
            functions = {"dense": lambda: linear(torch.relu(linear(x, w1)), w2),
                         "gathered": lambda: gathered(x, mask, w1, w2),
                         "pit": lambda: pit.masked_mlp(x, mask, w1, None, w2, None)}
            times = {name: [] for name in functions}
            for _ in range(given.rounds + 2):
                for name, function in functions.items():
                    start = time.process_time()
                    torch.autograd.grad(function(), x, grad)
                    times[name].append(1e3 * (time.process_time() - start))
            found = {name: statistics.median(each[2:]) for name, each in times.items()}
            print(f"{blocks} blocks of tokens, {live:4.0%} live  " + "  ".join(
                f"{name} {ms:6.1f} ({found['dense'] / ms:5.2f})" for name, ms in found.items()),
                flush=True)


if __name__ == "__main__":
    main()
