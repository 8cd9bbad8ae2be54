"""Times training beside torch: forward and backward of layers, on the CPU or a GPU.

    python3 benchmarks/python/training.py --device=cuda [--only=moe] [--tokens=4096,16384]
    python3 benchmarks/python/training.py --device=cpu --dtype=float32 --tokens=512

The two take turns, with other tokens each time, and other zeros or routes. Each time holds
the forward, the backward and the index; `forward` is that of the forward alone, with
gradients. `memory` is the most that one step needs beyond parameters and inputs, in MiB.
`--joined`: gates and ups of experts are one weight for pit, too, as
`pit.torch.sparsify` takes those of transformers. `--stored=kn`: weights of `linear` lie as
(k, n) for pit. `--profile` lists the kernels of a step of pit. The layers are checked against
each other before they are timed.
"""

import argparse
import itertools
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402
from pit.torch import _training  # noqa: E402
from ops import Clock  # noqa: E402

INPUTS = 4  # sets that take turns


@dataclass
class Case:
    """`inputs` is a list of (arguments, gradient of the result)."""

    name: str
    functions: dict
    inputs: list
    parameters: list
    operations: float  # of a step
    tolerance: float = 0.03
    behind_relu: bool = False  # gradients of arguments are wanted where these are not zero


def step_of(function, parameters):
    def step(arguments, gradient):
        for p in (*parameters, *arguments):
            if isinstance(p, torch.Tensor):
                p.grad = None
        function(*arguments).backward(gradient)
    return step


def forward_of(function):
    return lambda arguments, gradient: function(*arguments)


# --------------------------------------------------------------------------
# Mixtures of experts
# --------------------------------------------------------------------------

MODELS = {  # experts, top, width, hidden
    "OLMoE": (64, 8, 2048, 1024),
    "Qwen3": (128, 8, 2048, 768),
    "Mixtral": (8, 2, 4096, 14336),
    "DeepSeek-V3": (256, 8, 7168, 2048),
}
CPU_MODELS = {"8 experts": (8, 2, 512, 1024), "32 experts": (32, 4, 512, 512)}


def one_by_one(x, weights, experts, gate_up, down):
    """Transformers' way on a CPU: one expert after another."""
    y = torch.zeros_like(x)
    for e in range(len(gate_up)):
        tokens, place = torch.where(experts == e)
        gate, up = functional.linear(x[tokens], gate_up[e]).chunk(2, -1)
        hidden = functional.linear(functional.silu(gate) * up, down[e])
        y = y.index_add(0, tokens, hidden * weights[tokens, place, None])
    return y


def grouped(x, weights, experts, gate_up, down):
    """Transformers' way: rows by expert, torch's grouped products."""
    tokens, top = experts.shape
    flat = experts.reshape(-1)
    order = flat.argsort()
    counts = torch.histc(flat.float(), bins=gate_up.shape[0], min=0, max=gate_up.shape[0] - 1)
    ends = counts.cumsum(0).to(torch.int32)
    rows = x[order // top]
    gate, up = torch._grouped_mm(rows, gate_up.transpose(1, 2), offs=ends).chunk(2, -1)
    y = torch._grouped_mm(functional.silu(gate) * up, down.transpose(1, 2), offs=ends)
    y = y * weights.reshape(-1)[order].unsqueeze(-1)
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order), device=order.device)
    return y[back].reshape(tokens, top, -1).sum(1)


def mixture(name, tokens, device, dtype, is_joined):
    count, top, width, hidden = (MODELS | CPU_MODELS)[name]
    def new(*shape):
        return torch.randn(shape, device=device, dtype=dtype).mul_(shape[-1]**-0.5).requires_grad_()
    gate, up, down = new(count, hidden, width), new(count, hidden, width), new(count, width, hidden)
    joined = torch.cat([gate.detach(), up.detach()], 1).requires_grad_()
    other = down.detach().clone().requires_grad_()
    if is_joined:
        wide = [joined.detach().clone().requires_grad_()]
        del gate, up
    else:
        wide = [gate, up]
    inputs = []
    for _ in range(INPUTS):
        x = torch.randn(tokens, width, device=device, dtype=dtype, requires_grad=True)
        scores = torch.randn(tokens, count, device=device).softmax(-1)
        weights, experts = scores.topk(top, -1)
        weights = weights.to(dtype).requires_grad_()
        inputs.append(((x, weights, experts), torch.randn_like(x)))

    def of_torch(x, weights, experts):
        return (grouped if device == "cuda" else one_by_one)(x, weights, experts, joined, other)

    def of_pit(x, weights, experts):
        if is_joined:
            layer = _training.forward_op("silu", True, "halves", (True, True))
            return _training.train(layer, (x, weights, experts, *wide, down), False)
        return pit.moe(x, weights, experts, *(w.transpose(1, 2) for w in (*wide, down)))

    return Case(f"moe {name} {tokens}", {"torch": of_torch, "pit": of_pit}, inputs,
                [*wide, down, joined, other], 9 * 2 * tokens * top * width * hidden)


# --------------------------------------------------------------------------
# Padded batches
# --------------------------------------------------------------------------


def padded(part, device, dtype, batch=32, positions=512, width=1024, hidden=4096):
    def new(*shape):
        return torch.randn(shape, device=device, dtype=dtype).mul_(shape[-1]**-0.5).requires_grad_()
    w1, b1, w2, b2 = new(hidden, width), new(hidden), new(width, hidden), new(width)
    inputs = []
    for _ in range(INPUTS):
        x = torch.randn(batch, positions, width, device=device, dtype=dtype, requires_grad=True)
        share = torch.rand(batch, device=device)
        lengths = (positions * part * (0.5 + share)).long().clamp(1, positions)
        if part == 1:
            lengths.fill_(positions)
        there = torch.arange(positions, device=device) < lengths[:, None]
        inputs.append(((x, lengths), torch.randn_like(x) * there[..., None]))

    def of_torch(x, lengths):
        return functional.linear(functional.gelu(functional.linear(x, w1, b1)), w2, b2)

    def of_pit(x, lengths):
        return pit.padded_mlp(x, lengths, w1, b1, w2, b2)

    return Case(f"padded_mlp {part}", {"torch": of_torch, "pit": of_pit}, inputs, [w1, b1, w2, b2],
                6 * 2 * batch * positions * part * width * hidden)


