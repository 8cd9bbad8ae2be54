"""Products of few rows by weights with zeros anywhere, stored as a bitmap and values (pit.compressed_linear), beside
torch's with the dense weight.

    compressed.py [--shapes=14336x4096,...] [--rows=8,16,32] [--zeros=0.5,0.6,0.7] [--rounds=7] [--cpu]

A line for each case: microseconds of both, their ratio, the bytes that are kept of the dense weight's, and the error over
that of the largest element. Weights rotate past the L2.
"""

import argparse
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402

from timing import Contestant, Cpu, Gpu, race  # noqa: E402

ROTATED = 200e6  # bytes of dense weights


def numbers(text, kind=int):
    return [kind(x) for x in text.split(",")]


def measure(machine, shape, zeros, rows, rounds):
    n, k = shape
    sets = 2 + int(ROTATED // (2 * n * k)) if machine.name == "cuda" else 2
    weights = []
    for _ in range(sets):
        weight = torch.randn(n, k, device=machine.name, dtype=torch.bfloat16)
        weight[torch.rand(n, k, device=machine.name) < zeros] = 0
        weights.append((weight, pit.compress(weight)))
    for m in rows:
        x = torch.randn(m, k, device=machine.name, dtype=torch.bfloat16)
        wanted = x.double() @ weights[0][0].double().T
        error = (pit.compressed_linear(x, weights[0][1]).double() - wanted).abs().max() / wanted.abs().max()
        dense = Contestant("torch", [lambda w=w: torch.nn.functional.linear(x, w) for w, _ in weights])
        ours = Contestant("pit", [lambda c=c: pit.compressed_linear(x, c) for _, c in weights])
        race(machine, [dense, ours], rounds)
        kept = weights[0][1].nbytes / (2 * n * k)
        print(f"{m:3d} rows by {n}x{k}, {zeros:.0%} zeros: {dense.microseconds:.1f} and {ours.microseconds:.1f} us, "
              f"{dense.microseconds / ours.microseconds:.2f}, {kept:.3f} of the bytes, off by {error:.1e}"
              f"{dense.note}{ours.note}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shapes", default="4096x4096,14336x4096,4096x14336,28672x8192")
    parser.add_argument("--rows", default="8,16,32")
    parser.add_argument("--zeros", default="0.6")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cpu", action="store_true", help="to try the script")
    arguments = parser.parse_args()
    machine = Cpu() if arguments.cpu else Gpu()
    for shape in arguments.shapes.split(","):
        for zeros in numbers(arguments.zeros, float):
            measure(machine, numbers(shape.replace("x", ",")), zeros, numbers(arguments.rows), arguments.rounds)


if __name__ == "__main__":
    main()
