# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""Mixtures of experts over several processes (gloo): values and gradients against one process
in f64 that shares no code with pit, for random and uneven routings, tokens without experts, ranks
without tokens, and capacities; errors; and layers of a model that are sharded."""

import contextlib
import functools
import importlib.util
import io
import itertools
import os
import re
import sys
import tempfile
import traceback
import unittest
import zlib
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import ROOT, pit  # noqa: E402

import pit.torch.distributed as ep  # noqa: E402
from pit import tile  # noqa: E402
from pit.torch import _mixtures  # noqa: E402
from pit.torch.distributed import _index, _plan, _symmetric  # noqa: E402

# Equal numbers of experts on a rank and of a token everywhere: each needs programs of its own.
K, F, N, EACH, TOP = 16, 24, 16, 4, 2
torch.set_num_threads(1)


def in_processes(ranks, function, *arguments):
    """Runs function(rank, ranks, *arguments) in forked processes of one group. What each returned, or
    the text of its error."""
    with tempfile.TemporaryDirectory() as folder:
        context = mp.get_context("fork")
        queue = context.SimpleQueue()

        def main(rank):
            try:
                dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank,
                                        world_size=ranks)
                found = function(rank, ranks, *arguments)
            except Exception as error:
                found = f"{type(error).__name__}: {error}"
                if os.environ.get("PIT_TEST_VERBOSE") == "1":
                    traceback.print_exc()
            queue.put((rank, found))
            sys.stdout.flush()
            os._exit(0)

        processes = [context.Process(target=main, args=(rank,)) for rank in range(ranks)]
        for process in processes:
            process.start()
        found = dict(queue.get() for _ in processes)
        for process in processes:
            process.join()
        return [found[rank] for rank in range(ranks)]


def reference(x, weights, experts, gate, up, down):
    y = x.new_zeros(len(x), down.shape[2])
    for e in range(len(down)):
        chosen = ((experts == e) * weights).sum(1, keepdim=True)
        value = (torch.nn.functional.silu(x @ gate[e]) * (x @ up[e])) @ down[e]
        y = y + torch.where((experts == e).any(1, keepdim=True), chosen * value, 0)
    return y


def routing(kind, tokens, count, generator):
    scores = torch.rand(tokens, count, generator=generator)
    if kind == "one rank":
        scores[:, :EACH] += 2
    experts = scores.topk(TOP).indices
    if kind == "sentinels":
        experts[torch.rand(experts.shape, generator=generator) < 0.4] = count
        experts[torch.rand(experts.shape, generator=generator) < 0.2] = -1
    if kind == "nobody":
        experts.fill_(count)
        experts[:, 1:] = 2 ** 32 + 1
    return experts, torch.rand(experts.shape, generator=generator)


def case(ranks, tokens, kind, dtype=torch.float64):
    """Tokens of each rank, and all experts."""
    generator = torch.Generator().manual_seed(zlib.crc32(str((ranks, tokens)).encode()))
    def values(*shape):
        return (torch.randn(shape, generator=generator, dtype=torch.float64) / 2).to(dtype)

    x = [values(t, K) for t in tokens]
    count = EACH * ranks
    routed = [routing(kind, t, count, generator) for t in tokens]
    weights = [values(count, K, F), values(count, K, F), values(count, F, N)]
    return x, [w.to(dtype) for _, w in routed], [e for e, _ in routed], weights, \
        [values(t, N) for t in tokens]


class SharedMemory:
    """In place of torch's symmetric memory, which is of GPUs: files that the processes map."""

    def __init__(self, folder, rank, ranks):
        self.folder, self.rank, self.ranks, self.count = folder, rank, ranks, 0

    def map(self, number, rank, size, dtype):
        return torch.from_file(f"{self.folder}/{number}-{rank}", shared=True, size=size, dtype=dtype)

    def empty(self, shape, dtype, device):
        self.count += 1
        self.last = self.map(self.count, self.rank, shape[0] * shape[1], dtype)
        return self.last.view(shape)

    def rendezvous(self, rows, group):
        dist.barrier(group)
        return Handle(self, self.count, rows.numel(), group)


