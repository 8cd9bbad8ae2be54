"""Times pit's ops beside torch's, on the CPU or a GPU.

    python3 benchmarks/python/ops.py --device=cuda [--only=moe] [--seconds=0.5]

Both take turns, with another pattern of zeros each time; the time of an op is the
median. pit's times hold everything: the scan of the zeros, the choice, the index.
`host` is what a call costs the caller while the device has nothing to do.
"""

import argparse
import itertools
import statistics
import sys
import time
from pathlib import Path

import torch
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402

PATTERNS = 6


class Clock:
    """Times calls in turns, on the device's clock. A call on a device waits for `ahead` cycles, in
    which the host gets ahead."""

    def __init__(self, device, seconds, ahead=200_000):
        self.cuda, self.seconds, self.ahead = device == "cuda", seconds, ahead

    def once(self, function):
        if not self.cuda:
            start = time.perf_counter()
            function()
            return 1e6 * (time.perf_counter() - start)
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(self.ahead)
        first.record()
        function()
        last.record()
        last.synchronize()
        return 1e3 * first.elapsed_time(last)

    def medians(self, functions, inputs):
        """Microseconds of each function, by name."""
        for function, values in itertools.product(functions.values(), inputs):
            function(*values)
        times = {name: [] for name in functions}
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            for values in inputs:
                for name, function in functions.items():
                    times[name].append(self.once(lambda: function(*values)))
        return {name: statistics.median(values) for name, values in times.items()}

    def host(self, function, count=50):
        """A device that is behind by a thousand kernels would make the host wait."""
        best = float("inf")
        for _ in range(30):
            start = time.perf_counter()
            for _ in range(count):
                function()
            best = min(best, (time.perf_counter() - start) / count)
            if self.cuda:
                torch.cuda.synchronize()
        return 1e6 * best


def zeroed(shape, live_fraction, dtype, device):
    x = torch.randn(shape, device=device)
    return torch.where(torch.rand(shape, device=device) < live_fraction, x, 0).to(dtype)


def report(name, times, error, peer="torch"):
    print(f"{name:48s} pit {times['pit']:10.1f} us   {peer} {times[peer]:10.1f} us   "
          f"{times[peer] / times['pit']:6.2f} times   error {error:.1e}", flush=True)


def relative(found, expected):
    return ((found.double() - expected.double()).abs().max()
            / expected.double().abs().max().clamp(min=1e-9)).item()


def linear(clock, device):
    cuda = device == "cuda"
    shapes = [(4096, 4096, 4096), (256, 4096, 4096)] if cuda else [(599, 512, 256),
                                                                  (512, 1024, 1024)]
    for dtype in (torch.float16, torch.float32) if cuda else (torch.float32,):
        for m, k, n in shapes:
            b = torch.randn(n, device=device).to(dtype)
            layers = []  # with weights of their own, as pit remembers what it chose for each
            for live_fraction in (1, 0.5, 0.1, 0.05, 0.01):
                layers.append(torch.randn(n, k, device=device).to(dtype))
                w = layers[-1]
                inputs = [(zeroed((m, k), live_fraction, dtype, device),) for _ in range(PATTERNS)]
                functions = {"pit": lambda x: pit.linear(x, w, b),
                             "torch": lambda x: functional.linear(x, w, b)}
                error = relative(functions["pit"](*inputs[0]), functions["torch"](*inputs[0]))
                report(f"linear {str(dtype)[6:]} {m}x{k}x{n}, zeros anywhere {1 - live_fraction:.0%}",
                       clock.medians(functions, inputs), error)


def few_rows(clock, device):
    """One token or some, of whose columns a ReLU has left few. pit's weights are stored
    (k, n), so that what a zero skips is contiguous, torch's as torch.nn.Linear has them."""
    k, n = (16384, 4096) if device == "cuda" else (11008, 4096)
    types = (torch.float16,) if device == "cuda" else (torch.float32, torch.bfloat16)
    layers = []  # as above
    for dtype, m in itertools.product(types, (1, 4, 16)):
        for live_fraction in (1, 0.2, 0.05, 0.01):
            w = torch.randn(n, k, device=device).to(dtype)
            stored = w.t().contiguous()
            layers.append(stored)
            inputs = [(torch.randn(m, k, device=device).to(dtype)
                       * (torch.rand(k, device=device) < live_fraction),) for _ in range(PATTERNS)]
            functions = {"pit": lambda x: pit.matmul(x, stored),
                         "torch": lambda x: functional.linear(x, w)}
            error = relative(functions["pit"](*inputs[0]), functions["torch"](*inputs[0]))
            report(f"matmul {str(dtype)[6:]} {m}x{k}x{n}, columns zero {1 - live_fraction:.0%}",
                   clock.medians(functions, inputs), error)


