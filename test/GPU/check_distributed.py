"""Checks pit.torch.distributed on the GPUs of this machine, one process each, over NCCL:

    python3 test/GPU/check_distributed.py [--ranks=4] [--repeat=20]

Values and gradients of random, uneven and empty routings against one process in f64 that shares no
code with pit, with exact sizes, with room in a CUDA graph, and through symmetric memory, again and
again. The last line counts what passed and failed."""

import argparse
import os
import sys
import tempfile
import traceback
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "python"))
import pit  # noqa: E402
import pit.torch.distributed as ep  # noqa: E402

EXPERTS, K, F = 16, 256, 192
ROOM = 256  # rows
KINDS = ("random", "one rank", "sentinels", "nobody", "uneven")


def reference(x, weights, experts, gate, up, down):
    y = x.new_zeros(len(x), down.shape[2])
    for e in range(len(down)):
        scale = ((experts == e) * weights).sum(1, keepdim=True)
        value = (torch.nn.functional.silu(x @ gate[e]) * (x @ up[e])) @ down[e]
        y = y + torch.where((experts == e).any(1, keepdim=True), scale * value, 0)
    return y


def case(rank, ranks, kind, top, dtype, seed):
    generator = torch.Generator("cuda").manual_seed(seed)

    def values(*shape):
        return (torch.randn(shape, generator=generator, device="cuda") / shape[-1] ** 0.5).to(dtype)

    weights = [values(EXPERTS, K, F), values(EXPERTS, K, F), values(EXPERTS, F, K)]
    # With room for ROOM rows, more than half of which random tokens of four ranks do not need.
    tokens = [ROOM if kind == "one rank" else 300] * ranks
    if kind == "uneven":
        tokens = [330 if r == ranks - 1 else 0 if r == 0 else 31 for r in range(ranks)]
    xs, scales, routes, dys = [], [], [], []
    for count in tokens:
        scores = torch.rand(count, EXPERTS, generator=generator, device="cuda")
        if kind == "one rank":
            scores[:, -EXPERTS // ranks:] += 1
        experts = scores.topk(min(top, EXPERTS // ranks)).indices
        if kind == "sentinels":
            experts[torch.rand(experts.shape, generator=generator, device="cuda") < 0.5] = EXPERTS
        if kind == "nobody":
            experts.fill_(-1)
        xs.append(values(count, K) * K ** 0.5)
        scales.append(torch.rand(experts.shape, generator=generator, device="cuda").to(dtype))
        routes.append(experts)
        dys.append(values(count, K))
    return xs, scales, routes, weights, dys


def relative(found, wanted):
    found = found.detach()
    wanted = torch.zeros_like(found, dtype=torch.float64) if wanted is None else wanted.detach()
    return float((found.double() - wanted).norm() / wanted.norm().clamp(min=1e-3)) if found.numel() else 0.0


def errors_of(rank, ranks, kind, dtype, seed, options, graph):
    # Nearly all tokens with three choices need both of two ranks, which have no room for as many.
    top = 1 if ranks == 2 and ROOM in (options.get("capacity"), getattr(options.get("capacity"), "rows", 0)) else 3
    xs, scales, routes, weights, dys = case(rank, ranks, kind, top, dtype, seed)
    leaves = [v.detach().double().requires_grad_() for v in (*xs, *scales, *weights)]
    a, b, c = leaves[:ranks], leaves[ranks: 2 * ranks], leaves[2 * ranks:]
    ys = [reference(x, s, e, *c) for x, s, e in zip(a, b, routes)]
    wanted = torch.autograd.grad(ys, leaves, [d.double() for d in dys], allow_unused=True)
    each = EXPERTS // ranks
    mine = slice(rank * each, (rank + 1) * each)
    given = [xs[rank], scales[rank], *(w[mine].clone() for w in weights)]
    given = [v.requires_grad_() for v in given]

    def call():
        y = ep.moe(*given[:2], routes[rank], *given[2:], **options)
        return y, *torch.autograd.grad(y, given, dys[rank])

    if graph:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            call()
        stream.synchronize()
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            found = call()
        for _ in range(3):
            recorded.replay()
        torch.cuda.synchronize()
    else:
        found = call()
    with torch.no_grad():
        again = ep.moe(*given[:2], routes[rank], *given[2:], **options)
    pairs = [(found[0], ys[rank]), (again, ys[rank]), (found[1], wanted[rank]),
             (found[2], wanted[ranks + rank]),
             *((f, w[mine]) for f, w in zip(found[3:], wanted[2 * ranks:]))]
    found = [relative(f, w) for f, w in pairs]
    return float("nan") if any(error != error for error in found) else max(found)


WAYS = {"exact": {}, "exact, 3 chunks": {"chunks": 3}, "fp8": {"wire": "fp8"},
        "room": {"capacity": ROOM, "chunks": 2}, "room for all": {"capacity": 400, "chunks": 3},
        "symmetric": {"capacity": ROOM, "chunks": 2, "symmetric": True},
        "symmetric, room for all": {"capacity": 400, "chunks": 2, "symmetric": True},
        "symmetric fp8": {"capacity": 400, "wire": "fp8", "symmetric": True}}


def main(rank, options, store):
    torch.cuda.set_device(rank)
    dist.init_process_group("cpu:gloo,cuda:nccl", init_method=f"file://{store}", rank=rank,
                            world_size=options.ranks, device_id=torch.device("cuda", rank))
    passed = failed = 0
    for name, way in WAYS.items():
        if options.only not in name:
            continue
        way = dict(way)
        if way.pop("symmetric", False):
            way["capacity"] = ep.Capacity(way["capacity"], symmetric=True)
        worst, seeds = 0.0, 0
        try:
            for turn in range(options.repeat):
                for kind in KINDS:
                    for dtype, bound in ((torch.float32, 1e-5), (torch.bfloat16, 2e-2)):
                        graph = "capacity" in way and turn == 0
                        error = errors_of(rank, options.ranks, kind, dtype, seeds, way, graph)
                        bound = 0.15 if "wire" in way else bound
                        worst = error if error != error else max(worst, error / bound)
                        seeds += 1
            found = torch.tensor(worst, device="cuda")
            dist.all_reduce(found, dist.ReduceOp.MAX)
            good, said = float(found) < 1, f"{float(found):.3f} of what is allowed"
        except Exception:
            print(f"rank {rank}, {name}, case {seeds}, {kind}, {dtype}", flush=True)
            traceback.print_exc()
            good, said = False, "an error"
        passed, failed = passed + good, failed + (not good)
        if rank == 0:
            print(f"{name}: {said}, {seeds} cases", flush=True)
        if said == "an error":
            break
    if rank == 0:
        print(f"{passed} passed, {failed} failed", flush=True)
    torch.cuda.synchronize()
    os._exit(failed > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=torch.cuda.device_count())
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--only", default="", help="ways whose names contain this")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(main, (given, f"{folder}/store"), nprocs=given.ranks)