class Handle:
    def __init__(self, memory, number, size, group):
        self.memory, self.number, self.size, self.group = memory, number, size, group

    def get_buffer(self, rank, shape, dtype, offset):
        all_of = self.memory.map(self.number, rank, self.size, dtype)
        return all_of[offset: offset + shape[0] * shape[1]].view(shape)

    def barrier(self, channel):
        dist.barrier(self.group)


def steps(rank, ranks, cases, folder=None):
    """The relative errors of values and gradients, by their names, of each case."""
    if folder is not None:
        memory = SharedMemory(folder, rank, ranks)
        _symmetric.symmetric_memory = lambda: memory
    all_errors = []
    for tokens, kind, options in cases:
        errors = {}
        x, weights, experts, all_experts, dy = case(ranks, tokens, kind)
        leaves = [v.double().requires_grad_() for v in (*x, *weights, *all_experts)]
        xs, ws, es = leaves[:ranks], leaves[ranks: 2 * ranks], leaves[2 * ranks:]
        ys = [reference(a, b, c, *es) for a, b, c in zip(xs, ws, experts)]
        wanted = torch.autograd.grad(ys, leaves, [d.double() for d in dy], allow_unused=True)
        mine = slice(rank * EACH, (rank + 1) * EACH)
        options = dict(options)
        _plan.WHOLE = 0 if options.pop("to_all", False) else 1
        given = [x[rank], weights[rank], *(w[mine].clone() for w in all_experts)]
        given = [v.requires_grad_() for v in given]
        if folder is not None:
            options = dict(options, capacity=ep.Capacity(options["capacity"], symmetric=True))
        y = ep.moe(*given[:2], experts[rank], *given[2:], **options)
        found = torch.autograd.grad(y, given, dy[rank])
        with torch.no_grad():
            again = ep.moe(*given[:2], experts[rank], *given[2:], **options)
        assert y.dtype == x[rank].dtype and all(f.dtype == v.dtype for f, v in zip(found, given))
        pairs = [("y", y, ys[rank]), ("y without gradients", again, ys[rank]),
                 ("x", found[0], wanted[rank]), ("router", found[1], wanted[ranks + rank]),
                 *((name, f, w[mine]) for name, f, w in
                   zip(("gate", "up", "down"), found[2:], wanted[2 * ranks:]))]
        for name, a, b in pairs:
            b = torch.zeros_like(a, dtype=torch.float64) if b is None else b
            b = b.detach()
            error = float((a.detach().double() - b).norm() / b.norm().clamp(min=1e-3)) if a.numel() else 0.0
            errors[name] = error
        all_errors.append(errors)
    return all_errors


def call(x, weights, experts, all_experts, rank, ranks, **options):
    own = [w[rank * EACH: (rank + 1) * EACH] for w in all_experts]
    return ep.moe(x[rank], weights[rank], experts[rank], *own, **options)


def small_types(rank, ranks):
    """Relative errors, by the name of a case."""
    worst = {}
    for name, options in (("bf16", {}), ("fp8", {"wire": "fp8"}),
                          ("fp8 with room", {"wire": "fp8", "capacity": 20})):
        x, weights, experts, all_experts, _ = case(ranks, (20, 13), "random", torch.bfloat16)
        y = call(x, weights, experts, all_experts, rank, ranks, chunks=2, **options)
        wanted = reference(x[rank].double(), weights[rank].double(), experts[rank],
                           *(w.double() for w in all_experts))
        worst[name] = float((y.double() - wanted).norm() / wanted.norm())
    return worst