def activated(clock, device):
    cuda = device == "cuda"
    m, k, n = (16384, 1024, 4096) if cuda else (512, 256, 1024)
    dtype = torch.float16 if cuda else torch.float32
    w = (torch.randn(n, k, device=device) / k**0.5).to(dtype)
    b = torch.randn(n, device=device).to(dtype)
    inputs = [(torch.randn(m, k, device=device).to(dtype),) for _ in range(PATTERNS)]
    for name in ("gelu", "silu"):
        functions = {
            "pit": lambda x: pit.linear(x, w, b, activation=name, sparse=None),
            "torch": lambda x: getattr(functional, name)(functional.linear(x, w, b))}
        error = relative(functions["pit"](*inputs[0]), functions["torch"](*inputs[0]))
        report(f"linear {str(dtype)[6:]} {m}x{k}x{n}, {name}", clock.medians(functions, inputs), error)


def padded(clock, device):
    cuda = device == "cuda"
    batch, positions, k, f = (32, 512, 1024, 4096) if cuda else (16, 128, 256, 1024)
    dtype = torch.float16 if cuda else torch.float32
    w1, w2 = torch.randn(f, k, device=device) / 32, torch.randn(k, f, device=device) / 64
    b1, b2 = torch.randn(f, device=device), torch.randn(k, device=device)
    w1, w2, b1, b2 = (v.to(dtype) for v in (w1, w2, b1, b2))
    for part in (1.0, 0.5, 0.25):
        inputs = []
        for _ in range(PATTERNS):
            lengths = (2 * part * positions * torch.rand(batch)).clamp(max=positions)
            lengths = torch.full((batch,), positions) if part == 1 else lengths
            inputs.append((torch.randn(batch, positions, k, device=device).to(dtype),
                           lengths.to(torch.int32).to(device)))
        there = torch.arange(positions, device=device) < inputs[0][1][:, None]
        functions = {
            "pit": lambda x, lengths: pit.padded_mlp(x, lengths, w1, b1, w2, b2),
            "torch": lambda x, lengths: functional.linear(
                functional.gelu(functional.linear(x, w1, b1)), w2, b2)}
        expected = functions["torch"](*inputs[0]) * there[..., None]
        report(f"padded_mlp {str(dtype)[6:]} {batch}x{positions}x{k}x{f}, lengths {part:.0%}",
               clock.medians(functions, inputs), relative(functions["pit"](*inputs[0]), expected))