# --------------------------------------------------------------------------
# Products whose left operand has zeros
# --------------------------------------------------------------------------

# Micro-tiles that are zero (0: a whole row), and the part of them that is. Programs without zeros
# come last: those that find none look less often, also at what then lies at the same addresses.
ZEROS = {
    "32x1 0.9": ((32, 1), 0.9), "32x1 0.95": ((32, 1), 0.95), "32x1 0.99": ((32, 1), 0.99),
    "anywhere 0.99": ((1, 1), 0.99), "none": ((1, 1), 0),
    "rows 0.5": ((1, 0), 0.5), "rows 0.9": ((1, 0), 0.9), "rows 0": ((1, 0), 0),
}


def linear(zeros, device, dtype, stored):
    (height, width), part = ZEROS[zeros]
    rows, k, n = (8192 if zeros.startswith("rows") else 4096), 4096, 4096
    weight = (torch.randn(n, k, device=device, dtype=dtype) * k**-0.5).requires_grad_()
    own = weight
    if stored == "kn":
        own = weight.detach().t().contiguous().t().requires_grad_()
    inputs = []
    for _ in range(INPUTS):
        live = torch.rand(rows // height, k // (width or k), device=device) >= part
        live = live.repeat_interleave(height, 0).repeat_interleave(width or k, 1)
        x = torch.randn(rows, k, device=device, dtype=dtype).abs_().mul_(live).requires_grad_()
        inputs.append(((x,), torch.randn(rows, n, device=device, dtype=dtype)))
    return Case(f"linear {zeros}", {"torch": lambda x: functional.linear(x, weight),
                                    "pit": lambda x: pit.linear(x, own, sparse_grad=True)},
                inputs, [weight, own], 3 * 2 * rows * k * n, behind_relu=True)


# --------------------------------------------------------------------------


def check(case):
    """Results and gradients of the functions agree where both have them."""
    (arguments, gradient), found = case.inputs[0], {}
    for name, function in case.functions.items():
        for x in arguments:
            x.grad = None
        y = function(*arguments)
        y.backward(gradient)
        grads = [x.grad * (x != 0) if case.behind_relu else x.grad
                 for x in arguments if x.grad is not None]
        found[name] = [y.detach(), *grads]
    first, *others = found.values()
    for other in others:
        for a, b in zip(first, other):
            error = ((a.float() - b.float()).norm() / a.float().norm()).item()
            if not error < case.tolerance and not case.name.startswith("padded"):
                print(f"{case.name}: results differ by {error:.3g} of their norm")


def memory(step, values):
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step(*values)
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def profile(step, values):
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiler
    for _ in range(3):
        step(*values)
    with profiler(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as found:
        for _ in range(5):
            step(*values)
        torch.cuda.synchronize()
    kernels = [e for e in found.key_averages() if e.self_device_time_total > 0]
    for e in sorted(kernels, key=lambda e: -e.self_device_time_total)[:24]:
        print(f"    {e.self_device_time_total / 5:9.1f} us  {e.count / 5:4.1f} x  {e.key[:90]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--tokens", default="4096,16384")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each case")
    parser.add_argument("--joined", action="store_true", help="gates and ups are one weight")
    parser.add_argument("--stored", default="nk", choices=("nk", "kn"),
                        help="how the weights of `linear` lie in memory for pit")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    dtype, device = getattr(torch, options.dtype), options.device
    tokens = [int(n) for n in options.tokens.split(",")]
    models = MODELS if device == "cuda" else CPU_MODELS
    cases = {f"moe {name} {n}": lambda name=name, n=n: mixture(name, n, device, dtype, options.joined)
             for name, n in itertools.product(models, tokens)}
    if device == "cuda":
        cases |= {f"padded_mlp {part}": lambda part=part: padded(part, device, dtype)
                  for part in (1, 0.5, 0.25)}
        cases |= {f"linear {zeros}": lambda zeros=zeros: linear(zeros, device, dtype, options.stored)
                  for zeros in ZEROS}
    clock = Clock(device, options.seconds, ahead=4_000_000)
    for name, make in cases.items():
        if options.only not in name:
            continue
        case = make()
        check(case)
        steps = {k: step_of(f, case.parameters) for k, f in case.functions.items()}
        calls = {k: forward_of(f) for k, f in case.functions.items()}
        times, forwards = ({k: us / 1e3 for k, us in clock.medians(each, case.inputs).items()}
                           for each in (steps, calls))
        row = [f"{k} {ms:8.3f} ms (forward {forwards[k]:7.3f})" for k, ms in times.items()]
        if device == "cuda":
            row += ["memory " + " ".join(f"{memory(s, case.inputs[0]):.0f}" for s in steps.values())]
        if "torch" in times:
            row.append(f"ratio {times['torch'] / times['pit']:.2f} "
                       f"(forward {forwards['torch'] / forwards['pit']:.2f})")
        row.append(f"{case.operations / times['pit'] / 1e9:.0f} TFLOP/s")
        print(f"{name}: " + ", ".join(row), flush=True)
        if options.profile:
            profile(steps["pit"], case.inputs[0])
        del case, steps, calls
        if device == "cuda":
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
