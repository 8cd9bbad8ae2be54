#!/usr/bin/env python3
"""Kernels that are written by hand in the pit_gpu dialect, in turns with torch's. Prints TFLOP/s of
what is computed, the medians of 20 rounds, and the difference from torch's result (norms).

    test/GPU/by_hand.py PIT_OPT test/Codegen/GPU/Pipeline --prepare FOLDER    # where pit is built
    benchmarks/gpu/by_hand.py FOLDER                                         # where the GPU is

torch's products give bf16, the kernel's f32. The attention is that of 32 heads, by cuDNN.
"""

import ctypes
import json
import math
import statistics
import sys
from pathlib import Path

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test" / "GPU"))
from by_hand import Kernel, Operand  # noqa: E402
from driver import Driver  # noqa: E402


class Address:
    def __init__(self, value):
        self.value = value


class Tensor(Operand):
    """A tensor of torch as a kernel's operand."""

    def __init__(self, tensor):
        self.tensor, self.host, self.buffer = tensor, self, self
        self.shape, self.dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
        self.itemsize, self.address = tensor.element_size(), Address(tensor.data_ptr())
        self.strides = [stride * self.itemsize for stride in tensor.stride()]


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def race(name, operations, calls, result, wanted):
    times = {who: [] for who in calls}
    for _ in range(23):
        for who, call in calls.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            call()
            end.record()
            end.synchronize()
            times[who].append(begin.elapsed_time(end))
    off = ((result - wanted).float().norm() / wanted.float().norm()).item()
    rates = ", ".join(f"{who} {operations / statistics.median(t[3:]) / 1e9:.0f}"
                      for who, t in times.items())
    print(f"{name}: {rates} TFLOP/s, off by {off:.1e}", flush=True)


def product(kernel, gathered, n):
    x, w, y = random(n, n), random(n, n), torch.empty(n, n, device="cuda")
    launch = kernel.launcher([Tensor(x), Tensor(w), Tensor(y)], (n // 128) * (n // 256))
    launch()
    race(f"product {n} cubed", 2 * n ** 3, {"torch": lambda: x @ w, "by hand": launch}, y, x @ w)
    ids = torch.randint(0, n, (n // 2,), device="cuda", dtype=torch.int32)
    y = torch.empty(n // 2, n, device="cuda", dtype=torch.bfloat16)
    launch = gathered.launcher([Tensor(x), Tensor(ids), Tensor(w), Tensor(y)], (n // 256) * (n // 128))
    launch()
    rows = x[ids.long()]
    race(f"half of {n} rows, gathered", n ** 3, {"torch, gathered before": lambda: rows @ w,
                                                 "by hand": launch}, y, rows @ w)


def attention(kernel, keys, heads=32, d=128):
    q, k, v = (random(heads, keys, d) for _ in range(3))
    o = torch.empty(heads * keys, d, device="cuda")
    launch = kernel.launcher([Tensor(t) for t in (q, k, v, o)], heads * keys // 128,
                             [ctypes.c_float(d ** -0.5 * math.log2(math.e))])

    def cudnn():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])

    launch()
    race(f"attention, {keys} keys", 4 * heads * keys * keys * d, {"cuDNN": cudnn, "by hand": launch},
         o, cudnn()[0].reshape(heads * keys, d))


def main():
    torch.zeros(1, device="cuda")  # torch's context is the one that the kernels run in
    driver, folder = Driver(), Path(sys.argv[1])
    print(torch.cuda.get_device_name(), torch.__version__)
    kernel = {name: Kernel(driver, json.loads((folder / f"{name}.json").read_text()))
              for name in ("product", "gathered-product", "attention")}
    for n in (4096, 8192):
        product(kernel["product"], kernel["gathered-product"], n)
    for keys in (4096, 16384):
        attention(kernel["attention"], keys)


if __name__ == "__main__":
    main()
