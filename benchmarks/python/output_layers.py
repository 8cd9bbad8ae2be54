#!/usr/bin/env python3
"""Times a layer with many outputs of few weights each beside torch's, on the CPU: forward, and
forward and backward.

    python3 benchmarks/python/output_layers.py [--labels=131072] [--features=512] [--fan-in=32]
        [--batch=128] [--threads=1] [--dtype=float32] [--rounds=5] [--parts] [--no-dense]

`dense` is torch.nn.functional.linear with a dense weight, `csr` torch's sparse products: a CSR
matrix times the batch, its transpose (made before) times the gradient, and sampled_addmm for the
gradient of its values. All take turns; a time is the median, a ratio that of two medians. Memory
is that of weights, their gradient and what says where they are.
"""

import argparse
import itertools
import os
import statistics
import sys
import time
from pathlib import Path

arguments = argparse.ArgumentParser(
    description=__doc__.partition("\n\n")[0],
    formatter_class=argparse.ArgumentDefaultsHelpFormatter)
arguments.add_argument("--labels", type=int, nargs="+", default=[131072])
arguments.add_argument("--features", type=int, nargs="+", default=[512])
arguments.add_argument("--fan-in", type=int, nargs="+", default=[32])
arguments.add_argument("--batch", type=int, nargs="+", default=[128])
arguments.add_argument("--threads", type=int, default=1)
arguments.add_argument("--dtype", default="float32")
arguments.add_argument("--rounds", type=int, default=5)
arguments.add_argument("--parts", action="store_true", help="each gradient on its own, too")
arguments.add_argument("--no-dense", action="store_true", help="without the dense layer")
arguments.add_argument("--no-csr", action="store_true", help="without torch.sparse")
given = arguments.parse_args()
os.environ["OMP_NUM_THREADS"] = str(given.threads)  # before libraries read it

import torch  # noqa: E402
from torch.nn import functional  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402
import pit.torch  # noqa: E402


class Peer:
    """`steps()` are functions by name; `bytes` is the memory of weights and their gradient."""

    def __init__(self, layer, x, grad):
        self.layer, self.x, self.grad = layer, x, grad


class Dense(Peer):
    def __init__(self, layer, x, grad):
        super().__init__(layer, x, grad)
        self.weight = layer.to_dense().detach().requires_grad_()
        self.bias = layer.bias.detach().requires_grad_()
        self.bytes = 2 * self.weight.numel() * self.weight.itemsize

    def forward(self):
        return functional.linear(self.x, self.weight, self.bias)

    def step(self):
        return torch.autograd.grad(self.forward(), (self.x, self.weight, self.bias), self.grad)

    def of_x(self):
        return self.grad @ self.weight.detach()

    def of_weight(self):
        return self.grad.t() @ self.x.detach()


class Pit(Peer):
    def __init__(self, layer, x, grad):
        super().__init__(layer, x, grad)
        values, columns = layer.values, layer.columns
        self.bytes = (2 * values.numel() * values.itemsize + columns.numel() * columns.itemsize
                      + 12 * len(values))
        self.outputs = layer(x)  # whose graph of_x and of_weight read again

    def forward(self):
        return self.layer(self.x)

    def step(self):
        layer = self.layer
        return torch.autograd.grad(layer(self.x), (self.x, layer.values, layer.bias), self.grad)

    def of_x(self):
        return torch.autograd.grad(self.outputs, self.x, self.grad, retain_graph=True)[0]

    def of_weight(self):
        return torch.autograd.grad(self.outputs, self.layer.values, self.grad,
                                   retain_graph=True)[0]


class Csr(Peer):
    def __init__(self, layer, x, grad):
        super().__init__(layer, x, grad)
        n, fan_in = layer.values.shape
        rows = torch.arange(0, n * fan_in + 1, fan_in)
        self.weight = torch.sparse_csr_tensor(
            rows, layer.columns.reshape(-1).long(), layer.values.detach().reshape(-1),
            (n, layer.in_features))
        self.transpose = self.weight.to_sparse_coo().t().to_sparse_csr()
        self.bytes = sum(t.numel() * t.itemsize for w in (self.weight, self.transpose)
                         for t in (w.crow_indices(), w.col_indices(), w.values()))
        self.bytes += layer.values.numel() * layer.values.itemsize

    def forward(self):
        return (self.weight @ self.x.detach().t()).t() + self.layer.bias.detach()

    def of_x(self):
        return (self.transpose @ self.grad.t()).t()

    def of_weight(self):
        return torch.sparse.sampled_addmm(self.weight, self.grad.t(), self.x.detach(), beta=0)

    def step(self):
        self.forward()
        return self.of_x(), self.of_weight(), self.grad.sum(0)


def medians(functions, rounds):
    """Seconds of each function, by name; the first round is not counted."""
    times = {name: [] for name in functions}
    for turn in range(rounds + 1):
        for name, function in functions.items():
            start = time.perf_counter()
            made = function()
            times[name].append(time.perf_counter() - start)
            del made
    return {name: statistics.median(each[1:]) for name, each in times.items()}


def error(found, expected):
    return ((found.double() - expected.double()).abs().max()
            / expected.double().abs().max().clamp(min=1e-9)).item()


def compare(labels, features, fan_in, batch):
    dtype = getattr(torch, given.dtype)
    torch.manual_seed(0)
    layer = pit.torch.FixedFanInLinear(features, labels, fan_in, dtype=dtype)
    x = torch.randn(batch, features).to(dtype).requires_grad_()
    grad = torch.randn(batch, labels).to(dtype)
    peers = {"pit": Pit(layer, x, grad)}
    if not given.no_dense:
        peers["dense"] = Dense(layer, x, grad)
    if not given.no_csr:
        peers["csr"] = Csr(layer, x, grad)
    print(f"{labels} x {features}, {fan_in} weights each, batch {batch}, {given.dtype}, "
          f"{given.threads} threads")
    if "dense" in peers:
        found, expected = peers["pit"].step(), peers["dense"].step()
        columns = layer.columns.long()
        errors = [error(found[0], expected[0]), error(found[1], expected[1].gather(1, columns)),
                  error(peers["pit"].forward(), peers["dense"].forward())]
        print(f"  differences from dense, of the largest element: {max(errors):.1e}")
        del found, expected
    parts = ("forward", "of_x", "of_weight", "step") if given.parts else ("forward", "step")
    for part in parts:
        times = medians({name: getattr(peer, part) for name, peer in peers.items()}, given.rounds)
        ratios = "  ".join(f"{name} {1e3 * t:8.1f} ms ({t / times['pit']:.2f})"
                           for name, t in times.items())
        print(f"  {part:10} {ratios}", flush=True)
    print("  " + "  ".join(f"{name} {peer.bytes / 1e6:.0f} MB" for name, peer in peers.items()))


def main():
    torch.set_num_threads(given.threads)
    for shape in itertools.product(given.labels, given.features, given.fan_in, given.batch):
        compare(*shape)


if __name__ == "__main__":
    main()
