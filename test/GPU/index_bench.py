#!/usr/bin/env python3
"""Times index builds on the device: CUDA graphs of builds that rotate over inputs
larger than the L2, medians of replays, in microseconds a build.
Usage: index_bench.py (--build DIR | --artifacts DIR) [--only TEXT] [--json FILE]"""
import argparse
import json
import statistics
import sys

import torch

import index_runtime as rt


def measure(runtime, inputs, spec, source, replays=40, rounds=3):
    """The median time of a build."""
    builder = rt.Builder(runtime)
    stream = torch.cuda.Stream()
    builder.set_stream(stream.cuda_stream)
    torch.cuda.synchronize()
    for data in inputs:
        builder.build(spec, source, data)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(rounds):
            for data in inputs:
                builder.build(spec, source, data)
    times = []
    with torch.cuda.stream(stream):
        for i in range(replays + 5):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            end.record()
            times.append((begin, end))
    stream.synchronize()
    return statistics.median(b.elapsed_time(e) for b, e in times[5:]) * 1e3 / (rounds * len(inputs))


def matrices(rows, columns, tile, live, dtype=torch.float16, copies=4):
    """Random values in a part of the tiles, zeros elsewhere."""
    made = []
    for _ in range(copies):
        grid = torch.rand(-(-rows // tile[0]), -(-columns // tile[1]), device="cuda") < live
        mask = grid.repeat_interleave(tile[0], 0).repeat_interleave(tile[1], 1)[:rows, :columns]
        x = torch.randn(rows, columns, device="cuda", dtype=torch.float32).to(dtype)
        made.append(rt.of_torch((x * mask).contiguous(), 4 if dtype == torch.bfloat16 else 2))
    return made


def bits(rows, columns, tile, live, copies=4):
    """The packed bits of such matrices."""
    made = []
    for _ in range(copies):
        grid = torch.rand(-(-rows // tile), columns, device="cuda") < live
        mask = grid.repeat_interleave(tile, 0)[:rows].view(rows, -1, 8)
        weights = (1 << torch.arange(8, device="cuda")).to(torch.int32)
        made.append(rt.of_torch((mask * weights).sum(-1).to(torch.uint8).contiguous(), 1))
    return made


def routes(tokens, slots, experts, dtype, copies=4):
    return [rt.of_torch(torch.rand(tokens, experts, device="cuda").topk(slots, 1).indices.to(dtype).contiguous(), 0)
            for _ in range(copies)]


def cases():
    n = 4096
    for rows in (16, 32, 64, 128):
        for live in (0.5, 0.1, 0.01):
            yield (f"values f16 {n}x{n}, micro-tile {rows}x1, {live:.0%} live",
                   lambda r=rows, p=live: matrices(n, n, (r, 1), p), rt.make_spec([n, n], 1, [rows, 0]), rt.VALUES)
    for columns in (32, 64, 128):
        for live in (0.5, 0.1, 0.01):
            yield (f"values f16 {n}x{n}, micro-tile 1x{columns}, {live:.0%} live",
                   lambda c=columns, p=live: matrices(n, n, (1, c), p), rt.make_spec([n, n], 0, [0, columns]), rt.VALUES)
    for live in (0.5, 0.1):
        yield (f"values f16 {n}x{n}, whole rows, {live:.0%} live",
               lambda p=live: matrices(n, n, (1, n), p), rt.make_spec([n, n], 0, [0, 0]), rt.VALUES)
    yield (f"values f32 {n}x{n}, micro-tile 32x1, 10% live",
           lambda: matrices(n, n, (32, 1), 0.1, torch.float32), rt.make_spec([n, n], 1, [32, 0]), rt.VALUES)
    yield (f"values f16 {n}x{n}, micro-tile 32x1, 10% live, dense with work list",
           lambda: matrices(n, n, (32, 1), 0.1), rt.make_spec([n, n], 1, [32, 0], None, rt.DENSE, 128), rt.VALUES)
    yield (f"values f16 {n}x4095, micro-tile 32x1, 10% live (general)",
           lambda: matrices(n, 4095, (32, 1), 0.1), rt.make_spec([n, 4095], 1, [32, 0]), rt.VALUES)
    yield (f"values f16 {n}x4095, whole rows, 10% live (general)",
           lambda: matrices(n, 4095, (1, 4095), 0.1), rt.make_spec([n, 4095], 0, [0, 0]), rt.VALUES)
    for experts, slots in ((256, 8), (64, 8), (8, 2)):
        for dense in (0, rt.DENSE):
            for dtype in (torch.int32, torch.int64):
                yield (f"routing 16384 tokens, top-{slots} of {experts}, {str(dtype)[6:]}, {'dense' if dense else 'fixed'}",
                       lambda s=slots, e=experts, t=dtype: routes(16384, s, e, t),
                       rt.make_spec([16384, experts], 0, [0, 1], None, dense), rt.ROUTING)
    for rows, columns in ((n, n), (1024, n), (n, 14336)):
        for tile in (16, 32, 64):
            yield (f"bits {rows}x{columns}, micro-tile {tile}x1, 10% live",
                   lambda r=rows, c=columns, t=tile: bits(r, c, t, 0.1),
                   rt.make_spec([rows, columns], 1, [tile, 0]), rt.MASK_BITS)
    yield ("mask of 65536 tokens", lambda: [rt.of_torch((torch.rand(65536, device="cuda") < 0.5).to(torch.uint8), 1)],
           rt.make_spec([65536], 0, [0]), rt.MASK)
    yield ("lengths of 32 sequences of 2048, rows of 1024",
           lambda: [rt.of_torch(torch.randint(0, 2049, (32,), device="cuda", dtype=torch.int32), 0)],
           rt.make_spec([32, 2048, 1024], 1, [1, 0, 0]), rt.LENGTHS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--artifacts")
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    args = parser.parse_args()
    runtime = rt.Runtime(rt.library_of(args))
    print(torch.cuda.get_device_name())
    results = []
    for name, make, spec, source in cases():
        if args.only in name:
            time = measure(runtime, make(), spec, source)
            print(f"{time:8.2f} us  {name}", flush=True)
            results.append({"name": name, "us": round(time, 3)})
    if args.json:
        with open(args.json, "w") as file:
            file.writelines(json.dumps(r) + "\n" for r in results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
