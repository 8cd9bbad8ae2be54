#!/usr/bin/env python3
"""Attentions as tile programs of Python, beside those of torch: dense, causal, with the logarithms of
sums that a backward pass needs, and of the keys that an index lists for each block of 64 queries. f16, all heads in one batch. Prints microseconds (the
median of rounds in turns), TFLOP/s of what is multiplied, and the error against float64.

    attention.py [--sizes 4096,16384] [--rounds 9] [--only REGEX]
    attention.py --write FOLDER          # compiles for sm_90a where no GPU is
    attention.py --programs FOLDER       # and takes these where no compiler is
"""

import argparse
import os
import re
import statistics
import sys
import time
from math import inf
from pathlib import Path

import pit
from pit import tile

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from attentions import dense, listed, with_logs  # noqa: E402

HEADS = 32
#: Queries and keys of a tile, by D: what the registers and the shared memory of sm_90a hold.
TILES = {64: (192, 128), 128: (128, 176)}
LIVE = (50, 25, 10)  # percent of the keys that a block of queries has


def programs():
    """By name: the function, its types and its constants."""
    found = {}
    for d, (m, n) in TILES.items():
        types = [tile.f16["H", "M", d], tile.f16["H", "N", d], tile.f16["H", "N", d]]
        for causal in (False, True):
            found[f"{'causal' if causal else 'dense'} {d}"] = (
                dense, types, dict(D=d, m=m, n=n, causal=causal))
        found[f"logs {d}"] = (with_logs, types, dict(D=d, m=m, n=n))
        found[f"listed {d}"] = (listed, types, dict(D=d, m=64, n=8192 // d))
    return found


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (function, types, constants) in programs().items():
        made = function.specialize(*types, **constants)
        library = made.artifact("so", target="cuda", chip="sm_90a", cpu="x86-64-v3")
        (folder / f"{name.replace(' ', '-')}.so").write_bytes(library)
        print(folder / f"{name.replace(' ', '-')}.so", flush=True)


def load(name, folder):
    if folder is None:
        function, types, constants = programs()[name]
        import torch

        chip = "sm_%d%d" % torch.cuda.get_device_capability()
        chip += "a" if chip == "sm_90" else ""
        program = function.specialize(*types, **constants).compile(target="cuda", chip=chip)
    else:
        program = pit.load(str(folder / f"{name.replace(' ', '-')}.so"))
    return program[program.entries[0]]


def race(calls, rounds, rested=False):
    """Medians by name, in seconds; everybody in turns, with 10 calls in a row. Where `rested`, each
    turn is a pause of 40 ms, a call, and 8 that are timed one by one: a GPU that works for a while
    without a pause lowers its clock."""
    import torch
    times = {name: [] for name in calls}
    for call in calls.values():
        call()
        call()
    torch.cuda.synchronize()
    for _ in range(rounds):
        for name, call in calls.items():
            if rested:
                torch.cuda.synchronize()
                time.sleep(0.04)
                call()
                events = [torch.cuda.Event(enable_timing=True) for _ in range(9)]
                events[0].record()
                for event in events[1:]:
                    call()
                    event.record()
                torch.cuda.synchronize()
                times[name] += [a.elapsed_time(b) * 1e-3 for a, b in zip(events, events[1:])]
                continue
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(10):
                call()
            end.record()
            end.synchronize()
            times[name].append(begin.elapsed_time(end) * 1e-4)
    return {name: statistics.median(found) for name, found in times.items()}


def torch_calls(q, k, v, causal):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    def call(backend):
        def run():
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0]
        return run

    return {"torch, flash": call(SDPBackend.FLASH_ATTENTION),
            "torch, cuDNN": call(SDPBackend.CUDNN_ATTENTION)} | flash_attn_4(q, k, v, causal)


def flash_attn_4(q, k, v, causal):
    """FlashAttention-4's kernels of this GPU, where the package flash-attn-4 is installed."""
    try:
        from flash_attn.cute import flash_attn_func
    except ImportError:
        return {}

    def call():
        q4, k4, v4 = (x.transpose(0, 1)[None] for x in (q, k, v))
        found = flash_attn_func(q4, k4, v4, causal=causal)
        return (found[0] if isinstance(found, tuple) else found)[0].transpose(0, 1)

    return {"flash-attn-4": call}


def torch_calls_with_logs(q, k, v):
    """The ops that the backward passes of torch's attentions take logarithms from."""
    from torch import ops
    return {"torch, flash": lambda: ops.aten._scaled_dot_product_flash_attention(
                q[None], k[None], v[None]),
            "torch, cuDNN": lambda: ops.aten._scaled_dot_product_cudnn_attention(
                q[None], k[None], v[None], None, True)}


def logs_of(q, k):
    """Of two heads, in float64."""
    q, k = q[:2].double(), k[:2].double()
    return (q @ k.transpose(1, 2) * q.shape[-1] ** -0.5).logsumexp(-1)


def flex_call(q, k, v, blocks):
    """torch's own for blocks of keys, compiled."""
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def kept(batch, head, i, j):
        return blocks[i // 64, j // 64]

    mask = create_block_mask(kept, 1, 1, q.shape[1], k.shape[1], device="cuda", BLOCK_SIZE=64)
    compiled = torch.compile(flex_attention)
    return lambda: compiled(q[None], k[None], v[None], block_mask=mask,
                            kernel_options=dict(BLOCK_M=64, BLOCK_N=64))[0]


def wanted(q, k, v, mask=None):
    """Of two heads, in float64."""
    q, k, v = (x[:2].double() for x in (q, k, v))
    s = q @ k.transpose(1, 2) * q.shape[-1] ** -0.5
    return (s if mask is None else s.masked_fill(~mask, -inf)).softmax(-1) @ v


def report(title, size, d, part, calls, exact, rounds):
    import torch
    usable = {}
    for name, call in calls.items():
        try:
            usable[name] = (call, ((call()[:2].double() - exact).norm() / exact.norm()).item())
        except (RuntimeError, torch._dynamo.exc.TorchDynamoException) as error:
            print(f"{title} {name}: {str(error).splitlines()[0][:100]}")
    operations = 4.0 * HEADS * size * size * d * part
    for name, time in race({name: call for name, (call, _) in usable.items()}, rounds).items():
        print(f"{title:24} {name:14} {time * 1e6:8.1f} us {operations / time * 1e-12:5.0f} TFLOP/s"
              f"  off by {usable[name][1]:.1e}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="4096,16384")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--programs", type=Path)
    arguments = parser.parse_args()
    if arguments.write:
        return write(arguments.write)
    import torch
    torch.manual_seed(0)
    print(torch.cuda.get_device_name(), torch.__version__)
    for name in programs():
        if not re.search(arguments.only, name):
            continue
        kind, d = name.split()
        run = load(name, arguments.programs)
        for size in map(int, arguments.sizes.split(",")):
            q, k, v = (torch.randn(HEADS, size, int(d), device="cuda", dtype=torch.float16)
                       for _ in range(3))
            out = torch.empty_like(q)
            if kind == "logs":
                logs = torch.empty(HEADS, size, device="cuda")
                run(q, k, v, out=(out, logs))
                print(f"{name} {size}: logarithms off by at most "
                      f"{(logs[:2].double() - logs_of(q, k)).abs().max().item():.1e}")
                calls = {name: (lambda call=call: call()[0][0])
                         for name, call in torch_calls_with_logs(q, k, v).items()}
                calls["pit"] = lambda: run(q, k, v, out=(out, logs))[0]
                report(f"{name} {size}", size, int(d), 1, calls, wanted(q, k, v),
                       arguments.rounds)
                continue
            if kind != "listed":
                causal = kind == "causal"
                calls = {"pit": lambda: run(q, k, v, out=out)}
                calls |= torch_calls(q, k, v, causal)
                mask = torch.ones(size, size, dtype=torch.bool, device="cuda").tril() if causal else None
                report(f"{name} {size}", size, int(d), 0.5 if causal else 1, calls,
                       wanted(q, k, v, mask), arguments.rounds)
                continue
            for percent in LIVE:
                blocks = torch.rand(size // 64, size // 64, device="cuda") < percent / 100
                blocks.fill_diagonal_(True)
                mask = blocks.repeat_interleave(64, 0).repeat_interleave(64, 1)
                index = pit.build_index(mask, (64, 1), 1, source="mask")
                calls = {"pit": lambda: run(q, k, v, index, out=out),
                         "pit, and index": lambda: run(q, k, v, index.rebuild(mask), out=out),
                         "torch, flex": flex_call(q, k, v, blocks)}
                report(f"{name} {size}, {percent} %", size, int(d), blocks.double().mean().item(),
                       calls, wanted(q, k, v, mask), arguments.rounds)


if __name__ == "__main__":
    os.environ.setdefault("PIT_PROGRESS", "1")
    main()
