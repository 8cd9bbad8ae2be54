"""Times mixtures whose experts lie on several GPUs, beside torch's way and beside one GPU that has
all experts, in turns:

    python3 benchmarks/distributed/experts.py [--ranks=4] [--only=OLMoE] [--tokens=4096,16384]
        [--train] [--chunks=1,2] [--json=FILE]

One process a GPU, bf16, NCCL. `one GPU` is pit.moe on one rank's tokens with all experts; `torch` sends a
row for each (token, expert) and computes with torch._grouped_mm. `exact` waits for sizes; `graph` is a
call with room as the plan has it, captured in a CUDA graph; `symmetric` is the same through symmetric
memory; `one graph` is one GPU in a graph. The numbers behind them are chunks. Times are medians in
ms of five calls in a row that begin together, of the slowest rank. Behind each is the time of one GPU
(in a graph) over it. A result that is wrong by more than bf16 rounds ends the program."""

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed._functional_collectives import all_to_all_single_autograd

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402
import pit.torch.distributed as ep  # noqa: E402

LAYERS = {  # experts, top, k, f, tokens
    "OLMoE": (64, 8, 2048, 1024, (4096, 16384)),
    "Qwen3": (128, 8, 2048, 768, (4096, 16384)),
    "Mixtral": (8, 2, 4096, 14336, (4096, 16384)),
    "large": (128, 8, 7168, 2048, (4096,)),
}


def exchange(rows, got, sent):
    return all_to_all_single_autograd(rows, got, sent, dist.group.WORLD)


