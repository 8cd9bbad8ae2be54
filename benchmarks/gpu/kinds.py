"""The kinds of cases in cases.json: their data, their contestants, their floor."""

import json
from dataclasses import dataclass

import numpy
import torch

import pit
from timing import Contestant, first_line, race

TYPES = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16,
         "bf16": torch.bfloat16, "i8": torch.int8}
# Of ||out - reference|| / ||reference||.
TOLERANCE = {"f32": 1e-5, "tf32": 2e-3, "f16": 2e-3, "bf16": 1e-2, "i8": 0.0}
BSR_BLOCKS = ((32, 64), (32, 32), (64, 64), (16, 16))


class Wrong(Exception):
    """A result is not what it must be, or there is no program."""


@dataclass
class Outcome:
    contestants: list
    bytes: float
    operations: float
    peak: str | None  # which unit's rate counts
    # What "ratio" compares: the best of these names, or a number of its own.
    peers: tuple = ()
    scale: float = 1.0


class Bench:
    """Makes operands on one device and loads programs."""

    def __init__(self, machine, artifacts, shrink):
        self.machine, self.device = machine, machine.name
        self.folder = artifacts / "benchmarks-built"
        self.messages = json.loads((artifacts / "manifest.json").read_text())["benchmarks"]
        self.shrink = shrink

    def program(self, name):
        if name in self.messages:
            raise Wrong(f"pit-compile refused {name}: {self.messages[name]}")
        return pit.load(self.folder / f"{name}.so").f

    def size(self, number):
        return max(1, number // self.shrink)

    def sets(self, bytes_):
        """How many operand sets are well over the L2."""
        return max(3, -(-int(3 * self.machine.l2_bytes) // max(1, int(bytes_))))

    def random(self, shape, type_):
        if type_ == "i8":
            return torch.randint(-8, 8, shape, dtype=torch.int8, device=self.device)
        return torch.randn(shape, device=self.device).to(TYPES[type_])

    def masked(self, shape, type_, pattern, sparsity):
        """Random values, none of them 0, in boxes of which so many percent are
        zero."""
        boxes = [-(-s // p) for s, p in zip(shape, pattern)]
        live = torch.rand(boxes, device=self.device) >= sparsity / 100
        for d, p in enumerate(pattern):
            live = live.repeat_interleave(min(p, shape[d]), d)
        live = live[: shape[0], : shape[1]]
        values = self.random(shape, type_)
        values = torch.where(values == 0, torch.ones_like(values), values)
        return torch.where(live, values, torch.zeros_like(values))

    def empty(self, shape, type_):
        """Poisoned results."""
        if type_ == "i8":
            return torch.full(shape, -77, dtype=torch.int32, device=self.device)
        return torch.full(shape, float("nan"), dtype=TYPES[type_], device=self.device)

    # -- checks ------------------------------------------------------------

    def check(self, call, out, a, b, type_):
        """Some rows of the product against float64."""
        call()
        self.machine.synchronize()
        rows = torch.randint(len(a), (min(64, len(a)),), device=self.device)
        want = a[rows].double() @ b.double()
        got = out[rows].double()
        norm = want.norm().item()
        error = (got - want).norm().item() / norm if norm else got.abs().max().item()
        if not error <= TOLERANCE[type_]:
            raise Wrong(f"the result is off by {error:.2g}; at most {TOLERANCE[type_]:g} is allowed")
        if out.is_floating_point() and not torch.isfinite(out).all():
            raise Wrong("some elements were not written")

    def check_lists(self, index, live):
        """An index against a boolean matrix of groups and ids."""
        self.machine.synchronize()
        counts, offsets, ids = (torch.as_tensor(numpy.array(memory)
                                                if self.device == "cpu" else memory,
                                                device=self.device)
                                for memory in (index.counts, index.offsets, index.ids))
        if not torch.equal(counts.long(), live.sum(1)):
            raise Wrong("the counts of the index are wrong")
        for group in range(0, len(live), max(1, len(live) // 64)):
            start, count = int(offsets[group]), int(counts[group])
            if not torch.equal(ids[start: start + count].long(), live[group].nonzero().flatten()):
                raise Wrong(f"the ids of group {group} are wrong")

    # -- kinds -------------------------------------------------------------

    def dense(self, spec, sparsity):
        n, type_ = self.size(spec["size"]), spec["type"]
        f = self.program(spec["program"])
        element = TYPES[type_].itemsize
        count = self.sets(2 * n * n * element)
        data = [(self.random((n, n), type_), self.random((n, n), type_), self.empty((n, n), type_))
                for _ in range(count)]
        calls = [lambda a=a, b=b, c=c: f(a, b, out=c) for a, b, c in data]
        self.check(calls[0], data[0][2], *data[0][:2], type_)
        peer = [lambda a=a, b=b, c=c: multiply(a, b, c, type_) for a, b, c in data]
        out_bytes = data[0][2].element_size()
        return Outcome([Contestant("pit", calls), Contestant("cuBLAS", peer)],
                       n * n * (2 * element + out_bytes), 2.0 * n**3, type_, ("cuBLAS",))

    def sparse(self, spec, sparsity):
        n, type_ = self.size(spec["size"]), spec["type"]
        f = self.program(spec["program"])
        data = [(self.masked((n, n), type_, spec["pattern"], sparsity),
                 self.random((n, n), type_), self.empty((n, n), type_)) for _ in range(3)]
        calls = [lambda a=a, b=b, c=c: f(a, b, out=c) for a, b, c in data]
        self.check(calls[0], data[0][2], *data[0][:2], type_)
        contestants = [
            Contestant("pit", calls),
            Contestant("cuBLAS", [lambda a=a, b=b, c=c: multiply(a, b, c, type_)
                                  for a, b, c in data])]
        contestants += self.converted("cuSPARSE", data, lambda a: a.to_sparse_csr())
        for block in BSR_BLOCKS:
            if all(n % x == 0 for x in block):
                contestants += self.converted(f"BSR {block[0]}x{block[1]}", data,
                                              lambda a, block=block: a.to_sparse_bsr(block))
        covered = data[0][0].count_nonzero().item() / n**2
        peers = tuple(c.name for c in contestants[1:] if not c.name.endswith("+conversion"))
        return Outcome(contestants, 3 * 4 * n * n, 2.0 * n**3 * covered, type_, peers)

    @staticmethod
    def converted(name, data, convert):
        """A sparse format, its conversion not counted and counted."""
        try:
            stored = [(convert(a), b) for a, b, _ in data]
            given = Contestant(name, [lambda s=s, b=b: s @ b for s, b in stored])
        except Exception as error:
            return [Contestant(name, [], note=first_line(error))]
        return [given, Contestant(f"{name}+conversion",
                                  [lambda a=a, b=b: convert(a) @ b for a, b, _ in data],
                                  eager=True)]

    def rows(self, spec, sparsity):
        n, type_ = self.size(spec["size"]), spec["type"]
        f, dense = self.program(spec["program"]), self.program(spec["dense"])
        data = []
        for _ in range(3):
            a = self.masked((n, n), type_, (1, n), sparsity)
            index = pit.build_index(a, (1, None), 0)
            ids = a.any(dim=1).nonzero().flatten()
            data.append((a, self.random((n, n), type_), self.empty((n, n), type_), index, ids,
                         a[ids].contiguous()))
        calls = [lambda d=d: f(d[0], d[1], d[3], out=d[2]) for d in data]
        self.check(calls[0], data[0][2], *data[0][:2], type_)

        def select(d):
            d[2].index_copy_(0, d[4], d[0].index_select(0, d[4]) @ d[1])

        contestants = [
            Contestant("pit", calls),
            Contestant("pit dense", [lambda d=d: dense(d[0], d[1], out=d[2]) for d in data]),
            Contestant("select+cuBLAS+copy", [lambda d=d: select(d) for d in data]),
            Contestant("cuBLAS compacted", [lambda d=d: d[5] @ d[1] for d in data])]
        part = sum(len(d[4]) for d in data) / (n * len(data))
        element = TYPES[type_].itemsize
        # Our own dense rate: its time, times the part of the work that is left.
        return Outcome(contestants, n * n * element * (1 + part + 1), 2.0 * n**3 * part, type_,
                       ("pit dense",), scale=part)

    def index(self, spec, sparsity):
        n, type_ = self.size(spec["size"]), spec["type"]
        rows, columns = (min(n, p) for p in spec["pattern"])
        tile, axis = spec["micro_tile"], spec["axis"]
        count = self.sets(n * n * 2)
        data = [self.masked((n, n), type_, (rows, columns), sparsity) for _ in range(count)]
        # A graph that builds an index owns its builder.
        indices = [pit.build_index(x, tile, axis) for x in data]
        boxes = lambda x: (x.view(n // rows, rows, n // columns, columns) != 0).any(3).any(1)
        lists = lambda x: boxes(x) if axis == 1 else boxes(x).t()
        self.check_lists(indices[0], lists(data[0]))
        contestants = [
            Contestant("pit", [lambda i=i, x=x: i.rebuild(x) for i, x in zip(indices, data)]),
            Contestant("torch any+nonzero",
                       [lambda x=x: lists(x).nonzero() for x in data], eager=True)]
        if hasattr(torch, "nonzero_static"):
            most = max(int(lists(x).sum()) for x in data)
            contestants.append(Contestant(
                "torch any+nonzero_static",
                [lambda x=x: torch.nonzero_static(lists(x), size=most) for x in data]))
        contestants.append(Contestant("torch count_nonzero (reads alone)",
                                      [lambda x=x: x.count_nonzero() for x in data]))
        ids = sum(int(lists(x).sum()) for x in data) / count
        return Outcome(contestants, n * n * 2 + 4 * ids, 0, None,
                       ("torch any+nonzero", "torch any+nonzero_static"))

    def assignment(self, spec, sparsity):
        tokens, slots, experts = self.size(spec["tokens"]), spec["slots"], spec["experts"]
        count = self.sets(tokens * slots * 12)
        count = min(count, 64)
        data = [torch.rand(tokens, experts, device=self.device).topk(slots).indices.int()
                for _ in range(count)]
        build = lambda x: pit.build_index(x, (1, 1), 0, source="assignment",
                                          shape=(tokens, experts))
        indices = [build(x) for x in data]
        live = torch.zeros(tokens, experts, dtype=torch.bool, device=self.device)
        live.scatter_(1, data[0].long(), True)
        self.check_lists(indices[0], live.t())

        def sort(x):
            flat = x.flatten()
            _, order = torch.sort(flat, stable=True)
            return order // slots, torch.bincount(flat, minlength=experts)

        def sort_and_search(x):
            values, order = torch.sort(x.flatten(), stable=True)
            return order // slots, torch.searchsorted(values, bounds)

        bounds = torch.arange(experts + 1, dtype=torch.int32, device=self.device)
        contestants = [
            Contestant("pit", [lambda i=i, x=x: i.rebuild(x) for i, x in zip(indices, data)]),
            Contestant("torch sort+bincount", [lambda x=x: sort(x) for x in data], eager=True),
            Contestant("torch sort+searchsorted", [lambda x=x: sort_and_search(x) for x in data])]
        # Ids and their origin.
        return Outcome(contestants, tokens * slots * (4 + 4 + 4), 0, None,
                       ("torch sort+bincount", "torch sort+searchsorted"))


def multiply(a, b, c, type_):
    """cuBLAS."""
    if type_ == "i8":
        return torch._int_mm(a, b, out=c)
    return torch.mm(a, b, out=c)


def set_precision(type_):
    """Whether torch may round f32 operands to tf32."""
    torch.backends.cuda.matmul.allow_tf32 = type_ == "tf32"


def measure_peaks(bench):
    """Bytes per second of a large copy, operations per second of a large
    product."""
    machine = bench.machine
    source = torch.randint(-99, 99, (bench.size(2**30),), dtype=torch.int32, device=bench.device)
    target = torch.empty_like(source)
    copying = Contestant("copy", [lambda: target.copy_(source)])
    race(machine, [copying], rounds=7)
    peaks = {"bytes": 2 * source.nbytes / (copying.microseconds * 1e-6)}
    del source, target
    n = bench.size(8192)
    for type_ in TYPES:
        set_precision(type_)
        data = [(bench.random((n, n), type_), bench.random((n, n), type_),
                 bench.empty((n, n), type_)) for _ in range(2)]
        product = Contestant(type_, [lambda d=d: multiply(*d, type_) for d in data])
        if race(machine, [product], rounds=7):
            peaks[type_] = 2.0 * n**3 / (product.microseconds * 1e-6)
    return peaks
