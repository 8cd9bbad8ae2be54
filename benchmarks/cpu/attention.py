#!/usr/bin/env python3
"""pit.attention and attentions as tile programs of Python (../attentions.py), beside torch's on the
CPU: dense, causal, and of blocks of keys for each block of 64 queries, which the tile program has an
index of; and pit.paged_attention, a query of each sequence, beside torch's on pages that it gathers and
beside a copy of as many bytes. The compiler and torch
have to be there. All contestants take turns; prints milliseconds (the median of rounds),
GFLOP/s of what is multiplied, and the error against torch in f64.

    attention.py [--types f32,f16,bf16] [--dims 64,128] [--keys 1024] [--threads 2] [--rounds 11]
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import pit
import torch
from torch.nn.functional import scaled_dot_product_attention as torch_attention

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from attentions import dense, listed  # noqa: E402

HEADS = 8
QUERIES, KEYS = 64, 64  # of a tile
LIVE = (50, 25, 10)  # percent of the keys that a block of queries has
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def race(calls, rounds):
    """Medians by name, in seconds; everybody in turns."""
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(found) for name, found in times.items()}


def report(title, operations, calls, exact, rounds):
    errors = {name: ((call().double() - exact).norm() / exact.norm()).item()
              for name, call in calls.items()}
    times = race(calls, rounds)
    for name, taken in times.items():
        print(f"{title:26} {name:15} {taken * 1e3:8.2f} ms {operations / taken * 1e-9:6.0f} GFLOP/s"
              f"  off by {errors[name]:.1e}  torch's time over it {times['torch'] / taken:.2f}",
              flush=True)


def torch_call(q, k, v, **options):
    return lambda: torch_attention(q[None], k[None], v[None], **options)[0]


def measure(name, d, keys, rounds):
    q, k, v = (torch.randn(HEADS, keys, d).to(TYPES[name]) for _ in range(3))
    q64, k64, v64 = (x.double() for x in (q, k, v))
    out = torch.empty_like(q)
    operations = 4.0 * HEADS * keys * keys * d
    tiles = {"D": d, "m": QUERIES, "n": KEYS}
    for causal in (False, True):
        calls = {"pit.attention": lambda: pit.attention(q[None], k[None], v[None], causal=causal,
                                                        out=out[None])[0],
                 "tile program": lambda: dense(q, k, v, out=out, causal=causal, **tiles),
                 "torch": torch_call(q, k, v, is_causal=causal)}
        report(f"{name} {d} {'causal' if causal else 'dense'}", operations * (0.5 if causal else 1),
               calls, torch_call(q64, k64, v64, is_causal=causal)(), rounds)
    for percent in LIVE:
        blocks = torch.rand(keys // QUERIES, keys // KEYS) < percent / 100
        blocks.fill_diagonal_(True)
        mask = blocks.repeat_interleave(QUERIES, 0).repeat_interleave(KEYS, 1)
        index = pit.build_index(mask, (QUERIES, 1), 1, source="mask")
        calls = {"pit.attention": lambda: pit.attention(q[None], k[None], v[None], blocks=blocks,
                                                        out=out[None])[0],
                 "tile program": lambda: listed(q, k, v, index, out=out, **tiles),
                 "and index": lambda: listed(q, k, v, index.rebuild(mask), out=out, **tiles),
                 "torch": torch_call(q, k, v, attn_mask=mask)}
        report(f"{name} {d} listed, {percent} %", operations * blocks.double().mean().item(), calls,
               torch_call(q64, k64, v64, attn_mask=mask)(), rounds)


def decode(name, batch, keys, page, rounds, d=128, heads=8, shared=4):
    """A query of each of `heads` heads of a sequence, `shared` of which have their keys in common."""
    dtype, groups, pages = TYPES[name], heads // shared, keys // page
    q = torch.randn(batch, heads, d).to(dtype)
    k, v = (torch.randn(batch * pages, page, groups, d).to(dtype) for _ in range(2))
    table = torch.randperm(batch * pages, dtype=torch.int32).reshape(batch, pages)
    lengths = torch.full((batch,), keys, dtype=torch.int32)
    out = torch.empty_like(q)

    def by_torch(dtype=dtype):
        own = [x.to(dtype)[table.long()].reshape(batch, keys, groups, d).transpose(1, 2) for x in (k, v)]
        return torch_attention(q.to(dtype)[:, :, None], *own, enable_gqa=True)[:, :, 0]

    moved = 2 * k.numel() * k.element_size()
    source, target = (torch.zeros(moved // 2, dtype=torch.uint8) for _ in range(2))
    calls = {"pit": lambda: pit.paged_attention(q, k, v, table, lengths, out=out), "torch": by_torch}
    exact = by_torch(torch.float64)
    off = ((calls["pit"]().double() - exact).norm() / exact.norm()).item()
    times = race(calls | {"copy": lambda: target.copy_(source)}, rounds)
    print(f"{name} decode {batch} x {keys}, pages of {page}: {times['pit'] * 1e3:8.2f} ms "
          f"{moved / times['pit'] * 1e-9:6.1f} GB/s  off by {off:.1e}  the copy's time over it "
          f"{times['copy'] / times['pit']:.2f}, torch's {times['torch'] / times['pit']:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--types", default="f32,f16,bf16")
    parser.add_argument("--dims", default="64,128")
    parser.add_argument("--keys", type=int, default=1024, help="a multiple of 64")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(arguments.threads)
    # Both run on the same threads.
    for name in arguments.types.split(","):
        for d in map(int, arguments.dims.split(",")):
            measure(name, d, arguments.keys, arguments.rounds)
        for batch, keys in ((16, 4096), (1, 65536)):
            for page in (16, 64):
                decode(name, batch, keys, page, arguments.rounds)


if __name__ == "__main__":
    main()