def by_torch(x, weights, experts, gate_up, down):
    """A row for each (token, expert), sorted by expert on both sides."""
    ranks, each, top = dist.get_world_size(), len(down), experts.shape[1]
    flat = experts.flatten()
    order = flat.argsort(stable=True)
    counts = torch.bincount(flat, minlength=ranks * each).view(ranks, each)
    theirs = torch.empty_like(counts)
    dist.all_to_all_single(theirs, counts)
    sent, got = torch.stack([counts.sum(1), theirs.sum(1)]).tolist()
    rows = exchange(x[order // top], got, sent)
    ids = torch.arange(each, device=x.device).repeat(ranks)
    ids = ids.repeat_interleave(theirs.flatten(), output_size=sum(got))
    by_expert = ids.argsort(stable=True)
    ends = theirs.sum(0).cumsum(0, dtype=torch.int32)
    hidden = torch._grouped_mm(rows[by_expert], gate_up.transpose(1, 2), offs=ends)
    gate, up = hidden.chunk(2, -1)
    y = torch._grouped_mm(torch.nn.functional.silu(gate) * up, down.transpose(1, 2), offs=ends)
    back = torch.empty_like(by_expert)
    back[by_expert] = torch.arange(len(back), device=x.device)
    y = exchange(y[back], sent, got)
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=x.device)
    return (y[place].view(*experts.shape, -1) * weights[..., None]).sum(1).to(x.dtype)


class Layer:
    """The tokens of this rank, all experts, and ways to compute with them."""

    def __init__(self, rank, ranks, experts, top, k, f, tokens, train):
        device = torch.device("cuda", rank)
        generator = torch.Generator(device).manual_seed(7)

        def values(*shape):
            made = torch.randn(shape, generator=generator, device=device, dtype=torch.bfloat16)
            return (made / shape[-1] ** 0.5).requires_grad_(train)

        self.rank, self.ranks, self.train = rank, ranks, train
        self.all = [values(experts, f, k), values(experts, f, k), values(experts, k, f)]
        each = experts // ranks
        mine = slice(rank * each, (rank + 1) * each)
        self.own = [w.detach()[mine].clone().requires_grad_(train) for w in self.all]
        with torch.no_grad():  # as torch's grouped products have it
            both = torch.cat(self.own[:2], 1)
        self.grouped = [both.requires_grad_(train), self.own[2]]
        self.plan = ep.explain(tokens, experts, top, k, f, ranks, machine="H200" if "H200" in
                               torch.cuda.get_device_name() else "H100")
        generator.manual_seed(rank)
        self.x = torch.randn(tokens, k, generator=generator, device=device,
                             dtype=torch.bfloat16).requires_grad_(train)
        scores = torch.rand(tokens, experts, generator=generator, device=device)
        weights, self.experts = scores.topk(top)
        self.weights = (weights / weights.sum(1, keepdim=True)).to(torch.bfloat16).requires_grad_(train)
        self.dy = torch.randn(tokens, k, generator=generator, device=device, dtype=torch.bfloat16)

    def one(self):
        return pit.moe(self.x, self.weights, self.experts, *(w.transpose(1, 2) for w in self.all))

    def torch(self):
        return by_torch(self.x, self.weights, self.experts, *self.grouped)

    def pit(self, **options):
        return ep.moe(self.x, self.weights, self.experts, *(w.transpose(1, 2) for w in self.own), **options)

    def whole(self, function, weights):
        """A call, with backward if that is timed."""
        if not self.train:
            return function
        leaves = [self.x, self.weights, *weights]

        def both():
            y = function()
            return y, *torch.autograd.grad(y, leaves, self.dy)

        return both


def captured(function):
    """A replay of a function in a CUDA graph, and its result."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function()

    def replay():
        graph.replay()
        return result

    return replay


def error_of(found, wanted):
    found, wanted = ((v if isinstance(v, torch.Tensor) else v[0]).detach() for v in (found, wanted))
    return float((found.float() - wanted.float()).norm() / wanted.float().norm())


def time_interleaved(ways, rounds, calls=5):
    """Medians in ms of a call of each way, on this rank, of several calls one behind the other."""
    times = {name: [] for name in ways}
    for turn in range(rounds + 2):
        for name, function in ways.items():
            dist.barrier()
            torch.cuda.synchronize()
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            for _ in range(calls):
                function()
            stop.record()
            torch.cuda.synchronize()
            if turn >= 2:
                times[name].append(start.elapsed_time(stop) / calls)
    return {name: statistics.median(t) for name, t in times.items()}


def slowest(times):
    found = torch.tensor(list(times.values()), device="cuda")
    dist.all_reduce(found, dist.ReduceOp.MAX)
    return dict(zip(times, found.tolist()))


def ways_of(layer, options):
    ways = {"one GPU": layer.whole(layer.one, layer.all), "torch": layer.whole(layer.torch, layer.grouped)}
    if "one graph" in options.ways:
        ways["one graph"] = captured(ways["one GPU"])
    room = layer.plan.room
    for chunks in options.chunks:
        if "exact" in options.ways:
            ways[f"exact, {chunks}"] = layer.whole(lambda chunks=chunks: layer.pit(chunks=chunks), layer.own)
        for name in ("graph", "symmetric"):
            if name in options.ways:
                capacity = ep.Capacity(room, symmetric=name == "symmetric")
                ways[f"{name}, {chunks}"] = captured(layer.whole(
                    lambda c=capacity, n=chunks: layer.pit(chunks=n, capacity=c), layer.own))
    return ways


def main(rank, options, store):
    torch.cuda.set_device(rank)
    dist.init_process_group("cpu:gloo,cuda:nccl", init_method=f"file://{store}", rank=rank,
                            world_size=options.ranks, device_id=torch.device("cuda", rank))
    rows = []
    for tokens in options.tokens:
        for name, (experts, top, k, f, all_tokens) in LAYERS.items():
            if options.only not in name or tokens not in all_tokens:
                continue
            layer = Layer(rank, options.ranks, experts, top, k, f, tokens, options.train)
            ways = ways_of(layer, options)
            wanted = ways["one GPU"]()
            wanted = wanted[0] if layer.train else wanted
            errors = {}
            for way, function in ways.items():
                errors[way] = error_of(function(), wanted)
                if options.verbose:
                    print(rank, name, tokens, way, errors[way], flush=True)
            errors = slowest(errors)
            bad = {way: error for way, error in errors.items() if not error < 2e-2}
            if bad:
                raise SystemExit(f"{name}, {tokens}: wrong results: {bad}")
            times = slowest(time_interleaved(ways, options.rounds))
            rows.append({"layer": name, "tokens": tokens, "ranks": options.ranks, "train": options.train,
                         "gpu": torch.cuda.get_device_name(), "ms": times, "errors": errors})
            if rank == 0:
                best = times["one graph"] if "one graph" in times else times["one GPU"]
                if options.json:
                    Path(options.json).write_text(json.dumps(rows, indent=1))
                print(f"{name}, {tokens}: " + "; ".join(
                    f"{way} {t:.3f} ({best / t:.2f})" for way, t in times.items()), flush=True)
            del layer, ways, wanted
            torch.cuda.empty_cache()
    dist.barrier()
    os._exit(0)  # graphs that hold collectives keep NCCL's end waiting


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(x) for x in text.split(",")]  # noqa: E731
    parser.add_argument("--ranks", type=int, default=torch.cuda.device_count())
    parser.add_argument("--only", default="", help="layers whose names contain this")
    parser.add_argument("--tokens", type=numbers, default=[4096, 16384])
    parser.add_argument("--chunks", type=numbers, default=[1, 2])
    parser.add_argument("--ways", default="one graph,exact,graph,symmetric", help="beside torch's")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--train", action="store_true", help="forward and backward")
    parser.add_argument("--json", help="where times go, too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(main, (given, f"{folder}/store"), nprocs=given.ranks)
