"""The kinds of cases in cases.json: their data, their contestants, their floor."""

import json
from dataclasses import dataclass
from types import SimpleNamespace

import numpy
import torch

import pit
import programs
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
    # "ratio" is the time of the best of these, times the part of its work that pit
    # has to do, over pit's.
    peers: tuple = ()
    scale: float = 1.0


class Bench:
    """Makes operands on one device and loads programs."""

    def __init__(self, machine, artifacts, shrink):
        self.machine, self.device = machine, machine.name
        self.folder = artifacts / "benchmarks-built"
        self.messages = json.loads((artifacts / "manifest.json").read_text())["benchmarks"]
        self.shrink = shrink
        self.listed = programs.listed()

    def program(self, name):
        if name in self.messages:
            raise Wrong(f"pit-compile refused {name}: {self.messages[name]}")
        return pit.load(self.folder / f"{name}.so").f

    def size(self, number):
        return programs.shrunk(number, self.shrink)

    def shape(self, name):
        """M, N and K of a program."""
        return tuple(self.size(self.listed[name]["set"][d]) for d in "MNK")

    def sets(self, bytes_):
        """How many operand sets are well over the L2."""
        return max(3, -(-int(3 * self.machine.l2_bytes) // max(1, int(bytes_))))

    def random(self, shape, type_):
        if type_ == "i8":
            return torch.randint(-8, 8, shape, dtype=torch.int8, device=self.device)
        return torch.randn(shape, device=self.device).to(TYPES[type_])

    def chosen(self, count, sparsity):
        """Which of so many: as many as the sparsity leaves, in random places."""
        live = torch.zeros(count, dtype=torch.bool, device=self.device)
        kept = round(count * (1 - sparsity / 100))
        live[torch.randperm(count, device=self.device)[:kept]] = True
        return live

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

    def some(self, rows):
        """A few of these rows."""
        return rows[torch.randperm(len(rows), device=self.device)[:64]]

    def near(self, got, want, type_):
        got = got.double()
        norm = want.norm().item()
        error = (got - want).norm().item() / norm if norm else got.abs().max().item()
        if not error <= TOLERANCE[type_]:
            raise Wrong(f"the result is off by {error:.2g}; at most {TOLERANCE[type_]:g} is allowed")

    def written(self, out):
        if out.is_floating_point() and not torch.isfinite(out).all():
            raise Wrong("some elements were not written")

    def check(self, call, out, a, b, type_):
        """Some rows of the product against float64."""
        call()
        self.machine.synchronize()
        rows = self.some(torch.arange(len(a), device=self.device))
        self.near(out[rows], a[rows].double() @ b.double(), type_)
        self.written(out)

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
        name, type_ = spec["program"], spec["type"]
        ours = self.products(name, type_)
        contestants = [Contestant("pit", ours.calls), Contestant("cuBLAS", ours.peer)]
        if "base" not in spec:
            return Outcome(contestants, ours.bytes, ours.operations, type_, ("cuBLAS",))
        # Against our own rate on another shape.
        base = self.products(spec["base"], type_)
        named = "pit " + "x".join(map(str, self.shape(spec["base"])))
        contestants.append(Contestant(named, base.calls))
        return Outcome(contestants, ours.bytes, ours.operations, type_, (named,),
                       scale=ours.operations / base.operations)

    def products(self, name, type_):
        """Calls of a dense program, checked, and of cuBLAS on the same operands."""
        f, (m, n, k) = self.program(name), self.shape(name)
        transposed = programs.stored_b(self.listed[name]) == "nk"
        element = TYPES[type_].itemsize
        data = [(self.random((m, k), type_),
                 self.random((n, k) if transposed else (k, n), type_),
                 self.empty((m, n), type_)) for _ in range(self.sets((m + n) * k * element))]
        calls = [lambda a=a, b=b, c=c: f(a, b, out=c) for a, b, c in data]
        product = lambda b: b.t() if transposed else b
        a, b, c = data[0]
        self.check(calls[0], c, a, product(b), type_)
        return SimpleNamespace(
            calls=calls, operations=2.0 * m * n * k,
            bytes=(m + n) * k * element + m * n * c.element_size(),
            peer=[lambda a=a, b=product(b), c=c: multiply(a, b, c, type_) for a, b, c in data])

    def sparse(self, spec, sparsity):
        type_, n = spec["type"], self.shape(spec["program"])[0]
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

    def marked(self, spec, sparsity):
        """One of A, B and the result is marked, B is stored [k, n] or [n, k]. All have n rows
        and columns."""
        type_, n = spec["type"], self.shape(spec["program"])[0]
        f, how = self.program(spec["program"]), self.listed[spec["program"]]
        product = (lambda b: b.t()) if programs.stored_b(how) == "nk" else (lambda b: b)
        data, covered = [], 0
        for _ in range(3):
            marked = self.masked((n, n), type_, spec["pattern"], sparsity)
            covered += marked.count_nonzero().item() / n**2 / 3
            d = SimpleNamespace(a=self.random((n, n), type_), b=self.random((n, n), type_),
                                c=self.empty((n, n), type_), mask=())
            if how["file"] == "wanted.mlir":
                d.mask = (marked != 0,)
            else:
                setattr(d, "b" if how["file"] == "weights.mlir" else "a", marked)
            data.append(d)
        calls = [lambda d=d: f(d.a, d.b, *d.mask, out=d.c) for d in data]
        d = data[0]
        calls[0]()
        self.machine.synchronize()
        rows = self.some(torch.arange(n, device=self.device))
        want = d.a[rows].double() @ product(d.b).double()
        for mask in d.mask:
            want *= mask[rows]
        self.near(d.c[rows], want, type_)
        self.written(d.c)
        contestants = [
            Contestant("pit", calls),
            Contestant("cuBLAS", [lambda d=d: multiply(d.a, product(d.b), d.c, type_)
                                  for d in data])]
        return Outcome(contestants, 3 * TYPES[type_].itemsize * n * n, 2.0 * n**3 * covered, type_,
                       ("cuBLAS",))

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
        """Rows of A, from an index that is given or from their values."""
        type_, (m, n, k) = spec["type"], self.shape(spec["program"])
        f, dense = self.program(spec["program"]), self.program(spec["dense"])
        data = []
        for _ in range(3):
            d = SimpleNamespace(a=self.random((m, k), type_), b=self.random((k, n), type_),
                                c=self.empty((m, n), type_), live=self.chosen(m, sparsity))
            d.ids = d.live.nonzero().flatten()
            d.index = ()
            if spec.get("values"):
                d.a[~d.live] = 0
            else:
                mask = d.live[:, None].expand(m, k).contiguous()
                d.index = (pit.build_index(mask, (1, 0), 0, source="mask"),)
            d.compact = d.a[d.ids].contiguous()
            d.product = self.empty((len(d.ids), n), type_)
            data.append(d)
        calls = [lambda d=d: f(d.a, d.b, *d.index, out=d.c) for d in data]
        self.check_rows(calls[0], data[0], type_, spec["fill"])

        def select(d, ids):
            d.c.index_copy_(0, ids, d.a.index_select(0, ids) @ d.b)

        def find_and_select(d):
            d.c.zero_()
            select(d, d.a.any(dim=1).nonzero().flatten())

        compacted = Contestant("cuBLAS compacted",
                               [lambda d=d: torch.mm(d.compact, d.b, out=d.product) for d in data])
        selected = Contestant("select+cuBLAS+copy", [lambda d=d: select(d, d.ids) for d in data])
        contestants = [
            Contestant("pit", calls), compacted, selected,
            Contestant("pit dense", [lambda d=d: dense(d.a, d.b, out=d.c) for d in data])]
        part, element = len(data[0].ids) / m, TYPES[type_].itemsize
        operations = 2.0 * m * n * k * part
        # The bytes that have to be read and written if only the listed rows count.
        bytes_ = (k * n + part * m * (k + n)) * element
        peers = (compacted.name,)
        if spec.get("values"):
            contestants += [
                Contestant("cuBLAS", [lambda d=d: torch.mm(d.a, d.b, out=d.c) for d in data]),
                Contestant("find+select+cuBLAS+copy",
                           [lambda d=d: find_and_select(d) for d in data], eager=True)]
            bytes_ = (m * k + k * n + m * n) * element
            peers = ("cuBLAS",)
        return Outcome(contestants, bytes_, operations, type_, peers)

    def check_rows(self, call, d, type_, filled):
        call()
        self.machine.synchronize()
        rows = self.some(d.ids)
        self.near(d.c[rows], d.a[rows].double() @ d.b.double(), type_)
        self.written(d.c if filled else d.c[d.ids])
        if filled and d.c[~d.live].any():
            raise Wrong("rows that are not listed are not 0")

    def columns(self, spec, sparsity):
        """The axis k: A is stored [k, m], and each block of its columns has its own
        ids."""
        type_, (m, n, k) = spec["type"], self.shape(spec["program"])
        f, height = self.program(spec["program"]), self.listed[spec["program"]]["set"]["MT"]
        groups = -(-m // height)
        kept = max(1, round(k * (1 - sparsity / 100)))
        data, covered = [], 0
        for _ in range(3):
            live = torch.rand((k, groups), device=self.device) >= sparsity / 100
            d = SimpleNamespace(a=self.random((k, m), type_), b=self.random((k, n), type_),
                                c=self.empty((m, n), type_),
                                mask=live.repeat_interleave(height, 1)[:, :m].contiguous())
            d.index = pit.build_index(d.mask, (1, height), 0, source="mask")
            covered += 2.0 * n * d.mask.count_nonzero().item() / 3
            # cuBLAS has one list for all of A, of the same length on average.
            d.at, d.bt = d.a[:kept].contiguous(), d.b[:kept].contiguous()
            d.plain = d.at.t().contiguous()
            data.append(d)
        calls = [lambda d=d: f(d.a, d.b, d.index, out=d.c) for d in data]
        d = data[0]
        calls[0]()
        self.machine.synchronize()
        rows = self.some(torch.arange(m, device=self.device))
        self.near(d.c[rows], (d.a * d.mask)[:, rows].t().double() @ d.b.double(), type_)
        self.written(d.c)
        contestants = [
            Contestant("pit", calls),
            Contestant("cuBLAS compacted",
                       [lambda d=d: torch.mm(d.at.t(), d.bt, out=d.c) for d in data]),
            Contestant("cuBLAS compacted, A [m, k]",
                       [lambda d=d: torch.mm(d.plain, d.bt, out=d.c) for d in data]),
            Contestant("cuBLAS", [lambda d=d: torch.mm(d.a.t(), d.b, out=d.c) for d in data])]
        element = TYPES[type_].itemsize
        bytes_ = (covered / (2.0 * n) + k * n + m * n) * element
        return Outcome(contestants, bytes_, covered, type_,
                       tuple(c.name for c in contestants[1:3]),
                       scale=covered / (2.0 * m * n * kept))

    def experts(self, spec, sparsity):
        """One projection of a mixture of experts: uneven groups, each token in one,
        the index given."""
        type_, (m, n, k) = spec["type"], self.shape(spec["program"])
        count = self.listed[spec["program"]]["set"]["E"]
        f, element = self.program(spec["program"]), TYPES[type_].itemsize
        data = []
        for _ in range(3):
            share = torch.rand(count, device=self.device) + 0.3
            route = torch.multinomial(share, m, replacement=True)
            d = SimpleNamespace(
                a=self.random((m, k), type_), r=self.random((m, count), type_),
                b=torch.stack([self.random((k, n), type_) for _ in range(count)]),
                c=self.empty((m, n), type_), route=route,
                lists=[(route == e).nonzero().flatten() for e in range(count)])
            d.index = pit.build_index(route.int()[:, None].contiguous(), (1, 1), 0,
                                      source="routing", shape=(m, count))
            d.order = torch.cat(d.lists)
            d.ends = torch.tensor([len(l) for l in d.lists], device=self.device).cumsum(0).int()
            data.append(d)
        calls = [lambda d=d: f(d.r, d.a, d.b, d.index, out=d.c) for d in data]
        d = data[0]
        calls[0]()
        self.machine.synchronize()
        for e, rows in enumerate(d.lists):
            rows = self.some(rows)
            want = d.a[rows].double() @ d.b[e].double() * d.r[rows, e].double()[:, None]
            self.near(d.c[rows], want, type_)
        self.written(d.c)

        # The peers leave out the routing weight.
        def select(d):
            for e, rows in enumerate(d.lists):
                d.c.index_copy_(0, rows, d.a.index_select(0, rows) @ d.b[e])

        def grouped(d):
            d.c.index_copy_(0, d.order, torch._grouped_mm(d.a.index_select(0, d.order), d.b, d.ends))

        contestants = [
            Contestant("pit", calls),
            # The same operations, with the weights of one expert.
            Contestant("cuBLAS dense", [lambda d=d: torch.mm(d.a, d.b[0], out=d.c) for d in data]),
            Contestant("select+cuBLAS+copy", [lambda d=d: select(d) for d in data]),
            Contestant("select+_grouped_mm+copy", [lambda d=d: grouped(d) for d in data])]
        return Outcome(contestants, (m * k + count * k * n + m * n) * element, 2.0 * m * n * k,
                       type_, ("cuBLAS dense",))

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

    def routing(self, spec, sparsity):
        tokens, slots, experts = self.size(spec["tokens"]), spec["slots"], spec["experts"]
        count = self.sets(tokens * slots * 12)
        count = min(count, 64)
        data = [torch.rand(tokens, experts, device=self.device).topk(slots).indices.int()
                for _ in range(count)]
        build = lambda x: pit.build_index(x, (1, 1), 0, source="routing",
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


def measure_peaks(bench, types):
    """Bytes per second of a large copy, operations per second of a large product
    of each of the types."""
    machine = bench.machine
    source = torch.randint(-99, 99, (bench.size(2**30),), dtype=torch.int32, device=bench.device)
    target = torch.empty_like(source)
    copying = Contestant("copy", [lambda: target.copy_(source)])
    race(machine, [copying], rounds=7)
    peaks = {"bytes": 2 * source.nbytes / (copying.microseconds * 1e-6)}
    del source, target
    n = bench.size(8192)
    for type_ in types:
        set_precision(type_)
        data = [(bench.random((n, n), type_), bench.random((n, n), type_),
                 bench.empty((n, n), type_)) for _ in range(2)]
        product = Contestant(type_, [lambda d=d: multiply(*d, type_) for d in data])
        if race(machine, [product], rounds=7):
            peaks[type_] = 2.0 * n**3 / (product.microseconds * 1e-6)
    return peaks