def conv2d(clock, device):
    # (images, channels, height and width, groups, filters, filter, stride)
    shapes = [(4, 64, 56, 1, 64, 3, 1), (4, 64, 56, 32, 128, 3, 1), (4, 64, 56, 64, 64, 3, 1),
              (4, 128, 28, 128, 128, 3, 2), (1, 256, 14, 256, 256, 5, 1)]
    for n, c, size, groups, f, width, stride in shapes:
        w = torch.randn(f, c // groups, width, width, device=device)
        options = {"stride": stride, "padding": width // 2, "groups": groups}
        for dead in ("half of the pixels", "90% of the channels"):
            inputs = [(torch.randn(n, c, size, size, device=device).relu(),)
                      for _ in range(PATTERNS)]
            if dead == "90% of the channels":
                for x, in inputs:
                    x *= torch.rand(n, c, 1, 1, device=device) < 0.1
            functions = {"pit": lambda x: pit.conv2d(x, w, **options),
                         "torch": lambda x: functional.conv2d(x, w, **options)}
            error = relative(functions["pit"](*inputs[0]), functions["torch"](*inputs[0]))
            report(f"conv2d {n}x{c}x{size}x{size}, {f} of {width}x{width}/{stride}, "
                   f"{groups} groups, {dead}", clock.medians(functions, inputs), error)


def experts_in_torch(x, weights, experts, gate, up, down):
    """Tokens sorted by expert, one product for each (torch._grouped_mm on a GPU)."""
    top = experts.shape[1]
    flat = experts.flatten()
    order = flat.argsort(stable=True)
    tokens = order // top
    packed = x[tokens]
    if x.is_cuda:
        counts = torch.zeros(len(gate), dtype=torch.int32, device=x.device).scatter_add_(
            0, flat, torch.ones_like(flat, dtype=torch.int32))
        ends = counts.cumsum(0).to(torch.int32)
        hidden = (functional.silu(torch._grouped_mm(packed, gate, offs=ends))
                  * torch._grouped_mm(packed, up, offs=ends))
        y = torch._grouped_mm(hidden, down, offs=ends)
    else:
        parts = []
        for e, rows in enumerate(packed.split(flat.bincount(minlength=len(gate)).tolist())):
            parts.append((functional.silu(rows @ gate[e]) * (rows @ up[e])) @ down[e])
        y = torch.cat(parts)
    y = y * weights.flatten()[order, None].to(y.dtype)
    return torch.zeros_like(x).index_add_(0, tokens, y)


def moe(clock, device):
    cuda = device == "cuda"
    layers = ([("Mixtral", 8, 2, 4096, 14336), ("OLMoE", 64, 8, 2048, 1024),
               ("Qwen3", 128, 8, 2048, 768), ("DeepSeek-V3", 256, 8, 7168, 2048)]
              if cuda else [("small", 8, 2, 256, 512)])
    dtype = torch.bfloat16 if cuda else torch.float32
    for name, count, top, k, f in layers:
        gate, up = (torch.randn(count, k, f, device=device, dtype=dtype) / k**0.5
                    for _ in range(2))
        down = torch.randn(count, f, k, device=device, dtype=dtype) / f**0.5
        for tokens, routing in (((256, "even"), (4096, "even"), (4096, "skewed"), (16384, "even"))
                                if cuda else ((n, "even") for n in (16, 64, 256, 512))):
            inputs = []
            for _ in range(PATTERNS):
                weights, experts = route(tokens, count, top, routing, device)
                inputs.append((torch.randn(tokens, k, device=device).to(dtype), weights, experts))
            functions = {"pit": lambda *v: pit.moe(*v, gate, up, down),
                         "torch": lambda *v: experts_in_torch(*v, gate, up, down)}
            if routing == "even":
                entry = program(pit.moe, *inputs[0], gate, up, down)
                functions["program"] = lambda *v: entry(*v, gate, up, down)
            error = relative(functions["pit"](*inputs[0]), functions["torch"](*inputs[0]))
            times = clock.medians(functions, inputs)
            case = f"moe {name} {count}x{k}x{f}, {tokens} tokens, {routing}"
            report(case, times, error)
            if routing == "even":
                report(f"{case}, the program itself", times, error, "program")
                for peer in ("pit", "program") if cuda else ():
                    print(f"host {peer:43s} "
                          f"{clock.host(lambda: functions[peer](*inputs[0]), 5):8.2f} us", flush=True)


def program(function, *arrays):
    """The entry of the program that a call runs, compiled by itself."""
    text = pit.explain(function, *arrays).show(level=1)
    options = {}
    if arrays[0].is_cuda:
        capability = torch.cuda.get_device_capability()
        options = {"target": "cuda", "chip": "sm_90a" if capability == (9, 0) else
                   f"sm_{10 * capability[0] + capability[1]}"}
    return pit.compile(text, **options)[function.__name__]


def route(tokens, count, top, routing, device):
    """Weights and numbers of a token's experts; skewed: the first expert has about ten
    times the tokens of the last one."""
    scores = torch.rand(tokens, count, device=device)
    if routing == "skewed":
        scores = scores ** torch.linspace(0.4, 4, count, device=device)
    return scores.topk(top)


def calls(clock, device):
    a, b = torch.randn(16, 16, device=device), torch.randn(16, 16, device=device)
    out = torch.empty(16, 16, device=device)
    for name, function in (("pit.matmul", lambda: pit.matmul(a, b)),
                           ("pit.matmul, out=", lambda: pit.matmul(a, b, out=out)),
                           ("pit.matmul, dense", lambda: pit.matmul(a, b, sparse=None)),
                           ("pit.linear", lambda: pit.linear(a, b)),
                           ("torch.add", lambda: torch.add(a, b)),
                           ("torch.matmul", lambda: torch.matmul(a, b))):
        function()
        print(f"host {name:43s} {clock.host(function):8.2f} us", flush=True)


CASES = {"calls": calls, "linear": linear, "few_rows": few_rows, "activated": activated,
         "padded": padded, "conv2d": conv2d, "moe": moe}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", choices=CASES, action="append")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each case")
    parser.add_argument("--threads", type=int, help="of torch and pit, on the CPU")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, pit {pit.__version__}, {options.device}")
    clock = Clock(options.device, options.seconds)
    with torch.no_grad():
        for name in options.only or CASES:
            CASES[name](clock, options.device)


if __name__ == "__main__":
    main()