def overflow(rank, ranks):
    """Whether just the tokens without room are NaN, and what check() says, twice."""
    x, weights, experts, all_experts, _ = case(ranks, (20, 6), "random")
    room = ep.Capacity(8)
    y = call(x, weights, experts, all_experts, rank, ranks, capacity=room)
    call(x, weights, experts, all_experts, rank, ranks, capacity=room, chunks=5)
    wanted = reference(x[rank], weights[rank], experts[rank], *all_experts)
    here = torch.stack([(experts[rank] // EACH == r).any(1) for r in range(ranks)], 1)
    here[:, rank] = False  # needs no room
    lost = (here & (here.cumsum(0) > 8)).any(1)
    good = bool(y[lost].isnan().all()) and torch.allclose(y[~lost], wanted[~lost])
    said = []
    for _ in range(2):
        try:
            room.check()
            said.append("")
        except pit.Error as error:
            said.append(str(error))
    return good, int(lost.sum()), said


def frozen(rank, ranks, folder):
    """The errors of experts' gradients where tokens have none, through two layers of the same sizes."""
    memory = SharedMemory(folder, rank, ranks)
    _symmetric.symmetric_memory = lambda: memory
    x, weights, experts, all_experts, dy = case(ranks, (20, 6), "random")
    own = [w[rank * EACH: (rank + 1) * EACH].clone().requires_grad_() for w in all_experts]
    room = ep.Capacity(20, symmetric=True)
    ys = [ep.moe(factor * x[rank], weights[rank], experts[rank], *own, capacity=room) for factor in (1, 2)]
    found = torch.autograd.grad(ys, own, [dy[rank], dy[rank]])
    leaves = [w.clone().requires_grad_() for w in all_experts]
    ys = [reference(factor * x[r], weights[r], experts[r], *leaves) for r in range(ranks) for factor in (1, 2)]
    wanted = torch.autograd.grad(ys, leaves, [dy[r] for r in range(ranks) for _ in range(2)])
    return [float((f - w[rank * EACH: (rank + 1) * EACH]).norm() / w.norm())
            for f, w in zip(found, wanted)]


def another_call(rank, ranks):
    x, weights, experts, all_experts, _ = case(ranks, (4, 4), "random")
    said = []
    for options in {"chunks": 1 + rank}, {}:
        try:
            call(x, weights, experts, all_experts, rank, ranks, **options)
        except pit.Error as error:
            said.append(str(error))
        x, all_experts = [[v.to((torch.bfloat16, torch.float16)[rank]) for v in vs] for vs in (x, all_experts)]
    return said


def wrong_type(rank, ranks):
    x, weights, experts, all_experts, _ = case(ranks, (4, 4), "random")
    call(x, weights, experts, all_experts, rank, ranks)
    if rank == 1:
        experts[1] = experts[1].float()
    return call(x, weights, experts, all_experts, rank, ranks)


def ends(rank, ranks):
    x, weights, experts, all_experts, _ = case(ranks, (4, 4, 4), "random")
    return ep.moe(x[rank], weights[rank], experts[rank], *all_experts, activation="wrong" if rank == 1
                  else "silu")


def of_a_mesh(rank, ranks):
    """Two groups of two: the largest error, with what is added meanwhile."""
    mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "ep"))
    place = rank % 2
    x, weights, experts, all_experts, _ = case(2, (7 + rank // 2, 9), "random")
    y = call(x, weights, experts, all_experts, place, 2, group=mesh["ep"], meanwhile=torch.sin)
    wanted = reference(x[place], weights[place], experts[place], *all_experts) + x[place].sin()
    try:
        call(x, weights, experts, all_experts, place, 2, group=mesh)
    except pit.Error as error:
        return float((y - wanted).abs().max()), str(error)


class Experts(nn.Module):
    """As transformers' MixtralExperts."""

    def __init__(self):
        super().__init__()
        self.gate_up_proj = nn.Parameter(torch.randn(2 * EACH, 2 * F, K) / 4)
        self.down_proj = nn.Parameter(torch.randn(2 * EACH, K, F) / 4)
        self.act_fn = nn.SiLU()

    def forward(self, hidden_states, top_k_index, top_k_weights):
        result = torch.zeros_like(hidden_states)
        for i in range(self.down_proj.shape[0]):
            tokens, place = torch.where(top_k_index == i)
            gate, up = (hidden_states[tokens] @ self.gate_up_proj[i].T).chunk(2, -1)
            found = (self.act_fn(gate) * up) @ self.down_proj[i].T
            result.index_add_(0, tokens, found * top_k_weights[tokens, place, None])
        return result


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w3 = (nn.Linear(K, F, bias=False) for _ in range(2))
        self.w2, self.act_fn = nn.Linear(F, K, bias=False), nn.SiLU()

    def forward(self, x):
        return self.w2(self.act_fn(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    """As Mixtral's of transformers 4."""

    def __init__(self):
        super().__init__()
        self.top_k = 2
        self.gate = nn.Linear(K, 2 * EACH, bias=False)
        self.experts = nn.ModuleList(Expert() for _ in range(2 * EACH))

    def forward(self, x):
        weights, chosen = self.gate(x).float().softmax(1).topk(self.top_k, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        result = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            tokens, place = torch.where(chosen == i)
            result.index_add_(0, tokens, expert(x[tokens]) * weights[tokens, place, None])
        return result


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.router, self.experts, self.block = nn.Linear(K, 2 * EACH), Experts(), Block()

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(TOP)
        return self.block(x + self.experts(x, chosen, weights))


def models(rank, ranks):
    """Of a model that is shared, beside one that is not, on the tokens of all ranks: the relative
    errors of results and gradients; and what is said of a state_dict and of DDP."""
    torch.manual_seed(3)
    whole, shared = Model().double(), Model().double()
    shared.load_state_dict(whole.state_dict())
    _mixtures.make_experts_sparse(shared.block, _mixtures.Block)
    names = ep.parallelize(shared)
    shared.load_state_dict(whole.state_dict())  # takes this rank's part
    x = torch.randn(ranks, 10, K, dtype=torch.float64)
    wanted = [whole(part) for part in x]
    found = shared(x[rank])
    sum(y.square().sum() for y in wanted).backward()
    found.square().sum().backward()
    first = rank * EACH
    pairs = [(found, wanted[rank])]
    for name in ("gate_up_proj", "down_proj"):
        pairs.append((getattr(shared.experts, name).grad,
                      getattr(whole.experts, name).grad[first: first + EACH]))
    for mine, theirs in zip(shared.block.experts, list(whole.block.experts)[first: first + EACH]):
        pairs += [(a.grad, b.grad) for a, b in zip(mine.parameters(), theirs.parameters())]
    router = shared.router.weight.grad.clone()
    dist.all_reduce(router)  # that of all ranks' tokens
    pairs.append((router, whole.router.weight.grad))
    with torch.no_grad():
        pairs.append((shared(x[rank]), wanted[rank]))
    errors = [float((a.detach() - b.detach()).norm() / b.detach().norm()) for a, b in pairs]
    ignored = shared._ddp_params_and_buffers_to_ignore
    return names, max(errors), len(ignored), str(shared.experts)


class Values(unittest.TestCase):
    def expect(self, ranks, cases, bound, *folder):
        for found in in_processes(ranks, steps, cases, *folder):
            self.assertIsInstance(found, list, found)
            for case, errors in zip(cases, found):
                for name, error in errors.items():
                    self.assertLess(error, bound, (name, case))

    def test_two(self):
        self.expect(2, [((20, 20), "random", {}), ((20, 5), "random", {"chunks": 3}),
                        ((20, 5), "random", {"chunks": 3, "to_all": True}),
                        ((0, 7), "sentinels", {"chunks": 2}),
                        ((0, 7), "sentinels", {"chunks": 2, "to_all": True}), ((9, 9), "nobody", {}),
                        ((20, 5), "sentinels", {"chunks": 2, "capacity": 20})], 1e-12)

    def test_four(self):
        tokens = 20, 3, 0, 11
        self.expect(4, [(tokens, "random", {"chunks": 2}), (tokens, "one rank", {}),
                        (tokens, "one rank", {"capacity": 20}),
                        (tokens, "random", {"chunks": 2, "capacity": 18})], 1e-12)

    def test_symmetric(self):
        with tempfile.TemporaryDirectory() as folder:
            cases = [((20, 5), kind, {"chunks": 2, "capacity": room})
                     for kind, room in (("random", 20), ("sentinels", 18), ("one rank", 22))]
            self.expect(2, cases, 1e-12, folder)
        with tempfile.TemporaryDirectory() as folder:
            for errors in in_processes(2, frozen, folder):
                self.assertLess(max(errors), 1e-12)

    def test_small_types(self):
        for found in in_processes(2, small_types):
            self.assertLess(found["bf16"], 1e-2)
            # e4m3 rounds to 4 bits, in x and in the result: 2**-4 / sqrt(3) each at worst.
            for name in ("fp8", "fp8 with room"):
                self.assertTrue(1e-3 < found[name] < 6e-2, found)

    def test_overflow(self):
        found = in_processes(2, overflow)
        self.assertTrue(any(lost for _, lost, _ in found))
        for good, _, (first, second) in found:
            self.assertTrue(good)
            self.assertIn("capacity=8 has room for 8", first)
            self.assertEqual(second, "")

    def test_mesh(self):
        for error, said in in_processes(4, of_a_mesh):
            self.assertLess(error, 1e-12)
            self.assertIn("a DeviceMesh of 2 dimensions", said)


class Models(unittest.TestCase):
    def test_parallelize(self):
        for rank, (names, error, ignored, shown) in enumerate(in_processes(2, models)):
            self.assertEqual(names, ["experts", "block"])
            self.assertLess(error, 1e-12)
            self.assertEqual(ignored, 2 + 3 * EACH)
            self.assertIn(f"experts {4 * rank} to {4 * rank + 3} of 8", shown)


class Documents(unittest.TestCase):
    """The examples of docs/Distributed.md."""

    def test_examples(self):
        text = (ROOT / "docs" / "Distributed.md").read_text()
        first, second = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        values = {"__name__": "example"}
        exec(compile(first, "docs/Distributed.md", "exec"), values)
        shapes = in_processes(2, lambda rank, ranks: tuple(values["step"](rank, ranks).shape))
        self.assertEqual(shapes, [(20, 64), (21, 64)])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(second, "docs/Distributed.md", "exec"), values)
        self.assertIn("<- chosen", printed.getvalue())
        named = set(re.findall(r"\bpit\.torch\.distributed\.(\w+)", text))
        self.assertEqual(named, set(ep.__all__) - {"Plan"})


@unittest.skipUnless(importlib.util.find_spec("transformers"), "no transformers")
class Transformers(unittest.TestCase):
    def test_qwen3(self):
        from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM

        def run(rank, ranks):
            torch.manual_seed(0)
            config = Qwen3MoeConfig(
                hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
                num_key_value_heads=2, vocab_size=64, use_cache=False, num_experts=8, head_dim=16,
                num_experts_per_tok=TOP, moe_intermediate_size=48)
            whole, shared = Qwen3MoeForCausalLM(config), Qwen3MoeForCausalLM(config)
            shared.load_state_dict(whole.state_dict())
            names = ep.parallelize(shared)
            ids = torch.randint(0, 64, (2, 7 + rank))
            losses = [model(input_ids=ids, labels=ids).loss for model in (whole, shared)]
            sum(losses).backward()
            pairs = zip(whole.model.embed_tokens.parameters(), shared.model.embed_tokens.parameters())
            return len(names), [float(x.detach()) for x in losses], max(
                float((a.grad - b.grad).abs().max()) for a, b in pairs)

        for count, (wanted, found), error in in_processes(2, run):
            self.assertEqual(count, 2)
            self.assertAlmostEqual(wanted, found, places=5)
            self.assertLess(error, 1e-5)


def of_dtensors(rank, ranks):
    """How far results and gradients of pit.linear are off where operands are DTensors, and how the
    results lie."""
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh
    mesh, found = init_device_mesh("cpu", (ranks,)), {}
    generator = torch.Generator().manual_seed(0)
    x, w, b = (torch.randn(*shape, generator=generator) for shape in ((6, 16), (8, 16), (8,)))
    kept, x = torch.rand(8, 1, generator=generator) < 0.5, x.relu()
    lengths = torch.tensor([1, 3])
    for places in itertools.product((Replicate(), Shard(0), Shard(1)), repeat=2):
        for name in ("plain", "bias", "mask", "lengths"):
            given = [distribute_tensor(each, mesh, [place]).requires_grad_()
                     for each, place in zip((x, w), places)]
            whole = [each.clone().requires_grad_() for each in (x, w)]
            more, wanted = {}, nn.functional.linear
            if name == "bias":
                more = {"bias": distribute_tensor(b, mesh, [Replicate()])}
                wanted = functools.partial(wanted, bias=b)
            elif name == "mask":
                more = {"sparse": "weight", "mask": distribute_tensor(kept, mesh, [Replicate()])}
                wanted = lambda x, w: x @ (w * kept).t()
            if name == "lengths":  # of the rows of two sequences
                y = pit.padded_linear(given[0].reshape(2, 3, 16), distribute_tensor(
                    lengths, mesh, [Replicate()]), given[1])
                there = torch.arange(3) < lengths[:, None]
                wanted = lambda x, w: there[..., None] * (x.reshape(2, 3, 16) @ w.t())
            else:
                y = pit.linear(*given, **more)
            expected = wanted(*whole)
            pairs = [(y, expected), *zip(torch.autograd.grad(y.full_tensor().square().sum(), given),
                                         torch.autograd.grad(expected.square().sum(), whole))]
            error = max(float((one.full_tensor() - other).detach().abs().max()) for one, other in pairs)
            found[name, *map(str, places)] = error, str(y.placements[0])
    return found


class DTensors(unittest.TestCase):
    def test_linear(self):
        found, _ = in_processes(2, of_dtensors)
        self.assertIsInstance(found, dict, found)
        self.assertLess(max(error for error, _ in found.values()), 1e-4)
        # Nothing is gathered where each device can compute a part, and where results can be added.
        self.assertEqual([found["plain", "R", "S(0)"][1], found["bias", "S(0)", "R"][1],
                          found["plain", "S(1)", "S(1)"][1], found["bias", "S(1)", "S(1)"][1]],
                         ["S(1)", "S(0)", "P(sum)", "R"])


class Sums(unittest.TestCase):
    def test_programs(self):
        """The programs that GPUs run are those of the CPU's way."""
        generator = torch.Generator().manual_seed(1)
        rows = torch.randn(22, 40, generator=generator).bfloat16()
        place = torch.randint(0, 22, (9, 3), generator=generator, dtype=torch.int32)
        own = torch.randn(9, 40, generator=generator).bfloat16()
        place[2, 1] = 21  # nobody's
        rows[21] = 7
        for given, program in ((None, _index.sums_of_rows), (own, _index.sums_of_rows_and_own)):
            more = () if given is None else (given,)
            found = program(rows[:-1], place, *more, wide=tile.f32, n=32)
            self.assertTrue(torch.equal(found, _index.add_rows(rows, place, given)))


class Errors(unittest.TestCase):
    def test_other_calls(self):
        for found in in_processes(2, another_call):
            self.assertIn("chunks: rank", found[0])
            self.assertRegex(found[1], "element type: rank . has torch.b?float16, rank . has torch.b?float16")

    def test_wrong_arguments(self):
        first, second = in_processes(2, wrong_type)
        self.assertIn("rank 0 gives up, because rank 1 has: rank 1 failed with Error: moe: experts "
                      "are torch.float32", first)
        self.assertIn("experts are torch.float32; they must be int32 or int64", second)

    def test_failure(self):
        """The others hear of a rank that fails between exchanges, when its process has ended."""
        first, second, third = in_processes(3, ends)
        self.assertIn("activation", second)
        for found in first, third:
            self.assertIn("lost the others", found)
            self.assertIn("rank 1 failed with Error:", found)


if __name__ == "__main__":
    unittest.main()
